package advise

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// owned puts the volumes that are kept beside what would be bought instead: one table of what meets
// the demand, and the share that the kept ones meet where they do not.
func (a *Advice) owned(r Request, instances []priced) error {
	if len(instances) == 0 {
		return nil
	}
	if len(a.Rows) > 0 {
		own := a.Rows[0]
		a.Owned, a.Rows = &own, a.Rows[:1]
	} else if l := r.Keep.chunked()[0]; r.Prices.Lacks(l.Spec) == "" {
		c, _ := r.candidate(l, r.closest(l, instances))
		c.Names = []string{yours}
		if err := r.limits(&c); err != nil {
			return err
		}
		r.remarks(&c)
		a.Owned = &c
	}
	free := r
	free.Keep, free.alone = nil, true
	demand := *r.Demand
	if demand.Capacity == 0 { // as much as there is
		demand.Capacity = units.Bytes(float64(r.Keep.Spec.Size) * float64(r.Keep.N) / r.Keep.usable())
	}
	free.Demand = &demand
	instead, err := Advise(free)
	if err != nil {
		return err
	}
	if len(a.Rows) > 0 {
		beside(&a.Rows[0], instead.Rows, superlatives(free))
		*a.Owned = a.Rows[0]
		instead.Rows = slices.DeleteFunc(instead.Rows, a.Owned.same)
	}
	a.Rows = append(a.Rows, instead.Rows...)
	a.Rejected = append(a.Rejected, slices.DeleteFunc(instead.Rejected, func(why string) bool {
		return slices.Contains(a.Rejected, why)
	})...)
	a.Layouts += instead.Layouts
	return nil
}

// beside names what the kept volumes are the best of, where none of the others is better; the best of
// the others is then the best of the alternatives only.
func beside(own *Candidate, others []Candidate, all []superlative) {
	for _, s := range all {
		if !s.among(*own) {
			continue
		}
		for i := range others {
			at := slices.IndexFunc(others[i].Names, func(n string) bool { return strings.HasPrefix(n, s.name) })
			if at < 0 || s.better(others[i], *own) {
				continue
			}
			own.Names = append(own.Names, s.name)
			if s.name == leastMonth {
				others[i].Names[at] = "cheapest alternative"
			} else {
				others[i].Names[at] += " of the alternatives"
			}
		}
	}
}

// same says that a choice is the kept volumes once more.
func (c *Candidate) same(o Candidate) bool {
	return c.Type == o.Type && c.Month == o.Month && c.Layout.N == o.Layout.N && c.Layout.Level == o.Layout.Level &&
		c.Layout.Spec.Type == o.Layout.Spec.Type && c.Layout.Spec.Size == o.Layout.Spec.Size
}

// compare makes a row of each layout that is to be compared, in their order.
func (a *Advice) compare(r *Request, instances []priced) error {
	if len(instances) == 0 {
		return errors.New("no instance type with a price has what is asked for")
	}
	for _, l := range r.Beside {
		l = l.chunked()[0]
		c, _ := r.candidate(l, r.closest(l, instances))
		if err := r.limits(&c); err != nil {
			return err
		}
		c.ByBurst = c.Times < 1 && c.BurstTimes > c.Times
		t, _ := cloud.TypeNamed(l.Spec.Type)
		for _, s := range streams(r.Demand) {
			share := min(c.Times, 1)
			if each, _ := r.latencyOf(r.typical(t), s); each > 0 && s.Threads > 0 {
				share = min(share, float64(ceiling.Concurrent(s.Threads*max(s.Depth, 1), each)/s.IOPS))
			}
			c.Streams = append(c.Streams, share)
		}
		if why := r.noPrice(l.Spec); why != "" {
			a.Rejected = append(a.Rejected, why)
		}
		r.remarks(&c)
		a.Rows = append(a.Rows, c)
	}
	a.notes(*r)
	return nil
}

// LayoutOf is an array of volumes that a provider sells as they were ordered, or why it cannot be
// priced. Without sizes they are as large as the capacity of the data needs, where that is known.
func LayoutOf(a *topology.Array, capacity units.Bytes) (*Layout, error) {
	if len(a.Volumes) == 0 {
		return nil, fmt.Errorf("%s has no volumes", a.Name)
	}
	v := a.Volumes[0]
	for _, o := range a.Volumes {
		switch _, ok := cloud.TypeNamed(o.Type); {
		case !ok:
			named := cmp.Or(o.Type, "a volume without a type")
			return nil, fmt.Errorf("%s: not a volume of the catalogue, so no price is known", named)
		case o.Size == 0 && capacity == 0:
			return nil, fmt.Errorf("a size is missing, such as '4x %s 3000GiB'", o.Type)
		case o.Type != v.Type || o.Size != v.Size || o.Sustained != v.Sustained:
			return nil, fmt.Errorf("the volumes are not alike: %s %v and %s %v", v.Type, v.Size, o.Type, o.Size)
		}
	}
	l := &Layout{
		Level: a.Level,
		N:     len(a.Volumes),
		Chunk: a.Chunk,
		Spec:  cloud.VolumeSpec{Type: v.Type, Size: v.Size},
	}
	t, _ := cloud.TypeNamed(v.Type)
	if v.Size == 0 {
		each := math.Ceil(float64(capacity) * l.usable() / float64(l.N) / float64(units.GiB))
		l.Spec.Size = max(t.MinSize, units.Bytes(each)*units.GiB)
	}
	if t.OrdersIOPS() {
		l.Spec.IOPS = v.Sustained.IOPS
	}
	if t.OrdersRate() {
		l.Spec.Rate = v.Sustained.Rate
	}
	return l, nil
}

// Instead says what as many volumes of another type, as large and provisioned for the demand, would
// cost a month instead of those of was. It is empty where the type does not meet the demand.
func Instead(r Request, typ string, was Candidate) (string, error) {
	if r.Prices == nil {
		r.Prices = cloud.BuiltinPrices()
	}
	if why := r.unfit(typ); why != "" {
		return "", nil
	}
	own := *r.Demand
	own.Capacity = was.Layout.Spec.Size * units.Bytes(was.Layout.N)
	if was.Survives == "volume" {
		own.Capacity /= 2
	}
	r.Demand, r.Keep = &own, nil
	l := was.Layout
	l.Spec = cloud.VolumeSpec{Type: typ}
	r.known, r.required = nil, nil
	l, ok := r.provision(l)
	if !ok {
		return "", nil
	}
	each, ok := r.Prices.Volume(l.Spec)
	if !ok {
		return "", fmt.Errorf("%s has no price", typ)
	}
	month := each * cloud.USD(l.N)
	text := fmt.Sprintf("as %s with %v IOPS", typ, l.Spec.IOPS)
	if l.Spec.Rate > 0 {
		text += " and " + units.Number(float64(l.Spec.Rate/units.MiBPerSec)) + " MiB/s"
	}
	text += fmt.Sprintf(" each they cost %v: ", month)
	if month <= was.VolumesMonth {
		return text + fmt.Sprintf("%v less, and they do not burst", was.VolumesMonth-month), nil
	}
	return text + fmt.Sprintf("%v more", month-was.VolumesMonth), nil
}
