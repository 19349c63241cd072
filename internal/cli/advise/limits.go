package advise

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	comparecli "plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

type limitsOptions struct {
	form.LayoutOptions
	keep   string
	others []string
	reads  int
	cost   units.Latency
	run    string
	check  bool
	format string
}

// NewLimits is the command plimsoll limits.
func NewLimits(env *form.Env) *cobra.Command {
	var o limitsOptions
	cmd := &cobra.Command{
		Use:   "limits PATH --keep GROUP=PERCENT",
		Short: "Print the io.max lines that keep a share of the storage for one service",
		Long: `Print the limits that keep a share of the storage below PATH for one control group, by limiting others: io.max,
systemd's properties, the files of cgroup v1, docker's flags. Nothing is applied. Each number is a share of what
the storage sustains, not of a burst, and is shown with its source; --run uses what a run of plimsoll measured
where that is less, or where no limit is known. Groups are named as systemd, docker or Kubernetes name them:
backup.service, docker-….scope, kubepods-pod….slice.

--check compares them with the current settings; the exit code is 3 when something differs.`,
		Example: `  plimsoll limits /data --keep postgresql.service=70% --others backup.service
  plimsoll limits /data --keep postgresql.service=70% --others backup.service --reads 100 --volumes 4xgp3 --check
  plimsoll limits /data --keep postgresql.service=70% --run runs/20261126T170248Z-db-db1 --cost 5ms`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runLimits(cmd.Context(), env, o, args[0]) },
	}
	f := cmd.Flags()
	o.others = []string{"others.slice"}
	o.reads = 50
	form.Bind(f, "limits", "keep", &o.keep, "others", &o.others, "reads", &o.reads, "cost", &o.cost, "check",
		&o.check, "run", &o.run)
	o.AddFlags(f)
	form.AddFormat(cmd, &o.format, page.PlainFormats())
	return cmd
}

func runLimits(ctx context.Context, env *form.Env, o limitsOptions, at string) error {
	l := plans.Limited{Cost: o.cost.Duration()}
	group, percent, ok := strings.Cut(o.keep, "=")
	var err error
	if l.Share, err = comparecli.ParsePercent("--keep", percent); err != nil || !ok || l.Share >= 1 || l.Share <= 0 {
		return form.Usagef("--keep %.60q: want GROUP=PERCENT below 100 %%, such as postgresql.service=70%%", o.keep)
	}
	if o.reads < 0 || o.reads > 100 {
		return form.Usagef("--reads %d: want from 0 to 100", o.reads)
	}
	if err := form.MustExist(at); err != nil {
		return err
	}
	decl, err := o.Declaration(env)
	if err != nil {
		return err
	}
	t, err := topology.Detect(ctx, env.Machine, map[topology.Role]string{topology.Data: at}, decl)
	if err != nil {
		return err
	}
	target := t.For(topology.Data)
	if l.Device = t.Tree.Devices[target.Device]; l.Device == nil {
		return fmt.Errorf("%s: there is no block device behind it, and a limit is of a device", at)
	}
	if up := t.Tree.Devices[l.Device.Parent]; up != nil {
		l.Device = up // the kernel takes no partitions
	}
	on, role := t, topology.Data
	var results []*result.Result
	if o.run != "" {
		b, err := bundle.OpenRun(o.run)
		if err != nil {
			return err
		}
		behind := b.Behind(target)
		if behind == nil {
			return form.Usagef("--run %s: it did not measure what lies behind %s", o.run, at)
		}
		if decl == nil {
			on, role = &b.Run.Topology, behind.Role // with what was declared then
		}
		results = b.Valid(behind.Role)
	}
	if l.Rates, err = ceiling.Rates(on, role, results, o.run); err != nil {
		return fmt.Errorf("%s: %w", at, errors.Join(err, errors.New(strings.Join(t.Notes, "; "))))
	}
	l.Allowed = ceiling.Allow(l.Rates, (1-l.Share)/float64(len(o.others)), float64(o.reads)/100)
	l.Wait = ceiling.Wait(1 - l.Share)
	l.Path, l.Keep = at, group
	for _, name := range o.others {
		g := plans.LimitedGroup{Name: name}
		g.Dir, l.V1 = topology.GroupPath(env.Root, name)
		g.Set = topology.GroupLimits(env.Root, g.Dir, l.V1, l.Device.Major, l.Device.Minor)
		l.Groups = append(l.Groups, g)
	}
	if err := form.Render(env, o.format, plans.Limits(&l, o.check)); err != nil || !o.check || len(l.Differences()) == 0 {
		return err
	}
	return form.ErrVerdict
}
