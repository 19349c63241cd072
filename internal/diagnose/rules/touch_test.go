package rules

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// statedGp3 is a gp3 volume of which a latency is stated, as AWS does (single-digit milliseconds,
// 0.6 to 1 ms in practice).
func statedGp3() topology.Volume {
	v := gp3()
	v.ReadLatency, v.WriteLatency = 600*time.Microsecond, time.Millisecond
	return v
}

// pairs is what a test of a first touch found.
func pairs(share float64) diagnose.Touch {
	return diagnose.Touch{Device: "nvme1n1", Pieces: 4096, Size: 2 * units.GiB, Paired: stats.Paired{
		Pairs: 200, Share: share, Low: max(0, share-0.1), High: min(1, share+0.1), First: 32e6, Again: 1.1e6,
		Claimed: share >= 0.15,
	}}
}

// inFile is the same of the files of a directory.
func inFile(t diagnose.Touch) diagnose.Touch {
	t.File = "/data/plimsoll"
	return t
}

// touchCases are volumes that are slow by themselves, loaded from a snapshot or not, and near misses.
func touchCases() []labelled {
	const k8 = 8 * units.KiB
	alone := on("", array("nvme1n1", topology.Single, 0, 1, statedGp3()))
	unstated := on("", array("nvme1n1", topology.Single, 0, 1, gp3()))
	four := on("", array("md0", topology.RAID0, 64*units.KiB, 4, statedGp3()))
	one := func(iops, ms float64, options ...func(*diagnose.Measurement)) []diagnose.Measurement {
		base := []func(*diagnose.Measurement){took(iops, 0, ms), withCeiling(bounds(limit(ceiling.VolumeIOPS, 3000, k8)))}
		return []diagnose.Measurement{measured(1, random(1, k8, 1, 1), append(base, options...)...)}
	}
	asks := func(text string) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			t, err := suite.ParseThreshold(text)
			if err != nil {
				panic(err)
			}
			m.Scenario.Thresholds = append(m.Scenario.Thresholds, t)
		}
	}
	prefilled := func(m *diagnose.Measurement) { m.Prefilled = true }
	wide := random(1, 16*units.KiB, 16, 1)
	wide.Engine = "psync"
	return []labelled{
		{"a gp3 at 43.1 ms and depth 1", diagnose.Case{Topology: alone, Runs: one(23.2, 43.1)}, "PL507", "PL503"},
		{"a gp3 at 1.7 ms and depth 1", diagnose.Case{Topology: alone, Runs: one(588, 1.7)}, "", "PL503 PL501"},
		{"a gp3 at 1.3 ms that is asked for 1 ms", diagnose.Case{
			Topology: alone, Runs: one(769, 1.3, asks("read.clat.mean < 1ms")),
		}, "PL507", "PL503"},
		{"a gp3 of which no latency is stated, at 25.8 ms and depth 1, that is asked for 1 ms", diagnose.Case{
			Topology: unstated, Runs: one(38.8, 25.8, asks("read.lat.mean < 1ms")),
		}, "PL507", "PL503"},
		{"the same at 1.4 ms", diagnose.Case{
			Topology: unstated, Runs: one(714, 1.4, asks("read.lat.mean < 1ms")),
		}, "", "PL503"},
		{"the same at 4.2 ms in the mean and 0.7 ms in the median", diagnose.Case{
			Topology: unstated, Runs: one(238, 4.2, asks("read.lat.mean < 1ms"), func(m *diagnose.Measurement) {
				m.Total.Read.Clat.Percentiles[0].Value = 684 * time.Microsecond
			}),
		}, "", "PL503 PL404"},
		{"the same at 25.8 ms, of which nothing is asked", diagnose.Case{Topology: unstated, Runs: one(38.8, 25.8)}, "", "PL503"},
		{"16 psync jobs on four volumes at 0.60 ms", diagnose.Case{Topology: four, Runs: []diagnose.Measurement{
			measured(1, wide, took(26598, 0, 0.6), withCeiling(bounds(limit(ceiling.VolumeIOPS, 36000, 16*units.KiB)))),
		}}, "PL501", "PL503"},
		{"reads of a volume that was not loaded", diagnose.Case{
			Topology: alone, Runs: one(23.2, 43.1), Touches: []diagnose.Touch{pairs(0.97)},
		}, "PL424", "PL320"},
		{"reads of a volume of which 14 % seemed not loaded", diagnose.Case{
			Topology: alone, Runs: one(1600, 0.6), Touches: []diagnose.Touch{pairs(0.14)},
		}, "PL501", "PL503"},
		{"reads of what plimsoll wrote on a volume that was not loaded", diagnose.Case{
			Topology: alone, Runs: one(1600, 0.6, prefilled), Touches: []diagnose.Touch{pairs(0.97)},
		}, "PL501", "PL320 PL503"},
		{"reads of what an earlier run wrote, restored and not loaded, on a volume that is", diagnose.Case{
			Topology: alone, Runs: one(23.2, 43.1, prefilled), Touches: []diagnose.Touch{inFile(pairs(0.97)), pairs(0.05)},
		}, "PL424", ""},
		{"the same loaded, on a volume that is not", diagnose.Case{
			Topology: alone, Runs: one(1600, 0.6, prefilled), Touches: []diagnose.Touch{inFile(pairs(0.05)), pairs(0.97)},
		}, "PL501", "PL320 PL503"},
	}
}

// A volume from a snapshot is reported until a probe has tried it; what is claimed is a warning.
func TestFirstTouch(t *testing.T) {
	v := statedGp3()
	v.Snapshot = "snap-0123456789abcdef0"
	c := &diagnose.Case{Topology: on("", array("nvme1n1", topology.Single, 0, 1, v))}
	of := func() *finding.Finding {
		for _, f := range Judge(c, nil) {
			if f.Code == "PL320" {
				return &f
			}
		}
		return nil
	}
	if f := of(); f == nil || f.Severity != finding.Info || !strings.Contains(f.Message, v.Snapshot) {
		t.Errorf("not tried: %+v", f)
	}
	c.Touches = []diagnose.Touch{pairs(0.96)}
	want := "About 96.0 % (86.0 % to 100.0 %) of nvme1n1 is not loaded from its snapshot: first reads 32 ms, others 1.1 ms; " +
		"plimsoll array warm loads it in about 3.93 s."
	if f := of(); f == nil || f.Severity != finding.Warn || f.Message != want {
		t.Errorf("not loaded: %+v\nwant %s", f, want)
	}
	c.Touches = []diagnose.Touch{pairs(0.1)}
	if f := of(); f != nil {
		t.Errorf("loaded: %+v", f)
	}
}
