package lint

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

var depthOnSync = &rule{
	Code:     "PL103",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "iodepth does nothing on a synchronous engine",
	When: "iodepth is above 1 on a synchronous engine. An info where a job file names no ioengine, the " +
		"depth is a default that another section uses, or its value is unknown.",
	Why: "sync, psync, pvsync and mmap keep one I/O in flight per job, so the figure is that of depth 1. fio " +
		"runs the job all the same, and its result still says iodepth=32.",
	Seen:   "With iodepth=32 psync had all its I/Os at depth 1, posixaio less than half.",
	Fix:    "Use ioengine=libaio or io_uring with direct=1, or numjobs for more in flight, or drop iodepth.",
	Bad:    "fio --name=a --rw=randread --direct=1 --iodepth=32",
	Good:   "fio --name=a --rw=randread --direct=1 --ioengine=libaio --iodepth=32",
	Ignore: "When iodepth is a default in [global] for other jobs.",
	Check: eachJob(measured(func(c *Case, j *lintJob) *finding.Finding {
		o, ok := j.last["iodepth"]
		if !ok || j.open("ioengine") || !fio.Synchronous(j.load.Engine) {
			return nil
		}
		depth, err := fio.ParseSize(o.Value, 1024)
		if err == nil && depth <= 1 || err != nil && !c.filledIn(o) { // PL102 says that fio refuses it
			return nil
		}
		f := j.found(fmt.Sprintf("%s keeps one I/O in flight per job, whatever iodepth says: %s in flight, not %s.",
			j.setting("ioengine", fio.DefaultEngine), units.Group(fmt.Sprint(max(j.load.Jobs, 1))),
			times32(j, uint64(depth))), "iodepth")
		if j.open("iodepth") || !j.src.Command && !j.given("ioengine") && (!j.namesEngine() || j.completed()) ||
			c.usedElsewhere(j, o) {
			f.Severity = finding.Info // the engine may be named where the file is started, or in one that stands before it
		}
		return f
	})),
}

// place is where an option of a job stands.
type place struct {
	src       *script.Job
	line, col int
}

// usedElsewhere says whether an option that a job inherits is one that a job with a queue uses.
func (c *Case) usedElsewhere(j *lintJob, o fio.Option) bool {
	return o.Line > 0 && c.queued[place{j.src, o.Line, o.Col}]
}

// completed says whether options come from outside: a job file without any size or place is started
// with them, as is one that a script starts with words that are not known, and may be given others there.
func (j *lintJob) completed() bool {
	if j.src.Command {
		return false
	}
	if j.from != nil && j.from.open {
		return true
	}
	return !j.anyGiven("size", "filesize", "filename", "directory", "io_size", "read_iolog", "fill_device")
}

// directOutside says whether direct=1 may come from where the job file is started.
func (j *lintJob) directOutside() bool { return !j.given("direct") && j.completed() }

// namesEngine says whether any section of the job's file names an ioengine.
func (j *lintJob) namesEngine() bool {
	return slices.ContainsFunc(j.src.File.Sections, func(s fio.Section) bool {
		_, has := s.Get("ioengine")
		return has
	})
}

// times32 prints what was asked for in all.
func times32(j *lintJob, depth uint64) string {
	if depth == 0 { // $IO_DEPTH
		return "what it asks for"
	}
	return units.Group(fmt.Sprint(depth * uint64(max(j.load.Jobs, 1))))
}

var asyncBuffered = &rule{
	Code:     "PL104",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "libaio without direct=1 is not asynchronous",
	Why: "Linux AIO queues I/Os with O_DIRECT only. Through the page cache io_submit waits for each of " +
		"them, so iodepth does nothing, although fio reports the depth as reached.",
	Seen: "With iodepth=16 a loop device had 1 I/O in flight, 16 with direct=1; fio counts 95 % of the I/Os " +
		"at depth 16 in both.",
	Fix:    "Set direct=1; through the page cache use ioengine=io_uring, or a synchronous engine with numjobs.",
	Bad:    "fio --name=a --ioengine=libaio --iodepth=32 --rw=randread",
	Good:   "fio --name=a --ioengine=libaio --iodepth=32 --rw=randread --direct=1",
	Ignore: "Never with iodepth above 1.",
	Check: eachJob(measured(func(_ *Case, j *lintJob) *finding.Finding {
		if j.load.Engine != "libaio" || !j.load.Buffered || j.open("direct") || j.open("buffered") ||
			j.load.Depth <= 1 && !j.open("iodepth") {
			return nil
		}
		f := j.found(fmt.Sprintf("libaio with %s submits one I/O at a time through the page cache; iodepth does nothing.",
			j.setting("direct", "0")), "ioengine", "direct")
		if j.directOutside() || j.open("iodepth") || j.prepares() {
			f.Severity = finding.Info
		}
		return f
	})),
}

