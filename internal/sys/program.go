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
	"strings"
	"sync"
	"syscall"
	"time"

	"plimsoll/internal/text"
)

const (
	// Grace is how long an interrupted program may take to finish before it is killed.
	Grace = 10 * time.Second
	// Patience is how long a program may be silent before the user is shown what plimsoll waits
	// for.
	Patience = 5 * time.Second
	// QueryLimit is how long a program that only prints something may take, such as fio --version.
	QueryLimit = time.Minute
	// ChangeLimit is how long any other program may take, such as mkfs, mount or mdadm, unless
	// WithLimit gives another limit.
	ChangeLimit = 30 * time.Minute
	// NoLimit is for programs that run until they are stopped, such as QEMU.
	NoLimit = time.Duration(1<<63 - 1)
	// afterKill is how long a killed program may take to disappear. One that takes longer sleeps in
	// the kernel.
	afterKill = 3 * time.Second
)

type (
	killKey   struct{}
	limitKey  struct{}
	noticeKey struct{}
	familyKey struct{}
	dirKey    struct{}
)

// WithKill returns a context whose programs are killed at once, instead of being given Grace, when
// kill ends. The first Ctrl-C ends the context, the second ends kill.
func WithKill(ctx, kill context.Context) context.Context {
	return context.WithValue(ctx, killKey{}, kill)
}

// WithLimit returns a context whose programs may take the time limit each. Past it a program is
// interrupted, killed after Grace, and given up when even that does not end it; Run then returns
// *Late.
func WithLimit(ctx context.Context, limit time.Duration) context.Context {
	return context.WithValue(ctx, limitKey{}, limit)
}

// WithNotice returns a context in which notice is called, once for each program, with what plimsoll
// waits for when that takes longer than Patience. With nil there is no notice, for a program whose
// progress is shown.
func WithNotice(ctx context.Context, notice func(text string)) context.Context {
	return context.WithValue(ctx, noticeKey{}, notice)
}

// WithFamily returns a context in which everything that a program has started ends with it, also
// what left its process group and its session, as fio's jobs do.
func WithFamily(ctx context.Context) context.Context {
	return context.WithValue(ctx, familyKey{}, true)
}

// Late is a program that did not end within its limit.
type Late struct {
	Argv  []string
	After time.Duration
	// Alive is the program when it did not end even when it was killed; nil when it did.
	Alive *Alive
}

func (l *Late) Error() string {
	said := fmt.Sprintf("%s did not end within %s", filepath.Base(l.Argv[0]), text.Duration(l.After.Round(time.Second/10)))
	if l.Alive != nil {
		said += "; " + l.Alive.Error()
	}
	return said
}

func (l *Late) Unwrap() error {
	if l.Alive == nil {
		return nil
	}
	return l.Alive
}

// WithDir returns a context whose programs run in a directory, and not in the caller's.
func WithDir(ctx context.Context, dir string) context.Context {
	return context.WithValue(ctx, dirKey{}, dir)
}

// program is one that runs.
type program struct {
	argv   []string
	cmd    *exec.Cmd
	family *family // nil when only the program itself is looked after
	kill   <-chan struct{}
	notice func(string)
	limit  time.Duration
	out    *gate
	errs   Tail
}

func run(ctx context.Context, stdout io.Writer, argv ...string) error {
	p := &program{argv: argv, out: &gate{w: stdout}, limit: ChangeLimit}
	if d, ok := ctx.Value(limitKey{}).(time.Duration); ok {
		p.limit = d
	}
	if kill, ok := ctx.Value(killKey{}).(context.Context); ok {
		p.kill = kill.Done()
	}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	if p.cmd.Err == nil {
		if err := CheckProgram(p.cmd.Path, uint32(os.Geteuid())); err != nil {
			return err
		}
	}
	p.cmd.Dir, _ = ctx.Value(dirKey{}).(string)
	p.cmd.Env = append(os.Environ(), "LC_ALL=C") // mdadm and lvm translate their messages
	if ctx.Value(familyKey{}) != nil {
		f, err := newFamily(argv[0])
		if err != nil {
			return err
		}
		p.family = f
		if w, ok := ctx.Value(workKey{}).(*Work); ok {
			w.family.Store(f)
		}
		p.cmd.Env = append(p.cmd.Env, f.mark())
	}
	p.notice, _ = ctx.Value(noticeKey{}).(func(string))
	// A group of its own: a Ctrl-C of the terminal reaches plimsoll only, which then stops the
	// program in its own way.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGINT}
	return p.run(ctx)
}

// run starts the program and attends to it until it has ended or is given up.
func (p *program) run(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", p.argv[0], err)
	}
	outputs, err := p.connect()
	if err != nil {
		return fmt.Errorf("%s: %w", p.argv[0], err)
	}
	started, ended := make(chan error, 1), make(chan error, 1)
	go func() {
		// Pdeathsig follows the thread that started the program, so that thread must live as long.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := start(p.cmd)
		started <- err
		if err == nil {
			ended <- p.cmd.Wait()
		}
	}()
	err = <-started
	outputs.started()
	if err != nil {
		outputs.cut()
		return fmt.Errorf("%s: %w", p.argv[0], err)
	}
	stopped, waitErr := p.attend(ctx, ended)
	if late, ok := errors.AsType[*Late](waitErr); ok && late.Alive != nil {
		p.out.shut()
		outputs.cut()
		return waitErr
	}
	// Whatever ended it, nothing that it started may go on writing.
	var left error
	if p.family != nil {
		left = p.family.end()
	} else if waitErr != nil || stopped {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // ESRCH is the usual answer
	}
	outErr := outputs.drain(p.kill)
	p.out.shut()
	return errors.Join(p.verdict(ctx, waitErr, stopped, outErr), left)
}

