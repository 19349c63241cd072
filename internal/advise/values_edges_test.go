package advise

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// A type is too slow for a stream at these edges: it takes 600 µs to read.
func TestTooSlowEdges(t *testing.T) {
	typical := &cloud.TypicalLatency{Read: 600, Write: 800, Synced: 2000, Source: "a test"}
	limit := func(d time.Duration) workload.Latency {
		return workload.Latency{Percentiles: []workload.Percentile{{P: 99, Limit: d}}}
	}
	for _, c := range []struct {
		s    workload.Stream
		want string
	}{
		{workload.Stream{ReadShare: 1, IOPS: 1e6}, ""},
		{workload.Stream{ReadShare: 1, IOPS: 100, Latency: limit(600 * time.Microsecond)}, ""},
		{workload.Stream{ReadShare: 1, IOPS: 100, Latency: limit(599 * time.Microsecond)}, "needs 599 µs, and the idle latency is 600 µs"},
		// 6 in flight give 10,000 a second.
		{workload.Stream{ReadShare: 1, IOPS: 10000, Threads: 3, Depth: 2}, ""},
		{workload.Stream{ReadShare: 1, IOPS: 10100, Threads: 3, Depth: 2}, "has 6 I/Os in flight, and at 600 µs each they give 10,000 of 10,100"},
		{workload.Stream{ReadShare: 1, IOPS: 1667, Threads: 1}, ""},
		{workload.Stream{ReadShare: 1, IOPS: 1670, Threads: 1}, "1 I/O in flight"},
		// Two clients with S of 2 ms commit 2 / 6 ms at the least, 2 / 4 ms at best; three would do for 400.
		{workload.Stream{Commits: true, Threads: 2, IOPS: 333, Sync: workload.Sync{Each: 1}}, ""},
		{workload.Stream{Commits: true, Threads: 2, IOPS: 400, Sync: workload.Sync{Each: 1}}, "allows 2 clients 333 of 400 commits per second (500 at best); 3 clients would do"},
		{workload.Stream{Commits: true, Threads: 0, IOPS: 400, Sync: workload.Sync{Each: 1}}, "allows 1 client 333 of 400 commits per second (500 at best); 3 clients would do"},
	} {
		got := (&Request{Demand: &workload.Demand{}}).tooSlow("x", typical, &c.s)
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.s, got, c.want)
		}
	}
	if got := (&Request{Demand: &workload.Demand{}}).tooSlow("x", nil, &workload.Stream{IOPS: 1e9, Threads: 1}); got != "" {
		t.Errorf("nothing is known: %q", got)
	}
}

