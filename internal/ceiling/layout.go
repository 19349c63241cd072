package ceiling

import (
	"math"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// cost is what one logical I/O asks of an array's members, summed over all of them.
type cost struct {
	readIOs, writeIOs     float64
	readBytes, writeBytes float64
}

func (c *cost) add(o cost, times float64) {
	c.readIOs += o.readIOs * times
	c.writeIOs += o.writeIOs * times
	c.readBytes += o.readBytes * times
	c.writeBytes += o.writeBytes * times
}

// counting is how a volume counts I/Os.
type counting struct {
	unit   units.Bytes // an I/O counts once for each such piece; 0: always once
	merges bool        // sequential pieces are merged up to unit first
}

// of counts one contiguous run of bytes on a member.
func (c counting) of(run float64) float64 {
	if c.unit == 0 || run <= 0 {
		return 1
	}
	return math.Ceil(run / float64(c.unit))
}

// members is an array reduced to what the arithmetic needs.
type members struct {
	level  topology.Level
	n      int // volumes
	data   int // volumes' worth of data in a stripe
	width  int // members that consecutive chunks lie on before one comes again
	copies int // writes of each block
	far    bool
	offset bool
	parity int
	chunk  units.Bytes
	alone  bool    // one read in flight comes back to a set of mirrors, see parts.go
	lost   int     // members that are not there, see lost
	done   float64 // share of their data that is there again
}

func membersOf(a *topology.Array) members {
	g := a.Geometry()
	m := members{
		level:  a.Level,
		n:      g.Members,
		data:   max(g.DataMembers(), 1),
		copies: g.WriteCopies(),
		parity: a.Level.Parity(),
	}
	if apart := a.Level == topology.RAID10 && g.Near > 0 && g.Near < m.copies; apart {
		m.far, m.offset = !g.Offset, g.Offset
	}
	m.width = m.data
	switch {
	case m.far || m.offset:
		m.width = m.n
	case m.parity > 0: // left-symmetric: the next stripe begins on the member before
		m.width = m.data + 1
	}
	if a.Level.Striped() {
		m.chunk = a.Chunk
	}
	m.lost, m.done = lost(a, m)
	return m
}

// perMember is what one logical I/O asks of all members together, and of each where the offsets load some
// more than others (nil: each gets as much).
type perMember struct {
	cost
	each []cost
}

func (l *perMember) add(o perMember, times float64) {
	n := max(len(l.each), len(o.each))
	var each []cost
	for i := range n {
		c := l.on(i, n)
		c.add(o.on(i, n), times)
		each = append(each, c)
	}
	l.cost.add(o.cost, times)
	l.each = each
}

// on is what member i of n gets.
func (l perMember) on(i, n int) cost {
	if l.each != nil {
		return l.each[i]
	}
	var c cost
	c.add(l.cost, 1/float64(n))
	return c
}

// perIO is the mean cost of one I/O of w in one direction, over its sizes and offsets.
func (m members) perIO(w fio.Workload, read bool, c counting) perMember {
	sizes, align := w.Blocks(read)
	var sum perMember
	switch {
	case len(sizes) == 0:
	case m.parity > 0 && !read && m.gathered(w):
		sum.cost = m.fullStripes(float64(sizes.Mean()), c)
	case c.merges && c.unit > 0 && w.Sequential && (m.parity == 0 || read) && (!read || !m.alone):
		sum.cost = m.stream(float64(sizes.Mean()), read, c)
		if alone := m.singly(sizes, align, read, c); m.offset && !read && alone.writeIOs < sum.writeIOs {
			sum = alone
		}
	default:
		sum = m.singly(sizes, align, read, c)
	}
	if read && m.parity > 0 {
		more := m.degradedReads()
		sum.add(perMember{sum.cost, sum.each}, more-1)
	}
	return sum
}

// singly is the mean cost of I/Os that are not merged with others.
func (m members) singly(sizes fio.Sizes, align units.Bytes, read bool, c counting) perMember {
	var sum perMember
	for _, s := range sizes {
		sum.add(m.one(s.Size, align, read, c), s.Share)
	}
	return sum
}

// one is the mean cost of an I/O of one size at offsets that are multiples of align.
func (m members) one(size, align units.Bytes, read bool, c counting) perMember {
	switch {
	case m.parity > 0 && !read && m.chunk > 0:
		return m.parityWrite(size, align, c)
	case m.chunk == 0, m.data == 1 && c.merges && !m.far && !m.offset:
		return m.even(size, c.of(float64(size)), read)
	}
	// The second copy of a row's last chunk lies above the first chunk of the next row.
	apart := size <= m.chunk*units.Bytes(m.width-1) && (read || !m.offset)
	if m.alike(align) && (!read || !m.alone) && (c.unit == 0 || c.unit >= m.chunk) && (!c.merges || apart) {
		return m.even(size, topology.PiecesAligned(size, align, m.chunk), read)
	}
	return m.counted(size, align, read, c)
}

// even is the cost of an I/O that all members get the same part of in the long run, ios being
// counted for one copy.
func (m members) even(size units.Bytes, ios float64, read bool) perMember {
	if read {
		return perMember{cost: cost{readIOs: ios, readBytes: float64(size)}}
	}
	k := float64(m.copies)
	return perMember{cost: cost{writeIOs: k * ios, writeBytes: k * float64(size)}}
}

// period is how many chunks of data the layout repeats after, seen from its members.
func (m members) period() int {
	switch {
	case m.parity > 0, m.level == topology.RAID10 && m.n%m.copies != 0 && !m.far && !m.offset:
		return m.n * m.data
	}
	return m.width
}

// alike says that offsets which are multiples of align lie in all chunks alike, of RAID5 and RAID6
// in all stripes, and so load all members alike.
func (m members) alike(align units.Bytes) bool {
	step := m.chunk
	if m.parity > 0 {
		step *= units.Bytes(m.data)
	}
	return step%topology.GCD(max(align, 1), m.chunk*units.Bytes(m.period())) == 0
}

// stream is the cost of size bytes of a sequential stream on volumes that merge: neighbours in time
// are neighbours on the volume, so what counts is full units, however small each I/O. Where the
// layout leaves gaps in what a stream touches on a member, runs end there: at the parity of RAID5
// and RAID6, at the second copies between the first ones of RAID10's offset layout, and likewise
// where its near copies do not divide the members.
func (m members) stream(size float64, read bool, c counting) cost {
	perByte := 1 / float64(c.unit)
	run := 0.0
	switch {
	case m.chunk == 0:
	case m.offset:
		run = float64(m.chunk)
	case !read:
	case m.parity > 0:
		run = float64(m.chunk) * float64(m.data)
	case m.level == topology.RAID10 && !m.far && m.n%m.copies != 0:
		run = float64(m.chunk)
	}
	if run > 0 {
		perByte = c.of(run) / run
	}
	if read {
		return cost{readIOs: size * perByte, readBytes: size}
	}
	k := float64(m.copies)
	return cost{writeIOs: k * size * perByte, writeBytes: k * size}
}

// place calls f with the member and the row of chunks of each copy of chunk i that an I/O touches:
// all copies for a write, the one that md reads for a read (drivers/md/raid0.c, raid10.c
// __raid10_find_phys, raid5.c raid5_compute_sector with the left-symmetric layout).
func (m members) place(i int, write bool, f func(dev, row int)) {
	switch {
	case m.parity > 0:
		stripe := i / m.data
		f((m.n-1-stripe%m.n+m.parity+i%m.data)%m.n, stripe)
	case m.copies == 1:
		f(i%m.n, i/m.n)
	default:
		for j := range m.copies {
			switch {
			case j > 0 && !write:
				return
			case m.far: // each copy in a part of its own
				f((i+j)%m.n, i/m.n+j<<40)
			case m.offset:
				f((i+j)%m.n, i/m.n*m.copies+j)
			default:
				f((i*m.copies+j)%m.n, (i*m.copies+j)/m.n)
			}
		}
	}
}

// stretch is what an I/O touches of a member, contiguous.
type stretch struct {
	dev      int
	from, to int64
}

// counted places an I/O at its offsets, and counts what lies side by side on a member as the volume
// does: adjacent chunks become one where it merges, a drive gets each piece. The copies of a block
// take turns in reading it.
//
// Not each offset is tried. An I/O begins or ends on a boundary of a chunk or of a counted unit, or
// it lies between two such places: there only the lengths of its first and last piece change, by as
// much as the offset, and the first and the last offset stand for all between them.
func (m members) counted(size, align units.Bytes, read bool, c counting) perMember {
	over := m.chunk * units.Bytes(m.period())
	if over := over * c.periods(m.chunk); size > mostPeriods*over {
		return beyond(size, over, func(size units.Bytes) perMember { return m.counted(size, align, read, c) })
	}
	out := perMember{each: make([]cost, m.n)}
	step := topology.GCD(max(align, 1), over)
	n := float64(over / step)
	var touched []stretch
	at := func(offset units.Bytes, offsets float64) {
		touched = m.touch(touched[:0], offset, size, read, c)
		for _, s := range touched {
			m.book(&out, s, read, c.of(float64(s.to-s.from))*offsets/n, offsets/n)
		}
	}
	unit := m.chunk
	if c.unit > 0 {
		unit = topology.GCD(m.chunk, c.unit)
	}
	ends := (unit - size%unit) % unit // behind a boundary: an I/O from here ends on one
	for base := units.Bytes(0); base < over; base += unit {
		for _, span := range [][2]units.Bytes{{base, base + ends}, {base + ends, base + unit}} {
			if span[0] == span[1] {
				continue
			}
			if span[0]%step == 0 {
				at(span[0], 1)
			}
			first, last := (span[0]/step+1)*step, (span[1]-1)/step*step
			if first <= last {
				half := float64((last-first)/step+1) / 2
				at(first, half)
				at(last, half)
			}
		}
	}
	out.total()
	return out
}

// mostPeriods is how many periods of a layout an I/O covers at most for each of its pieces to be placed.
const mostPeriods = 4

// periods is after how many periods of chunks, joined where a volume merges, whole units are counted.
func (c counting) periods(chunk units.Bytes) units.Bytes {
	if !c.merges || c.unit == 0 {
		return 1
	}
	return c.unit / topology.GCD(c.unit, chunk)
}

// beyond is the cost of a larger I/O: each further period costs what the last one does.
func beyond(size, over units.Bytes, of func(size units.Bytes) perMember) (sum perMember) {
	left := (mostPeriods-2)*over + size%over
	last := of(left + over)
	further := float64((size - left) / over)
	sum.add(last, further)
	sum.add(of(left), 1-further)
	return sum
}

// touch adds to list what an I/O touches.
func (m members) touch(list []stretch, offset, size units.Bytes, read bool, c counting) []stretch {
	for at, left := offset, size; left > 0; {
		in := at % m.chunk
		part := min(left, m.chunk-in)
		m.place(int(at/m.chunk), !read, func(dev, row int) {
			if read && m.alone {
				dev = m.idlest(dev, list)
			}
			from := int64(row)*int64(m.chunk) + int64(in)
			list = put(list, stretch{dev, from, from + int64(part)}, c.merges)
		})
		at, left = at+part, left-part
	}
	return list
}

// total sums up what the members get, and leaves out which gets what where all get as much.
func (l *perMember) total() {
	even := true
	for _, e := range l.each {
		l.cost.add(e, 1)
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-6*y }
		o := l.each[0]
		even = even && near(e.readIOs, o.readIOs) && near(e.writeIOs, o.writeIOs) && near(e.readBytes, o.readBytes) &&
			near(e.writeBytes, o.writeBytes)
	}
	if even {
		l.each = nil
	}
}

