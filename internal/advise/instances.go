package advise

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// priced is an instance type that may be bought.
type priced struct {
	cloud.InstanceFacts
	month cloud.USD
}

// provider is the cloud that is looked at.
func (r *Request) provider() *cloud.Provider { return cmp.Or(r.Cloud, cloud.AWS()) }

// instances are those that fit, cheapest first; r.unpriced are those of them that have no price.
func (r *Request) instances() ([]priced, error) {
	for _, glob := range r.Families {
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("family %.40q: want a name or a pattern such as m*", glob)
		}
	}
	if r.Instance != "" {
		f, ok := r.provider().Machine(r.Instance)
		month, priceOK := r.Prices.Instance(r.Instance)
		switch {
		case !ok:
			return nil, fmt.Errorf("%.40q is not a machine type of %s in the catalogue", r.Instance, r.provider().Terms().Cloud)
		case !priceOK:
			return nil, fmt.Errorf("%s has no price in %s; supply a price list that has it with --prices", r.Instance,
				r.Prices.Region)
		}
		return []priced{{f, month}}, r.suits(f)
	}
	var all []priced
	r.unpriced = nil
	for _, f := range r.provider().Machines() {
		month, ok := r.Prices.Instance(f.Type)
		switch {
		case f.Older && !r.Older, r.suits(f) != nil:
		case ok:
			all = append(all, priced{f, month})
		default:
			r.unpriced = append(r.unpriced, f)
		}
	}
	slices.SortStableFunc(all,
		func(a, b priced) int { return cmp.Or(cmp.Compare(a.month, b.month), cmp.Compare(a.Type, b.Type)) })
	return all, nil
}

// suits says what a type that is to be kept lacks of what is asked for besides storage.
func (r *Request) suits(f cloud.InstanceFacts) error {
	switch {
	case f.VCPUs < r.VCPUs:
		return fmt.Errorf("%s has %s, but %d are asked for", f.Type, text.Plural(f.VCPUs, "vCPU"), r.VCPUs)
	case f.Memory < r.Memory:
		return fmt.Errorf("%s has %v of memory, and %v are asked for", f.Type, f.Memory, r.Memory)
	case r.Arch != "" && f.Arch != r.Arch:
		return fmt.Errorf("%s is %s, and %s is asked for", f.Type, f.Arch, r.Arch)
	case !r.wanted(f.Type):
		return fmt.Errorf("%s is in none of the requested families: %s", f.Type, strings.Join(r.Families, ", "))
	}
	return nil
}

// wanted says whether a type, or the part of it before a dot, is among the families asked for.
func (r *Request) wanted(typ string) bool {
	family, _, _ := strings.Cut(typ, ".")
	return len(r.Families) == 0 || slices.ContainsFunc(r.Families, func(glob string) bool {
		whole, _ := path.Match(glob, typ)
		part, _ := path.Match(strings.TrimSuffix(glob, ".*"), family)
		return whole || part
	})
}

// requirement is what an instance must carry.
type requirement struct {
	sized           // its spans are nil unless bursts count
	typ     string  // of its volumes
	steady  need    // of streams that always run
	busiest float64 // volume I/Os per second of the busiest volume
	volumes int
}

func (r *Request) requirement(l Layout) requirement {
	key := l.shape()
	if q, ok := r.required[key]; ok {
		return q
	}
	q := requirement{typ: l.Spec.Type, volumes: l.N}
	if !l.Local {
		q.busiest = r.needs(l).iops / float64(l.N)
	}
	if r.Series != nil {
		q.sized = *r.on(l)
	} else {
		q.peak = r.needsOf(l, nil)
		q.reads, q.writes = r.directed(true).needsOf(l, nil), r.directed(false).needsOf(l, nil)
		if r.bursting() {
			q.spans = r.course(l)
			q.steady = r.needsOf(l, func(s *workload.Stream) bool { return s.Burst == nil })
		}
	}
	if r.required != nil {
		r.required[key] = q
	}
	return q
}

// directed is a request for the reads, or the writes, of the demand alone.
func (r *Request) directed(read bool) *Request {
	one := *r
	one.Demand = &workload.Demand{}
	for _, s := range r.Demand.Streams {
		share, reads := 1-s.ReadShare, 0.0
		if read {
			share, reads = s.ReadShare, 1
		}
		if s.IOPS, s.ReadShare = s.IOPS*units.IOPS(share), reads; s.IOPS > 0 {
			one.Demand.Streams = append(one.Demand.Streams, s)
		}
	}
	return &one
}

func ofIOPS(n need) float64  { return n.iops }
func ofBytes(n need) float64 { return n.bytes }

