package run

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

func measuredLoading(c *facts, m measurement) (f fault) {
	t, ok := c.Loading(m)
	if !ok {
		return f
	}
	load := "plimsoll array warm " + text.ShellQuote("/dev/"+t.Device)
	if t.File != "" {
		load = "plimsoll array warm --files " + text.ShellQuote(t.File)
	}
	return t.Shown(m.Finds("%s reads from a volume that was still loading. %s", m.Label(), t.Sentence())).
		Run(load)
}

// slowNotQueued is PL507: PL501 may not say "not by the storage" of a volume that is slow by itself.
func slowNotQueued(c *facts, m measurement) (f fault) {
	why, slow := c.SlowItself(m)
	if !slow || !c.KeepsItsDepth(m) {
		return f
	}
	mean, inFlight := units.Latency(m.MeanLatency()).String(), text.Plural(m.InFlight(), "I/O")+" in flight"
	expected := ""
	if typical := c.StatedLatency(m); typical > 0 {
		expected = fmt.Sprintf("at most %s, 3 times what the volumes state", units.LatencyOf(diagnose.SlowTimes*typical))
	}
	return m.Finds("%s takes %s per I/O with %s: the volume is slow, not the queue. %s", m.Label(), mean, inFlight, why).
		Saw("mean latency", mean, expected, "fio, "+inFlight).
		Run("plimsoll check --probe")
}
