package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mostLinks is how many symbolic links the kernel follows on one path.
const mostLinks = 40

// procMagic is the type of the proc filesystem, whose links lead to what is open rather than to a
// name (linux/magic.h).
const procMagic = 0x9fa0

// OpenPath opens a directory that something is written to. Each part of its name is opened in the
// one before: a link of another user on the way, which would choose the place, is refused, whatever
// fs.protected_symlinks is.
func OpenPath(name string) (*Dir, error) { return walk(name, 0, false) }

// MakePath opens a directory as OpenPath does, and makes what is missing of it.
func MakePath(name string, perm fs.FileMode) (*Dir, error) { return walk(name, perm, true) }

// wayOnly opens a directory to go on from, and for nothing else.
const wayOnly = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC

func walk(name string, perm fs.FileMode, create bool) (*Dir, error) {
	start := "."
	if filepath.IsAbs(name) {
		start = "/"
	}
	at, err := unix.Open(start, wayOnly, 0)
	if err != nil {
		return nil, pathError("open", start, err)
	}
	defer func() { _ = unix.Close(at) }()
	parts, seen, links := split(name), start, 0
	for len(parts) > 0 {
		part := parts[0]
		parts = parts[1:]
		next, err := step(at, part, perm, create)
		if err != nil {
			return nil, pathError("open", name, err)
		}
		target, err := linkOf(at, next, part, filepath.Join(seen, part))
		if err != nil {
			_ = unix.Close(next)
			return nil, err
		}
		switch target {
		case "":
			seen = filepath.Join(seen, part)
			_ = unix.Close(at)
			at = next
			continue
		case part: // a link of the kernel's, which is opened rather than read
			_ = unix.Close(next)
			if next, err = unix.Openat(at, part, wayOnly, 0); err == nil {
				_ = unix.Close(at)
				at = next
			}
		default:
			_ = unix.Close(next)
			if links++; links > mostLinks {
				err = unix.ELOOP
			} else if filepath.IsAbs(target) {
				if next, err = unix.Open("/", wayOnly, 0); err == nil {
					_ = unix.Close(at)
					at, seen = next, "/"
				}
			}
			parts = slices.Concat(split(target), parts)
		}
		if err != nil {
			return nil, pathError("open", name, err)
		}
	}
	shown := name
	if strings.HasPrefix(name, "/proc/self/fd/") { // a handle's own name says nothing to people
		if link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", at)); err == nil {
			shown = link
		}
	}
	return openDir(at, ".", shown, 0)
}

func split(name string) []string {
	return slices.DeleteFunc(strings.Split(name, "/"), func(p string) bool { return p == "" || p == "." })
}

// step opens one part of a path without following it. It makes a directory of what is missing.
func step(at int, part string, perm fs.FileMode, create bool) (int, error) {
	const flags = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(at, part, flags, 0)
	if !create || !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	if err := unix.Mkdirat(at, part, uint32(perm)); err != nil && !errors.Is(err, unix.EEXIST) {
		return -1, err
	}
	return unix.Openat(at, part, flags, 0)
}

// linkOf is where an open part of a path leads, when it is a link: its target, or the part itself
// for a link of the kernel's. It is empty for a directory; anything else is an error, as is a link
// of another user.
func linkOf(at, fd int, part, shown string) (string, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", pathError("stat", shown, err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return "", nil
	case unix.S_IFLNK:
	default:
		return "", fmt.Errorf("%s is not a directory: name one", shown)
	}
	if st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return "", fmt.Errorf("%s is a link of %s's, who decides where it leads: name the place itself",
			shown, UserName(st.Uid))
	}
	var where unix.Statfs_t
	if err := unix.Fstatfs(at, &where); err == nil && where.Type == procMagic {
		return part, nil
	}
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	if err != nil {
		return "", pathError("readlink", shown, err)
	}
	if n == 0 {
		return "", pathError("readlink", shown, unix.ENOENT)
	}
	return string(buf[:n]), nil
}

// UserName is what a user is called, "user 1001" where nobody says.
func UserName(id uint32) string {
	text := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(text); err == nil {
		return u.Username
	}
	return "user " + text
}

// CheckTrusted refuses a directory in which somebody else than root or the caller can put files, or
// which they can put another in the place of, by any directory above: what lies in it is believed.
func (d *Dir) CheckTrusted() error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	if err := trusted(d.name, info); err != nil {
		return err
	}
	actual, err := os.Readlink(d.Path())
	if err != nil {
		return err
	}
	if err := onlyOf(actual, 0, uint32(os.Geteuid())); err != nil {
		return fmt.Errorf("%s: %w, and what is in it would be believed: name another place", d.name, err)
	}
	return nil
}

// ReadTrusted reads a small file that is believed, such as a record of what is to be put back: a
// regular file of root's or the caller's with one name, that nobody else can write to.
func (d *Dir) ReadTrusted(name string, limit int64) ([]byte, error) {
	f, err := d.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err == nil {
		err = trusted(f.Name(), info)
	}
	if err == nil && Names(info) > 1 {
		err = fmt.Errorf("%s has %d names (hard links), so it may be another's: remove it", f.Name(), Names(info))
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(f.Name(), f, limit)
}

func trusted(name string, info fs.FileInfo) error {
	if owner := Owner(info); owner != 0 && int(owner) != os.Geteuid() {
		return fmt.Errorf("%s belongs to %s, and what is in it would be believed: remove it, or name another place",
			name, UserName(owner))
	}
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s can be written to by others (mode %04o), and what is in it would be believed: "+
			"remove that permission (chmod go-w), or name another place", name, info.Mode().Perm())
	}
	return nil
}
