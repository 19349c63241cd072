package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// roundsOf are n figures of rounds around level with a spread of logarithms.
func roundsOf(rng *rand.Rand, n int, level, spread float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = level * math.Exp(spread*rng.NormFloat64())
	}
	return xs
}

// lossy takes a quarter off one round in ten.
func lossy(rng *rand.Rand, xs []float64) []float64 {
	for i := range xs {
		if rng.Float64() < 0.1 {
			xs[i] *= 0.75
		}
	}
	return xs
}

func compared(tb testing.TB, a, b []float64, d Design) Comparison {
	tb.Helper()
	c, err := CompareRounds(a, b, d)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// within fails unless lo <= got <= hi.
func within(tb testing.TB, what string, got, lo, hi float64) {
	tb.Helper()
	tb.Logf("%s: %.4g", what, got)
	if !(got >= lo && got <= hi) {
		tb.Errorf("%s: %.4g, want %.4g to %.4g", what, got, lo, hi)
	}
}

// T9, T10, T11, T12.
func groups(tb testing.TB, n int) {
	for i, c := range []struct {
		name                 string
		rounds               int
		spread, change       float64
		lossy                bool
		leastRejects, most   float64
		leastCovers, answers float64
	}{
		{"T9 5 v 5, 3 %, none", 5, .03, 0, false, 0, .065, .935, 1},
		{"T9 5 v 5, 8 %, none", 5, .08, 0, false, 0, .065, .935, 1},
		{"T10 5 v 5, 3 %, 5 %", 5, .03, .05, false, .54, 1, .935, 1},
		{"T10 5 v 5, 3 %, 10 %", 5, .03, .10, false, .97, 1, .935, 1},
		{"T11 3 v 3, 3 %, 10 %", 3, .03, .10, false, .67, 1, .93, 1},
		{"T12 7 v 7, lossy, none", 7, .03, 0, true, 0, .06, .93, 1},
		{"T12 7 v 7, lossy, 5 %", 7, .03, .05, true, .44, 1, .93, 1},
	} {
		rng := rand.New(rand.NewPCG(2026, uint64(i)))
		rejects, covers := 0.0, 0.0
		for range n {
			a, b := roundsOf(rng, c.rounds, 1000, c.spread), roundsOf(rng, c.rounds, 1000*(1+c.change), c.spread)
			if c.lossy {
				a, b = lossy(rng, a), lossy(rng, b)
			}
			got := compared(tb, a, b, Design{})
			if answer, _ := got.Answer(got.P, 0.03); answer == More || answer == Less {
				rejects++
			}
			if got.Ratio.Lo <= 1+c.change && 1+c.change <= got.Ratio.Hi {
				covers++
			}
		}
		within(tb, c.name+": claims", rejects/float64(n), c.leastRejects, c.most)
		within(tb, c.name+": covers", covers/float64(n), c.leastCovers, 1)
	}
}

// T13: pairs in random order keep their promise in a session that falls by 10 %; all of one first
// does not.
func session(tb testing.TB, n int) {
	for i, change := range []float64{0, 0.05} {
		rng := rand.New(rand.NewPCG(13, uint64(i)))
		claims, naive := 0.0, 0.0
		for range n {
			a, b := make([]float64, 6), make([]float64, 6)
			first, second := make([]float64, 6), make([]float64, 6)
			figure := func(at int, change float64) float64 {
				return 1000 * (1 - .1*float64(at)/11) * (1 + change) * math.Exp(.02*rng.NormFloat64())
			}
			for k := range a {
				if rng.IntN(2) == 0 {
					a[k], b[k] = figure(2*k, 0), figure(2*k+1, change)
				} else {
					b[k], a[k] = figure(2*k, change), figure(2*k+1, 0)
				}
				first[k], second[k] = figure(k, 0), figure(6+k, change)
			}
			if compared(tb, a, b, Design{Paired: true, Figures: 10}).P < 0.05 {
				claims++
			}
			if compared(tb, first, second, Design{}).P < 0.05 {
				naive++
			}
		}
		if change == 0 {
			within(tb, "T13 falling session, pairs, none: claims", claims/float64(n), 0, .065)
			within(tb, "T13 falling session, all of one first, none: claims (wrong)", naive/float64(n), .85, 1)
		} else {
			within(tb, "T13 falling session, pairs, 5 %: claims", claims/float64(n), .83, 1)
		}
	}
}

// suiteSpreads are those of ten scenarios, calm and noisy ones.
func suiteSpreads() []float64 { return []float64{.004, .004, .006, .01, .02, .03, .04, .05, .05, .08} }

// T14, T20b, T20c.
func suites(tb testing.TB, n int) {
	for i, c := range []struct {
		name              string
		rounds            int
		paired            bool
		change            float64
		calm, any         [2]float64 // share of claims in calm scenarios, share of suites with any
		suite             [2]float64
		moreFiguresTested int
	}{
		{"T14 5 v 5, none", 5, false, 0, [2]float64{0, .06}, [2]float64{0, .06}, [2]float64{0, .08}, 0},
		{"T20b 8 pairs, +10 %", 8, true, .10, [2]float64{.98, 1}, [2]float64{.98, 1}, [2]float64{.98, 1}, 0},
		{"T20c 5 v 5, +4 %", 5, false, .04, [2]float64{.9, 1}, [2]float64{.9, 1}, [2]float64{.96, 1}, 0},
		{"7 v 7, +10 %: the U test has no room under Holm with ten figures", 7, false, .10, [2]float64{.98, 1}, [2]float64{.98, 1}, [2]float64{.98, 1}, 0},
	} {
		rng := rand.New(rand.NewPCG(77, uint64(i)))
		calm, anyClaim, whole := 0.0, 0.0, 0.0
		for range n {
			var as, bs [][]float64
			var all []Comparison
			var ps []float64
			for _, spread := range suiteSpreads() {
				a, b := roundsOf(rng, c.rounds, 1000, spread), roundsOf(rng, c.rounds, 1000*(1+c.change), spread)
				got := compared(tb, a, b, Design{Paired: c.paired, Figures: 10})
				as, bs, all, ps = append(as, a), append(bs, b), append(all, got), append(ps, got.P)
			}
			claimed := false
			for k, p := range Holm(ps) {
				if answer, _ := all[k].Answer(p, 0.03); answer == More || answer == Less {
					claimed = true
					if k < 4 {
						calm += 0.25
					}
				}
			}
			if claimed {
				anyClaim++
			}
			ta, err1 := Together(as)
			tg, err2 := Together(bs)
			if err1 != nil || err2 != nil {
				tb.Fatal(err1, err2)
			}
			if compared(tb, ta, tg, Design{Paired: c.paired, Figures: math.MaxInt32}).P < 0.05 {
				whole++
			}
		}
		total := float64(n)
		within(tb, c.name+": claims in calm scenarios", calm/total, c.calm[0], c.calm[1])
		within(tb, c.name+": suites with a claim", anyClaim/total, c.any[0], c.any[1])
		within(tb, c.name+": suite as a whole", whole/total, c.suite[0], c.suite[1])
	}
}

// T15: one run against one never has a word, whatever the figures.
func TestOneAgainstOneHasNoWord(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 0))
	for range 1000 {
		for _, sides := range [][2]int{{1, 1}, {1, 7}, {9, 1}} {
			a, b := roundsOf(rng, sides[0], 1000, .05), roundsOf(rng, sides[1], 1000*rng.Float64()*10, .05)
			c := compared(t, a, b, Design{Paired: sides[0] == sides[1]})
			if answer, same := c.Answer(c.P, 0.03); answer != Unknown || same || c.P != 1 || c.Ratio.N != 1 {
				t.Fatalf("%v against %v: %s, %+v", a, b, answer, c)
			}
			if !math.IsInf(c.LeastSeen(0.05), 1) {
				t.Fatalf("%+v could have seen something", c)
			}
		}
	}
}

