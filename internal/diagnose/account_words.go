package diagnose

import (
	_ "embed"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

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
