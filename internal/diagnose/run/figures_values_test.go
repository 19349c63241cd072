package run

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

const ms = time.Millisecond

// imported is a minute of reads of 4 KiB that somebody else measured: one job, 1,000 IOPS, 1 ms each.
func imported(how func(r *result.Result)) diagnose.Measurement {
	d := fio.Direction{N: 60_000, IOPS: 1000, BW: units.Rate(1000 * 4 * units.KiB), Runtime: time.Minute}
	d.Clat = fio.Latency{Mean: 1e6, Max: 2 * ms, N: 60_000}
	d.IOPSSamples = fio.Samples{N: 120, Mean: 1000, Min: 900, Max: 1100, StdDev: 50}
	r := &result.Result{
		State: result.Done, Measured: time.Minute, Jobs: []fio.Job{{Count: 1, Runtime: time.Minute, Read: d}},
		Workloads: []fio.Workload{{ReadShare: 1, ReadBS: 4 * units.KiB, Jobs: 1, Depth: 1, Runtime: time.Minute}},
	}
	r.Total.Read = d
	if how != nil {
		how(r)
	}
	return diagnose.Measurement{Result: r}
}

// Bandwidth is IOPS times the block, to a twentieth; four times as much is certain.
func TestBandwidthAndBlocks(t *testing.T) {
	bw := func(factor float64) func(*result.Result) {
		return func(r *result.Result) { r.Total.Read.BW = units.Rate(factor * 1000 * 4096) }
	}
	for name, c := range map[string]struct {
		how           func(*result.Result)
		wrong, surely bool
	}{
		"exact":                 {bw(1), false, false},
		"a twentieth more":      {bw(1.0499), false, false},
		"more than that":        {bw(1.051), true, false},
		"a twentieth less":      {bw(0.9501), false, false},
		"less than that":        {bw(0.949), true, false},
		"four times as much":    {bw(4), true, false},
		"more than four times":  {bw(4.01), true, true},
		"a quarter":             {bw(0.25), true, false},
		"less than a quarter":   {bw(0.249), true, true},
		"not known":             {bw(0), false, false},
		"too few I/Os":          {func(r *result.Result) { bw(2)(r); r.Total.Read.N = diagnose.EnoughReads - 1 }, false, false},
		"enough I/Os":           {func(r *result.Result) { bw(2)(r); r.Total.Read.N = diagnose.EnoughReads }, true, false},
		"no rate":               {func(r *result.Result) { bw(2)(r); r.Total.Read.IOPS = 0 }, false, false},
		"short I/Os":            {func(r *result.Result) { bw(2)(r); r.Total.Read.Short = 1 }, false, false},
		"dropped I/Os":          {func(r *result.Result) { bw(2)(r); r.Total.Read.Dropped = 1 }, false, false},
		"blocks of two sizes":   {func(r *result.Result) { bw(2)(r); r.Workloads[0].ReadSizes = fio.Sizes{{}} }, false, false},
		"two jobs that differ":  {func(r *result.Result) { bw(2)(r); r.Workloads = append(r.Workloads, fio.Workload{ReadBS: 8192}) }, false, false},
		"two jobs alike":        {func(r *result.Result) { bw(2)(r); r.Workloads = append(r.Workloads, fio.Workload{ReadBS: 4096}) }, true, false},
		"a job of writes":       {func(r *result.Result) { bw(2)(r); r.Workloads = append(r.Workloads, fio.Workload{WriteBS: 8192}) }, true, false},
		"writes that are wrong": {func(r *result.Result) { r.Total.Write = r.Total.Read; r.Workloads[0].WriteBS = 8192 }, true, false},
	} {
		got := blocksOff(imported(c.how))
		wrong, certain := got.Message != "", got.Severity == finding.Invalid
		if wrong != c.wrong || certain != c.surely {
			t.Errorf("%s: %t, certain %t", name, wrong, certain)
		}
	}
}

