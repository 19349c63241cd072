// Package compared builds the documents of comparisons: sides against each other, and a run against
// a baseline.
package compared

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// Compare is the document of a comparison: the answer first, then a section for each work.
func Compare(t *compare.Table) *page.Document {
	d := page.New("comparison", whoIsFastest(t), "comparison", t)
	d.Records, d.Tests = records(t), tests(t)
	d.Head.Tone, d.Head.Main = tone(t), firstChange(t)
	var sides []string
	for i, s := range t.Sides {
		sides = append(sides, sideText(s, i == t.Base))
	}
	d.Head.About = strings.Join(sides, "; ")
	if len(t.Standings) > 0 {
		d.Add(layouts(t)...)
	} else {
		d.Add(works(t)...)
	}
	suite := page.Note{Title: "suite as a whole (geometric mean)", Level: page.Detail}
	for k, c := range t.Suite {
		if c != nil {
			suite.Say("%s", suiteText(t, k, c))
		}
	}
	d.Add(suite)
	for i := range t.Rows {
		d.Add(work(t, i)) // its figures stand in one table with the others'
	}
	d.Add(page.Sentences(t.Apart...), page.Lead("note", t.Notes...))
	d.Foot = []page.Note{page.Sentences("An interval over rounds contains the true figure in 95 of 100 " +
		"comparisons. p is " +
		"corrected for all figures that are tested (Holm). A change is labelled only if repeated rounds support it.")}
	return d
}

// firstChange is the change of the first figure that was compared, as a ratio to the base; nil where none was.
func firstChange(t *compare.Table) *page.Figure {
	for _, r := range t.Rows {
		for k, c := range r.Cells {
			if k != t.Base && c.Change != nil {
				return page.NewFigure(r.Name, "change", c.Change.Ratio.Center, "ratio")
			}
		}
	}
	return nil
}

// verdicts counts the answers of all figures that were compared with the base.
func verdicts(t *compare.Table) (count map[compare.Word]int, invalid, silent int) {
	count = map[compare.Word]int{}
	for _, r := range t.Rows {
		for k, c := range r.Cells {
			switch {
			case k == t.Base:
				if len(c.Rounds) == 0 && len(c.Invalid) > 0 {
					invalid++
				}
			case c.Change != nil:
				count[c.Change.Word]++
			case len(c.Invalid) > 0:
				invalid++
			default:
				silent++
			}
		}
	}
	return count, invalid, silent
}

// whoIsFastest is the answer: "after is slower than before: -20.0 % [-22.0, -18.0] (1 slower)", and of
// several sides the fastest and the slowest; only the counts where no side was tested.
func whoIsFastest(t *compare.Table) string {
	type side struct {
		name string
		*compare.Change
	}
	var all []side
	for k := range t.Sides {
		var c *compare.Change
		switch {
		case k == t.Base:
		case k < len(t.Suite):
			c = t.Suite[k]
		case len(t.Rows) == 1:
			c = t.Rows[0].Cells[k].Change
		}
		if c != nil && c.Word != compare.CannotTell {
			all = append(all, side{t.Sides[k].Name, c})
		}
	}
	if len(all) == 0 {
		return untold(t)
	}
	slices.SortStableFunc(all, func(a, b side) int { return cmp.Compare(b.Ratio.Center, a.Ratio.Center) })
	base, first, last := t.Sides[t.Base].Name, all[0], all[len(all)-1]
	says := fmt.Sprintf("%s is %s than %s: %s", first.name, first.Word, base, ratioText(first.Change))
	switch {
	case len(all) == 1 && first.Word == compare.Same:
		says = fmt.Sprintf("%s is as fast as %s: %s", first.name, base, ratioText(first.Change))
	case len(all) > 1 && first.Word == compare.Faster:
		says = fmt.Sprintf("%s is fastest: %s against %s", first.name, ratioText(first.Change), base)
	case len(all) > 1:
		says = base + " is fastest"
	}
	if len(all) > 1 && last.Word == compare.Slower {
		says += fmt.Sprintf("; %s is slowest: %s", last.name, ratioText(last.Change))
	}
	return says + " (" + answer(t) + ")"
}

