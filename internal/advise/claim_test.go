package advise

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func TestClaims(t *testing.T) {
	for _, c := range []struct {
		claim, volumes, level, instance string
		holds, sustained                bool
		lasts                           time.Duration
		want                            []string
	}{
		{"40000 IOPS", "", "", "c6a.xlarge", true, false, 30 * time.Minute, []string{
			"Yes, but only for 30 min once every 24 h", "The storage sustains 6,000 IOPS, 15.0 % of the claim",
			"since sometime between 2023-03-07 and 2023-05-11; before that, it was 26,667 IOPS",
		}},
		{"6000 IOPS", "", "", "c6a.xlarge", true, true, 0, []string{"Yes, sustained"}},
		{"50000 IOPS", "", "", "c6a.xlarge", false, false, 0, []string{"No: at most 40,000 IOPS for 30 min of 16 KiB reads from EBS"}},
		{"1250MB/s", "", "", "c8g.2xlarge", true, false, 30 * time.Minute, []string{"25.0 % of the claim"}},
		{"10Gbps", "", "", "c8g.2xlarge", true, false, 30 * time.Minute, nil},
		{"40000 IOPS", "", "", "m5.12xlarge", true, true, 0, nil},
		{"24000 IOPS of 8KiB", "8xgp3 50GiB", "raid10", "", false, false, 0, []string{"No: at most 12,000 IOPS of 8 KiB writes", "For reads alone: As far as the volumes go: yes"}},
		{"3000 IOPS", "gp2 100GiB", "single", "", true, false, 2000 * time.Second, []string{"The storage sustains 300 IOPS"}},
		// 5.4 million credits at 500 - 300 a second
		{"500 IOPS", "gp2 100GiB", "single", "", true, false, 450 * time.Minute, []string{"for 7 h 30 min: it is a burst of volume IOPS (1 volume × 3,000 IOPS"}},
		// 500 GiB of credits, less 500/1,024 of 40 MiB/s: 512,000 MiB ÷ (100 - 19.53) MiB/s
		{"100MiB/s of 1MiB", "st1 500GiB", "single", "", true, false, 6363 * time.Second, []string{"The storage sustains 19.5 MiB/s (20.5 MB/s), 19.5 % of the claim"}},
		// gp3 has no burst: what ends is the instance's
		{"24000 IOPS reads", "8xgp3 50GiB", "raid10", "c8g.2xlarge", true, false, 30 * time.Minute, []string{"it is a burst of instance IOPS (c8g.2xlarge: 40,000 IOPS", "The storage sustains 12,000 IOPS"}},
		// The sixth of the users' findings: a claim without a direction holds only if it does for both.
		{"8000 IOPS", "4xgp3", "raid10", "r6i.2xlarge", false, false, 0, []string{"No: at most 6,000 IOPS of 16 KiB writes", "For reads alone: Yes, sustained"}},
		{"5900 IOPS", "4xgp3", "raid10", "r6i.2xlarge", true, true, 0, nil},
		// Two limits of 12,000, and a near miss: what is said to limit is both, wherever it is said.
		{
			"12000 IOPS", "4xgp3", "raid0", "r6i.2xlarge", true, true, 0,
			[]string{"Yes, sustained: 12,000 IOPS of 16 KiB reads, limited by instance and volume IOPS."},
		},
		{
			"13000 IOPS", "4xgp3", "raid0", "r6i.2xlarge", false, false, 0,
			[]string{"No: at most 12,000 IOPS of 16 KiB reads from the volumes, limited by instance and volume IOPS ("},
		},
		{"12000 IOPS", "5xgp3", "raid0", "r6i.2xlarge", true, true, 0, []string{"limited by instance IOPS."}},
		// 26,667 IOPS and 833.3 MB/s before, 40,000 and 1,250 now.
		{"+50 %", "", "", "c6a.xlarge", true, false, 0, []string{"Yes: +50.0 % IOPS, from 26,667 to 40,000, and +50.0 % throughput, from 833.3 MB/s to 1,250 MB/s", "it sustains 6,000 IOPS"}},
		{"+60%", "", "", "c6a.xlarge", false, false, 0, []string{"No: +50.0 % IOPS"}},
		{"+60 %", "", "", "c8g.2xlarge", false, false, 0, []string{"Not known: the catalogue has no earlier limits of c8g.2xlarge"}},
		{"99999 IOPS", "", "", "", false, false, 0, []string{"Nothing is known"}},
	} {
		topo := &topology.Topology{}
		if c.volumes != "" || c.instance != "" {
			d, err := topology.FromFlags(c.volumes, c.level, "", c.instance)
			if err != nil {
				t.Fatal(err)
			}
			if topo, err = topology.FromDeclaration(d); err != nil {
				t.Fatal(err)
			}
		}
		claim, err := ParseClaim(c.claim)
		if err != nil {
			t.Fatal(err)
		}
		v := claim.Check(topo)
		if v.Holds != c.holds || v.Sustained != c.sustained || v.BurstFor != c.lasts {
			t.Errorf("%s of %s %s: %+v", c.claim, c.volumes, c.instance, v)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(v.Lines, "\n"), want) {
				t.Errorf("%s of %s %s: %q is missing in %q", c.claim, c.volumes, c.instance, want, v.Lines)
			}
		}
	}
	for _, s := range []string{"", "40000", "fast", "0 IOPS", "-5 IOPS", "40000 IOPS of", "40000 IOPS of 8x", "1250", "+", "+0 %", "+x %"} {
		if c, err := ParseClaim(s); err == nil {
			t.Errorf("%q: %+v, want an error", s, c)
		}
	}
}

