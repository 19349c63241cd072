package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
			"instance or the controller holds them back, not a volume.", units.IOPS(middle), units.IOPS(sumTogether),
			units.IOPS(sum), behind)
	}
	return fmt.Sprintf("no slow volume: each reaches about %v IOPS alone, and as much while all are read. A queue on one "+
		"of them means unevenly spread I/Os.", units.IOPS(middle))
}
