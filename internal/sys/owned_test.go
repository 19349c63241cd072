package sys

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A program that somebody else can replace is not run as root: by the file, by a directory on the way
// or by a link.
func TestProgramsOfOthersAreNotRunAsRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: only root runs programs of others")
	}
	const other = 54321
	for name, c := range map[string]struct {
		change func(t *testing.T, dir, prog string)
		uid    uint32
		ran    bool
	}{
		"root's":                     {func(*testing.T, string, string) {}, 0, true},
		"another's file":             {func(t *testing.T, _, prog string) { chown(t, prog, other) }, 0, false},
		"its own user's":             {func(t *testing.T, _, prog string) { chown(t, prog, other) }, other, true},
		"another's directory":        {func(t *testing.T, dir, _ string) { chown(t, dir, other) }, 0, false},
		"a directory above it":       {func(t *testing.T, dir, _ string) { chown(t, filepath.Dir(dir), other) }, 0, false},
		"writable by all":            {func(t *testing.T, _, prog string) { chmod(t, prog, 0o757) }, 0, false},
		"in a directory of all":      {func(t *testing.T, dir, _ string) { chmod(t, dir, 0o777) }, 0, false},
		"in a sticky one":            {func(t *testing.T, dir, _ string) { chmod(t, dir, 0o777|os.ModeSticky) }, 0, true},
		"another's in a sticky one":  {func(t *testing.T, dir, prog string) { chmod(t, dir, 0o777|os.ModeSticky); chown(t, prog, other) }, 0, false},
		"writable by a group":        {func(t *testing.T, _, prog string) { lchown(t, prog, 0, 54322); chmod(t, prog, 0o775) }, 0, false},
		"writable by root's group":   {func(t *testing.T, _, prog string) { chmod(t, prog, 0o775) }, 0, true},
		"another's link to root's":   {func(t *testing.T, _, prog string) { relink(t, prog, other) }, 0, false},
		"a link of root's to root's": {func(t *testing.T, _, prog string) { relink(t, prog, 0) }, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "a", "bin")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			prog, ran := filepath.Join(dir, "prog"), filepath.Join(top, "ran")
			if err := os.WriteFile(prog, []byte("#!/bin/sh\necho yes\n: >"+ran+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			chmod(t, top, 0o777|os.ModeSticky)
			chmod(t, filepath.Dir(top), 0o755)
			c.change(t, dir, prog)
			var err error
			if c.uid != 0 {
				_, err = Child{Argv: []string{prog}, Dir: "/", UID: c.uid, GID: c.uid}.Output(t.Context(), QueryLimit)
			} else {
				_, err = Host().Output(t.Context(), prog)
				if code, also := (Process{Argv: []string{prog}}).Run(t.Context()); (also == nil && code == 0) != c.ran {
					t.Errorf("Process: %v", also)
				}
			}
			_, missing := os.Stat(ran)
			if c.ran != (missing == nil) || c.ran != (err == nil) {
				t.Errorf("ran %v with %v, want %v", missing == nil, err, c.ran)
			}
			if !c.ran && (!errors.Is(err, ErrReplaceable) || !strings.Contains(err.Error(), "root would run it")) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func chown(t *testing.T, name string, uid int) { lchown(t, name, uid, uid) }

func lchown(t *testing.T, name string, uid, gid int) {
	t.Helper()
	if err := os.Lchown(name, uid, gid); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// relink puts a link of a user's to a program of root's in the program's place, which leads to the
// same program.
func relink(t *testing.T, prog string, uid int) {
	t.Helper()
	actual := filepath.Join(filepath.Dir(filepath.Dir(prog)), "real")
	if err := errors.Join(os.Rename(prog, actual), os.Symlink(actual, prog)); err != nil {
		t.Fatal(err)
	}
	chown(t, prog, uid)
}

// What lies in a directory is believed only if nobody else can put another in the place of it, or of
// any directory above it.
func TestWhatIsBelievedHasTrustedParents(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("NOT ROOT: no directories of others")
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, above string)
		ok     bool
	}{
		"root's":            {func(*testing.T, string) {}, true},
		"another's above":   {func(t *testing.T, above string) { chown(t, above, 54321) }, false},
		"writable above":    {func(t *testing.T, above string) { chmod(t, above, 0o777) }, false},
		"a sticky one":      {func(t *testing.T, above string) { chmod(t, above, 0o777|os.ModeSticky) }, true},
		"a group's above":   {func(t *testing.T, above string) { lchown(t, above, 0, 54322); chmod(t, above, 0o775) }, false},
		"only read by all":  {func(t *testing.T, above string) { chmod(t, above, 0o755) }, true},
		"writable by group": {func(t *testing.T, above string) { chmod(t, above, 0o775) }, true},
	} {
		above := filepath.Join(t.TempDir(), "above")
		at := filepath.Join(above, "plimsoll", "arrays")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		c.change(t, above)
		dir, err := OpenDir(at)
		if err != nil {
			t.Fatal(err)
		}
		if err := dir.CheckTrusted(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		_ = dir.Close()
	}
}
