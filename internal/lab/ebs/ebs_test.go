package ebs

import (
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/units"
)

func TestLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	const slack = 20 * time.Millisecond
	for _, c := range []struct {
		name       string
		b          Behaviour
		kind       uint16
		n          int64
		sequential bool
		want       float64 // requests a second
	}{
		{"iops", Behaviour{Limits: Limits{IOPS: 500, Slack: slack}}, cmdRead, 8 << 10, false, 500},
		{"writes count alike", Behaviour{Limits: Limits{IOPS: 500, Slack: slack}}, cmdWrite, 8 << 10, false, 500},
		{"throughput", Behaviour{Limits: Limits{IOPS: 3000, Throughput: 25 * units.MiBPerSec, Slack: slack}}, cmdRead, 128 << 10, false, 200},
		{"reads of their own", Behaviour{OfReads: Limits{IOPS: 400, Slack: slack}, OfWrites: Limits{IOPS: 100, Slack: slack}}, cmdRead, 8 << 10, false, 400},
		{"writes of their own", Behaviour{OfReads: Limits{IOPS: 100, Slack: slack}, OfWrites: Limits{IOPS: 400, Slack: slack}}, cmdWrite, 8 << 10, false, 400},
		{"512 KiB are two I/Os", Behaviour{Limits: Limits{IOPS: 300, Slack: slack}, IOSize: 256 << 10}, cmdRead, 512 << 10, false, 150},
		{"random is not merged", Behaviour{Limits: Limits{IOPS: 500, Slack: slack}, Merge: 256 << 10}, cmdRead, 8 << 10, false, 500},
		{"sequential is merged", Behaviour{Limits: Limits{IOPS: 100, Slack: slack}, Merge: 256 << 10}, cmdWrite, 64 << 10, true, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, dir := listen(t)
			volume(t, s, dir, "v", 256*units.MiB, nil, c.b)
			client := dial(t, dir, "v")
			held(t, c.want, func() float64 { return load(client, c.kind, c.n, 16, 300*time.Millisecond, time.Second, c.sequential) })
		})
	}
}

func TestSharedLimit(t *testing.T) {
	s, dir := listen(t)
	in := s.NewInstance(Limits{IOPS: 600, Slack: 20 * time.Millisecond})
	var clients []*client
	for i := range 4 {
		name := fmt.Sprint("v", i)
		volume(t, s, dir, name, 64*units.MiB, in, Behaviour{Limits: Limits{IOPS: 300, Slack: 20 * time.Millisecond}})
		clients = append(clients, dial(t, dir, name))
	}
	held(t, 600, func() float64 {
		var mu sync.Mutex
		var sum float64
		var all sync.WaitGroup
		for _, c := range clients {
			all.Go(func() {
				rate := load(c, cmdRead, 8<<10, 16, 300*time.Millisecond, time.Second, false)
				mu.Lock()
				sum += rate
				mu.Unlock()
			})
		}
		all.Wait()
		return sum
	})
}

// A bucket of 500 credits that fills at 100 a second and is spent at 1,000 a second lasts
// 500/(1000-100) s = 0.56 s.
func TestCreditsRunDry(t *testing.T) {
	s, dir := listen(t)
	v := volume(t, s, dir, "v", 64*units.MiB, nil, Behaviour{Limits: Limits{IOPS: 100, BurstIOPS: 1000, Credits: 500}})
	c := dial(t, dir, "v")
	// All of the bucket and what filled meanwhile: 500 + 1.5 x 100, however late a busy host was.
	all := 1.5 * load(c, cmdRead, 8<<10, 8, 0, 1500*time.Millisecond, false)
	near(t, "in 1.5 s", all, 650, 0.04)
	held(t, 100, func() float64 { return load(c, cmdRead, 8<<10, 4, 200*time.Millisecond, time.Second, false) })
	left := v.Stats().Credits
	for try := 0; left > 1 && try < 50; try++ { // a busy host is late to look, and 10 ms fill one
		load(c, cmdRead, 8<<10, 4, 0, 50*time.Millisecond, false)
		left = v.Stats().Credits
	}
	if left > 1 {
		t.Errorf("%v credits left, want none", left)
	}
	v.Refill()
	near(t, "credits after a refill", v.Stats().Credits, 500, 0.001)
}

