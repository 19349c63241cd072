package permit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/units"
)

// The hosts of a fleet have a directory each and one lock; when the last has left, nothing is left.
// What a killed fleet left is removed by the next, or by clean.
func TestJoinSharesAFolder(t *testing.T) {
	path := t.TempDir()
	left := filepath.Join(path, folderName, sharePrefix+"gone", folderName)
	plant := func() {
		t.Helper()
		if err := os.MkdirAll(left, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(left, "data.dat"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plant()
	one, leaveOne, err := Join(path, "fleet", "h1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("what a killed fleet left is still there")
	}
	two, leaveTwo, err := Join(path, "fleet", "h2")
	if err != nil || one == two {
		t.Fatalf("%s %s %v", one, two, err)
	}
	if _, _, err := Join(path, "another", "h1"); err == nil || !strings.Contains(err.Error(), "another plimsoll is measuring here") {
		t.Errorf("another fleet: %v", err)
	}
	if _, _, err := Join(path, "fleet", "../h1"); err == nil {
		t.Error("a name that leads elsewhere is taken")
	}
	inUse := false
	if err := Clean(path, false, func(l Leftover) { inUse = inUse || l.InUse }); err != nil || !inUse {
		t.Errorf("clean: %v, in use %t", err, inUse)
	}
	leaveOne()
	if _, err := os.Stat(two); err != nil {
		t.Error("who leaves takes another's directory along")
	}
	leaveTwo()
	if entries, _ := os.ReadDir(path); len(entries) > 0 {
		t.Errorf("left: %v", entries)
	}
	plant()
	if err := Clean(path, false, func(Leftover) {}); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(path); len(entries) > 0 {
		t.Errorf("clean left: %v", entries)
	}
	if _, _, err := Join("/dev/null", "fleet", "h1"); err == nil {
		t.Error("a device is taken")
	}
}

// All hosts' files must fit into the free space, not those of one.
func TestSpaceOfAllHosts(t *testing.T) {
	path := t.TempDir()
	p := placeOn(t, path, Consent{})
	free, _, err := p.dir.Free()
	if err != nil {
		t.Fatal(err)
	}
	p.Size = 0
	p.made = map[string]units.Bytes{"a": units.Bytes(free / 4)}
	if err := CheckSpace([]*Place{p}, false); err != nil {
		t.Error(err)
	}
	p.consent.Hosts = 8
	if err := CheckSpace([]*Place{p}, false); err == nil {
		t.Error("eight hosts fill twice what is free")
	}
}
