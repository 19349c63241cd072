// Package verdict evaluates thresholds and judges scenarios and runs.
package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
)

// Scenario is a measurement with its thresholds evaluated.
type Scenario struct {
	diagnose.Measurement
	Thresholds []ThresholdResult
	// SharedHost is why others use the machine, too, empty where they do not: then nothing is judged.
	SharedHost string
}

// Verdict is that of a scenario or a run.
type Verdict string

// The verdicts. Of Pass, Warn, Fail and Invalid a worse one beats a better one; Measured says that
// there was nothing to judge by.
const (
	Pass     Verdict = "pass"
	Warn     Verdict = "warn"
	Fail     Verdict = "fail"
	Invalid  Verdict = "invalid"
	Measured Verdict = "measured"
)

// rank orders verdicts, worst highest; one that is no judgement is below all.
func (v Verdict) rank() int {
	return slices.Index([]Verdict{Pass, Warn, Fail, Invalid}, v)
}

// Word is the verdict in the words of a report's first line.
func (v Verdict) Word() string {
	return cmp.Or(map[Verdict]string{
		Pass: "READY", Warn: "READY WITH WARNINGS", Fail: "NOT READY", Invalid: "INVALID", Measured: "MEASURED",
	}[v], "NOT JUDGED")
}

func ofSeverity(s finding.Severity) Verdict {
	return cmp.Or(map[finding.Severity]Verdict{finding.Invalid: Invalid, finding.Fail: Fail, finding.Warn: Warn}[s], Pass)
}

// Of judges one scenario from its result, its thresholds and the findings that name it: invalid
// beats fail, fail beats warn, and a pass or a warning is earned by a threshold that could be
// judged or by a ceiling that was reached; without either the scenario is measured. One without a
// result, or still waiting, has no verdict ("").
func Of(m Scenario, findings []finding.Finding) Verdict {
	if m.Result == nil || m.State == result.Waiting {
		return ""
	}
	if m.State == result.Invalid || m.State == result.Interrupted {
		return Invalid
	}
	v := Pass
	if m.has(Missed) {
		v = Fail
	}
	for _, f := range findings {
		if f.Disabled == "" && slices.Contains(f.Scenarios, m.Scenario.ID) {
			v = worse(v, ofSeverity(f.Severity))
		}
	}
	if (v == Pass || v == Warn || v == Fail && m.SharedHost != "") && !m.judged() {
		return Measured
	}
	return v
}

// What reaching a ceiling is: the least share of it, and the widest half of the interval.
const reachedShare, reachedMargin = 0.9, 0.1

// judged says whether there was something to judge the scenario by: a threshold that could be
// judged, or a ceiling that is not made of its own latency and was reached by a figure whose interval
// is known, for a run that is long enough to be compared with it.
func (m Scenario) judged() bool {
	if m.has(Met) || m.has(Missed) {
		return true
	}
	e := m.Result.IOPS
	return m.reached() && e.HasInterval() && e.Rel() <= reachedMargin
}

// reached says that the figure is at its ceiling, however well it is known.
func (m Scenario) reached() bool {
	b := m.limit()
	return b != nil && m.Result != nil && m.Result.IOPS.Center >= reachedShare*float64(b.IOPS)
}

// has says that a threshold came out so.
func (m Scenario) has(o Outcome) bool {
	return slices.ContainsFunc(m.Thresholds, func(t ThresholdResult) bool { return t.Outcome == o })
}

// limit is the limit of the storage that the scenario can be judged by, nil where there is none.
func (m Scenario) limit() *ceiling.Bound {
	if m.Ceiling == nil || m.TooShort() || m.SharedHost != "" {
		return nil
	}
	if b := m.Ceiling.Binding(); b != nil && !b.SelfMeasured() {
		return b
	}
	return nil
}

