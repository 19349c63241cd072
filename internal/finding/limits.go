package finding

import "plimsoll/internal/ceiling"

// hardware is the bound of the machine and its volumes that a test of some minutes meets, where one is known.
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
