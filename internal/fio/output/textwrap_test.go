package output

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
)

// readForm reads one excerpt and wants all of it understood.
func readForm(t *testing.T, text string, outputs int) []*fio.Output {
	t.Helper()
	outs, err := Read("form.txt", strings.NewReader(text))
	if err != nil || len(outs) != outputs {
		t.Fatalf("%d outputs, want %d, %v", len(outs), outputs, err)
	}
	for _, o := range outs {
		if len(o.Unread) > 0 {
			t.Errorf("not understood: %+v", o.Unread)
		}
	}
	return outs
}

// TestWrappedByMail: lines broken at a margin and quoted, as on linux-block and linux-fsdevel
// (lore.kernel.org, 2019-08 "md: rate_iops" and 2021 sync results; figures as printed there).
func TestWrappedByMail(t *testing.T) {
	o := readForm(t, `> write-test: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T)
> 4096B-4096B, ioengine=libaio, iodepth=32
> fio-3.7
> Jobs: 1 (f=1), CR=5/0 IOPS: [W(1)] [100.0% done] [0KB/20KB/0KB /s]
> [0/5/0 iops] [eta 00m:00s]
> write-test: (groupid=0, jobs=1): err= 0: pid=1651: Fri Aug  2 17:16:18
> 2019
>   write: IOPS=4999, BW=19.5MiB/s (20.5MB/s)(391MiB/20001msec); 0 zone
> resets
>     clat percentiles (usec):
>      |  1.00th=[    1],  5.00th=[    2], 10.00th=[
> 2],
>      | 99.99th=[   86]
>     iops        : min=  322, max= 3996, avg=1843.17, stdev=10.39,
> samples=57259
>   lat (msec)   : 500=0.06%, 2000=90.41%,
>   >=2000=8.42%
>   IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=0.1%, 32=0.1%,
>>=64=199.5%
>      issued rwts: total=0,100001,0,0 short=0,0,0,0
> dropped=0,0,0,0
>
> Disk stats (read/write):
>     md0: ios=61/99539, merge=0/0, ticks=0/0, in_queue=0, util=0.00%,
> aggrios=7/9, aggrmerge=0/0, aggrticks=0/0, aggrin_queue=0,
> aggrutil=0.00%
`, 1)[0]
	j := o.Jobs[0]
	if j.Options["bs"] != "4k" || j.Options["iodepth"] != "32" || o.Time.Year() != 2019 {
		t.Errorf("options %v at %v", j.Options, o.Time)
	}
	w := j.Write
	if w.N != 100001 || w.Runtime != 20001*time.Millisecond || w.IOPSSamples.N != 57259 || len(w.Clat.Percentiles) != 4 {
		t.Errorf("write %+v", w)
	}
	if n := len(j.Buckets); n != 3 || j.Buckets[2].Value != 0.0842 || len(j.Depths) != 7 || j.Depths[6].Value != 1.995 {
		t.Errorf("buckets %v, depths %v", j.Buckets, j.Depths)
	}
	if o.Disks[0].Aggregate == nil || o.Disks[0].Aggregate.Writes != 9 {
		t.Errorf("disk %+v", o.Disks[0])
	}
}

