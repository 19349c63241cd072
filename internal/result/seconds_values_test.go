package result

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
)

func histOf(values ...time.Duration) *fio.Hist {
	h := &fio.Hist{}
	for _, v := range values {
		h.Add(v, 1)
	}
	return h
}

// Nothing was counted where each counter of each direction is nothing, and no time passed.
func TestEmptySeconds(t *testing.T) {
	for name, c := range map[string]struct {
		s    Second
		want bool
	}{
		"nothing":         {Second{}, true},
		"ramp and a time": {Second{Ramp: true, At: 5}, true},
		"a read":          {Second{Read: Interval{N: 1}}, false},
		"a byte written":  {Second{Write: Interval{Bytes: 1}}, false},
		"a trim's time":   {Second{Trim: Interval{Hist: histOf(5)}}, false},
		"empty bins":      {Second{Read: Interval{Hist: &fio.Hist{}}}, true},
		"a nanosecond":    {Second{Len: 1}, false},
		"a sync":          {Second{Sync: histOf(5)}, false},
	} {
		if got := c.s.empty(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	// What is joined adds up, what is taken back is at most what there is.
	a := Second{Len: 3, Read: Interval{5, 50, histOf(10, 20)}, Write: Interval{N: 7, Bytes: 70}, Sync: histOf(30, 40)}
	b := Second{Len: 2, Ramp: true, At: 9, Read: Interval{2, 20, histOf(20)}, Write: Interval{N: 9, Bytes: 90, Hist: histOf(1)}, Sync: histOf(40)}
	sum := a.then(b)
	if sum.Len != 5 || sum.At != 9 || !sum.Ramp || sum.Read.N != 7 || sum.Read.Bytes != 70 || sum.Read.Hist.Count() != 3 || sum.Write.N != 16 || sum.Write.Hist.Count() != 1 || sum.Sync.Count() != 3 {
		t.Errorf("%+v", sum)
	}
	if both := a.plus(b); both.Len != 3 || both.Read.N != 7 {
		t.Errorf("%+v", both)
	}
	if a.Read.Hist.Count() != 2 || a.Sync.Count() != 2 {
		t.Error("what is joined changes what it is joined of")
	}
	less := a.minus(b)
	if less.Read.N != 3 || less.Read.Bytes != 30 || less.Read.Hist.Count() != 1 || less.Write.N != 0 || less.Write.Bytes != 0 || less.Write.Hist != nil || less.Sync.Count() != 1 {
		t.Errorf("%+v", less)
	}
	if less = b.minus(a); less.Write.N != 2 || less.Write.Bytes != 20 || less.Write.Hist.Count() != 1 || less.Read.N != 0 || less.Sync.Count() != 0 {
		t.Errorf("%+v", less)
	}
	one, more := fio.Direction{N: 5, Bytes: 50, Clat: fio.Latency{Hist: histOf(1)}}, fio.Direction{N: 8, Bytes: 90, Clat: fio.Latency{Hist: histOf(1, 2, 3)}}
	if d := between(fio.Job{Read: one}, fio.Job{Read: more}).Read; d.N != 3 || d.Bytes != 40 || d.Hist.Count() != 2 {
		t.Errorf("%+v", d)
	}
	if d := between(fio.Job{Read: more}, fio.Job{Read: one}).Read; d.N != 0 || d.Bytes != 0 {
		t.Errorf("%+v", d)
	}
}

// Rates of a stream leave out its first and last interval with I/O, and those that are too short.
func TestRatesWithoutTheEnds(t *testing.T) {
	for name, c := range map[string]struct {
		lens, n []float64
		want    []float64
	}{
		"five":              {[]float64{1, 1, 2, 1, 1}, []float64{9, 10, 30, 12, 9}, []float64{10, 15, 12}},
		"none at the end":   {[]float64{1, 1, 2, 1, 1}, []float64{9, 10, 30, 12, 0}, []float64{10, 15}},
		"none at both ends": {[]float64{1, 1, 1, 1, 1}, []float64{9, 10, 11, 0, 0}, []float64{10}},
		"a stall between":   {[]float64{1, 1, 1, 1, 1}, []float64{9, 0, 11, 12, 13}, []float64{0, 11, 12}},
		"a short one":       {[]float64{1, shortest.Seconds(), shortest.Seconds() / 2, 1, 1}, []float64{9, shortest.Seconds(), 7, 12, 13}, []float64{1, 12}},
		"two":               {[]float64{1, 1}, []float64{9, 10}, nil},
		"nothing at all":    {[]float64{1, 1, 1}, []float64{0, 0, 0}, nil},
		"of no interval":    {nil, nil, nil},
		"I/O in the first":  {[]float64{1, 1, 1}, []float64{9, 0, 0}, nil},
	} {
		s := stream{lens: c.lens, n: c.n}
		if got := s.rates(c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	var s stream
	s.put(time.Second, Interval{})
	s.put(2*time.Second, Interval{N: 1, Bytes: 4})
	s.put(time.Second, Interval{})
	if !slices.Equal(s.lens, []float64{2, 1}) || !slices.Equal(s.n, []float64{1, 0}) || !slices.Equal(s.bytes, []float64{4, 0}) {
		t.Errorf("a stream begins with its first I/O: %+v", s)
	}
	// Seconds of the ramp, and short ones, say nothing of a series; its interval moves with its centre.
	var seconds []Second
	for i := range 12 {
		seconds = append(seconds, Second{Len: time.Second, Read: Interval{N: uint64(9 + 2*(i%2))}})
	}
	seconds = append(seconds, Second{Len: time.Second, Ramp: true, Read: Interval{N: 1e6}}, Second{Len: shortest - 1, Read: Interval{N: 1e6}})
	e := series(seconds, func(s Second) float64 { return float64(s.IOPS()) })
	if e.Center != 10 || e.N < leastValues {
		t.Errorf("%+v", e)
	}
	seconds = append(seconds, Second{Len: shortest, Read: Interval{N: 10}})
	if with := series(seconds, func(Second) float64 { return 10 }); with.Center != 10 || with.N != 13 {
		t.Errorf("%+v", with)
	}
	moved := recentre(stats.Estimate{Center: 10, Lo: 8, Hi: 13, N: leastValues}, 15, time.Second)
	if moved.Center != 15 || moved.Lo != 13 || moved.Hi != 18 || moved.N != leastValues {
		t.Errorf("%+v", moved)
	}
	if low := recentre(stats.Estimate{Center: 10, Lo: 8, Hi: 13, N: leastValues}, 1, time.Second); low.Lo != 0 || low.Hi != 4 {
		t.Errorf("%+v", low)
	}
	if few := recentre(stats.Estimate{Center: 10, Lo: 8, Hi: 13, N: leastValues - 1}, 15, 4*time.Second); few.Lo != 15 || few.Hi != 15 || few.None != "4 s only" {
		t.Errorf("%+v", few)
	}
}

// The end of a run while it drains: seconds without I/O behind its time, and short ones before it.
func TestDrainedSeconds(t *testing.T) {
	sec := func(length time.Duration, n uint64) Second { return Second{Len: length, Read: Interval{N: n}} }
	const s = time.Second
	timed := []fio.Workload{{Runtime: 3 * s, TimeBased: true}}
	for name, c := range map[string]struct {
		loads   []fio.Workload
		seconds []Second
		want    int
	}{
		"all with I/O":          {timed, []Second{sec(s, 1), sec(s, 1), sec(s, 1)}, 3},
		"one behind its time":   {timed, []Second{sec(s, 1), sec(s, 1), sec(s, 1), sec(s, 0)}, 3},
		"two behind":            {timed, []Second{sec(s, 1), sec(s, 1), sec(s, 1), sec(s, 0), sec(s, 0)}, 3},
		"a stall before":        {timed, []Second{sec(s, 1), sec(s, 1), sec(s, 0)}, 3},
		"a short one before":    {timed, []Second{sec(s, 1), sec(s, 1), sec(wholeInterval-1, 0)}, 2},
		"nearly a whole one":    {timed, []Second{sec(s, 1), sec(s, 1), sec(wholeInterval, 0)}, 3},
		"900 ms":                {timed, []Second{sec(s, 1), sec(s, 1), sec(900*time.Millisecond, 0)}, 3},
		"899 ms":                {timed, []Second{sec(s, 1), sec(s, 1), sec(899*time.Millisecond, 0)}, 2},
		"200 ms before its end": {timed, []Second{sec(s, 1), sec(s, 1), sec(800*time.Millisecond, 1), sec(s, 0)}, 3},
		"a moment more":         {timed, []Second{sec(s, 1), sec(s, 1), sec(800*time.Millisecond-1, 1), sec(s, 0)}, 4},
		"of no known time":      {nil, []Second{sec(s, 1), sec(s, 1), sec(s, 0)}, 3},
		"short, no known time":  {nil, []Second{sec(s, 1), sec(s, 1), sec(s/2, 0)}, 2},
		"the first stays":       {nil, []Second{sec(s/2, 0)}, 1},
		"a ramp at the end":     {nil, []Second{sec(s, 1), {Len: s / 2, Ramp: true}}, 2},
		"trims are I/O":         {nil, []Second{sec(s, 1), {Len: s / 2, Trim: Interval{N: 1}}}, 2},
		"writes are I/O":        {nil, []Second{sec(s, 1), {Len: s / 2, Write: Interval{N: 1}}}, 2},
	} {
		r := &Result{Workloads: c.loads, Seconds: c.seconds}
		if got := len(r.undrained()); got != c.want {
			t.Errorf("%s: %d seconds, want %d", name, got, c.want)
		}
	}
}

// A later window of a run: what lies behind its beginning counts, by its own length.
func TestLaterWindow(t *testing.T) {
	const s = time.Second
	run := func() *Result {
		return &Result{Measured: 9 * s, Seconds: []Second{
			{At: s, Len: s, Ramp: true, Read: Interval{N: 1000}},
			{At: 2 * s, Len: s, Read: Interval{10, 100, histOf(5)}, Sync: histOf(7)},
			{At: 3 * s, Len: s, Read: Interval{20, 200, histOf(5, 5)}, Write: Interval{2, 8, histOf(9)}},
			{At: 4 * s, Len: 2 * s, Read: Interval{30, 300, nil}, Trim: Interval{N: 4, Bytes: 40}, Sync: histOf(9)},
		}}
	}
	for from, c := range map[time.Duration]struct {
		measured    time.Duration
		reads       uint64
		iops        units.IOPS
		clat, syncs uint64
	}{
		0: {4 * s, 60, 15, 3, 2}, s: {4 * s, 60, 15, 3, 2}, 2 * s: {3 * s, 50, 50. / 3, 2, 1}, 3 * s: {2 * s, 30, 15, 0, 1}, 4 * s: {9 * s, 0, 0, 0, 0},
	} {
		r := run()
		r.Window(from, nil, time.Time{})
		d := r.Total.Read
		if r.Measured != c.measured || d.N != c.reads || math.Abs(float64(d.IOPS-c.iops)) > 1e-9 || d.Clat.N != c.clat || r.Total.Sync.Lat.N != c.syncs {
			t.Errorf("from %v: %v, %+v, %d syncs; want %+v", from, r.Measured, d, r.Total.Sync.Lat.N, c)
		}
		if ramps := slices.IndexFunc(r.Seconds, func(s Second) bool { return !s.Ramp }); c.reads > 0 && r.Seconds[ramps].At <= from {
			t.Errorf("from %v: second %d counts", from, ramps)
		}
	}
	r := run()
	if r.Window(2*s, nil, time.Time{}); r.Total.Write.N != 2 || r.Total.Write.Bytes != 8 || r.Total.Write.Clat.N != 1 || r.Total.Trim.Bytes != 40 || float64(r.Total.Read.BW) != 500./3 {
		t.Errorf("%+v", r.Total)
	}
	// Percentiles rise or stay; where one falls behind another all are none.
	for name, c := range map[string]struct {
		list []fio.Percentile
		want bool
	}{
		"rising": {[]fio.Percentile{{P: 50, Value: 1}, {P: 99, Value: 2}}, true}, "alike": {[]fio.Percentile{{P: 50, Value: 2}, {P: 99, Value: 2}}, true},
		"falling": {[]fio.Percentile{{P: 50, Value: 2}, {P: 99, Value: 1}}, false}, "one place twice": {[]fio.Percentile{{P: 50, Value: 2}, {P: 50, Value: 1}}, true}, "none": {nil, true},
	} {
		if got := inOrder(c.list); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Of syncs that fio did not time, or timed with what came before, by its version, engine and depth.
func TestSyncsByVersionEngineAndDepth(t *testing.T) {
	libaio := fio.Workload{Engine: "libaio", SyncEvery: 1, Depth: 1}
	with := func(f func(*fio.Workload)) fio.Workload { w := libaio; f(&w); return w }
	for name, c := range map[string]struct {
		version string
		loads   []fio.Workload
		sync    float64 // mean in ns
		write   float64
		kept    bool
		doubt   string // empty: none
	}{
		"3.41":                     {"fio-3.41", []fio.Workload{libaio}, 1e6, 1e5, true, ""},
		"3.40":                     {"fio-3.40", []fio.Workload{libaio}, 1e6, 1e5, true, "counts the write before a sync"},
		"3.33":                     {"fio-3.33", []fio.Workload{libaio}, 1e6, 1e5, true, "counts the write before a sync"},
		"3.32, timed":              {"fio-3.32", []fio.Workload{libaio}, 2000, 1e5, true, ""},
		"3.32, not timed":          {"fio-3.32", []fio.Workload{libaio}, 1999, 1e5, false, "does not measure how long syncs take"},
		"two at a time":            {"fio-3.40", []fio.Workload{with(func(w *fio.Workload) { w.Depth = 2 })}, 1e6, 1e5, true, "counts I/Os before a sync"},
		"two sections":             {"fio-3.40", []fio.Workload{libaio, libaio}, 1e6, 1e5, true, "counts I/Os before a sync"},
		"shorter than its write":   {"fio-3.40", []fio.Workload{libaio}, 1e5, 1e6, true, "counts I/Os before a sync"},
		"as long as its write":     {"fio-3.40", []fio.Workload{libaio}, 1e6, 1e6, true, "counts I/Os before a sync"},
		"psync":                    {"fio-3.40", []fio.Workload{with(func(w *fio.Workload) { w.Engine = "psync" })}, 1e6, 1e5, true, ""},
		"libaio, never synced":     {"fio-3.40", []fio.Workload{with(func(w *fio.Workload) { w.SyncEvery = 0 })}, 1e6, 1e5, true, ""},
		"of no known version":      {"", []fio.Workload{libaio}, 1e6, 1e5, true, ""},
		"999 ns of no version":     {"", []fio.Workload{libaio}, 999, 1e5, false, "no sync takes the 999 ns"},
		"1 µs of no version":       {"", []fio.Workload{libaio}, 1000, 1e5, true, ""},
		"999 ns of an old, unsaid": {"fio-3.32", nil, 999, 1e5, false, "no sync takes the 999 ns"},
		"999 ns of a new, unsaid":  {"fio-3.33", nil, 999, 1e5, true, ""},
		"none":                     {"fio-3.32", []fio.Workload{libaio}, 0, 1e5, false, ""},
	} {
		r := &Result{Fio: c.version, Workloads: c.loads, Jobs: []fio.Job{{}}, Seconds: []Second{{Sync: histOf(5)}}}
		if c.sync > 0 {
			r.Total.Sync.Lat = fio.Latency{N: 1, Mean: c.sync}
		}
		r.Total.Write.Lat = fio.Latency{N: 1, Mean: c.write}
		r.distrustSyncs()
		got := strings.Join(r.Doubts, "|")
		if r.Total.Sync.Lat.Measured() != c.kept || (got == "") != (c.doubt == "") || !strings.Contains(got, c.doubt) {
			t.Errorf("%s: kept %v, %q; want %q", name, r.Total.Sync.Lat.Measured(), got, c.doubt)
		}
		if dropped := r.Seconds[0].Sync == nil; dropped != (c.doubt != "" && !c.kept) {
			t.Errorf("%s: of the seconds dropped %v", name, dropped)
		}
	}
}
