package cloud

import (
	"cmp"
	"maps"
	"math"
	"slices"
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
		if builtin()["gcp"].attachments(&f); f.Attachments != c.want {
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
		f, ok := builtin()["azure"].Machine(name)
		if got, _, _ := strings.Cut(f.Type, ":"); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, want)
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

// made is a row of a table with these cells.
func made(cells map[string]string) row {
	var r row
	for column, cell := range cells {
		r.head, r.cells = append(r.head, column), append(r.cells, cell)
	}
	return r
}

// cacheOf is the limit of the host's cache of a row.
func cacheOf(r row) Limits {
	for _, c := range builtin()["azure"].machine(r).Caps {
		if c.Cache {
			return c.Baseline
		}
	}
	return Limits{}
}

// The page of a size states two drives of 600 GB together: each has half of all figures.
func TestLocalDrivesOfAzureByHand(t *testing.T) {
	local := func(cells map[string]string) InstanceStore {
		var f InstanceFacts
		builtin()["azure"].drives(&f, made(cells))
		return f.Local
	}
	got := local(map[string]string{
		"local_count": "2", "local_gib": "600", "local_kind": "temp", "local_read_iops": "80000", "local_write_iops": "30000",
		"local_read_mbs": "500", "local_write_mbs": "240", "trust": "p",
	})
	want := Limits{ReadIOPS: 40000, WriteIOPS: 15000, ReadRate: 250e6, WriteRate: 120e6, SharedIOPS: Assumed, SharedRate: Assumed}
	if got.Count != 2 || got.Size != 600*units.GiB || !got.Temp || got.Limits != want || got.Trust != Verified {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := local(map[string]string{"local_gib": "600", "local_read_iops": "80000"}); got.Count != 0 ||
		got.Limits.Known() {
		t.Errorf("no drives: %+v", got)
	}
	// What was measured, on all drives of a size together, is shared out as well.
	several := 0
	for _, m := range slices.Concat(table("azure/measured.csv"), table("gcp/measured.csv")) {
		f, _ := InstanceLimits(m.text("name"))
		if !slices.Contains(f.Notes, "the limits of its local drives were measured; none is published") {
			continue
		}
		n, l := float64(f.Local.Count), f.Local.Limits
		for name, c := range map[string][2]float64{
			"read_iops": {float64(l.ReadIOPS), m.num("read_iops")}, "write_iops": {float64(l.WriteIOPS), m.num("write_iops")},
			"read_bps": {float64(l.ReadRate), m.num("read_bps")}, "write_bps": {float64(l.WriteRate), m.num("write_bps")},
		} {
			if math.Abs(c[0]*n-c[1]) > 1e-6*c[1] || c[1] == 0 {
				t.Errorf("%s of %s: %v each of %v, measured %v", name, f.Type, c[0], n, c[1])
			}
		}
		if n > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no size with several drives was measured alone")
	}
}

// What the catalogue lacks of a size: its burst where premium disks may burst and the page is not the
// source, and the limit of the host's cache where no row has one.
func TestUnknownOfASize(t *testing.T) {
	known := map[string]string{"name": "Standard_X1", "base_iops": "1000", "base_mbs": "10", "premium": "y", "trust": "e"}
	with := func(more ...string) row {
		cells := maps.Clone(known)
		for i := 0; i+1 < len(more); i += 2 {
			cells[more[i]] = more[i+1]
		}
		return made(cells)
	}
	const burst, cache, uncached = "the burst of", "host caching", "uncached disks"
	for _, c := range []struct {
		name string
		r    row
		want []string
	}{
		{"from its API", with(), []string{burst, cache}},
		{"from its page", with("trust", "p"), []string{cache}},
		{"without premium disks", with("premium", "n"), []string{cache}},
		{"with a cache", with("trust", "p", "cached_iops", "2000", "cached_mbs", "20"), nil},
		{"nothing", with("base_iops", "", "base_mbs", ""), []string{uncached}},
	} {
		got := builtin()["azure"].machine(c.r).Unknown
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", c.name, got, c.want)
			}
		}
	}
	// A cache that writes more slowly than it reads has two rates; within 1 % it has one.
	for mbs, want := range map[string]Limits{
		"":     {IOPS: 2000, Rate: 20e6},
		"10":   {IOPS: 2000, ReadRate: 20e6, WriteRate: 10e6},
		"20":   {IOPS: 2000, Rate: 20e6},
		"30":   {IOPS: 2000, Rate: 20e6},
		"19.9": {IOPS: 2000, Rate: 20e6},
	} {
		if got := cacheOf(with("cached_iops", "2000", "cached_mbs", "20", "cached_write_mbs", mbs)); got != want {
			t.Errorf("%s MB/s of writes: %+v, want %+v", mbs, got, want)
		}
	}
	// A burst that is no higher than the baseline is none.
	base := Limits{IOPS: 1000, Rate: 10e6}
	for _, c := range []struct{ burst, want Limits }{
		{Limits{IOPS: 1001, Rate: 11e6}, Limits{IOPS: 1001, Rate: 11e6}},
		{Limits{IOPS: 1000, Rate: 11e6}, Limits{Rate: 11e6}},
		{Limits{IOPS: 1001, Rate: 10e6}, Limits{IOPS: 1001}},
		{Limits{IOPS: 900, Rate: 9e6}, Limits{}},
	} {
		if got := above(c.burst, base); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.burst, got, c.want)
		}
	}
}

