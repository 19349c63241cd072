package bench

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/fio"
	"plimsoll/internal/permit"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// MostRounds bounds --until where no number is given.
const MostRounds = 20

// mark names one measurement of a run: a scenario in a round; round 0 is the only one of a run
// without rounds.
type mark struct{ round, id int }

// measured are the marks that a bundle has already.
func measuredIn(b *bundle.Bundle) map[mark]*result.Result {
	done := map[mark]*result.Result{}
	for _, s := range b.Scenarios {
		if !b.Run.Rounds.Repeats() {
			if s.Result != nil && s.Result.State == result.Done {
				done[mark{0, s.ID}] = s.Result
			}
			continue
		}
		for _, r := range s.Rounds {
			if r.State == result.Done {
				done[mark{r.Number, s.ID}] = r.Result
			}
		}
	}
	return done
}

// order is the scenarios of a round: shuffled within each phase, or as the suite has them. It
// depends on seed and round only.
func order(all []suite.Scenario, p *bundle.RoundPlan, round int) []suite.Scenario {
	all = slices.Clone(all)
	if !p.Repeats() || p.Order == bundle.FileOrder {
		return all
	}
	rng := rand.New(rand.NewPCG(p.Seed, uint64(round)))
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].Phase == all[from].Phase {
			to++
		}
		phase := all[from:to]
		rng.Shuffle(len(phase), func(i, j int) { phase[i], phase[j] = phase[j], phase[i] })
		from = to
	}
	return all
}

// seeded gives a scenario's jobs their own random numbers for a round, unless they name a seed
// themselves: with the same offsets in every round a cache would make rounds too alike.
func seeded(s suite.Scenario, p *bundle.RoundPlan, round int) suite.Scenario {
	if !p.Repeats() {
		return s
	}
	seed := strconv.FormatUint(rand.New(rand.NewPCG(p.Seed, uint64(round)<<32|uint64(s.ID))).Uint64()>>1, 10)
	sections := slices.Clone(s.Job.Sections)
	s.Job.Sections = sections
	for _, i := range s.Job.Jobs() {
		if _, given := s.Job.Effective(i).Get("randseed"); !given {
			sections[i].Options = append(slices.Clone(sections[i].Options),
				fio.Option{Name: "randseed", Value: seed})
		}
	}
	return s
}

// rounds measures everything as often as the plan asks for.
func (r *runner) rounds(ctx context.Context, w *bundle.Writer, done map[mark]*result.Result) error {
	p := r.plan.Rounds
	if !p.Repeats() {
		return r.round(ctx, w, 0, done)
	}
	begun := r.m.Now()
	for n := 1; ; n++ {
		r.emit(RoundBegan{Round: n, Of: p.Least, Most: p.Most, Seed: p.Seed})
		if err := w.InRound(n); err != nil {
			return permit.WriteError(w.Dir, err)
		}
		if err := r.round(ctx, w, n, done); err != nil {
			return err
		}
		state := r.judge(n, done)
		state.end(*p, r.m.Now().Sub(begun), r.roundsHere())
		r.emit(state)
		if state.Enough {
			return nil
		}
	}
}

// judge says what the rounds so far are worth.
func (r *runner) judge(n int, done map[mark]*result.Result) RoundEnded {
	state := r.known(n, done)
	if r.plan.Rounds.Steady {
		r.settled(&state, n, done)
	}
	return state
}

// roundsHere is how many rounds were measured since the run began or was resumed: what it had
// measured before took none of that time.
func (r *runner) roundsHere() float64 {
	return float64(r.measured) / float64(max(1, len(r.plan.Suite.Scenarios)))
}

// end decides whether the round is the last, after the time that the rounds measured in it took.
// The last round is the number of rounds in all: what more would have needed is not planned any
// longer.
func (e *RoundEnded) end(p bundle.RoundPlan, elapsed time.Duration, measured float64) {
	e.Elapsed = elapsed
	var each time.Duration
	if measured > 0 {
		each = time.Duration(float64(elapsed) / measured)
	}
	reached := e.Enough
	e.BudgetSpent = p.Budget > 0 && elapsed+each > p.Budget
	e.Enough = reached || e.Round >= p.Most || e.BudgetSpent
	e.GoalMissed = e.Enough && !reached && (p.Until > 0 || p.Steady)
	if e.Enough {
		e.Planned = e.Round
	}
	e.Rest = each * time.Duration(max(0, e.Planned-e.Round))
}

