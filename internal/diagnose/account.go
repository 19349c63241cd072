package diagnose

import (
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// slowTail times the median is a mean that few, slow I/Os make: 1.44 is an exponential
	// distribution's. (Round 15 of the striped P4510: 9.4.)
	slowTail = 2
	// foreignShare of what a device did, above what fio's I/Os explain, is someone else's: below
	// lie journals and the edges of the window.
	foreignShare = 0.02
)

// Account explains what lies between a bound of the hardware and what was measured. Causes are
// tried in the order in which they are certain: what was counted (the drain, split I/Os, copies,
// members without I/O, other load, exceeded limits), what volumes gave alone (a probe), then what
// ends a closed loop (CPU, depth, idle latency), then what shows in latencies alone (a slow
// member, a tail). Nil where there is no gap.
func (c *Case) Account(m Measurement, b ceiling.Bound) *finding.Account {
	return finding.NewAccount(float64(b.IOPS), float64(m.IOPS()), slices.Concat(c.provenCauses(m, b), c.latencyCauses(m)))
}

// ProvenAccount has no cause that latencies alone show: where a gap is small, those of healthy
// members look alike.
func (c *Case) ProvenAccount(m Measurement, b ceiling.Bound) *finding.Account {
	return finding.NewAccount(float64(b.IOPS), float64(m.IOPS()), c.provenCauses(m, b))
}

func (c *Case) provenCauses(m Measurement, b ceiling.Bound) finding.Factors {
	return slices.Concat(
		m.drainCauses(), c.countedCauses(m, b), limitCauses(m, b), c.probeCauses(m, b), cpuCauses(m), c.loopCauses(m, b))
}

// limitCauses are limits that EBS counted, and bursts that ran out.
func limitCauses(m Measurement, b ceiling.Bound) (out finding.Factors) {
	gap := float64(m.IOPS() / b.IOPS)
	for _, by := range []struct {
		cause finding.Cause
		of    func(cloud.EBSStats) (iops, rate time.Duration)
	}{{finding.Instance, OfMachine}, {finding.VolumeLimit, OfVolume}} {
		if what, share, _ := m.Exceeded(by.of); share > 0 {
			out.Add(by.cause, "", math.Pow(gap, share), "its limit on %s was exceeded for %v of the run (EBS counters)", what,
				share)
		}
	}
	return append(out, burstCause(m, gap, b)...)
}

const (
	// atSustained is how near the mean of a run must be to what is sustained, from below, where no
	// series shows how the run ended: an import, a run of few seconds.
	atSustained = 0.97
	// edges of a run are the time in which its queue fills and drains: its mean may be lower by as
	// much as they are of it. (Of 8 s in the lab at 29.8 MiB/s: 26 to 28.)
	edges = time.Second
	// leastSustained is the least share of a sustained limit at which that limit is a cause: what
	// does less is held back by something else, however long its burst has been spent.
	leastSustained = 0.85
)

// burstCause is a burst that ran out, during the run or before it.
func burstCause(m Measurement, gap float64, b ceiling.Bound) (out finding.Factors) {
	if m.Ceiling == nil {
		return nil
	}
	low := m.Ceiling.Lasting()
	if low == nil {
		return nil
	}
	spent, sustained := finding.BurstSpent, max(gap, float64(low.IOPS/b.IOPS))
	level := rateAtEnd(m.Result)
	at, least := float64(m.IOPS()/low.IOPS), leastSustained
	mean, burst, outlasts := m.Ceiling.Over(m.Measured)
	if ran := m.Measured; ran > 0 {
		least = max(least, atSustained-float64(edges)/float64(ran))
	}
	switch {
	case level >= leastSustained*float64(low.IOPS) && level <= (1+DryLevel)*float64(low.IOPS):
		out.Add(spent, "", sustained, "the run ended at %s IOPS, and %s are sustained (%s)", units.IOPS(math.Round(level)),
			low.IOPS, low.Kind)
	case level == 0 && outlasts && math.Abs(float64(m.IOPS()/mean)-1) <= 1-atSustained:
		out.Add(spent, "", gap,
			"the burst ended after %s: over the %s of the run %s allows %s IOPS on average, and then %s",
			burst, m.Measured, low.Kind, units.IOPS(math.Round(float64(mean))), low.IOPS)
	case level == 0 && at >= least && at <= 1+DryLevel:
		out.Add(spent, "", sustained, "the run is at the sustained limit of %s, %s IOPS: its burst is spent", low.Kind,
			low.IOPS)
	}
	return out
}

