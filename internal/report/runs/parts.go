package runs

import (
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
)

// below is one of the rows that stand below a total: a reporting group, a host, or one of fio's own
// rows.
type below struct {
	name  string
	total fio.Job
}

// rowsBelow are the parts that a result adds up: reporting groups or hosts, else fio's rows; none
// where there is a single one.
func rowsBelow(r *result.Result) []below {
	var rows []below
	for _, p := range r.Parts {
		rows = append(rows, below{p.Name, p.Total})
	}
	if len(rows) == 0 && len(r.Jobs) > 1 {
		for _, j := range r.Jobs {
			rows = append(rows, below{j.Name, j})
		}
	}
	return rows
}

// measured are the scenarios of a run that have a result.
func measured(b *bundle.Bundle) (all []*bundle.Scenario) {
	for i := range b.Scenarios {
		if s := &b.Scenarios[i]; s.Result != nil {
			all = append(all, s)
		}
	}
	return all
}

// mostParts is how many groups or hosts a line names.
const mostParts = 8

// also adds to a row's second figure what it is the sum of: directions that ran at different times,
// each over its own, and the groups or hosts that ran at once.
func also(figure string, r *result.Result) string {
	parts := text.Lines(text.Present(figure))
	if sum := r.Sum(); sum.Apart {
		parts = append(parts, "over "+text.Duration(sum.Window))
		for _, d := range directions(r.Total) {
			rate := d.BW.String()
			if d.IOPS > 0 {
				rate = d.IOPS.String() + " IOPS, " + rate
			}
			parts.Say("%ss %s for %s", d.name, rate, text.Duration(d.Runtime))
		}
	}
	for i, p := range r.Parts {
		if i == mostParts {
			parts.Say("%d more", len(r.Parts)-i)
			break
		}
		n, bw := p.Total.Rates()
		parts.Say("%s: %s IOPS, %s", p.Name, n, bw)
	}
	return strings.Join(parts, "; ")
}
