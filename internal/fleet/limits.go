package fleet

import (
	"cmp"
	"fmt"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// limits are how long the coordinator waits for a host in each phase. A host whose connection
// works, and that answers pings, may still never do what it was asked for.
type limits struct {
	hello   time.Duration // for the engine to connect
	clocks  time.Duration // for a host's clock to be known
	silence time.Duration // without a word
	prepare time.Duration // without progress until it is ready, and after a scenario
	slack   time.Duration // in which a scenario ends beyond its planned time, or makes progress where it has none
	check   time.Duration // to look at itself
	stop    time.Duration // to stop and send what it has
	send    time.Duration // for the first of a bundle
	rate    units.Rate    // that a bundle comes with after that, on average
	phase   time.Duration // in all, whatever a host says of its progress and of its plan
}

// Patience is how long a host may make no progress until it is ready, and after a scenario, where the
// user says nothing.
const Patience = 5 * time.Minute

// usual are the limits where a test has set no others.
func usual() limits {
	return limits{
		hello: time.Minute, clocks: time.Minute, silence: 20 * time.Second, prepare: Patience, slack: 5 * time.Minute,
		check: 10 * time.Minute, stop: 40 * time.Second, send: time.Minute, rate: units.Rate(16 * units.KiB),
		phase: 24 * time.Hour,
	}
}

// Phases, as they stand behind "it got no further with".
const (
	preparing = "its preparations"
	sending   = "its bundle"
)

func scenarioName(id int) string { return fmt.Sprintf("scenario %d", id) }

// wait is what the coordinator waits for of a host.
type wait struct {
	phase string // empty while nothing is awaited: it is ready
	begun time.Time
	since time.Time // of the last progress
	allow time.Duration
	// endless says that the scenario has no planned time; written is what the prefill had written.
	endless bool
	written units.Bytes
}

// during is what a host was at when it was lost.
func (h *host) during() string {
	if h.hello.Plimsoll == 0 {
		return "connecting"
	}
	return cmp.Or(h.phase, "waiting for the others")
}

// await begins a phase, which may take so long without progress.
func (h *host) await(phase string, allow time.Duration) {
	now := time.Now()
	h.wait = wait{phase: phase, begun: now, since: now, allow: allow}
}

// progress is made by a host that works on what it was asked for.
func (h *host) progress() { h.since = time.Now() }

// overdue says why a host is given up, and is empty while it has time.
func (h *host) overdue(l limits) string {
	if h.phase == "" {
		return ""
	}
	now := time.Now()
	for _, one := range []struct{ took, limit time.Duration }{
		{now.Sub(h.since), h.allow}, {now.Sub(h.begun), l.phase},
	} {
		if one.took > one.limit {
			return fmt.Sprintf("it got no further with %s within %s, though it answers: check what plimsoll is doing there",
				h.phase, text.Duration(one.limit.Round(time.Second)))
		}
	}
	return ""
}

// claimed is how long a host says that something will take, as far as that is believed.
func (l limits) claimed(d time.Duration) time.Duration { return min(max(d, 0), l.phase) }

// bundleDue lets a bundle take the time that follows from what has come and the least rate.
func (h *host) bundleDue(l limits) {
	h.since = h.begun
	h.allow = l.send + time.Duration(float64(h.size)/float64(l.rate)*float64(time.Second))
}

// letGo ends at once, when the user wants it, what has nothing to lose: connecting, checks and
// bundles that lie on the host. Hosts that measure are asked to stop.
func (c *coordinator) letGo() {
	for _, h := range c.hosts {
		if c.check || c.fetch || !h.planned {
			h.lose(bundle.HostLost, "interrupted")
			continue
		}
		h.order(command{Stop: true})
	}
}

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
