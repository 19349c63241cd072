package ceiling_test

import (
	"math"
	"slices"
)

// The oracle of docs/ceiling.md: it issues the I/Os of a job one by one, places each as md or LVM
// does, counts what arrives at each volume as its provider does, and drains buckets over time. It
// is written from drivers/md (raid0.c, raid1.c, raid10.c, raid5.c, md-linear.c), fio's io_u.c and
// AWS's pages, and imports nothing of package ceiling.

const (
	kib  = int64(1) << 10
	mib  = int64(1) << 20
	gib  = int64(1) << 30
	page = 4 * kib // of a stripe_head of raid5.c
)

// oVolume is a volume with its allowance. unit and merges say how I/Os are counted; of an HDD type
// each counted I/O costs a whole unit of its throughput.
type oVolume struct {
	network, merges, hdd bool
	size, unit           int64
	iops, rate           float64 // sustained, 0: no such limit
	burstIOPS, burstRate float64
	credits              float64 // I/Os, of an HDD bytes
	readIOPS, writeIOPS  float64
	readRate, writeRate  float64
	name                 string
	// On other clouds: the type, by which a machine may limit volumes and by which they may share what
	// their size gives; and the host's cache, readonly or readwrite.
	typ, cache string
	pooled     bool
	// shared says that a read takes 1/readIOPS of one budget and a write 1/writeIOPS, bytes likewise.
	shared bool
}

type oArray struct {
	level, layout string // layout of RAID10: near, far, offset
	copies        int
	chunk         int64
	vols          []oVolume
}

type oInstance struct {
	iops, rate, burstIOPS, burstRate float64
	seconds                          float64 // of burst
	cloud                            string
	byCredits                        bool // the burst is spent by what is used of it, and fills again
	caps                             []oCap
}

// oCap is a limit on the volumes of a type, or on what the host's cache serves.
type oCap struct {
	typ                                                             string // empty: the cache
	iops, rate, readIOPS, writeIOPS, readRate, writeRate, burstIOPS float64
}

type oSize struct {
	bytes int64
	share float64
}

// oBlocks are what one direction of a section issues.
type oBlocks struct {
	sizes []oSize
	align int64
}

func (b oBlocks) mean() float64 {
	sum := 0.0
	for _, s := range b.sizes {
		sum += float64(s.bytes) * s.share
	}
	return sum
}

func (b oBlocks) least() int64 {
	least := b.sizes[0].bytes
	for _, s := range b.sizes {
		least = min(least, s.bytes)
	}
	return least
}

type oSection struct {
	readShare      float64
	sequential     bool
	synced         bool
	read, write    oBlocks
	jobs, depth    int
	rate, rateIOPS [2]float64 // of each job: reads, writes; 0 for none
	region         int64      // all jobs share it, from the start of the array
	ios            int        // that are issued
}

// run is a contiguous stretch of a volume.
type run struct{ from, to int64 }

// usage is what arrives at a volume, counted.
type usage struct{ readIOs, writeIOs, readBytes, writeBytes float64 }

func (u usage) times(f float64) usage {
	return usage{u.readIOs * f, u.writeIOs * f, u.readBytes * f, u.writeBytes * f}
}

// place is where the copies of a chunk of data lie.
func (a *oArray) place(c int64) (dev []int, off []int64) {
	n := int64(len(a.vols))
	switch {
	case a.level == "raid10" && a.layout == "near":
		for j := range int64(a.copies) {
			at := c*int64(a.copies) + j
			dev, off = append(dev, int(at%n)), append(off, at/n*a.chunk)
		}
	case a.level == "raid10":
		for j := range int64(a.copies) {
			row := c/n*a.chunk + j<<50 // far: each copy in a section of its own
			if a.layout == "offset" {
				row = (c/n*int64(a.copies) + j) * a.chunk
			}
			dev, off = append(dev, int((c+j)%n)), append(off, row)
		}
	case a.level == "raid5" || a.level == "raid6":
		d, i, pd := a.stripe(c)
		_ = d
		first := pd + 1
		if a.level == "raid6" {
			first = pd + 2
		}
		dev, off = []int{(first + i) % int(n)}, []int64{c / int64(a.data()) * a.chunk}
	default: // raid0, LVM striped
		dev, off = []int{int(c % n)}, []int64{c / n * a.chunk}
	}
	return dev, off
}

// stripe of a chunk on RAID5 and 6, left-symmetric: its number, the chunk's place in it, and the
// member that holds P.
func (a *oArray) stripe(c int64) (s int64, i, pd int) {
	n, d := int64(len(a.vols)), int64(a.data())
	s = c / d
	return s, int(c % d), int(n - 1 - s%n)
}

func (a *oArray) parity() int { return map[string]int{"raid5": 1, "raid6": 2}[a.level] }

// data is how many chunks of data a stripe of the parity levels holds.
func (a *oArray) data() int { return len(a.vols) - a.parity() }

