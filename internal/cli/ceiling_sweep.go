package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// axes are the values that a sweep goes through; an empty one keeps the job's own.
type axes struct {
	bs    []units.Bytes
	depth []int
}

// parseSweep reads bs=4k..1M,iodepth=1..256: powers of two from the first to the last.
func parseSweep(s string) (axes, error) {
	var a axes
	for part := range strings.SplitSeq(s, ",") {
		name, span, ok := strings.Cut(part, "=")
		lo, hi, isRange := strings.Cut(span, "..")
		if !isRange {
			hi = lo
		}
		bad := fmt.Errorf("--sweep %.60q: want bs=4k..1M, iodepth=1..256, or both with a comma", s)
		switch {
		case !ok, name == "bs" && a.bs != nil, name == "iodepth" && a.depth != nil:
			return a, bad
		case name == "bs":
			from, err1 := units.ParseBytes(lo)
			to, err2 := units.ParseBytes(hi)
			if err1 != nil || err2 != nil || from < 512 || to < from || to > units.GiB {
				return a, bad
			}
			for v := from; v <= to; v *= 2 {
				a.bs = append(a.bs, v)
			}
		case name == "iodepth":
			from, err1 := strconv.Atoi(lo)
			to, err2 := strconv.Atoi(hi)
			if err1 != nil || err2 != nil || from < 1 || to < from || to > 1<<20 {
				return a, bad
			}
			for v := from; v <= to; v *= 2 {
				a.depth = append(a.depth, v)
			}
		default:
			return a, bad
		}
	}
	return a, nil
}

// point is one place of a sweep.
type point struct {
	BS        units.Bytes     `json:"bs"`
	Depth     int             `json:"iodepth"`
	IOPS      units.IOPS      `json:"iops"`
	BW        units.Rate      `json:"bw"`
	BoundBy   string          `json:"bound_by"`
	Sustained units.IOPS      `json:"sustained_iops"`
	ceiling   ceiling.Ceiling // whole
}

func runSweep(env *Env, o ceilingOptions, t *topology.Topology, one outlook) error {
	a, err := parseSweep(o.sweep)
	if err != nil {
		return usage(err)
	}
	points := o.points(t, one, a)
	if o.json {
		return printJSON(env.Out, points)
	}
	fmt.Fprintf(env.Out, "Ceiling of %d %s, swept\n", one.ID, oneLine(one.Name, 30))
	printLayout(env.Out, t)
	if len(points) == 0 || !points[0].ceiling.Known() {
		unknownHint(env.Out)
		return nil
	}
	if len(a.bs) > 1 && len(a.depth) > 1 && len(a.depth) <= 9 && len(points) == len(a.bs)*len(a.depth) {
		printGrid(env.Out, points, len(a.depth))
	} else {
		printPoints(env.Out, points)
	}
	for _, text := range knees(points, a) {
		para(env.Out, "", text)
	}
	if len(a.depth) > 1 && points[0].ceiling.Bounds[0].Kind != ceiling.Concurrency && !hasConcurrency(points[0].ceiling) {
		para(env.Out, "", "The depth matters only beside a latency: say it with --read-latency and --write-latency.")
	}
	return nil
}

func printPoints(w io.Writer, points []point) {
	fmt.Fprintf(w, "\n%9s %8s %12s %13s  %s\n", "bs", "iodepth", "IOPS", "", "held there by")
	for _, p := range points {
		fmt.Fprintf(w, "%9v %8d %12v %13s  %s\n", p.BS, p.Depth, p.IOPS, mib(p.BW), p.BoundBy)
	}
	fmt.Fprintln(w)
}

// letters stand for what binds, in a grid.
var letters = map[ceiling.Kind]string{
	ceiling.Concurrency: "c", ceiling.VolumeIOPS: "v", ceiling.VolumeRate: "V", ceiling.InstanceIOPS: "i", ceiling.InstanceRate: "I",
	ceiling.RequestedRate: "r",
}

