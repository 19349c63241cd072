package compare

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// closedAt is a search's first scenario, of which so many I/Os a second were done in so long.
func closedAt(done float64, measured time.Duration, bounds ...ceiling.Bound) bundle.Scenario {
	h := &fio.Hist{}
	h.Add(time.Millisecond, 100)
	r := &result.Result{State: result.Done, Measured: measured}
	r.Total.Read = fio.Direction{N: 100, IOPS: units.IOPS(done), Clat: fio.Latency{N: 100, Hist: h}}
	s := bundle.Scenario{Scenario: searchBase(), Result: r}
	if len(bounds) > 0 {
		s.Ceiling = &ceiling.Ceiling{Bounds: bounds}
	}
	return s
}

func searchFor(t *testing.T, threshold string) MostSearch {
	t.Helper()
	m, err := NewMostSearch(searchBase(), threshold, 1)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A search goes from 5 % of what the storage can do to 2 % above it, whole numbers of at least one, and
// begins in the middle: the geometric one where the end is more than twice the beginning.
func TestWhereASearchBegins(t *testing.T) {
	volumes := func(n units.IOPS) ceiling.Bound { return ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: n} }
	for name, c := range map[string]struct {
		first   bundle.Scenario
		invalid bool
		next    float64
	}{
		"what was done":          {closedAt(10000, time.Minute), false, 2258}, // √(500 × 10,200) = 2,258.3
		"a ceiling above":        {closedAt(10000, time.Minute, volumes(20000)), false, 4517},
		"a ceiling below":        {closedAt(10000, time.Minute, volumes(5000)), false, 2258},
		"rounded up":             {closedAt(50, time.Minute), false, 12}, // 2.5 is 3; √(3 × 51) = 12.4
		"its end, too":           {closedAt(45, time.Minute), false, 10}, // 2.25 is 2, 45.9 is 46; √92 = 9.6
		"from one on":            {closedAt(8, time.Minute), false, 3},   // 0.4 is 1, 8.16 is 9
		"not to be trusted":      {closedAt(10000, time.Minute), true, 0},
		"but a ceiling is known": {closedAt(10000, time.Minute, volumes(20000)), true, 4517},
	} {
		if c.invalid {
			c.first.Result.Invalidate("x")
		}
		if o := searchFor(t, "read.clat.p99 <= 2ms").outcome([]bundle.Scenario{c.first}); o.next != c.next {
			t.Errorf("%s: %v, want %v", name, o.next, c.next)
		}
	}
	waits := closedAt(1, 1)
	waits.Result = nil
	if o := searchFor(t, "read.clat.p99 <= 2ms").outcome([]bundle.Scenario{waits}); o.next != 0 || o.Closed != nil {
		t.Errorf("%+v", o)
	}
}

// A sustained figure stands beside a burst only: what the scenario's own depth allows does not limit an open load.
func TestWhatLastsOfASearchsCeiling(t *testing.T) {
	burst := ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 4000, Burst: true}
	lasts := ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 1000}
	depth := ceiling.Bound{Kind: ceiling.Concurrency, IOPS: 500}
	for name, c := range map[string]struct {
		bounds             []ceiling.Bound
		ceiling, sustained float64
	}{
		"a burst":               {[]ceiling.Bound{lasts, burst}, 4000, 1000},
		"no burst":              {[]ceiling.Bound{lasts}, 1000, 0},
		"a depth below it":      {[]ceiling.Bound{depth, lasts}, 1000, 0},
		"a burst, and a depth":  {[]ceiling.Bound{depth, lasts, burst}, 4000, 1000},
		"a depth, nothing else": {[]ceiling.Bound{depth}, 0, 0},
	} {
		o := searchFor(t, "read.clat.p99 <= 2ms").outcome([]bundle.Scenario{closedAt(400, time.Minute, c.bounds...)})
		if o.Ceiling != c.ceiling || o.Sustained != c.sustained {
			t.Errorf("%s: %v, of which %v last; want %v and %v", name, o.Ceiling, o.Sustained, c.ceiling, c.sustained)
		}
	}
	// The greatest of all ceilings is the storage's: with many I/Os in flight more volumes take part.
	b := &bundle.Bundle{Scenarios: []bundle.Scenario{closedAt(400, time.Minute)}}
	b.Run.Settings.Most, b.Run.Suite.Scenarios = "read.clat.p99 <= 2ms", []suite.Scenario{searchBase()}
	b.Run.Ceilings = map[int]ceiling.Ceiling{3: {Bounds: []ceiling.Bound{lasts}}, 4: {Bounds: []ceiling.Bound{{Kind: ceiling.VolumeIOPS, IOPS: 9000}}}, 5: {}}
	if o, err := FindMost(b); err != nil || o.Ceiling != 9000 {
		t.Errorf("%+v %v", o, err)
	}
	b.Run.Settings.Most = "nonsense"
	if _, err := FindMost(b); err == nil || !strings.Contains(err.Error(), "want METRIC < VALUE") {
		t.Error(err)
	}
}

