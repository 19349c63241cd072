package ceiling

import (
	"slices"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// part is over how many volumes like one the reads and the writes go, as the busiest of them sees
// it: the inverse of its share. 0 where none goes to it.
type part struct{ reads, writes float64 }

// parts are those of each volume.
func (p *problem) parts(a *topology.Array, m members) []part {
	if m.level == topology.Linear && m.n > 1 {
		return p.concatenated(a)
	}
	readers, writers := p.spread(m)
	out := slices.Repeat([]part{{readers, writers}}, m.n)
	if p.firstOnly(m) && m.lost == 0 {
		first := make([]bool, m.n)
		for i := range m.n * m.copies {
			m.place(i, false, func(dev, _ int) { first[dev] = true })
		}
		for i := range out {
			if !first[i] {
				out[i].reads = 0
			}
		}
	}
	return out
}

// concatenated divides a load over the volumes that its region lies on, from the first one on:
// random I/O in proportion to how much of the region each holds, a sequential stream on one after
// the other. Without a size it is not known where a file lies, but that is on one volume.
func (p *problem) concatenated(a *topology.Array) []part {
	region, sequential := units.Bytes(0), false
	for _, s := range p.streams {
		sequential = sequential || s.w.Sequential
		if s.w.Size == 0 {
			region, sequential = 0, true
			break
		}
		region = max(region, regionOf(s.w))
	}
	out := make([]part, len(a.Volumes))
	at, held := units.Bytes(0), make([]units.Bytes, len(a.Volumes))
	for i, v := range a.Volumes {
		held[i] = min(v.Size, max(region, at)-at)
		if v.Size == 0 { // how large it is is not known: as if it held all that is left
			held[i] = max(region, at) - at
		}
		at += held[i]
	}
	first := -1
	for i, h := range held {
		switch {
		case h == 0:
			continue
		case sequential:
			out[i] = part{1, 1}
		default:
			n := float64(at) / float64(h)
			out[i] = part{n, n}
		}
		if first < 0 {
			first = i
		}
	}
	switch {
	case region == 0:
		out[0] = part{1, 1}
		p.note("%s is a concatenation: a file lies on one volume, so one volume's limits hold", a.Name)
	case held[first] == at:
		p.note("%s is a concatenation: what the job touches lies on one volume", a.Name)
	case sequential:
		p.note("%s is a concatenation: a stream works on one volume after the other, and the weakest sets the pace", a.Name)
	default:
		p.note("%s is a concatenation: each volume gets as much of the load as it holds of the region", a.Name)
	}
	return out
}

// regionOf is how much storage the jobs of w touch, as if their files lay side by side.
func regionOf(w fio.Workload) units.Bytes {
	jobs := units.Bytes(max(w.Jobs, 1))
	switch {
	case !w.SharedFile:
		return jobs * w.Size
	case w.OffsetIncrement > 1:
		return (jobs-1)*w.OffsetIncrement + w.Size
	}
	return w.Size
}

// spread is over how many volumes reads and writes go. A single read in flight finds all volumes
// idle, and md's RAID1 and near RAID10 then always take the first mirror (read_balance, measured in
// the lab): the others do nothing; of far and offset copies the first lie on all members. A region
// of few stripes does not lie on all volumes alike.
func (p *problem) spread(m members) (readers, writers float64) {
	if m.n == 1 {
		return 1, 1
	}
	all := float64(m.n)
	few := false
	if m.chunk > 0 && m.parity == 0 {
		if n := p.covered(m); n < float64(m.width)*0.99 {
			few, all = true, n*float64(m.n)/float64(m.width)
			p.note("the files are small compared with a stripe: they use only %s of %d volumes", units.Number(all), m.n)
		}
	}
	if m.parity > 0 && m.lost > 0 {
		all = float64(m.n-m.lost) + float64(m.lost)*m.done
	}
	if p.firstOnly(m) {
		// Where the copies do not divide the members, the first ones lie on more of them.
		first := all / float64(topology.GCD(units.Bytes(m.n), units.Bytes(m.copies)))
		p.note("with one I/O in flight, md reads only the first mirror: %s of %d volumes serve reads", units.Number(first),
			m.n)
		return first, all
	}
	if m.copies > 1 && m.lost > 0 && !few {
		return m.survivors(), all
	}
	return all, all
}

// firstOnly says that reads go to the first mirrors only.
func (p *problem) firstOnly(m members) bool {
	return p.oneRead() && m.copies > 1 && !m.far && !m.offset && !m.alone
}

// oneRead says that the load is one I/O in flight, which may be a read.
func (p *problem) oneRead() bool {
	return len(p.streams) == 1 && p.streams[0].w.InFlight() == 1 && p.streams[0].w.ReadShare > 0
}

// members is the array for this load. One read in flight that is longer than a stripe, or begins so
// late in a chunk that it ends in a stripe's first one, comes back to a set of mirrors of which the
// first is busy with its first piece: the second ones carry what lies beyond the stripe.
func (p *problem) members(a *topology.Array) members {
	m := membersOf(a)
	if !p.oneRead() || m.level != topology.RAID10 || m.far || m.offset || m.chunk == 0 || m.lost > 0 {
		return m
	}
	sizes, align := p.streams[0].w.Blocks(true)
	last := m.chunk - topology.GCD(max(align, 1), m.chunk) // the latest that it begins in a chunk
	for _, s := range sizes {
		if last+s.Size > m.chunk*units.Bytes(m.data) {
			p.note("with one I/O in flight, md's second mirrors only read what lies beyond a stripe")
			m.alone = true
			break
		}
	}
	return m
}

// covered is over how many of the members that consecutive chunks lie on the jobs' regions go, as
// the busiest sees it. A region that is one stretch loads the members that hold one chunk more than
// others most; of several files only the number of chunks is known.
func (p *problem) covered(m members) float64 {
	width, chunks := float64(m.width), 0.0
	for _, s := range p.streams {
		if s.w.Size == 0 {
			return width
		}
		files := float64(max(s.w.Jobs, 1))
		if s.w.SharedFile && s.w.OffsetIncrement == 0 {
			files = 1
		}
		if files == 1 && len(p.streams) == 1 {
			row := m.chunk * units.Bytes(m.width)
			most := s.w.Size/row*m.chunk + min(s.w.Size%row, m.chunk)
			return float64(s.w.Size) / float64(most)
		}
		chunks += files * float64((s.w.Size+m.chunk-1)/m.chunk)
	}
	return min(chunks, width)
}