// printGrid is both axes at once: a row a block size, a column a depth.
func printGrid(w io.Writer, points []point, depths int) {
	fmt.Fprintf(w, "\nIOPS by block size (down) and iodepth (across)\n\n%7s", "")
	for _, p := range points[:depths] {
		fmt.Fprintf(w, " %7d", p.Depth)
	}
	var legend []string
	for i, p := range points {
		if i%depths == 0 {
			fmt.Fprintf(w, "\n%7v", p.BS)
		}
		kind := p.ceiling.Binding().Kind
		n := p.IOPS.String()
		if p.IOPS >= 99999.5 {
			n = fmt.Sprintf("%.0fk", p.IOPS/1000)
		}
		fmt.Fprintf(w, " %6s%s", n, letters[kind])
		if l := letters[kind] + " " + string(kind); !slices.Contains(legend, l) {
			legend = append(legend, l)
		}
	}
	fmt.Fprint(w, "\n\n")
	para(w, "", "Held there by: "+strings.Join(legend, ", ")+".")
}

func (o ceilingOptions) points(t *topology.Topology, one outlook, a axes) []point {
	sizes, depths := a.bs, a.depth
	if len(sizes) == 0 {
		sizes = []units.Bytes{0}
	}
	if len(depths) == 0 {
		depths = []int{0}
	}
	points := []point{} // [] in JSON
	for _, bs := range sizes {
		for _, depth := range depths {
			loads := slices.Clone(one.loads)
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
			c := o.withLatency(ceiling.Of(t, one.Role, loads))
			b, last := c.Binding(), c.Sustained()
			if b == nil {
				continue
			}
			p := point{BS: c.IOSize, Depth: loads[0].Depth, IOPS: b.IOPS, BW: b.BW, BoundBy: b.Label(), ceiling: c}
			if last != nil {
				p.Sustained = last.IOPS
			}
			points = append(points, p)
		}
	}
	return points
}

// knees says where the curve bends: the size from which bytes bind instead of I/Os, and the depth from which the
// hardware binds instead of the latency (N* = ceiling × latency).
func knees(points []point, a axes) []string {
	var all []string
	for i := 1; i < len(points); i++ {
		p, q := points[i-1], points[i]
		if p.BoundBy == q.BoundBy || len(a.bs) > 1 && len(a.depth) > 1 && p.BS != q.BS {
			continue
		}
		switch {
		case p.BS != q.BS:
			all = append(all, fmt.Sprintf("Knee between %v and %v: below it %s holds, above it %s.", p.BS, q.BS, p.BoundBy, q.BoundBy))
		case p.Depth != q.Depth && len(a.bs) <= 1: // in a grid the letters show it
			text := fmt.Sprintf("Knee at bs %v between depth %d and %d: below it %s holds, above it %s.", p.BS, p.Depth, q.Depth, p.BoundBy, q.BoundBy)
			if n := saturation(q.ceiling); n > 0 {
				text += fmt.Sprintf(" %.3g I/Os in flight in all would do; more only wait.", n)
			}
			all = append(all, text)
		}
	}
	if len(all) == 0 && len(points) > 1 && (len(a.bs) <= 1 || len(a.depth) <= 1) {
		all = append(all, fmt.Sprintf("No knee: %s holds all along.", points[0].BoundBy))
	}
	return all
}

// saturation is the number of I/Os in flight at which the hardware begins to bind.
func saturation(c ceiling.Ceiling) float64 {
	b := c.Binding()
	for _, o := range c.Bounds {
		if o.Kind == ceiling.Concurrency && b.Kind != ceiling.Concurrency {
			return float64(b.IOPS) * o.Demand
		}
	}
	return 0
}

func hasConcurrency(c ceiling.Ceiling) bool {
	for _, b := range c.Bounds {
		if b.Kind == ceiling.Concurrency {
			return true
		}
	}
	return false
}
