// Package sys is the one door from plimsoll to the machine it runs on. Everything that reads /sys or
// /proc, or starts another program, is handed a *Machine; tests hand in a captured tree of files and
// put recorded programs first in PATH.
package sys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Machine is everything plimsoll may touch outside its own memory and the directories it is given.
type Machine struct {
	// Root is "/": names in it have no leading slash, such as sys/block or proc/mdstat.
	Root fs.FS
	// Run starts a program, copies its standard output to stdout and waits for it. Its failure is a
	// *Failed. When ctx ends the program is asked to stop with SIGINT and killed after Grace.
	Run func(ctx context.Context, stdout io.Writer, argv ...string) error
	// Put writes a tunable below /sys or /proc; name is absolute.
	Put func(name string, data []byte) error
	// Now is the wall clock.
	Now func() time.Time
	// Here is true for the machine plimsoll runs on and false for a captured one, about which no network service is asked.
	Here bool
}

// Grace is how long an interrupted program may take to finish before it is killed.
const Grace = 10 * time.Second

// Host is the machine that plimsoll runs on.
func Host() *Machine {
	return &Machine{
		Root: os.DirFS("/"),
		Run:  run,
		Put:  func(name string, data []byte) error { return os.WriteFile(name, data, 0) },
		Now:  time.Now,
		Here: true,
	}
}

// Failed is a program that did not exit with 0.
type Failed struct {
	Argv   []string
	Code   int    // exit status; -1 when a signal ended it
	Stderr string // what it said, trimmed
}

func (f *Failed) Error() string {
	said := f.Stderr
	if said == "" {
		said = fmt.Sprintf("exit status %d", f.Code)
	}
	return fmt.Sprintf("%s: %s", filepath.Base(f.Argv[0]), said)
}

// ErrNotFound is in the chain of Run's error when the program is not installed.
var ErrNotFound = exec.ErrNotFound

type killKey struct{}

// WithKill returns a context whose programs are killed at once, instead of being given Grace, when kill ends.
// The first Ctrl-C ends the context, the second ends kill.
func WithKill(ctx, kill context.Context) context.Context {
	return context.WithValue(ctx, killKey{}, kill)
}

func run(ctx context.Context, stdout io.Writer, argv ...string) error {
	var errs tail
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C") // mdadm and lvm translate their messages
	cmd.Stdout, cmd.Stderr = stdout, &errs
	// A group of its own: a Ctrl-C of the terminal reaches plimsoll only, which then stops the program
	// in its own way; and fio's forked jobs can be killed with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // fio then writes its last document
	cmd.WaitDelay = Grace

	// Pdeathsig follows the thread that started the program, so that thread must live as long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	done := make(chan struct{})
	if kill, ok := ctx.Value(killKey{}).(context.Context); ok {
		go func() {
			select {
			case <-kill.Done():
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			case <-done:
			}
		}()
	}
	err := cmd.Wait()
	close(done)
	if err != nil {
		// Whatever ended it, nothing of its group may go on writing. ESRCH is the usual answer.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &Failed{Argv: argv, Code: exit.ExitCode(), Stderr: errs.String()}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", argv[0], err)
	}
	return nil
}

// Output runs a program and returns what it printed.
func (m *Machine) Output(ctx context.Context, argv ...string) (string, error) {
	var out bytes.Buffer
	err := m.Run(ctx, &out, argv...)
	return out.String(), err
}

// tail keeps the last 64 KiB written to it: a program that floods stderr must not fill the memory.
type tail struct{ buf []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - 64<<10; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.TrimSpace(string(t.buf)) }
