package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"

	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/sys/killat"
)

// filesPlan makes n directories, each in a step with a real program; the array's name is all that it
// has of an array.
func filesPlan(root string, n int) *Plan {
	w := &records.Work{Array: "files", Members: []records.Member{{Serial: "none", Path: "/dev/none"}}}
	for i := range n {
		name := fmt.Sprintf("/f%d", i)
		w.Add(records.Step{
			Title: "make " + name, Check: []records.Cond{{Is: "path", Of: name}},
			// mkdir fails where the directory is: a step in place must not be done again.
			Do:   []records.Action{{Run: []string{"mkdir", root + name}}},
			Undo: []records.Action{{If: &records.Cond{Is: "path", Of: name}, Run: []string{"rmdir", root + name}}},
		})
	}
	w.Steps[n/2].Do = append(w.Steps[n/2].Do, records.Action{Add: &records.Lines{File: "/etc/conf", Name: "files", Text: "a line"}})
	w.Steps[n/2].Undo = append(w.Steps[n/2].Undo, records.Action{Cut: &records.Lines{File: "/etc/conf", Name: "files", Text: "a line"}})
	return &Plan{Arrays: []*records.Work{w}}
}

// TestHelperIsKilled applies or tears down in a process that its own programs kill. It is a part of
// TestKilledAnywhere, and no test by itself.
func TestHelperIsKilled(t *testing.T) {
	root := os.Getenv("PROVISION_ROOT")
	if root == "" {
		return
	}
	var cut, calls int
	if _, err := fmt.Sscan(os.Getenv("PROVISION_CUT"), &cut); err != nil {
		t.Fatal(err)
	}
	s := filesSite(root)
	run := s.Run
	s.Run = func(ctx context.Context, out io.Writer, argv ...string) error {
		if argv[0] == "udevadm" {
			return nil
		}
		die := func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }
		if calls++; calls*2 == cut {
			die()
		}
		err := run(ctx, out, argv...)
		if calls*2+1 == cut {
			die()
		}
		return err
	}
	if err := work(t.Context(), s, os.Getenv("PROVISION_DO"), root); err != nil {
		t.Fatal(err)
	}
}

func filesSite(root string) *Site {
	host := *sys.Host()
	host.Root = fstest.MapFS{"sys/class/block/none/dev": {Data: []byte("1:1")}, "sys/class/block/none/size": {Data: []byte("8192")}, "sys/class/block/none/device/serial": {Data: []byte("none")}}
	return &Site{Machine: &host, Root: root, Journal: filepath.Join(root, "state", "journal"), UUID: newUUID}
}

func work(ctx context.Context, s *Site, what, root string) error {
	if what == "teardown" {
		return s.Teardown(ctx, nil, records.GiveUp{})
	}
	p := filesPlan(root, 4)
	if made, _, err := s.Made(); err != nil || len(made) > 0 {
		p.Arrays = made
	}
	return s.Apply(ctx, p)
}

// Kill -9 before or after any command of apply and of teardown: the next apply or teardown finishes
// the work.
func TestKilledAnywhere(t *testing.T) {
	for cut := 2; ; cut++ {
		finished := 0
		for _, what := range []string{"apply", "teardown"} {
			root := t.TempDir()
			if err := errors.Join(os.MkdirAll(filepath.Join(root, "etc"), 0o755), os.MkdirAll(filepath.Join(root, "dev"), 0o755), os.WriteFile(filepath.Join(root, "dev/none"), make([]byte, 4<<20), 0o600)); err != nil {
				t.Fatal(err)
			}
			s := filesSite(root)
			if what == "teardown" {
				if err := work(t.Context(), s, "apply", root); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestHelperIsKilled$")
			cmd.Env = append(os.Environ(), "PROVISION_ROOT="+root, "PROVISION_DO="+what, fmt.Sprint("PROVISION_CUT=", cut))
			if cmd.Run() == nil {
				finished++
			}
			if what == "teardown" {
				// Half taken down is not to be built on.
				if made, _, _ := s.Made(); len(made) > 0 && made[0].Undoing {
					if err := work(t.Context(), s, "apply", root); err == nil || !strings.Contains(err.Error(), "finish that first") {
						t.Errorf("cut %d: apply on a half teardown: %v", cut, err)
					}
				}
			}
			if err := work(t.Context(), s, what, root); err != nil {
				t.Fatalf("cut %d: second %s: %v", cut, what, err)
			}
			for i := range 4 {
				_, err := os.Stat(filepath.Join(root, fmt.Sprintf("f%d", i)))
				if what == "apply" && err != nil || what == "teardown" && !errors.Is(err, os.ErrNotExist) {
					t.Errorf("cut %d, %s: directory %d: %v", cut, what, i, err)
				}
			}
			if what == "apply" {
				if err := work(t.Context(), s, "teardown", root); err != nil {
					t.Fatal(err)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(root, "*")); len(left) != 2 {
				t.Errorf("cut %d, %s: left: %v", cut, what, left)
			}
			if left, _ := os.ReadDir(filepath.Join(root, "etc")); len(left) != 0 {
				t.Errorf("cut %d, %s: left in etc: %v", cut, what, left)
			}
		}
		if finished == 2 {
			if cut < 9 {
				t.Errorf("nothing was cut from %d on: the test tests nothing", cut)
			}
			return
		}
	}
}

func TestTwoAtOnce(t *testing.T) {
	root := t.TempDir()
	s := filesSite(root)
	release, err := s.lock()
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"apply", "teardown"} {
		if err := work(t.Context(), filesSite(root), what, root); err == nil || !strings.Contains(err.Error(), "another plimsoll") {
			t.Errorf("%s: %v", what, err)
		}
	}
	release()
	// A plan made before another apply came and went is out of date.
	late := filesPlan(root, 4)
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "etc"), 0o755), work(t.Context(), s, "apply", root)); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), late); err == nil || !strings.Contains(err.Error(), "apply again") {
		t.Errorf("a stale plan: %v", err)
	}
}

