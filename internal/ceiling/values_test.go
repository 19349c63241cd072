package ceiling

import (
	"math"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Where md puts chunks, written down from its layouts: member and row of each copy.
func TestPlacesByHand(t *testing.T) {
	type at struct{ dev, row int }
	far := 1 << 40 // the second copies lie in a part of their own
	for name, c := range map[string]struct {
		array topology.Array
		n     int
		want  [][]at
	}{
		// P lies on the last member in the first stripe, and data begins behind it:
		//   0 1 P     data 0 and 1
		//   3 P 2
		//   P 4 5
		"RAID5 of three": {topology.Array{Level: topology.RAID5, Chunk: 64 * k}, 3, [][]at{{{0, 0}}, {{1, 0}}, {{2, 1}}, {{0, 1}}, {{1, 2}}, {{2, 2}}, {{0, 3}}}},
		//   0 1 2 P
		//   4 5 P 3
		//   8 P 6 7
		//   P 9 10 11
		"RAID5 of four": {topology.Array{Level: topology.RAID5, Chunk: 64 * k}, 4, [][]at{{{0, 0}}, {{1, 0}}, {{2, 0}}, {{3, 1}}, {{0, 1}}, {{1, 1}}, {{2, 2}}, {{3, 2}}, {{0, 2}}, {{1, 3}}}},
		//   Q 0 1 P   Q lies behind P
		//   2 3 P Q
		//   5 P Q 4
		//   P Q 6 7
		"RAID6 of four": {topology.Array{Level: topology.RAID6, Chunk: 64 * k}, 4, [][]at{{{1, 0}}, {{2, 0}}, {{0, 1}}, {{1, 1}}, {{3, 2}}, {{0, 2}}, {{2, 3}}, {{3, 3}}, {{1, 4}}}},
		"RAID0":         {topology.Array{Level: topology.RAID0, Chunk: 64 * k}, 3, [][]at{{{0, 0}}, {{1, 0}}, {{2, 0}}, {{0, 1}}}},
		//   0 0 1 1 2
		//   2 3 3 4 4
		"near on five": {topology.Array{Level: topology.RAID10, Chunk: 64 * k, Copies: 2}, 5, [][]at{{{0, 0}, {1, 0}}, {{2, 0}, {3, 0}}, {{4, 0}, {0, 1}}, {{1, 1}, {2, 1}}, {{3, 1}, {4, 1}}, {{0, 2}, {1, 2}}}},
		"far":          {topology.Array{Level: topology.RAID10, Chunk: 64 * k, Copies: 2, Near: 1}, 4, [][]at{{{0, 0}, {1, far}}, {{1, 0}, {2, far}}, {{2, 0}, {3, far}}, {{3, 0}, {0, far}}, {{0, 1}, {1, 1 + far}}}},
		//   0 1 2 3
		//   3 0 1 2
		"offset": {topology.Array{Level: topology.RAID10, Chunk: 64 * k, Copies: 2, Near: 1, Offset: true}, 4, [][]at{{{0, 0}, {1, 1}}, {{1, 0}, {2, 1}}, {{2, 0}, {3, 1}}, {{3, 0}, {0, 1}}, {{0, 2}, {1, 3}}}},
	} {
		c.array.Volumes = make([]topology.Volume, c.n)
		m := membersOf(&c.array)
		for i, want := range c.want {
			var all, first []at
			m.place(i, true, func(dev, row int) { all = append(all, at{dev, row}) })
			m.place(i, false, func(dev, row int) { first = append(first, at{dev, row}) })
			if !slices.Equal(all, want) || !slices.Equal(first, want[:1]) {
				t.Errorf("%s: chunk %d lies on %v and is read from %v, want %v", name, i, all, first, want)
			}
		}
	}
}

// What each member gets where some get more, by hand.
func TestBusiestByHand(t *testing.T) {
	near := topology.Array{Level: topology.RAID10, Chunk: 64 * k, Copies: 2, Volumes: make([]topology.Volume, 5)}
	raid5 := topology.Array{Level: topology.RAID5, Chunk: 64 * k, Volumes: make([]topology.Volume, 3)}
	raid0 := topology.Array{Level: topology.RAID0, Chunk: 64 * k, Volumes: make([]topology.Volume, 2)}
	apart := func(offset bool) topology.Array {
		return topology.Array{Level: topology.RAID10, Chunk: 64 * k, Copies: 2, Near: 1, Offset: offset, Volumes: make([]topology.Volume, 4)}
	}
	for name, c := range map[string]struct {
		array       topology.Array
		size, align units.Bytes
		read        bool
		want        []cost
	}{
		// Offsets that are multiples of 5 chunks (320 KiB) come to chunks 0, 5, 10, .. of the 10 that the
		// layout repeats after (five members, two of data a row): 0 and 5, which both lie on 0 and 1.
		"every fifth chunk of near on five": {near, 4 * k, 320 * k, false, []cost{
			{writeIOs: 1, writeBytes: 4096}, {writeIOs: 1, writeBytes: 4096}, {}, {}, {},
		}},
		"and its reads, shared by the pair": {near, 4 * k, 320 * k, true, []cost{
			{readIOs: .5, readBytes: 2048}, {readIOs: .5, readBytes: 2048}, {}, {}, {},
		}},
		// 96 KiB at multiples of the stripe of two: a chunk on one member, half of one on the other.
		"a chunk and a half, read":    {raid0, 96 * k, 128 * k, true, []cost{{readIOs: 1, readBytes: 65536}, {readIOs: 1, readBytes: 32768}}},
		"a chunk and a half, written": {raid0, 96 * k, 128 * k, false, []cost{{writeIOs: 1, writeBytes: 65536}, {writeIOs: 1, writeBytes: 32768}}},
		// Every fourth chunk of four: the first copies of chunk 0 lie on member 0, far and offset ones alike.
		"far":    {apart(false), 4 * k, 256 * k, true, []cost{{readIOs: 1, readBytes: 4096}, {}, {}, {}}},
		"offset": {apart(true), 4 * k, 256 * k, true, []cost{{readIOs: 1, readBytes: 4096}, {}, {}, {}}},
		// Multiples of three stripes of two chunks (384 KiB): always chunk 0 of the first of three stripes.
		"one chunk of RAID5": {raid5, 4 * k, 384 * k, true, []cost{{readIOs: 1, readBytes: 4096}, {}, {}}},
		// Every second chunk: 0, 2, 4 on members 0, 2, 1, a third each.
		"every second chunk of RAID5": {raid5, 4 * k, 128 * k, true, []cost{
			{readIOs: 1. / 3, readBytes: 4096. / 3}, {readIOs: 1. / 3, readBytes: 4096. / 3}, {readIOs: 1. / 3, readBytes: 4096. / 3},
		}},
		// A write to the first chunk reads the other (member 1) and writes it and P (member 2).
		"a write to RAID5": {raid5, 4 * k, 384 * k, false, []cost{
			{writeIOs: 1, writeBytes: 4096}, {readIOs: 1, readBytes: 4096}, {writeIOs: 1, writeBytes: 4096},
		}},
	} {
		got := membersOf(&c.array).one(c.size, c.align, c.read, counting{})
		for i, want := range c.want {
			if g := got.on(i, len(c.want)); math.Abs(g.readIOs-want.readIOs) > 1e-9 || math.Abs(g.writeIOs-want.writeIOs) > 1e-9 ||
				math.Abs(g.readBytes-want.readBytes) > 1e-6 || math.Abs(g.writeBytes-want.writeBytes) > 1e-6 {
				t.Errorf("%s: member %d gets %+v, want %+v", name, i, g, want)
			}
		}
	}
}

// Of unlike members one binds before another only if it does so at any time.
func TestBindsBefore(t *testing.T) {
	one := func(base, top, credits, read float64) *resource {
		return &resource{base: base, top: top, credits: credits, demand: [][2]float64{{read, 2}}}
	}
	for name, c := range map[string]struct {
		r, o *resource
		want bool
	}{
		"alike":                           {one(100, 0, 0, 1), one(100, 0, 0, 1), true},
		"a smaller base":                  {one(99, 0, 0, 1), one(100, 0, 0, 1), true},
		"a larger base":                   {one(101, 0, 0, 1), one(100, 0, 0, 1), false},
		"a burst against none":            {one(100, 200, 10, 1), one(100, 0, 0, 1), false},
		"none against a burst":            {one(100, 0, 0, 1), one(100, 200, 10, 1), true},
		"a base as high as a burst":       {one(100, 200, 10, 1), one(200, 0, 0, 1), true},
		"fewer credits":                   {one(100, 200, 9, 1), one(100, 200, 10, 1), true},
		"more credits":                    {one(100, 200, 11, 1), one(100, 200, 10, 1), false},
		"credits that no burst will take": {one(100, 0, 11, 1), one(100, 200, 10, 1), true},
		"more credits of less than one":   {one(0.25, 0.5, 11, 1), one(0.25, 0.5, 10, 1), false},
		"more demand":                     {one(100, 0, 0, 2), one(100, 0, 0, 1), true},
		"less demand":                     {one(100, 0, 0, .5), one(100, 0, 0, 1), false},
	} {
		if got := c.r.bindsBefore(c.o); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	writes := one(100, 0, 0, 1)
	writes.demand[0][1] = 1
	if writes.bindsBefore(one(100, 0, 0, 1)) {
		t.Error("it costs writes less")
	}
}

// Buckets by hand: 100 a second and 300 while 1,000 are saved up.
func TestBucketByHand(t *testing.T) {
	b := Bucket{Base: 100, Top: 300, Size: 1000, Left: 1000}
	if b.Allows() != 300 || b.Lasts(300) != 5 || b.Lasts(150) != 20 || !math.IsInf(b.Lasts(100), 1) || !math.IsInf(b.Lasts(50), 1) {
		t.Errorf("%v %v %v", b.Allows(), b.Lasts(300), b.Lasts(150))
	}
	for _, c := range []struct{ use, seconds, left float64 }{
		{300, 2, 600}, {100, 7, 600}, {0, 1, 700}, {50, 4, 900}, {0, 100, 1000}, {300, 5, 0},
	} {
		if b.Pass(c.use, c.seconds); math.Abs(b.Left-c.left) > 1e-9 {
			t.Errorf("%v for %v s leaves %v, want %v", c.use, c.seconds, b.Left, c.left)
		}
	}
	if b.Allows() != 100 || !math.IsInf(b.Lasts(300), 1) {
		t.Errorf("empty: %v, %v", b.Allows(), b.Lasts(300))
	}
	timed := Bucket{Base: 100, Top: 300, Size: 1800, Left: 1800, Timed: true}
	if timed.Lasts(101) != 1800 || timed.Lasts(300) != 1800 || !math.IsInf(timed.Lasts(100), 1) {
		t.Errorf("%v", timed.Lasts(101))
	}
	timed.Pass(101, 600)
	timed.Pass(50, 600)
	if timed.Left != 1200 {
		t.Errorf("%v left", timed.Left)
	}
	if flat := (&Bucket{Base: 100, Top: 100, Size: 5, Left: 5}); flat.Allows() != 100 {
		t.Error("it has no burst")
	}
}

// A measured mix by hand: two sections share a volume of 3,000 IOPS and 125 MiB/s, one reads 8 KiB
// and one 512 KiB, which count twice.
func TestMixOfSectionsByHand(t *testing.T) {
	small, large := load("randread", 8*k, 8, 1), load("randread", 512*k, 8, 1)
	small.Name, large.Name = "small", "large"
	loads := []fio.Workload{small, large}
	top := machine(t, 1, gp3, topology.Single, 0, "")
	row := func(name string, iops, bs float64) fio.Job {
		return fio.Job{Name: name, Window: 10 * time.Second, Read: fio.Direction{
			N: uint64(iops * 10), IOPS: units.IOPS(iops), BW: units.Rate(iops * bs), Bytes: units.Bytes(iops * bs * 10), Runtime: 10 * time.Second,
		}}
	}
	sum := func(rows ...fio.Job) *result.Result {
		r := &result.Result{State: result.Done, Workloads: loads, Jobs: rows, Total: fio.Job{Window: 10 * time.Second}}
		d := &r.Total.Read
		for _, j := range rows {
			d.N, d.IOPS, d.BW, d.Bytes = d.N+j.Read.N, d.IOPS+j.Read.IOPS, d.BW+j.Read.BW, d.Bytes+j.Read.Bytes
		}
		d.Runtime = 10 * time.Second
		return r
	}
	for name, c := range map[string]struct {
		r    *result.Result
		kind Kind
		want float64 // share
	}{
		// 1,000 × 8 KiB and 200 × 512 KiB are 107.8 MiB/s of 125, and 1,400 counted I/Os of 3,000.
		"rows of their own": {sum(row("small", 1000, 8192), row("large", 200, 512*1024)), VolumeRate, 107.8125 / 125},
		// 2,600 and 100 are 2,800 of 3,000 I/Os, and 70.3 MiB/s.
		"by I/Os": {sum(row("small", 2600, 8192), row("large", 100, 512*1024)), VolumeIOPS, 2800. / 3000},
		// One row for both: its mean says that 100 of 2,700 were large.
		"one row": {sum(row("small", 2700, (2600*8192+100*512*1024)/2700.)), VolumeIOPS, 2800. / 3000},
	} {
		got := Of(top, topology.Data, loads).Measured(c.r, 1)
		b := got.Binding()
		if n, _ := c.r.Total.Rates(); b.Kind != c.kind || b.WriteIOPS != 0 || b.ReadIOPS != b.IOPS || math.Abs(float64(n/b.IOPS)-c.want) > 1e-3 {
			t.Errorf("%s: %.4f of %+v, want %.4f of %s", name, float64(n/b.IOPS), b, c.want, c.kind)
		}
	}
}

// Little's law by hand: what is measured at depth 1 bounds the rest.
func TestConcurrencyByHand(t *testing.T) {
	c := Of(machine(t, 1, gp3, topology.Single, 0, ""), topology.Data, []fio.Workload{load("randrw", 8*k, 4, 2)})
	from := topology.Origin{Kind: topology.Measured}
	with := c.WithLatency(time.Millisecond, 3*time.Millisecond, 0, from)
	// 0.7 × 1 + 0.3 × 3 = 1.6 ms; 8 in flight give 5,000. N* = 3,000 × 1.6 ms = 4.8.
	if b := with.Concurrency(); b == nil || !within(b.IOPS, 5000) || !within(b.ReadIOPS, 3500) || !within(b.WriteIOPS, 1500) ||
		math.Abs(float64(b.BW)-5000*8192) > 1 || !b.SelfMeasured() || math.Abs(b.Demand-0.0016) > 1e-12 || b.Capacity != 8 {
		t.Errorf("%+v", b)
	}
	if got := with.Saturation(); math.Abs(got-4.8) > 1e-9 || with.Concurrency() == nil || c.Concurrency() != nil || c.Saturation() != 0 {
		t.Errorf("saturates at %v", got)
	}
	if b := c.WithLatency(time.Millisecond, 3*time.Millisecond, 1, topology.Origin{Kind: topology.Declared}).Binding(); !within(b.IOPS, 625) || b.SelfMeasured() {
		t.Errorf("one in flight: %+v", b)
	}
	for _, l := range [][2]time.Duration{{0, time.Millisecond}, {time.Millisecond, 0}} {
		if one := c.WithLatency(l[0], l[1], 0, from); one.Concurrency() != nil {
			t.Errorf("%v: one latency is not known", l)
		}
	}
	if !within(Concurrent(8, 1), 8e9) || Concurrent(8, 2*time.Millisecond) != 4000 || Concurrent(8, 0) != 0 {
		t.Error(Concurrent(8, 2*time.Millisecond))
	}
}

// A sweep's points by hand: 4 and 8 KiB at depths 1 and 2 with 1 ms each.
func TestSweepByHand(t *testing.T) {
	top := machine(t, 1, gp3, topology.Single, 0, "")
	slow := func(c Ceiling) Ceiling {
		return c.WithLatency(time.Millisecond, time.Millisecond, 0, topology.Origin{})
	}
	got := Sweep(top, topology.Data, []fio.Workload{load("randrw", 16*k, 7, 1)}, Axes{[]units.Bytes{4 * k, 64 * k}, []int{1, 4}}, slow)
	want := []struct {
		bs    units.Bytes
		depth int
		iops  float64
	}{{4 * k, 1, 1000}, {4 * k, 4, 3000}, {64 * k, 1, 1000}, {64 * k, 4, 2000}}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		if p := got[i]; p.BS != w.bs || p.Depth != w.depth || !within(p.IOPS, w.iops) || !within(p.Sustained, w.iops) ||
			p.BW != units.Rate(w.iops*float64(w.bs)) {
			t.Errorf("%+v, want %+v", p, w)
		}
	}
	if own := Sweep(top, topology.Data, []fio.Workload{load("randrw", 16*k, 7, 1)}, Axes{}, slow); len(own) != 1 || own[0].Depth != 7 || own[0].BS != 16*k {
		t.Errorf("%+v", own)
	}
	if none := Sweep(nil, topology.Data, []fio.Workload{load("randrw", 16*k, 7, 1)}, Axes{}, func(c Ceiling) Ceiling { return c }); none == nil || len(none) != 0 {
		t.Errorf("%+v", none)
	}
}

// A database's bounds by hand: eight cores, S of 2 ms, and a step of 10 s with 10,000 transactions.
func TestPostgresValuesByHand(t *testing.T) {
	top := machine(t, 4, gp3, topology.RAID10, 64*k, "")
	probe := result.SyncProbe{Write: 500_000, Sync: 1_500_000, N: 10}
	p := &result.Postgres{Cores: 8, Before: probe, After: probe}
	s := &result.PgStep{
		Clients: 4, Threads: 2, TPS: 1000, Transactions: 10000, Measured: 10 * time.Second, Syncs: 5000, WAL: 10000 * 4096,
		ServerCPU: 20 * time.Second, PgbenchCPU: 5 * time.Second, Reads: 30000, Writes: 10000, ReadBytes: 30000 * 8192, WriteBytes: 10000 * 16384, Busy: 0.4,
	}
	c := OfPostgres(top, p, s)
	want := map[Kind]float64{
		// A flush carries a commit of each client: 4 / 2 ms.
		CommitLatency: 2000,
		// A commit's CPU time outside of its sync is 2 ms of the server's (0.5 of pgbench's beside it): 4 / 2 ms.
		CommitCPU: 2000,
		// Four volumes write 125 MiB/s each, two copies: 250 MiB/s over 4 KiB.
		LogRate: 64000,
		// 12,000 / 2 synced writes, of which each carries two commits.
		LogIOPS: 12000,
		// 12,000 over 0.75 + 0.25 × 2, and four of them a transaction.
		DataVolumes: 12000 / 1.25 / 4,
		// 8 cores less the half of pgbench, over 2 ms.
		CPU: 7.5 / 0.002,
	}
	if len(c.Bounds) != len(want) || c.InFlight != 4 {
		t.Errorf("%d bounds: %+v", len(c.Bounds), c.Bounds)
	}
	for _, b := range c.Bounds {
		if !within(b.IOPS, want[b.Kind]) {
			t.Errorf("%s: %v, want %v (%s)", b.Kind, b.IOPS, want[b.Kind], b.How)
		}
	}
	if limits, use := Generated(s); limits || math.Abs(use-0.25) > 1e-9 {
		t.Errorf("pgbench uses %v of two threads", use)
	}
	// Two threads that are full, on a machine that is too.
	s.PgbenchCPU = 19 * time.Second
	c = OfPostgres(top, p, s)
	at := slices.IndexFunc(c.Bounds, func(b Bound) bool { return b.Kind == LoadGenerator })
	// 2 threads over 1.9 ms; the server's two of eight cores leave more than that.
	if limits, use := Generated(s); !limits || math.Abs(use-0.95) > 1e-9 || at < 0 || !within(c.Bounds[at].IOPS, 2/0.0019) ||
		c.Bounds[at].How != "pgbench uses 95.0 % of 2 threads" {
		t.Errorf("%v of two threads: %+v", use, c.Bounds)
	}
	for name, change := range map[string]func(*result.Postgres, *result.PgStep){
		"nothing was done": func(_ *result.Postgres, s *result.PgStep) { s.Transactions = 0 },
		"no rate":          func(_ *result.Postgres, s *result.PgStep) { s.TPS = 0 },
	} {
		q, r := *p, *s
		if change(&q, &r); len(OfPostgres(top, &q, &r).Bounds) != 0 {
			t.Errorf("%s", name)
		}
	}
	for name, change := range map[string]func(*result.Postgres, *result.PgStep){
		"read only": func(p *result.Postgres, _ *result.PgStep) { p.ReadOnly = true },
		"no sync":   func(_ *result.Postgres, s *result.PgStep) { s.Syncs = 0 },
		"no S":      func(p *result.Postgres, _ *result.PgStep) { p.Before, p.After = result.SyncProbe{}, result.SyncProbe{} },
	} {
		q, r := *p, *s
		change(&q, &r)
		if slices.ContainsFunc(OfPostgres(top, &q, &r).Bounds, func(b Bound) bool { return b.Kind == CommitLatency }) {
			t.Errorf("%s: bound by commits", name)
		}
	}
}

// Where only the machine is known, what it lets through to volumes is the bound, of 256 KiB at most.
func TestInstanceAloneByHand(t *testing.T) {
	top := machine(t, 1, gp3, topology.Single, 0, "c8g.2xlarge")
	top.Arrays, top.Targets = nil, nil
	// 512 KiB count twice: 12,000 / 2 and 40,000 / 2; 312.5e6 and 1,250e6 bytes.
	c := Of(top, topology.Data, []fio.Workload{load("randread", 512*k, 64, 4)})
	if b, s := c.Binding(), c.Sustained(); !within(b.IOPS, 1250e6/524288) || b.Kind != InstanceRate || !b.Burst || !within(s.IOPS, 312.5e6/524288) || len(c.Bounds) != 4 {
		t.Errorf("%+v", c.Bounds)
	}
	c = Of(top, topology.Data, []fio.Workload{load("randwrite", 8*k, 64, 4)})
	if b, s := c.Binding(), c.Sustained(); !within(b.IOPS, 40000) || !within(s.IOPS, 12000) || b.ReadIOPS != 0 || !within(b.WriteIOPS, 40000) {
		t.Errorf("%+v", c.Bounds)
	}
	// Half of four volumes are the machine's own drives: it sees half of the I/Os.
	top = machine(t, 4, cloud.VolumeSpec{Type: "gp3", Size: 500 * units.GiB, IOPS: 16000}, topology.RAID0, 64*k, "c8g.2xlarge")
	for i := range 2 {
		top.Arrays[0].Volumes[i] = topology.Volume{Sustained: topology.Limits{ReadIOPS: 100000}}
	}
	c = Of(top, topology.Data, []fio.Workload{load("randread", 8*k, 64, 4)})
	if s := c.Sustained(); !within(s.IOPS, 24000) || s.Kind != InstanceIOPS {
		t.Errorf("%+v", c.Bounds)
	}
}

// The latencies that data sheets state, by hand.
func TestStatedLatenciesByHand(t *testing.T) {
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	drives := func(level topology.Level, latencies ...[2]int) *topology.Topology {
		a := topology.Array{Name: "md0", Level: level, Chunk: 64 * k}
		for _, l := range latencies {
			a.Volumes = append(a.Volumes, topology.Volume{Sustained: topology.Limits{IOPS: 1e6}, ReadLatency: us(l[0]), WriteLatency: us(l[1])})
		}
		return &topology.Topology{Arrays: []topology.Array{a}}
	}
	for name, c := range map[string]struct {
		top         *topology.Topology
		read, write float64 // IOPS of one in flight; 0: not known
	}{
		"alike":               {drives(topology.RAID0, [2]int{100, 50}, [2]int{100, 50}), 10000, 20000},
		"a stripe's quickest": {drives(topology.RAID0, [2]int{100, 50}, [2]int{80, 40}), 12500, 25000},
		"no write latency":    {drives(topology.RAID0, [2]int{100, 0}, [2]int{100, 50}), 10000, 0},
		"none of the second":  {drives(topology.RAID0, [2]int{100, 50}, [2]int{0, 0}), 0, 0},
		"a mirror's second":   {drives(topology.RAID1, [2]int{100, 50}, [2]int{100, 0}), 10000, 0},
		"parity":              {drives(topology.RAID5, [2]int{100, 50}, [2]int{100, 50}, [2]int{100, 50}), 0, 0},
	} {
		for rw, want := range map[string]float64{"randread": c.read, "randwrite": c.write} {
			c := Of(c.top, topology.Data, []fio.Workload{load(rw, 4*k, 1, 1)})
			b := c.Concurrency()
			if want == 0 && b != nil || want > 0 && (b == nil || !within(b.IOPS, want)) {
				t.Errorf("%s, %s: %+v, want %v", name, rw, b, want)
			}
		}
	}
}

// What was measured bounds the rest only where it is the storage's own latency, at the edges.
func TestQueueEdges(t *testing.T) {
	top := machine(t, 4, gp3, topology.RAID0, 64*k, "")
	run := func(w fio.Workload, mean, fast time.Duration) *Bound {
		l := fio.Latency{N: 100, Mean: float64(mean), Percentiles: []fio.Percentile{{P: 10, Value: fast}}}
		r := &result.Result{State: result.Done, Workloads: []fio.Workload{w}, Total: fio.Job{Read: fio.Direction{N: 1, IOPS: 1000, Clat: l}}}
		c := Of(top, topology.Data, r.Workloads).Measured(r, 4)
		return c.Concurrency()
	}
	const ms = time.Millisecond
	// One section of two that moves large blocks is enough.
	l := fio.Latency{N: 100, Mean: float64(ms), Percentiles: []fio.Percentile{{P: 10, Value: ms}}}
	for _, loads := range [][]fio.Workload{{load("randread", 132*k, 1, 1), load("randread", 8*k, 1, 1)}, {load("randread", 8*k, 1, 1), load("randread", 132*k, 1, 1)}} {
		r := &result.Result{State: result.Done, Workloads: loads, Total: fio.Job{Read: fio.Direction{N: 1, IOPS: 1000, Clat: l}}}
		c := Of(top, topology.Data, loads).Measured(r, 4)
		if b := c.Concurrency(); b != nil {
			t.Errorf("%+v", b)
		}
	}
	for name, c := range map[string]struct {
		w          fio.Workload
		mean, fast time.Duration
		want       bool
	}{
		"16 for each volume":   {load("randread", 8*k, 64, 1), 2 * ms, ms, true},
		"17 for each":          {load("randread", 8*k, 17, 4), 2 * ms, ms, false},
		"128 KiB":              {load("randread", 128*k, 2, 1), 2 * ms, ms, true},
		"more":                 {load("randread", 132*k, 2, 1), 2 * ms, ms, false},
		"more, one at a time":  {load("randread", 132*k, 1, 1), 2 * ms, ms, true},
		"twice the fast tenth": {load("randread", 8*k, 2, 1), 2 * ms, ms, true},
		"above it":             {load("randread", 8*k, 2, 1), 2*ms + 1000, ms, false},
	} {
		if got := run(c.w, c.mean, c.fast); (got != nil) != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// What lacks of an array is what its weakest part lacks.
func TestLostByHand(t *testing.T) {
	array := func(level topology.Level, n, copies int, missing ...int) *topology.Array {
		a := &topology.Array{Level: level, Copies: copies, Chunk: 64 * k, Volumes: make([]topology.Volume, n)}
		for _, i := range missing {
			a.Volumes[i].Missing = true
		}
		return a
	}
	change := func(a *topology.Array, f func(*topology.Array)) *topology.Array { f(a); return a }
	for name, c := range map[string]struct {
		a    *topology.Array
		n    int
		done float64
	}{
		"whole":                     {array(topology.RAID10, 4, 2), 0, 0},
		"one of a pair":             {array(topology.RAID10, 4, 2, 2), 1, 0},
		"one of each pair":          {array(topology.RAID10, 4, 2, 0, 3), 1, 0},
		"two of a set of three":     {array(topology.RAID10, 6, 3, 3, 4), 2, 0},
		"all of a set":              {array(topology.RAID10, 4, 2, 0, 1), 1, 0},
		"which is not known":        {change(array(topology.RAID10, 4, 2), func(a *topology.Array) { a.Degraded = 1 }), 1, 0},
		"RAID5":                     {array(topology.RAID5, 4, 1, 1), 1, 0},
		"RAID6 less two":            {array(topology.RAID6, 6, 1, 1, 2), 2, 0},
		"RAID5 less two":            {array(topology.RAID5, 6, 1, 1, 2), 1, 0},
		"RAID6 by its count":        {change(array(topology.RAID6, 6, 1), func(a *topology.Array) { a.Degraded = 2 }), 2, 0},
		"rebuilt by a third":        {change(array(topology.RAID5, 4, 1), func(a *topology.Array) { a.Degraded, a.Syncing, a.Progress = 1, "recover", 1./3 }), 1, 1. / 3},
		"rebuilt, and more is lost": {change(array(topology.RAID5, 4, 1, 0), func(a *topology.Array) { a.Syncing, a.Progress = "recover", 0.5 }), 1, 0},
		"checked":                   {change(array(topology.RAID10, 4, 2), func(a *topology.Array) { a.Syncing, a.Progress = "check", 0.5 }), 0, 0},
	} {
		if m := membersOf(c.a); m.lost != c.n || math.Abs(m.done-c.done) > 1e-9 {
			t.Errorf("%s: %d lost, %v done", name, m.lost, m.done)
		}
	}
	// Of four pairs one lacks its mate: the busiest serves an eighth of the reads twice; half rebuilt, 1.5 times.
	m := members{data: 4, copies: 2, lost: 1}
	for done, want := range map[float64]float64{0: 4, 0.5: 4 / 0.75, 1: 8} {
		if m.done = done; math.Abs(m.survivors()-want) > 1e-9 {
			t.Errorf("%v rebuilt: %v, want %v", done, m.survivors(), want)
		}
	}
	// RAID5 of five: 4/5 of the reads cost one, 1/5 four; half of it rebuilt 0.9 + 0.1 × 4.
	five := members{n: 5, lost: 1}
	if got := five.degradedReads(); math.Abs(got-1.6) > 1e-9 {
		t.Error(got)
	}
	if five.done = 0.5; math.Abs(five.degradedReads()-1.3) > 1e-9 {
		t.Error(five.degradedReads())
	}
}

// Two jobs on small files load as many volumes as hold a chunk of them.
func TestSmallRegionsByHand(t *testing.T) {
	sized := func(w fio.Workload, size units.Bytes, shared bool, step units.Bytes) fio.Workload {
		w.Size, w.SharedFile, w.OffsetIncrement = size, shared, step
		return w
	}
	for name, c := range map[string]struct {
		n    int
		load fio.Workload
		want float64
	}{
		"two files of a chunk":    {8, sized(load("randread", 4*k, 8, 2), 64*k, false, 0), 2},
		"two of a chunk and half": {8, sized(load("randread", 4*k, 8, 2), 96*k, false, 0), 4},
		"one file of both":        {8, sized(load("randread", 4*k, 8, 2), 96*k, true, 0), 1.5},
		"parts of one file":       {8, sized(load("randread", 4*k, 8, 2), 64*k, true, 64*k), 2},
		"more than a row":         {4, sized(load("randread", 4*k, 8, 1), 384*k, true, 0), 3},
		"many":                    {4, sized(load("randread", 4*k, 8, 8), 64*k, false, 0), 4},
		"no size":                 {4, load("randread", 4*k, 8, 2), 4},
	} {
		b := Of(machine(t, c.n, gp3, topology.RAID0, 64*k, ""), topology.Data, []fio.Workload{c.load}).Binding()
		if !within(b.IOPS, 3000*c.want) {
			t.Errorf("%s: %v, want %v", name, b.IOPS, 3000*c.want)
		}
	}
}

// Streams and full stripes by hand.
func TestStreamsByHand(t *testing.T) {
	array := func(level topology.Level, n int, change func(*topology.Array)) members {
		a := &topology.Array{Level: level, Chunk: 64 * k, Volumes: make([]topology.Volume, n)}
		if level == topology.RAID10 {
			a.Copies = 2
		}
		if change != nil {
			change(a)
		}
		return membersOf(a)
	}
	far := func(a *topology.Array) { a.Near = 1 }
	offset := func(a *topology.Array) { a.Near, a.Offset = 1, true }
	raid5, raid6 := array(topology.RAID5, 5, nil), array(topology.RAID6, 6, nil)
	ebs, drive := counting{256 * k, true}, counting{}
	for name, c := range map[string]struct{ got, want cost }{
		// 256 KiB of data are 320 with parity: 1.25 of 256 KiB where volumes merge, else five chunks.
		"RAID5, merged": {raid5.fullStripes(256*1024, ebs), cost{writeIOs: 1.25, writeBytes: 320 * 1024}},
		"RAID5, drives": {raid5.fullStripes(256*1024, drive), cost{writeIOs: 5, writeBytes: 320 * 1024}},
		"RAID6":         {raid6.fullStripes(256*1024, drive), cost{writeIOs: 6, writeBytes: 384 * 1024}},
		// A chunk counts 4 of 16 KiB.
		"counted in 16 KiB": {raid5.fullStripes(256*1024, counting{unit: 16 * k}), cost{writeIOs: 20, writeBytes: 320 * 1024}},
		// Without a chunk it is not known how I/Os are cut: 512 KiB count twice, with a quarter more for parity.
		"no chunk": {array(topology.RAID5, 5, func(a *topology.Array) { a.Chunk = 0 }).fullStripes(512*1024, counting{unit: 256 * k}), cost{writeIOs: 2.5, writeBytes: 640 * 1024}},
		// 4 KiB are 1/64 of 256; a mirror writes them twice.
		"a stripe":        {array(topology.RAID0, 4, nil).stream(4096, true, ebs), cost{readIOs: 1. / 64, readBytes: 4096}},
		"near copies":     {array(topology.RAID10, 4, nil).stream(4096, false, ebs), cost{writeIOs: 2. / 64, writeBytes: 8192}},
		"far copies":      {array(topology.RAID10, 4, far).stream(4096, true, ebs), cost{readIOs: 1. / 64, readBytes: 4096}},
		"offset copies":   {array(topology.RAID10, 4, offset).stream(4096, true, ebs), cost{readIOs: 1. / 16, readBytes: 4096}},
		"odd near copies": {array(topology.RAID10, 5, nil).stream(4096, true, ebs), cost{readIOs: 1. / 16, readBytes: 4096}},
		"odd far copies":  {array(topology.RAID10, 5, far).stream(4096, true, ebs), cost{readIOs: 1. / 64, readBytes: 4096}},
		"written odd":     {array(topology.RAID10, 5, nil).stream(4096, false, ebs), cost{writeIOs: 2. / 64, writeBytes: 8192}},
		// Four chunks lie side by side on a member of RAID5 of five before parity: 256 KiB.
		"RAID5 reads": {raid5.stream(4096, true, ebs), cost{readIOs: 1. / 64, readBytes: 4096}},
		// Of RAID5 of three two chunks do: 128 KiB.
		"small RAID5 reads": {array(topology.RAID5, 3, nil).stream(4096, true, ebs), cost{readIOs: 1. / 32, readBytes: 4096}},
	} {
		near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*(1+y) }
		if g, w := c.got, c.want; !near(g.readIOs, w.readIOs) || !near(g.writeIOs, w.writeIOs) || !near(g.readBytes, w.readBytes) || !near(g.writeBytes, w.writeBytes) {
			t.Errorf("%s: %+v, want %+v", name, g, w)
		}
	}
	// A stripe of RAID5 of five is 256 KiB of data.
	for name, c := range map[string]struct {
		w    fio.Workload
		want bool
	}{
		"unsynced":         {load("write", 4*k, 1, 1), true},
		"random":           {load("randwrite", 256*k, 32, 1), false},
		"synced, a stripe": {synced(load("write", 64*k, 2, 2)), true},
		"synced, less":     {synced(load("write", 64*k, 3, 1)), false},
		"sync=1, less":     {func() fio.Workload { w := load("write", 64*k, 3, 1); w.SyncWrites = true; return w }(), false},
		"sync=1, more":     {func() fio.Workload { w := load("write", 64*k, 5, 1); w.SyncWrites = true; return w }(), true},
	} {
		if got := raid5.gathered(c.w); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Regions of a concatenation by hand: 50 GiB each.
func TestRegionsByHand(t *testing.T) {
	w := load("randread", 4*k, 8, 4)
	w.Size = 20 * units.GiB
	shared := w
	shared.SharedFile = true
	apart := shared
	apart.OffsetIncrement = 30 * units.GiB
	for name, c := range map[string]struct {
		w    fio.Workload
		want units.Bytes
	}{"files": {w, 80 * units.GiB}, "one file": {shared, 20 * units.GiB}, "parts of it": {apart, 110 * units.GiB}} {
		if got := regionOf(c.w); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	top := machine(t, 3, gp3, topology.Linear, 0, "")
	for i := range top.Arrays[0].Volumes {
		top.Arrays[0].Volumes[i].Size = 50 * units.GiB
	}
	// 110 GiB lie on 50 + 50 + 10: a full one gets 5 of 11. A stream goes through one after the other.
	if b := Of(top, topology.Data, []fio.Workload{apart}).Binding(); !within(b.IOPS, 3000*11/5.0) {
		t.Errorf("%+v", b)
	}
	apart.Sequential = true
	if b := Of(top, topology.Data, []fio.Workload{apart}).Binding(); !within(b.IOPS, 32000) || b.Kind != VolumeRate {
		t.Errorf("%+v", b)
	}
	top.Arrays[0].Volumes[0].Size = 0 // not known: as if it held all
	apart.Sequential = false
	if b := Of(top, topology.Data, []fio.Workload{apart}).Binding(); !within(b.IOPS, 3000) {
		t.Errorf("%+v", b)
	}
}

// One read in flight of a near RAID10, by hand: it begins on the first mirrors.
func TestOneReadByHand(t *testing.T) {
	near := func(n int) *topology.Topology { return machine(t, n, gp3, topology.RAID10, 64*k, "") }
	one := func(size, align units.Bytes) fio.Workload { return aligned(load("randread", size, 1, 1), align) }
	for name, c := range map[string]struct {
		top  *topology.Topology
		load fio.Workload
		want float64
	}{
		"a whole chunk":  {near(4), one(64*k, 64*k), 6000},
		"within a chunk": {near(4), one(4*k, 4*k), 6000},
		// Three first mirrors.
		"three pairs": {near(6), one(4*k, 4*k), 9000},
		// 128 KiB from a chunk on are the stripe of two pairs, one piece each.
		"a stripe": {near(4), one(128*k, 128*k), 6000 / 2},
		// 192 KiB of two pairs: the third piece goes to the second mirror of the first pair; offsets of 192
		// KiB begin on either pair. Each first mirror has a piece of each I/O.
		"a stripe and a half": {near(4), one(192*k, 192*k), 3000},
		// 256 KiB are two pieces on each pair, one for each mirror.
		"two stripes": {near(4), one(256*k, 256*k), 3000},
		// Five members: first copies on all but, by chunk, 0, 2, 4, 1 and 3: all of them.
		"five members": {near(5), one(4*k, 4*k), 15000},
	} {
		b := Of(c.top, topology.Data, []fio.Workload{c.load}).Least(func(b Bound) bool { return b.Kind == VolumeIOPS })
		if b == nil || !within(b.IOPS, c.want) {
			t.Errorf("%s: %+v, want %v", name, b, c.want)
		}
	}
}

// A database of one client on a disk that syncs in 2 s: half a transaction a second is a bound as any.
func TestLessThanOneASecond(t *testing.T) {
	top := machine(t, 4, gp3, topology.RAID10, 64*k, "")
	probe := result.SyncProbe{Write: 500_000_000, Sync: 1_500_000_000, N: 10}
	c := OfPostgres(top, &result.Postgres{Cores: 8, Before: probe, After: probe}, &result.PgStep{
		Clients: 1, Threads: 1, TPS: 0.4, Transactions: 4, Measured: 10 * time.Second, Syncs: 4,
	})
	if b := c.Binding(); b == nil || b.Kind != CommitLatency || !within(b.IOPS, 0.5) {
		t.Errorf("%+v", c.Bounds)
	}
}

// Members that get as much, but for the noise of floating point, stand for each other; others do not,
// also where the first gets nothing.
func TestWhetherMembersGetAsMuch(t *testing.T) {
	reads := func(ios ...float64) []cost {
		var each []cost
		for _, n := range ios {
			each = append(each, cost{readIOs: n})
		}
		return each
	}
	for name, c := range map[string]struct {
		each []cost
		even bool
	}{
		"as much":           {reads(2, 2, 2), true},
		"but for the noise": {reads(2, 2+1e-7, 2), true},
		"above the noise":   {reads(2, 2+1e-5, 2), false},
		"the first none":    {reads(0, 2, 2), false},
		"the last none":     {reads(2, 2, 0), false},
		"of writes":         {[]cost{{writeIOs: 1}, {writeIOs: 2}}, false},
		"bytes and noise":   {[]cost{{readBytes: 4096}, {readBytes: 4096 + 1e-4}}, true}, // a 41 millionth
		"hardly any":        {reads(1e-3, 1e-3+1e-7), false},                             // by a ten thousandth
		"of bytes read":     {[]cost{{readIOs: 1, readBytes: 4096}, {readIOs: 1, readBytes: 8192}}, false},
		"of bytes written":  {[]cost{{writeIOs: 1, writeBytes: 4096}, {writeIOs: 1, writeBytes: 8192}}, false},
	} {
		var want cost
		for _, e := range c.each {
			want.add(e, 1)
		}
		l := perMember{each: c.each}
		if l.total(); (l.each == nil) != c.even || l.cost != want {
			t.Errorf("%s: %+v, want even %v and %+v in all", name, l, c.even, want)
		}
	}
}

// Over how many volumes a parity's I/Os go while it lacks members: of five, four and what is rebuilt.
func TestSpreadOfARebuild(t *testing.T) {
	for _, c := range []struct {
		lost       int
		done, want float64
	}{{0, 0, 5}, {1, 0, 4}, {1, 0.5, 4.5}, {1, 0.9, 4.9}, {2, 0.25, 3.5}} {
		p := &problem{}
		r, w := p.spread(members{n: 5, data: 4, width: 4, parity: 1, copies: 1, lost: c.lost, done: c.done, chunk: 64 * k})
		if math.Abs(r-c.want) > 1e-9 || math.Abs(w-c.want) > 1e-9 {
			t.Errorf("%d lost, %v rebuilt: %v readers and %v writers, want %v", c.lost, c.done, r, w, c.want)
		}
	}
}
