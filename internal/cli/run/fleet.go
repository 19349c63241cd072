package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/fleet"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/sys"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// NewFleet is the command plimsoll fleet and the commands below it.
func NewFleet(env *form.Env) *cobra.Command {
	cmd := form.Command(env, "fleet", nil, nil, nil)
	form.SubcommandsOnly(cmd)
	cmd.AddCommand(newFleetRunCmd(env), newFleetCheckCmd(env), newFleetImportCmd(env), newFleetJobCmd(env))
	return cmd
}

// sharedOptions are the limits of what all hosts use.
type sharedOptions struct {
	Iops float64    `flag:"shared-iops"`
	Bw   units.Rate `flag:"shared-bandwidth"`
}

func (o sharedOptions) limits() (fleet.Shared, error) {
	if o.Iops < 0 || o.Bw < 0 {
		return fleet.Shared{}, form.Usagef("--shared-iops and --shared-bandwidth: use more than 0")
	}
	return fleet.Shared{IOPS: units.IOPS(o.Iops), BW: o.Bw}, nil
}

type fleetImportOptions struct {
	form.PolicyOptions
	shared     sharedOptions
	ClockError time.Duration          `flag:"clock-error"`
	given      func(flag string) bool // whether a flag was given
	Out        string                 `flag:"out"`
	Format     string                 `formats:"all"`
}

func newFleetImportCmd(env *form.Env) *cobra.Command {
	o := fleetImportOptions{ClockError: 100 * time.Millisecond, Out: compare.DefaultRuns}
	cmd := form.Command(env, "fleet import", cobra.MinimumNArgs(1), &o, o.run)
	f := cmd.Flags()
	o.given = f.Changed
	form.BindAll(f, "fleet", &o.shared)
	o.AddFlags(f)
	return cmd
}

func (o *fleetImportOptions) run(_ context.Context, env *form.Env, args []string) error {
	shared, err := o.shared.limits()
	if err != nil {
		return err
	}
	if o.ClockError < 0 {
		return form.Usagef("--clock-error: use 0 or more, such as 10ms")
	}
	policy, err := o.Policy(nil)
	if err != nil {
		return err
	}
	dir, f, err := fleet.Import{
		Dirs:       args,
		Out:        o.Out,
		Tool:       env.Tool(),
		ClockError: o.ClockError,
		Stated:     o.given("clock-error"),
		Shared:     shared,
		Disabled:   policy.Disable,
		Now:        env.Now(),
	}.Run()
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a handle
	return reportFleet(env, dir, f, o.Format, policy)
}

// reportFleet prints a fleet run, writes the reports that belong to it, and returns the error of
// its verdict.
func reportFleet(env *form.Env, dir *sys.Dir, f *bundle.Fleet, format string, policy verdict.Policy) error {
	err := errors.Join(form.Render(env, format, runs.Fleet(f)), keepFleet(dir, f))
	if err != nil {
		return err
	}
	if page.Format(format) == page.Text {
		fmt.Fprintf(env.Out, "\nreport: %s\n", filepath.Join(dir.Name(), "report.html"))
	}
	return form.VerdictError(f.Verdict, policy, f.Findings)
}

// keepFleet writes the reports that belong to a fleet run.
func keepFleet(dir *sys.Dir, f *bundle.Fleet) (err error) {
	return errors.Join(compare.WriteReports(dir, runs.Fleet(f)), keepHostReports(dir, f))
}

// keepHostReports writes the reports of the hosts' own runs, to which the fleet's leads.
func keepHostReports(dir *sys.Dir, f *bundle.Fleet) error {
	var all error
	for _, h := range f.Hosts {
		if h.State != bundle.HostDone || !filepath.IsLocal(h.Dir) {
			continue
		}
		b, err := bundle.Open(dir.Path(h.Dir))
		if errors.Is(err, bundle.ErrNotBundle) { // of an import: it lies where it was read
			continue
		}
		if err == nil {
			err = compare.KeepReports(b)
		}
		all = errors.Join(all, err)
	}
	return all
}
