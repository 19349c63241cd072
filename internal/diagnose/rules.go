package diagnose

import (
	"slices"

	"plimsoll/internal/finding"
)

type rule = finding.Rule[*Case]

// Rules are all of PL2xx to PL7xx, in the order of their codes.
func Rules() []*rule {
	return slices.Concat(layoutRules(), hostRules(), measurementRules(), ceilingRules(), cloudRules(), postgresRules())
}

// Judge runs all rules over a machine or its runs.
func Judge(c *Case, disabled finding.Disabled) []finding.Finding {
	return finding.Judge(Rules(), c, disabled)
}

// Passes shows what was looked at on a machine and found in order; nothing of runs on machines that
// nobody looked at.
func Passes(c *Case, found []finding.Finding) []finding.Passed {
	if c.Host == nil {
		return nil
	}
	return finding.Passes(Rules(), c, found)
}