// TestLoggersPrefixes: the marks of programs that fio's output went through.
func TestLoggersPrefixes(t *testing.T) {
	lines := []string{
		"rr: (groupid=0, jobs=2): err= 0: pid=1640: Fri May 31 15:23:57 2019",
		"  read: IOPS=152, BW=19.1MiB/s (20.0MB/s)(11.1GiB/592929msec)",
		"    clat percentiles (usec):",
		"     |  1.00th=[  130],  5.00th=[ 5276],",
		"     | 99.99th=[64750]",
		"   bw (  KiB/s): min=28672, max=34746, per=100.00%, avg=31709.00, stdev=4294.97, samples=2",
		"     issued rwts: total=90126,0,0,0 short=0,0,0,0 dropped=0,0,0,0",
	}
	for name, mark := range map[string][2]string{
		"avocado":       {"20:22:23 DEBUG| [stdout] ", ""}, // github.com/avocado-framework-tests/avocado-misc-tests/pull/1675
		"syslog":        {"Dec 10 12:00:01 host fio[123]: ", ""},
		"ts":            {"Dec 10 12:00:01 ", ""},
		"cri":           {"2023-07-01T22:14:42.123456789Z stdout F ", ""},
		"docker":        {"fio_1  | ", ""},
		"kubectl":       {"[pod/fio-x/fio] ", ""},
		"dmesg":         {"[   12.345678] ", ""},
		"level":         {"INFO: ", ""},
		"quoted deeply": {"> >>", ""},
		"ansible":       {`        "`, `",`},
		"python":        {"u'", "',"},
		"wide":          {strings.Repeat(" ", 57), ""}, // github.com/red-hat-storage/ocs-ci/pull/283
		"tags":          {"<code>", "</code><br/>"},
		"comment":       {"# ", ""},
		"diff":          {"+", ""},
		"line block":    {"| ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			j := readForm(t, mark[0]+strings.Join(lines, mark[1]+"\n"+mark[0])+mark[1]+"\n", 1)[0].Jobs[0]
			if j.Name != "rr" || j.Count != 2 || j.Read.N != 90126 || j.Read.BWSamples.Max != 34746*1024 || len(j.Read.Clat.Percentiles) != 3 {
				t.Errorf("%+v", j)
			}
		})
	}
	for name, text := range map[string]string{ // as registered variables and web forms hold it
		"one line": "--runtime=300rr: (g=0): rw=randread, bs=4K-4K/4K-4K, ioengine=windowsaio, iodepth=4...fio-3.1Starting 4 threadsrr: Laying out IO file (1 file / 1024MiB)" + strings.Join(lines, ""),
		"a string": `changed: [h] => {"out": {"stdout": "fio-3.1\nStarting 1 process\n` + strings.Join(lines, `\n`) + `"}}`,
		"strings":  "ok: [h] => {\n \"lines\": [\"fio-3.1\", \"Starting 1 process\", \"\", \"" + strings.Join(lines, "\",\n\"") + "\"]}",
	} {
		t.Run(name, func(t *testing.T) {
			o := readForm(t, text, 1)[0]
			if j := o.Jobs[0]; j.Name != "rr" || j.Read.N != 90126 || j.Read.BWSamples.Max != 34746*1024 || len(j.Read.Clat.Percentiles) != 3 || o.Version != "fio-3.1" {
				t.Errorf("%s: %+v", o.Version, j)
			}
		})
	}
}

func TestDocumentWithinAnother(t *testing.T) {
	o := readForm(t, `{"host": "a", "results": [{"fio": {
  "fio version" : "fio-3.28",
  "jobs" : [ { "jobname" : "j", "groupid" : 0, "error" : 0, "read" : { "io_bytes" : 4096000, "bw_bytes" : 409600, "bw" : 400, "iops" : 100.0, "runtime" : 10000, "total_ios" : 1000 } } ]
}}, {"other": 1}]}`, 1)[0]
	if o.Version != "fio-3.28" || o.Jobs[0].Read.N != 1000 {
		t.Errorf("%+v", o)
	}
	readForm(t, `{"name": "fio", "note": [1, "read IOPS were 5, write: none"]}`, 0)
}

// TestClientsHosts: what a client's rows follow, and a date over a progress line
// (github.com/axboe/fio issues 300, 673).
func TestClientsHosts(t *testing.T) {
	o := readForm(t, `hostname=gorgonzola, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.9-4-g71cc, flags=1
<gorgonzola> 00-test1: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64
<gorgonzola> Starting 1 process
<gorgonzola> f=4): [R(2)][-.-%][r=91.0G][r=22.7M IOPS][eta 00m:00s]
00-test1: (groupid=0, jobs=1): err= 0: pid=26991: Fri Sep  7 14:53:45 20180s]
   read: IOPS=81.1k, BW=317MiB/s (332MB/s)(3169MiB/10002msec)
     issued rwts: total=811234,0,0,0 short=0,0,0,0 dropped=0,0,0,0
<rhel7.5-2>
job1: (groupid=0, jobs=4): err= 0: pid=4459: Tue Jun 12 05:58:37 2018
   read: IOPS=759505, BW=3110935568B/s (3110935568B/s)(364565800KiB/120001msec)
    slat (nsec): min=980, max=264384k, avg=3393.02, stdev=204338.84
`, 1)[0]
	if a, b := o.Jobs[0], o.Jobs[1]; o.Version != "fio-3.9-4-g71cc" || a.Read.N != 811234 || a.Options["iodepth"] != "64" || b.Host != "rhel7.5-2" ||
		b.Read.BW < 3110935567 || b.Read.BW > 3110935569 || b.Read.Slat.Max != 264384*time.Microsecond {
		t.Errorf("%s %+v", o.Version, o.Jobs)
	}
}

