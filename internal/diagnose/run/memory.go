package run

import (
	"fmt"
	"math"
	"regexp"
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

// An import has no telemetry. What its figures alone prove of memory in place of storage stands here:
// physical bounds, each with the confidence that it has.

const (
	// memorySpeed is what copying a block to or from memory takes at most, with the system call.
	// Only the fastest drives (Optane) come near it.
	memorySpeed = 10 * time.Microsecond
	// driveSpeed is what a read of the fastest drives takes through the kernel: 6 µs of an Optane
	// P5800X (Intel's data sheet: 6 µs at depth 1). What is faster was not read from any drive.
	driveSpeed = 6 * time.Microsecond
	// sawAll is the share of fio's I/Os that a device must have counted to have done them.
	sawAll = 0.9
)

// side is one direction of a measurement.
type side struct {
	what string
	fio.Direction
	counted uint64 // by the devices, merges included
	known   bool   // they count at all
}

func sides(m measurement) []side {
	list := []side{{what: "writes", Direction: m.Total.Write}, {what: "reads", Direction: m.Total.Read}}
	for _, d := range m.Disks {
		if d.Member || m.DisksPartial != "" || m.DisksShared {
			continue
		}
		list[0].counted += d.Writes + d.WriteMerges
		list[1].counted += d.Reads + d.ReadMerges
		list[0].known, list[1].known = true, true
	}
	return list
}

// reached says that the devices' own counters account for a direction.
func (s side) reached() bool { return s.known && float64(s.counted) >= sawAll*float64(s.N) }

// took is what half of the I/Os took from their submission on: fio's lat where it has percentiles,
// else slat and clat together. ok is false where neither is known.
func (s side) took() (time.Duration, bool) {
	if half, known := s.Lat.At(50); known && half > 0 {
		return half, true
	}
	half, known := s.Clat.At(50)
	if !known {
		half = time.Duration(s.Clat.Mean)
	}
	return half + time.Duration(s.Slat.Mean), half > 0
}

// longest is the slowest I/O of a direction, by its completion or by all of it; mean is that of the same.
func longest(d fio.Direction) time.Duration { return max(d.Clat.Max, d.Lat.Max) }
func mean(d fio.Direction) time.Duration    { return time.Duration(max(d.Clat.Mean, d.Lat.Mean)) }

// fromMemory concludes from the latencies of an import that memory answered it, whatever is known of
// direct=. Sequential reads are not judged: read-ahead makes each fast and all of them as fast as the
// storage.
func fromMemory(m measurement) (f fault) {
	if len(m.Devices) > 0 || m.Any(polls) || onMemory(m) || m.Lacks(part.AllJobs) {
		return f
	}
	if m.Syncs() {
		return first(reread(m), heldFiles(m))
	}
	looks := []fault{undelivered(m), reread(m)} // counters need no header line
	for _, s := range sides(m) {
		switch {
		case s.N < diagnose.EnoughReads:
		case len(m.Workloads) == 0: // the header was cut off: what was asked for is not known
			if mixed := partly(m, s, unknownOrder); mixed.Message != "" && 2*s.counted > s.N {
				looks = append(looks, mixed)
			}
			if f := tooFast(m, s); !s.known && f.Severity == finding.Invalid && m.Measured >= diagnose.Shortest {
				looks = append(looks, f)
			}
		case s.what == "reads" && m.Any(diagnose.Sequential) || s.reached():
		default:
			looks = append(looks, tooFast(m, s), partly(m, s, 1), writtenBack(m, s))
		}
	}
	if len(m.Workloads) > 0 {
		looks = append(looks, copied(m))
		for _, s := range sides(m) { // sequential ones, too
			looks = append(looks, keptInMemory(m, s))
		}
	}
	return first(append(looks, heldFiles(m))...)
}

// smallFiles are the bytes of files that fit memory, which another program used through the page cache; 0 for none.
func smallFiles(m measurement) (size units.Bytes) {
	for _, w := range m.Workloads {
		size += w.Size
	}
	if m.Program == "" || size > fitsMemory || !m.All(paged) {
		return 0
	}
	return size
}

// heldFiles finds reads of other programs through the page cache, of files which fit memory and which nothing dropped
// from there after they were made.
func heldFiles(m measurement) (f fault) {
	size := smallFiles(m)
	kept := m.All(func(w fio.Workload) bool { return w.KeepCache })
	if size == 0 || !kept || !diagnose.Ran(m.Total.Read) || len(m.Disks) > 0 || m.State != result.Done {
		return f
	}
	return m.Finds("%s read through the page cache, and its newly created files of %s fit into memory: "+
		"memory may have answered the reads.", m.Program, size).As(finding.Warn).
		Saw("size of its files", size, "twice the memory", m.Program)
}

// reread finds reads of files that fit memory, and that were read more than once through the page cache: what was read
// before is there. fio drops it before each pass over its files (seen with 3.33); other programs do not.
func reread(m measurement) (f fault) {
	size, read := smallFiles(m), m.Total.Read.Bytes
	if size == 0 || read == 0 {
		return f
	}
	moved := read + m.Total.Write.Bytes
	if passes := float64(moved) / float64(size); m.All(random) && read < 2*size {
		first := (1 - math.Exp(-passes)) / passes // of the I/Os at random places that find one where none was before
		if first > firstMost {
			return f
		}
		return m.Finds("%s were read and written at random in files of %s through the page cache, and at most %v of that "+
			"was not in memory before: memory answered the other reads.", moved, size,
			first).As(finding.Invalid).
			Saw("what was read and written", moved, "less than "+size.String()+", or direct I/O", m.Program)
	}
	if read < 2*size {
		return f
	}
	return m.Finds("%s were read from files of %s through the page cache, which holds them after the first read: "+
		"memory answered the others.", read, size).As(finding.Invalid).
		Saw("what was read", read, "at most "+size.String()+", or direct I/O", m.Program)
}

// firstMost is the share of I/Os that may be first ones at their place where most are not.
const firstMost = 0.5

func random(w fio.Workload) bool { return !w.Sequential }

// largestRequest is the most that one I/O of a device carries: Linux cuts requests at 1,280 KiB by
// default, since 6.16 at 4 MiB (BLK_DEF_MAX_SECTORS_CAP), and an object of Ceph's rbd has 4 MiB, too.
const largestRequest = 4 * units.MiB

// undelivered finds reads that the devices cannot have brought, in whatever order: the I/Os that they
// counted, each as large as it can be, are less than what fio read.
func undelivered(m measurement) (f fault) {
	read := m.Total.Read
	if len(m.Disks) == 0 || m.DisksPartial != "" || m.DisksShared || read.N < diagnose.EnoughReads ||
		m.Any(func(w fio.Workload) bool { return fio.KindOf(w.Engine) != fio.EngineData || w.ReadBS > largestRequest }) {
		return f
	}
	counted := ofDevices(m.Result, func(d fio.Disk) uint64 { return d.Reads })
	most := units.Bytes(counted) * largestRequest
	// Under multipath fio sees nothing at all (axboe/fio#1890).
	unseen := len(m.Workloads) == 0 && ofDevices(m.Result, requests) == 0
	if unseen || float64(most) >= sawAll*float64(read.Bytes) {
		return f
	}
	return m.Finds("fio read %s, but the devices did only %s, which carry at most %s: the others were served from memory.",
		read.Bytes, text.Plural(counted, "read"), most).As(finding.Invalid).
		Saw("reads of the devices", counted,
			finding.Says("at least %v of %s", uint64(read.Bytes/largestRequest), largestRequest),
			"disk statistics of fio")
}

func requests(d fio.Disk) uint64 { return d.Reads + d.Writes }

// ofDevices is a figure of the devices of an import: an array may count at its members only.
func ofDevices(r *result.Result, of func(fio.Disk) uint64) uint64 {
	var top, members uint64
	for _, d := range r.Disks {
		if d.Member {
			members += of(d)
		} else {
			top += of(d)
		}
	}
	return max(top, members)
}

// onMemory says that the storage is persistent memory, which is as fast as memory because it is memory. Of
// jobs that use the page cache of which its own counters show no read, nothing says that it was.
func onMemory(m measurement) bool {
	for _, d := range m.Disks {
		if strings.HasPrefix(d.Name, "pmem") {
			return d.Reads+d.Writes > 0 || !m.All(paged)
		}
	}
	return m.Any(func(w fio.Workload) bool { return strings.Contains(w.Filename+w.Directory, "pmem") })
}

const (
	// partlyLeast is the share of reads from memory that makes the mean a mixture.
	partlyLeast = 0.2
	// unknownOrder is how far the two witnesses may differ where the reads may have been sequential. Read-ahead brings
	// at least one more block with each read, so that half of the reads or more are fast and do not reach the device;
	// where fewer are, each slow read was one of the device, and the fast ones were there.
	unknownOrder = 0.05
)

// partly finds reads of which a part came from memory, by two witnesses that agree within so much: so
// many took less than any drive does, and as many did not reach the device.
func partly(m measurement, s side, within float64) (f fault) {
	if s.what != "reads" || !s.known || s.N == 0 {
		return f
	}
	fast := 0.0
	for _, p := range s.Clat.Percentiles {
		if p.Value < memorySpeed {
			fast = max(fast, p.P/100)
		}
	}
	missing := 1 - float64(s.counted)/float64(s.N)
	if fast < partlyLeast || missing < partlyLeast || math.Abs(fast-missing) > within {
		return f
	}
	return m.Finds("%v of the reads took less than %s, and %v never reached the device: memory answered them.",
		fast, memorySpeed, missing).As(finding.Invalid).
		Saw("reads that reached a device", s.counted, s.N, "disk statistics of fio")
}

// tooFast is a direction whose I/Os no drive answered: below driveSpeed for certain, up to
// memorySpeed where the jobs are known to be buffered, or, of reads, most likely.
func tooFast(m measurement, s side) (f fault) {
	half, known := s.took()
	buffered := m.All(paged) || len(m.Workloads) == 0 && s.Submitted() // whatever was asked for, memory took it
	says, severity := "Half of the %s took %s or less: they were copied to or from memory, and what the storage "+
		"does is not in these figures.", finding.Invalid
	switch {
	case buffered && s.Submitted():
	case !known, !buffered && 0 < m.Measured && m.Measured < diagnose.Shortest: // PL418
		return f
	case half < driveSpeed || buffered && half < memorySpeed:
	case half < memorySpeed && s.what == "reads":
		says, severity = "Half of the %s took %s or less, which only Optane drives approach: most "+
			"likely memory answered them.", finding.Warn
	default:
		return f
	}
	if s.Submitted() && severity == finding.Invalid && s.what == "writes" && half >= copyTime(s) && s.Bytes > fitsMemory {
		mean := time.Duration(max(s.Lat.Mean, s.Slat.Mean+s.Clat.Mean)) // fio has no percentiles of submissions
		return m.Finds("The writes were done when their submission returned, as copies to memory are, but they took %s on "+
			"average, longer than a copy: they waited until older ones were written, and what memory holds at the end counts "+
			"towards the rate.", mean).As(finding.Warn).
			Titled("writes went through the page cache").
			Advise("Measure with direct=1, or with a sync at the end.").
			Saw("mean latency of the writes", mean, "less than "+text.Duration(copyTime(s))+" for a copy",
				"fio, scenario "+m.Label())
	}
	f = m.Finds(says, s.what, half).As(severity)
	if s.Submitted() && severity == finding.Invalid {
		f.Say("The %s were done when their submission returned, as copies to or from memory are: what the "+
			"storage does is not in these figures.", s.what)
		f = f.Saw("clat of the "+s.what, time.Duration(s.Clat.Mean), "above their slat of "+
			text.Duration(time.Duration(s.Slat.Mean)), "fio, scenario "+m.Label())
	} else {
		f = f.Saw("latency of half of the "+s.what, half, "at least "+text.Duration(memorySpeed),
			"fio, scenario "+m.Label())
	}
	switch {
	case s.known:
		f = f.Saw(s.what+" that reached a device", s.counted, s.N, "disk statistics of fio")
	case buffered:
		f = f.Saw("direct", "no", "direct=1", "the job's options, or its submission")
	}
	return f
}

const (
	// copying is what copying a block of a few KiB into the page cache takes at most, with the
	// filesystem's work; waitRatio times that, and waitLeast, is a wait for write-back.
	copying   = 100 * time.Microsecond
	waitRatio = 100
	waitLeast = 10 * time.Millisecond
	// waitsMake times the latency of half of the I/Os is a mean that those which waited made: nine
	// tenths of the time are theirs.
	waitsMake = 10
	// fitsMemory is what any machine that is worth a benchmark holds in memory.
	fitsMemory = 4 * units.GiB
)

// writtenBack finds buffered writes that were done when they were copied: most took what a copy takes, and either a
// few waited until the kernel had written older ones, or all that was written fits into memory, so that the storage
// need not have had any of it at the end. Where they waited although they fit, it is invalid.
func writtenBack(m measurement, s side) (f fault) {
	half, known := s.took()
	if s.what != "writes" || !known || half >= copyTime(s) {
		return f
	}
	if !m.All(paged) {
		return emptied(m, s, half)
	}
	fits := s.Bytes > 0 && s.Bytes <= fitsMemory
	switch in, took := s.waited(half); {
	case in != "":
		f = m.Finds("Half of the writes took %s or less, as a copy to memory does, and one in %s took %s or more, as "+
			"waiting for write-back does.", half, in, took).As(finding.Warn)
		if fits {
			f.Severity = finding.Invalid
		}
	case fits:
		f = m.Finds("Half of the writes took %s or less, as a copy to memory does, and nothing synced them: memory may "+
			"hold all of their %s.", half, s.Bytes).As(finding.Warn)
	}
	return f.Saw("latency of half of the writes", half, "", "fio, scenario "+m.Label()).
		Saw("direct", "no", "direct=1, or a sync", "the job's options, or its submission")
}

// waited is one in how many I/Os of a direction waited as for write-back, and for how long at least; "" for none.
func (s side) waited(half time.Duration) (in, took string) {
	for _, p := range s.Clat.Percentiles {
		if p.P >= 99 && p.Value >= waitLeast && p.Value >= waitRatio*half {
			return units.Number(math.Round(1 / (1 - p.P/100))), text.Duration(p.Value)
		}
	}
	return "", ""
}

// emptied finds such writes where nobody says whether they were direct: half took what a copy takes, and
// the mean is so far above it that the time went by in the few that waited. The rate is then that of a
// memory being emptied, the machine's or the drive's own.
func emptied(m measurement, s side, half time.Duration) (f fault) {
	mean := time.Duration(s.Clat.Mean + s.Slat.Mean)
	unsaid := m.All(func(w fio.Workload) bool { return !w.Direct && fio.UsesPageCache(w.Engine) })
	// Without direct=1, libaio copies in the submission, and leaves nothing to wait for.
	direct := m.All(func(w fio.Workload) bool { return w.Engine == "libaio" }) && 0 < s.Slat.Mean &&
		s.Slat.Mean < float64(half)/2
	in, took := s.waited(half)
	if !unsaid || direct || mean < waitsMake*half || in == "" {
		return f
	}
	return m.Finds("Half of the writes took %s or less, as a copy to memory does, and one in %s took %s or more, which "+
		"makes the mean %s: memory took them, the machine's or the drive's own, and the rate is that of emptying it.",
		half, in, took, mean).As(finding.Warn).
		Saw("mean latency of the writes", mean,
			fmt.Sprintf("less than %d times that of half of them", waitsMake), "fio, scenario "+m.Label()).
		Saw("direct", "not said", "direct=1, or a sync", "the job's options")
}

// copyTime is what copying one of the blocks of a direction to memory takes at most, at 1 GiB/s.
func copyTime(s side) time.Duration {
	return copying + time.Duration(float64(s.Bytes)/float64(max(s.N, 1))/float64(units.GiB)*float64(time.Second))
}

// keptInMemory finds buffered reads of files that the job asked to have in memory: read before it began
// (pre_read=1), or left there by what ran before (invalidate=0, a warning: the file may not have been
// in it), and that waited for nothing: half took less than any drive does, or the CPU was busy throughout.
func keptInMemory(m measurement, s side) (f fault) {
	pre := m.All(func(w fio.Workload) bool { return paged(w) && w.PreRead })
	kept := m.All(func(w fio.Workload) bool { return paged(w) && w.KeepCache })
	half, known := s.took()
	cpu := m.Total.CPU.User + m.Total.CPU.System
	waited := (!known || half >= driveSpeed) && cpu < ownTime
	if s.what != "reads" || !pre && !kept || s.N < diagnose.EnoughReads || s.reached() || waited {
		return f
	}
	f = m.Finds("fio read the files into memory before it measured (pre_read=1), and half of the reads "+
		"took %s: memory answered them.", half).As(finding.Invalid).
		Saw("pre_read", "1", "0", "the job's options").
		Saw("latency of half of the reads", half, "", "fio, scenario "+m.Label()).
		Saw("CPU of a job", cpu, "", "fio")
	if !pre {
		f.Severity = finding.Warn
		f.Say("The parts of the files that memory held were kept (invalidate=0), and half of the reads took %s "+
			"while the jobs used the CPU %v of the time: most likely, the reads were served from memory.", half, cpu)
		f.Evidence[0] = finding.Evidence{What: "invalidate", Found: "0", Expected: "1", Where: "the job's options"}
	}
	return f
}

const (
	// inCalls is the least share of its time that a job spends in its I/Os for its CPU time to be
	// theirs.
	inCalls = 0.5
	// ownTime is the share of a core from which on what is left of a second is within the error of
	// CPU times.
	ownTime = 0.95
)

// copied finds jobs that have one I/O at a time and compute all the while: what is left for waiting,
// (1 - CPU) / IOPS, is less than any drive takes, so nothing waited for a drive. It is so with ZFS's
// ARC, tmpfs and the page cache, also where direct=1 was asked for and the filesystem ignores it.
func copied(m measurement) (f fault) {
	if len(m.Jobs) != 1 || m.Total.Read.N+m.Total.Write.N < diagnose.EnoughReads {
		return f
	}
	j := m.Jobs[0]
	cpu, jobs := j.CPU.User+j.CPU.System, float64(max(j.Count, inJobs(m), 1))
	if cpu < ownTime || j.CPU.System < inCalls {
		return f
	}
	for _, s := range sides(m) {
		rate := float64(s.IOPS) / jobs
		if s.N < diagnose.EnoughReads || s.reached() || !oneAtATime(m, s) ||
			s.what == "reads" && m.Any(diagnose.Sequential) ||
			rate*(s.Slat.Mean+s.Clat.Mean)/1e9 < inCalls {
			continue
		}
		wait := time.Duration((1 - min(cpu, 1)) / rate * float64(time.Second))
		if wait >= driveSpeed {
			continue
		}
		f := m.Finds("The jobs use the CPU %v of the time and have one I/O in flight at a time, so each of the %s "+
			"waited for %s "+
			"at most: memory answered them (a page cache, or ZFS's own).", cpu, s.what,
			max(wait, time.Nanosecond)).As(finding.Invalid).
			Saw("time left to wait for a drive", text.Duration(max(wait, time.Nanosecond))+" an I/O",
				"at least "+text.Duration(driveSpeed), "fio, (1 − CPU) ÷ IOPS of a job").
			Saw("CPU of job "+j.Name, userAndSystem(j), "", "fio")
		if s.what == "writes" { // memory may pass them on as fast
			f.Severity = finding.Warn
		}
		return f
	}
	return f
}

// oneAtATime says that an I/O is over before the job begins its next one: a depth of one, or an
// engine whose submission does the I/O.
func oneAtATime(m measurement, s side) bool {
	return s.Submitted() || m.All(func(w fio.Workload) bool { return w.Depth <= 1 })
}

// pollers are engines that spin for their completions, in the kernel or past it.
var pollers = regexp.MustCompile(`^(?:external:.*)?(?:spdk|xnvme|io_uring_cmd|libblkio|dev-dax|libpmem)`)

// polls says that a job uses CPU while it waits, so that CPU times tell nothing, and has no system
// call in its latencies.
func polls(w fio.Workload) bool { return pollers.MatchString(w.Engine) || w.Polls }

// unreal finds runs on no storage at all: null_blk, RAM disks, tmpfs, and engines without I/O.
func unreal(m measurement) (f fault) {
	found := func(what, name, is, of string) fault {
		return m.Finds("%s %s: the figures are those of %s and the CPU.", name, is, of).As(finding.Invalid).
			Titled("no storage was measured").
			Advise("Name a device or a file of the storage (filename=, directory=).").
			Saw(what, name, "a drive", "fio")
	}
	for _, d := range m.Disks {
		if fio.InMemory(d.Name) && (d.Reads+d.Writes > 0 || len(m.Disks) == 1) {
			return found("device", d.Name, memoryIs(d.Name), "fio")
		}
	}
	for _, w := range m.Workloads {
		if nowhere.MatchString(w.Filename) || fio.InMemory(w.Filename) || fio.InMemory(w.Directory) {
			return found("file", w.Filename+w.Directory, memoryIs(w.Filename+w.Directory), "fio")
		}
	}
	switch {
	case m.All(func(w fio.Workload) bool { return fio.Diskless(w.Engine) }):
		return found("ioengine", m.Workloads[0].Engine, withoutStorage, "fio")
	case m.All(func(w fio.Workload) bool { return fio.KindOf(w.Engine) == fio.EngineNetwork && w.Engine != "http" }):
		return found("ioengine", m.Workloads[0].Engine, "sends data to another process", "a network")
	}
	return f
}

// calledMemory finds results of a text that speaks of a RAM disk.
func calledMemory(_ *facts, m measurement) (f fault) {
	if m.Memory == 0 {
		return f
	}
	line := fmt.Sprintf("line %d", m.Memory)
	return m.Finds("The text mentions a RAM disk (%s): if that was measured, the figures are not those of the "+
		"storage.", line).
		Saw("RAM disk", line, "", m.Source)
}

// nowhere are devices of the kernel's that keep and hold nothing.
var nowhere = regexp.MustCompile(`^/dev/(?:null|zero|full)$`)

const withoutStorage = "completes I/Os without any storage"

func memoryIs(name string) string {
	if strings.Contains(name, "nullb") || nowhere.MatchString(name) {
		return withoutStorage
	}
	return "is memory"
}
