package run

import (
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

func shallow(_ *facts, m measurement) (f fault) {
	if m.Failed() || 0 < m.Measured && m.Measured < diagnose.Shortest { // PL402, PL418
		return f
	}
	if f = cappedAtOne(m); f.Message != "" || m.Lacks(part.AllJobs, part.AllSides, part.Latencies) {
		return f
	}
	if f = oneByOne(m); f.Message != "" {
		return f
	}
	asked, got := m.InFlight(), m.Little()
	if asked < diagnose.DeepEnough || got <= 0 || got >= diagnose.DepthReached*whole(m)*float64(asked) ||
		m.HeldBack() || mayBePaced(m, asked) || m.Syncs() ||
		m.Any(func(w fio.Workload) bool { return w.StartDelay > 0 || w.Stonewall || w.VerifyOn }) {
		return f
	}
	return m.Finds("%s of the %d I/Os asked for were in flight on average.", units.Number(got), asked).
		Advise(asynchronously(m)).
		Saw("IOPS × mean latency", fmt.Sprintf("%s × %s = %s", m.IOPS(), units.Latency(m.MeanLatency()), units.Number(got)),
			fmt.Sprintf("%d = iodepth × numjobs", asked), "fio")
}

// mayBePaced says that options which nobody has, such as rate_iops, may keep the depth low: fio's own depths
// are as low as the latencies say. Where they are full, the I/Os were handed over and not in flight.
func mayBePaced(m measurement, asked int) bool {
	return m.Lacks(part.Head, part.Command) && m.Depth.Fio < diagnose.DepthReached*float64(asked)
}

// submitting is the share of its time that a job must spend in submission to be doing its I/O
// there.
const submitting = 0.8

// cappedAtOne finds depths that were asked of an engine that keeps one I/O in flight.
func cappedAtOne(m measurement) (f fault) {
	asked, engine := 0, ""
	for _, w := range m.Workloads {
		asked += max(w.Jobs, 1) * max(w.DepthAsked, w.Depth, 1)
		if w.DepthAsked > 1 {
			engine = w.Engine
		}
	}
	if engine == "" || asked < diagnose.DeepEnough {
		return f
	}
	return m.Finds("ioengine=%s ignores iodepth: %d of %d I/Os could be in flight.", engine, inJobs(m), asked).
		Advise("Use ioengine=libaio or io_uring with direct=1 for that depth, or as many jobs (numjobs).").
		Saw("ioengine", engine, "an asynchronous one", "the job's options").
		Saw("depth asked for", asked, "", "iodepth × numjobs").Regardless()
}

// asynchronously is what to do about a depth that was not reached by jobs whose engine can reach it,
// "" for others, to which the rule's own advice applies.
func asynchronously(m measurement) string {
	switch {
	case !m.All(func(w fio.Workload) bool { return w.Engine != "" && !fio.Synchronous(w.Engine) }):
		return ""
	case m.Any(diagnose.Buffered):
		return "Use direct=1 on a pre-written file; or use more jobs instead of depth."
	}
	return "Write the file first; raise queue/nr_requests; or use more jobs instead of depth."
}

// rawDevice says that a job works on a block device past all filesystems and caches, where a
// submission waits only for a place in a queue that is full.
func rawDevice(w fio.Workload) bool { return w.Direct && strings.HasPrefix(w.Filename, "/dev/") }

// manyTimes is how many times the submitting jobs a device's queue must have held for more than one
// I/O of each to be there: one that is submitted, and one that is not picked up yet, are two.
const manyTimes = 2.5

// oneByOne finds submissions that wait for their I/O, so that a job has one in flight, while fio
// counts those that are complete and not yet picked up: buffered I/O with libaio, a FUSE or network
// filesystem, allocating writes, a full request queue.
func oneByOne(m measurement) (f fault) {
	jobs, asked := inJobs(m), 0
	for _, w := range m.Workloads {
		asked += w.InFlight()
	}
	asynchronous := m.All(func(w fio.Workload) bool { return !fio.Synchronous(w.Engine) && !polls(w) })
	if !asynchronous || asked < diagnose.DeepEnough || asked < 2*jobs || m.Syncs() {
		return f
	}
	busy := 0.0 // jobs that are submitting, on average
	for _, d := range m.Total.Directions() {
		busy += float64(d.IOPS) * d.Slat.Mean / 1e9
	}
	share, held := busy/float64(jobs), deviceDepth(m.Result)
	// Submission that computes does not wait (PL409).
	if share < submitting || share-computes(m) < submitting/2 {
		return f
	}
	f = m.Finds("Between %d and %d of the %d I/Os asked for were in flight: each submission blocks, in a filesystem "+
		"or client that waits, for blocks to allocate, or for a slot in a full request queue.",
		jobs, asked, asked).As(finding.Info).
		Advise(asynchronously(m)).
		Saw("time in submission", text.Percent(min(share, 1))+" of a job's", "below "+text.Percent(submitting),
			"fio, IOPS × mean slat").
		Saw("depth asked for", asked, "", "iodepth × numjobs")
	switch {
	case m.All(func(w fio.Workload) bool { return w.Engine == "libaio" && w.Buffered }):
		f.Severity = finding.Warn
		f.Say("iodepth has no effect: without direct=1, libaio waits for each I/O at submission, so each job has only one "+
			"in flight (%d were asked for in total).", asked)
		return f.Regardless() // of whether the storage or memory answered, and of what else the device has in its queue
	case held >= manyTimes*busy*pieces(m.Result) || held == 0 && m.All(rawDevice):
		// A device whose own queue was deep got what was submitted: it is full then, and each submission waits for a place
		// in it.
		return fault{}
	case held > 0:
		f.Severity = finding.Warn
		f.Say("The device held %s of the %d I/Os asked for: each submission waits for its I/O (a filesystem or "+
			"client that blocks, blocks that are allocated).", units.Number(held), asked)
	}
	return f
}

// collectedLate says that a run's I/Os were done one after the other in their submission, of which
// the longest mean is given, and that this took less than slowIO: what fio's latencies show beyond
// it is the time until it picked them up, a queue's length of submissions later.
func collectedLate(m measurement) (submission time.Duration, ok bool) {
	if oneByOne(m).Severity != finding.Warn {
		return 0, false
	}
	submission = time.Duration(max(m.Total.Read.Slat.Mean, m.Total.Write.Slat.Mean))
	return submission, submission < slowIO
}

// whole is the share of a run in which its queue can have been full: I/Os count when they complete,
// so of a short run with long latencies the first and the last are missing.
func whole(m measurement) float64 {
	if m.Measured <= 0 {
		return 1
	}
	return max(1-m.MeanLatency()/float64(m.Measured), 0)
}

// computes is the CPU time of a job as a share of its time, the mean of all jobs.
func computes(m measurement) float64 {
	used, jobs := m.CPU()
	return used / max(jobs, 1)
}

// deviceDepth is the mean queue of the devices of an import by their own clocks: the milliseconds
// that their I/Os took, over the run's. md keeps no clock before Linux 5.11, and its members do. 0
// where fio's disk statistics do not tell.
func deviceDepth(r *result.Result) float64 {
	if r.Measured <= 0 || r.DisksPartial != "" || r.DisksShared {
		return 0
	}
	ticks := ofDevices(r, func(d fio.Disk) uint64 { return d.ReadTicks + d.WriteTicks })
	return float64(ticks) / 1e3 / r.Measured.Seconds()
}

// pieces is how many requests the devices of an import saw for each of fio's I/Os, 1 or more: a
// request that is split has its pieces in the queue at once.
func pieces(r *result.Result) float64 {
	return max(float64(ofDevices(r, requests))/float64(max(r.Total.Read.N+r.Total.Write.N, 1)), 1)
}

// shortQueue is the share of fio's depth under which a device's own queue contradicts it.
const shortQueue = 0.5

func syncBlocks(_ *facts, m measurement) (f fault) {
	d := m.Depth
	blocked := m.Any(func(w fio.Workload) bool { return w.SyncEvery == 1 && w.Depth > 1 && w.Writes() })
	asked := d.Asked
	if asked == 0 {
		for _, w := range m.Workloads {
			asked += w.InFlight()
		}
	}
	if !blocked || d.Device >= shortQueue*float64(asked) {
		return f
	}
	f = m.Finds("%d I/Os were asked for, but each job waits in a sync after every write: the device's queue, which was "+
		"not watched, was shorter.", asked).
		Saw("depth asked for", asked, "", "iodepth × numjobs")
	if l := m.Little(); l > 0 {
		f = f.Saw("depth as fio sees it", units.Number(l), "", "IOPS × mean latency")
	}
	if d.Device > 0 {
		f.Say("%d I/Os were asked for, but each job waits in its syncs: the device's queue held %s on average.", asked,
			units.Number(d.Device))
		f = f.Saw("depth at the device", units.Number(d.Device), "", "/proc/diskstats, telemetry")
	}
	return f
}
