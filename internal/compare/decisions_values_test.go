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
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// A directory is an A/B measurement by its file; one that cannot be read is an error, and what is not
// a directory is none.
func TestDescriptionOfAB(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(filepath.Join(at, ABFile), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return at
	}
	blocked := put("blocked", "")
	if err := os.Mkdir(filepath.Join(blocked, ABFile), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(put("a", `{"rounds":5,"variants":["x","y"]}`), ABFile)
	for name, c := range map[string]struct {
		dir           string
		found, failed bool
		rounds        int
	}{
		"whole":             {filepath.Dir(plain), true, false, 5},
		"broken":            {put("b", `{"rounds":`), true, true, 0},
		"empty":             {put("c", ""), false, false, 0},
		"missing":           {filepath.Join(dir, "none"), false, false, 0},
		"a file":            {plain, false, false, 0},
		"not to be read":    {blocked, false, true, 0},
		"broken, and whole": {put("d", `{"rounds":"many"}`), true, true, 0},
	} {
		ab, found, err := ReadAB(c.dir)
		if found != c.found || (err != nil) != c.failed || ab.Rounds != c.rounds {
			t.Errorf("%s: %+v, found %v, %v", name, ab, found, err)
		}
	}
	if _, _, err := ReadAB(put("e", `[]`)); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "e", ABFile)) {
		t.Errorf("the file is not named: %v", err)
	}
}

// The ratio without the rounds that stand apart: there is one where any does and two of a side are left.
func TestRatioWithoutWhatStandsApart(t *testing.T) {
	calm, off := []float64{100, 101, 99, 100, 100.5}, []float64{200, 202, 198, 201, 900}
	for name, c := range map[string]struct {
		before, after []float64
		paired        bool
		want          float64 // 0: none
	}{
		"none apart":           {calm, []float64{200, 202, 198, 201, 199}, false, 0},
		"one of the second":    {calm, off, false, 2},
		"one of the first":     {off, calm, false, 0.5},
		"few rounds":           {calm[:3], []float64{1, 2, 900}, false, 0},
		"pairs, none apart":    {calm, []float64{200, 202, 198, 200, 201}, true, 0},
		"pairs, one apart":     {calm, []float64{200, 202.1, 197.9, 200.1, 900}, true, 2},
		"pairs that move both": {[]float64{100, 50, 900, 100, 25}, []float64{200, 100.1, 1799, 200.1, 50.01}, true, 0},
	} {
		got := without(c.before, c.after, c.paired, 1)
		switch {
		case got == nil && c.want != 0:
			t.Errorf("%s: none, want %v", name, c.want)
		case got != nil && math.Abs(got.Center/c.want-1) > 0.01:
			t.Errorf("%s: %+v, want %v", name, got, c.want)
		}
	}
}

// Of a host that others use only what was measured in turn is compared, and neither side may be of one.
func TestRoundsOfASharedHost(t *testing.T) {
	samples := func(shared string, rounds ...float64) Cell {
		b := &bundle.Bundle{}
		b.Run.Policy.SharedHost = shared
		c := Cell{Rounds: rounds}
		for i := range rounds {
			c.samples = append(c.samples, Sample{Run: b, Round: i + 1, Result: &result.Result{}})
		}
		c.Figure, _ = stats.Level(rounds)
		return c
	}
	for name, c := range map[string]struct {
		a, b   Cell
		paired bool
		word   Word
		suite  bool
	}{
		"of nobody":     {samples("", 100, 101, 102), samples("", 200, 201, 202), false, Faster, true},
		"the first":     {samples("CI", 100, 101, 102), samples("", 200, 201, 202), false, CannotTell, false},
		"the second":    {samples("", 100, 101, 102), samples("CI", 200, 201, 202), false, CannotTell, false},
		"in turn":       {samples("CI", 100, 101, 102), samples("CI", 200, 201, 202), true, Faster, true},
		"one each":      {samples("", 100), samples("", 200), false, CannotTell, false},
		"without pairs": {Cell{Rounds: []float64{100}, samples: []Sample{{Round: 7, Run: &bundle.Bundle{}, Result: &result.Result{}}}}, samples("", 200, 201), true, CannotTell, false},
	} {
		table := &Table{Margin: 0.03, Paired: c.paired, Sides: make([]Column, 2), Rows: []Row{
			{Figure: iops(), Cells: []Cell{c.a, c.b}}, {Figure: iops(), Cells: []Cell{c.a, c.b}},
		}}
		table.test()
		table.suite()
		change := table.Rows[0].Cells[1].Change
		if change == nil || change.Word != c.word || table.Rows[0].Cells[0].Change != nil {
			t.Errorf("%s: %+v", name, change)
			continue
		}
		if shared := strings.Contains(change.Why, "shared host (CI)"); shared != (c.word == CannotTell && strings.HasPrefix(name, "the ")) {
			t.Errorf("%s: %q", name, change.Why)
		}
		told := len(table.Suite) == 2 && table.Suite[1] != nil && table.Suite[1].Word == Faster
		if told != c.suite {
			t.Errorf("%s: suite %+v", name, table.Suite)
		}
	}
}

