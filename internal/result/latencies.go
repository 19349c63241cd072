package result

import "plimsoll/internal/fio"

// Timed is a latency of a result and what it is of: "sync", "read" or "write"; "" of all that ran.
type Timed struct {
	Of string
	fio.Latency
}

// Latencies are those by which a result is known. A durable write takes as long as its sync; the completion
// latencies of several directions are one distribution where their bins are known, and else one each.
func (r *Result) Latencies() (all []Timed) {
	t := r.Total
	if t.Sync.Lat.Measured() {
		return []Timed{{"sync", t.Sync.Lat}}
	}
	sum := &fio.Hist{}
	binned := true
	for i, d := range t.Directions() {
		if l := d.Completion(); d.N > 0 || d.IOPS > 0 || l.Mean > 0 {
			all = append(all, Timed{fio.DirectionNames[i], l})
			if binned = binned && l.Hist.Count() > 0; binned {
				sum.Merge(l.Hist)
			}
		}
	}
	switch {
	case len(all) == 1:
		all[0].Of = ""
	case binned && len(all) > 1:
		return []Timed{{"", fio.Latency{Hist: sum, N: sum.Count()}}}
	}
	return all
}
