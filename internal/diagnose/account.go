package diagnose

import (
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
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
			out.Add(finding.CPU, j.Name, math.SmallestNonzeroFloat64, "each job of %s saturates its core (%v)", j.Name,
				use)
			return out
		}
	}
	if h != nil && h.CPUs > 0 && h.User+h.System+h.IRQ+h.SoftIRQ >= HostFull {
		others := ""
		if foreign := h.User + h.System - own/float64(h.CPUs); foreign >= ForeignCPU {
			others = ", " + text.Percent(foreign) + " with other processes"
		}
		out.Add(finding.CPU, "", math.SmallestNonzeroFloat64, "the host's cores are fully busy%s", others)
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
			"%d in flight ÷ %s, the volumes' idle latency, gives %s IOPS", asked, units.Latency(rest), units.IOPS(possible))
		if _, slow := c.SlowItself(m); slow {
			out.Add(finding.SlowVolume, "", rest/m.MeanLatency(), "an I/O takes %s; the volumes are rated at %s",
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

// countedCauses are those that device counters prove.
func (c *Case) countedCauses(m Measurement, b ceiling.Bound) (out finding.Factors) {
	a := c.ArrayOf(m)
	if modelled, seen, ok := c.splitCause(m); ok {
		out.Add(finding.Split, "", splitFactor(m.Ceiling, b, modelled/seen),
			"%s device I/Os per I/O; the ceiling counts %s", text.Factor(seen), text.Factor(modelled))
	}
	if modelled, seen := c.copies(m); seen > modelled {
		out.Add(finding.Copies, "", modelled/seen, "members write %s times for each write; the ceiling counts %s",
			text.Factor(seen), text.Factor(modelled))
	}
	if resting, all := c.restingMembers(m); len(resting) > 0 {
		cause, why := finding.IdleMembers, ""
		if a != nil && a.Level.Mirrored() && IsSyncing(a) {
			cause, why = finding.Rebuild, ", since md reads what is not in sync from the first mirror"
		}
		out.Add(cause, "", float64(all-len(resting))/float64(all), "%d of %d members did no I/O%s", len(resting), all, why)
	}
	if share, who := c.foreignLoad(m, b); share >= foreignShare {
		cause, factor := finding.OtherLoad, 1-share
		if a != nil && IsSyncing(a) {
			// The ceiling leaves that out.
			cause, factor = finding.Rebuild, min(factor/(1-ceiling.RebuildTakes(a, b.Kind)), 1)
		}
		out.Add(cause, who, factor, "%v of the I/O on %s was not fio's", share, who)
	}
	return out
}

// Splits is how many volume I/Os the ceiling counts for one random read, and how many devices
// counted; 0 for the second where that is not known: writes have copies, and sequential I/Os are
// merged.
func (c *Case) Splits(m Measurement) (modelled, seen float64) {
	a := c.ArrayOf(m)
	if a == nil || len(m.Workloads) != 1 || a.Level.Parity() > 0 || a.Degraded > 0 {
		return 0, 0
	}
	w := m.Workloads[0]
	if w.Sequential || w.Writes() || w.ReadBS == 0 {
		return 0, 0
	}
	modelled = 1.0
	if a.Level.Striped() {
		modelled = min(topology.Pieces(w.ReadBS, a.Chunk), float64(a.Geometry().StripeMembers()))
	}
	if m.LooseEdge() {
		return modelled, 0
	}
	if len(m.Devices) == 0 || m.Total.Read.N == 0 {
		return modelled, SplitSeen(m.Result)
	}
	// An array's own count is too high: md counts what is left of an I/O again after each split.
	sum := 0.0
	for _, d := range membersOf(a, m.Devices) {
		sum += float64(d.Reads)
	}
	if sum == 0 {
		sum = float64(m.Devices[0].Reads)
	}
	return modelled, sum / float64(m.Total.Read.N)
}

// looseShare of a run is how long it may be uncertain whether the ramp had ended.
const looseShare = 0.02

// LooseEdge says that documents of fio are missing around the end of the ramp, as where the machine
// stood still: what devices counted then covers more than what fio did.
func (m Measurement) LooseEdge() bool {
	s := m.Seconds
	first := slices.IndexFunc(s, func(s result.Second) bool { return !s.Ramp })
	if first < 1 {
		return false
	}
	return float64(s[first].At-s[first].Len-s[first-1].At) > looseShare*float64(m.Measured)
}

// splitCause is that more I/Os reached the devices than the ceiling counts, by as much as another
// chunk makes of them: other counts are not splits. Pieces that lie side by side on a member reach
// it as one I/O, so that a small chunk makes one for each member.
func (c *Case) splitCause(m Measurement) (modelled, seen float64, ok bool) {
	modelled, seen = c.Splits(m)
	if seen <= modelled {
		return 0, 0, false
	}
	if n := float64(c.ArrayOf(m).Geometry().StripeMembers()); n > 1 && math.Abs(seen-n) <= ChunkSlack*n {
		return modelled, seen, true
	}
	_, sure := ceiling.InferChunk(m.Workloads[0].ReadBS, seen, 1)
	return modelled, seen, sure >= SureChunk
}

// splitFactor is what remains of a bound when the volumes' IOPS allow only a share of what was
// computed, 1 where they still allow as much: a bound of throughput may lie below theirs.
func splitFactor(all *ceiling.Ceiling, b ceiling.Bound, share float64) float64 {
	allowed := 0.0
	if b.Kind == ceiling.VolumeIOPS {
		allowed = float64(b.IOPS)
	} else if all != nil {
		for _, v := range all.Bounds {
			if v.Kind == ceiling.VolumeIOPS {
				allowed = max(allowed, float64(v.IOPS)) // in a burst, where there is one
			}
		}
	}
	if allowed == 0 {
		return 1
	}
	return min(1, allowed*share/float64(b.IOPS))
}

// foreignLoad is the share of the busiest device's work that fio did not ask for, in what limits
// (I/Os or bytes), from telemetry.
func (c *Case) foreignLoad(m Measurement, b ceiling.Bound) (share float64, who string) {
	d, a := m.Devices, c.ArrayOf(m)
	if len(d) == 0 || a == nil || m.Measured < Shortest {
		return 0, ""
	}
	writes := m.Any(fio.Workload.Writes)
	if a.Level.Parity() > 0 && (writes || a.Degraded > 0) { // parity and reconstruction are the array's own
		return 0, ""
	}
	work := func(reads, writes uint64, rb, wb units.Bytes) (r, w float64) {
		if OfBytes(b) {
			return float64(rb), float64(wb)
		}
		return float64(reads), float64(writes)
	}
	top := d[0]
	r, w := work(top.Reads, top.Writes, top.ReadBytes, top.WriteBytes)
	if len(d) == 1 || len(a.Volumes) < 2 { // the volume itself: bytes, for the kernel merges I/Os and splits them
		own, all := float64(m.Total.Read.Bytes+m.Total.Write.Bytes), float64(top.ReadBytes+top.WriteBytes)
		if m.Syncs() || all <= own || own == 0 {
			return 0, "" // the filesystem's journal is fio's doing
		}
		return 1 - own/all, top.Name
	}
	n, sum, busiest := 0.0, 0.0, 0.0
	for _, member := range membersOf(a, d) {
		mr, mw := work(member.Reads, member.Writes, member.ReadBytes, member.WriteBytes)
		n, sum = n+1, sum+mr+mw
		if mr+mw > busiest {
			busiest, who = mr+mw, member.Name
		}
	}
	copies := float64(a.Geometry().WriteCopies())
	if _, seen := c.copies(m); seen > 0 {
		copies = seen // a declared level may be wrong
	}
	expected := r + w*copies
	if n == 0 || sum == 0 || expected == 0 || 1-expected/sum < foreignShare {
		return 0, ""
	}
	// Which mirror a read takes is md's choice.
	if a.Level.Mirrored() && m.Any(fio.Workload.Reads) || IsSyncing(a) {
		return 1 - expected/sum, a.Name
	}
	// A stripe waits for its busiest member; the others have what fio asked for.
	share = 1 - expected/n/busiest
	return share, who
}

// copySlack is how far counted copies may lie above those of the level: journals and superblocks.
const copySlack = 0.05

// copies is how many members the ceiling has each write go to, and how many it went to where
// devices counted a whole number more: a level that is declared and is not the array's. 0 for the
// second where that is not known or in order.
func (c *Case) copies(m Measurement) (modelled, seen float64) {
	a, d := c.ArrayOf(m), m.Devices
	if a == nil || len(d) < 3 || !m.All(onlyRandomWrites) || a.Level.Parity() > 0 || a.Degraded > 0 ||
		IsSyncing(a) {
		return 0, 0
	}
	sum := 0.0
	for _, member := range membersOf(a, d) {
		sum += float64(member.Writes)
	}
	modelled = float64(a.Geometry().WriteCopies())
	if d[0].Writes < EnoughReads {
		return modelled, 0
	}
	seen = sum / float64(d[0].Writes)
	if whole := math.Round(seen); whole > modelled && math.Abs(seen-whole) <= copySlack*whole {
		return modelled, whole
	}
	return modelled, 0
}

func onlyRandomWrites(w fio.Workload) bool { return w.Writes() && !w.Reads() && !w.Sequential }

// drainLeast is by how much fio must have run longer than asked for its total to be low for it.
const drainLeast = 0.005

// drainCauses is what a run loses at its end: fio divides by a time that ends with the last I/O in
// flight, and while these complete nothing new is issued. With 256 writes in flight at 1,200 IOPS
// that took 0.35 s, and of 5 s read 7.7 % low, of 40 s 1 %.
func (m Measurement) drainCauses() (out finding.Factors) {
	window, known := fio.Ends(m.Workloads)
	ran := m.Measured
	seconds := Settled(m.Result)
	if !known || float64(ran-window) < drainLeast*float64(window) || len(seconds) < 3 {
		return nil
	}
	n, length := 0.0, 0.0
	for _, s := range seconds {
		n, length = n+float64(s.IOPS())*s.Len.Seconds(), length+s.Len.Seconds()
	}
	if n == 0 || length == 0 {
		return nil
	}
	// No more than the time can have cost.
	out.Add(finding.Drain, "", max(float64(m.IOPS())/(n/length), float64(window)/float64(ran)),
		"fio ran %s instead of %s until its last I/O was complete; before that, it did %s IOPS",
		ran, window, units.IOPS(math.Round(n/length)))
	return out
}

// SplitSeen is how many device I/Os one of fio's became, 0 when unknown: leaf I/Os over issued
// I/Os, with the ramp, which fio's disk statistics include, taken out by time.
func SplitSeen(r *result.Result) float64 {
	issued := float64(r.Total.Read.N + r.Total.Write.N)
	leaf := 0.0
	for _, d := range r.Disks {
		if d.Member {
			leaf += float64(d.Reads + d.Writes)
		}
	}
	if issued == 0 || leaf == 0 || r.Measured <= 0 || len(r.Workloads) == 0 {
		return 0
	}
	w := r.Workloads[0]
	if !w.TimeBased && w.Runtime == 0 && w.Size == 0 {
		// fio's own output names neither runtime nor ramp: without the job a ramp of a third looks
		// like a chunk of 64 KiB.
		return 0
	}
	return leaf / issued / (1 + w.Ramp.Seconds()/r.Measured.Seconds())
}

// SureChunk is the confidence at which an inferred chunk is reported: the measured split lies five
// times nearer to it than to the next. (Rounds 15 and 16 of the striped P4510: 1.0469 and 1.0472,
// where 512 KiB makes 1.0469.)
const SureChunk = 0.8

// ChunkSlack is how far a measured split may lie from what a chunk makes: device counters include
// the ends of the run.
const ChunkSlack = 0.01
