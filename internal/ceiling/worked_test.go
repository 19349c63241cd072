package ceiling

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func within(got units.IOPS, want float64) bool { return math.Abs(float64(got)/want-1) < 0.001 }

// Phases worked out by hand from the credit rules of AWS.
func TestPhasesByHand(t *testing.T) {
	small := cloud.VolumeSpec{Type: "gp2", Size: 100 * units.GiB}
	st1 := cloud.VolumeSpec{Type: "st1", Size: units.TiB}
	for name, c := range map[string]struct {
		top  *topology.Topology
		load fio.Workload
		want []Step
	}{
		// Four volumes at 3,000 use 4 × 2,700 credits a second above their 300. The instance's 18,750
		// end after 1,800 s, when each volume has 5.4M - 1,800 × 2,700 = 540,000 left. At its 3,600
		// each does 900 and spends 600: 900 s more.
		"two bursts": {
			machine(t, 4, small, topology.RAID0, 64*k, "m5.large"), load("randread", 16*k, 32, 1),
			[]Step{{30 * time.Minute, Bound{IOPS: 12000, Kind: VolumeIOPS}}, {45 * time.Minute, Bound{IOPS: 3600, Kind: InstanceIOPS}}, {0, Bound{IOPS: 1200, Kind: VolumeIOPS}}},
		},
		// 1 TiB of credits, 40 MiB/s earned. t4g.medium gives 260.625 MB/s for 1,800 s, then 43.375: the
		// volume spends 393,630e6 bytes of 1,099,512e6, then 1.432e6 a second for 492,944 s more: 5.7 days.
		"a disk behind a small instance": {
			machine(t, 1, st1, topology.Single, 0, "t4g.medium"), load("read", m, 16, 1),
			[]Step{{30 * time.Minute, Bound{IOPS: 248.55, Kind: InstanceRate}}, {494744 * time.Second, Bound{IOPS: 41.37, Kind: InstanceRate}}, {0, Bound{IOPS: 40, Kind: VolumeRate}}},
		},
		// Both bursts of an instance end after 30 min: of 40 MiB/s and 4,000 IOPS the bytes allow 2,560, then
		// of 10 MiB/s and 1,000 they allow 640.
		"two bursts at once": {
			&topology.Topology{
				Arrays: []topology.Array{{Name: "md0", Level: topology.Single, Volumes: []topology.Volume{{Network: true, CountedIO: 256 * k, Merges: true, Sustained: topology.Limits{IOPS: 16000}}}}},
				Instance: topology.Instance{
					Type: "x", Baseline: topology.Limits{IOPS: 1000, Rate: 10 * units.MiBPerSec}, Burst: topology.Limits{IOPS: 4000, Rate: 40 * units.MiBPerSec}, BurstFor: 30 * time.Minute,
				},
			}, load("randread", 16*k, 32, 1),
			[]Step{{30 * time.Minute, Bound{IOPS: 2560, Kind: InstanceRate}}, {0, Bound{IOPS: 640, Kind: InstanceRate}}},
		},
		// Asked for 500 of 3,000: 5.4M / (500 - 300) = 27,000 s.
		"a burst used in part": {
			machine(t, 1, small, topology.Single, 0, ""), asked(load("randread", 16*k, 32, 1), 500),
			[]Step{{450 * time.Minute, Bound{IOPS: 500, Kind: RequestedRate}}, {0, Bound{IOPS: 300, Kind: VolumeIOPS}}},
		},
	} {
		got := Of(c.top, topology.Data, []fio.Workload{c.load}).Course()
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i, w := range c.want {
			if !within(got[i].Bound.IOPS, float64(w.Bound.IOPS)) || got[i].Bound.Kind != w.Bound.Kind ||
				math.Abs(float64(got[i].Until-w.Until)) > 0.005*float64(w.Until) {
				t.Errorf("%s: phase %d: %v %v until %v, want %+v", name, i+1, got[i].Bound.IOPS, got[i].Bound.Kind, got[i].Until, w)
			}
		}
	}
}

func asked(w fio.Workload, iops units.IOPS) fio.Workload {
	w.ReadIOPS, w.WriteIOPS = iops, iops
	return w
}

