package advise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

func elsewhereDemand(iops units.IOPS) *workload.Demand {
	return &workload.Demand{Capacity: 500 * units.GiB, Streams: []workload.Stream{{
		Name: "reads", IOPS: iops, ReadShare: 1, Random: true, Blocks: []workload.Block{{Size: 8 * units.KiB, Share: 1}},
	}}}
}

// Each choice of Azure and Google, declared as a layout on its machine, sustains the demand with its
// headroom by the ceiling; and no sum stands where a price is missing.
func TestElsewhereMeetsTheDemand(t *testing.T) {
	for _, c := range []struct {
		cloud    string
		survives workload.Survives
		iops     units.IOPS
		most     int
	}{{"azure", "", 9000, 3}, {"gcp", "", 9000, 4}, {"azure", workload.LostVolume, 4000, 2}} {
		r := Request{Demand: elsewhereDemand(c.iops), Headroom: 0.2, VCPUs: 8, Cloud: cloud.Named(c.cloud)}
		r.Demand.Durability.Survives = c.survives
		a, err := Advise(r)
		if err != nil || len(a.Rows) == 0 || len(a.Rows) > c.most {
			t.Fatalf("%s: %+v %v", c.cloud, a, err)
		}
		for _, row := range a.Rows {
			l := row.Layout
			if l.Local {
				continue // TestElsewhereOwnDrives
			}
			if c.survives != "" && !l.Level.Mirrored() {
				t.Errorf("%s: %+v does not survive a volume", c.cloud, l)
			}
			line := fmt.Sprintf("%dx %s %dGiB", l.N, l.Spec.Type, uint64(l.Spec.Size/units.GiB))
			if l.Spec.IOPS > 0 {
				line += fmt.Sprintf(" %.0fiops %.0fMiB/s", float64(l.Spec.IOPS), float64(l.Spec.Rate/units.MiBPerSec))
			}
			d, err := topology.FromFlags(line, string(l.Level), "", row.Type)
			if err != nil {
				t.Fatal(line, err)
			}
			topo, err := topology.FromDeclaration(d)
			if err != nil {
				t.Fatal(line, err)
			}
			load := fio.Workload{Engine: "libaio", Direct: true, Jobs: 8, Depth: 64, ReadShare: 1, ReadBS: 8 * units.KiB}
			got := ceiling.Of(topo, topology.Data, []fio.Workload{load}).Sustained()
			if got == nil || got.IOPS < c.iops*1.19 {
				t.Errorf("%s on %s: %+v, want %v", line, row.Type, got, c.iops)
			}
			if row.InstanceMonth == 0 || row.VolumesMonth == 0 || row.Month != row.InstanceMonth+row.VolumesMonth {
				t.Errorf("a row without its sum: %+v", row)
			}
		}
		if !slices.IsSortedFunc(a.Rows, func(x, y Candidate) int { return cmp.Compare(x.Month, y.Month) }) && !a.Rows[len(a.Rows)-1].Layout.Local {
			t.Errorf("rows are not by their whole cost: %+v", a.Rows)
		}
		if !strings.Contains(strings.Join(a.Notes, " "), "prices of volumes in ") {
			t.Errorf("notes %q", a.Notes)
		}
	}
}

