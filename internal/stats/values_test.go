package stats

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

func alternating(n int, a, b float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = a
		if i%2 == 1 {
			xs[i] = b
		}
	}
	return xs
}

// Intervals by hand. t(0.975; 11) = 2.2009852, t(0.975; 9) = 2.2621572.
func TestBatchMeansByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		xs     []float64
		center float64
		half   float64
		n      int
		doubt  string
	}{
		{"none", nil, 0, 0, 0, "no values"},
		{"one", []float64{7}, 7, 0, 1, "1 value: 10 are needed for an interval"},
		{"constant", slices.Repeat([]float64{5}, 12), 5, 0, 12, ""},
		// r1 = -11/12, corrected by 1/12: below 0, so nothing is widened; s/√12 = √(1/11).
		{"alternating", alternating(12, 9, 11), 10, 2.2009852 * 0.3015113, 12, ""},
		// r1 = 1.75/2.5, corrected by 1/10: 0.8, so that √(1.8/0.2) = 3 widens s/√10 = 1/6.
		{"two halves", []float64{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, 0.5, 3 * 2.2621572 / 6, 10, "neighbouring values depend on each other even over a tenth of the run (autocorrelation 0.8)"},
		// 60 values in pairs: 30 batches of two; 9 and 11 again.
		{"batches of two", slices.Repeat([]float64{9, 9, 11, 11}, 15), 10, 2.0452296 * math.Sqrt(1/29.), 30, ""},
		{"nine", alternating(9, 9, 11), 89 / 9., 2.3060041 * 1.0540926 / 3, 9, "9 values: 10 are needed for an interval to rely on"},
		{"not numbers", append(alternating(12, 9, 11), math.NaN(), math.Inf(1)), 10, 2.2009852 * 0.3015113, 12, "2 of 14 values are not numbers and were left out"},
	} {
		e := BatchMeans(c.xs)
		if math.Abs(e.Center-c.center) > 1e-9 || math.Abs((e.Hi-e.Lo)/2-c.half) > 1e-6 || e.N != c.n || math.Abs(e.Hi+e.Lo-2*e.Center) > 1e-9 {
			t.Errorf("%s: %+v ± %v, want %v ± %v of %d", c.name, e, (e.Hi-e.Lo)/2, c.center, c.half, c.n)
		}
		if got := strings.Join(e.Doubts, "|"); !strings.HasPrefix(got, c.doubt) || (got == "") != (c.doubt == "") {
			t.Errorf("%s: %q, want %q", c.name, got, c.doubt)
		}
	}
	// A line from 100 to 139 in 40 seconds drifts by 39 of 119.5; one of 2 % hardly.
	line := make([]float64, 40)
	for i := range line {
		line[i] = 100 + float64(i)
	}
	if e := BatchMeans(line); !slices.ContainsFunc(e.Doubts, func(s string) bool { return strings.HasPrefix(s, "drifts by +3") }) {
		t.Errorf("%+v", e)
	}
	for i := range line {
		line[i] = 1000 + float64(i)/2
	}
	if e := BatchMeans(line); slices.ContainsFunc(e.Doubts, func(s string) bool { return strings.HasPrefix(s, "drifts") }) {
		t.Errorf("%+v", e)
	}
}

func TestSeriesByHand(t *testing.T) {
	near(t, "r1", autocorrelation([]float64{1, 2, 3, 4}), 0.25, 1e-12) // (0.75 - 0.25 + 0.75)/5
	near(t, "r1 of a constant", autocorrelation([]float64{3, 3, 3}), 0, 0)
	near(t, "drift", drift([]float64{1, 3, 2, 4}), 2.4, 1e-12) // slope 0.8
	near(t, "drift of one", drift([]float64{1}), 0, 0)
	near(t, "mean", mean([]float64{1e15, 1e15 + 2, 1e15 + 4}), 1e15+2, 0)
	near(t, "variance", variance([]float64{1, 2, 3, 4}), 5/3., 1e-12)
	near(t, "variance of one", variance([]float64{7}), 0, 0)
	// Six of six pairs rise: (6 - 1)/√(4·3·13/18); five rise and one falls: (4 - 1)/…
	near(t, "trend", trend([]float64{1, 2, 3, 4}), 5/math.Sqrt(4*3*13/18.), 1e-12)
	near(t, "trend", trend([]float64{2, 1, 3, 4}), 3/math.Sqrt(4*3*13/18.), 1e-12)
	near(t, "trend down", trend([]float64{4, 3, 1, 2}), -3/math.Sqrt(4*3*13/18.), 1e-12)
	near(t, "no trend", trend([]float64{1, 2, 1}), 0, 0)
	// 1 + 2 (r1 + r2 + …): of 1 2 3 4 5 6 r1 = 0.5 (8.75/17.5), r2 = 1/17.5.
	near(t, "memory", memory([]float64{1, 2, 3, 4, 5, 6}), 1+2*(8.75+1)/17.5, 1e-12)
	near(t, "memory of a constant", memory([]float64{4, 4, 4, 4}), 1, 0)
	near(t, "memory of alternation", memory(alternating(20, 1, 2)), 1, 0)
	near(t, "wander", wander([]float64{1, 3, 2, 2}), 1, 1e-12)       // sums of -1, 0, 0, 0
	near(t, "wander", wander([]float64{3, 3, 1, 1, 1, 3}), 3, 1e-12) // sums 1, 2, 1, 0, -1, 0
	for q, want := range map[float64]float64{0: 1, 0.25: 1.75, 0.5: 2.5, 0.9: 3.7, 0.1: 1.3, 1: 4, -1: 1, 2: 4, 1. / 3: 2} {
		near(t, "quantile", Quantile([]float64{4, 1, 3, 2}, q), want, 1e-12)
	}
	if !math.IsNaN(Quantile(nil, 0.5)) || !math.IsNaN(Quantile([]float64{1}, math.NaN())) || Quantile([]float64{7}, 0.9) != 7 {
		t.Error("quantiles of little")
	}
	w := widened(Estimate{Center: 10, Lo: 8, Hi: 12})
	near(t, "widened", w.Lo, 10-2.6, 1e-12)
	near(t, "widened", w.Hi, 10+2.6, 1e-12)
}

