package permit

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// What a job may do is decided by what fio 3.33 was seen to do (2026-11-21):
//   - A job that only reads a file which is smaller than its size= rewrites the file; with allow_file_create=0 it even
//     removes it. create_on_open=1 leaves it, whatever size, filesize, offset or offset_increment say.
//   - Each filename= adds its files to those of the ones before, [global]'s too.
//   - directory= is put before whole paths as well, and directories that are missing on the way are made.
//   - A diskless engine has its files removed by unlink= as any other.
//   - A section's name is the beginning of its file's name, slashes and dots included.

// mostNames of generated files are looked at one by one.
const mostNames = 10_000

// mostFiles are those of all sections of a job.
const mostFiles = 5 * mostNames

// mostInFlight is more than any storage takes; fio keeps some 230 bytes for each I/O, whatever engine it has.
const mostInFlight = 1 << 20

// mostThreads is more than any storage needs.
const mostThreads = 4096

// mostJobs is more than any storage needs: fio takes some 600 KiB for each.
const mostJobs = 2048

// mostBuffers is more than any storage takes at once, and a part of a machine's memory. It is for all sections of a
// job file that run together.
const mostBuffers = 2 * units.GiB

// access is a file or device that a job opens.
type access struct {
	path   string // absolute
	engine string
	writes bool
	idle   bool        // only named: a diskless engine opens nothing, but fio removes files and resets zones by name
	need   units.Bytes // the job goes up to here; 0 when that is not given, or is a part of what is there
}

// accessesOf is what a placed job section opens.
func accessesOf(section fio.Section) ([]access, error) {
	w, err := fio.WorkloadOf(section.Name, section)
	if err != nil {
		return nil, err
	}
	if v, ok := valueOf(section, "iodepth"); ok {
		n, err := fio.ParseSize(v, 1024)
		if err != nil || n > mostInFlight/units.Bytes(max(w.Jobs, 1)) {
			return nil, fmt.Errorf("iodepth=%s of %s: want at most %s I/Os in flight in all", v,
				text.Plural(max(w.Jobs, 1), "job"), text.Count(mostInFlight))
		}
	}
	for _, name := range []string{"size", "filesize", "offset", "offset_increment"} {
		v, _ := valueOf(section, name)
		for part := range strings.FieldsFuncSeq(v, parts) {
			_, err := fio.ParseSize(part, 1024)
			if share, given := strings.CutSuffix(strings.TrimSpace(part), "%"); given {
				var n int
				if n, err = strconv.Atoi(share); n > 100 { // fio would go on until nothing is free
					err = fs.ErrInvalid
				}
			}
			if err != nil {
				return nil, fmt.Errorf("%s=%s: want a size, or a share up to 100%%", name, v)
			}
		}
	}
	if n := threads(section, w); n > mostThreads {
		return nil, fmt.Errorf("fio would start %s threads: want at most %s", text.Count(n), text.Count(mostThreads))
	}
	if v, ok := valueOf(section, "steadystate_duration"); ok { // for each second of which fio keeps figures
		if d, err := fio.ParseTime(v, time.Second); err != nil || d > 24*time.Hour {
			return nil, fmt.Errorf("steadystate_duration=%s: want at most a day", v)
		}
	}
	removes := isSet(section, "unlink") || isSet(section, "unlink_each_loop")
	mode, _ := valueOf(section, "zonemode")
	a := access{
		engine: w.Engine, writes: w.ReadShare < 1 || w.Mixed || removes || fio.KindOf(w.Engine) == fio.EngineFiles,
		idle: fio.Diskless(w.Engine) && !removes && !zoned(mode),
	}
	names, jobs, err := namesOf(section, w)
	if err != nil {
		return nil, err
	}
	size := max(sizeOf(section, "size")/units.Bytes(max(len(names)/jobs, 1)), sizeOf(section, "filesize"))
	if size > 0 && !fio.Diskless(w.Engine) {
		a.need = size + sizeOf(section, "offset") + w.OffsetIncrement*units.Bytes(max(w.Jobs, 1)-1)
	}
	dirs := pathList(suite.Directory(section))
	var accesses []access
	for _, name := range names {
		if len(dirs) == 0 {
			if !filepath.IsAbs(name) {
				return nil, fmt.Errorf("filename= names both %s and absolute paths: use absolute paths for all "+
					"files, or for none", name)
			}
			a.path = name
			accesses = append(accesses, a)
		}
		for _, dir := range dirs {
			if a.path, err = joined(dir, name); err != nil {
				return nil, err
			}
			accesses = append(accesses, a)
		}
	}
	return accesses, nil
}

// buffers is the memory of a section's I/Os: fio makes as many as iodepth says, also for engines that have one
// in flight, each as large as the largest block of any direction, also of those that do not run (backend.c,
// init_io_u_buffers).
func buffers(section fio.Section, w fio.Workload) units.Bytes {
	block := w.LargestBlock()
	for _, name := range []string{"bs", "bsrange", "bssplit"} {
		block = max(block, sizeOf(section, name))
	}
	n := units.Bytes(max(w.Jobs, 1)) * units.Bytes(max(w.Depth, w.DepthAsked, 1))
	if block > mostBuffers/n {
		return mostBuffers + 1 // which sums of many sections can hold
	}
	return block * n
}

