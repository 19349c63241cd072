package telemetry

import (
	"sort"
	"time"

	"plimsoll/internal/units"
)

// window returns the samples nearest to from and to; false when they are one and the same, so
// nothing can be said.
func (s *Series) window(from, to time.Duration) (first, last int, ok bool) {
	first, last = s.nearest(from), s.nearest(to)
	return first, last, first < last
}

// nearest is the index of the sample whose time is closest to at.
func (s *Series) nearest(at time.Duration) int {
	i := sort.Search(len(s.Samples), func(i int) bool { return s.Samples[i].At >= at })
	switch {
	case i == len(s.Samples):
		return i - 1
	case i > 0 && at-s.Samples[i-1].At < s.Samples[i].At-at:
		return i - 1
	}
	return i
}

// Use returns each device's rates between from and to, both since Start, in the order of Devices.
// The samples nearest to the two bound it, and the time between those is what counts are divided
// by. It returns nil when there are fewer than two samples; a device that was not there at two of
// them has only its Name.
//
// The average queue is Δ(weighted time)/Δt and utilisation Δ(time with a request in flight)/Δt:
// fields 11 and 10 of Documentation/admin-guide/iostats.rst. Since Linux 5.0 the second is sampled
// at the clock tick and may exceed Δt a little.
func (s *Series) Use(from, to time.Duration) []DeviceUse {
	first, last, ok := s.window(from, to)
	if !ok {
		return nil
	}
	uses := make([]DeviceUse, len(s.Devices))
	for i, name := range s.Devices {
		a, b := first, last
		for a < b && s.Samples[a].Devices[i].Gone {
			a++
		}
		for b > a && s.Samples[b].Devices[i].Gone {
			b--
		}
		uses[i] = use(name, &s.Samples[a].Devices[i], &s.Samples[b].Devices[i], s.Samples[b].At-s.Samples[a].At)
	}
	return uses
}

func use(name string, a, b *Device, d time.Duration) DeviceUse {
	u := DeviceUse{Name: name}
	t := d.Seconds()
	if t <= 0 {
		return u
	}
	perSec := func(a, b uint64) units.IOPS { return units.IOPS(float64(since(a, b)) / t) }
	u.Reads, u.Writes = since(a.Reads, b.Reads), since(a.Writes, b.Writes)
	u.ReadBytes, u.WriteBytes = bytesSince(a.ReadBytes, b.ReadBytes), bytesSince(a.WriteBytes, b.WriteBytes)
	u.ReadIOPS, u.WriteIOPS = units.IOPS(float64(u.Reads)/t), units.IOPS(float64(u.Writes)/t)
	u.ReadRate, u.WriteRate = units.Rate(float64(u.ReadBytes)/t), units.Rate(float64(u.WriteBytes)/t)
	u.ReadMerges, u.WriteMerges = perSec(a.ReadMerges, b.ReadMerges), perSec(a.WriteMerges, b.WriteMerges)
	u.Flushes = perSec(a.Flushes, b.Flushes)
	if u.Reads > 0 {
		u.ReadWait = timeSince(a.ReadTime, b.ReadTime) / time.Duration(u.Reads)
	}
	if u.Writes > 0 {
		u.WriteWait = timeSince(a.WriteTime, b.WriteTime) / time.Duration(u.Writes)
	}
	u.Queue = timeSince(a.Queue, b.Queue).Seconds() / t
	u.Util = min(1, timeSince(a.Busy, b.Busy).Seconds()/t)
	return u
}

const wrap32 = 1 << 32

// since is how far a counter came from a to b. The kernel prints times as 32-bit milliseconds, and
// on 32-bit machines all counters, so a fall from the upper half of 32 bits is a wrap. Any other
// fall is a counter that began again at 0: the device went away and came back.
func since(a, b uint64) uint64 {
	switch {
	case b >= a:
		return b - a
	case a < wrap32 && a >= wrap32/2 && b < wrap32/2:
		return b + wrap32 - a
	}
	return b
}

// bytesSince is since on the sectors that the kernel counts.
func bytesSince(a, b units.Bytes) units.Bytes {
	return units.Bytes(since(uint64(a)/sector, uint64(b)/sector)) * sector
}

// timeSince is since on the milliseconds that the kernel counts.
func timeSince(a, b time.Duration) time.Duration {
	return time.Duration(since(uint64(a.Milliseconds()), uint64(b.Milliseconds()))) * time.Millisecond
}

// Host returns what the machine did between from and to, bounded as in Use; nil when there are
// fewer than two samples.
func (s *Series) Host(from, to time.Duration) *HostUse {
	first, last, ok := s.window(from, to)
	if !ok {
		return nil
	}
	a, b := &s.Samples[first], &s.Samples[last]
	h := &HostUse{CPUs: s.CPUs}
	for i := first; i <= last; i++ {
		h.DirtyMax = max(h.DirtyMax, s.Samples[i].Dirty)
		h.WritebackMax = max(h.WritebackMax, s.Samples[i].Writeback)
	}
	was, is := a.cells(nil), b.cells(nil)
	// idle and iowait may fall (proc_stat(5)); a negative share would be nonsense.
	grew := func(col int) float64 { return max(0, (*is[col].time - *was[col].time).Seconds()) }
	all := 0.0
	for col := colUser; col <= colSteal; col++ {
		all += grew(col)
	}
	if all > 0 {
		h.User, h.System, h.IOWait = grew(colUser)/all, grew(colSystem)/all, grew(colIOWait)/all
		h.IRQ, h.SoftIRQ, h.Steal = grew(colIRQ)/all, grew(colSoftIRQ)/all, grew(colSteal)/all
	}
	if t := grew(colAt); t > 0 {
		h.IOSome, h.IOFull = min(1, grew(colIOSome)/t), min(1, grew(colIOFull)/t)
		h.SamplerCPU = grew(colOwn) / t
	}
	return h
}

// Near is the sample closest to a time since Start, nil when there is none.
func (s *Series) Near(at time.Duration) *Sample {
	if len(s.Samples) == 0 {
		return nil
	}
	return &s.Samples[s.nearest(at)]
}
