package runs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	mostPoints  = 300 // of a line over time; longer runs have seconds merged
	mostColumns = 120 // of a heat map
	mostRows    = 60
)

// drawing is what the script draws of one scenario; web/src/charts.js reads it. Times are in
// seconds since fio's start, latencies in nanoseconds, bandwidth in MiB/s.
type drawing struct {
	T    []float64 // ends of the intervals
	HT   []float64 // of the columns of heat maps
	Ramp float64
	Dirs []lines
	// Together is all directions, when there are several.
	Together *lines  `json:"together,omitempty"`
	Ceiling  *limit  `json:"ceiling,omitempty"`
	Lasting  *limit  `json:"lasting,omitempty"` // where it differs from the ceiling
	Course   []limit `json:"course,omitempty"`  // in place of both, where the run outlasted a burst
	Heat     []heat
	Members  []memberUse
	Queue    []float64  `json:"queue,omitempty"`
	Dirty    []float64  `json:"dirty,omitempty"` // MiB
	Account  *waterfall `json:"account,omitempty"`
	// Layers is what a database's sessions waited for, as mean numbers of sessions.
	Layers []layer `json:"layers,omitempty"`
}

type (
	limit struct {
		IOPS, BW float64
		Until    float64 `json:"until,omitempty"` // 0: to the end
	}
	lines struct {
		Name string
		IOPS []float64 `json:"iops,omitempty"`
		BW   []float64 `json:"bw,omitempty"`
		P50  []float64 `json:"p50,omitempty"`
		P99  []float64 `json:"p99,omitempty"`
		// Curve holds [1/(1-p), latency]: a logarithmic axis of the first has the nines at equal
		// distances.
		Curve [][2]float64 `json:"curve,omitempty"`
	}
	heat struct {
		Name  string
		Rows  []float64 // least latency of each
		Cells []uint64  // column, row, count, of those that are not empty
		most  uint64    // count
	}
	layer struct {
		Name     string
		Sessions []float64
	}
	memberUse struct {
		Name string
		Util []float64
	}
)

// of is one direction's part of a second; sync is a direction here.
type of struct {
	name  string
	of    func(result.Second) result.Interval
	total fio.Latency
}

func populations(r *result.Result) []of {
	var all []of
	for i, d := range r.Total.Directions() {
		side := func(s result.Second) result.Interval { return [...]result.Interval{s.Read, s.Write, s.Trim}[i] }
		all = append(all, of{fio.DirectionNames[i], side, d.Completion()})
	}
	sync := func(s result.Second) result.Interval { return result.Interval{N: s.Sync.Count(), Hist: s.Sync} }
	all = append(all, of{"sync", sync, r.Total.Sync.Lat})
	return slices.DeleteFunc(all, func(o of) bool {
		return !o.total.Measured() &&
			!slices.ContainsFunc(r.Seconds, func(s result.Second) bool { return o.of(s).N > 0 })
	})
}

// newDrawing works out the charts of one scenario, none when nothing was measured.
func newDrawing(s *bundle.Scenario, row row) (*drawing, []page.Chart) {
	d := &drawing{T: []float64{}, HT: []float64{}, Dirs: []lines{}, Heat: []heat{}, Members: []memberUse{}}
	if s.Result == nil {
		return d, nil
	}
	if c := s.Ceiling; c != nil && c.Known() && !c.Binding().SelfMeasured() {
		held := c.Held()
		d.Ceiling, d.Lasting = limitOf(held.Now), limitOf(held.Then)
		if _, _, outlasts := c.Over(lengthOf(s.Result)); outlasts {
			for _, step := range c.Course() {
				l := limitOf(&step.Bound)
				l.Until = second(step.Until)
				d.Course = append(d.Course, *l)
			}
		}
	}
	return d, viewOf(s).draw(d, s, row)
}

