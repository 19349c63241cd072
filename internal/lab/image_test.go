package lab

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
)

func tool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("NO %s: %v", strings.ToUpper(name), err)
	}
}

// What we pack, cpio(1) unpacks.
func TestCPIO(t *testing.T) {
	tool(t, "cpio")
	tr := tree{}
	tr.text("etc/motd", 0o640, "hello\n")
	tr.text("empty", 0o600, "")
	tr.link("usr/bin/sh", "busybox")
	tr.dir("a/b/c")
	source := t.TempDir()
	odd := bytes.Repeat([]byte("x"), 100001)
	if err := os.WriteFile(filepath.Join(source, "odd"), odd, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := tr.copy(os.DirFS(source), "odd"); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := writeCPIO(&archive, tr); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	cmd := exec.Command("cpio", "-id", "--quiet")
	cmd.Dir, cmd.Stdin = to, &archive
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got, err := os.ReadFile(filepath.Join(to, "odd")); err != nil || !bytes.Equal(got, odd) {
		t.Errorf("odd: %d bytes, %v", len(got), err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "etc/motd")); err != nil || string(got) != "hello\n" {
		t.Errorf("motd: %q, %v", got, err)
	}
	if got, err := os.Readlink(filepath.Join(to, "usr/bin/sh")); err != nil || got != "busybox" {
		t.Errorf("link: %q, %v", got, err)
	}
	if info, err := os.Stat(filepath.Join(to, "etc/motd")); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode: %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(to, "a/b/c")); err != nil || !info.IsDir() {
		t.Errorf("directory: %v", err)
	}
}

// ldd says what the loader would load.
func TestClosureIsWhatLddSays(t *testing.T) {
	root := os.DirFS("/")
	lib, err := newLibrary(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fio", "bash", "mkfs.xfs", "lvm"} {
		p := programPath(root, name)
		if p == "" {
			t.Logf("%s is not installed", name)
			continue
		}
		files, err := lib.closure(p)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			got = append(got, filepath.Base(f))
		}
		out, err := exec.Command("ldd", "/"+p).Output()
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for line := range strings.Lines(string(out)) {
			if f := strings.Fields(line); !strings.HasPrefix(f[0], "linux-vdso") {
				want = append(want, filepath.Base(f[0]))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if got = slices.Compact(got); !slices.Equal(got, slices.Compact(want)) {
			t.Errorf("%s: %v\nldd: %v", p, got, want)
		}
	}
}

func TestModuleClosure(t *testing.T) {
	dep := "kernel/drivers/md/raid10.ko: kernel/drivers/md/md-mod.ko\nkernel/drivers/md/md-mod.ko:\n" +
		"kernel/fs/xfs/xfs.ko.xz: kernel/lib/libcrc32c.ko\nkernel/lib/libcrc32c.ko:\n"
	got, err := moduleClosure(strings.NewReader(dep), []string{"md_mod", "raid10", "xfs", "built-in"})
	want := []string{"kernel/drivers/md/md-mod.ko", "kernel/drivers/md/raid10.ko", "kernel/fs/xfs/xfs.ko.xz", "kernel/lib/libcrc32c.ko"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := moduleClosure(strings.NewReader("no colon"), nil); err == nil {
		t.Error("a line without a colon was taken")
	}
}

func TestKernelOfThisHost(t *testing.T) {
	version, err := kernelVersion(os.DirFS("/"))
	if err != nil {
		t.Skip("NO LAB: " + err.Error())
	}
	packed, err := os.ReadFile("/boot/vmlinuz-" + version)
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := vmlinux(packed)
	if err != nil {
		t.Skip("this kernel is packed in another way, and boots as it is: " + err.Error())
	}
	f, err := elf.NewFile(bytes.NewReader(kernel))
	if err != nil || f.Section(".text") == nil {
		t.Fatalf("%d bytes, %v", len(kernel), err)
	}
	packed[0x248]++ // the payload begins elsewhere
	if _, err := vmlinux(packed); err == nil {
		t.Error("a damaged bzImage was unpacked")
	}
}

func TestLZ4(t *testing.T) {
	tool(t, "lz4")
	rng := rand.New(rand.NewPCG(1, 2))
	var plain []byte
	for range 2000 { // repeats of all lengths, noise of all lengths
		noise := make([]byte, rng.IntN(600))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		plain = append(append(plain, noise...), bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(900))...)
	}
	cmd := exec.Command("lz4", "-l", "-c")
	cmd.Stdin = bytes.NewReader(plain)
	packed, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := unpackLZ4(packed); err != nil || !bytes.Equal(got, plain) {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(plain))
	}
}

func FuzzLZ4(f *testing.F) {
	f.Add([]byte{0x1f, 'a', 1, 0, 0})
	f.Add([]byte{0xf0, 3, 'a'})
	bounded.Fuzz(f, func(t *testing.T, p []byte) {
		if out, err := lz4Block([]byte("before"), p); err == nil && !bytes.HasPrefix(out, []byte("before")) {
			t.Errorf("%x: what was before is gone", p)
		}
	})
}

func FuzzVmlinux(f *testing.F) {
	bz := make([]byte, 0x400)
	copy(bz[0x202:], "HdrS")
	bz[0x1f1], bz[0x24c] = 1, 16
	f.Add(bz)
	bounded.Fuzz(f, func(t *testing.T, b []byte) {
		if kernel, err := vmlinux(b); err == nil && !bytes.HasPrefix(kernel, []byte("\x7fELF")) {
			t.Error("not an ELF file")
		}
	})
}

func TestAvailable(t *testing.T) {
	empty := &sys.Machine{Root: os.DirFS(t.TempDir())}
	if reason := Available(empty); !strings.Contains(reason, "qemu-system-x86") {
		t.Errorf("on an empty machine: %q", reason)
	}
}
