package compare

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/verdict"
)

// Sample is one scenario measured once.
type Sample struct {
	Run      *bundle.Bundle
	Scenario *bundle.Scenario
	Result   *result.Result
	Round    int // from 1 within its run
	// Invalid says why the figures must not be trusted, empty when they may.
	Invalid string
	// Interrupted: it was stopped, which says nothing against what it is compared with.
	Interrupted bool
}

// title names a round: by its number, or by the file that its result was read from.
func (s Sample) title() string {
	if s.Result != nil && s.Result.Source != "" {
		return filepath.Base(s.Result.Source)
	}
	return fmt.Sprintf("round %d", s.Round)
}

// Side is a group of samples that are rounds of one thing: a run, several runs, or all that carry
// one label.
type Side struct {
	Name    string
	Samples []Sample
}

// samplesOf lists what a run measured. Scenarios that have not run are left out.
func samplesOf(b *bundle.Bundle) []Sample {
	var all []Sample
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		switch {
		case len(s.Rounds) > 0:
			for _, r := range s.Rounds {
				all = append(all, sampleOf(b, s, r.Result, r.Number))
			}
		case s.Result != nil:
			all = append(all, sampleOf(b, s, s.Result, 1))
		}
	}
	return all
}

func sampleOf(b *bundle.Bundle, s *bundle.Scenario, r *result.Result, round int) Sample {
	return Sample{
		Run: b, Scenario: s, Result: r, Round: round,
		Invalid: distrust(b, s, r), Interrupted: r.State == result.Interrupted,
	}
}

// distrust is why a result must not be used: its state, its verdict's findings, or figures that are
// none.
func distrust(b *bundle.Bundle, s *bundle.Scenario, r *result.Result) string {
	switch {
	case len(b.Damaged) > 0:
		return "the run's files are damaged: " + b.Damaged[0]
	case r.State == result.Interrupted:
		return "it was interrupted"
	case r.State != result.Done && len(r.Reasons) > 0:
		return r.Reasons[0]
	case r.State != result.Done:
		return "its state is " + string(r.State)
	case s.Verdict == verdict.Invalid:
		for _, f := range b.Findings {
			if f.Severity == finding.Invalid && slices.Contains(f.Scenarios, s.ID) {
				return fmt.Sprintf("%s: %s", f.Code, f.Title)
			}
		}
		return "its verdict is invalid"
	}
	if v := mainFigure(s).of(r); !usable(v) {
		return fmt.Sprintf("%s of %v is not a measured value", mainFigure(s).Name, v)
	}
	return ""
}

// SideOf makes one side of one or more runs: its rounds are those of all of them.
func SideOf(name string, runs ...*bundle.Bundle) Side {
	s := Side{Name: name}
	oldestFirst(runs)
	for _, b := range runs {
		s.Samples = append(s.Samples, samplesOf(b)...)
	}
	if len(runs) > 1 {
		s.number()
	}
	return s
}

// only is the run that all samples of a side are of, nil where they are of several or none.
func (s Side) only() *bundle.Bundle {
	if len(s.Samples) == 0 || slices.ContainsFunc(s.Samples, func(x Sample) bool { return x.Run != s.Samples[0].Run }) {
		return nil
	}
	return s.Samples[0].Run
}

// called: a side goes by its name, and one that is a whole run by that run's ID, too.
func (s Side) called(name string) bool {
	b := s.only()
	return s.Name == name || b != nil && b.Run.ID == name
}

// number counts the rounds of each scenario over several runs.
func (s *Side) number() {
	seen := map[string]int{}
	for i := range s.Samples {
		name := s.Samples[i].Scenario.Name
		seen[name]++
		s.Samples[i].Round = seen[name]
	}
}

// The labels that every run has without being given them.
const (
	ByInstance = "instance"
	ByHost     = "host"
	ByKernel   = "kernel"
	ByFio      = "fio"
	ByScenario = "scenario"
)

// label is a sample's value of a label: its result's own, its run's, or a fact of its machine.
func (s Sample) label(key string) string {
	if v := cmp.Or(s.Result.Labels[key], s.Run.Run.Labels[key]); v != "" {
		return v
	}
	t := s.topology()
	switch key {
	case ByInstance:
		return t.Instance.Type
	case ByHost:
		return t.Host.Name
	case ByKernel:
		return t.Host.Kernel
	case ByFio:
		return cmp.Or(s.Result.Fio, s.Run.Run.Fio)
	case ByScenario:
		return s.Scenario.Name
	}
	return ""
}

// topology is the machine of a sample: its result's own, where a document has several, else its
// run's.
func (s Sample) topology() *topology.Topology { return cmp.Or(s.Result.Topology, &s.Run.Run.Topology) }

// GroupBy makes a side of each value of a label, over the samples of all runs. Samples without the
// label are named in the error when there is no side at all, else counted in without.
func GroupBy(key string, runs ...*bundle.Bundle) (sides []Side, without int, err error) {
	groups := map[string]*Side{}
	has := map[string]string{}
	for _, b := range runs {
		for _, s := range samplesOf(b) {
			maps.Copy(has, s.Result.Labels)
			maps.Copy(has, b.Run.Labels)
			value := s.label(key)
			if value == "" {
				without++
				continue
			}
			if groups[value] == nil {
				groups[value] = &Side{Name: value}
			}
			groups[value].Samples = append(groups[value].Samples, s)
		}
	}
	if len(groups) == 0 {
		known := append([]string{ByInstance, ByHost, ByKernel, ByFio, ByScenario}, slices.Sorted(maps.Keys(has))...)
		return nil, without, fmt.Errorf("no result carries the label %q; there are %s", key, strings.Join(known, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		groups[name].number()
		sides = append(sides, *groups[name])
	}
	slices.SortStableFunc(sides, func(a, b Side) int {
		first, _ := spanOf(a.Samples)
		other, _ := spanOf(b.Samples)
		return first.Compare(other)
	})
	return sides, without, nil
}

// Within makes a side of each result of one run, in its order.
func Within(b *bundle.Bundle) []Side {
	var sides []Side
	for _, s := range samplesOf(b) {
		sides = append(sides, Side{Name: s.Scenario.Name, Samples: []Sample{s}})
	}
	return sides
}

// spanOf has the earliest and the latest start of samples, zero where not known.
func spanOf(samples []Sample) (first, last time.Time) {
	for _, x := range samples {
		at := x.start()
		if first.IsZero() || !at.IsZero() && at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last
}

func (s Sample) start() time.Time {
	if !s.Result.Start.IsZero() || s.Run.Run.Imported != nil {
		return s.Result.Start
	}
	return s.Run.Run.Created
}
