package provision

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/cloud"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

const ourUUID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

// onFile is a site whose only drive, serial S0, is a regular file: what a member carries is read and
// written through it as through a device.
func onFile(t *testing.T, size units.Bytes, w *Work) (*state, string) {
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
	w.Array, w.Members = "t", []Member{{Serial: "S0", Size: size, Path: "/dev/fake0"}}
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
	id, err := hex.DecodeString(bare(ourUUID))
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
		w := &Work{Want: Want{Using: "md", Partition: true}, Steps: []Step{{Check: []Cond{{Is: "table", Of: "@S0", Want: ourUUID}}}}}
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

// What --destroy gives up is a member by its serial: without one nothing is.
func TestGivenUpBySerial(t *testing.T) {
	w := &Work{Given: []Obstacle{{Name: "/dev/x"}, {Serial: "S1"}}}
	for serial, want := range map[string]bool{"": false, "S1": true, "S2": false} {
		if w.gives(serial) != want {
			t.Errorf("%q: %v", serial, !want)
		}
	}
	if (&Work{}).gives("") {
		t.Error("nothing was given up")
	}
}

// Each mark at its place, and one byte beside it.
func TestMarksByHand(t *testing.T) {
	id := uuidBytes(t)
	head := func(parts ...any) []byte {
		h := make([]byte, 8192)
		for i := 0; i < len(parts); i += 2 {
			copy(h[parts[i].(int):], parts[i+1].([]byte))
		}
		return h
	}
	md := binary.LittleEndian.AppendUint32(nil, 0xa92b4efc)
	lvm, mbr := []byte(" LVM2 x[5A%r0N*>"), []byte{0x55, 0xaa}
	other := slices.Clone(id)
	other[15]++
	find := func(f func([]byte, string) (span, bool), what string) func([]byte) (span, bool) {
		return func(h []byte) (span, bool) { return f(h, what) }
	}
	mdOf, tableOf, lvmOf, fsOf := find(mdMark, ourUUID), find(tableMark, ourUUID), find(lvmMark, "pool"), find(filesystemMark, ourUUID)
	for name, c := range map[string]struct {
		find func([]byte) (span, bool)
		head []byte
		want span
		ok   bool
	}{
		"md":                    {mdOf, head(4096, md, 4112, id), span{4096, 4096}, true},
		"md, another UUID":      {mdOf, head(4096, md, 4112, other), span{}, false},
		"md, no magic":          {mdOf, head(4112, id), span{}, false},
		"md, UUID elsewhere":    {mdOf, head(4096, md, 4113, id), span{}, false},
		"md, a short head":      {mdOf, head(4096, md, 4112, id)[:8191], span{}, false},
		"table of 512":          {tableOf, head(512, gpt(t)), span{512, 512}, true},
		"table of 4096":         {tableOf, head(4096, gpt(t)), span{4096, 512}, true},
		"table elsewhere":       {tableOf, head(1024, gpt(t)), span{}, false},
		"protective MBR":        {tableOf, head(510, mbr, 450, []byte{0xee}), span{0, 512}, true},
		"an MBR":                {tableOf, head(510, mbr, 450, []byte{0x83}), span{}, false},
		"MBR without its end":   {tableOf, head(450, []byte{0xee}), span{}, false},
		"MBR with half its end": {tableOf, head(510, mbr[:1], 450, []byte{0xee}), span{}, false},
		"MBR and more":          {tableOf, head(510, mbr, 450, []byte{0xee}, 8191, []byte{1}), span{}, false},
		"LVM":                   {lvmOf, head(4100, lvm), span{4096, 512}, true},
		"LVM of our group":      {lvmOf, head(4100, lvm, 4608, []byte("pool {")), span{4096, 512}, true},
		"LVM of another group":  {lvmOf, head(4100, lvm, 4608, []byte("pool2 {")), span{}, false},
		"LVM with its label":    {lvmOf, head(4100, lvm, 512, []byte("LABELONE")), span{}, false},
		"LVM without magic":     {lvmOf, head(4608, []byte("pool {")), span{}, false},
		"LVM, a short head":     {lvmOf, head(4100, lvm)[:4863], span{}, false},
		"xfs":                   {fsOf, head(0, []byte("XFSB"), 32, id), span{0, 512}, true},
		"xfs, another UUID":     {fsOf, head(0, []byte("XFSB"), 32, other), span{}, false},
		"ext4":                  {fsOf, head(1080, []byte{0x53, 0xef}, 1128, id), span{1024, 1024}, true},
		"ext4, another UUID":    {fsOf, head(1080, []byte{0x53, 0xef}, 1128, other), span{}, false},
		"ext4, half its magic":  {fsOf, head(1080, []byte{0x53}, 1128, id), span{}, false},
		"ext4, its other half":  {fsOf, head(1081, []byte{0xef}, 1128, id), span{}, false},
		"md's for no UUID":      {find(mdMark, ""), head(4096, md), span{}, false},
		"a table for no GUID":   {find(tableMark, ""), head(512, gpt(t)), span{}, false},
		"a filesystem, no UUID": {find(filesystemMark, "xyz"), head(0, []byte("XFSB")), span{}, false},
	} {
		where, ok := c.find(c.head)
		if ok != c.ok || ok && where != c.want {
			t.Errorf("%s: %v %v, want %v %v", name, where, ok, c.want, c.ok)
		}
	}
	if (span{4, 4}).of(make([]byte, 8)) == nil || (span{4, 4}).of(make([]byte, 7)) != nil {
		t.Error("a span of a head")
	}
	for _, sector := range []int64{512, 4096} {
		const size = 1 << 20
		data := make([]byte, size)
		copy(data[size-sector:], gpt(t))
		where, ok, err := backupTable(bytes.NewReader(data), size, ourUUID)
		if err != nil || !ok || where != (span{size - sector, 512}) {
			t.Errorf("copy of %d: %v %v %v", sector, where, ok, err)
		}
		if _, ok, _ := backupTable(bytes.NewReader(make([]byte, size)), size, ourUUID); ok {
			t.Error("a copy of nothing")
		}
	}
}

// Spans: ends that meet are one; a hole parts the span that it lies in.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		size, n int64
		want    []span
	}{{100, 10, []span{{0, 10}, {90, 10}}}, {20, 10, []span{{0, 20}}}, {21, 10, []span{{0, 10}, {11, 10}}}, {5, 10, []span{{0, 5}}}} {
		if got := ends(c.size, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%d by %d: %v", c.size, c.n, got)
		}
	}
	if got := edges(int64(5 * units.MiB)); !slices.Equal(got, []span{{0, 2 << 20}, {3 << 20, 2 << 20}}) {
		t.Errorf("%v", got)
	}
	all := []span{{0, 10}, {90, 10}}
	for _, c := range []struct {
		hole span
		want []span
	}{
		{span{4, 2}, []span{{0, 4}, {6, 4}, {90, 10}}},
		{span{0, 2}, []span{{0, 0}, {2, 8}, {90, 10}}},
		{span{9, 1}, []span{{0, 9}, {10, 0}, {90, 10}}},
		{span{10, 1}, all},
		{span{90, 10}, []span{{0, 10}, {90, 0}, {100, 0}}},
		{span{89, 1}, all},
	} {
		if got := without(all, c.hole); !slices.Equal(got, c.want) {
			t.Errorf("without %v: %v, want %v", c.hole, got, c.want)
		}
	}
	for _, c := range []struct {
		at   int64
		want int64
	}{{10, 10}, {4095, 4095}, {4096, 4096}, {9999, 9999}, {-1, -1}} {
		data := make([]byte, 10000)
		if c.at >= 0 {
			data[c.at] = 1
		}
		if got, err := notZero(bytes.NewReader(data), span{0, 10000}); got != c.want || err != nil {
			t.Errorf("%d: %d %v", c.at, got, err)
		}
	}
	if _, err := notZero(bytes.NewReader(make([]byte, 99)), span{50, 50}); err == nil || err.Error() != "it ends at byte 99, short of its size" {
		t.Error(err)
	}
}

