package suite

import "slices"

// Kind is what runs a scenario and measures its result.
type Kind string

// The kinds.
const (
	OfFio    Kind = "fio"
	OfServer Kind = "transactions" // of PostgreSQL, by pgbench
)

// Kind says what runs the scenario.
func (s *Scenario) Kind() Kind {
	if s.Postgres != nil {
		return OfServer
	}
	return OfFio
}

// Of lists the scenarios of a kind.
func (s *Suite) Of(kind Kind) []Scenario {
	return slices.DeleteFunc(slices.Clone(s.Scenarios), func(c Scenario) bool { return c.Kind() != kind })
}

// NeedsServer says whether any scenario is PostgreSQL's.
func (s *Suite) NeedsServer() bool { return len(s.Of(OfServer)) > 0 }
