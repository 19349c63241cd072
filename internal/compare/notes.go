package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/cloud"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// fact is something of a sample that should not differ between sides.
type fact struct {
	what string
	of   func(Sample) string
}

func facts() []fact {
	return []fact{
		{"fio", func(s Sample) string { return s.label(ByFio) }},
		{"kernel", func(s Sample) string { return s.label(ByKernel) }},
		{"host", func(s Sample) string { return s.label(ByHost) }},
		{"instance type", func(s Sample) string { return s.label(ByInstance) }},
		{"scale of the rates", func(s Sample) string { return fmt.Sprint(cmp.Or(s.topology().Scale, 1)) }},
		{"fresh extents", func(s Sample) string { return fmt.Sprint(s.Run.Run.Settings.FreshExtents) }},
	}
}

// workFacts are those that only concern one work.
func workFacts() []fact {
	return []fact{
		{"size", func(s Sample) string { return shown(s.Scenario.Size) }},
		{"files", func(s Sample) string {
			if s.Scenario.Files == "" {
				return "one for all jobs"
			}
			return "one for each " + string(s.Scenario.Files)
		}},
		{"run time", func(s Sample) string { return timeOf(s.Scenario.Runtime) }},
	}
}

// note says what differs between the sides besides their figures, and what is wrong with the
// rounds.
func (t *Table) note(sides []Side) {
	for _, f := range facts() {
		t.unlike("", f, func(k int) []Sample { return sides[k].Samples })
	}
	for _, r := range t.Rows {
		for _, f := range workFacts() {
			t.unlike(r.Name+": ", f, func(k int) []Sample { return r.Cells[k].all })
		}
	}
	t.prices(sides)
	for i := range t.Rows {
		t.rowNotes(&t.Rows[i])
	}
	if slices.ContainsFunc(t.Rows, func(r Row) bool {
		return slices.ContainsFunc(r.Cells, func(c Cell) bool { return len(c.samples) == 1 }) &&
			slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Change != nil && c.Change.Method == stats.NoTest })
	}) {
		t.Notes = append(t.Notes,
			"A single run per side cannot show run-to-run variation. Measure rounds: plimsoll run … --rounds 5.")
	}
}

// unlike notes a fact whose values differ between the base and another side.
func (t *Table) unlike(where string, f fact, of func(side int) []Sample) {
	values := func(k int) []string {
		var all []string
		for _, s := range of(k) {
			all = text.Once(all, f.of(s))
		}
		slices.Sort(all)
		return all
	}
	base := values(t.Base)
	for k := range t.Sides {
		if k == t.Base {
			continue
		}
		side := values(k)
		if len(base) == 0 || len(side) == 0 || slices.Equal(base, side) {
			continue
		}
		was, is := apart(base, side), apart(side, base)
		if len(was) == 0 || len(is) == 0 { // one has scenarios that the other has not
			continue
		}
		line := where + fmt.Sprintf("%s differs: %s in %s, %s in %s", f.what, text.Few(was), t.Sides[t.Base].Name,
			text.Few(is), t.Sides[k].Name)
		if named := t.Sides[k].Name; len(was) == 1 && len(is) == 1 && is[0] == named {
			continue // that is what was asked for
		}
		t.Notes = append(t.Notes, line)
	}
}

func apart(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// apartLeast is how far a round must lie off before it is worth a note.
const apartLeast = 0.1

// rowNotes names rounds that were struck out, missing, or stand apart.
func (t *Table) rowNotes(r *Row) {
	for k := range r.Cells {
		c, name := &r.Cells[k], t.Sides[k].Name
		shown := false
		for _, i := range stats.Apart(c.Rounds) {
			off := c.Rounds[i]/stats.Quantile(stats.WithoutApart(c.Rounds), 0.5) - 1
			if math.Abs(off) < apartLeast {
				continue
			}
			shown = true
			where := map[bool]string{true: "below", false: "above"}[off < 0]
			t.Notes = append(t.Notes, fmt.Sprintf("%s of %s (%s) is %s %s the median of the others; it was kept",
				c.samples[i].title(), r.Name, name, text.Percent(math.Abs(off)), where))
		}
		if w := c.Change; shown && w != nil && w.Without != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("without outliers %s (%s): %s %s", r.Name, name,
				text.Change(w.Without.Center-1), text.Between(w.Without.Lo-1, w.Without.Hi-1)))
		}
		if n := t.Sides[k].Rounds; len(c.all) > 0 && len(c.all) < n {
			t.Notes = append(t.Notes, fmt.Sprintf("%s has %d of %d rounds in %s", r.Name, len(c.all), n, name))
		}
	}
}

// prices says what each side costs a month, where the sides are instance types, and what each I/O a
// second costs that it sustains: of the first row that counts I/Os and has a figure of the side.
func (t *Table) prices(sides []Side) {
	var types []string
	alike := true
	for _, s := range sides {
		typ := ""
		for i, one := range s.Samples {
			if of := one.label(ByInstance); i == 0 {
				typ = of
			} else if of != typ {
				return
			}
		}
		types = append(types, typ)
		alike = alike && typ == types[0]
	}
	if alike {
		return
	}
	p := cloud.BuiltinPrices()
	priced := false
	for k, typ := range types {
		month, ok := p.Instance(typ)
		if !ok {
			continue
		}
		each := ""
		for _, r := range t.Rows {
			if c := &r.Cells[k]; r.Figure.Name == "IOPS" && c.measured() {
				one := (month.Times(1/c.sustained()) + 50) / 100 * 100 // four decimals of a dollar
				each = fmt.Sprintf(", $%s for each of %v sustained IOPS", one.Exact(), units.IOPS(c.sustained()))
				if len(t.Rows) > 1 {
					each += " (" + r.Name + ")"
				}
				break
			}
		}
		t.Notes, priced = append(t.Notes, fmt.Sprintf("%s: %v a month%s", typ, month, each)), true
	}
	if priced {
		t.Notes = append(t.Notes, "prices of instances in "+p.Region+": "+p.InstanceSource.String()+", without their volumes")
	}
}