// attend waits for the program's end and stops it when it is time: kindly when ctx ends or its
// limit is over, hard after Grace or when kill ends.
func (p *program) attend(ctx context.Context, ended <-chan error) (stopped bool, err error) {
	notice, limit := time.NewTimer(Patience), time.NewTimer(p.limit)
	defer notice.Stop()
	defer limit.Stop()
	done, kill := ctx.Done(), p.kill
	var hard, gone <-chan time.Time
	var late *Late
	for {
		select {
		case err := <-ended:
			if late != nil {
				return true, late
			}
			return stopped, err
		case <-notice.C:
			if p.notice != nil {
				p.notice("waiting for " + p.name())
			}
			continue
		case <-limit.C:
			late = &Late{Argv: p.argv, After: p.limit}
			done = nil
			_ = p.cmd.Process.Signal(os.Interrupt) // it may have ended
			hard = time.After(Grace)
		case <-done:
			done = nil
			_ = p.cmd.Process.Signal(os.Interrupt) // fio then writes its last document
			hard = time.After(Grace)
		case <-hard:
			p.killAll()
			hard, gone = nil, time.After(afterKill)
		case <-kill:
			p.killAll()
			kill, gone = nil, time.After(afterKill)
		case <-gone:
			if late == nil {
				late = &Late{Argv: p.argv, After: afterKill}
			}
			self, _ := readProcess(p.cmd.Process.Pid)
			late.Alive = &Alive{Program: filepath.Base(p.argv[0]), processes: []process{self}}
			return true, late
		}
		stopped = true
	}
}

// name is the program with its arguments, as much as fits on a line.
func (p *program) name() string {
	words := append([]string{filepath.Base(p.argv[0])}, p.argv[1:]...)
	line := []rune(strings.Join(words, " "))
	if len(line) > 80 {
		line = append(line[:79], '…')
	}
	return string(line)
}

func (p *program) killAll() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if p.family != nil {
		p.family.kill()
	}
}

// verdict makes one error of how the program ended.
func (p *program) verdict(ctx context.Context, waitErr error, stopped bool, outErr error) error {
	if failed, ok := errors.AsType[*Failed](failure(p.argv, waitErr, p.errs.String())); ok {
		if failed.pipe() && outErr != nil { // nobody took what it printed
			return fmt.Errorf("%s: %w", p.argv[0], outErr)
		}
		return failed
	}
	if waitErr == nil && stopped && ctx.Err() != nil {
		waitErr = ctx.Err()
	}
	if waitErr == nil {
		waitErr = outErr
	}
	if _, late := errors.AsType[*Late](waitErr); waitErr == nil || late {
		return waitErr
	}
	return fmt.Errorf("%s: %w", p.argv[0], waitErr)
}

// gate passes on what a program prints until it is shut: a program that is given up may print long
// after nobody listens.
type gate struct {
	mu sync.Mutex
	w  io.Writer
}

func (g *gate) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.w == nil {
		return 0, os.ErrClosed
	}
	return g.w.Write(b)
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.w = nil
}

// outputs are the pipes that a program prints to. They are plimsoll's own, so that the program's
// end is seen although something that it left behind still holds them.
type outputs struct {
	readers, writers []*os.File
	copied           chan error // of each reader
}

// connect makes the pipes and begins to copy what comes.
func (p *program) connect() (*outputs, error) {
	o := &outputs{copied: make(chan error, 2)}
	for _, to := range []io.Writer{p.out, &p.errs} {
		r, w, err := os.Pipe()
		if err != nil {
			o.started()
			o.cut()
			return nil, err
		}
		o.readers, o.writers = append(o.readers, r), append(o.writers, w)
		go func() {
			_, err := io.Copy(to, r)
			_ = r.Close() // a program that prints more is ended by SIGPIPE
			if errors.Is(err, os.ErrClosed) {
				err = nil
			}
			o.copied <- err
		}()
	}
	p.cmd.Stdout, p.cmd.Stderr = o.writers[0], o.writers[1]
	return o, nil
}

// started closes the ends that are the program's.
func (o *outputs) started() {
	for _, w := range o.writers {
		_ = w.Close()
	}
}

// cut ends the copying.
func (o *outputs) cut() {
	for _, r := range o.readers {
		_ = r.Close()
	}
}

// errHeld is when a program has ended and what it left behind does not close its output.
var errHeld = errors.New("something that it left behind holds its output")

// drain waits until all that the program printed has been copied, for Grace at most.
func (o *outputs) drain(kill <-chan struct{}) (err error) {
	patience := time.NewTimer(Grace)
	defer patience.Stop()
	for range o.readers {
		select {
		case one := <-o.copied:
			err = errors.Join(err, one)
		case <-patience.C:
			o.cut()
			return errors.Join(err, errHeld)
		case <-kill:
			o.cut()
			return err
		}
	}
	return err
}

// Tail keeps the last 64 KiB written to it: a program that floods stderr must not fill the memory.
type Tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if over := len(t.buf) - 64<<10; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(p), nil
}

func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.buf))
}
