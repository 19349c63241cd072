package verdict

import (
	"strings"
	"testing"

	"plimsoll/internal/finding"
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
