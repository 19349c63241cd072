package ceiling

import (
	"cmp"
	"time"
)

// Held is what must be printed of a ceiling: beside a burst figure how long it lasts, beside a
// sustained figure the limit that holds then, which often is not the one that limits first.
type Held struct {
	// Now is what a test of some minutes on a rested machine meets; nil where no limit is known.
	// Print Now.Label() beside its figure, and For where Then is not nil.
	Now *Bound
	// For is how long a load that never pauses gets Now; 0 where Then is nil, for then it lasts
	// without end, or where it is not known how long the burst lasts.
	For time.Duration
	// Then is the smallest limit once all bursts are spent, nil where Now lasts. Print Then.Label()
	// beside its figure, never Now's. Between the two there may be other phases: see Course.
	Then *Bound
}

// Lasts is the limit that holds for good.
func (h Held) Lasts() *Bound { return cmp.Or(h.Then, h.Now) }

// alike is the share from which on a limit allows no more than another.
const alike = 0.9999

// Limits are what holds a load that never pauses: the least limit, and one of another kind that allows no more.
func (c Ceiling) Limits() []*Bound {
	all := []*Bound{cmp.Or(c.Sustained(), c.Binding())}
	if next := c.SustainedNext(); next != nil && all[0].IOPS > next.IOPS*alike {
		all = append(all, next)
	}
	return all
}

// Held says what a ceiling comes to now and for good, and names all of Limits beside that.
func (c Ceiling) Held() Held {
	h := Held{Now: c.Binding(), Then: c.Sustained()}
	if all := c.Limits(); len(all) > 1 {
		both := *all[0]
		both.Also, h.Then = all[1].Kind, &both
	}
	switch {
	case h.Now == nil || h.Then == nil: // a burst without a known baseline has nothing to fall to
	case h.Then.IOPS > h.Now.IOPS*alike: // as much, if by another limit
		h.Now, h.Then = h.Then, nil
	default:
		if steps := c.Course(); len(steps) > 1 {
			h.For = steps[0].Until
		}
	}
	return h
}
