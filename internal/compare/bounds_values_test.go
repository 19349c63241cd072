package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// What can be searched: one job of random reads or writes of a suite, for a percentile or the mean of a
// latency from above.
func TestWhatCanBeSearched(t *testing.T) {
	with := func(change func(*suite.Scenario)) suite.Scenario {
		s := searchBase()
		change(&s)
		return s
	}
	job := func(rw string) suite.Scenario {
		return with(func(s *suite.Scenario) { s.Job = WithOptions(s.Job, map[string]string{"rw": rw}) })
	}
	const latency, own, random = "a percentile or mean of a latency", "a job file of its own, or several jobs", "is sequential, or trims"
	for name, c := range map[string]struct {
		s         suite.Scenario
		threshold string
		want      string // empty: it can
	}{
		"a percentile":       {searchBase(), "read.clat.p99 < 2ms", ""},
		"or as much":         {searchBase(), "read.lat.p50 <= 2ms", ""},
		"the mean":           {searchBase(), "read.clat.mean < 2ms", ""},
		"the most":           {searchBase(), "read.clat.max < 2ms", latency},
		"from below":         {searchBase(), "read.clat.mean > 2ms", latency},
		"from below, or as":  {searchBase(), "read.clat.mean >= 2ms", latency},
		"a rate":             {searchBase(), "read.iops < 500", latency},
		"transactions":       {searchBase(), "latency.p99 < 2ms", latency},
		"reads and writes":   {job("randrw"), "read.clat.p99 < 2ms", ""},
		"writes":             {job("randwrite"), "write.clat.p99 < 2ms", ""},
		"sequential":         {job("write"), "write.clat.p99 < 2ms", random},
		"trims":              {job("randtrim"), "trim.clat.p99 < 2ms", random},
		"a file of its own":  {with(func(s *suite.Scenario) { s.AsIs = true }), "read.clat.p99 < 2ms", own},
		"a database":         {with(func(s *suite.Scenario) { s.Postgres = &suite.Postgres{} }), "read.clat.p99 < 2ms", own},
		"two jobs":           {with(func(s *suite.Scenario) { s.Job.Sections = append(slices.Clone(s.Job.Sections), s.Job.Sections...) }), "read.clat.p99 < 2ms", own},
		"none":               {with(func(s *suite.Scenario) { s.Job.Sections = nil }), "read.clat.p99 < 2ms", own},
		"options of no sort": {with(func(s *suite.Scenario) { s.Job = WithOptions(s.Job, map[string]string{"bs": "x"}) }), "read.clat.p99 < 2ms", "bs"},
	} {
		_, err := NewMostSearch(c.s, c.threshold, 1)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The number of threads against all numbers from what is enough to twice that: the one whose whole
// numbers of I/Os are nearest to what was asked for, the least of several as near.
func TestStreamsAgainstTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 8))
	part := func(rate float64, n int) int {
		if rate == 0 {
			return 0
		}
		return max(1, int(math.Floor(rate/float64(n)+0.5)))
	}
	for range 500 {
		rate := math.Round(math.Exp(rng.Float64() * 12))
		reads := []float64{0, 0.25, 0.5, 0.875, 1}[rng.IntN(5)] // no rounding
		limit := time.Duration(math.Exp(rng.Float64()*9)) * 10 * time.Microsecond
		enough := int(math.Ceil(4 * rate * limit.Seconds())) // four times as many as are busy at the limit
		enough = max(enough, 4)
		enough = min(enough, 256, max(1, int(math.Floor(rate/4))))         // each has four I/Os a second
		for _, each := range []float64{rate * reads, rate * (1 - reads)} { // and one of each direction
			if each > 0 {
				enough = min(enough, max(1, int(math.Floor(each))))
			}
		}
		best, streams := math.Inf(1), 0
		for n := enough; n <= min(2*enough, 256); n++ {
			off := math.Abs(rate*reads-float64(n*part(rate*reads, n))) + math.Abs(rate*(1-reads)-float64(n*part(rate*(1-reads), n)))
			if off < best {
				best, streams = off, n
			}
		}
		s, r, w := streamsFor(rate, reads, limit)
		if s != streams || r != part(rate*reads, s) || w != part(rate*(1-reads), s) {
			t.Errorf("%v a second, %v of them reads, in %v: %d threads of %d and %d, want %d", rate, reads, limit, s, r, w, streams)
		}
	}
}

