package ceiling

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/text"
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
	resources []*resource
	// read and write are the latency at depth 1 that every volume's data sheet states, 0 where one
	// does not.
	read, write   time.Duration
	latencyOrigin topology.Origin
	notes, partly []string
	memo          map[counting][][2]perMember
}

// resource has an allowance, and one read and one write of each stream put a demand on it. Of
// several alike members the busiest is meant: allowance and demand are those of all together as if
// it stood for each.
type resource struct {
	kind    Kind
	name    string        // what other roles may share: "instance", or the array's name with the limit's
	base    float64       // sustained, 0 where none is stated
	top     float64       // with its burst, 0 where it has none
	credits float64       // saved up for the burst, in units of the allowance × seconds
	lasts   time.Duration // of a burst that lasts so long however much of it is used
	demand  [][2]float64  // by stream: of one read, of one write
	counted units.Bytes   // see Bound.Counted
	pool    bool          // see Bound.Pool
	atLeast string        // see Bound.AtLeast
	how     func(capacity, demand float64) string
	origin  topology.Origin
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
		p.instance(t.Instance, standing(t.Instance))
		p.note("the volumes are not known: what %s allows over its storage network is the only bound", t.Instance.Type)
		return p
	}
	if array == nil || len(array.Volumes) == 0 {
		p.note("what lies below the role %s is not known", role)
		return p
	}
	if n := len(array.Volumes); array.Level == topology.NoLevel && n > 1 {
		p.note("how the %d volumes of %s are combined is not known: declare the level", n, array.Name)
	} else {
		p.volumes(array)
		p.pools(t.Instance, array)
		p.instance(t.Instance, array)
	}
	p.throttles(target, array)
	return p
}

func (p *problem) note(format string, a ...any) {
	p.notes = text.Once(p.notes, fmt.Sprintf(format, a...))
}

// lack notes a limit that the load meets and that is not known.
func (p *problem) lack(format string, a ...any) {
	p.note(format, a...)
	p.partly = text.Once(p.partly, fmt.Sprintf(format, a...))
}

// take makes streams of the sections that run at once.
func (p *problem) take(loads []fio.Workload) {
	for i, w := range loads {
		if i > 0 && w.Stonewall {
			p.note("sections after a stonewall run later: this is the ceiling of the first %d", i)
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
			p.note("buffered I/O (direct=0): the page cache may answer reads and delay writes; the bounds hold for the devices")
		}
		if w.ThinkTime > 0 {
			p.note("thinktime is not counted: the jobs may ask for less")
		}
		p.streams = append(p.streams, streamOf(w))
	}
}

// ceiling turns resources into bounds. With others, what is shared is divided.
func (p *problem) ceiling(others []*problem) Ceiling {
	c := Ceiling{Notes: p.notes, Partly: p.partly}
	for _, s := range p.streams {
		c.InFlight += s.w.InFlight()
	}
	asked, all := p.asked()
	if len(p.streams) > 0 {
		x := p.at(tiny)
		if all {
			x = asked
		}
		b := p.bound(x)
		c.ReadShare, c.IOSize = float64(b.ReadIOPS/b.IOPS), units.Bytes(float64(b.BW)/float64(b.IOPS)+0.5)
	}
	c.model = &model{p, make([][2]float64, len(p.resources))}
	for i, r := range p.resources {
		for j, capacity := range [2]float64{r.base, r.top} {
			if capacity <= 0 {
				continue
			}
			share := p.part(r, j == 1, others)
			c.model.parts[i][j] = share
			if b, ok := p.boundBy(r, capacity, share, j == 1); ok {
				c.Bounds = append(c.Bounds, b)
			}
		}
	}
	if all {
		b := p.bound(asked)
		b.Kind, b.Capacity, b.Demand, b.How = RequestedRate, float64(b.IOPS), 1, "rate= and rate_iops= of the jobs"
		b.Origin = topology.Origin{Kind: topology.Declared, Where: "the job file"}
		c.Bounds = append(c.Bounds, b)
	}
	c.Bounds = sorted(c.Bounds)
	return c.timed()
}

// boundBy is what share of a resource's capacity allows the workload.
func (p *problem) boundBy(r *resource, capacity, share float64, burst bool) (Bound, bool) {
	x := p.fill(capacity, r.demand)
	if x == nil {
		return Bound{}, false
	}
	b := p.bound(x)
	b.Kind, b.Name, b.Burst, b.Origin, b.Counted, b.Pool = r.kind, r.name, burst, r.origin, r.counted, r.pool
	b.AtLeast = r.atLeast
	b.Capacity, b.Demand = capacity, capacity/float64(b.IOPS)
	for _, d := range r.demand {
		b.Costs = append(b.Costs, SectionCost{d[0], d[1]})
	}
	b.How = r.how(capacity, b.Demand)
	if share < 1 {
		b = b.times(share)
		b.Capacity *= share
		b.How += fmt.Sprintf(", × %s of it next to the other role", units.Number(share))
	}
	return b, true
}

// bound sums streams that run at x reads and writes per second each.
func (p *problem) bound(x [][2]float64) Bound {
	var b Bound
	for i, s := range p.streams {
		read, write := x[i][0], x[i][1]
		b.IOPS += units.IOPS(read + write)
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
func (p *problem) part(r *resource, burst bool, others []*problem) float64 {
	if len(others) == 0 {
		return 1
	}
	mine, theirs := p.wants(r.name, burst), 0.0
	for _, o := range others {
		theirs += o.wants(r.name, burst)
	}
	capacity := r.base
	if burst {
		capacity = r.top
	}
	if mine <= 0 || theirs <= 0 {
		return 1
	}
	return min(1, max(mine/(mine+theirs), 1-theirs/capacity))
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
		if r.name == name && top != nil {
			return used(p.carrying(float64(top.IOPS)), r.demand)
		}
	}
	return 0
}
