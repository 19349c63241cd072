package live

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const (
	atLimit       = 0.93 // of a limit: reached
	noLimit       = 1.5  // of it: what is stated is not its limit
	exceededShare = 0.05 // of the window, by the volume's own counters
	baselineLow   = 0.85 // around the baseline: the burst is spent
	baselineHigh  = 1.25
)

// most is the highest a volume gives, with its burst.
func most(v *topology.Volume) topology.Limits {
	return higher(v.Sustained, v.Burst)
}

func higher(a, b topology.Limits) topology.Limits {
	return topology.Limits{
		IOPS: max(a.IOPS, b.IOPS), Rate: max(a.Rate, b.Rate), ReadIOPS: max(a.ReadIOPS, b.ReadIOPS),
		WriteIOPS: max(a.WriteIOPS, b.WriteIOPS), ReadRate: max(a.ReadRate, b.ReadRate),
		WriteRate: max(a.WriteRate, b.WriteRate),
	}
}

// counted are a leaf's I/Os per second as the provider counts them: one of up to CountedIO once, a
// longer one for each piece of it.
func (d *device) counted() float64 {
	size := float64(256 * units.KiB)
	if d.Volume != nil && d.Volume.CountedIO > 0 {
		size = float64(d.Volume.CountedIO)
	}
	return max(d.iops(), d.bytes()/size)
}

// use is the greatest share of a limit that a leaf does; what says of which.
func (d *device) use(l topology.Limits) (share float64, what string) {
	rb, wb := float64(d.did.ReadBytes)/d.span, float64(d.did.WriteBytes)/d.span
	for _, u := range []struct {
		did, limit float64
		what       string
	}{
		{d.counted(), float64(l.IOPS), l.IOPS.String() + " IOPS"},
		{d.bytes(), float64(l.Rate), l.Rate.String()},
		{float64(d.reads().IOPS), float64(l.ReadIOPS), l.ReadIOPS.String() + " reads per second"},
		{float64(d.writes().IOPS), float64(l.WriteIOPS), l.WriteIOPS.String() + " writes per second"},
		{rb, float64(l.ReadRate), l.ReadRate.String() + " of reads"},
		{wb, float64(l.WriteRate), l.WriteRate.String() + " of writes"},
	} {
		if u.limit > 0 && u.did/u.limit > share {
			share, what = u.did/u.limit, u.what
		}
	}
	return share, what
}

// together is what the leaves of some volumes did, as one device.
func (v *view) together(of func(*topology.Volume) bool) *device {
	sum := &device{Layer: &Layer{}, span: v.span}
	for _, l := range v.leaves {
		if l.Volume == nil || !of(l.Volume) {
			continue
		}
		sum.Name, sum.Volume = cmp.Or(sum.Name, l.Name), l.Volume
		sum.did.Reads, sum.did.Writes = sum.did.Reads+l.did.Reads, sum.did.Writes+l.did.Writes
		sum.did.ReadBytes += l.did.ReadBytes
		sum.did.WriteBytes += l.did.WriteBytes
	}
	return sum
}

// volumeShare is the share of its limit that a leaf does, what says of which, and what does it: all
// volumes below the path that share its limit. Nothing where no limit is known.
func (v *view) volumeShare(l *device) (share float64, what string, did *device) {
	if l.Volume == nil {
		return 0, "", l
	}
	for _, pool := range v.Instance.Pools {
		if l.Volume.Pooled && l.Volume.Type == pool.Type {
			did = v.together(func(o *topology.Volume) bool { return o.Pooled && o.Type == pool.Type })
			share, what = did.use(pool.Limits)
			return share, what, did
		}
	}
	share, what = l.use(most(l.Volume))
	return share, what, l
}

// volumeUse is the greatest share of its limit that a leaf does.
func (v *view) volumeUse() float64 {
	greatest := 0.0
	for _, l := range v.leaves {
		share, _, _ := v.volumeShare(l)
		greatest = max(greatest, share)
	}
	return greatest
}

// carried is what volumes do together of a limit of the machine.
type carried struct {
	of    float64 // share of the limit
	limit string
	who   string // "all its volumes", or those of a type
	iops  float64
	rate  units.Rate
}

// instanceShare is that of the limit of which most is done: on volumes of one type where it has such,
// by those below the path, for others are not seen here; else on all.
func (v *view) instanceShare() carried {
	i := v.Instance
	most, uncapped := carried{}, false
	for _, l := range v.leaves {
		uncapped = uncapped || l.Volume == nil ||
			!slices.ContainsFunc(i.Caps, func(c cloud.Cap) bool { return c.For(l.Volume.Type) })
	}
	for _, c := range i.Caps {
		sum := v.together(func(o *topology.Volume) bool { return o.Network && c.For(o.Type) })
		one := carried{who: "its volumes of " + c.Name, iops: sum.iops(), rate: units.Rate(sum.bytes())}
		if one.of, one.limit = ofLimit(sum.use, c.Baseline, c.Burst); one.of > most.of {
			most = one
		}
	}
	if uncapped {
		one := carried{who: "all its volumes together", iops: v.Window.MachineIOs, rate: v.Window.MachineRate}
		if one.of, one.limit = ofLimit(v.shareOf, i.Baseline, i.Burst); one.of > most.of {
			most = one
		}
	}
	return most
}

// ofLimit is the share of a limit that is used. Above its baseline a machine spends its burst; at it, the
// burst is gone.
func ofLimit(use func(topology.Limits) (float64, string), base, burst topology.Limits) (share float64, limit string) {
	share, limit = use(higher(base, burst))
	if share >= atLimit {
		return share, limit
	}
	if low, of := use(base); low >= atLimit && low < baselineHigh {
		return low, of
	}
	return share, limit
}

