package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/diagnose/rules"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/text"
	"plimsoll/internal/topology"
	"plimsoll/internal/tune"
)

type tuneOptions struct {
	CheckOptions
	Format  string `formats:"plain"`
	Queues  bool   `flag:"queues"`
	CPU     bool   `flag:"cpu"`
	Memory  bool   `flag:"memory"`
	State   string `flag:"state"`
	DryRun  bool   `flag:"dry-run"`
	Persist bool   `flag:"persist"`
	Revert  bool   `flag:"revert"`
	Yes     bool   `flag:"yes"`
}

// NewTune is the command plimsoll tune.
func NewTune(env *form.Env) *cobra.Command {
	o := tuneOptions{State: tune.Here(nil).State}
	cmd := form.Command(env, "tune", nil, &o, o.run)
	f := cmd.Flags()
	o.PathOptions.AddFlags(f)
	form.AddChoice(cmd, (*string)(&o.role), "role", "tune for one `ROLE` only", topology.Roles)
	o.LayoutOptions.AddFlags(f)
	return cmd
}

func (o *tuneOptions) run(ctx context.Context, env *form.Env, args []string) error {
	o.Args = args
	tuner := tune.Here(env.Machine)
	tuner.State = o.State
	if o.Revert {
		release, err := tuner.Hold()
		if err != nil {
			return form.AsRoot(env, err)
		}
		defer release()
		settings, files, err := tuner.Revert(func(c tune.Change, now string) error {
			if o.Yes {
				return nil
			}
			return form.Confirm(
				ctx,
				env,
				fmt.Sprintf("%s is %.60q, which is not what plimsoll set (%.60q). Put %.60q back?", c.At,
					now, c.Value, c.Old),
			)
		})
		if settings+files > 0 || err == nil {
			env.Printf("reverted %s and %s", text.Plural(settings, "setting"), text.Plural(files, "file"))
		}
		return form.AsRoot(env, err)
	}
	t, err := o.detect(ctx, env)
	if err != nil {
		return err
	}
	found := rules.Judge(&diagnose.Case{Topology: t, Host: bench.Facts(ctx, env.Machine)}, nil)
	var only []tune.Group
	for g, wanted := range map[tune.Group]bool{tune.Queues: o.Queues, tune.CPU: o.CPU, tune.Memory: o.Memory} {
		if wanted {
			only = append(only, g)
		}
	}
	changes, err := tuner.Plan(t.Tree, found, only)
	if err != nil {
		return err
	}
	mine := changes
	if o.Persist && !o.DryRun {
		before, err := tuner.Recorded()
		if err != nil {
			return form.AsRoot(env, err)
		}
		mine = slices.Concat(before, changes)
	}
	for _, rival := range tuner.Rivals(mine) {
		env.Notef("%s%s", otherOwner, rival)
	}
	if !o.DryRun && (len(changes) > 0 || o.Persist) {
		release, held := tuner.Hold()
		if held != nil {
			return form.AsRoot(env, held)
		}
		defer release()
		err = tuner.Apply(changes, o.Persist)
		changes = tuner.InForce(changes)
	}
	if len(changes) > 0 || err == nil {
		err = errors.Join(form.Render(env, o.Format, plans.Changes(changes)), err)
	}
	if err != nil || o.DryRun {
		return form.AsRoot(env, err)
	}
	const undo = "undo with: plimsoll tune --revert"
	switch n := text.Plural(len(changes), "setting"); {
	case o.Persist:
		env.Notef("%s changed, and applied again at each boot; %s", n, undo)
	case len(changes) > 0:
		env.Notef("%s changed, until the next boot (--persist keeps them); %s", n, undo)
	}
	return nil
}
