package permit

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/units"
)

// A file is kept from being rewritten where it is there, is only read, is a regular file, and neither
// plimsoll's own nor made by the jobs.
func TestWhatIsOnlyRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "there")
	made := filepath.Join(dir, "made")
	for _, path := range []string{file, made} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &Place{Path: dir, made: map[string]units.Bytes{made: 1}}
	for name, c := range map[string]struct {
		a    access
		want bool
	}{
		"read":        {access{path: file}, true},
		"written":     {access{path: file, writes: true}, false},
		"not there":   {access{path: filepath.Join(dir, "absent")}, false},
		"a directory": {access{path: dir}, false},
		"made":        {access{path: made}, false},
		"our own":     {access{path: p.File()}, false},
	} {
		if name == "our own" {
			if err := os.MkdirAll(filepath.Dir(c.a.path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(c.a.path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := p.onlyRead(c.a); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
