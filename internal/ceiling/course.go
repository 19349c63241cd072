package ceiling

import (
	"cmp"
	"math"
	"slices"
	"time"

	"plimsoll/internal/units"
)

// model is what the bounds of a ceiling were made of: it follows how bursts are spent. It is not
// kept in a bundle.
type model struct {
	*problem
	parts [][2]float64 // by resource: the share of its baseline and of its burst that is the role's
}

// burst is the bucket of a resource while it is spent.
type burst struct {
	*resource
	Bucket
	spent bool
	ends  float64 // seconds since the start; +Inf: the load leaves it alone
}

// timed sets how long each burst lasts under a load that takes all it is given and never pauses, by
// following the load from one end of a burst to the next: it takes what the smallest bound allows,
// each burst gives what is above its baseline, and the first that is spent ends the phase. Of a
// burst that this load does not spend, since something else holds it back later, the time is that
// at its first rate, and no less than to the last phase; where that is below the baseline from the
// beginning, that of a load which uses the burst whole.
func (c Ceiling) timed() Ceiling {
	if c.model == nil {
		return c
	}
	buckets := c.model.buckets()
	begin := c.model.carries(buckets, c.Concurrency())
	now := 0.0
	for x := begin; ; x = c.model.carries(buckets, c.Concurrency()) {
		first, after := (*burst)(nil), math.Inf(1)
		for _, b := range buckets {
			if in := b.Lasts(used(x, b.demand)); !b.spent && in < after {
				first, after = b, in
			}
		}
		if first == nil {
			break
		}
		now += after
		for _, b := range buckets {
			if b.spent {
				continue
			}
			b.Pass(used(x, b.demand), after)
			if b == first || b.Empty() { // an instance's two bursts end at the same time
				b.spent, b.ends = true, now
			}
		}
	}
	c.Bounds = slices.Clone(c.Bounds)
	for i := range c.Bounds {
		b := &c.Bounds[i]
		at := slices.IndexFunc(buckets, func(o *burst) bool { return b.Burst && o.kind == b.Kind && o.name == b.Name })
		if at < 0 {
			continue
		}
		ends := buckets[at].ends
		if math.IsInf(ends, 1) {
			fresh := c.model.buckets()[at]
			if ends = max(fresh.Lasts(used(begin, fresh.demand)), now); math.IsInf(ends, 1) {
				ends = fresh.Lasts(fresh.Top)
			}
		}
		if !math.IsInf(ends, 1) {
			b.BurstFor = time.Duration(ends * float64(time.Second)).Round(time.Second)
		}
	}
	return c
}

// buckets are the bursts of which it is known how long they last, full.
func (m *model) buckets() []*burst {
	var out []*burst
	for i, r := range m.resources {
		if r.top <= 0 || r.lasts == 0 && r.credits <= 0 {
			continue
		}
		b := &burst{resource: r, ends: math.Inf(1), Bucket: Bucket{
			Base: r.base * m.parts[i][0], Top: r.top * m.parts[i][1], Size: r.credits * m.parts[i][1], Timed: r.lasts > 0,
		}}
		if b.Timed {
			b.Size = r.lasts.Seconds()
		}
		b.Left = b.Size
		out = append(out, b)
	}
	return out
}

// carries is what the streams do at the smallest of what the resources allow now.
func (m *model) carries(buckets []*burst, most *Bound) [][2]float64 {
	var least [][2]float64
	total := math.Inf(1)
	take := func(x [][2]float64) {
		sum := 0.0
		for _, d := range x {
			sum += d[0] + d[1]
		}
		if x != nil && sum < total {
			least, total = x, sum
		}
	}
	for i, r := range m.resources {
		capacity := r.base * m.parts[i][0]
		if r.top > 0 && !slices.ContainsFunc(buckets, func(b *burst) bool { return b.resource == r && b.spent }) {
			capacity = r.top * m.parts[i][1]
		}
		if capacity > 0 {
			take(m.fill(capacity, r.demand))
		}
	}
	if asked, all := m.asked(); all {
		take(asked)
	}
	if most != nil {
		take(m.carrying(float64(most.IOPS)))
	}
	return least
}

// Step is a stretch of time under one binding bound.
type Step struct {
	Until time.Duration `json:"until,omitempty"` // since the start of the load; 0: without end
	Bound Bound         `json:"bound"`
}

// Course is how the ceiling of a load that never pauses falls as bursts run out. A burst of which
// it is not known how long it lasts ends the course with what follows it left out.
func (c Ceiling) Course() []Step {
	ends := []time.Duration{0}
	for _, b := range c.Bounds {
		if b.Burst && b.BurstFor > 0 {
			ends = append(ends, b.BurstFor)
		}
	}
	slices.Sort(ends)
	var steps []Step
	for _, from := range slices.Compact(ends) {
		alive := func(b Bound) bool { return b.Burst && (b.BurstFor == 0 || b.BurstFor > from) }
		now := c.Least(func(b Bound) bool {
			if b.Burst {
				return alive(b)
			}
			return !slices.ContainsFunc(c.Bounds, func(o Bound) bool { return alive(o) && o.SameResource(b) && o.IOPS > b.IOPS })
		})
		if now == nil {
			return nil
		}
		if n := len(steps); n > 0 {
			if now.IOPS > steps[n-1].Bound.IOPS*alike { // as much, if by another limit
				continue
			}
			steps[n-1].Until = from
		}
		steps = append(steps, Step{Bound: *now})
	}
	return steps
}

// Over is the mean of the course under a load that goes on for so long, and how long its first burst lasts where
// the load outlasts that; false where it does not.
func (c Ceiling) Over(run time.Duration) (mean units.IOPS, burst time.Duration, outlasts bool) {
	steps := c.Course()
	if len(steps) < 2 || steps[0].Until >= run {
		return 0, 0, false
	}
	from := time.Duration(0)
	for _, s := range steps {
		until := min(cmp.Or(s.Until, run), run)
		mean += s.Bound.IOPS * units.IOPS(float64(until-from)/float64(run))
		from = until
	}
	return mean, steps[0].Until, true
}

// SameResource says that two bounds are of one resource: its burst and its baseline.
func (b Bound) SameResource(o Bound) bool { return b.Kind == o.Kind && b.Name == o.Name }
