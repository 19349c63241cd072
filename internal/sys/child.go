package sys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Child is a program that is started under another user, with an environment of its own and no way
// to more rights: a database server and its tools. Everything else uses Machine.Run.
type Child struct {
	Argv []string
	Dir  string
	Env  []string // all of it: nothing is inherited
	// UID and GID are who it runs as, without further groups; the caller's own where UID is the
	// caller's.
	UID, GID uint32
	// Apart gives it shared memory of its own, where the caller is root: System V segments and files
	// in /dev/shm, which end with its last process, however that ends.
	Apart    bool
	Out, Err io.Writer // may be nil
}

// Started is a child that runs.
type Started struct {
	PID int
	// Start is when it was started, in clock ticks since boot: with PID it names the process for
	// ever.
	Start uint64

	CPU   time.Duration // that it used, its children's included; known when it has ended
	errs  *Tail
	ended chan struct{}
	err   error
}

// Start starts the child in a process group of its own. It does not end with the caller: whoever
// starts a server writes a record of it.
func (c Child) Start() (*Started, error) {
	cmd := exec.Command(c.Argv[0], c.Argv[1:]...)
	if cmd.Err == nil {
		if err := CheckProgram(cmd.Path, c.UID); err != nil {
			return nil, err
		}
	}
	errs := &Tail{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, c.Out, io.Writer(errs)
	if c.Err != nil {
		cmd.Stderr = io.MultiWriter(errs, c.Err)
	}
	cmd.WaitDelay = Grace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if int(c.UID) != os.Geteuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: c.UID, Gid: c.GID, Groups: []uint32{}}
	}
	started := make(chan error, 1)
	onThread(func() {
		// No new privileges is a property of the thread that forks, and cannot be taken back.
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			started <- fmt.Errorf("no new privileges: %w", err)
			return
		}
		if c.Apart && os.Geteuid() == 0 {
			if err := apart(); err != nil {
				started <- err
				return
			}
		}
		inheritance.Lock()
		defer inheritance.Unlock()
		restore := keepHandles()
		defer restore()
		started <- cmd.Start()
	})
	if err := <-started; err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(c.Argv[0]), err)
	}
	s := &Started{PID: cmd.Process.Pid, errs: errs, ended: make(chan struct{})}
	if p, err := readProcess(s.PID); err == nil {
		s.Start = p.start
	}
	go func() {
		s.err = failure(c.Argv, cmd.Wait(), errs.String())
		if cmd.ProcessState != nil {
			s.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		}
		close(s.ended)
	}()
	return s, nil
}

// onThread runs f on a thread that ends with it. That is not the first one, which cannot end, and by
// which /proc/self shows the process.
func onThread(f func()) {
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() != os.Getpid() {
			f()
			return // still locked: the thread ends
		}
		ended := make(chan struct{})
		onThread(func() {
			defer close(ended)
			f()
		})
		<-ended
		runtime.UnlockOSThread()
	}()
}

// apart gives the calling thread, and what it starts, namespaces of its own with an empty /dev/shm.
// Where root may not do that, as in many containers, nothing changes.
func apart() error {
	if unix.Unshare(unix.CLONE_NEWNS|unix.CLONE_NEWIPC) != nil {
		return nil
	}
	// The mount below is seen by nobody else, and what others unmount is unmounted here, too: a copy
	// of a mount would keep its device busy for as long as the program runs.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	err := unix.Mount("plimsoll", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("a /dev/shm of its own: %w", err)
	}
	return nil
}

// keepHandles keeps the handles that programs of the caller inherit, such as those of held
// directories, from a program of another user, until they are restored. The caller holds inheritance.
func keepHandles() (restore func()) {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return func() {}
	}
	var open []int
	for _, name := range names {
		fd, err := strconv.Atoi(name.Name())
		if err != nil || fd < 3 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			open = append(open, fd)
			unix.CloseOnExec(fd)
		}
	}
	return func() {
		for _, fd := range open {
			_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0)
		}
	}
}

