package output

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/units"
)

// both runs fio once and returns what the two readers make of its two forms of output.
func both(t *testing.T, args ...string) (text, js *fio.Output) {
	t.Helper()
	cmd := exec.Command("fio", append([]string{"--output-format=json,normal"}, args...)...)
	cmd.Dir = t.TempDir()
	raw, err := cmd.Output()
	if err != nil {
		t.Logf("fio %v: %v", args, err)
	}
	var lines []string
	split := &running.Splitter{
		Doc:  func(doc []byte) (err error) { js, err = ParseJSON(doc); return err },
		Text: func(l string) { lines = append(lines, l) },
	}
	if _, err := split.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := split.Close(); err != nil || js == nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	outs, err := ReadText(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil || len(outs) != 1 {
		t.Fatalf("%d outputs, %v, from\n%s", len(outs), err, raw)
	}
	if u := outs[0].Unread; len(u) > 0 {
		t.Errorf("not understood: %+v", u)
	}
	if d := outs[0].Doubts; len(d) > 0 {
		t.Errorf("doubts: %q", d)
	}
	return outs[0], js
}

func TestTextSaysWhatJSONSays(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	for name, args := range map[string]string{
		"two directions":  "--name=a --ioengine=null --size=40m --rw=randrw --bs=4k",
		"syncs":           "--name=a --ioengine=psync --filename=f --size=2m --rw=write --bs=16k --fsync=4",
		"queue":           "--name=a --ioengine=libaio --filename=f --size=16m --rw=randread --bs=28k --iodepth=16 --numjobs=3 --group_reporting",
		"jobs apart":      "--name=a --ioengine=null --size=20m --rw=randrw --bs=8k --numjobs=2 --name=b --stonewall --ioengine=null --size=8m --rw=trimwrite",
		"percentiles":     "--name=a --ioengine=libaio --filename=f --size=4m --rw=randrw --bs=8k --slat_percentiles=1 --lat_percentiles=1",
		"no clat":         "--name=a --ioengine=null --size=20m --rw=randrw --disable_clat=1",
		"reduced clock":   "--name=a --ioengine=null --size=20m --rw=randrw --gtod_reduce=1",
		"unified":         "--name=a --ioengine=null --size=20m --rw=randrw --unified_rw_reporting=1",
		"decimal":         "--name=a --ioengine=null --size=20m --rw=randrw --kb_base=1000",
		"bits":            "--name=a --ioengine=null --size=20m --rw=randrw --unit_base=1",
		"samples":         "--name=a --ioengine=null --size=1g --rw=randread --time_based --runtime=1 --bwavgtime=100 --iopsavgtime=100 --rate_iops=5000",
		"ranges":          "--name=a --ioengine=null --size=20m --rw=randrw --bsrange=4k-64k",
		"errors let pass": "--name=a --ioengine=null --size=2m --rw=randrw --continue_on_error=all",
		"latency target":  "--name=a --ioengine=libaio --filename=f --size=4m --rw=randread --bs=8k --iodepth=8 --latency_target=10ms --latency_window=50ms --latency_percentile=99",
		"steady state":    "--name=a --ioengine=null --size=20m --rw=randread --rate_iops=2000 --time_based --runtime=4 --ss=iops:10% --ss_dur=2",
		"described":       "--name=a --ioengine=null --size=2m --rw=read --description=hi:there",
	} {
		t.Run(name, func(t *testing.T) {
			if name == "percentiles" {
				slatPercentiles(t)
			}
			text, js := both(t, strings.Fields(args)...)
			if text.Version != js.Version || len(text.Jobs) != len(js.Jobs) {
				t.Fatalf("text: %s, %d rows; json: %s, %d rows", text.Version, len(text.Jobs), js.Version, len(js.Jobs))
			}
			for i := range text.Jobs {
				sameJob(t, &text.Jobs[i], &js.Jobs[i])
			}
			sameDisks(t, text.Disks, js.Disks)
		})
	}
}

func sameJob(t *testing.T, a, b *fio.Job) {
	t.Helper()
	if a.Name != b.Name || a.Group != b.Group || a.Error != b.Error || a.Runtime != b.Runtime {
		t.Errorf("text %s %d %d %v, json %s %d %d %v", a.Name, a.Group, a.Error, a.Runtime, b.Name, b.Group, b.Error, b.Runtime)
	}
	sameDirection(t, "read", a.Read, b.Read)
	sameDirection(t, "write", a.Write, b.Write)
	sameDirection(t, "trim", a.Trim, b.Trim)
	if (a.Mixed == nil) != (b.Mixed == nil) {
		t.Errorf("mixed: text %v, json %v", a.Mixed, b.Mixed)
	} else if a.Mixed != nil {
		sameDirection(t, "mixed", *a.Mixed, *b.Mixed)
	}
	sameLatency(t, "sync", a.Sync.Lat, b.Sync.Lat)
	near(t, "user", a.CPU.User, b.CPU.User, 1e-4)
	near(t, "system", a.CPU.System, b.CPU.System, 1e-4)
	if a.CPU.ContextSwitches != b.CPU.ContextSwitches || a.CPU.MajorFaults != b.CPU.MajorFaults || a.CPU.MinorFaults != b.CPU.MinorFaults {
		t.Errorf("cpu: text %+v, json %+v", a.CPU, b.CPU)
	}
	for i, s := range b.Depths {
		if a.Depths[i].Label != s.Label {
			t.Errorf("depth %q, want %q", a.Depths[i].Label, s.Label)
		}
		near(t, "depth", a.Depths[i].Value, s.Value, 1e-3)
	}
	if len(a.Buckets) != len(b.Buckets) {
		t.Errorf("buckets: text %v, json %v", a.Buckets, b.Buckets)
	} else {
		for i := range a.Buckets {
			if a.Buckets[i].Upto != b.Buckets[i].Upto {
				t.Errorf("bucket %v, want %v", a.Buckets[i].Upto, b.Buckets[i].Upto)
			}
			near(t, "bucket", a.Buckets[i].Value, b.Buckets[i].Value, 1e-4)
		}
	}
	if a.Target == nil || b.Target == nil || *a.Target != *b.Target {
		t.Errorf("target: text %+v, json %+v", a.Target, b.Target)
	}
}

func near(t *testing.T, what string, a, b, within float64) {
	t.Helper()
	if math.Abs(a-b) > within {
		t.Errorf("%s: text %v, json %v", what, a, b)
	}
}

func sameDirection(t *testing.T, name string, a, b fio.Direction) {
	t.Helper()
	if a.N != b.N || a.Runtime != b.Runtime || a.Short != b.Short || a.Dropped != b.Dropped {
		t.Errorf("%s: text %d in %v, json %d in %v", name, a.N, a.Runtime, b.N, b.Runtime)
	}
	near(t, name+" iops", float64(a.IOPS), float64(b.IOPS), 1e-6*float64(b.IOPS)+1e-3)
	near(t, name+" bytes", float64(a.Bytes), float64(b.Bytes), 0.006*float64(b.Bytes)) // exact where bs is one
	if bs := a.Printed["io"]; bs != "" && b.N > 0 && a.Bytes != b.Bytes && uint64(b.Bytes)%b.N == 0 && uint64(b.Bytes)/b.N%4096 == 0 {
		t.Errorf("%s bytes: text %d, json %d", name, a.Bytes, b.Bytes)
	}
	near(t, name+" bw", float64(a.BW), float64(b.BW), 0.006*float64(b.BW)+1)
	near(t, name+" bw mean", a.BWSamples.Mean, b.BWSamples.Mean, 0.006*b.BWSamples.Mean)
	near(t, name+" iops mean", a.IOPSSamples.Mean, b.IOPSSamples.Mean, 0.005+1e-6)
	if a.BWSamples.N != b.BWSamples.N || a.IOPSSamples.N != b.IOPSSamples.N || a.IOPSSamples.Max != b.IOPSSamples.Max {
		t.Errorf("%s samples: text %+v %+v, json %+v %+v", name, a.BWSamples, a.IOPSSamples, b.BWSamples, b.IOPSSamples)
	}
	sameLatency(t, name+" slat", a.Slat, b.Slat)
	sameLatency(t, name+" clat", a.Clat, b.Clat)
	sameLatency(t, name+" lat", a.Lat, b.Lat)
}

// sameLatency allows for the unit that text was printed in: nanoseconds to milliseconds, with two
// decimals of the mean.
func sameLatency(t *testing.T, name string, a, b fio.Latency) {
	t.Helper()
	unit := time.Nanosecond
	if a.Min%time.Millisecond == 0 && a.Max%time.Millisecond == 0 {
		unit = time.Millisecond
	} else if a.Min%time.Microsecond == 0 && a.Max%time.Microsecond == 0 {
		unit = time.Microsecond
	}
	slack := max(unit, b.Max/1000) // 1191k nsec, cut off and not rounded
	if (a.Min-b.Min).Abs() > slack || (a.Max-b.Max).Abs() > slack || math.Abs(a.Mean-b.Mean) > 0.006*float64(unit) || math.Abs(a.StdDev-b.StdDev) > 0.006*float64(unit) {
		t.Errorf("%s: text %v %v %v %v, json %v %v %v %v", name, a.Min, a.Max, a.Mean, a.StdDev, b.Min, b.Max, b.Mean, b.StdDev)
	}
	if a.N != b.N && !strings.HasPrefix(name, "sync") {
		t.Errorf("%s: text N %d, json N %d", name, a.N, b.N)
	}
	same := slices.EqualFunc(a.Percentiles, b.Percentiles, func(x, y fio.Percentile) bool {
		return x.P == y.P && (x.Value-y.Value).Abs() < time.Millisecond && math.Abs(float64(x.Value-y.Value)) <= float64(y.Value)/100+1000
	})
	if !same {
		t.Errorf("%s percentiles: text %v, json %v", name, a.Percentiles, b.Percentiles)
	}
}

func sameDisks(t *testing.T, a, b []fio.Disk) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("disks: text %d, json %d", len(a), len(b))
	}
	for i := range a {
		x, y := a[i], b[i]
		near(t, "util", x.Util, y.Util, 1e-4)
		x.Util, y.Util = 0, 0
		if x != y {
			t.Errorf("disk: text %+v, json %+v", x, y)
		}
	}
}

