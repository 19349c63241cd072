package diagnose

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/stats"
)

// FleetCase is a fleet run as the rules PL8xx see it.
type FleetCase struct {
	Lose      int // hosts that may be lost
	Hosts     []FleetHost
	Scenarios []FleetScenario
}

// FleetHost is a host of a fleet run.
type FleetHost struct {
	Name  string
	Lost  string        // why it has no result; empty where it has
	Clock time.Duration // error of its clock against the others'
	Facts map[string]string
}

// FleetScenario is a scenario on all hosts, over the time in which all of them measured.
type FleetScenario struct {
	ID     int
	Name   string
	Common float64 // that time as a share of the planned one
	Hosts  []FleetRate
}

// FleetRate is what a host did in a scenario, in IOPS. Figures that are not known are 0.
type FleetRate struct {
	Host               string
	Rate               stats.Estimate
	Ceiling, Sustained float64
	Alone              float64 // without the other hosts
}

// Label names a scenario as findings do.
func (s *FleetScenario) Label() string { return fmt.Sprintf("%d %s", s.ID, s.Name) }

// Finds is a finding on a scenario, with its message in the words of fmt.
func (s *FleetScenario) Finds(format string, args ...any) finding.Finding {
	return finding.New(s.Label(), format, args...).In([]int{s.ID})
}

// Straggler is a host that falls behind: what it reached, as a share, and the median of the others.
type Straggler struct {
	Host       string
	Of, Others float64
	// Own says that the shares are of each host's own ceiling; else they are of the others' median
	// rate.
	Own bool
}

// Stragglers are the hosts of a scenario that reached less than 0.8 of what the others did, of
// their own ceilings where all are known. The intervals must be apart too: a host without one is
// not judged.
func (s *FleetScenario) Stragglers() []Straggler {
	if len(s.Hosts) < leastHosts {
		return nil
	}
	own := !slices.ContainsFunc(s.Hosts, func(h FleetRate) bool { return h.Ceiling <= 0 })
	of := func(h FleetRate, v float64) float64 {
		if own {
			return v / h.Ceiling
		}
		return v
	}
	var found []Straggler
	for i, h := range s.Hosts {
		var centers, lows []float64
		for k, o := range s.Hosts {
			if k != i && o.Rate.HasInterval() {
				centers, lows = append(centers, of(o, o.Rate.Center)), append(lows, of(o, o.Rate.Lo))
			}
		}
		if !h.Rate.HasInterval() || len(centers) < leastHosts-1 {
			continue
		}
		mine, others := of(h, h.Rate.Center), stats.Quantile(centers, 0.5)
		if mine >= StragglerShare*others || of(h, h.Rate.Hi) >= stats.Quantile(lows, 0.5) {
			continue
		}
		if !own {
			mine, others = mine/others, 1
		}
		found = append(found, Straggler{h.Host, mine, others, own})
	}
	return found
}

// StragglerShare of the others' median marks a host that falls behind; leastHosts are needed to
// know what is usual.
const StragglerShare = 0.8

const leastHosts = 3