// T16: rounds until ±3 %.
func until(tb testing.TB, n int) {
	for i, c := range []struct{ spread, most float64 }{{.03, 8}, {.05, 17}} {
		rng := rand.New(rand.NewPCG(16, uint64(i)))
		covers := 0.0
		var counts []float64
		for range n {
			rounds := roundsOf(rng, 60, 1000, c.spread)
			for k := LeastRounds; ; k++ {
				p, err := PrecisionOf(rounds[:k], 0.03)
				if err != nil {
					tb.Fatal(err)
				}
				if p.Half > 0.03 && k < len(rounds) {
					continue
				}
				counts = append(counts, float64(k))
				if math.Abs(math.Log(p.Level.Center/1000)) <= math.Log1p(p.Half) {
					covers++
				}
				break
			}
		}
		within(tb, "T16 covers", covers/float64(n), .925, 1)
		within(tb, "T16 median rounds", Quantile(counts, 0.5), 5, c.most)
	}
}

// T20: the PTS window, and what Settled adds.
func window(tb testing.TB, n int) {
	for i, c := range []struct {
		name    string
		level   func(r int) float64
		steady  [2]float64
		settled [2]float64
	}{
		{"T20 decay, tau 8", func(r int) float64 { return 1 + 2*math.Exp(-float64(r)/8) }, [2]float64{.9, 1}, [2]float64{0, .03}},
		{"T20 steady fall", func(r int) float64 { return max(.2, 1.5-.03*float64(r)) }, [2]float64{.9, 1}, [2]float64{0, .03}},
		{"T20 level, noise 5 %", func(int) float64 { return 1 }, [2]float64{.99, 1}, [2]float64{.93, 1}},
	} {
		rng := rand.New(rand.NewPCG(20, uint64(i)))
		spread := .03
		if i == 2 {
			spread = .05
		}
		steady, settled := 0.0, 0.0
		for range n {
			var rounds []float64
			first, whole := false, false
			for r := range 25 {
				rounds = append(rounds, c.level(r)*(1+spread*rng.NormFloat64()))
				w := WindowOf(rounds)
				first, whole = first || w.Steady, whole || w.Settled
			}
			if first {
				steady++
			}
			if whole {
				settled++
			}
		}
		within(tb, c.name+": window passes", steady/float64(n), c.steady[0], c.steady[1])
		within(tb, c.name+": settled", settled/float64(n), c.settled[0], c.settled[1])
	}
}

