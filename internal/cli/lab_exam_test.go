package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli"
	"plimsoll/internal/finding"
	"plimsoll/internal/lab"
	"plimsoll/internal/lab/exam"
	"plimsoll/internal/lab/labtest"
)

// TestExam runs machines whose faults are known and prints how many plimsoll names (make exam
// SEED=1 N=20). Each machine's runs are kept below PLIMSOLL_EXAM_DIR; PLIMSOLL_EXAM_FROM judges
// such a directory again, without the lab. It fails on nothing but machines that cannot be
// measured: docs/exam.md has the bars.
func TestExam(t *testing.T) {
	from, dir := os.Getenv("PLIMSOLL_EXAM_FROM"), os.Getenv("PLIMSOLL_EXAM_DIR")
	n, _ := strconv.Atoi(os.Getenv("PLIMSOLL_EXAM_N"))
	seed, _ := strconv.ParseUint(os.Getenv("PLIMSOLL_EXAM_SEED"), 10, 64)
	var marks []exam.Mark
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
		for i := range uint64(n) {
			m := exam.Generate(seed + i)
			kept := filepath.Join(dir, strconv.FormatUint(m.Seed, 10))
			if dir == "" {
				kept = t.TempDir()
			}
			t.Run(strconv.FormatUint(m.Seed, 10), func(t *testing.T) {
				measureMachine(t, m, kept)
				marks = append(marks, judgeMachine(t, kept))
			})
		}
	default:
		t.Skip("the exam takes minutes a machine: make exam SEED=1 N=20, or FROM=DIR to judge recorded runs again")
	}
	t.Logf("exam:\n%s", exam.Add(marks).Markdown())
}

// Kept runs are judged without the lab: round 16 of the seeds stands for a machine that reads
// unwritten blocks.
func TestExamJudgesKeptRuns(t *testing.T) {
	dir := t.TempDir()
	code := cli.Main([]string{
		"import", "../../testdata/seeds/MS-28k-r-r-16.log", "--volumes", "4xP4510", "--level", "raid0", "--chunk", "512KiB", "--out", filepath.Join(dir, "runs"),
	})
	if code != 4 {
		t.Fatalf("import of round 16 returns %d, want 4 (invalid)", code)
	}
	for _, tt := range []struct {
		kind exam.Kind
		want bool
	}{{exam.Unwritten, true}, {exam.Degraded, false}} {
		data, err := json.Marshal(exam.Machine{Name: "round 16", Faults: []exam.Fault{{Kind: tt.kind, Factor: 1}}})
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

// measureMachine builds a machine in the lab, runs a check and deep random reads and writes in it,
// and keeps the runs.
func measureMachine(t *testing.T, m exam.Machine, dir string) {
	t.Helper()
	spec, err := lab.ParseSpec(m.Name, []byte(m.Lab))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	const onData = " --topology plimsoll.yaml"
	run := "plimsoll run exam.yaml --data /data --wal /data" + onData + " --progress none"
	if m.Job != "" {
		if err := g.Put(ctx, "/root/job.fio", 0o644, []byte(m.Job)); err != nil {
			t.Fatal(err)
		}
		run = "plimsoll run job.fio" + onData + " --progress none"
	}
	suite := `name: exam
cooldown: 0s
runtime: 15s
ramp: 2s
scenarios:
  - {id: 1, name: reads, role: data, size: 256MiB, fio: {ioengine: libaio, direct: 1, rw: randread, bs: 8k, iodepth: 16, numjobs: 4}}
`
	if err := g.Put(ctx, "/root/exam.yaml", 0o644, []byte(suite)); err != nil {
		t.Fatal(err)
	}
	before := ""
	if m.Before != "" {
		before = "(" + m.Before + ") > /dev/null 2>&1 & sleep 1\n"
	}
	r, err := g.Bash(ctx, "plimsoll check --data /data --wal /data"+onData+" --json > check.json\n"+before+run+" >&2")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Fetch(ctx, "/root/runs", dir), g.Fetch(ctx, "/root/check.json", dir)); err != nil {
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
func judgeMachine(t *testing.T, dir string) exam.Mark {
	t.Helper()
	var m exam.Machine
	data, err := os.ReadFile(filepath.Join(dir, "machine.json"))
	if err == nil {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	var found []finding.Finding
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
	}
	var check struct {
		Findings []finding.Finding `json:"findings"`
	}
	if data, err := os.ReadFile(filepath.Join(dir, "check.json")); err == nil {
		_ = json.Unmarshal(data, &check) // a check that failed found nothing
	} else if !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	found = append(found, check.Findings...)
	mark := exam.Judge(m, found)
	var kinds []string
	for _, a := range mark.Answers {
		kinds = append(kinds, string(a.Fault.Kind)+" → "+a.As)
	}
	t.Logf("%s: %s; unexplained warnings %v", m.Name, strings.Join(kinds, "; "), mark.Alarms)
	for _, f := range found {
		if f.Severity.Rank() >= finding.Warn.Rank() {
			t.Logf("  %s %s: %s", f.Code, f.Severity, f.Message)
		}
	}
	return mark
}
