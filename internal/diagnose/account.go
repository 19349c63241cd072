package diagnose

import (
	"fmt"
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

// account explains what lies between a bound of the hardware and what was measured. Causes are
// tried in the order in which they are certain: what was counted (the drain, split I/Os, copies,
// members without I/O, other load, exceeded limits), what volumes gave alone (a probe), then what
// ends a closed loop (CPU, depth, latency at rest), then what shows in latencies alone (a slow
// member, a tail). Nil where there is no gap.
func (c *Case) account(m Measurement, b ceiling.Bound) *finding.Account {
	return finding.NewAccount(
		float64(b.IOPS), float64(m.iops()), slices.Concat(c.provenCauses(m, b), c.latencyCauses(m)))
}

// provenAccount has no cause that latencies alone show: where a gap is small, those of healthy
// members look alike.
func (c *Case) provenAccount(m Measurement, b ceiling.Bound) *finding.Account {
	return finding.NewAccount(float64(b.IOPS), float64(m.iops()), c.provenCauses(m, b))
}

func (c *Case) provenCauses(m Measurement, b ceiling.Bound) []finding.Factor {
	return slices.Concat(
		m.drainCauses(), c.countedCauses(m, b), limitCauses(m, b), c.probeCauses(m, b), cpuCauses(m), c.loopCauses(m, b))
}

// limitCauses are limits that EBS counted, and bursts that ran out.
func limitCauses(m Measurement, b ceiling.Bound) []finding.Factor {
	var out []finding.Factor
	gap := float64(m.iops() / b.IOPS)
	for _, by := range []struct {
		cause finding.Cause
		of    func(cloud.EBSStats) (iops, rate time.Duration)
	}{{finding.Instance, ofMachine}, {finding.VolumeLimit, ofVolume}} {
		if what, share, _ := m.exceeded(by.of); share > 0 {
			out = append(out, finding.Factor{
				Cause:  by.cause,
				Factor: math.Pow(gap, share),
				How: fmt.Sprintf(
					"its limit on %s was exceeded for %s of the run (EBS counters)",
					what,
					text.Percent(share),
				),
			})
		}
	}
	if low, ok := lasting(m.Ceiling); ok {
		if level := rateAtEnd(m.Result); level > 0 && level <= (1+dryLevel)*float64(low.IOPS) {
			out = append(out, finding.Factor{
				Cause:  finding.BurstSpent,
				Factor: max(gap, float64(low.IOPS/b.IOPS)),
				How: fmt.Sprintf(
					"the end ran at %s IOPS, and %s are sustained",
					units.IOPS(math.Round(level)),
					low.IOPS,
				),
			})
		}
	}
	return out
}

// cpuCauses are a core that fio fills, and what others and the hypervisor took. A full core ends
// the closed loop: the rest of the gap is its.
func cpuCauses(m Measurement) []finding.Factor {
	var out []finding.Factor
	own := 0.0
	for _, j := range m.Result.Jobs {
		own += (j.CPU.User + j.CPU.System) * float64(max(j.Count, 1))
	}
	h := m.Result.Host
	if h != nil && h.Steal >= stolen {
		out = append(
			out,
			finding.Factor{
				Cause:  finding.CPU,
				Factor: 1 - h.Steal,
				How:    "the hypervisor took " + text.Percent(h.Steal) + " of the CPU",
			},
		)
	}
	for _, j := range m.Result.Jobs {
		if use := j.CPU.User + j.CPU.System; use >= coreFull {
			return append(
				out,
				finding.Factor{
					Cause:  finding.CPU,
					Who:    j.Name,
					Factor: math.SmallestNonzeroFloat64,
					How:    "each job of " + j.Name + " fills its core (" + text.Percent(use) + ")",
				},
			)
		}
	}
	if h != nil && h.CPUs > 0 && h.User+h.System+h.IRQ+h.SoftIRQ >= hostFull {
		how := "the host's cores are full"
		if foreign := h.User + h.System - own/float64(h.CPUs); foreign >= foreignCPU {
			how += ", " + text.Percent(foreign) + " with other processes"
		}
		out = append(out, finding.Factor{Cause: finding.CPU, Factor: math.SmallestNonzeroFloat64, How: how})
	}
	return out
}

// loopCauses are those of the closed loop itself: I/Os in flight over latency is all that it can
// do.
func (c *Case) loopCauses(m Measurement, b ceiling.Bound) []finding.Factor {
	asked, got := m.inFlight(), m.little()
	if asked == 0 || m.any(paced) {
		return nil
	}
	var out []finding.Factor
	if got > 0 && !m.syncs() && asked >= deepEnough && got < depthReached*float64(asked) {
		out = append(
			out,
			finding.Factor{
				Cause:  finding.Depth,
				Factor: got / float64(asked),
				How:    fmt.Sprintf("%s of %d I/Os were in flight", units.Number(got), asked),
			},
		)
	}
	rest := float64(c.typicalLatency(m))
	switch {
	case rest > 0 && !m.syncs():
		possible := float64(asked) / rest * 1e9
		out = append(out, finding.Factor{
			Cause:  finding.RestLatency,
			Factor: possible / float64(b.IOPS),
			How: fmt.Sprintf(
				"%d in flight ÷ %s, the volumes' latency at rest, are %s IOPS",
				asked,
				units.Latency(rest),
				units.IOPS(possible),
			),
		})
	case c.isConcurrencyBound(m):
		out = append(out, finding.Factor{
			Cause: finding.RestLatency, Factor: math.SmallestNonzeroFloat64,
			How: fmt.Sprintf("%d in flight ÷ %s, measured without a queue", asked, units.Latency(m.meanLatency())),
		})
	}
	return out
}

// latencyCauses are what only latencies show: how much faster a closed loop would turn if a member,
// or the tail, were like the rest.
func (c *Case) latencyCauses(m Measurement) []finding.Factor {
	var out []finding.Factor
	a := c.arrayOf(m)
	_, probed := c.probed(a) // which shows slow members better
	if l, ok := c.lagIn(m); ok && !probed && l.deep && l.ratio() >= stragglerShallow && l.busyAlone() &&
		(a == nil || a.Degraded == 0) {
		n, sum := 0.0, 0.0
		for _, d := range c.leaves(m) {
			n, sum = n+d.n, sum+d.n*d.wait
		}
		out = append(out, finding.Factor{
			Cause:  finding.SlowMember,
			Who:    l.slow[0].name,
			Factor: l.peers * n / sum,
			How: fmt.Sprintf(
				"%s takes %s a request, its peers %s",
				l.slow[0].name,
				units.Latency(l.slow[0].wait),
				units.Latency(l.peers),
			),
		})
	}
	if p50, mean := m.medianLatency(), m.meanLatency(); p50 > 0 && mean >= slowTail*p50 {
		out = append(out, finding.Factor{
			Cause:  finding.Tail,
			Factor: p50 / mean,
			How: fmt.Sprintf(
				"the mean latency (%s) is %s the median (%s): a slow part of the I/Os holds the queue",
				units.Latency(mean),
				text.Times(mean/p50),
				units.Latency(p50),
			),
		})
	}
	return out
}

// medianLatency is that of a single direction, in nanoseconds, 0 where it is not known. The median
// of several jobs lies between theirs; the largest then stands for it.
func (m Measurement) medianLatency() float64 {
	t := m.Result.Total
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
	for _, j := range m.Result.Jobs {
		if p50, ok := of(j).Clat.At(50); ok {
			most = max(most, float64(p50))
		}
	}
	return most
}
