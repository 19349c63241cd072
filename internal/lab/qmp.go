package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
)

// monitor speaks QMP, QEMU's machine protocol: one JSON document a line, answers by id, events in
// between.
type monitor struct {
	conn   net.Conn
	events chan string // names of events; dropped when nobody reads

	mu      sync.Mutex
	next    int
	waiting map[int]chan<- qmpAnswer
	gone    chan struct{}
}

type qmpAnswer struct {
	ID     int             `json:"id"`
	Event  string          `json:"event"`
	Return json.RawMessage `json:"return"`
	Error  *struct {
		Desc string `json:"desc"`
	} `json:"error"`
}

var errMonitorGone = errors.New("QEMU has ended")

type object = map[string]any

func newMonitor(ctx context.Context, conn net.Conn) (*monitor, error) {
	q := &monitor{
		conn:    conn,
		events:  make(chan string, 64),
		waiting: map[int]chan<- qmpAnswer{},
		gone:    make(chan struct{}),
	}
	go q.receive()
	return q, q.do(ctx, "qmp_capabilities", nil, nil)
}

func (q *monitor) receive() {
	defer close(q.gone)
	lines := bufio.NewScanner(q.conn)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var a qmpAnswer
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			continue // nothing that anybody waits for
		}
		if a.Event != "" {
			select {
			case q.events <- a.Event:
			default:
			}
			continue
		}
		q.mu.Lock()
		ch := q.waiting[a.ID]
		delete(q.waiting, a.ID)
		q.mu.Unlock()
		if ch != nil { // the greeting has no id
			ch <- a
		}
	}
}

// do executes a command and decodes what it returns into result, which may be nil.
func (q *monitor) do(ctx context.Context, command string, args object, result any) error {
	ch := make(chan qmpAnswer, 1)
	q.mu.Lock()
	q.next++
	id := q.next
	q.waiting[id] = ch
	request := object{"execute": command, "id": id}
	if args != nil {
		request["arguments"] = args
	}
	line, err := json.Marshal(request)
	if err == nil {
		_, err = q.conn.Write(append(line, '\n'))
	}
	q.mu.Unlock()
	if err != nil {
		return fmt.Errorf("qmp %s: %w", command, err)
	}
	select {
	case a := <-ch:
		if a.Error != nil {
			return fmt.Errorf("qmp %s: %s", command, a.Error.Desc)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(a.Return, result)
	case <-q.gone:
		return fmt.Errorf("qmp %s: %w", command, errMonitorGone)
	case <-ctx.Done():
		return fmt.Errorf("qmp %s: %w", command, ctx.Err())
	}
}
