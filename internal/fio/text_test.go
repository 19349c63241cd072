package fio

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
)

// both runs fio once and returns what the two readers make of its two forms of output.
func both(t *testing.T, args ...string) (text, js *Output) {
	t.Helper()
	cmd := exec.Command("fio", append([]string{"--output-format=json,normal"}, args...)...)
	cmd.Dir = t.TempDir()
	raw, err := cmd.Output()
	if err != nil {
		t.Logf("fio %v: %v", args, err)
	}
	var lines []string
	split := &Splitter{
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
	for name, args := range map[string]string{
		"two directions":  "--name=a --ioengine=null --size=40m --rw=randrw --bs=4k",
		"syncs":           "--name=a --ioengine=psync --filename=f --size=2m --rw=write --bs=16k --fsync=4",
		"queue":           "--name=a --ioengine=libaio --filename=f --size=16m --rw=randread --bs=28k --iodepth=16 --numjobs=3 --group_reporting",
		"jobs apart":      "--name=a --ioengine=null --size=20m --rw=randrw --bs=8k --numjobs=2 --name=b --stonewall --ioengine=null --size=8m --rw=randtrimwrite",
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
		"steady state":    "--name=a --ioengine=null --size=20m --rw=randread --rate_iops=2000 --time_based --runtime=2 --ss=iops:10% --ss_dur=1",
		"described":       "--name=a --ioengine=null --size=2m --rw=read --description=hi:there",
	} {
		t.Run(name, func(t *testing.T) {
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

func sameJob(t *testing.T, a, b *Job) {
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

func sameDirection(t *testing.T, name string, a, b Direction) {
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
	near(t, name+" iops mean", a.IOPSSamples.Mean, b.IOPSSamples.Mean, 0.005)
	if a.BWSamples.N != b.BWSamples.N || a.IOPSSamples.N != b.IOPSSamples.N || a.IOPSSamples.Max != b.IOPSSamples.Max {
		t.Errorf("%s samples: text %+v %+v, json %+v %+v", name, a.BWSamples, a.IOPSSamples, b.BWSamples, b.IOPSSamples)
	}
	sameLatency(t, name+" slat", a.Slat, b.Slat)
	sameLatency(t, name+" clat", a.Clat, b.Clat)
	sameLatency(t, name+" lat", a.Lat, b.Lat)
}

// sameLatency allows for the unit that text was printed in: nanoseconds to milliseconds, with two decimals of the mean.
func sameLatency(t *testing.T, name string, a, b Latency) {
	t.Helper()
	unit := time.Nanosecond
	if a.Min%time.Millisecond == 0 && a.Max%time.Millisecond == 0 {
		unit = time.Millisecond
	} else if a.Min%time.Microsecond == 0 && a.Max%time.Microsecond == 0 {
		unit = time.Microsecond
	}
	slack := max(unit, b.Max/10000) // six characters: 39040k
	if (a.Min-b.Min).Abs() > slack || (a.Max-b.Max).Abs() > slack || math.Abs(a.Mean-b.Mean) > 0.006*float64(unit) || math.Abs(a.StdDev-b.StdDev) > 0.006*float64(unit) {
		t.Errorf("%s: text %v %v %v %v, json %v %v %v %v", name, a.Min, a.Max, a.Mean, a.StdDev, b.Min, b.Max, b.Mean, b.StdDev)
	}
	if a.N != b.N && !strings.HasPrefix(name, "sync") {
		t.Errorf("%s: text N %d, json N %d", name, a.N, b.N)
	}
	same := slices.EqualFunc(a.Percentiles, b.Percentiles, func(x, y Percentile) bool {
		return x.P == y.P && (x.Value-y.Value).Abs() < time.Millisecond && math.Abs(float64(x.Value-y.Value)) <= float64(y.Value)/100+1000
	})
	if !same {
		t.Errorf("%s percentiles: text %v, json %v", name, a.Percentiles, b.Percentiles)
	}
}

func sameDisks(t *testing.T, a, b []Disk) {
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
	plain, err := os.ReadFile(filepath.Join("testdata", "seeds", "MS-28k-r-r-15.log"))
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
		"no new line":    strings.TrimRight(string(plain), "\n"),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadText(strings.NewReader(in))
			if err != nil || len(got) != 1 {
				t.Fatalf("%d outputs, %v", len(got), err)
			}
			got[0].Title = ""
			if a, b := asJSON(t, got[0]), asJSON(t, want[0]); a != b {
				t.Errorf("got  %s\nwant %s", a, b)
			}
		})
	}
}
