package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// plainMean and plainR1 are the textbook's sums, written apart from the package's.
func plainMean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

func plainR1(xs []float64) float64 {
	m, num, den := plainMean(xs), 0.0, 0.0
	for i := range xs {
		den += (xs[i] - m) * (xs[i] - m)
	}
	for i := 1; i < len(xs); i++ {
		num += (xs[i] - m) * (xs[i-1] - m)
	}
	return num / den
}

// sine is the half wave less its mean that has the greatest lag-1 autocorrelation of ten values:
// sin(2πj/11), j = 1 to 10, is an eigenvector of the lag, r1 = cos(2π/11) = 0.841.
func sine(level, size float64) []float64 {
	xs := make([]float64, 10)
	for j := range xs {
		xs[j] = level + size*math.Sin(2*math.Pi*float64(j+1)/11)
	}
	return xs
}

// The batches of a series: from 30 down to 10 until their autocorrelation, a share 1/k added, is below
// 1/√k; at most 0.9 of it is believed.
func TestBatchesAreChosenByTheirAutocorrelation(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	counts := map[int]bool{}
	for _, n := range []int{2, 3, 9, 10, 11, 17, 29, 30, 31, 45, 64, 90, 300} {
		for _, phi := range []float64{0, 0.4, 0.7, 0.95} {
			xs := ar1(rng, n, phi)
			var want []float64
			r := 0.0
			for k := min(n, 30); ; k-- {
				want = nil
				for i := range k {
					want = append(want, plainMean(xs[n*i/k:n*(i+1)/k]))
				}
				r = math.Min(0.9, plainR1(want)+1/float64(k))
				if k <= 10 || r*math.Sqrt(float64(k)) < 1 {
					break
				}
			}
			counts[len(want)] = true
			got, left := batches(xs)
			if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) || math.Abs(left-r) > 1e-9 {
				t.Errorf("%d values, φ %v: %d batches that leave %v, want %d that leave %v", n, phi, len(got), left, len(want), r)
			}
		}
	}
	if len(counts) < 8 {
		t.Errorf("only %d counts of batches were tried", len(counts))
	}
	// r1 + 1/10 is 0.941: 0.9 widens by √(1.9/0.1). The squares of the sines sum to 11/2.
	e := BatchMeans(sine(50, 1))
	near(t, "at most 0.9", (e.Hi-e.Lo)/2, 2.2621572*math.Sqrt(5.5/9/10)*math.Sqrt(19), 1e-6)
	// Two values: r1 is -1/2, and 1/2 is added; t(0.975; 1) = 12.7062047 times √2/√2.
	e = BatchMeans([]float64{1, 3})
	if near(t, "two", (e.Hi-e.Lo)/2, 12.7062047, 1e-6); e.N != 2 || e.Center != 2 || len(e.Doubts) != 1 {
		t.Errorf("%+v", e)
	}
	if e := BatchMeans([]float64{math.Inf(-1), 1, 3, math.Inf(1), math.NaN()}); e.N != 2 || e.Center != 2 || e.Doubts[0] != "3 of 5 values are not numbers and were left out" {
		t.Errorf("%+v", e)
	}
}

