package provision

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

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
	return s.replace(l.File, old, now, exists)
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
		err = s.replace(l.File, old, rest, true)
	}
	if err != nil {
		return err
	}
	return gone(filepath.Join(s.Journal, l.Name+"-"+filepath.Base(l.File)+".before"))
}

// gone removes a file, which need not be there.
func gone(name string) error {
	err := os.Remove(name)
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

// place is the directory of a file of /etc, which may be a link to where it really is, and its name there.
func (s *Site) place(file string) (*sys.Dir, string, error) {
	name := s.at(file)
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	dir, err := sys.OpenPath(filepath.Dir(name))
	return dir, filepath.Base(name), err
}

// replace writes a file of /etc; one that is there keeps its mode and owner, and stays as it is where it was
// changed since it was read.
func (s *Site) replace(file string, old, data []byte, exists bool) error {
	dir, name, err := s.place(file)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a handle
	if exists {
		return dir.Replace(name, old, data)
	}
	return dir.WriteFile(name, data, 0o644)
}

// sweep removes what a kill or a power cut within sys.WriteFile has left in a directory. It does no harm where
// it cannot be removed.
func sweep(dir *sys.Dir) { _, _, _ = dir.EndWrites(false) }
