package topology

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/sys"
)

// Of several mistakes the first one is said, by its key and its line.
func TestTheFirstMistakeIsSaid(t *testing.T) {
	volume := func(v string) string { return "arrays:\n  - name: a\n    level: single\n    volumes: [{" + v + "}]\n" }
	for yaml, want := range map[string]string{
		volume("count: 0, size: 0B"):                                    ":4: volumes.count: 0: want from 1 to 1024",
		volume("count: -1, serial: s"):                                  ":4: volumes.count: -1:",
		volume("count: 1025"):                                           ":4: volumes.count: 1025:",
		volume("count: x, burst_iops: 5"):                               ":4: volumes.count: ",
		volume("size: 0B, burst_iops: 5"):                               ":4: volumes.size: \"0B\": want more than 0",
		volume("size: 0B, iops: 0"):                                     ":4: volumes.size: ",
		volume("size: 0B"):                                              ":4: volumes.size: ",
		volume("size: 0B, path: /x"):                                    ":4: volumes.size: ",
		volume("burst_iops: 5, read_latency: x"):                        ":4: volumes.read_latency: ",
		volume("burst_iops: 5"):                                         ":4: volumes: burst_iops goes with",
		volume("read_latency: x, write_latency: y"):                     ":4: volumes.read_latency: ",
		volume("caching: x, path: /x"):                                  ":4: volumes.caching: ",
		volume("count: 2, serial: s"):                                   ":4: volumes: s is one volume, not 2",
		volume("count: 2, id: i"):                                       ":4: volumes: i is one volume, not 2",
		volume("count: 2, path: /dev/x"):                                ":4: volumes: /dev/x is one volume, not 2",
		volume("count: 1, serial: s"):                                   "",
		volume("count: 1"):                                              ":4: volumes: a volume needs a type",
		"instance: {baseline: {iops: 0, for: 1m}}\n":                    ":1: instance.baseline.iops: \"0\": want more than 0",
		"instance: {burst: {iops: 0, throughput: 0B/s}}\n":              ":1: instance.burst.iops: ",
		"instance:\n  burst:\n    throughput: 0B/s\n    for: x\n":       ":3: instance.burst.throughput: ",
		"instance:\n  burst:\n    for: x\n    per: y\n":                 ":3: instance.burst.for: ",
		"instance:\n  burst:\n    per: 0s\n":                            ":3: instance.burst.per: ",
		"instance:\n  baseline:\n    per: 1h\n    for: 1m\n":            ":4: instance.baseline: the baseline has no end",
		"instance:\n  type: nowhere\n":                                  ":2: instance: type \"nowhere\" is not in",
		"scale: 2\ninstance: nowhere\n":                                 ":1: scale: ",
		"arrays:\n  - name: a\n    role: [data, data]\n":                ":3: role: \"data\": want data, wal",
		"arrays:\n  - name: a\n    role: [log]\n":                       ":3: role: \"log\": want data, wal",
		"arrays: [{name: a, volumes: [{count: 0, size: 1GiB}]}]\n":      ":1: volumes.count: 0: want",
		volume("count: 1024, size: 1GiB"):                               ":4: volumes: level single is one volume, but there are 1024",
		"arrays:\n  - name: a b\n":                                      ":2: arrays.name: ",
		"arrays:\n  - level: raid0\n":                                   ":2: arrays.name: ",
		"arrays:\n  - level: raid0\n    name: a b\n":                    ":2: arrays.name: ",
		"arrays:\n  - volumes: 2xgp3\n    level: raid0\n":               ":2: arrays.name: ",
		"arrays:\n  - name: a\n    using: raid\n    level: x\n":         ":3: using: ",
		"arrays:\n  - name: a\n    level: x\n    copies: y\n":           ":3: level: ",
		"arrays:\n  - name: a\n    copies: y\n    chunk: z\n":           ":3: copies: ",
		"arrays:\n  - name: a\n    partition: y\n    assume_clean: z\n": ":3: partition: ",
		"arrays:\n  - name: a\n    level: raid1\n    chunk: 64KiB\n":    ":4: chunk: raid1 has no chunk",
		"arrays:\n  - name: a\n    volumes: 3xgp3\n    level: raid6\n":  ":3: volumes: raid6 needs at least 4 volumes, but there are 3",
		"arrays:\n  - name: a\n    level: raid0\n    layout: f2\n":      ":4: layout: only md's raid10",
		"arrays:\n  - name: a\n    filesystem: {su: x, sw: y}\n":        ":3: filesystem.su: ",
		"arrays:\n  - name: a\n    filesystem: {type: zfs, mount: d}\n": ":3: filesystem.type: ",
		"arrays:\n  - name: a\n    filesystem: {options: [a, b c]}\n":   ":3: filesystem.options: ",
		"arrays:\n  - name: a\n    filesystem: {mount: \"/d\\n\"}\n":    ":3: filesystem.mount: ",
	} {
		_, err := LoadDeclaration("f.yaml", []byte(yaml))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "f.yaml"+want) {
			t.Errorf("%s%v, want %q", yaml, err, want)
		}
	}
}

