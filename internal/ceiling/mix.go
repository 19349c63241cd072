package ceiling

import (
	"math"
	"slices"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// mixSlack is how far bounds for the mix asked for may be off for the mix that was measured before
// they are restated: a run of some seconds draws 69.7 % reads where 70 % were asked for.
const mixSlack = 0.01

// SizeSlack is how far bandwidth may be from IOPS × block size: rates of 3 printed digits, and I/Os at the end of a
// region that are shorter.
const SizeSlack = 0.05

// flow is what one direction of a section did: I/Os and bytes per second, over the whole window.
type flow struct{ ios, bytes float64 }

// ofMix restates the bounds for the mix of directions and sizes that r measured, where it is not the
// one they were worked out for: sections that ran at different times, a size of which less was done,
// a rate that one direction did not reach. Each bound then is what its resource allows of that
// mix, so that a measured figure over it is the share of the resource in use, in the resource's own
// unit. The rate asked for is that of the time that each section ran.
func (c Ceiling) ofMix(r *result.Result) Ceiling {
	n, bw := r.Total.Rates()
	if n <= 0 || bw <= 0 || r.Kind() != suite.OfFio ||
		slices.ContainsFunc(r.Workloads, func(w fio.Workload) bool { return w.TrimShare > 0 }) || contradicted(r) {
		return c
	}
	flows := flowsOf(r)
	bounds, off := slices.Clone(c.Bounds), 0.0
	for i := range bounds {
		b := &bounds[i]
		was := *b
		switch {
		case b.Kind == RequestedRate:
			if c.Binding().Kind == RequestedRate { // else the hardware limits while all sections run
				b.asked(r.Workloads)
			}
		case len(b.Costs) == 0 || len(b.Costs) != len(r.Workloads):
			continue
		default:
			used := b.usedBy(flows, r.Workloads)
			if used <= 0 {
				continue
			}
			more := b.Capacity / used
			read := units.IOPS(readShare(flows))
			b.IOPS, b.BW, b.Demand = n*units.IOPS(more), bw*units.Rate(more), used/float64(n)
			b.ReadIOPS, b.WriteIOPS = b.IOPS*read, b.IOPS*(1-read)
		}
		off = max(off, math.Abs(float64(b.IOPS/was.IOPS)-1), math.Abs(float64(b.BW/was.BW)-1))
	}
	if off <= mixSlack {
		return c
	}
	c.Bounds = sorted(bounds)
	c.IOSize = units.Bytes(float64(bw)/float64(n) + 0.5)
	c.ReadShare = readShare(flows)
	c.Notes = append(slices.Clone(c.Notes), "the ceiling is that of the mix that was measured: "+
		text.Percent(c.ReadShare)+" reads, "+c.IOSize.String()+" an I/O")
	return c
}

// contradicted says that nobody counted the I/Os, and that the figures that were written down are not of the jobs'
// block size: then it is the jobs' that counts.
func contradicted(r *result.Result) bool {
	for _, w := range r.Workloads {
		if w.ReadSizes != nil || w.WriteSizes != nil || w.ReadBS != r.Workloads[0].ReadBS ||
			w.WriteBS != r.Workloads[0].WriteBS {
			return false
		}
	}
	off := func(d fio.Direction, bs units.Bytes) bool {
		return d.N == 0 && d.IOPS > 0 && d.BW > 0 && bs > 0 &&
			math.Abs(float64(d.BW)/(float64(d.IOPS)*float64(bs))-1) > SizeSlack
	}
	w := r.Workloads[0]
	return off(r.Total.Read, w.ReadBS) || off(r.Total.Write, w.WriteBS)
}

func readShare(flows [][2]flow) float64 {
	read, all := 0.0, 0.0
	for _, f := range flows {
		read, all = read+f[0].ios, all+f[0].ios+f[1].ios
	}
	return read / max(all, 1e-9)
}

// flowsOf are the flows of each section where fio has rows of their own for them; else one entry
// holds those of all sections together.
func flowsOf(r *result.Result) [][2]flow {
	window := r.Total.Span()
	of := func(d fio.Direction) flow {
		part := 1.0
		if d.Runtime > 0 && d.Runtime < window {
			part = float64(d.Runtime) / float64(window)
		}
		return flow{float64(d.IOPS) * part, float64(d.BW) * part}
	}
	all := [][2]flow{{of(r.Total.Read), of(r.Total.Write)}}
	rows := make([][2]flow, len(r.Workloads))
	seen := map[string]int{}
	for i, w := range r.Workloads {
		seen[w.Name] = i
	}
	met := map[string]bool{}
	for _, j := range r.Jobs {
		i, ok := seen[j.Name]
		if !ok {
			return all
		}
		met[j.Name] = true
		for d, f := range []flow{of(j.Read), of(j.Write)} {
			rows[i][d].ios += f.ios
			rows[i][d].bytes += f.bytes
		}
	}
	if len(met) != len(r.Workloads) || len(seen) != len(r.Workloads) {
		return all
	}
	return rows
}

// usedBy is what flows take of the bound's resource.
func (b Bound) usedBy(flows [][2]flow, loads []fio.Workload) float64 {
	sum := 0.0
	for i, both := range flows {
		for d, f := range both {
			some := loads
			costs := b.Costs
			if len(flows) == len(loads) {
				some, costs = loads[i:i+1], b.Costs[i:i+1]
			}
			sum += b.costOf(d == 0, f, some, costs)
		}
	}
	return sum
}

// costOf is what a flow takes of the resource when some sections made it. Of a rate each byte costs
// the same, whatever the mix of sizes. Of IOPS the smallest and the largest section are taken to
// have made the flow in the parts that its mean size shows.
func (b Bound) costOf(read bool, f flow, loads []fio.Workload, costs []SectionCost) float64 {
	type section struct{ size, cost float64 }
	var made []section
	for i, w := range loads {
		s := section{float64(w.WriteBS), costs[i].Write}
		if read {
			s = section{float64(w.ReadBS), costs[i].Read}
		}
		if s.size > 0 && s.cost > 0 {
			made = append(made, s)
		}
	}
	if len(made) == 0 || f.ios <= 0 {
		return 0
	}
	slices.SortFunc(made, func(x, y section) int { return int(x.size - y.size) })
	small, large := made[0], made[len(made)-1]
	if b.perByte() {
		return f.bytes * (small.cost/small.size + large.cost/large.size) / 2
	}
	part := 1.0 // of the large ones
	if large.size > small.size {
		part = min(max((f.bytes/f.ios-small.size)/(large.size-small.size), 0), 1)
	}
	return f.ios * (small.cost*(1-part) + large.cost*part)
}

// perByte says that a resource counts bytes.
func (b Bound) perByte() bool {
	return b.Counted == 0 && (b.Kind == VolumeRate || b.Kind == InstanceRate || b.Kind == CgroupRate)
}

// asked makes the bound of the rates asked for that of the time that each section runs.
func (b *Bound) asked(loads []fio.Workload) {
	end, known := fio.Ends(loads)
	if !known || end <= 0 {
		return
	}
	var read, write, bytes float64
	for _, w := range loads {
		s, part := streamOf(w), float64(w.Runtime)/float64(end)
		read, write = read+s.most[0]*part, write+s.most[1]*part
		bytes += (s.most[0]*float64(w.ReadBS) + s.most[1]*float64(w.WriteBS)) * part
	}
	if total := read + write; total > 0 && !math.IsInf(total, 1) {
		b.IOPS, b.ReadIOPS, b.WriteIOPS, b.BW = units.IOPS(total), units.IOPS(read), units.IOPS(write), units.Rate(bytes)
		b.Capacity = total
	}
}
