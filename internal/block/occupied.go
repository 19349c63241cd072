package block

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// Occupied are the reasons why a device is not blank, as clauses and as far as the tree shows them.
// Who has it open is among them where ReadUsers was called.
func (t *Tree) Occupied(d *Device) []string {
	var why []string
	add := func(format string, args ...any) { why = append(why, fmt.Sprintf(format, args...)) }
	for _, m := range t.MountsOf(d.Name) {
		add("it is mounted on %s", m.Point)
	}
	if slices.Contains(t.Swaps, d.Name) {
		add("it is used as swap")
	}
	for _, h := range d.Holders {
		name := h
		up := t.Devices[h]
		if up != nil {
			name = up.Path
		}
		if up != nil && strings.HasPrefix(up.DM, "mpath-") {
			add("multipathd has made %s of it (blacklist the disk's wwid in /etc/multipath.conf, then: multipath "+
				"-f %s)", name, text.ShellQuote(strings.TrimPrefix(name, "/dev/mapper/")))
			continue
		}
		add("%s is made of it", name)
	}
	why = append(why, t.UsersOf(d.Name)...)
	for _, p := range d.Partitions {
		if part := t.Devices[p]; part != nil {
			if inner := t.Occupied(part); len(inner) > 0 {
				add("its partition %s: %s", part.Path, strings.Join(inner, ", "))
				continue
			}
		}
		add("it has the partition %s", p)
	}
	// udev gives a partition the type of the table that it is in.
	table := d.Kind == Partition && (d.Signature == "gpt" || d.Signature == "dos")
	if d.Signature != "" && d.Signature != "?" && len(why) == 0 && !table {
		add("it carries %s%s%s", d.Signature, labelled(d), advice[d.Signature])
	}
	if d.ReadOnly {
		add("it is read-only")
	}
	return why
}

// InUse tells whether somebody uses a device or a part of it, so that it must be let go of before
// anything on it can be destroyed: it is mounted, swap, a part of something else, or open.
func (t *Tree) InUse(d *Device) bool {
	return len(t.Using(d)) > 0
}

// Using is who uses a device, its partitions or the disk that it is a part of, as clauses, apart from what
// lies on them unused. Who has them open is among them where ReadUsers was called.
func (t *Tree) Using(d *Device) []string {
	var why []string
	for _, name := range append([]string{d.Name}, d.Partitions...) {
		dev := t.Devices[name]
		if dev == nil {
			continue
		}
		for _, m := range t.MountsOf(name) {
			why = append(why, fmt.Sprintf("%s is mounted on %s", dev.Path, m.Point))
		}
		if slices.Contains(t.Swaps, name) {
			why = append(why, dev.Path+" is used as swap")
		}
		for _, h := range dev.Holders {
			why = append(why, fmt.Sprintf("/dev/%s is made of %s", h, dev.Path))
		}
		for _, u := range t.UsersOf(name) {
			why = append(why, dev.Path+": "+u)
		}
	}
	if disk := t.Devices[d.Parent]; disk != nil {
		for _, u := range t.UsersOf(disk.Name) {
			why = append(why, disk.Path+": "+u)
		}
	}
	return why
}

// Now reads the machine of the tree again, with who uses its devices but the process self. A tree
// that was imported stays as it is.
func (t *Tree) Now(self int) (*Tree, error) {
	if t.root == nil {
		return t, nil
	}
	now, err := Read(&sys.Machine{Root: t.root})
	if err == nil {
		now.ReadUsers(self)
	}
	return now, err
}

// advice is for filesystems that spread over devices by themselves, and that plimsoll recognises
// and does not build.
var advice = map[string]string{
	"btrfs":      " (a filesystem that may spread over several devices: btrfs filesystem show)",
	"zfs_member": " (a member of a ZFS pool, imported or not: zpool import, zpool status)",
}

func labelled(d *Device) string {
	if d.Label == "" {
		return ""
	}
	return fmt.Sprintf(" labelled %.40q", d.Label)
}
