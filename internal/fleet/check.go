package fleet

import (
	"context"
	"maps"
	"regexp"
	"slices"

	"plimsoll/internal/bundle"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

// Checkup is what a check found on one host.
type Checkup struct {
	Facts    map[string]string `json:"facts"` // settings that should be the same on all hosts, by name
	Findings []finding.Finding `json:"findings"`
	Notes    []string          `json:"notes,omitempty"`
}

// Check runs the check of plimsoll on all hosts, with r.Args as its arguments, and compares them.
// Nothing is measured or stored.
func (r Run) Check(ctx context.Context) (*bundle.FleetCheck, error) {
	c := &coordinator{
		Run:   r,
		fleet: &bundle.Fleet{Order: together, Created: r.Now()},
		check: true,
	}
	for _, name := range r.Hosts {
		c.add(bundle.FleetHost{Name: name})
	}
	if err := c.serve(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	all := &bundle.FleetCheck{Tool: r.Tool, Via: r.Engine.name}
	compared := &diagnose.FleetCase{}
	for _, h := range c.hosts {
		one := bundle.FleetChecked{FleetHost: h.FleetHost, Findings: []finding.Finding{}, Notes: []string{}}
		if h.State == bundle.HostDone {
			one.Facts, one.Findings, one.Notes = h.checkup.Facts, h.checkup.Findings, h.checkup.Notes
			compared.Hosts = append(compared.Hosts, diagnose.FleetHost{Name: h.Name, Clock: h.Clock.Error, Facts: one.Facts})
		}
		all.Hosts = append(all.Hosts, one)
	}
	all.Findings = append([]finding.Finding{}, rules.Judge(&diagnose.Case{Fleet: compared}, r.Disabled)...)
	return all, nil
}

// The most that is taken of a host's findings, and of each text in them.
const (
	mostFindings = 200
	longText     = 2000
	longFact     = 300
)

var findingCode = regexp.MustCompile(`^PL[0-9]{3}$`)

// tame takes of a checkup what a check may find: it comes from a machine that may send anything.
func (c *Checkup) tame() *Checkup {
	fact := func(s string) string { return text.Clean(s, longFact) }
	own := &Checkup{Facts: map[string]string{}, Findings: []finding.Finding{}, Notes: []string{}}
	for _, name := range first(slices.Sorted(maps.Keys(c.Facts)), mostFindings) {
		own.Facts[fact(name)] = fact(c.Facts[name])
	}
	for _, f := range first(c.Findings, mostFindings) {
		if !findingCode.MatchString(string(f.Code)) || f.Severity.Rank() < 0 {
			continue
		}
		one := finding.Finding{
			Code: f.Code, Severity: f.Severity, Title: fact(f.Title), Subject: fact(f.Subject),
			Message: text.Clean(f.Message, longText), Why: text.Clean(f.Why, longText), Fix: text.Clean(f.Fix, longText),
			Disabled: fact(f.Disabled), Commands: cleaned(f.Commands),
		}
		for _, e := range first(f.Evidence, mostFindings/10) {
			one.Evidence = append(one.Evidence, finding.Evidence{
				What: fact(e.What), Found: fact(e.Found),
				Expected: fact(e.Expected), Where: fact(e.Where),
			})
		}
		own.Findings = append(own.Findings, one)
	}
	own.Notes = append(own.Notes, cleaned(c.Notes)...)
	return own
}

func cleaned(all []string) (clean []string) {
	for _, s := range first(all, mostFindings/10) {
		clean = append(clean, text.Clean(s, longText))
	}
	return clean
}

// first are the first values of a list, most at most.
func first[T any](all []T, most int) []T { return all[:min(len(all), most)] }
