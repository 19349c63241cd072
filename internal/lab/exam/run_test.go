package exam

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli"
	"plimsoll/internal/finding"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// TestExam runs machines whose faults are known and prints how many plimsoll names (make exam
// SEED=1 N=20), several at once with LANES (go test -parallel). Each machine's runs are kept below
// PLIMSOLL_EXAM_DIR; PLIMSOLL_EXAM_FROM judges such a directory again, without the lab, and
// PLIMSOLL_EXAM_DOC names a document whose results are replaced. It fails on nothing but machines
// that cannot be measured: docs/evidence/exam.md has the bars.
func TestExam(t *testing.T) {
	from, dir := os.Getenv("PLIMSOLL_EXAM_FROM"), os.Getenv("PLIMSOLL_EXAM_DIR")
	n, _ := strconv.Atoi(os.Getenv("PLIMSOLL_EXAM_N"))
	seed, _ := strconv.ParseUint(os.Getenv("PLIMSOLL_EXAM_SEED"), 10, 64)
	held, _ := strconv.ParseUint(os.Getenv("PLIMSOLL_EXAM_HELD"), 10, 64)
	var mu sync.Mutex
	var marks []Mark
	switch {
	case from != "":
		names, err := filepath.Glob(filepath.Join(from, "*", "machine.json"))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s holds no machine: %v", from, err)
		}
		for _, name := range names {
			marks = append(marks, judgeMachine(t, filepath.Dir(name)))
		}
	case n > 0:
		labtest.Need(t)
		if dir == "" {
			dir = t.TempDir()
		}
		t.Run("machines", func(t *testing.T) {
			for i := range uint64(n) {
				m := Generate(seed + i)
				t.Run(strconv.FormatUint(m.Seed, 10), func(t *testing.T) {
					t.Parallel()
					kept := filepath.Join(dir, strconv.FormatUint(m.Seed, 10))
					measureMachine(t, m, kept)
					mark := judgeMachine(t, kept)
					mu.Lock()
					defer mu.Unlock()
					marks = append(marks, mark)
				})
			}
		})
	default:
		t.Skip("the exam takes half a minute a machine: make exam SEED=1 N=20, or FROM=DIR to judge recorded runs again")
	}
	slices.SortFunc(marks, func(a, b Mark) int { return cmp.Compare(a.Machine.Seed, b.Machine.Seed) })
	result := Markdown(marks, held)
	t.Logf("exam:\n%s", result)
	if doc := os.Getenv("PLIMSOLL_EXAM_DOC"); doc != "" {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		head, _, ok := strings.Cut(string(text), examMark)
		if !ok {
			t.Fatalf("%s has no line %q", doc, examMark)
		}
		if err := os.WriteFile(doc, []byte(head+examMark+"\n"+result), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// examMark is the line of docs/evidence/exam.md below which results stand.
const examMark = "<!-- results, written by make exam FROM=DIR DOC=docs/evidence/exam.md -->\n"

// Kept runs are judged without the lab: round 16 of the seeds stands for a machine that reads
// unwritten blocks.
func TestExamJudgesKeptRuns(t *testing.T) {
	dir := t.TempDir()
	code := cli.Main([]string{
		"import", "../../../testdata/seeds/MS-28k-r-r-16.log", "--volumes", "4xP4510", "--level", "raid0", "--chunk", "512KiB", "--out", filepath.Join(dir, "runs"),
	})
	if code != 4 {
		t.Fatalf("import of round 16 returns %d, want 4 (invalid)", code)
	}
	for _, tt := range []struct {
		kind Kind
		want bool
	}{{Unwritten, true}, {Degraded, false}} {
		data, err := json.Marshal(Machine{Name: "round 16", Faults: []Fault{{Kind: tt.kind, Factor: 1}}})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "machine.json"), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		if mark := judgeMachine(t, dir); len(mark.Answers) != 1 || mark.Answers[0].Named != tt.want {
			t.Errorf("%s: %+v", tt.kind, mark)
		} else if tt.want && len(mark.Alarms) > 0 { // the log names no ramp, so its disk statistics prove no split
			t.Errorf("round 16 without its job file: false alarms %v", mark.Alarms)
		}
	}
}

// measureMachine builds a machine in the lab, runs a check and a suite in it, and keeps the runs.
func measureMachine(t *testing.T, m Machine, dir string) {
	t.Helper()
	spec, err := lab.ParseSpec(m.Name, []byte(m.Lab))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartBeside(t, lab.Config{Spec: spec})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	const onData = " --topology plimsoll.yaml"
	file, text, paths := "exam.yaml", m.Suite, " --data /data"
	if m.Job != "" {
		file, text, paths = "job.fio", m.Job, ""
	}
	if err := g.Put(ctx, "/root/"+file, 0o644, []byte(text)); err != nil {
		t.Fatal(err)
	}
	before := ""
	if m.Before != "" {
		before = "(" + m.Before + ") > /dev/null 2>&1 & sleep 2\n"
	}
	r, err := g.Bash(ctx, m.Edit+before+
		"plimsoll run "+file+paths+onData+" --probe --probe-time 1500ms --progress none >&2")
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Fetch(ctx, "/root/runs", dir); err != nil {
		t.Fatalf("%s: %v\n%s%s", m.Name, err, r.Stdout, r.Stderr)
	}
	data, err := json.MarshalIndent(m, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "machine.json"), data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// judgeMachine marks kept runs by the rules of today; what check found is as it was then.
func judgeMachine(t *testing.T, dir string) Mark {
	t.Helper()
	var m Machine
	data, err := os.ReadFile(filepath.Join(dir, "machine.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	if now := Generate(m.Seed); now.Lab == m.Lab && now.Before == m.Before {
		m.Faults = now.Faults // what they cost may be known better
	}
	var found []finding.Finding
	reached := 0.0
	runs, err := filepath.Glob(filepath.Join(dir, "runs", "*", "run.json"))
	if err != nil || len(runs) == 0 {
		t.Fatalf("%s holds no run: %v", dir, err)
	}
	for _, name := range runs {
		b, err := bundle.Open(filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, b.Findings...)
		for _, s := range b.Scenarios {
			if s.Result == nil || s.Ceiling == nil || s.Ceiling.Hardware() == nil {
				continue
			}
			n, _ := s.Result.Total.Rates()
			reached = float64(n / s.Ceiling.Hardware().IOPS)
		}
	}
	mark := Judge(m, found, reached)
	var lines []string
	for _, a := range mark.Answers {
		line := a.Fault.String()
		if !a.Named {
			line += " → " + a.As
		}
		if a.Off > Near {
			line += fmt.Sprintf(" (share off by %.1f)", 100*a.Off)
		}
		lines = append(lines, line)
	}
	t.Logf("%s: %.1f %% of its ceiling; %s; wrong %v; unexplained warnings %v", m.Name, 100*reached,
		strings.Join(lines, "; "), mark.Wrong, mark.Alarms)
	for _, f := range found {
		if f.Severity.Rank() >= finding.Warn.Rank() || f.Account != nil {
			t.Logf("  %s %s: %s", f.Code, f.Severity, f.Message)
		}
	}
	return mark
}
