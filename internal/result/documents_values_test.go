package result

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
)

// Documents one by one: each becomes the second since the one before; one that comes sooner than 200 ms
// joins it, unless one of the two is of the ramp; one in which nothing was counted is none.
func TestSecondsOfDocuments(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	type doc struct {
		at, run int // ms
		n       uint64
	}
	job := func(d doc, options fio.Options) fio.Job {
		return fio.Job{
			Name: "j", Options: options, Runtime: time.Duration(d.run) * time.Millisecond,
			Read: fio.Direction{N: d.n, Bytes: units.Bytes(10 * d.n)},
		}
	}
	ramp := fio.Options{"ramp_time": "2"}
	for name, c := range map[string]struct {
		options fio.Options
		docs    []doc
		want    string // at, length, ramp, I/Os
		kept    string // which of the documents gave a second
	}{
		"each second":              {nil, []doc{{1000, 1000, 5}, {2000, 2000, 12}, {3000, 3000, 20}}, "1000+1000:5 2000+1000:7 3000+1000:8", "yyy"},
		"nothing yet":              {nil, []doc{{500, 0, 0}, {1500, 1000, 5}}, "1500+1000:5", "ny"},
		"printed twice":            {nil, []doc{{1000, 1000, 5}, {1001, 1000, 5}}, "1000+1000:5", "yn"},
		"199 ms later":             {nil, []doc{{1000, 1000, 5}, {1199, 1199, 7}}, "1199+1199:7", "yy"},
		"200 ms later":             {nil, []doc{{1000, 1000, 5}, {1200, 1200, 7}}, "1000+1000:5 1200+200:2", "yy"},
		"the first is short":       {nil, []doc{{100, 100, 5}, {1100, 1100, 9}}, "100+100:5 1100+1000:4", "yy"},
		"the runtime did not grow": {nil, []doc{{1000, 1000, 5}, {1050, 1000, 7}}, "1050+1000:7", "yy"},
		"the end of a ramp":        {ramp, []doc{{1000, 1000, 50}, {2000, 2000, 90}, {3000, 1000, 40}}, "1000+1000r:50 2000+1000r:40 3000+1000:40", "yyy"},
		"soon after a ramp":        {ramp, []doc{{1000, 1000, 50}, {2000, 100, 4}, {3000, 1100, 40}}, "1000+1000r:50 2000+100:4 3000+1000:36", "yyy"},
		"two soon after a ramp":    {ramp, []doc{{1000, 1000, 50}, {2000, 100, 4}, {2050, 150, 6}}, "1000+1000r:50 2050+150:6", "yyy"},
	} {
		b := &Builder{Start: start}
		kept := ""
		for _, d := range c.docs {
			mark := "n"
			if s, ok := b.Add(&fio.Output{Time: start.Add(time.Duration(d.at) * time.Millisecond), Jobs: []fio.Job{job(d, c.options)}}); ok {
				if mark = "y"; s.At != time.Duration(d.at)*time.Millisecond {
					t.Errorf("%s: a second that ends at %s, of a document of %d ms", name, s.At, d.at)
				}
			}
			kept += mark
		}
		var got []string
		for _, s := range b.seconds {
			mark := ""
			if s.Ramp {
				mark = "r"
			}
			got = append(got, fmt.Sprintf("%d+%d%s:%d", s.At.Milliseconds(), s.Len.Milliseconds(), mark, s.Read.N))
			if uint64(s.Read.Bytes) != 10*s.Read.N {
				t.Errorf("%s: %d bytes of %d I/Os", name, s.Read.Bytes, s.Read.N)
			}
		}
		if strings.Join(got, " ") != c.want || kept != c.kept {
			t.Errorf("%s: %q, %s; want %q, %s", name, strings.Join(got, " "), kept, c.want, c.kept)
		}
	}
	// Two rows of a group end their ramps one after the other: what the first document counted of the
	// second row's ramp is taken back from its second. Both rows together are a second of the longer.
	b := &Builder{Start: start}
	two := func(at int, first, second fio.Job) {
		b.Add(&fio.Output{Time: start.Add(time.Duration(at) * time.Millisecond), Jobs: []fio.Job{first, second}})
	}
	two(1000, job(doc{run: 1000, n: 100}, nil), job(doc{run: 900, n: 30}, nil))
	two(2000, job(doc{run: 2000, n: 60}, nil), job(doc{run: 1900, n: 50}, nil))
	if s := b.seconds; len(s) != 2 || s[0].Read.N != 130-40 || s[0].Len != time.Second || s[1].Read.N != 20 || s[1].Len != time.Second {
		t.Errorf("%+v", s)
	}
	// Streams hold what each row did outside of its ramp, by the clock.
	if got := b.rows[1].streams[0]; len(got.n) != 2 || got.n[0] != 30 || got.n[1] != 20 || got.lens[1] != 1 || got.bytes[1] != 200 {
		t.Errorf("%+v", got)
	}
	if got := b.rows[1].streams[1]; len(got.n) != 0 {
		t.Errorf("writes: %+v", got)
	}
}

