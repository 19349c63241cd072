package advise

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// chunk of the stripes that are advised unless another one costs less: an I/O of up to 256 KiB,
// which EBS counts once on an SSD, is never cut in two that are both counted unless it crosses a
// boundary.
const chunk = 256 * units.KiB

// chunks are those that are tried, the first of equally good ones taken. Above 1 MiB, the most that
// any volume counts at once, a larger one cuts no fewer I/Os in two that are both counted, and keeps
// a stream on one volume for longer.
var chunks = []units.Bytes{chunk, 512 * units.KiB, units.MiB, 128 * units.KiB, 64 * units.KiB}

// need is what a demand asks of all volumes together, as they count it, without headroom. Of
// streams that run apart each figure is the largest.
type need struct {
	iops  float64
	bytes float64 // a second
}

// load is the fio workload that stands for a stream's I/Os of a size.
func load(s *workload.Stream, block units.Bytes) fio.Workload {
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

// cost is what one I/O of a stream asks of a layout's volumes. Sizes of a mixture are counted one by
// one: a mean of 17.6 KiB hides none above 256 KiB.
func (l Layout) cost(s *workload.Stream) ceiling.Cost {
	var sum ceiling.Cost
	a := l.array()
	for _, b := range s.Blocks {
		c := ceiling.CostOf(a, load(s, b.Size))
		sum.IOs += b.Share * c.IOs
		sum.Bytes += b.Share * c.Bytes
	}
	return sum
}

// needs is what the demand asks of a layout's volumes, with headroom, as if each got as much as the
// busiest of them: of streams that run apart each figure the largest. It is read off the ceiling of
// volumes without a limit.
func (r *Request) needs(l Layout) need {
	if r.Series != nil {
		return r.on(l).peak
	}
	n, ok := r.known[l.shape()]
	switch {
	case ok:
		return n
	case r.even(l):
		n = r.needsOf(l, nil)
	default:
		n = r.uneven(l)
	}
	if r.known != nil {
		r.known[l.shape()] = n
	}
	return n
}

// storageOf is one array, for data.
func storageOf(a *topology.Array) *topology.Topology {
	return &topology.Topology{
		Targets: []topology.Target{{Role: topology.Data, Array: a.Name}}, Arrays: []topology.Array{*a},
	}
}

// uneven is needs where I/Os cross chunks.
func (r *Request) uneven(l Layout) need {
	const iops, rate = 1e12, 1e18
	a := l.array()
	for i := range a.Volumes {
		a.Volumes[i].Sustained = topology.Limits{IOPS: iops, Rate: rate}
	}
	t := storageOf(a)
	var most need
	for _, group := range r.Demand.Together() {
		for i := range group {
			group[i] = r.grouped(l, group[i])
		}
		ceil := ceiling.Of(t, topology.Data, requested(group))
		of := func(kind ceiling.Kind) float64 {
			b, asked := ceil.Of(kind), ceil.Of(ceiling.RequestedRate)
			if b == nil || asked == nil || b.IOPS == 0 {
				return 0
			}
			return float64(asked.IOPS/b.IOPS) * float64(l.N)
		}
		most = most.most(need{iops * of(ceiling.VolumeIOPS), rate * of(ceiling.VolumeRate)})
	}
	return most.times(1 + r.Headroom)
}

// shape is what the costs of I/Os on a layout depend on.
type shape struct {
	level topology.Level
	n     int
	chunk units.Bytes
	typ   string
}

func (l Layout) shape() shape { return shape{l.Level, l.N, l.Chunk, l.Spec.Type} }

// even says that every I/O lies within a chunk, and so each volume gets as much as the others.
func (r *Request) even(l Layout) bool {
	for _, s := range streams(r.Demand) {
		for _, b := range r.grouped(l, s).Blocks {
			if l.Chunk > 0 && (b.Size == 0 || l.Chunk%b.Size != 0) {
				return false
			}
		}
	}
	return l.Level.Parity() == 0
}

// needsOf is what all or some of the streams ask of all volumes together, and so of the instance.
func (r *Request) needsOf(l Layout, counts func(*workload.Stream) bool) need {
	var most need
	for _, group := range r.Demand.Together() {
		var sum need
		for _, s := range group {
			if counts != nil && !counts(s) {
				continue
			}
			s = r.grouped(l, s)
			c := l.cost(s)
			sum.iops += float64(s.IOPS) * c.IOs
			sum.bytes += float64(s.IOPS) * c.Bytes
		}
		most = most.most(sum)
	}
	return most.times(1 + r.Headroom)
}

// most are the larger figures of two.
func (n need) most(o need) need { return need{max(n.iops, o.iops), max(n.bytes, o.bytes)} }

func (n need) times(f float64) need { return need{n.iops * f, n.bytes * f} }

// types are those asked for.
func (r *Request) types() []string {
	if len(r.Types) == 0 {
		return r.provider().Terms().Types
	}
	return r.Types
}

// layouts are all that could meet the demand, provisioned for it as cheaply as their type allows,
// and why types are left out.
func (r *Request) layouts() (all []Layout, rejected []string) {
	if r.Keep != nil {
		return r.kept()
	}
	for _, typ := range r.types() {
		if typ == localType {
			continue
		}
		if why := r.unfit(typ); why != "" {
			rejected = append(rejected, why)
			continue
		}
		fit, why := r.ofType(typ)
		if all = append(all, fit...); len(fit) == 0 {
			rejected = append(rejected, why)
		}
	}
	return all, rejected
}

// kept is the layout that is to be kept, at each chunk it may be built with, if it meets the demand.
func (r *Request) kept() (all []Layout, rejected []string) {
	if why := r.unfit(r.Keep.Spec.Type); why != "" {
		return nil, []string{why}
	}
	for _, l := range r.Keep.chunked() {
		why := cmp.Or(r.falls(l), r.noPrice(l.Spec))
		if why == "" {
			all = append(all, l)
		} else if len(rejected) == 0 {
			rejected = []string{why}
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	return nil, rejected
}

// chunked is a layout at each chunk that its array may have: at its own, where that is known.
func (l Layout) chunked() []Layout {
	if l.Chunk > 0 || !l.Level.Striped() {
		return []Layout{l}
	}
	var all []Layout
	for _, c := range chunks {
		l.Chunk = c
		all = append(all, l)
	}
	return all
}

// ofType are the layouts of a type that meet the demand, or why none does: the one that comes
// closest tells.
func (r *Request) ofType(typ string) (fit []Layout, why string) {
	closest := -1.0
	for _, shape := range shapes(r.most()) {
		shape.Spec.Type = typ
		if !r.durable(shape) {
			continue
		}
		l, ok := r.provision(shape)
		if none := r.noPrice(l.Spec); ok && none == "" {
			fit = append(fit, l)
		} else if ok {
			closest, why = math.Inf(1), none
		} else if share, text := r.atMost(shape); share > closest {
			closest, why = share, text
		}
	}
	if closest < 0 && len(fit) == 0 {
		why = typ + ": no layout of it is as durable as asked for"
	}
	return fit, why
}

// noPrice says which price of a volume is missing, empty for none.
func (r *Request) noPrice(spec cloud.VolumeSpec) string {
	lacks := r.Prices.Lacks(spec)
	if lacks == "" {
		return ""
	}
	return fmt.Sprintf(
		"%s: no price of %s in %s is known, and nothing is ranked without one: supply it in a list with --prices",
		spec.Type,
		lacks,
		r.Prices.Region,
	)
}

func (r *Request) most() int {
	if r.MaxVolumes <= 0 {
		return DefaultMaxVolumes
	}
	return r.MaxVolumes
}

// shapes are the ways of combining up to most volumes. RAID10 takes odd numbers too, as md does; two
// volumes make a RAID1.
func shapes(most int) []Layout {
	all := []Layout{{Level: topology.Single, N: 1}}
	for n := 2; n <= most; n++ {
		all = append(all, Layout{Level: topology.RAID0, N: n}.chunked()...)
		mirror := Layout{Level: topology.RAID10, N: n}
		if n == 2 {
			mirror.Level = topology.RAID1
		}
		all = append(all, mirror.chunked()...)
	}
	return all
}

// unfit says why no volume of a type does, whatever is provisioned; empty when one may.
func (r *Request) unfit(typ string) string {
	t, ok := cloud.TypeNamed(typ)
	if terms := r.provider().Terms(); !ok || t.Provider != terms.Vendor {
		return fmt.Sprintf("%.40s: not a volume type of %s", typ, terms.Cloud)
	}
	if !t.BySize() && t.IOPS.PerGiB == 0 {
		return typ + ": the rules by which it is ordered are not known well enough"
	}
	for _, s := range streams(r.Demand) {
		if t.HDD != nil && s.Random && (r.Series == nil || !slices.Contains(r.Types, typ)) {
			return fmt.Sprintf("%s: %s is random, and a random I/O costs a full 1 MiB there", typ, r.load(s))
		}
		if least := s.Latency.Smallest(); t.HDD != nil && least > 0 && least < 10*time.Millisecond {
			return fmt.Sprintf("%s: %s needs %s, which no hard disk delivers", typ, r.load(s), units.LatencyOf(least))
		}
		if t.HDD != nil && s.Sync.Each > 0 {
			return fmt.Sprintf("%s: %s waits for its writes, and no latency is stated for hard disks", typ, r.load(s))
		}
		if why := r.tooSlow(typ, r.typical(t), s); why != "" {
			return why
		}
	}
	return ""
}

// load calls a stream in a sentence: a demand of flags has one, which has no name of its own.
// streams are those of a demand, each where it stands.
func streams(d *workload.Demand) []*workload.Stream {
	var all []*workload.Stream
	for i := range d.Streams {
		all = append(all, &d.Streams[i])
	}
	return all
}

func (r *Request) load(s *workload.Stream) string {
	if len(r.Demand.Streams) == 1 {
		return "the load"
	}
	return "the stream " + s.Name
}

// typical is what one I/O of a type takes, or less where a run showed that: gp2 and gp3 are alike, as
// AWS states the same of both.
func (r *Request) typical(t cloud.VolumeType) *cloud.TypicalLatency {
	took := r.Shown[t.Type].Least(r.Shown[map[string]string{cloud.GP2: cloud.GP3, cloud.GP3: cloud.GP2}[t.Type]])
	stated := r.syncedOn(t.Type, t.Typical)
	if stated == nil || took == (Took{}) {
		return stated
	}
	l := *stated
	for _, one := range []struct {
		stated *int
		took   time.Duration
	}{{&l.Read, took.Read}, {&l.Write, took.Write}} {
		if us := int(one.took.Microseconds()); us > 0 && us < *one.stated {
			*one.stated, l.Source = us, "as the run shows"
		}
	}
	return &l
}

// syncedOn is the latency of a type with the time of a synced write where that was measured on it: on the
// volumes that are kept, the only type asked for, else on what the cloud's terms say. It says nothing of
// others.
func (r *Request) syncedOn(typ string, l *cloud.TypicalLatency) *cloud.TypicalLatency {
	on := r.provider().Terms().MeasuredOn
	switch {
	case r.Keep != nil && r.Keep.Local:
		on = []string{localType}
	case r.Keep != nil:
		on = []string{r.Keep.Spec.Type}
	case len(r.Types) == 1:
		on = r.Types
	}
	if r.Synced == 0 || !slices.Contains(on, typ) {
		return l
	}
	var own cloud.TypicalLatency
	if l != nil {
		own = *l
	}
	own.Synced, own.Source = int(max(r.Synced.Microseconds(), 1)), "measured"
	return &own
}

// tooSlow holds a stream's concurrency and latency limits against what one I/O takes.
func (r *Request) tooSlow(typ string, l *cloud.TypicalLatency, s *workload.Stream) string {
	lat, source := r.latencyOf(l, s)
	if lat == 0 {
		return ""
	}
	if s.Commits {
		return tooFew(typ, s, lat, source)
	}
	if s.Threads > 0 {
		n := s.Threads * max(s.Depth, 1)
		if most := ceiling.Concurrent(n, lat); most < s.IOPS*0.999 {
			return fmt.Sprintf("%s: %s has %s in flight, and at %v each they give %v of %v IOPS [%s]",
				typ, r.load(s), text.Plural(n, "I/O"), units.LatencyOf(lat), most, s.IOPS, source)
		}
	}
	if least := s.Latency.Smallest(); least > 0 && least < lat {
		return fmt.Sprintf("%s: %s needs %v, and the idle latency is %v [%s]", typ, r.load(s), units.LatencyOf(least),
			units.LatencyOf(lat), source)
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
	write := us(l.Write)
	if s.Sync.Each > 0 {
		write += (us(l.Synced) - write) / time.Duration(s.Sync.Each)
	}
	return time.Duration(s.ReadShare*float64(us(l.Read)) + (1-s.ReadShare)*float64(write)), l.Source
}

// meanLatency of the demand's I/Os on a type.
func (r *Request) meanLatency(l *cloud.TypicalLatency) time.Duration {
	var sum, n float64
	for _, s := range streams(r.Demand) {
		lat, _ := r.latencyOf(l, s)
		sum += float64(lat) * float64(s.IOPS)
		n += float64(s.IOPS)
	}
	if n == 0 {
		return 0
	}
	return time.Duration(sum / n)
}