// cellOf is a side's cell of rounds that measured these figures.
func cellOf(rounds ...float64) Cell {
	c := Cell{Rounds: rounds}
	for i := range rounds {
		c.samples = append(c.samples, Sample{Run: &bundle.Bundle{}, Round: i + 1, Result: &result.Result{}})
	}
	c.Figure, _ = stats.Level(rounds)
	return c
}

// Holm's correction and what could have been seen count the cells with rounds on both sides, the base's
// own not among them.
func TestFiguresThatAreTested(t *testing.T) {
	a, b := []float64{100, 104, 98}, []float64{103, 109, 102}
	table := &Table{Margin: 0.03, Base: 1, Sides: make([]Column, 3), Rows: []Row{
		{Figure: iops(), Cells: []Cell{cellOf(b...), cellOf(a...), cellOf(b...)}},
		{Figure: iops(), Cells: []Cell{cellOf(b[0]), cellOf(a...), {}}},
	}}
	table.test()
	alone, err := stats.CompareRounds(a, b, stats.Design{Figures: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{0, 2} {
		c := table.Rows[0].Cells[k].Change
		if c.P != alone.P || math.Abs(c.PHolm-2*alone.P) > 1e-12 { // two are tested, and both are alike
			t.Errorf("side %d: p %v and %v, want %v and twice that", k, c.P, c.PHolm, alone.P)
		}
		if want := alone.LeastSeen(0.05 / 2); c.LeastSeen != want || c.Needs != alone.RoundsToSee(0.03, 0.05/2) {
			t.Errorf("side %d: %v could have been seen, want %v; %d rounds", k, c.LeastSeen, want, c.Needs)
		}
	}
	if c := table.Rows[1].Cells[0].Change; c == nil || c.Method != stats.NoTest || c.PHolm != 1 || c.LeastSeen != 0 {
		t.Errorf("one round: %+v", c)
	}
	if table.Rows[1].Cells[2].Change != nil || table.Rows[0].Cells[1].Change != nil {
		t.Error("a change of nothing, or of the base")
	}
}

// The suite takes rows that both sides measured as often as any, and a burst of either side.
func TestRowsOfTheSuite(t *testing.T) {
	cell := func(sustained float64, rounds ...float64) Cell {
		c := Cell{Rounds: rounds, Sustained: sustained}
		c.Figure, _ = stats.Level(rounds)
		return c
	}
	whole := []Row{
		{Figure: iops(), Cells: []Cell{cell(0, 10, 11), cell(0, 20, 22)}},
		{Figure: iops(), Cells: []Cell{cell(0, 10, 11), cell(0, 80, 88)}},
	}
	for name, c := range map[string]struct {
		more      Row
		want      float64
		sustained float64
	}{
		"the second measured it less often": {Row{Figure: iops(), Cells: []Cell{cell(0, 10, 11), cell(0, 1)}}, 4, 0},
		"the first measured it less often":  {Row{Figure: iops(), Cells: []Cell{cell(0, 10), cell(0, 1, 1)}}, 4, 0},
		"only the first measured it":        {Row{Figure: iops(), Cells: []Cell{cell(0, 10, 11, 12), {}}}, 4, 0},
		"only the second measured it":       {Row{Figure: iops(), Cells: []Cell{{}, cell(0, 10, 11, 12)}}, 4, 0},
		"the second is a burst of twice":    {Row{Figure: iops(), Cells: []Cell{cell(0, 10, 10), cell(0.5, 40, 40)}}, 4, math.Cbrt(2 * 8 * 0.05)},
		"the first is a burst of twice":     {Row{Figure: iops(), Cells: []Cell{cell(0.5, 10, 10), cell(0, 40, 40)}}, 4, math.Cbrt(2 * 8 * 80)},
	} {
		table := &Table{Margin: 0.03, Sides: make([]Column, 2), Rows: append(slices.Clone(whole), c.more)}
		table.suite()
		if len(table.Suite) != 2 || table.Suite[1] == nil {
			t.Errorf("%s: no suite", name)
			continue
		}
		if s := table.Suite[1]; math.Abs(s.Ratio.Center-c.want) > 1e-9 || math.Abs(s.Sustained-c.sustained) > 1e-9 {
			t.Errorf("%s: %v, sustained %v; want %v and %v", name, s.Ratio.Center, s.Sustained, c.want, c.sustained)
		}
	}
}

// A series of a fleet: what names it, and what a point of it says.
func TestKeysOfFleets(t *testing.T) {
	created := began
	fleet := func(change func(*bundle.Fleet, *bundle.FleetScenario)) *bundle.Fleet {
		f := &bundle.Fleet{ID: "f", Suite: "db", Created: created, Hosts: []bundle.FleetHost{
			{Name: "b", Facts: map[string]string{"data layout": "raid0"}},
			{Name: "a", Facts: map[string]string{"wal layout": "raid1"}},
			{Name: "other", Facts: map[string]string{"data layout": "never"}},
		}, Scenarios: []bundle.FleetScenario{{ID: 4, Name: "w", Hosts: []bundle.FleetFigure{{Host: "b"}, {Host: "a"}}}}}
		change(f, &f.Scenarios[0])
		return f
	}
	want := Key{Suite: "db", Scenario: "w", Work: "w", Layout: "raid0; raid1", Group: "fleet of a and b"}
	for name, c := range map[string]struct {
		change func(*bundle.Fleet, *bundle.FleetScenario)
		want   func(*Key)
	}{
		"plain":       {func(*bundle.Fleet, *bundle.FleetScenario) {}, func(*Key) {}},
		"no suite":    {func(f *bundle.Fleet, _ *bundle.FleetScenario) { f.Suite = "" }, func(k *Key) { k.Suite = "fleet" }},
		"a title":     {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.Title = "writes" }, func(k *Key) { k.Work = "writes" }},
		"a byte":      {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.Size = 1 }, func(k *Key) { k.Size = "1 B" }},
		"a ns":        {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.Runtime = 1 }, func(k *Key) { k.Runtime = "1 ns" }},
		"shared":      {func(f *bundle.Fleet, _ *bundle.FleetScenario) { f.Shared = true }, func(k *Key) { k.Layout = "shared raid0; raid1" }},
		"no layout":   {func(f *bundle.Fleet, _ *bundle.FleetScenario) { f.Hosts = nil }, func(k *Key) { k.Layout = "" }},
		"shared only": {func(f *bundle.Fleet, _ *bundle.FleetScenario) { f.Hosts, f.Shared = nil, true }, func(k *Key) { k.Layout = "shared" }},
	} {
		f, k := fleet(c.change), want
		c.want(&k)
		if got := fleetKey(f, &f.Scenarios[0]); got != k {
			t.Errorf("%s: %+v, want %+v", name, got, k)
		}
	}
	later := created.Add(time.Hour)
	for name, c := range map[string]struct {
		change  func(*bundle.Fleet, *bundle.FleetScenario)
		at      time.Time
		share   float64
		invalid string
	}{
		"plain":                {func(*bundle.Fleet, *bundle.FleetScenario) {}, created, 0, ""},
		"its own time":         {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.At = later }, later, 0, ""},
		"half of the ceiling":  {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.Ceiling = &bundle.FleetCeiling{IOPS: 0.5} }, created, 0.5, ""},
		"an unknown ceiling":   {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.Ceiling = &bundle.FleetCeiling{} }, created, 0, ""},
		"not to be trusted":    {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.Invalid = []string{"x", "y"} }, created, 0, "x"},
		"above, and not after": {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.Ceiling = &bundle.FleetCeiling{IOPS: 0.125} }, created, 2, ""},
	} {
		f := fleet(c.change)
		f.Scenarios[0].Total.IOPS = 0.25
		p := fleetPoint(f, &f.Scenarios[0])
		_, told := p.Facts["ceiling"]
		if !p.At.Equal(c.at) || p.Share != c.share || p.Invalid != c.invalid || told != (c.share > 0) || p.Rounds != 1 || p.Facts["hosts"] != "2" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	f := fleet(func(f *bundle.Fleet, _ *bundle.FleetScenario) { f.Labels = map[string]string{"k": "v"} })
	for want, filters := range map[bool][]Filter{
		true: {
			{},
			{Suite: "db"},
			{Scenario: "w"},
			{Scenario: "4"},
			{Host: "a"},
			{Labels: map[string]string{"k": "v"}},
			{Suite: "db", Scenario: "w", Host: "b"},
		},
		false: {
			{Suite: "d"},
			{Scenario: "5"},
			{Host: "other"},
			{Labels: map[string]string{"k": "w"}},
			{Suite: "d", Scenario: "w", Host: "b"},
			{Suite: "db", Scenario: "x", Host: "b"},
			{Suite: "db", Scenario: "w", Host: "x"},
		},
	} {
		for _, filter := range filters {
			if filter.passesFleet(f, &f.Scenarios[0]) != want {
				t.Errorf("%+v: passes %v", filter, !want)
			}
		}
	}
}

