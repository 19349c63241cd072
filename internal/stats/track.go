package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// LeastBaseline is the fewest earlier runs that a new one is judged by.
const LeastBaseline = 5

// The chances of a false alarm, one side: for one run beyond what was expected, and for one of the many
// places at which a lasting change is looked for. Together they make about one in 100 series of 30
// runs of which none changed (docs/evidence/compare.md).
const (
	beyondBy = 0.0005
	stepBy   = 0.000005
	driftBy  = 0.00002
)

// leastSure is below all quantiles of Student's distribution that decide about a lasting change.
const leastSure = 4

// settledAfter is how many runs that are better make a level that the next are held to.
const settledAfter = 5

// Expected is what a new run's figure should be, given earlier ones.
type Expected struct {
	// Level is the median of the last runs that are no part of a change; Lo and Hi bound what a new
	// run should be.
	Level Estimate `json:"level"`
	// LeastSeen is about the least loss that would have been seen in four of five cases, as a
	// share: 0.22 is 22 %. It is +Inf when there are too few runs.
	LeastSeen float64 `json:"least_seen"`
	// TooFew is "too few runs to judge (3 of 5)", or empty.
	TooFew string `json:"too_few,omitempty"`
}

// Shift is a lasting change of a series.
type Shift struct {
	At int // index of the first value of it
	// Drift: each value is Size times the one before; otherwise Size is the new level over the old.
	Drift bool
	Size  Estimate
}

// Track follows the figures of a series of runs, the oldest first, and knows at each what it should
// be by those before it. Runs that are worse, one or many, are no part of what is expected of later ones,
// until one of them is accepted; a level that is better becomes the expected one after five runs.
//
// A run is worse when it lies outside the prediction interval: the median of the last good runs,
// and the spread of all runs around the levels that they had. A change too small for one run to show is
// looked for in all of the good ones, at each place, as a step and as a drift (least squares on
// logarithms; the noise's lag-1 autocorrelation, of the residuals, widens the error). The better
// of the two that is certain splits the series there. It stands until runs return to the old level.
type Track struct {
	last  int  // how many good runs make the level
	lower bool // less is better
	xs    []float64
	good  []int
	away  []int // since a change, none while runs are as expected
	drift bool
	// squares and degrees are of levels that the series had earlier.
	squares, degrees float64
}

// NewTrack follows figures of which the last that are good make the level; lower ones are better
// where lower is set.
func NewTrack(last int, lower bool) *Track { return &Track{last: max(1, last), lower: lower} }

// Accept makes the next value the first of a new level, however it compares with the old one.
func (t *Track) Accept() {
	t.settle(t.good)
	t.good, t.away = nil, nil
}

// settle keeps how much runs of a level that is left differed.
func (t *Track) settle(level []int) {
	if len(level) > 1 {
		t.squares += variance(t.of(level)) * float64(len(level)-1)
		t.degrees += float64(len(level) - 1)
	}
}

func (t *Track) of(at []int) []float64 {
	xs := make([]float64, len(at))
	for i, k := range at {
		xs[i] = t.xs[k]
	}
	return xs
}

// spread is the standard deviation within levels, and its degrees of freedom.
func (t *Track) spread() (sd, df float64) {
	squares, df := t.squares, t.degrees
	if t.drift {
		f := fitShape(t.of(slices.Concat(t.good, t.away)), len(t.good), true)
		squares, df = squares+f.squares, df+float64(len(t.good)+len(t.away)-2)
	} else {
		for _, level := range [][]int{t.good, t.away} {
			if n := float64(len(level) - 1); n > 0 {
				squares, df = squares+variance(t.of(level))*n, df+n
			}
		}
	}
	if df == 0 {
		return 0, 0
	}
	return math.Sqrt(squares / df), df
}

// level is the median of the last of some runs, and the variance of that median in those of one run.
func (t *Track) level(of []int) (center, variance float64) {
	last := of[max(0, len(of)-t.last):]
	return Quantile(t.of(last), 0.5), math.Pi / 2 / float64(len(last))
}

