package rules

import (
	"math"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

type cause struct {
	cause finding.Cause
	share float64
}

func expectAccount(t *testing.T, name string, a *finding.Account, want ...cause) {
	t.Helper()
	if a == nil || len(a.Factors) != len(want) {
		t.Errorf("%s: %+v, want %v", name, a, want)
		return
	}
	for i, f := range a.Factors {
		if f.Cause != want[i].cause || math.Abs(f.Share-want[i].share) > 0.01 {
			t.Errorf("%s: %s %.4f (%s), want %s %.4f", name, f.Cause, f.Share, f.How, want[i].cause, want[i].share)
		}
	}
}

func probe(alone, together []units.IOPS) []diagnose.Probe {
	p := diagnose.Probe{Array: "md0"}
	for i := range alone {
		p.Members = append(p.Members, diagnose.Probed{Device: "nvme" + string(rune('1'+i)) + "n1", Alone: alone[i], Together: together[i]})
	}
	return []diagnose.Probe{p}
}

// What volumes give alone tells a slow one from a queue, and from limits that were declared too
// high; without a probe the slow member is given all of it, for its peers idle.
func TestProbesExplainGaps(t *testing.T) {
	const k8 = 8 * units.KiB
	each := func(v units.IOPS) []units.IOPS { return []units.IOPS{v, v, v, v} }
	lagging := func(level topology.Level, iops float64, did ...float64) (diagnose.Case, ceiling.Bound) {
		m := measured(1, random(1, k8, 4, 16), took(iops, 0, 64/iops*1000),
			withCeiling(bounds(limit(ceiling.VolumeIOPS, 12000, k8))), func(m *diagnose.Measurement) { m.Total.Read.Clat.Percentiles = nil },
			saw(true, []float64{80, 2, 2, 2}, []float64{0.98, 0.3, 0.3, 0.3}, did...))
		return diagnose.Case{Topology: on("", array("md0", level, 64*units.KiB, 4, gp3())), Runs: []diagnose.Measurement{m}}, limit(ceiling.VolumeIOPS, 12000, k8)
	}
	for _, tt := range []struct {
		name     string
		level    topology.Level
		iops     float64
		probes   []diagnose.Probe
		want     []cause
		straggle bool // PL204 warns
	}{
		{"no probe", topology.RAID0, 3000, nil, []cause{{finding.SlowMember, 1}}, true},
		{
			"half of what was ordered, and one half of that", topology.RAID0, 3000,
			probe([]units.IOPS{750, 1500, 1500, 1500}, []units.IOPS{750, 1500, 1500, 1500}),
			[]cause{{finding.VolumeLimit, 0.5}, {finding.SlowMember, 0.5}},
			true,
		},
		{
			"all alike and as ordered: the queue gathers somewhere", topology.RAID0, 6000, probe(each(0), each(2990)),
			[]cause{{finding.Unexplained, 1}},
			false,
		},
		{"a tenth less than ordered is no cause", topology.RAID0, 6000, probe(each(2750), each(2740)), []cause{{finding.Unexplained, 1}}, false},
		{
			"one slow by a twentieth is no cause", topology.RAID0, 6000,
			probe([]units.IOPS{2850, 0, 0, 0}, []units.IOPS{2690, 2990, 3000, 2980}),
			[]cause{{finding.Unexplained, 1}},
			false,
		},
		{
			"another member is slow than the one with the queue", topology.RAID0, 6000,
			probe([]units.IOPS{0, 0, 1500, 0}, []units.IOPS{3000, 3000, 1500, 3000}),
			[]cause{{finding.SlowMember, 1}},
			false,
		},
		{"half of it together", topology.RAID0, 6000, probe(each(3000), each(1500)), []cause{{finding.Instance, 1}}, false},
		{"one alone gives what all give together", topology.RAID0, 2000, probe(each(2000), each(500)), []cause{{finding.Instance, 1}}, false},
		{
			"less together, but the run got more", topology.RAID0, 7600, probe(each(2000), each(1600)),
			[]cause{{finding.VolumeLimit, math.Log(1.5) / math.Log(12.0/7.6)}, {finding.Unexplained, 1 - math.Log(1.5)/math.Log(12.0/7.6)}},
			false,
		},
		{
			"mirrors serve the reads of a slow one", topology.RAID10, 6000,
			probe([]units.IOPS{1500, 0, 0, 0}, []units.IOPS{1500, 3000, 3000, 3000}),
			[]cause{{finding.Unexplained, 1 - math.Log(0.75)/math.Log(0.5)}, {finding.SlowMember, math.Log(0.75) / math.Log(0.5)}},
			true,
		},
	} {
		c, b := lagging(tt.level, tt.iops)
		c.Probes = tt.probes
		a := c.Account(c.Runs[0], b)
		if a != nil { // in order of their shares, for the last case
			slices.SortStableFunc(a.Factors, func(x, y finding.Factor) int { return int(math.Copysign(1, y.Share-x.Share)) })
		}
		expectAccount(t, tt.name, a, tt.want...)
		warns := slices.ContainsFunc(Judge(&c, nil), func(f finding.Finding) bool { return f.Code == "PL204" && f.Severity == finding.Warn })
		if warns != tt.straggle {
			t.Errorf("%s: PL204 warns: %v", tt.name, warns)
		}
	}
}

// Of equal members one has the queue; it is not busy throughout, and no slow one.
func TestAQueueIsNoSlowMember(t *testing.T) {
	const k8 = 8 * units.KiB
	for _, tt := range []struct {
		util float64
		want finding.Cause
	}{{0.98, finding.SlowMember}, {0.86, finding.Unexplained}} {
		m := measured(1, random(1, k8, 4, 16), took(3000, 0, 21.3), func(m *diagnose.Measurement) { m.Total.Read.Clat.Percentiles = nil },
			saw(true, []float64{80, 2, 2, 2}, []float64{tt.util, 0.3, 0.3, 0.3}))
		c := diagnose.Case{Topology: on("", array("md0", topology.RAID0, 64*units.KiB, 4, gp3())), Runs: []diagnose.Measurement{m}}
		expectAccount(t, string(tt.want), c.Account(m, limit(ceiling.VolumeIOPS, 12000, k8)), cause{tt.want, 1})
	}
}

// A probe of a run asks only the members that fell short, of what was ordered or of the best.
func TestShortMembers(t *testing.T) {
	a := array("md0", topology.RAID0, 64*units.KiB, 4, gp3())
	unknown := array("md0", topology.RAID0, 64*units.KiB, 4, topology.Volume{})
	burst := gp3()
	burst.Sustained.IOPS, burst.Burst = 300, topology.Limits{IOPS: 3000}
	slowRate := gp3()
	slowRate.Sustained.Rate = 10 * units.MiBPerSec // 1,280 a second of 8 KiB
	for _, tt := range []struct {
		name string
		of   topology.Array
		gave []units.IOPS
		want []int
	}{
		{"as ordered", a, []units.IOPS{2980, 3010, 2750, 2999}, nil},
		{"one short", a, []units.IOPS{2980, 3010, 2600, 2999}, []int{2}},
		{"all short", a, []units.IOPS{1500, 1500, 1500, 1500}, []int{0, 1, 2, 3}},
		{"nothing declared, equal", unknown, []units.IOPS{1500, 1450, 1500, 1500}, nil},
		{"nothing declared, one short", unknown, []units.IOPS{1500, 1000, 1500, 1500}, []int{1}},
		{"a burst that is spent", array("md0", topology.RAID0, 64*units.KiB, 4, burst), []units.IOPS{3000, 3000, 300, 3000}, []int{2}},
		{"limited by throughput", array("md0", topology.RAID0, 64*units.KiB, 4, slowRate), []units.IOPS{1280, 1270, 1280, 1100}, []int{3}},
	} {
		p := diagnose.ProbeOf(&tt.of)
		for i := range p.Members {
			p.Members[i].Together = tt.gave[i]
		}
		if got := p.Short(&tt.of); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// fio's total is low by the time in which nothing new is issued at the end.
func TestDrainIsACause(t *testing.T) {
	const k8 = 8 * units.KiB
	w := random(1, k8, 4, 64)
	w.Runtime = 5 * time.Second
	run := func(ran time.Duration, total, before float64) diagnose.Measurement {
		return measured(1, w, runFor(ran), took(total, 0, 256/total*1000), series(5, 0, func(int) float64 { return before }),
			func(m *diagnose.Measurement) { m.Measured = ran })
	}
	b := limit(ceiling.VolumeIOPS, 1200, k8)
	c := diagnose.Case{}
	for _, tt := range []struct {
		name string
		m    diagnose.Measurement
		want []cause
	}{
		{"0.35 s of 5", run(5350*time.Millisecond, 1110, 1199), []cause{{finding.Drain, math.Log(5/5.35) / math.Log(1110.0/1200)}, {finding.Unexplained, 1 - math.Log(5/5.35)/math.Log(1110.0/1200)}}},
		{"the seconds were low themselves", run(5350*time.Millisecond, 600, 610), []cause{{finding.Unexplained, 1}}},
		{"no longer than asked for", run(5010*time.Millisecond, 1110, 1199), []cause{{finding.Unexplained, 1}}},
	} {
		expectAccount(t, tt.name, c.Account(tt.m, b), tt.want...)
	}
}

// Copies that the ceiling does not count, other load on a mirror that only writes, and on a parity
// array that only reads.
func TestCountsOfMembers(t *testing.T) {
	const k8 = 8 * units.KiB
	write, read := random(0, k8, 4, 16), random(1, k8, 4, 16)
	level := func(l topology.Level) *topology.Topology { return on("", array("md0", l, 64*units.KiB, 4, gp3())) }
	quarter := []float64{0.25, 0.25, 0.25, 0.25}
	half := []float64{0.5, 0.5, 0.5, 0.5}
	ms := []float64{20, 20, 20, 20}
	busy := []float64{0.9, 0.9, 0.9, 0.9}
	bare := func(m *diagnose.Measurement) {
		m.Total.Read.Clat.Percentiles, m.Total.Write.Clat.Percentiles = nil, nil
	}
	for _, tt := range []struct {
		name string
		top  *topology.Topology
		m    diagnose.Measurement
		want []cause
	}{
		{"declared RAID0, is RAID10", level(topology.RAID0), measured(1, write, took(0, 6000, 10.7), bare, saw(false, ms, busy, half...)), []cause{{finding.Copies, 1}}},
		{"declared RAID0 and is", level(topology.RAID0), measured(1, write, took(0, 6000, 10.7), bare, saw(false, ms, busy, quarter...)), []cause{{finding.Unexplained, 1}}},
		{
			"a fifth more than one copy is no level", level(topology.RAID0),
			measured(1, write, took(0, 6000, 10.7), bare, saw(false, ms, busy, 0.3, 0.3, 0.3, 0.3)),
			[]cause{{finding.Unexplained, 1 - math.Log(1.2)/math.Log(2)}, {finding.OtherLoad, math.Log(1.2) / math.Log(2)}},
		},
		{"RAID10 as declared", level(topology.RAID10), measured(1, write, took(0, 6000, 10.7), bare, saw(false, ms, busy, half...)), []cause{{finding.Unexplained, 1}}},
		{
			"one of RAID10's members has as much of another", level(topology.RAID10),
			measured(1, write, took(0, 6000, 10.7), bare, saw(false, ms, busy, 0.5, 0.5, 0.5, 1)),
			[]cause{{finding.OtherLoad, 1}},
		},
		{
			"one of RAID5's members is read by another", level(topology.RAID5),
			measured(1, read, took(6000, 0, 10.7), bare, saw(true, ms, busy, 0.25, 0.25, 0.25, 0.5)),
			[]cause{{finding.OtherLoad, 1}},
		},
		{
			"RAID5 writes more than it is asked to", level(topology.RAID5),
			measured(1, write, took(0, 6000, 10.7), bare, saw(false, ms, busy, 1, 1, 1, 1)),
			[]cause{{finding.Unexplained, 1}},
		},
		{
			"more device reads than any chunk makes of 8 KiB", level(topology.RAID0),
			measured(1, read, took(9000, 0, 7.1), bare, saw(true, ms, busy, 0.32, 0.32, 0.32, 0.32)),
			[]cause{{finding.Unexplained, 1}},
		},
	} {
		c := diagnose.Case{Topology: tt.top, Runs: []diagnose.Measurement{tt.m}}
		if tt.name == "more device reads than any chunk makes of 8 KiB" {
			tt.m.Devices[0].Reads = tt.m.Devices[0].Reads * 128 / 100
		}
		a := c.Account(tt.m, limit(ceiling.VolumeIOPS, 12000, k8))
		slices.SortStableFunc(a.Factors, func(x, y finding.Factor) int { return int(math.Copysign(1, y.Share-x.Share)) })
		expectAccount(t, tt.name, a, tt.want...)
	}
}

// Where documents are missing around the end of the ramp, devices counted a part of it.
func TestLooseEdgeOfTheRamp(t *testing.T) {
	const k8 = 8 * units.KiB
	for _, tt := range []struct {
		gap  time.Duration
		want bool
	}{{0, true}, {3 * time.Second, false}} {
		m := measured(1, random(1, k8, 4, 16), took(2990, 0, 21.4), series(60, 0.02, func(int) float64 { return 2990 }), saw(true, []float64{20}, []float64{0.9}))
		m.Seconds = append([]result.Second{{At: 3 * time.Second, Len: time.Second, Ramp: true}}, m.Seconds...)
		for i := range m.Seconds[1:] {
			m.Seconds[i+1].At += 3*time.Second + tt.gap
		}
		m.Devices[0].ReadBytes += 3 * 2990 * 60 / 20 * k8
		c := diagnose.Case{Runs: []diagnose.Measurement{m}}
		found := slices.ContainsFunc(Judge(&c, nil), func(f finding.Finding) bool { return f.Code == "PL412" })
		if found != tt.want {
			t.Errorf("%v missing: PL412 %v, want %v", tt.gap, found, tt.want)
		}
	}
}

// A queue that a limit makes of equal I/Os is no concurrency: the exam's undeclared instance caps
// took 136 ms per read and were called limited by concurrency.
func TestAQueueIsNotConcurrency(t *testing.T) {
	const k8 = 8 * units.KiB
	for _, tt := range []struct {
		name  string
		depth int
		iops  float64
		ms    float64
		want  finding.Code
	}{{"behind a cap", 40, 292, 136, "PL503"}, {"at the volumes' latency", 10, 12000, 0.83, "PL501"}} {
		m := measured(1, random(1, k8, 1, tt.depth), took(tt.iops, 0, tt.ms), withCeiling(bounds(limit(ceiling.VolumeIOPS, max(792, 2*tt.iops), k8))))
		m.Ceiling.IOSize, m.Ceiling.ReadShare = k8, 1
		withLatency := m.Ceiling.Measured(m.Result, 4)
		if m.Ceiling = &withLatency; m.Ceiling.Binding().Kind != ceiling.Concurrency {
			t.Fatalf("%s: bound by %s", tt.name, m.Ceiling.Binding().Kind)
		}
		var codes []finding.Code
		for _, f := range Judge(&diagnose.Case{Topology: on("", array("md0", topology.RAID0, 64*units.KiB, 4, gp3())), Runs: []diagnose.Measurement{m}}, nil) {
			if f.Code == "PL501" || f.Code == "PL503" {
				codes = append(codes, f.Code)
			}
		}
		if !slices.Equal(codes, []finding.Code{tt.want}) {
			t.Errorf("%s: %v, want %s", tt.name, codes, tt.want)
		}
	}
}

// Between 80 and 95 % of the ceiling an account is an info, where it explains half of the gap.
func TestAccountOfASmallGap(t *testing.T) {
	const k8 = 8 * units.KiB
	for _, tt := range []struct {
		name string
		iops float64
		busy []float64 // what members had, of what fio asked for
		want finding.Severity
	}{
		{"85 % beside another's load", 10200, []float64{0.25, 0.25, 0.25, 0.29}, finding.Info},
		{"85 % without a cause", 10200, []float64{0.25, 0.25, 0.25, 0.25}, ""},
		{"96 % beside another's load", 11520, []float64{0.25, 0.25, 0.25, 0.29}, ""},
		{"70 % beside another's load", 8400, []float64{0.25, 0.25, 0.25, 0.29}, finding.Warn},
	} {
		m := measured(1, random(1, k8, 4, 16), took(tt.iops, 0, 64/tt.iops*1000), withCeiling(bounds(limit(ceiling.VolumeIOPS, 12000, k8))),
			saw(true, []float64{6, 6, 6, 6}, []float64{0.8, 0.8, 0.8, 0.9}, tt.busy...))
		c := diagnose.Case{Topology: on("", array("md0", topology.RAID0, 64*units.KiB, 4, gp3())), Runs: []diagnose.Measurement{m}}
		got := finding.Severity("")
		for _, f := range Judge(&c, nil) {
			if f.Code == "PL503" {
				got = f.Severity
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
