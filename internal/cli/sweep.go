package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/compare"
	"plimsoll/internal/report"
	"plimsoll/internal/text"
)

type sweepOptions struct {
	runOptions
	axes []string
}

func newSweepCmd(env *Env) *cobra.Command {
	o := &sweepOptions{runOptions: runOptions{progress: progressKinds[0]}}
	cmd := &cobra.Command{
		Use:   "sweep SCENARIO --axes OPTION=VALUES...",
		Short: "Measure one scenario over a grid of depths, block sizes, jobs or mixes",
		Long: `Measure one scenario at each point of a grid, in shuffled order and at least twice, and find the knee
of throughput over depth: the depth that gives 95 % of what the deepest gives, next to the knee that the ceiling
predicts. Deeper queues only wait longer.`,
		Example: `  plimsoll sweep rand-read --data /data --axes iodepth=1..256 --runtime 15
  plimsoll sweep rand-write --data /data --axes iodepth=1..64 --axes bs=4k..64k --rounds 3`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Scenarios, o.Given, o.Tool = args, cmd.Flags().Changed, "plimsoll "+Version
			return measureSweep(cmd.Context(), env, *o)
		},
	}
	f := cmd.Flags()
	o.addFlags(f)
	f.StringArrayVar(
		&o.axes,
		"axes",
		[]string{"iodepth=1..256"},
		"`OPTION=VALUES`: iodepth, bs, numjobs as 1..64, or rwmixread=0/70/100; may be repeated",
	)
	o.repeat.addFlags(cmd)
	o.repeat.rounds = "2"
	f.Lookup("rounds").DefValue = "2"
	addChoice(cmd, &o.progress, "progress", "how to show progress, `KIND`", progressKinds)
	addFormat(cmd, &o.format, report.SweptFormats())
	o.layoutOptions.addFlags(f)
	return cmd
}

func measureSweep(ctx context.Context, env *Env, o sweepOptions) error {
	var axes []compare.Axis
	for _, s := range o.axes {
		a, err := compare.ParseAxis(s)
		if err != nil {
			return usage(fmt.Errorf("--axes: %w", err))
		}
		axes = append(axes, a)
	}
	p, err := o.plan(ctx, env)
	if err != nil {
		return err
	}
	if o.resume == "" {
		if len(p.Suite.Scenarios) != 1 {
			return usage(
				fmt.Errorf(
					"a sweep varies one scenario and there are %d: name one, such as rand-write",
					len(p.Suite.Scenarios),
				),
			)
		}
		if one := p.Suite.Scenarios[0]; one.Postgres != nil {
			return usage(
				fmt.Errorf("%d %s: a sweep varies fio's options; of PostgreSQL vary --pg-clients", one.ID, one.Name),
			)
		}
		grid, err := compare.Grid(p.Suite.Scenarios[0], axes)
		if err != nil {
			return usage(err)
		}
		p.Suite.Name = "sweep-" + p.Suite.Scenarios[0].Name
		p.Suite.Scenarios = grid
		if err := checkJobs(ctx, env, &p.Suite); err != nil {
			return usage(err)
		}
	}
	show := newProgress(env, o.progress)
	b, err := measure(ctx, env, o.runOptions, p, show.Event)
	show.Close()
	if errors.Is(err, context.Canceled) && b != nil {
		fmt.Fprintf(env.Err, "interrupted; to resume: plimsoll sweep --resume %s\n", text.ShellQuote(b.Dir))
		return &reported{err}
	}
	if err != nil {
		return err
	}
	if err := report.Swept(env.Out, report.Format(o.format), compare.Sweep(b)); err != nil {
		return err
	}
	fmt.Fprintf(env.Err, "stored in %s\n", b.Dir)
	return nil
}
