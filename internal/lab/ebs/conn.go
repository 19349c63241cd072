package ebs

import (
	"bufio"
	"io"
	"net"
	"sync"
)

// maxInFlight is how many requests of one connection may wait for their answer; QEMU 7.2 sends at
// most 16.
const maxInFlight = 256

type reply struct {
	handle uint64
	code   uint32
	data   []byte
}

// conn is the transmission phase of one connection: a reader that starts requests, and a writer
// that sends answers in the order in which they fall due.
type conn struct {
	v     *Volume
	out   chan reply    // holds maxInFlight, so that whoever completes a request never blocks
	slots chan struct{} // a place for each request in flight
	gone  chan struct{} // closed when the reader has ended
	dead  chan struct{} // closed when the writer has ended
}

func serve(nc net.Conn, r *bufio.Reader, v *Volume) {
	c := &conn{
		v: v, out: make(chan reply, maxInFlight), slots: make(chan struct{}, maxInFlight),
		gone: make(chan struct{}), dead: make(chan struct{}),
	}
	var writer sync.WaitGroup
	writer.Go(func() { c.write(nc) })
	defer writer.Wait()
	defer close(c.gone)
	var head [requestSize]byte
	for {
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		req, err := parseRequest(&head)
		if err != nil || req.kind == cmdDisconnect {
			return
		}
		var payload []byte
		if req.kind == cmdWrite {
			payload = buffer(req.n)
			if _, err := io.ReadFull(r, payload); err != nil {
				return
			}
		}
		select {
		case c.slots <- struct{}{}:
		case <-c.dead:
			return
		case <-v.srv.stop:
			return
		}
		c.start(req, payload)
	}
}

// start carries out a request and sees to its answer.
func (c *conn) start(req request, payload []byte) {
	v := c.v
	v.enter()
	rep := reply{handle: req.handle, code: req.check(v.size)}
	due := v.srv.sleeper.now()
	var err error
	switch {
	case rep.code != nbdOK:
	case (req.kind == cmdRead || req.kind == cmdWrite) && v.injected():
		rep.code = nbdEIO
	case req.kind == cmdRead:
		due = v.account(false, req.off, req.n, req.n)
		rep.data = buffer(req.n)
		err = v.read(rep.data, req.off)
	case req.kind == cmdWrite:
		due = v.account(true, req.off, req.n, req.n)
		var kept bool
		if kept, err = v.write(payload, req.off, req.flags&flagFUA != 0); kept {
			payload = nil
		}
	case req.kind == cmdFlush:
		due, err = v.flush()
	case req.kind == cmdWriteZeroes:
		due = v.account(true, req.off, req.n, 0) // zeroes are written without being sent
		err = v.zero(req.off, req.n, false)
	default:
		err = v.zero(req.off, req.n, true)
	}
	recycle(payload)
	if err != nil {
		rep.code, rep.data = nbdEIO, nil
	}
	v.srv.sleeper.at(due, func() {
		v.leave(rep.code != nbdOK, func() { c.out <- rep })
	})
}

// write sends answers until the connection ends.
func (c *conn) write(nc net.Conn) {
	defer close(c.dead)
	var head [16]byte
	for {
		select {
		case <-c.gone:
			return
		case rep := <-c.out:
			be.PutUint32(head[:], magicReply)
			be.PutUint32(head[4:], rep.code)
			be.PutUint64(head[8:], rep.handle)
			bufs := net.Buffers{head[:], rep.data}
			if _, err := bufs.WriteTo(nc); err != nil {
				_ = nc.Close() // the reader then ends, too
				return
			}
			recycle(rep.data)
			<-c.slots
		}
	}
}

// Buffers come in two sizes: those of small I/Os, and those of the largest that QEMU's nvme
// (mdts=6) sends.
const (
	smallBuffer = 16 << 10
	largeBuffer = 256 << 10
)

var smallBuffers, largeBuffers sync.Pool

func buffer(n int64) []byte {
	pool, size := &smallBuffers, int64(smallBuffer)
	if n > smallBuffer {
		pool, size = &largeBuffers, largeBuffer
	}
	if n > largeBuffer {
		return make([]byte, n)
	}
	if b, ok := pool.Get().(*[]byte); ok {
		return (*b)[:n]
	}
	return make([]byte, n, size)
}

func recycle(b []byte) {
	switch cap(b) {
	case smallBuffer:
		smallBuffers.Put(&b)
	case largeBuffer:
		largeBuffers.Put(&b)
	}
}
