package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/ebs"
	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/units"
)

// The first touch of volumes that were restored from a snapshot. The lab's volumes know which of
// their pieces are loaded and count what is read of them; plimsoll does not see either.

// touchPiece is what one access loads.
const touchPiece = 512 << 10

// touchSeeds is how many volumes of each kind are tried; make lab tries few.
func touchSeeds() int {
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_TOUCHES")); err == nil {
		return n
	}
	return 3
}

// restored is a guest with a volume to restore, one for files and one that is as it is.
func restored(t *testing.T) (g *lab.Guest, volume func(group string) *lab.Volume) {
	t.Helper()
	spec, err := lab.ParseSpec("restored", []byte(`
volumes:
  - {name: f, count: 1, size: 2GiB, iops: 3000, latency: {read: 0.6ms, write: 1ms}}
  - {name: k, count: 1, size: 256MiB, iops: 3000, latency: {read: 0.6ms, write: 1ms}}
  - {name: p, count: 1, size: 2GiB, iops: 3000, latency: {read: 0.6ms, write: 1ms}}
setup:
  - mke2fs -q -t ext4 -E nodiscard "${k[0]}"; mkdir -p /k; mount "${k[0]}" /k
`))
	if err != nil {
		t.Fatal(err)
	}
	g = labtest.StartSpec(t, spec)
	return g, func(group string) *lab.Volume {
		for _, v := range g.Volumes {
			if v.Group == group {
				return v
			}
		}
		t.Fatalf("no volume %s", group)
		return nil
	}
}

// as makes a volume behave so.
func as(t *testing.T, v *lab.Volume, b ebs.Behaviour) {
	t.Helper()
	if err := v.Set(b); err != nil {
		t.Fatal(err)
	}
}

// said runs a command in the guest that prints JSON, and reads it.
func said(t *testing.T, g *lab.Guest, script string, to any) lab.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	r, err := g.Bash(ctx, script)
	if err == nil && to != nil {
		err = json.Unmarshal([]byte(r.Stdout), to)
	}
	if err != nil {
		t.Fatalf("%s: %v, exit status %d\n%s\n%s", script, err, r.Code, r.Stdout, r.Stderr)
	}
	return r
}

// paired is what plimsoll says of a volume, with what that read there.
func paired(t *testing.T, g *lab.Guest, v *lab.Volume) (touch diagnose.Touch) {
	t.Helper()
	var probed struct {
		Arrays []struct {
			Touches []diagnose.Touch `json:"first_touch"`
		} `json:"probe"`
	}
	said(t, g, "plimsoll check --probe --probe-time 1s --json "+v.Device, &probed)
	if len(probed.Arrays) != 1 || len(probed.Arrays[0].Touches) != 1 {
		t.Fatalf("%+v", probed)
	}
	return probed.Arrays[0].Touches[0]
}

// TestLabTouch: of shares from 0 to 1 that are not loaded nine tenths are found within 12 points, in
// 15 s at most; of volumes that are loaded and slow, or at work, 5 % at most are claimed, and the
// test reads a thousandth of them at most.
func TestLabTouch(t *testing.T) {
	g, volume := restored(t)
	v, r := volume("f"), rand.New(rand.NewPCG(30, 5))
	near, tried := 0, 0
	for i := range touchSeeds() {
		for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
			b := v.Behaviour()
			b.FirstTouch = time.Duration(5+r.IntN(36)) * time.Millisecond
			b.ReadLatency = time.Duration(400+r.IntN(600)) * time.Microsecond
			as(t, v, b)
			truth := float64(v.Restore(share, uint64(i))) / float64(v.Size()/touchPiece)
			got := paired(t, g, v)
			tried++
			if math.Abs(got.Share-truth) <= 0.12 {
				near++
			}
			t.Logf("%.0f %% not loaded, touch %v: %.1f %% (%.0f to %.0f), claimed %v, %v", 100*truth, b.FirstTouch, 100*got.Share,
				100*got.Low, 100*got.High, got.Claimed, got.Took)
			if got.Took > 15*time.Second {
				t.Errorf("the test took %v", got.Took)
			}
		}
	}
	t.Logf("%d of %d within 12 points", near, tried)
	if 10*near < 9*tried {
		t.Errorf("%d of %d shares are within 12 points, want nine tenths", near, tried)
	}
	claimed, loaded := 0, 0
	never := func(what string) {
		before := v.Stats()
		var warmed warmedJSON
		said(t, g, "plimsoll array warm --state /root/state --json "+v.Device, &warmed)
		loaded++
		got := warmed.Volumes[0].Before
		if got.Claimed {
			claimed++
		}
		t.Logf("%s: %.1f %%, claimed %v, %v", what, 100*got.Share, got.Claimed, got.Took)
		if read := v.Stats().ReadBytes - before.ReadBytes; what == slowVolume && read > v.Size()/1000 {
			t.Errorf("%s: %v of %v were read", what, read, v.Size())
		}
	}
	for range touchSeeds() {
		b := v.Behaviour()
		b.FirstTouch, b.ReadLatency, b.Jitter = 0, time.Duration(15+r.IntN(16))*time.Millisecond, 0.5
		as(t, v, b)
		never(slowVolume)
	}
	if err := v.Limit(); err != nil {
		t.Fatal(err)
	}
	said(t, g, fmt.Sprintf("setsid fio --name=app --filename=%s --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=16 --rate_iops=400 "+
		"--time_based --runtime=600 --output=/dev/null >/dev/null 2>&1 </dev/null & echo $! > app.pid", v.Device), nil)
	for range touchSeeds() {
		never("a volume with an application")
	}
	said(t, g, "kill -INT $(cat app.pid)", nil)
	if 20*claimed > loaded {
		t.Errorf("%d of %d loaded volumes are claimed, want 5 %% at most", claimed, loaded)
	}
}

