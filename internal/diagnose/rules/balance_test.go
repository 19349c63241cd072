package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// creditVolumeOf is a volume by the catalogue's rules, so that its bucket and rates are those that
// a real one has.
func creditVolumeOf(typ string, size units.Bytes) topology.Volume {
	f, err := cloud.VolumeLimits(cloud.VolumeSpec{Type: typ, Size: size})
	if err != nil {
		panic(err)
	}
	return topology.Volume{
		Type: typ, Size: size, Network: true, Sustained: f.Sustained, Burst: f.Burst, BurstIOs: f.BurstIOs, BurstBytes: f.BurstBytes,
		Origin: topology.Origin{Kind: topology.Detected, Where: "EC2 API"},
	}
}

func instanceOf(typ string) topology.Instance {
	f, _ := cloud.InstanceLimits(typ)
	return topology.Instance{
		Type: typ, Baseline: f.Baseline, Burst: f.Burst, BurstFor: f.BurstFor, BurstPer: f.BurstPer,
		Origin: topology.Origin{Kind: topology.Catalogue, Where: "instances.csv"},
	}
}

func leftOf(share float64) *topology.Balance {
	return &topology.Balance{Left: share, At: time.Date(2026, 11, 21, 10, 35, 0, 0, time.UTC), Origin: topology.Origin{Kind: topology.Detected, Where: "CloudWatch, BurstBalance"}}
}

// credits is a target on volumes of a type, each with what is left of its credits; below 0 it is
// not known.
func credits(typ string, size units.Bytes, left ...float64) *topology.Topology {
	a := array("md0", topology.RAID0, 64*units.KiB, len(left), creditVolumeOf(typ, size))
	for i, share := range left {
		if share >= 0 {
			a.Volumes[i].Balance = leftOf(share)
		}
	}
	t := on("", a)
	t.Targets = t.Targets[:1]
	return t
}

// onInstance puts n gp3 volumes into an instance with so much left of I/Os and throughput.
func onInstance(typ string, n int, iops, rate float64) *topology.Topology {
	t := on("", array("md0", topology.RAID0, 64*units.KiB, n, gp3()))
	t.Targets = t.Targets[:1]
	t.Instance = instanceOf(typ)
	t.Instance.IOBalance, t.Instance.RateBalance = leftOf(iops), leftOf(rate)
	return t
}

// planned is a run to come, of a load that is bound by what is given.
func planned(runtime time.Duration, c *ceiling.Ceiling) diagnose.Measurement {
	return diagnose.Measurement{Scenario: suite.Scenario{ID: 1, Name: "plan", Runtime: runtime}, Ceiling: c}
}

// gp2Bounds are those of a gp2 volume of 100 GiB under 8 KiB, with a concurrency bound.
func gp2Bounds(concurrency float64) *ceiling.Ceiling {
	const k8 = 8 * units.KiB
	return bounds(limit(ceiling.VolumeIOPS, 300, k8), burstOf(limit(ceiling.VolumeIOPS, 3000, k8), 33*time.Minute), limit(ceiling.Concurrency, concurrency, k8))
}

