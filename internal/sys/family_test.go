package sys

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// A process that was killed is waited for although its mark is gone: the kernel gives its memory
// back, and with it the environment, before it has ended.
func TestEndWaitsForProcessesWithoutAMark(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, err := readProcess(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[process]bool{{pid: p.pid, start: p.start}: true}
	if got := left(nil, seen); len(got) != 1 || got[0].pid != p.pid {
		t.Errorf("a process that lives is not waited for: %v", got)
	}
	if got := left([]process{p}, seen); len(got) != 1 {
		t.Errorf("counted twice: %v", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	if got := left(nil, seen); len(got) != 0 {
		t.Errorf("a process that ended is waited for: %v", got)
	}
}

// A process that goes on as its child, again and again, is ended, however its steps lie to the looks at /proc.
func TestChainsOfProcessesEnd(t *testing.T) {
	tries := 40
	if testing.Short() {
		tries = 8
	}
	for range tries {
		f, err := newFamily("sh")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", "(setsid setsid setsid setsid sleep 300 &)")
		cmd.Env = append(os.Environ(), f.mark())
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if err := f.end(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // whoever was missed has gone on by then
		if left := members(f.has); len(left) > 0 {
			f.kill()
			t.Fatalf("%d are left", len(left))
		}
	}
}
