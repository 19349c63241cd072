package run

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	interrupts = 0.25 // of all cores, in softirq and irq: as a rule one or two cores are then full of completions
)

var cpuBound = &diagnose.Rule{
	Code:  "PL409",
	Needs: []part.Part{part.AllJobs},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		var limited *finding.Finding
		for _, m := range c.Measured() {
			if m.Reached() {
				continue
			}
			if f, ok := fullJobs(m); ok {
				report(f)
				continue
			}
			if u := cpuOf(m); u.full() && !u.foreign() {
				f := u.finding(m)
				f.Fix = moreJobs(m)
				limited = diagnose.Join(limited, f)
			}
		}
		if limited != nil {
			report(*limited)
		}
	},
}

var othersCompute = &diagnose.Rule{
	Code: "PL425",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		var taken *finding.Finding
		for _, m := range c.Measured() {
			if m.Reached() {
				continue
			}
			if _, own := fullJobs(m); own {
				continue // PL409: fio has its cores
			}
			if u := cpuOf(m); u.full() && u.foreign() {
				taken = diagnose.Join(taken, u.finding(m))
			}
		}
		if taken != nil {
			report(*taken)
		}
	},
}

// fullJobs are jobs that have a core to themselves and all of it in use.
func fullJobs(m diagnose.Measurement) (finding.Finding, bool) {
	f := finding.Finding{Subject: m.Label(), Scenarios: m.IDs(), Fix: moreJobs(m)}
	if m.Any(polls) || onMemory(m) { // who spins is not short of a core, and copying is what memory does
		return f, false
	}
	for _, j := range m.Result.Jobs {
		use := j.CPU.User + j.CPU.System
		if use < diagnose.CoreFull {
			continue
		}
		f.Message = fmt.Sprintf("Each job of %s keeps a core %s busy.", j.Name, text.Percent(use))
		f.Evidence = append(f.Evidence, finding.Evidence{
			What:     "CPU of job " + j.Name,
			Found:    fmt.Sprintf("user %s, system %s", text.Percent(j.CPU.User), text.Percent(j.CPU.System)),
			Expected: "below " + text.Percent(diagnose.CoreFull) + " of a core",
			Where:    "fio",
		})
	}
	return f, f.Message != ""
}

