package records

import (
	"encoding/json"
	"strings"
	"testing"

	"plimsoll/internal/sys/bounded"
)

func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"schema":2,"array":"a","members":[{"serial":"s"}],"steps":[{"title":"x","state":"done"}]}`))
	f.Add([]byte(`{"schema":2,"array":"../../etc/x","members":[{}],"steps":[{}]}`))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		w, err := ParseJournal(data)
		if err == nil && (strings.ContainsAny(w.Array, "/\x00") || len(w.Steps) == 0) {
			t.Errorf("%q passes", w.Array)
		}
	})
}

// A journal names no program but those that steps run, in none of its lists.
func TestJournalNamesNoProgram(t *testing.T) {
	journal := func(change func(*Step)) []byte {
		w := &Work{Schema: Schema, Array: "data", Members: []Member{{}}, Steps: []Step{{
			Title: "x", Do: []Action{{Run: []string{"mdadm", "--create"}}}, Undo: []Action{{Run: []string{"umount", "/x"}}},
		}}}
		change(&w.Steps[0])
		data, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if _, err := ParseJournal(journal(func(*Step) {})); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"sh", "/tmp/x", "../mdadm", "/tmp/mdadm", ""} {
		evil := []Action{{Run: []string{program, "-c", "id"}}}
		for name, change := range map[string]func(*Step){
			"do":      func(st *Step) { st.Do = evil },
			"undo":    func(st *Step) { st.Undo = evil },
			"restore": func(st *Step) { st.Again = evil },
		} {
			if _, err := ParseJournal(journal(change)); err == nil || !strings.Contains(err.Error(), "which no step of plimsoll's does") {
				t.Errorf("%s of %q: %v", name, program, err)
			}
		}
	}
}

// A journal asks for nothing but the conditions that there are, in none of its lists.
func TestJournalAsksWhatIsKnown(t *testing.T) {
	ask := func(kind CondKind, where int) []byte {
		c := Cond{Is: kind}
		do := []Action{{If: &c, Run: []string{"mdadm"}}}
		st := []Step{{Check: []Cond{c}}, {Do: do}, {Again: do}, {Undo: do}}[where]
		st.Title = "x"
		data, err := json.Marshal(&Work{Schema: Schema, Array: "data", Members: []Member{{}}, Steps: []Step{st}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for where := range 4 {
		for _, kind := range Kinds() {
			if _, err := ParseJournal(ask(kind, where)); err != nil {
				t.Error(err)
			}
		}
		for _, kind := range []CondKind{"", "Path", "mounted ", "exec"} {
			if _, err := ParseJournal(ask(kind, where)); err == nil || !strings.Contains(err.Error(), "which this plimsoll does not know") {
				t.Errorf("%q in list %d: %v", kind, where, err)
			}
		}
	}
}
