package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	machinecli "plimsoll/internal/cli/machine"
	"plimsoll/internal/report/machine"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

type fleetCheckOptions struct {
	check  machinecli.CheckOptions // only parsed here: each host looks at itself
	to     fleetHosts
	Format string `formats:"all"`
}

func newFleetCheckCmd(env *form.Env) *cobra.Command {
	var o fleetCheckOptions
	cmd := form.Command(env, "fleet check", nil, &o, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return runFleetCheck(cmd.Context(), env, o, passedOn(cmd.Flags(), args))
	}
	o.check.Looking(cmd)
	o.to.addFlags(cmd)
	return cmd
}

func runFleetCheck(ctx context.Context, env *form.Env, o fleetCheckOptions, passed []string) error {
	policy, err := o.check.Policy(nil)
	if err != nil {
		return err
	}
	r, err := o.to.run(env)
	if err != nil {
		return err
	}
	r.Args, r.Disabled, r.Note = passed, policy.Disable, func(string, string) {}
	all, err := r.Check(ctx)
	if err != nil {
		return err
	}
	if err := form.Render(env, o.Format, machine.FleetCheck(all)); err != nil {
		return err
	}
	return checkedError(all, policy)
}

// checkedError is the error of what a check of several hosts found.
func checkedError(all *bundle.FleetCheck, policy verdict.Policy) error {
	found, missing := all.Findings, 0
	for _, h := range all.Hosts {
		found = append(found, h.Findings...)
		if h.State != bundle.HostDone {
			missing++
		}
	}
	switch {
	case machinecli.HasErrors(found) || policy.Fails("", found):
		return form.ErrVerdict
	case missing == len(all.Hosts):
		return errors.New("no host could be checked")
	case missing > 0:
		return fmt.Errorf("%s could not be checked", text.Plural(missing, "host"))
	}
	return nil
}
