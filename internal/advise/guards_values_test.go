package advise

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// A direction of a section is a stream where it runs, has a size, and did or asked for something.
func TestStreamsOfASection(t *testing.T) {
	both := fio.Workload{Name: "w", ReadShare: 0.5, ReadBS: 4096, WriteBS: 8192, Jobs: 3, Depth: 2, SyncEvery: 4}
	with := func(f func(*fio.Workload)) fio.Workload { w := both; f(&w); return w }
	done := func(read, write units.IOPS) *result.Result {
		r := &result.Result{}
		r.Jobs = []fio.Job{{Name: "w", Read: fio.Direction{IOPS: read, BW: units.Rate(read) * 4096}, Write: fio.Direction{IOPS: write, BW: units.Rate(write) * 8192}}}
		r.Total = r.Jobs[0]
		return r
	}
	for name, c := range map[string]struct {
		w     fio.Workload
		r     *result.Result
		read  bool
		ok    bool
		asked units.IOPS
		want  workload.Stream
	}{
		"reads": {both, done(0.5, 7), true, true, 0, workload.Stream{
			Name: "w-read", Random: true, ReadShare: 1, Blocks: []workload.Block{{Size: 4096, Share: 1}}, Threads: 3, Depth: 2, IOPS: 0.5, Rate: 2048,
		}},
		"writes": {both, done(5, 0.5), false, true, 0, workload.Stream{
			Name: "w-write", Random: true, Blocks: []workload.Block{{Size: 8192, Share: 1}}, Threads: 3, Depth: 2, IOPS: 0.5, Rate: 4096,
			Sync: workload.Sync{Kind: "fdatasync", Each: 4},
		}},
		"never synced, one by one": {with(func(w *fio.Workload) { w.SyncEvery, w.Jobs, w.Depth, w.Sequential = 0, 0, 0, true }), done(5, 1), false, true, 0, workload.Stream{
			Name: "w-write", Blocks: []workload.Block{{Size: 8192, Share: 1}}, Threads: 1, Depth: 1, IOPS: 1, Rate: 8192,
		}},
		"asked for and not done": {with(func(w *fio.Workload) { w.ReadIOPS = 0.5 }), done(0, 7), true, true, 1.5, workload.Stream{
			Name: "w-read", Random: true, ReadShare: 1, Blocks: []workload.Block{{Size: 4096, Share: 1}}, Threads: 3, Depth: 2,
		}},
		"not done":         {both, done(0, 7), true, false, 0, workload.Stream{}},
		"below nothing":    {both, done(-1, 7), true, false, 0, workload.Stream{}},
		"of no size":       {with(func(w *fio.Workload) { w.ReadBS = 0 }), done(5, 7), true, false, 0, workload.Stream{}},
		"reads of writes":  {with(func(w *fio.Workload) { w.ReadShare = 0 }), done(5, 7), true, false, 0, workload.Stream{}},
		"writes of reads":  {with(func(w *fio.Workload) { w.ReadShare = 1 }), done(5, 7), false, false, 0, workload.Stream{}},
		"writes, no reads": {with(func(w *fio.Workload) { w.ReadShare, w.SyncEvery = 0, 1 }), done(0, 1), false, true, 0, workload.Stream{Name: "w-write", Random: true, Blocks: []workload.Block{{Size: 8192, Share: 1}}, Threads: 3, Depth: 2, IOPS: 1, Rate: 8192, Sync: workload.Sync{Kind: "fdatasync", Each: 1}}},
		"reads, no writes": {with(func(w *fio.Workload) { w.ReadShare = 1 }), done(1, 0), true, true, 0, workload.Stream{Name: "w-read", Random: true, ReadShare: 1, Blocks: []workload.Block{{Size: 4096, Share: 1}}, Threads: 3, Depth: 2, IOPS: 1, Rate: 4096}},
	} {
		s, asked, ok := streamOf([]fio.Workload{c.w}, 0, c.read, c.r)
		same := s.Name == c.want.Name && s.Random == c.want.Random && s.ReadShare == c.want.ReadShare && slices.Equal(s.Blocks, c.want.Blocks) &&
			s.Threads == c.want.Threads && s.Depth == c.want.Depth && s.IOPS == c.want.IOPS && s.Rate == c.want.Rate && s.Sync == c.want.Sync && s.Burst == nil
		if !same || ok != c.ok || ok && asked != c.asked {
			t.Errorf("%s: %+v, asked %v, %v; want %+v", name, s, asked, ok, c.want)
		}
	}
}

