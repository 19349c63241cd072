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

// scaled is a machine of which every limit, and all that is saved up, is so many times as large.
func scaled(top *topology.Topology, by float64) *topology.Topology {
	of := func(l topology.Limits) topology.Limits {
		return topology.Limits{
			IOPS: l.IOPS * units.IOPS(by), ReadIOPS: l.ReadIOPS * units.IOPS(by), WriteIOPS: l.WriteIOPS * units.IOPS(by),
			Rate: l.Rate * units.Rate(by), ReadRate: l.ReadRate * units.Rate(by), WriteRate: l.WriteRate * units.Rate(by),
		}
	}
	out := *top
	out.Instance.Baseline, out.Instance.Burst = of(top.Instance.Baseline), of(top.Instance.Burst)
	out.Instance.Caps, out.Instance.Pools, out.Arrays, out.Targets = nil, nil, nil, nil
	for _, c := range top.Instance.Caps {
		c.Baseline, c.Burst = of(c.Baseline), of(c.Burst)
		out.Instance.Caps = append(out.Instance.Caps, c)
	}
	for _, p := range top.Instance.Pools {
		p.Limits = of(p.Limits)
		out.Instance.Pools = append(out.Instance.Pools, p)
	}
	for _, a := range top.Arrays {
		volumes := a.Volumes
		a.Volumes, a.SyncFloor = nil, a.SyncFloor*units.Rate(by)
		for _, v := range volumes {
			v.Sustained, v.Burst = of(v.Sustained), of(v.Burst)
			v.BurstIOs, v.BurstBytes = v.BurstIOs*by, units.Bytes(float64(v.BurstBytes)*by)
			a.Volumes = append(a.Volumes, v)
		}
		out.Arrays = append(out.Arrays, a)
	}
	for _, target := range top.Targets {
		throttles := target.Throttles
		target.Throttles = nil
		for _, t := range throttles {
			t.Limits = of(t.Limits)
			target.Throttles = append(target.Throttles, t)
		}
		out.Targets = append(out.Targets, target)
	}
	return &out
}

// Nothing in the model is a figure of its own: where all limits, credits and rates are a 16,000th,
// below one I/O a second, every bound is, and every burst lasts as long.
func TestEverythingScales(t *testing.T) {
	const by = 1. / (1 << 14)
	mix := load("randrw", 16*k, 32, 8)
	rated := load("randread", 16*k, 32, 8)
	rated.ReadRate = 2 * units.MiBPerSec
	drives := machine(t, 4, gp3, topology.RAID0, 64*k, "")
	for i := range drives.Arrays[0].Volumes {
		drives.Arrays[0].Volumes[i] = topology.Volume{Sustained: topology.Limits{ReadIOPS: 9000, WriteIOPS: 5000, ReadRate: 3e8, WriteRate: 1e8}}
	}
	throttled := machine(t, 4, gp3, topology.RAID10, 64*k, "")
	throttled.Arrays[0].Volumes[1].Device = "nvme1n1"
	throttled.Targets[0].Throttles = []topology.Throttle{
		{Device: "nvme1n1", Group: "/db", Limits: topology.Limits{ReadIOPS: 700, WriteRate: 9e6}}, {Device: "md0", Group: "/", Limits: topology.Limits{WriteIOPS: 5000}},
	}
	rebuilt := machine(t, 5, gp3, topology.RAID5, 64*k, "")
	rebuilt.Arrays[0].Degraded, rebuilt.Arrays[0].Syncing, rebuilt.Arrays[0].SyncFloor = 1, "recover", 4*units.MiBPerSec
	credits := machine(t, 2, gp3, topology.RAID0, 64*k, "c8g.large")
	credits.Instance.BurstRule = cloud.ByCredits
	pooled := machine(t, 2, gp3, topology.RAID0, 64*k, "")
	pooled.Instance = topology.Instance{
		Type: "n2", Caps: []cloud.Cap{{Name: "pd", Types: []string{"pd-ssd"}, Baseline: topology.Limits{ReadIOPS: 8000, WriteIOPS: 4000}}},
		Pools: []topology.Pool{{Type: "pd-ssd", Size: units.TiB, Limits: topology.Limits{IOPS: 9000, Rate: 1e8}}},
	}
	for i := range pooled.Arrays[0].Volumes {
		pooled.Arrays[0].Volumes[i].Type, pooled.Arrays[0].Volumes[i].Pooled = "pd-ssd", true
	}
	small := cloud.VolumeSpec{Type: "gp2", Size: 100 * units.GiB}
	for name, c := range map[string]struct {
		top   *topology.Topology
		loads []fio.Workload
	}{
		"two bursts":  {machine(t, 4, small, topology.RAID0, 64*k, "m5.large"), []fio.Workload{load("randread", 16*k, 32, 8)}},
		"a mirror":    {machine(t, 4, small, topology.RAID10, 64*k, "m5.large"), []fio.Workload{mix}},
		"disks":       {machine(t, 1, cloud.VolumeSpec{Type: "st1", Size: units.TiB}, topology.Single, 0, "t4g.medium"), []fio.Workload{load("read", units.MiB, 16, 1)}},
		"a rate":      {machine(t, 2, gp3, topology.RAID1, 0, "c8g.large"), []fio.Workload{mix, rated}},
		"drives":      {drives, []fio.Workload{mix}},
		"throttled":   {throttled, []fio.Workload{mix}},
		"a rebuild":   {rebuilt, []fio.Workload{mix}},
		"credits":     {credits, []fio.Workload{mix}},
		"a pool":      {pooled, []fio.Workload{mix}},
		"two, shared": {machine(t, 2, gp3, topology.RAID0, 64*k, "c8g.large"), []fio.Workload{mix, load("write", 64*k, 8, 1)}},
	} {
		little := make([]fio.Workload, len(c.loads))
		for i, w := range c.loads {
			w.ReadRate, w.WriteRate = w.ReadRate*by, w.WriteRate*by
			little[i] = w
		}
		large, fine := Of(c.top, topology.Data, c.loads), Of(scaled(c.top, by), topology.Data, little)
		if len(large.Bounds) != len(fine.Bounds) || len(large.Bounds) == 0 {
			t.Errorf("%s: %d bounds and %d", name, len(large.Bounds), len(fine.Bounds))
			continue
		}
		same(t, name, large, fine, by)
		// The same with a second role beside it.
		both := func(top *topology.Topology, loads []fio.Workload) Ceiling {
			return OfTogether(top, map[topology.Role][]fio.Workload{topology.Data: loads, topology.WAL: {load("write", 8*k, 1, 1)}})[topology.Data]
		}
		same(t, name+", together", both(c.top, c.loads), both(scaled(c.top, by), little), by)
	}
}

// same compares the bounds of a ceiling with those of one that is scaled.
func same(t *testing.T, name string, large, fine Ceiling, by float64) {
	t.Helper()
	for i, b := range large.Bounds {
		f := fine.Bounds[i]
		if b.Label() != f.Label() || math.Abs(float64(f.IOPS)/float64(b.IOPS)/by-1) > 1e-9 || math.Abs(float64(f.BW)/float64(b.BW)/by-1) > 1e-9 ||
			(b.BurstFor-f.BurstFor).Abs() > b.BurstFor/1000+time.Second || math.Abs(f.Demand/b.Demand-1) > 1e-9 {
			t.Errorf("%s: %s %v for %v is %s %v for %v", name, b.Label(), b.IOPS, b.BurstFor, f.Label(), float64(f.IOPS)/by, f.BurstFor)
		}
	}
}
