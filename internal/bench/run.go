// Package bench measures: it makes the targets ready, writes their files, runs fio scenario by
// scenario with the sampler beside it, and puts each result into the bundle. It emits events and
// prints nothing.
package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/permit"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/verdict"
)

// Plan is a run decided upon, nothing of it done yet.
type Plan struct {
	Suite    suite.Suite // its Scenarios are those that run, in order
	Topology topology.Topology
	Host     *host.Facts // the machine's settings; may be nil
	Settings bundle.Settings
	Out      string // where bundles go
	Tool     string // "plimsoll 0.1.0"
	Labels   map[string]string
	Rounds   *bundle.RoundPlan // nil for once
	Fio      fio.Version
	Consent  permit.Consent
	Policy   verdict.Policy
	Lint     []finding.Finding // about the job files of the suite
	Database *Database         // how a database server is had; nil where none can be
	// Next is the scenario to measure after these, which holds results for all but what a resumed
	// run lacks; false at the end. nil where the suite's own are all.
	Next   func(measured []bundle.Scenario) (suite.Scenario, bool)
	Budget time.Duration // starts no further scenario of Next after it; 0 for none
	// Gate is waited for when a scenario is ready to start, so that several machines start at one
	// instant; nil for at once.
	Gate func(context.Context, suite.Scenario) error
	// StartAt is when the first scenario starts, by this host's clock, and what the others count from;
	// zero for at once.
	StartAt time.Time
	// Resumable leaves a mark of the run in its places until it is finished, so that plimsoll run
	// --resume knows them again.
	Resumable bool
	// Claimed are the roles whose path is known from a run's record only: nothing is written there
	// without the run's Mark.
	Claimed []topology.Role
	Mark    string
	// Stall is how long fio may stand still, beyond the pauses that its jobs ask for; 0 for a
	// minute.
	Stall time.Duration
	// turn leaves the files of a run that came to its end for the next turn of an A/B measurement.
	turn bool
}

// Run carries out a plan and returns the finished bundle. When ctx ends, what is finished is kept
// and the bundle comes with context.Canceled.
func Run(ctx context.Context, m *sys.Machine, p Plan, emit func(Event)) (*bundle.Bundle, error) {
	r := &runner{m: m, plan: p, emit: emit}
	defer r.close()
	if err := r.prepare(); err != nil {
		return nil, err
	}
	w, err := bundle.Create(p.Out, bundle.Run{
		Tool:     p.Tool,
		Labels:   p.Labels,
		Fio:      p.Fio.String(),
		Created:  m.Now(),
		Topology: p.Topology,
		Host:     p.Host,
		Suite:    p.Suite,
		Settings: p.Settings,
		Rounds:   p.Rounds,
		Ceilings: r.ceilings,
		Policy:   p.Policy,
		Lint:     p.Lint,
		Clock:    r.clock(),
	})
	if err != nil {
		return nil, permit.WriteError(p.Out, err)
	}
	return r.measure(ctx, w, map[mark]*result.Result{})
}

// Check says what would stop a plan before anything is written: space, devices, jobs that may not
// run.
func Check(m *sys.Machine, p Plan) error {
	r := &runner{m: m, plan: p, emit: func(Event) {}}
	defer r.close()
	return r.prepare()
}

// Resume continues an interrupted bundle: scenarios that are done stay, the rest run. The plan
// must be the one of the bundle's run.json, with the topology as it is now.
func Resume(ctx context.Context, m *sys.Machine, dir string, p Plan, emit func(Event)) (*bundle.Bundle, error) {
	r := &runner{m: m, plan: p, emit: emit}
	defer r.close()
	before, err := bundle.Open(dir)
	if err != nil {
		return nil, err
	}
	// A run that finished has removed its files: where nothing is missing, none are needed again.
	whole := before.Run.State == bundle.Finished && !r.misses(before)
	if !whole {
		if err := r.prepare(); err != nil {
			return nil, err
		}
		if err := r.sameDevices(&before.Run.Topology); err != nil {
			return nil, err
		}
	}
	w, b, err := bundle.Reopen(dir)
	if err != nil {
		return nil, err
	}
	r.ceilings = b.Run.Ceilings // as declared when the run was begun
	w.Run.Policy = w.Run.Policy.With(p.Policy)
	if !whole {
		return r.measure(ctx, w, measuredIn(b))
	}
	defer w.Close()
	emit(Noted{"everything has already been measured; nothing is written or measured again"})
	return w.Finish(bundle.Finished, before.Run.Finished)
}

// sameDevices refuses to resume a run on other raw devices than those it was begun on.
func (r *runner) sameDevices(began *topology.Topology) error {
	for _, p := range r.places {
		t := began.For(p.Role)
		if t == nil {
			continue
		}
		if err := p.CheckSame(began.RawDevice(t)); err != nil {
			return &InputError{err}
		}
	}
	return nil
}