// What of a type is ordered apart from its size.
func TestWhatIsOrdered(t *testing.T) {
	for typ, want := range map[string][2]bool{ // IOPS, throughput
		"gp3": {true, true}, "io2": {true, false}, "io1": {true, false}, "gp2": {false, false}, "st1": {false, false},
		"azure-premium-v2": {true, true}, "azure-premium": {false, false}, "gcp-pd-extreme": {true, false},
		"gcp-hyperdisk-throughput": {false, true}, "gcp-pd-ssd": {false, false},
	} {
		v, ok := TypeNamed(typ)
		if got := [2]bool{v.OrdersIOPS(), v.OrdersRate()}; !ok || got != want {
			t.Errorf("%s: %v, want %v", typ, got, want)
		}
	}
}

// A drive is Amazon's by its vendor and its model, never by one of them.
func TestKindsOfDrives(t *testing.T) {
	for _, c := range []struct {
		vendor     uint16
		model      string
		ebs, local bool
	}{
		{0x1D0F, EBSModel, true, false},
		{0x1D0F, InstanceStoreModel, false, true},
		{0x1D0F, "another", false, false},
		{0x8086, EBSModel, false, false},
		{0x8086, InstanceStoreModel, false, false},
	} {
		n := NVMeIdentity{Vendor: c.vendor, Model: c.model}
		if n.IsEBS() != c.ebs || n.IsLocal() != c.local {
			t.Errorf("%#x %s: EBS %v, local %v", c.vendor, c.model, n.IsEBS(), n.IsLocal())
		}
	}
	for model, want := range map[string][4]bool{ // EBS, instance store, local, network
		EBSModel:                        {true, false, false, true},
		InstanceStoreModel:              {false, true, true, false},
		AzureRemoteModel:                {false, false, false, true},
		"nvme_card-pd":                  {false, false, false, true},
		"PersistentDisk":                {false, false, false, true},
		"nvme_card":                     {false, false, true, false},
		"nvme_card12":                   {false, false, true, false},
		"Microsoft NVMe Direct Disk v2": {false, false, true, false},
		"Samsung SSD 990 PRO":           {false, false, false, false},
		"":                              {false, false, false, false},
	} {
		if got := [4]bool{IsEBS(model), IsInstanceStore(model), IsLocal(model), IsNetwork(model)}; got != want {
			t.Errorf("%q: %v, want %v", model, got, want)
		}
	}
	// Namespace 1 is the OS disk, namespace n LUN n-2; links name the LUN.
	for _, c := range []struct {
		one  Attached
		want string
	}{
		{Attached{Device: "nvme0n1", Model: AzureRemoteModel}, azureRoot},
		{Attached{Device: "nvme0n2", Model: AzureRemoteModel}, "0"},
		{Attached{Device: "nvme1n12", Model: AzureRemoteModel}, "10"},
		{Attached{Device: "nvme0n2", Model: "Microsoft NVMe Direct Disk"}, ""},
		{Attached{Device: "sda", Model: AzureRemoteModel}, ""},
		{Attached{Device: "sdc", Links: []string{"/dev/disk/by-id/x", "/dev/disk/azure/scsi1/lun7"}}, "7"},
		{Attached{Device: "sda", Links: []string{"/dev/disk/azure/root"}}, azureRoot},
		{Attached{Device: "nvme0n1", Links: []string{"/dev/disk/azure/os"}}, azureRoot},
	} {
		if got, ok := azureLUN(c.one); got != c.want || ok != (c.want != "") {
			t.Errorf("%+v: %q, %v; want %q", c.one, got, ok, c.want)
		}
	}
}

