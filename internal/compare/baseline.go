package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/stats"
)

// Standing is a new figure against what was expected.
type Standing string

// The standings. Unjudged has a reason.
const (
	AsExpected Standing = "as expected"
	Regression Standing = "regression"
	Better     Standing = "better"
	Unjudged   Standing = "not judged"
)

// Against is a new run held to a baseline: earlier runs, or a table of expected figures.
type Against struct {
	Run      string     `json:"run"`
	Baseline string     `json:"baseline"` // "the last 10 runs", or a table's name
	Rows     []Judgment `json:"rows"`
	Notes    []string   `json:"notes,omitempty"`
}

// Judgment is one scenario's figure against its baseline.
type Judgment struct {
	Scenario string         `json:"scenario"`
	Figure   Figure         `json:"figure"`
	Now      stats.Estimate `json:"now"`
	Rounds   int            `json:"rounds"`
	// Expected is the centre and the limits of what was expected: at 99 % from earlier runs, or a
	// tolerance.
	Expected stats.Estimate `json:"expected"`
	Earlier  int            `json:"earlier_runs,omitempty"`
	Standing Standing       `json:"standing"`
	// LeastSeen is about the least fall that would have been seen, as a share; 0 when nothing could
	// have been.
	LeastSeen float64 `json:"least_seen,omitempty"`
	Why       string  `json:"why,omitempty"`
	// Lasting is the change that this run is part of, nil where it is as expected.
	Lasting *Lasting `json:"lasting,omitempty"`
	// Changed are facts that changed since the run before, or since the one before the change: a
	// likely cause.
	Changed []string `json:"changed,omitempty"`

	unfit unfit // of one that is not judged: what is in the way
}

// loss is how much worse the figure is than expected, as a share; of a step that holds for several runs,
// at least how much worse these are together.
func (j Judgment) loss() float64 {
	worse := -1.0
	if j.Figure.Lower {
		worse = 1
	}
	loss := worse * j.Change()
	if l := j.Lasting; l != nil && !l.Drift && l.Runs > 1 {
		loss = max(loss, worse*(l.Size.Center-1))
	}
	return loss
}

// Change is the new figure over the expected one, less 1.
func (j Judgment) Change() float64 {
	if j.Expected.Center <= 0 {
		return 0
	}
	return j.Now.Center/j.Expected.Center - 1
}

// AgainstRuns judges a run by earlier ones of the same scenarios, layout and host, at most last of
// each.
func AgainstRuns(now *bundle.Bundle, earlier []*bundle.Bundle, last int) *Against {
	a := &Against{Run: now.Run.ID, Baseline: fmt.Sprintf("the last %d runs", last), Rows: lacks(now)}
	earlier = slices.DeleteFunc(slices.Clone(earlier), func(b *bundle.Bundle) bool {
		return b.Run.ID == now.Run.ID || b.Run.Created.After(now.Run.Created) || b.Run.State != bundle.Finished ||
			b.Run.Policy.SharedHost != "" // the others' load is in its figures
	})
	a.Rows = append(a.Rows, vanished(now, earlier)...)
	for i, b := range earlier {
		if sentence := copyOf(b, earlier[:i]); sentence != "" {
			a.Rows = append(a.Rows, absent("the runs before", sentence))
		}
	}
	series, notes := History(earlier, Filter{})
	a.Notes = notes
	for _, rounds := range byScenario(samplesOf(now)) {
		a.Rows = append(a.Rows, judged(rounds, series, last))
	}
	return a
}

// vanished are scenarios that the newest run which shares one with this run has measured, and this
// one has not: a nightly that loses a scenario must not pass by the others.
func vanished(now *bundle.Bundle, earlier []*bundle.Bundle) []Judgment {
	measures := func(b *bundle.Bundle, name string) bool {
		return slices.ContainsFunc(b.Scenarios, func(s bundle.Scenario) bool { return s.Name == name })
	}
	var before *bundle.Bundle
	for _, b := range earlier {
		shares := b.Run.Suite.Name == now.Run.Suite.Name && b.Run.Host == now.Run.Host &&
			slices.ContainsFunc(now.Scenarios, func(s bundle.Scenario) bool { return measures(b, s.Name) })
		if shares && (before == nil || b.Run.Created.After(before.Run.Created)) {
			before = b
		}
	}
	if before == nil {
		return nil
	}
	var missing []Judgment
	for _, s := range before.Scenarios {
		if !measures(now, s.Name) {
			missing = append(missing, absent(s.Name, "it was measured in "+before.Run.ID+" and not in this run"))
		}
	}
	return missing
}

