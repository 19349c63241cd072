package host

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// manyDirty may gather before the kernel begins to write: at 500 MiB/s (disk-benchmark-guide.md)
	// it takes eight seconds to write out, in which a sync waits. The kernel's default of 10 % is
	// as much from 40 GiB of memory on.
	manyDirty = 4 * units.GiB
	// What tune sets: half a second and two seconds of such an array.
	wantBackground, wantDirty = 256 * units.MiB, units.GiB
)

// dirtyLimits are the bytes from which the kernel writes in the background, and from which it makes
// writers wait. Ratios are of available memory, so these are the most they can come to.
func dirtyLimits(c *diagnose.Case) (background, limit units.Bytes) {
	if c.Host == nil || !c.Host.Memory.Known || c.Topology == nil {
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

var dirtyPages = &diagnose.Rule{
	Code:     "PL309",
	Since:    "0.2",
	Severity: finding.Info,
	Title:    "many dirty pages can accumulate before they are written back",
	When: "The kernel begins to write back only at more than 4 GiB of dirty pages " +
		"(vm.dirty_background_bytes, or _ratio). A warning where writers wait at no more than that. " +
		"Silent for runs with direct I/O only.",
	Why:    "A checkpoint's fsync waits for all of it: seconds on most arrays.",
	Fix:    "Set both limits in bytes: what the storage writes in half a second and in two.",
	Bad:    "vm.dirty_background_ratio = 10     # of 256 GiB",
	Good:   "vm.dirty_background_bytes = 268435456\nvm.dirty_bytes = 1073741824",
	Ignore: "When everything uses direct I/O.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		background, limit := dirtyLimits(c)
		never := background >= limit
		if limit == 0 || allDirect(c) {
			return
		}
		if background <= manyDirty && !never {
			report(finding.Fine("memory", "dirty pages: background write-back at %s, throttling at %s", background, limit))
			return
		}
		f := finding.Finding{
			Subject: "memory",
			Message: fmt.Sprintf("Up to %s of written pages may gather before the kernel writes them.", background),
			Evidence: []finding.Evidence{
				{
					What:     "background write-back from",
					Found:    background.String(),
					Expected: "at most " + manyDirty.String(),
					Where:    "/proc/sys/vm/dirty_background_{ratio,bytes}",
				},
				{What: "writers wait from", Found: limit.String(), Where: "/proc/sys/vm/dirty_{ratio,bytes}"},
			},
		}
		if never {
			f.Severity = finding.Warn
			f.Message = fmt.Sprintf("Background write-back begins at %s, not before writers wait (%s).", background, limit)
		}
		f.Set(finding.Setting{File: "/proc/sys/vm/dirty_background_bytes", Value: fmt.Sprint(uint64(wantBackground))},
			finding.Setting{File: "/proc/sys/vm/dirty_bytes", Value: fmt.Sprint(uint64(wantDirty))})
		report(f)
	},
}

// eager is the swappiness above which the kernel swaps out a database's memory for the page cache;
// 10 is what databases ask for.
const eager = 10

var swapping = &diagnose.Rule{
	Code:     "PL310",
	Since:    "0.2",
	Severity: finding.Info,
	Title:    "the machine may swap",
	When:     "Swap lies on a drive below a tested path, or swap is in use at all and vm.swappiness is above 10.",
	Why: "Swapping competes with the load on the same drives, and slows down a database that was swapped " +
		"out.",
	Fix:    "Put swap on another drive and lower vm.swappiness.",
	Bad:    "$ swapon --show\nNAME      TYPE\n/dev/md0p2 partition     # and md0p1 is /data",
	Good:   "vm.swappiness = 1     # swap on the root volume",
	Ignore: "When memory is plentiful.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		if c.Host == nil {
			return
		}
		m := c.Host.Memory
		if len(m.Swaps) == 0 {
			if m.Known {
				report(finding.Fine("memory", "no swap in use"))
			}
			return
		}
		f := finding.Finding{Subject: "memory"}
		for _, s := range swapsBelow(c) {
			f.Evidence = append(f.Evidence,
				finding.Evidence{What: "swap", Found: s, Expected: "on another drive", Where: "/proc/swaps"})
			f.Message = fmt.Sprintf("%s is swap, and shares drives with a target.", s)
			f.Commands = append(f.Commands, "swapoff "+text.ShellQuote(s))
		}
		if m.Known && m.Swappiness > eager {
			f.Evidence = append(f.Evidence, finding.Evidence{
				What:     "swappiness",
				Found:    text.Count(m.Swappiness),
				Expected: "at most " + units.Number(eager),
				Where:    "/proc/sys/vm/swappiness",
			})
			f.Set(finding.Setting{File: "/proc/sys/vm/swappiness", Value: "1"})
			if f.Message == "" {
				f.Message = fmt.Sprintf("Swap is in use and swappiness is %d.", m.Swappiness)
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
	},
}

// devicesOnly says that all swap is on devices, of which the tree knows where they lie.
func devicesOnly(c *diagnose.Case) bool {
	return c.Topology != nil && c.Topology.Tree != nil && len(c.Topology.Tree.SwapFiles) == 0
}

// swapsBelow lists the swap devices that share a drive with a target.
func swapsBelow(c *diagnose.Case) []string {
	if c.Topology == nil || c.Topology.Tree == nil {
		return nil
	}
	tree := c.Topology.Tree
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
