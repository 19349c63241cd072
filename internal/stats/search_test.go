package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// openP99 is the p99 in seconds of an open load on a server of 20,000 a second, as in the
// specification's simulation.
func openP99(rate float64) float64 {
	const most, base = 20000, .9e-3
	rho := rate / most
	if rho >= .999 {
		return base * 1e3
	}
	return base * (1 + .6*rho*rho/(1-rho))
}

// searched runs a search to its end.
func searched(tb testing.TB, s Search, probe func(load float64) Probe) (Bracket, []Probe) {
	tb.Helper()
	var probes []Probe
	for range 200 {
		load, b := s.Next(probes)
		if b.Done {
			return b, probes
		}
		probes = append(probes, probe(load))
	}
	tb.Fatal("the search does not end")
	return Bracket{}, nil
}

// Errors of the found load by the noise of the p99, and the probes that it takes: specification
// 4.8.
func TestSearchFindsTheMost(t *testing.T) {
	for _, c := range []struct {
		threshold, noise  float64
		median, high, few float64 // errors, and probes in the mean
	}{{2e-3, .03, .02, .04, 18}, {2e-3, .10, .02, .05, 18}, {2e-3, .25, .05, .10, 18}, {1.2e-3, .10, .05, .10, 24}} {
		t.Run(fmt.Sprintf("%g ms, noise %g", 1e3*c.threshold, c.noise), func(t *testing.T) {
			truth := 0.0
			for r := 1.0; openP99(r) <= c.threshold; r++ {
				truth = r
			}
			rng := rand.New(rand.NewPCG(5, 5))
			var errs, counts []float64
			for range 400 {
				b, probes := searched(t, Search{Low: 1000, High: 20400, Within: .03}, func(load float64) Probe {
					return Probe{Load: load, Over: math.Log(openP99(load)/c.threshold) + c.noise*rng.NormFloat64()}
				})
				if b.High/b.Low > 1.03+1e-9 {
					t.Fatalf("%+v", b)
				}
				errs = append(errs, math.Abs(math.Sqrt(b.Low*b.High)/truth-1))
				counts = append(counts, float64(len(probes)))
			}
			slices.Sort(errs)
			within(t, "error, median", errs[200], 0, c.median)
			within(t, "error, p90", errs[360], 0, c.high)
			within(t, "probes", mean(counts), 5, c.few)
		})
	}
}

// One probe that the machine disturbed does not end a search below what the storage can do.
func TestSearchSurvivesOneStall(t *testing.T) {
	const threshold = 20e-3
	truth := 0.0
	for r := 1.0; openP99(r) <= threshold; r++ {
		truth = r
	}
	for stalled := range 14 {
		n := 0
		b, probes := searched(t, Search{Low: 1000, High: 20400, Within: .03}, func(load float64) Probe {
			p := Probe{Load: load, Over: math.Log(openP99(load) / threshold)}
			if n == stalled {
				p.Over = math.Log(2.7) // 54 ms of 20
			}
			n++
			return p
		})
		if b.Low > truth || b.High < truth || b.High/b.Low > 1.03+1e-9 || len(probes) > 30 {
			t.Errorf("probe %d stalled: %+v after %d probes, and %g is right", stalled+1, b, len(probes), truth)
		}
	}
}

func TestSearchEnds(t *testing.T) {
	s := Search{Low: 100, High: 2000, Within: .03}
	for name, c := range map[string]struct {
		probe func(load float64) Probe
		want  Bracket
	}{
		"all met":    {func(l float64) Probe { return Probe{Load: l, Over: -1} }, Bracket{Low: 2000, Done: true}},
		"all missed": {func(l float64) Probe { return Probe{Load: l, Over: 1} }, Bracket{High: 100, Done: true}},
		"all behind": {func(l float64) Probe { return Probe{Load: l, Over: -1, Behind: true} }, Bracket{High: 100, Done: true}},
		"never valid": {
			func(l float64) Probe { return Probe{Load: l, Over: math.NaN()} },
			Bracket{Unusable: math.Sqrt(100 * 2000), Done: true},
		},
	} {
		if b, probes := searched(t, s, c.probe); b != c.want || len(probes) > 30 {
			t.Errorf("%s: %+v after %d probes, want %+v", name, b, len(probes), c.want)
		}
	}
	// Loads of whole numbers, as far apart as they can be.
	whole := func(l float64) Probe {
		if l != math.Round(l) {
			t.Errorf("load %g", l)
		}
		return Probe{Load: l, Over: l - 6.5}
	}
	if b, _ := searched(t, Search{Low: 1, High: 20, Within: .03, Step: 1}, whole); b.Low != 6 || b.High != 7 {
		t.Errorf("%+v", b)
	}
	// One point.
	if b, _ := searched(t, Search{Low: 100, High: 100, Within: .03}, func(l float64) Probe { return Probe{Load: l, Over: -1} }); b.Low != 100 {
		t.Errorf("%+v", b)
	}
}