// Forty claims, those of the fourth review among them: what the vendor states is held by the I/O that it is stated for,
// of the storage that has it, which is named.
func TestClaimsOfVendors(t *testing.T) {
	for _, c := range []struct {
		claim, volumes, instance string
		holds, sustained         bool
		storage                  string
		want                     string
	}{
		{"100000 IOPS", "1x nvme", "i4i.xlarge", true, true, "the volumes", "of 4 KiB reads"},
		{"400000 IOPS", "1x nvme", "Standard_L8s_v3", true, true, "the volumes", "of 4 KiB reads"},
		{"50000 IOPS", "", "c4d-standard-4", true, true, "hyperdisk-balanced", "of 4 KiB reads"},
		{"250MiB/s", "1x st1 1TiB", "m5.large", true, false, "the volumes", "for 30 min"},
		{"44200 IOPS", "", "Standard_E8bds_v5:nvme", true, true, "Premium SSD v2 and Ultra", "it also has managed disks"},
		{"16667 IOPS", "", "Standard_D8s_v6", true, true, "Premium SSD v2 and Ultra", "When Azure first published"},
		{"12800 IOPS", "", "Standard_D8s_v3", true, true, "managed disks", "When Azure first published"},
		{"100MB/s", "1x P10", "", true, true, "the volumes", "of 256 KiB reads"},
		{"2400MiB/s", "1x hyperdisk-balanced 1000GiB 10000iops 2400MiB/s", "c3-standard-44", true, true, "the volumes", ""},
		{"3300000 IOPS", "", "i3.16xlarge", true, true, "its own 8 drives", "it also has EBS"},
		{"100000 IOPS", "", "i4i.xlarge", true, true, "its own 1 drive", "For writes: No: at most 55,000 IOPS"},
		{"400000 IOPS", "", "Standard_L8s_v3", true, true, "its own 1 drive", ""},
		{"200000 IOPS", "", "i7ie.2xlarge", true, true, "its own 2 drives", ""},
		{"120000 IOPS", "", "n2-standard-64", true, true, "pd-extreme", "it also has pd-balanced, pd-ssd and pd-standard"},
		{"30000 IOPS", "", "m5d.large", true, true, "its own 1 drive", "For writes: No: at most 15,000 IOPS"},
		{"3000000 IOPS", "", "z3-highmem-88-standardlssd", true, true, "its own 6 drives", ""},
		{"3000 IOPS", "", "d3.xlarge", true, true, "EBS", ""},
		{"90000 IOPS", "", "d3.xlarge", false, false, "EBS", "Not known: the catalogue has no figures for its own drives"},
		{"894399 IOPS", "1x nvme", "Standard_L8s_v3", false, false, "the volumes", "Not known: at least 400,000"},
		{"1000000 IOPS", "", "dl1.24xlarge", true, true, "its own 4 drives", "For writes: No: at most 800,000"},
		{"680000 IOPS writes", "4x nvme", "m5d.24xlarge", true, true, "the volumes", "of 4 KiB writes"},
		{"5000 IOPS", "1x P30", "Standard_D8s_v5", true, true, "the volumes", ""},
		{"20000 IOPS", "4x P30", "Standard_D8s_v5", true, false, "the volumes", "for 30 min"},
		{"200MB/s", "1x P30", "Standard_D8s_v5", true, true, "the volumes", ""},
		{"16000 IOPS reads", "1x P30 readonly", "Standard_D8s_v3", true, true, "the volumes", "host cache"},
		{"20000 IOPS reads", "1x P30 readonly", "Standard_D8s_v3", false, false, "the volumes", "No: at most 16,000"},
		{"3500 IOPS", "1x P10", "Standard_D8s_v5", true, false, "the volumes", "The storage sustains 500 IOPS"},
		{"15000 IOPS", "2x pd-ssd 1000GiB", "n2-standard-8", true, true, "the volumes", ""},
		{"27000 IOPS", "2x pd-ssd 1000GiB", "n2-standard-8", false, false, "the volumes", "No: at most 15,000"},
		{"9000 IOPS", "1x pd-balanced 1000GiB", "n2-standard-8", true, true, "the volumes", ""},
		{"16000 IOPS", "1x gp3 100GiB 16000iops 500MiB/s", "m5.12xlarge", true, true, "the volumes", "of 16 KiB"},
		{
			"16000 IOPS", "1x gp3 100GiB 16000iops", "m5.12xlarge", false, false, "the volumes",
			"No: at most 8,000 IOPS of 16 KiB reads",
		},
		{"16000 IOPS of 4KiB", "1x gp3 100GiB 16000iops", "m5.12xlarge", true, true, "the volumes", ""},
		{"64000 IOPS", "1x io2 500GiB 64000iops", "r4.16xlarge", false, false, "the volumes", "No: at most 32,000"},
		{"500MB/s", "4x gp3 100GiB", "m5.4xlarge", true, true, "the volumes", "of 128 KiB"},
		{"100 IOPS", "", "c4-standard-8", false, false, "", "What c4-standard-8 allows is not known"},
		{"40000 IOPS", "", "i4i.xlarge", true, true, "its own 1 drive", ""},
		{"8000 IOPS", "4xgp3", "r6i.2xlarge", true, true, "the volumes", ""},
		{"9000 IOPS of 8KiB writes", "4xgp3", "r6i.2xlarge", true, true, "the volumes", "of 8 KiB writes"},
		{"9000 IOPS of 64KiB writes", "4xgp3", "r6i.2xlarge", false, false, "the volumes", "64 KiB writes"},
	} {
		level := "raid0"
		if strings.HasPrefix(c.volumes, "1x") {
			level = "single"
		}
		if c.volumes == "" {
			level = ""
		}
		d, err := topology.FromFlags(c.volumes, level, "", c.instance)
		if err != nil {
			t.Fatal(err)
		}
		topo, err := topology.FromDeclaration(d)
		if err != nil {
			t.Fatal(c.claim, c.volumes, c.instance, err)
		}
		claim, err := ParseClaim(c.claim)
		if err != nil {
			t.Fatal(err)
		}
		v := claim.Check(topo)
		if v.Holds != c.holds || v.Sustained != c.sustained || c.storage != "" && v.Storage != c.storage ||
			!strings.Contains(strings.Join(v.Lines, " "), c.want) || !strings.HasPrefix(c.instance, "c6") && strings.Contains(c.instance, "tandard") && strings.Contains(strings.Join(v.Lines, " "), "AWS") {
			t.Errorf("%s of %s on %s: %v %v %q %q", c.claim, c.volumes, c.instance, v.Holds, v.Sustained, v.Storage, v.Lines)
		}
	}
}