const slowVolume = "a slow volume"

// warmedJSON is what plimsoll array warm prints.
type warmedJSON struct {
	Volumes []struct {
		Before diagnose.Touch `json:"before"`
		Warmed struct {
			Pieces int64         `json:"pieces"`
			Done   int64         `json:"done"`
			Read   int64         `json:"read"`
			Bytes  units.Bytes   `json:"read_bytes"`
			Took   time.Duration `json:"took_ns"`
			Rested time.Duration `json:"rested_ns"`
		} `json:"warmed"`
		After *diagnose.Touch `json:"after"`
	} `json:"volumes"`
}

// loadedPieces are those of a volume that are loaded.
func loadedPieces(v *lab.Volume) (n int64) {
	for p := range int64(v.Size() / touchPiece) {
		if v.Loaded(p*touchPiece, 1) {
			n++
		}
	}
	return n
}

// TestLabWarm: each piece is read once, 4 KiB of it; afterwards nothing is claimed, and random reads
// are as quick as those of a volume that was never restored.
func TestLabWarm(t *testing.T) {
	g, volume := restored(t)
	v, plain := volume("f"), volume("p")
	b := v.Behaviour()
	b.FirstTouch, b.ReadLatency, b.Jitter = 15*time.Millisecond, 5*time.Millisecond, 0.2
	as(t, v, b)
	b.FirstTouch = 0
	as(t, plain, b)
	pieces := int64(v.Restore(1, 1))
	before := v.Stats()
	var warmed warmedJSON
	r := said(t, g, "plimsoll array warm --state /root/state --json "+v.Device, &warmed)
	t.Logf("%s%+v", r.Stderr, warmed)
	after, w := v.Stats(), warmed.Volumes[0]
	if !w.Before.Claimed || w.After == nil || w.After.Claimed || r.Code != 0 {
		t.Errorf("claimed before and not after it, exit status 0: %+v", w)
	}
	if n := after.FirstTouches - before.FirstTouches; n != pieces || w.Warmed.Read != pieces || loadedPieces(v) != pieces {
		t.Errorf("%d first touches for %d pieces, %d read", n, pieces, w.Warmed.Read)
	}
	pairs := int64(w.Before.Pairs + w.After.Pairs)
	want := float64(pieces+2*pairs) * 4096
	if read := float64(after.ReadBytes - before.ReadBytes); math.Abs(read/want-1) > 0.01 {
		t.Errorf("%v bytes were read, want %v", read, want)
	}
	if w.Warmed.Rested != 0 {
		t.Errorf("it rested %v for nobody", w.Warmed.Rested)
	}
	if after.Writes != before.Writes {
		t.Errorf("%d writes to a volume that was to be read", after.Writes-before.Writes)
	}
	tail := func(v *lab.Volume) float64 {
		var out struct {
			Jobs []struct {
				Read struct {
					Clat struct {
						Percentile map[string]float64 `json:"percentile"`
					} `json:"clat_ns"`
				} `json:"read"`
			} `json:"jobs"`
		}
		said(t, g, "fio --name=tail --filename="+v.Device+" --readonly --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=4 "+
			"--time_based --runtime=4 --output-format=json", &out)
		return out.Jobs[0].Read.Clat.Percentile["99.000000"]
	}
	// The host's own hiccups only ever add: of three turns each the quickest counts.
	own, other := math.Inf(1), math.Inf(1)
	for range 3 {
		own, other = min(own, tail(v)), min(other, tail(plain))
	}
	t.Logf("p99 of random reads: %.2f ms, of a plain volume %.2f ms", own/1e6, other/1e6)
	if own > 1.1*other {
		t.Errorf("p99 of random reads is %.2f ms, of a plain volume %.2f ms", own/1e6, other/1e6)
	}
}

