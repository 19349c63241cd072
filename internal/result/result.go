// Package result turns what fio and the sampler recorded of one scenario into its Result:
// distributions per direction, per-second series with full histograms, the queue depth seen three
// ways, and the doubt each figure carries. It measures nothing and judges nothing.
package result

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/host"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// State says how far a scenario came.
type State string

// The states of a scenario.
const (
	Waiting     State = "waiting"
	Done        State = "done"
	Invalid     State = "invalid"     // it ran, or would not run, and its figures must not be trusted
	Interrupted State = "interrupted" // stopped by the user; not a measurement
)

// Result is one scenario's measured distribution.
type Result struct {
	ID    int           `json:"id"`
	Name  string        `json:"name"`
	Title string        `json:"title,omitempty"`
	Role  topology.Role `json:"role,omitempty"`
	Phase string        `json:"phase,omitempty"`
	Dir   string        `json:"dir"` // below the bundle

	State State `json:"state"`
	// Reasons says, a sentence each, why a result is invalid.
	Reasons []string `json:"reasons,omitempty"`

	Start    time.Time         `json:"start,omitzero"`
	Wall     time.Duration     `json:"wall"`     // from fio's start to its end
	Measured time.Duration     `json:"measured"` // the window the figures cover, ramp excluded
	Planned  time.Duration     `json:"planned,omitempty"`
	Command  []string          `json:"command,omitempty"`
	Fio      string            `json:"fio,omitempty"`     // version
	Program  string            `json:"program,omitempty"` // that measured, where it was not fio
	Source   string            `json:"source,omitempty"`  // file an import came from
	Labels   map[string]string `json:"labels,omitempty"`
	// Expects are the thresholds that an imported table states beside its figures.
	Expects []suite.Threshold `json:"-"`
	// Verdict is what the bundle judged of it last; it is judged again wherever it is read.
	Verdict string `json:"-"`

	// Jobs are fio's rows as reported; Total merges them (histograms added, never percentiles
	// averaged). Its rates are those over Total.Window; each direction has its own runtime (Sum).
	Jobs  []fio.Job `json:"jobs"`
	Total fio.Job   `json:"total"`
	// Parts are the reporting groups of a result that holds several, or the hosts of fio --client,
	// which Total adds up; empty otherwise.
	Parts []Part `json:"parts,omitempty"`
	// Workloads are what the jobs asked for.
	Workloads []fio.Workload `json:"workloads,omitempty"`

	// Topology is what this result alone was measured on, where that is not what the run as a whole
	// states: an imported document may hold results of several machines.
	Topology *topology.Topology `json:"topology,omitempty"`

	Seconds []Second   `json:"seconds,omitempty"`
	Disks   []fio.Disk `json:"disks,omitempty"`
	// DisksPartial says why fio's disk statistics do not cover all that fio did, so that a count in
	// them proves nothing; empty where they do.
	DisksPartial string `json:"disks_partial,omitempty"`
	// DisksShared says that they also cover other results of the same start of fio: a count in them
	// is the most that this result can have done.
	DisksShared bool `json:"disks_shared,omitempty"`
	// Incomplete says, a sentence each, what was to be measured and is missing: a time that was cut
	// short, a host.
	Incomplete []string `json:"incomplete,omitempty"`
	// Devices is use over the measured window, from telemetry, top device first.
	Devices []telemetry.DeviceUse `json:"devices,omitempty"`
	Host    *telemetry.HostUse    `json:"host,omitempty"`
	// EBS is what each volume's own statistics page counted during the run, by kernel name; only
	// where it can be read.
	EBS   map[string]cloud.EBSStats `json:"ebs,omitempty"`
	Depth Depth                     `json:"depth"`
	// IOPS and BW of reads and writes together, with their uncertainty from batch means of the
	// seconds.
	IOPS stats.Estimate `json:"iops_estimate"`
	BW   stats.Estimate `json:"bw_estimate" unit:"bytes_per_s"`

	// Paced says that fio's progress lines show a limit on the rate (CR=5000/0), which an import
	// may know without any option. HeldBack asks the options, too.
	Paced bool `json:"paced,omitempty"`

	// Timeouts are the requests that a drive below the path did not answer in time while this ran,
	// by the kernel's log; only where that can be read.
	Timeouts []host.Event `json:"timeouts,omitempty"`

	// Stopped says how a run ended that was to be stopped when it was known; nil for one that ran
	// its time.
	Stopped *stats.Settled `json:"stopped,omitempty"`
	// Postgres is set where a database ran and not fio.
	Postgres *Postgres `json:"postgres,omitempty"`

	// Missing is what an import lacks of a whole output; nil of a whole one.
	Missing *part.Missing `json:"missing,omitempty"`
	Unread  []fio.Unread  `json:"unread,omitempty"`
	Doubts  []string      `json:"doubts,omitempty"`
	Memory  int           `json:"memory_line,omitempty"` // where the text around it speaks of a RAM disk
}

// Part is one reporting group or host of a result.
type Part struct {
	Name  string  `json:"name"` // of its first job, or the host
	Host  string  `json:"host,omitempty"`
	Group int     `json:"group"`
	Jobs  int     `json:"jobs"` // numjobs of all its rows
	Total fio.Job `json:"total"`
}

// Sum is reads and writes of a result together, over the window that they cover.
type Sum struct {
	IOPS   units.IOPS
	BW     units.Rate
	Window time.Duration
	// Apart says that a direction ran for a part of the window only: its own rate is higher than
	// its share of the sum.
	Apart bool
}

// apartShare is how much shorter than the window a direction must have run to count as apart: jobs
// end within a few percent of each other.
const apartShare = 0.95