// The scenarios of a search: numbered on, ten seconds each or what was asked for, at least two before,
// and the whole time for the check.
func TestScenariosOfASearch(t *testing.T) {
	for _, c := range []struct{ asked, want time.Duration }{{time.Minute, 10 * time.Second}, {5 * time.Second, 5 * time.Second}} {
		m := searchFor(t, "read.clat.p99 <= 2ms")
		m.Base.Runtime, m.Base.Ramp = c.asked, time.Second
		first, ok := m.Next(nil)
		if !ok || first.ID != 1 || first.Runtime != c.want || first.Ramp != time.Second || first.Phase != "search" || first.Name != "reads" {
			t.Errorf("%+v", first)
		}
		second, ok := m.Next([]bundle.Scenario{closedAt(10000, time.Minute)})
		if !ok || second.ID != 2 || second.Runtime != c.want || second.Ramp != 2*time.Second || second.Name != "reads@rate=2258" {
			t.Errorf("%+v", second)
		}
		m.Base.Ramp = 3 * time.Second
		if longer, _ := m.Next([]bundle.Scenario{closedAt(10000, time.Minute)}); longer.Ramp != 3*time.Second {
			t.Errorf("%+v", longer)
		}
	}
	// All threads together ask for what the job says, in both directions; a scenario of its own depth asks for nothing.
	s := searchBase()
	if asked, streams := askedOf(s); asked != 0 || streams != 0 {
		t.Errorf("%v %v", asked, streams)
	}
	s.Job = WithOptions(s.Job, map[string]string{"rate_process": "poisson", "numjobs": "4", "rate_iops": "100,50"})
	if asked, streams := askedOf(s); asked != 600 || streams != 4 {
		t.Errorf("%v %v", asked, streams)
	}
	// The arrivals of less than a second count as those of one: 10,000 less 2 % and twice the root of 10,000.
	m := searchFor(t, "read.clat.p99 <= 5ms")
	s.Job = WithOptions(s.Job, map[string]string{"numjobs": "100", "rate_iops": "100,0"})
	for done, want := range map[float64]string{9599: ProbeBehind, 9601: ProbeMet} {
		one := closedAt(done, 250*time.Millisecond)
		one.Scenario = s
		if p := m.probe(&one); p.Outcome != want {
			t.Errorf("%v done: %+v, want %s", done, p, want)
		}
	}
	// What a probe of no use says.
	stopped, silent := closedAt(9, time.Minute), closedAt(9, time.Minute)
	stopped.Result.State, stopped.Result.Reasons = result.Interrupted, []string{"a", "b"}
	silent.Result.Total.Read.Clat = fio.Latency{}
	for want, one := range map[string]bundle.Scenario{"a; b": stopped, "read.clat.p99 was not recorded": silent} {
		if p := m.probe(&one); p.Outcome != ProbeInvalid || p.Reason != want || p.Latency != 0 || p.Achieved != 9 {
			t.Errorf("%+v, want %q", p, want)
		}
	}
}