// TestWithoutDirectionLine: quotes that begin below the line with the rates.
func TestWithoutDirectionLine(t *testing.T) {
	o := readForm(t, `    clat percentiles (usec):
     |  1.00th=[    5],  5.00th=[   10],
     | 99.99th=[16711]
    bw (KB/s)  : min=    0, max=   93, per=5.53%, avg= 7.69, stdev=11.26
     issued    : total=r=9433/w=0/d=0, short=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=150928KB, aggrb=502KB/s, minb=502KB/s, maxb=502KB/s, mint=300171msec, maxt=300171msec
`, 1)[0]
	r := o.Jobs[0].Read
	if r.N != 9433 || r.Bytes != 150928<<10 || r.Runtime != 300171*time.Millisecond || r.Clat.Percentiles[2].Value != 16711*time.Microsecond || r.BWSamples.Max != 93*1024 {
		t.Errorf("%+v", r)
	}
	if d := r.IOPS - 9433/300.171; d > 1e-9 || d < -1e-9 || len(o.Doubts) != 1 {
		t.Errorf("%v IOPS, doubts %q", r.IOPS, o.Doubts)
	}
	o = readForm(t, "w: (g=0): rw=randwrite, bs=4K-4K/4K-4K, ioengine=sync, iodepth=1\nw: (groupid=0, jobs=1): err= 0: pid=1\n    clat (usec): min=16, max=49361, avg=1868.19, stdev=5831.46\n", 1)[0]
	if c := o.Jobs[0].Write.Clat; c.Mean != 1868190 {
		t.Errorf("%+v", o.Jobs[0])
	}
}

// TestSyncs: of fdatasync, fio 3.1 to 3.5 counted past the end of its array; and the lines alone,
// as articles on etcd quote them (kubernetes and IBM's "Using fio to tell whether your storage is
// fast enough for etcd").
func TestSyncs(t *testing.T) {
	j := readForm(t, `mytest: (groupid=0, jobs=1): err= 0: pid=1999: Thu Nov 12 09:01:02 2020
  write: IOPS=4780, BW=18.7MiB/s (19.6MB/s)(22.0MiB/1178msec)
    clat (nsec): min=11511, max=57921, avg=13731.86, stdev=2657.41

  #### look at the 99th of the sync percentiles ####
  fsync/fdatasync/sync_file_range:
    sync (usec): min=161, max=345, avg=192.48, stdev=20.09
    sync percentiles (usec):
     | 99.00th=[  260], 99.99th=[  347]
     issued rwts: total=0,5632,0,0 short=5631,0,0,0 dropped=0,0,0,0
`, 1)[0].Jobs[0]
	if j.Sync.Lat.N != 5631 || j.Read.Short != 0 || j.Write.N != 5632 || len(j.Sync.Lat.Percentiles) != 2 || j.Sync.Lat.Mean != 192480 {
		t.Errorf("%+v", j)
	}
	j = readForm(t, "...\nfsync/fdatasync/sync_file_range:\n  sync (usec): min=534, max=15766, avg=1273.08, stdev=1084.70\n  sync percentiles (usec):\n   | 1.00th=[ 553], 5.00th=[ 578],\n   |...,\n   | 99.99th=[15795]\n...\n", 1)[0].Jobs[0]
	if j.Sync.Lat.Max != 15766*time.Microsecond || len(j.Sync.Lat.Percentiles) != 3 {
		t.Errorf("%+v", j)
	}
}

