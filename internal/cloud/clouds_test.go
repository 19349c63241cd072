package cloud

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/units"
)

// facts are the files that scripts/clouds.py reads, where they are.
func facts(t *testing.T, name string) []row {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "facts", "clouds", name))
	if err != nil {
		t.Skip("SKIPPED: the facts that the catalogue was made from are not here:", err)
	}
	defer func() { _ = f.Close() }()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, r := range records[1:] {
		rows = append(rows, row{records[0], r})
	}
	return rows
}

// table are the rows of a table of the catalogue.
func table(name string) []row {
	return slices.Collect(newSheet(catalogue.ReadFile("catalogue/" + name)).rows())
}

// The tables of Azure and Google have as many rows as their sources, each with its source and date.
func TestTablesOfOtherClouds(t *testing.T) {
	for name, want := range map[string]int{
		"aws/machines.csv": 1401, "aws/local.csv": 533, "aws/measured.csv": 67, "azure/machines.csv": 1619,
		"azure/measured.csv": 35,
		"gcp/machines.csv":   535, "gcp/limits.csv": 323, "gcp/attach.csv": 29, "gcp/measured.csv": 11, "google-local.csv": 7,
	} {
		rows := table(name)
		if len(rows) != want {
			t.Errorf("%s: %d rows, want %d", name, len(rows), want)
		}
		for _, r := range rows {
			if p := r.from(); p.Source == "" || p.AsOf == "" {
				t.Errorf("%s: %v has no source or no date", name, r.cells)
			}
		}
	}
	if got := len(builtin()["azure"].Machines()); got != 1603 {
		t.Errorf("%d sizes of Azure, want 1603", got)
	}
	twice := map[string]int{}
	for _, r := range table("azure/machines.csv") {
		twice[r.text("name")]++
	}
	n := 0
	for _, times := range twice {
		n += times - 1
	}
	if n != 16 {
		t.Errorf("%d sizes have two rows, want 16", n)
	}
	for _, f := range slices.Concat(builtin()["aws"].Machines(), builtin()["azure"].Machines(), builtin()["gcp"].Machines()) {
		g, ok := InstanceLimits(f.Type)
		if !ok || g.Vendor != f.Vendor || g.VCPUs != f.VCPUs {
			t.Errorf("%s is not found by its name: %+v", f.Type, g)
		}
		if !f.Baseline.Known() && len(f.Caps) == 0 && len(f.Unknown) == 0 {
			t.Errorf("%s: no limit, and nothing says so", f.Type)
		}
	}
}

// Sixty types drawn at random have the figures of the file that they were taken from.
func TestTypesEqualTheirSource(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 60))
	azure := facts(t, "azure-machines.csv")
	for range 40 {
		want := azure[r.IntN(len(azure))]
		name, controller := want.text("name"), want.text("controller")
		if len(builtin()["azure"].sheet(fileMachines).of(name)) > 1 {
			name += ":" + controller
		}
		f, ok := InstanceLimits(name)
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		same(t, name, float64(f.VCPUs), want.num("vcpus"), "vCPUs")
		same(t, name, float64(f.Memory)/gib, want.num("memory_gib"), "GiB")
		same(t, name, float64(f.Attachments), want.num("max_data_disks"), "disks")
		same(t, name, float64(f.Baseline.IOPS), want.num("uncached_iops"), "IOPS")
		same(t, name, float64(f.Baseline.Rate)/1e6, want.num("uncached_mbps"), "MB/s")
		if top := want.num("burst_iops"); top > want.num("uncached_iops") {
			same(t, name, float64(f.Burst.IOPS), top, "IOPS in bursts")
		}
		if top := want.num("burst_mbps"); top > want.num("uncached_mbps") {
			same(t, name, float64(f.Burst.Rate)/1e6, top, "MB/s in bursts")
		}
		for _, c := range f.Caps {
			if c.Cache {
				same(t, name, float64(c.Baseline.IOPS), want.num("cached_iops"), "IOPS of the cache")
			} else {
				same(t, name, float64(c.Baseline.IOPS), want.num("v2_iops"), "IOPS of v2")
				same(t, name, float64(c.Baseline.Rate)/1e6, want.num("v2_mbps"), "MB/s of v2")
			}
		}
	}
	google, limits := facts(t, "gcp-machines.csv"), facts(t, "gcp-machine-limits.csv")
	for range 20 {
		want := google[r.IntN(len(google))]
		name := want.text("name")
		f, ok := InstanceLimits(name)
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		same(t, name, float64(f.VCPUs), want.num("vcpus"), "vCPUs")
		same(t, name, float64(f.Memory)/gib, want.num("memory_gib"), "GiB")
		for _, c := range f.Caps {
			if c.Trust == Inferred {
				continue
			}
			// The source has a row of the type's own series with these figures.
			if !slices.ContainsFunc(limits, func(l row) bool {
				series, _, _ := strings.Cut(strings.ToLower(l.text("series")), " ")
				read := float64(c.Baseline.ReadIOPS + c.Baseline.IOPS)
				rate := float64(c.Baseline.ReadRate+c.Baseline.Rate) / float64(units.MiB)
				return strings.HasPrefix(name, series+"-") && l.text("disk_type") == c.Name && l.num("read_iops") == read &&
					(math.Abs(l.num("read_mibps")-rate) < 1e-6 || rate == 0 && l.text("note") != "")
			}) {
				t.Errorf("%s: %s %+v has no row in the source", name, c.Name, c.Baseline)
			}
		}
	}
}

