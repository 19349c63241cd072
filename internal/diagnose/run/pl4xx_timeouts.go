package run

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

var timedOut = &diagnose.Rule{
	Code: "PL423",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			for _, e := range m.Result.Timeouts {
				report(finding.Finding{
					Subject: m.Label(), Scenarios: m.IDs(),
					Message: fmt.Sprintf("%s did not answer in time while this was measured.", e.Device),
					Evidence: []finding.Evidence{
						{What: "lines about " + e.Device, Found: text.Count(e.Count), Expected: "0", Where: "dmesg"},
						{What: "last", Found: fmt.Sprintf("%.160s", e.Text), Where: "dmesg"},
					},
					Commands: []string{"dmesg --ctime | grep -F " + text.ShellQuote(e.Device)},
				})
			}
		}
	},
}
