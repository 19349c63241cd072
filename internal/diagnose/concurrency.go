package diagnose

import (
	"time"

	"plimsoll/internal/ceiling"
)

// IsConcurrencyBound says that what the jobs keep in flight limits a run, and not the storage.
func (c *Case) IsConcurrencyBound(m Measurement) bool {
	asked, mean := m.InFlight(), m.MeanLatency()
	if asked == 0 || mean <= 0 || m.HeldBack() || m.Any(Buffered) || m.Reached() {
		return false
	}
	if m.Ceiling != nil {
		if mean, _, outlasts := m.Ceiling.Over(m.Measured); outlasts && m.IOPS() >= NearCeiling*mean {
			return false // it did what was allowed, over a time in which the burst ended
		}
	}
	_, slow := c.SlowItself(m)
	if _, missed := m.missed(); slow || missed && m.shallow(c) {
		return false // Little's law holds of a slow volume, too: it is no cause there
	}
	volumes := c.volumes(m)
	if m.Ceiling != nil { // the ceiling itself may know, from a measured or stated latency
		b := m.Ceiling.Binding()
		if b != nil && b.Kind == ceiling.Concurrency && m.IOPS() >= fullFlight*b.IOPS &&
			// The run's own latency counts only as far as no queue has made it.
			(!b.SelfMeasured() || asked <= volumes || mean <= c.restingLatency(m)) {
			return true
		}
	}
	if l := float64(m.IOPS()) * mean / 1e9; l < fullFlight*float64(asked) {
		return false
	}
	return asked <= shallowPerVolume*volumes && mean <= c.restingLatency(m)
}

// restingLatency is the most that a mean may be, in nanoseconds, without a queue having made it.
func (c *Case) restingLatency(m Measurement) float64 {
	typical := c.usualLatency(m)
	switch {
	case typical > 0 && !m.Syncs():
		return unloaded * float64(typical)
	case m.Syncs(): // a synced EBS write takes longer than a write: 1.858 ms at depth 1 (disk-benchmark-guide.md)
		return max(unloaded*float64(typical), 2*float64(unloadedGuess))
	}
	return float64(unloadedGuess)
}

// fullFlight of what may be outstanding was: the job keeps its depth, so Little's law ties IOPS
// to latency.
const fullFlight = 0.85

// shallowPerVolume I/Os in flight are still concurrency; more is a queue (as in package
// ceiling).
const shallowPerVolume = 16

// unloaded is how far above a volume's typical latency at depth 1 a mean may be that no queue
// made.
const unloaded = 2.0

// unloadedGuess where no typical latency is known: EBS SSD volumes answer in 0.3 to 1 ms when
// they do not queue, as in testdata/seeds (0.40 to 0.60 ms).
const unloadedGuess = 1500 * time.Microsecond
