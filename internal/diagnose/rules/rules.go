// Package rules has the rules of all families in one list, and runs them over a case.
package rules

import (
	"cmp"
	"slices"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/cloud"
	"plimsoll/internal/diagnose/fleet"
	"plimsoll/internal/diagnose/host"
	"plimsoll/internal/diagnose/layout"
	"plimsoll/internal/diagnose/postgres"
	runrules "plimsoll/internal/diagnose/run"
	"plimsoll/internal/finding"
)

// All are all of PL2xx to PL8xx, in the order of their codes.
func All() []*diagnose.Rule {
	return slices.Concat(layout.Rules(), host.Rules(), runrules.Rules(), cloud.Rules(), postgres.Rules(), fleet.Rules())
}

// Judge runs all rules over a machine or its runs. Who imports what others measured cannot measure it
// again, and reads what to make of it in place of that.
func Judge(c *diagnose.Case, disabled finding.Disabled) []finding.Finding {
	found := finding.Judge(All(), c, disabled)
	if !c.Imported() {
		return found
	}
	for i := range found {
		f := &found[i]
		page, _ := finding.PageOf(f.Code)
		f.Fix = cmp.Or(page.Says(finding.Read), f.Fix)
		if named := f.Account.Named(); len(named) > 0 && f.Account.Unexplained() < 0.5 { // known without asking for more
			f.Fix = diagnose.Remedy(named[0])
		}
	}
	return found
}

// Passes shows what was looked at on a machine and found in order; nothing of runs on machines that
// nobody looked at.
func Passes(c *diagnose.Case) []finding.Passed {
	if c.Host == nil {
		return nil
	}
	return finding.Passes(All(), c)
}
