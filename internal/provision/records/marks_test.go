package records

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

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
	find := func(f func([]byte, string) (Span, bool), what string) func([]byte) (Span, bool) {
		return func(h []byte) (Span, bool) { return f(h, what) }
	}
	mdOf, tableOf, lvmOf, fsOf := find(mdMark, ourUUID), find(tableMark, ourUUID), find(lvmMark, "pool"), find(filesystemMark, ourUUID)
	for name, c := range map[string]struct {
		find func([]byte) (Span, bool)
		head []byte
		want Span
		ok   bool
	}{
		"md":                    {mdOf, head(4096, md, 4112, id), Span{4096, 4096}, true},
		"md, another UUID":      {mdOf, head(4096, md, 4112, other), Span{}, false},
		"md, no magic":          {mdOf, head(4112, id), Span{}, false},
		"md, UUID elsewhere":    {mdOf, head(4096, md, 4113, id), Span{}, false},
		"md, a short head":      {mdOf, head(4096, md, 4112, id)[:8191], Span{}, false},
		"table of 512":          {tableOf, head(512, gpt(t)), Span{512, 512}, true},
		"table of 4096":         {tableOf, head(4096, gpt(t)), Span{4096, 512}, true},
		"table elsewhere":       {tableOf, head(1024, gpt(t)), Span{}, false},
		"protective MBR":        {tableOf, head(510, mbr, 450, []byte{0xee}), Span{0, 512}, true},
		"an MBR":                {tableOf, head(510, mbr, 450, []byte{0x83}), Span{}, false},
		"MBR without its end":   {tableOf, head(450, []byte{0xee}), Span{}, false},
		"MBR with half its end": {tableOf, head(510, mbr[:1], 450, []byte{0xee}), Span{}, false},
		"MBR and more":          {tableOf, head(510, mbr, 450, []byte{0xee}, 8191, []byte{1}), Span{}, false},
		"LVM":                   {lvmOf, head(4100, lvm), Span{4096, 512}, true},
		"LVM of our group":      {lvmOf, head(4100, lvm, 4608, []byte("pool {")), Span{4096, 512}, true},
		"LVM of another group":  {lvmOf, head(4100, lvm, 4608, []byte("pool2 {")), Span{}, false},
		"LVM with its label":    {lvmOf, head(4100, lvm, 512, []byte("LABELONE")), Span{}, false},
		"LVM without magic":     {lvmOf, head(4608, []byte("pool {")), Span{}, false},
		"LVM, a short head":     {lvmOf, head(4100, lvm)[:4863], Span{}, false},
		"xfs":                   {fsOf, head(0, []byte("XFSB"), 32, id), Span{0, 512}, true},
		"xfs, another UUID":     {fsOf, head(0, []byte("XFSB"), 32, other), Span{}, false},
		"ext4":                  {fsOf, head(1080, []byte{0x53, 0xef}, 1128, id), Span{1024, 1024}, true},
		"ext4, another UUID":    {fsOf, head(1080, []byte{0x53, 0xef}, 1128, other), Span{}, false},
		"ext4, half its magic":  {fsOf, head(1080, []byte{0x53}, 1128, id), Span{}, false},
		"ext4, its other half":  {fsOf, head(1081, []byte{0xef}, 1128, id), Span{}, false},
		"md's for no UUID":      {find(mdMark, ""), head(4096, md), Span{}, false},
		"a table for no GUID":   {find(tableMark, ""), head(512, gpt(t)), Span{}, false},
		"a filesystem, no UUID": {find(filesystemMark, "xyz"), head(0, []byte("XFSB")), Span{}, false},
	} {
		where, ok := c.find(c.head)
		if ok != c.ok || ok && where != c.want {
			t.Errorf("%s: %v %v, want %v %v", name, where, ok, c.want, c.ok)
		}
	}
	if (Span{4, 4}).of(make([]byte, 8)) == nil || (Span{4, 4}).of(make([]byte, 7)) != nil {
		t.Error("a span of a head")
	}
	for _, sector := range []int64{512, 4096} {
		const size = 1 << 20
		data := make([]byte, size)
		copy(data[size-sector:], gpt(t))
		where, ok, err := BackupTable(bytes.NewReader(data), size, ourUUID)
		if err != nil || !ok || where != (Span{size - sector, 512}) {
			t.Errorf("copy of %d: %v %v %v", sector, where, ok, err)
		}
		if _, ok, _ := BackupTable(bytes.NewReader(make([]byte, size)), size, ourUUID); ok {
			t.Error("a copy of nothing")
		}
	}
}

