package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// folder holds everything that plimsoll creates in a target directory.
const folder = ".plimsoll"

// place is a target made ready: a directory with plimsoll's folder in it, or a raw device.
type place struct {
	role   topology.Role
	path   string        // as the user gave it, absolute
	info   os.FileInfo   // of the path
	device *block.Device // nil for a directory
	fsType string
	size   units.Bytes // of its file: the largest of its scenarios; 0 when no scenario needs one
	reads  bool        // no scenario writes, so a raw device needs no permission
	whole  bool        // its file was written from end to end
	broken error       // why nothing can be measured here; its scenarios are invalid

	made     []string               // files that job files from elsewhere make outside of the folder, from path
	jobFiles map[string]units.Bytes // how large jobs make their files, those in the folder too
}

// writes says whether anything is made in the place's directory. Jobs that only read files which are there need not be allowed to.
func (p *place) writes() bool { return p.device == nil && (p.size > 0 || len(p.jobFiles) > 0) }

// file that the scenarios of this place share.
func (p *place) file() string {
	if p.device != nil {
		return p.path
	}
	return filepath.Join(p.path, folder, string(p.role)+".dat")
}

// fresh is the file of never-written extents for --fresh-extents.
func (p *place) fresh() string { return filepath.Join(p.path, folder, string(p.role)+"-fresh.dat") }

// untellable are what a job file cannot hold in a value, since fio has no escape for them: ; and # begin a comment wherever they stand,
// and variables and keywords are replaced. A file named with one would be made elsewhere, over whatever is there.
var untellable = []string{";", "#", "${", "$pagesize", "$mb_memory", "$ncpus"}

