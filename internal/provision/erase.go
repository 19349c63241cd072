package provision

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/text"
)

// tableSize holds a GPT of 128 entries, its header and the protective MBR, in sectors of up to 4
// KiB.
const tableSize = 24 << 10

// zero zeroes both ends of a member, where they carry what apply has put there, its mark last. What
// came onto it since is not apply's to take: then the member stays as it is.
func (s *state) zero(ref string) error {
	d, err := s.device(ref)
	if whole, part := strings.CutSuffix(ref, ":1"); part && errors.Is(err, errGone) {
		if _, err := s.device(whole); err == nil {
			return nil // the disk is there, and its partition is gone already
		}
	}
	if err != nil {
		return err
	}
	f, err := s.exclusive(s.tree, d, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // closed below unless something failed
	size, id, guid := int64(d.Size), records.Identity(d), s.w.TableGUID(ref)
	at, err := records.FirstByte(context.Background(), f, size, false)
	if err != nil || at < 0 {
		return err
	}
	head, err := records.ReadHead(f, size)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	mark, ours := s.w.Mark(ref, head)
	if !ours && records.Zeros(head) && guid != "" {
		mark, ours, err = records.BackupTable(f, size, guid)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	what := fmt.Sprintf("byte %d is not zero, and nothing there is plimsoll's", at)
	if ours {
		found, err := s.others(context.Background(), ref, d, mark)
		if err != nil {
			return err
		}
		if ours = len(found) == 0; !ours {
			what = "it carries " + joined(found) + " too"
		}
	}
	if !ours && s.w.Gives(id) {
		closed := f.Close()
		return errors.Join(closed, s.erase(context.Background(), ref))
	}
	if !ours {
		return fmt.Errorf("%s (serial %s) is not as plimsoll left it: %s; it stays as it is; if what is on it may be "+
			"lost: %s", d.Path, id, what, text.Destroying(d.Path, id))
	}
	if guid != "" {
		// The partition's own step has left it blank. If it is not, somebody has used it since.
		for _, part := range []records.Span{
			{At: tableSize, N: int64(records.Edge) - tableSize},
			{At: size - int64(records.Edge), N: int64(records.Edge) - tableSize},
		} {
			if at, err := records.NotZero(f, part); err != nil || at >= 0 {
				return cmp.Or(err, fmt.Errorf("%s (serial %s) is not as plimsoll left it: byte %d, within its "+
					"partition, is not zero; it stays as it is", d.Path, id, at))
			}
		}
	}
	for _, part := range records.Without(records.Edges(size), mark) {
		if err := zeroSpan(f, part); err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
	}
	// What is left is recorded before the mark goes: by a kill between the two it would be somebody's data.
	if err := errors.Join(f.Sync(), s.release(ref, hollow{f, mark}, size), zeroSpan(f, mark), f.Sync()); err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	s.reread(f, d)
	return f.Close()
}

// hollow is a device on which a span is zero already.
type hollow struct {
	io.ReaderAt
	zero records.Span
}

func (h hollow) ReadAt(p []byte, at int64) (int, error) {
	n, err := h.ReaderAt.ReadAt(p, at)
	from, to := max(h.zero.At-at, 0), min(h.zero.At+h.zero.N-at, int64(n))
	if from < to {
		clear(p[from:to])
	}
	return n, err
}

func zeroSpan(f *os.File, part records.Span) error {
	if part.N <= 0 {
		return nil
	}
	_, err := f.WriteAt(make([]byte, part.N), part.At)
	return err
}

// reread lets the kernel forget partitions that are gone.
func (s *state) reread(f *os.File, d *block.Device) {
	if len(d.Partitions) > 0 {
		_ = unix.IoctlSetInt(int(f.Fd()), unix.BLKRRPART, 0) // what stays is seen by the next look
	}
}

// erase takes away what --destroy has given up. The device is opened exclusively first, is looked
// at again, and is wiped through that handle, which keeps every other user away until the last byte
// is on it.
func (s *state) erase(ctx context.Context, ref string) error {
	d, err := s.device(ref)
	if err != nil {
		return err
	}
	f, err := s.exclusive(s.tree, d, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // closed below unless something failed
	s.tree.ReadUsers(os.Getpid())
	if why := s.tree.Using(d); len(why) > 0 {
		return fmt.Errorf("--destroy %s: %s; nothing on it was touched", d.Path, strings.Join(why, "; "))
	}
	size := int64(d.Size)
	spans := records.Ends(size, 2*int64(records.Edge)) // the ends of a partition that is made then are among them
	for _, name := range d.Partitions {
		if p := s.tree.Devices[name]; p != nil {
			for _, part := range records.Edges(int64(p.Size)) {
				spans = append(spans, records.Span{At: int64(p.Start) + part.At, N: part.N})
			}
		}
	}
	for range 16 { // one signature can hide another
		for _, part := range spans {
			part.N = min(part.N, size-part.At)
			if err := zeroSpan(f, part); err != nil {
				return fmt.Errorf("%s: %w", d.Path, err)
			}
		}
		if err := f.Sync(); err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		found, err := s.signatures(ctx, s.node(d))
		if err != nil {
			return err
		}
		if len(found) == 0 {
			s.reread(f, d)
			return f.Close()
		}
		spans = spans[:0]
		for _, sig := range found {
			spans = append(spans, records.Span{At: sig.Offset / 4096 * 4096, N: 8192})
		}
	}
	return fmt.Errorf("%s: its signatures come back as they are erased: something else writes to it", d.Path)
}
