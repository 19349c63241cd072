package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrOthers is in the chain of Found's error about a file that somebody else decides.
var ErrOthers = errors.New("not yours alone")

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
	if !ours(info) {
		return fmt.Errorf("it belongs to %s", UserName(Owner(info)))
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
	case !ours(holder):
		return fmt.Errorf("its directory belongs to %s, who can replace it", UserName(Owner(holder)))
	case writableByOthers(dir.Path("."), holder, own) && holder.Mode()&fs.ModeSticky == 0:
		return fmt.Errorf("others can replace it, since they can write to its directory (mode %04o)", holder.Mode().Perm())
	}
	return nil
}

func ours(info fs.FileInfo) bool {
	owner := Owner(info)
	return owner == 0 || int(owner) == os.Geteuid()
}
