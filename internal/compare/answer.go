package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// Word is the verdict of a change.
type Word string

// The words. Of latencies, where less is better, Faster means lower.
const (
	Faster     Word = "faster"
	Slower     Word = "slower"
	Same       Word = "same"
	CannotTell Word = "cannot tell"
)

// Change is a side's figure against the base's.
type Change struct {
	stats.Comparison
	// PHolm is P corrected for all figures that are tested in the table.
	PHolm float64 `json:"p_holm"`
	Word  Word    `json:"verdict"`
	// Within: the whole interval lies inside the margin; with Faster or Slower both hold.
	Within bool `json:"within_margin,omitempty"`
	// Sustained is the ratio of what both sides sustain, where either figure is a burst; else 0.
	Sustained float64 `json:"sustained_ratio,omitempty"`
	// LeastSeen is about the least change that these rounds could have shown in four of five cases,
	// 0 for none.
	LeastSeen float64 `json:"least_seen,omitempty"`
	// Needs is about how many rounds per side would show a change of the margin; 0 when not known.
	Needs int `json:"rounds_needed,omitempty"`
	// Without is the answer without the rounds that stand apart, nil when none does.
	Without *stats.Estimate `json:"without_apart,omitempty"`
	// Why says what is in the way of a word, or what to think of it.
	Why string `json:"why,omitempty"`

	trend string // of sides that were measured one after the other: what explains the change as well
}

// test compares all cells with the base, under Holm.
func (t *Table) test() {
	type cell struct {
		*Cell
		lower bool
	}
	var tested []cell
	for _, r := range t.Rows {
		for k := range r.Cells {
			if c := &r.Cells[k]; k != t.Base && min(len(c.Rounds), len(r.Cells[t.Base].Rounds)) > 1 {
				tested = append(tested, cell{c, r.Figure.Lower})
			}
		}
	}
	figures := max(1, len(tested))
	var ps []float64
	for i := range t.Rows {
		r := &t.Rows[i]
		for k := range r.Cells {
			if k != t.Base {
				r.Cells[k].Change = t.change(r, k, figures)
			}
		}
		r.others(t.Base)
	}
	t.correct()
	for _, c := range tested {
		ps = append(ps, c.Change.P)
	}
	for n, p := range stats.Holm(ps) {
		tested[n].Change.answer(p, t.Margin, figures, tested[n].lower)
	}
}

// change compares one cell with the base's; nil when either has no valid figure.
func (t *Table) change(r *Row, side, figures int) *Change {
	a, b := &r.Cells[t.Base], &r.Cells[side]
	if !a.measured() || !b.measured() {
		return nil
	}
	before, after, paired := a.Rounds, b.Rounds, t.Paired
	if paired {
		before, after = pairs(a, b)
		if len(before) == 0 {
			before, after, paired = a.Rounds, b.Rounds, false
		}
	}
	why := cmp.Or(sharedHost(a.samples), sharedHost(b.samples))
	if why != "" && !paired {
		change := untold(before, after, paired, figures, 0)
		if change != nil {
			change.Method, change.Why = stats.NoTest, why
		}
		return change
	}
	change := untold(before, after, paired, figures, inOrder(a.samples, b.samples))
	if change == nil {
		return nil // cells hold usable figures only
	}
	if a.Sustained > 0 || b.Sustained > 0 {
		change.Sustained = b.sustained() / a.sustained()
	}
	if change.Method != stats.NoTest {
		change.Without = without(before, after, paired, figures)
	}
	return change
}

// inOrder is -1 where all of a was measured before b, 1 where all of it was measured after, and 0 where
// neither is known.
func inOrder(a, b []Sample) int {
	firstA, lastA := spanOf(a)
	firstB, lastB := spanOf(b)
	switch {
	case firstA.IsZero() || firstB.IsZero():
		return 0
	case lastA.Before(firstB):
		return -1
	case lastB.Before(firstA):
		return 1
	}
	return 0
}

// order doubts a change between sides that were measured one after the other: by a trend that goes on
// through both, and by rounds that depend on those before them.
func (c *Change) order(before, after []float64, first int) {
	if first > 0 {
		before, after = after, before
	}
	o := stats.OrderOf(before, after)
	if c.Widen(o.Memory); o.Explains {
		c.trend = fmt.Sprintf(
			"both sides change by about %s per round, which would also explain the difference; alternate them (plimsoll ab)",
			text.Change(o.Slope),
		)
	}
}

// sharedHost says why rounds of a host that others use, too, compare with nothing that was not measured in
// turn with them. It is empty where no host was shared.
func sharedHost(samples []Sample) string {
	for _, s := range samples {
		if reason := s.Run.Run.Policy.SharedHost; reason != "" {
			return "measured on a shared host (" + reason + "), whose load changes: plimsoll ab alternates variants"
		}
	}
	return ""
}

