package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/units"
)

// TestDemandIsASuite: a demand file runs as one scenario with the thresholds that it states.
func TestDemandIsASuite(t *testing.T) {
	data, err := os.ReadFile("../workload/testdata/logging-app.yaml")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "app.yaml")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Select([]string{name}, Selection{})
	if err != nil {
		t.Fatal(err)
	}
	c := s.Scenarios[0]
	var texts []string
	for _, h := range c.Thresholds {
		texts = append(texts, h.Text)
	}
	want := "read.bw >= 250.88MiB/s, read.clat.over(1s) < 1%, write.bw >= 78.40MiB/s, write.clat.p99 < 100ms, write.clat.over(1s) < 1%"
	if got := strings.Join(texts, ", "); got != want {
		t.Errorf("thresholds\n%s, want\n%s", got, want)
	}
	if c.Name != "logging-app" || c.Size != 8*units.GiB || c.Runtime != 30*time.Second {
		t.Errorf("%s %v %v", c.Name, c.Size, c.Runtime)
	}
	// A smaller file and another runtime make another job, not a broken one.
	c.Size, c.Runtime = 256*units.MiB, 90*time.Second
	loads, err := c.Workloads()
	if err != nil {
		t.Fatal(err)
	}
	if len(loads) != 4 || loads[0].Size != 16*units.MiB || loads[0].Runtime != 90*time.Second ||
		loads[3].StartDelay != 70*time.Second {
		t.Errorf("%d sections, %+v", len(loads), loads)
	}
}

// Several bursts of one stream are groups of their own, whose rates fio adds up: their sum is not
// held against the rate of one.
func TestDemandOfManyBursts(t *testing.T) {
	name := filepath.Join(t.TempDir(), "app.yaml")
	const text = "workload: x\nstreams:\n  - {name: b, does: sequential read, block: 64KiB, rate: 1MiB/s, burst: {for: 1s, every: 5s}}\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Load(name)
	if err != nil || len(s.Scenarios[0].Thresholds) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
