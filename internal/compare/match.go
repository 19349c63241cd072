package compare

import (
	"fmt"
	"slices"
	"strings"
)

// match makes a row of each work. Samples of one side that did the same work are rounds of it,
// unless their scenarios have different names and the other sides tell them apart by these.
func (t *Table) match(sides []Side, byName bool) {
	for k, side := range sides {
		for _, s := range side.Samples {
			// An import names its results by a number or a file, which tells nothing apart where no other side has it.
			round := len(s.Run.Run.Imported) > 0 && !slices.ContainsFunc(sides, func(o Side) bool {
				return o.Name != side.Name && slices.ContainsFunc(o.Samples, func(x Sample) bool {
					return x.Scenario.Name == s.Scenario.Name
				})
			})
			t.place(k, len(sides), s, byName, round)
		}
	}
	var alone []Row
	shared := t.Rows[:0]
	for _, r := range t.Rows {
		n := 0
		for i := range r.Cells {
			if len(r.Cells[i].all) > 0 {
				n++
			}
		}
		if n > 1 {
			shared = append(shared, r)
		} else {
			alone = append(alone, r)
		}
	}
	t.Rows = shared
	t.explain(alone)
}

// place puts a sample into the row of its work: the one of its name before any other. A round goes to one that
// other samples of its side are in, whatever their names.
func (t *Table) place(side, sides int, s Sample, byName, round bool) {
	name, work := s.Scenario.Name, workOf(s.Result)
	at := -1
	for i := range t.Rows {
		r := &t.Rows[i]
		if byName {
			if r.Name == name {
				at = i
				break
			}
			continue
		}
		if len(r.Work.Differences(work)) > 0 || r.Figure.Unit != mainFigure(s.Scenario).Unit {
			continue
		}
		named := r.Name == name
		// In one run two scenarios may do the same work on purpose, such as before and after: they
		// are rows of their own.
		taken := !round && slices.ContainsFunc(r.Cells[side].all, func(o Sample) bool {
			return o.Run == s.Run && o.Scenario.Name != name && !repeats(o.Scenario.Name, name)
		})
		if taken && !named && !repeats(r.Name, name) {
			continue
		}
		if at < 0 || named {
			at = i
		}
		if named {
			break
		}
	}
	if at < 0 {
		t.Rows = append(t.Rows, Row{
			Name:   name,
			Work:   work,
			Figure: mainFigure(s.Scenario),
			Cells:  make([]Cell, sides),
			stated: s.Scenario.Main != "",
		})
		at = len(t.Rows) - 1
	}
	r := &t.Rows[at]
	r.Work = r.Work.with(work)
	c := &r.Cells[side]
	c.all = append(c.all, s)
}

// repeats says that two names are one but for a number: the files of rounds are often called so.
func repeats(a, b string) bool {
	digits := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}
	return strings.Map(digits, a) == strings.Map(digits, b)
}

// explain says of works that only one side did what keeps them from being compared.
func (t *Table) explain(alone []Row) {
	shown := map[string]bool{}
	filled := func(c Cell) bool { return len(c.all) > 0 }
	for i := range alone {
		r := &alone[i]
		k := slices.IndexFunc(r.Cells, filled)
		twin := slices.IndexFunc(alone, func(o Row) bool { return o.Name == r.Name && len(o.Cells[k].all) == 0 })
		side := t.Sides[k].Name
		line := fmt.Sprintf("%s is only in %s (%s)", r.Name, side, r.Work)
		if r.Name == side { // results of one run beside each other
			line = fmt.Sprintf("%s: no other result has this workload (%s)", r.Name, r.Work)
		}
		if twin >= 0 {
			o := &alone[twin]
			other := slices.IndexFunc(o.Cells, filled)
			if other < k {
				continue // shown with its twin
			}
			line = fmt.Sprintf("%s is not compared: %s and %s did different work: %s", r.Name, side,
				t.Sides[other].Name, strings.Join(r.Work.Differences(o.Work), "; "))
		}
		if !shown[line] {
			shown[line] = true
			t.Apart = append(t.Apart, line)
		}
	}
}
