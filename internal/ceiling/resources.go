package ceiling

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// limit is one figure of topology.Limits and what counts against it.
type limit struct {
	name string
	kind Kind // of a volume; an instance has the like
	way  way
}

// way is a direction, or both together.
type way int

const (
	both way = iota
	ofReads
	ofWrites
)

// budget is a capacity, in I/Os or bytes per second, and what of it one takes that is read or written.
type budget struct{ capacity, read, write float64 }

var limits = []limit{
	{"IOPS", VolumeIOPS, both},
	{"read IOPS", VolumeIOPS, ofReads},
	{"write IOPS", VolumeIOPS, ofWrites},
	{"rate", VolumeRate, both},
	{"read rate", VolumeRate, ofReads},
	{"write rate", VolumeRate, ofWrites},
}

// of is the budget of the limit. Where reads and writes share one, it is that of reads, of which writes take their
// part: r/reads + w/writes <= 1.
func (l limit) of(t topology.Limits) budget {
	all, reads, writes, shared := float64(t.IOPS), float64(t.ReadIOPS), float64(t.WriteIOPS), t.SharedIOPS
	if l.kind == VolumeRate {
		all, reads, writes, shared = float64(t.Rate), float64(t.ReadRate), float64(t.WriteRate), t.SharedRate
	}
	one := shared != cloud.Apart && reads > 0
	switch {
	case l.way == both:
		return budget{all, 1, 1}
	case l.way == ofReads && one && writes > 0:
		return budget{reads, 1, reads / writes}
	case l.way == ofReads:
		return budget{reads, 1, 0}
	case one:
		return budget{0, 0, 1}
	}
	return budget{writes, 0, 1}
}

// use is what a cost takes of a budget of the limit.
func (l limit) use(b budget, c cost) float64 {
	if l.kind == VolumeIOPS {
		return b.read*c.readIOs + b.write*c.writeIOs
	}
	return b.read*c.readBytes + b.write*c.writeBytes
}

// title is what a budget is called: that of reads is of writes too where they share it.
func (l limit) title(b budget) string {
	switch {
	case b.read > 0 && b.write == 1 && l.way != both:
		return strings.TrimPrefix(l.name, "read ")
	case b.read > 0 && b.write > 0 && b.write != 1 && l.kind == VolumeIOPS:
		return fmt.Sprintf("read or %v write IOPS, shared", units.IOPS(b.capacity/b.write))
	case b.read > 0 && b.write > 0 && b.write != 1:
		return fmt.Sprintf("read or %s write rate, shared", units.Rate(b.capacity/b.write).SI())
	}
	return l.name
}

// volumes adds what the members of an array allow. Each gets an equal part of the load, but in a
// concatenation, where it gets what of the region lies on it.
func (p *problem) volumes(a *topology.Array) {
	m := p.members(a)
	p.assumptions(a, m)
	unknown := 0
	for _, v := range a.Volumes {
		if !v.Sustained.Known() && !v.Burst.Known() && !v.Missing {
			unknown++
		}
	}
	if unknown > 0 {
		p.lack("the limits of %d of %d volumes are unknown", unknown, m.n)
	}
	p.latency(a, m)
	parts := p.parts(a, m)
	for _, l := range limits {
		p.class(a, m, l, parts)
	}
}

// latency takes the stated latencies, if all volumes state one: of reads the shortest, since any
// member may serve them; of writes the longest, since a mirror waits for all.
func (p *problem) latency(a *topology.Array, m members) {
	if m.parity > 0 { // a small write waits for a read first, and how md overlaps them is not modelled
		return
	}
	first := present(a)
	p.read, p.write = first.ReadLatency, first.WriteLatency
	for _, v := range a.Volumes {
		if v.Missing {
			continue
		}
		p.read = min(p.read, v.ReadLatency)
		switch {
		case v.WriteLatency == 0 || p.write == 0:
			p.write = 0
		case m.copies > 1:
			p.write = max(p.write, v.WriteLatency)
		default:
			p.write = min(p.write, v.WriteLatency)
		}
	}
	p.latencyOrigin = first.OriginOf("read_latency")
	if first.ReadLatency == 0 {
		p.latencyOrigin = first.OriginOf("write_latency")
	}
}

// stated adds the concurrency bound of the stated latencies.
func (p *problem) stated(c Ceiling) Ceiling {
	if p.read == 0 && p.write == 0 {
		return c
	}
	with := c.WithLatency(p.read, p.write, 0, p.latencyOrigin)
	if len(with.Bounds) > len(c.Bounds) {
		with.Notes = append(slices.Clone(with.Notes), "latencies are those in the data sheet, for 4 KiB at depth 1")
	}
	return with
}

func (p *problem) add(r *resource) {
	if r != nil {
		p.resources = append(p.resources, r)
	}
}