// A step by hand: ten of 100, ten of 50.
func TestStepByHand(t *testing.T) {
	xs := append(slices.Repeat([]float64{100}, 10), slices.Repeat([]float64{50}, 10)...)
	if got, want := ChangePoints(xs), (Change{At: 10, Before: 100, After: 50}); len(got) != 1 || got[0] != want {
		t.Errorf("%+v", got)
	}
	// Levels of four are the shortest; of three there is none.
	four := append(slices.Repeat([]float64{100}, 8), 50, 50, 50, 50)
	if got := ChangePoints(four); len(got) != 1 || got[0].At != 8 {
		t.Errorf("%+v", got)
	}
	// Differences of noise 1, -1, 1, -1: d1 = 2/0.6745, d2 = 0: φ = 0; variance = d1²/2.
	sd, long := noise(alternating(12, 99, 101))
	d1 := 2 / 0.6745
	near(t, "sd", sd, d1/math.Sqrt2, 1e-12)
	near(t, "long run", long, d1*d1/2, 1e-12)
	// Lag-2 differences of √1.5 times lag 1's: φ = 0.5, variance d1²/2/0.5, long-run three times that.
	near(t, "drawn in", drawnIn([]float64{10, 10, 10, 90, 10, 10, 10}, 6)[3], 16, 1e-12)
	near(t, "drawn in from below", drawnIn([]float64{10, 10, 10, -90, 10, 10, 10}, 6)[3], 4, 1e-12)
	s := newSums([]float64{1, 2, 3, 10})
	near(t, "cost", s.cost(0, 3), 2, 1e-12)
	near(t, "cost", s.cost(2, 4), 24.5, 1e-12)
	near(t, "cost of one", s.cost(3, 4), 0, 1e-12)
	if got := segment([]float64{1, 1, 1, 1, 9, 9, 9, 9}, 5); !slices.Equal(got, []int{4, 8}) {
		t.Errorf("%v", got)
	}
	if got := segment([]float64{1, 1, 1, 1, 9, 9, 9, 9}, 200); !slices.Equal(got, []int{8}) { // 8 · 16 = 128
		t.Errorf("%v", got)
	}
}