// CheckPaths says what is wrong with the paths of the roles, before anything else is looked at.
func CheckPaths(paths map[topology.Role]string) error {
	for _, role := range topology.Roles {
		if path, ok := paths[role]; ok {
			if _, err := checkPath(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkPath says what is wrong with a path before anything is written.
func checkPath(path string) (os.FileInfo, error) {
	if strings.ContainsFunc(path, unicode.IsControl) {
		return nil, fmt.Errorf("path %q: a control character in a path cannot be passed to fio; use another directory", path)
	}
	for _, part := range untellable {
		if strings.Contains(path, part) {
			return nil, fmt.Errorf("%s: fio would read %q in a job file as something else than a name; use another directory, or a link or bind mount to it", path, part)
		}
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist: make the directory or name another", path)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() && !isBlock(info) {
		return nil, fmt.Errorf("%s is neither a directory nor a block device", path)
	}
	return info, nil
}

// lock keeps other runs away from a path. The returned function lets go of it.
func lock(p *place) (release func(), err error) {
	name := p.path
	if p.device == nil {
		dir := filepath.Join(p.path, folder)
		err := os.Mkdir(dir, 0o755)
		switch {
		case err == nil || errors.Is(err, fs.ErrExist):
			name = filepath.Join(dir, "lock")
		case p.writes():
			return nil, writeTrouble(p.path, err)
		}
	}
	unlock, err := bundle.Lock(name)
	if errors.Is(err, bundle.ErrLocked) {
		return nil, fmt.Errorf("%s: another plimsoll is measuring here; wait until it is done", p.path)
	}
	if err != nil {
		return nil, writeTrouble(p.path, err)
	}
	return func() {
		if name != p.path {
			_ = os.Remove(name)               // while it is held: Lock notices a file that is gone
			_ = os.Remove(filepath.Dir(name)) // fails while anything else is in it, as it should
		}
		unlock()
	}, nil
}

// clear removes what a crashed run left in a place that is locked, and says so.
func (p *place) clear(note func(string)) error {
	made := p.recorded()
	if len(made) > 0 {
		note(fmt.Sprintf("removed what an earlier run made: %s", strings.Join(made, ", ")))
	}
	if err := p.unmake(); err != nil {
		return err
	}
	left := p.leftovers()
	if len(left) == 0 || p.laidOut() {
		return nil
	}
	note(fmt.Sprintf("removed what an earlier run left in %s", filepath.Join(p.path, folder)))
	return removeAll(left)
}

// empty removes what this run made.
func (p *place) empty() error {
	return errors.Join(p.unmake(), removeAll(p.leftovers()))
}

// leftovers are the files that runs of this role make.
func (p *place) leftovers() []string {
	var left []string
	if p.device != nil {
		return nil
	}
	for _, name := range []string{p.file(), p.file() + ".laid", p.fresh(), p.jobDir()} {
		if exists(name) {
			left = append(left, name)
		}
	}
	return left
}

// jobDir is where job files from elsewhere create files for which they name no directory.
func (p *place) jobDir() string { return filepath.Join(p.path, folder, string(p.role)+"-job") }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func removeAll(paths []string) error {
	var errs []error
	for _, path := range paths {
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}

func writeTrouble(path string, err error) error {
	switch {
	case errors.Is(err, unix.EROFS):
		return fmt.Errorf("%s is on a read-only filesystem: remount it read-write or name another path", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is not writable: run as its owner or name another path", path)
	case errors.Is(err, unix.ENOSPC):
		return fmt.Errorf("%s is full: free some space or name another path", path)
	}
	return err
}

// laid is the marker beside a file that --keep-files left: it says that the file was written whole.
type laid struct {
	Size units.Bytes `json:"size"`
}

// laidOut says whether the file is there from an earlier run, written whole and large enough.
func (p *place) laidOut() bool {
	data, err := os.ReadFile(p.file() + ".laid")
	if err != nil {
		return false
	}
	var l laid
	info, err := os.Stat(p.file())
	return err == nil && json.Unmarshal(data, &l) == nil && l.Size >= p.size && p.size > 0 && units.Bytes(info.Size()) >= l.Size
}

// layOut writes the place's file whole with random data: reads of unwritten extents never reach the disk, and a synced write into
// them pays for the extent conversion.
func (p *place) layOut(ctx context.Context, m *sys.Machine, emit func(Event)) error {
	if p.size == 0 || p.laidOut() {
		return nil
	}
	job := fio.JobFile{Sections: []fio.Section{{Name: "layout", Options: []fio.Option{
		{Name: "filename", Value: strings.ReplaceAll(p.file(), ":", `\:`)},
		{Name: "size", Value: fmt.Sprint(uint64(p.size))},
		{Name: "rw", Value: "write"},
		{Name: "bs", Value: "1m"},
		{Name: "ioengine", Value: "libaio"},
		{Name: "iodepth", Value: "16"},
		{Name: "direct", Value: "1"},
		{Name: "refill_buffers", Bare: true},
		{Name: "end_fsync", Value: "1"},
	}}}}
	tmp, err := os.CreateTemp("", "plimsoll-layout-*.fio")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) //nolint:errcheck // a small file in the system's temporary directory
	_, err = tmp.Write(job.Text())
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	report := Laying{Role: p.role, File: p.file(), Size: p.size}
	emit(report)
	err = fio.Run(ctx, m, fio.Invocation{
		JobFile: tmp.Name(), Raw: io.Discard, Text: func(string) {}, Stall: overrun,
		Doc: func(o *fio.Output) {
			if len(o.Jobs) > 0 {
				report.Written = o.Jobs[0].Write.Bytes
				emit(report)
			}
		},
	})
	if err != nil {
		return err
	}
	report.Written, report.Done = p.size, true
	emit(report)
	p.whole = true
	return nil
}

// keep leaves a file that was written whole for the next run, with a marker that says so. A crashed run leaves no marker, so its file
// is not trusted.
func (p *place) keep() error {
	if p.device != nil || !p.whole {
		return nil
	}
	mark, err := json.Marshal(laid{p.size})
	if err != nil {
		return err
	}
	return os.WriteFile(p.file()+".laid", mark, 0o644)
}

// freshen makes the file of allocated, never-written extents anew.
func (p *place) freshen(size units.Bytes) error {
	if err := os.RemoveAll(p.fresh()); err != nil {
		return err
	}
	f, err := os.OpenFile(p.fresh(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, int64(size))
	return errors.Join(err, f.Sync(), f.Close())
}

// spaceShare is the part of the free space that files may fill.
const spaceShare = 0.9

// checkSpace refuses sizes that the filesystems cannot hold. Places on one filesystem are added up.
func checkSpace(places []*place, fresh bool) error {
	type fsUse struct {
		need, free units.Bytes
		path       string
		smaller    string // what would make it fit
	}
	use := map[unix.Fsid]*fsUse{}
	for _, p := range places {
		need := p.needed(fresh)
		if need == 0 {
			continue
		}
		var st unix.Statfs_t
		if err := unix.Statfs(p.path, &st); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		u := use[st.Fsid]
		if u == nil {
			u = &fsUse{free: units.Bytes(st.Bavail) * units.Bytes(st.Bsize), path: p.path, smaller: "a smaller --size"}
			use[st.Fsid] = u
		}
		u.need += need
		if p.size == 0 {
			u.smaller = "smaller sizes in the job file"
		}
	}
	for _, u := range use {
		if u.free == 0 {
			return fmt.Errorf("%s has no free space: name another path", u.path)
		}
		if limit := units.Bytes(spaceShare * float64(u.free)); u.need > limit {
			return fmt.Errorf("%s: the scenarios need %s and %s is free, of which plimsoll uses 90 %%: choose %s", u.path, u.need, u.free, u.smaller)
		}
	}
	return nil
}

// needed is the space that files to be made in a place will take.
func (p *place) needed(fresh bool) units.Bytes {
	var need units.Bytes
	if p.device == nil && p.size > 0 && !p.laidOut() {
		need = p.size
		if fresh {
			need += p.size
		}
	}
	for _, size := range p.jobFiles {
		need += size
	}
	return need
}

// checkDevice refuses to write to a device that is in use, or that was not named with its serial.
func (r *runner) checkDevice(p *place) error {
	if p.reads {
		return nil
	}
	if use := inUse(r.plan.Topology.Tree, p.device); use != "" {
		return fmt.Errorf("%s %s: plimsoll never writes to a device in use", p.path, use)
	}
	info, err := os.Stat(p.path)
	if err != nil {
		return err
	}
	serial, named := r.destroys(info)
	if !named {
		return fmt.Errorf("%s is a raw device and its scenarios write: use a directory, or add --destroy %s --serial %s if everything on it may be lost", p.path, p.path, identity(p.device))
	}
	if serial != identity(p.device) || serial == "" {
		return fmt.Errorf("%s has serial %q, not %q: nothing was written", p.path, identity(p.device), serial)
	}
	return unclaimed(p.path)
}

// unclaimed asks the kernel, which also knows of mounts in other namespaces, such as a container's.
func unclaimed(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_EXCL|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EBUSY) {
		return fmt.Errorf("%s is held by something that cannot be seen from here, such as a mount in a container: plimsoll never writes to a device in use", path)
	}
	if err != nil {
		return writeTrouble(path, err)
	}
	return unix.Close(fd)
}

// identity is the serial of a device, or the backing file of a loop device, which has none.
func identity(d *block.Device) string {
	if d.Serial == "" {
		return d.Backing
	}
	return d.Serial
}

// inUse says what holds a device or a part of it: a mount, md, LVM, swap.
func inUse(tree *block.Tree, d *block.Device) string {
	for _, name := range append([]string{d.Name}, d.Partitions...) {
		part := tree.Devices[name]
		if part == nil {
			continue
		}
		if len(part.Holders) > 0 {
			return fmt.Sprintf("is held by %s", strings.Join(part.Holders, ", "))
		}
		for _, mnt := range tree.Mounts {
			if mnt.Device == name {
				return fmt.Sprintf("is mounted on %s", mnt.Point)
			}
		}
		if slices.Contains(tree.Swaps, name) {
			return "is used as swap"
		}
	}
	return ""
}

// needs says how large a place's file must be: the largest of its scenarios that use it.
func (p *place) needs(scenarios []suite.Scenario) {
	p.reads = true
	for _, s := range scenarios {
		if s.Role != p.role || s.AsIs {
			continue
		}
		p.size = max(p.size, s.Size)
		loads, err := s.WorkloadsOn(p.file())
		if err != nil || suite.Writes(loads) {
			p.reads = false
		}
	}
}
