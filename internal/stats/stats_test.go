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

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %v, want %v ± %v", what, got, want, tolerance)
	}
}

func TestBatchMeansKnown(t *testing.T) {
	// Student's t with 9 degrees: 2.26216. Values 1..10 alternate about 5.5, so no autocorrelation is left to widen by.
	e := BatchMeans([]float64{1, 10, 2, 9, 3, 8, 4, 7, 5, 6})
	near(t, "center", e.Center, 5.5, 1e-12)
	near(t, "half", (e.Hi-e.Lo)/2, 2.26216*3.02765/math.Sqrt(10), 1e-4)
	if e.N != 10 || len(e.Doubts) != 0 {
		t.Errorf("%+v", e)
	}
}

func TestBatchMeansDoubts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rising := ar1(rng, 60, 0)
	for i := range rising {
		rising[i] += 10 * float64(i)
	}
	alternating := slices.Concat(slices.Repeat([]float64{100}, 30), slices.Repeat([]float64{200}, 30), slices.Repeat([]float64{100}, 30))
	for _, c := range []struct {
		name string
		xs   []float64
		want string // "" for none
	}{
		{"none", nil, "no values"},
		{"one", []float64{3}, "1 value: 10 are needed for an interval"},
		{"few", []float64{3, 4, 5, 3}, "4 values: 10 are needed for an interval to rely on"},
		{"rising", rising, "not steady"},
		{"dependent", alternating, "neighbouring values depend on each other"},
		{"not numbers", append(ar1(rng, 30, 0), math.NaN(), math.Inf(1)), "2 of 32 values are not numbers and were left out"},
		{"good", ar1(rng, 60, 0), ""},
		{"constant", slices.Repeat([]float64{3000}, 60), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := BatchMeans(c.xs)
			all := strings.Join(e.Doubts, "; ")
			if c.want == "" && all != "" || !strings.Contains(all, c.want) {
				t.Errorf("doubts %q, want %q", all, c.want)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestBatchMeansMovesWithItsSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 2, 200).Draw(t, "xs")
		factor := math.Exp2(float64(rapid.IntRange(-10, 10).Draw(t, "factor")))
		shift := rapid.Float64Range(-1e6, 1e6).Draw(t, "shift")
		moved := make([]float64, len(xs))
		for i, x := range xs {
			moved[i] = factor * x
		}
		a, b := BatchMeans(xs), BatchMeans(moved)
		for _, p := range [][2]float64{{a.Center, b.Center}, {a.Lo, b.Lo}, {a.Hi, b.Hi}} {
			if math.Abs(p[0]*factor-p[1]) > 1e-9*factor*1e6 {
				t.Fatalf("scaled by %v: %+v %+v", factor, a, b)
			}
		}
		for i, x := range xs {
			moved[i] = x + shift
		}
		b = BatchMeans(moved)
		if a.N == b.N && (math.Abs(a.Center+shift-b.Center) > 1e-6 || math.Abs((a.Hi-a.Lo)-(b.Hi-b.Lo)) > 1e-4*(1+a.Hi-a.Lo)) {
			t.Fatalf("shifted by %v: %+v %+v", shift, a, b)
		}
		if !(a.Lo <= a.Center && a.Center <= a.Hi) || a.Rel() < 0 && a.Center > 0 {
			t.Fatalf("%+v", a)
		}
	})
}