// class adds a resource for each volume that states a limit and is not as strong as another in every
// respect: alike members are one, of which the busiest is meant, so that capacity and demand are
// those of an array of such volumes.
func (p *problem) class(a *topology.Array, m members, l limit, parts []part) {
	var all []*resource
	differ := false
	for i, v := range a.Volumes {
		if v.Missing {
			continue
		}
		r := p.member(a, m, l, i, parts[i])
		if r == nil {
			continue
		}
		if len(all) > 0 {
			differ = differ || r.base != all[0].base || r.top != all[0].top
		}
		if !slices.ContainsFunc(all, func(o *resource) bool { return o.bindsBefore(r) }) {
			all = slices.DeleteFunc(all, r.bindsBefore)
			all = append(all, r)
		}
	}
	for i, r := range all {
		if len(all) > 1 {
			r.name += fmt.Sprintf(" %d", i+1)
		}
		p.add(r)
	}
	if differ && a.Level != topology.Linear {
		p.note("the volumes of %s differ: each gets an equal part, so the weakest sets the pace", a.Name)
	}
}

// bindsBefore says that r allows no more than o at any time, whatever the load.
func (r *resource) bindsBefore(o *resource) bool {
	if r.base > o.base || max(r.top, r.base) > max(o.top, o.base) || r.top > 0 && o.top > 0 && r.credits > o.credits {
		return false
	}
	for i := range r.demand {
		if r.demand[i][0] < o.demand[i][0] || r.demand[i][1] < o.demand[i][1] {
			return false
		}
	}
	return true
}

// member is the resource that one limit of volume i makes; nil where it states none. Of an HDD type
// only the throughput counts, of which each counted I/O takes a whole unit: its IOPS are the same
// allowance in other words, and cannot be ordered.
func (p *problem) member(a *topology.Array, m members, l limit, i int, part part) *resource {
	v := a.Volumes[i]
	if v.Pooled {
		return nil // see pool
	}
	allowed, top := l.of(v.Sustained), l.of(v.Burst).capacity
	base := allowed.capacity
	if base <= 0 {
		allowed = l.of(v.Burst)
	}
	use := func(c cost) float64 { return l.use(allowed, c) }
	if countsUnits(v) {
		if l.kind == VolumeIOPS {
			return nil
		}
		unit := float64(v.CountedIO)
		use = func(c cost) float64 { return (c.readIOs + c.writeIOs) * unit }
	}
	if base <= 0 && top <= 0 || part.reads <= 0 && part.writes <= 0 {
		return nil
	}
	taken := rebuild(a, v)
	n := part.writes
	if n == 0 || !slices.ContainsFunc(p.streams, func(s stream) bool { return s.w.Writes() }) {
		n = part.reads
	}
	if n == 0 {
		return nil
	}
	r := &resource{
		kind:    l.kind,
		name:    a.Name + " " + l.name,
		base:    n * left(l, allowed, base, taken),
		credits: n * credits(v, l.kind),
		origin:  v.Origin,
		atLeast: v.AtLeast,
	}
	shared := v.Sustained.SharedIOPS
	if l.kind == VolumeRate {
		shared = v.Sustained.SharedRate
	}
	if shared == cloud.Assumed && allowed.read > 0 && allowed.write > 0 {
		r.atLeast = cmp.Or(v.AtLeast, "no source says how reads and writes share a drive's limits")
	}
	if countsUnits(v) {
		r.counted = v.CountedIO
	}
	if top > base {
		r.top = n * left(l, allowed, top, taken)
	}
	uneven := false
	for _, c := range p.costs(m, countingOf(v)) {
		all := float64(m.n)
		uneven = uneven || c[0].each != nil || c[1].each != nil
		both := [2]float64{use(c[0].on(i, m.n)) * all, use(c[1].on(i, m.n)) * all}
		if v.Caching.Cached() { // served by the host's cache, which the disk does not see
			both[0] = 0
		}
		for d, over := range []float64{part.reads, part.writes} {
			if both[d] *= n; over > 0 {
				both[d] /= over
			} else {
				both[d] = 0
			}
		}
		r.demand = append(r.demand, both)
	}
	if v.Caching == cloud.ReadWrite {
		r.atLeast = passedOn
	}
	how := howVolumes(l, allowed, n, m, v)
	if r.how = how; uneven {
		r.how = func(capacity, demand float64) string {
			return how(capacity, demand) + ", as the busiest volume sees it"
		}
	}
	return r
}

// countsUnits says that a volume's allowance is of bytes, of which each I/O costs whole units: st1
// and sc1 (hdd-vols.html: a random I/O takes credits for 1 MiB).
func countsUnits(v topology.Volume) bool {
	return v.CountedIO >= units.MiB && v.Merges && v.Sustained.Rate > 0
}

func countingOf(v topology.Volume) counting { return counting{v.CountedIO, v.Merges} }

