package diagnose

import (
	"math"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const ms = time.Millisecond

// run is a minute of one job of reads, with so many IOPS and a mean latency, of which depth are in flight.
func run(iops float64, mean time.Duration, depth int) Measurement {
	r := &result.Result{
		State:     result.Done,
		Measured:  time.Minute,
		Workloads: []fio.Workload{{ReadShare: 1, Direct: true, Jobs: 1, Depth: depth}},
	}
	r.Total.Read = fio.Direction{
		N:       uint64(iops * 60),
		IOPS:    units.IOPS(iops),
		Runtime: time.Minute,
		Lat:     fio.Latency{Mean: float64(mean), N: 1},
	}
	return Measurement{Scenario: suite.Scenario{Role: topology.Data}, Result: r}
}

// pool is a stripe of n volumes that state latencies; it is the only array.
func pool(n int, read, write time.Duration) *Case {
	a := topology.Array{Name: "md0", Level: topology.RAID0}
	for i := range n {
		a.Volumes = append(a.Volumes, topology.Volume{Device: string(rune('a' + i)), ReadLatency: read, WriteLatency: write})
	}
	return &Case{Topology: &topology.Topology{Arrays: []topology.Array{a}}}
}

// The mean latency is weighted by I/Os, of all that was recorded; completion stands for the whole where only that is.
func TestMeanLatencyOfARun(t *testing.T) {
	d := func(iops float64, ran time.Duration, lat, clat float64) fio.Direction {
		return fio.Direction{IOPS: units.IOPS(iops), Runtime: ran, Lat: fio.Latency{Mean: lat}, Clat: fio.Latency{Mean: clat}}
	}
	for name, c := range map[string]struct {
		read, write fio.Direction
		want        float64
	}{
		"nothing":                   {fio.Direction{}, fio.Direction{}, 0},
		"reads":                     {d(100, time.Minute, 5000, 4000), fio.Direction{}, 5000},
		"completion alone":          {d(100, time.Minute, 0, 4000), fio.Direction{}, 4000},
		"three reads for a write":   {d(300, time.Minute, 1000, 0), d(100, time.Minute, 5000, 0), 2000},
		"writes of half the time":   {d(100, time.Minute, 1000, 0), d(200, 30*time.Second, 5000, 0), 3000},
		"writes without a latency":  {d(300, time.Minute, 1000, 0), d(100, time.Minute, 0, 0), 1000},
		"the runtime is not known":  {d(300, 0, 1000, 0), d(100, 0, 5000, 0), 2000},
		"reads of no rate, a write": {d(0, time.Minute, 1000, 0), d(100, time.Minute, 5000, 0), 5000},
	} {
		m := Measurement{Result: &result.Result{Total: fio.Job{Read: c.read, Write: c.write}}}
		if got := m.MeanLatency(); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// What the jobs may keep in flight: by their options, by the result's own depth, by fio's rows.
func TestInFlightOfARun(t *testing.T) {
	rows := []fio.Job{{Count: 4, Target: &fio.Target{Depth: 8}}, {Target: &fio.Target{Depth: 2}}, {Count: 9}}
	for name, c := range map[string]struct {
		loads []fio.Workload
		asked int
		rows  []fio.Job
		want  int
	}{
		"nothing is known":           {nil, 0, nil, 0},
		"four jobs of 32":            {[]fio.Workload{{ReadShare: 1, Jobs: 4, Depth: 32}}, 7, rows, 128},
		"two sections":               {[]fio.Workload{{ReadShare: 1, Jobs: 4, Depth: 32}, {ReadShare: 1, Jobs: 1, Depth: 3}}, 7, nil, 131},
		"a sync after each write":    {[]fio.Workload{{Jobs: 4, Depth: 32, SyncEvery: 1}}, 7, nil, 4},
		"one job, not counted":       {[]fio.Workload{{Depth: 32, SyncEvery: 1}}, 7, nil, 1},
		"after every second write":   {[]fio.Workload{{Jobs: 4, Depth: 32, SyncEvery: 2}}, 7, nil, 128},
		"reads beside synced writes": {[]fio.Workload{{ReadShare: 0.5, Jobs: 4, Depth: 32, SyncEvery: 1}}, 7, nil, 128},
		"a depth that is not named":  {[]fio.Workload{{ReadShare: 1, Jobs: 4, Depth: 32}, {DepthOpen: true, Jobs: 1, Depth: 1}}, 7, rows, 7},
		"not by the result either":   {[]fio.Workload{{DepthOpen: true, Jobs: 1, Depth: 1}}, 0, rows, 34},
	} {
		m := Measurement{Result: &result.Result{Workloads: c.loads, Depth: result.Depth{Asked: c.asked}, Jobs: c.rows}}
		if got := m.InFlight(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A run syncs by its options, or by half as many syncs as writes.
func TestRunsThatSync(t *testing.T) {
	for name, c := range map[string]struct {
		load          fio.Workload
		writes, syncs uint64
		want          bool
	}{
		"writes":               {fio.Workload{}, 100, 0, false},
		"half":                 {fio.Workload{}, 100, 50, true},
		"less than half":       {fio.Workload{}, 100, 49, false},
		"one write, no sync":   {fio.Workload{}, 1, 0, false},
		"no writes, syncs":     {fio.Workload{}, 0, 5, false},
		"fdatasync":            {fio.Workload{SyncEvery: 8}, 100, 0, true},
		"sync=1":               {fio.Workload{SyncWrites: true}, 100, 0, true},
		"reads of a sync file": {fio.Workload{ReadShare: 1}, 0, 0, false},
	} {
		m := Measurement{Result: &result.Result{Workloads: []fio.Workload{c.load}}}
		m.Total.Write.N, m.Total.Sync.Lat.N = c.writes, c.syncs
		if got := m.Syncs(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A window is too short for an interval below ten seconds, and where it has one it is not.
func TestTooShortToJudge(t *testing.T) {
	with := stats.Estimate{N: 10}
	for name, c := range map[string]struct {
		measured time.Duration
		of       stats.Estimate
		want     bool
	}{
		"nothing measured": {0, stats.Estimate{}, false},
		"9.999 s":          {LeastForInterval - ms, stats.Estimate{}, true},
		"10 s":             {LeastForInterval, stats.Estimate{}, false},
		"5 s, an interval": {5 * time.Second, with, false},
		"1 ns":             {1, stats.Estimate{}, true},
	} {
		if got := (Measurement{Result: &result.Result{Measured: c.measured, IOPS: c.of}}).TooShort(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if (Measurement{}).TooShort() {
		t.Error("without a result")
	}
}

// Runs that are judged are fio's, and done.
func TestRunsThatAreJudged(t *testing.T) {
	c := &Case{}
	for i, state := range []result.State{result.Done, result.Waiting, result.Interrupted, result.Invalid} {
		c.Runs = append(c.Runs, Measurement{Scenario: suite.Scenario{ID: i + 1}, Result: &result.Result{State: state}})
	}
	c.Runs = append(
		c.Runs,
		Measurement{Scenario: suite.Scenario{ID: 5}},
		Measurement{
			Scenario: suite.Scenario{ID: 6},
			Result:   &result.Result{State: result.Done, Postgres: &result.Postgres{}},
		},
	)
	var got []int
	for _, m := range c.Measured() {
		got = append(got, m.IDs()...)
	}
	if !slices.Equal(got, []int{1, 4}) {
		t.Errorf("%v", got)
	}
}

// Seconds that count: from the ramp's end to the end of the time that the job states.
func TestSettledSeconds(t *testing.T) {
	second := func(at float64, ramp bool, n uint64) result.Second {
		return result.Second{At: time.Duration(at * 1e9), Len: time.Second, Ramp: ramp, Read: result.Interval{N: n}}
	}
	r := &result.Result{Seconds: []result.Second{second(1, true, 1), second(2, true, 1)}}
	if got := Settled(r); got != nil {
		t.Errorf("only a ramp: %v", got)
	}
	for k := 3; k <= 9; k++ {
		r.Seconds = append(r.Seconds, second(float64(k), false, uint64(100*k)))
	}
	if got := Settled(r); len(got) != 7 || got[0].At != 3*time.Second {
		t.Errorf("no time is stated: %v", got)
	}
	r.Workloads = []fio.Workload{{TimeBased: true, Runtime: 5 * time.Second}}
	if got := Settled(r); len(got) != 5 || got[4].At != 7*time.Second {
		t.Errorf("5 s: %v", got)
	}
	if got := rateAtEnd(r); got != 500 {
		t.Errorf("the last five: %v, want the median of 300 to 700", got)
	}
	r.Seconds[7].At += 500 * ms // 8.5 s is past the end by half a second more than counts
	r.Workloads[0].Runtime = 6 * time.Second
	if got := Settled(r); len(got) != 6 {
		t.Errorf("8.5 s of 8: %d", len(got))
	}
	r.Seconds[7].At++
	if got := Settled(r); len(got) != 5 {
		t.Errorf("beyond 8.5 s: %d", len(got))
	}
	r.Workloads[0].Runtime = 4 * time.Second
	if got := rateAtEnd(r); got != 0 {
		t.Errorf("four seconds are too few: %v", got)
	}
}

// Sections that begin or end in mid-run, and jobs that failed.
func TestStagedAndFailed(t *testing.T) {
	for name, c := range map[string]struct {
		loads []fio.Workload
		want  bool
	}{
		"one":        {[]fio.Workload{{Runtime: time.Minute}}, false},
		"two alike":  {[]fio.Workload{{Runtime: time.Minute}, {Runtime: time.Minute}}, false},
		"another":    {[]fio.Workload{{Runtime: time.Minute}, {Runtime: time.Second}}, true},
		"later":      {[]fio.Workload{{Runtime: time.Minute, StartDelay: 1}}, true},
		"stonewalls": {[]fio.Workload{{Runtime: time.Minute}, {Runtime: time.Minute, Stonewall: true}}, true},
		"none":       {nil, false},
	} {
		if got := (Measurement{Result: &result.Result{Workloads: c.loads}}).Staged(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for _, code := range []int{0, 5} {
		m := Measurement{Result: &result.Result{Jobs: []fio.Job{{}, {Error: code}}}}
		if m.Failed() != (code != 0) {
			t.Errorf("errno %d", code)
		}
	}
}

// The most that a mean may be without a queue: twice what the volumes state, and where they do not, or the job
// syncs, what EBS takes.
func TestRestingLatency(t *testing.T) {
	for name, c := range map[string]struct {
		c    *Case
		load fio.Workload
		want time.Duration
	}{
		"nothing stated":            {pool(2, 0, 0), fio.Workload{ReadShare: 1}, 1500 * time.Microsecond},
		"no array":                  {&Case{}, fio.Workload{ReadShare: 1}, 1500 * time.Microsecond},
		"reads":                     {pool(2, 500*time.Microsecond, 2*ms), fio.Workload{ReadShare: 1}, ms},
		"writes":                    {pool(2, 500*time.Microsecond, 2*ms), fio.Workload{}, 4 * ms},
		"both":                      {pool(2, 5*ms, 2*ms), fio.Workload{ReadShare: 0.5}, 10 * ms},
		"synced, stated low":        {pool(2, 0, ms), fio.Workload{SyncEvery: 1}, 3 * ms},
		"synced, stated high":       {pool(2, 0, 2*ms), fio.Workload{SyncEvery: 1}, 4 * ms},
		"synced and nothing stated": {pool(2, 0, 0), fio.Workload{SyncEvery: 1}, 3 * ms},
	} {
		m := Measurement{
			Scenario: suite.Scenario{Role: topology.Data},
			Result:   &result.Result{Workloads: []fio.Workload{c.load}},
		}
		if got := c.c.restingLatency(m); got != float64(c.want) {
			t.Errorf("%s: %v, want %v", name, time.Duration(got), c.want)
		}
	}
}

// A closed loop that keeps its depth, no deeper than 16 a volume, without a queue's latency.
func TestBoundByConcurrency(t *testing.T) {
	with := func(m Measurement, bounds ...ceiling.Bound) Measurement {
		m.Ceiling = &ceiling.Ceiling{Bounds: bounds}
		return m
	}
	of := func(kind ceiling.Kind, iops float64, from topology.OriginKind) ceiling.Bound {
		return ceiling.Bound{Kind: kind, IOPS: units.IOPS(iops), Origin: topology.Origin{Kind: from}}
	}
	change := func(m Measurement, how func(*Measurement)) Measurement {
		how(&m)
		return m
	}
	for name, c := range map[string]struct {
		m    Measurement
		want bool
	}{
		"16 at 1 ms":                  {run(16_000, ms, 16), true},
		"85 % of the depth":           {run(13_600, ms, 16), true},
		"84 % of the depth":           {run(13_500, ms, 16), false},
		"32 on two volumes":           {run(32_000, ms, 32), true},
		"33 on two volumes":           {run(33_000, ms, 33), false},
		"the most without a queue":    {run(1000, 1500*time.Microsecond, 1), true},
		"a queue's latency":           {run(1000, 1501*time.Microsecond, 1), false},
		"no depth":                    {change(run(16_000, ms, 16), func(m *Measurement) { m.Workloads = nil }), false},
		"no latency":                  {run(16_000, 0, 16), false},
		"paced":                       {change(run(16_000, ms, 16), func(m *Measurement) { m.Paced = true }), false},
		"buffered":                    {change(run(16_000, ms, 16), func(m *Measurement) { m.Workloads[0].Buffered = true }), false},
		"at the hardware's limit":     {with(run(16_000, ms, 16), of(ceiling.VolumeIOPS, 16_000, "")), false},
		"below the hardware's limit":  {with(run(16_000, ms, 16), of(ceiling.VolumeIOPS, 17_000, "")), true},
		"a stated latency, a queue":   {with(run(4000, 16*ms, 64), of(ceiling.Concurrency, 4000, topology.Declared)), true},
		"not what it allows":          {with(run(3300, 16*ms, 64), of(ceiling.Concurrency, 4000, topology.Declared)), false},
		"its own latency, a queue":    {with(run(4000, 16*ms, 64), of(ceiling.Concurrency, 4000, topology.Measured)), false},
		"its own, one a volume":       {with(run(1000, 2*ms, 2), of(ceiling.Concurrency, 1000, topology.Measured)), true},
		"its own, without a queue":    {with(run(3400, ms, 4), of(ceiling.Concurrency, 4000, topology.Measured)), true},
		"another limit stands before": {with(run(3000, 16*ms, 64), of(ceiling.VolumeIOPS, 4000, ""), of(ceiling.Concurrency, 4000, topology.Declared)), false},
	} {
		if got := pool(2, 0, 0).IsConcurrencyBound(c.m); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
		if kept := pool(
			2,
			0,
			0,
		).KeepsItsDepth(
			c.m,
		); name == "84 % of the depth" && kept ||
			name == "85 % of the depth" && !kept {
			t.Errorf("%s: keeps its depth: %t", name, kept)
		}
	}
}

// Time above a limit, as the volumes count it: the largest share and which limit, from a twentieth on.
func TestExceededLimits(t *testing.T) {
	for name, c := range map[string]struct {
		wall, measured time.Duration
		ebs            map[string]cloud.EBSStats
		of             func(cloud.EBSStats) (iops, rate time.Duration)
		what           string
		share          float64
		evidence       int
	}{
		"nothing":               {time.Minute, 0, nil, OfVolume, "", 0, 0},
		"a twentieth":           {100 * time.Second, time.Minute, map[string]cloud.EBSStats{"a": {VolumeIOPSExceeded: 5 * time.Second}}, OfVolume, "IOPS", 0.05, 1},
		"less":                  {100 * time.Second, time.Minute, map[string]cloud.EBSStats{"a": {VolumeIOPSExceeded: 4999 * ms}}, OfVolume, "", 0, 0},
		"of the measured":       {0, 100 * time.Second, map[string]cloud.EBSStats{"a": {VolumeRateExceeded: 10 * time.Second}}, OfVolume, "throughput", 0.1, 1},
		"no time":               {0, 0, map[string]cloud.EBSStats{"a": {VolumeRateExceeded: 10 * time.Second}}, OfVolume, "", 0, 0},
		"the larger of two":     {100 * time.Second, 0, map[string]cloud.EBSStats{"a": {VolumeIOPSExceeded: 10 * time.Second, VolumeRateExceeded: 20 * time.Second}, "b": {VolumeIOPSExceeded: 15 * time.Second}}, OfVolume, "throughput", 0.2, 3},
		"more than all of it":   {10 * time.Second, 0, map[string]cloud.EBSStats{"a": {VolumeIOPSExceeded: 20 * time.Second}}, OfVolume, "IOPS", 1, 1},
		"the instance's":        {100 * time.Second, 0, map[string]cloud.EBSStats{"a": {VolumeIOPSExceeded: 50 * time.Second, InstanceIOPSExceeded: 10 * time.Second, InstanceRateExceeded: 5 * time.Second}}, OfMachine, "IOPS", 0.1, 2},
		"a local drive's":       {100 * time.Second, 0, map[string]cloud.EBSStats{"a": {Local: true, InstanceIOPSExceeded: 10 * time.Second}}, OfVolume, "IOPS", 0.1, 1},
		"not of the machine":    {100 * time.Second, 0, map[string]cloud.EBSStats{"a": {Local: true, InstanceIOPSExceeded: 10 * time.Second, InstanceRateExceeded: 10 * time.Second}}, OfMachine, "", 0, 0},
		"a local drive's, rate": {100 * time.Second, 0, map[string]cloud.EBSStats{"a": {Local: true, InstanceRateExceeded: 10 * time.Second}}, OfVolume, "throughput", 0.1, 1},
	} {
		what, share, ev := (Measurement{Result: &result.Result{Wall: c.wall, Measured: c.measured, EBS: c.ebs}}).Exceeded(
			c.of,
		)
		if what != c.what || math.Abs(share-c.share) > 1e-12 || len(ev) != c.evidence {
			t.Errorf("%s: %q %v, %d; want %q %v, %d", name, what, share, len(ev), c.what, c.share, c.evidence)
		}
	}
}

// The bounds that a short test meets, and what lasts of them.
func TestBoundsOfTheHardware(t *testing.T) {
	volume := ceiling.Bound{Kind: ceiling.VolumeIOPS, Name: "a", IOPS: 3000}
	burst := ceiling.Bound{Kind: ceiling.VolumeIOPS, Name: "a", IOPS: 12_000, Burst: true}
	instance := ceiling.Bound{Kind: ceiling.InstanceIOPS, IOPS: 4000}
	loop := ceiling.Bound{Kind: ceiling.Concurrency, IOPS: 100}
	for name, c := range map[string]struct {
		bounds        []ceiling.Bound
		first, lasts  units.IOPS
		volumes, ofVM bool
	}{
		"none":                     {nil, 0, 0, false, false},
		"a loop alone":             {[]ceiling.Bound{loop}, 0, 0, false, false},
		"an instance":              {[]ceiling.Bound{loop, instance}, 4000, 0, false, true},
		"volumes":                  {[]ceiling.Bound{loop, volume}, 3000, 0, true, false},
		"a burst and its baseline": {[]ceiling.Bound{volume, burst}, 12_000, 3000, true, false},
		"a burst alone":            {[]ceiling.Bound{burst}, 12_000, 0, true, false},
		"an instance below":        {[]ceiling.Bound{volume, instance, burst}, 4000, 0, true, true},
		"of no IOPS":               {[]ceiling.Bound{{Kind: ceiling.VolumeIOPS}}, 0, 0, true, false},
	} {
		of := &ceiling.Ceiling{Bounds: c.bounds}
		b, ok := Hardware(of)
		low, dry := lasting(of)
		if b.IOPS != c.first || ok != (c.first > 0) || low.IOPS != c.lasts || dry != (c.lasts > 0) ||
			VolumesKnown(of) != c.volumes ||
			OfInstance(b) != c.ofVM {
			t.Errorf(
				"%s: %v %t, %v %t, volumes %t, instance %t",
				name,
				b.IOPS,
				ok,
				low.IOPS,
				dry,
				VolumesKnown(of),
				OfInstance(b),
			)
		}
	}
	if _, ok := Hardware(nil); ok {
		t.Error("no ceiling has a bound")
	}
	for iops, want := range map[float64]bool{2850: true, 2849: false, 3000: true} {
		m := run(iops, ms, 1)
		m.Ceiling = &ceiling.Ceiling{Bounds: []ceiling.Bound{volume}}
		if m.Reached() != want {
			t.Errorf("%v of 3,000: %t", iops, !want)
		}
	}
}

// A volume is slow by itself: it is not loaded, it takes thrice what is stated, or most I/Os are later than
// the scenario asks for.
func TestSlowByItself(t *testing.T) {
	asks := suite.Threshold{
		Text:   "read.clat.p50 < 2ms",
		Metric: suite.Metric{Quantity: suite.Clat},
		Limit:  suite.Value{Latency: units.LatencyOf(2 * ms)},
	}
	median := func(m Measurement, p50 time.Duration) Measurement {
		m.Total.Read.Clat.Percentiles = []fio.Percentile{{P: 50, Value: p50}}
		m.Scenario.Thresholds = []suite.Threshold{asks}
		return m
	}
	touched := pool(1, 0, 0)
	touched.Touches = []Touch{{Device: "a", Paired: stats.Paired{Claimed: true}}}
	elsewhere := pool(1, 0, 0)
	elsewhere.Touches = []Touch{
		{Device: "x", Paired: stats.Paired{Claimed: true}},
		{Device: "a"},
		{Device: "a", File: "f", Paired: stats.Paired{Claimed: true}},
	}
	for name, c := range map[string]struct {
		c    *Case
		m    Measurement
		want bool
	}{
		"not loaded":                      {touched, run(1000, ms, 1), true},
		"not loaded, and written to":      {touched, Measurement{Result: &result.Result{Workloads: []fio.Workload{{}}}}, false},
		"another device, and other files": {elsewhere, run(1000, ms, 1), false},
		"thrice what is stated":           {pool(1, ms, 0), run(333, 3*ms, 1), false},
		"more":                            {pool(1, ms, 0), run(333, 3*ms+1, 1), true},
		"more, under a queue":             {pool(1, ms, 0), run(666, 3*ms+1, 2), false},
		"later than asked":                {pool(1, 0, 0), median(run(400, 2500*time.Microsecond, 1), 2*ms+1), true},
		"the median is not":               {pool(1, 0, 0), median(run(400, 2500*time.Microsecond, 1), 2*ms), false},
		"the median is not known":         {pool(1, 0, 0), median(run(400, 2500*time.Microsecond, 1), 0), true},
		"as asked":                        {pool(1, 0, 0), median(run(500, 2*ms, 1), 3*ms), false},
		"later, under a queue":            {pool(1, 0, 0), median(run(800, 2500*time.Microsecond, 2), 3*ms), false},
	} {
		if _, got := c.c.SlowItself(c.m); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What is left to load, at a depth of 32, and when a test tells anything.
func TestTouchesTell(t *testing.T) {
	touch := Touch{
		Device: "/dev/a",
		Pieces: 64_000,
		Paired: stats.Paired{Pairs: 60, Share: 0.5, Low: 0.4, High: 0.6, First: 10e6, Again: 1e6, Claimed: true},
	}
	if got := touch.Left(); got != 10*time.Second {
		t.Errorf("%v: want 32,000 pieces of 10 ms, 32 at a time", got)
	}
	if got := touch.Sentence(); got != "About 50.0 % (40.0 % to 60.0 %) of /dev/a is not loaded from its snapshot: first reads 10 ms, others 1 ms; plimsoll array warm loads it in about 10 s." {
		t.Error(got)
	}
	touch.Claimed, touch.File = false, "/data/f"
	if got := touch.Sentence(); !touch.Tells() || got != "/data/f is fully loaded (first reads 10 ms, others 1 ms)." {
		t.Error(got)
	}
	touch.Pairs = 59
	if got := touch.Sentence(); touch.Tells() ||
		got != "Cannot tell whether /data/f has been fully loaded from its snapshot: it is too small to tell." {
		t.Error(got)
	}
}

// device is what the sampler saw of one.
func device(name string, reads, writes uint64, readWait, writeWait time.Duration) telemetry.DeviceUse {
	return telemetry.DeviceUse{Name: name, Reads: reads, Writes: writes, ReadWait: readWait, WriteWait: writeWait}
}

// The members of an array with what they did: from the sampler where it saw two at least, else from fio.
func TestLoadsOfMembers(t *testing.T) {
	c := pool(3, 0, 0)
	m := run(1000, ms, 8)
	m.Devices = []telemetry.DeviceUse{
		device("md0", 400, 0, ms, 0),
		device("a", 300, 100, ms, 3*ms),
		device("b", 0, 0, 0, 0),
		device("", 9, 9, 0, 0),
	}
	m.Disks = []fio.Disk{
		{Name: "md0", Reads: 400},
		{Name: "a", Member: true, Reads: 300, Writes: 100, ReadTicks: 300, WriteTicks: 100},
		{Name: "x", Member: true, Reads: 10, ReadTicks: 20},
		{Name: "c", Writes: 4, WriteTicks: 2},
		{Name: "b", Member: true},
	}
	if got, want := c.leaves(
		m,
	), []Load{
		{"a", 400, 1e6, 0},
		{"x", 10, 2e6, 0},
		{"c", 4, 0.5e6, 0},
	}; !slices.Equal(
		got,
		want,
	) {
		t.Errorf("one member seen by the sampler: %+v", got)
	}
	if got := c.MemberIOs(m); len(got) != 2 || got[0].N != 400 || got[1].N != 0 {
		t.Errorf("with those at rest: %+v", got)
	}
	m.Devices[2] = device("b", 1, 0, 5*ms, 0)
	if got, want := c.leaves(m), []Load{{"a", 400, 1.5e6, 0}, {"b", 1, 5e6, 0}}; !slices.Equal(got, want) {
		t.Errorf("two members: %+v", got)
	}
	m.Devices = m.Devices[:2]
	if got := c.MemberIOs(m); len(got) != 4 {
		t.Errorf("fio's members: %+v", got)
	}
}

// Members at rest: below a hundredth of the mean, where enough was done to tell, and nothing explains it.
func TestMembersAtRest(t *testing.T) {
	did := func(n ...uint64) Measurement {
		m := run(1000, ms, 8)
		for i, n := range n {
			m.Devices = append(m.Devices, device(string(rune('a'+i)), n, 0, ms, 0))
		}
		return m
	}
	level := func(l topology.Level, syncing string) *Case {
		c := pool(3, 0, 0)
		c.Topology.Arrays[0].Level, c.Topology.Arrays[0].Syncing = l, syncing
		return c
	}
	change := func(m Measurement, how func(*result.Result)) Measurement {
		how(m.Result)
		return m
	}
	for name, c := range map[string]struct {
		c          *Case
		m          Measurement
		idle, rest []string
	}{
		"none":                      {level(topology.RAID0, ""), did(1000, 1000, 1000), nil, nil},
		"one":                       {level(topology.RAID0, ""), did(2000, 2000, 0), []string{"c"}, []string{"c"}},
		"a hundredth of the mean":   {level(topology.RAID0, ""), did(1490, 1495, 15), nil, []string(nil)},
		"a hundredth":               {level(topology.RAID0, ""), did(14_850, 14_850, 150), nil, nil},
		"just below":                {level(topology.RAID0, ""), did(14_850, 14_850, 99), []string{"c"}, []string{"c"}},
		"too few":                   {level(topology.RAID0, ""), did(1500, 1499, 0), nil, nil},
		"enough":                    {level(topology.RAID0, ""), did(1500, 1500, 0), []string{"c"}, []string{"c"}},
		"linear":                    {level(topology.Linear, ""), did(2000, 2000, 0), nil, nil},
		"mirrors, deep":             {level(topology.RAID1, ""), did(2000, 2000, 0), []string{"c"}, []string{"c"}},
		"mirrors, three in flight":  {level(topology.RAID1, ""), change(did(2000, 2000, 0), func(r *result.Result) { r.Workloads[0].Depth = 3 }), nil, nil},
		"mirrors, four in flight":   {level(topology.RAID1, ""), change(did(2000, 2000, 0), func(r *result.Result) { r.Workloads[0].Depth = 4 }), []string{"c"}, []string{"c"}},
		"mirrors that are written":  {level(topology.RAID1, ""), change(did(2000, 2000, 0), func(r *result.Result) { r.Workloads[0].Depth, r.Workloads[0].ReadShare = 3, 0.5 }), []string{"c"}, []string{"c"}},
		"mirrors in a resync":       {level(topology.RAID1, "resync"), did(2000, 2000, 0), nil, []string{"c"}},
		"mirrors with nothing left": {level(topology.RAID1, IdleSync), did(2000, 2000, 0), []string{"c"}, []string{"c"}},
		"a stripe in a check":       {level(topology.RAID5, "check"), did(2000, 2000, 0), []string{"c"}, []string{"c"}},
		"fio did not see all": {level(topology.RAID0, ""), change(did(), func(r *result.Result) {
			r.DisksPartial = "why"
			r.Disks = []fio.Disk{{Name: "a", Reads: 5000}, {Name: "b"}}
		}), nil, nil},
		"fio saw all": {level(topology.RAID0, ""), change(did(), func(r *result.Result) { r.Disks = []fio.Disk{{Name: "a", Reads: 5000}, {Name: "b"}} }), []string{"b"}, []string{"b"}},
	} {
		idle, _ := c.c.IdleMembers(c.m)
		rest, _ := c.c.restingMembers(c.m)
		if name == "a hundredth of the mean" { // 15 of a mean of 1,000
			if len(rest) > 0 {
				t.Errorf("%s: %q", name, rest)
			}
			continue
		}
		if !slices.Equal(idle, c.idle) || !slices.Equal(rest, c.rest) {
			t.Errorf("%s: %q, %q; want %q, %q", name, idle, rest, c.idle, c.rest)
		}
	}
}

// What one I/O takes when nothing queues: by a bound that states it, else by the volumes, weighted by what ran.
func TestTypicalLatency(t *testing.T) {
	stated := ceiling.Ceiling{
		Bounds: []ceiling.Bound{{Kind: ceiling.Concurrency, Demand: 0.004, Origin: topology.Origin{Kind: topology.Declared}}},
	}
	own := ceiling.Ceiling{
		Bounds: []ceiling.Bound{{Kind: ceiling.Concurrency, Demand: 0.004, Origin: topology.Origin{Kind: topology.Measured}}},
	}
	for name, c := range map[string]struct {
		c             *Case
		of            ceiling.Ceiling
		reads, writes units.IOPS
		want          time.Duration
	}{
		"stated by a bound":     {pool(2, ms, ms), stated, 100, 0, 4 * ms},
		"its own":               {pool(2, ms, ms), own, 100, 0, ms},
		"reads":                 {pool(2, ms, 2*ms), ceiling.Ceiling{}, 100, 0, ms},
		"writes":                {pool(2, ms, 2*ms), ceiling.Ceiling{}, 0, 100, 2 * ms},
		"three reads a write":   {pool(2, ms, 5*ms), ceiling.Ceiling{}, 300, 100, 2 * ms},
		"nothing ran":           {pool(2, ms, ms), ceiling.Ceiling{}, 0, 0, 0},
		"reads not stated":      {pool(2, 0, ms), ceiling.Ceiling{}, 100, 100, 0},
		"writes not stated":     {pool(2, ms, 0), ceiling.Ceiling{}, 100, 100, 0},
		"writes that never ran": {pool(2, ms, 0), ceiling.Ceiling{}, 100, 0, ms},
		"no volumes":            {pool(0, 0, 0), ceiling.Ceiling{}, 100, 0, 0},
		"no array":              {&Case{}, ceiling.Ceiling{}, 100, 0, 0},
	} {
		m := Measurement{Ceiling: &c.of, Result: &result.Result{}}
		m.Total.Read.IOPS, m.Total.Write.IOPS = c.reads, c.writes
		if got := c.c.typicalLatency(m); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Hosts that fall behind: less than 0.8 of the others, with intervals apart, of three at least.
func TestStragglersOfHosts(t *testing.T) {
	rate := func(center, lo, hi, of float64) FleetRate {
		return FleetRate{Rate: stats.Estimate{Center: center, Lo: lo, Hi: hi, N: 10}, Ceiling: of}
	}
	usual := rate(1000, 990, 1010, 0)
	for name, c := range map[string]struct {
		hosts []FleetRate
		want  []Straggler
	}{
		"799 of 1,000":       {[]FleetRate{usual, rate(799, 790, 810, 0), usual}, []Straggler{{"b", 0.799, 1, false}}},
		"800 of 1,000":       {[]FleetRate{usual, rate(800, 790, 810, 0), usual}, nil},
		"up to their least":  {[]FleetRate{usual, rate(700, 400, 990, 0), usual}, nil},
		"just below":         {[]FleetRate{usual, rate(700, 400, 989, 0), usual}, []Straggler{{"b", 0.7, 1, false}}},
		"of two":             {[]FleetRate{usual, rate(700, 690, 710, 0)}, nil},
		"others are unknown": {[]FleetRate{usual, rate(700, 690, 710, 0), {Rate: stats.Estimate{Center: 1000}}}, nil},
		"two others suffice": {[]FleetRate{usual, rate(700, 690, 710, 0), usual, {Rate: stats.Estimate{Center: 1000}}}, []Straggler{{"b", 0.7, 1, false}}},
		"of its ceiling":     {[]FleetRate{rate(900, 890, 910, 1000), rate(900, 890, 910, 2000), rate(450, 440, 460, 500)}, []Straggler{{"b", 0.45, 0.9, true}}},
		"one ceiling is not known, so by rates": {
			[]FleetRate{rate(900, 890, 910, 1000), rate(900, 890, 910, 0), rate(450, 440, 460, 500)}, []Straggler{{"c", 0.5, 1, false}},
		},
	} {
		for i := range c.hosts {
			c.hosts[i].Host = string(rune('a' + i))
		}
		got := (&FleetScenario{Hosts: c.hosts}).Stragglers()
		if !slices.EqualFunc(got, c.want, func(a, b Straggler) bool {
			return a.Host == b.Host && a.Own == b.Own && math.Abs(a.Of-b.Of) < 1e-12 && math.Abs(a.Others-b.Others) < 1e-12
		}) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	s := FleetScenario{ID: 3, Name: "rand-read"}
	if s.Label() != "3 rand-read" {
		t.Error(s.Label())
	}
}

// Slow members: the worst, and those of the slower half that take thrice what the faster half takes.
func TestSlowMembersOfARun(t *testing.T) {
	waits := func(depth int, each ...time.Duration) Measurement {
		m := run(1000, ms, depth)
		for i, w := range each {
			d := device(string(rune('a'+i)), 1000, 0, w, 0)
			d.Util = float64(i+1) / 10
			m.Devices = append(m.Devices, d)
		}
		return m
	}
	for name, c := range map[string]struct {
		m       Measurement
		slow    string
		peers   float64 // ms
		util    float64
		deep    bool
		gathers string
	}{
		"one of four":          {waits(8, 9*ms, ms, ms, ms), "a", 1, 0.3, true, "a takes 9 ms per request, the peers 1 ms"},
		"two of four":          {waits(8, 3*ms, ms, ms, 9*ms), "da", 1, 0.2, true, "d and a take 9 ms and 3 ms per request, the peers 1 ms"},
		"the second is not":    {waits(8, 2900*time.Microsecond, ms, ms, 9*ms), "d", 1, 0.2, true, "d takes 9 ms per request, the peers 1 ms"},
		"of three":             {waits(8, 9*ms, 4*ms, ms), "ab", 1, 0.25, true, "a and b take 9 ms and 4 ms per request, the peers 1 ms"},
		"twice is enough":      {waits(8, 2*ms, ms), "a", 1, 0.2, true, "a takes 2 ms per request, the peers 1 ms"},
		"less is not":          {waits(8, 1999*time.Microsecond, ms), "a", 1, 0.2, true, ""},
		"one a member":         {waits(2, 9*ms, ms), "a", 1, 0.2, false, "a takes 9 ms per request, the peers 1 ms"},
		"one more":             {waits(3, 9*ms, ms), "a", 1, 0.2, true, "a takes 9 ms per request, the peers 1 ms"},
		"depth is not known":   {waits(0, 9*ms, ms), "a", 1, 0.2, false, "a takes 9 ms per request, the peers 1 ms"},
		"faster than a micros": {waits(8, 1999, 100), "a", 0.0001, 0.2, true, ""},
	} {
		lag, ok := pool(4, 0, 0).LagIn(c.m)
		slow := ""
		for _, d := range lag.Slow {
			slow += d.Name
		}
		_, how := pool(4, 0, 0).Gathers(c.m)
		if name == "depth is not known" { // the workload of run has a depth of 1 at least
			c.deep = false
		}
		if !ok || slow != c.slow || lag.Peers != c.peers*1e6 || math.Abs(lag.PeersUtil-c.util) > 1e-12 ||
			lag.Deep != c.deep ||
			how != c.gathers {
			t.Errorf("%s: %q of peers %v, used %v, deep %t, %q", name, slow, lag.Peers, lag.PeersUtil, lag.Deep, how)
		}
	}
	alone := waits(8, 9*ms)
	if _, ok := pool(4, 0, 0).LagIn(alone); ok {
		t.Error("one member alone has no peers")
	}
	rests := waits(8, 9*ms, ms, ms)
	rests.Devices[0].Reads = 74 // of a mean of 691: 10.7 %
	if _, ok := pool(4, 0, 0).LagIn(rests); !ok {
		t.Error("a tenth of the mean takes part")
	}
	if lag, _ := pool(4, 0, 0).LagIn(rests); lag.Slow[0].Name != "a" {
		t.Errorf("%+v", lag.Slow)
	}
	rests.Devices[0].Reads = 68
	if lag, _ := pool(4, 0, 0).LagIn(rests); lag.Slow[0].Name == "a" {
		t.Errorf("less than a tenth of the mean took no part: %+v", lag.Slow)
	}
}
