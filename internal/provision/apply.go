package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/permit"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
)

// Apply carries a plan out. It stops at the first failure, and after the running step when ctx
// ends; the journals say how far it came, and another Apply goes on from there.
func (s *Site) Apply(ctx context.Context, p *Plan) error {
	release, err := s.lock()
	if err != nil {
		return err
	}
	defer release()
	// Between planning and now another apply may have come and gone.
	journals, broken, err := s.Journals()
	if err != nil {
		return err
	}
	for _, w := range p.Arrays {
		for _, b := range broken {
			if b.Array == w.Array {
				return b
			}
		}
		for _, j := range journals {
			if j.Array == w.Array && (w.Found || !j.Started.Equal(w.Started)) {
				return fmt.Errorf("array %s: something has changed since the plan was made; apply again", w.Array)
			}
		}
	}
	for _, w := range p.Arrays {
		if w.Found {
			s.emit(Event{Array: w.Array, Title: w.Top() + " was there before plimsoll, as declared", What: InPlace})
			continue
		}
		if err := s.applyArray(ctx, w); err != nil {
			return err
		}
	}
	return s.renewInitramfs(ctx, p.Arrays, p.Initramfs)
}

// renewInitramfs renews the initramfs where one of the arrays has come into mdadm.conf or gone from
// it, once for all of them: it takes a minute or more. An array's journal remembers until it is
// done.
func (s *Site) renewInitramfs(ctx context.Context, all []*records.Work, command []string) error {
	stale := slices.DeleteFunc(slices.Clone(all), func(w *records.Work) bool { return !w.InitramfsStale })
	if len(stale) == 0 {
		return nil
	}
	if len(command) > 0 {
		last := stale[len(stale)-1]
		s.emit(Event{Array: last.Array, Title: "rebuild the initramfs: " + strings.Join(command, " "), What: Doing})
		if err := sys.Brief(s.Run(context.WithoutCancel(ctx), io.Discard, command...)); err != nil {
			return fmt.Errorf("rebuilding the initramfs: %w", err)
		}
	}
	for _, w := range stale {
		w.InitramfsStale = false
		if err := s.save(w); err != nil {
			return err
		}
	}
	return nil
}

func (s *Site) applyArray(ctx context.Context, w *records.Work) error {
	if w.Undoing {
		return fmt.Errorf("array %s: its teardown has begun; finish that first: plimsoll array teardown %[1]s", w.Array)
	}
	if w.Started.IsZero() {
		w.Started = s.now()
	}
	now, err := s.look(context.WithoutCancel(ctx), w)
	if err != nil {
		return err
	}
	for _, m := range w.Members {
		if _, err := disk(now.tree, m.Serial); err != nil {
			return fmt.Errorf("array %s: %w", w.Array, err)
		}
	}
	for i := range w.Steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("array %s stopped before step %d of %d, %s: %w", w.Array, i+1, len(w.Steps), w.Steps[i].Title, err)
		}
		if err := s.step(ctx, w, i); err != nil {
			return fmt.Errorf("array %s, step %d of %d, %s: %w", w.Array, i+1, len(w.Steps), w.Steps[i].Title, err)
		}
	}
	return s.replaced(w)
}

// now is a time as journals have it.
func (s *Site) now() time.Time { return s.Now().UTC().Round(0) }

// emitter reports what becomes of a step.
func (s *Site) emitter(w *records.Work, i int) func(What) {
	return func(what What) {
		s.emit(Event{Array: w.Array, Step: i + 1, Steps: len(w.Steps), Title: w.Steps[i].Title, What: what})
	}
}

