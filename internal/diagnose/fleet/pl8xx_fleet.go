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
	return []*diagnose.Rule{
		hostLost, fleetOverlap, fleetStraggler, fleetUnlike, sharedBottleneck, fleetClock, fleetBurst,
	}
}

// ofFleet is a check of a case that has several machines.
func ofFleet(check func(*diagnose.FleetCase, func(finding.Finding))) func(*diagnose.Case, func(finding.Finding)) {
	return func(c *diagnose.Case, report func(finding.Finding)) {
		if c.Fleet != nil {
			check(c.Fleet, report)
		}
	}
}

var hostLost = &diagnose.Rule{
	Code:     "PL801",
	Since:    "0.2",
	Severity: finding.Invalid,
	Title:    "a host of the fleet was lost",
	When: "A host was not reached, its connection ended, or its answer was not the protocol. A warning " +
		"where --lose allows as many.",
	Why: "The total lacks what that host would have done, and the others ran without its load.",
	Fix: "Look at the reason. fleet run --resume DIR fetches what the host has kept. Otherwise start a " +
		"new fleet run, or accept the others' figures with --lose 1.",
	Bad:    "db2: the connection ended in scenario 3",
	Good:   "all hosts done",
	Ignore: "Where hosts come and go, as spot instances do: --lose.",
	Check: ofFleet(func(c *diagnose.FleetCase, report func(finding.Finding)) {
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
			f := finding.Finding{
				Subject: h.Name,
				Message: text.Sentence(fmt.Sprintf("host %s has no result: %s", h.Name, h.Lost)),
			}
			if n <= c.Lose {
				f.Severity = finding.Warn
			}
			report(f)
		}
	}),
}

var fleetOverlap = &diagnose.Rule{
	Code:     "PL802",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "hosts overlapped for only part of the run",
	When: "All hosts measured together for less than 95 % of the planned time; below 80 % the figures are " +
		"invalid.",
	Why: "Only the seconds in which all hosts ran show what they do together.",
	Fix: "Start the hosts at one instant (plimsoll fleet run does), measure longer, or correct the clocks " +
		"of imported bundles.",
	Bad:    "60 s planned, 51 s in common",
	Good:   "60 s planned, 59.6 s in common",
	Ignore: "When the remaining seconds are enough.",
	Check: ofFleet(func(c *diagnose.FleetCase, report func(finding.Finding)) {
		for i := range c.Scenarios {
			s := &c.Scenarios[i]
			if s.Common >= overlapShare {
				continue
			}
			f := finding.Finding{
				Subject:   s.Label(),
				Scenarios: []int{s.ID},
				Message:   fmt.Sprintf("All hosts measured together for %s of the planned time.", text.Percent(s.Common)),
				Evidence: []finding.Evidence{
					{
						What:     "common window",
						Found:    text.Percent(s.Common),
						Expected: "at least 95 %",
						Where:    "seconds of each host",
					},
				},
			}
			if s.Common < overlapLeast {
				f.Severity = finding.Invalid
			}
			report(f)
		}
	}),
}

var fleetStraggler = &diagnose.Rule{
	Code:     "PL803",
	Since:    "0.2",
	Severity: finding.Fail,
	Title:    "a host falls behind the others",
	When: "Of at least three hosts, one reaches less than 0.8 of the others' median share of the ceiling " +
		"(or rate, where that is unknown), and its 95 % interval lies below theirs. Hosts with less than " +
		"5 s are not judged.",
	Why:    "Work that spreads over all hosts waits for the slowest.",
	Fix:    "Run plimsoll check on that host and compare its report with another's.",
	Bad:    "db2: 41 % of its ceiling, the others 97 %",
	Good:   "95 %, 97 % and 96 % of their ceilings",
	Ignore: "Where hosts differ on purpose and their ceilings are not declared.",
	Check: ofFleet(func(c *diagnose.FleetCase, report func(finding.Finding)) {
		for i := range c.Scenarios {
			s := &c.Scenarios[i]
			for _, h := range s.Stragglers() {
				what := "of what the other hosts do (median)"
				if h.Own {
					what = fmt.Sprintf("of its ceiling, the other hosts %s of theirs (median)", text.Percent(h.Others))
				}
				report(finding.Finding{
					Subject: h.Host + ", " + s.Label(), Scenarios: []int{s.ID},
					Message: fmt.Sprintf("%s reaches %s %s.", h.Host, text.Percent(h.Of), what),
					Evidence: []finding.Evidence{
						{
							What:     "share",
							Found:    text.Percent(h.Of),
							Expected: "at least " + text.Percent(diagnose.StragglerShare*h.Others),
							Where:    "common window",
						},
					},
				})
			}
		}
	}),
}

