package lint

import (
	"fmt"
	"strings"

	"plimsoll/internal/finding"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

var rateBySmallest = &rule{
	Code:     "PL135",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "rate_iops with blocks of several sizes",
	When:     "rate_iops is set for a direction whose blocks have several sizes (bssplit, bsrange).",
	Why: "fio turns rate_iops into bytes of the smallest block, which larger blocks use up: with " +
		"bssplit=4k/50:60k/50 and rate_iops=700 it does 88 IOPS.",
	Seen:   "With rate_iops=160 fio did 21 I/Os of 4k and 60k in 1 s, 161 of 32k.",
	Fix:    "Use rate= in bytes, or one section for each block size.",
	Bad:    "fio --name=a --rw=randread --bssplit=4k/50:60k/50 --rate_iops=700 --size=10G --directory=/data",
	Good:   "fio --name=a --rw=randread --bssplit=4k/50:60k/50 --rate=21875k --size=10G --directory=/data",
	Ignore: "When the lower rate is the intended one.",
	Check: anyJob(func(_ *Case, j *lintJob) *finding.Finding {
		w := j.load
		read, write := w.HeldIOPS()
		var parts []string
		add := func(asked, held units.IOPS, what string) {
			if asked > 0 && held < asked {
				parts = append(parts, fmt.Sprintf("%s of the %s %s IOPS", held, asked, what))
			}
		}
		add(w.ReadIOPS, read, "read")
		add(w.WriteIOPS, write, "write")
		if len(parts) == 0 {
			return nil
		}
		return j.found(fmt.Sprintf("fio holds the job to its rate times the smallest block: %s that it asks for.",
			strings.Join(parts, " and ")), "rate_iops")
	}),
}

var rateWithPauses = &rule{
	Code:     "PL136",
	Since:    "0.2",
	Severity: finding.Info,
	Title:    "rate together with thinktime",
	When:     "rate or rate_iops is set, thinktime too, and rate_ignore_thinktime is not.",
	Why:      "After each pause fio catches up with the rate, so the load is bursts.",
	Fix:      "Use one of them, or add rate_ignore_thinktime=1.",
	Bad:      "fio --name=a --rw=randread --rate_iops=500 --thinktime=10ms --size=10G --directory=/data",
	Good:     "fio --name=a --rw=randread --rate_iops=500 --size=10G --directory=/data",
	Ignore:   "When bursts after pauses are what the application does.",
	Check: eachJob(func(_ *Case, j *lintJob) *finding.Finding {
		w := j.load
		limited := w.Reads() && (w.ReadRate > 0 || w.ReadIOPS > 0) || w.Writes() && (w.WriteRate > 0 || w.WriteIOPS > 0)
		if w.ThinkTime == 0 || !limited || j.flag("rate_ignore_thinktime", false) ||
			j.open("rate_ignore_thinktime") {
			return nil
		}
		return j.found("After each thinktime fio catches up with the rate: the load is bursts, not a steady rate with "+
			"pauses.", "rate", "rate_iops", "thinktime")
	}),
}

var rampAboveRun = &rule{
	Code:     "PL137",
	Since:    "0.2",
	Severity: finding.Warn,
	Title:    "ramp_time is longer than runtime",
	When:     "ramp_time is at least ten times runtime. An info where it is only longer.",
	Why:      "fio discards the ramp, which is most of the run; often the two were swapped.",
	Seen:     "With ramp_time=1s and runtime=60ms a loop device did 32,774 reads, of which fio reports 807.",
	Fix:      "Swap them, or give runtime at least the length of the ramp.",
	Bad:      "fio --name=a --rw=randread --size=10G --time_based --ramp_time=180 --runtime=5 --directory=/data",
	Good:     "fio --name=a --rw=randread --size=10G --time_based --ramp_time=5 --runtime=180 --directory=/data",
	Ignore:   "When a long warm-up and a short look at it are meant.",
	Check: eachJob(func(_ *Case, j *lintJob) *finding.Finding {
		w := j.load
		if w.Runtime == 0 || w.Ramp <= w.Runtime || j.open("runtime") || j.open("ramp_time") {
			return nil
		}
		f := j.found(fmt.Sprintf("The job warms up for %s and measures %s.", text.Duration(w.Ramp),
			text.Duration(w.Runtime)), "ramp_time")
		const swapped = 10
		if w.Ramp < swapped*w.Runtime {
			f.Severity = finding.Info
		}
		return f
	}),
}

var loopsWithTime = &rule{
	Code: "PL146", Since: "0.2", Severity: finding.Info,
	Title:  "loops does nothing with time_based",
	Why:    "A time_based job ends at its runtime; loops has no effect.",
	Fix:    "Drop loops, or drop time_based when a number of passes is meant.",
	Bad:    "fio --name=a --rw=randwrite --size=10G --loops=64 --time_based --runtime=600 --directory=/data",
	Good:   "fio --name=a --rw=randwrite --size=10G --time_based --runtime=600 --directory=/data",
	Ignore: "When loops is a default for other jobs.",
	Check: eachJob(func(_ *Case, j *lintJob) *finding.Finding {
		if loops := strings.TrimSpace(
			j.last["loops"].Value,
		); loops == "" || loops == "0" || loops == "1" || !j.load.TimeBased ||
			j.load.Runtime == 0 {
			return nil
		}
		return j.found(fmt.Sprintf("The job ends after %s, whatever %s says.", text.Duration(j.load.Runtime),
			j.setting("loops", "")), "loops")
	}),
}
