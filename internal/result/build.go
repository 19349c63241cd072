package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Builder makes a Result from fio's documents as they arrive. Counters and latency bins in them are
// cumulative per row; the difference of two documents is an interval with its full latency
// histogram.
type Builder struct {
	// Start is when fio was started.
	Start time.Time
	// Loads are what the jobs ask for, as Result.Workloads.
	Loads []fio.Workload

	last    *fio.Output
	rows    []row
	seconds []Second
}

// row is the state of one row of results between documents.
type row struct {
	prev    fio.Job
	inRamp  bool // a ramp was asked for and has not ended
	started bool
	streams [3]stream // reads, writes, trims
}

// shortest is the least interval that stands as a Second of its own. fio prints its last document
// twice, and the one before it milliseconds earlier; a rate over so little time says nothing.
const shortest = 200 * time.Millisecond

// Add takes the next document and returns the interval since the one before, if time has passed.
func (b *Builder) Add(o *fio.Output) (Second, bool) {
	prevTime := b.Start
	if b.last != nil {
		prevTime = b.last.Time
	}
	since := o.Time.Sub(prevTime)
	var s Second
	jobs := slices.Clone(o.Jobs) // a document is read by others, too
	fio.Align(jobs, o.Global, b.Loads)
	for i, job := range jobs {
		if i == len(b.rows) {
			ramp, _ := fio.ParseTime(job.Options["ramp_time"], time.Second)
			b.rows = append(b.rows, row{inRamp: ramp > 0})
		}
		did, excess := b.rows[i].advance(job, since)
		if !did.Ramp {
			for d, interval := range did.sides() {
				b.rows[i].streams[d].put(since, *interval)
			}
		}
		s = s.plus(did)
		if n := len(b.seconds); n > 0 && !excess.empty() {
			b.seconds[n-1] = b.seconds[n-1].minus(excess)
		}
	}
	s.At = o.Time.Sub(b.Start)
	b.last = o
	if s.empty() {
		return s, false
	}
	if n := len(b.seconds); n > 0 && s.Len < shortest && b.seconds[n-1].Ramp == s.Ramp {
		at := s.At
		s = b.seconds[n-1].then(s)
		s.At = at
		b.seconds[n-1] = s
		return s, true
	}
	b.seconds = append(b.seconds, s)
	return s, true
}

// empty says that nothing at all was counted. fio does not stop its jobs to print, so bytes,
// operations and latencies of one I/O may come in different documents.
func (s Second) empty() bool {
	for _, i := range s.sides() {
		if i.N > 0 || i.Bytes > 0 || i.Hist.Count() > 0 {
			return false
		}
	}
	return s.Len == 0 && s.Sync.Count() == 0
}

// advance returns what a row did since its last document, and what that document had counted too
// much: the jobs of a group end their ramps one after the other, so a document in between holds the
// ramp of some and the measurement of others.
func (r *row) advance(cur fio.Job, since time.Duration) (did, excess Second) {
	prev := r.prev
	r.prev = cur
	// The counters fall to zero once, at the end of the ramp. That they fell shows in a counter
	// that is smaller than before, or, when a fast job has caught up by the next document, in a
	// runtime that grew by much less than the time between.
	fell := cur.Runtime < prev.Runtime
	for d, now := range cur.Directions() {
		fell = fell || now.N < prev.Directions()[d].N
	}
	lagged := r.started && r.inRamp && cur.Runtime-prev.Runtime < since*3/4
	// fio 3.16 printed I/Os of the ramp without a runtime: those before the first runtime are not
	// of the measurement.
	untimed := prev.Runtime == 0 && cur.Runtime > 0 && prev.IOs() > 0
	if r.inRamp && (fell || lagged || untimed) {
		prev, r.inRamp = fio.Job{}, false
		if cur.Runtime == 0 {
			// It begins again in this moment, and fio read the counts after the bytes and the
			// runtime: all that the next document holds is of the next second.
			r.prev = fio.Job{}
			return Second{}, Second{}
		}
	}
	if cur.Runtime > 0 {
		r.started = true
	}
	did = between(prev, cur)
	did.Len, did.Ramp = max(cur.Runtime-prev.Runtime, 0), r.inRamp && (cur.Runtime > 0 || cur.IOs() > 0)
	if did.Ramp && cur.Runtime == 0 {
		did.Len = since // no runtime is printed of this ramp
	}
	return did, between(cur, prev)
}

