package topology

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
)

// build models what lies under a device. It goes down through layers that only pass I/O on
// (partitions, encryption, a logical volume in one piece) to the first that combines devices: that
// is the array. Where another combines below it, fold makes one of the two if their arithmetic
// allows.
func (t *Topology) build(device string) Array {
	left := mostLayers
	a := t.within(&left, device)
	if left < 0 {
		t.note("/dev/%s: more than %d devices and paths lie below it: anything beyond them is treated as "+
			"drives", device, mostLayers)
	}
	return a
}

// mostLayers is more than any machine has below one path; a captured one may have devices that are made of each other.
const mostLayers = 1024

// within is build for what may be a part: left is how many more devices are looked at, below 0 none.
func (t *Topology) within(left *int, device string) Array {
	d := t.Tree.Devices[device]
	for ; *left >= 0; *left-- {
		next := t.passes(d)
		if next == nil {
			break
		}
		d = next
	}
	if *left--; *left < 0 {
		return Array{Name: d.Name, Path: d.Path, Size: d.Size, Level: Single, Volumes: []Volume{volume(d)}}
	}
	a := Array{
		Name:   d.Name,
		Path:   d.Path,
		Size:   d.Size,
		Level:  Single,
		Origin: Origin{Detected, "/sys/class/block/" + d.Name},
	}
	subs := t.Tree.Under(d.Name)
	switch {
	case d.MD != nil:
		a.md(d.MD)
	case d.LV != nil && len(subs) > 0:
		a.lv(d)
	case len(subs) > 0:
		a.Level = NoLevel
	}
	if len(subs) == 0 && d.MD == nil {
		a.Volumes = []Volume{volume(d)}
		return a
	}
	if a.Level == NoLevel {
		t.note("%s: how it combines its %d parts is not known", d.Path, len(subs))
	}
	t.addVolumes(left, &a, d, subs)
	if len(a.Volumes) == 0 { // an array that is not running
		a.Level = NoLevel
		t.note("%s has no members", d.Path)
	}
	return a
}

// passes is the one device below a layer that only passes I/O on, nil when the layer combines or is
// a leaf.
func (t *Topology) passes(d *block.Device) *block.Device {
	subs := t.Tree.Under(d.Name)
	if d.MD != nil {
		return nil
	}
	if len(subs) > 1 {
		// Thin pools and caches carry their data in one part and a map of it in another.
		subs = slices.DeleteFunc(subs, func(s string) bool {
			v := t.Tree.Devices[s].LV
			return v != nil && slices.ContainsFunc(strings.Fields("_tmeta _cmeta _cdata _cvol"),
				func(end string) bool { return strings.HasSuffix(v.Name, end) })
		})
		if len(subs) == 0 { // where the data's own part is not seen
			return nil
		}
		// Multipath: several ways to one drive.
		first := t.Tree.Devices[subs[0]]
		if d.Kind == block.DM && first.WWN != "" &&
			!slices.ContainsFunc(subs, func(s string) bool { return t.Tree.Devices[s].WWN != first.WWN }) {
			return first
		}
	}
	if len(subs) == 1 {
		return t.Tree.Devices[subs[0]]
	}
	return nil
}

// md takes over an md array's layout.
func (a *Array) md(r *block.Raid) {
	a.Origin.Where += "/md"
	a.Level = NoLevel
	if l := Level(r.Level); l.Known() {
		a.Level = l
	}
	a.Chunk, a.Degraded = r.Chunk, r.Degraded
	switch a.Level {
	case RAID1:
		a.Copies, a.Chunk = r.Disks, 0
	case RAID10:
		g := a.Geometry()
		g.Kernel(r.Layout)
		a.Copies, a.Near, a.Offset = g.Copies, g.Near, g.Offset
	default:
	}
	if r.Action != "" && r.Action != "idle" && r.Action != "frozen" {
		a.Syncing, a.Progress, a.SyncFloor = r.Action, r.Progress, r.SyncFloor
	}
}

// lv takes over a logical volume's layout.
func (a *Array) lv(d *block.Device) {
	v := d.LV
	a.Level = map[string]Level{
		"striped": RAID0, "raid0": RAID0, "raid0_meta": RAID0, "raid1": RAID1, "mirror": RAID1, "raid10": RAID10,
		"raid5": RAID5, "raid6": RAID6, "linear": Linear,
	}[v.Segment]
	a.Chunk = v.Chunk
	switch a.Level {
	case RAID10:
		a.Copies = 2 // LVM's default, and all it makes where nothing else is asked for (lvmraid(7))
	case RAID1:
		a.Copies = v.Stripes
	default:
	}
	a.Origin.Where = "dmsetup table"
	if v.Inferred {
		a.Origin.Where = "/sys/class/block/" + d.Name + "/queue, inferred"
	}
}

