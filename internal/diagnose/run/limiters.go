package run

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// atLimit is how near a figure must lie to a published limit to be one of its candidates.
	atLimit = 0.01
	// steadyAs is the most that a second's IOPS spread around their mean (standard deviation) at a
	// limiter: 2.1 and 1.7 % at an m5a.xlarge's 16,000.
	steadyAs = 0.03
	// mostNamed instance types stand for all that share a limit.
	mostNamed = 3
)

// limiters lists published limits that a steady figure meets, with their source: those of the machine
// types of the cloud that a run was on, of EC2 where that is not known. Nothing where the figure is not
// steady.
func limiters(c *diagnose.Case, m diagnose.Measurement) (candidates, where string) {
	if spread, known := spread(m); !known || spread > steadyAs {
		return "", ""
	}
	near := func(limit units.IOPS) bool {
		return limit > 0 && math.Abs(float64(m.IOPS()/limit)-1) < atLimit
	}
	type limiter struct {
		limit units.IOPS
		what  string
		types []string
	}
	var caps []limiter
	add := func(limit units.IOPS, what, typ string) {
		i := slices.IndexFunc(caps, func(c limiter) bool { return c.limit == limit && c.what == what })
		if i < 0 {
			i, caps = len(caps), append(caps, limiter{limit: limit, what: what})
		}
		caps[i].types = append(caps[i].types, typ)
	}
	var p cloud.Provider = cloud.EC2{}
	if c.Topology != nil && c.Topology.Instance.Cloud != "" {
		p = cloud.Named(c.Topology.Instance.Cloud)
	}
	for _, f := range p.Machines() {
		if near(f.Baseline.IOPS) {
			add(f.Baseline.IOPS, "sustained", f.Type)
		} else if near(f.Burst.IOPS) {
			what := text.Duration(f.BurstFor) + " of each " + text.Duration(f.BurstPer)
			if f.BurstRule == cloud.ByCredits {
				what = text.Duration(f.BurstFor) + " of full credits"
			}
			add(f.Burst.IOPS, what, f.Type)
		}
	}
	var parts []string
	for _, c := range caps {
		names := strings.Join(c.types[:min(len(c.types), mostNamed)], ", ")
		if more := len(c.types) - mostNamed; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, fmt.Sprintf("%s IOPS (%s, %s)", c.limit, names, c.what))
	}
	return strings.Join(parts, "; "), "the catalogue's machine types of " + p.Terms().Cloud
}

// spread is how far the IOPS of seconds lie around their mean: of the seconds where they were
// recorded, else of fio's own samples.
func spread(m diagnose.Measurement) (float64, bool) {
	var v []float64
	for _, s := range diagnose.Settled(m.Result) {
		v = append(v, float64(s.IOPS()))
	}
	if len(v) >= 10 {
		mean, sum := 0.0, 0.0
		for _, x := range v {
			mean += x / float64(len(v))
		}
		for _, x := range v {
			sum += (x - mean) * (x - mean)
		}
		return math.Sqrt(sum/float64(len(v))) / mean, mean > 0
	}
	t := m.Result.Total
	if diagnose.Ran(t.Read) == diagnose.Ran(t.Write) {
		return 0, false
	}
	s := t.Read.IOPSSamples
	if diagnose.Ran(t.Write) {
		s = t.Write.IOPSSamples
	}
	jobs := 0
	for _, w := range m.Result.Workloads {
		jobs += max(w.Jobs, 1)
	}
	// fio adds up the means of a group's jobs, but its deviation is that of one job's samples.
	return s.StdDev * math.Sqrt(float64(max(jobs, 1))) / s.Mean, s.Mean > 0 && s.N >= 10
}
