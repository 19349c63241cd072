package fio

import (
	"math"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/fio/bins"
	"plimsoll/internal/units"
)

// Rows that started apart cover the time from the first start to the last end: 2 s to 12 s and 5 s to
// 10 s are 10 s, whichever comes first; another phase adds its own.
func TestTimeCovered(t *testing.T) {
	row := func(delay, run time.Duration) Job { return Job{Delay: delay * time.Second, Runtime: run * time.Second} }
	for name, c := range map[string]struct {
		rows   []Job
		phases []int
		want   time.Duration
	}{
		"one within the other":          {[]Job{row(2, 10), row(5, 5)}, []int{0, 0}, 10},
		"the earlier one comes later":   {[]Job{row(5, 5), row(2, 10)}, []int{0, 0}, 10},
		"one after the other":           {[]Job{row(0, 4), row(6, 4)}, []int{0, 0}, 10},
		"the later one comes first":     {[]Job{row(6, 4), row(0, 4)}, []int{0, 0}, 10},
		"two phases":                    {[]Job{row(2, 10), row(5, 5)}, []int{0, 1}, 15},
		"what did not run has no start": {[]Job{row(0, 0), row(2, 3)}, []int{0, 0}, 3},
		"nothing":                       {nil, nil, 0},
	} {
		if got := covered(c.rows, c.phases, (*Job).Span); got != c.want*time.Second {
			t.Errorf("%s: %s, want %s", name, got, c.want*time.Second)
		}
	}
}

// Two rows at the same time, of which the second ran half as long and had bytes alone: rates are those
// over the longer time.
func TestMergedRates(t *testing.T) {
	a := Direction{
		N:          1000,
		Bytes:      8000,
		IOPS:       100,
		BW:         800,
		Runtime:    10 * time.Second,
		Short:      1,
		Dropped:    2,
		ZoneResets: 3,
	}
	b := Direction{
		N:          500,
		Bytes:      2000,
		IOPS:       100,
		BW:         400,
		Runtime:    5 * time.Second,
		Short:      10,
		Dropped:    20,
		ZoneResets: 30,
	}
	rows := func(a, b Direction) []Job { return []Job{{Write: a}, {Write: b}} }
	write := func(j *Job) *Direction { return &j.Write }
	m := mergeDirections(rows(a, b), []int{0, 0}, write)
	if m.N != 1500 || m.Bytes != 10000 || m.IOPS != 150 || m.BW != 1000 || m.Runtime != 10*time.Second || m.Short != 11 ||
		m.Dropped != 22 ||
		m.ZoneResets != 33 {
		t.Errorf("%+v", m)
	}
	// Rates without counts are weighted by the time: 100 + 100/2, 800 + 400/2.
	b.N = 0
	m = mergeDirections(rows(a, b), []int{0, 0}, write)
	if m.IOPS != 150 || m.BW != 1000 || m.N != 1000 {
		t.Errorf("without a count: %+v", m)
	}
	b.Bytes, b.N = 0, 500
	if m = mergeDirections(rows(a, b), []int{0, 0}, write); m.IOPS != 150 || m.BW != 800 {
		t.Errorf("without bytes: %+v", m)
	}
	// One after the other: 15 s.
	b = Direction{N: 500, Bytes: 2000, IOPS: 100, BW: 400, Runtime: 5 * time.Second}
	if m = mergeDirections(
		rows(a, b),
		[]int{0, 1},
		write,
	); m.IOPS != 100 || m.Runtime != 15*time.Second ||
		math.Abs(float64(m.BW)-10000/15.0) > 1e-9 {
		t.Errorf("one after the other: %+v", m)
	}
	// A direction that did not run adds nothing but its errors; the other one keeps its samples.
	a.BWSamples, a.IOPSSamples, a.Printed = Samples{N: 7}, Samples{N: 8}, map[string]string{"iops": "100"}
	m = mergeDirections(rows(a, Direction{Short: 5}), []int{0, 0}, write)
	if m.Short != 6 || m.BWSamples.N != 7 || m.IOPSSamples.N != 8 || m.Printed["iops"] != "100" || m.IOPS != 100 {
		t.Errorf("%+v", m)
	}
	if m = mergeDirections(rows(a, b), []int{0, 0}, write); m.BWSamples.N != 0 || m.Printed != nil {
		t.Errorf("%+v", m)
	}
	// Rates with a time alone count; a single I/O of half a second is two a second, whatever fio says.
	if m = mergeDirections(
		rows(Direction{IOPS: 3, BW: 5, Runtime: time.Second}, Direction{IOPS: 4, BW: 6, Runtime: time.Second}),
		[]int{0, 0},
		write,
	); m.IOPS != 7 || m.BW != 11 ||
		m.Runtime != time.Second {
		t.Errorf("%+v", m)
	}
	half := time.Second / 2
	if m = mergeDirections(
		rows(Direction{N: 1, Bytes: 10, IOPS: 99, BW: 99, Runtime: half}, Direction{Runtime: half}),
		[]int{0, 0},
		write,
	); m.IOPS != 2 ||
		m.BW != 20 {
		t.Errorf("%+v", m)
	}
	// Of rates alone, without any time, the sum is all there is.
	if m = mergeDirections(
		rows(Direction{Bytes: 1, IOPS: 3, BW: 5}, Direction{Bytes: 1, IOPS: 4, BW: 6}),
		[]int{0, 0},
		write,
	); m.IOPS != 7 ||
		m.BW != 11 {
		t.Errorf("%+v", m)
	}
}

