package words

import (
	"fmt"

	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Evidence begins a table of evidence.
func Evidence() page.Table {
	return page.NewTable("Evidence", "<what", "<found", "<expected", "<where")
}

// Finding is a finding as a block; i makes its anchor.
func Finding(f finding.Finding, i int) page.Finding {
	p := page.Finding{
		Anchor: fmt.Sprintf("f%d", i+1), Code: text.Clean(string(f.Code), 12), Severity: text.Clean(string(f.Severity), 12),
		Title: text.Clean(f.Title, 2*LongName), Subject: text.Clean(f.Subject, LongName),
		Message: text.Clean(f.Message, LongSentence), Why: text.Clean(f.Why, LongSentence), Fix: text.Clean(f.Fix,
			LongSentence),
		Evidence: Evidence(), Line: f.Line, Col: f.Col,
	}
	for _, e := range f.Evidence {
		p.Evidence.Add(text.Clean(e.What, LongName), text.Clean(e.Found, LongName), text.Clean(e.Expected, LongSentence),
			text.Clean(e.Where, LongName))
	}
	if f.Account != nil {
		p.Tables = []page.Table{Account(f.Account)}
	}
	for _, c := range f.Commands {
		p.Commands = append(p.Commands, text.Clean(c, LongSentence))
	}
	return p
}

// Subject is a finding whose title names its subject, for those that concern no scenario.
func Subject(f finding.Finding, i int) page.Finding {
	if f.Subject != "" {
		f.Title += " (" + f.Subject + ")"
	}
	return Finding(f, i)
}

// Account lists what lies between a ceiling and a figure: each factor, its share of the gap, and
// what is left after it.
func Account(a *finding.Account) page.Table {
	t := page.NewTable("From the ceiling to what was measured", "<cause", "share of the gap", "factor",
		"leaves "+a.In(), "<how")
	t.Add("ceiling", None, None, units.IOPS(a.Ceiling).String(), "")
	for i, level := range a.Levels() {
		f := a.Factors[i]
		t.Add(Cause(f), text.Percent(f.Share), "× "+units.Number(f.Factor), units.IOPS(level).String(),
			text.Clean(f.How, LongSentence))
	}
	return t
}

// Cause names a factor and who brings it.
func Cause(f finding.Factor) string {
	if f.Who == "" {
		return text.Clean(string(f.Cause), LongName)
	}
	return text.Clean(fmt.Sprintf("%s (%s)", f.Cause, f.Who), LongName)
}
