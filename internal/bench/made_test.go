package bench

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/topology"
)

// A record may be old or hostile: what was there before it, what is another's, and what is no regular file below stays.
func TestOnlyWhatWasMadeIsRemoved(t *testing.T) {
	dir := t.TempDir()
	p := &place{role: topology.Data, path: filepath.Join(dir, "data")}
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"data", "data/.plimsoll", "data/sub"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("data/before")
	write("outside")
	if err := os.Symlink("../outside", filepath.Join(dir, "data/out")); err != nil {
		t.Fatal(err)
	}
	// Filesystems take the time from the kernel's tick: the record must be of a later one.
	written := func(name string) time.Time {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	for write("clock"); !written("clock").After(written("data/before")); {
		write("clock")
	}
	p.made = []string{"new", "sub/new", "before", "../outside", "out", "sub", "gone", "theirs"}
	if err := p.note(); err != nil {
		t.Fatal(err)
	}
	write("data/new")
	write("data/sub/new")
	want := []string{"new", "sub/new"}
	if os.Getuid() == 0 {
		write("data/theirs")
		if err := os.Chown(filepath.Join(dir, "data/theirs"), 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.recorded(); !slices.Equal(got, want) {
		t.Fatalf("recorded %q, want %q", got, want)
	}
	if err := p.empty(); err != nil {
		t.Fatal(err)
	}
	for _, stays := range []string{"data/before", "outside", "data/out", "data/sub"} {
		if !exists(filepath.Join(dir, stays)) {
			t.Errorf("%s was removed", stays)
		}
	}
	for _, goes := range []string{"data/new", "data/sub/new", "data/.plimsoll/data.made"} {
		if exists(filepath.Join(dir, goes)) {
			t.Errorf("%s was left", goes)
		}
	}
}
