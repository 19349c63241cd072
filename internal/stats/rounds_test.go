package stats

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWelchKnown(t *testing.T) {
	// R: t.test(log(c(100,102,101)), log(c(110,108,112))): t -8.37, df 3.43, p 0.00218
	c := compared(t, []float64{100, 102, 101}, []float64{110, 108, 112}, Design{})
	near(t, "ratio", c.Ratio.Center, math.Cbrt(110*108*112)/math.Cbrt(100*102*101), 1e-12)
	if c.Method != WelchT || c.Ratio.N != 3 || !(c.Ratio.Lo < c.Ratio.Center && c.Ratio.Center < c.Ratio.Hi) {
		t.Errorf("%+v", c)
	}
	score := math.Log(c.Ratio.Center) / c.SE
	near(t, "p", c.P, 2*(1-studentCDF(score, c.DF)), 1e-9)
}

// studentCDF integrates the density by Simpson's rule: another way than the one tested.
func studentCDF(x, df float64) float64 {
	density := func(u float64) float64 {
		a, _ := math.Lgamma((df + 1) / 2)
		b, _ := math.Lgamma(df / 2)
		return math.Exp(a-b) / math.Sqrt(df*math.Pi) * math.Pow(1+u*u/df, -(df+1)/2)
	}
	const n = 20000
	h, sum := x/n, density(0)+density(x)
	for i := 1; i < n; i++ {
		sum += density(float64(i)*h) * float64(2+2*(i%2))
	}
	return 0.5 + sum*h/3
}

func TestPairsKnown(t *testing.T) {
	a := []float64{100, 200, 300, 400}
	b := []float64{110, 210, 330, 420}
	c := compared(t, a, b, Design{Paired: true})
	if c.Method != PairedT || c.DF != 3 {
		t.Errorf("%+v", c)
	}
	// Wilcoxon's table: 7 pairs that all agree have p 2/2^7.
	a = []float64{100, 100, 100, 100, 100, 100, 100}
	b = []float64{101, 102, 103, 104, 105, 106, 107}
	c = compared(t, a, b, Design{Paired: true, Figures: 1})
	near(t, "p", c.P, 2.0/128, 1e-12)
	near(t, "center", c.Ratio.Center, 1.04, 1e-3)
	if c.Method != SignedRank || c.Ratio.Lo < 1.01-1e-9 || c.Ratio.Hi > 1.07+1e-9 {
		t.Errorf("%+v", c)
	}
	// With ten figures under Holm it could not speak: t it is (T20b).
	if c = compared(t, a, b, Design{Paired: true, Figures: 10}); c.Method != PairedT {
		t.Errorf("%+v", c)
	}
}

func TestSignedRankCDF(t *testing.T) {
	// Hollander and Wolfe, table A.4: n = 5, P(T+ >= 14) = .062; n = 10, P(T+ >= 45) = .042.
	near(t, "5", 1-signedRankCDF(5)[13], 2.0/32, 1e-12)
	near(t, "10", 1-signedRankCDF(10)[44], .042, 5e-4)
	near(t, "whole", signedRankCDF(12)[78], 1, 1e-12)
}

func TestRankSumKnown(t *testing.T) {
	// Hollander and Wolfe's interval for m = 5, n = 5: from the 3rd smallest to the 3rd largest of
	// 25 differences.
	p, shift := rankSum([]float64{0, 1, 2, 3, 4}, []float64{2, 3, 4, 5, 6})
	near(t, "shift", shift.Center, 2, 1e-12)
	near(t, "lo", shift.Lo, -1, 1e-12)
	near(t, "hi", shift.Hi, 5, 1e-12)
	if p < 0.05 || p > 0.3 {
		t.Errorf("p %v", p)
	}
	near(t, "least p of 7 v 7", leastRankSum(7, 7), 2.0/3432, 1e-15)
}

