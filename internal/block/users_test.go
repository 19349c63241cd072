package block_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
)

// loop attaches a file of this size to a loop device until the test ends.
func loop(t *testing.T, size int64) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "disk")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	return over(t, name)
}

// over puts a loop device over a file or a device.
func over(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("losetup", "--find", "--show", name).Output()
	if err != nil {
		t.Skipf("NO LOOP DEVICES HERE: losetup: %v (needs root and the loop driver)", err)
	}
	dev := strings.TrimSpace(string(out))
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", dev).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", dev, err, out)
		}
	})
	return dev
}

// What has no holder in /sys is seen all the same: a loop device over a disk, a process, another
// mount namespace.
func TestUsers(t *testing.T) {
	free, under, held, elsewhere := loop(t, 4<<20), loop(t, 4<<20), loop(t, 4<<20), loop(t, 4<<20)
	upper := over(t, under)

	hold := exec.Command("sh", "-c", `exec 7< "$0"; echo ready; read line`, held)
	space := exec.Command("unshare", "--mount", "sh", "-c", `mount "$0" /mnt && echo ready && read line`, elsewhere)
	if out, err := exec.Command("mkfs.ext4", "-q", elsewhere).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for _, cmd := range []*exec.Cmd{hold, space} {
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
		if n, err := out.Read(make([]byte, 6)); n == 0 {
			t.Fatalf("%v: %v", cmd.Args, err)
		}
	}

	tree, err := block.Read(sys.Host())
	if err != nil {
		t.Fatal(err)
	}
	tree.ReadUsers(os.Getpid())
	for _, c := range []struct{ dev, want string }{
		{free, ""},
		{under, "the loop device " + upper + " is backed by it"},
		{held, "(sh) has it open"},
		{elsewhere, "it is mounted on /mnt in the mount namespace of process"},
	} {
		got := strings.Join(tree.UsersOf(filepath.Base(c.dev)), "; ")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.dev, got, c.want)
		}
	}
}