// moreJobs is the rule's own advice without what the jobs do already, "" where all of it applies.
func moreJobs(m diagnose.Measurement) string {
	if m.All(func(w fio.Workload) bool { return w.Engine == fio.IOURing }) {
		return "Use more jobs with less depth each, larger blocks, or a larger instance."
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
func cpuOf(m diagnose.Measurement) cpuUse {
	h := m.Result.Host
	if h == nil || h.CPUs == 0 {
		return cpuUse{}
	}
	u := cpuUse{cores: h.CPUs, all: h.User + h.System + h.IRQ + h.SoftIRQ + h.Steal}
	for _, j := range m.Result.Jobs {
		u.own += (j.CPU.User + j.CPU.System) * float64(max(j.Count, 1)) / float64(h.CPUs)
	}
	return u
}

func (u cpuUse) full() bool { return u.all >= diagnose.HostFull }

func (u cpuUse) foreign() bool { return u.all-u.own >= diagnose.ForeignCPU }

// finding says it of one measurement.
func (u cpuUse) finding(m diagnose.Measurement) finding.Finding {
	return finding.Finding{
		Subject: "host", Scenarios: m.IDs(),
		Message: fmt.Sprintf("The host's %d cores were %s busy; fio used %s.", u.cores, text.Percent(u.all),
			text.Percent(u.own)),
		Evidence: []finding.Evidence{{
			What:     "CPU of the host",
			Found:    fmt.Sprintf("%s, of which fio %s", text.Percent(u.all), text.Percent(u.own)),
			Expected: "below " + text.Percent(diagnose.HostFull),
			Where:    "/proc/stat, telemetry, scenario " + m.Label(),
		}},
	}
}

var robbed = &diagnose.Rule{
	Code: "PL410",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		var host *finding.Finding
		for _, m := range c.Measured() {
			h := m.Result.Host
			if h == nil {
				continue
			}
			f := finding.Finding{Subject: "host", Scenarios: m.IDs()}
			where := "/proc/stat, telemetry, scenario " + m.Label()
			if irq := h.IRQ + h.SoftIRQ; irq >= interrupts {
				f.Message = fmt.Sprintf("Interrupts took %s of all %d cores.", text.Percent(irq), h.CPUs)
				f.Evidence = append(f.Evidence, finding.Evidence{
					What:     "irq and softirq",
					Found:    text.Percent(irq),
					Expected: "below " + text.Percent(interrupts),
					Where:    where,
				})
			}
			if h.Steal >= diagnose.Stolen {
				f.Message = fmt.Sprintf("The hypervisor stole %s of the CPU time (%s).", text.Percent(h.Steal),
					text.Plural(h.CPUs, "core"))
				f.Evidence = append(f.Evidence, finding.Evidence{
					What:     "steal",
					Found:    text.Percent(h.Steal),
					Expected: "below " + text.Percent(diagnose.Stolen),
					Where:    where,
				})
			}
			if f.Message != "" {
				host = diagnose.Join(host, f)
			}
		}
		if host != nil {
			report(*host)
		}
	},
}

const (
	// muchWriteback is more than a quiet host ever has under way: the flusher writes what is older
	// than 30 s.
	muchWriteback = 256 * units.MiB
	// stallShare of the run's median IOPS under which a second counts as stalled.
	stallShare = 0.2
)

var dirtyStall = &diagnose.Rule{
	Code:  "PL411",
	Check: checkDirty,
}

func checkDirty(c *diagnose.Case, report func(finding.Finding)) {
	for _, m := range c.Measured() {
		h := m.Result.Host
		if h == nil || h.WritebackMax < muchWriteback {
			continue
		}
		stalls := 0
		var rates []float64
		for _, s := range diagnose.Settled(m.Result) {
			rates = append(rates, float64(s.IOPS()))
		}
		mid := stats.Median(rates)
		for _, s := range diagnose.Settled(m.Result) {
			if float64(s.IOPS()) < stallShare*mid && s.Writeback >= muchWriteback {
				stalls++
			}
		}
		others := m.All(diagnose.Direct)
		if stalls == 0 && !others {
			continue
		}
		says := fmt.Sprintf("Up to %s were under writeback at once", h.WritebackMax)
		if stalls > 0 {
			says += fmt.Sprintf(", and in %d of %d seconds IOPS fell below %s of the median.", stalls, len(rates),
				text.Percent(stallShare))
		} else {
			says += ", although the jobs write directly: another process's data."
		}
		report(finding.Finding{
			Subject: m.Label(), Scenarios: m.IDs(), Message: says,
			Evidence: []finding.Evidence{
				{
					What:     "most under writeback",
					Found:    h.WritebackMax.String(),
					Expected: "below " + muchWriteback.String(),
					Where:    "/proc/meminfo, telemetry",
				},
				{What: "stalled seconds", Found: text.Count(stalls), Expected: "0", Where: "per-second series"},
			},
			Commands: []string{"sync", "sysctl -w vm.dirty_bytes=268435456 vm.dirty_background_bytes=67108864"},
		})
	}
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

var otherIO = &diagnose.Rule{
	Code:  "PL412",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			r := m.Result
			if f, ok := othersCounted(m); ok {
				report(f)
				continue
			}
			if f, ok := mergedBelow(m); ok {
				report(f)
				continue
			}
			if len(r.Devices) == 0 || r.Measured <= 0 || m.Any(diagnose.Buffered) || m.LooseEdge() {
				continue
			}
			d := r.Devices[0]
			f := finding.Finding{Subject: m.Label(), Scenarios: m.IDs()}
			look := func(what string, device, own units.Bytes) {
				if device < own {
					return
				}
				more := units.Rate(float64(device-own) / r.Measured.Seconds())
				all := float64(d.ReadBytes + d.WriteBytes)
				if more < strangeRate || float64(device-own) < max(strange*float64(own), strangeAll*all) {
					return
				}
				f.Message = fmt.Sprintf("Something other than fio did %s of %s on %s (%s).", what, device-own, d.Name, more)
				if float64(device-own) >= foreignIO*all && !m.Reached() {
					f.Severity = finding.Invalid
				}
				f.Evidence = append(f.Evidence, finding.Evidence{
					What:     what + " of " + d.Name,
					Found:    device.String(),
					Expected: own.String() + " by fio",
					Where:    "/proc/diskstats, telemetry",
				})
			}
			look("reads", d.ReadBytes, r.Total.Read.Bytes)
			if _, log := logWrites(m); !log {
				look("writes", d.WriteBytes, r.Total.Write.Bytes)
			}
			if f.Message != "" {
				f.Commands = []string{"iotop -obPa -n 3", "grep . /proc/[0-9]*/io 2>/dev/null | sort -t: -k3 -n | tail"}
				report(f)
			}
		}
	},
}

