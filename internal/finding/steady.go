package finding

import (
	"fmt"
	"math"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
	"time"
)

const (
	// stepShare is how far the levels before and after a change must lie apart, and stepNoise how many times their own
	// spread: a queue that fills or a compaction in the drive moves the rate by some per cent.
	stepShare = 0.15
	stepNoise = 4.0
	// stepLeast is the shortest level in seconds that counts: shorter is a dip.
	stepLeast = 5
	// dryLevel is how near the level after a fall must be to a sustained limit to be that limit.
	dryLevel = 0.10
	// stallLeast IOPS on average before a second without one is a stall rather than chance: at 10 a second the chance of
	// none is e^-10.
	stallLeast = 10
)

// step is the change of level in a series.
type step struct {
	at            time.Duration // since fio started
	before, after float64       // median IOPS
	seconds       int           // of the lesser side
}

// stepOf finds the largest lasting change of the rate, false when there is none worth telling.
func stepOf(r *result.Result) (step, bool) {
	series := settled(r)
	var v []float64
	for _, s := range series {
		v = append(v, float64(s.IOPS()))
	}
	k := splitAt(v)
	if k < stepLeast || len(v)-k < stepLeast {
		return step{}, false
	}
	s := step{series[k].At - series[k].Len, median(v[:k]), median(v[k:]), min(k, len(v)-k)}
	diff := math.Abs(s.after - s.before)
	if diff < stepShare*max(s.before, s.after) || diff < stepNoise*max(spread(v[:k]), spread(v[k:])) {
		return step{}, false
	}
	return s, true
}

// splitAt is the index that splits v into the two parts whose means explain most of its variance.
func splitAt(v []float64) int {
	total := 0.0
	for _, x := range v {
		total += x
	}
	best, at, left := 0.0, 0, 0.0
	for i := 1; i < len(v); i++ {
		left += v[i-1]
		a, b := float64(i), float64(len(v)-i)
		d := left/a - (total-left)/b
		if gain := d * d * a * b; gain > best {
			best, at = gain, i
		}
	}
	return at
}

// spread is the median absolute deviation as a standard deviation (× 1.4826 for normal noise).
func spread(v []float64) float64 {
	mid := median(v)
	var dev []float64
	for _, x := range v {
		dev = append(dev, math.Abs(x-mid))
	}
	return 1.4826 * median(dev)
}

var changed = &Rule{
	Code: "PL405", Since: "0.1", Severity: Warn,
	Title:  "the rate changed during the run",
	When:   "The per-second series has two levels of at least 5 s each that lie 15 % and four times their own spread apart, the ramp left out.",
	Why:    "The mean belongs to neither level. Something began or ended in mid-run: a cache that filled, a burst, another load, a rebuild.",
	Fix:    "Read the levels, not the mean. Run longer with a longer ramp_time so that only the lasting level is measured.",
	Bad:    "9,000 IOPS for 40 s, then 3,000 for 20 s: mean 7,000",
	Good:   "3,000 IOPS for 60 s after a ramp of 60 s",
	Ignore: "When the job itself changes its load (several sections, rate steps).",
	After:  []Code{"PL406", "PL401"},
	Check: func(c *Case, report func(Finding)) {
		for _, m := range c.measured() {
			s, ok := stepOf(m.Result)
			if !ok || m.staged() {
				continue
			}
			report(Finding{
				Subject: m.label(), Scenarios: m.ids(),
				Says: fmt.Sprintf("After %s the rate went from %s to %s IOPS, so the mean of %s tells neither.",
					span(float64(s.at)), units.IOPS(math.Round(s.before)), units.IOPS(math.Round(s.after)), units.IOPS(math.Round(float64(m.iops())))),
				Evidence: s.evidence(),
			})
		}
	},
}

// staged says that the job's own sections begin or end in mid-run.
func (m Measurement) staged() bool {
	ws := m.Result.Workloads
	for _, w := range ws {
		if w.StartDelay > 0 || w.Stonewall || w.Runtime != ws[0].Runtime {
			return true
		}
	}
	return false
}

