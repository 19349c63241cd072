// Package run has the rules on runs: what was measured (PL4xx), and what it reached of its ceiling (PL5xx).
package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What rules are about, look at and report.
type (
	facts       = diagnose.Case
	reporter    = diagnose.Report
	fault       = finding.Finding
	measurement = diagnose.Measurement
)

// Rules are those on what runs measured (PL4xx), and on what they reached of their ceilings
// (PL5xx).
func Rules() []*diagnose.Rule {
	each, sides := diagnose.Each, []part.Part{part.AllJobs, part.AllSides}
	series := slices.Concat(sides, []part.Part{part.Count})
	return finding.Rules(diagnose.Checks{
		"PL401": each(unwritten),
		"PL402": each(cutShort),
		"PL403": each(tooNoisy, part.Count),
		"PL404": each(bimodal, sides...),
		"PL405": each(changed, series...),
		"PL406": each(burstSpent, series...),
		"PL407": each(shallow),
		"PL408": each(syncBlocks, sides...),
		"PL409": each(cpuBound, part.AllJobs),
		"PL410": each(robbed),
		"PL411": each(dirtyStall),
		"PL412": each(otherIO, sides...),
		"PL413": each(impossible),
		"PL414": each(conversion),
		"PL415": each(stalled, series...),
		"PL416": each(saturated),
		"PL417": each(slowShare, part.AllJobs),
		"PL418": each(tooShort),
		"PL419": pageCache,
		"PL420": each(roundsDiffer),
		"PL421": roundApart,
		"PL422": each(roundsDrift),
		"PL423": timedOut,
		"PL424": each(measuredLoading),
		"PL425": each(othersCompute),
		"PL426": each(contradicting, sides...),
		"PL427": each(fewOnly, sides...),
		"PL428": each(partOnly, sides...),
		"PL429": each(unlike, part.AllJobs),
		"PL430": each(unsynced, append(sides, part.Command)...),
		"PL431": each(slowest),
		"PL432": each(calledMemory),
		"PL501": each(concurrencyBound, sides...),
		"PL502": each(ceilingReached, sides...),
		"PL503": each(farBelow, sides...),
		"PL504": each(demandMissed, sides...),
		"PL505": each(instanceBound, sides...),
		"PL506": each(mirrorReads, sides...),
		"PL507": each(slowNotQueued),
	})
}

// first is the first of some looks that found something.
func first(looks ...fault) (f fault) {
	for _, f = range looks {
		if f.Message != "" {
			break
		}
	}
	return f
}

const (
	// reachedDevice is the share of fio's reads that the devices must have seen. Merges only lower
	// the count of requests, so counts are compared where blocks are small and random, bytes
	// elsewhere.
	reachedDevice = 0.5

	// floorShare of a drive's own read latency (at depth 1, from its data sheet) that a tenth of
	// its reads under load cannot be below: data sheets state a typical value, good units are some
	// 20 % better, and a drive's own cache holds no tenth of a test's region. Of the striped P4510
	// (77 µs), unwritten rounds have 23 to 34 µs there and written ones 137 to 249.
	floorShare = 0.7
	// flashFloor is the same where the drive is not known. At depth 1 the fastest drives of 2026
	// read 4 KiB of flash in 40 to 45 µs (22,000 IOPS in data sheets; a p50 of 43 µs was imported
	// whose device counted each read and 37 µs for it). Only Optane, Z-NAND and memory are faster.
	flashFloor = 35 * time.Microsecond
)

func unwritten(c *facts, m measurement) (f fault) {
	return first(unreal(m), unread(c, m))
}