// History's acceptance: 20 runs whose rounds spread by 5 %, then one of as many rounds. Where runs differ
// by more than their rounds do, more rounds help nothing, and a longer history is no licence to alarm.
func baseline(tb testing.TB, n int) {
	for i, c := range []struct {
		name    string
		runs    int
		rounds  int // of each earlier run
		now     int // of the new one
		between float64
		change  float64
		alarmed [2]float64
	}{
		{"one round, none", 20, 1, 1, 0, 0, [2]float64{0, .03}},
		{"one round, -20 %", 20, 1, 1, 0, -.20, [2]float64{.42, 1}},
		{"five rounds, -10 %", 20, 5, 5, 0, -.10, [2]float64{.48, 1}},
		{"five rounds, none, of runs that differ, 5 of them", 5, 5, 5, .05, 0, [2]float64{0, .03}},
		{"five rounds, none, of runs that differ, 10 of them", 10, 5, 5, .05, 0, [2]float64{0, .03}},
		{"five rounds, none, of runs that differ, 30 of them", 30, 5, 5, .05, 0, [2]float64{0, .03}},
		{"five rounds after runs of one, none", 20, 1, 5, .05, 0, [2]float64{0, .03}},
		{"one round after runs of five, none", 20, 5, 1, 0, 0, [2]float64{0, .03}},
		{"one round after runs of five, none, of runs that differ", 20, 5, 1, .05, 0, [2]float64{0, .03}},
	} {
		rng := rand.New(rand.NewPCG(21, uint64(i)))
		run := func(rounds int, change float64) float64 {
			level, err := Level(roundsOf(rng, rounds, 1000*(1+change)*math.Exp(rng.NormFloat64()*c.between), .05))
			if err != nil {
				tb.Fatal(err)
			}
			return level.Center
		}
		alarms := 0.0
		for range n {
			var earlier []float64
			for range c.runs {
				earlier = append(earlier, run(c.rounds, 0))
			}
			e, err := Expect(earlier, float64(c.rounds)/float64(c.now), 0.03)
			if err != nil {
				tb.Fatal(err)
			}
			if e.Outside(run(c.now, c.change)) != 0 {
				alarms++
			}
		}
		within(tb, "baseline, "+c.name+": alarms", alarms/float64(n), c.alarmed[0], c.alarmed[1])
	}
}

