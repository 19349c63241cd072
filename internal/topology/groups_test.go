package topology

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
)

func files(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, text := range all {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Limits of all groups on the devices are found, also of those that plimsoll is not in, and what was
// used of each.
func TestGroups(t *testing.T) {
	dir := t.TempDir()
	const v2, v1 = "sys/fs/cgroup/", "sys/fs/cgroup/blkio/"
	files(t, dir, map[string]string{
		v2 + "cgroup.controllers":                     "cpu io memory\n",
		v2 + "app.slice/io.max":                       "259:0 rbps=max wbps=1048576 riops=max wiops=38\n8:0 rbps=1 wbps=max riops=max wiops=max\n",
		v2 + "app.slice/io.stat":                      "259:0 rbytes=0 wbytes=100 rios=0 wios=1000 dbytes=0 dios=0\n",
		v2 + "app.slice/cgroup.procs":                 "12\n13\n",
		v2 + "app.slice/io.pressure/no":               "",
		v2 + "other.service/io.max":                   "",
		v1 + "batch/blkio.throttle.write_iops_device": "259:0 100\n",
		v1 + "batch/blkio.throttle.io_serviced":       "259:0 Read 7\n259:0 Write 50\n259:0 Total 57\nTotal 57\n",
	})
	m := &sys.Machine{Root: os.DirFS(dir)}
	g := ReadGroups(m.Reader(), map[string]string{"259:0": "nvme0n1"})
	files(t, dir, map[string]string{
		v2 + "app.slice/io.stat":                "259:0 rbytes=0 wbytes=300 rios=0 wios=1060 dbytes=0 dios=0\n",
		v1 + "batch/blkio.throttle.io_serviced": "259:0 Read 7\n259:0 Write 250\n",
	})
	want := []GroupLimit{
		{"/app.slice", "/sys/fs/cgroup/app.slice/io.max", "nvme0n1", "259:0", "wbps", 1 << 20, 100, 2, 2},
		{"/app.slice", "/sys/fs/cgroup/app.slice/io.max", "nvme0n1", "259:0", "wiops", 38, 30, 2, 2},
		{"/batch", "/sys/fs/cgroup/blkio/batch/blkio.throttle.write_iops_device", "nvme0n1", "259:0", "wiops", 100, 100, 0, 1},
	}
	got := g.Used(2 * time.Second)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	if e := got[1].Effective(); e != 30 {
		t.Errorf("38 per second give %v", e)
	}
	if e := (GroupLimit{What: "wbps", Limit: 38}).Effective(); e != 38 {
		t.Errorf("38 bytes per second give %v", e)
	}
}

// FuzzGroups: whatever the files of control groups hold, a limit is above nothing and of a device that
// was asked for.
func FuzzGroups(f *testing.F) {
	f.Add("259:0 rbps=max wbps=1048576 riops=max wiops=38\n", "259:0 rbytes=0 wbytes=100 rios=0 wios=1000\n", "259:0 100\n", "259:0 Write 50\n")
	f.Add("259:0 riops=1844674407370551615", "", "", "")
	f.Add("259:0 riops=18446744073709551615 riops=0 riops=\n", "259:0 rios\n259:0\n", "259:0 -1\n", "Total 5\n")
	bounded.Fuzz(f, func(t *testing.T, most, stat, limit, served string) {
		root := fstest.MapFS{}
		for name, text := range map[string]string{
			"cgroup.controllers": "io\n", "a/io.max": most, "a/io.stat": stat, "blkio/b/blkio.throttle.read_bps_device": limit,
			"blkio/b/blkio.throttle.io_service_bytes": served,
		} {
			root["sys/fs/cgroup/"+name] = &fstest.MapFile{Data: []byte(text)}
		}
		m := &sys.Machine{Root: root}
		for _, l := range ReadGroups(m.Reader(), map[string]string{"259:0": "nvme0n1"}).Used(time.Second) {
			if l.Limit <= 0 || l.Used < 0 || l.Device != "nvme0n1" || l.Effective() > l.Limit {
				t.Errorf("%+v, which gives %v", l, l.Effective())
			}
		}
	})
}

// A group's own files are no groups below it.
func TestFilesOfAGroup(t *testing.T) {
	for name, want := range map[string]bool{
		"tasks": true, "notify_on_release": true, "release_agent": true, "cgroup.procs": true, "io.max": true,
		"blkio.throttle.read_bps_device": true, "memory.max": true, "task": false, "iodine": false, "system.slice": false,
	} {
		if got := isGroupFile(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestElementsThatTwoPathsShare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"/var/lib/docker/overlay2/x", "/var/lib/docker/volumes", 3},
		{"/var/lib/docker", "/var/lib/docker/overlay2", 3},
		{"/var/lib", "/var/lib", 2},
		{"/srv/a", "/var/a", 0},
		{"/", "/var", 0},
		{"/", "/", 0},
		{"/var/", "/var", 1},
	} {
		if got := sharedElements(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
