package provision

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
)

// strayWrite is the name of a file that a process which is no more wrote to take another's place.
func strayWrite(t *testing.T) string {
	t.Helper()
	info, err := os.Stat("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(".plimsoll-write-%s-%s-0-123", strconv.FormatUint(info.Sys().(*syscall.Stat_t).Ino, 36), strconv.FormatInt(int64(os.Getpid()), 36))
}

// The file keeps its mode, is written through a link, and a stray temporary file of a power cut
// goes.
func TestFilesOfEtc(t *testing.T) {
	s := site(t, sys.Host())
	for _, dir := range []string{s.at("etc"), s.at("real"), s.Journal} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file, stray, vim := s.at("real/fstab"), s.at("real/"+strayWrite(t)), s.at("real/.fstab.swp")
	for _, name := range []string{file, stray, vim} {
		if err := os.WriteFile(name, []byte("x"), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(file, s.at("etc/fstab")); err != nil {
		t.Fatal(err)
	}
	l := &records.Lines{File: "/etc/fstab", Name: "data", Text: "y"}
	if err := (&state{Site: s}).lines(l, s.add); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if backup, err := os.ReadFile(filepath.Join(s.Journal, "data-fstab.before")); err != nil || string(backup) != "x" {
		t.Errorf("backup %q: %v", backup, err)
	}
	if _, err := os.Stat(stray); err == nil {
		t.Error("the stray file is still there")
	}
	if _, err := os.Stat(vim); err != nil {
		t.Error("another's file is gone")
	}
	if err := s.remove(l); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(s.at("etc/fstab")); string(data) != "x" {
		t.Errorf("%q", data)
	}
	if link, err := os.Readlink(s.at("etc/fstab")); err != nil || link != file {
		t.Errorf("the link is %q, %v", link, err)
	}
	if left, _ := os.ReadDir(s.Journal); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// What of a file of /etc is touched: only what differs, with what was there kept beside the journal until the lines are
// out again; a file that was made for them goes with them.
func TestWhatIsWrittenToEtc(t *testing.T) {
	const before = "data-fstab.before"
	l := &records.Lines{File: "/etc/fstab", Name: "data", Text: "y"}
	text := func(name string) string {
		data, err := os.ReadFile(name)
		if err != nil {
			return "none"
		}
		return string(data)
	}
	for name, old := range map[string]string{"a file": "x\n", "an empty one": "", "none": "none"} {
		s := site(t, sys.Host())
		file := s.at("etc/fstab")
		for _, dir := range []string{s.at("etc"), s.Journal} {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if old != "none" {
			if err := os.WriteFile(file, []byte(old), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.remove(l); err != nil || text(file) != old { // nothing of plimsoll's is in it
			t.Errorf("%s: %v, %q", name, err, text(file))
		}
		if err := s.add(l); err != nil || !l.InPlace([]byte(text(file))) || text(filepath.Join(s.Journal, before)) != old {
			t.Errorf("%s: %v, %q, kept %q", name, err, text(file), text(filepath.Join(s.Journal, before)))
		}
		mode := map[string]os.FileMode{"a file": 0o600, "an empty one": 0o600, "none": 0o644}[name]
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, mode)
		}
		if err := s.add(l); err != nil { // in place: what was kept is not taken for it
			t.Error(err)
		}
		if again, err := os.Stat(file); err != nil || !os.SameFile(info, again) || text(filepath.Join(s.Journal, before)) != old {
			t.Errorf("%s: it was written again: %v", name, err)
		}
		if err := s.remove(l); err != nil || text(file) != old || text(filepath.Join(s.Journal, before)) != "none" {
			t.Errorf("%s: %v, %q, kept %q", name, err, text(file), text(filepath.Join(s.Journal, before)))
		}
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root gives files to another user: this part did not run")
	}
	s := site(t, sys.Host())
	file := s.at("etc/fstab")
	if err := errors.Join(os.MkdirAll(s.at("etc"), 0o755), os.MkdirAll(s.Journal, 0o755), os.WriteFile(file, []byte("x\n"), 0o640), os.Chown(file, 0, 7)); err != nil {
		t.Fatal(err)
	}
	if err := s.add(l); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != 0 || st.Gid != 7 {
		t.Errorf("it is %+v's", st)
	}
}
