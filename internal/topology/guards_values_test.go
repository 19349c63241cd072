package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// What an array of declared volumes holds: of a level without copies the least of each, of a
// concatenation their sum, and nothing where a size is not known.
func TestCapacityByHand(t *testing.T) {
	for name, c := range map[string]struct {
		level  Level
		copies int
		sizes  []units.Bytes
		want   units.Bytes
	}{
		"one":               {Single, 0, []units.Bytes{7}, 7},
		"concatenated":      {Linear, 0, []units.Bytes{7, 5}, 12},
		"striped":           {RAID0, 0, []units.Bytes{7, 5, 9}, 15},
		"the first least":   {RAID0, 0, []units.Bytes{5, 7}, 10},
		"a byte":            {RAID0, 0, []units.Bytes{1, 7}, 2},
		"mirrored":          {RAID1, 2, []units.Bytes{7, 5}, 5},
		"striped mirrors":   {RAID10, 2, []units.Bytes{7, 5, 9, 9}, 10},
		"odd mirrors":       {RAID10, 2, []units.Bytes{6, 6, 6}, 9},
		"three copies":      {RAID10, 3, []units.Bytes{6, 6, 6, 6}, 8},
		"a parity":          {RAID5, 0, []units.Bytes{7, 5, 9}, 10},
		"two parities":      {RAID6, 0, []units.Bytes{7, 5, 9, 9}, 10},
		"one not known":     {RAID0, 0, []units.Bytes{7, 0}, 0},
		"one of a sum":      {Linear, 0, []units.Bytes{0, 7}, 0},
		"nothing":           {RAID0, 0, nil, 0},
		"of no known level": {NoLevel, 0, []units.Bytes{7, 5}, 10},
	} {
		a := Array{Level: c.level, Copies: c.copies}
		for _, size := range c.sizes {
			a.Volumes = append(a.Volumes, Volume{Size: size})
		}
		if got := a.capacity(); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A declared filesystem's stripe: what it states, else the array's chunk and stripe members.
func TestDeclaredTargetByHand(t *testing.T) {
	ten := &Array{Name: "a", Level: RAID10, Copies: 2, Chunk: 64, Volumes: make([]Volume, 8)}
	for name, c := range map[string]struct {
		a          *Array
		f          *DeclaredFilesystem
		mount      bool
		unit, wide units.Bytes
	}{
		"none":               {ten, nil, false, 0, 0},
		"of no mount":        {ten, &DeclaredFilesystem{Type: "xfs"}, false, 0, 0},
		"the array's":        {ten, &DeclaredFilesystem{Mount: "/d"}, true, 64, 256},
		"a unit of its own":  {ten, &DeclaredFilesystem{Mount: "/d", StripeUnit: 32}, true, 32, 128},
		"members of its own": {ten, &DeclaredFilesystem{Mount: "/d", StripeData: 3}, true, 64, 192},
		"one member":         {ten, &DeclaredFilesystem{Mount: "/d", StripeData: 1, StripeUnit: 1}, true, 1, 1},
		"a chunk of a byte":  {&Array{Level: RAID0, Chunk: 1, Volumes: make([]Volume, 3)}, &DeclaredFilesystem{Mount: "/d"}, true, 1, 3},
		"no chunk":           {&Array{Level: RAID1, Volumes: make([]Volume, 2)}, &DeclaredFilesystem{Mount: "/d", StripeUnit: 9}, true, 0, 0},
	} {
		got := declaredTarget(WAL, c.a, c.f)
		if got.Role != WAL || got.Array != c.a.Name || (got.Mount != nil) != c.mount {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if m := got.Mount; c.mount && (m.StripeUnit != c.unit || m.StripeWide != c.wide || m.Known != (c.unit > 0) || got.Path != "/d") {
			t.Errorf("%s: %+v, want %d and %d", name, m, c.unit, c.wide)
		}
	}
}

// By what a declared volume and a declared array are recognised.
func TestRecognisedByHand(t *testing.T) {
	disk := &block.Device{Name: "sda", Path: "/dev/sda", Links: []string{"/dev/disk/by-id/x"}}
	part := &block.Device{Name: "sda1", Path: "/dev/sda1", Parent: "sda"}
	md := &block.Device{Name: "md0", Path: "/dev/md0", MD: &block.Raid{Name: "host:fast"}}
	linked := &block.Device{Name: "md1", Path: "/dev/md1", MD: &block.Raid{Name: "plain"}, Links: []string{"/dev/md/other"}}
	lv := &block.Device{Name: "dm-0", Path: "/dev/mapper/vg-data", LV: &block.Vol{Name: "data", VG: "vg"}}
	top := &Topology{Tree: &block.Tree{Devices: map[string]*block.Device{"sda": disk, "sda1": part, "md0": md, "md1": linked, "dm-0": lv}}}
	const serial = "vol0123456789abcdef0"
	for name, c := range map[string]struct {
		v    Volume
		d    DeclaredVolume
		want bool
	}{
		"not there":              {Volume{Serial: "S"}, DeclaredVolume{Serial: "S"}, false},
		"by serial":              {Volume{Device: "sda", Serial: "S"}, DeclaredVolume{Serial: "S"}, true},
		"another serial":         {Volume{Device: "sda", Serial: "S"}, DeclaredVolume{Serial: "T", ID: "i"}, false},
		"EBS by either spelling": {Volume{Device: "sda", Serial: "z", ID: "vol-0123456789abcdef0"}, DeclaredVolume{Serial: serial}, true},
		"no id, and no EBS":      {Volume{Device: "sda", Serial: "z"}, DeclaredVolume{Serial: "T"}, false},
		"by id":                  {Volume{Device: "sda", ID: "i"}, DeclaredVolume{ID: "i"}, true},
		"another id":             {Volume{Device: "sda", ID: "i"}, DeclaredVolume{ID: "j", Path: "/dev/sda"}, false},
		"by path":                {Volume{Device: "sda"}, DeclaredVolume{Path: "/dev/sda"}, true},
		"by link":                {Volume{Device: "sda"}, DeclaredVolume{Path: "/dev/disk/by-id/x"}, true},
		"by its partition":       {Volume{Device: "sda"}, DeclaredVolume{Path: "/dev/sda1"}, true},
		"another path":           {Volume{Device: "sdb"}, DeclaredVolume{Path: "/dev/sda"}, false},
		"a path to nothing":      {Volume{Device: "sda"}, DeclaredVolume{Path: "/dev/sdz"}, false},
		"by nothing":             {Volume{Device: "sda"}, DeclaredVolume{Type: "gp3"}, false},
	} {
		if got := top.same(c.v, c.d); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name, c := range map[string]struct {
		of   *Topology
		a    string
		d    DeclaredArray
		want bool
	}{
		"the device":         {top, "md0", DeclaredArray{Name: "md0"}, true},
		"without a tree":     {&Topology{}, "md0", DeclaredArray{Name: "fast"}, false},
		"no such device":     {top, "md9", DeclaredArray{Name: "fast"}, false},
		"md's name":          {top, "md0", DeclaredArray{Name: "fast"}, true},
		"with its host":      {top, "md0", DeclaredArray{Name: "host:fast"}, true},
		"the host alone":     {top, "md0", DeclaredArray{Name: "host"}, false},
		"md's plain name":    {top, "md1", DeclaredArray{Name: "plain"}, true},
		"a link of md's":     {top, "md1", DeclaredArray{Name: "other"}, true},
		"a logical volume":   {top, "dm-0", DeclaredArray{Name: "data"}, true},
		"of its group":       {top, "dm-0", DeclaredArray{Name: "data", VolumeGroup: "vg"}, true},
		"of another group":   {top, "dm-0", DeclaredArray{Name: "data", VolumeGroup: "vh"}, false},
		"another volume":     {top, "dm-0", DeclaredArray{Name: "wal", VolumeGroup: "vg"}, false},
		"a disk":             {top, "sda", DeclaredArray{Name: "data"}, false},
		"a disk by its name": {top, "sda", DeclaredArray{Name: "sda"}, true},
	} {
		if got := c.of.called(&Array{Name: c.a}, &c.d); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// NVMe drives that are declared, and of which nothing else is known, are the machine's own.
func TestOwnDrivesByHand(t *testing.T) {
	own := cloud.InstanceFacts{Type: "m", Local: cloud.InstanceStore{Count: 1, Limits: Limits{ReadIOPS: 5}}}
	with := func(f func(*cloud.InstanceFacts)) cloud.InstanceFacts { o := own; f(&o); return o }
	nvme := Volume{Type: "nvme"}
	for name, c := range map[string]struct {
		f     cloud.InstanceFacts
		v     []Volume
		given int
		noted bool
	}{
		"one":              {own, []Volume{nvme}, 1, false},
		"two of one":       {own, []Volume{nvme, nvme}, 2, false},
		"two of two":       {with(func(f *cloud.InstanceFacts) { f.Local.Count = 2 }), []Volume{nvme, nvme}, 2, false},
		"of another type":  {own, []Volume{{Type: "ssd"}}, 0, false},
		"of the network":   {own, []Volume{{Type: "nvme", Network: true}}, 0, false},
		"that is there":    {own, []Volume{{Type: "nvme", Device: "nvme0n1"}}, 0, false},
		"that is known":    {own, []Volume{{Type: "nvme", Sustained: Limits{Rate: 0.5}}}, 0, false},
		"a temp disk":      {with(func(f *cloud.InstanceFacts) { f.Local.Temp = true }), []Volume{nvme}, 0, false},
		"of unknown drive": {with(func(f *cloud.InstanceFacts) { f.Local.Limits = Limits{} }), []Volume{nvme}, 0, false},
	} {
		top := &Topology{Arrays: []Array{{Volumes: slices.Clone(c.v)}}}
		top.ownDrives(c.f)
		given := 0
		for _, v := range top.Arrays[0].Volumes {
			if v.Sustained.ReadIOPS == 5 && v.Origin.Kind == Catalogue {
				given++
			}
		}
		if given != c.given || (len(top.Notes) > 0) != c.noted {
			t.Errorf("%s: %d, want %d; %q", name, given, c.given, top.Notes)
		}
	}
}

// Of a type that is not built on Nitro one volume of its network gives 32,000 IOPS at most.
func TestVolumesAreCapped(t *testing.T) {
	for name, c := range map[string]struct {
		typ     string
		network bool
		iops    units.IOPS
		want    units.IOPS
		noted   bool
	}{
		"as many":           {"r4.large", true, 32000, 32000, false},
		"one more":          {"r4.large", true, 32001, 32000, true},
		"a drive":           {"r4.large", false, 64000, 64000, false},
		"on Nitro":          {"r5.large", true, 64000, 64000, false},
		"a type of nowhere": {"x", true, 64000, 64000, false},
	} {
		top := &Topology{Instance: Instance{Type: c.typ}, Arrays: []Array{{Volumes: []Volume{{Network: c.network, Sustained: Limits{IOPS: c.iops}}}}}}
		top.capVolumes()
		v := top.Arrays[0].Volumes[0]
		if v.Sustained.IOPS != c.want || (len(top.Notes) > 0) != c.noted || strings.Contains(v.Origin.Where, "32,000") != c.noted {
			t.Errorf("%s: %+v, %q", name, v, top.Notes)
		}
	}
	// Volumes that share an allowance by their size count once each, wherever they are seen.
	pooled := func(device, typ string, size units.Bytes) Volume {
		return Volume{Device: device, Type: typ, Size: size, Pooled: true}
	}
	top := &Topology{
		Arrays: []Array{
			{Volumes: []Volume{pooled("sda", "gcp-pd-ssd", units.TiB), pooled("", "gcp-pd-ssd", units.TiB), pooled("", "gcp-pd-ssd", units.TiB), {Device: "sdz", Type: "gp3", Size: 7}}},
			{Volumes: []Volume{pooled("sda", "gcp-pd-ssd", units.TiB), pooled("sdb", "gcp-pd-balanced", units.TiB)}},
		},
		others: []Volume{pooled("sdb", "gcp-pd-balanced", units.TiB), pooled("sdc", "gcp-pd-balanced", units.TiB)},
	}
	top.pools()
	got := ""
	for _, p := range top.Instance.Pools {
		got += fmt.Sprintf("%s %v; ", p.Type, p.Size)
	}
	if got != "gcp-pd-ssd 3 TiB; gcp-pd-balanced 2 TiB; " {
		t.Error(got)
	}
}

// A tier's name is its type and its size, unless a size is stated.
func TestTiersInDeclarations(t *testing.T) {
	for name, c := range map[string]struct {
		d      DeclaredVolume
		typ    string
		size   units.Bytes
		tiered bool
	}{
		"P30":           {DeclaredVolume{Type: "P30"}, "azure-premium", units.TiB, true},
		"P30 of 1 byte": {DeclaredVolume{Type: "p30", Size: 1}, "azure-premium", 1, true},
		"gp3":           {DeclaredVolume{Type: "gp3", Size: 7}, "gp3", 7, false},
		"nothing":       {DeclaredVolume{}, "", 0, false},
	} {
		d := c.d
		if d.tiered(); d.Type != c.typ || d.Size != c.size || (d.Tier != "") != c.tiered {
			t.Errorf("%s: %+v", name, d)
		}
	}
	for d, want := range map[DeclaredVolume]string{
		{Type: "gp2"}:                                  "",
		{Type: "gp2", Size: 100 * units.TiB}:           "outside",
		{Type: "premium-v2", Caching: "readonly"}:      "allows no host caching",
		{Type: "premium", Caching: "readonly"}:         "",
		{Type: "gp3", Limits: Limits{IOPS: 1_000_000}}: "above its maximum",
		{Type: "nosuch"}:                               "not in the catalogue",
	} {
		err := d.check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", d, err, want)
		}
	}
}

// What the catalogue says of a source: its trust where that is not the best.
func TestOriginOfTheCatalogue(t *testing.T) {
	for trust, want := range map[cloud.Trust]string{cloud.Verified: "s (d)", "": "s (d)", cloud.Partial: "s (d), " + string(cloud.Partial)} {
		if got := catalogued(cloud.Provenance{Source: "s", AsOf: "d", Trust: trust}); got.Where != want || got.Kind != Catalogue {
			t.Errorf("%q: %+v, want %q", trust, got, want)
		}
	}
	// Of a size whose limits depend on the controller, NVMe's where a remote disk on NVMe is seen.
	for typ, want := range map[string]string{"Standard_E8bds_v5": "Standard_E8bds_v5:nvme", "Standard_D8s_v5": "Standard_D8s_v5"} {
		i := Instance{Type: typ}
		seen := []Array{{Volumes: []Volume{{Model: "x"}, {Model: cloud.AzureRemoteModel}}}}
		if got := i.controlled(seen); got != want {
			t.Errorf("%s: %s, want %s", typ, got, want)
		}
		if got := i.controlled([]Array{{Volumes: []Volume{{Model: "x"}}}}); got != typ {
			t.Errorf("%s without such a disk: %s", typ, got)
		}
	}
}

// Disks of a size alike differ by a hundredth at most; a description is a number, a kind, or nothing.
func TestDescriptionsOfDisks(t *testing.T) {
	for _, c := range []struct {
		a, b units.Bytes
		want bool
	}{{100, 101, true}, {101, 100, true}, {100, 102, false}, {99, 100, false}, {7, 7, true}, {0, 0, true}, {1000, 1010, true}, {1000, 1011, false}} {
		if got := Alike(c.a, c.b); got != c.want {
			t.Errorf("%d and %d: %v", c.a, c.b, got)
		}
	}
	for s, want := range map[string]int{"": 0, " ": 0, "4 x": 4, "4 × ": 4, "12 x": 12} {
		if n, v, err := parseDescription(s); n != want || err != nil || v != (DeclaredVolume{}) {
			t.Errorf("%q: %d %+v %v", s, n, v, err)
		}
	}
	if n, v, err := parseDescription("4 x gp3"); n != 4 || v.Type != "gp3" || err != nil {
		t.Errorf("%d %+v %v", n, v, err)
	}
	inv := &Inventory{Disks: []Disk{{Volume: Volume{Serial: "S"}, Path: "/a"}, {Volume: Volume{Serial: "T"}, Path: "/b"}, {Volume: Volume{Serial: "S"}, Path: "/c"}}}
	for k, want := range []string{"/c", "", "/a"} {
		if got := inv.twin(inv.Disks[k]); got != want {
			t.Errorf("the twin of %s: %q, want %q", inv.Disks[k].Path, got, want)
		}
	}
	gp3 := func(n int) Disk {
		return Disk{Volume: Volume{Serial: fmt.Sprint("S", n), Size: units.GiB, Type: "gp3", Network: true, Sustained: Limits{IOPS: 3000, Rate: 125 * units.MiBPerSec}}, Path: fmt.Sprint("/dev/", n)}
	}
	plain := gp3(3)
	plain.Sustained = Limits{}
	rated := gp3(5)
	rated.Type = "gp2" // whose IOPS and throughput follow from its size
	local := gp3(4)
	local.Network = false
	for want, c := range map[string]struct {
		level Level
		disks []Disk
	}{
		"    level: single\n":  {NoLevel, []Disk{gp3(1)}},
		"    level: raid0   #": {NoLevel, []Disk{gp3(1), gp3(2)}},
		"    level: raid10\n":  {RAID10, []Disk{gp3(1), gp3(2)}},
		"size: 1GiB, type: gp3, iops: 3000, throughput: 125MiB/s}": {NoLevel, []Disk{gp3(1)}},
		"size: 1GiB, type: gp3}":                                   {NoLevel, []Disk{plain}},
		"size: 1GiB, type: gp2}":                                   {NoLevel, []Disk{rated}},
		"size: 1GiB}":                                              {NoLevel, []Disk{local}},
	} {
		if got := arrayText("data", c.level, c.disks); !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}

// The network volumes below the paths and beside them, each once by its id or its device.
func TestAttachedOnce(t *testing.T) {
	v := func(id, device string, network bool) Volume { return Volume{ID: id, Device: device, Network: network} }
	top := &Topology{
		Arrays: []Array{{Volumes: []Volume{v("a", "x", true), v("a", "y", true), v("", "x", true), v("", "z", false)}}, {Volumes: []Volume{v("b", "", true), v("", "", true), v("b", "q", true)}}},
		others: []Volume{v("c", "w", true), v("", "w", true), v("", "", true)},
		Tree:   &block.Tree{},
	}
	got := ""
	for _, one := range top.attached() {
		got += one.ID + "/" + one.Device + " "
	}
	if got != "a/x b/ / c/w / " {
		t.Error(got)
	}
	for v := range top.Volumes() {
		if v.ID != "b" {
			v.Burst.IOPS = 1
		}
	}
	top.askBalances(t.Context(), &watched{cloud: cloud.AWS(), failed: errors.New("no")})
	if want := []string{"the burst balance of a is not known: no"}; !slices.Equal(top.Notes, want) {
		t.Errorf("%q, want %q", top.Notes, want)
	}
	top.Notes = nil
	// What a cloud says of a volume goes to those of its id, or where there is none of its device.
	top.ordered(cloud.ProvisionedVolume{ID: "a", On: "w", Snapshot: "s", Doubt: "d"}, "api")
	top.ordered(cloud.ProvisionedVolume{On: "w", Snapshot: "u", Facts: cloud.VolumeFacts{Type: "gp3", Provenance: cloud.Provenance{Source: "src"}}}, "api")
	got = ""
	for _, a := range append(top.Arrays, Array{Volumes: top.others}) {
		for _, v := range a.Volumes {
			got += v.ID + "/" + v.Device + v.Snapshot + v.Type + " "
		}
	}
	if got != "a/xs a/ys /x /z b/ / b/q c/wugp3 /wugp3 / " || !slices.Contains(top.Notes, "a: d") {
		t.Errorf("%s %q", got, top.Notes)
	}
	if v := top.others[0]; v.Origin.Kind != Detected || v.Origin.Where != "api; "+(cloud.Provenance{Source: "src"}).String() {
		t.Errorf("%+v", v.Origin)
	}
}

// Layers that only pass I/O on: a partition, the data of a pool beside its map, several ways to one drive.
func TestWhatPassesOn(t *testing.T) {
	tree := func(kind block.Kind, devices ...*block.Device) (*Topology, *block.Device) {
		top := &block.Device{Name: "top", Kind: kind}
		of := map[string]*block.Device{"top": top}
		for _, d := range devices {
			top.Slaves, of[d.Name] = append(top.Slaves, d.Name), d
		}
		return &Topology{Tree: &block.Tree{Devices: of}}, top
	}
	lv := func(name string) *block.Device { return &block.Device{Name: name, LV: &block.Vol{Name: name}} }
	disk := func(name, wwn string) *block.Device { return &block.Device{Name: name, WWN: wwn} }
	for name, c := range map[string]struct {
		kind    block.Kind
		devices []*block.Device
		want    string
	}{
		"nothing below":        {block.DM, nil, ""},
		"one":                  {block.DM, []*block.Device{disk("a", "")}, "a"},
		"two":                  {block.DM, []*block.Device{disk("a", ""), disk("b", "")}, ""},
		"two ways to one":      {block.DM, []*block.Device{disk("a", "W"), disk("b", "W")}, "a"},
		"two drives":           {block.DM, []*block.Device{disk("a", "W"), disk("b", "V")}, ""},
		"two ways, not mapped": {block.Disk, []*block.Device{disk("a", "W"), disk("b", "W")}, ""},
		"a pool":               {block.DM, []*block.Device{lv("p_tmeta"), lv("p_tdata")}, "p_tdata"},
		"a cache":              {block.DM, []*block.Device{lv("p_corig"), lv("p_cmeta"), lv("p_cdata"), lv("p_cvol")}, "p_corig"},
		"maps alone":           {block.DM, []*block.Device{lv("p_cmeta"), lv("p_cdata")}, ""},
		"a map and a drive":    {block.DM, []*block.Device{lv("p_cmeta"), disk("a", "")}, "a"},
		"one way has no name":  {block.DM, []*block.Device{disk("a", "W"), disk("b", "")}, ""},
		"volumes":              {block.DM, []*block.Device{lv("p"), lv("q")}, ""},
	} {
		top, d := tree(c.kind, c.devices...)
		got := ""
		if next := top.passes(d); next != nil {
			got = next.Name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	top, d := tree(block.DM, disk("a", ""))
	if d.MD = (&block.Raid{}); top.passes(d) != nil {
		t.Error("an array is passed on")
	}
}
