package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Teardown undoes what the journals of the named arrays say was done, all of them without names, newest first, and nothing
// else. What fails is kept in the journal; another Teardown goes on.
func (s *Site) Teardown(ctx context.Context, names ...string) error {
	if _, err := os.Stat(s.Journal); errors.Is(err, os.ErrNotExist) && len(names) == 0 {
		return nil
	}
	release, err := s.lock()
	if err != nil {
		return err
	}
	defer release()
	journals, err := s.chosen(names)
	if err != nil {
		return err
	}
	for _, w := range slices.Backward(journals) {
		if err := s.teardownArray(ctx, w); err != nil {
			return err
		}
	}
	s.leaveNoTrace()
	return nil
}

// chosen are the journals of the named arrays, or all.
func (s *Site) chosen(names []string) ([]*Work, error) {
	all, err := s.Journals()
	if err != nil || len(names) == 0 {
		return all, err
	}
	var some []*Work
	for _, n := range names {
		found := false
		for _, w := range all {
			if w.Array == n {
				some, found = append(some, w), true
			}
		}
		if !found {
			return nil, fmt.Errorf("array %.40q: plimsoll has made none of this name here; see: ls %s", n, s.Journal)
		}
	}
	return some, nil
}

func (s *Site) teardownArray(ctx context.Context, w *Work) error {
	whole := context.WithoutCancel(ctx)
	var gone error
	for i := len(w.Steps) - 1; i >= 0; i-- {
		st := &w.Steps[i]
		if st.State == StepToDo {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("array %s: stopped before step %d of %d was undone: %w", w.Array, i+1, len(w.Steps), err)
		}
		tell := func(what What) {
			s.emit(Event{Array: w.Array, Step: i + 1, Steps: len(w.Steps), Say: st.Say, What: what})
		}
		w.Torn, st.State = true, StepBegun
		if err := s.save(w); err != nil {
			return err
		}
		if len(st.Undo) > 0 {
			tell(Undoing)
		}
		err := s.actions(whole, w, st, st.Undo, true)
		if errors.Is(err, errGone) {
			gone = errors.Join(gone, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("array %s, undoing step %d of %d, %s: %w", w.Array, i+1, len(w.Steps), st.Say, err)
		}
		st.State = StepToDo
		if err := s.save(w); err != nil {
			return err
		}
		tell(Undone)
	}
	if gone != nil {
		return fmt.Errorf("array %s: the rest is taken down; attach these and tear down again: %s", w.Array, strings.ReplaceAll(gone.Error(), "\n", ", "))
	}
	return s.forget(w)
}

// Made are the journals that Teardown would undo.
func (s *Site) Made(names ...string) ([]*Work, error) { return s.chosen(names) }
