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
	"plimsoll/internal/report/plans"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

type limitsOptions struct {
	form.LayoutOptions
	Keep   string        `flag:"keep"`
	Others []string      `flag:"others"`
	Reads  int           `flag:"reads"`
	Cost   units.Latency `flag:"cost"`
	OfRun  string        `flag:"run"`
	Check  bool          `flag:"check"`
	Format string        `formats:"plain"`
}

// NewLimits is the command plimsoll limits.
func NewLimits(env *form.Env) *cobra.Command {
	o := limitsOptions{Others: []string{"others.slice"}, Reads: 50}
	cmd := form.Command(env, "limits", cobra.ExactArgs(1), &o, o.run)
	o.AddFlags(cmd.Flags())
	return cmd
}

func (o *limitsOptions) run(ctx context.Context, env *form.Env, args []string) error {
	at := args[0]
	l := plans.Limited{Cost: o.Cost.Duration()}
	group, percent, ok := strings.Cut(o.Keep, "=")
	var err error
	if l.Share, err = comparecli.ParsePercent("--keep", percent); err != nil || !ok || l.Share >= 1 || l.Share <= 0 {
		return form.Usagef("--keep %.60q: want GROUP=PERCENT below 100 %%, such as postgresql.service=70%%", o.Keep)
	}
	if o.Reads < 0 || o.Reads > 100 {
		return form.Usagef("--reads %d: use 0 to 100", o.Reads)
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
		return fmt.Errorf("%s: there is no block device below it, and limits apply to devices", at)
	}
	if up := t.Tree.Devices[l.Device.Parent]; up != nil {
		l.Device = up // the kernel takes no partitions
	}
	on, role := t, topology.Data
	var results []*result.Result
	if o.OfRun != "" {
		b, err := bundle.OpenRun(o.OfRun)
		if err != nil {
			return err
		}
		behind := b.Behind(target)
		if behind == nil {
			return form.Usagef("--run %s: that run did not measure the storage below %s", o.OfRun, at)
		}
		if decl == nil {
			on, role = &b.Run.Topology, behind.Role // with what was declared then
		}
		results = b.Valid(behind.Role)
	}
	if l.Rates, err = ceiling.Rates(on, role, results, o.OfRun); err != nil {
		return fmt.Errorf("%s: %w", at, errors.Join(err, errors.New(strings.Join(t.Notes, "; "))))
	}
	l.Allowed = ceiling.Allow(l.Rates, (1-l.Share)/float64(len(o.Others)), float64(o.Reads)/100)
	l.Wait = ceiling.Wait(1 - l.Share)
	l.Path, l.Keep = at, group
	for _, name := range o.Others {
		g := plans.LimitedGroup{Name: name}
		g.Dir, l.V1 = topology.GroupPath(env.Root, name)
		g.Set = topology.GroupLimits(env.Root, g.Dir, l.V1, l.Device.Major, l.Device.Minor)
		l.Groups = append(l.Groups, g)
	}
	if err := form.Render(env, o.Format, plans.Limits(&l, o.Check)); err != nil || !o.Check || len(l.Differences()) == 0 {
		return err
	}
	return form.ErrVerdict
}
