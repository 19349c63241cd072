package bench

import (
	"context"
	"fmt"
	"slices"

	"plimsoll/internal/bundle"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
)

// search measures scenarios that follow from those before them, until none does.
func (r *runner) search(ctx context.Context, w *bundle.Writer, done map[mark]*result.Result) error {
	begun := r.m.Now()
	var measured []bundle.Scenario
	for i := 0; ; i++ {
		if i == len(r.plan.Suite.Scenarios) {
			if spent := r.m.Now().Sub(begun); r.plan.Budget > 0 && spent > r.plan.Budget {
				r.emit(Noted{fmt.Sprintf("the budget of %s is spent", text.Duration(r.plan.Budget))})
				return nil
			}
			next, more := r.plan.Next(measured)
			if !more {
				return nil
			}
			if err := r.add(w, next); err != nil {
				return err
			}
		}
		s := r.plan.Suite.Scenarios[i]
		res := done[mark{0, s.ID}]
		if res == nil {
			err := r.cool(ctx)
			if err != nil {
				return err
			}
			if res, err = r.one(ctx, w, s); err != nil {
				return err
			}
			r.emit(Ended{s.ID, res})
		}
		c := r.ceilings[s.ID]
		measured = append(measured, bundle.Scenario{Scenario: s, Ceiling: &c, Result: res})
	}
}

// add makes a scenario part of the run.
func (r *runner) add(w *bundle.Writer, s suite.Scenario) error {
	if err := r.limit(s, r.place(s.Role)); err != nil {
		return err
	}
	c := r.ceilings[s.ID]
	r.plan.Suite.Scenarios = append(slices.Clip(r.plan.Suite.Scenarios), s)
	w.Run.Suite, w.Run.Ceilings = r.plan.Suite, r.ceilings
	r.emit(Added{s, &c})
	return w.Save()
}
