package run

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const interrupts = 0.25 // of all cores, in softirq and irq: as a rule one or two cores are then full of completions

func cpuBound(_ *facts, m measurement) (f fault) {
	if m.Reached() {
		return f
	}
	if f = fullJobs(m); f.Message != "" {
		return f
	}
	if u := cpuOf(m); u.full() && !u.foreign() {
		f = u.finding(m).Advise(moreJobs(m))
	}
	return f
}

func othersCompute(_ *facts, m measurement) (f fault) {
	own := fullJobs(m).Message != "" // PL409: fio has its cores
	if u := cpuOf(m); u.full() && u.foreign() && !own && !m.Reached() {
		f = u.finding(m)
	}
	return f
}

// fullJobs are jobs that have a core to themselves and all of it in use.
func fullJobs(m measurement) (f fault) {
	f = m.Finds("").Advise(moreJobs(m))
	if m.Any(polls) || onMemory(m) { // who spins is not short of a core, and copying is what memory does
		return f
	}
	for _, j := range m.Jobs {
		use := j.CPU.User + j.CPU.System
		if use < diagnose.CoreFull {
			continue
		}
		f.Say("Each job of %s keeps a core %v busy.", cmp.Or(j.Name, "the row"), use)
		f = f.Saw(strings.TrimSpace("CPU of job "+j.Name), userAndSystem(j),
			"below "+text.Percent(diagnose.CoreFull)+" of a core", "fio")
	}
	return f
}

func userAndSystem(j fio.Job) string {
	return finding.Says("user %v, system %v", j.CPU.User, j.CPU.System)
}

// moreJobs is the rule's own advice without what the jobs do already, "" where all of it applies.
func moreJobs(m measurement) string {
	if m.All(func(w fio.Workload) bool { return w.Engine == fio.IOURing }) {
		return "Use more jobs (each at a lower depth), larger blocks, or a larger instance."
	}
	return ""
}

// cpuUse is how busy a host's cores were, and with whom: shares of all cores, 0..1. Time that the
// hypervisor took counts as busy.
type cpuUse struct {
	cores    int
	all, own float64
}

// cpuOf is zero where nobody looked.
func cpuOf(m measurement) cpuUse {
	h := m.Host
	if h == nil || h.CPUs == 0 {
		return cpuUse{}
	}
	own, _ := m.CPU()
	return cpuUse{h.CPUs, h.User + h.System + h.IRQ + h.SoftIRQ + h.Steal, own / float64(h.CPUs)}
}

func (u cpuUse) full() bool { return u.all >= diagnose.HostFull }

func (u cpuUse) foreign() bool { return u.all-u.own >= diagnose.ForeignCPU }

// finding says it of one measurement.
func (u cpuUse) finding(m measurement) fault {
	return finding.New("host", "The host's %d cores were %v busy; fio used %v.", u.cores, u.all, u.own).In(m.IDs()).
		Saw("CPU of the host", finding.Says("%v, of which fio %v", u.all, u.own), "below "+text.Percent(diagnose.HostFull),
			"/proc/stat, telemetry, scenario "+m.Label())
}

func robbed(_ *facts, m measurement) (f fault) {
	h := m.Host
	if h == nil {
		return f
	}
	f = finding.New("host", "").In(m.IDs())
	where := "/proc/stat, telemetry, scenario " + m.Label()
	if irq := h.IRQ + h.SoftIRQ; irq >= interrupts {
		f.Say("Interrupts took %v of all %d cores.", irq, h.CPUs)
		f = f.Saw("irq and softirq", irq, "below "+text.Percent(interrupts), where)
	}
	if h.Steal >= diagnose.Stolen {
		f.Say("The hypervisor stole %v of the CPU time (%s).", h.Steal, text.Plural(h.CPUs, "core"))
		f = f.Saw("steal", h.Steal, "below "+text.Percent(diagnose.Stolen), where)
	}
	return f
}

const (
	// muchWriteback is more than a quiet host ever has under way: the flusher writes what is older
	// than 30 s.
	muchWriteback = 256 * units.MiB
	// stallShare of the run's median IOPS under which a second counts as stalled.
	stallShare = 0.2
)

func dirtyStall(_ *facts, m measurement) (f fault) {
	h := m.Host
	if h == nil || h.WritebackMax < muchWriteback {
		return f
	}
	stalls, rates := 0, diagnose.Rates(diagnose.Settled(m.Result))
	mid := stats.Median(rates)
	for _, s := range diagnose.Settled(m.Result) {
		if float64(s.IOPS()) < stallShare*mid && s.Writeback >= muchWriteback {
			stalls++
		}
	}
	f = m.Finds("").
		Saw("most under writeback", h.WritebackMax, "below "+muchWriteback.String(), "/proc/meminfo, telemetry").
		Saw("stalled seconds", stalls, "0", "per-second series").
		Run("sync").Run("sysctl -w vm.dirty_bytes=268435456 vm.dirty_background_bytes=67108864")
	const most = "Up to %s was under writeback at once, "
	switch {
	case stalls > 0:
		f.Say(most+"and in %d of %d seconds IOPS fell below %v of the median.", h.WritebackMax, stalls, len(rates),
			stallShare)
	case m.All(diagnose.Direct):
		f.Say(most+"although the jobs write directly: another process's data.", h.WritebackMax)
	}
	return f
}

