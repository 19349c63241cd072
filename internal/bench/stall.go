package bench

import (
	"cmp"
	"slices"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/sys"
)

// stallLimit is how long fio may complete nothing before it counts as hung. The slowest volume that
// is sold answers a queue of thousands in less.
const stallLimit = time.Minute

// stall is how long fio may stand still in this run.
func (r *runner) stall() time.Duration { return cmp.Or(r.plan.Stall, stallLimit) }

// quietIntervals is how many intervals of a job's own rate may pass without an I/O: they are the
// mean, and with rate_process=poisson one in e^20 is longer than 20 of them.
const quietIntervals = 20

// longestPause bounds what a job asks for with a rate of almost nothing.
const longestPause = 1000 * time.Hour

// pauses is how long the jobs of a scenario may complete nothing because they ask for it: they
// start later, think, have a rate, or run commands, which may take what a program may.
func pauses(job fio.JobFile, loads []fio.Workload) time.Duration {
	var delay, think, rate, commands time.Duration
	for _, w := range loads {
		delay, think, rate = max(delay, w.StartDelay), max(think, w.ThinkTime), max(rate, interval(w))
	}
	for _, section := range job.Sections {
		if slices.ContainsFunc(section.Options, func(o fio.Option) bool {
			return o.Name == "exec_prerun" || o.Name == "exec_postrun"
		}) {
			commands = sys.ChangeLimit
		}
	}
	return min(delay, longestPause) + min(think, longestPause) + min(quietIntervals*rate, longestPause) + commands
}

// interval is the mean time between two I/Os of a job at its own rate, of the slower direction; 0
// without one.
func interval(w fio.Workload) time.Duration {
	seconds := 0.0
	for _, one := range []struct{ perIO, rate float64 }{
		{1, float64(w.ReadIOPS)},
		{1, float64(w.WriteIOPS)},
		{float64(w.ReadBS), float64(w.ReadRate)},
		{float64(w.WriteBS), float64(w.WriteRate)},
	} {
		if one.rate > 0 {
			seconds = max(seconds, one.perIO/one.rate)
		}
	}
	return time.Duration(min(seconds, longestPause.Seconds()/quietIntervals) * float64(time.Second))
}
