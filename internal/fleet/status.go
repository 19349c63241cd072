package fleet

import (
	"fmt"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Status is what one host does at the moment.
type Status struct {
	Host string
	What string // in words, such as "measures scenario 3"
	// IOPS and BW are those of its last second, 0 where it measures nothing.
	IOPS units.IOPS
	BW   units.Rate
	Age  time.Duration // since its last word
	Done bool
	Lost bool
}

// statuses are those of all hosts at an instant.
func (c *coordinator) statuses(now time.Time) []Status {
	all := make([]Status, 0, len(c.hosts))
	for _, h := range c.hosts {
		s := Status{
			Host: h.Name, What: h.doing(), Age: now.Sub(h.heard), Done: h.State == bundle.HostDone,
			Lost: h.State == bundle.HostLost || h.State == bundle.HostRefused,
		}
		if h.second.Event != "" && !h.closed {
			s.IOPS, s.BW = units.IOPS(h.second.IOPS), units.Rate(h.second.BW)
		}
		all = append(all, s)
	}
	return all
}

// doing is what a host does in words.
func (h *host) doing() string {
	switch {
	case h.State == bundle.HostDone:
		return "done"
	case h.closed:
		return string(h.State) + ": " + h.Why
	case h.copied && h.binary == "":
		return "plimsoll is copied there"
	case h.hello.Plimsoll == 0:
		return "is connected to"
	case !h.planned:
		return "its clock is compared"
	case h.ended:
		return "sends its run"
	case h.waits:
		return fmt.Sprintf("is ready for scenario %d", h.waiting)
	case h.second.Event != "":
		ramp := ""
		if h.second.Ramp {
			ramp = " (ramp)"
		}
		return fmt.Sprintf("measures scenario %d, %s%s", h.second.Scenario,
			text.Duration(h.second.Elapsed.Round(time.Second)), ramp)
	}
	return "prepares"
}
