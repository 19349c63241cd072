package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/diagnose/live"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// idlePart of the mean member's I/Os is nothing: superblocks and a filesystem's own I/O.
const idlePart = 0.01

// MemberIOs are the I/Os of every member of a run, those without any too: from telemetry where it
// watched them, else from fio's disk statistics.
func (c *Case) MemberIOs(m Measurement) []Load { return c.loads(m, 0) }

// leaves are the members that took part in a run.
func (c *Case) leaves(m Measurement) []Load { return c.loads(m, 1) }

// loads are of the members with so many I/Os at least.
func (c *Case) loads(m Measurement, least uint64) (all []Load) {
	add := func(name string, n uint64, ns, util float64) {
		if n >= least {
			all = append(all, Load{name, float64(n), ns / float64(max(n, 1)), util})
		}
	}
	a := c.ArrayOf(m)
	for _, d := range membersOf(a, m.Devices) {
		add(d.Name, d.Reads+d.Writes,
			float64(d.ReadWait)*float64(d.Reads)+float64(d.WriteWait)*float64(d.Writes), d.Util)
	}
	if len(all) > 1 {
		return all
	}
	all = nil
	for _, d := range m.Disks {
		if d.Member || isMember(a, d.Name) {
			add(d.Name, d.Reads+d.Writes, float64(d.ReadTicks+d.WriteTicks)*1e6, d.Util)
		}
	}
	return all
}

// isMember is whether a device is a volume of an array.
func isMember(a *topology.Array, device string) bool {
	return a != nil && device != "" &&
		slices.ContainsFunc(a.Volumes, func(v topology.Volume) bool { return v.Device == device && !v.Missing })
}

// membersOf are the devices that are volumes of an array.
func membersOf(a *topology.Array, devices []telemetry.DeviceUse) []telemetry.DeviceUse {
	return slices.DeleteFunc(slices.Clone(devices), func(d telemetry.DeviceUse) bool { return !isMember(a, d.Name) })
}

// Load is what one member did in a run.
type Load struct {
	Name string
	N    float64 // requests
	Wait float64 // mean nanoseconds of a request, its queueing included; 0 without any
	Util float64
}

// volumes are how many a run's I/Os may go to.
func (c *Case) volumes(m Measurement) int {
	if a := c.ArrayOf(m); a != nil {
		return max(len(a.Volumes), 1)
	}
	return max(len(c.leaves(m)), 1)
}

// IdleMembers are those that did no I/O while others did enough to tell, out of so many. Mirrors
// may rest while md reads their mates, so reads of mirrored arrays count only with more in flight
// than members; a linear array is idle by its nature (PL211). Of what is not in sync yet md reads
// the first mirror only, so that the others rest until a resync has passed.
func (c *Case) IdleMembers(m Measurement) (idle []string, all int) {
	resting, all := c.restingMembers(m)
	if a := c.ArrayOf(m); a != nil && a.Level.Mirrored() && IsSyncing(a) {
		return nil, all
	}
	return resting, all
}

// IsSyncing says that an array copies or checks something in the background.
func IsSyncing(a *topology.Array) bool { return a.Syncing != "" && a.Syncing != IdleSync }

func (c *Case) restingMembers(m Measurement) (idle []string, all int) {
	members := c.MemberIOs(m)
	if a := c.ArrayOf(m); a != nil &&
		(a.Level == topology.Linear || a.Level.Mirrored() && !m.Any(fio.Workload.Writes) && m.InFlight() <= len(members)) {
		return nil, len(members)
	}
	if m.DisksPartial != "" && len(m.Devices) == 0 {
		return nil, len(members)
	}
	sum := 0.0
	for _, d := range members {
		sum += d.N
	}
	if spare(m.Disks) || len(members) < 2 || sum < EnoughReads*float64(len(members)) {
		return nil, len(members)
	}
	for _, d := range members {
		if d.N < idlePart*sum/float64(len(members)) {
			idle = append(idle, d.Name)
		}
	}
	return idle, len(members)
}

// spare says that members rest by their nature: bcache's are a cache and the disk behind it, and of several multipath
// devices each has one path that works.
func spare(disks []fio.Disk) bool {
	tops, working := 0, 0
	for _, d := range disks {
		switch {
		case !d.Member && !strings.HasPrefix(d.Name, "dm-"):
			return strings.HasPrefix(d.Name, "bcache")
		case !d.Member:
			tops++
		case d.Reads+d.Writes > 0:
			working++
		}
	}
	return tops > 1 && working <= tops
}

// typicalLatency is what one I/O of a run takes when nothing queues, as data sheets or the user
// state it, 0 where they do not.
func (c *Case) typicalLatency(m Measurement) time.Duration {
	if b := m.Ceiling.Concurrency(); b != nil && !b.SelfMeasured() {
		return time.Duration(b.Demand * float64(time.Second))
	}
	a := c.ArrayOf(m)
	if a == nil || len(a.Volumes) == 0 {
		return 0
	}
	read, write := time.Duration(0), time.Duration(0)
	for _, v := range a.Volumes {
		read, write = max(read, v.ReadLatency), max(write, v.WriteLatency)
	}
	t := m.Total
	reads, writes := float64(t.Read.IOPS), float64(t.Write.IOPS)
	if reads+writes == 0 || reads > 0 && read == 0 || writes > 0 && write == 0 {
		return 0
	}
	return time.Duration((reads*float64(read) + writes*float64(write)) / (reads + writes))
}

// EnoughReads below which a missing read proves nothing.
const EnoughReads = 1000

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