// Where each part of a declaration is said to stand: at the first of its lines.
func TestLinesOfADeclaration(t *testing.T) {
	d, err := LoadDeclaration("f.yaml", []byte(`instance:
  burst: {iops: 5}
  baseline:
    iops: 3
arrays:
  - level: raid0
    chunk: 64KiB
    name: one
    volumes:
      - 2xgp3
    filesystem:
      owner: u
      mount: /d
      label: l
  - volumes: 2xgp3
    name: two
    role: [data, wal]
    level: raid10
    copies: 2
    layout: n2
    using: md
    partition: true
    assume_clean: true
`))
	if err != nil {
		t.Fatal(err)
	}
	// The baseline is asked for first, wherever it stands.
	if got := d.Instance.Origin.Where; got != "f.yaml:4" {
		t.Errorf("the instance: %s", got)
	}
	one, two := d.Arrays[0], d.Arrays[1]
	for what, got := range map[string][2]string{
		"the array": {one.Origin.Where, "6"}, "level": {one.Origins["level"].Where, "6"}, "chunk": {one.Origins["chunk"].Where, "7"},
		"name": {one.Origins["name"].Where, "8"}, "volumes": {one.Origins["volumes"].Where, "10"}, "a volume": {one.Volumes[1].Origin.Where, "10"},
		"its filesystem": {one.Filesystem.Origin.Where, "14"}, // the first of type, label, mount, ... that is there
		"the second":     {two.Origin.Where, "15"}, "its role": {two.Origins["role"].Where, "17"}, "copies": {two.Origins["copies"].Where, "19"},
		"layout": {two.Origins["layout"].Where, "20"}, "using": {two.Origins["using"].Where, "21"}, "partition": {two.Origins["partition"].Where, "22"},
		"assume_clean": {two.Origins["assume_clean"].Where, "23"},
	} {
		if got[0] != "f.yaml:"+got[1] {
			t.Errorf("%s stands at %s, want line %s", what, got[0], got[1])
		}
	}
	for _, key := range []string{"copies", "layout", "using", "volume_group", "partition", "segment", "assume_clean", "role"} {
		if o, ok := one.Origins[key]; ok {
			t.Errorf("%s is said to stand at %s", key, o.Where)
		}
	}
	if len(one.Roles) != 0 || len(two.Roles) != 2 || len(one.Volumes) != 2 || one.Each || !two.Partition || !two.AssumeClean {
		t.Errorf("%+v", d.Arrays)
	}
	// One array of no role is for all; a volume of no number stands for each that is found.
	for yaml, want := range map[string]struct {
		roles int
		each  bool
	}{
		"arrays:\n  - name: a\n    volumes: gp3\n":                                {2, true},
		"arrays:\n  - name: a\n    role: wal\n    volumes: [gp3]\n":               {1, true},
		"arrays:\n  - name: a\n    volumes: 1xgp3\n":                              {2, false},
		"arrays:\n  - name: a\n    volumes: [gp3, gp3]\n":                         {2, false},
		"arrays:\n  - name: a\n    volumes: [{type: gp3, serial: s}]\n":           {2, false},
		"arrays:\n  - name: a\n    volumes: [{type: gp3, path: /dev/x}]\n":        {2, false},
		"arrays:\n  - name: a\n    volumes: gp3\n  - name: b\n    volumes: gp3\n": {0, true},
	} {
		d, err := LoadDeclaration("f.yaml", []byte(yaml))
		if err != nil || len(d.Arrays[0].Roles) != want.roles || d.Arrays[0].Each != want.each {
			t.Errorf("%s%+v, %v", yaml, d, err)
		}
	}
}

