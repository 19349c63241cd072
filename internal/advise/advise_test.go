package advise

import (
	"math"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

func demand(t testing.TB, text string) *workload.Demand {
	t.Helper()
	d, err := workload.Parse("x.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Demands of the seeds, as specs/workload-advise.md §2.5 states them.
const (
	guide       = "capacity: 200GiB\nstreams:\n  - {name: mix, does: random readwrite, reads: 70%, block: 8KiB, rate: 18461 IOPS}\n"
	guideScan   = guide + "  - {name: scan, does: sequential read, block: 1MiB, rate: 1000MiB/s}\n"
	guideApart  = guide + "  - {name: scan, does: sequential read, block: 1MiB, rate: 1000MiB/s, apart: true}\n"
	stripe      = "capacity: 12000GiB\nstreams:\n  - {name: w, does: random write, block: 16KiB, rate: 36000 IOPS}\n"
	acrossTypes = "capacity: 1000GiB\nstreams:\n  - {name: w, does: random write, block: 16KiB, rate: 40000 IOPS}\n"
	logging     = `capacity: 8GiB
streams:
  - {name: steady-write, does: sequential write, block: 64KiB, rate: 80MiB/s}
  - {name: burst-read, does: sequential read, block: 256KiB, rate: 256MiB/s}
`
	wide    = "capacity: 500GiB\nstreams:\n  - {name: w, does: random write, block: 64KiB, rate: 16000 IOPS}\n"
	durable = "capacity: 500GiB\ndurability: {afr: 0.2%}\nstreams:\n  - {name: mix, does: random readwrite, reads: 70%, block: 8KiB, rate: 16000 IOPS}\n"
)

// best is the cheapest candidate of a level and type.
func best(t testing.TB, r Request, level topology.Level, typ string) Candidate {
	t.Helper()
	r.Prices = cloud.BuiltinPrices()
	instances, err := r.instances()
	if err != nil {
		t.Fatal(err)
	}
	a := &Advice{Demand: r.Demand}
	var found *Candidate
	for _, c := range a.candidates(&r, instances) {
		if c.Layout.Level == level && c.Layout.Spec.Type == typ && !c.Layout.Local &&
			(found == nil || c.Month < found.Month) {
			found = &c
		}
	}
	if found == nil {
		t.Fatalf("no %s of %s: %q", level, typ, a.Rejected)
	}
	if err := r.finish(found, instances); err != nil {
		t.Fatal(err)
	}
	return *found
}

// TestAcceptance are the figures of specs/workload-advise.md §2.5 with headroom 0 unless stated:
// us-east-1, prices of 2026-07.
func TestAcceptance(t *testing.T) {
	const gib, mib = units.GiB, units.MiBPerSec
	for _, c := range []struct {
		name     string
		request  Request
		demand   string
		level    topology.Level
		typ      string
		n        int
		spec     cloud.VolumeSpec
		instance string
		volumes  string // cost of the volumes
		all      string // and with the instance
	}{
		{
			"guide, mirrored, x86",
			Request{VCPUs: 8, Memory: 16 * gib, Arch: "x86_64"},
			guide, topology.RAID10, "gp3", 8,
			cloud.VolumeSpec{Size: 50 * gib, IOPS: 3000, Rate: 125 * mib},
			"c6in.2xlarge", "$32.00", "$363.13",
		},
		{
			"guide, mirrored, arm64",
			Request{VCPUs: 8, Memory: 16 * gib, Arch: "arm64"},
			guide, topology.RAID10, "gp3", 8,
			cloud.VolumeSpec{Size: 50 * gib, IOPS: 3000, Rate: 125 * mib},
			"c8gb.2xlarge", "$32.00", "$378.02",
		},
		{
			"guide, striped",
			Request{VCPUs: 8, Memory: 16 * gib},
			guide, topology.RAID0, "gp3", 8,
			cloud.VolumeSpec{Size: 25 * gib, IOPS: 3000, Rate: 125 * mib},
			"c6gn.2xlarge", "$16.00", "$268.29",
		},
		{
			"guide, one gp3",
			Request{VCPUs: 8, Memory: 16 * gib},
			guide, topology.Single, "gp3", 1,
			cloud.VolumeSpec{Size: 200 * gib, IOPS: 18461, Rate: 145 * mib},
			"c6gn.2xlarge", "$94.11", "$346.39",
		},
		{
			"guide, one io2",
			Request{VCPUs: 8, Memory: 16 * gib},
			guide, topology.Single, "io2", 1,
			cloud.VolumeSpec{Size: 200 * gib, IOPS: 18461},
			"c6gn.2xlarge", "$1,224.97", "$1,477.25",
		},
		{
			"guide and a scan",
			Request{VCPUs: 8, Memory: 16 * gib, MaxVolumes: 8},
			guideScan, topology.RAID10, "gp3", 8,
			cloud.VolumeSpec{Size: 50 * gib, IOPS: 3500, Rate: 149 * mib},
			"c8gb.2xlarge", "$59.68", "$405.70",
		},
		{
			"guide, a scan apart",
			Request{VCPUs: 8, Memory: 16 * gib},
			guideApart, topology.RAID10, "gp3", 8,
			cloud.VolumeSpec{Size: 50 * gib, IOPS: 3000, Rate: 125 * mib},
			"c8gb.2xlarge", "$32.00", "$378.02",
		},
		{
			"stripe",
			Request{VCPUs: 48, Memory: 192 * gib},
			stripe, topology.RAID0, "gp3", 12,
			cloud.VolumeSpec{Size: 1000 * gib, IOPS: 3000, Rate: 125 * mib},
			"m6g.12xlarge", "$960.00", "$2,309.04",
		},
		{
			"stripe of four",
			Request{VCPUs: 48, Memory: 192 * gib, MaxVolumes: 4},
			stripe, topology.RAID0, "gp3", 4,
			cloud.VolumeSpec{Size: 3000 * gib, IOPS: 9000, Rate: 141 * mib},
			"m6g.12xlarge", "$1,082.56", "$2,431.60",
		},
		{
			"stripe of four gp2",
			Request{VCPUs: 48, Memory: 192 * gib, Keep: &Layout{
				Level: topology.RAID0, N: 4, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp2", Size: 3000 * gib},
			}},
			stripe, topology.RAID0, "gp2", 4,
			cloud.VolumeSpec{Size: 3000 * gib},
			"m6g.12xlarge", "$1,200.00", "$2,549.04",
		},
		{
			"40,000 on one gp3",
			Request{VCPUs: 4, Memory: 8 * gib},
			acrossTypes, topology.Single, "gp3", 1,
			cloud.VolumeSpec{Size: 1000 * gib, IOPS: 40000, Rate: 625 * mib},
			"c8gb.2xlarge", "$285.00", "$631.02",
		},
		{
			"40,000 on one io2",
			Request{VCPUs: 4, Memory: 8 * gib},
			acrossTypes, topology.Single, "io2", 1,
			cloud.VolumeSpec{Size: 1000 * gib, IOPS: 40000},
			"c8gb.2xlarge", "$2,569.00", "$2,915.02",
		},
		// The specification says $95.58, $87.14 and $237.27, each ± $0.01: c8gb.large is $86.505,
		// here rounded half up.
		{
			"logging, one gp3",
			Request{},
			logging, topology.Single, "gp3", 1,
			cloud.VolumeSpec{Size: 8 * gib, IOPS: 3000, Rate: 336 * mib},
			"c8gb.large", "$9.08", "$95.59",
		},
		{
			"logging, striped",
			Request{},
			logging, topology.RAID0, "gp3", 4,
			cloud.VolumeSpec{Size: 2 * gib, IOPS: 3000, Rate: 125 * mib},
			"c8gb.large", "$0.64", "$87.15",
		},
		{
			"logging, one io2",
			Request{},
			logging, topology.Single, "io2", 1,
			cloud.VolumeSpec{Size: 8 * gib, IOPS: 2304},
			"c8gb.large", "$150.76", "$237.27",
		},
		{
			"16,000 and 1,000 MiB/s",
			Request{},
			wide, topology.Single, "gp3", 1,
			cloud.VolumeSpec{Size: 500 * gib, IOPS: 16000, Rate: 1000 * mib},
			"", "$140.00", "",
		},
		{
			"16,000 and 1,000 MiB/s, striped",
			Request{},
			wide, topology.RAID0, "gp3", 10, // 8 of 63 GiB are $40.32, for 8 does not divide 500
			cloud.VolumeSpec{Size: 50 * gib, IOPS: 3000, Rate: 125 * mib},
			"", "$40.00", "",
		},
		{"16,000 and 1,000 MiB/s, io2", Request{}, wide, topology.Single, "io2", 1, cloud.VolumeSpec{Size: 500 * gib, IOPS: 16000}, "", "$1,102.50", ""},
		{
			"durable, one gp3",
			Request{VCPUs: 8, Memory: 64 * gib, Headroom: 0.2},
			durable, topology.Single, "gp3", 1,
			cloud.VolumeSpec{Size: 500 * gib, IOPS: 19200, Rate: 150 * mib},
			"r5b.2xlarge", "$122.00", "$557.08",
		},
		{
			"durable, mirrored",
			Request{VCPUs: 8, Memory: 64 * gib, Headroom: 0.2},
			durable, topology.RAID10, "gp3", 10, // 12 of 84 GiB are $80.64
			cloud.VolumeSpec{Size: 100 * gib, IOPS: 3000, Rate: 125 * mib},
			"r6in.2xlarge", "$80.00", "$589.04",
		},
	} {
		c.request.Demand = demand(t, c.demand)
		c.spec.Type = c.typ
		got := best(t, c.request, c.level, c.typ)
		if got.Layout.N != c.n || got.Layout.Spec != c.spec || c.instance != "" && got.Type != c.instance ||
			got.VolumesMonth.String() != c.volumes || c.all != "" && got.Month.String() != c.all {
			t.Errorf("%s: %d × %+v on %s: %v, %v;\nwant %d × %+v on %s: %s, %s", c.name, got.Layout.N, got.Layout.Spec,
				got.Type, got.VolumesMonth, got.Month, c.n, c.spec, c.instance, c.volumes, c.all)
		}
		// The ceiling of each is at least the demand with headroom: finish says so, and the bound
		// is a sustained one.
		if got.Times < (1+c.request.Headroom)*0.999 || got.Sustained.Burst {
			t.Errorf("%s: its ceiling is %.3f of the demand, %+v", c.name, got.Times, got.Sustained)
		}
	}
}

func TestWhyNot(t *testing.T) {
	r := Request{Demand: demand(t, guide), Prices: cloud.BuiltinPrices()}
	for level, want := range map[topology.Level]string{
		topology.RAID10: "c8g.2xlarge at $232.90 sustains 12,000 of 23,999 volume I/Os per second", topology.RAID0: "c8g.2xlarge at $232.90 sustains 12,000 of 18,461 volume I/Os per second",
	} {
		if got := r.whyNot(
			Layout{Level: level, N: 8, Chunk: chunk, Spec: cloud.VolumeSpec{Type: "gp3"}},
			"c8g.2xlarge",
		); got != want {
			t.Errorf("%s: %q, want %q", level, got, want)
		}
	}
	r.Demand = demand(t, acrossTypes)
	if got := r.whyNot(
		Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3"}},
		"c6a.xlarge",
	); !strings.Contains(got, "6,000 of 40,000") {
		t.Error(got)
	}
	if p, _ := r.Prices.Instance("c8g.2xlarge"); p.String() != "$232.90" {
		t.Error(p)
	}
}

// TestFailureRate: eight gp3 in a stripe lose the data in 1.59 % of the years.
func TestFailureRate(t *testing.T) {
	l := Layout{Level: topology.RAID0, N: 8, Spec: cloud.VolumeSpec{Type: "gp3"}}
	if got := l.afr(); got < 0.01588 || got > 0.01589 {
		t.Errorf("%.5f, want 0.0159", got)
	}
}

// TestCommits: a thousand commits per second of one client rule gp3 out, whatever is provisioned: 1 /
// (1.5 × 1.86 ms) = 358.
func TestCommits(t *testing.T) {
	a, err := Advise(Request{Demand: demand(t, "capacity: 100GiB\ncommits: {rate: 1000/s, clients: 1}\n"), Headroom: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Rows) == 0 || !strings.Contains(strings.Join(a.Rejected, "\n"), "358 of 1,000 commits") {
		t.Errorf("%d rows, %q", len(a.Rows), a.Rejected)
	}
	for _, c := range a.Front {
		if c.Layout.Spec.Type != "io2" && !c.Layout.Local {
			t.Errorf("%d × %s is offered", c.Layout.N, c.Layout.Spec.Type)
		}
	}
	// What was measured beats what is assumed.
	fast, err := Advise(Request{Demand: a.Demand, Synced: 500_000})
	if err != nil || fast.Rows[0].Layout.Spec.Type != "gp3" {
		t.Errorf("%+v, %v", fast, err)
	}
}

func TestRestrictions(t *testing.T) {
	ask := func(r Request, text string) *Advice {
		t.Helper()
		r.Demand = demand(t, text)
		a, err := Advise(r)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	rejected := func(a *Advice, want string) {
		t.Helper()
		if !strings.Contains(strings.Join(a.Rejected, "\n"), want) {
			t.Errorf("%q is not among %q", want, a.Rejected)
		}
	}
	// Few threads at gp3's latency are not enough.
	rejected(
		ask(Request{}, "capacity: 100GiB\nstreams:\n  - {does: random read, block: 8KiB, rate: 16000 IOPS, threads: 4}\n"),
		"gp3: the load has 4 I/Os in flight",
	)
	rejected(
		ask(Request{}, "capacity: 100GiB\nstreams:\n  - {does: random read, block: 8KiB, rate: 160 IOPS, latency: {p99: 400us}}\n"),
		"gp3: the load needs 400 µs",
	)
	rejected(ask(Request{}, guide), "st1: the load is random")
	rejected(ask(Request{}, durable), "local drives: they are empty")
	rejected(ask(Request{Instance: "c8g.2xlarge"}, guide), "c8g.2xlarge with raid10: sustains 12,000 of 23,999")
	rejected(ask(Request{VCPUs: 5000}, guide), "no instance type with a price")
	// One volume's loss must be survived: only mirrors are left.
	for _, c := range ask(Request{}, "durability: {survives: volume}\n"+guide).Front {
		if !c.Layout.Level.Mirrored() {
			t.Errorf("%s survives no volume", c.Layout.Level)
		}
	}
	// st1 for a stream of large blocks: size follows the rate.
	st1 := ask(Request{Types: []string{"st1"}},
		"capacity: 1TiB\nstreams:\n  - {does: sequential read, block: 1MiB, rate: 100MiB/s}\n")
	if len(st1.Rows) == 0 || st1.Rows[0].Layout.Spec.Size*units.Bytes(st1.Rows[0].Layout.N) < 2560*units.GiB {
		t.Errorf("%+v %q", st1.Rows, st1.Rejected)
	}
	if _, err := Advise(Request{Demand: demand(t, guide), Instance: "r9g.large"}); err == nil ||
		!strings.Contains(err.Error(), "no price") {
		t.Errorf("r9g.large: %v", err)
	}
	if _, err := Advise(Request{Demand: demand(t, guide), Families: []string{"["}}); err == nil {
		t.Error("a bad pattern is taken")
	}
}

// TestBurst: bursts size a purchase only when they are asked to, and when they fit 30 minutes a
// day.
func TestBurst(t *testing.T) {
	const rare = `capacity: 100GiB
streams:
  - {name: steady, does: random write, block: 16KiB, rate: 5000 IOPS}
  - {name: backup, does: random read, block: 16KiB, rate: 20000 IOPS, burst: {for: 10m, every: 24h}}
`
	ask := func(r Request) Candidate {
		t.Helper()
		a, err := Advise(r)
		if err != nil || len(a.Rows) == 0 {
			t.Fatal(err, a)
		}
		return a.Rows[0]
	}
	d := demand(t, rare)
	without := ask(Request{Demand: d})
	with := ask(Request{Demand: d, BurstOK: true})
	if with.Month >= without.Month || without.Instance.Baseline.IOPS < 25000 || with.Instance.Baseline.IOPS >= 25000 {
		t.Errorf("with bursts %s %v, without %s %v", with.Type, with.Month, without.Type, without.Month)
	}
	if with.Burst == nil || with.BurstTimes < 1 {
		t.Errorf("%+v", with)
	}
	// What an instance does not use of its baseline between bursts becomes credits again. Bursts that
	// leave too little between them are not carried, however short they are.
	often := demand(t, strings.Replace(rare, "every: 24h", "every: 11m", 1))
	c := ask(Request{Demand: often, BurstOK: true})
	if mean := units.IOPS(5000 + 20000*10./11); c.Instance.Baseline.IOPS < mean {
		t.Errorf("bursts of 10 in 11 min are carried by %s, which sustains %v of %v", c.Type, c.Instance.Baseline.IOPS, mean)
	}
}

// TestKeep: the seed's volumes are priced as they are, and gp2 -> gp3 is the same layout twice.
func TestKeep(t *testing.T) {
	keep := &Layout{
		Level: topology.RAID10,
		N:     8,
		Chunk: 64 * units.KiB,
		Spec:  cloud.VolumeSpec{Type: "gp3", Size: 50 * units.GiB},
	}
	a, err := Advise(Request{Demand: demand(t, guide), Keep: keep, VCPUs: 8, Memory: 16 * units.GiB})
	if err != nil || len(a.Rows) < 2 || !a.Rows[0].Kept() || a.Rows[0].Type != "c6in.2xlarge" || a.Owned == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	// Half as many hold the data and half the load: they are beside what meets the demand.
	keep.N, keep.Spec.Size = 4, 100*units.GiB
	a, err = Advise(Request{Demand: demand(t, guide), Keep: keep})
	if err != nil || !strings.Contains(a.Rejected[0], "4 × gp3 sustain 12,000 of 23,999") {
		t.Fatalf("%+v, %v", a, err)
	}
	if own := a.Owned; own == nil || math.Abs(own.Times-0.5) > 0.001 || own.VolumesMonth.String() != "$32.00" ||
		own.PerIOPS != own.Month.Times(1/(own.Times*18461)) {
		t.Errorf("%+v", own)
	}
	if len(a.Rows) == 0 || slices.ContainsFunc(a.Rows, Candidate.Kept) {
		t.Errorf("%+v", a.Rows)
	}
	keep.N = 3
	keep.Spec.Size = 8 * units.GiB
	a, err = Advise(Request{Demand: demand(t, guide), Keep: keep})
	if err != nil || !strings.Contains(a.Rejected[0], "3 × gp3 hold 12 GiB of 200 GiB") {
		t.Fatalf("what decides is the size: %+v, %v", a.Rejected, err)
	}
}

// TestLocal: an instance's own drives are a row of their own, never the cheapest.
func TestLocal(t *testing.T) {
	a, err := Advise(Request{
		Demand: demand(t, "capacity: 1TiB\nstreams:\n  - {does: random read, block: 4KiB, rate: 400000 IOPS}\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, c := range a.Rows {
		if c.Layout.Local {
			found = true
			if strings.Contains(strings.Join(c.Names, " "), "cheapest") || c.Survives != workload.NoLoss {
				t.Errorf("%+v", c)
			}
		}
	}
	if !found {
		t.Errorf("no local row: %q", a.Rejected)
	}
}

// BenchmarkAdvise: 1,300 types × 50 layouts in less than 100 ms.
func BenchmarkAdvise(b *testing.B) {
	d := demand(b, guideScan)
	types := []string{"gp3", "gp2", "io2", "io1", "local"}
	for b.Loop() {
		a, err := Advise(Request{Demand: d, Headroom: 0.2, Types: types, Older: true})
		if err != nil || a.Layouts < 45 || a.Instances < 1340 {
			b.Fatal(err, a.Layouts, a.Instances)
		}
	}
}