// Figures alone make a job of the blocks that they show, in whole sectors of 512 bytes and at least one.
func TestJobsOfFiguresAlone(t *testing.T) {
	of := func(read, write fio.Direction) *result.Result {
		return &result.Result{Name: "n", Total: fio.Job{Read: read, Write: write}}
	}
	for name, c := range map[string]struct {
		r           *result.Result
		read, write units.Bytes
		share       float64
	}{
		"reads":            {of(fio.Direction{IOPS: 10, BW: 40960}, fio.Direction{}), 4096, 0, 1},
		"writes":           {of(fio.Direction{}, fio.Direction{IOPS: 10, BW: 40960}), 0, 4096, 0},
		"both":             {of(fio.Direction{IOPS: 3, BW: 3 * 8192}, fio.Direction{IOPS: 1, BW: 512}), 8192, 512, 0.75},
		"a byte each":      {of(fio.Direction{IOPS: 10, BW: 10}, fio.Direction{}), 512, 0, 1},
		"a sector and 255": {of(fio.Direction{IOPS: 1, BW: 767}, fio.Direction{}), 512, 0, 1},
		"and 256":          {of(fio.Direction{IOPS: 1, BW: 768}, fio.Direction{}), 1024, 0, 1},
		"half an I/O":      {of(fio.Direction{IOPS: 0.5, BW: 2048}, fio.Direction{}), 4096, 0, 1},
		"no bytes":         {of(fio.Direction{IOPS: 10}, fio.Direction{IOPS: 10, BW: 5120}), 0, 512, 0.5},
	} {
		w := imagined(c.r)
		if len(w) != 1 || w[0].ReadBS != c.read || w[0].WriteBS != c.write || w[0].ReadShare != c.share || w[0].Jobs != 1 || w[0].Depth != 1 {
			t.Errorf("%s: %+v", name, w)
		}
	}
	for name, r := range map[string]*result.Result{
		"nothing": of(fio.Direction{}, fio.Direction{}), "bytes of no I/O": of(fio.Direction{BW: 4096}, fio.Direction{}),
	} {
		if w := imagined(r); w != nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// The fio workload that stands for a stream, and the array that stands for a layout.
func TestLoadOfAStream(t *testing.T) {
	s := workload.Stream{
		Name: "s", ReadShare: 0.5, Random: true, Blocks: []workload.Block{{Size: 4096, Share: 0.5}, {Size: 8193, Share: 0.5}}, Threads: 4, Depth: 3,
		Sync: workload.Sync{Each: 2},
	}
	w := load(&s, 6145)
	if w.ReadBS != 6145 || w.WriteBS != 6145 || w.Jobs != 4 || w.Depth != 3 || w.Sequential || w.ReadShare != 0.5 ||
		w.SyncEvery != 2 {
		t.Errorf("%+v", w)
	}
	s.Threads, s.Depth, s.Random, s.ReadShare = 0, 0, false, 1
	if w = load(&s, 6145); w.ReadBS != 6145 || w.WriteBS != 0 || w.Jobs != 1 || w.Depth != 1 || !w.Sequential {
		t.Errorf("%+v", w)
	}
	if s.ReadShare = 0; load(&s, 6145).ReadBS != 0 || load(&s, 6145).WriteBS != 6145 {
		t.Errorf("%+v", load(&s, 6145))
	}
	for level, copies := range map[topology.Level]int{topology.RAID10: 2, topology.RAID0: 0, topology.Single: 0} {
		a := (Layout{Level: level, N: 3, Chunk: 7, Spec: cloud.VolumeSpec{Type: "gp3", Size: 9}}).array()
		if a.Copies != copies || len(a.Volumes) != 3 || a.Chunk != 7 || a.Volumes[2].Size != 9 || !a.Volumes[2].Network || a.Volumes[2].CountedIO != 256*units.KiB {
			t.Errorf("%s: %+v", level, a)
		}
	}
	if a := (Layout{N: 1, Local: true}).array(); a.Volumes[0].Network || a.Volumes[0].CountedIO != 0 {
		t.Errorf("%+v", a)
	}
	// Half of the I/Os are 4 KiB, one each; the others of 512 KiB count twice in 256 KiB.
	mixture := workload.Stream{ReadShare: 1, Random: true, Blocks: []workload.Block{{Size: 4096, Share: 0.5}, {Size: 512 * units.KiB, Share: 0.5}}}
	if c := (Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3"}}).cost(&mixture); c != (ceiling.Cost{IOs: 1.5, Bytes: 264192}) {
		t.Errorf("%+v", c)
	}
	if mixture.ReadShare = 0; (Layout{Level: topology.RAID1, N: 2, Spec: cloud.VolumeSpec{Type: "gp3"}}).cost(&mixture) != (ceiling.Cost{IOs: 3, Bytes: 528384}) {
		t.Errorf("%+v", (Layout{Level: topology.RAID1, N: 2, Spec: cloud.VolumeSpec{Type: "gp3"}}).cost(&mixture))
	}
}

// What a run shows of one I/O: those in flight over those a second, unless it synced or held itself back.
func TestShownAtItsEdges(t *testing.T) {
	w := fio.Workload{ReadShare: 0.5, ReadBS: 4096, WriteBS: 4096, Jobs: 2, Depth: 4}
	with := func(f func(*fio.Workload)) fio.Workload { o := w; f(&o); return o }
	for name, c := range map[string]struct {
		loads       []fio.Workload
		read, write units.IOPS
		want        Took
	}{
		"both":            {[]fio.Workload{w}, 3, 1, Took{2 * time.Second, 2 * time.Second}},
		"two sections":    {[]fio.Workload{w, w}, 3, 1, Took{4 * time.Second, 4 * time.Second}},
		"few reads":       {[]fio.Workload{w}, 0.5, 0, Took{Read: 16 * time.Second}},
		"few writes":      {[]fio.Workload{w}, 0, 0.5, Took{Write: 16 * time.Second}},
		"none":            {[]fio.Workload{w}, 0, 0, Took{}},
		"no job":          {nil, 3, 1, Took{}},
		"each synced":     {[]fio.Workload{w, with(func(w *fio.Workload) { w.SyncEvery = 1 })}, 3, 1, Took{}},
		"O_SYNC":          {[]fio.Workload{with(func(w *fio.Workload) { w.SyncWrites = true })}, 3, 1, Took{}},
		"half an I/O":     {[]fio.Workload{with(func(w *fio.Workload) { w.WriteIOPS = 0.25 })}, 3, 1, Took{}},
		"a rate of reads": {[]fio.Workload{with(func(w *fio.Workload) { w.ReadIOPS = 9 })}, 3, 1, Took{}},
	} {
		r := &result.Result{Workloads: c.loads}
		r.Total.Read, r.Total.Write = fio.Direction{N: 1, IOPS: c.read}, fio.Direction{N: 1, IOPS: c.write}
		if got := ShownBy(r); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Every I/O lies within a chunk where its size divides it, on levels without parity.
func TestWhatIsEven(t *testing.T) {
	of := func(sizes ...units.Bytes) *Request {
		s := workload.Stream{Name: "s", ReadShare: 1, Random: true, IOPS: 1}
		for _, size := range sizes {
			s.Blocks = append(s.Blocks, workload.Block{Size: size, Share: 1 / float64(len(sizes))})
		}
		return &Request{Demand: &workload.Demand{Streams: []workload.Stream{s}}}
	}
	for name, c := range map[string]struct {
		r     *Request
		level topology.Level
		chunk units.Bytes
		want  bool
	}{
		"4 KiB of 64":        {of(4 * units.KiB), topology.RAID0, 64 * units.KiB, true},
		"the chunk":          {of(64 * units.KiB), topology.RAID0, 64 * units.KiB, true},
		"larger":             {of(128 * units.KiB), topology.RAID0, 64 * units.KiB, false},
		"12 KiB of 64":       {of(12 * units.KiB), topology.RAID0, 64 * units.KiB, false},
		"one of two":         {of(4*units.KiB, 12*units.KiB), topology.RAID0, 64 * units.KiB, false},
		"of no known size":   {of(0), topology.RAID0, 64 * units.KiB, false},
		"no chunk":           {of(12 * units.KiB), topology.Single, 0, true},
		"a chunk of a byte":  {of(2), topology.RAID0, 1, false},
		"with parity":        {of(4 * units.KiB), topology.RAID5, 64 * units.KiB, false},
		"mirrored, and even": {of(4 * units.KiB), topology.RAID10, 64 * units.KiB, true},
	} {
		if got := c.r.even(Layout{Level: c.level, N: 4, Chunk: c.chunk}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What is not looked at, and why nothing comes of it: of a series elsewhere, of types whose rules or prices are not known,
// of drives that are too slow.
func TestWhatIsNotLookedAt(t *testing.T) {
	reads := func(change func(*workload.Stream)) *workload.Demand {
		s := workload.Stream{Name: "s", ReadShare: 1, Random: true, IOPS: 100, Rate: 409600, Blocks: []workload.Block{{Size: 4096, Share: 1}}}
		if change != nil {
			change(&s)
		}
		return &workload.Demand{Capacity: 10 * units.GiB, Streams: []workload.Stream{s}}
	}
	for name, c := range map[string]struct {
		r   Request
		err string
	}{
		"no capacity": {Request{Cloud: cloud.Named("azure"), Demand: &workload.Demand{Streams: reads(nil).Streams}}, ErrCapacity.Error()},
		"AWS's type":  {Request{Cloud: cloud.Named("azure"), Demand: reads(nil), Types: []string{"gp3"}}, "gp3: not a volume type of Azure"},
		"no type":     {Request{Cloud: cloud.Named("azure"), Demand: reads(nil), Types: []string{"x"}}, "x: not a volume type of Azure"},
	} {
		if got, err := Advise(c.r); err == nil || err.Error() != c.err {
			t.Errorf("%s: %+v %v, want %q", name, got, err, c.err)
		}
	}
	prices := &cloud.Prices{Instances: map[string]cloud.USD{}, Volumes: map[string]cloud.VolumePrice{}, Region: "x"}
	machine := madeUp(t, "name,base_iops,base_mbs\nm,20000,1000\n")
	choose := func(r Request, typ string) (*Candidate, string) {
		t.Helper()
		r.Cloud, r.Types = machine, []string{typ}
		a, err := Advise(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Rows) > 0 {
			return &a.Rows[0], strings.Join(a.Rejected, "|")
		}
		return nil, strings.Join(a.Rejected, "|")
	}
	if best, why := choose(Request{Demand: reads(nil), Prices: prices}, "azure-premium"); best != nil || !strings.Contains(why, "no price of P1 in volume-month") {
		t.Errorf("%+v %q", best, why)
	}
	premium, _ := cloud.TypeNamed("azure-premium")
	for i, tier := range premium.Tiers {
		prices.Volumes[tier.Name] = cloud.VolumePrice{Each: cloud.USD(i + 1)}
	}
	if why := (&Request{Cloud: cloud.Named("gcp"), Demand: reads(nil)}).unfit("gcp-pd-extreme"); why != "gcp-pd-extreme: the rules by which it is ordered are not known well enough" {
		t.Errorf("%q", why)
	}
	if best, why := choose(Request{Demand: reads(nil), Prices: prices}, "azure-premium"); best != nil || !strings.Contains(why, "no instance type with a price") {
		t.Errorf("%+v %q", best, why)
	}
	prices.Instances["m"] = 1
	r := Request{Demand: reads(nil), Prices: prices}
	r.Demand.Capacity = 17 * 32 * units.TiB // sixteen of 32 TiB are the most that is looked at
	if best, why := choose(r, "azure-premium"); best != nil || why != "azure-premium: at their most, 16 × azure-premium hold 512 TiB of 544 TiB" {
		t.Errorf("%+v %q", best, why)
	}
	// Two P20 of 2,300 IOPS for 1 each are cheaper than a P30 of 5,000 for 3.
	r.Demand = reads(func(s *workload.Stream) { s.IOPS, s.Rate = 4600, 4600*4096 })
	r.Prices = &cloud.Prices{Instances: prices.Instances, Volumes: map[string]cloud.VolumePrice{"P20": {Each: 1}, "P30": {Each: 3}}}
	if best, why := choose(r, "azure-premium"); best == nil || best.Layout.N != 2 || best.Layout.Spec.Size != 512*units.GiB || best.VolumesMonth != 2 {
		t.Errorf("%+v %q", best, why)
	}
	// 10 readers of a drive that takes 100 us have 100,000 of 200,000 a second.
	r = Request{Types: []string{localType}, Demand: reads(func(s *workload.Stream) { s.IOPS, s.Threads, s.Depth = 200_000, 10, 1 })}
	if own, why := r.local(nil); own != nil || !strings.HasPrefix(why, "local drives: the load has 10 I/Os in flight, and at 100") {
		t.Errorf("%+v %q", own, why)
	}
	r.Demand.Streams[0].Threads = 20
	if own, why := r.local(nil); own != nil || !strings.HasPrefix(why, "local drives: no instance that fits has drives") {
		t.Errorf("%+v %q", own, why)
	}
	r = Request{Prices: &cloud.Prices{}, Demand: reads(nil), Keep: &Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3", Size: units.TiB}}}
	if all, why := r.kept(); all != nil || len(why) != 1 || !strings.HasPrefix(why[0], "gp3: no price of gp3 in GiB-month") {
		t.Errorf("%+v %q", all, why)
	}
	r = Request{Demand: reads(nil)}
	c := &Candidate{Type: "m", Layout: Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp9"}}}
	if err := r.limits(c); err == nil || err.Error() != "m with 1 × gp9: its ceiling is not known" {
		t.Error(err)
	}
}

// A result that must not be trusted meets nothing, whatever it shows.
func TestInvalidResultsMeetNothing(t *testing.T) {
	d := &workload.Demand{Streams: []workload.Stream{{Name: "w", IOPS: 10, Rate: 40960, Blocks: []workload.Block{{Size: 4096, Share: 1}}}}}
	row := fio.Job{Name: "w", Write: fio.Direction{IOPS: 10, BW: 40960, Bytes: 40960}, Window: time.Second}
	side := func(name string, why ...string) Side {
		return Side{Name: name, Invalid: why, Result: &result.Result{Jobs: []fio.Job{row}, Total: row, Measured: time.Second}}
	}
	for want, sides := range map[string][]Side{
		"a meets the demand.":                {side("a")},
		"a is INVALID and cannot be judged.": {side("a", "no")},
		"b meets the demand.":                {side("a", "no"), side("b")},
		"Neither meets the demand.":          {side("a", "no"), side("b", "no")},
		"None meets the demand.":             {side("a", "no"), side("b", "no"), side("c", "no")},
		"a and b meet the demand.":           {side("a"), side("b"), side("c", "no")},
		"All meet the demand.":               {side("a"), side("b"), side("c")},
	} {
		m := Meets(d, sides)
		for i, s := range m.Sides {
			if s.Met == (len(sides[i].Invalid) > 0) || !slices.Equal(s.Invalid, sides[i].Invalid) {
				t.Errorf("%s: %+v", want, s)
			}
		}
		if m.Decision != want {
			t.Errorf("%q, want %q", m.Decision, want)
		}
	}
}

// Space is compared up to rounding: seven volumes of 10 GiB with one of parity hold 60 GiB, though 7 × 10 ÷ (7/6) is a
// little less than that in floating point.
func TestSpaceWithinRounding(t *testing.T) {
	idle := &Series{Observed: workload.Observed{Device: "d", Intervals: []workload.Interval{{Len: time.Minute}}}}
	l := Layout{Level: topology.RAID5, N: 7, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp3", Size: 10 * units.GiB}}
	f, err := cloud.VolumeLimits(l.Spec)
	if err != nil {
		t.Fatal(err)
	}
	if held := float64(l.Spec.Size) * 7 / l.usable(); held >= float64(60*units.GiB) {
		t.Errorf("%v hold all of it: nothing is tested", held)
	}
	for capacity, want := range map[units.Bytes]bool{60 * units.GiB: true, 60*units.GiB + 100: false} {
		r := Request{Demand: &workload.Demand{Capacity: capacity}, Series: idle}
		if got := r.carried(l, f); got != want {
			t.Errorf("%d: %v", uint64(capacity), got)
		}
		if share, _ := (&Request{Demand: r.Demand}).shortfall(l, f); (share >= 1-loss) != want {
			t.Errorf("%d: %v", uint64(capacity), share)
		}
	}
}

// Of drives whose writes have no figure a claim says nothing of writes.
func TestClaimOfReadsAlone(t *testing.T) {
	topo := &topology.Topology{Arrays: []topology.Array{{Name: "a", Level: topology.Single, Volumes: []topology.Volume{
		{Sustained: topology.Limits{ReadIOPS: 1000}},
	}}}}
	v := Claim{Text: "500 IOPS", IOPS: 500, Block: 4096}.Check(topo)
	if got := strings.Join(v.Lines, "|"); !v.Holds || !v.Sustained || !strings.HasPrefix(got, "Yes, sustained") || strings.Contains(got, "writes") {
		t.Errorf("%q", got)
	}
	topo.Arrays[0].Volumes[0].Sustained.WriteIOPS = 499
	if got := strings.Join((Claim{IOPS: 500, Block: 4096}).Check(topo).Lines, "|"); !strings.Contains(got, "For writes: No: at most 499 IOPS") {
		t.Errorf("%q", got)
	}
}

// How many times a row gives a demand of 2,000 reads a second, for ever and in bursts, and what each of those costs. A
// volume has 6,000; the machine's burst counts where it is known how long it lasts, and gives more than a thousandth.
func TestTimesOfARow(t *testing.T) {
	for name, c := range map[string]struct {
		base, burst units.IOPS
		lasts       time.Duration
		times       float64
		kind        ceiling.Kind
		burstTimes  float64
		burstKind   ceiling.Kind
		each        cloud.USD // of 100 dollars
	}{
		"a burst":              {1000, 4000, time.Minute, 0.5, ceiling.InstanceIOPS, 2, ceiling.InstanceIOPS, 100_000},
		"of no known length":   {1000, 4000, 0, 0.5, ceiling.InstanceIOPS, 0, "", 100_000},
		"above the volume":     {1000, 8000, time.Minute, 0.5, ceiling.InstanceIOPS, 3, ceiling.VolumeIOPS, 100_000},
		"within a thousandth":  {2999, 4000, time.Minute, 1.4995, ceiling.InstanceIOPS, 2, ceiling.InstanceIOPS, 33_344}, // 100 / 2,999
		"a thousandth":         {1000, 1001, time.Minute, 0.5, ceiling.InstanceIOPS, 0, "", 100_000},
		"two thousandths":      {1000, 1002, time.Minute, 0.5, ceiling.InstanceIOPS, 0.501, ceiling.InstanceIOPS, 100_000},
		"no burst":             {1000, 0, time.Minute, 0.5, ceiling.InstanceIOPS, 0, "", 100_000},
		"the volume":           {8000, 0, 0, 3, ceiling.VolumeIOPS, 0, "", 16_667}, // 100 / 6,000
		"the volume, burst or": {8000, 9000, time.Minute, 3, ceiling.VolumeIOPS, 0, "", 16_667},
	} {
		r := Request{Headroom: 0.5, Demand: &workload.Demand{Streams: []workload.Stream{
			{Name: "r", ReadShare: 1, Random: true, IOPS: 2000, Rate: 2000 * 4096, Blocks: []workload.Block{{Size: 4096, Share: 1}}},
		}}}
		l := Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3", Size: 100 * units.GiB, IOPS: 6000, Rate: 125 * units.MiBPerSec}}
		f := cloud.InstanceFacts{Type: "m", NVMe: true, Baseline: cloud.Limits{IOPS: c.base, Rate: 1e12}, BurstFor: c.lasts}
		if f.Burst.IOPS = c.burst; c.burst > 0 {
			f.Burst.Rate = 1e12
		}
		row := &Candidate{Layout: l, Instance: f, Type: "m", Month: 100_000_000}
		if err := r.limits(row); err != nil {
			t.Fatal(err)
		}
		if math.Abs(row.Times-c.times) > 1e-9 || row.Sustained.Kind != c.kind || math.Abs(row.BurstTimes-c.burstTimes) > 1e-9 || (row.Burst != nil) != (c.burstKind != "") ||
			row.Burst != nil && row.Burst.Kind != c.burstKind || row.PerIOPS != c.each {
			t.Errorf("%s: %v times by %s, %v in bursts by %+v, %d each", name, row.Times, row.Sustained.Kind, row.BurstTimes, row.Burst, row.PerIOPS)
		}
		// Half as much again is asked for, less a thousandth for rounding: a row that was chosen and does not give it is a
		// mistake of plimsoll's own.
		for burstOK, want := range map[bool]bool{false: c.times >= 1.4985, true: c.times >= 1.4985 || c.burstTimes >= 1.4985} {
			r.BurstOK = burstOK
			if err := r.finish(row, nil); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "this is a bug in plimsoll: m with 1 × gp3 was chosen for 1.5 times the demand, and its ceiling is 0.5 times") {
				t.Errorf("%s, bursts %v: %v", name, burstOK, err)
			}
			if want && row.ByBurst != (c.times < 1.4985) {
				t.Errorf("%s: by burst %v", name, row.ByBurst)
			}
		}
	}
}

// What a machine sustains that limits I/Os, or bytes: of 1,280 random writes of 64 KiB a second.
func TestSustainedByEitherLimit(t *testing.T) {
	const mib = units.MiBPerSec
	d := &workload.Demand{Streams: []workload.Stream{{Name: "w", Random: true, IOPS: 1280, Rate: 80 * mib, Blocks: []workload.Block{{Size: 64 * units.KiB, Share: 1}}}}}
	row := fio.Job{Name: "w", Write: fio.Direction{IOPS: 1280, BW: 80 * mib}, Window: time.Second}
	for name, c := range map[string]struct {
		base topology.Limits
		want units.Rate
	}{
		"I/Os": {topology.Limits{IOPS: 640}, 40 * mib}, "bytes": {topology.Limits{Rate: 20 * mib}, 20 * mib}, "the lesser": {topology.Limits{IOPS: 640, Rate: 60 * mib}, 40 * mib},
		"the lesser bytes": {topology.Limits{IOPS: 640, Rate: 30 * mib}, 30 * mib}, "nothing known": {topology.Limits{}, 0},
	} {
		s := Meets(d, []Side{{Name: "a", Result: &result.Result{Role: topology.Data, Jobs: []fio.Job{row}, Total: row}, Topology: &topology.Topology{
			Instance: topology.Instance{Type: "m", Baseline: c.base},
		}}}).Sides[0]
		if math.Abs(float64(s.Sustained-c.want)) > 1 || s.Met != (c.want == 0) || (s.Steady > 0) != (c.want > 0) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Sizes of I/Os that were observed are their mean, to the nearest byte: 256 KiB are counted once, a byte more twice.
func TestObservedSizes(t *testing.T) {
	topo := &topology.Topology{Arrays: []topology.Array{{Name: "d", Level: topology.Single, Volumes: []topology.Volume{
		{Sustained: topology.Limits{IOPS: 1000}, CountedIO: 256 * units.KiB},
	}}}}
	for size, want := range map[float64]float64{262144: 0.1, 262144.4: 0.1, 262143.5: 0.1, 262145: 0.2, 262144.6: 0.2, 1: 0.1} {
		flow := workload.Flow{IOPS: 100, Rate: 100 * size}
		for name, iv := range map[string]workload.Interval{"reads": {Len: time.Second, Read: flow}, "writes": {Len: time.Second, Write: flow}} {
			got := Limits(topo, topology.Data, workload.Observed{Device: "d", Intervals: []workload.Interval{iv}})
			if len(got) != 1 || math.Abs(got[0].Most-want) > 1e-9 {
				t.Errorf("%s of %v: %+v, want %v", name, size, got, want)
			}
		}
	}
	// Where two intervals come as near to a limit, the bound of the first is shown: 100 and 200 of 100 MB/s.
	topo.Arrays[0].Volumes[0] = topology.Volume{Sustained: topology.Limits{Rate: 100e6}}
	got := Limits(topo, topology.Data, workload.Observed{Device: "d", Intervals: []workload.Interval{
		{Len: time.Second, Read: workload.Flow{IOPS: 100, Rate: 1e8}}, {Len: time.Second, Read: workload.Flow{IOPS: 200, Rate: 1e8}},
	}})
	if len(got) != 1 || got[0].Most != 1 || math.Abs(float64(got[0].Bound.IOPS)-100) > 1e-9 || got[0].Share != 1 {
		t.Errorf("%+v", got)
	}
	// A series of a day is not taken to repeat; what is a second shorter is.
	for length, want := range map[time.Duration]int{day: 1, day - time.Second: 2} {
		a := &Advice{}
		if a.seriesNotes(&Series{Observed: workload.Observed{Intervals: []workload.Interval{{Len: length}}}}); len(a.Assumed) != want {
			t.Errorf("%v: %q", length, a.Assumed)
		}
	}
	// Without a machine of the size asked for there is one reason.
	a := &Advice{}
	r := &Request{Prices: cloud.BuiltinPrices(), Types: []string{"gp3"}, Demand: &workload.Demand{Capacity: units.GiB, Streams: []workload.Stream{
		{Name: "s", ReadShare: 1, Random: true, IOPS: 100, Blocks: []workload.Block{{Size: 4096, Share: 1}}},
	}}}
	if all := a.candidates(r, nil); len(all) != 0 || len(a.Rejected) != 1 || !strings.HasPrefix(a.Rejected[0], "no instance type with a price") {
		t.Errorf("%+v %q", all, a.Rejected)
	}
}

// Clients that wait for their flush get c/3S of them through at least: with 2 ms, three have 500 a second, and 501 take four.
func TestClientsThatWouldDo(t *testing.T) {
	for _, c := range []struct {
		clients int
		iops    units.IOPS
		want    string // the end of the sentence
	}{
		{3, 500, ""},
		{3, 501, "allows 3 clients 500 of 501 commits per second (750 at best); 4 clients would do [s]"},
		{2, 500, "allows 2 clients 333 of 500 commits per second (500 at best); 3 clients would do [s]"},
		{0, 333, ""}, // one, which has flushes of its own: 1/1.5S, as much as two together
		{0, 334, "allows 1 client 333 of 334 commits per second (500 at best); 3 clients would do [s]"},
	} {
		got := tooFew("gp3", &workload.Stream{Threads: c.clients, IOPS: c.iops}, 2*time.Millisecond, "s")
		if (got == "") != (c.want == "") || !strings.HasSuffix(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
