// Package fio knows fio's job files and their options, how to run fio and cut its documents out of
// what it prints, and what one invocation reported: Output, its rows, how rows add up and which ran
// at the same time. The readers of fio's forms are in fio/output (JSON, terse, logs, histogram logs)
// and fio/text (normal output). Each fills the same Output, so nothing above them knows which form a
// figure came from.
package fio

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/fio/bins"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/units"
)

// Output is what one fio invocation reported.
type Output struct {
	Version string    `json:"version"` // "fio-3.33"; empty when the text does not say
	Format  Format    `json:"format"`
	Time    time.Time `json:"time,omitzero"` // when fio printed it, if it says
	Global  Options   `json:"global_options,omitempty"`
	Jobs    []Job     `json:"jobs"`
	Groups  []Group   `json:"groups,omitempty"`
	Disks   []Disk    `json:"disks,omitempty"`
	// Unread lists what the reader could not understand, so that lost data is never silent.
	Unread []Unread `json:"unread,omitempty"`
	// Source is the file that it was read from, set by whoever opened it.
	Source string `json:"source,omitempty"`
	// Progress is how many lines fio showed while it ran, where text output holds them; Paced, whether they tell of a
	// limit on its rate.
	Progress int  `json:"progress,omitempty"`
	Paced    bool `json:"paced,omitempty"`
	// Title is the heading that stood above text output: of a Markdown section, or a line such as
	// "nvme1:".
	Title string `json:"title,omitempty"`
	// Command is the fio command line that stood above text output.
	Command string `json:"command,omitempty"`
	// Line is where its first figure stood in the input, counted from 1; 0 when that is not known.
	// End is the line of its last.
	Line int `json:"-"`
	End  int `json:"-"`
	// Table says that these are figures which someone wrote down, and not fio's output.
	Table bool `json:"-"`
	// Goals are what such a table says was to be reached.
	Goals []Goal `json:"-"`
	// Program is what measured it, where that was not fio (fio/foreign). Its jobs have the options
	// that the program says or is known to use.
	Program string `json:"-"`
	// Void says why the figures are of no storage, "" where they may be.
	Void string `json:"-"`
	// Summary says that a script printed these figures of several runs of fio, below their output.
	Summary bool `json:"-"`
	// Phase numbers from 1 the parts of an output whose jobs ran one after the other (Phases); 0
	// for a whole output.
	Phase int `json:"phase,omitempty"`
	// Missing is what the reader did not find of a whole output.
	Missing part.Missing `json:"missing,omitzero"`
	// Messages are fio's own warnings and errors, printed between the figures.
	Messages []string `json:"messages,omitempty"`
	// Doubts lists contradictions in the figures themselves, such as iops × bs that is not bw.
	Doubts []string `json:"doubts,omitempty"`
	// AllClients is the row in which fio --client adds up all clients. It is not one of Jobs, and
	// fio adds phases that ran one after the other as if they ran together.
	AllClients *Job `json:"all_clients,omitempty"`
	// Servers are the hosts that fio --client said it was connected to.
	Servers []string `json:"servers,omitempty"`
}

// Goal is a figure that was to be reached: the rates at least, the times at most.
type Goal struct {
	Side      string  // read, write or total; empty where nothing says of what
	Figure    string  // iops, bw or clat
	Statistic string  // of clat: mean, max, p99
	Value     float64 // in 1/s, bytes/s or ns
	MB        bool    // as which it is stated
}

// Doubt notes a contradiction in the figures, or what was concluded because of one.
func (o *Output) Doubt(format string, args ...any) {
	o.Doubts = append(slices.Clip(o.Doubts), fmt.Sprintf(format, args...)) // a copy may share them
}

// Format is the form of output that was read.
type Format string

// The forms of output that fio writes.
const (
	Text     Format = "text"
	JSON     Format = "json"
	JSONPlus Format = "json+"
	Terse    Format = "terse"
	Logs     Format = "logs"
)

// Unread is a line that a reader did not understand.
type Unread struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why,omitempty"`
	File string `json:"file,omitempty"` // base name of the log that holds it, where several make up the output
}

// Options are fio options by their own names, as given: {"bs": "8k", "direct": "1"}.
type Options map[string]string

// Merged are options of which those behind count.
func Merged(all ...Options) Options {
	merged := Options{}
	for _, o := range all {
		maps.Copy(merged, o)
	}
	return merged
}