// A claim that is met for a time only is no pass, and one above figures that nobody is sure of no failure.
func TestVerdictsOfClaims(t *testing.T) {
	for _, c := range []struct{ claim, volumes, instance, want, says string }{
		{"6000 IOPS", "", "m5.xlarge", "pass", ""},
		{"6010 IOPS", "", "m5.xlarge", "warn", "only for 30 min"},
		{"18750 IOPS", "", "m5.xlarge", "warn", "only for 30 min"},
		{"18800 IOPS", "", "m5.xlarge", "fail", "No: at most 18,750 IOPS for 30 min"},
		{"+50 %", "", "c6a.xlarge", "warn", "bursts of 30 min"},
		{"+60 %", "", "c6a.xlarge", "fail", ""},
		{"+60 %", "", "m5.xlarge", "measured", "Not known"},
		{"1 IOPS", "", "c4-standard-8", "measured", "is not known"},
		{"16000 IOPS", "", "d3.xlarge", "measured", "no figures for its own drives"},
		// 894,399 were measured
		{"401000 IOPS", "", "Standard_L8s_v3", "measured", "It may do more: the catalogue's figures for it are partial."},
		{"400000 IOPS", "", "Standard_L8s_v3", "pass", ""},
		// AWS's own figure
		{"101000 IOPS", "", "i4i.xlarge", "fail", "No: at most 100,000 IOPS"},
		// measured, none published
		{"4510000 IOPS", "", "z3-highmem-88-standardlssd", "measured", "Not known: at least 4,500,000 IOPS"},
		{"12000 IOPS", "azure-premium 1TiB", "Standard_D16s_v5", "measured", "more may have been ordered"},
		{"12000 IOPS", "1x P30", "Standard_D16s_v5", "fail", "No: at most 5,000"},
		// no tier gives the machine more
		{"90000 IOPS", "azure-premium 1TiB", "Standard_D16s_v5", "fail", "No: at most 5,000"},
	} {
		d, err := topology.FromFlags(c.volumes, "", "", c.instance)
		if err != nil {
			t.Fatal(err)
		}
		topo, err := topology.FromDeclaration(d)
		if err != nil {
			t.Fatal(err)
		}
		claim, err := ParseClaim(c.claim)
		if err != nil {
			t.Fatal(err)
		}
		v := claim.Check(topo)
		if said := strings.Join(v.Lines, " "); v.Verdict() != c.want || !strings.Contains(said, c.says) {
			t.Errorf("%s of %s on %s: %s, %s", c.claim, c.volumes, c.instance, v.Verdict(), said)
		}
	}
}

