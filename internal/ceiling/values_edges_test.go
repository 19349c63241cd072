package ceiling

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func iopsOf(b *Bound) float64 {
	if b == nil {
		return 0
	}
	return float64(b.IOPS)
}

func noted(c Ceiling, text string) bool {
	return slices.ContainsFunc(c.Notes, func(n string) bool { return strings.Contains(n, text) })
}

// Which bound is which, of the guide's random writes: 12,000 IOPS sustained and 40,000 in bursts of
// the instance, 24,000 of the volumes, two volume I/Os each.
func TestWhichBoundByHand(t *testing.T) {
	c := Of(machine(t, 8, gp3, topology.RAID10, 64*k, "c8g.2xlarge"), topology.Data, []fio.Workload{load("randwrite", 8*k, 4, 1)})
	slow := c.WithLatency(0, 10*time.Millisecond, 0, topology.Origin{}) // 4 in flight: 400
	for name, got := range map[string][2]float64{
		"binding": {iopsOf(c.Binding()), 12000}, "hardware": {iopsOf(c.Hardware()), 12000}, "sustained": {iopsOf(c.Sustained()), 6000},
		"lasting": {iopsOf(c.Lasting()), 6000}, "next": {iopsOf(c.Next()), 20000}, "sustained next": {iopsOf(c.SustainedNext()), 12000},
		"slow": {iopsOf(slow.Binding()), 400}, "its hardware": {iopsOf(slow.Hardware()), 12000}, "its lasting": {iopsOf(slow.Lasting()), 6000},
		"slow, sustained": {iopsOf(slow.Sustained()), 400}, "slow, next": {iopsOf(slow.Next()), 12000}, "slow, sustained next": {iopsOf(slow.SustainedNext()), 6000},
		"none": {iopsOf((*Ceiling)(nil).Concurrency()), 0}, "none's": {iopsOf(Ceiling{}.Lasting()), 0}, "none's next": {iopsOf(Ceiling{}.SustainedNext()), 0},
	} {
		if math.Abs(got[0]-got[1]) > 1e-6*(1+got[1]) {
			t.Errorf("%s: %v, want %v", name, got[0], got[1])
		}
	}
	// A hundredth less is no fall worth a word.
	for low, want := range map[float64]float64{9900: 0, 9899: 9899} {
		c := Ceiling{Bounds: []Bound{{Kind: InstanceIOPS, IOPS: units.IOPS(low)}, {Kind: InstanceIOPS, IOPS: 10000, Burst: true}}}
		if got := iopsOf(c.Lasting()); got != want {
			t.Errorf("%v of 10,000: %v", low, got)
		}
	}
	if (Ceiling{Bounds: []Bound{{Kind: Concurrency}}}).Known() || (Ceiling{Bounds: []Bound{{Kind: RequestedRate}}}).Known() || !c.Known() {
		t.Error("what the job brings is not the hardware's")
	}
}

// What a purchase is sized by: 0.7 × 1 + 0.3 × 2 I/Os of 8 KiB.
func TestCostByHand(t *testing.T) {
	a := machine(t, 4, gp3, topology.RAID10, 64*k, "").Arrays[0]
	if got := CostOf(&a, load("randrw", 8*k, 1, 1)); math.Abs(got.IOs-1.3) > 1e-9 || math.Abs(got.Bytes-1.3*8192) > 1e-6 {
		t.Errorf("%+v", got)
	}
	if got := CostOf(&topology.Array{}, load("randrw", 8*k, 1, 1)); got != (Cost{}) {
		t.Errorf("no volumes: %+v", got)
	}
}

