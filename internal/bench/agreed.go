package bench

import (
	"context"
	"fmt"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
)

// between is the time that hosts which start together have from the planned end of a scenario to the next one, besides
// the cooldown: to end fio, to write what it measured, and to start it again.
const between = 30 * time.Second

// agreed waits for the instant at which all hosts start a scenario.
func (r *runner) agreed(ctx context.Context, s suite.Scenario) error {
	if r.plan.StartAt.IsZero() {
		return nil
	}
	if r.begins.IsZero() {
		r.begins = r.plan.StartAt
	}
	at := r.begins
	r.begins = at.Add(took(s, r.place(s.Role)) + r.plan.Suite.Cooldown + between)
	if late := r.m.Now().Sub(at); late > 0 {
		r.emit(Noted{fmt.Sprintf("scenario %d starts %s after the agreed start time", s.ID, text.Duration(late))})
	}
	for left := at.Sub(r.m.Now()); left > 0; left = at.Sub(r.m.Now()) { // the clock may be set meanwhile
		if err := pause(ctx, min(left, time.Second)); err != nil {
			return err
		}
	}
	return nil
}

// pause waits, unless what it is for ends before.
func pause(ctx context.Context, long time.Duration) error {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
	return ctx.Err()
}

// clock is what the kernel knows of this host's wall clock, nil where nothing keeps it or nobody asks.
func (r *runner) clock() *bundle.FleetClock {
	if r.plan.StartAt.IsZero() {
		return nil
	}
	offset, most, err := sys.ClockError()
	if err != nil {
		r.emit(Noted{fmt.Sprintf("how far this host's clock may be off is not known: %v", err)})
		return nil
	}
	return &bundle.FleetClock{Wall: offset, Error: most, Source: "wall clock of the host, error as its kernel knows it"}
}
