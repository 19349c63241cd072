package sys

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// WriteFile replaces a file so that a power cut leaves the old or the new content, never a part: a
// temporary name in the same directory, fsync, rename, fsync of the directory. What is there must
// be a regular file: a link is neither followed nor replaced, and a device stays. The directory is
// opened as OpenPath does.
func WriteFile(name string, data []byte, perm fs.FileMode) error {
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
	return d.put(name, data, func(f *os.File) error { return f.Chmod(perm) })
}

// put writes a new file and renames it over name.
func (d *Dir) put(name string, data []byte, finish func(*os.File) error) (err error) {
	temp := writeName() // by which EndWrites knows it when this is killed
	f, err := d.Create(temp, 0o600)
	if err != nil {
		return d.of(name, temp, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Remove(temp))
		}
	}()
	_, err = f.Write(data)
	err = d.of(name, temp, err)
	for _, failed := range []error{finish(f), f.Sync(), f.Close()} {
		err = errors.Join(err, d.of(name, temp, failed))
	}
	if err != nil {
		return err
	}
	if err = d.Rename(temp, name); err != nil {
		return d.of(name, temp, err)
	}
	return d.file.Sync()
}

// of makes an error about the temporary name one about the file that was asked for.
func (d *Dir) of(name, temp string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok && filepath.Base(p.Path) == temp {
		return &fs.PathError{Op: p.Op, Path: filepath.Join(d.name, name), Err: p.Err}
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok && filepath.Base(l.Old) == temp {
		return &fs.PathError{Op: l.Op, Path: filepath.Join(d.name, name), Err: l.Err}
	}
	return err
}

// Replace gives a regular file new content in place of old, as WriteFile does, and leaves it its
// owner and mode. A link is refused, and so is a file that does not hold old: what was read by
// this name before was another file then.
func (d *Dir) Replace(name string, old, data []byte) error {
	shown := filepath.Join(d.name, name)
	now, err := d.OpenRegular(name)
	if errors.Is(err, ErrNotRegular) {
		return fmt.Errorf("%w: name the file itself", err)
	}
	if err != nil {
		return err
	}
	defer now.Close() //nolint:errcheck // only read
	info, err := now.Stat()
	if err != nil {
		return err
	}
	if held, err := ReadAll(shown, now, int64(len(old))); err != nil || !bytes.Equal(held, old) {
		return fmt.Errorf("%s was changed meanwhile: nothing was written; run this again", shown)
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	return d.put(name, data, func(f *os.File) error {
		if int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
			if err := f.Chown(int(st.Uid), int(st.Gid)); err != nil {
				return err
			}
		}
		return f.Chmod(info.Mode().Perm())
	})
}

// SyncDir makes what was created, renamed or removed in a directory survive a power cut.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
