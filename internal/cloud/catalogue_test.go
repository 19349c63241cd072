package cloud

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/units"
	"plimsoll/internal/yamlfile"
)

func TestCatalogueIsReadable(t *testing.T) {
	names, err := fs.Glob(catalogue, "catalogue/*/*.csv")
	if err != nil || len(names) != 13 {
		t.Fatal(names, err)
	}
	for _, name := range append(names, "catalogue/drives.csv", "catalogue/sources.csv", "catalogue/google-local.csv") {
		data, _ := catalogue.ReadFile(name)
		if _, err := csv.NewReader(strings.NewReader(string(data))).ReadAll(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var types []VolumeType
	for cloud, d := range builtin() {
		for file, into := range map[string]any{"volumes.json": &[]VolumeType{}, "cloud.json": &Terms{}} {
			data, err := catalogue.ReadFile("catalogue/" + cloud + "/" + file)
			if cloud == "other" && file == "cloud.json" {
				continue
			}
			strict := json.NewDecoder(bytes.NewReader(data))
			strict.DisallowUnknownFields()
			if err := errors.Join(err, strict.Decode(into)); err != nil {
				t.Errorf("%s of %s: %v", file, cloud, err)
			}
		}
		types = append(types, d.types()...)
		// They are what a person may bring, so what checks those finds nothing in them but their names; other tables
		// of the catalogue have limits and prices of machines that it does not have.
		for _, file := range []string{fileMachines, fileLocal, fileMeasured} {
			if data, err := catalogue.ReadFile("catalogue/" + cloud + "/" + file); err == nil {
				if err := d.checkTable(file, data, func(string) bool { return false }); err != nil {
					t.Errorf("%s of %s: %v", file, cloud, yamlfile.Wrong(file, data, err))
				}
			}
		}
	}
	for _, v := range types {
		if v.Source == "" || v.AsOf == "" || v.Trust == "" || v.Name == "" || len(v.Rules) == 0 {
			t.Errorf("%s: an entry needs source, date, trust, name and rules", v.Type)
		}
	}
	for _, d := range drives() {
		if d.Source == "" || d.AsOf == "" || d.Trust == "" || d.Limits.ReadIOPS == 0 {
			t.Errorf("%s: an entry needs source, date, trust and figures", d.Model)
		}
	}
	if got := len(builtin()["aws"].Machines()); got != 1401 {
		t.Errorf("%d instance types, want 1401", got)
	}
	for _, f := range builtin()["aws"].Machines() {
		typ := f.Type
		f, ok := InstanceLimits(typ)
		if !ok || f.Baseline.IOPS <= 0 || f.Baseline.Rate <= 0 || f.AsOf == "" {
			t.Errorf("%s: %+v", typ, f)
		}
		if f.Burst != (Limits{}) && (f.Burst.IOPS < f.Baseline.IOPS || f.Burst.Rate < f.Baseline.Rate) {
			t.Errorf("%s: burst below baseline: %+v", typ, f)
		}
	}
}

// Expected figures are those of facts/ebs-volume-types.json, worked_checks and examples, and of the
// AWS pages it cites.
func TestVolumeLimits(t *testing.T) {
	const mib = units.MiBPerSec
	for _, c := range []struct {
		name      string
		spec      VolumeSpec
		sustained Limits
		burst     Limits
		credits   float64
		err       string
	}{
		{"gp3 default", VolumeSpec{Type: "gp3"}, Limits{IOPS: 3000, Rate: 125 * mib}, Limits{}, 0, ""},
		{"gp3 1 TiB", VolumeSpec{Type: "gp3", Size: 1000 * units.GiB, IOPS: 16000, Rate: 1000 * mib}, Limits{IOPS: 16000, Rate: 1000 * mib}, Limits{}, 0, ""},
		{"gp3 too many per GiB", VolumeSpec{Type: "gp3", Size: 10 * units.GiB, IOPS: 6000, Rate: 0}, Limits{IOPS: 6000, Rate: 125 * mib}, Limits{}, 0, "6,000 IOPS are above its maximum of 5,000, 500 per GiB at 10 GiB"},
		{"gp3 3000 at 1 GiB", VolumeSpec{Type: "gp3", Size: units.GiB, IOPS: 3000, Rate: 0}, Limits{IOPS: 3000, Rate: 125 * mib}, Limits{}, 0, ""},
		{"gp3 750 at 3000", VolumeSpec{Type: "gp3", Size: units.TiB, IOPS: 3000, Rate: 750 * mib}, Limits{IOPS: 3000, Rate: 750 * mib}, Limits{}, 0, ""},
		{"gp3 751 at 3000", VolumeSpec{Type: "gp3", Size: units.TiB, IOPS: 3000, Rate: 751 * mib}, Limits{IOPS: 3000, Rate: 751 * mib}, Limits{}, 0, "above its maximum of 750 MiB/s at 3,000 IOPS"},
		{"gp3 over all", VolumeSpec{Type: "gp3", Size: 0, IOPS: 80001, Rate: 0}, Limits{IOPS: 80001, Rate: 125 * mib}, Limits{}, 0, "the most of any size"},
		{"gp2 small", VolumeSpec{Type: "gp2", Size: 30 * units.GiB}, Limits{IOPS: 100, Rate: 128 * mib}, Limits{IOPS: 3000}, 5.4e6, ""},
		{"gp2 100", VolumeSpec{Type: "gp2", Size: 100 * units.GiB}, Limits{IOPS: 300, Rate: 128 * mib}, Limits{IOPS: 3000}, 5.4e6, ""},
		{"gp2 200", VolumeSpec{Type: "gp2", Size: 200 * units.GiB}, Limits{IOPS: 600, Rate: 250 * mib}, Limits{IOPS: 3000}, 5.4e6, ""},
		{"gp2 3000", VolumeSpec{Type: "gp2", Size: 3000 * units.GiB}, Limits{IOPS: 9000, Rate: 250 * mib}, Limits{}, 0, ""},
		{"gp2 large", VolumeSpec{Type: "gp2", Size: 8 * units.TiB}, Limits{IOPS: 16000, Rate: 250 * mib}, Limits{}, 0, ""},
		{"gp2 without size", VolumeSpec{Type: "gp2"}, Limits{}, Limits{}, 0, "state it"},
		{"io1 48000", VolumeSpec{Type: "io1", Size: 1000 * units.GiB, IOPS: 48000, Rate: 0}, Limits{IOPS: 48000, Rate: 750 * mib}, Limits{}, 0, ""},
		{"io1 2000", VolumeSpec{Type: "io1", Size: 1000 * units.GiB, IOPS: 2000, Rate: 0}, Limits{IOPS: 2000, Rate: 500 * mib}, Limits{}, 0, ""},
		{"io1 too many", VolumeSpec{Type: "io1", Size: 100 * units.GiB, IOPS: 5001, Rate: 0}, Limits{IOPS: 5001, Rate: 500 * mib}, Limits{}, 0, "50 per GiB"},
		{"io2 4000", VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 4000, Rate: 0}, Limits{IOPS: 4000, Rate: 1024 * mib}, Limits{}, 0, ""},
		{"io2 64000", VolumeSpec{Type: "io2", Size: 100 * units.GiB, IOPS: 64000, Rate: 0}, Limits{IOPS: 64000, Rate: 4000 * mib}, Limits{}, 0, ""},
		{"io2 without IOPS", VolumeSpec{Type: "io2", Size: 100 * units.GiB}, Limits{}, Limits{}, 0, "no default"},
		{"st1 5 TiB", VolumeSpec{Type: "st1", Size: 5 * units.TiB}, Limits{IOPS: 200, Rate: 200 * mib}, Limits{IOPS: 500, Rate: 500 * mib}, 0, ""},
		{"st1 12.5 TiB", VolumeSpec{Type: "st1", Size: 12800 * units.GiB}, Limits{IOPS: 500, Rate: 500 * mib}, Limits{}, 0, ""},
		{"sc1 16 TiB", VolumeSpec{Type: "sc1", Size: 16 * units.TiB}, Limits{IOPS: 192, Rate: 192 * mib}, Limits{IOPS: 250, Rate: 250 * mib}, 0, ""},
		{"st1 too small", VolumeSpec{Type: "st1", Size: 100 * units.GiB}, Limits{IOPS: 3.90625, Rate: 3.90625 * mib}, Limits{IOPS: 24.4140625, Rate: 24.4140625 * mib}, 0, "outside 125 GiB"},
		{"azure P30", VolumeSpec{Type: "azure-premium", Size: 600 * units.GiB}, Limits{IOPS: 5000, Rate: 200e6}, Limits{}, 0, ""},
		{"azure P10", VolumeSpec{Type: "azure-premium", Size: 100 * units.GiB}, Limits{IOPS: 500, Rate: 100e6}, Limits{IOPS: 3500, Rate: 170e6}, 5.4e6, ""},
		{"azure v2", VolumeSpec{Type: "azure-premium-v2"}, Limits{IOPS: 3000, Rate: 125e6}, Limits{}, 0, ""},
		{"unknown", VolumeSpec{Type: "gp4\n<script>"}, Limits{}, Limits{}, 0, `"gp4\n<script>" is not in the catalogue`},
	} {
		f, err := VolumeLimits(c.spec)
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		if f.Sustained != c.sustained || f.Burst != c.burst || f.BurstIOs != c.credits {
			t.Errorf("%s: %+v burst %+v credits %g, want %+v burst %+v credits %g", c.name, f.Sustained, f.Burst, f.BurstIOs, c.sustained, c.burst, c.credits)
		}
	}
}

func TestInstanceLimits(t *testing.T) {
	f, ok := InstanceLimits("c8g.2xlarge")
	if !ok || f.Baseline != (Limits{IOPS: 12000, Rate: 312.5e6}) || f.Burst != (Limits{IOPS: 40000, Rate: 1250e6}) ||
		f.BurstFor != 30*time.Minute || f.BurstPer != 24*time.Hour || f.VCPUs != 8 || !f.NVMe {
		t.Errorf("c8g.2xlarge: %+v", f)
	}
	if f, _ = InstanceLimits("m5.12xlarge"); f.Baseline != (Limits{IOPS: 40000, Rate: 1187.5e6}) || f.Burst != (Limits{}) {
		t.Errorf("m5.12xlarge does not burst: %+v", f)
	}
	if f, _ = InstanceLimits("c6a.xlarge"); len(f.Changes) != 2 || f.Changes[0].Burst.IOPS != 26667 || f.Changes[0].To != "2023-03-07" {
		t.Errorf("c6a.xlarge had 26,667 IOPS until 2023-03: %+v", f.Changes)
	}
	if f, _ = InstanceLimits("is4gen.8xlarge"); f.Local.Count != 4 || f.Local.Size != 7500e9 || f.Local.Limits.ReadIOPS != 250000 || f.Local.Limits.ReadRate == 0 {
		t.Errorf("is4gen.8xlarge: %+v", f.Local)
	}
	for _, typ := range []string{"", "c8g", "type", "c8g.2xlarge,arm64", "t2.micro"} {
		if _, ok := InstanceLimits(typ); ok {
			t.Errorf("%q is no type with limits", typ)
		}
	}
}

func TestDriveLimits(t *testing.T) {
	for _, c := range []struct {
		model string
		size  units.Bytes
		iops  units.IOPS
	}{
		{"INTEL SSDPE2KX040T8                     ", 4000787030016, 636500},
		{"INTEL SSDPE2KX010T8", 1000204886016, 465000},
		{"P4510", 0, 636500},
		{"Intel SSD DC P4500", 4e12, 645000},
		{"INTEL SSDPE2KX040T7", 4e12, 645000},
		{"SAMSUNG MZQL23T8HCLS-00A07", 3840e9, 900000},
		{"Micron_7450_MTFDKCC3T8TFR", 3840e9, 1000000},
		{"QEMU NVMe Ctrl", 1 << 30, 0},
		{"Amazon Elastic Block Store", 1 << 30, 0},
		{"SSD 4 TB", 4e12, 0},
		{"", 0, 0},
	} {
		d, ok := DriveLimits(c.model, c.size)
		if ok != (c.iops > 0) || d.Limits.ReadIOPS != c.iops {
			t.Errorf("%q: %v %v, want %v", c.model, ok, d.Limits.ReadIOPS, c.iops)
		}
	}
}
