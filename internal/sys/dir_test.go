package sys_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

func openDir(t *testing.T, name string) *sys.Dir {
	t.Helper()
	d, err := sys.OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// plant makes one of everything that another user could leave where plimsoll expects a file.
func plant(t *testing.T, name, kind, victim string) {
	t.Helper()
	var err error
	switch kind {
	case "link", "dangling link":
		err = os.Symlink(victim, name)
	case "pipe":
		err = unix.Mkfifo(name, 0o666)
	case "socket":
		var l net.Listener
		if l, err = net.Listen("unix", name); err == nil {
			t.Cleanup(func() { _ = l.Close() })
		}
	case "character device":
		if err = unix.Mknod(name, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 5))); errors.Is(err, unix.EPERM) {
			t.Skip("mknod needs root: the exam with a device did not run")
		}
	case "directory":
		err = os.Mkdir(name, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever stands where the lock or a small file should be is refused, at once, and nothing is made
// behind a link.
func TestPlantedNamesAreRefused(t *testing.T) {
	for _, kind := range []string{"link", "dangling link", "pipe", "socket", "character device", "directory"} {
		t.Run(kind, func(t *testing.T) {
			base := t.TempDir()
			victim := filepath.Join(base, "victim")
			if kind == "link" {
				if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Join(base, "d"), 0o755); err != nil {
				t.Fatal(err)
			}
			plant(t, filepath.Join(base, "d", "name"), kind, victim)
			d := openDir(t, filepath.Join(base, "d"))
			if release, err := d.Lock("name"); err == nil {
				release()
				t.Error("the lock was taken")
			}
			if data, err := d.ReadSmall("name", 100); err == nil {
				t.Errorf("read %q", data)
			}
			if f, err := d.Create("name", 0o600); !errors.Is(err, fs.ErrExist) {
				t.Errorf("created over it: %v %v", f, err)
			}
			text, err := os.ReadFile(victim)
			if kind == "link" && string(text) != "precious" || kind != "link" && err == nil {
				t.Errorf("the victim is %q, %v", text, err)
			}
		})
	}
}

// A directory that is held open is worked in, whatever its name leads to by now, also by a program
// started meanwhile.
func TestHeldDirectoryIsNotSwapped(t *testing.T) {
	base := t.TempDir()
	ours, victim := filepath.Join(base, "ours"), filepath.Join(base, "victim")
	for _, dir := range []string{ours, victim} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d := openDir(t, ours)
	if err := os.Rename(ours, filepath.Join(base, "moved")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, ours); err != nil {
		t.Fatal(err)
	}
	f, err := d.Create("a", 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if out, err := exec.Command("touch", d.Path("b")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if left, _ := os.ReadDir(victim); len(left) > 0 {
		t.Errorf("%d files were made behind the link", len(left))
	}
	if made, _ := os.ReadDir(filepath.Join(base, "moved")); len(made) != 2 {
		t.Errorf("%d files in the directory that is held, want 2", len(made))
	}
	if _, err := openDir(t, base).OpenSub("ours"); err == nil {
		t.Error("a link was opened as a directory of its own")
	}
}

// Of two only one has a lock; a lock whose file was removed and made again by somebody else is not
// had by both.
func TestLockIsExclusive(t *testing.T) {
	d := openDir(t, t.TempDir())
	release, err := d.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lock("lock"); !errors.Is(err, sys.ErrLocked) {
		t.Errorf("second lock: %v, want ErrLocked", err)
	}
	release()
	release, err = d.Lock("lock")
	if err != nil {
		t.Fatal(err)
	}
	release()
	release, err = sys.Lock(d.Name())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sys.Lock(d.Name()); !errors.Is(err, sys.ErrLocked) {
		t.Errorf("second lock of the directory: %v, want ErrLocked", err)
	}
	release()
	if _, err := sys.Lock(filepath.Join(d.Name(), "lock")); err == nil {
		t.Error("Lock took a file")
	}
}

// TestEntriesNameTheDirectory: what goes wrong with a directory that is held, such as an error of its disk, is said of
// its own name.
func TestEntriesNameTheDirectory(t *testing.T) {
	name := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(name, 0o700); err != nil {
		t.Fatal(err)
	}
	d, err := sys.OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // only a handle
	if entries, err := d.Entries(); err != nil || len(entries) != 0 {
		t.Errorf("%v %v", entries, err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Entries(); err != nil && !strings.Contains(err.Error(), name) {
		t.Errorf("%v: want the name %s", err, name)
	} else if err == nil {
		t.Error("a directory that is gone was read")
	}
}
