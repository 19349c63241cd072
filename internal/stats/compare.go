package stats

import (
	"fmt"
	"math"
	"slices"
	"sort"

	moremath "github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// Comparison is what two samples tell of each other.
type Comparison struct {
	// A and B are medians with their 95 % intervals; with too few values the interval is the range, and a doubt says so.
	A Estimate `json:"a"`
	B Estimate `json:"b"`
	// Ratio is B/A, with the 95 % interval; N is 0 when there is none, as a value is not positive.
	Ratio Estimate `json:"ratio"`
	// P is the chance of samples this different when nothing changed; Different says that it is below 0.05.
	P         float64  `json:"p"`
	Different bool     `json:"different"`
	Doubts    []string `json:"doubts,omitempty"`
}

// maxPairs bounds the pairs that a ratio is worked out from.
const maxPairs = 1 << 20

// Compare says whether b differs from a and by how much. The values of each must be independent: one a round, or batch
// means, not the seconds of one run.
//
// P is that of the Mann-Whitney U test (benchmath.AssumeNothing), the ratio the median of all b/a pairs: the
// Hodges-Lehmann estimator of a shift of logarithms, with the interval that belongs to the test (Hollander and Wolfe,
// Nonparametric Statistical Methods, 4.2 and 4.3). Fewer than four values on either side can never show a difference
// at 5 %, which a doubt says.
func Compare(a, b []float64) Comparison {
	a, doubtsA := finiteOf(a)
	b, doubtsB := finiteOf(b)
	c := Comparison{P: 1, Doubts: append(doubtsA, doubtsB...)}
	if len(a) == 0 || len(b) == 0 {
		c.Doubts = append(c.Doubts, "nothing to compare with")
		return c
	}
	sa, sb := benchmath.NewSample(a, &benchmath.DefaultThresholds), benchmath.NewSample(b, &benchmath.DefaultThresholds)
	test := benchmath.AssumeNothing.Compare(sa, sb)
	// With ties and unequal sizes moremath doubles one tail of a distribution that is not symmetric, so that the order of a
	// and b matters and P may pass 1. The greater one never claims too much.
	c.P = min(1, max(test.P, benchmath.AssumeNothing.Compare(sb, sa).P))
	c.Different = c.P < test.Alpha
	for _, w := range test.Warnings {
		c.Doubts = append(c.Doubts, w.Error())
	}
	c.A, c.B = median(sa), median(sb)
	c.Ratio = ratio(sa.Values, sb.Values)
	return c
}

func median(s *benchmath.Sample) Estimate {
	sum := benchmath.AssumeNothing.Summary(s, confidence)
	e := Estimate{Center: sum.Center, Lo: sum.Lo, Hi: sum.Hi, N: len(s.Values)}
	for _, w := range sum.Warnings {
		e.Doubts = append(e.Doubts, w.Error())
	}
	e.Lo, e.Hi = max(e.Lo, s.Values[0]), min(e.Hi, s.Values[e.N-1]) // infinite when there are too few
	return e
}

// ratio takes ascending samples.
func ratio(a, b []float64) Estimate {
	if a[0] <= 0 || b[0] <= 0 {
		return Estimate{Doubts: []string{"a ratio needs values above 0"}}
	}
	m, n := len(a), len(b)
	e := Estimate{N: min(m, n)}
	// C is the greatest count with P(U < C) <= 2.5 % on each side; the interval goes from the C-th smallest pair to the C-th
	// largest. Beyond 50 values moremath's exact distribution is slow, and the normal one as good.
	out := 0
	if m <= 50 && n <= 50 {
		u := moremath.UDist{N1: m, N2: n}
		out = sort.Search(m*n/2, func(i int) bool { return u.CDF(float64(i)) > (1-confidence)/2 })
	} else {
		p := float64(m) * float64(n)
		out = max(0, int(p/2-1.96*math.Sqrt(p*float64(m+n+1)/12)))
	}
	share := float64(max(0, out-1)) / float64(m*n)
	if out == 0 {
		e.Doubts = append(e.Doubts, fmt.Sprintf("%d and %d values: too few for a 95 %% interval, this is the range", m, n))
	}
	for len(a)*len(b) > maxPairs {
		a, b = everySecond(a), everySecond(b)
	}
	pairs := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			pairs = append(pairs, y/x)
		}
	}
	slices.Sort(pairs)
	skip := int(math.Round(share * float64(len(pairs))))
	e.Center, e.Lo, e.Hi = quantileSorted(pairs, 0.5), pairs[skip], pairs[len(pairs)-1-skip]
	return e
}

// everySecond thins an ascending sample, keeping its shape.
func everySecond(xs []float64) []float64 {
	if len(xs) < 1024 {
		return xs
	}
	out := make([]float64, 0, len(xs)/2)
	for i := 0; i+1 < len(xs); i += 2 {
		out = append(out, (xs[i]+xs[i+1])/2)
	}
	return out
}

// Quantile is the value below which a share q (0..1) of xs lies, interpolated between neighbours: definition 7 of Hyndman
// and Fan, Sample quantiles in statistical packages, The American Statistician 50, 1996. xs need not be sorted
// and is not changed. It is NaN for no values.
func Quantile(xs []float64, q float64) float64 {
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	return quantileSorted(sorted, q)
}

func quantileSorted(sorted []float64, q float64) float64 {
	if len(sorted) == 0 || math.IsNaN(q) {
		return math.NaN()
	}
	at := min(1, max(0, q)) * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	if sorted[i] == sorted[i+1] {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// SteadyState says whether the last window values of xs are steady as SNIA's Solid State Storage Performance Test
// Specification defines it: their range (excursion) is at most 20 % of their mean, and the least-squares line through
// them changes (slope) by at most 10 % of it; SNIA's window is five rounds. Both are shares of the mean; slope is negative
// when they fall. With fewer than window values, or fewer than two, or a mean that is not above 0, nothing is steady
// and both are 0.
func SteadyState(xs []float64, window int) (ok bool, slope, excursion float64) {
	if window < 2 || len(xs) < window {
		return false, 0, 0
	}
	xs = xs[len(xs)-window:]
	m := mean(xs)
	if !(m > 0) || math.IsInf(m, 0) {
		return false, 0, 0
	}
	slope = drift(xs) / m
	excursion = (slices.Max(xs) - slices.Min(xs)) / m
	return excursion <= 0.20 && math.Abs(slope) <= 0.10, slope, excursion
}