// What two arrays may not both be: the name, a role, a mount point, a label, a volume by either spelling.
func TestWhatTwoArraysShare(t *testing.T) {
	with := func(f func(*DeclaredArray)) DeclaredArray {
		a := DeclaredArray{Name: "b", Origin: Origin{Declared, "f:9"}}
		f(&a)
		return a
	}
	fs := func(mount, label string) func(*DeclaredArray) {
		return func(a *DeclaredArray) {
			a.Filesystem = &DeclaredFilesystem{Mount: mount, Label: label, Origin: Origin{Declared, "f:7"}}
		}
	}
	volume := func(v DeclaredVolume) func(*DeclaredArray) {
		v.Origin = Origin{Declared, "f:8"}
		return func(a *DeclaredArray) { a.Volumes = []DeclaredVolume{v} }
	}
	const serial, id = "vol0123456789abcdef0", "vol-0123456789abcdef0"
	for name, c := range map[string]struct {
		a, b func(*DeclaredArray)
		want string
	}{
		"nothing":               {func(*DeclaredArray) {}, func(*DeclaredArray) {}, ""},
		"the name":              {func(a *DeclaredArray) { a.Name = "b" }, func(*DeclaredArray) {}, "name: the name b is taken by f:9"},
		"a role":                {func(a *DeclaredArray) { a.Roles = Roles }, func(a *DeclaredArray) { a.Roles = []Role{WAL} }, "role: the role wal is taken by f:9"},
		"other roles":           {func(a *DeclaredArray) { a.Roles = []Role{Data} }, func(a *DeclaredArray) { a.Roles = []Role{WAL} }, ""},
		"a mount point":         {fs("/d", ""), fs("/d/", ""), "filesystem.mount: the mount point /d is taken by f:7"},
		"no mount point":        {fs("", ""), fs("", ""), ""},
		"a label":               {fs("/d", "l"), fs("/e", "l"), "filesystem.label: the label l is taken by f:7"},
		"other labels":          {fs("/d", "l"), fs("/e", "m"), ""},
		"a serial":              {volume(DeclaredVolume{Serial: "s"}), volume(DeclaredVolume{Serial: "s"}), "volumes: the volume s is taken by f:8"},
		"EBS by both spellings": {volume(DeclaredVolume{Serial: serial}), volume(DeclaredVolume{ID: id}), "volumes: the volume " + id},
		"a path":                {volume(DeclaredVolume{Path: "/dev/x"}), volume(DeclaredVolume{Path: "/dev/x"}), "volumes: the volume /dev/x"},
		"volumes of no name":    {volume(DeclaredVolume{Type: "gp3"}), volume(DeclaredVolume{Type: "gp3"}), ""},
	} {
		a := with(func(a *DeclaredArray) { a.Name = "a"; c.a(a) })
		err := (&Declaration{Arrays: []DeclaredArray{a, with(c.b)}}).checkAcross()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// Which geometry a declared layout is, and what contradicts it.
	for _, c := range []struct {
		a    DeclaredArray
		want Geometry
		err  string
	}{
		{DeclaredArray{Level: RAID10}, Geometry{}, ""},
		{DeclaredArray{Level: RAID10, Layout: "near"}, Geometry{Copies: 2, Near: 2}, ""},
		{DeclaredArray{Level: RAID10, Layout: "near", Copies: 3}, Geometry{Copies: 3, Near: 3}, ""},
		{DeclaredArray{Level: RAID10, Layout: "far=3"}, Geometry{Copies: 3, Near: 1}, ""},
		{DeclaredArray{Level: RAID10, Layout: "o2", Copies: 2}, Geometry{Copies: 2, Near: 1, Offset: true}, ""},
		{DeclaredArray{Level: RAID10, Layout: "o3", Copies: 2}, Geometry{Copies: 3, Near: 1, Offset: true}, "o3 contradicts copies: 2"},
		{DeclaredArray{Level: RAID10, Layout: "f3", Copies: 1}, Geometry{Copies: 3, Near: 1}, "f3 contradicts copies: 1"},
		{DeclaredArray{Level: RAID0, Layout: "f2"}, Geometry{Copies: 2, Near: 1}, "only md's raid10"},
		{DeclaredArray{Level: RAID10, Layout: "f2", Using: LVM}, Geometry{Copies: 2, Near: 1}, "only md's raid10"},
		{DeclaredArray{Level: RAID10, Layout: "x2"}, Geometry{}, "want near, far or offset"},
	} {
		g, ok := c.a.placed()
		if g != c.want || ok != (c.want.Copies > 0) {
			t.Errorf("%+v: %+v, want %+v", c.a, g, c.want)
		}
		if err := c.a.checkLayout(); (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%+v: %v, want %q", c.a, err, c.err)
		}
	}
}

// Words of a volume on a line: each once, however small, and none of nothing.
func TestWordsOfAVolume(t *testing.T) {
	for line, want := range map[string]DeclaredVolume{
		"0.5iops":            {Limits: Limits{IOPS: 0.5}},
		"1iops":              {Limits: Limits{IOPS: 1}},
		"1B/s":               {Limits: Limits{Rate: 1}},
		"8bps":               {Limits: Limits{Rate: 1}},
		"1B":                 {Size: 1},
		"premium readonly":   {Type: "premium", Caching: cloud.ReadOnly},
		"ReadWrite, P30":     {Type: "p30", Caching: cloud.ReadWrite},
		"GP3":                {Type: "gp3"},
		"0.5iops 2iops":      {},
		"1B/s 2B/s":          {},
		"1B 2GiB":            {},
		"1GiB 1GiB":          {},
		"readonly readwrite": {},
		"premium standard":   {},
		"0iops":              {},
		"-1iops":             {},
		"0B/s":               {},
		"0B":                 {},
		"5":                  {},
		"5.5":                {},
		"xiops":              {},
		"x/s":                {},
		"?":                  {},
		"":                   {},
		" , ":                {},
	} {
		n, v, err := parseVolumes(line)
		if n != 0 || (err != nil) != (want == DeclaredVolume{}) || err == nil && v != want {
			t.Errorf("%q: %d %+v %v", line, n, v, err)
		}
	}
	for line, want := range map[string]int{"0x gp3": 0, "1x gp3": 1, "1024*gp3": 1024, "1025 × gp3": 0, "99999999999999999999x gp3": 0, "2x": 0, "2x 5": 0} {
		if n, _, err := parseVolumes(line); n != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d %v", line, n, err)
		}
	}
}

