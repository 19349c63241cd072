package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
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
func roundFigures(m *diagnose.Measurement) (rounds []*result.Result, iops, within []float64) {
	for _, r := range m.Rounds {
		n := float64(r.Total.Read.IOPS + r.Total.Write.IOPS + r.Total.Trim.IOPS)
		if r.State != result.Done || !(n > 0) || math.IsInf(n, 0) {
			continue
		}
		rounds, iops = append(rounds, r), append(iops, n)
		within = append(within, r.IOPS.Rel()/1.96)
	}
	return rounds, iops, within
}

func logs(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = math.Log(x)
	}
	return out
}

var roundsDiffer = &diagnose.Rule{
	Code: "PL420",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for i := range c.Runs {
			m := &c.Runs[i]
			_, iops, within := roundFigures(m)
			if len(iops) < stats.LeastRounds || slices.Contains(within, 0) {
				continue
			}
			p, err := stats.PrecisionOf(iops, 0.03)
			inside := stats.Quantile(within, 0.5)
			if err != nil || p.Spread <= roundsSpread || p.Spread <= roundsOverSeconds*inside {
				continue
			}
			report(finding.Finding{
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Message: fmt.Sprintf("The %d rounds spread by %s, %s what their seconds explain: more rounds make the figure "+
					"surer, longer ones do not.", len(iops), text.Percent(p.Spread), text.Times(p.Spread/inside)),
				Evidence: []finding.Evidence{
					{
						What:     "spread between rounds",
						Found:    text.Percent(p.Spread),
						Expected: "at most " + text.Percent(roundsOverSeconds*inside),
						Where:    "IOPS of each round",
					},
					{What: "standard error within a round", Found: text.Percent(inside), Where: "batch means of its seconds"},
				},
			})
		}
	},
}

var roundApart = &diagnose.Rule{
	Code: "PL421",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for i := range c.Runs {
			m := &c.Runs[i]
			rounds, iops, _ := roundFigures(m)
			median := stats.Quantile(iops, 0.5)
			for _, k := range stats.Apart(logs(iops)) {
				if math.Abs(iops[k]/median-1) <= driftLeast {
					continue
				}
				report(finding.Finding{
					Subject:   m.Label(),
					Scenarios: m.IDs(),
					Message: fmt.Sprintf("The round of %s made %s IOPS, %s the median of %d rounds.",
						rounds[k].Start.UTC().Format(time.TimeOnly), units.IOPS(iops[k]), text.Percent(iops[k]/median)+" of", len(iops)),
					Evidence: []finding.Evidence{
						{
							What:     "IOPS of the round",
							Found:    units.IOPS(iops[k]).String(),
							Expected: "near " + units.IOPS(median).String(),
							Where:    rounds[k].Dir,
						},
					},
				})
			}
		}
	},
}

var roundsDrift = &diagnose.Rule{
	Code: "PL422",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for i := range c.Runs {
			m := &c.Runs[i]
			rounds, _, _ := roundFigures(m)
			slices.SortStableFunc(rounds,
				func(a, b *result.Result) int { return cmp.Compare(a.Start.UnixNano(), b.Start.UnixNano()) })
			var iops []float64
			for _, r := range rounds {
				iops = append(iops, float64(r.Total.Read.IOPS+r.Total.Write.IOPS+r.Total.Trim.IOPS))
			}
			if len(iops) < driftRounds {
				continue
			}
			p, direction := stats.Trend(iops)
			third := len(iops) / 3
			first, last := stats.Quantile(iops[:third], 0.5), stats.Quantile(iops[len(iops)-third:], 0.5)
			if p >= driftChance || math.Abs(last/first-1) < driftLeast {
				continue
			}
			word := "fall"
			if direction > 0 {
				word = "rise"
			}
			report(finding.Finding{
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Message: fmt.Sprintf("The %d rounds %s from %s to %s IOPS in the order they were measured.", len(iops), word,
					units.IOPS(math.Round(first)), units.IOPS(math.Round(last))),
				Evidence: []finding.Evidence{
					{
						What:     "chance of such an order in a steady session",
						Found:    text.Percent(p),
						Expected: "at least " + text.Percent(driftChance),
						Where:    "Mann-Kendall test of the rounds' IOPS",
					},
				},
			})
		}
	},
}
