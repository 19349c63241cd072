package report

import (
	_ "embed" // the page
	"encoding/json"
	"html/template"
	"io"
	"sync"

	"plimsoll/internal/compare"
	"plimsoll/internal/text"
)

// interval is what the script draws of one work: a point with its bar for each side, in
// web/src/charts.js.
type interval struct {
	Unit  string          `json:"unit"`
	Sides []intervalPoint `json:"sides"`
}

type intervalPoint struct {
	Name      string `json:"name"`
	At        number `json:"at"`
	Low       number `json:"low"`
	High      number `json:"high"`
	Ceiling   number `json:"ceiling"`
	Sustained number `json:"sustained"`
	Struck    bool   `json:"struck,omitempty"`
	Label     string `json:"label"`
}

type comparePage struct {
	comparison
	scriptedPage
}

//go:embed assets/compare.html
var compareMarkup string

var compareTemplate = sync.OnceValue(func() *template.Template { return scripted("compare", compareMarkup) })

// compareHTML writes one file that needs nothing else, in the style of the report.
func compareHTML(out io.Writer, t *compare.Table) error {
	drawings := make([]interval, len(t.Rows))
	for i := range t.Rows {
		drawings[i] = newInterval(t, &t.Rows[i])
	}
	data, err := json.Marshal(drawings) // it escapes <, > and &
	if err != nil {
		return err
	}
	return compareTemplate().Execute(out, comparePage{compareView(t), newScripted(data)})
}

func newInterval(t *compare.Table, r *compare.Row) interval {
	plot := interval{Unit: r.Figure.Name, Sides: []intervalPoint{}}
	scale := 1.0
	if r.Figure.Unit == compare.BytesPerSec {
		scale = 1 << 20
	}
	known := func(v float64) number {
		if v <= 0 {
			return missing
		}
		return number(v / scale)
	}
	for k := range r.Cells {
		c := &r.Cells[k]
		name := text.Clean(t.Sides[k].Name, longName)
		if len(c.Rounds) > 0 {
			low, high := known(c.Figure.Lo), known(c.Figure.Hi)
			if c.Figure.N < 2 {
				low, high = missing, missing
			}
			plot.Sides = append(plot.Sides, intervalPoint{
				Name:      name,
				At:        known(c.Figure.Center),
				Low:       low,
				High:      high,
				Ceiling:   known(c.Ceiling),
				Sustained: known(c.Sustained),
				Label:     amount(c.Figure.Center, r.Figure.Unit),
			})
		}
		for _, s := range c.Invalid {
			plot.Sides = append(plot.Sides, intervalPoint{
				Name:      name + " INVALID",
				At:        known(s.Figure),
				Low:       missing,
				High:      missing,
				Ceiling:   missing,
				Sustained: missing,
				Struck:    true,
				Label:     amount(s.Figure, r.Figure.Unit) + " INVALID",
			})
		}
	}
	return plot
}

// intervalCaption says what the bars are: those of one run's seconds and those over rounds look
// alike.
func intervalCaption(r *compare.Row) string {
	for i := range r.Cells {
		if c := &r.Cells[i]; len(c.Rounds) > 1 && c.Figure.N > 1 {
			return "Bars are 95 % intervals over rounds; of a single round they are what its own seconds say."
		}
	}
	return "Bars are what each run's own seconds say: they do not show how much runs differ."
}
