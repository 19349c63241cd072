package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// fullShare is from which share of the time on a device is said to have been full.
const fullShare = 0.05

// Derive makes a demand of what was seen. A direction that bursts becomes a steady stream and one
// that bursts; any other one stream at the 99th percentile of its intervals' rates. The requests in
// flight become threads. Counters do not tell whether I/O is sequential: it counts as random, which
// asks more of the storage.
func Derive(name string, all []Observed) (*Demand, []Seen, error) {
	seen := See(all)
	if len(seen) == 0 {
		var devices []string
		for _, o := range all {
			devices = append(devices, o.Device)
		}
		return nil, nil, fmt.Errorf("there was no I/O on %s", text.Some(devices, 3))
	}
	d := &Demand{Name: name, Role: "data"}
	for _, o := range all {
		for _, n := range o.Notes {
			d.note("%s", n)
		}
		if o.Merged > 0.5 {
			d.note("%s: %s of its requests were merged with neighbours: it may be sequential", o.Device, text.Percent(o.Merged))
		}
	}
	for _, s := range seen {
		if s.Full >= fullShare {
			d.AtLeast = append(d.AtLeast,
				fmt.Sprintf("%s of %s queued at its largest rate for %s of the time", s.verb()+"s", s.Device, text.Percent(s.Full)))
		}
		if s.Burst == nil && s.P99.Rate >= burstOverSteady*s.Mean.Rate {
			d.note("%ss of %s: the rate is what 99 of 100 intervals stay below, %s times the mean of %v: what comes in shorter "+
				"bursts is not a separate stream", s.verb(), s.Device, units.Number(float64(s.P99.Rate/s.Mean.Rate)), s.Mean.Rate)
		}
		if s.synced() {
			d.note("%ss of %s: %s flushes per second; fdatasync is assumed, fsync and O_DSYNC look alike", s.verb(), s.Device,
				units.Number(s.Flushes))
		}
		d.Streams = append(d.Streams, s.streams(len(all) > 1)...)
	}
	d.note("sequential or random was not recorded: random is assumed")
	return d, seen, nil
}

func (s *Seen) verb() string {
	if s.Read {
		return "read"
	}
	return "write"
}

// syncedShare of its writes are flushes where a program waits for them to be durable: a filesystem's log, which
// is written every few seconds, makes fewer.
const syncedShare = 0.05

func (s *Seen) synced() bool { return s.Flushes > 0 && s.Flushes >= syncedShare*float64(s.Mean.IOPS) }

func (s *Seen) streams(many bool) []Stream {
	name := s.verb()
	if many {
		name = PlainName(s.Device) + "-" + name
	}
	share := 0.0
	if s.Read {
		share = 1
	}
	one := Stream{
		Name: name, Random: true, ReadShare: share, Blocks: []Block{{s.Block, 1}},
		Threads: int(math.Round(max(s.Depth, s.InFlight))),
	}
	if s.synced() {
		one.Sync = Sync{"fdatasync", max(1, int(math.Round(float64(s.Mean.IOPS)/s.Flushes)))}
	}
	set := func(st *Stream, l Load) {
		st.IOPS = units.IOPS(significant(float64(l.Rate) / float64(s.Block)))
		st.Rate = units.Rate(float64(st.IOPS) * float64(s.Block))
	}
	if s.Burst == nil {
		set(&one, Load{Rate: max(s.P99.Rate, s.Mean.Rate)})
		return []Stream{one}
	}
	burst := one
	burst.Name = name + "-burst"
	burst.Burst = s.Burst
	set(&burst, Load{Rate: s.Top.Rate - s.Base.Rate})
	// Requests in flight gather in the bursts.
	burst.Threads = int(math.Round(max(s.Depth, s.InFlight/max(burst.Duty(), 0.001))))
	if s.Base.Rate < 0.001*s.Top.Rate {
		return []Stream{burst}
	}
	set(&one, s.Base)
	one.Threads = 0
	return []Stream{one, burst}
}

// significant rounds to five digits, more than a figure that was watched has.
func significant(v float64) float64 {
	if v <= 0 {
		return v
	}
	scale := math.Pow(10, 4-math.Floor(math.Log10(v)))
	if rounded := math.Round(v*scale) / scale; rounded > 0 && !math.IsInf(rounded, 0) {
		return rounded
	}
	return v
}

// PlainRune leaves what a name of a stream or a variant may have, and is a hyphen for the rest.
func PlainRune(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
		return r
	}
	return '-'
}

// PlainName is a device's name as demands and streams may have it.
func PlainName(name string) string {
	s := strings.Map(PlainRune, name)
	s = s[:min(len(s), 40)]
	if s == "" || s[0] == '-' {
		s = "d" + s
	}
	return s
}

// Gather sums the volumes of an array into one device: mirrored writes are divided by the copies.
// Intervals are those of the first; the others must have as many.
func Gather(name string, copies int, parts []Observed) (Observed, error) {
	if len(parts) == 0 {
		return Observed{}, fmt.Errorf("%s has no volumes", name)
	}
	first := &parts[0]
	sum := Observed{
		Device: name, Known: first.Known, Start: first.Start, Intervals: slices.Clone(first.Intervals),
	}
	for i := range sum.Intervals {
		all := &sum.Intervals[i]
		all.Read, all.Write = Flow{}, Flow{}
	}
	for _, p := range parts {
		if len(p.Intervals) != len(sum.Intervals) {
			return sum, fmt.Errorf("%s: %s has %d intervals, %s %d: they cannot be added", name, p.Device, len(p.Intervals),
				parts[0].Device, len(sum.Intervals))
		}
		sum.Notes = append(sum.Notes, p.Notes...)
		for i, iv := range p.Intervals {
			all := &sum.Intervals[i]
			all.Read.add(iv.Read, 1)
			all.Write.add(iv.Write, 1/float64(max(copies, 1)))
		}
	}
	return sum, nil
}

// add takes a part of another flow in; waits are means by I/Os.
func (f *Flow) add(o Flow, part float64) {
	ios := o.IOPS * part
	if all := f.IOPS + ios; all > 0 {
		f.Wait = time.Duration((float64(f.Wait)*f.IOPS + float64(o.Wait)*ios) / all)
	}
	f.IOPS += ios
	f.Rate += o.Rate * part
}

// usual is the median of the lengths between points in time, 0 for none.
func usual(gaps []time.Duration) time.Duration {
	gaps = slices.DeleteFunc(slices.Clone(gaps), func(d time.Duration) bool { return d <= 0 })
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}