// between is how much of each counter b has more than a.
func between(a, b fio.Job) Second {
	s := Second{means: meansOf(b).minus(meansOf(a))}
	for d, side := range s.sides() {
		prev, cur := a.Directions()[d], b.Directions()[d]
		side.N, side.Bytes = cur.N-min(prev.N, cur.N), cur.Bytes-min(prev.Bytes, cur.Bytes)
		if h := binned(cur).Hist; h.Count() > 0 {
			side.Hist = h.Minus(binned(prev).Hist)
		}
	}
	if h := b.Sync.Lat.Hist; h.Count() > 0 {
		s.Sync = h.Minus(a.Sync.Lat.Hist)
	}
	return s
}

// binned is the distribution that carries bins, which Interval.Hist is of: clat, or lat under
// lat_percentiles=1.
func binned(d *fio.Direction) *fio.Latency {
	if d.Clat.Hist == nil && d.Lat.Hist != nil {
		return &d.Lat
	}
	return &d.Clat
}

// plus joins what two rows did at the same time.
func (s Second) plus(o Second) Second {
	j := s.then(o)
	j.Len = max(s.Len, o.Len)
	return j
}

// then joins an interval with the one after it.
func (s Second) then(o Second) Second {
	s.At, s.Len, s.Ramp = o.At, s.Len+o.Len, s.Ramp || o.Ramp
	s.Sync, s.means = joinHist(s.Sync, o.Sync), s.means.plus(o.means)
	for d, side := range s.sides() {
		more := o.sides()[d]
		side.N, side.Bytes, side.Hist = side.N+more.N, side.Bytes+more.Bytes, joinHist(side.Hist, more.Hist)
	}
	return s
}

// minus takes back what was counted too much.
func (s Second) minus(o Second) Second {
	s.Sync, s.means = lessHist(s.Sync, o.Sync), s.means.minus(o.means)
	for d, side := range s.sides() {
		less := o.sides()[d]
		side.N, side.Bytes = side.N-min(side.N, less.N), side.Bytes-min(side.Bytes, less.Bytes)
		side.Hist = lessHist(side.Hist, less.Hist)
	}
	return s
}

func lessHist(a, b *fio.Hist) *fio.Hist {
	if a.Count() == 0 || b.Count() == 0 {
		return a
	}
	return a.Minus(b)
}

func joinHist(a, b *fio.Hist) *fio.Hist {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := a.Clone()
	sum.Merge(b)
	return sum
}

// Finish fills r from the documents and from what the sampler saw (nil without one). r.Workloads
// must be set.
func (b *Builder) Finish(r *Result, watched *telemetry.Series) {
	r.Seconds = b.seconds
	if b.last == nil {
		return
	}
	FromOutput(r, b.last)
	if watched != nil {
		r.watch(watched, b.Start)
	}
	r.Depth = r.depths()
	r.IOPS, r.BW = b.estimates(r)
}