func split(w fio.Workload, sizes ...fio.SizeShare) fio.Workload {
	w.ReadSizes, w.WriteSizes = nil, nil
	if w.ReadShare > 0 {
		w.ReadSizes, w.ReadBS = sizes, fio.Sizes(sizes).Mean()
	}
	if w.ReadShare < 1 {
		w.WriteSizes, w.WriteBS = sizes, fio.Sizes(sizes).Mean()
	}
	return w
}

// Volumes of 3,000 IOPS each, 16 × 32 in flight. What one I/O costs is counted by hand.
func TestCostsByHand(t *testing.T) {
	fast := cloud.VolumeSpec{Type: "gp3", Size: 500 * units.GiB, IOPS: 3000, Rate: 750 * units.MiBPerSec}
	on := func(level topology.Level, n int, chunk units.Bytes) *topology.Topology {
		return machine(t, n, fast, level, chunk, "")
	}
	layout := func(top *topology.Topology, offset bool) *topology.Topology {
		top.Arrays[0].Near, top.Arrays[0].Offset = 1, offset
		return top
	}
	one := func(w fio.Workload) fio.Workload { w.Depth, w.Jobs = 1, 1; return w }
	region := func(w fio.Workload, size units.Bytes) fio.Workload { w.Size, w.SharedFile = size, true; return w }
	linear := on(topology.Linear, 4, 0)
	for i := range linear.Arrays[0].Volumes {
		linear.Arrays[0].Volumes[i].Size = 50 * units.GiB
	}
	for name, c := range map[string]struct {
		top  *topology.Topology
		load fio.Workload
		want float64
	}{
		// 0.7 × 1 + 0.3 × 2 = 1.3 of 256 KiB
		"a size above the unit": {on(topology.Single, 1, 0), split(load("randread", 0, 32, 16), fio.SizeShare{Size: 8 * k, Share: 0.7}, fio.SizeShare{Size: 512 * k, Share: 0.3}), 3000 / 1.3},
		// 32 KiB at multiples of 8 KiB cross a boundary of 64 KiB from 3 of 8 places: 1 + 0.4 × 3/8
		// (fio 3.33's own offsets: 1.151)
		"sizes on chunks": {on(topology.RAID0, 4, 64*k), split(load("randread", 0, 32, 16), fio.SizeShare{Size: 8 * k, Share: 0.6}, fio.SizeShare{Size: 32 * k, Share: 0.4}), 12000 / 1.15},
		// 36 KiB at multiples of 4 KiB cross from every second place. Inside a chunk: read the two other
		// data or the old data and parity, write data and parity: 4. Across one the two parts lie in
		// different rows of pages, with a parity of its own each: 8.
		"RAID5 across chunks": {on(topology.RAID5, 4, 64*k), load("randwrite", 36*k, 32, 16), 12000 / 6},
		// 34 KiB begin or end in half a page: for that row the old data and parity are read, where the whole
		// pages beside it read the two other data, and it is written apart. 4 + 4 inside a chunk; across one,
		// from every second place, 8 + 4, but where one part is the half page alone, from 1 of 16, 4 + 4 (md
		// itself, 32 in flight: 9.78).
		"RAID5 across chunks and pages": {on(topology.RAID5, 4, 64*k), load("randwrite", 34*k, 32, 16), 12000 / 9.75},
		// 48 KiB cross from every second place: 6 and 12.
		"RAID6 across chunks": {on(topology.RAID6, 6, 64*k), load("randwrite", 48*k, 32, 16), 18000 / 9},
		// Four data members. 128 KiB at multiples of 128 KiB are two whole chunks: read-modify-write reads
		// 2 + 1, reconstruct-write the other 2, which is less; 3 are written.
		"RAID5 reconstruct-write": {on(topology.RAID5, 5, 64*k), load("randwrite", 128*k, 32, 16), 15000 / 5},
		// 4,096 × 5/4 bytes and whole pages: 2 KiB are written as 4 KiB, 4 I/Os.
		"RAID5 part of a page": {on(topology.RAID5, 8, 64*k), load("randwrite", 2*k, 32, 16), 24000 / 4},
		// Offsets that are multiples of a stripe: all on one of four volumes.
		"one chunk of each stripe": {on(topology.RAID0, 4, 64*k), aligned(load("randread", 4*k, 32, 16), 256*k), 3000},
		// The first copies lie on all members, also for one I/O in flight.
		"far, one in flight":    {layout(on(topology.RAID10, 4, 64*k), false), one(load("randread", 4*k, 1, 1)), 12000},
		"offset, one in flight": {layout(on(topology.RAID10, 4, 64*k), true), one(load("randread", 4*k, 1, 1)), 12000},
		"near, one in flight":   {on(topology.RAID10, 4, 64*k), one(load("randread", 4*k, 1, 1)), 6000},
		// 256 KiB are a stripe of four: on each member one chunk in each half.
		"far write of a stripe": {layout(on(topology.RAID10, 4, 64*k), false), load("randwrite", 256*k, 32, 16), 12000 / 8},
		// Both rows of copies lie one below the other: one I/O of 128 KiB on each member.
		"offset write of a stripe": {layout(on(topology.RAID10, 4, 64*k), true), load("randwrite", 256*k, 32, 16), 12000 / 4},
		// 190 GiB over 50 + 50 + 50 + 40: a full one gets 5 of 19.
		"linear by region":      {linear, region(load("randread", 8*k, 32, 16), 190*units.GiB), 3000 * 19 / 5},
		"linear on one volume":  {linear, region(load("randread", 8*k, 32, 16), 40*units.GiB), 3000},
		"five chunks over four": {on(topology.RAID0, 4, 64*k), region(load("randread", 4*k, 32, 16), 320*k), 3000 * 5 / 2},
		"two chunks over four":  {on(topology.RAID0, 4, 64*k), region(load("randread", 4*k, 32, 16), 128*k), 3000 * 2},
		// fio holds each direction to its rate, whatever the mix.
		"rates of a mix": {on(topology.Single, 1, 0), asked(fio.Workload{ReadShare: 0.3, ReadBS: 4 * k, WriteBS: 4 * k, Jobs: 1, Depth: 64, Direct: true}, 500), 1000},
		// 500 reads, and what is left for writes.
		"one rate of a mix": {on(topology.Single, 1, 0), fio.Workload{ReadShare: 0.3, ReadBS: 4 * k, WriteBS: 4 * k, Jobs: 1, Depth: 64, Direct: true, ReadIOPS: 500}, 3000},
		// rate_iops=1000 of 4 and 12 KiB is 4,000 KiB/s (by the smallest block), 500 I/Os of 8 KiB; two jobs
		"rate_iops by the smallest block": {on(topology.Single, 1, 0), fio.Workload{ReadShare: 1, ReadBS: 8 * k, ReadLeast: 4 * k, ReadSizes: fio.Sizes{{Size: 4 * k, Share: 0.5}, {Size: 12 * k, Share: 0.5}}, Jobs: 2, Depth: 64, ReadIOPS: 1000}, 1000},
		// rate=8m of the same is 1,024 I/Os of 8 KiB
		"rate by the mean block": {on(topology.Single, 1, 0), fio.Workload{ReadShare: 1, ReadBS: 8 * k, ReadLeast: 4 * k, ReadSizes: fio.Sizes{{Size: 4 * k, Share: 0.5}, {Size: 12 * k, Share: 0.5}}, Jobs: 1, Depth: 64, ReadRate: 8 * units.MiBPerSec}, 1024},
	} {
		if b := Of(c.top, topology.Data, []fio.Workload{c.load}).Binding(); b == nil || !within(b.IOPS, c.want) {
			t.Errorf("%s: %+v, want %.1f", name, b, c.want)
		}
	}
}

