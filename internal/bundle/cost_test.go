package bundle

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/fio"
)

// TestImportIsLinear: four times the jobs take about four times the CPU time, whether they have one
// name or each its own (M3 of the review of ed5d1e7: 2,000 took 0.2 s, 8,000 4 s). A square would
// take sixteen times.
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
		if small, large := spent(2_000), spent(8_000); large > 10*small+50*time.Millisecond {
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
