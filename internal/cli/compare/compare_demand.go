package compare

import (
	"context"
	"errors"
	"slices"
	"strings"

	"plimsoll/internal/advise"
	"plimsoll/internal/bundle"
	"plimsoll/internal/cli/form"
	"plimsoll/internal/cli/job"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/plans"
	"plimsoll/internal/result"
	"plimsoll/internal/sys"
	"plimsoll/internal/text"
	"plimsoll/internal/verdict"
)

// compareDemand holds runs, or results in documents, against a demand file.
func compareDemand(ctx context.Context, env *form.Env, words []string, o Options) error {
	d, err := job.LoadDemand(o.Demand)
	if err != nil {
		return err
	}
	var sides []advise.Side
	var lacking []string
	for _, word := range words {
		some, lacks, err := measuredSides(ctx, env, word, o.source.In)
		if err != nil {
			return err
		}
		sides, lacking = append(sides, some...), append(lacking, lacks...)
	}
	if len(sides) == 0 {
		return form.Usagef("nothing was measured in %s", strings.Join(words, ", "))
	}
	m := advise.Meets(d, sides)
	m.Notes = append(m.Notes, doubtsOf(sides)...)
	m.Notes = append(m.Notes, "Next: plimsoll advise "+text.ShellQuote(o.Demand))
	err = form.Render(env, o.Format, plans.Meets(m))
	if err != nil {
		return err
	}
	judged := compare.Outcome{Unjudged: lacking}
	met, open := false, false
	for _, s := range m.Sides {
		met, open = met || s.Met, open || s.Open && !s.Missed && len(s.Invalid) == 0
		if s.Open && !s.Missed {
			judged.Unjudged = append(judged.Unjudged, s.Name)
		}
		if len(s.Invalid) > 0 {
			judged.Invalid = append(judged.Invalid, s.Name+": "+s.Invalid[0])
		}
	}
	if err := gateError(env, judged); err != nil && (met || open || errors.Is(err, form.ErrInvalid)) {
		return err
	}
	if !met {
		return form.ErrVerdict
	}
	return nil
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

// measuredSides are the results of a run, or of a document that holds fio's output, and what is
// missing of a run that was interrupted.
func measuredSides(
	ctx context.Context, env *form.Env, word, in string,
) (sides []advise.Side, lacking []string, err error) {
	if sys.Exists(word) && !sys.IsDir(word) {
		found := bundle.Found{Beside: besideJob}
		if found.Outputs, found.Documents, err = bundle.Gather([]string{word}, sys.Interruptible(ctx, env.In)); err != nil {
			return nil, nil, err
		}
		results, err := found.Results()
		if err != nil {
			return nil, nil, err
		}
		for _, r := range results {
			sides = append(sides, advise.Side{Name: r.Name, Result: r, Topology: r.Topology, Invalid: untrusted(r, nil)})
		}
		return sides, nil, nil
	}
	dir, err := findRun(word, in)
	if err != nil {
		return nil, nil, err
	}
	b, err := bundle.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		if s.Result == nil {
			continue
		}
		side := advise.Side{Name: s.Name, Result: s.Result, Topology: &b.Run.Topology, Invalid: untrusted(s.Result, s)}
		if s.Result.Topology != nil {
			side.Topology = s.Result.Topology
		}
		if len(b.Scenarios) == 1 {
			side.Name = b.Run.ID
		}
		sides = append(sides, side)
	}
	if b.Run.State == bundle.Interrupted {
		lacking = append(lacking, b.Run.ID+" was interrupted")
	}
	return sides, lacking, nil
}

// untrusted is why a result counts for nothing; s is the scenario of a run that it belongs to.
func untrusted(r *result.Result, s *bundle.Scenario) []string {
	switch {
	case r.State == result.Invalid:
		return append(slices.Clone(r.Reasons), "its figures must not be trusted")
	case s != nil && s.Verdict == verdict.Invalid:
		return []string{"its figures must not be trusted (plimsoll report says why)"}
	}
	return nil
}