// TestTextInOtherClothes reads one output through everything that a paste may do to it.
func TestTextInOtherClothes(t *testing.T) {
	plain, err := os.ReadFile(filepath.Join("../../../testdata/seeds", "MS-28k-r-r-15.log"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := ReadText(bytes.NewReader(plain))
	if err != nil || len(want) != 1 {
		t.Fatal(len(want), err)
	}
	each := func(f func(string) string) string {
		lines := strings.Split(string(plain), "\n")
		for i := range lines {
			lines[i] = f(lines[i])
		}
		return strings.Join(lines, "\n")
	}
	progress := "Jobs: 8 (f=8): [r(8)][31.1%][r=626MiB/s][r=40.0k IOPS][eta 02m:04s]"
	for name, in := range map[string]string{
		"CRLF":           each(func(s string) string { return s + "\r" }),
		"no indentation": each(strings.TrimSpace),
		"colour":         each(func(s string) string { return "\x1b[1;32m" + s + "\x1b[0m" }),
		"bold":           strings.ReplaceAll(string(plain), "read: IOPS=137k", "**read: IOPS=137k**"),
		"quoted":         each(func(s string) string { return "> " + s }),
		"HTML":           strings.ReplaceAll(string(plain), ">", "&gt;"),
		"no-break space": strings.ReplaceAll(string(plain), "    ", " \u00a0  "),
		"stamped":        each(func(s string) string { return "2023-07-31T10:06:55.123Z " + s }),
		"progress":       strings.Replace(string(plain), "28k_r_r: (groupid", progress+"\r"+progress+"\n"+progress+"\r28k_r_r: (groupid", 1),
		"progress joint": strings.Replace(string(plain), "28k_r_r: (groupid", progress+"28k_r_r: (groupid", 1),
		"fence":          "# Title\n\nprose: IOPS are good, see below:\n\n```\n" + string(plain) + "```\nThe end: 5 of 6.\n",
		"BOM":            "\ufeff" + string(plain),
		"double spaced":  strings.ReplaceAll(string(plain), "\n", "\n\n"),
		"tags":           "<pre>" + string(plain) + "</pre>",
		"no new line":    strings.TrimRight(string(plain), "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadText(strings.NewReader(in))
			if err != nil || len(got) != 1 {
				t.Fatalf("%d outputs, %v", len(got), err)
			}
			if n := got[0].Progress; (n > 0) != strings.HasPrefix(name, "progress") {
				t.Errorf("%d progress lines", n)
			}
			got[0].Title, got[0].Progress = "", 0
			if a, b := asJSON(t, got[0]), asJSON(t, want[0]); a != b {
				t.Errorf("got  %s\nwant %s", a, b)
			}
		})
	}
}

// TestTextOfOlderFio reads forms that the installed fio does not print any more, by hand from the
// sources of 2.0 to 3.3x.
func TestTextOfOlderFio(t *testing.T) {
	const in = `job1: (g=0): rw=randrw, bs=4K-4K/8K-8K/4K-4K, ioengine=libaio, iodepth=16
fio-2.1.3
Starting 1 process
Jobs: 1 (f=1): [m] [12.5% done] [0K/12345K/0K /s] [0 /3086 /0 iops] [eta 00m:07s]job1: (groupid=0, jobs=1): err= 5 (file:io_u.c:1747, func=io_u error, error=Input/output error): pid=3290: Wed Mar  6 19:00:05 2013
  read : io=40960KB, bw=4096.0KB/s, iops=1024 , runt= 10000msec
    slat (usec): min=5 , max=1300 , avg=22.51, stdev= 4.78
    clat (msec): min=1 , max=1502 , avg= 9.25, stdev=-nan
     lat (msec): min=1 , max=1502 , avg= 9.27, stdev= 3.00
    clat percentiles (msec):
     |  1.00th=[    2], 50.00th=[    9], 99.99th=[ 1500]
    bw (KB  /s): min= 3000, max= 5000, per=100.00%, avg=4096.50, stdev=302.79
  write: io=81920KB, bw=8192.0KB/s, iops=1024 , runt= 10000msec
    clat (usec): min=10 , max=15.2K, avg=100.25, stdev=10.00
  trim  : io=4096KB, bw=409.6KB/s, iops=102 , runt= 10000msec
    lat (msec) : 2=10.00%, 10=80.00%, >=2000=10.00%
  cpu          : usr=1.50%, sys=3.25%, ctx=18446744073709551615, majf=0, minf=23
  IO depths    : 1=0.1%, 2=0.1%, 4=0.1%, 8=0.1%, 16=99.6%, 32=0.0%, >=64=0.0%
     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%
     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.1%, 32=0.0%, 64=0.0%, >=64=0.0%
     issued    : total=r=10240/w=10240/d=1024, short=r=1/w=2/d=0
     errors    : total=7, first_error=5/<Input/output error>
     latency   : target=50000, window=5000000, percentile=99.90%, depth=16
     surprise  : new=1

Run status group 0 (all jobs):
   READ: io=40960KB, aggrb=4096KB/s, minb=4096KB/s, maxb=4096KB/s, mint=10000msec, maxt=10000msec

Disk stats (read/write):
  sda: ios=10240/10300, merge=1/2, ticks=9/8, in_queue=17, util=99.30%
`
	outs, err := ReadText(strings.NewReader(in))
	if err != nil || len(outs) != 1 {
		t.Fatal(len(outs), err)
	}
	o := outs[0]
	j := o.Jobs[0]
	if len(o.Unread) != 1 || o.Unread[0] != (fio.Unread{Line: 23, Text: "surprise  : new=1"}) ||
		!slices.Equal(o.Doubts, []string{"lines with figures that are nan, which count as not measured: 1"}) {
		t.Errorf("not understood %+v, doubts %q", o.Unread, o.Doubts)
	}
	if j.Error != 5 || len(o.Messages) != 1 || j.Options["bs"] != "4k,8k,4k" || j.TotalErrors != 7 || j.FirstError != 5 {
		t.Errorf("error %d, messages %q, options %v, %d errors", j.Error, o.Messages, j.Options, j.TotalErrors)
	}
	r := j.Read
	if r.N != 10240 || r.Bytes != 40960<<10 || r.IOPS != 1024 || r.BW != 4096<<10 || r.Short != 1 || r.Clat.Max != 1502*time.Millisecond || r.Clat.Mean != 9.25e6 || r.Clat.StdDev != 0 {
		t.Errorf("read %+v", r)
	}
	if s := r.BWSamples; s.Min != 3000<<10 || s.Mean != 4096.5*1024 || s.Share != 1 {
		t.Errorf("samples %+v", s)
	}
	if w := j.Write; w.Bytes != 81920<<10 || w.Clat.Max != 15200*time.Microsecond || w.Printed["clat.max"] != "15.2K" || w.Short != 2 {
		t.Errorf("write %+v", w)
	}
	if d := j.Trim; d.N != 1024 || d.IOPS != 102.4 || d.Bytes != 4096<<10 {
		t.Errorf("trim %+v", d)
	}
	if j.Target.Target != 50*time.Millisecond || j.Target.Percentile != 99.9 || j.CPU.ContextSwitches != math.MaxUint64 || len(j.Buckets) != 3 {
		t.Errorf("target %+v, cpu %+v, buckets %v", j.Target, j.CPU, j.Buckets)
	}
}

// TestKilobytesOfAThousand: fio 2 prints KB for either; only the block size tells.
func TestKilobytesOfAThousand(t *testing.T) {
	const in = `a: (g=0): rw=read, bs=4K-4K/4K-4K/4K-4K, ioengine=sync, iodepth=1
a: (groupid=0, jobs=1): err= 0: pid=1: Wed Mar  6 19:00:05 2013
  read : io=40960KB, bw=4096.0KB/s, iops=1000, runt= 10000msec
     issued    : total=r=10000/w=0/d=0, short=r=0/w=0/d=0

Run status group 0 (all jobs):
   READ: io=40960KB, aggrb=4096KB/s, minb=4096KB/s, maxb=4096KB/s, mint=10000msec, maxt=10000msec
`
	outs, err := ReadText(strings.NewReader(in))
	if err != nil || len(outs) != 1 {
		t.Fatal(len(outs), err)
	}
	o := outs[0]
	if r := o.Jobs[0].Read; r.Bytes != 40960000 || r.BW != 4096000 {
		t.Errorf("read %+v", r)
	}
	if g := o.Groups[0].Directions["READ"]; g.Bytes != 40960000 || g.BW != 4096000 {
		t.Errorf("group %+v", g)
	}
	if len(o.Doubts) != 1 || !strings.Contains(o.Doubts[0], "kb_base=1000") {
		t.Errorf("doubts %q", o.Doubts)
	}
}

func TestContradictionsAreSaid(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"iops and issued": {"read: IOPS=5000, BW=3906KiB/s (4000kB/s)(38.1MiB/10000msec)", "10000 issued in 10s are 1,000 IOPS, but 5000 is printed"},
		"bw and io":       {"read: IOPS=1000, BW=9999KiB/s (4000kB/s)(39.1MiB/10000msec)", "9999KiB/s for 10s is not 39.1MiB"},
		"bs and io":       {"read: IOPS=1000, BW=7812KiB/s (8000kB/s)(76.3MiB/10000msec)", "10000 I/Os × 4 KiB are 39.1 MiB, but 76.3MiB is printed"},
	} {
		t.Run(name, func(t *testing.T) {
			outs, err := ReadText(strings.NewReader("a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=1\na: (groupid=0, jobs=1): err= 0: pid=1:\n  " +
				c.in + "\n  issued rwts: total=10000,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"))
			if err != nil || len(outs) != 1 || len(outs[0].Doubts) == 0 || !strings.Contains(strings.Join(outs[0].Doubts, "\n"), c.want) {
				t.Errorf("got %s, want %s", asJSON(t, outs), c.want)
			}
		})
	}
}