// A figure above a bound that lasts is no burst; one above what lasts of a burst is.
func TestWhatLastsOfAFigure(t *testing.T) {
	of := func(figure float64, bounds ...ceiling.Bound) *Cell {
		s := &bundle.Scenario{Ceiling: &ceiling.Ceiling{Bounds: bounds}}
		r := Row{Figure: iops(), Cells: []Cell{{all: []Sample{{
			Round: 1, Scenario: s, Result: &result.Result{Total: fio.Job{Read: fio.Direction{N: 1, IOPS: units.IOPS(figure)}}},
		}}}}}
		r.fill(0)
		return &r.Cells[0]
	}
	lasts := func(n units.IOPS) ceiling.Bound { return ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: n} }
	burst := func(n units.IOPS) ceiling.Bound { return ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: n, Burst: true} }
	for name, c := range map[string]struct {
		cell               *Cell
		ceiling, sustained float64
	}{
		"above what lasts":             {of(2000, lasts(1000)), 1000, 0},
		"within what lasts":            {of(900, lasts(1000)), 1000, 0},
		"a burst":                      {of(2000, lasts(0.5), burst(3000)), 3000, 0.5},
		"as much as lasts of a burst":  {of(1000, lasts(1000), burst(3000)), 3000, 0},
		"less than lasts of a burst":   {of(999, lasts(1000), burst(3000)), 3000, 0},
		"little more than that":        {of(1001, lasts(1000), burst(3000)), 3000, 1000},
		"a burst of which none lasts":  {of(2000, lasts(0), burst(3000)), 3000, 0},
		"a ceiling of half an I/O":     {of(2000, lasts(0.5)), 0.5, 0},
		"nothing that is known of it":  {of(2000), 0, 0},
		"what the result itself shows": {of(2000, ceiling.Bound{Kind: ceiling.Concurrency, IOPS: 5, Origin: topology.Origin{Kind: topology.Measured}}), 0, 0},
	} {
		if c.cell.Ceiling != c.ceiling || c.cell.Sustained != c.sustained {
			t.Errorf("%s: %v and %v, want %v and %v", name, c.cell.Ceiling, c.cell.Sustained, c.ceiling, c.sustained)
		}
		if want := c.cell.Figure.Center / c.ceiling; c.ceiling > 0 && c.cell.Share != want {
			t.Errorf("%s: a share of %v, want %v", name, c.cell.Share, want)
		}
	}
}

