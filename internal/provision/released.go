package provision

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// released is what a member held between its ends when plimsoll had zeroed them: remains of an
// array that was taken down, which nobody else has a claim to as long as they are the same. It is a
// digest of as many samples as a check for blankness reads, at places that the seed gives.
type released struct {
	Array string      `json:"array"`
	At    time.Time   `json:"at"`
	Size  units.Bytes `json:"size"`
	Seed  uint64      `json:"seed"`
	Sum   string      `json:"sum"` // SHA-256
}

// releasedFile is beside the journals, and outlives them.
func (s *Site) releasedFile() string { return filepath.Join(filepath.Dir(s.Journal), "released.json") }

// allReleased are the records by member; none where they cannot be read: then remains count as
// somebody's data.
func (s *Site) allReleased() map[string]released {
	all := map[string]released{}
	data, err := readTrusted(s.releasedFile())
	if err != nil || s.trusted() != nil || json.Unmarshal(data, &all) != nil {
		return map[string]released{}
	}
	return all
}

// release records what is left on a member.
func (s *state) release(ref string, f io.ReaderAt, size int64) error {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails (crypto/rand)
	one := released{
		Array: s.w.Array,
		At:    s.Now().UTC().Truncate(time.Second),
		Size:  units.Bytes(size),
		Seed:  binary.LittleEndian.Uint64(seed[:]),
	}
	var err error
	if one.Sum, err = digest(f, size, one.Seed); err != nil {
		return err
	}
	all := s.allReleased()
	all[strings.TrimPrefix(ref, "@")] = one
	return s.saveReleased(all)
}

func (s *Site) saveReleased(all map[string]released) error {
	if len(all) == 0 {
		err := os.Remove(s.releasedFile())
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return err
	}
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return sys.WriteFile(s.releasedFile(), append(text.HarmlessJSON(data), '\n'), 0o600)
}

// asReleased says whether a member, the ends of which are zero, holds just what plimsoll left on
// it.
func (s *Site) asReleased(ref string, f io.ReaderAt, size int64) bool {
	one, ok := s.allReleased()[strings.TrimPrefix(ref, "@")]
	if !ok || int64(one.Size) != size {
		return false
	}
	sum, err := digest(f, size, one.Seed)
	return err == nil && sum == one.Sum
}

// taken drops the records of an array's members: they are in use again.
func (s *Site) taken(w *Work) error {
	all := s.allReleased()
	before := len(all)
	maps.DeleteFunc(all, func(ref string, _ released) bool {
		serial, _, _ := strings.Cut(ref, ":")
		for _, m := range w.Members {
			if m.Serial == serial {
				return true
			}
		}
		return false
	})
	if len(all) == before {
		return nil
	}
	return s.saveReleased(all)
}

// digest is over samples at the places that a seed gives.
func digest(f io.ReaderAt, size int64, seed uint64) (string, error) {
	all := places(size, seed)
	sums := make([][sha256.Size]byte, len(all))
	var next atomic.Int64
	errs := make([]error, readers)
	var wg sync.WaitGroup
	for r := range readers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(all); i = int(next.Add(1)) - 1 {
				buf := make([]byte, all[i].n)
				n, err := f.ReadAt(buf, all[i].at)
				if err != nil && !errors.Is(err, io.EOF) {
					errs[r] = fmt.Errorf("reading byte %d: %w", all[i].at, err)
					return
				}
				sums[i] = sha256.Sum256(buf[:n])
			}
		})
	}
	wg.Wait()
	whole := sha256.New()
	for _, sum := range sums {
		whole.Write(sum[:])
	}
	return hex.EncodeToString(whole.Sum(nil)), errors.Join(errs...)
}
