package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
)

const oneRun = `j: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=32
fio-3.33
Starting 1 process

j: (groupid=0, jobs=1): err= 0: pid=7: Sat Jan  7 17:35:50 2023
  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)
    clat (usec): min=500, max=9000, avg=999.00, stdev=100.00
     issued rwts: total=30000,0,0,0 short=0,0,0,0 dropped=0,0,0,0
`

// gathered imports a text as a file of a name.
func gathered(t *testing.T, name, text string) ([]*fio.Output, map[string]*Document) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	outs, docs, err := Gather([]string{file}, strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	return JoinFragments(outs), docs
}

// TestPhantoms: what holds no figure of a run is none, and disk statistics that stand apart go to the
// run that did as much.
func TestPhantoms(t *testing.T) {
	stopped := "\n# other\n\nk: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=rbd, iodepth=64\n" +
		"fio-3.39\nStarting 6 processes\nfio: terminating on signal 2\n"
	disks := func(n string) string {
		return "\n## its disks\n\nDisk stats (read/write):\n  sdb: ios=" + n + "/0, merge=0/0, ticks=15273/1, in_queue=15274, util=98.73%\n"
	}
	for _, c := range []struct {
		name, text          string
		runs, disks, unread int
	}{
		{"a run that was stopped, behind one", oneRun + stopped, 1, 0, 0},
		{"disk statistics under a heading of their own", oneRun + disks("29800"), 1, 1, 0},
		{"disk statistics of something else", oneRun + disks("900"), 1, 0, 1},
		{"a run that was stopped, alone", stopped, 1, 0, 0},
	} {
		outs, _ := gathered(t, "x.md", c.text)
		if len(outs) != c.runs {
			t.Errorf("%s: %d results, want %d", c.name, len(outs), c.runs)
			continue
		}
		if o := outs[0]; len(o.Disks) != c.disks || len(o.Unread) != c.unread {
			t.Errorf("%s: disks %+v, unread %+v", c.name, o.Disks, o.Unread)
		}
	}
}

// TestFragmentsOfTwoRuns: pieces under one heading are of one run while there is one of each; a second
// status group of one number, or second disk statistics, are of another.
func TestFragmentsOfTwoRuns(t *testing.T) {
	piece := func(group string, kib int, disk string) string {
		return fmt.Sprintf("Run status group %s (all jobs):\n   READ: bw=%dKiB/s (%dkB/s), %dKiB/s-%dKiB/s (%dkB/s-%dkB/s), io=365MiB (383MB), "+
			"run=60027-60077msec\n%s\n", group, kib, kib, kib, kib, kib, kib, disk)
	}
	const sda = "\nDisk stats (read/write):\n  sda: ios=93339/0, merge=0/0, ticks=235287/0, in_queue=471632, util=99.92%\n"
	for name, c := range map[string]struct {
		text string
		runs int
	}{
		"two machines":  {"**Results**\nOne\n" + piece("0", 9000, sda) + "Two\n" + piece("0", 700, sda), 2},
		"without disks": {"**Results**\nOne\n" + piece("0", 9000, "") + "Two\n" + piece("0", 700, ""), 2},
		"two groups":    {"**Results**\n" + piece("0", 9000, "") + "and\n\n" + piece("1", 700, ""), 2}, // a result each
	} {
		if outs, _ := gathered(t, "x.md", c.text); len(outs) != c.runs {
			t.Errorf("%s: %d results, want %d", name, len(outs), c.runs)
		}
	}
}

// TestUnclosedBrace: a snippet that was cut off hides nothing behind it, and its lines keep their
// numbers.
func TestUnclosedBrace(t *testing.T) {
	for _, before := range []string{"{\n \"a\": \"b\"\n\n", "{ \"a\": {\n", "text\n{\"token\": \"x\n\n{\"b\n"} {
		outs, _ := gathered(t, "x.md", before+oneRun)
		if len(outs) != 1 || len(outs[0].Jobs) != 1 || outs[0].Jobs[0].Read.N != 30000 {
			t.Errorf("%q: %d outputs", before, len(outs))
			continue
		}
		if want := strings.Count(before, "\n") + 5; outs[0].Line != want {
			t.Errorf("%q: line %d, want %d", before, outs[0].Line, want)
		}
	}
}

// TestJobFileInALog: the job file that a script printed ahead of fio's output counts, whatever the
// ending of the file.
func TestJobFileInALog(t *testing.T) {
	job := "Configuration:\n[global]\nioengine=libaio\ndirect=1\n\n[j]\nrw=randread\nbs=4k\nrate_iops=1000\n---\n"
	for _, name := range []string{"x.log", "x.txt", "x.md", "x"} {
		outs, docs := gathered(t, name, job+oneRun)
		if len(outs) != 1 {
			t.Errorf("%s: %d outputs", name, len(outs))
			continue
		}
		f := docs[outs[0].Source].job(outs[0])
		if f == nil {
			t.Errorf("%s: no job file", name)
			continue
		}
		if v, _ := f.Effective(f.Jobs()[0]).Get("rate_iops"); v != "1000" {
			t.Errorf("%s: rate_iops %q", name, v)
		}
	}
	_, docs := gathered(t, "plain.log", "[ 0.1] boot\n"+oneRun)
	for _, d := range docs {
		if len(d.jobs) > 0 {
			t.Errorf("a log without a job file has one: %+v", d.jobs)
		}
	}
}

