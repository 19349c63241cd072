package result

import "plimsoll/internal/suite"

// Kind says what measured the result. r may be nil, for a scenario that did not run: then it is
// fio's, whose figures such a row leaves open.
func (r *Result) Kind() suite.Kind {
	if r != nil && r.Postgres != nil {
		return suite.OfServer
	}
	return suite.OfFio
}

// Peak is the load with the most transactions; nil for a result of fio, and where no load ran.
func (r *Result) Peak() *PgStep {
	if r == nil {
		return nil
	}
	return r.Postgres.Peak()
}
