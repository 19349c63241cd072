package ceiling

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

// A table's figures that contradict each other change no ceiling: that of the job's block size holds.
func TestContradicted(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		bw   units.Rate
		want bool
	}{
		{0, 250e6, true},
		{0, 16200 * 32 * 1024, false},
		{0, 16200 * 32 * 1000, false},
		{0, 600e6, true},
		{1000, 250e6, false},
		{0, 0, false},
	} {
		r := &result.Result{
			Total:     fio.Job{Write: fio.Direction{N: c.n, IOPS: 16200, BW: c.bw}},
			Workloads: []fio.Workload{{WriteBS: 32 * units.KiB}, {WriteBS: 32 * units.KiB}},
		}
		if got := contradicted(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
		if r.Workloads[1].WriteBS = 64 * units.KiB; contradicted(r) {
			t.Errorf("%+v: two block sizes contradict nothing", c)
		}
	}
}

// A run that outlasts a burst has the mean of what its course allows: c6a.xlarge's 40,000 for 30 min, then 6,000.
func TestOver(t *testing.T) {
	c := Ceiling{Bounds: []Bound{
		{Kind: InstanceIOPS, Name: "instance IOPS", IOPS: 6000},
		{Kind: InstanceIOPS, Name: "instance IOPS", IOPS: 40000, Burst: true, BurstFor: 30 * time.Minute},
	}}
	for _, x := range []struct {
		run      time.Duration
		mean     float64
		outlasts bool
	}{
		{time.Minute, 0, false},
		{30 * time.Minute, 0, false},
		{45 * time.Minute, (30*40000 + 15*6000) / 45., true},
		{5 * time.Hour, (30*40000 + 270*6000) / 300., true},
	} {
		mean, burst, outlasts := c.Over(x.run)
		if math.Abs(float64(mean)-x.mean) > 1e-6 || outlasts != x.outlasts || outlasts != (burst == 30*time.Minute) {
			t.Errorf("%v: %v %v %v, want %v %v", x.run, mean, burst, outlasts, x.mean, x.outlasts)
		}
	}
	if _, _, outlasts := (Ceiling{Bounds: c.Bounds[:1]}).Over(time.Hour); outlasts {
		t.Error("without a burst nothing is outlasted")
	}
}
