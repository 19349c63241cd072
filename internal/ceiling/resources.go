package ceiling

import (
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// limit is one figure of topology.Limits and what counts against it.
type limit struct {
	name string
	kind Kind // of a volume; an instance has the like
	of   func(topology.Limits) float64
	use  func(cost) float64
}

var limits = []limit{
	{
		"IOPS",
		VolumeIOPS,
		func(l topology.Limits) float64 { return float64(l.IOPS) },
		func(c cost) float64 { return c.readIOs + c.writeIOs },
	},
	{
		"read IOPS",
		VolumeIOPS,
		func(l topology.Limits) float64 { return float64(l.ReadIOPS) },
		func(c cost) float64 { return c.readIOs },
	},
	{
		"write IOPS",
		VolumeIOPS,
		func(l topology.Limits) float64 { return float64(l.WriteIOPS) },
		func(c cost) float64 { return c.writeIOs },
	},
	{
		"rate",
		VolumeRate,
		func(l topology.Limits) float64 { return float64(l.Rate) },
		func(c cost) float64 { return c.readBytes + c.writeBytes },
	},
	{
		"read rate",
		VolumeRate,
		func(l topology.Limits) float64 { return float64(l.ReadRate) },
		func(c cost) float64 { return c.readBytes },
	},
	{
		"write rate",
		VolumeRate,
		func(l topology.Limits) float64 { return float64(l.WriteRate) },
		func(c cost) float64 { return c.writeBytes },
	},
}

// volumes adds what the members of an array allow. Each gets an equal part of the load, so the
// weakest of unlike ones bounds the whole; of a concatenation only one works at a time.
func (p *problem) volumes(a *topology.Array) {
	m := membersOf(a)
	if a.Level == topology.NoLevel && m.n > 1 {
		p.note("how the %d volumes of %s are combined is not known: declare the level", m.n, a.Name)
		return
	}
	p.assumptions(a, m)
	readers, writers := p.spread(m)
	unknown := 0
	for _, v := range a.Volumes {
		if !v.Sustained.Known() && !v.Burst.Known() && !v.Missing {
			unknown++
		}
	}
	if unknown > 0 {
		p.note("limits of %d of %d volumes are not known", unknown, m.n)
	}
	p.latency(a, m)
	for _, l := range limits {
		for _, burst := range []bool{false, true} {
			p.add(p.member(a, m, l, burst, readers, writers))
		}
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
		with.Notes = append(slices.Clone(with.Notes), "latencies are those of the data sheet, for 4 KiB at depth 1")
	}
	return with
}

func (p *problem) add(r *resource) {
	if r != nil {
		p.resources = append(p.resources, *r)
	}
}

// member is the volume of an array that bounds it by one limit, as if all were like it; nil when no
// volume states the limit.
func (p *problem) member(a *topology.Array, m members, l limit, burst bool, readers, writers float64) *resource {
	var best *resource
	alike, there := true, present(a)
	for _, v := range a.Volumes {
		if v.Missing {
			continue
		}
		base := l.of(v.Sustained)
		capacity := base
		if burst {
			capacity = l.of(v.Burst)
		}
		if capacity <= 0 || burst && capacity <= base {
			continue
		}
		taken := rebuild(a, v)
		base, capacity = left(l, base, taken), left(l, capacity, taken)
		alike = alike && (v.Sustained == there.Sustained && v.Burst == there.Burst)
		n := writers
		if !slices.ContainsFunc(p.streams, func(s stream) bool { return s.w.Writes() }) {
			n = readers
		}
		r := resource{
			kind: l.kind, name: a.Name + " " + l.name, burst: burst, capacity: n * capacity, base: n * base,
			credits: n * credits(v, l.kind), origin: v.Origin,
		}
		for _, s := range p.streams {
			c := m.stream(s.w, counting{v.CountedIO, v.Merges})
			read, write := cost{
				readIOs:   c.readIOs,
				readBytes: c.readBytes,
			}, cost{
				writeIOs:   c.writeIOs,
				writeBytes: c.writeBytes,
			}
			r.demand = append(r.demand, l.use(read)*n/readers+l.use(write)*n/writers)
		}
		r.how = howVolumes(l, n, m, capacity, v)
		if best == nil || (r.capacity < best.capacity) != (a.Level == topology.Linear) {
			best = &r
		}
	}
	if best != nil && !alike && a.Level != topology.Linear {
		p.note("the volumes of %s differ: each gets an equal part, so the weakest sets the pace", a.Name)
	}
	return best
}

// stream is the mean cost of one I/O, reads and writes by their shares.
func (m members) stream(w fio.Workload, c counting) cost {
	var sum cost
	sum.add(m.perIO(w, true, c), w.ReadShare)
	sum.add(m.perIO(w, false, c), writeShare(w))
	return sum
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

func howVolumes(l limit, n float64, m members, capacity float64, v topology.Volume) func(float64) string {
	count := fmt.Sprintf("%s volumes", units.Number(n))
	switch {
	case m.n == 1:
		count = "1 volume"
	case int(n) < m.n && m.lost > 0:
		count = fmt.Sprintf("%s of %d volumes (the array is degraded)", units.Number(n), m.n)
	case int(n) < m.n:
		count = fmt.Sprintf("%s of %d volumes", units.Number(n), m.n)
	}
	return func(demand float64) string {
		if l.kind == VolumeIOPS {
			return fmt.Sprintf(
				"%s × %v %s ÷ %s per I/O",
				count,
				units.IOPS(capacity),
				l.name,
				volumeIOs(demand),
			)
		}
		rate := units.Rate(capacity).String()
		if !v.Network {
			rate = units.Rate(capacity).SI() // data sheets
		}
		name := ""
		if l.name != "rate" {
			name = l.name[:len(l.name)-len(" rate")] + " "
		}
		return fmt.Sprintf("%s × %s %s÷ %s per I/O", count, rate, name, units.Bytes(math.Round(demand)))
	}
}

// spread is over how many volumes reads and writes go. A single read in flight finds all volumes
// idle, and md's RAID1 and RAID10 then always take the first mirror (read_balance, measured in the
// lab): the others do nothing. A region smaller than a stripe lies on some volumes only.
func (p *problem) spread(m members) (readers, writers float64) {
	if m.level == topology.Linear || m.n == 1 {
		return 1, 1
	}
	data := m.data
	if m.chunk > 0 && m.parity == 0 {
		covered := 0
		for _, s := range p.streams {
			if s.w.Size == 0 {
				covered = m.data
				break
			}
			files := max(s.w.Jobs, 1)
			if s.w.SharedFile && s.w.OffsetIncrement == 0 {
				files = 1
			}
			covered += files * int((s.w.Size+m.chunk-1)/m.chunk)
		}
		if covered < data {
			data = covered
			p.note("the files are smaller than a stripe: at most %d of %d volumes hold them", data*m.copies, m.n)
		}
	}
	all := float64(data * m.copies)
	if m.parity > 0 || data == m.data {
		all = float64(m.n)
	}
	if m.parity > 0 && m.lost > 0 {
		all = float64(m.n-m.lost) + float64(m.lost)*m.done
	}
	one := len(p.streams) == 1 && p.streams[0].w.InFlight() == 1 && p.streams[0].w.ReadShare > 0
	if one && m.copies > 1 {
		// A read of more than a stripe comes back to a pair whose first mirror is busy with its
		// first piece: the second mirrors carry what lies beyond the stripe.
		first, stripes := all/float64(m.copies), 1.0
		if m.chunk > 0 {
			stripes = max(1, float64(p.streams[0].w.ReadBS)/float64(m.chunk*units.Bytes(m.data)))
		}
		switch readers := first * stripes; {
		case readers >= all:
		case stripes > 1:
			p.note(
				"with one I/O in flight md's second mirrors only read what lies beyond a stripe: as much as %s of %d volumes",
				units.Number(readers),
				m.n,
			)
			return readers, all
		default:
			p.note(
				"with one I/O in flight md reads the first mirror only: %s of %d volumes serve reads",
				units.Number(first),
				m.n,
			)
			return first, all
		}
	}
	if m.copies > 1 && m.lost > 0 && data == m.data {
		return m.survivors(), all
	}
	return all, all
}

// instance adds the machine's cap on its network volumes. Its IOPS are counted as the volumes count
// theirs, for AWS says nothing else.
func (p *problem) instance(i topology.Instance, a *topology.Array) {
	network := 0
	for _, v := range a.Volumes {
		if v.Network {
			network++
		}
	}
	m := membersOf(a)
	if network == 0 || a.Level == topology.NoLevel && m.n > 1 {
		return
	}
	if !i.Baseline.Known() && !i.Burst.Known() {
		p.note("the instance's own limit is not known: name its type")
		return
	}
	part := float64(network) / float64(m.n)
	if a.Level == topology.Linear {
		part = 1
	}
	v := present(a)
	for _, l := range limits {
		kind, base, top := InstanceIOPS, l.of(i.Baseline), l.of(i.Burst)
		if l.kind == VolumeRate {
			kind = InstanceRate
		}
		r := resource{kind: kind, name: "instance " + l.name, capacity: base, base: base, origin: i.Origin}
		for _, s := range p.streams {
			r.demand = append(r.demand, part*l.use(m.stream(s.w, counting{v.CountedIO, v.Merges})))
		}
		if base > 0 {
			r.how = howInstance(l, i.Type, base)
			p.add(&r)
		}
		if top > base {
			r.burst, r.capacity, r.lasts = true, top, i.BurstFor
			r.how = howInstance(l, i.Type, top)
			if i.BurstFor > 0 && i.BurstPer > 0 {
				p.note("%s bursts for %s once in %s", i.Type, span(i.BurstFor), span(i.BurstPer))
			}
			p.add(&r)
		}
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

func howInstance(l limit, typ string, capacity float64) func(float64) string {
	if typ == "" {
		typ = "instance"
	}
	return func(demand float64) string {
		if l.kind == VolumeIOPS {
			return fmt.Sprintf("%s: %v %s ÷ %s per I/O", typ, units.IOPS(capacity), l.name, volumeIOs(demand))
		}
		return fmt.Sprintf("%s: %s ÷ %s per I/O", typ, units.Rate(capacity).SI(), units.Bytes(math.Round(demand)))
	}
}

func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.String()
}

// assumptions notes what the arithmetic takes for granted about this array and load.
func (p *problem) assumptions(a *topology.Array, m members) {
	p.assumeDegraded(a, m)
	if m.n > 1 && a.Chunk == 0 && (a.Level == topology.RAID0 || a.Level == topology.RAID10 || m.parity > 0) {
		p.note("the chunk of %s is not known: no I/O counts as split", a.Name)
	}
	if a.Level == topology.Linear && m.n > 1 {
		p.note("%s is a concatenation: a file lies on one volume, so one volume's limits hold", a.Name)
	}
	for _, s := range p.streams {
		if s.w.Sequential && present(a).Merges {
			p.note(
				"sequential I/Os count as merged up to %v by the volumes, which they do as best they can",
				present(a).CountedIO,
			)
		}
		if s.w.SyncEvery > 0 && s.w.Writes() {
			p.note("syncs count as free, as they are on written blocks of volumes without a volatile cache")
		}
		window := units.Bytes(s.w.InFlight()) * max(s.w.ReadBS, s.w.WriteBS)
		if s.w.Sequential && m.chunk > 0 && window < m.chunk && m.data > 1 {
			p.note("%v in flight are less than a chunk: the stream works on one part of the array at a time", window)
		}
	}
}
