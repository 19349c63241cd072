package advise

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Claim is a figure that somebody states of a machine or a layout: "40000 IOPS", "1250 MB/s",
// "60000 IOPS of 8KiB".
type Claim struct {
	Text  string      `json:"text"`
	IOPS  units.IOPS  `json:"iops,omitempty"`
	Rate  units.Rate  `json:"rate,omitempty"`
	Block units.Bytes `json:"block"`
}

// Blocks that AWS states instance limits for, where a claim names none.
const (
	claimedIO   = 16 * units.KiB
	claimedRate = 128 * units.KiB
)

// ParseClaim reads a figure with its unit, and the size of an I/O if it is stated.
func ParseClaim(s string) (Claim, error) {
	c := Claim{Text: strings.TrimSpace(s)}
	figure, size, sized := strings.Cut(c.Text, " of ")
	figure = strings.TrimSpace(figure)
	var err error
	if ops, ok := strings.CutSuffix(strings.ToLower(figure), "iops"); ok {
		c.IOPS, err = units.ParseIOPS(strings.TrimSpace(ops))
		c.Block = claimedIO
	} else {
		c.Rate, err = units.ParseRate(figure)
		c.Block = claimedRate
		if strings.Trim(figure, "0123456789.,") == "" {
			err = errors.New("a unit is missing")
		}
	}
	if err != nil || c.IOPS <= 0 && c.Rate <= 0 {
		return c, fmt.Errorf("claim %s: want a figure with its unit, such as 40000 IOPS, 1250MB/s or \"60000 IOPS of 8KiB\"",
			text.Quote(s))
	}
	if sized {
		if c.Block, err = units.ParseBytes(strings.TrimSpace(size)); err != nil || c.Block == 0 {
			return c, fmt.Errorf("claim %s: the size of an I/O cannot be read; want such as 8KiB", text.Quote(s))
		}
	}
	return c, nil
}

// ClaimVerdict is what becomes of a claim.
type ClaimVerdict struct {
	Claim Claim `json:"claim"`
	// Holds at all; Sustained without end; BurstFor for that long, where it is a burst's.
	Holds     bool          `json:"holds"`
	Sustained bool          `json:"sustained"`
	BurstFor  time.Duration `json:"burst_for,omitempty"`
	BurstPer  time.Duration `json:"burst_per,omitempty"`
	// Burst is the bound of the resource whose burst it is.
	Burst *ceiling.Bound `json:"burst,omitempty"`
	Most  *ceiling.Bound `json:"most,omitempty"`  // what a short test meets
	Lasts *ceiling.Bound `json:"lasts,omitempty"` // what is sustained
	// Since is from when on the instance type had it; Before what it had then.
	Since string   `json:"since,omitempty"`
	Lines []string `json:"lines"`
}

// of is the claim's figure of a bound.
func (c Claim) of(b *ceiling.Bound) float64 {
	if c.IOPS > 0 {
		return float64(b.IOPS)
	}
	return float64(b.BW)
}

func (c Claim) figure() float64 {
	if c.IOPS > 0 {
		return float64(c.IOPS)
	}
	return float64(c.Rate)
}

// print is a bound's figure in the claim's unit.
func (c Claim) print(b *ceiling.Bound) string {
	if c.IOPS > 0 {
		return b.IOPS.String() + " IOPS"
	}
	return fmt.Sprintf("%v (%s)", b.BW, b.BW.SI())
}

