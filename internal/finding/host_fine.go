package finding

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/host"
	"plimsoll/internal/topology"
)

// Passed is a rule on a checked machine that found nothing wrong, and what it saw.
type Passed struct {
	Code Code   `json:"code"`
	Says string `json:"says"`
}

// Fine says in one line each what was looked at and found in order, by code; what could not be seen is not in it.
func Fine(c *Case, found []Finding) []Passed {
	var all []Passed
	add := func(code Code, format string, args ...any) {
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Code == code }) {
			all = append(all, Passed{code, fmt.Sprintf(format, args...)})
		}
	}
	if c.Host == nil {
		return nil
	}
	c.fineLayout(add)
	c.fineQueues(add)
	c.fineHost(add)
	c.fineBoot(add)
	if steady := c.steadyVolumes(); len(steady) > 0 {
		add("PL605", "what the volumes of %s give lasts: there are no burst credits to run out", few(steady))
	}
	slices.SortStableFunc(all, func(a, b Passed) int { return strings.Compare(string(a.Code), string(b.Code)) })
	return all
}

type adding func(code Code, format string, args ...any)

func (c *Case) fineLayout(add adding) {
	for _, a := range c.arrays() {
		redundant := slices.Contains([]topology.Level{topology.RAID1, topology.RAID10, topology.RAID5, topology.RAID6}, a.Level)
		if d := c.device(a.Name); d != nil && d.MD != nil && redundant {
			add("PL201", "%s has all of its %s", a.Name, count(len(a.Volumes), "member"))
			add("PL202", "%s is not resyncing", a.Name)
		}
	}
	seen := map[string]bool{}
	for _, m := range c.mounts() {
		if seen[m.Point] {
			continue
		}
		seen[m.Point] = true
		if m.Known && m.StripeUnit > 0 && m.array != nil && m.array.Chunk > 0 {
			add("PL203", "%s at %s: su %s, width %s fit the array", m.FS, m.Point, m.StripeUnit, m.StripeWide)
		}
		if len(m.Options) > 0 {
			add("PL208", "%s is mounted without discard", m.Point)
		}
	}
}

func (c *Case) fineQueues(add adding) {
	for _, t := range c.tops() {
		if len(t.roles) == 1 && t.Queue.ReadAhead > 0 {
			add("PL301", "read-ahead of %s is %s (%s)", t.Name, t.Queue.ReadAhead, t.roles[0])
		}
		for _, u := range c.Look {
			if u.Name == t.Name {
				add("PL315", "%s is quiet: %s IOPS, %s busy", t.Name, u.ReadIOPS+u.WriteIOPS, percent(u.Util))
			}
		}
	}
	var names, nvme []string
	queues, cut := true, true
	for _, d := range c.drives() {
		names = append(names, d.Name)
		if d.nvme() && d.Queue.Scheduler != "" {
			nvme = append(nvme, d.Name)
		}
		queues, cut = queues && d.Queue.Requests > 0, cut && d.Queue.MaxSectors > 0
	}
	if len(nvme) > 0 {
		add("PL302", "no scheduler on %s", few(nvme))
	}
	if len(names) > 0 && queues {
		add("PL303", "%d requests or more fit into the queue of %s", leastRequests, few(names))
	}
	if len(names) > 0 && cut {
		add("PL304", "large requests go whole to %s", few(names))
	}
}

func (c *Case) fineHost(add adding) {
	cpu := c.Host.CPU
	if len(cpu.Idle) > 0 {
		add("PL306", "no idle state takes longer than %s to leave", deepWake)
	}
	if len(cpu.Governors) > 0 {
		add("PL307", "governor %s (%s)", strings.Join(cpu.Governors, ", "), clip(cpu.Driver))
	}
	if cpu.Clock != "" {
		add("PL308", "clock source %s", clip(cpu.Clock))
	}
	if background, limit := c.dirtyLimits(); limit > 0 {
		add("PL309", "write-back begins at %s, writers wait from %s", background, limit)
	}
	if c.Host.Memory.Known && len(c.Host.Memory.Swaps) == 0 {
		add("PL310", "no swap in use")
	} else if c.Host.Memory.Known {
		add("PL310", "swap is elsewhere, swappiness %d", c.Host.Memory.Swappiness)
	}
	if len(cpu.Nodes) == 1 {
		add("PL311", "one NUMA node")
	}
	if !slices.ContainsFunc(c.Host.Notes, func(n string) bool { return strings.HasPrefix(n, host.LogNote) }) {
		add("PL316", "no complaint of these devices in the kernel's log")
	}
	for _, t := range c.targets() {
		if d := c.device(t.Device); d != nil && t.Free > 0 && t.Mount != nil {
			add("PL317", "%s free at %s", t.Free, t.Mount.Point)
			break
		}
	}
	if k, ok := kernelOf(c.Host.Kernel); ok && c.Host.Fio != "" {
		add("PL318", "%s, Linux %s", c.Host.Fio, k)
	}
}

func (c *Case) fineBoot(add adding) {
	b := c.Host.Boot
	for _, m := range c.mounts() {
		if b.FstabKnown && slices.ContainsFunc(b.Fstab, func(l host.Fstab) bool { return l.Point == m.Point }) {
			add("PL312", "fstab mounts %s", m.Point)
		}
	}
	if raids := c.raids(); len(raids) > 0 {
		if b.Mdadm != nil && raids[0].MD.UUID != "" {
			add("PL313", "%s names %s", b.Mdadm.Path, raids[0].Name)
		}
		if b.Mdadm != nil && b.Initramfs != nil {
			add("PL314", "%s is newer than mdadm.conf", b.Initramfs.Path)
		}
	}
	if b.Trim {
		add("PL208", "fstrim.timer is enabled")
	}
}