const (
	// twice fio's I/Os is more than a filesystem's own metadata makes of small blocks.
	twice = 2.0
	// unsplit is a block that no device splits, save an array with a smaller chunk.
	unsplit = 64 * units.KiB
	// asIOPS is the largest block whose rate is read as IOPS, and mergedInto how many of fio's I/Os a
	// device's one must hold for that rate to be another thing than the device's.
	asIOPS     = 16 * units.KiB
	mergedInto = 4
)

// mergedBelow finds small I/Os that the kernel joined before the device had them: the device's IOPS are
// a fraction of fio's, whose rate is a bandwidth. The page cache joins them always, and is not judged.
func mergedBelow(m diagnose.Measurement) (finding.Finding, bool) {
	r := m.Result
	own := r.Total.Read.N + r.Total.Write.N
	if len(r.Devices) > 0 || r.DisksPartial != "" || r.DisksShared || own < diagnose.EnoughReads || m.Syncs() ||
		m.Any(paged) || r.Total.Read.Bytes+r.Total.Write.Bytes > units.Bytes(own)*asIOPS {
		return finding.Finding{}, false
	}
	var ios, merges uint64
	for _, d := range r.Disks {
		if !d.Member {
			ios, merges = ios+d.Reads+d.Writes, merges+d.ReadMerges+d.WriteMerges
		}
	}
	if ios == 0 || float64(ios+merges) < sawAll*float64(own) || ios+merges < mergedInto*ios {
		return finding.Finding{}, false
	}
	return finding.Finding{
		Severity: finding.Warn, Title: "the device did fewer, larger I/Os than fio", Subject: m.Label(), Scenarios: m.IDs(),
		Message: fmt.Sprintf("The devices did %s I/Os for fio's %s: the kernel joined %s of them to others, so fio's "+
			"IOPS are not the devices'.", text.Count(ios), text.Count(own), text.Count(merges)),
		Fix: "Take the bandwidth for the result; random I/O is not joined.",
		Evidence: []finding.Evidence{{
			What: "I/Os of the devices", Found: fmt.Sprintf("%s, %s merged", text.Count(ios), text.Count(merges)),
			Expected: text.Count(own) + " by fio", Where: "disk statistics of fio",
		}},
	}, true
}

// othersCounted compares fio's disk statistics, which are all that an import has, with fio's own
// counts. Members of arrays count pieces, and syncs write logs: neither is judged.
func othersCounted(m diagnose.Measurement) (finding.Finding, bool) {
	r := m.Result
	own := float64(r.Total.Read.N + r.Total.Write.N + r.Total.Trim.N)
	if len(r.Devices) > 0 || r.DisksPartial != "" || r.DisksShared || own < diagnose.EnoughReads || m.Syncs() ||
		len(r.Workloads) == 0 || m.Any(diagnose.Buffered) ||
		m.Any(func(w fio.Workload) bool {
			return w.ReadBS > unsplit || w.WriteBS > unsplit || w.VerifyOn || w.Ramp > 0
		}) {
		return finding.Finding{}, false
	}
	var disk *fio.Disk
	for i := range r.Disks {
		switch d := &r.Disks[i]; {
		case d.Member:
		case disk != nil:
			return finding.Finding{}, false // of several devices none is known to be fio's alone
		default:
			disk = d
		}
	}
	if disk == nil {
		return finding.Finding{}, false
	}
	counted := float64(disk.Reads + disk.Writes)
	if counted <= twice*own {
		return finding.Finding{}, false
	}
	return finding.Finding{
		Severity: finding.Warn, Subject: m.Label(), Scenarios: m.IDs(),
		Message: fmt.Sprintf("%s did %s I/Os while fio made %s: others used it.", disk.Name,
			text.Count(uint64(counted)), text.Count(uint64(own))),
		Evidence: []finding.Evidence{{
			What:     "I/Os of " + disk.Name,
			Found:    fmt.Sprintf("%s reads, %s writes", text.Count(disk.Reads), text.Count(disk.Writes)),
			Expected: fmt.Sprintf("%s and %s by fio", text.Count(r.Total.Read.N), text.Count(r.Total.Write.N)),
			Where:    "disk statistics of fio",
		}},
	}, true
}
