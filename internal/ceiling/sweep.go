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
	bad := fmt.Errorf("sweep %.60q: want bs=4k..1M, iodepth=1..256, or both with a comma", s)
	for part := range strings.SplitSeq(s, ",") {
		name, values, ok := strings.Cut(part, "=")
		lo, hi, isRange := strings.Cut(values, "..")
		if !isRange {
			hi = lo
		}
		switch {
		case !ok, name == "bs" && a.BlockSizes != nil, name == "iodepth" && a.Depths != nil:
			return a, bad
		case name == "bs":
			from, err1 := units.ParseBytes(lo)
			to, err2 := units.ParseBytes(hi)
			if err1 != nil || err2 != nil || from < 512 || to < from || to > units.GiB {
				return a, bad
			}
			for v := from; v <= to; v *= 2 {
				a.BlockSizes = append(a.BlockSizes, v)
			}
		case name == "iodepth":
			from, err1 := strconv.Atoi(lo)
			to, err2 := strconv.Atoi(hi)
			if err1 != nil || err2 != nil || from < 1 || to < from || to > 1<<20 {
				return a, bad
			}
			for v := from; v <= to; v *= 2 {
				a.Depths = append(a.Depths, v)
			}
		default:
			return a, bad
		}
	}
	return a, nil
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
	b := c.Binding()
	for _, o := range c.Bounds {
		if o.Kind == Concurrency && b.Kind != Concurrency {
			return float64(b.IOPS) * o.Demand
		}
	}
	return 0
}

// HasConcurrency is true when a latency is known, so that the I/Os in flight limit the throughput.
func (c Ceiling) HasConcurrency() bool {
	return slices.ContainsFunc(c.Bounds, func(b Bound) bool { return b.Kind == Concurrency })
}
