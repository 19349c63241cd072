package sys

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// A /proc that hides other users' processes does not show who started one: nothing is ended then, and the look ends.
func TestHiddenParentsEndNothing(t *testing.T) {
	if pid := os.Getenv("PLIMSOLL_TEST_HIDDEN"); pid != "" {
		n, err := strconv.Atoi(pid)
		p, err2 := readProcess(n)
		fmt.Println("descends", p.descends(1<<30), err, err2)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: only root can mount a /proc that hides processes")
	}
	// A process of another user, whose parent is root's.
	child := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "600")
	if err := child.Start(); err != nil {
		t.Skip("SKIPPED: ", err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	Environ(child.Process.Pid) // until exec has set it up
	binary := filepath.Join(t.TempDir(), "sys.test")
	data, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(binary, data, 0o755)
	}
	if err == nil {
		err = os.Chmod(filepath.Dir(filepath.Dir(binary)), 0o755) // of the test, which MkdirTemp closes to others
	}
	if err != nil {
		t.Fatal(err)
	}
	hidden := exec.Command("unshare", "--mount", "sh", "-c", `mount -t proc -o hidepid=2 proc /proc && cd / &&
exec timeout 60 setpriv --reuid=65534 --regid=65534 --clear-groups "$0" -test.run='^TestHiddenParentsEndNothing$'`, binary)
	hidden.Env = append(os.Environ(), "PLIMSOLL_TEST_HIDDEN="+strconv.Itoa(child.Process.Pid))
	if out, err := hidden.CombinedOutput(); err != nil || !strings.Contains(string(out), "descends true <nil> <nil>") {
		t.Errorf("%v: %s", err, out)
	}
}

// A plimsoll in a namespace of time sees every process started at another instant, and ends nothing that a
// living plimsoll has started (repro/stats-4/time-namespace-kills.sh: it ended the fio of another).
func TestNamespaceOfTimeEndsNothing(t *testing.T) {
	if os.Getenv("PLIMSOLL_TEST_OTHER_TIME") != "" {
		n, err := EndStrays(false)
		fmt.Println("ended", n, err)
		return
	}
	shifted := exec.Command("unshare", "--time", "--boottime", "5000", "--fork", os.Args[0],
		"-test.run=^TestNamespaceOfTimeEndsNothing$")
	shifted.Env = append(os.Environ(), "PLIMSOLL_TEST_OTHER_TIME=1")
	if out, err := exec.Command("unshare", "--time", "--boottime", "5000", "--fork", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: no namespace of time can be made here: %s", out)
	}
	f, err := newFamily("sleep")
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command("sleep", "600")
	child.Env = []string{f.mark()}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Process.Kill(); _ = child.Wait() }()
	Environ(child.Process.Pid) // until exec has set it up
	out, err := shifted.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ended 0 <nil>") {
		t.Errorf("%v: %s", err, out)
	}
	if p, err := readProcess(child.Process.Pid); err != nil || p.ended {
		t.Error("the child of a living plimsoll was ended")
	}
}
