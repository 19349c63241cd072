package provision

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/block"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
)

// bench are real block devices, loop devices over sparse files, that a made-up /sys gives serial
// numbers S0, S1, ….
type bench struct {
	*Site
	t     testing.TB
	w     *records.Work
	paths []string
}

func loops(t *testing.T, n int, size units.Bytes) *bench {
	t.Helper()
	return loopsFor(t, n, size)
}

func loopsFor(t testing.TB, n int, size units.Bytes) *bench {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	b := &bench{t: t, w: &records.Work{Array: "t"}}
	host := *sys.Host()
	root := fstest.MapFS{}
	host.Root = root
	b.Site = &Site{Machine: &host, Root: "/", Journal: filepath.Join(t.TempDir(), "journal"), UUID: newUUID}
	for i := range n {
		file := filepath.Join(t.TempDir(), "disk")
		if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Truncate(file, int64(size))); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("losetup", "--find", "--show", file).Output()
		if err != nil {
			t.Skipf("NO LOOP DEVICES HERE: losetup: %v (needs root and the loop driver)", err)
		}
		dev := strings.TrimSpace(string(out))
		t.Cleanup(func() {
			if out, err := exec.Command("losetup", "--detach", dev).CombinedOutput(); err != nil {
				t.Errorf("%s: %v %s", dev, err, out)
			}
		})
		dir := "sys/class/block/" + filepath.Base(dev) + "/"
		for name, text := range map[string]string{"dev": fmt.Sprintf("7:%s", strings.TrimPrefix(dev, "/dev/loop")), "size": fmt.Sprint(int64(size) / 512), "device/serial": fmt.Sprintf("S%d", i)} {
			root[dir+name] = &fstest.MapFile{Data: []byte(text + "\n")}
		}
		b.paths = append(b.paths, dev)
		b.w.Members = append(b.w.Members, records.Member{Serial: fmt.Sprintf("S%d", i), Size: size, Path: dev})
	}
	return b
}

func (b *bench) now() *state {
	b.t.Helper()
	tree, err := block.Read(b.Machine)
	if err != nil {
		b.t.Fatal(err)
	}
	return &state{b.Site, b.w, tree}
}

func (b *bench) sh(script string) {
	b.t.Helper()
	cmd := exec.Command("bash", "-c", "set -e; d=$1\n"+script, "bash", b.paths[0])
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (b *bench) sum() string {
	b.t.Helper()
	out, err := exec.Command("sha256sum", b.paths[0]).Output()
	if err != nil {
		b.t.Fatal(err)
	}
	return string(out)
}

// What a disc may carry that a quick look takes for blank: each is refused, and nothing on it changes.
func TestNotBlank(t *testing.T) {
	for name, c := range map[string]struct{ make, want string }{
		"blank":                      {"", ""},
		"byte in the first MiB":      {"printf x | dd of=$d bs=1 seek=777777 conv=notrunc", "byte 777777 is not zero"},
		"byte at 1 MiB":              {"printf x | dd of=$d bs=1 seek=1048576 conv=notrunc", "byte 1048576 is not zero"},
		"last byte":                  {"printf x | dd of=$d bs=1 seek=67108863 conv=notrunc", "byte 67108863 is not zero"},
		"1 MiB in the middle":        {"dd if=/dev/urandom of=$d bs=1M count=1 seek=30 conv=notrunc", "is not zero"},
		"ext4, first MiB zeroed":     {"mkfs.ext4 -q -b 4096 $d; dd if=/dev/zero of=$d bs=1M count=4 conv=notrunc", "is not zero"},
		"ext4 in a zapped partition": {"s=$(mktemp); truncate -s 60M $s; mkfs.ext4 -q $s; dd if=$s of=$d bs=1M seek=1 conv=notrunc; rm $s; sgdisk -Z $d || true", "is not zero"},
		"ext4":                       {"mkfs.ext4 -q $d", "it carries ext4 at 0x438"},
		"gpt":                        {"sgdisk -n 1:1M:0 $d", "it carries gpt at 0x200"},
		"LVM":                        {"pvcreate -q --config 'devices{use_devicesfile=0}' $d", "it carries LVM2_member at 0x218"},
		"bcache magic alone":         {`printf '\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81' | dd of=$d bs=1 seek=4120 conv=notrunc`, "not blank"},
		"a label of ZFS at the end":  {`printf '\x0c\xb1\xba\x00\x00\x00\x00\x00' | dd of=$d bs=1 seek=$((67108864-262144+131072)) conv=notrunc`, "is not zero"},
	} {
		t.Run(name, func(t *testing.T) {
			size := 64 * units.MiB
			if strings.Contains(name, "zeroed") {
				size = 160 * units.MiB // with a copy of the superblock at 128 MiB
			}
			b := loops(t, 1, size)
			if c.make != "" {
				b.sh(c.make + "; sync $d")
			}
			before := b.sum()
			err := b.now().checkBlank(t.Context(), "@S0")
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--destroy "+b.paths[0]+" --serial S0")) {
				t.Errorf("%v, want %q", err, c.want)
			}
			// What is not blank is not zeroed by an undo either.
			if err := b.now().zero("@S0"); c.want != "" && err == nil && c.make != "" && !strings.Contains(name, "middle") && !strings.Contains(name, "zeroed") {
				t.Error("zero took it for plimsoll's own")
			}
			if after := b.sum(); after != before {
				t.Error("it has changed")
			}
		})
	}
}

