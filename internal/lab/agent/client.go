package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"plimsoll/internal/sys"
)

// ErrGone is the error of calls to a guest that is no more.
var ErrGone = errors.New("the lab guest is gone")

// Client is the host's end. Its methods may be called at the same time.
type Client struct {
	conn io.ReadWriteCloser
	w    *frameWriter
	gone chan struct{}

	mu    sync.Mutex
	next  uint32
	calls map[uint32]*pending
}

type pending struct {
	out, err io.Writer
	done     chan Reply
}

// NewClient speaks to an agent over the stream, which it owns from now on.
func NewClient(conn io.ReadWriteCloser) *Client {
	c := &Client{conn: conn, w: &frameWriter{w: conn}, gone: make(chan struct{}), calls: map[uint32]*pending{}}
	go c.receive()
	return c
}

// Close ends the stream; calls in progress fail with ErrGone.
func (c *Client) Close() error { return c.conn.Close() }

func (c *Client) receive() {
	defer close(c.gone)
	r := bufio.NewReaderSize(c.conn, 256<<10)
	for {
		f, err := readFrame(r)
		if err != nil {
			return
		}
		c.mu.Lock()
		p := c.calls[f.call]
		c.mu.Unlock()
		if p == nil {
			continue // given up
		}
		switch f.kind {
		case kindOut:
			_, _ = p.out.Write(f.body) // a reader who has left does not stop the program
		case kindErr:
			_, _ = p.err.Write(f.body)
		case kindDone:
			var reply Reply
			if err := json.Unmarshal(f.body, &reply); err != nil {
				reply.Error = err.Error()
			}
			p.done <- reply
		default:
		}
	}
}

// Streams are a call's. A nil stream is empty, or thrown away.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Call carries out a request in the guest and waits for it. When ctx ends, the program is sent
// SIGINT, and SIGKILL after sys.Grace. A failure to carry it out is an error; a program's exit
// status other than 0 is not.
func (c *Client) Call(ctx context.Context, req Request, s Streams) (Reply, error) {
	p := &pending{out: io.Discard, err: io.Discard, done: make(chan Reply, 1)}
	if s.Out != nil {
		p.out = s.Out
	}
	if s.Err != nil {
		p.err = s.Err
	}
	c.mu.Lock()
	c.next++
	id := c.next
	c.calls[id] = p
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, id)
		c.mu.Unlock()
	}()

	body, err := json.Marshal(req)
	if err != nil {
		return Reply{}, err
	}
	if len(body) > maxBody {
		return Reply{}, fmt.Errorf("lab guest: a request of %d bytes, at most %d: put a script into a file first", len(body),
			maxBody)
	}
	if err := c.w.frame(kindCall, id, body); err != nil {
		return Reply{}, fmt.Errorf("%w: %w", ErrGone, err)
	}
	go func() {
		if s.In != nil {
			_, _ = io.Copy(stream{c.w, kindInput, id}, s.In) // the call fails by itself when the guest is gone
		}
		_ = c.w.frame(kindEnd, id, nil)
	}()
	return c.await(ctx, id, p, req)
}

func (c *Client) await(ctx context.Context, id uint32, p *pending, req Request) (Reply, error) {
	cancelled := ctx.Done()
	var impatient <-chan time.Time
	sent := syscall.SIGINT
	for {
		select {
		case r := <-p.done:
			switch {
			case ctx.Err() != nil:
				return r, ctx.Err()
			case r.Error != "":
				return r, fmt.Errorf("lab guest: %s", r.Error)
			}
			return r, nil
		case <-c.gone:
			return Reply{}, ErrGone
		case <-cancelled:
			cancelled = nil
			if req.Op != OpExec {
				return Reply{}, ctx.Err()
			}
			_ = c.w.frame(kindSignal, id, []byte{byte(sent)})
			impatient = time.After(sys.Grace)
		case <-impatient:
			if sent == syscall.SIGKILL { // not even that: it hangs in the kernel
				return Reply{}, ctx.Err()
			}
			sent = syscall.SIGKILL
			_ = c.w.frame(kindSignal, id, []byte{byte(sent)})
			impatient = time.After(time.Second)
		}
	}
}
