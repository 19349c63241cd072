package workload

import (
	"math"
	"slices"
	"time"

	"plimsoll/internal/stats"
	"plimsoll/internal/units"
)

// Observed is what one device did, interval by interval, as counters or another program's log tell
// it.
type Observed struct {
	Device    string
	Intervals []Interval
	// Start is when the first interval began, zero where that was not recorded.
	Start time.Time
	// Known says that Intervals have lengths that were measured; else they are those usual for the
	// source.
	Known bool
	// Depth is how many requests were in flight at once in nine of ten readings that found any:
	// what the application keeps outstanding. Their mean is less, for it waits between the answer
	// to one and asking for the next. 0 where it was not read.
	Depth float64
	// Merged is the share of requests that the kernel had merged with a neighbour before the device
	// saw them.
	Merged float64
	Notes  []string
}

// Interval is a stretch of time on a device. Rates are per second.
type Interval struct {
	At          time.Duration // of its end, since the first one began
	Len         time.Duration
	Read, Write Flow
	Flushes     float64 // per second
	FlushWait   time.Duration
	Discards    float64 // per second
	DiscardWait time.Duration
	Queue       float64 // mean number of requests in flight; 0 where it was not recorded
	Util        float64 // 0..1
}

// Flow is one direction in an interval.
type Flow struct {
	IOPS float64
	Rate float64       // bytes per second
	Wait time.Duration // mean time of a request, queue included; 0 where it was not recorded
}

func (f *Flow) load() Load { return Load{units.IOPS(f.IOPS), units.Rate(f.Rate)} }

// Seen is what was found out about one direction of a device.
type Seen struct {
	Device string      `json:"device"`
	Read   bool        `json:"read"`
	Mean   Load        `json:"mean"`
	P99    Load        `json:"p99"` // of the intervals
	Block  units.Bytes `json:"block"`
	// Wait is the mean time of a request, InFlight their mean number; 0 where not recorded.
	Wait     units.Latency `json:"wait,omitempty"`
	InFlight float64       `json:"in_flight,omitempty"`
	// Flushes are how often the device was asked to make writes durable, of writes.
	Flushes float64 `json:"flushes_per_s,omitempty"`
	// Depth is this direction's part of Observed.Depth.
	Depth float64 `json:"depth,omitempty"`
	// Largest means over these times; those longer than what was watched are absent.
	Largest []Window `json:"largest"`
	// Burst is the pattern found, nil for none. Base is the rate outside of it.
	Burst *Burst `json:"burst,omitempty"`
	Base  Load   `json:"base"`
	Top   Load   `json:"top"` // mean within bursts
	// Full is the share of time in which the device seemed full: at its largest rate with a growing
	// queue.
	Full float64 `json:"full,omitempty"`
}

// Window is the largest mean over a time.
type Window struct {
	Len  time.Duration `json:"len"`
	Load Load          `json:"load"`
}

// windows are the times that matter: EC2 instances burst for half an hour.
var windows = []time.Duration{time.Second, 10 * time.Second, time.Minute, 30 * time.Minute}

// negligible is the share of a device's I/Os, and of its bytes, below which a direction is left
// out.
const negligible = 0.002

// See works out what each direction of each device did. Directions that hardly ran are left out.
func See(all []Observed) (seen []Seen) {
	for i := range all {
		o := &all[i]
		for _, read := range []bool{true, false} {
			if s, ok := o.see(read); ok {
				seen = append(seen, s)
			}
		}
	}
	return seen
}

// Flow is one direction of an interval.
func (i *Interval) Flow(read bool) *Flow {
	if read {
		return &i.Read
	}
	return &i.Write
}

