package run

import (
	"cmp"
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// stepShare is how far the levels before and after a change must lie apart: a queue that fills
	// or a compaction in the drive moves the rate by some per cent.
	stepShare = 0.15

	// stallLeast IOPS on average before a second without one is a stall rather than chance: at 10 a
	// second the chance of none is e^-10.
	stallLeast = 10
)

// step is a change of level in the per-second series.
type step struct {
	at            time.Duration // since fio started
	before, after float64       // median IOPS
}

// steps are the changes of level worth telling, the largest first, the ramp left out.
func steps(r *result.Result) []step {
	series := diagnose.Settled(r)
	var out []step
	for _, c := range stats.ChangePoints(diagnose.Rates(series)) {
		if math.Abs(c.After-c.Before) >= stepShare*max(c.Before, c.After) {
			out = append(out, step{series[c.At].At - series[c.At].Len, c.Before, c.After})
		}
	}
	slices.SortStableFunc(out, func(a, b step) int {
		return cmp.Compare(math.Abs(b.after-b.before), math.Abs(a.after-a.before))
	})
	return out
}

func round(level float64) units.IOPS { return units.IOPS(math.Round(level)) }

func changed(_ *facts, m measurement) (f fault) {
	all := steps(m.Result)
	if len(all) == 0 || m.Staged() {
		return f
	}
	s := all[0]
	return s.shown(m.Finds("After %s the rate went from %s to %s IOPS, so the mean of %s is neither.",
		s.at, round(s.before), round(s.after),
		round(float64(m.IOPS()))))
}

// shown adds the levels to a finding.
func (s step) shown(f fault) fault {
	const series = "per-second series, median"
	return f.Saw("level before "+text.Duration(s.at), round(s.before).String()+" IOPS", "", series).
		Saw("level after", round(s.after).String()+" IOPS", "the same", series)
}

func burstSpent(_ *facts, m measurement) (f fault) {
	if m.Ceiling == nil || m.Staged() {
		return f
	}
	all := steps(m.Result)
	i := slices.IndexFunc(all, func(s step) bool {
		_, ok := dryBound(m.Ceiling, s.after)
		return ok && s.after < s.before
	})
	if i < 0 {
		return f
	}
	s := all[i]
	low, _ := dryBound(m.Ceiling, s.after)
	return s.shown(m.Finds(
		"After %s the rate fell from %s to %s IOPS, which is what %s allows once its burst is spent (%s).",
		s.at, round(s.before), round(s.after), low.Label(), low.IOPS)).
		Saw("sustained limit, "+low.Label(), low.IOPS.String()+" IOPS", "", low.How)
}

// dryBound is the sustained bound at a level, of a resource that also has a higher burst.
func dryBound(c *ceiling.Ceiling, level float64) (ceiling.Bound, bool) {
	for _, b := range c.Bounds {
		if b.Burst || b.IOPS <= 0 || math.Abs(level/float64(b.IOPS)-1) > diagnose.DryLevel {
			continue
		}
		for _, o := range c.Bounds {
			if o.Burst && o.SameResource(b) && o.IOPS > b.IOPS {
				return b, true
			}
		}
	}
	return ceiling.Bound{}, false
}

func stalled(_ *facts, m measurement) (f fault) {
	if f = first(gaps(m), waits(m), heldUp(m)); f.Message != "" {
		return f.Run(inKernelLog)
	}
	if m.HeldBack() || m.Staged() || m.IOPS() < stallLeast {
		return f
	}
	zero, longest, began := zeros(diagnose.Settled(m.Result))
	if zero == 0 {
		return f
	}
	return m.Finds("In %s, nothing completed, for up to %s at a stretch, first %s after the "+
		"start.", text.Plural(zero, "second"),
		text.Plural(longest, "second"), began).
		Saw("seconds without an I/O", zero, "0", "per-second series").
		Saw("longest run of them", longest, "0", "per-second series").
		Run(inKernelLog)
}

// inKernelLog finds what the kernel logged of drives that did not answer.
const inKernelLog = "dmesg --ctime | grep -iE 'nvme|timeout|reset|blk_update|I/O error'"

// zeros counts whole seconds without an I/O between the first and the last that had any.
func zeros(series []result.Second) (all, longest int, first time.Duration) {
	run, began, seen := 0, time.Duration(0), false
	for _, s := range series {
		switch {
		case s.IOPS() > 0:
			if seen && run > 0 {
				if all == 0 {
					first = began
				}
				all, longest = all+run, max(longest, run)
			}
			seen, run = true, 0
		case seen && s.Len >= 900*time.Millisecond:
			if run == 0 {
				began = s.At - s.Len
			}
			run++
		}
	}
	return all, longest, first
}

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
