package provision

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
)

// Whatever stands in a file, putting lines in and taking them out again leaves it as it was, also
// with other arrays' lines in between, and also when the first or second half was done twice.
func TestLinesLeaveTheFileAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before := []byte(rapid.StringMatching(`([ -~]{0,20}\n){0,4}[ -~]{0,9}`).Draw(t, "file"))
		exists := len(before) > 0 || rapid.Bool().Draw(t, "exists")
		a, b := &Lines{File: "/etc/f", Name: "a", Text: "one"}, &Lines{File: "/etc/f", Name: "a.b", Text: "two\nthree"}
		now, err := a.added(before, exists)
		if err != nil || !a.inPlace(now) {
			t.Fatalf("%q: %v", now, err)
		}
		both, err := b.added(now, true)
		if err != nil || !a.inPlace(both) || !b.inPlace(both) {
			t.Fatalf("%q: %v", both, err)
		}
		if again, _ := b.added(both, true); !bytes.Equal(again, both) {
			t.Fatalf("added twice: %q", again)
		}
		rest, _, err := b.cut(both)
		if err != nil || !bytes.Equal(rest, now) {
			t.Fatalf("%q\n%q: %v", now, rest, err)
		}
		rest, remove, err := a.cut(rest)
		if err != nil || !bytes.Equal(rest, before) || remove == exists {
			t.Fatalf("%q\n%q, remove %v: %v", before, rest, remove, err)
		}
		if rest2, remove2, _ := a.cut(rest); !bytes.Equal(rest, rest2) || remove2 {
			t.Fatalf("cut twice: %q", rest2)
		}
	})
}

// What a person changed around the lines stays; what they changed within goes.
func TestLinesAmongEdits(t *testing.T) {
	l := &Lines{File: "/etc/fstab", Name: "data", Text: "UUID=1 /data xfs noatime,nofail 0 0"}
	file, err := l.added([]byte("first\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace("zero\n"+string(file)+"last\n", "noatime", "relatime", 1)
	if l.inPlace([]byte(edited)) {
		t.Error("a changed line passes for ours")
	}
	rest, _, err := l.cut([]byte(edited))
	if err != nil || string(rest) != "zero\nfirst\nlast\n" {
		t.Errorf("%q: %v", rest, err)
	}
	if _, _, err := l.cut([]byte(strings.Replace(edited, "# plimsoll data: end\n", "", 1))); err == nil || !strings.Contains(err.Error(), "by hand") {
		t.Errorf("without its end: %v", err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("# plimsoll a: begin, in a file of its own; plimsoll array teardown takes these lines out\n# plimsoll a: end\n"))
	f.Add([]byte("x\n# plimsoll a: end\n# plimsoll a: begin; plimsoll array teardown takes these lines out\n"))
	bounded.Fuzz(f, func(t *testing.T, file []byte) {
		l := &Lines{File: "/etc/f", Name: "a", Text: "one"}
		now, err := l.added(file, true)
		if err != nil {
			return
		}
		if !l.inPlace(now) {
			t.Errorf("%q: added, and not there", now)
		}
	})
}

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
	l := &Lines{File: "/etc/fstab", Name: "data", Text: "y"}
	if err := s.add(l); err != nil {
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
	l := &Lines{File: "/etc/fstab", Name: "data", Text: "y"}
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
		if err := s.add(l); err != nil || !l.inPlace([]byte(text(file))) || text(filepath.Join(s.Journal, before)) != old {
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