// The free space of a filesystem: blocks by their size, which may be none, and unknown where either is not
// What is free of a path is asked of the machine that plimsoll runs on, and of no captured one.
func TestFreeSpaceIsOfThisMachine(t *testing.T) {
	if got, _ := free(&sys.Machine{}, "/"); got != nil {
		t.Errorf("of a captured machine: %d", *got)
	}
	if got, _ := free(&sys.Machine{Here: true}, t.TempDir()); got == nil || *got == 0 {
		t.Errorf("here: %v", got)
	}
	if got, _ := free(&sys.Machine{Here: true}, "/not/there"); got != nil {
		t.Errorf("of nothing: %d", *got)
	}
}

// Which limits of a device's counters are its own: I/Os or bytes, and what it had open of them.
func TestCountersOfADevice(t *testing.T) {
	c := counters{reads: 1, readBytes: 2, writes: 3, writeBytes: 4, open: 5}
	for what, want := range map[string]struct {
		done, open float64
		counter    served
	}{
		"riops": {1, 5, served{"blkio.throttle.io_serviced", "8:0", "Read"}},
		"wiops": {3, 5, served{"blkio.throttle.io_serviced", "8:0", "Write"}},
		"rbps":  {2, 5 * 1310720, served{"blkio.throttle.io_service_bytes", "8:0", "Read"}},
		"wbps":  {4, 5 * 1310720, served{"blkio.throttle.io_service_bytes", "8:0", "Write"}},
	} {
		if done, open := c.of(what); done != want.done || open != want.open {
			t.Errorf("%s: %v and %v, want %+v", what, done, open, want)
		}
		if got := servedOf(&GroupLimit{What: what, Number: "8:0"}); got != want.counter {
			t.Errorf("%s: %+v, want %+v", what, got, want.counter)
		}
	}
	// Lines of /proc/diskstats with as many fields as are needed, and one fewer.
	dir := t.TempDir()
	files(t, dir, map[string]string{
		"proc/diskstats": "8 0 sda 10 1 100 9 20 2 200 9 7\n8 1 sdb 10 1 100 9 20 2 200 9\n8 2 sdc 1 1 1 1 1 1 1 1 1 1 1\n",
		// Of the groups of version 2: without a device, with none that is asked for, with limits of nothing.
		"sys/fs/cgroup/cgroup.controllers": "io\n",
		"sys/fs/cgroup/a/io.max":           "8:0\n\n8:9 riops=5\n8:0 riops=0 wiops=1 rbps=x wbps=max bytes=7\n",
		"sys/fs/cgroup/a/io.stat":          "\n8:0\n8:9 wios=3\n8:0 rios=9 wios=40 \n",
		// And of version 1.
		"sys/fs/cgroup/blkio/b/blkio.throttle.read_iops_device": "8:0\n8:0 5 5\n8:9 5\n8:0 0\n8:0 x\n8:0 1\n",
	})
	g := ReadGroups((&sys.Machine{Root: os.DirFS(dir)}).Reader(), map[string]string{"8:0": "sda", "8:1": "sdb"})
	got := g.devices()
	if want := (counters{11, 51200, 22, 102400, 7}); len(got) != 1 || got["8:0"] != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	var limits []string
	for _, l := range g.limits {
		limits = append(limits, l.Group+" "+l.What)
		if l.Limit != 1 || l.Device != "sda" {
			t.Errorf("%+v", l)
		}
	}
	if !slices.Equal(limits, []string{"/a wiops", "/b riops"}) || !g.Any() || (&Groups{}).Any() {
		t.Errorf("%q", limits)
	}
	if n := g.count(&g.limits[0]); n != 40 {
		t.Errorf("%v writes", n)
	}
	files(t, dir, map[string]string{"sys/fs/cgroup/a/io.stat": "8:0 rios=9 wios=41\n"})
	for span, want := range map[time.Duration]float64{0: 0, -time.Second: 0, 500 * time.Millisecond: 2, 2 * time.Second: 0.5} {
		if got := g.Used(span)[0].Used; got != want {
			t.Errorf("in %v: %v per second, want %v", span, got, want)
		}
	}
	if got := g.Used(1)[0].Used; got < 0.9e9 { // one in a nanosecond
		t.Errorf("%v per second", got)
	}
	for _, c := range []struct{ limit, want float64 }{{10, 10}, {9.5, 9.5}, {10.5, 10}, {100, 100}, {99, 90}} {
		if got := (GroupLimit{What: "riops", Limit: c.limit}).Effective(); got != c.want {
			t.Errorf("%v gives %v, want %v", c.limit, got, c.want)
		}
	}
}

