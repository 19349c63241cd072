package diagnose

import (
	"fmt"
	"strings"

	"plimsoll/internal/units"
)

// rate prints a throughput both ways, for limits that vendors state in MB/s: "150 MiB/s (157
// MB/s)".
func rate(r units.Rate) string { return fmt.Sprintf("%s (%s)", r, r.SI()) }

// Label names a measurement in a sentence: `6 concurrent-sync`.
func (m Measurement) Label() string {
	name := m.Scenario.Name
	if name == "" && m.Result != nil {
		name = m.Result.Name
	}
	if m.Scenario.ID == 0 {
		return name
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", m.Scenario.ID, name))
}
