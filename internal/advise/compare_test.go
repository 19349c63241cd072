package advise

import (
	"math"
	"testing"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Two layouts beside each other give each stream what the least limit leaves it, and no more than its own I/Os in
// flight: of 9,000 reads 4 x gp3 all, one gp3 a third; with 3 in flight at 600 us it is 5,000 of 9,000.
func TestLayoutsBesideEachOther(t *testing.T) {
	gp3 := func(n int, level topology.Level) Layout {
		return Layout{
			Level: level,
			N:     n,
			Spec:  cloud.VolumeSpec{Type: "gp3", Size: 500 * units.GiB, IOPS: 3000, Rate: 125 * units.MiBPerSec},
		}
	}
	r := Request{
		Demand:   elsewhereDemand(9000),
		Instance: "m5.12xlarge",
		Beside:   []Layout{gp3(4, topology.RAID0), gp3(1, topology.Single)},
	}
	shares := func(want ...float64) {
		t.Helper()
		a, err := Advise(r)
		if err != nil || len(a.Rows) != 2 {
			t.Fatal(a, err)
		}
		for i, c := range a.Rows {
			if len(c.Streams) != 1 || math.Abs(c.Streams[0]-want[i]) > 1e-6 || c.VolumesMonth == 0 {
				t.Errorf("row %d: %v, want %v", i, c.Streams, want[i])
			}
		}
	}
	shares(1, 1./3)
	r.Demand.Streams[0].Threads, r.Demand.Streams[0].Depth = 3, 1
	shares(5./9, 1./3)
}

// A job's own rates are a demand: each direction of each section, the rate of each job times their number.
func TestDemandOfJob(t *testing.T) {
	load := fio.Workload{
		Name: "rw", Jobs: 16, Depth: 1, ReadShare: 0.5, ReadBS: 16 * units.KiB, WriteBS: 4 * units.KiB,
		ReadRate: 16 * units.MiBPerSec, WriteRate: 5 * units.MiBPerSec,
	}
	d, err := FromJob("job", []fio.Workload{load})
	if err != nil || len(d.Streams) != 2 || d.Streams[0].Rate != 256*units.MiBPerSec ||
		d.Streams[1].Rate != 80*units.MiBPerSec ||
		d.Streams[0].ReadShare != 1 {
		t.Errorf("%+v %v", d, err)
	}
	load.ReadRate, load.WriteRate = 0, 0
	if d, err := FromJob("job", []fio.Workload{load}); err == nil {
		t.Errorf("%+v", d)
	}
}