// untold is the answer where no side is known to be faster or slower.
func untold(t *compare.Table) string {
	count, invalid, _ := verdicts(t)
	if len(t.Sides) != 2 || len(count) != 1 || count[compare.CannotTell] == 0 || invalid > 0 {
		return answer(t)
	}
	side := 1 - t.Base
	says := fmt.Sprintf("Cannot tell whether %s is faster than %s", t.Sides[side].Name, t.Sides[t.Base].Name)
	if c := t.Rows[0].Cells[side].Change; len(t.Rows) == 1 && c != nil {
		says += ": " + text.Join(", ", ratioText(c), c.Why)
	}
	return says + tail(t)
}

// works is a table of all works on all sides, the base first: its figure, how the others differ from it, and
// below what was left out of it.
func works(t *compare.Table) []page.Block {
	rows, out := page.NewTable("<work"), page.Note{Lead: "left out"}
	var order []int
	for k := range t.Sides {
		at := len(order)
		if k == t.Base {
			at = 0
		}
		order = slices.Insert(order, at, k)
	}
	for at, k := range order {
		rows.Columns = append(rows.Columns, page.Column{Name: t.Sides[k].Name, Left: true, Priority: max(0, at-3)})
	}
	for i, r := range t.Rows {
		row := page.Cells(r.Name)
		row[0].Link = fmt.Sprintf("w%d", i)
		if also := r.Work.String(); also != r.Name {
			row[0].Also = also
		}
		for _, k := range order[:min(len(order), len(r.Cells))] {
			c := &r.Cells[k]
			cell := page.T(words.None)
			switch {
			case len(c.Rounds) > 0 && (k == t.Base || c.Change == nil):
				if cell.Text = words.Amount(c.Figure.Center, r.Figure.Unit); r.Figure.Unit == compare.PerSecond {
					cell.Text += " " + r.Figure.Name
				}
				if c.Figure.HasInterval() {
					cell.Text = words.WithDoubt(cell.Text, words.Doubt(c.Figure))
				}
			case c.Change != nil:
				cell.Text = words.Ratio(c.Change.Ratio.Center)
				if len(t.Sides) == 2 { // of more, the tables of each work have the intervals
					cell.Text = ratioText(c.Change)
				}
				cell.Text += burstText(c.Change) + " " + string(c.Change.Word)
				cell.Tone = map[compare.Word]string{compare.Faster: "pass", compare.Slower: "fail"}[c.Change.Word]
			}
			row = append(row, cell)
			for _, x := range c.Invalid {
				out.Say("%s: INVALID: %s", text.Join(", ", t.Sides[k].Name, r.Name, x.Called), x.Why)
			}
		}
		rows.Add(row)
	}
	return []page.Block{rows, out}
}

// answer is the comparison in a line: "1 slower, 3 same, 2 cannot tell".
func answer(t *compare.Table) string {
	count, invalid, silent := verdicts(t)
	var parts text.Lines
	add := func(n int, what compare.Word) {
		if n > 0 {
			parts.Say("%d %s", n, what)
		}
	}
	for _, w := range []compare.Word{compare.Slower, compare.Faster, compare.Same, compare.CannotTell} {
		add(count[w], w)
	}
	if add(invalid, "INVALID"); len(count) == 0 && invalid > 0 {
		return fmt.Sprintf("Nothing to compare: %s INVALID", text.Plural(invalid, "figure is", "figures are"))
	}
	add(silent, "with nothing to compare")
	if len(parts) == 0 {
		return "Nothing could be compared"
	}
	return strings.Join(parts, ", ") + tail(t)
}

