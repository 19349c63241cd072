package bench

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// formSuites read a suite of each form, from what people write.
func formSuites(t *testing.T) map[form]func() *suite.Suite {
	t.Helper()
	dir := t.TempDir()
	named := func(word string) func() *suite.Suite {
		return func() *suite.Suite {
			s, err := suite.Select([]string{word}, suite.Selection{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	file := func(name, content string) func() *suite.Suite {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return named(path)
	}
	return map[form]func() *suite.Suite{
		ofSuite:    named("rand-write"),
		ofPostgres: named("pg-commit"),
		ofJobFile:  file("g1.fio", "[global]\nfilesize=1g\nruntime=9\n[a]\nrw=randwrite\nbs=4k\nsize=128m\ntimeout=12\n"),
		ofJobs: file("two.yaml", "scenarios:\n  - id: 1\n    name: two\n    size: 1GiB\n    job: |\n      [a]\n      rw=read\n"+
			"      runtime=9\n      [b]\n      rw=write\n      runtime=9\n"),
		ofDemand: file("app.yaml", "workload: log\ncapacity: 1GiB\nstreams:\n  - name: log\n    does: sequential write\n"+
			"    block: 64KiB\n    rate: 1MiB/s\n    arrivals: paced\n    sync: none\n"),
	}
}

// inSettings are the flags that the run's settings, or the database, carry to where they are read.
var inSettings = []string{"stop", "sustained", "fresh-extents", "pg-bin", "pg-user", "pg-scale", "pg-memory", "pg-clients", "pg-set", "quick"}

// TestNoFlagIsSilentlyIgnored: each flag of the load by each form of scenario is refused with its
// reason, or changes the job (G1 of the third review by users: --size and --runtime did nothing to
// a job file).
func TestNoFlagIsSilentlyIgnored(t *testing.T) {
	flags := []string{"size", "runtime", "ramp"}
	for flag := range readers() {
		if flag != "size" && flag != "ramp" {
			flags = append(flags, flag)
		}
	}
	silent := 0
	forms := formSuites(t)
	for of, read := range forms {
		for _, flag := range flags {
			s := read()
			if got := formOf(&s.Scenarios[0]); got != of {
				t.Fatalf("%s reads as %s", of, got)
			}
			r := Request{
				Size: 16 * units.MiB, Runtime: 2 * time.Second, Ramp: 3 * time.Second,
				Given: func(name string) bool { return name == flag },
			}
			before, _ := json.Marshal(s) // of a suite that was read
			err := r.unread(s)
			if err != nil {
				if !strings.HasPrefix(err.Error(), "--"+flag+" does not apply to ") {
					t.Errorf("--%s, %s: %v", flag, of, err)
				}
				continue
			}
			r.adjust(s)
			after, _ := json.Marshal(s)
			carried := false
			for _, name := range inSettings {
				carried = carried || name == flag
			}
			if string(before) == string(after) && !carried {
				silent++
				t.Errorf("--%s does nothing to %s", flag, of)
			}
			if job := s.Scenarios[0].Place("/f"); flag == "runtime" && of == ofJobFile {
				text := string(job.Text())
				if !strings.Contains(text, "runtime=2s") || strings.Contains(text, "timeout") ||
					!strings.Contains(s.Scenarios[0].Title, "changed by flags: runtime=2s") {
					t.Errorf("%s\n%s", s.Scenarios[0].Title, text)
				}
			}
		}
	}
	t.Logf("%d flags, %d forms, %d silent", len(flags), len(forms), silent)
}
