package ceiling_test

import (
	"math"
)

// oCase is a job on a layout.
type oCase struct {
	array    oArray
	instance *oInstance
	sections []oSection
}

// bucket is one allowance of one volume or of the instance, and what is left of its burst.
type bucket struct {
	kind          string // as package ceiling names it
	base, burst   float64
	credits, full float64      // in units of the allowance × seconds
	timed         bool         // credits are seconds above the baseline
	cost          [][2]float64 // by section: of one read, of one write
}

func (b *bucket) allowed() float64 {
	if b.burst > b.base && b.credits > 0 {
		return b.burst
	}
	return b.base
}

// used is what streams at these rates take of the bucket.
func (b *bucket) used(x [][2]float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i][0]*b.cost[i][0] + x[i][1]*b.cost[i][1]
	}
	return sum
}

// costs issues ios I/Os of each direction of each section.
func (c *oCase) costs(ios int) [][2][]usage {
	alone := len(c.sections) == 1 && c.sections[0].jobs*c.sections[0].depth == 1
	out := make([][2][]usage, len(c.sections))
	for i, s := range c.sections {
		if s.readShare > 0 {
			out[i][0] = c.array.issue(s, true, ios, alone)
		}
		if s.readShare < 1 {
			out[i][1] = c.array.issue(s, false, ios, alone)
		}
	}
	return out
}

// buckets of the volumes and of the instance.
func (c *oCase) buckets(costs [][2][]usage) []*bucket {
	var out []*bucket
	add := func(kind string, base, burst, credits float64, timed bool, of func(usage, oVolume) float64, devs ...int) {
		if base <= 0 && burst <= 0 {
			return
		}
		b := &bucket{kind: kind, base: base, burst: burst, credits: credits, full: credits, timed: timed}
		for i := range costs {
			var both [2]float64
			for d := range 2 {
				for _, dev := range devs {
					if len(costs[i][d]) > 0 {
						both[d] += of(costs[i][d][dev], c.array.vols[dev])
					}
				}
			}
			b.cost = append(b.cost, both)
		}
		out = append(out, b)
	}
	// What a host's cache holds of a disk is read without the disk.
	seen := func(v oVolume, read, write float64) float64 {
		if v.cache != "" {
			return write
		}
		return read + write
	}
	ios := func(u usage, v oVolume) float64 { return seen(v, u.readIOs, u.writeIOs) }
	bytes := func(u usage, v oVolume) float64 { return seen(v, u.readBytes, u.writeBytes) }
	var network []int
	for dev, v := range c.array.vols {
		if v.network {
			network = append(network, dev)
		}
		if v.pooled {
			continue // see machine
		}
		if v.hdd {
			add("volume throughput", v.rate, v.burstRate, v.credits, false, func(u usage, v oVolume) float64 {
				return (u.readIOs + u.writeIOs) * float64(v.unit)
			}, dev)
			continue
		}
		add("volume IOPS", v.iops, v.burstIOPS, v.credits, false, ios, dev)
		add("volume throughput", v.rate, 0, 0, false, bytes, dev)
		if v.shared {
			add("volume IOPS", 1, 0, 0, false, func(u usage, v oVolume) float64 {
				return u.readIOs/v.readIOPS + u.writeIOs/v.writeIOPS
			}, dev)
			add("volume throughput", 1, 0, 0, false, func(u usage, v oVolume) float64 {
				return u.readBytes/v.readRate + u.writeBytes/v.writeRate
			}, dev)
			continue
		}
		add("volume IOPS", v.readIOPS, 0, 0, false, func(u usage, _ oVolume) float64 { return u.readIOs }, dev)
		add("volume IOPS", v.writeIOPS, 0, 0, false, func(u usage, _ oVolume) float64 { return u.writeIOs }, dev)
		add("volume throughput", v.readRate, 0, 0, false, func(u usage, _ oVolume) float64 { return u.readBytes }, dev)
		add("volume throughput", v.writeRate, 0, 0, false, func(u usage, _ oVolume) float64 { return u.writeBytes }, dev)
	}
	if i := c.instance; i != nil && len(network) > 0 {
		if i.cloud != "" {
			c.machine(add)
			return out
		}
		add("instance IOPS", i.iops, i.burstIOPS, i.seconds, true, ios, network...)
		add("instance throughput", i.rate, i.burstRate, i.seconds, true, bytes, network...)
	}
	return out
}

