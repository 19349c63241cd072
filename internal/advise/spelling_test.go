package advise

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// first is the row that is advised first.
func first(t *testing.T, r Request) Candidate {
	t.Helper()
	a, err := Advise(r)
	if err != nil || len(a.Rows) == 0 {
		t.Fatalf("%v %+v", err, a)
	}
	return a.Rows[0]
}

// TestOnePrice: a demand has one price, however it is written: as one mixed stream or as a read and
// a write stream that run at the same time.
func TestOnePrice(t *testing.T) {
	const one = `capacity: 500GiB
streams:
  - {name: base, does: random readwrite, reads: 70%, block: 8KiB, rate: 2000 IOPS}
  - {name: nightly, does: random readwrite, reads: 70%, block: 8KiB, rate: 8000 IOPS, burst: {for: 20m, every: 24h}}
`
	const two = `capacity: 500GiB
streams:
  - {name: read, does: random read, block: 8KiB, rate: 1400 IOPS}
  - {name: write, does: random write, block: 8KiB, rate: 600 IOPS}
  - {name: nightly-read, does: random read, block: 8KiB, rate: 5600 IOPS, burst: {for: 20m, every: 24h}}
  - {name: nightly-write, does: random write, block: 8KiB, rate: 2400 IOPS, burst: {for: 20m, every: 24h}}
`
	for _, burst := range []bool{false, true} {
		a := first(t, Request{Demand: demand(t, one), Headroom: 0.2, VCPUs: 4, BurstOK: burst})
		b := first(t, Request{Demand: demand(t, two), Headroom: 0.2, VCPUs: 4, BurstOK: burst})
		if a.Month != b.Month || a.Type != b.Type {
			t.Errorf("--burst-ok %v: one stream %v on %s, two %v on %s", burst, a.Month, a.Type, b.Month, b.Type)
		}
		if want := map[bool]string{false: "$205.56", true: "$138.11"}[burst]; a.Month.String() != want {
			t.Errorf("--burst-ok %v: %v, want %s", burst, a.Month, want)
		}
	}
	// Near miss: the second stream's window is two hours long, and the credits are not.
	long := strings.ReplaceAll(two, "for: 20m", "for: 2h")
	if a := first(t, Request{Demand: demand(t, long), Headroom: 0.2, VCPUs: 4, BurstOK: true}); a.Month.String() == "$138.11" {
		t.Errorf("two hours are carried by %s at %v", a.Type, a.Month)
	}
}

// TestDecidingObstacle: of two limits the one of which an instance reaches the lesser share is
// named, and of bursts the one that is in the way.
func TestDecidingObstacle(t *testing.T) {
	r := Request{Demand: demand(t, logging), Headroom: 0.2, Prices: cloud.BuiltinPrices()}
	l := Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3"}}
	if got := r.whyNot(l, "t4g.medium"); !strings.Contains(got, "sustains 43.4 MB/s of 422.8 MB/s") {
		t.Errorf("%q: it reaches 10 %% of the throughput, and 72 %% of the IOPS", got)
	}
	peaks := "capacity: 100GiB\nstreams:\n  - {name: r, does: random read, block: 4KiB, rate: 36000 IOPS, burst: {for: 10m, every: 24h}}\n"
	r = Request{Demand: demand(t, peaks), Prices: cloud.BuiltinPrices(), BurstOK: true}
	if got := r.whyNot(l, "c6g.medium"); got != "c6g.medium at $24.82 reaches in bursts 20,000 of 36,000 volume I/Os per second" {
		t.Error(got)
	}
	r.BurstOK = false
	if got := r.whyNot(l, "c6g.medium"); got != "c6g.medium at $24.82 sustains 2,500 of 36,000 volume I/Os per second" {
		t.Error(got)
	}
}

// TestGroupCommit: commits that come faster than the log can be synced share its writes, as many as
// there are clients at most; slower ones do not.
func TestGroupCommit(t *testing.T) {
	r := Request{Synced: 1_858_000}
	l := Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "gp3"}}
	for _, c := range []struct {
		rate    units.IOPS
		clients int
		iops    units.IOPS
		block   units.Bytes
	}{
		{5000, 100, 5000. / 9, 72 * units.KiB}, // 5,000 × 1.858 ms = 9.29
		{500, 100, 500, 8 * units.KiB},
		{500, 1, 500, 8 * units.KiB},
		{17_940, 100, 17_940. / 33, 264 * units.KiB},
		{17_940, 4, 17_940. / 4, 32 * units.KiB},
	} {
		s := workload.CommitStream(c.rate, c.clients)
		got := r.grouped(l, &s)
		if got.IOPS != c.iops || got.Blocks[0].Size != c.block {
			t.Errorf("%v commits of %d clients: %v of %v, want %v of %v", c.rate, c.clients, got.IOPS, got.Blocks[0].Size, c.iops, c.block)
		}
	}
}

// TestCapacity: nothing is bought by the gigabyte for data of which the size is not known.
func TestCapacity(t *testing.T) {
	d := demand(t, "streams:\n  - {name: r, does: random read, block: 4KiB, rate: 100 IOPS}\n")
	if _, err := Advise(Request{Demand: d}); err != ErrCapacity { //nolint:errorlint // it is returned as it is
		t.Error(err)
	}
	keep := &Layout{Level: topology.RAID10, N: 4, Spec: cloud.VolumeSpec{Type: "gp3", Size: 100 * units.GiB}}
	a, err := Advise(Request{Demand: d, Keep: keep})
	if err != nil || len(a.Rows) < 2 || a.Rows[1].Layout.Spec.Size*units.Bytes(a.Rows[1].Layout.N) < 200*units.GiB {
		t.Errorf("what replaces volumes of 200 GiB holds less: %+v %v", a, err)
	}
}

// TestOutsideNitro: 40,000 I/Os per second on one volume of io1 pass a Nitro instance; one of Xen lets
// 32,000 through to a volume, whatever both were ordered with, and 64,000 to two.
func TestOutsideNitro(t *testing.T) {
	d := demand(t, "capacity: 2000GiB\nstreams:\n  - {name: r, does: random read, block: 8KiB, rate: 40000 IOPS}\n")
	r := Request{Demand: d, Types: []string{"io1"}, Instance: "r4.16xlarge", MaxVolumes: 1}
	a, err := Advise(r)
	if err != nil || len(a.Rows) != 0 || !strings.Contains(strings.Join(a.Rejected, "\n"),
		"r4.16xlarge with single: lets 32,000 of 40,000 I/Os per second through to one volume, as it is not built on Nitro") {
		t.Errorf("%+v %v", a, err)
	}
	r.MaxVolumes = 2
	if a, err = Advise(r); err != nil || len(a.Rows) == 0 || a.Rows[0].Layout.N != 2 || math.Abs(a.Rows[0].Times-1) > 1e-9 {
		t.Errorf("%+v %v", a, err)
	}
	// Kept volumes of 64,000 each reach half of that there.
	r.Keep = &Layout{Level: topology.Single, N: 1, Spec: cloud.VolumeSpec{Type: "io1", Size: 2000 * units.GiB, IOPS: 64000}}
	if a, err = Advise(r); err != nil || a.Owned == nil || math.Abs(a.Owned.Times-0.8) > 1e-9 {
		t.Errorf("%+v %v", a, err)
	}
	r.Instance = "r6i.16xlarge" // near miss: Nitro
	if a, err = Advise(r); err != nil || a.Owned == nil || math.Abs(a.Owned.Times-1.6) > 1e-9 || !a.Rows[0].Kept() {
		t.Errorf("%+v %v", a, err)
	}
}
