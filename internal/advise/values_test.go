package advise

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// What is ordered for a need, by the rules of each type, worked out by hand.
func TestOrdersByHand(t *testing.T) {
	const mib = float64(units.MiBPerSec)
	for _, c := range []struct {
		typ      string
		level    topology.Level
		n        int
		capacity units.Bytes // GiB
		iops     float64
		mibs     float64
		want     cloud.VolumeSpec // Size in GiB, Rate in MiB/s
	}{
		// gp3: 3,000 IOPS and 125 MiB/s come with it, 500 IOPS of each GiB, a quarter MiB/s of each IOPS.
		{"gp3", topology.Single, 1, 100, 2000, 100, cloud.VolumeSpec{Size: 100, IOPS: 3000, Rate: 125}},
		{"gp3", topology.Single, 1, 1, 3001, 0, cloud.VolumeSpec{Size: 7, IOPS: 3001, Rate: 125}},
		{"gp3", topology.Single, 1, 100, 3000.2, 125.5, cloud.VolumeSpec{Size: 100, IOPS: 3001, Rate: 126}},
		{"gp3", topology.Single, 1, 100, 100, 1001, cloud.VolumeSpec{Size: 100, IOPS: 4004, Rate: 1001}},
		{"gp3", topology.RAID0, 4, 100, 20000, 600, cloud.VolumeSpec{Size: 25, IOPS: 5000, Rate: 150}},
		{"gp3", topology.RAID10, 4, 100, 20000, 600, cloud.VolumeSpec{Size: 50, IOPS: 5000, Rate: 150}},
		{"gp3", topology.RAID0, 3, 100, 0, 0, cloud.VolumeSpec{Size: 34, IOPS: 3000, Rate: 125}},
		// io2: 1,000 IOPS of each GiB, and 4 GiB at least.
		{"io2", topology.Single, 1, 1, 5000, 0, cloud.VolumeSpec{Size: 5, IOPS: 5000}},
		{"io2", topology.Single, 1, 1, 1000, 0, cloud.VolumeSpec{Size: 4, IOPS: 1000}},
		// io1: 50 of each GiB.
		{"io1", topology.Single, 1, 4, 5000, 0, cloud.VolumeSpec{Size: 100, IOPS: 5000}},
		// gp2: 3 IOPS of each GiB, 100 at least; 128 MiB/s up to 170 GiB.
		{"gp2", topology.Single, 1, 1, 100, 128, cloud.VolumeSpec{Size: 1}},
		{"gp2", topology.Single, 1, 1, 101, 128, cloud.VolumeSpec{Size: 34}},
		{"gp2", topology.Single, 1, 1, 100, 129, cloud.VolumeSpec{Size: 171}},
		{"gp2", topology.Single, 1, 400, 900, 250, cloud.VolumeSpec{Size: 400}},
		// st1: 40 MiB/s of each TiB, 125 GiB at least, a MiB of each counted I/O.
		{"st1", topology.Single, 1, 1, 1, 1, cloud.VolumeSpec{Size: 125}},
		{"st1", topology.Single, 1, 1, 10, 20, cloud.VolumeSpec{Size: 512}},
		{"st1", topology.Single, 1, 1, 40, 20, cloud.VolumeSpec{Size: 1024}},
	} {
		r := Request{Demand: &workload.Demand{Capacity: c.capacity * units.GiB}}
		l := Layout{Level: c.level, N: c.n, Spec: cloud.VolumeSpec{Type: c.typ}}
		got := r.order(l, need{c.iops, c.mibs * mib})
		want := cloud.VolumeSpec{Type: c.typ, Size: c.want.Size * units.GiB, IOPS: c.want.IOPS, Rate: c.want.Rate * units.MiBPerSec}
		if got != want {
			t.Errorf("%d × %s for %v IOPS and %v MiB/s: %+v, want %+v", c.n, c.typ, c.iops, c.mibs, got, want)
		}
	}
}

