package workload

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// JobOptions are what the demand does not say of its job.
type JobOptions struct {
	// Filename is a device or a file, and Directory a directory that fio makes the file in. With
	// neither, the job reads the place from the variable TARGET.
	Filename, Directory string
	// Size of the file; 0 is the demand's capacity.
	Size units.Bytes
	// Runtime is the least time; 0 is half a minute. The job runs for whole periods of the bursts.
	Runtime time.Duration
	// Depth is iodepth of every section; 0 is what the rate needs.
	Depth int
	// Latency is that of one I/O when the storage is at ease, which the depth is worked out from; 0
	// is 1 ms.
	Latency time.Duration
}

const (
	// AssumedLatency of one I/O where no type of volume is known: that of EBS's general types.
	AssumedLatency = time.Millisecond
	// leastRun is how long a job runs where nothing else is said.
	leastRun = 30 * time.Second
	// mostBursts is how many bursts a job spells out.
	mostBursts = 20
	// mostDepth is the largest iodepth that a rate is given.
	mostDepth = 64
	// mostJobs is the largest numjobs; more threads become depth.
	mostJobs = 64
	// room is how many times the I/Os that are in flight on average the depth allows, so that the
	// job is held by its rate and not by its depth.
	room = 4
)

// Job is a fio job with the reason of each section.
type Job struct {
	Name     string
	Comment  text.Lines
	Sections []JobSection
}

// JobSection is a section and why it is as it is.
type JobSection struct {
	fio.Section
	Comment text.Lines
}

// File is the job without its comments.
func (j *Job) File() fio.JobFile {
	f := fio.JobFile{Name: j.Name}
	for _, s := range j.Sections {
		f.Sections = append(f.Sections, s.Section)
	}
	return f
}

// Text is the job file, comments included.
func (j *Job) Text() string {
	var b strings.Builder
	comment := func(lines []string) {
		for _, line := range lines {
			fmt.Fprintf(&b, "; %s\n", line)
		}
	}
	comment(j.Comment)
	for _, s := range j.Sections {
		b.WriteString("\n")
		comment(s.Comment)
		fmt.Fprintf(&b, "[%s]\n", s.Name)
		for _, o := range s.Options {
			fmt.Fprintln(&b, o)
		}
	}
	return b.String()
}

// part is one direction of a stream, which becomes a section: latency and rate then stay those of
// the stream, whatever the other direction does.
type part struct {
	*Stream
	name  string
	read  bool
	iops  units.IOPS
	jobs  int
	depth int
	why   text.Lines
}

// Job is the fio job that asks for the demand: a section for each direction of each stream, and one
// for each burst.
func (d *Demand) Job(o JobOptions) *Job {
	o.Latency = cmp.Or(o.Latency, AssumedLatency)
	o.Size = cmp.Or(o.Size, d.Capacity)
	total, cut := d.runtime(o.Runtime)
	j := &Job{Name: d.Name + ".fio"}
	about := strings.Join(strings.Fields(d.About), " ")
	j.Comment.Say("The demand %s: %s", d.Name, cmp.Or(about, "written by plimsoll workload"))
	peak, mean := d.Peak(), d.Mean()
	j.Comment.Say("At peak %v IOPS and %v, on average %v IOPS and %v.", peak.IOPS, peak.Rate, mean.IOPS, mean.Rate)
	if cut {
		j.Comment.Say("Cut to %s: at most %d bursts are written out.", Time(total), mostBursts)
	}
	if o.Filename == "" && o.Directory == "" {
		j.Comment.Say("Run it with its place: TARGET=/dev/nvme1n1 fio %s (it writes there)", j.Name)
	}
	j.Sections = append(j.Sections, d.global(o, total))
	for _, p := range d.parts(o) {
		j.Sections = append(j.Sections, p.sections(o, total)...)
	}
	return j
}

// Runtime is how long the demand's job runs when at least wanted is asked for; 0 is half a minute.
func (d *Demand) Runtime(wanted time.Duration) time.Duration {
	total, _ := d.runtime(wanted)
	return total
}

