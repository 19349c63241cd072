package report

import (
	_ "embed" // the page
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"sync"

	"plimsoll/internal/advise"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

//go:embed assets/advice.html
var adviceMarkup string

var adviceTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("advice").Parse(adviceMarkup))
})

// advicePoint is a candidate in the plot of cost against headroom. Coordinates are in the plot's
// own units.
type advicePoint struct {
	X, Y  float64
	N     int // of its row; 0 for one that is not shown below
	Label string
	Class string
}

type adviceTick struct {
	At    float64
	Label string
}

type adviceRow struct {
	N                                 int
	Volumes, Instance, Month, Sustain string
	Names                             string
	Lines                             []string
}

type advicePage struct {
	Policy, Title, About string
	Style                template.CSS
	Points               []advicePoint
	Xs, Ys               []adviceTick
	Demand               float64 // where the demand with its headroom stands on the axis of headroom
	Rows                 []adviceRow
	Rejected, Notes      []string
}

// The plot's place in its drawing.
const (
	plotLeft, plotRight = 70.0, 700.0
	plotTop, plotBottom = 20.0, 300.0
)

// AdviceHTML writes one page that needs nothing else: what each choice costs against how much of
// the demand it sustains, and the rows in full. It holds no script.
func AdviceHTML(w io.Writer, a *advise.Advice) error {
	peak := a.Demand.Peak()
	p := advicePage{
		Policy: "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
		Style:  template.CSS(style), //nolint:gosec // our own file
		Title:  "What meets " + text.Clean(a.Demand.Name, longName),
		About: fmt.Sprintf(
			"%v IOPS and %v at peak, with %s of headroom, in %s",
			peak.IOPS,
			peak.Rate,
			text.Share(a.Headroom),
			text.Clean(a.Region, 40),
		),
	}
	for i := range a.Rows {
		c := &a.Rows[i]
		row := adviceRow{
			N:        i + 1,
			Volumes:  LayoutText(c.Layout),
			Instance: c.Type,
			Month:    c.Month.String(),
			Sustain:  none,
			Lines:    CandidateLines(c),
		}
		for j, n := range c.Names {
			if j > 0 {
				row.Names += ", "
			}
			row.Names += n
		}
		if c.Times > 0 {
			row.Sustain = units.Number(c.Times) + " x"
		}
		p.Rows = append(p.Rows, row)
	}
	p.plot(a)
	for _, r := range a.Rejected {
		p.Rejected = append(p.Rejected, text.Clean(r, longSentence))
	}
	for _, n := range a.Notes {
		p.Notes = append(p.Notes, text.Clean(n, longSentence))
	}
	return adviceTemplate().Execute(w, p)
}

// plot places the rows: headroom to the right, cost upwards on a logarithmic axis, for one choice
// may cost ten times another.
func (p *advicePage) plot(a *advise.Advice) {
	if len(a.Rows) == 0 {
		return
	}
	most := 1 + a.Headroom
	low, high := math.Inf(1), 0.0
	for _, c := range a.Rows {
		most = max(most, min(c.Times, 8))
		low, high = min(low, float64(c.Month)), max(high, float64(c.Month))
	}
	most *= 1.05
	low, high = low/1.2, high*1.2
	x := func(times float64) float64 { return plotLeft + (plotRight-plotLeft)*min(times, most)/most }
	y := func(month float64) float64 {
		return plotBottom - (plotBottom-plotTop)*math.Log(month/low)/math.Log(high/low)
	}
	for t := 0.5; t < most; t += max(0.5, math.Round(most/6*2)/2) {
		p.Xs = append(p.Xs, adviceTick{x(t), units.Number(t) + " x"})
	}
	for i := range 4 {
		month := low * math.Pow(high/low, float64(i)/3)
		p.Ys = append(p.Ys, adviceTick{y(month), "$" + units.Number(month/1e6)})
	}
	p.Demand = x(1 + a.Headroom)
	for i, c := range a.Rows {
		class := "one"
		switch {
		case c.Layout.Local:
			class = "local"
		case c.Layout.Level == "raid10":
			class = "mirror"
		}
		p.Points = append(p.Points, advicePoint{
			x(c.Times),
			y(float64(c.Month)),
			i + 1,
			fmt.Sprintf(
				"%s on %s: %v a month, %s times the demand",
				LayoutText(c.Layout),
				c.Type,
				c.Month,
				units.Number(c.Times),
			),
			class,
		})
	}
	slices.SortFunc(p.Points, func(a, b advicePoint) int { return b.N - a.N }) // the first row is drawn on top
}
