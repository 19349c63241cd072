package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/block"
	"plimsoll/internal/host"
	"plimsoll/internal/provision/records"
	"plimsoll/internal/sys"
)

// Teardown undoes what the journals of the named arrays say was done, all of them without names,
// newest first, and nothing else. First the whole stack of each is looked at: what apply did not
// make, or what is in use, is an *Obstructed error, and nothing was touched, unless destroy names
// it. What fails is kept in the journal; another Teardown goes on.
func (s *Site) Teardown(ctx context.Context, names []string, destroy records.GiveUp) error {
	if _, err := os.Stat(s.Journal); errors.Is(err, os.ErrNotExist) && len(names) == 0 {
		s.leaveNoTrace() // of one that was killed at its very end
		return nil
	}
	release, err := s.lock()
	if err != nil {
		return err
	}
	defer release()
	journals, broken, err := s.Made(names...)
	if err != nil {
		return err
	}
	for _, w := range journals {
		if w.Replacing != nil {
			return fmt.Errorf("array %s: its member %s is being replaced by %s; finish that first: plimsoll array apply",
				w.Array, w.Replacing.Old, w.Replacing.New)
		}
	}
	given, err := s.Clear(context.WithoutCancel(ctx), journals, destroy)
	if err != nil {
		return err
	}
	var gone error
	var down []*records.Work
	for _, w := range slices.Backward(journals) {
		w.Given = slices.DeleteFunc(slices.Clone(given), func(o records.Obstacle) bool { return o.Array != w.Array })
		err := s.teardownArray(ctx, w)
		if errors.Is(err, errGone) {
			gone = errors.Join(gone, err)
			continue
		}
		if err != nil {
			return err
		}
		down = append(down, w)
	}
	// Now that the arrays are gone: where mdadm.conf names none, Debian's update-initramfs puts
	// those in that it finds on the drives.
	if err := s.renewInitramfs(ctx, down, host.Renewal(s.Installed)); err != nil {
		return err
	}
	for _, w := range down {
		if err := s.forget(w); err != nil {
			return err
		}
	}
	s.leaveNoTrace()
	for _, b := range broken {
		gone = errors.Join(gone, b)
	}
	return gone
}

// Clear surveys the arrays and returns what is given up; anything else that stands in the way is an
// error, with which Teardown refuses before it touches anything.
func (s *Site) Clear(ctx context.Context, journals []*records.Work, destroy records.GiveUp) ([]records.Obstacle,
	error,
) {
	all, err := s.Survey(ctx, journals)
	if err != nil {
		return nil, err
	}
	left, given, err := destroy.Of(all)
	if err == nil && len(left) > 0 {
		err = &records.Obstructed{Obstacles: left}
	}
	return given, err
}

// Made are the journals of the named arrays, or all, with the names that their volumes have today; and
// those among them that cannot be read.
func (s *Site) Made(names ...string) ([]*records.Work, []*records.BrokenJournal, error) {
	all, broken, err := s.Journals()
	if err != nil || len(all) == 0 && len(names) == 0 {
		return all, broken, err
	}
	tree, err := block.Read(s.Machine)
	if err != nil {
		return nil, nil, err
	}
	rename(tree, all)
	if len(names) == 0 {
		return all, broken, nil
	}
	var some []*records.Work
	for _, n := range names {
		if i := slices.IndexFunc(broken, func(b *records.BrokenJournal) bool { return b.Array == n }); i >= 0 {
			return nil, nil, broken[i]
		}
		i := slices.IndexFunc(all, func(w *records.Work) bool { return w.Array == n })
		if i < 0 {
			return nil, nil, fmt.Errorf("array %.40q: plimsoll has built no array of that name here; see: ls %s",
				n, s.Journal)
		}
		some = append(some, all[i])
	}
	return some, nil, nil
}

func (s *Site) teardownArray(ctx context.Context, w *records.Work) error {
	whole := context.WithoutCancel(ctx)
	var gone error
	if err := s.discard(whole, w); err != nil {
		return err
	}
	for i := len(w.Steps) - 1; i >= 0; i-- {
		st := &w.Steps[i]
		if st.State == records.StepToDo {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("array %s: stopped before step %d of %d was undone: %w", w.Array, i+1, len(w.Steps), err)
		}
		err := s.undo(whole, w, i)
		if errors.Is(err, errGone) {
			gone = errors.Join(gone, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("array %s, undoing step %d of %d, %s: %w", w.Array, i+1, len(w.Steps), st.Title, err)
		}
	}
	if gone != nil {
		return fmt.Errorf("array %s: the rest is taken down; attach these and tear down again: %w",
			w.Array, oneLine{gone})
	}
	return nil
}

// oneLine is an error without newlines.
type oneLine struct{ error }

func (o oneLine) Error() string { return strings.ReplaceAll(o.error.Error(), "\n", ", ") }
func (o oneLine) Unwrap() error { return o.error }

// undo undoes one step. That teardown has begun is written once the first command that changes
// something is about to run and what it does not undo is known: a refusal leaves the array as
// usable as it was.
func (s *Site) undo(ctx context.Context, w *records.Work, i int) error {
	st := &w.Steps[i]
	emit := s.emitter(w, i)
	if len(st.Undo) == 0 { // undoing other steps takes it along
		if w.Undoing {
			st.State = records.StepToDo
		}
		return nil
	}
	was, undoing := st.State, w.Undoing
	w.Undoing, st.State = true, records.StepBegun
	if err := s.save(w); err != nil {
		return err
	}
	emit(Undoing)
	if err := s.actions(ctx, w, st, st.Undo, true); err != nil {
		if !undoing && !errors.Is(err, errGone) {
			// The very first undo has failed. Where its step is whole all the same, as after
			// "target is busy", nothing was undone.
			if missing, look := s.missing(ctx, w, st); look == nil && missing == "" && was == records.StepDone &&
				len(st.Check) > 0 {
				w.Undoing, st.State = false, was
				err = errors.Join(err, s.save(w))
			}
		}
		return err
	}
	st.State = records.StepToDo
	if err := s.save(w); err != nil {
		return err
	}
	emit(Undone)
	return nil
}

// discard gives up what --destroy has named and what undoing the steps does not take along.
func (s *Site) discard(ctx context.Context, w *records.Work) error {
	for _, o := range w.Given {
		if len(o.Command) == 0 {
			continue
		}
		w.Undoing = true
		if err := s.save(w); err != nil {
			return err
		}
		s.emit(Event{Array: w.Array, Title: "destroy " + o.Name + ", as --destroy says", What: Undoing})
		if err := sys.Brief(s.Run(ctx, io.Discard, o.Command...)); err != nil {
			return fmt.Errorf("array %s: --destroy %s: %w", w.Array, o.Name, err)
		}
	}
	return nil
}

// rename calls the volumes of arrays what they are called now, and an adopted array, too.
func rename(t *block.Tree, all []*records.Work) {
	for _, w := range all {
		w.Rename(func(serial string) *block.Device {
			d, err := disk(t, serial)
			if err != nil {
				return nil
			}
			return d
		})
		if d := mdBy(t, w.UUID()); d != nil && w.Adopted != "" {
			w.Adopted = d.Path
		}
	}
}
