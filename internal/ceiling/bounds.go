package ceiling

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Known says whether any limit of the hardware is known; tables then print a figure and not
// "unknown".
func (c Ceiling) Known() bool {
	return slices.ContainsFunc(c.Bounds, func(b Bound) bool { return b.Kind.hardware() })
}

func (k Kind) hardware() bool { return k != Concurrency && k != RequestedRate }

// Binding is the bound that a test of some minutes on a rested machine meets: of a resource that
// bursts, the burst; and of all resources the smallest. Nil when there is no bound at all.
func (c Ceiling) Binding() *Bound {
	return c.Least(func(b Bound) bool { return !c.outdone(b) })
}

// Hardware is Binding among what the machine and its volumes allow: neither the concurrency that
// the job brings nor the rate it asks for.
func (c Ceiling) Hardware() *Bound {
	return c.Least(func(b Bound) bool { return b.Kind.hardware() && !c.outdone(b) })
}

// Concurrency is the bound of Little's law, nil when no latency is known.
func (c *Ceiling) Concurrency() *Bound {
	if c == nil {
		return nil
	}
	return c.Of(Concurrency)
}

// Of is the least bound of a kind; nil where there is none.
func (c Ceiling) Of(k Kind) *Bound { return c.Least(func(b Bound) bool { return b.Kind == k }) }

// Unpaced says that one I/O is in flight, so that its latency sets the result, and is not known.
func (c Ceiling) Unpaced() bool { return c.InFlight == 1 && c.Concurrency() == nil }

// SelfMeasured says that a bound was made of the latency of the same result (Ceiling.Measured). It
// explains why a figure is no higher, but cannot judge it: the figure would be 100 % of it in any
// case.
func (b Bound) SelfMeasured() bool {
	return b.Kind == Concurrency && b.Origin.Kind == topology.Measured
}

// Sustained is the bound that lasts: the smallest that is no burst.
func (c Ceiling) Sustained() *Bound {
	return c.Least(func(b Bound) bool { return !b.Burst })
}

// Lasting is what Hardware comes down to when bursts are spent, of whichever resource; nil where it
// stays.
func (c Ceiling) Lasting() *Bound {
	first := c.Hardware()
	low := c.sustainedHardware()
	if first == nil || low == nil || low.IOPS <= 0 || low.IOPS >= first.IOPS*0.99 {
		return nil
	}
	return low
}

func (c Ceiling) sustainedHardware() *Bound {
	return c.Least(func(b Bound) bool { return b.Kind.hardware() && !b.Burst })
}

// Next is the bound that would bind if the binding resource were without limit: what an upgrade of
// it can buy at most. Nil when nothing else is known to bind.
func (c Ceiling) Next() *Bound {
	return c.after(c.Binding(), func(b Bound) bool { return !c.outdone(b) })
}

// SustainedNext is Next for Sustained.
func (c Ceiling) SustainedNext() *Bound {
	return c.after(c.Sustained(), func(b Bound) bool { return !b.Burst })
}

// after is the smallest bound that passes and is of another kind than the first.
func (c Ceiling) after(first *Bound, pass func(Bound) bool) *Bound {
	return c.Least(func(b Bound) bool { return first != nil && b.Kind != first.Kind && pass(b) })
}

// Least is the smallest bound that passes, nil when none does.
func (c Ceiling) Least(pass func(Bound) bool) *Bound {
	for i := range c.Bounds { // ascending
		if pass(c.Bounds[i]) {
			return &c.Bounds[i]
		}
	}
	return nil
}

// outdone says that b is the sustained limit of a resource whose burst allows more.
func (c Ceiling) outdone(b Bound) bool {
	return !b.Burst && slices.ContainsFunc(c.Bounds, func(o Bound) bool {
		return o.Burst && o.SameResource(b) && o.IOPS > b.IOPS
	})
}

// WithLatency adds the concurrency bound of Little's law: inFlight I/Os that take read or write
// each complete inFlight/latency a second, with latency the mean by the shares of reads and writes.
// inFlight 0 takes the jobs' own. A latency of 0 is unknown; without one that is needed nothing is
// added. The origin says whether the latency was measured, declared or taken from a data sheet.
func (c Ceiling) WithLatency(read, write time.Duration, inFlight int, origin topology.Origin) Ceiling {
	if inFlight <= 0 {
		inFlight = c.InFlight
	}
	if inFlight <= 0 || c.IOSize == 0 || c.ReadShare > 0 && read <= 0 || c.ReadShare < 1 && write <= 0 {
		return c
	}
	mean := c.ReadShare*read.Seconds() + (1-c.ReadShare)*write.Seconds()
	x := units.IOPS(float64(inFlight) / mean)
	how := fmt.Sprintf("%s in flight ÷ %v", text.Plural(inFlight, "I/O"), latencyText(read, write, c.ReadShare))
	// With the latency of a fuller queue the bound moves: one concurrency bound, the last given, is
	// enough.
	bounds := slices.DeleteFunc(slices.Clone(c.Bounds), func(b Bound) bool { return b.Kind == Concurrency })
	c.Bounds = sorted(append(bounds, Bound{
		Kind: Concurrency, IOPS: x, BW: units.Rate(float64(x) * float64(c.IOSize)),
		ReadIOPS: x * units.IOPS(c.ReadShare), WriteIOPS: x * units.IOPS(1-c.ReadShare),
		Capacity: float64(inFlight), Demand: mean, How: how, Origin: origin,
	}))
	return c.timed()
}

func latencyText(read, write time.Duration, share float64) string {
	switch share {
	case 1:
		return units.LatencyOf(read).String()
	case 0:
		return units.LatencyOf(write).String()
	}
	return fmt.Sprintf("(%s × %v + %s × %v)", units.Number(share), units.LatencyOf(read), units.Number(1-share),
		units.LatencyOf(write))
}

func sorted(bounds []Bound) []Bound {
	slices.SortStableFunc(bounds, func(a, b Bound) int {
		return cmp.Or(cmp.Compare(a.IOPS, b.IOPS), cmp.Compare(a.Kind, b.Kind))
	})
	return bounds
}

// Alike is the share by which two layouts may differ in the model and still be the same: less than a
// comparison of some rounds can tell.
const Alike = 0.01

// Against is what the model says of a ceiling beside that of the same work on another layout: the ratio of
// the limits that a test of some minutes meets. known is false where either has no limit, or the time of one I/O,
// which is not known, sets both.
func (c Ceiling) Against(base Ceiling) (ratio float64, known bool) {
	a, b := base.Binding(), c.Binding()
	if a == nil || b == nil || a.IOPS <= 0 || !c.Known() || !base.Known() || c.Unpaced() {
		return 1, false
	}
	return float64(b.IOPS / a.IOPS), true
}