// TestSummariesAlone: people paste the lines that they think matter.
func TestSummariesAlone(t *testing.T) {
	outs, err := ReadText(strings.NewReader("gp2:\nread: IOPS=1000, BW=3.91MiB/s (4096kB/s)(39.1MiB/10000msec)\n\nio2:\nread: IOPS=2000, BW=7.81MiB/s (8192kB/s)(78.1MiB/10000msec)\nread: IOPS=3000, BW=11.7MiB/s (12.3MB/s)(117MiB/10000msec)\n"))
	if err != nil || len(outs) != 3 {
		t.Fatalf("%d outputs, %v", len(outs), err)
	}
	for i, want := range []string{"gp2", "io2", "io2"} {
		if j := outs[i].Jobs[0]; j.Name != want || j.Read.IOPS != units.IOPS(1000*(i+1)) || len(outs[i].Unread) > 0 {
			t.Errorf("got %q %v %v", j.Name, j.Read.IOPS, outs[i].Unread)
		}
	}
}

// TestPartsOfARowAreNotLost: without the row above them lines are kept or reported.
func TestPartsOfARowAreNotLost(t *testing.T) {
	outs, err := ReadText(strings.NewReader("```\n  cpu          : usr=4.73%, sys=12.60%, ctx=6627714, majf=0, minf=2124\n  issued rwts: total=10,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n```\n" +
		"```\n    clat (usec): min=16, max=49361, avg=1868.19, stdev=5831.46\n     |  1.00th=[  110],  5.00th=[  127]\n```\n"))
	if err != nil || len(outs) != 2 {
		t.Fatalf("%d outputs, %v", len(outs), err)
	}
	if j := outs[0].Jobs[0]; j.CPU.ContextSwitches != 6627714 || j.Read.N != 10 || len(outs[0].Unread) > 0 {
		t.Errorf("got %s", asJSON(t, outs[0]))
	}
	if u := outs[1].Unread; len(u) != 2 || u[0].Line != 6 || u[1].Line != 7 {
		t.Errorf("got %s", asJSON(t, outs[1]))
	}
}
