package topology

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// Each key of a declaration at its bounds: what is taken, and what is refused by its name.
func TestKeysAtTheirBounds(t *testing.T) {
	array := func(lines string) string {
		return "arrays:\n  - name: a\n    " + strings.ReplaceAll(lines, "; ", "\n    ") + "\n"
	}
	volume := func(v string) string { return array("level: single; volumes: [{" + v + "}]") }
	for yaml, want := range map[string]string{
		array("using: md"):                                               "",
		array("using: lvm; volume_group: vg"):                            "",
		array("using: md; volume_group: vg"):                             "volume_group: it needs",
		array("using: lvm; level: raid0; segment: raid0"):                "",
		array("using: lvm; level: raid0; segment: striped"):              "",
		array("using: lvm; level: raid0; segment: linear"):               "segment:",
		array("using: md; level: raid0; segment: raid0"):                 "segment:",
		array("role: data"):                                              "",
		array("role: [data, wal]"):                                       "",
		array("role: [data, data]"):                                      "role:",
		array("level: raid10; copies: 2; volumes: 4xgp3"):                "",
		array("level: raid1; copies: 3; volumes: 3xgp3"):                 "",
		array("level: raid10; copies: 4; volumes: 4xgp3"):                "",
		array("level: raid10; copies: 5; volumes: 4xgp3"):                "5 copies need as many",
		array("level: raid10; copies: 1; volumes: 4xgp3"):                "copies 1: want 2 or more",
		array("level: raid10; copies: -2; volumes: 4xgp3"):               "copies -2: want 2 or more",
		array("level: raid5; copies: 2; volumes: 4xgp3"):                 "with raid1 or raid10",
		array("copies: 2; volumes: 4xgp3"):                               "",
		array("level: linear; chunk: 64KiB; volumes: 4xgp3"):             "linear has no chunk",
		array("level: single; chunk: 64KiB; volumes: 1xgp3"):             "single has no chunk",
		array("level: single; volumes: gp3"):                             "", // each that is found
		array("filesystem: {mount: /}"):                                  "filesystem.mount:",
		array("filesystem: {mount: /d, sw: 1024}"):                       "",
		array("filesystem: {mount: /d, sw: 1025}"):                       "filesystem.sw:",
		array("filesystem: {mount: /d, sw: -1}"):                         "filesystem.sw:",
		array("filesystem: {mount: /d, sw: x}"):                          "filesystem.sw:",
		array("filesystem: {type: xfs, label: exactly-12-b}"):            "",
		array("filesystem: {type: xfs, label: thirteen-byte}"):           "takes at most 12 bytes",
		array("filesystem: {type: ext4, label: sixteen-bytes-ok}"):       "",
		array("filesystem: {type: ext4, label: seventeen-bytes-x}"):      "takes at most 16 bytes",
		array("filesystem: {mount: /d, fstab: uuid}"):                    "",
		array("filesystem: {mount: /d, fstab: label, label: l}"):         "",
		array("filesystem: {mount: /d, fstab: label}"):                   "filesystem.fstab:",
		array("filesystem: {mount: /d, fstab: path}"):                    "filesystem.fstab:",
		array("filesystem: {mount: /d, mode: \"0700\"}"):                 "",
		array("filesystem: {mount: /d, mode: \"7777\"}"):                 "",
		array("filesystem: {mount: /d, mode: \"10000\"}"):                "filesystem.mode:",
		volume("iops: 0.5"):                                              "",
		volume("iops: 5, burst_iops: 0.5, burst_credits: 0.5"):           "",
		volume("iops: 5, burst_iops: 10"):                                "burst_iops goes with burst_credits",
		volume("iops: 5, burst_credits: 10"):                             "burst_iops goes with burst_credits",
		volume("iops: 5, burst_throughput: 1B/s, burst_bytes: 1"):        "",
		volume("iops: 5, burst_throughput: 10MiB/s"):                     "burst_throughput with burst_bytes",
		volume("iops: 5, burst_bytes: 10MiB"):                            "burst_throughput with burst_bytes",
		volume("iops: 5, burst_iops: 10, burst_credits: 0"):              "burst_credits:",
		volume("iops: 5, burst_iops: 10, burst_credits: -1"):             "burst_credits:",
		volume("iops: 5, burst_iops: 10, burst_credits: 1e15"):           "burst_credits:",
		volume("iops: 5, burst_iops: 10, burst_credits: 9e14"):           "",
		volume("iops: 5, burst_iops: 10, burst_credits: x"):              "burst_credits:",
		volume("iops: 5, read_latency: 0s"):                              "duration",
		volume("iops: 5, read_latency: -1ms"):                            "duration",
		volume("iops: 5, read_latency: x"):                               "duration",
		volume("iops: 5, read_latency: 1ns"):                             "",
		volume("iops: 5, caching: none"):                                 "",
		volume("iops: 5, caching: ReadOnly"):                             "",
		volume("iops: 5, caching: some"):                                 "volumes.caching:",
		volume("path: /dev/disk/by-id/x"):                                "",
		volume("path: /def/x"):                                           "volumes.path:",
		"scale: 1\n":                                                     "",
		"scale: 0.001\n":                                                 "",
		"scale: 1.001\n":                                                 "scale",
		"scale: 0\n":                                                     "scale",
		"scale: x\n":                                                     "scale",
		"instance: {baseline: {iops: 5}}\n":                              "",
		"instance: {burst: {iops: 5, for: 1m, per: 1h}}\n":               "",
		"instance: {type: c8g.2xlarge, baseline: {iops: 1, per: 30m}}\n": "the baseline has no end",
	} {
		_, err := LoadDeclaration("f.yaml", []byte(yaml))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, want %q", yaml, err, want)
		}
	}
	for line, want := range map[string]int{"1024xgp3": 1024, "1025xgp3": 0} {
		d, err := LoadDeclaration("f.yaml", []byte("arrays:\n  - name: a\n    level: raid0\n    volumes: [1xgp3, 1xgp3, "+line+"]\n"))
		if err == nil || !strings.Contains(err.Error(), "want") {
			t.Errorf("two more than %s: %+v, %v", line, d, err)
		}
		if n, _, err := parseVolumes(line); n != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %d %v", line, n, err)
		}
	}
	for _, c := range []struct{ a, b, want int }{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {3, 5, 3}, {5, 3, 3}, {1, 2, 1}, {2, 1, 1}} {
		if got := first(c.a, c.b); got != c.want {
			t.Errorf("the first of %d and %d: %d", c.a, c.b, got)
		}
	}
	for flags, want := range map[[4]string]int{{"", "", "", "c8g.2xlarge"}: 0, {"8xgp3", "", "", ""}: 1, {"", "raid0", "", ""}: 1, {"", "", "64KiB", ""}: 1} {
		d, err := FromFlags(flags[0], flags[1], flags[2], flags[3])
		if err != nil || len(d.Arrays) != want {
			t.Errorf("%q: %+v %v", flags, d, err)
		}
	}
}

