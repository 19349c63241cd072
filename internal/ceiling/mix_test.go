package ceiling

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The job of workload-to-jobfile: 16 jobs write 64 KiB at 5 MiB/s each for 30 s, 16 read 256 KiB at
// 16 MiB/s each for 5 s from the tenth on.
func loggingApp() []fio.Workload {
	write, read := load("write", 64*k, 64, 16), load("read", 256*k, 64, 16)
	write.Name, read.Name = "steady_write", "burst_read"
	write.WriteRate, read.ReadRate = 5*units.MiBPerSec, 16*units.MiBPerSec
	for _, w := range []*fio.Workload{&write, &read} {
		w.TimeBased, w.Runtime = true, 30*time.Second
	}
	read.Runtime, read.StartDelay = 5*time.Second, 10*time.Second
	return []fio.Workload{write, read}
}

// ran is a result with one row for both directions, as group_reporting gives it.
func ran(loads []fio.Workload, read, write fio.Direction) *result.Result {
	total := fio.Job{Name: loads[0].Name, Runtime: 30 * time.Second, Window: 30 * time.Second, Read: read, Write: write}
	return &result.Result{State: result.Done, Workloads: loads, Jobs: []fio.Job{total}, Total: total}
}

func moved(bytes, bs units.Bytes, took time.Duration) fio.Direction {
	n := float64(bytes) / float64(bs)
	return fio.Direction{
		Runtime: took, N: uint64(n), Bytes: bytes, IOPS: units.IOPS(n / took.Seconds()), BW: units.Rate(float64(bytes) / took.Seconds()),
	}
}

// A share of the ceiling is the share of what limits, in its own unit, of the mix that was measured.
func TestShareIsInTheUnitOfWhatLimits(t *testing.T) {
	loads := loggingApp()
	small := machine(t, 1, cloud.VolumeSpec{Type: "gp3", Size: 8 * units.GiB}, topology.Single, 0, "")
	fast := machine(t, 1, cloud.VolumeSpec{Type: "gp3", Size: 80 * units.GiB, IOPS: 4000, Rate: 1000 * units.MiBPerSec}, topology.Single, 0, "")
	mixed := func(bs ...units.Bytes) []fio.Workload {
		w := load("randread", 0, 32, 4)
		w.ReadSizes = fio.Sizes{{Size: bs[0], Share: 0.7}, {Size: bs[1], Share: 0.3}}
		w.ReadBS, w.Name = w.ReadSizes.Mean(), "mixed"
		return []fio.Workload{w}
	}
	for name, c := range map[string]struct {
		top  *topology.Topology
		r    *result.Result
		kind Kind
		want float64
	}{
		// 2,400 MiB written and 630 MiB read in 30 s are 101 of the 125 MiB/s that the volume allows.
		"seed 5, first volume": {small, ran(loads, moved(630*m, 256*k, 5320*time.Millisecond), moved(2400*m, 64*k, 30*time.Second)), VolumeRate, 0.808},
		// 1,809 and 453 MiB are 75.4.
		"seed 5, second volume": {small, ran(loads, moved(453*m, 256*k, 5320*time.Millisecond), moved(1809*m, 64*k, 30*time.Second)), VolumeRate, 0.603},
		// all that was asked for: 16 × 5 × 30 and 16 × 16 × 5 MiB
		"met to the last I/O": {fast, ran(loads, moved(1280*m, 256*k, 5*time.Second), moved(2400*m, 64*k, 30*time.Second)), RequestedRate, 1},
		// 124.875 of 125 MiB/s in blocks of 159.2 KiB: the nominal mean is 132.8
		"sizes other than asked for": {small, ran(mixed(64*k, 256*k), moved(3746*m, 159*k, 30*time.Second), fio.Direction{}), VolumeRate, 0.999},
	} {
		got := Of(c.top, topology.Data, c.r.Workloads).Measured(c.r, 1)
		b := got.Binding()
		n, bw := c.r.Total.Rates()
		if b.Kind != c.kind || math.Abs(float64(n/b.IOPS)-c.want) > 0.002 || math.Abs(float64(bw/b.BW)-c.want) > 0.002 {
			t.Errorf("%s: %.4f and %.4f of %v, want %.3f of %s", name, float64(n/b.IOPS), float64(bw/b.BW), b, c.want, c.kind)
		}
		if again := got.Measured(c.r, 1).Binding(); math.Abs(float64(again.IOPS/b.IOPS)-1) > 1e-9 {
			t.Errorf("%s: judged twice it is %v, then %v", name, b, again)
		}
	}
	// The mix that was asked for, as far as a run of some seconds draws it, leaves the ceiling alone.
	w := []fio.Workload{load("randrw", 8*k, 64, 4)}
	ten := machine(t, 8, gp3, topology.RAID10, 64*k, "")
	r := ran(w, moved(3000*m, 8*k, 30*time.Second), moved(1290*m, 8*k, 30*time.Second))
	if b := Of(ten, topology.Data, w).Measured(r, 8).Binding(); !within(b.IOPS, 24000/1.3) {
		t.Errorf("%v", b)
	}
}
