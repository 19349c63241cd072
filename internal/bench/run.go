// Package bench measures: it makes the targets ready, writes their files, runs fio scenario by scenario with the sampler beside it,
// and puts each result into the bundle. It emits events and prints nothing.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/host"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
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
	Fio      fio.Version
	// Destroy maps a raw device's path to the serial its owner named, or that of a file that may be lost to nothing.
	Destroy map[string]string
	// AllowExec lets a job file's exec_prerun and exec_postrun run.
	AllowExec bool
}

// Run carries out a plan and returns the finished bundle. When ctx ends, what is finished is kept and the bundle comes with
// context.Canceled.
func Run(ctx context.Context, m *sys.Machine, p Plan, emit func(Event)) (*bundle.Bundle, error) {
	r := &runner{m: m, plan: p, emit: emit}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	w, err := bundle.Create(p.Out, bundle.Run{
		Tool: p.Tool, Labels: p.Labels, Fio: p.Fio.String(), Created: m.Now(), Topology: p.Topology, Host: p.Host, Suite: p.Suite,
		Settings: p.Settings, Ceilings: r.ceilings,
	})
	if err != nil {
		return nil, writeTrouble(p.Out, err)
	}
	return r.measure(ctx, w, nil)
}

// Check says what would stop a plan before anything is written: space, devices, jobs that may not run.
func Check(m *sys.Machine, p Plan) error {
	return (&runner{m: m, plan: p, emit: func(Event) {}}).prepare()
}

// Resume goes on with an interrupted bundle: scenarios that are done stay, the rest run. The plan must be the one of the bundle's run.json,
// with the topology as it is now.
func Resume(ctx context.Context, m *sys.Machine, dir string, p Plan, emit func(Event)) (*bundle.Bundle, error) {
	r := &runner{m: m, plan: p, emit: emit}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	w, b, err := bundle.Reopen(dir)
	if err != nil {
		return nil, err
	}
	r.ceilings = b.Run.Ceilings // as declared when the run was begun
	var done []int
	for _, s := range b.Scenarios {
		if s.Result != nil && s.Result.State == result.Done {
			done = append(done, s.ID)
		}
	}
	return r.measure(ctx, w, done)
}

// runner carries out one plan.
type runner struct {
	m        *sys.Machine
	plan     Plan
	emit     func(Event)
	places   []*place
	ceilings map[int]ceiling.Ceiling
	alive    *sys.Alive // what the last fio left and could not be killed; nil for nothing
}

// prepare checks everything that can be checked before the first byte is written.
func (r *runner) prepare() error {
	for _, t := range r.plan.Topology.Targets {
		if !slices.ContainsFunc(r.plan.Suite.Scenarios, func(s suite.Scenario) bool { return s.Role == t.Role }) {
			continue
		}
		p, err := r.newPlace(t)
		if err != nil {
			return err
		}
		r.places = append(r.places, p)
	}
	r.ceilings = map[int]ceiling.Ceiling{}
	for _, s := range r.plan.Suite.Scenarios {
		p := r.place(s.Role)
		if p == nil {
			return fmt.Errorf("scenario %d %s needs a %s path: add --%s PATH", s.ID, s.Name, s.Role, s.Role)
		}
		loads, err := s.WorkloadsOn(p.fileFor(s))
		if err != nil {
			return err
		}
		if err := r.checkJob(s); err != nil {
			return err
		}
		r.ceilings[s.ID] = ceiling.Of(&r.plan.Topology, s.Role, loads)
	}
	for _, p := range r.places {
		if err := unix.Access(p.path, unix.W_OK); err != nil && p.writes() {
			return writeTrouble(p.path, err)
		}
	}
	return checkSpace(r.places, r.plan.Settings.FreshExtents)
}

