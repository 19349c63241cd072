package topology

import (
	"fmt"
	"math"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/units"
)

// pieces by brute force: the I/Os at every multiple of align, until the pattern repeats, and the
// chunks that each touches.
func pieces(bs, align, chunk int) float64 {
	total, n := 0, 0
	for at := 0; n == 0 || at%(align*chunk) != 0; at += align {
		total += (at+bs-1)/chunk - at/chunk + 1
		n++
	}
	return float64(total) / float64(n)
}

// The mean number of pieces by hand and by counting: 28 KiB on 64 KiB chunks at multiples of 28 KiB
// are 1 + (28-4)/64; at multiples of 8 KiB 28 KiB count as 32 of them: 1 + (32-8)/64.
func TestPiecesAligned(t *testing.T) {
	const k = 1024
	for _, c := range []struct {
		bs, align, chunk int
		want             float64
	}{
		{28, 28, 64, 1.375},
		{28, 28, 128, 1.1875},
		{28, 28, 512, 1.046875},
		{28, 8, 64, 1.375},
		{28, 4, 64, 1.375},
		{12, 8, 64, 1.125},
		{4, 8, 64, 1},
		{20, 16, 64, 1.25},
		{64, 64, 64, 1},
		{64, 4, 64, 1.9375},
		{128, 64, 64, 2},
		{100, 32, 64, 2.5},
		{3, 2, 8, 1.25},
		{5, 4, 8, 1.5},
	} {
		got := PiecesAligned(units.Bytes(c.bs*k), units.Bytes(c.align*k), units.Bytes(c.chunk*k))
		if counted := pieces(c.bs, c.align, c.chunk); got != c.want || math.Abs(got-counted) > 1e-12 {
			t.Errorf("%+v: %v, counted %v", c, got, counted)
		}
		if c.bs == c.align && Pieces(units.Bytes(c.bs*k), units.Bytes(c.chunk*k)) != c.want {
			t.Errorf("%+v: %v", c, Pieces(units.Bytes(c.bs*k), units.Bytes(c.chunk*k)))
		}
	}
	if PiecesAligned(0, 4, 8) != 1 || PiecesAligned(4, 4, 0) != 1 || PiecesAligned(5, 0, 8) != 1.5 {
		t.Error("what is not known is one piece; without alignment offsets fall on any byte")
	}
	for _, c := range [][3]units.Bytes{{12, 18, 6}, {18, 12, 6}, {7, 5, 1}, {8, 8, 8}, {5, 0, 5}, {0, 5, 5}} {
		if got := GCD(c[0], c[1]); got != c[2] {
			t.Errorf("%v: %d", c, got)
		}
	}
}

func TestLevelsByTheirKinds(t *testing.T) {
	for level, want := range map[Level]struct {
		striped, redundant, mirrored, known bool
		parity                              int
	}{
		Single: {known: true}, Linear: {known: true}, NoLevel: {}, "raid4": {},
		RAID0: {striped: true, known: true}, RAID1: {redundant: true, mirrored: true, known: true},
		RAID10: {striped: true, redundant: true, mirrored: true, known: true},
		RAID5:  {striped: true, redundant: true, known: true, parity: 1}, RAID6: {striped: true, redundant: true, known: true, parity: 2},
	} {
		if level.Striped() != want.striped || level.Redundant() != want.redundant || level.Mirrored() != want.mirrored || level.Known() != want.known || level.Parity() != want.parity {
			t.Errorf("%s", level)
		}
	}
	if DefaultChunk(LVM) != 64*units.KiB || DefaultChunk("md") != 512*units.KiB {
		t.Error("default chunks")
	}
	for _, c := range []struct {
		g            Geometry
		copies, data int
	}{
		{Geometry{Level: RAID10, Members: 4}, 2, 2},
		{Geometry{Level: RAID10, Members: 4, Copies: 3}, 3, 1},
		{Geometry{Level: RAID10, Members: 2, Copies: 3}, 2, 1},
		{Geometry{Level: RAID10}, 1, 1},
		{Geometry{Level: RAID1}, 1, 1},
		{Geometry{Level: RAID5, Members: 1}, 1, 1},
		{Geometry{Level: RAID6, Members: 3}, 1, 1},
		{Geometry{Level: RAID0}, 1, 0},
	} {
		if c.g.WriteCopies() != c.copies || c.g.DataMembers() != c.data {
			t.Errorf("%+v: %d copies, %d data", c.g, c.g.WriteCopies(), c.g.DataMembers())
		}
	}
	a := Array{Level: RAID10, Copies: 2, Chunk: 64 * units.KiB, Volumes: make([]Volume, 8)}
	if a.Stripe() != 256*units.KiB || a.DataMembers() != 4 {
		t.Errorf("%v %d", a.Stripe(), a.DataMembers())
	}
	var g Geometry
	for layout, want := range map[string]Geometry{
		"": {Copies: 2, Near: 2}, "n0": {Copies: 2, Near: 2}, "x": {Copies: 2, Near: 2}, "n1": {Copies: 1, Near: 1}, "f1": {Copies: 1, Near: 1}, "o3": {Copies: 3, Near: 1, Offset: true},
	} {
		g = Geometry{}
		if g.Mdadm(layout); g != want {
			t.Errorf("%q: %+v, want %+v", layout, g, want)
		}
	}
	for layout, want := range map[int]Geometry{
		0: {Copies: 2, Near: 2}, 0x102: {Copies: 2, Near: 2}, 0x202: {Copies: 4, Near: 2}, 0x001: {Copies: 1, Near: 1}, 0x300: {Copies: 3, Near: 1}, 0x10301: {Copies: 3, Near: 1, Offset: true},
	} {
		g = Geometry{}
		if g.Kernel(layout); g != want {
			t.Errorf("%#x: %+v, want %+v", layout, g, want)
		}
	}
}

