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

// scales are those at which nothing may change: figures below one a second, and so large that
// rounding loses whole units.
var scales = []float64{1, 1. / (1 << 20), 1e11 / 3}

// Credits carry a load, and a replay of it is throttled for as long, whatever the unit.
func TestCreditsAtAnyScale(t *testing.T) {
	const rest = 86400
	for _, by := range scales {
		p := pool{Bucket: ceiling.Bucket{Base: 100 * by, Top: 300 * by, Size: 1000 * by, Left: 1000 * by}}
		for name, c := range map[string]struct {
			high, seconds, pause float64
			want                 bool
		}{
			"all of it once a day": {300, 5, rest - 5, true}, "a tenth of a second more": {300, 5.1, rest - 5.1, false},
			"filled between": {300, 5, 10, true}, "filled by half": {300, 5, 5, false}, "below the base": {99, 5, 1, true}, "above the top": {301, 1, rest, false},
		} {
			spans := []span{{need: need{iops: c.high * by}, seconds: c.seconds}, {seconds: c.pause}}
			if got := p.carries(spans, ofIOPS); got != c.want {
				t.Errorf("%s at %v: %v", name, by, got)
			}
		}
		// 5 s of 300, then 100 a second of it: 1,000 wait at 10 s and are done at 20.
		spans := []span{{need: need{iops: 300 * by}, seconds: 10}, {seconds: 60}}
		got := run(spans, []float64{3000 * by, 0}, []bucket{{p, "credits", ofIOPS}, {pool{Bucket: ceiling.Bucket{Base: 1e9 * by, Top: 1e9 * by}}, "flat", ofBytes}})
		if (got.Throttled-15*time.Second).Abs() > time.Millisecond || math.Abs(got.Backlog/by-1000) > 0.1 || got.Lowest > 1e-6 || got.Of != "credits" {
			t.Errorf("at %v: %+v", by, got)
		}
		f := cloud.InstanceFacts{
			NVMe: true, BurstFor: 30 * time.Minute,
			Baseline: cloud.Limits{IOPS: 1000 * units.IOPS(by), Rate: 100e6 * units.Rate(by)}, Burst: cloud.Limits{IOPS: 4000 * units.IOPS(by), Rate: 200e6 * units.Rate(by)},
		}
		course := func(iops, rate float64) []span {
			return []span{{need: need{iops * by, rate * by}, seconds: 600}, {need: need{100 * by, 1e6 * by}, seconds: 3000}}
		}
		for name, c := range map[string]struct {
			peak, steady need
			course       bool
			want         bool
			share        float64
		}{
			"all of it": {need{1000, 100e6}, need{}, false, true, 1},
			// A billionth is what rounding may lose, and no more.
			"I/Os within rounding":    {need{1000 * (1 + 5e-10), 100e6}, need{}, false, true, 1},
			"bytes within rounding":   {need{1000, 100e6 * (1 + 5e-10)}, need{}, false, true, 1},
			"more than rounding":      {need{1000 * (1 + 2e-9), 100e6}, need{}, false, false, 1},
			"more bytes than that":    {need{1000, 100e6 * (1 + 2e-9)}, need{}, false, false, 1},
			"steady within rounding":  {need{3000, 150e6}, need{1000 * (1 + 5e-10), 100e6 * (1 + 5e-10)}, true, true, 0},
			"bursts within rounding":  {need{4000 * (1 + 5e-10), 200e6 * (1 + 5e-10)}, need{100, 1e6}, true, true, 0},
			"I/Os that always run":    {need{4000 * (1 + 5e-10), 1e6}, need{1250, 1e6}, true, false, 0.8},
			"bytes that always do":    {need{10, 200e6 * (1 + 5e-10)}, need{1, 125e6}, true, false, 0.8},
			"bursts above it":         {need{4000 * (1 + 2e-9), 200e6}, need{100, 1e6}, true, false, 1},
			"bytes of bursts above":   {need{4000, 200e6 * (1 + 2e-9)}, need{100, 1e6}, true, false, 1},
			"more I/Os":               {need{1250, 1e6}, need{}, false, false, 0.8},
			"more bytes":              {need{10, 125e6}, need{}, false, false, 0.8},
			"in bursts":               {need{3000, 150e6}, need{100, 1e6}, true, true, 0},
			"I/Os above the burst":    {need{5000, 150e6}, need{100, 1e6}, true, false, 0.8},
			"bytes above the burst":   {need{3000, 250e6}, need{100, 1e6}, true, false, 0.8},
			"steady I/Os above base":  {need{3000, 150e6}, need{1250, 1e6}, true, false, 0.8},
			"steady bytes above base": {need{3000, 150e6}, need{100, 125e6}, true, false, 0.8},
		} {
			q := requirement{sized: sized{peak: c.peak.times(by)}, steady: c.steady.times(by)}
			if c.course {
				q.spans = course(c.peak.iops, c.peak.bytes)
			}
			if got := q.holds(f); got != c.want {
				t.Errorf("%s at %v: held %v", name, by, got)
			}
			if share, _ := q.share(f); !c.want && math.Abs(share-c.share) > 1e-6 {
				t.Errorf("%s at %v: %v of it, want %v", name, by, share, c.share)
			}
		}
		// What always runs is within rounding of the base, and credits are what lacks: 1,000 of 4,000, 100 of 200 MB.
		long := []span{{need: need{4000 * by, 0}, seconds: 2400}, {seconds: 1200}}
		for _, q := range []requirement{
			{sized: sized{peak: need{4000 * by, by}, spans: long}, steady: need{1000 * (1 + 5e-10) * by, by}},
			{sized: sized{peak: need{4000 * by, by}, spans: long}, steady: need{by, 100e6 * (1 + 5e-10) * by}},
		} {
			if share, text := q.share(f); q.holds(f) || math.Abs(share-0.25) > 1e-6 || !strings.HasPrefix(text, "has too few credits") {
				t.Errorf("at %v: %v %q", by, share, text)
			}
		}
		// A tenth of the credits of bytes, and of I/Os, is enough for one load and not for a longer one.
		for seconds, want := range map[float64]bool{1799: true, 1801: false} {
			for _, high := range []need{{4000 * by, 0}, {0, 200e6 * by}} {
				q := requirement{sized: sized{peak: high, spans: []span{{need: high, seconds: seconds}, {seconds: rest - seconds}}}}
				if got := q.holds(f); got != want && high.iops > 0 || got != want && high.bytes > 0 && high.iops == 0 {
					t.Errorf("%v s of %+v at %v: %v", seconds, high, by, got)
				}
			}
		}
	}
}