func same(t *testing.T, name string, got, want float64, what string) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*math.Max(1, want) {
		t.Errorf("%s: %g %s, the source has %g", name, got, what, want)
	}
}

// The tiers and rules of disks are those of their source.
func TestDisksEqualTheirSource(t *testing.T) {
	for _, r := range facts(t, "azure-disks.csv") {
		typ := "azure-" + strings.TrimSuffix(strings.Replace(r.text("type"), "premium-ssd", "premium", 1), "-zrs")
		if len(r.text("tier")) < 2 || r.text("tier") == "any" {
			continue
		}
		f, err := VolumeLimits(VolumeSpec{Type: typ, Size: units.Bytes(r.num("up_to_gib")) * units.GiB})
		if err != nil {
			t.Errorf("%s: %v", r.text("tier"), err)
		}
		same(t, r.text("tier"), float64(f.Sustained.IOPS), r.num("iops"), "IOPS")
		same(t, r.text("tier"), float64(f.Sustained.Rate)/1e6, r.num("mbps"), "MB/s")
		if r.text("burst") == "credits" {
			same(t, r.text("tier"), float64(f.Burst.IOPS), r.num("burst_iops"), "IOPS in bursts")
			same(t, r.text("tier"), float64(f.Burst.Rate)/1e6, r.num("burst_mbps"), "MB/s in bursts")
		} else if f.Burst.Known() {
			t.Errorf("%s bursts on credits: %+v", r.text("tier"), f.Burst)
		}
		if typ, size, ok := TierNamed(r.text("tier")); !ok || size != units.Bytes(r.num("up_to_gib"))*units.GiB {
			t.Errorf("%s is %s of %v", r.text("tier"), typ, size)
		}
	}
	for _, r := range facts(t, "gcp-disks.csv") {
		v, ok := TypeNamed(r.text("type"))
		if !ok {
			t.Errorf("%s is missing", r.text("type"))
			continue
		}
		same(t, v.Type, float64(v.MinSize)/gib, r.num("min_gib"), "GiB at least")
		same(t, v.Type, float64(v.MaxSize)/gib, r.num("max_gib"), "GiB at most")
		if v.Pool != nil {
			same(t, v.Type, v.Pool.ReadPerGiB, r.num("read_iops_per_gib"), "read IOPS per GiB")
			same(t, v.Type, v.Pool.WritePerGiB, r.num("write_iops_per_gib"), "write IOPS per GiB")
			same(t, v.Type, float64(v.Pool.Rate)/float64(units.MiB), r.num("base_mibps"), "MiB/s")
		} else if n := r.num("max_iops"); n > 0 {
			same(t, v.Type, float64(v.IOPS.Max), n, "IOPS at most")
			same(t, v.Type, float64(v.Rate.Max)/float64(units.MiB), r.num("max_mibps"), "MiB/s at most")
		}
	}
}

