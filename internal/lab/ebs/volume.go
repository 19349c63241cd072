package ebs

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/units"
)

// Behaviour is how a volume answers. The zero value is as fast as the host and never fails.
type Behaviour struct {
	Limits // of reads and writes together
	// OfReads and OfWrites limit one direction besides, as drives' data sheets have it.
	OfReads  Limits
	OfWrites Limits
	// IOSize is how many bytes count as one I/O (256 KiB for EBS SSD types, 1 MiB for HDD); 0
	// counts any size as one.
	IOSize units.Bytes
	// Merge is up to which size sequential requests are counted as one I/O; 0 merges nothing.
	Merge units.Bytes

	ReadLatency  time.Duration
	WriteLatency time.Duration
	FlushLatency time.Duration
	// Jitter is the sigma of a lognormal factor, of mean 1, on reads and writes.
	Jitter float64
	// FirstTouch is added to the first access to each 512 KiB, as on a volume restored from a
	// snapshot.
	FirstTouch time.Duration
	// Unwritten, when not 0, is all that a read of never-written or discarded blocks takes: no
	// limit counts it.
	Unwritten time.Duration

	// Volatile keeps writes in a cache that a power cut loses unless they were flushed or FUA.
	Volatile bool
	// Stall holds every answer back until it is lifted.
	Stall bool
	// ErrorRate is the share of reads and writes that fail with EIO.
	ErrorRate float64
}

// Stats counts what reached a volume since it was added: the truth that measurements inside the
// guest are held to.
type Stats struct {
	Reads, Writes, Flushes, Trims int64
	ReadBytes, WriteBytes         units.Bytes
	FUA                           int64 // writes among Writes that were to go round the cache
	Merged                        int64 // reads and writes that cost no I/O
	UnwrittenReads                int64 // reads that touched no written block, when Behaviour.Unwritten is set
	FirstTouches                  int64 // accesses that paid Behaviour.FirstTouch
	Errors                        int64 // answers that were errors, injected ones included
	InFlight                      int64
	Volatile                      int64   // writes that a power cut would lose now
	Credits                       float64 // I/O credits left; 0 when the volume has none
}

// Volume is one simulated block device, kept in a sparse file.
type Volume struct {
	name string
	size int64
	file *os.File
	inst *Instance
	srv  *Server

	mu      sync.Mutex
	b       Behaviour
	meter   meter
	sides   [2]meter   // reads, writes
	streams [2]streams // reads, writes
	rng     *rand.Rand
	written bitmap // by 4 KiB
	touched bitmap // by 512 KiB
	cache   cache
	stalled []func()
	stats   Stats
}

// Instance is the limit that volumes of one machine share.
type Instance struct {
	srv    *Server
	mu     sync.Mutex
	limits Limits
	meter  meter
}

// SetLimits replaces the instance's limits.
func (in *Instance) SetLimits(l Limits) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.limits = l
	in.meter.settle(in.srv.sleeper.now())
}

// Name is the NBD export's name.
func (v *Volume) Name() string { return v.name }

// Size is the volume's size.
func (v *Volume) Size() units.Bytes { return units.Bytes(v.size) }

// Behaviour returns the volume's present behaviour.
func (v *Volume) Behaviour() Behaviour {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.b
}

// Set changes the volume's behaviour, also while it is in use. Credits already spent stay spent;
// see Refill.
func (v *Volume) Set(b Behaviour) error {
	v.mu.Lock()
	if b.Limits != v.b.Limits || b.OfReads != v.b.OfReads || b.OfWrites != v.b.OfWrites {
		now := v.srv.sleeper.now()
		v.meter.settle(now)
		v.sides[0].settle(now)
		v.sides[1].settle(now)
	}
	v.b = b
	var release []func()
	if !b.Stall {
		release, v.stalled = v.stalled, nil
	}
	var err error
	if !b.Volatile {
		err = v.cache.flush(v.file)
	}
	v.mu.Unlock()
	for _, answer := range release {
		answer()
	}
	return err
}

// Refill fills the volume's buckets and credits.
func (v *Volume) Refill() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.meter, v.sides = newMeter(), [2]meter{newMeter(), newMeter()}
}

// Stats returns the counts so far.
func (v *Volume) Stats() Stats {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.stats
	s.Volatile = int64(len(v.cache.writes))
	if v.b.BurstIOPS > 0 {
		s.Credits = v.meter.iops.left(v.srv.sleeper.now(), float64(v.b.IOPS), v.b.Credits)
	}
	return s
}

// PowerCut loses each write that a volatile cache holds, unless a toss with the chance keep saves
// it. The order in which survivors were written is no guide to which they are, as in a drive that
// destages as it likes.
func (v *Volume) PowerCut(keep float64, seed uint64) (kept, lost int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	rng := rand.New(rand.NewPCG(seed, uint64(v.size)))
	for _, w := range v.cache.writes {
		if rng.Float64() >= keep {
			lost++
			continue
		}
		kept++
		if _, e := v.file.WriteAt(w.data, w.off); e != nil {
			err = errors.Join(err, e)
		}
	}
	v.cache = cache{}
	return kept, lost, err
}

