package run

import (
	"context"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/screen"
	"plimsoll/internal/suite"
)

type sweepOptions struct {
	runOptions
	Axes []string `flag:"axes"`
	Most string   `flag:"most"` // the threshold of a search for the most load
}

// NewSweep is the command plimsoll sweep.
func NewSweep(env *form.Env) *cobra.Command {
	o := &sweepOptions{runOptions: runOptions{progress: screen.Kinds()[0]}, Axes: []string{"iodepth=1..256"}}
	cmd := form.Command(env, "sweep", cobra.MaximumNArgs(1), o, o.run)
	cmd.ValidArgsFunction = form.CompleteScenarios
	f := cmd.Flags()
	o.Given, o.Tool = f.Changed, env.Tool()
	o.addFlags(f)
	o.repeat.addFlags(cmd)
	o.repeat.Rounds = "2"
	f.Lookup("rounds").DefValue = "2"
	form.AddChoice(cmd, &o.progress, "progress", "`KIND` of progress display", screen.Kinds())
	o.LayoutOptions.AddFlags(f)
	o.PolicyOptions.AddFlags(f)
	o.Shown = true
	f.Lookup("fail-on").Usage += "; or with 4 on invalid, if a point is INVALID"
	return cmd
}

func (o *sweepOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.Scenarios = args
	if o.Most != "" || o.resumesSearch() {
		return measureMost(ctx, env, *o)
	}
	return measureSweep(ctx, env, *o)
}

func measureSweep(ctx context.Context, env *form.Env, o sweepOptions) error {
	var axes []compare.Axis
	for _, s := range o.Axes {
		a, err := compare.ParseAxis(s)
		if err != nil {
			return form.Usagef("--axes: %w", err)
		}
		axes = append(axes, a)
	}
	p, err := o.plan(ctx, env)
	if err != nil {
		return err
	}
	if o.Resume == "" {
		if len(p.Suite.Scenarios) != 1 {
			return form.Usagef(
				"a sweep varies one scenario, but there are %d: name one, such as rand-write",
				len(p.Suite.Scenarios),
			)
		}
		if one := p.Suite.Scenarios[0]; one.Kind() == suite.OfServer {
			return form.Usagef("%d %s: a sweep varies fio's options; for PostgreSQL, vary --pg-clients", one.ID, one.Name)
		}
		grid, err := compare.Grid(p.Suite.Scenarios[0], axes)
		if err != nil {
			return form.Usage(err)
		}
		p.Suite.Name = "sweep-" + p.Suite.Scenarios[0].Name
		p.Suite.Scenarios = grid
		if err := checkJobs(ctx, env, &p.Suite); err != nil {
			return form.Usage(err)
		}
	}
	return o.shown(
		ctx,
		env,
		p,
		func(b *bundle.Bundle) (*page.Document, error) { return runs.Swept(compare.Sweep(b)), nil },
	)
}

// shown measures a plan, or with --dry-run shows it, and prints what it says. The verdict of the points counts where
// --fail-on asks for it; a sweep without it only shows.
func (o sweepOptions) shown(
	ctx context.Context,
	env *form.Env,
	p bench.Plan,
	says func(*bundle.Bundle) (*page.Document, error),
) error {
	if o.DryRun {
		return form.Render(env, o.Format, plans.DryRun(p))
	}
	b, err := o.measured(ctx, env, p, "sweep")
	if err != nil {
		return err
	}
	d, err := says(b)
	if err != nil {
		return err
	}
	if err := form.Render(env, o.Format, d); err != nil {
		return err
	}
	env.Notef("stored in %s", b.Dir)
	if len(b.Run.Policy.FailOn) == 0 {
		return nil
	}
	return form.RunError(b)
}
