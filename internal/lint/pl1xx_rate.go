package lint

import (
	"slices"
	"strings"

	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

func rateBySmallest(j *lintJob) *fault {
	w := j.load
	read, write := w.HeldIOPS()
	var parts []string
	add := func(asked, held units.IOPS, what string) {
		if asked > 0 && held < asked {
			parts = append(parts, says("%s of the %s %s IOPS", held, asked, what))
		}
	}
	add(w.ReadIOPS, read, "read")
	add(w.WriteIOPS, write, "write")
	if len(parts) == 0 {
		return nil
	}
	return j.found("rate_iops", "fio holds the job to its rate times the smallest block: %s that it asks for.",
		strings.Join(parts, " and "))
}

func rateWithPauses(j *lintJob) *fault {
	w := j.load
	limited := w.Reads() && (w.ReadRate > 0 || w.ReadIOPS > 0) || w.Writes() && (w.WriteRate > 0 || w.WriteIOPS > 0)
	if w.ThinkTime == 0 || !limited || j.flag("rate_ignore_thinktime", false) ||
		j.open("rate_ignore_thinktime") {
		return nil
	}
	return j.found("rate rate_iops thinktime",
		"After each thinktime fio catches up with the rate: the load is bursts, not a steady rate with "+
			"pauses.")
}

func rampAboveRun(j *lintJob) *fault {
	w := j.load
	if w.Runtime == 0 || w.Ramp <= w.Runtime || j.anyOpen("runtime", "ramp_time") {
		return nil
	}
	f := j.found("ramp_time", "The job warms up for %s and measures %s.", text.Duration(w.Ramp), text.Duration(w.Runtime))
	const swapped = 10
	return lessen(f, w.Ramp < swapped*w.Runtime)
}

func loopsWithTime(j *lintJob) *fault {
	once := slices.Contains([]string{"", "0", "1"}, strings.TrimSpace(j.last["loops"].Value))
	if once || !j.load.TimeBased || j.load.Runtime == 0 {
		return nil
	}
	return j.found("loops", "The job ends after %s, whatever %s says.", text.Duration(j.load.Runtime),
		j.setting("loops", ""))
}