// absent is a row of what cannot be judged because it is not there.
func absent(scenario, why string) Judgment {
	return Judgment{Scenario: scenario, Standing: Unjudged, Why: why, unfit: unfitMissing}
}

// lacks is what a run does not have that should be judged.
func lacks(b *bundle.Bundle) []Judgment {
	var missing []Judgment
	if sentence := unended(b); sentence != "" {
		missing = append(missing, absent("the run", sentence))
	}
	if len(samplesOf(b)) == 0 {
		missing = append(missing, absent("the run", b.Run.ID+" measured nothing"))
	}
	return missing
}

// judged holds one scenario's rounds against its series.
func judged(rounds []Sample, series []Series, last int) Judgment {
	key, figure := keyOf(rounds[0], ""), mainFigure(rounds[0].Scenario)
	point := pointOf(figure, rounds)
	j := Judgment{Scenario: key.Scenario, Figure: figure, Now: point.Value, Rounds: point.Rounds, Standing: Unjudged}
	if j.unfit, j.Why = fitAlone(figure, rounds); j.unfit != fit {
		return j
	}
	j.unfit = unfitMissing
	at := slices.IndexFunc(series, func(s Series) bool { return s.Key == key })
	if at < 0 {
		j.Why = noSeries(key, series)
		return j
	}
	points := append(series[at].usable(), point)
	earlier := 0.0 // rounds
	for _, p := range points[:len(points)-1] {
		earlier += float64(p.Rounds) / float64(len(points)-1)
	}
	floor := leastFloor
	if point.Value.HasInterval() {
		floor = max(floor, math.Abs(point.Value.Rel()))
	}
	e, side, changes, err := follow(points, figure, last, earlier/float64(max(1, point.Rounds)), floor)
	if err != nil {
		j.Why = err.Error()
		return j
	}
	j.Earlier = e.Level.N
	j.Expected = e.Level
	if e.TooFew != "" {
		j.Why = e.TooFew
		return j
	}
	j.LeastSeen, j.unfit = e.LeastSeen, fit
	if j.Standing = standing(side); side == 0 {
		return j
	}
	j.Lasting = &changes[len(changes)-1]
	first := slices.IndexFunc(points, func(p Point) bool { return p.Run == j.Lasting.Run })
	j.Changed = changed(points[first-1].Facts, points[first].Facts)
	return j
}

// standing is that of a figure which is worse (-1) than what was expected, as expected (0) or better (1).
func standing(side int) Standing { return [...]Standing{Regression, AsExpected, Better}[side+1] }

// fitAlone is the fitness of rounds that nothing was measured in turn with.
func fitAlone(f Figure, rounds []Sample) (unfit, string) {
	u, why := fitness(f, rounds)
	if u == fit {
		if why = sharedHost(rounds); why != "" {
			u = unfitMissing
		}
	}
	return u, why
}

// noSeries says why there is nothing to judge by: what differs from the nearest runs of that
// scenario.
func noSeries(key Key, series []Series) string {
	best := ""
	fewest := math.MaxInt
	for _, serie := range slices.Backward(series) {
		k := serie.Key
		if k.Scenario != key.Scenario || k.Suite != key.Suite {
			continue
		}
		differ := k.Differences(key)
		if k.Group != key.Group {
			differ = append(differ, fmt.Sprintf("host: %s and %s", k.Group, key.Group))
		}
		if len(differ) < fewest {
			fewest, best = len(differ), strings.Join(differ, "; ")
		}
	}
	if best == "" {
		return fmt.Sprintf("too few runs to judge (0 of %d)", stats.LeastBaseline)
	}
	return "earlier runs measured something else: " + best
}

// changed lists the facts that are not what they were.
func changed(was, is map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if old := was[name]; old != "" && old != is[name] {
			all = append(all, fmt.Sprintf("%s was %s and is %s", name, old, is[name]))
		}
	}
	return all
}