// CPU is weighted by the time of all jobs of a row: 0.2 of 30 s and 0.5 of 3 jobs of 20 s are
// (6 + 30)/90 = 0.4.
func TestMergedCPU(t *testing.T) {
	var m Job
	mergeCPU(&m, []Job{
		{TotalRuntime: 30 * time.Second, Runtime: time.Second, Count: 9, CPU: CPU{User: 0.2, System: 0.8}},
		{Runtime: 20 * time.Second, Count: 3, CPU: CPU{User: 0.5, System: 0.2}},
		{CPU: CPU{User: 1, System: 1}},
	})
	if math.Abs(m.CPU.User-0.4) > 1e-12 || math.Abs(m.CPU.System-0.4) > 1e-12 { // (24 + 12)/90
		t.Errorf("%+v", m.CPU)
	}
	none := Job{}
	if mergeCPU(&none, []Job{{CPU: CPU{User: 1}}}); none.CPU.User != 0 {
		t.Errorf("%+v", none.CPU)
	}
	single := Job{}
	if mergeCPU(
		&single,
		[]Job{{Runtime: 1, CPU: CPU{User: 0.25}}, {Runtime: 3, CPU: CPU{User: 0.5}}},
	); single.CPU.User != 0.4375 {
		t.Errorf("%+v", single.CPU)
	}
}

