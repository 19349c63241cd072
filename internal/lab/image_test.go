package lab

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/sys"
)

func tool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("NO %s: %v", strings.ToUpper(name), err)
	}
}

// A file that is put is there whole, with its mode, also over one that is there; of what fails nothing is left.
func TestPutting(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a file")
	want := strings.Repeat("0123456789abcdef", 50000)
	put := func(name, text string) error {
		argv := putting(name, 0o750)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdin = strings.NewReader(text)
		return cmd.Run()
	}
	for _, text := range []string{"before", want} {
		if err := put(name, text); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode() != 0o750 {
		t.Errorf("%v, %v: want mode 0750", info, err)
	}
	if put(filepath.Join(dir, "no", "such"), want) == nil || os.Mkdir(name+".lab-new", 0o700) != nil || put(name, want) == nil {
		t.Error("what cannot be written is no error")
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

// A program's libraries are there under the names that ldd says, once; a script and a static program need none.
func TestLibraries(t *testing.T) {
	m := sys.Host()
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := libraries(t.Context(), m, script[1:]); err != nil || len(got) > 0 {
		t.Errorf("a script: %v, %v", got, err)
	}
	got, err := libraries(t.Context(), m, script[1:], m.Program("bash"), m.Program("mount"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, name := range got {
		if _, err := os.Stat("/" + name); err != nil {
			t.Error(err)
		}
		seen[filepath.Base(name)]++
	}
	if seen["libc.so.6"] != 1 || seen["libtinfo.so.6"] != 1 || seen["libmount.so.1"] != 1 ||
		seen["ld-linux-x86-64.so.2"] != 1 || seen["linux-vdso.so.1"] != 0 {
		t.Errorf("%v", got)
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

func TestAvailable(t *testing.T) {
	empty := &sys.Machine{Root: os.DirFS(t.TempDir())}
	if reason := Available(empty); !strings.Contains(reason, "qemu-system-x86") {
		t.Errorf("on an empty machine: %q", reason)
	}
}
