package runs

import (
	"plimsoll/internal/bundle"
	"plimsoll/internal/report/page"
	"plimsoll/internal/suite"
)

// view is how a scenario of one kind is shown: the I/Os of fio, or the transactions of a database.
type view interface {
	// fill sets the figures of the overview's row.
	fill(r *row, s *bundle.Scenario)
	// records adds the rows of a scenario for other programs.
	records(t *page.Table, b *bundle.Bundle, s *bundle.Scenario)
	// offers are the figures for the tiles.
	offers(s *bundle.Scenario, r row) []offer
	// draw adds the lines of the charts to what the ceiling has set, and lists the charts.
	draw(d *drawing, s *bundle.Scenario, r row) []page.Chart
}

// viewOf chooses by the kind of a result. A scenario that did not run is shown as one of fio.
func viewOf(s *bundle.Scenario) view {
	if ofServer(s) {
		return transactions{}
	}
	return operations{}
}

func ofServer(s *bundle.Scenario) bool { return s.Result.Kind() == suite.OfServer }

// operations are the I/Os of fio, transactions those of a database, by pgbench.
type (
	operations   struct{}
	transactions struct{}
)
