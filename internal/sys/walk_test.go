package sys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const nobody = 65534

// own is a directory of the test's in which nobody else can write.
func own(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// What is written to is reached through links of the caller's and of the kernel's, and through no
// other's.
func TestOpenPathFollowsOwnLinksOnly(t *testing.T) {
	base := own(t)
	if err := errors.Join(
		os.MkdirAll(filepath.Join(base, "real/sub"), 0o755),
		os.Symlink("real", filepath.Join(base, "relative")),
		os.Symlink(base+"/relative/../real", filepath.Join(base, "absolute")),
		os.Symlink("loop", filepath.Join(base, "loop")),
		os.WriteFile(filepath.Join(base, "file"), nil, 0o600),
	); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(filepath.Join(base, "real/sub"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := OpenDir(filepath.Join(base, "real"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close() //nolint:errcheck // only a handle
	t.Chdir(base)
	for _, name := range []string{
		base + "/real/sub", base + "/relative/sub", base + "/absolute/sub", "relative/sub", "./real//sub/", "absolute/../real/sub",
		held.Path("sub"), "/proc/self/cwd/real/sub",
	} {
		d, err := OpenPath(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		called := name
		if name == held.Path("sub") { // a handle's own name says nothing to people
			called = base + "/real/sub"
		}
		if info, err := d.Info(); err != nil || !os.SameFile(info, want) || d.Name() != called {
			t.Errorf("%s: %v, called %s", name, err, d.Name())
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	for name, words := range map[string]string{
		"none/sub": "no such file", "loop/sub": "too many levels", "file/sub": "is not a directory: name one",
	} {
		if _, err := OpenPath(name); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", name, err, words)
		}
	}
	made, err := MakePath("relative/new/deep", 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(base + "/real/new/deep"); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v, want a directory of mode 0700", info, err)
	}
	if os.Geteuid() != 0 || os.Lchown(filepath.Join(base, "relative"), nobody, nobody) != nil {
		t.Skip("planting a link of another user's needs root: the rest of this test did not run")
	}
	for _, name := range []string{"relative/sub", "absolute/sub"} {
		for _, open := range []func() (*Dir, error){
			func() (*Dir, error) { return OpenPath(name) },
			func() (*Dir, error) { return MakePath(name+"/more", 0o755) },
			func() (*Dir, error) { return OpenOwnDir(name) },
		} {
			if _, err := open(); err == nil || !strings.Contains(err.Error(), "name the place itself") {
				t.Errorf("%s: %v, want a refusal", name, err)
			}
		}
		if err := WriteFile(name+"/x", nil, 0o600); err == nil || !strings.Contains(err.Error(), "name the place itself") {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
	if _, err := os.Lstat("real/sub/x"); err == nil {
		t.Error("it was written through a link of another user's")
	}
}

// What is believed belongs to the caller or root, has one name, and nobody else can write to it.
func TestReadTrusted(t *testing.T) {
	base := own(t)
	file := filepath.Join(base, "record")
	if err := os.WriteFile(file, []byte("ours"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := OpenPath(base)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // only a handle
	if data, err := d.ReadTrusted("record", 100); string(data) != "ours" || err != nil {
		t.Fatalf("%q %v", data, err)
	}
	refused := func(what, words string) {
		t.Helper()
		if _, err := d.ReadTrusted("record", 100); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", what, err, words)
		}
	}
	if err := os.Link(file, file+"2"); err != nil {
		t.Fatal(err)
	}
	refused("two names", "2 names")
	if err := errors.Join(os.Remove(file+"2"), os.Chmod(file, 0o666)); err != nil {
		t.Fatal(err)
	}
	refused("mode 0666", "remove that permission (chmod go-w)")
	if err := errors.Join(os.Remove(file), os.Symlink("/etc/passwd", file)); err != nil {
		t.Fatal(err)
	}
	refused("a link", "not a regular file")
	if err := errors.Join(os.Remove(file), unix.Mkfifo(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	refused("a FIFO", "not a regular file")
	if err := os.Chmod(base, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := d.CheckTrusted(); err == nil || !strings.Contains(err.Error(), "mode 0777") {
		t.Errorf("%v, want a refusal of a directory that all can write to", err)
	}
	if err := errors.Join(os.Chmod(base, 0o755), os.Remove(file), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 || os.Lchown(file, nobody, nobody) != nil {
		t.Skip("a file of another user needs root: the rest of this test did not run")
	}
	refused("a file of another user", "belongs to nobody")
}

// A file is replaced only where it still holds what was read.
func TestReplaceWantsWhatWasRead(t *testing.T) {
	base := own(t)
	file := filepath.Join(base, "job.fio")
	if err := os.WriteFile(file, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	d, err := OpenPath(base)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // only a handle
	for _, held := range []string{"ol", "older", "new"} {
		if err := d.Replace("job.fio", []byte(held), []byte("new")); err == nil || !strings.Contains(err.Error(), "was changed meanwhile") {
			t.Errorf("%q: %v, want a refusal", held, err)
		}
	}
	if err := d.Replace("job.fio", []byte("old"), []byte("new")); err != nil {
		t.Error(err)
	}
	data, err := os.ReadFile(file)
	info, err2 := os.Stat(file)
	if string(data) != "new" || err != nil || err2 != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%q %v, %v %v", data, err, info, err2)
	}
	if left, _ := filepath.Glob(base + "/.*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// With an access control list the bits of the mode's group are no rights of the group: a file that lost its list would
// give it what the list denied.
func TestReplaceKeepsTheAccessControlList(t *testing.T) {
	base := own(t)
	file := filepath.Join(base, "job.fio")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writableByACL(file, acl, nobody); errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("SKIPPED: no access control lists on this filesystem")
	} else if err != nil {
		t.Fatal(err)
	}
	d, err := OpenPath(base)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // only a handle
	state := func() string {
		list := make([]byte, 1000)
		n, err := unix.Getxattr(file, "system.posix_acl_access", list)
		info, err2 := os.Stat(file)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return info.Mode().String() + string(list[:n])
	}
	before := state()
	if err := d.Replace("job.fio", []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if after := state(); after != before {
		t.Errorf("%q became %q", before, after)
	}
	// One without a list gets none from its directory.
	plain := filepath.Join(base, "plain")
	if err := errors.Join(os.WriteFile(plain, []byte("old"), 0o660), os.Chmod(plain, 0o660)); err != nil {
		t.Fatal(err)
	}
	if err := writableByACL(base, "system.posix_acl_default", nobody); err != nil {
		t.Fatal(err)
	}
	if err := d.Replace("plain", []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(plain)
	n, none := unix.Getxattr(plain, acl, nil)
	if err != nil || info.Mode().Perm() != 0o660 || !errors.Is(none, unix.ENODATA) {
		t.Errorf("a file of mode 660 became one of %v with a list of %d bytes, %v", info.Mode(), n, err)
	}
}

// A file whose content is replaced keeps its mode, setuid and setgid with it; what somebody puts under its name at the
// last moment, or writes into it, is as it was afterwards, a link, a directory and another's file alike.
func TestReplaceGivesBackWhatWasSwappedIn(t *testing.T) {
	base := own(t)
	d, err := OpenPath(base)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // only a handle
	at := func(name string) string { return filepath.Join(base, name) }
	for what, swap := range map[string]func() error{
		"nothing":   func() error { return nil },
		"a file":    func() error { return os.WriteFile(at("other"), []byte("precious"), 0o604) },
		"a link":    func() error { return os.Symlink("/etc/passwd", at("other")) },
		"a folder":  func() error { return os.Mkdir(at("other"), 0o751) },
		"new words": func() error { return os.WriteFile(at("job"), []byte("abc"), 0) },
	} {
		for _, left := range []string{"job", "other"} {
			if err := os.RemoveAll(at(left)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(os.WriteFile(at("job"), []byte("old"), 0o700),
			os.Chmod(at("job"), 0o750|fs.ModeSetuid|fs.ModeSetgid)); err != nil {
			t.Fatal(err)
		}
		was, err := os.Stat(at("job"))
		if err != nil {
			t.Fatal(err)
		}
		held, err := d.OpenRegular("job")
		if err != nil {
			t.Fatal(err)
		}
		var there fs.FileInfo
		err = d.put("job", []byte("new"), func(f *os.File) error { return f.Chmod(was.Mode()) },
			func(temp, name string) error {
				if err := swap(); err != nil {
					return err
				}
				if _, err := os.Lstat(at("other")); err == nil {
					if err := errors.Join(os.Remove(at("job")), os.Rename(at("other"), at("job"))); err != nil {
						return err
					}
				}
				there, _ = os.Lstat(at("job"))
				return d.exchange(temp, name, held, []byte("old"))
			})
		now, _ := os.Lstat(at("job"))
		switch {
		case what == "nothing":
			data, _ := os.ReadFile(at("job"))
			if err != nil || string(data) != "new" || now.Mode() != was.Mode() {
				t.Errorf("%v, %q, %v: want the mode %v", err, data, now.Mode(), was.Mode())
			}
		case err == nil || !strings.Contains(err.Error(), "was changed meanwhile"):
			t.Errorf("%s: %v", what, err)
		case !os.SameFile(there, now) || there.Mode() != now.Mode() || there.Size() != now.Size():
			t.Errorf("%s: %v became %v", what, there, now)
		}
		if left, _ := filepath.Glob(base + "/.*"); len(left) > 0 {
			t.Errorf("%s left %v", what, left)
		}
		_ = held.Close()
	}
}

// An error about a file below an open directory has the directory's name, not that of the handle.
func TestErrorsNameWhatIsOpen(t *testing.T) {
	dir := t.TempDir()
	d, err := OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close() //nolint:errcheck // only a handle
	if err := os.Mkdir(filepath.Join(dir, "run.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	err = WriteFile(d.Path("run.json"), []byte("x"), 0o600)
	if err == nil || !strings.Contains(err.Error(), dir+"/run.json") || strings.Contains(err.Error(), "/proc/self/fd") {
		t.Error(err)
	}
}