// All I/Os take T; half find their thread busy, and the waits' mean is 1 ms. The share that takes longer
// than t from when it was due is then 0.5 exp(-(t-T) × 0.5 / 1 ms): one in a hundred at T + 2 ms × ln 50.
func TestDueByHand(t *testing.T) {
	hist := func(at time.Duration, n uint64) fio.Direction {
		h := &fio.Hist{}
		h.Add(at, n)
		return fio.Direction{N: n, Clat: fio.Latency{N: n, Hist: h}}
	}
	bin := func(at time.Duration) float64 {
		var v float64
		hist(at, 1).Clat.Hist.Each(func(bin int, _ uint64) { v = float64(bins.Value(bin)) })
		return v
	}
	fast, slow := bin(time.Millisecond), bin(50*time.Millisecond)
	r := &result.Result{Measured: time.Minute}
	r.Total.Read, r.Total.Write = hist(time.Millisecond, 100), hist(50*time.Millisecond, 100)
	metric := func(side suite.Side, s suite.Statistic) suite.Metric {
		return suite.Metric{Side: side, Quantity: suite.Clat, Statistic: s}
	}
	for name, c := range map[string]struct {
		p    MostProbe
		m    suite.Metric
		want float64
	}{
		"reads":             {MostProbe{Streams: 4, Busy: 0.5, Lag: 1e6, Latency: fast}, metric(suite.ReadSide, "p99"), fast + 2e6*math.Log(50)},
		"reads, p99.9":      {MostProbe{Streams: 4, Busy: 0.5, Lag: 1e6, Latency: fast}, metric(suite.ReadSide, "p99.9"), fast + 2e6*math.Log(500)},
		"writes":            {MostProbe{Streams: 4, Busy: 0.5, Lag: 1e6, Latency: slow}, metric(suite.WriteSide, "p99"), slow + 2e6*math.Log(50)},
		"seldom busy":       {MostProbe{Streams: 4, Busy: 0.009, Lag: 1e6, Latency: fast}, metric(suite.ReadSide, "p99"), fast},
		"no wait":           {MostProbe{Streams: 4, Busy: 0.5, Latency: fast}, metric(suite.ReadSide, "p99"), fast},
		"both, of the slow": {MostProbe{Streams: 4, Busy: 0.5, Lag: 1e6, Latency: slow}, metric(suite.TotalSide, "p99"), slow + 2e6*math.Log(25)}, // half of all
		"the mean":          {MostProbe{Streams: 4, Busy: 0.5, Lag: 1e6, Latency: 3e6}, metric(suite.ReadSide, suite.Mean), 4e6},
		"the most":          {MostProbe{Streams: 4, Busy: 0.5, Lag: 1e6, Latency: 3e6}, metric(suite.ReadSide, suite.Max), 3e6},
		"nothing recorded":  {MostProbe{Streams: 4, Busy: 0.5, Lag: 1e6, Latency: 3e6}, metric(suite.TrimSide, "p99"), 4e6},
		"all busy":          {MostProbe{Streams: 4, Busy: 1, Lag: 1e6, Latency: 3e6}, metric(suite.ReadSide, "p99"), 3e6 + 60e9},
		"never busy":        {MostProbe{Streams: 4, Lag: 1e6, Latency: 3e6}, metric(suite.ReadSide, suite.Mean), 3e6},
	} {
		if got := c.p.fromDue(c.m, r); math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("%s: %.0f ns, want %.0f", name, got, c.want)
		}
	}
}

