package lint

import (
	"cmp"
	"path"
	"regexp"
	"strconv"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

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
	if !j.Direct || !j.given("bs") || j.anyGiven("bsrange", "bssplit") ||
		j.anyOpen("bs", "direct", "buffered", "rw", "ioengine", "bsrange", "bssplit", "kb_base") ||
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
	size := strings.TrimSpace(j.last["size"].Value)
	return j.Writes() && !j.Reads() && j.TrimShare == 0 && len(j.devices()) > 0 && (size == "100%" ||
		!j.given("size")) &&
		!j.timed() && !j.anyOpen("runtime", "size", "rw") && !j.anyGiven("io_size", "number_ios", "zonemode") &&
		j.measures()
}

// timed says whether a job has a runtime, also one whose unit fio does not know: what is meant is no pass over all.
func (j *lintJob) timed() bool {
	return j.given("runtime") && strings.Trim(j.last["runtime"].Value, " 0") != ""
}

// passes is how many times each block of its region a job asks to be written.
func (j *lintJob) passes() int {
	loops, _ := strconv.Atoi(strings.TrimSpace(j.last["loops"].Value))
	return max(loops, 1)
}

func manyFills(j *lintJob) *fault {
	n := max(j.Jobs, 1) * j.passes()
	if !j.fills() || n < 4 || j.anyOpen("numjobs", "loops") || j.OffsetIncrement > 0 ||
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