// Which section, which target and which load counts.
func TestTakenByHand(t *testing.T) {
	top := broken(topology.Single, 1) // 1,000 IOPS, not on the network
	change := func(w fio.Workload, f func(*fio.Workload)) fio.Workload { f(&w); return w }
	read := load("randread", 8*k, 4, 2)
	wall := change(load("randread", 8*k, 3, 1), func(w *fio.Workload) { w.Stonewall = true })
	late := change(read, func(w *fio.Workload) { w.StartDelay = time.Nanosecond })
	for name, c := range map[string]struct {
		loads    []fio.Workload
		inFlight int
		note     string // empty: none
	}{
		"one":                     {[]fio.Workload{read}, 8, ""},
		"two":                     {[]fio.Workload{read, read}, 16, ""},
		"two behind a wall":       {[]fio.Workload{read, wall, read}, 8, "of the first 1"},
		"the wall before all":     {[]fio.Workload{wall, read}, 11, ""},
		"later":                   {[]fio.Workload{late}, 8, "a section that starts later"},
		"buffered":                {[]fio.Workload{change(read, func(w *fio.Workload) { w.Buffered = true })}, 8, "page cache"},
		"thinks":                  {[]fio.Workload{change(read, func(w *fio.Workload) { w.ThinkTime = 1 })}, 8, "thinktime"},
		"trims":                   {[]fio.Workload{change(read, func(w *fio.Workload) { w.ReadShare, w.TrimShare = 0.5, 0.5 })}, 8, "trims"},
		"all but for rounding":    {[]fio.Workload{change(read, func(w *fio.Workload) { w.TrimShare = 0.0001 })}, 8, "trims"},
		"more than all":           {[]fio.Workload{change(read, func(w *fio.Workload) { w.TrimShare = 0.001 })}, 0, ""},
		"of no size":              {[]fio.Workload{{ReadShare: 0.5, Jobs: 1, Depth: 1}}, 0, ""},
		"reads of no stated size": {[]fio.Workload{{ReadShare: 0.5, WriteBS: 4 * k, Jobs: 1, Depth: 1}}, 1, ""},
	} {
		got := Of(top, topology.Data, c.loads)
		if got.InFlight != c.inFlight || c.note == "" && len(got.Notes) > 0 || c.note != "" && !noted(got, c.note) {
			t.Errorf("%s: %d in flight, want %d; %q", name, got.InFlight, c.inFlight, got.Notes)
		}
	}
	// The one path that is known serves the other role, too; of two the role's own.
	top.Targets = []topology.Target{{Role: topology.WAL, Array: "md0"}}
	if got := iopsOf(Of(top, topology.Data, []fio.Workload{read}).Binding()); got != 1000 {
		t.Errorf("%v", got)
	}
	top.Targets = append(top.Targets, topology.Target{Role: topology.WAL, Array: "md0"})
	if got := Of(top, topology.Data, []fio.Workload{read}); got.Known() || !noted(got, "what lies below the role data") {
		t.Errorf("%+v", got)
	}
	top.Targets, top.Instance = nil, topology.Instance{Type: "x", Baseline: topology.Limits{IOPS: 10}}
	if got := Of(top, topology.Data, []fio.Workload{read}); iopsOf(got.Binding()) != 1000 || !noted(got, "the limits of x are left out") {
		t.Errorf("volumes that are not of the network are not the machine's: %+v", got)
	}
	if top.Arrays[0].Volumes[0].Type = "nvme"; noted(Of(top, topology.Data, []fio.Workload{read}), "left out") {
		t.Error("a drive of its own is no volume of the network")
	}
}

// Sections share in proportion to what they keep in flight, up to their rates.
func TestSharesByHand(t *testing.T) {
	top := machine(t, 1, gp3, topology.Single, 0, "")
	reads, writes := load("randread", 8*k, 8, 1), load("randwrite", 8*k, 8, 3)
	rate := func(w fio.Workload, iops units.IOPS) fio.Workload { w.ReadIOPS, w.WriteIOPS = iops, iops; return w }
	for name, c := range map[string]struct {
		loads       []fio.Workload
		read, write float64
		kind        Kind
	}{
		"8 and 24 in flight":           {[]fio.Workload{reads, writes}, 750, 2250, VolumeIOPS},
		"less than its part":           {[]fio.Workload{rate(reads, 500), writes}, 500, 2500, VolumeIOPS},
		"a rate that is not reached":   {[]fio.Workload{rate(reads, 800), writes}, 750, 2250, VolumeIOPS},
		"three jobs of a rate each":    {[]fio.Workload{reads, rate(writes, 100)}, 2700, 300, VolumeIOPS},
		"all that is asked for":        {[]fio.Workload{rate(reads, 100), rate(writes, 100)}, 100, 300, RequestedRate},
		"more is asked for than given": {[]fio.Workload{rate(reads, 900), rate(writes, 5000)}, 750, 2250, VolumeIOPS},
	} {
		b := Of(top, topology.Data, c.loads).Binding()
		if b.Kind != c.kind || math.Abs(float64(b.ReadIOPS)-c.read) > 1e-6 || math.Abs(float64(b.WriteIOPS)-c.write) > 1e-6 {
			t.Errorf("%s: %+v, want %v and %v", name, b, c.read, c.write)
		}
	}
	// What would carry more than all ask for is scaled to: 3,000 in the parts of 100 and 300.
	c := Of(top, topology.Data, []fio.Workload{rate(reads, 100), rate(writes, 100)})
	if b := c.Hardware(); math.Abs(float64(b.ReadIOPS)-750) > 1e-6 || math.Abs(float64(b.WriteIOPS)-2250) > 1e-6 || b.BW != 3000*8192 {
		t.Errorf("%+v", b)
	}
	// Two roles ask for 1,000 of 12,000 each: 11,000 are left to either.
	shared := machine(t, 8, gp3, topology.RAID0, 64*k, "c8g.2xlarge")
	other := shared.Arrays[0]
	other.Name = "md1"
	shared.Arrays = append(shared.Arrays, other)
	shared.Targets[1].Array = "md1"
	asks := []fio.Workload{rate(reads, 1000)}
	both := OfTogether(shared, map[topology.Role][]fio.Workload{topology.Data: asks, topology.WAL: asks})
	if b := both[topology.Data].Least(func(b Bound) bool { return b.Kind == InstanceIOPS && !b.Burst }); !within(b.IOPS, 11000) ||
		math.Abs(b.Capacity-11000) > 1e-6 || math.Abs(b.Demand-1) > 1e-9 || !strings.HasSuffix(b.How, ", × 0.917 of it next to the other role") {
		t.Errorf("%+v", b)
	}
	if b := both[topology.Data].Least(func(b Bound) bool { return b.Kind == InstanceIOPS && b.Burst }); !within(b.IOPS, 39000) {
		t.Errorf("%+v", b)
	}
}

