package host

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// manyDirty may gather before the kernel begins to write: at 500 MiB/s (disk-benchmark-guide.md)
// it takes eight seconds to write out, in which a sync waits. The kernel's default of 10 % is
// as much from 40 GiB of memory on.
const manyDirty = 4 * units.GiB

// writeRate is what the slowest of the tested paths writes in sequence, 0 where one's limit is not known.
func writeRate(c *facts) units.Rate {
	var least units.Rate
	for _, t := range c.Targets() {
		load := fio.Workload{Sequential: true, WriteBS: units.MiB, Direct: true, Jobs: 1, Depth: 64}
		of := ceiling.Of(c.Topology, t.Role, []fio.Workload{load})
		b, ok := diagnose.Hardware(&of)
		if !ok {
			return 0
		}
		if least == 0 || b.BW < least {
			least = b.BW
		}
	}
	return least
}

// onlyZFS says that all tested paths are on ZFS, which has a cache and limits of its own for what is not
// written yet (zfs_dirty_data_max).
func onlyZFS(c *facts) bool {
	return len(c.Targets()) > 0 && !slices.ContainsFunc(c.Targets(), func(t topology.Target) bool {
		return t.Mount == nil || t.Mount.FS != "zfs"
	})
}

// dirtyLimits are the bytes from which the kernel writes in the background, and from which it makes
// writers wait. Ratios are of available memory, so these are the most they can come to.
func dirtyLimits(c *facts) (background, limit units.Bytes) {
	if !c.Host.Memory.Known || c.Topology == nil {
		return 0, 0
	}
	m := c.Host.Memory
	of := func(bytes units.Bytes, percent int) units.Bytes {
		if bytes > 0 {
			return bytes
		}
		return c.Topology.Host.Memory / 100 * units.Bytes(min(max(percent, 0), 100))
	}
	return of(m.BackgroundBytes, m.BackgroundRatio), of(m.DirtyBytes, m.DirtyRatio)
}

func dirtyPages(c *facts, report reporter) {
	background, limit := dirtyLimits(c)
	never := background >= limit
	if limit == 0 || allDirect(c) || onlyZFS(c) {
		return
	}
	if background <= manyDirty && !never {
		report(finding.Fine("memory", "dirty pages: background write-back at %s, throttling at %s", background, limit))
		return
	}
	f := finding.New("memory", "Up to %s of dirty pages may accumulate before the kernel writes them.", background).
		Saw("background write-back from", background, "at most "+manyDirty.String(),
			"/proc/sys/vm/dirty_background_{ratio,bytes}").
		Saw("writers wait from", limit, "", "/proc/sys/vm/dirty_{ratio,bytes}")
	if never {
		f.Severity = finding.Warn
		f.Say("Background write-back begins at %s, not before writers have to wait (%s).", background, limit)
	}
	if rate := writeRate(c); rate > 0 {
		in := func(seconds float64) string {
			return fmt.Sprint(uint64(max(units.Bytes(float64(rate)*seconds)/units.MiB, 16) * units.MiB))
		}
		const half, two = 0.5, 2
		f.Fix = fmt.Sprintf("Set both limits in bytes: what the storage writes in half a second and in two seconds, "+
			"at %v.", rate)
		f.Set(finding.Setting{File: "/proc/sys/vm/dirty_background_bytes", Value: in(half)},
			finding.Setting{File: "/proc/sys/vm/dirty_bytes", Value: in(two)})
	}
	report(f)
}

// zvol is a volume of ZFS, of any pool.
var zvol = regexp.MustCompile(`^/dev/(zd\d|zvol/)`)

// eager is the swappiness above which the kernel swaps out a database's memory for the page cache;
// 10 is what databases ask for.
const eager = 10

