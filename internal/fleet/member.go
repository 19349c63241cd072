package fleet

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/bench"
	"plimsoll/internal/fio/running"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// Lease is how long a member goes on without a word from its coordinator.
const Lease = 15 * time.Second

// leastRamp is the ramp in a fleet: fio's own start differs by about a second between hosts.
const leastRamp = 2 * time.Second

// Member is plimsoll on one host of a fleet: it reads commands and writes messages, a line each.
type Member struct {
	Machine *sys.Machine
	In      io.Reader
	Out     io.Writer
	Version string
	// Plan makes a plan of the arguments of plimsoll run. Where the host has a share of storage
	// that all see, the paths are its directories there, which the returned function, if any, gives
	// up.
	Plan func(ctx context.Context, args []string, share *Share) (bench.Plan, func(), error)
	// Check looks at this host with the arguments of plimsoll check.
	Check func(ctx context.Context, args []string) (*Checkup, error)

	out      outlet
	releases chan command
	alone    chan struct{} // closed when the coordinator is gone and the run is to be finished
	dir      string        // of the run
}

// Serve speaks the protocol until the coordinator closes it, is silent for a Lease, or ctx ends. A
// run is then stopped, or finished where the plan asks for that; its files are removed and its
// bundle stays on this host.
func (m *Member) Serve(ctx context.Context) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	m.releases, m.alone = make(chan command, 1), make(chan struct{})
	m.out.start(m.Out)
	defer m.out.close()
	m.hello(ctx)
	commands := make(chan command)
	go read(m.In, commands)
	lease := time.NewTimer(Lease)
	defer lease.Stop()
	var ended chan message // nil while nothing runs
	var asked *plan
	begin := func(p *plan, do func(context.Context, *plan) message) {
		done := make(chan message, 1)
		asked, ended = p, done
		go func() { done <- do(running, p) }()
	}
	for {
		var c command
		var ok bool
		select {
		case c, ok = <-commands:
			lease.Reset(Lease)
		case <-lease.C:
		case <-ctx.Done():
		case done := <-ended:
			m.out.send(done)
			ended = nil
			continue
		}
		if !ok { // nobody watches
			if asked != nil && asked.Finish && ctx.Err() == nil {
				close(m.alone)
			} else {
				stop()
			}
			if ended != nil {
				<-ended
			}
			return nil
		}
		switch {
		case c.Ping > 0:
			m.out.send(message{Pong: c.Ping, Mono: monotonic(), Wall: time.Now().UnixNano()})
		case c.Plan != nil && asked == nil:
			begin(c.Plan, m.run)
		case c.Check != nil && asked == nil:
			begin(c.Check, m.check)
		case c.Go != nil:
			select {
			case m.releases <- c:
			default:
			}
		case c.Stop:
			stop()
		case c.Bundle && ended == nil:
			go m.send(m.dir)
		case c.Fetch != "" && ended == nil:
			go m.send(c.Fetch)
		}
	}
}

// read passes commands on until there are no more, or one is not understood.
func read(from io.Reader, to chan<- command) {
	defer close(to)
	lines := newLineReader(from)
	for {
		var c command
		if lines.next(&c) != nil {
			return
		}
		to <- c
	}
}

func (m *Member) hello(ctx context.Context) {
	hello := message{Plimsoll: protocol, Version: m.Version, Mono: monotonic()}
	if v, err := running.Installed(ctx, m.Machine); err == nil {
		hello.Fio = v.String()
	}
	m.out.send(hello)
}

// refused is the last message of what ended before anything was done.
func refused(exit int, why error) message {
	return message{Event: eventRefused, Note: text.Clean(why.Error(), 2000), Exit: exit}
}

// run measures and returns the last message of it.
func (m *Member) run(ctx context.Context, asked *plan) message {
	args, files, err := receiveFiles(asked)
	if files != "" {
		defer os.RemoveAll(files) //nolint:errcheck // what is left of it is in the directory for temporary files
	}
	if err != nil {
		return refused(1, err)
	}
	p, leave, err := m.Plan(ctx, args, asked.Share)
	if leave != nil {
		defer leave()
	}
	if err != nil {
		return refused(2, err)
	}
	for i := range p.Suite.Scenarios {
		if s := &p.Suite.Scenarios[i]; !s.AsIs && len(s.Job.Sections) < 2 {
			s.Ramp = max(s.Ramp, leastRamp)
		}
	}
	p.Gate = m.gate
	b, err := bench.Run(ctx, m.Machine, p, m.event)
	last := message{Event: eventFinished, Dir: m.dir}
	switch {
	case errors.Is(err, context.Canceled):
		last.Exit, last.Note = 130, "stopped"
	case err != nil && m.dir == "":
		return refused(1, err)
	case err != nil:
		last.Exit, last.Note = 1, text.Clean(err.Error(), 2000)
	case b.Run.Verdict == verdict.Invalid:
		last.Exit = 4
	case b.Run.Verdict == verdict.Fail:
		last.Exit = 3
	}
	return last
}

