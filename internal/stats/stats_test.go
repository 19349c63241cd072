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
	// Student's t with 9 degrees: 2.26216. Values 1..10 alternate about 5.5, so no autocorrelation
	// is left to widen by.
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

func TestQuantile(t *testing.T) {
	xs := []float64{40, 10, 30, 20}
	for q, want := range map[float64]float64{0: 10, 0.25: 17.5, 0.5: 25, 1: 40, -1: 10, 2: 40} {
		near(t, "quantile", Quantile(xs, q), want, 1e-12)
	}
	if !math.IsNaN(Quantile(nil, 0.5)) || xs[0] != 40 {
		t.Error("empty or changed")
	}
}
