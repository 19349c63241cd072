package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// plainVariance is that of a sample.
func plainVariance(xs []float64) float64 {
	m, sum := plainMean(xs), 0.0
	for _, x := range xs {
		sum += (x - m) * (x - m)
	}
	return sum / float64(len(xs)-1)
}

// plainMemory is 1 + 2 Σ r(k) up to the first k of five times it, at most to below half of the series.
func plainMemory(xs []float64) float64 {
	m, n := plainMean(xs), len(xs)
	lagged := func(k int) float64 {
		sum := 0.0
		for i := k; i < n; i++ {
			sum += (xs[i] - m) * (xs[i-k] - m)
		}
		return sum
	}
	if lagged(0) == 0 {
		return 1
	}
	tau := 1.0
	for k := 1; 2*k <= n-n%2-2; k++ {
		if tau += 2 * lagged(k) / lagged(0); float64(k) >= 5*tau {
			break
		}
	}
	return math.Max(1, tau)
}

// plainCut is the warm-up by its definition: of the cuts at whole batches of a fortieth, in the first two
// thirds and with five batches left, the one with the least squared error of the mean.
func plainCut(xs []float64, least float64) (int, bool) {
	n := len(xs)
	size := n / 40
	if size == 0 {
		size = 1
	}
	var means []float64 // from the end
	for end := n; end >= size; end -= size {
		means = append([]float64{plainMean(xs[end-size : end])}, means...)
	}
	k, best, cut := len(means), math.Inf(1), 0
	for i := range k - 4 {
		rest := means[i:]
		sum := 0.0
		for _, x := range rest {
			sum += math.Pow(x-plainMean(rest), 2)
		}
		if score := sum / math.Pow(float64(len(rest)), 2); float64(i) <= float64(2*k)/3 && score < best-1e-12 {
			best, cut = score, i
		}
	}
	if cut == 0 {
		return 0, true
	}
	at := n - (k-cut)*size
	a, b := xs[:at], xs[at:]
	se := math.Sqrt(plainVariance(b)*plainMemory(b)/float64(len(a)) + plainVariance(b)*plainMemory(b)/float64(len(b)))
	if math.Abs(plainMean(a)-plainMean(b)) <= 2.58*se || math.Abs(plainMean(xs)-plainMean(b)) <= least*math.Abs(plainMean(b)) {
		return 0, true
	}
	return at, float64(cut) <= float64(k)/2
}

// Memories and warm-ups of many series against their definitions.
func TestWarmUpsAgainstTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 3))
	cuts := map[string]int{}
	for k := range 900 {
		n := 8 + rng.IntN(120)
		xs := ar1(rng, n, []float64{0, 0.5, 0.9}[k%3])
		start, low := rng.IntN(n), []float64{0, 30, 60, 200}[rng.IntN(4)]
		for i := range start {
			xs[i] -= low
		}
		near(t, "memory", memory(xs), plainMemory(xs), 1e-6)
		least := []float64{0, 0.005, 0.02}[rng.IntN(3)]
		wantCut, wantOK := plainCut(xs, least)
		cut, ok := warmUp(xs, least)
		if cut != wantCut || ok != wantOK {
			t.Errorf("%d values, %v less for %d of them: cut %d %v, want %d %v", n, low, start, cut, ok, wantCut, wantOK)
		}
		cuts[fmt.Sprint(wantCut > 0, wantOK)]++
	}
	if cuts["true true"] < 30 || cuts["true false"] < 30 || cuts["false true"] < 30 {
		t.Errorf("cuts that were tried: %v", cuts)
	}
}

