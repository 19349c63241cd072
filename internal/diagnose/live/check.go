package live

import (
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

// InCheck are the causes that a look of less than a second may name, as plimsoll check does: a
// control group at its limit, and a member that stands apart while the array is at work.
func InCheck() []*finding.Rule[*Facts] {
	member := &finding.Rule[*Facts]{
		Code: "PL204", Check: func(f *Facts, report func(finding.Finding)) {
			if ios := newView(f); ios.top != nil && ios.top.ios() >= shortIOs {
				only(f, "PL204", finding.Info, report)
			}
		},
	}
	return append([]*finding.Rule[*Facts]{member}, BeforeRun()...)
}

// BeforeRun is what a look before a run may name, while nothing of it is measured: a control group at
// its limit. What an array copies or checks is known without a look (PL202 of the layout).
func BeforeRun() []*finding.Rule[*Facts] {
	return []*finding.Rule[*Facts]{{Code: "PL904", Check: func(f *Facts, report func(finding.Finding)) {
		only(f, "PL904", finding.Warn, report)
	}}}
}

// shortIOs are the fewest I/Os by which members are compared in a short look.
const shortIOs = 100

func only(f *Facts, code finding.Code, severity finding.Severity, report func(finding.Finding)) {
	for _, c := range Judge(f).Causes {
		if c.Code == code {
			found := c.Finding()
			found.Severity = severity
			report(found)
		}
	}
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