// check looks at this host and returns the last message of that.
func (m *Member) check(ctx context.Context, asked *plan) message {
	found, err := m.Check(ctx, asked.Args)
	if err != nil {
		return refused(2, err)
	}
	return message{Event: eventChecked, Checkup: found}
}

// gate waits until the coordinator releases a scenario, and then until its instant.
func (m *Member) gate(ctx context.Context, s suite.Scenario) error {
	m.out.send(message{Event: eventReady, Scenario: s.ID})
	for {
		select {
		case c := <-m.releases:
			if *c.Go != s.ID {
				continue
			}
			wait := time.NewTimer(time.Duration(c.At - monotonic()))
			defer wait.Stop()
			select {
			case <-wait.C:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		case <-m.alone:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// event passes on what happens in the run.
func (m *Member) event(e bench.Event) {
	send := m.out.send
	switch e := e.(type) {
	case bench.Started:
		if abs, err := filepath.Abs(e.Dir); err == nil {
			m.dir = abs
		}
		send(message{Event: eventStarted, Dir: m.dir})
	case bench.Began:
		send(message{
			Event: eventBegan, Scenario: e.Scenario.ID, Mono: monotonic(),
			Wait: e.Expected, Pause: e.Stall,
		})
	case bench.Laying:
		send(message{Event: eventPrefill, Written: e.Written})
	case bench.Cooling:
		send(message{Event: eventCooling, Wait: e.For})
	case bench.Ticked:
		send(message{
			Event: eventSecond, Scenario: e.ID, Elapsed: e.Elapsed, Ramp: e.Second.Ramp, Mono: monotonic(),
			IOPS: float64(e.Second.IOPS()), BW: float64(e.Second.BW()),
		})
	case bench.Ended:
		send(message{
			Event:    eventEnded,
			Scenario: e.ID,
			State:    string(e.Result.State),
			Note:     strings.Join(e.Result.Reasons, "; "),
		})
	case bench.Noted:
		send(message{Event: eventNote, Note: e.Text})
	}
}

// piece is how much of a bundle a line holds; base64 makes a third more of it.
const piece = 512 << 10

// send sends the bundle in dir in pieces, and their checksum after the last.
func (m *Member) send(dir string) {
	if dir == "" || !sys.Exists(filepath.Join(dir, "run.json")) {
		m.out.send(message{Event: eventRefused, Note: "there is no run in " + text.Quote(dir)})
		return
	}
	sum := sha256.New()
	to := bufio.NewWriterSize(writer(func(p []byte) {
		m.out.wait(message{Data: append([]byte(nil), p...)})
	}), piece)
	if err := errors.Join(pack(io.MultiWriter(sum, to), dir), to.Flush()); err != nil {
		m.out.send(message{Event: eventRefused, Note: fmt.Sprintf("the run could not be sent: %v", err)})
		return
	}
	m.out.wait(message{SHA256: hex.EncodeToString(sum.Sum(nil))})
}

// writer is a function that takes what is written.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		n := min(len(rest), piece)
		w(rest[:n])
		rest = rest[n:]
	}
	return len(p), nil
}

// outlet writes messages from a goroutine of its own: a coordinator that does not read must not
// hold up a measurement.
type outlet struct {
	queue   chan *message // nil ends it
	written chan struct{}
}

func (o *outlet) start(w io.Writer) {
	o.queue, o.written = make(chan *message, 256), make(chan struct{})
	go func() {
		defer close(o.written)
		enc, broken := json.NewEncoder(w), false
		for m := <-o.queue; m != nil; m = <-o.queue {
			broken = broken || enc.Encode(m) != nil
		}
	}()
}

// send queues a message, or drops it when nobody reads.
func (o *outlet) send(m message) {
	select {
	case o.queue <- &m:
	default:
	}
}

// wait queues a message however long that takes: of a bundle none may be lost.
func (o *outlet) wait(m message) { o.queue <- &m }

// close writes what is queued, for a second at most.
func (o *outlet) close() {
	select {
	case o.queue <- nil:
	default:
		return
	}
	select {
	case <-o.written:
	case <-time.After(time.Second):
	}
}
