package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/lab"
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

// Figures of a scenario during which its drive timed out, by the guest's kernel, are no
// measurement: the completion was late by the kernel's limit. Timeouts before it, and of other
// drives, are none of its business.
func TestLabTimeout(t *testing.T) {
	spec, err := lab.ParseSpec("two", []byte(twoVolumes))
	if err != nil {
		t.Fatal(err)
	}
	g := labtest.StartSpec(t, spec)
	r, err := g.Bash(t.Context(), `late() {
	plimsoll run 3 --data /dev/nvme0n1 --size 16MiB --runtime 4s --ramp 0s --cooldown 0s --progress json >out 2>err &
	until grep -q '"event":"second"' err || ! kill -0 $!; do sleep 0.1; done
	echo "<4>nvme $1: I/O 64 QID 1 timeout, completion polled" >/dev/kmsg
	wait $!
	echo "$1: $?, $(grep -c '^PL423 invalid: a drive did not answer in time' out)"
}
echo "<4>nvme nvme0: I/O 1 QID 1 timeout, completion polled" >/dev/kmsg
late nvme1
late nvme0`)
	if err != nil || r.Code != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	if want := "nvme0: 4, 1\n"; !strings.HasPrefix(r.Stdout, "nvme1: ") || !strings.Contains(r.Stdout, ", 0\nnvme0") ||
		!strings.HasSuffix(r.Stdout, want) {
		t.Errorf("%swant no PL423 for nvme1, and %s", r.Stdout, want)
	}
}