func unread(c *facts, m measurement) (f fault) {
	read := m.Total.Read
	if read.N < diagnose.EnoughReads || m.Any(diagnose.Buffered) {
		return f // buffered is the job's own choice: the lint rule on direct= tells it
	}
	if f = bypassed(m); f.Message != "" || m.Any(diagnose.Sequential) || len(m.Workloads) == 0 {
		return f // read-ahead in the drive makes sequential reads faster than its media
	}
	faster := func(part, says, expected string, took time.Duration, args ...any) fault {
		return m.Finds("%s of the reads returned within %s, "+says, append([]any{part, took}, args...)...).
			Saw("read clat of "+strings.ToLower(part), took, "at least "+expected, "fio, scenario "+m.Label()).
			Saw("IOPS", read.IOPS, "", "fio, scenario "+m.Label())
	}
	if a := c.ArrayOf(m); a != nil && len(a.Volumes) > 0 {
		v := a.Volumes[0]
		part, took, ok := fasterThan(m, time.Duration(floorShare*float64(v.ReadLatency)))
		if v.Network || v.ReadLatency <= 0 || !ok {
			return f
		}
		return faster(part, "but the drive needs %s to read its media: blocks that hold nothing were read.",
			finding.Says("%v of %s, the read latency of %s (%s)", floorShare, v.ReadLatency,
				v.Model, v.Origin.Kind), took, v.ReadLatency)
	}
	// Nothing is known of the drive: an imported run. Only flash behind real device names is
	// judged.
	part, took, ok := fasterThan(m, flashFloor)
	if c.Topology != nil && len(c.Topology.Arrays) > 0 || !ok || !flash(m.Result) {
		return f
	}
	return faster(part, "faster than flash can be read: most likely blocks that hold nothing were read.",
		text.Duration(flashFloor)+", less than any drive takes to read flash", took).As(finding.Warn)
}

// fasterThan says which part of a run's reads returned within a time below the floor: half of them,
// or a tenth, in any of its jobs. Reads of blocks that hold nothing take 16 to 34 µs whatever the
// rest takes; under load no tenth of the reads of an honest round of the corpus was faster than 1.8
// times the drive's own latency.
func fasterThan(m measurement, floor time.Duration) (part string, took time.Duration, ok bool) {
	all := []fio.Latency{m.Total.Read.Clat}
	for _, j := range m.Jobs {
		all = append(all, j.Read.Clat)
	}
	for _, by := range []struct {
		part string
		p    float64
	}{{"Half", 50}, {"A tenth", 10}} {
		for _, l := range all {
			if at, known := l.At(by.p); known && at > 0 && at < floor {
				return by.part, at, true
			}
		}
	}
	return "", 0, false
}

// flash says whether the run's leaf devices are NVMe drives by name.
func flash(r *result.Result) bool {
	found := false
	for _, d := range r.Disks {
		if strings.HasPrefix(d.Name, "nvme") {
			found = true
		} else if d.Member {
			return false
		}
	}
	return found
}

// readsAhead says that a device may have been asked for larger pieces than fio reads.
func readsAhead(w fio.Workload) bool { return w.Sequential && w.Reads() }

// bypassed compares what fio read with what the devices saw.
func bypassed(m measurement) (f fault) {
	read := m.Total.Read
	// Telemetry: the kernel's own counters over the measured window, to a tenth of a second.
	if len(m.Devices) > 0 && m.Measured >= diagnose.Shortest {
		d := m.Devices[0]
		if float64(d.ReadBytes) >= reachedDevice*float64(read.Bytes) {
			return f
		}
		return m.Finds("fio read %s, but %s saw reads of %s: the rest came from memory or from blocks that hold nothing.",
			read.Bytes, d.Name, d.ReadBytes).
			Saw("read from "+d.Name, finding.Says("%v reads, %s", d.Reads, d.ReadBytes),
				finding.Says("%v reads, %s", read.N, read.Bytes), "/proc/diskstats, telemetry")
	}
	var reads, all uint64
	var names []string
	for _, d := range m.Disks {
		if d.Member {
			continue
		}
		reads += d.Reads + d.ReadMerges
		all += d.Reads + d.Writes
		names = append(names, d.Name)
	}
	if len(names) == 0 || m.DisksPartial != "" || len(m.Workloads) == 0 || m.Any(readsAhead) ||
		float64(reads) >= reachedDevice*float64(read.N) {
		return f
	}
	who := strings.Join(names, ", ")
	f = m.Finds("fio made %v reads, but %s saw %v: they were answered from blocks that hold nothing, or from memory.",
		read.N, who, reads).
		Saw("reads that reached "+who, reads, read.N, "disk statistics of fio")
	// Under NVMe multipath fio's disk statistics are zero throughout (axboe/fio#1890): a second
	// witness is needed.
	if b, known := diagnose.Hardware(m.Ceiling); all == 0 && (!known || m.IOPS() <= impossibleShare*b.IOPS) {
		f.Severity = finding.Warn
		f.Say("fio made %v reads, but its disk statistics of %s are all zero: the reads never reached "+
			"it, or fio cannot see this device.", read.N, who)
	}
	return f
}

