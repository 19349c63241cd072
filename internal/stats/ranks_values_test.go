package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// rankSumByCounting is the chance of a rank sum of a that is as far out, by all ways to choose which of the
// values are a's; ties share the mean of their ranks.
func rankSumByCounting(a, b []float64) float64 {
	all := slices.Concat(a, b)
	ranks := make([]float64, len(all))
	for i, x := range all {
		ranks[i] = 0.5
		for _, y := range all {
			if y < x {
				ranks[i]++
			} else if y == x {
				ranks[i] += 0.5
			}
		}
	}
	was, middle := 0.0, float64(len(a)*(len(all)+1))/2
	for i := range a {
		was += ranks[i]
	}
	far, low, high, ways := math.Abs(was-middle), 0.0, 0.0, 0.0
	var choose func(from, left int, sum float64)
	choose = func(from, left int, sum float64) {
		if left == 0 {
			ways++
			if sum <= middle-far+1e-9 {
				low++
			}
			if sum >= middle+far-1e-9 {
				high++
			}
			return
		}
		for i := from; i+left <= len(ranks); i++ {
			choose(i+1, left-1, sum+ranks[i])
		}
	}
	choose(0, len(a), 0)
	if far < 1e-9 {
		return 1
	}
	return math.Min(1, 2*math.Max(low, high)/ways)
}

// signedRankByCounting is the chance of a sum of ranks as small as the smaller one, by all signs.
func signedRankByCounting(diffs []float64) float64 {
	var left []float64
	for _, d := range diffs {
		if d != 0 {
			left = append(left, d)
		}
	}
	ranks := make([]float64, len(left))
	positive, total := 0.0, 0.0
	for i, x := range left {
		ranks[i] = 0.5
		for _, y := range left {
			if math.Abs(y) < math.Abs(x) {
				ranks[i]++
			} else if math.Abs(y) == math.Abs(x) {
				ranks[i] += 0.5
			}
		}
		if total += ranks[i]; x > 0 {
			positive += ranks[i]
		}
	}
	// The exact distribution is that of ranks without ties; of the two neighbouring sums the larger counts.
	least, as := math.Ceil(math.Min(positive, total-positive)), 0.0
	for signs := range 1 << len(left) {
		sum := 0
		for i := range left {
			sum += signs >> i & 1 * (i + 1)
		}
		if float64(sum) <= least {
			as++
		}
	}
	return math.Min(1, 2*as/float64(int(1)<<len(left)))
}

// Both rank tests against counting, with ties and without, of equal and unequal sizes. With ties and unequal
// sizes moremath may say more than there is, never less.
func TestRankTestsAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 5))
	some := func(n, kinds int) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = float64(rng.IntN(kinds) - kinds/3)
		}
		return xs
	}
	for k := range 300 {
		kinds := []int{4, 9, 1e9}[k%3]
		a, b := some(2+rng.IntN(5), kinds), some(2+rng.IntN(5), kinds)
		if all := slices.Concat(a, b); slices.Min(all) != slices.Max(all) {
			p, shift := rankSum(a, b)
			counted := rankSumByCounting(a, b)
			if ties := kinds < 1e9 && len(a) != len(b); p < counted-1e-9 || !ties && p > counted+1e-9 {
				t.Errorf("%v %v: p %v, by counting %v", a, b, p, counted)
			}
			if shift.N != min(len(a), len(b)) {
				t.Errorf("%v %v: %+v", a, b, shift)
			}
		}
		diffs := some(1+rng.IntN(8), kinds)
		p, center := signedRank(diffs)
		near(t, "signed ranks", p, signedRankByCounting(diffs), 1e-9)
		// The interval leaves out sums whose chance on each side is at most 2.5 %.
		var walsh []float64
		for i := range diffs {
			for j := 0; j <= i; j++ {
				walsh = append(walsh, diffs[i]/2+diffs[j]/2)
			}
		}
		slices.Sort(walsh)
		skip := []int{0, 0, 0, 0, 0, 0, 0, 2, 3}[len(diffs)] // P(T <= 2) of seven is 3/128, P(T <= 3) of eight 5/256
		if center.Lo != walsh[skip] || center.Hi != walsh[len(walsh)-1-skip] || center.N != len(diffs) {
			t.Errorf("%v: %+v, want %v to %v", diffs, center, walsh[skip], walsh[len(walsh)-1-skip])
		}
	}
	// Ranks of ±1, 2, 3, 4, 5 where the first two share 1.5: P(T <= 2) is 3/64.
	if p, _ := signedRank([]float64{1, -1, 2, 3, 4, 5}); p != 6/64. {
		t.Errorf("half a rank: %v", p)
	}
	// Two and two: P(U = 0) is 1/6, so that no difference is left out.
	if _, shift := rankSum([]float64{1, 2}, []float64{11, 12}); shift.Lo != 9 || shift.Hi != 11 || shift.Center != 10 || shift.N != 2 {
		t.Errorf("%+v", shift)
	}
}

