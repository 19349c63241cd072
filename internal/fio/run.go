package fio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"plimsoll/internal/sys"
)

// Version is fio's, as major and minor; a build of its git tree counts as the release before it.
type Version struct{ Major, Minor int }

// Oldest is the least version that plimsoll drives: 3.16 has json+ with sync latencies and status intervals that add up.
var Oldest = Version{3, 16}

func (v Version) String() string { return fmt.Sprintf("fio-%d.%d", v.Major, v.Minor) }

// Before says whether v is older than o.
func (v Version) Before(o Version) bool {
	return v.Major < o.Major || v.Major == o.Major && v.Minor < o.Minor
}

// ParseVersion reads "fio-3.33" or "fio-3.25-15-gced2".
func ParseVersion(s string) (Version, error) {
	num, ok := strings.CutPrefix(strings.TrimSpace(s), "fio-")
	num, _, _ = strings.Cut(num, "-")
	major, minor, _ := strings.Cut(num, ".")
	minor, _, _ = strings.Cut(minor, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if !ok || err1 != nil || err2 != nil {
		return Version{}, fmt.Errorf("fio version %q: want such as fio-3.33", s)
	}
	return Version{a, b}, nil
}

// ErrMissing is in the chain of Installed's error when there is no fio.
var ErrMissing = errors.New("fio is not installed")

// Installed asks the fio in PATH for its version and refuses one older than Oldest.
func Installed(ctx context.Context, m *sys.Machine) (Version, error) {
	out, err := m.Output(ctx, "fio", "--version")
	if errors.Is(err, sys.ErrNotFound) {
		return Version{}, fmt.Errorf("%w; install it with the system's package manager, such as: apt-get install fio", ErrMissing)
	}
	if err != nil {
		return Version{}, err
	}
	v, err := ParseVersion(out)
	if err != nil {
		return v, err
	}
	if v.Before(Oldest) {
		return v, fmt.Errorf("%s is too old: plimsoll needs %s or newer", v, Oldest)
	}
	return v, nil
}

// Hung is returned by Run when fio did not end in time, even after it was killed or was asked to stop.
type Hung struct{ After time.Duration }

func (h *Hung) Error() string {
	return fmt.Sprintf("fio did not end within %s: a device that answers no more leaves it waiting (look at dmesg)", h.After.Round(time.Second))
}

// Invocation is what Run needs to start fio on a job file.
type Invocation struct {
	JobFile string
	Raw     io.Writer // gets each document, as fio printed it
	Doc     func(*Output)
	Text    func(line string) // what fio printed between documents: warnings, errors
	// State is the directory for files of fio's own, such as what verify= keeps beside a run (--aux-path, which all of 3.16 to 3.41 have);
	// the working directory when empty.
	State string
	// Limit is how long fio may take in all; 0 for no limit. Past it fio is stopped kindly, then killed.
	Limit time.Duration
}

// Argv is the command that Run starts.
func (i Invocation) Argv() []string {
	argv := []string{"fio", "--output-format=json+", "--status-interval=1", "--eta=never"}
	if i.State != "" {
		argv = append(argv, "--aux-path="+i.State)
	}
	return append(argv, i.JobFile)
}

// Run starts fio and hands over each document as it is complete. It returns when fio has ended, or *Hung. The context stops fio
// kindly: it writes its last document, which is handed over too.
func Run(ctx context.Context, m *sys.Machine, inv Invocation) error {
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	var abandoned atomic.Bool // a hung fio may print long after nobody listens
	split := &Splitter{
		Text: func(line string) {
			if !abandoned.Load() {
				inv.Text(line)
			}
		},
		Doc: func(doc []byte) error {
			if abandoned.Load() {
				return errAbandoned
			}
			if _, err := inv.Raw.Write(doc); err != nil {
				return err
			}
			out, err := ParseJSON(doc)
			if err != nil {
				return err
			}
			inv.Doc(out)
			return nil
		},
	}
	ended := make(chan error, 1)
	go func() { ended <- m.Run(runCtx, split, inv.Argv()...) }()
	var limit, gone <-chan time.Time
	if inv.Limit > 0 {
		limit = time.After(inv.Limit)
		gone = time.After(inv.Limit + sys.Grace + 5*time.Second)
	}
	hung := false
	for {
		select {
		case err := <-ended:
			if hung {
				return &Hung{inv.Limit}
			}
			return errors.Join(err, split.Close())
		case <-limit:
			hung = true
			cancel()
		case <-gone: // in uninterruptible sleep: nothing ends it, but the suite goes on
			abandoned.Store(true)
			return &Hung{inv.Limit}
		}
	}
}

var errAbandoned = errors.New("nobody listens")
