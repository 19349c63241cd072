package diagnose

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// factors prints causes with what they leave, for a table: "CPU 0.900, depth not reached 0.500".
func factors(all []finding.Factor) string {
	var out []string
	for _, f := range all {
		one := string(f.Cause) + " " + strings.TrimRight(strings.TrimRight(formatted(f.Factor), "0"), ".")
		if f.Who != "" {
			one = string(f.Cause) + " of " + f.Who + strings.TrimPrefix(one, string(f.Cause))
		}
		out = append(out, one)
	}
	return strings.Join(out, ", ")
}

func formatted(v float64) string {
	if v == math.SmallestNonzeroFloat64 {
		return "all"
	}
	return units.Number(math.Round(v*1000)) + "‰"
}

// A full core, a full host and a hypervisor that takes, each at its bound.
func TestCPUAsACause(t *testing.T) {
	job := func(user, system float64, count int) fio.Job {
		return fio.Job{Name: "j", Count: count, CPU: fio.CPU{User: user, System: system}}
	}
	host := func(cpus int, user, system, irq, soft, steal float64) *telemetry.HostUse {
		return &telemetry.HostUse{CPUs: cpus, User: user, System: system, IRQ: irq, SoftIRQ: soft, Steal: steal}
	}
	for name, c := range map[string]struct {
		jobs []fio.Job
		host *telemetry.HostUse
		want string
		says string
	}{
		"nothing":              {nil, nil, "", ""},
		"a full core":          {[]fio.Job{job(0.25, 0.65, 1)}, nil, "CPU of j all", "each job of j saturates its core (90.0 %)"},
		"just below":           {[]fio.Job{job(0.25, 0.64, 1)}, nil, "", ""},
		"stolen":               {nil, host(4, 0, 0, 0, 0, 0.05), "CPU 950‰", "the hypervisor took 5.0 %"},
		"less stolen":          {nil, host(4, 0, 0, 0, 0, 0.049), "", ""},
		"stolen, and a core":   {[]fio.Job{job(0.9, 0, 1)}, host(4, 0, 0, 0, 0, 0.1), "CPU 900‰, CPU of j all", ""},
		"a full host":          {nil, host(4, 0.25, 0.25, 0.2, 0.25, 0), "CPU all", "the host's cores are fully busy, 50.0 % with other processes"},
		"a host that is not":   {nil, host(4, 0.25, 0.25, 0.2, 0.24, 0), "", ""},
		"of no processors":     {nil, host(0, 0.5, 0.5, 0, 0, 0), "", ""},
		"full of fio itself":   {[]fio.Job{job(0.5, 0.3, 4)}, host(4, 0.5, 0.5, 0, 0, 0), "CPU all", "the host's cores are fully busy"},
		"others have 30 %":     {[]fio.Job{job(0.5, 0.2, 4)}, host(4, 0.5, 0.5, 0, 0, 0), "CPU all", "the host's cores are fully busy, 30.0 % with other processes"},
		"others have 29 %":     {[]fio.Job{job(0.5, 0.21, 4)}, host(4, 0.5, 0.5, 0, 0, 0), "CPU all", "the host's cores are fully busy"},
		"a job without number": {[]fio.Job{job(0.5, 0.2, 0), job(0.5, 0.2, 3)}, host(4, 0.5, 0.5, 0, 0, 0), "CPU all", "the host's cores are fully busy, 30.0 % with other processes"},
	} {
		got := cpuCauses(Measurement{Result: &result.Result{Jobs: c.jobs, Host: c.host}})
		if factors(got) != c.want || c.says != "" && got[0].How != c.says && !strings.HasPrefix(got[0].How, c.says+" of the CPU") {
			t.Errorf("%s: %s, want %s (%+v)", name, factors(got), c.want, got)
		}
	}
}

