// Package running starts fio, hands over its documents as they come, and ends it and its jobs when it
// hangs.
package running

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Hung is returned by Run when fio did not end in time, or wrote nothing for too long, and was
// stopped or given up.
type Hung struct {
	After   time.Duration
	Stalled bool     // nothing was transferred for this long; otherwise it took longer than its limit in all
	Disks   []string // that it works on, where they are known
	Cause   error    // has *sys.Alive in its chain when fio, or a job of it, could not be killed; may be nil
}

func (h *Hung) Error() string {
	after := h.After.Round(time.Second)
	if h.Stalled {
		which := "a device"
		if len(h.Disks) > 0 {
			which = text.List(h.Disks)
		}
		return fmt.Sprintf("fio transferred nothing for %s, pauses that its jobs ask for included: it was stopped, or %s "+
			"does not answer (look at dmesg, then run it again)", text.Duration(after), which)
	}
	return fmt.Sprintf("fio did not end within %s: a device that no longer answers leaves it waiting (look at dmesg)",
		text.Duration(after))
}

func (h *Hung) Unwrap() error { return h.Cause }

// Greedy is returned by Run when fio was killed for the memory that it held.
type Greedy struct{ Held units.Bytes }

func (g *Greedy) Error() string {
	return fmt.Sprintf("fio held %s of memory and was stopped: use fewer or smaller I/Os in flight, less to verify "+
		"(verify_backlog=), or shorter logs", g.Held)
}

// Invocation is what Run needs to start fio on a job file.
type Invocation struct {
	// Dir is the directory in which fio runs, and keeps files of its own such as those of verify=. fio takes what is
	// no regular file there, and has the name of a job, for the job's file.
	Dir     string
	JobFile string    // as seen from there
	Raw     io.Writer // gets each document, as fio printed it
	// Read reads a document: output.ParseJSON, which stands above this package.
	Read func(doc []byte) (*fio.Output, error)
	Doc  func(*fio.Output)
	Text func(line string) // what fio printed between documents: warnings, errors
	// Limit is how long fio may take in all; 0 for no limit. Past it fio is stopped kindly, then
	// killed.
	Limit time.Duration
	// Stall is how long fio may stand still; 0 for no such limit. Its documents show progress, and
	// what its processes read and write; a process that waits in the kernel makes progress as long
	// as one of Disks, kernel names, completes anything.
	Stall time.Duration
	Disks []string
	// Memory is how much fio may hold that no file is behind; 0 for what any job may.
	Memory units.Bytes
}

// Argv is the command that Run starts.
func (i Invocation) Argv() []string {
	return []string{"fio", "--output-format=json+", "--status-interval=1", "--eta=never", i.JobFile}
}

// Run starts fio and hands over each document as it is complete. It returns when fio and all its
// jobs have ended, or *Hung. The context stops fio kindly: it writes its last document, which is
// handed over too.
//
// fio's jobs are session leaders, so that killing fio, or its process group, leaves them running.
// Run ends them by their family. What cannot be killed is a *sys.Alive in the error's chain:
// nothing else may be measured while it lives.
func Run(ctx context.Context, m *sys.Machine, inv Invocation) error {
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := newWatch(m, &inv, cancel)
	defer watch.stop()
	split := &Splitter{
		Text: inv.Text,
		Most: sys.OutputLimit,
		Doc: func(doc []byte) error {
			if _, err := inv.Raw.Write(doc); err != nil {
				return err
			}
			out, err := inv.Read(doc)
			if err != nil {
				return err
			}
			watch.saw(out)
			inv.Doc(out)
			return nil
		},
	}
	runCtx = sys.WithDir(sys.WithWork(runCtx, &watch.work), inv.Dir)
	runCtx = sys.WithLimit(sys.WithFamily(runCtx), cmp.Or(inv.Limit, sys.NoLimit))
	runCtx = sys.WithNotice(runCtx, nil) // its documents are the progress
	err := m.Run(runCtx, split, inv.Argv()...)
	late, isLate := errors.AsType[*sys.Late](err)
	alive, _ := errors.AsType[*sys.Alive](err)
	hung := &Hung{After: inv.Limit, Disks: inv.Disks}
	if alive != nil {
		hung.Cause = alive
	}
	switch {
	case watch.held.Load() > 0:
		return errors.Join(hung.Cause, &Greedy{units.Bytes(watch.held.Load())})
	case watch.stalled.Load():
		hung.After, hung.Stalled = inv.Stall, true
		return hung
	case isLate:
		hung.After = late.After
		return hung
	}
	return errors.Join(err, split.Close())
}