// The sampler's figures over the measured window and for each second, counted from its own start: fio
// began 10 s after it. A device was busy for a tenth of the first second of fio, two tenths of the next,
// and so on.
func TestWatchedWindows(t *testing.T) {
	began := time.Unix(1_700_000_000, 0)
	series := &telemetry.Series{Start: began, Devices: []string{"sda", "sdb"}}
	busy := time.Duration(0)
	for at := range 31 {
		if at > 10 {
			busy += time.Duration(at-10) * 100 * time.Millisecond
		}
		series.Samples = append(series.Samples, telemetry.Sample{
			At: time.Duration(at) * time.Second, Devices: []telemetry.Device{{Busy: busy, Queue: 2 * busy}, {Busy: 0}},
			Dirty: units.Bytes(1000 + at), Writeback: units.Bytes(2000 + at),
		})
	}
	r := &Result{}
	for at := 1; at <= 5; at++ {
		r.Seconds = append(r.Seconds, Second{At: time.Duration(at) * time.Second, Len: time.Second, Ramp: at <= 2})
	}
	r.watch(series, began.Add(10*time.Second))
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	// Measured are the seconds 3, 4 and 5: 0.3, 0.4 and 0.5 of the time.
	near("busy", r.Devices[0].Util, 0.4)
	near("queue", r.Devices[0].Queue, 0.8)
	near("the other", r.Devices[1].Util, 0)
	if r.Host == nil || r.Host.DirtyMax != 1015 || r.Host.WritebackMax != 2015 {
		t.Errorf("%+v", r.Host)
	}
	for i, s := range r.Seconds {
		if len(s.Util) != 2 || len(s.Queue) != 2 {
			t.Fatalf("second %d: %+v", i+1, s)
		}
		near(fmt.Sprintf("second %d", i+1), s.Util[0], float64(i+1)/10)
		near(fmt.Sprintf("queue of second %d", i+1), s.Queue[0], float64(i+1)/5)
		if s.Dirty != units.Bytes(1011+i) || s.Writeback != units.Bytes(2011+i) {
			t.Errorf("second %d: %d dirty, %d under way", i+1, s.Dirty, s.Writeback)
		}
	}
	// The host's most is that of the measured part, which ends 25 s after the sampler began.
	late := &Result{Seconds: []Second{{At: 5 * time.Second, Len: time.Second}}}
	if late.watch(series, began.Add(20*time.Second)); late.Host == nil || late.Host.DirtyMax != 1025 {
		t.Errorf("%+v", late.Host)
	}
}