// Two roles on one volume share its burst: each spends half of 5.4 million credits at 1,500 - 150.
func TestSharedBurstByHand(t *testing.T) {
	top := machine(t, 1, cloud.VolumeSpec{Type: "gp2", Size: 100 * units.GiB}, topology.Single, 0, "")
	reads := []fio.Workload{load("randread", 16*k, 8, 8)}
	for role, c := range OfTogether(top, map[topology.Role][]fio.Workload{topology.Data: reads, topology.WAL: reads}) {
		steps := c.Course()
		if len(steps) != 2 || !within(steps[0].Bound.IOPS, 1500) || steps[0].Until != 2000*time.Second || !within(steps[1].Bound.IOPS, 150) {
			t.Errorf("%s: %+v", role, steps)
		}
	}
}

// What the arithmetic takes for granted is said, and no more.
func TestAssumptionsByHand(t *testing.T) {
	inferred := machine(t, 1, gp3, topology.Single, 0, "")
	inferred.Arrays[0].Volumes[0].Inferred = true
	plain := machine(t, 4, gp3, topology.RAID0, 64*k, "")
	several := func(level topology.Level) *topology.Topology { return machine(t, 4, gp3, level, 0, "") }
	for name, c := range map[string]struct {
		top  *topology.Topology
		load fio.Workload
		note string
		want bool
	}{
		"RAID0":               {several(topology.RAID0), load("randread", 4*k, 8, 8), "no I/O counts as split", true},
		"RAID10":              {several(topology.RAID10), load("randread", 4*k, 8, 8), "no I/O counts as split", true},
		"RAID5":               {several(topology.RAID5), load("randread", 4*k, 8, 8), "no I/O counts as split", true},
		"RAID1":               {several(topology.RAID1), load("randread", 4*k, 8, 8), "no I/O counts as split", false},
		"a chunk":             {plain, load("randread", 4*k, 8, 8), "no I/O counts as split", false},
		"inferred":            {inferred, load("randread", 4*k, 8, 8), "lower bound", true},
		"stated":              {plain, load("randread", 4*k, 8, 8), "lower bound", false},
		"a stream":            {plain, load("read", 4*k, 8, 8), "merged up to 256 KiB", true},
		"none":                {plain, load("randread", 4*k, 8, 8), "merged up to", false},
		"a stream on drives":  {broken(topology.RAID0, 4), load("read", 4*k, 8, 8), "merged up to", false},
		"synced":              {plain, synced(load("randwrite", 4*k, 8, 8)), "syncs are assumed to cost nothing", true},
		"unsynced":            {plain, load("randwrite", 4*k, 8, 8), "syncs are assumed", false},
		"synced reads":        {plain, synced(load("randread", 4*k, 8, 8)), "syncs are assumed", false},
		"60 KiB in flight":    {plain, load("write", 4*k, 15, 1), "with 60 KiB in flight, less than a chunk", true},
		"a chunk in flight":   {plain, load("write", 4*k, 16, 1), "in flight are less", false},
		"on one volume":       {machine(t, 1, gp3, topology.Single, 0, ""), load("write", 4*k, 1, 1), "in flight are less", false},
		"random":              {plain, load("randwrite", 4*k, 1, 1), "in flight are less", false},
		"no level is known":   {several(topology.NoLevel), load("randread", 4*k, 8, 8), "declare the level", true},
		"one without a level": {machine(t, 1, gp3, topology.NoLevel, 0, ""), load("randread", 4*k, 8, 8), "declare the level", false},
	} {
		if got := Of(c.top, topology.Data, []fio.Workload{c.load}); noted(got, c.note) != c.want {
			t.Errorf("%s: %q", name, got.Notes)
		}
	}
	// Of volumes that are combined nobody knows how, the machine's part is not known either.
	if c := Of(machine(t, 2, gp3, topology.NoLevel, 0, "c8g.2xlarge"), topology.Data, []fio.Workload{load("randread", 4*k, 8, 8)}); c.Known() {
		t.Errorf("%+v", c.Bounds)
	}
	if c := Of(machine(t, 1, gp3, topology.NoLevel, 0, "c8g.2xlarge"), topology.Data, []fio.Workload{load("randread", 4*k, 8, 8)}); len(c.Bounds) != 6 {
		t.Errorf("%+v", c.Bounds)
	}
	// A volume of two that states nothing.
	plain.Arrays[0].Volumes[3] = topology.Volume{}
	if c := Of(plain, topology.Data, []fio.Workload{load("randread", 4*k, 8, 8)}); !noted(c, "the limits of 1 of 4 volumes are unknown") {
		t.Errorf("%q", c.Notes)
	}
}

