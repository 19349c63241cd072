package report

import (
	"fmt"
	"slices"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// accountTable lists what lies between a ceiling and a figure: each factor, its share of the gap,
// and what is left after it.
func accountTable(a *finding.Account) table {
	t := table{
		Caption: "From the ceiling to what was measured",
		Head:    []string{"cause", "share of the gap", "factor", "leaves IOPS", "how"},
		Text:    []int{0, 4},
	}
	if a == nil {
		return t
	}
	t.Head[3] = "leaves " + a.In()
	t.Rows = append(t.Rows, []string{"ceiling", none, none, units.IOPS(a.Ceiling).String(), ""})
	for i, level := range a.Levels() {
		f := a.Factors[i]
		t.Rows = append(t.Rows, []string{
			causeName(f),
			text.Percent(f.Share),
			"× " + units.Number(f.Factor),
			units.IOPS(level).String(),
			text.Clean(f.How, longSentence),
		})
	}
	return t
}

func causeName(f finding.Factor) string {
	if f.Who == "" {
		return text.Clean(string(f.Cause), longName)
	}
	return text.Clean(fmt.Sprintf("%s (%s)", f.Cause, f.Who), longName)
}

// account prints an account: the table without its last column, which follows as a line each.
func (t *terminal) account(a table) {
	short := table{Head: a.Head[:4], Text: []int{0}}
	for _, r := range a.Rows {
		short.Rows = append(short.Rows, r[:4])
	}
	t.para("  ", plain, a.Caption+":")
	t.table(short)
	for _, r := range a.Rows {
		if r[4] != "" {
			t.para("  - ", dim, r[0]+": "+r[4])
		}
	}
}

// waterfall is an account as the script draws it: each step from one level down to the next.
type waterfall struct {
	Names  []string `json:"names"`
	From   []number `json:"from"`
	To     []number `json:"to"`
	Labels []string `json:"labels"`
}

// account adds the waterfall of a scenario, where a finding on it has one.
func (d *drawing) account(b *bundle.Bundle, s *bundle.Scenario, charts []chart) []chart {
	i := slices.IndexFunc(
		b.Findings,
		func(f finding.Finding) bool { return f.Account != nil && slices.Contains(f.Scenarios, s.ID) },
	)
	if i < 0 {
		return charts
	}
	a := b.Findings[i].Account
	w := &waterfall{
		Names:  []string{"ceiling"},
		From:   []number{number(a.Ceiling)},
		To:     []number{0},
		Labels: []string{units.IOPS(a.Ceiling).String()},
	}
	from, described := a.Ceiling, ""
	for i, level := range a.Levels() {
		f := a.Factors[i]
		w.Names, w.From, w.To = append(w.Names, causeName(f)), append(w.From, number(from)), append(w.To, number(level))
		w.Labels = append(w.Labels, text.Percent(f.Share)+" of the gap")
		described += fmt.Sprintf("%s %s of the gap; ", causeName(f), text.Percent(f.Share))
		from = level
	}
	w.Names, w.From, w.To = append(w.Names, "measured"), append(w.From, number(a.Measured)), append(w.To, 0)
	w.Labels = append(w.Labels, units.IOPS(a.Measured).String())
	d.Account = w
	return append(charts, chart{
		Kind:    "account",
		Wide:    true,
		Caption: "From the ceiling to what was measured, " + a.In(),
		Description: fmt.Sprintf(
			"From a ceiling of %s %s to %s measured: %s",
			units.IOPS(a.Ceiling),
			a.In(),
			units.IOPS(a.Measured),
			described[:max(len(described)-2, 0)],
		),
	})
}
