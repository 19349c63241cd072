package stats

import (
	"fmt"
	"math"

	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// StopOptions say when one run is known well enough to be stopped.
type StopOptions struct {
	// Target is the half width that is asked for, as a share: 0.02.
	Target float64
	// Bound is the ceiling that the series is expected to run at, in the series' unit; 0 when it is
	// not known. A run that sits on its ceiling without noise is known after seconds.
	Bound float64
	// Sustained is the sustained rate where the bound is a burst, 0 where it is none: what runs
	// above it is a burst.
	Sustained float64
	// Least is a number of seconds before which the run is not stopped, such as the life of a
	// burst.
	Least int
}

// Settled is what a run's seconds say so far of whether it may stop.
type Settled struct {
	// At is the second at which the run was settled, 0 when it is not.
	At int `json:"at,omitempty" unit:"s"`
	// From is the first second that counts: what lies before is warm-up or an earlier level.
	From int `json:"from" unit:"s"`
	// Estimate is the mean from there on, its interval widened for having looked more than once.
	Estimate Estimate `json:"estimate"`
	// Pinned: the run sits on its bound and hardly varies. AtBurst: it runs above what is
	// sustained.
	Pinned  bool `json:"pinned,omitempty"`
	AtBurst bool `json:"at_burst,omitempty"`
	// Why says what keeps the run from being settled.
	Why string `json:"why,omitempty"`
}

const (
	stopGrowth    = 1.25 // between two looks: judging each second costs 8 to 20 points of coverage
	stopWidening  = 1.3
	stopRepeats   = 2
	stopStep      = 0.05 // smaller steps of level do not matter
	stopBias      = 0.25 // of the target: a warm-up that moves the mean by less does not matter
	stopFloor     = 60   // seconds
	stopTaus      = 20
	pinnedFloor   = 10
	pinnedTaus    = 5
	pinnedSpread  = 0.03
	pinnedNear    = 0.02
	pinnedQuantum = 3    // a count of n a second cannot vary by less than about 1/n
	pinnedWander  = 0.05 // of a second's work: at 0.06 a level to come passes for the bound in 2 of 100
)

// Looks are the numbers of seconds, up to most, at which a run is judged.
func Looks(most int) []int {
	var looks []int
	for t := float64(pinnedFloor); int(math.Ceil(t)) <= most; t *= stopGrowth {
		looks = append(looks, int(math.Ceil(t)))
	}
	return looks
}

// SettledBy judges a series of full seconds in time order, such as IOPS, ramp left out: rule V of
// the specification.
//
// At each look: the warm-up is cut where that makes the mean most certain (MSER, White, Simulation
// 69, 1997) if it really differs; a series that stepped to another level counts from there, one
// that stepped twice is not steady; what is left must be at least a minute, half of all and twenty
// times its own memory (Sokal's estimate of the autocorrelation time); and the interval by
// BatchMeans, widened by 1.3, must be within the target. Twice in a row, and in agreement, it is
// settled. On its bound a run needs ten seconds and five times its memory instead.
//
// What has not happened yet is not in the series: no rule can see a later cliff, a rare stall or a
// neighbour who comes and goes. Honest (95 %) to an autocorrelation of 0.6 from second to second;
// at 0.98 only rounds help.
func SettledBy(xs []float64, o StopOptions) Settled {
	var last Settled
	row := 0
	for _, t := range Looks(len(xs)) {
		s, ok := lookAt(xs[:t], o)
		switch {
		case !ok || t < o.Least:
			row = 0
		case row > 0 && math.Abs(s.Estimate.Center/last.Estimate.Center-1) > o.Target:
			row = 1
		default:
			row++
		}
		last = s
		if row >= stopRepeats {
			last.At = t
			return last
		}
		if ok {
			last.Why = "not looked at twice"
		}
	}
	if len(xs) < pinnedFloor {
		last.Estimate, last.Why = BatchMeans(xs), fmt.Sprintf("%d seconds: at least %d are needed", len(xs), pinnedFloor)
	}
	return last
}

// lookAt judges a series once.
func lookAt(xs []float64, o StopOptions) (s Settled, ok bool) {
	finite, _ := finiteOf(xs)
	if len(finite) != len(xs) {
		return Settled{Estimate: BatchMeans(xs), Why: "seconds without a figure"}, false
	}
	cut, cutOK := warmUp(xs, stopBias*o.Target)
	w := xs[cut:]
	s.From = cut
	steps := 0
	for _, c := range ChangePoints(w) {
		if math.Abs(c.After-c.Before) > stopStep*math.Abs(c.Before) {
			steps++
			s.From = cut + c.At
		}
	}
	if steps > 1 {
		s.From = 0
		s.Estimate = widened(BatchMeans(xs))
		s.Why = fmt.Sprintf("levels come and go (%d steps)", steps)
		return s, false
	}
	w = xs[s.From:]
	s.Estimate = widened(BatchMeans(w))
	s.Pinned = pinned(w, s.Estimate.Center, o.Bound)
	s.AtBurst = o.Sustained > 0 && s.Estimate.Center > (1+pinnedNear)*o.Sustained
	floor, taus := stopFloor, float64(stopTaus)
	if s.Pinned {
		floor, taus = pinnedFloor, pinnedTaus
	}
	tau := memory(w)
	switch {
	case !(s.Estimate.Center > 0):
		s.Why = "nothing was done"
	case !cutOK:
		s.Why = "still warming up"
	case len(w) < floor:
		s.Why = fmt.Sprintf("%d steady seconds: at least %d are needed", len(w), floor)
	case 2*len(w) < len(xs):
		s.Why = "the level changed in the second half"
	case float64(len(w)) < taus*tau:
		s.Why = fmt.Sprintf("seconds depend on each other over %s s: %s s are needed",
			units.Number(math.Round(tau)), units.Number(math.Round(taus*tau)))
	case len(s.Estimate.Doubts) > 0:
		s.Why = s.Estimate.Doubts[0]
	case !(s.Estimate.Rel() <= o.Target):
		s.Why = "known to " + text.PlusMinus(s.Estimate.Rel()) + " only"
	}
	return s, s.Why == ""
}

// pinned says that the seconds sit on the bound and hardly vary, or vary only by where they were
// cut: a queue that completes as a whole every 80 ms makes seconds of 12 and of 13 queues. What was
// done in all then stays close to a straight line, from which noise walks away.
func pinned(w []float64, center, bound float64) bool {
	if bound <= 0 || center <= 0 || math.Abs(center/bound-1) > pinnedNear {
		return false
	}
	return Quantile(w, 0.9)-Quantile(w, 0.1) <= max(pinnedSpread, pinnedQuantum/center)*center ||
		wander(w) <= pinnedWander*center
}

// wander is the range of the cumulative sum of a series around its mean: Kuiper's statistic, not
// scaled. It is about 1.25 σ √n where the seconds are independent.
func wander(xs []float64) float64 {
	m, sum, low, high := mean(xs), 0.0, 0.0, 0.0
	for _, x := range xs {
		sum += x - m
		low, high = min(low, sum), max(high, sum)
	}
	return high - low
}

func widened(e Estimate) Estimate {
	half := (e.Hi - e.Lo) / 2 * stopWidening
	e.Lo, e.Hi = e.Center-half, e.Center+half
	return e
}

// warmUp is the number of seconds to leave out at the start, and whether that leaves at least half.
// A start that moves the mean by no more than the share least stays: where the seconds are exactly
// alike, as on a cap, any other first second would be cut, and those after it until none differs.
func warmUp(xs []float64, least float64) (cut int, ok bool) {
	size := max(1, len(xs)/40)
	k := len(xs) / size
	means, first := make([]float64, k), len(xs)-k*size // batches end with the series
	for i := range means {
		means[i] = mean(xs[first+i*size : first+(i+1)*size])
	}
	best, d := math.Inf(1), 0
	for i := 0; 3*i <= 2*k && k-i >= 5; i++ {
		rest := means[i:]
		if score := variance(rest) * float64(len(rest)-1) / square(float64(len(rest))); score < best {
			best, d = score, i
		}
	}
	if d == 0 {
		return 0, true
	}
	cut = first + d*size
	rest := xs[cut:]
	se := math.Sqrt(variance(rest) * memory(rest) * (1/float64(cut) + 1/float64(len(rest))))
	if math.Abs(mean(xs[:cut])-mean(rest)) <= 2.58*se || math.Abs(mean(xs)-mean(rest)) <= least*math.Abs(mean(rest)) {
		return 0, true
	}
	return cut, 2*d <= k
}

// memory is the integrated autocorrelation time of a series, 1+2Σrₖ up to the first k that is five
// times it (Sokal, Monte Carlo methods in statistical mechanics, 1989): the number of seconds that
// are worth one independent one.
func memory(xs []float64) float64 {
	m := mean(xs)
	den := lagged(xs, m, 0)
	if den == 0 {
		return 1
	}
	tau := 1.0
	for k := 1; k < len(xs)/2; k++ {
		tau += 2 * lagged(xs, m, k) / den
		if float64(k) >= 5*tau {
			break
		}
	}
	return max(1, tau)
}