// Unlike members are resources of their own where neither always binds before the other.
func TestUnlikeMembersByHand(t *testing.T) {
	top := machine(t, 2, gp3, topology.RAID0, 64*k, "")
	v := top.Arrays[0].Volumes
	v[0].Sustained, v[0].Burst, v[0].BurstIOs = topology.Limits{IOPS: 100}, topology.Limits{IOPS: 3000}, 29000
	v[1].Sustained, v[1].Burst, v[1].BurstIOs = topology.Limits{IOPS: 200}, topology.Limits{IOPS: 1000}, 80000
	c := Of(top, topology.Data, []fio.Workload{load("randread", 4*k, 8, 8)})
	var names []string
	for _, b := range c.Bounds {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	// Twice 1,000 at first. The first spends 900 a second of 29,000: 32.2 s; then 2 × 100, and the other's burst is not needed.
	if want := []string{"md0 IOPS 1", "md0 IOPS 1", "md0 IOPS 2", "md0 IOPS 2"}; !slices.Equal(names, want) || !noted(c, "differ") {
		t.Errorf("%q, %q", names, c.Notes)
	}
	steps := c.Course()
	if len(steps) != 2 || !within(steps[0].Bound.IOPS, 2000) || steps[0].Until != 32*time.Second || !within(steps[1].Bound.IOPS, 200) {
		t.Errorf("%+v", steps)
	}
	// One that is never better is all that counts, without a number.
	v[1] = v[0]
	v[1].Sustained.IOPS = 90
	if c = Of(top, topology.Data, []fio.Workload{load("randread", 4*k, 8, 8)}); c.Sustained().Name != "md0 IOPS" || !within(c.Sustained().IOPS, 180) || !noted(c, "differ") {
		t.Errorf("%+v", c.Bounds)
	}
	if v[1] = v[0]; noted(Of(top, topology.Data, []fio.Workload{load("randread", 4*k, 8, 8)}), "differ") {
		t.Error("alike volumes differ")
	}
	// One in flight, half reads: the first mirror reads all and writes all, 1 I/O of each.
	mix := load("randrw", 4*k, 1, 1)
	mix.ReadShare = 0.5
	if b := Of(machine(t, 2, gp3, topology.RAID1, 0, ""), topology.Data, []fio.Workload{mix}).Binding(); !within(b.IOPS, 3000) {
		t.Errorf("%+v", b)
	}
}

// A concatenation whose second volume's size is not known: it holds what is left, 60 of 110 GiB.
func TestRegionOfAnUnknownSize(t *testing.T) {
	top := machine(t, 3, gp3, topology.Linear, 0, "")
	top.Arrays[0].Volumes[0].Size = 50 * units.GiB
	w := load("randread", 4*k, 8, 1)
	w.Size = 110 * units.GiB
	if b := Of(top, topology.Data, []fio.Workload{w}).Binding(); !within(b.IOPS, 3000*11/6.) {
		t.Errorf("%+v", b)
	}
}

// Sequential writes of rows on offset copies: both rows of copies lie one below the other, so that an
// I/O of 256 KiB is one of 128 KiB on each of four, and not eight chunks.
func TestOffsetStreamsByHand(t *testing.T) {
	top := machine(t, 4, gp3, topology.RAID10, 64*k, "")
	top.Arrays[0].Near, top.Arrays[0].Offset = 1, true
	for size, want := range map[units.Bytes]float64{256 * k: 12000. / 4, 64 * k: 12000. / 2} {
		c := Of(top, topology.Data, []fio.Workload{load("write", size, 8, 1)})
		if b := c.Least(func(b Bound) bool { return b.Kind == VolumeIOPS }); !within(b.IOPS, want) {
			t.Errorf("%v: %+v, want %v", size, b, want)
		}
	}
	for over, want := range map[units.Bytes]units.Bytes{512 * 4096: 512, 512 * 4097: 512, 512 * 8192: 1024, 512 * 10000: 1024} {
		if got := grain(512, over); got != want {
			t.Errorf("of %v: %v, want %v", over, got, want)
		}
	}
}

// Full stripes of an array that lacks members: what is there is written, each once.
func TestDegradedStripesByHand(t *testing.T) {
	for name, c := range map[string]struct {
		top  *topology.Topology
		size units.Bytes
	}{
		"RAID5 of five":            {broken(topology.RAID5, 5, 1), 256 * k},
		"RAID6 of twelve less two": {broken(topology.RAID6, 12, 0, 5), 640 * k},
	} {
		if b := Of(c.top, topology.Data, []fio.Workload{load("randwrite", c.size, 8, 1)}).Least(func(b Bound) bool { return b.Kind == VolumeIOPS }); !within(b.IOPS, 1000) {
			t.Errorf("%s: %+v", name, b)
		}
	}
	all := []topology.Volume{{Missing: true, Device: "a"}, {Missing: true, Device: "b"}}
	if got := present(&topology.Array{Volumes: all}); got.Device != "a" {
		t.Errorf("%+v", got)
	}
	if RebuildTakes(nil, VolumeIOPS) != 0 || RebuildTakes(&topology.Array{}, VolumeIOPS) != 0 {
		t.Error("no array is rebuilt")
	}
}

// What a machine of another cloud allows where nothing is known of its volumes, and what it shares.
func TestOtherMachinesByHand(t *testing.T) {
	limits := func(iops units.IOPS) topology.Limits { return topology.Limits{IOPS: iops} }
	alone := func(i topology.Instance, w fio.Workload) float64 {
		return iopsOf(Of(&topology.Topology{Instance: i}, topology.Data, []fio.Workload{w}).Binding())
	}
	stream, large := load("read", 8*k, 8, 1), load("randread", 512*k, 8, 1)
	google := topology.Instance{Type: "n2", Cloud: "Google Cloud", Caps: []cloud.Cap{
		{Name: "standard", Types: []string{"pd-standard"}, Baseline: limits(1000)},
		{Name: "ssd", Types: []string{"pd-ssd"}, Baseline: topology.Limits{ReadIOPS: 8000}},
		{Name: "least", Types: []string{"pd-least"}, Baseline: limits(7000)},
		{Name: "cache", Cache: true, Baseline: limits(90000)},
	}}
	for name, got := range map[string][2]float64{
		"EC2 merges 32 of 8 KiB":       {alone(topology.Instance{Type: "m5", Baseline: limits(100)}, stream), 3200},
		"Azure does not":               {alone(topology.Instance{Type: "D8", Cloud: "Azure", Baseline: limits(100)}, stream), 100},
		"EC2 counts 512 KiB twice":     {alone(topology.Instance{Type: "m5", Baseline: limits(100)}, large), 50},
		"Google counts what it allows": {alone(google, large), 8000},
	} {
		if math.Abs(got[0]-got[1]) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got[0], got[1])
		}
	}
	two := machine(t, 2, gp3, topology.RAID0, 64*k, "")
	two.Instance = google
	two.Instance.Baseline = limits(5000)
	v := two.Arrays[0].Volumes
	v[0].Type, v[1].Type = "pd-ssd", "pd-other"
	reads := []fio.Workload{load("randread", 8*k, 8, 8)}
	if c := Of(two, topology.Data, reads); !noted(c, "are counted separately") {
		t.Errorf("%q", c.Notes)
	}
	if v[1].Type = "pd-ssd"; noted(Of(two, topology.Data, reads), "count apart") {
		t.Error("volumes of one type are said to differ")
	}
	// A pool counts where volumes of its type are, of one volume whose level is not known, too.
	one := machine(t, 1, gp3, topology.NoLevel, 0, "")
	one.Instance.Pools = []topology.Pool{{Type: "pd-ssd", Size: units.TiB, Limits: limits(500)}}
	if got := iopsOf(Of(one, topology.Data, reads).Binding()); got != 3000 {
		t.Errorf("a pool of another type: %v", got)
	}
	one.Arrays[0].Volumes[0].Type, one.Arrays[0].Volumes[0].Pooled = "pd-ssd", true
	if got := iopsOf(Of(one, topology.Data, reads).Binding()); got != 500 {
		t.Errorf("its own: %v", got)
	}
}

