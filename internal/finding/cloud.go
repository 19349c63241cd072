package finding

import (
	"fmt"
	"time"

	"plimsoll/internal/ceiling"
)

func cloudRules() []*Rule { return []*Rule{instanceBurst, volumeBurst} }

// aboveLasting is how far above a sustained limit a figure must be to be called a burst: beyond saved tokens and rounding.
const aboveLasting = 1.02

var instanceBurst = &Rule{
	Code: "PL601", Since: "0.1", Severity: Warn,
	Title: "figure is above what the instance sustains",
	When: "Measured IOPS or throughput exceed the instance's sustained EBS limit by more than 2 %, while its burst limit " +
		"allows them, and the run was shorter than the burst lasts.",
	Why: "Smaller instances may exceed their baseline for 30 minutes a day. A test of some minutes sees only the burst; a database sized on it " +
		"slows down to the baseline when the credits are gone, at the worst moment.",
	Fix:    "Plan with the sustained figure, or choose an instance whose baseline covers the load. To see it, run for longer than the burst lasts.",
	Bad:    "40,100 IOPS on a c6a.xlarge in 180 s; it sustains 6,000",
	Good:   "40,000 IOPS on an instance with a baseline of 40,000",
	Ignore: "When the load really comes in bursts of less than half an hour a day.",
	After:  []Code{"PL401", "PL406"},
	Check: func(c *Case, report func(Finding)) {
		for _, m := range c.measured() {
			if f, ok := m.bursting(ofInstance); ok {
				who := "the instance"
				if c.Topology != nil && c.Topology.Instance.Type != "" {
					who = c.Topology.Instance.Type
				}
				report(f.says(who))
			}
		}
	},
}

var volumeBurst = &Rule{
	Code: "PL602", Since: "0.1", Severity: Warn,
	Title: "figure is above what the volumes sustain",
	When: "Measured IOPS or throughput exceed the volumes' sustained limit by more than 2 %, their burst allows them, and the run was " +
		"shorter than the credits last (gp2 I/O credits, st1 and sc1 throughput credits).",
	Why: "A new gp2 volume under 1 TiB gives 3,000 IOPS until 5.4 million I/O credits are spent, then 3 IOPS a GiB. A short test " +
		"of a fresh volume measures the credits.",
	Fix:    "Plan with the sustained figure, or use gp3, whose figures last. To see it, run until the credits are gone.",
	Bad:    "3,000 IOPS on a gp2 volume of 100 GiB in 60 s; it sustains 300",
	Good:   "3,000 IOPS on a gp3 volume",
	Ignore: "When the load comes in bursts that the credits cover (BurstBalance stays above 0).",
	After:  []Code{"PL401", "PL406"},
	Check: func(c *Case, report func(Finding)) {
		for _, m := range c.measured() {
			if f, ok := m.bursting(func(b ceiling.Bound) bool { return b.Kind == ceiling.VolumeIOPS || b.Kind == ceiling.VolumeRate }); ok {
				report(f.says("the array's volumes"))
			}
		}
	},
}

// burst is a figure that lies above a sustained bound and below the burst of the same resource.
type burst struct {
	m              Measurement
	lasts, allowed ceiling.Bound
}

// bursting finds the smallest sustained bound of some resources that a run exceeded thanks to a burst it did not outlast.
func (m Measurement) bursting(of func(ceiling.Bound) bool) (burst, bool) {
	low, ok := least(m.Ceiling, func(b ceiling.Bound) bool { return of(b) && !b.Burst })
	if !ok || m.iops() <= aboveLasting*low.IOPS {
		return burst{}, false
	}
	for _, b := range m.Ceiling.Bounds {
		if b.Burst && b.Kind == low.Kind && b.IOPS > low.IOPS && (b.Lasts == 0 || m.Result.Measured < b.Lasts) {
			return burst{m, low, b}, true
		}
	}
	return burst{}, false
}

func (x burst) says(who string) Finding {
	m := x.m
	took := "The run"
	if m.Result.Measured > 0 {
		took = fmt.Sprintf("A run of %s", span(float64(m.Result.Measured)))
	}
	lasts := "not known how long"
	if x.allowed.Lasts > 0 {
		lasts = span(float64(x.allowed.Lasts))
	}
	// Throughput is told where it is what binds, IOPS elsewhere.
	got, sustained := m.iops().String()+" IOPS", x.lasts.IOPS.String()+" IOPS"
	if x.lasts.Kind == ceiling.InstanceRate || x.lasts.Kind == ceiling.VolumeRate {
		got, sustained = rate(m.bw()), rate(x.lasts.BW)
	}
	return Finding{
		Subject: m.label(), Scenarios: m.ids(),
		Says: fmt.Sprintf("%s are a burst: %s sustain%s %s. %s cannot see the end of it.", got, who, plural(who), sustained, took),
		Evidence: []Evidence{
			{"measured", got, "at most " + sustained, "fio, scenario " + m.label()},
			{"sustained bound, " + x.lasts.Label(), x.lasts.IOPS.String() + " IOPS", "", x.lasts.How + "; " + origin(x.lasts.Origin)},
			{"the burst lasts", lasts, "measured: " + span(float64(m.Result.Measured.Round(time.Second))), origin(x.allowed.Origin)},
		},
	}
}

func plural(who string) string {
	if who == "the array's volumes" {
		return ""
	}
	return "s"
}