// Doubts at their bounds. Of ten values ±1, five of each, r1 is (alike - unlike neighbours)/10.
func TestDoubtsOfASeriesAtTheirBounds(t *testing.T) {
	signs := func(pattern string) []float64 {
		xs := make([]float64, len(pattern))
		for i, c := range pattern {
			xs[i] = 100
			if c == '+' {
				xs[i] = 101
			}
		}
		return xs
	}
	// 7 alike and 2 unlike: 0.5, and 0.6 with a tenth; 6 and 3: 0.4; the bound is 1.4/√10 = 0.443.
	for pattern, want := range map[string]bool{"+++-----++": true, "+++---++--": false, "---+++++--": true} {
		got := slices.ContainsFunc(BatchMeans(signs(pattern)).Doubts, func(s string) bool { return strings.HasPrefix(s, "neighbouring") })
		if got != want {
			t.Errorf("%s: a doubt of dependence %v", pattern, got)
		}
	}
	// Of ten values without ties the trend's score is (s - 1)/√125: of 45 pairs seven turned round give s = 31 and
	// 2.683, eight 29 and 2.504; the bound is 2.58.
	drifts := func(xs []float64) string {
		for _, d := range BatchMeans(xs).Doubts {
			if strings.HasPrefix(d, "drifts") {
				return d
			}
		}
		return ""
	}
	for inversions, order := range map[int][]float64{
		7: {4, 0, 3, 1, 2, 5, 6, 8, 7, 9}, // four before the 4, two before the 3, one before the 8
		8: {4, 1, 3, 0, 2, 5, 6, 8, 7, 9}, // one more before the 1
	} {
		xs := make([]float64, 10)
		for i, x := range order {
			xs[i] = 100 + 10*x
		}
		if got := drifts(xs); (got != "") != (inversions == 7) {
			t.Errorf("%d pairs turned round: %q", inversions, got)
		}
	}
	line := func(center, gain float64) []float64 {
		xs := make([]float64, 10)
		for i := range xs {
			xs[i] = center + gain*(float64(i)-4.5)/9
		}
		return xs
	}
	for _, c := range []struct {
		center, gain float64
		want         string
	}{
		{1000, 19.9, ""},
		{1000, 20.1, "drifts by +2.0 % from start to end: not steady"},
		{1000, -20.1, "drifts by -2.0 % from start to end: not steady"},
		{-1000, 500, "drifts by +50.0 % from start to end: not steady"},
		{1, 0.5, "drifts by +50.0 % from start to end: not steady"},
		{0.25, 0.0049, ""},
		{0.25, 0.0051, "drifts by +2.0 % from start to end: not steady"},
		{0, 9, ""}, // a share of nothing says nothing
	} {
		if got := drifts(line(c.center, c.gain)); got != c.want {
			t.Errorf("a line of %v that gains %v: %q, want %q", c.center, c.gain, got, c.want)
		}
	}
}

// changesOf is ChangePoints of up to 4,096 values by its definition: all segmentations are tried.
func changesOf(xs []float64) []Change {
	n := len(xs)
	median := func(xs []float64) float64 {
		s := slices.Sorted(slices.Values(xs))
		return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
	}
	lagged := func(lag int) float64 {
		var ds []float64
		for i := lag; i < n; i++ {
			ds = append(ds, math.Abs(xs[i]-xs[i-lag]))
		}
		return median(ds) / 0.6745
	}
	d1, d2 := lagged(1), lagged(2)
	sigma2, longRun := 0.0, 0.0
	if d1 > 0 {
		phi := math.Min(0.9, math.Max(0, d2*d2/d1/d1-1))
		sigma2 = d1 * d1 / (2 * (1 - phi))
		longRun = sigma2 * (1 + phi) / (1 - phi)
	}
	calm := make([]float64, n)
	for i, x := range xs {
		m := median(xs[max(0, i-3):min(n, i+4)])
		calm[i] = math.Max(m-3*math.Sqrt(sigma2), math.Min(m+3*math.Sqrt(sigma2), x))
	}
	cost := func(xs []float64) float64 {
		m, sum := plainMean(xs), 0.0
		for _, x := range xs {
			sum += (x - m) * (x - m)
		}
		return sum
	}
	penalty := math.Max(6*longRun*math.Log(float64(n)), cost(calm)/1000)
	if penalty == 0 {
		return nil
	}
	var cheapest func(from int) (float64, []int)
	cheapest = func(from int) (float64, []int) {
		best, ends := cost(calm[from:]), []int{n}
		for cut := from + 4; cut+4 <= n; cut++ {
			if rest, more := cheapest(cut); cost(calm[from:cut])+penalty+rest < best-1e-9 {
				best, ends = cost(calm[from:cut])+penalty+rest, append([]int{cut}, more...)
			}
		}
		return best, ends
	}
	_, ends := cheapest(0)
	var out []Change
	for i, start := 0, 0; i+1 < len(ends); i++ {
		before, after := xs[start:ends[i]], xs[ends[i]:ends[i+1]]
		start = ends[i]
		c := Change{At: start, Before: median(before), After: median(after)}
		if c.Before != c.After {
			out = append(out, c)
		}
	}
	return out
}