// idlest is the first mirror of the set that begins at dev which has fewest pieces of the I/O.
func (m members) idlest(dev int, touched []stretch) int {
	least, best := len(touched)+1, dev
	for j := range m.copies {
		has := 0
		for _, s := range touched {
			if s.dev == (dev+j)%m.n {
				has++
			}
		}
		if has < least {
			least, best = has, (dev+j)%m.n
		}
	}
	return best
}

// book adds a stretch, counted as ios, to its member; of a near mirror to all members of the set.
func (m members) book(out *perMember, s stretch, read bool, ios, weight float64) {
	bytes := float64(s.to-s.from) * weight
	if !read {
		out.each[s.dev].add(cost{writeIOs: ios, writeBytes: bytes}, 1)
		return
	}
	k := m.copies
	if m.far || m.offset || m.alone {
		k = 1
	}
	for j := range k {
		out.each[(s.dev+j)%m.n].add(cost{readIOs: ios, readBytes: bytes}, 1/float64(k))
	}
}

// put adds a stretch, joined with those of its member that it touches.
func put(list []stretch, s stretch, join bool) []stretch {
	if !join {
		return append(list, s)
	}
	for i := len(list) - 1; i >= 0; i-- {
		if o := list[i]; o.dev == s.dev && (o.to == s.from || o.from == s.to) {
			s.from, s.to = min(s.from, o.from), max(s.to, o.to)
			list[i] = list[len(list)-1]
			list = list[:len(list)-1]
		}
	}
	return append(list, s)
}