// threads is how many fio starts for a section beside its jobs: those that verify, and those that submit for it.
func threads(section fio.Section, w fio.Workload) int {
	n := sizeOf(section, "verify_async")
	if mode, ok := valueOf(section, "io_submit_mode"); ok && mode != "inline" {
		n += sizeOf(section, "iodepth")
	}
	return int(min(n, mostInFlight)) * max(w.Jobs, 1)
}

// notes is the memory in which fio keeps which blocks of its files a random job has done: a bit for each,
// of the smallest size of any direction, in each of its jobs (filesetup.c, init_random_map); and the seeds
// of the blocks that it may repeat: 48 bytes for each, all of them at most (dedupe.c).
func notes(section fio.Section, w fio.Workload) units.Bytes {
	generator, _ := valueOf(section, "random_generator")
	off, given := valueOf(section, "norandommap")
	mode, repeats := valueOf(section, "dedupe_mode")
	bits := units.Bytes(1)
	switch {
	case repeats && mode != "repeat":
		bits = 48 * 8
	case w.Sequential || given && (off == "" || off == "1") || generator == "lfsr":
		return 0
	}
	least := w.SmallestBlock()
	if bs, _ := valueOf(section, "bs"); strings.Contains(bs, ",") || least == 0 { // directions that do not run count
		least = 512
	}
	blocks := func(option string) units.Bytes { return min(sizeOf(section, option)/least, mostBuffers*16) }
	files := min(max(sizeOf(section, "nrfiles"), 1), mostNames)
	each := min(max(blocks("size"), blocks("filesize")*files)*bits/8, mostBuffers+1)
	return min(each*units.Bytes(max(w.Jobs, 1)), mostBuffers+1) // which sums of many sections can hold
}

// pathList splits the value of filename= or directory=, in which a colon separates and \: stands
// for one.
func pathList(value string) []string { return fio.Workload{Filename: value}.Files() }

// joined is where fio makes a file of that name in a directory. The directory's dots and links are
// resolved as the kernel does.
func joined(dir, name string) (string, error) {
	if !filepath.IsAbs(dir) {
		cwd, err := os.Getwd()
		if err != nil {
			return "", err
		}
		dir = cwd + "/" + dir // Join would resolve dots before links
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return dir + "/" + name, nil
	}
	return resolved + "/" + name, err
}

// namesOf are the names of a section's files below its directory, and the number of jobs that have
// as many files each of their own.
func namesOf(section fio.Section, w fio.Workload) (names []string, owners int, err error) {
	given := suite.Files(section)
	dir := suite.Directory(section)
	for _, name := range given {
		if dir != "" && leaves(name) {
			return nil, 0, fmt.Errorf("filename=%s must be below directory=%s: name the file there, or remove the "+
				"directory", name, dir)
		}
	}
	if len(given) > 0 {
		return given, 1, nil
	}
	format, _ := valueOf(section, "filename_format")
	if format == "" {
		format = "$jobname.$jobnum.$filenum"
	}
	files := 1
	if v, ok := valueOf(section, "nrfiles"); ok {
		n, err := fio.ParseSize(v, 1024) // any number may have a suffix
		if err != nil || n > mostNames {
			return nil, 0, fmt.Errorf("nrfiles=%s: want a number up to %d", v, mostNames)
		}
		files = max(int(n), 1)
	}
	heading := cmp.Or(section.Heading, section.Name)
	jobs := max(w.Jobs, 1)
	if files*jobs > mostNames {
		return nil, 0, fmt.Errorf("%d jobs of %d files each are more than plimsoll handles: use at most %d in total",
			jobs, files, mostNames)
	}
	for j := range jobs {
		for f := range files {
			fill := strings.NewReplacer("$jobname", heading, "$jobnum", strconv.Itoa(j), "$filenum", strconv.Itoa(f))
			name := fill.Replace(format)
			if leaves(name) || strings.Contains(name, "$") { // fio replaces $clientuid as well, by nothing
				return nil, 0, fmt.Errorf("fio would make a file named %.60q below a directory, not there: add "+
					"filename= with what is meant", name)
			}
			names = append(names, name)
		}
	}
	return names, jobs, nil
}

// leaves tells whether a name leads out of the directory that it is put into.
func leaves(name string) bool {
	return filepath.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..")
}

// valueOf is the last value of an option, by whichever of its names.
func valueOf(section fio.Section, name string) (string, bool) {
	for _, o := range slices.Backward(section.Options) {
		if fio.BuiltinOptions().Main(o.Name) == name {
			return strings.TrimSpace(o.Value), true
		}
	}
	return "", false
}

func isSet(section fio.Section, name string) bool {
	v, given := valueOf(section, name)
	return given && v != "0"
}

// parts says what stands between the values of a list or range.
func parts(r rune) bool { return strings.ContainsRune(",:-", r) }

func partsAndShares(r rune) bool { return r == '/' || parts(r) }

// sizeOf is the value of an option that is a size, of a list or range the largest, 0 where it is not given or no size,
// such as a percentage.
func sizeOf(section fio.Section, name string) (most units.Bytes) {
	v, _ := valueOf(section, name)
	for part := range strings.FieldsFuncSeq(v, partsAndShares) { // bssplit has a share behind each size
		if b, err := fio.ParseSize(part, 1024); err == nil {
			most = max(most, b)
		}
	}
	return most
}
