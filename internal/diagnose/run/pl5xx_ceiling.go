package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func ceilingReached(_ *facts, m measurement) (f fault) {
	if b, ok := diagnose.Hardware(m.Ceiling); ok && m.Reached() && m.IOPS() <= impossibleShare*b.IOPS {
		return reaching(m, b)
	}
	return f
}

// reaching is the finding that a bound was reached, with the limit that follows it. Its figures are
// in the unit in which the report shows the scenario.
func reaching(m measurement, b ceiling.Bound) fault {
	key := result.KeyOf(m.Result)
	if key == result.ByLatency {
		key = result.ByIOPS
	}
	f := m.Finds("%s (%v), limited by %s.", text.Of(key.Print(m.IOPS(), m.BW()), key.Print(b.IOPS, b.BW)),
		key.Share(m.IOPS(), m.BW(), b.IOPS, b.BW), b.Label()).
		Saw("measured", fmt.Sprintf("%s IOPS (%s)", m.IOPS(), m.BW()), fmt.Sprintf("%s IOPS (%s)", b.IOPS, b.BW),
			"fio, scenario "+m.Label()).
		Saw("limited by "+b.Label(), b.How, "", diagnose.Origin(b.Origin))
	if n := m.Ceiling.Least(func(o ceiling.Bound) bool {
		return o.Kind != b.Kind && o.Kind != ceiling.Concurrency && o.Kind != ceiling.RequestedRate
	}); n != nil {
		f = f.Saw("next limit, "+n.Label(), key.Print(n.IOPS, n.BW), "", n.How)
	}
	return f
}

// farShare of the ceiling is where a result needs an explanation: EBS promises 90 % of the
// provisioned figure.
const farShare = 0.80

// half of a gap explained makes an account worth its line where the gap itself is small.
const half = 0.5

func farBelow(c *facts, m measurement) (f fault) {
	b, ok := diagnose.Hardware(m.Ceiling)
	if !ok || m.Reached() || m.HeldBack() || m.IOPS() == 0 || !diagnose.VolumesKnown(m.Ceiling) {
		return f
	}
	account, severity := c.Account(m, b), finding.Warn
	if m.IOPS() >= farShare*b.IOPS {
		if account = c.ProvenAccount(m, b); account == nil || account.Unexplained() > half {
			return f
		}
		severity = finding.Info
	}
	return diagnose.Explained(account, m.Finds("%s IOPS (%s) are %v of the %s (%s) that %s allows.", m.IOPS(), m.BW(),
		float64(m.IOPS()/b.IOPS), b.IOPS, b.BW, b.Label()).As(severity).
		Saw("IOPS", m.IOPS(), b.IOPS, b.How+"; "+diagnose.Origin(b.Origin)).
		Saw("throughput", diagnose.Rate(m.BW()), diagnose.Rate(b.BW), "the same"))
}

// demandMet of a requested rate counts as met: fio's own pacing keeps within 1 % of it.
const demandMet = 0.98

func demandMissed(_ *facts, m measurement) (f fault) {
	var says []string
	f = m.Finds("")
	miss := func(what string, runs func(fio.Workload) bool, each func(fio.Workload) float64, got float64,
		unit func(float64) string,
	) {
		asked := 0.0 // by all jobs together
		for _, w := range m.Workloads {
			switch {
			case !runs(w):
			case each(w) == 0: // this one asks for no rate
				return
			default:
				asked += each(w) * float64(max(w.Jobs, 1))
			}
		}
		if asked == 0 || got == 0 || got >= demandMet*asked {
			return
		}
		says = append(says,
			finding.Says("%v of the %s of %s asked for (%s)", got/asked, unit(asked), what, unit(got)))
		f = f.Saw(what, unit(got), unit(asked), "fio, against rate= of the jobs")
	}
	byRate := func(v float64) string { return units.Rate(v).String() }
	byIOPS := func(v float64) string { return units.IOPS(v).String() + " IOPS" }
	// What fio itself holds back is not missed.
	readIOPS := func(w fio.Workload) float64 { read, _ := w.HeldIOPS(); return float64(read) }
	writeIOPS := func(w fio.Workload) float64 { _, write := w.HeldIOPS(); return float64(write) }
	reads, writes, t := fio.Workload.Reads, fio.Workload.Writes, m.Total
	miss("reads", reads, func(w fio.Workload) float64 { return float64(w.ReadRate) }, float64(t.Read.BW), byRate)
	miss("writes", writes, func(w fio.Workload) float64 { return float64(w.WriteRate) }, float64(t.Write.BW), byRate)
	miss("reads", reads, readIOPS, float64(t.Read.IOPS), byIOPS)
	miss("writes", writes, writeIOPS, float64(t.Write.IOPS), byIOPS)
	if len(says) > 0 {
		f.Message = "The storage delivered " + strings.Join(says, " and ") + "."
		if m.TooShort() { // too short to meet or miss a demand, as with thresholds
			f.Severity = finding.Warn
		}
	}
	return f
}

func instanceBound(c *facts, m measurement) (f fault) {
	b, ok := diagnose.Hardware(m.Ceiling)
	if !ok || !diagnose.OfInstance(b) || !m.Reached() || m.IOPS() > impossibleShare*b.IOPS {
		return f
	}
	f = reaching(m, b)
	who := "the instance"
	if c.Topology != nil {
		who = cmp.Or(c.Topology.Instance.Type, who)
	}
	f.Say("%s IOPS (%s) are %v of what %s may do %s (%s); its volumes are not the limit.", m.IOPS(), m.BW(),
		float64(m.IOPS()/b.IOPS), who, through(b.Kind), b.Label())
	return f
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

func mirrorReads(c *facts, m measurement) (f fault) {
	a := c.ArrayOf(m)
	t := m.Total
	if a == nil || !a.Level.Mirrored() || diagnose.Ran(t.Write) || !diagnose.Ran(t.Read) || len(a.Volumes) == 0 {
		return f
	}
	rates := readRates(a.Volumes)
	side := min(a.DataMembers(), len(rates))
	half, whole := total(rates[:side]), total(rates)
	if half == 0 || t.Read.BW <= mirrorGain*half {
		return f
	}
	most := "up to " + whole.String()
	if rates[0] == rates[len(rates)-1] {
		most = fmt.Sprintf("up to %d × %s = %s", len(rates), rates[0], whole)
	}
	return m.Finds("Reads of %s exceed the %s of %d volumes, since all %d members of %s serve reads (%s).", t.Read.BW,
		half, side, len(rates), a.Name, whole).
		Saw("read throughput", t.Read.BW, most, "fio, scenario "+m.Label())
}