// FromOutput fills r from fio's final figures alone, as for an import. r.Workloads must be set
// where they are known.
func FromOutput(r *Result, o *fio.Output) {
	r.Fio, r.Program = o.Version, o.Program
	r.Jobs = slices.Clone(o.Jobs) // a document is read by others, too
	r.Disks = o.Disks
	r.Unread = o.Unread
	r.Lack(o.Missing)
	r.Doubts = append(r.Doubts, o.Doubts...)
	if o.Program == "" || len(r.Workloads) > 0 { // fio's default block size is not that of other programs
		if counted := fio.CountIOs(r.Jobs, o.Global, r.Workloads); len(counted) > 0 {
			r.Doubt("the output does not count %s: IOPS are its bytes divided by the block size",
				strings.Join(counted, " and "))
		}
	}
	r.implausible()
	r.mistimed()
	fio.Time(r.Jobs, o.Global, r.Workloads)
	timed := *o
	timed.Jobs = r.Jobs
	r.Total = timed.Total()
	r.Parts = parts(&timed)
	r.distrustSyncs()
	r.Measured = r.Total.Span()
	r.DisksPartial, r.DisksShared = disksPartial(r), o.Phase > 0
	r.Paced = o.Paced
	r.Incomplete = append(r.Incomplete, missingHosts(o)...)
	r.Depth = r.depths()
	sum := r.Sum()
	r.IOPS, r.BW = exactly(float64(sum.IOPS), oneValue), exactly(float64(sum.BW), oneValue)
	if sum.Apart && len(r.Jobs) > 0 {
		r.Doubt("not all of it ran at the same time (%s): sums are over %s, the rates of each direction over its own "+
			"time", runtimes(r.Total), text.Duration(sum.Window))
	}
}

// mistimed names the rows whose completion latencies cannot be true.
func (r *Result) mistimed() {
	for _, j := range r.Jobs {
		for _, d := range j.Directions() {
			if d.Mistimed() {
				r.Doubt("%s: the mean clat of %s is above the mean lat of %s, of which it is a part: clat, its percentiles "+
					"and the latency buckets are wrong", j.Name, units.Latency(d.Clat.Mean), units.Latency(d.Lat.Mean))
			}
		}
	}
}

// diskLag is the least time that fio's disk statistics must cover to be compared with its own
// counts: fio reads them a few times a second, and what came after the last time is missing (a run
// of 254 ms with 4,096 reads: 2,614; one of 104 ms with 8,192: none).
const diskLag = time.Second

func disksPartial(r *Result) string {
	if len(r.Disks) > 0 && r.Measured < diskLag {
		return fmt.Sprintf("fio reads disk statistics a few times a second, and the run took %s", text.Duration(r.Measured))
	}
	return ""
}

// missingHosts compares the hosts that fio --client was connected to with those it has figures of.
func missingHosts(o *fio.Output) []string {
	var hosts []string
	for _, j := range o.Jobs {
		hosts = text.Once(hosts, j.Host)
	}
	switch named := strings.Join(hosts, ", "); {
	case len(hosts) > 0 && len(o.Servers) > len(hosts): // a host may be known by another name than it gives itself
		return []string{fmt.Sprintf("fio was connected to %d hosts (%s) and has results from %d (%s).",
			len(o.Servers), strings.Join(o.Servers, ", "), len(hosts), named)}
	case len(hosts) > 1 && o.AllClients == nil && o.Format != fio.Logs:
		return []string{"fio printed no total of all clients: a host may be missing besides " + named + "."}
	}
	return nil
}

// runtimes says how long each direction ran.
func runtimes(j fio.Job) string {
	var parts []string
	for i, d := range j.Directions() {
		if d.Runtime > 0 {
			parts = append(parts, fio.DirectionNames[i]+"s "+text.Duration(d.Runtime))
		}
	}
	return strings.Join(parts, ", ")
}

// parts are the hosts or the reporting groups of an output that has several.
func parts(o *fio.Output) (list []Part) {
	type key struct {
		host  string
		group int
	}
	hosts := map[string]bool{}
	for _, j := range o.Jobs {
		hosts[j.Host] = true
	}
	var order []key
	rows := map[key][]fio.Job{}
	for _, j := range o.Jobs {
		k := key{"", j.Group}
		if len(hosts) > 1 {
			k = key{j.Host, 0}
		}
		if rows[k] == nil {
			order = append(order, k)
		}
		rows[k] = append(rows[k], j)
	}
	if len(order) < 2 {
		return nil
	}
	for _, k := range order {
		p := *o
		p.Jobs = rows[k]
		part := Part{Name: cmp.Or(k.host, rows[k][0].Name), Host: k.host, Group: k.group, Total: p.Total()}
		for _, j := range p.Jobs {
			part.Jobs += max(j.Count, 1)
		}
		list = append(list, part)
	}
	return list
}

