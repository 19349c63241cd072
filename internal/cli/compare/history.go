package compare

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/runs"
)

type historyOptions struct {
	filter compare.Filter
	Labels []string `flag:"label"`
	Format string   `formats:"all"`
}

func (o *historyOptions) addFlags(f *pflag.FlagSet) {
	form.Bind(f, "history", "suite", &o.filter.Suite, "scenario", &o.filter.Scenario, "host", &o.filter.Host,
		"by", &o.filter.By, "last", &o.filter.Last)
	form.BindAll(f, "history", o)
}

func runHistory(env *form.Env, dirs []string, o historyOptions) error {
	if o.filter.Last < 0 {
		return form.Usagef("--last: give a number of runs above 0")
	}
	o.filter.Labels = map[string]string{}
	for _, l := range o.Labels {
		key, value, ok := strings.Cut(l, "=")
		if !ok {
			return form.Usagef("--label %q: want KEY=VALUE", l)
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
	return form.Render(env, o.Format, runs.History(all, append(notes, more...)))
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
		return []string{DefaultRuns}
	}
	return dirs
}
