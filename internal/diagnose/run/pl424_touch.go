package run

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

var measuredLoading = &diagnose.Rule{
	Code: "PL424",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if t, ok := c.Loading(m); ok {
				load := "plimsoll array warm " + text.ShellQuote("/dev/"+t.Device)
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
	Code: "PL507",
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
