package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ar1 is a first-order autoregressive series around 1000 with standard deviation 50.
func ar1(rng *rand.Rand, n int, phi float64) []float64 {
	xs := make([]float64, n)
	x := rng.NormFloat64()
	for i := range xs {
		xs[i] = 1000 + 50*x
		x = phi*x + math.Sqrt(1-phi*phi)*rng.NormFloat64()
	}
	return xs
}

// The interval must hold the true mean about as often as it promises, unless a doubt says
// otherwise.
func TestBatchMeansCoversTheMean(t *testing.T) {
	const runs = 2000
	for _, c := range []struct {
		n    int
		phi  float64
		want float64
	}{
		{20, 0, 0.93},
		{60, 0, 0.93},
		{60, 0.3, 0.92},
		{60, 0.6, 0.90},
		{180, 0.3, 0.92},
		{180, 0.6, 0.92},
		{180, 0.9, 0.85},
		{600, 0.6, 0.92},
		{600, 0.9, 0.90},
		{3600, 0.9, 0.92},
		{60, 0.9, 0},
	} {
		rng := rand.New(rand.NewPCG(2026, uint64(c.n)))
		hit, doubted, width := 0, 0, 0.0
		for range runs {
			e := BatchMeans(ar1(rng, c.n, c.phi))
			width += e.Hi - e.Lo
			if len(e.Doubts) > 0 {
				doubted++
			}
			if e.Lo <= 1000 && 1000 <= e.Hi {
				hit++
			}
		}
		cover := float64(hit) / runs
		// The interval of one who knows the true variance of the mean, for comparison.
		ideal := 2 * 1.96 * 50 * math.Sqrt((1+c.phi)/(1-c.phi)/float64(c.n))
		t.Logf("n %4d phi %.1f: covers %.3f, doubted %.3f, width %.2f of ideal", c.n, c.phi, cover, float64(doubted)/runs, width/runs/ideal)
		if cover < c.want {
			t.Errorf("n %d, phi %v: the 95 %% interval holds the mean in %.1f %%, want at least %.1f %%", c.n, c.phi, 100*cover, 100*c.want)
		}
	}
}