// Job is one row of results: one job, or all of a reporting group.
type Job struct {
	Name  string `json:"name"`
	Group int    `json:"group"`
	Count int    `json:"count"`           // jobs reported together; 0 when not said
	Error int    `json:"error,omitempty"` // errno
	PID   int    `json:"pid,omitempty"`
	// TotalErrors counts the errors that continue_on_error let pass; FirstError is the errno of the
	// first.
	TotalErrors uint64        `json:"total_errors,omitempty"`
	FirstError  int           `json:"first_error,omitempty"`
	Host        string        `json:"host,omitempty"` // from fio --client
	Options     Options       `json:"options,omitempty"`
	Elapsed     time.Duration `json:"elapsed,omitempty"` // since the job's start, whole seconds, ramp included
	// Runtime is the longest of the directions' runtimes; it starts again at the end of the ramp.
	Runtime time.Duration `json:"runtime"`
	// Window is the time that all directions cover together (see Time): longer than Runtime where
	// they ran one after the other. It began Delay after the first job. 0 stands for Runtime.
	Window time.Duration `json:"window,omitempty"`
	Delay  time.Duration `json:"delay,omitempty"`
	// Others are the options of the jobs of its group that a row reports with the one that it names.
	Others map[string]Options `json:"-"`
	// Phase numbers from 1 what ran at the same time, where the job's options tell (Time); 0 stands
	// for not known.
	Phase int `json:"phase,omitempty"`

	Read  Direction `json:"read"`
	Write Direction `json:"write"`
	Trim  Direction `json:"trim"`
	// Mixed is what unified_rw_reporting reports instead of (or, with "both", beside) the
	// directions.
	Mixed *Direction `json:"mixed,omitempty"`
	Sync  Sync       `json:"sync"`

	CPU CPU `json:"cpu"`
	// Shares of I/Os in 0..1 by bucket label ("1", "2", … "64", ">=64"), as fio prints them.
	Depths   []Share `json:"depths,omitempty"`
	Submit   []Share `json:"submit,omitempty"`
	Complete []Share `json:"complete,omitempty"`
	// Buckets are the coarse latency shares (lat (usec): 500=2.34%, …), ends in ascending order.
	Buckets []Bucket `json:"buckets,omitempty"`
	Target  *Target  `json:"latency_target,omitempty"`
	// TotalRuntime is the runtimes of all jobs of the row added up (job_runtime).
	TotalRuntime time.Duration `json:"total_runtime,omitempty"`
	Start        time.Time     `json:"start,omitzero"` // job_start, fio 3.36 on
	// Disks are those a job of its own printed (rare); see Output.Disks.
}

// Rates are IOPS and bandwidth of all directions together, over the window in which the row ran:
// directions that ran at different times are not added, their operations and bytes are.
func (j Job) Rates() (n units.IOPS, bw units.Rate) {
	window := j.Span()
	for _, d := range j.Directions() {
		share := d.share(window)
		n += d.IOPS * units.IOPS(share)
		bw += d.BW * units.Rate(share)
	}
	return n, bw
}

// Span is the window that the row's figures cover.
func (j Job) Span() time.Duration { return max(j.Window, j.Runtime) }

// share is the part of a window in which a direction ran, 1 where that is not known.
func (d *Direction) share(window time.Duration) float64 {
	if d.Runtime <= 0 || d.Runtime >= window {
		return 1
	}
	return float64(d.Runtime) / float64(window)
}

// DirectionNames are fio's words for the directions, in its order, and for what adds them up.
var DirectionNames = [4]string{"read", "write", "trim", "mixed"}

// Directions are reads, writes and trims, in the order of DirectionNames.
func (j *Job) Directions() [3]*Direction { return [3]*Direction{&j.Read, &j.Write, &j.Trim} }

// IOs is how many I/Os completed in all directions.
func (j *Job) IOs() uint64 { return j.Read.N + j.Write.N + j.Trim.N }

// InFlight is the mean number of I/Os in flight over the row's window by Little's law, 0 where
// latency was not recorded.
func (j Job) InFlight() (l float64) {
	for _, d := range j.Directions() {
		lat := d.Lat
		if !lat.Measured() {
			lat = d.Clat
		}
		l += float64(d.IOPS) * d.share(j.Span()) * lat.Mean / 1e9
	}
	return l
}