// expect is what the next value should be. Where it is of fewer rounds than those before it, its variance
// is taken to be as many times larger, as if all of it were between rounds; the interval reaches at
// least floor to either side: runs that agree by chance make no alarm.
func (t *Track) expect(fewer, floor float64) Expected {
	e := Expected{LeastSeen: math.Inf(1), Level: Estimate{N: min(t.last, len(t.good))}}
	sd, df := t.spread()
	if len(t.good) > 0 {
		m, _ := t.level(t.good)
		e.Level.Center = t.figure(m)
		e.Level.Lo, e.Level.Hi = e.Level.Center, e.Level.Center
	}
	if df < LeastBaseline-1 || len(t.good) == 0 {
		e.TooFew = fmt.Sprintf("too few runs to judge (%d of %d)", len(t.good), LeastBaseline)
		return e
	}
	m, v := t.level(t.good)
	se := sd * math.Sqrt(v+max(1, fewer))
	half := max(tQuantile(1-beyondBy, df)*se, math.Log1p(floor))
	e.Level.Lo, e.Level.Hi = t.figure(m-half), t.figure(m+half)
	if t.lower {
		e.Level.Lo, e.Level.Hi = e.Level.Hi, e.Level.Lo
	}
	e.LeastSeen = math.Abs(math.Expm1(-(half + tQuantile(power, df)*se)))
	return e
}

// figure is the value of a logarithm, whose sign makes less worse.
func (t *Track) figure(x float64) float64 {
	if t.lower {
		x = -x
	}
	return math.Exp(x)
}

// Next judges a value by those before it: -1 is worse, 0 as expected or not judged, 1 better.
// The shift is the change that holds at it, nil where none does.
func (t *Track) Next(x, fewer, floor float64) (e Expected, side int, s *Shift, err error) {
	logs, err := logsOf([]float64{x})
	if err != nil {
		return e, 0, nil, err
	}
	if t.lower {
		logs[0] = -logs[0]
	}
	i := len(t.xs)
	t.xs = append(t.xs, logs[0])
	e = t.expect(fewer, floor)
	switch {
	case e.TooFew != "":
		t.good = append(t.good, i)
		t.clean()
		return e, 0, nil, nil
	case len(t.away) > 0 && t.stays(i):
		t.away = append(t.away, i)
		t.back()
	default:
		t.away, t.drift = nil, false
		if x < e.Level.Lo || x > e.Level.Hi {
			t.away = []int{i}
			break
		}
		t.good = append(t.good, i)
		t.clean()
		t.split()
	}
	if len(t.away) == 0 {
		return e, 0, nil, nil
	}
	if e = t.expect(fewer, floor); e.TooFew != "" {
		return e, 0, nil, nil
	}
	s, side = t.shift(), 1
	if (s.Size.Center < 1) != t.lower {
		side = -1
	}
	if side > 0 && len(t.away) >= settledAfter {
		t.settle(t.good)
		t.good, t.away, t.drift = t.away, nil, false
	}
	return e, side, s, nil
}

// stays says that a value belongs to the change before it: it lies nearer to that than to the level, or
// both are possible and all of the change together is still certain.
func (t *Track) stays(i int) bool {
	x := t.xs[i]
	was, v := t.level(t.good)
	recent := t.away[max(0, len(t.away)-settledAfter):]
	is, w := t.level(recent)
	short := is - x // of returning
	if is < was {
		short = -short
	}
	sd, df := t.spread()
	switch {
	case 2*short <= math.Abs(is-was):
		return true
	case short > tQuantile(1-beyondBy, df)*sd*math.Sqrt(1+w):
		return false
	}
	all := t.of(append(slices.Clone(t.away), i))
	return math.Abs(mean(all)-was) > tQuantile(1-stepBy, df)*sd*math.Sqrt(1/float64(len(all))+v)
}

// back ends a change whose last runs have returned to the level, however slowly that shows.
func (t *Track) back() {
	at, _, ok := t.search(t.away)
	if !ok {
		return
	}
	was, v := t.level(t.good)
	is, w := t.level(t.away[at:])
	if all, _ := t.level(t.away); math.Abs(is-was) > math.Abs(all-was) {
		return
	}
	if sd, df := t.spread(); math.Abs(is-was) <= tQuantile(1-stepBy, df)*sd*math.Sqrt(v+w) {
		t.good, t.away, t.drift = append(t.good, t.away[at:]...), nil, false
	}
}

// clean leaves runs out of a level that lie far off all others of it: among the first, none could be
// judged.
func (t *Track) clean() {
	n := len(t.good)
	middle := Quantile(t.of(t.good), 0.5)
	near := slices.Clone(t.good)
	slices.SortStableFunc(near, func(a, b int) int {
		return cmp.Compare(math.Abs(t.xs[a]-middle), math.Abs(t.xs[b]-middle))
	})
	for far := (n - 1) / 3; far > 0; far-- {
		rest, off := near[:n-far], t.xs[near[n-far]]
		xs := t.of(rest)
		left := float64(len(rest))
		df := t.degrees + left - 1
		sd := math.Sqrt((t.squares + variance(xs)*(left-1)) / df)
		sure := math.Abs(off-mean(xs)) / (sd * math.Sqrt(1+1/left))
		if math.Abs(off-mean(xs)) > math.Log1p(0.03) && sure > leastSure && sure > tQuantile(1-stepBy, df) {
			slices.Sort(rest)
			t.good = rest
			return
		}
	}
}