// Where samples lie: every MiB of a small volume; of a larger one a landmark each and a sample in each
// of 4,096 parts, on whole sectors of 4 KiB.
func TestPlacesOfSamples(t *testing.T) {
	const mib = int64(units.MiB)
	got := places(3*mib+5, 1)
	if want := []span{{0, mib}, {mib, mib}, {2 * mib, mib}, {3 * mib, 5}}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := places(256*mib, 1); len(got) != 256 || got[255] != (span{255 * mib, mib}) {
		t.Errorf("%d", len(got))
	}
	const size = 1 << 40
	all := places(size, 7)
	if !slices.Equal(all, places(size, 7)) || slices.Equal(all, places(size, 8)) {
		t.Error("a seed does not give the same places again, or another the same")
	}
	seen := map[int64]bool{}
	for i, s := range all {
		if s.n != 4096 || s.at%4096 != 0 || s.at < 0 || s.at+s.n > size || i > 0 && s.at <= all[i-1].at {
			t.Fatalf("%d: %+v", i, s)
		}
		seen[s.at] = true
	}
	for part := range int64(samples) {
		from := part * (size / samples)
		if !slices.ContainsFunc(all, func(s span) bool { return s.at >= from && s.at < from+size/samples }) {
			t.Fatalf("no sample in part %d", part)
		}
	}
	// Landmarks of 1 TiB: btrfs at 64 MiB and 256 GiB; quarters; ext4's groups of 128 MiB, and of
	// 8 MiB with 1 KiB blocks, whose copy begins 1 KiB later.
	want := []int64{64 << 20, 256 << 30, 512 << 30, 768 << 30}
	for _, n := range []int64{1, 3, 5, 7, 9} {
		want = append(want, n*128<<20, n*8<<20)
	}
	for _, at := range want {
		if !seen[at] {
			t.Errorf("nothing is read at %d", at)
		}
	}
	if len(landmarks(size)) != 15 || len(landmarks(100<<20)) != 3+1+5 {
		t.Errorf("%v %v", landmarks(size), landmarks(100<<20))
	}
	if just := landmarks(64<<20 + 4096); !slices.Contains(just, 64<<20) {
		t.Errorf("%v", just)
	}
	if short := landmarks(64<<20 + 4095); slices.Contains(short, 64<<20) {
		t.Errorf("%v", short)
	}
	for _, seed := range []uint64{rand.Uint64(), rand.Uint64()} {
		if last := places(256*mib+4096, seed); last[len(last)-1].at > 256*mib {
			t.Errorf("%+v", last[len(last)-1])
		}
	}
}

