package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// licensecheck has a directory "licenses" beside its LICENSE: the texts that it knows, not its own terms.
func TestLicenceBesideADirectory(t *testing.T) {
	got, err := licenseOf(".", "github.com/google/licensecheck")
	if err != nil || got != "BSD-3-Clause" {
		t.Errorf("%q, %v", got, err)
	}
}

// Terms that stand only in a directory are not shipped by scripts/dist.sh either: somebody must look.
func TestLicenceOnlyInADirectory(t *testing.T) {
	dir := t.TempDir()
	terms, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"go.mod": []byte("module example.com/m\n"), "LICENSES/Apache-2.0.txt": terms} {
		place := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(place), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(place, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := licenseOf(dir, "example.com/m"); err == nil || !strings.Contains(err.Error(), "no licence is recognised in "+dir) {
		t.Errorf("%q, %v", got, err)
	}
}
