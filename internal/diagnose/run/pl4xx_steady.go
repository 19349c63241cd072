package run

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio/part"
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
	var v []float64
	for _, s := range series {
		v = append(v, float64(s.IOPS()))
	}
	var out []step
	for _, c := range stats.ChangePoints(v) {
		if math.Abs(c.After-c.Before) >= stepShare*max(c.Before, c.After) {
			out = append(out, step{series[c.At].At - series[c.At].Len, c.Before, c.After})
		}
	}
	slices.SortStableFunc(out, func(a, b step) int {
		return cmp.Compare(math.Abs(b.after-b.before), math.Abs(a.after-a.before))
	})
	return out
}

var changed = &diagnose.Rule{
	Code:  "PL405",
	Needs: []part.Part{part.AllJobs, part.AllSides, part.Count},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			all := steps(m.Result)
			if len(all) == 0 || m.Staged() {
				continue
			}
			s := all[0]
			report(finding.Finding{
				Subject: m.Label(), Scenarios: m.IDs(),
				Message: fmt.Sprintf("After %s the rate went from %s to %s IOPS, so the mean of %s tells neither.",
					text.Duration(s.at), units.IOPS(math.Round(s.before)), units.IOPS(math.Round(s.after)),
					units.IOPS(math.Round(float64(m.IOPS())))),
				Evidence: s.evidence(),
			})
		}
	},
}

func (s step) evidence() []finding.Evidence {
	return []finding.Evidence{
		{
			What:  "level before " + text.Duration(s.at),
			Found: units.IOPS(math.Round(s.before)).String() + " IOPS",
			Where: "per-second series, median",
		},
		{
			What:     "level after",
			Found:    units.IOPS(math.Round(s.after)).String() + " IOPS",
			Expected: "the same",
			Where:    "per-second series, median",
		},
	}
}

var burstSpent = &diagnose.Rule{
	Code:  "PL406",
	Needs: []part.Part{part.AllJobs, part.AllSides, part.Count},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if m.Ceiling == nil || m.Staged() {
				continue
			}
			all := steps(m.Result)
			i := slices.IndexFunc(all, func(s step) bool {
				_, ok := dryBound(m.Ceiling, s.after)
				return ok && s.after < s.before
			})
			if i < 0 {
				continue
			}
			s := all[i]
			low, _ := dryBound(m.Ceiling, s.after)
			report(finding.Finding{
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Message: fmt.Sprintf(
					"After %s the rate fell from %s to %s IOPS, which is what %s allows once its burst is spent (%s).",
					text.Duration(s.at), units.IOPS(math.Round(s.before)), units.IOPS(math.Round(s.after)), low.Label(), low.IOPS,
				),
				Evidence: append(s.evidence(),
					finding.Evidence{What: "sustained limit, " + low.Label(), Found: low.IOPS.String() + " IOPS", Where: low.How}),
			})
		}
	},
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

var stalled = &diagnose.Rule{
	Code:  "PL415",
	Needs: []part.Part{part.AllJobs, part.AllSides, part.Count},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			f, ok := gaps(m)
			if !ok {
				f, ok = waits(m)
			}
			if ok {
				f.Subject, f.Scenarios, f.Commands = m.Label(), m.IDs(), []string{inKernelLog}
				report(f)
				continue
			}
			if m.Result.HeldBack() || m.Staged() || m.IOPS() < stallLeast {
				continue
			}
			zero, longest, first := zeros(diagnose.Settled(m.Result))
			if zero == 0 {
				continue
			}
			report(finding.Finding{
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Message: fmt.Sprintf("In %s nothing completed, up to %s on end, first %s after the start.",
					text.Plural(zero, "second"), text.Plural(longest, "second"), text.Duration(first)),
				Evidence: []finding.Evidence{
					{What: "seconds without an I/O", Found: text.Count(zero), Expected: "0", Where: "per-second series"},
					{What: "longest run of them", Found: text.Count(longest), Expected: "0", Where: "per-second series"},
				},
				Commands: []string{inKernelLog},
			})
		}
	},
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
