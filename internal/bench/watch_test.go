package bench

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/topology"
)

// captured is a machine of these files, with what every machine has.
func captured(files map[string]string) *sys.Machine {
	root := fstest.MapFS{}
	for name, text := range map[string]string{
		"proc/diskstats": "   8       0 sda 10 0 80 5 20 0 160 7 0 9 12 0 0 0 0 0 0\n",
		"proc/stat":      "cpu  1 1 1 1 1 1 1 1 1 1\ncpu0 1 1 1 1 1 1 1 1 1 1\n", "proc/vmstat": "nr_dirty 1\nnr_writeback 0\n",
		"proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n", "sys/block/sda/dev": "8:0\n",
		"sys/class/block/sda/dev": "8:0\n", "sys/class/block/sda/size": "2097152\n",
		"sys/class/block/sda/queue/rotational": "0\n",
	} {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, text := range files {
		root[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return &sys.Machine{Root: root}
}

// mounts is a mountinfo with a root on /dev/sda and one more mount.
func mounts(more string) map[string]string {
	return map[string]string{"proc/self/mountinfo": "22 1 8:0 / / rw,relatime shared:1 - ext4 /dev/sda rw\n" + more + "\n"}
}

// What no device is behind is not seen, and why is said in a clause; what one is behind is looked at,
// whatever else is missing.
func TestWhatLiesBelow(t *testing.T) {
	for _, c := range []struct {
		what, path string
		files      map[string]string
		device     string
		clause     string // of Blind, or of NotSeen where there is a device
	}{
		{"a root filesystem", "/var/lib/db", mounts(""), "sda", ""},
		{"a device", "/dev/sda", mounts(""), "sda", ""},
		{"memory", "/run/x", mounts("23 22 0:20 / /run rw - tmpfs tmpfs rw"), "", "/run is memory (tmpfs) and has no storage below it"},
		{"a pseudo filesystem", "/proc/self", mounts("23 22 0:5 / /proc rw - proc proc rw"), "", "the filesystem on /proc (proc) has no storage below it"},
		{
			"NFS", "/net/db", mounts("23 22 0:51 / /net rw - nfs4 filer:/vol rw"), "",
			"its storage belongs to another machine or a program (nfs4, filer:/vol)",
		},
		{
			"CIFS", "/net/db", mounts("23 22 0:51 / /net rw - cifs //filer/vol rw"), "",
			"its storage belongs to another machine or a program (cifs, //filer/vol)",
		},
		{
			"FUSE", "/net/db", mounts("23 22 0:51 / /net rw - fuse.sshfs host:/vol rw"), "",
			"its storage belongs to another machine or a program (fuse.sshfs, host:/vol)",
		},
		{
			"Ceph", "/net/db", mounts("23 22 0:51 / /net rw - ceph 10.0.0.1:6789:/ rw"), "",
			"its storage belongs to another machine or a program (ceph, 10.0.0.1:6789:/)",
		},
		{
			"ZFS", "/tank/db", mounts("23 22 0:40 / /tank rw - zfs tank/db rw"), "",
			"it is on ZFS (tank/db), whose devices are not in /sys: zpool iostat -l tank/db 5",
		},
		{"btrfs", "/b", mounts("23 22 0:40 / /b rw - btrfs /dev/sda rw"), "sda", "other devices of this btrfs than sda"},
		{
			"a container whose upper directory is on no mount that it sees", "/", map[string]string{
				"proc/self/mountinfo": "22 1 0:30 / / rw - overlay overlay rw,lowerdir=/x,upperdir=/var/lib/docker/overlay2/y/diff,workdir=/z\n",
			}, "", "it is on an overlay whose upper directory cannot be seen from here (a container): run it on the host",
		},
		{
			"a container whose volume is a mount of its own", "/data/db", map[string]string{
				"proc/self/mountinfo": "22 1 0:30 / / rw - overlay overlay rw,lowerdir=/x,upperdir=/y,workdir=/z\n23 22 8:0 /vol /data rw - ext4 /dev/sda rw\n",
			}, "sda", "",
		},
		{"a device that /sys does not have", "/b", mounts("23 22 9:7 / /b rw - xfs /dev/md7 rw"), "", "no block device is visible below /b (xfs)"},
		{"no mountinfo", "/b", nil, "", "no mount is known for it"},
	} {
		f, err := Watch(t.Context(), captured(c.files), Watching{Path: c.path, For: 2 * time.Second})
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		a := live.Judge(f)
		if a.Device != c.device || c.device == "" && (f.Blind != c.clause || a.Answer != live.CannotSee) {
			t.Errorf("%s: device %q, %q, %s", c.what, a.Device, f.Blind, a.Answer)
		}
		if c.device != "" && (a.Answer != live.Nothing || !strings.Contains(strings.Join(f.NotSeen, "; "), c.clause)) {
			t.Errorf("%s: %s %v, not seen %q", c.what, a.Answer, a.Causes, f.NotSeen)
		}
	}
}

// An old kernel counts no discards and flushes, has no PSI, no control groups and no processes that
// can be looked into: what is left is judged, and what is missing is said.
func TestWatchAnOldKernel(t *testing.T) {
	m := captured(mounts(""))
	root, ok := m.Root.(fstest.MapFS)
	if !ok {
		t.Fatal("no map")
	}
	root["proc/diskstats"] = &fstest.MapFile{Data: []byte("   8       0 sda 10 0 80 5 20 0 160 7 0 9 12\n")}
	for _, gone := range []string{"proc/pressure/io", "proc/vmstat", "proc/stat"} {
		delete(root, gone)
	}
	f, err := Watch(t.Context(), m, Watching{Path: "/db", For: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if a := live.Judge(f); a.Answer != live.Nothing || !strings.Contains(strings.Join(a.NotSeen, " "), "PSI") {
		t.Errorf("%s, not seen %q", a.Answer, a.NotSeen)
	}
}

// Before a run it is said of each array that md copies or checks it, and of no other.
func TestAtWorkNamesArrays(t *testing.T) {
	var said []string
	r := &runner{
		m: captured(nil), emit: func(e Event) { said = append(said, fmt.Sprint(e)) },
		plan: Plan{Topology: topology.Topology{Arrays: []topology.Array{
			{Name: "md0", Syncing: "resync"}, {Name: "md1", Syncing: diagnose.IdleSync}, {Name: "vg0"}, {Name: "md2", Syncing: "check"},
		}}},
	}
	if _, err := r.atWork(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"{md0 is running a resync, which competes with what is measured (PL202)}",
		"{md2 is running a check, which competes with what is measured (PL202)}",
	}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// With 200 devices and 10,000 processes it ends, and opens no more files than so many a process: what
// a look costs is counted, since seconds are the machine's.
func TestWatchOfManyDevicesAndProcesses(t *testing.T) {
	const devices, processes, span = 200, 10_000, 5
	files, stats := mounts(""), strings.Builder{}
	for i := range devices {
		name := fmt.Sprintf("nvme%dn1", i)
		fmt.Fprintf(&stats, " 259 %d %s 10 0 80 5 20 0 160 7 0 9 12 0 0 0 0 0 0\n", i, name)
		files["sys/block/"+name+"/dev"] = fmt.Sprintf("259:%d\n", i)
	}
	files["proc/diskstats"] = stats.String() + "   8       0 sda 10 0 80 5 20 0 160 7 0 9 12 0 0 0 0 0 0\n"
	for pid := 1; pid <= processes; pid++ {
		dir := fmt.Sprintf("proc/%d/", pid)
		files[dir+"io"] = "read_bytes: 0\nwrite_bytes: 0\n"
		files[dir+"stat"] = fmt.Sprintf("%d (sleep) S 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 100", pid)
	}
	m := captured(files)
	counting := &counted{FS: m.Root}
	m.Root = counting
	began := time.Now()
	f, err := Watch(t.Context(), m, Watching{Path: "/db", For: span * time.Second})
	if err != nil || live.Judge(f).Answer != live.Nothing {
		t.Fatalf("%+v %v", f, err)
	}
	// io at both ends, and a few looks at the state, which may be cut short.
	if most := processes*(2+span) + 2000; counting.opened > most {
		t.Errorf("%d files were opened, want %d at most", counting.opened, most)
	}
	t.Logf("%d files, %v", counting.opened, time.Since(began))
}

// counted counts what is opened.
type counted struct {
	fs.FS
	opened int
}

func (c *counted) Open(name string) (fs.File, error) {
	c.opened++
	return c.FS.Open(name)
}

// NFS mounts count round trips of this machine: a mount beside it, and other operations, are nobody's
// business.
func TestNFSCounters(t *testing.T) {
	const stats = `device filer:/vol mounted on /net with fstype nfs4 statvers=1.1
	age:	100
	per-op statistics
	        NULL: 1 1 0 44 24 0 0 0 0
	        READ: 1000 1000 0 200000 4096000 50 22000 23000 0
	       WRITE: 500 500 0 2048000 68000 30 9000 9900 0
	      COMMIT: 10 10 0 1600 1120 0 1000 1100 0
	     GETATTR: 9999 9999 0 1 1 0 999999 999999 0
device filer:/other mounted on /net/other\040one with fstype nfs statvers=1.1
	        READ: 7 7 0 1 1 0 7 7 0
`
	if c, ok := parseMountstats(stats, "/net"); !ok || c != (nfsCounters{1510, 32000, 34000}) {
		t.Errorf("%+v %v", c, ok)
	}
	if c, ok := parseMountstats(stats, "/net/other one"); !ok || c != (nfsCounters{7, 7, 7}) {
		t.Errorf("%+v %v", c, ok)
	}
	if _, ok := parseMountstats(stats, "/none"); ok {
		t.Error("a mount that is not there")
	}
}

// From two readings come the round trip and the time with the wait here.
func TestWatchNFS(t *testing.T) {
	const line = "device filer:/vol mounted on /net with fstype nfs4 statvers=1.1\n\t        READ: %d 0 0 0 0 0 %d %d 0\n"
	files := mounts("23 22 0:51 / /net rw - nfs4 filer:/vol rw")
	files["proc/self/mountstats"] = fmt.Sprintf(line, 100, 1000, 1000)
	m := captured(files)
	m.Root = &reread{FS: m.Root, name: "proc/self/mountstats", again: fmt.Sprintf(line, 300, 1000+200*25, 1000+200*40)}
	f, err := Watch(t.Context(), m, Watching{Path: "/net/db", For: 4 * time.Second})
	if err != nil || f.Remote == nil {
		t.Fatalf("%+v %v", f, err)
	}
	a := live.Judge(f)
	if f.Remote.IOPS != 50 || f.Remote.RTT != 25e6 || f.Remote.Exec != 40e6 || a.Answer != live.Found || a.First != "PL909" {
		t.Errorf("%+v: %s %s", f.Remote, a.Answer, a.First)
	}
}

// reread gives another content from the second reading of a file on.
type reread struct {
	fs.FS
	name, again string
	read        bool
}

func (r *reread) Open(name string) (fs.File, error) {
	if name == r.name {
		if r.read {
			return fstest.MapFS{name: &fstest.MapFile{Data: []byte(r.again)}}.Open(name)
		}
		r.read = true
	}
	return r.FS.Open(name)
}

// FuzzMountstats: whatever the kernel, or who pretends to be it, writes.
func FuzzMountstats(f *testing.F) {
	f.Add("device a mounted on /net with fstype nfs4\n READ: 1 1 0 4 4 0 1 1 0\n", "/net")
	f.Add("device \\040 mounted on \\ with\nWRITE: -1 18446744073709551616 x", "")
	bounded.Fuzz(f, func(t *testing.T, text, mount string) {
		if c, ok := parseMountstats(text, mount); ok && c.ops > 0 && !strings.Contains(text, "device") {
			t.Errorf("%+v of no device", c)
		}
	})
}

// A look ends with its context.
func TestWatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Watch(ctx, sys.Host(), Watching{Path: filepath.Clean(os.TempDir()), For: time.Hour}); err == nil {
		t.Error("no error")
	}
}