func aligned(w fio.Workload, align units.Bytes) fio.Workload {
	w.ReadAlign, w.WriteAlign = align, align
	return w
}

// The bytes of partial stripes, of drives that count nothing: RAID6 of six, chunk 64 KiB.
func TestParityBytesByHand(t *testing.T) {
	m6 := membersOf(&topology.Array{Level: topology.RAID6, Chunk: 64 * k, Volumes: make([]topology.Volume, 6)})
	for _, c := range []struct {
		size units.Bytes
		want cost
	}{
		// 4 KiB: 3 × read and write of a page
		{4 * k, cost{3, 3, 12 * 1024, 12 * 1024}},
		// a whole chunk: three other chunks read (reconstruct-write, 3 = 1 + 2 are as many), three written
		{64 * k, cost{3, 3, 192 * 1024, 192 * 1024}},
		// three chunks from the first: one read, five written; from the second to the fourth likewise, but
		// offsets are multiples of 192 KiB in 256: at 0, 192, 128 and 64 KiB. Those at 192 and 128 go on in
		// the next stripe: 1 + 2 and 2 + 1 chunks: 3 + 2 read, 3 + 4 written.
		{192 * k, cost{(1 + 5 + 5 + 1) / 4.0, (5 + 7 + 7 + 5) / 4.0, (1 + 5 + 5 + 1) * 65536 / 4.0, (5 + 7 + 7 + 5) * 65536 / 4.0}},
	} {
		if got := m6.parityWrite(c.size, c.size, counting{}).cost; got != c.want {
			t.Errorf("%v: %+v, want %+v", c.size, got, c.want)
		}
	}
}

