package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

// TestThrottles: a service in a slice, both limited; version 1; a container that sees its own group
// at the root.
func TestThrottles(t *testing.T) {
	names := map[string]string{"8:16": "sdb", "259:0": "nvme0n1"}
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	for what, c := range map[string]struct {
		root fstest.MapFS
		want []Throttle
	}{
		"chain": {fstest.MapFS{
			"proc/self/cgroup": file("0::/system.slice/db.service\n"),
			"sys/fs/cgroup/system.slice/db.service/io.max": file("8:16 rbps=2097152 wbps=max riops=500 wiops=max\n7:7 riops=1\n"),
			"sys/fs/cgroup/system.slice/io.max":            file("259:0 rbps=max wbps=max riops=max wiops=120\n"),
		}, []Throttle{
			{"sdb", "/system.slice/db.service", Limits{ReadIOPS: 500, ReadRate: 2 * units.MiBPerSec}, Origin{Detected, "/sys/fs/cgroup/system.slice/db.service/io.max"}},
			{"nvme0n1", "/system.slice", Limits{WriteIOPS: 120}, Origin{Detected, "/sys/fs/cgroup/system.slice/io.max"}},
		}},
		"container": {fstest.MapFS{
			"proc/self/cgroup":     file("0::/kubepods/pod1/c1\n"),
			"sys/fs/cgroup/io.max": file("8:16 wiops=7\n"),
		}, []Throttle{{"sdb", "/", Limits{WriteIOPS: 7}, Origin{Detected, "/sys/fs/cgroup/io.max"}}}},
		"version 1": {fstest.MapFS{
			"proc/self/cgroup": file("7:blkio:/db\n0::/\n"),
			"sys/fs/cgroup/blkio/db/blkio.throttle.read_iops_device": file("8:16 500\n"),
			"sys/fs/cgroup/blkio/db/blkio.throttle.write_bps_device": file("8:16 1048576\n"),
		}, []Throttle{{"sdb", "/db", Limits{ReadIOPS: 500, WriteRate: units.MiBPerSec}, Origin{Detected, "/sys/fs/cgroup/blkio/db/blkio.throttle.*"}}}},
		"no limits": {fstest.MapFS{"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/io.max": file("8:16 rbps=max wbps=max riops=max wiops=max\n\nnonsense\n")}, nil},
		"one I/O, and what is no number": {fstest.MapFS{
			"proc/self/cgroup":     file("0::/\n"),
			"sys/fs/cgroup/io.max": file("8:16 riops=1 wiops=99999999999999999999 rbps=x wbps=0\n"),
		}, []Throttle{{"sdb", "/", Limits{ReadIOPS: 1}, Origin{Detected, "/sys/fs/cgroup/io.max"}}}},
		"neither version": {fstest.MapFS{
			"proc/self/cgroup": file("5::/a\n0:cpu:/a\n1:name=systemd:/a\n0::\n"), "sys/fs/cgroup/a/io.max": file("8:16 riops=1\n"),
		}, nil},
		"version 1 without limits": {fstest.MapFS{
			"proc/self/cgroup": file("7:cpu,blkio:/db\n"),
			"sys/fs/cgroup/blkio/db/blkio.throttle.read_iops_device": file("8:16 0\n8:16 x\n8:16 99999999999999999999\n9:9 5\n8:16\n"),
		}, nil},
		"version 1, one I/O": {fstest.MapFS{
			"proc/self/cgroup": file("7:cpu,blkio:/db\n"),
			"sys/fs/cgroup/blkio/db/blkio.throttle.read_iops_device": file("8:16 1\n"),
		}, []Throttle{{"sdb", "/db", Limits{ReadIOPS: 1}, Origin{Detected, "/sys/fs/cgroup/blkio/db/blkio.throttle.*"}}}},
		"nothing": {fstest.MapFS{}, nil},
	} {
		got := throttles(c.root, names)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", what, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %+v, want %+v", what, got[i], c.want[i])
			}
		}
	}
}