// watch adds what the sampler saw: per device and for the host over the measured window, and second
// by second.
func (r *Result) watch(t *telemetry.Series, start time.Time) {
	r.used(t, start)
	offset := start.Sub(t.Start)
	for i := range r.Seconds {
		s := &r.Seconds[i]
		for _, d := range t.Use(offset+s.At-s.Len, offset+s.At) {
			s.Util = append(s.Util, d.Util)
			s.Queue = append(s.Queue, d.Queue)
		}
		if near := t.Near(offset + s.At); near != nil {
			s.Dirty, s.Writeback = near.Dirty, near.Writeback
		}
	}
}

// used is watch for the measured window alone.
func (r *Result) used(t *telemetry.Series, start time.Time) {
	offset := start.Sub(t.Start)
	from, to := r.window()
	r.Devices = t.Use(offset+from, offset+to)
	r.Host = t.Host(offset+from, offset+to)
}

// window is the part of the run that was measured, since fio's start.
func (r *Result) window() (from, to time.Duration) {
	for _, s := range r.Seconds {
		if s.Ramp {
			continue
		}
		if to == 0 {
			from = max(s.At-s.Len, 0)
		}
		to = s.At
	}
	return from, to
}

// depths works out the queue depth three ways.
func (r *Result) depths() Depth {
	var d Depth
	for _, w := range r.Workloads {
		d.Asked += w.InFlight()
	}
	if slices.ContainsFunc(r.Workloads, func(w fio.Workload) bool { return w.DepthOpen }) {
		d.Asked = 0
	}
	window, counts := r.Total.Span(), r.rowCounts()
	for i, j := range r.Jobs {
		share := 1.0
		if span := j.Span(); span > 0 && span < window {
			share = float64(span) / float64(window)
		}
		d.Little += j.InFlight() * share
		d.Fio += meanDepth(j.Depths) * float64(counts.jobsIn(&r.Jobs[i])) * share
	}
	if len(r.Devices) > 0 {
		d.Device = r.Devices[0].Queue
	}
	d.Note = r.whyDepth(d)
	return d
}

// rowOf tells which rows are of one job.
type rowOf struct{ name, host string }

// rowCounts are the rows that fio printed of each job, and numjobs of the first workload of each
// name.
type rowCounts struct {
	rows    map[rowOf]int
	numjobs map[string]int
}

func (r *Result) rowCounts() rowCounts {
	c := rowCounts{map[rowOf]int{}, map[string]int{}}
	for i := range r.Jobs {
		c.rows[rowOf{r.Jobs[i].Name, r.Jobs[i].Host}]++
	}
	for _, w := range r.Workloads {
		if _, seen := c.numjobs[w.Name]; !seen {
			c.numjobs[w.Name] = w.Jobs
		}
	}
	return c
}

// jobsIn is how many jobs a row stands for: what the row itself says, else numjobs, unless fio
// printed a row for each of them.
func (c rowCounts) jobsIn(j *fio.Job) int {
	switch {
	case j.Count > 0:
		return j.Count
	case c.rows[rowOf{j.Name, j.Host}] > 1:
		return 1
	}
	return max(c.numjobs[j.Name], 1)
}

// meanDepth is the mean of fio's depth histogram of one job, taken at the lower edges of its
// buckets (1, 2, 4, … 64).
func meanDepth(shares []fio.Share) float64 {
	var sum, all float64
	for _, s := range shares {
		edge, err := strconv.ParseFloat(strings.TrimPrefix(s.Label, ">="), 64)
		if err != nil {
			continue
		}
		sum += edge * s.Value
		all += s.Value
	}
	if all == 0 || math.IsNaN(sum) {
		return 0
	}
	return sum / all
}

// Bytes written and read together.
func (r *Result) Bytes() units.Bytes { return r.Total.Read.Bytes + r.Total.Write.Bytes }
