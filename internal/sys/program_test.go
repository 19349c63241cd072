package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys/bounded"
)

// script puts a shell script into a directory of its own and returns its name.
func script(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return name
}

// pidIn reads a process ID from a file that a script wrote.
func pidIn(t *testing.T, name string) process {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := readProcess(pid)
	if err != nil {
		return process{pid: pid}
	}
	return p
}

// A child in a session of its own, as fio's jobs are, that ignores signals and holds the output.
const daemon = `setsid sh -c 'trap "" INT TERM HUP; echo $$ >%s; echo begun; while :; do sleep 1; done' &
while ! test -s %[1]s; do sleep 0.01; done
%s`

func TestFamilyEndsWithItsProgram(t *testing.T) {
	for name, end := range map[string]string{
		"succeeds": "exit 0", "fails": "exit 1", "killed": "kill -9 $$", "child stopped": "kill -STOP $(cat %[1]s); exit 0",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pid")
			text := fmt.Sprintf(daemon, file, strings.ReplaceAll(end, "%[1]s", file))
			begun := time.Now()
			var out bytes.Buffer
			err := run(WithFamily(t.Context()), &out, script(t, text))
			failed, _ := errors.AsType[*Failed](err)
			if (err == nil) != strings.HasSuffix(end, "exit 0") || (name == "killed") != (failed != nil && failed.Signal == syscall.SIGKILL) {
				t.Error(err)
			}
			if out.String() != "begun\n" {
				t.Errorf("printed %q", out.String())
			}
			if p := pidIn(t, file); p.lives() {
				p.kill()
				t.Errorf("process %d lives", p.pid)
			}
			if took := time.Since(begun); took >= Grace {
				t.Errorf("took %s: the child's hold on the output was waited for", took)
			}
		})
	}
}

// A process is of its family from the moment at which Start returns, though exec may not have set up its environment
// then: of 4,000 looks that did not wait for it 366 found none.
func TestFamilyOfAProcessThatBegins(t *testing.T) {
	f, err := newFamily("sleep")
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		cmd := exec.Command("sleep", "1000")
		cmd.Env = []string{f.mark()}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		got, ok := familyOf(cmd.Process.Pid)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if !ok || got != *f {
			t.Fatalf("%+v, %v", got, ok)
		}
	}
}