// Since when a type has what is claimed, by what its pages showed between two dates each: c6a.xlarge
// 26,667 IOPS and 833.3 MB/s until 2023-03-07, 40,000 and 1,250 on 2023-05-11; r6in.32xlarge 350,000
// until 2023-05-11, and 400,000 by 2023-06-15.
func TestHistoryOfClaims(t *testing.T) {
	mb := func(n float64) units.Rate { return units.Rate(n) * units.MBPerSec }
	for _, c := range []struct {
		typ   string
		claim Claim
		want  string // empty: nothing is said
	}{
		{"c6a.xlarge", Claim{IOPS: 6000}, "AWS has published it for c6a.xlarge since at least 2022-02-21."},
		{"c6a.xlarge", Claim{IOPS: 26667}, "AWS has published it for c6a.xlarge since at least 2022-02-21."},
		{"c6a.xlarge", Claim{IOPS: 26700}, "since sometime between 2023-03-07 and 2023-05-11; before that, it was 26,667 IOPS."},
		{"c6a.xlarge", Claim{IOPS: 40000}, "since sometime between 2023-03-07 and 2023-05-11; before that, it was 26,667 IOPS."},
		{"c6a.xlarge", Claim{IOPS: 40030}, "since sometime between 2023-03-07 and 2023-05-11"}, // rounded
		{"c6a.xlarge", Claim{IOPS: 40050}, ""},
		{"c6a.xlarge", Claim{Rate: mb(833)}, "since at least 2022-02-21."},
		{"c6a.xlarge", Claim{Rate: mb(1250)}, "before that, it was 833.3 MB/s."},
		{"c6a.xlarge", Claim{Rate: mb(1252)}, ""},
		{"r6in.32xlarge", Claim{IOPS: 400000}, "since sometime between 2023-05-11 and 2023-06-15; before that, it was 350,000 IOPS."},
		{"c8g.2xlarge", Claim{IOPS: 40000}, "When AWS first published this for c8g.2xlarge is not known; the catalogue dates from 2026-10-27."},
		{"nosuch", Claim{IOPS: 1}, ""},
	} {
		v := ClaimVerdict{Claim: c.claim}
		v.history(c.typ)
		if got := strings.Join(v.Lines, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %+v: %q, want %q", c.typ, c.claim, got, c.want)
		}
	}
	for text, want := range map[string]Claim{
		"40000 IOPS": {IOPS: 40000}, "5 iops of 4k": {IOPS: 5, Block: 4 * units.KiB}, "0.5 IOPS": {IOPS: 0.5},
		"1250MB/s": {Rate: mb(1250)}, "1 MB/s of 1MiB": {Rate: mb(1), Block: units.MiB},
	} {
		got, err := ParseClaim(text)
		if got.Text = ""; err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	// A claim just below what it is rounded to holds; a burst of which nobody knows how long it lasts is one.
	one := func(sustained, burst units.IOPS) *topology.Topology {
		return &topology.Topology{Arrays: []topology.Array{{Name: "a", Level: topology.Single, Volumes: []topology.Volume{
			{Sustained: topology.Limits{IOPS: sustained}, Burst: topology.Limits{IOPS: burst}},
		}}}}
	}
	for _, c := range []struct {
		claim            units.IOPS
		holds, sustained bool
		line             string
	}{
		{1000, true, true, "Yes, sustained"},
		{1001, true, true, "Yes, sustained"},
		{1002, true, false, "only for an unknown time: it is a burst of volume IOPS"},
		{3003, true, false, "The storage sustains 1,000 IOPS, 33.3 % of the claim"},
		{3004, false, false, "No:"},
	} {
		v := Claim{IOPS: c.claim, Block: 4096}.Check(one(1000, 3000))
		if v.Holds != c.holds || v.Sustained != c.sustained || !strings.Contains(strings.Join(v.Lines, "\n"), c.line) {
			t.Errorf("%v: %+v", c.claim, v)
		}
	}
}

// A claim about network volumes holds only as far as the instance is known.
func TestClaimsOfVolumesAlone(t *testing.T) {
	claim, err := ParseClaim("400MiB/s")
	if err != nil {
		t.Fatal(err)
	}
	gp3 := topology.Volume{
		Type: "gp3", Network: true, Sustained: topology.Limits{IOPS: 3000, Rate: 125 << 20}, Origin: topology.Origin{Kind: topology.Declared},
	}
	at := func(n int, i topology.Instance, change func(*topology.Volume)) ClaimVerdict {
		v := gp3
		change(&v)
		a := topology.Array{Name: "a", Level: topology.RAID0}
		for range n {
			a.Volumes = append(a.Volumes, v)
		}
		return claim.Check(&topology.Topology{
			Instance: i, Arrays: []topology.Array{a}, Targets: []topology.Target{{Role: topology.Data, Array: "a"}},
		})
	}
	keep := func(*topology.Volume) {}
	large := topology.Instance{Type: "x", Baseline: topology.Limits{IOPS: 100000, Rate: 4 << 30}}
	for name, c := range map[string]struct {
		got    ClaimVerdict
		caveat bool
	}{
		"no instance":              {at(4, topology.Instance{}, keep), true},
		"an instance":              {at(4, large, keep), false},
		"local drives":             {at(4, topology.Instance{}, func(v *topology.Volume) { v.Network = false }), false},
		"refused whatever it runs": {at(1, topology.Instance{}, keep), false},
	} {
		all := strings.Join(c.got.Lines, "|")
		if strings.Contains(all, "name it with --instance") != c.caveat || strings.HasPrefix(all, "As far as the volumes go: yes, sustained") != c.caveat {
			t.Errorf("%s: %q", name, all)
		}
	}
}
