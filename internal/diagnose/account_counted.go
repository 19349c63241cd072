package diagnose

import (
	"math"
	"slices"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// countedCauses are those that device counters prove.
func (c *Case) countedCauses(m Measurement, b ceiling.Bound) (out finding.Factors) {
	a := c.ArrayOf(m)
	if modelled, seen, ok := c.splitCause(m); ok {
		out.Add(finding.Split, "", splitFactor(m.Ceiling, b, modelled/seen),
			"%s device I/Os per I/O, the ceiling counts %s", text.Factor(seen), text.Factor(modelled))
	}
	if modelled, seen := c.copies(m); seen > modelled {
		out.Add(finding.Copies, "", modelled/seen, "members write %s times for each write, the ceiling counts %s",
			text.Factor(seen), text.Factor(modelled))
	}
	if resting, all := c.restingMembers(m); len(resting) > 0 {
		cause, why := finding.IdleMembers, ""
		if a != nil && a.Level.Mirrored() && IsSyncing(a) {
			cause, why = finding.Rebuild, ", since md reads the first mirror of what is not in sync"
		}
		out.Add(cause, "", float64(all-len(resting))/float64(all), "%d of %d members did no I/O%s", len(resting), all, why)
	}
	if share, who := c.foreignLoad(m, b); share >= foreignShare {
		cause, factor := finding.OtherLoad, 1-share
		if a != nil && IsSyncing(a) {
			// The ceiling leaves that out.
			cause, factor = finding.Rebuild, min(factor/(1-ceiling.RebuildTakes(a, b.Kind)), 1)
		}
		out.Add(cause, who, factor, "%v of what %s did was not fio's", share, who)
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
		"fio ran %s instead of %s until its last I/O was complete; before, it did %s IOPS",
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
