package advise

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// Choices are what meets a demand on a cloud of which prices may be missing: a row for each type of
// volume, on the cheapest machine that carries it, or the smallest where machines have no price.
type Choices struct {
	Cloud    string           `json:"cloud"`
	Demand   *workload.Demand `json:"demand"`
	Headroom float64          `json:"headroom"`
	Region   string           `json:"region,omitempty"` // of the prices
	Rows     []Choice         `json:"rows"`
	Rejected []string         `json:"rejected,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
}

// Choice is a layout on a machine. Money of 0 is not known, and Month is a sum of two that are.
type Choice struct {
	Type          string        `json:"instance"`
	VCPUs         int           `json:"vcpus"`
	Memory        units.Bytes   `json:"memory"`
	Layout        Layout        `json:"layout"`
	Sustained     ceiling.Bound `json:"sustained"`
	Times         float64       `json:"times"`
	InstanceMonth cloud.USD     `json:"instance_usd_micro_month,omitempty"`
	VolumesMonth  cloud.USD     `json:"volumes_usd_micro_month,omitempty"`
	Month         cloud.USD     `json:"usd_micro_month,omitempty"`
}

// typesOf are the kinds of volume that are considered on a cloud where none is named.
var typesOf = map[string][]string{
	"Azure":        {"azure-premium", "azure-premium-v2"},
	"Google Cloud": {"gcp-pd-balanced", "gcp-pd-ssd", "gcp-hyperdisk-balanced"},
}

// Elsewhere looks for what meets a demand on r.Cloud. Each choice is worked out by package ceiling with
// the limits of its machine; bursts do not count.
func Elsewhere(r Request) (*Choices, error) {
	switch {
	case r.Cloud == nil:
		return nil, errors.New("no cloud is named")
	case r.Demand.Capacity == 0:
		return nil, ErrCapacity
	case r.Series != nil || r.Keep != nil:
		return nil, errors.New("a series and volumes that are kept are looked at on AWS only")
	}
	r.known = map[shape]need{}
	if r.Prices == nil {
		r.Prices = r.Cloud.Prices()
	}
	words := r.Cloud.Words()
	c := &Choices{Cloud: words.Cloud, Demand: r.Demand, Headroom: r.Headroom, Region: r.Prices.Region}
	machines, err := r.fitting()
	if err != nil {
		return nil, err
	}
	types := r.Types
	if len(types) == 0 {
		types = typesOf[words.Vendor]
	}
	for _, name := range types {
		t, ok := cloud.TypeNamed(name)
		if !ok || t.Provider != words.Vendor {
			return nil, fmt.Errorf("%.40s: not a volume type of %s", name, words.Cloud)
		}
		if best, why := r.choose(t, machines); best != nil {
			c.Rows = append(c.Rows, *best)
		} else {
			c.Rejected = append(c.Rejected, why)
		}
	}
	slices.SortStableFunc(c.Rows, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(unpriced(a.Month), unpriced(b.Month)), cmp.Compare(a.Month, b.Month),
			cmp.Compare(a.InstanceMonth, b.InstanceMonth))
	})
	c.notes(&r)
	return c, nil
}

// unpriced sorts what has no price behind what has one.
func unpriced(u cloud.USD) int {
	if u == 0 {
		return 1
	}
	return 0
}

// fitting are the machines that fit, those with a price first, the cheapest before others, then the
// smallest.
func (r *Request) fitting() ([]cloud.InstanceFacts, error) {
	all := r.Cloud.Machines()
	if r.Instance != "" {
		f, ok := r.Cloud.Machine(r.Instance)
		if !ok {
			return nil, fmt.Errorf("%.40q is not a machine type of %s in the catalogue", r.Instance, r.Cloud.Words().Cloud)
		}
		all = []cloud.InstanceFacts{f}
	}
	var fit []cloud.InstanceFacts
	for _, f := range all {
		family, err := r.inFamilies(f.Type)
		if err != nil {
			return nil, err
		}
		known := f.Baseline.Known() || len(f.Caps) > 0
		if known && family && f.VCPUs >= r.VCPUs && f.Memory >= r.Memory && (r.Arch == "" || f.Arch == r.Arch) {
			fit = append(fit, f)
		}
	}
	slices.SortStableFunc(fit, func(a, b cloud.InstanceFacts) int {
		x, y := r.Prices.Instances[a.Type], r.Prices.Instances[b.Type]
		return cmp.Or(cmp.Compare(unpriced(x), unpriced(y)), cmp.Compare(x, y), cmp.Compare(a.VCPUs, b.VCPUs),
			cmp.Compare(a.Memory, b.Memory))
	})
	return fit, nil
}

// inFamilies says whether a type matches one of the patterns asked for, such as Standard_D* or n2-*.
func (r *Request) inFamilies(typ string) (bool, error) {
	for _, glob := range r.Families {
		ok, err := path.Match(glob, typ)
		if err != nil {
			return false, fmt.Errorf("family %.40q: want a pattern such as Standard_D*", glob)
		}
		if ok {
			return true, nil
		}
	}
	return len(r.Families) == 0, nil
}

// numbers of volumes that are tried.
var numbers = []int{1, 2, 3, 4, 6, 8, 12, 16}

// choose is the best of a type of volume: what costs least, or has the fewest volumes where one of the
// prices is missing. Else it says why there is none.
func (r *Request) choose(t cloud.VolumeType, machines []cloud.InstanceFacts) (best *Choice, why string) {
	why = t.Type + ": no layout of it meets the demand"
	for _, n := range numbers {
		if n > r.most() || n > 1 && t.Pool != nil && r.Demand.Durability.Survives != workload.LostVolume {
			break // more volumes of a pool add nothing
		}
		l, ok := r.sized(t, n)
		if !ok {
			continue
		}
		one := r.onFirst(l, machines)
		if one == nil {
			why = t.Type + ": no machine that fits, and whose limits for it are known, carries the demand"
			continue
		}
		if best == nil || one.Month > 0 && one.Month < best.Month {
			best = one
		}
	}
	return best, why
}

// sized is a layout of n volumes, each as small as the demand allows; false where none is enough.
func (r *Request) sized(t cloud.VolumeType, n int) (Layout, bool) {
	l := Layout{Level: topology.Single, N: n, Spec: cloud.VolumeSpec{Type: t.Type}}
	mirrored := r.Demand.Durability.Survives == workload.LostVolume
	switch {
	case mirrored && n == 1:
		return l, false
	case mirrored && n == 2:
		l.Level = topology.RAID1
	case mirrored:
		l.Level, l.Chunk = topology.RAID10, chunk
	case n > 1:
		l.Level, l.Chunk = topology.RAID0, chunk
	}
	least := up(float64(r.Demand.Capacity) * l.copies() / float64(n) / float64(units.GiB))
	least = max(least, float64(t.MinSize/units.GiB), 1)
	with := func(gib float64) Layout {
		l.Spec.Size = units.Bytes(gib) * units.GiB
		return l
	}
	switch {
	case len(t.Tiers) > 0:
		for _, tier := range t.Tiers {
			if gib, _ := tier[1].(float64); gib >= least && r.enough(with(gib), cloud.InstanceFacts{}) != nil {
				return with(gib), true
			}
		}
		return l, false
	case t.Pool != nil:
		most := int(t.MaxSize/units.GiB) - int(least)
		at := sort.Search(most+1, func(i int) bool { return r.enough(with(least+float64(i)), cloud.InstanceFacts{}) != nil })
		return with(least + float64(at)), at <= most
	case t.IOPS.PerMiB > 0 || t.IOPS.PerGiB == 0:
		return l, false // its rules are not known well enough to order it
	}
	order, ok := r.order(l, r.needs(l))
	l.Spec = order
	return l, ok && r.enough(l, cloud.InstanceFacts{}) != nil
}

// enough is the candidate where a layout on a machine, or without one, meets the demand with headroom;
// else nil.
func (r *Request) enough(l Layout, f cloud.InstanceFacts) *Candidate {
	if _, err := cloud.VolumeLimits(l.Spec); err != nil {
		return nil
	}
	c := &Candidate{Layout: l, Instance: f, Type: f.Type}
	if err := r.limits(c); err != nil || c.Times < (1+r.Headroom)*0.999 {
		return nil
	}
	return c
}

// onFirst is the first machine that carries a layout; one whose limit for the type is not known does
// not.
func (r *Request) onFirst(l Layout, machines []cloud.InstanceFacts) *Choice {
	for _, f := range machines {
		own := slices.ContainsFunc(f.Caps, func(c cloud.Cap) bool { return c.For(l.Spec.Type) })
		if !own && !f.Baseline.Known() || f.Attachments > 0 && f.Attachments < l.N {
			continue
		}
		c := r.enough(l, f)
		if c == nil {
			continue
		}
		out := &Choice{
			Type: f.Type, VCPUs: f.VCPUs, Memory: f.Memory, Layout: l, Sustained: c.Sustained, Times: c.Times,
		}
		out.InstanceMonth, _ = r.Prices.Instance(f.Type)
		if each, ok := r.Prices.Volume(l.Spec); ok {
			out.VolumesMonth = each * cloud.USD(l.N)
		}
		if out.InstanceMonth > 0 && out.VolumesMonth > 0 {
			out.Month = out.InstanceMonth + out.VolumesMonth
		}
		return out
	}
	return nil
}

// notes say what was not looked at.
func (c *Choices) notes(r *Request) {
	say := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	if len(r.Prices.Instances) > 0 {
		say("prices of machines: %s, %s", r.Prices.InstanceSource, r.Prices.Region)
	}
	if !slices.ContainsFunc(c.Rows, func(o Choice) bool { return o.VolumesMonth > 0 }) {
		say("no price of a disk is known: bring a list with --prices, and rows have a sum")
	}
	if slices.ContainsFunc(r.Demand.Streams, func(s workload.Stream) bool { return s.Latency.Smallest() > 0 }) {
		say("the latencies that the demand asks for are not looked at: the catalogue has none of %s's disks", c.Cloud)
	}
	if r.Demand.Durability.AFR > 0 {
		say("how often data is lost is not looked at: %s states no failure rate that the catalogue has", c.Cloud)
	}
	if r.BurstOK {
		say("bursts do not count on %s", c.Cloud)
	}
	if n := unknownLimits(r.Cloud); n > 0 {
		say("%d machine types have no known limit and are left out", n)
	}
	if names := strings.Join(r.Demand.AtLeast, "; "); names != "" {
		say("the demand was watched on storage that was full (%s): this is the least to buy", names)
	}
}

func unknownLimits(p cloud.Provider) int {
	n := 0
	for _, f := range p.Machines() {
		if !f.Baseline.Known() && len(f.Caps) == 0 {
			n++
		}
	}
	return n
}