// mostOffsets of a partial write to RAID5 and RAID6 are averaged over at most: what is left out when
// align has almost no divisor in common with the layout makes no difference of a hundredth.
const mostOffsets = 4096

// grain is the step of the offsets that are averaged over, of a pattern that repeats after so many
// bytes.
func grain(align, over units.Bytes) units.Bytes {
	g := topology.GCD(max(align, 1), over)
	if over/g <= mostOffsets {
		return g
	}
	return g * (over / g / mostOffsets)
}

// Cost is what one logical I/O of a workload asks of an array's members, summed over all of them,
// reads and writes by their shares: what a purchase of volumes, and of the instance before them, is
// sized by.
type Cost struct {
	IOs   float64 // as the volumes count them
	Bytes float64
}

// CostOf is the mean cost of one I/O of w on an array whose volumes are alike. Of does the same
// arithmetic.
func CostOf(a *topology.Array, w fio.Workload) Cost {
	if len(a.Volumes) == 0 {
		return Cost{}
	}
	v := a.Volumes[0]
	m, c := membersOf(a), counting{v.CountedIO, v.Merges}
	var sum cost
	sum.add(m.perIO(w, true, c).cost, w.ReadShare)
	sum.add(m.perIO(w, false, c).cost, writeShare(w))
	return Cost{sum.readIOs + sum.writeIOs, sum.readBytes + sum.writeBytes}
}

// Uses is the largest share of any limit that so many I/Os and bytes per second take, those that are read
// and those that are written; a limit that is not known limits nothing.
func Uses(l topology.Limits, readIOs, writeIOs, readBytes, writeBytes float64) float64 {
	most := 0.0
	for _, one := range limits {
		if b := one.of(l); b.capacity > 0 {
			most = max(most, one.use(b, cost{readIOs, writeIOs, readBytes, writeBytes})/b.capacity)
		}
	}
	return most
}

// Concurrent is how many I/Os per second inFlight of them give when each takes latency: Little's law.
func Concurrent(inFlight int, latency time.Duration) units.IOPS {
	if latency <= 0 {
		return 0
	}
	return units.IOPS(float64(inFlight) / latency.Seconds())
}
