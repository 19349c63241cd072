package advise

import (
	"math"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// Replay is what became of a series on a candidate. What arrives and cannot be served waits, and is
// served in the order of its arrival.
type Replay struct {
	// Throttled is how long less was given than was asked for, or something waited.
	Throttled time.Duration `json:"throttled"`
	// Lowest is the least share of the credits that was left of any kind, Of that kind, at the
	// interval LowestAt; 1 where nothing has credits.
	Lowest   float64 `json:"lowest_balance"`
	Of       string  `json:"lowest_of,omitempty"`
	LowestAt string  `json:"lowest_at,omitempty"`
	// Backlog is the most I/Os that waited, Wait how long one waited at most, in the interval
	// WorstAt.
	Backlog float64       `json:"backlog_ios"`
	Wait    units.Latency `json:"wait"`
	WorstAt string        `json:"worst_at,omitempty"`

	lowest, worst int
}

// bucket is a limit of a candidate, with what it has saved up.
type bucket struct {
	pool
	name string
	of   func(need) float64
}

// bucketsOf are the limits of a candidate: its volumes' together, and its instance's.
func (r *Request) bucketsOf(c *Candidate) []bucket {
	p := r.requirement(c.Layout).pools(c.Instance)
	return append(r.volumeBuckets(c.Layout, c.volume()),
		bucket{p[0], "instance IOPS", ofIOPS}, bucket{p[1], "instance throughput", ofBytes})
}

// volumeBuckets are those of the volumes of a layout together: of I/Os and of bytes, of a hard disk's of
// whole MiB, of which each counted I/O takes one.
func (r *Request) volumeBuckets(l Layout, f cloud.VolumeFacts) []bucket {
	n, base := float64(l.N), r.given(l, f)
	full := func(base, top, size float64) pool {
		return pool{Bucket: ceiling.Bucket{Base: base, Top: max(base, top*n), Size: size * n, Left: size * n}}
	}
	rate := full(base.bytes, float64(f.Burst.Rate), float64(f.BurstBytes))
	if f.CountedIO >= units.MiB {
		return []bucket{{rate, "volume throughput", func(n need) float64 { return n.iops * float64(f.CountedIO) }}}
	}
	return []bucket{
		{full(base.iops, float64(f.Burst.IOPS), f.BurstIOs), "volume IOPS", ofIOPS}, {rate, "volume throughput", ofBytes},
	}
}

// player is a replay in progress. Work is counted in intervals: at 1 an interval's I/Os are done.
type player struct {
	spans   []span
	ios     []float64
	buckets []bucket
	head    int     // interval whose work is served
	done    float64 // of it, 0..1
	now     float64 // seconds since the beginning
	begins  []float64
	out     Replay
	waiting float64 // I/Os
	held    float64 // seconds
}

// run plays loads on buckets that begin full. It goes from event to event: an interval ends, a
// bucket is empty, waiting work is done.
func run(spans []span, ios []float64, buckets []bucket) *Replay {
	p := &player{spans: spans, ios: ios, buckets: buckets, out: Replay{Lowest: 1}}
	for i := range spans {
		p.begins = append(p.begins, p.now)
		p.now += spans[i].seconds
	}
	p.now = 0
	for i := range spans {
		p.interval(i)
	}
	p.drain()
	p.out.Throttled = time.Duration(p.held * float64(time.Second)).Round(time.Millisecond)
	return &p.out
}

// speed is how much of interval i can be done a second now, and the time until a bucket that this
// uses up is empty.
func (p *player) speed(i int) float64 {
	most := math.Inf(1)
	s := p.spans[i]
	for k := range p.buckets {
		b := &p.buckets[k]
		if asks := b.of(s.need) * s.seconds; asks > 0 {
			most = min(most, b.Allows()*(1+loss)/asks)
		}
	}
	return most
}

// step serves interval i at a speed for a time, or until a bucket is empty; it says for how long.
func (p *player) step(i int, speed, long float64) float64 {
	s := p.spans[i]
	for k := range p.buckets {
		b := &p.buckets[k]
		long = min(long, max(b.Lasts(b.of(s.need)*s.seconds*speed), 1e-6))
	}
	for k := range p.buckets {
		b := &p.buckets[k]
		b.Pass(b.of(s.need)*s.seconds*speed, long)
		b.Left = max(b.Left, 0)
		if b.Size > 0 && b.Left/b.Size < p.out.Lowest {
			p.out.Lowest, p.out.Of, p.out.lowest = b.Left/b.Size, b.name, i
		}
	}
	return long
}

// interval lets the work of an interval arrive.
func (p *player) interval(i int) {
	if p.spans[i].fresh {
		for k := range p.buckets {
			if b := &p.buckets[k]; b.daily {
				b.Left = b.Size
			}
		}
	}
	end := p.begins[i] + p.spans[i].seconds
	for p.now < end-1e-9 {
		p.until(i, end)
	}
	p.now = end
	if p.head == i && p.done >= 1-1e-9 {
		p.head, p.done = i+1, 0
	}
}

// until serves what is due until the next event, at most to the end of interval i.
func (p *player) until(i int, end float64) {
	length := p.spans[i].seconds
	arrived := (p.now - p.begins[i]) / length
	old := p.head < i
	behind := old || p.done < arrived-1e-12
	speed := min(p.speed(p.head), 1e9)
	long := end - p.now
	switch {
	case old:
		long = min(long, (1-p.done)/speed)
	case !behind:
		speed = min(speed, 1/length)
	case speed > 1/length:
		long = min(long, (arrived-p.done)/(speed-1/length))
	}
	long = p.serve(speed, long)
	p.waiting += p.ios[i] / length * long
	if behind || speed < 1/length*(1-1e-7) {
		p.held += long
		p.worst(i)
	}
	if old && p.done >= 1-1e-12 {
		p.head, p.done = p.head+1, 0
	}
}

// serve does the work that is due at a speed for a time, or until a bucket is empty; it says for how long.
func (p *player) serve(speed, long float64) float64 {
	long = p.step(p.head, speed, max(long, 1e-9))
	p.now += long
	p.done += speed * long
	p.waiting -= p.ios[p.head] * speed * long
	return long
}

// worst notes how much waits, and for how long the I/O that is served has waited.
func (p *player) worst(i int) {
	if p.head >= len(p.spans) {
		return
	}
	came := p.begins[p.head] + p.done*p.spans[p.head].seconds
	if wait := units.Latency((p.now - came) * 1e9); wait > p.out.Wait {
		p.out.Wait, p.out.worst = wait, i
	}
	p.out.Backlog = max(p.out.Backlog, p.waiting)
}

// drain serves what is left after the last interval.
func (p *player) drain() {
	for p.head < len(p.spans) {
		speed := min(p.speed(p.head), 1e9)
		p.held += p.serve(speed, (1-p.done)/speed)
		p.worst(len(p.spans) - 1)
		if p.done >= 1-1e-12 {
			p.head, p.done = p.head+1, 0
		}
	}
}
