package bundle

import (
	"testing"

	"plimsoll/internal/fio"
)

// A text that speaks of a disk in memory is named to the rules: outside the result of a text with one, and between
// the results of others only before the next.
func TestDiskInMemory(t *testing.T) {
	text := "Here, I made up a ram disk:\n\nrun 1\n\nand on the SSD\n\nrun 2\n"
	d := ReadDocument("x.md", []byte(text), nil)
	for _, c := range []struct {
		o     fio.Output
		after int
		alone bool
		want  int
	}{
		{fio.Output{Line: 3, End: 3}, 0, false, 1},
		{fio.Output{Line: 7, End: 7}, 3, false, 0},
		{fio.Output{Line: 7, End: 7}, 0, true, 1},
		{fio.Output{Line: 1, End: 3}, 0, true, 0},
	} {
		if got := d.inMemory(&c.o, c.after, c.alone); got != c.want {
			t.Errorf("lines %d to %d behind %d: line %d, want %d", c.o.Line, c.o.End, c.after, got, c.want)
		}
	}
	const others = "programs with RAM and disks\ntmpfs on /run type tmpfs (rw)\ntmpfs  1.6G  0  1.6G  0% /run\n" +
		"Loading initial ramdisk ...\nupdate-initramfs: the RAM disk\n"
	if ReadDocument("x.md", []byte(others), nil).memory != nil {
		t.Error("memory and disks are no disk in memory")
	}
}
