package ceiling

import (
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// A concurrency bound from the measured latency says something only while that latency is the
// storage's own. Once I/Os queue, latency is queue over throughput, Little's law returns the
// throughput that was measured, and every result would be 100 % of its ceiling. So the bound is
// left out where queueing shows: many I/Os in flight for each volume, large transfers, or a mean
// far above the fast tenth of the I/Os.
const (
	shallowPerVolume = 16        // I/Os in flight for each volume; synchronous tests of EBS use 16 jobs
	smallIO          = 128 << 10 // bytes; above it a transfer's own time at the throughput limit dominates
	queueShape       = 2.0       // mean latency over its 10th percentile
	atLimitWithin    = 0.05      // of a limit; farther below it the I/Os in flight explain the figure
)

// Measured is c for the mix of directions and sizes that r measured. Unless c has the concurrency
// bound of a declared latency, it gets that of the latency that r measured, where that is the
// storage's own. A single I/O in flight never queues behind another, so its mean always counts.
func (c Ceiling) Measured(r *result.Result, volumes int) Ceiling {
	if !c.Known() || r.State != result.Done || len(r.Workloads) == 0 {
		return c
	}
	c = c.ofMix(r)
	if b := c.Concurrency(); b != nil && b.Origin.Kind == topology.Declared {
		return c // what was promised is a ceiling; what was measured would make any figure 100 % of it
	}
	inFlight, large := 0, false
	for _, w := range r.Workloads {
		inFlight += w.InFlight()
		large = large || max(w.ReadBS, w.WriteBS) > smallIO
	}
	if n, _ := r.Total.Rates(); inFlight > 1 && (large || inFlight > shallowPerVolume*max(volumes, 1) ||
		c.atLimit(n, r.Measured) || queued(r.Total.Read) || queued(r.Total.Write)) {
		return c
	}
	// An old fio does not measure syncs with libaio; they were made all the same.
	synced := r.Total.Sync.Lat.N > 0 || r.Workloads[0].SyncEvery > 0 && !fio.Synchronous(r.Workloads[0].Engine)
	write := mean(r.Total.Write)
	switch {
	case !synced:
	case fio.Synchronous(r.Workloads[0].Engine): // waits for the write, then for the sync
		write += time.Duration(r.Total.Sync.Lat.Mean)
	case inFlight == 1 && r.Total.Write.IOPS > 0:
		// An asynchronous engine's write and sync overlap in fio's figures (3.33 measured: 0.81 and
		// 0.86 ms in a cycle of 1.02, for its sync includes the write), so neither is the time from
		// one write to the next. That is what the rate says.
		write = time.Duration(float64(time.Second) / float64(r.Total.Write.IOPS))
	default:
		return c
	}
	return c.WithLatency(mean(r.Total.Read), write, inFlight,
		topology.Origin{Kind: topology.Measured, Where: "latency of this scenario"})
}

// atLimit says that so many IOPS are what a limit of the hardware gives, at first, once bursts are spent, or in
// the mean of a run that outlasted a burst: there a closed loop's latency is the limit's effect, and Little's
// law returns the throughput.
func (c Ceiling) atLimit(iops units.IOPS, run time.Duration) bool {
	var limits []units.IOPS
	if mean, _, outlasts := c.Over(run); outlasts {
		limits = append(limits, mean)
	}
	for _, b := range []*Bound{c.Hardware(), c.Lasting()} {
		if b != nil {
			limits = append(limits, b.IOPS)
		}
	}
	return slices.ContainsFunc(limits, func(l units.IOPS) bool {
		return iops >= l*(1-atLimitWithin) && iops <= l*(1+atLimitWithin)
	})
}

// queued says that a direction's mean latency is far above that of its fast I/Os.
func queued(d fio.Direction) bool {
	l := latency(d)
	fast, ok := l.At(10)
	return ok && l.Mean > queueShape*float64(fast)
}

// latency from submission to completion where it was measured, else completion alone.
func latency(d fio.Direction) fio.Latency {
	if _, ok := d.Lat.At(10); ok || d.Lat.Measured() && !d.Clat.Measured() {
		return d.Lat
	}
	return d.Clat
}

// mean latency of a direction, submission included where it was recorded.
func mean(d fio.Direction) time.Duration { return time.Duration(max(d.Lat.Mean, d.Clat.Mean)) }
