package ceiling_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

// The second oracle runs the same jobs I/O by I/O on volumes with small buckets, to show that means
// and events give the same course. A volume and the instance are servers that take as long for an
// I/O as it costs of their allowance; the job keeps so many I/Os in flight.

// server works off what arrives in turn. It works at its burst while it has credits.
type server struct {
	*bucket
	device  int // -1: the instance
	of      func(usage, oVolume) float64
	free    float64 // the instant from which it is idle
	credits float64
	dry     float64 // when the credits were gone
}

// take books a cost that arrives at now, and returns when it is done.
func (s *server) take(now, cost float64) float64 {
	if cost == 0 {
		return now
	}
	rate := s.base
	if s.burst > s.base && s.credits > 0 {
		rate = s.burst
	}
	from := max(s.free, now)
	if s.burst > s.base {
		idle := from - s.free
		took := cost / rate
		s.credits = min(s.credits+s.base*(idle+took), s.full) - cost
		if s.credits <= 0 && s.dry == 0 {
			s.dry, s.credits = from+took, 0
		}
		if s.dry > 0 {
			s.credits = 0 // at its baseline it earns what it spends
		}
	}
	s.free = from + cost/rate
	return s.free
}

type inFlight []float64

func (f inFlight) Len() int           { return len(f) }
func (f inFlight) Less(i, j int) bool { return f[i] < f[j] }
func (f inFlight) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *inFlight) Push(x any)        { *f = append(*f, x.(float64)) }
func (f *inFlight) Pop() any {
	old := *f
	x := old[len(old)-1]
	*f = old[:len(old)-1]
	return x
}

// each runs the case until the last of its volumes' bursts is gone and as long again, and returns
// the I/Os per second before the first end, after the last, and the instants of the ends.
func (c *oCase) each(servers []*server, depth, most int) (done []float64) {
	s := c.sections[0]
	read, write := s.read.sequence(s), s.write.sequence(s)
	flight := &inFlight{}
	for range depth {
		heap.Push(flight, 0.0)
	}
	one := newCounter(&c.array)
	reads, writes := 0, 0
	for k := range most {
		now := heap.Pop(flight).(float64)
		for i := range one.total {
			one.total[i] = usage{}
		}
		if float64(reads) < s.readShare*float64(k+1)-0.5 || s.readShare == 1 {
			offset, size := read(reads)
			c.array.readOne(one, s, reads, offset, size, false)
			reads++
		} else {
			offset, size := write(writes)
			if c.array.parity() > 0 {
				c.array.rows(one, offset, size, false)
			} else {
				c.array.pieces(offset, size, func(dev []int, off []int64, length int64) {
					for i := range dev {
						one.put(false, dev[i], off[i], length)
					}
				})
			}
			writes++
		}
		one.end(false)
		end := now
		for _, v := range servers {
			cost := 0.0
			for dev, u := range one.total {
				if v.device == dev || v.device < 0 {
					cost += v.of(u, c.array.vols[dev])
				}
			}
			end = max(end, v.take(now, cost))
		}
		heap.Push(flight, end)
		done = append(done, end)
	}
	return done
}

// serversOf makes a server of each bucket.
func (c *oCase) servers() []*server {
	ios := func(u usage, _ oVolume) float64 { return u.readIOs + u.writeIOs }
	bytes := func(u usage, _ oVolume) float64 { return u.readBytes + u.writeBytes }
	var out []*server
	for dev, v := range c.array.vols {
		out = append(out,
			&server{bucket: &bucket{base: v.iops, burst: v.burstIOPS, full: v.credits}, credits: v.credits, device: dev, of: ios},
			&server{bucket: &bucket{base: v.rate}, device: dev, of: bytes})
	}
	if i := c.instance; i != nil {
		out = append(out, &server{bucket: &bucket{base: i.iops}, device: -1, of: ios}, &server{bucket: &bucket{base: i.rate}, device: -1, of: bytes})
	}
	return out
}

// smallCase is a case of one random section on volumes whose credits are gone after some ten
// thousand I/Os.
func smallCase(r *rand.Rand) *oCase {
	for {
		c := anyCase(r)
		s := &c.sections[0]
		v := c.array.vols[0]
		if len(c.sections) > 1 || s.sequential || v.hdd || !v.network || s.rate != [2]float64{} || s.rateIOPS != [2]float64{} {
			continue
		}
		s.jobs, s.depth = 8, 128
		for i := range c.array.vols {
			if v := &c.array.vols[i]; v.burstIOPS > 0 {
				v.credits = 20000 + float64(r.IntN(20000))
			}
		}
		if i := c.instance; i != nil {
			i.seconds, i.burstIOPS, i.burstRate = 0, 0, 0
		}
		return c
	}
}

// TestOracleByEachIO shows that draining buckets with mean costs is the same as running each I/O: 10
// cases here, 100 in make bench.
func TestOracleByEachIO(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	r, cases := rand.New(rand.NewPCG(1, 26)), 10
	if os.Getenv("PLIMSOLL_ORACLE") != "" {
		cases = 100
	}
	for i := range cases {
		c := smallCase(r)
		want := merged(c.run(c.buckets(c.costs(10000))))
		total := 0.0
		from := 0.0
		for _, p := range want {
			if p.until > 0 {
				total += p.iops * (p.until - from)
				from = p.until
			}
		}
		n := int(min(total*1.5, 400000)) + 40000
		done := c.each(c.servers(), 1024, n)
		from = 0
		for j, p := range want {
			// The middle of each phase, as far as so many I/Os last.
			begin, end := from+(p.until-from)*0.25, from+(p.until-from)*0.75
			if p.until == 0 {
				begin, end = max(from*1.1, done[n/3]), done[n-2000]
			}
			if from = p.until; end > done[n-2000] || end <= begin {
				break
			}
			count := 0
			for _, at := range done {
				if at >= begin && at < end {
					count++
				}
			}
			if count < 3000 {
				continue
			}
			if got := float64(count) / (end - begin); math.Abs(got/p.iops-1) > 0.03 {
				t.Errorf("case %d, phase %d: %.0f IOPS each by each, %.0f by means\n%v\n%+v", i, j+1, got, p.iops, c, want)
			}
		}
	}
}