func balanceCases() []labelled {
	const gib = units.GiB
	of := func(t *topology.Topology, runs ...diagnose.Measurement) diagnose.Case {
		return diagnose.Case{Topology: t, Runs: runs}
	}
	shallow, deep := random(1, 8*units.KiB, 1, 1), random(1, 8*units.KiB, 4, 16)
	local := func() *topology.Topology {
		t := on("", array("nvme1n1", topology.Single, 0, 1, p4510()))
		t.Instance = instanceOf("c8g.2xlarge")
		t.Instance.IOBalance, t.Instance.RateBalance = leftOf(0.05), leftOf(0.05)
		return t
	}
	larger := credits("gp2", 100*gib, 0.02)
	larger.Arrays[0].Volumes[0] = gp3()
	larger.Arrays[0].Volumes[0].Balance = leftOf(0.02)
	return []labelled{
		{"gp2 with 12 % of its credits", of(credits("gp2", 100*gib, 0.12)), "PL605", ""},
		{"gp2 with all of its credits", of(credits("gp2", 100*gib, 1)), "PL605", ""},
		{"gp2 of 1 TiB, that gives its burst for good", of(credits("gp2", 1024*gib, 1)), "", ""},
		{"gp2, of which CloudWatch tells nothing", of(credits("gp2", 100*gib, -1)), "", ""},
		{"one of four gp2 volumes nearly spent", of(credits("gp2", 100*gib, 1, 1, 0.03, 0.98)), "PL605", ""},
		{"st1 with half of its credits", of(credits("st1", 1024*gib, 0.5)), "PL605", ""},
		{"st1 of 16 TiB, that gives its burst for good", of(credits("st1", 16384*gib, 1)), "", ""},
		{"gp3, that has a balance by mistake", of(larger), "", ""},
		{"instance with 5 % of its throughput credits", of(onInstance("c8g.2xlarge", 8, 0.9, 0.05)), "PL605", ""},
		{"instance that sustains its maximum", of(onInstance("m5.12xlarge", 8, 0.05, 0.05)), "", ""},
		{"volumes below what the instance sustains", of(onInstance("c8g.2xlarge", 2, 0.05, 0.05)), "", ""},
		{"local drives beside spent credits of the instance", of(local()), "", ""},
		{"10 min to come on 40 % of 33 min", of(credits("gp2", 100*gib, 0.4), planned(10*time.Minute, gp2Bounds(5000))), "", ""},
		{"20 min to come on 40 % of 33 min", of(credits("gp2", 100*gib, 0.4), planned(20*time.Minute, gp2Bounds(5000))), "PL605", ""},
		{"20 min to come of a load below the sustained rate", of(credits("gp2", 100*gib, 0.4), planned(20*time.Minute, gp2Bounds(250))), "", ""},
		{"20 min measured on 40 % of 33 min, that were enough", of(credits("gp2", 100*gib, 0.4),
			measured(1, deep, runFor(20*time.Minute), took(2000, 0, 32), withCeiling(gp2Bounds(5000)))), "PL602", "PL503"},
		{"20 min measured on 40 % of 33 min, the last of them slow", of(credits("gp2", 100*gib, 0.4),
			measured(1, deep, runFor(15*time.Minute), took(3000, 0, 21), withCeiling(gp2Bounds(5000))),
			measured(2, deep, runFor(5*time.Minute), took(300, 0, 213), withCeiling(gp2Bounds(5000)))), "PL605 PL602 PL502 PL503", ""},
		{"a load below the sustained rate on spent credits", of(credits("gp2", 100*gib, 0), measured(1, shallow, took(250, 0, 4), withCeiling(gp2Bounds(250)))), "", "PL501"},
		{"measured on spent credits", of(credits("gp2", 100*gib, 0.01), measured(1, deep, took(300, 0, 213), withCeiling(gp2Bounds(5000)))), "PL605 PL503", ""},
		{"measured on full credits", of(credits("gp2", 100*gib, 1), measured(1, deep, took(3000, 0, 21.3), withCeiling(gp2Bounds(5000)))), "PL602 PL502", ""},
	}
}

