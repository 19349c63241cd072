package fio

import (
	"cmp"
	"math"
	"slices"
	"time"

	"plimsoll/internal/units"
)

// Total adds the rows of an output up to one, exactly. Rows of one group, and of groups that ran at
// the same time (new_group), share a window: their operations and bytes add, and the rates are
// those over that window, as fio's own group reports have them. Phases ran one after the other
// (stonewall): their windows add. Means and deviations combine by their counts (Chan, Golub,
// LeVeque 1979), bins add, and percentiles come from the merged bins; where a row has none they
// stay empty, for percentiles cannot be averaged. Of a single row all is kept as it is.
func (o *Output) Total() Job { return mergeJobs(o.Jobs, o.Global) }

func mergeJobs(jobs []Job, global Options) Job {
	switch len(jobs) {
	case 0:
		return Job{}
	case 1:
		return jobs[0]
	}
	m := Job{Name: jobs[0].Name, Group: jobs[0].Group, Host: jobs[0].Host, Options: jobs[0].Options}
	for _, j := range jobs {
		m.Count += max(j.Count, 1)
		m.Elapsed = max(m.Elapsed, j.Elapsed)
		m.TotalRuntime += j.TotalRuntime
		m.Error = cmp.Or(m.Error, j.Error)
		if j.Host != m.Host {
			m.Host = ""
		}
		m.CPU.ContextSwitches += j.CPU.ContextSwitches
		m.CPU.MajorFaults += j.CPU.MajorFaults
		m.CPU.MinorFaults += j.CPU.MinorFaults
	}
	phases := phaseOf(jobs, global)
	for at, d := range m.Directions() {
		*d = mergeDirections(jobs, phases, func(j *Job) *Direction { return j.Directions()[at] })
		m.Runtime = max(m.Runtime, d.Runtime)
	}
	m.Window = max(m.Runtime, covered(jobs, phases, (*Job).Span))
	var syncs []Latency
	for _, j := range jobs {
		syncs, m.Sync.Kind = append(syncs, j.Sync.Lat), cmp.Or(m.Sync.Kind, j.Sync.Kind)
	}
	m.Sync.Lat = mergeLatencies(syncs)
	mergeCPU(&m, jobs)
	m.Depths = mergeShares(jobs, func(j *Job) []Share { return j.Depths })
	m.Submit = mergeShares(jobs, func(j *Job) []Share { return j.Submit })
	m.Complete = mergeShares(jobs, func(j *Job) []Share { return j.Complete })
	m.Buckets = mergeBuckets(jobs)
	return m
}

// covered is the time that rows cover: within a phase from the first start to the last end, and
// phases add.
func covered(jobs []Job, phases []int, run func(*Job) time.Duration) (sum time.Duration) {
	type window struct{ from, to time.Duration }
	all := map[int]window{}
	for i := range jobs {
		length := run(&jobs[i])
		if length <= 0 {
			continue
		}
		from, to := jobs[i].Delay, jobs[i].Delay+length
		if w, ok := all[phases[i]]; ok {
			from, to = min(from, w.from), max(to, w.to)
		}
		all[phases[i]] = window{from, to}
	}
	for _, w := range all {
		sum += w.to - w.from
	}
	return sum
}

// mergeCPU weighs by the time that each row's jobs ran, as fio's group_reporting does.
func mergeCPU(m *Job, jobs []Job) {
	var total float64
	for _, j := range jobs {
		w := cmp.Or(float64(j.TotalRuntime), float64(j.Runtime)*float64(max(j.Count, 1)))
		total += w
		m.CPU.User += w * j.CPU.User
		m.CPU.System += w * j.CPU.System
	}
	if total > 0 {
		m.CPU.User /= total
		m.CPU.System /= total
	}
}

