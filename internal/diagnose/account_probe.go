package diagnose

import (
	"fmt"
	"slices"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const (
	// probeEven of its peers is an equal volume: those of the lab stay within 3 % over 5 s, and
	// within 10 % over 1.5 s on a busy host.
	probeEven = 0.90
	// probeSame is how near to what all give together one must come alone to be limited by the
	// same.
	probeSame = 0.90
)

// given is what a probe shows of an array's members.
type given struct {
	slowest  string     // the member that gave least
	least    units.IOPS // what it gave
	peers    units.IOPS // the median of the others
	ordered  units.IOPS // what a member was ordered with; 0 where that is not known
	alone    units.IOPS // of all members, added up
	together units.IOPS // of all while all were read
	shared   bool       // something that all share limits them
}

// probed sums a probe of an array up; false where there is none.
func (c *Case) probed(a *topology.Array) (given, bool) {
	if a == nil {
		return given{}, false
	}
	i := slices.IndexFunc(c.Probes, func(p Probe) bool { return p.Array == a.Name })
	if i < 0 || len(c.Probes[i].Members) < 2 {
		return given{}, false
	}
	var g given
	var gave, ordered []float64
	single := units.IOPS(0) // the most that one gives alone
	for _, m := range c.Probes[i].Members {
		one := max(m.Alone, m.Together)
		single = max(single, one)
		g.alone, g.together = g.alone+one, g.together+m.Together
		if g.slowest == "" || one < g.least {
			g.slowest, g.least = m.Device, one
		}
		gave, ordered = append(gave, float64(one)), append(ordered, float64(orderedIOPS(a, m.Device)))
	}
	slices.Sort(gave)
	g.peers, g.ordered = units.IOPS(median(gave[1:])), units.IOPS(median(ordered))
	g.shared = g.together < probeShared*g.alone || single >= probeSame*g.together
	return g, g.least > 0
}

// probeCauses are a limit that all members share, members that give less than they were ordered
// with, and one that gives less than its peers, each as far as the probe of them shows.
func (c *Case) probeCauses(m Measurement, b ceiling.Bound) []finding.Factor {
	a := c.arrayOf(m)
	g, ok := c.probed(a)
	if did := c.memberRate(m); g.shared && did > g.together {
		g.together = did // the run itself got more out of them
		g.shared = did < probeShared*g.alone
	}
	if !ok || b.Kind != ceiling.VolumeIOPS && b.Kind != ceiling.VolumeRate {
		return nil
	}
	var out []finding.Factor
	add := func(cause finding.Cause, who string, factor float64, how string, args ...any) {
		out = append(out, finding.Factor{Cause: cause, Who: who, Factor: factor, How: fmt.Sprintf(how, args...)})
	}
	if g.shared {
		all := g.alone
		if g.ordered > 0 {
			all = g.ordered * units.IOPS(len(a.Volumes))
		}
		add(finding.Instance, "", float64(g.together/all),
			"a limit that all members share: read together they give %s IOPS of %s", g.together, all)
		return out
	}
	if g.ordered > 0 && g.peers < probeEven*g.ordered {
		add(finding.VolumeLimit, "", float64(g.peers/g.ordered),
			"the members give %s IOPS of the %s that they are declared to have, each of them alone", g.peers, g.ordered)
	}
	if g.least < probeEven*g.peers {
		factor := float64(g.least / g.peers)
		if a.Level.Mirrored() && !m.any(fio.Workload.Writes) {
			factor = (1 + factor) / 2 // md reads the rest from its mirror
		}
		add(finding.SlowMember, g.slowest, factor, "alone %s gives %s IOPS, %s of what its peers give (%s)",
			g.slowest, g.least, text.Percent(float64(g.least/g.peers)), g.peers)
	}
	return out
}

// memberRate is what the members of a run's array did together, by telemetry.
func (c *Case) memberRate(m Measurement) units.IOPS {
	if m.Result.Measured == 0 || m.looseEdge() {
		return 0
	}
	sum := 0.0
	for _, d := range c.memberIOs(m) {
		sum += d.n
	}
	return units.IOPS(sum / m.Result.Measured.Seconds())
}
