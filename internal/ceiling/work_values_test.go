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

// When pgbench is what limits: with nine tenths of the threads that it can use, or with more than half of
// the sessions waiting for it on a machine that is idle by less than a tenth.
func TestWhenTheGeneratorLimits(t *testing.T) {
	for name, c := range map[string]struct {
		threads, clients int
		cpu              time.Duration // in 10 s
		waits, busy      float64
		limits           bool
		use              float64
	}{
		"nine tenths":              {1, 1, 9 * time.Second, 0, 0.1, true, 0.9},
		"less":                     {1, 1, 8990 * time.Millisecond, 0, 0.1, false, 0.899},
		"of two threads":           {2, 4, 9 * time.Second, 0, 0.1, false, 0.45},
		"of one client's":          {2, 1, 9 * time.Second, 0, 0.1, true, 0.9},
		"of no known thread":       {0, 4, 9 * time.Second, 0, 0.1, true, 0.9},
		"waits on a busy machine":  {2, 4, time.Second, 0.6, 0.95, false, 0.05}, // they wait for a processor
		"half of the sessions":     {2, 4, time.Second, 0.5, 0.95, false, 0.05},
		"waits, an eighth is idle": {2, 4, time.Second, 0.6, 0.875, false, 0.05},
		"waits, all is idle":       {2, 4, time.Second, 0.6, 0, false, 0.05},
		"busy with something else": {2, 4, time.Second, 0, 0.95, false, 0.05},
	} {
		s := &result.PgStep{Threads: c.threads, Clients: c.clients, PgbenchCPU: c.cpu, Measured: 10 * time.Second, Busy: c.busy}
		s.Waits = []result.WaitShare{{Event: "Client:ClientRead", Share: c.waits}, {Event: "IO:DataFileRead", Share: 0.9}}
		if limits, use := Generated(s); limits != c.limits || math.Abs(use-c.use) > 1e-9 {
			t.Errorf("%s: limits %v, uses %v; want %v, %v", name, limits, use, c.limits, c.use)
		}
	}
}

// The bounds of the CPU by hand: a step of 10 s with 1,000 transactions, in words as well.
func TestCoresByHand(t *testing.T) {
	waits := []result.WaitShare{{Event: "Client:ClientRead", Share: 0.75}}
	for name, c := range map[string]struct {
		cores   int
		s       result.PgStep
		cpu     float64 // transactions a second that the server's part allows
		how     string
		load    float64 // that pgbench allows; 0 where it does not limit
		loadHow string
	}{
		// 5 ms a transaction; pgbench leaves 4 - 0.1 cores.
		"the server alone": {
			4,
			result.PgStep{ServerCPU: 5 * time.Second, PgbenchCPU: time.Second, Threads: 2, Clients: 4},
			3.9 / 0.005,
			"4 cores less 0.1 of pgbench ÷ 5 ms of CPU per transaction", 0, "",
		},
		// One thread of 9 ms a transaction, since the server leaves 3.5 cores.
		"a thread": {
			4,
			result.PgStep{ServerCPU: 5 * time.Second, PgbenchCPU: 9 * time.Second, Threads: 1, Clients: 4},
			3.1 / 0.005,
			"4 cores less 0.9 of pgbench ÷ 5 ms of CPU per transaction", 1 / 0.009,
			"pgbench uses 90.0 % of 1 thread",
		},
		// Two clients' threads of eight; the server leaves 3 - 1.5 cores of them, and pgbench used 1.8.
		"less than its threads": {
			3,
			result.PgStep{ServerCPU: 15 * time.Second, PgbenchCPU: 18 * time.Second, Threads: 8, Clients: 2, Busy: 1.25},
			1.5 / 0.015,
			"3 cores less 1.8 of pgbench ÷ 15 ms of CPU per transaction", 1.8 / 0.018,
			"pgbench uses 90.0 % of 2 threads",
		},
		// Two cores less the server's 0.4 are 1.6 of two threads.
		"what the server leaves": {
			2,
			result.PgStep{ServerCPU: 4 * time.Second, PgbenchCPU: 8 * time.Second, Threads: 2, Clients: 2, Busy: 0.95, Waits: waits},
			1.2 / 0.004,
			"2 cores less 0.8 of pgbench ÷ 4 ms of CPU per transaction", 0, "",
		},
		// It waits for what used no CPU: no figure can be made of that.
		"sessions of no CPU": {
			2,
			result.PgStep{ServerCPU: 4 * time.Second, Threads: 2, Clients: 2, Busy: 0.95, Waits: waits},
			2 / 0.004,
			"2 cores less 0 of pgbench ÷ 4 ms of CPU per transaction", 0, "",
		},
		"of a nanosecond": {
			2,
			result.PgStep{ServerCPU: 4 * time.Second, PgbenchCPU: 1, Threads: 2, Clients: 2, Busy: 0.95, Waits: waits},
			2 / 0.004,
			"2 cores less 0 of pgbench ÷ 4 ms of CPU per transaction", 0, "",
		},
	} {
		c.s.Transactions, c.s.Measured = 1000, 10*time.Second
		var of Ceiling
		of.cores(&result.Postgres{Cores: c.cores}, &c.s)
		cpu := of.Least(func(b Bound) bool { return b.Kind == CPU })
		load := of.Least(func(b Bound) bool { return b.Kind == LoadGenerator })
		if cpu == nil || !within(cpu.IOPS, c.cpu) || cpu.How != c.how || !within(units.IOPS(cpu.Capacity/cpu.Demand), c.cpu) || cpu.Origin.Where != "/proc" {
			t.Errorf("%s: %+v, want %v, %q", name, cpu, c.cpu, c.how)
		}
		if (load != nil) != (c.load > 0) || load != nil && (!within(load.IOPS, c.load) || load.How != c.loadHow || load.Capacity != float64(load.IOPS) || load.Demand != 1) {
			t.Errorf("%s: %+v, want %v, %q", name, load, c.load, c.loadHow)
		}
	}
}

