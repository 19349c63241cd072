// Package agent is the lab's arm in the guest and the host's end of it. They speak over one byte
// stream, a virtio-serial port: frames of a 9-byte head (length, kind, call) and a body. Calls run
// at the same time; each has an input stream and two output streams.
//
// In the guest the arm is plimsoll itself, started by the initramfs as "plimsoll lab-agent".
package agent

import (
	"embed"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"
)

// Source is this package's own code: a guest that holds an agent of another source is not used
// again.
//
//go:embed client.go port.go serve.go wire.go
var Source embed.FS

type kind uint8

const (
	kindCall   kind = 'C' // host: a Request as JSON
	kindInput  kind = 'I' // host: input of the call
	kindEnd    kind = 'E' // host: the input ends
	kindSignal kind = 'K' // host: one byte, a signal for the program
	kindOut    kind = 'O' // guest: standard output
	kindErr    kind = 'R' // guest: standard error
	kindDone   kind = 'D' // guest: a Reply as JSON, the last frame of a call
)

// Op is what a request asks for.
type Op string

// The operations: run a program, set the clock, measure how long a small read of a device takes.
const (
	OpExec    Op = "exec"
	OpSetTime Op = "settime"
	OpProbe   Op = "probe"
)

// Request begins a call.
type Request struct {
	Op   Op        `json:"op"`
	Argv []string  `json:"argv,omitempty"` // exec
	Dir  string    `json:"dir,omitempty"`  // exec: working directory
	Env  []string  `json:"env,omitempty"`  // exec: NAME=value, added
	TTY  bool      `json:"tty,omitempty"`  // exec: on a terminal of its own; standard error goes the way of output
	Path string    `json:"path,omitempty"` // probe
	Time time.Time `json:"time,omitzero"`  // settime
}

// Reply ends a call.
type Reply struct {
	Code  int           `json:"code"`            // exec: exit status, 128 + n for signal n
	Error string        `json:"error,omitempty"` // what kept the call from being carried out
	Wall  time.Duration `json:"wall"`            // probe: what one read takes
}

const (
	headSize = 9
	// maxBody keeps one call's data from holding up the others'; larger writes to the port also
	// fail with EAGAIN.
	maxBody = 32 << 10
)

type frame struct {
	kind kind
	call uint32
	body []byte
}

func readFrame(r io.Reader) (frame, error) {
	var head [headSize]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxBody {
		return frame{}, fmt.Errorf("agent: frame of %d bytes, at most %d", n, maxBody)
	}
	f := frame{kind(head[4]), binary.BigEndian.Uint32(head[5:]), make([]byte, n)}
	_, err := io.ReadFull(r, f.body)
	return f, err
}

// frameWriter writes whole frames, one at a time.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *frameWriter) frame(k kind, call uint32, body []byte) error {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, headSize+len(body)), uint32(len(body)))
	b = binary.BigEndian.AppendUint32(append(b, byte(k)), call)
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.w.Write(append(b, body...))
	return err
}

// stream is an io.Writer whose data becomes frames of one call.
type stream struct {
	w    *frameWriter
	kind kind
	call uint32
}

func (s stream) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), maxBody)
		if err := s.w.frame(s.kind, s.call, rest[:n]); err != nil {
			return 0, err
		}
		rest = rest[n:]
	}
	return len(p), nil
}