// Figures that are not tested are shown where two sides have them, with the ratio to the base.
func TestOtherFiguresOfARow(t *testing.T) {
	cell := func(p99 ...time.Duration) Cell {
		var c Cell
		for _, v := range p99 {
			r := &result.Result{}
			if v > 0 {
				r.Total.Read = fio.Direction{N: 1, Clat: fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 99, Value: v}}}}
			}
			c.samples = append(c.samples, Sample{Result: r})
		}
		return c
	}
	for name, c := range map[string]struct {
		cells  []Cell
		base   int
		shown  bool
		ratios []float64 // 0: none
	}{
		"both":          {[]Cell{cell(100, 100), cell(200, 200)}, 0, true, []float64{0, 2}},
		"of the second": {[]Cell{cell(100, 100), cell(200, 200)}, 1, true, []float64{0.5, 0}},
		"one each":      {[]Cell{cell(100), cell(300)}, 0, true, []float64{0, 3}},
		"one side":      {[]Cell{cell(100, 100), cell(0)}, 0, false, nil},
		"neither":       {[]Cell{cell(0), cell(0)}, 0, false, nil},
		"not the base":  {[]Cell{cell(0), cell(100), cell(200)}, 0, true, []float64{0, 0, 0}},
		"not the third": {[]Cell{cell(100), cell(200), cell(0)}, 0, true, []float64{0, 2, 0}},
	} {
		r := Row{Cells: c.cells}
		r.others(c.base)
		if (len(r.Others) == 1) != c.shown {
			t.Errorf("%s: %+v", name, r.Others)
			continue
		}
		for k, want := range c.ratios {
			if got := r.Others[0].Ratios[k].Center; math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: side %d %v, want %v", name, k, got, want)
			}
		}
	}
}

// Two scenarios of one run that did the same work are rows of their own, each the one of its name.
func TestWorkThatARunDidTwice(t *testing.T) {
	dir := t.TempDir()
	w := func(name string) work { return randwrite(name, 8192, 1000) }
	one := run(t, dir, 1, nil, w("after"))
	two := run(t, dir, 2, nil, w("before"), w("after"))
	table := compared(t, Options{}, SideOf("one", one), SideOf("two", two))
	got := ""
	for _, r := range table.Rows {
		got += r.Name
		for _, c := range r.Cells {
			got += fmt.Sprintf(" %d", len(c.all))
			for _, s := range c.all {
				got += s.Scenario.Name
			}
		}
		got += "; "
	}
	if got != "random write 8 KiB, depth 32 × 4 jobs, libaio 1after 2beforeafter; " { // by no name of either
		t.Error(got)
	}
	// The base by its name, be it the first.
	for k, name := range []string{"one", "two"} {
		if table := compared(t, Options{Base: name}, SideOf("one", one), SideOf("two", two)); table.Base != k {
			t.Errorf("the base %s is side %d", name, table.Base)
		}
	}
	if _, err := New([]Side{SideOf("one", one), SideOf("two", two)}, Options{Base: "three"}); err == nil || !strings.Contains(err.Error(), "one, two") {
		t.Errorf("%v", err)
	}
}

