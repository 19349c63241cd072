package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Probed is what one member of an array gave to random reads of its own, alone and while all others
// were read as well.
type Probed struct {
	Device   string     `json:"device"` // kernel name
	Serial   string     `json:"serial,omitempty"`
	Alone    units.IOPS `json:"alone_iops"`
	Together units.IOPS `json:"together_iops"`
	// Latency is the mean of a read alone.
	Latency units.Latency `json:"alone_latency"`
}

// Probe is what the members of an array gave.
type Probe struct {
	Array   string   `json:"array"`
	Members []Probed `json:"members"`
}

// ProbeOf is an array's probe before it is made.
func ProbeOf(a *topology.Array) Probe {
	p := Probe{Array: a.Name}
	for _, v := range a.Volumes {
		if v.Device != "" && !v.Missing {
			p.Members = append(p.Members, Probed{Device: v.Device, Serial: v.Serial})
		}
	}
	return p
}

// enough of what a volume was ordered with, or of what the best of its peers gives, raises no
// question.
const enough = 0.90

// Short are the members, by number, that gave too little while all were read: less than they were
// ordered with, or less than the best of them where that is not known.
func (p Probe) Short(a *topology.Array) []int {
	most := units.IOPS(0)
	for _, m := range p.Members {
		most = max(most, m.Together)
	}
	var short []int
	for i, m := range p.Members {
		if m.Together < enough*cmp.Or(orderedIOPS(a, m.Device), most) {
			short = append(short, i)
		}
	}
	return short
}

// orderedIOPS is what a volume may do of 8 KiB reads while its burst lasts, 0 where that is not
// known.
func orderedIOPS(a *topology.Array, device string) units.IOPS {
	i := slices.IndexFunc(a.Volumes, func(v topology.Volume) bool { return v.Device == device })
	if i < 0 {
		return 0
	}
	v := a.Volumes[i]
	least := units.IOPS(0)
	limit := func(iops units.IOPS) {
		if iops > 0 && (least == 0 || iops < least) {
			least = iops
		}
	}
	limit(max(v.Sustained.IOPS, v.Burst.IOPS))
	limit(v.Sustained.ReadIOPS)
	limit(units.IOPS(max(v.Sustained.Rate, v.Burst.Rate)) / units.IOPS(8*units.KiB))
	return least
}

const (
	probeSlow   = 0.80 // of the members' median alone: a slow volume. Equal volumes of the lab stay within 3 %
	probeShared = 0.85 // of the sum of what they gave alone: below, something that all share limits them
)

// ProbeAnswer says what a probe of an array's members shows: a slow volume, a limit that all share,
// or neither, so that a queue on one of them was unlucky spread.
func ProbeAnswer(all []Probed) string {
	if len(all) < 2 {
		return "A single volume has no peers to compare with."
	}
	var alone, together []float64
	sum, sumTogether := 0.0, 0.0
	for _, p := range all {
		alone, together = append(alone, float64(p.Alone)), append(together, float64(p.Together))
		sum, sumTogether = sum+float64(p.Alone), sumTogether+float64(p.Together)
	}
	middle := stats.Median(alone)
	var slow []string
	for _, p := range all {
		if float64(p.Alone) < probeSlow*middle {
			slow = append(slow, fmt.Sprintf("%s reaches %v IOPS alone, %s of its peers' median of %v", p.Device, p.Alone,
				text.Percent(float64(p.Alone)/middle), units.IOPS(middle)))
		}
	}
	if len(slow) > 0 {
		return "slow volume: " + strings.Join(
			slow,
			"; ",
		) + ". Replace it, wait until its initialisation from a snapshot has ended, " +
			"or raise its provisioned IOPS or throughput."
	}
	if sumTogether < probeShared*sum {
		behind := ""
		if i := slices.Index(together, slices.Min(together)); together[i] < probeSlow*stats.Median(together) {
			behind = "; " + all[i].Device + " then falls behind"
		}
		return fmt.Sprintf("shared limit: alone they are alike (median %v IOPS), together they reach %v of %v IOPS%s. The "+
			"instance or the controller holds them back, not any one volume.", units.IOPS(middle), units.IOPS(sumTogether),
			units.IOPS(sum), behind)
	}
	return fmt.Sprintf("no slow volume: each reaches about %v IOPS alone, and the same while all are read. A queue "+
		"on one of them means unevenly spread I/Os.", units.IOPS(middle))
}

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
			"a limit that all members share: read together, they reach %s IOPS of %s", g.together, all)
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
