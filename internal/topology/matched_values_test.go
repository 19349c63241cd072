package topology

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/units"
)

// Which arrays a declared one is about, by the surest sign that there is: md0 is mounted on /d for the data,
// md1 on /w for the log, and md2 is none of the paths under test.
func TestWhatADeclarationIsAbout(t *testing.T) {
	top := &Topology{
		Tree: &block.Tree{Devices: map[string]*block.Device{}},
		Targets: []Target{
			{Role: Data, Array: "md0", Mount: &block.Mount{Point: "/d"}},
			{Role: WAL, Array: "md1", Mount: &block.Mount{Point: "/w"}},
			{Role: WAL, Array: "", Mount: &block.Mount{Point: "/none"}},
		},
	}
	for i := range 3 {
		top.Arrays = append(top.Arrays, Array{Name: fmt.Sprint("md", i), Volumes: []Volume{{Device: fmt.Sprint("d", i), Serial: fmt.Sprint("S", i)}}})
	}
	mounted := func(point string) *DeclaredFilesystem { return &DeclaredFilesystem{Mount: point} }
	serials := func(of ...string) (all []DeclaredVolume) {
		for _, s := range of {
			all = append(all, DeclaredVolume{Serial: s})
		}
		return all
	}
	for name, c := range map[string]struct {
		file string
		d    DeclaredArray
		want string
		by   sign
	}{
		"flags":                    {"", DeclaredArray{Roles: Roles, Volumes: serials("S2")}, "md0 md1 md2", byFlags},
		"a volume":                 {"f", DeclaredArray{Name: "md1", Roles: Roles, Volumes: serials("S2")}, "md2", byVolumes},
		"volumes of two":           {"f", DeclaredArray{Volumes: serials("S2", "S0")}, "md0 md2", byVolumes},
		"a volume of none":         {"f", DeclaredArray{Name: "md1", Volumes: serials("S9")}, "md1", byName},
		"its mount point":          {"f", DeclaredArray{Name: "md1", Roles: []Role{WAL}, Filesystem: mounted("/d/")}, "md0", byMount},
		"another mount point":      {"f", DeclaredArray{Name: "md2", Roles: []Role{WAL}, Filesystem: mounted("/e")}, "md2", byName},
		"that of no array":         {"f", DeclaredArray{Name: "md2", Roles: []Role{WAL}, Filesystem: mounted("/none")}, "md2", byName},
		"its name":                 {"f", DeclaredArray{Name: "md2", Roles: []Role{WAL}}, "md2", byName},
		"its role":                 {"f", DeclaredArray{Name: "x", Roles: []Role{WAL}}, "md1", byRole},
		"both roles":               {"f", DeclaredArray{Name: "x", Roles: Roles}, "md0 md1", byRole},
		"nothing":                  {"f", DeclaredArray{Name: "x"}, "", byRole},
		"a filesystem of no mount": {"f", DeclaredArray{Name: "x", Roles: []Role{WAL}, Filesystem: mounted("")}, "md1", byRole},
	} {
		arrays, by := top.match(&Declaration{Name: c.file}, &c.d)
		if got := strings.Join(arrays, " "); got != c.want || by != c.by {
			t.Errorf("%s: %q by %v, want %q by %v", name, got, by, c.want, c.by)
		}
	}
	// Whose an array is that several are about, and who has yielded: by the surer sign, else the data's.
	by := func(name string, roles []Role, f *DeclaredFilesystem, of ...string) DeclaredArray {
		return DeclaredArray{Name: name, Roles: roles, Filesystem: f, Volumes: serials(of...), Origin: Origin{Declared, "f:" + name}}
	}
	for name, c := range map[string]struct {
		file string
		of   []DeclaredArray
		want []string // arrays of each, ! where it has yielded
		err  string
	}{
		"each its own":       {"f", []DeclaredArray{by("x", []Role{Data}, nil), by("y", []Role{WAL}, nil)}, []string{"md0", "md1"}, ""},
		"a role before all":  {"f", []DeclaredArray{by("x", []Role{Data}, nil), by("y", nil, mounted("/d"))}, []string{"!", "md0"}, ""},
		"a role behind all":  {"f", []DeclaredArray{by("x", nil, mounted("/d")), by("y", []Role{Data}, nil)}, []string{"md0", "!"}, ""},
		"a name and a mount": {"f", []DeclaredArray{by("md0", nil, nil), by("y", nil, mounted("/d"))}, []string{"!", "md0"}, ""},
		"a volume of it":     {"f", []DeclaredArray{by("x", nil, nil, "S0"), by("y", nil, mounted("/d"))}, []string{"md0", "!"}, ""},
		"two of its volumes": {"f", []DeclaredArray{by("x", nil, nil, "S0"), by("y", nil, nil, "S0")}, nil, "f:y: arrays x and y (f:x) both refer to md0 by their named volumes"},
		"two of its mounts":  {"f", []DeclaredArray{by("x", nil, mounted("/d")), by("y", nil, mounted("/d"))}, nil, "by their mount point"},
		"two of its names":   {"f", []DeclaredArray{by("md2", nil, nil), by("md2", nil, nil)}, nil, "by their name"},
		"two of the log's":   {"f", []DeclaredArray{by("x", []Role{WAL}, nil), by("y", []Role{WAL}, nil)}, []string{"md1", "!"}, ""},
		"the data's comes":   {"f", []DeclaredArray{by("x", []Role{WAL}, nil), by("y", Roles, nil)}, []string{"!", "md0 md1"}, ""},
		"about nothing":      {"f", []DeclaredArray{by("x", nil, nil)}, []string{""}, ""},
		"two sets of flags":  {"", []DeclaredArray{by("", Roles, nil), by("", Roles, nil)}, []string{"md0 md1 md2", "md0 md1 md2"}, ""},
		"a part of two":      {"f", []DeclaredArray{by("x", Roles, nil), by("y", nil, mounted("/w"))}, []string{"md0", "md1"}, ""},
	} {
		all, err := top.claims(&Declaration{Name: c.file, Arrays: c.of})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		for i, want := range c.want {
			got := strings.Join(all[i].arrays, " ")
			if all[i].yielded {
				got += "!"
			}
			if got != want {
				t.Errorf("%s, %d: %q, want %q", name, i, got, want)
			}
		}
	}
}