func mergeDirections(jobs []Job, phases []int, of func(*Job) *Direction) Direction {
	var m Direction
	var ran []*Direction
	counted, unknown := true, false
	for i := range jobs {
		d := of(&jobs[i])
		m.Short += d.Short
		m.Dropped += d.Dropped
		m.ZoneResets += d.ZoneResets
		m.Unknown = m.Unknown || d.Unknown
		if d.N == 0 && d.Bytes == 0 && d.Runtime == 0 {
			continue
		}
		ran = append(ran, d)
		m.N += d.N
		m.Bytes += d.Bytes
		counted = counted && (d.N > 0 || d.Bytes == 0)
		unknown = unknown || d.N == 0 && d.Bytes > 0 && d.IOPS == 0
	}
	m.Runtime = covered(jobs, phases, func(j *Job) time.Duration { return of(j).Runtime })
	for _, d := range ran {
		share := d.share(m.Runtime)
		m.IOPS += d.IOPS * units.IOPS(share)
		m.BW += d.BW * units.Rate(share)
	}
	if sec := m.Runtime.Seconds(); sec > 0 && m.N > 0 && counted {
		m.IOPS, m.BW = units.IOPS(float64(m.N)/sec), units.Rate(float64(m.Bytes)/sec)
	}
	if unknown { // a sum of some is none of all
		m.N, m.IOPS = 0, 0
	}
	if len(ran) == 1 {
		m.BWSamples, m.IOPSSamples, m.Printed = ran[0].BWSamples, ran[0].IOPSSamples, ran[0].Printed
	}
	for at, l := range m.Latencies() {
		var each []Latency
		for _, d := range ran {
			each = append(each, *d.Latencies()[at])
		}
		*l = mergeLatencies(each)
	}
	return m
}

func mergeLatencies(list []Latency) Latency {
	list = slices.DeleteFunc(list, func(l Latency) bool { return !l.Measured() && l.Hist.Count() == 0 })
	switch len(list) {
	case 0:
		return Latency{}
	case 1:
		return list[0]
	}
	m := Latency{Min: list[0].Min, Hist: &Hist{}}
	var mean, m2 float64
	binned := true
	points := []float64{}
	for _, l := range list {
		m.Min, m.Max = min(m.Min, l.Min), max(m.Max, l.Max)
		if l.N > 0 {
			n, add := float64(m.N), float64(l.N)
			delta := l.Mean - mean
			mean += delta * add / (n + add)
			m2 += l.StdDev*l.StdDev*max(add-1, 0) + delta*delta*n*add/(n+add)
			m.N += l.N
		}
		if l.Hist.Count() == 0 {
			binned = false
			continue
		}
		m.Hist.Merge(l.Hist)
		for _, p := range l.Percentiles {
			points = append(points, p.P)
		}
	}
	m.Mean = mean
	if m.N > 1 {
		m.StdDev = math.Sqrt(m2 / float64(m.N-1))
	}
	if !binned {
		m.Hist = nil
		return m
	}
	slices.Sort(points)
	for _, p := range slices.Compact(points) {
		m.Percentiles = append(m.Percentiles, Percentile{P: p, Value: m.Capped(m.Hist.Percentile(p))})
	}
	return m
}

func mergeShares(jobs []Job, of func(*Job) []Share) (m []Share) {
	var total float64
	for i := range jobs {
		list, w := of(&jobs[i]), float64(jobs[i].IOs())
		if len(list) == 0 || w == 0 {
			continue
		}
		total += w
		for _, s := range list {
			at := slices.IndexFunc(m, func(have Share) bool { return have.Label == s.Label })
			if at < 0 {
				at = len(m)
				m = append(m, Share{Label: s.Label})
			}
			m[at].Value += w * s.Value
		}
	}
	for i := range m {
		m[i].Value /= total
	}
	return m
}

func mergeBuckets(jobs []Job) (m []Bucket) {
	sums := map[time.Duration]float64{}
	var total float64
	for i := range jobs {
		w := float64(jobs[i].IOs())
		if len(jobs[i].Buckets) == 0 || w == 0 {
			continue
		}
		total += w
		for _, b := range jobs[i].Buckets {
			sums[b.Upto] += w * b.Value
		}
	}
	for upto, sum := range sums {
		m = append(m, Bucket{Upto: upto, Value: sum / total})
	}
	// An Upto of 0 stands for no end.
	slices.SortFunc(m, func(a, b Bucket) int { return cmp.Compare(uint64(a.Upto)-1, uint64(b.Upto)-1) })
	return m
}
