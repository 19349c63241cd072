package ceiling

import (
	"math"
	"slices"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// stream is one section of a job. Sections that run at once get through I/Os in proportion to their
// weight, the I/Os they keep in flight, but none of their directions above the rate that it asks
// for.
type stream struct {
	w      fio.Workload
	weight float64
	share  [2]float64 // of reads and of writes
	most   [2]float64 // the rate asked for of each; +Inf where none is, 0 where it does not run
}

func streamOf(w fio.Workload) stream {
	s := stream{w: w, weight: float64(w.InFlight()), share: [2]float64{w.ReadShare, writeShare(w)}}
	for d, share := range s.share {
		switch asked := float64(Asked(w, d == 0)); {
		case share <= 0:
		case asked <= 0:
			s.most[d] = math.Inf(1)
		default:
			s.most[d] = asked
		}
	}
	return s
}

// Asked is the I/Os per second that the jobs of a section hold themselves to in one direction, by rate=
// and rate_iops= of each, the lesser of both; 0 where they do not.
func Asked(w fio.Workload, read bool) units.IOPS {
	readIOPS, writeIOPS := w.HeldIOPS()
	iops, rate, block := writeIOPS, w.WriteRate, w.WriteBS
	if read {
		iops, rate, block = readIOPS, w.ReadRate, w.ReadBS
	}
	least := math.Inf(1)
	if iops > 0 {
		least = float64(iops)
	}
	if rate > 0 && block > 0 {
		least = min(least, float64(rate)/float64(block))
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return units.IOPS(least) * units.IOPS(max(w.Jobs, 1))
}

func writeShare(w fio.Workload) float64 { return max(1-w.ReadShare-w.TrimShare, 0) }

// at is what a stream reads and writes per second when each of its I/Os in flight comes round level
// times. fio draws the direction by the mix, and takes the other one where that is ahead of its
// rate (io_u.c, rate_ddir; 3.33 did 500 + 500 of a 30/70 mix with rate_iops=500, and with
// rate_iops=500, as many writes as the device took).
func (s stream) at(level float64) (x [2]float64) {
	total := s.weight * level
	for d := range x {
		x[d] = total * s.share[d]
	}
	for d := range x {
		if over := x[d] - s.most[d]; over > 0 {
			x[d] = s.most[d]
			if s.share[1-d] > 0 {
				x[1-d] = min(x[1-d]+over, s.most[1-d])
			}
		}
	}
	return x
}

// bends are the levels at which what the stream does stops growing as it did.
func (s stream) bends() []float64 {
	var out []float64
	total := 0.0
	for d, share := range s.share {
		if share > 0 && !math.IsInf(s.most[d], 1) {
			out = append(out, s.most[d]/share/s.weight)
		}
		total += s.most[d]
	}
	if !math.IsInf(total, 1) {
		out = append(out, total/s.weight)
	}
	return out
}

// tiny is a level at which no stream has reached its rate.
const tiny = 1e-9

func (p *problem) at(level float64) [][2]float64 {
	x := make([][2]float64, len(p.streams))
	for i, s := range p.streams {
		x[i] = s.at(level)
	}
	return x
}

// asked is what the streams ask for by their rates; all says that every direction has one.
func (p *problem) asked() (x [][2]float64, all bool) {
	all = len(p.streams) > 0
	for _, s := range p.streams {
		x = append(x, s.most)
		all = all && !math.IsInf(s.most[0]+s.most[1], 1) && s.most[0]+s.most[1] > 0
	}
	return x, all
}

// used is what streams at x take of a resource.
func used(x, demand [][2]float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i][0]*demand[i][0] + x[i][1]*demand[i][1]
	}
	return sum
}

// fill finds what each stream does where they use a capacity up: all rise together in proportion to
// their weights, and a direction that reaches the rate it asks for stays there. When even all the
// rates asked for leave some capacity, they are scaled to it, for that is what the resource would
// allow. Nil when the streams do not use the resource up however fast they run.
func (p *problem) fill(capacity float64, demand [][2]float64) [][2]float64 {
	return p.reach(capacity, func(x [][2]float64) float64 { return used(x, demand) })
}

// carrying is what each stream does where all together do so many I/Os per second.
func (p *problem) carrying(iops float64) [][2]float64 {
	return p.reach(iops, func(x [][2]float64) float64 {
		sum := 0.0
		for i := range x {
			sum += x[i][0] + x[i][1]
		}
		return sum
	})
}

// reach finds the streams' rates at which a sum of them, linear between their bends, has a value.
func (p *problem) reach(value float64, of func([][2]float64) float64) [][2]float64 {
	var bends []float64
	for _, s := range p.streams {
		bends = append(bends, s.bends()...)
	}
	slices.Sort(bends)
	low, at := 0.0, 0.0
	for _, high := range bends {
		top := of(p.at(high))
		if top >= value {
			return p.at(low + (high-low)*(value-at)/(top-at))
		}
		low, at = high, top
	}
	next := 2*low + 1
	if slope := (of(p.at(next)) - at) / (next - low); slope > at*1e-12 {
		return p.at(low + (value-at)/slope)
	}
	x, all := p.asked()
	if !all || at <= 0 {
		return nil
	}
	for i := range x {
		x[i] = [2]float64{x[i][0] * value / at, x[i][1] * value / at}
	}
	return x
}