// TestJobsWithoutName, and one whose name holds what separates (github.com/axboe/fio issues 759,
// 448).
func TestOddNames(t *testing.T) {
	o := readForm(t, `(g=0): rw=randrw, bs=(R) 3388KiB-3388KiB, (W) 3388KiB-3388KiB, (T) 3388KiB-3388KiB, ioengine=libaio, iodepth=256
fio-3.12
(groupid=0, jobs=1): err=84 (file:io_u.c:2074, func=io_u_queued_complete, error=Invalid or incomplete multibyte or wide character): pid=8610:
  read: IOPS=1015, BW=6194KiB/s (6343kB/s)(4100MiB/677811msec)
r=gauss-70%-write: (groupid=0, jobs=1): err= 0: pid=27: Mon Sep  4 14:57:49 2017
  write: IOPS=10.4k, BW=466MiB/s (489MB/s)(7153MiB/15334msec)
`, 1)[0]
	if o.Jobs[0].Error != 84 || o.Jobs[0].Name != "" || o.Jobs[0].Options["bs"] != "3388k" || o.Jobs[1].Name != "r=gauss-70%-write" {
		t.Errorf("%+v", o.Jobs)
	}
}

// TestBoldHeadings name what follows (lkml.iu.edu, 2012-07 "Make io_submit non-blocking").
func TestBoldHeadings(t *testing.T) {
	outs := readForm(t, "**Unpatched**\nread : io=102120KB, bw=618740 B/s, iops=151 , runt=169006msec\nslat (usec): min=275 , max=87560 , avg=6571.88, stdev=2799.57\n\n"+
		"**Patched**\nread : io=102864KB, bw=504885 B/s, iops=123 , runt=208627msec\n", 2)
	if a, b := outs[0], outs[1]; a.Title != "Unpatched" || a.Jobs[0].Read.Printed["io"] != "102120KB" || a.Jobs[0].Read.IOPS != 151 || a.Jobs[0].Read.Slat.Max != 87560*time.Microsecond || b.Title != "Patched" || b.Jobs[0].Read.IOPS != 123 {
		t.Errorf("%+v, %+v", a, b)
	}
}

// TestStatusDumpWithoutGroups: a later state of the same process is not another job.
func TestStatusDumpWithoutGroups(t *testing.T) {
	outs := readForm(t, `fio-3.28
a: (groupid=0, jobs=1): err= 0: pid=12: Mon Jan  1 10:00:00 2024
   read: IOPS=100, BW=400KiB/s (410kB/s)(4000KiB/10000msec)
     issued rwts: total=1000,0,0,0 short=0,0,0,0 dropped=0,0,0,0
a: (groupid=0, jobs=1): err= 0: pid=12: Mon Jan  1 10:00:10 2024
   read: IOPS=100, BW=400KiB/s (410kB/s)(8000KiB/20000msec)
     issued rwts: total=2000,0,0,0 short=0,0,0,0 dropped=0,0,0,0
`, 2)
	final, left := Final(outs)
	if left != 1 || final[0].Jobs[0].Read.N != 2000 || final[0].Version != "fio-3.28" {
		t.Errorf("%d left, %+v", left, final)
	}
}

// TestOldAndFailed: fio 2.0.8 as one distribution built it, and rows that ended before they had a
// process.
func TestOldAndFailed(t *testing.T) {
	outs := readForm(t, `r: (g=0): rw=randread, bs=32K-32K/32K-32K, ioengine=sync, iodepth=32
2.0.8
Starting 1 process

r: (groupid=0, jobs=1): err= 0: pid=5398
  read : io=297568KB, bw=4959.4KB/s, iops=154 , runt= 60002msec
     issued    : total=r=9299/w=0/d=0, short=r=0/w=0/d=0
test: (groupid=0, jobs=1): err= 5
PS C:\Users\x>
[root@node90 11:07:06 ~]$ls
`, 1)
	o := outs[0]
	if o.Version != "fio-2.0.8" || o.Jobs[0].Read.Bytes != 297568<<10 || o.Jobs[0].Options["bs"] != "32k" || o.Jobs[1].Error != 5 {
		t.Errorf("%+v", o)
	}
}

