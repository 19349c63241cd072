package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The tests of this file and of operating_test.go ask how often an answer is wrong, on simulated
// series with fixed seeds. The bounds are what was measured when the rules were chosen, with about
// three standard errors of room. Tests run a few hundred repetitions, benchmarks (make bench) the
// full number.

const fullSeconds = 600

// noisy is a first-order autoregressive series around 1000.
func noisy(rng *rand.Rand, phi, sd float64) []float64 {
	xs := make([]float64, fullSeconds)
	x := rng.NormFloat64()
	for i := range xs {
		xs[i] = 1000 * (1 + sd*x)
		x = phi*x + math.Sqrt(1-phi*phi)*rng.NormFloat64()
	}
	return xs
}

func shaped(xs []float64, f func(i int) float64) []float64 {
	for i := range xs {
		xs[i] = max(0, xs[i]*f(i))
	}
	return xs
}

// stopping is what a rule did on many series of one kind.
type stopping struct {
	stops                             []int
	steady, off, covers, named, burst float64 // shares; off is of all
	bare                              int     // settled above half of the truth without saying that it is a burst
	err                               float64
}

func (s stopping) at(q float64) int {
	return s.stops[min(len(s.stops)-1, int(q*float64(len(s.stops))))]
}

func stopped(n int, seed uint64, truth float64, o StopOptions, gen func(*rand.Rand) []float64) stopping {
	rng := rand.New(rand.NewPCG(7, seed))
	var s stopping
	for range n {
		got := SettledBy(gen(rng), o)
		at := got.At
		if at == 0 {
			at = fullSeconds
		} else {
			s.steady++
			if math.Abs(got.Estimate.Center/truth-1) > 0.02 {
				s.off++
			}
			switch {
			case got.AtBurst:
				s.burst++
			case o.Sustained > 0 && got.Estimate.Center > truth/2:
				s.bare++
			}
		}
		s.stops = append(s.stops, at)
		s.err += math.Abs(got.Estimate.Center/truth - 1)
		if got.Estimate.Lo <= truth && truth <= got.Estimate.Hi {
			s.covers++
		}
		if got.From > 0 || got.Why != "" {
			s.named++
		}
	}
	slices.Sort(s.stops)
	total := float64(n)
	s.steady, s.off, s.covers, s.named, s.err, s.burst = s.steady/total, s.off/total, s.covers/total, s.named/total, s.err/total, s.burst/total
	return s
}

func sawtooth(period float64) func(*rand.Rand) []float64 {
	return func(r *rand.Rand) []float64 {
		o := r.Float64() * period
		return shaped(noisy(r, 0, .03), func(i int) float64 { return 1.15 - .30*math.Mod(float64(i)+o, period)/period })
	}
}

func stopRules(tb testing.TB, n int) {
	bound := StopOptions{Target: 0.02, Bound: 1000}
	for i, c := range []struct {
		name  string
		truth float64
		o     StopOptions
		gen   func(*rand.Rand) []float64
		check func(s stopping) error
	}{
		{"T1 capped, burst of 2 s", 1000, bound, func(r *rand.Rand) []float64 {
			return shaped(noisy(r, 0, .003), func(i int) float64 {
				if i < 2 {
					return 1.15
				}
				return 1
			})
		}, func(s stopping) error {
			return want(s.at(.5) <= 16 && s.at(.9) <= 25 && s.err <= .0015 && s.covers >= .95)
		}},
		{"T1 capped, ramp cut", 1000, bound, func(r *rand.Rand) []float64 { return noisy(r, 0, .003) }, func(s stopping) error {
			return want(s.at(.5) <= 16 && s.at(.9) <= 25 && s.err <= .0015 && s.covers >= .95)
		}},
		{"T2 independent 5 %", 1000, bound, func(r *rand.Rand) []float64 { return noisy(r, 0, .05) }, func(s stopping) error {
			return want(s.steady >= .97 && s.covers >= .96 && s.off <= .02)
		}},
		{"T3 AR .6, 5 %", 1000, bound, func(r *rand.Rand) []float64 { return noisy(r, .6, .05) }, func(s stopping) error {
			return want(s.covers >= .90 && s.off <= .04 && s.at(.5) <= 300)
		}},
		{"T4 AR .9, 15 %", 1000, bound, func(r *rand.Rand) []float64 { return noisy(r, .9, .15) }, func(s stopping) error {
			return want(s.steady <= .02)
		}},
		{"T5 warm-up 1.5x, 15 s", 1000, bound, func(r *rand.Rand) []float64 {
			return shaped(noisy(r, .3, .03), func(i int) float64 { return 1 + .5*math.Exp(-float64(i)/15) })
		}, func(s stopping) error { return want(s.at(.5) <= 230 && s.off <= .04 && s.covers >= .88) }},
		{"T6 sawtooth 37 s", 1000, bound, sawtooth(37), func(s stopping) error { return want(s.steady <= .06) }},
		{"T6 sawtooth 120 s", 1000, bound, sawtooth(120), func(s stopping) error { return want(s.steady <= .06) }},
		{"T7 level shift", 800, bound, func(r *rand.Rand) []float64 {
			at := 10 + r.IntN(51)
			return shaped(noisy(r, .3, .03), func(i int) float64 {
				if i < at {
					return 1
				}
				return .8
			})
		}, func(s stopping) error { return want(s.off <= .04 && s.named >= .95) }},
		{"T8 cliff, burst bound", 3000, StopOptions{Target: 0.02, Bound: 3000, Sustained: 1000}, func(r *rand.Rand) []float64 {
			at := 40 + r.IntN(41)
			return shaped(noisy(r, .3, .01), func(i int) float64 {
				if i < at {
					return 3
				}
				return 1
			})
		}, func(s stopping) error {
			// what is not marked was settled at the level after the cliff
			return want(s.bare == 0 && s.off <= .05 && s.burst >= .9 && s.steady > .99)
		}},
		{"a burst that must be outlived", 1000, StopOptions{Target: 0.02, Bound: 3000, Sustained: 1000, Least: 90}, func(r *rand.Rand) []float64 {
			return shaped(noisy(r, .3, .01), func(i int) float64 {
				if i < 60 {
					return 3
				}
				return 1
			})
		}, func(s stopping) error { return want(s.burst == 0 && s.off == 0 && s.at(0) >= 90) }},
	} {
		s := stopped(n, uint64(i), c.truth, c.o, c.gen)
		line := fmt.Sprintf("%s: stop p50 %d p90 %d s, steady %.1f %%, off by > 2 %% %.1f %%, error %.2f %%, covers %.1f %%, named %.1f %%",
			c.name, s.at(.5), s.at(.9), 100*s.steady, 100*s.off, 100*s.err, 100*s.covers, 100*s.named)
		tb.Log(line)
		if err := c.check(s); err != nil {
			tb.Error(line)
		}
	}
}

func want(ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("out of bounds")
}

func TestStopRule(t *testing.T)      { stopRules(t, 60) }
func BenchmarkStopRule(b *testing.B) { stopRules(b, 300) }
