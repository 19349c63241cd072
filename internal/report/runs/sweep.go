package runs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Swept is the document of a measured sweep, its knees first.
func Swept(s *compare.Swept) *page.Document {
	rows := overAxes(s, "IOPS, <±, bandwidth?, of ceiling?, p50?, p99, <")
	var why []string
	invalid := 0
	for _, p := range s.Points {
		rows.Add(sweptRow(s.Axes, p))
		if p.Invalid != "" {
			invalid++
			why = text.Once(why, p.Invalid)
		}
	}
	word, tone := "nothing was measured", "measured"
	switch {
	case len(s.Points) == 0:
	case invalid == len(s.Points):
		word, tone = "every point is INVALID", "invalid"
	default:
		most := slices.MaxFunc(s.Points, func(a, b compare.SweptPoint) int {
			return cmp.Compare(a.IOPS.Center, b.IOPS.Center)
		})
		word, tone = fmt.Sprintf("peak %s IOPS (%s)", units.IOPS(most.IOPS.Center), valuesOf(most.At)), "pass"
		if invalid > 0 {
			word, tone = fmt.Sprintf("%s; %d of %s INVALID", word, invalid, text.Several(s.Points, "point")), "warn"
		}
	}
	d := page.New("sweep", text.Join(": ", s.Scenario, word), "sweep", s)
	d.Records, d.Head.Tone = sweptRecords(s), tone
	for _, c := range s.Curves {
		d.Head.Say(curveText(c))
	}
	if len(s.Curves) > 0 && s.Curves[0].Why == "" {
		d.Head.Main = page.NewFigure(s.Scenario, "iops", s.Curves[0].Knee.IOPS.Center, "per_s")
	}
	if len(why) == 1 { // each row has it
		why = nil
	}
	d.Add(page.Part("Figures", "figures", "", rows, page.Lead("INVALID", why...)))
	if invalid < len(s.Points) { // of points that must not be trusted nothing is drawn
		d.Add(page.Part("Charts", "charts", "",
			page.Charts{See: "the table of figures", Draw: func() page.Drawing { return drawSweep(s, d.Head) }}))
	}
	return d
}

// overAxes is a table with a column for each axis of a sweep before others.
func overAxes(s *compare.Swept, heads string) page.Table {
	return page.NewTable(strings.Join(append(slices.Clone(s.Axes), heads), ", "))
}

// sweptRow is a point; the figures of one that must not be trusted are struck out, not hidden.
func sweptRow(axes []string, p compare.SweptPoint) []page.Cell {
	doubt, share := words.PlusMinus(p.IOPS, p.Rounds), ""
	if p.Ceiling > 0 {
		share = text.Percent(p.IOPS.Center / p.Ceiling)
	}
	iops := page.T(words.Figure(units.IOPS(cmp.Or(p.Struck, p.IOPS.Center))))
	if p.Invalid != "" {
		iops.Struck, doubt, share = true, "", ""
	}
	return page.Cells(axesAt(axes, p), iops, doubt, words.Known("", units.Rate(p.BW)), share, words.Latency(p.P50),
		words.Latency(p.P99), p.Invalid)
}

// curveText is "knee at 15 in flight (predicted 14.4): 23,100 IOPS, p99 1.9 ms; 64 in flight give
// +4.0 % for 4.3x the latency".
func curveText(c compare.SweptCurve) string {
	at := valuesOf(c.At)
	if c.Why != "" {
		return text.Join(" ", at, "no knee: "+c.Why)
	}
	line := text.Join(" ", at, "knee at "+units.Number(c.Curve.Knee)+" in flight")
	line += fmt.Sprintf("%s: %s IOPS at %d%s", words.When(c.Predicted > 0, " (predicted "+units.Number(c.Predicted)+")"),
		units.IOPS(c.Knee.IOPS.Center), c.Knee.InFlight,
		words.When(c.Knee.P99 > 0, ", p99 "+units.Latency(c.Knee.P99).String()))
	if c.Deepest.InFlight > c.Knee.InFlight {
		line += fmt.Sprintf("; %d in flight give %s", c.Deepest.InFlight,
			words.Ratio(c.Deepest.IOPS.Center/c.Knee.IOPS.Center))
		if c.Knee.P99 > 0 && c.Deepest.P99 > 0 {
			line += " for " + text.Times(c.Deepest.P99/c.Knee.P99) + " the p99"
		}
	}
	falls := fmt.Sprintf("; it falls by %s beyond %s", text.Percent(c.Curve.Falls), units.Number(c.Curve.Beyond))
	guess := fmt.Sprintf("; the points lie %s off the curve, so the knee is only a guess", text.Percent(c.Curve.Misfit))
	return line + words.When(c.Curve.Falls > 0, falls) + words.When(c.Curve.Misfit > 0.1, guess)
}

func sweptRecords(s *compare.Swept) page.Table {
	t := overAxes(s, "in_flight, rounds, iops, low, high, bandwidth_bytes_per_s, p50_ns, p99_ns, ceiling_iops, "+
		"struck_iops, invalid")
	for _, p := range s.Points {
		t.Record(axesAt(s.Axes, p), p.InFlight, p.Rounds, p.IOPS.Center, p.IOPS.Lo, p.IOPS.Hi, units.Rate(p.BW),
			units.Latency(p.P50), units.Latency(p.P99), p.Ceiling, p.Struck, p.Invalid)
	}
	return t
}

// valuesOf are options with their values, by name: "bs=8k rw=read".
func valuesOf(at map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(at)) {
		all = append(all, name+"="+at[name])
	}
	return strings.Join(all, " ")
}

// axesAt are the values of the axes at a point.
func axesAt(axes []string, p compare.SweptPoint) []string {
	var all []string
	for _, a := range axes {
		all = append(all, p.At[a])
	}
	return all
}
