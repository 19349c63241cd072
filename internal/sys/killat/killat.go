// Package killat kills a program at one of its own steps instead of at an instant, so that a test that kills
// does not depend on how fast the machine is. A step is a system call by which others could notice the
// program: one that changes a directory, a file's owner or mode, a mount or a segment, that syncs, and that
// starts or signals a process. It is for tests only.
package killat

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command is a program that is killed before it takes one of its steps.
type Command struct {
	Argv     []string
	Env      []string // nil for the caller's
	Dir      string   // empty for the caller's
	Step     int      // from 1; 0 for none
	Signal   syscall.Signal
	Out, Err *os.File // nil for none
}

// traced are what is wanted of the kernel: threads are followed, the programs that are started are not, and
// nothing is left when the tracer dies.
const traced = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL

// Run runs the command to its end and counts its steps. With a signal other than SIGKILL the step is taken,
// after the signal was sent. It returns the exit code, -1 after a signal.
func (c Command) Run() (steps, code int, err error) {
	// The kernel lets only the thread that began to trace continue it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	program, err := exec.LookPath(c.Argv[0])
	if err != nil {
		return 0, 0, err
	}
	p, err := os.StartProcess(program, c.Argv, &os.ProcAttr{
		Dir: c.Dir, Env: c.Env, Files: []*os.File{nil, c.Out, c.Err}, Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return 0, 0, err
	}
	t := &tracer{Command: c, pid: p.Pid, inside: map[int]bool{}, known: map[int]bool{p.Pid: true}}
	if _, _, err := t.wait(p.Pid); err != nil {
		return 0, 0, err
	}
	if err := errors.Join(unix.PtraceSetOptions(p.Pid, traced), unix.PtraceSyscall(p.Pid, 0)); err != nil {
		return 0, 0, fmt.Errorf("trace %s: %w", program, err)
	}
	code, err = t.follow()
	return t.steps, code, err
}

// tracer follows the threads of a program.
type tracer struct {
	Command
	pid    int
	steps  int
	inside map[int]bool // threads between the entry and the end of a system call
	known  map[int]bool // threads whose first stop was seen
}

// wait waits for a stop or the end of a thread, -1 for any that this thread traces.
func (t *tracer) wait(pid int) (status unix.WaitStatus, who int, err error) {
	for {
		who, err = unix.Wait4(pid, &status, unix.WALL|unix.WNOTHREAD, nil)
		if !errors.Is(err, unix.EINTR) {
			return status, who, err
		}
	}
}

// follow lets the threads go from stop to stop until the program has ended.
func (t *tracer) follow() (code int, err error) {
	for {
		status, tid, err := t.wait(-1)
		switch {
		case err != nil:
			return 0, err
		case status.Exited() && tid == t.pid:
			return status.ExitStatus(), nil
		case status.Signaled() && tid == t.pid:
			return -1, nil
		case !status.Stopped():
			continue
		}
		if err := unix.PtraceSyscall(tid, t.stopped(tid, status)); err != nil && !errors.Is(err, unix.ESRCH) {
			return 0, err
		}
	}
}

// stopped looks at why a thread stands, and returns the signal that it gets.
func (t *tracer) stopped(tid int, status unix.WaitStatus) (pass int) {
	first := !t.known[tid]
	t.known[tid] = true
	switch sig := status.StopSignal(); {
	case sig == unix.SIGTRAP|0x80:
		if t.inside[tid] = !t.inside[tid]; t.inside[tid] && isStep(tid) {
			if t.steps++; t.steps == t.Step {
				_ = unix.Kill(t.pid, t.Signal)
			}
		}
		return 0
	case sig == unix.SIGTRAP && status.TrapCause() > 0, first && sig == unix.SIGSTOP:
		return 0 // the birth of a thread
	default:
		return int(sig)
	}
}

// isStep says whether the system call that a thread is about to make is a step.
func isStep(tid int) bool {
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(tid, &regs) != nil {
		return false
	}
	number, flags, third := call(&regs)
	switch number {
	case unix.SYS_OPENAT:
		return third&unix.O_CREAT != 0
	case unix.SYS_CLONE:
		return flags&unix.CLONE_THREAD == 0
	case unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
		unix.SYS_MKNODAT, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_FTRUNCATE,
		unix.SYS_FALLOCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_FLOCK, unix.SYS_MOUNT, unix.SYS_UMOUNT2,
		unix.SYS_SHMCTL, unix.SYS_MEMFD_CREATE, unix.SYS_KILL, unix.SYS_PIDFD_SEND_SIGNAL:
		return true
	}
	return oldStep(number)
}
