package ceiling

import (
	"math"

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
	copies int // writes of each block
	parity int
	chunk  units.Bytes
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
	if a.Level.Striped() {
		m.chunk = a.Chunk
	}
	m.lost, m.done = lost(a, m)
	return m
}

// perIO is the mean cost of one I/O of w in one direction.
func (m members) perIO(w fio.Workload, read bool, c counting) cost {
	bs := w.WriteBS
	if read {
		bs = w.ReadBS
	}
	if bs == 0 {
		return cost{}
	}
	if m.parity > 0 && !read {
		return m.parityWrite(w, bs, c)
	}
	ios := m.runs(bs, c)
	if c.merges && c.unit > 0 && w.Sequential {
		// Neighbours in time are neighbours on the volume: what counts is full units, however small
		// each I/O.
		ios = float64(bs) / float64(c.unit)
	}
	if read {
		more := 1.0
		if m.parity > 0 {
			more = m.degradedReads()
		}
		return cost{readIOs: ios * more, readBytes: float64(bs) * more}
	}
	k := float64(m.copies)
	return cost{writeIOs: k * ios, writeBytes: k * float64(bs)}
}

// runs is the mean number of counted I/Os that one I/O of size bs makes on the members. On a volume
// that merges, the chunks that an I/O of more than one stripe leaves there lie side by side and
// become one; a drive gets each piece.
func (m members) runs(bs units.Bytes, c counting) float64 {
	if m.chunk == 0 || m.data == 1 && c.merges {
		return c.of(float64(bs))
	}
	if !c.merges && (c.unit == 0 || c.unit >= m.chunk) {
		return topology.Pieces(bs, m.chunk)
	}
	g := m.grain(bs, m.chunk)
	sum, n := 0.0, 0
	for offset := units.Bytes(0); offset < m.chunk; offset += g {
		n++
		onMember := make([]float64, m.data)
		for at, left, i := offset, bs, 0; left > 0; i++ {
			piece := min(left, m.chunk-at%m.chunk)
			if c.merges {
				onMember[i%m.data] += float64(piece)
			} else {
				sum += c.of(float64(piece))
			}
			at, left = at+piece, left-piece
		}
		for _, run := range onMember {
			if run > 0 {
				sum += c.of(run)
			}
		}
	}
	return sum / float64(n)
}

// grain is the step of the offsets that are averaged over: exact, unless a mean block size such as
// 13,517 bytes has almost no divisor in common with the chunk, when 4,096 offsets are enough.
func (m members) grain(bs, over units.Bytes) units.Bytes {
	return max(topology.GCD(bs, over), over/4096, 1)
}

// parityWrite averages a RAID5 or RAID6 write over its offsets in the stripe. A full stripe costs
// its own chunks and the parity. A part costs the cheaper of md's two ways (drivers/md/raid5.c,
// handle_stripe_dirtying): read-modify-write reads what it will overwrite, parity included;
// reconstruct-write reads the rest of the stripe.
func (m members) parityWrite(w fio.Workload, bs units.Bytes, c counting) cost {
	stripe := m.chunk * units.Bytes(m.data)
	synced := w.SyncEvery > 0 || w.SyncWrites
	whole := w.Sequential && (!synced || bs*units.Bytes(w.InFlight()) >= stripe)
	if m.chunk == 0 || whole {
		// The stripe cache gathers a stream into full stripes.
		bytes := float64(bs) * float64(m.data+m.parity) / float64(m.data) * m.whole()
		ios := m.runs(bs, c) * float64(m.data+m.parity) / float64(m.data) * m.whole()
		if c.merges && c.unit > 0 && w.Sequential {
			ios = bytes / float64(c.unit)
		}
		return cost{writeIOs: ios, writeBytes: bytes}
	}
	var sum cost
	g, n := m.grain(bs, stripe), 0.0
	for offset := units.Bytes(0); offset < stripe; offset += g {
		n++
		for at, left := offset, bs; left > 0; {
			part := min(left, stripe-at%stripe)
			sum.add(m.stripePart(at%stripe, part, c), 1)
			at, left = at+part, left-part
		}
	}
	var mean cost
	mean.add(sum, 1/n)
	return mean
}

// stripePart is the cost of writing size bytes at offset within one stripe.
func (m members) stripePart(offset, size units.Bytes, c counting) cost {
	d, p, chunk := float64(m.data), float64(m.parity), float64(m.chunk)
	if size == m.chunk*units.Bytes(m.data) {
		each := c.of(chunk)
		return cost{writeIOs: (d + p) * each * m.whole(), writeBytes: (d + p) * chunk * m.whole()}
	}
	touched := float64((offset+size-1)/m.chunk - offset/m.chunk + 1)
	if m.lost > 0 {
		return m.degradedPart(touched, float64(size), c)
	}
	wide := math.Min(float64(size), chunk) // of the parity that changes
	each := c.of(float64(size) / touched)
	out := cost{writeIOs: (touched + p) * each, writeBytes: float64(size) + p*wide}
	if rest := d - touched; rest < touched+p { // reconstruct-write reads less
		out.readIOs, out.readBytes = rest*each, math.Max(d*wide-float64(size), 0)
	} else {
		out.readIOs, out.readBytes = out.writeIOs, out.writeBytes
	}
	return out
}