// Paths and arrays that share hardware: two mount points of one filesystem, and volumes of two arrays.
func TestSharedHardwareIsNoted(t *testing.T) {
	on := func(device, point string) Target {
		return Target{Device: device, Mount: &block.Mount{Point: point}}
	}
	array := func(name string, devices ...string) Array {
		a := Array{Name: name}
		for _, d := range devices {
			a.Volumes = append(a.Volumes, Volume{Device: d})
		}
		return a
	}
	for name, c := range map[string]struct {
		targets []Target
		arrays  []Array
		want    string
	}{
		"apart":                  {[]Target{on("sda", "/a"), on("sdb", "/b")}, []Array{array("x", "sda"), array("y", "sdb")}, ""},
		"one filesystem":         {[]Target{on("sda", "/a"), on("sda", "/b")}, nil, "/a and /b are one filesystem: /dev/sda is mounted on both"},
		"one mount point":        {[]Target{on("sda", "/a"), on("sda", "/a")}, nil, ""},
		"of no device":           {[]Target{on("", "/a"), on("", "/b")}, nil, ""},
		"a device and its mount": {[]Target{on("sda", "/a"), {Device: "sda"}}, nil, ""},
		"a volume of two":        {nil, []Array{array("x", "sda", "sdb"), array("y", "sdb", "sdc")}, "arrays x and y share volumes (sdb): their loads add up"},
		"a volume twice":         {nil, []Array{array("x", "sda", "sda")}, ""},
		"volumes of no device":   {nil, []Array{array("x", ""), array("y", "")}, ""},
	} {
		top := &Topology{Targets: c.targets, Arrays: c.arrays}
		if top.noteShared(); strings.Join(top.Notes, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, top.Notes, c.want)
		}
	}
	// Of a logical volume whose layout was inferred it is said once, and not of what LVM keeps for itself.
	lv := func(inferred, internal bool) *block.Vol { return &block.Vol{Inferred: inferred, Internal: internal} }
	top := &Topology{
		Targets: []Target{{Devices: []string{"a", "b", "c", "d"}}, {Devices: []string{"a"}}},
		Tree: &block.Tree{Devices: map[string]*block.Device{
			"a": {Path: "/dev/a", LV: lv(true, false)}, "b": {Path: "/dev/b", LV: lv(true, true)}, "c": {Path: "/dev/c", LV: lv(false, false)}, "d": {Path: "/dev/d"},
		}},
	}
	if top.noteInferred(errors.New("no root")); strings.Join(top.Notes, "|") != "/dev/a: its layout is inferred from its I/O sizes: no root" {
		t.Errorf("%q", top.Notes)
	}
}

