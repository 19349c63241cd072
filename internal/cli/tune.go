package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/topology"
	"plimsoll/internal/tune"
)

type tuneOptions struct {
	checkOptions
	groups  map[tune.Group]*bool
	state   string
	dryRun  bool
	persist bool
	revert  bool
}

func newTuneCmd(env *Env) *cobra.Command {
	o := tuneOptions{groups: map[tune.Group]*bool{}}
	cmd := &cobra.Command{
		Use:   "tune",
		Short: "Make the settings that check advises, and put them back",
		Long: `Make the settings that check advises for block queues, processors and memory. What was there before is recorded first;
--revert puts it back, newest first. Without --persist a boot undoes everything; with it a udev rule, a file in
/etc/sysctl.d and a systemd unit bring it back. Nothing else is changed: what check advises beyond settings is left to you.`,
		Example: `  plimsoll tune --data /data --wal /wal --dry-run
  plimsoll tune --role data --data /data --queues --persist
  plimsoll tune --revert`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runTune(cmd.Context(), env, o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.data, "data", "", "`PATH` of the data role: a directory or a device")
	f.StringVar(&o.wal, "wal", "", "`PATH` of the log role; with one path both roles use it, with none the current directory")
	f.StringVar((*string)(&o.role), "role", "", "tune for one `ROLE` only: data or wal")
	o.groups[tune.Queues] = f.Bool("queues", false, "only block queues: scheduler, read-ahead, request sizes")
	o.groups[tune.CPU] = f.Bool("cpu", false, "only processors: idle states, governor")
	o.groups[tune.Memory] = f.Bool("memory", false, "only memory: vm.dirty_*, vm.swappiness")
	f.BoolVar(&o.dryRun, "dry-run", false, "show what would change and stop")
	f.BoolVar(&o.persist, "persist", false, "also bring it back after a boot")
	f.BoolVar(&o.revert, "revert", false, "put everything back that tune has changed")
	f.StringVar(&o.state, "state", tune.Here(nil).State, "record changes in this `FILE`")
	o.addFlags(f)
	for _, other := range []string{"dry-run", "persist", "role", "queues", "cpu", "memory"} {
		cmd.MarkFlagsMutuallyExclusive("revert", other)
	}
	completeValues(cmd, "role", []string{string(topology.Data), string(topology.WAL)})
	return cmd
}

func runTune(ctx context.Context, env *Env, o tuneOptions) error {
	tuner := tune.Here(env.Machine)
	tuner.State = o.state
	if o.revert {
		settings, files, err := tuner.Revert()
		if settings+files > 0 || err == nil {
			fmt.Fprintf(env.Out, "put back: settings %d, files %d\n", settings, files)
		}
		return asRoot(err)
	}
	if o.role != "" && !slices.Contains(topology.Roles, o.role) {
		return usage(fmt.Errorf("role %q: want data or wal", o.role))
	}
	t, err := o.detect(ctx, env)
	if err != nil {
		return err
	}
	found := diagnose.Judge(&diagnose.Case{Topology: t, Host: facts(ctx, env.Machine)})
	var only []tune.Group
	for _, g := range []tune.Group{tune.Queues, tune.CPU, tune.Memory} {
		if *o.groups[g] {
			only = append(only, g)
		}
	}
	changes, err := tuner.Plan(t.Tree, found, only)
	if err != nil {
		return err
	}
	for _, c := range changes {
		fmt.Fprintf(env.Out, "%s: %s -> %s (%s)\n", c.At, clean(c.Old), c.Value, c.Code)
	}
	if len(changes) == 0 {
		fmt.Fprintln(env.Out, "every setting that check judges is as it should be")
	}
	if o.dryRun {
		return nil
	}
	if err := tuner.Apply(changes, o.persist); err != nil {
		return asRoot(err)
	}
	if len(changes) > 0 {
		fmt.Fprintf(env.Out, "settings made: %d; back with: plimsoll tune --revert\n", len(changes))
	}
	return nil
}

// asRoot says what to do where root is needed.
func asRoot(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return hint(err, "sudo plimsoll tune")
	}
	return err
}
