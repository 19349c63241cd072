package report

import (
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Disks prints an inventory: one line a disk, and under it who uses it, or that nobody does.
func Disks(w io.Writer, inv *topology.Inventory, width int) error {
	head := []string{"disk", "size", "type", "serial", "NUMA", "rates"}
	rows := make([][]string, 0, len(inv.Disks))
	for _, d := range inv.Disks {
		numa := "-"
		if d.NUMANode >= 0 {
			numa = fmt.Sprint(d.NUMANode)
		}
		kind := d.Type
		if kind == "" && d.Network {
			kind = "network"
		}
		rows = append(
			rows,
			[]string{
				text.Clean(d.Path, 40),
				d.Size.String(),
				orDash(kind),
				orDash(text.Clean(d.Serial, 40)),
				numa,
				orDash(diskRates(d)),
			},
		)
	}
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], text.Width(cell))
		}
	}
	line := func(row []string) string {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			b.WriteString(text.PadRight(cell, widths[i]))
		}
		return strings.TrimRight(b.String(), " ")
	}
	var out strings.Builder
	out.WriteString(line(head) + "\n")
	unused := 0
	for i, d := range inv.Disks {
		out.WriteString(line(rows[i]) + "\n")
		state := "unused: nothing is recognised on it, and nothing is made of it"
		if d.Unseen {
			state = "unused as far as is seen: what is on it could not be looked at; run as root"
		}
		if d.Unused() {
			unused++
		} else {
			state = "used: " + text.Clean(strings.Join(d.Uses, "; "), 400)
		}
		for _, l := range text.Wrap(state, width, "  ", "    ") {
			out.WriteString(l + "\n")
		}
		about := []string{text.Clean(d.Model, 40)}
		if d.ID != "" && d.ID != d.Serial {
			about = append(about, text.Clean(d.ID, 40))
		}
		if d.Mapped != "" {
			about = append(about, "attached as "+text.Clean(d.Mapped, 32))
		}
		about = append(about, text.Clean(d.ByID, 120))
		if s := strings.Join(nonEmpty(about), ", "); s != "" {
			out.WriteString("  " + s + "\n")
		}
	}
	fmt.Fprintf(&out, "%s, %d unused\n", text.Plural(len(inv.Disks), "disk"), unused)
	for _, n := range inv.Notes {
		fmt.Fprintf(&out, "note: %s\n", text.Clean(n, 600))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func diskRates(d topology.Disk) string {
	var parts []string
	if d.Sustained.IOPS > 0 {
		parts = append(parts, d.Sustained.IOPS.String()+" IOPS")
	}
	if d.Sustained.Rate > 0 {
		parts = append(parts, d.Sustained.Rate.String())
	}
	return strings.Join(parts, ", ")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func nonEmpty(all []string) []string {
	var some []string
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}