// Levels, comparisons and predictions by hand: t(0.975; 4) = 2.7764451, t(0.995; 4) = 4.6040949,
// t(0.8; 4) = 0.9409646.
func TestRoundsByHand(t *testing.T) {
	// ln: 0, 1, 2, 3, 4: mean 2, variance 2.5.
	five := []float64{1, math.E, math.Exp(2), math.Exp(3), math.Exp(4)}
	level, err := Level(five)
	half := 2.7764451 * math.Sqrt(2.5/5)
	if err != nil || level.N != 5 {
		t.Errorf("%+v %v", level, err)
	}
	near(t, "level", math.Log(level.Center), 2, 1e-9)
	near(t, "level, low", math.Log(level.Lo), 2-half, 1e-6)
	near(t, "level, high", math.Log(level.Hi), 2+half, 1e-6)
	if one, _ := Level([]float64{3}); one.Lo != one.Hi || math.Abs(one.Center-3) > 1e-9 || one.N != 1 {
		t.Errorf("%+v", one)
	}
	// A new run of half as many rounds: √(2.5) √(π/2/5 + 2), of a median.
	e, err := Expect(five, 2, 0)
	const beyond, seen = 8.9557, 0.9409646 // t(0.99957; 4) and t(0.8; 4)
	spread := math.Sqrt(2.5) * math.Sqrt(math.Pi/10+2)
	if err != nil || e.TooFew != "" {
		t.Errorf("%+v %v", e, err)
	}
	// These depend on each other, or may: the limits are somewhat wider than those of independent runs.
	half = (math.Log(e.Level.Hi) - math.Log(e.Level.Lo)) / 2
	if half < beyond*spread*0.95 || half > 1.4*beyond*spread {
		t.Errorf("expected within %v, of independent runs %v", half, beyond*spread)
	}
	near(t, "expected, center", math.Log(e.Level.Center), 2, 1e-6)
	if e.LeastSeen < 1-math.Exp(-(beyond*0.95+seen)*spread) || e.LeastSeen > 1 {
		t.Errorf("least seen: %v", e.LeastSeen)
	}
	alike, _ := Expect(five, 1, 0)
	for _, fewer := range []float64{0, 0.2} {
		if as, _ := Expect(five, fewer, 0); math.Abs(as.Level.Hi-alike.Level.Hi) > 1e-9 {
			t.Errorf("more rounds than earlier runs had do not make runs more alike: %+v", as)
		}
	}
	floor, _ := Expect([]float64{5, 5, 5, 5, 5}, 1, 0.03)
	near(t, "floor", floor.Level.Hi/5, 1.03, 1e-9)
	near(t, "floor", floor.Level.Lo/5, 1/1.03, 1e-9)
	if e.Outside(e.Level.Lo) != 0 || e.Outside(e.Level.Hi) != 0 || e.Outside(e.Level.Lo*0.999) != -1 || e.Outside(e.Level.Hi*1.001) != 1 {
		t.Error("what lies on the limit is within")
	}
	// Welch: logs 0, 2 and 1, 2, 3: variances 2 and 1, SE √(2/2 + 1/3), DF (4/3)²/(1/1 + (1/9)/2).
	c := compared(t, []float64{1, math.Exp(2)}, []float64{math.E, math.Exp(2), math.Exp(3)}, Design{})
	near(t, "SE", c.SE, math.Sqrt(4/3.), 1e-9)
	near(t, "DF", c.DF, (16/9.)/(1+1/18.), 1e-9)
	near(t, "spread", c.Spread, math.Sqrt((2+2)/3.), 1e-9) // (1·2 + 2·1)/3
	near(t, "ratio", math.Log(c.Ratio.Center), 1, 1e-9)
	if c.Ratio.N != 2 || c.Method != WelchT {
		t.Errorf("%+v", c)
	}
	// Pairs: differences 1, 2, 3: SE 1/√3, DF 2, t(0.975; 2) = 4.3026527.
	p := compared(t, []float64{1, 1, 1}, []float64{math.E, math.Exp(2), math.Exp(3)}, Design{Paired: true})
	near(t, "SE of pairs", p.SE, 1/math.Sqrt(3), 1e-9)
	near(t, "pairs, low", math.Log(p.Ratio.Lo), 2-4.3026527/math.Sqrt(3), 1e-6)
	near(t, "pairs, p", p.P, 2*(1-studentCDF(2*math.Sqrt(3), 2)), 1e-6)
	if p.DF != 2 || p.Spread != 1 && math.Abs(p.Spread-1) > 1e-9 {
		t.Errorf("%+v", p)
	}
	// One round on a side: its ratio, no interval; the other side's spread is known.
	one := compared(t, []float64{1}, []float64{math.E, math.Exp(3)}, Design{})
	if one.Method != NoTest || one.P != 1 || one.Ratio.N != 1 || one.Ratio.Lo != one.Ratio.Hi || math.Abs(one.Spread-math.Sqrt2) > 1e-9 || math.Abs(math.Log(one.Ratio.Center)-2) > 1e-9 {
		t.Errorf("%+v", one)
	}
}

