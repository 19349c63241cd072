package stats

import (
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
	from   int // the night from which on a loss is there for good, 0 for never
	within int // nights after it in which 95 of 100 must be known
	most   int // series in 1,000 with a word about a night without a loss
}

func histories() []history {
	flat := func(int) float64 { return 1 }
	return []history{
		{name: "flat", truth: flat, most: 10},
		{name: "missing nights", truth: func(i int) float64 {
			if i%5 == 3 || i > 12 && i < 17 {
				return math.NaN()
			}
			return 1
		}, most: 10},
		{name: "step of -8 %", truth: func(i int) float64 {
			if i >= 20 {
				return 0.92
			}
			return 1
		}, from: 20, within: 3, most: 10},
		{name: "drift of -1 % a night from the first", truth: func(i int) float64 { return math.Pow(0.99, float64(i)) }, from: 1, within: 13, most: 10},
		{name: "drift of -1 % a night", truth: func(i int) float64 {
			return math.Pow(0.99, float64(max(0, i-11)))
		}, from: 12, within: 12, most: 10},
		{name: "single bad night", truth: func(i int) float64 {
			if i == 22 {
				return 0.6
			}
			return 1
		}, most: 10},
		{name: "poisoned, then a step of -8 %", truth: func(i int) float64 {
			switch {
			case i == 2 || i == 9 || i == 10 || i == 16:
				return 0.6
			case i >= 20:
				return 0.92
			}
			return 1
		}, from: 20, within: 3, most: 10},
		{name: "autocorrelated, 0.6", truth: flat, rho: 0.6, most: 60},
	}
}

// Thirty nights at a spread of 1.5 %: how often a night without a loss is called worse, and how soon a loss
// that stays is known, and for how long. PLIMSOLL_NIGHTS is how many series of each kind, of three seeds.
func TestTrackOfNights(t *testing.T) {
	series := 12
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_NIGHTS")); err == nil {
		series = n
	}
	for _, h := range histories() {
		for _, seed := range []uint64{491, 492, 493} {
			accused, late, after, green := 0, 0, 0, 0
			for s := range series {
				rng := rand.New(rand.NewPCG(uint64(s), seed))
				track, noise := NewTrack(10, false), rng.NormFloat64()
				wrongly, found := false, -1
				for night := range 30 {
					truth := h.truth(night)
					noise = h.rho*noise + math.Sqrt(1-h.rho*h.rho)*rng.NormFloat64()
					if math.IsNaN(truth) {
						continue
					}
					_, side, _, err := track.Next(20000*truth*math.Exp(0.015*noise), 1, 0.03)
					if err != nil {
						t.Fatal(err)
					}
					lost := h.from > 0 && night >= h.from
					wrongly = wrongly || side < 0 && truth == 1
					if lost && found < 0 && side < 0 {
						found = night
					}
					if lost && found >= 0 {
						if after++; side >= 0 {
							green++
						}
					}
				}
				if wrongly {
					accused++
				}
				if h.from > 0 && (found < 0 || found >= h.from+h.within) {
					late++
				}
			}
			t.Logf("%s, seed %d: of %d series %d accuse a night without a loss, %d find the loss later than %d nights, "+
				"of %d nights after it was found %d are green", h.name, seed, series, accused, late, h.within, after, green)
			// Three standard errors of what is counted are allowed.
			most := func(rate float64) float64 {
				return rate*float64(series) + 3*math.Sqrt(rate*(1-rate)*float64(series))
			}
			if float64(accused) > most(float64(h.most)/1000) || float64(late) > most(0.05) || float64(green) > most(0.01)*float64(after)/float64(series) {
				t.Errorf("%s, seed %d: want at most %d in 1,000, 5 %% late, 1 %% green", h.name, seed, h.most)
			}
		}
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
	return tr.expect(fewer, floor), nil
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