func (v *view) shareOf(l topology.Limits) (share float64, limit string) {
	if l.IOPS > 0 {
		share, limit = v.Window.MachineIOs/float64(l.IOPS), l.IOPS.String()+" IOPS"
	}
	if l.Rate > 0 && float64(v.Window.MachineRate/l.Rate) > share {
		share, limit = float64(v.Window.MachineRate/l.Rate), l.Rate.String()
	}
	return share, limit
}

// exceeded is the cause where the volumes' own counters say that more was asked than a limit allows, by the one
// that says so for the longest share of the window: format gets its name, the path and that share.
func (v *view) exceeded(code finding.Code, title, limit, format string, of func(*Exceeded) time.Duration) *Cause {
	share, device := exceededShare, ""
	for _, l := range v.leaves {
		if l.Exceeded != nil && of(l.Exceeded).Seconds()/v.span >= share {
			share, device = of(l.Exceeded).Seconds()/v.span, l.Name
		}
	}
	if device == "" {
		return nil
	}
	c := cause(Certain, device, format, device, v.Path, share)
	c.Code, c.Title = code, title
	return c.saw("time above "+limit, share, "below "+text.Percent(exceededShare),
		"log page 0xD0 of "+device)
}

// instanceLimit is that of the machine for all its volumes.
func (v *view) instanceLimit() *Cause {
	if !v.slow {
		return nil
	}
	const buy = "a larger instance: plimsoll advise"
	if c := v.exceeded("PL604", "the instance's EBS limit is exceeded", "the instance's limit",
		"The instance's limit makes %[2]s slow: for %[3]v of the time, demand exceeded it.",
		func(e *Exceeded) time.Duration { return e.Instance }); c != nil {
		return c.try(buy)
	}
	full := v.instanceShare()
	if full.of < atLimit || full.of >= noLimit {
		return nil
	}
	return cause(Certain, cmp.Or(v.Instance.Type, "instance"),
		"The instance's limit makes %s slow: %s do %s IOPS and %s of the %s that it allows.", v.Path, full.who,
		units.Number(full.iops), full.rate, full.limit).
		saw("share of the instance's limit", full.of, "below "+text.Percent(atLimit),
			"/proc/diskstats of "+full.who).
		try(buy)
}

// volumeLimit is what the volumes were bought with.
func (v *view) volumeLimit() *Cause {
	if !v.slow {
		return nil
	}
	if c := v.exceeded("PL603", "the volume's limit is exceeded", "the volume's limit",
		"The limit of %s makes %s slow: for %v of the time, demand exceeded it.",
		func(e *Exceeded) time.Duration { return e.Volume }); c != nil {
		return v.buy(c)
	}
	at, which, of := 0, "", ""
	var full *device
	for _, l := range v.leaves {
		if share, what, did := v.volumeShare(l); share >= atLimit && share < noLimit {
			at, which, of, full = at+1, l.Name, what, did
		}
	}
	if at == 0 {
		return nil
	}
	who := fmt.Sprintf("%d of %d volumes do", at, len(v.leaves))
	if len(v.leaves) == 1 {
		who = which + " does"
	}
	return v.buy(cause(Certain, which, "The volumes' limit makes %s slow: %s the provisioned %s.", v.Path, who, of).
		saw(which, fmt.Sprintf("%s IOPS, %s", units.Number(full.counted()), units.Rate(full.bytes())), "below "+of,
			diskstats(which)).
		saw("I/Os that wait", units.Number(v.top.waiting()), "", diskstats(v.top.Name)))
}

// buy adds the command that says what to buy for what is done now.
func (v *view) buy(c *Cause) *Cause {
	return c.try("plimsoll workload record %s --for 10m -o demand.yaml && plimsoll advise demand.yaml", v.Path)
}

// atBaseline is whether a volume with a burst does its baseline, throughout or since its burst ended in
// this very look.
func (d *device) atBaseline() bool {
	if d.Volume == nil || d.Volume.Sustained.IOPS <= 0 || d.Volume.Burst.IOPS <= d.Volume.Sustained.IOPS {
		return false
	}
	base := float64(d.Volume.Sustained.IOPS)
	near := func(rate float64) bool { return rate > baselineLow*base && rate < baselineHigh*base }
	return near(d.counted()) || d.counted() >= baselineHigh*base && near(float64(d.did.LastIOs))
}

// burstSpent is a volume that does its baseline.
func (v *view) burstSpent() *Cause {
	if !v.slow {
		return nil
	}
	at := 0
	var one *device
	for _, l := range v.leaves {
		if l.atBaseline() {
			at, one = at+1, l
		}
	}
	if 2*at <= len(v.leaves) {
		return nil
	}
	does := one.counted()
	if one.did.LastIOs > 0 {
		does = min(does, float64(one.did.LastIOs))
	}
	c := cause(Likely, one.Name,
		"Spent burst credits make %s slow: its volumes do %s IOPS, their baseline, not the burst of %s.", v.Path,
		units.Number(does), one.Volume.Burst.IOPS).
		saw(one.Name, units.Number(does)+" IOPS", one.Volume.Burst.IOPS.String()+" with credits", diskstats(one.Name)).
		try("a volume type without credits: plimsoll advise")
	if b := one.Volume.Balance; b != nil && b.Left < 0.01 {
		c.Confidence = Certain
	}
	if one.Volume.BurstIOs > 0 {
		full := time.Duration(one.Volume.BurstIOs / float64(one.Volume.Sustained.IOPS) * float64(time.Second))
		c.Next = append(c.Next, "or leave it idle: a volume regains all its credits after "+text.Duration(full))
	}
	return c
}