// TestLabWarmFiles: of files what they lie on is loaded, by filefrag's account, and next to nothing else.
func TestLabWarmFiles(t *testing.T) {
	g, volume := restored(t)
	v := volume("k")
	said(t, g, `for i in 1 2 3; do dd if=/dev/urandom of=/k/f$i bs=1M count=$((10 * i + 7)) conv=fsync 2>/dev/null; done
fallocate -l 20M /k/unwritten; ln -s /root /k/link; sync; echo 3 > /proc/sys/vm/drop_caches`, nil)
	r := said(t, g, "filefrag -b1 -v /k/f1 /k/f2 /k/f3", nil)
	b := v.Behaviour()
	b.FirstTouch = 15 * time.Millisecond
	as(t, v, b)
	v.Restore(1, 2)
	places := map[int64]bool{}
	for line := range strings.Lines(r.Stdout) {
		f := strings.FieldsFunc(line, func(c rune) bool { return strings.ContainsRune(" .:\n", c) })
		if len(f) < 6 || !strings.Contains(line, "..") { // "0: first.. last: physical.. last: length:"
			continue
		}
		from, err1 := strconv.ParseInt(f[3], 10, 64)
		to, err2 := strconv.ParseInt(f[4], 10, 64)
		if err1 != nil || err2 != nil {
			continue
		}
		for p := from / touchPiece; p <= to/touchPiece; p++ {
			places[p] = true
		}
	}
	if len(places) < 160 { // 81 MiB
		t.Fatalf("%d pieces of the files are known:\n%s", len(places), r.Stdout)
	}
	var warmed warmedJSON
	r = said(t, g, "plimsoll array warm --state /root/state --files --json /k", &warmed)
	t.Logf("%s%+v", r.Stderr, warmed)
	for p := range places {
		if !v.Loaded(p*touchPiece, 1) {
			t.Errorf("piece %d of the files is not loaded", p)
		}
	}
	// Looking for files reads the filesystem's own blocks, too; pairs lie in the files' pieces.
	if n := loadedPieces(v); n > int64(len(places))+3+8 {
		t.Errorf("%d pieces are loaded, the files lie on %d", n, len(places))
	}
	if n := warmed.Volumes[0].Warmed.Pieces; n < int64(len(places)) || n > int64(len(places))+3 || r.Code != 0 {
		t.Errorf("%d pieces, want %d and at most one more a file; exit status %d", n, len(places), r.Code)
	}
}

// TestLabWarmStripe: files on a stripe are read through it, so that on each member what they lie on is
// loaded: reading them afterwards meets nothing for the first time. What no file lies on stays as it was.
func TestLabWarmStripe(t *testing.T) {
	spec, err := lab.ParseSpec("striped", []byte(`
volumes:
  - {name: r, count: 2, size: 512MiB, iops: 3000, latency: {read: 0.6ms, write: 1ms}}
setup:
  - mdadm --create /dev/md/r --run --level=0 --chunk=64 --raid-devices=2 --homehost=any --name=r "${r[@]}"
  - udevadm settle; mke2fs -q -t ext4 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 /dev/md/r; mkdir -p /r; mount -o noatime /dev/md/r /r
`))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	said(t, g, `for i in 1 2 3; do dd if=/dev/urandom of=/r/f$i bs=1M count=$((10 * i + 7)) conv=fsync 2>/dev/null; done
sync; echo 3 > /proc/sys/vm/drop_caches`, nil)
	for i, v := range g.Volumes {
		b := v.Behaviour()
		b.FirstTouch = 15 * time.Millisecond
		as(t, v, b)
		v.Restore(1, uint64(i))
	}
	var warmed warmedJSON
	r := said(t, g, "plimsoll array warm --state /root/state --files --json /r", &warmed)
	t.Logf("%s%+v", r.Stderr, warmed)
	var before []int64
	for _, v := range g.Volumes {
		before = append(before, v.Stats().FirstTouches)
	}
	said(t, g, "echo 3 > /proc/sys/vm/drop_caches; for i in 1 2 3; do dd if=/r/f$i of=/dev/null bs=1M iflag=direct 2>/dev/null || exit 9; done", nil)
	for i, v := range g.Volumes {
		if n := v.Stats().FirstTouches - before[i]; n != 0 {
			t.Errorf("volume %d: the files meet %d pieces for the first time after warm", i, n)
		}
		// The files' half of 81 MiB, 200 pairs, and the filesystem's own blocks.
		if n, all := loadedPieces(v), int64(v.Size()/touchPiece); n < 81 || n > all/2 {
			t.Errorf("volume %d: %d of %d pieces are loaded", i, n, all)
		}
	}
	if n := warmed.Volumes[0].Warmed.Pieces; r.Code != 0 || n < 160 || n > 172 {
		t.Errorf("%d pieces of the array for 81 MiB, exit status %d", n, r.Code)
	}
}

