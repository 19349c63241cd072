package array

import (
	"context"

	"github.com/spf13/cobra"

	"plimsoll/internal/cli/form"
	"plimsoll/internal/provision"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
)

func newVerifyCmd(env *form.Env) *cobra.Command {
	var o provisionOptions
	cmd := form.Command(env, "array verify", cobra.ExactArgs(1), nil, o.verify)
	form.AddFormat(cmd, &o.format, page.Formats())
	return cmd
}

func (o *provisionOptions) verify(ctx context.Context, env *form.Env, args []string) error {
	o.file = args[0]
	decl, err := o.declaration()
	if err != nil {
		return err
	}
	diffs, err := provision.Here(env.Machine, nil).Verify(ctx, decl)
	if err != nil {
		return err
	}
	err = form.Render(env, o.format, plans.Differences(decl, diffs))
	if err == nil && len(diffs) > 0 {
		err = form.ErrVerdict
	}
	return err
}
