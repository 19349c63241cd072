package block

import "slices"

// under are the devices directly below one: what it is made of, or the disk of a partition.
func (t *Tree) under(d *Device) []string {
	if d.Parent != "" {
		return []string{d.Parent}
	}
	return d.Slaves
}

// Below is the whole tree under a device, itself first, each device once, in depth-first order: an array, then its first
// member's partition and disk, and so on. It is empty for a device that is not there.
func (t *Tree) Below(name string) []string {
	var all []string
	seen := map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		d := t.Devices[name]
		if d == nil || seen[name] {
			return
		}
		seen[name] = true
		all = append(all, name)
		for _, sub := range t.under(d) {
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
		if d := t.Devices[n]; !slices.ContainsFunc(t.under(d), func(sub string) bool { return t.Devices[sub] != nil }) {
			leaves = append(leaves, d)
		}
	}
	return leaves
}