// A disk that somebody uses is not opened, not wiped, and not changed, whatever /sys shows.
func TestEraseNeedsTheDeviceAlone(t *testing.T) {
	b := loops(t, 1, 64*units.MiB)
	b.w.Members[0].Destroy = true
	b.sh("mkfs.ext4 -q $d")
	dir := t.TempDir()
	b.sh("mount -o ro $d " + dir)
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	before := b.sum()
	if err := b.now().erase(t.Context(), "@S0"); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("mounted: %v", err)
	}
	if b.sum() != before {
		t.Error("it has changed while it was mounted")
	}
	b.sh("umount " + dir)

	// It comes into use between the look and the erasing: the tree in hand does not know, the
	// kernel does.
	stale := b.now()
	b.sh("mount -o ro $d " + dir)
	if err := stale.erase(t.Context(), "@S0"); err == nil || !strings.Contains(err.Error(), "in use") || b.sum() != before {
		t.Errorf("mounted since: %v", err)
	}
	b.sh("umount " + dir)

	if err := b.now().erase(t.Context(), "@S0"); err != nil {
		t.Fatal(err)
	}
	if err := b.now().checkBlank(t.Context(), "@S0"); err != nil {
		t.Errorf("erased: %v", err)
	}
	found, err := b.signatures(t.Context(), b.paths[0])
	if err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
}

// Everything that wipefs knows goes, however far inside, as far as tools to make it are here.
func TestErase(t *testing.T) {
	for name, script := range map[string]string{
		"ext4":         "mkfs.ext4 -q $d",
		"xfs":          "mkfs.xfs -q $d",
		"gpt and ext4": "sgdisk -n 1:1M:0 $d; mkfs.ext4 -q -E offset=1048576 $d 290M || true",
		"LVM":          "pvcreate -q --config 'devices{use_devicesfile=0}' $d",
		"btrfs magics": `for at in 65600 67108928; do printf '_BHRfS_M' | dd of=$d bs=1 seek=$at conv=notrunc; done`,
		"noise":        "dd if=/dev/urandom of=$d bs=1M count=304 conv=notrunc",
	} {
		t.Run(name, func(t *testing.T) {
			b := loops(t, 1, 304*units.MiB)
			b.w.Members[0].Destroy = true
			b.sh(script + "; sync $d")
			if err := b.now().erase(t.Context(), "@S0"); err != nil {
				t.Fatal(err)
			}
			if err := b.now().checkBlank(t.Context(), "@S0"); err != nil {
				t.Error(err)
			}
		})
	}
}

