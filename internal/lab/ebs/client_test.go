package ebs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/units"
)

// client is a small NBD client: what it sees is what QEMU would.
type client struct {
	t    *testing.T
	c    net.Conn
	r    *bufio.Reader
	size int64

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan<- answered
	reads   map[uint64]int64
}

type answered struct {
	code uint32
	data []byte
}

func listen(t *testing.T) (*Server, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "ebs") //nolint:usetesting // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, err := Listen(filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "s")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
	})
	return s, dir
}

func volume(t *testing.T, s *Server, dir, name string, size units.Bytes, in *Instance, b Behaviour) *Volume {
	t.Helper()
	v, err := s.Add(name, filepath.Join(dir, name), size, in, b)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// dial opens an export with NBD_OPT_GO.
func dial(t *testing.T, dir, name string) *client {
	t.Helper()
	nc, err := net.Dial("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	c := &client{t: t, c: nc, r: bufio.NewReader(nc), waiting: map[uint64]chan<- answered{}, reads: map[uint64]int64{}}
	hello := make([]byte, 18)
	if _, err := io.ReadFull(c.r, hello); err != nil || string(hello[:16]) != greeting {
		t.Fatalf("greeting %q: %v", hello, err)
	}
	c.send(be.AppendUint32(nil, flagFixed))
	c.option(optGo, append(append(be.AppendUint32(nil, uint32(len(name))), name...), 0, 0))
	for {
		kind, body := c.optionReply()
		switch {
		case kind == repInfo && be.Uint16(body) == infoExport:
			c.size = int64(be.Uint64(body[2:]))
		case kind == repInfo:
		case kind == repAck:
			go c.receive()
			return c
		default:
			t.Fatalf("option go: reply %#x %q", kind, body)
		}
	}
}

func (c *client) send(b []byte) {
	if _, err := c.c.Write(b); err != nil {
		c.t.Error(err)
	}
}

func (c *client) option(kind uint32, data []byte) {
	b := append([]byte("IHAVEOPT"), be.AppendUint32(be.AppendUint32(nil, kind), uint32(len(data)))...)
	c.send(append(b, data...))
}

func (c *client) optionReply() (uint32, []byte) {
	head := make([]byte, 20)
	if _, err := io.ReadFull(c.r, head); err != nil || be.Uint64(head) != magicOption {
		c.t.Fatalf("option reply %x: %v", head, err)
	}
	body := make([]byte, be.Uint32(head[16:]))
	if _, err := io.ReadFull(c.r, body); err != nil {
		c.t.Fatal(err)
	}
	return be.Uint32(head[12:]), body
}

// start sends a request; its answer comes on the channel.
func (c *client) start(kind, flags uint16, off, n int64, data []byte) <-chan answered {
	ch := make(chan answered, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next++
	c.waiting[c.next] = ch
	if kind == cmdRead {
		c.reads[c.next] = n
	}
	b := be.AppendUint32(nil, magicRequest)
	b = be.AppendUint16(be.AppendUint16(b, flags), kind)
	b = be.AppendUint64(be.AppendUint64(b, c.next), uint64(off))
	c.send(append(be.AppendUint32(b, uint32(n)), data...))
	return ch
}

func (c *client) receive() {
	for {
		head := make([]byte, 16)
		if _, err := io.ReadFull(c.r, head); err != nil {
			return
		}
		a := answered{code: be.Uint32(head[4:])}
		h := be.Uint64(head[8:])
		c.mu.Lock()
		n, ch := c.reads[h], c.waiting[h]
		delete(c.waiting, h)
		delete(c.reads, h)
		c.mu.Unlock()
		if a.code == nbdOK && n > 0 {
			a.data = make([]byte, n)
			if _, err := io.ReadFull(c.r, a.data); err != nil {
				return
			}
		}
		ch <- a
	}
}

func (c *client) do(kind, flags uint16, off, n int64, data []byte) answered {
	c.t.Helper()
	select {
	case a := <-c.start(kind, flags, off, n, data):
		return a
	case <-time.After(10 * time.Second):
		c.t.Fatalf("request %d at %d: no answer in 10 s", kind, off)
	}
	panic("not reached")
}

func (c *client) write(off int64, data []byte, flags uint16) {
	c.t.Helper()
	if a := c.do(cmdWrite, flags, off, int64(len(data)), data); a.code != nbdOK {
		c.t.Fatalf("write at %d: error %d", off, a.code)
	}
}

func (c *client) read(off, n int64) []byte {
	c.t.Helper()
	a := c.do(cmdRead, 0, off, n, nil)
	if a.code != nbdOK {
		c.t.Fatalf("read at %d: error %d", off, a.code)
	}
	return a.data
}

// load keeps depth requests of n bytes in flight for as long as d after a warm-up, and returns the
// rate.
func load(c *client, kind uint16, n int64, depth int, warm, d time.Duration, sequential bool) (perSecond float64) {
	var data []byte
	if kind == cmdWrite {
		data = make([]byte, n)
	}
	var mu sync.Mutex
	var at int64
	blocks := c.size / n
	begin := time.Now()
	count := 0
	var all sync.WaitGroup
	for range depth {
		all.Go(func() {
			for {
				mu.Lock()
				off := at % blocks * n
				if at++; !sequential {
					at = (at*6364136223846793005 + 1442695040888963407) & (1<<40 - 1)
				}
				mu.Unlock()
				<-c.start(kind, 0, off, n, data)
				since := time.Since(begin)
				if since > warm+d {
					return
				}
				mu.Lock()
				if since > warm {
					count++
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return float64(count) / d.Seconds()
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	t.Logf("%s: %.4g, want %.4g (%+.1f %%)", what, got, want, 100*(got/want-1))
	if got < want*(1-tolerance) || got > want*(1+tolerance) {
		t.Errorf("%s: %.4g, want %.4g within %g %%", what, got, want, 100*tolerance)
	}
}

// held measures a rate that is limited to want: within 3 % in one of five tries, since other
// programs run on this host and the seconds of several clients are not quite the same (+4.2 % was
// seen once, of 600 in four).
func held(t *testing.T, want float64, measure func() float64) {
	t.Helper()
	best := measure()
	for range 4 {
		if math.Abs(best/want-1) < 0.03 {
			break
		}
		if got := measure(); math.Abs(got-want) < math.Abs(best-want) {
			best = got
		}
	}
	near(t, "requests/s", best, want, 0.03)
}

func ExampleLimits_Scaled() {
	fmt.Println(Limits{IOPS: 3000, Throughput: 125 * units.MiBPerSec}.Scaled(0.1).IOPS)
	// Output: 300
}
