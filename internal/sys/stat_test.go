package sys_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

func TestWhatANameLeadsTo(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), nil, 0o644), os.Symlink("file", at("to-file")), os.Symlink(".", at("to-dir")),
		os.Symlink("none", at("to-none")), syscall.Mkfifo(at("fifo"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct{ exists, dir, file bool }{
		"":          {true, true, false},
		"file":      {true, false, true},
		"to-file":   {true, false, true},
		"to-dir":    {true, true, false},
		"to-none":   {false, false, false},
		"none":      {false, false, false},
		"file/none": {false, false, false},
		"fifo":      {true, false, false},
	} {
		path := at(name)
		if got := [3]bool{sys.Exists(path), sys.IsDir(path), sys.IsFile(path)}; got != [3]bool{want.exists, want.dir, want.file} {
			t.Errorf("%q: exists, directory, regular file: %v", name, got)
		}
	}
}

func TestVariables(t *testing.T) {
	m := &sys.Machine{Environ: []string{"A=1", "B=", "C=x=y", "A=2", "D"}}
	for name, want := range map[string]struct {
		value string
		set   bool
	}{"A": {"1", true}, "B": {"", true}, "C": {"x=y", true}, "D": {"", false}, "E": {"", false}} {
		if value, set := m.LookupEnv(name); value != want.value || set != want.set || m.Getenv(name) != want.value {
			t.Errorf("%s: %q, %v", name, value, set)
		}
	}
	if value, set := (&sys.Machine{}).LookupEnv("PATH"); set {
		t.Errorf("a captured machine has PATH %q", value)
	}
}

// A mount is taken away by its number: another one that has come to its name stays.
func TestUnmountIsOfOneMount(t *testing.T) {
	dir := t.TempDir()
	mounted := func(name string) (point string, id int) {
		point = filepath.Join(dir, name)
		if err := os.Mkdir(point, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("none", point, "tmpfs", 0, ""); err != nil {
			t.Skipf("SKIPPED: nothing can be mounted here: %v", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(point, unix.MNT_DETACH) })
		at, err := sys.Look(point)
		if err != nil || at.Mount == 0 {
			t.Skipf("SKIPPED: the kernel does not number mounts: %v", err)
		}
		return point, at.Mount
	}
	a, idA := mounted("a")
	b, idB := mounted("b")
	if err := sys.Unmount(a, idB); err == nil {
		t.Error("another mount was taken away")
	}
	if at, _ := sys.Look(a); at.Mount != idA {
		t.Error("it is not mounted any more")
	}
	if err := sys.Unmount(a, idA); err != nil {
		t.Error(err)
	}
	if at, _ := sys.Look(a); at.Mount == idA {
		t.Error("it is still mounted")
	}
	if at, _ := sys.Look(b); at.Mount != idB {
		t.Error("the other is not mounted any more")
	}
}