func limitOf(b *ceiling.Bound) *limit {
	if b == nil {
		return nil
	}
	return &limit{IOPS: float64(b.IOPS), BW: mib(b.BW)}
}

// lengthOf is how long a load went on, with its ramp.
func lengthOf(r *result.Result) time.Duration {
	if n := len(r.Seconds); n > 0 {
		return r.Seconds[n-1].At
	}
	return r.Measured
}

// ends are the times at which intervals end, in seconds.
func ends(points []result.Second) (all []float64) {
	for _, s := range points {
		all = append(all, second(s.At))
	}
	return all
}

// second is a time in seconds, to a tenth.
func second(at time.Duration) float64 { return math.Round(at.Seconds()*10) / 10 }

func (operations) draw(d *drawing, s *bundle.Scenario, row row) []page.Chart {
	r := s.Result
	points, columns := merge(r.Seconds, mostPoints), merge(r.Seconds, mostColumns)
	d.T, d.HT = append(d.T, ends(points)...), append(d.HT, ends(columns)...)
	for _, s := range points {
		if s.Ramp {
			d.Ramp = s.At.Seconds()
		}
	}
	for _, o := range populations(r) {
		d.Dirs = append(d.Dirs, newLines(o, points))
		if h, ok := newHeat(o, columns); ok {
			d.Heat = append(d.Heat, h)
		}
	}
	if len(directions(r.Total)) > 1 {
		d.Together = &lines{Name: "together"}
		for _, s := range points {
			d.Together.IOPS = append(d.Together.IOPS, float64(s.IOPS()))
			d.Together.BW = append(d.Together.BW, mib(s.BW()))
		}
	}
	d.machine(r, points, columns)
	return d.charts(r, row)
}

func mib(r units.Rate) float64 { return float64(r / units.MiBPerSec) }

// machine adds the devices and dirty pages.
func (d *drawing) machine(r *result.Result, points, columns []result.Second) {
	if !slices.ContainsFunc(points, func(s result.Second) bool { return len(s.Util) > 0 }) {
		return
	}
	nth := func(all []float64, i int) float64 {
		if i < len(all) {
			return all[i]
		}
		return math.NaN()
	}
	for i, dev := range r.Devices {
		m := memberUse{Name: dev.Name}
		for _, s := range columns {
			m.Util = append(m.Util, min(nth(s.Util, i), 1))
		}
		d.Members = append(d.Members, m)
	}
	for _, s := range points {
		d.Queue = append(d.Queue, nth(s.Queue, 0))
		d.Dirty = append(d.Dirty, float64(s.Dirty)/float64(units.MiB))
	}
}

// charts lists the figures that there is something to draw for.
func (d *drawing) charts(r *result.Result, row row) []page.Chart {
	var all []page.Chart
	over := fmt.Sprintf("over %s", text.Duration(r.Wall))
	if len(d.T) > 1 {
		n, rate := r.Total.Rates()
		var most limit
		if d.Ceiling != nil {
			most = *d.Ceiling
		}
		all = append(all, page.Chart{
			Kind: "iops", Caption: "IOPS",
			Says: fmt.Sprintf("IOPS each second %s: %s overall%s.", over, words.Operations(n),
				ofCeiling(float64(n), most.IOPS)),
		}, page.Chart{
			Kind: "bw", Caption: "Bandwidth, MiB/s", Screen: true,
			Says: fmt.Sprintf("Bandwidth each second %s: %s overall%s.", over, rate, ofCeiling(mib(rate), most.BW)),
		}, page.Chart{
			Kind: "latency", Caption: "Latency each second: p50 and p99",
			Says: fmt.Sprintf("Latency each second %s: p50 %s, p99 %s overall.", over, row.P50, row.P99),
		})
	}
	if slices.ContainsFunc(d.Dirs, func(l lines) bool { return len(l.Curve) > 1 }) {
		all = append(all, page.Chart{
			Kind: "percentiles", Caption: "Latency by percentile", Wide: len(d.T) < 2, Screen: len(d.T) > 1,
			Says: fmt.Sprintf("Latency by percentile: p50 %s, p99 %s; the table of raw numbers has the others.", row.P50,
				row.P99),
		})
	}
	for i, h := range d.Heat {
		caption, most := "Latency of each "+h.Name+" over time", units.Number(float64(h.most))
		all = append(all, page.Chart{
			Kind: "heat", Screen: true, Part: i, Wide: true, Caption: caption, Least: "1", Most: most + " a cell, logarithmic",
			Says: fmt.Sprintf("%s, counted by time and latency, up to %s in a cell.", caption, most),
		})
	}
	if len(d.Members) > 0 {
		all = append(all, page.Chart{
			Kind: "members", Wide: true, Screen: true, Caption: "Devices: share of time busy", Least: "0 %", Most: "100 %",
			Says: "Share of each second in which each device was busy; the table of devices has the means.",
		})
	}
	return all
}

