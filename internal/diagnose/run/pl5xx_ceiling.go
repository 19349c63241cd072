package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func ceilingRules() []*diagnose.Rule {
	return []*diagnose.Rule{
		concurrencyBound,
		ceilingReached,
		farBelow,
		demandMissed,
		instanceBound,
		mirrorReads,
		slowNotQueued,
	}
}

var ceilingReached = &diagnose.Rule{
	Code: "PL502", Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if b, ok := diagnose.Hardware(m.Ceiling); ok && m.Reached() && m.IOPS() <= impossibleShare*b.IOPS {
				report(reaching(m, b))
			}
		}
	},
}

// reaching is the finding that a bound was reached, with the limit that follows it. Its figures are
// in the unit in which the report shows the scenario.
func reaching(m diagnose.Measurement, b ceiling.Bound) finding.Finding {
	key := result.KeyOf(m.Result)
	if key == result.ByLatency {
		key = result.ByIOPS
	}
	f := finding.Finding{
		Subject:   m.Label(),
		Scenarios: m.IDs(),
		Message: fmt.Sprintf("%s (%s), limited by %s.", text.Of(key.Print(m.IOPS(), m.BW()), key.Print(b.IOPS, b.BW)),
			text.Percent(key.Share(m.IOPS(), m.BW(), b.IOPS, b.BW)), b.Label()),
		Evidence: []finding.Evidence{
			{
				What:     "measured",
				Found:    fmt.Sprintf("%s IOPS (%s)", m.IOPS(), m.BW()),
				Expected: fmt.Sprintf("%s IOPS (%s)", b.IOPS, b.BW),
				Where:    "fio, scenario " + m.Label(),
			},
			{What: "limited by " + b.Label(), Found: b.How, Where: diagnose.Origin(b.Origin)},
		},
	}
	if n := m.Ceiling.Least(func(o ceiling.Bound) bool {
		return o.Kind != b.Kind && o.Kind != ceiling.Concurrency && o.Kind != ceiling.RequestedRate
	}); n != nil {
		f.Evidence = append(f.Evidence,
			finding.Evidence{What: "next limit, " + n.Label(), Found: key.Print(n.IOPS, n.BW), Where: n.How})
	}
	return f
}

// farShare of the ceiling is where a result needs an explanation: EBS promises 90 % of the
// provisioned figure.
const farShare = 0.80

// half of a gap explained makes an account worth its line where the gap itself is small.
const half = 0.5

var farBelow = &diagnose.Rule{
	Code:  "PL503",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			b, ok := diagnose.Hardware(m.Ceiling)
			if !ok || m.Reached() || m.Result.HeldBack() || m.IOPS() == 0 || !diagnose.VolumesKnown(m.Ceiling) {
				continue
			}
			account, severity := c.Account(m, b), finding.Warn
			if m.IOPS() >= farShare*b.IOPS {
				if account = c.ProvenAccount(m, b); account == nil || account.Unexplained() > half {
					continue
				}
				severity = finding.Info
			}
			f := finding.Finding{
				Subject: m.Label(), Scenarios: m.IDs(), Severity: severity, Account: account,
				Message: fmt.Sprintf("%s IOPS (%s) are %s of the %s (%s) that %s allows.", m.IOPS(), m.BW(),
					text.Percent(float64(m.IOPS()/b.IOPS)), b.IOPS, b.BW, b.Label()),
				Evidence: []finding.Evidence{
					{
						What:     "IOPS",
						Found:    m.IOPS().String(),
						Expected: b.IOPS.String(),
						Where:    b.How + "; " + diagnose.Origin(b.Origin),
					},
					{What: "throughput", Found: diagnose.Rate(m.BW()), Expected: diagnose.Rate(b.BW), Where: "the same"},
				},
			}
			f.Message += " " + diagnose.Attribution(account)
			if named := account.Named(); len(named) > 0 {
				f.Fix = diagnose.Remedy(named[0]) + " Then measure again."
			}
			report(f)
		}
	},
}

// demandMet of a requested rate counts as met: fio's own pacing keeps within 1 % of it.
const demandMet = 0.98

var demandMissed = &diagnose.Rule{
	Code:  "PL504",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			var says []string
			f := finding.Finding{Subject: m.Label(), Scenarios: m.IDs()}
			miss := func(what string, asked, got float64, unit func(float64) string) {
				if asked == 0 || got == 0 || got >= demandMet*asked {
					return
				}
				says = append(says,
					fmt.Sprintf("%s of the %s of %s asked for (%s)", text.Percent(got/asked), unit(asked), what, unit(got)))
				f.Evidence = append(f.Evidence, finding.Evidence{
					What:     what,
					Found:    unit(got),
					Expected: unit(asked),
					Where:    "fio, against rate= of the jobs",
				})
			}
			byRate := func(v float64) string { return units.Rate(v).String() }
			byIOPS := func(v float64) string { return units.IOPS(v).String() + " IOPS" }
			d := demandOf(m.Result)
			t := m.Result.Total
			miss("reads", d.readRate, float64(t.Read.BW), byRate)
			miss("writes", d.writeRate, float64(t.Write.BW), byRate)
			miss("reads", d.readIOPS, float64(t.Read.IOPS), byIOPS)
			miss("writes", d.writeIOPS, float64(t.Write.IOPS), byIOPS)
			if len(says) > 0 {
				f.Message = "The storage gave " + strings.Join(says, " and ") + "."
				if m.TooShort() { // too short to meet or miss a demand, as with thresholds
					f.Severity = finding.Warn
				}
				report(f)
			}
		}
	},
}

