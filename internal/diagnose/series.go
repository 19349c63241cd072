package diagnose

import (
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
)

// Failed says that a job ended with an error.
func (m Measurement) Failed() bool {
	return slices.ContainsFunc(m.Jobs, func(j fio.Job) bool { return j.Error != 0 })
}

// Staged says that the job's own sections begin or end in mid-run.
func (m Measurement) Staged() bool {
	ws := m.Workloads
	for _, w := range ws {
		if w.StartDelay > 0 || w.Stonewall || w.Runtime != ws[0].Runtime {
			return true
		}
	}
	return false
}

// Settled is the per-second series without its ramp and without the seconds after the run's time,
// in which only what was in flight completes: with a deep queue before a slow volume they are many.
func Settled(r *result.Result) []result.Second {
	from := slices.IndexFunc(r.Seconds, func(s result.Second) bool { return !s.Ramp })
	if from < 0 {
		return nil
	}
	series := r.Seconds[from:]
	runs, known := fio.Ends(r.Workloads)
	if !known {
		return series
	}
	end := series[0].At - series[0].Len + runs + time.Second/2 // seconds are not whole
	if i := slices.IndexFunc(series, func(s result.Second) bool { return s.At > end }); i > 0 {
		series = series[:i]
	}
	return series
}

// DryLevel is how near the level after a fall must be to a sustained limit to be that limit.
const DryLevel = 0.10

// rateAtEnd is the median IOPS of the last seconds, 0 when there are too few to tell.
func rateAtEnd(r *result.Result) float64 {
	const last = 5
	series := Settled(r)
	if len(series) < last {
		return 0
	}
	return stats.Median(Rates(series[len(series)-last:]))
}

// Rates are the IOPS of each second.
func Rates(series []result.Second) []float64 {
	var all []float64
	for _, s := range series {
		all = append(all, float64(s.IOPS()))
	}
	return all
}

// Shortest is the least window whose figures are reported without a warning: fio's interval and
// the series have one value there, and what the devices counted in a shorter one is known to a
// tenth of a second at either end only.
const Shortest = time.Second
