package ceiling

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Of works out every bound on what runs at once against a role's path: one Workload a section of
// the job. It is pure arithmetic on what the topology says; an unknown limit gives no bound and a
// note.
func Of(t *topology.Topology, role topology.Role, loads []fio.Workload) Ceiling {
	p := plan(t, role, loads)
	return p.stated(p.ceiling(nil))
}

// OfTogether is Of for roles that run at the same time. What they share, the instance and an array
// that is both roles', is divided in proportion to what each would use alone.
func OfTogether(t *topology.Topology, loads map[topology.Role][]fio.Workload) map[topology.Role]Ceiling {
	plans := map[topology.Role]*problem{}
	for role, l := range loads {
		plans[role] = plan(t, role, l)
	}
	together := map[topology.Role]Ceiling{}
	for role, p := range plans {
		var others []*problem
		for _, r := range slices.Sorted(maps.Keys(plans)) {
			if r != role {
				others = append(others, plans[r])
			}
		}
		together[role] = p.stated(p.ceiling(others))
	}
	return together
}

// problem is a workload on a topology, made ready: streams and the resources that they use.
type problem struct {
	streams   []stream
	resources []resource
	// read and write are the latency at depth 1 that every volume's data sheet states, 0 where one
	// does not.
	read, write   time.Duration
	latencyOrigin topology.Origin
	notes         []string
}

// stream is one section of a job. Sections that run at once get through I/Os in proportion to their
// weight, the I/Os they keep in flight, but none above its limit, the rate it asks for (0: none).
type stream struct {
	w             fio.Workload
	weight, limit float64
}

// resource has a capacity, and one I/O of each stream puts a demand on it. Of several alike members
// the busiest is meant: capacity and demand are those of all together as if it stood for each.
type resource struct {
	kind     Kind
	name     string // what other roles may share: "instance", or the array's name with the limit's
	burst    bool
	capacity float64
	demand   []float64
	base     float64 // capacity without burst
	credits  float64 // saved up for the burst, in units of capacity × seconds; 0: see lasts
	lasts    time.Duration
	how      func(demand float64) string
	origin   topology.Origin
}

func plan(t *topology.Topology, role topology.Role, loads []fio.Workload) *problem {
	p := &problem{}
	p.take(loads)
	if t == nil || len(p.streams) == 0 {
		return p
	}
	target := t.For(role)
	if target == nil && len(t.Targets) == 1 {
		target = &t.Targets[0]
	}
	var array *topology.Array
	if target != nil {
		array = t.Array(target.Array)
	} else if len(t.Targets) == 0 && len(t.Arrays) == 1 {
		array = &t.Arrays[0]
	}
	if array == nil && len(t.Targets)+len(t.Arrays) == 0 && t.Instance.Type != "" {
		p.instance(t.Instance, &attached)
		p.note("the volumes are not known: what %s allows over its storage network is the only bound", t.Instance.Type)
		return p
	}
	if array == nil || len(array.Volumes) == 0 {
		p.note("what lies below the role %s is not known", role)
		return p
	}
	p.volumes(array)
	p.instance(t.Instance, array)
	p.throttles(target, array)
	return p
}

// attached stands for volumes of which nothing is known but that they are EBS's: SSD volumes count
// I/Os as gp3 does.
var attached = topology.Array{
	Name: "attached", Level: topology.Single,
	Volumes: []topology.Volume{{Network: true, CountedIO: 256 * units.KiB, Merges: true}},
}

func (p *problem) note(format string, a ...any) {
	if text := fmt.Sprintf(format, a...); !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}

