package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/fio"
)

// TestImportIsLinear: four times the jobs take about four times the CPU time, whether they have one
// name or each its own. A square would take sixteen times. The kernel counts CPU time by its ticks, so that 2,000 may seem to take none.
func TestImportIsLinear(t *testing.T) {
	for _, name := range []string{"a", "a%d"} {
		spent := func(n int) time.Duration {
			o := &fio.Output{Format: fio.JSON}
			for i := range n {
				job := fio.Job{Name: name}
				if strings.Contains(name, "%") {
					job.Name = fmt.Sprintf(name, i)
				}
				job.Options = fio.Options{"rw": "read", "bs": "4k"}
				o.Jobs = append(o.Jobs, job)
			}
			least := time.Duration(1 << 62)
			for range 3 { // the collector may work for another test
				before := userTime(t)
				if _, err := (Found{Outputs: []*fio.Output{o}}).Results(); err != nil {
					t.Fatal(err)
				}
				least = min(least, userTime(t)-before)
			}
			return least
		}
		if small, large := spent(2_000), spent(8_000); large > 10*small+500*time.Millisecond {
			t.Errorf("jobs called %s: 2,000 take %v of CPU time, 8,000 take %v", name, small, large)
		}
	}
}

func userTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano())
}

// TestManyResultsAreLinear: four times the results cost about four times the work, from the text to the
// list that was filtered, sorted and grouped. What is allocated is counted, and no time is taken. A
// square would be sixteen times.
func TestManyResultsAreLinear(t *testing.T) {
	rates := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "--- test %d ---\n  read: IOPS=%d, BW=%dKiB/s (1049kB/s)(29.3GiB/%dmsec)\n", i, 1000+i, 4*(1000+i), 30000+7*i)
		}
		return b.String()
	}
	runs := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(oneRun, "j: ", fmt.Sprintf("job%d: ", i)))
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text  func(int) string
		where string
	}{"rates without rows": {rates, "iops>1"}, "runs": {runs, "bs=4k,iops>1"}} {
		work := func(n int) float64 {
			file := filepath.Join(t.TempDir(), "x.txt")
			if err := os.WriteFile(file, []byte(c.text(n)), 0o600); err != nil {
				t.Fatal(err)
			}
			return testing.AllocsPerRun(1, func() {
				outs, docs, err := Gather([]string{file}, strings.NewReader(""))
				if err != nil {
					t.Fatal(err)
				}
				results, err := Found{Outputs: outs, Documents: docs}.Results()
				if err != nil {
					t.Fatal(err)
				}
				p, err := NewPick([]string{c.where}, "-iops", "work")
				if err != nil {
					t.Fatal(err)
				}
				picked, err := p.Of(results)
				if err != nil || len(picked) != n {
					t.Fatalf("%s: %d results, want %d: %v", name, len(picked), n, err)
				}
				p.Groups(picked)
			})
		}
		if small, large := work(24), work(96); large > 6*small {
			t.Errorf("%s: 24 allocate %.0f times, 96 %.0f times", name, small, large)
		}
	}
}
