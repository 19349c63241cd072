package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// Warming says what of a volume is to be loaded, and how.
type Warming struct {
	Device string // kernel name of a leaf, or of what files lie on
	Serial string // by which its record is found again
	// Order are the pieces to read, in this order; nil for all by address.
	Order []int64
	Whole bool       // read every byte of a piece, not 4 KiB of it
	Depth int        // reads in flight
	Most  units.Rate // of pieces; 0 for no limit
	// State is the folder of records, Resume takes up one that is there.
	State  string
	Resume bool
	// Usual is what an I/O of the volume usually takes. Reading rests where others wait for more than 4
	// times as long, unless they wait nearly as long while it rests.
	Usual units.Latency
	// Each is called once per second with how far it is.
	Each func(Warmed)
}

// Warmed is how far a volume is loaded.
type Warmed struct {
	Device  string        `json:"device"`
	Pieces  int64         `json:"pieces"`     // of 512 KiB, in all
	Done    int64         `json:"done"`       // with those of an earlier start
	Read    int64         `json:"read"`       // by this start
	Bytes   units.Bytes   `json:"read_bytes"` // by this start
	Took    time.Duration `json:"took_ns"`
	Rested  time.Duration `json:"rested_ns"` // for others
	Skipped int64         `json:"skipped"`   // pieces that could not be read
}

// Rate is the rate at which pieces are loaded.
func (w Warmed) Rate() units.Rate {
	if w.Took <= 0 {
		return 0
	}
	return units.Rate(float64(w.Read) * pieceSize / w.Took.Seconds())
}

// Left is how long the rest takes at that rate, 0 where it is not known.
func (w Warmed) Left() time.Duration {
	if w.Read == 0 {
		return 0
	}
	return time.Duration(float64(w.Took) / float64(w.Read) * float64(w.Pieces-w.Done))
}

// saveEach is how often the record is written: what was read since the last time is read again after
// a crash.
const saveEach = 10 * time.Second

// ErrWarming says that another plimsoll warms the same volume.
var ErrWarming = errors.New("another plimsoll array warm is working on this volume")

// warmer is one volume being loaded.
type warmer struct {
	Warming
	dev    *direct
	dir    *sys.Dir
	record string
	mu     sync.Mutex // guards what follows
	bits   []byte
	order  []int64
	next   int
	now    Warmed
	due    time.Time // when the next piece may be begun
	rest   time.Time // until then reading rests for others
	saved  time.Time
	busy   time.Duration // of own reads
	failed error
	began  time.Time
}

// Warm reads each piece of a volume once, so that it is loaded from its snapshot. It opens the volume
// for reading only, past the page cache, and writes nothing but its own record. It ends with ctx, and
// what is done is in the record.
func Warm(ctx context.Context, m *sys.Machine, o Warming) (Warmed, error) {
	w := &warmer{Warming: o, now: Warmed{Device: o.Device}}
	var err error
	if w.dev, err = openDirect("/dev/" + o.Device); err != nil {
		return w.now, err
	}
	defer w.dev.close()
	release, err := w.open()
	if err != nil {
		return w.now, err
	}
	defer release()
	w.began = time.Now()
	w.saved = w.began
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { w.watch(watching, m) })
	var lanes sync.WaitGroup
	for range max(1, o.Depth) {
		lanes.Go(func() { w.lane(ctx) })
	}
	lanes.Wait()
	stop()
	watch.Wait()
	w.now.Took = time.Since(w.began)
	return w.now, errors.Join(w.failed, w.save(), ctx.Err())
}

// warmRecord is the record of a volume that is being loaded.
type warmRecord struct {
	Format int    `json:"plimsoll_warm"`
	Serial string `json:"serial"`
	Size   int64  `json:"size"`
	Whole  bool   `json:"whole"`
	Bits   []byte `json:"pieces"` // a bit a piece, the first is the lowest of the first byte
}

// Unfinished is whether an earlier start on the same volume left any of the pieces out, by its record,
// and whether it read every byte of them.
func Unfinished(o Warming) (whole, left bool, err error) {
	w := &warmer{Warming: o}
	if w.dev, err = openDirect("/dev/" + o.Device); err != nil {
		return false, false, err
	}
	defer w.dev.close()
	if w.dir, err = sys.MakePath(o.State, 0o700); err != nil {
		return false, false, err
	}
	defer func() { err = errors.Join(err, w.dir.Close()) }()
	w.plan()
	old, err := w.read()
	if err != nil || old == nil {
		return false, false, err
	}
	w.bits = old.Bits
	return old.Whole, slices.ContainsFunc(w.order, func(p int64) bool { return w.has(p) && !w.done(p) }), nil
}

