package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	confidence = 0.95
	upper      = 1 - (1-confidence)/2 // the quantile that bounds its interval above
	// maxBatches and minBatches: more than 30 batches narrow an interval hardly and risk dependence
	// between them; fewer than 10 make it wide (Schmeiser, Batch size effects in the analysis of
	// simulation output, Operations Research 30, 1982).
	maxBatches = 30
	minBatches = 10
)

// BatchMeans estimates the mean of a series in time order, such as the IOPS of each second, and its
// 95 % interval.
//
// Neighbouring seconds are alike, so the standard error of independent values would be too small.
// The series is cut into batches of neighbours, as many of them as still look independent: from 30
// down to 10, until the lag-1 autocorrelation of the batches' means is below its own noise, 1/√k
// (Fishman, Grouping observations in digital simulation, Management Science 24, 1978). The interval
// is Student's t on the batches' means. What autocorrelation r is left widens it by √((1+r)/(1-r)),
// the factor for a first-order autoregressive series (Steiger et al., ASAP3, ACM TOMACS 15, 2005);
// r is corrected by 1/k for its bias. Batches that all agree give an interval of no width.
//
// Fewer than two values have no interval: Lo and Hi are the Center. Values that are not finite are
// left out, with a doubt.
func BatchMeans(xs []float64) Estimate {
	finite, doubts := finiteOf(xs)
	e := Estimate{N: len(finite), Doubts: doubts}
	doubt := func(format string, args ...any) { e.Doubts = append(e.Doubts, fmt.Sprintf(format, args...)) }
	if len(finite) == 0 {
		doubt("no values")
		return e
	}
	e.Center = mean(finite)
	e.Lo, e.Hi = e.Center, e.Center
	if len(finite) < 2 {
		doubt("1 value: %d are needed for an interval", minBatches)
		return e
	}
	means, r := batches(finite)
	k := float64(len(means))
	e.N = len(means)
	summary := benchmath.AssumeNormal.Summary(benchmath.NewSample(slices.Clone(means), &benchmath.DefaultThresholds),
		confidence)
	half := (summary.Hi - summary.Lo) / 2 * inflated(r)
	e.Lo, e.Hi = e.Center-half, e.Center+half

	if len(finite) < minBatches {
		doubt("%d values: %d are needed for an interval to rely on", len(finite), minBatches)
		return e
	}
	if r > 1.4/math.Sqrt(k) {
		doubt("neighbouring values depend on each other even over a tenth of the run "+
			"(autocorrelation %s): the interval may be too narrow: measure longer", units.Number(r))
	}
	if z, change := trend(means), drift(means); math.Abs(z) > 2.58 && math.Abs(change) > 0.02*math.Abs(e.Center) &&
		e.Center != 0 {
		doubt("drifts by %s from start to end: not steady", text.Change(change/math.Abs(e.Center)))
	}
	return e
}

// batches returns the means of the batches chosen and the autocorrelation that is left between them.
func batches(xs []float64) (means []float64, r float64) {
	return independent(len(xs), func(k int) []float64 {
		means := make([]float64, k)
		for i := range means { // sizes differ by one at most
			means[i] = mean(xs[i*len(xs)/k : (i+1)*len(xs)/k])
		}
		return means
	})
}

// independent cuts n seconds into as many batches as still look independent, and returns the values of these
// and the autocorrelation that is left between them.
func independent(n int, batches func(k int) []float64) (values []float64, r float64) {
	for k := min(n, maxBatches); ; k-- {
		values = batches(k)
		r = min(0.9, autocorrelation(values)+1/float64(k))
		if k <= minBatches || r < 1/math.Sqrt(float64(k)) {
			return values, r
		}
	}
}

// inflated is how many times a standard error is larger where neighbours are correlated.
func inflated(r float64) float64 {
	if r > 0 {
		return math.Sqrt(memoryOf(r))
	}
	return 1
}

// autocorrelation is r1 = Σ(x[i]-m)(x[i+1]-m) / Σ(x[i]-m)², 0 for a constant series (Box and
// Jenkins, Time Series Analysis, 2.1.5).
func autocorrelation(xs []float64) float64 {
	m := mean(xs)
	den := lagged(xs, m, 0)
	if den == 0 {
		return 0
	}
	return lagged(xs, m, 1) / den
}

// lagged is Σ(x[i]-m)(x[i+lag]-m).
func lagged(xs []float64, m float64, lag int) (sum float64) {
	for i, x := range xs[lag:] {
		sum += (xs[i] - m) * (x - m)
	}
	return sum
}

// trend is the standard score of the Mann-Kendall test (Mann, Econometrica 13, 1945): above 2.58 in
// size with a chance of 1 % where there is no trend.
func trend(xs []float64) float64 {
	score, _ := kendall(xs)
	n, s := float64(len(xs)), float64(score)
	if s == 0 {
		return 0
	}
	return (s - math.Copysign(1, s)) / math.Sqrt(n*(n-1)*(2*n+5)/18)
}

// kendall is how many pairs rise less how many fall, and whether some do neither.
func kendall(xs []float64) (score int, ties bool) {
	for i, x := range xs {
		for _, y := range xs[i+1:] {
			score += cmp.Compare(y, x)
			ties = ties || x == y
		}
	}
	return score, ties
}

// drift is what the least-squares line through xs gains from its first value to its last.
func drift(xs []float64) float64 {
	n := float64(len(xs))
	if n < 2 {
		return 0
	}
	m, mid := mean(xs), (n-1)/2
	var num, den float64
	for i, x := range xs {
		num += (float64(i) - mid) * (x - m)
		den += (float64(i) - mid) * (float64(i) - mid)
	}
	return num / den * (n - 1)
}

// mean keeps its accuracy on large values by summing what they differ from the first.
func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x - xs[0]
	}
	return xs[0] + sum/float64(len(xs))
}

// finiteOf leaves out what is not a number.
func finiteOf(xs []float64) (finite []float64, doubts []string) {
	finite = make([]float64, 0, len(xs))
	for _, x := range xs {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			finite = append(finite, x)
		}
	}
	if left := len(xs) - len(finite); left > 0 {
		doubts = append(doubts, fmt.Sprintf("%d of %d values are not numbers and were left out", left, len(xs)))
	}
	return finite, doubts
}
