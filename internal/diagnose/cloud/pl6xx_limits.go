// Package cloud has the rules PL6xx: limits and burst credits of volumes and instances.
package cloud

import (
	"cmp"
	"fmt"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Rules are all of PL6xx.
func Rules() []*diagnose.Rule {
	return finding.Rules(diagnose.Checks{
		"PL601": instanceBurst,
		"PL602": volumeBurst,
		"PL603": exceeded(diagnose.OfVolume,
			"The volumes counted demand above their provisioned %s for up to %s of the run: they limit the result."),
		"PL604": exceeded(diagnose.OfMachine,
			"The instance's limit on storage %s was exceeded for up to %s of the run: the machine limits, not its volumes."),
		"PL605": burstBalance,
	})
}

// aboveLasting is how far above a sustained limit a figure must be to be called a burst: beyond
// saved tokens and rounding.
const aboveLasting = 1.02

func instanceBurst(c *diagnose.Case, report diagnose.Report) {
	for _, m := range c.Measured() {
		if f, ok := bursting(m, diagnose.OfInstance); ok {
			var i topology.Instance
			if c.Topology != nil {
				i = c.Topology.Instance
			}
			found := f.says(cmp.Or(i.Type, "the instance") + " sustains")
			if i.Baseline.Known() {
				found = found.Saw("limits of "+cmp.Or(i.Type, "the instance"),
					fmt.Sprintf("sustained %s IOPS and %s; for %s%s %s IOPS and %s", i.Baseline.IOPS, i.Baseline.Rate.SI(),
						text.Duration(i.BurstFor), per(i.BurstPer), i.Burst.IOPS, i.Burst.Rate.SI()), "", diagnose.Origin(i.Origin))
			}
			report(found)
		}
	}
}

func volumeBurst(c *diagnose.Case, report diagnose.Report) {
	for _, m := range c.Measured() {
		of := func(b ceiling.Bound) bool { return b.Kind == ceiling.VolumeIOPS || b.Kind == ceiling.VolumeRate }
		if f, ok := bursting(m, of); ok {
			report(f.says("the volumes sustain"))
		}
	}
}

// exceeded is a limit of which the volumes' own counters say that more was asked.
func exceeded(of func(cloud.EBSStats) (iops, rate time.Duration), format string) diagnose.Check {
	return func(c *diagnose.Case, report diagnose.Report) {
		for _, m := range c.Measured() {
			if what, share, ev := m.Exceeded(of); share > 0 {
				report(finding.New(m.Label(), format, what, text.Percent(share)).In(m.IDs()).Shown(ev))
			}
		}
	}
}

// burst is a figure that lies above a sustained bound and below the burst of the same resource.
type burst struct {
	m              diagnose.Measurement
	lasts, allowed ceiling.Bound
	mean           units.IOPS // that a run allows which outlasts the burst; 0 of one that does not
}

// bursting finds the smallest sustained bound of some resources that a run exceeded thanks to a
// burst that it did not outlast, or by more than the burst explains.
func bursting(m diagnose.Measurement, of func(ceiling.Bound) bool) (burst, bool) {
	if m.Ceiling == nil {
		return burst{}, false
	}
	low := m.Ceiling.Least(func(b ceiling.Bound) bool { return of(b) && !b.Burst })
	if low == nil || m.IOPS() <= aboveLasting*low.IOPS {
		return burst{}, false
	}
	for _, b := range m.Ceiling.Bounds {
		if !b.Burst || !b.SameResource(*low) || b.IOPS <= low.IOPS {
			continue
		}
		mean, _, outlasts := m.Ceiling.Over(m.Result.Measured)
		if b.BurstFor == 0 || m.Result.Measured < b.BurstFor || outlasts && m.IOPS() > aboveLasting*mean {
			return burst{m, *low, b, mean}, true
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
	f := finding.New(m.Label(), "%s are a burst%s: %s %s of this load, and %s cannot see the burst's end.", got, end, who,
		sustained, ofLength(m.Result.Measured))
	if x.mean > 0 {
		f = finding.New(
			m.Label(),
			"%s over %s are more than a burst of %s explains, which allows %s IOPS on average and %s once "+
				"it is spent: the limit is not what is believed, or the time is not.",
			got,
			text.Duration(m.Result.Measured),
			text.Duration(x.allowed.BurstFor),
			x.mean,
			sustained,
		)
	}
	f = f.In(m.IDs()).
		Saw("measured", got, "at most "+sustained, "fio, scenario "+m.Label()).
		Saw("sustained limit, "+x.lasts.Label(), x.lasts.IOPS.String()+" IOPS", "",
			x.lasts.How+"; "+diagnose.Origin(x.lasts.Origin))
	if x.allowed.BurstFor > 0 {
		f = f.Saw("time measured", text.Duration(m.Result.Measured),
			"more than the "+text.Duration(x.allowed.BurstFor)+" of the burst", diagnose.Origin(x.allowed.Origin))
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