// What a suite says is the main figure, in its unit and direction; none where it says nothing that is one.
func TestFiguresThatSuitesState(t *testing.T) {
	r := &result.Result{State: result.Done, Total: fio.Job{Write: fio.Direction{
		N: 1, IOPS: 30, BW: 300, Clat: fio.Latency{N: 1, Mean: 31, Percentiles: []fio.Percentile{{P: 99, Value: 40}}},
	}}}
	for main, want := range map[string]struct {
		v     float64
		unit  Unit
		lower bool
	}{
		"write.iops": {30, PerSecond, false}, "write.bw": {300, BytesPerSec, false}, "write.clat.mean": {31, Nanoseconds, true},
		"p99": {40, Nanoseconds, true}, "read.iops": {math.NaN(), PerSecond, false}, "tps": {math.NaN(), PerSecond, false},
	} {
		f, ok := stated(main)
		v := f.of(r)
		if !ok || f.Unit != want.unit || f.Lower != want.lower || v != want.v && !(math.IsNaN(v) && math.IsNaN(want.v)) {
			t.Errorf("%s: %v %+v %v", main, ok, f, v)
		}
	}
	for _, main := range []string{"", "speed"} {
		if f, ok := stated(main); ok {
			t.Errorf("%q: %+v", main, f)
		}
	}
	if f := mainFigure(&bundle.Scenario{}); f.Name != "IOPS" { // of one that was not measured
		t.Errorf("%+v", f)
	}
	// Of a percentile the seconds say how well it is known: each figure by its own direction, without the ramp.
	second := func(ramp bool, factor time.Duration) result.Second {
		hist := func(at time.Duration) *fio.Hist { h := &fio.Hist{}; h.Add(factor*at, 100); return h }
		return result.Second{
			Ramp: ramp, Read: result.Interval{Hist: hist(time.Millisecond)}, Write: result.Interval{Hist: hist(2 * time.Millisecond)}, Sync: hist(4 * time.Millisecond),
		}
	}
	r.Seconds = []result.Second{second(true, 100), second(false, 1), {}, second(true, 100), second(true, 100)}
	for i, want := range []float64{1e6, 1e6, 2e6, 2e6, 4e6, 4e6} {
		f := latencyFigures()[i]
		if got := f.quantileOf(r).Center; math.Abs(got/want-1) > 0.01 { // fio's bins are within 1 %
			t.Errorf("%s: %v, want %v", f.Name, got, want)
		}
		if quantile := []float64{0.5, 0.99}[i%2]; f.q != quantile {
			t.Errorf("%s: %v", f.Name, f.q)
		}
	}
	if e := latencyFigures()[3].estimate(r); e.Center != 40 || e.Lo != 40 || e.Hi != 40 {
		t.Errorf("two seconds make no interval: %+v", e)
	}
}

// Baselines: what a run lacks, and how far earlier runs are believed: to 3 %, or to the half width of the
// figure itself where that is more.
func TestBaselinesByHand(t *testing.T) {
	var runs []*bundle.Bundle
	for n := range 6 {
		runs = append(runs, inMemory(n, 1000))
	}
	for half, floor := range map[float64]float64{0: 0.03, 10: 0.03, 100: 0.1} {
		now := inMemory(7, 1000)
		if half > 0 {
			now.Scenarios[0].Result.IOPS = stats.Estimate{Center: 1000, Lo: 1000 - half, Hi: 1000 + half, N: 60}
		}
		j := AgainstRuns(now, runs, 10).Rows[0]
		if math.Abs(j.Expected.Lo-1000/(1+floor)) > 1e-9 || math.Abs(j.Expected.Hi-1000*(1+floor)) > 1e-9 || j.Standing != AsExpected || j.Rounds != 1 {
			t.Errorf("known to %v: %+v, want 1000 and %v to either side", half, j.Expected, floor)
		}
	}
	for _, b := range runs {
		b.Scenarios[0].Result.State = result.Invalid
	}
	if j := AgainstRuns(inMemory(7, 1000), runs, 10).Rows[0]; j.Why != "too few runs to judge (0 of 5)" || j.Standing != Unjudged || j.Earlier != 0 {
		t.Errorf("%+v", j)
	}
	stopped := inMemory(7, 1000)
	stopped.Run.State, stopped.Scenarios[0].Result = bundle.Interrupted, nil
	a := AgainstRuns(stopped, nil, 10)
	want := []string{
		"the run (run-007 is " + string(bundle.Interrupted) + ": 1 of 1 scenarios are missing)", "the run (run-007 measured nothing)",
	}
	if got := a.Judge(Gate{Regression: true}).Unjudged; !slices.Equal(got, want) || a.Baseline != "the last 10 runs" {
		t.Errorf("%q", got)
	}
}

