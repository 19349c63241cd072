package runs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/part"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/result"
	"plimsoll/internal/text"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

// Summary is the document of groups of results a row each: where a result was read, its name, and its
// figures, reads and writes together.
func Summary(groups []bundle.Group) *page.Document {
	var all []*result.Result
	for _, g := range groups {
		all = append(all, g.Results...)
	}
	d := page.New("summary", summed(all), "results", struct {
		Results []summaryRow
	}{summaryRows(all)})
	d.Records = summaryRecords(groups)
	for i, g := range groups {
		named := "<result"
		if oneEach(g.Results) { // the file says it
			named += "?"
		}
		rows := page.NewTable("<file, " + named + ", IOPS, bandwidth, over??, mean?, p50?, p99, <verdict")
		for _, r := range g.Results {
			rows.Add(summaryCells(r))
		}
		rows.Most = 35
		if g.Name == "" {
			d.Add(rows)
			continue
		}
		rows.Most = mostOfGroup
		title := text.Join(", ", text.Several(g.Results, "result"), middle(g.Results))
		one := page.Section{Of: "group", Title: fmt.Sprintf("%s (%s)", g.Name, title)}
		one.Add(rows)
		if i >= mostSeries {
			one.Level = page.Detail
		}
		d.Add(one)
	}
	return d
}

// oneEach says that every result is of a file of its own.
func oneEach(all []*result.Result) bool {
	files := map[string]bool{}
	for _, r := range all {
		files[r.Source] = true
	}
	return len(files) == len(all)
}

// summed counts results by their verdicts: "4 results: 1 INVALID, 3 MEASURED".
func summed(all []*result.Result) string {
	counts := map[string]int{}
	for _, r := range all {
		counts[r.Verdict]++
	}
	var says text.Lines
	for _, v := range worstFirst() {
		if n := counts[string(v)]; n > 0 && v != "" {
			says.Say("%d %s", n, v.Word())
		}
	}
	return text.Join(": ", text.Several(all, "result"), strings.Join(says, ", "))
}

// middle is "median 4,811 IOPS, 1,841 to 4,950" of results that did the same, "" of others.
func middle(all []*result.Result) string {
	same, work := slices.Clone(all), bundle.KeyText(all[0], "work")
	if len(all) < 3 || work == "" || slices.ContainsFunc(all, func(r *result.Result) bool {
		return bundle.KeyText(r, "work") != work || !(mainOf(r) > 0)
	}) {
		return ""
	}
	slices.SortFunc(same, func(a, b *result.Result) int { return cmp.Compare(mainOf(a), mainOf(b)) })
	at := func(i int) string { return result.MainOf(same[i]).Print(same[i].Total.Rates()) }
	return fmt.Sprintf("median %s, %s to %s", at(len(same)/2), at(0), at(len(same)-1))
}

// mostOfGroup is how many rows of a group a terminal gets.
const mostOfGroup = 8

func summaryCells(r *result.Result) []string {
	base := filepath.Base(r.Source)
	file := filepath.Join(r.Labels["dir"], base)
	if len(r.Jobs) == 0 {
		return []string{file, "no job's result", "", "", "", "", "", "", verdict.Invalid.Word()}
	}
	sum := r.Sum()
	mean, over := "", ""
	for _, l := range r.Latencies() {
		mean = text.Join(", ", mean, words.Known(l.Of, units.Latency(l.Mean)))
	}
	if sum.Apart { // a sum of what ran at different times: over which time
		over = text.Duration(sum.Window)
	}
	name := strings.TrimPrefix(r.Name, strings.TrimSuffix(base, filepath.Ext(base))+"-") // the file's has its column
	return []string{
		file, name, words.Known("", sum.IOPS), words.Known("", sum.BW), over, mean,
		timed(r, 50), timed(r, 99), verdict.Verdict(r.Verdict).Word(),
	}
}