func TestOtherEncodingsAndBinaries(t *testing.T) {
	text := "fio-3.27\r\nr: (groupid=0, jobs=1): err= 0: pid=12: Mon Jan  1 10:00:00 2024\r\n  read: IOPS=100, BW=400KiB/s (410kB/s)(4000KiB/10000msec)\r\n"
	wide := []byte{0xff, 0xfe}
	for _, c := range []byte(text) {
		wide = append(wide, c, 0)
	}
	if o := readForm(t, string(wide), 1)[0]; o.Version != "fio-3.27" || o.Jobs[0].Read.Bytes != 4000<<10 {
		t.Errorf("%+v", o)
	}
	readForm(t, "\x7fELF\x02\x01\x00\x00\nread: IOPS=%s, BW=%s\nfio-3.33\n\x00", 0)
	readForm(t, "\xff\xfe\x00", 0)
}

// TestBlocksEnd: what Jira, forums and HTML put around two outputs parts them.
func TestBlocksEnd(t *testing.T) {
	row := func(name string) string {
		return name + ": (groupid=0, jobs=1): err= 0: pid=20: Thu Jul 21 07:54:16 2022\n  read: IOPS=500, BW=501MiB/s (525MB/s)(5010MiB/10001msec)\n     issued rwts: total=5010,0,0,0 short=0,0,0,0 dropped=0,0,0,0"
	}
	for _, marks := range [][2]string{
		{"{noformat}\n", "\n{noformat}\n"},
		{"{code:title=x}\n", "\n{code}\n"},
		{"[code]", "[/code]\n"},
		{"<p>Before</p><div class=\"h\"><pre><span></span>", "</pre></div>\n"},
	} {
		outs := readForm(t, marks[0]+row("j")+marks[1]+"and\n"+marks[0]+row("k")+marks[1], 2)
		if a, b := outs[0].Jobs[0], outs[1].Jobs[0]; a.Name != "j" || b.Name != "k" || a.Read.N != 5010 || b.Read.N != 5010 {
			t.Errorf("%q: %+v %+v", marks, a, b)
		}
	}
}

// TestJobsNamedAfterDevices: the slash ahead of a line of fio's is a comment's only before another
// slash, a star or a space.
func TestJobsNamedAfterDevices(t *testing.T) {
	const row = "(groupid=0, jobs=1): err= 0: pid=7: Wed Mar  6 19:00:05 2024\n  read: IOPS=1000, BW=4000KiB/s (4096kB/s)(234MiB/60001msec)\n"
	for in, want := range map[string]string{
		"/dev/nvme8n4: " + row: "/dev/nvme8n4", "// a: " + row: "a", "/ a: " + row: "a",
	} {
		outs, err := ReadText(strings.NewReader(in))
		if err != nil || len(outs) != 1 || len(outs[0].Jobs) != 1 || outs[0].Jobs[0].Name != want {
			t.Errorf("%.20q: %v, %s", in, err, asJSON(t, outs))
		}
	}
}

// TestRefinedFiguresKeepThePrint: what is worked out from I/Os × block size stays inside what fio
// printed (JUDGED.md (a): 65.22 MiB/s and 3914.4 MiB were reported where fio had printed 65.3MiB/s
// and 3918MiB).
func TestRefinedFiguresKeepThePrint(t *testing.T) {
	j := readOne(t,
		"w: (g=0): rw=randwrite, bs=(R) 64.0KiB-64.0KiB, (W) 64.0KiB-64.0KiB, (T) 64.0KiB-64.0KiB, ioengine=io_uring, iodepth=64",
		"w: (groupid=0, jobs=1): err= 0: pid=1: Wed Jun 14 06:26:51 2023",
		"  write: IOPS=1044, BW=65.3MiB/s (68.4MB/s)(3918MiB/60015msec); 0 zone resets",
		"     issued rwts: total=0,62631,0,0 short=0,0,0,0 dropped=0,0,0,0")
	if mib := float64(j.Write.BW) / (1 << 20); mib < 65.25 || mib > 65.35 {
		t.Errorf("%.3f MiB/s, printed 65.3", mib)
	}
	if mib := float64(j.Write.Bytes) / (1 << 20); mib < 3917.5 || mib > 3918.5 {
		t.Errorf("%.2f MiB, printed 3918", mib)
	}
	if j.Write.N != 62631 {
		t.Errorf("%d writes", j.Write.N)
	}
}

