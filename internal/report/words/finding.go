package words

import (
	"fmt"
	"slices"

	"plimsoll/internal/finding"
	"plimsoll/internal/report/page"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Evidence begins a table of evidence.
func Evidence() page.Table {
	return page.Captioned("Evidence", "<what, <found, <expected, <where")
}

// Finding is a finding as a block; i makes its anchor.
func Finding(f finding.Finding, i int) page.Finding {
	p := page.Finding{
		Anchor: fmt.Sprintf("f%d", i+1), Code: string(f.Code), Severity: string(f.Severity), Title: f.Title,
		Subject: f.Subject, Message: f.Message, Why: f.Why, Fix: f.Fix, Evidence: Evidence(), Line: f.Line, Col: f.Col,
		Commands: slices.Clone(f.Commands),
	}
	for _, e := range f.Evidence {
		p.Evidence.Add(e.What, e.Found, e.Expected, e.Where)
	}
	if f.Account != nil {
		p.Tables = []page.Table{Account(f.Account)}
	}
	return p
}

// Findings are findings as blocks.
func Findings(all []finding.Finding) (blocks []page.Finding) {
	for i, f := range all {
		blocks = append(blocks, Finding(f, i))
	}
	return blocks
}

// Subject is a finding whose title names its subject, for those that concern no scenario.
func Subject(f finding.Finding, i int) page.Finding {
	f.Title += When(f.Subject != "", " ("+f.Subject+")")
	return Finding(f, i)
}

// Account lists what lies between a ceiling and a figure: each factor, its share of the gap, and
// what is left after it.
func Account(a *finding.Account) page.Table {
	t := page.Captioned("From the ceiling to what was measured",
		"<cause, share of the gap, factor, leaves "+a.In()+", <how")
	t.Add("ceiling", None, None, units.IOPS(a.Ceiling), "")
	for i, level := range a.Levels() {
		f := a.Factors[i]
		t.Add(Cause(f), text.Percent(f.Share), "× "+units.Number(f.Factor), units.IOPS(level), f.How)
	}
	return t
}

// Cause names a factor and who brings it.
func Cause(f finding.Factor) string {
	return string(f.Cause) + When(f.Who != "", " ("+f.Who+")")
}
