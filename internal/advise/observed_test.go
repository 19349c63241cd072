package advise

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
	"plimsoll/internal/workload"
)

// TestLimits: an array that was at 97 % of what its instance sustains for 41 of 100 seconds.
func TestLimits(t *testing.T) {
	d, err := topology.FromFlags("8xgp3 50GiB", "raid10", "64KiB", "c8g.2xlarge")
	if err != nil {
		t.Fatal(err)
	}
	topo, err := topology.FromDeclaration(d)
	if err != nil {
		t.Fatal(err)
	}
	o := workload.Observed{Device: "md0"}
	for i := range 100 {
		rate := 100e6
		if i%5 < 2 || i == 99 {
			rate = 0.97 * 312.5e6
		}
		o.Intervals = append(o.Intervals, workload.Interval{
			Len: time.Second, Read: workload.Flow{IOPS: rate / (64 << 10), Rate: rate},
		})
	}
	limits := Limits(topo, topology.Data, o)
	var at *AtLimit
	for i := range limits {
		if limits[i].Bound.Kind == ceiling.InstanceRate && !limits[i].Bound.Burst {
			at = &limits[i]
		}
	}
	if at == nil || math.Abs(at.Most-0.97) > 0.001 || math.Abs(at.Share-0.41) > 0.001 {
		t.Fatalf("%+v", limits)
	}
	want := "md0 reached 97.0 % of its limit by instance throughput, and was at 95 % or more of it for 41.0 % of the time"
	if at.String() != want {
		t.Errorf("%q, want %q", at.String(), want)
	}
	demand := &workload.Demand{}
	Censor(demand, limits)
	if len(demand.AtLeast) != 1 || !strings.Contains(demand.AtLeast[0], "instance throughput") {
		t.Errorf("%q", demand.AtLeast)
	}
	if got := Limits(&topology.Topology{}, topology.Data, o); len(got) != 0 {
		t.Errorf("limits from nowhere: %+v", got)
	}
}

func FuzzClaim(f *testing.F) {
	for _, s := range []string{"40000 IOPS", "1250MB/s", "60000 IOPS of 8KiB", "10Gbps", " of "} {
		f.Add(s)
	}
	bounded.Fuzz(f, func(t *testing.T, s string) {
		c, err := ParseClaim(s)
		if err == nil && !(c.figure() > 0) {
			t.Errorf("%q: %+v", s, c)
		}
	})
}
