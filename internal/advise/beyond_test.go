package advise

import (
	"strings"
	"testing"

	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// The cliff of the users' fourth finding: 27 % less for a demand that is missed by 4 %.
func TestCliff(t *testing.T) {
	mixed := func(iops units.IOPS, most float64) *Advice {
		r := Request{Headroom: most, VCPUs: 8, Memory: 64 * units.GiB, Demand: &workload.Demand{
			Capacity: 500 * units.GiB, Durability: workload.Durability{Survives: workload.LostVolume},
			Streams: []workload.Stream{{
				Name: "all", IOPS: iops, Rate: units.Rate(iops) * 8192, ReadShare: 0.7, Random: true,
				Blocks: []workload.Block{{Size: 8 * units.KiB, Share: 1}},
			}},
		}}
		a, err := Advise(r)
		if err != nil || len(a.Rows) == 0 {
			t.Fatal(a, err)
		}
		return a
	}
	a := mixed(8000, 0.2)
	c := a.Cliff
	if c == nil || c.Month.String() != "$374.34" || a.Rows[0].Month.String() != "$515.08" || c.Times < 1.15 || c.Times > 1.16 {
		t.Errorf("%+v", c)
	}
	if a = mixed(8000, 0.15); a.Cliff != nil || a.Rows[0].Month.String() != "$374.34" {
		t.Errorf("what meets the demand is no cliff, and what saves nothing is none: %+v", a.Cliff)
	}
}

// Nothing is never the whole answer: each change that finds a choice is named with it, and the choice found is one.
func TestNextStep(t *testing.T) {
	for name, c := range map[string]struct {
		r    Request
		want []string
	}{
		"an instance that is too small": {Request{Instance: "r6i.2xlarge", Headroom: 0.2, Demand: elsewhereDemand(16000)}, []string{"without --instance r6i.2xlarge"}},
		"types that are too slow": {
			Request{Types: []string{"st1"}, Demand: elsewhereDemand(500)},
			[]string{"with other --types"},
		},
		"a family and an architecture": {
			Request{Families: []string{"t4g"}, Arch: "x86_64", Demand: elsewhereDemand(500)},
			[]string{"with any --family", "with any --arch"},
		},
		"two at once": {
			Request{Families: []string{"nothing"}, Types: []string{"st1"}, Demand: elsewhereDemand(500)},
			[]string{"without any of these restrictions"},
		},
		"more than there is": {
			Request{Demand: elsewhereDemand(9e6)},
			[]string{"for a tenth of the demand, on several machines"},
		},
		"on Azure": {Request{
			Cloud: cloud.Named("azure"), Types: []string{"premium"}, MaxVolumes: 1,
			Demand: elsewhereDemand(30000),
		}, []string{"with other --types", "with --max-volumes 32"}},
		"most of all, on Google": {Request{
			Cloud: cloud.Named("gcp"), Families: []string{"c4-*"}, Types: []string{"pd-ssd"},
			Demand: elsewhereDemand(5000),
		}, []string{"with other --types", "with any --family"}},
	} {
		a, err := Advise(c.r)
		if err != nil || len(a.Rows) > 0 {
			t.Fatalf("%s: %+v %v", name, a.Rows, err)
		}
		var got []string
		for _, one := range a.Next {
			got = append(got, one.What)
			if one.Row.Month == 0 || one.Row.Times == 0 {
				t.Errorf("%s: %+v", name, one)
			}
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
