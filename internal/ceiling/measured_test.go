package ceiling

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The latency of a run bounds it only where it is the storage's own: not where I/Os queue.
func TestMeasured(t *testing.T) {
	array := topology.Array{Name: "md0", Level: topology.RAID10, Copies: 2, Chunk: 64 << 10}
	for range 8 {
		array.Volumes = append(array.Volumes, topology.Volume{Network: true, Sustained: topology.Limits{IOPS: 3000, Rate: 125 << 20}})
	}
	topo := &topology.Topology{Arrays: []topology.Array{array}, Targets: []topology.Target{{Role: topology.Data, Array: "md0"}}}
	lat := func(mean, p10 time.Duration) fio.Latency {
		return fio.Latency{N: 1000, Mean: float64(mean), Percentiles: []fio.Percentile{{P: 10, Value: p10}}}
	}
	const ms = time.Millisecond
	read := func(bs units.Bytes, engine string, jobs, depth int) fio.Workload {
		return fio.Workload{Engine: engine, ReadShare: 1, ReadBS: bs, Jobs: jobs, Depth: depth}
	}
	write := fio.Workload{Engine: "libaio", WriteBS: 8 << 10, Jobs: 1, Depth: 1, SyncEvery: 1}
	for name, c := range map[string]struct {
		load  fio.Workload
		total fio.Job
		want  units.IOPS // of the concurrency bound; 0 for none
	}{
		"one read at a time":  {read(8<<10, "libaio", 1, 1), fio.Job{Read: fio.Direction{N: 1, IOPS: 1690, Clat: lat(589*time.Microsecond, 500*time.Microsecond)}}, 1698},
		"with a long tail":    {read(8<<10, "libaio", 1, 1), fio.Job{Read: fio.Direction{N: 1, IOPS: 400, Clat: lat(2500*time.Microsecond, ms/2)}}, 400},
		"16 synchronous":      {read(16<<10, "psync", 16, 1), fio.Job{Read: fio.Direction{N: 1, IOPS: 26598, Clat: lat(6009*ms/10000, 510*time.Microsecond)}}, 26627},
		"below the limit":     {read(16<<10, "psync", 16, 1), fio.Job{Read: fio.Direction{N: 1, IOPS: 22700, Clat: lat(705*time.Microsecond, 690*time.Microsecond)}}, 22695},
		"at the limit":        {read(16<<10, "psync", 16, 1), fio.Job{Read: fio.Direction{N: 1, IOPS: 22900, Clat: lat(699*time.Microsecond, 690*time.Microsecond)}}, 0},
		"just above it":       {read(16<<10, "psync", 16, 1), fio.Job{Read: fio.Direction{N: 1, IOPS: 24600, Clat: lat(650*time.Microsecond, 640*time.Microsecond)}}, 0},
		"deep queue":          {read(8<<10, "libaio", 4, 64), fio.Job{Read: fio.Direction{N: 1, IOPS: 23000, Clat: lat(11*ms, 9*ms)}}, 0},
		"queue shows":         {read(8<<10, "libaio", 1, 32), fio.Job{Read: fio.Direction{N: 1, IOPS: 23000, Clat: lat(2*ms, ms/2)}}, 0},
		"large transfers":     {read(1<<20, "libaio", 1, 16), fio.Job{Read: fio.Direction{N: 1, IOPS: 900, Clat: lat(17*ms, 16*ms)}}, 0},
		"synced, async":       {write, fio.Job{Write: fio.Direction{N: 1, IOPS: 980, Clat: lat(81*ms/100, ms/2)}, Sync: fio.Sync{Lat: lat(86*ms/100, ms/2)}}, 980},
		"synced, sync engine": {fio.Workload{Engine: "psync", WriteBS: 8 << 10, Jobs: 1, Depth: 1, SyncEvery: 1}, fio.Job{Write: fio.Direction{N: 1, IOPS: 495, Clat: lat(ms, ms)}, Sync: fio.Sync{Lat: lat(ms, ms)}}, 500},
	} {
		before := Of(topo, topology.Data, []fio.Workload{c.load})
		got := before.Measured(&result.Result{State: result.Done, Workloads: []fio.Workload{c.load}, Total: c.total}, 8)
		b := got.Concurrency()
		switch {
		case c.want == 0 && b != nil:
			t.Errorf("%s: bound by concurrency at %s", name, b.IOPS)
		case c.want > 0 && b == nil:
			t.Errorf("%s: no concurrency bound", name)
		case b != nil && math.Abs(float64(b.IOPS-c.want)) > 1:
			t.Errorf("%s: %s, want %s", name, b.IOPS, c.want)
		}
		if len(before.Bounds) == len(got.Bounds) && b != nil {
			t.Errorf("%s: the ceiling that was computed before measuring was changed", name)
		}
	}
	invalid := Of(topo, topology.Data, []fio.Workload{write}).Measured(&result.Result{State: result.Invalid, Workloads: []fio.Workload{write}}, 8)
	if invalid.Concurrency() != nil {
		t.Error("an invalid result gave a bound")
	}
}
