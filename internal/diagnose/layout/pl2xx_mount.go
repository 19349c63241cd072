package layout

import (
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func doubleMount(c *facts, report reporter) {
	points := map[string][]string{}
	var devices []string
	for _, m := range c.Mounts() {
		if m.Root != "" && m.Root != "/" {
			continue
		}
		if points[m.Device] == nil {
			devices = append(devices, m.Device)
		}
		points[m.Device] = append(points[m.Device], m.Point)
	}
	for _, d := range devices {
		at := points[d]
		if len(at) < 2 {
			continue
		}
		f := finding.New(d, "%s is mounted at %s: these are one filesystem.", d, strings.Join(at, " and ")).
			Saw("mounts of "+d, strings.Join(at, ", "), "one", "/proc/self/mountinfo").
			Run("findmnt --source %s", "/dev/"+d)
		if unused := unusedArrays(c); len(unused) > 0 {
			f.Say("%s is mounted at %s: these are one filesystem, but %s is not mounted at all.",
				d, strings.Join(at, " and "), strings.Join(unused, ", "))
			f = f.Saw("arrays without a mount", strings.Join(unused, ", "), "none", "/proc/self/mountinfo")
		}
		if rolesAt(c, at) > 1 {
			f.Severity = finding.Fail
		}
		report(f)
	}
}

// rolesAt counts the targets with paths of their own among mount points.
func rolesAt(c *facts, points []string) int {
	n := 0
	for _, p := range points {
		if slices.ContainsFunc(c.Targets(), func(t topology.Target) bool { return t.Mount != nil && t.Mount.Point == p }) {
			n++
		}
	}
	return n
}

// unusedArrays lists arrays that nothing is made of and that no mount shows.
func unusedArrays(c *facts) []string {
	used := map[string]bool{}
	for _, m := range c.Mounts() {
		used[m.Device] = true
	}
	var out []string
	for _, m := range c.Tree().Mounts {
		used[m.Device] = true
	}
	for n, d := range c.Tree().Devices {
		if d.Kind == block.MD && len(d.Holders) == 0 && !used[n] && !slices.Contains(c.Tree().Swaps, n) {
			out = append(out, n)
		}
	}
	for _, a := range c.Topology.Arrays {
		bare := slices.ContainsFunc(c.Topology.Targets,
			func(t topology.Target) bool { return t.Array == a.Name && t.Mount == nil })
		if !used[a.Name] && !bare && !slices.Contains(out, a.Name) && len(a.Volumes) > 1 && c.Device(a.Name) == nil {
			out = append(out, a.Name)
		}
	}
	slices.Sort(out)
	return out
}

func discardMount(c *facts, report reporter) {
	seen := map[string]bool{}
	if c.Host != nil && c.Host.Boot.Trim {
		report(finding.Fine("fstrim.timer", "fstrim.timer is enabled"))
	}
	for _, m := range c.Mounts() {
		if len(m.Options) == 0 || seen[m.Device] {
			continue
		}
		seen[m.Device] = true
		if !slices.Contains(m.Options, "discard") {
			report(finding.Fine(m.Point, "%s is mounted without discard", m.Point))
			continue
		}
		where := "not known"
		if d := c.Device(m.Device); d != nil {
			if d.Queue.DiscardMax == 0 { // EBS and most arrays of it
				report(finding.Fine(m.Point, "%s is mounted with discard, which does nothing: %s accepts none",
					m.Point, m.Device))
				continue
			}
			where = "up to " + d.Queue.DiscardMax.String() + " at once"
		}
		f := finding.New(m.Point, "%s is mounted with discard, so every deletion is sent to the drives "+
			"immediately.", m.Point).
			Saw("mount options", strings.Join(m.Options, ","), "without discard", "/proc/self/mountinfo").
			Saw("discards that "+m.Device+" accepts", where, "", diagnose.Sysfs(m.Device, "queue/discard_max_bytes")).
			Run("mount -o remount,nodiscard %s", m.Point)
		if c.Host == nil || !c.Host.Boot.Trim {
			f = f.Run("systemctl enable --now fstrim.timer")
		}
		report(f)
	}
}

// fastSync is the median under which a sync on a device with a volatile cache cannot have waited
// for flash: programming a page takes 200 µs and more, so the cache is protected against power loss
// or the flush is not honoured.
const fastSync = 50e3 // ns

func volatileCache(c *facts, report reporter) {
	for _, a := range c.Arrays() {
		var back, through []string
		for _, v := range a.Volumes {
			d := c.Device(v.Device)
			switch {
			case d == nil || d.Kind != block.Disk:
			case d.Queue.WriteCache == diagnose.VolatileCache:
				back = append(back, v.Device)
			default:
				through = append(through, v.Device)
			}
		}
		if len(back) == 0 {
			continue
		}
		f := finding.New(a.Name, "%d of %s below %s report a volatile write cache, so each sync becomes %s.",
			len(back), text.Plural(len(back)+len(through), "drive"), a.Name, text.Plural(len(back), "flush", "flushes")).
			Saw("write cache", diagnose.VolatileCache+" on "+strings.Join(back, ", "), "write through", diagnose.Sysfs(back[0],
				"queue/write_cache"))
		if len(a.Volumes) == 1 {
			f.Say("%s has a volatile write cache, so each sync becomes a flush.", back[0])
		}
		guest := slices.ContainsFunc(back, diagnose.GuestDisk)
		if guest {
			f.Fix = "Leave queue/write_cache as it is: a guest's flushes empty the host's cache, and without them commits " +
				"can be lost. Only the host's operator knows what the host does with them."
		}
		var syncs []int
		for _, m := range c.Runs {
			on := c.ArrayOf(m)
			if on == nil || on.Name != a.Name || m.Result == nil || !m.Syncs() {
				continue
			}
			syncs = append(syncs, m.IDs()...)
			if p50, ok := m.Total.Sync.Lat.At(50); ok && p50 > 0 && float64(p50) < fastSync {
				f.Severity = finding.Warn
				f.Say("Syncs on %s return in %s (median) despite a volatile write cache: either it is protected "+
					"against power loss, or commits can be lost.", a.Name, p50)
				f = f.Saw("sync p50", p50, "at least "+units.Latency(fastSync).String(), "fio, scenario "+m.Label())
			}
		}
		if len(back) > 1 && len(syncs) > 0 {
			f.Severity = finding.Warn
		}
		f.Scenarios = syncs
		if len(syncs) == 0 && (len(a.Volumes) == 1 || guest) {
			f = finding.Fine(a.Name, "each sync on %s becomes a flush", a.Name)
		}
		report(f)
	}
}

// withoutBarriers are the mount options by which a filesystem sends no flushes: ext4 shows nobarrier for
// barrier=0, and XFS has had none since Linux 4.19.
var withoutBarriers = []string{"nobarrier", "barrier=0"}

func noBarriers(c *facts, report reporter) {
	for _, m := range c.Mounts() {
		i := slices.IndexFunc(m.Options, func(o string) bool { return slices.Contains(withoutBarriers, o) })
		if i < 0 {
			continue
		}
		back, unknown := c.Volatile(m.Device), c.Cached(m.Device, "")
		if len(back) == 0 && len(unknown) > 0 {
			unknownCache(c, m, m.Options[i], unknown, report)
			continue
		}
		if len(back) == 0 && c.Device(m.Device) != nil {
			report(finding.Fine(m.Point, "%s is mounted with %s, and no drive below has a volatile cache", m.Point,
				m.Options[i]))
			continue
		}
		subject := m.Point
		if m.Array != nil {
			subject = m.Array.Name
		}
		f := finding.New(subject, "%s is mounted with %s: a sync returns while the data is in a volatile cache.", m.Point,
			m.Options[i]).
			Saw("mount options", strings.Join(m.Options, ","), "without "+m.Options[i], "/proc/self/mountinfo").
			Run("mount -o remount,barrier %s", m.Point)
		if len(back) > 0 {
			f = f.Saw("write cache", diagnose.VolatileCache+" on "+strings.Join(back, ", "), "", diagnose.Sysfs(back[0],
				"queue/write_cache"))
		}
		report(f)
	}
	for _, m := range c.Runs {
		u, ok := c.Unflushed(m)
		if !ok || m.Kind() == suite.OfServer { // PL709
			continue
		}
		f := u.Shown(m.Finds("The latency is not that of durable writes: %s", u.Sentence()).As(finding.Invalid))
		if a := c.ArrayOf(m); a != nil {
			f.Subject = a.Name
		}
		report(f)
	}
}

// unknownCache is what can be said of a mount without flushes where the kernel does not say what cache the drives
// have. A SATA, SAS or NVMe drive of the machine itself has one as a rule, though a controller may protect its own:
// hence a warning. Of a guest's disk nothing can be said.
func unknownCache(c *facts, m diagnose.Mounted, option string, unknown []string, report reporter) {
	unknown = slices.DeleteFunc(unknown, func(name string) bool {
		return !strings.HasPrefix(name, "sd") && !strings.HasPrefix(name, "nvme")
	})
	if len(unknown) == 0 || c.Guest() {
		return
	}
	drives := text.Some(unknown, 3)
	f := finding.New(m.Point, "%s is mounted with %s, and the kernel does not say what cache %s has.", m.Point, option,
		drives).As(finding.Warn).Titled("syncs may not reach the drives").
		Saw("mount options", strings.Join(m.Options, ","), "without "+option, "/proc/self/mountinfo").
		Saw("write cache of "+drives, "not known", "", diagnose.Sysfs(unknown[0], "queue/write_cache")).
		Run("mount -o remount,barrier %s", m.Point)
	if len(unknown) > 1 {
		f.Say("%s is mounted with %s, and the kernel does not say what caches %s have.", m.Point, option, drives)
	}
	report(f)
}

// largestRecord is the default of ZFS, up to which the sources differ on what a database wants.
const largestRecord = 128 * units.KiB

// smallSectors is the ashift of sectors of 512 bytes.
const smallSectors = 9

func poorDataset(c *facts, report reporter) {
	said := map[string]bool{} // of one dataset in two roles
	for _, t := range c.Targets() {
		if t.Mount == nil || t.Mount.ZFS == nil {
			continue
		}
		d, name := t.Mount.ZFS, t.Mount.Source
		asked := func(property string) string { return "zfs get " + property + " " + text.ShellQuote(name) }
		f := finding.Fine(t.Path, "dataset %s: sync=%s, logbias=%s, recordsize=%s", t.Mount.Source, d.Sync, d.LogBias,
			d.Record)
		switch {
		case d.Sync == diagnose.NoSyncs:
			f = finding.New(t.Path, "%s has sync=disabled: a sync returns before anything is stored.", t.Mount.Source).
				Saw("sync", d.Sync, "standard", asked("sync")).Run("zfs set sync=standard %s", name).As(finding.Fail).
				Titled("syncs on this ZFS dataset do not reach stable storage")
		case t.Role == topology.Data && d.Record > largestRecord:
			f = finding.New(t.Path, "%s has records of %s: each changed page rewrites a whole "+
				"record.", t.Mount.Source, d.Record).
				Saw("recordsize", d.Record, "at most "+largestRecord.String(), asked("recordsize")).
				Run("zfs set recordsize=32K %s", name)
		case t.Role == topology.WAL && d.LogBias == "throughput":
			f = finding.New(t.Path, "%s has logbias=throughput: its syncs do not use the pool's log device.", t.Mount.Source).
				Saw("logbias", d.LogBias, "latency", asked("logbias")).Run("zfs set logbias=latency %s", name)
		case d.Shift == smallSectors:
			f = finding.New(t.Path, "Pool %s was made for sectors of 512 bytes (ashift=9).", d.Pool).
				Saw("ashift", "9", "12", "zpool get ashift "+text.ShellQuote(d.Pool))
		}
		if !said[f.Message] {
			report(f)
		}
		said[f.Message] = true
	}
}

// quietTimes are the mount options, one of which the kernel shows where reads seldom write: with none of them
// each read of a file sets when it was read (mount(8), strictatime).
var quietTimes = []string{"noatime", "relatime", "lazytime", "ro"}

func accessTimes(c *facts, report reporter) {
	all := c.Mounts()
	for _, t := range c.Targets() { // a dataset of ZFS, which has no device
		listed := func(m diagnose.Mounted) bool { return t.Mount.Point == m.Point }
		if t.Mount != nil && t.Mount.FS == "zfs" && !slices.ContainsFunc(all, listed) {
			all = append(all, diagnose.Mounted{Mount: *t.Mount})
		}
	}
	for _, m := range all {
		quiet := func(o string) bool { return slices.Contains(quietTimes, o) }
		if len(m.Options) == 0 || slices.ContainsFunc(m.Options, quiet) {
			continue
		}
		f := finding.New(m.Point, "Each read of a file at %s writes its access time (atime).", m.Point).
			Saw("mount options", strings.Join(m.Options, ","), "with noatime or relatime", "/proc/self/mountinfo")
		if m.FS == "zfs" {
			report(f.Run("zfs set atime=off %s", m.Source))
		} else {
			report(f.Run("mount -o remount,noatime %s", m.Point))
		}
	}
}
