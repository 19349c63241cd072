package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// burst is IOPS of each second with a level per stretch of 60 s and noise of the given share and
// autocorrelation.
func burst(rng *rand.Rand, share, phi float64, levels ...float64) []float64 {
	var xs []float64
	x := rng.NormFloat64()
	for _, level := range levels {
		for range 60 {
			xs = append(xs, level*(1+share*x))
			x = phi*x + math.Sqrt(1-phi*phi)*rng.NormFloat64()
		}
	}
	return xs
}

func TestChangePointsFindsAnExhaustedBurst(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	outliers := burst(rng, 0.02, 0, 3000, 900)
	outliers[20], outliers[21], outliers[90] = 100, 150, 3000 // a stall of two seconds is no level
	constant := slices.Concat(slices.Repeat([]float64{3000}, 30), slices.Repeat([]float64{100}, 30))
	for _, c := range []struct {
		name   string
		xs     []float64
		at     []int
		levels []float64
	}{
		{"gp2 credits used up", burst(rng, 0.02, 0, 3000, 900), []int{60}, []float64{3000, 900}},
		{"a fifth", burst(rng, 0.05, 0, 1000, 800), []int{60}, []float64{1000, 800}},
		{"noise that lasts", burst(rng, 0.05, 0.5, 3000, 900), []int{60}, []float64{3000, 900}},
		{"down and up", burst(rng, 0.05, 0.3, 3000, 1000, 2500), []int{60, 120}, []float64{3000, 1000, 2500}},
		{"outliers", outliers, []int{60}, []float64{3000, 900}},
		{"no noise", constant, []int{30}, []float64{3000, 100}},
		{"short", append(slices.Repeat([]float64{9}, 4), 1, 1, 1, 1), []int{4}, []float64{9, 1}},
		{"constant", slices.Repeat([]float64{3000}, 60), nil, nil},
		{"too short", []float64{9, 9, 9, 9, 1, 1, 1}, nil, nil},
		{"not a number", append(slices.Clone(constant), math.NaN()), nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ChangePoints(c.xs)
			if len(got) != len(c.at) {
				t.Fatalf("%+v, want steps at %v", got, c.at)
			}
			for i, g := range got {
				if d := g.At - c.at[i]; d < -2 || d > 2 || math.Abs(g.Before/c.levels[i]-1) > 0.05 || math.Abs(g.After/c.levels[i+1]-1) > 0.05 {
					t.Errorf("%+v, want a step at %d from %v to %v", g, c.at[i], c.levels[i], c.levels[i+1])
				}
			}
		})
	}
}

func TestChangePointsLeavesNoiseAlone(t *testing.T) {
	for _, c := range []struct {
		n    int
		phi  float64
		most float64 // share of series with a step found
	}{{60, 0, 0.05}, {60, 0.5, 0.05}, {300, 0, 0.05}, {300, 0.5, 0.05}, {300, 0.8, 0.10}} {
		rng := rand.New(rand.NewPCG(7, 8))
		const runs = 300
		found := 0
		for range runs {
			if len(ChangePoints(ar1(rng, c.n, c.phi))) > 0 {
				found++
			}
		}
		t.Logf("n %d phi %v: %.3f", c.n, c.phi, float64(found)/runs)
		if float64(found) > c.most*runs {
			t.Errorf("n %d phi %v: a step in %d of %d series without one", c.n, c.phi, found, runs)
		}
	}
}

func TestChangePointsOfADay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	xs := ar1(rng, 86_400, 0.3)
	for i := 50_000; i < len(xs); i++ {
		xs[i] /= 2
	}
	start := time.Now()
	got := ChangePoints(xs)
	if len(got) != 1 || got[0].At < 49_950 || got[0].At > 50_050 {
		t.Errorf("%+v", got)
	}
	t.Log(time.Since(start))
}

func TestChangePointsMovesWithItsSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		xs := burst(rng, 0.05, 0.2, 3000, rapid.Float64Range(500, 2500).Draw(t, "level"))
		factor := math.Exp2(float64(rapid.IntRange(-8, 8).Draw(t, "factor"))) // exact in binary
		shift := float64(rapid.IntRange(-1000, 1000).Draw(t, "shift"))
		moved := make([]float64, len(xs))
		for i, x := range xs {
			moved[i] = x*factor + shift
		}
		a, b := ChangePoints(xs), ChangePoints(moved)
		if len(a) != len(b) {
			t.Fatalf("%+v\n%+v", a, b)
		}
		for i := range a {
			if a[i].At != b[i].At || math.Abs(a[i].After*factor+shift-b[i].After) > 1e-6*factor*3000 {
				t.Fatalf("%+v\n%+v", a[i], b[i])
			}
		}
	})
}
