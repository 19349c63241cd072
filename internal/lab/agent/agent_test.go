package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/sys/bounded"
)

// pair is a client and an agent on this machine, over a unix socket instead of a virtio port.
func pair(t *testing.T) *Client {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") //nolint:usetesting // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	guest, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	host, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = Serve(context.Background(), guest)
		close(ended)
	}()
	c := NewClient(host)
	t.Cleanup(func() {
		_ = c.Close()
		<-ended
		_ = os.RemoveAll(dir)
	})
	return c
}

func TestExec(t *testing.T) {
	c := pair(t)
	var out, errs bytes.Buffer
	r, err := c.Call(t.Context(), Request{Op: OpExec, Argv: []string{"sh", "-c", "cat; echo $X $PWD; echo no >&2; exit 3"}, Dir: "/usr", Env: []string{"X=1"}},
		Streams{In: strings.NewReader("fed\n"), Out: &out, Err: &errs})
	if err != nil || r.Code != 3 || out.String() != "fed\n1 /usr\n" || errs.String() != "no\n" {
		t.Errorf("%+v, %v, out %q, err %q", r, err, &out, &errs)
	}
	if _, err := c.Call(t.Context(), Request{Op: OpExec, Argv: []string{"/no/such"}}, Streams{}); err == nil || !strings.Contains(err.Error(), "/no/such") {
		t.Errorf("a program that is not there: %v", err)
	}
	for _, req := range []Request{{Op: OpExec}, {Op: "dance"}, {Op: OpProbe, Path: "/no/such"}} {
		if _, err := c.Call(t.Context(), req, Streams{}); err == nil {
			t.Errorf("%+v: no error", req)
		}
	}
	if r, err := c.Call(t.Context(), Request{Op: OpExec, Argv: []string{"sh", "-c", "kill -9 $$"}}, Streams{}); err != nil || r.Code != 137 {
		t.Errorf("killed: %+v, %v, want 137", r, err)
	}
	// A daemon that keeps the output open does not keep the call.
	begin := time.Now()
	var daemon bytes.Buffer
	run := Request{Op: OpExec, Argv: []string{"sh", "-c", "sleep 300 & echo $!"}}
	if r, err := c.Call(t.Context(), run, Streams{Out: &daemon}); err != nil || r.Code != 0 || time.Since(begin) > 2*time.Minute {
		t.Errorf("with a daemon: %+v, %v after %v", r, err, time.Since(begin))
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(daemon.String())); err != nil || pid < 2 {
		t.Errorf("the daemon's number: %q", daemon.String())
	} else if daemon, err := os.FindProcess(pid); err == nil {
		_ = daemon.Kill()
	}
}

// Each of ten calls ends once all ten have begun.
func TestCallsRunAtTheSameTime(t *testing.T) {
	c := pair(t)
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			var out bytes.Buffer
			r, err := c.Call(t.Context(), Request{Op: OpExec, Dir: dir, Argv: []string{"sh", "-c", fmt.Sprintf(
				"touch %[1]d; until [ $(ls | wc -l) = 10 ]; do sleep 0.05; done; head -c 100000 /dev/zero | tr '\\0' %[1]d", i)}}, Streams{Out: &out})
			if err != nil || r.Code != 0 || out.String() != strings.Repeat(fmt.Sprint(i), 100000) {
				t.Errorf("call %d: %+v, %v, %d bytes", i, r, err, out.Len())
			}
		})
	}
	all.Wait()
}

func TestCancelInterrupts(t *testing.T) {
	c := pair(t)
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	time.AfterFunc(300*time.Millisecond, cancel)
	r, err := c.Call(ctx, Request{Op: OpExec, Argv: []string{"sh", "-c", "trap 'echo last words; exit 5' INT; while :; do sleep 0.05; done"}}, Streams{Out: &out})
	if !errors.Is(err, context.Canceled) || r.Code != 5 || out.String() != "last words\n" {
		t.Errorf("%+v, %v, out %q", r, err, &out)
	}
}

func TestLargeStreams(t *testing.T) {
	c := pair(t)
	want := bytes.Repeat([]byte("0123456789abcdef"), 50000)
	var out bytes.Buffer
	r, err := c.Call(t.Context(), Request{Op: OpExec, Argv: []string{"cat"}}, Streams{In: bytes.NewReader(want), Out: &out})
	if err != nil || r.Code != 0 || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("got %d bytes, %+v, %v", out.Len(), r, err)
	}
}

func TestTerminal(t *testing.T) {
	c := pair(t)
	var out bytes.Buffer
	r, err := c.Call(t.Context(), Request{Op: OpExec, TTY: true, Argv: []string{"sh", "-c", "read line; tty; echo got $line; exit 4"}},
		Streams{In: strings.NewReader("typed\n"), Out: &out})
	if err != nil || r.Code != 4 || !strings.Contains(out.String(), "/dev/pts/") || !strings.Contains(out.String(), "got typed\r\n") {
		t.Errorf("%+v, %v, out %q", r, err, &out)
	}
}

func TestGone(t *testing.T) {
	c := pair(t)
	time.AfterFunc(100*time.Millisecond, func() { _ = c.Close() })
	if _, err := c.Call(t.Context(), Request{Op: OpExec, Argv: []string{"sleep", "10"}}, Streams{}); !errors.Is(err, ErrGone) {
		t.Errorf("%v, want ErrGone", err)
	}
}

// FuzzServe: no stream of bytes makes the agent panic. Programs that a fuzzer might write down do
// not exist here.
func FuzzServe(f *testing.F) {
	frames := &bytes.Buffer{}
	w := &frameWriter{w: frames}
	_ = w.frame(kindCall, 1, []byte(`{"op":"probe","path":"/no/such"}`))
	_ = w.frame(kindInput, 1, []byte("x"))
	_ = w.frame(kindSignal, 2, []byte{2})
	f.Add(frames.Bytes())
	bounded.Fuzz(f, func(t *testing.T, b []byte) {
		if bytes.Contains(b, []byte("exec")) || bytes.Contains(b, []byte("settime")) {
			return
		}
		var out bytes.Buffer
		err := Serve(t.Context(), struct {
			*bytes.Reader
			*lockedBuffer
		}{bytes.NewReader(b), &lockedBuffer{b: &out}})
		if err == nil {
			t.Error("the stream ended without an error")
		}
	})
}

type lockedBuffer struct {
	mu sync.Mutex
	b  *bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// A guest that shuts down does not wait for its agent, whose read nothing interrupts.
func TestServeEndsWithItsContext(t *testing.T) {
	guest, host := net.Pipe()
	defer func() { _ = guest.Close(); _ = host.Close() }() // nothing was sent
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, guest) }()
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the agent serves on")
	}
}