const (
	// ranAll of the planned time; below half, and with too little for an interval, nothing is left of the plan.
	ranAll  = 0.95
	ranHalf = 0.5
)

func cutShort(_ *facts, m measurement) (f fault) {
	f = m.Finds("")
	for _, j := range m.Jobs {
		if j.Error != 0 {
			f.Severity = finding.Invalid
			f.Say("Job %s ended with error %d.", j.Name, j.Error)
			f = f.Saw("error of job "+j.Name, j.Error, "0", "fio")
		}
	}
	if f.Message == "" && idle(m.Result) {
		f.Severity = finding.Invalid
		f.Say("In %s not one I/O completed.", m.Measured)
		f = f.Saw("I/Os", "0", "some", "fio")
	}
	// fio 3.33 counts each fsync and fdatasync as a short I/O: with syncs the count says
	// nothing, nor in an excerpt that does not say whether there were any: its documents print them last.
	syncs := m.Syncs() || m.Total.Sync.Lat.Mean > 0
	if bad := lost(m.Total); bad > 0 && !syncs && !m.Lacks(part.Head, part.Ending) && f.Message == "" {
		f.Say("%v I/Os were short or dropped.", bad)
		f = f.Saw("short or dropped I/Os", bad, "0", "fio, issued rwts")
	}
	if planned := plan(m.Result); planned > 0 && float64(m.Measured) < ranAll*float64(planned) {
		if f.Message == "" {
			f.Say("Only %s of the planned %s were measured.", m.Measured, planned)
		}
		if float64(m.Measured) < ranHalf*float64(planned) && m.Measured < diagnose.LeastForInterval {
			f.Severity = finding.Invalid
		}
		f = f.Saw("measured", m.Measured, planned, "fio, runtime of the jobs")
	}
	if len(m.Incomplete) > 0 && f.Message == "" {
		f.Fix = "Treat the figures as those of the part that was measured; let a run end by itself, with all its hosts."
	}
	for _, missing := range m.Incomplete {
		f.Message = cmp.Or(f.Message, missing)
		f = f.Saw("what fio printed", missing, "", "fio")
	}
	return f
}

// idle says that an import states of each direction that it did nothing, of one for the time of the run.
func idle(r *result.Result) bool {
	if r.Source == "" || r.Measured < noRun || r.Lacks(part.AllJobs, part.AllSides) || r.Total.Sync.Lat.Mean > 0 {
		return false
	}
	ran := false
	for _, d := range r.Total.Directions() {
		if diagnose.Ran(*d) || d.Bytes > 0 || d.Clat.Mean > 0 || d.Lat.Mean > 0 || len(d.Clat.Percentiles) > 0 {
			return false
		}
		ran = ran || d.Runtime >= noRun
	}
	return ran
}

func lost(j fio.Job) uint64 {
	n := uint64(0)
	for _, d := range j.Directions() {
		n += d.Short + d.Dropped
	}
	return n
}

// plan is how long a run was to measure: 0 for a job that may end when its file is covered, and for
// one that --stop ended when its figure was known. The longest job counts, since sections may be
// shorter on purpose.
func plan(r *result.Result) time.Duration {
	if r.Measured <= 0 || r.Stopped != nil && r.Stopped.At > 0 || r.Lacks(part.AllJobs, part.AllSides) {
		return 0
	}
	if r.Planned > 0 {
		return r.Planned
	}
	var longest time.Duration
	for _, w := range r.Workloads {
		if w.TimeBased {
			longest = max(longest, w.Runtime)
		}
	}
	return longest
}

