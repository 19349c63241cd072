package sys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a program with all its streams connected, for the lab's agent, which must feed a
// program and tell its outputs apart. Everything else uses Machine.Run.
type Process struct {
	Argv []string
	Dir  string   // working directory; empty for the present one
	Env  []string // added to the environment
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
	// TTY, when not nil, becomes the program's controlling terminal and all three streams.
	TTY *os.File
	// Signals are passed on to the program's process group. May be nil.
	Signals <-chan syscall.Signal
	// Anybodys allows, as root, a program that others can replace: in the lab's guest nobody else
	// is there.
	Anybodys bool
}

// Run starts the program, waits for it and returns its exit status: 128 + n when signal n ended it.
// A daemon that it leaves behind may keep its outputs open: they are read for one second more.
func (p Process) Run(ctx context.Context) (int, error) {
	failed := func(err error) (int, error) { return -1, fmt.Errorf("%s: %w", p.Argv[0], err) }
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	if cmd.Err == nil && !p.Anybodys {
		if err := CheckProgram(cmd.Path, uint32(os.Geteuid())); err != nil {
			return -1, err
		}
	}
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = p.Out, p.Err
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if p.TTY != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = p.TTY, p.TTY, p.TTY
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	} else if p.In != nil {
		// A pipe of our own: Wait would wait for p.In, which may never end.
		in, err := cmd.StdinPipe()
		if err != nil {
			return failed(err)
		}
		go func() {
			_, _ = io.Copy(in, p.In) // it need not read what it is given
			_ = in.Close()
		}()
	}
	if err := start(cmd); err != nil {
		return failed(err)
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case sig := <-p.Signals:
				_ = syscall.Kill(-cmd.Process.Pid, sig) // it may have ended
			case <-done:
				return
			}
		}
	}()
	err := cmd.Wait()
	close(done)
	if ended, ok := errors.AsType[*Failed](failure(p.Argv, err, "")); ok {
		if ended.Signal != 0 {
			return 128 + int(ended.Signal), nil
		}
		return ended.Code, nil
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return failed(err)
	}
	return cmd.ProcessState.ExitCode(), nil
}
