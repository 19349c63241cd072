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
	"plimsoll/internal/text"
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
	types := slices.DeleteFunc(slices.Clone(r.Types), func(name string) bool { return name == localType })
	if len(r.Types) == 0 {
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
	c.sort()
	c.ownDrives(&r, machines)
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

// choose is the best layout of a type of volume with its machine, or why there is none.
func (r *Request) choose(t cloud.VolumeType, machines []cloud.InstanceFacts) (best *Choice, why string) {
	if t.Pool == nil && len(t.Tiers) == 0 && t.IOPS.PerGiB == 0 {
		return nil, t.Type + ": the rules by which it is ordered are not known well enough"
	}
	why = t.Type + ": no layout of it meets the demand"
	for _, l := range shapes(r.most()) {
		l.Spec.Type = t.Type
		l, ok := r.sized(t, l)
		if !ok {
			continue
		}
		if lacks := r.Prices.Lacks(l.Spec); lacks != "" && best == nil {
			why = fmt.Sprintf("%s: no price of %s in %s is known, and nothing is ranked without: bring it in a list with "+
				"--prices", t.Type, lacks, r.Prices.Region)
			continue
		} else if lacks != "" {
			continue
		}
		one := r.onFirst(l, machines)
		if one != nil && one.InstanceMonth == 0 && r.Instance == "" { // nothing is ranked without a price
			if best == nil {
				why = fmt.Sprintf("%s: only machines without a price carry the demand, such as %s: bring it in a list with "+
					"--prices", t.Type, one.Type)
			}
			continue
		}
		if one == nil && best == nil {
			why = t.Type + ": no machine that fits, and whose limits for it are known, carries the demand"
			if i := slices.IndexFunc(
				machines,
				func(f cloud.InstanceFacts) bool { return slices.Contains(f.Without, t.Type) },
			); r.Instance != "" &&
				i >= 0 {
				why = fmt.Sprintf(
					"%s: %s does not take it: %s; --types has others",
					t.Type,
					machines[i].Type,
					machines[i].WithoutWhy,
				)
			}
		}
		if one != nil && (best == nil || one.better(best)) {
			best = one
		}
	}
	return best, why
}

// better says that a choice costs less than another one, or has fewer volumes where a price is missing.
func (c *Choice) better(o *Choice) bool {
	return cmp.Or(cmp.Compare(unpriced(c.Month), unpriced(o.Month)), cmp.Compare(c.Month, o.Month),
		cmp.Compare(c.Layout.N, o.Layout.N), cmp.Compare(unpriced(c.InstanceMonth), unpriced(o.InstanceMonth)),
		cmp.Compare(c.InstanceMonth, o.InstanceMonth)) < 0
}

// sized orders the volumes of a layout as cheaply as its type allows; false where none is enough.
func (r *Request) sized(t cloud.VolumeType, l Layout) (Layout, bool) {
	if !r.durable(l) {
		return l, false
	}
	switch {
	case len(t.Tiers) > 0:
		return r.tier(t, l)
	case t.Pool != nil:
		least := max(up(float64(r.Demand.Capacity)*l.copies()/float64(l.N)/float64(units.GiB)), float64(t.MinSize/units.GiB))
		q := r.wantsOf(l)
		with := func(i int) Layout {
			l.Spec.Size = units.Bytes(least+float64(i)) * units.GiB
			return l
		}
		n := max(int(t.MaxSize/units.GiB)-int(least)+1, 0)
		at := sort.Search(n, func(i int) bool {
			pool, _ := cloud.VolumeLimits(with(i).together())
			return q.within(pool.Sustained)
		})
		return with(at), at < n
	}
	return r.provision(l)
}

// together is what the volumes of a layout are as one, of which the limits of a pool follow.
func (l Layout) together() cloud.VolumeSpec {
	return cloud.VolumeSpec{Type: l.Spec.Type, Size: l.Spec.Size * units.Bytes(l.N)}
}

// tier takes the cheapest tier that is enough, the smallest where none has a price.
func (r *Request) tier(t cloud.VolumeType, l Layout) (best Layout, ok bool) {
	for _, tier := range t.Tiers {
		gib, _ := tier[1].(float64)
		l.Spec.Size = units.Bytes(gib) * units.GiB
		if r.falls(l) != "" {
			continue
		}
		price, priced := r.Prices.Volume(l.Spec)
		if was, had := r.Prices.Volume(best.Spec); !ok || priced && (!had || price < was) {
			best, ok = l, true
		}
	}
	return best, ok
}

// wants are what a demand asks with headroom of a layout's volumes together, and so of the machine: all
// I/Os, and its reads and its writes apart.
type wants struct {
	volumes            int
	typ                string
	all, reads, writes need
}

func (r *Request) wantsOf(l Layout) wants {
	q := wants{volumes: l.N, typ: l.Spec.Type}
	q.all = r.needsOf(l, func(*workload.Stream) bool { return true })
	only := func(share func(*workload.Stream) float64, reads float64) need {
		one := *r
		one.Demand = &workload.Demand{}
		for i := range r.Demand.Streams {
			s := r.Demand.Streams[i]
			s.IOPS, s.ReadShare = s.IOPS*units.IOPS(share(&s)), reads
			one.Demand.Streams = append(one.Demand.Streams, s)
		}
		return one.needsOf(l, func(s *workload.Stream) bool { return s.IOPS > 0 })
	}
	q.reads = only(func(s *workload.Stream) float64 { return s.ReadShare }, 1)
	q.writes = only(func(s *workload.Stream) float64 { return 1 - s.ReadShare }, 0)
	return q
}

// within says whether limits carry it; one that is not known limits nothing.
func (q wants) within(l cloud.Limits) bool {
	return ceiling.Uses(l, q.reads.iops, q.writes.iops, q.reads.bytes, q.writes.bytes)*(1-loss) <= 1 &&
		ceiling.Uses(cloud.Limits{IOPS: l.IOPS, Rate: l.Rate}, q.all.iops, 0, q.all.bytes, 0)*(1-loss) <= 1
}

// on says whether a machine carries it; one whose limit for the type is not known does not.
func (q wants) on(f cloud.InstanceFacts) bool {
	if f.Attachments > 0 && f.Attachments < q.volumes || slices.Contains(f.Without, q.typ) {
		return false
	}
	known := false
	for _, c := range f.Caps {
		if c.For(q.typ) {
			if known = true; !q.within(c.Baseline) {
				return false
			}
		}
	}
	return known || f.Baseline.Known() && q.within(f.Baseline)
}

// onFirst is a layout on the first machine that carries it. What the arithmetic found is compared with
// the ceiling.
func (r *Request) onFirst(l Layout, machines []cloud.InstanceFacts) *Choice {
	q := r.wantsOf(l)
	for _, f := range machines {
		if !q.on(f) {
			continue
		}
		c := &Candidate{Layout: l, Instance: f, Type: f.Type}
		if r.limits(c) != nil || c.Times < (1+r.Headroom)*0.999 {
			continue
		}
		return r.choice(c)
	}
	return nil
}

// choice is a candidate with what is known of its price.
func (r *Request) choice(c *Candidate) *Choice {
	out := &Choice{
		Type: c.Type, VCPUs: c.Instance.VCPUs, Memory: c.Instance.Memory, Layout: c.Layout, Sustained: c.Sustained,
		Times: c.Times,
	}
	out.InstanceMonth, _ = r.Prices.Instance(c.Type)
	if each, ok := r.Prices.Volume(c.Layout.Spec); ok {
		out.VolumesMonth = each * cloud.USD(c.Layout.N)
	}
	if out.InstanceMonth > 0 && (out.VolumesMonth > 0 || c.Layout.Local) {
		out.Month = out.InstanceMonth + out.VolumesMonth
	}
	return out
}

// ownDrives adds the machine whose own drives meet the demand behind all others, for they are empty
// after it stops, or among them where the demand allows that.
func (c *Choices) ownDrives(r *Request, machines []cloud.InstanceFacts) {
	var all []priced
	for _, f := range machines {
		all = append(all, priced{f, r.Prices.Instances[f.Type]})
	}
	own, why := r.local(all)
	if own != nil && (r.limits(own) != nil || own.Times < (1+r.Headroom)*0.999) {
		own, why = nil, "local drives: those of "+own.Type+" are not enough by its ceiling"
	}
	switch {
	case own == nil:
		if why != "" {
			c.Rejected = append(c.Rejected, why)
		}
	case r.Demand.Durability.Survives == workload.NoLoss:
		c.Rows = append(c.Rows, *r.choice(own))
		c.sort()
	case len(c.Rows) == 0:
		c.Rejected = append(c.Rejected, "local drives: "+drives(own.Layout.N, text.Article(own.Type)))
	default:
		c.Rows = append(c.Rows, *r.choice(own))
	}
}

func (c *Choices) sort() {
	slices.SortStableFunc(c.Rows, func(a, b Choice) int {
		return cmp.Or(cmp.Compare(unpriced(a.Month), unpriced(b.Month)), cmp.Compare(a.Month, b.Month),
			cmp.Compare(a.InstanceMonth, b.InstanceMonth))
	})
}

// notes say what was ignored.
func (c *Choices) notes(r *Request) {
	say := func(format string, args ...any) { c.Notes = append(c.Notes, fmt.Sprintf(format, args...)) }
	if len(r.Prices.Instances) > 0 {
		say("prices of machines: %s, %s", r.Prices.InstanceSource, r.Prices.Region)
	}
	if len(r.Prices.Volumes) > 0 {
		say("prices of disks: %s, %s, second-hand", r.Prices.VolumeSource, r.Prices.Region)
	}
	if slices.ContainsFunc(c.Rows, func(o Choice) bool {
		return strings.HasPrefix(o.Layout.Spec.Type, "azure-standard")
	}) {
		say("standard disks are billed by their operations too, which is not counted")
	}
	waits := func(s workload.Stream) bool { return s.Latency.Smallest() > 0 || s.Commits }
	if slices.ContainsFunc(r.Demand.Streams, waits) {
		say("the demand's limits of latency and its commits are ignored: the catalogue has no latencies for %s's disks",
			c.Cloud)
	}
	if r.Demand.Durability.AFR > 0 {
		say("the demand's limit on data loss is ignored: the catalogue has no failure rates for %s's disks", c.Cloud)
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
