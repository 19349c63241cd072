package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"plimsoll/internal/advise"
	"plimsoll/internal/bundle"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/sys"
)

// compareDemand holds runs, or results in documents, against a demand file.
func compareDemand(ctx context.Context, env *Env, words []string, o compareOptions) error {
	d, err := loadDemand(o.demand)
	if err != nil {
		return err
	}
	var sides []advise.Side
	for _, word := range words {
		some, err := measuredSides(ctx, env, word, o.source.In)
		if err != nil {
			return err
		}
		sides = append(sides, some...)
	}
	if len(sides) == 0 {
		return usage(fmt.Errorf("nothing was measured in %s", strings.Join(words, ", ")))
	}
	m := advise.Meets(d, sides)
	m.Notes = append(m.Notes, doubtsOf(sides)...)
	m.Notes = append(m.Notes, "Next: plimsoll advise "+o.demand)
	err = render(env, o.format, plans.Meets(m, m))
	if err != nil {
		return err
	}
	for _, s := range m.Sides {
		if s.Met {
			return nil
		}
	}
	return errVerdict
}

// doubtsOf are the doubts of all sides, each once. One that not all sides have is printed with the
// names of those that have it.
func doubtsOf(sides []advise.Side) []string {
	var doubts []string
	of := map[string][]string{}
	for _, s := range sides {
		for _, d := range s.Result.Doubts {
			if of[d] == nil {
				doubts = append(doubts, d)
			}
			if !slices.Contains(of[d], s.Name) {
				of[d] = append(of[d], s.Name)
			}
		}
	}
	for i, d := range doubts {
		if names := of[d]; len(names) < len(sides) {
			doubts[i] = strings.Join(names, ", ") + ": " + d
		}
	}
	return doubts
}

// measuredSides are the results of a run, or of a document that holds fio's output.
func measuredSides(ctx context.Context, env *Env, word, in string) ([]advise.Side, error) {
	var sides []advise.Side
	if info, err := os.Stat(word); err == nil && !info.IsDir() {
		found := bundle.Found{Beside: besideJob}
		if found.Outputs, found.Documents, err = bundle.Gather([]string{word}, sys.Interruptible(ctx, env.In)); err != nil {
			return nil, err
		}
		results, err := found.Results()
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			sides = append(sides, advise.Side{Name: r.Name, Result: r, Topology: r.Topology})
		}
		return sides, nil
	}
	dir, err := findRun(word, in)
	if err != nil {
		return nil, err
	}
	b, err := bundle.Open(dir)
	if err != nil {
		return nil, err
	}
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		if s.Result == nil {
			continue
		}
		side := advise.Side{Name: s.Name, Result: s.Result, Topology: &b.Run.Topology}
		if s.Result.Topology != nil {
			side.Topology = s.Result.Topology
		}
		if len(b.Scenarios) == 1 {
			side.Name = b.Run.ID
		}
		sides = append(sides, side)
	}
	return sides, nil
}
