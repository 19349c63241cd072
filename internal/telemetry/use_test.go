package telemetry

import (
	"math"
	"testing"
	"time"
)

func TestUse(t *testing.T) {
	const ms = time.Millisecond
	s := &Series{Devices: []string{"a", "b"}, CPUs: 4}
	for i := range 11 {
		n := uint64(i)
		d := time.Duration(i)
		s.Samples = append(s.Samples, Sample{
			At: d * 100 * ms,
			Devices: []Device{
				// A second: 1000 reads of 8 KiB in 0.5 ms each, 200 flushes, busy 0.9 of the time,
				// 2.5 outstanding.
				{Reads: 7 + 100*n, ReadBytes: 8192 * 100 * 1, ReadTime: d * 50 * ms, Busy: d * 90 * ms, Queue: d * 250 * ms, Flushes: 20 * n},
				{Busy: d * 101 * ms, Gone: i == 0 || i == 10},
			},
			Dirty: 4096 * 10, Overhead: d * 10 * time.Microsecond, IOSome: d * 20 * ms,
			CPU: CPU{User: d * 100 * ms, System: d * 50 * ms, Idle: d * 200 * ms, IOWait: d * 50 * ms},
		})
	}
	s.Samples[5].Dirty = 1 << 20
	s.Samples[1].Devices[1].Busy = 4294967290 * ms // wraps before the next
	s.Samples[2].Devices[1].Busy = 4 * ms
	for i := 3; i < 10; i++ {
		s.Samples[i].Devices[1].Busy = 4*ms + time.Duration(i-2)*101*ms
	}
	u := s.Use(0, time.Second)
	if a := u[0]; a.Reads != 1000 || math.Abs(float64(a.ReadIOPS)-1000) > 1e-9 || a.ReadWait != 500*time.Microsecond ||
		math.Abs(a.Queue-2.5) > 1e-9 || math.Abs(a.Util-0.9) > 1e-9 || math.Abs(float64(a.Flushes)-200) > 1e-9 {
		t.Errorf("%+v", a)
	}
	// b was there from 0.1 to 0.9 s: 10 ms across the wrap, then 7 × 101 ms.
	if b := u[1]; math.Abs(b.Util-0.717/0.8) > 1e-9 {
		t.Errorf("%+v", b)
	}
	if u := s.Use(310*ms, 390*ms)[1]; u.Util != 1 {
		t.Errorf("101 ms busy in 100 ms is %v, want it clipped to 1", u.Util)
	}
	for _, empty := range [][2]time.Duration{{0, 10 * ms}, {time.Second, 0}, {2 * time.Second, 3 * time.Second}} {
		if u := s.Use(empty[0], empty[1]); u != nil {
			t.Errorf("%v: %+v", empty, u)
		}
	}
	h := s.Host(0, time.Second)
	want := HostUse{CPUs: 4, User: 0.25, System: 0.125, IOWait: 0.125, DirtyMax: 1 << 20, IOSome: 0.2, SamplerCPU: 0.0001}
	if math.Abs(h.SamplerCPU-want.SamplerCPU) > 1e-12 || math.Abs(h.IOSome-want.IOSome) > 1e-12 {
		t.Errorf("%+v", *h)
	}
	h.SamplerCPU, h.IOSome = want.SamplerCPU, want.IOSome
	if *h != want {
		t.Errorf("%+v\nwant %+v", *h, want)
	}
	if h := s.Host(600*ms, time.Second); h.DirtyMax != 40960 {
		t.Errorf("dirty %v outside of its window", h.DirtyMax)
	}
	var none Series
	if none.Use(0, time.Hour) != nil || none.Host(0, time.Hour) != nil {
		t.Error("a series without samples has a use")
	}
}

func TestSince(t *testing.T) {
	for _, c := range []struct{ a, b, want uint64 }{
		{5, 9, 4},
		{9, 9, 0},
		{1<<32 - 3, 4, 7},           // 32 bits wrapped
		{1000, 4, 4},                // the device came back
		{1 << 40, 1 << 33, 1 << 33}, // likewise: 64 bits do not wrap
	} {
		if got := since(c.a, c.b); got != c.want {
			t.Errorf("from %d to %d: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
