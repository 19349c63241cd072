// Package fleet has the rules PL8xx: one run on several machines.
package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Thresholds of the rules on several machines.
const (
	// overlapShare is the part of the planned time that all hosts should measure together; below
	// overlapLeast it is no measurement.
	overlapShare = 0.95
	overlapLeast = 0.8
	// noisyShare of what hosts reach alone is what they must reach together, if they share nothing.
	noisyShare = 0.9
	// clockLimit is what a second's attribution may be off: a tenth of it.
	clockLimit = 100 * time.Millisecond
	// burstOver is how far above its sustained ceiling a rate must be to be a burst and no noise.
	burstOver = 1.05
)

// Rules are all of PL8xx.
func Rules() []*diagnose.Rule {
	return finding.Rules(diagnose.Checks{
		"PL801": ofFleet(hostLost),
		"PL802": ofFleet(fleetOverlap),
		"PL803": ofFleet(fleetStraggler),
		"PL804": ofFleet(fleetUnlike),
		"PL805": ofFleet(sharedBottleneck),
		"PL806": ofFleet(fleetClock),
		"PL807": ofFleet(fleetBurst),
	})
}

// ofFleet is a check of a case that has several machines.
func ofFleet(check func(*diagnose.FleetCase, diagnose.Report)) diagnose.Check {
	return func(c *diagnose.Case, report diagnose.Report) {
		if c.Fleet != nil {
			check(c.Fleet, report)
		}
	}
}

func hostLost(c *diagnose.FleetCase, report diagnose.Report) {
	n := 0
	for _, h := range c.Hosts {
		if h.Lost != "" {
			n++
		}
	}
	for _, h := range c.Hosts {
		if h.Lost == "" {
			continue
		}
		f := finding.New(h.Name, "%s", text.Sentence(fmt.Sprintf("host %s has no result: %s", h.Name, h.Lost)))
		if n <= c.Lose {
			f.Severity = finding.Warn
		}
		report(f)
	}
}

func fleetOverlap(c *diagnose.FleetCase, report diagnose.Report) {
	for _, s := range c.Scenarios {
		if s.Common >= overlapShare {
			continue
		}
		f := s.Finds("All hosts measured together for %v of the planned time.", s.Common).
			Saw("common window", s.Common, "at least 95 %", "seconds of each host")
		if s.Common < overlapLeast {
			f.Severity = finding.Invalid
		}
		report(f)
	}
}

func fleetStraggler(c *diagnose.FleetCase, report diagnose.Report) {
	for _, s := range c.Scenarios {
		for _, h := range s.Stragglers() {
			what := "of what the other hosts do (median)"
			if h.Own {
				what = finding.Says("of its ceiling, the other hosts %v of theirs (median)", h.Others)
			}
			report(finding.New(h.Host+", "+s.Label(), "%s reaches %v %s.", h.Host, h.Of, what).In([]int{s.ID}).
				Saw("share", h.Of, "at least "+text.Percent(diagnose.StragglerShare*h.Others), "common window"))
		}
	}
}

func fleetUnlike(c *diagnose.FleetCase, report diagnose.Report) {
	names := map[string]bool{}
	for _, h := range c.Hosts {
		for name := range h.Facts {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		values := map[string][]string{}
		for _, h := range c.Hosts {
			if h.Facts != nil {
				v := cmp.Or(h.Facts[name], "unknown")
				values[v] = append(values[v], h.Name)
			}
		}
		if len(values) < 2 {
			continue
		}
		// By how few hosts have them.
		byRarity := slices.Sorted(maps.Keys(values))
		slices.SortStableFunc(byRarity, func(a, b string) int { return cmp.Compare(len(values[a]), len(values[b])) })
		f := finding.New(name, "")
		var all []string
		for _, v := range byRarity {
			all = append(all, finding.Says("%s on %s", text.Clean(v, 120), values[v]))
			f = f.Saw(text.Some(values[v], 8), v, "", "")
		}
		f.Say("%s differs between the hosts: %s.", name, text.Some(all, 4))
		report(f)
	}
}

func sharedBottleneck(c *diagnose.FleetCase, report diagnose.Report) {
	for _, s := range c.Scenarios {
		var alone, together float64
		f := s.Finds("")
		for _, h := range s.Hosts {
			if h.Alone <= 0 {
				alone = 0
				break
			}
			alone, together = alone+h.Alone, together+h.Rate.Center
			f = f.Saw(h.Host, finding.Says("%s IOPS, %v of what it reaches alone", units.IOPS(h.Rate.Center),
				h.Rate.Center/h.Alone),
				units.IOPS(h.Alone).String()+" IOPS alone", "common window")
		}
		if alone <= 0 || together >= noisyShare*alone {
			continue
		}
		f.Say("Together the hosts reach %s IOPS, %v of the %s that they reach one after the other.",
			units.IOPS(together), together/alone, units.IOPS(alone))
		report(f)
	}
}

func fleetClock(c *diagnose.FleetCase, report diagnose.Report) {
	for _, h := range c.Hosts {
		if h.Clock > clockLimit {
			report(finding.New(h.Name, "The clock of %s may be off by %s.", h.Name, h.Clock).
				Saw("clock error", h.Clock, "at most "+text.Duration(clockLimit), ""))
		}
	}
}

func fleetBurst(c *diagnose.FleetCase, report diagnose.Report) {
	for _, s := range c.Scenarios {
		var burst, rest []string
		for _, h := range s.Hosts {
			switch {
			case h.Sustained <= 0 || h.Ceiling <= burstOver*h.Sustained:
			case h.Rate.Center > burstOver*h.Sustained:
				burst = append(burst, h.Host)
			default:
				rest = append(rest, h.Host)
			}
		}
		if len(burst) == 0 || len(rest) == 0 {
			continue
		}
		report(s.Finds("%s ran above the sustained rate; %s did not.", text.Some(burst, 4), text.Some(rest, 4)))
	}
}
