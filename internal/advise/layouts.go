package advise

import (
	"fmt"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// chunk of the stripes that are advised: an I/O of up to 256 KiB, which EBS counts once, is never
// cut in two that are both counted unless it crosses a boundary.
const chunk = 256 * units.KiB

var (
	stripes = []int{2, 3, 4, 6, 8, 12, 16}
	mirrors = []int{4, 6, 8, 12, 16}
)

// need is what a demand asks of all volumes together, as they count it, without headroom. Of
// streams that run apart each figure is the largest.
type need struct {
	iops  float64
	bytes float64 // a second
}

// load is the fio workload that stands for a stream: its mean block in each direction.
func load(s *workload.Stream) fio.Workload {
	w := fio.Workload{
		Name:       s.Name,
		Engine:     "libaio",
		Direct:     true,
		ReadShare:  s.ReadShare,
		Sequential: !s.Random,
		Jobs:       max(s.Threads, 1),
		Depth:      max(s.Depth, 1),
		SyncEvery:  s.Sync.Each,
	}
	block := units.Bytes(s.MeanBlock() + 0.5)
	if s.Reads() {
		w.ReadBS = block
	}
	if s.Writes() {
		w.WriteBS = block
	}
	return w
}

// array is a layout as ceiling takes it. EBS merges sequential I/Os as best it can; nothing is
// bought on that.
func (l Layout) array() *topology.Array {
	a := &topology.Array{Name: "data", Level: l.Level, Chunk: l.Chunk, Volumes: make([]topology.Volume, l.N)}
	if l.Level == topology.RAID10 {
		a.Copies = 2
	}
	t, _ := cloud.TypeNamed(l.Spec.Type)
	for i := range a.Volumes {
		a.Volumes[i] = topology.Volume{Type: l.Spec.Type, Size: l.Spec.Size, Network: !l.Local, CountedIO: t.Counted}
	}
	return a
}

// needs is what the demand asks of a layout's volumes. Sizes of a mixture are counted one by one: a
// mean of 17.6 KiB hides none above 256 KiB.
func (r *Request) needs(l Layout, part func(*workload.Stream) float64) need {
	var most need
	a := l.array()
	for _, group := range r.Demand.Together() {
		var sum need
		for _, s := range group {
			for _, b := range s.Blocks {
				w := load(s)
				if w.ReadBS > 0 {
					w.ReadBS = b.Size
				}
				if w.WriteBS > 0 {
					w.WriteBS = b.Size
				}
				c := ceiling.CostOf(a, w)
				each := float64(s.IOPS) * b.Share * part(s)
				sum.iops += each * c.IOs
				sum.bytes += each * c.Bytes
			}
		}
		most.iops, most.bytes = max(most.iops, sum.iops), max(most.bytes, sum.bytes)
	}
	return most
}

func always(*workload.Stream) float64 { return 1 }

// types are those asked for.
func (r *Request) types() []string {
	if len(r.Types) == 0 {
		return DefaultTypes
	}
	return r.Types
}

// layouts are all that could meet the demand, provisioned for it as cheaply as their type allows,
// and why types are left out.
func (r *Request) layouts() (all []Layout, rejected []string) {
	if r.Keep != nil {
		if why := r.unfit(r.Keep.Spec.Type); why != "" {
			return nil, []string{why}
		}
		if why := r.falls(*r.Keep); why != "" {
			return nil, []string{why}
		}
		return []Layout{*r.Keep}, nil
	}
	most := r.MaxVolumes
	if most <= 0 {
		most = DefaultMaxVolumes
	}
	for _, typ := range r.types() {
		if typ == "local" {
			continue
		}
		if why := r.unfit(typ); why != "" {
			rejected = append(rejected, why)
			continue
		}
		fits, undurable := 0, 0
		for _, shape := range shapes(most) {
			shape.Spec.Type = typ
			if !r.durable(shape) {
				undurable++
				continue
			}
			if l, ok := r.provision(shape); ok {
				all = append(all, l)
				fits++
			}
		}
		switch {
		case fits > 0:
		case undurable == len(shapes(most)):
			rejected = append(rejected, fmt.Sprintf("%s: no layout of it is as durable as asked for", typ))
		default:
			rejected = append(
				rejected,
				fmt.Sprintf("%s: %d volumes of it at their most do not reach the demand", typ, most),
			)
		}
	}
	return all, rejected
}

func shapes(most int) []Layout {
	all := []Layout{{Level: topology.Single, N: 1}}
	for _, n := range stripes {
		if n <= most {
			all = append(all, Layout{Level: topology.RAID0, N: n, Chunk: chunk})
		}
	}
	for _, n := range mirrors {
		if n <= most {
			all = append(all, Layout{Level: topology.RAID10, N: n, Chunk: chunk})
		}
	}
	return all
}

// unfit says why no volume of a type does, whatever is provisioned; empty when one may.
func (r *Request) unfit(typ string) string {
	t, ok := cloud.TypeNamed(typ)
	if !ok || t.Provider != "AWS" {
		return fmt.Sprintf("%.40s: not an EBS volume type of the catalogue", typ)
	}
	if _, ok := r.Prices.Volumes[typ]; !ok {
		return typ + ": no price"
	}
	for i := range r.Demand.Streams {
		s := &r.Demand.Streams[i]
		if t.HDD != nil && s.Random {
			return fmt.Sprintf("%s: %s is random, and a random I/O costs a whole 1 MiB there", typ, s.Name)
		}
		if least := s.Latency.Smallest(); t.HDD != nil && least > 0 && least < 10*time.Millisecond {
			return fmt.Sprintf("%s: %s wants %s, which no hard disk gives", typ, s.Name, units.LatencyOf(least))
		}
		if why := r.tooSlow(typ, t.Typical, s); why != "" {
			return why
		}
	}
	return ""
}

// tooSlow holds a stream's concurrency and latency limits against what one I/O takes.
func (r *Request) tooSlow(typ string, l *cloud.TypicalLatency, s *workload.Stream) string {
	lat, source := r.latencyOf(l, s)
	if lat == 0 {
		return ""
	}
	if s.Commits {
		most := ceiling.Concurrent(max(s.Threads, 1), 3*lat)
		if s.Threads <= 1 {
			most = ceiling.Concurrent(2, 3*lat) // one client waits for a sync and a half
		}
		if most < s.IOPS {
			return fmt.Sprintf("%s: a synced write takes %v, which allows %s %v of %v commits a second [%s]",
				typ, units.LatencyOf(lat), text.Plural(max(s.Threads, 1), "client"), most, s.IOPS, source)
		}
		return ""
	}
	if s.Threads > 0 {
		n := s.Threads * max(s.Depth, 1)
		if most := ceiling.Concurrent(n, lat); most < s.IOPS*0.999 {
			return fmt.Sprintf("%s: %s has %s in flight, and at %v each they give %v of %v IOPS [%s]",
				typ, s.Name, text.Plural(n, "I/O"), units.LatencyOf(lat), most, s.IOPS, source)
		}
	}
	if least := s.Latency.Smallest(); least > 0 && least < lat {
		return fmt.Sprintf(
			"%s: %s wants %v, and one I/O takes %v at rest [%s]",
			typ,
			s.Name,
			units.LatencyOf(least),
			units.LatencyOf(lat),
			source,
		)
	}
	return ""
}

// latencyOf one I/O of a stream at depth 1 by the mix of reads, writes and syncs; 0 where nothing
// is known of the type.
func (r *Request) latencyOf(l *cloud.TypicalLatency, s *workload.Stream) (time.Duration, string) {
	if l == nil {
		return 0, ""
	}
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	write, source := us(l.Write), l.Source
	if s.Sync.Each > 0 {
		synced := us(l.Synced)
		if r.Synced > 0 {
			synced, source = r.Synced, "measured"
		}
		write += (synced - write) / time.Duration(s.Sync.Each)
	}
	return time.Duration(s.ReadShare*float64(us(l.Read)) + (1-s.ReadShare)*float64(write)), source
}

// meanLatency of the demand's I/Os on a type.
func (r *Request) meanLatency(l *cloud.TypicalLatency) time.Duration {
	var sum, n float64
	for i := range r.Demand.Streams {
		s := &r.Demand.Streams[i]
		lat, _ := r.latencyOf(l, s)
		sum += float64(lat) * float64(s.IOPS)
		n += float64(s.IOPS)
	}
	if n == 0 {
		return 0
	}
	return time.Duration(sum / n)
}