func (s step) evidence() []Evidence {
	return []Evidence{
		{"level before " + span(float64(s.at)), units.IOPS(math.Round(s.before)).String() + " IOPS", "", "per-second series, median"},
		{"level after", units.IOPS(math.Round(s.after)).String() + " IOPS", "the same", "per-second series, median"},
	}
}

var burstSpent = &Rule{
	Code: "PL406", Since: "0.1", Severity: Warn,
	Title:  "burst was exhausted during the run",
	When:   "The rate fell in mid-run (as in PL405) to within 10 % of a sustained limit that has a burst above it.",
	Why:    "The credits are gone; what you see after the fall is what the storage gives from now on, and the mean mixes both.",
	Fix:    "Plan with the level after the fall. Let credits fill up before measuring the burst, or spend them before measuring what lasts.",
	Bad:    "3,000 IOPS for 31 min, then 600: a gp2 volume of 200 GiB",
	Good:   "3,000 IOPS throughout: a gp3 volume",
	Ignore: "When you wanted to see how long the burst lasts.",
	After:  []Code{"PL401"},
	Check: func(c *Case, report func(Finding)) {
		for _, m := range c.measured() {
			s, ok := stepOf(m.Result)
			if !ok || s.after >= s.before || m.staged() || m.Ceiling == nil {
				continue
			}
			low, ok := dryBound(m.Ceiling, s.after)
			if !ok {
				continue
			}
			report(Finding{
				Subject: m.label(), Scenarios: m.ids(),
				Says: fmt.Sprintf("After %s the rate fell from %s to %s IOPS, which is what %s allows once its burst is spent (%s).",
					span(float64(s.at)), units.IOPS(math.Round(s.before)), units.IOPS(math.Round(s.after)), low.Label(), low.IOPS),
				Evidence: append(s.evidence(), Evidence{"sustained bound, " + low.Label(), low.IOPS.String() + " IOPS", "", low.How}),
			})
		}
	},
}

// dryBound is the sustained bound at a level, of a resource that also has a higher burst.
func dryBound(c *ceiling.Ceiling, level float64) (ceiling.Bound, bool) {
	for _, b := range c.Bounds {
		if b.Burst || b.IOPS <= 0 || math.Abs(level/float64(b.IOPS)-1) > dryLevel {
			continue
		}
		for _, o := range c.Bounds {
			if o.Burst && o.Kind == b.Kind && o.IOPS > b.IOPS {
				return b, true
			}
		}
	}
	return ceiling.Bound{}, false
}

var stalled = &Rule{
	Code: "PL415", Since: "0.1", Severity: Warn,
	Title: "nothing completed for whole seconds",
	When: "Between the first and the last I/O there are seconds in which none completed, in a run of 10 IOPS or more that is not " +
		"paced by its own options.",
	Why: "fio takes no sample in an interval in which nothing completes, so its iops min and mean hide the stall: it printed a minimum " +
		"of 100,000 for a job that did 37,500 on average. For a database it is an outage.",
	Fix:    "Look at dmesg (nvme timeouts, resets), at the volume's events, at writeback (PL411) and at snapshots being taken.",
	Bad:    "12,010 11,987 0 0 0 12,034 IOPS",
	Good:   "12,010 11,987 12,001 11,995 12,022 12,034 IOPS",
	Ignore: "When the stall was injected.",
	After:  []Code{"PL411"},
	Check: func(c *Case, report func(Finding)) {
		for _, m := range c.measured() {
			if m.any(paced) || m.staged() || m.iops() < stallLeast {
				continue
			}
			zero, longest, first := zeros(settled(m.Result))
			if zero == 0 {
				continue
			}
			report(Finding{
				Subject: m.label(), Scenarios: m.ids(),
				Says: fmt.Sprintf("In %s nothing completed, up to %s on end, first %s after the start.", count(zero, "second"), count(longest, "second"), span(float64(first))),
				Evidence: []Evidence{
					{"seconds without an I/O", figure(float64(zero), 0), "0", "per-second series"},
					{"longest run of them", figure(float64(longest), 0), "0", "per-second series"},
				},
				Commands: []string{"dmesg --ctime | grep -iE 'nvme|timeout|reset|blk_update|I/O error'"},
			})
		}
	},
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

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
