package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
)

// Lag is a run in which some members led.
type Lag struct {
	M         Measurement
	Slow      []Load  // worst first
	Peers     float64 // median wait of the faster half, ns
	PeersUtil float64 // median of all but the worst
	Deep      bool
	Reached   float64 // share of the hardware's ceiling, 0 when unknown
}

// BusyAlone says that the worst member was busy throughout while its peers idled, as a live look
// says it.
func (l Lag) BusyAlone() bool { return live.BusyAlone(l.Slow[0].Util, l.PeersUtil) }

// Ratio is how much longer the worst member takes than its peers.
func (l Lag) Ratio() float64 { return l.Slow[0].Wait / max(l.Peers, 1e3) }

// Gathers names the members on which the queue of a run waits, with their times: those that take
// twice their peers' or more, "" where all are alike or are not known. It accuses none: a closed
// loop's queue waits somewhere.
func (c *Case) Gathers(m Measurement) (names, how string) {
	l, ok := c.LagIn(m)
	if a := c.ArrayOf(m); !ok || a != nil && a.Degraded > 0 || l.Ratio() < StragglerShallow {
		return "", ""
	}
	names, how = l.Take()
	return names, fmt.Sprintf("%s, the peers %s", how, units.Latency(l.Peers))
}

// Take names the slow members, and says what they take: "sdb and sdc take 3 ms and 4 ms per request".
func (l Lag) Take() (names, how string) {
	var slow, times []string
	for _, d := range l.Slow {
		slow, times = append(slow, d.Name), append(times, units.Latency(d.Wait).String())
	}
	verb := "takes"
	if len(slow) > 1 {
		verb = "take"
	}
	names = strings.Join(slow, " and ")
	return names, fmt.Sprintf("%s %s %s per request", names, verb, strings.Join(times, " and "))
}

// LagIn finds the slow members of a run. RAID10 at depth 1 reads one side of each mirror only: idle
// members are no peers.
func (c *Case) LagIn(m Measurement) (Lag, bool) {
	all := c.leaves(m)
	mean := 0.0
	for _, d := range all {
		mean += d.N / float64(len(all))
	}
	asked := m.InFlight()
	least := fewIOs
	if a := c.ArrayOf(m); a != nil && a.Level.Mirrored() && m.Any(fio.Workload.Reads) && asked > 0 &&
		asked <= len(all) {
		least = fewIOsMirrored
	}
	all = slices.DeleteFunc(all, func(d Load) bool { return d.N < least*mean })
	if len(all) < 2 {
		return Lag{}, false
	}
	slices.SortStableFunc(all, func(a, b Load) int { return cmp.Compare(b.Wait, a.Wait) })
	l := Lag{M: m}
	var waits, utils []float64
	for i, d := range all {
		if i >= (len(all)+1)/2 {
			waits = append(waits, d.Wait)
		}
		if i > 0 {
			utils = append(utils, d.Util)
		}
	}
	l.Peers, l.PeersUtil = stats.Median(waits), stats.Median(utils)
	for i, d := range all[:(len(all)+1)/2] {
		if i == 0 || d.Wait >= StragglerDeep*l.Peers {
			l.Slow = append(l.Slow, d)
		}
	}
	l.Deep = asked == 0 || asked > len(all)
	b, ok := Hardware(m.Ceiling)
	if low, dry := lasting(m.Ceiling); dry {
		b = low // a queue gathers as well where the burst is spent
	}
	if ok {
		l.Reached = float64(m.IOPS() / b.IOPS)
	}
	return l, true
}

const fewIOs = 0.1 // of the mean: a member with less took no part

const fewIOsMirrored = 0.5 // the same where md chose the mirrors: with few in flight it reads from the first idle one

// StragglerDeep is how many times its peers' wait a straggler has under a deep queue.
const StragglerDeep = 3.0

// StragglerShallow is the same where no queue can gather: at most one I/O in flight a member.
const StragglerShallow = 2.0
