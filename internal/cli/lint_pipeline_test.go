package cli_test

import (
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"plimsoll/internal/finding"
)

// jobsFolder holds a job file without a fault, and with one where it is asked for.
func jobsFolder(t *testing.T, faulty bool) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"good.fio": "[a]\nrw=randread\nsize=9g\ndirect=1\nfilename=/data/f\n"}
	if faulty {
		files["bad.fio"] = "[a]\nrw=randread\niodpeth=32\n"
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shell runs a text as a step of a pipeline does, and gives its exit code and what it printed.
func shell(t *testing.T, dir, text string, args ...string) (code int, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-e", "-c", text, "step"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return failed.ExitCode(), string(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, string(out)
}

// The step of docs/lint.md, as a workflow runs it: it passes without errors, fails for errors with
// their annotations, and passes on that lint itself failed.
func TestWorkflowOfTheGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/lint.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```yaml\n(- name: Lint fio jobs\n.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatal("docs/lint.md holds no step named Lint fio jobs")
	}
	var steps []struct{ Name, Run string }
	if err := yaml.Unmarshal(m[1], &steps); err != nil || len(steps) != 1 {
		t.Fatal(err, len(steps))
	}
	run := steps[0].Run
	if code, said := shell(t, jobsFolder(t, false), run); code != 0 {
		t.Errorf("without errors the step ends with %d: %s", code, said)
	}
	code, said := shell(t, jobsFolder(t, true), run)
	if code != 1 || !strings.Contains(said, "::error file=bad.fio,line=3,col=1,title=PL102") {
		t.Errorf("with an error the step ends with %d: %s", code, said)
	}
	empty := t.TempDir()
	if code, said = shell(t, empty, run); code != 0 || !strings.Contains(said, "nothing to lint") {
		t.Errorf("where there is nothing to lint the step ends with %d: %s", code, said)
	}
}

// The hooks of .pre-commit-hooks.yaml, run as pre-commit runs them: the entry, with the changed files
// that match behind it.
func TestHooksOfPreCommit(t *testing.T) {
	text, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var hooks []struct {
		ID, Name, Description, Entry, Language, Exclude string
		Types                                           []string
	}
	if err := yaml.Unmarshal(text, &hooks); err != nil || len(hooks) != 2 {
		t.Fatal(err, len(hooks))
	}
	for _, h := range hooks {
		if h.ID == "" || h.Name == "" || h.Language != "golang" {
			t.Errorf("%+v: want an id, a name and the language golang", h)
		}
		exclude, err := regexp.Compile(h.Exclude)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{
			"a.fio": true, "a/b.sh": true, "README.md": true, "w.yml": true, "x.bat": true, "x.ps1": true, "n.ipynb": true,
			"x.ksh": true, "x.org": true, "x.py": true, "Dockerfile": true, "Jenkinsfile": true, "x.tf": true, "bench": true, "main.go": false, "p.png": false,
		} {
			if exclude.MatchString(name) == want {
				t.Errorf("%s: %s is handed over: %v, want %v", h.ID, name, !want, want)
			}
		}
		dir := jobsFolder(t, true)
		if code, said := shell(t, dir, h.Entry+` "$@"`, "good.fio"); code != 0 {
			t.Errorf("%s fails for a sound file with %d: %s", h.ID, code, said)
		}
		if code, said := shell(t, dir, h.Entry+` "$@"`, "good.fio", "bad.fio"); code != 3 || !strings.Contains(said, "bad.fio:3:1: PL102 error") {
			t.Errorf("%s ends with %d for a faulty file: %s", h.ID, code, said)
		}
	}
}

// JUnit's XML as readers of it take it: a suite for each file, its errors as failures, counted.
func TestLintAsJUnit(t *testing.T) {
	_, said := shell(t, jobsFolder(t, true), "plimsoll lint . --format junit")
	var report struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []struct {
			Name     string `xml:"name,attr"`
			Tests    int    `xml:"tests,attr"`
			Failures int    `xml:"failures,attr"`
			Cases    []struct {
				Name    string `xml:"name,attr"`
				Class   string `xml:"classname,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Type    string `xml:"type,attr"`
				} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(said), &report); err != nil {
		t.Fatal(err, said)
	}
	tests, failures := 0, map[string]int{}
	for _, s := range report.Suites {
		tests += len(s.Cases)
		if s.Tests != len(s.Cases) {
			t.Errorf("%s: %d cases, the suite says %d", s.Name, len(s.Cases), s.Tests)
		}
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures[s.Name+" "+c.Failure.Type]++
			}
		}
	}
	if len(report.Suites) != 2 || failures["bad.fio PL102"] != 1 || len(failures) != 1 || report.Failures != 1 || report.Tests != tests {
		t.Errorf("%d suites, failures %v, counted %d of %d tests: %s", len(report.Suites), failures, report.Failures, report.Tests, said)
	}
}

// What a rule's page tells people to type exists: the command, and each flag of it (PL109 promised
// what no flag did).
func TestRulesNameFlagsThatExist(t *testing.T) {
	named := regexp.MustCompile(`plimsoll ([a-z]+)((?: --[a-z-]+)*)`)
	flags := map[string]int{}
	for _, p := range finding.Pages() {
		for _, s := range p.Sections {
			for _, m := range named.FindAllStringSubmatch(s.Body, -1) {
				if m[2] == "" {
					continue
				}
				code, help := shell(t, t.TempDir(), "plimsoll "+m[1]+" --help --all")
				for flag := range strings.FieldsSeq(m[2]) {
					flags[m[1]+" "+flag]++
					if code != 0 || !regexp.MustCompile(regexp.QuoteMeta(flag)+`\b`).MatchString(help) {
						t.Errorf("%s names plimsoll %s %s, which is not there", p.Code, m[1], flag)
					}
				}
			}
		}
	}
	if flags["run --stop"] == 0 {
		t.Errorf("flags named: %v; want that of PL109 among them", flags)
	}
}