// The volumes of the small clouds and Google's local drives have the figures of their source, and a drive
// has the same part of each row of its table.
func TestOthersEqualTheirSource(t *testing.T) {
	for _, r := range facts(t, "other-volumes.csv") {
		name := strings.ReplaceAll(r.text("cloud")+"-"+r.text("volume"), "hcloud-block", "hcloud-volume")
		v, ok := TypeNamed(name)
		if !ok {
			t.Errorf("%s is missing", name)
			continue
		}
		same(t, name, float64(v.MinSize)/gib, r.num("min_gb"), "GiB at least")
		same(t, name, float64(v.MaxSize)/gib, r.num("max_gb"), "GiB at most")
		same(t, name, float64(v.IOPS.Max), r.num("max_iops"), "IOPS")
		same(t, name, float64(v.Rate.Max)/1e6, r.num("max_mbps"), "MB/s")
		if v.AsOf != r.text("as_of") || v.Source != r.text("source") || v.Trust != Partial {
			t.Errorf("%s: %+v", name, v.Provenance)
		}
	}
	for _, r := range facts(t, "gcp-local-ssd.csv") {
		name, n := "google-local-"+r.text("kind"), r.num("disks")
		d, ok := DriveLimits(name, 0)
		if !ok {
			t.Errorf("%s is missing", name)
		}
		same(t, name, float64(d.Limits.ReadIOPS)*n, r.num("read_iops"), "read IOPS")
		same(t, name, float64(d.Limits.WriteIOPS)*n, r.num("write_iops"), "write IOPS")
		same(t, name, float64(d.Limits.ReadRate)*n/float64(units.MiB), r.num("read_mibps"), "MiB/s of reads")
		same(t, name, float64(d.Limits.WriteRate)*n/float64(units.MiB), r.num("write_mibps"), "MiB/s of writes")
		same(t, name, float64(d.Size)/gib, r.num("gib_each"), "GiB")
	}
}

// A volume of which no limit is published has those that are declared, and none else.
func TestUnpublishedVolume(t *testing.T) {
	if _, err := VolumeLimits(VolumeSpec{Type: "hcloud-volume", Size: 100 * units.GiB}); err == nil || !strings.Contains(err.Error(), "declare") {
		t.Errorf("%v", err)
	}
	f, err := VolumeLimits(VolumeSpec{Type: "hcloud-volume", IOPS: 5000})
	if err != nil || f.Sustained != (Limits{IOPS: 5000}) {
		t.Errorf("%+v %v", f.Sustained, err)
	}
}

// A local drive of Google's goes by its table on the series that has one, and by its model elsewhere.
func TestLocalModel(t *testing.T) {
	for _, c := range []struct{ machine, model, want string }{
		{"n1-standard-8", "nvme_card0", "google-local-nvme"},
		{"c4n-standard-8-lssd", "nvme_card", "google-local-titanium-c4n"},
		{"n1-standard-8", "PersistentDisk", "PersistentDisk"},
		{"c3-standard-8-lssd", "nvme_card0", "nvme_card0"},
		{"", "nvme_card0", "nvme_card0"},
	} {
		if got := LocalModel(c.machine, c.model); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.model, c.machine, got, c.want)
		}
	}
	for typ, unknown := range map[string]bool{"c3-standard-8-lssd": true, "z3-highmem-8-highlssd": false, "n2-standard-8": false} {
		f, _ := InstanceLimits(typ)
		if strings.Contains(strings.Join(f.Unknown, " "), "local drives") != unknown {
			t.Errorf("%s: %q", typ, f.Unknown)
		}
	}
	if f, _ := InstanceLimits("Standard_D2s_v3"); !f.Local.Temp || f.Without != nil {
		t.Errorf("a temp disk, and premium storage: %+v %q", f.Local, f.Without)
	}
	if f, _ := InstanceLimits("Standard_F8"); !slices.Contains(f.Without, "azure-premium") {
		t.Error("a size without s has no premium storage")
	}
}

