package records

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"plimsoll/internal/units"
)

// Released is what a member held between its ends when plimsoll had zeroed them: remains of an
// array that was taken down, which nobody else has a claim to as long as they are the same. It is a
// digest of as many samples as a check for blankness reads, at places that the seed gives.
type Released struct {
	Array string      `json:"array"`
	At    time.Time   `json:"at"`
	Size  units.Bytes `json:"size"`
	Seed  uint64      `json:"seed"`
	Sum   string      `json:"sum"` // SHA-256
}

// Digest is over samples at the places that a seed gives.
func Digest(f io.ReaderAt, size int64, seed uint64) (string, error) {
	all := places(size, seed)
	sums := make([][sha256.Size]byte, len(all))
	err := severally(len(all), func(i int) (bool, error) {
		buf := make([]byte, all[i].N)
		n, err := f.ReadAt(buf, all[i].At)
		if err != nil && !errors.Is(err, io.EOF) {
			return true, fmt.Errorf("reading byte %d: %w", all[i].At, err)
		}
		sums[i] = sha256.Sum256(buf[:n])
		return false, nil
	})
	whole := sha256.New()
	for _, sum := range sums {
		whole.Write(sum[:])
	}
	return hex.EncodeToString(whole.Sum(nil)), err
}
