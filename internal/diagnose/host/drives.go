// Package host has the rules PL3xx: settings and state of the machine around the storage.
package host

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What rules are about, look at and report.
type (
	facts    = diagnose.Case
	reporter = diagnose.Report
	fault    = finding.Finding
)

// Rules judge the machine around the storage. All are silent where nobody has looked at it
// (Case.Host is nil): old bundles, imports, and layouts that are only declared. Only what is not loaded
// from a snapshot is known without a look.
func Rules() []*diagnose.Rule {
	checks := diagnose.Checks{
		"PL301": readAhead,
		"PL302": wrongScheduler,
		"PL303": fewRequests,
		"PL304": smallRequests,
		"PL305": rotationalSSD,
		"PL306": deepIdle,
		"PL307": slowGovernor,
		"PL308": slowClock,
		"PL309": dirtyPages,
		"PL310": swapping,
		"PL311": numaDrives,
		"PL312": wrongFstab,
		"PL313": unknownArray,
		"PL314": staleInitramfs,
		"PL315": otherLoad,
		"PL316": kernelTrouble,
		"PL317": fullFilesystem,
		"PL318": oldSoftware,
		"PL319": shortTimeout,
		"PL321": slowLink,
		"PL322": hugePages,
		"PL323": zoneReclaim,
	}
	for code, check := range checks {
		checks[code] = func(c *facts, report reporter) {
			if c.Host != nil {
				check(c, report)
			}
		}
	}
	checks["PL320"] = notLoaded
	return finding.Rules(checks)
}

// top is a device at the head of a target: what the filesystem is on.
type top struct {
	*block.Device                 // a partition stands for its disk, whose queue it has
	roles         []topology.Role // of the targets on it
	stripe        units.Bytes     // over all of several volumes; 0 where they are not striped
}

// tops lists the devices that the targets are on, each once.
func tops(c *facts) []top {
	var all []top
	for _, t := range c.Targets() {
		d := c.Device(t.Device)
		if d == nil {
			continue
		}
		if disk := c.Device(d.Parent); disk != nil {
			d = disk
		}
		i := slices.IndexFunc(all, func(o top) bool { return o.Name == d.Name })
		if i < 0 {
			var stripe units.Bytes
			if a := c.Topology.Array(t.Array); a != nil && a.Level.Striped() && len(a.Volumes) > 1 {
				stripe = a.Stripe()
			}
			all, i = append(all, top{Device: d, stripe: stripe}), len(all)
		}
		if !slices.Contains(all[i].roles, t.Role) {
			all[i].roles = append(all[i].roles, t.Role)
		}
	}
	return all
}

// drive is a leaf below a tested path, with what the topology knows of it.
type drive struct {
	*block.Device
	volume topology.Volume
	array  *topology.Array // nil where there is none
}

// local says that a drive is NVMe in the machine itself, so that microseconds count.
func (d drive) local() bool { return d.nvme() && !d.ebs() && !d.volume.Network }
func (d drive) nvme() bool  { return strings.HasPrefix(d.Name, "nvme") }
func (d drive) ebs() bool   { return cloud.IsEBS(d.Model) }

// drives lists the disks below the tested paths, each once.
func drives(c *facts) []drive {
	var all []drive
	for _, t := range c.Targets() {
		for _, leaf := range c.Tree().Leaves(t.Device) {
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

// perDrive gathers what is wrong with the queues of several drives into one finding, since a
// setting is as a rule wrong on all. names are the drives with it, right those without. Nothing is wanted of a
// drive that is right; nothing is found of one to which it does not apply, or where it could not be read.
func perDrive(c *facts, attribute string, judge func(drive) (found, wanted string),
) (f fault, names, right []string) {
	for _, d := range drives(c) {
		found, wanted := judge(d)
		if found != "" && wanted == "" {
			right = append(right, d.Name)
		}
		if wanted == "" {
			continue
		}
		names = append(names, d.Name)
		file := diagnose.Sysfs(d.Name, "queue/"+attribute)
		f = f.Saw(attribute+" of "+d.Name, found, wanted, file)
		f.Set(finding.Setting{File: file, Value: strings.Fields(wanted)[0]})
	}
	f.Subject = strings.Join(names, ", ")
	return f, names, right
}

// allFine reports in one line what is fine on several drives. format takes their names.
func allFine(report reporter, names []string, format string) {
	if len(names) > 0 {
		report(finding.Fine(strings.Join(names, ", "), format, names))
	}
}

func notLoaded(c *facts, report reporter) {
	tried := map[string]bool{}
	for _, t := range c.Touches {
		tried[t.Device] = true
		if t.Claimed && t.File == "" {
			report(t.Shown(finding.New(t.Device, "%s", t.Sentence())).
				Run("plimsoll array warm %s", "/dev/"+t.Device))
		}
	}
	// Volumes that were made from a snapshot, and that nobody has tried.
	for _, a := range c.Arrays() {
		for _, v := range a.Volumes {
			if v.Snapshot == "" || tried[v.Device] {
				continue
			}
			report(finding.New(v.Device, "%s was made from %s, and may not be loaded yet.", v.Device,
				v.Snapshot).As(finding.Info).
				Titled("made from a snapshot").
				Saw("snapshot", v.Snapshot, "", "EC2 API, DescribeVolumes").
				Run("plimsoll check --probe %s", "/dev/"+v.Device))
		}
	}
}

func slowLink(c *facts, report reporter) {
	var f fault
	var names []string
	var have, want units.Rate
	for _, d := range drives(c) {
		if d.Link == nil {
			continue
		}
		if d.Link.Lanes >= d.Link.MaxLanes && d.Link.Speed >= d.Link.MaxSpeed { // as many, and as fast, as can be
			full := linkWords(d.Link.Lanes, d.Link.Speed)
			report(finding.Fine(d.Name, "PCIe link of %s has its full %s", d.Name, full))
			continue
		}
		names = append(names, d.Name)
		have, want = have+d.Link.Rate(), want+d.Link.MaxRate()
		f = f.Saw("link of "+d.Name, linkWords(d.Link.Lanes, d.Link.Speed), linkWords(d.Link.MaxLanes, d.Link.MaxSpeed),
			"/sys/block/"+d.Name+"/device/device/current_link_*")
	}
	if len(names) == 0 {
		return
	}
	f.Subject = strings.Join(names, ", ")
	f.Say("The PCIe link of %s carries %s of the %s that the drive can use.", names,
		have.SI(), want.SI())
	if len(names) > 1 {
		f.Say("The PCIe links of %s carry %s together, of the %s that the drives can use.",
			names, have.SI(), want.SI())
	}
	f.Commands = []string{"lspci -vv"}
	report(f)
}

func linkWords(lanes int, speed float64) string {
	return fmt.Sprintf("%s of %s GT/s", text.Plural(lanes, "lane"), units.Number(speed))
}
