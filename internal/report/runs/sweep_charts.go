package runs

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/compared"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
)

// sweepDrawing is what the script draws of a sweep or a search: web/src/charts.js. Latencies are in
// nanoseconds.
type sweepDrawing struct {
	Grids  []sweepGrid  `json:"grids,omitempty"`
	Curves []sweepCurve `json:"curves,omitempty"`
	Search *searchChart `json:"search,omitempty"`
}

// sweepGrid is a figure over two axes.
type sweepGrid struct {
	Across, Down  string
	Columns, Rows []string
	Latency       bool `json:"latency,omitempty"` // else IOPS
	// Cells are column, row and figure of the points that were measured.
	Cells [][3]float64
}

// sweepCurve is throughput and latency over what is in flight.
type sweepCurve struct {
	Name    string
	Points  [][2]float64
	Latency [][2]float64 // p99
	Fitted  [][2]float64 `json:"fitted,omitempty"`
	Knee    float64
}

// searchChart is the probes of a search.
type searchChart struct {
	Limit, Low, High float64
	Probes           []searchPoint
}

type searchPoint struct {
	Load, Latency float64
	Outcome       string
}

// sweepPlot gathers the charts of a sweep.
type sweepPlot struct {
	charts  []page.Chart
	drawing sweepDrawing
}

func saysOf(h page.Headline) string {
	var all []string
	for _, s := range h.Says {
		all = append(all, s.Text)
	}
	return strings.Join(all, ". ")
}

// drawSweep makes the charts of a measured grid: heat maps where two options were varied, curves where
// what is in flight was.
func drawSweep(s *compare.Swept, h page.Headline) page.Drawing {
	var p sweepPlot
	if len(s.Axes) >= 2 {
		across := s.Axes[0]
		for _, depth := range []string{"numjobs", "iodepth"} { // what is in flight goes to the right
			if slices.Contains(s.Axes, depth) {
				across = depth
			}
		}
		rest := slices.DeleteFunc(slices.Clone(s.Axes), func(a string) bool { return a == across })
		for _, fixed := range combinations(s.Points, rest[1:]) {
			p.grid(s, across, rest[0], fixed, false)
			p.grid(s, across, rest[0], fixed, true)
		}
	}
	for i := range s.Curves {
		p.curve(s, &s.Curves[i])
	}
	if len(p.drawing.Curves) > 0 {
		says := saysOf(h)
		p.charts = append(p.charts, page.Chart{
			Kind: "curve", Caption: "IOPS by I/Os in flight; lines are the fitted curves, bars their knees", Says: says,
		}, page.Chart{Kind: "waits", Caption: "p99 latency by I/Os in flight", Says: says})
	}
	if len(p.charts) == 0 {
		return page.Drawing{}
	}
	return page.Drawing{Data: p.drawing, Charts: p.charts}
}

// combinations are the values that other axes have together, in the order of the points.
func combinations(points []compare.SweptPoint, axes []string) []map[string]string {
	var all []map[string]string
	for _, p := range points {
		at := maps.Clone(p.At)
		maps.DeleteFunc(at, func(a, _ string) bool { return !slices.Contains(axes, a) })
		if !slices.ContainsFunc(all, func(o map[string]string) bool { return maps.Equal(o, at) }) {
			all = append(all, at)
		}
	}
	return all
}

// grid adds a heat map of the points that have these values.
func (p *sweepPlot) grid(s *compare.Swept, across, down string, fixed map[string]string, latency bool) {
	g := sweepGrid{Across: across, Down: down, Latency: latency, Cells: [][3]float64{}}
	place := func(names *[]string, name string) float64 {
		if !slices.Contains(*names, name) {
			*names = append(*names, name)
		}
		return float64(slices.Index(*names, name))
	}
	most, best := 0.0, ""
	for _, point := range s.Points {
		if !among(point.At, fixed) {
			continue
		}
		x := place(&g.Columns, point.At[across])
		y := place(&g.Rows, point.At[down])
		v := point.IOPS.Center
		if latency {
			v = point.P99
		}
		if point.Invalid != "" || v <= 0 {
			continue
		}
		g.Cells = append(g.Cells, [3]float64{x, y, v})
		if v > most {
			most, best = v, fmt.Sprintf("%s=%s, %s=%s", across, point.At[across], down, point.At[down])
		}
	}
	if len(g.Cells) == 0 {
		return
	}
	c := page.Chart{Kind: "grid", Part: len(p.drawing.Grids), Wide: true, Caption: "IOPS", Least: "few", Most: "many"}
	if latency {
		c.Caption, c.Least, c.Most = "p99 latency", "short", "long"
	}
	c.Caption += fmt.Sprintf(" by %s (across) and %s (down)", across, down)
	c.Caption = text.Join(", ", c.Caption, valuesOf(fixed))
	c.Says = c.Caption + "; the most is at " + best + ". The table has the figures."
	p.drawing.Grids, p.charts = append(p.drawing.Grids, g), append(p.charts, c)
}

// among says that a point has these values.
func among(at, fixed map[string]string) bool {
	for a, v := range fixed {
		if at[a] != v {
			return false
		}
	}
	return true
}

// curve adds throughput over what is in flight.
func (p *sweepPlot) curve(s *compare.Swept, c *compare.SweptCurve) {
	d := sweepCurve{
		Name: cmp.Or(valuesOf(c.At), "measured"), Points: [][2]float64{}, Latency: [][2]float64{},
		Knee: math.NaN(),
	}
	point := func(to *[][2]float64, x, y float64) { *to = append(*to, [2]float64{x, y}) }
	points := slices.SortedStableFunc(slices.Values(s.Points),
		func(a, b compare.SweptPoint) int { return a.InFlight - b.InFlight })
	for _, o := range points {
		if o.Invalid != "" || !among(o.At, c.At) || o.IOPS.Center <= 0 {
			continue
		}
		point(&d.Points, float64(o.InFlight), o.IOPS.Center)
		if o.P99 > 0 {
			point(&d.Latency, float64(o.InFlight), o.P99)
		}
	}
	if len(d.Points) == 0 {
		return
	}
	first, last := d.Points[0][0], d.Points[len(d.Points)-1][0]
	if c.Why == "" && last > first {
		d.Knee = c.Curve.Knee
		if c.Curve.Beyond > 0 {
			last = c.Curve.Beyond
		}
		for n := first; n < last; n *= 1.1 {
			point(&d.Fitted, n, c.Curve.At(n))
		}
		point(&d.Fitted, last, c.Curve.At(last))
	}
	p.drawing.Curves = append(p.drawing.Curves, d)
}

// drawSearch is the chart of a search.
func drawSearch(m *compare.Most, says string) page.Drawing {
	if len(m.Probes) == 0 {
		return page.Drawing{}
	}
	d := &searchChart{
		Limit: compared.KnownOr(m.Limit), Low: compared.KnownOr(m.Bracket.Low), High: compared.KnownOr(m.Bracket.High),
		Probes: []searchPoint{},
	}
	for _, probe := range m.Probes {
		if probe.Latency > 0 {
			d.Probes = append(d.Probes, searchPoint{probe.Asked, probe.Latency, probe.Outcome})
		}
	}
	return page.Drawing{Data: sweepDrawing{Search: d}, Charts: []page.Chart{{
		Kind: "search", Wide: true, Says: says,
		Caption: "Latency by load; a filled point met the threshold, a hollow one missed it or fell behind",
	}}}
}
