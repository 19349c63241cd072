package cli

import (
	"context"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/fleet"
)

// newMemberCmd is a host's side of a fleet run: the coordinator starts it through the engine.
func newMemberCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:    "member",
		Short:  "Measure on this host for a fleet run",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			signal.Ignore(syscall.SIGPIPE) // the coordinator may be gone; what is measured is kept
			m := fleet.Member{
				Machine: env.Machine,
				In:      env.In,
				Out:     env.Out,
				Version: Version,
				Plan:    func(ctx context.Context, args []string) (bench.Plan, error) { return memberPlan(ctx, env, args) },
				Check: func(ctx context.Context, args []string) (*fleet.Checkup, error) {
					return memberCheck(ctx, env, args)
				},
			}
			return m.Serve(cmd.Context())
		},
	}
}

// memberPlan plans a run from the arguments that plimsoll run takes.
func memberPlan(ctx context.Context, env *Env, args []string) (bench.Plan, error) {
	o := runOptions{progress: "json"}
	cmd := &cobra.Command{Use: "run"}
	o.measuring(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return bench.Plan{}, flagError(cmd, err)
	}
	o.Scenarios, o.Given, o.Tool = cmd.Flags().Args(), cmd.Flags().Changed, "plimsoll "+Version
	quiet := *env
	quiet.Err = io.Discard // standard error is the engine's
	return o.plan(ctx, &quiet)
}

// memberCheck looks at this host as plimsoll check does with these arguments.
func memberCheck(ctx context.Context, env *Env, args []string) (*fleet.Checkup, error) {
	var o checkOptions
	cmd := &cobra.Command{Use: "check"}
	o.looking(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return nil, flagError(cmd, err)
	}
	o.args = cmd.Flags().Args()
	quiet := *env
	quiet.Err = io.Discard // standard error is the engine's
	all, t, _, err := o.look(ctx, &quiet)
	if err != nil {
		return nil, err
	}
	if err := unseen(t); err != nil {
		all.Notes = append(all.Notes, err.Error())
	}
	return &fleet.Checkup{
		Facts:    fleet.FactsOf(t, all.Facts, "plimsoll "+Version),
		Findings: all.Findings,
		Notes:    all.Notes,
	}, nil
}