// Which members an md array's volumes are, by their slots, and what lies under two of them.
func TestMembersOfAnArray(t *testing.T) {
	disks := func(names ...string) map[string]*block.Device {
		of := map[string]*block.Device{}
		for _, n := range names {
			of[n] = &block.Device{Name: n, Path: "/dev/" + n, Kind: block.Disk}
		}
		return of
	}
	member := func(slot int, name, state string) block.Member {
		return block.Member{Slot: slot, Name: name, State: state}
	}
	for name, c := range map[string]struct {
		md   block.Raid
		want string // devices of the slots, - for a hole
	}{
		"in the order of slots": {block.Raid{Disks: 2, Members: []block.Member{member(1, "a", "in_sync"), member(0, "b", "in_sync")}}, "b a"},
		"a hole":                {block.Raid{Disks: 3, Members: []block.Member{member(0, "a", "in_sync"), member(2, "b", "in_sync")}}, "a - b"},
		"a faulty one":          {block.Raid{Disks: 2, Members: []block.Member{member(0, "a", "in_sync"), member(1, "b", "faulty")}}, "a -"},
		"a spare":               {block.Raid{Disks: 1, Members: []block.Member{member(0, "a", "in_sync"), member(-1, "b", "spare")}}, "a"},
		"a slot beyond":         {block.Raid{Disks: 1, Members: []block.Member{member(0, "a", "in_sync"), member(1, "b", "in_sync")}}, "a"},
		"no slots known":        {block.Raid{Disks: 0, Members: []block.Member{member(0, "b", "in_sync")}}, "a b"},
		"no members known":      {block.Raid{Disks: 1}, "a b"},
	} {
		of := disks("a", "b")
		c.md.Level = "raid0"
		d := &block.Device{Name: "md0", Path: "/dev/md0", MD: &c.md}
		of["md0"] = d
		top, a := &Topology{Tree: &block.Tree{Devices: of}}, Array{Level: RAID0}
		left := mostLayers
		top.addVolumes(&left, &a, d, []string{"a", "b"})
		var got []string
		for i, v := range a.Volumes {
			if v.Missing {
				v.Device = "-"
				if want := "slot " + string(rune('0'+i)) + " of /dev/md0 has no working member"; v.Origin.Where != want {
					t.Errorf("%s: %q, want %q", name, v.Origin.Where, want)
				}
			}
			got = append(got, v.Device)
		}
		if s := strings.Join(got, " "); s != c.want || len(top.Notes) > 0 {
			t.Errorf("%s: %q, want %q; %q", name, s, c.want, top.Notes)
		}
	}
	// Partitions of one drive are one volume, and it is said that they are.
	of := disks("a")
	for _, p := range []string{"a1", "a2"} {
		of[p] = &block.Device{Name: p, Path: "/dev/" + p, Parent: "a", Kind: block.Partition}
	}
	d := &block.Device{Name: "md0", Path: "/dev/md0", Slaves: []string{"a1", "a2"}, MD: &block.Raid{Level: "raid0", Disks: 2, Members: []block.Member{member(0, "a1", ""), member(1, "a2", "")}}}
	of["md0"] = d
	top := &Topology{Tree: &block.Tree{Devices: of}}
	if a := top.build("md0"); len(a.Volumes) != 2 || strings.Join(top.Notes, "|") != "/dev/md0: a1 and a2 lie on one volume, /dev/a" {
		t.Errorf("%+v %q", a.Volumes, top.Notes)
	}
	// It is said once, and not again of an array over that one.
	of["md9"] = &block.Device{Name: "md9", Path: "/dev/md9", Slaves: []string{"md0", "b"}, MD: &block.Raid{Level: "raid0", Disks: 2, Members: []block.Member{member(0, "md0", ""), member(1, "b", "")}}}
	of["b"] = &block.Device{Name: "b", Path: "/dev/b", Kind: block.Disk}
	top = &Topology{Tree: &block.Tree{Devices: of}}
	if a := top.build("md9"); len(a.Volumes) != 3 || strings.Count(strings.Join(top.Notes, "|"), "lie on one volume") != 1 {
		t.Errorf("%+v %q", a.Volumes, top.Notes)
	}
	// An array that is not running has no members.
	of["md1"] = &block.Device{Name: "md1", Path: "/dev/md1", MD: &block.Raid{Level: "raid1"}}
	top = &Topology{Tree: &block.Tree{Devices: of}}
	if a := top.build("md1"); a.Level != NoLevel || strings.Join(top.Notes, "|") != "/dev/md1 has no members" {
		t.Errorf("%+v %q", a, top.Notes)
	}
	// A logical volume below which nothing is seen is a volume of its own, whatever its segment says.
	for _, lv := range []*block.Vol{nil, {Segment: "raid0", Stripes: 2}} {
		of["dm-0"] = &block.Device{Name: "dm-0", Path: "/dev/dm-0", Kind: block.DM, LV: lv}
		if a := top.build("dm-0"); a.Level != Single || len(a.Volumes) != 1 || a.Origin.Where != "/sys/class/block/dm-0" {
			t.Errorf("%+v", a)
		}
	}
	// Two parts that nobody knows how to combine are of no level.
	of["dm-1"] = &block.Device{Name: "dm-1", Path: "/dev/dm-1", Kind: block.DM, Slaves: []string{"a1", "a2"}}
	top = &Topology{Tree: &block.Tree{Devices: of}}
	if a := top.build("dm-1"); a.Level != NoLevel || len(a.Volumes) != 2 || top.Notes[0] != "/dev/dm-1: how it combines its 2 parts is not known" {
		t.Errorf("%+v %q", a, top.Notes)
	}
}

