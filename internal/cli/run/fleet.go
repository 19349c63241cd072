package run

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/fleet"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// NewFleet is the command plimsoll fleet and the commands below it.
func NewFleet(env *form.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fleet",
		Short: "Measure or check several hosts as one, or merge what they measured",
		Args:  form.NoCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newFleetRunCmd(env), newFleetCheckCmd(env), newFleetImportCmd(env), newFleetJobCmd(env))
	return cmd
}

// sharedOptions are the limits of what all hosts use.
type sharedOptions struct {
	iops float64
	bw   units.Rate
}

func (o *sharedOptions) addFlags(f *pflag.FlagSet) {
	form.Bind(f, "fleet", "shared-iops", &o.iops, "shared-bandwidth", &o.bw)
}

func (o sharedOptions) limits() (fleet.Shared, error) {
	if o.iops < 0 || o.bw < 0 {
		return fleet.Shared{}, form.Usagef("--shared-iops and --shared-bandwidth: use more than 0")
	}
	return fleet.Shared{IOPS: units.IOPS(o.iops), BW: o.bw}, nil
}

type fleetImportOptions struct {
	form.PolicyOptions
	shared     sharedOptions
	clockError time.Duration
	out        string
	format     string
}

func newFleetImportCmd(env *form.Env) *cobra.Command {
	o := fleetImportOptions{clockError: 100 * time.Millisecond, out: compare.DefaultRuns}
	cmd := &cobra.Command{
		Use:   "import DIR...",
		Short: "Merge runs collected from several hosts into one fleet run",
		Long: `Merge runs that were collected from several hosts, by rsync, an object store or CI artifacts, into one fleet
run. Each DIR is the directory of a run, or contains some.

Only the seconds in which all hosts measured count. Their sums are the fleet's figures, and percentiles come
from the merged latency histograms of all hosts. The seconds are placed by the wall clocks of the hosts. Runs
of a fleet job say how far theirs may be off; for others state it with --clock-error.`,
		Example: `  plimsoll fleet import collected/
  plimsoll fleet import db1/20261121T031200Z-db-db1 db2/20261121T031200Z-db-db2 --clock-error 5ms`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFleetImport(env, o, args, cmd.Flags().Changed("clock-error"))
		},
	}
	f := cmd.Flags()
	form.Bind(f, "fleet import", "clock-error", &o.clockError, "out", &o.out)
	o.shared.addFlags(f)
	o.AddFlags(f)
	form.AddFormat(cmd, &o.format, page.Formats())
	return cmd
}

func runFleetImport(env *form.Env, o fleetImportOptions, args []string, stated bool) error {
	shared, err := o.shared.limits()
	if err != nil {
		return err
	}
	if o.clockError < 0 {
		return form.Usagef("--clock-error: use 0 or more, such as 10ms")
	}
	policy, err := o.Policy(nil)
	if err != nil {
		return err
	}
	dir, f, err := fleet.Import{
		Dirs:       args,
		Out:        o.out,
		Tool:       env.Tool(),
		ClockError: o.clockError,
		Stated:     stated,
		Shared:     shared,
		Disabled:   policy.Disable,
		Now:        env.Now(),
	}.Run()
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // only a handle
	return reportFleet(env, dir, f, o.format, policy)
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
	return fleetError(f, policy)
}

// keepFleet writes the reports that belong to a fleet run.
func keepFleet(dir *sys.Dir, f *bundle.Fleet) (err error) {
	for _, kind := range []page.Format{page.Markdown, page.HTML} {
		var file bytes.Buffer
		err = errors.Join(err, page.Write(&file, kind, runs.Fleet(f), page.Options{}))
		err = errors.Join(err, dir.WriteFile("report."+string(kind), text.Harmless(file.Bytes()), 0o644))
	}
	return errors.Join(err, keepHostReports(dir, f))
}

// fleetError is the error of a fleet run's verdict.
func fleetError(f *bundle.Fleet, policy verdict.Policy) error {
	switch {
	case f.Verdict == verdict.Invalid:
		return form.ErrInvalid
	case f.Verdict == verdict.Fail, policy.Fails(f.Verdict, f.Findings):
		return form.ErrVerdict
	}
	return nil
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
