package ceiling

import (
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Cost is what one logical I/O of a workload asks of an array's members, summed over all of them,
// reads and writes by their shares: what a purchase of volumes, and of the instance before them, is
// sized by.
type Cost struct {
	IOs   float64 // as the volumes count them
	Bytes float64
}

// CostOf is the mean cost of one I/O of w on an array whose volumes are alike. Of does the same
// arithmetic.
func CostOf(a *topology.Array, w fio.Workload) Cost {
	if len(a.Volumes) == 0 {
		return Cost{}
	}
	v := a.Volumes[0]
	m, c := membersOf(a), counting{v.CountedIO, v.Merges}
	var sum cost
	sum.add(m.perIO(w, true, c).cost, w.ReadShare)
	sum.add(m.perIO(w, false, c).cost, writeShare(w))
	return Cost{sum.readIOs + sum.writeIOs, sum.readBytes + sum.writeBytes}
}

// Uses is the largest share of any limit that so many I/Os and bytes per second take, those that are read
// and those that are written; a limit that is not known limits nothing.
func Uses(l topology.Limits, readIOs, writeIOs, readBytes, writeBytes float64) float64 {
	most := 0.0
	for _, one := range limits {
		if b := one.of(l); b.capacity > 0 {
			most = max(most, one.use(b, cost{readIOs, writeIOs, readBytes, writeBytes})/b.capacity)
		}
	}
	return most
}

// Concurrent is how many I/Os per second inFlight of them give when each takes latency: Little's law.
func Concurrent(inFlight int, latency time.Duration) units.IOPS {
	if latency <= 0 {
		return 0
	}
	return units.IOPS(float64(inFlight) / latency.Seconds())
}