// Which bounds a step has: of its commits where it syncs, of their CPU while clients are fewer than cores.
func TestBoundsOfAStep(t *testing.T) {
	probe := result.SyncProbe{Sync: 2_000_000, N: 10}
	step := result.PgStep{Clients: 2, Threads: 1, TPS: 100, Transactions: 1000, Measured: 10 * time.Second, Syncs: 1000, ServerCPU: time.Second}
	const latency, cpu = "2 clients ÷ 2 ms per synced write", "2 clients ÷ 1 ms of CPU per commit, outside of its sync"
	for name, c := range map[string]struct {
		change func(*result.Postgres, *result.PgStep)
		want   string // the kinds, in order
		how    []string
	}{
		// 2 / 2 ms, 2 / 1 ms; four cores over 1 ms.
		"fewer clients than cores": {nil, "commit latency 1,000, CPU time of a commit 2,000, CPU 4,000", []string{latency + "; expected are 286 to 500 with 1 ms of CPU per commit", cpu}},
		"one core more":            {func(p *result.Postgres, _ *result.PgStep) { p.Cores = 3 }, "commit latency 1,000, CPU time of a commit 2,000, CPU 3,000", nil},
		"as many cores":            {func(p *result.Postgres, _ *result.PgStep) { p.Cores = 2 }, "commit latency 1,000, CPU 2,000", nil},
		"no CPU":                   {func(_ *result.Postgres, s *result.PgStep) { s.ServerCPU = 0 }, "commit latency 1,000", []string{latency + "; expected are 333 to 500"}},
		"half a nanosecond of it":  {func(_ *result.Postgres, s *result.PgStep) { s.ServerCPU = 500 }, "commit latency 1,000, CPU time of a commit 4,000,000,000, CPU 8,000,000,000", []string{latency + "; expected are 333 to 500 with 0.5 ns of CPU per commit"}},
		"half a nanosecond of S":   {func(p *result.Postgres, _ *result.PgStep) { p.Before.Sync, p.After.Sync = 0.5, 0.5 }, "CPU time of a commit 2,000, CPU 4,000, commit latency 4,000,000,000", nil},
		"no clients":               {func(_ *result.Postgres, s *result.PgStep) { s.Clients = 0 }, "CPU 4,000", nil},
		"one sync":                 {func(_ *result.Postgres, s *result.PgStep) { s.Syncs = 1 }, "commit latency 1,000, CPU time of a commit 2,000, CPU 4,000", nil},
		"of no measured sync":      {func(p *result.Postgres, _ *result.PgStep) { p.Before, p.After = result.SyncProbe{}, result.SyncProbe{} }, "CPU 4,000", nil},
		"no sync":                  {func(_ *result.Postgres, s *result.PgStep) { s.Syncs = 0 }, "CPU 4,000", nil},
		"read only":                {func(p *result.Postgres, _ *result.PgStep) { p.ReadOnly = true }, "CPU 4,000", nil},
		"a slow commit": {func(p *result.Postgres, s *result.PgStep) {
			p.Before.Sync, p.After.Sync = 4e9, 4e9
			s.Transactions, s.Syncs, s.ServerCPU = 10, 10, 40*time.Second
		}, "CPU time of a commit 0.50, commit latency 0.50, CPU 1", nil},
		"half a transaction": {func(_ *result.Postgres, s *result.PgStep) { s.TPS = 0.5 }, "commit latency 1,000, CPU time of a commit 2,000, CPU 4,000", nil},
		"no rate":            {func(_ *result.Postgres, s *result.PgStep) { s.TPS = 0 }, "", nil},
		"one transaction": {func(_ *result.Postgres, s *result.PgStep) {
			s.Transactions, s.Syncs, s.ServerCPU = 1, 1, time.Millisecond
		}, "commit latency 1,000, CPU time of a commit 2,000, CPU 4,000", nil},
		"no transaction": {func(_ *result.Postgres, s *result.PgStep) { s.Transactions = 0 }, "", nil},
	} {
		p, s := &result.Postgres{Cores: 4, Before: probe, After: probe}, step
		if c.change != nil {
			c.change(p, &s)
		}
		got := OfPostgres(&topology.Topology{}, p, &s)
		var kinds []string
		for i, b := range got.Bounds {
			kinds = append(kinds, string(b.Kind)+" "+b.IOPS.String())
			if i < len(c.how) && b.How != c.how[i] {
				t.Errorf("%s: %q, want %q", name, b.How, c.how[i])
			}
			if b.Kind != CPU && (b.Demand != 1 || b.Capacity != float64(b.IOPS)) || b.SelfMeasured() {
				t.Errorf("%s: %+v", name, b)
			}
		}
		if text := strings.Join(kinds, ", "); text != c.want || got.InFlight != s.Clients {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
	// What is kept of a path: the bound that binds and the one that lasts, of the hardware.
	for text, want := range map[string]string{
		"": "", "a100 b200": "100", "a100 a300!": "300! 100", "c50 a100 a300! b200": "200 100", "c50 r60": "", "a300!": "300!", "a300! b300": "300", "b300! a300": "300!",
		"a100 b100": "100", "b50! a100": "50!",
	} {
		var kept []string
		for _, b := range smallest(boundsOf(t, text)).Bounds {
			kept = append(kept, boundText(&b))
		}
		if got := strings.Join(kept, " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	// Of each bound of the hardware what one transaction needs.
	var c Ceiling
	c.scaled(LogIOPS, boundsOf(t, "c50 a0 a1 b100!"), func(b Bound) (float64, string) { return float64(b.IOPS) / 2, "half" })
	if len(c.Bounds) != 2 || c.Bounds[0].IOPS != 0.5 || c.Bounds[0].How != "half (volume IOPS)" || c.Bounds[1].IOPS != 50 || !c.Bounds[1].Burst ||
		c.Bounds[1].How != "half (instance IOPS (burst))" || c.Bounds[1].Capacity != 50 || c.Bounds[1].Demand != 1 {
		t.Errorf("%+v", c.Bounds)
	}
}

// A mirror whose limits are restated for the mix that ran: 6,000 IOPS, of which a read takes one and a
// write two; 70 % reads were asked for, 6,000 / 1.3.
func TestMixThatRanByHand(t *testing.T) {
	top := machine(t, 2, gp3, topology.RAID1, 0, "")
	mix := load("randrw", 8*k, 8, 4)
	asked := Of(top, topology.Data, []fio.Workload{mix})
	ran := func(reads, writes, bs float64) *result.Result {
		direction := func(n float64) fio.Direction {
			return fio.Direction{N: uint64(10 * n), IOPS: units.IOPS(n), BW: units.Rate(n * bs), Bytes: units.Bytes(10 * n * bs), Runtime: 10 * time.Second}
		}
		return &result.Result{Workloads: []fio.Workload{mix}, Total: fio.Job{Window: 10 * time.Second, Read: direction(reads), Write: direction(writes)}}
	}
	with := func(r *result.Result, f func(*result.Result)) *result.Result { f(r); return r }
	for name, c := range map[string]struct {
		r     *result.Result
		want  float64 // of the volumes' IOPS
		reads float64
		note  string // empty where the bounds stay
	}{
		"as asked for":      {ran(700, 300, 8192), 6000 / 1.3, 0.7, ""},
		"hardly otherwise":  {ran(697, 303, 8192), 6000 / 1.3, 0.7, ""}, // 6,000 / 1.303: a quarter of a hundredth
		"a hundredth fewer": {ran(680, 320, 8192), 6000 / 1.32, 0.68, "68.0 % reads, 8 KiB an I/O"},
		"more":              {ran(720, 280, 8192), 6000 / 1.28, 0.72, "72.0 % reads, 8 KiB an I/O"},
		"half":              {ran(500, 500, 8192), 4000, 0.5, "50.0 % reads, 8 KiB an I/O"},
		"all":               {ran(1000, 0, 8192), 6000, 1, "100.0 % reads, 8 KiB an I/O"},
		"none":              {ran(0, 1000, 8192), 3000, 0, "0.0 % reads, 8 KiB an I/O"},
		"less than one":     {ran(0.25, 0.25, 8192), 4000, 0.5, "50.0 % reads, 8 KiB an I/O"},
		"nothing":           {ran(0, 0, 8192), 6000 / 1.3, 0.7, ""},
		"of no bytes":       {ran(500, 500, 0), 6000 / 1.3, 0.7, ""},
		"of half a byte":    {ran(500, 500, 0.5), 4000, 0.5, "50.0 % reads, 1 B an I/O"},
		"of a database":     {with(ran(500, 500, 8192), func(r *result.Result) { r.Postgres = &result.Postgres{} }), 6000 / 1.3, 0.7, ""},
		"with trims":        {with(ran(500, 500, 8192), func(r *result.Result) { r.Workloads[0].TrimShare = 0.001 }), 6000 / 1.3, 0.7, ""},
		"of other sections": {with(ran(500, 500, 8192), func(r *result.Result) { r.Workloads = append(r.Workloads, mix) }), 6000 / 1.3, 0.7, ""},
	} {
		r := *c.r
		got := asked.ofMix(&r)
		b := got.Least(func(b Bound) bool { return b.Kind == VolumeIOPS })
		if b == nil {
			t.Fatalf("%s: %+v", name, got)
		}
		n, bw := r.Total.Rates()
		rate := got.Least(func(b Bound) bool { return b.Kind == VolumeRate })
		restated := c.note != ""
		if !within(b.IOPS, c.want) || math.Abs(float64(b.ReadIOPS/b.IOPS)-c.reads) > 1e-3 || math.Abs(float64(b.WriteIOPS/b.IOPS)-(1-c.reads)) > 1e-3 ||
			math.Abs(got.ReadShare-c.reads) > 1e-3 || noted(got, "the mix that was measured: "+c.note) != restated {
			t.Errorf("%s: %+v, want %v; %q", name, b, c.want, got.Notes)
		}
		if restated && (math.Abs(float64(b.BW/units.Rate(b.IOPS))-float64(bw)/float64(n)) > 1e-6 || math.Abs(b.Demand*c.want-6000) > 6 ||
			!within(units.IOPS(rate.BW), 2*125*(1<<20)/(2-c.reads))) {
			t.Errorf("%s: %+v, %+v", name, b, rate)
		}
		if !restated && (got.IOSize != 8192 || len(got.Notes) != len(asked.Notes)) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// The mean I/O is rounded to whole bytes.
	for size, want := range map[float64]units.Bytes{8192.25: 8192, 8192.5: 8193, 8192.75: 8193} {
		if got := asked.ofMix(ran(512, 512, size)); got.IOSize != want {
			t.Errorf("%v: %d, want %d", size, got.IOSize, want)
		}
	}
	// What has no costs of its own stays: here the latency's.
	slow := asked.WithLatency(time.Millisecond, time.Millisecond, 0, topology.Origin{})
	if got := slow.ofMix(ran(500, 500, 8192)); iopsOf(got.Concurrency()) != 32000 || !noted(got, "measured") {
		t.Errorf("%+v", got.Bounds)
	}
	// Two sections of 100 a second each, one of which runs for half of the time: 150 together. Where the
	// hardware binds the rate is that while both run.
	for rate, want := range map[units.IOPS]float64{100: 150, 9000: 18000} {
		short, long := load("randread", 8*k, 8, 1), load("randread", 8*k, 8, 1)
		short.Name, short.ReadIOPS, short.TimeBased, short.Runtime = "short", rate, true, 5*time.Second
		long.Name, long.ReadIOPS, long.TimeBased, long.Runtime = "long", rate, true, 10*time.Second
		r := ran(150, 0, 8192)
		r.Workloads = []fio.Workload{short, long}
		got := Of(top, topology.Data, r.Workloads).ofMix(r)
		if b := got.Least(func(b Bound) bool { return b.Kind == RequestedRate }); b == nil || !within(b.IOPS, want) {
			t.Errorf("%v: %+v", rate, b)
		}
	}
}

// What of a resource is a role's beside others, by what each takes of it alone.
func TestPartsOfARole(t *testing.T) {
	inf := math.Inf(1)
	// alone is a role that takes so much of the shared resource: what its own one allows it.
	alone := func(takes float64) *problem {
		how := func(_, _ float64) string { return "" }
		one := [][2]float64{{1, 0}}
		p := &problem{streams: []stream{{weight: 1, share: [2]float64{1, 0}, most: [2]float64{inf, 0}, w: fio.Workload{ReadBS: 4096}}}}
		p.resources = []*resource{
			{kind: InstanceIOPS, name: "shared", base: 100, top: 1000, demand: one, how: how},
			{kind: VolumeIOPS, name: "own", base: takes, demand: one, how: how},
		}
		return p
	}
	for name, c := range map[string]struct {
		mine   float64
		others []float64
		base   float64 // share of the 100
		burst  float64 // of the 1,000
	}{
		"nobody else":       {40, nil, 1, 1},
		"less than all":     {40, []float64{50}, 0.5, 0.95},
		"as much":           {400, []float64{400}, 0.5, 0.6},
		"more than all":     {900, []float64{300}, 0.5, 0.75},           // 900 of 1,200
		"the lesser":        {300, []float64{900}, 0.5, 0.25},           // of the rest 0.1 would be left
		"two others":        {60, []float64{20, 20}, 0.6, 0.96},         // 60 of 100; 1 - 40 / 1,000
		"hardly any":        {0.5, []float64{0.5}, 0.995, 0.9995},       // 1 - 0.5 / 100
		"one of hardly any": {200, []float64{0.5}, 100 / 100.5, 0.9995}, //
		"hardly any of all": {0.5, []float64{1e6}, 0.5 / 100.5, 0.5 / 1000.5},
	} {
		p := alone(c.mine)
		var others []*problem
		for _, o := range c.others {
			others = append(others, alone(o))
		}
		want := [2]float64{c.base, c.burst}
		for i, burst := range []bool{false, true} {
			if got := p.part(p.resources[0], burst, others); math.Abs(got-want[i]) > 1e-9 {
				t.Errorf("%s, burst %v: %v, want %v", name, burst, got, want[i])
			}
		}
	}
	// What another's 50 leave of a shared 100 spends a burst of one's own: 30 a second above its 20, of 300.
	mine, other := alone(20), alone(50)
	mine.resources[0].top, other.resources[0].top = 0, 0
	mine.resources[1].top, mine.resources[1].credits, other.resources[1].name = 300, 300, "theirs"
	if c := mine.ceiling([]*problem{other}); c.Binding().IOPS != 50 || c.Least(func(b Bound) bool { return b.Burst }).BurstFor != 10*time.Second {
		t.Errorf("it spends its burst: %+v", c.Bounds)
	}
	// A role that has the resource but never uses it, and one that has no bound at all.
	reads, writes := alone(50), alone(50)
	for _, r := range writes.resources {
		r.demand = [][2]float64{{0, 1}}
	}
	if got := reads.part(reads.resources[0], false, []*problem{writes}); got != 1 {
		t.Errorf("beside writes that cost nothing: %v", got)
	}
	if got := writes.part(writes.resources[0], false, []*problem{reads}); got != 1 {
		t.Errorf("of what it does not use: %v", got)
	}
	if got := writes.wants("shared", true); got != 0 {
		t.Errorf("it wants %v", got)
	}
	if got := reads.wants("other", true); got != 0 {
		t.Errorf("it wants %v of what it has not", got)
	}
}

// A sweep sets what a job has: sizes of the directions that it has, and the depth.
func TestWhatASweepVaries(t *testing.T) {
	both := fio.Workload{ReadBS: 8 * k, WriteBS: 16 * k, Depth: 7}
	for name, c := range map[string]struct {
		w     fio.Workload
		bs    units.Bytes
		depth int
		want  fio.Workload
	}{
		"neither":   {both, 0, 0, both},
		"sizes":     {both, 4 * k, 0, fio.Workload{ReadBS: 4 * k, WriteBS: 4 * k, Depth: 7}},
		"of a byte": {both, 1, 1, fio.Workload{ReadBS: 1, WriteBS: 1, Depth: 1}},
		"depths":    {both, 0, 2, fio.Workload{ReadBS: 8 * k, WriteBS: 16 * k, Depth: 2}},
		"reads":     {fio.Workload{ReadBS: 1, Depth: 7}, 4 * k, 0, fio.Workload{ReadBS: 4 * k, Depth: 7}},
		"writes":    {fio.Workload{WriteBS: 1, Depth: 7}, 4 * k, 0, fio.Workload{WriteBS: 4 * k, Depth: 7}},
	} {
		loads := []fio.Workload{c.w, c.w}
		for _, got := range vary(loads, c.bs, c.depth) {
			if got.ReadBS != c.want.ReadBS || got.WriteBS != c.want.WriteBS || got.Depth != c.want.Depth {
				t.Errorf("%s: %+v, want %+v", name, got, c.want)
			}
		}
		if loads[0].ReadBS != c.w.ReadBS || loads[0].Depth != c.w.Depth {
			t.Errorf("%s: the job itself was changed", name)
		}
	}
}

// What is said of what a machine allows: what is not known, what the cache is taken to do, what differs.
func TestNotesOnAMachine(t *testing.T) {
	limits := topology.Limits{IOPS: 100}
	ssd := cloud.Cap{Name: "ssd", Types: []string{"ssd"}, Baseline: limits}
	cache := cloud.Cap{Name: "cache", Cache: true, Baseline: limits}
	const (
		missing = "is not known: its maximum"
		served  = "reads of cached volumes count as served"
		passed  = "cached writes count as passed on"
		unknown = "not known: the size"
		lacks   = "what the host's cache of the machine allows is not known"
		apart   = "they are counted separately"
	)
	type list = []topology.Volume
	on := func(typ string, c cloud.Caching) topology.Volume {
		return topology.Volume{Network: true, Type: typ, Caching: c}
	}
	for name, c := range map[string]struct {
		i    topology.Instance
		v    list
		want []string
	}{
		"plain":                    {topology.Instance{Baseline: limits}, list{on("x", "")}, nil},
		"of another cloud":         {topology.Instance{Baseline: limits, Cloud: "g"}, list{on("x", "")}, nil},
		"only other types":         {topology.Instance{Caps: []cloud.Cap{ssd}, Cloud: "g"}, list{on("x", "")}, []string{missing}},
		"its type":                 {topology.Instance{Caps: []cloud.Cap{ssd}, Cloud: "g"}, list{on("ssd", "")}, nil},
		"of EC2":                   {topology.Instance{Caps: []cloud.Cap{ssd}}, list{on("x", "")}, nil},
		"a drive of its own":       {topology.Instance{Caps: []cloud.Cap{ssd}, Cloud: "g"}, list{{Type: "x"}}, nil},
		"cached for read":          {topology.Instance{Baseline: limits, Caps: []cloud.Cap{cache}, Unknown: []string{"the size"}}, list{on("x", cloud.ReadOnly)}, []string{served}},
		"cached":                   {topology.Instance{Baseline: limits, Caps: []cloud.Cap{cache}, Unknown: []string{"the size"}}, list{on("x", cloud.ReadWrite)}, []string{served, passed}},
		"cached by nothing known":  {topology.Instance{Baseline: limits, Unknown: []string{"the size"}}, list{on("x", cloud.ReadOnly)}, []string{served, lacks, unknown}},
		"both types":               {topology.Instance{Baseline: limits, Caps: []cloud.Cap{ssd}}, list{on("ssd", ""), on("x", "")}, []string{apart}},
		"the other way round":      {topology.Instance{Baseline: limits, Caps: []cloud.Cap{ssd}}, list{on("x", ""), on("ssd", "")}, []string{apart}},
		"both, of no common limit": {topology.Instance{Caps: []cloud.Cap{ssd}}, list{on("ssd", ""), on("x", "")}, nil},
		"one and its own drive":    {topology.Instance{Baseline: limits, Caps: []cloud.Cap{ssd}}, list{on("ssd", ""), {Type: "x"}}, nil},
	} {
		p := &problem{streams: []stream{{w: fio.Workload{ReadShare: 1, ReadBS: 4096}}}}
		p.instanceNotes(c.i, &topology.Array{Volumes: c.v})
		ok := len(p.notes) == len(c.want)
		for i := range min(len(p.notes), len(c.want)) {
			ok = ok && strings.Contains(p.notes[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", name, p.notes, c.want)
		}
	}
	// Whose limits count at all: of volumes on the network, whose combination is known, of a machine that
	// has any.
	const left, own, none = "are left out", "the instance's own limit is not known: ", "at all"
	known := topology.Instance{Type: "m", Baseline: limits}
	for name, c := range map[string]struct {
		i     topology.Instance
		level topology.Level
		v     list
		n     int // resources
		note  string
	}{
		"of the network":       {known, topology.Single, list{on("x", "")}, 1, ""},
		"of no known machine":  {topology.Instance{}, topology.Single, list{on("x", "")}, 0, own + "name its type"},
		"and why":              {topology.Instance{Unknown: []string{"a", "b"}}, topology.Single, list{on("x", "")}, 0, own + "a; b"},
		"not of the network":   {known, topology.Single, list{{Type: "x"}}, 0, ""},
		"of which is not said": {known, topology.Single, list{{}}, 0, left},
		"the other one":        {known, topology.RAID0, list{{Type: "x"}, {}}, 0, left},
		"that is missing":      {known, topology.RAID1, list{{Type: "x"}, {Missing: true}}, 0, ""},
		"on no machine":        {topology.Instance{}, topology.Single, list{{}}, 0, ""},
		"one of no level":      {known, topology.NoLevel, list{on("x", "")}, 1, ""},
	} {
		p := &problem{}
		p.take([]fio.Workload{load("randread", 4*k, 8, 1)})
		p.instance(c.i, &topology.Array{Name: "md0", Level: c.level, Volumes: c.v})
		if len(p.resources) != c.n || (len(p.notes) > 0) != (c.note != "") || c.note != "" && !strings.Contains(p.notes[0], c.note) {
			t.Errorf("%s: %d resources, want %d; %q", name, len(p.resources), c.n, p.notes)
		}
	}
	two := []topology.Array{{Name: "md0", Level: topology.NoLevel, Volumes: list{on("pd", ""), {Type: "pd", Pooled: true}}}}
	known.Pools = []topology.Pool{{Type: "pd", Size: units.TiB, Limits: limits}}
	p := plan(&topology.Topology{Arrays: two, Instance: known}, topology.Data, []fio.Workload{load("randread", 4*k, 8, 1)})
	if len(p.resources) != 0 || !slices.Equal(p.notes, []string{"how the 2 volumes of md0 are combined is not known: declare the level"}) {
		t.Errorf("two of no level: %d resources; %q", len(p.resources), p.notes)
	}
	// What volumes share by their size: a part of two, and what is said of more than one.
	pool := []topology.Pool{{Type: "pd", Size: units.TiB, Limits: limits}, {Type: "no", Limits: limits}}
	for name, c := range map[string]struct {
		level  topology.Level
		v      list
		demand float64
		note   bool
	}{
		"one":             {topology.Single, list{{Type: "pd", Pooled: true}}, 1, false},
		"one of no level": {topology.NoLevel, list{{Type: "pd", Pooled: true}}, 1, false},
		"two":             {topology.RAID0, list{{Type: "pd", Pooled: true}, {Type: "pd", Pooled: true}}, 1, true},
		"one of two":      {topology.RAID0, list{{Type: "pd", Pooled: true}, {Type: "x", Pooled: true}}, 0.5, true},
		"not of the pool": {topology.Single, list{{Type: "pd"}}, 0, false},
		"of another type": {topology.Single, list{{Type: "x", Pooled: true}}, 0, false},
	} {
		p := &problem{}
		p.take([]fio.Workload{load("randread", 4*k, 8, 1)})
		p.pools(topology.Instance{Pools: pool}, &topology.Array{Name: "md0", Level: c.level, Volumes: c.v})
		demand := 0.0
		if len(p.resources) > 0 {
			demand = p.resources[0].demand[0][0]
			if r := p.resources[0]; len(p.resources) != 1 || r.kind != VolumeIOPS || !r.pool || r.base != 100 || r.how(100, 1) != "1 TiB of pd: 100 IOPS ÷ 1 volume I/O per I/O" {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if demand != c.demand || slices.ContainsFunc(p.notes, func(n string) bool { return strings.Contains(n, "striping adds nothing") }) != c.note {
			t.Errorf("%s: a demand of %v, want %v; %q", name, demand, c.demand, p.notes)
		}
	}
}

// The sizes of a database's I/Os are means, rounded to bytes: on a volume of 120 bytes a second.
func TestMeanSizesOfADatabase(t *testing.T) {
	top := &topology.Topology{Arrays: []topology.Array{{Name: "d", Level: topology.Single, Volumes: []topology.Volume{{Sustained: topology.Limits{Rate: 120}}}}}}
	for name, c := range map[string]struct {
		s    result.PgStep
		kind Kind
		want units.IOPS // transactions a second
		how  string
	}{
		"1.25 bytes are 1":     {result.PgStep{Transactions: 4, Reads: 4, ReadBytes: 5}, DataVolumes, 120, "120 IOPS of 100.0 % reads ÷ 1 device I/Os per transaction (volume throughput)"},
		"1.5 are 2":            {result.PgStep{Transactions: 4, Reads: 4, ReadBytes: 6}, DataVolumes, 60, "60 IOPS of 100.0 % reads ÷ 1 device I/Os per transaction (volume throughput)"},
		"1.75 of writes are 2": {result.PgStep{Transactions: 2, Writes: 4, WriteBytes: 7}, DataVolumes, 30, "60 IOPS of 0.0 % reads ÷ 2 device I/Os per transaction (volume throughput)"},
		"1.25 of writes are 1": {result.PgStep{Transactions: 8, Writes: 4, WriteBytes: 5}, DataVolumes, 240, "120 IOPS of 0.0 % reads ÷ 0.5 device I/Os per transaction (volume throughput)"},
		// A quarter of the I/Os are reads of 4 bytes, three quarters writes of 2: 2.5 each.
		"both": {result.PgStep{Transactions: 4, Reads: 1, ReadBytes: 4, Writes: 3, WriteBytes: 6}, DataVolumes, 48, "48 IOPS of 25.0 % reads ÷ 1 device I/Os per transaction (volume throughput)"},
		// The log by its exact mean, said in whole bytes.
		"a log of 1.5":   {result.PgStep{Transactions: 4, WAL: 6}, LogRate, 80, "120 B/s ÷ 2 B of WAL per transaction (volume throughput)"},
		"of 1.25":        {result.PgStep{Transactions: 4, WAL: 5}, LogRate, 96, "120 B/s ÷ 1 B of WAL per transaction (volume throughput)"},
		"of half a byte": {result.PgStep{Transactions: 4, WAL: 2}, LogRate, 240, "120 B/s ÷ 1 B of WAL per transaction (volume throughput)"},
		// Blocks of 8 KiB are written for each sync, of which half of the transactions have one.
		"syncs":                   {result.PgStep{Transactions: 4, Syncs: 2}, LogIOPS, 2 * 120 / 8192., "0.01 synced writes × 2 commits per sync (volume throughput)"},
		"more syncs than commits": {result.PgStep{Transactions: 2, Syncs: 4}, LogIOPS, 60 / 8192., "0.01 synced writes × 0.5 commits per sync (volume throughput)"},
	} {
		var of Ceiling
		of.log(top, &result.Postgres{}, &c.s)
		of.data(top, &c.s)
		if len(of.Bounds) != 1 || of.Bounds[0].Kind != c.kind || !within(of.Bounds[0].IOPS, float64(c.want)) || of.Bounds[0].How != c.how {
			t.Errorf("%s: %+v, want %v, %q", name, of.Bounds, float64(c.want), c.how)
		}
	}
}

// A database's burst is spent as fast as 64 I/Os in flight can: with 1 ms each 64,000 a second, 63,000 above
// the base, of 6.3 million that are saved up.
func TestBurstsOfADatabase(t *testing.T) {
	top := &topology.Topology{Arrays: []topology.Array{{Name: "d", Level: topology.Single, Volumes: []topology.Volume{{
		Sustained: topology.Limits{IOPS: 1000}, Burst: topology.Limits{IOPS: 1e6}, BurstIOs: 6.3e6, ReadLatency: time.Millisecond, WriteLatency: time.Millisecond,
	}}}}}
	for name, s := range map[string]result.PgStep{
		"reads":   {Transactions: 1, Reads: 1, ReadBytes: 4096},
		"writes":  {Transactions: 1, Writes: 1, WriteBytes: 4096},
		"the log": {Transactions: 1, WAL: 4096},
		"syncs":   {Transactions: 1, Syncs: 1},
	} {
		var of Ceiling
		of.log(top, &result.Postgres{}, &s)
		of.data(top, &s)
		if len(of.Bounds) != 2 || !of.Bounds[0].Burst || of.Bounds[0].BurstFor != 100*time.Second || of.Bounds[1].Burst {
			t.Errorf("%s: %+v", name, of.Bounds)
		}
	}
	// Of one direction alone on a stripe: 4 × 3,000 of reads, half of that of writes to mirrors.
	striped := machine(t, 4, gp3, topology.RAID10, 64*k, "")
	for want, s := range map[float64]result.PgStep{12000: {Transactions: 1, Reads: 1, ReadBytes: 4096}, 6000: {Transactions: 1, Writes: 1, WriteBytes: 4096}} {
		var of Ceiling
		if of.data(striped, &s); iopsOf(of.Binding()) != want {
			t.Errorf("%+v, want %v", of.Bounds, want)
		}
	}
}
