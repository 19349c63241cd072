package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/fio"
	"plimsoll/internal/permit"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys"
)

// Variant is one of the ways that an A/B measurement compares.
type Variant struct {
	Name string
	Plan Plan
	// Enter makes the variant's settings, or builds what it measures and completes the plan by it, and returns what
	// takes that back; nil for none.
	Enter func(context.Context, *Plan) (leave func() error, err error)
}

// AB measures variants in turn, in a directory below out that compare reads: one run a variant and
// round, in random order within the round, so that a machine that drifts or wanders treats all
// alike. Rounds that dir has already are left out.
func AB(ctx context.Context, m *sys.Machine, dir string, ab compare.AB, variants []Variant, emit func(Event)) error {
	done, err := measuredAB(dir)
	if err != nil {
		return err
	}
	kept := map[string]Plan{}
	defer func() { tidyTurns(maps.Values(kept), emit) }()
	for n, turns := range turnsOf(ab.Rounds, len(variants), ab.Seed) {
		for _, i := range turns {
			v, round := variants[i], n+1
			if done[[2]string{v.Name, strconv.Itoa(round)}] {
				continue
			}
			emit(Noted{fmt.Sprintf("round %d/%d, variant %s", round, ab.Rounds, v.Name)})
			if err := turn(ctx, m, dir, ab, v, i, round, emit); err != nil {
				return err
			}
			if !v.Plan.Settings.KeepFiles {
				kept[v.Name] = v.Plan
			}
		}
	}
	return nil
}

// tidyTurns removes what turns kept for those after them.
func tidyTurns(kept iter.Seq[Plan], emit func(Event)) {
	for plan := range kept {
		for _, t := range plan.Topology.Targets {
			p, err := permit.Open(&plan.Topology, t, nil, plan.Consent)
			if err != nil || p.Device != nil {
				continue
			}
			release, err := p.Lock(context.Background())
			if err == nil {
				err = p.Empty()
				release()
			}
			if err != nil {
				emit(Noted{p.Left(err)})
			}
			p.Close()
		}
	}
}

// turn measures one variant once.
func turn(
	ctx context.Context,
	m *sys.Machine,
	dir string,
	ab compare.AB,
	v Variant,
	i, round int,
	emit func(Event),
) (err error) {
	p := v.Plan
	if v.Enter != nil {
		leave, err := v.Enter(ctx, &p)
		if err != nil {
			return fmt.Errorf("variant %s: %w", v.Name, err)
		}
		defer func() { err = errors.Join(err, leave()) }()
	}
	p.Out = dir
	p.Labels = maps.Clone(p.Labels)
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[compare.LabelVariant], p.Labels[compare.LabelRound] = v.Name, strconv.Itoa(round)
	p.turn = len(v.Plan.Topology.Targets) > 0 // else it goes with what is built for the turn
	rounds := &bundle.RoundPlan{Most: ab.Rounds + 1, Seed: ab.Seed, Order: bundle.Shuffle}
	p.Suite.Scenarios = order(p.Suite.Scenarios, rounds, round)
	for k, s := range p.Suite.Scenarios {
		// On one path the same offsets would let the second variant read what a cache holds of the
		// first.
		seeds := *rounds
		seeds.Seed += uint64(i) << 20
		p.Suite.Scenarios[k] = seeded(s, &seeds, round)
	}
	_, err = Run(ctx, m, p, emit)
	return err
}

// measuredAB are the variants and rounds that a directory has whole. What was cut off is not
// among them: it stays where it is, and is measured again.
func measuredAB(dir string) (map[[2]string]bool, error) {
	runs, _, err := compare.OpenAll(dir)
	if err != nil {
		return nil, err
	}
	done := map[[2]string]bool{}
	for _, b := range runs {
		if b.Run.State == bundle.Finished {
			done[[2]string{b.Run.Labels[compare.LabelVariant], b.Run.Labels[compare.LabelRound]}] = true
		}
	}
	return done, nil
}

// turnsOf is the order of variants in each round: A B B A, of more than two likewise. The first round of each
// two is shuffled, and the second has them in the opposite order, so that a drift treats all alike.
func turnsOf(rounds, variants int, seed uint64) [][]int {
	rng := rand.New(rand.NewPCG(seed, 0xab))
	turns := make([][]int, rounds)
	for r := range turns {
		turns[r] = rng.Perm(variants)
		if r%2 == 1 {
			turns[r] = slices.Clone(turns[r-1])
			slices.Reverse(turns[r])
		}
	}
	return turns
}

// WithOptions gives fio options to every job of a suite, in place of those of the same name.
func WithOptions(s suite.Suite, options []fio.Option) suite.Suite {
	set := map[string]string{}
	for _, o := range options {
		set[o.Name] = o.Value
	}
	s.Scenarios = slices.Clone(s.Scenarios)
	for i := range s.Scenarios {
		s.Scenarios[i].Job = compare.WithOptions(s.Scenarios[i].Job, set)
	}
	return s
}
