package topology_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// listing makes a machine of lsblk's lines, NAME SIZE TYPE MOUNTPOINT, as the seeds show them.
// Disks are EBS volumes.
func listing(lines string) *sys.Machine {
	root := fstest.MapFS{}
	put := func(name, text string) { root[name] = &fstest.MapFile{Data: []byte(text + "\n")} }
	mounts, disk, n := "", "", 0
	for line := range strings.Lines(lines) {
		f := strings.Fields(strings.NewReplacer("├─", "", "└─", "").Replace(line))
		if len(f) < 3 {
			continue
		}
		size, err := units.ParseBytes(f[1] + "iB")
		if err != nil {
			panic(err)
		}
		dir := "sys/class/block/" + f[0] + "/"
		put(dir+"dev", fmt.Sprintf("259:%d", n))
		put(dir+"size", fmt.Sprint(uint64(size/512)))
		if f[2] == "part" {
			put(dir+"partition", "1")
			root["sys/class/block/"+disk+"/"+f[0]] = &fstest.MapFile{Data: []byte("-> ../" + f[0])}
		} else {
			disk = f[0]
			serial := fmt.Sprintf("vol%017x", n+1)
			put(dir+"device/serial", serial)
			put(dir+"device/model", "Amazon Elastic Block Store")
			put(dir+"device/numa_node", "0")
			put(fmt.Sprintf("run/udev/data/b259:%d", n), "S:disk/by-id/nvme-Amazon_Elastic_Block_Store_"+serial)
		}
		if len(f) > 3 {
			mounts += fmt.Sprintf("%d 1 259:%d / %s rw - xfs /dev/%s rw\n", 20+n, n, f[3], f[0])
		}
		n++
	}
	put("proc/self/mountinfo", mounts)
	put("sys/class/dmi/id/sys_vendor", "Amazon EC2")
	return &sys.Machine{Root: root}
}

const (
	seed000 = `nvme1n1       3T disk
nvme2n1       3T disk
nvme3n1       3T disk
nvme4n1       3T disk
nvme0n1      20G disk
├─nvme0n1p1  20G part /
└─nvme0n1p128 1M part
`
	seed004 = `nvme1n1      8G disk
nvme0n1      8G disk
├─nvme0n1p1  7G part /
├─nvme0n1p15 99M part /boot/efi
└─nvme0n1p16 923M part /boot
nvme2n1      8G disk
`
)

