// Package cloud has the rules PL6xx: limits and burst credits of volumes and instances.
package cloud

import (
	"cmp"
	"fmt"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Rules are all of PL6xx.
func Rules() []*diagnose.Rule {
	return []*diagnose.Rule{instanceBurst, volumeBurst, volumeExceeded, instanceExceeded, burstBalance}
}

// aboveLasting is how far above a sustained limit a figure must be to be called a burst: beyond
// saved tokens and rounding.
const aboveLasting = 1.02

var instanceBurst = &diagnose.Rule{
	Code:     "PL601",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "figure is above what the instance sustains",
	When: "Measured IOPS or throughput exceed the instance's sustained limit by more than 2 %, its burst " +
		"allows them, and the run was shorter than the burst.",
	Why: "Smaller instances may exceed their baseline for 30 minutes a day, or while credits last; then a " +
		"database sized on the burst slows down.",
	Fix:    "Plan with the sustained figure, or choose an instance whose baseline covers the load.",
	Bad:    "40,100 IOPS on a c6a.xlarge in 180 s; it sustains 6,000",
	Good:   "40,000 IOPS on an instance with a baseline of 40,000",
	Ignore: "When the load comes in bursts of less than half an hour a day.",
	After:  []finding.Code{"PL401", "PL406", "PL413"},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if f, ok := bursting(m, diagnose.OfInstance); ok {
				var i topology.Instance
				if c.Topology != nil {
					i = c.Topology.Instance
				}
				found := f.says(cmp.Or(i.Type, "the instance") + " sustains")
				if i.Baseline.Known() {
					found.Evidence = append(found.Evidence, finding.Evidence{
						What: "limits of " + cmp.Or(i.Type, "the instance"),
						Found: fmt.Sprintf("sustained %s IOPS and %s; for %s%s %s IOPS and %s", i.Baseline.IOPS, i.Baseline.Rate.SI(),
							text.Duration(i.BurstFor), per(i.BurstPer), i.Burst.IOPS, i.Burst.Rate.SI()),
						Where: diagnose.Origin(i.Origin),
					})
				}
				report(found)
			}
		}
	},
}

var volumeBurst = &diagnose.Rule{
	Code:     "PL602",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "figure is above what the volumes sustain",
	When: "Measured IOPS or throughput exceed the volumes' sustained limit by more than 2 %, their burst " +
		"allows them, and the run was shorter than the credits last (gp2, st1, sc1, Azure's tiers up to " +
		"P20 and E30).",
	Why:    "A new volume with credits gives its burst until they are spent, then perhaps a tenth of it.",
	Fix:    "Plan with the sustained figure, or choose a type of volume without credits.",
	Bad:    "3,000 IOPS on a gp2 volume of 100 GiB in 60 s; it sustains 300 when its 5.4 million I/O credits are spent",
	Good:   "3,000 IOPS on a gp3 volume",
	Ignore: "When the credits cover the load's bursts (BurstBalance stays above 0).",
	After:  []finding.Code{"PL401", "PL406", "PL413"},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			of := func(b ceiling.Bound) bool { return b.Kind == ceiling.VolumeIOPS || b.Kind == ceiling.VolumeRate }
			if f, ok := bursting(m, of); ok {
				report(f.says("the volumes sustain"))
			}
		}
	},
}

var volumeExceeded = &diagnose.Rule{
	Code:     "PL603",
	Since:    "0.1",
	Severity: finding.Info,
	Title:    "volumes counted demand above their provisioning",
	When: "A volume's own statistics page counted at least 5 % of the run as above its provisioned IOPS or " +
		"throughput.",
	Why:    "So its provisioning limits the workload.",
	Fix:    "Provision more, or add volumes, if the instance allows it (PL604).",
	Bad:    "ebs_volume_performance_exceeded_iops: 57 s of a run of 60 s",
	Good:   "0 s",
	Ignore: "In a test that is meant to reach the limit.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if what, share, ev := m.Exceeded(diagnose.OfVolume); share > 0 {
				report(finding.Finding{
					Subject:   m.Label(),
					Scenarios: m.IDs(),
					Evidence:  ev,
					Message: fmt.Sprintf("The volumes counted demand above their provisioned %s for up to %s of the run: they limit "+
						"the result.", what, text.Percent(share)),
				})
			}
		}
	},
}

