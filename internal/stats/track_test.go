package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// history is a kind of nightly series: the truth of a night as a share of the first, NaN for one that was
// not measured, and how the noise of a night depends on that of the night before.
type history struct {
	name   string
	truth  func(night int) float64
	rho    float64
	spread float64 // 0 for 1.5 %
	tails  bool    // of Student's distribution with 4 degrees
	week   float64 // how much less Saturdays and Sundays reach
	nights int     // 0 for 30
	accept int     // the night whose level is accepted, 0 for none
	from   int     // the night from which on a loss is there for good, 0 for never
	within int     // nights after it in which 95 of 100 must be known
	most   int     // series in 1,000 with a word about a night without a loss
}

// poison are four nights at 60 % and a loss of 8 % for good.
func poison(i int) float64 {
	switch {
	case i == 2 || i == 9 || i == 10 || i == 16:
		return 0.6
	case i >= 20:
		return 0.92
	}
	return 1
}

func stepAt(night int, to float64) func(int) float64 {
	return func(i int) float64 {
		if i >= night {
			return to
		}
		return 1
	}
}

func fallsFrom(night int) func(int) float64 {
	return func(i int) float64 { return math.Pow(0.99, float64(max(0, i-night+1))) }
}

// histories are the kinds that the bars stand for, then those that another generator may have.
func histories() []history {
	unchanged := func(int) float64 { return 1 }
	return []history{
		{name: "flat", truth: unchanged, most: 10},
		{name: "nine of 30 nights missing", truth: func(i int) float64 {
			if i%5 == 3 || i > 12 && i < 17 {
				return math.NaN()
			}
			return 1
		}, most: 10},
		{name: "step of -8 % at night 20", truth: stepAt(20, 0.92), from: 20, within: 3, most: 10},
		{name: "drift of -1 % a night from the first", truth: fallsFrom(1), from: 1, within: 13, most: 10},
		{name: "drift of -1 % a night from night 12", truth: fallsFrom(12), from: 12, within: 12, most: 10},
		{name: "single night of -40 %", truth: func(i int) float64 {
			if i == 22 {
				return 0.6
			}
			return 1
		}, most: 10},
		{name: "four nights of -40 %, then a step of -8 %", truth: poison, from: 20, within: 3, most: 10},
		{name: "autocorrelated (0.6)", truth: unchanged, rho: 0.6, most: 10},
		{name: "another machine at night 15, accepted", truth: stepAt(15, 0.7), accept: 15, most: 10},

		{name: "flat at 5 %", truth: unchanged, spread: 0.05, most: 10},
		{name: "step of -25 % at 5 %", truth: stepAt(20, 0.75), spread: 0.05, from: 20, within: 3, most: 10},
		{name: "flat, 90 nights", truth: unchanged, nights: 90, most: 30},
		{name: "autocorrelated (0.3)", truth: unchanged, rho: 0.3, most: 10},
		{name: "autocorrelated (0.8)", truth: unchanged, rho: 0.8, most: 50},
		{name: "autocorrelated (0.6), step of -12 %", truth: stepAt(20, 0.88), rho: 0.6, from: 20, within: 5, most: 10},
		{name: "autocorrelated (0.6), at 5 %", truth: unchanged, rho: 0.6, spread: 0.05, most: 50},
		{name: "autocorrelated (0.6), at 0.5 %", truth: unchanged, rho: 0.6, spread: 0.005, most: 10},
		{name: "step of -4 % at 0.5 %", truth: stepAt(20, 0.96), spread: 0.005, from: 20, within: 3, most: 10},
		{name: "heavy tails", truth: unchanged, tails: true, most: 100},
		{name: "heavy tails, step of -8 %", truth: stepAt(20, 0.92), tails: true, from: 20, within: 4, most: 100},
		{name: "weekends at -3 %", truth: unchanged, week: 0.03, most: 20},
		{name: "a step of +8 %", truth: stepAt(15, 1.08), most: 10},
	}
}

// heard is what was said of series of one kind.
type heard struct{ accused, late, after, green int }

func (h history) simulate(tb testing.TB, series int, seed uint64) (o heard) {
	for s := range series {
		rng := rand.New(rand.NewPCG(uint64(s), seed))
		normal := rng.NormFloat64
		if h.tails {
			normal = func() float64 {
				chi := 0.0
				for range 4 {
					chi += square(rng.NormFloat64())
				}
				return rng.NormFloat64() / math.Sqrt(chi/2)
			}
		}
		track, noise := NewTrack(10, false), normal()
		wrongly, found := false, -1
		for night := range cmp.Or(h.nights, 30) {
			truth := h.truth(night)
			noise = h.rho*noise + math.Sqrt(1-h.rho*h.rho)*normal()
			if math.IsNaN(truth) {
				continue
			}
			figure := 20000 * truth * math.Exp(cmp.Or(h.spread, 0.015)*noise)
			if (night+s)%7 < 2 {
				figure *= 1 - h.week
			}
			if h.accept > 0 && night == h.accept {
				track.Accept()
			}
			_, side, _, err := track.Next(figure, 1, 0.03)
			if err != nil {
				tb.Fatal(err)
			}
			lost := h.from > 0 && night >= h.from
			wrongly = wrongly || side < 0 && (truth >= 1 || h.accept > 0)
			if lost && found < 0 && side < 0 {
				found = night
			}
			if lost && found >= 0 {
				if o.after++; side >= 0 {
					o.green++
				}
			}
		}
		if wrongly {
			o.accused++
		}
		if h.from > 0 && (found < 0 || found >= h.from+h.within) {
			o.late++
		}
	}
	return o
}

