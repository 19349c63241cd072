package ceiling

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Figures worked out by hand on volumes of 1,000 IOPS and 100 MiB/s that count and merge nothing.
func TestLevels(t *testing.T) {
	array := func(level topology.Level, n int) *topology.Topology {
		a := topology.Array{Name: "md0", Level: level, Chunk: 64 * k}
		for range n {
			a.Volumes = append(a.Volumes, topology.Volume{Sustained: topology.Limits{IOPS: 1000, Rate: 100 * units.MiBPerSec}})
		}
		return &topology.Topology{Arrays: []topology.Array{a}, Targets: []topology.Target{{Role: topology.Data, Array: "md0"}}}
	}
	for _, c := range []struct {
		name  string
		level topology.Level
		n     int
		load  fio.Workload
		kind  Kind
		want  float64
	}{
		{"single", topology.Single, 1, load("randread", 8*k, 32, 1), VolumeIOPS, 1000},
		{"mirror read", topology.RAID1, 2, load("randread", 8*k, 32, 1), VolumeIOPS, 2000},
		{"mirror read, one in flight", topology.RAID1, 2, load("randread", 8*k, 1, 1), VolumeIOPS, 1000},
		{"mirror write", topology.RAID1, 2, load("randwrite", 8*k, 32, 1), VolumeIOPS, 1000},
		{"three mirrors write", topology.RAID1, 3, load("randwrite", 8*k, 32, 1), VolumeIOPS, 1000},
		{"RAID10 read, one in flight (lab: 4 of 8 volumes, 1,201 of 1,200)", topology.RAID10, 8, load("randread", 8*k, 1, 1), VolumeIOPS, 4000},
		{"RAID10 read of two stripes, one in flight: both mirrors, 8 pieces", topology.RAID10, 8, load("randread", 512*k, 1, 1), VolumeRate, 1600},
		{"RAID10 read of one and a half: the first mirrors read a stripe, 400 MiB/s by 256 KiB", topology.RAID10, 8, load("randread", 384*k, 1, 1), VolumeRate, 1600},
		{"concatenation", topology.Linear, 4, load("randread", 8*k, 32, 1), VolumeIOPS, 1000},
		{"stripes split 28k: 4,000/1.375", topology.RAID0, 4, load("randread", 28*k, 32, 8), VolumeIOPS, 4000 / 1.375},
		{"1M over 16 chunks, bytes bind: 400/1", topology.RAID0, 4, load("read", 1*m, 16, 1), VolumeIOPS, 250},
		{"RAID5 small write: read and write block and parity", topology.RAID5, 8, load("randwrite", 8*k, 32, 1), VolumeIOPS, 2000},
		{"RAID5 of 3: reconstruct-write costs 3", topology.RAID5, 3, load("randwrite", 8*k, 32, 1), VolumeIOPS, 1000},
		{"RAID6 small write: 6", topology.RAID6, 12, load("randwrite", 8*k, 32, 1), VolumeIOPS, 2000},
		{"RAID5 read", topology.RAID5, 8, load("randread", 8*k, 32, 1), VolumeIOPS, 8000},
		{"RAID5 full stripe of 4 × 64k: 5 I/Os", topology.RAID5, 5, load("randwrite", 256*k, 32, 1), VolumeIOPS, 1000},
		{"RAID5 full stripe bytes: 500/(256k × 5/4)", topology.RAID5, 5, load("randwrite", 256*k, 32, 1), VolumeRate, 1600},
		{"RAID6 stream: 600 × 4/6 of 64k", topology.RAID6, 6, load("write", 64*k, 32, 1), VolumeRate, 6400},
		{"RAID5 small write bytes: 4 × 8k", topology.RAID5, 8, load("randwrite", 8*k, 32, 1), VolumeRate, 800.0 * 1024 / 32},
	} {
		got := Of(array(c.level, c.n), topology.Data, []fio.Workload{c.load})
		found := false
		for _, b := range got.Bounds {
			if b.Kind == c.kind {
				found = true
				if math.Abs(float64(b.IOPS)-c.want) > 0.01 {
					t.Errorf("%s: %v, want %v (%s)", c.name, float64(b.IOPS), c.want, b.How)
				}
			}
		}
		if !found {
			t.Errorf("%s: no bound by %s", c.name, c.kind)
		}
	}
}

// EBS counts an I/O of up to 256 KiB once, random ones singly.
func TestCounting(t *testing.T) {
	top := machine(t, 1, gp3, topology.Single, 0, "")
	for _, c := range []struct {
		rw   string
		bs   units.Bytes
		want float64
	}{
		{"randread", 256 * k, 3000}, {"randread", 257 * k, 1500}, {"randread", 1 * m, 750}, {"read", 8 * k, 3000 * 32}, {"read", 1 * m, 750},
	} {
		for _, b := range Of(top, topology.Data, []fio.Workload{load(c.rw, c.bs, 16, 1)}).Bounds {
			if b.Kind == VolumeIOPS && math.Abs(float64(b.IOPS)-c.want) > 0.01 {
				t.Errorf("%s %v: %v, want %v", c.rw, c.bs, b.IOPS, c.want)
			}
		}
	}
	// The chunks of 1 MiB that fall on one of four volumes lie side by side there: 4 × 256 KiB, not
	// 16 × 64 KiB.
	striped := machine(t, 4, gp3, topology.RAID0, 64*k, "")
	for _, b := range Of(striped, topology.Data, []fio.Workload{load("randread", 1*m, 16, 1)}).Bounds {
		if b.Kind == VolumeIOPS && b.IOPS != 3000 {
			t.Errorf("1M over four stripes: %v, want 3,000", b)
		}
	}
}

