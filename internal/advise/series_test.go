package advise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// stepped is a replay in small steps, with a queue of what arrived in each: it knows nothing of
// events. Steps are a thousandth of an interval.
func stepped(spans []span, ios []float64, buckets []bucket) (throttled, wait, backlog float64) {
	type parcel struct{ came, part, of float64 } // part of an interval's work
	var queue []parcel
	var index []int
	now, waiting := 0.0, 0.0
	serve := func(dt float64) {
		left := 1.0 // of the step's capacity
		var begins []float64
		for _, b := range buckets {
			begins = append(begins, b.Left)
		}
		for len(queue) > 0 && left > 1e-12 {
			p, s := &queue[0], spans[index[0]]
			fits := math.Inf(1)
			for k := range buckets {
				b := &buckets[k]
				have := min(b.Top, b.Base+max(begins[k], 0)/dt)
				if asks := b.of(s.need) * s.seconds; asks > 0 {
					fits = min(fits, have*dt*left/asks)
				}
			}
			take := min(fits, p.part)
			for k := range buckets {
				b := &buckets[k]
				b.Left -= b.of(s.need) * s.seconds * take
			}
			wait = max(wait, now-p.came)
			waiting -= take * ios[index[0]]
			left -= left * take / fits
			if p.part -= take; p.part <= 1e-12 {
				queue, index = queue[1:], index[1:]
			}
		}
		for k := range buckets {
			b := &buckets[k]
			b.Left = max(min(b.Left+b.Base*dt, b.Size), 0)
		}
	}
	for i, s := range spans {
		if s.fresh {
			for k := range buckets {
				if b := &buckets[k]; b.daily {
					b.Left = b.Size
				}
			}
		}
		const steps = 1000
		for range steps {
			queue, index = append(queue, parcel{now, 1. / steps, 0}), append(index, i)
			waiting += ios[i] / steps
			dt := s.seconds / steps
			now += dt
			if serve(dt); waiting > 1e-6+ios[i]/steps*0.01 {
				throttled += dt
			}
			backlog = max(backlog, waiting)
		}
	}
	for len(queue) > 0 && now < 1e7 {
		dt := spans[0].seconds / 1000
		now += dt
		throttled += dt
		serve(dt)
	}
	return throttled, wait, backlog
}

// TestReplay holds replays against the same in a thousand steps an interval: loads that change, and
// up to four limits with small buckets, of which several run empty.
func TestReplay(t *testing.T) {
	cases, waited := sampled(t, 60), 0
	for seed := range cases {
		rnd := rand.New(rand.NewPCG(uint64(seed), 7))
		var spans []span
		var ios []float64
		for i := range 12 + rnd.IntN(20) {
			n := need{rnd.Float64() * 1000, rnd.Float64() * 1e6}
			if rnd.IntN(4) == 0 {
				n = n.times(4)
			}
			if rnd.IntN(6) == 0 {
				n = need{}
			}
			spans = append(spans, span{seconds: 60, need: n, fresh: i > 0 && rnd.IntN(12) == 0})
			ios = append(ios, n.iops*60)
		}
		var buckets []bucket
		for _, of := range []func(need) float64{ofIOPS, ofBytes, ofIOPS, ofBytes} {
			base := 300 + rnd.Float64()*1500
			if of(need{0, 1}) == 1 {
				base *= 1000
			}
			p := poolOf(base, base*(1+float64(rnd.IntN(3))), 100*time.Second)
			p.daily = rnd.IntN(2) == 0
			buckets = append(buckets, bucket{p, "b", of})
		}
		own := append([]bucket(nil), buckets...)
		got := run(spans, ios, buckets)
		throttled, wait, backlog := stepped(spans, ios, own)
		if got.Throttled > 0 {
			waited++
		}
		length := 60 * float64(len(spans))
		if math.Abs(got.Throttled.Seconds()-throttled) > 0.01*length+2 ||
			math.Abs(float64(got.Wait)/1e9-wait) > 0.01*length+1 || math.Abs(got.Backlog-backlog) > 0.02*backlog+500 {
			t.Errorf("case %d: throttled %v, %v at most, %.0f wait; in steps %.1f s, %.1f s, %.0f", seed, got.Throttled,
				time.Duration(got.Wait), got.Backlog, throttled, wait, backlog)
		}
	}
	if waited < cases/4 || waited == cases {
		t.Errorf("%d of %d are throttled: both kinds are wanted", waited, cases)
	}
}

