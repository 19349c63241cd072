package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// comparison is a table as people read it.
type comparison struct {
	Title string
	Sides []string // "before  7 rounds over 22 min  kernel=6.1"
	Suite []string // a sentence a side
	Works []comparedWork
	Apart []string
	Notes []string
}

type comparedWork struct {
	Name, Work string
	Unit       string // of the figure's column: "IOPS"
	Lines      []comparedLine
	Others     []string
	// Caption and Says go with the plot; Says is for those who do not see it.
	Caption, Says string
}

type comparedLine struct {
	Side, Rounds, Figure, Share, Sustained, Change, P, Verdict string
	Struck                                                     bool
}

// compareForms are the formats of comparisons.
var compareForms = []struct {
	name  Format
	write func(*bufio.Writer, *compare.Table, Options) error
}{
	{TTY, func(w *bufio.Writer, t *compare.Table, _ Options) error { compareTTY(w, compareView(t)); return nil }},
	{Markdown, func(w *bufio.Writer, t *compare.Table, _ Options) error {
		compareMarkdown(w, compareView(t))
		return nil
	}},
	{HTML, func(w *bufio.Writer, t *compare.Table, _ Options) error { return compareHTML(w, t) }},
	{JSON, func(w *bufio.Writer, t *compare.Table, _ Options) error { return WriteJSON(w, "comparison", t) }},
	{CSV, func(w *bufio.Writer, t *compare.Table, _ Options) error { return compareCSV(w, t) }},
}

// CompareFormats names the formats of comparisons; the first is for the terminal.
func CompareFormats() []Format {
	var names []Format
	for _, f := range compareForms {
		names = append(names, f.name)
	}
	return names
}

// Compare writes a comparison.
func Compare(w io.Writer, f Format, t *compare.Table, o Options) error {
	for _, form := range compareForms {
		if form.name != f {
			continue
		}
		out := bufio.NewWriterSize(w, 64<<10)
		if err := form.write(out, t, o); err != nil {
			return fmt.Errorf("comparison as %s: %w", f, err)
		}
		return out.Flush()
	}
	return unknownFormat(f, CompareFormats())
}

func compareView(t *compare.Table) comparison {
	v := comparison{Title: "Comparison"}
	for i, s := range t.Sides {
		v.Sides = append(v.Sides, sideText(s, i == t.Base))
	}
	for k, c := range t.Suite {
		if c != nil {
			v.Suite = append(v.Suite, suiteText(t, k, c))
		}
	}
	for i := range t.Rows {
		v.Works = append(v.Works, workView(t, &t.Rows[i]))
	}
	for _, a := range t.Apart {
		v.Apart = append(v.Apart, text.Clean(a, longSentence))
	}
	for _, n := range t.Notes {
		v.Notes = append(v.Notes, text.Clean(n, longSentence))
	}
	return v
}

func sideText(c compare.Column, base bool) string {
	parts := []string{text.Clean(c.Name, longName)}
	if len(c.Runs) == 1 && c.Runs[0] != c.Name {
		parts = append(parts, text.Clean(c.Runs[0], longName))
	}
	rounds := "1 round"
	if c.Rounds != 1 {
		rounds = fmt.Sprintf("%d rounds", c.Rounds)
	}
	if c.Over > 0 && c.Rounds > 1 {
		rounds += " over " + text.Duration(c.Over)
	}
	parts = append(parts, rounds)
	for _, k := range slices.Sorted(maps.Keys(c.Labels)) {
		parts = append(parts, text.Clean(k+"="+c.Labels[k], longName))
	}
	if base {
		parts = append(parts, "base")
	}
	return strings.Join(parts, ", ")
}

func suiteText(t *compare.Table, k int, c *compare.Change) string {
	phrase := text.Clean(t.Sides[k].Name, longName) + ": "
	if c.Method == stats.NoTest {
		return phrase + ratio(c.Ratio.Center) + burstText(c) + ", " + c.Why
	}
	return fmt.Sprintf(
		"%s%s %s%s, p %s: %s",
		phrase,
		ratio(c.Ratio.Center),
		span95(c.Ratio),
		burstText(c),
		pText(c.P),
		wordText(c, t.Margin),
	)
}

func workView(t *compare.Table, r *compare.Row) comparedWork {
	w := comparedWork{
		Name: text.Clean(r.Name, longName),
		Work: text.Clean(r.Work.String(), longName),
		Unit: r.Figure.Name,
	}
	for k := range r.Cells {
		w.Lines = append(w.Lines, lineView(t, r, k)...)
	}
	for _, o := range r.Others {
		w.Others = append(w.Others, otherText(t, o))
	}
	w.Caption = intervalCaption(r)
	var says []string
	for _, l := range w.Lines {
		says = append(says, strings.TrimSpace(l.Side+" "+l.Figure))
	}
	w.Says = w.Unit + " by side: " + strings.Join(says, "; ")
	return w
}