// TestOddEncodings: UTF-16 without a mark, noise before the text, and figures that are no numbers.
func TestOddEncodings(t *testing.T) {
	var wide strings.Builder
	for _, b := range []byte(oneRun) {
		wide.WriteByte(b)
		wide.WriteByte(0)
	}
	noise := strings.Repeat("\x00\x01\xfe\x80noise\n", 40_000)
	for name, text := range map[string]string{"UTF-16 without a mark": wide.String(), "noise": noise + oneRun} {
		outs, _ := gathered(t, "x.txt", text)
		if len(outs) != 1 || len(outs[0].Jobs) != 1 || outs[0].Jobs[0].Read.N != 30000 {
			t.Errorf("%s: %d outputs", name, len(outs))
		}
	}
	for text, said := range map[string]bool{
		strings.Replace(oneRun, "avg=999.00", "avg= -nan", 1): true, oneRun: false,
	} {
		outs, _ := gathered(t, "x.txt", text)
		if doubts := strings.Join(outs[0].Doubts, "\n"); strings.Contains(doubts, "nan") != said {
			t.Errorf("doubts %q", doubts)
		}
	}
}

// TestGroupsInPart: each status group that is quoted alone is a result, and rows of some jobs of a group do not stand as
// all of it.
func TestGroupsInPart(t *testing.T) {
	group := func(id int, side, rate string) string {
		return fmt.Sprintf("Run status group %d (all jobs):\n   %s: bw=%[3]sMiB/s (1MB/s), 9MiB/s-9MiB/s (1MB/s-1MB/s), io=%[3]s0MiB (1MB), "+
			"run=10000-10000msec\n\n", id, side, rate)
	}
	row := func(bw string) string {
		return "w: (groupid=0, jobs=1): err= 0: pid=7: Sat Jan  7 17:35:50 2023\n  write: IOPS=" + bw + ", BW=" + bw + "MiB/s (1MB/s)(" + bw +
			"0MiB/10000msec); 0 zone resets\n     issued rwts: total=0," + bw + "0,0,0 short=0,0,0,0 dropped=0,0,0,0\n\n"
	}
	for _, c := range []struct{ name, text, want string }{
		{
			"groups alone", "before:\n" + group(0, "WRITE", "300") + group(1, "READ", "500") + "after:\n" + group(0, "WRITE", "301") + group(1, "READ", "502"),
			"0 300 0\n500 0 0\n0 301 0\n502 0 0",
		},
		{"two rows of four", row("100") + row("101") + group(0, "WRITE", "400"), "0 400 0"},
		{"all rows", row("100") + row("101") + group(0, "WRITE", "201"), "0 201 201"},
		{"rows of one group, of two", row("100") + group(0, "WRITE", "300") + group(1, "READ", "500"), "0 300 0"},
	} {
		outs, _ := gathered(t, "x.txt", c.text)
		var got []string
		for _, o := range outs {
			sum := o.Total()
			got = append(got, fmt.Sprintf("%.0f %.0f %.0f", float64(sum.Read.BW)/(1<<20), float64(sum.Write.BW)/(1<<20),
				float64(sum.Read.IOPS+sum.Write.IOPS)))
		}
		if strings.Join(got, "\n") != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), c.want)
		}
	}
}

// TestCommandsInAMail: the command above a status group is its job, also where a mail quoted and wrapped it.
func TestCommandsInAMail(t *testing.T) {
	const group = "> before:\n> Run status group 0 (all jobs):\n>    READ: bw=9MiB/s (9MB/s), 9MiB/s-9MiB/s (9MB/s-9MB/s),\n" +
		">    io=90MiB (94MB), run=10000-10000msec\n"
	for text, want := range map[string]string{
		">   sudo fio -name=x -filename=/dev/nullb0 -iodepth=8\n>   -thread -rw=read -bs=4k\n>\n":                    "/dev/nullb0 4k no storage",
		"> > fio --name=x --iodepth=8 --rw=randread\n> >     --bs=16k --filename=/dev/zram1\n> so:\n":                "/dev/zram1 16k no storage",
		"fio --name=x --rw=randread --bs=8k \\\n  --filename=/dev/ram2\n":                                            "/dev/ram2 8k no storage",
		"> > fio --name=x --rw=randread --bs=16k\n> >     --filename=/dev/sdb\n> > not /dev/zram1\n":                 "/dev/sdb 16k ",
		"> fio --name=x --rw=read --filename=/data/ramdisk.img\n> - and --bs=64k is no better\n":                     "/data/ramdisk.img 4k ",
		"> numactl --cpunodebind=0 fio -name=x -rw=read\n>    -filename=/dev/ram3\n>\n":                              "/dev/ram3 4k no storage",
		"we ran nice 20 times what fio -filename=/dev/ram3 does\n":                                                   "",
		"the 16k reads that asked /dev/nullb0 with fio -iodepth=8 were as fast\n":                                    "",
		"> fio --name=x --rw=read --filename=/dev/nullb0\n> and on the drive:\n> fio --name=y --filename=/dev/sdc\n": "/dev/sdc 4k ",
	} {
		j, err := importText(text + group)
		if err != nil || len(j.b.Scenarios) != 1 {
			t.Fatalf("%q: %v, %d results", text, err, len(j.b.Scenarios))
		}
		got := ""
		for _, w := range j.b.Scenarios[0].Result.Workloads {
			got += w.Filename + " " + w.ReadBS.Suffixed() + " "
		}
		if slices.ContainsFunc(j.b.Findings, func(f finding.Finding) bool { return f.Title == "no storage was measured" }) {
			got += "no storage"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
