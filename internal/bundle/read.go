package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/verdict"
)

// ErrNotBundle is in the chain of Open's error when the directory holds no run.json.
var ErrNotBundle = errors.New("not a plimsoll run (it has no run.json)")

// Open reads a bundle whole, looks for damage and judges it. A scenario that has not run has no
// Result.
func Open(dir string) (*Bundle, error) {
	b, err := open(dir)
	if err != nil {
		return nil, err
	}
	b.inspect(b.Run.State == Finished)
	b.Judge() // rules improve: an old bundle is judged by what is known today
	return b, nil
}

func open(dir string) (*Bundle, error) {
	b := &Bundle{Dir: dir}
	found, err := readJSON(filepath.Join(dir, "run.json"), &b.Run)
	if err != nil {
		return nil, err
	}
	if !found {
		if empty(dir) {
			return nil, fmt.Errorf("%s: %w; it is empty: its run was killed as it began, so remove it", dir, ErrNotBundle)
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrNotBundle)
	}
	if b.Run.Schema != Schema {
		return nil, fmt.Errorf("%s has schema %d and this plimsoll reads %d: use the one that wrote it",
			filepath.Join(dir, "run.json"), b.Run.Schema, Schema)
	}
	for _, s := range b.Run.Suite.Scenarios {
		sc := b.Run.scenario(s)
		if err := sc.read(dir, b.Run.Rounds); err != nil {
			return nil, err
		}
		b.Scenarios = append(b.Scenarios, sc)
	}
	b.Run.settle(dir)
	return b, nil
}

// scenario is one of the run's with its ceiling, as computed before.
func (r *Run) scenario(s suite.Scenario) Scenario {
	one := Scenario{Scenario: s}
	if c, ok := r.Ceilings[s.ID]; ok {
		one.Ceiling = &c
	}
	return one
}

// read reads what a scenario measured, once or in rounds.
func (s *Scenario) read(dir string, plan *RoundPlan) error {
	if plan.Repeats() {
		return s.readRounds(dir, plan)
	}
	var r result.Result
	found, err := readJSON(filepath.Join(dir, DirName(s.Scenario), "result.json"), &r)
	if found {
		s.Result = &r
	}
	return err
}

// Judge evaluates targets, runs the rules and fills in findings and verdicts. Rules look at one
// machine: the results of each are judged together.
func (b *Bundle) Judge() {
	machines := []*topology.Topology{&b.Run.Topology} // which may hold no result, and is judged itself
	runs := map[*topology.Topology][]diagnose.Measurement{}
	var judged []verdict.Scenario
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		s.Thresholds, s.Verdict = nil, ""
		if s.Result == nil {
			continue
		}
		on := b.on(s)
		if peak := s.Result.Peak(); peak != nil {
			of := ceiling.OfPostgres(on, s.Result.Postgres, peak)
			s.Ceiling = &of
		} else if s.Ceiling != nil {
			withLatency := s.Ceiling.Measured(s.Result, b.volumes(s))
			s.Ceiling = &withLatency
		}
		m := diagnose.Measurement{Scenario: s.Scenario, Ceiling: s.Ceiling, Result: s.Result}
		for _, r := range s.Rounds {
			m.Rounds = append(m.Rounds, r.Result)
		}
		m.Prefilled = b.prefilled(s, on)
		for _, t := range s.Scenario.Thresholds {
			s.Thresholds = append(s.Thresholds, b.Run.Policy.Judge(verdict.Evaluate(t, m, on.Scale)))
		}
		if on != &b.Run.Topology && runs[on] == nil {
			machines = append(machines, on)
		}
		runs[on] = append(runs[on], m)
		judged = append(judged, verdict.Scenario{
			Measurement: m, Thresholds: s.Thresholds, SharedHost: b.Run.Policy.SharedHost,
		})
	}
	b.Findings = nil
	for _, on := range machines {
		b.Findings = append(
			b.Findings,
			rules.Judge(
				&diagnose.Case{Topology: on, Host: b.Run.Host, Probes: b.Run.Probes, Touches: b.Run.Touches, Runs: runs[on]},
				b.Run.Policy.Disabled(),
			)...)
	}
	for _, f := range slices.Concat(b.Run.Lint, b.Run.AtWork) {
		if _, off := b.Run.Policy.Disabled()[f.Code]; !off {
			b.Findings = append(b.Findings, f)
		}
	}
	finding.Sort(b.Findings)
	sum := verdict.OfRun(judged, b.Findings)
	b.Run.Verdict, b.Run.Warned, b.Run.Reasons = sum.Verdict, sum.Warned, sum.Reasons
	for i := range b.Scenarios {
		if s := &b.Scenarios[i]; s.Result != nil {
			s.Verdict = verdict.Of(judged[0], b.Findings)
			s.Result.Verdict = string(s.Verdict)
			for _, r := range s.Rounds {
				r.Result.Verdict = string(s.Verdict)
			}
			judged = judged[1:]
		}
	}
	b.judgeDamage()
}

