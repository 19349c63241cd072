package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// MostRuntime is how long a scenario runs at most that is stopped when it is known, unless another
// time is given.
const MostRuntime = 10 * time.Minute

// wholeInterval is the least length of an interval that counts as a second of the series.
const wholeInterval = 900 * time.Millisecond

// stopper watches the seconds of a scenario and ends it when its figure is known; nil for none.
type stopper struct {
	options stats.StopOptions
	course  []ceiling.Step
	xs      []float64
	ends    []time.Duration // of the seconds in xs
	next    int             // the number of seconds at the next look
	settled stats.Settled
	end     context.CancelFunc
}

// newStopper is nil where a scenario runs for its whole time: without --stop, and for jobs whose
// series is a sequence of loads.
func (r *runner) newStopper(s suite.Scenario, end context.CancelFunc) *stopper {
	set := r.plan.Settings
	if set.Stop <= 0 || s.AsIs || len(s.Job.Sections) > 1 {
		return nil
	}
	st := &stopper{options: stats.StopOptions{Target: set.Stop}, end: end}
	if c, ok := r.ceilings[s.ID]; ok && c.Known() {
		bound, last := c.Binding(), c.Sustained()
		st.options.Bound = float64(bound.IOPS)
		if last != nil && last.IOPS < bound.IOPS {
			st.options.Sustained = float64(last.IOPS)
			st.course = c.Course()
			if set.Sustained {
				st.outlive()
			}
		}
	}
	st.look()
	return st
}

// outlive keeps the run going until its burst is over, or for its whole time where nobody knows
// when that is.
func (st *stopper) outlive() {
	st.options.Bound, st.options.Least = st.options.Sustained, math.MaxInt
	if len(st.course) > 1 {
		st.options.Least = int(st.course[0].Until.Seconds()) + 60
	}
}

// look finds the number of seconds at which the run is judged next.
func (st *stopper) look() {
	for _, n := range stats.Looks(len(st.xs)*2 + 20) {
		if n > len(st.xs) {
			st.next = n
			return
		}
	}
}

// add takes a second and ends the run when it is settled.
func (st *stopper) add(s result.Second) {
	if st == nil || s.Ramp || s.Len < wholeInterval || st.settled.At > 0 {
		return
	}
	st.xs, st.ends = append(st.xs, float64(s.IOPS())), append(st.ends, s.At)
	if len(st.xs) < st.next {
		return
	}
	st.look()
	if st.settled = stats.SettledBy(st.xs, st.options); st.settled.At > 0 {
		st.end()
	}
}

// interrupted is the exit status of fio after SIGINT.
const interrupted = 128

// stopped takes the interruption out of fio's error where it was ours.
func (st *stopper) stopped(ctx context.Context, err error) error {
	if st == nil || st.settled.At == 0 || ctx.Err() != nil {
		return err
	}
	failed, ended := errors.AsType[*sys.Failed](err)
	if errors.Is(err, context.Canceled) || ended && failed.Code == interrupted && failed.Signal == 0 {
		return nil
	}
	return err
}

// finish puts what is known into the result: the window that counts, of what fio, started then, and
// the sampler showed, and how the run ended.
func (st *stopper) finish(res *result.Result, watched *telemetry.Series, start time.Time) {
	if st == nil {
		return
	}
	s := stats.SettledBy(st.xs, st.options)
	if st.settled.At > 0 {
		s = st.settled
	}
	res.Stopped = &s
	if s.At == 0 {
		res.Doubt("not known to ± %s after %d s: %s", text.Percent(st.options.Target), len(st.xs), s.Why)
		return
	}
	if s.From > 0 && s.From < len(st.ends) {
		res.Window(st.ends[s.From-1], watched, start)
	}
	res.IOPS = s.Estimate
	res.Doubts = append(res.Doubts, st.words(s)...)
}

// words say how a run was stopped and what that cannot exclude.
func (st *stopper) words(s stats.Settled) []string {
	known := fmt.Sprintf("stopped after %d s: known to ± %s", s.At, text.Percent(s.Estimate.Rel()))
	if s.From > 0 {
		known += fmt.Sprintf("; the first %d s are left out as warm-up or an earlier level", s.From)
	}
	words := []string{known}
	switch {
	case s.AtBurst:
		lasts := "its end is not known"
		if len(st.course) > 1 {
			lasts = "it lasts " + text.Duration(st.course[0].Until)
		}
		words = append(
			words,
			fmt.Sprintf("a burst figure: %s, and the sustained %s IOPS were not measured (--sustained does)", lasts,
				units.IOPS(st.options.Sustained)),
		)
	case !s.Pinned:
		words = append(words,
			fmt.Sprintf("no stall in %d s: stalls rarer than one in %d s cannot be excluded (95 %%)", s.At, s.At/3))
	}
	return words
}

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