// randomSeries is some days of a load with a daily rhythm and peaks.
func randomSeries(rnd *rand.Rand) *Series {
	s := &Series{Observed: workload.Observed{Device: "vol", Known: true, Start: time.Date(2026, 10, 1, rnd.IntN(24), 0, 0, 0, time.UTC)}}
	base, peak := 100+rnd.Float64()*3000, 1+rnd.Float64()*8
	at, long := rnd.IntN(288), 1+rnd.IntN(20)
	size := float64(units.Bytes(4+4*rnd.IntN(16)) * units.KiB)
	for i := range 288 * (1 + rnd.IntN(4)) {
		rate := base * (0.7 + 0.6*rnd.Float64())
		if k := (i - at + 288) % 288; k < long {
			rate = base * peak
		}
		s.Intervals = append(s.Intervals, workload.Interval{
			At: time.Duration(i+1) * 5 * time.Minute, Len: 5 * time.Minute,
			Read:  workload.Flow{IOPS: rate * 0.7, Rate: rate * 0.7 * size},
			Write: workload.Flow{IOPS: rate * 0.3, Rate: rate * 0.3 * size},
		})
	}
	return s
}

// lasts says whether credits suffice for a series, by the rules as AWS's simulation has them.
func lasts(s *Series, load func(workload.Interval) float64, base, burst, seconds float64) bool {
	size := max(burst-base, 0) * seconds
	left := size
	for i, iv := range s.Intervals {
		if begins := s.Start.Add(iv.At - iv.Len); i > 0 && begins.Day() != begins.Add(-iv.Len).Day() {
			left = size
		}
		x := load(iv)
		if x > max(base, burst)*(1+1e-9) {
			return false
		}
		if left = min(left+(base-x)*iv.Len.Seconds(), size); left < -1e-6*size {
			return false
		}
	}
	return true
}

// TestSeriesBruteForce: the cheapest purchase for a series is that of a search through all layouts
// and instances, with the credits worked out apart; its own replay is not throttled, and each that
// costs less is.
func TestSeriesBruteForce(t *testing.T) {
	prices, less, most := cloud.BuiltinPrices(), 0, 0
	for seed := range sampled(t, 25) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 11))
		s := randomSeries(rnd)
		d, err := s.Demand()
		if err != nil {
			t.Fatal(err)
		}
		d.Capacity = units.Bytes(10+rnd.IntN(3000)) * units.GiB
		r := Request{Demand: d, Series: s, Prices: prices, Headroom: 0.2, Types: []string{"gp3", "io2"}, VCPUs: rnd.IntN(5)}
		if rnd.IntN(3) == 0 {
			d.Durability.Survives = workload.LostVolume
		}
		switch seed % 6 { // volumes with credits
		case 2:
			r.Types = []string{"gp2"}
		case 5:
			r.Types = []string{"st1"}
		}
		a, err := Advise(r)
		if none := strings.Contains(strings.Join(a.Rejected, ""), "st1: at their most"); err == nil && none && seed%6 == 5 {
			if best := seriesBruteForce(r, mustInstances(t, &r)); best.month > 0 {
				t.Errorf("series %d: refused, and brute force finds %v", seed, best)
			}
			continue
		}
		if err != nil || len(a.Rows) == 0 {
			t.Fatalf("series %d: %v %+v", seed, err, a)
		}
		best := seriesBruteForce(r, mustInstances(t, &r))
		what := fmt.Sprintf("series %d", seed)
		if a.Rows[0].Month != best.month {
			t.Errorf("%s: %v %+v on %s, and brute force finds %v", what, a.Rows[0].Month, a.Rows[0].Layout, a.Rows[0].Type, best)
		}
		last := time.Duration(0)
		less, most = less+len(a.Less), max(most, len(a.Less))
		for _, c := range a.Less {
			if c.Replay.Throttled <= last || c.Month >= a.Rows[0].Month {
				t.Errorf("%s: %v on %s is throttled for %v, what is dearer for %v", what, c.Month, c.Type, c.Replay.Throttled, last)
			}
			last = c.Replay.Throttled
		}
	}
	if less == 0 {
		t.Error("no series has a cheaper row that throttles it")
	}
	if most < 2 { // a cheaper row that is throttled for longer does not take the place of a dearer one
		t.Error("of no series two cheaper rows are shown")
	}
}

func mustInstances(t *testing.T, r *Request) []priced {
	t.Helper()
	instances, err := r.instances()
	if err != nil {
		t.Fatal(err)
	}
	return instances
}

