package cli

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// recipe is a workflow of GitHub, or the jobs of GitLab: what a runner is given, and what it executes.
type recipe struct {
	Jobs map[string]struct {
		Env   map[string]string `yaml:"env"`
		Steps []struct {
			Run string `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
	Lint, Variants struct {
		Variables map[string]string `yaml:"variables"`
		Script    []string          `yaml:"script"`
	}
}

// recipeStep is a command with what its job sets in the environment.
type recipeStep struct {
	run string
	env []string
}

// recipeSteps are the commands of the recipes of docs/ci.md in their order.
func recipeSteps(t *testing.T) (steps []recipeStep) {
	t.Helper()
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```yaml\n")[1:]
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		var r recipe
		if err := yaml.Unmarshal([]byte(text), &r); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		for _, job := range r.Jobs {
			for _, s := range job.Steps {
				if s.Run != "" {
					steps = append(steps, recipeStep{s.Run, settings(job.Env)})
				}
			}
		}
		for _, line := range r.Lint.Script {
			steps = append(steps, recipeStep{line, settings(r.Lint.Variables)})
		}
		for _, line := range r.Variants.Script {
			steps = append(steps, recipeStep{line, settings(r.Variants.Variables)})
		}
	}
	return steps
}

func settings(of map[string]string) (env []string) {
	for k, v := range of {
		env = append(env, k+"="+v)
	}
	return env
}

// The recipes of docs/ci.md are executed step by step, as a runner does it: each ends with a code that the
// page names, and leaves the file that the next step uploads. Only the paths are the test's, and the times
// shorter.
func TestRecipesOfCI(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "plimsoll"), "../../cmd/plimsoll").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, content := range map[string]string{
		"clean.fio": "[read]\nioengine=libaio\ndirect=1\nrw=randread\nbs=4k\nsize=1g\niodepth=32\nruntime=60\ntime_based\n",
		"data/keep": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	steps := recipeSteps(t)
	own := []string{ // behind the recipe's: the last of a name counts
		"PATH=" + bin + ":" + os.Getenv("PATH"), "PLIMSOLL_DATA=" + filepath.Join(dir, "data"), "PLIMSOLL_OUT=" + filepath.Join(dir, "runs"),
		"PLIMSOLL_RUNTIME=1s", "PLIMSOLL_RAMP=0s", "PLIMSOLL_SIZE=4MiB", "PLIMSOLL_ROUNDS=2", "PLIMSOLL_PROGRESS=none",
	}
	start := func(s recipeStep) (said []byte, code int) {
		cmd := exec.CommandContext(t.Context(), "sh", "-ec", s.run)
		cmd.Dir, cmd.Env = dir, slices.Concat(os.Environ(), s.env, own)
		said, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return said, cmd.ProcessState.ExitCode()
	}
	allowed := map[string][]int{"check": {0, 3}, "run": {1, 3, 4}, "ab": {0, 1, 3}, "lint": {0}, "mkdir": {0}}
	seen := map[string]bool{}
	for _, step := range steps {
		word := strings.Fields(strings.TrimPrefix(step.run, "plimsoll "))[0]
		seen[word] = true
		if said, code := start(step); !slices.Contains(allowed[word], code) {
			t.Errorf("%s: exit %d, the page names %v\n%s", step.run, code, allowed[word], said)
		}
		if _, file, ok := strings.Cut(step.run, ">"); ok {
			wellFormed(t, filepath.Join(dir, file))
		}
	}
	for word := range allowed {
		if !seen[word] {
			t.Errorf("no recipe has a step of %s", word)
		}
	}
	// A job that cannot do what its author wants stops the same step.
	if err := os.WriteFile(filepath.Join(dir, "bad.fio"), []byte("[a]\nrw=ranread\nsize=1g\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, code := start(steps[0]); code != 3 || !strings.Contains(string(said), "::error file=bad.fio,line=2") {
		t.Errorf("exit %d\n%s", code, said)
	}
}

// wellFormed reads a file as what its name says.
func wellFormed(t *testing.T, name string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Error(err)
		return
	}
	defer file.Close() //nolint:errcheck // only read
	if filepath.Ext(name) == ".xml" {
		cases, decoder := 0, xml.NewDecoder(file)
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "testcase" {
				cases++
			}
		}
		if cases == 0 {
			t.Errorf("%s has no testcase", name)
		}
		return
	}
	var document map[string]any
	if err := json.NewDecoder(file).Decode(&document); err != nil || document["version"] == nil {
		t.Errorf("%s: %v", name, err)
	}
}