func TestCompareRoundsRefuses(t *testing.T) {
	good := []float64{1, 2, 3}
	for name, c := range map[string]struct {
		a, b []float64
		d    Design
		want string
	}{
		"nothing":  {nil, good, Design{}, "no rounds"},
		"zero":     {good, []float64{1, 0, 2}, Design{}, "round 2: 0 cannot be compared"},
		"NaN":      {[]float64{math.NaN()}, good, Design{}, "round 1: NaN"},
		"infinite": {good, []float64{math.Inf(1)}, Design{}, "+Inf"},
		"negative": {good, []float64{-1}, Design{}, "-1"},
		"no pairs": {good, []float64{1, 2}, Design{Paired: true}, "3 and 2 rounds are not pairs"},
	} {
		if _, err := CompareRounds(c.a, c.b, c.d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	same := compared(t, []float64{5, 5, 5}, []float64{6, 6, 6}, Design{})
	if answer, _ := same.Answer(same.P, .03); answer != Unknown || len(same.Ratio.Doubts) != 1 {
		t.Errorf("rounds without spread: %s %+v", answer, same)
	}
	if _, err := json.Marshal(same); err != nil {
		t.Error(err)
	}
}

// What is said of b against a is what is said of a against b, turned round; a change of unit
// changes nothing.
func TestCompareRoundsMirrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.SliceOfN(rapid.Float64Range(1, 1e6), 1, 20)
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		d := Design{Figures: rapid.IntRange(1, 30).Draw(t, "figures"), Paired: rapid.Bool().Draw(t, "paired")}
		if d.Paired {
			n := min(len(a), len(b))
			a, b = a[:n], b[:n]
		}
		keep := slices.Clone(a)
		x, err1 := CompareRounds(a, b, d)
		y, err2 := CompareRounds(b, a, d)
		if err1 != nil || err2 != nil || !slices.Equal(a, keep) {
			t.Fatal(err1, err2)
		}
		off := func(u, v float64) bool { return math.Abs(math.Log(u*v)) > 1e-6 }
		if math.Abs(x.P-y.P) > 1e-9 || off(x.Ratio.Lo, y.Ratio.Hi) || off(x.Ratio.Center, y.Ratio.Center) || x.Method != y.Method {
			t.Fatalf("%+v\n%+v", x, y)
		}
		if !(x.P >= 0 && x.P <= 1) || x.Ratio.Lo > x.Ratio.Center*(1+1e-9) || x.Ratio.Center > x.Ratio.Hi*(1+1e-9) {
			t.Fatalf("%+v", x)
		}
		for i := range a {
			a[i] *= 1024
		}
		for i := range b {
			b[i] *= 1024
		}
		// Ties of pairs may come and go with rounding: then ranks change a little.
		if z, err := CompareRounds(a, b, d); err != nil || math.Abs(z.P-x.P) > 0.05 || off(z.Ratio.Lo, 1/x.Ratio.Lo) {
			t.Fatalf("%+v\n%+v %v", x, z, err)
		}
	})
}

func TestHolm(t *testing.T) {
	// Holm's own example of three: 0.01, 0.03, 0.04 become 0.03, 0.06, 0.06.
	got := Holm([]float64{0.04, 0.01, 0.03})
	for i, want := range []float64{0.06, 0.03, 0.06} {
		near(t, "holm", got[i], want, 1e-12)
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v", got)
	}
	if len(Holm(nil)) != 0 {
		t.Error("nothing became something")
	}
}

func TestAnswers(t *testing.T) {
	c := Comparison{Method: WelchT, Ratio: Estimate{Center: 1.02, Lo: 1.01, Hi: 1.029, N: 5}}
	for _, x := range []struct {
		lo, hi, p, margin float64
		want              Answer
		within            bool
	}{
		{1.01, 1.029, .01, .03, More, true},
		{1.01, 1.08, .01, .03, More, false},
		{1.01, 1.08, .06, .03, Unknown, false}, // Holm takes the claim away
		{.99, 1.02, .5, .03, Same, true},
		{.90, .95, .001, .03, Less, false},
		{.96, 1.02, .5, .03, Unknown, false},
		{.98, 1.02, .5, .01, Unknown, false},
	} {
		c.Ratio.Lo, c.Ratio.Hi = x.lo, x.hi
		if got, within := c.Answer(x.p, x.margin); got != x.want || within != x.within {
			t.Errorf("%+v: %s %v", x, got, within)
		}
	}
}

// The tables of what can be seen, computed for the specification with another program.
func TestPlans(t *testing.T) {
	for _, c := range []struct {
		spread, delta float64
		want          int
	}{{.01, .02, 6}, {.02, .02, 18}, {.03, .05, 8}, {.05, .05, 18}, {.05, .10, 6}, {.08, .10, 13}, {.01, .10, 3}} {
		if got := (Comparison{Spread: c.spread}).RoundsToSee(c.delta, 0.05); got != c.want {
			t.Errorf("spread %v, change %v: %d rounds, want %d", c.spread, c.delta, got, c.want)
		}
	}
	// Ten scenarios under Holm need twelve rounds where one needs eight.
	if got := (Comparison{Spread: .03}).RoundsToSee(.05, 0.05/10); got != 12 {
		t.Errorf("under Holm: %d", got)
	}
	if (Comparison{}).RoundsToSee(.05, .05) != 0 || (Comparison{Spread: 5}).RoundsToSee(.001, .05) != 0 {
		t.Error("a plan for nothing, or for ever")
	}
	for n, want := range map[int]float64{3: .095, 5: .062, 10: .041} {
		c := Comparison{SE: .03 * math.Sqrt(2/float64(n)), DF: float64(2*n - 2)}
		near(t, "least seen", c.LeastSeen(.05), want, 6e-4)
	}
	// With t(N-1) 18 rounds are planned where the t of the rounds so far plans 29.
	five := []float64{950, 1050, 1000, 940, 1060}
	p, err := PrecisionOf(five, 0.03)
	if err != nil || p.Planned < 17 || p.Planned > 22 || p.Half <= .03 {
		t.Errorf("%+v %v", p, err)
	}
	if p, _ := PrecisionOf(five[:4], 0.03); p.Half <= 1e9 || p.Planned != 0 {
		t.Errorf("four rounds: %+v", p)
	}
}

