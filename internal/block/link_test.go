package block

import (
	"testing"
	"testing/fstest"

	"plimsoll/internal/units"
)

// What a link carries: PCIe 3.0 × 4 is 8 GT/s × 128/130 / 8 bit × 4 lanes = 3.938 GB/s; 2.0 × 1 is
// 5 GT/s × 8/10 / 8 = 500 MB/s.
func TestLinkRate(t *testing.T) {
	l := Link{Speed: 8, MaxSpeed: 16, Lanes: 4, MaxLanes: 8}
	if got := l.Rate(); got < 3938e6 || got > 3939e6 {
		t.Errorf("PCIe 3.0 x4: %f", float64(got))
	}
	if got := l.MaxRate(); got < 15753e6 || got > 15754e6 {
		t.Errorf("PCIe 4.0 x8: %f", float64(got))
	}
	if got := (Link{Speed: 5, Lanes: 1}).Rate(); got != units.Rate(500e6) {
		t.Errorf("PCIe 2.0 x1: %f", float64(got))
	}
}

func TestReadLink(t *testing.T) {
	read := func(speed, mostSpeed, lanes, mostLanes string) *Link {
		at := "sys/class/block/nvme0n1/device/device/"
		r := &reader{root: fstest.MapFS{
			at + "current_link_speed": {Data: []byte(speed + "\n")}, at + "max_link_speed": {Data: []byte(mostSpeed + "\n")},
			at + "current_link_width": {Data: []byte(lanes + "\n")}, at + "max_link_width": {Data: []byte(mostLanes + "\n")},
		}}
		return r.link(at)
	}
	if l := read("8.0 GT/s PCIe", "16.0 GT/s PCIe", "2", "4"); l == nil || *l != (Link{8, 16, 2, 4}) {
		t.Errorf("%+v", l)
	}
	if l := read("2.5 GT/s", "2.5 GT/s", "1", "1"); l == nil || *l != (Link{2.5, 2.5, 1, 1}) {
		t.Errorf("an older kernel: %+v", l)
	}
	for _, c := range [][4]string{
		{"Unknown", "Unknown", "0", "0"},
		{"Unknown speed", "16.0 GT/s PCIe", "4", "4"},
		{"8.0 GT/s PCIe", "16.0 GT/s PCIe", "0", "4"},
		{"8.0 GT/s PCIe", "16.0 GT/s PCIe", "255", "255"},
		{"", "", "", ""},
	} {
		if l := read(c[0], c[1], c[2], c[3]); l != nil {
			t.Errorf("%q: %+v", c, *l)
		}
	}
}