// credited is the smallest volume of a type with credits that lasts through a series; false for none.
func credited(t cloud.VolumeType, s *Series, n, gib float64, ios, bytes func(workload.Interval) float64) (cloud.VolumeSpec, bool) {
	spec := cloud.VolumeSpec{Type: t.Type}
	holds := func(size int) bool {
		spec.Size = units.Bytes(size) * units.GiB
		f, err := cloud.VolumeLimits(spec)
		base, burst, full := float64(f.Sustained.IOPS), float64(f.Burst.IOPS), f.BurstIOs
		each := func(iv workload.Interval) float64 { return ios(iv) / n }
		if t.HDD != nil { // a MiB for each I/O of the series, which are smaller
			base, burst, full = float64(f.Sustained.Rate), float64(f.Burst.Rate), float64(f.BurstBytes)
			each = func(iv workload.Interval) float64 { return ios(iv) / n * float64(units.MiB) }
		}
		left := full
		for _, iv := range s.Intervals {
			left = min(left+(base-each(iv))*iv.Len.Seconds(), full)
			if err != nil || each(iv) > max(base, burst)*(1+1e-9) || left < -1e-6*full ||
				t.HDD == nil && bytes(iv)/n > float64(f.Sustained.Rate)*(1+1e-9) {
				return false
			}
		}
		return float64(size) >= gib*(1-1e-9)
	}
	from, to := int(max(t.MinSize/units.GiB, 1)), int(t.MaxSize/units.GiB)
	size := from + sort.Search(to-from, func(i int) bool { return holds(from + i) })
	ok := holds(size)
	return spec, ok
}

func seriesBruteForce(r Request, instances []priced) (best purchase) {
	times := 1 + r.Headroom
	for _, typ := range r.Types {
		t, _ := cloud.TypeNamed(typ)
		for n := 1; n <= 16; n++ {
			for _, l := range bruteShapes(n) {
				copies := 1.0
				if l.Level.Mirrored() {
					copies = 2
				} else if r.Demand.Durability.Survives == workload.LostVolume {
					continue
				}
				if l.Level.Striped() && l.Chunk != units.MiB { // a smaller one cuts more I/Os in two
					continue
				}
				first := r.Series.Intervals[0].Read // all I/Os have one size
				read, _ := laid(units.Bytes(first.Rate/first.IOPS+0.5), l, t.Counted, true)
				write, _ := laid(units.Bytes(first.Rate/first.IOPS+0.5), l, t.Counted, false)
				ios := func(iv workload.Interval) float64 { return times * (iv.Read.IOPS*read[0] + iv.Write.IOPS*write[0]) }
				bytes := func(iv workload.Interval) float64 { return times * (iv.Read.Rate + copies*iv.Write.Rate) }
				var mostIOs, mostBytes float64
				for _, iv := range r.Series.Intervals {
					mostIOs, mostBytes = max(mostIOs, ios(iv)), max(mostBytes, bytes(iv))
				}
				gib := float64(r.Demand.Capacity) / float64(units.GiB) * copies / float64(n)
				spec, ok := order(t, mostIOs/float64(n), mostBytes/float64(n), gib)
				if t.HDD != nil || typ == "gp2" {
					spec, ok = credited(t, r.Series, float64(n), gib, ios, bytes)
				}
				if !ok {
					continue
				}
				l.Spec = spec
				each, _ := r.Prices.Volume(spec)
				for _, i := range instances {
					month := each*cloud.USD(n) + i.month
					if best.month > 0 && month >= best.month {
						break
					}
					if (i.Attachments == 0 || i.Attachments-i.Local.Count-3 >= n+1) &&
						lasts(r.Series, ios, float64(i.Baseline.IOPS), float64(i.Burst.IOPS), i.BurstFor.Seconds()) &&
						lasts(r.Series, bytes, float64(i.Baseline.Rate), float64(i.Burst.Rate), i.BurstFor.Seconds()) {
						best = purchase{l, i.Type, month}
						break
					}
				}
			}
		}
	}
	return best
}

// TestSeriesOfCredits: gp2's credits carry a peak that its baseline does not, and a smaller one that
// comes too often they do not.
func TestSeriesOfCredits(t *testing.T) {
	series := func(every int) *Series {
		s := &Series{Observed: workload.Observed{Device: "vol"}}
		for i := range 288 {
			iops := 100.0
			if i%every == 0 {
				iops = 2000
			}
			s.Intervals = append(s.Intervals, workload.Interval{
				At: time.Duration(i+1) * 5 * time.Minute, Len: 5 * time.Minute, Read: workload.Flow{IOPS: iops, Rate: iops * 8192},
			})
		}
		return s
	}
	size := func(every int) units.Bytes {
		s := series(every)
		d, err := s.Demand()
		if err != nil {
			t.Fatal(err)
		}
		d.Capacity = 20 * units.GiB
		a, err := Advise(Request{Demand: d, Series: s, Types: []string{"gp2"}, MaxVolumes: 1})
		if err != nil || len(a.Rows) == 0 || a.Rows[0].Layout.Level != topology.Single {
			t.Fatalf("%+v %v", a, err)
		}
		return a.Rows[0].Layout.Spec.Size
	}
	// Twice a day 5 min at 2,000 IOPS cost 1.2 million of 5.4 million credits, which 100 IOPS give back.
	if got := size(144); got > 40*units.GiB {
		t.Errorf("twice a day: %v", got)
	}
	// Every half hour the mean is 417 IOPS: with less than 139 GiB the credits fall without end.
	if got := size(6); got < 120*units.GiB || got > 140*units.GiB {
		t.Errorf("every half hour: %v", got)
	}
}

