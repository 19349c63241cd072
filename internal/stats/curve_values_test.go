package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// On points of its own each curve is found to ten digits, for Gauss-Newton with the right equations ends
// with an error that is the square of its last step.
func TestCurvesAreFoundOnTheirOwnPoints(t *testing.T) {
	var depths []float64
	for n := 1.0; n <= 1024; n *= 2 {
		depths = append(depths, n)
	}
	for _, p := range []float64{1, 1.25, 1.5, 2, 2.5, 3, 4, 6, 10, 30} {
		for _, truth := range []Curve{{R0: 0.001, Cap: 20000, P: p}, {R0: 0.02, Cap: 700, P: p}} {
			xs := make([]float64, len(depths))
			for i, n := range depths {
				xs[i] = math.Pow(math.Pow(truth.R0/n, p)+math.Pow(1/truth.Cap, p), -1/p)
				near(t, "at", truth.At(n)/xs[i], 1, 1e-9)
			}
			c, err := FitCurve(depths, xs)
			if err != nil || c.P != p || math.Abs(c.R0/truth.R0-1) > 1e-10 || math.Abs(c.Cap/truth.Cap-1) > 1e-10 || c.Misfit > 1e-9 {
				t.Errorf("%+v: found %+v %v", truth, c, err)
			}
			// Of 600 points from the first depth to the last the knee is the first that gives 95 %.
			knee := truth.R0 * math.Pow(math.Pow(0.95*xs[len(xs)-1], -p)-math.Pow(truth.Cap, -p), -1/p)
			step := math.Ceil(599 * math.Log(knee/1) / math.Log(1024))
			near(t, "knee", c.Knee, math.Pow(1024, step/599), 1e-6)
		}
	}
	// Far from its points the curve goes on: powers that would overflow are not taken.
	hard := Curve{R0: 1e-6, Cap: 1e9, P: 30}
	near(t, "one in flight", hard.At(1)/1e6, 1, 1e-9)
	near(t, "a great many", hard.At(1e12)/1e9, 1, 1e-9)
}

// With noise the curve is that of the least squares: no change of R0 or Cap lessens them, and none of the
// other bends fits better.
func TestCurvesFitBest(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 6))
	depths := []float64{1, 2, 4, 8, 16, 32, 64, 128}
	for k := range 40 {
		truth := Curve{R0: 0.001, Cap: 20000, P: []float64{1, 2, 4, 30}[k%4]}
		xs := make([]float64, len(depths))
		for i, n := range depths {
			xs[i] = truth.At(n) * math.Exp(0.03*rng.NormFloat64())
		}
		misfit := func(r0, most, p float64) float64 {
			sum := 0.0
			for i, n := range depths {
				y := -math.Log(math.Pow(r0/n, p)+math.Pow(1/most, p)) / p
				sum += math.Pow(math.Log(xs[i])-y, 2)
			}
			return math.Sqrt(sum / float64(len(depths)))
		}
		c, err := FitCurve(depths, xs)
		if err != nil {
			t.Fatal(err)
		}
		best := misfit(c.R0, c.Cap, c.P)
		near(t, "misfit", c.Misfit, best, 1e-9)
		for _, f := range []float64{0.9999, 1.0001} {
			if one, other := misfit(c.R0*f, c.Cap, c.P), misfit(c.R0, c.Cap*f, c.P); one < best || other < best {
				t.Errorf("%+v: with %v of it %v and %v", c, f, one, other)
			}
		}
		for _, p := range sharpness() {
			if there := misfit(truth.R0, truth.Cap, p); there < best-1e-12 {
				t.Errorf("%+v: a bend of %v fits by %v", c, p, there)
			}
		}
	}
}