// What the catalogue says of a machine's drives: its own by the machine, where it knows what they give, else
// by their model, and nothing of the network's.
func TestDrivesOfTheCatalogue(t *testing.T) {
	own := func(typ string) Limits {
		f, _ := cloud.InstanceLimits(typ)
		return f.Local.Limits
	}
	sheet, _ := cloud.DriveLimits("P4510", 2e12)
	if !own("i3en.large").Known() || own("c8g.2xlarge").Known() || !sheet.Limits.Known() {
		t.Fatal("the catalogue has changed: choose other machines")
	}
	// A model that is declared is that of a drive that is not there; one that is there is what it is.
	for device, want := range map[string]Limits{"": sheet.Limits, "sda": {}} {
		v := Volume{Device: device, Size: 2e12}
		if err := v.declare(DeclaredVolume{Model: "P4510"}); err != nil || v.Sustained != want || v.Network {
			t.Errorf("%q: %+v, %v", device, v, err)
		}
	}
	for name, c := range map[string]struct {
		typ  string
		v    Volume
		want Limits
		note bool
	}{
		"its own":                   {"i3en.large", Volume{Model: cloud.InstanceStoreModel}, own("i3en.large"), false},
		"of a machine without any":  {"c8g.2xlarge", Volume{Model: cloud.InstanceStoreModel}, Limits{}, false},
		"of no known machine":       {"", Volume{Model: cloud.InstanceStoreModel}, Limits{}, false},
		"of a machine of nowhere":   {"nowhere", Volume{Model: cloud.InstanceStoreModel}, Limits{}, true},
		"by its model":              {"i3en.large", Volume{Model: "P4510", Size: 2e12}, sheet.Limits, false},
		"that the network attaches": {"i3en.large", Volume{Model: "P4510", Size: 2e12, Network: true}, Limits{}, false},
		"of no model":               {"i3en.large", Volume{}, Limits{}, false},
		"of a model of nowhere":     {"i3en.large", Volume{Model: "nowhere"}, Limits{}, false},
	} {
		top := &Topology{Instance: Instance{Type: c.typ}, Arrays: []Array{{Volumes: []Volume{c.v}}}}
		top.catalogue()
		v := top.Arrays[0].Volumes[0]
		if v.Sustained != c.want || (v.Origin.Kind == Catalogue) != c.want.Known() || (len(top.Notes) > 0) != c.note {
			t.Errorf("%s: %+v, want %+v; %q", name, v, c.want, top.Notes)
		}
	}
}

