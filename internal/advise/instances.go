package advise

import (
	"cmp"
	"fmt"
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

// previous generations of Nitro; all Xen types are, too.
var previous = []string{"a1"}

// machines are all types of the cloud that is asked for.
func (r *Request) machines() []cloud.InstanceFacts {
	if r.Cloud == nil {
		return cloud.EC2{}.Machines()
	}
	return r.Cloud.Machines()
}

// instances are those that fit, cheapest first.
func (r *Request) instances() ([]priced, error) {
	for _, glob := range r.Families {
		if _, err := path.Match(glob, ""); err != nil {
			return nil, fmt.Errorf("family %.40q: want a name or a pattern such as m*", glob)
		}
	}
	if r.Instance != "" {
		f, ok := cloud.InstanceLimits(r.Instance)
		month, priceOK := r.Prices.Instance(r.Instance)
		switch {
		case !ok:
			return nil, fmt.Errorf("instance type %.40q is not in the catalogue", r.Instance)
		case !priceOK:
			return nil, fmt.Errorf("instance type %s has no price in %s; bring a price list that has it with --prices",
				r.Instance, r.Prices.Region)
		}
		return []priced{{f, month}}, r.suits(f)
	}
	var all []priced
	for _, f := range r.machines() {
		month, ok := r.Prices.Instance(f.Type)
		old := !f.NVMe || slices.Contains(previous, family(f.Type))
		if !ok || f.VCPUs < r.VCPUs || f.Memory < r.Memory || r.Arch != "" && f.Arch != r.Arch || !r.wanted(f.Type) ||
			old && !r.Older {
			continue
		}
		all = append(all, priced{f, month})
	}
	slices.SortStableFunc(all,
		func(a, b priced) int { return cmp.Or(cmp.Compare(a.month, b.month), cmp.Compare(a.Type, b.Type)) })
	return all, nil
}

// suits says what a type that is to be kept lacks of what is asked for besides storage.
func (r *Request) suits(f cloud.InstanceFacts) error {
	switch {
	case f.VCPUs < r.VCPUs:
		return fmt.Errorf("%s has %s, and %d are asked for", f.Type, text.Plural(f.VCPUs, "vCPU"), r.VCPUs)
	case f.Memory < r.Memory:
		return fmt.Errorf("%s has %v of memory, and %v are asked for", f.Type, f.Memory, r.Memory)
	case r.Arch != "" && f.Arch != r.Arch:
		return fmt.Errorf("%s is %s, and %s is asked for", f.Type, f.Arch, r.Arch)
	case !r.wanted(f.Type):
		return fmt.Errorf("%s is of none of the families asked for: %s", f.Type, strings.Join(r.Families, ", "))
	}
	return nil
}

// interfaces are the attachments that network cards take of those that an instance shares among
// all, and the root volume's.
const interfaces = 3

func attachable(f cloud.InstanceFacts, n int) bool {
	return f.Attachments == 0 || f.Attachments-f.Local.Count-interfaces >= n+1
}

// requirement is what an instance must carry.
type requirement struct {
	peak    need
	steady  need    // of streams that always run
	busiest float64 // volume I/Os per second of the busiest volume
	course  []span  // nil unless bursts count
	volumes int
	held    map[[2]cloud.Limits]bool // of a series: what is known of instances, by their limits
}

func (r *Request) requirement(l Layout) requirement {
	q := requirement{volumes: l.N}
	if !l.Local {
		q.busiest = r.needs(l).iops / float64(l.N)
	}
	if r.Series != nil {
		q.peak = r.needs(l)
	} else {
		q.peak = r.needsOf(l, func(*workload.Stream) bool { return true })
	}
	if r.bursting() {
		q.course = r.course(l)
		if r.Series != nil {
			q.held = r.on(l).held
		} else {
			q.steady = r.needsOf(l, func(s *workload.Stream) bool { return s.Burst == nil })
		}
	}
	return q
}

func ofIOPS(n need) float64  { return n.iops }
func ofBytes(n need) float64 { return n.bytes }

// holds says whether an instance carries it; lacks says what it does not reach.
func (q requirement) holds(f cloud.InstanceFacts) bool {
	if !attachable(f, q.volumes) || q.overVolume(f) {
		return false
	}
	iops, rate := float64(f.Baseline.IOPS), float64(f.Baseline.Rate)
	if iops >= q.peak.iops*(1-loss) && rate >= q.peak.bytes*(1-loss) {
		return true
	}
	if q.course == nil || iops < q.steady.iops*(1-loss) || rate < q.steady.bytes*(1-loss) {
		return false
	}
	key := [2]cloud.Limits{f.Baseline, f.Burst}
	if held, known := q.held[key]; known {
		return held
	}
	p := pools(f)
	held := p[0].Top >= q.peak.iops*(1-loss) && p[1].Top >= q.peak.bytes*(1-loss) &&
		p[0].carries(q.course, ofIOPS) && p[1].carries(q.course, ofBytes)
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
	if q.holds(f) {
		return ""
	}
	if !attachable(f, q.volumes) {
		return fmt.Sprintf("attaches %s at most", text.Plural(max(f.Attachments-f.Local.Count-interfaces-1, 0), "volume"))
	}
	_, lacks := q.share(f)
	return lacks
}

// share is how much of what is asked for an instance gives, and of what the least.
func (q requirement) share(f cloud.InstanceFacts) (float64, string) {
	word, have, want := "sustains", f.Baseline, q.peak
	if q.course != nil {
		switch p := pools(f); {
		case p[0].Top < q.peak.iops*(1-loss) || p[1].Top < q.peak.bytes*(1-loss):
			word, have = "reaches in bursts", cloud.Limits{IOPS: units.IOPS(p[0].Top), Rate: units.Rate(p[1].Top)}
		case p[0].Base < q.steady.iops*(1-loss) || p[1].Base < q.steady.bytes*(1-loss):
			want = q.steady
		default:
			word = "has not credits enough for the bursts: it sustains"
		}
	}
	iops, rate := float64(have.IOPS)/want.iops, float64(have.Rate)/want.bytes
	if one := cloud.XenVolumeIOPS / q.busiest; q.overVolume(f) && one <= min(iops, rate) {
		return one, fmt.Sprintf("lets %v of %v I/Os per second through to one volume, as it is not built on Nitro",
			units.IOPS(cloud.XenVolumeIOPS), units.IOPS(q.busiest))
	}
	if iops <= rate {
		return iops, fmt.Sprintf("%s %v of %v volume I/Os per second", word, have.IOPS, units.IOPS(want.iops))
	}
	return rate, fmt.Sprintf("%s %s of %s", word, have.Rate.SI(), units.Rate(want.bytes).SI())
}

// cheapest instance for a layout.
func (r *Request) cheapest(l Layout, instances []priced) (Candidate, bool) {
	q := r.requirement(l)
	each, ok := r.Prices.Volume(l.Spec)
	if !ok {
		return Candidate{}, false
	}
	for _, i := range instances {
		if !q.holds(i.InstanceFacts) {
			continue
		}
		c := r.candidate(l, i)
		c.VolumesMonth = each * cloud.USD(l.N)
		c.Month = c.VolumesMonth + i.month
		return c, true
	}
	return Candidate{}, false
}

func (r *Request) candidate(l Layout, i priced) Candidate {
	c := Candidate{
		Layout:        l,
		Instance:      i.InstanceFacts,
		Type:          i.Type,
		InstanceMonth: i.month,
		Month:         i.month,
		AFR:           l.afr(),
		Survives:      workload.LostInstance,
	}
	if l.Level.Mirrored() {
		c.Survives = workload.LostVolume
	}
	if t, ok := cloud.TypeNamed(l.Spec.Type); ok {
		c.Latency = r.meanLatency(r.typical(t))
	}
	return c
}

// whyNone says why no instance carries a layout: what the one that comes closest lacks.
func (r *Request) whyNone(l Layout, instances []priced) string {
	if len(instances) == 0 {
		return ""
	}
	q := r.requirement(l)
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
	for i := range r.Demand.Streams {
		if why := r.tooSlow("local drives", r.syncedOn(localType, localLatency), &r.Demand.Streams[i]); why != "" {
			return nil, why
		}
	}
	for _, i := range instances {
		s := i.Local
		if s.Count == 0 || s.Temp || s.Limits.ReadIOPS == 0 || r.Demand.Capacity > s.Size*units.Bytes(s.Count) {
			continue
		}
		one := l
		one.N, one.Spec.Size = s.Count, s.Size
		if s.Count == 1 {
			one.Level, one.Chunk = topology.Single, 0
		}
		if !r.localHolds(s) {
			continue
		}
		c := r.candidate(one, i)
		c.AFR, c.Survives, c.Latency = 0, workload.NoLoss, r.meanLatency(localLatency)
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

// WhyNot says why an instance type does not carry a layout for the demand; empty when it does.
func (r *Request) WhyNot(l Layout, typ string) string {
	f, ok := cloud.InstanceLimits(typ)
	if !ok {
		return "is not in the catalogue"
	}
	return r.requirement(l).lacks(f)
}

// at is what a type costs, in a sentence.
func (r *Request) at(typ string) string {
	if month, ok := r.Prices.Instance(typ); ok {
		return " at " + month.String()
	}
	return ", which has no price,"
}

// credits says that an instance's CPU is shared by credits.
func credits(typ string) bool {
	f := family(typ)
	return len(f) > 1 && strings.HasPrefix(f, "t") && f[1] >= '0' && f[1] <= '9'
}
