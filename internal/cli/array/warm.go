package array

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/block"
	"plimsoll/internal/cli/form"
	machinecli "plimsoll/internal/cli/machine"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

type warmOptions struct {
	form.LayoutOptions
	path   string
	Files  bool   `flag:"files"`
	Whole  bool   `flag:"whole"`
	Resume bool   `flag:"resume"`
	Most   string `flag:"most"`
	Depth  int    `flag:"depth"`
	State  string `flag:"state"`
	Format string `formats:"plain"`
}

func newWarmCmd(env *form.Env) *cobra.Command {
	o := warmOptions{Depth: 32, State: "/var/lib/plimsoll/warm"}
	cmd := form.Command(env, "array warm", cobra.ExactArgs(1), &o, o.run)
	o.AddFlags(cmd.Flags())
	return cmd
}

// WarmedVolume is what warm prints as JSON of each volume.
type WarmedVolume struct {
	Before diagnose.Touch  `json:"before"`
	Warmed *bench.Warmed   `json:"warmed,omitempty"`
	After  *diagnose.Touch `json:"after,omitempty"` // nil where nothing was read, or files of an array were
}

// warming is a volume to be loaded, or an array through which files are read.
type warming struct {
	bench.Warming
	files  string   // whose places alone are read; empty for the whole volume
	leaves []string // of the array; nil for a volume
	always bool     // --whole: also where nothing seems to wait for it
}

// test reads pairs on the volume, in the places that are to be read. A place of an array lies on
// several volumes, of which one read loads one: there each volume is tested, and the one of which
// most waits to be loaded is the answer.
func (w *warming) test(ctx context.Context) (most diagnose.Touch, err error) {
	if w.leaves == nil {
		most, err = bench.Touch(ctx, w.Device, w.Order)
		most.File = w.files
		return most, err
	}
	for i, leaf := range w.leaves {
		t, err := bench.Touch(ctx, leaf, nil)
		if err != nil {
			return t, err
		}
		if i == 0 || t.Claimed && (!most.Claimed || t.Share > most.Share) {
			most = t
		}
	}
	return most, nil
}

func (o *warmOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.path = args[0]
	jobs, err := o.plan(env)
	if err != nil {
		return err
	}
	results := make([]WarmedVolume, len(jobs))
	failures := make([]error, len(jobs))
	var side sync.WaitGroup
	for i := range jobs {
		side.Go(func() { results[i], failures[i] = o.volume(ctx, env, jobs[i]) })
	}
	side.Wait()
	if err := errors.Join(failures...); err != nil {
		return machinecli.NeedsRoot(ctx, err)
	}
	var said []string
	for _, r := range results {
		said = append(said, r.sentence())
	}
	if err := form.Render(env, o.Format, machine.Warmed(said, results)); err != nil {
		return err
	}
	if slices.ContainsFunc(results, WarmedVolume.waits) {
		return form.ErrVerdict
	}
	return nil
}

// waits is whether something of what was to be loaded still waits for it.
func (r WarmedVolume) waits() bool {
	if r.After == nil && r.Warmed != nil {
		return r.Warmed.Skipped > 0
	}
	t := cmp.Or(r.After, &r.Before)
	return t.Claimed && t.Tells()
}

func (r WarmedVolume) sentence() string {
	line := machinecli.TouchLine(*cmp.Or(r.After, &r.Before))
	if r.After == nil && r.Warmed != nil {
		line = "Every byte of the files was read from " + text.Clean(r.Warmed.Device, 0) + "."
	}
	if w := r.Warmed; w != nil {
		line += fmt.Sprintf(" %s of %s were read in %s.", text.Count(w.Read), text.Plural(w.Pieces, "piece"),
			text.Duration(w.Took))
		if w.Skipped > 0 {
			line += fmt.Sprintf(" %s could not be read.", text.Plural(w.Skipped, "piece"))
		}
	}
	return line
}