// take makes streams of the sections that run at once.
func (p *problem) take(loads []fio.Workload) {
	for i, w := range loads {
		if i > 0 && w.Stonewall {
			p.note("sections behind a stonewall run later: this is the ceiling of the first %d", i)
			break
		}
		if w.ReadShare < 1 && w.WriteBS == 0 && w.ReadBS == 0 || w.ReadShare+w.TrimShare > 1.0001 {
			continue
		}
		switch {
		case w.StartDelay > 0:
			p.note("a section that starts later counts as if it ran all the time")
		case w.TrimShare > 0:
			p.note("trims are counted without cost")
		}
		if w.Buffered {
			p.note(
				"buffered I/O (direct=0): the page cache may answer reads and delay writes, the bounds hold for " +
					"the devices",
			)
		}
		if w.ThinkTime > 0 {
			p.note("thinktime is not counted: the jobs may ask for less")
		}
		p.streams = append(p.streams, stream{w, float64(w.InFlight()), requested(w)})
	}
}

// requested is the I/Os a second that the jobs of w are limited to by rate= and rate_iops=, 0 for
// no limit. fio keeps the mix, so a limit on one direction limits the whole.
func requested(w fio.Workload) float64 {
	limit := 0.0
	apply := func(share float64, iops units.IOPS, rate units.Rate, bs units.Bytes) {
		if rate > 0 && bs > 0 && (iops == 0 || units.IOPS(float64(rate)/float64(bs)) < iops) {
			iops = units.IOPS(float64(rate) / float64(bs))
		}
		if total := float64(iops) * float64(max(w.Jobs, 1)); share > 0 && total > 0 &&
			(limit == 0 || total/share < limit) {
			limit = total / share
		}
	}
	read, write := w.HeldIOPS()
	apply(w.ReadShare, read, w.ReadRate, w.ReadBS)
	apply(writeShare(w), write, w.WriteRate, w.WriteBS)
	return limit
}

func writeShare(w fio.Workload) float64 { return max(1-w.ReadShare-w.TrimShare, 0) }

// ceiling turns resources into bounds. With others, what is shared is divided.
func (p *problem) ceiling(others []*problem) Ceiling {
	c := Ceiling{Notes: p.notes}
	for _, s := range p.streams {
		c.InFlight += s.w.InFlight()
	}
	if len(p.streams) > 0 {
		mix := make([]float64, len(p.streams))
		for i, s := range p.streams {
			mix[i] = s.weight
			if p.requestedAll() {
				mix[i] = s.limit
			}
		}
		b := p.bound(mix)
		c.ReadShare, c.IOSize = float64(b.ReadIOPS/b.IOPS), units.Bytes(float64(b.BW)/float64(b.IOPS)+0.5)
	}
	var from []*resource
	for i := range p.resources {
		r := &p.resources[i]
		x := fill(r.capacity, p.streams, r.demand)
		if x == nil {
			continue
		}
		b := p.bound(x)
		b.Kind, b.Burst, b.BurstFor, b.Origin = r.kind, r.burst, r.lasts, r.origin
		b.Capacity, b.Demand = r.capacity, r.capacity/float64(b.IOPS)
		b.How = r.how(b.Demand)
		if part := p.part(r, others); part < 1 {
			b = b.times(part)
			b.Capacity *= part
			b.How += fmt.Sprintf(", × %s of it next to the other role", units.Number(part))
		}
		c.Bounds = append(c.Bounds, b)
		from = append(from, r)
	}
	// How long credits last depends on how fast they are spent, and that on what binds.
	lasts := map[int]time.Duration{}
	short := Ceiling{Bounds: sorted(slices.Clone(c.Bounds))}.Binding()
	for i, r := range from {
		if b := c.Bounds[i]; r.burst && r.credits > 0 && b.IOPS > 0 {
			spent := r.capacity * min(1, float64(short.IOPS/b.IOPS))
			if spent <= r.base { // something else holds the load below the baseline: as if it did not
				spent = r.capacity
			}
			lasts[i] = time.Duration(r.credits / (spent - r.base) * float64(time.Second)).Round(time.Second)
		}
	}
	for i, d := range lasts {
		c.Bounds[i].BurstFor = d
	}
	if p.requestedAll() {
		x := make([]float64, len(p.streams))
		for i, s := range p.streams {
			x[i] = s.limit
		}
		b := p.bound(x)
		b.Kind, b.Capacity, b.Demand, b.How = RequestedRate, float64(b.IOPS), 1, "rate= and rate_iops= of the jobs"
		b.Origin = topology.Origin{Kind: topology.Declared, Where: "the job file"}
		c.Bounds = append(c.Bounds, b)
	}
	c.Bounds = sorted(c.Bounds)
	return c
}

