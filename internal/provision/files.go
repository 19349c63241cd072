package provision

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
)

// add edits the file. Where it was another before, that is kept beside the journal.
func (s *Site) add(l *records.Lines) error {
	old, exists, err := s.read(l.File)
	if err != nil {
		return err
	}
	now, err := l.Added(old, exists)
	if err != nil || bytes.Equal(now, old) {
		return err
	}
	if exists {
		backup := filepath.Join(s.Journal, l.Name+"-"+filepath.Base(l.File)+".before")
		if err := sys.WriteFile(backup, old, 0o600); err != nil {
			return err
		}
	}
	return s.replace(l.File, now)
}

// remove takes the lines out again.
func (s *Site) remove(l *records.Lines) error {
	old, exists, err := s.read(l.File)
	if err != nil {
		return err
	}
	rest, whole, err := l.Cut(old)
	name := s.at(l.File)
	switch {
	case err != nil:
		return err
	case exists && whole:
		err = errors.Join(os.Remove(name), sys.SyncDir(filepath.Dir(name)))
	case exists && !bytes.Equal(rest, old):
		err = s.replace(l.File, rest)
	}
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(s.Journal, l.Name+"-"+filepath.Base(l.File)+".before"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (s *Site) read(file string) (data []byte, exists bool, err error) {
	data, err = sys.ReadFile(s.at(file), sys.ConfigLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// replace writes a file of /etc, which may be a link to where it really is, and keeps its mode and
// owner.
func (s *Site) replace(file string, data []byte) error {
	name := s.at(file)
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	perm := fs.FileMode(0o644)
	info, err := os.Stat(name)
	if err == nil {
		perm = info.Mode().Perm()
	}
	if dir, err := sys.OpenPath(filepath.Dir(name)); err == nil {
		sweep(dir)
		_ = dir.Close() // only a handle
	}
	if err := sys.WriteFile(name, data, perm); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if info == nil {
		return nil
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if err := os.Chown(name, int(st.Uid), int(st.Gid)); err != nil && os.Getuid() == 0 {
			return err
		}
	}
	return nil
}

// sweep removes what a kill or a power cut within sys.WriteFile has left in a directory. It does no harm where
// it cannot be removed.
func sweep(dir *sys.Dir) { _, _, _ = dir.EndWrites(false) }
