package run

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (
	// flightMost bounds the I/Os in flight by Little's law, as a multiple of those that the jobs may keep
	// there: rounded figures and the ends of a run make a few per cent, never as much again.
	flightMost = 2.0
	// wrongBy times as much is another workload, or another unit, than the one that is named.
	wrongBy = 4
)

func contradicting(_ *facts, m measurement) (f fault) {
	if len(m.Seconds) > 0 || counted(m.Total) && m.Measured < diagnose.Shortest || m.Failed() || m.Staged() {
		return f
	}
	// Two figures that cannot both be true are invalid where no rounding and no missing part of an output makes that:
	// then nobody knows which of them was measured.
	f = m.Finds("")
	add := func(wrong fault) {
		f.Message = strings.TrimSpace(f.Message + " " + wrong.Message)
		f = f.Shown(wrong.Evidence).As(cmp.Or(f.Severity, wrong.Severity))
	}
	add(countsOff(m))
	add(blocksOff(m))
	add(flightOff(m))
	add(meanOff(m))
	if f.Message == "" { // the figures are right for what was done
		f = f.As(finding.Info).Titled("the job did not do what its name says")
	}
	add(nameOff(m))
	return f
}

// counted says that somebody counted the I/Os: of figures in a table that is not so, and neither is how long they
// took.
func counted(s fio.Job) bool { return s.Read.N+s.Write.N > 0 }

// countsOff compares IOPS with the I/Os, bytes and time of an output of fio's, which counts all of them.
func countsOff(m measurement) (f fault) {
	if m.Source == "" || m.Program != "" || m.Fio == "" || m.Lacks(part.AllJobs, part.AllSides, part.Ending) {
		return f
	}
	for _, s := range sides(m) {
		counted := float64(s.N) / max(s.Runtime.Seconds(), 1e-9)
		if s.IOPS < stallLeast || s.N > 0 && s.Bytes > 0 && s.Runtime > 0 &&
			counted < wrongBy*float64(s.IOPS) && float64(s.IOPS) < wrongBy*counted {
			continue
		}
		f.Say("%s IOPS of %s are not %s of %s in %s.", s.IOPS, s.what, text.Plural(s.N, "I/O"), s.Bytes, s.Runtime)
		return f.As(finding.Invalid).Saw(s.what, s.N, finding.Says("%s IOPS × %s", s.IOPS, s.Runtime), "fio")
	}
	return f
}

// blocksOff compares bandwidth with IOPS × block size, of directions whose blocks have one size in
// all jobs.
func blocksOff(m measurement) (f fault) {
	t := m.Total
	for _, s := range []struct {
		what string
		of   fio.Direction
		bs   units.Bytes
	}{
		{"reads", t.Read, oneBlock(m, func(w fio.Workload) (units.Bytes, bool) { return w.ReadBS, w.ReadSizes == nil })},
		{"writes", t.Write, oneBlock(m, func(w fio.Workload) (units.Bytes, bool) { return w.WriteBS, w.WriteSizes == nil })},
	} {
		if s.bs == 0 || counted(t) && s.of.N < diagnose.EnoughReads || s.of.IOPS <= 0 || s.of.BW <= 0 ||
			s.of.Short+s.of.Dropped > 0 {
			continue
		}
		want := units.Rate(float64(s.of.IOPS) * float64(s.bs))
		if math.Abs(float64(s.of.BW/want)-1) <= ceiling.SizeSlack {
			continue
		}
		if s.of.BW > wrongBy*want || want > wrongBy*s.of.BW {
			f.Severity = finding.Invalid
		}
		f.Say("%s IOPS of %s %s are %s, not %s.", s.of.IOPS, s.bs, s.what, want, s.of.BW)
		return f.Saw("bandwidth of the "+s.what, s.of.BW, fmt.Sprintf("%s IOPS × %s = %s", s.of.IOPS, s.bs, want),
			"fio, and the job's options")
	}
	return f
}

