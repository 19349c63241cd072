package ceiling

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// anyLoad is a fio workload as people write them.
func anyLoad(r *rapid.T, label string) fio.Workload {
	bs := units.Bytes(rapid.IntRange(1, 512).Draw(r, label+" bs/4k")) * 4 * k
	w := load(rapid.SampledFrom([]string{"read", "write", "randread", "randwrite", "randrw"}).Draw(r, label+" rw"), bs,
		rapid.IntRange(1, 64).Draw(r, label+" depth"), rapid.IntRange(1, 8).Draw(r, label+" jobs"))
	if rapid.Bool().Draw(r, label+" sync") {
		w.SyncEvery = 1
	}
	if rapid.Bool().Draw(r, label+" rated") {
		w.ReadRate, w.WriteRate = 16*units.MiBPerSec, 5*units.MiBPerSec
	}
	return w
}

func anyLoads(r *rapid.T) []fio.Workload {
	loads := make([]fio.Workload, rapid.IntRange(1, 3).Draw(r, "sections"))
	for i := range loads {
		loads[i] = anyLoad(r, string(rune('a'+i)))
	}
	return loads
}

func anyMachine(r *rapid.T, levels ...topology.Level) *topology.Topology {
	n := rapid.IntRange(4, 12).Draw(r, "n")
	level := rapid.SampledFrom(levels).Draw(r, "level")
	chunk := units.Bytes(4*k) << rapid.IntRange(0, 8).Draw(r, "chunk")
	spec := rapid.SampledFrom([]cloud.VolumeSpec{
		gp3, {Type: "gp2", Size: 50 * units.GiB}, {Type: "gp2", Size: 5 * units.TiB}, {Type: "st1", Size: units.TiB}, {Type: "io2", Size: units.TiB, IOPS: 30000},
	}).Draw(r, "volume")
	top := machine(r, n, spec, level, chunk, rapid.SampledFrom([]string{"", "c8g.2xlarge", "m5.12xlarge"}).Draw(r, "instance"))
	if rapid.Bool().Draw(r, "drives") {
		for i := range top.Arrays[0].Volumes {
			top.Arrays[0].Volumes[i] = topology.Volume{Sustained: topology.Limits{ReadIOPS: 636500, WriteIOPS: 111500, ReadRate: 3000e6, WriteRate: 2900e6}}
		}
	}
	return top
}

var allLevels = []topology.Level{topology.Single, topology.RAID0, topology.RAID1, topology.RAID10, topology.RAID5, topology.RAID6, topology.Linear}

// What holds of every ceiling.
func TestBoundsAreSound(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := Of(anyMachine(r, allLevels...), topology.Data, anyLoads(r))
		if !slices.IsSortedFunc(c.Bounds, func(a, b Bound) int {
			if a.IOPS < b.IOPS {
				return -1
			}
			return 0
		}) {
			r.Fatal("not ascending")
		}
		for _, b := range c.Bounds {
			if !(b.IOPS > 0) || math.IsInf(float64(b.IOPS), 0) || !(b.BW > 0) || b.How == "" || b.Demand <= 0 {
				r.Fatalf("%+v", b)
			}
			if near := b.Capacity / b.Demand / float64(b.IOPS); math.Abs(near-1) > 1e-9 {
				r.Fatalf("capacity/demand is not the bound: %+v", b)
			}
			if math.Abs(float64(b.ReadIOPS+b.WriteIOPS)/float64(b.IOPS)-1) > 1e-9 {
				r.Fatalf("reads and writes do not add up: %+v", b)
			}
			if b.IOPS < c.Binding().IOPS && !c.outdone(b) {
				r.Fatalf("%v is below the binding %v", b.Label(), c.Binding().Label())
			}
			if !b.Burst && b.IOPS < c.Sustained().IOPS {
				r.Fatal("below what is sustained")
			}
			if b.Burst && b.BurstFor < 0 {
				r.Fatal("negative burst")
			}
		}
		if c.Sustained() != nil && c.Binding().IOPS < c.Sustained().IOPS {
			r.Fatal("a short test reaches less than what is sustained")
		}
		steps := c.Course()
		for i := 1; i < len(steps); i++ {
			if steps[i].Bound.IOPS > steps[i-1].Bound.IOPS || steps[i-1].Until <= 0 {
				r.Fatalf("the course rises: %+v", steps)
			}
		}
		slow := c.WithLatency(2*time.Millisecond, 2*time.Millisecond, 4, topology.Origin{})
		slower := c.WithLatency(4*time.Millisecond, 4*time.Millisecond, 4, topology.Origin{})
		if slower.Binding().IOPS > slow.Binding().IOPS || slow.Binding().IOPS > c.Binding().IOPS || len(slow.Bounds) != len(c.Bounds)+1 {
			r.Fatal("more latency allows more")
		}
	})
}