// demand is what all jobs ask for together; 0 where some job of the direction asks for no rate.
type demand struct{ readRate, writeRate, readIOPS, writeIOPS float64 }

func demandOf(r *result.Result) demand {
	var d demand
	sum := func(into *float64, runs bool, each float64, jobs int, open *bool) {
		if runs {
			*into += each * float64(max(jobs, 1))
			*open = *open || each == 0
		}
	}
	var open [4]bool
	for _, w := range r.Workloads {
		read, write := w.HeldIOPS() // what fio itself holds back is not missed
		sum(&d.readRate, w.Reads(), float64(w.ReadRate), w.Jobs, &open[0])
		sum(&d.writeRate, w.Writes(), float64(w.WriteRate), w.Jobs, &open[1])
		sum(&d.readIOPS, w.Reads(), float64(read), w.Jobs, &open[2])
		sum(&d.writeIOPS, w.Writes(), float64(write), w.Jobs, &open[3])
	}
	for i, v := range []*float64{&d.readRate, &d.writeRate, &d.readIOPS, &d.writeIOPS} {
		if open[i] {
			*v = 0
		}
	}
	return d
}

var instanceBound = &diagnose.Rule{
	Code:  "PL505",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			b, ok := diagnose.Hardware(m.Ceiling)
			if !ok || !diagnose.OfInstance(b) || !m.Reached() || m.IOPS() > impossibleShare*b.IOPS {
				continue
			}
			f := reaching(m, b)
			who := "the instance"
			if c.Topology != nil {
				who = cmp.Or(c.Topology.Instance.Type, who)
			}
			f.Message = fmt.Sprintf("%s IOPS (%s) are %s of what %s may do %s (%s); its volumes are not the limit.", m.IOPS(),
				m.BW(), text.Percent(float64(m.IOPS()/b.IOPS)), who, through(b.Kind), b.Label())
			report(f)
		}
	},
}

// through is the way of I/Os that a limit of the instance is of.
func through(k ceiling.Kind) string {
	if k == ceiling.HostCacheIOPS || k == ceiling.HostCacheRate {
		return "from its host's cache"
	}
	return "over its storage network"
}

// mirrorGain is how far above the naive figure, one side of each mirror, reads must come to prove
// that both sides serve them.
const mirrorGain = 1.25

// readRates is the most that each present volume can read, its burst included, the largest first;
// nil where it is not known of one of them.
func readRates(volumes []topology.Volume) []units.Rate {
	var rates []units.Rate
	for _, v := range volumes {
		if v.Missing {
			continue
		}
		most := max(v.Sustained.Rate, v.Burst.Rate)
		if most <= 0 {
			return nil
		}
		rates = append(rates, most)
	}
	slices.SortFunc(rates, func(a, b units.Rate) int { return cmp.Compare(b, a) })
	return rates
}

func total(rates []units.Rate) (all units.Rate) {
	for _, r := range rates {
		all += r
	}
	return all
}

var mirrorReads = &diagnose.Rule{
	Code:  "PL506",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			a := c.ArrayOf(m)
			t := m.Result.Total
			if a == nil || !a.Level.Mirrored() || diagnose.Ran(t.Write) || !diagnose.Ran(t.Read) || len(a.Volumes) == 0 {
				continue
			}
			rates := readRates(a.Volumes)
			side := min(a.DataMembers(), len(rates))
			half, whole := total(rates[:side]), total(rates)
			if half == 0 || t.Read.BW <= mirrorGain*half {
				continue
			}
			most := "up to " + whole.String()
			if rates[0] == rates[len(rates)-1] {
				most = fmt.Sprintf("up to %d × %s = %s", len(rates), rates[0], whole)
			}
			report(finding.Finding{
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Message: fmt.Sprintf("Reads of %s exceed the %s of %d volumes, since all %d members of %s serve reads (%s).",
					t.Read.BW, half, side, len(rates), a.Name, whole),
				Evidence: []finding.Evidence{
					{
						What:     "read throughput",
						Found:    t.Read.BW.String(),
						Expected: most,
						Where:    "fio, scenario " + m.Label(),
					},
				},
			})
		}
	},
}
