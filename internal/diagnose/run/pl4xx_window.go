package run

import (
	"fmt"
	"math"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

const (

	// fromCache is the share of a buffered job's bytes that the devices must have seen. The rest
	// was answered from memory, or was still there at the end: of a long write that is the little
	// that may be dirty.
	fromCache = 0.9
	// enoughBytes below which what the devices saw proves nothing.
	enoughBytes = 16 * units.MiB
	// noRun is a window of which fio takes no sample: the first I/Os of a queue, and what a write cache or a
	// memory holds, are all there is.
	noRun = sampleEvery
	// nearlyEnough samples, of 8 s, whose mean is known to agreeing or better, say as much as ten seconds do.
	nearlyEnough = 16
	agreeing     = 0.05
)

var tooShort = &diagnose.Rule{
	Code:  "PL418",
	Needs: []part.Part{part.AllJobs, part.AllSides},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			r := m.Result
			n := r.Total.Read.N + r.Total.Write.N + r.Total.Trim.N
			if r.Measured <= 0 || n == 0 && r.Bytes() == 0 {
				continue
			}
			fix := "" // the rule's, which is about the job
			if r.Source == "" {
				fix = "Use --runtime 30s or more."
			}
			did := text.Count(n) + " I/Os"
			if n == 0 { // quoted without its counts
				did = r.Bytes().String()
			}
			if r.Measured >= diagnose.Shortest {
				if m.TooShort() {
					severity := finding.Warn
					if sampledWell(m) {
						severity = finding.Info
					}
					report(finding.Finding{
						Severity:  severity,
						Subject:   m.Label(),
						Scenarios: m.IDs(),
						Fix:       fix,
						Title:     "the run was too short for what it should show",
						Message:   fmt.Sprintf("Only %s was measured: too short for an error margin.", text.Duration(r.Measured)),
						Evidence: []finding.Evidence{
							{
								What:     "95 % interval of mean IOPS",
								Found:    "none (" + r.IOPS.None + ")",
								Expected: "from 10 s on",
								Where:    "seconds of the run",
							},
						},
					})
				}
				continue
			}
			severity := finding.Warn
			if r.Measured < noRun {
				severity = finding.Invalid
			}
			report(finding.Finding{
				Severity:  severity,
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Fix:       fix,
				Message: fmt.Sprintf("All was done in %s: %s show how a run starts, not what the storage carries.",
					text.Duration(r.Measured), did),
				Evidence: []finding.Evidence{
					{
						What:     "measured",
						Found:    text.Duration(r.Measured),
						Expected: "at least " + text.Duration(diagnose.Shortest),
						Where:    "fio, runtime of the jobs",
					},
				},
			})
		}
	},
}

// sampledWell says that fio's own samples of a short import make up for the seconds that it does not have: they are
// many, and the 95 % interval of their mean (Student's t of 15 samples: 2.13) is narrow.
func sampledWell(m diagnose.Measurement) bool {
	j := fio.Job{}
	if len(m.Result.Jobs) == 1 {
		j = m.Result.Jobs[0]
	}
	s := j.Read.IOPSSamples
	if j.Write.N > j.Read.N {
		s = j.Write.IOPSSamples
	}
	if j.Count > 1 || inJobs(m) > 1 { // fio pools the samples of a row's jobs
		return false
	}
	return s.N >= nearlyEnough && s.Mean > 0 && 2.13*s.StdDev/math.Sqrt(float64(s.N)) <= agreeing*s.Mean
}

var pageCache = &diagnose.Rule{
	Code: "PL419",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if m.Failed() {
				continue
			}
			if f, ok := fromMemory(m); ok {
				f.Subject, f.Scenarios = m.Label(), m.IDs()
				report(f)
				continue
			}
			// Ten samples a second say little of less than one; the bytes of direct jobs beside it
			// would be in the same counters.
			if len(m.Result.Devices) == 0 || m.Result.Measured < diagnose.Shortest || !m.All(paged) {
				continue
			}
			d, own := m.Result.Devices[0], m.Result.Total
			for _, side := range []struct {
				done      string
				own, seen units.Bytes
			}{{"read", own.Read.Bytes, d.ReadBytes}, {"wrote", own.Write.Bytes, d.WriteBytes}} {
				share := float64(side.seen) / float64(max(side.own, 1))
				if side.own < enoughBytes || share >= fromCache {
					continue
				}
				severity, verdict := finding.Warn, "the rest went to or came from memory"
				if share < reachedDevice {
					severity, verdict = finding.Invalid, "the figures are mostly those of memory"
				}
				report(finding.Finding{
					Severity:  severity,
					Subject:   m.Label(),
					Scenarios: m.IDs(),
					Message: fmt.Sprintf("fio %s %s through the page cache, and %s saw %s of it: %s.", side.done, side.own, d.Name,
						text.Percent(share), verdict),
					Evidence: []finding.Evidence{
						{
							What:     fmt.Sprintf("%s bytes on %s", side.done, d.Name),
							Found:    side.seen.String(),
							Expected: fmt.Sprintf("%s, what fio %s", side.own, side.done),
							Where:    "/proc/diskstats, telemetry",
						},
					},
				})
			}
		}
	},
}

// paged says that a job's I/O is known to go through the page cache.
func paged(w fio.Workload) bool { return w.Buffered && fio.UsesPageCache(w.Engine) }
