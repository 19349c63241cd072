package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Sweep prints the ceiling of one scenario along one or two axes, and where the limit changes.
func Sweep(w io.Writer, t *topology.Topology, one Outlook, a ceiling.Axes, points []ceiling.Point, o Options) error {
	p := newTerminal(w, o)
	fmt.Fprintf(p.out, "Ceiling of %d %s, swept\n", one.ID, text.Clean(one.Name, 30))
	p.layout(t)
	if len(points) == 0 || !points[0].Ceiling.Known() {
		p.unknownHint()
		return p.out.Flush()
	}
	sizes, depths := len(a.BlockSizes), len(a.Depths)
	if sizes > 1 && depths > 1 && depths <= 9 && len(points) == sizes*depths {
		p.grid(points, depths)
	} else {
		p.points(points)
	}
	for _, phrase := range knees(points, a) {
		p.para("", plain, phrase)
	}
	if depths > 1 && !points[0].Ceiling.HasConcurrency() {
		p.para("", plain, "The depth matters only together with a latency: add --read-latency and --write-latency.")
	}
	return p.out.Flush()
}

func (t *terminal) points(points []ceiling.Point) {
	fmt.Fprintf(t.out, "\n%9s %8s %12s %13s  %s\n", "bs", "iodepth", "IOPS", "", "limited by")
	for _, p := range points {
		fmt.Fprintf(t.out, "%9v %8d %12v %13s  %s\n", p.BS, p.Depth, p.IOPS, p.BW.String(), p.LimitedBy)
	}
	fmt.Fprintln(t.out)
}

// letters mark the limit in a grid.
var letters = map[ceiling.Kind]string{
	ceiling.Concurrency:   "c",
	ceiling.VolumeIOPS:    "v",
	ceiling.VolumeRate:    "V",
	ceiling.InstanceIOPS:  "i",
	ceiling.InstanceRate:  "I",
	ceiling.RequestedRate: "r",
	ceiling.CgroupIOPS:    "g",
	ceiling.CgroupRate:    "G",
}

// grid is both axes at once: a row per block size, a column per depth.
func (t *terminal) grid(points []ceiling.Point, depths int) {
	fmt.Fprintf(t.out, "\nIOPS by block size (down) and iodepth (across)\n\n%7s", "")
	for _, p := range points[:depths] {
		fmt.Fprintf(t.out, " %7d", p.Depth)
	}
	var legend []string
	for i, p := range points {
		if i%depths == 0 {
			fmt.Fprintf(t.out, "\n%7v", p.BS)
		}
		kind := p.Ceiling.Binding().Kind
		n := p.IOPS.String()
		if p.IOPS >= 99999.5 { // seven columns hold no more
			n = units.Number(math.Round(float64(p.IOPS)/1000)) + "k"
		}
		fmt.Fprintf(t.out, " %6s%s", n, letters[kind])
		if l := letters[kind] + " " + string(kind); !slices.Contains(legend, l) {
			legend = append(legend, l)
		}
	}
	fmt.Fprint(t.out, "\n\n")
	t.para("", plain, "Limited by: "+strings.Join(legend, ", ")+".")
}

// knees are the places where the limit changes: the size from which bytes limit instead of I/Os,
// and the depth from which the hardware limits instead of the latency.
func knees(points []ceiling.Point, a ceiling.Axes) []string {
	var all []string
	grid := len(a.BlockSizes) > 1 && len(a.Depths) > 1
	for i := 1; i < len(points); i++ {
		p, q := points[i-1], points[i]
		if p.LimitedBy == q.LimitedBy || grid && p.BS != q.BS {
			continue
		}
		switch {
		case p.BS != q.BS:
			all = append(
				all,
				fmt.Sprintf("Knee between %v and %v: %s limits below, %s above.", p.BS, q.BS, p.LimitedBy, q.LimitedBy),
			)
		case p.Depth != q.Depth && !grid: // in a grid the letters show it
			phrase := fmt.Sprintf("Knee at bs %v between depth %d and %d: %s limits below, %s above.",
				p.BS, p.Depth, q.Depth, p.LimitedBy, q.LimitedBy)
			if n := q.Ceiling.Saturation(); n > 0 {
				phrase += fmt.Sprintf(" %s I/Os in flight are enough in all; more only wait.", units.Number(n))
			}
			all = append(all, phrase)
		}
	}
	if len(all) == 0 && len(points) > 1 && !grid {
		all = append(all, fmt.Sprintf("No knee: %s is the limit everywhere.", points[0].LimitedBy))
	}
	return all
}