// md's own facts, and LVM's segments.
func TestArraysAsTheKernelSaysThem(t *testing.T) {
	const k = 64 * units.KiB
	for name, c := range map[string]struct {
		r    block.Raid
		want Array
	}{
		"raid0":        {block.Raid{Level: "raid0", Chunk: k, Disks: 2}, Array{Level: RAID0, Chunk: k}},
		"raid1":        {block.Raid{Level: "raid1", Chunk: k, Disks: 3, Degraded: 1}, Array{Level: RAID1, Copies: 3, Degraded: 1}},
		"raid10":       {block.Raid{Level: "raid10", Chunk: k, Layout: 0x10201}, Array{Level: RAID10, Chunk: k, Copies: 2, Near: 1, Offset: true}},
		"unknown":      {block.Raid{Level: "raid4", Chunk: k}, Array{Chunk: k}},
		"idle":         {block.Raid{Level: "raid5", Action: "idle", Progress: 0.5}, Array{Level: RAID5}},
		"frozen":       {block.Raid{Level: "raid5", Action: "frozen", Progress: 0.5}, Array{Level: RAID5}},
		"synchronised": {block.Raid{Level: "raid5", Action: "resync", Progress: 0.5, SyncFloor: 7}, Array{Level: RAID5, Syncing: "resync", Progress: 0.5, SyncFloor: 7}},
	} {
		var a Array
		a.md(&c.r)
		if a.Level != c.want.Level || a.Chunk != c.want.Chunk || a.Copies != c.want.Copies || a.Near != c.want.Near || a.Offset != c.want.Offset || a.Degraded != c.want.Degraded ||
			a.Syncing != c.want.Syncing || a.Progress != c.want.Progress || a.SyncFloor != c.want.SyncFloor || a.Origin.Where != "/md" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	for segment, want := range map[string]struct {
		level  Level
		copies int
	}{"striped": {RAID0, 0}, "raid0_meta": {RAID0, 0}, "raid1": {RAID1, 3}, "mirror": {RAID1, 3}, "raid10": {RAID10, 2}, "raid6": {RAID6, 0}, "linear": {Linear, 0}, "thin": {NoLevel, 0}} {
		for _, inferred := range []bool{false, true} {
			var a Array
			a.lv(&block.Device{Name: "dm-0", LV: &block.Vol{Segment: segment, Stripes: 3, Chunk: k, Inferred: inferred}})
			if a.Level != want.level || a.Copies != want.copies || a.Chunk != k || (a.Origin.Where == "dmsetup table") == inferred {
				t.Errorf("%s: %+v", segment, a)
			}
		}
	}
}

// Stripes over arrays: of RAID0 the smaller chunk decides; of mirrors it is RAID10; all else is the
// outer layer.
func TestFoldedArrays(t *testing.T) {
	inner := func(level Level, chunk units.Bytes, copies, volumes int) Array {
		return Array{Name: "i", Level: level, Chunk: chunk, Copies: copies, Volumes: make([]Volume, volumes)}
	}
	with := func(a Array, change func(*Array)) Array { change(&a); return a }
	for name, c := range map[string]struct {
		outer  Array
		inner  []Array
		level  Level
		chunk  units.Bytes
		copies int
	}{
		"stripes of stripes":   {Array{Level: RAID0, Chunk: 128}, []Array{inner(RAID0, 64, 0, 2), inner(RAID0, 64, 0, 2)}, RAID0, 64, 0},
		"the outer is smaller": {Array{Level: RAID0, Chunk: 32}, []Array{inner(RAID0, 64, 0, 2), inner(RAID0, 64, 0, 2)}, RAID0, 32, 0},
		"no outer chunk":       {Array{Level: RAID0}, []Array{inner(RAID0, 64, 0, 2), inner(RAID0, 64, 0, 2)}, RAID0, 64, 0},
		"stripes of mirrors":   {Array{Level: RAID0, Chunk: 128}, []Array{inner(RAID1, 0, 2, 2), inner(RAID1, 0, 2, 2)}, RAID10, 128, 2},
		"stripes of raid10":    {Array{Level: RAID0, Chunk: 128}, []Array{inner(RAID10, 64, 2, 4), inner(RAID10, 64, 2, 4)}, RAID10, 64, 2},
		"stripes of raid5":     {Array{Level: RAID0, Chunk: 128}, []Array{inner(RAID5, 64, 0, 3), inner(RAID5, 64, 0, 3)}, RAID0, 128, 0},
		"unlike chunks":        {Array{Level: RAID0, Chunk: 128}, []Array{inner(RAID0, 64, 0, 2), inner(RAID0, 32, 0, 2)}, RAID0, 128, 0},
		"unlike levels":        {Array{Level: RAID0, Chunk: 128}, []Array{inner(RAID0, 64, 0, 2), inner(RAID1, 64, 0, 2)}, RAID0, 128, 0},
		"unlike copies":        {Array{Level: RAID0, Chunk: 128}, []Array{inner(RAID1, 0, 2, 2), inner(RAID1, 0, 3, 2)}, RAID0, 128, 0},
		"unlike volumes":       {Array{Level: RAID0, Chunk: 128}, []Array{inner(RAID1, 0, 2, 2), inner(RAID1, 0, 2, 3)}, RAID0, 128, 0},
		"mirrors of stripes":   {Array{Level: RAID1, Copies: 2}, []Array{inner(RAID0, 64, 0, 2), inner(RAID0, 64, 0, 2)}, RAID1, 0, 2},
	} {
		var top Topology
		top.fold(&c.outer, c.inner)
		if c.outer.Level != c.level || c.outer.Chunk != c.chunk || c.outer.Copies != c.copies || len(top.Notes) != 1 {
			t.Errorf("%s: %+v %q", name, c.outer, top.Notes)
		}
	}
	a, top := Array{Level: RAID0, Degraded: 1}, Topology{}
	top.fold(&a, []Array{
		with(inner(RAID1, 0, 2, 2), func(a *Array) { a.Degraded = 1 }),
		with(inner(RAID1, 0, 2, 2), func(a *Array) { a.Degraded, a.Syncing, a.Progress, a.SyncFloor = 2, "recover", 0.5, 9 }),
		with(inner(RAID1, 0, 2, 2), func(a *Array) { a.Syncing = "check" }),
	})
	if a.Degraded != 4 || a.Syncing != "recover" || a.Progress != 0.5 || a.SyncFloor != 9 {
		t.Errorf("%+v", a)
	}
}

// Which serial is that of an EBS volume: 17 or 8 hexadecimal digits.
func TestVolumesByTheirSerials(t *testing.T) {
	for serial, want := range map[string]string{
		"vol0123456789abcdef0": "vol-0123456789abcdef0", "vol-0123456789abcdef0": "vol-0123456789abcdef0", "vol01234567": "vol-01234567",
		"vol0123456789abcdef": "", "vol0123456": "", "vol0123456789abcdeg0": "", "0123456789abcdef0": "", "": "",
	} {
		if got := ebsID(serial); got != want {
			t.Errorf("%q: %q", serial, got)
		}
	}
	for name, c := range map[string]struct {
		d       block.Device
		network bool
		typ, id string
	}{
		"EBS":       {block.Device{Name: "nvme1n1", Model: "Amazon Elastic Block Store", Serial: "vol01234567"}, true, "", "vol-01234567"},
		"a drive":   {block.Device{Name: "nvme1n1", Model: "X", Serial: "Y"}, false, "nvme", ""},
		"a loop":    {block.Device{Name: "loop0", Kind: block.Loop}, false, "loop", ""},
		"a disk":    {block.Device{Name: "sda"}, false, "", ""},
		"by serial": {block.Device{Name: "nvme1n1", Serial: "vol01234567"}, true, "", "vol-01234567"},
	} {
		if v := volume(&c.d); v.Network != c.network || v.Type != c.typ || v.ID != c.id {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// blk-throttle counts whole I/Os in slices of a tenth of a second, from 10 a second on.
func TestEffectiveLimits(t *testing.T) {
	for _, c := range []struct {
		what        string
		limit, want float64
	}{{"riops", 38, 30}, {"wiops", 10, 10}, {"wiops", 9, 9}, {"wiops", 19, 10}, {"rbps", 38, 38}} {
		if got := (GroupLimit{What: c.what, Limit: c.limit}).Effective(); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestTargetsByRole(t *testing.T) {
	top := &Topology{Targets: []Target{{Role: Data, Path: "/d", Array: "md0"}}, Arrays: []Array{{Name: ""}, {Name: "md0"}}}
	if top.For(WAL) != nil || top.For(Data).Path != "/d" || top.Array("") != nil || top.Array("md1") != nil || top.Array("md0") != &top.Arrays[1] {
		t.Error("targets and arrays by name")
	}
	v := Volume{Origin: Origin{Kind: Catalogue}, Origins: map[string]Origin{"size": {Kind: Declared}}}
	if v.OriginOf("size").Kind != Declared || v.OriginOf("type").Kind != Catalogue {
		t.Error("origins")
	}
	if a := (Array{Origin: Origin{Kind: Detected}}); a.OriginOf("chunk").Kind != Detected {
		t.Error("origins of an array")
	}
	tree := &block.Tree{Devices: map[string]*block.Device{"sda": {Name: "sda", Path: "/dev/sda"}}}
	raw := &Topology{Tree: tree}
	if raw.RawDevice(&Target{Path: "/dev/sda"}) == nil || raw.RawDevice(&Target{Path: "/dev/sda", Mount: &block.Mount{}}) != nil || (&Topology{}).RawDevice(&Target{Path: "/dev/sda"}) != nil {
		t.Error("raw devices")
	}
}

// What a declared volume is by its type: one of the catalogue's, a drive by its model, a local one.
func TestDeclaredTypes(t *testing.T) {
	for name, c := range map[string]struct {
		had     Volume
		d       DeclaredVolume
		network bool
		typ     string
		iops    units.IOPS
		err     bool
	}{
		"gp3":                     {Volume{}, DeclaredVolume{Type: "gp3"}, true, "gp3", 3000, false},
		"nvme":                    {Volume{}, DeclaredVolume{Type: "nvme"}, false, "nvme", 0, false},
		"ssd":                     {Volume{}, DeclaredVolume{Type: "ssd"}, false, "ssd", 0, false},
		"hdd":                     {Volume{}, DeclaredVolume{Type: "hdd"}, false, "hdd", 0, false},
		"loop":                    {Volume{}, DeclaredVolume{Type: "loop"}, false, "loop", 0, false},
		"a trade name":            {Volume{}, DeclaredVolume{Type: "P4510"}, false, "nvme", 0, false},
		"by its model":            {Volume{}, DeclaredVolume{Type: "nvme", Model: "P4510"}, false, "nvme", 0, false},
		"a type of its own":       {Volume{}, DeclaredVolume{Type: "san", Limits: Limits{IOPS: 5}}, true, "san", 5, false},
		"a type of no limits":     {Volume{}, DeclaredVolume{Type: "san"}, false, "", 0, true},
		"limits alone":            {Volume{}, DeclaredVolume{Limits: Limits{IOPS: 5}}, true, "", 5, false},
		"limits of what is there": {Volume{Device: "sda"}, DeclaredVolume{Limits: Limits{IOPS: 5}}, false, "", 5, false},
		"a model alone":           {Volume{}, DeclaredVolume{Model: "P4510"}, false, "", 0, false},
	} {
		v := c.had
		err := v.declare(c.d)
		if (err != nil) != c.err || !c.err && (v.Network != c.network || v.Type != c.typ || v.Sustained.IOPS != c.iops) {
			t.Errorf("%s: %+v %v", name, v, err)
		}
	}
	v := Volume{Device: "sda", Serial: "own", Size: 7, Sustained: Limits{IOPS: 1, Rate: 2}, BurstIOs: 3, ReadLatency: 4, WriteLatency: 5}
	origin := Origin{Declared, "f:1"}
	if err := v.declare(DeclaredVolume{Serial: "S", Size: 9, Limits: Limits{Rate: 20}, BurstBytes: 30, WriteLatency: 50, Merge: 60, Origin: origin}); err != nil {
		t.Fatal(err)
	}
	if v.Serial != "own" || v.Size != 9 || v.Sustained != (Limits{IOPS: 1, Rate: 20}) || v.BurstIOs != 3 || v.BurstBytes != 30 || v.ReadLatency != 4 || v.WriteLatency != 50 || v.CountedIO != 60 || !v.Merges {
		t.Errorf("%+v", v)
	}
	for figure, want := range map[string]bool{"size": true, "type": false, "sustained.iops": false, "sustained.rate": true, "read_latency": false, "write_latency": true} {
		if _, said := v.Origins[figure]; said != want {
			t.Errorf("%s: %v", figure, said)
		}
	}
}

// One volume on a line, its words in any order, each said once.
func TestVolumesOnALine(t *testing.T) {
	for line, want := range map[string]string{
		"8xgp3": "8 gp3", "4 × gp2 3000 GiB": "4 gp2 2.93 TiB", "2*3000iops:125MiB/s": "2 3,000 125 MiB/s", "gp3 16000iops": "0 gp3 16,000", "1024xgp3": "1024 gp3",
		"1025xgp3": "!", "0xgp3": "!", "gp3 gp2": "!", "gp3 5": "!", "gp3 0iops": "!", "gp3 0MiB/s": "!", "100iops 200iops": "!", "1MiB/s 2MiB/s": "!", "1GiB 2GiB": "!", "gp3 0GiB": "!",
	} {
		n, v, err := parseVolumes(line)
		got := "!"
		if err == nil {
			got = fmt.Sprint(n)
			if v.Type != "" {
				got += " " + v.Type
			}
			if v.Size > 0 {
				got += " " + v.Size.String()
			}
			if v.Limits.IOPS > 0 {
				got += " " + v.Limits.IOPS.String()
			}
			if v.Limits.Rate > 0 {
				got += " " + v.Limits.Rate.String()
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", line, got, want, err)
		}
	}
}

// The link by which a disk is found again: with its serial number, then the shortest.
func TestLinkOfADisk(t *testing.T) {
	for _, c := range []struct {
		serial string
		links  []string
		want   string
	}{
		{"S1", []string{"/dev/disk/by-id/wwn-1", "/dev/disk/by-id/nvme-long-S1", "/dev/disk/by-id/nvme-S1", "/dev/disk/by-path/S1"}, "/dev/disk/by-id/nvme-S1"},
		{"S1", []string{"/dev/disk/by-id/bb", "/dev/disk/by-id/aa"}, "/dev/disk/by-id/aa"},
		{"", []string{"/dev/disk/by-id/bbb", "/dev/disk/by-id/cc"}, "/dev/disk/by-id/cc"},
		{"S1", []string{"/dev/disk/by-path/S1"}, ""},
	} {
		if got := byID(&block.Device{Serial: c.serial, Links: c.links}); got != c.want {
			t.Errorf("%q: %s", c.links, got)
		}
	}
}

// The least volumes of each level, and chunks at their bounds.
func TestDeclaredBounds(t *testing.T) {
	for _, c := range []struct {
		volumes, level, chunk string
		ok                    bool
	}{
		{"1xgp3", "raid0", "", false},
		{"2xgp3", "raid0", "", true},
		{"1xgp3", "raid1", "", false},
		{"2xgp3", "raid1", "", true},
		{"1xgp3", "raid10", "", false},
		{"2xgp3", "raid10", "", true},
		{"2xgp3", "raid5", "", false},
		{"3xgp3", "raid5", "", true},
		{"3xgp3", "raid6", "", false},
		{"4xgp3", "raid6", "", true},
		{"2xgp3", "single", "", false},
		{"1xgp3", "single", "", true},
		{"2xgp3", "raid0", "4KiB", true},
		{"2xgp3", "raid0", "2KiB", false},
		{"2xgp3", "raid0", "6KiB", false},
		{"2xgp3", "raid0", "1GiB", true},
		{"2xgp3", "raid0", "1048580KiB", false},
		{"2xgp3", "raid0", "12KiB", true},
	} {
		d, err := FromFlags(c.volumes, c.level, c.chunk, "")
		if err == nil {
			_, err = FromDeclaration(d)
		}
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
