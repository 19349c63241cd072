package lab_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
	"plimsoll/internal/sys"
)

func host() *sys.Machine { return sys.Host() }

// TestHelperStartsAGuest is what TestNothingIsLeft kills.
func TestHelperStartsAGuest(t *testing.T) {
	if os.Getenv("PLIMSOLL_HELPER") == "" {
		return // nobody asked for a guest
	}
	if _, err := lab.Start(t.Context(), host(), lab.Config{Spec: small(t, ""), Binary: labtest.Binary(t)}); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(os.Stdout, "started")
	select {}
}

// leftovers are the guests' directories.
func leftovers(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(os.TempDir(), "plimsoll-lab-*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// qemus are the running guests whose files lie in this test's own temporary directory, by process
// id: the lab's other guests on this machine are none of its business.
func qemus(t *testing.T) []string {
	t.Helper()
	var found []string
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lines {
		if text, err := os.ReadFile(name); err == nil && strings.HasPrefix(string(text), "qemu-system") && strings.Contains(string(text), os.TempDir()+"/plimsoll-lab-") {
			found = append(found, filepath.Base(filepath.Dir(name)))
		}
	}
	return found
}
