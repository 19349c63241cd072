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
		{"lines that grep found in two files", "a.txt:" + read + "b.txt:" + same, 2, "b.txt"},
		{"lines that grep found in one file", "a.txt:12:" + read + "a.txt:15:" + same, 1, "a.txt"},
		{
			"code, line by line",
			"`" + strings.TrimSpace(read) + "`\n\n`clat (usec): min=10, max=20,` **`avg=15.00`**`, stdev=1.00`\n", 1, "",
		},
		{"a group whose jobs failed", read + lat + "\nRun status group 0 (all jobs):\n", 1, ""},
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

// TestRowsOfOneRun: fio prints the rows of a run at once, so rows of other dates are of another run,
// and their rates are not added. Hosts end apart.
func TestRowsOfOneRun(t *testing.T) {
	row := func(host, name, pid, clock string) string {
		return host + name + ": (groupid=0, jobs=1): err= 0: pid=" + pid + ": Sat Jan  7 " + clock + " 2023\n" +
			host + "  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)\n"
	}
	echo := func(name string) string {
		return name + ": (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1\n"
	}
	for _, c := range []struct {
		name, in string
		runs     int
	}{
		{"five minutes apart", row("", "a", "7", "17:35:50") + row("", "b", "9", "17:40:50"), 2},
		{"five minutes apart, below both echoes", echo("a") + echo("b") + row("", "a", "7", "17:35:50") + row("", "b", "9", "17:40:50"), 2},
		{"the later above the earlier", row("", "a", "7", "17:40:50") + row("", "b", "9", "17:35:50"), 2},
		{"at once", row("", "a", "7", "17:35:50") + row("", "b", "9", "17:35:50"), 1},
		{"while the second changed", row("", "a", "7", "17:35:59") + row("", "b", "9", "17:36:00"), 1},
		{"hosts that ended apart", row("<h1> ", "a", "7", "17:35:50") + row("<h2> ", "a", "7", "17:40:50"), 1},
	} {
		r := &Reader{}
		for i, line := range strings.Split(c.in, "\n") {
			r.Line(i+1, line)
		}
		r.Finish()
		rows, outs := 0, r.Take()
		for _, o := range outs {
			rows += len(o.Jobs)
			for _, j := range o.Jobs {
				if strings.Contains(c.in, "rw=randread") && j.Options["rw"] != "randread" {
					t.Errorf("%s: %s lost its options", c.name, j.Name)
				}
			}
		}
		if len(outs) != c.runs || rows != 2 {
			t.Errorf("%s: %d runs of %d rows, want %d of 2", c.name, len(outs), rows, c.runs)
		}
	}
}

// A header line within a row is of a run that printed at the same time, if that row goes on behind it.
func TestHeaderLineWithinARow(t *testing.T) {
	row := "a: (groupid=0, jobs=1): err= 0: pid=7: Sat Jan  7 17:35:50 2023\n" +
		"  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)\n"
	echo := "b: (g=0): rw=randread, bs=(R) 8192B-8192B, (W) 8192B-8192B, (T) 8192B-8192B, ioengine=libaio, iodepth=1\n"
	rest := "    clat (usec): min=9, max=99, avg=19.00, stdev=1.00\n"
	sums := "Run status group 0 (all jobs):\n   READ: bw=490MiB/s (513MB/s), 490MiB/s-490MiB/s (513MB/s-513MB/s), io=28.7GiB (30.8GB), run=60001-60001msec\n"
	other := "b: (groupid=0, jobs=1): err= 0: pid=9: Sat Jan  7 17:35:50 2023\n" +
		"  read: IOPS=1000, BW=8000KiB/s (8192kB/s)(234MiB/30000msec)\n"
	for name, c := range map[string]struct {
		in   string
		want int
	}{
		"which goes on":                  {row + echo + rest, 2},
		"which was cut off there":        {row + echo + other + rest, 0},
		"whose rest follows what is new": {row + rest + echo, 0},
		"above sums, and below":          {row[:strings.IndexByte(row, '\n')+1] + sums + row[strings.IndexByte(row, '\n')+1:], 2},
		"above sums, as grep finds it":   {row[:strings.IndexByte(row, '\n')+1] + sums + other, 0},
	} {
		r := &Reader{}
		for i, line := range strings.Split(c.in, "\n") {
			r.Line(i+1, line)
		}
		if r.Finish(); len(r.Tangles) != c.want {
			t.Errorf("%s: tangles in lines %v, want %d", name, r.Tangles, c.want)
		}
	}
}

// A command may stand behind the prompt of any shell.
func TestPromptOfAWord(t *testing.T) {
	rate := "  write: IOPS=133k, BW=520MiB/s (545MB/s)(5120MiB/9848msec)\n"
	outs := read("shell> fio -filename=/d/f -direct=1 -rw=write -bs=4k -name=a\n" + rate)
	if len(outs) != 1 || !strings.HasPrefix(outs[0].Command, "fio -filename") {
		t.Errorf("%+v", outs)
	}
}
