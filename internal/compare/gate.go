package compare

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/internal/bundle"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// Gate says what makes a comparison fail.
type Gate struct {
	Regression bool
	// By is the loss that must be certain, as a share; 0 for any that has the word slower.
	By float64
	// CannotTell fails where the loss cannot be excluded either: a gate that could not have seen it
	// says so.
	CannotTell bool
	// P99 is the rise of a 99th percentile that fails, as a share; 0 where none does.
	P99 float64
}

// Asks says that the comparison is a gate at all.
func (g Gate) Asks() bool { return g.Regression || g.CannotTell || g.P99 > 0 }

// Outcome is why a gate is not passed, a sentence each. All are empty for one that is.
type Outcome struct {
	// Invalid is what cannot be judged because its figures must not be trusted.
	Invalid []string
	// Failed is what was judged and is not good enough, or cannot be excluded where the gate asks.
	Failed []string
	// Unjudged is missing, was interrupted, or has too few rounds.
	Unjudged []string
}

// Passed says that nothing is in the way.
func (o Outcome) Passed() bool { return len(o.Invalid)+len(o.Failed)+len(o.Unjudged) == 0 }

// add puts a sentence where the kind of doubt belongs, once.
func (o *Outcome) add(u unfit, sentence string) {
	list := &o.Unjudged
	if u == unfitInvalid {
		list = &o.Invalid
	}
	*list = text.Once(*list, sentence)
}

// by makes what could not be judged a failure where the gate asks for that.
func (o Outcome) by(g Gate) Outcome {
	if g.CannotTell {
		for _, sentence := range o.Unjudged {
			o.Failed = append(o.Failed, "cannot be judged: "+sentence)
		}
		o.Unjudged = nil
	}
	return o
}

// unfit says what keeps rounds from being judged.
type unfit int

const (
	fit unfit = iota
	unfitInvalid
	unfitInterrupted
	unfitMissing
)

// fitness is whether rounds have a figure to judge, and why not. One valid round is enough: the
// others are struck out and counted.
func fitness(f Figure, rounds []Sample) (u unfit, why string) {
	u = unfitMissing
	for _, s := range rounds {
		switch {
		case s.Invalid == "" && usable(f.of(s.Result)):
			return fit, ""
		case s.Invalid == "":
			why = cmp.Or(why, "no "+f.Name+" was measured")
		case s.Interrupted && u != unfitInvalid:
			u, why = unfitInterrupted, s.Invalid
		case !s.Interrupted:
			u, why = unfitInvalid, "INVALID: "+s.Invalid
		}
	}
	return u, cmp.Or(why, "not measured")
}

// Judge holds the comparison to a gate.
func (t *Table) Judge(g Gate) Outcome {
	var o Outcome
	if !g.Asks() {
		return o
	}
	for _, sentence := range slices.Concat(t.missing, t.Apart) {
		o.add(unfitMissing, sentence)
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		for k := range r.Cells {
			if k != t.Base {
				t.judge(r, k, g, &o)
				t.judgeTail(r, k, g.P99, &o)
			}
		}
	}
	return o.by(g)
}

// judge holds one side of a row to a gate.
func (t *Table) judge(r *Row, side int, g Gate, o *Outcome) {
	c := r.Cells[side].Change
	name := r.Name + " in " + t.Sides[side].Name
	switch {
	case c == nil:
		for _, k := range []int{t.Base, side} {
			if u, why := fitness(r.Figure, r.Cells[k].all); u != fit {
				o.add(u, fmt.Sprintf("%s in %s (%s)", r.Name, t.Sides[k].Name, why))
			}
		}
	case c.Method == stats.NoTest:
		o.add(unfitMissing, fmt.Sprintf("%s (%s)", name, c.Why))
	case g.Regression && c.regressed(g.By, r.Figure.Lower):
		o.Failed = append(o.Failed, fmt.Sprintf("%s is slower: %s %s", name,
			text.Change(c.Ratio.Center-1), text.Between(c.Ratio.Lo-1, c.Ratio.Hi-1)))
	case g.CannotTell && c.mayHaveLost(g.By, t.Margin, r.Figure.Lower):
		o.Failed = append(o.Failed, name+" may be slower: these rounds cannot tell")
	case g.Regression && g.By > 0 && c.Word == CannotTell && (c.trend != "" || c.LeastSeen > g.By):
		why := cmp.Or(c.Why, "too noisy: only a loss of "+text.Percent(c.LeastSeen)+" would show")
		o.add(unfitMissing, fmt.Sprintf("%s (%s, %s is asked)", name, why, text.Share(g.By)))
	}
}

