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
		share := text.Percent(float64(other) / float64(did+other))
		f.Say("Job %s did not do what its name says: %s of its I/Os are %s (rw=%s).", w.Name, share, others, w.RW())
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
				mean := text.Duration(time.Duration(l.Mean))
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
	f.Say("%s IOPS of %s each are %s I/Os in flight, but the jobs keep %d at most.", m.IOPS(),
		time.Duration(m.MeanLatency()), units.Number(got), asked)
	return f.Saw("IOPS × mean latency", units.Number(got), fmt.Sprintf("%d = iodepth × numjobs", asked),
		"fio, and the job's options")
}
