package topology_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// machine opens a captured machine on which the programs print what is given, by their command
// line.
func machine(t testing.TB, name string, programs map[string]string) *sys.Machine {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("../block/testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return &sys.Machine{
		Root: block.Captured(archive),
		Run: func(_ context.Context, stdout io.Writer, argv ...string) error {
			out, ok := programs[strings.Join(argv, " ")]
			if !ok {
				return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
			}
			_, err := io.WriteString(stdout, out)
			return err
		},
	}
}

func detect(t testing.TB, m *sys.Machine, data, wal string, decl *topology.Declaration) *topology.Topology {
	t.Helper()
	top, err := topology.Detect(t.Context(), m, map[topology.Role]string{topology.Data: data, topology.WAL: wal}, decl)
	if err != nil {
		t.Fatal(err)
	}
	return top
}

// line is an array in short: what the ceiling is worked out from.
func line(a *topology.Array) string {
	if a == nil {
		return "none"
	}
	missing := 0
	var devices []string
	for _, v := range a.Volumes {
		if v.Missing {
			missing++
			devices = append(devices, "-")
			continue
		}
		devices = append(devices, v.Device)
	}
	return fmt.Sprintf("%s %s copies=%d chunk=%s degraded=%d missing=%d %s%s", a.Name, a.Level, a.Copies, a.Chunk.Arg(), a.Degraded, missing,
		strings.Join(devices, " "), map[bool]string{true: " " + a.Syncing}[a.Syncing != ""])
}