// plan finds the volumes, and the pieces of them that files lie on.
func (o *warmOptions) plan(env *form.Env) ([]warming, error) {
	most, err := units.ParseRate(cmp.Or(o.Most, "0"))
	if err != nil || most <= 0 && o.Most != "" {
		return nil, form.Usagef("--most %s: want a rate such as 100MiB/s", text.Clean(o.Most, 40))
	}
	if o.Depth < 1 || o.Depth > 1024 {
		return nil, form.Usagef("--depth %d: use 1 to 1024", o.Depth)
	}
	path, err := filepath.Abs(o.path)
	if err != nil {
		return nil, err
	}
	if err := form.MustExist(path); err != nil {
		return nil, err
	}
	t, stack, err := topology.Live(env.Machine, path)
	if err != nil {
		return nil, err
	}
	if stack.Device == "" {
		return nil, fmt.Errorf("%s: no block device is visible below it", text.Quote(o.path))
	}
	one := warming{always: o.Whole, Warming: bench.Warming{
		Depth: o.Depth, Most: most, State: o.State, Resume: o.Resume, Whole: o.Whole, Usual: units.Latency(time.Millisecond),
	}}
	if o.Files {
		return o.planFiles(path, stack, one)
	}
	var all []warming
	for _, d := range stack.Tree.Leaves(t.Targets[0].Device) {
		w := one
		w.Device, w.Serial = d.Name, d.Serial
		all = append(all, w)
	}
	return all, nil
}

// planFiles finds the pieces that files lie on. Below an array that combines volumes every byte of
// them is read through it.
func (o *warmOptions) planFiles(path string, stack *block.Stack, w warming) ([]warming, error) {
	if stack.Mount == nil {
		return nil, form.Usagef("--files needs a directory or a file, not a device")
	}
	extents, files, err := block.Extents(path)
	if err != nil {
		return nil, err
	}
	if files == 0 {
		return nil, form.Usagef("there are no files below %s", text.Quote(path))
	}
	d, start, leaf := stack.Tree.Disk(stack.Device)
	w.files, w.Device, w.Serial, w.Order = path, d.Name, d.Serial, bench.TouchPieces(extents, start, int64(d.Size))
	if !leaf {
		w.Whole = true
		for _, l := range stack.Tree.Leaves(d.Name) {
			w.leaves = append(w.leaves, l.Name)
		}
	}
	return []warming{w}, nil
}

// volume tests one volume, loads it, and tests it again.
func (o *warmOptions) volume(ctx context.Context, env *form.Env, w warming) (r WarmedVolume, err error) {
	if r.Before, err = w.test(ctx); err != nil {
		return r, err
	}
	env.Notef("%s", machinecli.TouchLine(r.Before))
	if read, err := w.needed(r.Before); err != nil || !read {
		return r, err
	}
	if others := bench.InUse(ctx, env.Machine, w.Device); others >= warmBusy && w.Most == 0 {
		w.Most = warmShare * warmRate
		env.Notef("%s is in use (%s I/Os per second): reading at most %s, and pausing whenever others have to "+
			"wait", w.Device, units.Number(others), w.Most)
	}
	w.Each = func(now bench.Warmed) {
		env.Notef("%s: %s of %s pieces, %s, %s left", now.Device, text.Count(now.Done),
			text.Count(now.Pieces), now.Rate(), text.Duration(now.Left()))
	}
	done, err := bench.Warm(ctx, env.Machine, w.Warming)
	r.Warmed = &done
	if err != nil || w.leaves != nil {
		return r, err
	}
	after, err := w.test(ctx)
	r.After = &after
	return r, err
}

// needed is whether anything is to be read after the test, and of each piece how much. What is left
// of an earlier start is read on as it began, since of a tenth of a volume no test can tell; of so
// little that there is no test every byte is read.
func (w *warming) needed(t diagnose.Touch) (bool, error) {
	if w.Resume {
		whole, left, err := bench.Unfinished(w.Warming)
		if err != nil || left {
			w.Whole = whole
			return left, err
		}
	}
	if !t.Tells() {
		w.Whole = true
	}
	return t.Claimed || w.always || !t.Tells(), nil
}

// A volume on which others do so many I/Os per second is in use; then a quarter of its throughput is
// taken, which is 125 MiB/s for a gp3 that nobody has raised.
const (
	warmBusy  = 10.0
	warmShare = 0.25
	warmRate  = 125 * units.MiBPerSec
)