// The end of a search: a check a little below what met the threshold, none where nothing did, and no more
// than 32 times the storage's own figure.
func TestEndsOfASearch(t *testing.T) {
	m := searchFor(t, "read.clat.p99 <= 2ms")
	at := func(done float64, met bool) *result.Result {
		h := &fio.Hist{}
		h.Add(map[bool]time.Duration{true: 100 * time.Microsecond, false: time.Second}[met], 1000)
		r := &result.Result{State: result.Done, Measured: 10 * time.Second}
		r.Total.Read = fio.Direction{N: 1000, IOPS: units.IOPS(done), Clat: fio.Latency{N: 1000, Hist: h}}
		return r
	}
	// A storage of so many a second of which loads up to most meet the threshold.
	for _, c := range []struct{ own, most, low, high, check float64 }{
		{8, 5, 5, 6, 5},      // 97 % of 5 are 4.85
		{8, 6, 6, 7, 6},      // 5.82
		{8, 0, 0, 1, 0},      // nothing to check
		{40, 31, 31, 32, 30}, // 30.07
	} {
		measured := []bundle.Scenario{{Scenario: searchBase(), Result: at(c.own, false)}}
		for range 60 {
			s, more := m.Next(measured)
			if !more {
				break
			}
			o := m.outcome(measured)
			measured = append(measured, bundle.Scenario{Scenario: s, Result: at(o.next, o.next <= c.most)})
		}
		o := m.outcome(measured)
		check := 0.0
		if o.Check != nil {
			check = o.Check.Asked
		}
		if !o.Bracket.Done || o.Bracket.Low != c.low || o.Bracket.High != c.high || check != c.check || o.next != 0 {
			t.Errorf("of %v a second: %+v, checked at %v; want %+v", c.own, o.Bracket, check, c)
		}
		if check > 0 && (o.CheckTime != m.Base.Runtime || len(o.Probes) != len(measured)-2) {
			t.Errorf("of %v a second: checked for %v, %d probes of %d", c.own, o.CheckTime, len(o.Probes), len(measured))
		}
	}
	// All that is asked for is met: five times the end is doubled, to 32,640 of 1,020.
	s := stats.Search{Low: 50, High: 1020, Within: 0.03, Step: 1}
	var probes []stats.Probe
	for range 100 {
		load, b := further(s, probes)
		if b.Done {
			if b.Low != 32*1020 || b.High != 0 {
				t.Errorf("%+v", b)
			}
			break
		}
		probes = append(probes, stats.Probe{Load: load, Over: -1})
	}
	if n := len(probes); n == 0 || probes[n-1].Load != 32*1020 {
		t.Errorf("%d probes", n)
	}
	// The first load of a search of one I/O a second is one, and there is one.
	if next, more := m.Next([]bundle.Scenario{{Scenario: searchBase(), Result: at(0.5, true)}}); !more || next.Name != "reads@rate=1" {
		t.Errorf("%v %v", next.Name, more)
	}
	// A long queue beside a short time: the half of arrivals that find a thread busy wait 20 ms in the mean,
	// so that one in a hundred takes 40 ms × ln 50 more.
	h := &fio.Hist{}
	h.Add(time.Millisecond, 100)
	r := &result.Result{Total: fio.Job{Read: fio.Direction{Clat: fio.Latency{N: 100, Hist: h}}}}
	took := float64(h.Percentile(100))
	p := MostProbe{Streams: 4, Busy: 0.5, Lag: 2e7, Latency: took}
	if got := p.fromDue(suite.Metric{Side: suite.ReadSide, Quantity: suite.Clat, Statistic: "p99"}, r); math.Abs(got/(took+4e7*math.Log(50))-1) > 1e-9 {
		t.Errorf("%v", got)
	}
	// Reads of 1 ms and writes of 2 ms, as many: the mean and the mean square are those of both.
	w := &fio.Hist{}
	w.Add(2*time.Millisecond, 100)
	r.Total.Write = fio.Direction{Clat: fio.Latency{N: 100, Hist: w}}
	middle := func(h *fio.Hist) (at float64) {
		h.Each(func(bin int, _ uint64) {
			lo, hi := bins.Range(bin)
			at = float64(lo+hi) / 2
		})
		return at
	}
	a, b := middle(h), middle(w)
	p = MostProbe{Streams: 10, Achieved: 2000}
	p.busy(r)
	if busy, lag := 200*(a+b)/2/1e9, 200/1e9*(a*a+b*b)/2/2/(1-200*(a+b)/2/1e9); math.Abs(p.Busy-busy) > 1e-12 || math.Abs(p.Lag/lag-1) > 1e-12 {
		t.Errorf("%+v, want %v and %v", p, busy, lag)
	}
}