// split ends the level where a lasting change began.
func (t *Track) split() {
	at, drift, ok := t.search(t.good)
	if !ok {
		return
	}
	if drift { // what fell already is needed to say what runs should be
		at = max(at, LeastBaseline)
	}
	t.good, t.away, t.drift = t.good[:at:at], t.good[at:], drift
}

// The fewest values on each side of a step and of the beginning of a drift.
const (
	beforeStep, sinceStep = 3, 2
	sinceDrift            = 4
)

// search finds the most certain lasting change of some runs, as the place of its first.
func (t *Track) search(of []int) (at int, drift, ok bool) {
	xs := t.of(of)
	n, most := len(xs), 1.0
	df := float64(n-2) + t.degrees
	if n <= LeastBaseline {
		return 0, false, false
	}
	var limits map[bool]float64
	for k := range n {
		for _, ramp := range []bool{false, true} {
			if k < beforeStep && !ramp || n-k < sinceStep || ramp && n-k < sinceDrift {
				continue
			}
			f := fitShape(xs, k, ramp)
			sd := math.Sqrt((f.squares + t.squares) / df * f.memory)
			sure := math.Abs(f.slope) / (sd * f.each)
			if sure < leastSure || !f.matters(ramp, n) {
				continue
			}
			if limits == nil {
				limits = map[bool]float64{false: tQuantile(1-stepBy, df), true: tQuantile(1-driftBy, df)}
			}
			if sure /= limits[ramp]; sure > most {
				at, drift, ok, most = k, ramp, true, sure
			}
		}
	}
	return at, drift, ok
}

// shape is a least squares fit of a step at, or of a drift from, one place of a series.
type shape struct {
	slope   float64 // the step, or the change from one value to the next
	end     float64 // of the shape: 1, or how many values a drift had
	squares float64 // of the residuals
	each    float64 // standard error of slope, where the residuals' deviation is 1
	memory  float64 // how many times their autocorrelation makes the variance of means larger
}

// matters says that the change up to the last of n values is more than 2 %, and that a drift is far more
// than what noise that depends on the value before drifts by.
func (s shape) matters(drift bool, n int) bool {
	total := math.Abs(s.slope * s.end)
	return total > math.Log1p(0.02) && (!drift || total > 5*math.Sqrt(s.squares/float64(n-2)))
}

// fitShape fits a level and a change that begins with the value at k.
func fitShape(xs []float64, k int, ramp bool) shape {
	n := float64(len(xs))
	z := make([]float64, len(xs))
	for i := k; i < len(xs); i++ {
		if z[i] = 1; ramp {
			z[i] = float64(i - k + 1)
		}
	}
	mx, mz := mean(xs), mean(z)
	var xz, zz float64
	for i := range xs {
		xz, zz = xz+(xs[i]-mx)*(z[i]-mz), zz+square(z[i]-mz)
	}
	s := shape{slope: xz / zz, end: z[len(z)-1], each: 1 / math.Sqrt(zz), memory: 1}
	before, products := 0.0, 0.0
	for i := range xs {
		e := xs[i] - mx - s.slope*(z[i]-mz)
		s.squares += e * e
		if i > 0 {
			products += e * before
		}
		before = e
	}
	if s.squares > 0 { // of what is left of n values by a fit of two the correlation is 2/n too low
		if r := min(0.8, products/s.squares+3/n); r > 0 {
			s.memory = (1 + r) / (1 - r)
		}
	}
	return s
}

// shift is the change in force, with its size.
func (t *Track) shift() *Shift {
	s := &Shift{At: t.away[0], Drift: t.drift}
	sd, df := t.spread()
	was, v := t.level(t.good)
	is, half := mean(t.of(t.away)), 0.0
	size := is - was
	half = tQuantile(1-(1-confidence)/2, df) * sd * math.Sqrt(v+1/float64(len(t.away)))
	if t.drift {
		f := fitShape(t.of(slices.Concat(t.good, t.away)), len(t.good), true)
		size, half = f.slope, tQuantile(1-(1-confidence)/2, df)*f.each*math.Sqrt(f.squares/max(1, df))
	}
	if t.lower {
		size = -size
	}
	s.Size = Estimate{Center: math.Exp(size), Lo: math.Exp(size - half), Hi: math.Exp(size + half), N: len(t.away)}
	return s
}