// recordLimit is more than the record of 64 TiB takes.
const recordLimit = 64 << 20

// open locks the volume's record and reads it.
func (w *warmer) open() (release func(), err error) {
	if w.dir, err = sys.MakePath(w.State, 0o700); err != nil {
		return nil, err
	}
	name := recordName(w.Serial, w.Device)
	unlock, err := w.dir.Lock(name + ".lock")
	if err != nil {
		if errors.Is(err, sys.ErrLocked) {
			err = fmt.Errorf("%s: %w", w.Device, ErrWarming)
		}
		return nil, errors.Join(err, w.dir.Close())
	}
	release = func() { unlock(); _ = w.dir.Close() }
	w.plan()
	if !w.Resume {
		return release, nil
	}
	old, err := w.read()
	if err != nil {
		release()
		return nil, err
	}
	if old != nil && old.Whole == w.Whole {
		w.bits = old.Bits
	}
	return release, nil
}

// plan says where the record is, and which pieces are to be read.
func (w *warmer) plan() {
	w.record = recordName(w.Serial, w.Device) + ".json"
	count := (w.dev.size + pieceSize - 1) / pieceSize // the last may be a part of one
	w.bits = make([]byte, (count+7)/8)
	if w.order = w.Order; w.order == nil {
		w.order = pieces(count)
	}
	w.now.Pieces = int64(len(w.order))
}

// notOfRecord is what the name of a record does not have.
var notOfRecord = regexp.MustCompile(`[^a-zA-Z0-9-]`)

func recordName(serial, device string) string {
	return notOfRecord.ReplaceAllString(cmp.Or(serial, device), "_")
}

// read is the record, nil where there is none of this volume.
func (w *warmer) read() (*warmRecord, error) {
	data, err := w.dir.ReadSmall(w.record, recordLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing was begun, which is no error
	}
	if err != nil {
		return nil, err
	}
	r := &warmRecord{}
	if err := json.Unmarshal(data, r); err != nil || r.Format != 1 {
		return nil, fmt.Errorf("%s is not a record of plimsoll array warm: remove it, or warm without --resume",
			filepath.Join(w.State, w.record))
	}
	if r.Serial != w.Serial || r.Size != w.dev.size || len(r.Bits) != len(w.bits) {
		return nil, nil //nolint:nilnil // it is another volume's
	}
	return r, nil
}

// save writes the record.
func (w *warmer) save() error {
	w.mu.Lock()
	data, err := json.Marshal(warmRecord{1, w.Serial, w.dev.size, w.Whole, w.bits})
	w.saved = time.Now()
	w.mu.Unlock()
	if err != nil {
		return err
	}
	return w.dir.WriteFile(w.record, data, 0o600)
}

func (w *warmer) done(piece int64) bool { return w.bits[piece/8]&(1<<(piece%8)) != 0 }

// has is whether the volume has such a piece.
func (w *warmer) has(piece int64) bool { return piece >= 0 && piece*pieceSize < w.dev.size }

// take is the next piece to read, when it may be begun.
func (w *warmer) take() (piece int64, at time.Time, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.next < len(w.order) && w.failed == nil {
		piece = w.order[w.next]
		w.next++
		if !w.has(piece) {
			continue
		}
		if w.done(piece) {
			w.now.Done++
			continue
		}
		at = time.Now()
		if w.Most > 0 {
			if w.due.Before(at) {
				w.due = at
			}
			at = w.due
			w.due = w.due.Add(time.Duration(pieceSize / float64(w.Most) * float64(time.Second)))
		}
		return piece, at, true
	}
	return 0, at, false
}

// lane reads pieces one after the other.
func (w *warmer) lane(ctx context.Context) {
	size := touchSize
	if w.Whole {
		size = pieceSize
	}
	buf, err := aligned(size)
	if err != nil {
		w.fail(err)
		return
	}
	for {
		piece, at, ok := w.take()
		if !ok || !w.sleepUntil(ctx, at) {
			return
		}
		from := piece * pieceSize
		want := int64(size)
		if left := w.dev.size - from; left < want {
			want = left / touchSize * touchSize
		}
		if want == 0 {
			want = w.dev.size - from // an odd end, which O_DIRECT may refuse
		}
		took, err := w.dev.read(buf[:want], from)
		w.mu.Lock()
		w.busy += took
		now := &w.now
		if err != nil {
			now.Skipped++
			if now.Skipped > mostSkipped && now.Skipped > now.Read {
				w.failed = err
			}
		} else {
			w.bits[piece/8] |= 1 << (piece % 8)
			now.Done++
			now.Read++
			now.Bytes += units.Bytes(want)
		}
		w.mu.Unlock()
	}
}

