package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

var csvHead = []string{
	"run",
	"scenario",
	"name",
	"role",
	"direction",
	"verdict",
	"ios",
	"bytes",
	"iops",
	"bandwidth_bytes_per_s",
	"uncertainty_percent",
	"ceiling_iops",
	"ceiling_bandwidth_bytes_per_s",
	"percent_of_ceiling",
	"limited_by",
	"sustained_iops",
	"measured_s",
	"clat_mean_ns",
	"clat_stddev_ns",
	"clat_p50_ns",
	"clat_p90_ns",
	"clat_p99_ns",
	"clat_p99.9_ns",
	"clat_p99.99_ns",
	"clat_max_ns",
}

// writeCSV writes a row a scenario and direction, and one for its syncs. Unmeasured cells are
// empty. Ceiling, share and uncertainty are of all directions together, as is the ceiling itself.
// Names that a spreadsheet would take for a formula get an apostrophe in front. Reporting groups
// and hosts stand below their total, as scenario/group.
func writeCSV(out io.Writer, b *bundle.Bundle) error {
	w := csv.NewWriter(out)
	_ = w.Write(csvHead) // errors stay with w, see below
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		if s.Result == nil {
			continue
		}
		if s.Result.Postgres != nil {
			for _, row := range postgresRows(b, s) {
				_ = w.Write(row)
			}
			continue
		}
		t := s.Result.Total
		for _, d := range directions(t) {
			_ = w.Write(csvRow(b, s, d.name, d.N, d.Bytes, float64(d.IOPS), float64(d.BW), completion(d.Direction)))
		}
		if l := t.Sync.Lat; l.Measured() {
			_ = w.Write(csvRow(b, s, "sync", l.N, 0, 0, 0, l))
		}
		for _, p := range s.Result.Parts {
			part := *s
			part.Name, part.Ceiling = s.Name+"/"+p.Name, nil // the ceiling is that of all parts together
			for _, d := range directions(p.Total) {
				_ = w.Write(
					csvRow(b, &part, d.name, d.N, d.Bytes, float64(d.IOPS), float64(d.BW), completion(d.Direction)),
				)
			}
		}
	}
	w.Flush()
	return w.Error()
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
		cell(b.Run.ID), strconv.Itoa(s.ID), cell(s.Name), cell(string(s.Role)), dir, cell(string(s.Verdict)),
		strconv.FormatUint(n, 10), decimal(float64(bytes), 0), decimal(iops, 2), decimal(bw, 0),
	}
	doubt := ""
	if e := s.Result.IOPS; e.HasInterval() {
		doubt = decimal(100*e.Rel(), 2)
	}
	cells = append(cells, doubt)
	if c := s.Ceiling; c != nil && c.Known() {
		bind, sustained := c.Binding(), ""
		if last := c.Sustained(); last != nil {
			sustained = decimal(float64(last.IOPS), 2)
		}
		all, rate := Rates(s.Result.Total)
		share := 0.0 // printed as nothing
		if !bind.SelfMeasured() {
			share = result.KeyOf(s.Result).Share(all, rate, bind.IOPS, bind.BW)
		}
		cells = append(
			cells,
			decimal(float64(bind.IOPS), 2),
			decimal(float64(bind.BW), 0),
			decimal(100*share, 1),
			bind.Label(),
			sustained,
		)
	} else {
		cells = append(cells, "", "", "", "", "")
	}
	cells = append(cells, decimal(s.Result.Measured.Seconds(), 3), decimal(l.Mean, 0), decimal(l.StdDev, 0))
	for _, p := range []float64{50, 90, 99, 99.9, 99.99} {
		v, _ := l.At(p)
		cells = append(cells, decimal(float64(v/time.Nanosecond), 0))
	}
	return append(cells, decimal(float64(l.Max/time.Nanosecond), 0))
}

// decimal prints v plainly, or nothing for 0, which stands for unmeasured.
func decimal(v float64, digits int) string {
	if v == 0 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

func cell(s string) string {
	s = text.Clean(s, longName)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