// Ctrl-C lets the running step end, and the journal says where it stopped.
func TestInterrupted(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := filesSite(root)
	var done atomic.Int32
	s.Emit = func(e Event) {
		if e.What == Doing && e.Step == 2 {
			cancel()
		}
		if e.What == Done {
			done.Add(1)
		}
	}
	err := work(ctx, s, "apply", root)
	if !errors.Is(err, context.Canceled) || done.Load() != 2 || !strings.Contains(err.Error(), "before step 3 of 4") {
		t.Errorf("%d done: %v", done.Load(), err)
	}
	made, _, err := s.Made()
	if err != nil || made[0].Steps[1].State != records.StepDone || made[0].Steps[2].State != records.StepToDo {
		t.Errorf("%+v %v", made, err)
	}
}

// A file of /etc that cannot be written stops apply there and is as before; room again, apply goes
// on.
func TestFullEtc(t *testing.T) {
	root := t.TempDir()
	s := filesSite(root) // without an etc directory nothing can be written in it
	if err := work(t.Context(), s, "apply", root); err == nil || !strings.Contains(err.Error(), "step 3 of 4, make /f2") {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(root, "etc"), 0o755), os.Mkdir(filepath.Join(root, "dev"), 0o755), os.WriteFile(filepath.Join(root, "dev/none"), make([]byte, 4<<20), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(work(t.Context(), s, "apply", root), work(t.Context(), s, "teardown", root)); err != nil {
		t.Fatal(err)
	}
}

func FuzzReports(f *testing.F) {
	f.Add(`{"report":[{"pv":[{"pv_name":"/dev/nvme0n1","vg_name":"pool"}]}]}`)
	f.Add(`{"signatures": [{"device":"nvme0n1", "offset":"0x1000", "type":"linux_raid_member", "uuid":"u", "label":"any:data"}]}`)
	f.Add("")
	bounded.Fuzz(f, func(t *testing.T, out string) {
		if found, err := parseWipefs(out); err != nil && len(found) > 0 {
			t.Error(found)
		}
		if rows, err := parseReport(out); err != nil && len(rows) > 0 {
			t.Error(rows)
		}
	})
}

// TestKilledAtSteps kills apply and teardown before one of their steps, each system call that others could notice
// (killat): the next apply or teardown finishes the work, and leaves nothing. Which steps is drawn from KILLS_SEED;
// with KILLS=0 it is all of them.
func TestKilledAtSteps(t *testing.T) {
	n, seed := 4, 1
	for name, to := range map[string]*int{"KILLS": &n, "KILLS_SEED": &seed} {
		if text := os.Getenv(name); text != "" {
			if _, err := fmt.Sscan(text, to); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	killed := 0
	for _, what := range []string{"apply", "teardown"} {
		whole, code := killedWork(t, what, 0)
		if code != 0 || whole < 50 {
			t.Fatalf("%s takes %d steps and ends with %d", what, whole, code)
		}
		steps := make([]int, n/2)
		for i := range steps {
			steps[i] = 1 + r.IntN(whole)
		}
		if n == 0 {
			for i := range whole {
				steps = append(steps, i+1)
			}
		}
		for _, step := range steps {
			if _, code := killedWork(t, what, step); code < 0 {
				killed++
			}
		}
		t.Logf("%s takes %d steps", what, whole)
	}
	t.Logf("%d were killed", killed)
	if killed == 0 {
		t.Error("nothing was killed: the test tests nothing")
	}
}

// killedWork does something up to a step, and finishes it then; it returns how many steps were taken, and the exit
// code.
func killedWork(t *testing.T, what string, step int) (steps, code int) {
	t.Helper()
	root := t.TempDir()
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "etc"), 0o755), os.MkdirAll(filepath.Join(root, "dev"), 0o755), os.WriteFile(filepath.Join(root, "dev/none"), make([]byte, 4<<20), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := filesSite(root)
	if what == "teardown" {
		if err := work(t.Context(), s, "apply", root); err != nil {
			t.Fatal(err)
		}
	}
	steps, code, err := killat.Command{
		Argv: []string{os.Args[0], "-test.run=^TestHelperIsKilled$"},
		Env:  append(os.Environ(), "PROVISION_ROOT="+root, "PROVISION_DO="+what, "PROVISION_CUT=1000000"),
		Step: step, Signal: syscall.SIGKILL,
	}.Run()
	if err != nil || code > 0 {
		t.Fatalf("%s, step %d: exit code %d, %v", what, step, code, err)
	}
	if err := work(t.Context(), s, what, root); err != nil {
		t.Errorf("%s, step %d: the second time: %v", what, step, err)
	}
	if what == "apply" {
		if err := work(t.Context(), s, "teardown", root); err != nil {
			t.Errorf("%s, step %d: teardown: %v", what, step, err)
		}
	}
	for dir, most := range map[string]int{root: 2, filepath.Join(root, "etc"): 0} {
		if left, _ := os.ReadDir(dir); len(left) != most {
			t.Errorf("%s, step %d: in %s is left %v", what, step, dir, left)
		}
	}
	return steps, code
}
