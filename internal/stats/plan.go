package stats

import (
	"math"
	"slices"
	"sort"
)

const (
	power = 0.8
	// mostRounds bounds plans: what needs more is not planned.
	mostRounds = 1000
	// widening makes up for looking at the interval after every round and stopping when it happens
	// to be narrow: with it the interval that is stated covers 95 % (spread of rounds 3 % and 5 %,
	// goal 3 %).
	widening = 1.15
	// LeastRounds are measured before an interval over rounds is believed.
	LeastRounds = 5
)

// LeastSeen is about the least change that c would have shown in four of five repetitions, as a
// share, at a level of alpha: 0.05 for one figure, 0.05/K for K under Holm (an upper estimate, as
// Holm asks less of all but the first). It is +Inf where nothing could have been shown.
func (c Comparison) LeastSeen(alpha float64) float64 {
	if c.SE == 0 || c.DF < 1 {
		return math.Inf(1)
	}
	return math.Expm1((tQuantile(1-alpha/2, c.DF) + tQuantile(power, c.DF)) * c.SE)
}

// RoundsToSee is the least number of rounds per side, or pairs, that shows a change by a share delta
// in four of five repetitions, given c's spread; 0 when that is not known or beyond all reason.
func (c Comparison) RoundsToSee(delta, alpha float64) int {
	if !(c.Spread > 1e-12) || !(delta > 0) {
		return 0
	}
	shows := func(n int) bool {
		df, factor := float64(2*n-2), math.Sqrt(2/float64(n))
		if c.Paired {
			df, factor = float64(n-1), math.Sqrt(1/float64(n))
		}
		return (tQuantile(1-alpha/2, df)+tQuantile(power, df))*c.Spread*factor <= math.Log1p(delta)
	}
	if n := leastFrom(3, shows); n <= mostRounds {
		return n
	}
	return 0
}

// leastFrom is the least n from which ok holds, more than mostRounds when it never does; more
// rounds only help.
func leastFrom(from int, ok func(int) bool) int {
	return from + sort.Search(mostRounds+1-from, func(i int) bool { return ok(from + i) })
}

// Precision is how well rounds know their level so far.
type Precision struct {
	Level Estimate // geometric mean, 95 %
	// Half is the half width as a share, widened for stopping by it; +Inf below LeastRounds.
	Half float64
	// Spread is the standard deviation of the rounds' logarithms.
	Spread float64
	// Planned is the number of rounds after which Half is likely to be at the goal: 0 when not
	// known.
	Planned int
}

// PrecisionOf judges rounds of one figure against a goal such as 0.03. Values must be above 0.
func PrecisionOf(rounds []float64, goal float64) (Precision, error) {
	level, err := Level(rounds)
	p := Precision{Level: level, Half: math.Inf(1)}
	if err != nil || len(rounds) == 0 {
		return p, err
	}
	logs, _ := logsOf(rounds) // Level has them
	p.Spread = math.Sqrt(variance(logs))
	if len(rounds) < LeastRounds {
		return p, nil
	}
	half := func(n int) float64 {
		return math.Expm1(widening * tQuantile(upper, float64(n-1)) * p.Spread / math.Sqrt(float64(n)))
	}
	p.Half = half(len(rounds))
	// With the t of that many rounds, not of those so far.
	if n := leastFrom(LeastRounds, func(n int) bool { return half(n) <= goal }); n <= mostRounds {
		p.Planned = n
	}
	return p, nil
}

// Trend is the two-sided p of the Mann-Kendall test that xs neither rise nor fall in their order,
// and the direction they take (above 0 they rise). It is exact up to ten values without ties (Mann,
// Econometrica 13, 1945).
func Trend(xs []float64) (p, direction float64) {
	finite, _ := finiteOf(xs)
	n := len(finite)
	if n < 3 {
		return 1, 0
	}
	score, ties := kendall(finite)
	if n > 10 || ties {
		return min(1, 2*normal().CDF(-math.Abs(trend(finite)))), float64(score)
	}
	// With k discordant pairs of n(n-1)/2 the score is n(n-1)/2-2k; k is the number of inversions
	// of a permutation.
	inversions := []float64{1}
	for i := 2; i <= n; i++ {
		next := make([]float64, len(inversions)+i-1)
		for k, c := range inversions {
			for j := range i {
				next[k+j] += c / float64(i)
			}
		}
		inversions = next
	}
	most := (n*(n-1)/2 - max(score, -score)) / 2
	for _, c := range inversions[:most+1] {
		p += c
	}
	return min(1, 2*p), float64(score)
}

// Apart are the indices of values that stand apart from the others: further from the median than
// 3.5 times 1.4826 times the median distance (Iglewicz and Hoaglin, How to detect and handle
// outliers, 1993). They are shown, never left out of an answer. Fewer than five values, or a
// majority that agrees to the digit, have none.
func Apart(xs []float64) []int {
	if len(xs) < 5 {
		return nil
	}
	center := Quantile(xs, 0.5)
	far := make([]float64, len(xs))
	for i, x := range xs {
		far[i] = math.Abs(x - center)
	}
	mad := 1.4826 * Quantile(far, 0.5)
	if !(mad > 0) {
		return nil
	}
	var apart []int
	for i, d := range far {
		if d > 3.5*mad {
			apart = append(apart, i)
		}
	}
	return apart
}

// WithoutApart is xs less the values that stand apart, for the second answer that is shown next to
// the first.
func WithoutApart(xs []float64) []float64 {
	apart := Apart(xs)
	var left []float64
	for i, x := range xs {
		if !slices.Contains(apart, i) {
			left = append(left, x)
		}
	}
	return left
}