// Direction holds one direction's figures. N counts completed I/Os; a direction that did not run
// has N 0.
type Direction struct {
	N       uint64        `json:"n"`
	Bytes   units.Bytes   `json:"bytes"`
	IOPS    units.IOPS    `json:"iops"`
	BW      units.Rate    `json:"bw"`
	Runtime time.Duration `json:"runtime"`
	Short   uint64        `json:"short,omitempty"`
	Dropped uint64        `json:"dropped,omitempty"`
	// Unknown says that these may be reads or writes: the output does not tell.
	Unknown bool `json:"unknown,omitempty"`
	// ZoneResets counts resets on zoned devices.
	ZoneResets uint64 `json:"zone_resets,omitempty"`

	Slat Latency `json:"slat,omitzero"`
	Clat Latency `json:"clat,omitzero"`
	Lat  Latency `json:"lat,omitzero"`

	// BWSamples (bytes/s) and IOPSSamples are fio's half-second samples. Intervals in which nothing
	// completed yield no sample, so min and mean hide stalls: never judge by them.
	BWSamples   Samples `json:"bw_samples,omitzero"`
	IOPSSamples Samples `json:"iops_samples,omitzero"`

	// Printed keeps figures as text output printed them ("iops": "40.1k"), for those that are
	// rounded there and refined here.
	Printed map[string]string `json:"printed,omitempty"`
}

// LatencyNames are fio's words for the latencies of a direction, in its order.
var LatencyNames = [3]string{"slat", "clat", "lat"}

// Latencies are those of submission, of completion and of both, in the order of LatencyNames.
func (d *Direction) Latencies() [3]*Latency { return [3]*Latency{&d.Slat, &d.Clat, &d.Lat} }

// Completion is clat, or lat where only that was recorded.
func (d *Direction) Completion() Latency {
	if !d.Clat.Measured() {
		return d.Lat
	}
	return d.Clat
}

// atOnce is below any device's answer to a request that was handed over asynchronously: the fastest
// drives take 6 µs.
const atOnce = 5 * time.Microsecond

// Submitted says that I/Os of an asynchronous engine were complete when their submission returned,
// so that the time of the I/O is in slat and clat is that of picking it up: buffered I/O with
// libaio, or a device that is memory.
func (d Direction) Submitted() bool {
	most, known := d.Clat.At(95)
	if !known {
		most = time.Duration(d.Clat.Mean)
	}
	return d.Clat.Measured() && most < atOnce && d.Slat.Mean > 0 && d.Slat.Mean >= d.Clat.Mean
}

// Mistimed says that clat, which is a part of lat, is larger: an engine that does not tell fio when
// it took an I/O over makes clat, its percentiles and the latency buckets wrong.
func (d Direction) Mistimed() bool {
	const more = 1.5
	return d.Lat.Mean > 0 && d.Clat.Mean > more*d.Lat.Mean
}

// Hist counts latencies in fio's own bins.
type Hist = bins.Hist

// Latency is a measured distribution. N is 0 where it was not measured.
type Latency struct {
	N      uint64        `json:"n"`
	Min    time.Duration `json:"min"`
	Max    time.Duration `json:"max"`
	Mean   float64       `json:"mean" unit:"ns"`             // nanoseconds
	StdDev float64       `json:"stddev,omitempty" unit:"ns"` // nanoseconds, see Deviation
	// Percentiles are fio's own, ascending.
	Percentiles []Percentile `json:"percentiles,omitempty"`
	// Hist holds the bins where the output carries them (json+, histogram logs).
	Hist *Hist `json:"hist,omitempty"`
}

// Deviation is the standard deviation and whether it was printed: 0 is one only where all took the same time.
func (l Latency) Deviation() (units.Latency, bool) {
	return units.Latency(l.StdDev), l.StdDev > 0 || l.Max > 0 && l.Min == l.Max
}

// Measured says whether there is anything in l.
func (l Latency) Measured() bool { return l.N > 0 || l.Mean > 0 || len(l.Percentiles) > 0 }

// Percentile is one point of a distribution: P in 0..100.
type Percentile struct {
	P     float64       `json:"p"`
	Value time.Duration `json:"value"`
}

