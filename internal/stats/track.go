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
// places at which a lasting change is looked for. Together they make less than one in 100 series of 30
// runs of which none changed (docs/evidence/compare.md).
const (
	beyondBy = 0.00043
	stepBy   = 0.00005
	driftBy  = 0.0002
)

// What noise that depends on the value before reaches by itself is no change: a step must be more than this
// chance of one run, and a drift in all as many of its standard deviations.
const (
	farBy    = 0.001
	farDrift = 5.5
)

// unseen is what a run may be off besides, that differences of earlier ones do not show.
const unseen = 0.025

// mostSearched bounds the work of looking for a lasting change.
const mostSearched = 60

// settledAfter is how many runs that are better make a level that the next are held to.
const settledAfter = 5

// Expected is what a new run's figure should be, given earlier ones.
type Expected struct {
	// Level is the median of the last runs that are no part of a change; Lo and Hi bound what a new
	// run should be.
	Level Estimate
	// LeastSeen is about the least loss that would have been seen in four of five cases, as a
	// share: 0.22 is 22 %. It is +Inf when there are too few runs.
	LeastSeen float64
	// TooFew is "too few runs to judge (3 of 5)", or empty.
	TooFew string
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
// A run is worse when it lies outside the prediction interval around the median of the last good runs, and
// outside that of the run before it; the spread is that of all runs around the levels that they had. A
// change too small for one run to show is looked for in all of the good ones, at each place, as a step
// and as a drift. The better of the two that is
// certain splits the series there. It stands until runs return to the old level.
//
// Runs may depend on those before them, and how much is not known of a few. All answers are therefore a
// mean over several lag-1 autocorrelations, each weighted by how well the series agrees with it.
type Track struct {
	last  int  // how many good runs make the level
	lower bool // less is better
	xs    []float64
	good  []int
	away  []int // since a change, none while runs are as expected
	drift bool
	was   scatter // of levels that the series had earlier
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
func (t *Track) settle(level []int) { t.was.add(t.fit(level, 0, flat), len(level), 1) }

func (t *Track) of(at []int) []float64 {
	xs := make([]float64, len(at))
	for i, k := range at {
		xs[i] = t.xs[k]
	}
	return xs
}

// noise is how runs differ within levels.
func (t *Track) noise() scatter {
	n := t.was
	if t.drift {
		all := slices.Concat(t.good, t.away)
		n.add(t.fit(all, len(t.good), ramp), len(all), 2)
		return n
	}
	n.add(t.fit(t.good, 0, flat), len(t.good), 1)
	n.add(t.fit(t.away, 0, flat), len(t.away), 1)
	return n
}

// level is the median of the last of some runs, and the variance of that median in those of one run.
func (t *Track) level(of []int) (center, variance float64) {
	last := of[max(0, len(of)-t.last):]
	return Quantile(t.of(last), 0.5), math.Pi / 2 / float64(len(last))
}

// expect is what the next value should be. Where it is of fewer rounds than those before it, its variance
// is taken to be as many times larger, as if all of it were between rounds; the interval reaches at
// least floor to either side: runs that agree by chance make no alarm.
func (t *Track) expect(at int, fewer, floor float64) Expected {
	e := Expected{LeastSeen: math.Inf(1), Level: Estimate{N: min(t.last, len(t.good))}}
	n := t.noise()
	if len(t.good) > 0 {
		m, _ := t.level(t.good)
		e.Level.Center = t.figure(m)
		e.Level.Lo, e.Level.Hi = e.Level.Center, e.Level.Center
	}
	if n.df < LeastBaseline-1 || len(t.good) == 0 {
		e.TooFew = fmt.Sprintf("too few runs to judge (%d of %d)", len(t.good), LeastBaseline)
		return e
	}
	m, v := t.level(t.good)
	nearest := t.good[len(t.good)-1]
	next, se := n.blend(func(_ int, rho, sd float64) (float64, float64) {
		r := math.Pow(rho, float64(at-nearest))
		return m + r*(t.xs[nearest]-m), sd * math.Sqrt((1-r*r)*max(1, fewer)+square(1-r)*v*memoryOf(rho))
	})
	half := max(math.Hypot(tQuantile(1-beyondBy, n.df)*se, unseen), math.Log1p(floor))
	plain := math.Hypot(tQuantile(1-beyondBy, n.df)*n.sd()*math.Sqrt(v+max(1, fewer)), unseen)
	e.Level.Lo, e.Level.Hi = t.figure(min(next-half, m-plain)), t.figure(max(next+half, m+plain))
	if t.lower {
		e.Level.Lo, e.Level.Hi = e.Level.Hi, e.Level.Lo
	}
	e.LeastSeen = math.Abs(math.Expm1(-(max(half, plain) + tQuantile(power, n.df)*se)))
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
	e = t.expect(i, fewer, floor)
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
	if e = t.expect(i, fewer, floor); e.TooFew != "" {
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
	n := t.noise()
	sd, df := n.sd(), n.df
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
	if n := t.noise(); math.Abs(is-was) <= tQuantile(1-stepBy, n.df)*n.sd()*math.Sqrt(v+w) {
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
		df := t.was.df + left - 1
		sd := math.Sqrt((t.was.squares[0] + variance(xs)*(left-1)) / df)
		sure := math.Abs(off-mean(xs)) / (sd * math.Sqrt(1+1/left))
		if math.Abs(off-mean(xs)) > math.Log1p(0.03) && sure > tQuantile(1-stepBy, df) {
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
	skipped := max(0, len(of)-mostSearched)
	of = of[skipped:]
	n, most := len(of), 1.0
	df := float64(n-2) + t.was.df
	if n <= LeastBaseline {
		return 0, false, false
	}
	limits := [...]float64{step: tQuantile(1-stepBy, df), ramp: tQuantile(1-driftBy, df)}
	far := [...]float64{step: tQuantile(1-farBy, df), ramp: farDrift}
	for k := range n {
		for _, change := range []change{step, ramp} {
			if k < beforeStep && change == step || n-k < sinceStep || change == ramp && n-k < sinceDrift {
				continue
			}
			size, se, sd := t.sizeOf(of, k, change)
			total := math.Abs(size)
			if change == ramp {
				total *= float64(of[n-1] - of[k] + 1)
			}
			if total < max(math.Log1p(0.02), far[change]*sd) {
				continue
			}
			if sure := math.Abs(size) / se / limits[change]; sure > most {
				at, drift, ok, most = k, change == ramp, true, sure
			}
		}
	}
	return skipped + at, drift, ok
}

// sizeOf is the step, or the change from one run to the next, that begins with the run of[k], its standard
// error, and the standard deviation of runs around it.
func (t *Track) sizeOf(of []int, k int, c change) (size, se, sd float64) {
	n := t.was
	fits := t.fit(of, k, c)
	n.add(fits, len(of), 2)
	size, se = n.blend(func(i int, _, sd float64) (float64, float64) {
		return fits[i].size, atLeast(sd, n.df) * fits[i].each
	})
	return size, se, atLeast(n.sd(), n.df)
}

// Runs differ by about usual, whatever a few of them that agree by chance say: a spread that is less is taken
// together with as many runs as added that differ by it.
const (
	usual = 0.015
	added = 4
)

// atLeast is a standard deviation that df degrees of freedom may understate.
func atLeast(sd, df float64) float64 {
	return max(sd, math.Sqrt((df*sd*sd+added*usual*usual)/(df+added)))
}

// shift is the change in force, with its size.
func (t *Track) shift() *Shift {
	s := &Shift{At: t.away[0], Drift: t.drift}
	n := t.noise()
	was, v := t.level(t.good)
	size := mean(t.of(t.away)) - was
	se := n.sd() * math.Sqrt(v+1/float64(len(t.away)))
	if t.drift {
		size, se, _ = t.sizeOf(slices.Concat(t.good, t.away), len(t.good), ramp)
	}
	half := tQuantile(upper, n.df) * se
	if t.lower {
		size = -size
	}
	s.Size = Estimate{Center: math.Exp(size), Lo: math.Exp(size - half), Hi: math.Exp(size + half), N: len(t.away)}
	return s
}
