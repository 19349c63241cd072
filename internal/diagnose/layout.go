package diagnose

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/topology"
)

// Arrays lists the arrays of a case, none without a topology.
func (c *Case) Arrays() []topology.Array {
	if c.Topology == nil {
		return nil
	}
	return c.Topology.Arrays
}

// Targets lists the paths under test.
func (c *Case) Targets() []topology.Target {
	if c.Topology == nil {
		return nil
	}
	return c.Topology.Targets
}

// ArrayOf returns the array that a measurement ran on: that of its role, or the only one there is.
func (c *Case) ArrayOf(m Measurement) *topology.Array {
	if c.Topology == nil {
		return nil
	}
	if t := c.Topology.For(m.Scenario.Role); t != nil {
		if a := c.Topology.Array(t.Array); a != nil {
			return a
		}
	}
	if len(c.Topology.Arrays) == 1 {
		return &c.Topology.Arrays[0]
	}
	return nil
}

// ScenariosOn lists the scenarios that ran on an array.
func (c *Case) ScenariosOn(array string) []int {
	var ids []int
	for _, m := range c.Runs {
		if a := c.ArrayOf(m); a != nil && a.Name == array && m.Result != nil && m.Scenario.ID != 0 {
			ids = append(ids, m.Scenario.ID)
		}
	}
	return ids
}

// Device returns a block device of the tree, nil where the tree or the device is not known.
func (c *Case) Device(name string) *block.Device {
	if c.Topology == nil || c.Topology.Tree == nil {
		return nil
	}
	return c.Topology.Tree.Devices[name]
}

// Mounted is a mount of a device under test.
type Mounted struct {
	block.Mount
	Array *topology.Array // nil where there is none
	Roles []topology.Role // of the targets on its device
}

// Mounts lists every mount of a device under test once, from the targets and from the tree. Where
// only a declaration names the filesystem, its device is the array's name.
func (c *Case) Mounts() []Mounted {
	var all []Mounted
	add := func(m Mounted) {
		if !slices.ContainsFunc(all, func(o Mounted) bool { return o.Point == m.Point && o.Device == m.Device }) {
			all = append(all, m)
		}
	}
	for _, t := range c.Targets() {
		if t.Mount == nil {
			continue
		}
		m := Mounted{Mount: *t.Mount, Array: c.Topology.Array(t.Array)}
		m.Device = cmp.Or(m.Device, t.Device, t.Array)
		if m.Device != "" {
			add(m)
		}
	}
	if c.Topology != nil && c.Topology.Tree != nil {
		for _, m := range c.Topology.Tree.Mounts {
			if i := slices.IndexFunc(all, func(o Mounted) bool { return o.Device == m.Device }); i >= 0 {
				add(Mounted{Mount: m, Array: all[i].Array})
			}
		}
	}
	for i := range all {
		for _, t := range c.Targets() {
			if on := cmp.Or(t.Device, t.Array); on == all[i].Device ||
				t.Mount != nil && t.Mount.Device == all[i].Device {
				all[i].Roles = append(all[i].Roles, t.Role)
			}
		}
	}
	return all
}

// Guest says that the machine is a cloud's or another hypervisor's guest, by its firmware, its clocks or its
// disks.
func (c *Case) Guest() bool {
	if t := c.Topology; t != nil {
		volume := func(v topology.Volume) bool { return v.Network }
		network := func(a topology.Array) bool { return slices.ContainsFunc(a.Volumes, volume) }
		if t.Host.Virt != "" || t.Instance.Type != "" || t.Instance.Cloud != "" || slices.ContainsFunc(t.Arrays, network) {
			return true
		}
		if t.Tree != nil {
			for name := range t.Tree.Devices {
				if GuestDisk(name) {
					return true
				}
			}
		}
	}
	return c.Host != nil && slices.ContainsFunc(c.Host.CPU.Clocks, func(s string) bool {
		return s == KVMClock || s == "xen" || strings.HasPrefix(s, "hyperv_")
	})
}

// KVMClock is the clock source of a guest of KVM.
const KVMClock = "kvm-clock"

// GuestDisk says that a disk of this name is the hypervisor's: virtio or Xen.
func GuestDisk(name string) bool {
	return strings.HasPrefix(name, "vd") || strings.HasPrefix(name, "xvd")
}

// Sysfs is the file of an attribute of a device.
func Sysfs(device, attribute string) string { return "/sys/block/" + device + "/" + attribute }

// IdleSync is what md/sync_action says when nothing goes on.
const IdleSync = "idle"

// Origin says where a figure came from, for the last column of evidence.
func Origin(o topology.Origin) string {
	if o.Where == "" {
		return string(o.Kind)
	}
	return string(o.Kind) + ", " + o.Where
}