func (r *runner) newPlace(t topology.Target) (*place, error) {
	info, err := checkPath(t.Path)
	if err != nil {
		return nil, err
	}
	p := &place{role: t.Role, path: t.Path, info: info}
	if t.Mount != nil {
		p.fsType = t.Mount.FS
	}
	if !info.IsDir() {
		if p.device = r.plan.Topology.RawDevice(&t); p.device == nil {
			return nil, fmt.Errorf("%s: nothing is known of this device in /sys/block; name a disk, an array or a directory", t.Path)
		}
	}
	p.needs(r.plan.Suite.Scenarios)
	if p.device != nil {
		if err := r.checkDevice(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (r *runner) place(role topology.Role) *place {
	for _, p := range r.places {
		if p.role == role {
			return p
		}
	}
	return nil
}

// fileFor is what a scenario's job is placed on.
func (p *place) fileFor(s suite.Scenario) string {
	if s.AsIs {
		return p.jobDir()
	}
	return p.file()
}

// planned is the place of a scenario as far as a plan tells.
func planned(p Plan, s suite.Scenario) *place {
	t := p.Topology.For(s.Role)
	if t == nil {
		return &place{role: s.Role}
	}
	return &place{role: s.Role, path: t.Path, device: p.Topology.RawDevice(t)}
}

// FileIn is what a scenario's job is placed on in a directory.
func FileIn(dir string, s suite.Scenario) string { return (&place{role: s.Role, path: dir}).fileFor(s) }

// measure runs what is not done and closes the bundle, however it ends.
func (r *runner) measure(ctx context.Context, w *bundle.Writer, done []int) (b *bundle.Bundle, err error) {
	defer w.Close()
	r.emit(Started{
		Dir: w.Dir, Suite: r.plan.Suite.Name, Scenarios: r.plan.Suite.Scenarios, Done: done,
		Ceilings: r.ceilings, Expected: r.expected(done),
	})
	r.endStrays()
	runErr := r.withPlaces(func() error { return r.scenarios(ctx, w, done) })
	state := bundle.Finished
	if runErr != nil {
		state = bundle.Interrupted
	}
	b, err = w.Finish(state, r.m.Now())
	return b, errors.Join(runErr, err)
}

// endStrays ends the fio that a killed plimsoll left: it would go on next to what is measured now.
func (r *runner) endStrays() {
	n, err := sys.EndStrays(false)
	if n > 0 {
		r.emit(Noted{fmt.Sprintf("ended %d fio processes of a run that was killed", n)})
	}
	r.alive, _ = errors.AsType[*sys.Alive](err)
}

// withPlaces locks the targets, clears leftovers, and removes the files afterwards, whatever happened in between.
func (r *runner) withPlaces(do func() error) (err error) {
	for i, p := range r.places {
		// Both roles may be on one directory, also by two names, as where a device is mounted twice.
		if !slices.ContainsFunc(r.places[:i], func(o *place) bool { return os.SameFile(o.info, p.info) }) {
			release, err := lock(p)
			if err != nil {
				return err
			}
			defer release()
		}
		if err := p.clear(func(text string) { r.emit(Noted{text}) }); err != nil {
			return err
		}
		if err := p.note(); err != nil {
			return writeTrouble(p.path, err)
		}
	}
	defer func() {
		for _, p := range r.places {
			if r.plan.Settings.KeepFiles {
				err = errors.Join(err, p.keep())
			} else {
				err = errors.Join(err, p.empty())
			}
		}
	}()
	return do()
}

func (r *runner) scenarios(ctx context.Context, w *bundle.Writer, done []int) error {
	for _, p := range r.places {
		if !p.reads || p.device == nil { // a raw device that is only read is measured as it is
			if err := r.layOut(ctx, p); err != nil {
				return err
			}
		}
	}
	first := true
	for _, s := range r.plan.Suite.Scenarios {
		if slices.Contains(done, s.ID) {
			continue
		}
		if !first && r.plan.Suite.Cooldown > 0 {
			r.emit(Cooling{r.plan.Suite.Cooldown})
			select {
			case <-ctx.Done():
			case <-time.After(r.plan.Suite.Cooldown):
			}
		}
		first = false
		if ctx.Err() != nil {
			return ctx.Err()
		}
		dir, err := w.Begin(s)
		if err != nil {
			return writeTrouble(w.Dir, err)
		}
		res, err := r.scenario(ctx, s, dir)
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), w.Drop(dir))
		}
		if err == nil {
			err = w.Keep(s, dir, res)
		}
		if err != nil {
			return errors.Join(writeTrouble(w.Dir, err), w.Drop(dir))
		}
		r.emit(Ended{s.ID, res})
	}
	return nil
}

// layOut writes a place's file. That it cannot be written does not end the run: the scenarios of the place are invalid and say why.
func (r *runner) layOut(ctx context.Context, p *place) error {
	if memoryOnly(p.fsType) {
		p.broken = fmt.Errorf("%s is on %s, which keeps files in memory: no device would be measured", p.path, p.fsType)
		return nil
	}
	err := p.layOut(ctx, r.m, r.emit)
	r.alive, _ = errors.AsType[*sys.Alive](err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.broken = fmt.Errorf("the file could not be laid out: %s", firstLine(err))
	}
	return nil
}

func memoryOnly(fsType string) bool { return fsType == "tmpfs" || fsType == "ramfs" }

// expected is the time that measuring and cooldowns take.
func (r *runner) expected(done []int) time.Duration {
	var sum time.Duration
	for _, s := range r.plan.Suite.Scenarios {
		if slices.Contains(done, s.ID) {
			continue
		}
		if sum > 0 {
			sum += r.plan.Suite.Cooldown
		}
		loads, err := s.WorkloadsOn(r.place(s.Role).fileFor(s))
		if err == nil {
			sum += suite.Duration(loads)
		}
	}
	return sum
}