// mostSkipped pieces that cannot be read are left out; more than that, and than were read, end it.
const mostSkipped = 16

func (w *warmer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = err
}

// sleepUntil waits for the rate limit, and while reading rests for others.
func (w *warmer) sleepUntil(ctx context.Context, at time.Time) bool {
	for {
		w.mu.Lock()
		if w.rest.After(at) {
			at = w.rest
		}
		w.mu.Unlock()
		left := time.Until(at)
		if left <= 0 {
			return ctx.Err() == nil
		}
		if pause(ctx, left) != nil {
			return false
		}
	}
}

// watch reports each second, writes the record, and lets reading rest where others wait for it.
func (w *warmer) watch(ctx context.Context, m *sys.Machine) {
	ticks := time.NewTicker(time.Second)
	defer ticks.Stop()
	read := m.Reader()
	before := deviceStat(read, w.Device)
	y := yielding{usual: float64(w.Usual)}
	var own time.Duration
	var reads int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		after := deviceStat(read, w.Device)
		w.mu.Lock()
		// Of what the device did, what was not read here is others'.
		if y.rests(after.ios-before.ios-(w.now.Read-reads), after.wait-before.wait-(w.busy-own)) {
			w.rest = time.Now().Add(restFor)
			w.now.Rested += restFor
		}
		own, reads = w.busy, w.now.Read
		w.now.Took = time.Since(w.began)
		now, save := w.now, time.Since(w.saved) >= saveEach
		w.mu.Unlock()
		before = after
		if save {
			if err := w.save(); err != nil {
				w.fail(err)
			}
		}
		if w.Each != nil {
			w.Each(now)
		}
	}
}

// When reading rests for others: they do so many I/Os per second, and each takes too long.
const (
	othersLeast = 5
	restTimes   = 4
	restMore    = 1.5
	restFor     = time.Second
	// aloneKnown is for how many seconds it is believed what others wait while reading rests: what they
	// read for the first time now is loaded then.
	aloneKnown = 60
)

// yielding decides each second whether reading rests in the next one.
type yielding struct {
	usual   float64 // what an I/O usually takes, ns
	resting bool
	alone   float64 // what an I/O of others took while reading rested, ns; 0 where that is not known …
	age     int     // … and how many seconds ago that was
}

// rests decides by what others did in the last second. What they wait for without this reading too is
// not its fault: it shows in the seconds in which reading rests, of which two never come in a row.
func (y *yielding) rests(ios int64, took time.Duration) bool {
	rested := y.resting
	y.resting = false
	if y.age++; y.age > aloneKnown {
		y.alone = 0
	}
	if ios < othersLeast {
		return false
	}
	wait := max(0, float64(took)/float64(ios))
	if rested {
		y.alone, y.age = wait, 0
		return false
	}
	y.resting = wait > max(restTimes*y.usual, restMore*y.alone)
	return y.resting
}

// deviceDid is what a device did since the machine was started.
type deviceDid struct {
	ios  int64
	wait time.Duration
}

// deviceStat reads /sys/class/block/NAME/stat: reads, merges, sectors, ms, writes, merges, sectors,
// ms (Documentation/block/stat.rst).
func deviceStat(r *sys.Reader, device string) deviceDid {
	var n [8]int64
	for i, f := range strings.Fields(r.Text("sys/class/block/" + device + "/stat")) {
		if i < len(n) {
			_, _ = fmt.Sscan(f, &n[i])
		}
	}
	return deviceDid{ios: n[0] + n[4], wait: time.Duration(n[3]+n[7]) * time.Millisecond}
}

// InUse is how many I/Os per second others do on a device, looked at for a second.
func InUse(ctx context.Context, m *sys.Machine, device string) float64 {
	r := m.Reader()
	before := deviceStat(r, device)
	_ = pause(ctx, time.Second)
	return float64(deviceStat(r, device).ios - before.ios)
}

// TouchPieces are the pieces of a device of so many bytes that extents lie on, each once, in their
// order; start is where the extents' device begins on it. What lies beyond its end is left out.
func TouchPieces(extents []block.Extent, start, size int64) []int64 {
	seen := map[int64]bool{}
	var all []int64
	for _, e := range extents {
		if e.Start < 0 || e.Length <= 0 || e.Start >= size-start {
			continue
		}
		end := start + e.Start + min(e.Length, size-start-e.Start)
		for p := (start + e.Start) / pieceSize; p*pieceSize < end; p++ {
			if !seen[p] {
				seen[p] = true
				all = append(all, p)
			}
		}
	}
	return all
}