// Noisy is the half width of the mean's 95 % interval above which a figure is in doubt: thresholds
// are at 95 % of a ceiling, so an interval of ±10 % cannot separate met from missed.
const Noisy = 0.10

func tooNoisy(_ *facts, m measurement) (f fault) {
	e := m.Result.IOPS
	if f = first(uneven(m), unevenJobs(m), unevenSeconds(m)); f.Message != "" || e.Rel() <= Noisy {
		return f
	}
	from := fmt.Sprintf("%d batches of seconds", e.N)
	if len(m.Rounds) > 1 {
		from = text.Plural(e.N, "round")
	}
	return m.Finds("Too noisy: %s IOPS %s.", units.Number(e.Center), text.PlusMinus(e.Rel())).
		Saw("95 % interval of mean IOPS", fmt.Sprintf("%s to %s", units.Number(e.Lo), units.Number(e.Hi)),
			"within "+text.PlusMinus(Noisy), from)
}

// impossibleShare of the hardware's limit is more than it can give: saved tokens let short runs
// exceed a limit by 1 to 2 % (lab; 12,200 of 12,000 in disk-benchmark-guide.md). From fictionShare on the figure
// cannot come from these volumes at all.
const (
	impossibleShare = 1.10
	fictionShare    = 1.5
)

func impossible(_ *facts, m measurement) (f fault) {
	b, ok := diagnose.Hardware(m.Ceiling)
	if !ok || m.IOPS() <= impossibleShare*b.IOPS || b.AtLeast != "" && m.IOPS() < fictionShare*b.IOPS {
		return f
	}
	share := float64(m.IOPS() / b.IOPS)
	f = m.Finds("%s IOPS are %v of the %s that %s allows.", m.IOPS(), share, b.IOPS, b.Label()).
		Saw("IOPS", m.IOPS(), "at most "+b.IOPS.String(), "fio, scenario "+m.Label()).
		Saw("limit", b.How, "", diagnose.Origin(b.Origin))
	if b.AtLeast != "" {
		f.Message += " The limit may be higher: " + b.AtLeast + "."
	}
	if share >= fictionShare && b.AtLeast == "" && b.Origin.Kind != topology.Assumed &&
		b.Origin.Kind != topology.Unknown {
		f.Severity = finding.Invalid
	}
	return f
}

const (
	// converting is how many bytes a device may write for one of the workload: pre-written files
	// gave 1.0 in the lab, extent conversion 1.5 (log unit 4 KiB), 5 (32 KiB) and 33 (256 KiB).
	converting = 1.3
	// logBlock is the least that a sync writes of a log; less for each sync is another process's
	// doing. Nine tenths of it must be there, since some syncs share a log write.
	logBlock     = 4 * units.KiB
	logBlockPart = 0.9
)

// logWrites says how many bytes the top device wrote for one that fio wrote, and whether the
// surplus is the log of its syncs.
func logWrites(m measurement) (ratio float64, log bool) {
	own := m.Total.Write
	if m.Prefilled || !m.Syncs() || m.Any(diagnose.Buffered) || own.Bytes == 0 || own.N == 0 ||
		len(m.Devices) == 0 {
		return 0, false
	}
	wrote := float64(m.Devices[0].WriteBytes)
	surplus := (wrote - float64(own.Bytes)) / float64(own.N)
	ratio = wrote / float64(own.Bytes)
	return ratio, ratio >= converting && surplus >= logBlockPart*float64(logBlock)
}

func conversion(_ *facts, m measurement) (f fault) {
	ratio, log := logWrites(m)
	if !log {
		return f
	}
	d, own := m.Devices[0], m.Total.Write
	return m.Finds("%s wrote %s bytes for each byte of the workload: its syncs also write the filesystem's log.",
		d.Name, units.Number(ratio)).
		Saw("written to "+d.Name, d.WriteBytes, "about "+own.Bytes.String(), "/proc/diskstats, telemetry").
		Saw("surplus for each write", units.Bytes(float64(d.WriteBytes-own.Bytes)/float64(own.N)),
			"less than "+logBlock.String(), "the same")
}