// One volume more never carries less. Not so for RAID5 and RAID6, where a stripe may stop fitting the
// block size, nor for blocks that are no power of two: 12 KiB at multiples of 12 KiB on chunks of
// 8 KiB load 10 volumes alike, and of 12 some half as much again as others.
func TestMoreVolumesCarryMore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		top, loads := anyMachine(r, topology.RAID0, topology.RAID1, topology.RAID10, topology.Linear), anyLoads(r)
		for i := range loads {
			for _, bs := range []*units.Bytes{&loads[i].ReadBS, &loads[i].WriteBS} {
				for *bs&(*bs-1) != 0 {
					*bs &= *bs - 1
				}
			}
		}
		top.Instance = topology.Instance{} // it sees more I/Os of an I/O that is mirrored or cut more often
		a := &top.Arrays[0]
		a.Volumes = a.Volumes[:len(a.Volumes)/2*2] // of an odd RAID10 the stripe is not a whole number of chunks
		before := Of(top, topology.Data, loads)
		for range max(a.Copies, 2) {
			a.Volumes = append(a.Volumes, a.Volumes[0])
		}
		after := Of(top, topology.Data, loads)
		if after.Binding().IOPS < before.Binding().IOPS*0.999999 || after.Sustained().IOPS < before.Sustained().IOPS*0.999999 {
			r.Fatalf("%v then %v", before.Binding(), after.Binding())
		}
	})
}

func TestMoreCapacityCarriesMore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		top, loads := anyMachine(r, allLevels...), anyLoads(r)
		before := Of(top, topology.Data, loads)
		for i := range top.Arrays[0].Volumes {
			v := &top.Arrays[0].Volumes[i]
			v.Sustained.IOPS *= 2
			v.Sustained.Rate *= 2
			v.Sustained.WriteIOPS *= 3
		}
		after := Of(top, topology.Data, loads)
		if after.Binding().IOPS < before.Binding().IOPS || after.Sustained().IOPS < before.Sustained().IOPS {
			r.Fatalf("%v then %v", before.Binding(), after.Binding())
		}
	})
}

// Roles together get no more than alone, and no more of the instance than there is.
func TestTogether(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		top := anyMachine(r, topology.RAID0, topology.RAID10)
		two := top.Arrays[0]
		two.Name = "md1"
		top.Arrays = append(top.Arrays, two)
		top.Targets[1].Array = "md1"
		loads := map[topology.Role][]fio.Workload{topology.Data: {anyLoad(r, "data")}, topology.WAL: {anyLoad(r, "wal")}}
		used := map[Kind]float64{}
		got := OfTogether(top, loads)
		for role, c := range got {
			alone := Of(top, role, loads[role])
			if c.Sustained().IOPS > alone.Sustained().IOPS*1.000001 {
				r.Fatalf("%s: %v together, %v alone", role, c.Sustained(), alone.Sustained())
			}
			for _, b := range alone.Bounds {
				if !b.Burst && (b.Kind == InstanceIOPS || b.Kind == InstanceRate) {
					used[b.Kind] += float64(c.Sustained().IOPS / b.IOPS)
				}
			}
		}
		for kind, part := range used {
			if part > 1.000001 {
				r.Fatalf("%s is used %.3f times", kind, part)
			}
		}
	})
}

// The closed form of Pieces against counting every offset.
func TestPiecesByCounting(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		bs := units.Bytes(rapid.IntRange(1, 600).Draw(r, "bs")) * 512
		align := units.Bytes(rapid.IntRange(1, 600).Draw(r, "align")) * 512
		chunk := units.Bytes(rapid.IntRange(1, 300).Draw(r, "chunk")) * 512
		sum, n := 0, 0
		for o := units.Bytes(0); o < align*chunk/topology.GCD(align, chunk); o += align {
			sum += int((o+bs-1)/chunk - o/chunk + 1)
			n++
		}
		if want, got := float64(sum)/float64(n), topology.PiecesAligned(bs, align, chunk); math.Abs(want-got) > 1e-9 {
			r.Fatalf("bs %v align %v chunk %v: %v, counted %v", bs, align, chunk, got, want)
		}
	})
}
