package run

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

var measuredLoading = &diagnose.Rule{
	Code:     "PL424",
	Since:    "0.2",
	Severity: finding.Invalid,
	Title:    "measured on a volume that was still loading",
	When: "A scenario reads, and PL320 had claimed that at least 15 % was not loaded: of its file where " +
		"plimsoll wrote that, else of a volume of its role.",
	Why:    "The figure is that of the snapshot's object storage, and changes as blocks are loaded.",
	Fix:    "plimsoll array warm DEVICE, then measure again.",
	Bad:    "random reads at 23 IOPS on a gp3 made from a snapshot an hour ago",
	Good:   "the same after plimsoll array warm: 1,640 IOPS",
	Ignore: "When you measure the first touch.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if t, ok := c.Loading(m); ok {
				load := "plimsoll array warm /dev/" + t.Device
				if t.File != "" {
					load = "plimsoll array warm --files " + text.ShellQuote(t.File)
				}
				report(finding.Finding{
					Subject: m.Label(), Scenarios: m.IDs(), Evidence: t.Evidence(),
					Message:  fmt.Sprintf("%s reads from a volume that was still loading. %s", m.Label(), t.Sentence()),
					Commands: []string{load},
				})
			}
		}
	},
}

// slowNotQueued is PL507: PL501 may not say "not by the storage" of a volume that is slow by itself.
var slowNotQueued = &diagnose.Rule{
	Code:     "PL507",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "the volume is slow, not the queue",
	When: "As PL501, but the latency misses the scenario's own threshold in mean and median, or is more " +
		"than 3 times what the volumes state, or PL320 is claimed.",
	Why: "More in flight hides a slow volume behind a higher figure. A volume that takes 43 ms at depth 1 " +
		"instead of a stated 1 ms is broken, throttled, or reads blocks for the first time.",
	Fix: "plimsoll check --probe detects a first touch, plimsoll why watches the machine at work. Then " +
		"ask the provider.",
	Bad:    "depth 1 on gp3: 43.1 ms, stated 0.6 to 1 ms",
	Good:   "16 psync jobs on 4 volumes: 0.60 ms, stated 0.6 to 1 ms (PL501)",
	Ignore: "When the stated latency is not of this volume.",
	After:  []finding.Code{"PL401", "PL413", "PL424"},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if !c.KeepsItsDepth(m) {
				continue
			}
			if why, ok := c.SlowItself(m); ok {
				report(slowFinding(c, m, why))
			}
		}
	},
}

func slowFinding(c *diagnose.Case, m diagnose.Measurement, why string) finding.Finding {
	mean := units.Latency(m.MeanLatency())
	f := finding.Finding{
		Subject: m.Label(), Scenarios: m.IDs(),
		Message: fmt.Sprintf("%s takes %s per I/O with %s in flight: the volume is slow, not the queue. %s", m.Label(), mean,
			text.Plural(m.InFlight(), "I/O"), why),
		Evidence: []finding.Evidence{{
			What: "mean latency", Found: mean.String(), Where: "fio, " + text.Plural(m.InFlight(), "I/O") + " in flight",
		}},
		Commands: []string{"plimsoll check --probe"},
	}
	if typical := c.StatedLatency(m); typical > 0 {
		most := units.LatencyOf(diagnose.SlowTimes * typical)
		f.Evidence[0].Expected = "at most " + most.String() + ", 3 times what the volumes state"
	}
	return f
}