var instanceExceeded = &diagnose.Rule{
	Code:     "PL604",
	Since:    "0.1",
	Severity: finding.Info,
	Title:    "the instance's storage limit was exceeded",
	When: "A volume's statistics page counted at least 5 % of the run as above the instance's EBS IOPS or " +
		"throughput.",
	Why:    "The instance's own limit applies, not that of its volumes.",
	Fix:    "Choose a larger instance; more or faster volumes change nothing.",
	Bad:    "ec2_instance_ebs_performance_exceeded_tp: 41 s of a run of 60 s",
	Good:   "0 s",
	Ignore: "In a test that is meant to reach the limit.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if what, share, ev := m.Exceeded(diagnose.OfMachine); share > 0 {
				report(finding.Finding{
					Subject:   m.Label(),
					Scenarios: m.IDs(),
					Evidence:  ev,
					Message: fmt.Sprintf("The instance's limit on storage %s was exceeded for up to %s of the run: the machine "+
						"limits, not its volumes.", what, text.Percent(share)),
				})
			}
		}
	},
}

// burst is a figure that lies above a sustained bound and below the burst of the same resource.
type burst struct {
	m              diagnose.Measurement
	lasts, allowed ceiling.Bound
}

// bursting finds the smallest sustained bound of some resources that a run exceeded thanks to a
// burst it did not outlast.
func bursting(m diagnose.Measurement, of func(ceiling.Bound) bool) (burst, bool) {
	if m.Ceiling == nil {
		return burst{}, false
	}
	low := m.Ceiling.Least(func(b ceiling.Bound) bool { return of(b) && !b.Burst })
	if low == nil || m.IOPS() <= aboveLasting*low.IOPS {
		return burst{}, false
	}
	for _, b := range m.Ceiling.Bounds {
		if b.Burst && b.SameResource(*low) && b.IOPS > low.IOPS && (b.BurstFor == 0 || m.Result.Measured < b.BurstFor) {
			return burst{m, *low, b}, true
		}
	}
	return burst{}, false
}

// says makes the finding; who is the start of "c6a.xlarge sustains".
func (x burst) says(who string) finding.Finding {
	m := x.m
	end := ""
	if x.allowed.BurstFor > 0 {
		end = " of at most " + text.Duration(x.allowed.BurstFor)
	}
	// Throughput is reported where it is what limits, IOPS elsewhere.
	got, sustained := m.IOPS().String()+" IOPS", x.lasts.IOPS.String()+" IOPS"
	switch x.lasts.Kind {
	case ceiling.HostCacheRate, ceiling.InstanceRate, ceiling.VolumeRate:
		got, sustained = diagnose.Rate(m.BW()), diagnose.Rate(x.lasts.BW)
	default:
	}
	f := finding.Finding{
		Subject:   m.Label(),
		Scenarios: m.IDs(),
		Message: fmt.Sprintf("%s are a burst%s: %s %s of this load, and %s cannot see the burst's end.", got, end, who,
			sustained, ofLength(m.Result.Measured)),
		Evidence: []finding.Evidence{
			{What: "measured", Found: got, Expected: "at most " + sustained, Where: "fio, scenario " + m.Label()},
			{
				What:  "sustained limit, " + x.lasts.Label(),
				Found: x.lasts.IOPS.String() + " IOPS",
				Where: x.lasts.How + "; " + diagnose.Origin(x.lasts.Origin),
			},
		},
	}
	if x.allowed.BurstFor > 0 {
		f.Evidence = append(f.Evidence, finding.Evidence{
			What:     "time measured",
			Found:    text.Duration(m.Result.Measured),
			Expected: "more than the " + text.Duration(x.allowed.BurstFor) + " of the burst",
			Where:    diagnose.Origin(x.allowed.Origin),
		})
	}
	return f
}

// per is in what time a burst may come again, where that is known.
func per(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return " in " + text.Duration(d)
}

// ofLength is a run of so long, 0 where that is not known.
func ofLength(d time.Duration) string {
	if d <= 0 {
		return "a short run"
	}
	return "a run of " + text.Duration(d)
}