// Latencies that cannot be are left out of their own direction, with the buckets that count all; rows
// and directions beside it stay.
func TestImplausibleFiguresOfEachDirection(t *testing.T) {
	long := fio.Latency{N: 1, Max: time.Hour}
	fine := fio.Latency{N: 1, Max: time.Second, Percentiles: []fio.Percentile{{P: 50, Value: 1}, {P: 99, Value: 2}}}
	falls := fio.Latency{N: 1, Max: time.Second, Percentiles: []fio.Percentile{{P: 50, Value: 2}, {P: 99, Value: 1}}}
	for d, name := range []string{"reads", "writes", "trims"} {
		for l, kind := range []string{"lat", "clat", "slat"} {
			for what, bad := range map[string]fio.Latency{"long": long, "falls": falls} {
				jobs := []fio.Job{{Name: "j", Runtime: time.Minute, Buckets: []fio.Bucket{{Upto: 1, Value: 1}}}}
				for _, of := range jobs[0].Directions() {
					of.Lat, of.Clat, of.Slat = fine, fine, fine
				}
				of := func(k int) *fio.Latency {
					x := jobs[0].Directions()[d]
					return []*fio.Latency{&x.Lat, &x.Clat, &x.Slat}[k]
				}
				*of(l) = bad
				r := &Result{Jobs: jobs}
				r.implausible()
				doubts := r.Doubts
				want := fmt.Sprintf("j: a %s of 1 h in a run of 60 s is impossible (%s): latencies are left out", kind, name)
				if what == "falls" {
					want = fmt.Sprintf("j: the percentiles of %s do not rise: they are left out", name)
				}
				if len(doubts) != 1 || doubts[0] != want {
					t.Errorf("%s of %s %s: %q, want %q", kind, name, what, doubts, want)
				}
				for k := range 3 {
					left, percentiles := of(k).Measured(), len(of(k).Percentiles) > 0
					if wantLeft := what == "falls"; left != wantLeft || percentiles != (wantLeft && k != l) {
						t.Errorf("%s of %s %s: %d is %+v", kind, name, what, k, of(k))
					}
				}
				for other, x := range jobs[0].Directions() {
					if other != d && (!x.Lat.Measured() || len(x.Clat.Percentiles) != 2) {
						t.Errorf("%s of %s %s: of direction %d is left %+v", kind, name, what, other, x)
					}
				}
				if (jobs[0].Buckets == nil) != (what == "long") {
					t.Errorf("%s of %s %s: buckets %+v", kind, name, what, jobs[0].Buckets)
				}
			}
		}
	}
	// The run is the longest of what is known of it: the row's, the direction's and fio's own.
	for name, j := range map[string]fio.Job{
		"the row's":       {Runtime: 28 * time.Minute},
		"a window":        {Runtime: time.Second, Window: 28 * time.Minute},
		"the direction's": {Runtime: time.Second, Read: fio.Direction{Runtime: 28 * time.Minute}},
		"fio's own":       {Runtime: time.Second, Elapsed: 28 * time.Minute},
	} {
		j.Read.Lat = fio.Latency{N: 1, Max: time.Hour} // 2 × 28 + 5 are 61 min
		if got := outlasts(&j, &j.Read); got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
	huge := fio.Job{Runtime: time.Minute, Write: fio.Direction{Clat: fio.Latency{N: 1, Mean: 1e300}}}
	if got := outlasts(&huge, &huge.Write); !strings.HasPrefix(got, "a clat of ") {
		t.Errorf("more than a time holds: %q", got)
	}
}

// Rows whose completion took longer than the whole are named, reads, writes and trims alike.
func TestMistimedRows(t *testing.T) {
	of := func(clat, lat float64) fio.Direction {
		return fio.Direction{Clat: fio.Latency{N: 1, Mean: clat}, Lat: fio.Latency{N: 1, Mean: lat}}
	}
	r := &Result{Jobs: []fio.Job{{Name: "a", Read: of(9e6, 1e6), Write: of(1e6, 2e6)}, {Name: "b", Read: of(1e6, 2e6), Write: of(8e6, 2e6)}, {Name: "c", Trim: of(9e6, 1e6)}}}
	r.mistimed()
	got := r.Doubts
	if len(got) != 3 || !strings.HasPrefix(got[0], "a: the mean clat of 9 ms is above the mean lat of 1 ms,") ||
		!strings.HasPrefix(got[1], "b: the mean clat of 8 ms is above the mean lat of 2 ms,") || !strings.HasPrefix(got[2], "c: ") {
		t.Errorf("%q", got)
	}
}

// Not everything ran throughout where a direction of any row ran for less than 95 % of the window; one
// that did not run is none.
func TestPartsOfTheWindow(t *testing.T) {
	const s = time.Second
	job := func(read, write, trim time.Duration) fio.Job {
		return fio.Job{Runtime: max(read, write, trim), Read: fio.Direction{Runtime: read}, Write: fio.Direction{Runtime: write}, Trim: fio.Direction{Runtime: trim}}
	}
	for name, c := range map[string]struct {
		jobs  []fio.Job
		total time.Duration
		want  bool
	}{
		"one":                    {[]fio.Job{job(100*s, 0, 0)}, 100 * s, false},
		"both":                   {[]fio.Job{job(100*s, 95*s, 0)}, 100 * s, false},
		"writes ended early":     {[]fio.Job{job(100*s, 95*s-1, 0)}, 100 * s, true},
		"reads ended early":      {[]fio.Job{job(94*s, 100*s, 0)}, 100 * s, true},
		"trims ended early":      {[]fio.Job{job(100*s, 0, 1)}, 100 * s, true},
		"the second row":         {[]fio.Job{job(100*s, 0, 0), job(94*s, 0, 0)}, 100 * s, true},
		"nothing ran":            {[]fio.Job{job(0, 0, 0)}, 0, false},
		"one of a longer window": {[]fio.Job{job(90*s, 0, 0)}, 100 * s, true},
	} {
		r := &Result{Jobs: c.jobs, Total: fio.Job{Runtime: c.total}}
		if got := (&Builder{}).apart(r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := runtimes(fio.Job{Read: fio.Direction{Runtime: 1}, Write: fio.Direction{Runtime: 2 * s}, Trim: fio.Direction{Runtime: 3 * s}}); got != "reads 1 ns, writes 2 s, trims 3 s" {
		t.Errorf("%q", got)
	}
	if got := runtimes(fio.Job{Write: fio.Direction{Runtime: 2 * s}}); got != "writes 2 s" {
		t.Errorf("%q", got)
	}
	// A direction that ran for a part of it is said, where there are rows at all.
	for rows, want := range map[int]int{0: 0, 1: 1} {
		r := &Result{}
		o := &fio.Output{Jobs: []fio.Job{job(100*s, 50*s, 0)}[:rows]}
		if FromOutput(r, o); len(r.Doubts) != want || want > 0 && !strings.HasPrefix(r.Doubts[0], "not all of it ran at the same time (reads 100 s, writes 50 s): sums are over 100 s,") {
			t.Errorf("%d rows: %q", rows, r.Doubts)
		}
	}
	for phase, want := range map[int]bool{0: false, 1: true, 2: true} {
		r := &Result{}
		if FromOutput(r, &fio.Output{Phase: phase}); r.DisksShared != want {
			t.Errorf("phase %d: disks are shared %v", phase, r.DisksShared)
		}
	}
}

// Without a series there is none; the depth of the device is that of the first one.
func TestDepthOfTheDevice(t *testing.T) {
	r := &Result{Devices: []telemetry.DeviceUse{{Queue: 3}, {Queue: 5}}}
	if d := r.depths(); d.Device != 3 || d.Asked != 0 || d.Little != 0 {
		t.Errorf("%+v", d)
	}
	if e := exactly(5, "why"); e.Center != 5 || e.Lo != 5 || e.Hi != 5 || e.N != 0 || e.None != "why" {
		t.Errorf("%+v", e)
	}
	// Syncs that weigh no more than a twentieth of the time of all that may be in flight do not explain a depth.
	for n, want := range map[uint64]bool{2399: false, 2401: true} { // × 10 ms / 60 s / 8 = 4.998 and 5.002 %
		r := &Result{Workloads: []fio.Workload{{Depth: 8, Jobs: 1}}, Measured: time.Minute}
		r.Total.Sync.Lat = fio.Latency{N: n, Mean: 1e7}
		if got := r.whyDepth(Depth{Asked: 8, Little: 1}) != ""; got != want {
			t.Errorf("%d syncs: %v", n, got)
		}
	}
	// Less than half of few in flight, without a reason, is said; four are not few, nor is half of it little.
	for name, c := range map[string]struct {
		asked  int
		little float64
		cpu    float64
		want   bool
	}{
		"less than half of one": {1, 0.49, 0, true}, "half of one": {1, 0.5, 0, false}, "less than half of three": {3, 1.4, 0, true}, "of four": {4, 1, 0, false},
		"with fio's own work half": {1, 0.46, 0.04, false}, "with its work less": {1, 0.4, 0.04, true},
	} {
		r := &Result{Workloads: []fio.Workload{{Depth: c.asked, Jobs: 1}}, Measured: time.Minute, Total: fio.Job{CPU: fio.CPU{User: c.cpu}}}
		if got := r.whyDepth(Depth{Asked: c.asked, Little: c.little}); (got == NotHalf) != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