// Where throughput falls again, what is beyond its most and below nine tenths of it is not fitted.
func TestCurvesEndWhereThroughputFalls(t *testing.T) {
	truth := Curve{R0: 0.001, Cap: 20000, P: 2}
	depths := []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
	for _, c := range []struct {
		last, before float64 // of the most, which is at 64
		fits         bool
		falls        float64
	}{
		{0.5, 0.6, true, 0.5}, {0.89, 0.89, true, 0.11}, {0.91, 0.89, false, 0}, {0.89, 0.91, false, 0.11}, {0.5, 0.91, false, 0.5}, {0.91, 0.5, false, 0},
	} {
		xs := make([]float64, len(depths))
		for i, n := range depths {
			xs[i] = truth.At(n)
		}
		xs[7], xs[8] = c.before*xs[6], c.last*xs[6]
		got, err := FitCurve(depths, xs)
		beyond := 0.0
		if c.falls > 0 {
			beyond = 64
		}
		if err != nil || (got.Misfit < 1e-9) != c.fits || math.Abs(got.Falls-c.falls) > 1e-9 || got.Beyond != beyond {
			t.Errorf("%v and %v of the most: %+v %v", c.before, c.last, got, err)
		}
		if c.fits && (math.Abs(got.R0/truth.R0-1) > 1e-9 || math.Abs(got.Cap/truth.Cap-1) > 1e-9) {
			t.Errorf("%v and %v of the most: %+v", c.before, c.last, got)
		}
	}
	// Only one asymptote was seen.
	line, err := FitCurve(depths, []float64{100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600})
	if err != nil || math.Abs(line.R0/0.01-1) > 1e-6 || line.Cap < 25600 {
		t.Errorf("%+v %v", line, err)
	}
	flat, err := FitCurve(depths, slices.Repeat([]float64{100}, 9))
	if err != nil || math.Abs(flat.Cap/100-1) > 1e-6 || flat.Knee > 1.01 {
		t.Errorf("%+v %v", flat, err)
	}
}

// The error of a share by its definition: the residuals x - (Σx/Σm) m of whole seconds' batches.
func TestErrorOfAShareAgainstTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 7))
	counts := map[int]bool{}
	for k := range 200 {
		n := 10 + rng.IntN(60)
		above, all := ar1(rng, n, []float64{0, 0.6, 0.95}[k%3]), make([]float64, n)
		seconds := make([][]Weighted, n)
		for i := range seconds {
			all[i] = 3000 + 500*rng.Float64()
			seconds[i] = []Weighted{{1, all[i] - above[i] - 7}, {2, 7}, {3, above[i] / 2}, {9, above[i] / 2}}
		}
		se, batches := 0.0, min(n, 30)
		for ; ; batches-- {
			x, m := make([]float64, batches), make([]float64, batches)
			for i := range batches {
				for j := n * i / batches; j < n*(i+1)/batches; j++ {
					x[i], m[i] = x[i]+above[j], m[i]+all[j]
				}
			}
			ratio, e := plainMean(x)/plainMean(m), make([]float64, batches)
			for i := range e {
				e[i] = (x[i] - ratio*m[i]) / plainMean(m)
			}
			r := math.Min(0.9, plainR1(e)+1/float64(batches))
			if batches > 10 && r*math.Sqrt(float64(batches)) >= 1 {
				continue
			}
			se = math.Sqrt(plainVariance(e) / float64(batches))
			if r > 0 {
				se *= math.Sqrt((1 + r) / (1 - r))
			}
			break
		}
		counts[batches] = true
		got, k := shareError(seconds, 2)
		if near(t, "error", got/se, 1, 1e-9); k != batches {
			t.Errorf("%d seconds: %d batches, want %d", n, k, batches)
		}
	}
	if len(counts) < 6 {
		t.Errorf("only %d counts of batches were tried", len(counts))
	}
	// r1 + 1/10 is 0.941, of which 0.9 counts: √(1.9/0.1). Shares of 0.5 ± 0.01 sin.
	var waves [][]Weighted
	for _, x := range sine(500, 10) {
		waves = append(waves, []Weighted{{1, 1000 - x}, {2, x}})
	}
	se, _ := shareError(waves, 1)
	near(t, "at most 0.9", se, 0.01*math.Sqrt(5.5/9/10)*math.Sqrt(19), 1e-12)
}

