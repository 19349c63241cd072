package text

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"plimsoll/internal/fio"
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
	if outs := read("  fsync/fdatasync/sync_file_range:\n    clat (usec): min=1, max=9, avg=3.00, stdev=1.00\n"); len(outs) != 1 || len(outs[0].Unread) != 1 {
		t.Errorf("%+v", outs)
	}
}

// A row whose heading was cut off is of the status group whose bytes are its I/Os, of one size in one direction at least.
func TestGroupOfARowWithoutItsHeading(t *testing.T) {
	group := func(n int, lines string) string {
		return "Run status group " + string(rune('0'+n)) + " (all jobs):\n" + lines
	}
	first := "   READ: bw=60.8GiB/s (65.3GB/s), 60.8GiB/s-60.8GiB/s (65.3GB/s-65.3GB/s), io=3651GiB (3920GB), run=60003-60003msec\n"
	second := "   READ: bw=4183MiB/s (4386MB/s), 4183MiB/s-4183MiB/s (4386MB/s-4386MB/s), io=245GiB (263GB), run=60002-60002msec\n"
	mix := "   READ: io=150928KB, aggrb=502KB/s, minb=502KB/s, maxb=502KB/s, mint=300171msec, maxt=300171msec\n" +
		"  WRITE: io=41799KB, aggrb=139KB/s, minb=139KB/s, maxb=139KB/s, mint=300205msec, maxt=300205msec\n"
	reads := "     issued rwts: total=64246431,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
	for _, c := range []struct {
		name, text  string
		group       int
		read, write uint64
	}{
		{"the second of two", reads + group(0, first) + group(1, second), 1, 64246431, 0},
		{"either of two", reads + group(0, second) + group(1, second), 0, 64246431, 0},
		{"writes of several sizes", "     issued    : total=r=9433/w=5950/d=0, short=r=0/w=0/d=0\n" + group(0, mix), 0, 9433, 5950},
		{"more in the group", "     issued    : total=r=8433/w=5950/d=0, short=r=0/w=0/d=0\n" + group(0, mix), 0, 0, 0},
	} {
		outs := read(c.text)
		if len(outs) != 1 || len(outs[0].Jobs) != 1 {
			t.Errorf("%s: %d outputs", c.name, len(outs))
			continue
		}
		if j := outs[0].Jobs[0]; j.Group != c.group || j.Read.N != c.read || j.Write.N != c.write || (j.Read.IOPS > 0) == (c.read == 0 || c.name == "either of two") {
			t.Errorf("%s: group %d, %d reads, %d writes, %v IOPS", c.name, j.Group, j.Read.N, j.Write.N, j.Read.IOPS)
		}
	}
}

// read is what a reader has of a text.
func read(of string) []*fio.Output {
	var r Reader
	for i, line := range strings.Split(strings.TrimSuffix(of, "\n"), "\n") {
		r.Line(i+1, line)
	}
	r.Finish()
	return r.Take()
}

// A job's options stand in one line with what somebody wrote before it; the row names the job alone.
func TestOptionsBehindOtherWords(t *testing.T) {
	row := "a: (groupid=0, jobs=1): err= 0: pid=7: Sat Jan  7 17:35:50 2023\n" +
		"  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)\n"
	echo := "a: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=8\n"
	for name, c := range map[string]struct{ in, want string }{
		"behind words":   {"Running it now: " + echo + row, "8"},
		"behind two":     {"one " + echo + "two " + echo + row, ""},
		"of another job": {"b" + echo + row, ""},
	} {
		outs := read(c.in)
		if len(outs) != 1 || len(outs[0].Jobs) != 1 || outs[0].Jobs[0].Options["iodepth"] != c.want {
			t.Errorf("%s: %+v", name, outs)
		}
	}
}
