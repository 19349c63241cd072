package live

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/internal/finding"
	"plimsoll/internal/stats"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// What sets a member apart from its peers while the array is at work. The rules of PL204 on a run
// know the job that was run; here only what the members do can be compared.
const (
	apartTimes  = 2.5 // its peers' time an I/O …
	apartMore   = 2.0 // … and by how many usual times more
	apartIOs    = 1.5 // times its peers' I/Os at most: no hot member
	apartPeer   = 0.1 // of its I/Os makes a member a peer
	sureBusy    = 0.95
	sureIdle    = 0.75
	hotIOs      = 2.0
	hotTimes    = 2.0
	aboveLeaves = 2.5 // times the slowest leaf's: the wait is above them
	heldAbove   = 0.5 // of the I/Os are at the device: the others are held
	tagTasks    = 0.4
	queueFull   = 0.7 // of its places are taken
	fewWait     = 4.0 // I/Os a leaf: the volume is slow by itself
)

// apart is the member of an array at work on which most I/Os wait, compared with the others.
type apart struct {
	*device
	peerWait units.Latency // median of the others
	peerIOPS float64       // median of the others
	busiest  float64       // of the others
	peers    int
}

// slower is whether it is slower than its peers by itself: not by more I/Os, not by less than usual is worth.
// Its peers must be sound (their time at most sound) or, where there are several, rest in between: at a limit
// that all share queues stand before all of them, and the longest gathers on one of equal volumes.
func (m apart) slower(usual, sound units.Latency) bool {
	return m.wait() >= apartTimes*m.peerWait && m.wait()-m.peerWait >= apartMore*usual &&
		m.iops() <= apartIOs*max(m.peerIOPS, 0.1) && (m.peerWait <= sound || m.peers > 1 && m.busiest <= sureIdle)
}

// hot is whether it is slower since it gets more I/Os.
func (m apart) hot() bool { return m.iops() > hotIOs*m.peerIOPS && m.wait() >= hotTimes*m.peerWait }

// BusyAlone says that a member was busy throughout while its peers idled, in a run or in a live look:
// shares of the time. One that has the queue and rests in between has it by uneven spread.
func BusyAlone(worst, peers float64) bool { return worst >= sureBusy && peers <= sureIdle }

// compared is the worst of the members where they are at work and slow; false without peers.
func (v *view) compared() (m apart, ok bool) {
	if !v.slow {
		return m, false
	}
	m.device = v.deepest()
	var waits, ios []float64
	for _, l := range v.leaves {
		if l != m.device && l.iops() > apartPeer*m.iops() {
			waits, ios = append(waits, float64(l.wait())), append(ios, l.iops())
			m.busiest = max(m.busiest, l.busy())
		}
	}
	m.peerWait, m.peerIOPS, m.peers = units.Latency(stats.Median(waits)), stats.Median(ios), len(waits)
	return m, len(waits) > 0
}

// cause is one of the member, with what its peers do.
func (m apart) cause(format string, args ...any) *Cause {
	return cause(Likely, m.Name, format, args...).saw(m.Name,
		finding.Says("%s IOPS, %s waiting, %v busy", units.Number(m.iops()), units.Number(m.waiting()), m.busy()),
		fmt.Sprintf("%s IOPS and %s per I/O, like its peers", units.Number(m.peerIOPS), m.peerWait), diskstats(m.Name))
}

// slowMember is one that is slower than its peers by itself.
func (v *view) slowMember() *Cause {
	m, ok := v.compared()
	if !ok || !m.slower(v.limit/slowTimes, v.limit) {
		return nil
	}
	sure := BusyAlone(m.busy(), m.busiest)
	if v.limited() && !sure {
		return nil // at a limit the queue gathers on one of equal volumes
	}
	c := m.cause("A slow member, %s, makes %s slow: %s per I/O, %s %s.", m.Name, v.Path, m.wait(),
		peers(m.peers), m.peerWait).
		try("replace it, or ask the provider; if it was made from a snapshot: plimsoll array warm %s", "/dev/"+m.Name).
		try("plimsoll check --probe %s   # when it is quiet", v.Path)
	if sure {
		c.Confidence = Certain
	}
	return c
}

