package sys

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A directory for temporary files that somebody else can change is not used: what is made in it could be renamed away,
// and another's put in its place for this process to remove.
func TestTempDirWhereOthersMayMove(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a directory to another user")
	}
	theirs := t.TempDir()
	if err := os.Chown(theirs, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	within := filepath.Join(theirs, "mine")
	open := t.TempDir()
	for _, dir := range []string{within, open} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(open, 0o777); err != nil { //nolint:gosec // the case
		t.Fatal(err)
	}
	own := t.TempDir()
	for base, used := range map[string]bool{theirs: false, within: false, open: false, own: true} {
		t.Setenv("TMPDIR", base)
		dir, err := TempDir("file")
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(dir, base+"/") != used {
			t.Errorf("TMPDIR %s: %s", base, dir)
		}
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	}
}