// cpuCauses are a core that fio fills, and what others and the hypervisor took. A full core ends
// the closed loop: the rest of the gap is its.
func cpuCauses(m Measurement) (out finding.Factors) {
	own, _ := m.CPU()
	h := m.Host
	if h != nil && h.Steal >= Stolen {
		out.Add(finding.CPU, "", 1-h.Steal, "the hypervisor took %v of the CPU", h.Steal)
	}
	for _, j := range m.Jobs {
		if use := j.CPU.User + j.CPU.System; use >= CoreFull {
			out.Add(finding.CPU, j.Name, math.SmallestNonzeroFloat64, "each job of %s fills its core (%v)", j.Name,
				use)
			return out
		}
	}
	if h != nil && h.CPUs > 0 && h.User+h.System+h.IRQ+h.SoftIRQ >= HostFull {
		others := ""
		if foreign := h.User + h.System - own/float64(h.CPUs); foreign >= ForeignCPU {
			others = ", " + text.Percent(foreign) + " with other processes"
		}
		out.Add(finding.CPU, "", math.SmallestNonzeroFloat64, "the host's cores are full%s", others)
	}
	return out
}

// loopCauses are those of the closed loop itself: I/Os in flight over latency is all that it can
// do.
func (c *Case) loopCauses(m Measurement, b ceiling.Bound) (out finding.Factors) {
	asked, got := m.InFlight(), m.Little()
	if asked == 0 || m.HeldBack() {
		return nil
	}
	if got > 0 && !m.Syncs() && asked >= DeepEnough && got < DepthReached*float64(asked) {
		out.Add(finding.Depth, "", got/float64(asked), "%s of %d I/Os were in flight", units.Number(got), asked)
	}
	rest := float64(c.typicalLatency(m))
	switch {
	case rest > 0 && !m.Syncs():
		possible := float64(asked) / rest * 1e9
		out.Add(finding.RestLatency, "", possible/float64(b.IOPS),
			"%d in flight ÷ %s, the volumes' idle latency, are %s IOPS", asked, units.Latency(rest), units.IOPS(possible))
		if _, slow := c.SlowItself(m); slow {
			out.Add(finding.SlowVolume, "", rest/m.MeanLatency(), "an I/O takes %s, the volumes state %s",
				units.Latency(m.MeanLatency()), units.Latency(rest))
		}
	case c.IsConcurrencyBound(m):
		out.Add(finding.RestLatency, "", math.SmallestNonzeroFloat64, "%d in flight ÷ %s, measured without a queue", asked,
			units.Latency(m.MeanLatency()))
	}
	return out
}

// latencyCauses are what only latencies show: how much faster a closed loop would turn if a member,
// or the tail, were like the rest.
func (c *Case) latencyCauses(m Measurement) (out finding.Factors) {
	a := c.ArrayOf(m)
	_, probed := c.Probed(a) // which shows slow members better
	if l, ok := c.LagIn(m); ok && !probed && l.Deep && l.Ratio() >= StragglerShallow && l.BusyAlone() &&
		(a == nil || a.Degraded == 0) {
		n, sum := 0.0, 0.0
		for _, d := range c.leaves(m) {
			n, sum = n+d.N, sum+d.N*d.Wait
		}
		out.Add(finding.SlowMember, l.Slow[0].Name, l.Peers*n/sum, "%s takes %s per request, its peers %s", l.Slow[0].Name,
			units.Latency(l.Slow[0].Wait), units.Latency(l.Peers))
	}
	if p50, mean := m.medianLatency(), m.MeanLatency(); p50 > 0 && mean >= slowTail*p50 {
		names, how := c.Gathers(m)
		if names != "" && !probed {
			how = "; it waits on " + names + ": " + how
		} else {
			names, how = "", ""
		}
		out.Add(finding.Tail, names, p50/mean,
			"the mean latency (%s) is %s the median (%s): a few slow I/Os hold up the queue%s",
			units.Latency(mean), text.Times(mean/p50), units.Latency(p50), how)
	}
	return out
}

// medianLatency is that of a single direction, in nanoseconds, 0 where it is not known. The median
// of several jobs lies between theirs; the largest then stands for it.
func (m Measurement) medianLatency() float64 {
	t := m.Total
	if Ran(t.Read) == Ran(t.Write) {
		return 0
	}
	of := func(j fio.Job) fio.Direction {
		if Ran(t.Read) {
			return j.Read
		}
		return j.Write
	}
	if p50, ok := of(t).Clat.At(50); ok {
		return float64(p50)
	}
	most := 0.0
	for _, j := range m.Jobs {
		if p50, ok := of(j).Clat.At(50); ok {
			most = max(most, float64(p50))
		}
	}
	return most
}

// DeepEnough to speak of a queue at all.
const DeepEnough = 4

// DepthReached of what was asked counts as achieved: the ends of a run and fio's own work take
// some.
const DepthReached = 0.8

// Little is the mean number of I/Os in flight by Little's law, 0 when latency was not recorded.
func (m Measurement) Little() float64 {
	if l := m.Depth.Little; l > 0 {
		return l
	}
	return float64(m.IOPS()) * m.MeanLatency() / 1e9
}

// CoreFull is the share of a core, user and system, from which on a fio job has no room to submit
// faster.
const CoreFull = 0.90

// ForeignCPU is the share of all cores, used by others than fio on a full host, from which on they
// decide the figure.
const ForeignCPU = 0.30

// HostFull is the share of all cores from which on none is free.
const HostFull = 0.95

// Stolen is the share of all cores, taken by the hypervisor, from which on latencies of microseconds
// are not the storage's.
const Stolen = 0.05
