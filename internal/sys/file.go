package sys

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// WriteFile replaces a file so that a power cut leaves the old or the new content, never a part: a
// temporary name in the same directory, fsync, rename, fsync of the directory. What is there must
// be a regular file: a link is neither followed nor replaced, and a device stays. The directory is
// opened as OpenPath does. What is another user's must not be there because a third one has moved it.
func WriteFile(name string, data []byte, perm fs.FileMode) error {
	name, err := filepath.Abs(name)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && int(Owner(info)) != os.Geteuid() {
		if err := CheckWay(name, Owner(info)); err != nil {
			return fmt.Errorf("%s is %s's and would be replaced: %w; name another file", name, UserName(Owner(info)), err)
		}
	}
	d, err := OpenPath(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(d.WriteFile(filepath.Base(name), data, perm), d.Close())
}

// WriteFile is WriteFile in this directory. It takes the place of os.Root's, which follows links.
func (d *Dir) WriteFile(name string, data []byte, perm fs.FileMode) error {
	info, err := d.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %w but %s: remove it, or name another file",
			filepath.Join(d.name, name), ErrNotRegular, kind(info.Mode()))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.put(name, data, func(f *os.File) error { return f.Chmod(perm) }, d.Rename)
}

// put writes a new file, which place then gives its name.
func (d *Dir) put(
	name string,
	data []byte,
	finish func(*os.File) error,
	place func(temp, name string) error,
) (err error) {
	temp := writeName() // by which EndWrites knows it when this is killed
	f, err := d.Create(temp, 0o600)
	if err != nil {
		return d.of(name, temp, err)
	}
	made, err := f.Stat()
	defer func() {
		if now, gone := d.Lstat(temp); err != nil && gone == nil && made != nil && os.SameFile(made, now) {
			err = errors.Join(err, d.Remove(temp))
		}
	}()
	if err == nil {
		_, err = f.Write(data)
	}
	err = d.of(name, temp, err)
	for _, failed := range []error{finish(f), f.Sync(), f.Close()} {
		err = errors.Join(err, d.of(name, temp, failed))
	}
	if err != nil {
		return err
	}
	if err = place(temp, name); err != nil {
		return d.of(name, temp, err)
	}
	return d.file.Sync()
}

// holds says whether a name is that of a file that is open, and that this still holds old.
func (d *Dir) holds(name string, held *os.File, old []byte) bool {
	info, err1 := held.Stat()
	now, err2 := d.Lstat(name)
	data := make([]byte, len(old)+1)
	n, err := held.ReadAt(data, 0)
	return err1 == nil && err2 == nil && err == io.EOF && os.SameFile(info, now) && bytes.Equal(data[:n], old)
}

// exchange gives a new file the name of one that is open and held old. The two change names at once, so that what
// had the name by then is seen: another file, or what was written meanwhile, gets its name back.
func (d *Dir) exchange(temp, name string, held *os.File, old []byte) error {
	at := int(d.file.Fd())
	swap := func() error { return unix.Renameat2(at, temp, at, name, unix.RENAME_EXCHANGE) }
	err := swap()
	switch {
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS): // a filesystem that cannot, such as NFS
		return d.Rename(temp, name)
	case err == nil && d.holds(temp, held, old):
		return d.Remove(temp)
	case err == nil:
		err = swap()
	}
	return errors.Join(d.changed(name), err)
}

func (d *Dir) changed(name string) error {
	return fmt.Errorf("%s was changed meanwhile: nothing was written; run this again", filepath.Join(d.name, name))
}

// of makes an error about the temporary name one about the file that was asked for.
func (d *Dir) of(name, temp string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok && filepath.Base(p.Path) == temp {
		return about(filepath.Join(d.name, name), p)
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok && filepath.Base(l.Old) == temp {
		return pathError(l.Op, filepath.Join(d.name, name), l.Err)
	}
	return err
}

// Replace gives a regular file new content in place of old, as WriteFile does, and leaves it its
// owner, mode and access control list. A link is refused, and so is a file that does not hold old: what was read by
// this name before was another file then.
func (d *Dir) Replace(name string, old, data []byte) error {
	now, err := d.OpenRegular(name)
	if errors.Is(err, ErrNotRegular) {
		return fmt.Errorf("%w: name the file itself", err)
	}
	if err != nil {
		return err
	}
	defer now.Close() //nolint:errcheck // only read
	info, err := now.Stat()
	if err == nil && !d.holds(name, now, old) {
		err = d.changed(name)
	}
	if err != nil {
		return err
	}
	return d.put(name, data, func(f *os.File) error {
		uid, gid := int(Owner(info)), int(Group(info))
		if uid != os.Geteuid() || gid != os.Getegid() {
			if err := f.Chown(uid, gid); err != nil {
				return err
			}
		}
		return copyMode(now, f, info.Mode())
	}, func(temp, name string) error { return d.exchange(temp, name, now, old) })
}

// acl is the name of a file's access control list (acl(5)). With one, the bits of the mode's group are the most that
// any of its entries gives, and not what the group may do.
const acl = "system.posix_acl_access"

// copyMode gives a file the mode of another, and its access control list, or none where that has none: a new file may
// have one by default of its directory. In between it gives others nothing.
func copyMode(from, to *os.File, mode fs.FileMode) error {
	list := make([]byte, 64<<10) // as long as an attribute can be
	n, err := unix.Fgetxattr(int(from.Fd()), acl, list)
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.EOPNOTSUPP):
		err = unix.Fremovexattr(int(to.Fd()), acl)
		if err == nil || errors.Is(err, unix.ENODATA) || errors.Is(err, unix.EOPNOTSUPP) {
			return to.Chmod(mode)
		}
	case err == nil:
		err = errors.Join(to.Chmod(mode&^0o077), unix.Fsetxattr(int(to.Fd()), acl, list[:n], 0))
	}
	if err != nil {
		return fmt.Errorf("the access control list of %s cannot be kept: %w", from.Name(), err)
	}
	return nil
}

// SyncDir makes what was created, renamed or removed in a directory survive a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