// step brings one step into place.
func (s *Site) step(ctx context.Context, w *records.Work, i int) error {
	st := &w.Steps[i]
	emit := s.emitter(w, i)
	// What has begun is finished: a Ctrl-C waits for it. Only waiting itself is cut short.
	whole := context.WithoutCancel(ctx)
	switch st.State {
	case records.StepDone:
		if w.Rebuilding(i) {
			return nil
		}
		missing, err := s.missing(whole, w, st)
		if err != nil || missing == "" {
			if err == nil {
				emit(InPlace)
			}
			return err
		}
		if len(st.Again) == 0 {
			return fmt.Errorf("it was done on %s and is no longer in place (%s); see: plimsoll array verify",
				st.Ended.Format(time.DateOnly), missing)
		}
		emit(Restoring)
		if err := s.actions(ctx, w, st, st.Again, false); err != nil {
			return err
		}
		if missing, err = s.missing(whole, w, st); err == nil && missing != "" {
			err = fmt.Errorf("it could not be brought back: %s", missing)
		}
		return err
	case records.StepBegun:
		emit(Repairing)
		w.Checked = nil
		if err := s.actions(whole, w, st, st.Undo, true); err != nil {
			return err
		}
	case records.StepToDo:
	}
	st.State, st.Begun = records.StepBegun, s.now()
	if err := s.save(w); err != nil {
		return err
	}
	emit(Doing)
	if err := s.actions(ctx, w, st, st.Do, false); err != nil {
		return err
	}
	missing, err := s.missing(whole, w, st)
	if err == nil && missing != "" {
		err = fmt.Errorf("its commands ran, but it is not in place: %s", missing)
		if undone := s.actions(whole, w, st, st.Undo, true); undone != nil {
			return errors.Join(err, fmt.Errorf("and what they did could not be undone: %w", undone))
		}
		st.State = records.StepToDo
		return errors.Join(err, s.save(w))
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(st.Do, func(a records.Action) bool { return len(a.Blank) > 0 && len(st.Do) > 1 }) {
		if err := s.taken(w); err != nil { // something of its own is on them now
			return err
		}
	}
	st.State, st.Ended = records.StepDone, s.now()
	if err := s.save(w); err != nil {
		return err
	}
	emit(Done)
	return nil
}

// missing says what of a step is not in place, "" when all is.
func (s *Site) missing(ctx context.Context, w *records.Work, st *records.Step) (string, error) {
	if len(st.Check) == 0 {
		return "", nil
	}
	now, err := s.look(ctx, w)
	if err != nil {
		return "", err
	}
	for _, c := range st.Check {
		ok, err := now.holds(ctx, c, false)
		if err != nil {
			return "", err
		}
		if !ok {
			return w.Lacking(c), nil
		}
	}
	return "", nil
}

// actions run one after the other. While undoing, a member that is not attached does not keep the
// others from being undone.
func (s *Site) actions(ctx context.Context, w *records.Work, st *records.Step, all []records.Action,
	undoing bool,
) error {
	var gone error
	var now *state
	for _, a := range all {
		if now == nil {
			var err error
			if now, err = s.look(context.WithoutCancel(ctx), w); err != nil {
				return err
			}
		}
		err := now.act(ctx, a, st.State == records.StepBegun)
		if undoing && errors.Is(err, errGone) {
			gone = errors.Join(gone, err)
		} else if err != nil {
			return err
		}
		if !a.Local() {
			now = nil
		}
	}
	return gone
}

func (s *state) act(ctx context.Context, a records.Action, begun bool) error {
	whole := context.WithoutCancel(ctx)
	if a.If != nil {
		if holds, err := s.holds(whole, *a.If, begun); err != nil || !holds {
			return err
		}
	}
	switch {
	case len(a.Run) > 0:
		argv := make([]string, len(a.Run))
		for i, arg := range a.Run {
			var err error
			if argv[i], err = s.path(arg); err == nil && filepath.IsAbs(arg) && !strings.HasPrefix(arg, "/dev/") {
				err = permit.Way(arg, "be worked on")
			}
			if err != nil {
				return err
			}
		}
		if err := sys.Brief(s.Run(whole, io.Discard, argv...)); err != nil || argv[0] != "mount" {
			return err
		}
		return s.mountedElsewhere(whole, a.Run[len(a.Run)-1])
	case len(a.Blank) > 0:
		return s.checkAllBlank(ctx, a.Blank)
	case len(a.Erase) > 0:
		return s.each(a.Erase, func(ref string) error { return s.erase(whole, ref) })
	case len(a.Zero) > 0:
		return s.each(a.Zero, s.zero)
	case len(a.Stop) > 0:
		return s.stop(whole)
	case a.Add != nil:
		return s.lines(a.Add, s.add)
	case a.Cut != nil:
		return s.lines(a.Cut, s.remove)
	case a.Await:
		return s.await(ctx, s.w)
	}
	return errors.New("the journal has an action that this plimsoll does not know")
}

// mountedElsewhere unmounts the array where a mount has not come to lie on the point that it was for,
// and was not there before.
func (s *state) mountedElsewhere(ctx context.Context, point string) error {
	now, err := s.look(ctx, s.w)
	if err != nil {
		return err
	}
	top, err := now.top()
	if err != nil {
		return err
	}
	for _, m := range now.tree.MountsOf(top.Name) {
		before := slices.ContainsFunc(s.tree.Mounts, func(o block.Mount) bool { return o.ID == m.ID })
		if before || m.Point == filepath.Clean(point) {
			continue
		}
		return errors.Join(fmt.Errorf("the mount for %s ended up on %s, and has been undone", point, m.Point),
			sys.Unmount(m.Point, m.ID))
	}
	return nil
}

// lines edits a file of /etc. That the initramfs holds an older copy of mdadm.conf is in the
// journal before it is so.
func (s *state) lines(l *records.Lines, edit func(*records.Lines) error) error {
	if err := permit.Way(s.at(filepath.Dir(l.File)+"/new"), "be written to"); err != nil { // the file may be root's link
		return err
	}
	if dir, _, err := s.place(l.File); err == nil { // what an edit left that was cut, also where nothing is to be done
		sweep(dir)
		_ = dir.Close() // only a handle
	}
	if filepath.Base(l.File) == "mdadm.conf" && !s.w.InitramfsStale {
		s.w.InitramfsStale = true
		if err := s.save(s.w); err != nil {
			return err
		}
	}
	return edit(l)
}

// each goes on to the others when a member is not attached.
func (s *state) each(refs []string, do func(string) error) error {
	var gone error
	for _, ref := range refs {
		if err := do(ref); errors.Is(err, errGone) {
			gone = errors.Join(gone, err)
		} else if err != nil {
			return err
		}
	}
	return gone
}

// stop stops the md arrays that lie on members alone, under whatever name they came up. Active ones
// that are in use refuse.
func (s *state) stop(ctx context.Context) error {
	for _, d := range s.tree.Devices {
		if d.MD == nil || d.MD.State == "clear" || !s.ours(d) {
			continue
		}
		if err := s.Run(ctx, io.Discard, "mdadm", "--stop", "/dev/"+d.Name); err != nil {
			return err
		}
	}
	return nil
}

// await waits until an array's copies agree and tells how far they are.
func (s *Site) await(ctx context.Context, w *records.Work) error {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	step := 0
	for i, st := range w.Steps {
		for _, a := range st.Do {
			if a.Await {
				step = i
			}
		}
	}
	for {
		now, err := s.look(ctx, w)
		if err != nil {
			return err
		}
		e := Event{Array: w.Array, Step: step + 1, Steps: len(w.Steps), Title: w.Steps[step].Title, What: Progress}
		d, err := now.top()
		if err != nil {
			return err
		}
		if done, err := now.synced(ctx); err != nil || done {
			return err
		}
		if d.MD != nil {
			if !now.whole(d) {
				return fmt.Errorf("%s has lost a member; see: mdadm --detail %s", w.Top(), text.ShellQuote(w.Top()))
			}
			e.Fraction, e.Rate = d.MD.Progress, d.MD.Speed
			each := w.Least()
			if w.Want.Level == topology.RAID10 && d.MD.Action == "resync" {
				each = d.Size // raid10 counts the array's sectors (drivers/md/raid10.c), others a member's
			}
			if e.Rate > 0 {
				e.Left = time.Duration((1 - e.Fraction) * float64(each) / float64(e.Rate) * float64(time.Second)).Round(time.Second)
			}
		} else if e.Fraction, err = now.lvmSync(ctx); err != nil {
			return err
		}
		s.emit(e)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
