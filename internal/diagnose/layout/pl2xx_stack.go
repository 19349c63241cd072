package layout

import (
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/topology"
)

// mapped calls visit for each device below the tested paths that device-mapper made of one kind, such as
// CRYPT-, once.
func mapped(c *facts, kind string, visit func(d *block.Device)) {
	seen := map[string]bool{}
	for _, t := range c.Targets() {
		for _, name := range c.Tree().Below(t.Device) {
			if d := c.Device(name); strings.HasPrefix(d.DM, kind) && !seen[name] {
				seen[name] = true
				visit(d)
			}
		}
	}
}

// queuesMayGo is the first kernel whose dm-crypt does without its work queues.
var queuesMayGo = host.Release{5, 9, 0}

// before says that the machine's kernel is known, and older.
func before(c *facts, r host.Release) bool {
	if c.Host == nil {
		return false
	}
	k, known := c.Host.Release()
	return known && k.Before(r)
}

func encryption(c *facts, report reporter) {
	mapped(c, "CRYPT-", func(d *block.Device) {
		var small, untrimmed *block.Device
		solid := true
		for _, disk := range c.Tree().Leaves(d.Name) {
			q := disk.Queue
			solid = solid && !q.Rotational
			if q.Physical > q.Logical && d.Queue.Logical < q.Physical {
				small = disk
			}
			if q.DiscardMax > 0 && d.Queue.DiscardMax == 0 && !q.Rotational {
				untrimmed = disk
			}
		}
		if small != nil {
			report(finding.New(d.Name, "%s encrypts sectors of %s on a drive with sectors of %s.", d.Name, d.Queue.Logical,
				small.Queue.Physical).
				Saw("sector of "+d.Name, d.Queue.Logical, small.Queue.Physical,
					diagnose.Sysfs(d.Name, "queue/logical_block_size")).
				Run("cryptsetup status %s", d.Path))
		}
		if untrimmed != nil {
			report(finding.New(d.Name, "%s accepts discards, but %s holds them back: the drive is never trimmed.",
				untrimmed.Name, d.Name).
				Saw("discards that "+d.Name+" accepts", "none", "as "+untrimmed.Name,
					diagnose.Sysfs(d.Name, "queue/discard_max_bytes")).
				Run("cryptsetup --persistent --allow-discards refresh %s", d.Path))
		}
		if d.Queued && solid && !before(c, queuesMayGo) {
			report(finding.New(d.Name, "%s hands requests to kernel work queues, which keeps a solid-state drive waiting.",
				d.Name).
				Saw("work queues of "+d.Name, "in use", "no_read_workqueue no_write_workqueue", "dmsetup table").
				Run("cryptsetup --persistent --perf-no_read_workqueue --perf-no_write_workqueue refresh %s", d.Path))
		} else if small == nil && untrimmed == nil {
			report(finding.Fine(d.Name, "%s encrypts whole sectors, and passes discards on where the drive takes them", d.Name))
		}
	})
}

// onePath counts the paths of a multipath device that SCSI calls running, and NVMe live, and those without a state.
func onePath(c *facts, report reporter) {
	mapped(c, "mpath-", func(d *block.Device) {
		var run, down []string
		for _, name := range d.Slaves {
			if p := c.Device(name); p == nil || slices.Contains([]string{"", "running", "live"}, p.State) {
				run = append(run, name)
			} else {
				down = append(down, name+" is "+p.State)
			}
		}
		if len(run) > 1 && len(down) == 0 {
			report(finding.Fine(d.Name, "%s has %d paths", d.Name, len(run)))
			return
		}
		f := finding.New(d.Name, "%s has only one path: when it fails, so does the storage.", d.Name).
			Saw("paths of "+d.Name, strings.Join(run, ", "), "at least 2", "/sys/block/"+d.Name+"/slaves").
			Run("multipath -ll %s", d.Path)
		switch {
		case len(run) > 1:
			f.Title, f.Evidence[0].Expected = "a multipath device has lost a path", "all"
			f.Say("%d of the %d paths of %s are running: %s.", len(run), len(d.Slaves), d.Name, strings.Join(down, ", "))
		case len(down) > 0:
			f.Say("Only %d of the %d paths of %s is running: when it fails, so does the storage.",
				len(run), len(d.Slaves), d.Name)
		}
		if len(down) > 0 {
			f = f.Saw("other paths", strings.Join(down, ", "), "running", "/sys/block/*/device/state")
		}
		report(f)
	})
	besideMultipath(c, report)
}

// besideMultipath finds the drives below a tested path that are a path of a LUN to which there are others, and that
// no multipath device has gathered.
func besideMultipath(c *facts, report reporter) {
	seen := map[string]bool{}
	gathered := func(name string) bool {
		d := c.Device(name)
		return d != nil && strings.HasPrefix(d.DM, "mpath-")
	}
	for _, t := range c.Targets() {
		for _, d := range c.Tree().Leaves(t.Device) {
			others := c.Tree().Twins(d)
			if seen[d.Name] || len(others) == 0 || slices.ContainsFunc(d.Holders, gathered) {
				continue
			}
			seen[d.Name] = true
			report(finding.New(d.Name, "%s lies on %s, one of %d paths to the same LUN: when that path fails, so does the "+
				"storage.", t.Path, d.Name, len(others)+1).Titled("one path of a LUN is used").
				Saw("other paths of "+d.Name, strings.Join(others, ", "), "below one multipath device with "+d.Name,
					"/run/udev/data, ID_SERIAL").
				Run("multipath -ll").
				Advise("Let multipath gather the paths (find_multipaths, its blacklist), let LVM's filter pass only " +
					"multipath devices, then activate the volumes again."))
		}
	}
}

func copiesOnWrite(c *facts, report reporter) {
	for _, m := range c.Mounts() {
		log := slices.ContainsFunc(c.Targets(), func(t topology.Target) bool {
			return t.Role == topology.WAL && t.Mount != nil && t.Mount.Point == m.Point
		})
		if m.FS == "btrfs" && log && !slices.Contains(m.Options, "nodatacow") {
			report(finding.New(m.Point, "btrfs writes each changed block of %s to a new location.", m.Point).
				Saw("mount options", strings.Join(m.Options, ","), "nodatacow, or files with the attribute C",
					"/proc/self/mountinfo").
				Run("lsattr -d %s", m.Point))
		}
	}
}