// On a bound sits what is within 2 % of it, and of which nine tenths are within 3 %, or three I/Os, or
// that keeps to a straight line within a twentieth of a second's work.
func TestOnABoundAtItsBounds(t *testing.T) {
	// 21 seconds: the 10 % quantile is the third least, the 90 % one the third greatest. The first ten are
	// low, so that what was done is further than a twentieth of a second from a line.
	halves := func(center, apart float64) []float64 {
		return append(slices.Repeat([]float64{center - apart/2}, 10), slices.Repeat([]float64{center + apart/2}, 11)...)
	}
	few := func(n int, x float64) []float64 {
		xs := slices.Repeat([]float64{100}, 21)
		for i := range n {
			xs[i] = x
		}
		return xs
	}
	for name, c := range map[string]struct {
		xs            []float64
		center, bound float64
		want          bool
	}{
		"within 3 %":                     {halves(1000, 29), 1000, 1000, true},
		"more than 3 %":                  {halves(1000, 31), 1000, 1000, false},
		"3 % of 200 are 6":               {halves(200, 5.9), 200, 200, true},
		"and not 7":                      {halves(200, 6.1), 200, 200, false},
		"three I/Os of 50":               {halves(50, 2.9), 50, 50, true},
		"more of 50":                     {halves(50, 3.1), 50, 50, false},
		"three I/Os of 20":               {halves(20, 2.9), 20, 20, true},
		"more of 20":                     {halves(20, 3.1), 20, 20, false},
		"two stalls":                     {few(2, 50), 100, 100, true},
		"three stalls":                   {few(3, 50), 100, 100, false},
		"two outbreaks":                  {few(2, 150), 100, 100, true},
		"three outbreaks":                {few(3, 150), 100, 100, false},
		"2 % below the bound":            {halves(1000, 1), 1000, 1020.4, true}, // 0.98001
		"more than 2 % below":            {halves(1000, 1), 1000, 1020.5, false},
		"2 % above":                      {halves(1000, 1), 1000, 980.4, true}, // 1.01999
		"more than 2 % above":            {halves(1000, 1), 1000, 980.3, false},
		"in turns, 5 % of a second":      {alternating(20, 97.6, 102.4), 100, 100, true}, // sums 2.4 below at most
		"in turns, 10 %":                 {alternating(20, 95.1, 104.9), 100, 100, true}, // 4.9
		"in turns, more than 10 %":       {alternating(20, 94.9, 105.1), 100, 100, false},
		"nothing on a bound of none":     {make([]float64, 20), 0, 0, false},
		"nothing":                        {make([]float64, 20), 0, 100, false},
		"a figure without a bound":       {halves(1000, 1), 1000, 0, false},
		"less than one on its bound":     {halves(0.5, 0.001), 0.5, 0.5, true},
		"a bound below 0 bounds nothing": {halves(1000, 1), 1000, -1000, false},
	} {
		if got := pinned(c.xs, c.center, c.bound); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What keeps a run from being settled, each reason where it begins.
func TestReasonsNotToStop(t *testing.T) {
	level := func(n int, x float64) []float64 { return slices.Repeat([]float64{x}, n) }
	wild := ar1(rand.New(rand.NewPCG(26, 4)), 120, 0.9)
	if plainMemory(wild)*20 <= 120 {
		t.Fatalf("a memory of %v s", plainMemory(wild))
	}
	small := append(level(70, 100), level(30, 104.9)...)
	for name, c := range map[string]struct {
		xs   []float64
		o    StopOptions
		from int
		why  string
	}{
		// Steps by more than 5 % count; these come in the last third, where no warm-up ends.
		"a step by less than 5 %": {
			small,
			StopOptions{Target: 10},
			0,
			fmt.Sprintf("seconds depend on each other over %.0f s: %.0f s are needed", plainMemory(small), 20*plainMemory(small)),
		},
		"a step by more than 5 %": {append(level(70, 100), level(30, 105.1)...), StopOptions{Target: 10}, 70, "30 steady seconds: at least 60 are needed"},
		"a fall by more than 5 %": {append(level(70, 100), level(30, 94.9)...), StopOptions{Target: 10}, 70, "30 steady seconds: at least 60 are needed"},
		"two steps": {
			slices.Concat(level(70, 100), level(10, 200), level(20, 100)), StopOptions{Target: 10}, 0, "levels come and go (2 steps)",
		},
		"a step in the second half": {
			append(level(200, 100), level(65, 50)...), StopOptions{Target: 10}, 200, "the level changed in the second half",
		},
		"on its bound after nine": {level(9, 100), StopOptions{Target: 0.02, Bound: 100}, 0, "9 steady seconds: at least 10 are needed"},
		"on its bound after ten":  {level(10, 100), StopOptions{Target: 0.02, Bound: 100}, 0, ""},
		"on no bound after 59":    {level(59, 100), StopOptions{Target: 0.02, Bound: 200}, 0, "59 steady seconds: at least 60 are needed"},
		"on no bound after 60":    {level(60, 100), StopOptions{Target: 0.02, Bound: 200}, 0, ""},
		"seconds that are alike for long": {
			wild,
			StopOptions{Target: 10},
			0,
			fmt.Sprintf("seconds depend on each other over %.0f s: %.0f s are needed", plainMemory(wild), 20*plainMemory(wild)),
		},
	} {
		s, ok := lookAt(c.xs, c.o)
		if s.Why != c.why || s.From != c.from || ok != (c.why == "") {
			t.Errorf("%s: from %d, %q, %v; want from %d, %q", name, s.From, s.Why, ok, c.from, c.why)
		}
		if want := BatchMeans(c.xs[c.from:]); math.Abs(s.Estimate.Center-want.Center) > 1e-9 || math.Abs((s.Estimate.Hi-s.Estimate.Lo)-1.3*(want.Hi-want.Lo)) > 1e-9 {
			t.Errorf("%s: %+v, want that of %+v, 1.3 times as wide", name, s.Estimate, want)
		}
	}
	// A target is met by what is as wide: the half width of 80 seconds in turns is a share of the centre.
	turns := alternating(81, 100, 130)
	rel := (&Settled{Estimate: widened(BatchMeans(turns))}).Estimate.Rel()
	for target, want := range map[float64]bool{rel: true, rel * 0.999: false} {
		if s, ok := lookAt(turns, StopOptions{Target: target}); ok != want {
			t.Errorf("a target of %v, where %v is known: %+v", target, rel, s)
		}
	}
}

// Two looks in a row count together only where they agree: this series starts 3.9 % low for 42 seconds,
// which its noise hides at the look at 117; then it is calm, and at 146 the low start is cut.
func TestLooksThatDisagree(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 2470))
	xs := make([]float64, 146)
	for i := range xs {
		xs[i] = 100 * (1 + 0.03*rng.NormFloat64())
		if i >= 117 {
			xs[i] = 100 * (1 + 0.002*rng.NormFloat64())
		}
		if i < 42 {
			xs[i] *= 0.961
		}
	}
	o := StopOptions{Target: 0.012}
	var means []float64
	for _, n := range []int{117, 146} {
		s, ok := lookAt(xs[:n], o)
		if means = append(means, s.Estimate.Center); !ok {
			t.Fatalf("%d seconds: %+v", n, s)
		}
	}
	if means[1]/means[0]-1 <= 0.012 {
		t.Fatalf("means of %v", means)
	}
	if s := SettledBy(xs, o); s.At != 0 || s.Why != "not looked at twice" {
		t.Errorf("%+v", s)
	}
}

// A level that began in the second half does not count, however long it lasts; one that began before does.
// The step, by 5.5 %, is within a noise of 3 %, so that it is taken for no warm-up.
func TestLevelsOfTheSecondHalf(t *testing.T) {
	for _, c := range []struct {
		before, after int
		seed          uint64
		why           string
	}{{100, 65, 75, "the level changed in the second half"}, {105, 75, 70, "the level changed in the second half"}, {95, 100, 0, ""}} {
		rng := rand.New(rand.NewPCG(26, c.seed))
		xs := make([]float64, c.before+c.after)
		for i := range xs {
			if xs[i] = 100 + 3*rng.NormFloat64(); i >= c.before {
				xs[i] += 5.5
			}
		}
		if s, _ := lookAt(xs, StopOptions{Target: 0.02}); s.From != c.before || s.Why != c.why {
			t.Errorf("%d and %d seconds: %+v", c.before, c.after, s)
		}
	}
}
