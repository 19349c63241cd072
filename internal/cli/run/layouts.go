package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bench"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/permit"
	"plimsoll/internal/provision"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/tune"
	"plimsoll/internal/units"
)

// study is layouts that are built, measured and taken down in turn.
type study struct {
	trial   *provision.Trial
	layouts []topology.Layout
}

// study plans each layout, shows what the model says of them, and asks. Nothing is built yet, and what cannot be
// built is an error. dir is that of a measurement which is resumed.
func (o abOptions) study(
	ctx context.Context,
	env *form.Env,
	tuner *tune.Tuner,
	parsed []form.Variant,
	dir string,
) (*study, []bench.Variant, error) {
	for _, flag := range []string{"data", "wal", "on", "destroy", "volumes", "level", "chunk", "instance", "resume"} {
		if o.Given(flag) && (flag != "resume" || dir == "") {
			return nil, nil, form.Usagef("--%s: the layouts already declare their volumes and mount points", flag)
		}
	}
	if len(parsed) < 2 {
		return nil, nil, form.Usagef("fewer than two layouts: add --variant NAME:array.KEY=VALUE or --layout FILE")
	}
	s := &study{trial: provision.Here(env.Machine, nil).NewTrial(name(dir))}
	if err := s.left(ctx, env, o); err != nil {
		return nil, nil, form.AsRoot(env, err)
	}
	pinned := map[string]topology.Layout{}
	var variants []bench.Variant
	var all []plans.Foreseen
	var takes time.Duration
	for _, v := range parsed {
		base, ok := pinned[string(v.Layout.YAML)]
		if !ok {
			var err error
			if base, err = s.trial.Pin(ctx, v.Layout); err != nil {
				return nil, nil, form.AsRoot(env, err)
			}
			pinned[string(v.Layout.YAML)] = base
		}
		v.Layout = base
		if err := v.Lay(); err != nil {
			return nil, nil, form.Usage(err)
		}
		if err := s.trial.Check(ctx, v.Layout); err != nil {
			return nil, nil, fmt.Errorf("variant %s cannot be built: %w", v.Name, err)
		}
		one, seen, err := o.foreseen(ctx, env, tuner, v)
		if err != nil {
			return nil, nil, err
		}
		one.Enter = s.entering(env, tuner, o, v)
		variants, all = append(variants, one), append(all, seen)
		for _, c := range one.Plan.Suite.Scenarios {
			takes += c.Takes() + one.Plan.Suite.Cooldown
		}
		one.Plan.Topology = topology.Topology{} // that of where plimsoll was started
		s.layouts = append(s.layouts, v.Layout)
	}
	d := plans.Layouts(all)
	if o.DryRun {
		return s, variants, form.Render(env, o.Format, d)
	}
	to := *env
	to.Out = env.Notes() // standard output is the result's
	if err := form.RenderWhole(&to, d); err != nil || o.Yes {
		return s, variants, err
	}
	fmt.Fprintf(
		env.Err,
		"\n%s to build, measure and take down again, %s each, %s of measuring in total, on these volumes and no "+
			"others. Everything on them will be lost:\n",
		text.Plural(len(parsed), "layout"),
		text.Plural(o.rounds, "time"),
		text.Duration(takes*time.Duration(o.rounds)),
	)
	for _, m := range s.trial.Members {
		fmt.Fprintf(env.Err, "  serial %s  %s  %v  %s\n", text.Clean(m.Serial, 40), m.Path, m.Size, text.Clean(m.Model, 40))
	}
	return s, variants, form.Confirm(ctx, env, "Use these volumes?")
}

// name is what journals call the measurement of a directory.
func name(dir string) string {
	if abs, err := filepath.Abs(dir); dir != "" && err == nil {
		return abs
	}
	return ""
}

// left takes down what a killed measurement has left, when that is resumed; what another has left is an error.
func (s *study) left(ctx context.Context, env *form.Env, o abOptions) error {
	left, err := s.trial.Left()
	if err != nil || len(left) == 0 {
		return err
	}
	for _, w := range left {
		if w.For != s.trial.For {
			return fmt.Errorf(
				"array %s was left by the measurement %s: resume that with plimsoll ab --resume, or plimsoll array "+
					"teardown %[1]s",
				w.Array,
				w.For,
			)
		}
		env.Sayf("array %s was left when this measurement was ended, and is taken down first", w.Array)
	}
	if o.DryRun {
		return errors.New("that array is in the way of the plan: plimsoll array teardown")
	}
	if !o.Yes {
		if err := form.Confirm(ctx, env, "Take it down?"); err != nil {
			return err
		}
	}
	return s.trial.TakeDown(ctx)
}

