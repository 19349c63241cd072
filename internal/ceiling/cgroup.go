package ceiling

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// throttles adds what control groups allow. A group counts I/Os as they are submitted: on the
// device that the path lies on one for each logical I/O, on the members of an array one for each
// piece.
func (p *problem) throttles(target *topology.Target, a *topology.Array) {
	if target == nil {
		return
	}
	m := p.members(a)
	parts := p.parts(a, m)
	for _, t := range target.Throttles {
		at := slices.IndexFunc(a.Volumes, func(v topology.Volume) bool { return v.Device == t.Device })
		for _, l := range limits {
			allowed := l.of(t.Limits)
			if allowed.capacity <= 0 {
				continue
			}
			r := p.logical(l, allowed)
			if at >= 0 && m.n > 1 {
				one := *a
				one.SyncFloor = 0 // md's own I/O is in no such group
				one.Volumes = slices.Clone(a.Volumes)
				one.Volumes[at] = topology.Volume{Device: t.Device, Sustained: t.Limits}
				r = p.member(&one, m, l, at, parts[at])
			}
			if r == nil {
				continue
			}
			r.kind, r.name, r.origin = CgroupIOPS, "cgroup "+t.Group+" "+t.Device+" "+l.name, t.Origin
			text := units.IOPS(allowed.capacity).String() + " " + l.name
			if l.kind == VolumeRate {
				r.kind = CgroupRate
				text = units.Rate(allowed.capacity).String()
				if side, ok := strings.CutSuffix(l.name, " rate"); ok { // the kernel knows no other, but a record may
					text += " of " + side + "s"
				}
			}
			how := fmt.Sprintf("the cgroup %s allows %s on %s", t.Group, text, t.Device)
			r.how = func(_, _ float64) string { return how }
			p.add(r)
		}
	}
}

// logical is a resource that counts the jobs' own I/Os.
func (p *problem) logical(l limit, of budget) *resource {
	r := &resource{base: of.capacity}
	for _, s := range p.streams {
		r.demand = append(r.demand, [2]float64{
			l.use(of, cost{readIOs: 1, readBytes: float64(s.w.ReadBS)}),
			l.use(of, cost{writeIOs: 1, writeBytes: float64(s.w.WriteBS)}),
		})
	}
	return r
}