// The drives of a machine itself lose their data over a stop: they come last, and first only where the
// demand allows that; a temp disk, whose writes have no figure, is never advised.
func TestElsewhereOwnDrives(t *testing.T) {
	r := Request{Demand: elsewhereDemand(9000), Cloud: cloud.Named("azure"), Families: []string{"Standard_L8*_v3", "Standard_D8ds_v5"}}
	a, err := Advise(r)
	if err != nil || len(a.Rows) < 2 || slices.ContainsFunc(a.Rows, func(c Candidate) bool { return c.Layout.Local }) {
		t.Fatalf("%+v %v", a, err)
	}
	r.Demand.Durability.Survives = workload.NoLoss
	if a, err = Advise(r); err != nil || !slices.IsSortedFunc(a.Rows, func(x, y Candidate) int { return cmp.Compare(x.Month, y.Month) }) {
		t.Errorf("where no data need survive, drives are among the others by their cost: %+v %v", a.Rows, err)
	}
	r.Demand.Durability.Survives, r.Types = "", []string{"local"}
	if a, err = Advise(r); err != nil || len(a.Rows) != 0 || !strings.Contains(strings.Join(a.Rejected, " "), "--survives none allows that") {
		t.Errorf("drives alone: %+v %v", a, err)
	}
	r.Types = []string{"premium"}
	if a, err = Advise(r); err != nil || len(a.Rows) == 0 || a.Rows[0].Layout.Local {
		t.Errorf("drives that nobody asked for: %+v %v", a, err)
	}
	r.Types, r.Demand.Durability.Survives = nil, workload.LostInstance
	if a, err = Advise(r); err != nil || len(a.Rows) == 0 || !strings.Contains(strings.Join(a.Rejected, " "), "empty after the instance stops") {
		t.Errorf("data that must survive a stop: %+v %v", a, err)
	}
	r.Demand.Durability.Survives, r.Demand.Streams[0].ReadShare, r.Families = workload.NoLoss, 0, []string{"Standard_L8s_v3"}
	local := func(c Candidate) bool { return c.Layout.Local }
	if a, err = Advise(r); err != nil || !slices.ContainsFunc(a.Rows, local) {
		t.Errorf("its page has no figure of writes, and somebody measured them: %+v %v", a, err)
	}
	r.Families = []string{"Standard_D16ads_v6"}
	if a, err = Advise(r); err != nil || len(a.Rows) == 0 || slices.ContainsFunc(a.Rows, local) {
		t.Errorf("its page has no figure of writes, and nobody measured them: %+v %v", a, err)
	}
	r.Families = []string{"Standard_F8", "Standard_F16"}
	if a, err = Advise(r); err != nil || len(a.Rows) != 0 {
		t.Errorf("sizes without premium storage: %+v %v", a, err)
	}
}

// With a list of prices that has disks, rows have sums: of a tier its own price, of a pool by the GiB.
func TestElsewhereAddsWhatIsKnown(t *testing.T) {
	azure, err := cloud.ReadPrices(strings.NewReader("product,unit,above,usd,region,as_of,source\n" +
		"P60,volume-month,,800.00,eastus,2026-11,a test\n"))
	if err != nil {
		t.Fatal(err)
	}
	prices := *cloud.Named("azure").Prices()
	if err := prices.Merge(azure); err != nil {
		t.Fatal(err)
	}
	r := Request{
		Demand: elsewhereDemand(9000), Headroom: 0.2, Cloud: cloud.Named("azure"), Prices: &prices, Instance: "Standard_D16s_v5",
		Types: []string{"azure-premium"}, MaxVolumes: 1,
	}
	a, err := Advise(r)
	if err != nil || len(a.Rows) != 1 {
		t.Fatalf("%+v %v", a, err)
	}
	if row := a.Rows[0]; row.VolumesMonth.String() != "$800.00" || row.Month != row.InstanceMonth+row.VolumesMonth || row.InstanceMonth == 0 {
		t.Errorf("%+v", row)
	}
	for _, bad := range []func(*Request){
		func(r *Request) { r.Instance = "c8g.2xlarge" },
		func(r *Request) { r.Types = []string{"gp3"} },
		func(r *Request) { r.Demand = elsewhereDemand(9000); r.Demand.Capacity = 0 },
		func(r *Request) { r.Families = []string{"["} },
	} {
		one := r
		bad(&one)
		if _, err := Advise(one); err == nil {
			t.Errorf("%+v: no error", one)
		}
	}
	r.Demand, r.Instance = elsewhereDemand(9e6), ""
	if a, err := Advise(r); err != nil || len(a.Rows) != 0 || len(a.Rejected) == 0 {
		t.Errorf("9 million IOPS: %+v %v", a, err)
	}
}