// Two roles share an instance of 12,000 IOPS sustained (c8g.2xlarge). Data could use all of it; the
// log writes 1,000 I/Os per second on a mirror, 2,000 volume I/Os, and has them.
func TestSharedInstanceByHand(t *testing.T) {
	top := machine(t, 8, gp3, topology.RAID0, 64*k, "c8g.2xlarge")
	log := machine(t, 2, gp3, topology.RAID1, 0, "").Arrays[0]
	log.Name = "md1"
	top.Arrays = append(top.Arrays, log)
	top.Targets[1].Array = "md1"
	got := OfTogether(top, map[topology.Role][]fio.Workload{
		topology.Data: {load("randread", 8*k, 64, 4)}, topology.WAL: {asked(load("randwrite", 8*k, 1, 8), 125)},
	})
	if b := got[topology.Data].Sustained(); !within(b.IOPS, 12000*12000/14000.0) || b.Kind != InstanceIOPS {
		t.Errorf("data: %+v", b)
	}
	if b := got[topology.WAL].Sustained(); !within(b.IOPS, 12000*2000/14000.0/2) || b.Kind != InstanceIOPS {
		t.Errorf("log: %+v", b)
	}
}

// Reads are served by the quickest member, a write of a mirror waits for the slowest.
func TestLatencyOfMirrorsByHand(t *testing.T) {
	for _, level := range []topology.Level{topology.RAID1, topology.RAID10} {
		a := topology.Array{Name: "md0", Level: level, Chunk: 64 * k}
		for i := range 4 {
			d := time.Duration(i+1) * 100 * time.Microsecond
			a.Volumes = append(a.Volumes, topology.Volume{Sustained: topology.Limits{IOPS: 1e6}, ReadLatency: d, WriteLatency: d})
		}
		top := &topology.Topology{Arrays: []topology.Array{a}}
		if b := Of(top, topology.Data, []fio.Workload{load("randread", 4*k, 1, 1)}).Binding(); !within(b.IOPS, 10000) {
			t.Errorf("%s read: %+v", level, b)
		}
		if b := Of(top, topology.Data, []fio.Workload{load("randwrite", 4*k, 1, 1)}).Binding(); !within(b.IOPS, 2500) {
			t.Errorf("%s write: %+v", level, b)
		}
	}
}

// An HDD volume sells throughput: a random I/O takes a MiB of it, and IOPS cannot be ordered.
func TestDisksSellThroughput(t *testing.T) {
	top := machine(t, 1, cloud.VolumeSpec{Type: "st1", Size: 5 * units.TiB}, topology.Single, 0, "")
	for _, rw := range []string{"randread", "randwrite", "randrw"} {
		c := Of(top, topology.Data, []fio.Workload{load(rw, 16*k, 16, 1)})
		if b := c.Binding(); b.Kind != VolumeRate || !within(b.IOPS, 500) || len(c.Bounds) != 2 {
			t.Errorf("%s: %+v", rw, c.Bounds)
		}
	}
}