func swapping(c *facts, report reporter) {
	m := c.Host.Memory
	if !slices.ContainsFunc(m.Swaps, func(s string) bool { return !host.InMemory(s) }) {
		if m.Known {
			report(finding.Fine("memory", "no swap on a drive"))
		}
		return
	}
	f := fault{Subject: "memory"}
	zvols := slices.DeleteFunc(slices.Clone(m.Swaps), func(s string) bool { return !zvol.MatchString(s) })
	for _, s := range zvols {
		f = f.Saw("swap", s, "on another drive", "/proc/swaps").As(finding.Warn).Titled("swap is on a ZFS volume")
		f.Say("%s is swap on ZFS, which itself needs memory to write: when memory is short, the machine can hang.", s)
		f.Fix = "Put swap on a partition of its own, or do without."
		f.Commands = []string{"swapon --show"}
	}
	for _, s := range swapsBelow(c) {
		f = f.Saw("swap", s, "on another drive", "/proc/swaps")
		f.Say("%s is swap, and shares drives with a tested path.", s)
		f.Commands = []string{"swapon --show"}
	}
	if m.Known && m.Swappiness > eager {
		f = f.Saw("swappiness", m.Swappiness, "at most "+units.Number(eager), "/proc/sys/vm/swappiness")
		f.Set(finding.Setting{File: "/proc/sys/vm/swappiness", Value: "1"})
		if f.Message == "" {
			f.Say("%s of the swap on a drive is in use, and swappiness is %d.", m.SwapUsed,
				m.Swappiness)
		}
	}
	if f.Message == "" {
		if !m.Known {
			return
		}
		f = finding.Fine(f.Subject, "swappiness %d", m.Swappiness)
		if devicesOnly(c) {
			f = finding.Fine(f.Subject, "swap is elsewhere, swappiness %d", m.Swappiness)
		}
	}
	report(f)
}

// devicesOnly says that all swap is on devices, of which the tree knows where they lie.
func devicesOnly(c *facts) bool {
	return c.Topology != nil && c.Topology.Tree != nil && len(c.Topology.Tree.SwapFiles) == 0
}

// swapsBelow lists the swap devices that share a drive with a target.
func swapsBelow(c *facts) []string {
	tree := c.Tree()
	mine := map[string]bool{}
	for _, d := range drives(c) {
		mine[d.Name] = true
	}
	var all []string
	for _, s := range tree.Swaps {
		for _, leaf := range tree.Leaves(s) {
			if mine[leaf.Name] && !slices.Contains(all, tree.Devices[s].Path) {
				all = append(all, strings.TrimSpace(tree.Devices[s].Path))
			}
		}
	}
	return all
}

// database says that a database is what the paths are for: a log has one of its own, or a server ran.
func database(c *facts) bool {
	return c.Topology != nil && c.Topology.For(topology.WAL) != nil || slices.ContainsFunc(c.Runs,
		func(m diagnose.Measurement) bool { return m.Kind() == suite.OfServer })
}

func hugePages(c *facts, report reporter) {
	if c.Host.Memory.HugePages == "" || !database(c) {
		return
	}
	const file = "/sys/kernel/mm/transparent_hugepage/enabled"
	if c.Host.Memory.HugePages != "always" {
		report(finding.Fine("memory", "transparent huge pages: %s", clip(c.Host.Memory.HugePages)))
		return
	}
	f := finding.New("memory", "Transparent huge pages are on for all memory, including the database's.").
		Saw("transparent huge pages", "always", "madvise", file)
	f.Commands = []string{finding.Setting{File: file, Value: "madvise"}.Command()}
	report(f)
}

func zoneReclaim(c *facts, report reporter) {
	if c.Host.Memory.ZoneReclaim == 0 || len(c.Host.CPU.Nodes) < 2 {
		return
	}
	const file = "/proc/sys/vm/zone_reclaim_mode"
	f := finding.New("memory", "Each of %d nodes drops its page cache before using another node's memory.",
		len(c.Host.CPU.Nodes)).
		Saw("vm.zone_reclaim_mode", c.Host.Memory.ZoneReclaim, "0", file)
	f.Set(finding.Setting{File: file, Value: "0"})
	report(f)
}