// Steps against all segmentations, with and without noise, near the least step that counts.
func TestStepsAgainstTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 2))
	same := func(a, b Change) bool {
		return a.At == b.At && math.Abs(a.Before-b.Before) < 1e-9 && math.Abs(a.After-b.After) < 1e-9
	}
	found := map[int]int{}
	for k := range 600 {
		n := 8 + rng.IntN(13)
		xs := make([]float64, n)
		level, next := 100.0, 0
		for i := range xs {
			if i == next {
				level, next = 100+float64(rng.IntN(12)), i+4+rng.IntN(6)
			}
			xs[i] = level
			switch k % 3 {
			case 0:
				xs[i] += rng.NormFloat64() * float64(k%7) / 4
			case 1:
				xs[i] += float64(i%2) * float64(k%5) // noise of its own size, in turns
			}
		}
		want, got := changesOf(xs), ChangePoints(xs)
		if found[len(want)]++; !slices.EqualFunc(got, want, same) {
			t.Errorf("%v: %+v, want %+v", xs, got, want)
		}
	}
	if found[0] < 50 || found[1] < 50 || found[2] < 20 {
		t.Errorf("steps that were found: %v", found)
	}
	// The penalty by hand: noise of ±1 in turns has d1 = 2/0.6745 and d2 = 0, and so a long-run variance of
	// d1²/2; of 16 values, 6 ln 16 of it are 73.1. A step by h in the middle explains 4 h².
	penalty := 6 * math.Log(16) * (2 / 0.6745) * (2 / 0.6745) / 2
	for share, want := range map[float64]int{0.97: 0, 1.03: 1} {
		h := math.Sqrt(share * penalty / 4)
		xs := append(alternating(8, 99, 101), alternating(8, 99+h, 101+h)...)
		if got := ChangePoints(xs); len(got) != want {
			t.Errorf("a step that explains %v of the penalty: %+v", share, got)
		}
	}
	// Without noise a thousandth of all variation is the bound: of levels of eight at 0, 0 + h and 100, the
	// first step explains 4 h² and all varies by about 51,500.
	for h, want := range map[float64]int{3.55: 1, 3.65: 2} {
		xs := slices.Concat(slices.Repeat([]float64{0}, 8), slices.Repeat([]float64{h}, 8), slices.Repeat([]float64{100}, 8))
		if got := ChangePoints(xs); len(got) != want {
			t.Errorf("a step by %v beside one by 100: %+v", h, got)
		}
	}
}

// Above 4,096 values neighbours are averaged: two of 4,097, three of 8,193. Where a step falls into a
// group, that group lies between both levels and joins the nearer one; in the middle, the shorter one.
func TestLongSeriesAreAveragedFirst(t *testing.T) {
	for _, c := range []struct{ n, step, at int }{
		{4096, 2001, 2001}, {4097, 2001, 2002}, {8193, 4003, 4002},
	} {
		xs := slices.Concat(slices.Repeat([]float64{10}, c.step), slices.Repeat([]float64{20}, c.n-c.step))
		if got := ChangePoints(xs); len(got) != 1 || got[0] != (Change{At: c.at, Before: 10, After: 20}) {
			t.Errorf("%d values: %+v, want a step at %d", c.n, got, c.at)
		}
	}
}

// Sums of large values near each other keep their difference.
func TestSumsOfLargeValues(t *testing.T) {
	s := newSums([]float64{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 10})
	near(t, "cost", s.cost(0, 3), 2, 1e-9)
	near(t, "cost", s.cost(1, 4), 38, 1e-9) // 2, 3 and 10: 9 + 4 + 25
	near(t, "no cost below 0", s.cost(2, 3), 0, 0)
}
