package result

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
)

// Figures pass this gate before anything is concluded from them. What cannot be is left out, with the
// reason; what may be, however odd, stays for the rules to judge.

const (
	// overrun is how many times its runtime a job's I/O may take, plus overrunLeast: a job ends
	// when the last of its I/Os does, and its ramp is not in its runtime.
	overrun      = 2
	overrunLeast = 5 * time.Minute
)

// implausible takes out of rows the latencies that cannot be, and says which and why.
func (r *Result) implausible() {
	for i := range r.Jobs {
		j := &r.Jobs[i]
		name := cmp.Or(j.Name, "the job")
		for side, d := range j.Directions() {
			if why := outlasts(j, d); why != "" {
				r.Doubt("%s: %s (%ss): latencies are left out", name, why, fio.DirectionNames[side])
				d.Slat, d.Clat, d.Lat = fio.Latency{}, fio.Latency{}, fio.Latency{}
				j.Buckets = nil
			}
			for _, l := range d.Latencies() {
				if !inOrder(l.Percentiles) {
					r.Doubt("%s: the percentiles of %ss do not rise: they are left out", name, fio.DirectionNames[side])
					l.Percentiles = nil
				}
			}
		}
	}
}

// outlasts says which latency of a direction is longer than the job ran, "" for none.
func outlasts(j *fio.Job, d *fio.Direction) string {
	ran := max(j.Span(), d.Runtime, j.Elapsed)
	if ran <= 0 {
		return ""
	}
	all := d.Latencies()
	for i, l := range slices.Backward(all[:]) {
		longest := max(l.Max, time.Duration(min(l.Mean, 1e18)))
		if longest > overrun*ran+overrunLeast {
			return fmt.Sprintf("a %s of %s in a run of %s is impossible", fio.LatencyNames[i], text.Duration(longest),
				text.Duration(ran))
		}
	}
	return ""
}

func inOrder(list []fio.Percentile) bool {
	return slices.IsSortedFunc(list, func(later, before fio.Percentile) int {
		if before.P < later.P && before.Value > later.Value {
			return -1
		}
		return 0
	})
}