// From seven rounds per side on the ranks are tested, unless Holm leaves them no room: 2/C(14,7) times
// 42 figures is 0.0245, times 43 is 0.0251.
func TestRanksHaveRoom(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5, 6, 7}, []float64{11, 12, 13, 14, 15, 16, 17}
	for _, c := range []struct {
		a, b    []float64
		figures int
		want    Method
	}{
		{a, b, 1, RankSum}, {a[:6], b, 1, WelchT}, {a, b[:6], 1, WelchT}, {a, b, 42, RankSum}, {a, b, 43, WelchT},
	} {
		if got := compared(t, c.a, c.b, Design{Figures: c.figures}).Method; got != c.want {
			t.Errorf("%d and %d rounds, %d figures: %s, want %s", len(c.a), len(c.b), c.figures, got, c.want)
		}
	}
	many := func(n int, from float64) []float64 {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = from + float64(i)
		}
		return xs
	}
	for n, want := range map[int]Method{50: RankSum, 51: WelchT} {
		if got := compared(t, many(n, 1), many(7, 9), Design{}).Method; got != want {
			t.Errorf("%d rounds: %s", n, got)
		}
	}
	for n, want := range map[int]Method{6: PairedT, 7: SignedRank, 50: SignedRank, 51: PairedT} {
		if got := compared(t, many(n, 1), many(n, 9), Design{Paired: true}).Method; got != want {
			t.Errorf("%d pairs: %s", n, got)
		}
	}
	// 2^-6 = 0.0156 has room for one figure, for two it is 0.031.
	if got := compared(t, many(7, 1), many(7, 9), Design{Paired: true, Figures: 2}).Method; got != PairedT {
		t.Error(got)
	}
	near(t, "least p", leastRankSum(3, 4), 2/35., 1e-12)
	// Ranks of 1, -2, 3: positive 1 + 3 = 4 of 6; P(T <= 2) = 3/8 on each side.
	p, center := signedRank([]float64{1, -2, 3})
	near(t, "p", p, 6/8., 1e-12)
	near(t, "centre", center.Center, 0.75, 1e-12) // Walsh: -2, -0.5, 0.5, 1, 2, 3
	// Ties share ranks: 1, 1, -1, 2 have ranks 2, 2, 2, 4, positive 8 of 10, so P(T <= 2) = 3/16.
	p, _ = signedRank([]float64{1, 1, -1, 2})
	near(t, "p with ties", p, 2*3/16., 1e-12)
	if p, _ := signedRank([]float64{0, 0, 0}); p != 1 {
		t.Error(p)
	}
	e := middle([]float64{5, 1, 4, 2, 3}, 1, 7)
	if e.Center != 3 || e.Lo != 2 || e.Hi != 4 || e.N != 7 {
		t.Errorf("%+v", e)
	}
	if e := middle([]float64{5, 1, 4, 2, 3}, 9, 7); e.Lo != 3 || e.Hi != 3 {
		t.Errorf("%+v", e)
	}
	if e := middle([]float64{1, 2}, 9, 1); e.Lo != 1 || e.Hi != 2 {
		t.Errorf("%+v", e)
	}
}

// Precision: logs 0, 0.1, 0.2, 0.3, 0.4 have a standard deviation of 0.1581139.
func TestPrecisionByHand(t *testing.T) {
	xs := make([]float64, 5)
	for i := range xs {
		xs[i] = math.Exp(float64(i) / 10)
	}
	p, err := PrecisionOf(xs, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "spread", p.Spread, 0.1581139, 1e-6)
	near(t, "half", p.Half, math.Expm1(1.15*2.7764451*0.1581139/math.Sqrt(5)), 1e-6)
	// 1.15 t(N-1) 0.1581139/√N <= ln 1.05 = 0.04879: N = 57 gives 0.04825, 56 gives 0.04870, 55 0.04916.
	if p.Planned != 56 {
		t.Errorf("%+v", p)
	}
	if few, _ := PrecisionOf(xs[:4], 0.05); !math.IsInf(few.Half, 1) || few.Spread == 0 {
		t.Errorf("%+v", few)
	}
	if _, err := PrecisionOf([]float64{1, 0}, 0.05); err == nil {
		t.Error("a zero")
	}
	if endless, _ := PrecisionOf(xs, 1e-6); endless.Planned != 0 {
		t.Errorf("%+v", endless)
	}
	c := Comparison{SE: 0.01, DF: 8}
	near(t, "least seen", c.LeastSeen(0.05), math.Expm1((2.3060041+0.8888895)*0.01), 1e-7)
	if !math.IsInf((Comparison{DF: 8}).LeastSeen(0.05), 1) || !math.IsInf((Comparison{SE: 1}).LeastSeen(0.05), 1) {
		t.Error("nothing could have been seen")
	}
	// Pairs: t(N-1) over √N; spread 3 %, 5 %: six give (2.5706 + 0.9195) 0.03/√6 = 0.0427, five 0.0499, of ln 1.05 = 0.0488.
	if got := (Comparison{Spread: 0.03, Paired: true}).RoundsToSee(0.05, 0.05); got != 6 {
		t.Errorf("%d pairs", got)
	}
	if n := leastFrom(3, func(n int) bool { return n >= 17 }); n != 17 {
		t.Error(n)
	}
	if n := leastFrom(3, func(int) bool { return true }); n != 3 {
		t.Error(n)
	}
	if n := leastFrom(3, func(n int) bool { return n >= 1000 }); n != 1000 {
		t.Error(n)
	}
	if n := leastFrom(3, func(int) bool { return false }); n != 1001 {
		t.Error(n)
	}
	// Up to ten values the trend is exact, from eleven on, or with ties, by the normal distribution.
	up := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	near(t, "exact", first(Trend(up[:10])), 2/3628800., 1e-12)
	near(t, "normal", first(Trend(up)), 2*normal().CDF(-(55-1)/math.Sqrt(11*10*27/18.)), 1e-12)
	near(t, "ties", first(Trend([]float64{1, 1, 2})), 2*normal().CDF(-(2-1)/math.Sqrt(3*2*11/18.)), 1e-12)
	near(t, "of three", first(Trend([]float64{1, 2, 3})), 2/6., 1e-12)
	if _, d := Trend([]float64{3, 2, 1}); d != -3 {
		t.Error(d)
	}
	// Median 3, distances 2, 1, 0, 1, 97: 1.4826 times 1 times 3.5 is 5.19.
	for far, want := range map[float64]int{8.18: 0, 8.2: 1} {
		if got := Apart([]float64{1, 2, 3, 4, far}); len(got) != want {
			t.Errorf("%v: %v", far, got)
		}
	}
}

