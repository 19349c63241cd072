package block

import (
	"encoding/binary"
	"testing"

	"plimsoll/internal/sys/bounded"
)

// answer is what a filesystem says of where a file lies (linux/fiemap.h).
func answer(text []byte, start uint64) *fiemapRequest {
	r := &fiemapRequest{start: start}
	for len(text) >= 28 && r.mapped < fiemapCount {
		e := &r.extents[r.mapped]
		e.logical, e.physical = binary.LittleEndian.Uint64(text), binary.LittleEndian.Uint64(text[8:])
		e.length, e.flags = binary.LittleEndian.Uint64(text[16:]), binary.LittleEndian.Uint32(text[24:])
		r.mapped++
		text = text[28:]
	}
	return r
}

// What was never written, or is not on the device yet, is nowhere.
func TestWrittenExtents(t *testing.T) {
	r := &fiemapRequest{mapped: 5}
	r.extents[0] = fiemapExtent{logical: 0, physical: 1 << 20, length: 4096}
	r.extents[1] = fiemapExtent{logical: 4096, physical: 2 << 20, length: 4096, flags: 0x800} // unwritten
	r.extents[2] = fiemapExtent{logical: 8192, physical: 0, length: 4096, flags: 0x4}         // delayed
	r.extents[3] = fiemapExtent{logical: 12288, physical: 1 << 62, length: 4096}
	r.extents[4] = fiemapExtent{logical: 16384, physical: 3 << 20, length: 8192, flags: fiemapLast | 0x1000}
	all, last := r.written(nil)
	if len(all) != 2 || all[0] != (Extent{1 << 20, 4096}) || all[1] != (Extent{3 << 20, 8192}) || !last {
		t.Errorf("%v, last %v", all, last)
	}
	r = &fiemapRequest{mapped: 1}
	r.extents[0] = fiemapExtent{physical: 1 << 20, length: 4096}
	if _, last := r.written(nil); last || r.start != 4096 {
		t.Errorf("last %v, on from %d", last, r.start)
	}
	if _, last := new(fiemapRequest).written(nil); !last {
		t.Error("an answer of nothing is not the end")
	}
}

// FuzzExtents: whatever a filesystem answers, an extent is a place that can be asked for.
func FuzzExtents(f *testing.F) {
	f.Add(make([]byte, 56), uint64(0))
	bounded.Fuzz(f, func(t *testing.T, text []byte, start uint64) {
		all, _ := answer(text, start).written(nil)
		for _, e := range all {
			if e.Start < 0 || e.Length < 0 || e.Start+e.Length < e.Start {
				t.Errorf("%+v", e)
			}
		}
	})
}
