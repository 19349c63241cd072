package run

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/bench"
	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/compare"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
)

// roundOptions are the flags that repeat measurements.
type roundOptions struct {
	Rounds string        `flag:"rounds"`
	Until  string        `flag:"until"`
	Budget time.Duration `flag:"budget"`
	Seed   uint64        `flag:"seed"`
	order  string
	Stop   string `flag:"stop"`

	Sustained bool `flag:"sustained"`
}

// roundFlags are their names.
func roundFlags() []string { return []string{"rounds", "until", "budget", "seed", "order"} }

func (o *roundOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	form.BindAll(f, "rounds", o)
	o.order = bundle.Shuffle
	form.AddChoice(
		cmd,
		&o.order,
		"order",
		"`ORDER` of the scenarios in a round (shuffled within each phase, or as in the suite)",
		[]string{bundle.Shuffle, bundle.FileOrder},
	)
}

// fromSuite sets the flags that the suite has a value for and that were not given: rounds, until,
// stop, order, budget and against. Rounds or until on the command line replace the suite's plan of
// rounds.
func (o *runOptions) fromSuite(cmd *cobra.Command) error {
	if o.Resume != "" {
		return nil
	}
	s, err := suite.Select(o.Scenarios, o.Selection)
	if err != nil {
		return nil //nolint:nilerr // the plan fails on it, with a hint
	}
	flags := s.Repeat.Flags()
	if o.Given("rounds") || o.Given("until") {
		for _, name := range []string{"rounds", "until", "budget"} {
			delete(flags, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		if o.Given(name) {
			continue
		}
		if err := cmd.Flags().Set(name, flags[name]); err != nil {
			return fmt.Errorf("%s: %w", s.Source, err)
		}
	}
	if _, err := o.repeat.plan(o.Given); err != nil && len(flags) > 0 {
		return fmt.Errorf("%s: %w", s.Source, err)
	}
	return nil
}

// plan turns the flags into a plan; nil for one measurement.
func (o roundOptions) plan(given func(string) bool) (*bundle.RoundPlan, error) {
	p := &bundle.RoundPlan{Least: 1, Most: 1, Budget: o.Budget, Seed: o.Seed, Order: o.order}
	switch o.Until {
	case "":
	case "steady":
		p.Steady, p.Least, p.Most = true, 2*stats.LeastRounds, bench.MostSteadyRounds
	default:
		v, err := compare.ParsePercent("--until", o.Until)
		if err != nil {
			return nil, err
		}
		p.Until, p.Least, p.Most = v, stats.LeastRounds, bench.MostRounds
	}
	if o.Rounds != "" && p.Steady {
		return nil, errors.New("--until steady repeats rounds by itself, 10 to 25 times; drop --rounds")
	}
	if o.Rounds != "" {
		least, most, err := parseRounds(o.Rounds)
		if err != nil {
			return nil, err
		}
		switch {
		case least != most && p.Until == 0:
			return nil, fmt.Errorf("--rounds %s: a range needs --until 3%%, which says when to stop", o.Rounds)
		case p.Until > 0 && least == most:
			p.Least, p.Most = min(stats.LeastRounds, most), most
		default:
			p.Least, p.Most = least, most
		}
		if p.Until > 0 && p.Most < stats.LeastRounds {
			return nil, fmt.Errorf("--rounds %s: --until needs at least %d rounds", o.Rounds, stats.LeastRounds)
		}
	}
	if p.Budget < 0 {
		return nil, errors.New("--budget: give a time above 0, such as 45m")
	}
	if !p.Repeats() {
		for _, flag := range roundFlags() {
			if given(flag) && flag != "rounds" {
				return nil, fmt.Errorf("--%s needs --rounds N or --until 3%%", flag)
			}
		}
		return nil, nil
	}
	if !given("seed") {
		p.Seed = uint64(rand.IntN(1_000_000))
	}
	return p, nil
}

// parseRounds reads "5" and "5..20".
func parseRounds(s string) (least, most int, err error) {
	a, b, isRange := strings.Cut(s, "..")
	if least, err = strconv.Atoi(a); err == nil && isRange {
		most, err = strconv.Atoi(b)
	} else {
		most = least
	}
	if err != nil || least < 1 || most < least || most > 1000 {
		return 0, 0, fmt.Errorf("--rounds %q: give a number such as 5, or a range such as 5..20", s)
	}
	return least, most, nil
}