// limited is whether a limit of the volumes or of the instance is reached.
func (v *view) limited() bool {
	return v.has("PL505", "PL604", "PL901", "PL603", "PL602")
}

func peers(n int) string {
	if n == 1 {
		return "its peer"
	}
	return "its " + text.Plural(n, "peer")
}

// hotMember is one that gets more I/Os than its peers.
func (v *view) hotMember() *Cause {
	m, ok := v.compared()
	if !ok || v.has("PL204") || !m.hot() {
		return nil
	}
	return m.cause("A hot member, %s, makes %s slow: it gets %s IOPS, %s %s.", m.Name, v.Path, units.Number(m.iops()),
		peers(m.peers), units.Number(m.peerIOPS)).
		try("a smaller chunk, or files spread over the array: plimsoll explain PL905")
}

// layer is a layer above the leaves in which an I/O waits.
func (v *view) layer() *Cause {
	w, leaf := v.top.wait(), v.slowestLeaf()
	if !v.slow || v.top.Leaf() || w <= aboveLeaves*leaf {
		return nil
	}
	d := v.holder()
	c := cause(Likely, d.Name, "A layer of this machine, %s, makes %s slow: %s per I/O there, %s in the volumes.", d.Name,
		v.Path, w, leaf).
		saw(v.top.Name, w, "near "+leaf.String(), diskstats(v.top.Name)).
		saw("at the device", units.Number(d.did.InFlight), units.Number(d.waiting()), "in_flight of "+d.Name).
		try("dmsetup table %s; cat %s", d.Name, queueOf(d.Name, "nr_requests"))
	if d.Crypt {
		c.Next = nil
		c.try("cryptsetup refresh --perf-no_read_workqueue --perf-no_write_workqueue --persistent %s", d.Name)
	}
	return c
}

// queueOf is the file of a device's setting.
func queueOf(device, setting string) string { return "/sys/block/" + device + "/queue/" + setting }

// scheduler is one that keeps I/Os before the device. The scheduler none holds nothing back: what waits
// there waits for places in the queue.
func (v *view) scheduler() *Cause {
	l, at := v.leaves[0], v.sum(func(l *device) float64 { return l.did.InFlight })
	// The time of flushes and discards is none of in_flight.
	waiting := v.sum(func(l *device) float64 { return l.did.Wait.Seconds() / l.span })
	if !v.slow || v.has("PL908") || waiting <= 1 || at >= heldAbove*waiting || l.Scheduler == "" || l.Scheduler == "none" {
		return nil
	}
	return cause(Likely, l.Name, "The scheduler %s makes %s slow: only %s of %s waiting I/Os are at the device.",
		l.Scheduler, v.Path, units.Number(at), units.Number(waiting)).
		saw("I/Os at the device", units.Number(at), units.Number(waiting), "in_flight and /proc/diskstats of "+l.Name).
		try("echo none > %s", queueOf(l.Name, "scheduler"))
}

// holder is the layer in which an I/O waits: the lowest that is as slow as the top.
func (v *view) holder() *device {
	d := v.top
	for _, o := range v.all {
		if !o.Leaf() && o.wait() >= v.top.wait()/aboveLeaves {
			d = o
		}
	}
	return d
}

// places is a queue that is full: tasks wait for a place in it, which no disk statistic shows.
func (v *view) places() *Cause {
	n := v.tasks[telemetry.ForTags]
	i := slices.IndexFunc(v.leaves, func(l *device) bool {
		return l.Requests == 0 || l.did.InFlight >= queueFull*float64(l.Requests)
	})
	if n < tagTasks || i < 0 {
		return nil
	}
	l := v.leaves[i]
	return cause(Likely, l.Name, "A short queue makes %s slow: %s tasks wait for one of its %d slots.", v.Path,
		units.Number(n), l.Requests).
		saw("tasks that wait for a slot", units.Number(n), "below 0.4", "/proc/PID/stack").
		saw("slots taken", units.Number(l.did.InFlight), fmt.Sprintf("fewer than %d", l.Requests), "in_flight").
		try("cat %s %s", queueOf(l.Name, "nr_requests"), queueOf(l.Name, "scheduler"))
}

