package advise

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// near is the share of a ceiling at which a device counts as at it.
const near = 0.95

// AtLimit says how close a device came to one of its limits.
type AtLimit struct {
	Device string        `json:"device"`
	Bound  ceiling.Bound `json:"bound"`
	Most   float64       `json:"most"`  // largest share of the limit in any interval
	Share  float64       `json:"share"` // of the time at 95 % of it or more
}

// String is a limit in a sentence: "md0 was at 97 % of instance throughput at most, and at 95 % or
// more for 41 % of the time".
func (l AtLimit) String() string {
	s := fmt.Sprintf("%s reached %s of its limit by %s", l.Device, text.Percent(l.Most), l.Bound.Label())
	if l.Share > 0 {
		s += fmt.Sprintf(", and was at 95 %% or more of it for %s of the time", text.Percent(l.Share))
	}
	return s
}

// Limits holds what was observed of a device, interval by interval, against the ceiling of the same
// mix of I/O on the topology: what limited it meanwhile, the nearest limit first. Nothing comes
// back where no limit is known.
func Limits(t *topology.Topology, role topology.Role, o workload.Observed) []AtLimit {
	var all []AtLimit
	length := 0.0
	for _, iv := range o.Intervals {
		sum := iv.Read.IOPS + iv.Write.IOPS
		length += iv.Len.Seconds()
		if sum <= 0 {
			continue
		}
		w := fio.Workload{Engine: "libaio", Direct: true, Jobs: 1, Depth: 64, ReadShare: iv.Read.IOPS / sum}
		if iv.Read.IOPS > 0 {
			w.ReadBS = max(units.Bytes(iv.Read.Rate/iv.Read.IOPS+0.5), 512)
		}
		if iv.Write.IOPS > 0 {
			w.WriteBS = max(units.Bytes(iv.Write.Rate/iv.Write.IOPS+0.5), 512)
		}
		for _, b := range ceiling.Of(t, role, []fio.Workload{w}).Bounds {
			if b.Kind == ceiling.Concurrency || b.IOPS <= 0 {
				continue
			}
			at := slices.IndexFunc(all, func(l AtLimit) bool { return l.Bound.Label() == b.Label() })
			if at < 0 {
				at = len(all)
				all = append(all, AtLimit{Device: o.Device, Bound: b})
			}
			used := sum / float64(b.IOPS)
			if used > all[at].Most {
				all[at].Most, all[at].Bound = used, b
			}
			if used >= near {
				all[at].Share += iv.Len.Seconds()
			}
		}
	}
	for i := range all {
		all[i].Share /= max(length, 1e-9)
	}
	slices.SortStableFunc(all, func(a, b AtLimit) int { return cmp.Compare(b.Most, a.Most) })
	return all
}

// Censor marks a demand that was watched on storage at its limit: what was asked for may have been
// more. A limit that holds for a time only, and is exceeded by a burst, is none.
func Censor(d *workload.Demand, limits []AtLimit) {
	for _, l := range limits {
		if l.Share >= 0.05 && l.Most <= 1.1 {
			d.AtLeast = append(d.AtLeast, l.String())
		}
	}
}
