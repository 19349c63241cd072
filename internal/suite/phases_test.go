package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPhasesOfAJobFile: what stonewall separates runs as scenarios of its own, named after the
// sections (ux.md D3: "run makes one scenario with a meaningless sum, convert four").
func TestPhasesOfAJobFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "multi.fio")
	text := "[global]\nsize=1m\n[seqw]\nrw=write\n[log]\nrw=read\n[randr]\nstonewall\nrw=randread\n[seqw]\nstonewall\nrw=write\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := FromJobFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range s.Scenarios {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "seqw randr seqw-2" || s.Cooldown != 0 || s.Scenarios[0].Title != "multi.fio: seqw, log" {
		t.Fatalf("%s, cooldown %s, %q", got, s.Cooldown, s.Scenarios[0].Title)
	}
	loads, err := s.Scenarios[0].Workloads()
	if err != nil || len(loads) != 2 || loads[1].Size != 1<<20 {
		t.Errorf("%+v, %v", loads, err)
	}
}