// open names a scenario that could not be judged, with the reason: "1 sync-latency (simulated: …)".
func (m Scenario) open() string {
	why := "neither a threshold nor a known limit"
	switch i := slices.IndexFunc(m.Thresholds, func(t ThresholdResult) bool { return t.Reason != "" }); {
	case i >= 0:
		why = m.Thresholds[i].Reason
	case m.SharedHost != "":
		why = "the host is shared"
	case m.TooShort():
		why = "too short"
	}
	return fmt.Sprintf("%s (%s)", m.Label(), why)
}

func worse(a, b Verdict) Verdict {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// maxReasons is how many reasons a report opens with.
const maxReasons = 3

// Summary is the verdict of a run.
type Summary struct {
	Verdict Verdict
	// Warned says that a finding that counts is a warning or worse, whatever could be judged.
	Warned bool
	// Reasons are the most important first, one sentence each, at most three.
	Reasons text.Lines
}

// reason is one sentence of a summary.
type reason struct {
	v      Verdict
	text   string
	weight int // scenarios concerned
}

// OfRun judges a run as a whole: the worst of its scenarios and of the findings on the machine;
// measured when none of its scenarios could be judged. Reasons go by severity, then by how many
// scenarios they concern; of each diagnosis only its worst case is shown, with the number of
// scenarios it concerns. A run in which nothing was measured has no verdict.
func OfRun(runs []Scenario, findings []finding.Finding) Summary {
	var s Summary
	var reasons []reason
	ran, met := 0, 0
	var open []string // scenarios that could not be judged
	for _, m := range runs {
		one := Of(m, findings)
		if one == "" {
			continue
		}
		ran++
		if one == Measured {
			open = append(open, m.open())
		} else {
			s.Verdict = worse(s.Verdict, one)
		}
		more, n := m.reasons()
		reasons, met = append(reasons, more...), met+n
	}
	if ran == 0 {
		return s
	}
	s.Verdict = cmp.Or(s.Verdict, Measured)
	worst := map[finding.Code]bool{}
	for _, f := range findings {
		if f.Disabled != "" || f.Severity == finding.Info {
			continue
		}
		v := ofSeverity(f.Severity)
		if len(f.Scenarios) == 0 && (s.Verdict != Measured || v.rank() > Warn.rank()) {
			s.Verdict = worse(s.Verdict, v)
		}
		s.Warned = true
		if !worst[f.Code] {
			worst[f.Code] = true
			n, alike := scenariosWith(f.Code, findings)
			reasons = append(reasons, ofFinding(f, n, alike))
		}
	}
	if s.Warned && s.Verdict == Pass { // of a scenario that nothing judged
		s.Verdict = Warn
	}
	slices.SortStableFunc(reasons, func(a, b reason) int { return cmp.Or(b.v.rank()-a.v.rank(), b.weight-a.weight) })
	shared := slices.ContainsFunc(runs, func(m Scenario) bool { return m.SharedHost != "" })
	switch {
	case s.Verdict == Measured && shared:
		reasons = append([]reason{{text: earn(runs)}}, reasons...)
	case s.Verdict == Measured && worst["PL418"] && !slices.ContainsFunc(runs, ranOn): // which says so
	case s.Verdict == Measured: // what would have earned a verdict comes last
		reasons = append(reasons[:min(len(reasons), maxReasons-1)], reason{text: earn(runs)})
	}
	for _, r := range reasons[:min(len(reasons), maxReasons)] {
		s.Reasons = append(s.Reasons, r.text)
	}
	if len(s.Reasons) == 0 {
		s.Reasons.Say("%d of %d scenarios ran without a warning.", ran, len(runs))
		switch {
		case met == 1:
			s.Reasons.Say("The threshold that could be judged is met.")
		case met > 1:
			s.Reasons.Say("All %d thresholds that could be judged are met.", met)
		}
	}
	if len(open) > 0 && s.Verdict != Measured && len(s.Reasons) < maxReasons {
		s.Reasons.Say("%s could not be judged: %s.", text.Several(open, "scenario"), text.Some(open, 4))
	}
	return s
}

func ranOn(m Scenario) bool { return m.Result == nil || !m.TooShort() }

// earn is what would have earned a verdict.
func earn(runs []Scenario) string {
	if i := slices.IndexFunc(runs, func(m Scenario) bool { return m.SharedHost != "" }); i >= 0 {
		return fmt.Sprintf("No verdict on a shared host (%s): plimsoll ab compares variants under the same load.",
			runs[i].SharedHost)
	}
	if slices.ContainsFunc(runs, func(m Scenario) bool { return m.Result != nil && m.limit() != nil }) {
		open := text.Either(slices.ContainsFunc(runs, Scenario.reached), "the figure at its ceiling is not known "+
			"to within ±10 %",
			"no figure is at its ceiling")
		return "No verdict: no threshold was judged, and " + open + ". State thresholds in a suite."
	}
	var short text.Lines
	var longest time.Duration
	for _, m := range runs {
		if m.Result != nil && m.TooShort() {
			short.Say("%s (%s)", m.Label(), text.Duration(m.Measured))
			longest = max(longest, m.Measured)
		}
	}
	switch {
	case len(short) > 0 && len(short) == len(runs):
		return fmt.Sprintf("Nothing could be judged, because %s is too short: measure each scenario for %s or more.",
			text.Duration(longest), text.Duration(diagnose.LeastForInterval))
	case len(short) > 0:
		return fmt.Sprintf("Nothing could be judged: no limit is known (--volumes, --instance, a suite), and %d of "+
			"%s were too short: %s.", len(short),
			text.Several(runs, "scenario"), text.Some(short, 4))
	}
	if !slices.ContainsFunc(runs, func(m Scenario) bool {
		return m.Result == nil || m.Source == "" || len(m.Workloads) > 0
	}) {
		return "Nothing could be judged: neither the job nor any limits are known (--job, --volumes)."
	}
	return "Nothing could be judged: no limit is known (--volumes, --instance, a suite)."
}

// reasons are what the scenario itself says against a good verdict, and how many thresholds it met.
func (m Scenario) reasons() (all []reason, met int) {
	say := func(v Verdict, format string, args ...any) {
		all = append(all, reason{v, "Scenario " + m.Label() + fmt.Sprintf(format, args...), 1})
	}
	switch m.State { //nolint:exhaustive // the others are judged by thresholds and findings
	case result.Interrupted:
		say(Invalid, " was interrupted, so it measured nothing.")
	case result.Invalid:
		why := "its figures must not be trusted"
		if len(m.Reasons) > 0 {
			why = strings.TrimSuffix(m.Reasons[0], ".")
		}
		say(Invalid, " is invalid: %s.", why)
	}
	for _, t := range m.Thresholds {
		switch t.Outcome {
		case NotJudged:
		case Met:
			met++
		case Missed:
			say(Fail, " missed its threshold %s: it measured %s.", t.Threshold.Text, t.PrintMeasured())
		}
	}
	return all, met
}

// ofFinding is the reason that the first finding of a rule gives; alike says that the others say the
// same, figures included.
func ofFinding(f finding.Finding, scenarios int, alike bool) reason {
	of := string(f.Code)
	if scenarios > 1 {
		of += fmt.Sprintf(", %s%d scenarios", text.Either(alike, "", "the first of "), scenarios)
	}
	return reason{ofSeverity(f.Severity), fmt.Sprintf("%s (%s)", f.Message, of), scenarios}
}

func scenariosWith(code finding.Code, findings []finding.Finding) (n int, alike bool) {
	seen, said := map[int]bool{}, map[string]bool{}
	for _, f := range findings {
		if f.Code == code {
			said[f.Message] = true
			for _, id := range f.Scenarios {
				seen[id] = true
			}
		}
	}
	return len(seen), len(said) == 1
}
