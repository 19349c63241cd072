package diagnose

import (
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// IDs is the scenario's ID for Finding.Scenarios.
func (m Measurement) IDs() []int { return []int{m.Scenario.ID} }

// Measured lists the runs of a case that have figures to judge. It is only to be read: each rule asks for it, so it is
// the case's own list where all have.
func (c *Case) Measured() []Measurement {
	without := func(m Measurement) bool {
		return m.Result == nil || m.Kind() != suite.OfFio || m.State == result.Waiting ||
			m.State == result.Interrupted
	}
	if !slices.ContainsFunc(c.Runs, without) {
		return slices.Clip(c.Runs)
	}
	return slices.DeleteFunc(slices.Clone(c.Runs), without)
}

// LeastForInterval is the least window whose figures can have an interval and be compared with a
// limit: ten seconds' values.
const LeastForInterval = 10 * time.Second

// TooShort says that a run has no interval because it was too short, so that it can neither meet
// nor miss anything.
func (m Measurement) TooShort() bool {
	return m.Result != nil && m.Measured > 0 && m.Measured < LeastForInterval && !m.Result.IOPS.HasInterval()
}

// IOPS is the rate of all directions together.
func (m Measurement) IOPS() units.IOPS {
	n, _ := m.Total.Rates()
	return n
}

// BW is the throughput of all directions together.
func (m Measurement) BW() units.Rate {
	_, bw := m.Total.Rates()
	return bw
}

// MeanLatency is that of completion, submission included where it was recorded, over all
// directions, in nanoseconds.
func (m Measurement) MeanLatency() float64 {
	sum, n := 0.0, 0.0
	for _, d := range m.Total.Directions() {
		mean := d.Lat.Mean
		if mean == 0 {
			mean = d.Clat.Mean
		}
		if mean > 0 {
			// Weighted by I/Os: directions may have run for different times.
			weight := float64(d.IOPS) * max(d.Runtime.Seconds(), 1e-9)
			sum += mean * weight
			n += weight
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// CPU is how many cores fio's jobs used, and how many jobs there were.
func (m Measurement) CPU() (used, jobs float64) {
	for _, j := range m.Jobs {
		n := float64(max(j.Count, 1))
		used, jobs = used+(j.CPU.User+j.CPU.System)*n, jobs+n
	}
	return used, jobs
}

// InFlight is how many I/Os the jobs may keep outstanding, 0 when not known. With a sync after
// every write a job has one.
func (m Measurement) InFlight() int {
	asked := 0
	for _, w := range m.Workloads {
		if w.DepthOpen {
			asked = 0
			break
		}
		if w.SyncEvery == 1 && !w.Reads() {
			asked += max(w.Jobs, 1)
		} else {
			asked += w.InFlight()
		}
	}
	if asked == 0 {
		asked = m.Depth.Asked
	}
	if asked == 0 { // an import without its job: fio's own rows say how many jobs of which depth they hold
		for _, j := range m.Jobs {
			if j.Target != nil {
				asked += max(j.Count, 1) * j.Target.Depth
			}
		}
	}
	return asked
}

// Syncs says whether any job syncs its writes: by its options, or by as many syncs as half of them.
func (m Measurement) Syncs() bool {
	t := m.Total
	return t.Write.N > 0 && t.Sync.Lat.N >= t.Write.N/2 && t.Sync.Lat.N > 0 ||
		m.Any(func(w fio.Workload) bool { return w.SyncEvery > 0 || w.SyncWrites })
}

// Any asks about what the jobs were set to do.
func (m Measurement) Any(f func(fio.Workload) bool) bool {
	return slices.ContainsFunc(m.Workloads, f)
}

// All says that every job does, and that there is one.
func (m Measurement) All(f func(fio.Workload) bool) bool {
	return len(m.Workloads) > 0 && !m.Any(func(w fio.Workload) bool { return !f(w) })
}

// Direct jobs pass the page cache by.
func Direct(w fio.Workload) bool { return w.Direct && !w.Buffered }

// Buffered jobs go through the page cache.
func Buffered(w fio.Workload) bool { return w.Buffered }

// Sequential jobs work through their region in order.
func Sequential(w fio.Workload) bool { return w.Sequential }

// Ran says whether anything was done in a direction. Of some imports only the bandwidth is known.
func Ran(d fio.Direction) bool { return d.N > 0 || d.IOPS > 0 || d.BW > 0 }

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
