package sys_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plimsoll/internal/sys"
)

func TestWhatANameLeadsTo(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), nil, 0o644), os.Symlink("file", at("to-file")), os.Symlink(".", at("to-dir")),
		os.Symlink("none", at("to-none")), syscall.Mkfifo(at("fifo"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]struct{ exists, dir, file bool }{
		"":          {true, true, false},
		"file":      {true, false, true},
		"to-file":   {true, false, true},
		"to-dir":    {true, true, false},
		"to-none":   {false, false, false},
		"none":      {false, false, false},
		"file/none": {false, false, false},
		"fifo":      {true, false, false},
	} {
		path := at(name)
		if got := [3]bool{sys.Exists(path), sys.IsDir(path), sys.IsFile(path)}; got != [3]bool{want.exists, want.dir, want.file} {
			t.Errorf("%q: exists, directory, regular file: %v", name, got)
		}
	}
}

func TestVariables(t *testing.T) {
	m := &sys.Machine{Environ: []string{"A=1", "B=", "C=x=y", "A=2", "D"}}
	for name, want := range map[string]struct {
		value string
		set   bool
	}{"A": {"1", true}, "B": {"", true}, "C": {"x=y", true}, "D": {"", false}, "E": {"", false}} {
		if value, set := m.LookupEnv(name); value != want.value || set != want.set || m.Getenv(name) != want.value {
			t.Errorf("%s: %q, %v", name, value, set)
		}
	}
	if value, set := (&sys.Machine{}).LookupEnv("PATH"); set {
		t.Errorf("a captured machine has PATH %q", value)
	}
}
