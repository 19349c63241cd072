package fio

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// SettleCounts is SettleCount of each latency of a direction.
func (d *Direction) SettleCounts() {
	for _, l := range d.Latencies() {
		l.SettleCount(d.N)
	}
}

// SettleCount fills N for versions before 3.18, which do not print it, and clears what was not
// measured, where old versions print the unset minimum. Percentiles ascend then.
func (l *Latency) SettleCount(ios uint64) {
	slices.SortStableFunc(l.Percentiles, func(a, b Percentile) int { return cmp.Compare(a.P, b.P) })
	switch {
	case l.N > 0:
	case l.Hist.Count() > 0:
		l.N = l.Hist.Count()
	case l.Mean > 0 || l.Max > 0:
		l.N = ios
	}
	none := len(l.Percentiles) == 0 || l.Percentiles[len(l.Percentiles)-1].Value == 0
	if l.N == 0 && l.Mean == 0 && l.Max == 0 && none {
		*l = Latency{}
	}
}

// Duration turns a figure in unit into a duration; what does not fit is a sentinel of fio's and
// becomes 0.
func Duration(v float64, unit time.Duration) time.Duration {
	ns := v * float64(unit)
	if ns < 0 || ns >= math.MaxInt64 {
		return 0
	}
	return time.Duration(math.Round(ns))
}
