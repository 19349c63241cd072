package permit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A mount in the place of plimsoll's folder is another's: nothing in it is removed, also where it is of the
// same filesystem, and has the same device number.
func TestCleanLeavesAMount(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	folder := filepath.Join(dir, folderName)
	for _, name := range []string{folder, filepath.Join(other, "data.0")} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(other, folder, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("SKIPPED: nothing can be mounted here: %v", err)
	}
	defer unix.Unmount(folder, unix.MNT_DETACH) //nolint:errcheck // what stays is seen by the next test
	err := Clean(dir, false, func(l Leftover) { t.Errorf("cleaned: %+v", l) })
	if err == nil || !strings.Contains(err.Error(), "is a mount of its own") {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(other); err != nil || len(left) != 2 {
		t.Errorf("left: %v, %v", left, err)
	}
}
