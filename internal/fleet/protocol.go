package fleet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// protocol is the version of what members speak: one JSON object a line. Unknown keys are ignored.
const protocol = 1

// longestLine is the most that a line of the protocol may hold, its end included.
const longestLine = 1 << 20

// command is what the coordinator asks of a member: one of the fields.
type command struct {
	Ping   uint64 `json:"ping,omitempty"` // answered with pong; renews the lease
	Plan   *plan  `json:"plan,omitempty"`
	Go     *int   `json:"go,omitempty"` // the scenario that is to start
	At     int64  `json:"at,omitempty"` // when: the member's monotonic clock, in ns
	Stop   bool   `json:"stop,omitempty"`
	Bundle bool   `json:"bundle,omitempty"` // send what was measured
	Fetch  string `json:"fetch,omitempty"`  // send the run in this directory, which an earlier member measured
	Check  *plan  `json:"check,omitempty"`  // look at this host, as plimsoll check does with these arguments
}

// plan is what a member is to run.
type plan struct {
	Args []string `json:"args"` // of plimsoll run
	// Finish: go on measuring when the coordinator is gone; else stop.
	Finish bool `json:"finish,omitempty"`
	// Files are files of the coordinator that Args name.
	Files []sentFile `json:"files,omitempty"`
	// Share says that the paths are storage which all hosts see.
	Share *Share `json:"share,omitempty"`
}

// Share is the part of a host in a fleet that measures on storage which all its hosts see.
type Share struct {
	Fleet string `json:"fleet"` // no other fleet has this name
	Host  string `json:"host"`  // a name for its directory
	Hosts int    `json:"hosts"` // how many there are
}

// message is what a member sends.
type message struct {
	// Hello, the first message.
	Plimsoll int    `json:"plimsoll,omitempty"` // version of the protocol
	Version  string `json:"version,omitempty"`
	Fio      string `json:"fio,omitempty"`

	Mono int64  `json:"mono,omitempty"` // monotonic clock, in ns
	Wall int64  `json:"wall,omitempty"` // wall clock at the same instant, in ns since 1970
	Pong uint64 `json:"pong,omitempty"`

	Event    string        `json:"event,omitempty"` // started, prefill, ready, began, second, cooling, ended, note, finished, refused, checked
	Scenario int           `json:"scenario,omitempty"`
	Dir      string        `json:"dir,omitempty"`
	Elapsed  time.Duration `json:"elapsed,omitempty"`
	Ramp     bool          `json:"ramp,omitempty"`
	IOPS     float64       `json:"iops,omitempty"`
	BW       float64       `json:"bw,omitempty"`
	State    string        `json:"state,omitempty"`
	Note     string        `json:"note,omitempty"`
	Exit     int           `json:"exit,omitempty"`
	// Wait is how long the host will be busy with what the event says: a scenario's planned time, a
	// cooldown; 0 where it does not know. Pause is how long a scenario's jobs may do nothing, and
	// Written what a prefill has written so far.
	Wait    time.Duration `json:"wait,omitempty"`
	Pause   time.Duration `json:"pause,omitempty"`
	Written units.Bytes   `json:"written,omitempty"`

	Checkup *Checkup `json:"checkup,omitempty"` // of a host that was checked

	Data   []byte `json:"data,omitempty"`   // a piece of the bundle, tar and zstd
	SHA256 string `json:"sha256,omitempty"` // of all pieces, after the last
}

// Names of events that the coordinator acts upon.
const (
	eventReady    = "ready"
	eventBegan    = "began"
	eventSecond   = "second"
	eventEnded    = "ended"
	eventStarted  = "started"
	eventPrefill  = "prefill"
	eventCooling  = "cooling"
	eventNote     = "note"
	eventFinished = "finished"
	eventRefused  = "refused"
	eventChecked  = "checked"
)

// errLine is a line that is longer than the protocol allows.
var errLine = fmt.Errorf("it sent a line of more than %d KiB", longestLine>>10)

// lineReader reads JSON lines.
type lineReader struct{ r *bufio.Reader }

func newLineReader(r io.Reader) *lineReader { return &lineReader{bufio.NewReaderSize(r, 32<<10)} }

// next decodes the next line into v. It keeps longestLine at most in memory, however long a line
// is.
func (l *lineReader) next(v any) error {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(part) > longestLine {
			return errLine
		}
		line = append(line, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			if errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0 {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		break
	}
	if err := json.Unmarshal(line, v); err != nil {
		return fmt.Errorf(
			"it sent %s, which is not the protocol: does a login banner, a profile or the engine (srun -l) print there?",
			text.Quote(text.Clean(string(line), 80)),
		)
	}
	return nil
}

// monotonic is CLOCK_MONOTONIC, which no one sets.
func monotonic() int64 { return int64(sys.Monotonic()) }
