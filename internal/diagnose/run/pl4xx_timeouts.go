package run

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

var timedOut = &diagnose.Rule{
	Code:     "PL423",
	Since:    "0.2",
	Severity: finding.Invalid,
	Title:    "a drive did not answer in time during the run",
	When: "During the scenario the kernel's log had a timeout, an abort or a reset of an NVMe controller " +
		"below the tested path.",
	Why: `The request waited for the kernel's time limit, often 30 s, and others behind it. "completion ` +
		`polled" means a lost interrupt: the machine or its emulation, not the storage.`,
	Fix: "Run the scenario again. If it comes back, check the drive (nvme smart-log, error-log) and its " +
		"firmware; in the lab start another guest.",
	Bad:    "nvme nvme3: I/O 64 QID 1 timeout, completion polled",
	Good:   "$ dmesg --level=err,warn | grep nvme\n$",
	Ignore: "When you measure how a failing drive behaves.",
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
