package lint

import (
	"cmp"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func cachedSet(j *lintJob) *fault {
	const controller = units.GiB
	total := j.total()
	if total == 0 || tiny(j) || j.open("direct", "ioengine") {
		return nil
	}
	if !j.Buffered {
		if j.Sequential || total >= controller {
			return nil
		}
		f := j.found("size", "Random I/O on %s in total may stay in the cache of a controller or drive.", total)
		f.Severity, f.Fix = finding.Info, "Give it a size that no controller's or drive's memory holds, such as 10G."
		return f
	}
	return j.inMemory(j.of, total)
}

// repeats says whether a job goes over its blocks more than once.
func (j *lintJob) repeats() bool {
	loops := j.value("loops")
	return j.TimeBased && j.Runtime > 0 || loops != "" && loops != "0" && loops != "1" && !j.open("loops")
}

// rereads says whether blocks that a job has read come again from memory. fio drops a file from the
// cache at the start of each pass, and reads no block twice in one: four loops over 32 MiB on a
// loop device read 128 MiB from it. Without its map, or without that drop, blocks come again.
func (j *lintJob) rereads() bool {
	return j.repeats() && !j.flag("invalidate", true) ||
		j.TimeBased && j.Runtime > 0 && !j.Sequential && j.flag("norandommap", false) && !j.open("norandommap")
}

// inMemory judges buffered I/O: reads that come again, and writes that nothing forces out.
func (j *lintJob) inMemory(c *Case, total units.Bytes) *fault {
	const likely, sure = 4 * units.GiB, 128 * units.MiB // of memory, in machines that run fio
	memory, name := c.Memory, "the machine's "+c.Memory.String()+" of memory"
	switch {
	case memory == 0 && total <= sure:
		memory, name = likely, "the memory of any machine"
	case memory == 0:
		memory, name = likely, "most machines' memory"
	}
	reads := j.Reads() && j.rereads()
	writes := j.Writes() && !j.forcesOut() && !j.prepares()
	var what string
	switch {
	case total >= memory || !fio.UsesPageCache(j.Engine) ||
		j.open("rw", "time_based"):
		return nil
	case reads:
		what = "repeated reads are answered from there"
	case writes:
		what = "writes may get no further"
	default:
		return nil
	}
	f := j.found("size direct", "%s in total fits in %s, and direct is 0: %s.", total, name, what)
	f.Alike = what
	// The engine and the rest may be given elsewhere.
	return lessen(f, reads && c.Memory == 0 && total > sure || !reads && j.cacheMeant() ||
		!j.src.Command && (!j.namesEngine() || j.completed()))
}

// tiny says whether each job has so few blocks that PL106 speaks.
func tiny(j *lintJob) bool {
	return j.Size > 0 && j.bs() > 0 && !j.open("size") && !j.given("filesize") &&
		(j.Size <= 16*j.bs() && j.Size < 16*units.MiB || j.Size < units.MiB)
}

func tinyFile(j *lintJob) *fault {
	if !tiny(j) || j.open("bs", "rw") {
		return nil
	}
	blocks := j.Size / j.bs()
	message := says("Each job has a file of %s: %d blocks of %s", j.Size, blocks, j.bs())
	if blocks <= 1 {
		message = says("Each job has a file of %s, one block: it %ss the same %s", j.Size, firstWord(j.verb()),
			j.bs())
	}
	again := !j.Sequential && j.repeats()
	if blocks <= 1 && j.Sequential && (j.Depth <= 1 || fio.Synchronous(j.Engine) || j.prepares()) {
		return nil // the time of one I/O is what it measures
	}
	if again {
		if blocks > 1 {
			message += ","
		}
		message += " over and over"
	}
	f := j.found("size", "%s", message+".")
	depth := units.Bytes(max(j.Depth, 1))
	if fio.Synchronous(j.Engine) || j.open("iodepth", "ioengine") {
		depth = 1
	}
	return lessen(f, !again || blocks > 1 && blocks >= depth) // a small file may be what is meant
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}

func straddles(j *lintJob) *fault {
	bs := j.bs()
	if bs == 0 || j.open("bs") || j.given("bssplit", "bsrange") {
		return nil
	}
	if chunk, where := j.of.chunkOf(j); chunk > 0 {
		if chunk%bs == 0 || bs%chunk == 0 {
			return nil
		}
		f := j.found("bs", "Blocks of %s straddle chunks of %s (%s): %s pieces each on average.", bs, chunk, where,
			text.Factor(topology.Pieces(bs, chunk)))
		return f
	}
	if bs&(bs-1) == 0 || bs%512 != 0 { // PL128 speaks of what is no whole number of sectors
		return nil
	}
	f := j.found("bs", "Blocks of %s are not a power of two: on an array they straddle chunks of any size.", bs)
	for _, chunk := range []units.Bytes{64 * units.KiB, 128 * units.KiB, 512 * units.KiB} {
		if chunk%bs != 0 && bs%chunk != 0 {
			*f = f.Saw("pieces per block on chunks of "+chunk.String(), text.Factor(topology.Pieces(bs, chunk)), "", "")
		}
	}
	return f
}

// chunkOf is the chunk of the array under a job, 0 when not known, and where it was read.
func (c *Case) chunkOf(j *lintJob) (units.Bytes, string) {
	if c.Chunk > 0 {
		return c.Chunk, "as given"
	}
	path := j.Filename
	if path == "" {
		path = j.Directory
	}
	l := c.documents[j.file]
	device := path
	if !isDevice(path) {
		device = l.DeviceUnder(path)
	}
	if a := l.ArrayOn(device); a != nil {
		return a.Chunk, says("line %d", a.Line)
	}
	return 0, ""
}

func percentSize(j *lintJob) *fault {
	for _, name := range []string{"size", "io_size"} {
		if o := j.last[name]; strings.HasSuffix(strings.TrimSpace(o.Value), "%") && len(j.devices()) == 0 &&
			j.measures() &&
			!j.open("filename") {
			return j.found(name, "%s=%s is a percentage of the existing file: fio fails if there is none, and the "+
				"size may change "+
				"after each run.", name, o.Value)
		}
	}
	return nil
}

// longest is what a disk drive with 100 I/Os and 100 MB a second takes for all of the job's
// processes; 0 when not known.
func (j *lintJob) longest() time.Duration {
	total := j.total()
	if total == 0 || j.bs() == 0 || j.open("bs", "bsrange", "bssplit", "io_size") {
		return 0
	}
	return time.Duration(float64(total)/float64(j.bs())*1e7 + float64(total)*10)
}

func endsEarly(j *lintJob) *fault {
	if j.Runtime == 0 || j.TimeBased || j.open("time_based") || j.Size == 0 || j.given("io_size",
		"loops", "number_ios", "fill_device") {
		return nil
	}
	f := j.found("runtime", "The job ends as soon as it has transferred its %s, even if that is long before %s.", j.Size,
		j.Runtime)
	if most := j.longest(); most > 0 && most < 5*time.Second && most < j.Runtime/5 {
		f.Severity = finding.Warn
		f.Message = says("Even a disk drive finishes its %s in less than 5 s: the job ends then, not after %s.",
			j.total(), j.Runtime)
	}
	return f
}

func smallOnDevice(j *lintJob) *fault {
	least := cmp.Or(j.ReadLeast, j.ReadBS)
	if w := cmp.Or(j.WriteLeast, j.WriteBS); w > 0 && (least == 0 || w < least) {
		least = w
	}
	if least == 0 || least >= 4*units.KiB || !j.Direct || len(j.devices()) == 0 || least%512 != 0 {
		return nil
	}
	return j.found("bs bssplit bsrange", "Blocks of %s: a drive with sectors of 4 KiB refuses them or emulates them.",
		least)
}

func partSectors(j *lintJob) *fault {
	if !j.Direct || !j.given("bs") || j.given("bsrange", "bssplit") ||
		j.open("bs", "direct", "buffered", "rw", "ioengine", "bsrange", "bssplit", "kb_base") ||
		!fio.UsesPageCache(j.Engine) || strings.Contains(strings.ToLower(j.last["bs"].Value), "ib") { // PL128
		return nil
	}
	for _, bs := range []units.Bytes{j.ReadBS, j.WriteBS} {
		if bs%512 == 0 {
			continue
		}
		f := j.found("bs", "Blocks of %d bytes are not whole sectors: with direct=1 devices, ext4 and xfs refuse them.",
			bs)
		return lessen(f, !j.namesEngine()) // the command that starts the file may give another
	}
	return nil
}

// fills says whether a job is there to write a whole device: size=100% or none, until it is done.
func (j *lintJob) fills() bool {
	size := j.value("size")
	return j.Writes() && !j.Reads() && j.TrimShare == 0 && len(j.devices()) > 0 && (size == "100%" ||
		!j.given("size")) &&
		!j.timed() && !j.open("runtime", "size", "rw") && !j.given("io_size", "number_ios", "zonemode") &&
		j.measures()
}

// timed says whether a job has a runtime, also one whose unit fio does not know: what is meant is no pass over all.
func (j *lintJob) timed() bool {
	return j.given("runtime") && strings.Trim(j.last["runtime"].Value, " 0") != ""
}

// passes is how many times each block of its region a job asks to be written.
func (j *lintJob) passes() int {
	loops, _ := strconv.Atoi(j.value("loops"))
	return max(loops, 1)
}

func manyFills(j *lintJob) *fault {
	n := max(j.Jobs, 1) * j.passes()
	if !j.fills() || n < 4 || j.open("numjobs", "loops") || j.OffsetIncrement > 0 ||
		j.open("offset_increment") {
		return nil
	}
	return j.found("numjobs loops", "%s × %s write the device %d times.", text.Plural(max(j.Jobs, 1), "job"),
		text.Plural(j.passes(), "loop"), n)
}

func holesInFill(j *lintJob) *fault {
	c := j.of
	n := c.drawn[filledBy{j.src, j.Filename}]
	if !j.leavesHoles() || n >= 8 {
		return nil
	}
	left := 1.0
	for range n {
		left *= 0.36788 // 1/e
	}
	f := j.found("norandommap", "norandommap leaves %s of the blocks unwritten.", text.Share(left))
	return lessen(f, !fillName.MatchString(j.sec.Name) && !fillName.MatchString(path.Base(j.file.Name)) || c.filled(j))
}

// leavesHoles says whether a job is there to write a whole device, and draws its blocks with replacement.
func (j *lintJob) leavesHoles() bool {
	return j.fills() && !j.Sequential && j.flag("norandommap", false)
}

// filledBy is what the sections of a job file write.
type filledBy struct {
	src  *script.Job
	name string
}

// fillName is a name that says that a job is there to write all of a device.
var fillName = regexp.MustCompile(`(?i)fill|pre-?cond|condition|prep`)

// filled says whether a job of the document before this one writes the same devices in sequence.
func (c *Case) filled(j *lintJob) bool {
	first := c.sequential[filledFile{j.file, j.Filename}]
	return first != nil && first.sec.Line < j.sec.Line
}

// filledFile is what a job of a document writes.
type filledFile struct {
	file *script.File
	name string
}
