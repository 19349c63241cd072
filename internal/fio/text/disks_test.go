package text

import (
	"testing"

	"plimsoll/internal/fio"
)

// The members of md are the lines whose means give its agg… figures; 7/2 is 3 as fio divides.
func TestMembersByTheirMeans(t *testing.T) {
	disk := func(n uint64) fio.Disk {
		return fio.Disk{Reads: n, Writes: 2 * n, ReadTicks: 3 * n, WriteTicks: 4 * n, InQueue: 5 * n}
	}
	md := disk(100)
	agg := disk(4)
	md.Aggregate = &agg
	for _, c := range []struct {
		name string
		then []fio.Disk
		want []bool
	}{
		{"two of four", []fio.Disk{disk(3), disk(5), disk(90)}, []bool{true, true, false}},
		{"the longest", []fio.Disk{disk(4), disk(4), disk(4), disk(9)}, []bool{true, true, true, false}},
		{"none", []fio.Disk{disk(7), disk(7)}, []bool{false, false}},
		{"until the next array", []fio.Disk{disk(4), {Aggregate: &agg}, disk(4)}, []bool{true, false, true}},
	} {
		list := append([]fio.Disk{md}, c.then...)
		MarkMembers(list)
		for i, want := range c.want {
			if list[i+1].Member != want {
				t.Errorf("%s: line %d is %v", c.name, i+2, list[i+1].Member)
			}
		}
	}
	for field, change := range map[string]func(*fio.Disk){
		"reads": func(d *fio.Disk) { d.Reads++ }, "writes": func(d *fio.Disk) { d.Writes++ }, "read ticks": func(d *fio.Disk) { d.ReadTicks++ },
		"write ticks": func(d *fio.Disk) { d.WriteTicks++ }, "queue": func(d *fio.Disk) { d.InQueue++ },
	} {
		other := disk(4)
		change(&other)
		list := []fio.Disk{md, other}
		if MarkMembers(list); list[1].Member {
			t.Errorf("%s differ, and it is a member", field)
		}
	}
}
