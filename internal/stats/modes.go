package stats

import (
	"cmp"
	"math"
	"slices"
)

// Weighted is a value that was seen Weight times, such as a latency and the count of its bin.
type Weighted struct {
	Value  float64
	Weight float64
}

// Modes are the two humps of a distribution.
type Modes struct {
	Low, High           float64 // medians of the two sides
	LowShare, HighShare float64 // of all, together 1
	Split               float64 // the value in the valley that parts them
	// Dip is the density in the valley as a share of the lower peak's: 0 is empty, 1 no valley.
	Dip float64
}

const (
	perOctave = 8    // bins of 9 %: fio's are at most 1.6 % wide, so each holds several
	leastSide = 0.05 // a smaller hump is a tail
	deepest   = 0.5  // a valley is at most half as high as the lower peak
	clearly   = 5.0  // and lower than it by this many standard deviations of the counts
)

// Bimodal says whether a distribution of positive values has two humps, as latencies do when some
// requests are served by a cache or by a slower member, and where they are. hist may be in any
// order and holds counts, not shares: with few of them a valley may be chance.
//
// Counts are binned on a logarithmic axis, eight bins an octave, and smoothed by the weights 1 2 1
// (Hann). Among the splits with at least 5 % of all on each side, the one with the least density
// relative to the lower of the peaks on its two sides is the valley, in the manner of Minotte's
// test of each mode (Nonparametric testing of the existence of modes, Annals of Statistics 25,
// 1997). It counts if the density there is at most half of the lower peak's and lower by five
// standard deviations of the difference of two Poisson counts, √(n₁+n₂).
func Bimodal(hist []Weighted) (Modes, bool) {
	values := make([]Weighted, 0, len(hist))
	total := 0.0
	for _, w := range hist {
		if w.Value > 0 && w.Weight > 0 && !math.IsInf(w.Value, 0) && !math.IsInf(w.Weight, 0) {
			values = append(values, w)
			total += w.Weight
		}
	}
	if len(values) < 2 {
		return Modes{}, false
	}
	slices.SortFunc(values, func(a, b Weighted) int { return cmp.Compare(a.Value, b.Value) })
	// Bins start at the smallest value, so that a change of unit changes nothing; nor does its
	// rounding, as it divides first.
	least := values[0].Value
	bin := func(v float64) int { return int(math.Log2(v/least) * perOctave) }
	counts := make([]float64, bin(values[len(values)-1].Value)+1)
	for _, w := range values {
		counts[bin(w.Value)] += w.Weight
	}
	at, dip, ok := valley(counts, total)
	if !ok {
		return Modes{Dip: dip}, false
	}
	cut := slices.IndexFunc(values, func(w Weighted) bool { return bin(w.Value) >= at })
	low, high := values[:cut], values[cut:]
	below, above := weightOf(low), weightOf(high)
	return Modes{
		Low: weightedQuantile(low, below, 0.5), High: weightedQuantile(high, above, 0.5),
		LowShare: below / total, HighShare: above / total,
		Split: least * math.Exp2((float64(at)+0.5)/perOctave), Dip: dip,
	}, true
}

// valley returns the bin of the deepest valley, the middle one of several as deep, and its depth.
func valley(counts []float64, total float64) (at int, dip float64, ok bool) {
	n := len(counts)
	smooth := make([]float64, n)
	for i, c := range counts {
		smooth[i] = c / 2
		if i > 0 {
			smooth[i] += counts[i-1] / 4
		}
		if i+1 < n {
			smooth[i] += counts[i+1] / 4
		}
	}
	right := make([]float64, n+1) // highest at or after i
	for i := n - 1; i >= 0; i-- {
		right[i] = max(right[i+1], smooth[i])
	}
	dip = 1
	best := math.Inf(1)
	var left, below float64
	first, last := -1, -1
	for i := range n {
		if share := below / total; share >= leastSide && 1-share >= leastSide && left > 0 && right[i] > 0 {
			peak := min(left, right[i])
			depth := smooth[i] / peak
			dip = min(dip, depth)
			deep := (peak-smooth[i])/math.Sqrt(peak+smooth[i]) >= clearly
			switch {
			case depth > deepest || !deep || depth > best:
			case depth == best && last == i-1:
				last = i
			case depth < best:
				best, first, last = depth, i, i
			}
		}
		left = max(left, smooth[i])
		below += counts[i]
	}
	if first < 0 {
		return 0, dip, false
	}
	return (first + last + 1) / 2, best, true
}

func weightOf(values []Weighted) (sum float64) {
	for _, w := range values {
		sum += w.Weight
	}
	return sum
}
