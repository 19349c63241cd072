package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// What a job may do is decided here, before anything is written, by what fio 3.33 was seen to do (2026-11-21):
//   - A job that only reads a file which is smaller than its size= writes the file anew; with allow_file_create=0 it is even removed.
//     create_on_open=1 keeps it as it is, whatever size, filesize, offset or offset_increment say.
//   - Each filename= adds its files to those of the ones before, [global]'s too.
//   - directory= is put before whole paths as well, and directories that are missing on the way are made.
//   - A section's name is the beginning of its file's name, slashes and dots included.

var (
	// plainEngines do to files what rw= says and nothing else.
	plainEngines = []string{"sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "posixaio", "io_uring", "mmap", "splice", "libpmem"}
	// farEngines touch no file or device that filename= could name.
	farEngines = []string{"null", "cpuio", "net", "netsplice", "rdma"}
	// fileEngines make, change or remove files whatever rw= says.
	fileEngines = []string{"falloc", "ftruncate", "filecreate", "filestat", "filedelete"}
)

// hiddenTargets name files or devices in other ways than filename= and directory=, out of sight of the checks here.
var hiddenTargets = map[string]string{
	"read_iolog":    "replays onto the files that the log names",
	"opendir":       "takes every file below a directory",
	"write_iolog":   "writes over the file that it names",
	"donorname":     "writes over the file that it names",
	"libblkio_path": "opens a device by itself",
	"fill_device":   "fills the filesystem",
}

// mostNames of generated files are looked at one by one.
const mostNames = 10_000

// aim is a file or device that a job works on.
type aim struct {
	path   string // absolute
	engine string
	writes bool
	need   units.Bytes // the job goes up to here; 0 when that is not said, or is a part of what is there
}

// checkJob refuses what a job may not do unasked: run shell commands, write to devices, change files that are not plimsoll's. It notes in
// the scenario's place what the job will make.
func (r *runner) checkJob(s suite.Scenario) error {
	p := r.place(s.Role)
	job := s.Place(p.fileFor(s))
	for _, i := range job.Jobs() {
		section := job.Effective(i)
		if err := r.checkOptions(job.Name, section); err != nil {
			return err
		}
		if err := r.checkSection(p, section); err != nil {
			return fmt.Errorf("%s: [%s]: %w", job.Name, section.Name, err)
		}
	}
	return nil
}

func (r *runner) checkSection(p *place, section fio.Section) error {
	aims, err := aimsOf(section)
	if err != nil {
		return err
	}
	for _, a := range aims {
		if err := r.checkAim(p, a); err != nil {
			return err
		}
	}
	if kept := p.kept(aims); len(kept) > 0 && len(kept) < len(aims) {
		return fmt.Errorf("%s is there and others of its files are not: make them first, or give them a section of their own", kept[0].path)
	}
	return nil
}

// checkOptions refuses what no look at files can make safe.
func (r *runner) checkOptions(file string, section fio.Section) error {
	for _, o := range section.Options {
		name, value := fio.BuiltinOptions().Main(o.Name), strings.TrimSpace(o.Value)
		why := hiddenTargets[name]
		switch {
		case name == "exec_prerun" || name == "exec_postrun":
			if !r.plan.AllowExec {
				return fmt.Errorf("%s:%d: %s would run a shell command (%.60q): read it, then add --allow-exec", file, o.Line, o.Name, o.Value)
			}
		case name == "ioengine" && (strings.HasPrefix(value, "external") || strings.Contains(value, "/")):
			why = "runs code of that library"
		case name == "mem" && strings.Contains(value, ":"):
			why = "writes over the file that it names"
		case name == "fill_device" && value == "0":
			why = ""
		}
		if why != "" {
			return fmt.Errorf("%s:%d: %s=%.60s %s, which plimsoll does not allow: take it out, or run fio by hand and plimsoll import its output", file, o.Line, o.Name, value, why)
		}
	}
	return nil
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

// sizeOf is the value of an option that is a size, 0 where it is not given or not a plain one.
func sizeOf(section fio.Section, name string) units.Bytes {
	v, _ := valueOf(section, name)
	b, err := fio.ParseSize(v, 1024)
	if err != nil {
		return 0
	}
	return b
}

// aimsOf is what a placed job section works on.
func aimsOf(section fio.Section) ([]aim, error) {
	w, err := fio.WorkloadOf(section.Name, section)
	if err != nil {
		return nil, err
	}
	a := aim{
		engine: w.Engine,
		writes: w.ReadShare < 1 || isSet(section, "unlink") || isSet(section, "unlink_each_loop") || slices.Contains(fileEngines, w.Engine),
	}
	if slices.Contains(farEngines, w.Engine) {
		return nil, nil
	}
	if a.writes && !slices.Contains(plainEngines, w.Engine) && !slices.Contains(fileEngines, w.Engine) {
		return nil, fmt.Errorf("ioengine=%s: plimsoll cannot tell what it writes to: run fio by hand and plimsoll import its output", w.Engine)
	}
	names, jobs, err := namesOf(section, w)
	if err != nil {
		return nil, err
	}
	size := max(sizeOf(section, "size")/units.Bytes(max(len(names)/jobs, 1)), sizeOf(section, "filesize"))
	if size > 0 {
		a.need = size + sizeOf(section, "offset") + w.OffsetIncrement*units.Bytes(max(w.Jobs, 1)-1)
	}
	dirs := fio.Workload{Filename: suite.Directory(section)}.Files() // a list of directories is written like one of files
	var aims []aim
	for _, name := range names {
		if len(dirs) == 0 && !filepath.IsAbs(name) {
			return nil, fmt.Errorf("filename= names %s and whole paths beside it: name all files wholly, or none", name)
		}
		if len(dirs) == 0 {
			a.path = name
			aims = append(aims, a)
		}
		for _, dir := range dirs {
			if a.path, err = joined(dir, name); err != nil {
				return nil, err
			}
			aims = append(aims, a)
		}
	}
	return aims, nil
}

// joined is where fio makes a file of that name in a directory. The directory's dots and links are resolved as the kernel does.
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

// namesOf are the names of a section's files below its directory, and the number of jobs that have as many files each of their own.
func namesOf(section fio.Section, w fio.Workload) (names []string, owners int, err error) {
	given := suite.Files(section)
	dir := suite.Directory(section)
	for _, name := range given {
		if dir != "" && (filepath.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..")) {
			return nil, 0, fmt.Errorf("filename=%s is to be below directory=%s: name the file there, or take the directory out", name, dir)
		}
	}
	if len(given) > 0 {
		return given, 1, nil
	}
	format, _ := valueOf(section, "filename_format")
	for _, name := range []string{section.Name, format} {
		if filepath.IsAbs(name) || slices.Contains(strings.Split(name, "/"), "..") {
			return nil, 0, fmt.Errorf("fio would make a file of the name %.60q below a directory, not there: add filename= with what is meant", name)
		}
	}
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
	jobs := max(w.Jobs, 1)
	if files*jobs > mostNames {
		return nil, 0, fmt.Errorf("%d jobs of %d files each are more than plimsoll looks at: want at most %d in all", jobs, files, mostNames)
	}
	for j := range jobs {
		for f := range files {
			fill := strings.NewReplacer("$jobname", section.Name, "$jobnum", strconv.Itoa(j), "$filenum", strconv.Itoa(f))
			names = append(names, fill.Replace(format))
		}
	}
	return names, jobs, nil
}

// checkAim decides whether a job may have a file or device, and notes what it will make.
func (r *runner) checkAim(p *place, a aim) error {
	if p.owns(a.path) {
		p.uses(a.path, a.need)
		return nil
	}
	if slices.Contains(strings.Split(a.path, "/"), "..") {
		return fmt.Errorf("%s: name it without the dots", a.path)
	}
	for _, part := range untellable {
		if strings.Contains(a.path, part) {
			return fmt.Errorf("%s: fio would read %q as something else than a name: use another name, or a link to it", a.path, part)
		}
	}
	if !slices.Contains(plainEngines, a.engine) {
		return fmt.Errorf("%s: plimsoll cannot tell what ioengine=%s does to it: use one such as libaio or psync", a.path, a.engine)
	}
	info, err := os.Stat(a.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p.mayMake(a)
	case err != nil:
		return err
	case isBlock(info):
		return r.checkRaw(p, a, info)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is neither a regular file nor a block device", a.path)
	}
	if p.device != nil || !p.sameFilesystem(info) {
		return p.elsewhere(a)
	}
	if rel, ok := p.below(a.path); ok && slices.Contains(p.recorded(), rel) {
		return p.mayMake(a) // an earlier run made it
	}
	return r.checkFile(a, info)
}

// checkFile decides over a regular file that is there and that plimsoll did not make.
func (r *runner) checkFile(a aim, info fs.FileInfo) error {
	if !a.writes {
		if a.need > units.Bytes(info.Size()) {
			return fmt.Errorf("%s holds %s and the job reads up to %s, for which fio would write the file anew: choose a smaller size=", a.path, units.Bytes(info.Size()), a.need)
		}
		return nil
	}
	for _, d := range r.plan.Topology.Tree.Devices {
		if backing, err := os.Stat(d.Backing); d.Backing != "" && err == nil && os.SameFile(backing, info) {
			return fmt.Errorf("%s is behind %s: plimsoll never writes to a file in use", a.path, d.Path)
		}
	}
	if _, ok := r.destroys(info); !ok {
		return fmt.Errorf("%s is there and plimsoll did not make it, and the job would write over it: name another file, or add --destroy %s if what it holds may be lost", a.path, a.path)
	}
	return nil
}

// checkRaw decides over a block device, by whichever name the job knows it.
func (r *runner) checkRaw(p *place, a aim, info fs.FileInfo) error {
	major, minor := numbers(info)
	var device *block.Device
	for _, d := range r.plan.Topology.Tree.Devices {
		if d.Major == major && d.Minor == minor {
			device = d
		}
	}
	switch {
	case device == nil:
		return fmt.Errorf("%s: nothing is known of this device (%d:%d) in /sys/block; name a disk, an array or a file", a.path, major, minor)
	case p.device == nil || p.device.Name != device.Name:
		return p.elsewhere(a)
	}
	return r.checkDevice(&place{path: a.path, device: device, reads: !a.writes})
}

// elsewhere says that a job points to other storage than what is looked at, whose ceiling and devices would be shown beside its figures.
func (p *place) elsewhere(a aim) error {
	return fmt.Errorf("%s is not on the storage of %s, which is what is watched: run the job file by itself and without --data, one filesystem or device at a time", a.path, p.path)
}

// mayMake decides over a file that is not there: fio will make it, and plimsoll remove it.
func (p *place) mayMake(a aim) error {
	if target, err := os.Readlink(a.path); err == nil {
		return fmt.Errorf("%s is a link to %s, which does not exist: name the file itself", a.path, target)
	}
	dir, err := os.Stat(filepath.Dir(a.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: make the directory first", filepath.Dir(a.path))
	case err != nil:
		return err
	case p.device != nil || !p.sameFilesystem(dir):
		return p.elsewhere(a)
	}
	rel, ok := p.below(a.path)
	if !ok {
		return fmt.Errorf("%s is to be made outside of %s: name a directory with --data that both are in", a.path, p.path)
	}
	if strings.HasPrefix(filepath.Join(p.path, rel), "/dev/") {
		return fmt.Errorf("%s does not exist: a file of that name in memory is not what you want to measure", a.path)
	}
	if !slices.Contains(p.made, rel) {
		p.made = append(p.made, rel)
	}
	p.uses(a.path, a.need)
	return nil
}

// uses notes how large a file of a job becomes.
func (p *place) uses(path string, need units.Bytes) {
	if p.jobFiles == nil {
		p.jobFiles = map[string]units.Bytes{}
	}
	if path != p.file() {
		p.jobFiles[path] = max(p.jobFiles[path], need)
	}
}

// owns says whether a path is plimsoll's own file, or below the folder that jobs get which name no directory.
func (p *place) owns(path string) bool {
	if p.device != nil {
		return false
	}
	if path == p.file() {
		return true
	}
	resolved, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		return false
	}
	inside := strings.HasPrefix(path, p.jobDir()+"/") || strings.HasPrefix(path, (&place{role: p.role, path: resolved}).jobDir()+"/")
	return inside && !slices.Contains(strings.Split(path, "/"), "..")
}

// usesJobDir says whether a job makes files in the folder.
func (p *place) usesJobDir() bool {
	for path := range p.jobFiles {
		if p.owns(path) {
			return true
		}
	}
	return false
}

// below is the path of a file from the place's directory, when it lies below it, with links on the way resolved.
func (p *place) below(path string) (string, bool) {
	dir, err1 := filepath.EvalSymlinks(filepath.Dir(path))
	root, err2 := filepath.EvalSymlinks(p.path)
	if err1 != nil || err2 != nil {
		return "", false
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(path)))
	return rel, err == nil && filepath.IsLocal(rel)
}

func (p *place) sameFilesystem(info fs.FileInfo) bool {
	own, err := os.Stat(p.path)
	return err == nil && device(own) == device(info)
}

func isBlock(info fs.FileInfo) bool {
	return info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice == 0
}

// numbers are the major and minor of a device node.
func numbers(info fs.FileInfo) (major, minor uint32) {
	rdev := rdev(info)
	return unix.Major(rdev), unix.Minor(rdev)
}

// destroys says whether the user named a file or device with --destroy, by whichever name, and the serial beside it.
func (r *runner) destroys(info fs.FileInfo) (serial string, ok bool) {
	for name, serial := range r.plan.Destroy {
		named, err := os.Stat(name)
		if err != nil {
			continue
		}
		if os.SameFile(named, info) || isBlock(named) && isBlock(info) && rdev(named) == rdev(info) {
			return serial, true
		}
	}
	return "", false
}

// placed is the job file of a scenario as it runs here. Files that are there and are only read are kept from being written anew, where a
// size is larger than they are.
func (p *place) placed(s suite.Scenario, file string) fio.JobFile {
	job := s.Place(file)
	for _, i := range job.Jobs() {
		if aims, err := aimsOf(job.Effective(i)); err == nil && len(p.kept(aims)) > 0 {
			job.Sections[i].Options = append(slices.Clip(job.Sections[i].Options), fio.Option{Name: "create_on_open", Value: "1"})
		}
	}
	return job
}

// kept are the regular files that are there, are only read, and are not plimsoll's.
func (p *place) kept(aims []aim) []aim {
	return slices.DeleteFunc(slices.Clone(aims), func(a aim) bool {
		info, err := os.Stat(a.path)
		rel, ok := p.below(a.path)
		return a.writes || err != nil || !info.Mode().IsRegular() || p.owns(a.path) || ok && slices.Contains(p.made, rel)
	})
}

// Placed is the job file of a scenario as it would run.
func Placed(p Plan, s suite.Scenario) fio.JobFile {
	at := planned(p, s)
	return at.placed(s, at.fileFor(s))
}
