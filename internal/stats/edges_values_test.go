package stats

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// The cut of a warm-up by hand (White 1997): with one value a batch the cut is where variance over the
// number left is least, at most two thirds in, and five are left.
func TestWarmUpByHand(t *testing.T) {
	steps := func(low, high int) []float64 {
		return append(slices.Repeat([]float64{0}, low), slices.Repeat([]float64{100}, high)...)
	}
	for name, c := range map[string]struct {
		xs    []float64
		least float64
		cut   int
		ok    bool
	}{
		"half of it":           {steps(20, 20), 0, 20, true},
		"more than half":       {steps(21, 19), 0, 21, false},
		"at most two thirds":   {steps(27, 13), 0, 26, false},
		"five are left":        {append(append(steps(5, 0), 99), steps(0, 4)...), 0, 5, true},
		"none":                 {steps(0, 40), 0, 0, true},
		"of little weight":     {steps(4, 36), 0.12, 0, true}, // the mean is 90, a tenth below 100
		"of more weight":       {steps(4, 36), 0.08, 4, true},
		"of as much weight":    {steps(4, 36), 0.1, 0, true},
		"two values a batch":   {steps(20, 60), 0, 20, true},
		"a batch begins later": {append([]float64{0}, steps(20, 60)...), 0, 21, true},
	} {
		if cut, ok := warmUp(c.xs, c.least); cut != c.cut || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", name, cut, ok, c.cut, c.ok)
		}
	}
}

// Small rates are rates: what sits on a bound, runs above what is sustained, or is compared.
func TestFiguresBelowOne(t *testing.T) {
	flat := slices.Repeat([]float64{0.5}, 80)
	if !pinned(flat[:20], 0.5, 0.5) || pinned(flat[:20], 0.5, 0.6) || pinned(flat[:20], 0, 0.5) {
		t.Error("on a bound of half an I/O")
	}
	for sustained, want := range map[float64]bool{0: false, 0.4: true, 0.49: true, 0.495: false} {
		if s, _ := lookAt(flat, StopOptions{Target: 0.02, Sustained: sustained}); s.AtBurst != want {
			t.Errorf("sustained %v: a burst %v", sustained, s.AtBurst)
		}
	}
	if got := Apart([]float64{0.1, 0.2, 0.3, 0.4, 97}); !slices.Equal(got, []int{4}) {
		t.Errorf("%v", got)
	}
	if logs, err := logsOf([]float64{0.5, 1, 2}); err != nil || logs[0] != -math.Ln2 || logs[1] != 0 || logs[2] != math.Ln2 {
		t.Errorf("%v %v", logs, err)
	}
	for _, wrong := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if _, err := logsOf([]float64{1, wrong}); err == nil || !strings.HasPrefix(err.Error(), "round 2: ") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	p := PairedShare([]float64{0.3, 0.3, 0.3, 0.3}, []float64{0.1, 0.1, 0.1, 0.1}, 0.05)
	if p.Over != 0.1 || p.First != 0.3 || p.Share != 1 {
		t.Errorf("%+v", p)
	}
}

// A second counts from the least on, and both looks must agree with each other.
func TestLooksInARow(t *testing.T) {
	flat := slices.Repeat([]float64{100}, 200)
	for least, want := range map[int]int{0: 13, 10: 13, 11: 16, 13: 16, 14: 20, 16: 20, 17: 25} { // looks at 10, 13, 16, 20, 25
		if s := SettledBy(flat, StopOptions{Target: 0.02, Bound: 100, Least: least}); s.At != want {
			t.Errorf("at least %d: settled at %d, want %d", least, s.At, want)
		}
	}
	if got, want := Looks(25), []int{10, 13, 16, 20, 25}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := Looks(9); got != nil {
		t.Errorf("%v", got)
	}
	// The level changed when half was over: what is left is half, and counts.
	half := slices.Concat(slices.Repeat([]float64{50}, 60), slices.Repeat([]float64{100}, 60))
	if s, ok := lookAt(half, StopOptions{Target: 0.02}); !ok || s.From != 60 || s.Estimate.Center != 100 {
		t.Errorf("%+v %v", s, ok)
	}
	if s, ok := lookAt(append(slices.Repeat([]float64{100}, 70), math.NaN()), StopOptions{Target: 0.02}); ok || s.Why != "seconds without a figure" {
		t.Errorf("%+v", s)
	}
	if s, ok := lookAt(make([]float64, 70), StopOptions{Target: 0.02}); ok || s.Why != "nothing was done" {
		t.Errorf("%+v", s)
	}
	up := make([]float64, 80)
	for i := range up {
		up[i] = 100 + 30*float64(i%2)
	}
	if s, ok := lookAt(up, StopOptions{Target: 1e-9}); ok || !strings.HasPrefix(s.Why, "known to ±") {
		t.Errorf("%+v", s)
	}
}