// number is a variable of the environment, or another number.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// How often a night without a loss is called worse, and how soon a loss that stays is known, and for
// how long. PLIMSOLL_NIGHTS is how many series of each kind and seed; PLIMSOLL_SEED the first of three.
func TestTrackOfNights(t *testing.T) {
	series, seed := number("PLIMSOLL_NIGHTS", 12), number("PLIMSOLL_SEED", 491)
	for _, h := range histories() {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			var o heard
			for k := range 3 {
				one := h.simulate(t, series, uint64(seed+k))
				o.accused, o.late, o.after, o.green = o.accused+one.accused, o.late+one.late, o.after+one.after, o.green+one.green
			}
			all := float64(3 * series)
			t.Logf("%s: of %.0f series %d accuse a night without a loss, %d find the loss later than %d nights, "+
				"of %d nights after it was found %d are green", h.name, all, o.accused, o.late, h.within, o.after, o.green)
			// Three standard errors of what is counted are allowed.
			most := func(rate float64) float64 { return rate*all + 3*math.Sqrt(rate*(1-rate)*all) }
			if float64(o.accused) > most(float64(h.most)/1000) || float64(o.late) > most(0.05) ||
				float64(o.green) > most(0.01)*float64(o.after)/all {
				t.Errorf("want at most %d in 1,000, 5 %% late, 1 %% green", h.most)
			}
		})
	}
}

// A level that is accepted is the expected one from its first run on; one that is better needs no
// acceptance, and one bad run among the first five makes no later loss unseen.
func TestTrackByHand(t *testing.T) {
	at := func(track *Track, xs ...float64) (sides []int, last *Shift) {
		for _, x := range xs {
			_, side, s, err := track.Next(x, 1, 0.03)
			if err != nil {
				t.Fatal(err)
			}
			sides, last = append(sides, side), s
		}
		return sides, last
	}
	same := func(what string, got, want []int) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	flat := []float64{1000, 1010, 990, 1005, 995, 1002, 998}
	track := NewTrack(10, false)
	at(track, flat...)
	sides, s := at(track, 800, 790, 805, 798)
	same("a step", sides, []int{-1, -1, -1, -1})
	if s == nil || s.At != 7 || s.Drift || math.Abs(s.Size.Center-0.798) > 0.005 || s.Size.Lo > 0.79 || s.Size.Hi < 0.8 {
		t.Errorf("the step: %+v", s)
	}
	track.Accept()
	sides, _ = at(track, 801, 795, 803)
	same("accepted", sides, []int{0, 0, 0})
	sides, _ = at(track, 640, 640)
	same("and lost again", sides, []int{-1, -1})

	track = NewTrack(10, false)
	at(track, flat...)
	sides, _ = at(track, 1300, 1290, 1305, 1298, 1303, 1300)
	same("better", sides, []int{1, 1, 1, 1, 1, 0})
	sides, _ = at(track, 1000)
	same("back to what it was", sides, []int{-1})

	track = NewTrack(10, false)
	at(track, 1000, 600, 990, 1005, 995, 1002, 998, 1001, 999)
	sides, _ = at(track, 800, 1000, 750, 750)
	same("a bad run among the first", sides, []int{-1, 0, -1, -1})

	track = NewTrack(10, true)
	at(track, flat...)
	sides, _ = at(track, 1200, 800, 1000)
	same("a latency", sides, []int{-1, 1, 0})
	if _, _, _, err := track.Next(0, 1, 0.03); err == nil {
		t.Error("a figure of 0 passed")
	}
}

// Expect is what a run should be after these, of fewer times as many rounds.
func Expect(earlier []float64, fewer, floor float64) (Expected, error) {
	tr := NewTrack(len(earlier), false)
	for _, x := range earlier {
		if _, _, _, err := tr.Next(x, 1, floor); err != nil {
			return Expected{}, err
		}
	}
	return tr.expect(len(earlier), fewer, floor), nil
}

// Outside is -1, 0 or 1 for a figure below, within or above what was expected.
func (e Expected) Outside(x float64) int {
	switch {
	case e.TooFew != "":
		return 0
	case x < e.Level.Lo:
		return -1
	case x > e.Level.Hi:
		return 1
	}
	return 0
}
