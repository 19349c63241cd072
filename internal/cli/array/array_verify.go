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
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Compare the machine with a plimsoll.yaml",
		Long: `Compare the machine with a plimsoll.yaml: arrays and their members, redundancy, filesystems and their
alignment, mounts, /etc/fstab, mdadm.conf and initramfs. Needs root. The exit code is 3 when something differs.`,
		Example: `  plimsoll array verify plimsoll.yaml
  plimsoll array verify plimsoll.yaml --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.file = args[0]
			return runVerify(cmd.Context(), env, o)
		},
	}
	form.AddFormat(cmd, &o.format, page.Formats())
	return cmd
}

func runVerify(ctx context.Context, env *form.Env, o provisionOptions) error {
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