func take(t *testing.T, m *sys.Machine) *topology.Inventory {
	t.Helper()
	inv, err := topology.TakeInventory(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// Seed 000: four unused volumes of 3 TiB, the root disk left out, and a plimsoll.yaml of them that
// loads.
func TestFourUnusedVolumes(t *testing.T) {
	inv := take(t, listing(seed000))
	var unused []string
	for _, d := range inv.Disks {
		if d.Unused() {
			unused = append(unused, d.Path)
		} else if d.Path != "/dev/nvme0n1" || !strings.Contains(strings.Join(d.Uses, " "), "it is mounted on /") {
			t.Errorf("%+v", d)
		}
	}
	if got := strings.Join(unused, " "); got != "/dev/nvme1n1 /dev/nvme2n1 /dev/nvme3n1 /dev/nvme4n1" {
		t.Errorf("unused: %s", got)
	}
	if d := inv.Disks[1]; d.ID != "vol-00000000000000001" || d.ByID != "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol00000000000000001" || d.NUMANode != 0 || d.Size != 3*units.TiB {
		t.Errorf("%+v", d)
	}
	for _, spec := range []string{"4 × unused 3TiB raid0", "4 x unused raid0", "data: 4 x 3TiB unused raid0", "unused 3TiB raid0"} {
		text, err := inv.Pick(spec, map[string]bool{})
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		d, err := topology.LoadDeclaration("plimsoll.yaml", []byte("arrays:\n"+text))
		if err != nil || len(d.Arrays) != 1 || len(d.Arrays[0].Volumes) != 4 || d.Arrays[0].Level != topology.RAID0 || d.Arrays[0].Volumes[3].Serial != "vol00000000000000004" {
			t.Errorf("%s: %v\n%s", spec, err, text)
		}
	}
	for spec, want := range map[string]string{
		"5 x unused 3TiB":       "found 4 of 5 matching unused disks",
		"2 x unused 3TiB":       "4 unused disks match: /dev/nvme1n1 (3 TiB), ",
		"1 x unused 20GiB":      "found 0 of 1 matching unused disks; these would match, but are not free: /dev/nvme0n1 (its partition",
		"4 x unused 100 apples": "neither a type nor a size",
		"0 x unused 3TiB":       "want from 1",
	} {
		if text, err := inv.Pick(spec, map[string]bool{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q\n%s", spec, err, want, text)
		}
	}
	taken := map[string]bool{}
	if _, err := inv.Pick("data: 4 x unused 3TiB", taken); err != nil {
		t.Fatal(err)
	}
	if _, err := inv.Pick("wal: 1 x unused 3TiB", taken); err == nil {
		t.Error("a disk is picked for two arrays")
	}
}

// Seed 004: of two volumes alike, which is io2 and which gp3.
func TestWhichIsIO2(t *testing.T) {
	onEC2(t, "vol-00000000000000001=io2 vol-00000000000000002=gp3 vol-00000000000000006=gp3", nil)
	m := listing(seed004)
	m.Here = true
	inv := take(t, m)
	got := ""
	for _, d := range inv.Disks {
		got += fmt.Sprintf("%s %s %v; ", d.Path, d.Type, d.Unused())
	}
	if got != "/dev/nvme0n1 gp3 false; /dev/nvme1n1 io2 true; /dev/nvme2n1 gp3 true; " {
		t.Errorf("%s %q", got, inv.Notes)
	}
	text, err := inv.Pick("wal: 1 x unused io2", map[string]bool{})
	if err != nil || !strings.Contains(text, `- {serial: "vol00000000000000001", size: 8GiB, type: io2, iops: 6000}`) || !strings.Contains(text, "role: wal\n    level: single") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := topology.LoadDeclaration("plimsoll.yaml", []byte("arrays:\n"+text)); err != nil {
		t.Error(err)
	}
	if _, err := inv.Pick("1 x unused 8GiB", map[string]bool{}); err == nil || !strings.Contains(err.Error(), "/dev/nvme1n1 (8 GiB, io2), /dev/nvme2n1 (8 GiB, gp3)") {
		t.Errorf("%v", err)
	}
}

// Disks with one serial number cannot be told apart by it: none of them is written into a file.
func TestPickOfOneSerialTwice(t *testing.T) {
	inv := take(t, listing(seed000))
	inv.Disks[2].Serial = inv.Disks[1].Serial
	text, err := inv.Pick("4 x unused 3TiB raid0", map[string]bool{})
	if err == nil || !strings.Contains(err.Error(), "found 2 of 4 matching unused disks") ||
		!strings.Contains(err.Error(), "/dev/nvme2n1 (its serial number vol00000000000000001 is also that of /dev/nvme1n1") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err := inv.Pick("2 x unused 3TiB raid0", map[string]bool{}); err != nil || strings.Contains(text, "00000001") {
		t.Errorf("%v\n%s", err, text)
	}
}

func FuzzPick(f *testing.F) {
	f.Add("4 × unused 3TiB raid0")
	f.Add("wal: 2 x unused gp3 50GiB raid1")
	f.Add(":x")
	inv, err := topology.TakeInventory(f.Context(), listing(seed000))
	if err != nil {
		f.Fatal(err)
	}
	bounded.Fuzz(f, func(t *testing.T, spec string) {
		if len(spec) > 64 {
			return // nobody writes more, and long inputs are slow to mutate and to minimize
		}
		text, err := inv.Pick(spec, map[string]bool{})
		if err != nil {
			return
		}
		if n := strings.Count(text, "serial:"); n < 1 || n > 4 || strings.Count(text, "\n") != n+5 {
			t.Errorf("%q:\n%s", spec, text)
		}
	})
}