// What names a series: sizes and times from the least on, and the words of a work of depth 1.
func TestKeysAtTheirLeast(t *testing.T) {
	b := inMemory(1, 1000)
	s := &b.Scenarios[0]
	key := func() Key { return keyOf(Sample{Run: b, Scenario: s, Result: s.Result}, "") }
	if s.Size, s.Runtime = 1, 1; key().Size != "1 B" || key().Runtime != "1 ns" {
		t.Errorf("%+v", key())
	}
	if s.Size, s.Runtime = 0, 0; key().Size != "" || key().Runtime != "" {
		t.Errorf("%+v", key())
	}
	for scale, want := range map[float64]string{0: "", 1: "", 0.5: "simulated at 0.5 of the real rates", 2: "simulated at 2 of the real rates"} {
		if b.Run.Topology.Scale = scale; key().Scale != want {
			t.Errorf("a scale of %v: %q", scale, key().Scale)
		}
	}
	if got := (Work{Direction: "read", Order: "random", Depth: 1, Jobs: 1}).String(); got != "random read, depth 1" {
		t.Error(got)
	}
	if got := (Work{Direction: "read", BS: 1}).String(); got != "read 1 B" {
		t.Error(got)
	}
	// Of earlier runs those count that were made until then.
	var runs []*bundle.Bundle
	for n := range 12 {
		runs = append(runs, inMemory(n, 1000+float64(n%3)))
	}
	now := inMemory(6, 1000)
	now.Run.ID = "now"
	if j := AgainstRuns(now, runs, 10).Rows[0]; j.Earlier != 7 {
		t.Errorf("%d earlier runs, want those of the days 0 to 6", j.Earlier)
	}
	if j := AgainstRuns(runs[6], runs, 10).Rows[0]; j.Earlier != 6 {
		t.Errorf("%d earlier runs, want those of the days 0 to 5", j.Earlier)
	}
	if all, _ := History(runs, Filter{Last: 1}); len(all) != 1 || len(all[0].Points) != 1 || all[0].Points[0].Run != "run-011" {
		t.Errorf("%+v", all)
	}
}

// What a month of a machine buys of sustained IOPS, in the first row that counts them.
func TestPricesOfSides(t *testing.T) {
	b := func(typ string) *bundle.Bundle {
		b := &bundle.Bundle{}
		b.Run.Topology.Instance.Type = typ
		return b
	}
	side := func(types ...string) Side {
		var s Side
		for _, typ := range types {
			s.Samples = append(s.Samples, Sample{Run: b(typ), Result: &result.Result{}})
		}
		return s
	}
	cell := func(v, sustained float64) Cell {
		c := Cell{Rounds: []float64{v}, Sustained: sustained}
		c.Figure.Center = v
		return c
	}
	rows := func(first Figure, a, b Cell) []Row {
		return []Row{{Name: "r", Figure: first, Cells: []Cell{a, b}}}
	}
	// c8g.2xlarge is 232.90 a month: over 1,000 IOPS 0.2329 each.
	const large, small = "c8g.2xlarge", "c8g.large"
	for name, c := range map[string]struct {
		sides []Side
		rows  []Row
		want  string // of the first side; empty for no note
	}{
		"two types":             {[]Side{side(large), side(small)}, rows(iops(), cell(1000, 0), cell(1, 0)), large + ": $232.90 a month, $0.2329 for each of 1,000 sustained IOPS"},
		"a burst":               {[]Side{side(large), side(small)}, rows(iops(), cell(5000, 1000), cell(1, 0)), large + ": $232.90 a month, $0.2329 for each of 1,000 sustained IOPS"},
		"rounded up":            {[]Side{side(large), side(small)}, rows(iops(), cell(3000, 0), cell(1, 0)), large + ": $232.90 a month, $0.0776 for each of 3,000 sustained IOPS"},
		"rounded down":          {[]Side{side(large), side(small)}, rows(iops(), cell(7000, 0), cell(1, 0)), large + ": $232.90 a month, $0.0333 for each of 7,000 sustained IOPS"},
		"no IOPS":               {[]Side{side(large), side(small)}, rows(bandwidth(), cell(1000, 0), cell(1, 0)), large + ": $232.90 a month"},
		"no figure":             {[]Side{side(large), side(small)}, rows(iops(), Cell{}, cell(1, 0)), large + ": $232.90 a month"},
		"one type":              {[]Side{side(large), side(large)}, rows(iops(), cell(1000, 0), cell(1, 0)), ""},
		"a side of two types":   {[]Side{side(large, small), side(small)}, rows(iops(), cell(1000, 0), cell(1, 0)), ""},
		"several of a side":     {[]Side{side(large, large), side(small)}, rows(iops(), cell(1000, 0), cell(1, 0)), large + ": $232.90 a month, $0.2329 for each of 1,000 sustained IOPS"},
		"no price of the first": {[]Side{side("x"), side("y")}, rows(iops(), cell(1000, 0), cell(1, 0)), ""},
	} {
		table := &Table{Sides: make([]Column, 2), Rows: c.rows}
		table.prices(c.sides)
		if c.want == "" {
			if len(table.Notes) != 0 {
				t.Errorf("%s: %q", name, table.Notes)
			}
			continue
		}
		if len(table.Notes) != 3 || table.Notes[0] != c.want || !strings.HasPrefix(table.Notes[2], "prices of instances in us-east-1: ") {
			t.Errorf("%s: %q, want %q", name, table.Notes, c.want)
		}
	}
	table := &Table{Sides: make([]Column, 2), Rows: append(rows(bandwidth(), cell(9, 0), cell(9, 0)), Row{Name: "second", Figure: iops(), Cells: []Cell{cell(1000, 0), cell(1, 0)}})}
	if table.prices([]Side{side(large), side(small)}); !strings.HasSuffix(table.Notes[0], " sustained IOPS (second)") {
		t.Errorf("%q", table.Notes)
	}
}

