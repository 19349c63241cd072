package report

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Summary writes a line a result: where it was read, its name, and its figures, reads and writes
// together.
func Summary(w io.Writer, results []*result.Result) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "file\tresult\tIOPS\tbandwidth\tover\tmean\tp50\tp99\t\n")
	for _, r := range results {
		file := text.Clean(filepath.Base(r.Source), 40)
		if len(r.Jobs) == 0 {
			fmt.Fprintf(t, "%s\tno job's result\t\t\t\t\t\t\t\n", file)
			continue
		}
		sum := r.Sum()
		l := latencyOf(r.Total)
		mean, over := "", ""
		if l.Mean > 0 {
			mean = units.Latency(l.Mean).String()
		}
		if sum.Apart { // a sum of what ran at different times: over which time
			over = text.Duration(sum.Window)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", file, text.Clean(r.Name, 48),
			known("", sum.IOPS), known("", sum.BW), over, mean, at(l, 50), at(l, 99))
	}
	return t.Flush()
}

// summaryRow is a result in the JSON of a summary; figures that are not known are null.
type summaryRow struct {
	File      string            `json:"file"`
	Name      string            `json:"name"`
	Title     string            `json:"title,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Window    time.Duration     `json:"window_ns"`
	IOPS      *units.IOPS       `json:"iops"`
	BW        *units.Rate       `json:"bandwidth_bytes_per_s"`
	ReadIOPS  *units.IOPS       `json:"read_iops"`
	ReadBW    *units.Rate       `json:"read_bandwidth_bytes_per_s"`
	WriteIOPS *units.IOPS       `json:"write_iops"`
	WriteBW   *units.Rate       `json:"write_bandwidth_bytes_per_s"`
	P50       *time.Duration    `json:"p50_ns"`
	P99       *time.Duration    `json:"p99_ns"`
	Doubts    []string          `json:"doubts,omitempty"`
}

// SummaryJSON writes the rows of Summary as JSON.
func SummaryJSON(w io.Writer, results []*result.Result) error {
	rows := []summaryRow{}
	for _, r := range results {
		sum := r.Sum()
		l := latencyOf(r.Total)
		row := summaryRow{
			File:   r.Source,
			Name:   r.Name,
			Title:  r.Title,
			Labels: r.Labels,
			Window: sum.Window,
			Doubts: r.Doubts,
			IOPS: given(
				sum.IOPS,
			),
			BW:        given(sum.BW),
			ReadIOPS:  given(r.Total.Read.IOPS),
			ReadBW:    given(r.Total.Read.BW),
			WriteIOPS: given(r.Total.Write.IOPS),
			WriteBW:   given(r.Total.Write.BW),
		}
		for p, to := range map[float64]**time.Duration{50: &row.P50, 99: &row.P99} {
			if v, ok := l.At(p); ok {
				*to = &v
			}
		}
		rows = append(rows, row)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Schema  int          `json:"schema"`
		Results []summaryRow `json:"results"`
	}{1, rows})
}

// given is a figure, nil where it is not known.
func given[T ~float64](v T) *T {
	if v <= 0 {
		return nil
	}
	return &v
}