// tail is "; write p99 +200.0 % [+150.0, +260.0] (w)" of the 99th percentile that moved most.
func tail(t *compare.Table) string {
	says, most := "", 0.0
	for _, r := range t.Rows {
		for _, o := range r.Others {
			for k := range o.PHolm {
				by := o.Ratios[k]
				if off := math.Abs(math.Log(by.Center)); o.Moved(k) && off > most {
					says, most = fmt.Sprintf("; %s %s %s (%s)", o.Figure.Name, words.Ratio(by.Center), words.Span(by), r.Name), off
				}
			}
		}
	}
	return says
}

// tone is that of the worst answer.
func tone(t *compare.Table) string {
	count, invalid, _ := verdicts(t)
	switch {
	case count[compare.Slower] > 0:
		return "fail"
	case invalid > 0:
		return "invalid"
	case count[compare.CannotTell] > 0:
		return "measured"
	case count[compare.Faster]+count[compare.Same] > 0:
		return "pass"
	}
	return "measured"
}

func sideText(c compare.Column, base bool) string {
	parts := []string{c.Name}
	if len(c.Runs) == 1 && c.Runs[0] != c.Name {
		parts = append(parts, c.Runs[0])
	}
	parts = append(parts, text.Plural(c.Rounds, "round")+
		words.When(c.Over > 0 && c.Rounds > 1, " over "+text.Duration(c.Over)))
	for _, k := range slices.Sorted(maps.Keys(c.Labels)) {
		parts = append(parts, k+"="+c.Labels[k])
	}
	if base {
		parts = append(parts, "base")
	}
	return strings.Join(parts, ", ")
}

func suiteText(t *compare.Table, k int, c *compare.Change) string {
	phrase := t.Sides[k].Name + ": "
	if c.Method == stats.NoTest {
		return phrase + ratioText(c) + burstText(c) + ", cannot tell: " + c.Why
	}
	return fmt.Sprintf("%s%s%s, p %s: %s", phrase, ratioText(c), burstText(c), pText(c.P), verdictText(c, t.Margin))
}

func work(t *compare.Table, i int) page.Section {
	r := &t.Rows[i]
	s := page.Section{
		Of: "work", Level: page.Detail, Anchor: fmt.Sprintf("w%d", i),
		Title: strings.Join(slices.Compact([]string{r.Name, r.Work.String()}), ": "),
	}
	rows := page.NewTable("<, rounds, " + r.Figure.Name + ", of ceiling?, sustained?, <change, p (Holm)?, <verdict")
	for k := range r.Cells {
		addSide(&rows, t, r, k)
	}
	others := sustainedBy(t, r)
	for _, o := range r.Others {
		others = append(others, otherText(t, o))
	}
	s.Add(rows, page.Sentences(others...),
		page.Charts{See: "the table above", Draw: func() page.Drawing { return intervals(t, r) }})
	return s
}

// sustainedBy names what limits the sustained figures of a row, once where it is the same for all.
func sustainedBy(t *compare.Table, r *compare.Row) (lines []string) {
	limits := map[string][]string{}
	for k, c := range r.Cells {
		limits[c.SustainedBy] = append(limits[c.SustainedBy], t.Sides[k].Name)
	}
	delete(limits, "")
	for _, by := range slices.Sorted(maps.Keys(limits)) {
		sides := words.When(len(limits) > 1, ": "+strings.Join(limits[by], ", "))
		lines = append(lines, "sustained is limited by "+by+sides)
	}
	return lines
}

// addSide adds a row for a side's figure and one for each of its figures that are struck out.
func addSide(rows *page.Table, t *compare.Table, r *compare.Row, k int) {
	c := &r.Cells[k]
	side := t.Sides[k].Name
	if len(c.Rounds) > 0 {
		figure, change, p, verdict := words.Amount(c.Figure.Center, r.Figure.Unit), "base", "", ""
		if !c.Within {
			figure = words.WithDoubt(figure, words.Doubt(c.Figure))
		}
		switch {
		case k == t.Base:
		case c.Change != nil:
			change = ratioText(c.Change) + burstText(c.Change)
			if c.Change.Method != stats.NoTest {
				p = pText(c.Change.PHolm)
			}
			verdict = verdictText(c.Change, t.Margin)
		default:
			change, verdict = "", "nothing to compare it with"
		}
		rows.Add(side, len(c.Rounds), figure, words.When(c.Share > 0, text.Percent(c.Share)),
			words.When(c.Sustained > 0, words.Amount(c.Sustained, r.Figure.Unit)), change, p, verdict)
	} else if len(c.Invalid) == 0 {
		rows.Add(side, "0", words.None, "", "", "", "", "not measured")
	}
	for _, s := range c.Invalid {
		figure := page.Cell{Text: measured(s.Figure, r.Figure), Struck: true}
		rows.Add(side, s.Called, figure, "", "", "", "", s.Why)
	}
}