func (o *Observed) see(read bool) (Seen, bool) {
	s := Seen{Device: o.Device, Read: read}
	var own, other Load
	var wait, otherWait, length float64
	for k := range o.Intervals {
		iv := &o.Intervals[k]
		t, f, g := iv.Len.Seconds(), iv.Flow(read), iv.Flow(!read)
		own, other = own.plus(f.load(), t), other.plus(g.load(), t)
		wait += f.Wait.Seconds() * f.IOPS * t
		s.Flushes += iv.Flushes * t
		otherWait += g.Wait.Seconds() * g.IOPS * t
		length += t
	}
	if length <= 0 || own.IOPS <= 0 || own.Rate <= 0 ||
		own.IOPS < negligible*(own.IOPS+other.IOPS) && own.Rate < negligible*(own.Rate+other.Rate) {
		return s, false
	}
	ios := float64(own.IOPS)
	if s.Flushes /= length; read {
		s.Flushes = 0
	}
	s.Mean = own.over(length)
	s.Block = blockOf(float64(own.Rate) / ios)
	s.Wait = units.LatencyOf(time.Duration(wait / ios * float64(time.Second)))
	s.InFlight = wait / length // Little: time spent by all requests, over the time watched
	s.P99 = Load{
		units.IOPS(o.p99(func(i *Interval) float64 { return i.Flow(read).IOPS })),
		units.Rate(o.p99(func(i *Interval) float64 { return i.Flow(read).Rate })),
	}
	for _, w := range windows {
		if l, ok := o.largest(w, read); ok {
			s.Largest = append(s.Largest, Window{w, l})
		}
	}
	if sum := wait + otherWait; sum > 0 {
		s.Depth = o.Depth * wait / sum
	}
	s.Base, s.Top = s.Mean, s.Mean
	o.bursts(&s)
	s.Full = o.full(read)
	return s, true
}

// blockOf is a mean size as a whole number of sectors; one within 2 % of a power of two is that.
func blockOf(mean float64) units.Bytes {
	if mean < 512 {
		return 512
	}
	power := math.Pow(2, math.Round(math.Log2(mean)))
	if math.Abs(mean/power-1) <= 0.02 && power <= float64(units.GiB) {
		return units.Bytes(power)
	}
	return min(units.Bytes(math.Round(min(mean, float64(units.GiB))/512))*512, units.GiB)
}

// p99 is what a figure is at most in 99 of 100 intervals, those of equal length alike.
func (o *Observed) p99(of func(*Interval) float64) float64 {
	var v []float64
	for i := range o.Intervals {
		v = append(v, of(&o.Intervals[i]))
	}
	slices.Sort(v)
	return v[int(math.Ceil(0.99*float64(len(v))))-1]
}

// largest mean over a window, to half an interval, as none is exactly a second long; false when
// fewer than that was watched, or an interval is longer.
func (o *Observed) largest(window time.Duration, read bool) (Load, bool) {
	var best, sum Load
	from, found, length := 0, false, 0.0
	for k := range o.Intervals {
		iv := &o.Intervals[k]
		t := iv.Len.Seconds()
		length, sum = length+t, sum.plus(iv.Flow(read).load(), t)
		for from < k {
			first := o.Intervals[from].Len.Seconds()
			if length-first < window.Seconds()-t/2 {
				break
			}
			length, sum = length-first, sum.plus(o.Intervals[from].Flow(read).load(), -first)
			from++
		}
		if length >= window.Seconds()-t/2 && length <= window.Seconds()*2.01 {
			found = true
			best = best.most(sum.over(length))
		}
	}
	return best, found
}

const (
	leastBursts     = 3
	leastDaily      = 2 // of those that last for minutes, hours apart
	leastBurst      = 2 * time.Second
	burstOverSteady = 2.0
)

