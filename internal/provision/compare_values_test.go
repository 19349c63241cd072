package provision

import (
	"fmt"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// What verify says of an array's layout: the first word of each difference.
func TestLayoutsThatDiffer(t *testing.T) {
	md := func(change func(*block.Raid)) *block.Device {
		r := &block.Raid{Level: "raid10", Chunk: 64 * units.KiB, Layout: 0x102, Disks: 4, Action: "idle"}
		change(r)
		return &block.Device{Name: "md0", MD: r}
	}
	lv := func(segment string, chunk units.Bytes) *block.Device {
		return &block.Device{Name: "dm-0", LV: &block.Vol{Segment: segment, Chunk: chunk}}
	}
	ten := records.Want{Level: topology.RAID10, Copies: 2, Chunk: 64 * units.KiB}
	striped := records.Want{Level: topology.RAID0, Chunk: 64 * units.KiB}
	for name, c := range map[string]struct {
		want records.Want
		dev  *block.Device
		diff string
	}{
		"as wanted":            {ten, md(func(*block.Raid) {}), ""},
		"another level":        {ten, md(func(r *block.Raid) { r.Level = "raid0" }), "level raid10 raid0"},
		"another chunk":        {ten, md(func(r *block.Raid) { r.Chunk = 512 * units.KiB }), "chunk 64 KiB 512 KiB"},
		"three copies":         {ten, md(func(r *block.Raid) { r.Layout = 0x103 }), "copies 2 3"},
		"255 copies":           {ten, md(func(r *block.Raid) { r.Layout = 0x1ff }), "copies 2 255"},
		"copies of no RAID10":  {records.Want{Level: topology.RAID5, Chunk: 64 * units.KiB}, md(func(r *block.Raid) { r.Level, r.Layout = "raid5", 2 }), ""},
		"a chunk of no stripe": {records.Want{Level: topology.RAID1}, md(func(r *block.Raid) { r.Level = "raid1" }), ""},
		"one is missing":       {ten, md(func(r *block.Raid) { r.Degraded = 1 }), "members in place 4 3"},
		"a resync":             {ten, md(func(r *block.Raid) { r.Action, r.Progress = "resync", 0.5 }), "synchronised yes resync at 50.0 %"},
		"a check":              {ten, md(func(r *block.Raid) { r.Action = "check" }), ""},
		"no action":            {ten, md(func(r *block.Raid) { r.Action = "" }), ""},
		"LVM":                  {striped, lv("striped", 64*units.KiB), ""},
		"LVM's raid0":          {striped, lv("raid0", 64*units.KiB), "segment type striped raid0"},
		"raid0 as asked":       {func() records.Want { w := striped; w.Segment = "raid0"; return w }(), lv("raid0", 64*units.KiB), ""},
		"another stripe":       {striped, lv("striped", 4*units.KiB), "stripe size 64 KiB 4 KiB"},
		"one volume":           {records.Want{Level: topology.Single}, lv("linear", 0), ""},
		"one volume, striped":  {records.Want{Level: topology.Single}, lv("striped", 0), "segment type linear striped"},
		"mirrored":             {records.Want{Level: topology.RAID1}, lv("raid1", 7), ""},
		"a plain disk":         {ten, &block.Device{Name: "sda"}, ""},
	} {
		comp := &comparison{planner: &planner{}, w: &records.Work{Want: c.want}, dev: c.dev}
		comp.layout()
		var got []string
		for _, d := range comp.diffs {
			got = append(got, d.What+" "+d.Want+" "+d.Have)
		}
		if strings.Join(got, "|") != c.diff {
			t.Errorf("%s: %q, want %q", name, got, c.diff)
		}
	}
}

// What verify says of an array's volumes: their number, each that is wanted and not there, and where
// partitions begin.
func TestVolumesThatDiffer(t *testing.T) {
	tree := func() *block.Tree {
		return &block.Tree{Devices: map[string]*block.Device{
			"md0":  {Name: "md0", Path: "/dev/md0", Slaves: []string{"sda1", "sdb"}},
			"sda":  {Name: "sda", Path: "/dev/sda", Serial: "A", Kind: block.Disk},
			"sda1": {Name: "sda1", Path: "/dev/sda1", Parent: "sda", Kind: block.Partition, Start: units.MiB},
			"sdb":  {Name: "sdb", Path: "/dev/sdb", Serial: "vol1", Kind: block.Disk},
			"sdc":  {Name: "sdc", Path: "/dev/sdc", Serial: "C", Kind: block.Disk, Start: 1},
		}}
	}
	for name, c := range map[string]struct {
		members  []records.Member
		declared []topology.DeclaredVolume
		start    units.Bytes
		diff     string
	}{
		"by its journal":    {[]records.Member{{Serial: "A"}, {Serial: "vol1"}}, make([]topology.DeclaredVolume, 2), units.MiB, ""},
		"one is another":    {[]records.Member{{Serial: "A"}, {Serial: "B"}}, make([]topology.DeclaredVolume, 2), units.MiB, "volume B"},
		"one too many":      {[]records.Member{{Serial: "A"}}, make([]topology.DeclaredVolume, 1), units.MiB, "volumes"},
		"by serial and id":  {nil, []topology.DeclaredVolume{{Serial: "A"}, {ID: "vol-1"}}, units.MiB, ""},
		"by path":           {nil, []topology.DeclaredVolume{{Path: "/dev/sda"}, {ID: "vol-1"}}, units.MiB, ""},
		"by another path":   {nil, []topology.DeclaredVolume{{Path: "/dev/sdc"}, {ID: "vol-1"}}, units.MiB, "volume C"},
		"a path to nothing": {nil, []topology.DeclaredVolume{{Path: "/dev/sdz", Serial: "Z"}, {ID: "vol-1"}}, units.MiB, "volume Z"},
		"by nothing":        {nil, []topology.DeclaredVolume{{Type: "gp3"}, {Type: "gp3"}}, units.MiB, ""},
		"at two MiB":        {[]records.Member{{Serial: "A"}, {Serial: "vol1"}}, make([]topology.DeclaredVolume, 2), 2 * units.MiB, ""},
		"at sector 63":      {[]records.Member{{Serial: "A"}, {Serial: "vol1"}}, make([]topology.DeclaredVolume, 2), 63 * 512, "partition /dev/sda1"},
		"a byte beside":     {[]records.Member{{Serial: "A"}, {Serial: "vol1"}}, make([]topology.DeclaredVolume, 2), units.MiB + 1, "partition /dev/sda1"},
	} {
		p := &planner{tree: tree()}
		p.tree.Devices["sda1"].Start = c.start
		comp := &comparison{planner: p, w: &records.Work{Members: c.members}, dev: p.tree.Devices["md0"]}
		comp.volumes(&topology.DeclaredArray{Volumes: c.declared})
		var got []string
		for _, d := range comp.diffs {
			got = append(got, d.What)
		}
		if strings.Join(got, "|") != c.diff {
			t.Errorf("%s: %+v, want %q", name, comp.diffs, c.diff)
		}
	}
}

// Which volume is meant by its serial, id or path, and which may be a member at all.
func TestVolumesThatAreMeant(t *testing.T) {
	p := &planner{tree: &block.Tree{Devices: map[string]*block.Device{
		"sda":  {Name: "sda", Path: "/dev/sda", Serial: "A", Kind: block.Disk, Links: []string{"/dev/disk/by-id/a"}},
		"sda1": {Name: "sda1", Path: "/dev/sda1", Parent: "sda", Kind: block.Partition, Serial: "A1", Links: []string{"/dev/disk/by-id/a-part1"}},
		"sdb":  {Name: "sdb", Path: "/dev/sdb", Serial: "vol0123", Kind: block.Disk},
		"sdc":  {Name: "sdc", Path: "/dev/sdc", Kind: block.Disk, Links: []string{"/dev/disk/by-path/c"}},
	}}}
	for name, c := range map[string]struct {
		v    topology.DeclaredVolume
		want string
		err  string
	}{
		"by serial":             {topology.DeclaredVolume{Serial: "A"}, "sda", ""},
		"by id":                 {topology.DeclaredVolume{ID: "vol-0123"}, "sdb", ""},
		"by a serial with dash": {topology.DeclaredVolume{Serial: "vol-0123"}, "sdb", ""},
		"by link":               {topology.DeclaredVolume{Path: "/dev/disk/by-id/a"}, "sda", ""},
		"by serial before path": {topology.DeclaredVolume{Serial: "A", Path: "/dev/sdb"}, "sda", ""},
		"by id before path":     {topology.DeclaredVolume{ID: "vol-0123", Path: "/dev/sda"}, "sdb", ""},
		"by its kernel name":    {topology.DeclaredVolume{Path: "/dev/sda"}, "", "today it is {serial: A}"},
		"a name of nothing":     {topology.DeclaredVolume{Path: "/dev/sdz"}, "", "kernel names change between boots"},
		"a link to nothing":     {topology.DeclaredVolume{Path: "/dev/disk/by-id/z"}, "", "volume /dev/disk/by-id/z"},
		"a partition":           {topology.DeclaredVolume{Path: "/dev/disk/by-id/a-part1"}, "sda1", "arrays are made of whole drives"},
		"without an identity":   {topology.DeclaredVolume{Path: "/dev/disk/by-path/c"}, "sdc", "has neither serial number nor WWN"},
		"a serial of nothing":   {topology.DeclaredVolume{Serial: "Z"}, "", "Z"},
	} {
		d, err := p.one(c.v)
		got := ""
		if d != nil {
			got = d.Name
		}
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v; want %q, %q", name, got, err, c.want, c.err)
		}
	}
	if _, err := p.one(topology.DeclaredVolume{Path: "/dev/sdc"}); err == nil || strings.Contains(err.Error(), "today it is") {
		t.Errorf("what has no serial is not named by one: %v", err)
	}
	for v, want := range map[topology.DeclaredVolume]string{
		{Serial: "s", ID: "i"}: "s", {ID: "i", Path: "/p"}: "i", {Path: "/p"}: "/p", {Type: "gp3", Size: units.GiB}: "gp3 1 GiB", {Model: "M"}: "M", {Size: 1}: "1 B", {}: "",
	} {
		if got := records.Selector(v); got != want {
			t.Errorf("%+v: %q, want %q", v, got, want)
		}
	}
	like, rest := same([]topology.DeclaredVolume{{Type: "a"}, {Type: "b"}, {Type: "a"}})
	if len(like) != 2 || len(rest) != 1 || rest[0].Type != "b" {
		t.Errorf("%+v %+v", like, rest)
	}
}

