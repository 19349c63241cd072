package ceiling

import (
	"slices"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// page is what md's RAID5 and RAID6 work in: a stripe_head holds so much of each member, and parity
// is worked out for each such row on its own (drivers/md/raid5.h, DEFAULT_STRIPE_SIZE).
const page = 4 * units.KiB

// gathered says that the stripe cache collects a stream of writes into full stripes.
func (m members) gathered(w fio.Workload) bool {
	synced := w.SyncEvery > 0 || w.SyncWrites
	inFlight := w.WriteBS * units.Bytes(w.InFlight())
	return m.chunk == 0 || w.Sequential && (!synced || inFlight >= m.chunk*units.Bytes(m.data))
}

// fullStripes is the cost of size bytes of them.
func (m members) fullStripes(size float64, c counting) cost {
	bytes := size * float64(m.data+m.parity) / float64(m.data) * m.whole()
	switch {
	case c.merges && c.unit > 0:
		return cost{writeIOs: bytes / float64(c.unit), writeBytes: bytes}
	case m.chunk == 0:
		return cost{writeIOs: c.of(size) * bytes / size, writeBytes: bytes}
	}
	return cost{writeIOs: bytes / float64(m.chunk) * c.of(float64(m.chunk)), writeBytes: bytes}
}

// parityWrite averages a RAID5 or RAID6 write over its offsets in the stripe. md decides for each
// row of pages (drivers/md/raid5.c, handle_stripe_dirtying): read-modify-write reads what it will
// overwrite, parity included; reconstruct-write reads the data that is not overwritten whole, and
// is taken where it reads no more. Both write whole pages, the data's and the parity's. Rows of one
// kind that lie side by side go to a member as one I/O; those of two kinds are ready at different
// times and are written one by one (counted in the lab: testdata/md-counts.tsv).
func (m members) parityWrite(size, align units.Bytes, c counting) perMember {
	stripe := m.chunk * units.Bytes(m.data)
	alike := m.alike(align) || m.lost > 0
	over := stripe
	if !alike {
		over *= units.Bytes(m.n) // parity comes round
	}
	if over := over * c.periods(m.chunk); size > mostPeriods*over {
		return beyond(size, over, func(size units.Bytes) perMember { return m.parityWrite(size, align, c) })
	}
	g := grain(align, over)
	out := perMember{each: make([]cost, m.n)}
	n := float64(over / g)
	for offset := units.Bytes(0); offset < over; offset += g {
		w := parityIO{members: m, counting: c}
		for at, left := offset, size; left > 0; {
			part := min(left, stripe-at%stripe)
			w.stripe(int(at/stripe), at%stripe, at%stripe+part)
			at, left = at+part, left-part
		}
		out.cost.add(w.sum, 1/n)
		for _, s := range w.reads {
			m.book(&out, s, true, c.of(float64(s.to-s.from))*(1/n), 1/n)
		}
		for _, s := range slices.Concat(w.writes[:]...) {
			m.book(&out, s, false, c.of(float64(s.to-s.from))*(1/n), 1/n)
		}
	}
	if out.total(); alike {
		out.each = nil
	}
	return out
}

// parityIO is one write on its way to the members.
type parityIO struct {
	members
	counting
	reads  []stretch
	writes [3][]stretch // of rows that are overwritten whole, modified, reconstructed
	sum    cost         // of what is not in stretches: the parts of a degraded array
}

// stripe writes from..to of one stripe. Between the edges of its first and last chunk, rounded to
// pages both ways, all rows are alike.
func (w *parityIO) stripe(number int, from, to units.Bytes) {
	chunk := w.chunk
	first, last := from%chunk, (to-1)%chunk+1
	edges := [...]units.Bytes{0, first / page * page, up(first), last / page * page, up(last), chunk}
	slices.Sort(edges[:])
	for i, top := range edges[:len(edges)-1] {
		if bottom := min(edges[i+1], chunk); top < bottom {
			w.rows(number, from, to, top, bottom)
		}
	}
}

func up(b units.Bytes) units.Bytes { return (b + page - 1) / page * page }

// rows writes the rows top..bottom of a stripe's chunks, as far as from..to of its data covers them.
func (w *parityIO) rows(number int, from, to, top, bottom units.Bytes) {
	touched, whole := 0, 0
	state := make([]int, w.data) // 1: touched, 2: overwritten whole
	for i := range state {
		base := units.Bytes(i) * w.chunk
		begin, end := max(from, base+top), min(to, base+bottom)
		if begin >= end {
			continue
		}
		touched++
		state[i] = 1
		if end-begin == bottom-top {
			whole++
			state[i] = 2
		}
	}
	switch {
	case touched == 0:
		return
	case w.lost > 0:
		w.sum.add(w.degradedPart(float64(touched), float64(bottom-top), w.counting), 1)
		return
	}
	modify, kind := touched+w.parity < w.data-whole, 2
	switch {
	case whole == w.data:
		kind = 0
	case modify:
		kind = 1
	}
	for i := range w.n {
		// Data begins behind the parity, which moves down a member from stripe to stripe.
		s := stretch{(w.n - 1 - number%w.n + i) % w.n, w.at(number, top), w.at(number, bottom)}
		data := i >= w.parity
		written := !data || state[i-w.parity] > 0
		if modify && written || !modify && data && state[i-w.parity] < 2 {
			w.reads = put(w.reads, s, true)
		}
		if written {
			w.writes[kind] = put(w.writes[kind], s, true)
		}
	}
}

// at is a place on a member. One stripe is worked off after another, so that for a volume their
// chunks lie apart.
func (w *parityIO) at(number int, in units.Bytes) int64 {
	return int64(number)*int64(w.chunk+page) + int64(in)
}