func TestArraysOfCapturedMachines(t *testing.T) {
	for _, c := range []struct{ name, data, wal, want, wantWAL string }{
		{
			"ec2-16xgp3-raid10", "/data/x", "/wal", "md0 raid10 copies=2 chunk=64KiB degraded=0 missing=0 nvme1n1 nvme2n1 nvme3n1 nvme4n1 nvme5n1 nvme6n1 nvme7n1 nvme8n1",
			"md1 raid10 copies=2 chunk=256KiB degraded=0 missing=0 nvme9n1 nvme10n1 nvme11n1 nvme12n1 nvme13n1 nvme14n1 nvme15n1 nvme16n1",
		},
		{
			"ec2-4xgp2-raid0", "/mnt/p_iops_vol0", "/", "md0 raid0 copies=0 chunk=64KiB degraded=0 missing=0 nvme1n1 nvme2n1 nvme3n1 nvme4n1",
			"nvme0n1 single copies=0 chunk=0B degraded=0 missing=0 nvme0n1",
		},
		{
			"ec2-degraded-recovering", "/data", "/wal", "md0 raid10 copies=2 chunk=64KiB degraded=1 missing=1 nvme1n1 nvme2n1 nvme3n1 nvme4n1 nvme5n1 - nvme7n1 nvme8n1",
			"md1 raid10 copies=2 chunk=256KiB degraded=1 missing=0 nvme9n1 nvme10n1 nvme11n1 nvme12n1 nvme13n1 nvme14n1 nvme15n1 nvme16n1 recover",
		},
		{
			"ec2-resyncing", "/data", "/dev/shm/x", "md0 raid10 copies=2 chunk=64KiB degraded=0 missing=0 nvme1n1 nvme2n1 nvme3n1 nvme4n1 nvme5n1 nvme6n1 nvme7n1 nvme8n1 resync",
			"none",
		},
		{
			"p4510-md-partitions-double-mount", "/opt/fio/t0", "/opt/fio/t1", "md0 raid0 copies=0 chunk=512KiB degraded=0 missing=0 nvme0n1 nvme2n1 nvme4n1 nvme6n1",
			"md0 raid0 copies=0 chunk=512KiB degraded=0 missing=0 nvme0n1 nvme2n1 nvme4n1 nvme6n1",
		},
		{
			"p4510-lvm-raid0-striped", "/opt/fio/t0", "/opt/fio/t1", "dm-4 raid0 copies=0 chunk=128KiB degraded=0 missing=0 nvme0n1 nvme2n1 nvme4n1 nvme6n1",
			"dm-5 raid0 copies=0 chunk=64KiB degraded=0 missing=0 nvme1n1 nvme3n1 nvme5n1 nvme7n1",
		},
		{
			"lvm-over-md-over-partitions", "/srv/data", "/srv/wal", "md0 raid10 copies=2 chunk=512KiB degraded=0 missing=0 nvme0n1 nvme1n1 nvme2n1 nvme3n1",
			"md0 raid10 copies=2 chunk=512KiB degraded=0 missing=0 nvme0n1 nvme1n1 nvme2n1 nvme3n1",
		},
		{
			"lvm-over-md-over-partitions", "/srv/wide", "/dev/mapper/vg0-data", "dm-2 raid10 copies=2 chunk=64KiB degraded=0 missing=0 nvme4n1 nvme5n1 nvme6n1 nvme7n1",
			"md0 raid10 copies=2 chunk=512KiB degraded=0 missing=0 nvme0n1 nvme1n1 nvme2n1 nvme3n1",
		},
		{"ec2-single-ebs", "/srv/db", "/dev/nvme1n1", "nvme1n1 single copies=0 chunk=0B degraded=0 missing=0 nvme1n1", "nvme1n1 single copies=0 chunk=0B degraded=0 missing=0 nvme1n1"},
		{"this-vm", "/work", "/dev/shm", "vda single copies=0 chunk=0B degraded=0 missing=0 vda", "none"},
	} {
		top := detect(t, machine(t, c.name, nil), c.data, c.wal, nil)
		for role, want := range map[topology.Role]string{topology.Data: c.want, topology.WAL: c.wantWAL} {
			if got := line(top.Array(top.For(role).Array)); got != want {
				t.Errorf("%s %s:\ngot  %s\nwant %s", c.name, role, got, want)
			}
			// A machine at work is read without any program, and says the same of what needs none: not of LVM's
			// segments, nor of a device, whose number a captured machine does not tell.
			path := map[topology.Role]string{topology.Data: c.data, topology.WAL: c.wal}[role]
			if strings.HasPrefix(want, "dm-") || strings.HasPrefix(path, "/dev/") && want != "none" {
				continue
			}
			live, _, err := topology.Live(machine(t, c.name, nil), path)
			if err != nil {
				t.Errorf("%s %s: %v", c.name, role, err)
				continue
			}
			if got := line(live.Array(live.Targets[0].Array)); got != want || len(live.Targets) != 1 || live.Targets[0].Path != path {
				t.Errorf("%s %s, live:\ngot  %s\nwant %s", c.name, role, got, want)
			}
		}
		for _, target := range top.Targets {
			if target.Device != "" && (len(target.Devices) == 0 || target.Devices[0] != target.Device) {
				t.Errorf("%s: %+v", c.name, target)
			}
		}
	}
}

func TestFactsOfCapturedMachines(t *testing.T) {
	top := detect(t, machine(t, "ec2-16xgp3-raid10", nil), "/data", "/wal", nil)
	if h := top.Host; h.Name != "ip-10-0-0-105" || h.CPUs != 8 || h.Memory != 16035000*units.KiB || h.Virt != "Amazon EC2" || h.OS != "Amazon Linux 2023.9" {
		t.Errorf("%+v", h)
	}
	// The instance type is the DMI product name on Nitro; its limits are
	// facts/ec2-ebs-limits.csv's.
	if i := top.Instance; i.Type != "c8g.2xlarge" || i.ID != "i-0a1b2c3d4e5f60718" || i.Baseline.IOPS != 12000 || i.Baseline.Rate != 312.5*units.MBPerSec || i.Burst.IOPS != 40000 {
		t.Errorf("%+v", i)
	}
	v := top.Array("md0").Volumes[0]
	if v.ID != "vol-0a1b2c3d4e5f60001" || !v.Network || v.Type != "" || v.Sustained.Known() || v.Origin.Kind != topology.Unknown {
		t.Errorf("an EBS volume's type cannot be seen: %+v", v)
	}
	m := top.For(topology.Data).Mount
	if m.StripeUnit != 64*units.KiB {
		t.Errorf("%+v", m)
	}
	if free := top.For(topology.Data).Free; free != nil { // of the machine that it runs on
		t.Errorf("free: %v", free)
	}
	if !slices.ContainsFunc(top.Notes, func(n string) bool { return strings.Contains(n, "--volumes 8xgp3") }) {
		t.Error(top.Notes)
	}

	top = detect(t, machine(t, "p4510-md-partitions-double-mount", nil), "/opt/fio/t0", "/opt/fio/t1", nil)
	v = top.Arrays[0].Volumes[0]
	if len(top.Arrays) != 1 || v.Network || v.Sustained.ReadIOPS != 636500 || v.Origin.Kind != topology.Catalogue || v.Serial == "" {
		t.Errorf("%+v", v)
	}
	if !slices.Contains(top.Notes, "/opt/fio/t0 and /opt/fio/t1 are one filesystem: /dev/md0 is mounted on both") {
		t.Error(top.Notes)
	}
}

