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

// An allowance of bytes is one that counts whole units of at least a MiB, merges, and states a
// throughput; what a bucket holds is bytes, or I/Os of which each takes a unit.
func TestWhatIsCountedInUnits(t *testing.T) {
	disk := topology.Volume{CountedIO: units.MiB, Merges: true, Sustained: topology.Limits{Rate: 1}}
	with := func(f func(*topology.Volume)) topology.Volume { v := disk; f(&v); return v }
	for name, c := range map[string]struct {
		v    topology.Volume
		want bool
	}{
		"a disk":           {disk, true},
		"of half a byte":   {with(func(v *topology.Volume) { v.Sustained.Rate = 0.5 }), true},
		"of larger units":  {with(func(v *topology.Volume) { v.CountedIO = 2 * units.MiB }), true},
		"of smaller ones":  {with(func(v *topology.Volume) { v.CountedIO = units.MiB - 1 }), false},
		"that never merge": {with(func(v *topology.Volume) { v.Merges = false }), false},
		"of no throughput": {with(func(v *topology.Volume) { v.Sustained.Rate = 0 }), false},
	} {
		if got := countsUnits(c.v); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		v    topology.Volume
		kind Kind
		want float64
	}{
		"bytes":               {topology.Volume{BurstBytes: 4096, BurstIOs: 7, CountedIO: 1024}, VolumeRate, 4096},
		"bytes as I/Os":       {topology.Volume{BurstBytes: 4096, CountedIO: 1024}, VolumeIOPS, 4},
		"bytes one by one":    {topology.Volume{BurstBytes: 4096, CountedIO: 1}, VolumeIOPS, 4096},
		"I/Os":                {topology.Volume{BurstBytes: 4096, BurstIOs: 7, CountedIO: 1024}, VolumeIOPS, 7},
		"half an I/O":         {topology.Volume{BurstIOs: 0.5, BurstBytes: 4096, CountedIO: 1024}, VolumeIOPS, 0.5},
		"bytes of no unit":    {topology.Volume{BurstBytes: 4096}, VolumeIOPS, 0},
		"one I/O, and a unit": {topology.Volume{BurstIOs: 1, BurstBytes: 4096, CountedIO: 1024}, VolumeIOPS, 1},
	} {
		if got := credits(c.v, c.kind); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What is said of an array that is not whole: the first sentence by what is lost, then of a second lost
// parity, then of what goes on.
func TestEachStateOfADegradedArray(t *testing.T) {
	const (
		refused = "which its level does not survive"
		copies  = "the remaining copies serve all reads"
		parity  = "is reconstructed from the others"
		two     = "lacks two members"
		rebuilt = "or faster, whatever the load"
		unknown = "at a rate that is not known"
		share   = "counts by its share of the array"
		busy    = "is busy with"
	)
	for name, c := range map[string]struct {
		m    members
		a    topology.Array
		want []string
	}{
		"whole":                     {members{copies: 2}, topology.Array{}, nil},
		"one more than it survives": {members{copies: 1}, topology.Array{Degraded: 1}, []string{refused}},
		"a mirror":                  {members{copies: 2, lost: 1}, topology.Array{Degraded: 1}, []string{copies}},
		"two of three mirrors":      {members{copies: 3, lost: 2}, topology.Array{Degraded: 2}, []string{copies}},
		"a parity":                  {members{copies: 1, parity: 1, lost: 1}, topology.Array{Degraded: 1}, []string{parity}},
		"both parities":             {members{copies: 1, parity: 2, lost: 2}, topology.Array{Degraded: 2}, []string{parity, two}},
		"one of two parities":       {members{copies: 1, parity: 2, lost: 1}, topology.Array{Degraded: 1}, []string{parity}},
		"a rebuild":                 {members{copies: 2, lost: 1}, topology.Array{Syncing: "recover", SyncFloor: 0.5}, []string{copies, rebuilt, share}},
		"a rebuild of no rate":      {members{copies: 2, lost: 1}, topology.Array{Syncing: "recover"}, []string{copies, unknown, share}},
		"a rebuild of nothing lost": {members{copies: 2}, topology.Array{Syncing: "recover", SyncFloor: 1}, []string{busy}},
		"a check of a lost one":     {members{copies: 2, lost: 1}, topology.Array{Syncing: "check"}, []string{copies, busy}},
		"a resync":                  {members{copies: 2}, topology.Array{Syncing: "resync"}, []string{busy}},
	} {
		var p problem
		p.assumeDegraded(&c.a, c.m)
		ok := len(p.notes) == len(c.want)
		for i := range min(len(p.notes), len(c.want)) {
			ok = ok && strings.Contains(p.notes[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", name, p.notes, c.want)
		}
	}
}

// Which latency of a direction counts, and from where on a mean shows a queue: above twice the tenth
// percentile.
func TestLatencyOfADirection(t *testing.T) {
	tenth := func(mean float64, p10 time.Duration) fio.Latency {
		return fio.Latency{N: 9, Mean: mean, Percentiles: []fio.Percentile{{P: 10, Value: p10}}}
	}
	plain := func(mean float64) fio.Latency { return fio.Latency{N: 9, Mean: mean} }
	for name, c := range map[string]struct {
		d      fio.Direction
		of     float64 // mean of the latency that counts
		mean   time.Duration
		queued bool
	}{
		"both, the whole with percentiles": {fio.Direction{Lat: tenth(2000, 1000), Clat: tenth(1900, 100)}, 2000, 2000, false},
		"just above twice":                 {fio.Direction{Lat: tenth(2001, 1000), Clat: tenth(1900, 1000)}, 2001, 2001, true},
		"the whole without percentiles":    {fio.Direction{Lat: plain(2000), Clat: tenth(1900, 100)}, 1900, 2000, true},
		"the whole alone":                  {fio.Direction{Lat: plain(2000)}, 2000, 2000, false},
		"completion alone":                 {fio.Direction{Clat: tenth(3000, 1500)}, 3000, 3000, false},
		"completion, queued":               {fio.Direction{Clat: tenth(3000, 1499)}, 3000, 3000, true},
		"neither":                          {fio.Direction{}, 0, 0, false},
		"completion above the whole":       {fio.Direction{Lat: plain(10), Clat: plain(20)}, 20, 20, false},
	} {
		if got := latency(c.d).Mean; got != c.of {
			t.Errorf("%s: a latency of %v, want %v", name, got, c.of)
		}
		if got := mean(c.d); got != c.mean {
			t.Errorf("%s: a mean of %v, want %v", name, got, c.mean)
		}
		if got := queued(c.d); got != c.queued {
			t.Errorf("%s: queued %v", name, got)
		}
	}
}

// A measured latency is a bound up to 16 I/Os in flight for each volume and 128 KiB each, and of one I/O
// at a time always; one that was declared stays.
func TestMeasuredAtItsEdges(t *testing.T) {
	known := Ceiling{
		InFlight: 1, IOSize: 4 * units.KiB, ReadShare: 1, Bounds: []Bound{{Kind: VolumeIOPS, IOPS: 1e6, BW: 4096e6}},
	}
	slow := func(mean, p10 time.Duration) fio.Job {
		l := fio.Latency{N: 9, Mean: float64(mean), Percentiles: []fio.Percentile{{P: 10, Value: p10}}}
		return fio.Job{Read: fio.Direction{N: 9, Clat: l}}
	}
	read := func(bs units.Bytes, depth int) fio.Workload {
		return fio.Workload{Engine: "libaio", ReadShare: 1, ReadBS: bs, Jobs: 1, Depth: depth}
	}
	declared := known.WithLatency(time.Second, 0, 1, topology.Origin{Kind: topology.Declared})
	catalogued := known.WithLatency(time.Second, 0, 1, topology.Origin{Kind: topology.Catalogue})
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		of      Ceiling
		loads   []fio.Workload
		total   fio.Job
		volumes int
		want    float64 // the concurrency bound; 0 for none
	}{
		"16 for one volume":        {known, []fio.Workload{read(4096, 16)}, slow(ms, ms), 1, 16000},
		"17 for one volume":        {known, []fio.Workload{read(4096, 17)}, slow(ms, ms), 1, 0},
		"17 for two volumes":       {known, []fio.Workload{read(4096, 17)}, slow(ms, ms), 2, 17000},
		"16 for no known volume":   {known, []fio.Workload{read(4096, 16)}, slow(ms, ms), 0, 16000},
		"two sections of eight":    {known, []fio.Workload{read(4096, 8), read(4096, 8)}, slow(ms, ms), 1, 16000},
		"two sections of nine":     {known, []fio.Workload{read(4096, 9), read(4096, 9)}, slow(ms, ms), 1, 0},
		"128 KiB":                  {known, []fio.Workload{read(128*units.KiB, 2)}, slow(ms, ms), 1, 2000},
		"a byte more":              {known, []fio.Workload{read(128*units.KiB+1, 2)}, slow(ms, ms), 1, 0},
		"large in one section":     {known, []fio.Workload{read(units.MiB, 1), read(4096, 1)}, slow(ms, ms), 1, 0},
		"large, one at a time":     {known, []fio.Workload{read(units.MiB, 1)}, slow(ms, ms), 1, 1000},
		"a queue shows":            {known, []fio.Workload{read(4096, 2)}, slow(3*ms, ms), 1, 0},
		"a queue of one shows not": {known, []fio.Workload{read(4096, 1)}, slow(4*ms, ms), 1, 250},
		"declared":                 {declared, []fio.Workload{read(4096, 1)}, slow(ms, ms), 1, 1},
		"of the data sheet":        {catalogued, []fio.Workload{read(4096, 1)}, slow(ms, ms), 1, 1000},
		"nothing known":            {Ceiling{InFlight: 1, IOSize: 4096, ReadShare: 1}, []fio.Workload{read(4096, 1)}, slow(ms, ms), 1, 0},
		"no work known":            {known, nil, slow(ms, ms), 1, 0},
	} {
		got := c.of.Measured(&result.Result{State: result.Done, Workloads: c.loads, Total: c.total}, c.volumes)
		if b := iopsOf(got.Concurrency()); math.Abs(b-c.want) > 1e-6*(1+c.want) {
			t.Errorf("%s: %v, want %v", name, b, c.want)
		}
	}
	for _, state := range []result.State{result.Invalid, ""} {
		r := &result.Result{State: state, Workloads: []fio.Workload{read(4096, 1)}, Total: slow(ms, ms)}
		if got := known.Measured(r, 1); got.Concurrency() != nil {
			t.Errorf("a result that is %q: %+v", state, got.Concurrency())
		}
	}
	// Of writes that queue as of reads; an asynchronous engine's synced writes go by their rate, one at a
	// time only.
	write := func(depth int) fio.Workload {
		return fio.Workload{Engine: "libaio", WriteBS: 4096, Jobs: 1, Depth: depth, SyncEvery: 1}
	}
	writes := known
	writes.ReadShare = 0
	for name, c := range map[string]struct {
		depth  int
		iops   units.IOPS
		synced uint64
		want   float64
	}{
		"one":             {1, 0.5, 9, 0.5},
		"of no rate":      {1, 0, 9, 0},
		"two":             {2, 100, 9, 0},
		"not measured":    {1, 250, 0, 250}, // an old fio has no figures of syncs
		"two, not synced": {2, 100, 0, 0},
	} {
		total := fio.Job{Write: fio.Direction{N: 9, IOPS: c.iops, Clat: fio.Latency{N: 9, Mean: 1e6}}}
		total.Sync.Lat.N = c.synced
		got := writes.Measured(&result.Result{State: result.Done, Workloads: []fio.Workload{write(c.depth)}, Total: total}, 1)
		if b := iopsOf(got.Concurrency()); math.Abs(b-c.want) > 1e-9*(1+c.want) {
			t.Errorf("%s: %v, want %v", name, b, c.want)
		}
	}
	queue := fio.Job{Write: slow(3*ms, ms).Read}
	load := write(2)
	load.SyncEvery = 0
	got := writes.Measured(&result.Result{State: result.Done, Workloads: []fio.Workload{load}, Total: queue}, 1)
	if got.Concurrency() != nil {
		t.Errorf("writes queue: %+v", got.Concurrency())
	}
}

// What jobs hold themselves to in a direction: the lesser of their two rates, times the jobs.
func TestAskedByHand(t *testing.T) {
	both := fio.Workload{ReadShare: 0.5, ReadBS: 4096, WriteBS: 8192, Jobs: 3}
	with := func(f func(*fio.Workload)) fio.Workload { w := both; f(&w); return w }
	for name, c := range map[string]struct {
		w           fio.Workload
		read, write units.IOPS
	}{
		"none":              {both, 0, 0},
		"I/Os":              {with(func(w *fio.Workload) { w.ReadIOPS, w.WriteIOPS = 10, 20 }), 30, 60},
		"bytes":             {with(func(w *fio.Workload) { w.ReadRate, w.WriteRate = 40960, 40960 }), 30, 15},
		"fewer I/Os":        {with(func(w *fio.Workload) { w.ReadIOPS, w.ReadRate = 9, 40960 }), 27, 0},
		"fewer bytes":       {with(func(w *fio.Workload) { w.ReadIOPS, w.ReadRate = 11, 40960 }), 30, 0},
		"half an I/O":       {with(func(w *fio.Workload) { w.WriteIOPS = 0.5 }), 0, 1.5},
		"half a byte":       {with(func(w *fio.Workload) { w.ReadRate = 0.5 }), 3 * 0.5 / 4096, 0},
		"of no stated size": {with(func(w *fio.Workload) { w.ReadRate, w.ReadBS = 40960, 0 }), 0, 0},
		"of bytes":          {with(func(w *fio.Workload) { w.ReadRate, w.ReadBS = 10, 1 }), 30, 0},
		"no number of jobs": {with(func(w *fio.Workload) { w.ReadIOPS, w.Jobs = 10, 0 }), 10, 0},
	} {
		if r, w := Asked(c.w, true), Asked(c.w, false); r != c.read || w != c.write {
			t.Errorf("%s: %v and %v, want %v and %v", name, r, w, c.read, c.write)
		}
	}
	// What is left for the other direction goes to it, up to its own rate.
	for name, c := range map[string]struct {
		s     stream
		level float64
		want  [2]float64
	}{
		"below its rates":    {stream{weight: 2, share: [2]float64{0.25, 0.75}, most: [2]float64{10, 10}}, 4, [2]float64{2, 6}},
		"at one":             {stream{weight: 2, share: [2]float64{0.25, 0.75}, most: [2]float64{10, 6}}, 4, [2]float64{2, 6}},
		"above one":          {stream{weight: 2, share: [2]float64{0.25, 0.75}, most: [2]float64{10, 5}}, 4, [2]float64{3, 5}},
		"above both":         {stream{weight: 2, share: [2]float64{0.25, 0.75}, most: [2]float64{2.5, 5}}, 4, [2]float64{2.5, 5}},
		"the other has none": {stream{weight: 2, share: [2]float64{0, 1}, most: [2]float64{0, 5}}, 4, [2]float64{0, 5}},
		"reads above theirs": {stream{weight: 1, share: [2]float64{0.5, 0.5}, most: [2]float64{1, math.Inf(1)}}, 4, [2]float64{1, 3}},
	} {
		if got := c.s.at(c.level); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		s    stream
		want []float64
	}{
		"of no rate":    {stream{weight: 2, share: [2]float64{0.5, 0.5}, most: [2]float64{math.Inf(1), math.Inf(1)}}, nil},
		"of one":        {stream{weight: 2, share: [2]float64{0.5, 0.5}, most: [2]float64{8, math.Inf(1)}}, []float64{8}},
		"of both":       {stream{weight: 2, share: [2]float64{0.5, 0.5}, most: [2]float64{8, 4}}, []float64{8, 4, 6}},
		"of writes":     {stream{weight: 2, share: [2]float64{0, 1}, most: [2]float64{0, 4}}, []float64{2, 2}},
		"a small share": {stream{weight: 1, share: [2]float64{0.5, 0.25}, most: [2]float64{math.Inf(1), 4}}, []float64{16}},
	} {
		if got := c.s.bends(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Which array a role's load is worked out for, and what is said where none is.
func TestWhichArrayIsMeant(t *testing.T) {
	array := func(name string, iops units.IOPS) topology.Array {
		return topology.Array{Name: name, Level: topology.Single, Volumes: []topology.Volume{{Type: "x", Sustained: topology.Limits{IOPS: iops}}}}
	}
	role := func(r topology.Role, name string) topology.Target { return topology.Target{Role: r, Array: name} }
	reads := []fio.Workload{load("randread", 4*k, 8, 1)}
	machine := topology.Instance{Type: "m", Baseline: topology.Limits{IOPS: 77}}
	for name, c := range map[string]struct {
		top  *topology.Topology
		want float64
		note string
	}{
		"nothing":                  {nil, 0, ""},
		"an empty one":             {&topology.Topology{}, 0, "what lies below the role data"},
		"the role's":               {&topology.Topology{Arrays: []topology.Array{array("a", 1), array("b", 2)}, Targets: []topology.Target{role(topology.WAL, "a"), role(topology.Data, "b")}}, 2, ""},
		"the only target":          {&topology.Topology{Arrays: []topology.Array{array("a", 1), array("b", 2)}, Targets: []topology.Target{role(topology.WAL, "b")}}, 2, ""},
		"two of another role":      {&topology.Topology{Arrays: []topology.Array{array("a", 1)}, Targets: []topology.Target{role(topology.WAL, "a"), role(topology.WAL, "a")}}, 0, "what lies below"},
		"the only array":           {&topology.Topology{Arrays: []topology.Array{array("a", 5)}}, 5, ""},
		"one of two arrays":        {&topology.Topology{Arrays: []topology.Array{array("a", 1), array("b", 2)}}, 0, "what lies below"},
		"a target of no array":     {&topology.Topology{Arrays: []topology.Array{array("a", 1)}, Targets: []topology.Target{role(topology.Data, "z")}}, 0, "what lies below"},
		"an array of no volumes":   {&topology.Topology{Arrays: []topology.Array{{Name: "a"}}}, 0, "what lies below"},
		"the machine alone":        {&topology.Topology{Instance: machine}, 77, "is the only bound"},
		"a machine and an array":   {&topology.Topology{Instance: machine, Arrays: []topology.Array{{Name: "a"}}}, 0, "what lies below"},
		"a machine and a target":   {&topology.Topology{Instance: machine, Targets: []topology.Target{role(topology.Data, "z")}}, 0, "what lies below"},
		"a machine without a type": {&topology.Topology{Instance: topology.Instance{Baseline: machine.Baseline}}, 0, "what lies below"},
	} {
		got := Of(c.top, topology.Data, reads)
		if iopsOf(got.Binding()) != c.want || c.note == "" && strings.Contains(strings.Join(got.Notes, " "), "what lies below") ||
			c.note != "" && !noted(got, c.note) {
			t.Errorf("%s: %v, want %v; %q", name, iopsOf(got.Binding()), c.want, got.Notes)
		}
	}
	if got := Of(&topology.Topology{Arrays: []topology.Array{array("a", 5)}}, topology.Data, nil); got.Known() || len(got.Notes) != 0 {
		t.Errorf("no load: %+v", got)
	}
}

// What stands for volumes of which only the machine is known, and what its limits count.
func TestWhatAMachineCounts(t *testing.T) {
	limits := topology.Limits{IOPS: 10}
	of := func(name string, iops, reads units.IOPS, cache bool) cloud.Cap {
		return cloud.Cap{Name: name, Types: []string{"t-" + name}, Cache: cache, Baseline: topology.Limits{IOPS: iops, ReadIOPS: reads}}
	}
	for name, c := range map[string]struct {
		i       topology.Instance
		counted units.Bytes
		merges  bool
		typ     string
	}{
		"EC2":                {topology.Instance{Baseline: limits}, 256 * units.KiB, true, ""},
		"Azure":              {topology.Instance{Baseline: limits, Cloud: "Azure"}, 256 * units.KiB, false, ""},
		"caps alone":         {topology.Instance{Cloud: "g", Caps: []cloud.Cap{of("a", 5, 0, false), of("b", 0, 9, false), of("c", 7, 0, false)}}, 0, false, "t-b"},
		"the first of alike": {topology.Instance{Cloud: "g", Caps: []cloud.Cap{of("a", 9, 0, false), of("b", 0, 9, false)}}, 0, false, "t-a"},
		"of half an I/O":     {topology.Instance{Cloud: "g", Caps: []cloud.Cap{of("a", 0.5, 0, false)}}, 0, false, "t-a"},
		"never the cache":    {topology.Instance{Cloud: "g", Caps: []cloud.Cap{of("a", 5, 0, false), of("b", 9, 0, true)}}, 0, false, "t-a"},
		"caps beside it":     {topology.Instance{Baseline: limits, Caps: []cloud.Cap{of("a", 5, 0, false)}}, 256 * units.KiB, true, ""},
		"caps of no reads":   {topology.Instance{Cloud: "g", Caps: []cloud.Cap{{Types: []string{"x"}, Baseline: topology.Limits{WriteIOPS: 5}}}}, 0, false, ""},
	} {
		v := standing(c.i).Volumes[0]
		if v.CountedIO != c.counted || v.Merges != c.merges || v.Type != c.typ || !v.Network {
			t.Errorf("%s: %+v", name, v)
		}
	}
	// The reads and the writes of each volume that count against the machine's own limit, its type's and the
	// host's cache (see allowances).
	i := topology.Instance{Type: "m", Baseline: limits, Caps: []cloud.Cap{of("own", 5, 0, false), of("cache", 5, 0, true)}}
	all := allowances(i)
	if len(all) != 3 {
		t.Fatalf("%d allowances", len(all))
	}
	for name, c := range map[string]struct {
		v    topology.Volume
		want [3][2]bool // own, its type's, the cache's: reads and writes
	}{
		"plain":                        {topology.Volume{Network: true, Type: "x"}, [3][2]bool{{true, true}}},
		"of its type":                  {topology.Volume{Network: true, Type: "t-own"}, [3][2]bool{{}, {true, true}}},
		"cached for read":              {topology.Volume{Network: true, Type: "x", Caching: cloud.ReadOnly}, [3][2]bool{{false, true}, {}, {true, true}}},
		"cached":                       {topology.Volume{Network: true, Type: "x", Caching: cloud.ReadWrite}, [3][2]bool{{false, true}, {}, {true, true}}},
		"not cached":                   {topology.Volume{Network: true, Type: "x", Caching: "none"}, [3][2]bool{{true, true}}},
		"its own drive":                {topology.Volume{Type: "x"}, [3][2]bool{}},
		"a drive of that type, cached": {topology.Volume{Type: "t-own", Caching: cloud.ReadWrite}, [3][2]bool{}},
	} {
		for k, w := range all {
			if got := [2]bool{w.counts[0](c.v), w.counts[1](c.v)}; got != c.want[k] {
				t.Errorf("%s against %s: %v, want %v", name, w.name, got, c.want[k])
			}
		}
	}
}

// Of a sequential stream the members of a chunk, of a region the files and the volumes that it touches.
func TestRegionsAtTheirEdges(t *testing.T) {
	w := fio.Workload{Size: 100, Jobs: 3}
	with := func(f func(*fio.Workload)) fio.Workload { o := w; f(&o); return o }
	for name, c := range map[string]struct {
		w    fio.Workload
		want units.Bytes
	}{
		"files":            {w, 300},
		"no jobs":          {with(func(w *fio.Workload) { w.Jobs = 0 }), 100},
		"one file":         {with(func(w *fio.Workload) { w.SharedFile = true }), 100},
		"apart by a byte":  {with(func(w *fio.Workload) { w.SharedFile, w.OffsetIncrement = true, 1 }), 100},
		"apart by two":     {with(func(w *fio.Workload) { w.SharedFile, w.OffsetIncrement = true, 2 }), 104},
		"apart by 50":      {with(func(w *fio.Workload) { w.SharedFile, w.OffsetIncrement = true, 50 }), 200},
		"files, and apart": {with(func(w *fio.Workload) { w.OffsetIncrement = 50 }), 300},
	} {
		if got := regionOf(c.w); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	for n, want := range map[units.Bytes]units.Bytes{0: 0, 1: 4096, 4095: 4096, 4096: 4096, 4097: 8192} {
		if got := up(n); got != want {
			t.Errorf("%d bytes are pages of %d, want %d", n, got, want)
		}
	}
	// One I/O in flight that may be a read, of one section, on near copies that are none of them alone.
	one := stream{w: fio.Workload{ReadShare: 0.5, Jobs: 1, Depth: 1}}
	two, written := one, one
	two.w.Depth, written.w.ReadShare = 2, 0
	rare := one
	rare.w.ReadShare = 0.01
	near := members{copies: 2}
	for name, c := range map[string]struct {
		streams []stream
		m       members
		want    bool
	}{
		"one":          {[]stream{one}, near, true},
		"rarely":       {[]stream{rare}, near, true},
		"two":          {[]stream{two}, near, false},
		"two sections": {[]stream{one, one}, near, false},
		"none":         {nil, near, false},
		"writes":       {[]stream{written}, near, false},
		"no copies":    {[]stream{one}, members{copies: 1}, false},
		"far":          {[]stream{one}, members{copies: 2, far: true}, false},
		"offset":       {[]stream{one}, members{copies: 2, offset: true}, false},
		"alone":        {[]stream{one}, members{copies: 2, alone: true}, false},
	} {
		p := problem{streams: c.streams}
		if got := p.firstOnly(c.m); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
