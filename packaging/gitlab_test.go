package packaging

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	strict "sigs.k8s.io/yaml"
)

// The jobs of GitLab's template, with the variables that it sets: none of them means something else to plimsoll.
func TestGitLabTemplate(t *testing.T) {
	text, err := os.ReadFile("gitlab/plimsoll.yml")
	if err != nil {
		t.Fatal(err)
	}
	var jobs map[string]struct {
		Variables map[string]string
		Script    []string
	}
	if err := strict.Unmarshal(text, &jobs); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	r.write("bin/plimsoll", "", 0o755)
	r.write("data/.keep", "", 0o644)
	if err := os.Rename(built(t), r.dir+"/bin/plimsoll"); err != nil {
		t.Fatal(err)
	}
	start := func(job string, more ...string) (string, int) {
		env := append(r.env, "PATH="+r.dir+"/bin:"+r.path, "PLIMSOLL_DATA="+r.dir+"/data")
		for name, value := range jobs[job].Variables {
			env = append(env, name+"="+value)
		}
		cmd := exec.Command("sh", "-ec", strings.Join(jobs[job].Script, "\n"))
		cmd.Dir, cmd.Env = r.dir, append(env, more...)
		out, _ := cmd.CombinedOutput()
		if strings.Contains(string(out), "sets no flag") {
			t.Errorf("%s: %s", job, out)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	r.write("a.fio", "[a]\nrw=randread\nsize=1g\ndirect=1\n", 0o644)
	out, code := start(".plimsoll-lint")
	says(t, "lint", out, code, 0, "")
	r.write("b.fio", "[a]\nrw=ranread\nsize=1g\n", 0o644)
	out, code = start(".plimsoll-lint")
	says(t, "lint of a mistake", out, code, 3, "")
	r.has("lint.xml", "<failure")
	if _, err := exec.LookPath("fio"); err != nil {
		t.Skip("NO FIO: the gate measures with it: ", err)
	}
	out, code = start(".plimsoll-gate", "GATE_SUITE=rand-read-latency", "PLIMSOLL_SIZE=16MiB", "PLIMSOLL_RUNTIME=1s", "PLIMSOLL_RAMP=0s")
	if code != 1 && code != 4 {
		t.Errorf("a first night ended with %d:\n%s", code, out)
	}
	r.has("gate.xml", "rand-read-latency")
}
