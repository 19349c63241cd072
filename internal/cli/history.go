package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
)

type historyOptions struct {
	filter compare.Filter
	labels []string
	format string
}

func newHistoryCmd(env *Env) *cobra.Command {
	o := historyOptions{}
	cmd := &cobra.Command{
		Use:   "history [DIR]...",
		Short: "Show the figures of all runs below directories, in order",
		Long: `Show what was measured run by run: a series for each scenario, layout and host. Runs of another layout,
size, run time or scale are series of their own. The directory of runs is the database: share it, or write the
history as one HTML file.`,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		Example: `  plimsoll history
  plimsoll history runs --scenario rand-write --last 20
  plimsoll history /srv/plimsoll --by kernel --format html > index.html`,
		RunE: func(_ *cobra.Command, args []string) error {
			return runHistory(env, args, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.filter.Suite, "suite", "", "only this `SUITE`")
	f.StringVar(&o.filter.Scenario, "scenario", "", "only this `SCENARIO`, by name or number")
	f.StringVar(&o.filter.Host, "host", "", "only this `HOST`")
	f.StringVar(&o.filter.By, "by", "", "one series per value of this `LABEL` (or kernel, instance, fio) instead of per host")
	f.StringArrayVar(&o.labels, "label", nil, "only runs with `KEY=VALUE`; may be repeated")
	f.IntVar(&o.filter.Last, "last", 0, "only the last `N` runs of each series")
	addFormat(cmd, &o.format, page.Formats())
	return cmd
}

func runHistory(env *Env, dirs []string, o historyOptions) error {
	if o.filter.Last < 0 {
		return usage(errors.New("--last: give a number of runs above 0"))
	}
	o.filter.Labels = map[string]string{}
	for _, l := range o.labels {
		key, value, ok := strings.Cut(l, "=")
		if !ok {
			return usage(fmt.Errorf("--label %q: want KEY=VALUE", l))
		}
		o.filter.Labels[key] = value
	}
	found, notes, err := openRuns(dirs)
	if err != nil {
		return err
	}
	fleets, err := openFleets(dirs)
	if err != nil {
		return err
	}
	all, more := compare.History(found, o.filter)
	all = append(all, compare.FleetHistory(fleets, o.filter)...)
	return render(env, o.format, runs.History(all, append(notes, more...)))
}

// openRuns opens the runs that are named or lie below directories, of a fleet run those of its
// hosts; runs/ when none is named.
func openRuns(dirs []string) (runs []*bundle.Bundle, notes []string, err error) {
	for _, dir := range orRuns(dirs) {
		if bundle.IsFleet(dir) { // its hosts' runs
			dir = bundle.FleetHosts(dir)
		}
		b, err := bundle.Open(dir)
		if err == nil {
			runs = append(runs, b)
			continue
		}
		if !errors.Is(err, bundle.ErrNotBundle) {
			return nil, nil, err
		}
		below, doubts, err := compare.OpenAll(dir)
		if err != nil {
			return nil, nil, err
		}
		runs, notes = append(runs, below...), append(notes, doubts...)
	}
	return runs, notes, nil
}

// openFleets opens the fleet runs that are named or lie below directories; runs/ when none is
// named.
func openFleets(dirs []string) (fleets []*bundle.Fleet, err error) {
	for _, dir := range orRuns(dirs) {
		if bundle.IsFleet(dir) {
			f, err := bundle.OpenFleet(dir)
			if err != nil {
				return nil, err
			}
			fleets = append(fleets, f)
			continue
		}
		below, err := bundle.ListFleets(dir)
		if err != nil {
			return nil, err
		}
		fleets = append(fleets, below...)
	}
	return fleets, nil
}

func orRuns(dirs []string) []string {
	if len(dirs) == 0 {
		return []string{defaultRuns}
	}
	return dirs
}
