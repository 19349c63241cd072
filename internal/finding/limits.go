package finding

import "plimsoll/internal/ceiling"

// hardware is the bound that a test of some minutes meets (ceiling.Binding) among what the machine and its volumes allow: neither the concurrency the job brings nor the rate it
// asks for.
func hardware(c *ceiling.Ceiling) (ceiling.Bound, bool) {
	return least(c, func(b ceiling.Bound) bool {
		return b.Kind != ceiling.Concurrency && b.Kind != ceiling.RequestedRate
	})
}

// least picks the smallest bound among those that pass, leaving out a sustained bound where a burst of the same resource
// passes too and is higher.
func least(c *ceiling.Ceiling, pass func(ceiling.Bound) bool) (ceiling.Bound, bool) {
	best, found := ceiling.Bound{}, false
	if c == nil {
		return best, false
	}
	for _, b := range c.Bounds {
		if !pass(b) || b.IOPS <= 0 || outdone(b, c, pass) {
			continue
		}
		if !found || b.IOPS < best.IOPS {
			best, found = b, true
		}
	}
	return best, found
}

func outdone(b ceiling.Bound, c *ceiling.Ceiling, pass func(ceiling.Bound) bool) bool {
	if b.Burst {
		return false
	}
	for _, o := range c.Bounds {
		if o.Burst && o.Kind == b.Kind && o.IOPS > b.IOPS && pass(o) {
			return true
		}
	}
	return false
}
