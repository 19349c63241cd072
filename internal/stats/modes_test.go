package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
)

// latencies draws n from lognormal humps (median, log standard deviation, weight) and puts them
// into fio's bins.
func latencies(rng *rand.Rand, n int, humps ...[3]float64) []Weighted {
	var h fio.Hist
	for range n {
		u := rng.Float64()
		for _, hump := range humps {
			if u -= hump[2]; u < 0 {
				h.Add(time.Duration(hump[0]*math.Exp(hump[1]*rng.NormFloat64())), 1)
				break
			}
		}
	}
	var out []Weighted
	h.Each(func(bin int, n uint64) { out = append(out, Weighted{float64(bins.Value(bin)), float64(n)}) })
	return out
}

func TestBimodal(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	for _, c := range []struct {
		name      string
		hist      []Weighted
		two       bool
		low, high float64
		share     float64
	}{
		{"cache and disk", latencies(rng, 20000, [3]float64{80e3, 0.2, 0.3}, [3]float64{600e3, 0.3, 0.7}), true, 80e3, 600e3, 0.3},
		{"a slower member", latencies(rng, 20000, [3]float64{500e3, 0.1, 0.75}, [3]float64{1950e3, 0.1, 0.25}), true, 500e3, 1950e3, 0.75},
		{"nanoseconds", latencies(rng, 20000, [3]float64{60, 0.1, 0.5}, [3]float64{400, 0.1, 0.5}), true, 60, 400, 0.5},
		{"far apart", []Weighted{{100, 500}, {1e9, 500}}, true, 100, 1e9, 0.5},
		{"one hump", latencies(rng, 20000, [3]float64{500e3, 0.3, 1}), false, 0, 0, 0},
		{"broad", latencies(rng, 20000, [3]float64{500e3, 1.2, 1}), false, 0, 0, 0},
		{"narrow", latencies(rng, 20000, [3]float64{500e3, 0.01, 1}), false, 0, 0, 0},
		{"nearly one", latencies(rng, 20000, [3]float64{500e3, 0.3, 0.5}, [3]float64{700e3, 0.3, 0.5}), false, 0, 0, 0},
		{"a tail of 2 %", latencies(rng, 20000, [3]float64{500e3, 0.2, 0.98}, [3]float64{9e6, 0.2, 0.02}), false, 0, 0, 0},
		{"few", latencies(rng, 25, [3]float64{80e3, 0.3, 0.5}, [3]float64{600e3, 0.3, 0.5}), false, 0, 0, 0},
		{"one value", []Weighted{{100, 500}}, false, 0, 0, 0},
		{"nothing", nil, false, 0, 0, 0},
		{"not numbers", []Weighted{{math.NaN(), 1e6}, {math.Inf(1), 1e6}, {-1, 1e6}, {5, math.NaN()}, {5, 1}, {6, 1}}, false, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, two := Bimodal(c.hist)
			if two != c.two {
				t.Fatalf("%v %+v", two, m)
			}
			if !two {
				return
			}
			near(t, "low", m.Low, c.low, 0.05*c.low)
			near(t, "high", m.High, c.high, 0.05*c.high)
			near(t, "share", m.LowShare, c.share, 0.03)
			near(t, "shares", m.LowShare+m.HighShare, 1, 1e-9)
			if m.Split <= m.Low || m.Split >= m.High {
				t.Errorf("%+v", m)
			}
		})
	}
}

// Small samples of one hump must not look like two.
func TestBimodalIsNotFooledByChance(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	for _, n := range []int{50, 200, 1000, 5000} {
		wrong := 0
		for range 400 {
			if _, two := Bimodal(latencies(rng, n, [3]float64{500e3, 0.5, 1})); two {
				wrong++
			}
		}
		if wrong > 4 {
			t.Errorf("n %d: two humps seen in %d of 400 samples of one", n, wrong)
		}
	}
}

func TestBimodalKnowsNoUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		hist := latencies(rng, 3000, [3]float64{100e3, 0.3, 0.5}, [3]float64{rapid.Float64Range(1e5, 2e6).Draw(t, "second"), 0.3, 0.5})
		scaled := slices.Clone(hist)
		for i := range scaled {
			scaled[i].Value /= 1024
		}
		rng.Shuffle(len(scaled), func(i, j int) { scaled[i], scaled[j] = scaled[j], scaled[i] })
		a, twoA := Bimodal(hist)
		b, twoB := Bimodal(scaled)
		if twoA != twoB || math.Abs(a.Low-b.Low*1024) > 1e-6*a.Low || a.LowShare != b.LowShare {
			t.Fatalf("%v %+v\n%v %+v", twoA, a, twoB, b)
		}
	})
}
