package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// What makes a member a straggler. A queue alone proves nothing: under a closed loop it gathers on
// whichever volume is marginally behind, and healthy, identical members showed 3.3 ms and 94 ms a
// request in one run of the lab (2 and 153 ms in writes) while the array ran at its limit. A slow
// one (a quarter of its peers) showed 98 % use beside peers that idled, and the array far below its
// limit.
const (
	stragglerShallow = 2.0   // times its peers' wait where no queue can gather: at most one I/O in flight a member
	stragglerLeast   = 200e3 // ns by which it must be slower there; below lies the noise of a guest's timers
	stragglerDeep    = 3.0   // times its peers' wait under a deep queue
	stragglerBusy    = 0.95  // its utilisation, in a run that reached less than …
	stragglerShort   = 0.85  // … of its ceiling …
	stragglerIdle    = 0.75  // … while its peers' median was below this
	nearCeiling      = 0.95  // of the ceiling: reached
	// stragglerFree of the ceiling: no queue is suspect. Random writes of the lab stay at 0.943 to
	// 0.958 by uneven spread.
	stragglerFree  = 0.90
	fewIOs         = 0.1 // of the mean: a member with less took no part
	fewIOsMirrored = 0.5 // the same where md chose the mirrors: with few in flight it reads from the first idle one
)

var straggler = &rule{
	Code:     "PL204",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "array member slower than its peers",
	When: "A warning when a member takes at least 2 times its peers' time per request with no more I/Os in flight " +
		"than members; or is busy over " +
		"95 % while its peers' median stays under 75 % and the array below 85 % of its ceiling. An info when a " +
		"queue at least 3 times " +
		"as long gathers on one member and the array's ceiling is not known, or the array below 90 % of it: an " +
		"array that delivers what was paid for has no slow member. Silent about deep queues where a probe " +
		"(run --probe) shows that the member is like the others.",
	Why: "A stripe waits for its slowest member, so one slow volume makes all of them slow: in the lab a RAID10 " +
		"of eight with one member at a " +
		"quarter of its rate wrote at 4 times that member's rate, 251 IOPS instead of 1,153.",
	Fix: "Probe each member alone, reading only (plimsoll run --probe); a slow one shows at once. " +
		"Then replace it, finish its " +
		"initialisation (a volume made from a " +
		"snapshot is slow on first touch), or raise its provisioning.",
	Bad: `nvme1n1: ios=0/1628099, ticks=0/1040612     0.64 ms a request
nvme2n1: ios=0/1631037, ticks=0/12053112    7.39 ms a request`,
	Good: `nvme1n1: ios=0/1196794, ticks=0/715212      0.60 ms a request
nvme2n1: ios=0/1199343, ticks=0/692532      0.58 ms a request`,
	Ignore: "When it is an info and probing shows equal members: with a deep queue against a rate limit the queue " +
		"has to wait somewhere.",
	After: []finding.Code{"PL201"},
	Check: checkStraggler,
}

// lag is a run in which some members led.
type lag struct {
	m         Measurement
	slow      []load  // worst first
	peers     float64 // median wait of the faster half, ns
	peersUtil float64 // median of all but the worst
	deep      bool
	reached   float64 // share of the hardware's ceiling, 0 when unknown
}

// busyAlone says that the worst member was busy throughout while its peers idled. One that has the
// queue and rests in between has it by uneven spread.
func (l lag) busyAlone() bool { return l.slow[0].util >= stragglerBusy && l.peersUtil <= stragglerIdle }

func (l lag) ratio() float64 { return l.slow[0].wait / max(l.peers, 1e3) }

func checkStraggler(c *Case, report func(finding.Finding)) {
	deep, sure := map[string][]lag{}, map[string]*finding.Finding{} // by array
	var names []string
	for _, m := range c.measured() {
		l, ok := c.lagIn(m)
		if a := c.arrayOf(m); !ok || a != nil && a.Degraded > 0 || !l.deep && m.reachedAny() {
			continue
		}
		subject, worst := m.top(), l.slow[0]
		if g, probed := c.probed(c.arrayOf(m)); probed && l.deep &&
			(g.shared || g.least >= probeEven*g.peers || g.slowest != worst.name) {
			continue // a closed loop's queue gathers somewhere: alone this member is like the others
		}
		if !slices.Contains(names, subject) {
			names = append(names, subject)
		}
		busy := l.reached > 0 && l.reached < stragglerShort && l.busyAlone()
		switch {
		case !l.deep && l.ratio() >= stragglerShallow && worst.wait-l.peers >= stragglerLeast:
			sure[subject] = join(sure[subject], l.finding(subject, finding.Warn, "with no queue to gather"))
		case l.deep && busy && l.ratio() >= stragglerShallow:
			sure[subject] = join(sure[subject], l.finding(subject, finding.Warn,
				fmt.Sprintf("while its peers idle and the array reaches %s of its ceiling", text.Percent(l.reached))))
		case l.deep:
			deep[subject] = append(deep[subject], l)
		}
	}
	for _, n := range names {
		if sure[n] == nil {
			sure[n] = suspect(n, deep[n])
		}
		if sure[n] != nil {
			report(*sure[n])
		}
	}
}