func TestMergedRows(t *testing.T) {
	jobs := []Job{
		{
			Name:         "a",
			Host:         "x",
			Elapsed:      3 * time.Second,
			TotalRuntime: 5,
			CPU:          CPU{ContextSwitches: 1, MajorFaults: 2, MinorFaults: 3},
			Sync: Sync{
				Kind: "fsync",
				Lat:  Latency{N: 1, Mean: 10, Max: 10},
			},
			Read: Direction{N: 30, Bytes: 1, Runtime: 2 * time.Second, IOPS: 15},
			Depths: []Share{
				{"1", 1},
			},
			Submit:   []Share{{"4", 1}},
			Complete: []Share{{"8", 1}},
			Buckets:  []Bucket{{Upto: 10, Value: 1}},
		},
		{
			Name:         "b",
			Host:         "x",
			Elapsed:      2 * time.Second,
			TotalRuntime: 6,
			Count:        2,
			Error:        5,
			CPU:          CPU{ContextSwitches: 10, MajorFaults: 20, MinorFaults: 30},
			Sync: Sync{
				Lat: Latency{N: 3, Mean: 30, Max: 50},
			},
			Trim:    Direction{N: 10, Bytes: 1, Runtime: 4 * time.Second, IOPS: 2.5},
			Depths:  []Share{{"1", 0.5}, {"2", 0.5}},
			Buckets: []Bucket{{Upto: 10, Value: 0.5}, {Value: 0.5}},
		},
		{Name: "c", Host: "x", Count: 3, Error: 28},
	}
	m := (&Output{Jobs: jobs}).Total()
	if m.Name != "a" || m.Host != "x" || m.Count != 6 || m.Error != 5 || m.Elapsed != 3*time.Second ||
		m.TotalRuntime != 11 ||
		m.Runtime != 4*time.Second ||
		m.Window != 4*time.Second {
		t.Errorf("%+v", m)
	}
	if m.CPU.ContextSwitches != 11 || m.CPU.MajorFaults != 22 || m.CPU.MinorFaults != 33 || m.Sync.Kind != "fsync" ||
		m.Sync.Lat.Mean != 25 ||
		m.Sync.Lat.Max != 50 {
		t.Errorf("%+v %+v", m.CPU, m.Sync)
	}
	// Of 40 I/Os, 30 at depth 1 and of 10 a half: 35/40 and 5/40.
	if !slices.Equal(m.Depths, []Share{{"1", 0.875}, {"2", 0.125}}) || !slices.Equal(m.Submit, []Share{{"4", 1}}) ||
		!slices.Equal(m.Complete, []Share{{"8", 1}}) {
		t.Errorf("%v %v %v", m.Depths, m.Submit, m.Complete)
	}
	if !slices.Equal(m.Buckets, []Bucket{{10, 0.875}, {0, 0.125}}) {
		t.Errorf("%v", m.Buckets)
	}
	jobs[1].Host = "y"
	if m := (&Output{Jobs: jobs}).Total(); m.Host != "" {
		t.Error(m.Host)
	}
	if one := (&Output{Jobs: jobs[1:2]}).Total(); one.Name != "b" || one.Count != 2 {
		t.Errorf("%+v", one)
	}
}

func TestMergedLatencies(t *testing.T) {
	hist := func(v time.Duration, n uint64) *Hist {
		h := &Hist{}
		h.Add(v, n)
		return h
	}
	a := Latency{
		N:           2,
		Min:         10,
		Max:         30,
		Mean:        20,
		StdDev:      math.Sqrt(200),
		Hist:        hist(20, 2),
		Percentiles: []Percentile{{50, 20}, {99, 20}},
	}
	b := Latency{N: 1, Min: 5, Max: 5, Mean: 5, Hist: hist(5, 1), Percentiles: []Percentile{{50, 5}, {90, 5}}}
	m := mergeLatencies([]Latency{{}, a, b})
	// 10, 30 and 5: mean 15, deviation √((25+225+100)/2) = √175.
	if m.N != 3 || m.Min != 5 || m.Max != 30 || math.Abs(m.Mean-15) > 1e-12 || math.Abs(m.StdDev-math.Sqrt(175)) > 1e-12 {
		t.Errorf("%+v", m)
	}
	if !slices.Equal(m.Percentiles, []Percentile{{50, 20}, {90, 20}, {99, 20}}) || m.Hist.Count() != 3 {
		t.Errorf("%v", m.Percentiles)
	}
	if got := mergeLatencies([]Latency{{}, b}); got.N != 1 || got.Hist != b.Hist {
		t.Errorf("%+v", got)
	}
	b.Hist = nil
	if m = mergeLatencies([]Latency{a, b}); m.Hist != nil || m.Percentiles != nil || m.N != 3 {
		t.Errorf("%+v", m)
	}
	one := Latency{N: 1, Mean: 5, Hist: hist(5, 1)}
	if m = mergeLatencies(
		[]Latency{{Hist: hist(9, 1)}, one},
	); m.N != 1 || m.StdDev != 0 || m.Mean != 5 ||
		m.Hist.Count() != 2 {
		t.Errorf("%+v", m)
	}
	// Two of one value each differ by their means alone: 5 and 9 are √8 apart from 7.
	other := Latency{N: 1, Mean: 9, StdDev: 77, Hist: hist(9, 1)}
	if m = mergeLatencies([]Latency{one, other}); math.Abs(m.StdDev-math.Sqrt(8)) > 1e-12 {
		t.Errorf("%+v", m)
	}
}