// Outside of Nitro a volume gets 32,000 I/Os per second; the lesser share is named.
func TestOneVolumeOfXen(t *testing.T) {
	f := cloud.InstanceFacts{Baseline: cloud.Limits{IOPS: 64000, Rate: 1e9}}
	for name, c := range map[string]struct {
		q    requirement
		want string
	}{
		"as much":        {requirement{sized: sized{peak: need{32000, 1e6}}, busiest: 32000}, ""},
		"more":           {requirement{sized: sized{peak: need{40000, 1e6}}, busiest: 40000}, "lets 32,000 of 40,000 I/Os per second through to one volume"},
		"two volumes":    {requirement{sized: sized{peak: need{60000, 1e6}}, busiest: 30000}, ""},
		"bytes are less": {requirement{sized: sized{peak: need{40000, 2e9}}, busiest: 40000}, "sustains 1,000 MB/s of 2,000 MB/s"},
	} {
		if got := c.q.lacks(f); (got == "") != (c.want == "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if f.NVMe = true; (requirement{sized: sized{peak: need{40000, 1e6}}, busiest: 40000}).lacks(f) != "" {
		t.Error("Nitro lets all through")
	}
}

// What is decided of results, in a sentence: 80 MiB/s are asked for.
func TestDecidedByHand(t *testing.T) {
	const mib = units.MiBPerSec
	d := demand(t, "workload: app\nstreams:\n  - {name: logs, does: sequential write, block: 64KiB, rate: 80MiB/s}\n")
	side := func(name string, rate units.Rate) Side {
		one := fio.Direction{BW: rate, IOPS: units.IOPS(float64(rate) / 65536), Bytes: units.Bytes(float64(rate) * 30)}
		row := fio.Job{Name: "j", Window: 30 * time.Second, Write: one}
		return Side{Name: name, Result: &result.Result{State: result.Done, Role: topology.Data, Jobs: []fio.Job{row}, Total: row, Measured: 30 * time.Second}}
	}
	on := func(s Side, i topology.Instance) Side { s.Topology = &topology.Topology{Instance: i}; return s }
	for want, sides := range map[string][]Side{
		"a meets the demand.":       {side("a", 80*mib)},
		"All meet the demand.":      {side("a", 80*mib), side("b", 79*mib)},
		"b meets the demand.":       {side("a", 40*mib), side("b", 80*mib)},
		"a and c meet the demand.":  {side("a", 80*mib), side("b", 40*mib), side("c", 80*mib)},
		"Neither meets the demand.": {side("a", 40*mib), side("b", 0)},
	} {
		if got := Meets(d, sides).Decision; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Of two streams the first is not met: the second's share does not make up for it.
	two := demand(t, "workload: app\nstreams:\n  - {name: w, does: sequential write, block: 64KiB, rate: 80MiB/s}\n  - {name: r, does: sequential read, block: 64KiB, rate: 10MiB/s}\n")
	mixed := side("a", 40*mib)
	mixed.Result.Total.Read = fio.Direction{BW: 10 * mib, IOPS: 160, Bytes: 300 * units.MiB}
	if got := Meets(two, []Side{mixed}); got.Decision != "a does not meet the demand. a meets r." || got.Sides[0].Met {
		t.Errorf("%+v", got)
	}
	// The machine sustains half of it, or it is not known what it does: of a burst alone nothing lasts.
	rate := func(r units.Rate) topology.Limits { return topology.Limits{Rate: r} }
	half := Meets(d, []Side{on(side("a", 80*mib), topology.Instance{Type: "x", Baseline: rate(40 * mib)})}).Sides[0]
	if half.Met || half.Sustained != 40*mib || half.Steady != 80*mib {
		t.Errorf("%+v", half)
	}
	all := Meets(d, []Side{on(side("a", 80*mib), topology.Instance{Type: "x", Baseline: rate(80 * mib)})}).Sides[0]
	if !all.Met || all.Sustained != 80*mib {
		t.Errorf("%+v", all)
	}
	for name, i := range map[string]topology.Instance{"a burst alone": {Type: "x", Burst: rate(40 * mib)}, "nothing": {}} {
		if got := Meets(d, []Side{on(side("a", 80*mib), i)}).Sides[0]; !got.Met || got.Steady != 0 || got.Sustained != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A demand that only bursts has nothing that lasts.
	bursts := demand(t, "workload: app\nstreams:\n  - {name: logs, does: sequential write, block: 64KiB, rate: 80MiB/s, burst: {for: 1s, every: 30s}}\n")
	if got := Meets(bursts, []Side{on(side("a", 80*mib), topology.Instance{Type: "x", Baseline: rate(mib)})}).Sides[0]; !got.Met || got.Steady != 0 {
		t.Errorf("%+v", got)
	}
	// How long a burst lasts is said where it is known.
	for lasts, want := range map[time.Duration]string{
		0:                "x, but the m sustains 50.0 % of it",
		30 * time.Minute: "x, for 30 min a day: then the m limits it to 50.0 %",
	} {
		half := MetSide{
			Name: "a", Streams: []MetStream{{Name: "x", Share: 1, Known: true}}, Instance: "m", Sustained: mib, Steady: 2 * mib, BurstFor: lasts,
		}
		if got := half.partly(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := (&MetSide{Name: "a", Streams: []MetStream{{Name: "x", Share: 1}}}).partly(); got != "" {
		t.Errorf("what is not known is met: %q", got)
	}
}

// Limits of latency: reads where a stream reads, the strictest share of each time, exceeded where
// they are reached.
func TestLatencyLimitsByHand(t *testing.T) {
	d := demand(t, `workload: app
streams:
  - {name: r, does: random read, block: 8KiB, rate: 100 IOPS, latency: {p99: 10ms, over: {1s: 2%, 2s: 1%}}}
  - {name: w, does: random write, block: 8KiB, rate: 100 IOPS, latency: {p99: 10ms, over: {1s: 1%}}}
`)
	at := func(p99 time.Duration) fio.Latency {
		return fio.Latency{N: 1000, Percentiles: []fio.Percentile{{P: 99, Value: p99}}}
	}
	ms := time.Millisecond
	r := &result.Result{Total: fio.Job{Read: fio.Direction{N: 1000, Clat: at(9 * ms)}, Write: fio.Direction{N: 1000, Clat: at(10 * ms)}}}
	got := limitsOf(d, r)
	var texts []string
	for _, l := range got {
		texts = append(texts, l.Text)
	}
	if want := []string{"r p99 < 10 ms", "w p99 < 10 ms", "I/Os above 1 s < 1.0 %", "I/Os above 2 s < 1.0 %"}; !slices.Equal(texts, want) {
		t.Fatalf("%q, want %q", texts, want)
	}
	// A limit that nothing was measured of is not met.
	none := limitsOf(d, &result.Result{Total: fio.Job{Read: fio.Direction{N: 1000}, Write: fio.Direction{N: 1000}}})
	if len(none) != 4 || slices.ContainsFunc(none, func(l MetLimit) bool { return l.Known }) {
		t.Errorf("without percentiles: %+v", none)
	}
	if got[0].Exceeded || got[0].Latency != units.LatencyOf(9*ms) || !got[1].Exceeded || !got[2].Open || got[2].Share != 0.01 {
		t.Errorf("%+v", got)
	}
	// fio's buckets: 1 % above a second reaches the limit, less does not.
	for above, want := range map[float64]bool{0.01: true, 0.0099: false} {
		r.Total.Buckets = []fio.Bucket{{Upto: time.Second, Value: 1 - above}, {Upto: 2 * time.Second, Value: above}}
		r.Jobs = []fio.Job{r.Total}
		if l := limitsOf(d, r)[2]; !l.Known || math.Abs(l.Above.Least-above) > 1e-9 || l.Exceeded != want {
			t.Errorf("%v above: %+v", above, l)
		}
	}
}

// Commits that come faster than 1/S share a write, at most one of each client: S is 2 ms, 8 KiB each.
func TestGroupedByHand(t *testing.T) {
	r := Request{Synced: 2 * time.Millisecond}
	l := Layout{Spec: cloud.VolumeSpec{Type: "gp3"}}
	for _, c := range []struct {
		iops     units.IOPS
		clients  int
		together units.Bytes
	}{{1000, 2, 2}, {999, 2, 1}, {499, 2, 1}, {5000, 2, 2}, {5000, 4, 4}, {5000, 100, 10}, {5499, 100, 10}, {5500, 100, 11}, {5000, 1, 1}} {
		s := workload.Stream{Commits: true, Threads: c.clients, IOPS: c.iops, Blocks: []workload.Block{{Size: 8192, Share: 1}}, Sync: workload.Sync{Each: 1}}
		got := r.grouped(l, &s)
		if got.Blocks[0].Size != 8192*c.together || math.Abs(float64(got.IOPS)-float64(c.iops)/float64(c.together)) > 1e-9 {
			t.Errorf("%+v: %v of %v", c, got.IOPS, got.Blocks)
		}
		if s.Commits = false; r.grouped(l, &s) != &s {
			t.Error("what commits nothing is not grouped")
		}
	}
	// A drive of the machine's own takes 30 µs: 100,000 a second are three at a time.
	s := workload.Stream{Commits: true, Threads: 9, IOPS: 100_001, Blocks: []workload.Block{{Size: 8192, Share: 1}}, Sync: workload.Sync{Each: 1}}
	if got := (&Request{}).grouped(Layout{Local: true, Spec: cloud.VolumeSpec{Type: localType}}, &s); got.Blocks[0].Size != 3*8192 {
		t.Errorf("%+v", got)
	}
}

// Results of one job on two volumes are one demand, the larger figures taken; of other jobs apart.
func TestFromSeveralResults(t *testing.T) {
	rate := func(name string, writes units.IOPS, change func(*fio.Workload)) *result.Result {
		w := fio.Workload{Name: "x", WriteBS: 4096, Jobs: 1, Depth: 4, Filename: name}
		if change != nil {
			change(&w)
		}
		row := job("x", 0, writes, 4096)
		return &result.Result{Name: name, Role: topology.WAL, Workloads: []fio.Workload{w}, Jobs: []fio.Job{row}, Total: row}
	}
	synced := func(w *fio.Workload) { w.SyncEvery = 8 }
	d, err := FromResults("all", []*result.Result{rate("a", 100, nil), rate("b", 300, nil), rate("c", 50, synced), rate("d", 200, nil), rate("e", 70, synced)})
	if err != nil || len(d.Streams) != 2 || d.Role != topology.WAL {
		t.Fatalf("%+v %v", d, err)
	}
	if s := d.Streams[0]; s.IOPS != 300 || s.Rate != 300*4096 || !s.Apart || s.Name != "a-x-write" || s.Sync.Each != 0 || s.Depth != 4 {
		t.Errorf("%+v", s)
	}
	if s := d.Streams[1]; s.IOPS != 70 || !s.Apart || s.Name != "c-x-write" || s.Sync.Each != 8 || s.Sync.Kind != "fdatasync" {
		t.Errorf("%+v", s)
	}
	if n := strings.Join(d.Notes, ";"); n != "results of the same job are one demand: the largest figures are used" || len(d.AtLeast) != 1 {
		t.Errorf("%q %q", d.Notes, d.AtLeast)
	}
	if d, err = FromResults("one", []*result.Result{rate("a", 100, nil), rate("b", 40, nil)}); err != nil || len(d.Streams) != 1 || d.Streams[0].Apart || d.Streams[0].IOPS != 100 {
		t.Errorf("%+v %v", d, err)
	}
	// What did nothing and asked for nothing is no stream; what asked for something is.
	idle := rate("a", 0, nil)
	if d, err := FromResult("x", idle); err == nil {
		t.Errorf("%+v", d)
	}
	idle.Workloads[0].WriteIOPS = 50
	if d, err := FromResult("x", idle); err != nil || len(d.Streams) != 1 || d.Streams[0].IOPS != 50 || d.Streams[0].Rate != 50*4096 {
		t.Errorf("%+v %v", d, err)
	}
	if sameJob(nil, nil) || sameJob(idle.Workloads, nil) || !sameJob(idle.Workloads, rate("b", 1, func(w *fio.Workload) { w.WriteIOPS = 50 }).Workloads) {
		t.Error("one of which the job is not known is like no other")
	}
	// Of a direction that no section has there is nothing to share.
	if got := measuredOf([]fio.Workload{{Name: "p", WriteBS: 4096, Jobs: 1, Depth: 1}, {Name: "q", WriteBS: 4096, Jobs: 1, Depth: 1}}, 0, true, rate("a", 1, nil)); got != (workload.Load{}) {
		t.Errorf("%+v", got)
	}
	// 8,192 bytes and a bit are 8 KiB, and no size is below a sector's.
	for bw, want := range map[units.Rate]units.Bytes{8192 * 100: 8192, 8300 * 100: 8192, 8500 * 100: 8704, 1: 512} {
		row := fio.Job{Name: "x", Read: fio.Direction{IOPS: 100, BW: bw}}
		if got := imagined(&result.Result{Total: row}); len(got) != 1 || got[0].ReadBS != want || got[0].WriteBS != 0 || got[0].ReadShare != 1 {
			t.Errorf("%v: %+v, want %v", bw, got, want)
		}
	}
}

// Which machines are looked at, and why one that is named is not.
func TestMachinesByHand(t *testing.T) {
	r := Request{Prices: cloud.BuiltinPrices()}
	f, _ := cloud.InstanceLimits("c8g.2xlarge") // 8 vCPUs, 16 GiB, arm64
	for want, change := range map[string]func(*Request){
		"": func(r *Request) {
			r.VCPUs, r.Memory, r.Arch, r.Families = 8, 16*units.GiB, "arm64", []string{"x*", "c8g.*"}
		},
		"has 8 vCPUs, but 9 are":                        func(r *Request) { r.VCPUs = 9 },
		"16 GiB of memory, and 17 GiB":                  func(r *Request) { r.Memory = 17 * units.GiB },
		"is arm64, and x86_64 is":                       func(r *Request) { r.Arch = "x86_64" },
		"is in none of the requested families: m*, r8g": func(r *Request) { r.Families = []string{"m*", "r8g"} },
	} {
		own := r
		change(&own)
		if err := own.suits(f); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
		own.Instance = "c8g.2xlarge"
		if _, err := own.instances(); (err == nil) != (want == "") {
			t.Errorf("%q: %v", want, err)
		}
	}
	for _, c := range []struct{ name, want string }{{"nosuch.large", "is not a machine type of EC2 in the catalogue"}, {"r9g.large", "has no price in us-east-1"}} {
		own := r
		own.Instance = c.name
		if _, err := own.instances(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	own := r
	own.Families, own.VCPUs, own.Memory = []string{"c8g"}, 8, 16*units.GiB
	all, err := own.instances()
	if err != nil || len(all) == 0 || all[0].Type != "c8g.2xlarge" || !slices.IsSortedFunc(all, func(a, b priced) int { return int(a.month - b.month) }) {
		t.Errorf("%+v %v", all, err)
	}
	for _, i := range all {
		if i.VCPUs < 8 || i.Memory < 16*units.GiB || !strings.HasPrefix(i.Type, "c8g.") {
			t.Error(i.Type)
		}
	}
	for _, c := range []struct {
		family string
		older  bool
		want   bool
	}{{"a1", false, false}, {"a1", true, true}, {"r4", false, false}, {"r4", true, true}, {"m5", false, true}} {
		own := r
		own.Families, own.Older = []string{c.family}, c.older
		if all, err := own.instances(); err != nil || (len(all) > 0) != c.want {
			t.Errorf("%s, older %v: %d", c.family, c.older, len(all))
		}
	}
	own.Families = []string{"[x"}
	if _, err := own.instances(); err == nil {
		t.Error("a pattern that is none")
	}
	for typ, want := range map[string]bool{"t4g.medium": true, "t3.nano": true, "trn1.2xlarge": false, "m5.large": false, "Standard_B2ms": true} {
		if f, ok := cloud.InstanceLimits(typ); !ok || f.CPUCredits != want {
			t.Errorf("%s: its CPU's credits", typ)
		}
	}
	if got := (&Request{Demand: demand(t, guide)}).whyNot(Layout{}, "nosuch"); got != "nosuch is not in the catalogue" {
		t.Error(got)
	}
}

// What is tried, and in which order: a larger chunk cuts nothing more in two.
func TestTriedByHand(t *testing.T) {
	const k = units.KiB
	if !slices.Equal(chunks, []units.Bytes{256 * k, 512 * k, 1024 * k, 128 * k, 64 * k}) || !slices.Equal(cloud.AWS().Terms().Types, []string{"gp3", "io2", "st1", "local"}) ||
		DefaultMaxVolumes != 16 || mostRows != 6 || mostLess != 5 || day != 86400*time.Second || reached != 0.98 || near != 0.95 || grain != 4*k || cloud.AWS().Terms().Taken != 4 {
		t.Error("something else is tried, or shown")
	}
	if got := (Layout{Level: topology.RAID0, Chunk: 4 * k}).chunked(); len(got) != 1 || got[0].Chunk != 4*k {
		t.Errorf("%+v", got)
	}
	if got := (Layout{Level: topology.RAID1}).chunked(); len(got) != 1 || got[0].Chunk != 0 {
		t.Errorf("%+v", got)
	}
}

// Where every I/O lies within a chunk all volumes get as much.
func TestEvenByHand(t *testing.T) {
	const k = units.KiB
	for _, c := range []struct {
		level       topology.Level
		chunk, size units.Bytes
		want        bool
	}{
		{topology.RAID0, 64 * k, 64 * k, true},
		{topology.RAID0, 64 * k, 16 * k, true},
		{topology.RAID0, 64 * k, 48 * k, false},
		{topology.RAID0, 64 * k, 128 * k, false},
		{topology.RAID1, 0, 48 * k, true},
		{topology.RAID0, 64 * k, 0, false},
		{topology.RAID5, 64 * k, 16 * k, false},
	} {
		blocks := []workload.Block{{Size: 4 * k, Share: 0.5}, {Size: c.size, Share: 0.5}}
		r := Request{Demand: &workload.Demand{Streams: []workload.Stream{{Blocks: blocks[:1]}, {Blocks: blocks}}}}
		if got := r.even(Layout{Level: c.level, N: 4, Chunk: c.chunk}); got != c.want {
			t.Errorf("%s, %v on %v: %v", c.level, c.size, c.chunk, got)
		}
	}
}

// The instance that carries a layout, or comes closest, and what that lacks: 2,400 IOPS of 4 KiB.
func TestClosestByHand(t *testing.T) {
	r := Request{Prices: cloud.BuiltinPrices(), Headroom: 0.2, Demand: demand(t, "capacity: 10GiB\nstreams:\n  - {name: r, does: random read, block: 4KiB, rate: 2000 IOPS}\n")}
	l := Layout{Level: topology.RAID0, N: 2, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp3", Size: 5 * units.GiB}}
	at := func(typ string, month cloud.USD, iops units.IOPS, attachments int) priced {
		return priced{cloud.InstanceFacts{Type: typ, NVMe: true, Attachments: attachments, Taken: 4, Baseline: cloud.Limits{IOPS: iops, Rate: 1e9}}, month}
	}
	few, small, less, fits, large := at("few", 1, 9000, 5), at("small", 2, 1200, 0), at("less", 3, 600, 0), at("fits", 4, 2400, 0), at("large", 5, 9000, 0)
	if got := r.closest(l, []priced{few, small, less, fits, large}); got.Type != "fits" {
		t.Error(got.Type)
	}
	if got := r.closest(l, []priced{few, less, small}); got.Type != "small" {
		t.Error(got.Type)
	}
	if got := r.whyNone(l, []priced{few, less, small}); got != "raid0: no instance that fits carries it: small comes closest, and sustains 1,200 of 2,400 volume I/Os per second" {
		t.Error(got)
	}
	if got := r.whyNone(l, []priced{few}); got != "raid0: no instance that fits carries it: few comes closest, and can attach at most 1 volume" {
		t.Error(got)
	}
	if got := r.whyNone(l, nil); got != "" {
		t.Error(got)
	}
	// Two volumes of 5 GiB at 8 cents each, and the instance.
	c, ok := r.cheapest(l, []priced{few, small, less, fits, large})
	if !ok || c.Type != "fits" || c.VolumesMonth != 800_000 || c.InstanceMonth != 4 || c.Month != 800_004 || c.Survives != workload.LostInstance || math.Abs(c.AFR-0.003996) > 1e-9 {
		t.Errorf("%+v %v", c, ok)
	}
	if _, ok := r.cheapest(l, []priced{few, small, less}); ok {
		t.Error("none carries it")
	}
	l.Level = topology.RAID1
	if c, _ := r.cheapest(l, []priced{large}); c.Survives != workload.LostVolume || c.AFR != 0 {
		t.Errorf("%+v", c)
	}
	r.Instance = "small"
	if got := r.whyNone(l, []priced{small}); !strings.HasPrefix(got, "small with raid1: sustains 1,200 of ") {
		t.Error(got)
	}
	l.Spec.Type = "premium"
	if _, ok := r.cheapest(l, []priced{large}); ok {
		t.Error("it has no price")
	}
	// The volumes that are owned are known by their price, the instance by what is closest.
	r.Instance, l.Spec.Type, l.Level = "", "gp3", topology.RAID0
	r.Keep = &l
	a := &Advice{Demand: r.Demand}
	if err := a.owned(r, nil); err != nil || a.Owned != nil {
		t.Errorf("%+v %v", a.Owned, err)
	}
}

// Volumes that are owned stand first with what they meet, and beside them what would do.
func TestOwnedByHand(t *testing.T) {
	r := Request{Demand: demand(t, stripe), Instance: "m5.12xlarge", Types: []string{"gp2"}, MaxVolumes: 4}
	for n, want := range map[int]struct {
		times float64
		names string
	}{
		// Four of 9,000 of 36,000 and of 40,000 that the machine lets through; two of 16,000.
		4: {1, "your volumes"}, 2: {32000. / 36000, "your volumes"},
	} {
		l := Layout{Level: topology.RAID0, N: n, Chunk: 64 * units.KiB, Spec: cloud.VolumeSpec{Type: "gp2", Size: 12000 * units.GiB / units.Bytes(n)}}
		r.Keep = &l
		a, err := Advise(r)
		if err != nil || a.Owned == nil {
			t.Fatalf("%d: %+v %v", n, a, err)
		}
		c := a.Owned
		// 12,000 GiB at 10 cents, whatever their number.
		if math.Abs(c.Times-want.times) > 1e-6 || c.VolumesMonth != 1_200_000_000 || c.Month != c.VolumesMonth+c.InstanceMonth || !c.Kept() || !strings.Contains(strings.Join(c.Names, ", "), want.names) {
			t.Errorf("%d: %+v", n, c)
		}
		if n == 2 && (len(a.Rejected) == 0 || a.Rejected[0] != "2 × gp2 sustain 32,000 of 36,000 volume I/Os per second") {
			t.Errorf("%q", a.Rejected)
		}
		if len(a.Rows) == 0 || a.Rows[len(a.Rows)-1].Layout.N != 3 && a.Rows[len(a.Rows)-1].Layout.N != 4 {
			t.Errorf("%d: %+v", n, a.Rows)
		}
	}
	// Without a capacity of the demand's there is as much as the volumes hold.
	r.Demand.Capacity = 0
	if a, err := Advise(r); err != nil || a.Rows[len(a.Rows)-1].Layout.Spec.Size*units.Bytes(a.Rows[len(a.Rows)-1].Layout.N) < 12000*units.GiB {
		t.Errorf("%+v %v", a, err)
	}
}

// The sentences of a row.
func TestRemarksByHand(t *testing.T) {
	r := Request{Demand: demand(t, guide), Prices: cloud.BuiltinPrices(), Why: []string{"c8g.2xlarge", "c8gb.4xlarge"}}
	gp3 := Layout{Level: topology.RAID0, N: 8, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp3"}}
	c := Candidate{Layout: gp3, Type: "t4g.medium", Instance: cloud.InstanceFacts{CPUCredits: true, Weightings: []string{"vpc-1", "ebs-1"}}}
	r.remarks(&c)
	if got := strings.Join(c.Notes, "\n"); got != "t4g.medium: its CPU runs on credits, which are separate from those of its storage\n"+
		"losing one of the 8 volumes loses all data\nt4g.medium: the bandwidth weighting ebs-1 adds 25 % of throughput, which is not counted" {
		t.Errorf("%q", got)
	}
	if len(c.Why) != 1 || c.Why[0] != "c8g.2xlarge at $232.90 sustains 12,000 of 18,461 volume I/Os per second" {
		t.Errorf("%q", c.Why)
	}
	local := Candidate{Layout: Layout{Level: topology.RAID0, N: 2, Local: true}, Type: "i4g.large"}
	if r.remarks(&local); len(local.Notes) != 0 || len(local.Why) != 0 {
		t.Errorf("%q %q", local.Notes, local.Why)
	}
	// Bursts: how many times what a row gives is the demand.
	if c := (Candidate{Times: 0.5, BurstTimes: 2}); c.Meets() != 0.5 {
		t.Error(c.Meets())
	}
	if c := (Candidate{Times: 0.5, BurstTimes: 2, ByBurst: true}); c.Meets() != 2 {
		t.Error(c.Meets())
	}
	// The same stripe is not as durable as 1 % a year, nor can more than its type has be ordered.
	r.Demand.Durability.AFR = 0.01
	gp3.Spec.Size = 25 * units.GiB
	if got := r.falls(gp3); got != "8 × gp3 raid0 is not as durable as asked for" {
		t.Error(got)
	}
	if all, why := r.ofType("gp3"); len(all) == 0 || why != "" {
		t.Errorf("a single volume is as durable: %d, %q", len(all), why)
	}
	r.Demand.Durability = workload.Durability{Survives: workload.LostVolume}
	r.MaxVolumes = 1
	if all, why := r.ofType("gp3"); len(all) != 0 || why != "gp3: no layout of it is as durable as asked for" {
		t.Errorf("%d, %q", len(all), why)
	}
	if r.most() != 1 || (&Request{}).most() != 16 {
		t.Error(r.most())
	}
	r.Demand.Durability, r.Demand.Streams[0].IOPS = workload.Durability{}, 90000
	// One gp3 reaches 80,000 of 90,000, one io2 all.
	if all, why := r.ofType("gp3"); len(all) != 0 || why != "gp3: at their most, 1 × gp3 sustain 80,000 of 90,000 volume I/Os per second" {
		t.Errorf("%d, %q", len(all), why)
	}
	if got := r.unfit("premium"); got != "premium: not a volume type of EC2" {
		t.Error(got)
	}
	r.Prices = &cloud.Prices{}
	if _, got := r.ofType("gp3"); !strings.HasPrefix(got, "gp3: ") {
		t.Error(got)
	}
}

// What a purchase says of itself: old prices, demands that were watched, bursts that are none.
func TestNotesByHand(t *testing.T) {
	r := Request{Demand: demand(t, guide), Prices: cloud.BuiltinPrices(), Now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), BurstOK: true}
	r.Demand.AtLeast = []string{"x was full"}
	a := &Advice{}
	if _, err := r.instances(); err != nil {
		t.Fatal(err)
	}
	a.notes(r)
	all := strings.Join(a.Notes, "\n")
	for _, want := range []string{
		"older than a year", "(x was full)", "--burst-ok changes nothing", "second-hand",
		"instance types have no price and are left out",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %q", want, all)
		}
	}
	r.Demand = demand(t, "capacity: 1GiB\nstreams:\n  - {name: w, does: sequential write, block: 16KiB, rate: 10 IOPS, burst: {for: 1s, every: 1h}}\n")
	r.unpriced = nil
	r.Now, r.Instance = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "c8g.large"
	a = &Advice{}
	a.notes(r)
	if all = strings.Join(a.Notes, "\n"); strings.Contains(all, "older") || strings.Contains(all, "burst") || strings.Contains(all, "no price") ||
		!strings.Contains(all, "sequential I/Os count one by one") {
		t.Errorf("%q", all)
	}
	for name, r := range map[string]Request{
		"no demand": {}, "no streams": {Demand: &workload.Demand{}}, "no capacity": {Demand: demand(t, "streams:\n  - {does: random read, block: 4KiB, rate: 1 IOPS}\n")},
		"headroom": {Demand: demand(t, guide), Headroom: -0.1}, "much headroom": {Demand: demand(t, guide), Headroom: 10.1},
	} {
		if a, err := Advise(r); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Volumes of another type in place of mirrors hold half of what they have, and of a type without a
// price it is said.
func TestInsteadOfMirrors(t *testing.T) {
	r := Request{Demand: demand(t, "capacity: 100GiB\nstreams:\n  - {name: w, does: random write, block: 16KiB, rate: 100 IOPS}\n")}
	was := Candidate{VolumesMonth: 20_000_000, Survives: workload.LostVolume, Layout: Layout{Level: topology.RAID1, N: 2, Spec: cloud.VolumeSpec{Type: "gp2", Size: 100 * units.GiB}}}
	// 2 × 100 GiB × $0.08
	if got, err := Instead(r, "gp3", was); err != nil || got != "as gp3 with 3,000 IOPS and 125 MiB/s each they cost $16.00: $4.00 less, and they do not burst" {
		t.Errorf("%q %v", got, err)
	}
	r.Demand.Streams[0].IOPS = 1e6
	if got, err := Instead(r, "gp3", was); got != "" || err != nil {
		t.Errorf("more than the type reaches: %q %v", got, err)
	}
}

// A series by its credits: space that is missing is no credit, days begin at midnight, and places of
// the series are named by their time.
func TestSeriesEdges(t *testing.T) {
	iv := func(at, reads float64) workload.Interval {
		return workload.Interval{At: time.Duration(at * float64(time.Hour)), Len: 12 * time.Hour, Read: workload.Flow{IOPS: reads, Rate: reads * 4096}}
	}
	s := &Series{Observed: workload.Observed{Device: "d", Intervals: []workload.Interval{iv(12, 100), iv(24, 200), iv(36, 100), iv(48, 100)}}}
	r := Request{Demand: &workload.Demand{Capacity: 100 * units.GiB}, Series: s, Headroom: 0.5}
	l := Layout{Level: topology.RAID0, N: 2, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp3", Size: 50 * units.GiB}}
	f, err := cloud.VolumeLimits(l.Spec)
	if err != nil || !r.carried(l, f) {
		t.Errorf("%v: they hold it and carry it", err)
	}
	l.Spec.Size -= units.GiB
	if r.carried(l, f) {
		t.Error("98 GiB hold 100")
	}
	fresh := func() (days []bool) {
		s.sized = nil
		for _, span := range r.on(l).spans {
			days = append(days, span.fresh)
		}
		return days
	}
	// From the first interval on, and from 06:00: midnight comes in the second and the fourth one.
	if got := fresh(); !slices.Equal(got, []bool{false, false, true, false}) {
		t.Errorf("%v", got)
	}
	s.Start = time.Date(2026, 11, 1, 18, 0, 0, 0, time.UTC)
	if got := fresh(); !slices.Equal(got, []bool{false, true, false, true}) {
		t.Errorf("%v", got)
	}
	// Of whole days each but the first begins one.
	days := &Series{Observed: workload.Observed{Device: "d", Intervals: []workload.Interval{{At: day, Len: day}, {At: 2 * day, Len: day}}}}
	whole := Request{Demand: r.Demand, Series: days}
	if spans := whole.on(l).spans; spans[0].fresh || !spans[1].fresh {
		t.Errorf("%+v", spans)
	}
	if got := r.on(l).peak; math.Abs(got.iops-300) > 1e-9 || math.Abs(got.bytes-300*4096) > 1e-6 {
		t.Errorf("%+v", got)
	}
	for i, want := range map[int]string{0: "2026-11-01 18:00", 1: "2026-11-02 06:00", 3: "2026-11-03 06:00", 4: "2026-11-03 06:00"} {
		if got := r.when(i); got != want {
			t.Errorf("interval %d begins at %s, want %s", i, got, want)
		}
	}
	s.Start = time.Time{}
	if got := r.when(1); got != "12 h after the beginning" {
		t.Error(got)
	}
	for _, c := range []struct {
		n    int
		want []int
	}{{5, []int{0, 1, 2, 3, 4}}, {6, []int{0, 1, 2, 3, 5}}, {9, []int{0, 2, 4, 6, 8}}} {
		all := make([]Candidate, c.n)
		for i := range all {
			all[i].Month = cloud.USD(i)
		}
		var got []int
		for _, k := range spread(all, 5) {
			got = append(got, int(k.Month))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d: %v, want %v", c.n, got, c.want)
		}
	}
	a := &Advice{}
	a.seriesNotes(s)
	if len(a.Assumed) != 1 || !strings.Contains(a.Assumed[0], "4 intervals of 12 h, 2 days") {
		t.Errorf("%q", a.Assumed)
	}
	s.Intervals = s.Intervals[:1]
	if a.seriesNotes(s); len(a.Assumed) != 3 || a.Assumed[2] != "they cover less than a day, and are assumed to repeat" {
		t.Errorf("%q", a.Assumed)
	}
}

// The credits of volumes together: 3 gp2 of 100 GiB, and two st1 of a TiB by whole MiB.
func TestVolumeBucketsByHand(t *testing.T) {
	gp2, _ := cloud.VolumeLimits(cloud.VolumeSpec{Type: "gp2", Size: 100 * units.GiB})
	b := (&Request{}).volumeBuckets(Layout{N: 3}, gp2)
	if len(b) != 2 || b[0].Bucket != (ceiling.Bucket{Base: 900, Top: 9000, Size: 3 * 5.4e6, Left: 3 * 5.4e6}) || b[0].of(need{7, 9}) != 7 ||
		b[1].Bucket != (ceiling.Bucket{Base: 3 * 128 * 1048576, Top: 3 * 128 * 1048576}) || b[1].of(need{7, 9}) != 9 {
		t.Errorf("%+v", b)
	}
	st1, _ := cloud.VolumeLimits(cloud.VolumeSpec{Type: "st1", Size: units.TiB})
	b = (&Request{}).volumeBuckets(Layout{N: 2}, st1)
	if len(b) != 1 || b[0].Bucket != (ceiling.Bucket{Base: 80 * 1048576, Top: 500 * 1048576, Size: 2 << 40, Left: 2 << 40}) || b[0].of(need{7, 9}) != 7*1048576 {
		t.Errorf("%+v", b)
	}
}