// noTest says why there is no word.
func noTest(a, b int, c stats.Comparison) string {
	switch {
	case a == 1 && b == 1:
		return "one run per side"
	case min(a, b) == 1:
		return fmt.Sprintf("one run on one side; the other side's %d rounds spread by %s", max(a, b), text.Percent(c.Spread))
	case len(c.Ratio.Doubts) > 0:
		return c.Ratio.Doubts[0]
	}
	return "too few rounds"
}

// pairs are the rounds that both cells measured validly, by number.
func pairs(a, b *Cell) (before, after []float64) {
	for i, s := range a.samples {
		k := slices.IndexFunc(b.samples, func(o Sample) bool { return o.Round == s.Round })
		if k >= 0 {
			before, after = append(before, a.Rounds[i]), append(after, b.Rounds[k])
		}
	}
	return before, after
}

// without is the ratio less the rounds that stand apart.
func without(before, after []float64, paired bool, figures int) *stats.Estimate {
	var a, b []float64
	if paired {
		ratios := make([]float64, len(before))
		for i := range before {
			ratios[i] = math.Log(after[i] / before[i])
		}
		apart := stats.Apart(ratios)
		for i := range before {
			if !slices.Contains(apart, i) {
				a, b = append(a, before[i]), append(b, after[i])
			}
		}
	} else {
		a, b = stats.WithoutApart(before), stats.WithoutApart(after)
	}
	if len(a) == len(before) && len(b) == len(after) || len(a) < 2 || len(b) < 2 {
		return nil
	}
	if c := untold(a, b, paired, figures, 0); c != nil {
		return &c.Ratio
	}
	return nil
}

// answer gives the word.
func (c *Change) answer(pHolm, margin float64, figures int, lower bool) {
	if c == nil || c.Method == stats.NoTest {
		return
	}
	c.PHolm = pHolm
	answer, within := c.Answer(pHolm, margin)
	c.Within = within
	better, worse := Faster, Slower
	if lower {
		better, worse = worse, better
	}
	c.Word = map[stats.Answer]Word{
		stats.More: better, stats.Less: worse, stats.Same: Same, stats.Unknown: CannotTell,
	}[answer]
	if c.trend != "" && (c.Word == Faster || c.Word == Slower) {
		c.Word, c.Why = CannotTell, c.trend
	}
	alpha := 0.05 / float64(figures)
	if least := c.Comparison.LeastSeen(alpha); !math.IsInf(least, 0) {
		c.LeastSeen = least
	}
	c.Needs = c.RoundsToSee(margin, alpha)
}

// suite compares the geometric mean of all rows that both sides measured as often.
func (t *Table) suite() {
	t.Suite = make([]*Change, len(t.Sides))
	for k := range t.Sides {
		if k == t.Base {
			continue
		}
		var before, after [][]float64
		last := 0.0 // the sum of the logarithms of what is sustained, after against before
		bursts := false
		na, nb := 0, 0
		for _, r := range t.Rows {
			a, b := &r.Cells[t.Base], &r.Cells[k]
			if a.measured() && b.measured() {
				na, nb = max(na, len(a.Rounds)), max(nb, len(b.Rounds))
			}
		}
		for _, r := range t.Rows {
			a, b := &r.Cells[t.Base], &r.Cells[k]
			if !t.Paired && cmp.Or(sharedHost(a.samples), sharedHost(b.samples)) != "" {
				continue
			}
			if !a.measured() || len(a.Rounds) != na || len(b.Rounds) != nb || r.Figure.Lower {
				continue
			}
			before, after = append(before, a.Rounds), append(after, b.Rounds)
			last += math.Log(b.sustained() / a.sustained())
			bursts = bursts || a.Sustained > 0 || b.Sustained > 0
		}
		if len(before) < 2 {
			continue
		}
		first := inOrder(t.Rows[0].Cells[t.Base].samples, t.Rows[0].Cells[k].samples)
		t.Suite[k] = together(before, after, t.Paired && na == nb, first, t.Margin)
		if s := t.Suite[k]; s != nil && bursts {
			s.Sustained = math.Exp(last / float64(len(before)))
		}
	}
	if !slices.ContainsFunc(t.Suite, func(c *Change) bool { return c != nil }) {
		t.Suite = nil
	}
}

// untold is what the rounds of two sides say before it is put into a word; nil where they hold no
// figures. Which side was measured first says inOrder.
func untold(before, after []float64, paired bool, figures, first int) *Change {
	c, err := stats.CompareRounds(before, after, stats.Design{Paired: paired, Figures: figures})
	if err != nil {
		return nil
	}
	change := &Change{Comparison: c, PHolm: 1, Word: CannotTell}
	switch {
	case c.Method == stats.NoTest:
		change.Why = noTest(len(before), len(after), c)
	case !paired && first != 0:
		change.order(before, after, first)
	}
	return change
}

// together is always a t test: a mean over scenarios is near normal.
func together(before, after [][]float64, paired bool, first int, margin float64) *Change {
	a, err1 := stats.Together(before)
	b, err2 := stats.Together(after)
	if err1 != nil || err2 != nil {
		return nil
	}
	change := untold(a, b, paired, math.MaxInt32, first)
	if change != nil {
		change.answer(change.P, margin, 1, false)
	}
	return change
}
