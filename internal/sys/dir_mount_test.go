package sys_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

// A name that is no directory has no mount in it; a directory that cannot be looked into may have one.
func TestMountsAreLookedForOrRefused(t *testing.T) {
	base := t.TempDir()
	dir := openDir(t, base)
	err := errors.Join(os.WriteFile(filepath.Join(base, "file"), nil, 0o600),
		os.MkdirAll(filepath.Join(base, "a/b"), 0o700),
		os.Symlink("a", filepath.Join(base, "link")), os.Symlink("nowhere", filepath.Join(base, "dangling")))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"absent", "file", "a", "link", "dangling"} {
		if err := dir.CheckOthers(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := dir.CheckOthers(strings.Repeat("x", 300)); !errors.Is(err, unix.ENAMETOOLONG) {
		t.Errorf("what cannot be opened: %v", err)
	}
	if err := os.Mkdir(filepath.Join(base, "a/b/closed"), 0); err != nil {
		t.Fatal(err)
	}
	if err := dir.CheckOthers("a"); os.Geteuid() != 0 && !errors.Is(err, unix.EACCES) {
		t.Errorf("a directory that is closed to the caller: %v", err)
	}
	if err := dir.RemoveAll("a"); os.Geteuid() == 0 && err != nil {
		t.Errorf("root removes it: %v", err)
	}
}

// A directory that plimsoll works in is the caller's own, also where it is there already.
func TestOwnDirectories(t *testing.T) {
	base := t.TempDir()
	err := errors.Join(os.Mkdir(filepath.Join(base, "there"), 0o755), os.Mkdir(filepath.Join(base, "others"), 0o755),
		os.Symlink("there", filepath.Join(base, "link")), os.WriteFile(filepath.Join(base, "file"), nil, 0o600))
	if err == nil && os.Geteuid() == 0 {
		err = os.Chown(filepath.Join(base, "others"), 64001, 64001)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]bool{
		"new": false, "there": false, "link": true, "file": true, "others": os.Geteuid() == 0,
	} {
		d, err := openDir(t, base).OwnSub(name, 0o755)
		if (err != nil) != refused {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = d.Close()
		}
	}
}

// Nor does root replace by its name what a third user may have moved there.
func TestNothingOfOthersIsReplaced(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can make files of several users")
	}
	const attacker, victim = 64001, 64002
	for _, c := range []struct {
		above, dir, file int // owners
		held             bool
	}{
		{attacker, victim, victim, true}, // renamed in the attacker's directory
		{attacker, attacker, victim, true},
		{attacker, attacker, attacker, false}, // his own all the way
		{0, victim, victim, false},
		{attacker, attacker, 0, false}, // root's own: the rule is of others' files
	} {
		base := t.TempDir()
		dir := filepath.Join(base, "above", "dir")
		name := filepath.Join(dir, "report.html")
		err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(name, []byte("old"), 0o600), os.Chown(name, c.file, c.file),
			os.Chown(dir, c.dir, c.dir), os.Chown(filepath.Dir(dir), c.above, c.above))
		if err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		err = sys.WriteFile("report.html", []byte("new"), 0o644)
		now, readErr := os.ReadFile(name)
		if (err != nil) != c.held || readErr != nil || (string(now) == "old") != c.held {
			t.Errorf("%+v: %v, %q", c, err, now)
		}
	}
}

// What the owner of a directory has moved there is not his: a shared directory in which somebody keeps files becomes no
// leftover by its name.
func TestNothingOfOthersIsRemoved(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can make files of several users")
	}
	const attacker, victim = 64001, 64002
	for at, held := range map[string]bool{
		"left/project/thesis/final.tex": true, // his directory, with a directory of the victim's
		"left/project/final.tex":        true,
		"left/project":                  true,
		"other/project/final.tex":       false, // all his own
	} {
		base := t.TempDir()
		top, _, _ := strings.Cut(at, "/")
		file := filepath.Join(base, "left/project/thesis/final.tex")
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o600),
			filepath.WalkDir(base,
				func(name string, _ os.DirEntry, _ error) error { return os.Chown(name, attacker, attacker) }))
		if top == "left" {
			if filepath.Base(at) == "final.tex" && filepath.Dir(at) == "left/project" {
				err = errors.Join(err, os.Rename(file, filepath.Join(base, at)))
			}
			err = errors.Join(err, os.Chown(filepath.Join(base, at), victim, victim))
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, remove := range []func(*sys.Dir, string) error{(*sys.Dir).CheckOthers, (*sys.Dir).RemoveAll} {
			err := remove(openDir(t, base), "left")
			if want := fmt.Sprintf("belongs to user %d, in a directory of user %d", victim, attacker); held != (err != nil) ||
				held && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", at, err, want)
			}
			if _, err := os.Stat(filepath.Join(base, "left")); held && err != nil {
				t.Errorf("%s: %v", at, err)
			}
		}
	}
	base := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(base, "own"), 0o755),
		os.WriteFile(filepath.Join(base, "own/f"), nil, 0o600),
		os.Chown(filepath.Join(base, "own/f"), victim, victim)); err != nil {
		t.Fatal(err)
	}
	if err := openDir(t, base).RemoveAll("own"); err != nil {
		t.Errorf("a server's file in root's directory: %v", err)
	}
	// The directory that was opened counts, and not what had its name before.
	moved := filepath.Join(base, "his/moved")
	err := errors.Join(os.MkdirAll(moved, 0o700), os.Chown(filepath.Dir(moved), attacker, attacker),
		os.Chown(moved, victim, victim))
	if err != nil {
		t.Fatal(err)
	}
	if err := openDir(t, filepath.Dir(moved)).CheckOthers("moved"); err == nil {
		t.Error("a directory of the victim's in one of the attacker's may be emptied")
	}
}
