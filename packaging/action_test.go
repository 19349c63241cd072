package packaging

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// built is the plimsoll of this tree, static as it is released.
func built(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "plimsoll")
	cmd := exec.Command("go", "build", "-C", "..", "-trimpath", "-ldflags", "-s -w", "-o", bin, "./cmd/plimsoll")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}

// runner is what a runner gives a step: a workspace, and files that its steps write to.
type runner struct {
	t    *testing.T
	dir  string
	env  []string
	path string
}

func newRunner(t *testing.T) *runner {
	t.Helper()
	dir := t.TempDir()
	return &runner{t: t, dir: dir, path: os.Getenv("PATH"), env: []string{
		"HOME=" + dir, "RUNNER_TEMP=" + dir, "GITHUB_PATH=" + dir + "/path", "GITHUB_OUTPUT=" + dir + "/output",
		"GITHUB_STEP_SUMMARY=" + dir + "/summary.md", "GITHUB_WORKFLOW=storage", "GITHUB_REF_NAME=main", "GITHUB_REPOSITORY=o/r",
		"IN_BASELINE=" + dir + "/baseline", "IN_ARTIFACT=plimsoll-baseline",
	}}
}

// step runs a step of the action, and gives its output and exit code.
func (r *runner) step(name string, env ...string) (string, int) {
	r.t.Helper()
	script, err := filepath.Abs("action.sh")
	if err != nil {
		r.t.Fatal(err)
	}
	if more, err := os.ReadFile(r.dir + "/path"); err == nil { // the runner puts these before the path of later steps
		r.path = strings.TrimSpace(string(more)) + ":" + os.Getenv("PATH")
	}
	cmd := exec.Command("bash", script, name)
	cmd.Dir, cmd.Env = r.dir, append(append(r.env, "PATH="+r.path), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func (r *runner) write(name, content string, mode os.FileMode) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(r.dir, name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(content), mode); err != nil {
		r.t.Fatal(err)
	}
}

func (r *runner) has(name, want string) {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil || !strings.Contains(string(data), want) {
		r.t.Errorf("%s does not hold %q: %v\n%s", name, want, err, data)
	}
}

// says holds a step to its exit code and a sentence.
func says(t *testing.T, step, out string, code, wantCode int, want string) {
	t.Helper()
	if code != wantCode || !strings.Contains(out, want) {
		t.Errorf("%s: exit code %d, want %d with %q:\n%s", step, code, wantCode, want, out)
	}
}

func TestActionLints(t *testing.T) {
	r := newRunner(t)
	out, code := r.step("install", "IN_BINARY="+built(t))
	says(t, "install", out, code, 0, "plimsoll ")
	r.write("good.fio", "[a]\nrw=randread\nsize=1g\ndirect=1\n", 0o644)
	out, code = r.step("lint", "IN_PATH=good.fio")
	says(t, "lint", out, code, 0, "::notice")
	r.write("bad.fio", "[a]\nrw=randread\nsize=1g\niodeptj=3\n", 0o644)
	out, code = r.step("lint", "IN_PATH=good.fio\nbad.fio")
	says(t, "lint", out, code, 3, "::error file=bad.fio,line=4")
	r.has("summary.md", "iodeptj")
	r.has("lint.sarif", `"ruleId": "PL102"`)
	r.has("output", "sarif="+r.dir+"/lint.sarif")
}

func TestActionNamesWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		env  []string
		code int
		want string
	}{
		{nil, 2, "neither binary: nor image: is given"},
		{[]string{"IN_BINARY=/nowhere/plimsoll"}, 2, "/nowhere/plimsoll is no program"},
		{[]string{"IN_BINARY=/bin/false"}, 1, "does not start here"},
	} {
		r := newRunner(t)
		out, code := r.step("install", c.env...)
		says(t, "install", out, code, c.code, "::error title=plimsoll::")
		says(t, "install", out, code, c.code, c.want)
	}
	r := newRunner(t)
	out, code := r.step("gate")
	says(t, "gate", out, code, 2, "data: which directory is measured?")
}

// docker and gh are programs of the runner: here, scripts that hand out what the real ones would.
const (
	docker = "#!/bin/sh\ncase $1 in create) echo box ;; cp) cp \"$PROGRAM\" \"$4/$(basename \"${3#*:}\")\" ;; esac\n"
	gh     = "#!/bin/sh\n[ \"$GH_REPO\" = o/r ] || exit 1\ncase \"$1 $2 $6\" in 'run list main') echo 2; echo 1 ;; 'run list gone') exit 1 ;;\n" +
		"'run download '*) [ \"$3\" = 1 ] && [ -d \"$KEPT\" ] && cp -r \"$KEPT/.\" \"$7\" ;; esac\n"
)

func TestActionTakesTheImage(t *testing.T) {
	r := newRunner(t)
	r.write("bin/docker", docker, 0o755)
	r.path = r.dir + "/bin:" + r.path
	out, code := r.step("install", "IN_IMAGE=plimsoll:0.1.0", "PROGRAM="+built(t))
	says(t, "install", out, code, 0, "plimsoll ")
}

// A change is held against the branch that it goes to, and runs that cannot be listed are no first night.
func TestActionFindsTheBaseline(t *testing.T) {
	kept := t.TempDir()
	for _, c := range []struct {
		ref, base string
		code      int
		want      string
	}{
		{"main", "", 0, "that of run 1"},
		{"12/merge", "main", 0, "that of run 1"},
		{"other", "", 0, "No baseline yet"},
		{"gone", "", 1, "cannot be listed"},
	} {
		r := newRunner(t)
		r.write("bin/gh", gh, 0o755)
		out, code := r.step("baseline", "PATH="+r.dir+"/bin:"+r.path, "KEPT="+kept, "GITHUB_REF_NAME="+c.ref, "GITHUB_BASE_REF="+c.base)
		says(t, "baseline of "+c.ref, out, code, c.code, c.want)
	}
}

// Nobody takes a first night, or figures of a busy machine, for a pass; and each night becomes part
// of the next one's baseline.
func TestActionGates(t *testing.T) {
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("NO FIO: the gate measures with it: ", err)
	}
	bin := built(t)
	kept := filepath.Join(t.TempDir(), "kept")
	for night := 1; night <= 2; night++ {
		r := newRunner(t)
		if out, code := r.step("install", "IN_BINARY="+bin); code != 0 {
			t.Fatal(out)
		}
		r.write("bin/gh", gh, 0o755)
		r.write("data/.keep", "", 0o644)
		path := "PATH=" + r.dir + "/plimsoll:" + r.dir + "/bin:" + os.Getenv("PATH")
		out, code := r.step("baseline", path, "KEPT="+kept)
		says(t, "baseline", out, code, 0, map[int]string{1: "No baseline yet", 2: "that of run 1: 1 runs"}[night])
		out, code = r.step("gate", path, "IN_DATA="+r.dir+"/data",
			"IN_SUITE=rand-read-latency --size 16MiB --runtime 1s --ramp 0s --cooldown 0s")
		if code == 0 || !strings.Contains(out, "::error title=plimsoll::") {
			t.Errorf("night %d without enough of a baseline ended with %d:\n%s", night, code, out)
		}
		r.has("summary.md", "rand-read-latency")
		r.has("gate.xml", "<testsuites")
		runs, err := filepath.Glob(r.dir + "/baseline/2*Z-*/run.json")
		if err != nil || len(runs) != night {
			t.Fatalf("night %d: the baseline holds %d runs", night, len(runs))
		}
		kept = r.dir + "/baseline"
	}
}