// T19.
func knees(tb testing.TB, n int) {
	depths := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
	const r0, most = 5e-4, 20000.0
	for i, c := range []struct {
		name string
		at   func(n float64) float64
		// the rule's own bounds: its median and p10..p90 against the truth
		mid, low, high float64
	}{
		{"hard cap", func(n float64) float64 { return min(n/r0, most) }, 1, .65, 1.6},
		{"queueing", func(n float64) float64 { return math.Pow(math.Pow(r0/n, 4)+math.Pow(1/most, 4), -.25) }, 1, .65, 1.6},
		{"soft", func(n float64) float64 { return 1 / (r0/n + 1/most) }, 1, .65, 1.6},
	} {
		rng := rand.New(rand.NewPCG(19, uint64(i)))
		truth := 256.0
		for d := 1.0; d <= 256; d++ {
			if c.at(d) >= .95*c.at(256) {
				truth = d
				break
			}
		}
		var found []float64
		for range n {
			xs := make([]float64, len(depths))
			for k, d := range depths {
				xs[k] = c.at(d) * math.Exp(.05*rng.NormFloat64())
			}
			curve, err := FitCurve(depths, xs)
			if err != nil {
				tb.Fatal(err)
			}
			found = append(found, curve.Knee/truth)
		}
		within(tb, "T19 "+c.name+": median", Quantile(found, .5), .9*c.mid, 1.1*c.mid)
		within(tb, "T19 "+c.name+": p10", Quantile(found, .1), c.low, 2)
		within(tb, "T19 "+c.name+": p90", Quantile(found, .9), .5, c.high)
	}
}

// slowPhases are seconds of latencies in µs with a slow state that moves them all and stalls in
// some seconds, in 1.6 % bins as fio's.
func slowPhases(rng *rand.Rand, seconds, rate int, stalls bool) [][]Weighted {
	const width = 0.016
	out := make([][]Weighted, seconds)
	x := rng.NormFloat64()
	for i := range out {
		x = .8*x + .6*rng.NormFloat64()
		stalled := stalls && rng.Float64() < .05
		bins := map[int]float64{}
		for range rate {
			v := math.Log(400) + .3*rng.NormFloat64() + .15*x
			if stalled && rng.Float64() < .04 {
				v += math.Log(40)
			}
			bins[int(v/width)]++
		}
		for bin, count := range bins {
			out[i] = append(out[i], Weighted{math.Exp((float64(bin) + .5) * width), count})
		}
		slices.SortFunc(out[i], func(a, b Weighted) int { return int(math.Copysign(1, a.Value-b.Value)) })
	}
	return out
}

// T18.
func quantiles(tb testing.TB, n int) {
	for i, c := range []struct {
		name    string
		stalls  bool
		seconds int
		least   float64
	}{
		{"state, 60 s", false, 60, .80},
		{"state and stalls, 60 s", true, 60, .80},
		{"state, 180 s", false, 180, .93},
		{"state and stalls, 180 s", true, 180, .93},
	} {
		truth := QuantileOf(slowPhases(rand.New(rand.NewPCG(18, 99)), 20000, 100, c.stalls), 0.99).Center
		rng := rand.New(rand.NewPCG(18, uint64(i)))
		covers, naive := 0.0, 0.0
		for range n {
			run := slowPhases(rng, c.seconds, 500, c.stalls)
			e := QuantileOf(run, 0.99)
			if e.Lo/1.017 <= truth && truth <= e.Hi*1.017 {
				covers++
			}
			pooled, all := pool(run), float64(500*c.seconds)
			half := 1.96 * math.Sqrt(.99*.01/all)
			if weightedQuantile(pooled, all, .99-half)/1.017 <= truth && truth <= weightedQuantile(pooled, all, .99+half)*1.017 {
				naive++
			}
		}
		within(tb, "T18 "+c.name+": covers", covers/float64(n), c.least, 1)
		within(tb, "T18 "+c.name+": a binomial interval covers (why it is not used)", naive/float64(n), 0, .75)
	}
}

func TestGroupsOfRounds(t *testing.T) { groups(t, 400) }
func TestFallingSession(t *testing.T) { session(t, 400) }
func TestSuites(t *testing.T)         { suites(t, 300) }
func TestUntil(t *testing.T)          { until(t, 200) }
func TestWindow(t *testing.T)         { window(t, 400) }
func TestBaseline(t *testing.T)       { baseline(t, 300) }
func TestKnees(t *testing.T)          { knees(t, 100) }
func TestQuantileOf(t *testing.T)     { quantiles(t, 40) }

func BenchmarkGroupsOfRounds(b *testing.B) { groups(b, 2000) }
func BenchmarkFallingSession(b *testing.B) { session(b, 4000) }
func BenchmarkSuites(b *testing.B)         { suites(b, 1000) }
func BenchmarkUntil(b *testing.B)          { until(b, 1500) }
func BenchmarkWindow(b *testing.B)         { window(b, 4000) }
func BenchmarkBaseline(b *testing.B)       { baseline(b, 2000) }
func BenchmarkKnees(b *testing.B)          { knees(b, 400) }
func BenchmarkQuantileOf(b *testing.B)     { quantiles(b, 150) }
