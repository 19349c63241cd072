package diagnose

import (
	"fmt"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/units"
)

// Rate prints a throughput both ways, for limits that vendors state in MB/s: "150 MiB/s (157
// MB/s)".
func Rate(r units.Rate) string { return fmt.Sprintf("%s (%s)", r, r.SI()) }

// Label names a measurement in a sentence: `6 concurrent-sync`.
func (m Measurement) Label() string {
	name := m.Scenario.Name
	if name == "" && m.Result != nil {
		name = m.Name
	}
	if m.Scenario.ID == 0 {
		return name
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", m.Scenario.ID, name))
}

// Join adds a finding of another run to the first of its kind.
func Join(first *finding.Finding, f finding.Finding) *finding.Finding {
	if first == nil {
		return &f
	}
	first.Scenarios = append(first.Scenarios, f.Scenarios...)
	first.Evidence = append(first.Evidence, f.Evidence...)
	return first
}