// What a run is worth, and the values that belong to it. The values 1 to 1,000 are equally frequent.
func TestIntervalOfAQuantileByHand(t *testing.T) {
	even := make([]Weighted, 1000)
	for i := range even {
		even[i] = Weighted{float64(i + 1), 1}
	}
	// Twenty seconds alike: 20,000 I/Os times (1.96/2.0930241)² are worth 17,538; a tenth lies above 900,
	// and 1.96 √(0.09/17538) = 0.00444: from a share of 0.89556 to one of 0.90444.
	e := QuantileOf(slices.Repeat([][]Weighted{even}, 20), 0.9)
	if e.Center != 900 || e.Lo != 896 || e.Hi != 905 || e.N != 17538 || len(e.Doubts) != 0 {
		t.Errorf("alike: %+v", e)
	}
	// Shares of 0.05 and 0.15 above in turns: the error is 0.05/√19, so that 0.09 over its square are 684
	// I/Os; times (1.96/2.0930241)² 599.8.
	share := func(above float64) []Weighted { return []Weighted{{1, 1000 * (1 - above)}, {2, 1000 * above}} }
	var turns [][]Weighted
	for i := range 20 {
		turns = append(turns, share(0.05+0.1*float64(i%2)))
	}
	if e := QuantileOf(turns, 0.9); e.N != 599 || e.Center != 1 || e.Lo != 1 || e.Hi != 2 {
		t.Errorf("in turns: %+v", e)
	}
	// Halves of 0 and 0.2: r1 + 1/10 is 0.8, and √9 times √(0.01 10/9/10) = 0.0333 is 0.1: worth 9, less than
	// the ten batches, which times (1.96/2.2621572)² are 7.5.
	halves := append(slices.Repeat([][]Weighted{share(0)}, 5), slices.Repeat([][]Weighted{share(0.2)}, 5)...)
	if e := QuantileOf(halves, 0.9); e.N != 7 {
		t.Errorf("halves: %+v", e)
	}
	// Above 10,000 the normal distribution stands for the beta's, which is wider by about 1/2n on each side.
	lo, hi := shareLimits(0.5, 1e4)
	half := 1.96 * math.Sqrt(0.25/1e4)
	near(t, "exact, low", lo, 0.5-half-0.5e-4, 1e-5)
	near(t, "exact, high", hi, 0.5+half+0.5e-4, 1e-5)
	if lo, hi := shareLimits(0.5, 1e4+1); math.Abs(lo-(0.5-half)) > 1e-6 || math.Abs(hi-(0.5+half)) > 1e-6 {
		t.Errorf("normal: %v %v", lo, hi)
	}
	if lo, hi := shareLimits(1e-5, 2e4); lo != 0 || math.Abs(hi-1e-5-1.96*math.Sqrt(1e-5*(1-1e-5)/2e4)) > 1e-12 {
		t.Errorf("hardly any: %v %v", lo, hi)
	}
	if lo, hi := shareLimits(1-1e-5, 2e4); hi != 1 || lo > 1-1e-5 {
		t.Errorf("nearly all: %v %v", lo, hi)
	}
	// All of ten: 1 - 0.3085 to 1.
	lo, hi = shareLimits(1, 10)
	near(t, "all, low", lo, 0.6915, 5e-5)
	near(t, "all, high", hi, 1, 1e-6)
	near(t, "median of a beta", betaQuantile(0.5, 3, 3), 0.5, 1e-12)
	near(t, "of 1 and 2", betaQuantile(0.75, 1, 2), 0.5, 1e-12) // 1 - (1 - x)²
}

