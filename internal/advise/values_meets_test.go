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

// A result is held against a demand of 80 MiB/s of writes all the time and 256 of reads for 5 of 30 s, by hand.
func TestMeetsByHand(t *testing.T) {
	const mib = units.MiBPerSec
	d := demand(t, `workload: app
streams:
  - {name: logs, does: sequential write, block: 64KiB, rate: 80MiB/s, latency: {p99: 100ms, over: {1s: 1%}}}
  - {name: scan, does: sequential read, block: 256KiB, rate: 256MiB/s, burst: {for: 5s, every: 30s, after: 10s}}
`)
	side := func(name string, write, read units.Rate, p99 time.Duration, instance string) Side {
		dir := func(rate units.Rate, bs, seconds float64) fio.Direction {
			n := float64(rate) / bs * seconds
			return fio.Direction{
				N: uint64(n), BW: rate, IOPS: units.IOPS(float64(rate) / bs), Bytes: units.Bytes(float64(rate) * seconds),
				Clat: fio.Latency{N: uint64(n), Percentiles: []fio.Percentile{{P: 99, Value: p99}}},
			}
		}
		job := fio.Job{Name: "j", Window: 30 * time.Second, Write: dir(write, 65536, 30), Read: dir(read, 262144, 5)}
		r := &result.Result{State: result.Done, Role: topology.Data, Jobs: []fio.Job{job}, Total: job, Measured: 30 * time.Second}
		s := Side{Name: name, Result: r}
		if f, ok := cloud.InstanceLimits(instance); ok {
			s.Topology = &topology.Topology{Instance: topology.Instance{
				Type: instance, Baseline: f.Baseline, Burst: f.Burst, BurstFor: f.BurstFor, BurstPer: f.BurstPer,
			}}
		}
		return s
	}
	m := Meets(d, []Side{side("all", 80*mib, 256*mib, 50*time.Millisecond, "")})
	s := m.Sides[0]
	// 80 × 30 + 256 × 5 MiB
	if m.Time != 30*time.Second || m.Moved != 3680*units.MiB || s.Moved != 3680*units.MiB || s.Share != 1 || len(s.Streams) != 2 ||
		s.Streams[0].Share != 1 || s.Streams[1].Share != 1 || s.Sustained != 0 {
		t.Errorf("%+v", m)
	}
	at := slices.IndexFunc(s.Limits, func(l MetLimit) bool { return strings.Contains(l.Text, "p99") })
	if at < 0 || s.Limits[at].Text != "logs p99 < 100 ms" || s.Limits[at].Latency != units.LatencyOf(50*time.Millisecond) || s.Limits[at].Exceeded {
		t.Errorf("%+v", s.Limits)
	}
	late := Meets(d, []Side{side("late", 80*mib, 256*mib, 100*time.Millisecond, "")}).Sides[0]
	if !late.Limits[at].Exceeded || late.Met {
		t.Errorf("a limit is exceeded where it is reached: %+v", late)
	}
	// A t4g.medium sustains 43.375 MB/s: 41.4 MiB/s of 80, after 30 min.
	small := Meets(d, []Side{side("a", 80*mib, 256*mib, time.Millisecond, "t4g.medium"), side("b", 60*mib, 256*mib, time.Millisecond, "t4g.medium")})
	one := small.Sides[0]
	if math.Abs(float64(one.Sustained)-43.375e6) > 1 || one.Steady != 80*mib || one.BurstFor != 30*time.Minute || one.Instance != "t4g.medium" || one.Met {
		t.Errorf("%+v", one)
	}
	if want := "Neither meets the demand. a meets logs and scan, for 30 min a day: then the t4g.medium limits it to 51.7 %. " +
		"b meets scan, for 30 min a day: then the t4g.medium limits it to 51.7 %."; small.Decision != want {
		t.Errorf("%q, want %q", small.Decision, want)
	}
	for decision, sides := range map[string][]Side{
		"x does not meet the demand.": {side("x", 78*mib, 100*mib, time.Millisecond, "")},
		"None meets the demand.":      {side("x", 1*mib, 1*mib, time.Millisecond, ""), side("y", 1*mib, 1*mib, time.Millisecond, ""), side("z", 1*mib, 1*mib, time.Millisecond, "")},
	} {
		if got := Meets(d, sides).Decision; got != decision {
			t.Errorf("%q, want %q", got, decision)
		}
	}
	// 98 % of what was asked for is met: fio's pacing is as coarse.
	edge := Meets(d, []Side{side("x", 78.5*mib, 256*mib, time.Millisecond, ""), side("y", 78.3*mib, 256*mib, time.Millisecond, "")})
	if x, y := edge.Sides[0].Streams[0].Share, edge.Sides[1].Streams[0].Share; math.Abs(x-0.98125) > 1e-9 || math.Abs(y-0.97875) > 1e-9 {
		t.Errorf("%v and %v", x, y)
	}
	if got := edge.Decision; got != "Neither meets the demand. x meets logs and scan. y meets scan." {
		t.Error(got)
	}
}

