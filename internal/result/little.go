package result

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// littleGap is how far the mean number of I/Os in flight may be from what the jobs keep in
	// flight before that needs a reason.
	littleGap = 0.05
	// ownWork is how much of its time a job must account for, in I/Os and on the CPU, for its own
	// work to explain what is missing.
	ownWork = 0.9
	// littleLeast is the share of what shallow jobs keep in flight that must be there, with fio's own
	// work: nothing that is known takes more than half of a job's time off its I/Os.
	littleLeast = 0.5
	// shallow jobs have fewer in flight than fio's submission could fail to keep there (PL407).
	shallow = 4
	// startAndEnd is the run below which the first and the last I/Os weigh.
	startAndEnd = time.Second
)

// whyDepth explains in one sentence why the mean number of I/Os in flight (IOPS × mean latency) is
// not what the jobs keep in flight (iodepth × numjobs): Little's law says X = N/L of anything that
// is kept busy. It is empty where they agree, where one of them is not known, and where no reason
// is known: then the figures contradict the job, which PL407 reports.
func (r *Result) whyDepth(d Depth) string {
	does := func(f func(fio.Workload) bool) bool { return slices.ContainsFunc(r.Workloads, f) }
	cpu := r.Total.CPU.User + r.Total.CPU.System
	inSyncs := float64(r.Total.Sync.Lat.N) * r.Total.Sync.Lat.Mean / float64(max(r.Measured, 1)) / float64(max(d.Asked, 1))
	synced := does(func(w fio.Workload) bool { return w.SyncEvery > 0 }) || inSyncs > littleGap // a header does not tell
	if does(func(w fio.Workload) bool { return w.SyncEvery > 0 && w.Depth > 1 }) && d.Device > 0 &&
		d.Device < d.Little/1.5 {
		return fmt.Sprintf("each job waits in a sync after its writes, so of the %s I/Os that fio counts as in flight, only "+
			"%s were at the device; latencies include that wait", units.Number(d.Little), units.Number(d.Device))
	}
	ratio := d.Little / float64(max(d.Asked, 1))
	if d.Asked == 0 || d.Little == 0 || ratio > 1-littleGap && ratio < 1+littleGap {
		return ""
	}
	switch {
	case ratio > 1 && r.Measured < startAndEnd:
		return fmt.Sprintf("the run took %s, which fio gives to the millisecond only", text.Duration(r.Measured))
	case ratio > 1:
		return Contradiction
	case r.HeldBack():
		return "the jobs hold themselves back (rate=, rate_iops= or thinktime=), so fewer I/Os were in flight " +
			"than they may keep"
	case synced:
		return "each job waits in a sync after its writes, in which it has no other I/O in flight"
	case r.Measured < startAndEnd:
		return fmt.Sprintf("the run took %s, including its start and its end", text.Duration(r.Measured))
	case r.Sum().Apart:
		return "not all jobs ran throughout, and depth counts only while they did"
	case does(func(w fio.Workload) bool { return w.VerifyOn }):
		return "the jobs verify what they read, and have less in flight while they do"
	case ratio+cpu > ownWork && cpu > littleGap:
		return fmt.Sprintf("fio's own work took the rest of the time: %s of a core per job", text.Percent(cpu))
	case ratio+cpu < littleLeast && d.Asked < shallow:
		return NotHalf
	}
	return ""
}

// NotHalf is said of shallow jobs that have less than half of it in flight without a known reason.
const NotHalf = "IOPS × mean latency is less than half of what the jobs keep in flight, and neither pace, syncs nor " +
	"CPU time explain it: the latencies are not those of these I/Os, or the jobs waited for something else"

// Contradiction is said of more I/Os in flight than the jobs can keep there, which no working
// system shows.
const Contradiction = "IOPS × mean latency is more than the jobs can keep in flight: the figures contradict each other"