// runtime is whole periods of the longest burst, at least as long as wanted; cut says that fewer
// fit the limit.
func (d *Demand) runtime(wanted time.Duration) (total time.Duration, cut bool) {
	total = cmp.Or(wanted, leastRun)
	var periods []time.Duration
	for _, s := range d.Streams {
		if s.Burst != nil {
			periods = append(periods, s.Burst.Every)
		}
	}
	if len(periods) == 0 {
		return total, false
	}
	longest := slices.Max(periods)
	total = max((total+longest-1)/longest, 1) * longest
	if wanted > 0 && wanted < total { // no longer than was asked for, unless that is less than one period
		total = max(wanted/longest, 1) * longest
	}
	if most := slices.Min(periods) * mostBursts; total > most {
		return max(most/longest, 1) * longest, true
	}
	return total, false
}

func (d *Demand) global(o JobOptions, total time.Duration) JobSection {
	s := JobSection{Section: fio.Section{Name: "global"}}
	s.Set("ioengine", "libaio")
	s.Set("direct", "1")
	switch {
	case o.Filename != "":
		s.Set("filename", strings.ReplaceAll(o.Filename, ":", `\:`))
	case o.Directory != "":
		s.Set("directory", strings.ReplaceAll(o.Directory, ":", `\:`))
		s.Set("filename", d.Name+".data")
	default:
		s.Set("filename", "${TARGET}")
	}
	s.Set("time_based", "")
	s.Set("runtime", Time(total))
	s.Set("group_reporting", "")
	s.Set("refill_buffers", "1")
	s.Set("log_avg_msec", "1000")
	return s
}

// parts splits streams that read and write.
func (d *Demand) parts(o JobOptions) (parts []part) {
	for i := range d.Streams {
		s := &d.Streams[i]
		for _, read := range []bool{true, false} {
			share := s.ReadShare
			if !read {
				share = 1 - s.ReadShare
			}
			if share == 0 {
				continue
			}
			p := part{Stream: s, name: s.Name, read: read, iops: s.IOPS * units.IOPS(share)}
			if share < 1 {
				p.name += map[bool]string{true: "-read", false: "-write"}[read]
			}
			p.size(o)
			parts = append(parts, p)
		}
	}
	return parts
}

// size works out numjobs and iodepth.
func (p *part) size(o JobOptions) {
	threads := max(p.Threads, 1)
	p.jobs = min(threads, mostJobs)
	each := float64(p.iops) / float64(p.jobs)
	inFlight := each * o.Latency.Seconds()
	switch {
	case o.Depth > 0:
		p.depth = o.Depth
		p.why.Say("iodepth as asked for; %s IOPS per job × %s = %s in flight, for which a lower depth would do",
			units.IOPS(each), units.LatencyOf(o.Latency), units.IOPS(inFlight))
	case p.Depth > 0:
		p.depth = min(p.Depth*threads/p.jobs, 1024)
		p.why.Say("iodepth: each of %d threads keeps %d in flight", threads, p.Depth)
	default:
		p.depth = min(max(int(math.Ceil(inFlight*room-1e-9)), 1), mostDepth)
		p.why.Say("iodepth: %s IOPS per job × %s = %s in flight, × %d for room: %d",
			units.IOPS(each), units.LatencyOf(o.Latency), units.IOPS(inFlight), room, p.depth)
		if threads > mostJobs {
			p.depth = max(p.depth, (threads+p.jobs-1)/p.jobs)
		}
	}
	if threads > mostJobs {
		p.why.Say("%d threads are %d jobs of depth %d", threads, p.jobs, p.depth)
	}
}

// sections is one section, or one for each burst of the time.
func (p *part) sections(o JobOptions, total time.Duration) (all []JobSection) {
	first := p.section(o)
	if p.Burst == nil {
		return []JobSection{first}
	}
	n := int((total - p.Burst.After + p.Burst.Every - 1) / p.Burst.Every)
	for k := range max(n, 1) {
		one := first
		one.Options = slices.Clone(first.Options)
		if n > 1 {
			one.Name = fmt.Sprintf("%s-%d", p.name, k+1)
		}
		if k > 0 { // each is a group of its own: fio would add their rates up
			one.Comment = nil
		}
		if delay := p.Burst.After + time.Duration(k)*p.Burst.Every; delay > 0 {
			one.Set("startdelay", Time(delay))
		}
		one.Set("runtime", Time(p.Burst.For))
		all = append(all, one)
	}
	return all
}

