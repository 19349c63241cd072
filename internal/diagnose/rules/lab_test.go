package rules

import (
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// saw adds what telemetry watched below the array: mean wait in milliseconds and use of each
// member.
func saw(reads bool, waits, utils []float64, share ...float64) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		t := m.Total
		total := float64(t.Read.N + t.Write.N)
		m.Devices = []telemetry.DeviceUse{{
			Name: "md0", Reads: t.Read.N, Writes: t.Write.N, ReadBytes: t.Read.Bytes, WriteBytes: t.Write.Bytes, Util: 1,
		}}
		for i, w := range waits {
			n := total / float64(len(waits))
			if len(share) > 0 {
				n = total * share[i]
			}
			d := telemetry.DeviceUse{Name: "nvme" + string(rune('1'+i)) + "n1", Util: utils[i]}
			if reads {
				d.Reads, d.ReadWait = uint64(n), time.Duration(w*1e6)
			} else {
				d.Writes, d.WriteWait = uint64(n), time.Duration(w*1e6)
			}
			m.Devices = append(m.Devices, d)
		}
	}
}

// labCases are what lab-recipe.md §7-9 measured in QEMU on RAID10 of eight volumes of 300 IOPS.
func labCases() []labelled {
	v := gp3()
	v.Sustained = topology.Limits{IOPS: 300, Rate: 12.5 * units.MiBPerSec}
	eight := func() *topology.Topology { return on("", array("md0", topology.RAID10, 64*units.KiB, 8, v)) }
	degradedTop := func(doing string) *topology.Topology {
		t := eight()
		t.Arrays[0].Degraded, t.Arrays[0].Syncing = 1, doing
		return t
	}
	resync := eight()
	resync.Arrays[0].Syncing, resync.Arrays[0].Progress = "resync", 0.05
	const k8 = 8 * units.KiB
	reads := bounds(limit(ceiling.VolumeIOPS, 2400, k8))
	writes := bounds(limit(ceiling.VolumeIOPS, 1200, k8))
	full := bounds(limit(ceiling.VolumeIOPS, 12000, k8))
	deep := func(read float64) fio.Workload { return random(read, k8, 4, 64) }
	sync := random(0, k8, 1, 1)
	sync.Sequential, sync.SyncEvery = true, 1
	mixSync := random(0.7, k8, 4, 32)
	mixSync.SyncEvery = 1
	oneHigh := func(low, high float64) []float64 { return []float64{low, low, low, high, low, low, low, low} }
	slowPair := []float64{1.9, 1.8, 723, 184, 1.9, 1.7, 1.8, 1.9}
	wrote := func(times float64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			b := m.Total.Write.Bytes
			m.Devices = []telemetry.DeviceUse{{Name: "md0", Writes: m.Total.Write.N, WriteBytes: units.Bytes(times * float64(b))}}
		}
	}
	disksOf := func(top, member uint64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Disks = []fio.Disk{{Name: "md0", Reads: top}}
			for i := range 8 {
				m.Disks = append(m.Disks, fio.Disk{Name: "nvme" + string(rune('1'+i)) + "n1", Member: true, Reads: member})
			}
		}
	}
	idleSide := []float64{0.247, 0, 0.243, 0, 0.249, 0, 0.261, 0}
	return []labelled{
		{"lab: healthy reads, queue on one member", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(1), took(2351, 0, 108), withCeiling(reads), saw(true, oneHigh(3.3, 94), oneHigh(0.31, 0.98))),
		}}, "PL502", ""},
		{"lab: healthy writes, queue on one member", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(0), took(0, 1153, 222), withCeiling(writes), saw(false, oneHigh(2, 153), oneHigh(0.31, 0.98))),
		}}, "PL502", ""},
		{"lab: healthy reads and writes, another member leads each time", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(1), took(2351, 0, 108), withCeiling(reads), saw(true, oneHigh(3.3, 94), oneHigh(0.31, 0.98))),
			measured(2, deep(0), took(0, 1149, 222), withCeiling(writes), saw(false, []float64{153, 2, 2, 2, 2, 2, 2, 2}, []float64{0.98, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3})),
		}}, "PL502", ""},
		{"lab: healthy reads and writes, the same member leads each time", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 4, 64), took(2351, 0, 108), withCeiling(reads), saw(true, oneHigh(3.3, 94), oneHigh(0.31, 0.98))),
			measured(2, random(0, k8, 4, 64), took(0, 1153, 222), withCeiling(writes), saw(false, oneHigh(3.3, 94), oneHigh(0.31, 0.98))),
		}}, "PL502", ""},
		{"lab: mixed load at its ceiling", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(0.7), took(1286, 551, 139), withCeiling(bounds(limit(ceiling.VolumeIOPS, 1846, k8)))),
		}}, "PL502", ""},
		{"lab: reads at depth 1 use one side of each mirror", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 1, 1), took(1201, 0, 0.83), withCeiling(bounds(limit(ceiling.VolumeIOPS, 1200, k8))),
				saw(true, []float64{0.6, 0.1, 0.6, 0.1, 0.6, 0.1, 0.6, 0.1}, idleSide, idleSide...)),
		}}, "PL502", ""},
		{"lab: slow member, reads", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(1), took(1345, 0, 190), withCeiling(reads), saw(true, slowPair, []float64{0.3, 0.3, 0.98, 0.6, 0.3, 0.3, 0.3, 0.3})),
		}}, "PL204", "PL503"},
		{"lab: slow member, writes", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(0), took(0, 251, 1020), withCeiling(writes), saw(false, slowPair, []float64{0.2, 0.2, 0.98, 0.5, 0.2, 0.2, 0.2, 0.2})),
		}}, "PL204", "PL503"},
		{"slow member seen at depth 1", diagnose.Case{Topology: on("", array("md0", topology.RAID0, 64*units.KiB, 4, v)), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 1, 1), took(700, 0, 1.4), saw(true, []float64{0.6, 0.6, 3.6, 0.6}, []float64{0.1, 0.1, 0.6, 0.1})),
		}}, "PL204", "PL501"},
		{"equal members at depth 1", diagnose.Case{Topology: on("", array("md0", topology.RAID0, 64*units.KiB, 4, v)), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 1, 1), took(1600, 0, 0.62), saw(true, []float64{0.6, 0.62, 0.75, 0.58}, []float64{0.2, 0.2, 0.3, 0.2})),
		}}, "", "PL501"},
		{"lab: degraded", diagnose.Case{Topology: degradedTop("idle"), Runs: []diagnose.Measurement{
			measured(1, deep(1), took(1138, 0, 225), withCeiling(reads), saw(true, slowPair, oneHigh(0.3, 0.98))),
		}}, "PL201", "PL503"},
		{"lab: recovery", diagnose.Case{Topology: degradedTop("recover")}, "PL201", ""},
		{"lab: resync", diagnose.Case{Topology: resync, Runs: []diagnose.Measurement{measured(1, deep(0), took(0, 1149, 222), withCeiling(writes))}}, "PL202 PL502", ""},
		{"lab: read of an unwritten file", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(1), took(63504, 0, 4), withCeiling(reads), disksOf(0, 0)),
		}}, "PL401", ""},
		{"lab: read of an unwritten file, seen by telemetry", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(1), took(63504, 0, 4), withCeiling(reads), func(m *diagnose.Measurement) { m.Devices = []telemetry.DeviceUse{{Name: "md0"}} }),
		}}, "PL401", ""},
		{"lab: the same file once written", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(1), took(2351, 0, 108), withCeiling(reads), disksOf(141060, 17640)),
		}}, "PL502", ""},
		{"disk statistics of NVMe multipath are all zero", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, deep(1), took(2351, 0, 108), withCeiling(reads), disksOf(0, 0)),
		}}, "PL401", "PL502"}, // a warning: reads that missed the device cannot be distinguished from statistics that are missing
		{"lab: blocks never written", diagnose.Case{Topology: on("", array("nvme1n1", topology.Single, 0, 1, v)), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 1, 1), took(3207, 0, 0.23), withCeiling(bounds(limit(ceiling.VolumeIOPS, 300, k8)))),
		}}, "PL413", ""},
		{"lab: fallocated, fdatasync", diagnose.Case{Topology: on("", array("md0", topology.RAID10, 256*units.KiB, 8, gp3())), Runs: []diagnose.Measurement{
			measured(1, sync, took(0, 348, 2.87), withCeiling(full), wrote(33), inPhase("latency")),
		}}, "PL414", "PL501"},
		{"lab: fallocated, log unit 4k", diagnose.Case{Topology: on("", array("md0", topology.RAID10, 256*units.KiB, 8, gp3())), Runs: []diagnose.Measurement{
			measured(1, sync, took(0, 424, 2.35), withCeiling(full), wrote(1.5), inPhase("latency")),
		}}, "PL414", "PL501"},
		{"lab: pre-written, fdatasync", diagnose.Case{Topology: on("", array("md0", topology.RAID10, 256*units.KiB, 8, gp3())), Runs: []diagnose.Measurement{
			measured(1, sync, took(0, 978, 1.02), withCeiling(full), wrote(1.0), inPhase("latency")),
		}}, "PL501", ""},
		{"lab: syncs of a deep job, device watched", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, mixSync, took(1275, 547, 70), withCeiling(bounds(limit(ceiling.VolumeIOPS, 1846, k8))), func(m *diagnose.Measurement) { m.Depth.Device = 9.5 }),
		}}, "PL408 PL502", ""},
		{"syncs of a deep job, device as deep as asked", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, mixSync, took(1275, 547, 70), withCeiling(bounds(limit(ceiling.VolumeIOPS, 1846, k8))), func(m *diagnose.Measurement) { m.Depth.Device = 110 }),
		}}, "PL502", ""},
	}
}