// The arithmetic in words.
func TestHowByHand(t *testing.T) {
	drive := machine(t, 1, gp3, topology.Single, 0, "")
	drive.Arrays[0].Volumes[0] = topology.Volume{Sustained: topology.Limits{ReadRate: 3e8}}
	disk := machine(t, 2, cloud.VolumeSpec{Type: "st1", Size: 4 * units.TiB}, topology.RAID0, 256*k, "")
	for want, c := range map[string]struct {
		top  *topology.Topology
		load fio.Workload
	}{
		"1 volume × 3,000 IOPS ÷ 1 volume I/O per I/O":                                  {machine(t, 1, gp3, topology.Single, 0, ""), load("randread", 8*k, 8, 8)},
		"8 volumes × 3,000 IOPS ÷ 1.3 volume I/Os per I/O":                              {machine(t, 8, gp3, topology.RAID10, 64*k, ""), load("randrw", 8*k, 8, 8)},
		"4 of 8 volumes × 3,000 IOPS ÷ 1 volume I/O per I/O":                            {machine(t, 8, gp3, topology.RAID10, 64*k, ""), load("randread", 8*k, 1, 1)},
		"4 of 8 volumes (the array is degraded) × 1,000 IOPS ÷ 1 volume I/O per I/O":    {broken(topology.RAID10, 8, 2), load("randread", 8*k, 8, 8)},
		"4 volumes × 3,000 IOPS ÷ 4 volume I/Os per I/O, as the busiest volume sees it": {machine(t, 4, gp3, topology.RAID0, 64*k, ""), aligned(load("randread", 4*k, 8, 8), 256*k)},
		"1 volume × 300 MB/s read ÷ 8 KiB per I/O":                                      {drive, load("randread", 8*k, 8, 8)},
		"8 volumes × 125 MiB/s ÷ 2 MiB per I/O":                                         {machine(t, 8, gp3, topology.RAID10, 64*k, ""), load("write", m, 8, 8)},
		"2 volumes × 500 MiB/s ÷ 1 MiB per I/O (each that is counted takes 1 MiB)":      {disk, load("randread", 8*k, 8, 8)},
		"c8g.large: 78.8 MB/s ÷ 1 MiB per I/O":                                          {machine(t, 16, gp3, topology.RAID0, 64*k, "c8g.large"), load("read", m, 8, 8)},
		"1 of 4 volumes × 3,000 IOPS ÷ 1 volume I/O per I/O":                            {machine(t, 4, gp3, topology.RAID0, 64*k, ""), func() fio.Workload { w := load("randread", 4*k, 8, 1); w.Size, w.SharedFile = 64*k, true; return w }()},
	} {
		got := Of(c.top, topology.Data, []fio.Workload{c.load})
		if i := slices.IndexFunc(got.Bounds, func(b Bound) bool { return b.How == want }); i < 0 {
			t.Errorf("%q is missing in %+v", want, got.Bounds)
		}
	}
}