// What a layout's data survive is compared with what the demand says they must.
func TestDurableByHand(t *testing.T) {
	gp3 := func(level topology.Level, n int) Layout {
		return Layout{Level: level, N: n, Spec: cloud.VolumeSpec{Type: "gp3"}}
	}
	local := Layout{Level: topology.RAID0, N: 2, Local: true, Spec: cloud.VolumeSpec{Type: localType}}
	for _, c := range []struct {
		afr      float64
		survives workload.Survives
		l        Layout
		want     bool
	}{
		{0, "", gp3(topology.RAID0, 16), true},
		{0.002, "", gp3(topology.Single, 1), true},
		{0.0019, "", gp3(topology.Single, 1), false},
		// 1 - 0.998^2 = 0.003996, ^3 = 0.005988
		{0.003996, "", gp3(topology.RAID0, 2), true},
		{0.0059, "", gp3(topology.RAID0, 3), false},
		{0.006, "", gp3(topology.RAID0, 3), true},
		{0.00001, "", gp3(topology.RAID10, 4), true},
		{0, workload.LostVolume, gp3(topology.Single, 1), false},
		{0, workload.LostVolume, gp3(topology.RAID1, 2), true},
		{0, workload.LostInstance, gp3(topology.RAID0, 4), true},
		{0, "", local, true},
		{0, workload.NoLoss, local, true},
		{0, workload.LostInstance, local, false},
		{0.5, "", local, false},
	} {
		r := Request{Demand: &workload.Demand{Durability: workload.Durability{AFR: c.afr, Survives: c.survives}}}
		if got := r.durable(c.l); got != c.want {
			t.Errorf("%v %q, %s of %d: %v", c.afr, c.survives, c.l.Level, c.l.N, got)
		}
	}
}

