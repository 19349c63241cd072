package diagnose

import (
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
)

// idlePart of the mean member's I/Os is nothing: superblocks and a filesystem's own I/O.
const idlePart = 0.01

// memberIOs are the I/Os of every member of a run, those without any too: from telemetry where it
// watched them, else from fio's disk statistics.
func (c *Case) memberIOs(m Measurement) []load {
	a := c.arrayOf(m)
	leaf := func(name string) bool {
		return a != nil &&
			slices.ContainsFunc(
				a.Volumes,
				func(v topology.Volume) bool { return v.Device == name && name != "" && !v.Missing },
			)
	}
	var out []load
	for _, d := range m.Result.Devices {
		if leaf(d.Name) {
			out = append(out, load{name: d.Name, n: float64(d.Reads + d.Writes), util: d.Util})
		}
	}
	if len(out) > 1 {
		return out
	}
	out = nil
	for _, d := range m.Result.Disks {
		if d.Member || leaf(d.Name) {
			out = append(out, load{name: d.Name, n: float64(d.Reads + d.Writes), util: d.Util})
		}
	}
	return out
}

// idleMembers are those that did no I/O while others did enough to tell, out of so many. Mirrors
// may rest while md reads their mates, so reads of mirrored arrays count only with more in flight
// than members; a linear array is idle by its nature (PL211). Of what is not in sync yet md reads
// the first mirror only, so that the others rest until a resync has passed.
func (c *Case) idleMembers(m Measurement) (idle []string, all int) {
	resting, all := c.restingMembers(m)
	if a := c.arrayOf(m); a != nil && a.Level.Mirrored() && isSyncing(a) {
		return nil, all
	}
	return resting, all
}

// isSyncing says that an array copies or checks something in the background.
func isSyncing(a *topology.Array) bool { return a.Syncing != "" && a.Syncing != idle }

func (c *Case) restingMembers(m Measurement) (idle []string, all int) {
	members := c.memberIOs(m)
	if a := c.arrayOf(m); a != nil &&
		(a.Level == topology.Linear || a.Level.Mirrored() && !m.any(fio.Workload.Writes) && m.inFlight() <= len(members)) {
		return nil, len(members)
	}
	if m.Result.DisksPartial != "" && len(m.Result.Devices) == 0 {
		return nil, len(members)
	}
	sum := 0.0
	for _, d := range members {
		sum += d.n
	}
	if len(members) < 2 || sum < enoughReads*float64(len(members)) {
		return nil, len(members)
	}
	for _, d := range members {
		if d.n < idlePart*sum/float64(len(members)) {
			idle = append(idle, d.name)
		}
	}
	return idle, len(members)
}

// typicalLatency is what one I/O of a run takes when nothing queues, as data sheets or the user
// state it, 0 where they do not.
func (c *Case) typicalLatency(m Measurement) time.Duration {
	if b := m.Ceiling.Concurrency(); b != nil && !b.SelfMeasured() {
		return time.Duration(b.Demand * float64(time.Second))
	}
	a := c.arrayOf(m)
	if a == nil || len(a.Volumes) == 0 {
		return 0
	}
	read, write := time.Duration(0), time.Duration(0)
	for _, v := range a.Volumes {
		read, write = max(read, v.ReadLatency), max(write, v.WriteLatency)
	}
	t := m.Result.Total
	reads, writes := float64(t.Read.IOPS), float64(t.Write.IOPS)
	if reads+writes == 0 || reads > 0 && read == 0 || writes > 0 && write == 0 {
		return 0
	}
	return time.Duration((reads*float64(read) + writes*float64(write)) / (reads + writes))
}