// Little's law: twice what the jobs may keep is doubted, four times is wrong.
func TestIOsInFlight(t *testing.T) {
	flight := func(n float64) func(*result.Result) {
		return func(r *result.Result) { r.Depth.Little = n }
	}
	for name, c := range map[string]struct {
		how           func(*result.Result)
		wrong, surely bool
	}{
		"one":              {flight(1), false, false},
		"twice":            {flight(2), false, false},
		"more":             {flight(2.01), true, false},
		"four times":       {flight(4), true, false},
		"more than that":   {flight(4.01), true, true},
		"fio kept more":    {func(r *result.Result) { flight(9)(r); r.Depth.Fio = 2.01 }, false, false},
		"fio kept as much": {func(r *result.Result) { flight(9)(r); r.Depth.Fio = 2 }, true, true},
		"synced writes":    {func(r *result.Result) { flight(9)(r); r.Workloads[0].SyncEvery = 1 }, false, false},
		"no job":           {func(r *result.Result) { flight(9)(r); r.Depth.Asked, r.Workloads = 1, nil }, false, false},
		"depth not known":  {func(r *result.Result) { flight(9)(r); r.Workloads[0].DepthOpen = true }, false, false},
		"directions in turn": {func(r *result.Result) {
			flight(9)(r)
			r.Total.Runtime = time.Minute
			r.Total.Write = fio.Direction{N: 1, IOPS: 1, Runtime: time.Second}
		}, false, false},
	} {
		got := flightOff(imported(c.how))
		wrong, certain := got.Message != "", got.Severity == finding.Invalid
		if wrong != c.wrong || certain != c.surely {
			t.Errorf("%s: %t, certain %t", name, wrong, certain)
		}
	}
}