// gives is how much of the mix that is wanted limits let through: I/Os and bytes per second, of both
// directions together. What is not limited is infinite.
func (q requirement) gives(l cloud.Limits) need {
	of := func(whole float64, parts cloud.Limits, want float64) float64 {
		most := math.Inf(1)
		if whole > 0 {
			most = whole
		}
		if used := ceiling.Uses(parts, q.reads.iops, q.writes.iops, q.reads.bytes, q.writes.bytes); used > 0 {
			most = min(most, want/used)
		}
		return most
	}
	return need{
		of(float64(l.IOPS), cloud.Limits{ReadIOPS: l.ReadIOPS, WriteIOPS: l.WriteIOPS, SharedIOPS: l.SharedIOPS},
			q.peak.iops),
		of(float64(l.Rate), cloud.Limits{ReadRate: l.ReadRate, WriteRate: l.WriteRate, SharedRate: l.SharedRate},
			q.peak.bytes),
	}
}

// under says that a need is no more than what is given.
func (n need) under(given need) bool {
	return given.iops >= n.iops*(1-loss) && given.bytes >= n.bytes*(1-loss)
}

// holds says whether an instance carries it; lacks says what it does not reach.
func (q requirement) holds(f cloud.InstanceFacts) bool {
	base, burst, known := f.Allows(q.typ)
	switch sustained := q.gives(base); {
	case !known || f.Room() < q.volumes || q.overVolume(f):
		return false
	case q.peak.under(sustained):
		return true
	case q.spans == nil || !q.steady.under(sustained):
		return false
	}
	key := [2]cloud.Limits{base, burst}
	if held, known := q.held[key]; known {
		return held
	}
	p := q.pools(f)
	held := q.peak.under(need{p[0].Top, p[1].Top}) && p[0].carries(q.spans, ofIOPS) && p[1].carries(q.spans, ofBytes)
	if q.held != nil {
		q.held[key] = held
	}
	return held
}

// overVolume says that the busiest volume is asked for more than an instance lets through to one.
func (q requirement) overVolume(f cloud.InstanceFacts) bool {
	return !f.NVMe && q.busiest*(1-loss) > cloud.XenVolumeIOPS
}

// lacks names the obstacle that decides: of IOPS and throughput the one of which the instance has
// the lesser share.
func (q requirement) lacks(f cloud.InstanceFacts) string {
	switch _, _, known := f.Allows(q.typ); {
	case q.holds(f):
		return ""
	case !known && slices.Contains(f.Without, q.typ):
		return "does not support " + q.typ + ": " + f.WithoutWhy
	case !known:
		return "has no known limit for " + q.typ
	case f.Room() < q.volumes:
		return fmt.Sprintf("can attach at most %s", text.Plural(max(f.Room(), 0), "volume"))
	}
	_, lacks := q.share(f)
	return lacks
}

// share is how much of what is asked for an instance gives, and of what the least.
func (q requirement) share(f cloud.InstanceFacts) (float64, string) {
	base, _, _ := f.Allows(q.typ)
	word, have, want := "sustains", q.gives(base), q.peak
	if q.spans != nil {
		switch p := q.pools(f); {
		case !want.under(need{p[0].Top, p[1].Top}):
			word, have = "reaches in bursts", need{p[0].Top, p[1].Top}
		case !q.steady.under(need{p[0].Base, p[1].Base}):
			want = q.steady
		default:
			word = "has too few credits for the bursts: it sustains"
		}
	}
	iops, rate := have.iops/want.iops, have.bytes/want.bytes
	if one := cloud.XenVolumeIOPS / q.busiest; q.overVolume(f) && one <= min(iops, rate) {
		return one, fmt.Sprintf("lets %v of %v I/Os per second through to one volume, as it is not built on Nitro",
			units.IOPS(cloud.XenVolumeIOPS), units.IOPS(q.busiest))
	}
	if iops <= rate {
		return iops, fmt.Sprintf("%s %v of %v volume I/Os per second", word, units.IOPS(have.iops), units.IOPS(want.iops))
	}
	return rate, fmt.Sprintf("%s %s of %s", word, units.Rate(have.bytes).SI(), units.Rate(want.bytes).SI())
}

// cheapest instance for a layout.
func (r *Request) cheapest(l Layout, instances []priced) (c Candidate, ok bool) {
	q := r.requirement(l)
	for _, i := range instances {
		if q.holds(i.InstanceFacts) {
			return r.candidate(l, i)
		}
	}
	return c, false
}

// candidate is a layout on an instance; false where its volumes have no price.
func (r *Request) candidate(l Layout, i priced) (c Candidate, ok bool) {
	c = Candidate{
		Layout: l, Instance: i.InstanceFacts, Type: i.Type, InstanceMonth: i.month, AFR: l.afr(),
		Survives: workload.LostInstance,
	}
	if l.Level.Mirrored() {
		c.Survives = workload.LostVolume
	}
	each := cloud.USD(0)
	if l.Local {
		c.Survives, c.Latency, ok = workload.NoLoss, r.meanLatency(localLatency), true
	} else if t, known := cloud.TypeNamed(l.Spec.Type); known {
		c.Latency = r.meanLatency(r.typical(t))
		each, ok = r.Prices.Volume(l.Spec)
	}
	c.VolumesMonth = each * cloud.USD(l.N)
	c.Month = c.VolumesMonth + i.month
	return c, ok
}

