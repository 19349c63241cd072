package finding

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/topology"
)

// hostRules judge the machine around the storage. All are silent where nobody has looked at it (Case.Host is nil): old bundles,
// imports, and layouts that are only declared.
func hostRules() []*Rule {
	return []*Rule{
		readAhead, wrongScheduler, fewRequests, smallRequests, rotationalSSD, deepIdle, slowGovernor, slowClock, dirtyPages, swapping,
		numaDrives, wrongFstab, unknownArray, staleInitramfs, otherLoad, kernelTrouble, fullFilesystem, oldSoftware, shortTimeout,
	}
}

// Setting is a value to write to a file below /sys or /proc, as plimsoll tune does. File may be a pattern of path.Match, for the same
// setting of all processors.
type Setting struct {
	File  string `json:"file"`
	Value string `json:"value"`
}

// command is what a person types for a setting.
func (s Setting) command() string {
	if name, ok := strings.CutPrefix(s.File, "/proc/sys/"); ok {
		return "sysctl -w " + strings.ReplaceAll(name, "/", ".") + "=" + s.Value
	}
	if strings.Contains(s.File, "*") {
		return "echo " + s.Value + " | tee " + s.File
	}
	return "echo " + s.Value + " > " + s.File
}

// set adds settings to a finding, and what one types to make them.
func (f *Finding) set(all ...Setting) {
	f.Settings = append(f.Settings, all...)
	for _, s := range all {
		f.Commands = append(f.Commands, s.command())
	}
}

// quoted is a word for a shell.
func quoted(s string) string {
	if regexp.MustCompile(`^[\w@%+=:,./-]+$`).MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// top is a device at the head of a target: what the filesystem is on.
type top struct {
	*block.Device                 // a partition stands for its disk, whose queue it has
	roles         []topology.Role // of the targets on it
}

// tops lists the devices that the targets are on, each once. Nothing where no machine was looked at.
func (c *Case) tops() []top {
	var all []top
	for _, t := range c.targets() {
		d := c.device(t.Device)
		if d == nil || c.Host == nil {
			continue
		}
		if disk := c.device(d.Parent); disk != nil {
			d = disk
		}
		i := slices.IndexFunc(all, func(o top) bool { return o.Name == d.Name })
		if i < 0 {
			all, i = append(all, top{Device: d}), len(all)
		}
		if !slices.Contains(all[i].roles, t.Role) {
			all[i].roles = append(all[i].roles, t.Role)
		}
	}
	return all
}

// drive is a leaf below a target, with what the topology knows of it.
type drive struct {
	*block.Device
	volume topology.Volume
	array  *topology.Array // nil where there is none
}

// local says that a drive is NVMe in the machine itself, so that microseconds count.
func (d drive) local() bool { return d.nvme() && !d.ebs() && !d.volume.Network }
func (d drive) nvme() bool  { return strings.HasPrefix(d.Name, "nvme") }
func (d drive) ebs() bool   { return strings.Contains(d.Model, "Elastic Block Store") }

// drives lists the disks below the targets, each once.
func (c *Case) drives() []drive {
	var all []drive
	for _, t := range c.targets() {
		if c.Host == nil || c.Topology.Tree == nil {
			continue
		}
		for _, leaf := range c.Topology.Tree.Leaves(t.Device) {
			if leaf.Kind != block.Disk || slices.ContainsFunc(all, func(o drive) bool { return o.Name == leaf.Name }) {
				continue
			}
			d := drive{Device: leaf, array: c.Topology.Array(t.Array)}
			if d.array != nil {
				for _, v := range d.array.Volumes {
					if v.Device == leaf.Name {
						d.volume = v
					}
				}
			}
			all = append(all, d)
		}
	}
	return all
}

// perDrive gathers what is wrong with the queues of several drives into one finding, since a setting is as a rule wrong on all.
func (c *Case) perDrive(attribute string, wrong func(drive) (found, wanted string, ok bool)) (f Finding, names []string) {
	for _, d := range c.drives() {
		found, wanted, ok := wrong(d)
		if !ok {
			continue
		}
		names = append(names, d.Name)
		file := sysfs(d.Name, "queue/"+attribute)
		f.Evidence = append(f.Evidence, Evidence{attribute + " of " + d.Name, found, wanted, file})
		f.set(Setting{file, strings.Fields(wanted)[0]})
	}
	if len(names) > 0 {
		f.Subject = strings.Join(names, ", ")
	}
	return f, names
}

// few names the first of a list, and how many more there are.
func few(names []string) string {
	if len(names) <= 3 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:2], ", "), len(names)-2)
}
