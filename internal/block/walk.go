package block

import (
	"slices"
	"strings"
)

// Under are the devices directly below one: what it is made of, or the disk of a partition. Only
// those that are in the tree.
func (t *Tree) Under(name string) []string {
	d := t.Devices[name]
	if d == nil {
		return nil
	}
	subs := d.Slaves
	if d.Parent != "" {
		subs = []string{d.Parent}
	}
	return slices.DeleteFunc(slices.Clone(subs), func(s string) bool { return t.Devices[s] == nil })
}

// Below is the whole tree under a device, itself first, each device once, in depth-first order: an
// array, then its first member's partition and disk, and so on. It is empty for a device that is
// not there.
func (t *Tree) Below(name string) []string {
	var all []string
	var walk func(string)
	walk = func(name string) {
		if t.Devices[name] == nil || slices.Contains(all, name) {
			return
		}
		all = append(all, name)
		for _, sub := range t.Under(name) {
			walk(sub)
		}
	}
	walk(name)
	return all
}

// Leaves are the devices at the bottom of a tree, each once: drives, volumes, loop devices.
func (t *Tree) Leaves(name string) []*Device {
	var leaves []*Device
	for _, n := range t.Below(name) {
		if len(t.Under(n)) == 0 {
			leaves = append(leaves, t.Devices[n])
		}
	}
	return leaves
}

// Disk is the disk that a device is or is a partition of, and where on it the device begins. What lies on
// the device lies there alone only where the disk is a leaf, and not an array.
func (t *Tree) Disk(name string) (disk *Device, start int64, leaf bool) {
	disk = t.Devices[name]
	if disk == nil {
		return nil, 0, false
	}
	if parent := t.Devices[disk.Parent]; disk.Parent != "" && parent != nil {
		start, disk = int64(disk.Start), parent
	}
	return disk, start, len(t.Under(disk.Name)) == 0
}

// Twins are the SCSI disks that are other paths to a disk's logical unit: alike in serial number, model and size.
// udev's ID_WWN alone says nothing, since it is an array's where the number goes on in an extension.
func (t *Tree) Twins(d *Device) []string {
	scsi := func(d *Device) bool { return d.Kind == Disk && strings.HasPrefix(d.Name, "sd") && d.Serial != "" }
	var all []string
	for _, name := range t.Names() {
		o := t.Devices[name]
		if o != d && scsi(d) && scsi(o) && o.Serial == d.Serial && o.WWN == d.WWN && o.Model == d.Model && o.Size == d.Size {
			all = append(all, name)
		}
	}
	return all
}