// begin writes the layouts into the directory of their measurement; one that is resumed must have the same.
func (s *study) begin(dir string) error {
	if s == nil {
		return nil
	}
	s.trial.For = name(dir)
	own, err := sys.OpenOwnDir(dir)
	if err != nil {
		return err
	}
	for _, l := range s.layouts {
		file := l.Name + ".yaml"
		before, err := sys.ReadFile(filepath.Join(dir, file), sys.ConfigLimit)
		if err == nil && string(before) != string(l.YAML) {
			return errors.Join(own.Close(), fmt.Errorf("%s: the layout %s is no longer the same: its volumes or its file have "+
				"changed since the measurement began; start a new one", dir, l.Name))
		}
		if err != nil {
			if err := own.WriteFile(file, l.YAML, 0o644); err != nil {
				return errors.Join(err, own.Close())
			}
		}
	}
	return own.Close()
}

// foreseen is a variant before its layout is built, with its ceilings.
func (o abOptions) foreseen(
	ctx context.Context,
	env *form.Env,
	tuner *tune.Tuner,
	v form.Variant,
) (bench.Variant, plans.Foreseen, error) {
	decl, err := v.Layout.Declaration()
	if err != nil {
		return bench.Variant{}, plans.Foreseen{}, form.Usage(err)
	}
	t, err := topology.Foresee(ctx, env.Machine, decl)
	if err != nil {
		return bench.Variant{}, plans.Foreseen{}, err
	}
	o.Declared, o.progress = &topology.Declaration{}, "none" // it is not built yet: of where plimsoll runs nothing is said
	one, err := o.variant(ctx, env, tuner, v.Name, v.Changes)
	if err == nil {
		err = holds(t, one.Plan.Suite.Scenarios)
	}
	var all []plans.Outlook
	for _, c := range one.Plan.Suite.Scenarios {
		out := plans.Outlook{ID: c.ID, Name: c.Name, Role: c.Role}
		if c.Kind() != suite.OfServer {
			if out.Loads, err = c.Workloads(); err != nil {
				return one, plans.Foreseen{}, err
			}
			out.SetCeiling(ceiling.Of(t, c.Role, out.Loads))
		}
		all = append(all, out)
	}
	return one, plans.Foresee(v.Name, t, all), err
}

// holds refuses files that do not fit: what is found out after the build is found out late.
func holds(t *topology.Topology, scenarios []suite.Scenario) error {
	needs := map[string]units.Bytes{}
	for _, target := range t.Targets {
		of := slices.DeleteFunc(slices.Clone(scenarios), func(s suite.Scenario) bool { return s.Role != target.Role })
		needs[target.Array] += permit.FilesOf(of...).Total()
		if a := t.Array(target.Array); a != nil && a.Size > 0 && needs[a.Name] > a.Size*9/10 {
			return form.Usagef("array %s: the scenarios need %v, and it holds %v, but plimsoll uses only 90 %% of "+
				"that: choose a smaller --size", a.Name, needs[a.Name], a.Size)
		}
	}
	return nil
}

// entering builds a variant's layout, and plans its measurement where that is mounted.
func (s *study) entering(
	env *form.Env,
	tuner *tune.Tuner,
	o abOptions,
	v form.Variant,
) func(context.Context, *bench.Plan) (func() error, error) {
	return func(ctx context.Context, p *bench.Plan) (func() error, error) {
		if err := s.trial.Build(ctx, v.Layout); err != nil {
			return nil, form.AsRoot(env, err)
		}
		down := func() error { return s.trial.TakeDown(context.WithoutCancel(ctx)) }
		decl, err := v.Layout.Declaration()
		if err != nil {
			return nil, errors.Join(err, down())
		}
		o.Declared, o.progress = decl, "none"
		for _, a := range decl.Arrays {
			for _, role := range a.Roles {
				if f := a.Filesystem; f != nil && role == topology.Data {
					o.Data = f.Mount
				} else if f != nil {
					o.WAL = f.Mount
				}
			}
		}
		one, err := o.variant(ctx, env, tuner, v.Name, v.Changes)
		if err != nil {
			return nil, errors.Join(err, down())
		}
		*p = one.Plan
		if one.Enter == nil {
			return down, nil
		}
		leave, err := one.Enter(ctx, p)
		if err != nil {
			return nil, errors.Join(err, down())
		}
		return func() error { return errors.Join(leave(), down()) }, nil
	}
}

// watch says what is built while it is.
func (s *study) watch(emit func(bench.Event)) {
	if s == nil {
		return
	}
	s.trial.Emit = func(e provision.Event) {
		if e.What == provision.Doing && !strings.HasPrefix(e.Title, "check ") {
			emit(bench.Noted{Text: e.Array + ": " + e.Title})
		}
	}
}
