package bench

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"plimsoll/internal/sys"
)

// BenchmarkWatch is what one look of plimsoll why costs with 500 more processes: at most 6 s, and 100 ms of a
// processor. Run it with -benchtime 3x on a host that does little else.
func BenchmarkWatch(b *testing.B) {
	for range 500 {
		cmd := exec.Command("sleep", "600")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
	}
	var cpu, wall time.Duration
	for b.Loop() {
		f, err := Watch(context.Background(), sys.Host(), Watching{Path: b.TempDir(), For: WatchFor})
		if err != nil {
			b.Fatal(err)
		}
		cpu, wall = cpu+f.CPU, wall+f.Wall
	}
	b.ReportMetric(float64(cpu.Milliseconds())/float64(b.N), "ms-CPU/look")
	b.ReportMetric(wall.Seconds()/float64(b.N), "s/look")
}
