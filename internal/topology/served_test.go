package topology

import (
	"os"
	"strconv"
	"testing"
	"time"

	"plimsoll/internal/sys"
)

// What a group of version 1 did in 10 s at a limit of 100 per second, whether the kernel counts what
// it asks for (6.18: counts seen there) or what it lets go.
func TestDoneOfVersion1(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after tally
		want          float64
	}{
		{"1,016 asked for at once", tally{own: 0, known: true}, tally{own: 1016, device: 1000, known: true}, 1000},
		{"as they wait, nothing more is asked for", tally{own: 1016, device: 1000, known: true}, tally{own: 1016, device: 2000, known: true}, 1000},
		{"counted as they go", tally{own: 50, device: 50, known: true}, tally{own: 1050, device: 1045, known: true}, 995},
		{"another group asks for as many", tally{known: true}, tally{own: 1000, others: 1000, device: 2000, known: true}, 1000},
		{"another group does all", tally{known: true}, tally{others: 5000, device: 5000, known: true}, 0},
		{"another group's 64 were open before", tally{open: 64, known: true}, tally{others: 936, device: 1000, known: true}, 0},
		{"another group waits at a limit of its own", tally{known: true}, tally{others: 9000, device: 1000, known: true}, 0},
		{"a device that is not known", tally{own: 3}, tally{own: 1003}, 1000},
		{"a device that was not known before", tally{own: 3}, tally{own: 1003, device: 7, known: true}, 1000},
		{"a device that is not known any more", tally{own: 3, device: 7, known: true}, tally{own: 1003}, 1000},
		{"counters that began again", tally{own: 900, device: 900, known: true}, tally{own: 10, device: 10, known: true}, 0},
	} {
		if got := c.after.done(c.before); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The same from files: of each thing that is limited, with a second group that has none.
func TestServedByVersion1(t *testing.T) {
	dir := t.TempDir()
	const v1 = "sys/fs/cgroup/blkio/"
	state := func(own, other, device int) {
		n := strconv.Itoa
		lines := func(n string) string { return "259:0 Read " + n + "\n259:0 Write " + n + "\n7:0 Read 1\nTotal 5\n" }
		files(t, dir, map[string]string{
			v1 + "a/blkio.throttle.read_iops_device":  "259:0 100\n",
			v1 + "a/blkio.throttle.write_iops_device": "259:0 100\n",
			v1 + "a/blkio.throttle.read_bps_device":   "259:0 1048576\n",
			v1 + "a/blkio.throttle.write_bps_device":  "259:0 1048576\n",
			v1 + "a/blkio.throttle.io_serviced":       lines(n(own)),
			v1 + "a/blkio.throttle.io_service_bytes":  lines(n(512 * own)),
			v1 + "b/blkio.throttle.io_serviced":       lines(n(other)),
			v1 + "b/blkio.throttle.io_service_bytes":  lines(n(512 * other)),
			// reads, merged, sectors, ms, writes, merged, sectors, ms, in flight, ms, weighted
			"proc/diskstats": " 259 0 nvme0n1 " + n(device-7) + " 7 " + n(device) + " 1 " + n(device-9) + " 9 " + n(device) + " 1 0 1 1\n",
		})
	}
	state(50, 1000, 2000)
	m := &sys.Machine{Root: os.DirFS(dir)}
	g := ReadGroups(m.Reader(), map[string]string{"259:0": "nvme0n1"})
	// In 2 s the other group asks for 300, the device does 500, and the limited group's 200 had been counted before.
	state(50, 1300, 2500)
	got := g.Used(2 * time.Second)
	if len(got) != 4 {
		t.Fatalf("%+v", got)
	}
	for _, l := range got {
		want := 100.0
		if l.What == "rbps" || l.What == "wbps" {
			want *= 512
		}
		if l.Used != want {
			t.Errorf("%s: %v, want %v", l.What, l.Used, want)
		}
	}
}