// Points of a sweep by hand: what is in flight, which round counts, and the curve of the others.
func TestSweptByHand(t *testing.T) {
	at := func(name string, depth, jobs int, iops float64, invalid string) Sample {
		r := &result.Result{State: result.Done, Workloads: []fio.Workload{{Engine: "libaio", ReadShare: 1, ReadBS: 4096, Jobs: jobs, Depth: depth}}}
		r.Total.Read = fio.Direction{N: 1, IOPS: units.IOPS(iops), BW: units.Rate(iops) * 4096, Clat: fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 50, Value: 5}, {P: 99, Value: 9}}}}
		r.Total.Write = fio.Direction{N: 1, Clat: fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 50, Value: 4}, {P: 99, Value: 11}}}}
		r.Total.Sync.Lat = fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 50, Value: 70}, {P: 99, Value: 90}}}
		s := &bundle.Scenario{}
		s.Name, s.Result = name, r
		return Sample{Run: &bundle.Bundle{}, Scenario: s, Result: r, Invalid: invalid}
	}
	p := sweptPoint([]Sample{at("w@bs=4k,iodepth=8,odd", 8, 2, 0.5, "")})
	if p.InFlight != 16 || !maps.Equal(p.At, map[string]string{"bs": "4k", "iodepth": "8"}) || p.IOPS.Center != 0.5 || p.P50 != 5 || p.P99 != 11 || p.Struck != 0 || p.Rounds != 1 || p.BW != 2048 {
		t.Errorf("%+v", p)
	}
	p = sweptPoint([]Sample{at("w@iodepth=8", 8, 2, 0.5, "bad")})
	if p.Struck != 0.5 || p.Invalid != "bad" || p.Rounds != 0 {
		t.Errorf("%+v", p)
	}
	if p = sweptPoint([]Sample{at("w@iodepth=8", 8, 2, 0, "bad")}); p.Struck != 0 {
		t.Errorf("%+v", p)
	}
	// Alike are taken once, what is invalid or nothing is left out, and the order is that of depths.
	points := []SweptPoint{
		{InFlight: 8, IOPS: stats.Estimate{Center: 800}},
		{InFlight: 1, IOPS: stats.Estimate{Center: 100}},
		{InFlight: 2, IOPS: stats.Estimate{Center: 200}},
		{InFlight: 4, IOPS: stats.Estimate{Center: 400}},
		{InFlight: 4, IOPS: stats.Estimate{Center: 9999}},
		{InFlight: 64, IOPS: stats.Estimate{Center: 1}, Invalid: "bad"},
		{InFlight: 128},
		{InFlight: 16, IOPS: stats.Estimate{Center: 900}, Ceiling: 0.5},
	}
	c := curveOf(points)
	if c.Why != "" || c.Deepest.InFlight != 16 || math.Abs(c.Predicted-0.5*c.Curve.R0) > 1e-12 || c.Predicted == 0 {
		t.Errorf("%+v", c)
	}
	if c := curveOf(points[5:7]); c.Why != "no valid point" {
		t.Errorf("%+v", c)
	}
	if c := curveOf(points[:3]); !strings.Contains(c.Why, "four depths") {
		t.Errorf("%+v", c)
	}
}

