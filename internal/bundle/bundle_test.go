package bundle

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

func sampleRun(host string) Run {
	return Run{
		Tool: "plimsoll test", Created: time.Date(2026, 11, 21, 3, 12, 0, 0, time.UTC),
		Topology: topology.Topology{Host: topology.Host{Name: host}},
		Suite: suite.Suite{Name: "db", Scenarios: []suite.Scenario{
			{ID: 1, Name: "one", Role: topology.Data}, {ID: 2, Name: "two", Role: topology.WAL},
		}},
	}
}

func sampleResult(s suite.Scenario, iops float64) *result.Result {
	return &result.Result{
		ID: s.ID, Name: s.Name, State: result.Done, IOPS: stats.Estimate{Center: iops, Lo: iops * 0.99, Hi: iops * 1.01, N: 30},
		BW:    stats.Estimate{Center: iops * 8192, Lo: iops * 8192, Hi: iops * 8192, N: 30},
		Total: fio.Job{Read: fio.Direction{N: 100, Clat: fio.Latency{N: 100, Percentiles: []fio.Percentile{{P: 50, Value: 1000}, {P: 99, Value: 5000}}}}},
	}
}

func write(t *testing.T, w *Writer, s suite.Scenario, iops float64) {
	t.Helper()
	dir, err := w.Begin(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Keep(s, dir, sampleResult(s, iops)); err != nil {
		t.Fatal(err)
	}
}

func TestInterruptedAndResumed(t *testing.T) {
	out := t.TempDir()
	w, err := Create(out, sampleRun("db1"))
	if err != nil {
		t.Fatal(err)
	}
	scenarios := w.Run.Suite.Scenarios
	write(t, w, scenarios[0], 100)
	if _, err := w.Begin(scenarios[1]); err != nil { // and the machine dies
		t.Fatal(err)
	}
	if _, _, err := Reopen(w.Dir); !errors.Is(err, sys.ErrLocked) {
		t.Fatalf("a bundle that is being written was opened again: %v", err)
	}
	w.Close()

	again, b, err := Reopen(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if b.Scenarios[0].Result == nil || b.Scenarios[1].Result != nil || b.Run.State != Interrupted {
		t.Fatalf("reopened: %+v", b.Scenarios)
	}
	write(t, again, scenarios[1], 200)
	done, err := again.Finish(Finished, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if done.Run.State != Finished || done.Run.Verdict == "" || done.Scenarios[1].Result.IOPS.Center != 200 {
		t.Errorf("finished: %+v", done.Run)
	}
	left, _ := filepath.Glob(filepath.Join(w.Dir, ".*"))
	if len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// A run that came from elsewhere may hold a link where the directory of a round goes.
func TestRoundsFollowNoLink(t *testing.T) {
	w, err := Create(t.TempDir(), sampleRun("db1"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := w.Run.Suite.Scenarios[0]
	victim := filepath.Join(t.TempDir(), DirName(s))
	if err := errors.Join(os.Mkdir(victim, 0o755),
		os.Symlink(filepath.Dir(victim), filepath.Join(w.Dir, RoundDir(2)))); err != nil {
		t.Fatal(err)
	}
	if err := w.InRound(2); err == nil || !strings.Contains(err.Error(), "r02 is a link") {
		t.Errorf("InRound: %v", err)
	}
	dir, err := w.Begin(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Keep(s, dir, sampleResult(s, 100)); err == nil {
		t.Error("a result was kept there")
	}
	if entries, err := os.ReadDir(victim); err != nil || len(entries) > 0 {
		t.Errorf("the victim: %v, %v", entries, err)
	}
}

func TestNamesAreHarmless(t *testing.T) {
	out := t.TempDir()
	for _, host := range []string{"../../etc", "<script>alert(1)</script>", "a\nb", "\"quoted\" 'host'", strings.Repeat("long", 100), "", "...", "хост"} {
		w, err := Create(out, sampleRun(host))
		if err != nil {
			t.Fatalf("%q: %v", host, err)
		}
		w.Close()
		if dir := filepath.Dir(w.Dir); dir != out {
			t.Errorf("%q: made %s", host, w.Dir)
		}
		if name := filepath.Base(w.Dir); strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" || len(name) > 128 {
			t.Errorf("%q: named %q", host, name)
		}
		b, err := Open(w.Dir)
		if err != nil || b.Run.Topology.Host.Name != host && host != "хост" {
			t.Errorf("%q: read back %q, %v", host, b.Run.Topology.Host.Name, err)
		}
	}
	if runs, err := List(out); err != nil || len(runs) != 8 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

func TestBrokenFilesAreNamed(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"newer":   {"run.json": `{"schema": 3}`},
		"cut off": {"run.json": `{"schema": 2, "suite": {`},
		"not one": {"other.txt": ""},
		"result":  {"run.json": `{"schema":2,"suite":{"scenarios":[{"id":1,"name":"a"}]}}`, "01-a/result.json": `{"iops_est`},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		for file, text := range files {
			path := filepath.Join(dir, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWriteFileReplacesWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	for _, text := range []string{"first, the longer one", "second"} {
		if err := writeFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := writeFile(filepath.Join(filepath.Dir(name), "no", "f"), nil); err == nil {
		t.Error("wrote below a directory that is not there")
	}
	if left, _ := os.ReadDir(filepath.Dir(name)); len(left) != 1 {
		t.Errorf("%d files left", len(left))
	}
}