// What there is nothing to compare of, and what is on the edge of it.
func TestComparisonsOfLittle(t *testing.T) {
	for name, c := range map[string]struct {
		a, b []float64
		want string
	}{
		"nothing before": {nil, []float64{1}, "no rounds to compare"},
		"nothing after":  {[]float64{1}, nil, "no rounds to compare"},
		"neither":        {nil, nil, "no rounds to compare"},
		"a zero before":  {[]float64{1, 2, 0}, []float64{1}, "round 3: 0 cannot be compared: a figure must be above 0"},
		"a zero after":   {[]float64{1}, []float64{0}, "round 1: 0 cannot be compared: a figure must be above 0"},
	} {
		if _, err := CompareRounds(c.a, c.b, Design{}); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if c := compared(t, []float64{2}, []float64{6}, Design{}); c.Spread != 0 || c.SE != 0 || c.DF != 0 || math.Abs(c.Ratio.Center-3) > 1e-12 {
		t.Errorf("one and one: %+v", c)
	}
	// Two pairs: differences 1 and 3: SE 1, one degree: t(0.975; 1) = 12.7062047, p = 2 (1/2 - atan(2)/π).
	c := compared(t, []float64{1, 1}, []float64{math.E, math.Exp(3)}, Design{Paired: true})
	near(t, "low", math.Log(c.Ratio.Lo), 2-12.7062047, 1e-6)
	near(t, "high", math.Log(c.Ratio.Hi), 2+12.7062047, 1e-6)
	near(t, "p", c.P, 1-2*math.Atan(2)/math.Pi, 1e-9)
	if c.Method != PairedT || c.DF != 1 || c.Ratio.N != 2 || !c.Paired {
		t.Errorf("%+v", c)
	}
	for _, paired := range []bool{true, false} {
		copies := compared(t, []float64{5, 5, 5}, []float64{10, 10, 10}, Design{Paired: paired})
		if copies.SE != 0 || copies.DF != 0 || copies.P != 1 || copies.Method != NoTest || copies.Ratio.N != 1 ||
			math.Abs(copies.Ratio.Lo-2) > 1e-12 || math.Abs(copies.Ratio.Hi-2) > 1e-12 ||
			!slices.Equal(copies.Ratio.Doubts, []string{"the rounds do not vary at all: are they copies of one?"}) {
			t.Errorf("%+v", copies)
		}
	}
	if e, err := Level(nil); err != nil || e.N != 0 || e.Center != 0 || !slices.Equal(e.Doubts, []string{"no values"}) {
		t.Errorf("%+v %v", e, err)
	}
	if e, err := Level([]float64{1, -1}); err == nil || e.N != 0 || !slices.Equal(e.Doubts, []string{"no values"}) {
		t.Errorf("%+v %v", e, err)
	}
	for want, rounds := range map[string][][]float64{
		"no scenarios": nil,
		"scenario 3 has 1 rounds, the first has 2": {{1, 2}, {3, 4}, {5}},
		"round 2: 0 cannot be compared":            {{1, 2}, {3, 0}},
	} {
		if _, err := Together(rounds); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	near(t, "variance of two", variance([]float64{1, 3}), 2, 1e-12)
}

// A claim needs a p below 0.05 and an interval that lies on one side of no change, which its end is not.
func TestClaimsAtTheirBounds(t *testing.T) {
	for _, c := range []struct {
		lo, hi, p float64
		want      Answer
		within    bool
	}{
		{1.1, 1.2, 0.0499, More, false},
		{1.1, 1.2, 0.05, Unknown, false},
		{0.8, 0.9, 0.0499, Less, false},
		{0.8, 0.9, 0.05, Unknown, false},
		{1, 1.2, 0.01, Unknown, false},
		{1.001, 1.2, 0.01, More, false},
		{0.8, 1, 0.01, Unknown, false},
		{0.8, 0.999, 0.01, Less, false},
		{0.9, 1.2, 0.01, Unknown, false},
		{0.98, 1.02, 0.01, Same, true},
		{0.98, 0.99, 0.01, Less, true},
		{1.01, 1.02, 0.01, More, true},
		{0.96, 1.02, 0.5, Unknown, false},
		{0.98, 1.04, 0.5, Unknown, false},
		{0.9709, 1.0299, 0.5, Same, true}, // ln 1.03 either way
		{0.9708, 1.0299, 0.5, Unknown, false},
		{0.9709, 1.0301, 0.5, Unknown, false},
	} {
		comparison := Comparison{Method: PairedT, Ratio: Estimate{Lo: c.lo, Hi: c.hi, N: 5}}
		if got, within := comparison.Answer(c.p, 0.03); got != c.want || within != c.within {
			t.Errorf("%v to %v at %v: %s %v, want %s %v", c.lo, c.hi, c.p, got, within, c.want, c.within)
		}
	}
}

// Plans at their bounds: t(0.975; 1) = 12.7062047, t(0.8; 1) = 1.3763819, t(0.995; 1) = 63.6567412;
// t(0.975; 2) = 4.3026527, t(0.8; 2) = 1.0606602.
func TestPlansAtTheirBounds(t *testing.T) {
	near(t, "one degree", Comparison{SE: 0.01, DF: 1}.LeastSeen(0.05), math.Expm1((12.7062047+1.3763819)*0.01), 1e-7)
	near(t, "at 1 %", Comparison{SE: 0.01, DF: 1}.LeastSeen(0.01), math.Expm1((63.6567412+1.3763819)*0.01), 1e-7)
	if got := (Comparison{SE: 0.01, DF: 0.5}).LeastSeen(0.05); !math.IsInf(got, 1) {
		t.Errorf("half a degree: %v", got)
	}
	// Three pairs show ln 1.05 with a spread of ln 1.05 √3/(4.3026527 + 1.0606602); on two sides the degrees
	// are four, t(0.975; 4) = 2.7764451, t(0.8; 4) = 0.9409646, and the factor √(2/3).
	three, sides := math.Log(1.05)*math.Sqrt(3)/5.3633129, math.Log(1.05)*math.Sqrt(1.5)/3.7174097
	for _, c := range []struct {
		spread float64
		paired bool
		want   int
	}{{three * 0.9999, true, 3}, {three * 1.0001, true, 4}, {sides * 0.9999, false, 3}, {sides * 1.0001, false, 4}, {1e-12, true, 0}, {2e-12, true, 3}} {
		if got := (Comparison{Spread: c.spread, Paired: c.paired}).RoundsToSee(0.05, 0.05); got != c.want {
			t.Errorf("spread %v, pairs %v: %d rounds, want %d", c.spread, c.paired, got, c.want)
		}
	}
	// At most a thousand rounds are planned. The normal distribution is that of 999 degrees to a thousandth,
	// so the change that a thousand pairs show is worked out with t itself.
	seen := (tQuantile(0.975, 999) + tQuantile(0.8, 999)) * 0.05 / math.Sqrt(1000)
	for share, want := range map[float64]int{1 + 1e-9: 1000, 1 - 1e-9: 0} {
		if got := (Comparison{Spread: 0.05, Paired: true}).RoundsToSee(math.Expm1(seen*share), 0.05); got != want {
			t.Errorf("%v of what a thousand pairs show: %d", share, got)
		}
	}
	if got := (Comparison{Spread: 0.05}).RoundsToSee(0, 0.05) + (Comparison{Spread: 0.05}).RoundsToSee(math.NaN(), 0.05); got != 0 {
		t.Errorf("nothing to see: %d", got)
	}
	xs := []float64{1, math.Exp(0.1), math.Exp(0.2), math.Exp(0.3), math.Exp(0.4)}
	known := math.Expm1(1.15 * tQuantile(0.975, 999) * math.Sqrt(0.025) / math.Sqrt(1000))
	for share, want := range map[float64]int{1 + 1e-9: 1000, 1 - 1e-9: 0} {
		if p, err := PrecisionOf(xs, known*share); err != nil || p.Planned != want {
			t.Errorf("%v of what a thousand rounds know: %+v %v", share, p, err)
		}
	}
	first, _ := PrecisionOf(xs, 0.03)
	if p, _ := PrecisionOf(xs, first.Half); p.Planned != 5 || p.Half > first.Half { // as well as it is known now
		t.Errorf("%+v", p)
	}
	if p, err := PrecisionOf(nil, 0.03); err != nil || !math.IsInf(p.Half, 1) || p.Planned != 0 || len(p.Level.Doubts) != 1 {
		t.Errorf("no rounds: %+v %v", p, err)
	}
	for _, c := range []struct {
		xs           []float64
		p, direction float64
	}{
		{[]float64{1, 2}, 1, 0},
		{[]float64{1, 2, math.NaN(), math.Inf(-1)}, 1, 0},
		{[]float64{1, 2, 3, math.Inf(1)}, 2 / 6., 3},
		{[]float64{1, 3, 2}, 1, 1},    // two of three pairs rise: 2 (1 + 2)/3!
		{[]float64{2, 4, 1, 3}, 1, 0}, // three of six: 2 (1 + 3 + 5 + 6)/4! is more than 1
		{[]float64{1, 2, 4, 3}, 8 / 24., 4},
		{[]float64{4, 3, 1, 2}, 8 / 24., -4},
		{[]float64{1, 1, 1}, 1, 0},
	} {
		if p, d := Trend(c.xs); math.Abs(p-c.p) > 1e-12 || d != c.direction {
			t.Errorf("%v: %v %v, want %v %v", c.xs, p, d, c.p, c.direction)
		}
	}
	// The normal distribution stands for Student's above 5,000 degrees; at 5,000 the quantile is z + (z³ + z)/4/5000.
	near(t, "t of 5,000", tQuantile(0.975, 5000), 1.959964+(1.959964*1.959964*1.959964+1.959964)/20000, 1e-6)
	near(t, "t of 5,001", tQuantile(0.975, 5001), 1.959964, 1e-6)
	if at, above := tTwoSided(1.959964, 5000), tTwoSided(1.959964, 5001); at < 0.05005 || math.Abs(above-0.05) > 1e-7 {
		t.Errorf("p of 5,000 degrees %v, of one more %v", at, above)
	}
	// The five before the last five, not all before them.
	rounds := slices.Concat([]float64{900, 900}, slices.Repeat([]float64{98}, 5), slices.Repeat([]float64{100}, 5))
	if w := WindowOf(rounds); !w.Settled {
		t.Errorf("%+v", w)
	}
}
