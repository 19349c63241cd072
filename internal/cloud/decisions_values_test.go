package cloud

import (
	"strings"
	"testing"

	"plimsoll/internal/units"
)

// Azure states throughput in MB/s, EC2 and Google Cloud in MiB/s.
func TestRateUnitsByHand(t *testing.T) {
	for typ, want := range map[string]units.Rate{
		"gp3": units.MiBPerSec, "st1": units.MiBPerSec, "premium-v2": units.MBPerSec, "ultra": units.MBPerSec,
		"hyperdisk-balanced": units.MiBPerSec, "pd-ssd": units.MiBPerSec,
	} {
		v, ok := TypeNamed(typ)
		if !ok || v.RateUnit() != want {
			t.Errorf("%s (found %v): %v, want %v", typ, ok, v.RateUnit(), want)
		}
	}
}

// The first row of the series that has as many vCPUs counts, and behind the last of them the row of
// all others; GPUs are no vCPUs.
func TestAttachmentsByHand(t *testing.T) {
	for _, c := range []struct {
		typ   string
		vcpus int
		want  int
	}{
		{"c4-standard-2", 2, 7},
		{"c4-standard-4", 4, 15},
		{"c4-standard-8", 8, 31}, // up to 24
		{"c4-standard-24", 24, 31},
		{"c4-standard-48", 48, 63},
		{"c4-standard-192", 192, 127},
		{"c4d-standard-2", 2, 3},
		{"n4-standard-8", 8, 15},
		{"n4-standard-16", 16, 31},
		{"e2-micro", 2, 15},
		{"e2-standard-2", 2, 127},
		{"a4x-highgpu-1g", 1, 127},
	} {
		f := InstanceFacts{Type: c.typ, VCPUs: c.vcpus}
		if f.attachments(); f.Attachments != c.want {
			t.Errorf("%s: %d, want %d", c.typ, f.Attachments, c.want)
		}
	}
}

// A size of Azure is found however its name is written, and with its own prefix only.
func TestSizesOfAzureByName(t *testing.T) {
	for name, want := range map[string]string{
		"Basic_A1": "Basic_A1", "basic_a1": "Basic_A1", "STANDARD_A1_V2": "Standard_A1_v2", "a1_v2": "Standard_A1_v2",
		"standard_basic_a1": "", "nosuch": "",
	} {
		f, ok := Azure{}.Machine(name)
		if got, _, _ := strings.Cut(f.Type, ":"); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, want)
		}
	}
}

// Of AWS's list plimsoll wants Linux on demand with shared tenancy and nothing installed, and volumes.
func TestWantedOfAnOffer(t *testing.T) {
	machine := func(changes ...string) offerProduct {
		o := offerProduct{Family: "Compute Instance", Attributes: map[string]string{
			"instanceType": "m5.large", "operatingSystem": "Linux", "tenancy": "Shared", "preInstalledSw": "NA", "capacitystatus": "Used",
		}}
		for i := 0; i+1 < len(changes); i += 2 {
			o.Attributes[changes[i]] = changes[i+1]
		}
		return o
	}
	volume := func(family, name, usage string) offerProduct {
		return offerProduct{Family: family, Attributes: map[string]string{"volumeApiName": name, "usagetype": usage}}
	}
	for _, c := range []struct {
		name string
		o    offerProduct
		want string
	}{
		{"plain Linux", machine(), "m5.large " + perHour},
		{"Windows", machine("operatingSystem", "Windows"), ""},
		{"dedicated", machine("tenancy", "Dedicated"), ""},
		{"with SQL Server", machine("preInstalledSw", "SQL Std"), ""},
		{"reserved and not used", machine("capacitystatus", "AllocatedCapacityReservation"), ""},
		{"storage", volume("Storage", "gp3", "EBS:VolumeUsage.gp3"), "gp3 " + perGiB},
		{"storage of snapshots", volume("Storage", "", "EBS:SnapshotUsage"), ""},
		{"IOPS", volume("System Operation", "io2", "EUN1-EBS:VolumeP-IOPS.io2"), "io2 " + perIOPS},
		{"I/Os of magnetic disks", volume("System Operation", "standard", "EBS:VolumeIOUsage"), ""},
		{"IOPS of nothing", volume("System Operation", "", "EBS:VolumeP-IOPS"), ""},
		{"throughput", volume("Provisioned Throughput", "gp3", "EBS:VolumeP-Throughput.gp3"), "gp3 " + perMiB},
		{"throughput of S3", volume("Provisioned Throughput", "gp3", "S3:Throughput"), ""},
		{"throughput of nothing", volume("Provisioned Throughput", "", "EBS:VolumeP-Throughput"), ""},
		{"another family", volume("Snapshot", "gp3", ""), ""},
	} {
		product, unit, ok := c.o.wanted()
		got := ""
		if ok {
			got = product + " " + unit
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A list takes the place of one kind at a time: what it lacks stays as it was.
func TestMergeAKindAtATime(t *testing.T) {
	old, later := Provenance{AsOf: "2026-01-01"}, Provenance{AsOf: "2026-10-01"}
	both := func() *Prices {
		return &Prices{
			Region: "r", Instances: map[string]USD{"m5.large": 1}, Volumes: map[string]VolumePrice{"gp3": {GiB: 1}},
			InstanceSource: old, VolumeSource: old,
		}
	}
	for _, c := range []struct {
		name                 string
		more                 Prices
		machine, volume      USD
		machineOf, volumesOf Provenance
		region               string
		refused              bool
	}{
		{"nothing", Prices{}, 1, 1, old, old, "r", false},
		{"instances", Prices{Instances: map[string]USD{"m5.large": 2}, InstanceSource: later}, 2, 1, later, old, "r", false},
		{"volumes", Prices{Volumes: map[string]VolumePrice{"gp3": {GiB: 3}}, VolumeSource: later}, 1, 3, old, later, "r", false},
		{"all of another region", Prices{
			Region: "q", Instances: map[string]USD{"m5.large": 2}, Volumes: map[string]VolumePrice{"gp3": {GiB: 3}},
			InstanceSource: later, VolumeSource: later,
		}, 2, 3, later, later, "q", false},
		{"instances of another region", Prices{Region: "q", Instances: map[string]USD{"m5.large": 2}}, 1, 1, old, old, "r", true},
		{"volumes of another region", Prices{Region: "q", Volumes: map[string]VolumePrice{"gp3": {GiB: 3}}}, 1, 1, old, old, "r", true},
		{"instances of the same region", Prices{Region: "r", Instances: map[string]USD{"m5.large": 2}, InstanceSource: later}, 2, 1, later, old, "r", false},
	} {
		p := both()
		err := p.Merge(&c.more)
		if (err != nil) != c.refused || p.Instances["m5.large"] != c.machine || p.Volumes["gp3"].GiB != c.volume ||
			p.InstanceSource != c.machineOf || p.VolumeSource != c.volumesOf || p.Region != c.region {
			t.Errorf("%s: %+v, %v", c.name, p, err)
		}
	}
}
