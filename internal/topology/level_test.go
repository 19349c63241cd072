package topology

import "testing"

// The stripes are those that md tells mkfs: raid10_set_io_opt in drivers/md/raid10.c of Linux 6.1.
func TestGeometryOfRAID10(t *testing.T) {
	for _, tt := range []struct {
		layout               string
		kernel, members      int
		copies, data, stripe int
	}{
		{"", 0, 8, 2, 4, 4},
		{"n2", 0x102, 8, 2, 4, 4},
		{"near=2", 0x102, 4, 2, 2, 2},
		{"n3", 0x103, 6, 3, 2, 2},
		{"n2", 0x102, 5, 2, 2, 5}, // 2.5 chunks' worth of data; the pattern repeats after five
		{"f2", 0x201, 4, 2, 2, 4},
		{"far=3", 0x301, 6, 3, 2, 6},
		{"o2", 0x10201, 4, 2, 2, 4},
		{"offset=2", 0x10201, 6, 2, 3, 6},
	} {
		for name, read := range map[string]func(*Geometry){
			"mdadm":  func(g *Geometry) { g.Mdadm(tt.layout) },
			"kernel": func(g *Geometry) { g.Kernel(tt.kernel) },
		} {
			g := Geometry{Level: RAID10, Members: tt.members}
			read(&g)
			if g.WriteCopies() != tt.copies || g.DataMembers() != tt.data || g.StripeMembers() != tt.stripe {
				t.Errorf("%s %q over %d: %d copies, %d data, stripe of %d; want %d, %d, %d", name, tt.layout, tt.members,
					g.WriteCopies(), g.DataMembers(), g.StripeMembers(), tt.copies, tt.data, tt.stripe)
			}
		}
	}
}

func TestGeometryOfTheOthers(t *testing.T) {
	for _, tt := range []struct {
		level                Level
		members              int
		copies, data, stripe int
	}{
		{RAID0, 4, 1, 4, 4},
		{RAID1, 3, 3, 1, 1},
		{RAID5, 5, 1, 4, 4},
		{RAID6, 6, 1, 4, 4},
		{Linear, 3, 1, 1, 1},
		{Single, 1, 1, 1, 1},
	} {
		g := Geometry{Level: tt.level, Members: tt.members}
		if g.WriteCopies() != tt.copies || g.DataMembers() != tt.data || g.StripeMembers() != tt.stripe {
			t.Errorf("%s over %d: %d copies, %d data, stripe of %d", tt.level, tt.members, g.WriteCopies(), g.DataMembers(), g.StripeMembers())
		}
	}
}
