package lint

import (
	"regexp"
	"slices"
	"strings"

	"plimsoll/internal/fio"
	"plimsoll/internal/script"
)

// syncOptions are those with which fio waits until writes have left the page cache.
var syncOptions = strings.Fields(
	`fsync fdatasync sync sync_file_range end_fsync fsync_on_close end_syncfs write_barrier`,
)

// forcesOut says whether a job waits for its writes, or may do so.
func (j *lintJob) forcesOut() bool {
	return slices.ContainsFunc(syncOptions, func(name string) bool {
		off := slices.Contains([]string{"0", "none"}, j.last[name].Value) && !j.last[name].Bare
		return j.open(name) || j.given(name) && !off
	})
}

// throughCache says whether the job's I/O is known to go through the page cache.
func (j *lintJob) throughCache() bool {
	return j.Buffered && fio.UsesPageCache(j.Engine) &&
		!j.anyOpen("direct", "buffered", "ioengine")
}

// memoryPlace is where a path says that its file may be in memory or on memory, beside those that are.
var memoryPlace = regexp.MustCompile(`(?i)pmem|\bdax|/shm\b|tmpfs|ram-?disk`)

// cacheMeant says whether a job may be meant to write through the page cache, or has none: direct=0
// is written out, an application's pace is given, or the file is in memory. A job file may get direct=1
// where it is started.
func (j *lintJob) cacheMeant() bool {
	return j.file.Kind == script.JobText || j.anyGiven("direct", "buffered", "thinktime") || j.Paced() ||
		slices.ContainsFunc(j.Files(), fio.InMemory) || memoryPlace.MatchString(j.Filename+" "+j.Directory)
}

func unsynced(j *lintJob) *fault {
	total := j.total()
	if !j.Writes() || !j.throughCache() || j.open("rw") || j.forcesOut() || j.prepares() ||
		j.directOutside() ||
		total > 0 && (tiny(j) || j.inMemory(j.of, total) != nil) {
		return nil
	}
	f := j.found("rw direct", "%s writes through the page cache and nothing forces them out: what memory still holds "+
		"at the end counts as written.", j.setting("direct", "0"))
	return lessen(f, j.cacheMeant())
}

func noSize(j *lintJob) *fault {
	sized := strings.Fields(`size filesize io_size fill_device read_iolog opendir number_ios`)
	if j.partial || j.sec.Name == "" || j.completed() || !fio.UsesPageCache(j.Engine) ||
		j.open("ioengine") || len(j.devices()) > 0 || j.Reads() && j.given("filename") ||
		j.given("filename") && j.open("filename") || j.anyGiven(sized...) || j.anyOpen(sized...) {
		return nil
	}
	return j.found("directory filename", "No size is given: fio stops unless the files exist already.")
}