// prefilled is whether plimsoll wrote what a scenario works on before it measured: of a raw device
// that a run only reads nothing is written.
func (b *Bundle) prefilled(s *Scenario, on *topology.Topology) bool {
	if s.AsIs || b.Run.Settings.FreshExtents || len(b.Run.Imported) > 0 {
		return false
	}
	t := on.For(s.Role)
	if t == nil || t.Mount != nil || t.Device == "" {
		return true
	}
	return slices.ContainsFunc(b.Run.Suite.Scenarios, func(o suite.Scenario) bool {
		loads, err := o.Workloads()
		return o.Role == s.Role && !o.AsIs && (err != nil || suite.Writes(loads))
	})
}

// on is what a scenario was measured on.
func (b *Bundle) on(s *Scenario) *topology.Topology {
	return cmp.Or(s.Result.Topology, &b.Run.Topology)
}

// volumes is how many volumes are behind a scenario's path, 0 when that is not known.
func (b *Bundle) volumes(s *Scenario) int {
	on := b.on(s)
	if t := on.For(s.Role); t != nil {
		if a := on.Array(t.Array); a != nil {
			return len(a.Volumes)
		}
	}
	return 0
}

// Behind is the target that the run measured of what lies behind t, by its mount point or its device; nil where it
// measured something else.
func (b *Bundle) Behind(t *topology.Target) *topology.Target {
	i := slices.IndexFunc(b.Run.Topology.Targets, func(r topology.Target) bool {
		same := r.Mount != nil && t.Mount != nil && r.Mount.Point == t.Mount.Point
		return same && t.Device != "" || r.Mount == nil && t.Mount == nil && r.Device == t.Device
	})
	if i < 0 {
		return nil
	}
	return &b.Run.Topology.Targets[i]
}

// Valid are the results of a role that are complete and not invalid; never nil.
func (b *Bundle) Valid(role topology.Role) []*result.Result {
	valid := []*result.Result{}
	for _, s := range b.Scenarios {
		if r := s.Result; r != nil && r.State == result.Done && s.Verdict != verdict.Invalid && s.Role == role {
			valid = append(valid, r)
		}
	}
	return valid
}

// runName is how the directory of a run begins.
var runName = regexp.MustCompile(`^\d{8}T\d{6}Z-`)

func empty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// entriesOf is what a directory of runs holds, nothing where it is not there.
func entriesOf(out string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// List returns the runs below out, newest first. What cannot be read is passed over: a directory
// may hold other things.
func List(out string) (runs []Run, err error) {
	entries, err := entriesOf(out)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		var r Run
		dir := filepath.Join(out, e.Name())
		found, err := readJSON(filepath.Join(dir, "run.json"), &r)
		switch {
		case found && err == nil:
			r.settle(dir)
			runs = append(runs, r)
		case err == nil && e.IsDir() && empty(dir) && runName.MatchString(e.Name()):
			runs = append(runs, Run{ID: e.Name(), State: Empty})
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return b.Created.Compare(a.Created) })
	return runs, nil
}
