package advise

import (
	"cmp"
	"errors"
	"fmt"
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
	Text string     `json:"text"`
	IOPS units.IOPS `json:"iops,omitempty"`
	Rate units.Rate `json:"rate,omitempty"`
	// Block is the size of an I/O: as stated, or the one that the vendor of the storage states its figure for.
	Block units.Bytes `json:"block"`
	// Writes says that the claim is about writes, Reads about reads; else reads are judged, and writes too.
	Reads  bool `json:"reads,omitempty"`
	Writes bool `json:"writes,omitempty"`
	// More is the share by which a machine type is said to give more than before, of "+60 %".
	More float64 `json:"more,omitempty"`
}

// ParseClaim reads a figure with its unit, and the size and the direction of an I/O if they are stated:
// "12000 IOPS of 8KiB writes".
func ParseClaim(s string) (Claim, error) {
	c := Claim{Text: strings.TrimSpace(s)}
	if more, ok := strings.CutPrefix(c.Text, "+"); ok {
		share, err := units.ParsePercent(strings.ReplaceAll(more, " ", ""))
		if c.More = share; err != nil || share <= 0 {
			return c, fmt.Errorf("claim %s: want the increase over a machine type's earlier limits, such as \"+60 "+
				"%%\"", text.Quote(s))
		}
		return c, nil
	}
	figure, size, sized := strings.Cut(c.Text, " of ")
	last := &figure // the part that a direction may end
	if sized {
		last = &size
	}
	for word, is := range map[string]*bool{"reads": &c.Reads, "writes": &c.Writes} {
		if rest, ok := strings.CutSuffix(*last, " "+word); ok {
			*last, *is = rest, true
		}
	}
	var err error
	figure = strings.TrimSpace(figure)
	if ops, ok := strings.CutSuffix(strings.ToLower(figure), "iops"); ok {
		c.IOPS, err = units.ParseIOPS(strings.TrimSpace(ops))
	} else if c.Rate, err = units.ParseRate(figure); strings.Trim(figure, "0123456789.,") == "" {
		err = errors.New("a unit is missing")
	}
	if err != nil || c.figure() <= 0 {
		return c, fmt.Errorf("claim %s: want a figure with its unit, such as 40000 IOPS, 1250MB/s or \"60000 IOPS of 8KiB\"",
			text.Quote(s))
	}
	if c.Block, err = units.ParseBytes(strings.TrimSpace(size)); sized && (err != nil || c.Block == 0) {
		return c, fmt.Errorf("claim %s: the size of an I/O cannot be read; want one such as 8KiB", text.Quote(s))
	}
	return c, nil
}

// statedFor is the I/O that a vendor states such a figure for: EC2 16 KiB for IOPS and 128 KiB for
// throughput over its network, streams of 1 MiB for hard disks; everybody 4 KiB for IOPS of drives, and
// Azure and Google for those of their disks, whose throughput is reached from 256 KiB on.
func (c Claim) statedFor(t *topology.Topology) fio.Workload {
	w := fio.Workload{Engine: "libaio", Direct: true, ReadShare: 1, ReadBS: c.Block, Jobs: 16, Depth: 64}
	ebs := t.Instance.Cloud == "" && !some(t, func(v topology.Volume) bool {
		typ, known := cloud.TypeNamed(v.Type)
		return !v.Network || known && !typ.EBS()
	})
	switch {
	case c.Block > 0:
	case some(t, func(v topology.Volume) bool { typ, _ := cloud.TypeNamed(v.Type); return typ.HDD != nil }):
		w.ReadBS, w.Sequential = units.MiB, true
	case ebs && c.IOPS > 0:
		w.ReadBS = 16 * units.KiB
	case ebs:
		w.ReadBS = 128 * units.KiB
	case c.IOPS > 0:
		w.ReadBS = 4 * units.KiB
	default:
		w.ReadBS = 256 * units.KiB
	}
	return w
}

// reading is one storage that a claim may be about.
type reading struct {
	of string // "its own drives"
	t  *topology.Topology
}

