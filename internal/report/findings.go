package report

import (
	"fmt"
	"io"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

// Findings prints the findings of a machine that was looked at and not measured, in the order
// given, then in a line each what is fine and what could not be seen.
func Findings(w io.Writer, all []finding.Finding, fine []finding.Passed, notes []string, o Options) error {
	t := newTerminal(w, o)
	for i, f := range all {
		if f.Subject != "" {
			f.Title += " (" + f.Subject + ")"
		}
		p := newProblem(f, i, &bundle.Bundle{}, nil)
		if f.Severity == finding.Info {
			p.Fix = "" // the page has it
		}
		t.problem(p)
	}
	if len(all) > 0 {
		fmt.Fprintln(t.out)
	}
	for _, p := range fine {
		t.para("ok: ", plain, fmt.Sprintf("%s (%s)", text.Clean(p.Message, longSentence), p.Code))
	}
	for _, n := range notes {
		t.para("note: ", dim, text.Clean(n, longSentence))
	}
	return t.out.Flush()
}