// Spans: ends that meet are one; a hole parts the span that it lies in.
func TestSpans(t *testing.T) {
	for _, c := range []struct {
		size, n int64
		want    []Span
	}{{100, 10, []Span{{0, 10}, {90, 10}}}, {20, 10, []Span{{0, 20}}}, {21, 10, []Span{{0, 10}, {11, 10}}}, {5, 10, []Span{{0, 5}}}} {
		if got := Ends(c.size, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%d by %d: %v", c.size, c.n, got)
		}
	}
	if got := Edges(int64(5 * units.MiB)); !slices.Equal(got, []Span{{0, 2 << 20}, {3 << 20, 2 << 20}}) {
		t.Errorf("%v", got)
	}
	all := []Span{{0, 10}, {90, 10}}
	for _, c := range []struct {
		hole Span
		want []Span
	}{
		{Span{4, 2}, []Span{{0, 4}, {6, 4}, {90, 10}}},
		{Span{0, 2}, []Span{{0, 0}, {2, 8}, {90, 10}}},
		{Span{9, 1}, []Span{{0, 9}, {10, 0}, {90, 10}}},
		{Span{10, 1}, all},
		{Span{90, 10}, []Span{{0, 10}, {90, 0}, {100, 0}}},
		{Span{89, 1}, all},
	} {
		if got := Without(all, c.hole); !slices.Equal(got, c.want) {
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
		if got, err := NotZero(bytes.NewReader(data), Span{0, 10000}); got != c.want || err != nil {
			t.Errorf("%d: %d %v", c.at, got, err)
		}
	}
	if _, err := NotZero(bytes.NewReader(make([]byte, 99)), Span{50, 50}); err == nil || err.Error() != "it ends at byte 99, short of its size" {
		t.Error(err)
	}
}

// Where samples lie: every MiB of a small volume; of a larger one a landmark each and a sample in each
// of 4,096 parts, on whole sectors of 4 KiB.
func TestPlacesOfSamples(t *testing.T) {
	const mib = int64(units.MiB)
	got := places(3*mib+5, 1)
	if want := []Span{{0, mib}, {mib, mib}, {2 * mib, mib}, {3 * mib, 5}}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := places(256*mib, 1); len(got) != 256 || got[255] != (Span{255 * mib, mib}) {
		t.Errorf("%d", len(got))
	}
	const size = 1 << 40
	all := places(size, 7)
	if !slices.Equal(all, places(size, 7)) || slices.Equal(all, places(size, 8)) {
		t.Error("a seed does not give the same places again, or another the same")
	}
	seen := map[int64]bool{}
	for i, s := range all {
		if s.N != 4096 || s.At%4096 != 0 || s.At < 0 || s.At+s.N > size || i > 0 && s.At <= all[i-1].At {
			t.Fatalf("%d: %+v", i, s)
		}
		seen[s.At] = true
	}
	for part := range int64(samples) {
		from := part * (size / samples)
		if !slices.ContainsFunc(all, func(s Span) bool { return s.At >= from && s.At < from+size/samples }) {
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
		if last := places(256*mib+4096, seed); last[len(last)-1].At > 256*mib {
			t.Errorf("%+v", last[len(last)-1])
		}
	}
}

// The head of a device is as much of it as there is: what is short is zero behind its end, what fails is an error.
func TestHeadsThatAreShort(t *testing.T) {
	for name, c := range map[string]struct {
		have int
		size int64
		want int
	}{"whole": {100, 100, 100}, "larger": {200, 100, 100}, "short": {50, 100, 100}, "nothing": {0, 10, 10}, "two mebibytes": {3 << 20, 3 << 20, 2 << 20}} {
		head, err := ReadHead(bytes.NewReader(bytes.Repeat([]byte{7}, c.have)), c.size)
		if err != nil || len(head) != c.want || bytes.Count(head, []byte{7}) != min(c.have, c.want) {
			t.Errorf("%s: %d bytes, %v", name, len(head), err)
		}
	}
	f, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadHead(f, 100); err == nil {
		t.Error("a directory has no bytes")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, part := range []Span{{0, 10}, {50, 10}} {
		if at, err := NotZero(f, part); at != -1 || err == nil {
			t.Errorf("%v: %d %v", part, at, err)
		}
	}
	for size, want := range map[int64]string{0: "its size is not known", -1: "its size is not known", 10: "reading byte 0"} {
		if at, err := FirstByte(t.Context(), f, size, true); at != -1 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %d %v", size, at, err)
		}
	}
	if _, err := Digest(f, 1<<20, 1); err == nil {
		t.Error("a digest of what cannot be read")
	}
	if _, _, err := BackupTable(f, 1<<20, ourUUID); err == nil {
		t.Error("a table of what cannot be read")
	}
}

// Marks at the last byte that they need: a shorter head carries none.
func TestMarksOfShortHeads(t *testing.T) {
	id := uuidBytes(t)
	head := func(n int, parts map[int][]byte) []byte {
		b := make([]byte, n)
		for at, p := range parts {
			if at < n {
				copy(b[at:], p)
			}
		}
		return b
	}
	super := append([]byte{0xfc, 0x4e, 0x2b, 0xa9}, append(make([]byte, 12), id...)...)
	for n, want := range map[int]bool{8192: true, 8191: false, 0: false} {
		if where, ok := mdMark(head(n, map[int][]byte{4096: super}), ourUUID); ok != want || where != (Span{4096, 4096}) {
			t.Errorf("md in %d bytes: %v %v", n, where, ok)
		}
	}
	mbr := make([]byte, 512)
	mbr[450], mbr[510], mbr[511] = 0xee, 0x55, 0xaa
	with := func(at int, v byte) []byte { b := slices.Clone(mbr); b[at] = v; return b }
	for name, c := range map[string]struct {
		head []byte
		want Span
		ok   bool
	}{
		"a table":             {head(1024, map[int][]byte{512: gpt(t)}), Span{512, 512}, true},
		"cut short":           {head(1023, map[int][]byte{512: gpt(t)}), Span{}, false},
		"large sectors":       {head(4608, map[int][]byte{4096: gpt(t)}), Span{4096, 512}, true},
		"large, cut short":    {head(4607, map[int][]byte{4096: gpt(t)}), Span{}, false},
		"the MBR alone":       {head(1024, map[int][]byte{0: mbr}), Span{0, 512}, true},
		"something behind it": {head(1024, map[int][]byte{0: mbr, 1023: {1}}), Span{}, false},
		"of another kind":     {head(1024, map[int][]byte{0: with(450, 0x83)}), Span{}, false},
		"without its ending":  {head(1024, map[int][]byte{0: with(510, 0)}), Span{}, false},
		"without its last":    {head(1024, map[int][]byte{0: with(511, 0)}), Span{}, false},
		"nothing":             {head(1024, nil), Span{}, false},
		"half a sector":       {head(511, map[int][]byte{0: mbr}), Span{}, false},
		"no byte":             {nil, Span{}, false},
	} {
		if where, ok := tableMark(c.head, ourUUID); ok != c.ok || where != c.want {
			t.Errorf("%s: %v %v", name, where, ok)
		}
	}
	lvm := append([]byte{1, 2, 3, 4}, []byte(" LVM2 x[5A%r0N*>")...)
	for name, c := range map[string]struct {
		head []byte
		ok   bool
	}{
		"metadata":          {head(4096+768, map[int][]byte{4096: lvm}), true},
		"of the group":      {head(4096+768, map[int][]byte{4096: lvm, 4608: []byte("vg {")}), true},
		"of another":        {head(4096+768, map[int][]byte{4096: lvm, 4608: []byte("vh {")}), false},
		"of one called so":  {head(4096+768, map[int][]byte{4096: lvm, 4608: []byte("vg1 {")}), false},
		"with a label":      {head(4096+768, map[int][]byte{4096: lvm, 512: []byte("LABELONE")}), false},
		"without its text":  {head(4096+767, map[int][]byte{4096: lvm}), false},
		"without its magic": {head(4096+768, nil), false},
		"nothing":           {nil, false},
	} {
		if _, ok := lvmMark(c.head, "vg"); ok != c.ok {
			t.Errorf("LVM, %s: %v", name, ok)
		}
	}
	xfs := append([]byte("XFSB"), append(make([]byte, 28), id...)...)
	ext := append(make([]byte, 56), 0x53, 0xef)
	ext = append(ext, append(make([]byte, 46), id...)...)
	for name, c := range map[string]struct {
		head []byte
		want Span
		ok   bool
	}{
		"xfs":                 {head(512, map[int][]byte{0: xfs}), Span{0, 512}, true},
		"xfs, cut short":      {head(511, map[int][]byte{0: xfs}), Span{1024, 1024}, false},
		"ext4":                {head(2048, map[int][]byte{1024: ext}), Span{1024, 1024}, true},
		"ext4, cut short":     {head(2047, map[int][]byte{1024: ext}), Span{1024, 1024}, false},
		"ext4 of another":     {head(2048, map[int][]byte{1024: ext[:104]}), Span{1024, 1024}, false},
		"half of ext4's mark": {head(2048, map[int][]byte{1024: append(slices.Clone(ext[:57]), append([]byte{0}, ext[58:]...)...)}), Span{1024, 1024}, false},
		"the other half":      {head(2048, map[int][]byte{1024: append(append(slices.Clone(ext[:56]), 0), ext[57:]...)}), Span{1024, 1024}, false},
	} {
		if where, ok := filesystemMark(c.head, ourUUID); ok != c.ok || where != c.want {
			t.Errorf("%s: %v %v, want %v %v", name, where, ok, c.want, c.ok)
		}
	}
	for _, wrong := range []string{"", "0a1b", ourUUID + "0", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f900", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8zz"} {
		if _, ok := tableMark(head(1024, map[int][]byte{0: mbr}), wrong); ok {
			t.Errorf("a table of %q", wrong)
		}
		if _, ok := filesystemMark(head(512, map[int][]byte{0: xfs}), wrong); ok {
			t.Errorf("a filesystem of %q", wrong)
		}
		if _, ok := mdMark(head(8192, map[int][]byte{4096: super}), wrong); ok {
			t.Errorf("an array of %q", wrong)
		}
	}
}

// Old data in one piece of two parts is always found; a little of it with the odds that
// docs/safety.md states.
func TestOdds(t *testing.T) {
	const size = 3 << 40
	part := int64(size / samples)
	for range 20 {
		from := int64(Edge) + rand.Int64N(size-2*part-2*int64(Edge))
		if at, err := FirstByte(t.Context(), device{from, from + 2*part}, size, true); err != nil || at < from || at >= from+2*part {
			t.Fatalf("two parts from %d: %d %v", from, at, err)
		}
	}
	if at, err := FirstByte(t.Context(), device{}, size, true); at != -1 || err != nil {
		t.Errorf("blank: %d %v", at, err)
	}
	// Half a part is found in about half of the cases, or the samples are not random.
	hits := 0
	for range 100 {
		from := int64(Edge) + part*(1+rand.Int64N(4000))
		if at, _ := FirstByte(t.Context(), device{from, from + part/2}, size, true); at >= 0 {
			hits++
		}
	}
	if hits < 20 || hits > 80 {
		t.Errorf("half a part was found %d times of 100", hits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FirstByte(ctx, device{}, size, true); !errors.Is(err, context.Canceled) {
		t.Errorf("Ctrl-C: %v", err)
	}
	short := bytes.NewReader(make([]byte, 1<<20))
	if _, err := FirstByte(t.Context(), short, 8<<20, true); err == nil {
		t.Error("a device shorter than its size passes for blank")
	}
	if _, err := FirstByte(t.Context(), failing{}, 1<<30, true); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("an error: %v", err)
	}
}

// device is bytes that are zero but for one span.
type device struct{ from, to int64 }

func (d device) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	for i := max(d.from, at); i < min(d.to, at+int64(len(p))); i++ {
		p[i-at] = 1
	}
	return len(p), nil
}

type failing struct{}

func (failing) ReadAt([]byte, int64) (int, error) { return 0, io.ErrNoProgress }

func FuzzMarks(f *testing.F) {
	f.Add([]byte("XFSB"), uint16(0), "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9")
	f.Add([]byte("EFI PART"), uint16(512), "")
	head := make([]byte, 8192)
	bounded.Fuzz(f, func(t *testing.T, data []byte, at uint16, uuid string) {
		if len(data) > 64 || len(uuid) > 64 {
			return // all marks are shorter, and long inputs are slow to mutate
		}
		head := head[:min(int(at), len(head)-len(data)%64)+len(data)%64]
		clear(head)
		copy(head[len(head)-len(data)%64:], data)
		for _, mark := range []func([]byte, string) (Span, bool){mdMark, tableMark, lvmMark, filesystemMark} {
			if where, ok := mark(head, uuid); ok && where.of(head) == nil {
				t.Errorf("a mark at %v of %d bytes", where, len(head))
			}
		}
	})
}

// Landmarks of 3 TiB, none of which coincide but btrfs's 64 MiB with nothing: each number by itself.
func TestLandmarksByHand(t *testing.T) {
	const mib, gib = int64(1 << 20), int64(1 << 30)
	want := []int64{
		64 * mib, 256 * gib, 768 * gib, 1536 * gib, 2304 * gib, // btrfs's two, XFS's quarters
		128 * mib, 8 * mib, 384 * mib, 24 * mib, 640 * mib, 40 * mib, 896 * mib, 56 * mib, 1152 * mib, 72 * mib, // ext4's groups
	}
	if got := landmarks(3 << 40); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	// 5,000 bytes more: quarters lie on whole pages.
	if got := landmarks(3<<40 + 5000); got[2] != 768*gib || got[3] != 1536*gib || got[4] != 2304*gib {
		t.Errorf("%v", got)
	}
}

// Of places that are read at once none is passed over, the first two and the last as little as any.
func TestEveryPlaceIsRead(t *testing.T) {
	var places []Span
	for at := range int64(40) {
		places = append(places, Span{at * 10, 10})
	}
	for _, at := range []int64{0, 9, 10, 19, 155, 399, -1} {
		data := make([]byte, 400)
		if at >= 0 {
			data[at] = 1
		}
		if got, err := firstOf(t.Context(), bytes.NewReader(data), places); got != at || err != nil {
			t.Errorf("byte %d: %d %v", at, got, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := firstOf(ctx, bytes.NewReader(make([]byte, 400)), places); err == nil {
		t.Error("it goes on after its end")
	}
}

const ourUUID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"

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