// TestSeriesOfDisks: st1 is bought for a series where it is named, its throughput by its credits, of
// which each counted I/O takes 1 MiB; elsewhere random I/O is assumed, which no disk is offered for.
func TestSeriesOfDisks(t *testing.T) {
	const mib = float64(units.MiB)
	series := func(size, low, high float64, long int) *Series {
		s := &Series{Observed: workload.Observed{Device: "vol"}}
		for i := range 288 {
			rate := low
			if i%144 < long {
				rate = high
			}
			s.Intervals = append(s.Intervals, workload.Interval{
				At: time.Duration(i+1) * 5 * time.Minute, Len: 5 * time.Minute,
				Read: workload.Flow{IOPS: rate * mib / size, Rate: rate * mib},
			})
		}
		return s
	}
	ask := func(s *Series, types ...string) *Advice {
		d, err := s.Demand()
		if err != nil {
			t.Fatal(err)
		}
		d.Capacity = 200 * units.GiB
		a, err := Advise(Request{Demand: d, Series: s, Types: types, MaxVolumes: 1})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, c := range map[string]struct {
		series *Series
		want   units.Bytes // GiB
	}{
		// Of s TiB 40 s MiB/s are sustained and 250 s reached: 200 need 0.8 TiB. 300 s of them spend
		// 300 × 168 of its 838,861 MiB, and 20 leave 12 a second to fill it again.
		"a peak of 5 min": {series(mib, 20, 200, 1), 820},
		// Two hours spend 7,200 × (200 - 40 s) of 1,048,576 s: s = 1,440,000 / 1,336,576 = 1.0774 TiB.
		"a peak of 2 h": {series(mib, 10, 200, 24), 1104},
		// I/Os of 16 KiB cost a whole MiB each, 64 of throughput for 1 MiB/s of them. 20 h of 64 and 4 h of
		// 128 are 6,451,200 MiB; the day earns 3,456,000 s and begins with 1,048,576 s: s = 1.4321 TiB.
		"small I/Os": {series(16*1024, 1, 2, 24), 1467},
	} {
		a := ask(c.series, "st1")
		if len(a.Rows) != 1 || a.Rows[0].Layout.Spec.Size != c.want*units.GiB || a.Rows[0].Replay.Throttled > 0 {
			t.Errorf("%s: %+v %q, want %d GiB", name, a.Rows, a.Rejected, c.want)
		}
	}
	for _, c := range ask(series(mib, 20, 200, 1)).Rows {
		if c.Layout.Spec.Type == "st1" {
			t.Errorf("%+v: nobody named it", c.Layout)
		}
	}
}

// BenchmarkSeries: four weeks of five minutes on all types.
func BenchmarkSeries(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 1))
	s := randomSeries(rnd)
	for len(s.Intervals) < 28*288 {
		s.Intervals = append(s.Intervals, s.Intervals...)
	}
	s.Intervals = s.Intervals[:28*288]
	for b.Loop() {
		d, err := s.Demand()
		if err != nil {
			b.Fatal(err)
		}
		d.Capacity = 500 * units.GiB
		s.sized = nil
		a, err := Advise(Request{Demand: d, Series: s, Headroom: 0.2, Types: []string{"gp3", "gp2", "io2", "io1", "local"}, Older: true})
		if err != nil || a.Instances < 1100 {
			b.Fatal(err, a.Instances)
		}
	}
}

