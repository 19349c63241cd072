package advise

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/topology"
)

func TestClaims(t *testing.T) {
	for _, c := range []struct {
		claim, volumes, level, instance string
		holds, sustained                bool
		lasts                           time.Duration
		want                            []string
	}{
		{"40000 IOPS", "", "", "c6a.xlarge", true, false, 30 * time.Minute, []string{
			"Yes, but only for 30 min once in 24 h", "Sustained it is 6,000 IOPS, 15.0 % of the claim",
			"since some day between 2023-03-07 and 2023-05-11; before it was 26,667 IOPS",
		}},
		{"6000 IOPS", "", "", "c6a.xlarge", true, true, 0, []string{"Yes, sustained"}},
		{"50000 IOPS", "", "", "c6a.xlarge", false, false, 0, []string{"No: 50000 IOPS is more than it reaches. It reaches 40,000 IOPS"}},
		{"1250MB/s", "", "", "c8g.2xlarge", true, false, 30 * time.Minute, []string{"25.0 % of the claim"}},
		{"10Gbps", "", "", "c8g.2xlarge", true, false, 30 * time.Minute, nil},
		{"40000 IOPS", "", "", "m5.12xlarge", true, true, 0, nil},
		{"24000 IOPS of 8KiB", "8xgp3 50GiB", "raid10", "", true, true, 0, []string{"For writes it does not hold: they reach 12,000 IOPS"}},
		{"3000 IOPS", "gp2 100GiB", "single", "", true, false, 2000 * time.Second, []string{"Sustained it is 300 IOPS"}},
		// 5.4 million credits at 500 - 300 a second
		{"500 IOPS", "gp2 100GiB", "single", "", true, false, 450 * time.Minute, []string{"for 7 h 30 min: it is a burst of volume IOPS (1 volume × 3,000 IOPS"}},
		// gp3 has no burst: what ends is the instance's
		{"24000 IOPS", "8xgp3 50GiB", "raid10", "c8g.2xlarge", true, false, 30 * time.Minute, []string{"it is a burst of instance IOPS (c8g.2xlarge: 40,000 IOPS", "Sustained it is 12,000 IOPS"}},
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
	for _, s := range []string{"", "40000", "fast", "0 IOPS", "-5 IOPS", "40000 IOPS of", "40000 IOPS of 8x", "1250"} {
		if c, err := ParseClaim(s); err == nil {
			t.Errorf("%q: %+v, want an error", s, c)
		}
	}
}
