package run

import (
	"fmt"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/text"
)

const (
	// printedPart of an operation's time is what its printed latency must be: below it, most of the
	// operation is elsewhere.
	printedPart = 0.5
)

var partOnly = &diagnose.Rule{
	Code:  "PL428",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if len(m.Result.Seconds) > 0 || m.Failed() || m.Result.HeldBack() || m.Staged() {
				continue
			}
			f, ok := syncsLeftOut(m)
			if !ok {
				f, ok = allSubmission(m)
			}
			if ok {
				f.Subject, f.Scenarios = m.Label(), m.IDs()
				report(f)
			}
		}
	},
}

// syncsLeftOut finds jobs whose operations take longer than their writes, for a sync without a latency.
func syncsLeftOut(m diagnose.Measurement) (finding.Finding, bool) {
	d := m.Result.Total.Write
	each := m.All(func(w fio.Workload) bool { return w.SyncEvery == 1 && w.Writes() && !w.Reads() })
	if !each || m.Result.Total.Sync.Lat.Measured() || d.IOPS <= 0 || d.N < diagnose.EnoughReads {
		return finding.Finding{}, false
	}
	operation := time.Duration(float64(inJobs(m)) / float64(d.IOPS) * float64(time.Second))
	printed := time.Duration(max(d.Lat.Mean, d.Clat.Mean))
	if printed <= 0 || float64(printed) >= printedPart*float64(operation) {
		return finding.Finding{}, false
	}
	return finding.Finding{
		Message: fmt.Sprintf("A write and its sync take %s, of which fio printed %s: the sync is not in the latency.",
			text.Duration(operation), text.Duration(printed)),
		Evidence: []finding.Evidence{{
			What: "time of an operation", Found: text.Duration(operation), Expected: text.Duration(printed) + " as printed",
			Where: "jobs ÷ IOPS",
		}},
	}, true
}

// allSubmission finds single I/Os that are done when their submission returns.
func allSubmission(m diagnose.Measurement) (finding.Finding, bool) {
	single := m.All(func(w fio.Workload) bool {
		return w.Depth <= 1 && w.Engine != "" && !fio.Synchronous(w.Engine) && !polls(w)
	})
	if !single || m.Syncs() {
		return finding.Finding{}, false
	}
	for _, s := range sides(m) {
		whole := s.Slat.Mean + s.Clat.Mean
		if s.N < enoughIOs || s.Clat.Mean == 0 || whole < float64(wait) || s.Slat.Mean < submitting*whole {
			continue
		}
		return finding.Finding{
			Message: fmt.Sprintf("Of the %s that each of the %s takes, %s are its submission: the clat of %s is not the "+
				"storage's.", text.Duration(time.Duration(whole)), s.what, text.Duration(time.Duration(s.Slat.Mean)),
				text.Duration(time.Duration(s.Clat.Mean))),
			Evidence: []finding.Evidence{{
				What: "slat of the " + s.what, Found: text.Duration(time.Duration(s.Slat.Mean)),
				Expected: "below " + text.Percent(submitting) + " of lat", Where: "fio, slat + clat",
			}},
		}, true
	}
	return finding.Finding{}, false
}

const (
	// enoughIOs for a mean.
	enoughIOs = 100
	// wait is a submission that cannot be its own work: a system call computes for a few microseconds.
	wait = 50 * time.Microsecond
)
