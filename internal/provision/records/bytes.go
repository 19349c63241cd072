package records

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"plimsoll/internal/units"
)

const (
	// Edge is how much at each end of a volume must be zero: partition tables and nearly all
	// superblocks lie there, and what begins a partition at 1 MiB.
	Edge = 2 * units.MiB
	// samples of sampleSize are read between the ends, one at a random place in each of as many
	// equal parts of the volume.
	//
	// Old data in one piece of at least two parts' length (1.5 GiB on 3 TiB) is always found. Data
	// that is scattered over a share x of the volume is missed with a probability of (1-x)^4096: 10
	// GiB on 3 TiB, 1.6 in a million; 1 GiB, 26 %.
	samples    = 4096
	sampleSize = 4 * units.KiB
	// readers are how many samples are in flight: 16 hide the latency of a network volume.
	readers = 16
)

// landmarks are where copies of superblocks lie when the first one is gone: ext4's in groups 1, 3,
// 5, 7 and 9 for blocks of 1 and 4 KiB (ext4 disk layout, sparse_super), btrfs's at 64 MiB and 256
// GiB (btrfs on-disk format), and, as shares of the volume, XFS's allocation groups, of which
// mkfs.xfs makes four on a drive of less than 4 TiB (xfsprogs mkfs, calc_default_ag_geometry).
func landmarks(size int64) []int64 {
	const group, little = 128 << 20, 8192 << 10
	all := []int64{64 << 20, 256 << 30, size / 4, size / 2, size / 4 * 3}
	for _, n := range []int64{1, 3, 5, 7, 9} {
		all = append(all, n*group, n*little+1024)
	}
	for i := range all {
		all[i] = all[i] / int64(sampleSize) * int64(sampleSize)
	}
	return slices.DeleteFunc(all, func(at int64) bool { return at+int64(sampleSize) > size })
}

// FirstByte is where the first byte that is not zero was found, -1 when none was: in the first and
// last 2 MiB, and, between them, at landmarks and at samples.
func FirstByte(ctx context.Context, r io.ReaderAt, size int64, between bool) (int64, error) {
	if size <= 0 {
		return -1, errors.New("its size is not known")
	}
	for _, part := range Edges(size) {
		if at, err := NotZero(r, part); at >= 0 || err != nil {
			return at, err
		}
	}
	if !between {
		return -1, nil
	}
	return firstOf(ctx, r, places(size, rand.Uint64()))
}

// small is up to where a volume is read whole: that is no more work than the samples would be.
const small = 256 * units.MiB

// places are where samples are read: at landmarks, and at a random place in each part of the
// volume. A seed gives the same ones again. A small volume is read whole.
func places(size int64, seed uint64) []Span {
	if size <= int64(small) {
		var whole []Span
		for at := int64(0); at < size; at += int64(units.MiB) {
			whole = append(whole, Span{at, min(int64(units.MiB), size-at)})
		}
		return whole
	}
	random := rand.New(rand.NewPCG(seed, seed))
	all := landmarks(size)
	stride := max(size/samples, int64(sampleSize))
	for from := int64(0); from+int64(sampleSize) <= size; from += stride {
		at := from + random.Int64N(stride)
		all = append(all, min(at, size-int64(sampleSize))/int64(sampleSize)*int64(sampleSize))
	}
	slices.Sort(all) // a drive with heads goes over it once
	var spans []Span
	for _, at := range slices.Compact(all) {
		spans = append(spans, Span{at, int64(sampleSize)})
	}
	return spans
}

// firstOf reads samples, several at a time, until one is not zero.
func firstOf(ctx context.Context, r io.ReaderAt, places []Span) (int64, error) {
	found := slices.Repeat([]int64{-1}, len(places))
	err := severally(len(places), func(i int) (last bool, err error) {
		found[i], err = NotZero(r, places[i])
		return found[i] >= 0, cmp.Or(err, ctx.Err())
	})
	found = slices.DeleteFunc(found, func(at int64) bool { return at < 0 })
	if err != nil || len(found) == 0 {
		return -1, err
	}
	return slices.Min(found), nil
}

// severally calls do for each number below n, in their order and several at a time, until one is the last or fails.
func severally(n int, do func(i int) (last bool, err error)) error {
	var next atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	errs := make([]error, readers)
	for r := range readers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !stop.Load(); i = int(next.Add(1)) - 1 {
				var last bool
				if last, errs[r] = do(i); last || errs[r] != nil {
					stop.Store(true)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Span is a part of a device.
type Span struct{ At, N int64 }

// Edges are the two ends of a device, one where they meet.
func Edges(size int64) []Span { return Ends(size, int64(Edge)) }

// Ends are the first and the last n bytes of a device of a size.
func Ends(size, n int64) []Span {
	if size <= 2*n {
		return []Span{{0, size}}
	}
	return []Span{{0, n}, {size - n, n}}
}

// NotZero is where the first byte of a span that is not zero lies, -1 when all are.
func NotZero(r io.ReaderAt, part Span) (int64, error) {
	buf := make([]byte, part.N)
	n, err := r.ReadAt(buf, part.At)
	if err != nil && !errors.Is(err, io.EOF) {
		return -1, fmt.Errorf("reading byte %d: %w", part.At, err)
	}
	if int64(n) < part.N {
		return -1, fmt.Errorf("it ends at byte %d, short of its size", part.At+int64(n))
	}
	for from := 0; from < len(buf); from += len(nothing) {
		piece := buf[from:min(from+len(nothing), len(buf))]
		if bytes.Equal(piece, nothing[:len(piece)]) {
			continue
		}
		for i, b := range piece {
			if b != 0 {
				return part.At + int64(from+i), nil
			}
		}
	}
	return -1, nil
}

// nothing is compared with, many bytes at a time.
var nothing [4096]byte

// Without are spans less a hole that lies in one of them.
func Without(all []Span, hole Span) []Span {
	var rest []Span
	for _, s := range all {
		if hole.At < s.At || hole.At >= s.At+s.N {
			rest = append(rest, s)
			continue
		}
		rest = append(rest, Span{s.At, hole.At - s.At}, Span{hole.At + hole.N, s.At + s.N - hole.At - hole.N})
	}
	return rest
}

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
