package advise

import (
	"fmt"
	"math"
	"path"
	"slices"
	"sort"
	"strings"

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
// demand with headroom; false where the type's limits do not reach it. Each figure is rounded to
// what can be ordered before another is worked out of it.
func (r *Request) provision(l Layout) (Layout, bool) {
	spec, ok := r.order(l, r.needs(l))
	l.Spec = spec
	return l, ok && r.falls(l) == ""
}

// order is what each volume of a layout is ordered as for a need of all; false where a series' credits
// never suffice.
func (r *Request) order(l Layout, n need) (order cloud.VolumeSpec, ok bool) {
	t, _ := cloud.TypeNamed(l.Spec.Type)
	n = n.times(1 / float64(l.N))
	gib := max(up(float64(r.Demand.Capacity)*l.copies()/float64(l.N)/float64(units.GiB)), float64(t.MinSize/units.GiB), 1)
	order.Type = t.Type
	switch {
	case t.Credits() && r.Series != nil:
		if gib, ok = r.burstSize(l, gib, float64(t.MaxSize/units.GiB)); !ok {
			return order, false
		}
	case t.Type == cloud.GP2: // 100 IOPS and 128 MiB/s at any size
		if n.iops > 100 {
			gib = max(gib, up(n.iops/3))
		}
		if n.bytes > 128*float64(units.MiBPerSec) {
			gib = max(gib, 171)
		}
	case t.HDD != nil: // each counted I/O costs as much as its bytes
		rate := max(n.bytes, n.iops*float64(t.Counted))
		gib = max(gib, up(rate/float64(t.HDD.Base)*1024))
	case t.Rate.Derived:
		order.IOPS = units.IOPS(max(up(n.iops), leastIOPS(t, n.bytes)))
		gib = max(gib, up(float64(order.IOPS)/t.IOPS.PerGiB))
	default:
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
	if least := units.IOPS(up(t.IOPS.LeastPerGiB * gib)); least > order.IOPS {
		order.IOPS = least
	}
	order.Size = units.Bytes(gib) * units.GiB
	return order, true
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
	n, count := r.needs(l), float64(l.N)
	least := math.Inf(1)
	take := func(have, want float64, format string, figures ...any) {
		if want > 0 && have/want < least {
			least = have / want
			text = fmt.Sprintf("%d × %s ", l.N, l.Spec.Type) + fmt.Sprintf(format, figures...)
		}
	}
	iops, rate := float64(f.Sustained.IOPS)*count, float64(f.Sustained.Rate)*count
	size := float64(l.Spec.Size) * count / l.usable()
	take(iops, n.iops, "sustain %v of %v volume I/Os per second", units.IOPS(iops), units.IOPS(n.iops))
	take(rate, n.bytes, "sustain %v of %v at the volumes", units.Rate(rate), units.Rate(n.bytes))
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

// family is the part of an instance type before the dot.
func family(typ string) string {
	f, _, _ := strings.Cut(typ, ".")
	return f
}

// wanted says whether a family is among those asked for.
func (r *Request) wanted(typ string) bool {
	return len(r.Families) == 0 || slices.ContainsFunc(r.Families, func(glob string) bool {
		ok, err := path.Match(strings.TrimSuffix(glob, ".*"), family(typ))
		return ok && err == nil
	})
}
