package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The test of a first touch: so many pairs in so many lanes; it ends after touchTime with touchLeast
// of them, and gives up after touchMost.
const (
	touchPairs = 200
	touchLanes = 4
	touchTime  = 12 * time.Second
	touchLeast = 60
	touchMost  = time.Minute
	// touchFirst is where in its piece the first read of a pair may lie, touchGap how far behind it
	// the second one is at least, in units of touchSize.
	touchFirst = 56
	touchGap   = 16
	// touchFar is 1 ms: a first read that is later by less is none.
	touchFar = 1e6
)

// SkipFirstTouch leaves out the test of volumes that were made from a snapshot.
const SkipFirstTouch = "skip"

// Touch finds out which share of a device is not loaded from its snapshot, of some of its pieces or,
// where of is nil, of all: pairs of reads, each in a piece of its own, of which only the first can
// meet a piece that is not loaded. It loads the 200 pieces that it reads.
func Touch(ctx context.Context, device string, of []int64) (diagnose.Touch, error) {
	d, err := openDirect("/dev/" + device)
	if err != nil {
		return diagnose.Touch{}, err
	}
	defer d.close()
	whole := pieces(d.size / pieceSize)
	if of != nil {
		whole = slices.DeleteFunc(slices.Clone(of), func(p int64) bool { return p < 0 || p >= d.size/pieceSize })
	}
	t, err := d.touch(ctx, whole)
	t.Device = device
	return t, err
}

// pieces are so many pieces, by their numbers.
func pieces(n int64) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i)
	}
	return all
}

// touch reads pairs in some of the pieces, drawn without replacement.
func (d *direct) touch(ctx context.Context, all []int64) (diagnose.Touch, error) {
	t := diagnose.Touch{Pieces: int64(len(all)), Size: units.Bytes(len(all)) * pieceSize}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	drawn := all[:min(len(all), touchPairs)]
	began := time.Now()
	var mu sync.Mutex // guards what follows
	var first, again []float64
	var failed error
	next := 0
	take := func() (int64, bool) {
		mu.Lock()
		defer mu.Unlock()
		passed := time.Since(began)
		if failed != nil || next >= len(drawn) || ctx.Err() != nil || passed > touchMost ||
			passed > touchTime && len(first) >= touchLeast {
			return 0, false
		}
		next++
		return drawn[next-1], true
	}
	lane := func() error {
		buf, err := aligned(touchSize)
		if err != nil {
			return err
		}
		for {
			piece, ok := take()
			if !ok {
				return nil
			}
			x := rand.Int64N(touchFirst)
			y := x + touchGap + rand.Int64N(touchFirst-x)
			a, err := d.read(buf[:touchSize], piece*pieceSize+x*touchSize)
			if err != nil {
				return err
			}
			b, err := d.read(buf[:touchSize], piece*pieceSize+y*touchSize)
			if err != nil {
				return err
			}
			mu.Lock()
			first, again = append(first, float64(a)), append(again, float64(b))
			mu.Unlock()
		}
	}
	var lanes sync.WaitGroup
	for range touchLanes {
		lanes.Go(func() {
			if err := lane(); err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		})
	}
	lanes.Wait()
	t.Took = time.Since(began)
	failed = cmp.Or(failed, ctx.Err())
	if failed == nil && len(first) < min(touchLeast, len(drawn)) {
		failed = fmt.Errorf("%s: only %d pairs of reads in %s: it is too slow to tell", d.name, len(first),
			text.Duration(touchMost))
	}
	t.Paired = stats.PairedShare(first, again, touchFar)
	if !t.Tells() && !t.Unsure {
		t.Claimed = false // less than 30 MiB
	}
	return t, failed
}

