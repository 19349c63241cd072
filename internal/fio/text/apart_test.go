package text

import (
	"strings"
	"testing"
)

// TestRatesOfOneRun: rates that were quoted without their rows are added only where something says
// that they are of one run.
func TestRatesOfOneRun(t *testing.T) {
	read := "  read: IOPS=1000, BW=1000MiB/s (1049MB/s)(29.3GiB/30006msec)\n"
	write := "  write: IOPS=500, BW=500MiB/s (524MB/s)(14.6GiB/30010msec)\n"
	same := "  write: IOPS=500, BW=500MiB/s (524MB/s)(14.6GiB/30006msec)\n"
	lat := "    clat (usec): min=10, max=20, avg=15.00, stdev=1.00\n"
	row := "j: (groupid=0, jobs=1): err= 0: pid=7: Wed Jun 14 06:26:51 2023\n"
	for _, c := range []struct {
		name, in string
		runs     int
		title    string // of the last
	}{
		{"a separator between them", "--- SEQ-READ ---\n" + read + "--- SEQ-WRITE ---\n" + same, 2, "SEQ-WRITE"},
		{"a label between them", "test 1\n" + read + "test 2\n" + same, 2, "test 2"},
		{"different times", read + write, 2, ""},
		{"the same time", read + same, 1, ""},
		{"an elision between them", read + "...\n" + same, 1, ""},
		{"latencies between them", read + lat + same, 1, ""},
		{"a row of fio's, with directions of different times", row + read + lat + write + lat, 1, ""},
		{"a complete row before", read + lat + "  IO depths    : 1=100.0%, 2=0.0%\n" + same, 2, ""},
	} {
		r := &Reader{}
		for i, line := range strings.Split(c.in, "\n") {
			r.Line(i+1, line)
		}
		r.Finish()
		outs := r.Take()
		if len(outs) != c.runs {
			t.Errorf("%s: %d runs, want %d", c.name, len(outs), c.runs)
			continue
		}
		for _, o := range outs {
			if len(o.Jobs) != 1 || len(o.Unread) > 0 {
				t.Errorf("%s: %d rows, unread %+v", c.name, len(o.Jobs), o.Unread)
			}
		}
		if last := outs[len(outs)-1].Title; c.title != "" && last != c.title {
			t.Errorf("%s: title %q, want %q", c.name, last, c.title)
		}
	}
}
