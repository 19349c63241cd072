// Package fleet makes one run of what several hosts measured: bundles that other means collected,
// or plimsoll started on each host through an engine that gives standard input and output there
// (ssh, srun, kubectl exec). It opens no port and leaves nothing behind.
//
// A host that is driven speaks frames over that one connection: it plans, waits before each scenario until all
// are ready, measures, and sends its bundle. The coordinator measures each host's clock against its own, and
// goes on without hosts that are lost, where it may.
//
// To merge is arithmetic on seconds. Each host's are put on the coordinator's clock; the figures are those of
// the time in which all hosts measured. A second that is cut counts by its part, latencies count whole seconds,
// and histograms are added, so that a percentile is that of all I/Os and no mean of percentiles. Less than 80 %
// of the planned time in common is invalid.
package fleet

import (
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// leastCommon is the part of the planned time that all hosts must have measured together for the
// figures to count; leastSeconds is how many seconds of it an interval needs, as in a run of one
// host.
const (
	leastCommon  = 0.8
	leastSeconds = 5
)

// measured is one scenario on one host, on the coordinator's clock.
type measured struct {
	host    string
	start   time.Duration // of fio, since an instant that all hosts share
	result  *result.Result
	ceiling *ceiling.Ceiling // as known before measuring; nil where it is not
}

// window is when the host measured, its ramp not included; ok is false where it has no seconds.
func (m *measured) window() (from, to time.Duration, ok bool) {
	for _, s := range m.result.Seconds {
		if s.Ramp || s.Len <= 0 {
			continue
		}
		if !ok {
			from, ok = m.start+s.At-s.Len, true
		}
		to = m.start + s.At
	}
	return from, to, ok
}

// sums are what a host did in a span of time.
type sums struct {
	n, bytes   float64
	hist, sync fio.Hist // of the seconds that lie wholly inside
}

// within adds up the seconds of a host from one instant to another. A second that is cut counts by
// the part of it inside; latencies are those of whole seconds, since a bin cannot be cut.
func (m *measured) within(from, to time.Duration) *sums {
	all := &sums{}
	for _, s := range m.result.Seconds {
		end := m.start + s.At
		begin := end - s.Len
		inside := min(end, to) - max(begin, from)
		if s.Ramp || s.Len <= 0 || inside <= 0 {
			continue
		}
		share := float64(inside) / float64(s.Len)
		all.n += share * float64(s.Read.N+s.Write.N+s.Trim.N)
		all.bytes += share * float64(s.Read.Bytes+s.Write.Bytes+s.Trim.Bytes)
		if begin >= from && end <= to {
			for _, h := range []*fio.Hist{s.Read.Hist, s.Write.Hist, s.Trim.Hist} {
				all.hist.Merge(h)
			}
			all.sync.Merge(s.Sync)
		}
	}
	return all
}

// spread adds what a host did to the counts of whole seconds since an instant.
func (m *measured) spread(counts []float64, from time.Duration) {
	for _, s := range m.result.Seconds {
		end := m.start + s.At - from
		begin := end - s.Len
		if s.Ramp || s.Len <= 0 || end <= 0 {
			continue
		}
		n := float64(s.Read.N + s.Write.N + s.Trim.N)
		for k := int(max(begin, 0) / time.Second); k < len(counts) && time.Duration(k)*time.Second < end; k++ {
			inside := min(end, time.Duration(k+1)*time.Second) - max(begin, time.Duration(k)*time.Second)
			counts[k] += n * float64(inside) / float64(s.Len)
		}
	}
}

// unmerged is a scenario without figures.
func unmerged(all []measured) bundle.FleetScenario {
	first := all[0].result
	return bundle.FleetScenario{
		ID: first.ID, Name: first.Name, Title: first.Title, Total: bundle.FleetTotal{Hist: &fio.Hist{}},
	}
}

// merge makes one scenario of what the hosts measured of it: figures over the time in which all of
// them measured.
func merge(all []measured, at time.Time) bundle.FleetScenario {
	f := unmerged(all)
	var epoch, from, to, planned time.Duration
	began := false
	for i := range all {
		m := &all[i]
		if m.result.State != result.Done {
			f.Invalid = append(f.Invalid, text.Sentence(m.host+": "+whyNot(m.result)))
		}
		a, b, ok := m.window()
		if !ok {
			f.Invalid = append(f.Invalid, m.host+" has no seconds to merge: its output was imported, or it measured nothing.")
			continue
		}
		if !began {
			epoch, from, to, began = a, a, b, true
		}
		epoch, from, to = min(epoch, a), max(from, a), min(to, b)
		planned = max(planned, b-a)
		if m.result.Stopped == nil {
			planned = max(planned, longest(m.result))
		}
		f.Windows = append(f.Windows, bundle.FleetWindow{Host: m.host, From: a, To: b})
	}
	f.At = at.Add(epoch)
	for i := range f.Windows {
		f.Windows[i].From -= epoch
		f.Windows[i].To -= epoch
	}
	f.Common = bundle.FleetSpan{From: from - epoch, To: max(to, from) - epoch}
	length := f.Common.Length()
	if planned > 0 {
		f.Common.Share = min(float64(length)/float64(planned), 1)
	}
	if f.Common.Share < leastCommon {
		f.Invalid = append(f.Invalid,
			fmt.Sprintf("All hosts measured together for only %s of %s.", text.Duration(length), text.Duration(planned)))
	}
	if length <= 0 {
		return f
	}
	figures(&f, all, from, to)
	return f
}

// apart makes one scenario of hosts that measured one after the other: each has its own window, and
// there is no total.
func apart(all []measured, at time.Time) bundle.FleetScenario {
	f := unmerged(all)
	f.At = at
	for i := range all {
		one := merge(all[i:i+1], at)
		f.Invalid = append(f.Invalid, one.Invalid...)
		f.Hosts = append(f.Hosts, one.Hosts...)
		from, to, _ := all[i].window()
		f.Windows = append(f.Windows, bundle.FleetWindow{Host: all[i].host, From: from, To: to})
	}
	f.Common.Share = 1 // of each host's own time
	return f
}

// longest is the time that a host was to measure.
func longest(r *result.Result) (run time.Duration) {
	for _, w := range r.Workloads {
		run = max(run, w.Runtime)
	}
	return run
}

func whyNot(r *result.Result) string {
	if len(r.Reasons) > 0 {
		return text.Clean(r.Reasons[0], 300)
	}
	return string(r.State)
}

// figures fills in what the hosts did from one instant to another, each and together.
func figures(f *bundle.FleetScenario, all []measured, from, to time.Duration) {
	length := (to - from).Seconds()
	together := &fio.Hist{}
	var n, bytes float64
	for i := range all {
		m := &all[i]
		did := m.within(from, to)
		n, bytes = n+did.n, bytes+did.bytes
		f.Total.Hist.Merge(&did.hist)
		together.Merge(&did.sync)
		row := bundle.FleetFigure{
			Host:     m.host,
			IOPS:     units.IOPS(did.n / length),
			BW:       units.Rate(did.bytes / length),
			Interval: estimate(all[i:i+1], from, to, did.n/length),
			P50:      did.hist.Percentile(50),
			P99:      did.hist.Percentile(99),
		}
		bounds(&row, m.ceiling)
		f.Hosts = append(f.Hosts, row)
	}
	f.Total.IOPS, f.Total.BW = units.IOPS(n/length), units.Rate(bytes/length)
	f.Total.Interval = estimate(all, from, to, n/length)
	if together.Count() > 0 {
		f.Total.Sync = together
	}
}

// estimate is the interval of what hosts did together, from their sums second by second: batch
// means around the exact figure.
func estimate(all []measured, from, to time.Duration, center float64) stats.Estimate {
	rates := make([]float64, int((to-from)/time.Second))
	for i := range all {
		all[i].spread(rates, from)
	}
	if len(rates) < leastSeconds {
		return stats.Estimate{
			Center: center,
			Lo:     center,
			Hi:     center,
			None:   text.Duration(to-from) + " only",
		}
	}
	e := stats.BatchMeans(rates)
	shift := center - e.Center
	e.Center, e.Lo, e.Hi = center, max(e.Lo+shift, 0), e.Hi+shift
	return e
}

// bounds fills in a host's own ceiling. A latency that was measured by the run itself bounds
// nothing: a slow host would always reach it.
func bounds(row *bundle.FleetFigure, c *ceiling.Ceiling) {
	if c == nil {
		return
	}
	least := func(pass func(ceiling.Bound) bool) *ceiling.Bound {
		own := *c
		own.Bounds = slices.DeleteFunc(slices.Clone(c.Bounds), func(b ceiling.Bound) bool {
			return b.SelfMeasured() || !pass(b)
		})
		return own.Binding()
	}
	if b := least(func(ceiling.Bound) bool { return true }); b != nil {
		row.Ceiling, row.Limit = b.IOPS, b.Label()
	}
	if b := least(func(b ceiling.Bound) bool { return !b.Burst }); b != nil {
		row.Sustained, row.SustainedBy = b.IOPS, b.Label()
	}
}