// A mean is at least what the I/Os above a percentile add up to.
func TestMeansAndPercentiles(t *testing.T) {
	with := func(mean, p float64, v time.Duration, n uint64) func(*result.Result) {
		return func(r *result.Result) {
			r.Jobs[0].Read.Clat.Mean, r.Jobs[0].Read.N = mean, n
			r.Jobs[0].Read.Clat.Percentiles = []fio.Percentile{{P: p, Value: v}}
		}
	}
	for name, c := range map[string]struct {
		how  func(*result.Result)
		want bool
	}{
		"half of the median":    {with(1e6, 50, 2*ms, 5000), false},
		"a width of a bin less": {with(0.95e6, 50, 2*ms, 5000), false},
		"less than that":        {with(0.949e6, 50, 2*ms, 5000), true},
		"a hundredth above p99": {with(1e6, 99, 100*ms, 5000), false},
		"p99 is too large":      {with(1e6, 99, 106*ms, 5000), true},
		"beyond p99 nothing is": {with(1e6, 99.5, 900*ms, 5000), false},
		"nor below p1":          {with(1e6, 0.5, 900*ms, 5000), false},
		"p1":                    {with(1e6, 1, 900*ms, 5000), true},
		"too few":               {with(1e3, 50, 2*ms, diagnose.EnoughReads-1), false},
		"enough":                {with(1e3, 50, 2*ms, diagnose.EnoughReads), true},
		"no mean":               {with(0, 50, 2*ms, 5000), false},
	} {
		if got := meanOff(imported(c.how)).Message != ""; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Fio's samples are relied on where they add up to the I/Os, of one job that ran its time.
func TestSamplesThatCount(t *testing.T) {
	for name, c := range map[string]struct {
		how  func(*result.Result)
		want bool
	}{
		"one job":             {nil, true},
		"20 samples":          {func(r *result.Result) { r.Jobs[0].Read.IOPSSamples.N = 20; r.Jobs[0].Read.N = 10_000 }, true},
		"19 samples":          {func(r *result.Result) { r.Jobs[0].Read.IOPSSamples.N = 19; r.Jobs[0].Read.N = 9500 }, false},
		"a tenth more":        {func(r *result.Result) { r.Jobs[0].Read.N = 54_600 }, true},
		"more than that":      {func(r *result.Result) { r.Jobs[0].Read.N = 54_500 }, false},
		"a tenth less":        {func(r *result.Result) { r.Jobs[0].Read.N = 66_600 }, true},
		"less than that":      {func(r *result.Result) { r.Jobs[0].Read.N = 66_700 }, false},
		"below the least":     {func(r *result.Result) { r.Jobs[0].Read.IOPSSamples.Min = 1000.1 }, false},
		"at the least":        {func(r *result.Result) { r.Jobs[0].Read.IOPSSamples.Min = 1000 }, true},
		"at the most":         {func(r *result.Result) { r.Jobs[0].Read.IOPSSamples.Max = 1000 }, true},
		"above the most":      {func(r *result.Result) { r.Jobs[0].Read.IOPSSamples.Max = 999 }, false},
		"two jobs":            {func(r *result.Result) { r.Jobs = append(r.Jobs, r.Jobs[0]) }, false},
		"a group":             {func(r *result.Result) { r.Jobs[0].Count = 2 }, false},
		"a group not counted": {func(r *result.Result) { r.Jobs[0].Count, r.Workloads[0].Jobs = 0, 2 }, false},
		"by its runtimes":     {func(r *result.Result) { r.Jobs[0].Count, r.Jobs[0].TotalRuntime = 0, 91*time.Second }, false},
		"one and a half":      {func(r *result.Result) { r.Jobs[0].Count, r.Jobs[0].TotalRuntime = 0, 90*time.Second }, true},
		"it has seconds":      {func(r *result.Result) { r.Seconds = []result.Second{{}} }, false},
		"it failed":           {func(r *result.Result) { r.Jobs[0].Error = 5 }, false},
		"it was paced":        {func(r *result.Result) { r.Paced = true }, false},
		"mostly writes":       {func(r *result.Result) { r.Jobs[0].Write.N = 60_001 }, false},
		"as many writes":      {func(r *result.Result) { r.Jobs[0].Write.N = 60_000 }, true},
	} {
		d, halves, got := samples(imported(c.how), sampleCheck)
		if got != c.want || got && (halves != 120 || d.IOPS != 1000) {
			t.Errorf("%s: %t, %v half seconds", name, got, halves)
		}
	}
	if n := inJobs(diagnose.Measurement{Result: &result.Result{Workloads: []fio.Workload{{Jobs: 4}, {}, {Jobs: 2}}}}); n != 7 {
		t.Errorf("%d jobs, want 7", n)
	}
}

// Half seconds without an I/O: four at least, missing in the mean of the run too.
func TestGapsInSamples(t *testing.T) {
	missing := func(n int, iops float64) func(*result.Result) {
		return func(r *result.Result) {
			d := &r.Jobs[0].Read
			d.IOPSSamples.N, d.N, d.IOPS, d.Clat.Max = uint64(120-n), uint64(iops*60), units.IOPS(iops), 0
		}
	}
	for name, c := range map[string]struct {
		how  func(*result.Result)
		want bool
	}{
		"none":            {missing(0, 1000), false},
		"three":           {missing(3, 975), false},
		"four":            {missing(4, 967), true},
		"not in the mean": {missing(4, 1000), false},
		"half of it is":   {missing(4, 982), true},
		"less than half":  {missing(4, 984), false},
		"few I/Os each": {func(r *result.Result) {
			missing(4, 967)(r)
			s := &r.Jobs[0].Read
			s.IOPSSamples.Mean, s.IOPSSamples.Min, s.N, s.IOPS = 19.9, 1, 1155, 19.25
		}, false},
		"late completions": {func(r *result.Result) { missing(4, 967)(r); r.Jobs[0].Read.Clat.Mean = 250e6 + 1 }, false},
	} {
		if got := gaps(imported(c.how)).Message != ""; got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	// A stall of 2 s with one in flight needs I/Os whose waits fill half of that.
	for slow, want := range map[time.Duration]bool{0: true, 499 * ms: false, 600 * ms: false} {
		m := imported(nil)
		d := m.Jobs[0].Read
		d.Clat.Max = slow
		if got := couldStall(m, d, 2*time.Second); got != want && slow < sampleEvery {
			t.Errorf("the slowest took %v: %t", slow, got)
		}
	}
}

// How far samples spread, without the most extreme ones, and what chance makes of few I/Os.
func TestSpreadOfSamples(t *testing.T) {
	u := unevennessOf(fio.Samples{N: 100, Mean: 1000, Min: 500, Max: 3000, StdDev: 500}, 1)
	want := unevenness{all: 0.5, without: math.Sqrt(500*500-2000*2000/100.) / 1000, chance: 1 / math.Sqrt(500), burst: false}
	if math.Abs(u.all-want.all) > 1e-12 || math.Abs(u.without-want.without) > 1e-12 || math.Abs(u.chance-want.chance) > 1e-12 || u.burst {
		t.Errorf("%+v, want %+v", u, want)
	}
	if u := unevennessOf(fio.Samples{N: 100, Mean: 1000, Min: -2000, Max: 1500, StdDev: 500}, 3); u.without != 0 {
		t.Errorf("three as extreme below the mean: %+v", u)
	}
	if u := unevennessOf(fio.Samples{N: 20, Mean: 1000, Min: 900, Max: 2000, StdDev: 500}, 1); !u.burst {
		t.Errorf("a tenth of all in one sample of 20: %+v", u)
	}
	if u := unevennessOf(fio.Samples{N: 20, Mean: 1000, Min: 900, Max: 1999, StdDev: 500}, 1); u.burst {
		t.Errorf("less than a tenth: %+v", u)
	}
	for name, c := range map[string]struct {
		u    unevenness
		want bool
	}{
		"as far":             {unevenness{0.4, 0.3, 0.1, false}, true},
		"not as far":         {unevenness{0.399, 0.3, 0.1, false}, false},
		"by one sample":      {unevenness{0.4, 0.299, 0.1, false}, false},
		"by a burst":         {unevenness{0.4, 0, 0.1, true}, true},
		"as chance might":    {unevenness{0.4, 0.3, 0.4 / 1.5, false}, true},
		"no more than it":    {unevenness{0.4, 0.3, 0.267, false}, false},
		"a burst of no more": {unevenness{0.399, 0, 0.1, true}, false},
	} {
		if got := c.u.reaches(0.4, 0.3); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for mean, want := range map[float64]float64{1000: 0, 1100: 0, 800: math.Sqrt(0.25), 500: 1} {
		if got := lossSpread(fio.Samples{Mean: mean}, fio.Direction{IOPS: 1000}); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v of 1,000 sampled: %v, want %v", mean, got, want)
		}
	}
}

// Seconds without an I/O in mid-run: those before the first and after the last count nothing, nor do parts.
func TestSecondsWithoutAnIO(t *testing.T) {
	series := func(n ...int) []result.Second {
		var all []result.Second
		for i, v := range n {
			s := result.Second{At: time.Duration(i+1) * time.Second, Len: time.Second}
			if v < 0 { // half a second without one
				v, s.Len = 0, 899*ms
			}
			s.Read.N = uint64(v)
			all = append(all, s)
		}
		return all
	}
	for name, c := range map[string]struct {
		of           []result.Second
		all, longest int
		first        time.Duration
	}{
		"none":               {series(5, 5, 5), 0, 0, 0},
		"one":                {series(5, 0, 5), 1, 1, time.Second},
		"two and one":        {series(5, 0, 0, 5, 0, 5), 3, 2, time.Second},
		"one and two":        {series(5, 5, 0, 5, 0, 0, 5), 3, 2, 2 * time.Second},
		"before the first":   {series(0, 0, 5, 5), 0, 0, 0},
		"after the last":     {series(5, 5, 0, 0), 0, 0, 0},
		"a part of one":      {series(5, -1, 5), 0, 0, 0},
		"a part and a whole": {series(5, -1, 0, 5), 1, 1, 2 * time.Second},
	} {
		all, longest, first := zeros(c.of)
		if all != c.all || longest != c.longest || first != c.first {
			t.Errorf("%s: %d, %d, %v; want %d, %d, %v", name, all, longest, first, c.all, c.longest, c.first)
		}
	}
}

// A level at a sustained bound whose resource has a burst above it.
func TestLevelsOfSpentBursts(t *testing.T) {
	burst := ceiling.Bound{Kind: ceiling.VolumeIOPS, Name: "a", IOPS: 3000, Burst: true}
	low := ceiling.Bound{Kind: ceiling.VolumeIOPS, Name: "a", IOPS: 1000}
	other := ceiling.Bound{Kind: ceiling.InstanceIOPS, IOPS: 1000}
	for name, c := range map[string]struct {
		bounds []ceiling.Bound
		level  float64
		want   bool
	}{
		"at it":               {[]ceiling.Bound{low, burst}, 1000, true},
		"a tenth above":       {[]ceiling.Bound{low, burst}, 1099, true},
		"more":                {[]ceiling.Bound{low, burst}, 1101, false},
		"a tenth below":       {[]ceiling.Bound{low, burst}, 900, true},
		"less":                {[]ceiling.Bound{low, burst}, 899, false},
		"without a burst":     {[]ceiling.Bound{low}, 1000, false},
		"a burst of another":  {[]ceiling.Bound{other, burst}, 1000, false},
		"a burst no higher":   {[]ceiling.Bound{low, {Kind: ceiling.VolumeIOPS, Name: "a", IOPS: 1000, Burst: true}}, 1000, false},
		"at the burst itself": {[]ceiling.Bound{low, burst}, 3000, false},
		"of nothing":          {[]ceiling.Bound{{Kind: ceiling.VolumeIOPS, Name: "a"}, burst}, 0, false},
	} {
		b, got := dryBound(&ceiling.Ceiling{Bounds: c.bounds}, c.level)
		if got != c.want || got && b.IOPS != 1000 {
			t.Errorf("%s: %v, %t", name, b.IOPS, got)
		}
	}
}

// Changes of level of at least 15 %, the largest first.
func TestStepsOfARate(t *testing.T) {
	of := func(levels ...int) *result.Result {
		r := &result.Result{}
		for _, level := range levels {
			for k := range 20 {
				n := len(r.Seconds)
				s := result.Second{At: time.Duration(n+1) * time.Second, Len: time.Second}
				s.Read.N = uint64(level + k%2)
				r.Seconds = append(r.Seconds, s)
			}
		}
		return r
	}
	if got := steps(of(1000, 1140)); len(got) != 0 {
		t.Errorf("12 %%: %+v", got)
	}
	if got := steps(of(1000, 1200)); len(got) != 1 || got[0].at != 20*time.Second || got[0].before > 1001 || got[0].after < 1200 {
		t.Errorf("17 %%: %+v", got)
	}
	if got := steps(of(1000, 1300, 400)); len(got) != 2 || got[0].at != 40*time.Second || got[1].at != 20*time.Second {
		t.Errorf("the largest first: %+v", got)
	}
}
