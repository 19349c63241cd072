package compare

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/verdict"
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

// tps is a database's transactions per second, of the load that reached the most.
func tps() Figure {
	return Figure{Name: "TPS", Unit: PerSecond, value: func(r *result.Result) float64 {
		if peak := r.Peak(); peak != nil {
			return float64(peak.TPS)
		}
		return math.NaN()
	}}
}

func bandwidth() Figure { return Figure{Name: "bandwidth", Unit: BytesPerSec} }

// stated is the figure that a suite says is the main one.
func stated(main string) (Figure, bool) {
	m, err := suite.ParseMain(main)
	if main == "" || err != nil {
		return Figure{}, false
	}
	f := Figure{Name: m.String(), Unit: Nanoseconds, Lower: true, value: func(r *result.Result) float64 {
		b, err := verdict.Measure(m, r)
		if err != nil {
			return math.NaN()
		}
		return b.Least
	}}
	switch m.Quantity {
	case suite.IOPS, suite.TPS:
		f.Unit, f.Lower = PerSecond, false
	case suite.BW:
		f.Unit, f.Lower = BytesPerSec, false
	case suite.Clat, suite.Slat, suite.Lat, suite.Sync, suite.Took:
	}
	return f, true
}

// pacedMet is the share of the rates asked for from which on a paced run has done what it was given
// to do, so that only its latency tells how well.
const pacedMet = 0.98

// paced says that rates of their own held every section, and that the result met them.
func paced(r *result.Result) bool {
	asked := 0.0
	for _, w := range r.Workloads {
		read, write := ceiling.Asked(w, true), ceiling.Asked(w, false)
		if w.StartDelay > 0 || w.Reads() && read <= 0 || w.Writes() && write <= 0 {
			return false
		}
		if w.Reads() {
			asked += float64(read)
		}
		if w.Writes() {
			asked += float64(write)
		}
	}
	return asked > 0 && float64(r.Sum().IOPS) >= pacedMet*asked
}

// pace makes the 99th percentile of the direction that does most the figure of a row whose IOPS were
// given: all valid rounds of all sides are paced and did what was asked of them.
func (r *Row) pace() {
	if r.stated {
		return
	}
	reads, writes, trusted := 0.0, 0.0, false
	for _, c := range r.Cells {
		for _, s := range c.all {
			if s.Invalid != "" {
				continue
			}
			if !paced(s.Result) {
				return
			}
			trusted = true
			reads, writes = reads+float64(s.Result.Total.Read.IOPS), writes+float64(s.Result.Total.Write.IOPS)
		}
	}
	if !trusted {
		return
	}
	name := "write p99"
	if reads >= writes {
		name = "read p99"
	}
	for _, f := range latencyFigures() {
		if f.Name != name {
			continue
		}
		for _, c := range r.Cells {
			if slices.ContainsFunc(c.all, func(s Sample) bool { return s.Invalid == "" && !usable(f.of(s.Result)) }) {
				return
			}
		}
		r.Figure = f
	}
}

// mainFigure is the one figure of a scenario that is tested: what its suite says, else bandwidth of
// large I/Os, IOPS of others.
func mainFigure(s *bundle.Scenario) Figure {
	if f, ok := stated(s.Main); ok {
		return f
	}
	switch result.MainOf(s.Result) {
	case result.ByTPS:
		return tps()
	case result.ByBandwidth:
		return bandwidth()
	case result.ByIOPS, result.ByLatency:
	}
	return iops()
}

// MainFigure is the figure of a result that is tested, with its name; 0 or NaN when it was not
// measured.
func MainFigure(r *result.Result) (name string, value float64) {
	f := mainFigure(&bundle.Scenario{Result: r})
	return f.Name, f.of(r)
}

// of is the figure of one result; NaN when it was not measured.
func (f Figure) of(r *result.Result) float64 {
	switch {
	case f.value != nil:
		return f.value(r)
	case f.latency != nil:
		if v, ok := f.latency(r).At(100 * f.q); ok {
			return float64(v)
		}
		return math.NaN()
	case f.Unit == BytesPerSec:
		return float64(r.Sum().BW)
	}
	return float64(r.Sum().IOPS)
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

// over are the usable figures of the valid samples, and the figure of them all: their geometric mean, or what a
// single one says of itself.
func (f Figure) over(samples []Sample) (values []float64, all stats.Estimate) {
	var last Sample // which need not be the first: a round may lack the figure
	for _, s := range samples {
		if v := f.of(s.Result); s.Invalid == "" && usable(v) {
			values, last = append(values, v), s
		}
	}
	switch len(values) {
	case 0:
	case 1:
		all = f.estimate(last.Result)
	default:
		all, _ = stats.Level(values) // all are above 0
	}
	return values, all
}

// quantileOf estimates a percentile from the seconds' histograms.
func (f Figure) quantileOf(r *result.Result) stats.Estimate {
	var seconds [][]stats.Weighted
	for _, s := range r.Seconds {
		if h := f.hist(s); h != nil && !s.Ramp {
			var each []stats.Weighted
			h.Each(func(bin int, n uint64) {
				each = append(each, stats.Weighted{Value: float64(bins.Value(bin)), Weight: float64(n)})
			})
			seconds = append(seconds, each)
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

// p99 is the percentile that is tested.
const p99 = 0.99

// latencyFigures are shown with intervals, and of them the 99th percentiles are tested: a test of each would
// make claims where nothing changed.
func latencyFigures() []Figure {
	var all []Figure
	for i, name := range []string{"read", "write", "sync"} {
		latency := func(r *result.Result) fio.Latency {
			t := &r.Total
			return [...]fio.Latency{t.Read.Completion(), t.Write.Completion(), t.Sync.Lat}[i]
		}
		hist := func(s result.Second) *fio.Hist { return [...]*fio.Hist{s.Read.Hist, s.Write.Hist, s.Sync}[i] }
		for _, q := range []float64{0.5, p99} {
			name := fmt.Sprintf("%s p%g", name, 100*q)
			all = append(all, Figure{Name: name, Unit: Nanoseconds, Lower: true, latency: latency, hist: hist, q: q})
		}
	}
	return all
}