// touches tests the volumes of a run that were made from a snapshot, and all of them with --probe. Of
// files that an earlier run wrote their own places are tested, too: they may have come with the snapshot.
func (r *runner) touches(ctx context.Context) ([]diagnose.Touch, error) {
	if r.plan.Settings.SkipTouch {
		return nil, nil
	}
	var all []diagnose.Touch
	add := func(of string, t diagnose.Touch, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.emit(Noted{fmt.Sprintf("whether %s is loaded from a snapshot is not known: %v", of, err)})
			return nil
		case t.Claimed:
			r.emit(Noted{t.Sentence()})
		}
		all = append(all, t)
		return nil
	}
	for _, p := range r.places {
		disk, start := r.keptOn(p)
		if disk == nil {
			continue
		}
		t, err := touchFiles(ctx, filepath.Dir(p.File()), disk, start)
		if err := add(t.File, t, err); err != nil {
			return all, err
		}
	}
	for v := range r.plan.Topology.Volumes() {
		if !r.mayLoad(v) {
			continue
		}
		t, err := Touch(ctx, v.Device, nil)
		if err := add(v.Device, t, err); err != nil {
			return all, err
		}
	}
	return all, nil
}

// mayLoad is whether a volume was made from a snapshot, or is to be probed.
func (r *runner) mayLoad(v *topology.Volume) bool {
	return v.Device != "" && !v.Missing && (v.Snapshot != "" || r.plan.Settings.Probe != 0)
}

// keptOn is the one volume on which the files of a place lie that an earlier run wrote, and where the
// filesystem's device begins on it; nil where this run writes them, or where they lie on several.
func (r *runner) keptOn(p *place) (disk *block.Device, start int64) {
	tree := r.plan.Topology.Tree
	if tree == nil || !p.Prefilled() {
		return nil, 0
	}
	for _, t := range r.plan.Topology.Targets {
		if t.Role != p.Role || t.Device == "" {
			continue
		}
		disk, start, leaf := tree.Disk(t.Device)
		for v := range r.plan.Topology.Volumes() {
			if leaf && v.Device == disk.Name && r.mayLoad(v) {
				return disk, start
			}
		}
	}
	return nil, 0
}

// touchFiles tests the pieces of a volume that the files of a directory lie on.
func touchFiles(ctx context.Context, dir string, disk *block.Device, start int64) (diagnose.Touch, error) {
	t := diagnose.Touch{Device: disk.Name, File: dir}
	extents, _, err := block.Extents(dir)
	if err != nil {
		return t, err
	}
	t, err = Touch(ctx, disk.Name, TouchPieces(extents, start, int64(disk.Size)))
	t.File = dir
	return t, err
}

// pieceSize is the part of a volume that one read of any of its bytes loads from its snapshot: EBS
// snapshots are kept in blocks of 512 KiB (EBS direct APIs, GetSnapshotBlock).
const pieceSize = 512 << 10

// touchSize is a read that touches a piece.
const touchSize = 4 << 10

// direct is a device or file that is read past the page cache, and never written to.
type direct struct {
	fd   int
	name string
	size int64
}

// openDirect opens a device or regular file for reading with O_DIRECT.
func openDirect(name string) (*direct, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	d := &direct{fd: fd, name: name}
	var st unix.Stat_t
	err = unix.Fstat(fd, &st)
	if kind := st.Mode & unix.S_IFMT; err == nil && kind != unix.S_IFBLK && kind != unix.S_IFREG {
		err = errors.New("it is neither a block device nor a regular file")
	}
	if err == nil {
		d.size, err = unix.Seek(fd, 0, unix.SEEK_END)
	}
	if err != nil {
		d.close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

func (d *direct) close() { _ = unix.Close(d.fd) } // only read

// read reads at an offset and says how long it took.
func (d *direct) read(buf []byte, at int64) (time.Duration, error) {
	from := time.Now()
	for {
		n, err := unix.Pread(d.fd, buf, at)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && n == 0 {
			err = errors.New("it ends before that place")
		}
		if err != nil {
			return 0, fmt.Errorf("%s: reading at %d: %w", d.name, at, err)
		}
		return time.Since(from), nil
	}
}

// aligned is memory that O_DIRECT takes: whole pages.
func aligned(size int) ([]byte, error) {
	size = (size + os.Getpagesize() - 1) / os.Getpagesize() * os.Getpagesize()
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}