// Searches at their edges: what missed above what missed, one load only, and loads as near as they can be.
func TestSearchesAtTheirEdges(t *testing.T) {
	hit := func(loads ...float64) (out []Probe) {
		for _, l := range loads {
			out = append(out, Probe{Load: l, Over: -1})
		}
		return out
	}
	miss := func(loads ...float64) (out []Probe) {
		for _, l := range loads {
			out = append(out, Probe{Load: l, Over: 1})
		}
		return out
	}
	wide := Search{Low: 100, High: 10000, Within: 0.03}
	point := Search{Low: 100, High: 100, Within: 0.03}
	whole := Search{Low: 1, High: 20, Within: 0.03, Step: 1}
	for name, c := range map[string]struct {
		s      Search
		probes []Probe
		load   float64
		want   Bracket
	}{
		"two misses":             {wide, miss(2000, 1000), math.Sqrt(100 * 1000), Bracket{High: 1000}},
		"two misses, upwards":    {wide, miss(1000, 2000), math.Sqrt(100 * 1000), Bracket{High: 1000}},
		"two hits":               {wide, hit(2000, 1000), math.Sqrt(2000 * 10000), Bracket{Low: 2000}},
		"two hits, upwards":      {wide, hit(1000, 2000), math.Sqrt(2000 * 10000), Bracket{Low: 2000}},
		"missed twice, more met": {wide, append(miss(1000, 1000), hit(2000)...), math.Sqrt(100 * 1000), Bracket{High: 1000}},
		"one load, missed":       {point, miss(100), 100, Bracket{High: 100}},
		"one load, missed twice": {point, miss(100, 100), 0, Bracket{High: 100, Done: true}},
		"one load, met":          {point, hit(100), 0, Bracket{Low: 100, Done: true}},
		"one load, not tried":    {point, nil, 100, Bracket{}},
		"two apart":              {whole, append(hit(6), miss(8)...), 7, Bracket{Low: 6, High: 8}},
		"one apart":              {whole, append(hit(6), miss(7, 7)...), 0, Bracket{Low: 6, High: 7, Done: true}},
		"one apart, missed once": {whole, append(hit(6), miss(7)...), 7, Bracket{Low: 6, High: 7}},
		"within 3 %":             {wide, append(hit(1000), miss(1030, 1030)...), 0, Bracket{Low: 1000, High: 1030, Done: true}},
		"more than 3 %":          {wide, append(hit(1000), miss(1031, 1031)...), 1015.5, Bracket{Low: 1000, High: 1031}},
		"never a measurement":    {wide, slices.Repeat([]Probe{{Load: 500, Over: math.NaN()}}, 4), 0, Bracket{Unusable: 500, Done: true}},
		"no load at all, met":    {wide, hit(0), 1000, Bracket{}},
		"not yet a measurement":  {wide, slices.Repeat([]Probe{{Load: 500, Over: math.NaN()}}, 3), 500, Bracket{}},
	} {
		if load, b := c.s.Next(c.probes); math.Abs(load-c.load) > 1e-9 || b != c.want {
			t.Errorf("%s: %v %+v, want %v %+v", name, load, b, c.load, c.want)
		}
	}
	// What was not reached counts with 1.4: of four probes three at -0.46 leave 0.02, at -0.47 less than nothing.
	for over, want := range map[float64]outcome{-0.46: missed, -0.47: met} {
		if got := decide(append([]Probe{{Behind: true}}, slices.Repeat([]Probe{{Over: over}}, 3)...)); got != want {
			t.Errorf("behind, and three at %v: %v", over, got)
		}
	}
	if got := decide(slices.Repeat([]Probe{{Over: 0.01}}, 3)); got != undecided {
		t.Errorf("three near: %v", got)
	}
}

// Values of no weight say nothing of where the bins begin.
func TestHumpsBeginAtTheLeastValueWithWeight(t *testing.T) {
	want, _ := Bimodal([]Weighted{{100, 900}, {400, 100}})
	for _, none := range []Weighted{{90, 0}, {90, -1}, {0, 50}, {-90, 50}, {500, 0}, {math.Inf(1), 50}, {math.NaN(), 50}, {90, math.NaN()}, {90, math.Inf(1)}} {
		if got, two := Bimodal([]Weighted{none, {400, 100}, {100, 900}}); !two || got != want {
			t.Errorf("beside %v: %+v, want %+v", none, got, want)
		}
	}
	if want.LowShare != 0.9 || want.Split != 100*math.Exp2(8.5/8) {
		t.Errorf("%+v", want)
	}
}

// Where only one asymptote was seen, it is the mean of the logarithms: of what never bends n - x, of what
// is flat from the start x. The end that the other one would bend is above it, so that it moves away.
func TestCurvesOfOneAsymptote(t *testing.T) {
	var n, line, flat []float64
	slope, level := 0.0, 0.0
	for i := range 9 {
		depth, noise := float64(i)*math.Ln2, []float64{0.1, -0.07, 0.02, -0.05, 0.01, -0.04, 0.03, -0.1, 0.1}[i]
		n, line, flat = append(n, depth), append(line, depth+5+noise), append(flat, 7+noise)
		slope, level = slope+(-5-noise)/9, level+(7+noise)/9
	}
	for _, p := range []float64{10, 30} {
		up, even := fitAt(p, n, line), fitAt(p, n, flat)
		near(t, "slope", math.Log(up.R0), slope, 1e-6)
		near(t, "level", math.Log(even.Cap), level, 1e-6)
		if math.Log(up.Cap) < line[8]+0.5 || math.Log(even.R0) > n[0]-flat[0]-0.5 {
			t.Errorf("bend of %v: %+v and %+v", p, up, even)
		}
	}
}
