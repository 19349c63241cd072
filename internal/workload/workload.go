// Package workload describes what an application asks of the storage: a demand, stream by stream,
// as a person writes it (docs/workload.md) or as a machine showed it. It works out what follows
// from it (peak, mean, I/Os in flight by Little's law) and the fio job that asks for the same.
package workload

import (
	"math"
	"slices"
	"time"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Demand is what an application needs of the storage.
type Demand struct {
	Name       string        `json:"name"`
	About      string        `json:"about,omitempty"`
	Source     string        `json:"source,omitempty"` // the file it was read from, or what was watched
	Role       topology.Role `json:"role,omitempty"`   // where its job runs; data unless stated
	Capacity   units.Bytes   `json:"capacity,omitempty"`
	Durability Durability    `json:"durability"`
	Streams    []Stream      `json:"streams"`
	// AtLeast holds the reasons why the true demand may be larger: it was watched on storage that
	// was full.
	AtLeast []string `json:"at_least,omitempty"`
	// Notes are what a reader should know of the figures: units that look alike, figures that were
	// assumed.
	Notes []string `json:"notes,omitempty"`
}

// Durability is what the data must survive.
type Durability struct {
	AFR      float64  `json:"afr,omitempty"` // highest share of years in which the data is lost: 0.002
	Survives Survives `json:"survives,omitempty"`
}

// Survives is a loss that the data must outlive.
type Survives string

// The losses.
const (
	NoLoss       Survives = "none"     // nothing: the data can be made again
	LostVolume   Survives = "volume"   // one volume
	LostInstance Survives = "instance" // the machine: not on its own drives
)

// Stream is one kind of I/O that an application does. Rate and IOPS are of all its threads
// together, while the stream runs.
type Stream struct {
	Name      string  `json:"name"`
	Random    bool    `json:"random,omitempty"`
	ReadShare float64 `json:"read_share"` // 0..1 of its I/Os
	// Blocks are the sizes of its I/Os and their shares, which add up to 1.
	Blocks  []Block    `json:"blocks"`
	Threads int        `json:"threads"`         // 0: not stated
	Depth   int        `json:"depth,omitempty"` // I/Os that each thread keeps in flight; 0: not stated
	IOPS    units.IOPS `json:"iops"`
	Rate    units.Rate `json:"rate"`
	Poisson bool       `json:"poisson,omitempty"` // I/Os arrive at random moments, not paced
	Sync    Sync       `json:"sync"`
	// Latency is what the application bears.
	Latency Latency `json:"latency"`
	// Burst is when it runs; nil for always.
	Burst *Burst `json:"burst,omitempty"`
	// Apart says that the stream never runs at the same time as another.
	Apart bool `json:"apart,omitempty"`
	// Commits says that the I/Os are transactions that wait until their log is on the storage: Rate
	// is that of its writes, Threads are the database's clients.
	Commits bool `json:"commits,omitempty"`
}

// Block is a size of I/O and its share of all.
type Block struct {
	Size  units.Bytes `json:"size"`
	Share float64     `json:"share"`
}

// Sync is how writes are made durable.
type Sync struct {
	Kind string `json:"kind,omitempty"` // fdatasync, fsync or dsync; empty for none
	Each int    `json:"each,omitempty"` // after how many writes; 1 for every one
}

// Latency holds the limits of one I/O's latency. Shares count I/Os.
type Latency struct {
	Percentiles []Percentile `json:"percentiles,omitempty"`
	Over        []Over       `json:"over,omitempty"`
}

// Percentile is the latency that a share of the I/Os must stay below: 99 for p99.
type Percentile struct {
	P     float64       `json:"p"`
	Limit time.Duration `json:"limit"`
}

// Over is the largest share of I/Os that may take longer than Limit.
type Over struct {
	Limit time.Duration `json:"limit"`
	Share float64       `json:"share"`
}

// Burst is when a stream runs: For, once in Every, first After the start.
type Burst struct {
	For   time.Duration `json:"for"`
	Every time.Duration `json:"every"`
	After time.Duration `json:"after,omitempty"`
}

// MeanBlock is the mean size of the stream's I/Os.
func (s *Stream) MeanBlock() float64 {
	mean := 0.0
	for _, b := range s.Blocks {
		mean += float64(b.Size) * b.Share
	}
	return mean
}

// Duty is the share of time in which the stream runs.
func (s *Stream) Duty() float64 {
	if s.Burst == nil {
		return 1
	}
	return s.Burst.For.Seconds() / s.Burst.Every.Seconds()
}

// RunsAt says whether the stream runs at a time since the start.
func (b *Burst) RunsAt(at time.Duration) bool { return at >= b.After && (at-b.After)%b.Every < b.For }

// MeanOver is the largest share of a window of time in which the stream runs.
func (s *Stream) MeanOver(window time.Duration) float64 {
	if s.Burst == nil || window <= 0 {
		return 1
	}
	whole := window / s.Burst.Every
	running := whole*s.Burst.For + min(window%s.Burst.Every, s.Burst.For)
	return running.Seconds() / window.Seconds()
}

// Reads and Writes say which directions the stream has.
func (s *Stream) Reads() bool { return s.ReadShare > 0 }

// Writes says whether the stream writes.
func (s *Stream) Writes() bool { return s.ReadShare < 1 }

// Smallest is the least of the latency limits, 0 without one.
func (l Latency) Smallest() time.Duration {
	var limits []time.Duration
	for _, p := range l.Percentiles {
		limits = append(limits, p.Limit)
	}
	for _, o := range l.Over {
		limits = append(limits, o.Limit)
	}
	if len(limits) == 0 {
		return 0
	}
	return slices.Min(limits)
}

// Load is an amount of I/O each second.
type Load struct {
	IOPS units.IOPS `json:"iops"`
	Rate units.Rate `json:"rate"`
}

// most has each figure of the load that has more of it.
func (l Load) most(o Load) Load { return Load{max(l.IOPS, o.IOPS), max(l.Rate, o.Rate)} }

func (l Load) plus(o Load, times float64) Load {
	return Load{l.IOPS + o.IOPS*units.IOPS(times), l.Rate + o.Rate*units.Rate(times)}
}

// over is a sum over so many seconds as a rate.
func (l Load) over(seconds float64) Load {
	return Load{l.IOPS / units.IOPS(seconds), l.Rate / units.Rate(seconds)}
}

// Load of the stream while it runs.
func (s *Stream) Load() Load { return Load{s.IOPS, s.Rate} }

// Together are the groups of streams that may run at the same time: all that are not apart, and
// each that is.
func (d *Demand) Together() (groups [][]*Stream) {
	var joint []*Stream
	for i := range d.Streams {
		if s := &d.Streams[i]; s.Apart {
			groups = append(groups, []*Stream{s})
		} else {
			joint = append(joint, s)
		}
	}
	if len(joint) > 0 {
		groups = append([][]*Stream{joint}, groups...)
	}
	return groups
}

// Peak is the most that is asked for at one time: of streams that run together, or of one that runs
// apart, each figure the largest.
func (d *Demand) Peak() Load { return d.largest(func(*Stream) float64 { return 1 }) }

// Mean is what is asked for on average, bursts by their share of the time. How often streams run that never stop and
// never run together is not said: their mean is at most the peak.
func (d *Demand) Mean() Load {
	var sum Load
	for i := range d.Streams {
		sum = sum.plus(d.Streams[i].Load(), d.Streams[i].Duty())
	}
	peak := d.Peak()
	return Load{min(sum.IOPS, peak.IOPS), min(sum.Rate, peak.Rate)}
}

// MeanOver is the largest mean over a window of time: 30 minutes are what an EC2 instance's burst
// sees.
func (d *Demand) MeanOver(window time.Duration) Load {
	return d.largest(func(s *Stream) float64 { return s.MeanOver(window) })
}

func (d *Demand) largest(part func(*Stream) float64) Load {
	var most Load
	for _, group := range d.Together() {
		var sum Load
		for _, s := range group {
			sum = sum.plus(s.Load(), part(s))
		}
		most = most.most(sum)
	}
	return most
}

// CountedIO is the size up to which EBS counts an I/O of a solid-state volume once.
const CountedIO = 256 * units.KiB

// Counted is how many I/Os per second EBS counts of the stream: each as often as it has pieces of 256
// KiB. If EBS merges the neighbours of a sequential stream, which it does as best it can, merged is
// what is left of them.
func (s *Stream) Counted() (each, merged units.IOPS) {
	for _, b := range s.Blocks {
		each += s.IOPS * units.IOPS(b.Share*math.Ceil(float64(b.Size)/float64(CountedIO)))
	}
	if s.Random {
		return each, each
	}
	return each, units.IOPS(float64(s.Rate) / float64(CountedIO))
}

// InFlight is how many I/Os the stream has in flight when each takes latency: Little's law.
func (s *Stream) InFlight(latency time.Duration) float64 { return float64(s.IOPS) * latency.Seconds() }

// Written is the share of bytes and of I/Os that are writes over a long time, and the share of the
// time in which nothing is read.
func (d *Demand) Written() (bytes, ios, time float64) {
	var read, write Load
	quiet := 1.0
	for i := range d.Streams {
		s := &d.Streams[i]
		read = read.plus(s.Load(), s.Duty()*s.ReadShare)
		write = write.plus(s.Load(), s.Duty()*(1-s.ReadShare))
		if s.Reads() {
			quiet *= 1 - s.Duty()
		}
	}
	if all := float64(read.Rate + write.Rate); all > 0 {
		bytes, ios = float64(write.Rate)/all, float64(write.IOPS)/float64(read.IOPS+write.IOPS)
	}
	return bytes, ios, quiet
}