// whyNone says why no instance carries a layout: what the one that comes closest lacks.
func (r *Request) whyNone(l Layout, instances []priced) string {
	if len(instances) == 0 {
		return ""
	}
	q := r.requirement(l)
	if i := slices.IndexFunc(r.unpriced, q.holds); i >= 0 {
		return fmt.Sprintf("%s: only machines without a price carry it, such as %s: supply a list that has one with --prices",
			l.Level, r.unpriced[i].Type)
	}
	best := r.closest(l, instances)
	lacks := q.lacks(best.InstanceFacts)
	if r.Instance != "" {
		return fmt.Sprintf("%s with %s: %s", r.Instance, l.Level, lacks)
	}
	return fmt.Sprintf("%s: no instance that fits carries it: %s comes closest, and %s", l.Level, best.Type, lacks)
}

// localLatency of instance store: what the drives of EC2's families state.
var localLatency = &cloud.TypicalLatency{
	Read:   100,
	Write:  30,
	Synced: 30,
	Source: "data sheets of NVMe drives, assumed",
}

// local is the cheapest instance whose own drives, striped, meet the demand; nil with the reason
// when there is none or it may not be.
func (r *Request) local(instances []priced) (*Candidate, string) {
	if r.Keep != nil || !slices.Contains(r.types(), localType) {
		return nil, ""
	}
	l := Layout{Level: topology.RAID0, Chunk: chunk, Local: true, Spec: cloud.VolumeSpec{Type: localType}}
	if !r.durable(l) {
		return nil, "local drives: they are empty after the instance stops, and the data must survive more"
	}
	for _, s := range streams(r.Demand) {
		if why := r.tooSlow("local drives", r.syncedOn(localType, localLatency), s); why != "" {
			return nil, why
		}
	}
	for _, i := range instances {
		s := i.Local
		if s.Count == 0 || s.Temp || s.Limits.ReadIOPS == 0 || r.Demand.Capacity > s.Size*units.Bytes(s.Count) ||
			!r.localHolds(s) {
			continue
		}
		one := l
		one.N, one.Spec.Size = s.Count, s.Size
		if s.Count == 1 {
			one.Level, one.Chunk = topology.Single, 0
		}
		c, _ := r.candidate(one, i)
		if r.limits(&c) != nil || c.Times < (1+r.Headroom)*0.999 { // pieces of large I/Os count
			continue
		}
		return &c, ""
	}
	return nil, "local drives: no instance that fits has drives whose published figures meet the demand"
}

// localHolds compares reads and writes with what the drives state, those without a figure left out.
func (r *Request) localHolds(s cloud.InstanceStore) bool {
	n := float64(s.Count)
	for _, group := range r.peaks() {
		var readIO, writeIO, read, write float64
		for _, st := range group {
			readIO += float64(st.IOPS) * st.ReadShare
			writeIO += float64(st.IOPS) * (1 - st.ReadShare)
			read += float64(st.Rate) * st.ReadShare
			write += float64(st.Rate) * (1 - st.ReadShare)
		}
		if writeIO != 0 && s.Limits.WriteIOPS == 0 || s.Limits.ReadRate == 0 ||
			ceiling.Uses(s.Limits, readIO, writeIO, read, write)*(1+r.Headroom) > n {
			return false
		}
	}
	return true
}

// whyNot says why an instance type does not carry a layout for the demand, with its price; empty when it
// does.
func (r *Request) whyNot(l Layout, typ string) string {
	f, ok := r.provider().Machine(typ)
	if !ok {
		return typ + " is not in the catalogue"
	}
	lacks := r.requirement(l).lacks(f)
	if lacks == "" {
		return ""
	}
	if month, ok := r.Prices.Instance(typ); ok {
		return fmt.Sprintf("%s at %v %s", typ, month, lacks)
	}
	return typ + ", which has no price, " + lacks
}

// closest is the cheapest instance that carries a layout's load, or the one that comes closest.
func (r *Request) closest(l Layout, instances []priced) priced {
	q := r.requirement(l)
	best, most := instances[0], -1.0
	for _, i := range instances {
		if q.holds(i.InstanceFacts) {
			return i
		}
		if _, _, known := i.Allows(q.typ); !known || i.Room() < q.volumes {
			continue
		}
		if share, _ := q.share(i.InstanceFacts); share > most {
			best, most = i, share
		}
	}
	return best
}