// A limit is of the targets on its device, whose number is both parts: 8:16 is neither 8:0 nor 259:16.
func TestThrottlesOfTargets(t *testing.T) {
	root := fstest.MapFS{
		"proc/self/cgroup":     &fstest.MapFile{Data: []byte("0::/a\n")},
		"sys/fs/cgroup/io.max": &fstest.MapFile{Data: []byte("8:16 wiops=7\n")},
	}
	for name, c := range map[string]struct {
		of   block.Device
		want int
	}{
		"the device":    {block.Device{Name: "sdb", Major: 8, Minor: 16}, 1},
		"another minor": {block.Device{Name: "sdb", Major: 8}, 0},
		"another major": {block.Device{Name: "sdb", Major: 259, Minor: 16}, 0},
	} {
		topo := Topology{
			Tree:    &block.Tree{Devices: map[string]*block.Device{"sda": {}, "sdb": &c.of}},
			Targets: []Target{{Devices: []string{"sda"}}, {Devices: []string{"sda", "sdb"}}, {}},
		}
		topo.throttle(root)
		for i, want := range []int{0, c.want, 0} {
			if got := topo.Targets[i].Throttles; len(got) != want || want > 0 && got[0].Limits.WriteIOPS != 7 {
				t.Errorf("%s, target %d: %+v, want %d", name, i, got, want)
			}
		}
	}
}

// TestRealThrottle limits this test's own group on a real kernel with version 1's controller, and
// finds the limit.
func TestRealThrottle(t *testing.T) {
	const base = "/sys/fs/cgroup/blkio"
	if _, err := os.Stat(base + "/blkio.throttle.read_iops_device"); err != nil || os.Getuid() != 0 {
		t.Skip("SKIPPED: no blkio controller of cgroup v1 with root: the limit of a real group was not read")
	}
	m := sys.Host()
	tree, err := block.Read(m)
	if err != nil {
		t.Fatal(err)
	}
	var disk *block.Device
	for _, d := range tree.Devices {
		if strings.HasPrefix(d.Name, "vd") && d.Kind != block.Partition ||
			strings.HasPrefix(d.Name, "sd") && len(d.Name) == 3 {
			disk = d
		}
	}
	if disk == nil {
		t.Skip("SKIPPED: no disk whose limit could be set")
	}
	group := filepath.Join(base, fmt.Sprintf("plimsoll-test-%d", os.Getpid()))
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("SKIPPED: %v: the limit of a real group was not read", err)
	}
	defer func() { _ = os.Remove(group) }()
	line := fmt.Sprintf("%d:%d", disk.Major, disk.Minor) + " 1234"
	if err := os.WriteFile(filepath.Join(group, "blkio.throttle.read_iops_device"), []byte(line), 0); err != nil {
		t.Skipf("SKIPPED: %v: the limit of a real group was not read", err)
	}
	names := map[string]string{fmt.Sprintf("%d:%d", disk.Major, disk.Minor): disk.Name}
	got := throttlesOf(m.Root, version1Base, "/"+filepath.Base(group), names)
	if len(got) != 1 || got[0].Limits != (Limits{ReadIOPS: 1234}) || got[0].Device != disk.Name {
		t.Errorf("%s: %+v", line, got)
	}
}

func FuzzIOMax(f *testing.F) {
	f.Add("8:16 rbps=2097152 wbps=max riops=500 wiops=max")
	f.Add("8:16 rbps=18446744073709551615")
	bounded.Fuzz(f, func(t *testing.T, line string) {
		root := fstest.MapFS{"io.max": &fstest.MapFile{Data: []byte(line)}}
		names := map[string]string{"8:16": "sdb"}
		for f := range strings.FieldsSeq(line) {
			names[f] = "sdb"
		}
		for _, one := range throttlesOf(root, ".", "/", names) {
			if !one.Limits.Known() || one.Device == "" {
				t.Errorf("%q: %+v", line, one)
			}
		}
	})
}