// A table's figures by the scenario's name or number, each with its own tolerance: 1,000 ± 5 % and ± 20 %.
func TestTableOfFiguresByHand(t *testing.T) {
	e, err := ParseExpectations("t.yaml", []byte("name: t\nsource: a page\nfigures:\n"+
		"- {scenario: w, figure: iops, value: \"1,000\"}\n- {scenario: \"8\", figure: iops, value: 1000, tolerance: 20%}\n"+
		"- {scenario: v, figure: iops, value: 1000}\n- {scenario: w, figure: write.p99, value: 1ms}\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := AgainstTable(inMemory(1, 940), e)
	for i, want := range []struct {
		lo, hi   float64
		standing Standing
		why      string
	}{
		{950, 1050, Regression, "one run"}, {800, 1200, AsExpected, "one run"}, {950, 1050, Unjudged, "not measured in this run"}, {0.95e6, 1.05e6, Unjudged, "no write p99 was measured"},
	} {
		j := a.Rows[i]
		if math.Abs(j.Expected.Lo-want.lo) > 1e-6 || math.Abs(j.Expected.Hi-want.hi) > 1e-6 || j.Standing != want.standing || j.Why != want.why {
			t.Errorf("%d: %+v, want %+v", i, j, want)
		}
	}
	if _, err := ReadExpectations(t.TempDir()); err == nil || strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a directory is no table: %v", err)
	}
	if len(a.Rows) != 4 || a.Baseline != "t" || !slices.Equal(a.Notes, []string{"t: a page"}) {
		t.Errorf("%+v", a)
	}
}

// A row is tested by the latency of the direction that does most, where all rounds that count were paced,
// met their rates and have it.
func TestPacedRowsByHand(t *testing.T) {
	latency := fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 50, Value: 5}, {P: 99, Value: 9}}}
	sample := func(read, write units.IOPS, change func(*Sample)) Sample {
		r := &result.Result{Workloads: []fio.Workload{{ReadShare: 0.5, ReadBS: 4096, WriteBS: 4096, ReadIOPS: read, WriteIOPS: write}}}
		r.Total.Read, r.Total.Write = fio.Direction{N: 1, IOPS: read, Clat: latency}, fio.Direction{N: 1, IOPS: write, Clat: latency}
		s := Sample{Result: r}
		change(&s)
		return s
	}
	none := func(*Sample) {}
	for name, c := range map[string]struct {
		samples []Sample
		stated  bool
		want    string
	}{
		"reads":                 {[]Sample{sample(60, 40, none)}, false, "read p99"},
		"writes":                {[]Sample{sample(40, 60, none)}, false, "write p99"},
		"as many":               {[]Sample{sample(50, 50, none)}, false, "read p99"},
		"more by a half":        {[]Sample{sample(50, 50.5, none)}, false, "write p99"},
		"of all rounds":         {[]Sample{sample(60, 40, none), sample(10, 90, none)}, false, "write p99"},
		"of both, not the last": {[]Sample{sample(40, 60, none), sample(60, 50, none)}, false, "write p99"},
		"a figure is stated":    {[]Sample{sample(60, 40, none)}, true, "IOPS"},
		"one behind":            {[]Sample{sample(60, 40, none), sample(60, 40, func(s *Sample) { s.Result.Total.Read.IOPS = 1 })}, false, "IOPS"},
		"which is invalid":      {[]Sample{sample(60, 40, none), sample(60, 40, func(s *Sample) { s.Result.Total.Read.IOPS, s.Invalid = 1, "x" })}, false, "read p99"},
		"all invalid":           {[]Sample{sample(60, 40, func(s *Sample) { s.Invalid = "x" })}, false, "IOPS"},
		"no latency":            {[]Sample{sample(60, 40, none), sample(60, 40, func(s *Sample) { s.Result.Total.Read.Clat = fio.Latency{} })}, false, "IOPS"},
		"none of an invalid":    {[]Sample{sample(60, 40, none), sample(60, 40, func(s *Sample) { s.Result.Total.Read.Clat, s.Invalid = fio.Latency{}, "x" })}, false, "read p99"},
	} {
		r := Row{Figure: iops(), stated: c.stated, Cells: []Cell{{all: c.samples[:1]}, {all: c.samples[1:]}}}
		if r.pace(); r.Figure.Name != c.want {
			t.Errorf("%s: %s, want %s", name, r.Figure.Name, c.want)
		}
	}
}