// The digest tells a byte at a sample from another, and sizes count.
func TestReleasedByItsSamples(t *testing.T) {
	const size = 4 * units.MiB
	w := &Work{}
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
	other := &Work{Members: []Member{{Serial: "S1"}}}
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
		if alike(c.a, c.b) != c.want {
			t.Errorf("%+v", c)
		}
	}
	if short(64*units.KiB) != "64k" || short(2*units.MiB) != "2m" || short(1536*units.KiB) != "1536k" || short(512) != "512" || short(units.KiB) != "1k" || short(1025) != "1025" || short(0) != "0" {
		t.Error("short")
	}
	for n, want := range map[float64]string{4: "4", 4.01: "5", 0: "0"} {
		if whole(n) != want {
			t.Errorf("%v: %s", n, whole(n))
		}
	}
	for disk, want := range map[string]string{"/dev/sda": "/dev/sda1", "/dev/nvme0n1": "/dev/nvme0n1p1", "/dev/x9": "/dev/x9p1", "/dev/x0": "/dev/x0p1"} {
		if partitioned(disk, true) != want || partitioned(disk, false) != disk {
			t.Errorf("%s: %s", disk, partitioned(disk, true))
		}
	}
	for s, want := range map[string]string{"a-b_c.d/e": "a-b_c.d/e", "": "''", "a b": "'a b'", "it's": `'it'\''s'`} {
		if quote(s) != want {
			t.Errorf("%q: %s", s, quote(s))
		}
	}
}