// A figure that one round of a side recorded is that round's, whichever it is.
func TestOtherFiguresOfTheRoundThatHasThem(t *testing.T) {
	sample := func(p99 time.Duration) Sample {
		r := &result.Result{}
		if p99 > 0 {
			r.Total.Write = fio.Direction{N: 1, Clat: fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 99, Value: p99}}}}
		}
		return Sample{Result: r}
	}
	for name, rounds := range map[string][]time.Duration{"the first": {100, 0}, "the second": {0, 100}, "between": {0, 100, 0}} {
		r := Row{Cells: make([]Cell, 2)}
		for _, p99 := range rounds {
			r.Cells[0].samples = append(r.Cells[0].samples, sample(p99))
		}
		r.Cells[1].samples = []Sample{sample(300)}
		r.others(0)
		if len(r.Others) != 1 || r.Others[0].Cells[0].Center != 100 || r.Others[0].Cells[1].Center != 300 || math.Abs(r.Others[0].Ratios[1].Center-3) > 1e-9 {
			t.Errorf("%s: %+v", name, r.Others)
		}
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A paced row goes by the direction of which most was done in all rounds together, not in the last.
func TestPacedRowsCountAllRounds(t *testing.T) {
	latency := fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 99, Value: 9}}}
	sample := func(read, write units.IOPS) Sample {
		r := &result.Result{Workloads: []fio.Workload{{ReadShare: 0.5, ReadBS: 4096, WriteBS: 4096, ReadIOPS: read, WriteIOPS: write}}}
		r.Total.Read, r.Total.Write = fio.Direction{N: 1, IOPS: read, Clat: latency}, fio.Direction{N: 1, IOPS: write, Clat: latency}
		return Sample{Result: r}
	}
	for want, rounds := range map[string][][2]units.IOPS{"write p99": {{40, 70}, {60, 50}}, "read p99": {{70, 40}, {50, 60}}} {
		for _, apart := range []bool{false, true} { // of one side, or of two
			first, second := sample(rounds[0][0], rounds[0][1]), sample(rounds[1][0], rounds[1][1])
			r := Row{Figure: iops(), Cells: []Cell{{all: []Sample{first, second}}, {}}}
			if apart {
				r.Cells = []Cell{{all: []Sample{first}}, {all: []Sample{second}}}
			}
			if r.pace(); r.Figure.Name != want {
				t.Errorf("%v: %s, want %s", rounds, r.Figure.Name, want)
			}
		}
	}
}