var syncWithDepth = &rule{
	Code:     "PL111",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "a sync after every write empties the queue that iodepth asks for",
	Why: "With fsync=1 or fdatasync=1 fio waits in the sync after each write while the other slots of its " +
		"queue wait for it. fio counts those slots in its depth and latency, but the device has about one I/O " +
		"per job. io_uring syncs asynchronously: an info there and with other engines.",
	Seen: "With iodepth=16 and fdatasync=1 a loop device had 1.5 writes in flight on average, 10.9 without " +
		"the sync.",
	Fix: "For the latency of a durable write use iodepth=1 and raise numjobs, as databases do, and report " +
		"fio's sync latency instead of clat.",
	Bad: "fio --name=a --ioengine=libaio --direct=1 --rw=write --fdatasync=1 --iodepth=32 --numjobs=4",
	Good: "fio --name=a --ioengine=libaio --direct=1 --rw=write --fdatasync=1 --iodepth=1 --numjobs=32 " +
		"--directory=/wal",
	Ignore: "When only the throughput is read from the result.",
	Check: eachJob(measured(func(_ *Case, j *lintJob) *finding.Finding {
		if j.load.SyncEvery != 1 || j.load.Depth <= 1 || fio.Synchronous(j.load.Engine) || j.open("ioengine") ||
			j.open("rw") || !j.measures() {
			return nil
		}
		name := "fdatasync"
		if !j.given(name) {
			name = "fsync"
		}
		f := j.found(
			fmt.Sprintf("%s=1 blocks the submitter after each write, so iodepth=%d fills fio's queue and not the device's: "+
				"its latencies include the wait.", name, j.load.Depth),
			name,
		)
		if j.load.Engine != "libaio" {
			f.Severity = finding.Info // its syncs may be asynchronous, too
		}
		return f
	})),
}

var boundByDepth = &rule{
	Code:     "PL140",
	Since:    "0.1",
	Severity: finding.Info,
	Title:    "the result will be limited by the I/Os in flight",
	When:     "Random, direct I/O on a synchronous engine by several jobs, neither synced nor rate-limited.",
	Why: "IOPS cannot exceed I/Os in flight divided by latency (Little's law), and a synchronous job has " +
		"one in flight: the figure shows latency, not the volume's limit.",
	Fix: "For the volume's limit use ioengine=libaio with a deep enough iodepth.",
	Bad: "fio --name=a --direct=1 --rw=randwrite --bs=16k --numjobs=16 --directory=/mnt --size=1G",
	Good: "fio --name=a --direct=1 --rw=randwrite --bs=16k --numjobs=16 --directory=/mnt --size=1G " +
		"--ioengine=libaio --iodepth=32",
	Ignore: "When the application works that way.",
	Check: oncePerFile(func(_ *Case, j *lintJob) *finding.Finding {
		w := j.load
		if w.Sequential || !w.Direct || !fio.Synchronous(w.Engine) || w.Jobs < 2 || w.SyncEvery > 0 || w.SyncWrites ||
			w.Paced() ||
			j.open("numjobs") ||
			j.open("ioengine") ||
			j.given("iodepth") {
			return nil
		}
		const typical = 500 * time.Microsecond // of a network volume
		return j.found(
			fmt.Sprintf("%s with %d jobs keeps %d I/Os in flight: at %s each that is at most %s IOPS, whatever the volume can "+
				"do.", j.setting("ioengine", fio.DefaultEngine), w.Jobs, w.Jobs, text.Duration(typical),
				units.IOPS(float64(w.Jobs)/typical.Seconds())),
			"numjobs",
			"ioengine",
		)
	}),
}
