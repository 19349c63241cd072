package advise

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// afr is the share of years in which a layout loses the data: of a stripe, in which any of its
// volumes does. A mirror has none.
func (l Layout) afr() float64 {
	t, _ := cloud.TypeNamed(l.Spec.Type)
	if l.Level.Mirrored() || l.Local {
		return 0
	}
	return 1 - math.Pow(1-t.AFR, float64(l.N))
}

// durable says whether a layout outlives what the demand says it must.
func (r *Request) durable(l Layout) bool {
	d := r.Demand.Durability
	switch {
	case l.Local:
		return d.AFR == 0 && (d.Survives == "" || d.Survives == workload.NoLoss)
	case l.Level.Mirrored():
		return true
	case d.Survives == workload.LostVolume:
		return false
	}
	return d.AFR == 0 || l.afr() <= d.AFR*1.000001
}

// loss is what floating point may lose of a figure: no more than that is forgiven anywhere, so that
// what is ordered and what is judged agree.
const loss = 1e-9

// up rounds to whole units as they are ordered.
func up(v float64) float64 { return math.Ceil(v * (1 - loss)) }

// copies of each block.
func (l Layout) copies() float64 {
	if l.Level.Mirrored() {
		return 2
	}
	return 1
}

// provision orders a layout's volumes as cheaply as the type's rules and prices allow for the
// demand with headroom; false where the type's limits do not reach it.
func (r *Request) provision(l Layout) (Layout, bool) {
	l.Spec = r.order(l, r.needs(l))
	return l, r.falls(l) == ""
}

// order is what each volume of a layout is ordered as for a need of all. Each figure is rounded to what can
// be ordered before another is worked out of it. Where nothing is enough it is the most that is tried.
func (r *Request) order(l Layout, n need) (order cloud.VolumeSpec) {
	t, _ := cloud.TypeNamed(l.Spec.Type)
	gib := max(up(float64(r.Demand.Capacity)*l.copies()/float64(l.N)/float64(units.GiB)), float64(t.MinSize/units.GiB), 1)
	order.Type = t.Type
	if t.BySize() {
		return r.size(t, l, n, gib)
	}
	n = n.times(1 / float64(l.N))
	if t.Rate.Derived {
		order.IOPS = units.IOPS(max(up(n.iops), leastIOPS(t, n.bytes)))
		gib = max(gib, up(float64(order.IOPS)/t.IOPS.PerGiB))
	} else {
		unit := t.RateUnit()
		order.IOPS = max(t.IOPS.Included, t.IOPS.Min, units.IOPS(up(n.iops)))
		least := max(units.Rate(n.bytes), t.LeastRate(order.IOPS))
		order.Rate = max(t.Rate.Included, units.Rate(up(float64(least/unit)))*unit)
		if order.Rate > t.Rate.Included && t.Rate.PerIOPS > 0 {
			order.IOPS = max(order.IOPS, units.IOPS(up(float64(order.Rate/t.Rate.PerIOPS))))
		}
		if order.IOPS > t.IOPS.Included {
			gib = max(gib, up(float64(order.IOPS)/t.IOPS.PerGiB))
		}
	}
	order.IOPS = max(order.IOPS, units.IOPS(up(t.IOPS.LeastPerGiB*gib)))
	order.Size = units.Bytes(gib) * units.GiB
	return order
}

// size is the cheapest volume of a type whose limits follow from its size: the smallest that gives a need,
// or, of one that bursts, whose credits carry a series; of fixed sizes that of the least price.
func (r *Request) size(t cloud.VolumeType, l Layout, n need, gib float64) cloud.VolumeSpec {
	if t.Pool != nil { // which sees all I/Os, and not those of the busiest volume
		n = r.requirement(l).peak.times(n.iops / r.needs(l).iops)
	}
	enough := func(size units.Bytes) bool {
		l.Spec = cloud.VolumeSpec{Type: t.Type, Size: size}
		f, err := cloud.VolumeLimits(l.Spec)
		if r.Series != nil && t.Credits() {
			return err == nil && r.carried(l, f)
		}
		return err == nil && n.under(r.given(l, f))
	}
	if len(t.Tiers) == 0 {
		most := int(t.MaxSize/units.GiB) - int(gib)
		at := sort.Search(max(most, 0), func(i int) bool { return enough(units.Bytes(int(gib)+i) * units.GiB) })
		return cloud.VolumeSpec{Type: t.Type, Size: units.Bytes(int(gib)+at) * units.GiB}
	}
	best := cloud.VolumeSpec{Type: t.Type, Size: t.MaxSize}
	found, price := false, cloud.USD(0)
	for _, tier := range t.Tiers {
		if float64(tier.Size) < gib*float64(units.GiB) || !enough(tier.Size) {
			continue
		}
		one := cloud.VolumeSpec{Type: t.Type, Size: tier.Size}
		each, ok := r.Prices.Volume(one)
		if !found || ok && (price == 0 || each < price) {
			best, found, price = one, true, each
		}
	}
	return best
}

