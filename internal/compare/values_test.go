package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// A loss of 5 % must be certain: of IOPS the whole interval is at most 0.95, of a latency at least
// 1.05. Its centre does not decide, nor does its better end.
func TestRegressedByTheWorseEndOfTheInterval(t *testing.T) {
	for _, c := range []struct {
		lo, center, hi float64
		word           Word
		by             float64
		lower, want    bool
	}{
		{0.80, 0.90, 0.95, Slower, 0.05, false, true},
		{0.80, 0.90, 0.951, Slower, 0.05, false, false}, // the centre is below, and the interval reaches above
		{0.80, 0.90, 0.99, Slower, 0, false, true},
		{0.80, 0.90, 1.01, CannotTell, 0, false, false},
		{0.80, 0.90, 0.94, Faster, 0.05, false, false},
		{1.05, 1.10, 1.20, Slower, 0.05, true, true},
		{1.04, 1.10, 1.20, Slower, 0.05, true, false},
		{1.01, 1.10, 1.20, Slower, 0, true, true},
		{0.80, 0.90, 0.95, Slower, 0.05, true, false},
	} {
		change := Change{Word: c.word}
		change.Ratio = stats.Estimate{Center: c.center, Lo: c.lo, Hi: c.hi, N: 5}
		if got := change.regressed(c.by, c.lower); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A loss that is not excluded: of IOPS the low end is below what may be lost, of a latency the high
// end above; without a size the margin is it.
func TestMayHaveLostByTheWorseEnd(t *testing.T) {
	for _, c := range []struct {
		lo, hi, by  float64
		lower, want bool
	}{
		{0.94, 1.2, 0.05, false, true},
		{0.95, 1.2, 0.05, false, false},
		{0.96, 1.2, 0, false, true}, // margin 3 %
		{0.97, 1.2, 0, false, false},
		{0.5, 1.05, 0.05, true, false},
		{0.5, 1.051, 0.05, true, true},
		{0.5, 1.031, 0, true, true},
		{0.5, 1.03, 0, true, false},
	} {
		change := Change{}
		change.Ratio = stats.Estimate{Center: 1, Lo: c.lo, Hi: c.hi, N: 5}
		if got := change.mayHaveLost(c.by, 0.03, c.lower); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// Both gates through a table of made-up cells, and what each says.
func TestGatesOfATable(t *testing.T) {
	cell := func(lo, center, hi float64, word Word) Cell {
		c := &Change{Word: word}
		c.Method, c.Ratio = stats.WelchT, stats.Estimate{Center: center, Lo: lo, Hi: hi, N: 5}
		return Cell{Change: c}
	}
	table := func(c Cell, lower bool) *Table {
		return &Table{
			Margin: 0.03, Sides: []Column{{Name: "a"}, {Name: "b"}},
			Rows: []Row{{Name: "w", Figure: Figure{Name: "x", Lower: lower}, Cells: []Cell{{}, c}}},
		}
	}
	for name, c := range map[string]struct {
		table *Table
		gate  Gate
		want  string
	}{
		"certain":                        {table(cell(0.80, 0.90, 0.94, Slower), false), Gate{Regression: true, By: 0.05}, "w in b is slower: -10.0 % [-20.0, -6.0]"},
		"in the centre only":             {table(cell(0.80, 0.90, 0.97, Slower), false), Gate{Regression: true, By: 0.05}, ""},
		"a latency":                      {table(cell(1.06, 1.10, 1.20, Slower), true), Gate{Regression: true, By: 0.05}, "w in b is slower: +10.0 % [+6.0, +20.0]"},
		"a latency, its low end is less": {table(cell(1.04, 1.10, 1.20, Slower), true), Gate{Regression: true, By: 0.05}, ""},
		"not excluded":                   {table(cell(0.94, 1.00, 1.06, CannotTell), false), Gate{CannotTell: true, By: 0.05}, "w in b may be slower: these rounds cannot tell"},
		"excluded":                       {table(cell(0.95, 1.00, 1.06, CannotTell), false), Gate{CannotTell: true, By: 0.05}, ""},
		"not asked":                      {table(cell(0.80, 0.90, 0.94, Slower), false), Gate{}, ""},
		"of the base":                    {&Table{Base: 1, Sides: []Column{{Name: "a"}, {Name: "b"}}, Rows: []Row{{Cells: []Cell{cell(0.97, 0.98, 0.99, Same), cell(0.1, 0.2, 0.3, Slower)}}}}, Gate{Regression: true}, ""},
	} {
		if got := strings.Join(c.table.Judge(c.gate).Failed, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	missing := &Table{missing: []string{"m"}, Apart: []string{"x", "m"}, Sides: []Column{{}, {}}}
	if got := missing.Judge(Gate{Regression: true}); !slices.Equal(got.Unjudged, []string{"m", "x"}) {
		t.Errorf("%+v", got)
	}
	if got := missing.Judge(Gate{CannotTell: true}); !slices.Equal(got.Failed, []string{"cannot be judged: m", "cannot be judged: x"}) || got.Unjudged != nil {
		t.Errorf("%+v", got)
	}
}

func TestFitness(t *testing.T) {
	of := func(n float64) *result.Result {
		return &result.Result{Total: fio.Job{Read: fio.Direction{N: 1, IOPS: units.IOPS(n)}}}
	}
	valid, zero := Sample{Result: of(5)}, Sample{Result: of(0)}
	invalid, stopped := Sample{Result: of(5), Invalid: "bad"}, Sample{Result: of(5), Invalid: "it was interrupted", Interrupted: true}
	for name, c := range map[string]struct {
		rounds []Sample
		want   unfit
		why    string
	}{
		"nothing":               {nil, unfitMissing, "not measured"},
		"one is enough":         {[]Sample{invalid, stopped, valid}, fit, ""},
		"no figure":             {[]Sample{zero}, unfitMissing, "no IOPS was measured"},
		"no figure, then bad":   {[]Sample{zero, invalid}, unfitInvalid, "INVALID: bad"},
		"bad, then no figure":   {[]Sample{stopped, zero}, unfitInterrupted, "it was interrupted"},
		"invalid":               {[]Sample{invalid}, unfitInvalid, "INVALID: bad"},
		"stopped":               {[]Sample{stopped}, unfitInterrupted, "it was interrupted"},
		"invalid, then stopped": {[]Sample{invalid, stopped}, unfitInvalid, "INVALID: bad"},
		"stopped, then invalid": {[]Sample{stopped, invalid}, unfitInvalid, "INVALID: bad"},
	} {
		if u, why := fitness(iops(), c.rounds); u != c.want || why != c.why {
			t.Errorf("%s: %v %q", name, u, why)
		}
	}
	var o Outcome
	o.add(unfitInvalid, "i")
	o.add(unfitMissing, "u")
	o.add(unfitInterrupted, "u")
	if !slices.Equal(o.Invalid, []string{"i"}) || !slices.Equal(o.Unjudged, []string{"u"}) {
		t.Errorf("%+v", o)
	}
}

// A run against its baseline: a fall by the size asked for, seen in the figure's own direction.
func TestGateOfABaseline(t *testing.T) {
	row := func(standing Standing, now float64, lower bool, least float64) Judgment {
		return Judgment{
			Scenario: "w", Figure: Figure{Name: "x", Lower: lower}, Standing: standing, LeastSeen: least, Why: "why",
			Now: stats.Estimate{Center: now}, Expected: stats.Estimate{Center: 100}, unfit: unfitMissing,
		}
	}
	for name, c := range map[string]struct {
		row  Judgment
		gate Gate
		want string
	}{
		"by more":            {row(Regression, 90, false, 0), Gate{Regression: true, By: 0.05}, "w is a regression: -10.0 %"},
		"by as much":         {row(Regression, 75, false, 0), Gate{Regression: true, By: 0.25}, "w is a regression: -25.0 %"},
		"by less":            {row(Regression, 90, false, 0), Gate{Regression: true, By: 0.20}, ""},
		"a latency":          {row(Regression, 150, true, 0), Gate{Regression: true, By: 0.5}, "w is a regression: +50.0 %"},
		"a latency, by less": {row(Regression, 110, true, 0), Gate{Regression: true, By: 0.5}, ""},
		"better":             {row(Better, 150, false, 0), Gate{Regression: true}, ""},
		"not judged":         {row(Unjudged, 150, false, 0), Gate{Regression: true}, "unjudged: w (why)"},
		"could not be seen":  {row(AsExpected, 100, false, 0.12), Gate{CannotTell: true, By: 0.1}, "w: a fall of 10 % could not have been seen, only one of 12.0 %"},
		"could be seen":      {row(AsExpected, 100, false, 0.10), Gate{CannotTell: true, By: 0.1}, ""},
		"blind":              {row(AsExpected, 100, false, 0.12), Gate{Regression: true, By: 0.1}, "unjudged: w: a fall of 10 % could not have been seen, only one of 12.0 %"},
		"sees":               {row(AsExpected, 100, false, 0.10), Gate{Regression: true, By: 0.1}, ""},
		"no size, blind":     {row(AsExpected, 100, false, 0.9), Gate{CannotTell: true}, "w: a fall of 10 % could not have been seen, only one of 90.0 %"},
		"no size, sees":      {row(AsExpected, 100, false, 0.1), Gate{CannotTell: true}, ""},
		"a fall, alone":      {row(Regression, 80, false, 0), Gate{CannotTell: true}, "w is a regression: -20.0 %"},
		"less, alone":        {row(Regression, 95, false, 0), Gate{CannotTell: true}, ""},
		"any size":           {row(AsExpected, 100, false, 0.9), Gate{Regression: true}, ""},
		"not asked":          {row(Regression, 10, false, 0.9), Gate{By: 0.1}, ""},
	} {
		got := (&Against{Rows: []Judgment{c.row}}).Judge(c.gate)
		text := strings.Join(got.Failed, "|")
		for _, u := range got.Unjudged {
			text += "unjudged: " + u
		}
		if text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
	if (Judgment{Now: stats.Estimate{Center: 5}}).Change() != 0 || row(Better, 150, false, 0).Change() != 0.5 {
		t.Error("change")
	}
}

func TestScenariosThatVanished(t *testing.T) {
	run := func(id string, day int, suite string, names ...string) *bundle.Bundle {
		b := &bundle.Bundle{Run: bundle.Run{ID: id, Created: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)}}
		b.Run.Suite.Name = suite
		for _, name := range names {
			s := bundle.Scenario{}
			s.Name = name
			b.Scenarios = append(b.Scenarios, s)
		}
		return b
	}
	earlier := []*bundle.Bundle{run("r1", 1, "s", "a", "b", "old"), run("r2", 2, "s", "a", "b"), run("r3", 3, "s", "c"), run("r4", 4, "t", "a", "z")}
	for want, now := range map[string]*bundle.Bundle{
		"b: it was measured in r2 and not in this run": run("n", 9, "s", "a"),
		"":  run("n", 9, "s", "a", "b"),
		" ": run("n", 9, "s", "new"),
	} {
		got := ""
		for _, j := range vanished(now, earlier) {
			got += j.Scenario + ": " + j.Why
		}
		if got != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if why := distrust(&bundle.Bundle{Damaged: []string{"x was changed"}}, &bundle.Scenario{}, &result.Result{State: result.Done}); why != "the run's files are damaged: x was changed" {
		t.Error(why)
	}
}

func TestRunsThatDidNotEnd(t *testing.T) {
	b := &bundle.Bundle{Run: bundle.Run{ID: "r", State: bundle.Interrupted}, Scenarios: make([]bundle.Scenario, 3)}
	b.Scenarios[0].Name, b.Scenarios[1].Name, b.Scenarios[2].Name = "a", "b", "c"
	b.Scenarios[1].Result = &result.Result{}
	want := "r is " + string(bundle.Interrupted) + ": 2 of 3 scenarios are missing"
	if got := unended(b); got != want {
		t.Errorf("%q", got)
	}
	for _, state := range []bundle.State{bundle.Finished, ""} {
		if got := unended(&bundle.Bundle{Run: bundle.Run{State: state}, Scenarios: b.Scenarios}); got != "" {
			t.Errorf("%q", got)
		}
	}
	// Another run of the side measured all of it: nothing is missing.
	whole := &bundle.Bundle{Run: bundle.Run{ID: "w", State: bundle.Finished}, Scenarios: b.Scenarios}
	sample := func(b *bundle.Bundle, i int) Sample { return Sample{Run: b, Scenario: &b.Scenarios[i]} }
	if got := unendedOf(Side{Samples: []Sample{sample(b, 1), sample(b, 1)}}); !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
	if got := unendedOf(Side{Samples: []Sample{sample(b, 1), sample(whole, 0), sample(whole, 1), sample(whole, 2)}}); got != nil {
		t.Errorf("%q", got)
	}
	if got := unendedOf(Side{Samples: []Sample{sample(b, 1), sample(whole, 0), sample(whole, 1)}}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// Expected 100 ± 5 %: one figure counts as it is, of several rounds only what lies wholly outside.
func TestHeldToATolerance(t *testing.T) {
	for _, c := range []struct {
		lo, center, hi float64
		rounds         int
		lower          bool
		want           Standing
		least          float64
	}{
		{90, 95, 100, 1, false, AsExpected, 0.05},
		{90, 94.9, 100, 1, false, Regression, 0.05},
		{90, 105, 100, 1, false, AsExpected, 0.05},
		{90, 105.1, 100, 1, false, Better, 0.05},
		{90, 105.1, 100, 1, true, Regression, 0.05},
		{80, 90, 95, 2, false, AsExpected, 0.125}, // (95 - 80)/2/100 more
		{80, 90, 94, 2, false, Regression, 0.12},
		{105, 110, 115, 2, false, AsExpected, 0.10},
		{106, 110, 114, 2, false, Better, 0.09},
		{106, 110, 114, 2, true, Regression, 0.09},
		{84, 90, 94, 2, true, Better, 0.10},
	} {
		j := Judgment{
			Figure: Figure{Lower: c.lower}, Rounds: c.rounds, Now: stats.Estimate{Center: c.center, Lo: c.lo, Hi: c.hi, N: c.rounds},
			Expected: stats.Estimate{Center: 100, Lo: 95, Hi: 105},
		}
		j.hold()
		if j.Standing != c.want || math.Abs(j.LeastSeen-c.least) > 1e-12 || (j.Why == "one run") != (c.rounds == 1) {
			t.Errorf("%+v: %s, least %v, %q", c, j.Standing, j.LeastSeen, j.Why)
		}
	}
}

// The figures of a table by their names, of one result.
func TestFiguresByName(t *testing.T) {
	r := &result.Result{Total: fio.Job{
		Read:  fio.Direction{N: 1, IOPS: 70, BW: 700, Clat: fio.Latency{N: 1, Mean: 11, Percentiles: []fio.Percentile{{P: 50, Value: 10}, {P: 99, Value: 20}, {P: 99.9, Value: 25}}}},
		Write: fio.Direction{N: 1, IOPS: 30, BW: 300, Lat: fio.Latency{N: 1, Mean: 31, Percentiles: []fio.Percentile{{P: 99, Value: 40}}}},
		Sync:  fio.Sync{Lat: fio.Latency{N: 1, Mean: 51, Percentiles: []fio.Percentile{{P: 99, Value: 60}}}},
	}}
	for name, want := range map[string]struct {
		v     float64
		unit  Unit
		lower bool
	}{
		"iops": {100, PerSecond, false}, "total.iops": {100, PerSecond, false}, "read.iops": {70, PerSecond, false}, "write.iops": {30, PerSecond, false},
		"bw": {1000, BytesPerSec, false}, "read.bw": {700, BytesPerSec, false}, "write.bw": {300, BytesPerSec, false},
		"read.clat.mean": {11, Nanoseconds, true}, "read.clat.p99": {20, Nanoseconds, true}, "read.clat.p99.9": {25, Nanoseconds, true}, "read.p99": {20, Nanoseconds, true}, "read.lat.p50": {10, Nanoseconds, true},
		"write.clat.p99": {40, Nanoseconds, true}, "sync.p99": {60, Nanoseconds, true}, "sync.clat.mean": {51, Nanoseconds, true},
		"sync.lat.p99": {60, Nanoseconds, true},
	} {
		f, err := figureNamed(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := f.of(r); got != want.v || f.Unit != want.unit || f.Lower != want.lower {
			t.Errorf("%s: %v %s %v, want %+v", name, got, f.Unit, f.Lower, want)
		}
	}
	for _, bad := range []string{"sync.iops", "sync.bw", "trim.iops", "read.clat.p0", "read.clat.p100", "read.clat.99", "read.slat.p99", "clat.p99", "read", "write.sync.p99", "read.sync.p99"} {
		if _, err := figureNamed(bad); err == nil {
			t.Errorf("%s passed", bad)
		}
	}
	amount := func(figure, value string) (float64, error) {
		v, _, err := (Expectation{Figure: figure, Value: value}).limits("")
		return v, err
	}
	for value, want := range map[string]float64{"1,003": 1003, "0": -1, "-3": -1, "x": -1, "+Inf": -1} {
		v, err := amount("iops", value)
		if err != nil {
			v = -1
		}
		if v != want {
			t.Errorf("%s: %v", value, v)
		}
	}
	if v, err := amount("sync.p99", "1.5 ms"); v != 1.5e6 || err != nil {
		t.Error(v, err)
	}
	for value, want := range map[string]float64{"2 MiB/s": 2 << 20, "4Gbps": 5e8, "500": 500} {
		if v, err := amount("bw", value); v != want || err != nil {
			t.Error(value, v, err)
		}
	}
	for tolerance, want := range map[string]float64{"": 0.05, "7%": 0.07, "2.5 %": 0.025, "0%": -1, "100%": -1, "99%": 0.99, "5": -1} {
		_, share, err := (Expectation{Figure: "iops", Value: "1"}).limits(tolerance)
		if err != nil {
			share = -1
		}
		if math.Abs(share-want) > 1e-12 {
			t.Errorf("%q: %v", tolerance, share)
		}
	}
	if _, share, _ := (Expectation{Figure: "iops", Value: "1", Tolerance: "9%"}).limits("7%"); share != 0.09 {
		t.Error(share)
	}
}

// What a result's figures alone show of its work: 700 of 1,000 reads, 8,250 bytes each.
func TestWorkFromFigures(t *testing.T) {
	for _, c := range []struct {
		mean float64
		want units.Bytes
	}{{8192, 8192}, {8250, 8192}, {8400, 8400}, {4096 * 1.019, 4096}, {600, 600}, {515, 512}, {100, 100}, {1048600, 1048576}} {
		if got := likelyBS(c.mean); got != c.want { // 8,400 is 2.5 % above 16 sectors and 3.5 % below 17
			t.Errorf("%v: %d, want %d", c.mean, got, c.want)
		}
	}
	for _, c := range []struct {
		read, trim float64
		want       string
	}{{1, 0, "read"}, {0, 0, "write"}, {0, 1, "trim"}, {0, 0.5, "50.0 % trims"}, {0.7, 0, "rw 70/30"}, {0.704, 0, "rw 70/30"}, {0.706, 0, "rw 71/29"}} {
		if got := direction(c.read, c.trim); got != c.want {
			t.Errorf("%v %v: %s, want %s", c.read, c.trim, got, c.want)
		}
	}
	r := &result.Result{Total: fio.Job{
		Count: 3, Read: fio.Direction{IOPS: 690, BW: 690 * 8192}, Write: fio.Direction{IOPS: 310, BW: 310 * 8192}, Depths: []fio.Share{{Label: "1", Value: 1}},
	}}
	if got, want := seenWork(r), (Work{Direction: "rw 70/30", BS: 8192, Jobs: 3, Depth: 1}); got != want {
		t.Errorf("%+v", got)
	}
	r.Total.Depths[0].Value = 0.99
	r.Total.Read, r.Total.Count = fio.Direction{}, -1
	if got, want := seenWork(r), (Work{Direction: "write", BS: 8192}); got != want {
		t.Errorf("%+v", got)
	}
	if got := seenWork(&result.Result{Total: fio.Job{Count: 2, Read: fio.Direction{BW: 5}}}); got != (Work{Jobs: 2}) {
		t.Errorf("%+v", got)
	}
	if got := seenWork(&result.Result{Total: fio.Job{Trim: fio.Direction{IOPS: 10, BW: 40960}}}); got.Direction != "trim" || got.BS != 4096 {
		t.Errorf("%+v", got)
	}
}

func TestWorkInWords(t *testing.T) {
	load := func(change func(*fio.Workload)) *result.Result {
		l := fio.Workload{Engine: "libaio", WriteBS: 8192, Jobs: 4, Depth: 32}
		change(&l)
		return &result.Result{Workloads: []fio.Workload{l}}
	}
	for want, r := range map[string]*result.Result{
		"random write 8 KiB, depth 32 × 4 jobs, libaio":                load(func(*fio.Workload) {}),
		"random write 8 KiB, depth 32, libaio":                         load(func(l *fio.Workload) { l.Jobs = 1 }),
		"random write 8 KiB, depth 32 × 2 jobs, libaio":                load(func(l *fio.Workload) { l.Jobs = 2 }),
		"random write 8 KiB, 4 jobs, libaio":                           load(func(l *fio.Workload) { l.Depth = 0 }),
		"sequential write 8 KiB, depth 32 × 4 jobs, libaio, O_SYNC":    load(func(l *fio.Workload) { l.Sequential, l.SyncWrites = true, true }),
		"random write 8 KiB, depth 32 × 4 jobs, libaio, fsync every 2": load(func(l *fio.Workload) { l.SyncEvery, l.SyncCall, l.SyncWrites = 2, "fsync", true }),
		"random write 8 KiB, depth 32 × 4 jobs, libaio, at most 1 MiB/s per job at most 50 IOPS per job pauses of 1 ms": load(func(l *fio.Workload) {
			l.WriteRate, l.WriteIOPS, l.ThinkTime, l.ReadRate, l.ReadIOPS = units.MiBPerSec, 50, time.Millisecond, 7, 7
		}),
		"random rw 50/50 4 KiB, depth 32 × 4 jobs, libaio, at most 3 MiB/s per job at most 60 IOPS per job": load(func(l *fio.Workload) {
			l.ReadShare, l.ReadBS, l.WriteBS = 0.5, 4096, 4096
			l.WriteRate, l.ReadRate, l.WriteIOPS, l.ReadIOPS = units.MiBPerSec, 2*units.MiBPerSec, 50, 10
		}),
		"random read 4 KiB, depth 32 × 4 jobs, libaio, at most 10 IOPS per job": load(func(l *fio.Workload) {
			l.ReadShare, l.ReadBS, l.WriteBS, l.ReadIOPS, l.WriteIOPS = 1, 4096, 0, 10, 50
		}),
		"random write 8 KiB, depth 32 × 4 jobs, libaio, pauses of 1 ns": load(func(l *fio.Workload) { l.ThinkTime = 1 }),
		"what was run is not known":                                     nil,
	} {
		if got := workOf(r).String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	// Sections that are alike add their jobs; others are shown one by one.
	alike := load(func(*fio.Workload) {})
	alike.Workloads = append(alike.Workloads, alike.Workloads[0])
	if got := workOf(alike); got.Jobs != 8 {
		t.Errorf("%+v", got)
	}
	alike.Workloads[1].Jobs = 0
	if got := workOf(alike); got.Jobs != 5 {
		t.Errorf("%+v", got)
	}
	alike.Workloads[1].Depth = 1
	if got := workOf(alike); got.Direction != "several jobs" || strings.Count(got.String(), "random write") != 2 {
		t.Errorf("%+v", got)
	}
	unlike := load(func(l *fio.Workload) { l.ReadShare, l.ReadBS = 0.5, 4096 })
	if got := workOf(unlike); got.BS != 4096 || got.Parts != "4 KiB reads, 8 KiB writes" {
		t.Errorf("%+v", got)
	}
}

// A load of 1,000 a second under a limit of 2 ms: 4 × 1,000 × 0.002 = 8 threads of 125; 900 reads of
// 1,000 over 8 are 112.5, over 9 exactly 100 and 11.1 writes, over 10 exactly 90 and 10.
func TestStreamsByHand(t *testing.T) {
	for _, c := range []struct {
		rate, reads          float64
		limit                time.Duration
		streams, read, write int
	}{
		{1000, 1, 2 * time.Millisecond, 8, 125, 0},
		{1000, 0, 2 * time.Millisecond, 8, 0, 125},
		{1000, 0.9, 2 * time.Millisecond, 10, 90, 10},
		{100, 1, time.Millisecond, 4, 25, 0}, // at least four
		{10, 1, time.Millisecond, 2, 5, 0},   // each has four a second or so
		{3, 1, time.Millisecond, 1, 3, 0},
		{256000, 1, time.Second, 256, 1000, 0}, // at most 256
		{1000, 0.01, time.Second, 10, 1, 99},   // 10 reads a second are one for each of 10
	} {
		s, r, w := streamsFor(c.rate, c.reads, c.limit)
		if s != c.streams || r != c.read || w != c.write {
			t.Errorf("%+v: %d of %d and %d", c, s, r, w)
		}
	}
}

// Times of 1 ms (in fio's bin 999,424 to 1,007,616 ns, middle 1,003,520) at 100 arrivals a second and
// thread: busy 0.1003520, lag λ E[S²]/2/(1-ρ) = 100e-9 × 1,003,520²/2/0.899648 = 55,970 ns.
func TestBusyByHand(t *testing.T) {
	h := &fio.Hist{}
	h.Add(time.Millisecond, 10)
	r := &result.Result{Total: fio.Job{Read: fio.Direction{Clat: fio.Latency{N: 10, Hist: h}}}}
	p := MostProbe{Streams: 4, Achieved: 400}
	p.busy(r)
	if math.Abs(p.Busy-0.1003520) > 1e-9 || math.Abs(p.Lag-55970) > 1 {
		t.Errorf("%+v", p)
	}
	p = MostProbe{Streams: 4, Achieved: 8000}
	if p.busy(r); p.Busy != 1 || p.Lag != 0 {
		t.Errorf("%+v", p)
	}
	p = MostProbe{Achieved: 8000}
	if p.busy(r); p.Busy != 0 {
		t.Errorf("%+v", p)
	}
	p = MostProbe{Streams: 4, Achieved: 400}
	if p.busy(&result.Result{}); p.Busy != 0 {
		t.Errorf("%+v", p)
	}
}

// A probe falls behind where less than 98 % of what was asked for was done, less twice the root of
// the arrivals: of 10,000 in 100 s the root is 1 a second and 10, so 9,780.
func TestProbeBehind(t *testing.T) {
	m, err := NewMostSearch(searchBase(), "read.clat.p99 <= 2ms", 1)
	if err != nil {
		t.Fatal(err)
	}
	s := searchBase()
	s.Job = WithOptions(s.Job, map[string]string{"rate_process": "poisson", "numjobs": "100", "rate_iops": "100,0"})
	probe := func(done float64, p99 time.Duration) MostProbe {
		h := &fio.Hist{}
		h.Add(p99, 100)
		r := &result.Result{State: result.Done, Measured: 100 * time.Second}
		r.Total.Read = fio.Direction{N: 100, IOPS: units.IOPS(done), Clat: fio.Latency{N: 100, Hist: h}}
		return m.probe(&bundle.Scenario{Scenario: s, Result: r})
	}
	for _, c := range []struct {
		done float64
		p99  time.Duration
		want string
	}{
		{9781, 100 * time.Microsecond, ProbeMet}, {9779, 100 * time.Microsecond, ProbeBehind}, {10000, 3 * time.Millisecond, ProbeMissed},
	} {
		if p := probe(c.done, c.p99); p.Outcome != c.want || p.Asked != 10000 || p.Streams != 100 {
			t.Errorf("%+v: %+v", c, p)
		}
	}
	if x := asProbe(MostProbe{Latency: 4e6, Outcome: ProbeBehind}, 7, m.Threshold); math.Abs(x.Over-math.Ln2) > 1e-12 || !x.Behind || x.Load != 7 {
		t.Errorf("%+v", x)
	}
	if x := asProbe(MostProbe{Latency: 4e6, Outcome: ProbeInvalid}, 7, m.Threshold); !math.IsNaN(x.Over) || x.Behind {
		t.Errorf("%+v", x)
	}
	if (MostProbe{Asked: 5, Achieved: 4}).IOPSOf() != 5 || (MostProbe{Achieved: 4}).IOPSOf() != 4 {
		t.Error("load of a probe")
	}
}

// Above a ceiling that was met throughout the search goes on, to 64 times of it.
func TestSearchGoesFurther(t *testing.T) {
	s := stats.Search{Low: 50, High: 1020, Within: 0.03, Step: 1}
	var probes []stats.Probe
	for range 200 {
		load, b := further(s, probes)
		if b.Done {
			if b.Low < 4900 || b.High > 5100 {
				t.Errorf("%+v", b)
			}
			return
		}
		probes = append(probes, stats.Probe{Load: load, Over: load - 5000})
	}
	t.Error("no end")
}

// Rates that held every section, to 98 %.
func TestPacedByItsRates(t *testing.T) {
	of := func(iops float64, loads ...fio.Workload) *result.Result {
		return &result.Result{Workloads: loads, Total: fio.Job{Write: fio.Direction{N: 1, IOPS: units.IOPS(iops)}}}
	}
	write := fio.Workload{WriteBS: 8192, WriteIOPS: 100, Jobs: 4}
	bytes := fio.Workload{WriteBS: 8192, WriteRate: 8192 * 50, Jobs: 2}
	// fio holds a job with both options to the lesser.
	lesser, greater := bytes, bytes
	lesser.WriteIOPS, greater.WriteIOPS, greater.WriteRate = 400, 50, 8192*400
	late := write
	late.StartDelay = 1
	both := fio.Workload{ReadShare: 0.5, ReadBS: 4096, WriteBS: 4096, ReadIOPS: 70, WriteIOPS: 30}
	half := both
	half.ReadIOPS = 0
	for name, c := range map[string]struct {
		r    *result.Result
		want bool
	}{
		"98 %":                     {of(392, write), true},
		"less":                     {of(391, write), false},
		"by bytes":                 {of(98, bytes), true},
		"by bytes, less":           {of(97, bytes), false},
		"two sections":             {of(490, write, bytes), true},
		"two, less":                {of(489, write, bytes), false},
		"one of them later":        {of(1000, write, late), false},
		"both directions":          {of(98, both), true},
		"one is not held":          {of(98, half), false},
		"rate= is the lesser":      {of(98, lesser), true},
		"rate= is, less":           {of(97, lesser), false},
		"rate_iops= is the lesser": {of(98, greater), true},
		"rate_iops= is, less":      {of(97, greater), false},
		"not held":                 {of(1000, fio.Workload{WriteBS: 8192}), false},
		"nothing known":            {of(1000), false},
	} {
		if got := paced(c.r); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Large I/Os are known by bandwidth: 128 KiB and more.
func TestMainFigureBySize(t *testing.T) {
	for _, c := range []struct {
		iops units.IOPS
		bw   units.Rate
		want string
	}{{10, 10 * 131072, "bandwidth"}, {10, 10*131072 - 10, "IOPS"}, {0, 5, "bandwidth"}, {0, 0, "IOPS"}} {
		r := &result.Result{Total: fio.Job{Read: fio.Direction{IOPS: c.iops, BW: c.bw}}}
		if name, v := MainFigure(r); name != c.want || c.want == "IOPS" && v != float64(c.iops) || c.want == "bandwidth" && v != float64(c.bw) {
			t.Errorf("%+v: %s %v", c, name, v)
		}
	}
	if name, v := MainFigure(&result.Result{Postgres: &result.Postgres{Steps: []result.PgStep{{Transactions: 1, TPS: 5}}}}); name != "TPS" || v != 5 {
		t.Errorf("%s %v", name, v)
	}
	if _, v := MainFigure(&result.Result{Postgres: &result.Postgres{}}); !math.IsNaN(v) {
		t.Error(v)
	}
}

// The interval of the seconds is scaled to fio's own figure: 1,000 of 990 to 1,010 for 500 is 495 to
// 505.
func TestEstimateOfOneResult(t *testing.T) {
	r := &result.Result{IOPS: stats.Estimate{Center: 1000, Lo: 980, Hi: 1010, N: 12}, BW: stats.Estimate{Center: 2000, Lo: 1900, Hi: 2200, N: 13}}
	r.Total.Read = fio.Direction{N: 1, IOPS: 500, BW: 4000}
	if e := iops().estimate(r); e.Center != 500 || e.Lo != 490 || e.Hi != 505 || e.N != 12 {
		t.Errorf("%+v", e)
	}
	if e := bandwidth().estimate(r); e.Center != 4000 || e.Lo != 3800 || e.Hi != 4400 || e.N != 13 {
		t.Errorf("%+v", e)
	}
	r.IOPS.None = "one value"
	if e := iops().estimate(r); e.Lo != 500 || e.Hi != 500 || e.N != 0 {
		t.Errorf("%+v", e)
	}
	bound := &ceiling.Bound{IOPS: 7, BW: 9}
	if iops().bound(bound) != 7 || bandwidth().bound(bound) != 9 || iops().bound(nil) != 0 || tps().bound(bound) != 0 || latencyFigures()[0].bound(bound) != 0 {
		t.Error("bounds")
	}
}

// A row's cell: two valid rounds, one that is invalid; the ceiling of 1,000 lasts, a burst of 4,000
// does not.
func TestCellOfRounds(t *testing.T) {
	sample := func(n int, v float64, invalid string, c *ceiling.Ceiling) Sample {
		s := &bundle.Scenario{Ceiling: c}
		return Sample{Round: n, Invalid: invalid, Scenario: s, Result: &result.Result{Total: fio.Job{Read: fio.Direction{N: 1, IOPS: units.IOPS(v)}}}}
	}
	burst := &ceiling.Ceiling{Bounds: []ceiling.Bound{
		{Kind: ceiling.InstanceIOPS, Burst: true, BurstFor: time.Hour, IOPS: 4000}, {Kind: ceiling.InstanceIOPS, IOPS: 1000},
	}}
	r := Row{Figure: iops(), Cells: []Cell{{all: []Sample{sample(1, 2000, "", burst), sample(2, 500, "bad", burst), sample(3, 0, "", burst), sample(4, 8000, "", burst), sample(5, 0, "worse", burst)}}}}
	r.Cells[0].all[4].Result.Source = "a/07.json"
	r.fill(0)
	c := r.Cells[0]
	if !slices.Equal(c.Rounds, []float64{2000, 8000}) || math.Abs(c.Figure.Center-4000) > 1e-6 || c.Within {
		t.Errorf("%+v", c)
	}
	want := []Struck{
		{2, 500, "bad", "round 2"}, {3, 0, "no IOPS was measured", "round 3"}, {5, 0, "worse", "07.json"},
	}
	if !slices.Equal(c.Invalid, want) {
		t.Errorf("%+v", c.Invalid)
	}
	// ln 4 / √2 is the spread of two rounds that differ by a factor of four.
	if math.Abs(c.Spread-math.Log(4)/math.Sqrt2) > 1e-9 {
		t.Errorf("%v", c.Spread)
	}
	if c.Ceiling != 4000 || math.Abs(c.Share-1) > 1e-9 || c.Sustained != 1000 || c.sustained() != 1000 {
		t.Errorf("%v %v %v", c.Ceiling, c.Share, c.Sustained)
	}
	one := Row{Figure: iops(), Cells: []Cell{{all: []Sample{sample(1, 900, "", burst)}}}}
	if one.fill(0); !one.Cells[0].Within || one.Cells[0].Sustained != 0 || one.Cells[0].sustained() != 900 || one.Cells[0].Share != 0.225 {
		t.Errorf("%+v", one.Cells[0])
	}
	none := Row{Figure: iops(), Cells: []Cell{{all: []Sample{sample(1, 900, "", nil)}}}}
	if none.fill(0); none.Cells[0].Ceiling != 0 || none.Cells[0].Figure.Center != 900 {
		t.Errorf("%+v", none.Cells[0])
	}
}

func TestListOfThree(t *testing.T) {
	if got := text.Few([]string{"a", "b", "c"}); got != "a, b, c" {
		t.Error(got)
	}
	if got := text.Few([]string{"a", "b", "c", "d"}); got != "a, b and 2 more" {
		t.Error(got)
	}
	for _, c := range []struct {
		a, b   int
		spread float64
		want   string
	}{
		{1, 1, 0, "one run per side"},
		{1, 5, 0.031, "one run on one side; the other side's 5 rounds spread by 3.1 %"},
		{2, 2, 0, "too few rounds"},
	} {
		if got := noTest(c.a, c.b, stats.Comparison{Spread: c.spread}); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := noTest(3, 3, stats.Comparison{Ratio: stats.Estimate{Doubts: []string{"copies"}}}); got != "copies" {
		t.Error(got)
	}
}

// The depth of a point as a factor of the knee, either way.
func TestDistanceOfAPoint(t *testing.T) {
	for _, c := range []struct {
		n           int
		depth, want float64
	}{{8, 4, 2}, {4, 8, 2}, {4, 4, 1}} {
		if got := distance(SweptPoint{InFlight: c.n}, c.depth); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// A run is out of its time where its clock was not set, or went back.
func TestClockThatJumped(t *testing.T) {
	at := began
	run := func(created, finished, start time.Time) *bundle.Bundle {
		b := &bundle.Bundle{Run: bundle.Run{Created: created, Finished: finished}, Scenarios: make([]bundle.Scenario, 1)}
		b.Scenarios[0].Result = &result.Result{Start: start}
		return b
	}
	for name, c := range map[string]struct {
		b    *bundle.Bundle
		want string
	}{
		"fine":               {run(at, at.Add(time.Hour), at), ""},
		"a minute before":    {run(at, at, at.Add(-time.Minute)), ""},
		"more than a minute": {run(at, at, at.Add(-time.Minute-1)), "its clock went back while it ran"},
		"ended before":       {run(at, at.Add(-1), at), "its clock went back while it ran"},
		"no times":           {run(at, time.Time{}, time.Time{}), ""},
		"1999":               {run(time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC), time.Time{}, time.Time{}), "its clock was not set (1999-12-31)"},
		"2000":               {run(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, time.Time{}), ""},
	} {
		if got := clockJumped(c.b); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	imported := run(at, at.Add(-1), at)
	imported.Run.Imported = []string{"x"}
	if clockJumped(imported) != "" {
		t.Error("an import has no clock")
	}
}

func TestLayoutInWords(t *testing.T) {
	top := &topology.Topology{
		Instance: topology.Instance{Type: "m5.large"}, Targets: []topology.Target{{Role: topology.Data, Array: "md0", Device: "md0"}},
		Arrays: []topology.Array{{Name: "md0", Level: topology.RAID0, Chunk: 65536, Volumes: []topology.Volume{
			{Type: "gp3", Size: units.GiB}, {Type: "gp3", Size: units.GiB}, {Type: "io2"}, {},
		}}},
	}
	if got, want := layoutOf(top, topology.Data), "raid0 2×gp3 of 1 GiB 1×io2 1×volume, chunk 64 KiB, on m5.large"; got != want {
		t.Errorf("%s", got)
	}
	if got := layoutOf(top, topology.WAL); got != "m5.large" {
		t.Error(got)
	}
	top.Targets[0].Array = "other"
	if got := layoutOf(top, topology.Data); got != "md0 m5.large" {
		t.Error(got)
	}
	top.Targets[0].Array, top.Instance.Type, top.Arrays[0].Chunk, top.Arrays[0].Volumes = "md0", "", 0, nil
	if got := layoutOf(top, topology.Data); got != "raid0" {
		t.Error(got)
	}
	a, b := Key{Work: "x", Layout: "l"}, Key{Work: "x", Size: "1 GiB", Layout: "m", Runtime: "1m", Scale: "s"}
	if got := strings.Join(a.Differences(b), "|"); got != "size: not known and 1 GiB|run time: not known and 1m|layout: l and m|scale: not known and s" {
		t.Error(got)
	}
	if suite.DefaultRuntime <= 0 {
		t.Error("no run time")
	}
}

// A side's labels are those that all of its runs carry; its time is from the first start to the last.
func TestColumnOfRuns(t *testing.T) {
	sample := func(id string, round, minute int, labels map[string]string) Sample {
		b := &bundle.Bundle{Run: bundle.Run{ID: id, Labels: labels, Created: began.Add(time.Duration(minute) * time.Minute)}}
		return Sample{Run: b, Round: round, Result: &result.Result{}}
	}
	c := columnOf(Side{Name: "s", Samples: []Sample{
		sample("r2", 2, 5, map[string]string{"kernel": "6.1", "disk": "a"}), sample("r1", 1, 3, map[string]string{"kernel": "6.1", "disk": "b", "late": "x"}),
		sample("r1", 1, 9, map[string]string{"kernel": "6.1"}),
	}})
	if c.Rounds != 2 || !slices.Equal(c.Runs, []string{"r2", "r1"}) || len(c.Labels) != 1 || c.Labels["kernel"] != "6.1" || c.Over != 6*time.Minute {
		t.Errorf("%+v", c)
	}
}

// Which side was measured before all of the other is known by the starts of its rounds.
func TestOrderOfRounds(t *testing.T) {
	at := func(minutes ...int) (all []Sample) {
		for _, m := range minutes {
			b := &bundle.Bundle{Run: bundle.Run{Created: began.Add(time.Duration(m) * time.Minute)}}
			if m == 0 { // an import of a time that is not known
				b.Run.Created, b.Run.Imported = time.Time{}, []string{"x"}
			}
			all = append(all, Sample{Run: b, Result: &result.Result{}})
		}
		return all
	}
	for name, c := range map[string]struct {
		a, b []Sample
		want int
	}{
		"a first": {at(1, 2), at(3, 4), -1}, "b first": {at(3, 4), at(1, 2), 1}, "alternated": {at(1, 3), at(2, 4), 0},
		"at once": {at(1, 2), at(2, 3), 0}, "not known": {at(0, 0), at(2, 3), 0}, "none": {nil, at(2, 3), 0},
	} {
		if got := inOrder(c.a, c.b); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A change that a trend of both sides explains as well has no word, in either order, and a gate that asks for
// a size cannot judge it; a step between sides that keep their level has one.
func TestTrendThroughBothSides(t *testing.T) {
	falling := func(from float64) []float64 {
		var all []float64
		for i := range 8 {
			all = append(all, from*math.Pow(0.99, float64(i))*spread[i%3])
		}
		return all
	}
	level := func(at float64) []float64 {
		var all []float64
		for i := range 8 {
			all = append(all, at*[]float64{1.01, 0.99, 1, 1.005, 0.995, 1.002, 0.998, 1}[i])
		}
		return all
	}
	for name, c := range map[string]struct {
		before, after []float64
		word          Word
	}{
		"a trend":         {falling(1000), falling(1000 * math.Pow(0.99, 8)), CannotTell},
		"a step":          {level(1000), level(920), Slower},
		"a trend, a step": {falling(1000), falling(700), Slower},
	} {
		for _, turned := range []bool{false, true} {
			when := []int{0, 100}
			if turned {
				when = []int{100, 0}
			}
			of := func(name string, at int, values []float64) Side {
				return side(t, name, at, func(i int) []work { return []work{randwrite("w", 8192, values[i])} }, len(values))
			}
			before, after := c.before, c.after
			if turned && c.word == CannotTell { // the side that is named first came second
				before, after = after, before
			}
			table := compared(t, Options{}, of("a", when[0], before), of("b", when[1], after))
			got := table.Rows[0].Cells[1].Change
			if turned && c.word != CannotTell {
				continue
			}
			if got.Word != c.word || (c.word == CannotTell) != strings.Contains(got.Why, "both sides change by about -") {
				t.Errorf("%s, turned %v: %v, %q", name, turned, got.Word, got.Why)
			}
			if o := table.Judge(Gate{Regression: true, By: 0.02}); (c.word == CannotTell) != (len(o.Unjudged) == 1) {
				t.Errorf("%s, turned %v: %+v", name, turned, o)
			}
		}
	}
}

// Why a result must not be used, by the first reason that holds.
func TestDistrustedResults(t *testing.T) {
	of := func(state result.State, iops units.IOPS, reasons ...string) *result.Result {
		return &result.Result{State: state, Reasons: reasons, Total: fio.Job{Read: fio.Direction{IOPS: iops}}}
	}
	findings := []finding.Finding{
		{Code: "PL1", Title: "of another", Severity: finding.Invalid, Scenarios: []int{8}},
		{Code: "PL2", Title: "a warning", Severity: finding.Warn, Scenarios: []int{7}},
		{Code: "PL3", Title: "not to be trusted", Severity: finding.Invalid, Scenarios: []int{6, 7}},
	}
	for want, c := range map[string]struct {
		r        *result.Result
		verdict  verdict.Verdict
		findings []finding.Finding
	}{
		"":                                  {of(result.Done, 5), verdict.Pass, findings},
		"it was interrupted":                {of(result.Interrupted, 5, "x"), verdict.Pass, nil},
		"one reason":                        {of(result.Invalid, 5, "one reason"), verdict.Pass, nil},
		"its state is invalid":              {of(result.Invalid, 5), verdict.Pass, nil},
		"PL3: not to be trusted":            {of(result.Done, 5), verdict.Invalid, findings},
		"its verdict is invalid":            {of(result.Done, 5), verdict.Invalid, findings[:2]},
		"IOPS of 0 is not a measured value": {of(result.Done, 0), verdict.Pass, nil},
	} {
		s := &bundle.Scenario{Scenario: suite.Scenario{ID: 7}, Result: c.r, Verdict: c.verdict}
		if got := distrust(&bundle.Bundle{Findings: c.findings}, s, c.r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The labels of a sample: its result's own, its run's, then the facts of its machine.
func TestLabelsOfASample(t *testing.T) {
	top := topology.Topology{Host: topology.Host{Name: "h", Kernel: "6.1"}, Instance: topology.Instance{Type: "m5.large"}}
	b := &bundle.Bundle{Run: bundle.Run{Fio: "fio-3.33", Labels: map[string]string{"k": "run", "r": "run"}, Topology: top, Created: began}}
	s := Sample{Run: b, Scenario: &bundle.Scenario{Scenario: suite.Scenario{Name: "w"}}, Result: &result.Result{Labels: map[string]string{"k": "own"}}}
	for key, want := range map[string]string{"k": "own", "r": "run", ByInstance: "m5.large", ByHost: "h", ByKernel: "6.1", ByFio: "fio-3.33", ByScenario: "w", "none": ""} {
		if got := s.label(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	s.Result.Fio, s.Result.Topology = "fio-3.41", &topology.Topology{Host: topology.Host{Name: "other"}}
	if s.label(ByFio) != "fio-3.41" || s.label(ByHost) != "other" {
		t.Errorf("%s %s", s.label(ByFio), s.label(ByHost))
	}
	if !s.start().Equal(began) {
		t.Error(s.start())
	}
	b.Run.Imported = []string{"x"}
	if !s.start().IsZero() {
		t.Error("an import has the times of its results alone")
	}
	later := Sample{Run: b, Result: &result.Result{Start: began.Add(time.Hour)}}
	if first, last := spanOf([]Sample{later, s, later}); !first.Equal(began.Add(time.Hour)) || !last.Equal(began.Add(time.Hour)) {
		t.Errorf("%v to %v", first, last)
	}
	earlier := Sample{Run: b, Result: &result.Result{Start: began}}
	if first, _ := spanOf([]Sample{later, earlier}); !first.Equal(began) {
		t.Errorf("%v", first)
	}
}

// Facts that differ between the base and a side are noted, where each has its own.
func TestUnlikeFacts(t *testing.T) {
	sample := func(kernel string) Sample {
		b := &bundle.Bundle{Run: bundle.Run{Topology: topology.Topology{Host: topology.Host{Kernel: kernel}}}}
		return Sample{Run: b, Scenario: &bundle.Scenario{}, Result: &result.Result{}}
	}
	side := func(kernels ...string) []Sample {
		var all []Sample
		for _, k := range kernels {
			all = append(all, sample(k))
		}
		return all
	}
	kernel := facts()[1]
	for name, c := range map[string]struct {
		a, b []Sample
		want string
	}{
		"differ":              {side("6.1"), side("6.8"), "kernel differs: 6.1 in a, 6.8 in b"},
		"alike":               {side("6.1"), side("6.1"), ""},
		"one more":            {side("6.1"), side("6.1", "6.8"), ""},
		"one less":            {side("6.1", "6.8"), side("6.1"), ""},
		"twice":               {side("6.1", "6.1"), side("6.1"), ""},
		"in another order":    {side("6.1", "6.8"), side("6.8", "6.1"), ""},
		"one of two":          {side("6.1", "6.8"), side("6.8", "5.10"), "kernel differs: 6.1 in a, 5.10 in b"},
		"not known":           {side(""), side("6.8"), ""},
		"not known of b":      {side("6.8"), side(""), ""},
		"four":                {side("1", "2", "3", "4"), side("5"), "kernel differs: 1, 2 and 2 more in a, 5 in b"},
		"the side's own name": {side("6.1"), side("b"), ""},
	} {
		table := &Table{Sides: []Column{{Name: "a"}, {Name: "b"}}}
		table.unlike("", kernel, func(k int) []Sample { return [][]Sample{c.a, c.b}[k] })
		if got := strings.Join(table.Notes, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	facts := workFacts()
	s := sample("")
	for i, want := range []string{"", "one for all jobs", ""} {
		if got := facts[i].of(s); got != want {
			t.Errorf("%s: %q", facts[i].what, got)
		}
	}
	s.Scenario.Size, s.Scenario.Files, s.Scenario.Runtime = units.GiB, suite.FilePerJob, time.Minute
	for i, want := range []string{"1 GiB", "one for each job", "60 s"} {
		if got := facts[i].of(s); got != want {
			t.Errorf("%s: %q", facts[i].what, got)
		}
	}
}

// A point of a series: the geometric mean of its valid rounds, by its ceiling.
func TestPointOfASeries(t *testing.T) {
	c := &ceiling.Ceiling{Bounds: []ceiling.Bound{{Kind: ceiling.VolumeIOPS, IOPS: 8000, BW: 1 << 30}}}
	b := &bundle.Bundle{Run: bundle.Run{ID: "r", Created: began, Tool: "1.0"}}
	s := &bundle.Scenario{Ceiling: c, Verdict: verdict.Pass}
	round := func(n float64, invalid string) Sample {
		return Sample{Run: b, Scenario: s, Invalid: invalid, Result: &result.Result{Total: fio.Job{Read: fio.Direction{IOPS: units.IOPS(n), BW: units.Rate(n) * 1000}}}}
	}
	p := pointOf(iops(), []Sample{round(1000, ""), round(9, "bad"), round(4000, "")})
	if p.Rounds != 2 || math.Abs(p.Value.Center-2000) > 1e-6 || math.Abs(p.Share-0.25) > 1e-9 || p.Invalid != "" || p.Facts["ceiling"] != "8,000" || p.Facts["plimsoll"] != "1.0" || !p.At.Equal(began) || p.Verdict != "pass" {
		t.Errorf("%+v", p)
	}
	if p := pointOf(bandwidth(), []Sample{round(1000, "")}); p.Facts["ceiling"] != "1,024 MiB/s" && p.Facts["ceiling"] != "1 GiB/s" || p.Rounds != 1 || p.Value.Center != 1e6 {
		t.Errorf("%+v", p)
	}
	if p := pointOf(iops(), []Sample{round(9, "bad")}); p.Rounds != 0 || p.Invalid != "bad" || p.Share != 0 {
		t.Errorf("%+v", p)
	}
	if p := pointOf(iops(), []Sample{round(0, "")}); p.Invalid != "no IOPS was measured" {
		t.Errorf("%+v", p)
	}
	series := Series{Points: []Point{{Value: stats.Estimate{Center: 1}}, {Invalid: "x", Value: stats.Estimate{Center: 1}}, {}, {Value: stats.Estimate{Center: 2}}}}
	if got := series.usable(); len(got) != 2 || got[1].Value.Center != 2 {
		t.Errorf("%+v", got)
	}
	if got := changed(map[string]string{"a": "1", "b": "2", "d": "4"}, map[string]string{"a": "1", "b": "3", "c": "5"}); !slices.Equal(got, []string{"b was 2 and is 3"}) {
		t.Errorf("%q", got)
	}
}

// What filters let pass, each field by itself.
func TestFilters(t *testing.T) {
	b := &bundle.Bundle{Run: bundle.Run{Suite: suite.Suite{Name: "db"}, Labels: map[string]string{"k": "v"}, Topology: topology.Topology{Host: topology.Host{Name: "h"}}}}
	s := Sample{Run: b, Scenario: &bundle.Scenario{Scenario: suite.Scenario{ID: 7, Name: "w"}}, Result: &result.Result{}}
	for _, c := range []struct {
		f    Filter
		want bool
	}{
		{Filter{}, true},
		{Filter{Suite: "db"}, true},
		{Filter{Suite: "x"}, false},
		{Filter{Host: "h"}, true},
		{Filter{Host: "x"}, false},
		{Filter{Scenario: "w"}, true},
		{Filter{Scenario: "7"}, true},
		{Filter{Scenario: "8"}, false},
		{Filter{Labels: map[string]string{"k": "v"}}, true},
		{Filter{Labels: map[string]string{"k": "x"}}, false},
	} {
		if got := c.f.passes(s); got != c.want {
			t.Errorf("%+v: %v", c.f, got)
		}
	}
	k := keyOf(s, "k")
	if k.Group != "v" || k.Scale != "" || k.Size != "" || k.Runtime != "" {
		t.Errorf("%+v", k)
	}
	s.Scenario.Size, s.Scenario.Runtime, b.Run.Topology.Scale = units.GiB, time.Minute, 0.5
	if k := keyOf(s, ""); k.Group != "h" || k.Scale != "simulated at 0.5 of the real rates" || k.Size != "1 GiB" || k.Runtime != "60 s" {
		t.Errorf("%+v", k)
	}
	if b.Run.Topology.Scale = 1; keyOf(s, "").Scale != "" {
		t.Error("a scale of one")
	}
}

// Axes at their bounds.
func TestAxesAtTheirBounds(t *testing.T) {
	for s, want := range map[string]int{
		"iodepth=1..1": 1, "iodepth=1..65536": 17, "iodepth=1..65537": 0, "bs=512..512": 1, "bs=511..1k": 0, "bs=512..1GiB": 22, "bs=512..2GiB": 0, "bs=512": 1, "bs=511": 0,
		"rwmixread=0": 1, "rwmixread=100": 1, "rwmixread=101": 0, "rwmixread=-1": 0, "iodepth=0": 0, "numjobs=1": 1, "numjobs=0": 0, "iodepth=2..1": 0,
		"bs=x..1k": 0, "bs=1k..x": 0, "bs=2k..1k": 0, "iodepth=x..4": 0, "iodepth=1..x": 0, "iodepth=0..4": 0, "rwmixread=0..100": 0, "bs=4k,4k": 0,
	} {
		a, err := ParseAxis(s)
		if len(a.Values) != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %q %v", s, a.Values, err)
		}
	}
	s := suite.Scenario{Job: fio.JobFile{Sections: []fio.Section{{Name: "w"}}}}
	for n, ok := range map[int]bool{400: true, 401: false} {
		if _, err := Grid(s, []Axis{{"iodepth", make([]string, n)}}); (err == nil) != ok {
			t.Errorf("%d points: %v", n, err)
		}
	}
	if _, err := Grid(s, []Axis{{"bs", []string{"4k"}}, {"bs", []string{"8k"}}}); err == nil {
		t.Error("varied twice")
	}
}

// The suite as a whole: rows that both sides measured as often, of which latencies are none. Ratios of
// 2 and 8 have the geometric mean 4.
func TestSuiteByHand(t *testing.T) {
	cell := func(rounds ...float64) Cell {
		level, _ := stats.Level(rounds)
		return Cell{Rounds: rounds, Figure: level}
	}
	table := &Table{Margin: 0.03, Sides: make([]Column, 2), Rows: []Row{
		{Figure: iops(), Cells: []Cell{cell(10, 11), cell(20, 22)}},
		{Figure: iops(), Cells: []Cell{cell(10, 11), cell(80, 88)}},
		{Figure: iops(), Cells: []Cell{cell(10), cell(1)}},
		{Figure: Figure{Lower: true}, Cells: []Cell{cell(10, 11), cell(1, 1)}},
		{Figure: iops(), Cells: []Cell{{}, cell(1, 1)}},
	}}
	table.suite()
	if s := table.Suite[1]; table.Suite[0] != nil || s == nil || math.Abs(s.Ratio.Center-4) > 1e-9 || s.Sustained != 0 || s.Word != Faster {
		t.Errorf("%+v", s)
	}
	table.Rows[0].Cells[1].Sustained = 5 // instead of 20.98, of 10.49: 0.4767, and 8
	table.suite()
	if s := table.Suite[1]; math.Abs(s.Sustained-math.Sqrt(5/math.Sqrt(110)*8)) > 1e-9 {
		t.Errorf("%+v", s)
	}
	table.Rows = table.Rows[1:]
	if table.suite(); table.Suite != nil {
		t.Errorf("one row is no suite: %+v", table.Suite)
	}
	// The product of 50 rates in bytes per second is beyond a float64.
	for range 50 {
		burst := cell(2e9, 2.1e9)
		burst.Sustained = 1e9
		table.Rows = append(table.Rows, Row{Figure: bandwidth(), Cells: []Cell{cell(1e9, 1.1e9), burst}})
	}
	table.Rows = table.Rows[len(table.Rows)-50:]
	if table.suite(); math.Abs(table.Suite[1].Sustained-1e9/math.Sqrt(1e9*1.1e9)) > 1e-9 {
		t.Errorf("%+v", table.Suite[1])
	}
}

// The results of a library are too many sides for a table: they are chosen, and what no key names is an
// error.
func TestSidesAreChosen(t *testing.T) {
	b := inMemory(1, 1000)
	one := b.Scenarios[0]
	b.Scenarios = nil
	for i := range mostSides + 1 {
		s := one
		result := *one.Result
		s.ID, s.Name, result.Name, s.Result = i+1, fmt.Sprintf("w%d", i), fmt.Sprintf("w%d", i), &result
		b.Scenarios = append(b.Scenarios, s)
	}
	for where, want := range map[string]int{"": mostSides + 1, "name=w7": 1, "name~w1": 11, "name!=w7": mostSides} {
		pick, err := bundle.NewPick(strings.Fields(where), "", "")
		if err != nil {
			t.Fatal(err)
		}
		l := Loaded{Sides: Within(b)}
		if err := l.choose(pick); err != nil || len(l.Sides) != want {
			t.Errorf("--where %q: %d sides, want %d, %v", where, len(l.Sides), want, err)
		}
		if err := l.bounded(); (err != nil) != (want > mostSides) {
			t.Errorf("--where %q: %d sides: %v", where, want, err)
		}
	}
	for _, wrong := range []string{"name=nobody", "nmae=w7"} {
		pick, _ := bundle.NewPick([]string{wrong}, "", "")
		l := Loaded{Sides: Within(b)}
		if err := l.choose(pick); err == nil {
			t.Errorf("--where %s is taken", wrong)
		}
	}
}

// Rounds are paired by their number, wherever it stands; one without a mate is left out.
func TestPairsOfRounds(t *testing.T) {
	cell := func(rounds ...int) *Cell {
		c := &Cell{}
		for _, n := range rounds {
			c.samples = append(c.samples, Sample{Round: n})
			c.Rounds = append(c.Rounds, float64(100*n))
		}
		return c
	}
	b := cell(2, 3, 5)
	for k := range b.Rounds {
		b.Rounds[k]++
	}
	before, after := pairs(cell(1, 2, 3, 4), b)
	if !slices.Equal(before, []float64{200, 300}) || !slices.Equal(after, []float64{201, 301}) {
		t.Errorf("%v and %v", before, after)
	}
	if before, after := pairs(cell(1), cell(2)); len(before)+len(after) != 0 {
		t.Errorf("%v and %v", before, after)
	}
	if got := names([]Side{{Name: "a"}, {Name: "b"}, {Name: "c"}}); got != "a, b, c" {
		t.Error(got)
	}
}

// A probe is above the threshold by the logarithm of how many times; one that is invalid, or has no
// latency, says nothing.
func TestProbesByHand(t *testing.T) {
	threshold, err := suite.ParseThreshold("read.clat.p99 < 2ms")
	if err != nil {
		t.Fatal(err)
	}
	base := threshold.Limit.Base()
	for _, c := range []struct {
		latency float64
		outcome string
		over    float64
		behind  bool
	}{
		{base, ProbeMet, 0, false},
		{2 * base, ProbeMissed, math.Ln2, false},
		{base / 2, ProbeMet, -math.Ln2, false},
		{2 * base, ProbeBehind, math.Ln2, true},
		{2 * base, ProbeInvalid, math.NaN(), false},
		{0, ProbeMet, math.NaN(), false},
	} {
		got := asProbe(MostProbe{Latency: c.latency, Outcome: c.outcome}, 700, threshold)
		same := math.Abs(got.Over-c.over) < 1e-9 || math.IsNaN(got.Over) && math.IsNaN(c.over)
		if got.Load != 700 || !same || got.Behind != c.behind {
			t.Errorf("%v, %v: %+v", c.latency, c.outcome, got)
		}
	}
}

// An A/B measurement's runs are sides by their variant, in the order of their rounds; those of another
// variant, without a round's number or that did not end are not counted.
func TestSidesOfVariants(t *testing.T) {
	dir := t.TempDir()
	for i, c := range [][2]string{{"a", "2"}, {"b", "1"}, {"a", "1"}, {"a", "first"}, {"c", "1"}} {
		run(t, dir, i, map[string]string{LabelVariant: c[0], LabelRound: c[1]}, randwrite("w", 8192, 1000))
	}
	var l Loaded
	if err := l.loadAB(dir, AB{Variants: []string{"a", "b", "d"}, Rounds: 2}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range l.Sides {
		for _, x := range s.Samples {
			got = append(got, fmt.Sprintf("%s %d", s.Name, x.Round))
		}
	}
	if want := []string{"a 1", "a 2", "b 1"}; !slices.Equal(got, want) || !l.Paired || !l.ByName {
		t.Errorf("%q, want %q; paired %v", got, want, l.Paired)
	}
	if want := []string{"variant b has 1 of 2 rounds", "variant d has 0 of 2 rounds"}; !slices.Equal(l.Missing, want) {
		t.Errorf("%q, want %q", l.Missing, want)
	}
	if want := []string{"variant d has not been measured yet"}; !slices.Equal(l.Notes, want) {
		t.Errorf("%q, want %q", l.Notes, want)
	}
}

// The earliest time that is known.
func TestStartOfASide(t *testing.T) {
	at := func(minute int) Sample {
		b := &bundle.Bundle{}
		if minute > 0 {
			b.Run.Created = began.Add(time.Duration(minute) * time.Minute)
		}
		return Sample{Run: b, Result: &result.Result{}}
	}
	for name, c := range map[string]struct {
		samples []Sample
		want    int
	}{
		"in order":         {[]Sample{at(1), at(2)}, 1},
		"in disorder":      {[]Sample{at(3), at(2), at(4)}, 2},
		"one not known":    {[]Sample{at(3), at(0), at(4)}, 3},
		"the first is not": {[]Sample{at(0), at(5), at(4)}, 4},
		"none is":          {[]Sample{at(0)}, 0},
	} {
		got, _ := spanOf(c.samples)
		if want := at(c.want).Run.Run.Created; !got.Equal(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
