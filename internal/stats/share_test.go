package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// kinds of volumes by the latency of a read of what is loaded, ms.
var volumeKinds = map[string]func(*rand.Rand) float64{
	"quiet":   func(r *rand.Rand) float64 { return lognormal(r, 1, 0.2) },
	"spiky":   spiky,
	"slow20":  func(r *rand.Rand) float64 { return lognormal(r, 20, 0.5) },
	"busy5":   func(r *rand.Rand) float64 { return lognormal(r, 5, 1) },
	"lab18":   func(r *rand.Rand) float64 { return lognormal(r, 18, 0.7) },
	"tight36": func(r *rand.Rand) float64 { return lognormal(r, 36, 0.06) },
}

func lognormal(r *rand.Rand, median, sigma float64) float64 {
	return median * math.Exp(sigma*r.NormFloat64())
}

// spiky is 1 ms, and one in ten takes 20 ms more in the mean.
func spiky(r *rand.Rand) float64 {
	v := lognormal(r, 1, 0.3)
	if r.Float64() < 0.1 {
		v += 20 * r.ExpFloat64()
	}
	return v
}

// touched is one test of 200 pairs on a volume of which a share is not loaded, where a first touch
// takes so much longer. Tight volumes have first reads that are 2 % slower throughout.
func touched(r *rand.Rand, kind string, share, touch float64) Paired {
	const pairs = 200
	first, again := make([]float64, pairs), make([]float64, pairs)
	for i := range first {
		again[i], first[i] = volumeKinds[kind](r), volumeKinds[kind](r)
		if kind == "tight36" {
			first[i] *= 1.02
		}
		if r.Float64() < share {
			first[i] += touch * lognormal(r, 0.92, 0.4)
		}
	}
	return PairedShare(first, again, 1)
}

// The truth of these volumes is known, and the estimator does not know it.
func TestPairedShareClaims(t *testing.T) {
	const reps = 400
	r := rand.New(rand.NewPCG(7, 11))
	for _, c := range []struct {
		kind  string
		touch float64
	}{{"quiet", 1.5}, {"quiet", 5}, {"quiet", 30}, {"spiky", 30}, {"slow20", 30}, {"busy5", 30}, {"lab18", 30}, {"tight36", 30}} {
		for _, share := range []float64{0, 0.25, 0.5, 0.75, 1} {
			sum, claimed, inside := 0.0, 0, 0
			for range reps {
				p := touched(r, c.kind, share, c.touch)
				raw := p.Share
				sum += raw
				if p.Claimed {
					claimed++
				}
				if p.Low <= share && share <= p.High {
					inside++
				}
			}
			mean, part := sum/reps, float64(claimed)/reps
			least, most := 0.0, 1.0
			switch share {
			case 0:
				most = 0.01
			case 0.25:
				least = 0.80
			default:
				least = 0.99
			}
			if part < least || part > most {
				t.Errorf("%s +%g ms, %.0f %% not loaded: claimed in %.1f %%", c.kind, c.touch, 100*share, 100*part)
			}
			// Cut at 0, the mean of an estimate of nothing is half of its spread above it; a tight volume's
			// first reads are slower throughout.
			bound := 0.03
			if share == 0 {
				bound = 0.05
			}
			if c.kind == "lab18" || c.kind == "tight36" {
				bound = 0.13
			}
			if c.kind == "tight36" && share == 0 {
				bound = 0.20
			}
			if c.kind == "slow20" || c.kind == "busy5" {
				bound = max(bound, 0.06)
			}
			if math.Abs(mean-share) > bound {
				t.Errorf("%s +%g ms, %.0f %% not loaded: %.1f %% in the mean", c.kind, c.touch, 100*share, 100*mean)
			}
			if share > 0 && c.kind == "quiet" && float64(inside)/reps < 0.93 {
				t.Errorf("%s +%g ms, %.0f %%: the interval holds it in %.1f %%", c.kind, c.touch, 100*share, 100*float64(inside)/reps)
			}
		}
	}
}