// addVolumes fills in an array's volumes, in the order of the stripe, and folds an array below it
// into it.
func (t *Topology) addVolumes(left *int, a *Array, d *block.Device, subs []string) {
	parts := subs
	if d.MD != nil && len(d.MD.Members) > 0 && d.MD.Disks > 0 {
		parts = make([]string, d.MD.Disks)
		for _, m := range d.MD.Members {
			if m.Slot >= 0 && m.Slot < len(parts) && !strings.Contains(m.State, "faulty") {
				parts[m.Slot] = m.Name
			}
		}
	}
	var inner []Array
	seen := map[string]string{}
	for i, part := range parts {
		if *left < 0 {
			break
		}
		sub := t.Tree.Devices[part]
		if sub == nil { // a hole left by a lost member
			a.Volumes = append(a.Volumes, Volume{
				Missing: true,
				Origin:  Origin{Detected, fmt.Sprintf("slot %d of %s has no working member", i, d.Path)},
			})
			continue
		}
		if sub.LV != nil && strings.Contains(sub.LV.Name, "_rmeta_") {
			continue // the raid's own bookkeeping, beside its image
		}
		one := t.within(left, part)
		inner = append(inner, one)
		for _, v := range one.Volumes {
			if other, ok := seen[v.Device]; ok && v.Device != "" && other != part {
				t.note("%s: %s and %s lie on one volume, /dev/%s", d.Path, other, part, v.Device)
			}
			seen[v.Device] = part
		}
		a.Volumes = append(a.Volumes, one.Volumes...)
	}
	if slices.ContainsFunc(inner, func(i Array) bool { return i.Level != Single }) {
		t.fold(a, inner)
	}
}

// fold makes one array of an outer one over inner ones. Stripes over stripes are stripes, and
// stripes over mirrors are RAID10, with the smaller chunk deciding where an I/O is split. Anything
// else is modelled by the outer layer alone.
func (t *Topology) fold(a *Array, inner []Array) {
	first := inner[0]
	same := !slices.ContainsFunc(inner, func(i Array) bool {
		return i.Level != first.Level || i.Copies != first.Copies || i.Chunk != first.Chunk ||
			len(i.Volumes) != len(first.Volumes)
	})
	names := make([]string, len(inner))
	for i, n := range inner {
		names[i] = n.Name
		a.Degraded += n.Degraded
		if a.Syncing == "" {
			a.Syncing, a.Progress, a.SyncFloor = n.Syncing, n.Progress, n.SyncFloor
		}
	}
	below := strings.Join(names, ", ")
	if a.Level != RAID0 || !same || first.Level != RAID0 && first.Level != RAID1 && first.Level != RAID10 {
		t.note("%s lies over other arrays (%s); only the outer layer is modelled", a.Path, below)
		return
	}
	if first.Level != RAID0 {
		a.Level, a.Copies = RAID10, first.Copies
	}
	if first.Chunk > 0 && (a.Chunk == 0 || first.Chunk < a.Chunk) {
		a.Chunk = first.Chunk
	}
	t.note("%s stripes over other arrays (%s): modelled as one %s of %d volumes", a.Path, below, a.Level, len(a.Volumes))
}

// NVMe is the type of a volume that is a drive of the machine itself.
const NVMe = "nvme"

// volume describes a leaf.
func volume(d *block.Device) Volume {
	v := Volume{
		Device: d.Name, Serial: d.Serial, Model: d.Model, Size: d.Size,
		Origins: map[string]Origin{"device": {Detected, "/sys/class/block/" + d.Name}},
	}
	switch {
	case cloud.IsNetwork(d.Model), cloud.AzureRemote(d.Links):
		v.Network = true
	case d.Kind == block.Loop:
		v.Type = "loop"
	case strings.HasPrefix(d.Name, "nvme"):
		v.Type = NVMe
	}
	// Elsewhere (QEMU, a test lab) the serial alone may say it.
	if v.ID = ebsID(d.Serial); v.ID != "" {
		v.Network, v.Type = true, ""
	}
	return v
}

// ebsID is the volume id behind an EBS serial: vol0123… without a dash, sometimes with it.
func ebsID(serial string) string {
	digits, ok := strings.CutPrefix(serial, "vol")
	digits = strings.TrimPrefix(digits, "-")
	if !ok || (len(digits) != 17 && len(digits) != 8) || strings.Trim(digits, "0123456789abcdef") != "" {
		return ""
	}
	return "vol-" + digits
}
