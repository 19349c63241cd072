package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/sys"
)

// Serve carries out calls that come through the port until ctx ends or the stream breaks.
func Serve(ctx context.Context, port io.ReadWriter) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // a host that is gone leaves no programs behind
	s := &server{w: &frameWriter{w: port}, calls: map[uint32]*call{}}
	broken := make(chan error, 1)
	go func() {
		f, err := readFrame(port)
		for ; err == nil; f, err = readFrame(port) {
			s.frame(ctx, f)
		}
		broken <- err
	}()
	select {
	case err := <-broken:
		return err
	case <-ctx.Done(): // a read of the port ends with the program only, which a shutdown would otherwise wait for, 90 s
		return ctx.Err()
	}
}

type server struct {
	w     *frameWriter
	mu    sync.Mutex
	calls map[uint32]*call
}

type call struct {
	id      uint32
	in      *queue
	signals chan syscall.Signal
}

func (s *server) frame(ctx context.Context, f frame) {
	s.mu.Lock()
	c := s.calls[f.call]
	s.mu.Unlock()
	if f.kind == kindCall {
		var req Request
		if err := json.Unmarshal(f.body, &req); err != nil {
			s.done(f.call, Reply{Error: err.Error()})
			return
		}
		c = &call{f.call, newQueue(), make(chan syscall.Signal, 4)}
		s.mu.Lock()
		s.calls[f.call] = c
		s.mu.Unlock()
		go s.carryOut(ctx, c, req)
		return
	}
	if c == nil {
		return // it has ended
	}
	switch {
	case f.kind == kindInput:
		c.in.put(f.body)
	case f.kind == kindEnd:
		c.in.end()
	case f.kind == kindSignal && len(f.body) == 1:
		select {
		case c.signals <- syscall.Signal(f.body[0]):
		default: // so many wait already that one more changes nothing
		}
	}
}

func (s *server) carryOut(ctx context.Context, c *call, req Request) {
	var r Reply
	var err error
	switch req.Op {
	case OpExec:
		r.Code, err = s.exec(ctx, c, req)
	case OpSetTime:
		tv := unix.NsecToTimeval(req.Time.UnixNano())
		err = unix.Settimeofday(&tv)
	case OpProbe:
		r.Wall, err = probe(req.Path)
	default:
		err = fmt.Errorf("agent: unknown operation %q", req.Op)
	}
	if err != nil {
		r.Error = err.Error()
	}
	s.done(c.id, r)
}

func (s *server) done(id uint32, r Reply) {
	s.mu.Lock()
	if c := s.calls[id]; c != nil {
		c.in.end()
		delete(s.calls, id)
	}
	s.mu.Unlock()
	body, err := json.Marshal(r)
	if err == nil {
		_ = s.w.frame(kindDone, id, body) // when the stream is broken, reading ends the server
	}
}

func (s *server) exec(ctx context.Context, c *call, req Request) (int, error) {
	if len(req.Argv) == 0 {
		return -1, fmt.Errorf("agent: no program given")
	}
	out := stream{s.w, kindOut, c.id}
	p := sys.Process{
		Argv: req.Argv, Dir: req.Dir, Env: req.Env, In: c.in, Out: out,
		Err: stream{s.w, kindErr, c.id}, Signals: c.signals, Anybodys: true,
	}
	if !req.TTY {
		return p.Run(ctx)
	}
	master, slave, err := openTerminal()
	if err != nil {
		return -1, err
	}
	p.TTY = slave
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(out, master) }) // ends with EIO when the last holder of the terminal ends
	go func() { _, _ = io.Copy(master, c.in) }()
	code, err := p.Run(ctx)
	_ = slave.Close() // ours; the programs' are gone or a daemon's
	wait, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	go func() { reading.Wait(); stop() }()
	<-wait.Done()
	return code, cmp.Or(err, master.Close())
}

// openTerminal makes a pseudo-terminal.
func openTerminal() (master, slave *os.File, err error) {
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(m.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(m.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = m.Close() // the first error says more
		return nil, nil, fmt.Errorf("terminal: %w", err)
	}
	return m, slave, nil
}

// probe returns what a direct 4 KiB read of a device takes: the mean of the quickest of some rows of
// them, one read after the other. Whatever else happens on the host only adds to the others.
func probe(path string) (time.Duration, error) {
	const rows, reads = 4, 100
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	page, err := unix.Mmap(
		-1,
		0,
		4096,
		unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE,
	) // aligned, as O_DIRECT wants
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Munmap(page) }() // the process's end would do it, too
	var least time.Duration
	for row := range rows {
		begin := time.Now()
		for i := range reads {
			if _, err := unix.Pread(fd, page, int64(row*reads+i)*4096); err != nil {
				return 0, fmt.Errorf("%s: %w", path, err)
			}
		}
		if mean := time.Since(begin) / reads; row == 0 || mean < least {
			least = mean
		}
	}
	return least, nil
}

// queue is a pipe without a bound: one program that does not read its input must not hold up the
// other calls.
type queue struct {
	mu    sync.Mutex
	more  *sync.Cond
	buf   bytes.Buffer
	ended bool
}

func newQueue() *queue {
	q := &queue{}
	q.more = sync.NewCond(&q.mu)
	return q
}

func (q *queue) put(p []byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ended {
		q.buf.Write(p)
		q.more.Broadcast()
	}
}

func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.more.Broadcast()
}

func (q *queue) Read(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.buf.Len() == 0 && !q.ended {
		q.more.Wait()
	}
	return q.buf.Read(p) // io.EOF when it is empty
}