// slowVolume is slow with nothing that queues.
func (v *view) slowVolume() *Cause {
	if !v.proven || v.deepest().waiting() > fewWait {
		return nil
	}
	l := v.slowest()
	subject := "The volume " + l.Name + " is"
	if len(v.leaves) > 1 {
		subject = "All " + text.Plural(len(v.leaves), "volume") + " are"
	}
	c := cause(Likely, l.Name, "%s slow for %s: %s with %s waiting.", subject, v.Path, v.which(l),
		units.Number(v.deepest().waiting())).
		saw("time of an I/O", l.wait(), v.usualText(), diskstats(l.Name))
	if v.near {
		c.Confidence = Possible
	}
	if l.reads().Wait > v.limit { // only what is read may be read for the first time
		c.say("%s slow for %s, or reads blocks for the first time (snapshot): %s with %s waiting.", subject,
			v.Path, v.which(l), units.Number(v.deepest().waiting()))
		c.try("plimsoll check --probe %s   # tells a first touch from a slow volume", v.Path)
	}
	return c.try("ask the provider, or look at the drive: plimsoll check %s", v.Path)
}

// which says which direction of a volume is slow, and how slow; both where both are.
func (v *view) which(l *device) string {
	r, w := l.reads(), l.writes()
	switch {
	case r.Wait > v.limit && (w.IOPS == 0 || w.Wait <= v.limit):
		return r.Wait.String() + " per read"
	case w.Wait > v.limit && (r.IOPS == 0 || r.Wait <= v.limit):
		return w.Wait.String() + " per write"
	}
	return l.wait().String() + " per I/O"
}

func (v *view) usualText() string {
	if v.Expect > 0 {
		return "at most " + v.Expect.String() + " (--expect)"
	}
	if v.stated {
		return v.typical.String() + " as stated for the volumes, at most " + v.limit.String()
	}
	return v.typical.String() + " as usual for such devices, at most " + v.limit.String()
}

// deepest is the leaf on which most I/Os wait.
func (v *view) deepest() *device {
	return slices.MaxFunc(v.leaves, func(a, b *device) int { return cmp.Compare(a.waiting(), b.waiting()) })
}

func (v *view) slowest() *device {
	return slices.MaxFunc(v.leaves, func(a, b *device) int { return cmp.Compare(a.wait(), b.wait()) })
}

// unknownLimit is what is slow under a long queue, all volumes alike.
func (v *view) unknownLimit() *Cause {
	if !v.proven || v.deepest().waiting() <= fewWait {
		return nil
	}
	l, who := v.slowest(), ""
	all := v.divide()
	for _, u := range v.users {
		if u.cost >= otherShare*all && all > 0 {
			who = fmt.Sprintf(", most of them from %s (%s)", u.who(), units.Rate(u.bytes()))
		}
	}
	which, where := l.Name, ""
	if v.Counters != "" {
		where = "on that machine, "
	}
	if len(v.leaves) > 1 {
		which = fmt.Sprintf("each of %d volumes", len(v.leaves))
	}
	return cause(Possible, v.top.Name,
		"%s seems to be at a limit that plimsoll does not know: %s I/Os wait on %s at %s IOPS%s.", v.Path,
		units.Number(v.deepest().waiting()), which, units.Number(l.iops()), who).
		saw("time of an I/O", l.wait(), v.usualText(), diskstats(l.Name)).
		try(where+"name the volumes: plimsoll why %s --volumes "+v.Instance.Example()+" --instance TYPE", v.Path)
}