// otherText is a figure that is not tested, with its ratios; of many sides the figures only.
func otherText(t *compare.Table, o compare.Other) string {
	name := o.Figure.Name + text.Either(o.PHolm == nil, " (not tested): ", ": ")
	var figures, parts []string
	for k, e := range o.Cells {
		figure := measured(e.Center, o.Figure)
		if figures = append(figures, figure); e.Center <= 0 {
			continue
		}
		phrase := t.Sides[k].Name + " " + figure
		if e.N > 1 && e.Hi > e.Lo {
			phrase += within(e, o.Figure.Unit)
		}
		if q := o.Ratios[k]; q.Center > 0 {
			phrase += ", " + words.Ratio(q.Center)
			if q.N > 1 {
				phrase += " " + words.Span(q)
			}
		}
		parts = append(parts, phrase)
	}
	if len(t.Sides) > 2 {
		return name + strings.Join(figures, ", ")
	}
	return name + strings.Join(parts, "; ")
}

// measured is a figure in its unit, words.None for none.
func measured(v float64, f compare.Figure) string {
	return text.Either(v > 0, words.Amount(v, f.Unit), words.None)
}

// within is the interval of a figure behind it: " [23,100, 24,000]".
func within(e stats.Estimate, u compare.Unit) string {
	return fmt.Sprintf(" [%s, %s]", words.Amount(e.Lo, u), words.Amount(e.Hi, u))
}

func burstText(c *compare.Change) string {
	return words.When(c.Sustained > 0, " in bursts, "+text.Ratio(c.Sustained)+" sustained")
}

func pText(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'g', 2, 64)
}

// verdictText is the verdict with what belongs to it.
func verdictText(c *compare.Change, margin float64) string {
	m := strconv.FormatFloat(100*margin, 'g', 3, 64) + " %"
	switch c.Word {
	case compare.Same:
		return "same within " + m
	case compare.Faster, compare.Slower:
		return string(c.Word) + words.When(c.Within, ", by less than "+m)
	case compare.CannotTell:
	}
	if c.Why != "" {
		return "cannot tell: " + c.Why
	}
	return "cannot tell" +
		words.When(c.LeastSeen > 0, ": smallest detectable change about "+text.Percent(c.LeastSeen)) +
		words.When(c.Needs > 0, fmt.Sprintf("; to detect %s, about %d rounds", m, c.Needs))
}

// tests are the comparison's cases: a work on a side that is not the base.
func tests(t *compare.Table) []page.Suite {
	var all []page.Suite
	for _, r := range t.Rows {
		s := page.Suite{Name: r.Name}
		for k, c := range r.Cells {
			if k == t.Base {
				continue
			}
			one := page.Test{Name: t.Sides[k].Name, Outcome: page.Errored}
			switch {
			case c.Change == nil && len(c.Invalid) > 0:
				one.Message = "INVALID: " + c.Invalid[0].Why
			case c.Change == nil:
				one.Message = "nothing to compare it with"
			default:
				one.Message = words.Ratio(c.Change.Ratio.Center) + ": " + verdictText(c.Change, t.Margin)
				one.Outcome = map[compare.Word]page.Outcome{
					compare.Slower: page.Failed, compare.CannotTell: page.Skipped,
				}[c.Change.Word]
			}
			s.Tests = append(s.Tests, one)
		}
		if len(s.Tests) > 0 {
			all = append(all, s)
		}
	}
	return all
}