// Rounds of one run keep their numbers, those of several are counted through; by name, works may differ.
func TestRoundsOfSides(t *testing.T) {
	b := inMemory(1, 1000)
	s := &b.Scenarios[0]
	for _, n := range []int{1, 3} {
		r := *s.Result
		s.Rounds = append(s.Rounds, bundle.Round{Number: n, Result: &r})
	}
	numbers := func(side Side) (all []int) {
		for _, x := range side.Samples {
			all = append(all, x.Round)
		}
		return all
	}
	if got := numbers(SideOf("one", b)); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("%v", got)
	}
	if got := numbers(SideOf("two", inMemory(2, 1), b)); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("%v", got)
	}
	one, two := inMemory(1, 1000), inMemory(2, 1000)
	two.Scenarios[0].Result = resultOf(randwrite("w", 65536, 1000), began)
	if table := compared(t, Options{}, SideOf("a", one), SideOf("b", two)); len(table.Rows) != 0 || len(table.Apart) != 1 ||
		!strings.Contains(table.Apart[0], "block size: 8 KiB and 64 KiB") {
		t.Errorf("%+v %q", table.Rows, table.Apart)
	}
	if table := compared(t, Options{ByName: true}, SideOf("a", one), SideOf("b", two)); len(table.Rows) != 1 {
		t.Errorf("%+v", table.Rows)
	}
	two.Scenarios[0].Name = "v"
	if table := compared(t, Options{ByName: true}, SideOf("a", one), SideOf("b", two)); len(table.Rows) != 0 || len(table.Apart) != 2 {
		t.Errorf("%+v %q", table.Rows, table.Apart)
	}
	if _, err := New([]Side{{Name: "a"}, {Name: "b"}}, Options{}); err == nil || !strings.Contains(err.Error(), "nothing was measured") {
		t.Error(err)
	}
	// A label that some results lack.
	one.Run.Labels = map[string]string{"disk": "a"}
	sides, without, err := GroupBy("disk", one, two)
	if err != nil || len(sides) != 1 || without != 1 {
		t.Errorf("%v %d %v", sides, without, err)
	}
}

