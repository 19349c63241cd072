package bench

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

// loopDevice is a loop device of so many pieces for a test; root only.
func loopDevice(t *testing.T, pieces int64) string {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, pieces*pieceSize); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "-f", "--show", image).Output()
	if err != nil {
		t.Skip("no loop devices here:", err)
	}
	device := strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "-d", device).Run() })
	return strings.TrimPrefix(device, "/dev/")
}

// reads are those that a device has completed, and their bytes.
func reads(t *testing.T, device string) (n, bytes int64) {
	t.Helper()
	s := strings.Fields(sys.Host().Reader().Text("sys/class/block/" + device + "/stat"))
	if len(s) < 3 {
		t.Fatal("no statistics of", device)
	}
	return number(t, s[0]), number(t, s[2]) * 512
}

func number(t *testing.T, s string) (n int64) {
	t.Helper()
	for _, c := range s {
		n = n*10 + int64(c-'0')
	}
	return n
}

// The device's own counters say that each piece is read once, 4 KiB of it, also where the first
// start was interrupted.
func TestWarmReadsEachPieceOnce(t *testing.T) {
	const pieces = 300
	device, state := loopDevice(t, pieces), filepath.Join(t.TempDir(), "state")
	n0, b0 := reads(t, device)
	ctx, cancel := context.WithCancel(t.Context())
	o := Warming{
		Device: device, Serial: "a/b", Depth: 4, State: state, Resume: true, Most: 100 * pieceSize,
		Each: func(Warmed) { cancel() }, // after a second, at some 100 pieces
	}
	first, err := Warm(ctx, sys.Host(), o)
	if !errors.Is(err, context.Canceled) || first.Read == 0 || first.Read >= pieces {
		t.Fatalf("%+v %v", first, err)
	}
	o.Most, o.Each = 0, nil
	second, err := Warm(t.Context(), sys.Host(), o)
	if err != nil || second.Done != pieces || first.Read+second.Read != pieces {
		t.Errorf("%+v, then %+v %v", first, second, err)
	}
	// Who looks at a new device (udev) reads from it once or twice, too.
	if n, b := reads(t, device); n-n0 < pieces || n-n0 > pieces+4 || first.Bytes+second.Bytes != pieces*touchSize {
		t.Errorf("%d reads of %d bytes for %d pieces", n-n0, b-b0, pieces)
	}
	if third, err := Warm(t.Context(), sys.Host(), o); err != nil || third.Read != 0 {
		t.Errorf("a third start: %+v %v", third, err)
	}
	if _, err := os.Stat(filepath.Join(state, "a_b.json")); err != nil {
		t.Error(err)
	}
}

// --most is a rate of pieces.
func TestWarmKeepsItsRate(t *testing.T) {
	device := loopDevice(t, 60)
	w, err := Warm(t.Context(), sys.Host(), Warming{
		Device: device, Depth: 8, State: filepath.Join(t.TempDir(), "state"), Most: 20 * pieceSize,
	})
	// 60 pieces at 20 a second begin over 59/20 s; a busy machine is slower, never faster.
	if err != nil || w.Took < 2900*time.Millisecond || w.Rate() > 21*pieceSize {
		t.Errorf("%+v %v: %v", w, err, w.Rate())
	}
}

// Reading rests every other second while others wait for it; where they wait as long without it, it
// rests once to see that, and goes on for a minute; where they hardly wait, or hardly do anything, not at all.
func TestWarmYields(t *testing.T) {
	const seconds = 60
	for what, c := range map[string]struct {
		ios           int64
		beside, alone time.Duration // an I/O of others while it reads, and while it rests
		rests         int
	}{
		"others wait for it":                  {100, 20 * time.Millisecond, time.Millisecond, seconds / 2},
		"others wait half as long without it": {100, 20 * time.Millisecond, 12 * time.Millisecond, seconds / 2},
		"others wait as long without it":      {100, 20 * time.Millisecond, 18 * time.Millisecond, 1},
		"four times the usual time":           {100, 4 * time.Millisecond, time.Millisecond, 0},
		"as few as nobody":                    {4, time.Second, time.Second, 0},
		"nobody":                              {0, 0, 0, 0},
	} {
		y, rests, resting := yielding{usual: float64(time.Millisecond)}, 0, false
		for range seconds {
			wait := c.beside
			if resting {
				wait = c.alone
			}
			if resting = y.rests(c.ios, time.Duration(c.ios)*wait); resting {
				rests++
			}
		}
		if rests != c.rests {
			t.Errorf("%s: rests %d of %d s, want %d", what, rests, seconds, c.rests)
		}
	}
	// What they waited for by themselves is looked at again after a minute.
	y := yielding{usual: float64(time.Millisecond)}
	slow := func() bool { return y.rests(100, 100*20*time.Millisecond) }
	first, known := slow(), slow()
	again := 0
	for !slow() && again < 2*aloneKnown {
		again++
	}
	if !first || known || again != aloneKnown {
		t.Errorf("rests at first %v, then %v, and again after %d s", first, known, again)
	}
}

func TestWarmRefusesASecondOne(t *testing.T) {
	device, state := loopDevice(t, 8), filepath.Join(t.TempDir(), "state")
	dir, err := sys.MakePath(state, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	release, err := dir.Lock(recordName("", device) + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if _, err := Warm(t.Context(), sys.Host(), Warming{Device: device, Depth: 1, State: state}); !errors.Is(err, ErrWarming) {
		t.Errorf("%v", err)
	}
}

// A volume on which nothing is loaded later has no first touch to claim.
func TestTouchOfALoadedVolume(t *testing.T) {
	touch, err := Touch(t.Context(), loopDevice(t, 256), nil)
	if err != nil || touch.Pairs != touchPairs || touch.Pieces != 256 {
		t.Fatalf("%+v %v", touch, err)
	}
	if small, err := Touch(t.Context(), loopDevice(t, 32), nil); err != nil || small.Claimed || small.Pairs != 32 {
		t.Errorf("%+v %v", small, err)
	}
}

// Pieces are those of the disk: the partition begins 1 MiB behind its start. What lies behind the
// disk's end is nowhere.
func TestTouchPieces(t *testing.T) {
	got := TouchPieces([]block.Extent{
		{Start: pieceSize, Length: 2 * pieceSize},
		{Start: 0, Length: 1},
		{Start: pieceSize, Length: 1},
		{Start: 3 * pieceSize, Length: 1 << 61},
		{Start: 1 << 61, Length: 1 << 61},
		{Start: -1, Length: 9},
		{Start: 0, Length: 0},
	}, int64(units.MiB), 7*pieceSize)
	if want := []int64{3, 4, 2, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// FuzzTouchPieces: whatever a filesystem says of where files lie, each piece is one of the device's,
// and there once.
func FuzzTouchPieces(f *testing.F) {
	f.Add(int64(0), int64(4096), int64(1<<20), int64(64<<20))
	f.Add(int64(1<<62), int64(1<<62), int64(1<<40), int64(1<<30))
	bounded.Fuzz(f, func(t *testing.T, from, length, start, size int64) {
		size, start = max(0, size)%(1<<32), max(0, start)%(1<<32)
		seen := map[int64]bool{}
		for _, p := range TouchPieces([]block.Extent{{Start: from, Length: length}, {Start: from, Length: length}}, start, size) {
			if p < 0 || p*pieceSize >= size || seen[p] {
				t.Fatalf("piece %d of %d bytes", p, size)
			}
			seen[p] = true
		}
	})
}
