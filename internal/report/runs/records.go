package runs

import (
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

// records are a row for each scenario and direction, and one for its syncs. Ceiling, share and
// uncertainty are of all directions together, as is the ceiling itself. Reporting groups and hosts
// stand below their total, as scenario/group.
func records(runs ...*bundle.Bundle) page.Table {
	all := page.NewTable("run, scenario, name, role, direction, verdict, ios, bytes, iops, bandwidth_bytes_per_s, " +
		"uncertainty_percent, ceiling_iops, ceiling_bandwidth_bytes_per_s, percent_of_ceiling, ceiling_from, " +
		"sustained_iops, measured_s, clat_mean_ns, clat_stddev_ns, clat_p50_ns, clat_p90_ns, clat_p99_ns, clat_p99.9_ns, " +
		"clat_p99.99_ns, clat_max_ns, sustained_from, began, host, labels, file, dir")
	for _, b := range runs {
		for _, s := range measured(b) {
			viewOf(s).records(&all, b, s)
		}
	}
	return all
}

func (operations) records(t *page.Table, b *bundle.Bundle, s *bundle.Scenario) {
	each := func(s *bundle.Scenario, j fio.Job) {
		for _, d := range directions(j) {
			t.Record(csvRow(b, s, d.name, d.N, d.Bytes, d.IOPS, d.BW, d.Completion())...)
		}
	}
	each(s, s.Result.Total)
	if l := s.Result.Total.Sync.Lat; l.Measured() {
		t.Record(csvRow(b, s, "sync", l.N, 0, 0, 0, l)...)
	}
	for _, p := range s.Result.Parts {
		part := *s
		part.Name, part.Ceiling = s.Name+"/"+p.Name, nil // the ceiling is that of all parts together
		each(&part, p.Total)
	}
}

func csvRow(b *bundle.Bundle, s *bundle.Scenario, dir string, n uint64, bytes units.Bytes, iops units.IOPS,
	bw units.Rate, l fio.Latency,
) []any {
	var doubt, bound, boundBW, percent, from, sustained, then, dev any
	if d, printed := l.Deviation(); printed {
		dev = d
	}
	if e := s.Result.IOPS; e.HasInterval() {
		doubt = 100 * e.Rel()
	}
	if c := s.Ceiling; c != nil && c.Known() {
		held := c.Held()
		bound, boundBW, percent, from = held.Now.IOPS, held.Now.BW, 100*shareOf(s), held.Now.Label()
		if last := held.Lasts(); !last.Burst {
			sustained, then = last.IOPS, last.Label()
		}
	}
	cells := []any{
		b.Run.ID, s.ID, s.Name, s.Role, dir, s.Verdict, n, bytes, iops, bw, doubt, bound, boundBW, percent, from, sustained,
		s.Result.Measured.Seconds(), units.Latency(l.Mean), dev,
	}
	for _, p := range tableOf {
		v, _ := l.At(p)
		cells = append(cells, v)
	}
	return append(cells, l.Max, then, b.Run.Created.UTC().Format(time.RFC3339), b.Run.Topology.Host.Name,
		LabelText(b.Run.Labels), s.Result.Source, s.Result.Labels["dir"])
}

// tableOf are the percentiles that tables of a latency have.
var tableOf = []float64{50, 90, 99, 99.9, 99.99}

// shareOf is what a scenario measured of its ceiling, 0 where that is not known.
func shareOf(s *bundle.Scenario) float64 {
	c := s.Ceiling
	if c == nil || !c.Known() || c.Binding().SelfMeasured() {
		return 0
	}
	n, rate := s.Result.Total.Rates()
	return result.KeyOf(s.Result).Share(n, rate, c.Binding().IOPS, c.Binding().BW)
}
