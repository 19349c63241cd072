package stats

import (
	"math"
	"slices"
)

// Quantile is the value below which a share q (0..1) of xs lies, interpolated between neighbours:
// definition 7 of Hyndman and Fan, Sample quantiles in statistical packages, The American
// Statistician 50, 1996. xs need not be sorted and is not changed. It is NaN for no values.
func Quantile(xs []float64, q float64) float64 {
	sorted := slices.Clone(xs)
	slices.Sort(sorted)
	return quantileSorted(sorted, q)
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
