package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dir is a directory held open. What is done through it happens in that directory, whoever renames
// it or puts something else in its place meanwhile, and follows no link out of it.
type Dir struct {
	*os.Root
	// file is inherited by the programs that plimsoll starts, so that Path leads to the same
	// directory in them.
	file *Handle
	name string
}

// OpenDir opens a directory by the name that the user gave, links included.
func OpenDir(name string) (*Dir, error) {
	return openDir(unix.AT_FDCWD, name, name, 0)
}

// OpenSub opens a directory in this one, which must not be a link.
func (d *Dir) OpenSub(name string) (*Dir, error) {
	if !filepath.IsLocal(name) || filepath.Base(name) != name {
		return nil, fmt.Errorf("%s: want a plain name", name)
	}
	return openDir(int(d.file.Fd()), name, filepath.Join(d.name, name), unix.O_NOFOLLOW)
}

func openDir(at int, name, shown string, flags int) (*Dir, error) {
	file, err := OpenHandle(at, name, unix.O_RDONLY|unix.O_DIRECTORY|flags, shown)
	if err != nil {
		return nil, err
	}
	d := &Dir{file: file, name: shown}
	if d.Root, err = os.OpenRoot(d.Path()); err != nil {
		return nil, errors.Join(err, d.file.Close())
	}
	return d, nil
}

// Name is the name by which the directory was opened, for people.
func (d *Dir) Name() string { return d.name }

// Path is a name for the directory, or for what is below it, that leads to it here and in programs
// that plimsoll starts while it is open, whatever has become of its own name.
func (d *Dir) Path(elem ...string) string {
	path := d.file.Path()
	if len(elem) > 0 {
		path += "/" + filepath.Join(elem...)
	}
	return path
}

// pathError is an error of the kernel, as package os has them.
func pathError(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

// about gives an error about a file the name by which the file was asked for.
func about(path string, err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError(of.Op, path, of.Err)
	}
	return err
}

// Entries is what lies in the directory, by name. What cannot be looked at, such as a mount whose
// device fails or another user's FUSE, is among it, and its Info is the error. An error has the
// directory's name, not that of the handle.
func (d *Dir) Entries() ([]fs.DirEntry, error) {
	names, err := d.names()
	err = about(d.name, err)
	var entries []fs.DirEntry
	for _, name := range names {
		info, err := d.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) { // it went meanwhile
			continue
		}
		if err = about(filepath.Join(d.name, name), err); err != nil {
			entries = append(entries, unseen{name, err})
			continue
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	return entries, err
}

// names are those in the directory. Reading entries would look at each, and end with the first that
// cannot be looked at.
func (d *Dir) names() ([]string, error) {
	f, err := d.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// unseen is an entry of a directory that could not be looked at.
type unseen struct {
	name string
	err  error
}

func (u unseen) Name() string               { return u.name }
func (u unseen) IsDir() bool                { return false }
func (u unseen) Type() fs.FileMode          { return fs.ModeIrregular }
func (u unseen) Info() (fs.FileInfo, error) { return nil, u.err }

// Info is the state of the directory itself.
func (d *Dir) Info() (fs.FileInfo, error) { return d.file.Stat() }

// Free is the space on the directory's filesystem that its user may fill, in bytes, and the
// filesystem's identity.
func (d *Dir) Free() (free uint64, id unix.Fsid, err error) {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(d.file.Fd()), &st); err != nil {
		return 0, id, pathError("statfs", d.name, err)
	}
	return st.Bavail * uint64(st.Bsize), st.Fsid, nil
}

// SyncAll flushes what was written to the directory's filesystem: for many files this is cheaper than to sync
// each.
func (d *Dir) SyncAll() error { return unix.Syncfs(int(d.file.Fd())) }

// Give makes the directory another user's.
func (d *Dir) Give(uid, gid uint32) error { return d.file.Chown(int(uid), int(gid)) }

// SameMount says that two directories are reached by the same mount: a bind mount of one filesystem
// has the same device number. Where the kernel does not show mounts, the answer is no.
func (d *Dir) SameMount(o *Dir) bool {
	a, b := d.mount(), o.mount()
	return a != "" && a == b
}

// mount is the number of the mount by which the directory is held (proc_pid_fdinfo(5)).
func (d *Dir) mount() string {
	info, err := os.ReadFile("/proc/self/fdinfo/" + filepath.Base(d.Path()))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(info)) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			return strings.TrimSpace(id)
		}
	}
	return ""
}