func TestCompare(t *testing.T) {
	// style.md habit 9: three rounds can never prove a change.
	c := Compare([]float64{24010, 24030, 23990}, []float64{22010, 22030, 21990})
	near(t, "p", c.P, 0.1, 1e-9)
	if c.Different || !strings.Contains(strings.Join(c.Doubts, ";"), "need >= 4 samples") || len(c.Ratio.Doubts) != 1 {
		t.Errorf("%+v", c)
	}
	near(t, "ratio", c.Ratio.Center, 22010.0/24010, 1e-3)
	near(t, "ratio.lo", c.Ratio.Lo, 21990.0/24030, 1e-12)

	// Hollander and Wolfe's interval for m = 5, n = 5: from the 3rd smallest to the 3rd largest of 25 pairs (P(U<=2) = 0.0159).
	c = Compare([]float64{1, 2, 4, 8, 16}, []float64{4, 8, 16, 32, 64})
	near(t, "ratio", c.Ratio.Center, 4, 1e-12)
	near(t, "lo", c.Ratio.Lo, 0.5, 1e-12)
	near(t, "hi", c.Ratio.Hi, 32, 1e-12)
	if c.Different || c.A.Center != 4 || c.B.Center != 16 {
		t.Errorf("%+v", c)
	}

	c = Compare([]float64{100, 101, 102, 103}, []float64{90, 91, 92, 93})
	if !c.Different || c.Ratio.Hi >= 1 || len(c.Doubts) != 0 {
		t.Errorf("%+v", c)
	}
	for name, pair := range map[string][2][]float64{
		"nothing": {nil, {1}}, "equal": {{5, 5, 5, 5}, {5, 5, 5, 5}}, "zero": {{0, 1, 2, 3}, {1, 2, 3, 4}}, "one": {{1}, {2}}, "NaN": {{math.NaN(), 1}, {2}},
	} {
		c := Compare(pair[0], pair[1])
		if c.Different || len(c.Doubts)+len(c.Ratio.Doubts) == 0 {
			t.Errorf("%s: %+v", name, c)
		}
		if _, err := json.Marshal(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompareCoversTheRatio(t *testing.T) {
	const runs = 500
	for _, n := range []int{5, 10, 60, 1100} {
		rng := rand.New(rand.NewPCG(9, uint64(n)))
		hit, runs := 0, min(runs, 10_000/n)
		for range runs {
			a, b := ar1(rng, n, 0), ar1(rng, n, 0)
			for i := range b {
				b[i] *= 1.2
			}
			if r := Compare(a, b).Ratio; r.Lo <= 1.2 && 1.2 <= r.Hi {
				hit++
			}
		}
		if cover := float64(hit) / float64(runs); cover < 0.90 {
			t.Errorf("n %d: the interval holds the ratio in %.3f", n, cover)
		}
	}
}

func TestCompareMirrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.SliceOfN(rapid.Float64Range(1, 1e6), 1, 20)
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		keep := slices.Clone(a)
		x, y := Compare(a, b), Compare(b, a)
		if !slices.Equal(a, keep) {
			t.Fatal("its argument was changed")
		}
		if math.Abs(x.P-y.P) > 1e-9 || math.Abs(x.Ratio.Lo*y.Ratio.Hi-1) > 1e-9 || math.Abs(x.Ratio.Hi*y.Ratio.Lo-1) > 1e-9 {
			t.Fatalf("%+v\n%+v", x, y)
		}
		if x.Ratio.Lo > x.Ratio.Center || x.Ratio.Center > x.Ratio.Hi {
			t.Fatalf("%+v", x.Ratio)
		}
	})
}

func TestQuantile(t *testing.T) {
	xs := []float64{40, 10, 30, 20}
	for q, want := range map[float64]float64{0: 10, 0.25: 17.5, 0.5: 25, 1: 40, -1: 10, 2: 40} {
		near(t, "quantile", Quantile(xs, q), want, 1e-12)
	}
	if !math.IsNaN(Quantile(nil, 0.5)) || xs[0] != 40 {
		t.Error("empty or changed")
	}
}

func TestSteadyState(t *testing.T) {
	for _, c := range []struct {
		name             string
		xs               []float64
		ok               bool
		slope, excursion float64
	}{
		{"flat", []float64{9e9, 100, 100, 100, 100, 100}, true, 0, 0},
		{"slope at its limit", []float64{95, 97.5, 100, 102.5, 105}, true, 0.10, 0.10},
		{"falls", []float64{110, 105, 100, 95, 90}, false, -0.20, 0.20},
		{"excursion at its limit", []float64{100, 110, 100, 90, 100}, true, -0.04 * 2, 0.20},
		{"excursion", []float64{100, 111, 100, 89, 100}, false, -0.088, 0.22},
		{"too few", []float64{100, 100, 100, 100}, false, 0, 0},
		{"zero", []float64{0, 0, 0, 0, 0}, false, 0, 0},
		{"NaN", []float64{1, 1, math.NaN(), 1, 1}, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok, slope, excursion := SteadyState(c.xs, 5)
			if ok != c.ok {
				t.Errorf("ok %v", ok)
			}
			near(t, "slope", slope, c.slope, 1e-12)
			near(t, "excursion", excursion, c.excursion, 1e-12)
		})
	}
}

func BenchmarkCompare50(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := ar1(rng, 50, 0), ar1(rng, 50, 0)
	for b.Loop() {
		Compare(x, y)
	}
}