// reachedAny says that a run gave what its ceiling allows, be that of the hardware or of a stated
// latency.
func (m Measurement) reachedAny() bool {
	if m.Ceiling == nil {
		return false
	}
	b := m.Ceiling.Binding()
	return b != nil && !b.SelfMeasured() && m.iops() >= nearCeiling*b.IOPS
}

// join adds a finding of another run to the first of its kind.
func join(first *finding.Finding, f finding.Finding) *finding.Finding {
	if first == nil {
		return &f
	}
	first.Scenarios = append(first.Scenarios, f.Scenarios...)
	first.Evidence = append(first.Evidence, f.Evidence...)
	return first
}

// suspect makes an info of the members on which queues gathered in deep runs, nil when nothing
// speaks against them. That one member leads in several runs is no evidence: fio repeats its
// offsets, and so their uneven spread, from run to run (three of three in the lab).
func suspect(subject string, runs []lag) *finding.Finding {
	var found *finding.Finding
	for _, l := range runs {
		if l.ratio() >= stragglerDeep && l.reached < stragglerFree {
			found = join(
				found,
				l.finding(subject, finding.Info, "where a closed loop's queue gathers, or a slow volume: probe it"),
			)
		}
	}
	return found
}

// lagIn finds the slow members of a run. RAID10 at depth 1 reads one side of each mirror only: idle
// members are no peers.
func (c *Case) lagIn(m Measurement) (lag, bool) {
	all := c.leaves(m)
	mean := 0.0
	for _, d := range all {
		mean += d.n / float64(len(all))
	}
	asked := m.inFlight()
	least := fewIOs
	if a := c.arrayOf(m); a != nil && a.Level.Mirrored() && m.any(fio.Workload.Reads) && asked > 0 &&
		asked <= len(all) {
		least = fewIOsMirrored
	}
	all = slices.DeleteFunc(all, func(d load) bool { return d.n < least*mean })
	if len(all) < 2 {
		return lag{}, false
	}
	slices.SortStableFunc(all, func(a, b load) int { return cmp.Compare(b.wait, a.wait) })
	l := lag{m: m}
	var waits, utils []float64
	for i, d := range all {
		if i >= (len(all)+1)/2 {
			waits = append(waits, d.wait)
		}
		if i > 0 {
			utils = append(utils, d.util)
		}
	}
	l.peers, l.peersUtil = median(waits), median(utils)
	for i, d := range all[:(len(all)+1)/2] {
		if i == 0 || d.wait >= stragglerDeep*l.peers {
			l.slow = append(l.slow, d)
		}
	}
	l.deep = asked == 0 || asked > len(all)
	b, ok := hardware(m.Ceiling)
	if low, dry := lasting(m.Ceiling); dry {
		b = low // a queue gathers as well where the burst is spent
	}
	if ok {
		l.reached = float64(m.iops() / b.IOPS)
	}
	return l, true
}

func (l lag) finding(subject string, s finding.Severity, how string) finding.Finding {
	where := "disk statistics of fio, ticks over ios, scenario " + l.m.Label()
	if len(l.m.Result.Devices) > 0 {
		where = "telemetry, scenario " + l.m.Label()
	}
	f := finding.Finding{Subject: subject, Severity: s, Scenarios: l.m.ids()}
	var names, waits []string
	for _, d := range l.slow {
		names, waits = append(names, d.name), append(waits, units.Latency(d.wait).String())
		f.Evidence = append(
			f.Evidence,
			finding.Evidence{
				What:     "time per request on " + d.name,
				Found:    units.Latency(d.wait).String(),
				Expected: units.Latency(l.peers).String() + " (median of the faster half)",
				Where:    where,
			},
			finding.Evidence{
				What:     "utilisation of " + d.name,
				Found:    text.Percent(d.util),
				Expected: text.Percent(l.peersUtil) + " (median of its peers)",
				Where:    where,
			},
		)
		f.Commands = append(
			f.Commands,
			fmt.Sprintf("fio --name=probe --filename=/dev/%s --readonly --rw=randread --bs=8k "+
				"--iodepth=16 --ioengine=libaio --direct=1 --runtime=5 --time_based", d.name),
		)
	}
	verb, whose := "takes", "its"
	if len(names) > 1 {
		verb, whose = "take", "their"
	}
	f.Message = fmt.Sprintf("%s %s %s a request, up to %s the %s of %s peers, %s.", strings.Join(names, " and "), verb,
		strings.Join(waits, " and "), text.Times(l.ratio()), units.Latency(l.peers).String(), whose, how)
	return f
}

// top names the array of a run for findings on it: the first device that fio or telemetry lists.
func (m Measurement) top() string {
	for _, d := range m.Result.Disks {
		if !d.Member {
			return d.Name
		}
	}
	if len(m.Result.Devices) > 0 {
		return m.Result.Devices[0].Name
	}
	return m.Label()
}
