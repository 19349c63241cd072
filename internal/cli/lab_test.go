package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/lab/labtest"
)

const twoVolumes = `
volumes: [{name: data, count: 2, size: 64MiB, iops: 300}]
arrays: [{name: data, role: data, volumes: data}]
`

// TestLabRun is a lab as a user has it: a file, a command in the guest, its results and its exit
// status.
func TestLabRun(t *testing.T) {
	labtest.Need(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lab.yaml"), []byte(twoVolumes), 0o600); err != nil {
		t.Fatal(err)
	}
	plimsoll := func(stdin string, args ...string) (stdout, stderr string, code int) {
		t.Helper()
		cmd := exec.Command(labtest.Binary(t), args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			t.Fatal(err)
		}
		return out.String(), errs.String(), cmd.ProcessState.ExitCode()
	}
	stdout, stderr, code := plimsoll("", "lab", "run", "lab.yaml", "--put", "lab.yaml", "--",
		"sh", "-c", "plimsoll version; ls /dev/nvme*n1 | wc -l; mkdir -p runs/r; cp lab.yaml plimsoll.yaml runs/r; exit 3")
	if code != 3 || !strings.HasPrefix(stdout, "plimsoll ") || !strings.HasSuffix(stdout, "\n2\n") {
		t.Errorf("exit status %d, want 3; stdout %q, stderr %q", code, stdout, stderr)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "runs/r/lab.yaml")); err != nil || string(got) != twoVolumes {
		t.Errorf("brought out: %q, %v", got, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "runs/r/plimsoll.yaml")); err != nil || strings.Count(string(got), "iops: 300") != 2 {
		t.Errorf("the guest's plimsoll.yaml: %q, %v", got, err)
	}
	// Volumes that were kept are there again, and are not set up again.
	if _, stderr, code := plimsoll("echo kept | dd of=/dev/nvme0n1 conv=fsync 2>/dev/null; cat /dev/nvme0n1 | head -c 5 > /dev/nvme1n1; sync\n", "lab", "shell", "lab.yaml", "--keep", "lab"); code != 0 {
		t.Fatalf("exit status %d: %s", code, stderr)
	}
	stdout, stderr, code = plimsoll("head -qc 4 /dev/nvme*n1\n", "lab", "shell", "lab.yaml", "--keep", "lab")
	if code != 0 || stdout != "keptkept" {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}
