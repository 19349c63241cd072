package finding

import (
	"cmp"
	"slices"
	"strings"
)

// Disabled are the codes of rules that are not to count, with the reason for each.
type Disabled map[Code]string

// Judge runs every rule over a case. It is deterministic: findings come worst first, then by code,
// scenario and subject. A finding is dropped when a rule named in its After has one on the same
// subject, be that one dropped itself or not, so that a cause hides the whole chain of its
// symptoms. A disabled rule hides nothing; what it finds is an info with the reason.
func Judge[C any](rules []*Rule[C], c C, disabled Disabled) []Finding {
	var all []Finding
	pages := map[Code]Page{}
	for _, r := range rules {
		r.Check(c, func(f Finding) {
			if f.fine {
				return
			}
			p, read := pages[r.Code]
			if !read {
				p, _ = PageOf(r.Code)
				pages[r.Code] = p
			}
			all = append(all, p.Fill(f).disable(disabled[r.Code]))
		})
	}
	type key struct {
		code    Code
		subject string
	}
	causes := map[key]bool{}
	for _, f := range all {
		causes[key{f.Code, f.Subject}] = f.Disabled == ""
	}
	all = slices.DeleteFunc(all, func(f Finding) bool {
		hides := func(cause Code) bool { return causes[key{cause, f.Subject}] }
		return !f.regardless && slices.ContainsFunc(pages[f.Code].After, hides)
	})
	Sort(all)
	return all
}

// Sort puts findings into the order of Judge: the worst first, then by code, scenario, line and
// subject.
func Sort(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(a.Code, b.Code),
			slices.Compare(a.Scenarios, b.Scenarios), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Subject, b.Subject))
	})
}

// Passed is a rule that found a subject in order, and what it saw.
type Passed struct {
	Code    Code   `json:"code"`
	Subject string `json:"subject"`
	Message string `json:"message"`
}

// Passes shows in one line each what the rules looked at and found in order, by code; what could
// not be seen is not in it. A subject of which a rule found something does not pass it.
func Passes[C any](rules []*Rule[C], c C) []Passed {
	var all []Passed
	for _, r := range rules {
		var fine []Passed
		found := map[string]bool{}
		r.Check(c, func(f Finding) {
			if f.fine {
				fine = append(fine, Passed{r.Code, f.Subject, f.Message})
			} else {
				found[f.Subject] = true
			}
		})
		all = append(all, slices.DeleteFunc(fine, func(p Passed) bool { return found[p.Subject] })...)
	}
	slices.SortStableFunc(all, func(a, b Passed) int { return cmp.Compare(a.Code, b.Code) })
	return all
}

// Fill completes a finding with the texts of the page; what a check has set stays.
func (p Page) Fill(f Finding) Finding {
	f.Code = p.Code
	f.Severity = cmp.Or(f.Severity, p.Severity)
	f.Title = cmp.Or(f.Title, p.Title)
	f.Why = cmp.Or(f.Why, p.Says(Why))
	f.Fix = cmp.Or(f.Fix, p.Says(Fix))
	return f
}

// disable makes an info of a finding whose rule is disabled for a reason.
func (f Finding) disable(reason string) Finding {
	if reason != "" {
		f.Disabled, f.Severity = reason, Info
		f.Message += " Disabled: " + strings.TrimSuffix(reason, ".") + "."
	}
	return f
}

// Rank orders severities, worst highest; -1 for none.
func (s Severity) Rank() int {
	return slices.Index([]Severity{Info, Warn, Fail, Invalid}, s)
}
