package verdict

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

// Policy is what a team has decided about findings and exit codes.
type Policy struct {
	// Disable holds rules that are not to count, each with the reason. Their findings are still
	// listed.
	Disable finding.Disabled `json:"disable,omitempty"`
	// FailOn tightens the exit code: warning, measured, invalid, or the code of a rule.
	FailOn []string `json:"fail_on,omitempty"`
	// SharedHost is why others always use the machine, too, as on a CI runner; empty where it is
	// plimsoll's alone. Figures of such a host are measured and not judged, and what others did to them
	// is listed and does not count. Only rounds that alternate compare them.
	SharedHost string `json:"shared_host,omitempty"`
}

// Disabled are the rules that do not count, those of a shared host among them.
func (p Policy) Disabled() finding.Disabled {
	if p.SharedHost == "" {
		return p.Disable
	}
	all := finding.Disabled{}
	// What others did to a measurement: their I/O, their CPU time, and what the hypervisor took.
	for _, code := range []finding.Code{"PL410", "PL411", "PL412", "PL425"} {
		all[code] = "the host is shared: " + p.SharedHost
	}
	maps.Copy(all, p.Disable)
	return all
}

// OnSharedHost is p for a host that others use, too, with the reason.
func (p Policy) OnSharedHost(reason string) (Policy, error) {
	p.SharedHost = text.Clean(strings.TrimSpace(reason), 200)
	if p.SharedHost == "" {
		return p, errors.New("want a reason, such as 'a CI runner'")
	}
	return p, nil
}

// What --fail-on takes besides codes.
const (
	failOnWarning  = "warning"
	failOnMeasured = "measured"
	failOnInvalid  = "invalid"
)

// ParsePolicy reads CODE=REASON of each rule to disable, and what to fail on.
func ParsePolicy(disable, failOn []string) (Policy, error) {
	var p Policy
	for _, item := range disable {
		code, reason, _ := strings.Cut(item, "=")
		known, err := ruleCode(code)
		if err != nil {
			return p, fmt.Errorf("disable %s: %w", text.Quote(item), err)
		}
		if reason = strings.TrimSpace(reason); reason == "" {
			return p, fmt.Errorf("disable %s: the reason is missing; write %s=REASON", text.Quote(item), known)
		}
		p = p.With(Policy{Disable: finding.Disabled{known: text.Clean(reason, 200)}})
	}
	for _, item := range failOn {
		switch word := strings.ToLower(item); word {
		case failOnWarning, failOnMeasured, failOnInvalid:
			p.FailOn = append(p.FailOn, word)
		default:
			code, err := ruleCode(item)
			if err != nil {
				return p, fmt.Errorf("fail-on %s: use %s, %s, %s or the code of a finding", text.Quote(item),
					failOnWarning, failOnMeasured, failOnInvalid)
			}
			p.FailOn = append(p.FailOn, string(code))
		}
	}
	return p, nil
}

func ruleCode(word string) (finding.Code, error) {
	code := finding.Code(strings.ToUpper(strings.TrimSpace(word)))
	if _, known := finding.PageOf(code); !known {
		return "", fmt.Errorf("no finding has the code %s; plimsoll explain lists them all", text.Quote(word))
	}
	return code, nil
}

// Judge is a threshold's result where the policy lets it be judged.
func (p Policy) Judge(t ThresholdResult) ThresholdResult {
	if p.SharedHost != "" && t.Outcome != NotJudged {
		t.Outcome, t.Reason = NotJudged, "the host is shared: "+p.SharedHost
	}
	return t
}

// With is p and what other adds to it; the reasons of other win.
func (p Policy) With(other Policy) Policy {
	sum := Policy{FailOn: slices.Concat(p.FailOn, other.FailOn), SharedHost: cmp.Or(other.SharedHost, p.SharedHost)}
	if len(p.Disable)+len(other.Disable) > 0 {
		sum.Disable = finding.Disabled{}
		maps.Copy(sum.Disable, p.Disable)
		maps.Copy(sum.Disable, other.Disable)
	}
	return sum
}

// Fails says whether a verdict that is not a failure by itself, or one of the findings, is to be
// one.
func (p Policy) Fails(v Verdict, findings []finding.Finding) bool {
	return slices.ContainsFunc(p.FailOn, func(on string) bool {
		switch on {
		case failOnMeasured:
			return v == Measured
		case failOnInvalid:
			return v == Invalid
		}
		return slices.ContainsFunc(findings, func(f finding.Finding) bool {
			return f.Disabled == "" &&
				(on == string(f.Code) || on == failOnWarning && f.Severity.Rank() >= finding.Warn.Rank())
		})
	})
}
