package result

import (
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// Window makes the figures those of the seconds that ended after from: what lies before was warm-up
// that only the series showed. Totals, distributions and the measured time are worked out from the
// seconds; what seconds do not carry, such as submission latencies, stays that of the whole run.
func (r *Result) Window(from time.Duration) {
	var length time.Duration
	var read, write, trim Interval
	sync := &fio.Hist{}
	merge := func(into *Interval, i Interval) {
		into.N += i.N
		into.Bytes += i.Bytes
		if i.Hist != nil {
			if into.Hist == nil {
				into.Hist = &fio.Hist{}
			}
			into.Hist.Merge(i.Hist)
		}
	}
	for i := range r.Seconds {
		s := &r.Seconds[i]
		if s.Ramp || s.At <= from {
			s.Ramp = true
			continue
		}
		length += s.Len
		merge(&read, s.Read)
		merge(&write, s.Write)
		merge(&trim, s.Trim)
		if s.Sync != nil {
			sync.Merge(s.Sync)
		}
	}
	if length <= 0 {
		return
	}
	r.Measured = length
	read.into(&r.Total.Read, length)
	write.into(&r.Total.Write, length)
	trim.into(&r.Total.Trim, length)
	if sync.Count() > 0 {
		r.Total.Sync.Lat = latencyOf(sync)
	}
}

// into replaces a direction's counts, rates and completion latency.
func (i Interval) into(d *fio.Direction, length time.Duration) {
	d.N, d.Bytes, d.Runtime = i.N, i.Bytes, length
	d.IOPS = units.IOPS(float64(i.N) / length.Seconds())
	d.BW = units.Rate(float64(i.Bytes) / length.Seconds())
	if i.Hist.Count() > 0 {
		d.Clat = latencyOf(i.Hist)
	}
}

func latencyOf(h *fio.Hist) fio.Latency {
	mean, sd := h.Mean()
	return fio.Latency{N: h.Count(), Mean: mean, StdDev: sd, Min: h.Percentile(0), Max: h.Percentile(100), Hist: h}
}
