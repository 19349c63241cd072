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
	// tables are those of its kind alone, and facts are what stands below them.
	tables(s *bundle.Scenario) []page.Table
	facts(b *bundle.Bundle, s *bundle.Scenario) []page.Fact
	// unit is that of its bounds, which have a bandwidth, too, where moved is true.
	unit() (name string, moved bool)
	// bySecond says that there is something to draw by the second.
	bySecond(s *bundle.Scenario) bool
	// draw adds the lines of the charts to what the ceiling has set, and lists the charts.
	draw(d *drawing, s *bundle.Scenario, r row) []page.Chart
}

// viewOf chooses by the kind of a result. A scenario that did not run is shown as one of fio.
func viewOf(s *bundle.Scenario) view {
	if s.Result.Kind() == suite.OfServer {
		return transactions{}
	}
	return operations{}
}

// operations are the I/Os of fio.
type operations struct{}

func (operations) unit() (string, bool) { return "IOPS", true }

func (operations) tables(*bundle.Scenario) []page.Table { return nil }

func (operations) facts(*bundle.Bundle, *bundle.Scenario) []page.Fact { return nil }

func (operations) bySecond(s *bundle.Scenario) bool { return len(s.Result.Seconds) > 1 }

// transactions are those of a database, by pgbench.
type transactions struct{}

func (transactions) unit() (string, bool) { return "TPS", false }

func (transactions) bySecond(*bundle.Scenario) bool { return true }

func (transactions) facts(b *bundle.Bundle, s *bundle.Scenario) []page.Fact {
	p := s.Result.Postgres
	all := postgresFacts(p).Rows
	if p.Peak() != nil {
		all = append(all, recovery(b, p)...)
	}
	return all
}