// Copies of what is declared over what was detected: those that are stated, of a level that changed its
// own, else as they were.
func TestCopiesOfALayout(t *testing.T) {
	for name, c := range map[string]struct {
		was  Array
		d    DeclaredArray
		want int
	}{
		"stated":               {Array{Level: RAID10, Copies: 2}, DeclaredArray{Copies: 3}, 3},
		"one, as stated":       {Array{Level: RAID10, Copies: 2}, DeclaredArray{Copies: 1}, 1},
		"as it was":            {Array{Level: RAID10, Copies: 3}, DeclaredArray{Level: RAID10}, 3},
		"of a level that came": {Array{Level: RAID1, Copies: 3, Volumes: make([]Volume, 3)}, DeclaredArray{Level: RAID10}, 2},
		"of mirrors":           {Array{Level: RAID10, Copies: 2, Volumes: make([]Volume, 3)}, DeclaredArray{Level: RAID1}, 3},
		"not known":            {Array{Level: RAID10}, DeclaredArray{}, 2},
		"none":                 {Array{Level: RAID0}, DeclaredArray{}, 0},
	} {
		a, top := c.was, &Topology{}
		if err := top.overlay(&a, &c.d); err != nil || a.Copies != c.want {
			t.Errorf("%s: %d, want %d; %v", name, a.Copies, c.want, err)
		}
	}
	// A figure that the machine shows and the declaration changes is noted, one that it does not show is not.
	for name, c := range map[string]struct {
		was   Array
		d     DeclaredArray
		notes string
	}{
		"a byte of a chunk": {Array{Name: "a", Level: RAID0, Chunk: 1}, DeclaredArray{Chunk: 4096}, "chunk of a is 4 KiB as declared (); the machine shows 1 B"},
		"no chunk":          {Array{Name: "a", Level: RAID0}, DeclaredArray{Chunk: 4096}, ""},
		"the same chunk":    {Array{Name: "a", Level: RAID0, Chunk: 4096}, DeclaredArray{Chunk: 4096}, ""},
		"another level":     {Array{Name: "a", Level: RAID0}, DeclaredArray{Level: RAID5}, "level of a is raid5 as declared (); the machine shows raid0"},
		"no level":          {Array{Name: "a"}, DeclaredArray{Level: RAID5}, ""},
		"one of one volume": {Array{Name: "a", Level: Single, Volumes: make([]Volume, 1)}, DeclaredArray{}, ""},
		"one of two":        {Array{Name: "a", Level: Single, Volumes: make([]Volume, 2)}, DeclaredArray{}, ": 2 volumes are declared for what looks like one; say its level, or the ceiling stays unknown"},
	} {
		a, top := c.was, &Topology{}
		if err := top.overlay(&a, &c.d); err != nil || strings.Join(top.Notes, "|") != c.notes {
			t.Errorf("%s: %q, want %q; %v", name, top.Notes, c.notes, err)
		}
	}
	if _, err := FromDeclaration(&Declaration{}); err == nil {
		t.Error("nothing is declared")
	}
	if _, err := FromDeclaration(nil); err == nil {
		t.Error("no declaration")
	}
	if top, err := FromDeclaration(&Declaration{Instance: &DeclaredInstance{Type: "c8g.2xlarge"}}); err != nil || top.Instance.Baseline.IOPS != 12000 {
		t.Errorf("%v", err)
	}
	for level, want := range map[Level]string{NoLevel: "the level is missing", RAID0: ""} {
		two := DeclaredArray{Name: "a", Level: level, Volumes: []DeclaredVolume{{Type: "gp3"}, {Type: "gp3"}}}
		top, err := FromDeclaration(&Declaration{Arrays: []DeclaredArray{two}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || err == nil && top.Arrays[0].Level != level {
			t.Errorf("two volumes, %q: %v", level, err)
		}
	}
	one := DeclaredArray{Name: "a", Level: Linear, Volumes: []DeclaredVolume{{Type: "gp3"}}}
	if top, err := FromDeclaration(&Declaration{Arrays: []DeclaredArray{one}}); err != nil || top.Arrays[0].Level != Linear {
		t.Errorf("a level that is stated stays: %v", err)
	}
}

// What a declared instance changes of the one that is there.
func TestDeclaredInstances(t *testing.T) {
	here := Instance{Type: "c8g.2xlarge", ID: "i-1", Baseline: Limits{IOPS: 12000}, BurstFor: time.Minute, Origin: Origin{Catalogue, "c"}}
	at := Origin{Declared, "f:1"}
	for name, c := range map[string]struct {
		was   Instance
		d     *DeclaredInstance
		typ   string
		iops  units.IOPS
		kind  OriginKind
		notes int
		err   bool
	}{
		"nothing":                 {here, nil, "c8g.2xlarge", 12000, Catalogue, 0, false},
		"the same type":           {here, &DeclaredInstance{Type: "c8g.2xlarge", Origin: at}, "c8g.2xlarge", 12000, Catalogue, 0, false},
		"another type":            {here, &DeclaredInstance{Type: "c8g.large", Origin: at}, "c8g.large", 3600, Catalogue, 1, false},
		"a type where none was":   {Instance{}, &DeclaredInstance{Type: "c8g.large", Origin: at}, "c8g.large", 3600, Catalogue, 0, false},
		"a baseline":              {here, &DeclaredInstance{Baseline: Limits{IOPS: 0.5}, Origin: at}, "c8g.2xlarge", 0.5, Declared, 0, false},
		"a burst":                 {here, &DeclaredInstance{Burst: Limits{IOPS: 7}, Origin: at}, "c8g.2xlarge", 12000, Declared, 0, false},
		"of no type and no limit": {Instance{}, &DeclaredInstance{Origin: at}, "", 0, "", 0, false},
		"a type of nowhere":       {here, &DeclaredInstance{Type: "x", Origin: at}, "", 0, "", 0, true},
		"of nowhere with limits":  {here, &DeclaredInstance{Type: "x", Baseline: Limits{IOPS: 5}, Origin: at}, "x", 5, Declared, 1, false},
		"of nowhere with a burst": {here, &DeclaredInstance{Type: "x", Burst: Limits{IOPS: 5}, Origin: at}, "x", 0, Declared, 1, false},
	} {
		top := &Topology{Instance: c.was}
		err := top.declareInstance(c.d)
		if (err != nil) != c.err {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if i := top.Instance; !c.err && (i.Type != c.typ || i.Baseline.IOPS != c.iops || i.Origin.Kind != c.kind || len(top.Notes) != c.notes || i.ID != c.was.ID) {
			t.Errorf("%s: %+v %q", name, i, top.Notes)
		}
	}
	for _, i := range []Instance{{Baseline: Limits{IOPS: 0.5}}, {Burst: Limits{Rate: 0.5}}} {
		if !i.Known() {
			t.Errorf("%+v is not known", i)
		}
	}
	for caps, want := range map[int]bool{0: false, 1: true} {
		if (Instance{Caps: make([]cloud.Cap, caps)}).Known() != want {
			t.Errorf("%d caps", caps)
		}
	}
	// Half an I/O is a limit, a byte a size, a nanosecond a latency; what follows from a size is inferred,
	// unless its tier was named.
	v := Volume{Device: "sda", Size: 7}
	if err := v.declare(DeclaredVolume{Limits: Limits{IOPS: 0.5, Rate: 0.5}, ReadLatency: 1, WriteLatency: 1, Merge: 1, Origin: at}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"sustained.iops", "sustained.rate", "read_latency", "write_latency"} {
		if v.Origins[key] != at {
			t.Errorf("%s: %+v", key, v.Origins)
		}
	}
	if _, told := v.Origins["size"]; told || v.Size != 7 || v.CountedIO != 1 {
		t.Errorf("%+v", v)
	}
	if err := v.declare(DeclaredVolume{Size: 1, Origin: at}); err != nil || v.Size != 1 || v.Origins["size"] != at {
		t.Errorf("a byte: %+v, %v", v, err)
	}
	for d, want := range map[DeclaredVolume]bool{{Type: "premium", Size: units.TiB}: true, {Type: "P30"}: false, {Type: "gp3"}: false} {
		if v := (Volume{}); v.declare(d) != nil || v.Inferred != want {
			t.Errorf("%+v: inferred %v", d, v.Inferred)
		}
	}
	drive := Volume{}
	if err := drive.declare(DeclaredVolume{Type: "P4510"}); err != nil || drive.Model != "P4510" || drive.Network {
		t.Errorf("%+v %v", drive, err)
	}
	local := Volume{}
	if err := local.declare(DeclaredVolume{Type: "nvme", Model: "P4510"}); err != nil || local.Model != "P4510" || local.Type != "nvme" {
		t.Errorf("%+v %v", local, err)
	}
	there := Volume{Device: "nvme0n1", Model: "own"}
	if err := there.declare(DeclaredVolume{Type: "P4510"}); err != nil || there.Model != "own" {
		t.Errorf("%+v %v", there, err)
	}
}

// Of volumes whose limits are not known it is said how many there are and how to declare them.
func TestUnknownVolumesAreNoted(t *testing.T) {
	known := Limits{IOPS: 5}
	for name, c := range map[string]struct {
		v    []Volume
		want string
	}{
		"all known":             {[]Volume{{Sustained: known}, {Sustained: known}}, ""},
		"one that is missing":   {[]Volume{{Sustained: known}, {Missing: true}}, ""},
		"of the network":        {[]Volume{{Network: true}, {Sustained: known}}, "the limits of its network volumes"},
		"the last not":          {[]Volume{{Network: true}, {}}, "the limits of its network volumes"},
		"known ones of network": {[]Volume{{Network: true, Sustained: known}, {}}, "--volumes"},
	} {
		top := &Topology{Arrays: []Array{{Path: "/dev/md0", Volumes: c.v}}}
		top.noteUnknown()
		got := strings.Join(top.Notes, "|")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) || strings.HasPrefix(name, "known ones") && strings.Contains(got, "its network volumes") {
			t.Errorf("%s: %q", name, got)
		}
	}
	// The sizes of the machine's cloud that fit it by CPUs and memory, of which up to 15 % are the kernel's.
	for _, c := range []struct {
		i      Instance
		cpus   int
		memory float64 // GiB
	}{
		{Instance{Cloud: "Azure"}, 8, 32},
		{Instance{Cloud: "Azure"}, 8, 32.001},
		{Instance{Cloud: "Azure"}, 8, 27.3},
		{Instance{Cloud: "Azure"}, 8, 27.1},
		{Instance{Cloud: "Azure"}, 7, 32},
		{Instance{Cloud: "Azure"}, 0, 32},
		{Instance{Cloud: "Google Cloud"}, 8, 31},
		{Instance{Cloud: "Azure", Type: "x"}, 8, 32},
		{Instance{}, 8, 32},
	} {
		top := &Topology{Instance: c.i, Host: Host{CPUs: c.cpus, Memory: units.Bytes(c.memory * float64(units.GiB))}}
		top.noteSize()
		got := strings.Join(top.Notes, "|")
		p, fit := cloud.Named(c.i.Cloud), 0
		if p == nil || c.i.Type != "" {
			if got != "" {
				t.Errorf("%+v: %q", c, got)
			}
			continue
		}
		for _, f := range p.Machines() {
			if share := float64(top.Host.Memory) / float64(f.Memory); c.cpus > 0 && f.VCPUs == c.cpus && share > 0.85 && share <= 1 {
				fit++
			}
		}
		want := "name it with --instance, such as "
		if fit == 0 {
			want = "name it with --instance"
		}
		if !strings.Contains(got, want) || fit > 0 && !strings.Contains(got, " fit "+strconv.Itoa(fit)+" type") || fit == 0 && strings.Contains(got, "such as") {
			t.Errorf("%+v: %d sizes fit; %q", c, fit, got)
		}
	}
	// A machine's network disks beside the paths under test, no partitions and none that is used there.
	ebs := func(name string, kind block.Kind) *block.Device {
		return &block.Device{Name: name, Kind: kind, Model: cloud.EBSModel, Serial: "vol0123456789abcdef0"}
	}
	top := &Topology{
		Arrays: []Array{{Volumes: []Volume{{Device: "nvme1n1"}}}},
		Tree: &block.Tree{Devices: map[string]*block.Device{
			"nvme1n1": ebs("nvme1n1", block.Disk), "nvme2n1": ebs("nvme2n1", block.Disk), "nvme2n1p1": ebs("nvme2n1p1", "part"),
			"sda": {Name: "sda", Kind: block.Disk},
		}},
	}
	if top.beside(); len(top.others) != 1 || top.others[0].Device != "nvme2n1" {
		t.Errorf("%+v", top.others)
	}
}