// lineView is a line for a side's figure and one for each of its figures that are struck out.
func lineView(t *compare.Table, r *compare.Row, k int) []comparedLine {
	c := &r.Cells[k]
	side := text.Clean(t.Sides[k].Name, longName)
	var lines []comparedLine
	if len(c.Rounds) > 0 {
		l := comparedLine{
			Side: side, Rounds: strconv.Itoa(len(c.Rounds)), Figure: amount(c.Figure.Center, r.Figure.Unit),
		}
		if !c.Within {
			l.Figure += " " + doubt(c.Figure)
		}
		if c.Share > 0 {
			l.Share = text.Percent(c.Share)
		}
		if c.Sustained > 0 {
			l.Sustained = amount(c.Sustained, r.Figure.Unit)
		}
		switch {
		case k == t.Base:
			l.Change = "base"
		case c.Change != nil:
			l.Change = ratio(c.Change.Ratio.Center)
			if c.Change.Method != stats.NoTest {
				l.Change += " " + span95(c.Change.Ratio)
				l.P = pText(c.Change.PHolm)
			}
			l.Change += burstText(c.Change)
			l.Verdict = wordText(c.Change, t.Margin)
		default:
			l.Verdict = "nothing to compare it with"
		}
		lines = append(lines, l)
	}
	for _, s := range c.Invalid {
		l := comparedLine{
			Side:    side,
			Rounds:  fmt.Sprintf("round %d", s.Round),
			Struck:  true,
			Figure:  none,
			Verdict: text.Clean(s.Why, longSentence),
		}
		if s.Figure > 0 {
			l.Figure = amount(s.Figure, r.Figure.Unit)
		}
		lines = append(lines, l)
	}
	if len(c.Rounds)+len(c.Invalid) == 0 {
		lines = append(lines, comparedLine{Side: side, Rounds: "0", Figure: none, Verdict: "not measured"})
	}
	return lines
}

// otherText is a figure that is not tested, with its ratios; of many sides the figures only.
func otherText(t *compare.Table, o compare.Other) string {
	var parts []string
	if len(t.Sides) > 2 {
		for _, e := range o.Cells {
			if e.Center > 0 {
				parts = append(parts, amount(e.Center, o.Figure.Unit))
			} else {
				parts = append(parts, none)
			}
		}
		return o.Figure.Name + " (not tested): " + strings.Join(parts, ", ")
	}
	for k, e := range o.Cells {
		if e.Center <= 0 {
			continue
		}
		phrase := text.Clean(t.Sides[k].Name, longName) + " " + amount(e.Center, o.Figure.Unit)
		if e.N > 1 && e.Hi > e.Lo {
			phrase += fmt.Sprintf(" [%s, %s]", amount(e.Lo, o.Figure.Unit), amount(e.Hi, o.Figure.Unit))
		}
		if q := o.Ratios[k]; q.Center > 0 {
			phrase += ", " + ratio(q.Center)
			if q.N > 1 {
				phrase += " " + span95(q)
			}
		}
		parts = append(parts, phrase)
	}
	return o.Figure.Name + " (not tested): " + strings.Join(parts, "; ")
}

// ratio prints a change: "+4.1 %", or "x2.50" where it is large.
func ratio(r float64) string {
	if r >= 2 || r <= 0.5 {
		return text.Ratio(r)
	}
	return text.Change(r - 1)
}

// span95 is the interval of a ratio: "[+2.0, +6.3]" in per cent, "[2.31, 2.70]" where ratio prints
// a factor.
func span95(e stats.Estimate) string {
	if e.Center >= 2 || e.Center <= 0.5 {
		return "[" + factor(e.Lo) + ", " + factor(e.Hi) + "]"
	}
	return text.Between(e.Lo-1, e.Hi-1)
}

func factor(r float64) string { return strings.TrimPrefix(text.Ratio(r), "x") }

func burstText(c *compare.Change) string {
	if c.Sustained <= 0 {
		return ""
	}
	return " in bursts, " + text.Ratio(c.Sustained) + " sustained"
}

func pText(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// wordText is the verdict with what belongs to it.
func wordText(c *compare.Change, margin float64) string {
	m := strconv.FormatFloat(100*margin, 'g', 3, 64) + " %"
	switch c.Word {
	case compare.Same:
		return "same within " + m
	case compare.Faster, compare.Slower:
		if c.Within {
			return string(c.Word) + ", by less than " + m
		}
		return string(c.Word)
	case compare.CannotTell:
	}
	if c.Why != "" {
		if strings.Contains(c.Why, "cannot tell") {
			return c.Why
		}
		return "cannot tell: " + c.Why
	}
	phrase := "cannot tell"
	if c.LeastSeen > 0 {
		phrase += ": could have seen about " + text.Percent(c.LeastSeen)
	}
	if c.Needs > 0 {
		phrase += fmt.Sprintf("; %s needs about %d rounds", m, c.Needs)
	}
	return phrase
}

func amount(v float64, u compare.Unit) string {
	switch u {
	case compare.BytesPerSec:
		return units.Rate(v).String()
	case compare.Nanoseconds:
		return units.Latency(v).String()
	case compare.PerSecond:
	}
	return units.IOPS(v).String()
}
