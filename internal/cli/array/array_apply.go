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
	cmd := form.Command(env, "array apply", cobra.ExactArgs(1), &o, o.apply)
	form.BindAll(cmd.Flags(), "array", &o)
	return cmd
}

func (o *provisionOptions) apply(ctx context.Context, env *form.Env, args []string) error {
	o.file = args[0]
	if o.JSON && !o.Yes {
		return form.Usagef("--json needs --yes: there is no terminal on which to ask")
	}
	site, plan, err := o.plan(ctx, env)
	if err != nil {
		return err
	}
	if !o.JSON {
		if err := form.RenderWhole(env, plans.Plan(plan)); err != nil {
			return err
		}
	}
	if plan.Steps() > 0 && !o.Yes {
		if err := form.Confirm(ctx, env, fmt.Sprintf("\nRun %s?", text.Plural(plan.Steps(), "step"))); err != nil {
			return err
		}
	}
	if err := site.Apply(ctx, plan); err != nil {
		return form.Hint(
			err,
			"plimsoll array apply "+text.ShellQuote(o.file)+" continues from there; plimsoll array teardown undoes it",
		)
	}
	return nil
}