// pieces calls f with each stretch of one I/O: the volumes that hold a copy and where.
func (a *oArray) pieces(offset, size int64, f func(dev []int, off []int64, length int64)) {
	switch a.level {
	case "single":
		f([]int{0}, []int64{offset}, size)
	case "raid1":
		var dev []int
		var off []int64
		for d := range a.vols {
			dev, off = append(dev, d), append(off, offset)
		}
		f(dev, off, size)
	case "linear":
		at := int64(0)
		for d, v := range a.vols {
			from, to := max(offset, at), min(offset+size, at+v.size)
			if from < to {
				f([]int{d}, []int64{from - at}, to-from)
			}
			at += v.size
		}
	default:
		for size > 0 {
			in := offset % a.chunk
			length := min(size, a.chunk-in)
			dev, off := a.place(offset / a.chunk)
			for i := range off {
				off[i] += in
			}
			f(dev, off, length)
			offset, size = offset+length, size-length
		}
	}
}

// counter counts what arrives at the volumes. Of a stream it joins what is contiguous from one I/O
// to the next, as a volume that merges does.
type counter struct {
	a            *oArray
	total        []usage
	reads, write [][]run
	open         [2][][]run // of a stream: the runs that may grow, one for each copy
}

func newCounter(a *oArray) *counter {
	n := len(a.vols)
	c := &counter{a: a, total: make([]usage, n), reads: make([][]run, n), write: make([][]run, n)}
	c.open = [2][][]run{make([][]run, n), make([][]run, n)}
	return c
}

func (c *counter) put(read bool, dev int, off, length int64) {
	to := &c.write[dev]
	if read {
		to = &c.reads[dev]
	}
	// Pieces come in order; what lies side by side is one request.
	if n := len(*to); n > 0 && (*to)[n-1].to == off && c.a.vols[dev].merges {
		(*to)[n-1].to += length
		return
	}
	*to = append(*to, run{off, off + length})
}

// count books a run of one direction.
func (c *counter) count(read bool, dev int, r run) {
	v, ios := c.a.vols[dev], 1.0
	if v.unit > 0 {
		ios = math.Ceil(float64(r.to-r.from) / float64(v.unit))
	}
	if read {
		c.total[dev].readIOs += ios
		c.total[dev].readBytes += float64(r.to - r.from)
	} else {
		c.total[dev].writeIOs += ios
		c.total[dev].writeBytes += float64(r.to - r.from)
	}
}

// end closes an I/O. In a stream the last runs of each volume stay open for the next I/O: as many
// as there are copies, which far apart on a volume are streams of their own.
func (c *counter) end(stream bool) {
	for dev, v := range c.a.vols {
		for i, list := range []*[]run{&c.reads[dev], &c.write[dev]} {
			for _, r := range *list {
				if !stream || !v.merges {
					c.count(i == 0, dev, r)
					continue
				}
				open := &c.open[i][dev]
				if at := slices.IndexFunc(*open, func(o run) bool { return o.to == r.from }); at >= 0 {
					(*open)[at].to = r.to
					continue
				}
				if len(*open) >= max(c.a.copies, 1) {
					c.count(i == 0, dev, (*open)[0])
					*open = (*open)[1:]
				}
				*open = append(*open, r)
			}
			*list = (*list)[:0]
		}
	}
}

func (c *counter) flush(i, dev int) {
	for _, r := range c.open[i][dev] {
		c.count(i == 0, dev, r)
	}
	c.open[i][dev] = nil
}

func (c *counter) close() []usage {
	c.end(false)
	for dev := range c.a.vols {
		c.flush(0, dev)
		c.flush(1, dev)
	}
	return c.total
}

// issue makes n I/Os of one direction of a section, and returns what one of them costs each volume
// on average.
func (a *oArray) issue(s oSection, read bool, n int, alone bool) []usage {
	b := s.write
	if read {
		b = s.read
	}
	c := newCounter(a)
	stripe := a.chunk * int64(a.data())
	gathered := s.sequential && (!s.synced || b.mean()*float64(s.jobs*s.depth) >= float64(stripe))
	if !read && a.parity() > 0 && gathered {
		// The stripe cache holds a stream back until its stripes are full.
		const stripes = 4096
		total := int64(0)
		for i := range int64(stripes) {
			a.rows(c, i*stripe, stripe, true)
			c.end(true)
			total += stripe
		}
		out := c.close()
		for i := range out {
			out[i] = out[i].times(b.mean() / float64(total))
		}
		return out
	}
	s.ios = n
	next := b.sequence(s)
	for k := range n {
		offset, size := next(k)
		switch {
		case !read && a.parity() > 0:
			a.rows(c, offset, size, false)
		case read:
			a.readOne(c, s, k, offset, size, alone)
		default:
			a.pieces(offset, size, func(dev []int, off []int64, length int64) {
				for i := range dev {
					c.put(false, dev[i], off[i], length)
				}
			})
		}
		if !read {
			for dev := range c.write { // copies of one chunk may lie before those of the last
				slices.SortFunc(c.write[dev], func(x, y run) int { return int(x.from - y.from) })
				c.join(&c.write[dev], dev)
			}
		}
		c.end(s.sequential && (read || a.parity() == 0))
	}
	out := c.close()
	for i := range out {
		out[i] = out[i].times(1 / float64(n))
	}
	return out
}