// Check holds a claim against the ceilings of a layout: those of random reads of its size with a
// deep queue, where a layout has volumes also of writes, if the claim holds for reads alone.
func (c Claim) Check(t *topology.Topology) ClaimVerdict {
	v := ClaimVerdict{Claim: c}
	load := fio.Workload{Engine: "libaio", Direct: true, ReadShare: 1, ReadBS: c.Block, Jobs: 16, Depth: 64}
	reads := ceiling.Of(t, topology.Data, []fio.Workload{load})
	v.Most, v.Lasts = reads.Binding(), reads.Sustained()
	say := func(format string, a ...any) { v.Lines = append(v.Lines, fmt.Sprintf(format, a...)) }
	if v.Most == nil {
		say("Nothing is known of it: name --instance, --volumes or both.")
		return v
	}
	const rounding = 0.999 // 1,250 MB/s and 10 Gbit/s alike
	v.Holds = c.of(v.Most) >= c.figure()*rounding
	v.Sustained = v.Lasts != nil && c.of(v.Lasts) >= c.figure()*rounding
	alone, yes := volumesAlone(t), "Yes, "
	if alone {
		yes = "As far as the volumes go: yes, "
	}
	switch {
	case !v.Holds:
		say("No: the storage reaches %s of %v reads, limited by %s (%s).", c.print(v.Most), c.Block, v.Most.Label(),
			v.Most.How)
	case v.Sustained:
		say(yes+"sustained: %s allows %s of %v reads.", v.Lasts.Label(), c.print(v.Lasts), c.Block)
	default:
		v.burst(t, load)
		long := "for a time that is not known"
		if v.BurstFor > 0 {
			long = "for " + text.Duration(v.BurstFor)
			if v.BurstPer > 0 {
				long += " once in " + text.Duration(v.BurstPer)
			}
		}
		say(yes+"but only %s: it is a burst of %s (%s).", long, v.Burst.Kind, v.Burst.How)
	}
	if v.Lasts != nil && !v.Sustained {
		say("Sustained it is %s, %s of the claim, limited by %s.", c.print(v.Lasts), text.Percent(c.of(v.Lasts)/c.figure()),
			v.Lasts.Label())
	}
	if v.Holds && len(t.Arrays) > 0 {
		load.ReadShare, load.ReadBS, load.WriteBS = 0, 0, c.Block
		if w := ceiling.Of(t, topology.Data, []fio.Workload{load}).
			Binding(); w != nil &&
			c.of(w) < c.figure()*rounding {
			say("For writes it does not hold: they reach %s, limited by %s (%s).", c.print(w), w.Label(), w.How)
		}
	}
	if v.Holds && alone {
		say("What the instance allows is not known, and may be less: name it with --instance.")
	}
	v.history(t.Instance.Type)
	return v
}

// volumesAlone says that volumes are on the network of an instance of which nothing is known.
func volumesAlone(t *topology.Topology) bool {
	onNetwork := func(a topology.Array) bool {
		return slices.ContainsFunc(a.Volumes, func(v topology.Volume) bool { return v.Network })
	}
	return !t.Instance.Known() && slices.ContainsFunc(t.Arrays, onNetwork)
}

// burst finds whose burst carries a claim, and how long it lasts at the rate that is claimed.
func (v *ClaimVerdict) burst(t *topology.Topology, load fio.Workload) {
	jobs := float64(load.Jobs)
	load.ReadIOPS, load.ReadRate = v.Claim.IOPS/units.IOPS(jobs), v.Claim.Rate/units.Rate(jobs)
	c := ceiling.Of(t, topology.Data, []fio.Workload{load})
	v.Burst = v.Most
	steps := c.Course()
	if len(steps) < 2 {
		if b := c.Least(func(b ceiling.Bound) bool { return b.Burst }); b != nil {
			v.Burst = b // of which it is not known how long it lasts
		}
		return
	}
	v.BurstFor = steps[0].Until
	if b := c.Least(func(b ceiling.Bound) bool { return b.Burst && b.BurstFor == v.BurstFor }); b != nil {
		v.Burst = b
	}
	if v.Burst.Kind == ceiling.InstanceIOPS || v.Burst.Kind == ceiling.InstanceRate {
		v.BurstPer = t.Instance.BurstPer
	}
}

// history says since when an instance type has published what the claim states.
func (v *ClaimVerdict) history(typ string) {
	f, ok := cloud.InstanceLimits(typ)
	if !ok {
		return
	}
	c := v.Claim
	most := func(l, base cloud.Limits) float64 {
		if c.IOPS > 0 {
			return math.Max(float64(l.IOPS), float64(base.IOPS))
		}
		return math.Max(float64(l.Rate), float64(base.Rate))
	}
	if most(f.Burst, f.Baseline) < c.figure()*0.999 {
		return
	}
	last, first := -1, ""
	date := func(s string) string { return strings.TrimSuffix(s, "<") } // "<": earlier than that
	for i, change := range f.Changes {
		if most(change.Burst, change.Baseline) < c.figure()*0.999 {
			last, first = i, ""
		} else if first == "" {
			first = date(change.From)
		}
	}
	switch {
	case last < 0 && len(f.Changes) > 0:
		v.Since = "at least " + first
	case last >= 0 && first != "":
		v.Since = fmt.Sprintf("a day between %s and %s", date(f.Changes[last].To), first)
	case last >= 0:
		v.Since = fmt.Sprintf("a day after %s", date(f.Changes[last].To))
	default:
		v.Lines = append(v.Lines,
			fmt.Sprintf("It is not known since when AWS has published this for %s; the catalogue is of %s.", typ, f.AsOf))
		return
	}
	line := fmt.Sprintf("AWS has published it for %s since %s", typ, v.Since)
	if last >= 0 {
		was := f.Changes[last].Burst
		figure := was.IOPS.String() + " IOPS"
		if c.Rate > 0 {
			figure = was.Rate.SI()
		}
		line += fmt.Sprintf("; before it was %s", figure)
	}
	v.Lines = append(v.Lines, line+".")
}
