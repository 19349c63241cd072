package permit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mount point below a service's directory is the service's to replace: the refusal names the
// directory, its owner, and what to do.
func TestMountPointInAServicesDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a directory to somebody else")
	}
	data := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	wal := filepath.Join(data, "wal")
	if err := Way(wal, "be worked on"); err != nil {
		t.Error(err)
	}
	if err := os.Chown(data, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := Way(wal, "hold a database", 65534); err != nil {
		t.Errorf("of the user who is named: %v", err)
	}
	err := Way(wal, "be worked on")
	if err == nil {
		t.Fatal("its owner can rename it")
	}
	for _, want := range []string{wal + " cannot be worked on: " + data + " belongs to ", "one beside it", "chown root"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