// summaryRecords are the rows for programs: always the same columns, of values that are not rounded.
func summaryRecords(groups []bundle.Group) page.Table {
	t := page.NewTable("group, dir, file, result, rw, bs, engine, iodepth, jobs, iops, bandwidth_bytes_per_s, " +
		"read_iops, write_iops, window_ns, latency_of, mean_ns, p50_ns, p99_ns, missing, verdict")
	for _, g := range groups {
		for i, row := range summaryRows(g.Results) {
			r, mean, missing := g.Results[i], 0.0, ""
			for _, l := range r.Latencies() {
				if l.Of == row.LatencyOf {
					mean = l.Mean
				}
			}
			if r.Missing != nil {
				missing = r.Missing.String()
			}
			key := func(name string) string { return bundle.KeyText(r, name) }
			sum := r.Sum()
			t.Record(g.Name, r.Labels["dir"], r.Source, r.Name, key("rw"), key("bs"), key("engine"), key("depth"), key("jobs"),
				sum.IOPS, sum.BW, r.Total.Read.IOPS, r.Total.Write.IOPS, row.Window, row.LatencyOf, units.Latency(mean),
				*cmp.Or(row.P50, new(time.Duration)), *cmp.Or(row.P99, new(time.Duration)), missing, r.Verdict)
		}
	}
	return t
}

// summaryRow is a result in the JSON of a summary; figures that are not known are null.
type summaryRow struct {
	File, Name string
	Title      string            `json:"title,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	// Verdict is that of the result by itself, as import gives it without --summary.
	Verdict   string `json:"verdict,omitempty"`
	Window    time.Duration
	IOPS      *units.IOPS
	BW        *units.Rate `json:"bandwidth_bytes_per_s"`
	ReadIOPS  *units.IOPS
	ReadBW    *units.Rate `json:"read_bandwidth_bytes_per_s"`
	WriteIOPS *units.IOPS
	WriteBW   *units.Rate `json:"write_bandwidth_bytes_per_s"`
	P50, P99  *time.Duration
	// LatencyOf says of what the percentiles are: the sync of a durable write, or the slower direction of a
	// mix; nothing where they are of all I/Os.
	LatencyOf string        `json:"latency_of,omitempty"`
	Latencies []sideRow     `json:"latencies,omitempty"`
	Missing   *part.Missing `json:"missing,omitempty"`
	Doubts    []string      `json:"doubts,omitempty"`
}

// sideRow is the latency of a direction or of the syncs.
type sideRow struct {
	Of       string `json:"of,omitempty"`
	P50, P99 *time.Duration
}

// at is a percentile, nil where it is not known.
func at(l fio.Latency, p float64) *time.Duration {
	if v, ok := l.At(p); ok {
		return &v
	}
	return nil
}

func summaryRows(results []*result.Result) []summaryRow {
	rows := []summaryRow{}
	for _, r := range results {
		sum := r.Sum()
		row := summaryRow{
			Missing: r.Missing, Verdict: r.Verdict,
			File: r.Source, Name: r.Name, Title: r.Title, Labels: r.Labels, Window: sum.Window, Doubts: r.Doubts,
			IOPS: given(sum.IOPS), BW: given(sum.BW), ReadIOPS: given(r.Total.Read.IOPS), ReadBW: given(r.Total.Read.BW),
			WriteIOPS: given(r.Total.Write.IOPS), WriteBW: given(r.Total.Write.BW),
		}
		for _, l := range r.Latencies() {
			side := sideRow{Of: l.Of, P50: at(l.Latency, 50), P99: at(l.Latency, 99)}
			if row.Latencies = append(row.Latencies, side); side.P99 != nil && (row.P99 == nil || *side.P99 > *row.P99) {
				row.LatencyOf, row.P50, row.P99 = side.Of, side.P50, side.P99
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// given is a figure, nil where it is not known.
func given[T ~float64](v T) *T {
	if v <= 0 {
		return nil
	}
	return &v
}
