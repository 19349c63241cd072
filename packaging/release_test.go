package packaging

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	strict "sigs.k8s.io/yaml"
)

// releaseStep is what a step of the workflow that releases runs.
func releaseStep(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	var flow struct {
		Jobs map[string]struct{ Steps []struct{ Name, Run string } }
	}
	if err := strict.Unmarshal(text, &flow); err != nil {
		t.Fatal(err)
	}
	for _, s := range flow.Jobs["release"].Steps {
		if strings.HasPrefix(s.Name, name) {
			return s.Run
		}
	}
	t.Fatalf("release.yml has no step %q", name)
	return ""
}

// The notes of a release are its own part of the changelog, whole, be it the last part or not, and no part without a
// date is released.
func TestReleaseNotes(t *testing.T) {
	const second, first = "\nMore.\n\nEnd of 0.2.\n", "\nThe first release.\n\nKnown limits.\n"
	r := newRunner(t)
	r.write("CHANGELOG.md", "# Changelog\n\n## 0.2.0 (2027-01-01)\n"+second+"\n## 0.1.0 (unreleased)\n"+first, 0o644)
	r.write("bin/gh", "#!/bin/sh\n", 0o755)
	for version, want := range map[string]string{"0.2.0": second + "\n", "0.1.0": first} {
		for _, step := range []string{"The version", "Publish the files"} {
			cmd := exec.Command("bash", "-e", "-c", releaseStep(t, step))
			cmd.Dir, cmd.Env = r.dir, append(r.env, "PATH="+r.dir+"/bin:"+os.Getenv("PATH"), "GITHUB_REF_NAME=v"+version)
			out, err := cmd.CombinedOutput()
			if dated := version == "0.2.0"; (err == nil) != (dated || step != "The version") {
				t.Errorf("%s of %s: %v\n%s", step, version, err, out)
			}
		}
		if notes, err := os.ReadFile(r.dir + "/notes.md"); err != nil || string(notes) != want {
			t.Errorf("%s: %v, notes %q, want %q", version, err, notes, want)
		}
	}
}