// TestLabWarmYields: while an application waits for the same volume, loading rests a part of the time;
// the application's own reads of pieces that are not loaded are no reason to.
func TestLabWarmYields(t *testing.T) {
	g, volume := restored(t)
	v := volume("f")
	b := v.Behaviour()
	b.FirstTouch, b.IOPS = 15*time.Millisecond, 300
	as(t, v, b)
	pieces := int64(v.Restore(1, 6))
	said(t, g, fmt.Sprintf("setsid fio --name=app --filename=%s --readonly --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=2 --rate_iops=40 "+
		"--time_based --runtime=600 --output=/dev/null >/dev/null 2>&1 </dev/null & echo $! > app.pid", v.Device), nil)
	warm := func(more string) (w warmedJSON) {
		r := said(t, g, "plimsoll array warm --state /root/state --json "+more+v.Device, &w)
		t.Logf("%s%+v", r.Stderr[max(0, len(r.Stderr)-300):], w.Volumes[0].Warmed)
		return w
	}
	// 32 in flight fill the volume's rate, so that the application's reads queue behind them. How often it
	// rests depends on how late an emulated processor sees each of them; when it is to, TestWarmYields holds.
	full := warm("--most 1GiB/s ").Volumes[0].Warmed
	if full.Done != pieces || full.Rested == 0 {
		t.Errorf("it rested %v of %v", full.Rested, full.Took)
	}
	// One at a time takes nobody's place: the application's reads take what a first touch takes.
	v.Restore(1, 7)
	if one := warm("--most 32MiB/s --depth 1 ").Volumes[0].Warmed; one.Done != pieces || 5*one.Rested > one.Took {
		t.Errorf("it rested %v of %v, want next to nothing", one.Rested, one.Took)
	}
	said(t, g, "kill -INT $(cat app.pid)", nil)
}

// TestLabWarmKilled: a start that is killed goes on where its record ends, which is 10 s old at most,
// and --most is kept by both.
func TestLabWarmKilled(t *testing.T) {
	const most, each = 8, 16 // MiB and pieces a second
	g, volume := restored(t)
	said(t, g, "umount /k", nil)
	v := volume("k")
	b := v.Behaviour()
	b.FirstTouch = 15 * time.Millisecond
	as(t, v, b)
	pieces := int64(v.Restore(1, 3))
	before := v.Stats()
	said(t, g, fmt.Sprintf("setsid plimsoll array warm --state /root/state --most %dMiB/s %s >first.out 2>&1 </dev/null & echo $! > warm.pid", most, v.Device), nil)
	// The pairs touch 200 of the pieces, and are there first.
	deadline := time.Now().Add(3 * time.Minute)
	for v.Stats().Reads-before.Reads < 400+pieces*6/10 {
		if time.Now().After(deadline) {
			t.Fatalf("after 3 min %d of %d pieces are read", v.Stats().Reads-before.Reads-400, pieces)
		}
		time.Sleep(100 * time.Millisecond)
	}
	r := said(t, g, "kill -9 $(cat warm.pid); tail -1 first.out; ls /root/state", nil)
	t.Log(r.Stdout)
	killed := v.Stats().Reads - before.Reads - 400
	var warmed warmedJSON
	r = said(t, g, fmt.Sprintf("plimsoll array warm --state /root/state --most %dMiB/s --resume --json %s", most, v.Device), &warmed)
	w := warmed.Volumes[0]
	t.Logf("killed after %d of %d pieces; %s%+v", killed, pieces, r.Stderr, w.Warmed)
	twice := killed + w.Warmed.Read - pieces
	if w.Warmed.Done != pieces || loadedPieces(v) != pieces || r.Code != 0 {
		t.Errorf("%d of %d pieces are done, %d loaded, exit status %d", w.Warmed.Done, pieces, loadedPieces(v), r.Code)
	}
	if twice < 0 || twice > 11*each {
		t.Errorf("%d pieces were read twice, want those of 10 s at most: %d", twice, 10*each)
	}
	// What is begun at once with the first does not wait: one piece.
	if rate := float64(w.Warmed.Read-1) / w.Warmed.Took.Seconds(); math.Abs(rate/each-1) > 0.05 {
		t.Errorf("%.2f pieces per second, want %d within 5 %%", rate, each)
	}
}