// caps are the I/Os per second that fio holds each direction of a section to; 0 where it does not.
func (s oSection) caps() (caps [2]float64) {
	for d, b := range []oBlocks{s.read, s.write} {
		if len(b.sizes) == 0 {
			continue
		}
		x := s.rate[d] / b.mean()
		if s.rateIOPS[d] > 0 { // as bytes by the smallest block
			x = s.rateIOPS[d] * float64(b.least()) / b.mean()
		}
		caps[d] = x * float64(s.jobs)
	}
	return caps
}

// at is what a section reads and writes per second when its I/Os in flight turn over level times a
// second. fio draws the direction by the mix, and takes the other one where that is ahead of its
// rate (io_u.c, rate_ddir).
func (s oSection) at(level float64) (x [2]float64) {
	total := level * float64(s.jobs*s.depth)
	want := [2]float64{total * s.readShare, total * (1 - s.readShare)}
	caps := s.caps()
	for d := range 2 {
		if caps[d] > 0 && want[d] > caps[d] {
			if over := want[d] - caps[d]; want[1-d] > 0 {
				want[1-d] += over
			}
			want[d] = caps[d]
		}
	}
	for d := range 2 { // the other's surplus may be above its own rate
		if caps[d] > 0 {
			want[d] = min(want[d], caps[d])
		}
	}
	return want
}

func (c *oCase) at(level float64) [][2]float64 {
	var x [][2]float64
	for _, s := range c.sections {
		x = append(x, s.at(level))
	}
	return x
}

// phase is a stretch of time under one limit; until is 0 in the last.
type phase struct {
	iops, bw, until float64
	near            map[string]float64 // by kind: the share of the allowance in use
	strain          float64            // used over (used - base) of the bucket whose end this is
}

// run drains the buckets from event to event.
func (c *oCase) run(buckets []*bucket) []phase {
	var phases []phase
	for now := 0.0; len(phases) < 20; {
		x := c.at(c.level(buckets))
		p := phase{near: map[string]float64{}, strain: 1}
		for i, s := range c.sections {
			p.iops += x[i][0] + x[i][1]
			p.bw += x[i][0]*s.read.mean() + x[i][1]*s.write.mean()
		}
		asked := c.at(1e12)
		if full(x, asked) {
			p.near["requested rate"] = 1
		}
		next := math.Inf(1)
		for _, b := range buckets {
			u := b.used(x)
			p.near[b.kind] = max(p.near[b.kind], u/b.allowed())
			if b.burst <= b.base || b.credits <= 0 || u <= b.base*(1+1e-9) {
				continue
			}
			left, strain := b.credits/(u-b.base), u/(u-b.base)
			if b.timed {
				left, strain = b.credits, 1
			}
			if left < next {
				next, p.strain = left, strain
			}
		}
		if math.IsInf(next, 1) {
			return append(phases, p)
		}
		now += next
		for _, b := range buckets {
			spent := (b.used(x) - b.base) * next
			if b.timed {
				spent = 0
				if b.used(x) > b.base*(1+1e-9) {
					spent = next
				}
			}
			if b.credits = min(b.credits-spent, b.full); b.credits < b.full*1e-9 {
				b.credits = 0
			}
		}
		p.until = now
		phases = append(phases, p)
	}
	return phases
}

func full(x, asked [][2]float64) bool {
	for i := range x {
		for d := range 2 {
			if x[i][d] < asked[i][d]*0.9999 {
				return false
			}
		}
	}
	return true
}

// level is the highest that all allowances carry, by bisection.
func (c *oCase) level(buckets []*bucket) float64 {
	low, high := 0.0, 1e12
	for range 200 {
		mid := high / 1e3
		if low > 0 {
			mid = math.Sqrt(low * high)
		}
		x, fits := c.at(mid), true
		for _, b := range buckets {
			fits = fits && b.used(x) <= b.allowed()
		}
		if fits {
			low = mid
		} else {
			high = mid
		}
		if low > 0 && high/low < 1+1e-12 {
			break
		}
	}
	return low
}

// merged joins phases that differ by less than a hundredth.
func merged(phases []phase) []phase {
	var out []phase
	for _, p := range phases {
		if n := len(out); n > 0 && p.iops > out[n-1].iops*0.99 {
			out[n-1].until, out[n-1].strain = p.until, p.strain
			continue
		}
		out = append(out, p)
	}
	return out
}