// The durations are those that AWS tabulates for gp2 (2,000 s for 100 GiB, general-purpose.html),
// and st1's bucket over its two rates.
func TestBurstBalance(t *testing.T) {
	const gib = units.GiB
	for _, tt := range []struct {
		name     string
		c        diagnose.Case
		severity finding.Severity
		subject  string
		says     string
		evidence string // one of it
	}{
		{
			"gp2 full",
			diagnose.Case{Topology: credits("gp2", 100*gib, 1)},
			finding.Info, "nvme1n1",
			"nvme1n1 (gp2) had 100.0 % of its burst credits left at 10:35 UTC: its burst of 3,000 IOPS lasts 33 min 20 s at full rate, then drops to 300 IOPS; a shorter test sees only the burst.",
			"100.0 % × 5,400,000 I/Os ÷ (3,000 - 300 IOPS); detected, EC2 API",
		},
		{
			"gp2 at 20.0 %",
			diagnose.Case{Topology: credits("gp2", 100*gib, 0.2)},
			finding.Info, "nvme1n1",
			"nvme1n1 (gp2) had 20.0 % of its burst credits left at 10:35 UTC: its burst of 3,000 IOPS lasts 6 min 40 s at full rate, then drops to 300 IOPS; a shorter test sees only the burst.", "",
		},
		{
			"gp2 below",
			diagnose.Case{Topology: credits("gp2", 100*gib, 0.124)},
			finding.Warn, "nvme1n1",
			"nvme1n1 (gp2) had 12.4 % of its burst credits left at 10:35 UTC: its burst of 3,000 IOPS lasts 4 min 8 s at full rate, then drops to 300 IOPS; a shorter test sees only the burst.", "",
		},
		{
			"gp2 spent",
			diagnose.Case{Topology: credits("gp2", 100*gib, 0)},
			finding.Warn, "nvme1n1",
			"nvme1n1 (gp2) had 0.0 % of its burst credits left at 10:35 UTC: it runs at 300 IOPS until they fill up again, not at its burst of 3,000 IOPS.", "",
		},
		{
			"one of four",
			diagnose.Case{Topology: credits("gp2", 100*gib, 1, 1, 0.03, 0.98)},
			finding.Warn, "md0",
			"The emptiest of the 4 volumes of md0, nvme3n1 (gp2), had 3.0 % of its burst credits left at 10:35 UTC: its burst of 3,000 IOPS lasts 60 s at full rate, then drops to 300 IOPS; a shorter test sees only the burst.",
			"98.0 % at 10:35 UTC",
		},
		{
			"two of four known",
			diagnose.Case{Topology: credits("gp2", 100*gib, 1, -1, 0.5, -1)},
			finding.Info, "md0",
			"The emptiest of the 2 known, of 4 volumes of md0, nvme3n1 (gp2), had 50.0 % of its burst credits left at 10:35 UTC: its burst of 3,000 IOPS lasts 16 min 40 s at full rate, then drops to 300 IOPS; a shorter test sees only the burst.", "",
		},
		{
			"st1",
			diagnose.Case{Topology: credits("st1", 1024*gib, 0.5)},
			finding.Info, "nvme1n1",
			"nvme1n1 (st1) had 50.0 % of its burst credits left at 10:35 UTC: its burst of 250 MiB/s lasts 41 min 37 s at full rate, then drops to 40 MiB/s; a shorter test sees only the burst.",
			"50.0 % × 1 TiB ÷ (250 MiB/s - 40 MiB/s); detected, EC2 API",
		},
		{
			"instance",
			diagnose.Case{Topology: onInstance("c8g.2xlarge", 8, 0.9, 0.05)},
			finding.Warn, "c8g.2xlarge",
			"c8g.2xlarge had 5.0 % of its burst credits left at 10:35 UTC: its burst of 1,250 MB/s lasts 90 s at full rate, then drops to 312.5 MB/s; a shorter test sees only the burst.",
			"90.0 % × 30 min of a full bucket; catalogue, instances.csv",
		},
		{
			"a run that is too long for what is left",
			diagnose.Case{Topology: credits("gp2", 100*gib, 0.4), Runs: []diagnose.Measurement{planned(20*time.Minute, gp2Bounds(5000))}},
			finding.Warn, "nvme1n1",
			"nvme1n1 (gp2) had 40.0 % of its burst credits left at 10:35 UTC: its burst of 3,000 IOPS lasts 13 min 20 s at full rate, then drops to 300 IOPS; a shorter test sees only the burst. The run asks for more than that for 20 min.", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := slices.DeleteFunc(Judge(&tt.c, nil), func(f finding.Finding) bool { return f.Code != "PL605" })
			if len(all) != 1 {
				t.Fatalf("%+v", all)
			}
			f := all[0]
			if f.Severity != tt.severity || f.Subject != tt.subject || f.Message != tt.says {
				t.Errorf("%s %s\n%s\nwant %s %s\n%s", f.Severity, f.Subject, f.Message, tt.severity, tt.subject, tt.says)
			}
			if !slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return strings.Contains(e.Found+" "+e.Where, tt.evidence) }) {
				t.Errorf("no evidence has %q: %+v", tt.evidence, f.Evidence)
			}
		})
	}
}

// What lasts is called fine, and only where all of it is known.
func TestSteadyVolumes(t *testing.T) {
	unknown := onInstance("c8g.2xlarge", 2, 1, 1)
	unknown.Arrays[0].Volumes[1].Sustained = topology.Limits{}
	foreign := onInstance("m5.12xlarge", 8, 1, 1)
	foreign.Instance = topology.Instance{Type: "x99.mega"}
	for name, tt := range map[string]struct {
		t    *topology.Topology
		want string
	}{
		"gp3 on an instance that sustains its maximum": {onInstance("m5.12xlarge", 8, 1, 1), "md0"},
		"gp3 below what the instance sustains":         {onInstance("c8g.2xlarge", 2, 1, 1), "md0"},
		"gp3 above it":                                 {onInstance("c8g.2xlarge", 8, 1, 1), ""},
		"gp2":                                          {credits("gp2", 100*units.GiB, 1), ""},
		"a volume without known limits":                {unknown, ""},
		"an instance that the catalogue lacks":         {foreign, ""},
		"local drives":                                 {on("", array("nvme1n1", topology.Single, 0, 1, p4510())), ""},
		"nothing":                                      {nil, ""},
	} {
		got := ""
		for _, p := range Passes(&diagnose.Case{Topology: tt.t, Host: &host.Facts{}}) {
			if p.Code == "PL605" {
				got = p.Message
			}
		}
		if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