// knownWeak are cases that the rules are known to get wrong, so that the score stays honest: each
// is labelled with the truth.
func knownWeak() []labelled {
	const k8 = 8 * units.KiB
	optane := measured(1, random(1, 4*units.KiB, 1, 1), took(90000, 0, 0.011))
	optane.Disks = []fio.Disk{{Name: "nvme0n1", Reads: 5400000, Util: 1}}
	leads := []float64{3.3, 3.3, 3.3, 94, 3.3, 3.3, 3.3, 3.3}
	busy := []float64{0.31, 0.31, 0.31, 0.98, 0.31, 0.31, 0.31, 0.31}
	eight := func() *topology.Topology { return on("", array("md0", topology.RAID10, 64*units.KiB, 8, gp3())) }
	reads := bounds(limit(ceiling.VolumeIOPS, 2400, k8))
	return []labelled{
		{"Optane that nobody declared", diagnose.Case{Runs: []diagnose.Measurement{optane}}, "", "PL501"},
		{"healthy queue on one member, limits not known", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 4, 64), took(2351, 0, 108), saw(true, leads, busy)),
		}}, "", ""},
		{"slow member behind a ceiling that is not known", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 4, 64), took(1345, 0, 190), saw(true, []float64{1.9, 1.8, 723, 184, 1.9, 1.7, 1.8, 1.9}, busy)),
		}}, "PL204", ""},
		{"other load that only one member carries", diagnose.Case{Topology: eight(), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 4, 64), took(2000, 0, 128), withCeiling(reads), saw(true, leads, busy)),
		}}, "PL412", "PL204"},
	}
}
