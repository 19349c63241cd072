package ceiling

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// everyOffset is the mean that counted works out of few offsets, over all of them.
func (m members) everyOffset(size, align units.Bytes, read bool, c counting) perMember {
	over := m.chunk * units.Bytes(m.period())
	out, step := perMember{each: make([]cost, m.n)}, topology.GCD(align, over)
	n := float64(over / step)
	for offset := units.Bytes(0); offset < over; offset += step {
		for _, s := range m.touch(nil, offset, size, read, c) {
			m.book(&out, s, read, c.of(float64(s.to-s.from))/n, 1/n)
		}
	}
	out.total()
	return out
}

// The offsets that counted tries stand for all: of each member the same I/Os and bytes.
func TestFewOffsetsStandForAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &topology.Array{
			Level: rapid.SampledFrom([]topology.Level{topology.RAID0, topology.RAID10, topology.RAID5}).Draw(t, "level"),
			Chunk: rapid.SampledFrom([]units.Bytes{4 * k, 64 * k, 96 * k, 256 * k}).Draw(t, "chunk"),
		}
		a.Volumes = make([]topology.Volume, rapid.IntRange(3, 7).Draw(t, "volumes"))
		if layout := rapid.IntRange(0, 2).Draw(t, "layout"); a.Level == topology.RAID10 && layout > 0 {
			a.Near, a.Offset = 1, layout == 2
		}
		m := membersOf(a)
		c := counting{rapid.SampledFrom([]units.Bytes{0, 16 * k, 256 * k}).Draw(t, "unit"), rapid.Bool().Draw(t, "merges")}
		size := units.Bytes(rapid.IntRange(1, 600).Draw(t, "size")) * 512
		align := size
		if rapid.Bool().Draw(t, "other") {
			align = units.Bytes(rapid.IntRange(1, 64).Draw(t, "align")) * 4 * k
		}
		read := a.Level == topology.RAID5 || rapid.Bool().Draw(t, "read")
		got, want := m.counted(size, align, read, c), m.everyOffset(size, align, read, c)
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*(1+y) }
		for i := range m.n {
			g, w := got.on(i, m.n), want.on(i, m.n)
			if !near(g.readIOs, w.readIOs) || !near(g.writeIOs, w.writeIOs) || !near(g.readBytes, w.readBytes) || !near(g.writeBytes, w.writeBytes) {
				t.Fatalf("member %d: %+v of few offsets, %+v of all", i, g, w)
			}
		}
	})
}

// Thirteen members of two copies repeat after 78 chunks of 1 MiB: 28 KiB begin at 19,968 places, six
// of 256 in a chunk cut it. So 1 + 6/256 pieces, and two copies of each.
func TestCutsOfALongPeriod(t *testing.T) {
	a := &topology.Array{Level: topology.RAID10, Copies: 2, Chunk: m, Volumes: make([]topology.Volume, 13)}
	got := membersOf(a).one(28*k, 28*k, false, counting{unit: 256 * k})
	if want := 2 * (1 + 6.0/256); math.Abs(got.writeIOs-want) > 1e-9 || math.Abs(got.writeBytes-2*28*1024) > 1e-6 {
		t.Errorf("%+v, want %.6f I/Os", got.cost, want)
	}
}
