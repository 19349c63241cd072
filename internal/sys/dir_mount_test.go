package sys_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A name that is no directory has no mount in it; a directory that cannot be looked into may have one.
func TestMountsAreLookedForOrRefused(t *testing.T) {
	base := t.TempDir()
	dir := openDir(t, base)
	err := errors.Join(os.WriteFile(filepath.Join(base, "file"), nil, 0o600), os.MkdirAll(filepath.Join(base, "a/b"), 0o700),
		os.Symlink("a", filepath.Join(base, "link")), os.Symlink("nowhere", filepath.Join(base, "dangling")))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"absent", "file", "a", "link", "dangling"} {
		if err := dir.CheckMounts(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := dir.CheckMounts(strings.Repeat("x", 300)); !errors.Is(err, unix.ENAMETOOLONG) {
		t.Errorf("what cannot be opened: %v", err)
	}
	if err := os.Mkdir(filepath.Join(base, "a/b/closed"), 0); err != nil {
		t.Fatal(err)
	}
	if err := dir.CheckMounts("a"); os.Geteuid() != 0 && !errors.Is(err, unix.EACCES) {
		t.Errorf("a directory that is closed to the caller: %v", err)
	}
	if err := dir.RemoveAll("a"); os.Geteuid() == 0 && err != nil {
		t.Errorf("root removes it: %v", err)
	}
}
