package machine

import (
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
	d := &page.Document{Kind: "inventory", Data: page.DataOf("inventory", inv)}
	rows := page.NewTable("", "<disk", "<size", "<type", "<serial", "<NUMA?", "<rates??")
	records := page.NewTable("", "disk", "size_bytes", "type", "serial", "numa", "iops", "bandwidth_bytes_per_s",
		"unused", "uses", "model", "by_id")
	unused := 0
	for _, one := range inv.Disks {
		numa := ""
		if one.NUMANode >= 0 {
			numa = fmt.Sprint(one.NUMANode)
		}
		kind := one.Type
		if kind == "" && one.Network {
			kind = "network"
		}
		if one.Unused() {
			unused++
		}
		row := page.Cells(text.Clean(one.Path, 40), one.Size.String(), words.Or(kind, words.None),
			words.Or(text.Clean(one.Serial, 40), words.None), words.Or(numa, words.None),
			words.Or(words.Limits(topology.Limits{IOPS: one.Sustained.IOPS, Rate: one.Sustained.Rate}, false), words.None))
		row[0].Also = usedBy(one)
		row[3].Also = aboutDisk(one)
		rows.Rows = append(rows.Rows, row)
		records.Add(one.Path, plainly(one.Size), kind, one.Serial, numa, words.Decimal(float64(one.Sustained.IOPS), 0),
			words.Decimal(float64(one.Sustained.Rate), 0), fmt.Sprint(one.Unused()), strings.Join(one.Uses, "; "), one.Model,
			one.ByID)
	}
	d.Head = page.Headline{Word: fmt.Sprintf("%s, %d unused", text.Plural(len(inv.Disks), "disk"), unused)}
	d.Records = &records
	d.Add(rows)
	if len(inv.Notes) > 0 {
		d.Add(page.Note{Lead: "note", Lines: inv.Notes})
	}
	return d
}

// usedBy says who uses a disk, or how sure it is that nobody does.
func usedBy(d topology.Disk) string {
	switch {
	case !d.Unused():
		return "used: " + text.Clean(strings.Join(d.Uses, "; "), 400)
	case d.Unseen:
		return "unused as far as is seen: what is on it could not be looked at; run as root"
	}
	return "unused: nothing is recognised on it, and nothing is made of it"
}

func aboutDisk(d topology.Disk) string {
	id, mapped := "", ""
	if d.ID != d.Serial {
		id = text.Clean(d.ID, 40)
	}
	if d.Mapped != "" {
		mapped = "attached as " + text.Clean(d.Mapped, 32)
	}
	return words.Join(", ", text.Clean(d.Model, 40), id, mapped, text.Clean(d.ByID, 120))
}