// Words of the command line: labels, one run, a directory by a label, an A/B measurement, and what is noted.
func TestWordsThatAreLoaded(t *testing.T) {
	dir := t.TempDir()
	one := run(t, dir, 0, map[string]string{"k": "a"}, randwrite("fast", 8192, 2000), randwrite("slow", 8192, 1000))
	run(t, dir, 1, nil, randwrite("fast", 8192, 2000))
	broken := filepath.Join(dir, "broken")
	if err := os.Mkdir(broken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "run.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Load([]string{one.Dir}, Source{})
	if err != nil || len(l.Sides) != 2 || l.Base != "slow" || l.Sides[0].Name != "fast" {
		t.Errorf("%+v %v", l, err)
	}
	l, err = Load([]string{dir}, Source{By: "k"})
	if err != nil || len(l.Sides) != 1 || !slices.Contains(l.Notes, `1 results carry no label "k" and are left out`) {
		t.Errorf("%+v %v", l, err)
	}
	l, err = Load([]string{one.Dir}, Source{By: ByScenario})
	if err != nil || l.Base != "slow" || len(l.Notes) != 0 {
		t.Errorf("%+v %v", l, err)
	}
	runs, notes, err := OpenAll(dir)
	if err != nil || len(runs) != 2 || len(notes) != 1 || !strings.HasPrefix(notes[0], "broken cannot be read: ") {
		t.Errorf("%d %q %v", len(runs), notes, err)
	}
	if _, _, err := OpenAll(dir + "/none"); err == nil || err.Error() != dir+"/none does not exist" {
		t.Error(err)
	}
	doubtful := Loaded{}
	doubtful.doubt(&bundle.Bundle{Run: bundle.Run{ID: "r", State: bundle.Interrupted}})
	doubtful.doubt(one)
	if len(doubtful.Notes) != 1 || !strings.HasPrefix(doubtful.Notes[0], "r is ") {
		t.Errorf("%q", doubtful.Notes)
	}
	ab := t.TempDir()
	at, err := sys.OpenDir(ab)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close() //nolint:errcheck // only a handle
	if err := WriteAB(at, AB{Schema: 1, Variants: []string{"x", "y"}, Rounds: 1, Seed: 7, Margin: 0.03}); err != nil {
		t.Fatal(err)
	}
	for n, variant := range []string{"x", "y"} {
		run(t, ab, n, map[string]string{LabelVariant: variant, LabelRound: "1"}, randwrite("w", 8192, 1000))
	}
	if l, err = Load([]string{ab}, Source{}); err != nil || !l.Paired || len(l.Sides) != 2 || l.Sides[1].Name != "y" {
		t.Errorf("%+v %v", l, err)
	}
	if l, err = Load([]string{ab, dir}, Source{}); err != nil || l.Paired || len(l.Sides) != 2 || l.Sides[0].Name != filepath.Base(ab) {
		t.Errorf("%+v %v", l, err)
	}
}

// A curve's points are within fixed values of what else was varied; a sweep of one thing has none.
func TestCurvesOfASweep(t *testing.T) {
	point := func(depth int, at map[string]string) SweptPoint {
		return SweptPoint{At: at, InFlight: depth, IOPS: stats.Estimate{Center: float64(100 * min(depth, 8))}, Ceiling: 800}
	}
	var s Swept
	for _, bs := range []string{"4k", "8k"} {
		for _, depth := range []int{1, 2, 4, 8, 16} {
			s.Points = append(s.Points, point(depth, map[string]string{"bs": bs, "iodepth": fmt.Sprint(depth), "numjobs": "1"}))
		}
	}
	s.curves()
	if len(s.Curves) != 2 || !maps.Equal(s.Curves[0].At, map[string]string{"bs": "4k"}) || !maps.Equal(s.Curves[1].At, map[string]string{"bs": "8k"}) {
		t.Fatalf("%+v", s.Curves)
	}
	// One I/O takes 1/100 s, so 800 a second need 8 in flight.
	if c := s.Curves[0]; c.Deepest.InFlight != 16 || c.Knee.InFlight != 8 || math.Abs(c.Predicted-8) > 0.5 {
		t.Errorf("%+v", c)
	}
	// What is in flight is what the job says, and what was asked for where no job is known.
	b := inMemory(1, 1000)
	b.Scenarios[0].Result.Workloads, b.Scenarios[0].Result.Depth.Asked = nil, 8
	if p := Sweep(b).Points[0]; p.InFlight != 8 {
		t.Errorf("%+v", p)
	}
	alone := Swept{Points: []SweptPoint{point(1, map[string]string{"bs": "4k"}), point(1, map[string]string{"bs": "8k"})}}
	if alone.curves(); alone.Curves != nil {
		t.Errorf("%+v", alone.Curves)
	}
}

// Of works that are known what only one has is a difference, also parts and loads.
func TestPartsThatDiffer(t *testing.T) {
	known := Work{Engine: "libaio", BS: 4096, Jobs: 1}
	for name, c := range map[string]struct {
		change func(*Work)
		want   string
	}{
		"nothing":  {func(*Work) {}, ""},
		"parts":    {func(w *Work) { w.Parts = "4 KiB reads" }, "parts: none and 4 KiB reads"},
		"a load":   {func(w *Work) { w.Load = "at most 5 IOPS per job" }, "load: none and at most 5 IOPS per job"},
		"a byte":   {func(w *Work) { w.BS = 1 }, "block size: 4 KiB and 1 B"},
		"no depth": {func(w *Work) { w.Depth = 4 }, ""}, // which may be known of one alone
		"figures":  {func(w *Work) { *w = Work{BS: 4096, Load: "x"} }, ""},
	} {
		other := known
		c.change(&other)
		if got := strings.Join(known.Differences(other), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
