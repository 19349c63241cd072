package advise

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// afr is the share of years in which a layout loses the data: of a stripe, in which any of its
// volumes does. A mirror has none.
func (l Layout) afr() float64 {
	t, _ := cloud.TypeNamed(l.Spec.Type)
	if l.Level == topology.RAID10 || l.Local {
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
	case l.Level == topology.RAID10:
		return true
	case d.Survives == workload.LostVolume:
		return false
	}
	return d.AFR == 0 || l.afr() <= d.AFR*1.000001
}

// up rounds to whole units as they are ordered.
func up(v float64) float64 { return math.Ceil(v - 1e-6) }

// provision orders a layout's volumes as cheaply as the type's rules and prices allow for the
// demand with headroom; false where the type's limits do not reach it.
func (r *Request) provision(l Layout) (Layout, bool) {
	t, _ := cloud.TypeNamed(l.Spec.Type)
	n := r.needs(l, always)
	iops := n.iops * (1 + r.Headroom) / float64(l.N)
	mib := n.bytes * (1 + r.Headroom) / float64(l.N) / float64(units.MiBPerSec)
	copies := 1.0
	if l.Level == topology.RAID10 {
		copies = 2
	}
	gib := max(up(float64(r.Demand.Capacity)*copies/float64(l.N)/float64(units.GiB)), float64(t.MinSize/units.GiB), 1)
	order := cloud.VolumeSpec{Type: t.Type}
	switch {
	case t.Type == "gp2":
		gib = max(gib, up(iops/3))
		if mib > 128 {
			gib = max(gib, 334)
		}
	case t.HDD != nil:
		gib = max(gib, up(mib/float64(t.HDD.Base/units.MiBPerSec)*1024))
	case t.Rate.Derived:
		i := max(float64(t.IOPS.Min), up(iops))
		if t.Rate.PerIOPS > 0 {
			i = max(i, up(mib*float64(units.MiBPerSec)/float64(t.Rate.PerIOPS)))
		} else { // io1: 256 KiB for each IOPS
			i = max(i, up(mib*4))
		}
		gib = max(gib, up(i/t.IOPS.PerGiB))
		order.IOPS = units.IOPS(i)
	default:
		i := max(float64(t.IOPS.Included), up(iops))
		per := float64(t.Rate.PerIOPS / units.MiBPerSec)
		if mib > float64(t.Rate.Included/units.MiBPerSec) && mib > per*i {
			i = up(up(mib) / per)
		}
		if i > float64(t.IOPS.Included) {
			gib = max(gib, up(i/t.IOPS.PerGiB))
		}
		order.IOPS = units.IOPS(i)
		order.Rate = max(t.Rate.Included, units.Rate(up(mib))*units.MiBPerSec)
	}
	order.Size = units.Bytes(gib) * units.GiB
	l.Spec = order
	return l, r.falls(l) == ""
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
	n := r.needs(l, always)
	times := 1 + r.Headroom
	if have, want := float64(f.Sustained.IOPS)*float64(l.N), n.iops*times; have < want-0.5 {
		return fmt.Sprintf(
			"%d × %s sustain %v of %v volume I/Os a second",
			l.N,
			l.Spec.Type,
			units.IOPS(have),
			units.IOPS(want),
		)
	}
	if have, want := float64(f.Sustained.Rate)*float64(l.N), n.bytes*times; have < want*0.99999 {
		return fmt.Sprintf(
			"%d × %s sustain %v of %v at the volumes",
			l.N,
			l.Spec.Type,
			units.Rate(have),
			units.Rate(want),
		)
	}
	return ""
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
