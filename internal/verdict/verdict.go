// Package verdict evaluates thresholds and judges scenarios and runs. It also knows the pages of all rules, of lint and
// diagnose together.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
)

// Scenario is a measurement with its thresholds evaluated.
type Scenario struct {
	diagnose.Measurement
	Thresholds []ThresholdResult
}

// Verdict of a scenario or a run.
type Verdict string

// The verdicts, best first; a worse one beats a better one.
const (
	Pass    Verdict = "pass"
	Warn    Verdict = "warn"
	Fail    Verdict = "fail"
	Invalid Verdict = "invalid"
)

// rank orders verdicts, worst highest; a scenario that was not judged is below all.
func (v Verdict) rank() int {
	return slices.Index([]Verdict{Pass, Warn, Fail, Invalid}, v)
}

// Word is the verdict in the words of a report's first line.
func (v Verdict) Word() string {
	switch v {
	case Pass:
		return "READY"
	case Warn:
		return "READY WITH WARNINGS"
	case Fail:
		return "NOT READY"
	case Invalid:
		return "INVALID"
	}
	return "NOT JUDGED"
}

func ofSeverity(s finding.Severity) Verdict {
	switch s {
	case finding.Invalid:
		return Invalid
	case finding.Fail:
		return Fail
	case finding.Warn:
		return Warn
	case finding.Info:
	}
	return Pass
}

// VerdictOf judges one scenario from its result, its targets and the findings that name it: invalid beats fail beats warn
// beats pass. A scenario without a result, or still waiting, has no verdict ("").
func Of(m Scenario, findings []finding.Finding) Verdict {
	if m.Result == nil || m.Result.State == result.Waiting {
		return ""
	}
	if m.Result.State == result.Invalid || m.Result.State == result.Interrupted {
		return Invalid
	}
	v := Pass
	for _, t := range m.Thresholds {
		if t.Outcome == Missed {
			v = Fail
		}
	}
	for _, f := range findings {
		if slices.Contains(f.Scenarios, m.Scenario.ID) {
			v = worse(v, ofSeverity(f.Severity))
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
func OfRun(runs []Scenario, findings []finding.Finding) (Verdict, []string) {
	type reason struct {
		v      Verdict
		text   string
		weight int // scenarios concerned
	}
	var reasons []reason
	var v Verdict
	met, judged := 0, 0
	for _, m := range runs {
		one := Of(m, findings)
		if one == "" {
			continue
		}
		judged++
		v = worse(v, one)
		switch m.Result.State { //nolint:exhaustive // the others are judged by targets and findings
		case result.Interrupted:
			reasons = append(reasons, reason{Invalid, fmt.Sprintf("Scenario %s was interrupted, so it measured nothing.", m.Label()), 1})
		case result.Invalid:
			why := "its figures must not be trusted"
			if len(m.Result.Reasons) > 0 {
				why = strings.TrimSuffix(m.Result.Reasons[0], ".")
			}
			reasons = append(reasons, reason{Invalid, fmt.Sprintf("Scenario %s is invalid: %s.", m.Label(), why), 1})
		}
		for _, t := range m.Thresholds {
			switch t.Outcome {
			case NotJudged:
			case Met:
				met++
			case Missed:
				reasons = append(reasons, reason{Fail, fmt.Sprintf("Scenario %s missed its threshold %s: it measured %s.",
					m.Label(), t.Threshold.Text, t.PrintMeasured()), 1})
			}
		}
	}
	told := map[finding.Code]bool{}
	for _, f := range findings {
		if len(f.Scenarios) == 0 {
			v = worse(v, ofSeverity(f.Severity))
		}
		if told[f.Code] || f.Severity == finding.Info {
			continue
		}
		told[f.Code] = true
		text := f.Message
		n := scenariosWith(f.Code, findings)
		if n > 1 {
			text = fmt.Sprintf("%s (%s, %d scenarios)", text, f.Code, n)
		} else {
			text = fmt.Sprintf("%s (%s)", text, f.Code)
		}
		reasons = append(reasons, reason{ofSeverity(f.Severity), text, n})
	}
	slices.SortStableFunc(reasons, func(a, b reason) int { return cmp.Or(b.v.rank()-a.v.rank(), b.weight-a.weight) })
	var texts []string
	for _, r := range reasons[:min(len(reasons), maxReasons)] {
		texts = append(texts, r.text)
	}
	if len(texts) == 0 && judged > 0 {
		texts = append(texts, fmt.Sprintf("%d of %d scenarios ran without a warning.", judged, len(runs)))
		if met > 0 {
			texts = append(texts, fmt.Sprintf("All %d thresholds that could be judged are met.", met))
		}
	}
	return v, texts
}

func scenariosWith(code finding.Code, findings []finding.Finding) int {
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