// readings are what a claim may be about: the volumes that are declared, or of a machine alone what it
// allows each kind of volume, and its own drives.
func readings(t *topology.Topology) []reading {
	f, ok := cloud.InstanceLimits(t.Instance.Type)
	if len(t.Arrays) > 0 || !ok {
		return []reading{{"the volumes", t}}
	}
	var all []reading
	if p := cloud.Named(f.Vendor); t.Instance.Baseline.Known() || p == nil {
		name := "its network volumes"
		if p != nil {
			name = p.Terms().Volumes
		}
		all = append(all, reading{name, t})
	}
	for _, c := range t.Instance.Caps {
		if !c.Cache && len(c.Types) > 0 {
			typ, _ := cloud.TypeNamed(c.Types[0])
			v := topology.Volume{Type: typ.Type, Network: true, CountedIO: typ.Counted, Merges: typ.Merges}
			one := *t
			one.Arrays = []topology.Array{{Name: c.Name, Level: topology.Single, Volumes: []topology.Volume{v}}}
			all = append(all, reading{c.Name, &one})
		}
	}
	if n := f.Local.Count; n > 0 && f.Local.Limits.Known() && !f.Local.Temp {
		level := topology.RAID0
		if n == 1 {
			level = topology.Single
		}
		d, err := topology.FromFlags(fmt.Sprintf("%d x nvme", n), string(level), "", f.Type)
		if err == nil {
			var own *topology.Topology
			if own, err = topology.FromDeclaration(d); err == nil {
				own.Instance = t.Instance
				all = append(all, reading{"its own " + text.Plural(n, "drive"), own})
			}
		}
	}
	return all
}