func TestTrend(t *testing.T) {
	// Exact: six values in order have a chance of 2/6!.
	p, up := Trend([]float64{1, 2, 3, 4, 5, 6})
	near(t, "p", p, 2.0/720, 1e-12)
	if up <= 0 {
		t.Error(up)
	}
	p, up = Trend([]float64{6, 5, 4, 3, 1, 2})
	near(t, "p", p, 2*(1+5)/720.0, 1e-12)
	if up >= 0 {
		t.Error(up)
	}
	if p, _ := Trend([]float64{1, 3, 2, 4, 1.5, 2.5}); p < .3 {
		t.Error(p)
	}
	for _, xs := range [][]float64{nil, {1}, {1, 2}, {5, 5, 5, 5, 5, 5, 5}} {
		if p, _ := Trend(xs); p < .99 {
			t.Errorf("%v: p %v", xs, p)
		}
	}
	long := make([]float64, 40)
	for i := range long {
		long[i] = float64(i) + 3*math.Sin(float64(i))
	}
	if p, _ := Trend(long); p > 1e-6 {
		t.Error(p)
	}
}

func TestApart(t *testing.T) {
	xs := []float64{100, 101, 99, 102, 69, 98}
	if got := Apart(xs); !slices.Equal(got, []int{4}) {
		t.Errorf("%v", got)
	}
	if got := WithoutApart(xs); len(got) != 5 || slices.Contains(got, 69) {
		t.Errorf("%v", got)
	}
	for _, xs := range [][]float64{nil, {1, 2, 3, 900}, {5, 5, 5, 5, 9}, {1, 2, 3, 4, 5}} {
		if got := Apart(xs); got != nil {
			t.Errorf("%v: %v", xs, got)
		}
	}
}

