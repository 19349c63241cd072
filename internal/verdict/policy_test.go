package verdict

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
)

func TestParsePolicy(t *testing.T) {
	p, err := ParsePolicy([]string{"pl208=the root is mounted so on purpose", "PL412= backup window "}, []string{"warning", "pl501", "Measured"})
	if err != nil || p.Disable["PL208"] != "the root is mounted so on purpose" || p.Disable["PL412"] != "backup window" {
		t.Errorf("%+v %v", p, err)
	}
	if strings.Join(p.FailOn, " ") != "warning PL501 measured" {
		t.Errorf("%q", p.FailOn)
	}
	for _, c := range []struct{ disable, failOn, want string }{
		{"PL999=x", "", "no finding has the code"},
		{"PL208", "", "the reason is missing; write PL208=REASON"},
		{"PL208= ", "", "the reason is missing"},
		{"", "panic", "use warning, measured, invalid or the code of a finding"},
	} {
		var disable, failOn []string
		if c.disable != "" {
			disable = []string{c.disable}
		}
		if c.failOn != "" {
			failOn = []string{c.failOn}
		}
		if _, err := ParsePolicy(disable, failOn); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPolicyFails(t *testing.T) {
	warning := []finding.Finding{{Code: "PL208", Severity: finding.Warn}}
	disabled := []finding.Finding{{Code: "PL208", Severity: finding.Info, Disabled: "on purpose"}}
	info := []finding.Finding{{Code: "PL501", Severity: finding.Info}}
	for name, c := range map[string]struct {
		on   string
		v    Verdict
		fs   []finding.Finding
		want bool
	}{
		"a warning":            {"warning", Warn, warning, true},
		"no warning":           {"warning", Pass, info, false},
		"a disabled warning":   {"warning", Pass, disabled, false},
		"a warning, unasked":   {"measured", Warn, warning, false},
		"measured":             {"measured", Measured, nil, true},
		"measured and passed":  {"measured", Pass, nil, false},
		"a code":               {"PL501", Pass, info, true},
		"another code":         {"PL502", Pass, info, false},
		"the code, disabled":   {"PL208", Pass, disabled, false},
		"invalid":              {"invalid", Invalid, nil, true},
		"a warning in no need": {"invalid", Warn, warning, false},
	} {
		p, err := ParsePolicy(nil, []string{c.on})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Fails(c.v, c.fs); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPolicyWith(t *testing.T) {
	file := Policy{Disable: finding.Disabled{"PL208": "file", "PL209": "file"}, FailOn: []string{"measured"}}
	flags := Policy{Disable: finding.Disabled{"PL208": "flag"}, FailOn: []string{"warning"}}
	got := file.With(flags)
	if got.Disable["PL208"] != "flag" || got.Disable["PL209"] != "file" || strings.Join(got.FailOn, " ") != "measured warning" {
		t.Errorf("%+v", got)
	}
	if none := (Policy{}).With(Policy{}); none.Disable != nil || len(none.FailOn) > 0 {
		t.Errorf("%+v", none)
	}
}

// On a host that others always use nothing is judged: neither a threshold nor a finding that is an
// error; what must not be trusted stays invalid, and what others did is listed for nothing.
func TestSharedHost(t *testing.T) {
	own, err := ParsePolicy([]string{"PL412=a backup"}, []string{"measured"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := own.OnSharedHost(" a CI runner\n")
	if err != nil || p.SharedHost != "a CI runner" {
		t.Fatalf("%+v, %v", p, err)
	}
	off := p.Disabled()
	for code, why := range map[finding.Code]string{
		"PL425": "the host is shared: a CI runner", "PL410": "the host is shared: a CI runner", "PL412": "a backup", "PL409": "", "PL401": "",
	} {
		if off[code] != why {
			t.Errorf("%s: %q", code, off[code])
		}
	}
	if len(own.Disabled()) != 1 || own.SharedHost != "" {
		t.Errorf("%+v", own)
	}
	if sum := (Policy{SharedHost: "a"}).With(Policy{}); sum.SharedHost != "a" || (Policy{SharedHost: "a"}).With(p).SharedHost != "a CI runner" {
		t.Errorf("%+v", sum)
	}
	if _, err := own.OnSharedHost(" \t"); err == nil {
		t.Error("no reason is taken for one")
	}
	met := ThresholdResult{Outcome: Met}
	if got := p.Judge(met); got.Outcome != NotJudged || got.Reason != "the host is shared: a CI runner" {
		t.Errorf("%+v", got)
	}
	if got := own.Judge(met); got.Outcome != Met {
		t.Errorf("%+v", got)
	}
	m := Scenario{
		Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: 7}, Result: &result.Result{State: result.Done, Measured: time.Minute}},
		Thresholds:  []ThresholdResult{p.Judge(met)}, SharedHost: p.SharedHost,
	}
	for severity, want := range map[finding.Severity]Verdict{
		finding.Info: Measured, finding.Warn: Measured, finding.Fail: Measured, finding.Invalid: Invalid,
	} {
		found := []finding.Finding{{Code: "PL504", Severity: severity, Scenarios: []int{7}, Message: "Less."}}
		if got := Of(m, found); got != want {
			t.Errorf("%s: %s, want %s", severity, got, want)
		}
		if got := OfRun([]Scenario{m}, found); got.Verdict != want || want == Measured && got.Reasons[0] !=
			"No verdict on a shared host (a CI runner): plimsoll ab compares variants under the same load." {
			t.Errorf("%s: %+v", severity, got)
		}
	}
}