func newLines(o of, points []result.Second) lines {
	l := lines{Name: o.name, Curve: curve(o.total)}
	for _, s := range points {
		i := o.of(s)
		p50, p99 := math.NaN(), math.NaN()
		if i.Hist.Count() > 0 {
			p50, p99 = float64(i.Hist.Percentile(50)), float64(i.Hist.Percentile(99))
		}
		l.P50, l.P99 = append(l.P50, p50), append(l.P99, p99)
		if o.name == "sync" {
			continue
		}
		n, bw := math.NaN(), math.NaN()
		if t := s.Len.Seconds(); t > 0 {
			n, bw = float64(i.N)/t, mib(units.Rate(float64(i.Bytes)/t))
		}
		l.IOPS, l.BW = append(l.IOPS, n), append(l.BW, bw)
	}
	return l
}

// curve is a distribution by nines, as far as its count goes.
func curve(l fio.Latency) [][2]float64 {
	var all [][2]float64
	if n := l.Hist.Count(); n > 0 {
		for k := 0; ; k++ {
			x := math.Pow(2, float64(k)/4)
			if x > float64(n) {
				return all
			}
			all = append(all, [2]float64{x, float64(l.Hist.Percentile(100 * (1 - 1/x)))})
		}
	}
	for _, p := range l.Percentiles {
		if p.P < 100 {
			all = append(all, [2]float64{100 / (100 - p.P), float64(p.Value)})
		}
	}
	return all
}

// newHeat merges fio's bins, 64 an octave, into few enough rows of equal height on a logarithmic
// scale.
func newHeat(o of, columns []result.Second) (heat, bool) {
	least, most := bins.Count, -1
	for _, s := range columns {
		o.of(s).Hist.Each(func(bin int, _ uint64) { least, most = min(least, bin), max(most, bin) })
	}
	if most < 0 || len(columns) < 2 {
		return heat{}, false
	}
	wide := 4 // of 64 bins an octave: rows finer than 6 % show noise
	for most/wide-least/wide >= mostRows {
		wide *= 2
	}
	h := heat{Name: o.name, Cells: []uint64{}}
	for row := least / wide; row <= most/wide; row++ {
		lo, _ := bins.Range(row * wide)
		h.Rows = append(h.Rows, float64(lo))
	}
	counts := make([]uint64, len(h.Rows))
	for x, s := range columns {
		clear(counts)
		o.of(s).Hist.Each(func(bin int, n uint64) { counts[bin/wide-least/wide] += n })
		for y, n := range counts {
			if n > 0 {
				h.most = max(h.most, n)
				h.Cells = append(h.Cells, uint64(x), uint64(y), n)
			}
		}
	}
	return h, true
}