func TestTogether(t *testing.T) {
	got, err := Together([][]float64{{1, 4}, {4, 9}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "round 1", got[0], 2, 1e-12)
	near(t, "round 2", got[1], 6, 1e-12)
	for _, bad := range [][][]float64{nil, {{1, 2}, {1}}, {{1, 0}}} {
		if _, err := Together(bad); err == nil {
			t.Errorf("%v passed", bad)
		}
	}
}

func TestExpectTooFew(t *testing.T) {
	e, err := Expect([]float64{100, 101, 102, 103}, 1, .03)
	if err != nil || e.TooFew != "too few runs to judge (4 of 5)" || e.Outside(1) != 0 || !math.IsInf(e.LeastSeen, 1) {
		t.Errorf("%+v %v", e, err)
	}
	e, err = Expect([]float64{100, 100.1, 100, 99.9, 100}, 1, .03)
	if err != nil || e.Outside(97.5) != 0 || e.Outside(96.9) != -1 || e.Outside(103.1) != 1 {
		t.Errorf("the floor: %+v %v", e, err)
	}
	if _, err := Expect([]float64{1, 2, 0, 3, 4}, 1, .03); err == nil {
		t.Error("a zero passed")
	}
}

func TestWindowEdges(t *testing.T) {
	for _, c := range []struct {
		name         string
		xs           []float64
		steady       bool
		slope, width float64
	}{
		{"flat", []float64{9e9, 100, 100, 100, 100, 100}, true, 0, 0},
		{"slope at its limit", []float64{95, 97.5, 100, 102.5, 105}, true, 0.10, 0.10},
		{"falls", []float64{110, 105, 100, 95, 90}, false, -0.20, 0.20},
		{"range at its limit", []float64{100, 110, 100, 90, 100}, true, -0.08, 0.20},
		{"range", []float64{100, 111, 100, 89, 100}, false, -0.088, 0.22},
		{"too few", []float64{100, 100, 100, 100}, false, 0, 0},
		{"zero", []float64{0, 0, 0, 0, 0}, false, 0, 0},
	} {
		w := WindowOf(c.xs)
		if w.Steady != c.steady || w.Settled {
			t.Errorf("%s: %+v", c.name, w)
		}
		near(t, c.name, w.Slope, c.slope, 1e-9)
		near(t, c.name, w.Range, c.width, 1e-9)
	}
	if w := WindowOf([]float64{130, 128, 126, 124, 122, 120, 118, 116, 114, 112}); w.Settled || w.Why != "still falling, by 7.9 % in five rounds" {
		t.Errorf("%+v", w)
	}
	if w := WindowOf([]float64{100, 101, 99, 100, 100, 101, 100, 99, 100, 100}); !w.Settled || w.Why != "" {
		t.Errorf("%+v", w)
	}
}

func TestFitCurveEdges(t *testing.T) {
	for _, bad := range [][2][]float64{
		{{1, 2, 4}, {1, 2, 3}}, {{1, 2, 4, 3}, {1, 2, 3, 4}}, {{1, 2, 4, 8}, {1, 2, 3}}, {{1, 2, 4, 8}, {1, 0, 3, 4}}, {{0, 1, 2, 4}, {1, 2, 3, 4}},
	} {
		if _, err := FitCurve(bad[0], bad[1]); err == nil {
			t.Errorf("%v passed", bad)
		}
	}
	depths := []float64{1, 2, 4, 8, 16, 32, 64}
	// What never bends has its knee at the end; what is flat from the start has it at the start.
	line, err := FitCurve(depths, []float64{100, 200, 400, 800, 1600, 3200, 6400})
	if err != nil || line.Knee < 58 {
		t.Errorf("%+v %v", line, err)
	}
	flat, err := FitCurve(depths, []float64{100, 100, 100, 100, 100, 100, 100})
	if err != nil || flat.Knee > 1.2 {
		t.Errorf("%+v %v", flat, err)
	}
	falls, err := FitCurve(depths, []float64{1000, 2000, 4000, 7800, 8000, 6000, 5000})
	if err != nil || falls.Beyond != 16 || math.Abs(falls.Falls-.375) > 1e-9 {
		t.Errorf("%+v %v", falls, err)
	}
}

func TestSettledEdges(t *testing.T) {
	if got := Looks(30); !slices.Equal(got, []int{10, 13, 16, 20, 25}) {
		t.Errorf("%v", got)
	}
	for _, xs := range [][]float64{nil, {1, 2, 3}, slices.Repeat([]float64{0}, 100), append(slices.Repeat([]float64{math.NaN()}, 20), 1)} {
		s := SettledBy(xs, StopOptions{Target: .02, Bound: 1000})
		if s.At != 0 || s.Why == "" {
			t.Errorf("%v: %+v", xs, s)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(err)
		}
	}
	// Seconds that are alike but for the first: nothing is to be cut (in the lab 6 s of 10 were,
	// and a stall in second 19 then came before the run was settled).
	alike := append([]float64{1662, 1593, 1599, 1598, 1587, 1603}, slices.Repeat([]float64{1600}, 10)...)
	if s := SettledBy(alike, StopOptions{Target: .02, Bound: 1600}); s.At != 13 || s.From != 0 {
		t.Errorf("%+v", s)
	}
	// Queues of 40 that complete as a whole, 20.4 times a second: seconds of 800 and of 840, which
	// are more than 3 % apart, around a straight line. Noise of as much leaves it.
	lumps, noise := make([]float64, 30), make([]float64, 30)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range lumps {
		lumps[i] = 40 * (math.Floor(20.4*float64(i+1)) - math.Floor(20.4*float64(i)))
		noise[i] = 816 * (1 + .02*r.NormFloat64())
	}
	if !pinned(lumps, 816, 816) || pinned(noise, 816, 816) || pinned(lumps, 816, 900) {
		t.Errorf("%.1f %.1f", wander(lumps), wander(noise))
	}
	// A count of 20 a second cannot vary by less than 5 %: it is pinned all the same.
	slow := slices.Repeat([]float64{20, 20, 21, 20, 19}, 10)
	if s := SettledBy(slow, StopOptions{Target: .02, Bound: 20}); s.At == 0 || !s.Pinned {
		t.Errorf("%+v", s)
	}
}

func TestQuantileOfEdges(t *testing.T) {
	for _, seconds := range [][][]Weighted{nil, {nil, nil}, make([][]Weighted, 30)} {
		if e := QuantileOf(seconds, .99); len(e.Doubts) == 0 || e.Center != 0 {
			t.Errorf("%+v", e)
		}
	}
	one := slices.Repeat([][]Weighted{{{Value: 100, Weight: 1e6}}}, 60)
	if e := QuantileOf(one, .99); e.Lo != 100 || e.Hi != 100 || len(e.Doubts) != 0 {
		t.Errorf("%+v", e)
	}
}
