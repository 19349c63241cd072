package block_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

func captured(t testing.TB, name string) *sys.Machine {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return &sys.Machine{Root: block.Captured(archive), Now: func() time.Time { return time.Unix(1795000000, 0) }}
}

func read(t testing.TB, name string) *block.Tree {
	t.Helper()
	tree, err := block.Read(captured(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// This machine, whatever it is: its root is mounted, and what a mount lies on is in the tree.
func TestThisMachine(t *testing.T) {
	tree, err := block.Read(sys.Host())
	if err != nil {
		t.Fatal(err)
	}
	m := tree.MountOf(t.TempDir())
	if m == nil || !strings.HasPrefix(m.Point, "/") {
		t.Fatalf("%+v", m)
	}
	if m.Device != "" && len(tree.Leaves(m.Device)) == 0 {
		t.Errorf("%s has no leaves", m.Device)
	}
	if m := tree.MountOf("/proc/self"); m == nil || m.FS != "proc" || m.Device != "" {
		t.Errorf("/proc/self: %+v", m)
	}
}

func TestRAID10(t *testing.T) {
	tree := read(t, "ec2-16xgp3-raid10")
	if len(tree.Notes) > 0 {
		t.Error(tree.Notes)
	}
	md := tree.Devices["md1"]
	if md.Kind != block.MD || md.MD.Level != "raid10" || md.MD.Layout != 258 || md.MD.Chunk != 256*units.KiB || md.MD.Disks != 8 ||
		md.Queue.ReadAhead != 4*units.MiB || md.Signature != "xfs" || md.Label != "WAL" || md.MD.Name != "ip-10-0-0-105:wal" {
		t.Errorf("%+v %+v", md, md.MD)
	}
	d := tree.Devices["nvme3n1"]
	if d.Kind != block.Disk || d.Model != "Amazon Elastic Block Store" || d.Serial != "vol0a1b2c3d4e5f60003" || d.Size != 50*units.GiB ||
		d.Queue.Scheduler != "none" || d.Queue.IOTimeout != "4294967295" || d.Queue.HardwareQueues != 2 || d.Signature != "linux_raid_member" ||
		!slices.Equal(d.Holders, []string{"md0"}) {
		t.Errorf("%+v", d)
	}
	below := tree.Below("md1")
	if len(below) != 9 || below[0] != "md1" || below[1] != "nvme9n1" || below[8] != "nvme16n1" || len(tree.Leaves("md1")) != 8 {
		t.Error(below)
	}
	m := tree.MountOf("/data/a/b")
	if m == nil || m.Device != "md0" || m.StripeUnit != 64*units.KiB || m.StripeWide != 256*units.KiB || !m.Known {
		t.Errorf("%+v", m)
	}
	if tree.Device("/dev/md/wal") != md || tree.Device("/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0a1b2c3d4e5f60003") != d || tree.Device("/dev/none") != nil {
		t.Error("devices are not found by their links")
	}
}

func TestArrayStates(t *testing.T) {
	tree := read(t, "ec2-degraded-recovering")
	a, b := tree.Devices["md0"].MD, tree.Devices["md1"].MD
	if a.Degraded != 1 || a.Action != "idle" || a.State != "active" {
		t.Errorf("%+v", a)
	}
	if last := a.Members[7]; last.Name != "nvme6n1" || last.Slot != -1 || last.State != "faulty" {
		t.Errorf("%+v", last)
	}
	if b.Action != "recover" || b.Degraded != 1 || b.Progress < 0.035 || b.Progress > 0.037 || b.Speed != 18944*1024 {
		t.Errorf("sysfs says 0 done and mdstat knows better: %+v", b)
	}
	tree = read(t, "ec2-resyncing")
	if r := tree.Devices["md0"].MD; r.Action != "resync" || r.Progress != 0.05 {
		t.Errorf("%+v", r)
	}
}

func TestPartitionsAndNesting(t *testing.T) {
	tree := read(t, "lvm-over-md-over-partitions")
	want := []string{"dm-0", "md0", "nvme0n1p1", "nvme0n1", "nvme1n1p1", "nvme1n1", "nvme2n1p1", "nvme2n1", "nvme3n1p1", "nvme3n1"}
	if d := cmp.Diff(want, tree.Below("dm-0")); d != "" {
		t.Error(d)
	}
	p := tree.Devices["nvme3n1p1"]
	if p.Kind != block.Partition || p.Parent != "nvme3n1" || p.Start != units.MiB || p.Queue != tree.Devices["nvme3n1"].Queue {
		t.Errorf("%+v", p)
	}
	if lv := tree.Devices["dm-0"].LV; lv == nil || lv.VG != "vg0" || lv.Name != "data" || lv.Segment != "linear" || !lv.Inferred {
		t.Errorf("%+v", lv)
	}
	if lv := tree.Devices["dm-2"].LV; lv.Segment != "striped" || lv.Stripes != 2 || lv.Chunk != 64*units.KiB {
		t.Errorf("%+v", lv)
	}
	if lv := read(t, "p4510-lvm-raid0-striped").Devices["dm-4"].LV; lv.Segment != "raid0" || lv.Stripes != 4 || lv.Chunk != 128*units.KiB {
		t.Errorf("%+v", lv)
	}
}

func TestSymbolicLinks(t *testing.T) {
	tree := read(t, "ec2-single-ebs") // /sys/class/block is links there, /srv/db → /data/current → releases/7
	if d := tree.Devices["nvme1n1"]; d.Serial != "vol0123456789abcdef0" || d.Model == "" {
		t.Errorf("%+v", d)
	}
	if p := tree.Devices["nvme0n1p1"]; p.Parent != "nvme0n1" {
		t.Errorf("%+v", p)
	}
	for path, point := range map[string]string{
		"/srv/db": "/data", "/srv/db/not/there": "/data", "/srv/dba": "/", "/data2": "/", "/data/../srv": "/",
		"/mnt/with space/x": "/mnt/with space", "/var/lib/docker/overlay2/x/merged/etc": "/var/lib/docker/overlay2/x/merged",
	} {
		if m := tree.MountOf(path); m == nil || m.Point != point {
			t.Errorf("%s is on %+v, want %s", path, m, point)
		}
	}
	if m := tree.MountOf("/var/lib/docker/overlay2/x/merged"); m.Device != "" {
		t.Errorf("overlay has the device %s", m.Device)
	}
	if n := len(tree.MountsOf("nvme1n1")); n != 2 {
		t.Errorf("%d mounts of nvme1n1, want 2", n)
	}
	if len(tree.MountsOf("")) != 0 {
		t.Error("mounts of no device")
	}
}

// A mount that another covers is not what a path lies on, though its mount point is the longer.
func TestCoveredMounts(t *testing.T) {
	root := fstest.MapFS{
		"sys/class/block": {Mode: fs.ModeDir},
		"proc/self/mountinfo": {Data: []byte(`1 0 8:1 / / rw - ext4 /dev/a rw
2 1 8:2 / /a/b rw - ext4 /dev/b rw
3 1 8:3 / /a rw - ext4 /dev/c rw
4 3 8:4 / /a rw - tmpfs tmpfs rw
5 4 8:5 / /a/c/d rw - ext4 /dev/e rw
`)},
	}
	tree, err := block.Read(&sys.Machine{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for path, id := range map[string]int{"/": 1, "/x": 1, "/a": 4, "/a/b/x": 4, "/a/c": 4, "/a/c/d/e": 5} {
		if m := tree.MountOf(path); m == nil || m.ID != id {
			t.Errorf("%s is on %+v, want mount %d", path, m, id)
		}
	}
}

func TestNoSysfs(t *testing.T) {
	if _, err := block.Read(&sys.Machine{Root: fstest.MapFS{}}); err == nil || !strings.Contains(err.Error(), "/sys/class/block") {
		t.Error(err)
	}
}

var fixtures = []string{
	"ec2-16xgp3-raid10", "ec2-4xgp2-raid0", "ec2-degraded-recovering", "ec2-resyncing", "ec2-single-ebs",
	"lvm-over-md-over-partitions", "p4510-lvm-raid0-striped", "p4510-md-partitions-double-mount", "this-vm",
}

// Attributes come and go with kernels and with devices being removed: whatever is missing or
// garbled, the rest is read, and every walk through the tree ends.
func TestReadSurvivesMissingAndGarbledAttributes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		root := captured(t, rapid.SampledFrom(fixtures).Draw(rt, "fixture")).Root.(fstest.MapFS)
		names := make([]string, 0, len(root))
		for name := range root {
			names = append(names, name)
		}
		slices.Sort(names)
		for range rapid.IntRange(0, 40).Draw(rt, "damages") {
			name := rapid.SampledFrom(names).Draw(rt, "file")
			if rapid.Bool().Draw(rt, "gone") {
				delete(root, name)
			} else if f := root[name]; f != nil && f.Mode == 0 {
				root[name] = &fstest.MapFile{Data: []byte(rapid.String().Draw(rt, "garbage"))}
			}
		}
		tree, err := block.Read(&sys.Machine{Root: root})
		if _, none := fs.Stat(root, "sys/class/block"); none != nil {
			if err == nil {
				rt.Fatal("without sysfs nothing can be read")
			}
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		for name := range tree.Devices {
			below := tree.Below(name)
			if len(below) == 0 || below[0] != name || len(tree.Leaves(name)) == 0 && len(tree.Under(below[len(below)-1])) == 0 {
				rt.Fatalf("below %s: %v", name, below)
			}
		}
		tree.MountOf("/data/x")
	})
}

// A capture of a machine reads like the machine, but for what is masked; and it gives nothing away.
func TestCaptureRoundTrip(t *testing.T) {
	for _, name := range fixtures {
		m := captured(t, name)
		want, err := block.Read(m)
		if err != nil {
			t.Fatal(err)
		}
		var archive bytes.Buffer
		if err := block.Capture(&archive, m); err != nil {
			t.Fatal(err)
		}
		got, err := block.Read(&sys.Machine{Root: block.Captured(archive.Bytes())})
		if err != nil {
			t.Fatal(err)
		}
		masked := cmp.FilterPath(func(p cmp.Path) bool {
			return slices.Contains([]string{"Serial", "WWN", "UUID", "DM", "Links", "Name"}, strings.TrimPrefix(p.Last().String(), "."))
		}, cmp.Ignore())
		if d := cmp.Diff(want, got, masked, cmpopts.IgnoreUnexported(block.Tree{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		for _, d := range want.Devices {
			for _, secret := range []string{d.Serial, d.WWN, d.UUID} {
				if len(secret) > 3 && name != "this-vm" && strings.Contains(archive.String(), secret) {
					t.Errorf("%s: %s is not masked", name, secret)
				}
			}
		}
		if strings.Contains(archive.String(), "ip-10-0-0-105") {
			t.Errorf("%s: the host's name is not masked", name)
		}
		if d := got.Devices["nvme3n1"]; d != nil && strings.HasPrefix(want.Devices["nvme3n1"].Serial, "vol") && (len(d.Serial) != 20 || !strings.HasPrefix(d.Serial, "vol")) {
			t.Errorf("%s: a masked EBS serial must keep its shape, got %s", name, d.Serial)
		}
	}
}

// An array that lacks members to start is known by the superblock of the one that is there: the kernel shows zeros.
func TestArrayThatHasNotStarted(t *testing.T) {
	const md, uuid = "sys/class/block/md127/", "0a1b2c3d-0a1b-2c3d-0a1b-2c3d0a1b2c3d"
	for name, udev := range map[string]string{
		uuid: "E:ID_FS_TYPE=linux_raid_member\nE:ID_FS_UUID=" + uuid + "\n",
		"":   "E:ID_FS_TYPE=ext4\nE:ID_FS_UUID=" + uuid + "\n",
	} {
		root := fstest.MapFS{}
		for file, text := range map[string]string{
			md + "dev": "9:127\n", md + "size": "0\n", md + "md/uuid": "00000000-0000-0000-0000-000000000000\n",
			md + "md/array_state":   "inactive\n",
			md + "md/dev-sda/state": "spare\n", "sys/class/block/sda/dev": "8:0\n", "sys/class/block/sda/size": "2048\n",
			"run/udev/data/b8:0": udev,
		} {
			root[file] = &fstest.MapFile{Data: []byte(text)}
		}
		tree, err := block.Read(&sys.Machine{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		if got := tree.Devices["md127"].MD.UUID; got != name {
			t.Errorf("%q, want %q", got, name)
		}
	}
}
