package advise

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Claims of a machine that is made up: 10,000 IOPS and 500 MB/s for ever, twice that in bursts of 30 minutes. By
// time any use above the baseline spends it; by credits it is 30 min × 10,000, so that a claim of half as much above
// the baseline has it for an hour.
func TestClaimsByHand(t *testing.T) {
	machine := &topology.Topology{Instance: topology.Instance{
		Type: "made-up", Baseline: topology.Limits{IOPS: 10000, Rate: 500 * units.MBPerSec},
		Burst: topology.Limits{IOPS: 20000, Rate: 1000 * units.MBPerSec}, BurstFor: 30 * time.Minute, BurstPer: 24 * time.Hour,
	}}
	const half = 30 * time.Minute
	for _, c := range []struct {
		claim            string
		holds, sustained bool
		timed, credits   time.Duration
		kind             ceiling.Kind
	}{
		{"10000 IOPS", true, true, 0, 0, ""},
		{"10010 IOPS", true, true, 0, 0, ""}, // a thousandth is rounding: 10 Gbit/s and 1,250 MB/s alike
		{"10020 IOPS", true, false, half, 1000 * half / 2, ceiling.InstanceIOPS},
		{"15000 IOPS", true, false, half, 2 * half, ceiling.InstanceIOPS},
		{"20000 IOPS", true, false, half, half, ceiling.InstanceIOPS},
		{"20020 IOPS", true, false, half, half, ceiling.InstanceIOPS},
		{"20021 IOPS", false, false, 0, 0, ""},
		{"500 MB/s", true, true, 0, 0, ""},
		{"750MB/s", true, false, half, 2 * half, ceiling.InstanceRate},
		{"1000 MB/s", true, false, half, half, ceiling.InstanceRate},
		{"1002 MB/s", false, false, 0, 0, ""},
		{"10000 IOPS of 100kB", true, false, half, half, ceiling.InstanceRate}, // 1,000 MB/s
	} {
		claim, err := ParseClaim(c.claim)
		if err != nil {
			t.Fatal(err)
		}
		for rule, lasts := range map[cloud.BurstRule]time.Duration{cloud.ByTime: c.timed, cloud.ByCredits: c.credits} {
			machine.Instance.BurstRule = rule
			v := claim.Check(machine)
			if v.Holds != c.holds || v.Sustained != c.sustained || v.BurstFor != lasts {
				t.Errorf("%s by %q: holds %v, sustained %v, for %v, want %v", c.claim, rule, v.Holds, v.Sustained, v.BurstFor, lasts)
			}
			if (v.Burst != nil) != (c.kind != "") || v.Burst != nil && (v.Burst.Kind != c.kind || v.BurstPer != 24*time.Hour) {
				t.Errorf("%s by %q: %+v once in %v, want %s", c.claim, rule, v.Burst, v.BurstPer, c.kind)
			}
		}
	}
	for text, want := range map[string]Claim{
		"40000 IOPS": {IOPS: 40000}, "40k iops": {IOPS: 40000}, "1250MB/s": {Rate: 1250 * units.MBPerSec},
		"60000 IOPS of 8KiB": {IOPS: 60000, Block: 8 * units.KiB}, "1 MiB/s of 512": {Rate: units.MiBPerSec, Block: 512},
		"12000 IOPS of 8KiB writes": {IOPS: 12000, Block: 8 * units.KiB, Writes: true}, "5 MB/s reads": {Rate: 5 * units.MBPerSec, Reads: true},
	} {
		want.Text = text
		if got, err := ParseClaim(text); err != nil || got != want {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"1,250": "with its unit", "0 IOPS": "with its unit", "0 MB/s": "with its unit", "fast": "with its unit", "5 IOPS of 0": "size of an I/O", "5 IOPS of x": "size of an I/O", "": "with its unit"} {
		if _, err := ParseClaim(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A demand that was watched at its limit is marked from 5 % of the time on, and not where a burst went beyond it.
func TestCensoredByHand(t *testing.T) {
	for _, c := range []struct {
		share, most float64
		want        bool
	}{{0.05, 1.1, true}, {0.0499, 1, false}, {0.05, 1.1001, false}, {1, 0.95, true}, {0, 0, false}} {
		d := &workload.Demand{}
		Censor(d, []AtLimit{{Device: "md0", Share: c.share, Most: c.most}})
		if (len(d.AtLeast) == 1) != c.want {
			t.Errorf("%+v: %q", c, d.AtLeast)
		}
	}
	for share, want := range map[float64]string{0: "md0 reached 97.0 % of its limit by ", 0.41: "and was at 95 % or more of it for 41.0 % of the time"} {
		if got := (AtLimit{Device: "md0", Most: 0.97, Share: share}).String(); !strings.Contains(got, want) || share == 0 && strings.Contains(got, "95 %") {
			t.Errorf("%v: %s", share, got)
		}
	}
	// 95, 94.9 and 50 of 100 a second in a minute each: at the limit for a third of the time.
	top := &topology.Topology{Instance: topology.Instance{Type: "made-up", Baseline: topology.Limits{IOPS: 100, Rate: 1000 * units.MBPerSec}}}
	at := func(iops float64) workload.Interval {
		return workload.Interval{Len: time.Minute, Read: workload.Flow{IOPS: iops, Rate: iops * 4096}}
	}
	all := Limits(top, topology.Data, workload.Observed{Device: "d", Intervals: []workload.Interval{at(95), at(94.9), at(50), {Len: 0}}})
	if len(all) == 0 || math.Abs(all[0].Most-0.95) > 1e-9 || math.Abs(all[0].Share-1./3) > 1e-9 || all[0].Bound.Kind != ceiling.InstanceIOPS {
		t.Errorf("%+v", all)
	}
}

// Times of an I/O that count as one class: 50 µs apart.
func TestClassesOfLatency(t *testing.T) {
	for was, want := range map[time.Duration]time.Duration{0: 0, 24: 0, 25: 50, 624: 600, 625: 650, 649: 650, 1000: 1000} {
		if got := (Candidate{Latency: was * time.Microsecond}).class(); got != want*time.Microsecond {
			t.Errorf("%d µs: %v", was, got)
		}
	}
}

// Periods together: their least common multiple, at most 1,000 days.
func TestCommonPeriods(t *testing.T) {
	const m = time.Minute
	for _, c := range []struct{ a, b, want time.Duration }{
		{4 * m, 6 * m, 12 * m},
		{6 * m, 4 * m, 12 * m},
		{5 * m, 5 * m, 5 * m},
		{0, 7 * m, 7 * m},
		{7 * m, 0, 7 * m},
		{m, 24 * time.Hour, 24 * time.Hour},
		{999 * day, 1000 * day, 1000 * day},
		{1500 * time.Microsecond, 4 * time.Millisecond, 4 * time.Millisecond}, // rounded: 2 ms
		{500 * day, 1000 * day, 1000 * day},
	} {
		if got := common(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	// A minute in 6 days are 17,282 changes, which are followed; in 7 days 20,162 are not.
	stream := func(every time.Duration) workload.Stream {
		return workload.Stream{ReadShare: 1, IOPS: 10, Blocks: []workload.Block{{Size: 4096, Share: 1}}, Burst: &workload.Burst{For: time.Second, Every: every}}
	}
	for days, want := range map[time.Duration]bool{6: true, 7: false} {
		r := Request{Demand: &workload.Demand{Streams: []workload.Stream{stream(m), stream(days * day)}}}
		spans := r.course(Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3"}})
		if (spans != nil) != want {
			t.Errorf("%d days: %d spans", days, len(spans))
		}
	}
	p := poolOf(100, 300, time.Minute)
	if p.Base != 100 || p.Top != 300 || p.Size != 12000 || p.Left != 12000 || !p.daily {
		t.Errorf("%+v", p)
	}
	if p := poolOf(100, 0, time.Minute); p.Top != 100 || p.Size != 0 {
		t.Errorf("%+v", p)
	}
}

// Names that a file of demands may have: letters, digits, - and _, of less than 40, not a - first.
func TestNamesOfStreams(t *testing.T) {
	for name, want := range map[string]string{
		"azAZ09-_": "azAZ09-_", "": "job-3", "-a": "job-3", "a b": "job-3", "a.b": "job-3", "é": "job-3", "a`": "job-3", "a{": "job-3", "a@": "job-3", "a[": "job-3", "a/": "job-3", "a:": "job-3",
		strings.Repeat("a", 39): strings.Repeat("a", 39), strings.Repeat("a", 40): "job-3", "_": "_",
	} {
		if got := streamName(name, 2); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
	if got := text.Once([]string{"a"}, "b", "a", "b"); strings.Join(got, "") != "ab" {
		t.Errorf("%q", got)
	}
	for _, c := range []struct{ a, b, want Took }{
		{Took{5, 5}, Took{3, 7}, Took{3, 5}}, {Took{}, Took{3, 7}, Took{3, 7}}, {Took{5, 5}, Took{}, Took{5, 5}},
	} {
		if got := c.a.Least(c.b); got != c.want {
			t.Errorf("%+v and %+v: %+v", c.a, c.b, got)
		}
	}
	// The larger figures of a job that ran on several volumes, and jobs that are the same wherever they ran.
	streams := []workload.Stream{{IOPS: 5, Rate: 50}, {IOPS: 7, Rate: 70}}
	larger(streams, []workload.Stream{{IOPS: 6, Rate: 10}})
	if streams[0].IOPS != 6 || streams[0].Rate != 10 || streams[1].IOPS != 7 {
		t.Errorf("%+v", streams)
	}
	one := []fio.Workload{{Name: "a", Filename: "/x", Directory: "/d", Jobs: 2}}
	other := []fio.Workload{{Name: "a", Filename: "/y", Jobs: 2}}
	unlike := []fio.Workload{{Name: "a", Filename: "/x", Jobs: 3}}
	if !sameJob(one, other) || sameJob(one, unlike) || sameJob(nil, nil) {
		t.Error("the same job")
	}
}

// A series on a volume of 3,000 a second, with half of headroom: in a minute 4,000 a second are 6,000, of which 3,000
// wait each second, and are served in the minute after.
func TestReplayWithHeadroom(t *testing.T) {
	iv := func(reads float64) workload.Interval {
		return workload.Interval{Len: time.Minute, Read: workload.Flow{IOPS: reads, Rate: reads * 4096}}
	}
	s := &Series{Observed: workload.Observed{Device: "d", Intervals: []workload.Interval{iv(4000), iv(0), iv(0)}}}
	r := Request{Demand: &workload.Demand{}, Series: s, Headroom: 0.5}
	huge := cloud.Limits{IOPS: 1e9, Rate: 1e15}
	c := &Candidate{
		Layout:   Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3", Size: 100 * units.GiB}},
		Instance: cloud.InstanceFacts{Baseline: huge},
	}
	got := r.replay(c)
	if math.Abs(got.Backlog-180_000) > 1 || got.Throttled.Round(time.Second) != 2*time.Minute || math.Abs(float64(got.Wait)-60e9) > 1e8 {
		t.Errorf("%+v", got) // the last of the minute's I/Os waits for a minute
	}
}

// A pool of disks is as large as its limits need and as a disk may be: 3,000 IOPS and 6 for each GiB, 140 MiB/s and
// 0.28 for each.
func TestSizesOfPools(t *testing.T) {
	pool, _ := cloud.TypeNamed("gcp-pd-balanced")
	sized := func(iops units.IOPS, capacity units.Bytes, n int) (units.Bytes, bool) {
		r := Request{Demand: &workload.Demand{Capacity: capacity, Streams: []workload.Stream{
			{ReadShare: 1, Random: true, IOPS: iops, Blocks: []workload.Block{{Size: 4096, Share: 1}}},
		}}}
		l, ok := r.provision(Layout{Level: topology.RAID0, N: n, Chunk: chunk, Spec: cloud.VolumeSpec{Type: pool.Type}})
		return l.Spec.Size, ok
	}
	for _, c := range []struct {
		iops     units.IOPS
		capacity units.Bytes
		n        int
		want     units.Bytes
		ok       bool
	}{
		{1000, units.GiB, 1, 10 * units.GiB, true},                  // the smallest disk
		{1000, 100*units.GiB + units.MiB, 1, 101 * units.GiB, true}, // whole GiB
		{6000, units.GiB, 1, 500 * units.GiB, true},                 // 3,000 + 6 × 500
		{6001, units.GiB, 1, 501 * units.GiB, true},                 //
		{6000, units.GiB, 2, 250 * units.GiB, true},                 // of both together
		{396216, units.GiB, 1, 64 * units.TiB, true},                // 3,000 + 6 × 65,536
		{396217, units.GiB, 1, 0, false},                            // no larger disk is sold
		{1000, 65 * units.TiB, 1, 0, false},                         //
		{1000, 65 * units.TiB, 2, 65 * units.TiB / 2, true},         //
	} {
		got, ok := sized(c.iops, c.capacity, c.n)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%v IOPS, %v on %d: %v %v, want %v", c.iops, c.capacity, c.n, got, ok, c.want)
		}
	}
}

// Nothing is shown by a result of which no I/O is known.
func TestShownByNothing(t *testing.T) {
	for name, r := range map[string]*result.Result{
		"no job": {Total: fio.Job{Read: fio.Direction{IOPS: 5}}}, "no I/O": {Workloads: []fio.Workload{{Jobs: 1, Depth: 1}}},
	} {
		if got := ShownBy(r); got != (Took{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