// What has no environment, and gets none, is not taken for a process that begins: it would be waited for.
func TestProcessesWithoutAnEnvironment(t *testing.T) {
	child := exec.Command("sleep", "1000")
	child.Env = []string{}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	pid := child.Process.Pid
	look := func(what string) {
		t.Helper()
		env := Environ(pid)
		if p, err := readProcess(pid); err != nil || p.begins || env != nil {
			t.Errorf("%s: %+v, %v, %q", what, p, err, env)
		}
	}
	look("given none")
	_ = child.Process.Kill()
	if err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Error(err)
	}
	look("a zombie")
	_ = child.Wait()
	if env := Environ(pid); env != nil {
		t.Errorf("of nothing: %q", env)
	}
	// proc_pid_stat(5) behind the name: flags are the 7th, the end of the environment is the 49th.
	line := func(flags, end string) string {
		return "7 (a) S 1 7 7 0 -1 " + flags + strings.Repeat(" 1", 41) + " " + end + " 0"
	}
	for name, c := range map[string]struct {
		text   string
		begins bool
	}{
		"in exec":                {line("4194304", "0"), true},
		"whole":                  {line("4194304", "140737354131424"), false},
		"the kernel's thread":    {line("2129984", "0"), false},     // PF_KTHREAD
		"ends":                   {line("4194308", "0"), false},     // PF_EXITING
		"of a kernel before 3.5": {line("4194304", "")[:80], false}, // which has no such field
	} {
		if p, err := parseProcess(7, []byte(c.text)); err != nil || p.begins != c.begins {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if _, err := parseProcess(7, []byte(line("x", "0"))); err == nil {
		t.Error("flags that are no number are taken")
	}
}

func TestLimit(t *testing.T) {
	// It does not heed SIGINT, so it must be killed; its child too.
	file := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	kill, killNow := context.WithCancel(t.Context())
	defer killNow()
	defer cancel()
	ctx = WithKill(WithLimit(WithFamily(ctx), 200*time.Millisecond), kill)
	context.AfterFunc(kill, cancel)
	time.AfterFunc(time.Second, killNow) // instead of Grace
	err := run(ctx, io.Discard, script(t, fmt.Sprintf(daemon, file, `trap "" INT; while :; do sleep 1; done`)))
	late, ok := errors.AsType[*Late](err)
	if !ok || late.After != 200*time.Millisecond || late.Alive != nil || err.Error() != "program did not end within 200 ms" {
		t.Errorf("%v", err)
	}
	if p := pidIn(t, file); p.lives() {
		p.kill()
		t.Errorf("process %d lives", p.pid)
	}
}

func TestQueriesHaveALimit(t *testing.T) {
	m := &Machine{Run: func(ctx context.Context, _ io.Writer, _ ...string) error {
		if d, ok := ctx.Value(limitKey{}).(time.Duration); !ok || d != QueryLimit {
			t.Errorf("limit %v", d)
		}
		return nil
	}}
	if _, err := m.Output(t.Context(), "x"); err != nil {
		t.Error(err)
	}
}

// A program that prints without end is ended, and what it printed does not fill the memory.
func TestOutputIsCapped(t *testing.T) {
	text, err := Host().Output(t.Context(), "cat", "/dev/zero")
	if err == nil || !strings.Contains(err.Error(), "cat: it printed more than 16 MiB") || len(text) > OutputLimit {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestNotice(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: make check runs this")
	}
	// The program waits for the notice itself, so the test takes as long as Patience and depends on
	// no speed.
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	noticed := make(chan string, 2)
	ctx := WithNotice(t.Context(), func(text string) {
		noticed <- text
		go func() { _ = os.WriteFile(fifo, nil, 0) }()
	})
	if err := run(ctx, io.Discard, "cat", fifo); err != nil {
		t.Fatal(err)
	}
	if got := <-noticed; got != "waiting for cat "+fifo {
		t.Errorf("%q", got)
	}
	if err := run(ctx, io.Discard, "true"); err != nil || len(noticed) > 0 {
		t.Error(err, "a notice of what was quick")
	}
}

func TestFailedNamesItsProgramOnce(t *testing.T) {
	err := run(t.Context(), io.Discard, script(t, "echo 'program: it broke' >&2; exit 3"))
	if err == nil || err.Error() != "program: it broke" {
		t.Errorf("%v", err)
	}
}

// TestHelperOrphan is not a test: a child of TestStrays, which starts a program with its family and
// waits to be killed.
func TestHelperOrphan(*testing.T) {
	argv := os.Getenv("PLIMSOLL_TEST_ORPHAN")
	if argv == "" {
		return
	}
	_ = run(WithFamily(context.Background()), io.Discard, strings.Fields(argv)...)
}

// What a killed plimsoll left is found by its mark and ended; the same program of others, and of a
// plimsoll that lives, is not. A PID namespace of its own keeps other tests' strays out, and those that end strays.
func TestStrays(t *testing.T) {
	const inside = "PLIMSOLL_TEST_APART"
	apart := []string{"--pid", "--fork", "--mount-proc"}
	if os.Getenv(inside) == "" && exec.Command("unshare", append(apart, "true")...).Run() == nil {
		cmd := exec.Command("unshare", append(apart, os.Args[0], "-test.run=^TestStrays$", "-test.v")...)
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestStrays") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(dir, "plimsoll-test-sleep")
	if err := os.WriteFile(ours, data, 0o755); err != nil {
		t.Fatal(err)
	}
	// The program's shell keeps SIGINT, which it gets when its parent dies, from its child.
	starter := script(t, fmt.Sprintf("trap '' INT\nsetsid %s 1000 & echo $! >%s/pid.new; mv %[2]s/pid.new %[2]s/pid; wait", ours, dir))
	// The mark names the program that was started: a link of that name stands for it.
	named := filepath.Join(dir, "bin", filepath.Base(ours))
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(starter, named); err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestHelperOrphan$")
	parent.Env = append(os.Environ(), "PLIMSOLL_TEST_ORPHAN="+named)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	other := exec.Command(ours, "1000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	for !exists(filepath.Join(dir, "pid")) {
		_, _ = exec.Command("sleep", "0.01").Output()
	}
	child := pidIn(t, filepath.Join(dir, "pid"))
	defer child.kill()
	mine := func() int {
		n := 0
		for _, p := range members(func(_ process, f family) bool { return f.program == filepath.Base(ours) }) {
			if p.pid == child.pid {
				n++
			}
		}
		return n
	}
	for { // the shell's child is the shell and setsid before it is the program
		if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", child.pid)); exe == ours || exe == "" {
			break
		}
		_, _ = exec.Command("sleep", "0.01").Output()
	}
	if mine() != 1 {
		t.Fatal("the child has no mark")
	}
	if _, err := EndStrays(false); err != nil || !child.lives() {
		t.Fatal("ended what a living plimsoll started", err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if n, err := EndStrays(true); err != nil || n != 1 || !child.lives() {
		t.Fatalf("a dry run counts %d, %v; child lives: %v", n, err, child.lives())
	}
	if n, err := EndStrays(false); err != nil || n != 1 || child.lives() {
		t.Fatalf("ended %d, %v; child lives: %v", n, err, child.lives())
	}
	if p, err := readProcess(other.Process.Pid); err != nil || p.ended {
		t.Error("another's process was ended")
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestParseProcess(t *testing.T) {
	got, err := parseProcess(7, []byte("7 (a) R 1 (b)) Z 3 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0\n"))
	if want := (process{pid: 7, parent: 3, start: 12345, ended: true}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{"", "7 (x", "7 (x) S 1", ")"} {
		if _, err := parseProcess(7, []byte(text)); err == nil {
			t.Errorf("%q passes", text)
		}
	}
}

func FuzzFamily(f *testing.F) {
	f.Add("12.345.ABC.fio", "7 (fio) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0")
	bounded.Fuzz(f, func(t *testing.T, mark, stat string) {
		if got, ok := parseFamily(mark); ok {
			if again, ok := parseFamily(got.value()); !ok || again != got {
				t.Errorf("%q is %+v, then %+v", mark, got, again)
			}
		}
		_, _ = parseProcess(7, []byte(stat))
	})
}
