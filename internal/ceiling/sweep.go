package ceiling

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Axes are the values that a sweep goes through; an empty axis keeps the job's own value.
type Axes struct {
	BlockSizes []units.Bytes
	Depths     []int
}

// ParseAxes reads bs=4k..1M,iodepth=1..256: powers of two from the first value to the last.
func ParseAxes(s string) (Axes, error) {
	var a Axes
	for part := range strings.SplitSeq(s, ",") {
		name, values, _ := strings.Cut(part, "=")
		if !strings.Contains(values, "..") {
			values += ".." + values
		}
		switch all, ok := Doubled(name, values, 1<<20); {
		case ok && name == "bs" && a.BlockSizes == nil:
			for _, v := range all {
				a.BlockSizes = append(a.BlockSizes, units.Bytes(v))
			}
		case ok && name == "iodepth" && a.Depths == nil:
			a.Depths = all
		default:
			return a, fmt.Errorf("sweep %.60q: want bs=4k..1M, iodepth=1..256, or both with a comma", s)
		}
	}
	return a, nil
}

// Doubled are the values of an option from the first of a range such as 4k..1M to the last, each twice the one
// before; false where it is none. Block sizes are at least a sector and at most 1 GiB, others from 1 to most.
func Doubled(option, values string, most int) (all []int, ok bool) {
	lo, hi, _ := strings.Cut(values, "..")
	parse, least := strconv.Atoi, 1
	if option == "bs" {
		parse = func(s string) (int, error) { b, err := units.ParseBytes(s); return int(b), err }
		least, most = 512, int(units.GiB)
	}
	from, err1 := parse(lo)
	to, err2 := parse(hi)
	if err1 != nil || err2 != nil || from < least || to < from || to > most {
		return nil, false
	}
	for v := from; v <= to; v *= 2 {
		all = append(all, v)
	}
	return all, true
}

// Point is one place of a sweep.
type Point struct {
	BS        units.Bytes `json:"bs"`
	Depth     int         `json:"iodepth"`
	IOPS      units.IOPS  `json:"iops"`
	BW        units.Rate  `json:"bw"`
	LimitedBy string      `json:"limited_by"`
	// Sustained is what is left once bursts are spent, and what limits it then.
	Sustained   units.IOPS `json:"sustained_iops"`
	SustainedBy string     `json:"sustained_limited_by"`
	Ceiling     Ceiling    `json:"-"` // whole
}

// Sweep computes the ceiling of loads at each place of the axes. Each ceiling passes through
// adjust, which adds what the user declared, such as a latency. Places without a known limit are
// left out.
func Sweep(
	t *topology.Topology,
	role topology.Role,
	loads []fio.Workload,
	a Axes,
	adjust func(Ceiling) Ceiling,
) []Point {
	sizes, depths := a.BlockSizes, a.Depths
	if len(sizes) == 0 {
		sizes = []units.Bytes{0}
	}
	if len(depths) == 0 {
		depths = []int{0}
	}
	points := []Point{} // [] in JSON
	for _, bs := range sizes {
		for _, depth := range depths {
			varied := vary(loads, bs, depth)
			c := adjust(Of(t, role, varied))
			if b := c.Binding(); b != nil {
				last := c.Held().Lasts()
				points = append(points, Point{
					BS: c.IOSize, Depth: varied[0].Depth, IOPS: b.IOPS, BW: b.BW, LimitedBy: b.Label(), Ceiling: c,
					Sustained: last.IOPS, SustainedBy: last.Label(),
				})
			}
		}
	}
	return points
}

// vary sets block size and depth of each load where they are not 0.
func vary(loads []fio.Workload, bs units.Bytes, depth int) []fio.Workload {
	loads = slices.Clone(loads)
	for i := range loads {
		w := &loads[i]
		if bs > 0 && w.ReadBS > 0 {
			w.ReadBS = bs
		}
		if bs > 0 && w.WriteBS > 0 {
			w.WriteBS = bs
		}
		if depth > 0 {
			w.Depth = depth
		}
	}
	return loads
}

// Saturation is the number of I/Os in flight at which the hardware begins to limit, 0 when
// concurrency limits or no latency is known (N* = ceiling x latency, Denning and Buzen 1978).
func (c Ceiling) Saturation() float64 {
	if b, o := c.Binding(), c.Concurrency(); o != nil && b.Kind != Concurrency {
		return float64(b.IOPS) * o.Demand
	}
	return 0
}
