package sys

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHelperMakesTemp makes a directory and ends without removing it. It is a part of TestEndTemps.
func TestHelperMakesTemp(t *testing.T) {
	base := os.Getenv("SYS_TEMP_BASE")
	if base == "" {
		t.Skip("a part of TestEndTemps")
	}
	name, err := TempDir(base, "test")
	if err != nil || os.WriteFile(filepath.Join(name, "file"), nil, 0o600) != nil {
		t.Fatal(err)
	}
}

// TestEndTemps: what a plimsoll left that is no more is removed; what one that lives has, what is named
// nearly so, and what links lead to stay.
func TestEndTemps(t *testing.T) {
	base, precious := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", base)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperMakesTemp$")
	cmd.Env = append(os.Environ(), "SYS_TEMP_BASE="+base)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	left, err := filepath.Glob(base + "/plimsoll-test-*")
	if err != nil || len(left) != 1 || len(filepath.Base(left[0])) > len("plimsoll-test")+TempNameLimit {
		t.Fatal(left, err)
	}
	if err := os.Symlink(precious, filepath.Join(left[0], "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(precious, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := TempDir(base, "test")
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Base(left[0])
	near := []string{strings.Replace(dead, "plimsoll-", "plimsall-", 1), dead + "-x", "plimsoll-test-1-1-1-1", "plimsoll-pg-123"}
	for _, name := range near {
		if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(base, dead[:len(dead)-1]+"x") // a link of that name is none of plimsoll's
	if err := os.Symlink(precious, link); err != nil {
		t.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		found, err := EndTemps(dry)
		if err != nil {
			t.Fatal(err)
		}
		var here []string
		for _, name := range found {
			if filepath.Dir(name) == base {
				here = append(here, name)
			}
		}
		if len(here) != 1 || here[0] != left[0] {
			t.Errorf("dry %v: %q", dry, here)
		}
		if _, err := os.Stat(left[0]); dry != (err == nil) {
			t.Errorf("dry %v: %v", dry, err)
		}
		if dry {
			continue
		}
		for _, name := range append(near, filepath.Base(own), filepath.Base(link)) {
			if _, err := os.Lstat(filepath.Join(base, name)); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(filepath.Join(precious, "file")); err != nil {
			t.Error(err)
		}
	}
	f, err := TempFile()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // a test's
	if all, _ := filepath.Glob(base + "/*"); len(all) != len(near)+2 {
		t.Errorf("a file without a name has one: %q", all)
	}
}
