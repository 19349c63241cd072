package run

import (
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
)

// printedPart of an operation's time is what its printed latency must be: below it, most of the
// operation is elsewhere.
const printedPart = 0.5

func partOnly(_ *facts, m measurement) (f fault) {
	if !steadily(m) {
		return f
	}
	return first(syncsLeftOut(m), noSyncs(m), allSubmission(m))
}

// syncsLeftOut finds jobs whose operations take longer than their writes, for a sync without a latency.
func syncsLeftOut(m measurement) (f fault) {
	d := m.Total.Write
	each := m.All(func(w fio.Workload) bool {
		return (w.SyncEvery == 1 || w.SyncEvery > 1 && w.Depth <= 1) && w.Writes() && !w.Reads()
	})
	if !each || m.Total.Sync.Lat.Measured() || d.IOPS <= 0 || d.N < diagnose.EnoughReads {
		return f
	}
	operation := time.Duration(float64(inJobs(m)) / float64(d.IOPS) * float64(time.Second))
	printed := time.Duration(max(d.Lat.Mean, d.Clat.Mean))
	if printed <= 0 || float64(printed) >= printedPart*float64(operation) {
		return f
	}
	return m.Finds("A write and its share of the syncs take %s, of which %s were printed: no sync is in the latency.",
		operation, printed).
		Advise("Read jobs / IOPS, the time of a whole operation").
		Saw("time of an operation", operation, text.Duration(printed)+" as printed", "jobs ÷ IOPS")
}

// noSyncs finds syncs that took less than a call of the kernel does: nothing was flushed in them.
func noSyncs(m measurement) (f fault) {
	half, known := m.Total.Sync.Lat.At(50)
	if !known || half <= 0 || half >= systemCall {
		return f
	}
	return m.Finds("Half of the syncs took %s or less, less than any call of the kernel: nothing was flushed in them.",
		half).
		Advise("Read jobs / IOPS, the time of a whole operation").
		Saw("latency of half of the syncs", half, "at least "+text.Duration(systemCall), "fio, sync")
}

// systemCall is less than what the shortest system call and two readings of a clock take.
const systemCall = 50 * time.Nanosecond

// allSubmission finds single I/Os that are done when their submission returns.
func allSubmission(m measurement) (f fault) {
	single := m.All(func(w fio.Workload) bool {
		return w.Depth <= 1 && w.Engine != "" && !fio.Synchronous(w.Engine) && !polls(w)
	})
	if !single || m.Syncs() {
		return f
	}
	for _, s := range sides(m) {
		whole := s.Slat.Mean + s.Clat.Mean
		if s.N < enoughIOs || s.Clat.Mean == 0 || whole < float64(wait) || s.Slat.Mean < submitting*whole {
			continue
		}
		slat := text.Duration(time.Duration(s.Slat.Mean))
		return m.Finds("Of the %s that each of the %s takes, %s are its submission: the clat of %s is not the storage's.",
			time.Duration(whole), s.what, slat, time.Duration(s.Clat.Mean)).
			Advise("Read lat, the whole of an I/O, instead of clat").
			Saw("slat of the "+s.what, slat, "below "+text.Percent(submitting)+" of lat", "fio, slat + clat")
	}
	return f
}

const (
	// enoughIOs for a mean.
	enoughIOs = 100
	// wait is a submission that cannot be its own work: a system call computes for a few microseconds.
	wait = 50 * time.Microsecond
)