// misses says that something is still to be measured of what a bundle's plan asks for.
func (r *runner) misses(b *bundle.Bundle) bool {
	done := measuredIn(b)
	p := r.plan.Rounds
	if !p.Repeats() {
		p = &bundle.RoundPlan{}
	}
	for n := min(1, p.Most); ; n++ { // a run without rounds has its only one at 0
		for _, s := range r.plan.Suite.Scenarios {
			if done[mark{n, s.ID}] == nil {
				return true
			}
		}
		if n >= p.Most || r.judge(n, done).Enough {
			break
		}
	}
	if r.plan.Next == nil {
		return false
	}
	_, more := r.plan.Next(b.Scenarios)
	return more
}

// runner carries out one plan.
type runner struct {
	m          *sys.Machine
	plan       Plan
	emit       func(Event)
	places     []*place
	ceilings   map[int]ceiling.Ceiling
	measured   int     // scenarios so far, which those of an earlier session are not
	onServer   Measure // nil while no database runs
	stopServer func() error
	begins     time.Time  // when the next scenario starts, of a plan with StartAt
	alive      *sys.Alive // what the last fio left and could not be killed; nil for nothing
}

func (r *runner) close() {
	for _, p := range r.places {
		p.Close()
	}
}

// prepare checks everything that can be checked before the first byte is written.
func (r *runner) prepare() error {
	for _, t := range r.plan.Topology.Targets {
		if !r.needs(t.Role) {
			continue
		}
		p, err := permit.Open(&r.plan.Topology, t, r.plan.Suite.Scenarios, r.plan.Consent)
		if err != nil {
			return err
		}
		if r.plan.Suite.NeedsServer() {
			p.WantDatabase()
		}
		r.places = append(r.places, &place{Place: p})
	}
	r.ceilings = map[int]ceiling.Ceiling{}
	for _, s := range r.plan.Suite.Scenarios {
		p := r.place(s.Role)
		if p == nil {
			return fmt.Errorf("scenario %d %s needs a %s path: add --%s PATH", s.ID, s.Name, s.Role, s.Role)
		}
		if s.Kind() == suite.OfServer {
			continue // its ceiling follows from what a transaction needs, which is measured
		}
		if err := r.limit(s, p); err != nil {
			return err
		}
	}
	if err := r.checkTelemetry(); err != nil {
		return err
	}
	var places []*permit.Place
	for _, p := range r.places {
		if err := p.CheckWritable(); err != nil {
			return err
		}
		if slices.Contains(r.plan.Claimed, p.Role) {
			if err := p.CheckMark(r.plan.Mark); err != nil {
				return &InputError{err}
			}
		}
		places = append(places, p.Place)
	}
	if err := permit.CheckSpace(places, r.plan.Settings.FreshExtents); err != nil {
		return err
	}
	return r.checkDatabase(context.Background())
}

// limit records the ceiling of a scenario, unless it may not run.
func (r *runner) limit(s suite.Scenario, p *place) error {
	loads, err := s.WorkloadsOn(p.FileFor(s))
	if err == nil {
		err = p.Check(s)
	}
	if err == nil {
		r.ceilings[s.ID] = ceiling.Of(&r.plan.Topology, s.Role, loads)
	}
	return err
}

// checkTelemetry takes a sample: without /proc, as in a chroot, the run would fail after the
// prefill.
func (r *runner) checkTelemetry() error {
	for _, p := range r.places {
		sampler, err := telemetry.Start(r.m, r.plan.Topology.For(p.Role).Devices)
		if err != nil {
			return fmt.Errorf("nothing can be measured without telemetry: %w", err)
		}
		_, _ = sampler.Stop() // one sample was taken, which is all that was to be seen
	}
	return nil
}

func (r *runner) place(role topology.Role) *place {
	for _, p := range r.places {
		if p.Role == role {
			return p
		}
	}
	return nil
}

// JobFile is the job file of a scenario as it would run.
func JobFile(p Plan, s suite.Scenario) fio.JobFile {
	at := permit.Sketch(&p.Topology, s.Role)
	return at.Shown(s, at.FileFor(s))
}