// Rates of instance stores that were measured say so; what the page states is verified.
func TestSourceOfInstanceStores(t *testing.T) {
	for typ, want := range map[string]Trust{"i3.large": Partial, "i7i.48xlarge": Verified} {
		f, ok := InstanceLimits(typ)
		if s := f.Local; !ok || s.Trust != want || strings.Contains(s.Source, "scylladb") != (want == Partial) ||
			s.Source == "" {
			t.Errorf("%s: %+v", typ, s)
		}
	}
}

// A disk is of the smallest tier that holds it, up to its last GiB; its price is the tier's.
func TestTiersByHand(t *testing.T) {
	for _, c := range []struct {
		typ  string
		size units.Bytes
		want string
	}{
		{"azure-premium", 128 * units.GiB, "P10"},
		{"azure-premium", 128*units.GiB + 1, "P15"},
		{"azure-premium", 127 * units.GiB, "P10"},
		{"azure-premium", 4 * units.GiB, "P1"},
		{"azure-premium", 5 * units.GiB, "P2"},
		{"azure-premium", 32767 * units.GiB, "P80"},
		{"azure-premium", 32768 * units.GiB, ""},
	} {
		typ, _ := TypeNamed(c.typ)
		if got := cmp.Or(typ.tierOf(VolumeSpec{Size: c.size}), &TierFacts{}).Name; got != c.want {
			t.Errorf("%s of %v: %q, want %s", c.typ, c.size, got, c.want)
		}
	}
	if gp3, _ := TypeNamed("gp3"); gp3.tierOf(VolumeSpec{Size: units.TiB}) != nil {
		t.Error("gp3 has a tier")
	}
	p := &Prices{Volumes: map[string]VolumePrice{"P10": {Each: 19_710_000}, "P15": {}}}
	if usd, ok := p.Volume(VolumeSpec{Type: "azure-premium", Size: 128 * units.GiB}); usd != 19_710_000 || !ok {
		t.Errorf("P10: %v, %v", usd, ok)
	}
	for _, size := range []units.Bytes{129 * units.GiB, 4 * units.GiB} { // a tier without a figure, and none at all
		if usd, ok := p.Volume(VolumeSpec{Type: "azure-premium", Size: size}); ok {
			t.Errorf("%v costs %v", size, usd)
		}
	}
}

// Texts name the types of EC2 and Google Cloud by these names; other clouds' are words of every day.
func TestNamesInTexts(t *testing.T) {
	all := strings.Split(strings.ReplaceAll(VolumeNames(), `\-`, "-"), "|")
	for _, name := range []string{"gp2", "gp3", "io1", "io2", "st1", "sc1", "pd-ssd", "pd-balanced", "hyperdisk-balanced"} {
		if !slices.Contains(all, name) {
			t.Errorf("%s is missing in %q", name, all)
		}
	}
	for _, name := range []string{"premium", "azure-premium", "gcp-pd-ssd", "ovh-classic", "classic", "hcloud-volume", "upcloud-hdd"} {
		if slices.Contains(all, name) {
			t.Errorf("%s is in %q", name, all)
		}
	}
	for i, name := range all[1:] {
		if len(name) > len(all[i]) {
			t.Errorf("%s comes after the shorter %s", name, all[i])
		}
	}
}
