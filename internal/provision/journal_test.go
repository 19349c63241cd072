package provision

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/provision/records"
)

// Whoever may read the journal's directory may lock it: then that process is named, and where.
func TestLockOfAnother(t *testing.T) {
	s := filesSite(t.TempDir())
	if err := os.MkdirAll(s.Journal, 0o755); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("flock", s.Journal, "sh", "-c", "echo locked; read line")
	end, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Skip("NO FLOCK: ", err)
	}
	t.Cleanup(func() { _ = errors.Join(end.Close(), other.Wait()) })
	if line, err := bufio.NewReader(said).ReadString('\n'); line != "locked\n" {
		t.Fatal(line, err)
	}
	if _, err := s.lock(); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf("%s: locked by \"flock\" (process %d): ", s.Journal, other.Process.Pid)) {
		t.Error(err)
	}
}

// What a journal must have to be acted on, and which files of its directory are journals: oldest first.
func TestWhatAJournalIs(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema":2,"array":"a","members":[{}],"steps":[{"state":"begun"},{"state":"done"},{}]}`: "",
		`{"schema":1,"array":"a","members":[{}],"steps":[{}]}`:                                    "schema 1, of another version; this plimsoll reads 2",
		`{"schema":3,"array":"a","members":[{}],"steps":[{}]}`:                                    "schema 3",
		`{"schema":2,"array":"a/b","members":[{}],"steps":[{}]}`:                                  "an array's name, its members or its steps are missing",
		`{"schema":2,"array":"a","members":[],"steps":[{}]}`:                                      "an array's name, its members or its steps are missing",
		`{"schema":2,"array":"a","members":[{}]}`:                                                 "an array's name, its members or its steps are missing",
		`{"schema":2,"array":"a","members":[{}],"steps":[{},{"state":"half"}]}`:                   `step 2: state "half": want begun or done`,
		`{"schema":2,"array":"a","members":[{}],"steps":[{"do":[{},{"run":["mkdir"]}]}]}`:         "",
		`{"schema":2,"array":"a","members":[{}],"steps":[{},{"restore":[{"run":["sh"]}]}]}`:       `step 2: it runs "sh", which no step of plimsoll's does`,
		`[]`: "not JSON",
	} {
		if _, err := records.ParseJournal([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	s := site(t, machine(nil, nil))
	if all, broken, err := s.Journals(); all != nil || broken != nil || err != nil {
		t.Errorf("no directory: %v %v %v", all, broken, err)
	}
	if err := os.MkdirAll(s.Journal, 0o700); err != nil {
		t.Fatal(err)
	}
	one := records.Work{Members: []records.Member{{Serial: "S"}}, Steps: []records.Step{{}}}
	for i, name := range []string{"late", "early", "middle"} {
		w := one
		w.Array, w.Started = name, s.Now().Add(time.Duration([]int{3, 1, 2}[i])*time.Second)
		if err := s.save(&w); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".hidden.json", "late.json.before", "released.txt"} {
		if err := os.WriteFile(filepath.Join(s.Journal, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(filepath.Join(s.Journal, "early.json"), filepath.Join(s.Journal, "renamed.json")); err != nil {
		t.Fatal(err)
	}
	all, broken, err := s.Journals()
	if err != nil || len(all) != 2 || all[0].Array != "middle" || all[1].Array != "late" || len(broken) != 1 || broken[0].Array != "renamed" ||
		broken[0].Err.Error() != "it is of array early" {
		t.Errorf("%+v %+v %v", all, broken, err)
	}
	// An apply that came no further than looking has left nothing.
	undo := []records.Action{{Zero: []string{"@S"}}}
	for name, c := range map[string]struct {
		w    records.Work
		want bool
	}{
		"nothing begun":      {records.Work{Steps: []records.Step{{Undo: undo}}}, true},
		"only looked":        {records.Work{Steps: []records.Step{{State: records.StepDone}, {State: records.StepBegun}, {Undo: undo}}}, true},
		"begun":              {records.Work{Steps: []records.Step{{State: records.StepBegun, Undo: undo}}}, false},
		"done":               {records.Work{Steps: []records.Step{{}, {State: records.StepDone, Undo: undo}}}, false},
		"a teardown, though": {records.Work{Undoing: true, Steps: []records.Step{{Undo: undo}}}, false},
	} {
		if got := c.w.Untouched(); got != c.want {
			t.Errorf("%s: untouched %v", name, got)
		}
	}
	// A journal that is gone is forgotten already; one that cannot be removed is not.
	if err := s.forget(&records.Work{Array: "gone"}); err != nil {
		t.Error(err)
	}
	stuck := filepath.Join(s.Journal, "stuck.json")
	if err := os.MkdirAll(filepath.Join(stuck, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := s.forget(&records.Work{Array: "stuck"}); err == nil {
		t.Error("it is still there")
	}
	if err := os.RemoveAll(stuck); err != nil {
		t.Fatal(err)
	}
	// The last journal takes the directory with it, and that above it where nothing else is there.
	if s.leaveNoTrace(); !s.has("etc/fstab") {
		t.Error("the machine's root is not the journal's")
	}
	if _, err := os.Stat(s.Journal); err != nil {
		t.Errorf("a directory with journals was removed: %v", err)
	}
	if err := os.RemoveAll(s.Journal); err != nil {
		t.Fatal(err)
	}
	s.leaveNoTrace()
	if _, err := os.Stat(filepath.Dir(s.Journal)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory above is left: %v", err)
	}
}
