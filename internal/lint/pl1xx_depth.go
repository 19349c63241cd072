package lint

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/units"
)

func depthOnSync(j *lintJob) *fault {
	c := j.of
	o, ok := j.last["iodepth"]
	if !ok || j.open("ioengine") || !fio.Synchronous(j.Engine) {
		return nil
	}
	depth, err := fio.ParseSize(o.Value, 1024)
	if err == nil && depth <= 1 || err != nil && !c.filledIn(o) { // PL102 says that fio refuses it
		return nil
	}
	f := j.found("iodepth", "%s keeps one I/O in flight per job, whatever iodepth says: %s in flight, not %s.",
		j.setting("ioengine", fio.DefaultEngine), units.Group(fmt.Sprint(max(j.Jobs, 1))), times32(j, uint64(depth)))
	// The engine may be named where the file is started, or in one that stands before it.
	elsewhere := !j.src.Command && !j.given("ioengine") && (!j.namesEngine() || j.completed())
	return lessen(f, j.open("iodepth") || elsewhere || o.Line > 0 && c.queued[place{j.src, o.Line, o.Col}])
}

// place is where an option of a job stands.
type place struct {
	src       *script.Job
	line, col int
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
	return !j.given("size", "filesize", "filename", "directory", "io_size", "read_iolog", "fill_device")
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
	return units.Group(fmt.Sprint(depth * uint64(max(j.Jobs, 1))))
}

func asyncBuffered(j *lintJob) *fault {
	if j.Engine != "libaio" || !j.Buffered || j.open("direct", "buffered") ||
		j.Depth <= 1 && !j.open("iodepth") {
		return nil
	}
	f := j.found("ioengine direct",
		"libaio with %s submits one I/O at a time through the page cache; iodepth does nothing.", j.setting("direct", "0"))
	return lessen(f, j.directOutside() || j.open("iodepth") || j.prepares())
}

func syncWithDepth(j *lintJob) *fault {
	if j.SyncEvery != 1 || j.Depth <= 1 || fio.Synchronous(j.Engine) || j.open("ioengine", "rw") {
		return nil
	}
	name := "fdatasync"
	if !j.given(name) {
		name = "fsync"
	}
	f := j.found(name,
		"%s=1 blocks the submitter after each write, so iodepth=%d fills fio's queue, not the device's: "+
			"fio's latencies include that wait.", name, j.Depth)
	return lessen(f, j.Engine != "libaio") // its syncs may be asynchronous, too
}

func boundByDepth(j *lintJob) *fault {
	if j.Sequential || !j.Direct || !fio.Synchronous(j.Engine) || j.Jobs < 2 || j.SyncEvery > 0 || j.SyncWrites ||
		j.Paced() ||
		j.open("numjobs", "ioengine") ||
		j.given("iodepth") {
		return nil
	}
	const typical = 500 * time.Microsecond // of a network volume
	return j.found("numjobs ioengine",
		"%s with %d jobs keeps %d I/Os in flight: at %s each that is at most %s IOPS, whatever the volume can do.",
		j.setting("ioengine", fio.DefaultEngine), j.Jobs, j.Jobs, typical,
		units.IOPS(float64(j.Jobs)/typical.Seconds()))
}
