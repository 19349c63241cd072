package output

import (
	"cmp"
	"fmt"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/units"
)

// Latencies in logs are microseconds in fio 2 and nanoseconds from 2.99 on, and no log says which.
// A log of five columns is of 3.19 or later. Of the others other evidence decides: the version in an
// output beside the logs; else Little's law, since a job that is kept busy has at least about one
// I/O in flight, and no job has hundreds of times what it asks for.

// logNanoseconds is the first fio whose logs are in nanoseconds.
var logNanoseconds = fio.Version{Major: 2, Minor: 99}

const (
	// busyJob is the least mean number of I/Os in flight of a job that does not hold itself back.
	busyJob = 0.5
	// leastLatency is below what any I/O that a program asks the kernel for takes: two system calls
	// and a copy of 512 bytes.
	leastLatency = 400 * time.Nanosecond
)

// settleUnit decides the unit of a row's latencies, and says in a doubt by what. version is that of
// an output beside the logs, "" for none.
func settleUnit(out *fio.Output, row int, version string) {
	j := &out.Jobs[row]
	mean := logMean(j)
	if mean == 0 {
		return
	}
	ns, us := units.Latency(mean), units.Latency(mean*1e3)
	say := func(format string, args ...any) {
		out.Doubt("%s: %s", j.Name, fmt.Sprintf(format, args...))
	}
	if v, err := fio.ParseVersion(version); err == nil {
		if v.Before(logNanoseconds) {
			inMicroseconds(j)
			say("latencies are in microseconds, as %s beside these logs wrote them", v)
		}
		return
	}
	flight := j.InFlight()
	switch {
	case flight >= busyJob:
		say("latencies are taken as nanoseconds (%s on average): IOPS × latency are %s in flight then, "+
			"and a thousand times that in microseconds", ns, units.Number(flight))
	case flight > 0 && flight*1e3 >= busyJob:
		inMicroseconds(j)
		say("latencies are taken as microseconds (%s on average), as fio 2 logs them: IOPS × latency are %s in "+
			"flight then; as nanoseconds (%s) the job would have been idle most of the time", us,
			units.Number(flight*1e3), ns)
	case mean < float64(leastLatency):
		inMicroseconds(j)
		say("latencies are taken as microseconds (%s on average), as fio 2 logs them: no I/O takes %s", us, ns)
	default:
		say("the logs do not say whether latencies are nanoseconds (%s on average) or, as of fio 2, microseconds "+
			"(%s); they are taken as nanoseconds: import fio's output with them", ns, us)
	}
}

// logMean is the mean latency of the direction of a row that has one.
func logMean(j *fio.Job) float64 {
	for _, d := range j.Directions() {
		if mean := cmp.Or(d.Lat.Mean, d.Clat.Mean, d.Slat.Mean); mean > 0 {
			return mean
		}
	}
	return 0
}

// inMicroseconds makes microseconds of what was read as nanoseconds.
func inMicroseconds(j *fio.Job) {
	for _, d := range j.Directions() {
		for _, l := range d.Latencies() {
			l.Min, l.Max, l.Mean, l.StdDev = l.Min*1e3, l.Max*1e3, l.Mean*1e3, l.StdDev*1e3
			if hist := l.Hist; hist != nil {
				l.Hist = &fio.Hist{}
				hist.Each(func(bin int, n uint64) { l.Hist.Add(bins.Value(bin)*time.Microsecond, n) })
				percentilesOf(l)
			}
		}
	}
}

// fioPercentiles are those that fio reports by default.
var fioPercentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

// percentilesOf works them out from the bins.
func percentilesOf(l *fio.Latency) {
	l.Percentiles = nil
	for _, p := range fioPercentiles {
		l.Percentiles = append(l.Percentiles, fio.Percentile{P: p, Value: l.Capped(l.Hist.Percentile(p))})
	}
}
