package run

import (
	"math"
	"slices"
	"time"

	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// roundsOverSeconds is how many times the spread between rounds exceeds what their seconds
	// explain before it matters, and roundsSpread the spread from which on anyone would care.
	roundsOverSeconds = 3
	roundsSpread      = 0.01
	// driftRounds and driftChance: fewer rounds cannot show a trend, and one in a hundred of steady
	// sessions looks like one.
	driftRounds = 6
	driftChance = 0.01
	driftLeast  = 0.02
)

// roundFigures are the IOPS of a scenario's valid rounds in the order they ran, and the standard
// error of each by its own seconds, as a share; 0 where that is not known.
func roundFigures(m measurement) (rounds []*result.Result, iops, within []float64) {
	for _, r := range m.Rounds {
		if n := roundIOPS(r); r.State == result.Done && n > 0 && !math.IsInf(n, 0) {
			rounds, iops, within = append(rounds, r), append(iops, n), append(within, r.IOPS.Rel()/1.96)
		}
	}
	return rounds, iops, within
}

func roundIOPS(r *result.Result) float64 {
	return float64(r.Total.Read.IOPS + r.Total.Write.IOPS + r.Total.Trim.IOPS)
}

// each is f of all values.
func each[A, B any](all []A, f func(A) B) []B {
	out := make([]B, len(all))
	for i, x := range all {
		out[i] = f(x)
	}
	return out
}

func roundsDiffer(_ *facts, m measurement) (f fault) {
	_, iops, within := roundFigures(m)
	if len(iops) < stats.LeastRounds || slices.Contains(within, 0) {
		return f
	}
	p, err := stats.PrecisionOf(iops, 0.03)
	inside := stats.Quantile(within, 0.5)
	if err != nil || p.Spread <= roundsSpread || p.Spread <= roundsOverSeconds*inside {
		return f
	}
	return m.Finds("The %d rounds vary by %v, %s what their seconds explain: more rounds make the figure more certain; "+
		"longer ones do not.", len(iops), p.Spread, text.Times(p.Spread/inside)).
		Saw("spread between rounds", p.Spread, "at most "+text.Percent(roundsOverSeconds*inside),
			"IOPS of each round").
		Saw("standard error within a round", inside, "", "batch means of its seconds")
}

func roundApart(c *facts, report reporter) {
	for _, m := range c.Measured() {
		rounds, iops, _ := roundFigures(m)
		median := stats.Quantile(iops, 0.5)
		for _, k := range stats.Apart(each(iops, math.Log)) {
			if math.Abs(iops[k]/median-1) > driftLeast {
				report(m.Finds("The round of %s did %s IOPS, %v of the median of %d rounds.",
					rounds[k].Start.UTC().Format(time.TimeOnly), units.IOPS(iops[k]), iops[k]/median, len(iops)).
					Saw("IOPS of the round", units.IOPS(iops[k]), "near "+units.IOPS(median).String(), rounds[k].Dir))
			}
		}
	}
}

func roundsDrift(_ *facts, m measurement) (f fault) {
	rounds, _, _ := roundFigures(m)
	if len(rounds) < driftRounds {
		return f
	}
	slices.SortStableFunc(rounds, func(a, b *result.Result) int { return a.Start.Compare(b.Start) })
	iops := each(rounds, roundIOPS)
	p, direction := stats.Trend(iops)
	third := len(iops) / 3
	first, last := stats.Quantile(iops[:third], 0.5), stats.Quantile(iops[len(iops)-third:], 0.5)
	if p >= driftChance || math.Abs(last/first-1) < driftLeast {
		return f
	}
	word := "fall"
	if direction > 0 {
		word = "rise"
	}
	return m.Finds("The %d rounds %s from %s to %s IOPS in the order they were measured.", len(iops), word,
		round(first), round(last)).
		Saw("chance of such an order in a steady session", p, "at least "+text.Percent(driftChance),
			"Mann-Kendall test of the rounds' IOPS")
}
