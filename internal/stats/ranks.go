package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/aclements/go-moremath/mathx"
	moremath "github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
)

// leastRankSum is the least two-sided p that a U test of m and n values can reach.
func leastRankSum(m, n int) float64 { return 2 / mathx.Choose(m+n, m) }

// rankSum is the p of the U test of two groups and the Hodges-Lehmann estimate of their shift, with
// the interval that belongs to the test (Hollander and Wolfe, Nonparametric Statistical Methods,
// 4.2 and 4.3).
func rankSum(a, b []float64) (p float64, shift Estimate) {
	sa := benchmath.NewSample(slices.Clone(a), &benchmath.DefaultThresholds)
	sb := benchmath.NewSample(slices.Clone(b), &benchmath.DefaultThresholds)
	// With ties and unequal sizes moremath doubles one tail of a distribution that is not
	// symmetric, so that the order of a and b matters and p may pass 1. The greater one never
	// claims too much.
	p = min(1, max(benchmath.AssumeNothing.Compare(sa, sb).P, benchmath.AssumeNothing.Compare(sb, sa).P))
	u := moremath.UDist{N1: len(a), N2: len(b)}
	out := 0 // the greatest count with P(U < out) <= 2.5 % on each side
	for u.CDF(float64(out)) <= (1-confidence)/2 {
		out++
	}
	pairs := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			pairs = append(pairs, y-x)
		}
	}
	return p, middle(pairs, max(0, out-1), min(len(a), len(b)))
}

// signedRank is the exact p of Wilcoxon's test of differences and the estimate of their centre from
// the Walsh averages (Hollander and Wolfe, 3.1 to 3.3). Zero differences are left out of the test,
// ties share the mean of their ranks; then the larger of the two neighbouring exact p is given.
func signedRank(diffs []float64) (p float64, center Estimate) {
	sizes := make([]float64, 0, len(diffs))
	for _, d := range diffs {
		if d != 0 {
			sizes = append(sizes, d)
		}
	}
	slices.SortFunc(sizes, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	positive, n := 0.0, len(sizes)
	for i := 0; i < n; {
		j := i
		for j < n && math.Abs(sizes[j]) == math.Abs(sizes[i]) {
			j++
		}
		for _, d := range sizes[i:j] {
			if d > 0 {
				positive += float64(i+j+1) / 2 // mean of the ranks i+1..j
			}
		}
		i = j
	}
	total := float64(n*(n+1)) / 2
	p = 1
	if n > 0 {
		p = min(1, 2*signedRankCDF(n)[int(math.Ceil(min(positive, total-positive)))])
	}
	cdf := signedRankCDF(len(diffs))
	out := 0
	for out < len(cdf) && cdf[out] <= (1-confidence)/2 {
		out++
	}
	walsh := make([]float64, 0, len(diffs)*(len(diffs)+1)/2)
	for i, x := range diffs {
		for _, y := range diffs[i:] {
			walsh = append(walsh, (x+y)/2)
		}
	}
	return p, middle(walsh, max(0, out-1), len(diffs))
}

// signedRankCDF[w] is the chance of a rank sum of at most w among n ranks whose signs are coins.
func signedRankCDF(n int) []float64 {
	total := n * (n + 1) / 2
	chance := make([]float64, total+1)
	chance[0] = 1
	for rank := 1; rank <= n; rank++ {
		for w := total; w >= 0; w-- {
			chance[w] /= 2
			if w >= rank {
				chance[w] += chance[w-rank] / 2
			}
		}
	}
	for w := 1; w <= total; w++ {
		chance[w] = min(1, chance[w]+chance[w-1])
	}
	return chance
}

// middle is the median of xs, with the interval that leaves out skip values at either end.
func middle(xs []float64, skip, n int) Estimate {
	slices.Sort(xs)
	skip = min(skip, (len(xs)-1)/2)
	return Estimate{Center: quantileSorted(xs, 0.5), Lo: xs[skip], Hi: xs[len(xs)-1-skip], N: n}
}
