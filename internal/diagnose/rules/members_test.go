package rules

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// disksWith gives a run fio's disk statistics: an array and its members with so many reads each.
func disksWith(top string, reads ...uint64) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		m.Disks = []fio.Disk{{Name: top, Reads: m.Total.Read.N}}
		for i, n := range reads {
			m.Disks = append(m.Disks, fio.Disk{Name: "nvme" + string(rune('1'+i)) + "n1", Member: true, Reads: n, ReadTicks: n / 2})
		}
	}
}

// fastest sets what a tenth and half of the reads took, in microseconds.
func fastest(p10, p50 float64) func(*diagnose.Measurement) {
	return func(m *diagnose.Measurement) {
		m.Total.Read.Clat.Percentiles = []fio.Percentile{
			{P: 10, Value: time.Duration(p10 * 1e3)}, {P: 50, Value: time.Duration(p50 * 1e3)}, {P: 99, Value: 5 * time.Millisecond},
		}
	}
}

func memberCases() []labelled {
	const k8, k28 = 8 * units.KiB, 28 * units.KiB
	deep := random(1, k28, 8, 32)
	md := func(chunk units.Bytes) *topology.Topology {
		return on("", array("md0", topology.RAID0, chunk, 4, p4510()))
	}
	mirrored := func() *topology.Topology { return on("", array("md0", topology.RAID10, 64*units.KiB, 8, gp3())) }
	linear := on("", array("dm-0", topology.Linear, 0, 4, p4510()))
	high := withCeiling(bounds(limit(ceiling.VolumeRate, 105000, k28)))
	split := func(times float64) func(*diagnose.Measurement) {
		n := uint64(100000 * 60 * times / 4)
		return disksWith("md0", n, n, n, n)
	}
	one := []float64{0.59, 0.58, 0.6, 0.61, 0.58, 0.59, 0.6, 0.6}
	case1 := func(name string, top *topology.Topology, want, also string, options ...func(*diagnose.Measurement)) labelled {
		return labelled{name, diagnose.Case{Topology: top, Runs: []diagnose.Measurement{measured(1, deep, options...)}}, want, also}
	}
	return []labelled{
		case1("one of four members did all, declared striped", md(512*units.KiB), "PL213", "PL502 PL206", took(100000, 0, 2.5), high, disksWith("dm-0", 6000000, 3, 0, 0)),
		case1("one of four members did all, nothing declared", &topology.Topology{}, "PL213", "", took(100000, 0, 2.5), disksWith("dm-0", 6000000, 3, 0, 0)),
		case1("a cache before a disk", &topology.Topology{}, "", "", took(100000, 0, 2.5), disksWith("bcache0", 6000000, 3)),
		case1("one path of each of two devices", &topology.Topology{}, "", "", took(100000, 0, 2.5), disksWith("dm-0", 0, 3000000),
			func(m *diagnose.Measurement) {
				m.Disks = append(m.Disks, fio.Disk{Name: "dm-1", Reads: m.Total.Read.N / 2})
			}),
		case1("one of two members of one device", &topology.Topology{}, "PL213", "", took(100000, 0, 2.5), disksWith("dm-0", 0, 6000000)),
		case1("all four did their part, nothing declared", &topology.Topology{}, "", "", took(100000, 0, 2.5), disksWith("md0", 1500000, 1500003, 1500100, 1499999)),
		case1("one of four, of a linear array", linear, "PL211", "PL502 PL503 PL213", took(100000, 0, 2.5), disksWith("dm-0", 6000000, 3, 0, 0)),
		{"mirrors rest at depth 1", diagnose.Case{Topology: mirrored(), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 1, 1), took(1690, 0, 0.59), disksWith("md0", 25350, 0, 25350, 0, 25350, 0, 25350, 0)),
		}}, "", "PL501"},
		{"gp3 RAID10 at depth 1: md reads from the first mirrors", diagnose.Case{Topology: mirrored(), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 1, 1), took(1698, 0, 0.589), withCeiling(bounds(limit(ceiling.VolumeIOPS, 24000, k8))),
				saw(true, append([]float64{0.95}, one[1:]...), []float64{0.517, 0.12, 0.12, 0.12, 0.12, 0.12, 0.12, 0.12}, 0.53, 0.067, 0.067, 0.067, 0.067, 0.067, 0.067, 0.067)),
		}}, "PL501", ""},
		{"gp3 RAID10 at its stated latency, one mirror waits longer", diagnose.Case{Topology: mirrored(), Runs: []diagnose.Measurement{
			measured(1, random(1, k8, 1, 1), took(1708, 0, 0.585), withCeiling(bounds(limit(ceiling.VolumeIOPS, 24000, k8), limit(ceiling.Concurrency, 1698, k8))),
				saw(true, []float64{1.4, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, []float64{0.517, 0.117, 0.117, 0.117, 0.117, 0.117, 0.117, 0.117})),
		}}, "PL501", ""},
		case1("512 KiB declared, 64 KiB measured", md(512*units.KiB), "PL214 PL206", "PL502", took(100000, 0, 2.5), high, split(1.375)),
		case1("64 KiB declared, 128 KiB measured", md(64*units.KiB), "PL214 PL206", "PL502", took(100000, 0, 2.5), high, split(1.1875)),
		case1("64 KiB declared, nothing split", md(64*units.KiB), "PL214", "PL502", took(100000, 0, 2.5), high, split(1)),
		case1("64 KiB declared and measured", md(64*units.KiB), "PL206", "PL502", took(100000, 0, 2.5), high, split(1.373)),
		case1("512 KiB declared and measured", md(512*units.KiB), "PL206", "PL502", took(100000, 0, 2.5), high, split(1.0452)),
		case1("a tenth of the reads below the media's latency", md(32*units.KiB*28), "PL401", "PL206", took(100000, 0, 0.3), fastest(34, 68)),
		case1("the fastest tenth as fast as good units are", md(32*units.KiB*28), "", "PL206 PL404", took(100000, 0, 2.5), fastest(56, 200)),
		case1("a tenth faster than flash, nothing declared", &topology.Topology{}, "PL401", "", took(100000, 0, 0.3), fastest(33, 68), split(1)),
		case1("a fast drive, nothing declared", &topology.Topology{}, "", "", took(100000, 0, 0.3), fastest(41, 68), split(1)),
		case1("the fastest drives, nothing declared", &topology.Topology{}, "", "PL404", took(100000, 0, 0.3), fastest(36, 43), split(1)),
	}
}