// RemoveAll removes a file or a directory with what is in it. Nothing goes where something is mounted there, or where
// others may have moved what is theirs: whoever can write to a directory without a sticky bit, and its owner, can
// rename in it what he can neither read nor remove.
func (d *Dir) RemoveAll(name string) error {
	if _, err := d.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := d.checkOwner(name)
	if err == nil {
		err = d.each(name, func(*Dir, string) error { return nil })
	}
	if err != nil {
		return fmt.Errorf("%w; nothing was removed", err)
	}
	if err := d.each(name, (*Dir).Remove); err != nil {
		return err
	}
	return d.Remove(name)
}

// CheckOthers refuses a directory that is a mount of its own, or has one in it, or what others may have moved there: it
// is not plimsoll's. So it does where it cannot look, as into the mount of a server that is gone.
func (d *Dir) CheckOthers(name string) error {
	if err := d.each(name, func(*Dir, string) error { return nil }); err != nil {
		return fmt.Errorf("%w; nothing was removed", err)
	}
	return nil
}

// RemoveLinks removes the symbolic links below a name.
func (d *Dir) RemoveLinks(name string) error {
	return d.each(name, func(in *Dir, name string) error {
		if _, err := in.Readlink(name); err != nil { // no link
			return nil
		}
		return in.Remove(name)
	})
}

// each calls do for all that is below a name, the inmost first, each found by the handle of the directory that it is
// in; a name that is no directory has nothing below it.
func (d *Dir) each(name string, do func(in *Dir, name string) error) error {
	sub, err := openDir(int(d.file.Fd()), name, filepath.Join(d.name, name), unix.O_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP):
		return nil
	case err != nil:
		return err
	}
	defer sub.Close() //nolint:errcheck // only a handle
	if !d.SameMount(sub) {
		return fmt.Errorf("%s is a mount of its own, which plimsoll did not make: unmount it", sub.Name())
	}
	if err := d.CheckMoved(sub); err != nil { // by handle: a name may have become another's meanwhile
		return err
	}
	entries, err := sub.Entries()
	for _, e := range entries {
		if err == nil {
			err = sub.checkOwner(e.Name())
		}
		if err == nil && e.IsDir() {
			err = sub.each(e.Name(), do)
		}
		if err == nil {
			err = do(sub, e.Name())
		}
	}
	return err
}

// CheckMoved refuses a directory in this one that others than root and the caller may have moved there: the owner of
// this one, where it is not his, or whoever can write to this one.
func (d *Dir) CheckMoved(sub *Dir) error {
	of, err := sub.Info()
	if err != nil {
		return err
	}
	return d.checkMoved(of, sub.Name())
}

// checkOwner is CheckMoved for whatever has a name here.
func (d *Dir) checkOwner(name string) error {
	of, err := d.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.checkMoved(of, filepath.Join(d.name, name))
}

func (d *Dir) checkMoved(of fs.FileInfo, name string) error {
	in, err := d.Info()
	if err != nil {
		return err
	}
	if owner := Owner(in); owner != 0 && int(owner) != os.Geteuid() && Owner(of) != owner {
		return fmt.Errorf("%s belongs to %s, in a directory of %s, who may have moved it there: move it away", name,
			UserName(Owner(of)), UserName(owner))
	}
	mayMove := []uint32{uint32(os.Geteuid()), Owner(of)}
	if of.IsDir() && in.Mode()&fs.ModeSticky == 0 && writableByOthers(d.Path("."), in, mayMove) { // files they can remove
		return fmt.Errorf("%s may have been moved there: others can write to %s (mode %04o); move it away", name, d.name,
			in.Mode().Perm())
	}
	return nil
}

// Close lets go of the directory.
func (d *Dir) Close() error { return errors.Join(d.Root.Close(), d.file.Close()) }