// Places of a sweep at the edges of what is taken.
func TestAxesEdges(t *testing.T) {
	for text, ok := range map[string]bool{
		"bs=512..512": true, "bs=511": false, "bs=1g": true, "bs=1g..1073741825": false, "bs=8k..4k": false, "iodepth=1": true, "iodepth=0": false,
		"iodepth=1048576": true, "iodepth=1048577": false, "iodepth=2..1": false, "runtime=4": false, "bs": false, "iodepth=1,iodepth=2": false,
	} {
		if _, err := ParseAxes(text); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
	a, err := ParseAxes("bs=4k..20k,iodepth=3..12")
	if err != nil || !slices.Equal(a.BlockSizes, []units.Bytes{4 * k, 8 * k, 16 * k}) || !slices.Equal(a.Depths, []int{3, 6, 12}) {
		t.Errorf("%+v, %v", a, err)
	}
	for _, bs := range []units.Bytes{0, 8 * k} {
		if chunk, sure := InferChunk(bs, 1000, 0); chunk != 0 || sure != 0 {
			t.Errorf("nothing was issued: %v %v", chunk, sure)
		}
		if chunk, _ := InferChunk(bs, 0, 0); chunk != 0 {
			t.Error("of nothing")
		}
	}
	if chunk, _ := InferChunk(0, 2, 1); chunk != 0 {
		t.Errorf("of no size: %v", chunk)
	}
}

// Transactions on one gp2 of 100 GiB: 3,000 and 300 IOPS, 128 MiB/s, 5.4 million credits.
func TestTransactionsOnABurstByHand(t *testing.T) {
	top := machine(t, 1, cloud.VolumeSpec{Type: "gp2", Size: 100 * units.GiB}, topology.Single, 0, "")
	read := result.PgStep{Clients: 4, Threads: 2, TPS: 1000, Transactions: 10000, Measured: 10 * time.Second, Reads: 30000, ReadBytes: 30000 * 8192}
	mixed, logged, idle := read, read, read
	mixed.Writes, mixed.WriteBytes = 10000, 10000*524288 // of 512 KiB, which count twice
	logged.Reads, logged.ReadBytes, logged.WAL, logged.Syncs = 0, 0, 10000*65536, 5000
	idle.Reads = 9 // 0.0009 a transaction are noise
	for name, c := range map[string]struct {
		s    result.PgStep
		want map[string]float64
	}{
		"reads": {read, map[string]float64{
			"3,000 IOPS of 100.0 % reads ÷ 3 device I/Os per transaction (volume IOPS (burst))": 1000,
			"300 IOPS of 100.0 % reads ÷ 3 device I/Os per transaction (volume IOPS)":           100,
		}},
		// 0.75 × 8 KiB + 0.25 × 512 KiB are 134 KiB: 128 MiB/s are 978 I/Os; sustained 300 / 1.25 = 240. Four a transaction.
		"a mix": {mixed, map[string]float64{
			"978 IOPS of 75.0 % reads ÷ 4 device I/Os per transaction (volume throughput)": 131072. / 134 / 4, "240 IOPS of 75.0 % reads ÷ 4 device I/Os per transaction (volume IOPS)": 60,
		}},
		// The log's stream at 128 MiB/s, and at 300 × 256 KiB; two commits share a sync.
		"the log": {logged, map[string]float64{
			"128 MiB/s ÷ 64 KiB of WAL per transaction (volume throughput)": 2048, "75 MiB/s ÷ 64 KiB of WAL per transaction (volume IOPS)": 1200,
			"3,000 synced writes × 2 commits per sync (volume IOPS (burst))": 6000, "300 synced writes × 2 commits per sync (volume IOPS)": 600,
		}},
		"next to nothing": {idle, nil},
	} {
		got := OfPostgres(top, &result.Postgres{Cores: 8}, &c.s)
		if len(got.Bounds) != len(c.want) {
			t.Errorf("%s: %+v", name, got.Bounds)
		}
		for _, b := range got.Bounds {
			if want, ok := c.want[b.How]; !ok || math.Abs(float64(b.IOPS)-want) > 0.01 || b.Burst != strings.Contains(b.How, "burst") || b.Burst != (b.BurstFor == 2000*time.Second) ||
				b.Capacity != float64(b.IOPS) || b.Demand != 1 {
				t.Errorf("%s: %+v, want %v", name, b, want)
			}
		}
	}
	for _, c := range []struct {
		clients         int
		s, both, longer units.Latency
		want            Commits
	}{
		{1, 2e6, 1e6, 500_000, Commits{500, 250, 400}},     // 2; 3 + 1; 2 + 0.5 ms
		{4, 2e6, 0, 0, Commits{2000, 4. / 0.006, 1000}},    // 2; 6; 4 ms
		{4, 2e6, 1e6, 3e6, Commits{2000, 4. / 0.007, 800}}, // 6 + 1; 2 + 3 ms, more than 4
		{0, 2e6, 0, 0, Commits{}},
		{-1, 2e6, 0, 0, Commits{}},
		{4, 0, 1, 1, Commits{}},
		{4, -1, 5, 5, Commits{}},
		{1, 0.5, 0, 0, Commits{2e9, 4e9 / 3, 2e9}}, // half a nanosecond; 1.5 times it
	} {
		got := CommitsOf(c.clients, c.s, c.both, c.longer)
		for _, p := range [][2]units.IOPS{{got.Bound, c.want.Bound}, {got.Low, c.want.Low}, {got.High, c.want.High}} {
			if math.Abs(float64(p[0]-p[1])) > 1e-6 {
				t.Errorf("%+v: %+v, want %+v", c, got, c.want)
			}
		}
	}
}

// What a flow costs of a bound, by hand: of bytes each as much, of I/Os by the parts of small and large
// ones that the mean shows, in whichever order the sections stand.
func TestCostOfFlows(t *testing.T) {
	small, large := fio.Workload{ReadBS: 4096, WriteBS: 8192}, fio.Workload{ReadBS: 20480, WriteBS: 8192}
	cost := func(read, write float64) SectionCost { return SectionCost{Read: read, Write: write} }
	for name, c := range map[string]struct {
		kind  Kind
		read  bool
		f     flow
		loads []fio.Workload
		costs []SectionCost
		want  float64
	}{
		// 100 I/Os of 8 KiB are three of four small ones.
		"in order":          {VolumeIOPS, true, flow{100, 819200}, []fio.Workload{small, large}, []SectionCost{cost(1, 3), cost(2, 5)}, 75 + 25*2},
		"turned round":      {VolumeIOPS, true, flow{100, 819200}, []fio.Workload{large, small}, []SectionCost{cost(2, 5), cost(1, 3)}, 75 + 25*2},
		"smaller than":      {VolumeIOPS, true, flow{100, 100}, []fio.Workload{small, large}, []SectionCost{cost(1, 3), cost(2, 5)}, 100},
		"larger than all":   {VolumeIOPS, true, flow{100, 1e9}, []fio.Workload{small, large}, []SectionCost{cost(1, 3), cost(2, 5)}, 200},
		"one costs nothing": {VolumeIOPS, true, flow{100, 819200}, []fio.Workload{small, large}, []SectionCost{cost(0, 3), cost(2, 5)}, 200},
		// Of one size all count as the last.
		"one size": {VolumeIOPS, false, flow{100, 819200}, []fio.Workload{small, large}, []SectionCost{cost(1, 3), cost(2, 5)}, 500},
		// Twice and once each byte: 1.5 in the mean.
		"bytes":     {VolumeRate, true, flow{100, 819200}, []fio.Workload{small, large}, []SectionCost{cost(8192, 1), cost(20480, 1)}, 819200 * 1.5},
		"cgroup's":  {CgroupRate, true, flow{100, 819200}, []fio.Workload{small}, []SectionCost{cost(4096, 1)}, 819200},
		"machine's": {InstanceRate, true, flow{100, 819200}, []fio.Workload{small}, []SectionCost{cost(8192, 1)}, 819200 * 2},
		"nothing":   {VolumeIOPS, true, flow{0, 0}, []fio.Workload{small}, []SectionCost{cost(1, 1)}, 0},
		"no such":   {VolumeIOPS, true, flow{100, 819200}, []fio.Workload{{WriteBS: 4096}}, []SectionCost{cost(0, 1)}, 0},
	} {
		if got := (Bound{Kind: c.kind}).costOf(c.read, c.f, c.loads, c.costs); math.Abs(got-c.want) > 1e-6*(1+c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	// A hard disk's rate counts units: it goes by I/Os.
	if got := (Bound{Kind: VolumeRate, Counted: m}).costOf(true, flow{100, 819200}, []fio.Workload{small}, []SectionCost{cost(1048576, 1)}); got != 100*1048576 {
		t.Errorf("%v", got)
	}
	// Two sections of 100 s, one of which asks for 50 a second for 25 s: 12.5 over the whole, and 10 of the other.
	loads := []fio.Workload{
		{ReadShare: 1, ReadBS: 4096, ReadIOPS: 50, Jobs: 1, TimeBased: true, Runtime: 25 * time.Second, StartDelay: 5 * time.Second},
		{WriteBS: 8192, WriteIOPS: 10, Jobs: 1, TimeBased: true, Runtime: 100 * time.Second},
	}
	b := Bound{}
	if b.asked(loads); !within(b.IOPS, 22.5) || !within(b.ReadIOPS, 12.5) || !within(b.WriteIOPS, 10) || math.Abs(float64(b.BW)-(12.5*4096+10*8192)) > 1e-6 || math.Abs(b.Capacity-22.5) > 1e-9 {
		t.Errorf("%+v", b)
	}
	loads[1].WriteIOPS = 0
	b = Bound{}
	if b.asked(loads); b.IOPS != 0 {
		t.Errorf("one asks for nothing: %+v", b)
	}
	loads[1].TimeBased = false
	if b.asked(loads); b.IOPS != 0 {
		t.Errorf("its end is not known: %+v", b)
	}
	// A direction that ran for a fifth of the window counts for a fifth.
	r := &result.Result{Workloads: []fio.Workload{{Name: "x"}, {Name: "y"}}, Total: fio.Job{
		Window: 50 * time.Second,
		Read:   fio.Direction{IOPS: 100, BW: 1000, Runtime: 10 * time.Second}, Write: fio.Direction{IOPS: 7, BW: 70, Runtime: 50 * time.Second},
	}}
	if got := flowsOf(r); len(got) != 1 || got[0] != [2]flow{{20, 200}, {7, 70}} {
		t.Errorf("%+v", got)
	}
	r.Jobs = []fio.Job{{Name: "x", Read: fio.Direction{IOPS: 1, BW: 2}}, {Name: "y", Write: fio.Direction{IOPS: 3, BW: 4}}, {Name: "x", Read: fio.Direction{IOPS: 5, BW: 6}}}
	if got := flowsOf(r); len(got) != 2 || got[0] != [2]flow{{6, 8}, {}} || got[1] != [2]flow{{}, {3, 4}} {
		t.Errorf("%+v", got)
	}
	if got := flowsOf(&result.Result{Workloads: r.Workloads, Jobs: r.Jobs[:1]}); len(got) != 1 {
		t.Errorf("a section has no row: %+v", got)
	}
	if got := readShare([][2]flow{{{3, 0}, {1, 0}}, {{0, 0}, {2, 0}}}); got != 0.5 {
		t.Error(got)
	}
}

// What was measured restates bounds by rows only where rows are the sections', at any scale.
func TestMixEdges(t *testing.T) {
	small, large := load("randread", 8*k, 8, 1), load("randread", 512*k, 8, 1)
	small.Name, large.Name = "small", "large"
	row := func(name string, iops, bs float64) fio.Job {
		return fio.Job{Name: name, Window: 10 * time.Second, Read: fio.Direction{IOPS: units.IOPS(iops), BW: units.Rate(iops * bs), Runtime: 10 * time.Second}}
	}
	for _, by := range []float64{1, 1. / (1 << 14)} {
		top := scaled(machine(t, 1, gp3, topology.Single, 0, ""), by)
		for name, c := range map[string]struct {
			names [2]string
			want  float64 // counted I/Os per second
		}{
			// 2,000 of 8 KiB and 100 of 512 KiB that count twice.
			"of the sections": {[2]string{"small", "large"}, 2200},
			// One row's mean is between: 2,100 I/Os, of which 100 were large.
			"of a group": {[2]string{"small", "other"}, 2200},
		} {
			r := &result.Result{State: result.Done, Workloads: []fio.Workload{small, large}, Total: row("all", 2100*by, (2000*8192+100*512*1024)/2100.)}
			r.Jobs = []fio.Job{row(c.names[0], 2000*by, 8192), row(c.names[1], 100*by, 512*1024)}
			got := Of(top, topology.Data, r.Workloads).Measured(r, 1)
			b := got.Least(func(b Bound) bool { return b.Kind == VolumeIOPS })
			if share := 2100 * by / float64(b.IOPS); math.Abs(share-c.want/3000) > 1e-6 {
				t.Errorf("%s at %v: %v of it, want %v", name, by, share, c.want/3000)
			}
		}
	}
}