// Hard disks are for streams that nobody waits for.
func TestUnfitEdges(t *testing.T) {
	for text, want := range map[string]string{
		"{does: sequential read, block: 1MiB, rate: 10MiB/s}":                       "",
		"{does: random read, block: 1MiB, rate: 10MiB/s}":                           "is random",
		"{does: sequential read, block: 1MiB, rate: 10MiB/s, latency: {p99: 9ms}}":  "needs 9 ms, which no hard disk delivers",
		"{does: sequential read, block: 1MiB, rate: 10MiB/s, latency: {p99: 10ms}}": "",
		"{does: sequential write, block: 1MiB, rate: 10MiB/s, sync: fdatasync}":     "waits for its writes",
	} {
		r := Request{Demand: demand(t, "capacity: 1GiB\nstreams:\n  - "+text+"\n"), Prices: cloud.BuiltinPrices()}
		if got := r.unfit("st1"); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A course is known for periods of up to a week.
func TestCourseEdges(t *testing.T) {
	l := Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3"}}
	for every, want := range map[time.Duration]bool{7 * day: true, 7*day + time.Hour: false, time.Second: true} {
		r := Request{BurstOK: true, Demand: &workload.Demand{Streams: []workload.Stream{
			{ReadShare: 1, IOPS: 10, Blocks: []workload.Block{{Size: 4096, Share: 1}}, Burst: &workload.Burst{For: every / 2, Every: every}},
		}}}
		if got := r.course(l); (got != nil) != want {
			t.Errorf("every %v: %d spans", every, len(got))
		}
	}
	// 5 s and 7 d: 120,960 periods have more changes than are followed.
	r := Request{Demand: &workload.Demand{Streams: []workload.Stream{
		{ReadShare: 1, IOPS: 10, Blocks: []workload.Block{{Size: 4096, Share: 1}}, Burst: &workload.Burst{For: time.Second, Every: 5 * time.Second}},
		{ReadShare: 1, IOPS: 10, Blocks: []workload.Block{{Size: 4096, Share: 1}}, Burst: &workload.Burst{For: time.Second, Every: 7 * day}},
	}}}
	if got := r.course(l); got != nil {
		t.Errorf("%d spans", len(got))
	}
}

// An instance's own drives by hand: two of 100,000 reads and 50,000 writes, 1,000 and 500 MiB/s.
func TestLocalHoldsEdges(t *testing.T) {
	s := cloud.InstanceStore{Count: 2, Limits: cloud.Limits{ReadIOPS: 100000, WriteIOPS: 50000, ReadRate: 1000 * units.MiBPerSec, WriteRate: 500 * units.MiBPerSec}}
	stream := func(reads float64, iops units.IOPS, mibs float64) workload.Stream {
		return workload.Stream{Name: "s", ReadShare: reads, IOPS: iops, Rate: units.Rate(mibs) * units.MiBPerSec}
	}
	for name, c := range map[string]struct {
		streams  []workload.Stream
		headroom float64
		want     bool
	}{
		"all reads":            {[]workload.Stream{stream(1, 200000, 2000)}, 0, true},
		"one read more":        {[]workload.Stream{stream(1, 200001, 2000)}, 0, false},
		"a byte more":          {[]workload.Stream{stream(1, 200000, 2000.1)}, 0, false},
		"all writes":           {[]workload.Stream{stream(0, 100000, 1000)}, 0, true},
		"one write more":       {[]workload.Stream{stream(0, 100001, 1000)}, 0, false},
		"written bytes":        {[]workload.Stream{stream(0, 100000, 1000.1)}, 0, false},
		"half of each":         {[]workload.Stream{stream(0.5, 200000, 2000)}, 0, true},
		"two streams together": {[]workload.Stream{stream(1, 100000, 1000), stream(1, 100001, 1000)}, 0, false},
		"with headroom":        {[]workload.Stream{stream(1, 180000, 100)}, 0.2, false},
		"within it":            {[]workload.Stream{stream(1, 160000, 100)}, 0.25, true},
	} {
		r := Request{Headroom: c.headroom, Demand: &workload.Demand{Streams: c.streams}}
		if got := r.localHolds(s); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	s.Limits.ReadRate = 0
	if (&Request{Demand: &workload.Demand{Streams: []workload.Stream{stream(1, 1, 1)}}}).localHolds(s) {
		t.Error("drives of which no rate is known")
	}
}

// A replay of gaps: what waits is served in order, also after the end.
func TestReplayInOrder(t *testing.T) {
	flat := func(base float64) []bucket {
		return []bucket{{pool{Bucket: ceiling.Bucket{Base: base, Top: base}}, "flat", ofIOPS}}
	}
	// 300 a second for 10 s on 100 a second, then nothing: 2,000 wait at 10 s, the last is done at 30 s.
	got := run([]span{{need: need{iops: 300}, seconds: 10}, {seconds: 60}}, []float64{3000, 0}, flat(100))
	if got.Throttled != 30*time.Second || math.Abs(got.Backlog-2000) > 1 || math.Abs(float64(got.Wait)/1e9-20) > 0.01 || got.Lowest != 1 {
		t.Errorf("%+v", got)
	}
	// At the end of the series it goes on until all is done.
	got = run([]span{{need: need{iops: 300}, seconds: 10}}, []float64{3000}, flat(100))
	if got.Throttled != 30*time.Second || math.Abs(float64(got.Wait)/1e9-20) > 0.01 {
		t.Errorf("%+v", got)
	}
	// What waits is caught up with while work goes on, in two paces. 200 I/Os a second for 10 s on 100 a second are done
	// at 20 s. Then 20 B a second come for 30 s, of which those of 10 s wait: 100 B a second are served while 50 of credits
	// last, which the 50 a second above the base spend in 1 s, and 50 then. After it 20 × 11 have come and 100 are done:
	// the other 120 take 4 s at 50 - 20, up to 25 s.
	two := append(flat(100), bucket{pool{Bucket: ceiling.Bucket{Base: 50, Top: 100, Size: 50, Left: 50}}, "bytes", ofBytes})
	got = run([]span{{need: need{iops: 200}, seconds: 10}, {need: need{bytes: 20}, seconds: 30}}, []float64{2000, 0}, two)
	if got.Throttled != 25*time.Second || math.Abs(float64(got.Wait)/1e9-10) > 0.01 || math.Abs(got.Backlog-1000) > 1 || got.Of != "bytes" || got.lowest != 1 {
		t.Errorf("%+v", got)
	}
	// As much as there is: nothing waits.
	if got = run([]span{{need: need{iops: 100}, seconds: 10}}, []float64{1000}, flat(100)); got.Throttled != 0 || got.Backlog > 1e-6 {
		t.Errorf("%+v", got)
	}
	// A fresh day fills what was spent: 1,000 of credits twice.
	daily := []bucket{{pool{Bucket: ceiling.Bucket{Base: 100, Top: 300, Size: 1000, Left: 1000}, daily: true}, "credits", ofIOPS}}
	spans := []span{{need: need{iops: 300}, seconds: 5}, {need: need{iops: 300}, seconds: 5, fresh: true}}
	if got = run(spans, []float64{1500, 1500}, daily); got.Throttled != 0 || got.Lowest > 1e-6 {
		t.Errorf("%+v", got)
	}
	daily[0].Left, daily[0].daily = 1000, false
	if got = run(spans, []float64{1500, 1500}, daily); got.Throttled < 14*time.Second || got.Throttled > 15100*time.Millisecond {
		t.Errorf("%+v", got) // 1,500 come in 5 s and take 15 at 100 a second
	}
}

// Names of rows, and what a reader is shown first.
func TestNamesByHand(t *testing.T) {
	c := func(month cloud.USD, n int, afr float64, survives workload.Survives, latency time.Duration, local bool) Candidate {
		return Candidate{Month: month, Layout: Layout{N: n, Local: local}, AFR: afr, Survives: survives, Latency: latency, Type: "x"}
	}
	front := []Candidate{
		c(50, 1, 0, workload.NoLoss, 100_000, true), c(100, 4, 0.008, workload.LostInstance, 600_000, false), c(120, 6, 0, workload.LostVolume, 600_000, false),
		c(150, 1, 0.002, workload.LostInstance, 600_000, false), c(400, 1, 0.00001, workload.LostInstance, 350_000, false),
	}
	names := func(rows []Candidate) string {
		var all []string
		for _, r := range rows {
			all = append(all, strings.Join(r.Names, ", "))
		}
		return strings.Join(all, "; ")
	}
	a, r := &Advice{}, Request{Demand: &workload.Demand{}}
	if got := names(a.name(front, r)); got != "cheapest that keeps its data when the instance stops; redundant; one volume; "+
		"lowest failure rate, lowest latency; local drives, empty after a stop" {
		t.Error(got)
	}
	r.Demand.Durability.Survives = workload.NoLoss
	if got := names(a.name(front, r)); got != "cheapest, lowest latency, local drives, empty after a stop; redundant; one volume; lowest failure rate" {
		t.Error(got)
	}
	// Of two that are alike the first is all of it.
	twins := []Candidate{c(100, 1, 0.002, workload.LostInstance, 600_000, false), c(100, 1, 0.002, workload.LostInstance, 600_000, false)}
	if got := names(a.name(twins, Request{Demand: &workload.Demand{}})); got != "cheapest, one volume, lowest failure rate, lowest latency" {
		t.Error(got)
	}
	r.Demand.Durability.Survives = ""
	if rows := a.name(front[:1], r); rows != nil || !strings.Contains(a.Rejected[0], "local drives: one in an x at") {
		t.Errorf("%+v %q", rows, a.Rejected)
	}
	r.Instance, r.Keep = "x", &Layout{}
	if got := names(a.name(front[1:2], r)); got != "your volumes" {
		t.Error(got)
	}
}

// Kept volumes are called the best of what no other row is better at, and others only of what is left.
func TestKeptVolumesBesideOthers(t *testing.T) {
	c := func(month cloud.USD, n int, afr float64, latency time.Duration, names ...string) Candidate {
		return Candidate{Month: month, Layout: Layout{N: n}, AFR: afr, Survives: workload.LostInstance, Latency: latency, Names: names}
	}
	for name, in := range map[string]struct {
		own    Candidate
		others []Candidate
		want   []string // own first
	}{
		"dear, reliable and fast": {
			c(811, 1, 0.00001, 350_000, yours),
			[]Candidate{c(139, 2, 0.004, 600_000, "cheapest"), c(154, 1, 0.002, 600_000, "one volume", "lowest failure rate")},
			[]string{"your volumes, lowest failure rate", "cheapest", "one volume, lowest failure rate of the alternatives"},
		},
		"cheapest of all": {
			c(100, 4, 0.008, 600_000, yours),
			[]Candidate{c(139, 2, 0.004, 600_000, "cheapest"), c(811, 1, 0.00001, 350_000, "lowest failure rate", "lowest latency")},
			[]string{"your volumes, cheapest", "cheapest alternative", "lowest failure rate, lowest latency"},
		},
		"best at nothing": {
			c(1373, 4, 0.008, 600_000, yours),
			[]Candidate{c(992, 8, 0.004, 350_000, "cheapest", "lowest failure rate", "lowest latency")},
			[]string{"your volumes", "cheapest, lowest failure rate, lowest latency"},
		},
	} {
		beside(&in.own, in.others, superlatives(Request{Demand: &workload.Demand{}}))
		for i, c := range append([]Candidate{in.own}, in.others...) {
			if got := strings.Join(c.Names, ", "); got != in.want[i] {
				t.Errorf("%s: row %d is called %q", name, i+1, got)
			}
		}
	}
}

// A section that runs for less than 95 % of the job comes in bursts.
func TestBurstOfEdges(t *testing.T) {
	of := func(runs time.Duration) *workload.Burst {
		all := fio.Workload{TimeBased: true, Runtime: 100 * time.Second}
		one := fio.Workload{TimeBased: true, Runtime: runs, StartDelay: 3 * time.Second}
		return burstOf([]fio.Workload{all, one}, one)
	}
	if b := of(95 * time.Second); b != nil {
		t.Errorf("%+v", b)
	}
	if b := of(94 * time.Second); b == nil || *b != (workload.Burst{For: 94 * time.Second, Every: 100 * time.Second, After: 3 * time.Second}) {
		t.Errorf("%+v", b)
	}
}

// What a run showed counts where it is less than what is stated, of gp2 for gp3 too.
func TestTypicalByHand(t *testing.T) {
	gp3, _ := cloud.TypeNamed("gp3")
	stated := *gp3.Typical
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	for name, c := range map[string]struct {
		shown       map[string]Took
		read, write int
	}{
		"nothing": {nil, stated.Read, stated.Write}, "less": {map[string]Took{"gp3": {us(100), us(200)}}, 100, 200},
		"of gp2": {map[string]Took{"gp2": {Read: us(100)}}, 100, stated.Write}, "more": {map[string]Took{"gp3": {us(90000), us(90000)}}, stated.Read, stated.Write},
		"of io2": {map[string]Took{"io2": {us(1), us(1)}}, stated.Read, stated.Write},
	} {
		if got := (&Request{Shown: c.shown}).typical(gp3); got.Read != c.read || got.Write != c.write {
			t.Errorf("%s: %+v, want %d and %d", name, got, c.read, c.write)
		}
	}
	if again, _ := cloud.TypeNamed("gp3"); *again.Typical != stated {
		t.Error("the catalogue was changed")
	}
}