// What holds a device that is to be given up: a mount, swap, another's array of it or of its partitions.
func TestDevicesThatAreIdle(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*block.Tree)
		destroy map[string]string
		want    string
	}{
		"mounted":            {func(tr *block.Tree) { tr.Mounts = []block.Mount{{Device: "sda", Point: "/m"}} }, nil, "/dev/sda is mounted on /m"},
		"its partition is":   {func(tr *block.Tree) { tr.Mounts = []block.Mount{{Device: "sda1", Point: "/m"}} }, nil, "/dev/sda1 is mounted on /m"},
		"swap":               {func(tr *block.Tree) { tr.Swaps = []string{"sda1"} }, nil, "used as swap"},
		"of no md":           {func(tr *block.Tree) { tr.Devices["sda"].Holders = []string{"dm-0"} }, nil, "/dev/dm-0, made of it, is in use"},
		"of an array of two": {func(tr *block.Tree) { tr.Devices["sda"].Holders = []string{"md0"} }, map[string]string{"sda": "A"}, "/dev/md0 also lies on /dev/sdb"},
		"of which both go":   {func(tr *block.Tree) { tr.Devices["sda"].Holders = []string{"md0"} }, map[string]string{"sda": "A", "sdb": "B"}, ""},
		"that is mounted": {func(tr *block.Tree) {
			tr.Devices["sda"].Holders, tr.Mounts = []string{"md0"}, []block.Mount{{Device: "md0", Point: "/m"}}
		}, map[string]string{"sda": "A", "sdb": "B"}, "/dev/md0, made of it, is in use"},
		"that is swap": {func(tr *block.Tree) { tr.Devices["sda"].Holders, tr.Swaps = []string{"md0"}, []string{"md0"} }, map[string]string{"sda": "A", "sdb": "B"}, "is in use"},
		"that others are of": {func(tr *block.Tree) {
			tr.Devices["sda"].Holders, tr.Devices["md0"].Holders = []string{"md0"}, []string{"dm-0"}
		}, map[string]string{"sda": "A", "sdb": "B"}, "is in use"},
		"a holder that is gone": {func(tr *block.Tree) { tr.Devices["sda"].Holders = []string{"md9"} }, nil, "/dev/md9, made of it, is in use"},
		"a partition that is not": {func(tr *block.Tree) {
			tr.Devices["sda"].Partitions, tr.Devices["sda"].Holders = []string{"sda9"}, []string{"md9"}
		}, nil, "/dev/md9"},
	} {
		tree := &block.Tree{Devices: map[string]*block.Device{
			"sda":  {Name: "sda", Path: "/dev/sda", Serial: "A", Kind: block.Disk, Partitions: []string{"sda1"}},
			"sda1": {Name: "sda1", Path: "/dev/sda1", Parent: "sda", Kind: block.Partition},
			"sdb":  {Name: "sdb", Path: "/dev/sdb", Serial: "B", Kind: block.Disk},
			"md0":  {Name: "md0", Path: "/dev/md0", Kind: block.MD, MD: &block.Raid{}, Slaves: []string{"sda", "sdb"}},
			"dm-0": {Name: "dm-0", Path: "/dev/dm-0", Kind: block.DM},
		}}
		c.change(tree)
		err := (&planner{Site: &Site{}, tree: tree, destroy: c.destroy}).idle(tree.Devices["sda"])
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// wipefs gives offsets as it likes; what is no number, or below nothing, is refused.
func TestOffsetsOfWipefs(t *testing.T) {
	for offset, want := range map[string]int64{"0x1000": 4096, "0": 0, "512": 512, "-1": -1, "x": -1, "": -1} {
		found, err := parseWipefs(fmt.Sprintf(`{"signatures":[{"type":"t","offset":%q}]}`, offset))
		if (err == nil) != (want >= 0) || err == nil && (len(found) != 1 || found[0].Offset != want) {
			t.Errorf("%q: %+v %v", offset, found, err)
		}
	}
}