const (
	// strange is by how much a direction of a device may exceed fio's: windows of telemetry and fio
	// differ by a second or two. strangeAll is the share of all the device moved that is worth a
	// word.
	strange    = 0.10
	strangeAll = 0.02
	// strangeRate is less than what the journal and timestamps of a quiet filesystem write.
	strangeRate = units.MiBPerSec
	// foreignIO is the share of all that the device moved from which on the figure is no
	// measurement of it.
	foreignIO = 0.25
)

func otherIO(_ *facts, m measurement) (f fault) {
	if f = first(othersCounted(m), mergedBelow(m)); f.Message != "" || len(m.Devices) == 0 || m.Measured <= 0 ||
		m.Any(diagnose.Buffered) || m.LooseEdge() {
		return f
	}
	d := m.Devices[0]
	f = m.Finds("").
		Run("iotop -obPa -n 3").Run("grep . /proc/[0-9]*/io 2>/dev/null | sort -t: -k3 -n | tail")
	look := func(what string, device, own units.Bytes) {
		if device < own {
			return
		}
		more := units.Rate(float64(device-own) / m.Measured.Seconds())
		all := float64(d.ReadBytes + d.WriteBytes)
		if more < strangeRate || float64(device-own) < max(strange*float64(own), strangeAll*all) {
			return
		}
		f.Say("Something other than fio caused %s of %s on %s (%s).", what, device-own, d.Name, more)
		if float64(device-own) >= foreignIO*all && !m.Reached() {
			f.Severity = finding.Invalid
		}
		f = f.Saw(what+" of "+d.Name, device, own.String()+" by fio", "/proc/diskstats, telemetry")
	}
	look("reads", d.ReadBytes, m.Total.Read.Bytes)
	if _, log := logWrites(m); !log {
		look("writes", d.WriteBytes, m.Total.Write.Bytes)
	}
	return f
}

const (
	// twice fio's I/Os is more than a filesystem's own metadata makes of small blocks.
	twice = 2
	// unsplit is a block that no device splits, save an array with a smaller chunk.
	unsplit = 64 * units.KiB
	// asIOPS is the largest block whose rate is read as IOPS, and mergedInto how many of fio's I/Os a
	// device's one must hold for that rate to be another thing than the device's.
	asIOPS     = 16 * units.KiB
	mergedInto = 4
)

// mergedBelow finds small I/Os that the kernel joined before the device had them: the device's IOPS are
// a fraction of fio's, whose rate is a bandwidth. The page cache joins them always, and is not judged.
func mergedBelow(m measurement) (f fault) {
	own := m.Total.Read.N + m.Total.Write.N
	if len(m.Devices) > 0 || m.DisksPartial != "" || m.DisksShared || own < diagnose.EnoughReads || m.Syncs() ||
		m.Any(paged) || m.Total.Read.Bytes+m.Total.Write.Bytes > units.Bytes(own)*asIOPS {
		return f
	}
	var ios, merges uint64
	for _, d := range m.Disks {
		if !d.Member {
			ios, merges = ios+d.Reads+d.Writes, merges+d.ReadMerges+d.WriteMerges
		}
	}
	if ios == 0 || float64(ios+merges) < sawAll*float64(own) || ios+merges < mergedInto*ios {
		return f
	}
	return m.Finds("The devices did %v I/Os for fio's %v: the kernel merged %v of them, so fio's "+
		"IOPS are not the devices'.", ios, own, merges).As(finding.Warn).
		Titled("the device did fewer, larger I/Os than fio").
		Advise("Use the bandwidth as the result; random I/O is not merged.").
		Saw("I/Os of the devices", finding.Says("%v, %v merged", ios, merges),
			text.Count(own)+" by fio", "disk statistics of fio")
}

// othersCounted compares fio's disk statistics, which are all that an import has, with fio's own
// counts. Members of arrays count pieces, and syncs write logs: neither is judged.
func othersCounted(m measurement) (f fault) {
	own := m.Total.Read.N + m.Total.Write.N + m.Total.Trim.N
	if len(m.Devices) > 0 || m.DisksPartial != "" || m.DisksShared || own < diagnose.EnoughReads || m.Syncs() ||
		len(m.Workloads) == 0 || m.Any(diagnose.Buffered) ||
		m.Any(func(w fio.Workload) bool {
			return w.ReadBS > unsplit || w.WriteBS > unsplit || w.VerifyOn || w.Ramp > 0
		}) {
		return f
	}
	var disk *fio.Disk
	for i := range m.Disks {
		switch d := &m.Disks[i]; {
		case d.Member:
		case disk != nil:
			return f // of several devices none is known to be fio's alone
		default:
			disk = d
		}
	}
	if disk == nil {
		return f
	}
	counted := disk.Reads + disk.Writes
	if counted <= twice*own {
		return f
	}
	return m.Finds("%s did %v I/Os while fio made %v: other programs used it too.", disk.Name, counted,
		own).As(finding.Warn).
		Saw("I/Os of "+disk.Name, finding.Says("%v reads, %v writes", disk.Reads, disk.Writes),
			finding.Says("%v and %v by fio", m.Total.Read.N, m.Total.Write.N), "disk statistics of fio")
}

func timedOut(c *facts, report reporter) {
	for _, m := range c.Measured() {
		for _, e := range m.Timeouts {
			report(m.Finds("%s did not answer in time while this was measured.", e.Device).
				Saw("lines about "+e.Device, e.Count, "0", "dmesg").
				Saw("last", fmt.Sprintf("%.160s", e.Text), "", "dmesg").
				Run("dmesg --ctime | grep -F %s", e.Device))
		}
	}
}
