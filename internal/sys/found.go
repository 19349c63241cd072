package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrOthers is in the chain of Found's error about a file that somebody else decides.
var ErrOthers = errors.New("others can change it")

// ReadFound reads a small file that nobody named, such as plimsoll.yaml in the current directory,
// if it is Found.
func ReadFound(name string, limit int64) ([]byte, error) {
	f, err := openFound(name, mostLinks)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return ReadAll(name, f, limit)
}

// Found says whether a file that nobody named is one that the caller or root put there: a regular
// file of theirs that nobody else can write to or put another in the place of. A link counts like
// the file, and so does what it leads to.
func Found(name string) error {
	f, err := openFound(name, mostLinks)
	if err != nil {
		return err
	}
	return f.Close()
}

func openFound(name string, links int) (*os.File, error) {
	dir, err := OpenDir(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // only read
	base := filepath.Base(name)
	info, err := dir.Lstat(base)
	if err != nil {
		return nil, err
	}
	if err := foundIn(dir, info); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOthers, err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if links == 0 {
			return nil, pathError("open", name, unix.ELOOP)
		}
		target, err := dir.Readlink(base)
		if err != nil {
			return nil, err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(name), target)
		}
		return openFound(target, links-1)
	}
	f, err := dir.OpenRegular(base)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		if err = foundIn(dir, info); err != nil {
			err = fmt.Errorf("%w: %w", ErrOthers, err)
		}
	}
	if err != nil {
		_ = f.Close() // only read
		return nil, err
	}
	return f, nil
}

// foundIn looks at a file or a link and the directory that holds it. In a directory that others can
// write to, the sticky bit keeps them from replacing what is not theirs; the directory's owner can
// always.
func foundIn(dir *Dir, info fs.FileInfo) error {
	if !Ours(info) {
		return fmt.Errorf("it belongs to user %s", UserName(Owner(info)))
	}
	link, own := info.Mode()&fs.ModeSymlink != 0, []uint32{uint32(os.Geteuid())}
	if !link && writableByOthers(dir.Path(info.Name()), info, own) {
		return fmt.Errorf("others can write to it (mode %04o)", info.Mode().Perm())
	}
	if !link && Names(info) > 1 {
		return fmt.Errorf("it has %d names (hard links), one of which another user may have made", Names(info))
	}
	holder, err := dir.Info()
	switch {
	case err != nil:
		return err
	case !Ours(holder):
		return fmt.Errorf("its directory belongs to %s, who can replace it", UserName(Owner(holder)))
	case writableByOthers(dir.Path("."), holder, own) && holder.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("others can replace it, since they can write to its directory (mode %04o)", holder.Mode().Perm())
	}
	return nil
}

// Ours says that something belongs to root or the caller.
func Ours(info fs.FileInfo) bool {
	owner := Owner(info)
	return owner == 0 || int(owner) == os.Geteuid()
}

// Included reads a file that a job file names. Whoever wrote the job file may have chosen it to see what is in
// it, or may have counted on a file that somebody puts into the working directory. So it is read if
// everybody may read it, or if it is the caller's or root's, as the job file is, and lies below the job file's
// directory or the working one; and below the working directory only, where the job file is elsewhere, if
// nobody else put it there (Found).
func Included(job, name string) ([]byte, error) {
	f, err := OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	// What was opened counts, whichever links led there and whatever has become of them.
	file, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err == nil {
		err = mayInclude(job, name, file)
	}
	if err != nil {
		return nil, err
	}
	return ReadAll(name, f, TextLimit)
}

func mayInclude(job, name, file string) error {
	own, others := Found(name), errors.Is(Found(job), ErrOthers)
	beside := below(filepath.Dir(job), file)
	switch {
	case own != nil && !beside && !filepath.IsAbs(name):
		return fmt.Errorf("%s is not read, because %w; put a copy beside the job file", name, own)
	case own == nil && !others && (beside || below(".", file)), ReadByAll(file):
		return nil
	}
	return fmt.Errorf("%s is not read: it is not readable by everyone, and the job file may be anybody's; "+
		"put a copy beside the job file", name)
}

// below says whether a file, by its name without links, lies in a directory or in one below it.
func below(dir, file string) bool {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	return err == nil && (dir == "/" || strings.HasPrefix(file, dir+"/"))
}

// ReadByAll says whether everybody may read a file, by its name without links, and reach it.
func ReadByAll(file string) bool {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o004 == 0 {
		return false
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}
