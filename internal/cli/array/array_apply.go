package array

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/text"
)

func newApplyCmd(env *form.Env) *cobra.Command {
	var o provisionOptions
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Build the arrays of a plimsoll.yaml from blank volumes",
		Long: `Build the arrays of a plimsoll.yaml from blank volumes: partitions, array, filesystem, mount,
/etc/fstab, mdadm.conf and initramfs. The plan is shown and confirmed first. A journal in /var/lib/plimsoll
keeps each step, so that apply, run again, finishes what was interrupted, and teardown can undo it all.

A volume that carries anything is refused, unless --destroy DEV and --serial S both name it.`,
		Example: `  plimsoll array apply plimsoll.yaml
  plimsoll array apply plimsoll.yaml --yes --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return runApply(cmd.Context(), env, o)
		},
	}
	o.addDestroy(cmd)
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	form.TypedOnly(cmd.Flags(), "yes")
	cmd.Flags().BoolVar(&o.json, "json", false, "print what happens as JSON, one event per line; needs --yes")
	return cmd
}

func runApply(ctx context.Context, env *form.Env, o provisionOptions) error {
	if o.json && !o.yes {
		return form.Usagef("--json needs --yes: there is no terminal to ask on")
	}
	site, plan, err := o.plan(ctx, env)
	if err != nil {
		return err
	}
	if !o.json {
		if err := form.RenderWhole(env, plans.Plan(plan)); err != nil {
			return err
		}
	}
	if plan.Steps() > 0 && !o.yes {
		if err := form.Confirm(ctx, env, fmt.Sprintf("\nRun %s?", text.Plural(plan.Steps(), "step"))); err != nil {
			return err
		}
	}
	if err := site.Apply(ctx, plan); err != nil {
		return form.Hint(
			err,
			"plimsoll array apply "+text.ShellQuote(o.file)+" goes on from there; plimsoll array teardown takes it back",
		)
	}
	return nil
}