func (p *problem) requestedAll() bool {
	return len(p.streams) > 0 && !slices.ContainsFunc(p.streams, func(s stream) bool { return s.limit == 0 })
}

// bound sums streams that run at x I/Os a second each.
func (p *problem) bound(x []float64) Bound {
	var b Bound
	for i, s := range p.streams {
		read, write := x[i]*s.w.ReadShare, x[i]*writeShare(s.w)
		b.IOPS += units.IOPS(x[i])
		b.ReadIOPS += units.IOPS(read)
		b.WriteIOPS += units.IOPS(write)
		b.BW += units.Rate(read*float64(s.w.ReadBS) + write*float64(s.w.WriteBS))
	}
	return b
}

func (b Bound) times(f float64) Bound {
	b.IOPS, b.ReadIOPS, b.WriteIOPS = b.IOPS*units.IOPS(f), b.ReadIOPS*units.IOPS(f), b.WriteIOPS*units.IOPS(f)
	b.BW *= units.Rate(f)
	return b
}

// part is the share of a resource that is left to p when the others run too: in proportion to what
// each would take of it if it had the resource for itself and met its other bounds. What the others
// do not want is p's.
func (p *problem) part(r *resource, others []*problem) float64 {
	if len(others) == 0 {
		return 1
	}
	mine, theirs := p.wants(r.name, r.burst), 0.0
	for _, o := range others {
		theirs += o.wants(r.name, r.burst)
	}
	if mine <= 0 || theirs <= 0 || r.capacity <= 0 {
		return 1
	}
	return max(mine/(mine+theirs), 1-theirs/r.capacity)
}

// wants is how much of a shared resource's capacity a problem uses at its own ceiling, burst or
// sustained.
func (p *problem) wants(name string, burst bool) float64 {
	c := p.ceiling(nil)
	top := c.Sustained()
	if burst {
		top = c.Binding()
	}
	for _, r := range p.resources {
		if r.name != name || r.burst != burst {
			continue
		}
		if x := fill(r.capacity, p.streams, r.demand); x != nil && top != nil {
			return r.capacity * float64(top.IOPS/p.bound(x).IOPS)
		}
	}
	return 0
}

// fill finds the I/Os a second of each stream that use a capacity up: all rise together in
// proportion to their weights, and a stream that reaches the rate it asks for stays there. When
// even all the rates asked for leave some capacity, they are scaled to it, for that is what the
// resource would allow. Nil when the streams do not use the resource.
func fill(capacity float64, streams []stream, demand []float64) []float64 {
	x := make([]float64, len(streams))
	full := make([]bool, len(streams))
	for {
		left, slope := capacity, 0.0
		for i, s := range streams {
			if full[i] {
				left -= s.limit * demand[i]
			} else {
				slope += s.weight * demand[i]
			}
		}
		if slope == 0 { // all that use it have what they ask for
			if used := capacity - left; used > 0 && !slices.Contains(full, false) {
				for i, s := range streams {
					x[i] = s.limit * capacity / used
				}
				return x
			}
			return nil
		}
		level, grew := left/slope, false
		for i, s := range streams {
			if !full[i] && s.limit > 0 && s.weight*level > s.limit {
				full[i], grew = true, true
			}
		}
		if grew {
			continue
		}
		for i, s := range streams {
			x[i] = s.weight * level
			if full[i] {
				x[i] = s.limit
			}
		}
		return x
	}
}
