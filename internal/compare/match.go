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
	work := workOf(s.Result)
	at := -1
	for i := range t.Rows {
		r := &t.Rows[i]
		if byName {
			if r.Name == s.Scenario.Name {
				at = i
				break
			}
			continue
		}
		if len(r.Work.Differences(work)) > 0 || r.Figure.Unit != mainFigure(s.Scenario).Unit {
			continue
		}
		named := r.Name == s.Scenario.Name
		// In one run two scenarios may do the same work on purpose, such as before and after: they
		// are rows of their own.
		taken := !round && slices.ContainsFunc(r.Cells[side].all, func(o Sample) bool {
			return o.Run == s.Run && o.Scenario.Name != s.Scenario.Name && !repeats(o.Scenario.Name, s.Scenario.Name)
		})
		if taken && !named && !repeats(r.Name, s.Scenario.Name) {
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
			Name:   s.Scenario.Name,
			Work:   work,
			Figure: mainFigure(s.Scenario),
			Cells:  make([]Cell, sides),
			stated: s.Scenario.Main != "",
		})
		at = len(t.Rows) - 1
	}
	r := &t.Rows[at]
	r.Work = r.Work.with(work)
	r.Cells[side].all = append(r.Cells[side].all, s)
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
	for i := range alone {
		r := &alone[i]
		k := slices.IndexFunc(r.Cells, func(c Cell) bool { return len(c.all) > 0 })
		twin := slices.IndexFunc(alone, func(o Row) bool { return o.Name == r.Name && len(o.Cells[k].all) == 0 })
		line := fmt.Sprintf("%s is only in %s (%s)", r.Name, t.Sides[k].Name, r.Work)
		if r.Name == t.Sides[k].Name { // results of one run beside each other
			line = fmt.Sprintf("%s: no other result has this workload (%s)", r.Name, r.Work)
		}
		if twin >= 0 {
			o := &alone[twin]
			other := slices.IndexFunc(o.Cells, func(c Cell) bool { return len(c.all) > 0 })
			if other < k {
				continue // shown with its twin
			}
			line = fmt.Sprintf("%s is not compared, %s and %s did different work: %s", r.Name, t.Sides[k].Name,
				t.Sides[other].Name, strings.Join(r.Work.Differences(o.Work), "; "))
		}
		if !shown[line] {
			shown[line] = true
			t.Apart = append(t.Apart, line)
		}
	}
}
