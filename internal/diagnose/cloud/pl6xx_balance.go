package cloud

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// nearlySpent is the share of its credits below which a burst is as good as over: of a gp2 volume
// of 100 GiB it is 7 minutes, of an instance 6.
const nearlySpent = 0.20

// bucket is credits that a burst draws on, and what is left of them.
type bucket struct {
	subject, who   string // "md0", "the emptiest of the 4 gp2 volumes of md0 (nvme1n1)"
	left           topology.Balance
	full           time.Duration   // how long a full one lasts at full burst, 0 for not known
	burst, lasting string          // rates: "3,000 IOPS"
	seen           finding.Finding // its evidence alone
	kinds          []ceiling.Kind  // of the bounds that it bursts
}

// lasts is how long the burst goes on at its full rate.
func (b bucket) lasts() time.Duration { return time.Duration(b.left.Left * float64(b.full)) }

// credits shows what is left of a bucket.
func (b bucket) credits(of string) finding.Finding {
	return finding.Finding{}.Saw("burst credits of "+of, text.Percent(b.left.Left)+" at "+clock(b.left.At), "",
		diagnose.Origin(b.left.Origin))
}

// emptier is for slices.MinFunc: what runs dry first.
func emptier(x, y bucket) int { return cmp.Compare(x.lasts(), y.lasts()) }

func burstBalance(c *diagnose.Case, report diagnose.Report) {
	if steady := steadyVolumes(c); len(steady) > 0 {
		report(finding.Fine(strings.Join(steady, ", "),
			"the volumes of %s have no burst credits to run out", steady))
	}
	for _, b := range buckets(c) {
		f := finding.New(b.subject, "%s", b.says()).
			Shown(b.seen.Evidence)
		need, touched := burstTime(c, b)
		short := b.full > 0 && need > b.lasts() && need <= b.full
		switch {
		case len(c.Runs) > 0 && !touched:
			continue
		case short && b.left.Left >= nearlySpent:
			f.Say("%s The run asks for more than that for %s.", f.Message, need)
		case b.left.Left < nearlySpent || short:
		case len(c.Runs) > 0:
			continue // PL406, PL601 and PL602 tell by its figures
		default:
			f.Severity = finding.Info
		}
		report(f)
	}
}

// says tells how long the burst goes on.
func (b bucket) says() string {
	head := finding.Says("%s had %v of its burst credits left at %s", sentence(b.who), b.left.Left,
		clock(b.left.At))
	switch {
	case b.left.Left == 0:
		return fmt.Sprintf("%s: it runs at %s until they fill up again, not at its burst of %s.", head, b.lasting, b.burst)
	case b.full == 0:
		return fmt.Sprintf("%s: %s is a burst, and %s is sustained.", head, b.burst, b.lasting)
	}
	return finding.Says("%s: its burst of %s lasts %s at full rate, then drops to %s; a shorter test sees only the burst.",
		head, b.burst, b.lasts(), b.lasting)
}

// burstTime is how long the runs load the storage when their own limits let them exceed the lasting
// rate; touched when any may. A run to come counts with its planned time. Runs that all did exceed
// it have had their credits, and one without a known ceiling may do anything: both need no known
// time.
func burstTime(c *diagnose.Case, b bucket) (need time.Duration, touched bool) {
	covered := true
	for _, m := range c.Runs {
		if m.Ceiling == nil || !m.Ceiling.Known() {
			touched = true
			continue
		}
		low := m.Ceiling.Least(func(x ceiling.Bound) bool { return !x.Burst && slices.Contains(b.kinds, x.Kind) })
		top := m.Ceiling.Binding()
		if low == nil || top == nil || top.IOPS <= aboveLasting*low.IOPS {
			continue
		}
		touched = true
		if m.Result == nil {
			need, covered = need+m.Scenario.Ramp+m.Scenario.Runtime, false
			continue
		}
		need, covered = need+m.Measured, covered && m.IOPS() > aboveLasting*low.IOPS
	}
	if covered {
		return 0, touched
	}
	return need, touched
}

// buckets are those that a test of these targets draws on, as far as their balance is known: of
// each array the emptiest volume, for a stripe is as fast as its slowest, and of the instance the
// emptier of its two.
func buckets(c *diagnose.Case) []bucket {
	var all []bucket
	for _, a := range c.Arrays() {
		var own []bucket
		var each finding.Finding
		for _, v := range a.Volumes {
			if b, ok := volumeBucket(v); ok {
				own, each = append(own, b), each.Shown(b.seen.Evidence)
			}
		}
		if len(own) == 0 {
			continue
		}
		b := slices.MinFunc(own, emptier)
		b.seen = each
		switch n := len(a.Volumes); {
		case len(own) < n:
			b.subject, b.who = a.Name, fmt.Sprintf("the emptiest of the %d known, of %d volumes of %s, %s,", len(own), n,
				a.Name, b.who)
		case n > 1:
			b.subject, b.who = a.Name, fmt.Sprintf("the emptiest of the %d volumes of %s, %s,", n, a.Name, b.who)
		}
		all = append(all, b)
	}
	if b, ok := instanceBucket(c); ok {
		all = append(all, b)
	}
	return all
}