// What steps need: as many values as two levels have, and none that is no number.
func TestStepsAtTheirEdges(t *testing.T) {
	step := func(before, after int) []float64 {
		return append(slices.Repeat([]float64{100}, before), slices.Repeat([]float64{50}, after)...)
	}
	for _, n := range []int{0, 1, 2, 3, 7} {
		if got := ChangePoints(step(n, 0)); got != nil {
			t.Errorf("%d values: %+v", n, got)
		}
	}
	if got := ChangePoints(step(4, 4)); len(got) != 1 || got[0] != (Change{At: 4, Before: 100, After: 50}) {
		t.Errorf("%+v", got)
	}
	if got := ChangePoints(append(step(10, 10), math.NaN())); got != nil {
		t.Errorf("with what is no number: %+v", got)
	}
	if got := ChangePoints(append(step(10, 10), step(10, 0)...)); len(got) != 2 || got[0].At != 10 || got[1].At != 20 || got[1].Before != 50 || got[1].After != 100 {
		t.Errorf("%+v", got)
	}
	// The noise of first-order autoregression: of differences d1 and d2 the coefficient is d2²/d1² - 1, at
	// most 0.9, the variance d1²/2/(1-φ), the long run's (1+φ)/(1-φ) times that.
	for _, c := range []struct{ first, second float64 }{{1, math.Sqrt(1.5) - 1}, {1, 1}, {1, -0.5}} {
		xs := []float64{0}
		for i := range 40 {
			xs = append(xs, xs[len(xs)-1]+[]float64{c.first, c.second}[i%2])
		}
		var ds []float64
		for i := range 40 {
			ds = append(ds, math.Abs([]float64{c.first, c.second}[i%2]))
		}
		d1, d2 := Quantile(ds, 0.5)/0.6745, math.Abs(c.first+c.second)/0.6745
		phi := min(0.9, max(0, d2*d2/(d1*d1)-1))
		sd, long := noise(xs)
		near(t, "sd", sd, math.Sqrt(d1*d1/2/(1-phi)), 1e-9)
		near(t, "long run", long, d1*d1/2/(1-phi)*(1+phi)/(1-phi), 1e-9)
	}
	if sd, long := noise([]float64{5, 5, 5, 5}); sd != 0 || long != 0 {
		t.Errorf("%v %v", sd, long)
	}
	// The running median of seven, of fewer at the ends.
	xs := []float64{90, 1, 2, 3, 4, 5, 6, 7, -90}
	got := drawnIn(xs, 2)
	for i := range xs {
		m := []float64{2.5, 3, 3.5, 4, 4, 4, 4.5, 5, 5.5}[i]
		near(t, "drawn in", got[i], min(max(xs[i], m-2), m+2), 1e-12)
	}
}

// Segments against all segmentations: of up to fourteen values each way to cut them into levels of four
// or more is tried.
func TestSegmentsAreTheCheapest(t *testing.T) {
	cost := func(xs []float64) float64 {
		m, sum := 0.0, 0.0
		for _, x := range xs {
			m += x / float64(len(xs))
		}
		for _, x := range xs {
			sum += (x - m) * (x - m)
		}
		return sum
	}
	var all func(xs []float64, penalty float64) float64
	all = func(xs []float64, penalty float64) float64 {
		best := cost(xs)
		for cut := 4; cut+4 <= len(xs); cut++ {
			best = min(best, cost(xs[:cut])+penalty+all(xs[cut:], penalty))
		}
		return best
	}
	for k, xs := range [][]float64{
		{1, 2, 1, 2, 9, 8, 9, 8, 1, 2, 1, 2},
		{1, 1, 1, 9, 9, 9, 9, 1, 1, 1, 1, 1, 9, 9},
		{5, 4, 6, 5, 7, 6, 8, 7, 9, 8, 10, 9, 11, 10},
		{0, 0, 0, 0, 3, 3, 3, 3, 3, 1, 1, 1, 1},
	} {
		for _, penalty := range []float64{0.1, 3, 30, 300} {
			got, from := 0.0, 0
			ends := segment(xs, penalty)
			for i, end := range ends {
				if end-from < 4 {
					t.Errorf("series %d: a level of %d", k, end-from)
				}
				if got += cost(xs[from:end]); i > 0 {
					got += penalty
				}
				from = end
			}
			if from != len(xs) || math.Abs(got-all(xs, penalty)) > 1e-9 {
				t.Errorf("series %d at %v: %v costs %v, the least is %v", k, penalty, ends, got, all(xs, penalty))
			}
		}
	}
}

