package run

import (
	"fmt"
	"math"
	"strings"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (

	// fromCache is the share of a buffered job's bytes that the devices must have seen. The rest
	// was answered from memory, or was still there at the end: of a long write that is the little
	// that may be dirty.
	fromCache = 0.9
	// enoughBytes below which what the devices saw proves nothing.
	enoughBytes = 16 * units.MiB
	// noRun is a window of which fio takes no sample: the first I/Os of a queue, and what a write cache or a
	// memory holds, are all there is.
	noRun = sampleEvery
	// fewSamples is a run of somebody else's of which fio took fewer than four samples.
	fewSamples = 4 * sampleEvery
	// fewIOs of the device are no sample of anything, however long they took.
	fewIOs = 16
	// nearlyEnough samples, of 8 s, whose mean is known to agreeing or better, say as much as ten seconds do.
	nearlyEnough = 16
	agreeing     = 0.05
)

func tooShort(_ *facts, m measurement) (f fault) {
	n := m.Total.Read.N + m.Total.Write.N + m.Total.Trim.N
	if m.Measured <= 0 || n == 0 && m.Bytes() == 0 {
		return f
	}
	fix := "" // the rule's, which is about the job
	if m.Source == "" {
		fix = "Use --runtime 30s or more."
	}
	did, shows := text.Plural(n, "I/O"), "show"
	if n == 0 { // quoted without its counts
		did = m.Bytes().String()
	}
	if n <= 1 {
		shows = "shows"
	}
	start := m.Finds("%s in %s %s how a run starts, not what the storage carries.", did, m.Measured, shows)
	severity := finding.Warn
	clocked := m.Program != "ioping"               // it rests between its I/Os, and its time is that of the I/Os alone
	quoted := m.Lacks(part.AllJobs, part.AllSides) // what else was done is not known
	switch {
	case clocked && (m.Measured < noRun && !quoted || m.Measured < fewSamples && m.Source != ""):
		severity = finding.Invalid
	case m.Measured < diagnose.Shortest && !quoted:
	case n > 0 && max(n, uint64(m.Bytes()/largestRequest)) < fewIOs && !quoted:
		start = start.Saw("I/Os", n, "at least "+text.Count(fewIOs), "fio, issued I/Os")
	case !m.TooShort():
		return f
	default:
		if sampledWell(m) {
			severity = finding.Info
		}
		return m.Finds("Only %s was measured: too short for an error margin.", m.Measured).As(severity).
			Titled("the run was too short").
			Advise(fix).
			Saw("95 % interval of mean IOPS", "none ("+m.Result.IOPS.None+")", "from 10 s on", "seconds of the run")
	}
	least := diagnose.Shortest
	if m.Source != "" {
		least = fewSamples
	}
	return start.As(severity).
		Advise(fix).
		Saw("measured", m.Measured, "at least "+text.Duration(least), "fio, runtime of the jobs")
}

// sampledWell says that fio's own samples of a short import make up for the seconds that it does not have: they are
// many, and the 95 % interval of their mean (Student's t of 15 samples: 2.13) is narrow.
func sampledWell(m measurement) bool {
	j := fio.Job{}
	if len(m.Jobs) == 1 {
		j = m.Jobs[0]
	}
	s := busier(j).IOPSSamples
	if j.Count > 1 || inJobs(m) > 1 { // fio pools the samples of a row's jobs
		return false
	}
	return s.N >= nearlyEnough && s.Mean > 0 && 2.13*s.StdDev/math.Sqrt(float64(s.N)) <= agreeing*s.Mean
}

func pageCache(c *facts, report reporter) {
	for _, m := range c.Measured() {
		if m.Failed() {
			continue
		}
		if f := fromMemory(m); f.Message != "" {
			report(f)
			continue
		}
		// Ten samples a second say little of less than one; the bytes of direct jobs beside it
		// would be in the same counters.
		if len(m.Devices) == 0 || m.Measured < diagnose.Shortest || !m.All(paged) {
			continue
		}
		d, own := m.Devices[0], m.Total
		// The device may have been read by others meanwhile; what no drive is fast enough for came from memory.
		if half, known := own.Read.Clat.At(50); known && half < driveSpeed && own.Read.N >= diagnose.EnoughReads &&
			!m.Any(readsAhead) {
			report(m.Finds("Half of the reads took %s or less, faster than any drive: memory answered them.", half).
				As(finding.Invalid).
				Saw("latency of half of the reads", half, "at least "+text.Duration(driveSpeed), "fio"))
			continue
		}
		for _, side := range []struct {
			done      string
			own, seen units.Bytes
		}{{"read", own.Read.Bytes, d.ReadBytes}, {"wrote", own.Write.Bytes, d.WriteBytes}} {
			share := float64(side.seen) / float64(max(side.own, 1))
			if side.own < enoughBytes || share >= fromCache {
				continue
			}
			severity, verdict := finding.Warn, "the rest went to or came from memory"
			if share < reachedDevice {
				severity, verdict = finding.Invalid, "the figures are mostly those of memory"
			}
			report(m.Finds("fio %s %s through the page cache, and %s saw %v of it: %s.", side.done, side.own, d.Name,
				share, verdict).As(severity).
				Saw(side.done+" bytes on "+d.Name, side.seen, fmt.Sprintf("%s, what fio %s", side.own, side.done),
					"/proc/diskstats, telemetry"))
		}
	}
}

// paged says that a job's I/O is known to go through the page cache.
func paged(w fio.Workload) bool { return w.Buffered && fio.UsesPageCache(w.Engine) }

const (
	// fewBlocks of a job's region are the same ones throughout: lint warns of as many (PL106).
	fewBlocks = 16
	// manyTimesOver is how often a region must have been worked through to be the same blocks again and
	// again, and not a job that ends with its file.
	manyTimesOver = 8
)

// driveCache is what every hard disk of the last ten years has of memory, and controllers have more.
const driveCache = 64 * units.MiB

// fewOnly finds jobs that used a few blocks again and again, and direct I/O of others to a file so small that a drive's
// cache may hold it.
func fewOnly(_ *facts, m measurement) (f fault) {
	region := units.Bytes(0)
	few, direct := true, m.Source != ""
	if !m.All(func(w fio.Workload) bool {
		jobs := units.Bytes(max(w.Jobs, 1))
		if w.SharedFile || m.Program != "" { // whose threads have their files in common
			jobs = 1
		}
		region += (w.Size + w.OffsetIncrement*jobs) * jobs
		few = few && w.Size <= fewBlocks*max(w.ReadBS, w.WriteBS) && w.Size < wholeRegion && w.OffsetIncrement == 0
		direct = direct && w.Direct && fio.UsesPageCache(w.Engine)
		return w.Size > 0
	}) {
		return f
	}
	did := m.Total.Read.Bytes + m.Total.Write.Bytes
	if did < manyTimesOver*region || !few && (!direct || region > driveCache) {
		return f
	}
	times := units.Number(float64(did) / float64(region))
	if !few {
		return m.Finds("The same %s were used %s times over: the cache of a drive or a controller may hold them.", region,
			times).As(finding.Info).
			Titled("the file is so small that a drive's cache may hold it").
			Saw("size of all files", region, "1 GiB or more", "the job's options")
	}
	w := m.Workloads[0]
	bs := max(w.ReadBS, w.WriteBS)
	return m.Finds("Each job used the same %s (%s of %s) %s times over.", w.Size,
		text.Plural(max(w.Size/bs, 1), "block"), bs, times).
		Saw("size of a job", w.Size, "1 GiB or more", "the job's options")
}

// wholeRegion is a region that is no accident: below it, a size was meant for a block.
const wholeRegion = units.MiB

// unsynced finds writes of imports that went through the page cache and that nothing synced, however long they took. A
// device is written when it is closed, of which only a program that times that too, as dd does, has anything.
func unsynced(_ *facts, m measurement) (f fault) {
	wrote := sides(m)[0]
	if m.Source == "" || wrote.Bytes == 0 || wrote.reached() || m.Failed() || m.Syncs() || onMemory(m) ||
		!m.All(func(w fio.Workload) bool {
			return paged(w) && !w.EndSync && (m.Program == "" || !strings.HasPrefix(w.Filename, "/dev/"))
		}) {
		return f
	}
	shown := ""
	if m.Lacks(part.DiskStats) {
		shown = ", and no disk statistics show them arriving"
	}
	return m.Finds("The %s that were written went through the page cache (no direct=1), and nothing synced them%s: "+
		"a write may complete before it reaches the storage, and memory may still hold some at the end.", wrote.Bytes, shown).
		Saw("direct", "no", "direct=1, or a sync", "the job's options, or its submission")
}
