// Package cloud has the rules PL6xx: limits and burst credits of volumes and instances.
package cloud

import (
	"cmp"
	"slices"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Rules are all of PL6xx.
func Rules() []*diagnose.Rule {
	return finding.Rules(diagnose.Checks{
		"PL601": diagnose.Each(instanceBurst),
		"PL602": diagnose.Each(volumeBurst),
		"PL603": exceeded(diagnose.OfVolume,
			"By the volumes' own counters, demand exceeded their provisioned %s for up to %v of the run: they limit "+
				"the result."),
		"PL604": exceeded(diagnose.OfMachine,
			"The instance's limit on storage %s was exceeded for up to %v of the run: its volumes are not the limit."),
		"PL605": burstBalance,
		"PL606": lostAtStop,
	})
}

// aboveLasting is how far above a sustained limit a figure must be to be called a burst: beyond
// saved tokens and rounding.
const aboveLasting = 1.02

func instanceBurst(c *diagnose.Case, m diagnose.Measurement) (f finding.Finding) {
	var i topology.Instance
	if c.Topology != nil {
		i = c.Topology.Instance
	}
	who := cmp.Or(i.Type, "the instance")
	f = bursting(m, diagnose.OfInstance, who+" sustains")
	if i.Baseline.Known() {
		again := "" // in what time it may come again, where that is known
		if i.BurstPer > 0 {
			again = " in " + text.Duration(i.BurstPer)
		}
		f = f.Saw("limits of "+who,
			finding.Says("sustained %s IOPS and %s; for %s%s %s IOPS and %s", i.Baseline.IOPS, i.Baseline.Rate.SI(),
				i.BurstFor, again, i.Burst.IOPS, i.Burst.Rate.SI()), "", diagnose.Origin(i.Origin))
	}
	return f
}

func volumeBurst(_ *diagnose.Case, m diagnose.Measurement) finding.Finding {
	return bursting(m, diagnose.OfVolumes, "the volumes sustain")
}

// exceeded is a limit of which the volumes' own counters say that more was asked.
func exceeded(of func(cloud.EBSStats) (iops, rate time.Duration), format string) diagnose.Check {
	return diagnose.Each(func(_ *diagnose.Case, m diagnose.Measurement) (f finding.Finding) {
		if what, share, ev := m.Exceeded(of); share > 0 {
			f = m.Finds(format, what, share).Shown(ev)
		}
		return f
	})
}

// bursting finds that a run exceeded the smallest sustained bound of some resources thanks to a burst that it did
// not outlast, or by more than the burst explains. who is the start of "c6a.xlarge sustains".
func bursting(m diagnose.Measurement, of func(ceiling.Bound) bool, who string) (f finding.Finding) {
	if m.Ceiling == nil {
		return f
	}
	low := m.Ceiling.Least(func(b ceiling.Bound) bool { return of(b) && !b.Burst })
	if low == nil || m.IOPS() <= aboveLasting*low.IOPS {
		return f
	}
	ran := m.Measured
	mean, _, outlasts := m.Ceiling.Over(ran) // a mean of 0 of a run that does not outlast it
	i := slices.IndexFunc(m.Ceiling.Bounds, func(b ceiling.Bound) bool {
		return b.Burst && b.SameResource(*low) && b.IOPS > low.IOPS &&
			(b.BurstFor == 0 || ran < b.BurstFor || outlasts && m.IOPS() > aboveLasting*mean)
	})
	if i < 0 {
		return f
	}
	allowed, end := m.Ceiling.Bounds[i], ""
	if allowed.BurstFor > 0 {
		end = " of at most " + text.Duration(allowed.BurstFor)
	}
	// Throughput is reported where it is what limits, IOPS elsewhere.
	got, sustained := m.IOPS().String()+" IOPS", low.IOPS.String()+" IOPS"
	if diagnose.OfBytes(*low) {
		got, sustained = diagnose.Rate(m.BW()), diagnose.Rate(low.BW)
	}
	run := "a short run"
	if ran > 0 {
		run = "a run of " + text.Duration(ran)
	}
	f = m.Finds("%s is a burst%s: %s %s of this load, and %s ends before the burst does.", got, end, who, sustained, run)
	if mean > 0 {
		f.Say("%s over %s is more than a burst of %s explains: that allows %s IOPS on average and %s once it is "+
			"spent, so the assumed limit or time is wrong.",
			got, ran, allowed.BurstFor, mean, sustained)
	}
	f = f.Saw("measured", got, "at most "+sustained, "fio, scenario "+m.Label()).
		Saw("sustained limit, "+low.Label(), low.IOPS.String()+" IOPS", "", low.How+"; "+diagnose.Origin(low.Origin))
	if allowed.BurstFor > 0 {
		f = f.Saw("time measured", ran, "more than the "+text.Duration(allowed.BurstFor)+" of the burst",
			diagnose.Origin(allowed.Origin))
	}
	return f
}

// lostAtStop finds the paths on drives that a cloud's machine loses when it stops or fails. A mirror of which a
// member stays keeps what is on it.
func lostAtStop(c *diagnose.Case, report diagnose.Report) {
	seen := map[string]bool{}
	for _, t := range c.Targets() {
		if seen[t.Path] {
			continue
		}
		seen[t.Path] = true
		leaves := c.Tree().Leaves(t.Device)
		local := slices.DeleteFunc(slices.Clone(leaves), func(d *block.Device) bool { return !cloud.IsLocal(d.Model) })
		a := c.Topology.Array(t.Array)
		if len(local) == 0 || a != nil && a.Level.Mirrored() && len(local) < len(leaves) {
			continue
		}
		var names []string
		for _, d := range local {
			names = append(names, d.Name)
		}
		report(finding.New(t.Path, "%s (%s) is on instance storage (%s): its data is lost when the machine stops or fails.",
			t.Path, t.Role, names).
			Saw("model of "+names[0], local[0].Model, "a volume that outlives the machine",
				diagnose.Sysfs(names[0], "device/model")))
	}
}