// CheckOwn refuses a directory that another user owns or can write to. Where the server of a
// network filesystem maps the
// caller to another user, that user counts.
func (d *Dir) CheckOwn() error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s can be written to by others (mode %04o): remove that permission, or name another directory",
			d.name, info.Mode().Perm())
	}
	if int(Owner(info)) == os.Geteuid() {
		return nil
	}
	const name = ".owner"
	f, err := d.Create(name, 0o600)
	if err != nil {
		return fmt.Errorf("%s belongs to another user: %w", d.name, err)
	}
	own, err := f.Stat()
	if err = errors.Join(err, f.Close(), d.Remove(name)); err != nil {
		return err
	}
	if Owner(own) != Owner(info) {
		return fmt.Errorf("%s belongs to another user: do this as that user, or name another directory", d.name)
	}
	return nil
}

// Create makes a new file; what is there already is an error, a link that leads nowhere too.
func (d *Dir) Create(name string, perm fs.FileMode) (*os.File, error) {
	return d.open(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, perm)
}

// OpenRegular opens a regular file for reading. It neither follows a link nor waits for a pipe.
func (d *Dir) OpenRegular(name string) (*os.File, error) {
	return regular(d.open(name, unix.O_RDONLY, 0))
}

// ReadSmall reads a regular file of at most limit bytes. It neither follows a link nor waits for a
// pipe.
func (d *Dir) ReadSmall(name string, limit int64) ([]byte, error) {
	f, err := d.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	return ReadAll(f.Name(), f, limit)
}

// open opens a file in the directory. O_NONBLOCK keeps it from waiting for the other end of a pipe.
func (d *Dir) open(name string, flags int, perm fs.FileMode) (*os.File, error) {
	fd, err := unix.Openat(int(d.file.Fd()), name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, uint32(perm))
	shown := filepath.Join(d.name, name)
	switch {
	case errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO):
		return nil, fmt.Errorf("%s is %w", shown, ErrNotRegular)
	case err != nil:
		return nil, pathError("open", shown, err)
	}
	return os.NewFile(uintptr(fd), shown), nil
}

// regular closes what was opened and is no regular file.
func regular(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is %w", f.Name(), ErrNotRegular)
	}
	if err == nil {
		err = stored(f)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// stat is what stat(2) says of a file; zero where it is none of the kernel's.
func stat(info fs.FileInfo) *syscall.Stat_t {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st
	}
	return &syscall.Stat_t{}
}

// Owner is the user that a file belongs to.
func Owner(info fs.FileInfo) uint32 { return stat(info).Uid }

// Device is the number of the filesystem's device that a file is on.
func Device(info fs.FileInfo) uint64 { return stat(info).Dev }

// Names is how many names a file has: more than one when there are hard links.
func Names(info fs.FileInfo) uint64 {
	return max(uint64(stat(info).Nlink), 1) //nolint:unconvert // not 64 bits everywhere
}

// DeviceNumber is the number of the device that a node stands for.
func DeviceNumber(info fs.FileInfo) uint64 { return stat(info).Rdev }

// OpenOwnDir opens a directory of the caller's own, to write to it: not a link to one, and nobody
// else's.
func OpenOwnDir(name string) (*Dir, error) {
	name = filepath.Clean(name)
	parent, err := OpenPath(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer parent.Close() //nolint:errcheck // only a handle
	d, err := openDir(int(parent.file.Fd()), filepath.Base(name), name, unix.O_NOFOLLOW)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s is a link or a file: name a directory itself", name)
	}
	return callers(d, err)
}

// callers closes what was opened and is not the caller's own.
func callers(d *Dir, err error) (*Dir, error) {
	if err != nil {
		return nil, err
	}
	if err := d.CheckOwn(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// OwnSub opens a directory of the caller's own in this one, and makes it where it is missing.
func (d *Dir) OwnSub(name string, perm fs.FileMode) (*Dir, error) {
	sub, err := d.MakeOwnSub(name, perm)
	if !errors.Is(err, fs.ErrExist) {
		return sub, err
	}
	sub, err = d.OpenSub(name)
	if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s is a link or a file, not a directory: remove it", filepath.Join(d.name, name))
	}
	return callers(sub, err)
}

// MakeOwnSub makes a new directory in this one and opens it. One that is there already is an error.
func (d *Dir) MakeOwnSub(name string, perm fs.FileMode) (*Dir, error) {
	if err := d.Mkdir(name, perm); err != nil {
		return nil, err
	}
	return callers(d.OpenSub(name)) // somebody may have put another in its place
}

// Group is the group that a file belongs to.
func Group(info fs.FileInfo) uint32 { return stat(info).Gid }