func (p *part) section(o JobOptions) JobSection {
	s := JobSection{Section: fio.Section{Name: p.name}}
	share := ""
	if p.Reads() && p.Writes() {
		share = fmt.Sprintf(", %s of them", text.Share(float64(p.iops/p.IOPS)))
	}
	block := p.MeanBlock()
	s.Comment.Say("%s: %v IOPS%s of %s = %v over %d jobs", p.name, p.iops, share, p.blockText(),
		units.Rate(float64(p.iops)*block), p.jobs)
	s.Set("new_group", "")
	s.Set("rw", map[bool]string{true: "rand"}[p.Random]+map[bool]string{true: "read", false: "write"}[p.read])
	p.blockOptions(&s, block)
	s.Set("numjobs", strconv.Itoa(p.jobs))
	if p.depth == 1 {
		s.Set("ioengine", "psync")
	}
	s.Set("iodepth", strconv.Itoa(p.depth))
	s.Comment = append(s.Comment, p.why...)
	if depth, iops := p.jobs*p.depth, float64(p.iops); depth > 16 && float64(depth)/iops > 0.1 {
		s.Comment.Say("%s in flight are %s of queue at %v IOPS: once the storage falls behind, this depth alone causes such "+
			"latencies", units.IOPS(depth), units.LatencyOf(time.Duration(float64(depth)/iops*float64(time.Second))), p.iops)
	}
	p.region(&s, o)
	if p.Sync.Kind == "dsync" && !p.read {
		s.Set("sync", "dsync")
	} else if p.Sync.Kind != "" && !p.read {
		s.Set(p.Sync.Kind, strconv.Itoa(p.Sync.Each))
	}
	if p.Poisson && len(p.Blocks) == 1 {
		s.Set("rate_process", "poisson")
		s.Comment.Say("poisson arrivals need fio 3.29 or newer; older ones keep the wrong rate (fio issue 1290)")
	} else if p.Poisson {
		s.Comment.Say("arrivals are paced: fio's poisson process keeps no rate with mixed sizes (fio issue 332)")
	}
	return s
}

func (p *part) blockText() string {
	if len(p.Blocks) == 1 {
		return p.Blocks[0].Size.String()
	}
	parts := make([]string, len(p.Blocks))
	for i, b := range p.Blocks {
		parts[i] = fmt.Sprintf("%s %v", text.Share(b.Share), b.Size)
	}
	return strings.Join(parts, ", ")
}

// blockOptions sets sizes and rate. The rate is in bytes: rate_iops with mixed sizes is bytes of
// the smallest.
func (p *part) blockOptions(s *JobSection, block float64) {
	rate := float64(p.iops) * block / float64(p.jobs)
	if len(p.Blocks) == 1 {
		s.Set("bs", p.Blocks[0].Size.Suffixed())
	} else {
		split := make([]string, len(p.Blocks))
		for i, b := range p.Blocks {
			split[i] = b.Size.Suffixed() + "/" + strconv.FormatFloat(b.Share*100, 'f', -1, 64)
		}
		s.Set("bssplit", strings.Join(split, ":"))
		s.Comment.Say("rate: %s IOPS per job × a mean block of %v; rate_iops would count bytes of the smallest block (fio "+
			"issue 1290)", units.IOPS(float64(p.iops)/float64(p.jobs)), units.Bytes(block+0.5))
	}
	s.Set("rate", units.Bytes(max(math.Round(rate), 1)).Suffixed())
}

// region says where each job works: a sequential one in a part of its own, so that no two write the
// same blocks.
func (p *part) region(s *JobSection, o JobOptions) {
	if o.Size == 0 {
		return
	}
	if p.Random || p.jobs == 1 {
		s.Set("size", o.Size.Suffixed())
		return
	}
	each := o.Size / units.Bytes(p.jobs)
	if whole := each / units.MiB * units.MiB; whole > 0 {
		each = whole
	}
	largest := slices.MaxFunc(p.Blocks, func(a, b Block) int { return cmp.Compare(a.Size, b.Size) }).Size
	each = max(each/largest*largest, largest)
	s.Set("size", each.Suffixed())
	s.Set("offset_increment", each.Suffixed())
	s.Comment.Say("each job has %v of its own, so that no two touch the same blocks", each)
}

// Time prints a duration as fio reads it: 90s, 1500ms.
func Time(d time.Duration) string {
	switch {
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", int64(d/time.Second))
	case d%time.Millisecond == 0:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%dus", d.Microseconds())
}