// measure runs what is not done and closes the bundle, however it ends.
func (r *runner) measure(
	ctx context.Context,
	w *bundle.Writer,
	done map[mark]*result.Result,
) (b *bundle.Bundle, err error) {
	defer w.Close()
	r.emit(Started{
		Dir: w.Dir, Suite: r.plan.Suite.Name, Scenarios: r.plan.Suite.Scenarios, Done: r.doneAlready(done),
		Ceilings: r.ceilings, Expected: r.expected(done),
	})
	// The fio that a killed plimsoll left would go on next to what is measured now.
	n, err := sys.EndStrays(false)
	if n > 0 {
		r.emit(Noted{fmt.Sprintf("ended %d fio processes of a run that was killed", n)})
	}
	r.alive, _ = errors.AsType[*sys.Alive](err)
	mark := ""
	if r.plan.Resumable { // by the directory of the run's record, which is held
		info, err := w.Info()
		if err != nil {
			return nil, err
		}
		mark = permit.Mark(w.Run.ID, info)
	}
	state, runErr := bundle.Finished, r.withPlaces(ctx, mark, func() error { return r.scenarios(ctx, w, done) })
	if runErr != nil {
		state = bundle.Interrupted
	}
	b, err = w.Finish(state, r.m.Now())
	return b, errors.Join(runErr, err)
}

// withPlaces locks the paths, clears leftovers, and removes the files afterwards, whatever happened
// in between. A mark, where there is one, stays until the run has come to its end.
func (r *runner) withPlaces(ctx context.Context, mark string, do func() error) (err error) {
	for i, p := range r.places {
		// Both roles may be on one directory, also by two names, as where a device is mounted
		// twice.
		if j := slices.IndexFunc(r.places[:i], func(o *place) bool { return o.Same(p.Place) }); j >= 0 {
			p.Share(r.places[j].Place)
		} else {
			var once sync.Once
			p.Waits = func(why error) { once.Do(func() { r.emit(Noted{"waiting: " + why.Error()}) }) }
			release, err := p.Lock(ctx)
			if err != nil {
				return err
			}
			defer release()
		}
		if err := p.Clear(func(text string) { r.emit(Noted{text}) }); err != nil {
			return err
		}
		if mark != "" {
			if err := p.PutMark(mark); err != nil {
				return err
			}
		}
		if made := p.Made(); len(made) > 0 {
			r.emit(Noted{
				fmt.Sprintf("did not exist; created under %s for this run: %s", filepath.Dir(p.File()), text.Some(made, 3)),
			})
		}
	}
	defer func() {
		err = errors.Join(err, r.endDatabase())
		r.tidy(mark, err == nil)
	}()
	return do()
}

// tidy takes the run's files out of its places, or keeps them for the next, and its mark where the run
// has come to its end. What stays, as on a device that fails, is noted once for a path: it changes
// nothing of what was measured.
func (r *runner) tidy(mark string, ended bool) {
	noted := map[string]bool{}
	for _, p := range r.places {
		var err error
		if ended && mark != "" {
			err = p.DropMark(mark)
		}
		if !r.plan.Settings.KeepFiles && (!r.plan.turn || !ended) {
			err = errors.Join(err, p.Empty())
		} else if err = errors.Join(err, p.RemoveDatabase()); p.written {
			err = errors.Join(err, p.Keep())
		}
		if err != nil && !noted[p.Path] {
			noted[p.Path] = true
			r.emit(Noted{p.Left(err)})
		}
	}
}

func (r *runner) scenarios(ctx context.Context, w *bundle.Writer, done map[mark]*result.Result) error {
	var err error
	if w.Run.AtWork == nil {
		w.Run.AtWork, err = r.atWork(ctx)
	}
	if w.Run.Touches == nil && err == nil { // before a probe, whose own reads load blocks
		w.Run.Touches, err = r.touches(ctx)
	}
	if w.Run.Probes == nil && err == nil {
		w.Run.Probes, err = r.probe(ctx)
	}
	if err != nil {
		return err
	}
	for _, p := range r.places {
		if !p.ReadOnly || p.Device == nil { // a raw device that is only read is not prefilled
			if err := r.prefill(ctx, p); err != nil {
				return err
			}
		}
	}
	if r.plan.Next != nil {
		return r.search(ctx, w, done)
	}
	return r.rounds(ctx, w, done)
}

// doneAlready are the scenarios that a resumed run need not measure any more.
func (r *runner) doneAlready(done map[mark]*result.Result) []int {
	var ids []int
	for _, s := range r.plan.Suite.Scenarios {
		if !r.plan.Rounds.Repeats() && done[mark{0, s.ID}] != nil {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// expected is the time that measuring and cooldowns take, of the least number of rounds.
func (r *runner) expected(done map[mark]*result.Result) time.Duration {
	var sum time.Duration
	first, last := 0, 0
	if r.plan.Rounds.Repeats() {
		first, last = 1, r.plan.Rounds.Least
	}
	for n := first; n <= last; n++ {
		for _, s := range r.plan.Suite.Scenarios {
			if done[mark{n, s.ID}] != nil {
				continue
			}
			if sum > 0 {
				sum += r.plan.Suite.Cooldown
			}
			sum += took(s, r.place(s.Role))
		}
	}
	return sum
}
