package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/result"
)

// Judge runs every rule that is not disabled over a case. It is deterministic: findings come worst first, then by code,
// scenario and subject. A finding is dropped when one of a rule named in its After stands on the same subject, be that one
// dropped itself or not, so that a cause hides the whole chain of its symptoms.
func Judge(c *Case, disabled ...Code) []Finding {
	var all []Finding
	after := map[Code][]Code{}
	for _, r := range Rules() {
		if slices.Contains(disabled, r.Code) {
			continue
		}
		after[r.Code] = r.After
		r.Check(c, func(f Finding) { all = append(all, r.fill(f)) })
	}
	type key struct {
		code    Code
		subject string
	}
	stands := map[key]bool{}
	for _, f := range all {
		stands[key{f.Code, f.Subject}] = true
	}
	all = slices.DeleteFunc(all, func(f Finding) bool {
		return slices.ContainsFunc(after[f.Code], func(cause Code) bool { return stands[key{cause, f.Subject}] })
	})
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity.rank(), a.Severity.rank()),
			cmp.Compare(a.Code, b.Code),
			slices.Compare(a.Scenarios, b.Scenarios),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Subject, b.Subject),
		)
	})
	return all
}

// fill completes a finding with what its rule says of all of them; what a check has set stays.
func (r *Rule) fill(f Finding) Finding {
	f.Code = r.Code
	f.Severity = cmp.Or(f.Severity, r.Severity)
	f.Title = cmp.Or(f.Title, r.Title)
	f.Why = cmp.Or(f.Why, r.Why)
	f.Fix = cmp.Or(f.Fix, r.Fix)
	return f
}

// rank orders severities, worst highest.
func (s Severity) rank() int {
	return slices.Index([]Severity{Info, Warn, Fail, Invalid}, s)
}

// rank orders verdicts, worst highest; a scenario that was not judged is below all.
func (v Verdict) rank() int {
	return slices.Index([]Verdict{Pass, WarnedPass, Failed, NotTrusted}, v)
}

// Word is the verdict in the words of a report's first line.
func (v Verdict) Word() string {
	switch v {
	case Pass:
		return "READY"
	case WarnedPass:
		return "READY WITH WARNINGS"
	case Failed:
		return "NOT READY"
	case NotTrusted:
		return "INVALID"
	}
	return "NOT JUDGED"
}

func (s Severity) verdict() Verdict {
	switch s {
	case Invalid:
		return NotTrusted
	case Fail:
		return Failed
	case Warn:
		return WarnedPass
	case Info:
	}
	return Pass
}

// VerdictOf judges one scenario from its result, its targets and the findings that name it: invalid beats fail beats warn
// beats pass. A scenario without a result, or still waiting, has no verdict ("").
func VerdictOf(m Measurement, findings []Finding) Verdict {
	if m.Result == nil || m.Result.State == result.Waiting {
		return ""
	}
	if m.Result.State == result.Invalid || m.Result.State == result.Interrupted {
		return NotTrusted
	}
	v := Pass
	for _, t := range m.Targets {
		if t.Skipped == "" && !t.Met {
			v = Failed
		}
	}
	for _, f := range findings {
		if slices.Contains(f.Scenarios, m.Scenario.ID) {
			v = worse(v, f.Severity.verdict())
		}
	}
	return v
}

func worse(a, b Verdict) Verdict {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// maxReasons is how many reasons a report opens with.
const maxReasons = 3

// RunVerdict judges a run as a whole: the worst of its scenarios and of the findings on the machine. The reasons are the
// most important first (by severity, then by how many scenarios they concern), one sentence each, at most three; of each diagnosis only its worst case is told, with the number of
// scenarios it concerns. A run in which nothing was measured has no verdict.
func RunVerdict(runs []Measurement, findings []Finding) (Verdict, []string) {
	type reason struct {
		v      Verdict
		text   string
		weight int // scenarios concerned
	}
	var reasons []reason
	var v Verdict
	met, judged := 0, 0
	for _, m := range runs {
		one := VerdictOf(m, findings)
		if one == "" {
			continue
		}
		judged++
		v = worse(v, one)
		switch m.Result.State { //nolint:exhaustive // the others are judged by targets and findings
		case result.Interrupted:
			reasons = append(reasons, reason{NotTrusted, fmt.Sprintf("Scenario %s was interrupted, so it measured nothing.", m.label()), 1})
		case result.Invalid:
			why := "its figures must not be trusted"
			if len(m.Result.Reasons) > 0 {
				why = strings.TrimSuffix(m.Result.Reasons[0], ".")
			}
			reasons = append(reasons, reason{NotTrusted, fmt.Sprintf("Scenario %s is invalid: %s.", m.label(), why), 1})
		}
		for _, t := range m.Targets {
			switch {
			case t.Skipped != "":
			case t.Met:
				met++
			default:
				reasons = append(reasons, reason{Failed, fmt.Sprintf("Scenario %s missed its target %s: it measured %s.",
					m.label(), t.Text, t.Print(t.Measured)), 1})
			}
		}
	}
	told := map[Code]bool{}
	for _, f := range findings {
		if len(f.Scenarios) == 0 {
			v = worse(v, f.Severity.verdict())
		}
		if told[f.Code] || f.Severity == Info {
			continue
		}
		told[f.Code] = true
		text := f.Says
		n := scenariosWith(f.Code, findings)
		if n > 1 {
			text = fmt.Sprintf("%s (%s, %d scenarios)", text, f.Code, n)
		} else {
			text = fmt.Sprintf("%s (%s)", text, f.Code)
		}
		reasons = append(reasons, reason{f.Severity.verdict(), text, n})
	}
	slices.SortStableFunc(reasons, func(a, b reason) int { return cmp.Or(b.v.rank()-a.v.rank(), b.weight-a.weight) })
	var texts []string
	for _, r := range reasons[:min(len(reasons), maxReasons)] {
		texts = append(texts, r.text)
	}
	if len(texts) == 0 && judged > 0 {
		texts = append(texts, fmt.Sprintf("%d of %d scenarios ran without a warning.", judged, len(runs)))
		if met > 0 {
			texts = append(texts, fmt.Sprintf("All %d targets that could be judged are met.", met))
		}
	}
	return v, texts
}

func scenariosWith(code Code, findings []Finding) int {
	seen := map[int]bool{}
	for _, f := range findings {
		if f.Code == code {
			for _, id := range f.Scenarios {
				seen[id] = true
			}
		}
	}
	return len(seen)
}
