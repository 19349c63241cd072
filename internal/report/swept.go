package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// SweptFormats names the formats of measured sweeps; the first is for the terminal.
func SweptFormats() []Format { return []Format{TTY, Markdown, HTML, CSV, JSON} }

// Swept writes a measured sweep.
func Swept(w io.Writer, f Format, s *compare.Swept) error {
	out := bufio.NewWriter(w)
	var err error
	switch f {
	case TTY:
		sweptTTY(out, s)
	case CSV:
		err = sweptCSV(out, s)
	case JSON:
		err = WriteJSON(out, "sweep", s)
	case Markdown:
		sweptPage(s).markdown(out)
	case HTML:
		err = sweptPage(s).html(out)
	case JUnit:
		fallthrough
	default:
		return unknownFormat(f, SweptFormats())
	}
	if err != nil {
		return fmt.Errorf("sweep as %s: %w", f, err)
	}
	return out.Flush()
}

func sweptTTY(out io.Writer, s *compare.Swept) {
	p := sweptPage(s)
	var right []int
	for k := range p.Rows.Head {
		if !slices.Contains(p.Rows.Text, k) {
			right = append(right, k)
		}
	}
	columns(out, append([][]string{p.Rows.Head}, p.Rows.Rows...), right...)
	for i, line := range p.Says {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, line)
	}
}

// sweptPage is a sweep as people read it.
func sweptPage(s *compare.Swept) *sweepPage {
	axes := len(s.Axes)
	p := &sweepPage{Title: "Sweep of " + strings.Join(s.Axes, " and ")}
	if s.Scenario != "" {
		p.Title += ": " + text.Clean(s.Scenario, longName)
	}
	p.Rows = table{
		Head: append(slices.Clone(s.Axes), "IOPS", "", "bandwidth", "of ceiling", "p50", "p99", ""),
		Text: []int{axes + 1, axes + 6},
	}
	for _, point := range s.Points {
		p.Rows.Rows = append(p.Rows.Rows, sweptRow(s.Axes, point))
	}
	for _, c := range s.Curves {
		p.Says = append(p.Says, curveText(c))
	}
	p.draw(s)
	return p
}

func sweptRow(axes []string, p compare.SweptPoint) []string {
	var row []string
	for _, a := range axes {
		row = append(row, text.Clean(p.At[a], 20))
	}
	if p.Invalid != "" {
		return append(row, text.None, "", "", "", "", "", "INVALID: "+text.Clean(p.Invalid, longSentence))
	}
	share := ""
	if p.Ceiling > 0 {
		share = text.Percent(p.IOPS.Center / p.Ceiling)
	}
	return append(
		row,
		units.IOPS(p.IOPS.Center).String(),
		plusMinus(p.IOPS, p.Rounds),
		units.Rate(p.BW).String(),
		share,
		latencyOr(p.P50),
		latencyOr(p.P99),
		"",
	)
}

func latencyOr(ns float64) string {
	if ns <= 0 {
		return ""
	}
	return units.Latency(ns).String()
}

// curveText is "knee at 15 in flight (predicted 14.4): 23,100 IOPS, p99 1.9 ms; 64 in flight give
// +4.0 % for 4.3x the latency".
func curveText(c compare.SweptCurve) string {
	var where strings.Builder
	for _, o := range slices.Sorted(maps.Keys(c.At)) {
		where.WriteString(o + "=" + text.Clean(c.At[o], 20) + " ")
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
		line += fmt.Sprintf(
			"; %d in flight give %s",
			c.Deepest.InFlight,
			ratio(c.Deepest.IOPS.Center/c.Knee.IOPS.Center),
		)
		if c.Knee.P99 > 0 && c.Deepest.P99 > 0 {
			line += " for " + text.Times(c.Deepest.P99/c.Knee.P99) + " the p99"
		}
	}
	if c.Curve.Falls > 0 {
		line += fmt.Sprintf("; it falls by %s beyond %s", text.Percent(c.Curve.Falls), units.Number(c.Curve.Beyond))
	}
	if c.Curve.Misfit > 0.1 {
		line += fmt.Sprintf(
			"; the points lie %s off the curve, so take the knee for a guess",
			text.Percent(c.Curve.Misfit),
		)
	}
	return line
}

func sweptCSV(out io.Writer, s *compare.Swept) error {
	w := csv.NewWriter(out)
	_ = w.Write(
		append(
			slices.Clone(s.Axes),
			"in_flight",
			"rounds",
			"iops",
			"low",
			"high",
			"bandwidth_bytes_per_s",
			"p50_ns",
			"p99_ns",
			"ceiling_iops",
			"invalid",
		),
	)
	for _, p := range s.Points {
		var row []string
		for _, a := range s.Axes {
			row = append(row, cell(p.At[a]))
		}
		_ = w.Write(
			append(
				row,
				strconv.Itoa(p.InFlight),
				strconv.Itoa(p.Rounds),
				decimal(p.IOPS.Center, 2),
				decimal(p.IOPS.Lo, 2),
				decimal(p.IOPS.Hi, 2),
				decimal(p.BW, 0),
				decimal(p.P50, 0),
				decimal(p.P99, 0),
				decimal(p.Ceiling, 2),
				cell(p.Invalid),
			),
		)
	}
	w.Flush()
	return w.Error()
}
