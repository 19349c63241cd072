package advise

import (
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/workload"
)

// span is a stretch of time with a constant load on the volumes. A fresh one begins a day.
type span struct {
	seconds float64
	fresh   bool
	need
}

// day is how long it takes at most until an instance's burst is whole again: AWS promises 30 minutes
// of it at least once in 24 hours, and begins each day with a full pool in its own simulation
// (https://aws.amazon.com/blogs/compute/simulating-amazon-ec2-ebs-burst-credits-before-downsizing-an-instance/).
const day = 24 * time.Hour

// pool is the bucket of a limit. That of an instance is whole again each day.
type pool struct {
	ceiling.Bucket
	daily bool
}

// poolOf is a full pool of what a burst gives above the baseline for so long.
func poolOf(base, top float64, lasts time.Duration) pool {
	top = max(base, top)
	p := pool{Bucket: ceiling.Bucket{Base: base, Top: top}, daily: true}
	if top > base {
		p.Size = (top - base) * lasts.Seconds()
	}
	p.Left = p.Size
	return p
}

// pools are those of I/Os and of bytes that an instance lets through to the volumes. What a vendor counts
// by credits is not whole again each day, but fills from what is left unused.
func (q requirement) pools(f cloud.InstanceFacts) [2]pool {
	base, burst, _ := f.Allows(q.typ)
	b := q.gives(base)
	both := [2]pool{
		poolOf(b.iops, float64(burst.IOPS), f.BurstFor), poolOf(b.bytes, float64(burst.Rate), f.BurstFor),
	}
	for i := range both {
		both[i].daily = f.BurstRule == cloud.ByTime
	}
	return both
}

// carries says whether a pool carries a load that repeats, beginning with a full pool each day.
func (p pool) carries(spans []span, of func(need) float64) bool {
	length := 0.0
	for _, s := range spans {
		if of(s.need) > p.Top*(1+loss) {
			return false
		}
		length += s.seconds
	}
	for left := math.Ceil(day.Seconds() / length); left > 0; left-- {
		before, lowest, full := p.Left, p.Left, false
		for _, s := range spans {
			if s.fresh && p.daily {
				p.Left = p.Size
			}
			p.Pass(of(s.need), s.seconds)
			lowest, full = min(lowest, p.Left), full || p.Left == p.Size
		}
		switch spent := before - p.Left; {
		case lowest < -loss*p.Size:
			return false
		case spent <= 0:
			return true
		case !full: // each period that follows leaves as much less
			return lowest-spent*(left-1) >= -loss*p.Size
		}
	}
	return true
}

// mostSpans is how many changes of load a period may have.
const mostSpans = 20_000

// course is what a demand asks of a layout's volumes with time, in one period of its bursts: those
// with the same period and delay run at the same time. Streams that run apart are taken as if they
// did not, which asks for more credits than they do. Nil when the periods have no common multiple
// of at most a week: then nothing is known.
func (r *Request) course(l Layout) []span {
	period := time.Duration(0)
	for _, s := range r.Demand.Streams {
		if s.Burst != nil {
			period = common(period, s.Burst.Every)
		}
	}
	if period <= 0 || period > 7*day {
		return nil
	}
	at := []time.Duration{0, period}
	for d := day; d < period; d += day {
		at = append(at, d)
	}
	for _, s := range r.Demand.Streams {
		b := s.Burst
		if b == nil {
			continue
		}
		if len(at)+2*int(period/b.Every) > mostSpans {
			return nil
		}
		for from := b.After; from < period; from += b.Every {
			at = append(at, from, min(from+b.For, period))
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	spans := make([]span, len(at)-1)
	for i := range spans {
		spans[i].seconds, spans[i].fresh = (at[i+1] - at[i]).Seconds(), at[i] > 0 && at[i]%day == 0
	}
	for _, s := range streams(r.Demand) {
		s = r.grouped(l, s)
		c := l.cost(s)
		each := need{float64(s.IOPS) * c.IOs, float64(s.IOPS) * c.Bytes}.times(1 + r.Headroom)
		for k := range spans {
			if s.Burst == nil || s.Burst.RunsAt(at[k]) {
				spans[k].iops += each.iops
				spans[k].bytes += each.bytes
			}
		}
	}
	return spans
}

// common is the least common multiple of two periods, in whole milliseconds; 0 for none that an int
// can hold.
func common(a, b time.Duration) time.Duration {
	a, b = a.Round(time.Millisecond), b.Round(time.Millisecond)
	if a == 0 || b == 0 {
		return a + b
	}
	x := topology.GCD(a, b)
	if a/x > 1000*day/b {
		return 1000 * day
	}
	return a / x * b
}

// bursting says that streams of the demand come in bursts that an instance's burst may carry.
func (r *Request) bursting() bool {
	bursts := func(s workload.Stream) bool { return s.Burst != nil }
	return r.Series != nil || r.BurstOK && slices.ContainsFunc(r.Demand.Streams, bursts)
}