// Where declared volumes go of those that are there: to the one that they name, the others to the places
// that are left, in their order.
func TestWhereDeclaredVolumesGo(t *testing.T) {
	there := func(serials ...string) []Volume {
		var all []Volume
		for _, s := range serials {
			all = append(all, Volume{Device: "d" + s, Serial: s})
		}
		return all
	}
	of := func(serial string, iops units.IOPS) DeclaredVolume {
		return DeclaredVolume{Serial: serial, Limits: Limits{IOPS: iops}, Origin: Origin{Declared, "f:1"}}
	}
	tree := &block.Tree{Devices: map[string]*block.Device{}}
	for name, c := range map[string]struct {
		tree *block.Tree
		v    []Volume
		d    DeclaredArray
		want string // serial/IOPS of each
		note string
	}{
		"none":               {tree, there("A", "B"), DeclaredArray{}, "A/0 B/0", ""},
		"in their order":     {tree, there("A", "B"), DeclaredArray{Volumes: []DeclaredVolume{of("", 1), of("", 2)}}, "A/1 B/2", ""},
		"by their names":     {tree, there("A", "B"), DeclaredArray{Volumes: []DeclaredVolume{of("B", 1), of("A", 2)}}, "A/2 B/1", ""},
		"one by its name":    {tree, there("A", "B", "C"), DeclaredArray{Volumes: []DeclaredVolume{of("", 1), of("A", 2), of("", 3)}}, "A/2 B/1 C/3", ""},
		"one that is not":    {tree, there("A", "B"), DeclaredArray{Volumes: []DeclaredVolume{of("Z", 1), of("B", 2)}}, "A/1 B/2", "f:1: the volume Z is not in md0"},
		"each":               {tree, there("A", "B", "C"), DeclaredArray{Each: true, Volumes: []DeclaredVolume{of("", 5)}}, "A/5 B/5 C/5", ""},
		"each of one":        {tree, there("A"), DeclaredArray{Each: true, Volumes: []DeclaredVolume{of("", 5)}}, "A/5", ""},
		"each of none":       {tree, nil, DeclaredArray{Each: true, Volumes: []DeclaredVolume{of("", 5)}}, "/5", ""},
		"more than there":    {tree, there("A"), DeclaredArray{Volumes: []DeclaredVolume{of("", 1), of("", 2)}}, "/1 /2", "the number of volumes of md0 is 2 as declared (); the machine shows 1"},
		"fewer than there":   {tree, there("A", "B"), DeclaredArray{Volumes: []DeclaredVolume{of("", 1)}}, "/1", "the number of volumes of md0 is 1 as declared (); the machine shows 2"},
		"where nothing is":   {tree, nil, DeclaredArray{Volumes: []DeclaredVolume{of("Z", 1), of("", 2)}}, "Z/1 /2", ""},
		"without any device": {nil, there("A", "B"), DeclaredArray{Volumes: []DeclaredVolume{of("", 1), of("", 2)}}, "A/1 B/2", ""},
	} {
		top, a := &Topology{Tree: c.tree}, &Array{Name: "md0", Volumes: c.v}
		if err := top.overlayVolumes(a, &c.d); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range a.Volumes {
			got = append(got, v.Serial+"/"+v.Sustained.IOPS.String())
		}
		if s := strings.Join(got, " "); s != c.want || strings.Join(top.Notes, "|") != c.note {
			t.Errorf("%s: %q, want %q; %q", name, s, c.want, top.Notes)
		}
	}
	// Its level is what it says, else that of one volume.
	for _, c := range []struct {
		level Level
		n     int
		want  Level
	}{{NoLevel, 1, Single}, {Linear, 1, Linear}, {RAID0, 2, RAID0}, {NoLevel, 2, NoLevel}} {
		top := &Topology{Tree: tree, Targets: []Target{{Role: Data}}}
		d := DeclaredArray{Name: "x", Level: c.level, Roles: Roles, Volumes: make([]DeclaredVolume, c.n)}
		if err := top.declare(&Declaration{Name: "f", Arrays: []DeclaredArray{d}}); err != nil || top.Arrays[0].Level != c.want || len(top.Arrays[0].Volumes) != c.n {
			t.Errorf("%d of %q: %+v, %v", c.n, c.level, top.Arrays, err)
		}
	}
	// One that has yielded to a surer one is not looked for any more.
	top := &Topology{Tree: tree, Arrays: []Array{{Name: "md0", Level: Single, Volumes: there("A")}}, Targets: []Target{{Role: Data, Array: "md0", Mount: &block.Mount{Point: "/d"}}}}
	surer := DeclaredArray{Name: "y", Filesystem: &DeclaredFilesystem{Mount: "/d"}, Volumes: []DeclaredVolume{of("", 7)}}
	err := top.declare(&Declaration{Name: "f", Arrays: []DeclaredArray{{Name: "x", Roles: Roles, Volumes: []DeclaredVolume{of("", 5)}}, surer}})
	if err != nil || len(top.Notes) > 0 || len(top.Arrays) != 1 || top.Arrays[0].Volumes[0].Sustained.IOPS != 7 {
		t.Errorf("%v; %q, %+v", err, top.Notes, top.Arrays)
	}
	// A declared array that is about none of those there goes to the targets of its role that have none.
	for name, c := range map[string]struct {
		targets []Target
		d       DeclaredArray
		want    string // arrays of the targets
		arrays  int
		note    bool
	}{
		"to both":        {[]Target{{Role: Data}, {Role: WAL}}, DeclaredArray{Name: "x", Roles: Roles}, "x x", 1, false},
		"to its own":     {[]Target{{Role: Data}, {Role: WAL}}, DeclaredArray{Name: "x", Roles: []Role{WAL}}, " x", 1, false},
		"of no name":     {[]Target{{Role: Data}}, DeclaredArray{Roles: Roles}, "declared", 1, false},
		"where one is":   {[]Target{{Role: Data, Array: "md0"}}, DeclaredArray{Name: "x", Roles: Roles}, "md0", 1, false},
		"of other roles": {[]Target{{Role: Data}}, DeclaredArray{Name: "x", Roles: []Role{WAL}}, "", 0, true},
	} {
		top := &Topology{Tree: tree, Targets: c.targets}
		if c.targets[0].Array != "" {
			top.Arrays = []Array{{Name: "md0", Level: Single}}
		}
		c.d.Volumes = []DeclaredVolume{of("", 1)}
		if err := top.declare(&Declaration{Name: "f", Arrays: []DeclaredArray{c.d}}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, target := range top.Targets {
			got = append(got, target.Array)
		}
		if s := strings.Join(got, " "); s != c.want || len(top.Arrays) != c.arrays || (len(top.Notes) > 0) != c.note || c.arrays > 0 && top.Arrays[0].Level != Single {
			t.Errorf("%s: %q, want %q; %d arrays, %q", name, s, c.want, len(top.Arrays), top.Notes)
		}
	}
}

// What a declaration alone makes of an array: its level, its chunk with the program whose default it is,
// its size and its targets.
func TestTopologyOfADeclaration(t *testing.T) {
	two := []DeclaredVolume{{Type: "gp3", Size: units.GiB}, {Type: "gp3", Size: units.GiB}}
	for name, c := range map[string]struct {
		d     DeclaredArray
		level Level
		chunk units.Bytes
		from  string // origin of the chunk
		size  units.Bytes
		err   string
	}{
		"no volumes":      {DeclaredArray{Level: RAID0, Origin: Origin{Declared, "f:1"}}, "", 0, "", 0, "f:1: volumes are missing"},
		"one of no level": {DeclaredArray{Volumes: two[:1]}, Single, 0, "", units.GiB, ""},
		"two of no level": {DeclaredArray{Volumes: two, Origin: Origin{Declared, "f:1"}}, "", 0, "", 0, "f:1: the level is missing; state that of the 2 volumes with --level, or level: in a file, such as raid10"},
		"of md":           {DeclaredArray{Level: RAID0, Volumes: two}, RAID0, 512 * units.KiB, "the default of mdadm", 2 * units.GiB, ""},
		"of LVM":          {DeclaredArray{Level: RAID0, Using: LVM, Volumes: two}, RAID0, 64 * units.KiB, "the default of lvcreate", 2 * units.GiB, ""},
		"a chunk":         {DeclaredArray{Level: RAID0, Chunk: 4 * units.KiB, Volumes: two, Origin: Origin{Declared, "f:1"}}, RAID0, 4 * units.KiB, "f:1", 2 * units.GiB, ""},
		"without one":     {DeclaredArray{Level: RAID1, Volumes: two}, RAID1, 0, "", units.GiB, ""},
	} {
		c.d.Roles = Roles
		top, err := FromDeclaration(&Declaration{Arrays: []DeclaredArray{c.d}})
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if err != nil {
			continue
		}
		a := top.Arrays[0]
		if a.Name != "declared" || a.Level != c.level || a.Chunk != c.chunk || a.Origins["chunk"].Where != c.from || a.Size != c.size || len(top.Targets) != 2 || top.Targets[1].Array != "declared" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	// How many volumes to declare, and of which type: that of the machine's cloud.
	for name, c := range map[string]struct {
		cloud string
		v     []Volume
		want  string
	}{
		"one":                      {"", []Volume{{}}, "the limits of its volumes are unknown; declare them, for example with --volumes 3000iops:125MiB/s"},
		"two":                      {"", []Volume{{}, {}}, "for example with --volumes 2x3000iops:125MiB/s"},
		"one of the network":       {"", []Volume{{Network: true}}, "for example with --volumes gp3"},
		"two of it":                {"", []Volume{{Network: true}, {Network: true, Sustained: Limits{IOPS: 1}}}, "for example with --volumes 2xgp3"},
		"of Azure's":               {"Azure", []Volume{{Network: true}}, "for example with --volumes P30"},
		"a burst, but no baseline": {"", []Volume{{Burst: Limits{IOPS: 1}}}, "unknown"},
	} {
		top := &Topology{Instance: Instance{Cloud: c.cloud}, Arrays: []Array{{Path: "/dev/md0", Volumes: c.v}}}
		if top.noteUnknown(); len(top.Notes) != 1 || !strings.HasPrefix(top.Notes[0], "/dev/md0: ") || !strings.HasSuffix(top.Notes[0], c.want) && !strings.Contains(top.Notes[0], c.want+";") {
			t.Errorf("%s: %q, want %q", name, top.Notes, c.want)
		}
	}
	// Of which volumes a cloud gave no balance, three by their names; that of volumes without a burst is not
	// asked for.
	for n, want := range map[int]string{
		0: "", 1: "the burst balance of v0 is not known: no", 3: "the burst balance of v0, v1, v2 is not known: no", 4: "the burst balance of v0, v1 and 2 more is not known: no",
		6: "the burst balance of v0, v1 and 4 more is not known: no",
	} {
		a := Array{Volumes: []Volume{{ID: "flat", Sustained: Limits{IOPS: 1}}}}
		for i := range n {
			a.Volumes = append(a.Volumes, Volume{ID: fmt.Sprint("v", i), Burst: Limits{IOPS: 1}})
		}
		top := &Topology{Arrays: []Array{a}}
		if top.askBalances(t.Context(), &watched{cloud: cloud.AWS(), failed: errors.New("no")}); strings.Join(top.Notes, "|") != want {
			t.Errorf("%d volumes: %q, want %q", n, top.Notes, want)
		}
	}
}

// What a machine says of itself: the last of its processors' names, its memory in KiB, its system's name
// without quotes, and what it runs on.
func TestHostByHand(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	root := fstest.MapFS{
		"proc/sys/kernel/hostname":  file("db1\n"),
		"proc/sys/kernel/osrelease": file("6.1.0\n"),
		"etc/os-release":            file("NAME=x\n PRETTY_NAME=\"Debian 12\"\nVERSION=y\n"),
		"proc/cpuinfo":              file("processor\t: 0\nmodel name\t: A CPU\n\nprocessor\t: 1\nmodel name\t: A CPU\nflags\t\t: processor\n"),
		"proc/meminfo":              file("MemTotal:\nMemFree: 1 kB\nMemTotal:       2048 kB\n"),
	}
	if h := ReadHost(root); h.Name != "db1" || h.Kernel != "6.1.0" || h.OS != "Debian 12" || h.CPUs != 2 || h.CPU != "A CPU" || h.Memory != 2*units.MiB || h.Virt != "" {
		t.Errorf("%+v", h)
	}
	root["proc/meminfo"] = file("MemTotal: 2048\nMemTotal: x kB\n")
	root["sys/hypervisor/type"] = file("xen\n")
	if h := ReadHost(root); h.Memory != 2*units.MiB || h.Virt != "xen" {
		t.Errorf("%+v", h)
	}
	for vendor, want := range map[string]string{"QEMU": "QEMU", "VMware, Inc.": "VMware, Inc.", "Dell Inc.": "xen"} {
		root["sys/class/dmi/id/sys_vendor"] = file(vendor + "\n")
		if got := virt(root); got != want {
			t.Errorf("%s: %q, want %q", vendor, got, want)
		}
	}
	for name, want := range map[string]string{"": "8xgp3", "Azure": "8xP30", "nowhere": "8xgp3"} {
		if got := (Instance{Cloud: name}).Example(); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
}

// Which disks a description picks, and why not others: two of 3 TiB, and of 1 TiB one that is free, one of
// no serial number and one in use; two of 2 TiB have one number.
func TestWhichDisksArePicked(t *testing.T) {
	disk := func(path, serial, typ string, tib int, uses ...string) Disk {
		v := Volume{Serial: serial, Type: typ, Size: units.Bytes(tib) * units.TiB, Network: true, Sustained: Limits{IOPS: 3000}}
		return Disk{Volume: v, Path: path, Uses: uses}
	}
	inv := &Inventory{Disks: []Disk{
		disk("/a", "S1", "gp3", 3), disk("/b", "S2", "io2", 3), disk("/c", "S3", "gp3", 1), disk("/d", "", "gp3", 1), disk("/e", "S5", "gp3", 1, "it is mounted", "busy"),
		disk("/f", "S6", "", 2), disk("/g", "S6", "", 2),
	}}
	const used = "; these would match, but are not free: /d (it has no serial number: it could not be found again after a boot); /e (it is mounted, busy)"
	for description, c := range map[string]struct {
		taken string
		want  string // serials and level, or the error's end
	}{
		"3TiB gp3":        {"", "data S1 single"},
		"unused IO2":      {"", "data S2 single"},
		"data:io2":        {"", "data S2 single"},
		"wal: 3TiB RAID1": {"", "wal S1 S2 raid1"},
		"2 x 3TiB":        {"", "data S1 S2 raid0"},
		"3TiB raid10":     {"", "data S1 S2 raid10"},
		"3TiB":            {"/a", "data S2 single"},
		"1TiB":            {"", "data S3 single"},
		"":                {"", "data S1 S2 S3 raid0"},
		"3 ×":             {"", "data S1 S2 S3 raid0"},
		"2 x 1TiB":        {"", `--yaml "2 x 1TiB": found 1 of 2 matching unused disks` + used},
		"1 x 3TiB":        {"", `--yaml "1 x 3TiB": 2 unused disks match: /a (3 TiB, gp3), /b (3 TiB, io2); add a size or type, or ask for 2`},
		"3 x 3TiB":        {"", `--yaml "3 x 3TiB": found 2 of 3 matching unused disks`},
		"io2 raid1":       {"", `--yaml "io2 raid1": raid1 needs at least 2 volumes, but there are 1`},
		"2 x 3TiB single": {"", `--yaml "2 x 3TiB single": level single is one volume, but there are 2`},
		"9TiB":            {"", `--yaml "9TiB": found 0 of 1 matching unused disks`},
		"1TiB gp3":        {"/c", `--yaml "1TiB gp3": found 0 of 1 matching unused disks` + used},
		"2TiB": {"", `found 0 of 1 matching unused disks; these would match, but are not free: /f (its serial number S6 is also that of /g: name it by a link below ` +
			`/dev/disk/by-path); /g (its serial number S6 is also that of /f: name it by a link below /dev/disk/by-path)`},
		"x: io2":  {"", "volumes"},
		"gp3 io2": {"", "repeats what was already stated"},
	} {
		taken := map[string]bool{c.taken: true}
		yaml, err := inv.Pick(description, taken)
		if err != nil {
			if !strings.HasSuffix(err.Error(), c.want) && c.want != "volumes" && c.want != "repeats what was already stated" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q: %v, want %q", description, err, c.want)
			}
			continue
		}
		d, err := LoadDeclaration("f.yaml", []byte("arrays:\n"+yaml))
		if err != nil {
			t.Errorf("%q: %v\n%s", description, err, yaml)
			continue
		}
		got := d.Arrays[0].Name
		for _, v := range d.Arrays[0].Volumes {
			got += " " + v.Serial
		}
		if got += " " + string(d.Arrays[0].Level); got != c.want || len(taken) != 1+len(d.Arrays[0].Volumes) {
			t.Errorf("%q: %s, want %s; %v", description, got, c.want, taken)
		}
	}
}
