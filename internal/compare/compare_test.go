package compare

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/output"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// work is a scenario of a made-up run.
type work struct {
	name   string
	load   fio.Workload
	iops   float64
	state  result.State
	labels map[string]string
	p99    time.Duration
	main   string
}

func randwrite(name string, bs units.Bytes, iops float64) work {
	return work{name: name, iops: iops, load: fio.Workload{Engine: "libaio", Direct: true, WriteBS: bs, Jobs: 4, Depth: 32}}
}

var began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// run writes a run and reads it back. Its n-th follows the one before by a minute.
func run(t *testing.T, dir string, n int, labels map[string]string, works ...work) *bundle.Bundle {
	t.Helper()
	r := bundle.Run{
		Tool: "test", Fio: "fio-3.41", Created: began.Add(time.Duration(n) * time.Minute), Imported: []string{"-"}, Labels: labels,
		Suite: suite.Suite{Name: "made-up"},
	}
	for i, w := range works {
		r.Suite.Scenarios = append(r.Suite.Scenarios, suite.Scenario{ID: i + 1, Name: w.name, Role: topology.Data, AsIs: true, Main: w.main})
	}
	b, err := bundle.Create(dir, r)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i, w := range works {
		s := b.Run.Suite.Scenarios[i]
		res := resultOf(w, r.Created)
		res.ID = s.ID
		tmp, err := b.Begin(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Keep(s, tmp, res); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := b.Finish(bundle.Finished, r.Created)
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

func resultOf(w work, at time.Time) *result.Result {
	res := &result.Result{Name: w.name, Role: topology.Data, State: result.Done, Start: at, Measured: time.Minute, Labels: w.labels}
	if w.state != "" {
		res.State = w.state
		res.Reasons = []string{"it could not be trusted"}
	}
	res.Total.Write.IOPS = units.IOPS(w.iops)
	res.Total.Write.BW = units.Rate(w.iops * float64(w.load.WriteBS))
	if w.p99 > 0 {
		res.Total.Write.Clat = fio.Latency{N: 1000, Mean: float64(w.p99) / 2, Percentiles: []fio.Percentile{{P: 50, Value: w.p99 / 2}, {P: 99, Value: w.p99}}}
	}
	res.IOPS = stats.Estimate{Center: w.iops, Lo: w.iops, Hi: w.iops}
	if w.load.Engine != "" {
		res.Workloads = []fio.Workload{w.load}
	}
	return res
}

func compared(t *testing.T, o Options, sides ...Side) *Table {
	t.Helper()
	if o.Margin == 0 {
		o.Margin = Margin
	}
	table, err := New(sides, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(table); err != nil {
		t.Fatal(err)
	}
	return table
}

func notes(t *Table) string { return strings.Join(append(slices.Clone(t.Apart), t.Notes...), "\n") }

// The article's four instances: each figure stands next to its own ceiling, and 2.5 times as much
// is the burst only.
func TestInstancesOfTheArticle(t *testing.T) {
	f, err := os.Open("../../testdata/seeds/ebs-across-instances.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	outputs, err := output.Read("ebs-across-instances.md", f)
	if err != nil || len(outputs) != 4 {
		t.Fatal(len(outputs), err)
	}
	var runs []*bundle.Bundle
	for i, instance := range []string{"c6a.xlarge", "m6a.xlarge", "r6a.xlarge", "m5a.xlarge"} {
		b, err := bundle.Import(t.TempDir(), bundle.Run{
			Created: began.Add(time.Duration(i) * time.Hour), Imported: []string{"article"}, Topology: *io2On(t, instance),
			Suite: suite.Suite{Name: "import"},
		}, bundle.Found{Outputs: outputs[i : i+1]})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, b)
	}
	sides, without, err := GroupBy(ByInstance, runs...)
	if err != nil || without != 0 {
		t.Fatal(without, err)
	}
	table := compared(t, Options{Base: "m5a.xlarge"}, sides...)
	if len(table.Rows) != 1 {
		t.Fatalf("rows %+v, apart %v", table.Rows, table.Apart)
	}
	cells := map[string]Cell{}
	for k, c := range table.Rows[0].Cells {
		cells[table.Sides[k].Name] = c
	}
	for name, want := range map[string]float64{"c6a.xlarge": 40065, "m6a.xlarge": 40041, "r6a.xlarge": 40067, "m5a.xlarge": 16030} {
		if got := math.Round(cells[name].Figure.Center); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"c6a.xlarge", "r6a.xlarge", "m5a.xlarge"} {
		if c := cells[name]; math.Round(1000*c.Share) != 1002 || c.Sustained != 6000 {
			t.Errorf("%s: %.4f of its ceiling, sustained %v", name, c.Share, c.Sustained)
		}
	}
	// What each costs, and what of it one sustained I/O a second: 6,000 at $111.69 are $0.0186.
	for _, want := range []string{
		"c6a.xlarge: $111.69 a month, $0.0186 for each of 6,000 sustained IOPS", "m5a.xlarge: $125.56 a month",
		"without their volumes",
	} {
		if !strings.Contains(notes(table), want) {
			t.Errorf("%q is missing in\n%s", want, notes(table))
		}
	}
	change := cells["c6a.xlarge"].Change
	if math.Abs(change.Ratio.Center-2.50) > 0.005 || math.Abs(change.Sustained-1) > 1e-9 {
		t.Errorf("x%.3f in bursts, x%.3f sustained", change.Ratio.Center, change.Sustained)
	}
	if change.Word != CannotTell || change.Why != "one run per side" {
		t.Errorf("%s: %s", change.Word, change.Why)
	}
}

func io2On(t *testing.T, instance string) *topology.Topology {
	t.Helper()
	limits, err := cloud.VolumeLimits(cloud.VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 50001})
	if err != nil {
		t.Fatal(err)
	}
	i, ok := cloud.InstanceLimits(instance)
	if !ok {
		t.Fatal(instance)
	}
	return &topology.Topology{
		Arrays: []topology.Array{{Name: "nvme1n1", Level: topology.Single, Volumes: []topology.Volume{{
			Type: "io2", Network: true, Sustained: limits.Sustained, Burst: limits.Burst,
			CountedIO: limits.CountedIO, Merges: limits.Merges, Origin: topology.Origin{Kind: topology.Catalogue, Where: limits.String()},
		}}}},
		Targets: []topology.Target{{Role: topology.Data, Array: "nvme1n1"}},
		Instance: topology.Instance{
			Type: instance, Baseline: i.Baseline, Burst: i.Burst, BurstFor: i.BurstFor,
			BurstPer: i.BurstPer, Origin: topology.Origin{Kind: topology.Catalogue, Where: i.String()},
		},
	}
}

// Rounds 11, 15 and 16 of the striped drives: the round that read deallocated blocks is struck out
// and wins nothing.
func TestInvalidNeverWins(t *testing.T) {
	b := run(t, t.TempDir(), 0, nil,
		work{name: "MS-28k-r-r-11", iops: 137e3}, work{name: "MS-28k-r-r-15", iops: 137e3},
		work{name: "MS-28k-r-r-16", iops: 238e3, state: result.Invalid})
	table := compared(t, Options{}, Within(b)...)
	if len(table.Rows) != 1 {
		t.Fatalf("%d rows: %v", len(table.Rows), table.Apart)
	}
	struck := table.Rows[0].Cells[2]
	if len(struck.Rounds) != 0 || len(struck.Invalid) != 1 || struck.Invalid[0].Figure != 238e3 || struck.Change != nil {
		t.Errorf("%+v", struck)
	}
	if c := table.Rows[0].Cells[1].Change; c == nil || c.Word != CannotTell {
		t.Errorf("%+v", c)
	}
	if least(Within(b)) != "MS-28k-r-r-11" {
		t.Error("the base is not the least valid one")
	}
	// In rounds of one side it is left out and counted.
	good, bad := run(t, t.TempDir(), 1, nil, randwrite("w", 8192, 1000)), run(t, t.TempDir(), 2, nil, randwrite("w", 8192, 0))
	table = compared(t, Options{}, SideOf("a", good, bad), SideOf("b", good))
	if c := table.Rows[0].Cells[0]; len(c.Rounds) != 1 || len(c.Invalid) != 1 || !strings.Contains(c.Invalid[0].Why, "not a measured value") {
		t.Errorf("%+v", c)
	}
}

// side makes a side of runs, one a level.
func side(t *testing.T, name string, from int, works func(i int) []work, n int) Side {
	t.Helper()
	dir := t.TempDir()
	var runs []*bundle.Bundle
	for i := range n {
		runs = append(runs, run(t, dir, from+2*i, nil, works(i)...))
	}
	return SideOf(name, runs...)
}

// spread are deviations of rounds of about 1 %.
var spread = []float64{1, 1.012, 0.99, 1.004, 0.994, 1.008, 0.997}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		change float64
		noise  float64 // times the spread
		word   Word
		within bool
	}{
		{1.10, 1, Faster, false},
		{0.90, 1, Slower, false},
		{1.0, 1, Same, true},
		{1.022, 1, Faster, false},
		{1.015, 1, Faster, true},
		{1.022, 3, CannotTell, false},
	} {
		of := func(level float64, i int) []work {
			return []work{randwrite("w", 8192, level*math.Pow(spread[i%5], c.noise))}
		}
		a := side(t, "a", 0, func(i int) []work { return of(1000, i) }, 5)
		b := side(t, "b", 1, func(i int) []work { return of(1000*c.change, i+2) }, 5)
		table := compared(t, Options{}, a, b)
		got := table.Rows[0].Cells[1].Change
		if got.Word != c.word || got.Within != c.within || got.Method != stats.WelchT {
			t.Errorf("x%v: %s, within %v, %s, p %.3f, %+v", c.change, got.Word, got.Within, got.Method, got.PHolm, got.Ratio)
		}
		if got.LeastSeen < 0.005 || got.LeastSeen > 0.09 || got.Needs < 3 || got.Needs > 40 {
			t.Errorf("could have seen %v, needs %d", got.LeastSeen, got.Needs)
		}
	}
}

func TestSuiteAsAWhole(t *testing.T) {
	suite := func(change float64) func(i int) []work {
		return func(i int) []work {
			return []work{
				randwrite("small", 8192, 1000*change*spread[i]), randwrite("middle", 16384, 700*change*spread[(i+1)%5]),
				randwrite("large", 1<<20, 90*change*spread[(i+3)%5]),
			}
		}
	}
	table := compared(t, Options{}, side(t, "a", 0, suite(1), 5), side(t, "b", 1, suite(1.04), 5))
	if len(table.Rows) != 3 || table.Rows[2].Figure.Unit != BytesPerSec {
		t.Fatalf("%+v", table.Rows)
	}
	s := table.Suite[1]
	if s == nil || s.Word != Faster || math.Abs(s.Ratio.Center-1.04) > 1e-6 || table.Suite[0] != nil {
		t.Errorf("%+v", s)
	}
	for _, r := range table.Rows {
		if c := r.Cells[1].Change; c.PHolm < c.P {
			t.Errorf("Holm made p smaller: %+v", c)
		}
	}
}

// The whole is of the rows that both sides measured as often as any: one that one side measured less
// often, or not at all, is left out, on whichever side.
func TestSuiteOfWhatWasMeasuredAsOften(t *testing.T) {
	for _, less := range []int{0, 1} {
		suite := func(k int, change float64) func(i int) []work {
			return func(i int) []work {
				all := []work{
					randwrite("small", 8192, 1000*change*spread[i]), randwrite("middle", 16384, 700*change*spread[(i+1)%5]),
					randwrite("odd", 32768, 500*change*change*spread[(i+3)%5]),
				}
				if k == less && i > 2 {
					all[2].state = result.Invalid
				}
				return all
			}
		}
		table := compared(t, Options{}, side(t, "a", 0, suite(0, 1), 5), side(t, "b", 1, suite(1, 1.04), 5))
		if s := table.Suite[1]; s == nil || math.Abs(s.Ratio.Center-1.04) > 1e-6 {
			t.Errorf("side %d lacks two rounds of odd: %+v, want 1.04", less, s)
		}
	}
}

func TestMatchedByWorkNotByName(t *testing.T) {
	one := run(t, t.TempDir(), 0, nil, randwrite("rand-write", 8192, 1000), randwrite("other", 65536, 300))
	two := run(t, t.TempDir(), 1, nil, randwrite("8k-random", 8192, 1100), randwrite("other", 16384, 600))
	table := compared(t, Options{}, SideOf("one", one), SideOf("two", two))
	if len(table.Rows) != 1 || table.Rows[0].Cells[1].Figure.Center != 1100 {
		t.Errorf("%+v", table.Rows)
	}
	if !strings.Contains(notes(table), "other is not compared: one and two did different work: block size: 64 KiB and 16 KiB") &&
		!strings.Contains(notes(table), "other is not compared: one and two did different work: block size: 64KiB and 16KiB") {
		t.Error(notes(table))
	}
	only := run(t, t.TempDir(), 2, nil, randwrite("rand-write", 8192, 1000))
	table = compared(t, Options{}, SideOf("one", one), SideOf("three", only))
	if !strings.Contains(notes(table), "other is only in one (random write 64") {
		t.Error(notes(table))
	}
	// Results of one run beside each other are sides of their own names.
	table = compared(t, Options{}, SideOf("rand-write", only), SideOf("three", run(t, t.TempDir(), 3, nil, randwrite("other", 65536, 300))))
	if got := notes(table); !strings.Contains(got, "rand-write: no other result has this workload (random write 8") || strings.Contains(got, "in rand-write") {
		t.Error(got)
	}
}

// A paced run is tested by its latency, since its IOPS were given; one that does not reach its rate
// by its IOPS.
func TestPacedRunsAreTestedByLatency(t *testing.T) {
	of := func(iops float64, p99 time.Duration, rate units.IOPS, main string) func(i int) []work {
		return func(i int) []work {
			w := randwrite("w", 8192, iops*math.Pow(spread[i], 0.02))
			w.load.WriteIOPS, w.main = rate, main
			w.p99 = time.Duration(float64(p99) * spread[i])
			return []work{w}
		}
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		a, b   func(i int) []work
		figure string
		word   Word
	}{
		"paced, slower":          {of(4000, 2*ms, 1000, ""), of(4000, 7*ms, 1000, ""), "write p99", Slower},
		"paced, quicker":         {of(4000, 2*ms, 1000, ""), of(4000, 1*ms, 1000, ""), "write p99", Faster},
		"paced, the same":        {of(4000, 2*ms, 1000, ""), of(4000, 2*ms, 1000, ""), "write p99", Same},
		"not paced":              {of(4000, 2*ms, 0, ""), of(4000, 7*ms, 0, ""), "IOPS", Same},
		"one missed its rate":    {of(4000, 2*ms, 1000, ""), of(3000, 7*ms, 1000, ""), "IOPS", Slower},
		"as the suite says":      {of(4000, 2*ms, 0, "p99"), of(4000, 7*ms, 0, "p99"), "total.clat.p99", Slower},
		"the suite wants IOPS":   {of(4000, 2*ms, 1000, "write.iops"), of(4000, 7*ms, 1000, "write.iops"), "write.iops", Same},
		"the suite wants a mean": {of(4000, 2*ms, 0, "write.clat.p50"), of(4000, 1*ms, 0, "write.clat.p50"), "write.clat.p50", Faster},
	} {
		table := compared(t, Options{}, side(t, "a", 0, c.a, 5), side(t, "b", 1, c.b, 5))
		if got := table.Rows[0]; got.Figure.Name != c.figure || got.Cells[1].Change.Word != c.word {
			t.Errorf("%s: %s %s (%+v), want %s %s", name, got.Figure.Name, got.Cells[1].Change.Word, got.Cells[1].Change.Ratio, c.figure, c.word)
		}
	}
}

// Of a row in which no round may be trusted nothing says that it was paced: its IOPS are shown.
func TestNothingTrustedIsNotPaced(t *testing.T) {
	of := func(name string, at int) Side {
		b := run(t, t.TempDir(), at, nil, randwrite("w", 8192, 1000))
		b.Scenarios[0].Result.Invalidate("nobody should trust it")
		b.Scenarios[0].Result.Total.Write.Clat.Mean = 1e6
		return SideOf(name, b)
	}
	table := compared(t, Options{}, of("a", 0), of("b", 1))
	if got := table.Rows[0].Figure.Name; got != "IOPS" {
		t.Errorf("%s is shown, want IOPS", got)
	}
}

// Five files imported into one run are its rounds, however the other side's are called.
func TestNumberedFilesAreRounds(t *testing.T) {
	files := func(letter string, at int) Side {
		var works []work
		for i := range 5 {
			works = append(works, randwrite(letter+strconv.Itoa(i)+"-rr", 8192, 1000*spread[i]))
		}
		return SideOf(letter, run(t, t.TempDir(), at, nil, works...))
	}
	table := compared(t, Options{}, files("a", 0), files("b", 1))
	if len(table.Rows) != 1 || len(table.Rows[0].Cells[0].Rounds) != 5 || len(table.Rows[0].Cells[1].Rounds) != 5 || len(table.Apart) > 0 {
		t.Errorf("%d rows, %q", len(table.Rows), table.Apart)
	}
	if table.Sides[0].Rounds != 5 || table.Sides[1].Rounds != 5 {
		t.Errorf("%+v", table.Sides)
	}
}

// Results of one import and one work are rounds whatever their names, unless the other side has those names, too.
func TestImportedResultsOfOneWorkAreRounds(t *testing.T) {
	side := func(name string, at int, names ...string) Side {
		var works []work
		for i, n := range names {
			works = append(works, randwrite(n, 8192, 1000*spread[i]))
		}
		return SideOf(name, run(t, t.TempDir(), at, nil, works...))
	}
	table := compared(t, Options{}, side("a", 0, "randread", "randread-2", "third"), side("b", 1, "x", "y", "z"))
	if len(table.Rows) != 1 || table.Sides[0].Rounds != 3 || table.Sides[1].Rounds != 3 || len(table.Apart) > 0 {
		t.Errorf("%d rows, %+v, %q", len(table.Rows), table.Sides, table.Apart)
	}
	table = compared(t, Options{}, side("a", 0, "before", "after"), side("b", 1, "before", "after"))
	if len(table.Rows) != 2 {
		t.Errorf("%d rows of two names that both sides have", len(table.Rows))
	}
}

func TestWorkDifferences(t *testing.T) {
	base := fio.Workload{Engine: "libaio", WriteBS: 8192, Jobs: 4, Depth: 32}
	of := func(change func(*fio.Workload)) Work {
		l := base
		change(&l)
		return workOfLoad(l)
	}
	for name, c := range map[string]struct {
		change func(*fio.Workload)
		want   string
	}{
		"same":       {func(*fio.Workload) {}, ""},
		"direction":  {func(l *fio.Workload) { l.ReadShare, l.ReadBS, l.WriteBS = 1, 8192, 0 }, "direction: write and read"},
		"mix":        {func(l *fio.Workload) { l.ReadShare, l.ReadBS = .7, 8192 }, "direction: write and rw 70/30"},
		"order":      {func(l *fio.Workload) { l.Sequential = true }, "order: random and sequential"},
		"depth":      {func(l *fio.Workload) { l.Depth = 1 }, "depth: 32 and 1"},
		"jobs":       {func(l *fio.Workload) { l.Jobs = 8 }, "jobs: 4 and 8"},
		"engine":     {func(l *fio.Workload) { l.Engine = "io_uring" }, "engine: libaio and io_uring"},
		"sync":       {func(l *fio.Workload) { l.SyncEvery, l.SyncCall = 1, "fsync" }, "sync: none and fsync every 1"},
		"a sync":     {func(l *fio.Workload) { l.SyncEvery = 1 }, "sync: none and sync every 1"},
		"rate":       {func(l *fio.Workload) { l.WriteIOPS = 100 }, "load: none and at most 100 IOPS per job"},
		"one rate":   {func(l *fio.Workload) { l.ReadIOPS, l.WriteIOPS = 100, 100 }, "load: none and at most 100 IOPS per job"}, // rate_iops=100
		"think time": {func(l *fio.Workload) { l.ThinkTime = time.Second }, "load: none and pauses of 1 s"},
	} {
		if got := strings.Join(of(func(*fio.Workload) {}).Differences(of(c.change)), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	// What an article does not say keeps nothing apart; a bare figure is not compared with known
	// work.
	seen := Work{Direction: "write", BS: 8192, Jobs: 4}
	if d := workOfLoad(base).Differences(seen); len(d) != 0 {
		t.Error(d)
	}
	if d := workOfLoad(base).Differences(Work{}); len(d) == 0 {
		t.Error("a bare figure matches everything")
	}
}

func TestNotes(t *testing.T) {
	a := side(t, "before", 0, func(i int) []work { return []work{randwrite("w", 8192, 1000*spread[i])} }, 3)
	b := side(t, "after", 100, func(i int) []work { return []work{randwrite("w", 8192, 1000*spread[i])} }, 3)
	b.Samples[0].Run.Run.Topology.Host.Kernel, a.Samples[0].Run.Run.Topology.Host.Kernel = "6.8", "6.1"
	table := compared(t, Options{}, a, b)
	for _, want := range []string{
		"kernel differs: 6.1 in before, 6.8 in after",
	} {
		if !strings.Contains(notes(table), want) {
			t.Errorf("%q is not in\n%s", want, notes(table))
		}
	}
	if strings.Contains(notes(table), "A single run per side") {
		t.Error(notes(table))
	}
	// A round that stands apart is shown and kept, and the answer without it is given.
	levels := []float64{1000, 1010, 995, 690, 1004, 999, 1003}
	a = side(t, "before", 0, func(i int) []work { return []work{randwrite("w", 8192, 1000*spread[i])} }, 7)
	b = side(t, "after", 1, func(i int) []work { return []work{randwrite("w", 8192, levels[i])} }, 7)
	table = compared(t, Options{}, a, b)
	if !strings.Contains(notes(table), "round 4 of w (after) is 31.1 % below the median of the others; it was kept") ||
		!strings.Contains(notes(table), "without outliers w (after): ") || len(table.Rows[0].Cells[1].Rounds) != 7 {
		t.Error(notes(table))
	}
}

func TestPairsByRound(t *testing.T) {
	// A session that falls by 20 %: pairs see the 3 % that groups cannot.
	fall := []float64{1, .96, .92, .88, .84, .80}
	a := side(t, "a", 0, func(i int) []work { return []work{randwrite("w", 8192, 1000*fall[i])} }, 6)
	b := side(t, "b", 1, func(i int) []work { return []work{randwrite("w", 8192, 1030*fall[i]*(1+.002*float64(i%3)))} }, 6)
	if w := compared(t, Options{}, a, b).Rows[0].Cells[1].Change.Word; w != CannotTell {
		t.Errorf("groups: %s", w)
	}
	c := compared(t, Options{Paired: true}, a, b).Rows[0].Cells[1].Change
	if c.Word != Faster || !c.Paired {
		t.Errorf("pairs: %+v", c)
	}
}

func TestGates(t *testing.T) {
	a := side(t, "a", 0, func(i int) []work { return []work{randwrite("w", 8192, 1000*spread[i])} }, 5)
	slower := side(t, "b", 1, func(i int) []work { return []work{randwrite("w", 8192, 930*spread[(i+2)%5])} }, 5)
	one := side(t, "c", 1, func(int) []work { return []work{randwrite("w", 8192, 500)} }, 1)
	table, single := compared(t, Options{}, a, slower), compared(t, Options{}, a, one)
	for name, c := range map[string]struct {
		table *Table
		gate  Gate
		fails int
	}{
		"none":                  {table, Gate{}, 0},
		"regression":            {table, Gate{Regression: true}, 1},
		"regression:5%":         {table, Gate{Regression: true, By: .05}, 1},
		"regression:10%":        {table, Gate{Regression: true, By: .10}, 0},
		"cannot tell 10 %":      {table, Gate{By: .10, CannotTell: true}, 0},
		"one run":               {single, Gate{Regression: true}, 1},
		"one run, must be seen": {single, Gate{CannotTell: true}, 1},
	} {
		if got := c.table.Judge(c.gate); len(got.Failed)+len(got.Unjudged) != c.fails || len(got.Invalid) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	one := run(t, dir, 0, map[string]string{"kernel": "6.1"}, randwrite("w", 8192, 1000))
	two := run(t, dir, 1, map[string]string{"kernel": "6.8"}, randwrite("w", 8192, 1100))
	three := run(t, dir, 2, map[string]string{"kernel": "6.8"}, randwrite("w", 8192, 1110))
	if err := os.WriteFile(dir+"/notes.txt", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		words []string
		by    string
		sides []string
		count []int
	}{
		"two runs":    {[]string{one.Dir, two.Dir}, "", []string{one.Run.ID, two.Run.ID}, []int{1, 1}},
		"commas":      {[]string{one.Dir, two.Dir + "," + three.Dir}, "", nil, []int{1, 2}},
		"directory":   {[]string{dir}, "", []string{one.Run.ID, two.Run.ID, three.Run.ID}, []int{1, 1, 1}},
		"by a label":  {[]string{dir}, "kernel", []string{"6.1", "6.8"}, []int{1, 2}},
		"labels":      {[]string{"kernel=6.1", "kernel=6.8"}, "", []string{"6.1", "6.8"}, []int{1, 2}},
		"itself":      {[]string{one.Dir, one.Dir}, "", []string{one.Run.ID, one.Run.ID + " (2)"}, []int{1, 1}},
		"by scenario": {[]string{dir}, ByScenario, []string{"w"}, []int{3}},
	} {
		l, err := Load(c.words, Source{By: c.by, In: dir})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var sides []string
		var count []int
		for _, s := range l.Sides {
			sides, count = append(sides, s.Name), append(count, len(s.Samples))
		}
		if c.sides != nil && !slices.Equal(sides, c.sides) || !slices.Equal(count, c.count) {
			t.Errorf("%s: %v %v", name, sides, count)
		}
	}
	for words, want := range map[string]string{
		"nothing": "nothing", "kernel=5": "no run below", dir + "/notes.txt": "notes.txt",
	} {
		if _, err := Load([]string{words, one.Dir}, Source{In: dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", words, err)
		}
	}
	if _, err := Load([]string{dir}, Source{By: "colour"}); err == nil || !strings.Contains(err.Error(), "kernel") {
		t.Error(err)
	}
	if _, err := New(nil, Options{}); err == nil {
		t.Error("nothing was compared")
	}
	l, err := Load([]string{one.Dir, two.Dir}, Source{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(l.Sides, Options{Base: "no"}); err == nil || !strings.Contains(err.Error(), one.Run.ID) {
		t.Error(err)
	}
}

// A run of a side that cannot be read is noted, and a gate cannot judge the side.
func TestRunThatCannotBeRead(t *testing.T) {
	before, after := t.TempDir(), t.TempDir()
	for i := range 5 {
		run(t, before, i, nil, randwrite("w", 8192, 1000*spread[i]))
		run(t, after, i+5, nil, randwrite("w", 8192, 1000*spread[i]))
	}
	for cut, file := range []string{"", "run.json", "fleet.json"} {
		if file != "" {
			dir := filepath.Join(after, "cut-"+file)
			err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, file), []byte("{"), 0o600))
			if err != nil {
				t.Fatal(err)
			}
		}
		l, err := Load([]string{before, after}, Source{})
		if err != nil {
			t.Fatal(err)
		}
		table, err := New(l.Sides, l.Options)
		if err != nil {
			t.Fatal(err)
		}
		o := table.Judge(Gate{Regression: true})
		if len(o.Unjudged) != cut || len(l.Notes) != cut || o.Passed() != (cut == 0) {
			t.Errorf("%d cut: %+v, %q", cut, o, l.Notes)
		}
	}
}

// An imported run is called by the files that it came from, with as much of their directories as tells sides apart;
// its ID names it for --base still. A run of our own, and one that was read from a pipe, keep their IDs.
func TestSidesAreNamedByTheirSources(t *testing.T) {
	dir, n := t.TempDir(), 0
	imported := func(files ...string) *bundle.Bundle {
		b := run(t, dir, n, nil, randwrite("w", 8192, float64(1000+n)))
		n++
		b.Run.Imported = files
		data, err := json.Marshal(b.Run)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.Dir, "run.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		return b
	}
	own, before, after := imported(), imported("old/before.log"), imported("/tmp/new/after.log")
	same, pipe, three := imported("more/old/before.log"), imported("-"), imported("x/a.log", "x/b.log", "x/c.log")
	for name, c := range map[string]struct {
		runs []*bundle.Bundle
		want []string
	}{
		"one file each":        {[]*bundle.Bundle{before, after}, []string{"before.log", "after.log"}},
		"equal names":          {[]*bundle.Bundle{before, same, after}, []string{"old/before.log", "more/old/before.log", "after.log"}},
		"the same run":         {[]*bundle.Bundle{after, after}, []string{"after.log", "after.log (2)"}},
		"beside a run of ours": {[]*bundle.Bundle{own, after}, []string{own.Run.ID, "after.log"}},
		"a pipe":               {[]*bundle.Bundle{pipe, after}, []string{pipe.Run.ID, "after.log"}},
		"several files":        {[]*bundle.Bundle{three, after}, []string{"a.log and 2 more", "after.log"}},
	} {
		var words, got []string
		for _, b := range c.runs {
			words = append(words, b.Dir)
		}
		l, err := Load(words, Source{})
		if err != nil {
			t.Fatal(name, err)
		}
		for _, s := range l.Sides {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: sides %q, want %q", name, got, c.want)
		}
		last := c.runs[len(c.runs)-1]
		if table, err := New(l.Sides, Options{Base: last.Run.ID}); err != nil || table.Sides[table.Base].Runs[0] != last.Run.ID {
			t.Errorf("%s: base by its ID: %v", name, err)
		}
	}
}

// fsync and fdatasync are two loads; a bundle of an earlier version, which tells only how often, may be
// either.
func TestSyncsOfTwoCalls(t *testing.T) {
	of := func(call string, each int) Work {
		return workOfLoad(fio.Workload{Engine: "psync", Sequential: true, WriteBS: 8192, Jobs: 1, Depth: 1, SyncEvery: each, SyncCall: call})
	}
	for _, c := range []struct {
		a, b Work
		want string
	}{
		{of("fsync", 1), of("fsync", 1), ""},
		{of("fsync", 1), of("fdatasync", 1), "sync: fsync every 1 and fdatasync every 1"},
		{of("fdatasync", 1), of("fsync", 1), "sync: fdatasync every 1 and fsync every 1"},
		{of("", 1), of("fdatasync", 1), ""},
		{of("fsync", 1), of("", 1), ""},
		{of("", 1), of("fsync", 2), "sync: sync every 1 and fsync every 2"},
		{of("fdatasync", 1), of("fdatasync", 10), "sync: fdatasync every 1 and fdatasync every 10"},
		{of("fdatasync", 1), of("", 0), "sync: fdatasync every 1 and none"},
	} {
		if got := strings.Join(c.a.Differences(c.b), "; "); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}
