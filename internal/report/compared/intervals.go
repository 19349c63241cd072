package compared

import (
	"math"
	"slices"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// Intervals is what the script draws of one figure on several sides: a point with its bar for each,
// in web/src/charts.js.
type Intervals struct {
	Unit  string
	Sides []Point
}

// Point is one side's figure; NaN is what is not known.
type Point struct {
	Name                              string
	At, Low, High, Ceiling, Sustained float64
	Struck                            bool `json:"struck,omitempty"`
	Label                             string
}

// KnownOr is a figure in a chart, missing where it is not above 0.
func KnownOr[T ~float64](v T) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return float64(v)
}

// Scale is what charts divide a figure by: bandwidth is drawn in MiB/s.
func Scale(f compare.Figure) float64 {
	if f.Unit == compare.BytesPerSec {
		return 1 << 20
	}
	return 1
}

func intervals(t *compare.Table, r *compare.Row) page.Drawing {
	plot := &Intervals{Unit: r.Figure.Name, Sides: []Point{}}
	scale := Scale(r.Figure)
	var says []string
	for k, c := range r.Cells {
		name, unknown := t.Sides[k].Name, math.NaN()
		add := func(p Point, figure float64) {
			p.At, p.Label = KnownOr(figure/scale), words.Amount(figure, r.Figure.Unit)+words.When(p.Struck, " INVALID")
			plot.Sides, says = append(plot.Sides, p), append(says, name+" "+p.Label)
		}
		if len(c.Rounds) > 0 {
			p := Point{
				Name: name, Low: unknown, High: unknown, Ceiling: KnownOr(c.Ceiling / scale),
				Sustained: KnownOr(c.Sustained / scale),
			}
			if c.Figure.N > 1 {
				p.Low, p.High = KnownOr(c.Figure.Lo/scale), KnownOr(c.Figure.Hi/scale)
			}
			add(p, c.Figure.Center)
		}
		for _, s := range c.Invalid {
			add(Point{
				Name: name + ", " + s.Called, Low: unknown, High: unknown, Ceiling: unknown, Sustained: unknown, Struck: true,
			}, s.Figure)
		}
	}
	return page.Drawing{Data: plot, Charts: []page.Chart{{
		Kind: "intervals", Wide: true, Caption: caption(r), Says: r.Figure.Name + " by side: " + strings.Join(says, "; "),
	}}}
}

// caption says what the bars are: those of one run's seconds and those over rounds look alike.
func caption(r *compare.Row) string {
	for _, c := range r.Cells {
		if len(c.Rounds) > 1 && c.Figure.N > 1 {
			return r.Figure.Name + ". Bars are 95 % intervals over rounds; for a single round, over its own seconds."
		}
	}
	return r.Figure.Name + ". Bars are intervals over each run's own seconds: they do not show how much runs differ."
}

// records has a row for each scenario and side in CSV; rounds that are struck out are rows of their
// own.
func records(t *compare.Table) page.Table {
	all := page.NewTable("scenario, work, side, base, rounds, figure, unit, value, low, high, interval_over, ceiling, " +
		"percent_of_ceiling, sustained, ratio, ratio_low, ratio_high, method, p, p_holm, verdict, least_seen_percent, " +
		"rounds_needed, sustained_ratio, sustained_by, invalid")
	for _, r := range t.Rows {
		for k, c := range r.Cells {
			head := []any{r.Name, r.Work, t.Sides[k].Name, t.Sides[t.Base].Name}
			for _, s := range c.Invalid {
				row := slices.Concat(head, []any{0, r.Figure.Name, r.Figure.Unit, s.Figure})
				all.Record(slices.Concat(row, make([]any, len(all.Columns)-len(row)-1), []any{s.Why})...)
			}
			if len(c.Rounds) == 0 {
				continue
			}
			over := text.Either(c.Within, "seconds of one run", "rounds")
			head = append(head, len(c.Rounds), r.Figure.Name, r.Figure.Unit, c.Figure.Center, c.Figure.Lo, c.Figure.Hi, over,
				c.Ceiling, 100*c.Share, c.Sustained)
			all.Record(append(append(head, changeCells(c.Change)...), c.SustainedBy)...)
		}
	}
	return all
}

func changeCells(c *compare.Change) []any {
	if c == nil {
		return make([]any, 10)
	}
	var p, holm, low, high, needs any
	if c.Method != stats.NoTest {
		p, holm, low, high = c.P, c.PHolm, c.Ratio.Lo, c.Ratio.Hi
	}
	if c.Needs > 0 {
		needs = c.Needs
	}
	return []any{c.Ratio.Center, low, high, c.Method, p, holm, c.Word, 100 * c.LeastSeen, needs, c.Sustained}
}