// Restore makes the volume one that was restored from a snapshot: of its pieces of 512 KiB a share,
// drawn from seed, is not loaded, so that the first access to each pays FirstTouch. It returns how
// many.
func (v *Volume) Restore(share float64, seed uint64) (unloaded int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := (v.size + 1<<v.touched.shift - 1) >> v.touched.shift
	unloaded = int(math.Round(share * float64(all)))
	v.touched = newBitmap(v.size, v.touched.shift)
	for i, piece := range rand.New(rand.NewPCG(seed, uint64(v.size))).Perm(int(all)) {
		if i >= unloaded {
			v.touched.set(int64(piece)<<v.touched.shift, 1, true)
		}
	}
	return unloaded
}

// Loaded is whether any piece of 512 KiB that a range lies on is loaded since Restore.
func (v *Volume) Loaded(off, n int64) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.touched.any(off, n)
}

// account books a read or write of n bytes at off, moved of which cross the wire (no less than one
// I/O), and returns when, in seconds of the server's clock, it completes.
func (v *Volume) account(write bool, off, n, moved int64) float64 {
	now := v.srv.sleeper.now()
	v.mu.Lock()
	b := v.b
	latency, direction := b.ReadLatency, 0
	if write {
		latency, direction = b.WriteLatency, 1
		v.stats.Writes++
		v.stats.WriteBytes += units.Bytes(moved)
		v.written.set(off, n, true)
	} else {
		v.stats.Reads++
		v.stats.ReadBytes += units.Bytes(n)
		if b.Unwritten > 0 && !v.written.any(off, n) {
			v.stats.UnwrittenReads++
			at := now + b.Unwritten.Seconds()
			v.mu.Unlock()
			return at
		}
	}
	delay := latency.Seconds()
	if s := b.Jitter; s > 0 {
		delay *= math.Exp(v.rng.NormFloat64()*s - s*s/2)
	}
	if b.FirstTouch > 0 && v.touched.set(off, n, true) > 0 {
		v.stats.FirstTouches++
		delay += b.FirstTouch.Seconds()
	}
	ios := 1.0
	if b.IOSize > 0 {
		ios = max(1, math.Ceil(float64(moved)/float64(b.IOSize)))
	}
	if b.Merge > 0 && moved > 0 && v.streams[direction].merges(now, off, n, int64(b.Merge)) {
		v.stats.Merged++
		ios = 0
	}
	side := [2]Limits{b.OfReads, b.OfWrites}[direction]
	start := max(v.meter.admit(now, b.Limits, ios, float64(moved)),
		v.sides[direction].admit(now, side, ios, float64(moved)))
	v.mu.Unlock()

	if in := v.inst; in != nil {
		in.mu.Lock()
		start = max(start, in.meter.admit(now, in.limits, ios, float64(moved)))
		in.mu.Unlock()
	}
	return start + delay
}

// injected says whether this request is to fail.
func (v *Volume) injected() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.b.ErrorRate > 0 && v.rng.Float64() < v.b.ErrorRate
}

func (v *Volume) read(p []byte, off int64) error {
	if _, err := v.file.ReadAt(p, off); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.cache.overlay(p, off)
	return nil
}

// write stores p, which must not change until the volatile cache has let go of it; fua goes round
// the cache.
func (v *Volume) write(p []byte, off int64, fua bool) (kept bool, err error) {
	v.mu.Lock()
	if fua {
		v.stats.FUA++
	}
	if v.b.Volatile && !fua {
		defer v.mu.Unlock()
		return true, v.cache.add(v.file, p, off)
	}
	err = v.cache.flushRange(v.file, off, int64(len(p)))
	v.mu.Unlock()
	if err == nil {
		_, err = v.file.WriteAt(p, off)
	}
	return false, err
}

func (v *Volume) flush() (at float64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.stats.Flushes++
	return v.srv.sleeper.now() + v.b.FlushLatency.Seconds(), v.cache.flush(v.file)
}

// zero punches a hole; a discard also makes its blocks unwritten again.
func (v *Volume) zero(off, n int64, discard bool) error {
	v.mu.Lock()
	err := v.cache.flushRange(v.file, off, n)
	if discard {
		v.stats.Trims++
		v.written.set(off, n, false)
	}
	v.mu.Unlock()
	if err != nil {
		return err
	}
	if err := unix.Fallocate(int(v.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n); err != nil {
		return fmt.Errorf("%s: punch a hole: %w", v.file.Name(), err)
	}
	return nil
}

// enter and leave count requests in flight; leave holds the answer back while the volume stalls.
func (v *Volume) enter() {
	v.mu.Lock()
	v.stats.InFlight++
	v.mu.Unlock()
}

func (v *Volume) leave(failed bool, answer func()) {
	v.mu.Lock()
	if v.b.Stall {
		v.stalled = append(v.stalled, func() { v.leave(failed, answer) })
		v.mu.Unlock()
		return
	}
	v.stats.InFlight--
	if failed {
		v.stats.Errors++
	}
	v.mu.Unlock()
	answer()
}