// volumeBucket is the bucket of a volume that bursts, false where there is none or its balance is
// not known.
func volumeBucket(v topology.Volume) (bucket, bool) {
	if v.Balance == nil || !v.Burst.Known() {
		return bucket{}, false
	}
	name := cmp.Or(v.Device, v.ID)
	b := bucket{
		subject: name,
		who:     fmt.Sprintf("%s (%s)", name, v.Type),
		left:    *v.Balance,
		kinds:   []ceiling.Kind{ceiling.VolumeIOPS},
	}
	var how string
	if more := v.Burst.IOPS - v.Sustained.IOPS; v.BurstIOs > 0 && more > 0 {
		b.burst, b.lasting = v.Burst.IOPS.String()+" IOPS", v.Sustained.IOPS.String()+" IOPS"
		b.full = seconds(v.BurstIOs / float64(more))
		how = finding.Says("%v × %s I/Os ÷ (%s - %s IOPS)", v.Balance.Left, units.IOPS(v.BurstIOs),
			v.Burst.IOPS, v.Sustained.IOPS)
	} else if more := v.Burst.Rate - v.Sustained.Rate; v.BurstBytes > 0 && more > 0 {
		b.burst, b.lasting = v.Burst.Rate.String(), v.Sustained.Rate.String()
		b.full = seconds(float64(v.BurstBytes) / float64(more))
		b.kinds = append(b.kinds, ceiling.VolumeRate)
		how = finding.Says("%v × %s ÷ (%s - %s)", v.Balance.Left, v.BurstBytes, v.Burst.Rate, v.Sustained.Rate)
	} else {
		return bucket{}, false
	}
	b.seen = b.credits(name).
		Saw("the burst of "+name+" lasts", b.lasts(), "", how+"; "+diagnose.Origin(v.Origin))
	return b, true
}

// instanceBucket is the emptier of the instance's two that the volumes can draw on.
func instanceBucket(c *diagnose.Case) (bucket, bool) {
	if c.Topology == nil {
		return bucket{}, false
	}
	i := c.Topology.Instance
	iops, rate := exceeds(c)
	var own []bucket
	add := func(left *topology.Balance, reached bool, what, burst, lasting string, kind ceiling.Kind) {
		if left == nil || !reached {
			return
		}
		who := cmp.Or(i.Type, "the instance")
		b := bucket{
			subject: who, who: who, left: *left, full: i.BurstFor, burst: burst, lasting: lasting, kinds: []ceiling.Kind{kind},
		}
		if b.seen = b.credits(who + ", " + what); b.full > 0 {
			b.seen = b.seen.Saw("its burst lasts", b.lasts(), "", finding.Says("%v × %s of a full bucket; %s",
				left.Left, b.full, diagnose.Origin(i.Origin)))
		}
		own = append(own, b)
	}
	add(i.IOBalance, iops, "I/Os", i.Burst.IOPS.String()+" IOPS", i.Baseline.IOPS.String()+" IOPS", ceiling.InstanceIOPS)
	add(i.RateBalance, rate, "throughput", i.Burst.Rate.SI(), i.Baseline.Rate.SI(), ceiling.InstanceRate)
	if len(own) == 0 {
		return bucket{}, false
	}
	b := slices.MinFunc(own, emptier)
	if len(own) == 2 {
		b.seen = own[0].seen.Shown(own[1].seen.Evidence)
	}
	return b, true
}

// exceeds says whether the network volumes under test together may exceed what the instance
// sustains, where it bursts above that. One whose limit is not known may.
func exceeds(c *diagnose.Case) (iops, rate bool) {
	i := c.Topology.Instance
	var sum topology.Limits
	seen := map[string]bool{}
	for _, a := range c.Arrays() {
		for _, v := range a.Volumes {
			if !v.Network || v.Missing || v.Device != "" && seen[v.Device] {
				continue
			}
			seen[v.Device] = true
			sum.IOPS += cmp.Or(max(v.Sustained.IOPS, v.Burst.IOPS), i.Burst.IOPS)
			sum.Rate += cmp.Or(max(v.Sustained.Rate, v.Burst.Rate), i.Burst.Rate)
		}
	}
	return min(i.Burst.IOPS, sum.IOPS) > i.Baseline.IOPS, min(i.Burst.Rate, sum.Rate) > i.Baseline.Rate
}

// steadyVolumes names the arrays of network volumes whose limits are all known and none a burst,
// neither their own nor the instance's.
func steadyVolumes(c *diagnose.Case) []string {
	if c.Topology == nil || c.Topology.Instance.Type != "" && !c.Topology.Instance.Known() {
		return nil
	}
	if iops, rate := exceeds(c); iops || rate {
		return nil
	}
	var names []string
	for _, a := range c.Arrays() {
		bursts := func(v topology.Volume) bool { return !v.Network || !v.Sustained.Known() || v.Burst.Known() }
		if len(a.Volumes) > 0 && !slices.ContainsFunc(a.Volumes, bursts) {
			names = append(names, a.Name)
		}
	}
	return names
}

// sentence begins with a capital letter, unless that is a device's name.
func sentence(s string) string {
	if rest, ok := strings.CutPrefix(s, "the "); ok {
		return "The " + rest
	}
	return s
}

// clock is a time of day, for what is minutes old.
func clock(t time.Time) string { return t.UTC().Format("15:04 UTC") }

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
