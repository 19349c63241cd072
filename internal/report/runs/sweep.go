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
	d := &page.Document{Kind: "sweep", Data: page.DataOf("sweep", s), Records: sweptRecords(s)}
	title := "Sweep of " + strings.Join(s.Axes, " and ")
	if s.Scenario != "" {
		title += ": " + s.Scenario
	}
	invalid := 0
	for _, p := range s.Points {
		if p.Invalid != "" {
			invalid++
		}
	}
	d.Head = page.Headline{Word: title, Tone: "pass"}
	switch {
	case len(s.Points) == 0:
		d.Head.Word, d.Head.Tone = title+": nothing was measured", "measured"
	case invalid == len(s.Points):
		d.Head.Word, d.Head.Tone = title+": every point is INVALID", "invalid"
	case invalid > 0:
		d.Head.Word = fmt.Sprintf("%s: %d of %s INVALID", title, invalid, text.Plural(len(s.Points), "point"))
		d.Head.Tone = "warn"
	}
	for _, c := range s.Curves {
		d.Head.Says = append(d.Head.Says, page.Say{Text: curveText(c)})
	}
	if len(s.Curves) > 0 && s.Curves[0].Why == "" {
		d.Head.Main = &page.Figure{Of: s.Scenario, Name: "iops", Value: s.Curves[0].Knee.IOPS.Center, Unit: "per_s"}
	}
	rows := page.NewTable("", append(slices.Clone(s.Axes), "IOPS", "<±", "bandwidth?", "of ceiling?", "p50?", "p99",
		"<")...)
	why := page.Note{Lead: "INVALID"}
	for _, p := range s.Points {
		rows.Add(sweptRow(s.Axes, p))
		if p.Invalid != "" && !slices.Contains(why.Lines, p.Invalid) {
			why.Lines = append(why.Lines, p.Invalid)
		}
	}
	figures := page.Section{Anchor: "figures", Nav: "Figures", Blocks: []page.Block{rows}}
	if len(why.Lines) > 1 { // of one reason, each row has it
		figures.Add(why)
	}
	d.Add(figures)
	if invalid < len(s.Points) { // of points that must not be trusted nothing is drawn
		charts := page.Section{Anchor: "charts", Nav: "Charts"}
		charts.Add(page.Charts{See: "the table of figures", Draw: func() page.Drawing { return drawSweep(s, d.Head) }})
		d.Add(charts)
	}
	return d
}

// sweptRow is a point; the figures of one that must not be trusted are struck out, not hidden.
func sweptRow(axes []string, p compare.SweptPoint) []page.Cell {
	share := ""
	if p.Ceiling > 0 && p.Invalid == "" {
		share = text.Percent(p.IOPS.Center / p.Ceiling)
	}
	iops := page.T(words.None)
	if figure := cmp.Or(p.Struck, p.IOPS.Center); figure > 0 {
		iops = page.T(units.IOPS(figure).String())
	}
	doubt, bw := words.PlusMinus(p.IOPS, p.Rounds), ""
	if p.BW > 0 {
		bw = units.Rate(p.BW).String()
	}
	why := ""
	if p.Invalid != "" {
		iops.Struck, doubt, why = true, "", p.Invalid
	}
	return page.Cells(axesAt(axes, p), iops, doubt, bw, share, words.Latency(p.P50), words.Latency(p.P99), why)
}

// curveText is "knee at 15 in flight (predicted 14.4): 23,100 IOPS, p99 1.9 ms; 64 in flight give
// +4.0 % for 4.3x the latency".
func curveText(c compare.SweptCurve) string {
	var where strings.Builder
	for _, o := range slices.Sorted(maps.Keys(c.At)) {
		where.WriteString(o + "=" + c.At[o] + " ")
	}
	if c.Why != "" {
		return where.String() + "no knee: " + c.Why
	}
	line := fmt.Sprintf("%sknee at %s in flight", where.String(), units.Number(c.Curve.Knee))
	if c.Predicted > 0 {
		line += fmt.Sprintf(" (predicted %s)", units.Number(c.Predicted))
	}
	line += fmt.Sprintf(": %s IOPS at %d", units.IOPS(c.Knee.IOPS.Center), c.Knee.InFlight)
	if c.Knee.P99 > 0 {
		line += ", p99 " + units.Latency(c.Knee.P99).String()
	}
	if c.Deepest.InFlight > c.Knee.InFlight {
		line += fmt.Sprintf("; %d in flight give %s", c.Deepest.InFlight,
			words.Ratio(c.Deepest.IOPS.Center/c.Knee.IOPS.Center))
		if c.Knee.P99 > 0 && c.Deepest.P99 > 0 {
			line += " for " + text.Times(c.Deepest.P99/c.Knee.P99) + " the p99"
		}
	}
	if c.Curve.Falls > 0 {
		line += fmt.Sprintf("; it falls by %s beyond %s", text.Percent(c.Curve.Falls), units.Number(c.Curve.Beyond))
	}
	if c.Curve.Misfit > 0.1 {
		line += fmt.Sprintf("; the points lie %s off the curve, so take the knee for a guess", text.Percent(c.Curve.Misfit))
	}
	return line
}

func sweptRecords(s *compare.Swept) *page.Table {
	t := page.NewTable("", append(slices.Clone(s.Axes), "in_flight", "rounds", "iops", "low", "high",
		"bandwidth_bytes_per_s",
		"p50_ns", "p99_ns", "ceiling_iops", "struck_iops", "invalid")...)
	for _, p := range s.Points {
		t.Record(axesAt(s.Axes, p), p.InFlight, p.Rounds, p.IOPS.Center, p.IOPS.Lo, p.IOPS.Hi, units.Rate(p.BW),
			units.Latency(p.P50), units.Latency(p.P99), p.Ceiling, p.Struck, p.Invalid)
	}
	return &t
}

// axesAt are the values of the axes at a point.
func axesAt(axes []string, p compare.SweptPoint) []string {
	var all []string
	for _, a := range axes {
		all = append(all, p.At[a])
	}
	return all
}
