package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Each beginning of one of fio's lines holds a word by which a line is looked at; what a log of progress holds
// has none.
func TestStartWords(t *testing.T) {
	has := func(s string) bool {
		return slices.ContainsFunc(startWords, func(word string) bool { return strings.Contains(s, word) })
	}
	start := rapid.StringMatching(strings.ReplaceAll(textStarts.String(), `\b`, ""))
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			if s := start.Draw(t, "start"); textStarts.MatchString(s) && !has(s) {
				t.Errorf("%q would be overlooked", s)
			}
		}
	})
	if s := "Jobs: 1 (f=1): [r(1)][10.0%][r=1MiB/s][r=1 IOPS][eta 00m:10s]"; has(s) {
		t.Errorf("%q is looked at", s)
	}
}

// TestMarksOfMail: what mails and comments do to fio's lines is undone, and nothing else is.
func TestMarksOfMail(t *testing.T) {
	const row = "j: (groupid=0, jobs=1): err= 0: pid=7: Wed Jun 14 06:26:51 2023\n"
	const encoded = "> j: (groupid=3D0, jobs=3D1): err=3D 0: pid=3D7: Wed Jun 14 06:26:=\n51 2023\n" +
		">   read: IOPS=3D1000, BW=3D4000KiB/s (4096kB/s)(117MiB/30000msec)\n"
	for _, c := range []struct {
		name, in   string
		iops, mean float64 // of reads; of their clat in µs
		writes     float64
		unread     int
	}{
		{"quoted-printable", encoded + ">     clat (usec): min=3D10, max=3D90, avg=3D19.00, stdev=3D1=\n2.50\n", 1000, 19, 0, 0},
		{"quoted-printable, and a part that is not", encoded + ">     clat (usec): min=10, max=90, avg=19.00, stdev=12.50\n", 1000, 19, 0, 0},
		{"quoted-printable, cut off in a line", encoded + ">     clat (usec): min=3D10, max=3D90, avg=3D19.00, stdev=3D12.50=\n", 1000, 19, 0, 0},
		{"an equals sign at the end of a plain line", "=====\n" + row + "  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)\n", 1000, 0, 0, 0},
		{"a value that was wrapped off its name", row + "  read : io=400KB, bw=4.0KB/s, iops=463, runt= \n100000msec\n", 463, 0, 0, 0},
		{"comments indented as the code", "    fio.run(job)\n    #   read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)\n", 1000, 0, 0, 0},
		{"comments of C++", "\t//   read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)\n", 1000, 0, 0, 0},
		{"a field set off by stars", "write: io=400KB, bw=4.0KB/s, *iops=463*, runt= 100000msec\n", 0, 0, 463, 0},
		{"figures that somebody wrote behind fio's", row + "  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec), iops=2048, runt=\n", 1000, 0, 0, 1},
		{
			"a paragraph filled to its margin", row + "  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(117MiB/30000msec)\n" +
				"   bw (  KiB/s): min=1000, max=7280, per=100.00%, avg=4000.71,\nstdev=1603.47, samples=85 write: IOPS=500, BW=2000KiB/s\n" +
				"(2048kB/s)(58.6MiB/30000msec); 0 zone resets\n", 1000, 0, 500, 0,
		},
	} {
		outs := read(c.in)
		if len(outs) != 1 || len(outs[0].Jobs) != 1 {
			t.Errorf("%s: %d runs", c.name, len(outs))
			continue
		}
		j := outs[0].Jobs[0]
		near := func(got, want float64) bool { return got >= want*0.999 && got <= want*1.001 }
		if !near(float64(j.Read.IOPS), c.iops) || !near(j.Read.Clat.Mean/1e3, c.mean) ||
			!near(float64(j.Write.IOPS), c.writes) || len(outs[0].Unread) != c.unread {
			t.Errorf("%s: %v reads, clat %v, %v writes, unread %+v", c.name, j.Read.IOPS, j.Read.Clat.Mean, j.Write.IOPS, outs[0].Unread)
		}
	}
}
