package text

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestCPUOfThreads: fio 2.0 gives each thread the CPU of its whole process. A row of eight that has three cores each
// shows it, and then it is so in all rows of the run; a row of one thread stays as it is.
func TestCPUOfThreads(t *testing.T) {
	row := func(group, jobs int, system float64) string {
		return fmt.Sprintf("j%d: (groupid=%d, jobs=%d): err= 0: pid=%d\n  write: io=16384MB, bw=344991KB/s, iops=84226 , "+
			"runt= 49798msec\n  cpu          : usr=0.00%%, sys=%.2f%%, ctx=9255, majf=0, minf=1998\n", group, group, jobs, group+7, system)
	}
	for _, c := range []struct {
		name string
		rows [][2]float64 // jobs and system as printed, in per cent
		want []float64    // of a job, as shares
	}{
		{"three cores of each of eight", [][2]float64{{1, 85}, {8, 309}, {8, 96}}, []float64{0.85, 0.38625, 0.12}},
		{"a core of each of eight", [][2]float64{{8, 96}, {8, 100.4}}, []float64{0.96, 1.004}},
		{"one thread beside its main thread", [][2]float64{{1, 102}, {8, 90}}, []float64{1.02, 0.9}},
	} {
		r, in := &Reader{}, ""
		for i, row1 := range c.rows {
			in += row(i, int(row1[0]), row1[1])
		}
		for i, line := range strings.Split(in, "\n") {
			r.Line(i+1, line)
		}
		r.Finish()
		outs := r.Take()
		if len(outs) != 1 || len(outs[0].Jobs) != len(c.want) {
			t.Fatalf("%s: %d outputs", c.name, len(outs))
		}
		for i, j := range outs[0].Jobs {
			if got := j.CPU.User + j.CPU.System; math.Abs(got-c.want[i]) > 1e-9 {
				t.Errorf("%s: row %d uses %v of a core, want %v", c.name, i, got, c.want[i])
			}
		}
	}
}

// A latency behind the heading of fsync's section, whose direction was not quoted, has a place as any other.
func TestLatencyBehindSyncsWithoutItsDirection(t *testing.T) {
	var r Reader
	for i, line := range []string{"  fsync/fdatasync/sync_file_range:", "    clat (usec): min=1, max=9, avg=3.00, stdev=1.00"} {
		r.Line(i+1, line)
	}
	r.Finish()
	if outs := r.Take(); len(outs) != 1 || len(outs[0].Unread) != 1 {
		t.Errorf("%+v", outs)
	}
}
