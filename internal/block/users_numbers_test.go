package block_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"plimsoll/internal/block"
	"plimsoll/internal/sys"
)

// init makes a process of the test that holds a device: TEST_HOLDS says how.
func init() {
	how, name := os.Getenv("TEST_HOLDS"), os.Getenv("TEST_DEVICE")
	if how == "" {
		return
	}
	must := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	open := func() int {
		fd, err := unix.Open(name, unix.O_RDWR, 0)
		must(err)
		return fd
	}
	ready := func() {
		fmt.Println("ready")
		_, _ = os.Stdin.Read(make([]byte, 1))
		os.Exit(0)
	}
	memory := strings.Contains(how, "mapped")
	if memory {
		fd := open()
		_, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
		must(err)
		must(unix.Close(fd))
	}
	switch {
	case how == "own table":
		done := make(chan bool)
		go func() {
			runtime.LockOSThread()
			must(unix.Unshare(unix.CLONE_FILES))
			open()
			close(done)
			select {}
		}()
		<-done
	case strings.HasPrefix(how, "first thread ended"):
		if !memory {
			open()
		}
		go func() {
			for status := []byte{}; !bytes.Contains(status, []byte("Z (zombie)")); {
				status, _ = os.ReadFile(fmt.Sprintf("/proc/%d/status", os.Getpid()))
			}
			ready()
		}()
		_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
	case !memory:
		open()
	}
	ready()
}

// holding runs a process that holds a device until the test ends.
func holding(t *testing.T, how, name string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), "TEST_HOLDS="+how, "TEST_DEVICE="+name)
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
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%s: %q %v", how, line, err)
	}
}

// node makes another node of a device, outside of /dev.
func node(t *testing.T, dev string) string {
	t.Helper()
	info, err := os.Stat(dev)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "node")
	if err := unix.Mknod(name, unix.S_IFBLK|0o600, int(sys.DeviceNumber(info))); err != nil {
		t.Fatal(err)
	}
	return name
}

func usersNow(t *testing.T, dev string) string {
	t.Helper()
	tree, err := block.Read(sys.Host())
	if err != nil {
		t.Fatal(err)
	}
	tree.ReadUsers(os.Getpid())
	return strings.Join(tree.Using(tree.Devices[filepath.Base(dev)]), "; ")
}