// What device-mapper tells replaces what was inferred, and then nothing is noted.
func TestSegmentsFromDeviceMapper(t *testing.T) {
	m := machine(t, "p4510-lvm-raid0-striped", map[string]string{"dmsetup table": "nvmepool--1-bdc: 0 31256125440 raid raid0 1 512 4 - 253:0 - 253:1 - 253:2 - 253:3\n" +
		"nvmepool--2-bdc: 0 15628062720 linear 259:1 2048\nnvmepool--2-bdc: 15628062720 15628062720 linear 259:3 2048\n"})
	top := detect(t, m, "/opt/fio/t0", "/opt/fio/t1", nil)
	if a := top.Array("dm-4"); a.Chunk != 256*units.KiB || a.Origin.Where != "dmsetup table" {
		t.Errorf("%+v", a)
	}
	if a := top.Array("dm-5"); a.Level != topology.Linear || a.Chunk != 0 {
		t.Errorf("by its I/O sizes it is striped, but the table says linear: %+v", a)
	}
	for _, n := range top.Notes {
		if strings.Contains(n, "inferred") {
			t.Error(n)
		}
	}
}

func TestDeclaredBeatsDetected(t *testing.T) {
	load := func(yaml string) *topology.Declaration {
		t.Helper()
		d, err := topology.LoadDeclaration("p.yaml", []byte(yaml))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	t.Run("by role, volumes in their order", func(t *testing.T) {
		top := detect(t, machine(t, "ec2-16xgp3-raid10", nil), "/data", "/wal", load(`
arrays:
  - {name: d, role: data, volumes: 8xgp3}
  - {name: w, role: wal, chunk: 128KiB, volumes: 8x gp3 4000iops}
`))
		d, w := top.Array("md0"), top.Array("md1")
		if v := d.Volumes[3]; v.Device != "nvme4n1" || v.Type != "gp3" || v.Sustained.IOPS != 3000 || v.Origin.Kind != topology.Catalogue || v.Size != 50*units.GiB {
			t.Errorf("%+v", v)
		}
		if w.Volumes[0].Sustained.IOPS != 4000 || w.Chunk != 128*units.KiB || w.OriginOf("chunk").Kind != topology.Declared || w.OriginOf("level").Kind != topology.Detected {
			t.Errorf("%+v", w)
		}
		if len(top.Notes) != 1 || top.Notes[0] != "chunk of md1 is 128 KiB as declared (p.yaml:4); the machine shows 256 KiB" {
			t.Error(top.Notes)
		}
	})
	t.Run("by volume id, whatever the role", func(t *testing.T) {
		top := detect(t, machine(t, "ec2-16xgp3-raid10", nil), "/data", "/wal", load(`
arrays:
  - name: x
    volumes:
      - {id: vol-0a1b2c3d4e5f6000b, type: io2, size: 30GiB, iops: 9000}
      - {type: gp3, count: 7}
`))
		for i, v := range top.Array("md1").Volumes {
			want := "gp3"
			if v.Device == "nvme11n1" {
				want = "io2"
			}
			if v.Type != want {
				t.Errorf("volume %d (%s) is %s, want %s", i, v.Device, v.Type, want)
			}
		}
		if top.Array("md0").Volumes[0].Type != "" {
			t.Error("the other array is none of its business")
		}
	})
	t.Run("by md's name and by mount", func(t *testing.T) {
		top := detect(t, machine(t, "ec2-16xgp3-raid10", nil), "/wal", "/data", load(`
arrays:
  - {name: wal, volumes: gp3}
  - {name: other, volumes: 8xio2 1000iops, filesystem: {mount: /data}}
`))
		if top.Array("md1").Volumes[7].Type != "gp3" || top.Array("md0").Volumes[7].Type != "io2" {
			t.Errorf("%+v", top.Arrays)
		}
	})
	t.Run("flags hold for every array under test", func(t *testing.T) {
		d, err := topology.FromFlags("8xgp3", "", "", "c8g.4xlarge")
		if err != nil {
			t.Fatal(err)
		}
		top := detect(t, machine(t, "ec2-16xgp3-raid10", nil), "/data", "/wal", d)
		for _, a := range top.Arrays {
			if a.Level != topology.RAID10 || a.Volumes[7].Type != "gp3" || a.Volumes[7].Device == "" {
				t.Errorf("%+v", a)
			}
		}
		if top.Instance.Type != "c8g.4xlarge" || len(top.Notes) != 1 || !strings.Contains(top.Notes[0], "the machine says c8g.2xlarge") {
			t.Error(top.Instance, top.Notes)
		}
	})
	t.Run("more volumes than are seen", func(t *testing.T) {
		d, err := topology.FromFlags("8x3000iops:125MiB/s", "raid10", "64KiB", "")
		if err != nil {
			t.Fatal(err)
		}
		top := detect(t, machine(t, "this-vm", nil), "/", "/", d)
		a := top.Arrays[0]
		if len(top.Arrays) != 1 || a.Name != "vda" || a.Level != topology.RAID10 || len(a.Volumes) != 8 || a.Copies != 2 || a.Chunk != 64*units.KiB {
			t.Errorf("%+v", a)
		}
		d, err = topology.FromFlags("8xgp3", "", "", "")
		if err != nil {
			t.Fatal(err)
		}
		top = detect(t, machine(t, "this-vm", nil), "/", "/", d)
		if top.Arrays[0].Level != topology.NoLevel || !slices.ContainsFunc(top.Notes, func(n string) bool { return strings.Contains(n, "say its level") }) {
			t.Errorf("eight volumes in one device, by no known level: %+v %v", top.Arrays[0], top.Notes)
		}
	})
	t.Run("where nothing can be seen", func(t *testing.T) {
		m := &sys.Machine{Root: fstest.MapFS{}, Run: func(context.Context, io.Writer, ...string) error { return sys.ErrNotFound }}
		d, err := topology.FromFlags("4xgp3", "raid0", "64KiB", "")
		if err != nil {
			t.Fatal(err)
		}
		top := detect(t, m, "/data", "", d)
		if a := top.Array(top.For(topology.Data).Array); a == nil || a.Level != topology.RAID0 || len(a.Volumes) != 4 {
			t.Errorf("%+v", a)
		}
	})
	t.Run("an array that is not there, and a volume that is elsewhere", func(t *testing.T) {
		top := detect(t, machine(t, "ec2-single-ebs", nil), "/data", "/data", load(`
arrays:
  - {name: x, role: data, volumes: {serial: volffffffffffffffff0, type: gp3}}
  - {name: y, volumes: 2xgp3}
`))
		for _, want := range []string{
			"p.yaml:3: the volume volffffffffffffffff0 is not in nvme1n1", "array y (p.yaml:4) is not found below the paths under test",
		} {
			if !slices.Contains(top.Notes, want) {
				t.Errorf("want the note %q in %q", want, top.Notes)
			}
		}
	})
	t.Run("an order that cannot be", func(t *testing.T) {
		// 20 GiB of gp3 give at most 10,000 IOPS; the size is detected.
		_, err := topology.Detect(t.Context(), machine(t, "ec2-4xgp2-raid0", nil), map[topology.Role]string{topology.Data: "/"}, load(`
arrays: [{name: x, volumes: gp3 12000iops}]
`))
		if err == nil || !strings.HasPrefix(err.Error(), "p.yaml:2: ") {
			t.Error(err)
		}
	})
}

// built is a machine made of "device attribute value" lines; "slaves" lists what a device is made
// of. /m is on dm-9.
func built(lines string) *sys.Machine {
	root := fstest.MapFS{"proc/self/mountinfo": {Data: []byte("1 0 253:9 / /m rw - ext4 /dev/dm-9 rw\n")}}
	for l := range strings.Lines(lines) {
		f := strings.SplitN(strings.TrimSpace(l), " ", 3)
		if len(f) < 3 {
			continue
		}
		dir := "sys/class/block/" + f[0] + "/"
		if root[dir+"dev"] == nil {
			minor := strings.TrimLeft(f[0], "abcdefghijklmnopqrstuvwxyz-")
			root[dir+"dev"] = &fstest.MapFile{Data: []byte("253:" + minor)}
			root[dir+"size"] = &fstest.MapFile{Data: []byte("2097152")}
		}
		if f[1] == "slaves" {
			for sub := range strings.FieldsSeq(f[2]) {
				root[dir+"slaves/"+sub] = &fstest.MapFile{Data: []byte("../../" + sub), Mode: fs.ModeSymlink}
			}
			continue
		}
		root[dir+f[1]] = &fstest.MapFile{Data: []byte(f[2])}
	}
	return &sys.Machine{Root: root, Run: func(context.Context, io.Writer, ...string) error { return sys.ErrNotFound }}
}

func TestUnusualLayers(t *testing.T) {
	lvm := "LVM-" + strings.Repeat("v", 64)
	for _, c := range []struct{ name, lines, want string }{
		{
			"stripes over stripes split at the smaller chunk, whichever has it", `
dm-9 dm/uuid ` + lvm + `
dm-9 dm/name vg-wide
dm-9 queue/minimum_io_size 262144
dm-9 queue/optimal_io_size 524288
dm-9 slaves md1 md2
md1 md/level raid0
md1 md/chunk_size 65536
md1 md/raid_disks 2
md1 queue/minimum_io_size 65536
md1 queue/optimal_io_size 131072
md1 slaves sd11 sd12
md2 md/level raid0
md2 md/chunk_size 65536
md2 md/raid_disks 2
md2 slaves sd13 sd14
sd11 ro 0
sd12 ro 0
sd13 ro 0
sd14 ro 0
`, "dm-9 raid0 copies=0 chunk=64KiB degraded=0 missing=0 sd11 sd12 sd13 sd14",
		},
		{
			"a member that has failed but keeps its slot until it is removed", `
dm-9 md/level raid1
dm-9 md/raid_disks 2
dm-9 md/degraded 1
dm-9 md/dev-sd11/slot 0
dm-9 md/dev-sd11/state in_sync
dm-9 md/dev-sd12/slot 1
dm-9 md/dev-sd12/state faulty,write_error
dm-9 slaves sd11 sd12
sd11 ro 0
sd12 ro 0
`, "dm-9 raid1 copies=2 chunk=0B degraded=1 missing=1 sd11 -",
		},
		{
			"several paths to one drive", `
dm-9 dm/uuid mpath-36001
dm-9 dm/name mpatha
dm-9 slaves sd11 sd12
sd11 wwid naa.1
sd12 wwid naa.1
`, "sd11 single copies=0 chunk=0B degraded=0 missing=0 sd11",
		},
		{
			"two drives under an unknown mapping", `
dm-9 dm/uuid OTHER-1
dm-9 dm/name odd
dm-9 slaves sd11 sd12
sd11 wwid naa.1
sd12 wwid naa.2
`, "dm-9  copies=0 chunk=0B degraded=0 missing=0 sd11 sd12",
		},
		{
			"a thin volume lies on its pool's data", `
dm-9 dm/uuid ` + lvm + `
dm-9 dm/name vg-thin
dm-9 slaves dm-8
dm-8 dm/uuid ` + lvm + `-tpool
dm-8 dm/name vg-pool-tpool
dm-8 slaves dm-6 dm-7
dm-7 dm/uuid ` + lvm + `-tdata
dm-7 dm/name vg-pool_tdata
dm-7 slaves sd11
dm-6 dm/uuid ` + lvm + `-tmeta
dm-6 dm/name vg-pool_tmeta
dm-6 slaves sd12
sd11 ro 0
sd12 ro 0
`, "sd11 single copies=0 chunk=0B degraded=0 missing=0 sd11",
		},
		{
			"paths that NVMe hides are not devices", `
dm-9 dm/uuid CRYPT-1
dm-9 dm/name luks
dm-9 slaves nvme1n1
nvme1n1 hidden 0
nvme0c0n1 hidden 1
`, "nvme1n1 single copies=0 chunk=0B degraded=0 missing=0 nvme1n1",
		},
		{
			"an array that does not say how many members it wants", `
dm-9 md/level raid0
dm-9 md/chunk_size 65536
dm-9 md/dev-sd11/slot 0
dm-9 slaves sd11 sd12
sd11 ro 0
sd12 ro 0
`, "dm-9 raid0 copies=0 chunk=64KiB degraded=0 missing=0 sd11 sd12",
		},
		{
			"RAID10 with far copies", `
dm-9 md/level raid10
dm-9 md/layout 513
dm-9 md/chunk_size 65536
dm-9 md/raid_disks 3
dm-9 slaves sd11 sd12 sd13
sd11 ro 0
sd12 ro 0
sd13 ro 0
`, "dm-9 raid10 copies=2 chunk=64KiB degraded=0 missing=0 sd11 sd12 sd13",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := detect(t, built(c.lines), "/m/x", "", nil)
			if got := line(top.Array(top.For(topology.Data).Array)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if top.Tree.Devices["nvme0c0n1"] != nil {
				t.Error("a hidden device is in the tree")
			}
		})
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := topology.Detect(ctx, machine(t, "this-vm", nil), nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Whatever is missing of a machine, detection ends, and what it says holds together.
func TestDetectSurvivesDamage(t *testing.T) {
	fixtures, err := filepath.Glob("../block/testdata/*.txtar")
	if err != nil || len(fixtures) < 9 {
		t.Fatal(fixtures, err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		m := machine(t, strings.TrimSuffix(filepath.Base(rapid.SampledFrom(fixtures).Draw(rt, "fixture")), ".txtar"), nil)
		root := m.Root.(fstest.MapFS)
		var names, links []string
		for name, f := range root {
			if names = append(names, name); f.Mode&fs.ModeSymlink != 0 {
				links = append(links, name)
			}
		}
		slices.Sort(names)
		slices.Sort(links)
		for range rapid.IntRange(0, 30).Draw(rt, "damages") {
			delete(root, rapid.SampledFrom(names).Draw(rt, "file"))
			if len(links) > 0 {
				delete(root, rapid.SampledFrom(links).Draw(rt, "link"))
			}
		}
		top, err := topology.Detect(context.Background(), m, map[topology.Role]string{
			topology.Data: rapid.SampledFrom([]string{"/data", "/srv/wide", "/opt/fio/t0", "/", "/dev/md0"}).Draw(rt, "data"),
			topology.WAL:  rapid.SampledFrom([]string{"/wal", "/srv/wal", "/opt/fio/t1", "/dev/dm-4"}).Draw(rt, "wal"),
		}, nil)
		if err != nil {
			rt.Fatal(err)
		}
		for _, target := range top.Targets {
			if target.Device == "" != (target.Array == "") || target.Array != "" && top.Array(target.Array) == nil {
				rt.Fatalf("%+v", target)
			}
		}
		for _, a := range top.Arrays {
			if len(a.Volumes) == 0 && a.Level != topology.NoLevel || a.DataMembers() < 0 || a.DataMembers() > len(a.Volumes) {
				rt.Fatalf("%+v", a)
			}
		}
	})
}