// With a report of each job no total has percentiles: any job's count.
func TestUnwrittenInOneJob(t *testing.T) {
	m := measured(1, random(1, 28*units.KiB, 8, 32), took(100000, 0, 0.3))
	m.Total.Read.Clat.Percentiles = nil
	job := func(p10 time.Duration) fio.Job {
		return fio.Job{Name: "job", Read: fio.Direction{Clat: fio.Latency{Percentiles: []fio.Percentile{{P: 10, Value: p10}, {P: 50, Value: 2 * p10}}}}}
	}
	top := on("", array("md0", topology.RAID0, 896*units.KiB, 8, p4510()))
	for _, tt := range []struct {
		p10  time.Duration
		want bool
	}{{33 * time.Microsecond, true}, {137 * time.Microsecond, false}} {
		m.Jobs = []fio.Job{job(140 * time.Microsecond), job(tt.p10)}
		found := false
		for _, f := range Judge(&diagnose.Case{Topology: top, Runs: []diagnose.Measurement{m}}, nil) {
			found = found || f.Code == "PL401" && f.Severity == finding.Invalid
		}
		if found != tt.want {
			t.Errorf("a tenth within %v: PL401 %v, want %v", tt.p10, found, tt.want)
		}
	}
}

// One depth proves nothing; one I/O in flight, a ceiling well above, and a second depth do.
func TestConcurrencyIsProven(t *testing.T) {
	const (
		k16       = 16 * units.KiB
		proven    = "limited by concurrency, not by the storage"
		notProven = "one depth is not enough to tell what limits the run"
	)
	flat, twice := random(0, k16, 16, 1), random(0, k16, 32, 1)
	alone := random(0, k16, 1, 1)
	for _, tt := range []struct {
		name  string
		runs  []diagnose.Measurement
		title string
		says  []string
	}{
		{"one in flight", []diagnose.Measurement{measured(1, alone, took(0, 1000, 1))}, proven, nil},
		{"a ceiling well above", []diagnose.Measurement{measured(1, flat, took(0, 16000, 1), withCeiling(bounds(limit(ceiling.VolumeIOPS, 36000, k16))))}, proven, nil},
		{"a second depth that grew", []diagnose.Measurement{measured(1, flat, took(0, 16000, 1)), measured(2, twice, took(0, 31000, 1.03))}, proven, nil},
		{"a second depth that did not", []diagnose.Measurement{measured(1, flat, took(0, 16000, 1)), measured(2, twice, took(0, 16050, 1.99))}, notProven, []string{"--numjobs=32"}},
	} {
		ok := false
		for _, f := range Judge(&diagnose.Case{Topology: &topology.Topology{}, Runs: tt.runs}, nil) {
			if f.Code != "PL501" || f.Scenarios[0] != 1 {
				continue
			}
			ok = f.Title == tt.title
			all := f.Message + strings.Join(f.Commands, "\n")
			for _, e := range f.Evidence {
				all += "\n" + e.Found + " " + e.Where
			}
			for _, s := range tt.says {
				if !strings.Contains(all, s) {
					t.Errorf("%s: no %q in %s", tt.name, s, all)
				}
			}
		}
		if !ok {
			t.Errorf("%s: want %q", tt.name, tt.title)
		}
	}
}