// At returns the value at percentile p, from the bins when there are any, else from fio's own list.
// A bin stands for its middle, which may lie above the largest value in it: no percentile is above
// the maximum.
func (l Latency) At(p float64) (time.Duration, bool) {
	if l.Hist.Count() > 0 {
		return l.Capped(l.Hist.Percentile(p)), true
	}
	for _, q := range l.Percentiles {
		if d := q.P - p; d < 1e-6 && d > -1e-6 {
			return l.Capped(q.Value), true
		}
	}
	return 0, false
}

// Capped is v, or the largest latency where that is smaller: the middle of a bin may be above it.
func (l Latency) Capped(v time.Duration) time.Duration {
	if l.Max > 0 {
		return min(v, l.Max)
	}
	return v
}

// Samples summarises fio's periodic samples of a rate.
type Samples struct {
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"`
	N      uint64  `json:"n"`
	// Share of the group's aggregate in 0..1 (per=…).
	Share float64 `json:"share,omitempty"`
}

// Sync is the latency of fsync, fdatasync and sync_file_range. fio leaves total_ios at 0 in many
// versions: Lat.N is the count.
type Sync struct {
	Lat  Latency `json:"lat,omitzero"`
	Kind string  `json:"kind,omitempty"` // "fsync/fdatasync/sync_file_range" as printed
}

// CPU is what the jobs used, in 0..1 of one core per job.
type CPU struct {
	User            float64 `json:"user"`
	System          float64 `json:"system"`
	ContextSwitches uint64  `json:"context_switches"`
	MajorFaults     uint64  `json:"major_faults"`
	MinorFaults     uint64  `json:"minor_faults"`
}

// Share is the part of all I/Os (0..1) that fell into a labelled bucket.
type Share struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
}

// Bucket is a coarse latency bucket: Value of all I/Os (0..1) took at most Upto and more than the
// bucket before. The last bucket (>=2000 ms) has Upto 0.
type Bucket struct {
	Upto  time.Duration `json:"upto"`
	Value float64       `json:"value"`
}

// Target is fio's latency_target result. fio prints it always: where no target was asked for,
// Target is 0, and Depth is the iodepth.
type Target struct {
	Target     time.Duration `json:"target"`
	Window     time.Duration `json:"window"`
	Percentile float64       `json:"percentile"`
	Depth      int           `json:"depth"`
}

// Group is one "Run status group" of text output.
type Group struct {
	ID         int                  `json:"id"`
	Directions map[string]GroupRate `json:"directions"` // "READ", "WRITE", "TRIM", "MIXED"
}

// Of is the line of one of the three directions, in the order of DirectionNames.
func (g Group) Of(direction int) (rate GroupRate, known bool) {
	rate, known = g.Directions[strings.ToUpper(DirectionNames[direction])]
	return rate, known
}

// GroupRate is one line of a run status group.
type GroupRate struct {
	Bytes   units.Bytes       `json:"bytes"`
	BW      units.Rate        `json:"bw"`
	Most    units.Rate        `json:"most,omitempty"` // of one job
	MaxRun  time.Duration     `json:"max_run"`
	Printed map[string]string `json:"printed,omitempty"` // bw and io
}

// Disk is the disk statistics that fio prints for one block device over the whole run, ramp
// included.
type Disk struct {
	Name string `json:"name"`
	// Member is true for the devices below an md or dm device that the line above aggregates.
	Member      bool        `json:"member,omitempty"`
	Reads       uint64      `json:"reads"`
	Writes      uint64      `json:"writes"`
	ReadMerges  uint64      `json:"read_merges"`
	WriteMerges uint64      `json:"write_merges"`
	ReadTicks   uint64      `json:"read_ticks" unit:"ms"` // milliseconds summed over requests
	WriteTicks  uint64      `json:"write_ticks" unit:"ms"`
	InQueue     uint64      `json:"in_queue" unit:"ms"`    // milliseconds
	Util        float64     `json:"util"`                  // 0..1
	ReadBytes   units.Bytes `json:"read_bytes,omitempty"`  // from sectors=, fio 3.36 on
	WriteBytes  units.Bytes `json:"write_bytes,omitempty"` //
	HasSectors  bool        `json:"has_sectors,omitempty"` // the line had sectors=
	Aggregate   *Disk       `json:"aggregate,omitempty"`   // the agg… fields: means over the members
}
