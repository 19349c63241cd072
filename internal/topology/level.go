package topology

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/units"
)

// Level is a way of combining volumes.
type Level string

// The levels that plimsoll models.
const (
	Single  Level = "single"
	RAID0   Level = "raid0" // md RAID0, LVM striped and raid0
	RAID1   Level = "raid1"
	RAID10  Level = "raid10"
	RAID5   Level = "raid5"
	RAID6   Level = "raid6"
	Linear  Level = "linear" // concatenation: one volume at a time
	NoLevel Level = ""       // not known
)

// Levels are all that are known.
var Levels = []Level{Single, RAID0, RAID1, RAID10, RAID5, RAID6, Linear}

// Known says whether a level is one of Levels.
func (l Level) Known() bool { return slices.Contains(Levels, l) }

// Striped says whether an array of this level is cut into chunks over its members.
func (l Level) Striped() bool { return l == RAID0 || l == RAID10 || l.Parity() > 0 }

// Redundant says whether an array of this level survives the loss of a member, by copies or by
// parity.
func (l Level) Redundant() bool { return l.Mirrored() || l.Parity() > 0 }

// Mirrored says whether an array of this level keeps copies.
func (l Level) Mirrored() bool { return l == RAID1 || l == RAID10 }

// Parity is how many members' worth of parity a stripe holds.
func (l Level) Parity() int { return map[Level]int{RAID5: 1, RAID6: 2}[l] }

// Geometry is what an array's arithmetic needs.
type Geometry struct {
	Level   Level
	Members int
	// Copies of each block on RAID1 and RAID10, 2 when 0. Near is how many of them lie next to each
	// other at the same place of neighbouring members (md's near layout), all when 0; the others
	// are far or offset copies: offset ones lie in the next row of chunks, far ones in another part
	// of the member.
	Copies, Near int
	Offset       bool
}

// WriteCopies is how many members a write of one block goes to, parity aside: at least 1.
func (g Geometry) WriteCopies() int {
	copies := 1
	switch g.Level { //nolint:exhaustive // the others have one
	case RAID1:
		copies = g.Members
	case RAID10:
		copies = min(cmp.Or(g.Copies, 2), g.Members)
	}
	return max(copies, 1)
}

// DataMembers is the number of members whose bytes a full stripe holds, at least 1 with redundancy.
func (g Geometry) DataMembers() int {
	switch {
	case g.Level == RAID1, g.Level == Linear:
		return 1
	case g.Level.Redundant():
		return max(g.Members/g.WriteCopies()-g.Level.Parity(), 1)
	}
	return g.Members
}

// StripeMembers is the number of chunks in the stripe that a filesystem should know, which is what
// md and LVM tell mkfs. It is DataMembers but on RAID10 with far or offset copies, whose chunks run
// over all members as those of RAID0 do, and on near copies that do not divide the members
// (drivers/md/raid10.c, raid10_set_io_opt; Linux 6.1).
func (g Geometry) StripeMembers() int {
	if g.Level != RAID10 {
		return g.DataMembers()
	}
	near := cmp.Or(g.Near, g.WriteCopies())
	if g.Members%near == 0 {
		return g.Members / near
	}
	return g.Members
}

// Mdadm reads mdadm's --layout of RAID10 into the geometry: n2, f2, o3, "near=2"; near-2 when it is
// empty.
func (g *Geometry) Mdadm(layout string) {
	g.Copies, g.Near = 2, 2
	n, err := strconv.Atoi(strings.TrimLeft(layout, "nearfost="))
	if err != nil || n < 1 {
		return
	}
	g.Copies, g.Near = n, n
	if layout[0] != 'n' {
		g.Near, g.Offset = 1, layout[0] == 'o'
	}
}

// Kernel reads md's layout number of RAID10: near copies in the low byte, far copies, or offset
// ones, in the next (md(4), raid10.c setup_geo).
func (g *Geometry) Kernel(layout int) {
	if layout <= 0 {
		g.Copies, g.Near = 2, 2
		return
	}
	g.Near = max(layout&0xff, 1)
	g.Copies = g.Near * max(layout>>8&0xff, 1)
	g.Offset = layout>>16&1 == 1
}

// Geometry is the array's. A member that a degraded array lacks counts.
func (a Array) Geometry() Geometry {
	return Geometry{Level: a.Level, Members: len(a.Volumes), Copies: a.Copies, Near: a.Near, Offset: a.Offset}
}

// DataMembers is the number of volumes whose bytes a full stripe holds, at least 1 with redundancy.
func (a Array) DataMembers() int { return a.Geometry().DataMembers() }

// Stripe is chunk × stripe members, 0 where there is no chunk.
func (a Array) Stripe() units.Bytes { return a.Chunk * units.Bytes(a.Geometry().StripeMembers()) }

// LVM is the word for logical volumes where an array is declared; any other stands for md.
const LVM = "lvm"

// DefaultChunk is what mdadm takes when it is given no --chunk (mdadm(8), since 3.1), or lvcreate
// when it is given no --stripesize (lvmcreate(8)).
func DefaultChunk(using string) units.Bytes {
	if using == LVM {
		return 64 * units.KiB
	}
	return 512 * units.KiB
}

// Pieces is the mean number of pieces that an I/O of size bs is cut into at chunk boundaries, for
// offsets that are multiples of bs: the exact average over lcm(bs, chunk), which is 1 + (bs -
// GCD(bs, chunk)) / chunk. 28 KiB: 1.375 on 64 KiB chunks, 1.1875 on 128 KiB, 1.046875 on 512 KiB.
func Pieces(bs, chunk units.Bytes) float64 { return PiecesAligned(bs, bs, chunk) }

// PiecesAligned is Pieces for offsets that are multiples of align, as fio's bsrange= and
// blockalign= make them. Sizes of a mixture are averaged by their shares.
func PiecesAligned(bs, align, chunk units.Bytes) float64 {
	if bs == 0 || chunk == 0 {
		return 1
	}
	// Offsets fall on all multiples of g within a chunk, equally often; of these a bs that is
	// rounded up to g crosses a boundary (bs-g)/g times in all, out of chunk/g offsets.
	g := GCD(max(align, 1), chunk)
	up := (bs + g - 1) / g * g
	return 1 + float64(up-g)/float64(chunk)
}

// GCD is the greatest common divisor.
func GCD[T ~int64 | ~uint64](a, b T) T {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}
