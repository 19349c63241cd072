package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/text"
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

const (
	probeSlow   = 0.80 // of the members' median alone: a slow volume. Equal volumes of the lab stay within 3 %
	probeShared = 0.85 // of the sum of what they gave alone: below, something that all share limits them
)

// ProbeAnswer says what a probe of an array's members shows: a slow volume, a limit that all share,
// or neither, so that a queue on one of them was unlucky spread.
func ProbeAnswer(all []Probed) string {
	if len(all) < 2 {
		return "one volume has no peers to compare it with"
	}
	var alone, together []float64
	sum, sumTogether := 0.0, 0.0
	for _, p := range all {
		alone, together = append(alone, float64(p.Alone)), append(together, float64(p.Together))
		sum, sumTogether = sum+float64(p.Alone), sumTogether+float64(p.Together)
	}
	middle := median(slices.Clone(alone))
	var slow []string
	for _, p := range all {
		if float64(p.Alone) < probeSlow*middle {
			slow = append(
				slow,
				fmt.Sprintf(
					"%s gives %v IOPS alone, %s of its peers' median of %v",
					p.Device,
					p.Alone,
					text.Percent(float64(p.Alone)/middle),
					units.IOPS(middle),
				),
			)
		}
	}
	if len(slow) > 0 {
		return "slow volume: " + strings.Join(
			slow,
			"; ",
		) + ". Replace it, wait until its initialisation from a snapshot has ended, or raise what it was ordered with"
	}
	if sumTogether < probeShared*sum {
		behind := ""
		if i := slices.Index(together, slices.Min(together)); together[i] < probeSlow*median(slices.Clone(together)) {
			behind = "; " + all[i].Device + " falls behind then"
		}
		return fmt.Sprintf(
			"shared limit: alone they are alike (median %v IOPS), together they give %v of %v IOPS%s. The "+
				"instance or the controller holds them back, not a volume",
			units.IOPS(middle),
			units.IOPS(sumTogether),
			units.IOPS(sum),
			behind,
		)
	}
	return fmt.Sprintf(
		"no slow volume: each gives about %v IOPS alone, and as much while all are read. A queue on one of them "+
			"is uneven spread of the I/Os",
		units.IOPS(middle),
	)
}