// ClaimVerdict is what becomes of a claim.
type ClaimVerdict struct {
	Claim Claim `json:"claim"`
	// Storage is what the claim was judged of, Others what else the machine has that it could be about.
	Storage string   `json:"storage,omitempty"`
	Others  []string `json:"others,omitempty"`
	// Holds at all; Sustained without end; BurstFor for that long, where it is a burst's. Unknown: the storage may
	// do more than what is known of it.
	Holds     bool          `json:"holds"`
	Sustained bool          `json:"sustained"`
	Unknown   bool          `json:"unknown,omitempty"`
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

// of is what the claim is about: of IOPS and a rate.
func (c Claim) of(iops units.IOPS, rate units.Rate) float64 {
	if c.IOPS > 0 {
		return float64(iops)
	}
	return float64(rate)
}

func (c Claim) figure() float64 { return c.of(c.IOPS, c.Rate) }

// metBy says that limits are no less than what is claimed: 1,250 MB/s and 10 Gbit/s are alike.
func (c Claim) metBy(iops units.IOPS, rate units.Rate) bool {
	return c.of(iops, rate) >= c.figure()*0.999
}

// print is a bound's figure in the claim's unit.
func (c Claim) print(b *ceiling.Bound) string {
	if c.IOPS > 0 {
		return b.IOPS.String() + " IOPS"
	}
	return fmt.Sprintf("%v (%s)", b.BW, b.BW.SI())
}

// Check holds a claim against the ceilings of all that it may be about, and answers by the one that
// carries it: No is said only where none does.
func (c Claim) Check(t *topology.Topology) ClaimVerdict {
	if c.More > 0 {
		return c.grown(t.Instance.Type)
	}
	var all []ClaimVerdict
	for _, r := range readings(t) {
		all = append(all, c.check(r))
	}
	if len(all) == 0 {
		return c.check(reading{"its storage", t})
	}
	best := slices.MaxFunc(all, func(a, b ClaimVerdict) int {
		if a.rank() != b.rank() || a.Holds {
			return cmp.Compare(a.rank(), b.rank())
		}
		return cmp.Compare(a.most(), b.most())
	})
	for _, v := range all {
		if v.Storage != best.Storage {
			best.Others = append(best.Others, v.Storage)
		}
	}
	if len(t.Arrays) > 0 {
		return best
	}
	if f, _ := cloud.InstanceLimits(t.Instance.Type); !best.Holds && f.Local.Count > 0 && !f.Local.Limits.Known() {
		best.Unknown, best.Lines[0] = true, "Not known: the catalogue has no figures for its own drives. "+best.Lines[0]
	}
	if best.Most != nil {
		line := "Assumes " + best.Storage
		if len(best.Others) > 0 {
			line += "; it also has " + text.Some(best.Others, 4) + ": name one with --volumes"
		}
		best.Lines = append(best.Lines, line+".")
	}
	return best
}

// most is what a short test meets, of what is claimed; less than nothing where it is not known.
func (v *ClaimVerdict) most() float64 {
	if v.Most == nil {
		return -1
	}
	return v.Claim.of(v.Most.IOPS, v.Most.BW)
}

// verdicts of claims: one that holds for a time only is no pass.
var verdicts = []string{"fail", "measured", "warn", "pass"}

// rank says how well a claim holds: not at all, nobody knows, for a time, without end.
func (v *ClaimVerdict) rank() int {
	switch {
	case v.Sustained:
		return 3
	case v.Holds:
		return 2
	case v.Unknown:
		return 1
	}
	return 0
}

// Verdict is what exit codes go by.
func (v *ClaimVerdict) Verdict() string { return verdicts[v.rank()] }

// check compares a claim with the ceilings of one storage. One that names no direction holds if it does for
// reads and for writes; of storage whose limits are stated for each, it is what the vendor prints first, of reads.
func (c Claim) check(r reading) ClaimVerdict {
	v := c.judge(r)
	if c.Reads || c.Writes || len(r.t.Arrays) == 0 || v.Most == nil {
		return v
	}
	writes := c
	writes.Writes = true
	w := writes.judge(r)
	w.Claim.Writes = false
	switch {
	case w.rank() >= v.rank() || w.Most == nil:
		return v
	case some(r.t, func(v topology.Volume) bool { return v.Sustained.ReadIOPS > 0 || v.Sustained.ReadRate > 0 }):
		v.Lines[0] = strings.Replace(v.Lines[0], "Yes, ", "Yes, for reads, ", 1)
		v.Lines = append(v.Lines, "For writes: "+w.Lines[0])
		return v
	}
	w.Lines = append(w.Lines, "For reads alone: "+v.Lines[0])
	return w
}

// atMost are limits of which each is the larger one, of a burst and a baseline.
func atMost(burst, base cloud.Limits) cloud.Limits {
	return cloud.Limits{IOPS: max(burst.IOPS, base.IOPS), Rate: max(burst.Rate, base.Rate)}
}

// grown says whether a machine type's published limits have grown by as much as is claimed.
func (c Claim) grown(typ string) ClaimVerdict {
	v := ClaimVerdict{Claim: c, Storage: "what the catalogue has published of " + typ}
	f, _ := cloud.InstanceLimits(typ)
	if len(f.Changes) == 0 {
		v.Unknown = true
		v.say("Not known: the catalogue has no earlier limits of %s.", cmp.Or(typ, "a machine: name it with --instance"))
		return v
	}
	now := atMost(f.Burst, f.Baseline)
	was, before := f.Changes[0], now
	for _, one := range f.Changes {
		if l := atMost(one.Burst, one.Baseline); l != now {
			was, before = one, l
		}
	}
	iops, rate := float64(now.IOPS/before.IOPS)-1, float64(now.Rate/before.Rate)-1
	const rounding = 0.005 // a claim is of whole per cent
	v.Holds = max(iops, rate) >= c.More-rounding
	v.Sustained = v.Holds && !f.Burst.Known()
	v.say("%s: %s IOPS, from %v to %v, and %s throughput, from %s to %s, after %s.",
		map[bool]string{true: "Yes", false: "No"}[v.Holds], text.Change(iops), before.IOPS, now.IOPS, text.Change(rate),
		before.Rate.SI(), now.Rate.SI(), strings.TrimSuffix(was.To, "<"))
	if f.Burst.Known() {
		v.say("These are bursts of %s: it sustains %v IOPS and %s.", text.Duration(f.BurstFor), f.Baseline.IOPS,
			f.Baseline.Rate.SI())
	}
	return v
}

// judge compares a claim with the ceilings of one storage: those of random I/O of its size in its direction, else of
// reads, with a deep queue.
func (c Claim) judge(r reading) ClaimVerdict {
	t := r.t
	load := c.statedFor(t)
	c.Block = load.ReadBS
	v := ClaimVerdict{Claim: c, Storage: r.of}
	kind := "reads"
	if c.Writes {
		kind = "writes"
		load.ReadShare, load.ReadBS, load.WriteBS = 0, 0, c.Block
	}
	found := ceiling.Of(t, topology.Data, []fio.Workload{load})
	held := found.Held()
	if v.Most, v.Unknown = held.Now, held.Now == nil; found.Sustained() != nil {
		v.Lasts = held.Lasts()
	}
	switch {
	case v.Most == nil && t.Instance.Type != "":
		v.say("What %s allows is not known: name its volumes with --volumes.", t.Instance.Type)
		return v
	case v.Most == nil:
		v.say("Nothing is known about it: name --instance, --volumes or both.")
		return v
	}
	v.Holds = c.metBy(v.Most.IOPS, v.Most.BW)
	v.Sustained = v.Lasts != nil && c.metBy(v.Lasts.IOPS, v.Lasts.BW)
	alone, yes := !t.Instance.Known() && some(t, onNetwork), "Yes, "
	if alone {
		yes = "As far as the volumes go: yes, "
	}
	switch {
	case !v.Holds:
		// What nobody is sure of forbids nothing; what a vendor publishes of its drives does, where nothing more was seen.
		f, _ := cloud.InstanceLimits(t.Instance.Type)
		published := f.Local.Limits.Known() && !f.Local.Surpassed && !some(t, onNetwork)
		found.Bounds = slices.DeleteFunc(slices.Clone(found.Bounds),
			func(b ceiling.Bound) bool { return b.AtLeast != "" && !published })
		sure := found.Binding()
		v.Unknown = sure == nil || c.metBy(sure.IOPS, sure.BW)
		no, long := "No: at most", ""
		if v.Unknown {
			no = "Not known: at least"
		}
		if held.For > 0 {
			long = " for " + text.Duration(held.For)
		}
		v.say("%s %s%s of %v %s from %s, limited by %s (%s).", no, c.print(v.Most), long, c.Block, kind, r.of,
			v.Most.Label(), v.Most.How)
		if v.Unknown {
			v.say("It may do more: %s.", v.Most.AtLeast)
		}
	case v.Sustained:
		v.say(yes+"sustained: %s of %v %s, limited by %s.", c.print(v.Lasts), c.Block, kind, v.Lasts.Label())
	default:
		v.burst(t, load)
		long := "for an unknown time"
		if v.BurstFor > 0 {
			long = "for " + text.Duration(v.BurstFor)
			if v.BurstPer > 0 {
				long += " once every " + text.Duration(v.BurstPer)
			}
		}
		v.say(yes+"but only %s: it is a burst of %s (%s).", long, v.Burst.Kind, v.Burst.How)
	}
	if held.Then != nil && !v.Sustained {
		share := c.of(v.Lasts.IOPS, v.Lasts.BW) / c.figure()
		v.say("The storage sustains %s, %s of the claim, limited by %s.", c.print(v.Lasts), text.Percent(share),
			v.Lasts.Label())
	}
	if v.Holds && alone {
		v.say("What the instance allows is not known, and may be less: name it with --instance.")
	}
	if v.Holds && !some(t, func(v topology.Volume) bool { return !v.Network }) {
		v.history(t.Instance.Type)
	}
	return v
}

// say adds a line.
func (v *ClaimVerdict) say(format string, a ...any) {
	v.Lines = append(v.Lines, fmt.Sprintf(format, a...))
}

func onNetwork(v topology.Volume) bool { return v.Network }

// some says whether a volume is one of those.
func some(t *topology.Topology, of func(topology.Volume) bool) bool {
	return slices.ContainsFunc(t.Arrays, func(a topology.Array) bool { return slices.ContainsFunc(a.Volumes, of) })
}

// burst finds whose burst carries a claim, and how long it lasts at the rate that is claimed.
func (v *ClaimVerdict) burst(t *topology.Topology, load fio.Workload) {
	iops, rate := v.Claim.IOPS/units.IOPS(load.Jobs), v.Claim.Rate/units.Rate(load.Jobs)
	if load.ReadShare > 0 {
		load.ReadIOPS, load.ReadRate = iops, rate
	} else {
		load.WriteIOPS, load.WriteRate = iops, rate
	}
	c := ceiling.Of(t, topology.Data, []fio.Workload{load})
	steps := c.Course()
	if len(steps) > 1 {
		v.BurstFor = steps[0].Until
	}
	// Where there are no steps it is not known how long it lasts.
	its := func(b ceiling.Bound) bool { return b.Burst && (len(steps) < 2 || b.BurstFor == v.BurstFor) }
	v.Burst = cmp.Or(c.Least(its), v.Most)
	if v.BurstFor > 0 && (v.Burst.Kind == ceiling.InstanceIOPS || v.Burst.Kind == ceiling.InstanceRate) {
		v.BurstPer = t.Instance.BurstPer
	}
}

// history says since when an instance type has published what the claim states.
func (v *ClaimVerdict) history(typ string) {
	f, _ := cloud.InstanceLimits(typ)
	published := func(burst, base cloud.Limits) bool {
		most := atMost(burst, base)
		return v.Claim.metBy(most.IOPS, most.Rate)
	}
	if !published(f.Burst, f.Baseline) {
		return
	}
	var was *cloud.InstanceChange
	first, before := "", ""
	date := func(s string) string { return strings.TrimSuffix(s, "<") } // "<": earlier than that
	for i := range f.Changes {
		if change := &f.Changes[i]; !published(change.Burst, change.Baseline) {
			was, first = change, ""
		} else if first == "" {
			first = date(change.From)
		}
	}
	switch {
	case len(f.Changes) == 0:
		v.say("When %s first published this for %s is not known; the catalogue dates from %s.", f.Vendor, typ,
			strings.Replace(f.AsOf, "unstated", "a day that is not stated", 1))
		return
	case was == nil:
		v.Since = "at least " + first
	case first != "":
		v.Since = fmt.Sprintf("sometime between %s and %s", date(was.To), first)
	default:
		v.Since = "a day after " + date(was.To)
	}
	if was != nil {
		before = "; before that, it was " + was.Burst.IOPS.String() + " IOPS"
		if v.Claim.Rate > 0 {
			before = "; before that, it was " + was.Burst.Rate.SI()
		}
	}
	v.say("%s has published it for %s since %s%s.", f.Vendor, typ, v.Since, before)
}
