package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"plimsoll/internal/provision"
	"plimsoll/internal/report"
)

func newTeardownCmd(env *Env) *cobra.Command {
	var o provisionOptions
	cmd := &cobra.Command{
		Use:   "teardown [ARRAY...]",
		Short: "Undo what apply has made, and nothing else",
		Long: `Undo what the journals of apply say was made, newest first: unmount, take lines out of /etc, stop arrays, erase superblocks,
zero both ends of the volumes. Without names, all arrays. What was on them is lost. What apply did not make stays.`,
		Example: `  plimsoll teardown
  plimsoll teardown wal --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runTeardown(cmd.Context(), env, o, args)
		},
	}
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&o.json, "json", false, "print what happens as JSON, one event a line; needs --yes")
	return cmd
}

func runTeardown(ctx context.Context, env *Env, o provisionOptions, names []string) error {
	if o.json && !o.yes {
		return usage(errors.New("--json needs --yes: nobody could answer"))
	}
	site := provision.Here(env.Machine, provisionView(env, o.json))
	journals, err := site.Made(names...)
	if err != nil {
		return err
	}
	if len(journals) == 0 {
		if !o.json {
			fmt.Fprintln(env.Out, "plimsoll has made nothing here: there is nothing to undo")
		}
		return nil
	}
	if !o.yes {
		report.Undo(env.Out, journals)
		if err := confirm(env, "\nUndo this? What is on these volumes is lost."); err != nil {
			return err
		}
	}
	if err := site.Teardown(ctx, names...); err != nil {
		return hint(err, "plimsoll teardown goes on from there")
	}
	return nil
}
