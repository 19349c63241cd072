package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Series is what a device did over days or weeks, interval by interval: what is bought for it must
// carry each of them, not their largest all the time.
type Series struct {
	workload.Observed
	// sized are what was worked out of it so far, by what the costs of I/Os depend on.
	sized map[shape]*sized
}

// sized is a series as a layout's volumes see it, with headroom.
type sized struct {
	peak          need
	reads, writes need // of peak
	spans         []span
	// held are the instances, by their limits, and whether they carry it.
	held map[[2]cloud.Limits]bool
}

// Length is the sum of the intervals.
func (s *Series) Length() time.Duration {
	var sum time.Duration
	for i := range s.Intervals {
		sum += s.Intervals[i].Len
	}
	return sum
}

// grain is what a mean size of I/Os is rounded up to: a mean is no size that any I/O had, and no
// purchase depends on less.
const grain = 4 * units.KiB

// grained is the size that stands for a flow's I/Os.
func grained(f *workload.Flow) units.Bytes {
	return units.Bytes(math.Ceil(f.Rate/f.IOPS/float64(grain)*(1-loss))) * grain
}

// on is the series as the volumes of a layout see it. How many volumes there are does not matter:
// an I/O costs all of them together the same.
func (r *Request) on(l Layout) *sized {
	key := shape{level: l.Level, chunk: l.Chunk, typ: l.Spec.Type}
	if known := r.Series.sized[key]; known != nil {
		return known
	}
	out := &sized{held: map[[2]cloud.Limits]bool{}, spans: make([]span, 0, len(r.Series.Intervals))}
	costs := map[ceilingKey]ceiling.Cost{}
	var at, today time.Duration
	if start := r.Series.Start; !start.IsZero() { // days begin at midnight, UTC
		today = start.Sub(start.UTC().Truncate(day))
	}
	for i := range r.Series.Intervals {
		iv := &r.Series.Intervals[i]
		s := span{seconds: iv.Len.Seconds(), fresh: (at+today)/day != (at+today-iv.Len)/day && i > 0}
		for _, read := range []bool{true, false} {
			f := iv.Flow(read)
			if f.IOPS <= 0 {
				continue
			}
			k := ceilingKey{max(grained(f), grain), read}
			c, ok := costs[k]
			if !ok {
				c = l.cost(oneSize(k.size, read))
				c.Bytes /= float64(k.size) // copies
				costs[k] = c
			}
			one := need{f.IOPS * c.IOs, f.Rate * c.Bytes}.times(1 + r.Headroom)
			s.iops, s.bytes = s.iops+one.iops, s.bytes+one.bytes
			if read {
				out.reads = out.reads.most(one)
			} else {
				out.writes = out.writes.most(one)
			}
		}
		out.peak = out.peak.most(s.need)
		out.spans = append(out.spans, s)
		at += iv.Len
	}
	if r.Series.sized == nil {
		r.Series.sized = map[shape]*sized{}
	}
	r.Series.sized[key] = out
	return out
}

type ceilingKey struct {
	size units.Bytes
	read bool
}

// oneSize is a stream of random I/Os of one size and direction.
func oneSize(size units.Bytes, read bool) *workload.Stream {
	s := &workload.Stream{Random: true, Blocks: []workload.Block{{Size: size, Share: 1}}}
	if read {
		s.ReadShare = 1
	}
	return s
}

// peaks are the groups of streams that a row is judged by: those of the demand that run together, or
// the busiest intervals of a series, by I/Os and by bytes.
func (r *Request) peaks() [][]*workload.Stream {
	if r.Series == nil {
		return r.Demand.Together()
	}
	var groups [][]*workload.Stream
	for _, of := range []func(workload.Flow) float64{
		func(f workload.Flow) float64 { return f.IOPS }, func(f workload.Flow) float64 { return f.Rate },
	} {
		iv := slices.MaxFunc(r.Series.Intervals, func(a, b workload.Interval) int {
			return cmp.Compare(of(a.Read)+of(a.Write), of(b.Read)+of(b.Write))
		})
		var group []*workload.Stream
		for _, read := range []bool{true, false} {
			f := iv.Flow(read)
			if f.IOPS <= 0 {
				continue
			}
			s := oneSize(grained(f), read)
			s.IOPS, s.Rate = units.IOPS(f.IOPS), units.Rate(f.Rate)
			group = append(group, s)
		}
		groups = append(groups, group)
	}
	return groups
}

