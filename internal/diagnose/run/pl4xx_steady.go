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
	return m.Finds("In %s nothing completed, up to %s on end, first %s after the start.", text.Plural(zero, "second"),
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
