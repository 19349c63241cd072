package verdict

import (
	"slices"
	"strings"

	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/finding"
	"plimsoll/internal/lint"
)

// Pages are those of all rules, in the order of their codes.
func Pages() []finding.Page {
	return slices.Concat(finding.Pages(lint.Rules()), finding.Pages(rules.All()), finding.Pages(live.Rules()))
}

// Explain renders a rule's page as plain text; false when no rule has that code.
func Explain(code finding.Code) (string, bool) {
	for _, p := range Pages() {
		if strings.EqualFold(string(p.Code), string(code)) {
			return p.Text(), true
		}
	}
	return "", false
}