// A job's name that says one direction and nothing of the other, nor of what is done before a test.
var (
	sideByName = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:rand(?:om)?|seq(?:uential)?)?(?:(read)|write)(?:s|$|[^a-z])`)
	openName   = regexp.MustCompile(`(?i)writ.*read|read.*writ|(?:^|[^a-z])(?:rw|wr|rd|r|w)(?:$|[^a-z])|mix|verif|prep|` +
		`fill|lay|creat|init|warm|cond|setup|load|for`)
)

// nameOff compares what a job did with its name: who reads the name alone takes the figure for that of the other
// direction.
func nameOff(m measurement) (f fault) {
	if m.Program != "" || len(m.Workloads) != 1 {
		return f
	}
	w, t := m.Workloads[0], m.Total
	name := sideByName.FindStringSubmatch(w.Name)
	if name == nil || openName.MatchString(w.Name) {
		return f
	}
	others, did, other := "reads", t.Write.N, t.Read.N
	if name[1] != "" {
		others, did, other = "writes", other, did
	}
	if other > did {
		share := float64(other) / float64(did+other)
		f.Say("Job %s did not do what its name says: %v of its I/Os are %s (rw=%s).", w.Name, share, others, w.RW())
		f = f.Saw(others+" of "+w.Name, share, "fewer than half", "fio, and the job's name")
	}
	return f
}

// meanOff compares the mean of a latency with the least that its percentiles allow.
func meanOff(m measurement) (f fault) {
	for _, j := range m.Jobs {
		for _, d := range j.Directions() {
			l := d.Clat
			if l.Mean <= 0 || d.N < diagnose.EnoughReads || d.Mistimed() {
				continue
			}
			for _, p := range l.Percentiles {
				least := (1 - p.P/100) * float64(p.Value)
				if p.P < 1 || p.P > 99 || l.Mean >= (1-meanGap)*least {
					continue
				}
				mean := time.Duration(l.Mean)
				f.Say("A mean latency of %s is impossible: %v of the I/Os took %s or more.", mean, 1-p.P/100,
					p.Value)
				return f.As(finding.Invalid).
					Saw("mean clat of "+j.Name, mean, "at least "+text.Duration(time.Duration(least)), "fio, percentiles")
			}
		}
	}
	return f
}

// meanGap is the width of a bin, and then some: percentiles name a bin.
const meanGap = 0.05

// oneBlock is the block size that all jobs of a run have, 0 where they differ or one has several.
func oneBlock(m measurement, of func(fio.Workload) (units.Bytes, bool)) units.Bytes {
	bs := units.Bytes(0)
	for _, w := range m.Workloads {
		size, single := of(w)
		if size == 0 {
			continue
		}
		if !single || bs != 0 && bs != size {
			return 0
		}
		bs = size
	}
	return bs
}

// flightOff compares the I/Os in flight by Little's law with what the jobs may keep there. (Fewer than
// that have causes: PL407, and the note beside the depth.)
func flightOff(m measurement) (f fault) {
	asked, got := m.InFlight(), m.Little()
	if t := m.Total; t.TotalRuntime > t.Runtime*3/2 && inJobs(m) == 1 {
		return f // a group whose number of jobs is not in it
	}
	if asked == 0 || len(m.Workloads) == 0 || m.Syncs() || m.Sum().Apart ||
		got <= flightMost*float64(asked) || m.Depth.Fio > flightMost*float64(asked) { // fio itself kept more
		return f
	}
	if got > wrongBy*float64(asked) {
		f.Severity = finding.Invalid
	}
	f.Say("%s IOPS at %s each mean %s I/Os in flight, but the jobs keep at most %d.", m.IOPS(),
		time.Duration(m.MeanLatency()), units.Number(got), asked)
	return f.Saw("IOPS × mean latency", units.Number(got), fmt.Sprintf("%d = iodepth × numjobs", asked),
		"fio, and the job's options")
}

// printedPart of an operation's time is what its printed latency must be: below it, most of the
// operation is elsewhere.
const printedPart = 0.5

func partOnly(_ *facts, m measurement) (f fault) {
	if len(m.Seconds) > 0 || m.Failed() {
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
	if !each || !steadily(m) || m.Total.Sync.Lat.Measured() || d.IOPS <= 0 || d.N < diagnose.EnoughReads {
		return f
	}
	operation := time.Duration(float64(inJobs(m)) / float64(d.IOPS) * float64(time.Second))
	printed := mean(d)
	if printed <= 0 || float64(printed) >= printedPart*float64(operation) {
		return f
	}
	return m.Finds("A write and its share of the syncs take %s, but only %s was reported: the latency does not "+
		"include the sync.",
		operation, printed).
		Advise("Use jobs / IOPS, the time of a whole operation").
		Saw("time of an operation", operation, text.Duration(printed)+" as printed", "jobs ÷ IOPS")
}

// noSyncs finds syncs that took less than a call of the kernel does: nothing was flushed in them.
func noSyncs(m measurement) (f fault) {
	half, known := m.Total.Sync.Lat.At(50)
	if !known || half <= 0 || half >= systemCall {
		return f
	}
	return m.Finds("Half of the syncs took %s or less, faster than any system call: they flushed nothing.",
		half).
		Advise("Use jobs / IOPS, the time of a whole operation").
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
		slat := time.Duration(s.Slat.Mean)
		return m.Finds("%s of the %s that each of the %s takes is spent in submission: the clat of %s is not that of "+
			"the storage.",
			slat, time.Duration(whole), s.what, time.Duration(s.Clat.Mean)).
			Advise("Use lat, which covers the whole I/O, instead of clat").
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

func unlike(_ *facts, m measurement) (f fault) {
	loads := m.Workloads
	if len(m.Seconds) > 0 || len(m.Jobs) >= len(loads) || len(loads) < 2 {
		return f
	}
	var names []string
	kinds, reads, writes := map[string]bool{}, 0, 0
	for _, w := range loads {
		names = append(names, w.Name)
		kinds[kindOf(w)] = true
		reads, writes = reads+count(w.Reads()), writes+count(w.Writes())
	}
	if len(kinds) < 2 {
		return f
	}
	f = m.Finds("%s are reported as one: a sum of unlike jobs, not a result of either.", text.Some(names, 4)).
		Saw("jobs in the row", len(loads), "jobs of one kind", "fio, the lines with (g=N)")
	if reads <= 1 && writes <= 1 {
		f.Severity = finding.Info
		f.Message = strings.TrimSuffix(f.Message, ", not a result of either.") +
			": the reads are one job's and the writes the other's."
	}
	return f
}

func kindOf(w fio.Workload) string { return fmt.Sprint(w.RW(), w.ReadBS, w.WriteBS) }

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
