package run

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/cli/machine"
	"plimsoll/internal/fleet"
	"plimsoll/internal/permit"
)

// NewMember is a host's side of a fleet run: the coordinator starts it through the engine.
func NewMember(env *form.Env) *cobra.Command {
	cmd := form.Command(env, "member", cobra.NoArgs, nil, serve)
	cmd.Hidden = true
	return cmd
}

func serve(ctx context.Context, env *form.Env, _ []string) error {
	signal.Ignore(syscall.SIGPIPE) // the coordinator may be gone; what is measured is kept
	if self, err := os.Executable(); err == nil {
		fleet.EndCopy(self)
	}
	m := fleet.Member{
		Machine: env.Machine,
		In:      env.In,
		Out:     env.Out,
		Version: env.Version,
		Plan: func(ctx context.Context, args []string, share *fleet.Share) (bench.Plan, func(), error) {
			return memberPlan(ctx, env, args, share)
		},
		Check: func(ctx context.Context, args []string) (*fleet.Checkup, error) {
			return memberCheck(ctx, env, args)
		},
	}
	return m.Serve(ctx)
}

// memberPlan plans a run from the arguments that plimsoll run takes. On storage that all hosts of
// the fleet see, the paths are directories of this host's own there, which leave gives up.
func memberPlan(
	ctx context.Context,
	env *form.Env,
	args []string,
	share *fleet.Share,
) (p bench.Plan, leave func(), err error) {
	o := runOptions{progress: "json"}
	cmd := &cobra.Command{Use: "run"}
	o.measuring(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return p, nil, form.FlagError(cmd, err)
	}
	o.Scenarios, o.Given, o.Tool = cmd.Flags().Args(), cmd.Flags().Changed, env.Tool()
	if share != nil {
		if leave, err = o.join(share); err != nil {
			return p, leave, err
		}
	}
	quiet := *env
	quiet.Err = io.Discard // standard error is the engine's
	p, err = o.plan(ctx, &quiet)
	if share != nil {
		p.Consent.Hosts = share.Hosts
	}
	return p, leave, err
}

// join puts this host's directories on shared storage in place of the paths.
func (o *runOptions) join(share *fleet.Share) (leave func(), err error) {
	var all []func()
	leave = func() {
		for _, one := range all {
			one()
		}
	}
	joined := map[string]string{}
	for _, path := range []*string{&o.Data, &o.WAL} {
		if *path == "" {
			continue
		}
		if joined[*path] == "" {
			dir, one, err := permit.Join(*path, share.Fleet, share.Host)
			if err != nil {
				return leave, err
			}
			all, joined[*path] = append(all, one), dir
		}
		*path = joined[*path]
	}
	return leave, nil
}

// memberCheck looks at this host as plimsoll check does with these arguments.
func memberCheck(ctx context.Context, env *form.Env, args []string) (*fleet.Checkup, error) {
	var o machine.CheckOptions
	cmd := &cobra.Command{Use: "check"}
	o.Looking(cmd)
	if err := cmd.ParseFlags(args); err != nil {
		return nil, form.FlagError(cmd, err)
	}
	o.Args = cmd.Flags().Args()
	quiet := *env
	quiet.Err = io.Discard // standard error is the engine's
	all, err := o.Look(ctx, &quiet)
	if err != nil {
		return nil, err
	}
	if err := machine.Unseen(all.Topology); err != nil {
		all.Notes = append(all.Notes, err.Error())
	}
	return &fleet.Checkup{
		Facts:    fleet.FactsOf(all.Topology, all.Facts, env.Tool()),
		Findings: all.Findings,
		Notes:    all.Notes,
	}, nil
}