// The script makes the tables again, byte for byte.
func TestScriptMakesTheTables(t *testing.T) {
	facts(t, "azure-machines.csv") // or skips
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: python3 is missing, which scripts/clouds.py is run by")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, filepath.Join("..", "..", "scripts", "clouds.py"), "--out", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made, err := fs.Glob(os.DirFS(dir), "*/*.csv")
	if err != nil || len(made) != 9 {
		t.Fatalf("%d tables, want 9: %v", len(made), err)
	}
	for _, name := range append(made, "sources.csv", "google-local.csv") {
		got, err1 := os.ReadFile(filepath.Join(dir, name))
		want, err2 := catalogue.ReadFile("catalogue/" + name)
		if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what scripts/clouds.py makes: %v %v", name, err1, err2)
		}
	}
}

// A source that divides by 2^20 and drops the fraction has 183 for 192 MB/s: what is taken from it is
// the only whole MB/s that it can have been.
func TestRoundedMiB(t *testing.T) {
	n := 0
	for _, r := range table("azure/machines.csv") {
		if r.text("trust") != "r" || r.text("base_mbs") == "" {
			continue
		}
		n++
		mbs := r.num("base_mbs")
		floor := math.Floor(mbs * 1e6 / (1 << 20))
		if mbs != math.Trunc(mbs) || math.Ceil(floor*1.048576) != mbs {
			t.Errorf("%s: %g MB/s is no whole figure that prints as %g MiB/s", r.text("name"), mbs, floor)
		}
	}
	if n != 819 {
		t.Errorf("%d rows are of that source, want 819", n)
	}
	if f, _ := InstanceLimits("Standard_DS3_v2"); f.Baseline.Rate != 192e6 {
		t.Errorf("Standard_DS3_v2 has %v", f.Baseline.Rate.SI())
	}
}

// NVMe and SCSI limits of one size differ: neither stands for the other.
func TestTwoRowsOfOneSize(t *testing.T) {
	nvme, ok1 := InstanceLimits("Standard_E8bds_v5:nvme")
	scsi, ok2 := InstanceLimits("Standard_E8bds_v5:scsi")
	plain, ok3 := InstanceLimits("Standard_E8bds_v5")
	if !ok1 || !ok2 || !ok3 || nvme.Baseline.IOPS != 33000 || scsi.Baseline.IOPS != 24200 || plain.Baseline != scsi.Baseline {
		t.Errorf("%+v %+v %+v", nvme.Baseline, scsi.Baseline, plain.Baseline)
	}
	if !strings.Contains(strings.Join(plain.Notes, " "), "NVMe 33,000 IOPS") && !strings.Contains(strings.Join(plain.Notes, " "), "NVME 33,000 IOPS") {
		t.Errorf("notes %q", plain.Notes)
	}
	if _, ok := InstanceLimits("Standard_D8s_v5:nvme"); ok {
		t.Error("Standard_D8s_v5 has one row")
	}
}

// What somebody measured is never above what is published without a note.
func TestMeasuredAbovePublished(t *testing.T) {
	noted := 0
	for _, m := range slices.Concat(table("azure/measured.csv"), table("gcp/measured.csv")) {
		f, ok := InstanceLimits(m.text("name"))
		if !ok {
			t.Errorf("%s was measured and is not in the catalogue", m.text("name"))
			continue
		}
		n, over := float64(f.Local.Count), ""
		for _, c := range []struct {
			each   float64
			column string
		}{
			{float64(f.Local.Limits.ReadIOPS), "read_iops"},
			{float64(f.Local.Limits.WriteIOPS), "write_iops"},
			{float64(f.Local.Limits.ReadRate), "read_bps"},
			{float64(f.Local.Limits.WriteRate), "write_bps"},
		} {
			if c.each > 0 && m.num(c.column) > c.each*n*1.000001 {
				over += " " + c.column
			}
		}
		has := slices.ContainsFunc(f.Notes, func(s string) bool { return strings.Contains(s, "above what is published") })
		if over != "" {
			noted++
		}
		if (over != "") != has {
			t.Errorf("%s: measured above what is published:%s; notes %q", f.Type, over, f.Notes)
		}
	}
	if noted == 0 {
		t.Error("L8s_v3 was measured above its page, and no type is")
	}
}

func TestMachineNames(t *testing.T) {
	for name, want := range map[string]string{
		"Standard_D8s_v5": "Standard_D8s_v5", "D8s_v5": "Standard_D8s_v5", "standard_d8s_v5": "Standard_D8s_v5",
		"n2-standard-8": "n2-standard-8", "n2-custom-10-20480": "n2-custom-10-20480", "c8g.2xlarge": "c8g.2xlarge",
	} {
		if f, ok := InstanceLimits(name); !ok || f.Type != want {
			t.Errorf("%s: %q %v", name, f.Type, ok)
		}
	}
	for _, name := range []string{"", "Standard_", "Standard_D8s_v5,8", "n2", "zz9-custom-8-1024", "n2-custom-8", "P30"} {
		if f, ok := InstanceLimits(name); ok {
			t.Errorf("%q is no machine type: %+v", name, f)
		}
	}
	if f, _ := InstanceLimits("n2-custom-10-20480"); len(f.Caps) == 0 || f.VCPUs != 10 {
		t.Errorf("a custom type has the limits of its vCPUs: %+v", f)
	}
	for _, name := range []string{"aws", "AWS", "azure", "gcp", "google", "Google Cloud", "EC2"} {
		if Named(name) == nil {
			t.Errorf("no cloud is named %q", name)
		}
	}
	if Named("") != nil || Named("oracle") != nil {
		t.Error("a cloud of no name")
	}
}

// A machine type that is added needs data only: a row, and for Google a row of limits.
func TestRowsMakeMachines(t *testing.T) {
	head := table("azure/machines.csv")[0].head
	cells := make([]string, len(head))
	for i, h := range head {
		cells[i] = map[string]string{"name": "Standard_X9_v9", "vcpus": "9", "base_iops": "900", "base_mbs": "90", "max_iops": "1900", "trust": "p"}[h]
	}
	if f := builtin()["azure"].machine(row{head, cells}); f.Baseline.IOPS != 900 || f.Burst != (Limits{IOPS: 1900}) ||
		f.BurstRule != ByCredits || f.BurstFor != 30*time.Minute {
		t.Errorf("%+v", f)
	}
	g := InstanceFacts{Type: "n9-standard-9", VCPUs: 9}
	for _, c := range []struct {
		by, machine string
		want        bool
	}{
		{"vcpus", "8-15", true},
		{"vcpus", "9", true},
		{"vcpus", "10 or more", false},
		{"vcpus", "2-8", false},
		{"machine", "n9-standard-9", true},
		{"pattern", "n9-*-9", true},
		{"pattern", "n9-*-8", false},
	} {
		r := row{[]string{"series", "machine", "by"}, []string{"n9", c.machine, c.by}}
		if got := g.selected(r); got != c.want {
			t.Errorf("%v selected by %s %s", got, c.by, c.machine)
		}
	}
}

func TestPoolsAndOrders(t *testing.T) {
	const mib = units.MiBPerSec
	for _, c := range []struct {
		spec VolumeSpec
		want string
		err  string
	}{
		{VolumeSpec{Type: "pd-ssd", Size: units.TiB}, "36720 731.52/731.52", ""},
		{VolumeSpec{Type: "pd-balanced", Size: 500 * units.GiB}, "6000 280/280", ""},
		{VolumeSpec{Type: "pd-standard", Size: 50 * units.GiB}, "75/150 12", ""},
		{VolumeSpec{Type: "pd-ssd"}, "0 0/0", "state it"},
		{VolumeSpec{Type: "hyperdisk-balanced", Size: units.TiB, IOPS: 160000}, "160000 625", ""},
		{VolumeSpec{Type: "hyperdisk-balanced", Size: units.TiB, IOPS: 160000, Rate: 2400 * mib}, "160000 2400", ""},
		{VolumeSpec{Type: "hyperdisk-throughput", Size: 4 * units.TiB, Rate: 300 * mib}, "1200 300", ""},
		{VolumeSpec{Type: "hyperdisk-throughput", Size: 4 * units.TiB}, "0 0", "throughput is provisioned"},
		{VolumeSpec{Type: "hyperdisk-throughput", Size: 4 * units.TiB, Rate: 300 * mib, IOPS: 9000}, "1200 300", "follow from the throughput"},
	} {
		f, err := VolumeLimits(c.spec)
		l := f.Sustained
		got := fmt.Sprintf("%s %s", shown(float64(l.IOPS)), shown(float64(l.Rate)/float64(units.MiB)))
		mibs := func(r units.Rate) string { return shown(float64(r) / float64(units.MiB)) }
		switch { // one budget of IOPS, and rates apart; or the two of both, which share
		case l.ReadIOPS > 0:
			got = fmt.Sprintf("%s/%s %s", shown(float64(l.ReadIOPS)), shown(float64(l.WriteIOPS)), mibs(l.Rate))
		case f.Pooled || c.spec.Type == "pd-ssd":
			got = fmt.Sprintf("%s %s/%s", shown(float64(l.IOPS)), mibs(l.ReadRate), mibs(l.WriteRate))
		}
		if (l.ReadIOPS > 0) != (l.SharedIOPS == Stated) || l.SharedRate != Apart {
			t.Errorf("%+v: %+v", c.spec, l)
		}
		if got != c.want || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %s, %v; want %s, %s", c.spec, got, err, c.want, c.err)
		}
	}
}

func shown(v float64) string { return strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64) }

// ec2Names are the types of EC2, of which alone the catalogue's first price list is.
func ec2Names() []string {
	var names []string
	for _, f := range builtin()["aws"].Machines() {
		names = append(names, f.Type)
	}
	return names
}

// Of a table of several drives together each has its part, and the size of one.
func TestDrivesOfGoogle(t *testing.T) {
	d, ok := DriveLimits("google-local-titanium-c4n", 0)
	want := Limits{ReadIOPS: 150_000, WriteIOPS: 75_000, ReadRate: 625 * units.MiBPerSec, WriteRate: 330 * units.MiBPerSec, SharedIOPS: Assumed, SharedRate: Assumed}
	if !ok || d.Size != 375*units.GiB || d.Capacity != "375 GiB" || d.Limits != want || len(d.Notes) != 0 {
		t.Errorf("%+v", d)
	}
	for _, r := range table("google-local.csv") {
		d, ok := DriveLimits("google-local-"+r.text("kind"), 0)
		n := r.num("drives")
		if !ok || d.Size != 375*units.GiB || n > 1 && r.text("as_of") < "2020" != (len(d.Notes) > 0) {
			t.Errorf("%s of %v: %+v", r.text("kind"), n, d)
		}
	}
}

// A custom machine has the vCPUs and the mebibytes of its name, in a series of which limits are known.
func TestCustomMachines(t *testing.T) {
	for typ, want := range map[string]InstanceFacts{
		"n2-custom-8-32768":     {VCPUs: 8, Memory: 32 * units.GiB},
		"n2-custom-2-1024":      {VCPUs: 2, Memory: units.GiB},
		"n2-custom-8-32768-ext": {VCPUs: 8, Memory: 32 * units.GiB},
		"n9-custom-8-32768":     {}, "n2-custom-8": {}, "n2-custom-8-32768-x": {}, "custom-8-32768": {},
	} {
		f, ok := builtin()["gcp"].Machine(typ)
		if ok != (want.VCPUs > 0) || f.VCPUs != want.VCPUs || f.Memory != want.Memory || ok && (f.Type != typ || f.Vendor != "Google Cloud" || len(f.Caps) == 0 || f.Attachments == 0) {
			t.Errorf("%s: %v %+v", typ, ok, f)
		}
	}
}
