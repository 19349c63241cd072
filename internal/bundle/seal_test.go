package bundle

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/verdict"
)

// finished writes a whole run of two scenarios.
func finished(t *testing.T) string {
	t.Helper()
	w, err := Create(t.TempDir(), sampleRun("db1"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, s := range w.Run.Suite.Scenarios {
		write(t, w, s, 100)
	}
	b, err := w.Finish(Finished, time.Now())
	if err != nil || len(b.Damaged) > 0 || b.Run.Verdict == verdict.Invalid {
		t.Fatalf("%v, %q, %s", err, b.Damaged, b.Run.Verdict)
	}
	return w.Dir
}

// files are those of a run, from its directory.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, err = filepath.Rel(dir, name)
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 7 {
		t.Fatal(names, err)
	}
	return names
}

// Every file of a finished run, missing or with one bit of a name or number changed, is named, and
// the run is not ready.
func TestDamageIsNamed(t *testing.T) {
	for _, name := range files(t, finished(t)) {
		for how, do := range map[string]func(path string) error{
			" is missing": os.Remove,
			" was changed": func(path string) error {
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				if at := slices.IndexFunc(data, func(c byte) bool { return c >= '0' && c <= '8' }); at >= 0 {
					data[at]++
				} else {
					data = append(data, ' ')
				}
				return os.WriteFile(path, data, 0o644)
			},
			" cannot be read": swap,
			" is empty":       func(path string) error { return os.Truncate(path, 0) }, // what a power cut leaves
		} {
			dir := finished(t)
			if err := do(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			b, err := Open(dir)
			if err != nil { // a file without which there is nothing to read is named by the error
				if !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "run.json") {
					t.Errorf("%s%s: %v", name, how, err)
				}
				continue
			}
			if len(b.Damaged) == 0 || b.Run.Verdict != verdict.Invalid || len(b.Run.Reasons) == 0 || !strings.HasPrefix(b.Run.Reasons[0], "The run's files are damaged: ") {
				t.Errorf("%s%s: %q, %s, %q", name, how, b.Damaged, b.Run.Verdict, b.Run.Reasons)
			}
			if name != sums && filepath.Base(name) != sums && !slices.ContainsFunc(b.Damaged, func(d string) bool { return strings.HasPrefix(d, name) }) {
				t.Errorf("%s%s: not named in %q", name, how, b.Damaged)
			}
		}
	}
}

// A scenario that has not been measured yet is no damage; in a finished run it is.
func TestUnfinishedRunsAreWhole(t *testing.T) {
	for state, want := range map[State][]string{Interrupted: nil, Finished: {"02-two/result.json is missing"}} {
		w, err := Create(t.TempDir(), sampleRun("db1"))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		write(t, w, w.Run.Suite.Scenarios[0], 100)
		b := &Bundle{Dir: w.Dir, Run: w.Run, Scenarios: []Scenario{
			{Scenario: w.Run.Suite.Scenarios[0], Result: sampleResult(w.Run.Suite.Scenarios[0], 100)},
			{Scenario: w.Run.Suite.Scenarios[1]},
		}}
		b.Run.State = state
		if b.inspect(false); !slices.Equal(b.Damaged, want) {
			t.Errorf("%s: %q, want %q", state, b.Damaged, want)
		}
	}
}

// swap puts a FIFO in a file's place: whoever opens it for reading waits.
func swap(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syscall.Mkfifo(path, 0o600)
}

// A run whose process is gone is interrupted, in a report and in the list, where a directory
// without anything is named.
func TestKilledRuns(t *testing.T) {
	w, err := Create(t.TempDir(), sampleRun("db1"))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Dir(w.Dir)
	state := func() (State, State) {
		b, err := Open(w.Dir)
		if err != nil {
			t.Fatal(err)
		}
		all, err := List(out)
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		return b.Run.State, all[0].State
	}
	if open, listed := state(); open != Running || listed != Running {
		t.Errorf("while it runs: %s, %s", open, listed)
	}
	w.Close() // as the kernel does when the process ends
	if open, listed := state(); open != Interrupted || listed != Interrupted {
		t.Errorf("when it is gone: %s, %s", open, listed)
	}
	name := "20261121T031300Z-db-db1"
	for _, dir := range []string{name, "something"} {
		if err := os.Mkdir(filepath.Join(out, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	all, err := List(out)
	if err != nil || len(all) != 2 || all[1].ID != name || all[1].Outcome() != "empty" {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := Open(filepath.Join(out, name)); err == nil || !strings.Contains(err.Error(), "it is empty") {
		t.Error(err)
	}
}

func FuzzParseSums(f *testing.F) {
	f.Add([]byte(strings.Repeat("0a", 32) + "  run.json\n" + strings.Repeat("ff", 32) + "  ../x\n"))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		all, err := parseSums(data[:min(len(data), 400)])
		for name := range all {
			if err == nil && !filepath.IsLocal(name) {
				t.Errorf("%q leads elsewhere", name)
			}
		}
	})
}

// FuzzOpen: whatever run.json and a result say, they are read or refused.
func FuzzOpen(f *testing.F) {
	run, err := json.Marshal(sampleRun("a"))
	if err != nil {
		f.Fatal(err)
	}
	s := sampleRun("a").Suite.Scenarios[0]
	res, err := json.Marshal(sampleResult(s, 5))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(run, res)
	f.Add([]byte(`{"schema":2,"state":"finished","suite":{"scenarios":[{"id":1,"name":"one","role":"data"}]}}`), []byte(`{"state":"done","iops":{"center":1e308}}`))
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, DirName(s)), 0o755); err != nil {
		f.Fatal(err)
	}
	bounded.Fuzz(f, func(t *testing.T, run, res []byte) {
		for name, data := range map[string][]byte{"run.json": run, DirName(s) + "/result.json": res} {
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		b, err := Open(dir)
		if err == nil && b.Run.State == Finished && b.Run.Verdict != verdict.Invalid && slices.ContainsFunc(b.Scenarios, func(s Scenario) bool { return s.Result == nil }) {
			t.Error("a finished run without a result is not invalid")
		}
	})
}

// FuzzOpenFleet: whatever fleet.json says, it is read or refused.
func FuzzOpenFleet(f *testing.F) {
	f.Add([]byte(`{"schema":1,"state":"finished","hosts":[{"name":"a","state":"done","starts_ns":{"3":1}}],"scenarios":[{"id":3,"total":{"hist":[[1,1]]}}]}`))
	f.Add([]byte(`{"schema":1,"scenarios":[{"hosts":[{"ceiling_iops":-1e308,"iops":1e308}],"common":{"from_ns":9223372036854775807,"to_ns":-1}}]}`))
	dir := f.TempDir()
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, fleetFile), data[:min(len(data), 600)], 0o644); err != nil {
			t.Fatal(err)
		}
		fleet, err := OpenFleet(dir)
		if err != nil {
			return
		}
		_ = fleet.Outcome()
		for _, s := range fleet.Scenarios {
			if s.Common.Length() < 0 {
				t.Error(s.Common)
			}
			for _, h := range s.Hosts {
				_ = h.Of()
			}
		}
	})
}
