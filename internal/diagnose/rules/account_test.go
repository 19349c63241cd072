package rules

import (
	"math"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Each gap is worked out by hand: the share of a factor f in a gap g is ln f / ln g.
func TestAccountOfRuns(t *testing.T) {
	const k8, k28 = 8 * units.KiB, 28 * units.KiB
	deep := random(1, k8, 4, 64)
	raid := func(level topology.Level, chunk units.Bytes, n int) *topology.Topology {
		return on("", array("md0", level, chunk, n, gp3()))
	}
	resyncing := func(t *topology.Topology) *topology.Topology {
		t.Arrays[0].Syncing = "resync"
		return t
	}
	members := func(reads ...uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Devices = []telemetry.DeviceUse{{Name: "md0", Reads: m.Total.Read.N, ReadBytes: m.Total.Read.Bytes}}
			for i, n := range reads {
				m.Devices = append(m.Devices, telemetry.DeviceUse{Name: "nvme" + string(rune('1'+i)) + "n1", Reads: n, ReadWait: time.Millisecond})
			}
		}
	}
	median := func(ms float64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Total.Read.Clat.Percentiles = []fio.Percentile{{P: 50, Value: time.Duration(ms * 1e6)}}
		}
	}
	seen := func(n uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			for range 4 {
				m.Disks = append(m.Disks, fio.Disk{Name: "nvme", Member: true, Reads: n / 4, ReadTicks: n / 4})
			}
		}
	}
	bursts := limit(ceiling.VolumeIOPS, 12000, k8)
	bursts.Burst = true
	type share struct {
		cause finding.Cause
		share float64
	}
	for _, tt := range []struct {
		name  string
		top   *topology.Topology
		m     diagnose.Measurement
		bound ceiling.Bound
		want  []share
	}{
		{
			"nothing known", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, deep, took(6000, 0, 42.7), median(40)), limit(ceiling.VolumeIOPS, 12000, k8),
			[]share{{finding.Unexplained, 1}},
		},
		{ // 60 s at 1,500 a second on one of four: ¼ of the ceiling, and half of that: ln 4 / ln 8 = 2/3
			"three of four idle", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, deep, took(1500, 0, 170), median(160), members(90000, 0, 0, 0)), limit(ceiling.VolumeIOPS, 12000, k8),
			[]share{{finding.IdleMembers, 2.0 / 3}, {finding.Unexplained, 1.0 / 3}},
		},
		{ // what was counted comes before a limit that fits: ¼ is the idle members', and the burst has what is left
			"three of four idle, at what is sustained", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, deep, took(1500, 0, 170), median(160), members(90000, 0, 0, 0), withCeiling(bounds(bursts, limit(ceiling.VolumeIOPS, 1500, k8)))), bursts,
			[]share{{finding.IdleMembers, 2.0 / 3}, {finding.BurstSpent, 1.0 / 3}},
		},
		{ // the same, were no member idle
			"at what is sustained", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, deep, took(1500, 0, 170), median(160), members(22500, 22500, 22500, 22500), withCeiling(bounds(bursts, limit(ceiling.VolumeIOPS, 1500, k8)))), bursts,
			[]share{{finding.BurstSpent, 1}},
		},
		{ // md reads the first mirrors only until a resync has passed: ½ of the ceiling (exam, seed 1022)
			"mirrors in a resync", resyncing(raid(topology.RAID10, 64*units.KiB, 4)),
			measured(1, deep, took(6000, 0, 42), median(40), members(180000, 0, 180000, 0)), limit(ceiling.VolumeIOPS, 12000, k8),
			[]share{{finding.Rebuild, 1}},
		},
		{ // 12,000 declared without a split that costs 1.375: ln 1.375 / ln 1.5 = 0.785
			"a chunk of 64 KiB, declared 512", raid(topology.RAID0, 512*units.KiB, 4),
			measured(1, random(1, k28, 4, 64), took(8000, 0, 32), median(30), seen(8000*60*1375/1000)), limit(ceiling.VolumeIOPS, 12000, k28),
			[]share{{finding.Split, math.Log(1.375/1.046875) / math.Log(1.5)}, {finding.Unexplained, 1 - math.Log(1.375/1.046875)/math.Log(1.5)}},
		},
		{
			"the same on a throughput bound", raid(topology.RAID0, 512*units.KiB, 4),
			measured(1, random(1, k28, 4, 64), took(8000, 0, 32), median(30), seen(8000*60*1375/1000)), limit(ceiling.VolumeRate, 12000, k28),
			[]share{{finding.Unexplained, 1}},
		},
		{ // 12,600 × 1.046875 / 1.375 = 9,593 are below the 12,000 that the throughput allows: ln 0.7994 / ln (2/3)
			"the same on a throughput bound next to one of IOPS", raid(topology.RAID0, 512*units.KiB, 4),
			measured(1, random(1, k28, 4, 64), took(8000, 0, 32), median(30), seen(8000*60*1375/1000),
				withCeiling(bounds(limit(ceiling.VolumeRate, 12000, k28), limit(ceiling.VolumeIOPS, 12600, k28)))), limit(ceiling.VolumeRate, 12000, k28),
			[]share{{finding.Split, math.Log(12000*1.375/12600/1.046875) / math.Log(1.5)}, {finding.Unexplained, 1 - math.Log(12000*1.375/12600/1.046875)/math.Log(1.5)}},
		},
		{ // pieces on a stripe of two reach its members as two I/Os, whatever the chunk: ln (2 / 1.046875) / ln 2
			"every read reaches both of two members", raid(topology.RAID0, 512*units.KiB, 2),
			measured(1, random(1, k28, 4, 64), took(6000, 0, 42), median(40), seen(6000*60*2)), limit(ceiling.VolumeIOPS, 12000, k28),
			[]share{{finding.Split, math.Log(2/1.046875) / math.Log(2)}, {finding.Unexplained, 1 - math.Log(2/1.046875)/math.Log(2)}},
		},
		{ // 1.93 are those of no chunk, and not both of two members
			"nearly as many", raid(topology.RAID0, 512*units.KiB, 2),
			measured(1, random(1, k28, 4, 64), took(6000, 0, 42), median(40), seen(6000*60*193/100)), limit(ceiling.VolumeIOPS, 12000, k28),
			[]share{{finding.Unexplained, 1}},
		},
		{ // a fifth of the median's latency is what the mean allows: 0.2, of a gap of 0.1: ln 5 / ln 10
			"a tail", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, deep, took(1200, 0, 213), median(42.6)), limit(ceiling.VolumeIOPS, 12000, k8),
			[]share{{finding.Tail, math.Log(5) / math.Log(10)}, {finding.Unexplained, 1 - math.Log(5)/math.Log(10)}},
		},
		{ // one member had 30,000 I/Os of another's: 75,000 + 25,000
			"another reads one member", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, deep, took(5000, 0, 51), median(50), members(75000, 75000, 75000, 100000)), limit(ceiling.VolumeIOPS, 12000, k8),
			[]share{{finding.OtherLoad, math.Log(4.0/3) / math.Log(2.4)}, {finding.Unexplained, 1 - math.Log(4.0/3)/math.Log(2.4)}},
		},
		{
			"a full core takes the rest", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, deep, took(6000, 0, 42), median(40), func(m *diagnose.Measurement) {
				m.Jobs = []fio.Job{{Name: "job", Count: 1, CPU: fio.CPU{User: 0.3, System: 0.68}}}
			}), limit(ceiling.VolumeIOPS, 12000, k8),
			[]share{{finding.CPU, 1}},
		},
		{ // 64 of 256 in flight: ln 4 / ln 8
			"a quarter of the depth", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, deep, took(1500, 0, 64.0/1.5), median(40)), limit(ceiling.VolumeIOPS, 12000, k8),
			[]share{{finding.Depth, 2.0 / 3}, {finding.Unexplained, 1.0 / 3}},
		},
		{
			"one in flight", raid(topology.RAID0, 64*units.KiB, 4),
			measured(1, random(1, k8, 1, 1), took(1690, 0, 0.59), median(0.58)), limit(ceiling.VolumeIOPS, 12000, k8),
			[]share{{finding.RestLatency, 1}},
		},
	} {
		c := diagnose.Case{Topology: tt.top, Runs: []diagnose.Measurement{tt.m}}
		a := c.Account(tt.m, tt.bound)
		if a == nil || len(a.Factors) != len(tt.want) {
			t.Errorf("%s: %+v", tt.name, a)
			continue
		}
		for i, f := range a.Factors {
			if f.Cause != tt.want[i].cause || math.Abs(f.Share-tt.want[i].share) > 0.01 {
				t.Errorf("%s: %s %.4f (%s), want %s %.4f", tt.name, f.Cause, f.Share, f.How, tt.want[i].cause, tt.want[i].share)
			}
		}
	}
}
