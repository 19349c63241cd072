package stats

import "math"

// Probe is one measurement of a search for the highest load that meets a threshold.
type Probe struct {
	Load float64
	// Over is the logarithm of the measured figure over the threshold: above 0 the threshold is
	// missed. NaN is a measurement that must not be trusted; it is taken again.
	Over float64
	// Behind: less load was achieved than was asked for, so that nothing was measured at Load.
	Behind bool
}

// Search looks for the highest load that meets a threshold between two loads that are not measured
// yet, by bisection. Near the threshold a load is measured again: a single percentile is known to
// 10 to 25 % only.
type Search struct {
	Low, High float64
	// Within is the width of the bracket, as a share, at which the search ends: 0.03.
	Within float64
	// Step is what loads are whole multiples of; 0 for any load.
	Step float64
}

// Bracket is where the highest load that meets the threshold lies, as far as a search knows.
type Bracket struct {
	Low  float64 `json:"low" unit:"iops"`  // met; 0 for none yet
	High float64 `json:"high" unit:"iops"` // missed; 0 for none yet
	Done bool    `json:"done"`
	// Unusable is a load that was tried mostProbes times and gave no measurement; 0 for none.
	Unusable float64 `json:"unusable,omitempty" unit:"iops"`
}

const (
	// mostProbes of one load.
	mostProbes = 4
	// firstSpread is taken for the spread of a figure's logarithm as long as it was measured once,
	// and leastSpread where two happen to agree: percentiles of ten seconds spread by 10 to 25 %.
	firstSpread, leastSpread = 0.15, 0.1
	// behindBy is the logarithm that a load counts with which was not achieved.
	behindBy = 1.4
)

// Next is the load to measure after these probes, which are in the order of their measurement, and
// what is known so far. The same probes always give the same answer, so that an interrupted search
// continues where it was.
//
// A load that a single probe found to miss is measured again before the search ends there: one
// stall, such as a neighbour's, makes a percentile of ten seconds many times as high. What several
// probes of one load say together counts, whatever came between them.
func (s Search) Next(probes []Probe) (load float64, b Bracket) {
	tried := byLoad(probes)
	for _, t := range tried {
		if t.outcome == undecided {
			return t.load, b
		}
		if t.outcome == unusable {
			b.Unusable, b.Done = t.load, true
			return 0, b
		}
	}
	lo, hi, once := s.Low, s.High, false
	for _, t := range tried {
		if t.outcome == missed && (b.High == 0 || t.load < b.High) {
			b.High, hi, once = t.load, t.load, t.probes == 1
		}
	}
	for _, t := range tried {
		switch {
		case t.outcome == met && b.High > 0 && t.load > b.High:
			if once {
				return b.High, b // more load was met
			}
		case t.outcome == met && t.load > b.Low:
			b.Low, lo = t.load, t.load
		}
	}
	switch {
	case hi > lo*(1+s.Within) && hi-lo >= 2*s.Step:
		middle := (lo + hi) / 2
		if hi > 2*lo {
			middle = math.Sqrt(lo * hi)
		}
		if s.Step > 0 {
			middle = math.Round(middle/s.Step) * s.Step
		}
		return middle, b
	case b.Low == 0 && lo < b.High: // every load between missed
		return lo, b
	case b.High == 0 && hi > b.Low: // every load between met
		return hi, b
	case once:
		return b.High, b
	}
	b.Done = true
	return 0, b
}

// tried is a load with what its probes say together.
type tried struct {
	load    float64
	probes  int
	outcome outcome
}

// byLoad judges each load by all of its probes, in the order in which they were first measured.
func byLoad(probes []Probe) []tried {
	var out []tried
	of := map[float64][]Probe{}
	for _, p := range probes {
		if of[p.Load] == nil {
			out = append(out, tried{load: p.Load})
		}
		of[p.Load] = append(of[p.Load], p)
	}
	for i := range out {
		same := of[out[i].load]
		out[i].probes, out[i].outcome = len(same), decide(same)
	}
	return out
}

type outcome int

const (
	undecided outcome = iota
	met
	missed
	unusable
)

// decide judges the probes of one load: again, until the mean of the logarithms is two standard
// errors from the threshold.
func decide(probes []Probe) outcome {
	var xs []float64
	for _, p := range probes {
		switch {
		case p.Behind:
			xs = append(xs, behindBy)
		case !math.IsNaN(p.Over):
			xs = append(xs, p.Over)
		}
	}
	if len(xs) == 0 {
		if len(probes) >= mostProbes {
			return unusable
		}
		return undecided
	}
	spread := math.Sqrt(variance(xs))
	if len(xs) < 2 {
		spread = firstSpread
	}
	se := max(spread, leastSpread) / math.Sqrt(float64(len(xs)))
	switch {
	case len(probes) < mostProbes && math.Abs(mean(xs)) < 2*se:
		return undecided
	case mean(xs) <= 0:
		return met
	}
	return missed
}
