package runs

import (
	"strconv"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

// records are a row for each scenario and direction, and one for its syncs. Ceiling, share and
// uncertainty are of all directions together, as is the ceiling itself. Reporting groups and hosts
// stand below their total, as scenario/group.
func records(b *bundle.Bundle) *page.Table {
	all := page.NewTable("", "run", "scenario", "name", "role", "direction", "verdict", "ios", "bytes", "iops",
		"bandwidth_bytes_per_s", "uncertainty_percent", "ceiling_iops", "ceiling_bandwidth_bytes_per_s",
		"percent_of_ceiling", "ceiling_from", "sustained_iops", "measured_s", "clat_mean_ns", "clat_stddev_ns",
		"clat_p50_ns", "clat_p90_ns", "clat_p99_ns", "clat_p99.9_ns", "clat_p99.99_ns", "clat_max_ns")
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		if s.Result == nil {
			continue
		}
		for _, row := range viewOf(s).records(b, s) {
			all.Add(row...)
		}
	}
	return &all
}

func (operations) records(b *bundle.Bundle, s *bundle.Scenario) [][]string {
	var all [][]string
	t := s.Result.Total
	for _, d := range directions(t) {
		all = append(all, csvRow(b, s, d.name, d.N, d.Bytes, float64(d.IOPS), float64(d.BW), d.Completion()))
	}
	if l := t.Sync.Lat; l.Measured() {
		all = append(all, csvRow(b, s, "sync", l.N, 0, 0, 0, l))
	}
	for _, p := range s.Result.Parts {
		part := *s
		part.Name, part.Ceiling = s.Name+"/"+p.Name, nil // the ceiling is that of all parts together
		for _, d := range directions(p.Total) {
			all = append(all, csvRow(b, &part, d.name, d.N, d.Bytes, float64(d.IOPS), float64(d.BW), d.Completion()))
		}
	}
	return all
}

func csvRow(
	b *bundle.Bundle,
	s *bundle.Scenario,
	dir string,
	n uint64,
	bytes units.Bytes,
	iops, bw float64,
	l fio.Latency,
) []string {
	cells := []string{
		b.Run.ID, strconv.Itoa(s.ID), s.Name, string(s.Role), dir, string(s.Verdict),
		strconv.FormatUint(n, 10), words.Decimal(float64(bytes), 0), words.Decimal(iops, 2), words.Decimal(bw, 0),
	}
	doubt := ""
	if e := s.Result.IOPS; e.HasInterval() {
		doubt = words.Decimal(100*e.Rel(), 2)
	}
	cells = append(cells, doubt)
	if c := s.Ceiling; c != nil && c.Known() {
		bind, sustained := c.Binding(), ""
		if last := c.Sustained(); last != nil {
			sustained = words.Decimal(float64(last.IOPS), 2)
		}
		all, rate := s.Result.Total.Rates()
		share := 0.0 // printed as nothing
		if !bind.SelfMeasured() {
			share = result.KeyOf(s.Result).Share(all, rate, bind.IOPS, bind.BW)
		}
		cells = append(cells, words.Decimal(float64(bind.IOPS), 2), words.Decimal(float64(bind.BW), 0),
			words.Decimal(100*share, 1), bind.Label(), sustained)
	} else {
		cells = append(cells, "", "", "", "", "")
	}
	cells = append(cells, words.Decimal(s.Result.Measured.Seconds(), 3), words.Decimal(l.Mean, 0),
		words.Decimal(l.StdDev, 0))
	for _, p := range []float64{50, 90, 99, 99.9, 99.99} {
		v, _ := l.At(p)
		cells = append(cells, words.Decimal(float64(v/time.Nanosecond), 0))
	}
	return append(cells, words.Decimal(float64(l.Max/time.Nanosecond), 0))
}
