package plans

import (
	"fmt"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Sweep is the document of the ceiling of one scenario along one or two axes: where the limit
// changes, then the points.
func Sweep(t *topology.Topology, one Outlook, a ceiling.Axes, points []ceiling.Point) *page.Document {
	d := page.New("ceiling sweep", "Ceiling of "+one.title()+", swept", "points", points)
	d.Records = pointRecords(points)
	d.Head.About, _ = layout(t)
	if len(points) == 0 || !points[0].Ceiling.Known() {
		d.Head.Word = "Ceiling unknown"
		d.Head.Say(unknownHint(t))
		return d
	}
	for i, phrase := range knees(points, a) {
		if i == 0 {
			d.Head.Word = one.title() + ": " + phrase
		} else {
			d.Head.Say(phrase)
		}
	}
	sizes, depths := len(a.BlockSizes), len(a.Depths)
	if depths > 1 && points[0].Ceiling.Concurrency() == nil {
		d.Head.Say("The depth matters only together with a latency: add --read-latency and --write-latency.")
	}
	if sizes > 1 && depths > 1 && depths <= 9 && len(points) == sizes*depths {
		rows, legend := grid(points, depths)
		d.Add(rows, page.Sentences("Limited by: "+strings.Join(legend, ", ")+"."))
		return d
	}
	rows := page.NewTable("bs, iodepth, IOPS, bandwidth, <ceiling set by, sustained?, <limited by?")
	for _, p := range points {
		last, by := p.Sustained.String(), p.SustainedBy
		if p.Ceiling.Held().Then == nil {
			last, by = "", ""
		}
		rows.Add(p.BS, p.Depth, p.IOPS, p.BW, p.LimitedBy, last, by)
	}
	d.Add(rows)
	return d
}

func pointRecords(points []ceiling.Point) page.Table {
	t := page.NewTable("bs_bytes, iodepth, iops, bandwidth_bytes_per_s, ceiling_from, sustained_iops, sustained_from")
	for _, p := range points {
		t.Add(uint64(p.BS), p.Depth, words.Decimal(p.IOPS, 2),
			words.Decimal(p.BW, 0), p.LimitedBy, words.Decimal(p.Sustained, 2), p.SustainedBy)
	}
	return t
}

// letters mark the limit in a grid.
var letters = map[ceiling.Kind]string{
	ceiling.Concurrency:   "c",
	ceiling.VolumeIOPS:    "v",
	ceiling.VolumeRate:    "V",
	ceiling.InstanceIOPS:  "i",
	ceiling.InstanceRate:  "I",
	ceiling.HostCacheIOPS: "h",
	ceiling.HostCacheRate: "H",
	ceiling.RequestedRate: "r",
	ceiling.CgroupIOPS:    "g",
	ceiling.CgroupRate:    "G",
}

// grid is both axes at once: a row for each block size, a column for each depth.
func grid(points []ceiling.Point, depths int) (t page.Table, legend []string) {
	t = page.Captioned("IOPS by block size (down) and iodepth (across)", "bs")
	for _, p := range points[:depths] {
		t.Columns = append(t.Columns, page.Column{Name: fmt.Sprint(p.Depth)})
	}
	for i := 0; i < len(points); i += depths {
		row := []string{points[i].BS.String()}
		for _, p := range points[i : i+depths] {
			kind := p.Ceiling.Binding().Kind
			row = append(row, p.IOPS.String()+letters[kind])
			legend = text.Once(legend, letters[kind]+" "+string(kind))
		}
		t.Add(row)
	}
	return t, legend
}

// knees are the places where the limit changes: the size from which bytes limit instead of I/Os,
// and the depth from which the hardware limits instead of the latency.
func knees(points []ceiling.Point, a ceiling.Axes) []string {
	var all text.Lines
	grid := len(a.BlockSizes) > 1 && len(a.Depths) > 1
	for i := 1; i < len(points); i++ {
		p, q := points[i-1], points[i]
		if p.LimitedBy == q.LimitedBy || grid && p.BS != q.BS {
			continue
		}
		switch {
		case p.BS != q.BS:
			all.Say("Knee between %v and %v: the limit below it is %s, above it %s.", p.BS, q.BS, p.LimitedBy, q.LimitedBy)
		case p.Depth != q.Depth && !grid: // in a grid the letters show it
			phrase := fmt.Sprintf("Knee at bs %v between depth %d and %d: the limit below it is %s, above it %s.",
				p.BS, p.Depth, q.Depth, p.LimitedBy, q.LimitedBy)
			if n := q.Ceiling.Saturation(); n > 0 {
				phrase += fmt.Sprintf(" %s I/Os in flight are enough in total; more would only wait.", units.Number(n))
			}
			all = append(all, phrase)
		}
	}
	if len(all) == 0 && len(points) > 1 && !grid {
		all.Say("No knee: %s is the limit everywhere.", points[0].LimitedBy)
	}
	return all
}
