package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Sides that are measured one after the other, of which none changed: rounds that are independent, that fall
// by 1 % a round throughout, or that depend on the one before. At most 5 of 100 have a word, over 2 to 10
// rounds a side and spreads of 1, 3 and 6 %; without a look at the order it is 55 and 20. What it costs
// stands in docs/evidence/compare.md. PLIMSOLL_PAIRS is how many of each; PLIMSOLL_SEED numbers others.
func TestOrderOfNothing(t *testing.T) {
	each, seed := number("PLIMSOLL_PAIRS", 120), uint64(number("PLIMSOLL_SEED", 0)) //nolint:gosec // a seed
	if testing.Short() {
		each = 20
	}
	for _, c := range []struct {
		name        string
		drift, rho  float64
		change      float64
		least, most float64 // share that has a word
	}{
		{"independent", 0, 0, 0, 0, 0.05},
		{"drift of -1 % a round", 0.01, 0, 0, 0, 0.05},
		{"dependent, 0.6", 0, 0.6, 0, 0, 0.05},
		{"independent, -10 %", 0, 0, -0.10, 0.55, 1},
		{"independent, -20 %", 0, 0, -0.20, 0.80, 1},
	} {
		said, asIfNot, all := 0.0, 0.0, 0.0
		for _, n := range []int{2, 3, 5, 8, 10} {
			for _, sd := range []float64{0.01, 0.03, 0.06} {
				for s := range each {
					rng := rand.New(rand.NewPCG(uint64(s)+seed<<32, uint64(1000*sd)+uint64(1000*n)))
					noise, xs := rng.NormFloat64(), make([]float64, 2*n)
					for i := range xs {
						xs[i] = math.Exp(sd*noise) * math.Pow(1-c.drift, float64(i))
						if i >= n {
							xs[i] *= 1 + c.change
						}
						noise = c.rho*noise + math.Sqrt(1-c.rho*c.rho)*rng.NormFloat64()
					}
					got, err := CompareRounds(xs[:n], xs[n:], Design{Figures: 1})
					if err != nil {
						t.Fatal(err)
					}
					if all++; got.P < 0.05 {
						asIfNot++
					}
					o := OrderOf(xs[:n], xs[n:])
					if got.Widen(o.Memory); got.P < 0.05 && !o.Explains {
						said++
					}
				}
			}
		}
		t.Logf("%s: %.1f %% have a word, without a look at the order %.1f %%", c.name, 100*said/all, 100*asIfNot/all)
		slack := 3 * math.Sqrt(0.05*0.95/all)
		if said/all < c.least-slack || said/all > c.most+slack {
			t.Errorf("%s: %.3f have a word, want %v to %v", c.name, said/all, c.least, c.most)
		}
	}
}