// Which of the results of one document the others are compared with, what imports are called, and how
// sides of one name are distinguished.
func TestNamesAndBasesOfSides(t *testing.T) {
	sample := func(iops units.IOPS, invalid string) Sample {
		r := &result.Result{Total: fio.Job{Read: fio.Direction{N: 1, IOPS: iops}}}
		return Sample{Run: &bundle.Bundle{}, Scenario: &bundle.Scenario{Result: r}, Result: r, Invalid: invalid}
	}
	side := func(name string, samples ...Sample) Side { return Side{Name: name, Samples: samples} }
	for want, sides := range map[string][]Side{
		"":       nil,
		"first":  {side("first", sample(5, "")), side("second", sample(9, ""))},
		"second": {side("first", sample(9, "")), side("second", sample(5, ""))},
		"valid":  {side("first", sample(1, "bad")), side("valid", sample(9, "")), side("more", sample(10, ""))},
		"alike":  {side("alike", sample(5, "")), side("second", sample(5, ""))},
		"later":  {side("first", sample(9, "")), side("later", sample(10, ""), sample(3, ""))},
	} {
		if got := least(sides); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, c := range []struct {
		files []string
		parts int
		want  string
	}{
		{[]string{"/a/b/c.json"}, 1, "c.json"},
		{[]string{"/a/b/c.json"}, 2, "b/c.json"},
		{[]string{"a/c.json"}, 5, "a/c.json"},
		{[]string{"./x//c.json"}, 2, "x/c.json"},
		{[]string{"a/c", "b/d"}, 1, "c and d"},
		{[]string{"a/c", "b/d", "e"}, 1, "c and 2 more"},
	} {
		if got := tails(c.files, c.parts); got != c.want {
			t.Errorf("%q by %d parts: %q, want %q", c.files, c.parts, got, c.want)
		}
	}
	imported := func(id string, files ...string) Side {
		b := &bundle.Bundle{Run: bundle.Run{ID: id, Imported: files}}
		return Side{Name: id, Samples: []Sample{{Run: b}}}
	}
	for want, sides := range map[string][]Side{
		"a b":            {imported("1", "/x/a"), imported("2", "/y/b")},
		"x/a y/a":        {imported("1", "/x/a"), imported("2", "/y/a")},
		"x/z/a y/z/a":    {imported("1", "/x/z/a"), imported("2", "/y/z/a")},
		"a a":            {imported("1", "/x/a"), imported("2", "/x/a")},
		"x/a y/a b":      {imported("1", "/x/a"), imported("2", "/y/a"), imported("3", "/y/b")},
		"1 b":            {imported("1", "-"), imported("2", "/y/b")},
		"1 2":            {imported("1"), {Name: "2"}},
		"other":          {{Name: "other", Samples: imported("1", "/x/a").Samples}},
		"a/r b/r second": {imported("1", "/a/r"), imported("2", "/b/r"), {Name: "second"}},
	} {
		l := Loaded{Sides: sides}
		l.nameSources()
		var got []string
		for _, s := range l.Sides {
			got = append(got, s.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for name, want := range map[string]bool{"a": true, "1": false, "b": false} { // of several runs, or of none, the name alone
		two := Side{Name: "a", Samples: append(imported("1").Samples, imported("2").Samples...)}
		if two.called(name) != want || side("a").called(name) != want {
			t.Errorf("called %s: %v", name, !want)
		}
	}
	if one := (Side{Name: "a", Samples: imported("1").Samples}); !one.called("1") || !one.called("a") || one.called("2") {
		t.Error("a side that is a run")
	}
	l := Loaded{Sides: []Side{side("a"), side("b"), side("a"), side("a")}}
	l.tellApart()
	if got := names(l.Sides); got != "a, b, a (2), a (3)" {
		t.Error(got)
	}
}

// The scenario that a result is judged by: the nearest is named where none asks for its work, and where two
// do both are.
func TestNearestScenario(t *testing.T) {
	scenario := func(name, options string) suite.Scenario {
		f, err := fio.ParseJobFile("x.fio", []byte("["+name+"]\nioengine=libaio\nrw=randwrite\n"+options), fio.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return suite.Scenario{Name: name, Job: *f}
	}
	did := &result.Result{Workloads: []fio.Workload{{Engine: "libaio", WriteBS: 4096, Depth: 4, Jobs: 1}}}
	mine, far, near := scenario("mine", "bs=4k\niodepth=4\n"), scenario("far", "bs=8k\niodepth=8\nnumjobs=2\n"), scenario("near", "bs=4k\niodepth=8\n")
	for name, c := range map[string]struct {
		scenarios []suite.Scenario
		want, why string
	}{
		"it alone":         {[]suite.Scenario{mine}, "mine", ""},
		"after others":     {[]suite.Scenario{far, near, mine}, "mine", ""},
		"before others":    {[]suite.Scenario{mine, far, near}, "mine", ""},
		"the nearer":       {[]suite.Scenario{far, near}, "", "not the work of near (depth: 8 and 4)"},
		"the nearer first": {[]suite.Scenario{near, far}, "", "not the work of near (depth: 8 and 4)"},
		"as near":          {[]suite.Scenario{near, scenario("other", "bs=4k\niodepth=16\n")}, "", "not the work of near (depth: 8 and 4)"},
		"two":              {[]suite.Scenario{mine, far, scenario("again", "bs=4k\niodepth=4\n")}, "", "its work may be that of mine or of again"},
		"one is not known": {[]suite.Scenario{scenario("broken", "bs=x\n"), mine}, "mine", ""},
		"no other":         {[]suite.Scenario{scenario("broken", "bs=x\n")}, "", ""},
		"none":             {nil, "", ""},
	} {
		got, why := StatedFor(&suite.Suite{Scenarios: c.scenarios}, did)
		found := ""
		if got != nil {
			found = got.Name
		}
		if found != c.want || why != c.why {
			t.Errorf("%s: %q, %q; want %q, %q", name, found, why, c.want, c.why)
		}
	}
}

// What only one side did is said once, with what keeps it from the work of its name on the other.
func TestWorksOfOneSide(t *testing.T) {
	row := func(name string, bs units.Bytes, sides ...int) Row {
		r := Row{Name: name, Work: Work{Direction: "read", BS: bs}, Cells: make([]Cell, 3)}
		for _, k := range sides {
			r.Cells[k].all = make([]Sample, 1)
		}
		return r
	}
	for name, c := range map[string]struct {
		rows []Row
		want []string
	}{
		"of one":            {[]Row{row("w", 4096, 1)}, []string{"w is only in b (read 4 KiB)"}},
		"of its own name":   {[]Row{row("b", 4096, 1)}, []string{"b: no other result has this workload (read 4 KiB)"}},
		"twins":             {[]Row{row("w", 4096, 0), row("w", 8192, 1)}, []string{"w is not compared: a and b did different work: block size: 4 KiB and 8 KiB"}},
		"twins, turned":     {[]Row{row("w", 8192, 1), row("w", 4096, 0)}, []string{"w is not compared: a and b did different work: block size: 4 KiB and 8 KiB"}},
		"twice on one side": {[]Row{row("w", 4096, 1), row("w", 4096, 1)}, []string{"w is only in b (read 4 KiB)"}},
		"two names":         {[]Row{row("w", 4096, 0), row("v", 8192, 2)}, []string{"w is only in a (read 4 KiB)", "v is only in c (read 8 KiB)"}},
		"triplets": {
			[]Row{row("w", 4096, 0), row("w", 8192, 1), row("w", 512, 2)},
			[]string{"w is not compared: a and b did different work: block size: 4 KiB and 8 KiB"},
		},
		"none": {nil, nil},
	} {
		table := &Table{Sides: []Column{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
		if table.explain(c.rows); !slices.Equal(table.Apart, c.want) {
			t.Errorf("%s: %q, want %q", name, table.Apart, c.want)
		}
	}
}

// A label is the side's where all its runs carry it with one value, in whichever order they come.
func TestLabelsOfASide(t *testing.T) {
	of := func(labels ...map[string]string) (s Side) {
		for i, l := range labels {
			b := inMemory(i, 1000)
			b.Run.Labels = l
			s.Samples = append(s.Samples, samplesOf(b)...)
		}
		return s
	}
	all, some := map[string]string{"disk": "a", "rack": "r"}, map[string]string{"disk": "a"}
	other := map[string]string{"disk": "b", "rack": "r"}
	for name, c := range map[string]struct {
		side Side
		want map[string]string
	}{
		"alike":               {of(all, all), all},
		"absent later":        {of(all, some), some},
		"absent first":        {of(some, all), some},
		"another value":       {of(all, other), map[string]string{"rack": "r"}},
		"another, then again": {of(all, other, all), map[string]string{"rack": "r"}},
		"one without any":     {of(all, nil, all), map[string]string{}},
		"none at all":         {Side{}, map[string]string{}},
	} {
		if got := columnOf(c.side).Labels; got == nil || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Sides of a label: in the order of their first start, each scenario's rounds counted, and the labels that
// there are where none is meant.
func TestSidesOfALabel(t *testing.T) {
	b := func(n int, value string) *bundle.Bundle {
		b := inMemory(n, 1000)
		b.Run.Labels = map[string]string{"disk": value, "rack": "r"}
		return b
	}
	sides, without, err := GroupBy("disk", b(3, "a"), b(1, "c"), b(2, "b"), b(4, "b"), inMemory(5, 1000))
	if err != nil || without != 1 {
		t.Fatal(err, without)
	}
	var got []string
	for _, s := range sides {
		for _, x := range s.Samples {
			got = append(got, fmt.Sprintf("%s %s %d", s.Name, x.Run.Run.ID, x.Round))
		}
	}
	if want := []string{"c run-001 1", "b run-002 1", "b run-004 2", "a run-003 1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	one := b(1, "a")
	one.Scenarios[0].Result.Labels = map[string]string{"pass": "2"}
	if _, without, err := GroupBy("colour", one, inMemory(2, 1)); err == nil || without != 2 ||
		err.Error() != `no result carries the label "colour"; there are instance, host, kernel, fio, scenario, disk, pass, rack` {
		t.Errorf("%d %v", without, err)
	}
	// A series as far back as is asked for, of runs and of fleets alike.
	for last, want := range map[int]int{0: 4, 1: 1, 3: 3, 4: 4, 5: 4} {
		series, _ := History([]*bundle.Bundle{b(1, ""), b(2, ""), b(3, ""), b(4, "")}, Filter{Last: last})
		if len(series) != 1 || len(series[0].Points) != want || series[0].Points[want-1].Run != "run-004" {
			t.Errorf("the last %d: %+v", last, series)
		}
		var fleets []*bundle.Fleet
		for n := range 4 {
			f := &bundle.Fleet{ID: fmt.Sprint(n), Created: began.Add(time.Duration(n) * time.Hour), Scenarios: []bundle.FleetScenario{{Name: "w"}, {Name: "none"}}}
			f.Scenarios[0].Total.IOPS = 0.5
			fleets = append([]*bundle.Fleet{f}, fleets...)
		}
		all := FleetHistory(fleets, Filter{Last: last})
		if len(all) != 1 || len(all[0].Points) != want || all[0].Points[want-1].Run != "3" {
			t.Errorf("the last %d of a fleet: %+v", last, all)
		}
	}
}

// The suite's rounds are pairs where both sides measured as many in turn: three pairs leave two degrees of
// freedom; three and four rounds are none, whatever was measured in turn.
func TestPairsOfTheSuite(t *testing.T) {
	three, four := []float64{20, 23, 22}, []float64{20, 23, 22, 21}
	for name, c := range map[string]struct {
		paired bool
		after  []float64
		want   bool
	}{"in turn": {true, three, true}, "apart": {false, three, false}, "one more": {true, four, false}} {
		table := &Table{Margin: 0.03, Paired: c.paired, Sides: make([]Column, 2)}
		for range 2 {
			table.Rows = append(table.Rows, Row{Figure: iops(), Cells: []Cell{cellOf(10, 11, 12), cellOf(c.after...)}})
		}
		table.suite()
		if len(table.Suite) != 2 || table.Suite[1] == nil {
			t.Errorf("%s: no suite", name)
			continue
		}
		if s := table.Suite[1]; s.Paired != c.want || (s.DF == 2) != c.want {
			t.Errorf("%s: pairs %v, %v degrees", name, s.Paired, s.DF)
		}
	}
}

// One run on a side is noted, and rounds are asked for; where each side has two there is nothing to note.
func TestOneRunIsNoted(t *testing.T) {
	for _, c := range []struct {
		before, after []float64
		want          bool
	}{
		{[]float64{100}, []float64{200}, true},
		{[]float64{100, 101}, []float64{200}, true},
		{[]float64{100, 101}, []float64{200, 203}, false},
		{[]float64{100, 100}, []float64{200, 200}, false}, // nothing varies, which is another matter
	} {
		side := func(name string, first int, rounds []float64) Side {
			var runs []*bundle.Bundle
			for i, v := range rounds {
				runs = append(runs, inMemory(first+i, v))
			}
			return SideOf(name, runs...)
		}
		table := compared(t, Options{}, side("a", 1, c.before), side("b", 4, c.after))
		noted := slices.ContainsFunc(table.Notes, func(n string) bool { return strings.HasPrefix(n, "A single run per side") })
		if noted != c.want {
			t.Errorf("%v and %v: %q", c.before, c.after, table.Notes)
		}
	}
}

// Of earlier runs only those count that came to their end on a host of their own, by then, and are not the
// run itself.
func TestRunsOfABaseline(t *testing.T) {
	var runs []*bundle.Bundle
	for n := range 6 {
		runs = append(runs, inMemory(n, 1000+float64(n)))
	}
	now := inMemory(9, 1000)
	made := func(b *bundle.Bundle, at time.Time) { b.Run.Created, b.Scenarios[0].Result.Start = at, at }
	for name, c := range map[string]struct {
		change func(*bundle.Bundle)
		want   int
	}{
		"all":              {func(*bundle.Bundle) {}, 6},
		"one was stopped":  {func(b *bundle.Bundle) { b.Run.State = bundle.Interrupted }, 5},
		"one still runs":   {func(b *bundle.Bundle) { b.Run.State = bundle.Running }, 5},
		"one was shared":   {func(b *bundle.Bundle) { b.Run.Policy.SharedHost = "CI" }, 5},
		"one came later":   {func(b *bundle.Bundle) { made(b, now.Run.Created.Add(1)) }, 5},
		"one came with it": {func(b *bundle.Bundle) { made(b, now.Run.Created) }, 6},
		"one is itself":    {func(b *bundle.Bundle) { b.Run.ID = now.Run.ID }, 5},
		"one is invalid":   {func(b *bundle.Bundle) { b.Scenarios[0].Result.State = result.Invalid }, 5},
		"one is of others": {func(b *bundle.Bundle) { b.Scenarios[0].Name = "v" }, 5},
	} {
		all := slices.Clone(runs)
		all[3] = inMemory(3, 1003)
		c.change(all[3])
		if j := AgainstRuns(now, all, 10).Rows[0]; j.Earlier != c.want {
			t.Errorf("%s: %d earlier runs, want %d", name, j.Earlier, c.want)
		}
	}
	for last, want := range map[int]int{1: 1, 5: 5, 6: 6, 7: 6} {
		if j := AgainstRuns(now, runs, last).Rows[0]; j.Earlier != want {
			t.Errorf("of the last %d: %d", last, j.Earlier)
		}
	}
}