// Ended is closed when the child has ended.
func (s *Started) Ended() <-chan struct{} { return s.ended }

// Err is how the child ended: nil, or *Failed. It is asked after Ended.
func (s *Started) Err() error { return s.err }

// Stderr is the end of what the child has printed there so far.
func (s *Started) Stderr() string { return s.errs.String() }

// Signal sends a signal to the child alone. It may have ended.
func (s *Started) Signal(sig syscall.Signal) {
	select {
	case <-s.ended:
	default:
		_ = syscall.Kill(s.PID, sig)
	}
}

// Kill ends the child and its process group.
func (s *Started) Kill() { _ = syscall.Kill(-s.PID, syscall.SIGKILL) }

// Run starts the child and waits for it, for the limit at most. When ctx ends it is interrupted,
// and killed after Grace; one that sleeps in the kernel is given up after another, and *Alive is in
// the error's chain. It returns the CPU time that the child used.
func (c Child) Run(ctx context.Context, limit time.Duration) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	for _, out := range []*io.Writer{&c.Out, &c.Err} {
		if _, file := (*out).(*os.File); *out == nil || file {
			continue
		}
		g := &gate{w: *out}
		defer g.shut()
		*out = g
	}
	s, err := c.Start()
	if err != nil {
		return 0, err
	}
	return s.attend(ctx, c.Argv, limit, Grace)
}

// attend waits for the child's end and stops it when it is time.
func (s *Started) attend(ctx context.Context, argv []string, limit, grace time.Duration) (time.Duration, error) {
	late, done := time.After(limit), ctx.Done()
	var hard, gone <-chan time.Time
	var over error
	for {
		select {
		case <-s.ended:
			s.Kill() // what it left in its group
			return s.CPU, errors.Join(over, s.err)
		case <-done:
			done, over, hard = nil, ctx.Err(), time.After(grace)
			s.Signal(syscall.SIGINT)
		case <-late:
			over, hard = &Late{Argv: argv, After: limit}, time.After(grace)
			s.Signal(syscall.SIGINT)
		case <-hard:
			s.Kill()
			hard, gone = nil, time.After(grace)
		case <-gone:
			name := filepath.Base(argv[0])
			alive := &Alive{Program: name, processes: []process{{pid: s.PID, start: s.Start}}}
			return 0, errors.Join(over, fmt.Errorf("%s does not end after SIGKILL: %w", name, alive))
		}
	}
}

// Output runs the child and returns what it printed, OutputLimit at most.
func (c Child) Output(ctx context.Context, limit time.Duration) (string, error) {
	out := &Capped{Limit: OutputLimit}
	c.Out = out
	_, err := c.Run(ctx, limit)
	if out.over {
		err = fmt.Errorf("%s: %w", filepath.Base(c.Argv[0]), errFlood)
	}
	return out.buf.String(), err
}

// ExeOf is the file of the program that a process runs.
func ExeOf(pid int) (string, error) { return os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) }

// StartOf is when a process was started, as Lives and Stop want it; false where there is none.
func StartOf(pid int) (start uint64, ok bool) {
	p, err := readProcess(pid)
	return p.start, err == nil
}

// Lives says whether the process that was started at that tick still lives.
func Lives(pid int, start uint64) bool { return process{pid: pid, start: start}.lives() }

// Stop sends a signal to a process if it is still the one that was started at that tick, and waits
// for its end.
func Stop(pid int, start uint64, sig syscall.Signal, limit time.Duration) bool {
	p := process{pid: pid, start: start}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return !p.lives()
	}
	defer unix.Close(fd) //nolint:errcheck // only a handle
	if !p.lives() {
		return true
	}
	_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	for deadline := time.Now().Add(limit); p.lives() && time.Now().Before(deadline); {
		p.await(50 * time.Millisecond)
	}
	return !p.lives()
}

// Descendants are a process and all that descend from it, by their numbers.
func Descendants(pid int) []int {
	children := map[int][]int{}
	for _, p := range processes() {
		children[p.parent] = append(children[p.parent], p.pid)
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

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