// Devices of a captured machine that are made of each other, in layers of two or in a circle, cost no more than others.
func TestDevicesOfEachOther(t *testing.T) {
	lattice, circle := map[string]*block.Device{}, map[string]*block.Device{}
	for i := range 40 {
		for _, side := range []string{"a", "b"} {
			name, under := fmt.Sprintf("%s%d", side, i), []string{fmt.Sprintf("a%d", i+1), fmt.Sprintf("b%d", i+1)}
			lattice[name] = &block.Device{Name: name, Path: "/dev/" + name, Kind: block.DM, Slaves: under}
		}
		name := fmt.Sprintf("a%d", i)
		circle[name] = &block.Device{Name: name, Path: "/dev/" + name, Kind: block.DM, Slaves: []string{fmt.Sprintf("a%d", (i+1)%40)}}
	}
	for of, devices := range map[string]map[string]*block.Device{"a lattice": lattice, "a circle": circle} {
		top := &Topology{Tree: &block.Tree{Devices: devices}}
		a := top.build("a0")
		if len(a.Volumes) == 0 || len(a.Volumes) > mostLayers || !strings.Contains(strings.Join(top.Notes, "|"), "anything beyond them is treated as drives") {
			t.Errorf("%s: %d volumes, %q", of, len(a.Volumes), top.Notes)
		}
	}
}
