package result

import (
	"math"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// leastValues is how many seconds an interval needs. With fewer, Student's t spans more than the
// figure itself and only says that the run was short, which the doubt says better.
const leastValues = 5

// exactly is a figure of which no interval is known, and why.
func exactly(v float64, none string) stats.Estimate {
	return stats.Estimate{Center: v, Lo: v, Hi: v, None: none}
}

// wholeInterval is the least length of an interval that is a whole second.
const wholeInterval = 900 * time.Millisecond

// oneValue is what an import has: fio's total, and no series.
const oneValue = "one value"

// tooShort says that a run of this length gives too few seconds for an interval.
func tooShort(run time.Duration) string { return text.Duration(run) + " only" }

// stream is what one direction of one row did, second by second of the clock, from its first I/O to
// its last.
type stream struct {
	lens     []float64
	n, bytes []float64
}

// put notes an interval; one without I/O counts where others follow.
func (s *stream) put(length time.Duration, i Interval) {
	if len(s.n) == 0 && i.N == 0 {
		return
	}
	s.lens = append(s.lens, length.Seconds())
	s.n, s.bytes = append(s.n, float64(i.N)), append(s.bytes, float64(i.Bytes))
}

// rates are those of its whole intervals: the first and the last are cut where the direction began
// and ended.
func (s *stream) rates(of []float64) (xs []float64) {
	last := len(of) - 1
	for last >= 0 && s.n[last] == 0 {
		last--
	}
	for i := 1; i < last; i++ {
		if s.lens[i] >= shortest.Seconds() {
			xs = append(xs, of[i]/s.lens[i])
		}
	}
	return xs
}

// estimates are the IOPS and the bandwidth of a run with their intervals. The centre is fio's exact
// count over its exact time; the batches give the interval around it. Where rows or directions ran
// for a part of the window only, the seconds of the whole do not sample one thing: each
// direction's seconds then give its own interval, and the sum's adds them up by their shares of the
// window, as if they were independent.
func (b *Builder) estimates(r *Result) (iops, bw stats.Estimate) {
	sum := r.Sum()
	if !b.apart(r) {
		return r.estimates()
	}
	iops, bw = exactly(float64(sum.IOPS), ""), exactly(float64(sum.BW), "")
	b.spread(&iops, sum.Window, func(s *stream) []float64 { return s.n })
	b.spread(&bw, sum.Window, func(s *stream) []float64 { return s.bytes })
	return iops, bw
}

// estimates are those of a result of which all ran throughout.
func (r *Result) estimates() (iops, bw stats.Estimate) {
	sum, seconds := r.Sum(), r.undrained()
	iops = series(seconds, func(s Second) float64 { return float64(s.IOPS()) })
	bw = series(seconds, func(s Second) float64 { return float64(s.BW()) })
	return recentre(iops, float64(sum.IOPS), sum.Window), recentre(bw, float64(sum.BW), sum.Window)
}

// apart says that not everything ran throughout.
func (b *Builder) apart(r *Result) bool {
	window := float64(r.Total.Span())
	for _, j := range r.Jobs {
		for _, d := range j.Directions() {
			if d.Runtime > 0 && float64(d.Runtime) < apartShare*window {
				return true
			}
		}
	}
	return false
}

// spread puts the interval of all streams together around a centre; a stream too short for one
// leaves the sum without.
func (b *Builder) spread(e *stats.Estimate, window time.Duration, of func(*stream) []float64) {
	square, n := 0.0, 0
	for i := range b.rows {
		for d := range b.rows[i].streams {
			s := &b.rows[i].streams[d]
			if len(s.n) == 0 {
				continue
			}
			one := stats.BatchMeans(s.rates(of(s)))
			if one.N < leastValues {
				e.None = "a part of it ran for too few seconds"
				return
			}
			active := 0.0
			for _, l := range s.lens {
				active += l
			}
			half := (one.Hi - one.Lo) / 2 * min(active/window.Seconds(), 1)
			square += half * half
			if n == 0 || one.N < n {
				n = one.N
			}
			e.Doubts = append(e.Doubts, one.Doubts...)
		}
	}
	if e.None = tooShort(window); n > 0 {
		e.None = ""
		e.N, e.Lo, e.Hi = n, max(e.Center-math.Sqrt(square), 0), e.Center+math.Sqrt(square)
	}
}

// undrained are the seconds without those at the end in which fio only waits for its last I/Os: it
// counts none that completes after its time, so that they say nothing about the rate. With 256 in
// flight at 1,200 IOPS they last 0.2 s.
func (r *Result) undrained() []Second {
	window, known := fio.Ends(r.Workloads)
	if !known {
		window = math.MaxInt64 // a whole second without I/O is a stall then
	}
	measured := time.Duration(0)
	for _, s := range r.Seconds {
		if !s.Ramp {
			measured += s.Len
		}
	}
	seconds := r.Seconds
	for n := len(seconds) - 1; n > 0; n-- {
		s := seconds[n]
		measured -= s.Len
		if s.Ramp || s.ios() > 0 || measured < window-shortest && s.Len >= wholeInterval {
			break // a stall of a whole second before the end is one
		}
		seconds = seconds[:n]
	}
	return seconds
}

func series(seconds []Second, f func(Second) float64) stats.Estimate {
	var xs []float64
	for _, s := range seconds {
		if !s.Ramp && s.Len >= shortest {
			xs = append(xs, f(s))
		}
	}
	return stats.BatchMeans(xs)
}

// recentre moves an interval to the exact figure; with too few values there is none.
func recentre(e stats.Estimate, center float64, run time.Duration) stats.Estimate {
	if e.N < leastValues {
		return exactly(center, tooShort(run))
	}
	shift := center - e.Center
	e.Lo, e.Hi, e.Center = max(e.Lo+shift, 0), e.Hi+shift, center
	return e
}