// seriesNotes say how the series was taken.
func (a *Advice) seriesNotes(s *Series) {
	long := s.Length()
	a.Assumed = append(a.Assumed, fmt.Sprintf(
		"%s of %s, %s: each interval is simulated with the credits of volumes and instance, with headroom",
		text.Plural(len(s.Intervals), "interval"), text.Duration(s.Intervals[0].Len), text.Duration(long.Round(time.Second)),
	))
	if long < day {
		a.Assumed = append(a.Assumed, "they cover less than a day, and are assumed to repeat")
	}
}

// Demand is what a series asks for at its most: a stream for each direction, of which sequential or
// random was not recorded.
func (s *Series) Demand() (*workload.Demand, error) {
	d, seen, err := workload.Derive(workload.PlainName(s.Device), []workload.Observed{s.Observed})
	if err != nil {
		return nil, err
	}
	d.Streams = nil
	for _, one := range seen {
		word := "write"
		if one.Read {
			word = "read"
		}
		most := oneSize(one.Block, one.Read)
		most.Name = word
		for i := range s.Intervals {
			f := s.Intervals[i].Flow(one.Read)
			most.IOPS, most.Rate = max(most.IOPS, units.IOPS(f.IOPS)), max(most.Rate, units.Rate(f.Rate))
		}
		d.Streams = append(d.Streams, *most)
	}
	return d, nil
}

// replay runs the series through a row: what it gave, and when it had least left.
func (r *Request) replay(c *Candidate) *Replay {
	on := r.on(c.Layout)
	var ios []float64
	for i := range r.Series.Intervals {
		iv := &r.Series.Intervals[i]
		ios = append(ios, (iv.Read.IOPS+iv.Write.IOPS)*(1+r.Headroom)*iv.Len.Seconds())
	}
	out := run(on.spans, ios, r.bucketsOf(c))
	out.LowestAt, out.WorstAt = r.when(out.lowest), r.when(out.worst)
	return out
}

// when is the beginning of an interval: a time of day, or since the first one.
func (r *Request) when(i int) string {
	iv := &r.Series.Intervals[min(i, len(r.Series.Intervals)-1)]
	at := iv.At - iv.Len
	if start := r.Series.Start; !start.IsZero() {
		return start.UTC().Add(at).Format("2006-01-02 15:04")
	}
	return text.Duration(at.Round(time.Second)) + " after the beginning"
}

// mostLess is how many cheaper rows are shown.
const mostLess = 5

// less are what costs less than the first row and is throttled at times: on cheaper instances, with
// volumes ordered for less, and both; each with fewer minutes than what is cheaper still.
func (r *Request) less(best Candidate, instances []priced) []Candidate {
	if best.Layout.Local {
		return nil
	}
	var orders []Layout
	for _, share := range []float64{1, 0.9, 0.75, 0.6, 0.45, 0.3, 0.2, 0.1} {
		if l, ok := r.orderFor(best.Layout, r.on(best.Layout).peak.times(share)); ok && !slices.Contains(orders, l) {
			orders = append(orders, l)
		}
	}
	seen := map[[2]cloud.Limits]bool{}
	var front []Candidate
	for _, i := range instances {
		key := [2]cloud.Limits{i.Baseline, i.Burst}
		if _, _, known := i.Allows(best.Layout.Spec.Type); !known || i.month > best.InstanceMonth || seen[key] ||
			i.Room() < best.Layout.N {
			continue
		}
		seen[key] = true
		for _, l := range orders {
			if c, ok := r.candidate(l, i); ok && c.Month < best.Month {
				front = append(front, c)
			}
		}
	}
	slices.SortStableFunc(front, func(a, b Candidate) int { return cmp.Compare(b.Month, a.Month) })
	var kept []Candidate
	for _, c := range front { // dearest first: one that is throttled for longer must cost less
		c.Replay = r.replay(&c)
		for len(kept) > 0 && kept[len(kept)-1].Replay.Throttled >= c.Replay.Throttled {
			kept = kept[:len(kept)-1]
		}
		if c.Replay.Throttled < r.Series.Length() {
			kept = append(kept, c)
		}
	}
	return spread(kept, mostLess)
}

// spread picks up to n of a list, the first and the last among them.
func spread(all []Candidate, n int) []Candidate {
	if len(all) <= n {
		return all
	}
	var some []Candidate
	for i := range n {
		some = append(some, all[i*(len(all)-1)/(n-1)])
	}
	return some
}

// orderFor is a layout of the same volumes, ordered for less.
func (r *Request) orderFor(l Layout, n need) (Layout, bool) {
	l.Spec = r.order(l, n)
	_, err := cloud.VolumeLimits(l.Spec)
	return l, err == nil
}
