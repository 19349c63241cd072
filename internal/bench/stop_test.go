package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// capped is a scenario on a volume of 1,000 IOPS, or one that bursts to that from 300.
func capped(burst bool, set bundle.Settings) (*runner, suite.Scenario) {
	s := suite.Scenario{ID: 4, Name: "rand-write", Role: topology.Data, Job: fio.JobFile{Sections: []fio.Section{{Name: "a"}}}}
	c := ceiling.Ceiling{Bounds: []ceiling.Bound{{Kind: ceiling.VolumeIOPS, IOPS: 1000}}}
	if burst {
		c.Bounds = []ceiling.Bound{
			{Kind: ceiling.VolumeIOPS, IOPS: 300}, {Kind: ceiling.VolumeIOPS, IOPS: 1000, Burst: true},
		}
	}
	return &runner{plan: Plan{Settings: set}, ceilings: map[int]ceiling.Ceiling{4: c}}, s
}

// feed gives a stopper seconds of about level IOPS until it ends the run, 120 at most, the first
// warm ones above it.
func feed(st *stopper, level float64, warm int) *result.Result {
	rng := rand.New(rand.NewPCG(1, 2))
	r := &result.Result{}
	for i := range 120 {
		n := level * (1 + .003*rng.NormFloat64())
		if i < warm {
			n = 1.5 * level
		}
		s := result.Second{At: time.Duration(i+1) * time.Second, Len: time.Second, Write: result.Interval{N: uint64(n), Bytes: 8192}}
		s.Write.Hist = &fio.Hist{}
		s.Write.Hist.Add(time.Millisecond, uint64(n))
		r.Seconds = append(r.Seconds, s)
		st.add(s)
		if st.settled.At > 0 {
			break
		}
	}
	return r
}

func TestCappedVolumeEndsEarly(t *testing.T) {
	run, s := capped(false, bundle.Settings{Stop: .02})
	ended := 0
	st := run.newStopper(s, func() { ended++ })
	r := feed(st, 998, 3)
	if len(r.Seconds) < 10 || len(r.Seconds) > 25 || ended != 1 {
		t.Errorf("ended %d times, after %d s", ended, len(r.Seconds))
	}
	st.finish(r, nil, time.Time{})
	if r.Stopped == nil || r.Stopped.From < 2 || !r.Stopped.Pinned || r.Stopped.AtBurst {
		t.Fatalf("%+v", r.Stopped)
	}
	// The warm-up is out of the figures, too.
	if n := float64(r.Total.Write.IOPS); n < 990 || n > 1006 || r.Measured != time.Duration(len(r.Seconds)-r.Stopped.From)*time.Second {
		t.Errorf("%v IOPS over %v", n, r.Measured)
	}
	if p, ok := r.Total.Write.Clat.At(50); !ok || p < 990*time.Microsecond || p > 1010*time.Microsecond {
		t.Error(p)
	}
	if !strings.Contains(strings.Join(r.Doubts, "\n"), "stopped after") || strings.Contains(strings.Join(r.Doubts, "\n"), "burst") {
		t.Error(r.Doubts)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := st.stopped(ctx, context.Canceled); err != nil {
		t.Error("our own interruption is an error:", err)
	}
	if err := st.stopped(ctx, &sys.Failed{Code: interrupted}); err != nil {
		t.Error("fio's exit status after SIGINT is an error:", err)
	}
	if err := st.stopped(ctx, &sys.Failed{Code: 1}); err == nil {
		t.Error("another exit status is lost")
	}
	other := errors.New("fio died")
	if err := st.stopped(ctx, other); !errors.Is(err, other) {
		t.Error(err)
	}
	cancel()
	if err := st.stopped(ctx, context.Canceled); err == nil {
		t.Error("the user's interruption is lost")
	}
}

func TestBurstNeverPassesForSustained(t *testing.T) {
	run, s := capped(true, bundle.Settings{Stop: .02})
	st := run.newStopper(s, func() {})
	r := feed(st, 1000, 0)
	st.finish(r, nil, time.Time{})
	if !strings.Contains(strings.Join(r.Doubts, "\n"), "a burst figure") || !strings.Contains(strings.Join(r.Doubts, "\n"), "the sustained 300 IOPS were not measured") {
		t.Error(r.Doubts)
	}
	// With --sustained it goes on past the burst.
	run, s = capped(true, bundle.Settings{Stop: .02, Sustained: true})
	st = run.newStopper(s, func() { t.Error("ended in its burst") })
	r = feed(st, 1000, 0)
	st.finish(r, nil, time.Time{})
	if len(r.Seconds) != 120 || !strings.Contains(strings.Join(r.Doubts, "\n"), "not known to ± 2.0 % after 120 s") {
		t.Errorf("%d s: %v", len(r.Seconds), r.Doubts)
	}
}

func TestNoStopper(t *testing.T) {
	run, s := capped(false, bundle.Settings{})
	if st := run.newStopper(s, nil); st != nil {
		t.Error("stops unasked")
	}
	run, s = capped(false, bundle.Settings{Stop: .02})
	s.AsIs = true
	if st := run.newStopper(s, nil); st != nil {
		t.Error("stops a job file of its own times")
	}
	s.AsIs, s.Job.Sections = false, make([]fio.Section, 2)
	if st := run.newStopper(s, nil); st != nil {
		t.Error("stops a sequence of loads")
	}
	var none *stopper
	none.add(result.Second{Len: time.Second})
	none.finish(&result.Result{}, nil, time.Time{})
	if err := none.stopped(t.Context(), context.Canceled); err == nil {
		t.Error("an error is lost")
	}
}
