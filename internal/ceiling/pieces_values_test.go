package ceiling

import (
	"fmt"
	"slices"
	"testing"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// How a run of bytes is counted: once for each unit that it begins, and once where there is no unit.
func TestRunsAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		unit units.Bytes
		run  float64
		want float64
	}{
		"no unit": {0, 1 << 30, 1}, "nothing": {256 * k, 0, 1}, "a byte": {256 * k, 1, 1}, "a unit": {256 * k, 256 * 1024, 1},
		"a byte more": {256 * k, 256*1024 + 1, 2}, "a unit and a half": {256 * k, 384 * 1024, 2}, "of a byte": {1, 3, 3},
	} {
		if got := (counting{unit: c.unit}).of(c.run); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Stretches of a member that lie side by side are one where they are joined.
func TestStretchesAreJoined(t *testing.T) {
	for name, c := range map[string]struct {
		list []stretch
		s    stretch
		join bool
		want []stretch
	}{
		"the first":     {nil, stretch{0, 4, 8}, true, []stretch{{0, 4, 8}}},
		"behind":        {[]stretch{{0, 4, 8}}, stretch{0, 8, 9}, true, []stretch{{0, 4, 9}}},
		"before":        {[]stretch{{0, 4, 8}}, stretch{0, 1, 4}, true, []stretch{{0, 1, 8}}},
		"between two":   {[]stretch{{0, 4, 8}, {0, 9, 12}}, stretch{0, 8, 9}, true, []stretch{{0, 4, 12}}},
		"with a gap":    {[]stretch{{0, 4, 8}}, stretch{0, 9, 12}, true, []stretch{{0, 4, 8}, {0, 9, 12}}},
		"before a gap":  {[]stretch{{0, 4, 8}}, stretch{0, 1, 3}, true, []stretch{{0, 4, 8}, {0, 1, 3}}},
		"of another":    {[]stretch{{1, 4, 8}}, stretch{0, 8, 9}, true, []stretch{{1, 4, 8}, {0, 8, 9}}},
		"among others":  {[]stretch{{0, 4, 8}, {1, 4, 8}, {2, 0, 1}}, stretch{0, 8, 9}, true, []stretch{{0, 4, 9}, {1, 4, 8}, {2, 0, 1}}},
		"never joined":  {[]stretch{{0, 4, 8}}, stretch{0, 8, 9}, false, []stretch{{0, 4, 8}, {0, 8, 9}}},
		"a second time": {[]stretch{{0, 4, 8}}, stretch{0, 4, 8}, true, []stretch{{0, 4, 8}, {0, 4, 8}}},
	} {
		got := put(slices.Clone(c.list), c.s, c.join)
		byPlace := func(a, b stretch) int { return a.dev*1000 + int(a.from) - b.dev*1000 - int(b.from) }
		slices.SortFunc(got, byPlace)
		slices.SortFunc(c.want, byPlace)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// The mirror of a set that has fewest pieces reads, of alike ones the first.
	for name, c := range map[string]struct {
		m       members
		dev     int
		touched []stretch
		want    int
	}{
		"none has any":         {members{n: 4, copies: 2}, 2, nil, 2},
		"the first has one":    {members{n: 4, copies: 2}, 2, []stretch{{dev: 2}}, 3},
		"both have one":        {members{n: 4, copies: 2}, 2, []stretch{{dev: 3}, {dev: 2}}, 2},
		"others have":          {members{n: 4, copies: 2}, 2, []stretch{{dev: 0}, {dev: 1}}, 2},
		"the last of three":    {members{n: 6, copies: 3}, 0, []stretch{{dev: 0}, {dev: 1}, {dev: 1}}, 2},
		"the second of three":  {members{n: 6, copies: 3}, 0, []stretch{{dev: 0}, {dev: 2}, {dev: 2}}, 1},
		"round the end":        {members{n: 5, copies: 2}, 4, []stretch{{dev: 4}}, 0},
		"round it, both alike": {members{n: 5, copies: 2}, 4, []stretch{{dev: 4}, {dev: 0}}, 4},
	} {
		if got := c.m.idlest(c.dev, c.touched); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// What a piece of 8 KiB, counted as 3 and weighed by a half, is to the members: copies take turns in reading.
func TestPiecesAreBooked(t *testing.T) {
	for name, c := range map[string]struct {
		m    members
		dev  int
		read bool
		want []float64 // I/Os of each; of 4 KiB of bytes where it is 3
	}{
		"a write":                     {members{n: 4, copies: 2}, 1, false, []float64{0, 3, 0, 0}},
		"a read":                      {members{n: 4, copies: 1}, 1, true, []float64{0, 3, 0, 0}},
		"of two mirrors":              {members{n: 4, copies: 2}, 2, true, []float64{0, 0, 1.5, 1.5}},
		"of three":                    {members{n: 3, copies: 3}, 0, true, []float64{1, 1, 1}},
		"round the end":               {members{n: 5, copies: 2}, 4, true, []float64{1.5, 0, 0, 0, 1.5}},
		"of far copies":               {members{n: 4, copies: 2, far: true}, 2, true, []float64{0, 0, 3, 0}},
		"of offset copies":            {members{n: 4, copies: 2, offset: true}, 2, true, []float64{0, 0, 3, 0}},
		"of one read that comes back": {members{n: 4, copies: 2, alone: true}, 2, true, []float64{0, 0, 3, 0}},
	} {
		out := perMember{each: make([]cost, c.m.n)}
		c.m.book(&out, stretch{c.dev, 4096, 12288}, c.read, 3, 0.5)
		for i, want := range c.want {
			w := cost{writeIOs: want, writeBytes: want / 3 * 4096}
			if c.read {
				w = cost{readIOs: want, readBytes: want / 3 * 4096}
			}
			if g := out.each[i]; fmt.Sprintf("%.6f", g) != fmt.Sprintf("%.6f", w) {
				t.Errorf("%s: member %d: %+v, want %+v", name, i, g, w)
			}
		}
	}
	// Sums of what all get alike and of what each gets, with their weights.
	even := func(ios float64) perMember { return perMember{cost: cost{readIOs: ios}} }
	each := func(ios ...float64) perMember {
		var p perMember
		for _, n := range ios {
			p.each = append(p.each, cost{readIOs: n})
			p.readIOs += n
		}
		return p
	}
	for name, c := range map[string]struct {
		to, more perMember
		times    float64
		all      float64
		want     []float64
	}{
		"alike":          {even(4), even(2), 0.5, 5, nil},
		"each":           {each(1, 3), each(2, 0), 0.5, 5, []float64{2, 3}},
		"alike and each": {even(4), each(2, 0), 0.5, 5, []float64{3, 2}},
		"each and alike": {each(1, 3), even(2), 0.5, 5, []float64{1.5, 3.5}},
		"to nothing":     {perMember{}, each(2, 4), 0.5, 3, []float64{1, 2}},
	} {
		c.to.add(c.more, c.times)
		var got []float64
		for _, e := range c.to.each {
			got = append(got, e.readIOs)
		}
		if c.to.readIOs != c.all || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v, %v", name, c.to.readIOs, got, c.all, c.want)
		}
	}
}

// After how many chunks a layout repeats, and which offsets load all members alike.
func TestLayoutsRepeat(t *testing.T) {
	array := func(level topology.Level, n, copies, near int, offset bool) members {
		return membersOf(&topology.Array{Level: level, Chunk: 64 * k, Copies: copies, Near: near, Offset: offset, Volumes: make([]topology.Volume, n)})
	}
	for name, c := range map[string]struct {
		m      members
		period int
		alike  map[units.Bytes]bool // multiples of so many KiB
	}{
		// Chunks lie alike where the divisor in common with the row, 256 KiB, goes into a chunk.
		"RAID0 of four":  {array(topology.RAID0, 4, 0, 0, false), 4, map[units.Bytes]bool{0: true, 4: true, 64: true, 96: true, 128: false, 256: false, 320: true}},
		"two pairs":      {array(topology.RAID10, 4, 2, 0, false), 2, map[units.Bytes]bool{64: true, 128: false, 192: true}},
		"near on five":   {array(topology.RAID10, 5, 2, 0, false), 10, map[units.Bytes]bool{64: true, 128: false, 192: true, 320: false}},
		"far":            {array(topology.RAID10, 4, 2, 1, false), 4, map[units.Bytes]bool{64: true, 128: false, 192: true}},
		"far on five":    {array(topology.RAID10, 5, 2, 1, false), 5, map[units.Bytes]bool{64: true, 128: true, 320: false}},
		"offset":         {array(topology.RAID10, 4, 2, 1, true), 4, map[units.Bytes]bool{64: true, 128: false}},
		"offset on five": {array(topology.RAID10, 5, 2, 1, true), 5, map[units.Bytes]bool{128: true, 320: false}},
		// Of parity it is the stripes, of 128 KiB, that all must be met alike: in 384 KiB each once.
		"RAID5 of three": {array(topology.RAID5, 3, 0, 0, false), 6, map[units.Bytes]bool{4: true, 64: true, 128: true, 192: false, 256: true, 384: false}},
		"RAID6 of four":  {array(topology.RAID6, 4, 0, 0, false), 8, map[units.Bytes]bool{64: true, 128: true, 256: false, 384: true, 512: false}},
	} {
		if got := c.m.period(); got != c.period {
			t.Errorf("%s repeats after %d chunks, want %d", name, got, c.period)
		}
		for align, want := range c.alike {
			if got := c.m.alike(align * k); got != want {
				t.Errorf("%s: multiples of %d KiB load all alike: %v", name, align, got)
			}
		}
	}
}