// Which row of fio's belongs to a stream: that of the nearest size, by name where two are as near.
func TestNearestByHand(t *testing.T) {
	of := func(name string, size units.Bytes) *workload.Stream {
		return &workload.Stream{Name: name, Blocks: []workload.Block{{Size: size, Share: 1}}}
	}
	streams := []*workload.Stream{of("a", 8192), of("b", 8192), of("c", 65536)}
	for _, c := range []struct {
		row  rowOf
		want string
	}{
		{rowOf{name: "x", block: 8192}, "a"},
		{rowOf{name: "b", block: 8192}, "b"},
		{rowOf{name: "b-1", block: 8192}, "b"},
		{rowOf{name: "bb", block: 8192}, "a"},
		{rowOf{name: "b", block: 65536}, "c"},
		{rowOf{name: "x", block: 32768}, "c"},
		{rowOf{name: "x", block: 16384}, "a"},
	} {
		if got := nearest(c.row, streams); got.Name != c.want {
			t.Errorf("%+v belongs to %s, want %s", c.row, got.Name, c.want)
		}
	}
}

// What a demand asks of volumes with time: 1,000 reads of 16 KiB always, 2,000 writes for 10 min from
// 1 h on, every 12 h, on mirrors.
func TestCourseByHand(t *testing.T) {
	r := Request{Headroom: 0.5, Demand: demand(t, `capacity: 1GiB
streams:
  - {name: base, does: random read, block: 16KiB, rate: 1000 IOPS}
  - {name: night, does: random write, block: 16KiB, rate: 2000 IOPS, burst: {for: 10m, every: 12h, after: 1h}}
`)}
	l := Layout{Level: topology.RAID10, N: 4, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp3"}}
	want := []span{
		{seconds: 3600, need: need{1500, 1500 * 16384}},
		{seconds: 600, need: need{1500 + 6000, (1500 + 6000) * 16384}},
		{seconds: 43200 - 4200, need: need{1500, 1500 * 16384}},
	}
	got := r.course(l)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		g := got[i]
		if g.seconds != w.seconds || math.Abs(g.iops-w.iops) > 1e-6 || math.Abs(g.bytes-w.bytes) > 1e-3 || g.fresh {
			t.Errorf("span %d: %+v, want %+v", i, g, w)
		}
	}
	// Periods of 36 h and 24 h come round after three days, each of which begins with full credits.
	r.Demand.Streams[1].Burst = &workload.Burst{For: time.Hour, Every: 36 * time.Hour}
	r.Demand.Streams[0].Burst = &workload.Burst{For: time.Hour, Every: 24 * time.Hour}
	length, days := 0.0, 0
	for _, s := range r.course(l) {
		if length += s.seconds; s.fresh {
			days++
		}
	}
	if length != 72*3600 || days != 2 {
		t.Errorf("%v s, %d times full", length, days)
	}
	for _, c := range []struct{ a, b, want time.Duration }{
		{12 * time.Hour, 18 * time.Hour, 36 * time.Hour},
		{0, time.Hour, time.Hour},
		{time.Hour, 0, time.Hour},
		{time.Hour, time.Hour, time.Hour},
		{time.Millisecond, 7 * time.Second, 7 * time.Second},
		{99_999_999 * time.Millisecond, 100_000_000 * time.Millisecond, 1000 * day},
	} {
		if got := common(c.a, c.b); got != c.want {
			t.Errorf("%v and %v come round after %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if got := r.bursting(); got {
		t.Error("bursts count without being allowed")
	}
	if r.BurstOK = true; !r.bursting() {
		t.Error("bursts were allowed")
	}
}

// What is worked out of streams and layouts, by hand.
func TestNeedsByHand(t *testing.T) {
	r := Request{Headroom: 0.2, Demand: demand(t, `capacity: 1GiB
streams:
  - {name: a, does: random readwrite, reads: 75%, block: {8KiB: 60%, 512KiB: 40%}, rate: 1000 IOPS}
  - {name: b, does: random write, block: 4KiB, rate: 100 IOPS}
  - {name: c, does: sequential read, block: 1MiB, rate: 100 IOPS, apart: true}
`)}
	gp3 := func(level topology.Level, n int, chunk units.Bytes) Layout {
		return Layout{Level: level, N: n, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp3"}}
	}
	mean := 0.6*8192 + 0.4*524288
	for _, c := range []struct {
		l           Layout
		iops, bytes float64
	}{
		// 0.6 × 1 + 0.4 × 2 counted; the scan's 400 are less.
		{gp3(topology.Single, 1, 0), 1000*1.4 + 100, 1000*mean + 100*4096},
		// 1.25 writes of each on mirrors.
		{gp3(topology.RAID1, 2, 0), 1000*1.4*1.25 + 200, 1000*mean*1.25 + 200*4096},
		{gp3(topology.RAID0, 4, 512*units.KiB), 1000*1.4 + 100, 1000*mean + 100*4096},
		// On chunks of 128 KiB 512 KiB are four pieces.
		{gp3(topology.RAID0, 4, 128*units.KiB), 1000*(0.6+0.4*4) + 100, 1000*mean + 100*4096},
	} {
		got := r.needs(c.l)
		if math.Abs(got.iops/(1.2*c.iops)-1) > 1e-6 || math.Abs(got.bytes/(1.2*c.bytes)-1) > 1e-6 {
			t.Errorf("%s of %d, %v: %+v, want %v %v", c.l.Level, c.l.N, c.l.Chunk, got, 1.2*c.iops, 1.2*c.bytes)
		}
	}
	for level, want := range map[topology.Level]float64{topology.Single: 1, topology.RAID0: 1, topology.RAID10: 2, topology.RAID1: 2, topology.RAID5: 4. / 3, topology.RAID6: 2} {
		if got := (Layout{Level: level, N: 4}).usable(); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v volumes' worth for one, want %v", level, got, want)
		}
	}
	// 3 volumes of 3,000 IOPS, 125 MiB/s and 10 GiB.
	r.Demand.Capacity = 40 * units.GiB
	f, err := cloud.VolumeLimits(cloud.VolumeSpec{Type: "gp3", Size: 10 * units.GiB})
	if err != nil {
		t.Fatal(err)
	}
	l := gp3(topology.RAID0, 3, 512*units.KiB)
	l.Spec.Size = 10 * units.GiB
	share, why := r.shortfall(l, f)
	// 9,000 of 1,800, 375 of 245 MiB/s, 30 of 40 GiB.
	if math.Abs(share-0.75) > 1e-9 || why != "3 × gp3 hold 30 GiB of 40 GiB" {
		t.Errorf("%v %q", share, why)
	}
	if all := shapes(5); len(all) != 1+4*5+1+3*5 || all[0].N != 1 || all[len(all)-1].N != 5 {
		t.Errorf("%d shapes", len(all))
	}
}

// Volumes of another type in place of those that are there: 4 × gp2 of 3,000 GiB are 36,000 IOPS.
func TestInsteadByHand(t *testing.T) {
	r := Request{Demand: demand(t, stripe)}
	was := Candidate{VolumesMonth: cloud.USD(1_200_000_000), Layout: Layout{Level: topology.RAID0, N: 4, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp2", Size: 3000 * units.GiB}}}
	// 4 × (3,000 × $0.08 + 6,000 × $0.005 + 16 × $0.04) = $1,082.56
	got, err := Instead(r, "gp3", was)
	if err != nil || got != "as gp3 with 9,000 IOPS and 141 MiB/s each they cost $1,082.56: $117.44 less, and they do not burst" {
		t.Errorf("%q %v", got, err)
	}
	was.VolumesMonth = 1_000_000_000
	if got, _ := Instead(r, "gp3", was); !strings.HasSuffix(got, "$82.56 more") {
		t.Error(got)
	}
	if got, err := Instead(r, "st1", was); got != "" || err != nil {
		t.Errorf("random I/O on a hard disk: %q %v", got, err)
	}
}

// What was observed is held against the mix of each interval.
func TestLimitsByHand(t *testing.T) {
	topo := &topology.Topology{Arrays: []topology.Array{{Name: "d", Level: topology.Single, Volumes: []topology.Volume{
		{Sustained: topology.Limits{IOPS: 1000, Rate: 100e6}},
	}}}}
	iv := func(reads, writes, size float64) workload.Interval {
		return workload.Interval{Len: time.Second, Read: workload.Flow{IOPS: reads, Rate: reads * size}, Write: workload.Flow{IOPS: writes, Rate: writes * size}}
	}
	o := workload.Observed{Device: "d", Intervals: []workload.Interval{iv(400, 560, 4096), iv(0, 0, 0), iv(0, 100, 1e6), iv(100, 0, 4096)}}
	got := Limits(topo, topology.Data, o)
	// 100 writes of a million bytes are all of 100 MB/s, 960 I/Os 96 %; each for a second of four.
	if len(got) != 2 || got[0].Bound.Kind != ceiling.VolumeRate || math.Abs(got[0].Most-1) > 1e-6 || got[0].Share != 0.25 ||
		got[1].Bound.Kind != ceiling.VolumeIOPS || math.Abs(got[1].Most-0.96) > 1e-6 || got[1].Share != 0.25 {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		share, most float64
		want        int
	}{{0.05, 1, 1}, {0.049, 1, 0}, {0.5, 1.1, 1}, {0.5, 1.11, 0}} {
		d := &workload.Demand{}
		if Censor(d, []AtLimit{{Device: "d", Share: c.share, Most: c.most}}); len(d.AtLeast) != c.want {
			t.Errorf("%v of the time, %v at most: %q", c.share, c.most, d.AtLeast)
		}
	}
}

// Sections without rows of their own share a direction by what they ask for, or keep in flight.
func TestPartsOfARowByHand(t *testing.T) {
	row := job("all", 300, 900, 8*units.KiB)
	w := func(name string, rate units.IOPS, jobs, depth int, reads float64) fio.Workload {
		return fio.Workload{Name: name, ReadBS: 8 * units.KiB, WriteBS: 8 * units.KiB, ReadShare: reads, WriteIOPS: rate, ReadIOPS: rate, Jobs: jobs, Depth: depth, Engine: "libaio"}
	}
	loads := []fio.Workload{w("a", 0, 2, 4, 0.5), w("b", 0, 1, 4, 0.5)}
	r := &result.Result{Workloads: loads, Jobs: []fio.Job{row}, Total: row}
	if got := measuredOf(loads, 0, true, r); math.Abs(float64(got.IOPS)-200) > 1e-9 || math.Abs(float64(got.Rate)-200*8192) > 1e-6 {
		t.Errorf("8 of 12 in flight of 300: %+v", got)
	}
	if got := measuredOf(loads, 1, false, r); math.Abs(float64(got.IOPS)-300) > 1e-9 {
		t.Errorf("4 of 12 of 900: %+v", got)
	}
	asked := []fio.Workload{w("a", 100, 3, 1, 0.5), w("b", 600, 1, 1, 0.5)}
	if got := measuredOf(asked, 0, false, r); math.Abs(float64(got.IOPS)-300) > 1e-9 {
		t.Errorf("300 of 900 asked for: %+v", got)
	}
	// A job that only reads has no part in the writes, and one that only writes none in the reads.
	one := []fio.Workload{w("a", 0, 2, 4, 1), w("b", 0, 1, 4, 0)}
	one[0].WriteBS, one[1].ReadBS = 0, 0
	for _, c := range []struct {
		of   int
		read bool
		want float64
	}{{0, true, 300}, {1, true, 0}, {0, false, 0}, {1, false, 900}} {
		if got := measuredOf(one, c.of, c.read, r); math.Abs(float64(got.IOPS)-c.want) > 1e-9 {
			t.Errorf("load %d, reads %v: %+v, want %v", c.of, c.read, got, c.want)
		}
	}
	if got := ceiling.Asked(fio.Workload{Jobs: 2, ReadRate: 8192 * 50, ReadBS: 8192, ReadIOPS: 80, ReadLeast: 8192}, true); got != 100 {
		t.Errorf("the smaller of 80 and 50, of two jobs: %v", got)
	}
	if got := ceiling.Asked(fio.Workload{Jobs: 2, WriteRate: 8192 * 50, WriteBS: 8192}, false); got != 100 {
		t.Errorf("bytes alone: %v", got)
	}
	for name, want := range map[string]string{"ok_1-A": "ok_1-A", "": "job-3", "-x": "job-3", "a b": "job-3", strings.Repeat("x", 39): strings.Repeat("x", 39), strings.Repeat("x", 40): "job-3"} {
		if got := streamName(name, 2); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}
