package sys

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/sys/killat"
)

// TestHelperMakesTemp makes a directory and ends without removing it. It is a part of TestEndTemps.
func TestHelperMakesTemp(t *testing.T) {
	base := os.Getenv("SYS_TEMP_BASE")
	if base == "" {
		t.Skip("a part of TestEndTemps")
	}
	name, err := TempDirIn(base, "test")
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
	own, err := TempDirIn(base, "test")
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

// TestHelperIsKilledAsItWrites replaces a file. It is a part of TestEndWrites.
func TestHelperIsKilledAsItWrites(t *testing.T) {
	name := os.Getenv("SYS_WRITE_TO")
	if name == "" {
		t.Skip("a part of TestEndWrites")
	}
	if err := WriteFile(name, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func opened(t *testing.T, name string) *Dir {
	t.Helper()
	d, err := OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// TestEndWrites: a kill at any step of a replacement leaves the old file or the new one, and beside it at most
// what EndWrites removes. What one that lives writes, what is named nearly so, and links stay.
func TestEndWrites(t *testing.T) {
	left := ""
	for step := 1; ; step++ {
		dir := opened(t, t.TempDir())
		name := filepath.Join(dir.Name(), strings.Repeat("n", 255)) // as long as names can be
		if err := os.WriteFile(name, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := killat.Command{
			Argv: []string{os.Args[0], "-test.run=^TestHelperIsKilledAsItWrites$"},
			Env:  append(os.Environ(), "SYS_WRITE_TO="+name), Step: step, Signal: syscall.SIGKILL,
		}
		_, code, err := c.Run()
		if err != nil || code > 0 {
			t.Fatalf("step %d: %d, %v", step, code, err)
		}
		found, _, err := dir.EndWrites(false)
		if err != nil || len(found) > 1 {
			t.Errorf("step %d: %q, %v", step, found, err)
		}
		if len(found) > 0 {
			left = found[0]
		}
		text, _ := os.ReadFile(name)
		names, _ := os.ReadDir(dir.Name())
		if len(names) != 1 || string(text) != "old" && string(text) != "new" || code == 0 && string(text) != "new" {
			t.Errorf("step %d: %q in %v", step, text, names)
		}
		if code == 0 {
			break
		}
	}
	if !IsWrite(left) {
		t.Fatalf("no kill left a file, but %q", left)
	}
	dir := opened(t, t.TempDir())
	stay := []string{left + "-x", left[1:], strings.Replace(left, "-write-", "-wrote-", 1), writeName()}
	for _, name := range stay {
		if err := os.WriteFile(filepath.Join(dir.Name(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir.Name(), left)); err != nil {
		t.Fatal(err)
	}
	if found, _, err := dir.EndWrites(false); err != nil || len(found) > 0 {
		t.Errorf("%q, %v", found, err)
	}
	if names, _ := os.ReadDir(dir.Name()); len(names) != len(stay)+1 {
		t.Errorf("of %q and a link there are %v", stay, names)
	}
}
