package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
)

func metal(t *testing.T) *sys.Machine {
	t.Helper()
	archive, err := os.ReadFile("testdata/metal.txtar")
	if err != nil {
		t.Fatal(err)
	}
	root := block.Captured(archive)
	root.(fstest.MapFS)["etc/mdadm/mdadm.conf"].ModTime = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	return &sys.Machine{Root: root, Run: func(_ context.Context, w io.Writer, argv ...string) error {
		if argv[0] != "dmesg" {
			return fmt.Errorf("%s: %w", argv[0], sys.ErrNotFound)
		}
		data, err := fs.ReadFile(root, "dmesg")
		_, _ = w.Write(data)
		return err
	}}
}

func TestRead(t *testing.T) {
	got := Read(t.Context(), metal(t))
	want := &Facts{
		Kernel: "Linux version 6.1.0-14-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0) #1 SMP PREEMPT_DYNAMIC Debian 6.1.64-1 (2023-11-30)",
		Uptime: 100000250 * time.Millisecond,
		CPU: CPU{
			Driver: "acpi-cpufreq", Governors: []string{"powersave", "ondemand"},
			Available: []string{"conservative", "ondemand", "powersave", "performance", "schedutil"},
			Idle:      []Idle{{0, "POLL", 0, 1}, {3, "C6", 133 * time.Microsecond, 1}},
			Clock:     "hpet", Clocks: []string{"tsc", "hpet", "acpi_pm"}, Nodes: []int{0, 1},
		},
		Memory: Memory{
			DirtyRatio: 20, BackgroundRatio: 10, Swappiness: 60, Known: true,
			Swaps: []string{"/dev/md0p2", "/var/swap file"}, HugePages: "madvise",
		},
		Boot: Boot{
			FstabKnown: true,
			Fstab: []Fstab{
				{2, "UUID=11111111-2222-3333-4444-555555555555", "/", "ext4", []string{"errors=remount-ro"}},
				{3, "/dev/nvme1n1p1", "/srv/old data", "xfs", []string{"defaults"}},
				{5, "LABEL=data", "/data", "xfs", []string{"noatime", "nofail"}},
			},
			Units:     []string{"/wal"},
			Mdadm:     &File{"/etc/mdadm/mdadm.conf", time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)},
			Arrays:    []Array{{"/dev/md/data", "3aaa0122:29827cfa:5331ad66:ca767371", "host:data"}},
			Initramfs: &File{Path: "/boot/initrd.img-6.1.0-14-amd64"},
			Trim:      true,
		},
		Log: []Event{
			{Timeout, "nvme1", 2, 42500 * time.Millisecond, "nvme nvme1: I/O 5 QID 2 timeout, reset controller"},
			{IOError, "nvme2n1", 1, 99000 * time.Second, "blk_update_request: I/O error, dev nvme2n1, sector 2048 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2"},
			{Throttled, "", 1, 99002 * time.Second, "CPU1: Core temperature above threshold, cpu clock throttled (total events = 1)"},
			{FSError, "md0", 1, 99004 * time.Second, `XFS (md0): metadata I/O error in "xfs_buf_ioend" at daddr 0x1 len 1 error 5`},
			{Failed, "md0", 1, 99005 * time.Second, "md/raid10:md0: Disk failure on nvme2n1, disabling device."},
		},
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

// The initramfs is renewed by the program that made it.
func TestRenewal(t *testing.T) {
	for program, want := range map[string]string{
		"usr/sbin/update-initramfs": "update-initramfs -u", "usr/bin/dracut": "dracut --force --mdadmconf",
		"sbin/dracut": "dracut --force --mdadmconf", "usr/bin/mkinitcpio": "",
	} {
		m := metal(t)
		m.Root.(fstest.MapFS)[program] = &fstest.MapFile{}
		if got := Read(t.Context(), m).Boot.Renewal; got != want {
			t.Errorf("%s: %q", program, got)
		}
	}
	m := metal(t)
	m.Root.(fstest.MapFS)["usr/bin/dracut"], m.Root.(fstest.MapFS)["usr/sbin/update-initramfs"] = &fstest.MapFile{}, &fstest.MapFile{}
	if got := Read(t.Context(), m).Boot.Renewal; got != "update-initramfs -u" {
		t.Errorf("with dracut-core next to initramfs-tools: %q", got)
	}
}

// A machine without anything must not be an error: containers show little of it.
func TestReadNothing(t *testing.T) {
	got := Read(t.Context(), &sys.Machine{Root: fstest.MapFS{}, Run: func(context.Context, io.Writer, ...string) error {
		return &sys.Failed{Argv: []string{"dmesg"}, Code: 1, Stderr: "dmesg: read kernel buffer failed: Operation not permitted"}
	}})
	want := &Facts{Notes: []string{"the kernel's log: dmesg: read kernel buffer failed: Operation not permitted"}}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
}

type refusing struct{ fstest.MapFS }

func (r refusing) Open(name string) (fs.File, error) {
	if name == "etc/mdadm/mdadm.conf" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return r.MapFS.Open(name)
}

func TestWhatMayNotBeReadIsNoted(t *testing.T) {
	m := metal(t)
	m.Root = refusing{m.Root.(fstest.MapFS)}
	got := Read(t.Context(), m)
	if !slices.Contains(got.Notes, "/etc/mdadm/mdadm.conf: permission denied") || got.Boot.Arrays != nil {
		t.Errorf("notes %q, arrays %v", got.Notes, got.Boot.Arrays)
	}
}

// BenchmarkReadThisMachine shows whether the machine is read within the tenth of a second that check
// allows for it.
func BenchmarkReadThisMachine(b *testing.B) {
	for b.Loop() {
		Read(b.Context(), sys.Host())
	}
}

// TestReadThisMachine reads the machine that the test runs on.
func TestReadThisMachine(t *testing.T) {
	f := Read(t.Context(), sys.Host())
	if f.Kernel == "" || f.Uptime <= 0 || !f.Memory.Known {
		t.Errorf("kernel %q, uptime %v, memory %+v", f.Kernel, f.Uptime, f.Memory)
	}
	if _, err := fs.Stat(os.DirFS("/"), "etc/fstab"); errors.Is(err, fs.ErrNotExist) == f.Boot.FstabKnown {
		t.Errorf("fstab known: %v, but stat says %v", f.Boot.FstabKnown, err)
	}
}

// A timer that is masked does not run, though the link that enabled it is still there.
func TestTrim(t *testing.T) {
	const enabled, unit = "etc/systemd/system/timers.target.wants/fstrim.timer", "etc/systemd/system/fstrim.timer"
	link := func(to string) *fstest.MapFile { return &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte(to)} }
	for _, c := range []struct {
		etc  fstest.MapFS
		want bool
	}{
		{fstest.MapFS{}, false},
		{fstest.MapFS{enabled: link("/lib/systemd/system/fstrim.timer")}, true},
		{fstest.MapFS{enabled: link("/lib/systemd/system/fstrim.timer"), unit: link("/dev/null")}, false},
		{fstest.MapFS{enabled: link("/lib/systemd/system/fstrim.timer"), unit: link("/opt/fstrim.timer")}, true},
		{fstest.MapFS{unit: link("/dev/null")}, false},
	} {
		r := &reader{f: &Facts{}, root: c.etc}
		r.boot()
		if r.f.Boot.Trim != c.want {
			t.Errorf("%v: %v, want %v", c.etc, r.f.Boot.Trim, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/metal.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for part := range strings.SplitSeq(string(data), "\n-- ") {
		f.Add(part)
	}
	f.Add("ARRAY\n\tUUID=\n uuid\\04")
	f.Add("a b\\777 c")
	bounded.Fuzz(f, func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, l := range parseFstab(text) {
			if l.Line < 1 || l.Line > lines || l.FS == "" || len(l.Options) == 0 {
				t.Errorf("fstab: %+v of %d lines", l, lines)
			}
		}
		if n := len(parseMdadm(text)); n > lines {
			t.Errorf("%d arrays of %d lines", n, lines)
		}
		n := 0
		for _, e := range ParseLog(text) {
			if e.Count < 1 || e.Kind == "" || e.Last < 0 {
				t.Errorf("log: %+v", e)
			}
			n += e.Count
		}
		if n > lines {
			t.Errorf("%d complaints in %d lines", n, lines)
		}
	})
}

// A loop device, and a partition that was made again, had another filesystem before: what failed then is no fault of
// the one that was mounted since. Failed I/O of the device is.
func TestLogBeforeAMount(t *testing.T) {
	const before = "[10.0] EXT4-fs (loop0): Remounting filesystem read-only\n[10.1] XFS (sda1): metadata I/O error in x\n" +
		"[10.2] I/O error, dev loop0, sector 8 op\n"
	for after, want := range map[string]int{
		"": 3, "[20.0] EXT4-fs (loop0): mounted filesystem 1a2b r/w with ordered data mode.\n": 2,
		"[20.0] XFS (sda1): Mounting V5 Filesystem 1a2b\n": 2, "[20.0] EXT4-fs (loop1): mounted filesystem\n": 3,
	} {
		if got := ParseLog(before + after); len(got) != want {
			t.Errorf("after %q: %+v", after, got)
		}
	}
}
