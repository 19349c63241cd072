package result

import (
	"fmt"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Window makes the figures those of the seconds that ended after from: what lies before was warm-up
// that only the series showed. watched is what the sampler saw and start when fio was started, as
// for Builder; what nothing tells of these seconds, as devices and host without a sampler, is left
// out. Only shares stay those of the whole run: of CPU time and of fio's depth histogram.
func (r *Result) Window(from time.Duration, watched *telemetry.Series, start time.Time) {
	var sum Second
	for i := range r.Seconds {
		s := &r.Seconds[i]
		if s.Ramp || s.At <= from {
			s.Ramp = true
		} else {
			sum = sum.then(*s)
		}
	}
	length, taken := sum.Len, sum.means
	if length <= 0 {
		return
	}
	t := &r.Total
	r.Measured, t.Runtime, t.Window, t.Delay = length, length, 0, 0
	for d, i := range sum.sides() {
		i.into(t.Directions()[d], length, [3]moment(taken[3*d:]))
	}
	if sum.Sync.Count() > 0 {
		t.Sync.Lat = latencyOf(sum.Sync)
	} else if t.Sync.Lat.Measured() { // what fio did not time is out already
		t.Sync.Lat = taken[ofSyncs].latency()
	}
	t.Buckets, r.Parts = nil, nil
	if len(r.Disks) > 0 {
		r.DisksPartial = fmt.Sprintf("they cover the whole run, and the figures its last %s", text.Duration(length))
	}
	r.rewatch(watched, start)
	r.Depth = r.depths()
	r.Depth.Little = t.InFlight()
	r.Depth.Note = r.whyDepth(r.Depth)
	r.IOPS, r.BW = r.estimates()
}

// rewatch is watch for another window of a run that was watched.
func (r *Result) rewatch(watched *telemetry.Series, start time.Time) {
	r.Devices, r.Host = nil, nil
	if watched != nil {
		r.used(watched, start)
	}
	if r.Devices == nil {
		for i := range r.Seconds {
			r.Seconds[i].Util, r.Seconds[i].Queue = nil, nil // of which devices is not known
		}
	}
}

// into replaces a direction's counts, rates and latencies.
func (i Interval) into(d *fio.Direction, length time.Duration, taken [3]moment) {
	d.N, d.Bytes, d.Runtime = i.N, i.Bytes, length
	d.IOPS = units.IOPS(float64(i.N) / length.Seconds())
	d.BW = units.Rate(float64(i.Bytes) / length.Seconds())
	d.IOPSSamples, d.BWSamples = fio.Samples{}, fio.Samples{}
	bins := binned(d)
	for k, l := range d.Latencies() {
		if l.Measured() { // what cannot be is out already
			*l = taken[k].latency()
		}
	}
	if i.Hist.Count() > 0 {
		*bins = latencyOf(i.Hist)
	}
}

func latencyOf(h *fio.Hist) fio.Latency {
	mean, sd := h.Mean()
	return fio.Latency{N: h.Count(), Mean: mean, StdDev: sd, Min: h.Percentile(0), Max: h.Percentile(100), Hist: h}
}