// given is what the volumes of a layout sustain together of the mix that is wanted.
func (r *Request) given(l Layout, f cloud.VolumeFacts) need {
	if f.Pooled {
		f, _ = cloud.VolumeLimits(l.together())
		return r.requirement(l).gives(f.Sustained)
	}
	return need{float64(f.Sustained.IOPS), float64(f.Sustained.Rate)}.times(float64(l.N))
}

// together is what the volumes of a layout are as one, of which the limits of a pool follow.
func (l Layout) together() cloud.VolumeSpec {
	return cloud.VolumeSpec{Type: l.Spec.Type, Size: l.Spec.Size * units.Bytes(l.N)}
}

// leastIOPS is the smallest order whose throughput, which follows from it, reaches a rate; that of
// the type's most where none does.
func leastIOPS(t cloud.VolumeType, rate float64) float64 {
	from, to := int(t.IOPS.Min), int(t.IOPS.Max)
	return float64(from + sort.Search(to-from, func(i int) bool {
		f, err := cloud.VolumeLimits(cloud.VolumeSpec{Type: t.Type, IOPS: units.IOPS(from + i)})
		return err == nil && float64(f.Sustained.Rate) >= rate*(1-loss)
	}))
}

// falls says why a layout as ordered does not meet the demand with headroom; empty when it does.
// Bursts do not count.
func (r *Request) falls(l Layout) string {
	f, err := cloud.VolumeLimits(l.Spec)
	if err != nil {
		return err.Error()
	}
	if !r.durable(l) {
		return fmt.Sprintf("%d × %s %s is not as durable as asked for", l.N, l.Spec.Type, l.Level)
	}
	if share, text := r.shortfall(l, f); share < 1-loss && (r.Series == nil || !r.carried(l, f)) {
		return text
	}
	return ""
}

// shortfall is the share of the demand with headroom that volumes with these limits sustain and
// hold, and the obstacle that decides: the one of which they reach least.
func (r *Request) shortfall(l Layout, f cloud.VolumeFacts) (share float64, text string) {
	n, given := r.needs(l), r.given(l, f)
	if f.Pooled {
		n = r.requirement(l).peak
	}
	least := math.Inf(1)
	take := func(have, want float64, format string, figures ...any) {
		if want > 0 && have/want < least {
			least = have / want
			text = fmt.Sprintf("%d × %s ", l.N, l.Spec.Type) + fmt.Sprintf(format, figures...)
		}
	}
	size := float64(l.Spec.Size) * float64(l.N) / l.usable()
	take(given.iops, n.iops, "sustain %v of %v volume I/Os per second", units.IOPS(given.iops), units.IOPS(n.iops))
	take(given.bytes, n.bytes, "sustain %v of %v at the volumes", units.Rate(given.bytes), units.Rate(n.bytes))
	take(size, float64(r.Demand.Capacity), "hold %v of %v", units.Bytes(size), r.Demand.Capacity)
	return least, text
}

// usable is how many volumes' worth of space one volume's worth of data takes.
func (l Layout) usable() float64 {
	if p := l.Level.Parity(); p > 0 {
		return float64(l.N) / float64(max(l.N-p, 1))
	}
	return l.copies()
}

// atMost is how much of the demand a layout reaches at the most that its type can be ordered with,
// and what is in its way.
func (r *Request) atMost(l Layout) (share float64, text string) {
	t, _ := cloud.TypeNamed(l.Spec.Type)
	l.Spec = cloud.VolumeSpec{Type: t.Type, Size: t.MaxSize, IOPS: t.IOPS.Max}
	if !t.Rate.Derived {
		l.Spec.Rate = t.Rate.Max
	}
	f, err := cloud.VolumeLimits(l.Spec)
	if err != nil {
		return 0, t.Type + ": " + err.Error()
	}
	share, text = r.shortfall(l, f)
	return share, fmt.Sprintf("%s: at their most, %s", t.Type, text)
}

// carried says whether volumes carry the series, by their credits where they have any.
func (r *Request) carried(l Layout, f cloud.VolumeFacts) bool {
	spans := r.on(l).spans
	short := func(b bucket) bool { return !b.carries(spans, b.of) }
	return float64(l.Spec.Size)*float64(l.N)/l.usable() >= float64(r.Demand.Capacity)*(1-loss) &&
		!slices.ContainsFunc(r.volumeBuckets(l, f), short)
}