// Values that are none are left out of a histogram, and the first of two valleys alike is taken.
func TestValleysByHand(t *testing.T) {
	hist := []Weighted{{0.1, 900}, {0.4, 100}}
	want, _ := Bimodal(hist)
	junk := append(slices.Clone(hist), Weighted{0, 1e6}, Weighted{-1, 1e6}, Weighted{0.2, 0}, Weighted{0.2, -50}, Weighted{math.Inf(1), 1e6}, Weighted{0.2, math.Inf(1)})
	if got, two := Bimodal(junk); !two || got != want || got.Low != 0.1 || got.High != 0.4 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got, two := Bimodal([]Weighted{{0.1, 0.5}, {0.4, 0.25}}); two || got.Dip != 0 {
		t.Errorf("too few to tell: %v %+v", two, got)
	}
	if _, two := Bimodal([]Weighted{{0.1, 500}, {0, 500}}); two {
		t.Error("one value")
	}
	for name, c := range map[string]struct {
		counts []float64
		at     int
		dip    float64
		ok     bool
	}{
		// Half of each, a quarter of its neighbours: empty are only those two from a peak.
		"two alike":       {[]float64{1000, 0, 0, 0, 1000, 0, 0, 0, 1000}, 2, 0, true},
		"a wide one":      {[]float64{1000, 0, 0, 0, 0, 0, 1000}, 3, 0, true},
		"a wide one, odd": {[]float64{1000, 0, 0, 0, 0, 1000}, 3, 0, true},
		"the deeper":      {[]float64{1000, 0, 300, 0, 1000, 0, 0, 0, 1000}, 6, 0, true},
		"half as high":    {[]float64{1000, 1000, 500, 500, 500, 1000, 1000}, 0, 4. / 7, false},
		"half of less":    {[]float64{4000, 4000, 1500, 1000, 1500, 4000, 4000}, 3, 1250. / 3375, true},
		"a twentieth":     {[]float64{5000, 0, 0, 0, 95000}, 2, 0, true},
		"less than that":  {[]float64{4999, 0, 0, 0, 95001}, 0, 1, false},
		"none after":      {[]float64{95001, 0, 0, 0, 4999}, 0, 1, false},
		"of 25 and 0":     {[]float64{50, 0, 0, 0, 50}, 2, 0, true}, // (25 - 0)/√25 = 5
		"of one each":     {[]float64{1, 0, 0, 0, 1}, 0, 0, false},  // which is chance, and shown as what it is
		"of 24 and 0":     {[]float64{48, 0, 0, 0, 48}, 0, 0, false},
	} {
		total := 0.0
		for _, n := range c.counts {
			total += n
		}
		at, dip, ok := valley(c.counts, total)
		if at != c.at || ok != c.ok || math.Abs(dip-c.dip) > 1e-9 {
			t.Errorf("%s: %d %v %v, want %d %v %v", name, at, dip, ok, c.at, c.dip, c.ok)
		}
	}
}

// Shares of seconds that keep to one side widen the error, and the batches are then as few as ten.
func TestErrorOfAShare(t *testing.T) {
	second := func(above float64) []Weighted { return []Weighted{{1, 100 - above}, {5, above}} }
	halves := append(slices.Repeat([][]Weighted{second(10)}, 5), slices.Repeat([][]Weighted{second(20)}, 5)...)
	// ± 0.05 around 0.15 in two halves: r1 is 0.7, and 0.8 with a tenth added: √(1.8/0.2) = 3.
	se, k := shareError(halves, 1)
	if k != 10 {
		t.Error(k)
	}
	near(t, "of halves", se, 3*math.Sqrt(0.0025*10/9/10), 1e-9)
	// 40 seconds in pairs: 30 batches at most, and their errors depend on each other until pairs are whole.
	var pairs [][]Weighted
	for i := range 40 {
		pairs = append(pairs, second([]float64{10, 10, 20, 20}[i%4]))
	}
	if _, k := shareError(pairs, 1); k > 30 || k < 10 {
		t.Errorf("%d batches", k)
	}
	if e := QuantileOf([][]Weighted{{{1, 0}}, {}}, 0.5); len(e.Doubts) != 1 || e.Doubts[0] != "no values" {
		t.Errorf("%+v", e)
	}
	if e := QuantileOf([][]Weighted{{{1, 0.5}}}, 0.5); e.Center != 1 {
		t.Errorf("half an I/O: %+v", e)
	}
	for _, q := range []float64{0, 1, -1, 2, math.NaN()} {
		if e := QuantileOf(halves, q); len(e.Doubts) != 1 || e.Doubts[0] != "no values" {
			t.Errorf("a quantile of %v: %+v", q, e)
		}
	}
}

