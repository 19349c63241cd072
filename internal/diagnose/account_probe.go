package diagnose

import (
	"slices"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const (
	// ProbeEven of its peers is an equal volume: those of the lab stay within 3 % over 5 s, and
	// within 10 % over 1.5 s on a busy host.
	ProbeEven = 0.90
	// probeSame is how near to what all give together one must come alone to be limited by the
	// same.
	probeSame = 0.90
)

// Given is what a probe shows of an array's members.
type Given struct {
	Slowest  string     // the member that gave least
	Least    units.IOPS // what it gave
	Peers    units.IOPS // the median of the others
	ordered  units.IOPS // what a member was ordered with; 0 where that is not known
	alone    units.IOPS // of all members, added up
	together units.IOPS // of all while all were read
	Shared   bool       // something that all share limits them
}

// Probed sums a probe of an array up; false where there is none.
func (c *Case) Probed(a *topology.Array) (Given, bool) {
	if a == nil {
		return Given{}, false
	}
	i := slices.IndexFunc(c.Probes, func(p Probe) bool { return p.Array == a.Name })
	if i < 0 || len(c.Probes[i].Members) < 2 {
		return Given{}, false
	}
	var g Given
	var gave, ordered []float64
	single := units.IOPS(0) // the most that one gives alone
	for _, m := range c.Probes[i].Members {
		one := max(m.Alone, m.Together)
		single = max(single, one)
		g.alone, g.together = g.alone+one, g.together+m.Together
		if g.Slowest == "" || one < g.Least {
			g.Slowest, g.Least = m.Device, one
		}
		gave, ordered = append(gave, float64(one)), append(ordered, float64(orderedIOPS(a, m.Device)))
	}
	slices.Sort(gave)
	g.Peers, g.ordered = units.IOPS(stats.Median(gave[1:])), units.IOPS(stats.Median(ordered))
	g.Shared = g.together < probeShared*g.alone || single >= probeSame*g.together
	return g, g.Least > 0
}

// probeCauses are a limit that all members share, members that give less than they were ordered
// with, and one that gives less than its peers, each as far as the probe of them shows.
func (c *Case) probeCauses(m Measurement, b ceiling.Bound) (out finding.Factors) {
	a := c.ArrayOf(m)
	g, ok := c.Probed(a)
	if did := c.memberRate(m); g.Shared && did > g.together {
		g.together = did // the run itself got more out of them
		g.Shared = did < probeShared*g.alone
	}
	if !ok || !OfVolumes(b) {
		return nil
	}
	if g.Shared {
		all := g.alone
		if g.ordered > 0 {
			all = g.ordered * units.IOPS(len(a.Volumes))
		}
		out.Add(finding.Instance, "", float64(g.together/all),
			"a limit that all members share: read together they reach %s IOPS of %s", g.together, all)
		return out
	}
	if g.ordered > 0 && g.Peers < ProbeEven*g.ordered {
		out.Add(finding.VolumeLimit, "", float64(g.Peers/g.ordered),
			"each member alone reaches %s IOPS of the declared %s", g.Peers, g.ordered)
	}
	if g.Least < ProbeEven*g.Peers {
		factor := float64(g.Least / g.Peers)
		if a.Level.Mirrored() && !m.Any(fio.Workload.Writes) {
			factor = (1 + factor) / 2 // md reads the rest from its mirror
		}
		out.Add(finding.SlowMember, g.Slowest, factor, "alone %s reaches %s IOPS, %v of what its peers do (%s)",
			g.Slowest, g.Least, float64(g.Least/g.Peers), g.Peers)
	}
	return out
}

// memberRate is what the members of a run's array did together, by telemetry.
func (c *Case) memberRate(m Measurement) units.IOPS {
	if m.Measured == 0 || m.LooseEdge() {
		return 0
	}
	sum := 0.0
	for _, d := range c.MemberIOs(m) {
		sum += d.N
	}
	return units.IOPS(sum / m.Measured.Seconds())
}
