package diagnose

import (
	"fmt"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
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

// Touch is what pairs of reads said of a volume: which share of it is not loaded from its snapshot
// yet. Times are in nanoseconds.
type Touch struct {
	Device string `json:"device"`
	// File is the file in whose own pieces the pairs were read, empty for the whole volume.
	File   string      `json:"file,omitempty"`
	Pieces int64       `json:"pieces"` // of 512 KiB
	Size   units.Bytes `json:"size"`
	stats.Paired
	Took time.Duration `json:"took_ns"`
}

// Left is how long reading all that is not loaded takes at depth 32, at what one first touch takes.
func (t Touch) Left() time.Duration {
	const depth = 32
	return time.Duration(t.Share * float64(t.Pieces) * t.First / depth)
}

// Sentence says what a test found.
func (t Touch) Sentence() string {
	of := t.Device
	if t.File != "" {
		of = t.File
	}
	first, again := units.Latency(t.First), units.Latency(t.Again)
	switch {
	case t.Pairs < touchedLeast: // whatever a few reads took
		return fmt.Sprintf("Cannot tell whether %s has been fully loaded from its snapshot: it is too small to tell.", of)
	case t.Unsure:
		return fmt.Sprintf(
			"Cannot tell whether %s is loaded from its snapshot: first reads take %s and others %s, but they vary "+
				"too much (others are using it); test again when it is quiet.",
			of,
			first,
			again,
		)
	case t.Claimed:
		return finding.Says("About %v (%v to %v) of %s is not loaded from its snapshot: first reads %s, others %s; "+
			"plimsoll array warm loads it in about %s.",
			t.Share, t.Low, t.High, of, first,
			again, t.Left())
	}
	return fmt.Sprintf("%s is fully loaded (first reads %s, others %s).", of, first, again)
}

// touchedLeast is the fewest pairs that say anything.
const touchedLeast = 60

// Tells is whether there were pairs enough to tell whether anything is to be loaded.
func (t Touch) Tells() bool { return t.Pairs >= touchedLeast && !t.Unsure }

// Loading is the test that claims that a scenario read what was not loaded. What plimsoll wrote
// itself is loaded where it was written: there the file decides.
func (c *Case) Loading(m Measurement) (Touch, bool) {
	if !m.Any(fio.Workload.Reads) {
		return Touch{}, false
	}
	a := c.ArrayOf(m)
	for _, t := range c.Touches {
		if !t.Claimed || (t.File != "") != m.Prefilled || a == nil {
			continue
		}
		for _, v := range a.Volumes {
			if v.Device == t.Device {
				return t, true
			}
		}
	}
	return Touch{}, false
}

// SlowTimes is how many times the stated latency a mean is before the volume itself counts as slow.
const SlowTimes = 3.0

// SlowItself is whether a run's latency is the storage's own fault, and by which sign.
func (c *Case) SlowItself(m Measurement) (why string, ok bool) {
	if t, ok := c.Loading(m); ok {
		return t.Sentence(), true
	}
	mean := m.MeanLatency()
	typical := c.StatedLatency(m)
	if typical > 0 && mean > SlowTimes*float64(typical) && m.shallow(c) {
		return fmt.Sprintf("The volumes state %s.", units.LatencyOf(typical)), true
	}
	// A few late I/Os make a mean, be it the host's own doing: on a slow volume half of them are late.
	median := m.medianLatency()
	if t, ok := m.missed(); ok && m.shallow(c) && mean > c.restingLatency(m) &&
		(median == 0 || median > float64(t.Limit.Latency)) {
		return fmt.Sprintf("The scenario asks for %s.", t.Text), true
	}
	return "", false
}

// missed is a threshold on a latency that even the mean of a run is above.
func (m Measurement) missed() (suite.Threshold, bool) {
	for _, t := range m.Scenario.Thresholds {
		q := t.Metric.Quantity
		if (q == suite.Clat || q == suite.Lat) && t.Limit.Latency > 0 && !t.Metric.IsShare() && !m.Syncs() &&
			m.MeanLatency() > float64(t.Limit.Latency) {
			return t, true
		}
	}
	return suite.Threshold{}, false
}

// KeepsItsDepth is whether a run is a closed loop whose I/Os were in flight, and no more than
// concurrency.
func (c *Case) KeepsItsDepth(m Measurement) bool {
	asked, mean := m.InFlight(), m.MeanLatency()
	return asked > 0 && mean > 0 && !m.HeldBack() && !m.Any(Buffered) && !m.Reached() &&
		float64(m.IOPS())*mean/1e9 >= fullFlight*float64(asked)
}

// StatedLatency is what the volumes of a run state of its direction, 0 where they do not.
func (c *Case) StatedLatency(m Measurement) (typical time.Duration) {
	if m.Syncs() {
		return 0
	}
	return c.usualLatency(m)
}

func (c *Case) usualLatency(m Measurement) (typical time.Duration) {
	a := c.ArrayOf(m)
	if a == nil {
		return 0
	}
	for _, v := range a.Volumes {
		if m.Any(fio.Workload.Reads) {
			typical = max(typical, v.ReadLatency)
		}
		if m.Any(fio.Workload.Writes) {
			typical = max(typical, v.WriteLatency)
		}
	}
	return typical
}

// shallow is whether no more is in flight than volumes, so that no queue makes the latency.
func (m Measurement) shallow(c *Case) bool {
	return m.InFlight() > 0 && m.InFlight() <= c.volumes(m)
}

// Shown adds the figures of a test to a finding.
func (t Touch) Shown(f finding.Finding) finding.Finding {
	return f.Saw("not loaded", finding.Says("%v (%v to %v)", t.Share, t.Low,
		t.High),
		"below 15 %", fmt.Sprintf("%d pairs of reads", t.Pairs)).
		Saw("first read of a piece", units.Latency(t.First), units.Latency(t.Again).String()+", like the second one",
			"medians")
}