func readOne(t *testing.T, lines ...string) fio.Job {
	t.Helper()
	outs := readForm(t, strings.Join(lines, "\n"), 1)
	if o := outs[0]; len(o.Jobs) != 1 || len(o.Unread) > 0 {
		t.Fatalf("%d rows, unread %v", len(o.Jobs), o.Unread)
	}
	return outs[0].Jobs[0]
}

// TestNegativeShare: fio 3.25 prints a negative share of its group by an overflow of its own
// (JUDGED.md (b)); the line reads otherwise.
func TestNegativeShare(t *testing.T) {
	j := readOne(t, "r: (groupid=0, jobs=8): err= 0: pid=1: Wed Jun 14 06:26:51 2023",
		"  read: IOPS=809k, BW=21.6GiB/s (23.2GB/s)(1296GiB/60001msec)",
		"   bw (  MiB/s): min=15060, max=24806, per=-89.43%, avg=22119.84, stdev=158.87, samples=952",
		"     issued rwts: total=48540000,0,0,0 short=0,0,0,0 dropped=0,0,0,0")
	if s := j.Read.BWSamples; s.Share != 0 || s.N != 952 || s.Max != 24806<<20 {
		t.Errorf("%+v", s)
	}
}

// TestBoldItalic: a line that Markdown shows in bold italics is fio's line (JUDGED.md (c)).
func TestBoldItalic(t *testing.T) {
	j := readOne(t, "f: (groupid=0, jobs=16): err= 0: pid=1: Wed Jun 14 06:26:51 2023",
		"**_write:IOPS=40.0k_** , BW=626MiB/s (656MB/s)(110GiB/180001msec); 0 zone resets",
		"clat (usec): min=233, max=2233, avg=398.84, stdev=47.13",
		"issued rwts: total=0,7207376,0,0 short=0,0,0,0 dropped=0,0,0,0")
	if j.Write.N != 7207376 || j.Write.Clat.Mean != 398840 {
		t.Errorf("%+v", j.Write)
	}
}

// TestWithinProse: what somebody wrote before a line of fio's, or a program around its output, is no part of it.
func TestWithinProse(t *testing.T) {
	const group = "READ: bw=1591MiB/s (1669MB/s), 1591MiB/s-1591MiB/s (1669MB/s-1669MB/s), io=559GiB (601GB), " +
		"run=360001-360001msec\n"
	for name, c := range map[string]struct {
		text    string
		outputs int
	}{
		"a prompt that is a path": {"/test-volume # fio --name=t --rw=read --iodepth=16\n/ # 5 volumes\n" +
			"t: (groupid=0, jobs=1): err= 0: pid=9: Tue Sep 12 13:14:42 2023\n" +
			"  read: IOPS=661, BW=2644KiB/s (2707kB/s)(155MiB/60001msec)\n", 1},
		"items of a list": {"* Host\n  * " + group, 1},
		"labels": {"3. odd times: read: IOPS=33.7k, BW=2109MiB/s (2211MB/s)(124GiB/60001msec)\n" +
			"   even times: read: IOPS=25.7k, BW=1608MiB/s (1686MB/s)(5678MiB/3532msec)\n", 2},
		"a string of Python's": {"out = \"\"\"t: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, " +
			"ioengine=psync, iodepth=32\nfio-3.28\nStarting 1 process\n\nt: (groupid=0, jobs=1): err= 0: pid=9: " +
			"Tue Sep 12 13:14:42 2023\n  read: IOPS=661, BW=2644KiB/s (2707kB/s)(155MiB/60001msec)\n", 1},
	} {
		outs := readForm(t, c.text, c.outputs)
		if name == "a prompt that is a path" && !strings.Contains(outs[0].Command, "--iodepth=16") {
			t.Errorf("%s: the command is %q", name, outs[0].Command)
		}
		if name == "a string of Python's" && outs[0].Jobs[0].Options["iodepth"] != "32" {
			t.Errorf("%s: %v", name, outs[0].Jobs[0].Options)
		}
	}
}