// What is left open is filled in, and what cannot be built is refused: level by level.
func TestSettledWants(t *testing.T) {
	volumes := func(n int) []topology.DeclaredVolume {
		all := make([]topology.DeclaredVolume, n)
		for i := range all {
			all[i] = topology.DeclaredVolume{Serial: string(rune('A' + i))}
		}
		return all
	}
	const k = units.KiB
	for name, c := range map[string]struct {
		d    topology.DeclaredArray
		want Want
		err  string
	}{
		"one volume":           {topology.DeclaredArray{Volumes: volumes(1)}, Want{Level: "single", Data: 1, Volumes: "A"}, ""},
		"one volume, LVM":      {topology.DeclaredArray{Volumes: volumes(1), Using: "lvm"}, Want{Level: "single", Data: 1, Using: "lvm", Group: "t", Volumes: "A"}, ""},
		"raid0":                {topology.DeclaredArray{Level: "raid0", Volumes: volumes(3)}, Want{Level: "raid0", Data: 3, Using: "md", Chunk: 512 * k, Volumes: "A, B, C"}, ""},
		"raid0, LVM":           {topology.DeclaredArray{Level: "raid0", Volumes: volumes(3), Using: "lvm", VolumeGroup: "g"}, Want{Level: "raid0", Data: 3, Using: "lvm", Group: "g", Chunk: 64 * k, Volumes: "A, B, C"}, ""},
		"raid0, odd chunk":     {topology.DeclaredArray{Level: "raid0", Chunk: 96 * k, Volumes: volumes(2)}, Want{Level: "raid0", Data: 2, Using: "md", Chunk: 96 * k, Volumes: "A, B"}, ""},
		"raid5, odd chunk":     {topology.DeclaredArray{Level: "raid5", Chunk: 96 * k, Volumes: volumes(3)}, Want{}, "want a power of two"},
		"LVM, odd chunk":       {topology.DeclaredArray{Level: "raid0", Chunk: 96 * k, Volumes: volumes(2), Using: "lvm"}, Want{}, "want a power of two"},
		"raid10":               {topology.DeclaredArray{Level: "raid10", Chunk: 64 * k, Volumes: volumes(4)}, Want{Level: "raid10", Copies: 2, Data: 2, Using: "md", Chunk: 64 * k, Volumes: "A, B, C, D"}, ""},
		"raid10 of three":      {topology.DeclaredArray{Level: "raid10", Copies: 3, Chunk: 64 * k, Volumes: volumes(6)}, Want{Level: "raid10", Copies: 3, Data: 2, Using: "md", Chunk: 64 * k, Volumes: "A, B, C, D, E, F"}, ""},
		"raid10 of odd":        {topology.DeclaredArray{Level: "raid10", Volumes: volumes(5)}, Want{}, "needs a multiple of 2 volumes for whole stripes, here are 5"},
		"raid10, far":          {topology.DeclaredArray{Level: "raid10", Layout: "f2", Volumes: volumes(4)}, Want{}, "plimsoll builds near copies only"},
		"raid10, near":         {topology.DeclaredArray{Level: "raid10", Layout: "n2", Chunk: 64 * k, Volumes: volumes(4)}, Want{Level: "raid10", Copies: 2, Data: 2, Using: "md", Chunk: 64 * k, Volumes: "A, B, C, D"}, ""},
		"raid1":                {topology.DeclaredArray{Level: "raid1", Volumes: volumes(3)}, Want{Level: "raid1", Copies: 3, Data: 1, Using: "md", Volumes: "A, B, C"}, ""},
		"raid1, two copies":    {topology.DeclaredArray{Level: "raid1", Copies: 2, Volumes: volumes(3)}, Want{}, "3 volumes are 3 copies, not 2"},
		"raid5":                {topology.DeclaredArray{Level: "raid5", Volumes: volumes(4)}, Want{Level: "raid5", Data: 3, Using: "md", Chunk: 512 * k, Volumes: "A, B, C, D"}, ""},
		"raid6":                {topology.DeclaredArray{Level: "raid6", Volumes: volumes(5)}, Want{Level: "raid6", Data: 3, Using: "md", Chunk: 512 * k, Volumes: "A, B, C, D, E"}, ""},
		"raid6, assumed clean": {topology.DeclaredArray{Level: "raid6", AssumeClean: true, Volumes: volumes(5)}, Want{}, "the parity of raid6 would be wrong"},
		"raid5, assumed clean": {topology.DeclaredArray{Level: "raid5", AssumeClean: true, Volumes: volumes(5)}, Want{}, "the parity of raid5 would be wrong"},
		"raid1, assumed clean": {topology.DeclaredArray{Level: "raid1", AssumeClean: true, Volumes: volumes(2)}, Want{Level: "raid1", Copies: 2, Data: 1, Using: "md", Clean: true, Volumes: "A, B"}, ""},
		"no level":             {topology.DeclaredArray{Volumes: volumes(2)}, Want{}, "its level is missing"},
		"linear":               {topology.DeclaredArray{Level: "linear", Volumes: volumes(2)}, Want{}, "plimsoll builds none"},
		"a segment":            {topology.DeclaredArray{Level: "raid0", Segment: "raid0", Using: "lvm", Volumes: volumes(2)}, Want{Level: "raid0", Data: 2, Using: "lvm", Group: "t", Segment: "raid0", Chunk: 64 * k, Volumes: "A, B"}, ""},
		"a segment elsewhere":  {topology.DeclaredArray{Level: "raid1", Segment: "raid0", Using: "lvm", Volumes: volumes(2)}, Want{}, "segment raid0 goes with level raid0, not raid1"},
		"a group's name":       {topology.DeclaredArray{Level: "raid0", Using: "lvm", VolumeGroup: "a b", Volumes: volumes(2)}, Want{}, "volume_group"},
		"no volumes":           {topology.DeclaredArray{}, Want{}, "which volumes is not said"},
		"each":                 {topology.DeclaredArray{Each: true, Volumes: volumes(1)}, Want{}, "which volumes is not said"},
	} {
		c.d.Name = "t"
		got, err := settle(&c.d)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v %v\nwant %+v", name, got, err, c.want)
		}
	}
	for name, ok := range map[string]bool{"": false, "a": true, strings.Repeat("a", 32): true, strings.Repeat("a", 33): false, "-a": false, "a b": false} {
		if _, err := settle(&topology.DeclaredArray{Name: name, Volumes: volumes(1)}); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// The filesystem's own wants: su and sw must be the array's.
func TestWantsOfAFilesystem(t *testing.T) {
	striped := Want{Level: topology.RAID10, Chunk: 64 * units.KiB, Data: 4}
	for name, c := range map[string]struct {
		w    Want
		f    topology.DeclaredFilesystem
		want string // options, or an error
		err  bool
	}{
		"nothing said":       {striped, topology.DeclaredFilesystem{}, "noatime,nofail", false},
		"options":            {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"noatime", "logbufs=8"}}, "noatime,logbufs=8,nofail", false},
		"nofail said":        {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"nofail"}}, "nofail", false},
		"its su and sw":      {striped, topology.DeclaredFilesystem{StripeUnit: 64 * units.KiB, StripeData: 4}, "noatime,nofail", false},
		"another su":         {striped, topology.DeclaredFilesystem{StripeUnit: 32 * units.KiB}, "su=32k,sw=4 does not fit: raid10 with chunk 64 KiB has 4 data members, so su=64k,sw=4", true},
		"another sw":         {striped, topology.DeclaredFilesystem{StripeData: 8}, "su=64k,sw=8 does not fit", true},
		"su of no stripe":    {Want{Level: topology.RAID1}, topology.DeclaredFilesystem{StripeUnit: 1}, "raid1 has no stripe", true},
		"sw of no stripe":    {Want{Level: topology.RAID1}, topology.DeclaredFilesystem{StripeData: 1}, "raid1 has no stripe", true},
		"no stripe":          {Want{Level: topology.RAID1}, topology.DeclaredFilesystem{}, "noatime,nofail", false},
		"discard":            {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"discard"}}, "option discard", true},
		"sunit":              {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"sunit=8"}}, "option sunit=8", true},
		"swidth":             {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"swidth=8"}}, "option swidth=8", true},
		"stripe":             {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"stripe=8"}}, "option stripe=8", true},
		"owner of nothing":   {striped, topology.DeclaredFilesystem{Owner: "a"}, "are of a mount point, and none is given", true},
		"mode of nothing":    {striped, topology.DeclaredFilesystem{Mode: "0700"}, "are of a mount point, and none is given", true},
		"options of nothing": {striped, topology.DeclaredFilesystem{Options: []string{"noatime"}}, "are of a mount point, and none is given", true},
		"owner":              {striped, topology.DeclaredFilesystem{Mount: "/d", Owner: "a:b:c"}, "want user or user:group", true},
		"label":              {striped, topology.DeclaredFilesystem{Label: "a b"}, "label", true},
		"option text":        {striped, topology.DeclaredFilesystem{Mount: "/d", Options: []string{"a b"}}, "option", true},
	} {
		err := c.w.filesystem(&c.f)
		if c.err && (err == nil || !strings.Contains(err.Error(), c.want)) || !c.err && (err != nil || c.w.Options != c.want || c.w.FS != "xfs") {
			t.Errorf("%s: %v %+v, want %q", name, err, c.w, c.want)
		}
	}
	by := striped
	if err := by.filesystem(&topology.DeclaredFilesystem{Type: "ext4", Label: "L", Fstab: "label"}); err != nil || !by.ByLabel || by.FS != "ext4" {
		t.Errorf("%+v %v", by, err)
	}
	none := striped
	if err := none.filesystem(nil); err != nil || none != striped {
		t.Errorf("%+v %v", none, err)
	}
}

