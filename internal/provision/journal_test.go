package provision

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A journal names no program but those that steps run, in none of its lists.
func TestJournalNamesNoProgram(t *testing.T) {
	journal := func(change func(*Step)) []byte {
		w := &Work{Schema: journalSchema, Array: "data", Members: []Member{{}}, Steps: []Step{{
			Title: "x", Do: []Action{{Run: []string{"mdadm", "--create"}}}, Undo: []Action{{Run: []string{"umount", "/x"}}},
		}}}
		change(&w.Steps[0])
		data, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if _, err := parseJournal(journal(func(*Step) {})); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"sh", "/tmp/x", "../mdadm", "/tmp/mdadm", ""} {
		evil := []Action{{Run: []string{program, "-c", "id"}}}
		for name, change := range map[string]func(*Step){
			"do":      func(st *Step) { st.Do = evil },
			"undo":    func(st *Step) { st.Undo = evil },
			"restore": func(st *Step) { st.Again = evil },
		} {
			if _, err := parseJournal(journal(change)); err == nil || !strings.Contains(err.Error(), "which no step of plimsoll's does") {
				t.Errorf("%s of %q: %v", name, program, err)
			}
		}
	}
}

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