// merge joins neighbouring seconds until at most most are left. Ramp and measurement stay apart.
func merge(seconds []result.Second, most int) []result.Second {
	each := (len(seconds) + most - 1) / most
	if each < 2 {
		return seconds
	}
	var all []result.Second
	for start := 0; start < len(seconds); {
		end := start + 1
		for end < len(seconds) && end-start < each && seconds[end].Ramp == seconds[start].Ramp {
			end++
		}
		all = append(all, joined(seconds[start:end]))
		start = end
	}
	return all
}

// joined adds counts; use and queue are means weighted by time, dirty pages the most.
func joined(seconds []result.Second) result.Second {
	last := seconds[len(seconds)-1]
	sum := result.Second{
		At: last.At, Ramp: last.Ramp, Util: make([]float64, len(last.Util)), Queue: make([]float64, len(last.Queue)),
		Sync: &fio.Hist{},
	}
	add := func(to *result.Interval, from result.Interval) {
		to.N += from.N
		to.Bytes += from.Bytes
		to.Hist = cmp.Or(to.Hist, &fio.Hist{})
		to.Hist.Merge(from.Hist)
	}
	for _, s := range seconds {
		sum.Len += s.Len
		add(&sum.Read, s.Read)
		add(&sum.Write, s.Write)
		add(&sum.Trim, s.Trim)
		sum.Sync.Merge(s.Sync)
		sum.Dirty = max(sum.Dirty, s.Dirty)
	}
	mean := func(to, from []float64, share float64) {
		for i := range min(len(to), len(from)) {
			to[i] += from[i] * share
		}
	}
	for _, s := range seconds {
		if sum.Len > 0 {
			share := s.Len.Seconds() / sum.Len.Seconds()
			mean(sum.Util, s.Util, share)
			mean(sum.Queue, s.Queue, share)
		}
	}
	return sum
}

// waterfall is an account as the script draws it: each step from one level down to the next.
type waterfall struct {
	Names    []string
	From, To []float64
	Labels   []string
}

// draw makes the charts of a scenario, with the waterfall of the gap to its ceiling where a finding
// has one.
func draw(b *bundle.Bundle, s *bundle.Scenario, row row) page.Drawing {
	d, charts := newDrawing(s, row)
	if a := accountOf(b, s); a != nil {
		charts = append(charts, d.account(a))
	}
	if len(charts) == 0 {
		return page.Drawing{}
	}
	return page.Drawing{Data: d, Charts: charts}
}

// accountOf is the account of a scenario's gap, nil where no finding on it has one.
func accountOf(b *bundle.Bundle, s *bundle.Scenario) *finding.Account {
	for _, f := range b.Findings {
		if f.Account != nil && slices.Contains(f.Scenarios, s.ID) {
			return f.Account
		}
	}
	return nil
}

// account is the waterfall of an account.
func (d *drawing) account(a *finding.Account) page.Chart {
	w := &waterfall{}
	step := func(name string, from, to float64, label string) {
		w.Names, w.Labels = append(w.Names, name), append(w.Labels, label)
		w.From, w.To = append(w.From, from), append(w.To, to)
	}
	step("ceiling", a.Ceiling, 0, units.IOPS(a.Ceiling).String())
	from := a.Ceiling
	var says []string
	for i, level := range a.Levels() {
		cause, label := words.Cause(a.Factors[i]), text.Percent(a.Factors[i].Share)+" of the gap"
		step(cause, from, level, label)
		says = append(says, cause+" "+label)
		from = level
	}
	step("measured", a.Measured, 0, units.IOPS(a.Measured).String())
	d.Account = w
	return page.Chart{
		Kind: "account", Wide: true, Caption: "From the ceiling to what was measured, " + a.In(),
		Says: fmt.Sprintf("From a ceiling of %s %s to %s measured: %s", units.IOPS(a.Ceiling), a.In(),
			units.IOPS(a.Measured), strings.Join(says, "; ")),
	}
}

// ofCeiling is the share of a limit in a chart's own quantity.
func ofCeiling(v, most float64) string {
	return text.Either(most > 0, ", "+text.Percent(v/most)+" of its ceiling", "")
}
