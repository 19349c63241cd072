package provision

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const ourUUID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

// onFile is a site whose only drive, serial S0, is a regular file: what a member carries is read and
// written through it as through a device.
func onFile(t *testing.T, size units.Bytes, w *records.Work) (*state, string) {
	t.Helper()
	root := t.TempDir()
	name := filepath.Join(root, "dev", "fake0")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, int64(size)); err != nil {
		t.Fatal(err)
	}
	s := site(t, machine(nil, nil))
	s.Root, s.Journal = root, filepath.Join(root, "journal")
	w.Array, w.Members = "t", []records.Member{{Serial: "S0", Size: size, Path: "/dev/fake0"}}
	tree := &block.Tree{Devices: map[string]*block.Device{"fake0": {Name: "fake0", Path: "/dev/fake0", Serial: "S0", Size: size, Kind: block.Disk}}}
	return &state{s, w, tree}, name
}

// put writes bytes into a file at a place.
func put(t *testing.T, name string, at int64, data []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(data, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func uuidBytes(t *testing.T) []byte {
	t.Helper()
	id, err := hex.DecodeString(block.BareUUID(ourUUID))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// gpt is a GPT header with our GUID: its first three fields are little-endian.
func gpt(t *testing.T) []byte {
	h := append([]byte("EFI PART"), make([]byte, 48)...)
	id := uuidBytes(t)
	h = append(h, id[3], id[2], id[1], id[0], id[5], id[4], id[7], id[6])
	return append(h, id[8:]...)
}

// A member whose head is somebody's data stays as it is, though the copy of our table is still at
// its end.
func TestZeroLooksAtTheCopyOnlyWhereTheHeadIsEmpty(t *testing.T) {
	const size = 16 * units.MiB
	for name, c := range map[string]struct {
		head []byte
		ours bool
	}{"empty head": {nil, true}, "somebody's": {[]byte("data"), false}} {
		w := &records.Work{Want: records.Want{Using: "md", Partition: true}, Steps: []records.Step{{Check: []records.Cond{{Is: "table", Of: "@S0", Want: ourUUID}}}}}
		s, file := onFile(t, size, w)
		if err := os.MkdirAll(s.Journal, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, file, 4096, c.head)
		put(t, file, int64(size)-512, gpt(t))
		err := s.zero("@S0")
		if (err == nil) != c.ours {
			t.Errorf("%s: %v", name, err)
		}
		data, _ := os.ReadFile(file)
		if left := bytes.Contains(data, []byte("EFI PART")); left == c.ours || bytes.Contains(data, []byte("data")) != (c.head != nil) {
			t.Errorf("%s: table left %v", name, left)
		}
	}
}

// The digest tells a byte at a sample from another, and sizes count.
func TestReleasedByItsSamples(t *testing.T) {
	const size = 4 * units.MiB
	w := &records.Work{}
	s, file := onFile(t, size, w)
	if err := os.MkdirAll(s.Journal, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, file, 3000000, []byte("remains"))
	f := mustOpen(t, file)
	if s.asReleased("@S0", f, int64(size)) {
		t.Error("never released")
	}
	if err := s.release("@S0", f, int64(size)); err != nil {
		t.Fatal(err)
	}
	if !s.asReleased("@S0", f, int64(size)) || s.asReleased("@S1", f, int64(size)) || s.asReleased("@S0", f, int64(size)-4096) {
		t.Error("released as it is, of its serial and size")
	}
	put(t, file, 3000000, []byte("R"))
	if s.asReleased("@S0", f, int64(size)) {
		t.Error("it was written to since")
	}
	put(t, file, 3000000, []byte("r"))
	other := &records.Work{Members: []records.Member{{Serial: "S1"}}}
	if err := s.taken(other); err != nil || !s.asReleased("@S0", f, int64(size)) {
		t.Error(err)
	}
	if err := os.Chmod(s.Journal, 0o777); err != nil {
		t.Fatal(err)
	}
	if s.asReleased("@S0", f, int64(size)) {
		t.Error("what others may have written counts")
	}
	if err := os.Chmod(s.Journal, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.taken(w); err != nil || s.asReleased("@S0", f, int64(size)) {
		t.Error(err)
	}
}

// Sizes that vendors call the same differ by one per cent at most.
func TestAlikeSizes(t *testing.T) {
	for _, c := range []struct {
		a, b units.Bytes
		want bool
	}{{10000, 10100, true}, {10100, 10000, true}, {10000, 10101, false}, {10101, 10000, false}, {0, 0, true}} {
		if topology.Alike(c.a, c.b) != c.want {
			t.Errorf("%+v", c)
		}
	}
}

// member makes a work of so many members of a size.
func workOf(n int, size units.Bytes, want records.Want) *records.Work {
	w := &records.Work{Array: "t", Want: want}
	for i := range n {
		w.Members = append(w.Members, records.Member{Serial: "S" + string(rune('0'+i)), Size: size, Path: "/dev/sd" + string(rune('a'+i))})
	}
	return w
}

// XFS needs 300 MiB, on stripes 640; ext4 does not.
func TestLeastXFS(t *testing.T) {
	for _, c := range []struct {
		n    int
		size units.Bytes
		want records.Want
		ok   bool
	}{
		{1, 300 * units.MiB, records.Want{Level: "single", Data: 1, FS: "xfs"}, true},
		{1, 300*units.MiB - 1, records.Want{Level: "single", Data: 1, FS: "xfs"}, false},
		{1, 300*units.MiB - 1, records.Want{Level: "single", Data: 1, FS: "ext4"}, true},
		{2, 320 * units.MiB, records.Want{Level: "raid0", Data: 2, Chunk: 65536, FS: "xfs"}, true},
		{2, 320*units.MiB - 1, records.Want{Level: "raid0", Data: 2, Chunk: 65536, FS: "xfs"}, false},
	} {
		p := &planner{Site: site(t, machine(nil, nil)), tree: &block.Tree{}, made: map[string]bool{}}
		if err := p.steps(t.Context(), workOf(c.n, c.size, c.want)); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
		p.imagined = true
		if err := p.steps(t.Context(), workOf(c.n, c.size, c.want)); err != nil {
			t.Errorf("imagined: %v", err)
		}
	}
}

// Drives of which one would set the pace for all.
func TestUnequalDrives(t *testing.T) {
	drive := func(change func(*block.Device)) *block.Device {
		d := &block.Device{Serial: "S", Size: 10000, Queue: block.Queue{Logical: 512}}
		change(d)
		return d
	}
	plain := drive(func(*block.Device) {})
	declared := &topology.DeclaredArray{Volumes: make([]topology.DeclaredVolume, 2)}
	for want, d := range map[string]*block.Device{
		"mixed sizes":   drive(func(d *block.Device) { d.Size = 10101 }),
		"is rotational": drive(func(d *block.Device) { d.Queue.Rotational = true }),
		"mixed sectors": drive(func(d *block.Device) { d.Queue.Logical = 4096 }),
		"is local":      drive(func(d *block.Device) { d.Model = cloud.InstanceStoreModel }),
		"":              drive(func(d *block.Device) { d.Size = 10100 }),
	} {
		for _, chosen := range [][]*block.Device{{plain, d}, {d, plain}} {
			err := (&planner{}).equal(declared, chosen)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
	for _, v := range []topology.DeclaredVolume{{Type: "gp3"}, {Limits: topology.Limits{IOPS: 1}}} {
		d := &topology.DeclaredArray{Volumes: []topology.DeclaredVolume{{}, v}}
		if err := (&planner{}).equal(d, []*block.Device{plain, plain}); err == nil || !strings.Contains(err.Error(), "mixed speeds") {
			t.Error(err)
		}
	}
}

// Which drives are unused, by size, model and kind.
func TestUnusedDrives(t *testing.T) {
	tree := &block.Tree{Devices: map[string]*block.Device{}}
	for _, d := range []block.Device{
		{Name: "a", Serial: "A", Model: "Disk 1", Size: 10000, Kind: block.Disk},
		{Name: "b", Serial: "B", Model: "Disk 2", Size: 10100, Kind: block.Disk},
		{Name: "c", Serial: "C", Model: cloud.EBSModel, Size: 10000, Kind: block.Disk},
		{Name: "d", Serial: "D", Model: cloud.InstanceStoreModel, Size: 10000, Kind: block.Disk},
		{Name: "e", Model: "without a serial", Size: 10000, Kind: block.Disk},
		{Name: "f", Serial: "F", Kind: block.Disk},
		{Name: "g", Serial: "G", Size: 10000, Kind: block.Loop},
		{Name: "h", Serial: "H", Size: 20000, Kind: block.Disk},
		{Name: "i", Serial: "I", Size: 10000, Kind: block.Disk, Holders: []string{"md0"}},
		{Name: "j", WWN: "J", Size: 30000, Kind: block.Disk},
	} {
		d.Path = "/dev/" + d.Name
		tree.Devices[d.Name] = &d
	}
	names := func(like topology.DeclaredVolume, destroy map[string]string) string {
		var all []string
		for _, d := range (&planner{tree: tree, destroy: destroy}).unused(like) {
			all = append(all, d.Name)
		}
		return strings.Join(all, "")
	}
	for want, like := range map[string]topology.DeclaredVolume{
		"abcdhj": {}, "abcd": {Size: 10000}, "a": {Size: 10000, Model: "Disk 1"}, "abc": {Size: 10000, Type: "gp3"}, "abd": {Size: 10000, Type: "nvme"}, "h": {Size: 20000, Type: "io2"},
	} {
		if got := names(like, nil); got != want {
			t.Errorf("%+v: %s, want %s", like, got, want)
		}
	}
	if got := names(topology.DeclaredVolume{Size: 10000}, map[string]string{"i": "I"}); got != "abcdi" {
		t.Errorf("given up: %s", got)
	}
	var many []*block.Device
	for range 9 {
		many = append(many, tree.Devices["a"])
	}
	p := &planner{tree: tree}
	if got := p.list(many[:8]); strings.Count(got, "A (/dev/a") != 8 || strings.Contains(got, "more") {
		t.Error(got)
	}
	if got := p.list(many); strings.Count(got, "A (/dev/a") != 8 || !strings.HasSuffix(got, ", 1 more") {
		t.Error(got)
	}
	if p.list(nil) != "none" {
		t.Error(p.list(nil))
	}
}

// A plan's steps that are left; what makes two wants differ.
func TestStepsLeft(t *testing.T) {
	p := &Plan{Arrays: []*records.Work{{Steps: []records.Step{{State: records.StepDone}, {}, {State: records.StepBegun}}}, {Steps: []records.Step{{}}}}}
	if p.Steps() != 3 {
		t.Error(p.Steps())
	}
	base := records.Want{Level: "raid0", Chunk: 65536}
	for want, change := range map[string]func(*records.Want){
		"":                                    func(*records.Want) {},
		"level was raid0, is raid1":           func(w *records.Want) { w.Level = "raid1" },
		"copies was 0, is 2":                  func(w *records.Want) { w.Copies = 2 },
		"chunk was 64 KiB, is 128 KiB":        func(w *records.Want) { w.Chunk = 131072 },
		"using was none, is md":               func(w *records.Want) { w.Using = "md" },
		"volume_group was none, is g":         func(w *records.Want) { w.Group = "g" },
		"assume_clean was false, is true":     func(w *records.Want) { w.Clean = true },
		"partition was false, is true":        func(w *records.Want) { w.Partition = true },
		"filesystem.fstab was false, is true": func(w *records.Want) { w.ByLabel = true },
		"filesystem.mode was none, is 0700":   func(w *records.Want) { w.Mode = "0700" },
		"volumes was none, is A":              func(w *records.Want) { w.Volumes = "A" },
	} {
		now := base
		change(&now)
		if got := records.Differ(base, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
