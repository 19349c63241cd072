package provision

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

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
		err := os.Remove(s.releasedFile())
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
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