// Whatever a process calls a device, and whichever of its threads holds it, by a descriptor or mapped,
// it is seen by the device's number.
func TestProcessesByNumber(t *testing.T) {
	for _, c := range []struct{ how, want string }{
		{"open", "has it open"},
		{"node elsewhere", "has it open"},
		{"removed node", "has it open"},
		{"mapped", "has it mapped"},
		{"mapped by a node elsewhere", "has it mapped"},
		{"own table", "has it open"},
		{"first thread ended", "has it open"},
		{"first thread ended, mapped", "has it mapped"},
	} {
		t.Run(c.how, func(t *testing.T) {
			dev, free := loop(t, 4<<20), loop(t, 4<<20)
			name := dev
			if strings.Contains(c.how, "node") {
				name = node(t, dev)
			}
			holding(t, c.how, name)
			if c.how == "removed node" {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
			if got := usersNow(t, dev); !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := usersNow(t, free); got != "" {
				t.Errorf("the device beside it: %q", got)
			}
		})
	}
}

// A loop device is seen by what the kernel says that it lies on, and what that is used for.
func TestLoopsByNumber(t *testing.T) {
	dir := t.TempDir()
	image, copied := filepath.Join(dir, "image"), filepath.Join(dir, "copied")
	for _, name := range []string{image, copied} {
		if err := os.WriteFile(name, make([]byte, 4<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	disk := over(t, image)
	if got := usersNow(t, disk); got != "" {
		t.Errorf("alone: %q", got)
	}
	over(t, copied)
	if got := usersNow(t, disk); got != "" {
		t.Errorf("beside a loop device over a copy: %q", got)
	}
	holding(t, "open", image)
	if got := usersNow(t, disk); !strings.Contains(got, "has it open") {
		t.Errorf("its file open: %q", got)
	}
	second := over(t, image)
	if got := usersNow(t, disk); !strings.Contains(got, "the loop device "+second+" lies on the same file") {
		t.Errorf("its file under another loop device: %q", got)
	}

	under := loop(t, 4<<20)
	upper := over(t, node(t, under))
	if got := usersNow(t, under); !strings.Contains(got, "the loop device "+upper+" is backed by it") {
		t.Errorf("by another node: %q", got)
	}
	top := over(t, upper)
	if got := usersNow(t, top); got != "" {
		t.Errorf("over devices that nobody else uses: %q", got)
	}
	holding(t, "open", under)
	for _, dev := range []string{upper, top} {
		if got := usersNow(t, dev); !strings.Contains(got, under+": process") || !strings.Contains(got, "has it open") {
			t.Errorf("%s, over a device that is open: %q", dev, got)
		}
	}
}

// A file behind a loop device is known when the name that it was set up with is gone.
func TestBehind(t *testing.T) {
	dir := t.TempDir()
	first, second, beside := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "beside")
	for _, name := range []string{first, beside} {
		if err := os.WriteFile(name, make([]byte, 4<<20), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := block.Read(sys.Host())
	if err != nil {
		t.Fatal(err)
	}
	dev := over(t, first) // after the tree was read
	if err := os.Link(first, second); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(beside, first); err != nil { // the name is another file's now
		t.Fatal(err)
	}
	for name, want := range map[string]string{second: dev, first: ""} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := tree.Behind(info); got != want {
			t.Errorf("%s is behind %q, want %q", name, got, want)
		}
	}
}

// A file of an overlay's layer is that which a loop device over the overlay lies on; one that cannot
// hold it is not. So it is where the device begins within the file, where another mount covers the
// overlay, and where nothing shows it any more.
func TestBehindAnOverlay(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, size := range map[string]int{"upper/img": 4 << 20, "upper/other": 1 << 20} {
		if err := os.WriteFile(at(name), make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("lower/copied"), make([]byte, 5<<19), 0o600); err != nil {
		t.Fatal(err)
	}
	layers := "lowerdir=" + at("lower") + ",upperdir=" + at("upper") + ",workdir=" + at("work")
	if err := unix.Mount("overlay", at("merged"), "overlay", 0, layers); err != nil {
		t.Skipf("SKIPPED: no overlay can be mounted here: %v", err)
	}
	defer unix.Unmount(at("merged"), unix.MNT_DETACH) //nolint:errcheck // what stays is seen by the next test
	dev := over(t, at("merged/img"))
	copied := over(t, at("merged/copied")) // which has its lower file's number, and lies in the upper layer by now
	again := func(options ...string) error {
		return errors.Join(exec.Command("losetup", "--detach", dev).Run(),
			exec.Command("losetup", append(options, dev, at("merged/img"))...).Run())
	}
	tree, err := block.Read(sys.Host())
	if err != nil {
		t.Fatal(err)
	}
	for _, hide := range []func() error{
		func() error { return nil },
		func() error { return again("--offset", "1048576") },
		func() error { return errors.Join(again(), os.Truncate(at("upper/img"), 2<<20)) }, // beneath it
		func() error { return unix.Mount("none", at("merged"), "tmpfs", 0, "") },
		func() error {
			return errors.Join(unix.Unmount(at("merged"), 0), unix.Unmount(at("merged"), unix.MNT_DETACH))
		},
	} {
		if err := hide(); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"upper/img": dev, "merged/img": dev, "upper/copied": copied, "upper/other": "",
		} {
			info, err := os.Stat(at(name))
			if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(name, "merged") {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := tree.Behind(info); got != want {
				t.Errorf("%s is behind %q, want %q", name, got, want)
			}
		}
	}
	if err := os.Truncate(at("upper/img"), 4<<20); err != nil {
		t.Fatal(err)
	}
	below := over(t, at("upper/img"))
	for _, pair := range [][2]string{{below, dev}, {dev, below}} {
		if got := usersNow(t, pair[0]); !strings.Contains(got, "the loop device "+pair[1]+" may lie on the same file") {
			t.Errorf("a loop device beside one over an overlay's layer: %q", got)
		}
	}
}

// A partition is used with its disk: a loop device over the whole of it writes there too.
func TestUsersOfTheDisk(t *testing.T) {
	root := fstest.MapFS{
		"sys/class/block/sda/dev":            {Data: []byte("8:0\n")},
		"sys/class/block/sda/sda1/x":         {},
		"sys/class/block/sda1/dev":           {Data: []byte("8:1\n")},
		"sys/class/block/sda1/partition":     {Data: []byte("1\n")},
		"sys/class/block/sdb1/dev":           {Data: []byte("8:17\n")},
		"sys/class/block/sdb1/partition":     {Data: []byte("1\n")},
		"sys/class/block/sdb/dev":            {Data: []byte("8:16\n")},
		"sys/class/block/sdb/sdb1/partition": {Data: []byte("1\n")},
		"proc/812/fd/7":                      {Data: []byte("/dev/sda"), Mode: os.ModeSymlink},
		"proc/812/comm":                      {Data: []byte("qemu\n")},
	}
	tree, err := block.Read(&sys.Machine{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	tree.ReadUsers(1)
	for name, want := range map[string]string{"sda1": "/dev/sda: process 812 (qemu) has it open", "sdb1": ""} {
		if got := strings.Join(tree.Using(tree.Devices[name]), "; "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
