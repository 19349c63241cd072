package permit

import (
	"encoding/binary"
	"slices"
	"testing"

	"plimsoll/internal/sys/bounded"
)

// TestSegmentIsItsServers: a segment counts by the directory of data that it holds, and by nothing
// less. That real ones look so is in leftovers.txtar.
func TestSegmentIsItsServers(t *testing.T) {
	order := binary.NativeEndian
	header := make([]byte, segmentHeader)
	order.PutUint32(header, segmentMagic)
	order.PutUint32(header[segmentControl:], 4711)
	order.PutUint64(header[segmentDevice:], 7)
	order.PutUint64(header[segmentInode:], 8)
	if control, ok := headerFor(header, 7, 8); !ok || control != 4711 {
		t.Errorf("its own: %d %v", control, ok)
	}
	other := slices.Clone(header)
	other[0]++
	for name, not := range map[string]bool{
		"another device":    second(headerFor(header, 6, 8)),
		"another directory": second(headerFor(header, 7, 9)),
		"another program's": second(headerFor(other, 7, 8)),
		"too short":         second(headerFor(header[:segmentHeader-1], 7, 8)),
	} {
		if not {
			t.Error(name)
		}
	}
}

func second(_ uint32, ok bool) bool { return ok }

func TestListedSegments(t *testing.T) {
	for version, entry := range map[string]int{"13": 24, "14": 40, "18": 40} {
		order := binary.NativeEndian
		data := make([]byte, controlHeader+3*entry)
		order.PutUint32(data, controlMagic)
		order.PutUint32(data[4:], 9) // more than there are
		for i, one := range [][2]uint32{{11, 2}, {12, 0}, {13, 1}} {
			order.PutUint32(data[controlHeader+i*entry:], one[0])
			order.PutUint32(data[controlHeader+i*entry+4:], one[1])
		}
		if got := listed(data, version); !slices.Equal(got, []string{"PostgreSQL.11", "PostgreSQL.13"}) {
			t.Errorf("%s: %q", version, got)
		}
		data[0]++
		if got := listed(data, version); got != nil {
			t.Errorf("%s, another file: %q", version, got)
		}
	}
}

func FuzzListed(f *testing.F) {
	data := make([]byte, controlHeader+40)
	binary.NativeEndian.PutUint32(data, controlMagic)
	f.Add(data, "15")
	bounded.Fuzz(f, func(t *testing.T, data []byte, version string) {
		for _, name := range listed(data, version) {
			if !sharedName.MatchString(name) {
				t.Fatal(name)
			}
		}
	})
}