func TestPairedShareOfLittle(t *testing.T) {
	if p := PairedShare(nil, nil, 1); p.Claimed || p.Pairs != 0 {
		t.Errorf("%+v", p)
	}
	if p := PairedShare([]float64{30}, []float64{1}, 1); p.Pairs != 1 || p.High != 1 {
		t.Errorf("%+v", p)
	}
}

// Three of eight first reads are ten times as slow as all second ones: p = 3/8, so the share is
// (3/8 - 1/4)/(3/4) = 1/6 and its deviation √(3/8 × 5/8 + 1/4 × 3/4)/√n/(3/4) = 0.8660/√n: 0.3062 of
// eight pairs, whose interval holds 0, and 0.0306 of 800.
func TestPairedShareByHand(t *testing.T) {
	pairs := func(n, slow int) (first, again []float64) {
		for i := range n {
			first, again = append(first, 1), append(again, 1)
			if i < slow {
				first[i] = 10
			}
		}
		return first, again
	}
	for _, c := range []struct {
		n, slow          int
		least            float64
		share, low, high float64
		claimed          bool
	}{
		{8, 3, 0, 1. / 6, 0, 1./6 + 1.96*0.866025/math.Sqrt(8), false},
		{800, 300, 0, 1. / 6, 1./6 - 1.96*0.866025/math.Sqrt(800), 1./6 + 1.96*0.866025/math.Sqrt(800), true},
		{800, 300, 8.5, 1. / 6, 1./6 - 1.96*0.866025/math.Sqrt(800), 1./6 + 1.96*0.866025/math.Sqrt(800), true}, // far is 1 + 8.5
		{800, 300, 9, 1. / 6, 1./6 - 1.96*0.866025/math.Sqrt(800), 1./6 + 1.96*0.866025/math.Sqrt(800), false},  // 10 is not beyond 1 + 9
		{800, 800, 0, 1, 1 - 1.96*math.Sqrt(0.1875/800)/0.75, 1, true},
		{800, 200, 0, 0, 0, 1.96 * math.Sqrt(0.375/800) / 0.75, false},
		// A share of 0.1483 is below 0.15 and not claimed; one of 0.15 is.
		{800, 289, 0, (289./800 - 0.25) / 0.75, -1, -1, false},
		{800, 290, 0, (290./800 - 0.25) / 0.75, -1, -1, true},
	} {
		first, again := pairs(c.n, c.slow)
		r := PairedShare(first, again, c.least)
		near := func(got, want float64) bool { return want == -1 || math.Abs(got-want) < 1e-6 }
		if r.Pairs != c.n || !near(r.Share, c.share) || !near(r.Low, c.low) || !near(r.High, c.high) || r.Claimed != c.claimed || r.Over != 1 {
			t.Errorf("%d of %d: %+v, want %+v", c.slow, c.n, r, c)
		}
	}
	if r := PairedShare(nil, []float64{1}, 0); r != (Paired{}) {
		t.Errorf("no pairs: %+v", r)
	}
}

// A share that noise hides or that two halves contradict is not told; one that is plain is.
func TestPairedShareCannotTell(t *testing.T) {
	const n = 200
	pairs := func(f func(i int) (first, again float64)) Paired {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = f(i)
		}
		return PairedShare(a, b, 1e6)
	}
	noise := func(i int) float64 { return float64(1+(i*7919)%40) * 1e6 } // 1 to 40 ms
	for name, c := range map[string]struct {
		f      func(i int) (float64, float64)
		unsure bool
	}{
		"all cold, quiet":       {func(i int) (float64, float64) { return 16e6 + float64(i%7)*1e4, 1e6 + float64(i%5)*1e4 }, false},
		"none cold, quiet":      {func(i int) (float64, float64) { return 1e6 + float64(i%7)*1e4, 1e6 + float64(i%5)*1e4 }, false},
		"all cold beside noise": {func(i int) (float64, float64) { return noise(i) + 15e6, noise(i + 1) }, true},
		"the first half only cold": {func(i int) (float64, float64) {
			return map[bool]float64{true: 30e6, false: 1e6}[i < n/2] + float64(i%7), 1e6 + float64(i%5)
		}, true},
	} {
		if p := pairs(c.f); p.Unsure != c.unsure {
			t.Errorf("%s: unsure %t, %+v", name, p.Unsure, p)
		}
	}
}