// join merges neighbours that sorting has brought together.
func (c *counter) join(list *[]run, dev int) {
	if !c.a.vols[dev].merges {
		return
	}
	out := (*list)[:0]
	for _, r := range *list {
		if n := len(out); n > 0 && out[n-1].to == r.from {
			out[n-1].to = r.to
		} else {
			out = append(out, r)
		}
	}
	*list = out
}

// readOne reads one copy of each piece. With many in flight the mirrors take turns: by the I/O, of
// streams by the stream. One I/O alone goes to the first mirror that has
// none of its pieces. Far and offset copies are read from the first of them, which lies lowest.
func (a *oArray) readOne(c *counter, s oSection, k int, offset, size int64, alone bool) {
	pending := make([]int, len(a.vols))
	a.pieces(offset, size, func(dev []int, off []int64, length int64) {
		j := 0
		switch {
		case len(dev) == 1 || a.level == "raid10" && a.layout != "near":
		case alone:
			for i := range dev {
				if pending[dev[i]] < pending[dev[j]] {
					j = i
				}
			}
		case s.sequential:
			j = k * len(dev) / s.ios // one mirror after the other, as if each had a stream of its own
		default:
			j = int(math.Mod(float64(k)*math.Sqrt(3), 1) * float64(len(dev)))
		}
		pending[dev[j]]++
		c.put(true, dev[j], off[j], length)
	})
}

// rows writes a stretch of a parity array as raid5.c does, in stripe_heads of a page of each
// member: each row reads what costs fewer members, the old data and parity (read-modify-write) or
// the data that is not written whole (reconstruct-write, also where both cost as many), and writes
// the data and the parity. Pages that lie side by side go to the member as one request, if they are
// ready at the same time: md itself counted so in the lab (testdata/md-counts.tsv).
func (a *oArray) rows(c *counter, offset, size int64, gathered bool) {
	d, p, n := a.data(), a.parity(), len(a.vols)
	stripe := a.chunk * int64(d)
	for size > 0 {
		s, in := offset/stripe, offset%stripe
		length := min(size, stripe-in)
		pd := int(int64(n) - 1 - s%int64(n))
		parities := []int{pd, (pd + 1) % n}[:p]
		written := [3][][]run{make([][]run, n), make([][]run, n), make([][]run, n)} // whole, modified, reconstructed
		for row := int64(0); row < a.chunk; row += page {
			var touched, full []int
			rest := []int{}
			for i := range d {
				from, to := max(in, int64(i)*a.chunk+row), min(in+length, int64(i)*a.chunk+row+page)
				dev := (pd + p + i) % n
				if from < to {
					touched = append(touched, dev)
				}
				if to-from == page {
					full = append(full, dev)
				} else {
					rest = append(rest, dev)
				}
			}
			if len(touched) == 0 {
				continue
			}
			at := s*a.chunk + row
			reads, kind := rest, 2
			switch {
			case len(full) == d:
				kind = 0
			case len(touched)+p < d-len(full):
				reads, kind = append(slices.Clone(touched), parities...), 1
			}
			for _, dev := range reads {
				c.rowAt(&c.reads[dev], at)
			}
			for _, dev := range append(slices.Clone(touched), parities...) {
				if gathered {
					c.rowAt(&c.write[dev], at)
				} else {
					c.rowAt(&written[kind][dev], at)
				}
			}
		}
		for _, kind := range written {
			for dev, runs := range kind {
				for _, r := range runs {
					c.count(false, dev, r)
				}
			}
		}
		// One stripe is worked off after another; only a stream's full ones follow each other closely.
		if !gathered || !a.vols[0].merges {
			c.end(false)
		}
		offset, size = offset+length, size-length
	}
}

func (c *counter) rowAt(list *[]run, at int64) {
	if n := len(*list); n > 0 && (*list)[n-1].to == at {
		(*list)[n-1].to += page
		return
	}
	*list = append(*list, run{at, at + page})
}

// sequence gives offset and size of the k-th I/O. Random offsets are multiples of the alignment,
// and go through the region as fio's random map does, each block once; steps near the golden
// section of the region spread any number of them evenly.
func (b oBlocks) sequence(s oSection) func(k int) (offset, size int64) {
	sizeAt := func(k int) int64 {
		u := math.Mod(float64(k)*math.Sqrt2+0.123, 1)
		for _, x := range b.sizes {
			if u -= x.share; u < 0 {
				return x.bytes
			}
		}
		return b.sizes[len(b.sizes)-1].bytes
	}
	if s.sequential {
		at := int64(0)
		return func(k int) (int64, int64) {
			size := sizeAt(k)
			if at+size > s.region {
				at = 0
			}
			at += size
			return at - size, size
		}
	}
	blocks := max(s.region/max(b.align, 1), 1)
	step := int64(float64(blocks) * (math.Sqrt(5) - 1) / 2)
	for step > 1 && greatest(step, blocks) != 1 {
		step++
	}
	step = max(step, 1)
	at := int64(0)
	return func(k int) (int64, int64) {
		at = (at + step) % blocks
		return at * b.align, sizeAt(k)
	}
}

func greatest(a, b int64) int64 {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
