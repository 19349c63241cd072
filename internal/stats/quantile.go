package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Quantile is the value below which a share q (0..1) of xs lies, interpolated between neighbours:
// definition 7 of Hyndman and Fan, Sample quantiles in statistical packages, The American
// Statistician 50, 1996. xs need not be sorted and is not changed. It is NaN for no values.
func Quantile(xs []float64, q float64) float64 {
	return quantileSorted(slices.Sorted(slices.Values(xs)), q)
}

// Median is the middle of xs, between the two of an even count; 0 for none.
func Median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	return Quantile(xs, 0.5)
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

// QuantileOf estimates the quantile q (0.99) of all values of a run, such as its latencies, with a
// 95 % interval. seconds holds a histogram for each second in time order, each in ascending order
// of values; weights are counts.
//
// I/Os of one second are alike, so the interval that a binomial of all I/Os would give is too
// narrow (it covers 37 to 52 % where the machine has slow phases). The share above the quantile is
// estimated by batches of seconds, as BatchMeans does, and turned back through the pooled histogram
// (Woodruff, Journal of the American Statistical Association 47, 1952): the standard error of the
// share gives the number of independent I/Os that the run is worth, the Clopper-Pearson limits for
// that many give the two shares, and those the two values. N is that number, at most all I/Os.
func QuantileOf(seconds [][]Weighted, q float64) Estimate {
	pooled := pool(seconds)
	total := weightOf(pooled)
	if total <= 0 || !(q > 0 && q < 1) {
		return Estimate{Doubts: []string{"no values"}}
	}
	center := weightedQuantile(pooled, total, q)
	e := Estimate{Center: center, Lo: center, Hi: center, N: 1}
	if len(seconds) < minBatches {
		e.Doubts = []string{"too few seconds for an interval"}
		return e
	}
	se, k := shareError(seconds, center)
	t := tQuantile(upper, float64(k-1))
	worth := min(total, max(float64(k), q*(1-q)/(se*se))) * square(1.96/t)
	lo, hi := shareLimits(1-q, worth)
	e.Lo, e.Hi = weightedQuantile(pooled, total, 1-hi), weightedQuantile(pooled, total, 1-lo)
	e.N = int(worth)
	return e
}

// shareError is the standard error of the share of values above limit, from batches of neighbouring
// seconds, and how many batches there were.
func shareError(seconds [][]Weighted, limit float64) (se float64, k int) {
	above, all := make([]float64, len(seconds)), make([]float64, len(seconds))
	for i, s := range seconds {
		for _, w := range s {
			all[i] += w.Weight
			if w.Value > limit {
				above[i] += w.Weight
			}
		}
	}
	e, r := independent(len(seconds), func(k int) []float64 {
		x, m := make([]float64, k), make([]float64, k)
		sumX, sumM := 0.0, 0.0
		for i := range k {
			for j := i * len(seconds) / k; j < (i+1)*len(seconds)/k; j++ {
				x[i] += above[j]
				m[i] += all[j]
			}
			sumX += x[i]
			sumM += m[i]
		}
		e := make([]float64, k)
		for i := range e {
			e[i] = (x[i] - sumX/sumM*m[i]) / (sumM / float64(k))
		}
		return e
	})
	return math.Sqrt(variance(e)/float64(len(e))) * inflated(r), len(e)
}

// shareLimits are the 95 % Clopper-Pearson limits of a share seen in n independent values.
func shareLimits(share, n float64) (lo, hi float64) {
	if n > 1e4 { // moremath's continued fraction may not converge, and the normal limits are as good
		half := 1.96 * math.Sqrt(share*(1-share)/n)
		return max(0, share-half), min(1, share+half)
	}
	seen := share * n
	return betaQuantile(0.025, seen, n-seen+1), betaQuantile(0.975, seen+1, max(n-seen, 1e-9))
}

func pool(seconds [][]Weighted) []Weighted {
	counts := map[float64]float64{}
	for _, s := range seconds {
		for _, w := range s {
			counts[w.Value] += w.Weight
		}
	}
	pooled := make([]Weighted, 0, len(counts))
	for v, n := range counts {
		if n > 0 {
			pooled = append(pooled, Weighted{Value: v, Weight: n})
		}
	}
	slices.SortFunc(pooled, func(a, b Weighted) int { return cmp.Compare(a.Value, b.Value) })
	return pooled
}

// weightedQuantile is the least value with at least a share q of the weight at or below it.
func weightedQuantile(ascending []Weighted, total, q float64) float64 {
	sum, sums := 0.0, make([]float64, len(ascending))
	for i, w := range ascending {
		sum += w.Weight
		sums[i] = sum
	}
	i := sort.SearchFloat64s(sums, min(1, max(0, q))*total)
	return ascending[min(i, len(ascending)-1)].Value
}
