package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// tempForm is the name of a temporary directory: what it is for, and who made it, by PID namespace,
// PID and start, so that what a killed plimsoll left is known for what it is.
const (
	tempPrefix = "plimsoll-"
	tempParts  = 6 // plimsoll, what for, namespace, PID, start, random
	// TempNameLimit is the most characters that TempDir's names have behind what they are for.
	TempNameLimit = len("-zzzzzzz-zzzzz-zzzzzzzzz-4294967295")
)

// TempDir makes a directory of the caller's own, for a use that is one word, where nobody else can put another in its
// place: in TMPDIR or, where others can change that or it does not fit, in /tmp. EndTemps finds it when its maker was
// killed.
func TempDir(use string, fits ...func(dir string) error) (string, error) {
	var refused error
	for _, base := range []string{os.TempDir(), "/tmp"} {
		base, err := filepath.Abs(base)
		if err == nil {
			err = onlyOf(base, 0, uint32(os.Geteuid())) //nolint:gosec // no user has a negative number
		}
		for _, fit := range fits {
			if err == nil {
				err = fit(base)
			}
		}
		if err == nil {
			return TempDirIn(base, use)
		}
		refused = errors.Join(refused, err)
	}
	return "", fmt.Errorf("no directory for temporary files: %w; set TMPDIR to one that only you can change", refused)
}

// TempDirIn is TempDir in a directory that the caller has looked at.
func TempDirIn(base, use string) (string, error) {
	space, err := pidSpace()
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(base, tempStem(use, space))
}

// tempStem begins the name of what this process makes for a use.
func tempStem(use, space string) string {
	start, _ := StartOf(os.Getpid())
	own := []string{use, space, strconv.FormatInt(int64(os.Getpid()), 36), strconv.FormatUint(start, 36), ""}
	return tempPrefix + strings.Join(own, "-")
}

// writeUse is the use of a file that will take another's place when it is whole. Its name begins with a dot.
const writeUse = "write"

// writeName is a new name for such a file. It does not hold the other's name, which may be as long as names can
// be.
func writeName() string {
	space, err := pidSpace()
	if err != nil {
		space = "0" // without /proc nobody finds what is left, but files can be written
	}
	return "." + tempStem(writeUse, space) + strconv.FormatUint(rand.Uint64(), 10)
}

// IsWrite says of a name that it is that of a file which a plimsoll wrote, or writes, to take another's place.
func IsWrite(name string) bool {
	parts := strings.Split(name, "-")
	return len(parts) == tempParts && parts[0]+"-" == "."+tempPrefix && parts[1] == writeUse
}

// EndWrites removes the files in a directory that plimsolls left which were killed as they replaced another,
// and returns their names and their size; with dry they are only named. As for EndTemps they must be the
// caller's own, or the caller is root.
func (d *Dir) EndWrites(dry bool) (found []string, size int64, err error) {
	return d.endLeft(0, dry, d.Remove, func(name, space string) bool { return IsWrite(name) && leftTemp(name[1:], space) })
}

// endLeft removes what of a type lies in the directory under a name that says that its maker is no more.
func (d *Dir) endLeft(of fs.FileMode, dry bool, remove func(string) error, left func(name, space string) bool) (
	found []string, size int64, err error,
) {
	space, err := pidSpace()
	if err != nil {
		return nil, 0, nil //nolint:nilerr // without /proc nothing can be found
	}
	entries, err := d.Entries()
	for _, e := range entries {
		name := e.Name()
		if !left(name, space) {
			continue
		}
		info, err := d.Lstat(name)
		if err != nil || info.Mode().Type() != of || int(Owner(info)) != os.Geteuid() && os.Geteuid() != 0 {
			continue
		}
		if !dry {
			if err := remove(name); err != nil {
				return found, size, err
			}
		}
		found, size = append(found, name), size+info.Size()
	}
	return found, size, err
}

// pidSpace numbers the PID namespace, in which alone a PID means anything.
func pidSpace() (string, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return "", fmt.Errorf("the PID namespace: %w", err)
	}
	return strconv.FormatUint(st.Ino, 36), nil
}

// EndTemps removes temporary directories that plimsolls left which are no more, and returns their
// names; with dry they are only named. They must be the caller's own, or the caller is root: what is
// removed lies in a directory of its owner's, and no link is followed.
func EndTemps(dry bool) (found []string, err error) {
	bases := []string{filepath.Clean(os.TempDir())}
	if !slices.Contains(bases, "/tmp") {
		bases = append(bases, "/tmp") // where a server's socket is if the other is too long
	}
	for _, base := range bases {
		dir, failed := OpenDir(base)
		if failed != nil {
			continue // nothing is there, or nothing can be seen
		}
		names, _, failed := dir.endLeft(fs.ModeDir, dry, dir.RemoveAll, leftTemp)
		for _, name := range names {
			found = append(found, filepath.Join(base, name))
		}
		err = errors.Join(err, failed, dir.Close())
	}
	return found, err
}

// leftTemp says of a name that it is a temporary directory's whose maker is no more.
func leftTemp(name, space string) bool {
	parts := strings.Split(name, "-")
	if len(parts) != tempParts || parts[0]+"-" != tempPrefix || parts[2] != space {
		return false
	}
	pid, err := strconv.ParseInt(parts[3], 36, 32)
	start, err2 := strconv.ParseUint(parts[4], 36, 64)
	return err == nil && err2 == nil && pid > 0 && !Lives(int(pid), start)
}

// LeftTemp says of a path that TempDir made it for a use, for this process or for one that is no more.
func LeftTemp(path, use string) bool {
	space, err := pidSpace()
	name := filepath.Base(path)
	return err == nil && strings.HasPrefix(name, tempPrefix+use+"-") &&
		(leftTemp(name, space) || strings.HasPrefix(name, tempStem(use, space)))
}

// TempFile is a file without a name, which is gone when it is closed, whoever is killed.
func TempFile() (*os.File, error) {
	dir := os.TempDir()
	f, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_RDWR, 0o600)
	if err == nil ||
		!errors.Is(err, syscall.EOPNOTSUPP) && !errors.Is(err, syscall.EISDIR) && !errors.Is(err, syscall.EINVAL) {
		return f, err
	}
	// A filesystem without O_TMPFILE: the name is there for a moment, in a directory that clean finds.
	own, err := TempDir("file")
	if err != nil {
		return nil, err
	}
	f, err = os.OpenFile(filepath.Join(own, "f"), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	return f, errors.Join(err, os.RemoveAll(own))
}