// An undo zeroes what carries apply's mark, its mark last, and nothing else.
func TestZeroTakesOnlyItsOwn(t *testing.T) {
	const uuid = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
	hexed, _ := hex.DecodeString(block.BareUUID(uuid))
	md := append(append([]byte{0xfc, 0x4e, 0x2b, 0xa9}, make([]byte, 12)...), hexed...)
	set := func(using string, check records.CondKind) func(*records.Work) {
		return func(w *records.Work) {
			w.Want.Using, w.Want.Group = using, "pool"
			w.Steps = []records.Step{{Check: []records.Cond{{Is: check, Of: "@S0", Want: map[records.CondKind]string{"filesystem": "ext4 "}[check] + uuid}}}}
			w.Want.Partition = check == "table"
		}
	}
	for name, c := range map[string]struct {
		set  func(*records.Work)
		make string
		ours bool
	}{
		"md of ours": {set("md", "array"), "printf '" + escaped(md) +
			"' | dd of=$d bs=1 seek=4096 conv=notrunc; printf bitm | dd of=$d bs=1 seek=8192 conv=notrunc", true},
		"md of others": {set("md", "array"), "printf '" + escaped(md[:31]) +
			"x' | dd of=$d bs=1 seek=4096 conv=notrunc", false},
		"raw data": {
			set("md", "array"),
			"yes RAWDATABASE | dd of=$d bs=1M count=8 iflag=fullblock conv=notrunc", false,
		},
		"ext4 of ours":   {set("", "filesystem"), "mkfs.ext4 -q -U " + uuid + " $d", true},
		"xfs of ours":    {set("", "filesystem"), "mkfs.xfs -q -m uuid=" + uuid + " $d", true},
		"ext4 of others": {set("", "filesystem"), "mkfs.ext4 -q $d", false},
		"table of ours":  {set("md", "table"), "sgdisk -o -U " + uuid + " -n 1:1M:0 $d", true},
		"table, first part gone": {set("md", "table"), "sgdisk -o -U " + uuid +
			" -n 1:1M:0 $d; dd if=/dev/zero of=$d bs=1M count=1 conv=notrunc", true},
		"protective MBR alone": {set("md", "table"), "sgdisk -o $d; dd if=/dev/zero of=$d bs=512 seek=1 count=4095 conv=notrunc; dd if=/dev/zero of=$d bs=1M seek=14 count=2 conv=notrunc", true},
		"data in our partition": {set("md", "table"), "sgdisk -o -U " + uuid +
			" -n 1:1M:0 $d; printf x | dd of=$d bs=1 seek=1200000 conv=notrunc", false},
		"data at its end": {set("md", "table"), "sgdisk -o -U " + uuid +
			" -n 1:1M:0 $d; printf x | dd of=$d bs=1 seek=15000000 conv=notrunc", false},
		"table of others": {set("md", "table"), "sgdisk -o -n 1:1M:0 $d", false},
		"LVM, pvremoved": {set("lvm", "vg"), lvmScript("pool") + "; pvremove -qy " + lvmConfig +
			" $d", true},
		"LVM, not ours": {set("lvm", "vg"), lvmScript("mine") + "; pvremove -qy " + lvmConfig +
			" $d", false},
		"LVM, labelled": {set("lvm", "vg"), lvmScript("pool"), false},
		"blank":         {set("md", "array"), "true", true},
		"md of ours, under a table of others": {set("md", "array"), "printf '" + escaped(md) +
			"' | dd of=$d bs=1 seek=4096 conv=notrunc; " + dosTable, false},
		"LVM, pvremoved, under a table of others": {set("lvm", "vg"), lvmScript("pool") + "; pvremove -qy " + lvmConfig +
			" $d; " + dosTable, false},
		"md of ours, with a filesystem at 64 KiB": {set("md", "array"), "printf '" + escaped(md) +
			"' | dd of=$d bs=1 seek=4096 conv=notrunc; printf _BHRfS_M | dd of=$d bs=1 seek=65600 conv=notrunc", false},
	} {
		t.Run(name, func(t *testing.T) {
			size := 16 * units.MiB
			if strings.Contains(c.make, "xfs") {
				size = 304 * units.MiB
			}
			b := loops(t, 1, size)
			c.set(b.w)
			b.sh(c.make + "; sync $d")
			before := b.sum()
			err := b.now().zero("@S0")
			if c.ours != (err == nil) {
				t.Fatalf("%v", err)
			}
			if err != nil && (b.sum() != before || !strings.Contains(err.Error(), "it stays as it is")) {
				t.Errorf("changed, or not explained: %v", err)
			}
			if err == nil {
				b.w.Members[0].Destroy = true // only the ends are promised
				if err := b.now().checkBlank(t.Context(), "@S0"); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// A partition that is gone, on a disk that is there, is nothing that a teardown could wait for.
func TestZeroOfAPartitionThatIsGone(t *testing.T) {
	b := loops(t, 1, 16*units.MiB)
	if err := b.now().zero("@S0:1"); err != nil {
		t.Error(err)
	}
	if err := b.now().zero("@S9:1"); !errors.Is(err, errGone) {
		t.Errorf("without the disk: %v", err)
	}
}

// dosTable writes only the first sector, as sfdisk does: what is at 4 KiB stays.
const dosTable = `printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\010\0\0' | dd of=$d bs=1 seek=446 conv=notrunc
	printf '\125\252' | dd of=$d bs=1 seek=510 conv=notrunc`

const lvmConfig = "--config 'devices{use_devicesfile=0} backup{backup=0 archive=0}'"

func lvmScript(group string) string {
	return "pvcreate -q " + lvmConfig + " $d; vgcreate -q " + lvmConfig + " " + group + " $d; vgremove -q " + lvmConfig + " " + group
}

func escaped(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, `\x%02x`, c)
	}
	return s.String()
}

// What teardown leaves between the ends of its members does not stand in the next apply's way,
// unless somebody wrote to it.
func TestReleased(t *testing.T) {
	b := built(t)
	b.sh("dd if=/dev/urandom of=$d bs=1M seek=4 count=8 conv=notrunc,fsync")
	if err := b.Teardown(t.Context(), nil, records.GiveUp{}); err != nil {
		t.Fatal(err)
	}
	if at, err := records.FirstByte(t.Context(), mustOpen(t, b.paths[0]), 16<<20, true); err != nil || at < 4<<20 {
		t.Fatalf("nothing is left that could be in the way: %d %v", at, err)
	}
	if err := b.now().checkBlank(t.Context(), "@S0"); err != nil {
		t.Errorf("after teardown: %v", err)
	}
	b.sh("dd if=/dev/urandom of=$d bs=1M seek=6 count=1 conv=notrunc,fsync")
	if err := b.now().checkBlank(t.Context(), "@S0"); err == nil || !strings.Contains(err.Error(), "is not zero") {
		t.Errorf("written to since: %v", err)
	}
}

func mustOpen(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}
