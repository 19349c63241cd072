package provision

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// lock keeps a second apply or teardown away. It makes the journal's directory.
func (s *Site) lock() (release func(), err error) {
	dir, err := sys.MakePath(s.Journal, 0o755)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w; run as root", err)
		}
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // the lock has a handle of its own
	if err := s.trusted(); err != nil {
		return nil, err
	}
	release, err = dir.LockSelf()
	if held, ok := errors.AsType[*sys.Locked](err); ok && held.ByOther() { // whoever may read the directory can
		return nil, fmt.Errorf("%w: wait until that is done, or end it", err)
	}
	if errors.Is(err, sys.ErrLocked) {
		return nil, fmt.Errorf("%s: another plimsoll is applying or tearing down; wait until it has finished", s.Journal)
	}
	if err == nil {
		sweep(dir)
	}
	return release, err
}

// trusted refuses a place for journals in which others can put something: the commands in a journal
// are run, and what released.json names counts as blank.
func (s *Site) trusted() error {
	for _, name := range []string{filepath.Dir(s.Journal), s.Journal} {
		dir, err := sys.OpenPath(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(dir.CheckTrusted(), dir.Close()); err != nil {
			return err
		}
	}
	return nil
}

// readTrusted reads a file of plimsoll's own.
func readTrusted(name string) ([]byte, error) {
	dir, err := sys.OpenPath(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	data, err := dir.ReadTrusted(filepath.Base(name), sys.ConfigLimit)
	return data, errors.Join(err, dir.Close())
}

// save writes an array's journal so that it survives a power cut from here on.
func (s *Site) save(w *records.Work) error {
	w.Schema = records.Schema
	data, err := text.JSON(w)
	if err != nil {
		return err
	}
	return sys.WriteFile(filepath.Join(s.Journal, w.Array+".json"), data, 0o600)
}

// Journals are what plimsoll has made on this machine, or begun to, oldest first, and the journals
// that make no sense.
func (s *Site) Journals() (all []*records.Work, broken []*records.BrokenJournal, err error) {
	if err := s.trusted(); err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(s.Journal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := filepath.Join(s.Journal, e.Name())
		data, err := readTrusted(name)
		if errors.Is(err, fs.ErrPermission) {
			return nil, nil, fmt.Errorf("%w; run as root", err)
		}
		array := strings.TrimSuffix(e.Name(), ".json")
		w := &records.Work{}
		if err == nil {
			w, err = records.ParseJournal(data)
		}
		if err == nil && w.Array != array {
			err = fmt.Errorf("it is of array %s", w.Array)
		}
		if err != nil {
			broken = append(broken, &records.BrokenJournal{Array: array, File: name, Err: err})
			continue
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b *records.Work) int { return a.Started.Compare(b.Started) })
	return all, broken, nil
}

// forget removes an array's journal, and the directories when no other is there.
func (s *Site) forget(w *records.Work) error {
	if err := gone(filepath.Join(s.Journal, w.Array+".json")); err != nil {
		return err
	}
	return sys.SyncDir(s.Journal)
}

// leaveNoTrace removes the journal's directories as far as they are empty.
func (s *Site) leaveNoTrace() {
	if err := os.Remove(s.Journal); err == nil || errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(filepath.Dir(s.Journal)) // plimsoll's own; another part of it may still use it
	}
}

// releasedFile is beside the journals, and outlives them.
func (s *Site) releasedFile() string { return filepath.Join(filepath.Dir(s.Journal), "released.json") }

// allReleased are the records by member; none where they cannot be read: then remains count as
// somebody's data.
func (s *Site) allReleased() map[string]records.Released {
	all := map[string]records.Released{}
	data, err := readTrusted(s.releasedFile())
	if err != nil || s.trusted() != nil || json.Unmarshal(data, &all) != nil {
		return map[string]records.Released{}
	}
	return all
}

// release records what is left on a member.
func (s *state) release(ref string, f io.ReaderAt, size int64) error {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails (crypto/rand)
	one := records.Released{
		Array: s.w.Array,
		At:    s.Now().UTC().Truncate(time.Second),
		Size:  units.Bytes(size),
		Seed:  binary.LittleEndian.Uint64(seed[:]),
	}
	var err error
	if one.Sum, err = records.Digest(f, size, one.Seed); err != nil {
		return err
	}
	all := s.allReleased()
	all[strings.TrimPrefix(ref, "@")] = one
	return s.saveReleased(all)
}

func (s *Site) saveReleased(all map[string]records.Released) error {
	if len(all) == 0 {
		return gone(s.releasedFile())
	}
	data, err := text.JSON(all)
	if err != nil {
		return err
	}
	return sys.WriteFile(s.releasedFile(), data, 0o600)
}

// asReleased says whether a member, the ends of which are zero, holds just what plimsoll left on
// it.
func (s *Site) asReleased(ref string, f io.ReaderAt, size int64) bool {
	one, ok := s.allReleased()[strings.TrimPrefix(ref, "@")]
	if !ok || int64(one.Size) != size {
		return false
	}
	sum, err := records.Digest(f, size, one.Seed)
	return err == nil && sum == one.Sum
}

// taken drops the records of an array's members: they are in use again.
func (s *Site) taken(w *records.Work) error {
	all := s.allReleased()
	before := len(all)
	maps.DeleteFunc(all, func(ref string, _ records.Released) bool {
		serial, _, _ := strings.Cut(ref, ":")
		return w.Has(serial)
	})
	if len(all) == before {
		return nil
	}
	return s.saveReleased(all)
}
