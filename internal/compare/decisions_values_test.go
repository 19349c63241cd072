package compare

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
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
	for path, want := range map[string]bool{dir: true, plain: false, filepath.Join(dir, "none"): false} {
		if isDir(path) != want {
			t.Errorf("%s: a directory %v", path, !want)
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

// Holm's correction and what could have been seen count the cells with rounds on both sides, the base's
// own not among them.
func TestFiguresThatAreTested(t *testing.T) {
	cell := func(rounds ...float64) Cell {
		c := Cell{Rounds: rounds}
		for i := range rounds {
			c.samples = append(c.samples, Sample{Run: &bundle.Bundle{}, Round: i + 1, Result: &result.Result{}})
		}
		c.Figure, _ = stats.Level(rounds)
		return c
	}
	a, b := []float64{100, 104, 98}, []float64{103, 109, 102}
	table := &Table{Margin: 0.03, Base: 1, Sides: make([]Column, 3), Rows: []Row{
		{Figure: iops(), Cells: []Cell{cell(b...), cell(a...), cell(b...)}},
		{Figure: iops(), Cells: []Cell{cell(b[0]), cell(a...), {}}},
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
			{Name: "b", Facts: map[string]string{"data layout": "raid0"}}, {Name: "a", Facts: map[string]string{"wal layout": "raid1"}},
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
		"a ns":        {func(_ *bundle.Fleet, s *bundle.FleetScenario) { s.Runtime = 1 }, func(k *Key) { k.Runtime = "1ns" }},
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
	f := fleet(func(f *bundle.Fleet, s *bundle.FleetScenario) { f.Labels = map[string]string{"k": "v"} })
	for want, filters := range map[bool][]Filter{
		true: {
			{}, {Suite: "db"}, {Scenario: "w"}, {Scenario: "4"}, {Host: "a"}, {Labels: map[string]string{"k": "v"}},
			{Suite: "db", Scenario: "w", Host: "b"},
		},
		false: {
			{Suite: "d"}, {Scenario: "5"}, {Host: "other"}, {Labels: map[string]string{"k": "w"}}, {Suite: "d", Scenario: "w", Host: "b"},
			{Suite: "db", Scenario: "x", Host: "b"}, {Suite: "db", Scenario: "w", Host: "x"},
		},
	} {
		for _, filter := range filters {
			if filter.passesFleet(f, &f.Scenarios[0]) != want {
				t.Errorf("%+v: passes %v", filter, !want)
			}
		}
	}
}
