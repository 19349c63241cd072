package lint

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/script"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

func zeroData(j *lintJob) *fault {
	if !j.Writes() || j.VerifyOn {
		return nil
	}
	refill := j.flag("refill_buffers", false)
	percent, _ := strconv.Atoi(j.value("buffer_compress_percentage"))
	switch {
	case j.flag("zero_buffers", false):
		return j.found("zero_buffers",
			"This job writes zeros, which drives and arrays that compress or deduplicate hardly store.")
	case percent >= 50 && !j.open("buffer_compress_percentage"):
		return j.found("buffer_compress_percentage", "%d %% of each buffer compresses away.", percent)
	case j.given("buffer_pattern") && !refill && !j.given("buffer_compress_percentage", "dedupe_percentage"):
		return j.found("buffer_pattern", "This job writes one pattern over and over.")
	case !j.flag("scramble_buffers", true) && !refill:
		return j.found("scramble_buffers", "Each job writes one buffer over and over, which deduplicates.")
	}
	return nil
}

func randomMap(j *lintJob) *fault {
	if j.Sequential || !j.measures() {
		return nil
	}
	if j.flag("norandommap", false) {
		if !j.VerifyOn {
			return nil
		}
		return j.found("norandommap",
			"norandommap lets fio write a block twice, which verify then takes for corruption or has to overlook.")
	}
	if bs := j.bs(); bs > 0 && j.last["random_generator"].Value != "lfsr" && !j.open("size", "numjobs") {
		if size := j.Size / bs / 8 * units64(j.Jobs); size > 256*units.MiB {
			return j.found("size", "The random maps of %s take %s of memory.", text.Plural(j.Jobs, "job"), size)
		}
	}
	return nil
}

func runsCommand(j *lintJob) *fault {
	for _, name := range []string{"exec_prerun", "exec_postrun", "program"} {
		if o, ok := j.last[name]; ok && (name != "program" || j.Engine == "exec") {
			return j.found(name, "%s runs %q in a shell.", name, o.Value)
		}
	}
	return nil
}

// successor is what became of an option.
type successor struct {
	now  string // the present name, empty when the option is gone
	says string
	gone bool // fio 3.33 refuses it
}

// successors were each tried with fio 3.33 (2026-11-21).
var successors = map[string]successor{
	"io_limit":               {now: "io_size", says: "the old name of io_size"},
	"iodepth_batch_complete": {now: "iodepth_batch_complete_min", says: "the old name of iodepth_batch_complete_min"},
	"userspace_libaio_reap":  {now: "userspace_reap", says: "spelled userspace_reap", gone: true},
	"use_os_rand":            {says: "gone; random_generator chooses the generator", gone: true},
	"overwrite_plist":        {says: "gone", gone: true},
	"rwmixcycle":             {says: "gone; drop it", gone: true},
	"hugepage_size":          {now: "hugepage-size", says: "spelled hugepage-size", gone: true},
	"rand_seed":              {now: "randseed", says: "spelled randseed", gone: true},
}

// leftToRefused says whether the fio at hand differs from 3.33 in what it thinks of an old name, so that
// PL102 speaks of it.
func (c *Case) leftToRefused(old successor, o fio.Option) bool {
	known, _ := c.table().Check(o.Name)
	return known == old.gone && c.Fio != nil
}

func renamed(c *Case, report reporter) {
	c.options(func(file *script.File, _ *script.Job, at func(string) *fault, o fio.Option) *fault {
		old, ok := successors[o.Name]
		if !ok {
			if o.Name == "verify" && strings.TrimSpace(o.Value) == "meta" {
				f := at("verify=meta is obsolete: every verify checks the header.")
				f.Fix = "Write what checks the data, such as verify=crc32c."
				return f
			}
			return nil
		}
		if c.leftToRefused(old, o) {
			return nil // the fio at hand differs from 3.33: PL102 speaks of what it does not know
		}
		f := at(says("%s is %s.", o.Name, old.says))
		f.Fix = "Drop it."
		if old.gone {
			f.Severity = finding.Fail
		}
		if old.now != "" {
			f.Fix = "Write " + old.now + "."
			f.Edits = set(file, o, old.now, o.Value)
		}
		return f
	}, report)
}

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
		!j.open("direct", "buffered", "ioengine")
}

// memoryPlace is where a path says that its file may be in memory or on memory, beside those that are.
var memoryPlace = regexp.MustCompile(`(?i)pmem|\bdax|/shm\b|tmpfs|ram-?disk`)

// cacheMeant says whether a job may be meant to write through the page cache, or has none: direct=0
// is written out, an application's pace is given, or the file is in memory. A job file may get direct=1
// where it is started.
func (j *lintJob) cacheMeant() bool {
	return j.file.Kind == script.JobText || j.given("direct", "buffered", "thinktime") || j.Paced() ||
		slices.ContainsFunc(j.Files(), fio.InMemory) || memoryPlace.MatchString(j.Filename+" "+j.Directory)
}

func unsynced(j *lintJob) *fault {
	total := j.total()
	if !j.Writes() || !j.throughCache() || j.open("rw") || j.forcesOut() || j.prepares() ||
		j.directOutside() ||
		total > 0 && (tiny(j) || j.inMemory(j.of, total) != nil) {
		return nil
	}
	f := j.found("rw direct", "%s writes through the page cache and nothing flushes them: what memory still holds "+
		"at the end counts as written.", j.setting("direct", "0"))
	return lessen(f, j.cacheMeant())
}

func noSize(j *lintJob) *fault {
	sized := strings.Fields(`size filesize io_size fill_device read_iolog opendir number_ios`)
	if j.partial || j.sec.Name == "" || j.completed() || !fio.UsesPageCache(j.Engine) ||
		j.open("ioengine") || len(j.devices()) > 0 || j.Reads() && j.given("filename") ||
		j.given("filename") && j.open("filename") || j.given(sized...) || j.open(sized...) {
		return nil
	}
	return j.found("directory filename", "No size is given: fio stops unless the files exist already.")
}