func TestLatency(t *testing.T) {
	s, dir := listen(t)
	v := volume(t, s, dir, "v", 64*units.MiB, nil, Behaviour{ReadLatency: 2 * time.Millisecond, WriteLatency: 4 * time.Millisecond})
	c := dial(t, dir, "v")
	for kind, want := range map[uint16]time.Duration{cmdRead: 2 * time.Millisecond, cmdWrite: 4 * time.Millisecond} {
		least := time.Hour // a busy host makes answers later, never earlier
		for n := range 5000 {
			if n >= 100 && least <= want+500*time.Microsecond {
				break
			}
			begin := time.Now()
			c.do(kind, 0, 0, 4096, make([]byte, map[uint16]int{cmdRead: 0, cmdWrite: 4096}[kind]))
			least = min(least, time.Since(begin))
		}
		if least < want || least > want+500*time.Microsecond {
			t.Errorf("request %d took %v at least, want %v", kind, least, want)
		}
	}
	if err := v.Set(Behaviour{Unwritten: 100 * time.Microsecond, ReadLatency: 200 * time.Millisecond, FirstTouch: 300 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	c.write(0, make([]byte, 4096), 0) // the first touch of block 0
	for _, step := range []struct {
		what       string
		off        int64
		least, max time.Duration
	}{
		{"unwritten", 32 << 20, 100 * time.Microsecond, 150 * time.Millisecond},
		{"written", 0, 200 * time.Millisecond, 450 * time.Millisecond},
	} {
		least := time.Hour
		for n := 0; n < 20 && least > step.max; n++ {
			begin := time.Now()
			c.read(step.off, 4096)
			least = min(least, time.Since(begin))
		}
		if least < step.least || least > step.max {
			t.Errorf("%s: %v at least, want %v to %v", step.what, least, step.least, step.max)
		}
	}
	if st := v.Stats(); st.FirstTouches < 1 || st.UnwrittenReads < 1 {
		t.Errorf("stats %+v: want a first touch and an unwritten read", st)
	}
}

func TestData(t *testing.T) {
	s, dir := listen(t)
	v := volume(t, s, dir, "v", units.MiB, nil, Behaviour{Unwritten: time.Microsecond})
	c := dial(t, dir, "v")
	if c.size != 1<<20 {
		t.Fatalf("size %d, want %d", c.size, 1<<20)
	}
	want := bytes.Repeat([]byte("plimsoll"), 8192)
	c.write(512, want, 0)
	if got := c.read(512, int64(len(want))); !bytes.Equal(got, want) {
		t.Error("read something other than was written")
	}
	if a := c.do(cmdTrim, 0, 4096, 8192, nil); a.code != nbdOK {
		t.Errorf("trim: error %d", a.code)
	}
	if got := c.read(4096, 8192); !bytes.Equal(got, make([]byte, 8192)) {
		t.Error("discarded blocks are not zero")
	}
	if st := v.Stats(); st.UnwrittenReads != 1 || st.Trims != 1 || st.Writes != 1 || st.WriteBytes != units.Bytes(len(want)) || st.InFlight != 0 {
		t.Errorf("stats %+v", st)
	}
	if a := c.do(cmdWriteZeroes, 0, 16<<10, 4096, nil); a.code != nbdOK {
		t.Errorf("write zeroes: error %d", a.code)
	}
	if got := c.read(16<<10, 4096); !bytes.Equal(got, make([]byte, 4096)) {
		t.Error("zeroed blocks are not zero")
	}
	for _, bad := range []struct {
		kind   uint16
		off, n int64
		want   uint32
	}{
		{cmdRead, 1 << 20, 512, nbdEINVAL},
		{cmdRead, 1<<20 - 512, 1024, nbdEINVAL},
		{cmdWriteZeroes, 1<<20 - 512, 1024, nbdENOSPC},
		{cmdRead, -512, 512, nbdEINVAL},
		{cmdRead, 0, 0, nbdEINVAL},
		{99, 0, 512, nbdEINVAL},
	} {
		if a := c.do(bad.kind, 0, bad.off, bad.n, nil); a.code != bad.want {
			t.Errorf("%+v: error %d", bad, a.code)
		}
	}
	if v.Stats().Errors != 6 {
		t.Errorf("%d errors counted, want 6", v.Stats().Errors)
	}
}

func TestStallAndErrors(t *testing.T) {
	s, dir := listen(t)
	v := volume(t, s, dir, "v", units.MiB, nil, Behaviour{Stall: true})
	c := dial(t, dir, "v")
	held := c.start(cmdRead, 0, 0, 4096, nil)
	select {
	case <-held:
		t.Fatal("a stalled volume answered")
	case <-time.After(50 * time.Millisecond):
	}
	if n := v.Stats().InFlight; n != 1 {
		t.Errorf("%d in flight, want 1", n)
	}
	if err := v.Set(Behaviour{ErrorRate: 0.5}); err != nil {
		t.Fatal(err)
	}
	if a := <-held; a.code != nbdOK {
		t.Errorf("the read that was held failed with %d", a.code)
	}
	failed := 0
	for range 400 {
		if c.do(cmdRead, 0, 0, 4096, nil).code == nbdEIO {
			failed++
		}
	}
	near(t, "failed of 400", float64(failed), 200, 0.25)
	// A stall must not keep the server from closing.
	if err := v.Set(Behaviour{Stall: true}); err != nil {
		t.Fatal(err)
	}
	c.start(cmdRead, 0, 0, 4096, nil)
}

func TestVolatileCache(t *testing.T) {
	s, dir := listen(t)
	v := volume(t, s, dir, "v", units.MiB, nil, Behaviour{Volatile: true})
	block := func(b byte) []byte { return bytes.Repeat([]byte{b}, 4096) }
	c := dial(t, dir, "v")
	c.write(0, block('a'), 0)
	c.do(cmdFlush, 0, 0, 0, nil)
	c.write(0, block('b'), 0)
	c.write(8192, block('c'), 0)
	c.write(8192, block('d'), flagFUA) // goes round the cache: the older 'c' must not come back over it
	c.write(4096, block('e'), 0)
	if got := c.read(0, 12288); got[0] != 'b' || got[4096] != 'e' || got[8192] != 'd' {
		t.Errorf("read %c %c %c, want b e d", got[0], got[4096], got[8192])
	}
	kept, lost, err := v.PowerCut(0, 1)
	if kept != 0 || lost != 1 || err != nil {
		t.Errorf("kept %d, lost %d, %v: want 0 and 1 ('b' was destaged before 'd')", kept, lost, err)
	}
	if got := c.read(0, 12288); got[0] != 'b' || got[4096] != 0 || got[8192] != 'd' {
		t.Errorf("after the power cut %q %q %q, want b, nothing, d", got[0], got[4096], got[8192])
	}
	for i := range 200 {
		c.write(int64(i)*4096, block('z'), 0)
	}
	kept, lost, err = v.PowerCut(0.5, 7)
	if err != nil || kept+lost != 200 {
		t.Errorf("kept %d, lost %d, %v", kept, lost, err)
	}
	near(t, "kept of 200", float64(kept), 100, 0.3)
}

func TestProtocol(t *testing.T) {
	s, dir := listen(t)
	volume(t, s, dir, "v", units.MiB, nil, Behaviour{})
	if _, err := s.Add("v", filepath.Join(dir, "x"), units.MiB, nil, Behaviour{}); err == nil {
		t.Error("a second volume of the same name was taken")
	}
	if _, err := s.Add("odd", filepath.Join(dir, "x"), 1000, nil, Behaviour{}); err == nil {
		t.Error("a size of 1000 was taken")
	}
	c := dial(t, dir, "v")
	c.do(cmdDisconnect+100, 0, 0, 0, nil)

	raw, err := net.Dial("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	ask := &client{t: t, c: raw, r: newReader(raw)}
	ask.send(be.AppendUint32(nil, flagFixed))
	if _, err := ask.r.Discard(18); err != nil {
		t.Fatal(err)
	}
	for option, want := range map[uint32]uint32{8: repUnsup, optGo: repInvalid} {
		ask.option(option, nil)
		if kind, _ := ask.optionReply(); kind != want {
			t.Errorf("option %d: %#x, want %#x", option, kind, want)
		}
	}
	ask.option(optGo, append(be.AppendUint32(nil, 4), "none\x00\x00"...))
	if kind, _ := ask.optionReply(); kind != repUnknown {
		t.Errorf("an unknown export: %#x", kind)
	}
	ask.option(optAbort, nil)
	if kind, _ := ask.optionReply(); kind != repAck {
		t.Errorf("abort: %#x", kind)
	}
}

// A restored volume pays for the first access to each of the pieces that are not loaded, once.
func TestRestore(t *testing.T) {
	s, dir := listen(t)
	v := volume(t, s, dir, "r", 10<<20, nil, Behaviour{FirstTouch: time.Nanosecond})
	c := dial(t, dir, "r")
	if n := v.Restore(0.25, 7); n != 5 {
		t.Fatalf("%d of 20 pieces are not loaded, want 5", n)
	}
	loaded := 0
	for p := range int64(20) {
		if v.Loaded(p<<19, 1) {
			loaded++
		}
		c.read(p<<19+8192, 4096)
		c.read(p<<19, 4096)
	}
	if n := v.Stats().FirstTouches; loaded != 15 || n != 5 || !v.Loaded(0, 10<<20) {
		t.Errorf("%d pieces were loaded, %d first touches, want 15 and 5", loaded, n)
	}
}
