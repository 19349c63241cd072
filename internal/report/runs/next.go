package runs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// reasonCode is the rule that a reason of the verdict ends with.
var reasonCode = regexp.MustCompile(`\((PL[0-9]{3})(?:, (?:the first of )?[0-9,]+ scenarios)?\)\.?$`)

// nextStep is what to do about a reason of the verdict, "" where there is nothing to do: the fix of
// the finding that the reason is, or, for a missed threshold, of the worst finding on the same
// scenario.
func nextStep(why string, b *bundle.Bundle) string {
	if code := reasonCode.FindStringSubmatch(why); code != nil {
		for _, f := range b.Findings {
			if string(f.Code) == code[1] {
				return fix(f)
			}
		}
		return "See: plimsoll explain " + code[1]
	}
	for _, s := range b.Scenarios {
		if s.Name != "" && strings.Contains(why, s.Name) && s.Verdict != verdict.Pass {
			return nextFor(&s, b)
		}
	}
	return ""
}

// nextFor is the next step for a scenario that failed or cannot be trusted, "" for one that somebody
// else ran and that no finding explains.
func nextFor(s *bundle.Scenario, b *bundle.Bundle) string {
	worst := finding.Finding{Severity: finding.Info}
	for _, f := range b.Findings {
		if slices.Contains(f.Scenarios, s.ID) && f.Severity.Rank() > worst.Severity.Rank() {
			worst = f
		}
	}
	switch {
	case worst.Code != "":
		return "This may be caused by " + string(worst.Code) + ": rule that out first. " + fix(worst)
	case len(b.Run.Imported) > 0: // it cannot be run again from here
		return ""
	case s.Verdict == verdict.Invalid:
		return "Remove the cause and run it again" + typed("run", s, b)
	case s.Ceiling == nil || !s.Ceiling.Known():
		return "Declare the volumes to learn whether the storage can do more: plimsoll run --volumes " +
			b.Run.Topology.Instance.Example() + ", or a plimsoll.yaml"
	case s.Verdict == verdict.Measured:
		return "" // the reason says why it could not be judged
	}
	return "See which resource limits it" + typed("ceiling", s, b)
}

// typed is the command of a scenario of a built-in suite, behind a colon: numbers alone are those of the default
// suite, and the file of another suite is not known any more.
func typed(command string, s *bundle.Scenario, b *bundle.Bundle) string {
	of, err := suite.Builtin(b.Run.Suite.Name)
	if err != nil ||
		!slices.ContainsFunc(of.Scenarios, func(c suite.Scenario) bool { return c.ID == s.ID && c.Name == s.Name }) {
		return ""
	}
	if of.Name == suite.Default {
		return fmt.Sprintf(": plimsoll %s %d", command, s.ID)
	}
	return fmt.Sprintf(": plimsoll %s %s %s", command, of.Name, s.Name)
}

// fix is the first sentence of what to do about a finding.
func fix(f finding.Finding) string {
	do, _, more := strings.Cut(f.Fix, ". ")
	do = strings.TrimSuffix(do, ".")
	if more || do == "" {
		do = strings.TrimPrefix(do+" (plimsoll explain "+text.ShellQuote(string(f.Code))+")", " ")
	}
	return do
}