// TestLabRunFirstTouch: a run on a volume that is not loaded is invalid and says why, and is not
// called concurrency; once the volume is loaded, nothing of that is left. The same volume, loaded and
// slow, is called slow.
func TestLabRunFirstTouch(t *testing.T) {
	g, volume := restored(t)
	v := volume("f")
	b := v.Behaviour()
	b.FirstTouch = 30 * time.Millisecond
	as(t, v, b)
	v.Restore(1, 4)
	if c := firstTouchRun(t, g, v.Device, "cold"); !c["PL424"] || !c["PL320"] || c["PL501"] || !c["verdict invalid"] {
		t.Errorf("a volume that is not loaded: %v", c)
	}
	said(t, g, "plimsoll array warm --state /root/state "+v.Device+" --json", nil)
	if c := firstTouchRun(t, g, v.Device, "warm"); c["PL424"] || c["PL320"] || c["PL507"] {
		t.Errorf("the same, loaded: %v", c)
	}
	b.FirstTouch, b.ReadLatency = 0, 20*time.Millisecond
	as(t, v, b)
	if c := firstTouchRun(t, g, v.Device, "slow"); c["PL424"] || c["PL320"] || c["PL501"] || !c["PL507"] {
		t.Errorf("the same, slow: %v", c)
	}
}

// firstTouchRun measures on a place with a probe, and lists the codes of the findings and the verdict.
func firstTouchRun(t *testing.T, g *lab.Guest, on, out string) map[string]bool {
	t.Helper()
	said(t, g, "plimsoll run rand-read-latency --data "+on+" --volumes 1xgp3 --probe --probe-time 1s --runtime 12s --ramp 1s "+
		"--cooldown 0s --progress none --out "+out+" >/dev/null || test $? -le 4", nil)
	codes := map[string]bool{}
	found := fetched(t, g, out)
	for _, f := range found.Findings {
		codes[string(f.Code)] = true
		t.Logf("%s: %s %s: %s", out, f.Code, f.Severity, f.Message)
	}
	codes["verdict "+string(found.Run.Verdict)] = true
	return codes
}

// TestLabRunKeptFile: a file that the run writes is loaded where it was written; the same file, restored with its
// volume, is not, and the run that reads it is invalid.
func TestLabRunKeptFile(t *testing.T) {
	g, volume := restored(t)
	p := volume("p")
	said(t, g, fmt.Sprintf("mke2fs -q -t ext4 -E nodiscard,lazy_itable_init=0,lazy_journal_init=0 %s; mkdir -p /p; mount -o noatime %[1]s /p", p.Device), nil)
	b := p.Behaviour()
	b.FirstTouch = 30 * time.Millisecond
	as(t, p, b)
	p.Restore(1, 8)
	const kept = "/p --size 128MiB --keep-files"
	if c := firstTouchRun(t, g, kept, "written"); c["PL424"] || !c["PL320"] {
		t.Errorf("a file that the run wrote on a volume that is not loaded: %v", c)
	}
	said(t, g, "sync; echo 3 > /proc/sys/vm/drop_caches", nil)
	p.Restore(1, 9)
	if c := firstTouchRun(t, g, kept, "restored"); !c["PL424"] || !c["verdict invalid"] {
		t.Errorf("a file of an earlier run on a volume that is not loaded: %v", c)
	}
	said(t, g, "plimsoll array warm --state /root/state --files /p --json", nil)
	if c := firstTouchRun(t, g, kept, "loaded"); c["PL424"] {
		t.Errorf("the same, loaded: %v", c)
	}
}