// bursts looks for a direction that is busy at times and quiet between: bytes are split where that
// parts them best (Otsu), and what comes at least three times, for two seconds or more, at twice
// the rate or more, is a burst; of those that last for minutes and come hours apart, as nightly ones
// do, two suffice.
func (o *Observed) bursts(s *Seen) {
	rates := make([]float64, len(o.Intervals))
	for i := range o.Intervals {
		rates[i] = o.Intervals[i].Flow(s.Read).Rate
	}
	split, ok := otsu(rates)
	if !ok {
		return
	}
	type stretch struct{ from, to int }
	var high []stretch
	for i, r := range rates {
		switch {
		case r <= split:
		case len(high) > 0 && high[len(high)-1].to == i:
			high[len(high)-1].to++
		default:
			high = append(high, stretch{i, i + 1})
		}
	}
	var top, base Load
	var inTop, inBase float64
	k := 0
	for i := range o.Intervals {
		for k < len(high) && high[k].to <= i {
			k++
		}
		f, t := o.Intervals[i].Flow(s.Read), o.Intervals[i].Len.Seconds()
		if k < len(high) && high[k].from <= i {
			top, inTop = top.plus(f.load(), t), inTop+t
		} else {
			base, inBase = base.plus(f.load(), t), inBase+t
		}
	}
	if len(high) < leastDaily || inTop == 0 || inBase == 0 {
		return
	}
	top, base = Load{}.plus(top, 1/inTop), Load{}.plus(base, 1/inBase)
	var lengths, starts []float64
	for i, h := range high {
		if h.from == 0 || h.to == len(rates) { // cut by the ends of what was watched
			continue
		}
		lengths = append(lengths, o.length(h.from, h.to))
		if i > 0 {
			starts = append(starts, o.length(high[i-1].from, h.from))
		}
	}
	if len(lengths) == 0 || len(starts) == 0 || float64(top.Rate) < burstOverSteady*float64(base.Rate) {
		return
	}
	b := &Burst{For: seconds64(stats.Median(lengths)), Every: seconds64(stats.Median(starts))}
	if b.For < leastBurst || b.Every <= b.For {
		return
	}
	if len(high) < leastBursts && (b.For < time.Minute || b.Every < time.Hour) {
		return
	}
	s.Burst, s.Top, s.Base = b, top, base
}

func (o *Observed) length(from, to int) float64 {
	sum := 0.0
	for _, i := range o.Intervals[from:to] {
		sum += i.Len.Seconds()
	}
	return sum
}

func seconds64(v float64) time.Duration { return round(time.Duration(v * float64(time.Second))) }

// otsu is the threshold that parts values into two groups with the least spread within each; false
// when they do not differ.
func otsu(values []float64) (float64, bool) {
	v := slices.Clone(values)
	slices.Sort(v)
	if len(v) < 6 || v[len(v)-1] <= v[0] {
		return 0, false
	}
	total := 0.0
	for _, x := range v {
		total += x
	}
	best, at, sum := -1.0, 0.0, 0.0
	for i := range len(v) - 1 {
		sum += v[i]
		if v[i+1] == v[i] {
			continue
		}
		n, m := float64(i+1), float64(len(v)-i-1)
		d := sum/n - (total-sum)/m
		if between := n * m * d * d; between > best {
			best, at = between, (v[i]+v[i+1])/2
		}
	}
	return at, true
}

// full is the share of time in which a direction seems to be held by its device: busy throughout with several
// requests in flight, or near its largest rate, with requests that take several times as long as when it is at
// ease. What was asked for then is not known, only what was given.
func (o *Observed) full(read bool) float64 {
	var waits []float64
	most := 0.0
	for i := range o.Intervals {
		f := o.Intervals[i].Flow(read)
		if f.IOPS > 0 && f.Wait > 0 {
			waits = append(waits, f.Wait.Seconds())
			most = max(most, f.Rate)
		}
	}
	atEase := math.Inf(1)
	if slices.Sort(waits); len(waits) >= 5 {
		atEase = waits[len(waits)/10]
	}
	full, all := 0.0, 0.0
	for i := range o.Intervals {
		f, t := o.Intervals[i].Flow(read), o.Intervals[i].Len.Seconds()
		all += t
		if i := &o.Intervals[i]; f.IOPS > 0 && (i.Util >= 0.99 && i.Queue >= 4 || i.Util >= 0.95 && i.Queue >= 16) {
			full += t
		} else if f.Rate >= 0.9*most && f.Wait.Seconds() >= 3*atEase && f.IOPS*f.Wait.Seconds() >= 4 {
			full += t
		}
	}
	return full / max(all, 1e-9)
}
