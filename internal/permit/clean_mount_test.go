package permit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A mount in the place of plimsoll's folder, or of what lies in it, is another's: nothing in it is removed, also where
// it is of the same filesystem, and has the same device number.
func TestCleanLeavesAMount(t *testing.T) {
	for _, c := range []struct{ at, of string }{
		{"", "lock"}, {"data-files", "precious"}, {"pg-data", "precious"}, {"data-files/deeper", "precious"},
	} {
		dir, other := t.TempDir(), t.TempDir()
		folder := filepath.Join(dir, folderName)
		at := filepath.Join(folder, c.at)
		for _, name := range []string{at, filepath.Join(other, "data.0"), filepath.Join(folder, "wal-files")} {
			if err := os.MkdirAll(name, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(other, c.of), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(other, at, "", unix.MS_BIND, ""); err != nil {
			t.Skipf("SKIPPED: nothing can be mounted here: %v", err)
		}
		defer unix.Unmount(at, unix.MNT_DETACH) //nolint:errcheck // what stays is seen by the next test
		err := Clean(dir, false, func(l Leftover) { t.Errorf("%s: cleaned: %+v", c.at, l) })
		if err == nil || !strings.Contains(err.Error(), "is a mount of its own") {
			t.Errorf("%s: %v", c.at, err)
		}
		if left, err := os.ReadDir(other); err != nil || len(left) != 2 {
			t.Errorf("%s: left: %v, %v", c.at, left, err)
		}
		if _, err := os.Stat(filepath.Join(folder, "wal-files")); c.at != "" && err != nil {
			t.Errorf("%s: beside a mount something was removed: %v", c.at, err)
		}
	}
}
