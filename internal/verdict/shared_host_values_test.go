package verdict

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
)

// A host that others use, too, judges nothing by its ceiling; a threshold that was judged is a verdict
// there, too, and what is invalid stays so.
func TestVerdictsOfASharedHost(t *testing.T) {
	missed := []ThresholdResult{{Threshold: threshold("write.iops >= 540"), Outcome: Missed}}
	notJudged := []ThresholdResult{{Outcome: NotJudged, Reason: "no write ran"}}
	on := func(s finding.Severity) []finding.Finding {
		return []finding.Finding{{Code: "PL999", Severity: s, Scenarios: []int{7}}}
	}
	for name, c := range map[string]struct {
		shared     string
		thresholds []ThresholdResult
		findings   []finding.Finding
		want       Verdict
	}{
		"alone":                   {"", nil, nil, Pass},
		"shared":                  {"CI", nil, nil, Measured},
		"with a warning":          {"CI", nil, on(finding.Warn), Measured},
		"a failure":               {"CI", nil, on(finding.Fail), Measured},
		"a failure, alone":        {"", nil, on(finding.Fail), Fail},
		"invalid":                 {"CI", nil, on(finding.Invalid), Invalid},
		"a threshold":             {"CI", missed, nil, Fail},
		"one that was not judged": {"CI", notJudged, nil, Measured},
	} {
		m := Scenario{Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: 7}, Result: long(500), Ceiling: volumes(500)}, Thresholds: c.thresholds, SharedHost: c.shared}
		if got := Of(m, c.findings); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	// Why a scenario is open: the first threshold's reason, the others, or its time.
	for want, m := range map[string]Scenario{
		"7 (no write ran)":       {Thresholds: append([]ThresholdResult{{Outcome: Met}}, notJudged...), SharedHost: "CI"},
		"7 (the host is shared)": {SharedHost: "CI"}, "7 (neither a threshold nor a known limit)": {},
	} {
		m.Measurement = diagnose.Measurement{Scenario: suite.Scenario{ID: 7}, Result: long(500)}
		if got := strings.Join(strings.Fields(m.open()), " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What is asked for where nothing could be judged: the job, where figures were brought of which it is not known.
func TestWhatIsNotKnownIsAskedFor(t *testing.T) {
	const job, storage = "neither the job nor any limits are known", "no limit is known"
	brought := func(source string, loads ...fio.Workload) Scenario {
		m := named(1, 60)
		m.Source, m.Workloads = source, loads
		return m
	}
	for name, c := range map[string]struct {
		runs []Scenario
		want string
	}{
		"figures alone":      {[]Scenario{brought("a.txt")}, job},
		"with their job":     {[]Scenario{brought("a.txt", fio.Workload{})}, storage},
		"of two jobs":        {[]Scenario{brought("a.txt", fio.Workload{}, fio.Workload{})}, storage},
		"measured here":      {[]Scenario{brought("")}, storage},
		"one with its job":   {[]Scenario{brought("a.txt"), brought("a.txt", fio.Workload{})}, storage},
		"on a shared host":   {[]Scenario{brought("a.txt"), {Measurement: named(2, 60).Measurement, SharedHost: "CI"}}, "on a shared host (CI)"},
		"short, all of them": {[]Scenario{named(1, 2)}, "because 2 s is too short"},
	} {
		if got := earn(c.runs); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What a team decided: rules that do not count, and what makes a verdict a failure.
func TestPoliciesByHand(t *testing.T) {
	others := []finding.Code{"PL410", "PL411", "PL412", "PL425"}
	own := Policy{Disable: finding.Disabled{"PL208": "known", "PL410": "mine"}}
	if got := own.Disabled(); !maps.Equal(got, own.Disable) {
		t.Errorf("%v", got)
	}
	own.SharedHost = "CI"
	got := own.Disabled()
	if len(got) != 5 || got["PL410"] != "mine" || got["PL208"] != "known" || len(own.Disable) != 2 {
		t.Errorf("%v", got)
	}
	for _, code := range others[1:] {
		if got[code] != "the host is shared: CI" {
			t.Errorf("%s: %q", code, got[code])
		}
	}
	for _, c := range [][2]string{{" a runner ", "a runner"}, {strings.Repeat("x", 201), strings.Repeat("x", 200)}} {
		if p, err := (Policy{}).OnSharedHost(c[0]); err != nil || len([]rune(p.SharedHost)) != len(c[1]) {
			t.Errorf("%q: %q %v", c[0], p.SharedHost, err)
		}
	}
	if _, err := (Policy{}).OnSharedHost(" "); err == nil {
		t.Error("no reason")
	}
	sum := own.With(Policy{Disable: finding.Disabled{"PL208": "theirs"}, FailOn: []string{"warning"}})
	if sum.Disable["PL208"] != "theirs" || sum.Disable["PL410"] != "mine" || sum.SharedHost != "CI" || !slices.Equal(sum.FailOn, []string{"warning"}) || own.Disable["PL208"] != "known" {
		t.Errorf("%+v", sum)
	}
	if sum := (Policy{}).With(Policy{}); sum.Disable != nil {
		t.Errorf("%+v", sum)
	}
	if sum := (Policy{}).With(Policy{Disable: finding.Disabled{"PL208": "x"}, SharedHost: "b"}); len(sum.Disable) != 1 || sum.SharedHost != "b" {
		t.Errorf("%+v", sum)
	}
	finds := func(code finding.Code, s finding.Severity, disabled string) []finding.Finding {
		return []finding.Finding{{Code: code, Severity: s, Disabled: disabled}}
	}
	for name, c := range map[string]struct {
		on       string
		v        Verdict
		findings []finding.Finding
		want     bool
	}{
		"measured": {"measured", Measured, nil, true}, "measured, a pass": {"measured", Pass, finds("PL1", finding.Fail, ""), false},
		"invalid": {"invalid", Invalid, nil, true}, "invalid, a failure": {"invalid", Fail, finds("PL1", finding.Invalid, ""), false},
		"a code": {"PL1", Pass, finds("PL1", finding.Info, ""), true}, "another code": {"PL1", Pass, finds("PL2", finding.Fail, ""), false}, "disabled": {"PL1", Pass, finds("PL1", finding.Fail, "x"), false},
		"a warning": {"warning", Pass, finds("PL1", finding.Warn, ""), true}, "worse": {"warning", Pass, finds("PL1", finding.Fail, ""), true}, "less": {"warning", Pass, finds("PL1", finding.Info, ""), false},
	} {
		if got := (Policy{FailOn: []string{c.on}}).Fails(c.v, c.findings); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if (Policy{}).Fails(Invalid, finds("PL1", finding.Fail, "")) {
		t.Error("nothing is asked")
	}
	if p, err := ParsePolicy([]string{"pl208=a = b"}, []string{"Warning", "pl301"}); err != nil || p.Disable["PL208"] != "a = b" || !slices.Equal(p.FailOn, []string{"warning", "PL301"}) {
		t.Errorf("%+v %v", p, err)
	}
}

// The order of verdicts, and a run that did not end long ago enough to be compared.
func TestVerdictsInOrder(t *testing.T) {
	all := []Verdict{Measured, Pass, Warn, Fail, Invalid}
	for i, a := range all {
		for k, b := range all {
			if got := worse(a, b); got != all[max(i, k)] {
				t.Errorf("of %s and %s: %s", a, b, got)
			}
		}
	}
	if Measured.rank() != -1 || Invalid.rank() != 3 {
		t.Error("ranks")
	}
	for severity, want := range map[finding.Severity]Verdict{finding.Info: Pass, finding.Warn: Warn, finding.Fail: Fail, finding.Invalid: Invalid} {
		if got := ofSeverity(severity); got != want {
			t.Errorf("%s: %s", severity, got)
		}
	}
	two := []finding.Finding{{Code: "A", Scenarios: []int{1, 2}}, {Code: "A", Scenarios: []int{2, 3}}, {Code: "B", Scenarios: []int{4}}}
	if n, alike := scenariosWith("A", two); n != 3 || !alike {
		t.Errorf("%d scenarios, alike: %v", n, alike)
	}
	two[1].Message = "5.2 % and not 30.5 %"
	if n, alike := scenariosWith("A", two); n != 3 || alike {
		t.Errorf("%d scenarios, alike: %v", n, alike)
	}
	for n, want := range map[int][2]string{
		0: {"m (A)", "m (A)"}, 1: {"m (A)", "m (A)"}, 2: {"m (A, the first of 2 scenarios)", "m (A, 2 scenarios)"},
	} {
		for i, alike := range []bool{false, true} {
			if got := ofFinding(finding.Finding{Code: "A", Message: "m"}, n, alike); got.text != want[i] || got.weight != n {
				t.Errorf("%d, alike %v: %+v", n, alike, got)
			}
		}
	}
	if diagnose.LeastForInterval != 10*time.Second {
		t.Error("how long a run must last to be judged")
	}
}
