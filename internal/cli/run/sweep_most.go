package run

import (
	"context"
	"math/rand/v2"

	"plimsoll/internal/bench"
	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/runs"
	"plimsoll/internal/suite"
)

// resumesSearch says that --resume names a run that --most began.
func (o *sweepOptions) resumesSearch() bool {
	if o.Resume == "" {
		return false
	}
	b, err := bundle.Open(o.Resume)
	return err == nil && b.Run.Settings.Most != ""
}

// measureMost searches the most load under a threshold and prints the bracket.
func measureMost(ctx context.Context, env *form.Env, o sweepOptions) error {
	for _, flag := range []string{"axes", "rounds", "until", "order", "stop"} {
		if o.Given(flag) {
			return form.Usagef("--%s and --most cannot be combined: a search already repeats rates near its threshold", flag)
		}
	}
	p, err := o.searchPlan(ctx, env)
	if err != nil {
		return err
	}
	return o.shown(ctx, env, p, func(b *bundle.Bundle) (*page.Document, error) {
		most, err := compare.FindMost(b)
		if err != nil {
			return nil, err
		}
		return runs.Most(b, most), nil
	})
}

// searchPlan is the plan of a search, a new one or a resumed one.
func (o sweepOptions) searchPlan(ctx context.Context, env *form.Env) (bench.Plan, error) {
	given := o.Given
	o.Given = func(flag string) bool { return flag != "seed" && flag != "budget" && given(flag) } // not those of rounds
	o.repeat.Rounds = ""
	budget := o.repeat.Budget
	o.repeat.Budget = 0
	p, err := o.plan(ctx, env)
	if err != nil {
		return p, err
	}
	p.Budget = budget
	if o.Resume != "" {
		b, err := bundle.Open(o.Resume)
		if err != nil {
			return p, err
		}
		m, err := compare.MostSearchOf(b)
		p.Next = m.Next
		return p, err
	}
	if len(p.Suite.Scenarios) != 1 {
		return p, form.Usagef("a search varies the load of one scenario, but there are %d: name one, "+
			"such as rand-read-latency", len(p.Suite.Scenarios))
	}
	seed := o.repeat.Seed
	if !given("seed") {
		seed = uint64(rand.IntN(1_000_000))
	}
	m, err := compare.NewMostSearch(p.Suite.Scenarios[0], o.Most, seed)
	if err != nil {
		return p, form.Usagef("--most: %w", err)
	}
	first, _ := m.Next(nil)
	p.Suite.Name = "most-" + p.Suite.Scenarios[0].Name
	p.Settings.Most, p.Settings.Seed, p.Settings.Runtime = o.Most, seed, m.Base.Runtime
	p.Suite.Scenarios = []suite.Scenario{first}
	p.Next = m.Next
	return p, checkJobs(ctx, env, &p.Suite)
}