// What ends a closed loop: a depth that is not reached, the volumes' idle latency, a slow volume.
func TestTheLoopAsACause(t *testing.T) {
	b := ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 10_000}
	change := func(m Measurement, how func(*result.Result)) Measurement {
		how(m.Result)
		return m
	}
	// A ceiling without a bound of its own: typicalLatency asks it.
	of := func(m Measurement) Measurement {
		m.Ceiling = &ceiling.Ceiling{}
		return m
	}
	for name, c := range map[string]struct {
		c    *Case
		m    Measurement
		want string
	}{
		"half the depth":          {pool(1, 0, 0), run(1000, 10*ms, 20), "depth not reached 500‰"},
		"eight tenths":            {pool(1, 0, 0), run(1600, 10*ms, 20), ""},
		"just below":              {pool(1, 0, 0), run(1599, 10*ms, 20), "depth not reached 800‰"},
		"four is deep enough":     {pool(1, 0, 0), run(100, 20*ms, 4), "depth not reached 500‰"},
		"three is not":            {pool(1, 0, 0), run(100, 15*ms, 3), ""},
		"Little's law is kept":    {pool(1, 0, 0), change(run(1000, 10*ms, 20), func(r *result.Result) { r.Depth.Little = 15 }), "depth not reached 750‰"},
		"synced writes":           {pool(1, 0, 0), change(run(1000, 10*ms, 20), func(r *result.Result) { r.Workloads[0].SyncEvery = 2 }), ""},
		"paced":                   {pool(1, ms, 0), change(run(1000, 10*ms, 20), func(r *result.Result) { r.Paced = true }), ""},
		"no latency":              {pool(1, 0, 0), run(1000, 0, 20), ""},
		"idle latency":            {pool(4, ms, 0), run(4000, ms, 4), "idle latency 400‰"},
		"and the volume is slow":  {pool(4, ms, 0), run(1000, 4*ms, 4), "idle latency 400‰, slow volume 250‰"},
		"measured without queue":  {pool(4, 0, 0), run(4000, ms, 4), "idle latency all"},
		"depth is not known":      {pool(1, 0, 0), change(run(1000, 10*ms, 20), func(r *result.Result) { r.Workloads = nil }), ""},
		"twice the idle latency":  {pool(1, 500*time.Microsecond, 0), run(2000, 500*time.Microsecond, 1), "idle latency 200‰"},
		"stated, in synced reads": {pool(1, 500*time.Microsecond, 0), change(run(2000, 500*time.Microsecond, 1), func(r *result.Result) { r.Workloads[0].SyncWrites = true }), "idle latency all"},
	} {
		if got := factors(c.c.loopCauses(of(c.m), b)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What shows in latencies alone: one member that is busy alone, and a mean far above the median.
func TestLatencyAsACause(t *testing.T) {
	with := func(p50 time.Duration, util []float64, waits ...time.Duration) Measurement {
		m := run(1000, 8*ms, 8)
		for i, w := range waits {
			d := device(string(rune('a'+i)), 1000, 0, w, 0)
			d.Util = util[i]
			m.Devices = append(m.Devices, d)
		}
		if p50 > 0 {
			m.Total.Read.Clat.Percentiles = []fio.Percentile{{P: 50, Value: p50}}
		}
		return m
	}
	alone := []float64{1, 0.3, 0.3}
	degraded := pool(3, 0, 0)
	degraded.Topology.Arrays[0].Degraded = 1
	probed := pool(3, 0, 0)
	probed.Probes = []Probe{{Array: "md0", Members: []Probed{{Device: "a", Alone: 100, Together: 90}, {Device: "b", Alone: 100, Together: 90}}}}
	for name, c := range map[string]struct {
		c    *Case
		m    Measurement
		want string
	}{
		"a slow member":         {pool(3, 0, 0), with(0, alone, 10*ms, ms, ms), "slow member of a 250‰"},
		"all are busy":          {pool(3, 0, 0), with(0, []float64{1, 1, 1}, 10*ms, ms, ms), ""},
		"it is not twice":       {pool(3, 0, 0), with(0, alone, 1990*time.Microsecond, ms, ms), ""},
		"degraded":              {degraded, with(0, alone, 10*ms, ms, ms), ""},
		"a probe shows better":  {probed, with(0, alone, 10*ms, ms, ms), ""},
		"a tail":                {pool(3, 0, 0), with(4*ms, alone, ms, ms, ms), "slow tail 500‰"},
		"less of one":           {pool(3, 0, 0), with(4*ms+1, alone, ms, ms, ms), ""},
		"a tail that one makes": {pool(3, 0, 0), with(ms, []float64{1, 1, 1}, 10*ms, ms, ms), "slow tail of a 125‰"},
		"a tail under a probe":  {probed, with(ms, []float64{1, 1, 1}, 10*ms, ms, ms), "slow tail 125‰"},
	} {
		if got := factors(c.c.latencyCauses(c.m)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The median of one direction; of several jobs the largest, where the sum has none.
func TestMedianOfADirection(t *testing.T) {
	p50 := func(n uint64, v time.Duration) fio.Direction {
		d := fio.Direction{N: n}
		if v > 0 {
			d.Clat.Percentiles = []fio.Percentile{{P: 50, Value: v}}
		}
		return d
	}
	for name, c := range map[string]struct {
		total fio.Job
		jobs  []fio.Job
		want  float64
	}{
		"reads":       {fio.Job{Read: p50(9, 100)}, nil, 100},
		"writes":      {fio.Job{Write: p50(9, 200)}, nil, 200},
		"both":        {fio.Job{Read: p50(9, 100), Write: p50(9, 200)}, nil, 0},
		"neither":     {fio.Job{}, nil, 0},
		"of the jobs": {fio.Job{Read: p50(9, 0)}, []fio.Job{{Read: p50(1, 100)}, {Read: p50(1, 300), Write: p50(1, 900)}, {Read: p50(1, 200)}}, 300},
		"of none":     {fio.Job{Write: p50(9, 0)}, []fio.Job{{Read: p50(1, 100)}}, 0},
	} {
		if got := (Measurement{Result: &result.Result{Total: c.total, Jobs: c.jobs}}).medianLatency(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// The rate at the end, or the mean of a run without seconds, near what lasts: the burst is spent.
func TestSpentBursts(t *testing.T) {
	burst := ceiling.Bound{Kind: ceiling.VolumeIOPS, Name: "a", IOPS: 3000, Burst: true}
	low := ceiling.Bound{Kind: ceiling.VolumeIOPS, Name: "a", IOPS: 1000}
	of := &ceiling.Ceiling{Bounds: []ceiling.Bound{low, burst}}
	ended := func(iops uint64) func(*result.Result) {
		return func(r *result.Result) {
			for k := range 6 {
				r.Seconds = append(r.Seconds, result.Second{At: time.Duration(k+1) * time.Second, Len: time.Second, Read: result.Interval{N: iops}})
			}
		}
	}
	lasted := func(d time.Duration) func(*result.Result) { return func(r *result.Result) { r.Measured = d } }
	for name, c := range map[string]struct {
		c    *ceiling.Ceiling
		iops float64
		how  func(*result.Result)
		want string
	}{
		"the end was at it":      {of, 2000, ended(1000), "burst spent 667‰"},
		"85 % of it":             {of, 2000, ended(850), "burst spent 667‰"},
		"84.9 % of it":           {of, 2000, ended(849), ""},
		"a tenth above":          {of, 2000, ended(1100), "burst spent 667‰"},
		"more":                   {of, 2000, ended(1101), ""},
		"a minute at it":         {of, 1000, lasted(time.Minute), "burst spent 333‰"},
		"a tenth more":           {of, 1100, lasted(time.Minute), "burst spent 367‰"},
		"a little more":          {of, 1101, lasted(time.Minute), ""},
		"95.4 %":                 {of, 954, lasted(time.Minute), "burst spent 333‰"},
		"95.3 %":                 {of, 953, lasted(time.Minute), ""},
		"8 s at 85 %":            {of, 850, lasted(8 * time.Second), "burst spent 333‰"},
		"8 s at 84.9 %":          {of, 849, lasted(8 * time.Second), ""},
		"the time is not known":  {of, 850, lasted(0), "burst spent 333‰"},
		"no ceiling":             {nil, 1000, lasted(time.Minute), ""},
		"nothing bursts":         {&ceiling.Ceiling{Bounds: []ceiling.Bound{low}}, 1000, lasted(time.Minute), ""},
		"limits beside a burst":  {of, 1000, lasted(time.Minute), "burst spent 333‰"},
		"what lasts is as large": {&ceiling.Ceiling{Bounds: []ceiling.Bound{{Kind: ceiling.VolumeIOPS, Name: "a", IOPS: 2990}, burst}}, 2990, lasted(time.Minute), ""},
	} {
		m := run(c.iops, ms, 8)
		m.Ceiling = c.c
		c.how(m.Result)
		if got := factors(limitCauses(m, burst)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What fio's total loses while its last I/Os complete, and never more than the time can have cost.
func TestDrainOfARun(t *testing.T) {
	of := func(ran time.Duration, iops float64, each uint64, seconds int) Measurement {
		m := run(iops, ms, 8)
		m.Measured = ran
		m.Workloads[0].TimeBased, m.Workloads[0].Runtime = true, 10*time.Second
		for k := range seconds {
			m.Seconds = append(m.Seconds, result.Second{At: time.Duration(k+1) * time.Second, Len: time.Second, Read: result.Interval{N: each}})
		}
		return m
	}
	for name, c := range map[string]struct {
		m    Measurement
		want string
	}{
		"a second more":        {of(11*time.Second, 950, 1000, 10), "drain 950‰"},
		"no more than it cost": {of(11*time.Second, 500, 1000, 10), "drain 909‰"},
		"50 ms of 10 s":        {of(10050*ms, 999, 1000, 10), "drain 999‰"},
		"49 ms":                {of(10049*ms, 999, 1000, 10), ""},
		"two seconds known":    {of(11*time.Second, 950, 1000, 2), ""},
		"three are enough":     {of(11*time.Second, 950, 1000, 3), "drain 950‰"},
		"nothing was done":     {of(11*time.Second, 950, 0, 10), ""},
	} {
		if got := factors(c.m.drainCauses()); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	open := of(11*time.Second, 950, 1000, 10)
	open.Workloads[0].TimeBased = false
	if got := open.drainCauses(); got != nil {
		t.Errorf("its end is not known: %+v", got)
	}
}

// How many device I/Os one of fio's became, by fio's disk statistics: the ramp is taken out by time.
func TestSplitsThatFioCounted(t *testing.T) {
	of := func(how func(*result.Result)) *result.Result {
		r := &result.Result{Measured: 10 * time.Second, Workloads: []fio.Workload{{TimeBased: true, Ramp: 5 * time.Second}}}
		r.Total.Read.N, r.Total.Write.N = 600, 400
		r.Disks = []fio.Disk{{Name: "md0", Reads: 9999}, {Name: "a", Member: true, Reads: 900, Writes: 600}, {Name: "b", Member: true, Reads: 1000, Writes: 500}}
		how(r)
		return r
	}
	for name, c := range map[string]struct {
		how  func(*result.Result)
		want float64
	}{
		"twice as many":        {func(*result.Result) {}, 2},
		"without a ramp":       {func(r *result.Result) { r.Workloads[0].Ramp = 0 }, 3},
		"nothing issued":       {func(r *result.Result) { r.Total = fio.Job{} }, 0},
		"no members":           {func(r *result.Result) { r.Disks = r.Disks[:1] }, 0},
		"the time is unknown":  {func(r *result.Result) { r.Measured = 0 }, 0},
		"no job":               {func(r *result.Result) { r.Workloads = nil }, 0},
		"a job that names all": {func(r *result.Result) { r.Workloads[0].TimeBased, r.Workloads[0].Size = false, 1 }, 2},
		"by its runtime":       {func(r *result.Result) { r.Workloads[0].TimeBased, r.Workloads[0].Runtime = false, 1 }, 2},
		"a job that says none": {func(r *result.Result) { r.Workloads[0].TimeBased = false }, 0},
	} {
		if got := SplitSeen(of(c.how)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Documents that are missing around the end of the ramp: a gap of more than a fiftieth of the run.
func TestLooseEdgeByHand(t *testing.T) {
	for gap, want := range map[time.Duration]bool{0: false, 200 * ms: false, 201 * ms: true} {
		m := Measurement{Result: &result.Result{Measured: 10 * time.Second, Seconds: []result.Second{
			{At: time.Second, Len: time.Second, Ramp: true}, {At: 2*time.Second + gap, Len: time.Second},
		}}}
		if m.LooseEdge() != want {
			t.Errorf("a gap of %v: %t", gap, !want)
		}
		m.Seconds = m.Seconds[1:]
		if m.LooseEdge() {
			t.Error("without a ramp there is no edge")
		}
	}
}

// The mounts of devices under test, once each, with the roles on them.
func TestMountsUnderTest(t *testing.T) {
	c := &Case{Topology: &topology.Topology{
		Targets: []topology.Target{
			{Role: topology.Data, Array: "md0", Device: "md0", Mount: &block.Mount{Point: "/data", Device: "md0"}},
			{Role: topology.WAL, Array: "md0", Mount: &block.Mount{Point: "/wal", Device: "dm-1"}},
			{Role: topology.Data, Array: "declared", Mount: &block.Mount{Point: "/d"}},
			{Role: topology.WAL, Mount: &block.Mount{Point: "/nowhere"}},
			{Role: topology.WAL, Device: "md0"},
		},
		Arrays: []topology.Array{{Name: "md0"}, {Name: "declared"}},
		Tree: &block.Tree{Mounts: []block.Mount{
			{Point: "/data", Device: "md0"}, {Point: "/again", Device: "md0"}, {Point: "/other", Device: "sda"}, {Point: "/wal2", Device: "dm-1"},
		}},
	}}
	var got []string
	for _, m := range c.Mounts() {
		name := "none"
		if m.Array != nil {
			name = m.Array.Name
		}
		var roles []string
		for _, r := range m.Roles {
			roles = append(roles, string(r))
		}
		got = append(got, m.Point+" "+m.Device+" "+name+" "+strings.Join(roles, "+"))
	}
	want := []string{
		"/data md0 md0 data+wal+wal", "/wal dm-1 md0 wal", "/d declared declared data", "/again md0 md0 data+wal+wal", "/wal2 dm-1 md0 wal",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&Case{}).Mounts(); got != nil {
		t.Errorf("without a topology: %v", got)
	}
}

// The array of a run: that of its role, or the only one.
func TestArrayOfARun(t *testing.T) {
	two := &topology.Topology{
		Targets: []topology.Target{{Role: topology.Data, Array: "a"}, {Role: topology.WAL, Array: "gone"}},
		Arrays:  []topology.Array{{Name: "a"}, {Name: "b"}},
	}
	one := &topology.Topology{Targets: two.Targets, Arrays: two.Arrays[1:]}
	for name, c := range map[string]struct {
		t    *topology.Topology
		role topology.Role
		want string
	}{
		"of its role":        {two, topology.Data, "a"},
		"of two, not known":  {two, topology.WAL, ""},
		"the only one":       {one, topology.WAL, "b"},
		"the only one, data": {one, topology.Data, "b"},
		"no topology":        {nil, topology.Data, ""},
	} {
		cs := &Case{Topology: c.t}
		m := Measurement{Result: &result.Result{}}
		m.Scenario.Role, m.Scenario.ID = c.role, 7
		got := ""
		if a := cs.ArrayOf(m); a != nil {
			got = a.Name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		cs.Runs = []Measurement{m, {}}
		if ids := cs.ScenariosOn("a"); slices.Equal(ids, []int{7}) != (c.want == "a") {
			t.Errorf("%s: %v run on a", name, ids)
		}
	}
	if got := (&Case{}).Device("sda"); got != nil {
		t.Error("a device without a tree")
	}
}

// Names and origins as sentences have them.
func TestLabelsOfMeasurements(t *testing.T) {
	m := Measurement{Result: &result.Result{Name: "from a file"}}
	for _, c := range []struct {
		id   int
		name string
		want string
	}{{0, "", "from a file"}, {0, "reads", "reads"}, {6, "sync", "6 sync"}, {6, "", "6 from a file"}} {
		m.Scenario.ID, m.Scenario.Name = c.id, c.name
		if got := m.Label(); got != c.want {
			t.Errorf("%d %q: %q, want %q", c.id, c.name, got, c.want)
		}
	}
	m.Scenario.ID, m.Scenario.Name, m.Result = 6, "", nil
	if got := m.Label(); got != "6" {
		t.Errorf("without a result: %q", got)
	}
	if Origin(topology.Origin{Kind: topology.Declared}) != "declared" || Origin(topology.Origin{Kind: topology.Catalogue, Where: "x"}) != "catalogue, x" {
		t.Error("origins")
	}
	one := Join(nil, finding.Finding{Code: "PL1", Scenarios: []int{1}})
	if two := Join(one, finding.Finding{Scenarios: []int{2}, Evidence: []finding.Evidence{{}}}); two != one || !slices.Equal(two.Scenarios, []int{1, 2}) || len(two.Evidence) != 1 {
		t.Errorf("%+v", two)
	}
}

// What a volume was ordered with, of 8 KiB reads while its burst lasts.
func TestOrderedIOPS(t *testing.T) {
	a := &topology.Array{Volumes: []topology.Volume{{Device: "a"}}}
	v := &a.Volumes[0]
	for name, c := range map[string]struct {
		set  func()
		want units.IOPS
	}{
		"nothing":          {func() {}, 0},
		"sustained":        {func() { v.Sustained.IOPS = 3000 }, 3000},
		"its burst":        {func() { v.Burst.IOPS = 5000 }, 5000},
		"its read rate":    {func() { v.Sustained.ReadIOPS = 4000 }, 4000},
		"its throughput":   {func() { v.Sustained.Rate = units.Rate(1000 * 8 * units.KiB) }, 1000},
		"the burst's rate": {func() { v.Burst.Rate = units.Rate(2000 * 8 * units.KiB) }, 2000},
	} {
		*v = topology.Volume{Device: "a"}
		if name != "nothing" && name != "sustained" && name != "its burst" {
			v.Sustained.IOPS = 6000
		}
		c.set()
		if got := orderedIOPS(a, "a"); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := orderedIOPS(a, "b"); got != 0 {
		t.Errorf("another device: %v", got)
	}
	v.Sustained.IOPS, v.Burst.Rate, v.Sustained.Rate = 1000, 0, 0
	p := Probe{Members: []Probed{{Device: "a", Together: 899}, {Device: "x", Together: 900}, {Device: "y", Together: 2000}, {Device: "z", Together: 1799}}}
	if got := p.Short(a); !slices.Equal(got, []int{0, 1, 3}) {
		t.Errorf("%v: below 900 of 1,000, below nine tenths of the best", got)
	}
}