var fleetUnlike = &diagnose.Rule{
	Code:     "PL804",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "hosts of the fleet are not alike",
	When: "A setting that affects the measurement (kernel, fio, plimsoll, scheduler, layout, chunk, mount) " +
		"differs between hosts.",
	Why:    "Differences between their figures may come from it, and a total hides it.",
	Fix:    "Bring the odd host to the settings of the others, or measure each kind as a fleet of its own.",
	Bad:    "db1, db2: chunk 256 KiB; db3: chunk 64 KiB",
	Good:   "chunk 256 KiB on all",
	Ignore: "In a fleet of different machines on purpose.",
	Check: ofFleet(func(c *diagnose.FleetCase, report func(finding.Finding)) {
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
					v := cmp.Or(h.Facts[name], "not known")
					values[v] = append(values[v], h.Name)
				}
			}
			if len(values) < 2 {
				continue
			}
			report(finding.Finding{
				Subject:  name,
				Message:  fmt.Sprintf("%s differs between the hosts: %s.", name, oddFirst(values)),
				Evidence: oddEvidence(values),
			})
		}
	}),
}

// oddFirst names the values by how few hosts have them.
func oddFirst(values map[string][]string) string {
	var all []string
	for _, v := range byRarity(values) {
		all = append(all, fmt.Sprintf("%s on %s", text.Clean(v, 120), text.Some(values[v], 3)))
	}
	return text.Some(all, 4)
}

func byRarity(values map[string][]string) []string {
	all := slices.Sorted(maps.Keys(values))
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(len(values[a]), len(values[b])) })
	return all
}

func oddEvidence(values map[string][]string) []finding.Evidence {
	var all []finding.Evidence
	for _, v := range byRarity(values) {
		all = append(all, finding.Evidence{What: text.Some(values[v], 8), Found: v})
	}
	return all
}

var sharedBottleneck = &diagnose.Rule{
	Code:     "PL805",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "hosts share a bottleneck",
	When:     "With --schedule both, all hosts together reach less than 0.9 of the sum of what each reaches alone.",
	Why: "Something shared (a network, a storage system, the machine below virtual machines) is exhausted " +
		"first: adding hosts adds nothing.",
	Fix:    "Find what is shared, and declare it with --shared-iops or --shared-bandwidth.",
	Bad:    "alone 3 × 12,000 IOPS, together 18,000",
	Good:   "alone 3 × 12,000 IOPS, together 35,500",
	Ignore: "Where the storage is known to be shared and you want its total.",
	Check: ofFleet(func(c *diagnose.FleetCase, report func(finding.Finding)) {
		for i := range c.Scenarios {
			s := &c.Scenarios[i]
			var alone, together float64
			var each []finding.Evidence
			for _, h := range s.Hosts {
				if h.Alone <= 0 {
					alone = 0
					break
				}
				alone, together = alone+h.Alone, together+h.Rate.Center
				each = append(each, finding.Evidence{
					What:     h.Host,
					Found:    units.IOPS(h.Rate.Center).String() + " IOPS, " + text.Percent(h.Rate.Center/h.Alone) + " of alone",
					Expected: units.IOPS(h.Alone).String() + " IOPS alone",
					Where:    "common window",
				})
			}
			if alone <= 0 || together >= noisyShare*alone {
				continue
			}
			report(finding.Finding{
				Subject:   s.Label(),
				Scenarios: []int{s.ID},
				Evidence:  each,
				Message: fmt.Sprintf("Together the hosts reach %s IOPS, %s of the %s that they reach one after the other.",
					units.IOPS(together), text.Percent(together/alone), units.IOPS(alone)),
			})
		}
	}),
}

var fleetClock = &diagnose.Rule{
	Code:     "PL806",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "the clock of a host is not known well enough",
	When: "The error of a host's clock is above 100 ms: half the round trip of the best ping, or what was " +
		"stated for imports.",
	Why:    "The common window is off by as much.",
	Fix:    "Use a faster connection, or state the error of synchronised clocks: --clock-error 10ms.",
	Bad:    "db2: ± 480 ms",
	Good:   "db2: ± 0.4 ms",
	Ignore: "In long runs with a steady load.",
	Check: ofFleet(func(c *diagnose.FleetCase, report func(finding.Finding)) {
		for _, h := range c.Hosts {
			if h.Clock > clockLimit {
				report(finding.Finding{
					Subject: h.Name,
					Message: fmt.Sprintf("The clock of %s may be off by %s.", h.Name, text.Duration(h.Clock)),
					Evidence: []finding.Evidence{
						{What: "clock error", Found: text.Duration(h.Clock), Expected: "at most " + text.Duration(clockLimit)},
					},
				})
			}
		}
	}),
}

var fleetBurst = &diagnose.Rule{
	Code:     "PL807",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "some hosts ran on burst credits and others did not",
	When: "One host measured more than 1.05 of its sustained ceiling while another, which can burst too, " +
		"did not exceed its own.",
	Why:    "The total is neither the fleet's burst nor what it sustains.",
	Fix:    "Measure until all bursts are over (--sustained), or let all credits recover.",
	Bad:    "db1 15,900 IOPS of 3,000 sustained, db2 3,000",
	Good:   "all hosts at what they sustain",
	Ignore: "When the total of this moment is what was asked for.",
	Check: ofFleet(func(c *diagnose.FleetCase, report func(finding.Finding)) {
		for i := range c.Scenarios {
			s := &c.Scenarios[i]
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
			report(finding.Finding{
				Subject:   s.Label(),
				Scenarios: []int{s.ID},
				Message:   fmt.Sprintf("%s ran above what is sustained, %s did not.", text.Some(burst, 4), text.Some(rest, 4)),
			})
		}
	}),
}