// The interval of few differences is all of them; of a curve the depths are above 0.
func TestRanksOfFew(t *testing.T) {
	p, e := signedRank([]float64{1, -2, 3})
	if e.Lo != -2 || e.Hi != 3 || e.N != 3 || p != 0.75 {
		t.Errorf("%v %+v", p, e)
	}
	// Of six, 2^-6 is 0.0156: the least and the greatest sum are out on their own, and one mean is skipped.
	_, e = signedRank([]float64{1, 2, 3, 4, 5, 6})
	if e.Lo != 1 || e.Hi != 6 || e.Center != 3.5 {
		t.Errorf("%+v", e)
	}
	_, e = signedRank([]float64{1, 2, 3, 4, 5, 6, 7}) // P(T <= 2) = 3/128 = 0.0234: three sums
	if e.Lo != 2 || e.Hi != 6 {
		t.Errorf("%+v", e)
	}
	_, e = rankSum([]float64{1, 2, 3, 4}, []float64{11, 12, 13, 14}) // P(U = 0) = 1/70: one difference less
	if e.Lo != 7 || e.Hi != 13 || e.Center != 10 || e.N != 4 {
		t.Errorf("%+v", e)
	}
	for name, depths := range map[string][]float64{"zero": {0, 1, 2, 4}, "falling": {1, 4, 2, 8}, "not a number": {math.NaN(), 1, 2, 4}} {
		if _, err := FitCurve(depths, []float64{1, 2, 3, 4}); err == nil || !strings.Contains(err.Error(), "above 0") {
			t.Errorf("%s: %v", name, err)
		}
	}
	near(t, "drift of two", drift([]float64{1, 3}), 2, 1e-12)
	if e := BatchMeans(append(slices.Repeat([]float64{5, 6}, 8), math.NaN())); !slices.Contains(e.Doubts, "1 of 17 values are not numbers and were left out") {
		t.Errorf("%q", e.Doubts)
	}
	// Within a margin means inside of it: an end that lies on the margin does not.
	half := Comparison{Method: WelchT, Ratio: Estimate{Center: 0.7, Lo: 0.5, Hi: 1}}
	if _, within := half.Answer(1, 1); within {
		t.Error("the lower end lies on the margin")
	}
	double := Comparison{Method: WelchT, Ratio: Estimate{Center: 1.5, Lo: 1, Hi: 2}}
	if _, within := double.Answer(1, 1); within {
		t.Error("the upper end lies on the margin")
	}
	inside := Comparison{Method: WelchT, Ratio: Estimate{Center: 1, Lo: 0.51, Hi: 1.99}}
	if answer, within := inside.Answer(1, 1); !within || answer != Same {
		t.Errorf("%v %v", answer, within)
	}
}

// Of forty first reads that are all slower than the second ones, four far beyond them are a tenth, which
// is enough; three are not. Far is half of a median beyond the upper quartile, or least where that is more.
func TestSharesThatAreFarEnough(t *testing.T) {
	for _, c := range []struct {
		far   int
		value float64
		least float64
		want  bool
	}{{4, 1.51, 0.1, true}, {3, 1.51, 0.1, false}, {4, 1.5, 0.1, false}, {4, 1.61, 0.6, true}, {4, 1.6, 0.6, false}} {
		first, again := slices.Repeat([]float64{1.2}, 40), slices.Repeat([]float64{1}, 40)
		for i := range c.far {
			first[i] = c.value
		}
		if p := PairedShare(first, again, c.least); p.Share != 1 || p.Claimed != c.want {
			t.Errorf("%d at %v, at least %v: %+v", c.far, c.value, c.least, p)
		}
	}
}