// Names that differ by their numbers only are rounds; so are those of several runs of a side, whatever
// they are called.
func TestNamesOfRounds(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"w1", "w22", true}, {"w", "w9", true}, {"1w2", "w", true}, {"w1", "v1", false}, {"w:1", "w1", false}, {"w/", "w", false}, {"", "42", true}} {
		if got := repeats(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
	dir := t.TempDir()
	w := func(n int, name string) *bundle.Bundle { return run(t, dir, n, nil, randwrite(name, 8192, 1000)) }
	table := compared(t, Options{}, SideOf("one", w(1, "x")), SideOf("two", w(2, "first"), w(3, "second")))
	if len(table.Rows) != 1 || len(table.Rows[0].Cells[1].all) != 2 {
		t.Errorf("%+v", table.Rows)
	}
}

// Engines that have one I/O at a time are alike, and syncs that were measured are there.
func TestWorkAsStated(t *testing.T) {
	synced := &result.Result{}
	synced.Total.Sync.Lat = fio.Latency{N: 1, Mean: 1}
	for name, c := range map[string]struct {
		w    Work
		r    *result.Result
		want Work
	}{
		"psync":            {Work{Engine: "psync", Depth: 1, Sync: "none"}, &result.Result{}, Work{Engine: "sync", Depth: 1, Sync: "none"}},
		"of no depth":      {Work{Engine: "vsync"}, &result.Result{}, Work{Engine: "sync"}},
		"a depth of two":   {Work{Engine: "psync", Depth: 2}, &result.Result{}, Work{Engine: "psync", Depth: 2}},
		"libaio":           {Work{Engine: "libaio", Depth: 1}, &result.Result{}, Work{Engine: "libaio", Depth: 1}},
		"syncs measured":   {Work{Sync: "none"}, synced, Work{}},
		"fsync, measured":  {Work{Sync: "fsync every 1"}, synced, Work{Sync: "fsync every 1"}},
		"none, none known": {Work{Sync: "none"}, &result.Result{}, Work{Sync: "none"}},
	} {
		if got := asStated(c.w, c.r); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// A depth shows where nearly all I/Os were one at a time.
	for name, c := range map[string]struct {
		depths []fio.Share
		want   int
	}{
		"one": {[]fio.Share{{Label: "1", Value: 0.999}, {Label: "2", Value: 0.001}}, 1}, "nearly": {[]fio.Share{{Label: "1", Value: 0.998}}, 0},
		"two": {[]fio.Share{{Label: "2", Value: 1}}, 0}, "none": {nil, 0},
	} {
		r := &result.Result{Total: fio.Job{Read: fio.Direction{IOPS: 0.5, BW: 2048}, Depths: c.depths}}
		if got := seenWork(r); got.Depth != c.want || got.BS != 4096 || got.Direction != "read" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Why there is no series: the nearest of the same scenario and suite, by how much differs.
func TestNearestSeries(t *testing.T) {
	key := Key{Suite: "s", Scenario: "w", Work: "x", Group: "h"}
	with := func(f func(*Key)) Series { k := key; f(&k); return Series{Key: k} }
	const few = "too few runs to judge (0 of 5)"
	for name, c := range map[string]struct {
		series []Series
		want   string
	}{
		"none":             {nil, few},
		"another scenario": {[]Series{with(func(k *Key) { k.Scenario = "v" })}, few},
		"another suite":    {[]Series{with(func(k *Key) { k.Suite = "t" })}, few},
		"another host":     {[]Series{with(func(k *Key) { k.Group = "i" })}, "earlier runs measured something else: host: i and h"},
		"the nearer": {
			[]Series{with(func(k *Key) { k.Group = "i" }), with(func(k *Key) { k.Group, k.Work = "i", "y" })},
			"earlier runs measured something else: host: i and h",
		},
		"the later of two as near": {
			[]Series{with(func(k *Key) { k.Group = "i" }), with(func(k *Key) { k.Group = "j" })},
			"earlier runs measured something else: host: j and h",
		},
		"a size": {[]Series{with(func(k *Key) { k.Size = "1 GiB" })}, "earlier runs measured something else: size: 1 GiB and not known"},
	} {
		if got := noSeries(key, c.series); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := changed(map[string]string{"a": "1", "b": "2", "c": ""}, map[string]string{"a": "1", "b": "3", "c": "4", "d": "5"}); !slices.Equal(got, []string{"b was 2 and is 3"}) {
		t.Errorf("%q", got)
	}
	// Only what stands as a regression is one, however far it fell.
	for standing, want := range map[Standing]int{Regression: 1, AsExpected: 0, Better: 0} {
		j := Judgment{Scenario: "w", Standing: standing, Now: stats.Estimate{Center: 90}, Expected: stats.Estimate{Center: 100}}
		if got := (&Against{Rows: []Judgment{j}}).Judge(Gate{Regression: true, By: 0.05}); len(got.Failed) != want {
			t.Errorf("%s: %+v", standing, got)
		}
	}
}

// Rounds that are missing on a side are counted, from one that is there on.
func TestMissingRoundsAreNoted(t *testing.T) {
	for there, want := range map[int]string{0: "", 1: "r has 1 of 2 rounds in b", 2: ""} {
		table := &Table{Sides: []Column{{Name: "a", Rounds: 2}, {Name: "b", Rounds: 2}}}
		table.rowNotes(&Row{Name: "r", Cells: []Cell{{all: make([]Sample, 2)}, {all: make([]Sample, there)}}})
		if got := strings.Join(table.Notes, "|"); got != want {
			t.Errorf("%d rounds: %q, want %q", there, got, want)
		}
	}
	// Five rounds of which one is a tenth off, or less, or two steps off.
	for last, want := range map[float64]bool{109.9: false, 111: true, 89: true, 90.1: false} {
		c := Cell{Rounds: []float64{100, 100.1, 99.9, 100.2, last}}
		for i := range c.Rounds {
			c.samples = append(c.samples, Sample{Round: i + 1})
		}
		c.all = c.samples
		table := &Table{Sides: []Column{{Name: "a", Rounds: 5}}}
		if table.rowNotes(&Row{Name: "r", Cells: []Cell{c}}); (len(table.Notes) == 1) != want || want && !strings.HasPrefix(table.Notes[0], "round 5 of r (a) is ") {
			t.Errorf("%v: %q", last, table.Notes)
		}
	}
	// A burst of the base alone is told of, too.
	cell := func(sustained float64, rounds ...float64) Cell {
		c := Cell{Rounds: rounds, Sustained: sustained}
		for i := range rounds {
			c.samples = append(c.samples, Sample{Round: i + 1, Run: &bundle.Bundle{}, Result: &result.Result{}})
		}
		c.Figure, _ = stats.Level(rounds)
		return c
	}
	for name, c := range map[string]struct {
		a, b Cell
		want float64
	}{
		"neither": {cell(0, 8, 8.1), cell(0, 16, 16.1), 0}, "the base": {cell(0.5, 8, 8), cell(0, 16, 16), 32}, "the other": {cell(0, 8, 8), cell(0.5, 16, 16), 0.0625},
	} {
		table := &Table{Margin: 0.03, Sides: make([]Column, 2)}
		if got := table.change(&Row{Figure: iops(), Cells: []Cell{c.a, c.b}}, 1, 1); math.Abs(got.Sustained-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got.Sustained, c.want)
		}
	}
}

// Values of one by one axes at their bounds, and what a run must have been to be a search or a sweep.
func TestSearchesAndSweepsOfRuns(t *testing.T) {
	for axis, ok := range map[string]bool{"iodepth=101": true, "numjobs=200": true, "rwmixread=100": true, "rwmixread=101": false, "bs=x": false, "iodepth=x": false} {
		if _, err := ParseAxis(axis); (err == nil) != ok {
			t.Errorf("%s: %v", axis, err)
		}
	}
	empty := &bundle.Bundle{}
	for _, most := range []string{"", "read.clat.p99 <= 2ms"} {
		empty.Run.Settings.Most = most
		if _, err := FindMost(empty); err == nil || !strings.Contains(err.Error(), "not made by") {
			t.Errorf("%q: %v", most, err)
		}
	}
	b := inMemory(1, 1000)
	if s := Sweep(b); s.Scenario != "" || len(s.Points) != 1 || s.Points[0].IOPS.Center != 1000 {
		t.Errorf("%+v", s)
	}
	for _, name := range []string{"w@iodepth=1", "v@iodepth=2"} {
		one := suite.Scenario{Name: name}
		b.Run.Suite.Scenarios = append(b.Run.Suite.Scenarios, one)
	}
	if s := Sweep(b); s.Scenario != "w" {
		t.Errorf("%+v", s)
	}
	if _, err := NewMostSearch(searchBase(), "latency.mean < 2ms", 1); err == nil || !strings.Contains(err.Error(), "a percentile or mean of a latency") {
		t.Errorf("a database's transactions: %v", err)
	}
	// The first probe of half an I/O leaves something to look for; of none there is nothing.
	for done, want := range map[float64]float64{0: 0, 0.5: 1} {
		m, err := NewMostSearch(searchBase(), "read.clat.p99 <= 2ms", 1)
		if err != nil {
			t.Fatal(err)
		}
		h := &fio.Hist{}
		h.Add(time.Millisecond, 100)
		r := &result.Result{State: result.Done, Measured: time.Minute}
		r.Total.Read = fio.Direction{N: 100, IOPS: units.IOPS(done), Clat: fio.Latency{N: 100, Hist: h}}
		if o := m.outcome([]bundle.Scenario{{Scenario: searchBase(), Result: r}}); o.next != want {
			t.Errorf("%v done: next %v, want %v", done, o.next, want)
		}
	}
}