// A row's rates are those over the window of all its directions; what it keeps in flight likewise.
func TestRatesOfARow(t *testing.T) {
	j := Job{
		Runtime: 10 * time.Second,
		Window:  20 * time.Second,
		Read: Direction{
			IOPS:    100,
			BW:      1000,
			Runtime: 10 * time.Second,
			Clat:    Latency{N: 1, Mean: 1e7},
			Lat:     Latency{N: 1, Mean: 2e7},
		},
		Write: Direction{IOPS: 40, BW: 80, Runtime: 20 * time.Second, Clat: Latency{N: 1, Mean: 5e7}},
		Trim:  Direction{IOPS: 1, BW: 2},
	}
	if n, bw := j.Rates(); n != 91 || bw != 582 || j.Span() != 20*time.Second {
		t.Errorf("%v %v", n, bw)
	}
	// 100 × 20 ms by half, and 40 × 50 ms.
	if got := j.InFlight(); math.Abs(got-3) > 1e-12 {
		t.Error(got)
	}
}

// What submission took and what completion took tell an engine that had done the I/O before it
// returned.
func TestSubmittedAndMistimed(t *testing.T) {
	of := func(slat, clat float64) Direction {
		return Direction{Slat: Latency{N: 1, Mean: slat}, Clat: Latency{N: 1, Mean: clat}}
	}
	for _, c := range []struct {
		slat, clat float64
		want       bool
	}{{9000, 4999, true}, {9000, 5000, false}, {4000, 4000, true}, {3999, 4000, false}, {0, 0, false}} {
		if got := of(c.slat, c.clat).Submitted(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	late := of(9000, 100)
	late.Clat.Percentiles = []Percentile{{95, 6 * time.Microsecond}}
	if late.Submitted() {
		t.Error("one in twenty took longer")
	}
	for _, c := range []struct {
		lat, clat float64
		want      bool
	}{{100, 150, false}, {100, 151, true}, {0, 151, false}} {
		if got := (Direction{Lat: Latency{Mean: c.lat}, Clat: Latency{Mean: c.clat}}).Mistimed(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	both := Direction{Lat: Latency{N: 1, Mean: 2}, Clat: Latency{N: 1, Mean: 1}}
	if both.Completion().Mean != 1 || (&Direction{Lat: both.Lat}).Completion().Mean != 2 {
		t.Errorf("%+v", both)
	}
}

func TestPercentilesOfAList(t *testing.T) {
	l := Latency{Max: 50, Percentiles: []Percentile{{90, 40}, {99, 60}}}
	for p, want := range map[float64]time.Duration{90: 40, 99: 50, 90 + 5e-7: 40, 90 - 5e-7: 40, 95: -1, 90.001: -1} {
		got, ok := l.At(p)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("p%v: %d, want %d", p, got, want)
		}
	}
	if (Latency{}).Capped(7) != 7 || (Latency{Max: 7}).Capped(6) != 6 {
		t.Error("capped")
	}
	for _, c := range []struct {
		l    Latency
		want bool
	}{{Latency{}, false}, {Latency{N: 1}, true}, {Latency{Mean: 1}, true}, {Latency{Percentiles: []Percentile{{}}}, true}, {Latency{Max: 1}, false}} {
		if c.l.Measured() != c.want {
			t.Errorf("%+v", c.l)
		}
	}
}

// Bins by hand: 127 has its own; 128 to 129 share bin 128, whose value is 129; 1,000 = 2^9 + 488, in
// steps of 8: bin (3+1)·64 + 61 = 317 from 1,000 to 1,008, value 1,004.
func TestBinsByHand(t *testing.T) {
	for _, c := range []struct {
		v       time.Duration
		bin     int
		value   time.Duration
		lo, hi  time.Duration
		comment string
	}{
		{-5, 0, 0, 0, 1, "below zero"},
		{0, 0, 0, 0, 1, ""},
		{127, 127, 127, 127, 128, ""},
		{128, 128, 129, 128, 130, ""},
		{129, 128, 129, 128, 130, ""},
		{1000, 317, 1004, 1000, 1008, ""},
		{1007, 317, 1004, 1000, 1008, ""},
		{1008, 318, 1012, 1008, 1016, ""},
	} {
		bin := bins.Of(c.v)
		lo, hi := bins.Range(bin)
		if bin != c.bin || bins.Value(bin) != c.value || lo != c.lo || hi != c.hi {
			t.Errorf("%d: bin %d of %d to %d, value %d; want %+v", c.v, bin, lo, hi, bins.Value(bin), c)
		}
	}
	if bins.Of(time.Hour) != 1855 || bins.Count != 1856 {
		t.Error(bins.Of(time.Hour))
	}
}

// fio's own rule: the first bin at which the running sum reaches the share.
func TestPercentileByHand(t *testing.T) {
	h := &Hist{}
	h.Add(10, 1)
	h.Add(20, 2)
	h.Add(30, 1)
	for p, want := range map[float64]time.Duration{0: 10, 25: 10, 25.1: 20, 75: 20, 75.1: 30, 100: 30} {
		if got := h.Percentile(p); got != want {
			t.Errorf("p%v: %d, want %d", p, got, want)
		}
	}
	// 10, 20, 20, 30: mean 20, variance (100 + 100)/4 = 50.
	if mean, sd := h.Mean(); mean != 20 || math.Abs(sd-math.Sqrt(50)) > 1e-12 {
		t.Errorf("%v ± %v", mean, sd)
	}
	for d, want := range map[time.Duration]uint64{10: 4, 11: 3, 20: 3, 21: 1, 30: 1, 31: 0} {
		if got := h.Above(d); got != want {
			t.Errorf("above %d: %d, want %d", d, got, want)
		}
	}
	var none *Hist
	if none.Count() != 0 || (&Hist{}).Percentile(50) != 0 || (&Hist{}).Above(0) != 0 {
		t.Error("an empty one counts")
	}
	if mean, sd := (&Hist{}).Mean(); mean != 0 || sd != 0 {
		t.Error(mean, sd)
	}
	later := h.Clone()
	later.Add(20, 5)
	later.Add(40, 1)
	if d := later.Minus(h); d.Count() != 6 || d.Percentile(50) != 20 || d.Percentile(100) != 40 {
		t.Errorf("%v", d)
	}
	if d := h.Minus(later); d.Count() != 0 {
		t.Errorf("%v", d)
	}
	if d := h.Minus(nil); d.Count() != 4 {
		t.Errorf("%v", d)
	}
}

func TestSizesByHand(t *testing.T) {
	for _, c := range []struct {
		text string
		base int
		want units.Bytes // 0: an error
	}{
		{"4k", 1024, 4096},
		{"4kb", 1024, 4096},
		{"4ki", 1024, 4096},
		{"4kib", 1024, 4000},
		{"4k", 1000, 4000},
		{"4kib", 1000, 4096},
		{"3M", 1024, 3 << 20},
		{"2g", 1024, 2 << 30},
		{"1t", 1024, 1 << 40},
		{"1p", 1024, 1 << 50},
		{"0x1f", 1024, 31},
		{"0x1fk", 1024, 0},
		{"7", 1024, 7},
		{"7b", 1024, 7},
		{"7kx", 1024, 7 << 10},
		{"7x", 1024, 0},
		{"", 1024, 0},
		{"50%", 1024, 0},
		{"16383p", 1024, 16383 << 50},
		{"16384p", 1024, 0},
	} {
		got, err := ParseSize(c.text, c.base)
		if got != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s by %d: %d %v, want %d", c.text, c.base, got, err, c.want)
		}
	}
	for text, want := range map[string]time.Duration{
		"7": 7 * time.Second, "7us": 7 * time.Microsecond, "7usec": 7 * time.Microsecond, "7ms": 7 * time.Millisecond, "7msec": 7 * time.Millisecond,
		"7s": 7 * time.Second, "7m": 7 * time.Minute, "7h": 7 * time.Hour, "7D": 7 * 24 * time.Hour, "7x": -1, "": -1, "s": -1,
		"9223372036": 9223372036 * time.Second, "9223372037": -1,
	} {
		got, err := ParseTime(text, time.Second)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%s: %s %v, want %s", text, got, err, want)
		}
	}
}

func TestSettledCounts(t *testing.T) {
	h := &Hist{}
	h.Add(1, 5)
	for _, c := range []struct {
		l    Latency
		want uint64
	}{
		{Latency{N: 3, Hist: h}, 3},
		{Latency{Hist: h}, 5},
		{Latency{Mean: 1}, 7},
		{Latency{Max: 1}, 7},
		{Latency{Min: 99}, 0},
		{Latency{Min: 99, Percentiles: []Percentile{{99, 0}}}, 0},
	} {
		l := c.l
		l.SettleCount(7)
		if l.N != c.want || c.want == 0 && (l.Min != 0 || l.Percentiles != nil) {
			t.Errorf("%+v became %+v", c.l, l)
		}
	}
	kept := Latency{Percentiles: []Percentile{{50, 0}, {99, 4}}}
	if kept.SettleCount(7); len(kept.Percentiles) != 2 {
		t.Errorf("%+v", kept)
	}
	for _, c := range []struct {
		v    float64
		want time.Duration
	}{{1.5, 1500}, {0.0004, 0}, {0.0005, 1}, {-1, 0}, {1e18, 0}} {
		if got := Duration(c.v, time.Microsecond); got != c.want {
			t.Errorf("%v: %d", c.v, got)
		}
	}
}

// Groups one after the other, at the same time by their options, by their starts, and by the time
// that all took.
func TestPhasesOfRows(t *testing.T) {
	at := time.Unix(1000, 0)
	row := func(group int, run time.Duration) Job { return Job{Group: group, Runtime: run * time.Second} }
	with := func(j Job, change func(*Job)) Job { change(&j); return j }
	started := func(j Job, s time.Duration) Job { j.Start = at.Add(s * time.Second); return j }
	elapsed := func(j Job, s time.Duration) Job { j.Elapsed = s * time.Second; return j }
	for name, c := range map[string]struct {
		rows   []Job
		global Options
		want   []int
	}{
		"one group":            {[]Job{row(0, 5), row(0, 5)}, nil, []int{0, 0}},
		"two groups":           {[]Job{row(0, 5), row(1, 5), row(1, 5), row(2, 5)}, nil, []int{0, 1, 1, 2}},
		"settled":              {[]Job{with(row(0, 5), func(j *Job) { j.Phase = 1 }), with(row(1, 5), func(j *Job) { j.Phase = 2 }), with(row(2, 5), func(j *Job) { j.Phase = 2 })}, nil, []int{0, 1, 1}},
		"a new group":          {[]Job{row(0, 5), with(row(1, 5), func(j *Job) { j.Options = Options{"new_group": ""} })}, nil, []int{0, 0}},
		"a new group, all":     {[]Job{row(0, 5), row(1, 5)}, Options{"new_group": "1"}, []int{0, 0}},
		"no new group":         {[]Job{row(0, 5), with(row(1, 5), func(j *Job) { j.Options = Options{"new_group": "0"} })}, Options{"new_group": "1"}, []int{0, 1}},
		"a new one that waits": {[]Job{row(0, 5), with(row(1, 5), func(j *Job) { j.Options = Options{"new_group": "1", "stonewall": ""} })}, nil, []int{0, 1}},
		"starts overlap":       {[]Job{started(row(0, 5), 0), started(row(1, 5), 4)}, nil, []int{0, 0}},
		"starts meet":          {[]Job{started(row(0, 5), 0), started(row(1, 5), 5)}, nil, []int{0, 1}},
		"one start":            {[]Job{row(0, 5), started(row(1, 5), 4)}, nil, []int{0, 1}},
		"no time for both":     {[]Job{elapsed(row(0, 5), 9), elapsed(row(1, 5), 9)}, nil, []int{0, 0}},
		"just time for both":   {[]Job{elapsed(row(0, 5), 10), elapsed(row(0, 3), 10), elapsed(row(1, 5), 10)}, nil, []int{0, 1}},
	} {
		if name == "just time for both" {
			c.want = []int{0, 0, 1}
		}
		if got := phaseOf(c.rows, c.global); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The sections of one row: writes from 10 s on for 30 s, reads from 20 s on for 5 s as their section
// says, are 30 s; a row of one section begins with its delay.
func TestWindowOfSections(t *testing.T) {
	rows := []Job{{
		Runtime: 30 * time.Second, Read: Direction{Runtime: 9 * time.Second}, Write: Direction{Runtime: 30 * time.Second},
	}}
	write := Workload{Name: "w", WriteBS: 4096, StartDelay: 10 * time.Second}
	read := Workload{Name: "r", ReadShare: 1, ReadBS: 4096, StartDelay: 20 * time.Second, Runtime: 5 * time.Second}
	Time(rows, nil, []Workload{write, read})
	if rows[0].Window != 30*time.Second || rows[0].Delay != 0 {
		t.Errorf("%s after %s", rows[0].Window, rows[0].Delay)
	}
	read.StartDelay = 38 * time.Second // to 43 s
	Time(rows, nil, []Workload{write, read})
	if rows[0].Window != 33*time.Second {
		t.Errorf("%s", rows[0].Window)
	}
	Time(rows, nil, []Workload{write})
	if rows[0].Window != 39*time.Second || rows[0].Delay != 10*time.Second { // what was read verifies
		t.Errorf("%s after %s", rows[0].Window, rows[0].Delay)
	}
	Time(rows, nil, []Workload{read})
	if rows[0].Window != 30*time.Second || rows[0].Delay != 38*time.Second {
		t.Errorf("%s after %s", rows[0].Window, rows[0].Delay)
	}
	if Time(rows, nil, nil); rows[0].Window != 30*time.Second || rows[0].Delay != 0 {
		t.Errorf("%s after %s", rows[0].Window, rows[0].Delay)
	}
}

// Phases by the jobs' own options: the first group, one that waits, and one that does not.
func TestSettledPhases(t *testing.T) {
	rows := func() []Job {
		return []Job{{Name: "a"}, {Name: "b", Group: 1}, {Name: "b", Group: 1}, {Name: "c", Group: 2}}
	}
	for name, c := range map[string]struct {
		b, c Workload
		want []int
	}{
		"all wait":            {Workload{Stonewall: true}, Workload{Stonewall: true}, []int{1, 2, 2, 3}},
		"b is beside a":       {Workload{NewGroup: true}, Workload{Stonewall: true}, []int{1, 1, 1, 2}},
		"c is beside b":       {Workload{Stonewall: true}, Workload{NewGroup: true}, []int{1, 2, 2, 2}},
		"a new one may wait":  {Workload{Stonewall: true, NewGroup: true}, Workload{NewGroup: true}, []int{1, 2, 2, 2}},
		"groups by what else": {Workload{}, Workload{}, []int{1, 2, 2, 3}},
	} {
		list := rows()
		c.b.Name, c.c.Name = "b", "c"
		settlePhases(list, []Workload{{Name: "a"}, c.b, c.c})
		for i, want := range c.want {
			if list[i].Phase != want {
				t.Errorf("%s: row %d in phase %d, want %d", name, i, list[i].Phase, want)
			}
		}
	}
	list := rows()
	if settlePhases(list, []Workload{{Name: "a"}, {Name: "b"}}); list[0].Phase != 0 || list[1].Phase != 0 {
		t.Errorf("%+v", list)
	}
}
