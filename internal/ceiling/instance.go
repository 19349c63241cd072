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

// standing stands for volumes of which nothing is known but the machine that they are attached to. SSD
// volumes of EC2 count I/Os as gp3 does, those of Azure without merging; Google limits each type
// apart, and that which it allows most is meant.
func standing(i topology.Instance) *topology.Array {
	v := topology.Volume{Network: true, CountedIO: 256 * units.KiB, Merges: true}
	if i.Cloud != "" {
		v.Merges = false
	}
	if !i.Baseline.Known() {
		v.CountedIO = 0
		most := units.IOPS(0)
		for _, c := range i.Caps {
			if n := max(c.Baseline.ReadIOPS, c.Baseline.IOPS); !c.Cache && n > most {
				most, v.Type = n, c.Types[0]
			}
		}
	}
	return &topology.Array{Name: "attached", Level: topology.Single, Volumes: []topology.Volume{v}}
}

// share is the part of an array's load that its volumes of a kind get: by their number, or in a
// concatenation by what of the region lies on them.
func (p *problem) share(a *topology.Array, m members, of func(topology.Volume) bool) float64 {
	if a.Level == topology.Linear && m.n > 1 {
		sum := 0.0
		for j, part := range p.parts(a, m) {
			if of(a.Volumes[j]) && part.reads > 0 {
				sum = min(sum+1/part.reads, 1)
			}
		}
		return sum
	}
	n := 0
	for _, v := range a.Volumes {
		if of(v) {
			n++
		}
	}
	return float64(n) / float64(m.n)
}

// allowance is one set of limits of a machine on some of its volumes.
type allowance struct {
	name       string // "instance", or with what tells it apart
	who        string // in the arithmetic
	base, top  topology.Limits
	iops, rate Kind
	mib        bool
	origin     topology.Origin
	// counts is the part of a volume's reads and of its writes that counts against it.
	counts [2]func(topology.Volume) bool
	rule   cloud.BurstRule
	pool   bool
}

// instance adds the machine's caps on its network volumes. Their IOPS are counted as the volumes count
// theirs, for no vendor says anything else.
func (p *problem) instance(i topology.Instance, a *topology.Array) {
	network := func(v topology.Volume) bool { return v.Network || i.Whole }
	m := p.members(a)
	if !slices.ContainsFunc(a.Volumes, network) {
		unknown := func(v topology.Volume) bool { return v.Type == "" && !v.Missing }
		if i.Known() && slices.ContainsFunc(a.Volumes, unknown) {
			p.note("the limits of %s are left out: the volumes of %s may not be on its network; declare their type",
				cmp.Or(i.Type, "the instance"), a.Name)
		}
		return
	}
	if !i.Known() {
		p.note("the instance's own limit is not known: %s", cmp.Or(strings.Join(i.Unknown, "; "), "name its type"))
		return
	}
	for _, w := range allowances(i) {
		p.allow(i, a, m, w)
	}
	p.instanceNotes(i, a)
}

// allowances are the machine's own, and beside it those of types that have one and of the host's cache.
// A read that the cache serves counts against nothing else, not even the disk
// (premium-storage-performance.md); a write passes on where caching is ReadOnly, and is passed on
// later where it is ReadWrite, so that what is sustained is what the disk and the machine take
// (MicrosoftDocs/azure-compute-docs, disks-performance.md, 2026-09-09).
func allowances(i topology.Instance) []allowance {
	who := cmp.Or(i.Type, "instance")
	own := func(v topology.Volume) bool { return (v.Network || i.Whole) && !capped(i, v) }
	all := []allowance{{
		name: "instance", who: who, base: i.Baseline, top: i.Burst, iops: InstanceIOPS, rate: InstanceRate, origin: i.Origin,
		rule: i.BurstRule,
		counts: [2]func(topology.Volume) bool{
			func(v topology.Volume) bool { return own(v) && !v.Caching.Cached() }, own,
		},
	}}
	for _, c := range i.Caps {
		w := allowance{
			name: "instance " + c.Name, who: who + ", " + c.Name, base: c.Baseline, top: c.Burst, iops: InstanceIOPS,
			rate: InstanceRate, mib: c.MiB, rule: i.BurstRule,
			origin: topology.Origin{Kind: topology.Catalogue, Where: c.String()},
		}
		of := func(v topology.Volume) bool { return v.Network && c.For(v.Type) }
		if c.Cache {
			w.iops, w.rate = HostCacheIOPS, HostCacheRate
			of = func(v topology.Volume) bool { return v.Network && v.Caching.Cached() }
		}
		w.counts = [2]func(topology.Volume) bool{of, of}
		all = append(all, w)
	}
	return all
}

// capped says that a machine limits volumes of the type apart.
func capped(i topology.Instance, v topology.Volume) bool {
	return slices.ContainsFunc(i.Caps, func(c cloud.Cap) bool { return c.For(v.Type) })
}