// member makes a work of so many members of a size.
func workOf(n int, size units.Bytes, want Want) *Work {
	w := &Work{Array: "t", Want: want}
	for i := range n {
		w.Members = append(w.Members, Member{Serial: "S" + string(rune('0'+i)), Size: size, Path: "/dev/sd" + string(rune('a'+i))})
	}
	return w
}

// The programs' own words, option by option.
func TestCommandsByHand(t *testing.T) {
	uuid := func() string { return ourUUID }
	last := func(w *Work, with string) string {
		t.Helper()
		for _, st := range w.Steps {
			for _, line := range w.Commands(st.Do) {
				if strings.HasPrefix(line, with) {
					return line
				}
			}
		}
		return ""
	}
	const k = units.KiB
	for name, c := range map[string]struct {
		n    int
		want Want
		with string
		line string
	}{
		"raid0": {
			2,
			Want{Level: "raid0", Using: "md", Data: 2, Chunk: 512 * k},
			"mdadm",
			"mdadm --create /dev/md/t --run --homehost=any --name=t --uuid=0a1b2c3d:4e5f6071:8293a4b5:c6d7e8f9 --metadata=1.2 --level=0 --raid-devices=2 --chunk=512K /dev/sda /dev/sdb",
		},
		"raid10 of three, clean": {
			6,
			Want{Level: "raid10", Using: "md", Copies: 3, Data: 2, Chunk: units.MiB, Clean: true},
			"mdadm",
			"mdadm --create /dev/md/t --run --homehost=any --name=t --uuid=0a1b2c3d:4e5f6071:8293a4b5:c6d7e8f9 --metadata=1.2 --level=10 --raid-devices=6 --layout=n3 --chunk=1M --assume-clean /dev/sda /dev/sdb /dev/sdc /dev/sdd /dev/sde /dev/sdf",
		},
		"raid1": {
			2,
			Want{Level: "raid1", Using: "md", Copies: 2, Data: 1},
			"mdadm",
			"mdadm --create /dev/md/t --run --homehost=any --name=t --uuid=0a1b2c3d:4e5f6071:8293a4b5:c6d7e8f9 --metadata=1.2 --level=1 --raid-devices=2 /dev/sda /dev/sdb",
		},
		"LVM raid0": {
			3,
			Want{Level: "raid0", Using: "lvm", Group: "g", Data: 3, Chunk: 64 * k},
			"lvcreate",
			"lvcreate --yes --quiet --config '" + noBackup + "' --wipesignatures y --extents 100%FREE --name t --type striped --stripes 3 --stripesize 64k g",
		},
		"LVM raid10": {
			4,
			Want{Level: "raid10", Using: "lvm", Group: "g", Copies: 2, Data: 2, Chunk: 64 * k, Clean: true},
			"lvcreate",
			"lvcreate --yes --quiet --config '" + noBackup + "' --wipesignatures y --extents 100%FREE --name t --type raid10 --mirrors 1 --stripes 2 --stripesize 64k --nosync g",
		},
		"LVM raid1": {
			3,
			Want{Level: "raid1", Using: "lvm", Group: "g", Copies: 3, Data: 1},
			"lvcreate",
			"lvcreate --yes --quiet --config '" + noBackup + "' --wipesignatures y --extents 100%FREE --name t --type raid1 --mirrors 2 g",
		},
		"LVM raid6": {
			5,
			Want{Level: "raid6", Using: "lvm", Group: "g", Data: 3, Chunk: 64 * k},
			"lvcreate",
			"lvcreate --yes --quiet --config '" + noBackup + "' --wipesignatures y --extents 100%FREE --name t --type raid6 --stripes 3 --stripesize 64k g",
		},
		"LVM single": {
			1,
			Want{Level: "single", Using: "lvm", Group: "g", Data: 1},
			"lvcreate",
			"lvcreate --yes --quiet --config '" + noBackup + "' --wipesignatures y --extents 100%FREE --name t --type linear g",
		},
		"LVM segment": {
			2,
			Want{Level: "raid0", Using: "lvm", Group: "g", Segment: "raid0", Data: 2, Chunk: 64 * k},
			"lvcreate",
			"lvcreate --yes --quiet --config '" + noBackup + "' --wipesignatures y --extents 100%FREE --name t --type raid0 --stripes 2 --stripesize 64k g",
		},
		"xfs on stripes": {
			4,
			Want{Level: "raid10", Using: "md", Copies: 2, Data: 2, Chunk: 64 * k, FS: "xfs", Label: "L"},
			"mkfs",
			"mkfs.xfs -q -f -m uuid=" + ourUUID + " -d su=64k,sw=2 -l su=32k -L L /dev/md/t",
		},
		"xfs on small stripes": {
			4,
			Want{Level: "raid10", Using: "md", Copies: 2, Data: 2, Chunk: 16 * k, FS: "xfs"},
			"mkfs",
			"mkfs.xfs -q -f -m uuid=" + ourUUID + " -d su=16k,sw=2 -l su=16k /dev/md/t",
		},
		"xfs": {1, Want{Level: "single", Data: 1, FS: "xfs"}, "mkfs", "mkfs.xfs -q -f -m uuid=" + ourUUID + " /dev/sda"},
		"ext4 on stripes": {
			4,
			Want{Level: "raid0", Using: "md", Data: 4, Chunk: 64 * k, FS: "ext4"},
			"mkfs",
			"mkfs.ext4 -q -F -b 4096 -U " + ourUUID + " -E stride=16,stripe_width=64,lazy_itable_init=0,lazy_journal_init=0 /dev/md/t",
		},
		"ext4": {1, Want{Level: "single", Data: 1, FS: "ext4", Partition: true}, "mkfs", "mkfs.ext4 -q -F -b 4096 -U " + ourUUID + " -E lazy_itable_init=0,lazy_journal_init=0 /dev/sda1"},
		"partition for md": {
			1,
			Want{Level: "single", Using: "md", Partition: true},
			"sgdisk",
			"sgdisk --clear --disk-guid=0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9 --set-alignment=1 --new=1:1MiB:0 --typecode=1:fd00 --change-name=1:t /dev/sda",
		},
		"partition for LVM": {
			1,
			Want{Level: "single", Using: "lvm", Partition: true},
			"sgdisk",
			"sgdisk --clear --disk-guid=0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9 --set-alignment=1 --new=1:1MiB:0 --typecode=1:8e00 --change-name=1:t /dev/sda",
		},
		"partition": {
			1,
			Want{Level: "single", Partition: true},
			"sgdisk",
			"sgdisk --clear --disk-guid=0A1B2C3D-4E5F-6071-8293-A4B5C6D7E8F9 --set-alignment=1 --new=1:1MiB:0 --typecode=1:8300 --change-name=1:t /dev/sda",
		},
	} {
		w := workOf(c.n, 10*units.GiB, c.want)
		switch {
		case c.with == "sgdisk":
			w.partition(uuid)
		case c.with == "mkfs":
			w.mkfs(ourUUID)
		case c.want.Using == "lvm":
			w.volumeGroup()
		default:
			w.mdadm(ourUUID)
		}
		if got := last(w, c.with); got != c.line {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.line)
		}
	}
}