func first(p, _ float64) float64 { return p }

// Seconds of 90 I/Os of 1 and 10 of 5: the 90 % quantile is 1, the 91 % one 5.
func TestQuantileOfByHand(t *testing.T) {
	second := []Weighted{{1, 90}, {5, 10}}
	seconds := slices.Repeat([][]Weighted{second}, 20)
	for q, want := range map[float64]float64{0.5: 1, 0.9: 1, 0.91: 5, 0.99: 5} {
		if e := QuantileOf(seconds, q); e.Center != want {
			t.Errorf("%v: %+v", q, e)
		}
	}
	if e := QuantileOf(seconds[:9], 0.5); e.N != 1 || len(e.Doubts) != 1 || e.Doubts[0] != "too few seconds for an interval" {
		t.Errorf("%+v", e)
	}
	if e := QuantileOf(seconds[:10], 0.5); len(e.Doubts) != 0 {
		t.Errorf("%+v", e)
	}
	// All seconds are alike, so the run is worth what a binomial of all its 2,000 I/Os says, times
	// (1.96/t)²: with 20 batches t(0.975; 19) = 2.0930241, and 2000 × 0.876923 = 1753.8.
	if e := QuantileOf(seconds, 0.95); e.N != 1753 {
		t.Errorf("%+v", e)
	}
	// Seconds of which every other has twice the share above: batches vary by 5 of 15 per cent.
	half := [][]Weighted{}
	for i := range 20 {
		n := 5 + 20*float64(i%2)
		half = append(half, []Weighted{{1, 100 - n}, {5, n}})
	}
	se, k := shareError(half, 1)
	if k != 20 {
		t.Error(k)
	}
	near(t, "share's error", se, math.Sqrt(20*0.01/19.)/math.Sqrt(20), 1e-9) // ± 0.1 around 0.15, alternating
	lo, hi := shareLimits(0.5, 2e4)
	near(t, "normal, low", lo, 0.5-1.96*math.Sqrt(0.25/2e4), 1e-12)
	near(t, "normal, high", hi, 0.5+1.96*math.Sqrt(0.25/2e4), 1e-12)
	// Clopper and Pearson for 5 of 10: 0.1871 to 0.8129.
	lo, hi = shareLimits(0.5, 10)
	near(t, "exact, low", lo, 0.1871, 5e-5)
	near(t, "exact, high", hi, 0.8129, 5e-5)
	// None of 10: 0 to 0.3085.
	lo, hi = shareLimits(0, 10)
	near(t, "none, high", hi, 0.3085, 5e-5)
	if lo > 1e-6 {
		t.Error(lo)
	}
	near(t, "at most 1", second0(shareLimits(1, 2e4)), 1, 0)
	if got := pool([][]Weighted{{{5, 1}, {1, 2}}, {{1, 3}, {9, 0}}}); !slices.Equal(got, []Weighted{{1, 5}, {5, 1}}) {
		t.Errorf("%v", got)
	}
	for q, want := range map[float64]float64{0: 1, 0.5: 1, 0.51: 2, 0.75: 2, 0.76: 3, 1: 3, 2: 3} {
		if got := weightedQuantile([]Weighted{{1, 2}, {2, 1}, {3, 1}}, 4, q); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	near(t, "t of many", tQuantile(0.975, 1e6), 1.959964, 1e-5)
	near(t, "t of 4", tQuantile(0.975, 4), 2.7764451, 1e-6)
	near(t, "p of many", tTwoSided(1.959964, 1e6), 0.05, 1e-6)
	near(t, "p of 4", tTwoSided(-2.7764451, 4), 0.05, 1e-6)
	near(t, "p of infinity", tTwoSided(math.Inf(-1), 4), 0, 0)
}

func second0(_, hi float64) float64 { return hi }

// A share by hand: of the second ones the upper quartile is 3 (place int(0.75 · 7) = 5 of 0 to 7);
// seven of eight first ones lie beyond it: (0.875 - 0.25)/0.75.
func TestShareByHand(t *testing.T) {
	again := []float64{1, 1, 2, 2, 3, 3, 4, 5}
	first := []float64{30, 30, 30, 30, 30, 30, 30, 3}
	p := PairedShare(first, again, 1)
	dev := math.Sqrt(0.875*0.125/8+0.75*0.25/8) / 0.75
	if p.Pairs != 8 || p.Over != 3 || p.Again != 2 || p.First != 30 {
		t.Errorf("%+v", p)
	}
	near(t, "share", p.Share, 0.625/0.75, 1e-12)
	near(t, "low", p.Low, 0.625/0.75-1.96*dev, 1e-12)
	near(t, "high", p.High, 1, 0)
	if !p.Claimed {
		t.Errorf("%+v", p)
	}
	// far is 3 + max(least, half of 2): seven of 30 lie beyond 4, and one of again; not beyond 40.
	if far := PairedShare(first, again, 40); far.Claimed {
		t.Errorf("%+v", far)
	}
	if p := PairedShare(append(first, 9, 9), again, 1); p.Pairs != 8 {
		t.Errorf("%+v", p)
	}
	five := []float64{5, 1, 4, 2, 3} // medians are at place int(0.5 · 4), the quartile at int(0.75 · 4)
	if p := PairedShare(five, []float64{50, 10, 40, 20, 30}, 1); p.First != 3 || p.Again != 30 || p.Over != 40 {
		t.Errorf("%+v", p)
	}
	near(t, "beyond", beyond([]float64{1, 2, 3, 4}, 2), 0.5, 0)
	if clip(-1) != 0 || clip(2) != 1 || clip(0.5) != 0.5 {
		t.Error("clip")
	}
}

// A curve through points of its own: R0 1 ms, at most 10,000, and a bend of 3.
func TestCurveByHand(t *testing.T) {
	truth := Curve{R0: 0.001, Cap: 10000, P: 3}
	// 1/X³ = (R0/N)³ + 1/C³: at N = 10 both are 1e-12, so X = (2e-12)^(-1/3).
	near(t, "at the bend", truth.At(10), math.Pow(2e-12, -1./3), 1e-6)
	near(t, "far below", truth.At(0.1), 100, 1e-3)
	near(t, "far above", truth.At(1000), 10000, 1e-2)
	var depths, xs []float64
	for n := 1.0; n <= 64; n *= 2 {
		depths, xs = append(depths, n), append(xs, truth.At(n))
	}
	c, err := FitCurve(depths, xs)
	if err != nil || c.P != 3 || math.Abs(c.R0/0.001-1) > 1e-4 || math.Abs(c.Cap/10000-1) > 1e-4 || c.Misfit > 1e-5 || c.Falls != 0 || c.Beyond != 0 {
		t.Errorf("%+v %v", c, err)
	}
	// 95 % of X(64): (N/R0)^-3 = (0.95 X(64))^-3 - C^-3.
	goal := 0.95 * truth.At(64)
	knee := 0.001 * math.Pow(math.Pow(goal, -3)-1e-12, -1./3)
	if c.Knee < knee*0.999 || c.Knee > knee*1.008 {
		t.Errorf("knee %v, want %v", c.Knee, knee)
	}
	if clamp(3, 2) != 2 || clamp(-3, 2) != -2 || clamp(1, 2) != 1 {
		t.Error("clamp")
	}
	// A fall of 10 % at the end is none; of more the end is the top.
	for last, falls := range map[float64]bool{0.91: false, 0.89: true} {
		ys := slices.Clone(xs)
		ys[6] = last * ys[5]
		c, err := FitCurve(depths, ys)
		if err != nil || (c.Falls > 0) != falls || falls && (math.Abs(c.Falls-(1-last)) > 1e-9 || c.Beyond != 32) {
			t.Errorf("%v: %+v %v", last, c, err)
		}
	}
	for n, ok := range map[int]bool{3: false, 4: true} {
		if _, err := FitCurve(depths[:n], xs[:n]); (err == nil) != ok {
			t.Errorf("%d depths: %v", n, err)
		}
	}
}

// Loads by hand: the geometric middle where the ends are more than a factor of two apart, else the
// arithmetic one.
func TestSearchStepsByHand(t *testing.T) {
	s := Search{Low: 100, High: 10000, Within: 0.03}
	next := func(s Search, probes ...Probe) float64 {
		load, _ := s.Next(probes)
		return load
	}
	good, bad := func(l float64) Probe { return Probe{Load: l, Over: -1} }, func(l float64) Probe { return Probe{Load: l, Over: 1} }
	near(t, "first", next(s), 1000, 1e-9)
	near(t, "above", next(s, good(1000)), math.Sqrt(1000*10000), 1e-9)
	near(t, "below", next(s, bad(1000)), math.Sqrt(100*1000), 1e-9)
	near(t, "within a factor of two", next(Search{Low: 1000, High: 2000, Within: 0.03}), 1500, 1e-9)
	near(t, "in steps", next(Search{Low: 1000, High: 2000, Within: 0.03, Step: 400}), 1600, 1e-9)
	near(t, "beyond two", next(Search{Low: 1000, High: 2001, Within: 0.03}), math.Sqrt(1000*2001), 1e-9)
	// A miss that was seen once is looked at again before the end.
	narrow := Search{Low: 100, High: 103, Within: 0.03}
	near(t, "the low end", next(narrow, bad(103)), 100, 1e-9)
	near(t, "once more", next(narrow, bad(103), good(100)), 103, 1e-9)
	if _, b := narrow.Next([]Probe{bad(103), good(100), bad(103)}); !b.Done || b.Low != 100 || b.High != 103 {
		t.Errorf("%+v", b)
	}
	near(t, "more was met above, of little", next(Search{Low: 0.1, High: 1, Within: 0.03}, bad(0.5), good(0.8)), 0.5, 1e-9)
	near(t, "more was met above", next(s, bad(1000), good(2000)), 1000, 1e-9)
	for name, c := range map[string]struct {
		probes []Probe
		want   outcome
	}{
		"far above":       {[]Probe{{Over: 0.31}}, missed}, // two standard errors of 0.15
		"near":            {[]Probe{{Over: 0.29}}, undecided},
		"far below":       {[]Probe{{Over: -0.31}}, met},
		"two that agree":  {[]Probe{{Over: 0.15}, {Over: 0.15}}, missed}, // 2 · 0.1/√2 = 0.141
		"two, nearer":     {[]Probe{{Over: 0.14}, {Over: 0.14}}, undecided},
		"two that differ": {[]Probe{{Over: 0.5}, {Over: -0.1}}, undecided}, // mean 0.2, spread 0.42
		"four":            {[]Probe{{Over: 0.01}, {Over: 0.01}, {Over: 0.01}, {Over: 0.01}}, missed},
		"four on it":      {[]Probe{{Over: 0}, {Over: 0}, {Over: 0}, {Over: 0}}, met},
		"behind":          {[]Probe{{Behind: true, Over: -9}}, missed},
		"not valid":       {[]Probe{{Over: math.NaN()}}, undecided},
		"never valid":     {slices.Repeat([]Probe{{Over: math.NaN()}}, 4), unusable},
		"once valid":      {append(slices.Repeat([]Probe{{Over: math.NaN()}}, 3), Probe{Over: -0.01}), met},
	} {
		if got := decide(c.probes); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The two humps by hand: bins of an eighth of an octave from the smallest value.
func TestHumpsByHand(t *testing.T) {
	hist := []Weighted{{100, 900}, {400, 100}}
	m, two := Bimodal(hist)
	if !two || m.Low != 100 || m.High != 400 || math.Abs(m.LowShare-0.9) > 1e-12 || math.Abs(m.HighShare-0.1) > 1e-12 || m.Dip != 0 {
		t.Errorf("%v %+v", two, m)
	}
	// The valley runs from bin 2 to 14 of 0 to 16; its middle, 8, is an octave above 100, and a half.
	near(t, "split", m.Split, 100*math.Exp2(8.5/8), 1e-9)
	for share, want := range map[float64]bool{0.049: false, 0.051: true, 0.951: false, 0.949: true} {
		if _, two := Bimodal([]Weighted{{100, 1e6 * (1 - share)}, {400, 1e6 * share}}); two != want {
			t.Errorf("%v: %v", share, two)
		}
	}
	values := []Weighted{{1, 1}, {2, 2}, {3, 1}}
	if weight := weightOf(values); weight != 4 || weightedQuantile(values, weight, 0.5) != 2 {
		t.Errorf("%v %v", weight, weightedQuantile(values, weight, 0.5))
	}
	if median := weightedQuantile([]Weighted{{1, 2}, {2, 2}}, 4, 0.5); median != 1 {
		t.Error(median)
	}
}

// SNIA's window by hand, at its limits.
func TestWindowByHand(t *testing.T) {
	ten := func(before float64) []float64 {
		return append(slices.Repeat([]float64{before}, 5), slices.Repeat([]float64{100}, 5)...)
	}
	for before, want := range map[float64]string{
		100 / 1.0499: "", 100 / 1.0501: "still rising, by 5.0 % in five rounds", 100 / 0.9501: "", 100 / 0.9499: "still falling, by 5.0 % in five rounds",
	} {
		if w := WindowOf(ten(before)); w.Why != want || w.Settled != (want == "") || !w.Steady {
			t.Errorf("%v: %+v, want %q", before, w, want)
		}
	}
	if w := WindowOf(ten(100)[1:]); w.Why != "9 of 10 rounds" || w.Settled {
		t.Errorf("%+v", w)
	}
	if w := WindowOf(ten(100)[6:]); w.Why != "4 of 5 rounds" || w.Steady {
		t.Errorf("%+v", w)
	}
}

func TestEstimateInJSON(t *testing.T) {
	for text, want := range map[string]Estimate{
		`{"center":5,"lo":null,"hi":null,"n":1}`:                     {Center: 5, Lo: 5, Hi: 5, N: 1},
		`{"center":5,"lo":4,"hi":7,"n":3}`:                           {Center: 5, Lo: 4, Hi: 7, N: 3},
		`{"center":null,"lo":null,"hi":null,"n":0}`:                  {}, // of nothing
		`{"center":0,"lo":null,"hi":null,"n":1}`:                     {N: 1},
		`{"center":5,"lo":null,"hi":null,"n":3,"no_interval":"2 s"}`: {Center: 5, Lo: 5, Hi: 5, N: 3, None: "2 s"},
	} {
		var e Estimate
		if err := json.Unmarshal([]byte(text), &e); err != nil || e.Center != want.Center || e.Lo != want.Lo || e.Hi != want.Hi || e.N != want.N || e.None != want.None {
			t.Errorf("%s: %+v %v", text, e, err)
		}
		if back, err := json.Marshal(e); err != nil || string(back) != text {
			t.Errorf("%s, %v; want %s", back, err, text)
		}
	}
	e := Estimate{Center: 10, Lo: 8, Hi: 13, N: 2}
	if !e.HasInterval() || e.Rel() != 0.25 {
		t.Errorf("%+v %v", e, e.Rel())
	}
	if (Estimate{Center: 10, Lo: 8, Hi: 13, N: 1}).Rel() != 0 || (Estimate{Lo: -1, Hi: 1, N: 5}).Rel() != 0 || (Estimate{Center: 10, Lo: 8, Hi: 13, N: 2, None: "x"}).HasInterval() {
		t.Error("estimates without an interval")
	}
}

// Runs that may stop: on their bound after ten seconds twice in a row, else after a minute.
func TestSettledByHand(t *testing.T) {
	o := StopOptions{Target: 0.02, Bound: 100}
	flat := slices.Repeat([]float64{100}, 200)
	if s := SettledBy(flat, o); s.At != 13 || !s.Pinned || s.AtBurst || s.From != 0 || s.Why != "" {
		t.Errorf("%+v", s)
	}
	o.Least = 17
	if s := SettledBy(flat, o); s.At != 25 { // looks at 20 and 25
		t.Errorf("%+v", s)
	}
	o = StopOptions{Target: 0.02}
	if s := SettledBy(flat, o); s.At != 75 && s.At != 94 || s.Pinned {
		t.Errorf("%+v", s)
	}
	o = StopOptions{Target: 0.02, Bound: 100, Sustained: 98}
	if s := SettledBy(flat, o); !s.AtBurst {
		t.Errorf("%+v", s)
	}
	o.Sustained = 98.1
	if s := SettledBy(flat, o); s.AtBurst { // 1.02 · 98.1 are 100.06
		t.Errorf("%+v", s)
	}
	for bound, want := range map[float64]bool{0: false, 98.04: true, 98: false, 102.04: true, 102.1: false, -1: false} {
		if got := pinned(flat[:20], 100, bound); got != want {
			t.Errorf("a bound of %v: %v", bound, got)
		}
	}
	if s := SettledBy(flat[:9], o); s.At != 0 || s.Why != "9 seconds: at least 10 are needed" {
		t.Errorf("%+v", s)
	}
	if s := SettledBy(flat[:10], o); s.At != 0 || s.Why != "not looked at twice" {
		t.Errorf("%+v", s)
	}
	if s := SettledBy(flat[:12], o); s.At != 0 || s.Why != "not looked at twice" {
		t.Errorf("%+v", s)
	}
	steps := slices.Concat(slices.Repeat([]float64{100}, 40), slices.Repeat([]float64{50}, 40), slices.Repeat([]float64{100}, 40))
	if s, ok := lookAt(steps, o); ok || s.Why != "still warming up" {
		t.Errorf("%+v", s)
	}
	late := slices.Concat(slices.Repeat([]float64{100}, 70), slices.Repeat([]float64{50}, 65))
	if s, ok := lookAt(late, StopOptions{Target: 0.02}); ok || s.Why != "still warming up" || s.From != 72 { // batches of three

		t.Errorf("%+v", s)
	}
	early := slices.Concat(slices.Repeat([]float64{50}, 60), slices.Repeat([]float64{100}, 70))
	if s, ok := lookAt(early, StopOptions{Target: 0.02}); !ok || s.From != 61 || s.Estimate.Center != 100 {
		t.Errorf("%+v", s)
	}
	if s, ok := lookAt(flat[:59], StopOptions{Target: 0.02}); ok || s.Why != "59 steady seconds: at least 60 are needed" {
		t.Errorf("%+v", s)
	}
	if _, ok := lookAt(flat[:60], StopOptions{Target: 0.02}); !ok {
		t.Error("a minute is enough")
	}
}