// What costs less than a row and throttles the series, by hand. 1,000 a second for a minute, then 100 for two: on 950 a
// second 3,000 wait after it, which 850 a second take 3.5 s; on 900 6,000, in 7.5 s; on 500 30,000, in 75 s.
func TestLessByHand(t *testing.T) {
	iv := func(reads float64) workload.Interval {
		return workload.Interval{Len: time.Minute, Read: workload.Flow{IOPS: reads, Rate: reads * 4096}}
	}
	series := func(first float64) *Series {
		return &Series{Observed: workload.Observed{Device: "d", Intervals: []workload.Interval{iv(first), iv(first / 10), iv(first / 10)}}}
	}
	machine := func(typ string, month cloud.USD, iops units.IOPS, change func(*cloud.InstanceFacts)) priced {
		f := cloud.InstanceFacts{Type: typ, NVMe: true, Baseline: cloud.Limits{IOPS: iops, Rate: 1e9}}
		if change != nil {
			change(&f)
		}
		return priced{f, month * 1e6}
	}
	prices := &cloud.Prices{Volumes: map[string]cloud.VolumePrice{"gp3": {GiB: 80_000, IOPS: []cloud.Tier{{Above: 3000, USD: 5_000}}}}}
	gp3 := Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3"}}
	own, all := machine("own", 20, 1000, nil), []priced{
		machine("950", 18, 950, nil), machine("900", 19, 900, nil), machine("500", 10, 500, nil),
	}
	for name, c := range map[string]struct {
		more []priced
		want string
	}{
		"dearer, and no better": {nil, "950 1m3.529s, 500 2m15s"},                                    // 900 costs more than 950 and is throttled for longer
		"of the same limits":    {[]priced{machine("twin", 9, 500, nil)}, "950 1m3.529s, 500 2m15s"}, // which comes after it in order of cost
		"as bad, and cheaper": {
			[]priced{machine("rate", 9, 500, func(f *cloud.InstanceFacts) { f.Baseline.Rate = 2e9 })}, "950 1m3.529s, rate 2m15s",
		},
		"too dear":              {[]priced{machine("dear", 21, 999, nil)}, "950 1m3.529s, 500 2m15s"},
		"as dear":               {[]priced{machine("as dear", 20, 999, nil)}, "950 1m3.529s, 500 2m15s"},
		"throttled throughout":  {[]priced{machine("slow", 1, 10, nil)}, "950 1m3.529s, 500 2m15s"},
		"it attaches no volume": {[]priced{machine("full", 11, 990, func(f *cloud.InstanceFacts) { f.Attachments, f.Taken = 4, 4 })}, "950 1m3.529s, 500 2m15s"},
		"it attaches one":       {[]priced{machine("one", 11, 990, func(f *cloud.InstanceFacts) { f.Attachments, f.Taken = 5, 4 })}, "one 1m0.674s, 500 2m15s"}, // 600 / 890
	} {
		r := &Request{Demand: &workload.Demand{Capacity: 10 * units.GiB}, Series: series(1000), Prices: prices}
		l, ok := r.orderFor(gp3, r.on(gp3).peak)
		if !ok || l.Spec.IOPS != 3000 {
			t.Fatalf("%+v %v", l, ok)
		}
		best, _ := r.candidate(l, own)
		best.VolumesMonth = 800_000
		best.Month = best.InstanceMonth + best.VolumesMonth
		var got []string
		for _, c := range r.less(best, append(slices.Clone(all), c.more...)) {
			got = append(got, fmt.Sprintf("%s %v", c.Type, c.Replay.Throttled))
			if c.VolumesMonth != 800_000 || c.Month != c.VolumesMonth+c.InstanceMonth {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		best.Layout.Local = true
		if r.less(best, all) != nil {
			t.Errorf("%s: drives of the machine's own are not ordered for less", name)
		}
	}
	// 10,000 a second on the same machine: volumes of 9,000, 7,500, 6,000 and 4,500. On 3,000, the fewest, 420,000 wait after
	// a minute, which take another 210 s: the series is throttled throughout.
	r := &Request{Demand: &workload.Demand{Capacity: 100 * units.GiB}, Series: series(10000), Prices: prices}
	l, _ := r.orderFor(gp3, r.on(gp3).peak)
	fast := machine("own", 20, 40000, nil)
	best, _ := r.candidate(l, fast)
	best.VolumesMonth = 8_000_000 + 35_000_000
	best.Month = best.InstanceMonth + best.VolumesMonth
	var got []units.IOPS
	for _, c := range r.less(best, []priced{fast}) {
		got = append(got, c.Layout.Spec.IOPS)
		if want := 8_000_000 + cloud.USD(c.Layout.Spec.IOPS-3000)*5_000; c.VolumesMonth != want {
			t.Errorf("%+v costs %v, want %v", c.Layout.Spec, c.VolumesMonth, want)
		}
	}
	if !slices.Equal(got, []units.IOPS{9000, 7500, 6000, 4500}) {
		t.Errorf("%v", got)
	}
}
