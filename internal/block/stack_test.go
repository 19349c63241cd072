package block_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
)

// The stack below a path is what the whole tree shows there, without superblocks and udev.
func TestStackIsPartOfTheTree(t *testing.T) {
	for _, name := range []string{"ec2-16xgp3-raid10", "ec2-4xgp2-raid0", "ec2-single-ebs", "lab-misaligned-partition"} {
		tree := read(t, name)
		for _, m := range tree.Mounts {
			if m.Device == "" || tree.MountOf(m.Point).ID != m.ID {
				continue
			}
			s, err := block.ReadStack(captured(t, name), m.Point)
			if err != nil {
				t.Fatal(err)
			}
			if s.Device != m.Device || s.Mount.FS != m.FS {
				t.Errorf("%s %s: %q on %+v, want %q", name, m.Point, s.Device, s.Mount, m.Device)
			}
			if got, want := s.Tree.Below(s.Device), tree.Below(m.Device); !cmp.Equal(got, want) {
				t.Errorf("%s %s: %v, want %v", name, m.Point, got, want)
			}
			for _, d := range s.Tree.Devices {
				same := cmp.Diff(tree.Devices[d.Name], d, cmpopts.IgnoreFields(block.Device{}, "Signature", "UUID", "Label",
					"Links", "Partitions", "MD", "LV", "Model", "Serial", "WWN"))
				if same != "" {
					t.Errorf("%s %s: %s", name, d.Name, same)
				}
			}
		}
	}
}

func TestStackOfThisMachine(t *testing.T) {
	for _, c := range []struct{ path, fs string }{{"/proc/self", "proc"}, {"/sys", "sysfs"}, {"/dev/shm", "tmpfs"}} {
		if _, err := os.Stat(c.path); err != nil {
			continue
		}
		s, err := block.ReadStack(sys.Host(), c.path)
		if err != nil || s.Device != "" || s.Mount == nil || s.Mount.FS != c.fs {
			t.Errorf("%s: %+v %v", c.path, s, err)
		}
	}
	if _, err := block.ReadStack(sys.Host(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
}

// loopMount is a filesystem on a loop device for a test; root only.
func loopMount(t *testing.T) (device, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	image := filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 32<<20); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("losetup", "-f", "--show", image).Output()
	if err != nil {
		t.Skip("no loop devices here:", err)
	}
	device = strings.TrimSpace(string(out))
	t.Cleanup(func() { _ = exec.Command("losetup", "-d", device).Run() })
	dir = t.TempDir()
	for _, argv := range [][]string{{"mke2fs", "-q", "-t", "ext4", device}, {"mount", device, dir}} {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%v: %v %s", argv, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
	return device, dir
}

// Who has a file on a device is found by the mount of its descriptor, whatever the file is called;
// one with a file elsewhere is not.
func TestInUse(t *testing.T) {
	device, dir := loopMount(t)
	s, err := block.ReadStack(sys.Host(), dir)
	if err != nil || "/dev/"+s.Device != device {
		t.Fatalf("%+v %v, want %s", s, err, device)
	}
	sleeper := func(open string) string {
		cmd := exec.Command("sleep", "60")
		if open != "" {
			f, err := os.OpenFile(open, os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			cmd.ExtraFiles = []*os.File{f}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return strconv.Itoa(cmd.Process.Pid)
	}
	u := block.NewInUse(sys.Host().Reader(), s)
	for _, c := range []struct {
		name, open string
		want       bool
	}{
		{"a file there", filepath.Join(dir, "file"), true},
		{"the device", device, true},
		{"a file elsewhere", filepath.Join(t.TempDir(), "file"), false},
		{"no file", "", false},
	} {
		if uses := u.By(sleeper(c.open)); uses != c.want {
			t.Errorf("%s: uses %v", c.name, uses)
		}
	}
	if u.By("0") {
		t.Error("a process that is not there uses it")
	}
}
