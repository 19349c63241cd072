package rules

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// A run in hour two lies at what is sustained: its burst is spent. An import has no series that
// would show the fall.
func TestAtTheSustainedLimit(t *testing.T) {
	const k = units.KiB
	volume := func(spec cloud.VolumeSpec) topology.Volume {
		f, err := cloud.VolumeLimits(spec)
		if err != nil {
			t.Fatal(err)
		}
		return topology.Volume{
			Type: spec.Type, Network: true, Sustained: topology.Limits(f.Sustained), Burst: topology.Limits(f.Burst),
			BurstIOs: f.BurstIOs, CountedIO: f.CountedIO, Merges: f.Merges,
		}
	}
	machine := func(instance string, level topology.Level, n int, spec cloud.VolumeSpec) *topology.Topology {
		top := on(instance, array("md0", level, 64*k, n, volume(spec)))
		if f, ok := cloud.InstanceLimits(instance); ok {
			top.Instance = topology.Instance{
				Type: instance, Baseline: topology.Limits(f.Baseline), Burst: topology.Limits(f.Burst), BurstFor: f.BurstFor, BurstPer: f.BurstPer,
			}
		}
		return top
	}
	io2 := machine("c6a.xlarge", topology.Single, 1, cloud.VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 50000})
	guide := machine("c8g.2xlarge", topology.RAID10, 8, cloud.VolumeSpec{Type: "gp3"})
	gp2 := machine("", topology.RAID0, 4, cloud.VolumeSpec{Type: "gp2", Size: 100 * units.GiB})
	running := func(iops units.IOPS) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			for i := range 30 {
				m.Seconds = append(m.Seconds, result.Second{
					At: time.Duration(i+1) * time.Second, Len: time.Second, Read: result.Interval{N: uint64(iops)},
				})
			}
		}
	}
	short := func(m *diagnose.Measurement) { m.Measured = 8 * time.Second }
	for name, c := range map[string]struct {
		top  *topology.Topology
		m    diagnose.Measurement
		want string // of the first cause; empty for another one than a burst
	}{
		"c6a.xlarge at its baseline":   {io2, measured(1, random(0, 16*k, 16, 32), took(0, 6000, 85)), "at the sustained limit of instance IOPS, 6,000 IOPS: its burst is spent"},
		"the guide's machine":          {guide, measured(1, random(1, 8*k, 4, 64), took(12000, 0, 21)), "at the sustained limit of instance IOPS, 12,000 IOPS"},
		"the guide's machine by bytes": {guide, measured(1, random(1, 1024*k, 1, 16), took(298, 0, 53)), "at the sustained limit of instance throughput"},
		"four gp2":                     {gp2, measured(1, random(1, 16*k, 4, 32), took(1200, 0, 106)), "at the sustained limit of volume IOPS, 1,200 IOPS"},
		// 26 and 28 of 29.8 in 8 s, as the lab's runs had it: a second of edges is an eighth of it.
		"8 s at 87 %":                     {gp2, measured(1, random(1, 16*k, 4, 32), short, took(1044, 0, 122)), "at the sustained limit of volume IOPS, 1,200 IOPS"},
		"8 s at 94 %":                     {gp2, measured(1, random(1, 16*k, 4, 32), short, took(1128, 0, 113)), "at the sustained limit of volume IOPS, 1,200 IOPS"},
		"30 s that ended at 87 %":         {gp2, measured(1, random(1, 16*k, 4, 32), took(1044, 0, 122), running(1044)), "the run ended at 1,044 IOPS, and 1,200 are sustained"},
		"near miss: 8 s at 80 %":          {gp2, measured(1, random(1, 16*k, 4, 32), short, took(960, 0, 133)), ""},
		"near miss: a minute at 94 %":     {gp2, measured(1, random(1, 16*k, 4, 32), took(1128, 0, 113)), ""},
		"near miss: one I/O in flight":    {io2, measured(1, random(0, 16*k, 1, 1), took(0, 1000, 1), running(1000)), ""},
		"near miss: a third more":         {gp2, measured(1, random(1, 16*k, 4, 32), took(1600, 0, 80)), ""},
		"near miss: a tenth less":         {gp2, measured(1, random(1, 16*k, 4, 32), took(1080, 0, 118)), ""},
		"near miss: the end was above":    {gp2, measured(1, random(1, 16*k, 4, 32), took(1200, 0, 106), running(1500)), ""},
		"near miss: nothing of it bursts": {machine("", topology.RAID0, 4, cloud.VolumeSpec{Type: "gp3"}), measured(1, random(1, 16*k, 4, 32), took(6000, 0, 21)), ""},
	} {
		of := ceiling.Of(c.top, topology.Data, c.m.Workloads)
		c.m.Ceiling = &of
		account := (&diagnose.Case{Topology: c.top, Runs: []diagnose.Measurement{c.m}}).Account(c.m, *of.Hardware())
		found := ""
		for _, f := range account.Factors {
			if f.Cause == finding.BurstSpent {
				found = f.How
				if f.Share < 0.94 { // ln(1/10) of ln(0.87/10) where a run is at 87 %
					t.Errorf("%s: only %.2f of the gap", name, f.Share)
				}
			}
		}
		if found == "" && c.want != "" || !strings.Contains(found, c.want) || found != "" && c.want == "" {
			t.Errorf("%s: %q, want %q", name, found, c.want)
		}
	}
}
