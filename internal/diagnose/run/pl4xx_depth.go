package run

import (
	"fmt"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

var shallow = &diagnose.Rule{
	Code:     "PL407",
	Since:    "0.1",
	Severity: finding.Warn,
	Title:    "queue depth was not achieved",
	When: "IOPS times mean latency (Little's law) gives less than 80 % of iodepth × numjobs, without a rate " +
		"limit, think time or a sync " +
		"after each write that would explain it; or jobs of libaio without direct=1 spend 80 % of their time in " +
		"submission.",
	Why: "The storage saw less load than the job names, so the figure is that of a smaller depth. Causes: a " +
		"synchronous engine, buffered I/O " +
		"(libaio then submits synchronously), submission that blocks (extents allocated while writing, a full " +
		"request queue), a busy core.",
	Fix:    "Use libaio or io_uring with direct=1 on a pre-written file; raise queue/nr_requests; use more jobs.",
	Bad:    "iodepth=64, numjobs=4: 256 asked, 19 achieved",
	Good:   "iodepth=64, numjobs=4: 256 asked, 255 achieved",
	Ignore: "When the job limits itself in a way plimsoll does not see (an external pace, verify).",
	After:  []finding.Code{"PL401", "PL409"},
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			if m.Failed() { // its figures are those of the failure (PL402)
				continue
			}
			if f, ok := oneByOne(m); ok {
				f.Subject, f.Scenarios = m.Label(), m.IDs()
				report(f)
				continue
			}
			asked, got := m.InFlight(), m.Little()
			if asked < diagnose.DeepEnough || got <= 0 || got >= diagnose.DepthReached*float64(asked) || m.Any(fio.Workload.Paced) || m.Result.Paced ||
				m.Syncs() ||
				m.Any(func(w fio.Workload) bool { return w.StartDelay > 0 || w.Stonewall || w.VerifyOn }) {
				continue
			}
			report(finding.Finding{
				Subject: m.Label(), Scenarios: m.IDs(),
				Message: fmt.Sprintf("Of %d I/Os asked for, %s were in flight on average.", asked, units.Number(got)),
				Evidence: []finding.Evidence{
					{
						What: "IOPS × mean latency",
						Found: fmt.Sprintf(
							"%s × %s = %s",
							m.IOPS(),
							units.Latency(m.MeanLatency()).String(),
							units.Number(got),
						),
						Expected: fmt.Sprintf("%d = iodepth × numjobs", asked),
						Where:    "fio",
					},
				},
			})
		}
	},
}

// submitting is the share of its time that a job must spend in submission to be doing its I/O
// there.
const submitting = 0.8

// oneByOne finds buffered I/O with libaio: each submission waits for its I/O, so a job has one in
// flight, while fio counts those that are complete and not yet picked up.
func oneByOne(m diagnose.Measurement) (finding.Finding, bool) {
	jobs, asked := 0, 0
	for _, w := range m.Result.Workloads {
		jobs, asked = jobs+max(w.Jobs, 1), asked+w.InFlight()
	}
	libaio := m.All(func(w fio.Workload) bool { return w.Engine == "libaio" && w.Buffered })
	if !libaio || asked < diagnose.DeepEnough || asked < 2*jobs || m.Syncs() {
		return finding.Finding{}, false
	}
	busy := 0.0 // jobs that are submitting, on average
	for _, d := range []fio.Direction{m.Result.Total.Read, m.Result.Total.Write} {
		busy += float64(d.IOPS) * d.Slat.Mean / 1e9
	}
	share := busy / float64(jobs)
	if share < submitting {
		return finding.Finding{}, false
	}
	return finding.Finding{
		Message: fmt.Sprintf(
			"Of %d I/Os asked for, %s were really in flight: without direct=1 libaio waits for each in its submission.",
			asked,
			units.Number(busy),
		),
		Evidence: []finding.Evidence{
			{
				What:     "time in submission",
				Found:    text.Percent(min(share, 1)) + " of a job's",
				Expected: "below " + text.Percent(submitting),
				Where:    "fio, IOPS × mean slat",
			},
			{What: "depth asked for", Found: text.Count(asked), Where: "iodepth × numjobs"},
		},
	}, true
}

// shortQueue is the share of fio's depth under which a device's own queue contradicts it.
const shortQueue = 0.5

var syncBlocks = &diagnose.Rule{
	Code:     "PL408",
	Since:    "0.1",
	Severity: finding.Info,
	Title:    "the sync after each write empties the queue",
	When: "A job asks for a depth above 1 and a sync after each write. Silent when telemetry shows that the " +
		"device's queue was at least " +
		"half as deep as asked.",
	Why: "fio submits nothing while it waits in fsync or fdatasync. Its own figures (iodepth levels, IOPS × " +
		"latency) look full, for I/Os that " +
		"have completed but were not yet reaped are still counted, and their latencies include the wait. The " +
		"device's queue is the true depth.",
	Fix: "Read the device's depth and the sync latency, not clat. To load the device with synced writes use " +
		"more jobs: each job stands for one committing session.",
	Bad:    "fdatasync=1, iodepth=32, numjobs=4: asks for 128, keeps at most 4 syncs and few writes at the device",
	Good:   "fdatasync=1, iodepth=1, numjobs=32",
	Ignore: "When you know this and compare with runs of the same kind.",
	Check: func(c *diagnose.Case, report func(finding.Finding)) {
		for _, m := range c.Measured() {
			d := m.Result.Depth
			blocked := m.Any(func(w fio.Workload) bool { return w.SyncEvery == 1 && w.Depth > 1 && w.Writes() })
			asked := d.Asked
			if asked == 0 {
				for _, w := range m.Result.Workloads {
					asked += w.InFlight()
				}
			}
			if !blocked || d.Device >= shortQueue*float64(asked) {
				continue
			}
			f := finding.Finding{
				Subject:   m.Label(),
				Scenarios: m.IDs(),
				Evidence: []finding.Evidence{
					{What: "depth asked for", Found: text.Count(asked), Where: "iodepth × numjobs"},
				},
			}
			if l := m.Little(); l > 0 {
				f.Evidence = append(
					f.Evidence,
					finding.Evidence{
						What:  "depth as fio sees it",
						Found: units.Number(l),
						Where: "IOPS × mean latency",
					},
				)
			}
			if d.Device > 0 {
				f.Message = fmt.Sprintf(
					"%d I/Os were asked for, but each job waits in its syncs: the device's queue held %s on average.",
					asked,
					units.Number(d.Device),
				)
				f.Evidence = append(
					f.Evidence,
					finding.Evidence{
						What:  "depth at the device",
						Found: units.Number(d.Device),
						Where: "/proc/diskstats, telemetry",
					},
				)
			} else {
				f.Message = fmt.Sprintf(
					"%d I/Os were asked for, but each job waits in a sync after every write: the device's queue, "+
						"which was not watched, was shorter.",
					asked,
				)
			}
			report(f)
		}
	},
}
