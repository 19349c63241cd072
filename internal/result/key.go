package result

import (
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// Key is the figure by which a workload is known, in which its measurement and its ceiling are
// shown.
type Key string

// The key figures.
const (
	ByIOPS      Key = "IOPS"
	ByBandwidth Key = "bandwidth"
	ByLatency   Key = "latency"
	ByTPS       Key = "transactions"
)

// LargeIO is the block size from which on bandwidth is more telling than IOPS.
const LargeIO = 128 * units.KiB

// KeyOf chooses: transactions of a database, latency of one I/O at a time, else MainOf. r may be nil.
func KeyOf(r *Result) Key {
	main := MainOf(r)
	if main == ByTPS || r == nil {
		return main
	}
	of := r.Total
	silent := r.Source != "" && !of.Read.Completion().Measured() && !of.Write.Completion().Measured()
	if r.Depth.Asked == 1 && !r.HeldBack() && !silent { // others may state no latency
		return ByLatency
	}
	return main
}

// MainOf is the figure that is compared and tested: transactions of a database, bandwidth of large
// I/Os, IOPS of others. r may be nil.
func MainOf(r *Result) Key {
	if r == nil {
		return ByIOPS
	}
	if r.Kind() == suite.OfServer {
		return ByTPS
	}
	if n, bw := r.Total.Rates(); bw > 0 && (n == 0 || units.Bytes(float64(bw)/float64(n)) >= LargeIO) {
		return ByBandwidth
	}
	return ByIOPS
}

// Print gives a throughput in the key's unit. The latency of one I/O at a time is the reciprocal of
// IOPS, syncs included.
func (k Key) Print(n units.IOPS, bw units.Rate) string {
	switch {
	case k == ByBandwidth:
		return bw.String()
	case k == ByLatency && n > 0:
		return units.Latency(1e9 / float64(n)).String()
	}
	if k == ByTPS {
		return n.String() + " TPS"
	}
	return n.String() + " IOPS"
}

// Share is a measured throughput over what is possible, 0 where that is not known.
func (k Key) Share(n units.IOPS, bw units.Rate, mostN units.IOPS, most units.Rate) float64 {
	if k == ByBandwidth && most > 0 {
		return float64(bw / most)
	}
	return over(float64(n), float64(mostN))
}