// The arithmetic that is shown, and what an array holds: that of its smallest member.
func TestArithmeticByHand(t *testing.T) {
	const k = units.KiB
	for want, w := range map[string]*Work{
		"4 volumes, all with data; stripe = 64 KiB x 4 = 256 KiB":                                                                               workOf(4, 1, Want{Level: "raid0", Data: 4, Chunk: 64 * k}),
		"4 volumes / 2 copies = 2 with data; stripe = 64 KiB x 2 = 128 KiB; xfs su=64k,sw=2 (sunit=16, swidth=32 blocks of 4 KiB), log su=32k":  workOf(4, 1, Want{Level: "raid10", Copies: 2, Data: 2, Chunk: 64 * k, FS: "xfs"}),
		"5 volumes - 1 of parity = 4 with data; stripe = 16 KiB x 4 = 64 KiB; ext4 stride = 16 KiB / 4KiB = 4, stripe_width = 4 x 4 = 16":       workOf(5, 1, Want{Level: "raid5", Data: 4, Chunk: 16 * k, FS: "ext4"}),
		"6 volumes - 2 of parity = 4 with data; stripe = 16 KiB x 4 = 64 KiB; xfs su=16k,sw=4 (sunit=4, swidth=16 blocks of 4 KiB), log su=16k": workOf(6, 1, Want{Level: "raid6", Data: 4, Chunk: 16 * k, FS: "xfs"}),
		"": workOf(2, 1, Want{Level: "raid1", Data: 1}),
	} {
		if got := w.Arithmetic(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	w := workOf(3, 10*units.GiB, Want{Data: 2})
	w.Members[1].Size = 7 * units.GiB
	if w.Size() != 14*units.GiB || w.least() != 7*units.GiB {
		t.Errorf("%v of %v", w.Size(), w.least())
	}
	w.Want.Data = 0
	if w.Size() != 7*units.GiB {
		t.Error(w.Size())
	}
}

// XFS needs 300 MiB, on stripes 640; ext4 does not.
func TestLeastXFS(t *testing.T) {
	for _, c := range []struct {
		n    int
		size units.Bytes
		want Want
		ok   bool
	}{
		{1, 300 * units.MiB, Want{Level: "single", Data: 1, FS: "xfs"}, true},
		{1, 300*units.MiB - 1, Want{Level: "single", Data: 1, FS: "xfs"}, false},
		{1, 300*units.MiB - 1, Want{Level: "single", Data: 1, FS: "ext4"}, true},
		{2, 320 * units.MiB, Want{Level: "raid0", Data: 2, Chunk: 65536, FS: "xfs"}, true},
		{2, 320*units.MiB - 1, Want{Level: "raid0", Data: 2, Chunk: 65536, FS: "xfs"}, false},
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
		"mixed sizes":       drive(func(d *block.Device) { d.Size = 10101 }),
		"one is rotational": drive(func(d *block.Device) { d.Queue.Rotational = true }),
		"mixed sectors":     drive(func(d *block.Device) { d.Queue.Logical = 4096 }),
		"one is local":      drive(func(d *block.Device) { d.Model = cloud.InstanceStoreModel }),
		"":                  drive(func(d *block.Device) { d.Size = 10100 }),
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

// Lines between marks: where they begin and end, and what is left without them.
func TestLinesByHand(t *testing.T) {
	l := &Lines{File: "/etc/fstab", Name: "t", Text: "UUID=1 /d xfs"}
	if lineIndex([]byte("ab\nb\n"), []byte("b\n")) != 3 || lineIndex([]byte("b\n"), []byte("b\n")) != 0 || lineIndex([]byte("ab\n"), []byte("b\n")) != -1 || lineIndex([]byte("xb\nyb\nb\n"), []byte("b\n")) != 6 {
		t.Error("where a line begins")
	}
	for name, old := range map[string]string{"whole": "a\nb\n", "without its end": "a\nb", "empty": ""} {
		now, err := l.added([]byte(old), true)
		if err != nil || !l.inPlace(now) {
			t.Fatalf("%s: %q %v", name, now, err)
		}
		again, err := l.added(now, true)
		if err != nil || !bytes.Equal(again, now) {
			t.Errorf("%s: added twice: %q %v", name, again, err)
		}
		rest, remove, err := l.cut(now)
		if err != nil || string(rest) != old || remove {
			t.Errorf("%s: %q %v %v", name, rest, remove, err)
		}
		more := append(slices.Clone(now), "c\n"...)
		want := strings.TrimSuffix(old, "\n") + "\nc\n" // somebody's line stays a line of its own
		if rest, _, _ := l.cut(more); string(rest) != strings.TrimPrefix(want, "\n") {
			t.Errorf("%s: %q, want %q", name, rest, want)
		}
	}
	made, err := l.added(nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if rest, remove, err := l.cut(made); err != nil || len(rest) != 0 || !remove {
		t.Errorf("%q %v %v", rest, remove, err)
	}
	if rest, remove, err := l.cut(append(made, "x\n"...)); err != nil || string(rest) != "x\n" || remove {
		t.Errorf("%q %v %v", rest, remove, err)
	}
	if after, err := l.added([]byte("a"), true); err != nil || !strings.HasPrefix(string(after), "a\n") {
		t.Errorf("%q %v", after, err)
	} else if rest, remove, err := l.cut(after[2:]); err != nil || len(rest) != 0 || remove { // the line before was taken out
		t.Errorf("%q %v %v", rest, remove, err)
	} else if rest, _, err := l.cut(after[1:]); err != nil || len(rest) != 0 { // it was emptied
		t.Errorf("%q %v", rest, err)
	}
	begin, end := l.Marks()
	broken := begin + "\nUUID=1 /d xfs\n"
	if _, _, err := l.cut([]byte(broken)); err == nil || !strings.Contains(err.Error(), "is gone") {
		t.Error(err)
	}
	if got := l.foreign([]byte(broken)); len(got) != 1 {
		t.Errorf("%q", got)
	}
	ours := begin + "\nUUID=1 /d xfs noatime\n\nUUID=1 /e xfs\nUUID=2 /d xfs\nUUID=1\n" + end + "\n"
	if got := l.foreign([]byte(ours)); !slices.Equal(got, []string{"UUID=1 /e xfs", "UUID=2 /d xfs", "UUID=1"}) {
		t.Errorf("%q", got)
	}
	if l.foreign([]byte("a\n")) != nil || (&Lines{Bare: true}).foreign([]byte(ours)) != nil {
		t.Error("nothing is foreign where nothing of ours is")
	}
}

// A plan's steps that are left; what makes two wants differ.
func TestStepsLeft(t *testing.T) {
	p := &Plan{Arrays: []*Work{{Steps: []Step{{State: StepDone}, {}, {State: StepBegun}}}, {Steps: []Step{{}}}}}
	if p.Steps() != 3 {
		t.Error(p.Steps())
	}
	base := Want{Level: "raid0", Chunk: 65536}
	for want, change := range map[string]func(*Want){
		"":                                    func(*Want) {},
		"level was raid0, is raid1":           func(w *Want) { w.Level = "raid1" },
		"copies was 0, is 2":                  func(w *Want) { w.Copies = 2 },
		"chunk was 64 KiB, is 128 KiB":        func(w *Want) { w.Chunk = 131072 },
		"using was none, is md":               func(w *Want) { w.Using = "md" },
		"volume_group was none, is g":         func(w *Want) { w.Group = "g" },
		"assume_clean was false, is true":     func(w *Want) { w.Clean = true },
		"partition was false, is true":        func(w *Want) { w.Partition = true },
		"filesystem.fstab was false, is true": func(w *Want) { w.ByLabel = true },
		"filesystem.mode was none, is 0700":   func(w *Want) { w.Mode = "0700" },
		"volumes was none, is A":              func(w *Want) { w.Volumes = "A" },
	} {
		now := base
		change(&now)
		if got := differ(base, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What EBS volumes are ordered with: sizes rounded up to whole GiB, and what a type has a choice of.
func TestOrdersByHand(t *testing.T) {
	d := &topology.DeclaredArray{Name: "a", Volumes: []topology.DeclaredVolume{
		{Type: "gp3", Size: 10*units.GiB + 1, Limits: topology.Limits{IOPS: 4000, Rate: 250 * units.MiBPerSec}},
		{Type: "gp3", Size: 10*units.GiB + 1, Limits: topology.Limits{IOPS: 4000, Rate: 250 * units.MiBPerSec}},
		{Type: "io2", Size: 8 * units.GiB, Limits: topology.Limits{IOPS: 100.5, Rate: units.MiBPerSec}},
		{Type: "gp2", Limits: topology.Limits{IOPS: 9}},
		{Type: "azure-ultra"},
		{Type: "gp3", Serial: "S"},
		{Type: "gp3", ID: "vol-1"},
		{Type: "gp3", Path: "/dev/x"},
		{Type: "nvme"},
	}}
	all := orders(d)
	var got []string
	for _, o := range all {
		got = append(got, strings.Join(o.Create[5:], " ")+" ×"+string(rune('0'+o.Count)))
	}
	want := []string{
		"--volume-type gp3 --size 11 --iops 4000 --throughput 250 ×2", "--volume-type io2 --size 8 --iops 101 ×1", "--volume-type gp2 --size GIB ×1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// The head of a device is as much of it as there is: what is short is zero behind its end, what fails is an error.
func TestHeadsThatAreShort(t *testing.T) {
	for name, c := range map[string]struct {
		have int
		size int64
		want int
	}{"whole": {100, 100, 100}, "larger": {200, 100, 100}, "short": {50, 100, 100}, "nothing": {0, 10, 10}, "two mebibytes": {3 << 20, 3 << 20, 2 << 20}} {
		head, err := readHead(bytes.NewReader(bytes.Repeat([]byte{7}, c.have)), c.size)
		if err != nil || len(head) != c.want || bytes.Count(head, []byte{7}) != min(c.have, c.want) {
			t.Errorf("%s: %d bytes, %v", name, len(head), err)
		}
	}
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readHead(f, 100); err == nil {
		t.Error("a directory has no bytes")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []span{{0, 10}, {50, 10}} {
		if at, err := notZero(f, part); at != -1 || err == nil {
			t.Errorf("%v: %d %v", part, at, err)
		}
	}
	for size, want := range map[int64]string{0: "its size is not known", -1: "its size is not known", 10: "reading byte 0"} {
		if at, err := firstByte(t.Context(), f, size, true); at != -1 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %d %v", size, at, err)
		}
	}
	if _, err := digest(f, 1<<20, 1); err == nil {
		t.Error("a digest of what cannot be read")
	}
	if _, _, err := backupTable(f, 1<<20, ourUUID); err == nil {
		t.Error("a table of what cannot be read")
	}
}
