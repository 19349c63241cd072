package diagnose

import (
	"slices"

	"plimsoll/internal/ceiling"
)

// hardware is the bound of the machine and its volumes that a test of some minutes meets, where one
// is known.
func hardware(c *ceiling.Ceiling) (ceiling.Bound, bool) {
	if c == nil {
		return ceiling.Bound{}, false
	}
	b := c.Hardware()
	if b == nil || b.IOPS <= 0 {
		return ceiling.Bound{}, false
	}
	return *b, true
}

// lasting is what hardware comes down to when its burst is spent; false where it has none.
func lasting(c *ceiling.Ceiling) (ceiling.Bound, bool) {
	b, ok := hardware(c)
	if !ok || !b.Burst {
		return ceiling.Bound{}, false
	}
	i := slices.IndexFunc(c.Bounds, func(o ceiling.Bound) bool { return o.Kind == b.Kind && !o.Burst && o.IOPS > 0 })
	if i < 0 {
		return ceiling.Bound{}, false
	}
	return c.Bounds[i], true
}
