package live

import (
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

// InCheck are the causes that a look of less than a second may name, as plimsoll check does: a
// control group at its limit, and a member that stands apart while the array is at work.
func InCheck() []*finding.Rule[*Facts] {
	return append([]*finding.Rule[*Facts]{only("PL204", finding.Info, shortIOs)}, BeforeRun()...)
}

// BeforeRun is what a look before a run may name, while nothing of it is measured: a control group at
// its limit. What an array copies or checks is known without a look (PL202 of the layout).
func BeforeRun() []*finding.Rule[*Facts] {
	return []*finding.Rule[*Facts]{only("PL904", finding.Warn, 0)}
}

// shortIOs are the fewest I/Os by which members are compared in a short look.
const shortIOs = 100

// only is a rule that names one cause where so many I/Os were seen.
func only(code finding.Code, severity finding.Severity, least float64) *finding.Rule[*Facts] {
	return &finding.Rule[*Facts]{Code: code, Check: func(f *Facts, report func(finding.Finding)) {
		if v := newView(f); v.top == nil || v.top.ios() < least {
			return
		}
		for _, c := range Judge(f).Causes {
			if c.Code == code {
				report(c.Finding().As(severity))
			}
		}
	}}
}

// Limited is whether a control group is at its limit on a device of the path.
func (f *Facts) Limited() bool {
	v := newView(f)
	return v.top != nil && v.fullest() != nil
}

// Using names the programs with files below the path that asked for I/O, the largest first, empty
// where none was seen.
func (f *Facts) Using() string {
	v := newView(f)
	var names []string
	for _, u := range v.users {
		if u.bytes() > 0 || u.Waiting > 0 {
			names = append(names, u.who())
		}
	}
	return text.Some(names, mostNamed)
}

const mostNamed = 3
