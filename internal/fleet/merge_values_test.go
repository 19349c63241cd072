package fleet

import (
	"slices"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// steady is a host that did n reads of 4 KiB in each of so many seconds, from start on.
func steady(name string, start time.Duration, seconds int, n uint64) measured {
	r := &result.Result{ID: 3, Name: "rand-read", State: result.Done}
	for k := 1; k <= seconds; k++ {
		s := result.Second{At: time.Duration(k) * time.Second, Len: time.Second, Sync: &fio.Hist{}}
		s.Read.N, s.Read.Bytes, s.Read.Hist = n, units.Bytes(n)*4096, &fio.Hist{}
		s.Read.Hist.Add(time.Millisecond, n)
		s.Sync.Add(2*time.Millisecond, 1)
		r.Seconds = append(r.Seconds, s)
	}
	return measured{host: name, start: start, result: r}
}

// A run that was to be stopped when its figure is known has measured all it planned; one that was cut short
// has not.
func TestPlannedTimeOfAStoppedRun(t *testing.T) {
	for name, c := range map[string]struct {
		stopped *stats.Settled
		share   float64
		invalid []string
	}{
		"stopped": {&stats.Settled{At: 30}, 1, nil},
		"cut":     {nil, 0.5, []string{"All hosts measured together for only 30 s of 60 s."}},
	} {
		all := []measured{steady("h1", 0, 30, 100), steady("h2", 0, 30, 100)}
		for i := range all {
			all[i].result.Stopped = c.stopped
			all[i].result.Workloads = []fio.Workload{{Runtime: time.Minute}}
		}
		f := merge(all, time.Time{})
		if f.Common.Share != c.share || !slices.Equal(f.Invalid, c.invalid) {
			t.Errorf("%s: %v of what was planned, %q; want %v, %q", name, f.Common.Share, f.Invalid, c.share, c.invalid)
		}
	}
}

// A host's ceiling is the least of its bounds, but for the latency that the run itself has measured: a slow
// host would always reach that.
func TestOwnLatencyBoundsNoHost(t *testing.T) {
	volumes := ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 12_000}
	burst := ceiling.Bound{Kind: ceiling.InstanceIOPS, IOPS: 9000, Burst: true}
	latency := func(kind topology.OriginKind) ceiling.Bound {
		return ceiling.Bound{Kind: ceiling.Concurrency, IOPS: 500, Origin: topology.Origin{Kind: kind}}
	}
	for name, c := range map[string]struct {
		bounds             []ceiling.Bound
		ceiling, sustained units.IOPS
	}{
		"volumes":            {[]ceiling.Bound{volumes}, 12_000, 12_000},
		"a burst above":      {[]ceiling.Bound{burst, volumes}, 9000, 12_000},
		"its own latency":    {[]ceiling.Bound{latency(topology.Measured), volumes}, 12_000, 12_000},
		"a declared latency": {[]ceiling.Bound{latency(topology.Declared), volumes}, 500, 500},
		"nothing else":       {[]ceiling.Bound{latency(topology.Measured)}, 0, 0},
		"no bounds":          {nil, 0, 0},
	} {
		var row bundle.FleetFigure
		bounds(&row, &ceiling.Ceiling{Bounds: c.bounds})
		if row.Ceiling != c.ceiling || row.Sustained != c.sustained || (row.Limit == "") != (c.ceiling == 0) {
			t.Errorf("%s: %v (%q), sustained %v; want %v and %v", name, row.Ceiling, row.Limit, row.Sustained, c.ceiling, c.sustained)
		}
	}
	var row bundle.FleetFigure
	if bounds(&row, nil); row.Ceiling != 0 || row.Sustained != 0 {
		t.Errorf("without a ceiling: %+v", row)
	}
}

// The syncs of all hosts are in one histogram: those of the seconds that lie wholly in the common time.
func TestSyncsOfHostsAreMerged(t *testing.T) {
	all := []measured{steady("h1", 0, 10, 100), steady("h2", 2500*time.Millisecond, 10, 50)}
	f := merge(all, time.Time{})
	// From 2.5 s to 10 s: seven whole seconds of each; 7.5 s with 100 and 50 I/Os.
	if f.Total.Sync == nil || f.Total.Sync.Count() != 14 || f.Total.Hist.Count() != 7*100+7*50 {
		t.Errorf("syncs %v, I/Os %d", f.Total.Sync, f.Total.Hist.Count())
	}
	if f.Total.IOPS != 150 || f.Total.BW != 150*4096 || f.Hosts[0].IOPS != 100 || f.Hosts[1].IOPS != 50 {
		t.Errorf("%v IOPS and %v, %+v", f.Total.IOPS, f.Total.BW, f.Hosts)
	}
	for i := range all {
		for k := range all[i].result.Seconds {
			all[i].result.Seconds[k].Sync = nil
		}
	}
	if f := merge(all, time.Time{}); f.Total.Sync != nil {
		t.Errorf("without syncs: %v", f.Total.Sync)
	}
}

// Seconds of the ramp, and those without a length, count nothing; a second that is cut counts by its part.
func TestSecondsThatCount(t *testing.T) {
	m := steady("h1", 0, 4, 100)
	m.result.Seconds[0].Ramp = true
	m.result.Seconds[1].Len = 0
	if from, to, ok := m.window(); !ok || from != 2*time.Second || to != 4*time.Second {
		t.Errorf("from %v to %v, %t", from, to, ok)
	}
	for _, c := range []struct {
		from, to time.Duration
		n        float64
		whole    uint64
	}{
		{0, 10 * time.Second, 200, 200},
		{0, 2 * time.Second, 0, 0},
		{2 * time.Second, 3 * time.Second, 100, 100},
		{2250 * time.Millisecond, 3500 * time.Millisecond, 125, 0},
		{2250 * time.Millisecond, 4 * time.Second, 175, 100},
		{4 * time.Second, 5 * time.Second, 0, 0},
	} {
		did := m.within(c.from, c.to)
		if did.n != c.n || did.bytes != c.n*4096 || did.hist.Count() != c.whole {
			t.Errorf("%v to %v: %v I/Os, %v bytes, %d latencies; want %v and %d", c.from, c.to, did.n, did.bytes, did.hist.Count(), c.n, c.whole)
		}
	}
	if e := estimate([]measured{m}, 0, 4*time.Second, 50); e.None != "4 s only" || e.Lo != 50 || e.Hi != 50 || e.Center != 50 {
		t.Errorf("of four seconds: %+v", e)
	}
	counts := make([]float64, 3)
	m.spread(counts, 1500*time.Millisecond)
	if want := []float64{50, 100, 50}; !slices.Equal(counts, want) {
		t.Errorf("by second from 1.5 s on: %v, want %v", counts, want)
	}
}
