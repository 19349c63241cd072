package cloud

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/units"
)

// A Nitro instance by its firmware: the type has a dot, the id its prefix.
func TestFirmwareByHand(t *testing.T) {
	for name, c := range map[string]struct {
		vendor, product, tag string
		want                 Identity
	}{
		"Nitro":           {"Amazon EC2\n", "c8g.2xlarge", "i-0abc", Identity{InstanceType: "c8g.2xlarge", InstanceID: "i-0abc"}},
		"Xen":             {"Amazon EC2", "HVM domU", "i-0abc", Identity{InstanceID: "i-0abc"}},
		"no id":           {"Amazon EC2", "c8g.2xlarge", "None", Identity{InstanceType: "c8g.2xlarge"}},
		"another machine": {"QEMU", "c8g.2xlarge", "i-0abc", Identity{}},
	} {
		root := fstest.MapFS{}
		for file, text := range map[string]string{"sys_vendor": c.vendor, "product_name": c.product, "board_asset_tag": c.tag} {
			root["sys/class/dmi/id/"+file] = &fstest.MapFile{Data: []byte(text)}
		}
		if got := (EC2{}).Firmware(root); got != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Rows of the tables as they are read: c8g.2xlarge has 8 CPUs, 16 GiB, 12,000 to 40,000 IOPS.
func TestRowsOfTables(t *testing.T) {
	f, ok := InstanceLimits("c8g.2xlarge")
	if !ok || f.Memory != 16*units.GiB || f.VCPUs != 8 || f.Arch != "arm64" || f.Attachments < 2 || !f.NVMe || f.Local.Count != 0 {
		t.Errorf("%+v", f)
	}
	all := builtin()["aws"].Machines()
	if len(all) < 500 {
		t.Errorf("%d machines", len(all))
	}
	for _, m := range all {
		if m.Burst.Known() != (m.BurstFor == 30*time.Minute) || m.Burst.Known() != (m.BurstPer == 24*time.Hour) || m.Burst == m.Baseline && m.Burst.Known() {
			t.Fatalf("%+v", m)
		}
	}
	if got := InstanceTypes("c8g.2x"); len(got) == 0 || got[0] != "c8g.2xlarge" {
		t.Errorf("%q", got)
	}
	names := InstanceTypes("c8g.")
	if i := strings.Join(names, " "); strings.Index(i, "c8g.large") > strings.Index(i, "c8g.xlarge") || strings.Index(i, "c8g.xlarge") > strings.Index(i, "c8g.24xlarge") {
		t.Errorf("%q", names)
	}
	if v, ok := TypeNamed("gp3"); !ok || v.Type != "gp3" || v.MinSize != units.GiB || v.IOPS.Included != 3000 {
		t.Errorf("%+v %v", v, ok)
	}
	for name, want := range map[string]string{"pd-ssd": "gcp-pd-ssd", "Premium_LRS": "azure-premium", "ultrassd_lrs": "azure-ultra"} {
		if v, _ := TypeNamed(name); v.Type != want {
			t.Errorf("%s: %q, want %s", name, v.Type, want)
		}
	}
	if _, ok := TypeNamed("gp"); ok {
		t.Error("half a name")
	}
	if got := (Provenance{Source: "s", AsOf: "2026"}).String(); got != "s (2026)" {
		t.Error(got)
	}
	if list := Drives("p4510"); len(list) < 2 || !strings.Contains(list[0].Model, "P4510") {
		t.Errorf("%+v", list)
	}
	if Drives("no such drive 0") != nil {
		t.Error("drives")
	}
	d, ok := DriveLimits("P4510", 4e12)
	if !ok || d.Limits.ReadIOPS != 636500 || d.ReadLatency <= 0 || d.ReadLatency > time.Millisecond || d.Limits.ReadRate < 1e9 {
		t.Errorf("%+v", d)
	}
	// The first listed where no size is said, and of a size that is listed that one without a note.
	first, _ := DriveLimits("P4510", 0)
	for _, one := range drives() {
		if one.matches("P4510") {
			if first.Size != one.Size {
				t.Errorf("%d, want the first, %d", first.Size, one.Size)
			}
			break
		}
	}
}

// A price list of one region; a row without a region is of it.
func TestRegionsOfPrices(t *testing.T) {
	const head = "product,unit,above,usd,region,as_of,source\n"
	p, err := ReadPrices(strings.NewReader(head + "m5.large,hour,,1,,2026-01,s\nm5.xlarge,hour,,2,r,2026-03,t\nm6.large,hour,,3,,2026-02,u\n"))
	if err != nil || p.Region != "r" || p.InstanceSource.AsOf != "2026-03" || p.InstanceSource.Source != "t" {
		t.Errorf("%+v %v", p, err)
	}
	for rows, want := range map[string]string{
		"gp3,GiB-month,,1,r,d,s\ngp3,GiB-month,,1,r,d,s":     "gp3 has two prices in GiB-month",
		"io2,IOPS-month,5,1,r,d,s\nio2,IOPS-month,4,1,r,d,s": "do not rise",
		strings.Repeat("x", 61) + ",hour,,1,r,d,s":           "want an instance type",
		",hour,,1,r,d,s":           "want an instance type",
		"io2,IOPS-month,x,1,r,d,s": "want a number",
	} {
		if _, err := ReadPrices(strings.NewReader(head + rows)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", rows, err)
		}
	}
	if _, err := ReadPrices(strings.NewReader(head + strings.Repeat("x", 60) + ",hour,,1,r,d,s")); err != nil {
		t.Error(err)
	}
	if p, err := ReadPrices(strings.NewReader(head + "io2,IOPS-month,4,1,r,d,s\nio2,IOPS-month,5,2,r,d,s\nio2,MiB/s-month,5,2,r,d,s")); err != nil || len(p.Volumes["io2"].IOPS) != 2 || len(p.Volumes["io2"].Rate) != 1 {
		t.Errorf("%+v %v", p, err)
	}
	both := func(instances, volumes bool, region string) *Prices {
		p := &Prices{Region: region}
		if instances {
			p.Instances = map[string]USD{"i": 1}
		}
		if volumes {
			p.Volumes = map[string]VolumePrice{"v": {}}
		}
		return p
	}
	for name, c := range map[string]struct {
		more *Prices
		ok   bool
	}{
		"both of another region":      {both(true, true, "q"), true},
		"instances of another region": {both(true, false, "q"), false},
		"volumes of another region":   {both(false, true, "q"), false},
		"instances of the same":       {both(true, false, "r"), true},
		"instances of no region":      {both(true, false, ""), true},
	} {
		p := both(true, true, "r")
		if err := p.Merge(c.more); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := both(true, true, "").Merge(both(true, false, "q")); err != nil {
		t.Error(err)
	}
}

// A type that is not built on Nitro lets 32,000 I/Os a second through to one volume, of its burst as well; the rest of
// the volume's limits is its own.
func TestVolumesOnXen(t *testing.T) {
	v := VolumeFacts{Sustained: Limits{IOPS: 32001, Rate: 7}, Burst: Limits{IOPS: 64000, Rate: 9}, BurstIOs: 5}
	less := VolumeFacts{Sustained: Limits{IOPS: 31999}, Burst: Limits{IOPS: 31999.5}}
	for nvme, want := range map[bool][2]units.IOPS{true: {32001, 64000}, false: {32000, 32000}} {
		f := InstanceFacts{NVMe: nvme}
		got := f.OfVolume(v)
		if got.Sustained != (Limits{IOPS: want[0], Rate: 7}) || got.Burst != (Limits{IOPS: want[1], Rate: 9}) || got.BurstIOs != 5 {
			t.Errorf("Nitro %v: %+v", nvme, got)
		}
		if got := f.OfVolume(less); got.Sustained != less.Sustained || got.Burst != less.Burst {
			t.Errorf("Nitro %v: %+v", nvme, got)
		}
	}
}
