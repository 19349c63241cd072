package diagnose

import (
	"maps"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/cloud"
	"plimsoll/internal/finding"
	"plimsoll/internal/text"
)

// Hardware is the bound of the machine and its volumes that a test of some minutes meets, where one
// is known.
func Hardware(c *ceiling.Ceiling) (ceiling.Bound, bool) {
	if c == nil {
		return ceiling.Bound{}, false
	}
	b := c.Hardware()
	if b == nil || b.IOPS <= 0 {
		return ceiling.Bound{}, false
	}
	return *b, true
}

// VolumesKnown says that a limit of the volumes is among the bounds. Without one, an instance's limit is
// a bound of all volumes that may be attached, and staying below it is no gap: a volume of its own
// limit, which nobody knows, may be all there was.
func VolumesKnown(c *ceiling.Ceiling) bool {
	return slices.ContainsFunc(c.Bounds, OfVolumes)
}

// lasting is what hardware comes down to when its burst is spent; false where it has none.
func lasting(c *ceiling.Ceiling) (ceiling.Bound, bool) {
	b, ok := Hardware(c)
	if !ok || !b.Burst {
		return ceiling.Bound{}, false
	}
	i := slices.IndexFunc(c.Bounds, func(o ceiling.Bound) bool { return o.SameResource(b) && !o.Burst && o.IOPS > 0 })
	if i < 0 {
		return ceiling.Bound{}, false
	}
	return c.Bounds[i], true
}

// NearCeiling is the share of a ceiling that counts as reached.
const NearCeiling = 0.95

// Reached says whether a run came to the limit of its hardware, which clears the CPU.
func (m Measurement) Reached() bool {
	b, ok := Hardware(m.Ceiling)
	return ok && m.IOPS() >= NearCeiling*b.IOPS
}

// Exceeded is the largest share of a run in which one device counted demand above a limit, and
// which limit that was.
func (m Measurement) Exceeded(
	of func(cloud.EBSStats) (iops, rate time.Duration),
) (what string, share float64, ev []finding.Evidence) {
	run := max(m.Wall, m.Measured) // the pages are read before fio begins and after it ends
	if run <= 0 {
		return "", 0, nil
	}
	for _, device := range slices.Sorted(maps.Keys(m.EBS)) {
		iops, tp := of(m.EBS[device])
		for _, x := range []struct {
			what string
			d    time.Duration
		}{{"IOPS", iops}, {"throughput", tp}} {
			part := float64(x.d) / float64(run)
			if part < exceededShare {
				continue
			}
			ev = append(ev, finding.Evidence{
				What:     "time above the limit on " + x.what + ", counted by " + device,
				Found:    text.Duration(x.d) + " of " + text.Duration(run),
				Expected: "below " + text.Percent(exceededShare),
				Where:    "NVMe log 0xD0 of /dev/" + device + ", after less before",
			})
			if part > share {
				what, share = x.what, part
			}
		}
	}
	return what, min(share, 1), ev
}

// OfMachine is the time above what the instance may do over its storage network.
func OfMachine(s cloud.EBSStats) (iops, rate time.Duration) {
	if s.Local {
		return 0, 0
	}
	return s.InstanceIOPSExceeded, s.InstanceRateExceeded
}

// OfVolume is the time above what the volume itself may do; a local drive counts that where EBS
// counts the instance.
func OfVolume(s cloud.EBSStats) (iops, rate time.Duration) {
	if s.Local {
		return s.InstanceIOPSExceeded, s.InstanceRateExceeded
	}
	return s.VolumeIOPSExceeded, s.VolumeRateExceeded
}

// OfInstance says that a bound is the instance's.
func OfInstance(b ceiling.Bound) bool {
	return slices.Contains(
		[]ceiling.Kind{ceiling.InstanceIOPS, ceiling.InstanceRate, ceiling.HostCacheIOPS, ceiling.HostCacheRate}, b.Kind)
}

// OfVolumes says that a bound is the volumes'.
func OfVolumes(b ceiling.Bound) bool {
	return b.Kind == ceiling.VolumeIOPS || b.Kind == ceiling.VolumeRate
}

// OfBytes says that a bound is one of throughput, of the volumes or the instance.
func OfBytes(b ceiling.Bound) bool {
	return slices.Contains([]ceiling.Kind{ceiling.VolumeRate, ceiling.InstanceRate, ceiling.HostCacheRate}, b.Kind)
}

// exceededShare of a run, by the volume's own count, from which a limit was met: shorter moments
// are the start of the load.
const exceededShare = 0.05