// HeldBack says that jobs limited themselves, by their options or by what fio printed while they
// ran: idle moments, and I/Os that were not in flight, are then their own.
func (r *Result) HeldBack() bool {
	return r.Paced || slices.ContainsFunc(r.Workloads, fio.Workload.Paced)
}

// Sum adds up all directions.
func (r *Result) Sum() Sum {
	s := Sum{Window: r.Total.Span()}
	s.IOPS, s.BW = r.Total.Rates()
	for _, d := range r.Total.Directions() {
		s.Apart = s.Apart || d.Runtime > 0 && float64(d.Runtime) < apartShare*float64(s.Window)
	}
	return s
}

// Lacks says whether an import is without one of the parts.
func (r *Result) Lacks(parts ...part.Part) bool { return r.Missing != nil && r.Missing.Has(parts...) }

// Lack adds to what an import is without.
func (r *Result) Lack(m part.Missing) {
	if len(m.Parts) == 0 {
		return
	}
	if was := r.Missing; was != nil {
		added := m.Parts
		m.Parts = slices.Clone(was.Parts)
		m.Add(added...)
		m.Jobs, m.Of = cmp.Or(was.Jobs, m.Jobs), cmp.Or(was.Of, m.Of)
		m.Side, m.After = cmp.Or(was.Side, m.Side), cmp.Or(m.After, was.After)
	}
	r.Missing = &m
}

// Label keeps a fact about the result by name.
func (r *Result) Label(key, value string) {
	if r.Labels == nil {
		r.Labels = map[string]string{}
	}
	r.Labels[key] = value
}

// Doubt notes why a figure may not be what it looks like, or what was concluded in its place.
func (r *Result) Doubt(format string, args ...any) {
	r.Doubts = append(slices.Clip(r.Doubts), fmt.Sprintf(format, args...)) // a copy may share them
}

// Invalidate marks the result as not to be trusted and says why.
func (r *Result) Invalidate(reason string) {
	r.State = Invalid
	r.Reasons = append(r.Reasons, reason)
}

// Second is one interval of the per-second series.
type Second struct {
	At    time.Duration `json:"at"`  // its end, since fio started; ramp included
	Len   time.Duration `json:"len"` // about a second
	Ramp  bool          `json:"ramp,omitempty"`
	Read  Interval      `json:"read,omitzero"`
	Write Interval      `json:"write,omitzero"`
	Trim  Interval      `json:"trim,omitzero"`
	Sync  *fio.Hist     `json:"sync,omitempty"`
	// Use of each device of Result.Devices in that second; Dirty and Writeback at its end.
	Util      []float64   `json:"util,omitempty"`
	Queue     []float64   `json:"queue,omitempty"`
	Dirty     units.Bytes `json:"dirty,omitempty"`
	Writeback units.Bytes `json:"writeback,omitempty"`

	means means // for Window; a bundle does not have them
}

// Interval is what one direction did in one Second. Hist holds its completion latencies, or under
// lat_percentiles=1 its whole latencies.
type Interval struct {
	N     uint64      `json:"n"`
	Bytes units.Bytes `json:"bytes"`
	Hist  *fio.Hist   `json:"hist,omitempty"`
}

// sides are reads, writes and trims, as those of a job.
func (s *Second) sides() [3]*Interval { return [3]*Interval{&s.Read, &s.Write, &s.Trim} }

// ios is all directions together.
func (s Second) ios() uint64 { return s.Read.N + s.Write.N + s.Trim.N }

// IOPS is all directions together.
func (s Second) IOPS() units.IOPS { return units.IOPS(over(float64(s.ios()), s.Len.Seconds())) }

// BW is all directions together.
func (s Second) BW() units.Rate {
	return units.Rate(over(float64(s.Read.Bytes+s.Write.Bytes+s.Trim.Bytes), s.Len.Seconds()))
}

// over is n of each one, 0 where there is none.
func over(n, of float64) float64 {
	if of <= 0 {
		return 0
	}
	return n / of
}

// Depth is the achieved queue depth seen three ways. With a sync after every write they differ: the
// submitter waits in the sync, so fio's own figures look full while the device's queue is short.
type Depth struct {
	Asked  int     `json:"asked"`  // iodepth × numjobs
	Little float64 `json:"little"` // IOPS × mean latency (Little's law)
	// Fio is the mean of fio's depth histogram × jobs, lower edges of its buckets; always of the whole
	// run.
	Fio    float64 `json:"fio"`
	Device float64 `json:"device"` // mean queue of the top device, from telemetry; 0 when not watched
	// Note explains a difference in one sentence.
	Note string `json:"note,omitempty"`
}

// Timed is a latency of a result and what it is of: "sync", "read" or "write"; "" of all that ran.
type Timed struct {
	Of string
	fio.Latency
}

// Latencies are those by which a result is known. A durable write takes as long as its sync; the completion
// latencies of several directions are one distribution where their bins are known, and else one each.
func (r *Result) Latencies() (all []Timed) {
	t := r.Total
	if t.Sync.Lat.Measured() {
		return []Timed{{"sync", t.Sync.Lat}}
	}
	sum := &fio.Hist{}
	binned := true
	for i, d := range t.Directions() {
		if l := d.Completion(); d.N > 0 || d.IOPS > 0 || l.Mean > 0 {
			all = append(all, Timed{fio.DirectionNames[i], l})
			if binned = binned && l.Hist.Count() > 0; binned {
				sum.Merge(l.Hist)
			}
		}
	}
	switch {
	case len(all) == 1:
		all[0].Of = ""
	case binned && len(all) > 1:
		return []Timed{{"", fio.Latency{Hist: sum, N: sum.Count()}}}
	}
	return all
}
