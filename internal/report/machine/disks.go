package machine

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Disks is the document of an inventory: a row for each disk, under it who uses it, or that nobody
// does.
func Disks(inv *topology.Inventory) *page.Document {
	rows := page.NewTable("<disk, <size, <type, <serial, <NUMA?, <rates??")
	records := page.NewTable("disk, size_bytes, type, serial, numa, iops, bandwidth_bytes_per_s, unused, uses, model, " +
		"by_id")
	unused := 0
	for _, one := range inv.Disks {
		numa := words.When(one.NUMANode >= 0, fmt.Sprint(one.NUMANode))
		kind := cmp.Or(one.Type, words.When(one.Network, "network"))
		if one.Unused() {
			unused++
		}
		row := page.Cells(one.Path, one.Size, words.Figure(kind), words.Figure(one.Serial),
			words.Figure(numa),
			cmp.Or(words.Limits(topology.Limits{IOPS: one.Sustained.IOPS, Rate: one.Sustained.Rate}, false), words.None))
		row[0].Also = usedBy(one)
		row[3].Also = aboutDisk(one)
		rows.Add(row)
		records.Record(one.Path, one.Size, kind, one.Serial, numa, one.Sustained.IOPS, one.Sustained.Rate,
			one.Unused(), strings.Join(one.Uses, "; "), one.Model,
			one.ByID)
	}
	d := page.New("inventory", fmt.Sprintf("%s, %d unused", text.Several(inv.Disks, "disk"), unused), "inventory", inv)
	d.Records = records
	d.Add(rows, page.Lead("note", inv.Notes...))
	return d
}

// usedBy says who uses a disk, or how sure it is that nobody does.
func usedBy(d topology.Disk) string {
	switch {
	case !d.Unused():
		return "used: " + strings.Join(d.Uses, "; ")
	case d.Unseen:
		return "apparently unused: its contents could not be read; run as root"
	}
	return "unused: nothing is recognised on it, and nothing uses it"
}

func aboutDisk(d topology.Disk) string {
	if d.ID == d.Serial {
		d.ID = ""
	}
	return text.Join(", ", d.Model, d.ID, words.Known("attached as", d.Mapped), d.ByID)
}
