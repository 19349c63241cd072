package compare

import (
	"fmt"
	"math"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
)

// Unit says how a figure is printed.
type Unit string

// The units of figures.
const (
	PerSecond   Unit = "1/s"
	BytesPerSec Unit = "bytes/s"
	Nanoseconds Unit = "ns"
)

// Figure is one number of a result.
type Figure struct {
	Name string `json:"name"` // IOPS, bandwidth, "read p99"
	Unit Unit   `json:"unit"`
	// Lower is better: a latency.
	Lower bool `json:"lower,omitempty"`

	value   func(*result.Result) float64 // nil for the whole IOPS or bandwidth, and for percentiles
	latency func(*result.Result) fio.Latency
	hist    func(result.Second) *fio.Hist
	q       float64
}

func iops() Figure { return Figure{Name: "IOPS", Unit: PerSecond} }

// tps is a database's transactions a second, of the load that reached the most.
func tps() Figure {
	return Figure{Name: "TPS", Unit: PerSecond, value: func(r *result.Result) float64 {
		if peak := r.Postgres.Peak(); peak != nil {
			return float64(peak.TPS)
		}
		return math.NaN()
	}}
}

func bandwidth() Figure { return Figure{Name: "bandwidth", Unit: BytesPerSec} }

// mainFigure is the one figure of a scenario that is tested: bandwidth of large I/Os, IOPS of
// others.
func mainFigure(s *bundle.Scenario) Figure {
	if s.Result != nil && s.Result.Postgres != nil {
		return tps()
	}
	if s.Result != nil {
		n, bw := rates(s.Result)
		if n > 0 && units.Bytes(bw/n) >= result.LargeIO || n == 0 && bw > 0 {
			return bandwidth()
		}
	}
	return iops()
}

// MainFigure is the figure of a result that is tested, with its name; 0 or NaN when it was not
// measured.
func MainFigure(r *result.Result) (name string, value float64) {
	f := mainFigure(&bundle.Scenario{Result: r})
	return f.Name, f.of(r)
}

func rates(r *result.Result) (iops, bw float64) {
	sum := r.Sum()
	return float64(sum.IOPS), float64(sum.BW)
}

// of is the figure of one result; NaN when it was not measured.
func (f Figure) of(r *result.Result) float64 {
	n, bw := rates(r)
	switch {
	case f.value != nil:
		return f.value(r)
	case f.latency != nil:
		if v, ok := f.latency(r).At(100 * f.q); ok {
			return float64(v)
		}
		return math.NaN()
	case f.Unit == BytesPerSec:
		return bw
	}
	return n
}

// estimate is the figure of one result with what its own seconds say of it.
func (f Figure) estimate(r *result.Result) stats.Estimate {
	e := stats.Estimate{Center: f.of(r)}
	e.Lo, e.Hi = e.Center, e.Center
	within := r.IOPS
	switch {
	case f.latency != nil:
		within = f.quantileOf(r)
	case f.value != nil:
		within = stats.Estimate{}
	case f.Unit == BytesPerSec:
		within = r.BW
	}
	if within.HasInterval() && within.Center > 0 { // of fio's figure the interval of the seconds, which are differences
		e.Lo, e.Hi, e.N = e.Center*within.Lo/within.Center, e.Center*within.Hi/within.Center, within.N
	}
	return e
}

// quantileOf estimates a percentile from the seconds' histograms.
func (f Figure) quantileOf(r *result.Result) stats.Estimate {
	var seconds [][]stats.Weighted
	for _, s := range r.Seconds {
		if h := f.hist(s); h != nil && !s.Ramp {
			var bins []stats.Weighted
			h.Each(func(bin int, n uint64) {
				bins = append(bins, stats.Weighted{Value: float64(fio.BinValue(bin)), Weight: float64(n)})
			})
			seconds = append(seconds, bins)
		}
	}
	return stats.QuantileOf(seconds, f.q)
}

func usable(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// bound is what a ceiling allows of the figure, 0 when it says nothing of it.
func (f Figure) bound(b *ceiling.Bound) float64 {
	switch {
	case b == nil || f.latency != nil || f.value != nil:
		return 0
	case f.Unit == BytesPerSec:
		return float64(b.BW)
	}
	return float64(b.IOPS)
}

// latencyFigures are shown with intervals and not tested: a test of each would make claims where
// nothing changed.
func latencyFigures() []Figure {
	var all []Figure
	for _, d := range []struct {
		name string
		of   func(*result.Result) fio.Latency
		hist func(result.Second) *fio.Hist
	}{
		{
			"read", func(r *result.Result) fio.Latency { return r.Total.Read.Completion() },
			func(s result.Second) *fio.Hist { return s.Read.Hist },
		},
		{
			"write", func(r *result.Result) fio.Latency { return r.Total.Write.Completion() },
			func(s result.Second) *fio.Hist { return s.Write.Hist },
		},
		{
			"sync", func(r *result.Result) fio.Latency { return r.Total.Sync.Lat },
			func(s result.Second) *fio.Hist { return s.Sync },
		},
	} {
		for _, q := range []float64{0.5, 0.99} {
			all = append(all, Figure{
				Name:    fmt.Sprintf("%s p%g", d.name, 100*q),
				Unit:    Nanoseconds,
				Lower:   true,
				latency: d.of,
				hist:    d.hist,
				q:       q,
			})
		}
	}
	return all
}