// known judges the rounds so far.
func (r *runner) known(n int, done map[mark]*result.Result) RoundEnded {
	p := r.plan.Rounds
	e := RoundEnded{Round: n, Planned: p.Least, Goal: p.Until, Enough: n >= p.Least}
	for _, s := range r.plan.Suite.Scenarios {
		var values []float64
		figure := ""
		for k := 1; k <= n; k++ {
			if res := done[mark{k, s.ID}]; res != nil {
				name, v := compare.MainFigure(res)
				if figure = name; v > 0 && !math.IsInf(v, 0) {
					values = append(values, v)
				}
			}
		}
		if len(values) == 0 {
			continue
		}
		precision, err := stats.PrecisionOf(values, cmp.Or(p.Until, 0.03))
		if err != nil {
			continue
		}
		e.Figures = append(e.Figures,
			RoundFigure{ID: s.ID, Name: s.Name, Figure: figure, Precision: precision, Rounds: len(values)})
		if p.Until > 0 && precision.Half > p.Until {
			e.Enough = false
			e.Planned = max(e.Planned, min(p.Most, max(cmp.Or(precision.Planned, p.Most), n+1)))
		}
	}
	return e
}

// MostSteadyRounds is SNIA's.
const MostSteadyRounds = 25

// settled judges the rounds by the window of SNIA PTS and its check against decay. A first
// judgement waits until twice the size of each written file went to it: a fresh plateau passes
// every test of its own figures.
func (r *runner) settled(e *RoundEnded, n int, done map[mark]*result.Result) {
	e.Settled, e.Steady, e.Planned = 0, true, r.plan.Rounds.Most
	written, work := map[topology.Role]units.Bytes{}, map[topology.Role][]suite.Scenario{}
	for _, s := range r.plan.Suite.Scenarios {
		work[s.Role] = append(work[s.Role], s)
		var iops []float64
		for k := 1; k <= n; k++ {
			if res := done[mark{k, s.ID}]; res != nil {
				written[s.Role] += res.Total.Write.Bytes
				iops = append(iops, float64(res.Total.Read.IOPS+res.Total.Write.IOPS+res.Total.Trim.IOPS))
			}
		}
		if stats.WindowOf(iops).Settled {
			e.Settled++
		}
	}
	e.Enough = e.Settled == len(r.plan.Suite.Scenarios)
	for role, scenarios := range work {
		// The prefill wrote the files once; suites that only read are as they are.
		share := 1 + float64(written[role])/float64(max(1, permit.FilesOf(scenarios...).Total()))
		if written[role] > 0 && (e.Written == 0 || share < e.Written) {
			e.Written = share
		}
	}
	if e.Written > 0 && e.Written < 2 {
		e.Enough = false
	}
}

// round measures each scenario that is not done, in the round's order.
func (r *runner) round(ctx context.Context, w *bundle.Writer, n int, done map[mark]*result.Result) error {
	for _, s := range order(r.plan.Suite.Scenarios, r.plan.Rounds, n) {
		if done[mark{n, s.ID}] != nil {
			continue
		}
		if err := r.cool(ctx); err != nil {
			return err
		}
		res, err := r.one(ctx, w, seeded(s, r.plan.Rounds, n))
		if err != nil {
			return err
		}
		if res.State == result.Done {
			done[mark{n, s.ID}] = res
		}
		r.emit(Ended{s.ID, res})
	}
	return nil
}

// cool pauses between two scenarios.
func (r *runner) cool(ctx context.Context) error {
	if r.measured > 0 && r.plan.Suite.Cooldown > 0 {
		r.emit(Cooling{r.plan.Suite.Cooldown})
		return pause(ctx, r.plan.Suite.Cooldown)
	}
	return ctx.Err()
}

// one measures a scenario and keeps its result.
func (r *runner) one(ctx context.Context, w *bundle.Writer, s suite.Scenario) (*result.Result, error) {
	r.measured++
	dir, err := w.Begin(s)
	if err != nil {
		return nil, permit.WriteError(w.Dir, err)
	}
	res, err := r.scenario(ctx, s, dir)
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), w.Drop(dir))
	}
	if err == nil {
		err = w.Keep(s, dir, res)
	}
	if err != nil {
		return nil, errors.Join(permit.WriteError(w.Dir, err), w.Drop(dir))
	}
	return res, nil
}