// judgeTail holds the 99th percentiles of a side to the rise that is allowed: one that is certain fails, one
// that cannot be excluded is not judged.
func (t *Table) judgeTail(r *Row, side int, by float64, o *Outcome) {
	if by == 0 || r.Cells[side].Change == nil {
		return
	}
	judged := false
	for i := range r.Others {
		other := &r.Others[i]
		ratio := other.Ratios[side]
		if other.PHolm == nil || ratio.Center == 0 {
			continue
		}
		judged = true
		change := text.Between(ratio.Lo-1, ratio.Hi-1)
		name := fmt.Sprintf("%s of %s in %s", other.Figure.Name, r.Name, t.Sides[side].Name)
		switch {
		case ratio.N < 2:
			o.add(unfitMissing, name+" (one round on a side)")
		case other.Moved(side) && ratio.Lo >= 1+by:
			o.Failed = append(o.Failed, fmt.Sprintf("%s is longer: %s %s", name, text.Change(ratio.Center-1), change))
		case ratio.Hi > 1+by:
			o.add(unfitMissing, fmt.Sprintf("%s (a rise of %s cannot be excluded: %s)", name, text.Share(by),
				change))
		}
	}
	if !judged {
		o.add(unfitMissing, fmt.Sprintf("%s in %s (no 99th percentile was measured)", r.Name, t.Sides[side].Name))
	}
}

// regressed says that the figure is worse, and by at least a share where one is given.
func (c *Change) regressed(by float64, lower bool) bool {
	if c.Word != Slower {
		return false
	}
	if lower {
		return c.Ratio.Lo >= 1+by
	}
	return c.Ratio.Hi <= 1-by
}

// mayHaveLost says that a loss of the size is not excluded.
func (c *Change) mayHaveLost(by, margin float64, lower bool) bool {
	if by == 0 {
		by = margin
	}
	if lower {
		return c.Ratio.Hi > 1+by
	}
	return c.Ratio.Lo < 1-by
}

// Judge holds a run to a gate by its baseline.
func (a *Against) Judge(g Gate) Outcome {
	var o Outcome
	if !g.Asks() {
		return o
	}
	by := g.By
	if by == 0 {
		by = leastSeen
	}
	if g.P99 > 0 {
		o.add(unfitMissing, "p99 (it is compared between sides: plimsoll compare BEFORE AFTER --fail-on p99:…)")
	}
	for _, j := range a.Rows {
		switch {
		case j.Standing == Unjudged:
			o.add(j.unfit, fmt.Sprintf("%s (%s)", j.Scenario, j.Why))
		case j.Standing == Regression && (g.Regression && j.loss() >= g.By || g.CannotTell && j.loss() >= by):
			sentence := fmt.Sprintf("%s is a regression: %s", j.Scenario, text.Change(j.Change()))
			if j.Lasting != nil && j.Lasting.Runs > 1 {
				sentence += "; it " + j.Lasting.String()
			}
			o.Failed = append(o.Failed, sentence)
		case g.CannotTell && j.LeastSeen > by:
			o.Failed = append(o.Failed, blind(j, by))
		case g.Regression && g.By > 0 && j.Standing == AsExpected && j.LeastSeen > g.By:
			o.add(unfitMissing, blind(j, g.By))
		}
	}
	return o.by(g)
}

// leastSeen is the fall that must be seen where --fail-on cannot-tell gives none.
const leastSeen = 0.1

// blind says that runs which differ so much would not show a fall of that size.
func blind(j Judgment, by float64) string {
	return fmt.Sprintf("%s: a fall of %s could not have been seen, only one of %s",
		j.Scenario, text.Share(by), text.Percent(j.LeastSeen))
}

// unended says that a run did not come to its end, empty when it did.
func unended(b *bundle.Bundle) string {
	if b.Run.State == bundle.Finished || b.Run.State == "" {
		return ""
	}
	missing := 0
	for _, s := range b.Scenarios {
		if s.Result == nil {
			missing++
		}
	}
	return fmt.Sprintf("%s is %s: %d of %d scenarios are missing", b.Run.ID, b.Run.State, missing, len(b.Scenarios))
}

// unendedOf are the runs of a side that did not come to their end, but for those whose scenarios
// another run of the side has measured.
func unendedOf(s Side) []string {
	done := map[string]bool{}
	for _, x := range s.Samples {
		if unended(x.Run) == "" {
			done[x.Scenario.Name] = true
		}
	}
	var all []string
	for _, x := range s.Samples {
		if slices.ContainsFunc(x.Run.Scenarios, func(s bundle.Scenario) bool { return !done[s.Name] }) {
			all = text.Once(all, unended(x.Run))
		}
	}
	return all
}
