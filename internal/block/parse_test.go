package block

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

func TestMountinfoLine(t *testing.T) {
	m, err := mountinfoLine(`36 35 259:3 /a\040b /mnt\011x rw,noatime master:1 shared:2 - xfs /dev/md\134data rw,attr2,noatime,sunit=128`)
	if err != nil {
		t.Fatal(err)
	}
	want := Mount{
		ID: 36, Under: 35, Major: 259, Minor: 3, Root: "/a b", Point: "/mnt\tx", FS: "xfs", Source: `/dev/md\data`,
		Options: []string{"rw", "noatime", "attr2", "sunit=128"},
	}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	// An empty source leaves two blanks behind the type; the kernel prints "none" instead, but it
	// may.
	if m, err := mountinfoLine("36 35 0:3 / /x rw - fuse  rw"); err != nil || m.FS != "fuse" || m.Source != "" {
		t.Error(m, err)
	}
	for _, bad := range []string{"", "36 35 98:0 / /x rw xfs /dev/x rw", "x 35 98:0 / /x rw - xfs /dev/x rw", "36 35 98 / /x rw - xfs y rw"} {
		if _, err := mountinfoLine(bad); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}

func TestMdstat(t *testing.T) {
	got := parseMdstat(`Personalities : [raid0] [raid10] [raid6] [raid5] [raid4]
md0 : active raid10 nvme8n1[7] nvme6n1[5](F) nvme1n1[0]
      4186112 blocks super 1.2 64K chunks 2 near-copies [8/7] [UUUUU_UU]
      [>....................]  recovery =  3.6% (76288/2093056) finish=0.8min speed=18944K/sec

md1 : active (auto-read-only) raid5 sdb1[1] sda1[0]
      10 blocks super 1.2 level 5, 64k chunk, algorithm 2 [3/3] [UUU]
      	resync=PENDING
md2 : active raid0 nvme4n1[3] nvme3n1[2] nvme2n1[1] nvme1n1[0]
      12582387712 blocks super 1.2 64k chunks

md3 : active raid1 sdd[1] sdc[0]
      10 blocks [2/2] [UU]
      [=>...................]  check = 100.0% (10/10) finish=0.0min speed=0K/sec

unused devices: <none>
`)
	want := map[string]mdstatArray{
		"md0": {Level: "raid10", Action: "recover", Progress: 0.036, Speed: 18944 * 1024},
		"md1": {Level: "raid5", Action: "resync"},
		"md2": {Level: "raid0"},
		"md3": {Level: "raid1", Action: "check", Progress: 1},
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); d != "" {
		t.Error(d)
	}
}

// Lines as the lab's guests printed them (lab-recipe.md section 9), and one of each other shape.
func TestDMTable(t *testing.T) {
	got := parseDMTable(`vg-striped: 0 2097152 striped 4 128 259:3 2048 259:1 2048 259:2 2048 259:0 2048
vg-r0: 0 4194304 raid raid0 1 128 4 - 253:1 - 253:2 - 253:3 - 253:4
vg-r0_rimage_0: 0 1048576 linear 259:0 2048
vg-r10: 0 4194304 raid raid10_near 3 128 region_size 4096 4 253:0 253:1 253:2 253:3 253:4 253:5 253:6 253:7
vg-r5: 0 4194304 raid raid5_ls 3 128 region_size 4096 3 253:0 253:1 253:2 253:3 253:4 253:5
vg-grown: 0 1048576 linear 259:0 2048
vg-grown: 1048576 1048576 linear 259:1 2048
vg-mixed: 0 1048576 linear 259:0 2048
vg-mixed: 1048576 1048576 striped 2 128 259:1 2048 259:2 2048
luks: 0 100 crypt aes-xts-plain64 :64:logon 0 259:0 32768
direct: 0 100 crypt aes-xts-plain64 :64:logon 0 259:0 32768 3 allow_discards no_read_workqueue no_write_workqueue
half: 0 100 crypt aes-xts-plain64 :64:logon 0 259:0 32768 1 no_write_workqueue
No devices found
`)
	want := map[string]Vol{
		"vg-striped":     {Segment: "striped", Stripes: 4, Chunk: 64 * units.KiB},
		"vg-r0":          {Segment: "raid0", Stripes: 4, Chunk: 64 * units.KiB},
		"vg-r0_rimage_0": {Segment: "linear", Stripes: 1},
		"vg-r10":         {Segment: "raid10", Stripes: 4, Chunk: 64 * units.KiB},
		"vg-r5":          {Segment: "raid5", Stripes: 3, Chunk: 64 * units.KiB},
		"vg-grown":       {Segment: "linear", Stripes: 1},
		"vg-mixed":       {Segment: "mixed"},
		"luks":           {Segment: "crypt", Queued: true},
		"direct":         {Segment: "crypt"},
		"half":           {Segment: "crypt", Queued: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A captured machine has no dmsetup, whatever is installed here.
func TestSegmentsOfCapture(t *testing.T) {
	tree := &Tree{Devices: map[string]*Device{"dm-0": {Name: "dm-0", Path: "/dev/mapper/luks", DM: "CRYPT-LUKS2-1-luks"}}}
	for here, want := range map[bool]string{false: "a captured machine has no device-mapper table", true: "as root, with dmsetup"} {
		m := &sys.Machine{Here: here, Run: func(context.Context, io.Writer, ...string) error { return sys.ErrNotFound }}
		if err := tree.ReadSegments(t.Context(), m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%t: %v, want %q", here, err, want)
		}
	}
}

// ext4 shows the stripe that it uses also where its superblock may not be read, in blocks of 4 KiB.
func TestStripeWithoutSuperblock(t *testing.T) {
	r := &reader{root: fstest.MapFS{}}
	m := &Mount{FS: "ext4", Options: []string{"rw", "stripe=192"}}
	if g := r.geometry(m, &Device{Name: "md0"}); g.StripeWide != 768*units.KiB || g.Known {
		t.Errorf("%+v", g)
	}
}

// What device-mapper says of an encrypted device is asked where there is one, without a logical volume too.
func TestQueuesOfEncryption(t *testing.T) {
	tree := &Tree{Devices: map[string]*Device{
		"dm-0": {Name: "dm-0", Path: "/dev/mapper/luks", DM: "CRYPT-LUKS2-1-luks"},
		"dm-1": {Name: "dm-1", Path: "/dev/mapper/direct", DM: "CRYPT-LUKS2-2-direct"},
	}}
	m := &sys.Machine{Run: func(_ context.Context, out io.Writer, _ ...string) error {
		_, err := io.WriteString(out, "luks: 0 9 crypt aes x 0 259:0 32768 1 allow_discards\n"+
			"direct: 0 9 crypt aes x 0 259:1 32768 2 no_read_workqueue no_write_workqueue\n")
		return err
	}}
	if err := tree.ReadSegments(t.Context(), m); err != nil || !tree.Devices["dm-0"].Queued ||
		tree.Devices["dm-1"].Queued {
		t.Errorf("%v %+v %+v", err, tree.Devices["dm-0"], tree.Devices["dm-1"])
	}
}

func TestLVNames(t *testing.T) {
	id := "LVM-" + strings.Repeat("g", 32) + strings.Repeat("v", 32)
	for _, c := range []struct {
		name, uuid string
		want       Vol
	}{
		{"vg-data", id, Vol{VG: "vg", Name: "data", UUID: strings.Repeat("v", 32)}},
		{"nvmepool--1-my--bdc", id, Vol{VG: "nvmepool-1", Name: "my-bdc", UUID: strings.Repeat("v", 32)}},
		{"vg-r0_rimage_11", id, Vol{VG: "vg", Name: "r0_rimage_11", UUID: strings.Repeat("v", 32), Internal: true}},
		{"vg-old_rimage_notes", id, Vol{VG: "vg", Name: "old_rimage_notes", UUID: strings.Repeat("v", 32)}},
		{"vg-pool_tdata", id + "-tdata", Vol{VG: "vg", Name: "pool_tdata", UUID: strings.Repeat("v", 32), Internal: true}},
		{"odd", "LVM-short", Vol{Name: "odd"}},
	} {
		if d := cmp.Diff(c.want, *parseLVName(c.name, c.uuid)); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// saidOfXFS reads what mkfs.xfs and xfs_info print, where each section's items follow its name.
func saidOfXFS(t *testing.T, out string) Geometry {
	t.Helper()
	item := func(section, name string) units.Bytes {
		_, rest, _ := strings.Cut(out, "\n"+section)
		m := regexp.MustCompile(`\b` + name + `=([0-9]+)`).FindStringSubmatch(rest)
		if m == nil {
			t.Fatalf("no %s of %s in %s", name, section, out)
		}
		n, _ := strconv.Atoi(m[1])
		return units.Bytes(n)
	}
	out = "\n" + out
	bs := item("data", "bsize")
	return Geometry{
		BlockSize: bs, AGCount: int(item("meta-data", "agcount")), StripeUnit: item("data", "sunit") * bs,
		StripeWide: item("data", "swidth") * bs, LogUnit: item("log", "sunit") * item("log", "bsize"), Known: true,
		Size: item("data", "blocks") * bs,
	}
}

// A mounted XFS says of itself what xfs_info prints of it.
func TestGeometryOfAMountedXFS(t *testing.T) {
	for _, args := range []string{"-d su=64k,sw=4", "-d su=256k,sw=4 -l su=128k", "-b size=1024 -d noalign,agcount=7"} {
		dir := t.TempDir()
		script := "set -e; truncate -s 2G image; mkfs.xfs -q " + args + " image; mkdir m; mount -o loop image m; xfs_info m"
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir = dir
		t.Cleanup(func() { _ = exec.Command("umount", filepath.Join(dir, "m")).Run() })
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("SKIPPED: no XFS can be mounted here: %v", err)
		}
		got, err := XFSGeometry(filepath.Join(dir, "m"))
		if want := saidOfXFS(t, string(out)); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", args, got, err, want)
		}
	}
	if g, err := XFSGeometry("/proc"); err == nil {
		t.Errorf("of another filesystem: %+v", g)
	}
}

// The superblocks are those that the real mkfs writes, and mkfs.xfs itself says what is in its.
func TestSuperblocksOfRealFilesystems(t *testing.T) {
	image := filepath.Join(t.TempDir(), "image")
	blank := func() {
		t.Helper()
		if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 2<<30)); err != nil {
			t.Fatal(err)
		}
	}
	head := func() []byte {
		t.Helper()
		f, err := os.Open(image)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		buf := make([]byte, probeLen)
		if _, err := io.ReadFull(f, buf); err != nil {
			t.Fatal(err)
		}
		return buf
	}
	for _, args := range [][]string{
		{"-d", "su=64k,sw=4"},
		{"-d", "su=256k,sw=4", "-l", "su=128k"},
		{"-b", "size=1024", "-d", "noalign,agcount=7"},
	} {
		if _, err := exec.LookPath("mkfs.xfs"); err != nil {
			t.Skip("mkfs.xfs is not installed (Debian package xfsprogs)")
		}
		blank()
		out, err := exec.Command("mkfs.xfs", append(args, image)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		said := saidOfXFS(t, string(out))
		got, err := parseXFS(head())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(said, got); d != "" {
			t.Errorf("%v: mkfs.xfs says, the superblock says: %s\n%s", args, d, out)
		}
		if strings.Contains(args[1], "su=64k") && (got.StripeUnit != 64*units.KiB || got.StripeWide != 256*units.KiB) {
			t.Errorf("%+v", got)
		}
		if p := probe(head()); p != "xfs" {
			t.Errorf("probe says %q", p)
		}
	}
	blank()
	if out, err := exec.Command("mke2fs", "-q", "-t", "ext4", "-b", "4096", "-E", "stride=16,stripe_width=64", image).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	want := Geometry{
		BlockSize: 4096, StripeUnit: 64 * units.KiB, StripeWide: 256 * units.KiB, Size: 2 * units.GiB, Known: true,
	}
	if got, err := parseExt(head()); err != nil || got != want {
		t.Errorf("%+v %v", got, err)
	}
	if p := probe(head()); p != "ext4" {
		t.Errorf("probe says %q", p)
	}
	blank()
	if out, err := exec.Command("mkswap", image).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if p := probe(head()); p != "swap" {
		t.Errorf("probe says %q", p)
	}
	blank()
	if p := probe(head()); p != "" {
		t.Errorf("probe of a blank image says %q", p)
	}
}

func TestNaturalOrder(t *testing.T) {
	want := []string{"md0", "nvme1n1", "nvme1n1p1", "nvme1n1p2", "nvme1n1p10", "nvme2n1", "nvme10n1", "sda", "sda1"}
	got := slices.Clone(want)
	for range 20 {
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, natural)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatal(d)
		}
	}
}

func TestSyncSpeed(t *testing.T) {
	for text, want := range map[string]units.Rate{
		"1000 (system)": 1000 * units.Rate(units.KiB), "4000 (local)": 4000 * units.Rate(units.KiB),
		"": 0, "none": 0, "-1 (local)": 0, "99999999999999999999": 0,
	} {
		if got := parseSyncSpeed(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzParsers(f *testing.F) {
	f.Add([]byte("36 35 259:3 / /mnt rw,noatime master:1 - xfs /dev/md0 rw,sunit=128\n"))
	f.Add([]byte("md0 : active raid10 a[1]\n      1 blocks\n      [>..]  recovery =  3.6% (1/2) finish=0.8min speed=18944K/sec\n"))
	f.Add([]byte("vg-a: 0 1 raid raid0 1 128 4 - 253:1\nvg-b: 0 1 striped 4 128 1:2 3\n"))
	f.Add([]byte("S:disk/by-id/x\nE:ID_FS_TYPE=xfs\nN:y\n"))
	f.Add([]byte("data = bsize=4096 sunit=16 swidth=64 blks\nmeta-data=/dev/x agcount=3, x\n"))
	f.Add(append([]byte("XFSB\x00\x00\x10\x00"), make([]byte, 504)...))
	f.Add(append(make([]byte, 1080), append([]byte("\x53\xef"), make([]byte, 1000)...)...))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		text := string(data)
		if m, err := mountinfoLine(text); err == nil && len(m.Options) > len(text) {
			t.Error("more options than characters")
		}
		for name, a := range parseMdstat(text) {
			if a.Progress < 0 || a.Progress > 1 || a.Speed < 0 || !strings.Contains(text, name) {
				t.Errorf("%q: %+v", name, a)
			}
		}
		if p := parseSyncCompleted(text); !(p >= 0 && p <= 1) {
			t.Error(p)
		}
		if v := parseSyncSpeed(text); v < 0 {
			t.Error(v)
		}
		for name, v := range parseDMTable(text) {
			if v.Stripes < 0 || !strings.Contains(text, name) {
				t.Errorf("%q: %+v", name, v)
			}
		}
		parseUdev(text)
		parseLVName(text, text)
		parseSwaps(text)
		activeOf(text)
		for _, parse := range []func([]byte) (Geometry, error){parseXFS, parseExt} {
			g, err := parse(data)
			if err == nil && (g.BlockSize < 512 || g.BlockSize > 64*units.KiB || g.StripeUnit%g.BlockSize != 0) {
				t.Errorf("%+v", g)
			}
		}
		if p := probe(data); p != "" && bytes.Count(data, []byte{0}) == len(data) {
			t.Errorf("nothing but zeros is %s", p)
		}
		if c := natural(text, text); c != 0 {
			t.Error(c)
		}
	})
}
