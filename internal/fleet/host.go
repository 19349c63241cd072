package fleet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// host is a connection to a member.
type host struct {
	bundle.FleetHost
	argv   []string
	orders chan command
	end    context.CancelFunc
	hello  message

	pings   uint64
	sent    map[uint64]int64 // when pings were sent, by number
	clocks  []clock          // the last answers
	heard   time.Time
	starts  map[int]int64 // when scenarios began, on the coordinator's monotonic clock
	waits   bool          // for waiting, the scenario that is ready to start
	waiting int
	done    int  // scenarios that ended
	tried   bool // it is, or was, connected to
	planned bool // it has the plan
	ended   bool // the run has
	copied  bool // plimsoll was, or is being, copied there; binary is where to
	binary  string
	try     int  // how often it was connected to
	closed  bool // nothing more will come
	second  message
	checkup *Checkup // what a check found
	wait

	got  *os.File // the bundle as it comes, nil while none does
	sum  hash.Hash
	size int64
}

// clock is one answer to a ping: what the member's clock showed when the coordinator's showed 0,
// the round trip, and how far its wall clock is ahead.
type clock struct{ offset, trip, wall int64 }

// event is what comes from a host: a message, or how its connection ended.
type event struct {
	from *host
	message
	try    int    // of connecting; 0 for a copy
	copied string // where plimsoll was put
	err    error
}

// connect starts the engine. Whatever comes is put to events, an error last.
func (h *host) connect(ctx context.Context, events chan<- event) {
	ctx, h.end = context.WithCancel(ctx)
	h.try++
	errs := &sys.Tail{}
	try := h.try
	h.orders, h.sent, h.starts, h.heard = make(chan command, 64), map[uint64]int64{}, map[int]int64{}, time.Now()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	var reading sync.WaitGroup
	reading.Go(func() {
		lines := newLineReader(outR)
		for {
			var m message
			if err := lines.next(&m); err != nil {
				if !errors.Is(err, io.EOF) {
					events <- event{from: h, try: try, err: err}
				}
				_ = outR.CloseWithError(io.ErrClosedPipe)
				return
			}
			events <- event{from: h, try: try, message: m}
		}
	})
	orders := h.orders // the field is the coordinator's, and nil once the host is done
	go func() {
		enc := json.NewEncoder(inW)
		for {
			select {
			case c, ok := <-orders:
				if !ok || enc.Encode(c) != nil {
					_ = inW.Close()
					return
				}
			case <-ctx.Done():
				_ = inW.Close()
				return
			}
		}
	}()
	go func() {
		code, err := sys.Process{Argv: h.argv, In: inR, Out: outW, Err: errs}.Run(ctx)
		_ = outW.Close()
		_ = inR.Close()
		reading.Wait()
		if err == nil {
			err = errors.New("the connection ended")
			switch code {
			case 0:
			case 126, 127: // of a shell that finds no such program
				err = errMissing
			default:
				err = fmt.Errorf("the connection ended with exit code %d", code)
			}
			if words := text.Clean(errs.String(), 400); words != "" {
				err = fmt.Errorf("%w: %s", err, words)
			}
		}
		events <- event{from: h, try: try, err: err}
	}()
}

// order sends a command. A member that does not take 64 of them is as good as gone: its silence is
// noticed elsewhere.
func (h *host) order(c command) {
	if h.closed || h.orders == nil {
		return
	}
	select {
	case h.orders <- c:
	default:
	}
}

func (h *host) ping() {
	h.pings++
	h.sent[h.pings] = monotonic()
	delete(h.sent, h.pings-64)
	h.order(command{Ping: h.pings})
}

// keptClocks is how many answers the best is chosen of.
const keptClocks = 8

// pong notes an answer: the member's clock was read about half the round trip ago (Cristian,
// Probabilistic clock synchronization, Distributed Computing 3, 1989). The answer with the shortest
// trip is the best.
func (h *host) pong(m message) {
	sent, ok := h.sent[m.Pong]
	if !ok {
		return
	}
	delete(h.sent, m.Pong)
	now := monotonic()
	trip := now - sent
	h.clocks = append(h.clocks, clock{m.Mono - (sent + trip/2), trip, m.Wall - (time.Now().UnixNano() - trip/2)})
	h.clocks = h.clocks[max(len(h.clocks)-keptClocks, 0):]
	best := h.best()
	h.Clock = bundle.FleetClock{
		Offset: time.Duration(best.offset),
		Wall:   time.Duration(best.wall),
		Error:  time.Duration(best.trip / 2),
		Source: "monotonic clock, by ping",
	}
}

func (h *host) best() clock {
	return slices.MinFunc(h.clocks, func(a, b clock) int { return cmp.Compare(a.trip, b.trip) })
}

// lose gives a host up and ends its connection.
func (h *host) lose(state bundle.HostState, why string) {
	if h.closed {
		return
	}
	if h.end == nil { // it is being copied to
		h.end = func() {}
	}
	h.closed, h.State, h.Why, h.waits = true, state, text.Clean(why, 600), false
	h.end()
	h.drop()
}

// drop closes what has come of a bundle.
func (h *host) drop() {
	if h.got != nil {
		_ = h.got.Close()
		h.got = nil
	}
}

// receive takes a piece of the bundle, or its checksum, with which it is whole.
func (h *host) receive(m message) (whole bool, err error) {
	if h.got == nil {
		if h.got, err = sys.TempFile(); err != nil {
			return false, err
		}
		h.sum, h.size = sha256.New(), 0
	}
	if h.size += int64(len(m.Data)); h.size > mostPacked {
		return false, fmt.Errorf("its bundle is larger than %d MiB", mostPacked>>20)
	}
	if _, err := h.got.Write(m.Data); err != nil {
		return false, err
	}
	_, _ = h.sum.Write(m.Data)
	if m.SHA256 == "" {
		return false, nil
	}
	if hex.EncodeToString(h.sum.Sum(nil)) != m.SHA256 {
		return false, errors.New("its bundle was damaged on the way")
	}
	_, err = h.got.Seek(0, io.SeekStart)
	return true, err
}

// greet takes the first message and decides whether this member will do.
func (h *host) greet(m message, version string, measures bool) error {
	if m.Plimsoll != protocol {
		return fmt.Errorf("it speaks version %d of the protocol, and this plimsoll %d", m.Plimsoll, protocol)
	}
	if m.Version != version {
		return fmt.Errorf("it has plimsoll %s, and this is %s: %w", text.Clean(m.Version, 40), version, errVersion)
	}
	h.hello, h.Plimsoll = m, "plimsoll "+text.Clean(m.Version, 40)
	h.Fio = text.Clean(m.Fio, 40)
	if m.Fio == "" && measures {
		return errors.New("it has no fio that runs")
	}
	return nil
}
