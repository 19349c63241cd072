package diagnose

import (
	_ "embed"
	"fmt"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Rate prints a throughput both ways, for limits that vendors state in MB/s: "150 MiB/s (157
// MB/s)".
func Rate(r units.Rate) string { return fmt.Sprintf("%s (%s)", r, r.SI()) }

// Label names a measurement in a sentence: `6 concurrent-sync`.
func (m Measurement) Label() string {
	name := m.Scenario.Name
	if name == "" && m.Result != nil {
		name = m.Name
	}
	if m.Scenario.ID == 0 {
		return name
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", m.Scenario.ID, name))
}

// Join adds a finding of another run to the first of its kind.
func Join(first *finding.Finding, f finding.Finding) *finding.Finding {
	if first == nil {
		return &f
	}
	first.Scenarios = append(first.Scenarios, f.Scenarios...)
	first.Evidence = append(first.Evidence, f.Evidence...)
	return first
}

// Attribution is an account in words: "Shares of the gap: idle members 61.0 %, unexplained 39.0 %.
// Idle members: 7 of 8 members did no I/O."
func Attribution(a *finding.Account) string {
	if a == nil {
		return ""
	}
	var parts []string
	for _, f := range a.Factors {
		name := string(f.Cause)
		if f.Who != "" {
			name += " (" + f.Who + ")"
		}
		parts = append(parts, name+" "+text.Percent(f.Share))
	}
	all := "Shares of the gap: " + strings.Join(parts, ", ") + "."
	if named := a.Named(); len(named) > 0 {
		all += " " + text.Sentence(string(named[0].Cause)+": "+named[0].How)
	}
	return all
}

// Explained adds an account to a finding of a gap.
func Explained(a *finding.Account, f finding.Finding) finding.Finding {
	f.Account = a
	f.Message += " " + Attribution(a)
	if named := a.Named(); len(named) > 0 {
		f.Fix = Remedy(named[0]) + " Then measure again."
	}
	return f
}

//go:embed remedies.tsv
var remedies string

// Remedy is what to do about a cause, a row of remedies.tsv.
func Remedy(f finding.Factor) string {
	for line := range strings.Lines(remedies) {
		if cause, what, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); cause == string(f.Cause) {
			return strings.ReplaceAll(what, "%s", f.Who)
		}
	}
	return ""
}