// A captured tree: the second member of a mounted btrfs, which mountinfo does not name.
func TestUsersOfBtrfs(t *testing.T) {
	root := fstest.MapFS{
		"sys/class/block/nvme1n1/dev":        {Data: []byte("259:1\n")},
		"sys/class/block/nvme2n1/dev":        {Data: []byte("259:2\n")},
		"sys/fs/btrfs/0a1b/devices/nvme1n1":  {Data: []byte("-")},
		"sys/fs/btrfs/0a1b/devices/nvme2n1":  {Data: []byte("-")},
		"sys/fs/btrfs/features/big_metadata": {Data: []byte("0\n")},
		"proc/self/mountinfo":                {Data: []byte("1 1 0:40 / /b rw - btrfs /dev/nvme1n1 rw\n")},
		"proc/812/fd/7":                      {Data: []byte("/dev/nvme1n1"), Mode: os.ModeSymlink},
		"proc/812/comm":                      {Data: []byte("qemu\n")},
		"proc/812/cwd":                       {Data: []byte("/b/images"), Mode: os.ModeSymlink},
		"proc/814/fd/5":                      {Data: []byte("/dev/nvme2n1"), Mode: os.ModeSymlink},
		"proc/814/comm":                      {Data: []byte("(udev-worker)\n")},
		"proc/813/fd/1":                      {Data: []byte("/dev/null"), Mode: os.ModeSymlink},
		"proc/813/cwd":                       {Data: []byte("/bin"), Mode: os.ModeSymlink},
	}
	tree, err := block.Read(&sys.Machine{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	tree.ReadUsers(1)
	if got := tree.UsersOf("nvme2n1"); !slices.Equal(got, []string{"it is part of the mounted btrfs 0a1b"}) {
		t.Errorf("%q", got)
	}
	if got := tree.UsersOf("nvme1n1"); !slices.Contains(got, "process 812 (qemu) has it open") {
		t.Errorf("%q", got)
	}
	if got := tree.OpenBelow("/b", 1); !slices.Equal(got, []string{"process 812 (qemu) uses /b/images"}) {
		t.Errorf("%q", got)
	}
}

// A service of systemd has a mount namespace in which mounts are copies that are unmounted together
// with the machine's own: they do not count as using a device. Those that stay do.
func TestMountsThatFollow(t *testing.T) {
	for _, c := range []struct {
		name, theirs string
		used         bool
	}{
		{"systemd-logind", "200 1 8:1 / / ro shared:300 master:1 - ext4 /dev/sda1 rw\n210 200 259:1 / /srv/data rw shared:301 master:50 - xfs /dev/nvme1n1 rw\n", false},
		{"unshare --propagation unchanged", "200 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n210 200 259:1 / /srv/data rw shared:50 - xfs /dev/nvme1n1 rw\n", false},
		{"unshare", "200 1 8:1 / / rw - ext4 /dev/sda1 rw\n210 200 259:1 / /srv/data rw - xfs /dev/nvme1n1 rw\n", true},
		{"mounted there alone", "200 1 8:1 / / rw master:1 - ext4 /dev/sda1 rw\n210 200 259:1 / /mnt rw - xfs /dev/nvme1n1 rw\n", true},
		{"made private above it", "200 1 8:1 / / rw - ext4 /dev/sda1 rw\n210 200 259:1 / /srv/data rw master:50 - xfs /dev/nvme1n1 rw\n", true},
		{"a line that is none", "210 200 259:1 / /srv/data - xfs /dev/nvme1n1\n", false},
	} {
		root := fstest.MapFS{
			"sys/class/block/nvme1n1/dev": {Data: []byte("259:1\n")},
			"proc/self/mountinfo":         {Data: []byte("22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n90 22 259:1 / /srv/data rw shared:50 - xfs /dev/nvme1n1 rw\n")},
			"proc/self/ns/mnt":            {Data: []byte("mnt:[1]"), Mode: os.ModeSymlink},
			"proc/668/ns/mnt":             {Data: []byte("mnt:[2]"), Mode: os.ModeSymlink},
			"proc/668/comm":               {Data: []byte("service\n")},
			"proc/668/mountinfo":          {Data: []byte(c.theirs)},
		}
		tree, err := block.Read(&sys.Machine{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		tree.ReadUsers(1)
		if got := tree.UsersOf("nvme1n1"); (len(got) > 0) != c.used {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// The same with the kernel's own lines: a namespace as systemd makes one, by unshare.
func TestMountsOfServices(t *testing.T) {
	dev, dir := loop(t, 4<<20), t.TempDir()
	run := func(argv ...string) {
		t.Helper()
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v %s", argv, err, out)
		}
	}
	run("mkfs.ext4", "-q", dev)
	run("mount", "--bind", dir, dir)
	t.Cleanup(func() { run("umount", "--recursive", dir) })
	run("mount", "--make-shared", dir)
	point := filepath.Join(dir, "data")
	run("mkdir", point)
	run("mount", dev, point)
	for _, c := range []struct {
		propagation string
		used        bool
	}{{"slave", false}, {"private", true}} {
		service := exec.Command("unshare", "--mount", "--propagation", c.propagation, "sh", "-c", "echo ready; read line")
		in, err := service.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := service.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := service.Start(); err != nil {
			t.Fatal(err)
		}
		if n, err := out.Read(make([]byte, 6)); n == 0 {
			t.Fatal(err)
		}
		tree, err := block.Read(sys.Host())
		if err != nil {
			t.Fatal(err)
		}
		tree.ReadUsers(os.Getpid())
		if got := tree.UsersOf(filepath.Base(dev)); (len(got) > 0) != c.used {
			t.Errorf("a namespace with propagation %s: %q", c.propagation, got)
		}
		_ = in.Close()
		_ = service.Wait() // read's status at the end of its input
	}
}