// costs are the cost of one read and of one write of each stream.
func (p *problem) costs(m members, c counting) [][2]perMember {
	if p.memo == nil {
		p.memo = map[counting][][2]perMember{}
	}
	if known, ok := p.memo[c]; ok {
		return known
	}
	var out [][2]perMember
	for _, s := range p.streams {
		out = append(out, [2]perMember{m.perIO(s.w, true, c), m.perIO(s.w, false, c)})
	}
	p.memo[c] = out
	return out
}

// credits of a burst bucket in I/Os or bytes. Buckets of bytes pay a counted unit for each I/O.
func credits(v topology.Volume, k Kind) float64 {
	switch {
	case k == VolumeRate:
		return float64(v.BurstBytes)
	case v.BurstIOs == 0 && v.CountedIO > 0:
		return float64(v.BurstBytes) / float64(v.CountedIO)
	}
	return v.BurstIOs
}

func howVolumes(l limit, of budget, n float64, m members, v topology.Volume) func(capacity, demand float64) string {
	count := fmt.Sprintf("%s volumes", units.Number(n))
	switch {
	case m.n == 1:
		count = "1 volume"
	case n < float64(m.n)*0.999 && m.lost > 0:
		count = fmt.Sprintf("%s of %d volumes (the array is degraded)", units.Number(n), m.n)
	case n < float64(m.n)*0.999:
		count = fmt.Sprintf("%s of %d volumes", units.Number(n), m.n)
	}
	return func(capacity, demand float64) string {
		capacity /= n
		if l.kind == VolumeIOPS {
			return fmt.Sprintf("%s × %v %s ÷ %s per I/O", count, units.IOPS(capacity), l.title(of), volumeIOs(demand))
		}
		rate := units.Rate(capacity).String()
		if v.SI() {
			rate = units.Rate(capacity).SI()
		}
		name := strings.TrimSuffix(strings.TrimSuffix(l.title(of), "rate"), " ")
		if name != "" {
			name += " "
		}
		how := fmt.Sprintf("%s × %s %s÷ %s per I/O", count, rate, name, units.Bytes(math.Round(demand)))
		if countsUnits(v) {
			how += fmt.Sprintf(" (each that is counted takes %v)", v.CountedIO)
		}
		return how
	}
}

// volumeIOs is how many volume I/Os one I/O becomes: "1.3 volume I/Os".
func volumeIOs(n float64) string {
	number := text.Factor(n)
	if number == "1" {
		return "1 volume I/O"
	}
	return number + " volume I/Os"
}

// assumeSharing notes how reads and writes share limits that are stated for each, and that one of two
// is not known.
func (p *problem) assumeSharing(a *topology.Array, m members) {
	var reads, writes bool
	for _, s := range p.streams {
		reads, writes = reads || s.w.Reads(), writes || s.w.Writes()
	}
	l := present(a).Sustained
	both := writes && (reads || m.parity > 0)
	if both && (l.SharedIOPS == cloud.Assumed || l.SharedRate == cloud.Assumed) {
		p.note("no source says how reads and writes of these drives share their limits: they are assumed to share " +
			"one budget (r/R + w/W at most 1)")
	}
	for _, one := range []struct {
		runs        bool
		what, other string
		have, lack  units.IOPS
	}{{writes, "writes", "reads", l.ReadIOPS, l.WriteIOPS}, {reads, "reads", "writes", l.WriteIOPS, l.ReadIOPS}} {
		if one.runs && one.have > 0 && one.lack == 0 {
			p.lack("how many %s each volume of %s does is not known, only its %s", one.what, a.Name,
				one.other)
		}
	}
}

// assumptions notes what the arithmetic takes for granted about this array and load.
func (p *problem) assumptions(a *topology.Array, m members) {
	p.assumeDegraded(a, m)
	if slices.ContainsFunc(a.Volumes, func(v topology.Volume) bool { return v.Inferred }) {
		p.note("limits that follow from a volume's size are a lower bound: a higher performance tier, performance plus and " +
			"bursting on demand are not visible from inside the machine")
	}
	p.assumeSharing(a, m)
	if m.n > 1 && a.Chunk == 0 && (a.Level == topology.RAID0 || a.Level == topology.RAID10 || m.parity > 0) {
		p.note("the chunk of %s is not known: no I/O counts as split", a.Name)
	}
	for _, s := range p.streams {
		if s.w.Sequential && present(a).Merges {
			p.note("sequential I/Os are assumed to be merged up to %v by the volumes (best effort)", present(a).CountedIO)
		}
		if s.w.SyncEvery > 0 && s.w.Writes() {
			p.note("syncs are assumed to cost nothing, as on volumes without a volatile cache")
		}
		window := units.Bytes(s.w.InFlight()) * max(s.w.ReadBS, s.w.WriteBS)
		if s.w.Sequential && m.chunk > 0 && window < m.chunk && m.data > 1 {
			p.note("with %v in flight, less than a chunk, a stream uses one part of the array at a time", window)
		}
	}
}