// A bucket of 100 a second, 300 in bursts, of 1,000 saved up, under loads that repeat.
func TestCarriesByHand(t *testing.T) {
	p := func(left float64, daily bool) pool {
		return pool{Bucket: ceiling.Bucket{Base: 100, Top: 300, Size: 1000, Left: left}, daily: daily}
	}
	load := func(pairs ...float64) (spans []span) {
		for i := 0; i < len(pairs); i += 2 {
			spans = append(spans, span{need: need{iops: pairs[i]}, seconds: pairs[i+1]})
		}
		return spans
	}
	const rest = 86400
	fresh := load(300, 5, 0, rest/2, 100, rest/2-5)
	fresh = append(fresh, span{need: need{iops: 300}, seconds: 5, fresh: true}, span{need: need{iops: 100}, seconds: rest - 5})
	for name, c := range map[string]struct {
		p     pool
		spans []span
		want  bool
	}{
		"below the base":                {p(1000, false), load(100, rest), true},
		"above the burst":               {p(1000, false), load(301, 1, 0, rest), false},
		"all of it once a day":          {p(1000, false), load(300, 5, 0, rest-5), true},
		"more than all of it":           {p(1000, false), load(300, 5.1, 0, rest-5.1), false},
		"less was saved":                {p(500, false), load(300, 5, 0, rest-5), false},
		"filled between":                {p(1000, false), load(300, 5, 0, 10), true},
		"filled before":                 {p(1000, false), load(0, 10, 300, 5), true},
		"filled before, by half":        {p(1000, false), load(0, 5, 300, 5), false},
		"filled by half, all day":       {p(1000, false), load(300, 5, 0, 5), false},
		"not for a day":                 {p(1000, false), load(300, 1, 100, 3599), false},
		"40 a period, 24 times":         {p(1000, false), load(140, 1, 100, 3599), true},
		"42 a period, 24 times":         {p(1000, false), load(142, 1, 100, 3599), false},
		"whole again each day":          {p(1000, true), fresh, true},
		"not whole again without a day": {p(1000, false), append(load(300, 5, 100, rest-5), span{need: need{iops: 300}, seconds: 5, fresh: true}), false},
	} {
		if got := c.p.carries(c.spans, ofIOPS); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A series on one limit, by hand: 100 a second, 200 in bursts, of 1,000 saved up. In a minute each:
// 50, then 200, then 150, then nothing.
func TestReplayByHand(t *testing.T) {
	spans := []span{{need: need{iops: 50}, seconds: 60}, {need: need{iops: 200}, seconds: 60}, {need: need{iops: 150}, seconds: 60}, {seconds: 60}}
	ios := []float64{3000, 12000, 9000, 0}
	b := []bucket{{pool{Bucket: ceiling.Bucket{Base: 100, Top: 200, Size: 1000, Left: 1000}}, "credits", ofIOPS}}
	got := run(spans, ios, b)
	// 200 last for 10 s; of the other 50 s of the second minute 5,000 wait at its end. Then 150 a second
	// come and 100 are served: 8,000 wait at 180 s, of which the last is served at 260 s: something waits from 70 s on.
	if got.Throttled != 190*time.Second || math.Abs(got.Backlog-8000) > 1 || got.Of != "credits" || got.Lowest > 1e-6 || got.lowest != 1 {
		t.Errorf("%+v", got)
	}
	// What is served at t of the second minute's rest came at 70 + (t - 70)/2; of the third minute's,
	// which begins to be served at 170 s, 100 a second of 150: it waits longest at its end, 260 - 180 s.
	if w := time.Duration(got.Wait); w < 79900*time.Millisecond || w > 80*time.Second || got.worst != 3 {
		t.Errorf("waits %v in %d", w, got.worst)
	}
	// 10 above the base for a minute take 600 of the 1,000.
	calm := run([]span{{need: need{iops: 110}, seconds: 60}, {need: need{iops: 90}, seconds: 60}}, []float64{6600, 5400},
		[]bucket{{pool{Bucket: ceiling.Bucket{Base: 100, Top: 200, Size: 1000, Left: 1000}}, "credits", ofIOPS}})
	if calm.Throttled != 0 || calm.Wait != 0 || calm.Backlog > 1e-6 || math.Abs(calm.Lowest-0.4) > 1e-6 || calm.lowest != 0 {
		t.Errorf("%+v", calm)
	}
}

// The time of an I/O by the shares of reads, writes and syncs: 600 µs, 800 µs and 2 ms.
func TestLatencyOfByHand(t *testing.T) {
	typical := &cloud.TypicalLatency{Read: 600, Write: 800, Synced: 2000, Source: "a test"}
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	for _, c := range []struct {
		reads  float64
		each   int
		synced time.Duration
		want   time.Duration
		source string
	}{
		{1, 0, 0, us(600), "a test"},
		{0, 0, 0, us(800), "a test"},
		{0.75, 0, 0, us(650), "a test"},
		{0, 1, 0, us(2000), "a test"},
		{0, 8, 0, us(950), "a test"},         // 800 + 1,200/8
		{0.5, 4, 0, us(850), "a test"},       // (600 + 800 + 300)/2
		{0, 1, us(500), us(500), "measured"}, // what was measured in place of what is assumed
		{0, 2, us(1000), us(900), "measured"},
	} {
		r := Request{Synced: c.synced}
		s := workload.Stream{ReadShare: c.reads, Sync: workload.Sync{Each: c.each}}
		if got, from := r.latencyOf(r.syncedOn("gp3", typical), &s); got != c.want || from != c.source {
			t.Errorf("%v reads, every %d synced: %v of %s, want %v", c.reads, c.each, got, from, c.want)
		}
	}
	if got, from := (&Request{}).latencyOf(nil, &workload.Stream{}); got != 0 || from != "" {
		t.Errorf("nothing is known: %v", got)
	}
	r := Request{Demand: &workload.Demand{Streams: []workload.Stream{{ReadShare: 1, IOPS: 300}, {IOPS: 100}}}}
	if got := r.meanLatency(typical); got != us(650) {
		t.Errorf("of 300 reads and 100 writes: %v", got)
	}
}

// The time of a synced write replaces that of the type that it was measured on, and of no other.
func TestSyncedOnItsOwnType(t *testing.T) {
	typical := &cloud.TypicalLatency{Synced: 250}
	local := &Layout{Local: true, Spec: cloud.VolumeSpec{Type: localType}}
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"gp3 unless it is said": {Request{}, "gp2 gp3"},
		"the only type":         {Request{Types: []string{"io2"}}, "io2"},
		"one of two":            {Request{Types: []string{"io2", "gp3"}}, "gp2 gp3"},
		"volumes kept":          {Request{Keep: &Layout{Spec: cloud.VolumeSpec{Type: "io2"}}}, "io2"},
		"drives kept":           {Request{Keep: local}, localType},
	} {
		c.r.Synced = 1858 * time.Microsecond
		var got []string
		for _, typ := range []string{"gp2", "gp3", "io2", localType} {
			if c.r.syncedOn(typ, typical).Synced == 1858 {
				got = append(got, typ)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// What a closed loop shows of its storage: 32 in flight and 4,000 a second are 8 ms.
func TestShownByHand(t *testing.T) {
	of := func(w fio.Workload, reads, writes units.IOPS) *result.Result {
		return &result.Result{Workloads: []fio.Workload{w}, Total: job("x", reads, writes, 4096)}
	}
	loop := fio.Workload{Jobs: 4, Depth: 8, Engine: "libaio", ReadBS: 4096, WriteBS: 4096, ReadShare: 0.5}
	change := func(f func(*fio.Workload)) fio.Workload { w := loop; f(&w); return w }
	for name, c := range map[string]struct {
		r    *result.Result
		want Took
	}{
		"both":     {of(loop, 1000, 3000), Took{8 * time.Millisecond, 8 * time.Millisecond}},
		"reads":    {of(loop, 4000, 0), Took{Read: 8 * time.Millisecond}},
		"writes":   {of(loop, 0, 4000), Took{Write: 8 * time.Millisecond}},
		"synced":   {of(change(func(w *fio.Workload) { w.SyncEvery = 1 }), 0, 4000), Took{}},
		"sync=1":   {of(change(func(w *fio.Workload) { w.SyncWrites = true }), 0, 4000), Took{}},
		"held":     {of(change(func(w *fio.Workload) { w.WriteIOPS = 1000 }), 0, 4000), Took{}},
		"no I/O":   {of(loop, 0, 0), Took{}},
		"no loads": {&result.Result{Total: job("x", 1, 1, 4096)}, Took{}},
	} {
		if got := ShownBy(c.r); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := (Took{3, 0}).Least(Took{2, 5}); got != (Took{2, 5}) {
		t.Error(got)
	}
	if got := (Took{3, 4}).Least(Took{0, 5}); got != (Took{3, 4}) {
		t.Error(got)
	}
}

// A peak of a series is its busiest interval, by I/Os and by bytes.
func TestPeaksByHand(t *testing.T) {
	iv := func(reads, writes, size float64) workload.Interval {
		return workload.Interval{Len: time.Minute, Read: workload.Flow{IOPS: reads, Rate: reads * size}, Write: workload.Flow{IOPS: writes, Rate: writes * size}}
	}
	r := Request{Series: &Series{Observed: workload.Observed{Intervals: []workload.Interval{
		iv(900, 0, 4096), iv(500, 500, 4096), iv(0, 200, 65536), iv(30, 150, 65536), iv(980, 0, 5000),
	}}}}
	got := r.peaks()
	if len(got) != 2 || len(got[0]) != 2 || got[0][0].IOPS != 500 || got[0][1].IOPS != 500 || got[0][0].ReadShare != 1 || got[0][1].ReadShare != 0 ||
		len(got[1]) != 1 || got[1][0].IOPS != 200 || got[1][0].Blocks[0].Size != 64*units.KiB {
		t.Errorf("%+v", got)
	}
	for _, flip := range []bool{false, true} { // a smaller one of the same direction, behind and before
		two := []workload.Interval{iv(200, 0, 65536), iv(100, 0, 65536)}
		if flip {
			two = []workload.Interval{iv(0, 100, 65536), iv(0, 200, 65536)}
		}
		small := Request{Series: &Series{Observed: workload.Observed{Intervals: two}}}
		if got := small.peaks(); len(got) != 2 || got[0][0].IOPS != 200 || got[1][0].IOPS != 200 {
			t.Errorf("%+v", got)
		}
	}
	if r.Series.Length() != 5*time.Minute {
		t.Error(r.Series.Length())
	}
}

// What an instance gives of a need, and of which figure least.
func TestSharesByHand(t *testing.T) {
	f := cloud.InstanceFacts{
		NVMe: true, Baseline: cloud.Limits{IOPS: 1000, Rate: 100e6}, Burst: cloud.Limits{IOPS: 4000, Rate: 200e6}, BurstFor: 30 * time.Minute,
	}
	spans := func(high float64) []span {
		return []span{{need: need{iops: high}, seconds: 600}, {need: need{iops: 100}, seconds: 3000}}
	}
	for name, c := range map[string]struct {
		q     requirement
		share float64
		text  string
	}{
		"by I/Os":           {requirement{sized: sized{peak: need{2000, 50e6}}}, 0.5, "sustains 1,000 of 2,000 volume I/Os per second"},
		"by bytes":          {requirement{sized: sized{peak: need{2000, 400e6}}}, 0.25, "sustains 100 MB/s of 400 MB/s"},
		"all of it":         {requirement{sized: sized{peak: need{1000, 100e6}}}, 1, ""},
		"above the burst":   {requirement{sized: sized{peak: need{5000, 50e6}, spans: spans(5000)}}, 0.8, "reaches in bursts 4,000 of 5,000 volume I/Os per second"},
		"above it by bytes": {requirement{sized: sized{peak: need{2000, 250e6}, spans: spans(2000)}}, 0.8, "reaches in bursts 200 MB/s of 250 MB/s"},
		"what always runs":  {requirement{sized: sized{peak: need{3000, 50e6}, spans: spans(3000)}, steady: need{1250, 50e6}}, 0.8, "sustains 1,000 of 1,250 volume I/Os per second"},
		// 3,000 × 1,800 credits carry an hour's 10 min of 2,000 above the base, less 900 × 3,000 s.
		"carried": {requirement{sized: sized{peak: need{3000, 50e6}, spans: spans(3000)}, steady: need{100, 1e6}}, 1. / 3, ""},
		// All day 4,000 for 40 min an hour: 3,000 × 2,400 are more than 5.4 million.
		"credits": {
			requirement{sized: sized{peak: need{4000, 50e6}, spans: []span{{need: need{iops: 4000}, seconds: 2400}, {seconds: 1200}}}, steady: need{100, 1e6}},
			0.25,
			"has too few credits for the bursts: it sustains 1,000 of 4,000 volume I/Os per second",
		},
	} {
		share, _ := c.q.share(f)
		if got := c.q.lacks(f); got != c.text || math.Abs(share-c.share) > 1e-9 && c.text != "" || c.q.holds(f) != (c.text == "") {
			t.Errorf("%s: %v %q, want %v %q", name, share, got, c.share, c.text)
		}
	}
	// 40 attachments less 3 for networks, the root's, and two drives: 34 volumes.
	f.Attachments, f.Taken = 40, 3+1+2
	for n, want := range map[int]bool{33: true, 34: true, 35: false} {
		if (f.Room() >= n) != want {
			t.Errorf("%d volumes: %v", n, !want)
		}
	}
	if got := (requirement{volumes: 35}).lacks(f); got != "can attach at most 34 volumes" {
		t.Error(got)
	}
}

// Which choice beats which.
func TestFrontByHand(t *testing.T) {
	c := func(month cloud.USD, n int, afr float64, survives workload.Survives, latency time.Duration) Candidate {
		return Candidate{Month: month, Layout: Layout{N: n}, AFR: afr, Survives: survives, Latency: latency}
	}
	ms := time.Millisecond
	all := []Candidate{
		c(100, 4, 0.008, workload.LostInstance, ms),
		c(100, 8, 0.016, workload.LostInstance, ms),     // as dear, and less durable
		c(120, 4, 0.008, workload.LostInstance, ms/2),   // faster
		c(130, 2, 0.004, workload.LostInstance, 2*ms),   // more durable
		c(140, 2, 0.004, workload.LostInstance, 2*ms),   // only dearer
		c(150, 1, 0.004, workload.LostInstance, 2*ms),   // simpler
		c(160, 9, 0, workload.LostVolume, 3*ms),         // redundant
		c(170, 4, 0, workload.LostVolume, 3*ms+20*1000), // simpler, 20 µs do not count
	}
	var got []cloud.USD
	for _, k := range front(all) {
		got = append(got, k.Month)
	}
	if want := []cloud.USD{100, 120, 130, 150, 160, 170}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// c's own count is 1 for the kept, 3 for a set of up to four, and many above.
	for n, want := range map[int]int{1: 0, 2: 1, 4: 1, 5: 2} {
		if got := (Candidate{Layout: Layout{N: n}}).simple(); got != want {
			t.Errorf("%d volumes: %d", n, got)
		}
	}
}

// What volumes are, as they can be priced.
func TestLayoutOf(t *testing.T) {
	v := func(typ string, size units.Bytes, iops units.IOPS, rate units.Rate) topology.Volume {
		return topology.Volume{Type: typ, Size: size * units.GiB, Sustained: topology.Limits{IOPS: iops, Rate: rate * units.MiBPerSec}}
	}
	good := &topology.Array{Name: "data", Level: topology.RAID0, Chunk: 64 * units.KiB, Volumes: []topology.Volume{v("gp3", 100, 4000, 200), v("gp3", 100, 4000, 200)}}
	l, err := LayoutOf(good, 0)
	if want := (Layout{Level: topology.RAID0, N: 2, Chunk: 64 * units.KiB, Spec: cloud.VolumeSpec{
		Type: "gp3", Size: 100 * units.GiB, IOPS: 4000, Rate: 200 * units.MiBPerSec,
	}}); err != nil || *l != want {
		t.Errorf("%+v %v", l, err)
	}
	for typ, want := range map[string]cloud.VolumeSpec{
		"gp2": {Type: "gp2", Size: 100 * units.GiB}, "io2": {Type: "io2", Size: 100 * units.GiB, IOPS: 300}, "st1": {Type: "st1", Size: 100 * units.GiB},
	} {
		one := &topology.Array{Level: topology.Single, Volumes: []topology.Volume{v(typ, 100, 300, 128)}}
		if l, err := LayoutOf(one, 0); err != nil || l.Spec != want {
			t.Errorf("%s: %+v %v", typ, l, err)
		}
	}
	sizeless := &topology.Array{
		Level:   topology.RAID10,
		Volumes: slices.Repeat([]topology.Volume{v("gp3", 0, 3000, 125)}, 4),
	}
	if l, err := LayoutOf(sizeless, 301*units.GiB); err != nil || l.Spec.Size != 151*units.GiB {
		t.Errorf("four of RAID10 for 301 GiB: %+v %v", l, err)
	}
	for want, volumes := range map[string][]topology.Volume{
		"has no volumes": nil, "not a volume of the catalogue": {v("nvme", 100, 1, 1)}, "a size is missing": {v("gp3", 0, 3000, 125)},
		"not alike": {v("gp3", 100, 3000, 125), v("gp3", 200, 3000, 125)}, "are not alike": {v("gp3", 100, 3000, 125), v("gp3", 100, 4000, 125)},
	} {
		if _, err := LayoutOf(&topology.Array{Name: "data", Volumes: volumes}, 0); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