// The job of workload-to-jobfile: 16 jobs write at 5 MiB/s, 16 read at 16 MiB/s, on an 8 GiB gp3
// volume.
func TestSectionsWithRates(t *testing.T) {
	write, read := load("write", 64*k, 64, 16), load("read", 256*k, 64, 16)
	write.WriteRate, read.ReadRate = 5*units.MiBPerSec, 16*units.MiBPerSec
	top := machine(t, 1, cloud.VolumeSpec{Type: "gp3", Size: 8 * units.GiB}, topology.Single, 0, "t4g.medium")
	c := Of(top, topology.Data, []fio.Workload{write, read})
	for _, b := range c.Bounds {
		if b.Kind == RequestedRate && (b.BW != (80+256)*units.MiBPerSec || b.ReadIOPS != 1024 || b.WriteIOPS != 1280) {
			t.Errorf("asked for: %+v", b)
		}
	}
	// 125 MiB/s are shared in proportion to what is asked for as far as nothing else tells: 16 × 64
	// in flight each, so the same IOPS, and the writes stay below their rate: 125 MiB/s ÷ 320 KiB =
	// 400 of each.
	b := c.Binding()
	if b.Kind != VolumeRate || math.Abs(float64(b.ReadIOPS)-400) > 0.01 || math.Abs(float64(b.WriteIOPS)-400) > 0.01 {
		t.Errorf("%+v", b)
	}
	// With a volume of 1,000 MiB/s all is met, and the rates asked for bind.
	fast := machine(t, 1, cloud.VolumeSpec{Type: "gp3", Size: 80 * units.GiB, IOPS: 4000, Rate: 1000 * units.MiBPerSec}, topology.Single, 0, "m5.12xlarge")
	if b := Of(fast, topology.Data, []fio.Workload{write, read}).Binding(); b.Kind != RequestedRate {
		t.Errorf("%+v", b)
	}
}

func TestUnknown(t *testing.T) {
	loads := []fio.Workload{load("randread", 8*k, 4, 1)}
	for name, c := range map[string]struct {
		top  *topology.Topology
		note string
	}{
		"nothing":    {&topology.Topology{}, "what lies below the role data is not known"},
		"nil":        {nil, ""},
		"no limits":  {&topology.Topology{Arrays: []topology.Array{{Name: "md0", Level: topology.RAID0, Volumes: make([]topology.Volume, 2)}}}, "the limits of 2 of 2 volumes are unknown"},
		"no level":   {&topology.Topology{Arrays: []topology.Array{{Name: "md0", Volumes: make([]topology.Volume, 2)}}}, "declare the level"},
		"no volumes": {&topology.Topology{Arrays: []topology.Array{{Name: "md0"}}, Targets: []topology.Target{{Role: topology.Data, Array: "md0"}}}, "not known"},
	} {
		got := Of(c.top, topology.Data, loads)
		if got.Known() || got.Binding() != nil || got.Sustained() != nil || got.Next() != nil || got.Course() != nil {
			t.Errorf("%s: %+v", name, got)
		}
		if !strings.Contains(strings.Join(got.Notes, "\n"), c.note) {
			t.Errorf("%s: notes %q, want %q", name, got.Notes, c.note)
		}
		// The concurrency bound needs no hardware.
		if b := got.WithLatency(time.Millisecond, 0, 0, topology.Origin{}).Binding(); b == nil || b.IOPS != 4000 || b.Kind != Concurrency {
			t.Errorf("%s: %+v", name, b)
		}
	}
	if c := Of(nil, topology.Data, nil).WithLatency(1, 1, 1, topology.Origin{}); len(c.Bounds) > 0 {
		t.Error("a bound without a load")
	}
}

// A data sheet's latency bounds what one I/O in flight reaches: P4510, 77 µs a read.
func TestStatedLatency(t *testing.T) {
	d, ok := cloud.DriveLimits("INTEL SSDPE2KX040T8", 4e12)
	if !ok {
		t.Fatal("P4510")
	}
	v := topology.Volume{Sustained: d.Limits, ReadLatency: d.ReadLatency, WriteLatency: d.WriteLatency}
	top := &topology.Topology{Arrays: []topology.Array{{Name: "md0", Level: topology.RAID0, Chunk: 512 * k, Volumes: []topology.Volume{v, v, v, v}}}}
	b := Of(top, topology.Data, []fio.Workload{load("randread", 28*k, 1, 1)}).Binding()
	if b.Kind != Concurrency || math.Abs(float64(b.IOPS)-1e6/77) > 0.1 {
		t.Errorf("%+v", b)
	}
	// At 256 in flight four drives' 3,000 MB/s bind: 12e9/28,672.
	b = Of(top, topology.Data, []fio.Workload{load("randread", 28*k, 32, 8)}).Binding()
	if b.Kind != VolumeRate || math.Abs(float64(b.IOPS)-12e9/28672) > 0.1 {
		t.Errorf("%+v", b)
	}
}