// allow adds the resources of one allowance.
func (p *problem) allow(i topology.Instance, a *topology.Array, m members, w allowance) {
	parts := [2]float64{p.share(a, m, w.counts[0]), p.share(a, m, w.counts[1])}
	if parts == [2]float64{} {
		return
	}
	v := present(a)
	for _, l := range limits {
		allowed, top := l.of(w.base), l.of(w.top).capacity
		base := allowed.capacity
		if base <= 0 {
			allowed = l.of(w.top)
		}
		if base <= 0 && top <= 0 {
			continue
		}
		r := &resource{
			kind:   w.iops,
			name:   w.name + " " + l.name,
			base:   base,
			origin: w.origin,
			how:    w.how(l, allowed),
			pool:   w.pool,
		}
		if l.kind == VolumeRate {
			r.kind = w.rate
		}
		if v.Caching == cloud.ReadWrite && w.iops != HostCacheIOPS {
			r.atLeast = passedOn
		}
		for _, c := range p.costs(m, countingOf(v)) {
			var demand [2]float64
			for way, part := range parts {
				if demand[way] = part * l.use(allowed, c[way].cost); c[way].each == nil {
					continue
				}
				demand[way] = 0 // offsets that load some volumes more than others
				for i, one := range c[way].each {
					if w.counts[way](a.Volumes[i]) {
						demand[way] += l.use(allowed, one)
					}
				}
			}
			r.demand = append(r.demand, demand)
		}
		if top > base {
			r.top = top
			switch {
			case w.rule == cloud.ByCredits:
				r.credits = (top - base) * i.BurstFor.Seconds()
				p.note("%s bursts on credits, separate ones for IOPS and throughput: for %s at full burst, longer below it",
					i.Type, text.Duration(i.BurstFor))
			case i.BurstFor > 0 && i.BurstPer > 0:
				p.note("%s can burst for %s in any %s", i.Type, text.Duration(i.BurstFor), text.Duration(i.BurstPer))
			}
			if w.rule == cloud.ByTime {
				r.lasts = i.BurstFor
			}
		}
		p.add(r)
	}
}

func (w allowance) how(l limit, of budget) func(capacity, demand float64) string {
	return func(capacity, demand float64) string {
		if l.kind == VolumeIOPS {
			return fmt.Sprintf("%s: %v %s ÷ %s per I/O", w.who, units.IOPS(capacity), l.title(of), volumeIOs(demand))
		}
		rate := units.Rate(capacity).SI()
		if w.mib {
			rate = units.Rate(capacity).String()
		}
		return fmt.Sprintf("%s: %s ÷ %s per I/O", w.who, rate, units.Bytes(math.Round(demand)))
	}
}

// passedOn is why more may be seen than what cached writes are limited to.
const passedOn = "the host's cache takes writes faster than it passes them on"

// passes says that some of the load counts against a cache's limit: all of it but for writes that
// a cache of both takes, which count where they are passed on.
func (p *problem) passes(c cloud.Caching) bool {
	return slices.ContainsFunc(
		p.streams,
		func(s stream) bool { return s.w.Reads() || c == cloud.ReadOnly && s.w.Writes() },
	)
}

// instanceNotes says what is not known of what the machine allows these volumes, and what is taken for
// granted.
func (p *problem) instanceNotes(i topology.Instance, a *topology.Array) {
	some, plain := false, false
	for _, v := range a.Volumes {
		if !v.Network {
			continue
		}
		own := capped(i, v)
		some, plain = some || own, plain || !own
		switch {
		case !own && !i.Baseline.Known() && i.Cloud != "":
			p.lack("what %s allows %s is not known: its maximum IOPS and throughput in the vendor's table of limits by machine "+
				"type would settle it", i.Type, cmp.Or(v.Type, "volumes of this type"))
		case v.Caching == cloud.ReadOnly, v.Caching == cloud.ReadWrite:
			p.note("reads of cached volumes count as served by the host's cache, which their disk does not see: those that it " +
				"does not hold count against the disk and the limit on uncached disks too")
			if v.Caching == cloud.ReadWrite {
				p.note("cached writes count as passed on to the disk, as they are in the long run; for a time that is not " +
					"stated " + passedOn)
			}
			if p.passes(v.Caching) && !slices.ContainsFunc(i.Caps, func(c cloud.Cap) bool { return c.Cache }) {
				p.lack("what the host's cache of %s allows is not known", cmp.Or(i.Type, "the machine"))
				for _, u := range i.Unknown {
					p.note("not known: %s", u)
				}
			}
		}
	}
	if some && plain && i.Baseline.Known() {
		p.note("how volumes of different types share what %s allows is not stated: they are counted separately", i.Type)
	}
}

// pools adds what volumes of one type share by their size on the whole machine: Google's Persistent
// Disk (gcpdiag, vm_performance.py, 2024-08-08).
func (p *problem) pools(i topology.Instance, a *topology.Array) {
	m := p.members(a)
	for _, pool := range i.Pools {
		of := func(v topology.Volume) bool { return v.Pooled && v.Type == pool.Type }
		part := p.share(a, m, of)
		if part == 0 {
			continue
		}
		if len(a.Volumes) > 1 {
			p.note("the volumes of %s share one allowance, which follows from their %v together: striping adds nothing to it",
				pool.Type, pool.Size)
		}
		who := fmt.Sprintf("%v of %s", pool.Size, pool.Type)
		w := allowance{
			name: "pool " + pool.Type, who: who, base: pool.Limits, mib: true, origin: pool.Origin, iops: VolumeIOPS,
			rate: VolumeRate, pool: true,
		}
		w.counts = [2]func(topology.Volume) bool{of, of}
		p.allow(i, a, m, w)
	}
}
