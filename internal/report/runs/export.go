package runs

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/stats"
	"plimsoll/internal/text"
)

// Formats of exports, for other programs.
const (
	OpenMetrics page.Format = "openmetrics" // a text file for node_exporter's textfile collector
	LongCSV     page.Format = "csv-long"    // one row per metric, for pivot tables
)

// ExportFormats names the formats of exports.
func ExportFormats() []page.Format { return []page.Format{OpenMetrics, LongCSV} }

// Export writes the latest figures of runs for other programs. Equal runs give equal bytes.
func Export(w io.Writer, f page.Format, runs []*bundle.Bundle) error {
	if f == LongCSV {
		return page.Write(w, page.CSV, longCSV(runs), page.Options{})
	}
	if f != OpenMetrics {
		return page.UnknownFormat(f, ExportFormats())
	}
	out := bufio.NewWriter(w)
	openMetrics(out, newest(runs))
	return out.Flush()
}

// newest keeps the newest run of each suite and host: a metric has one value.
func newest(runs []*bundle.Bundle) []*bundle.Bundle {
	latest := map[string]*bundle.Bundle{}
	for _, b := range runs {
		key := b.Run.Suite.Name + "\x00" + b.Run.Topology.Host.Name
		if was := latest[key]; was == nil || b.Run.Created.After(was.Run.Created) {
			latest[key] = b
		}
	}
	var found []*bundle.Bundle
	for _, key := range slices.Sorted(maps.Keys(latest)) {
		found = append(found, latest[key])
	}
	return found
}

// family is one metric with all its samples: OpenMetrics wants them together.
type family struct {
	name, help string
	samples    []string
}

func (f *family) add(value float64, labels ...string) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	pairs := make([]string, 0, len(labels)/2)
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, labels[i]+`="`+metricLabel(labels[i+1])+`"`)
	}
	f.samples = append(f.samples,
		fmt.Sprintf("%s{%s} %s", f.name, strings.Join(pairs, ","), strconv.FormatFloat(value, 'g', -1, 64)))
}

// metricLabel escapes a label's value; control characters from outside are replaced first.
func metricLabel(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text.Clean(s, words.LongName))
}

func openMetrics(out io.Writer, runs []*bundle.Bundle) {
	iops := &family{name: "plimsoll_scenario_iops", help: "I/Os per second that were measured."}
	bw := &family{name: "plimsoll_scenario_bandwidth_bytes_per_second", help: "Bandwidth that was measured."}
	latency := &family{
		name: "plimsoll_scenario_latency_seconds",
		help: "Completion latency that was measured, by quantile.",
	}
	share := &family{name: "plimsoll_scenario_ceiling_ratio", help: "What was measured of the ceiling."}
	verdict := &family{name: "plimsoll_scenario_verdict", help: "1 for the verdict of the scenario."}
	at := &family{name: "plimsoll_run_timestamp_seconds", help: "When the run began."}
	for _, b := range runs {
		host := b.Run.Topology.Host.Name
		at.add(float64(b.Run.Created.Unix()), "suite", b.Run.Suite.Name, "host", host)
		for i := range b.Scenarios {
			s := &b.Scenarios[i]
			if s.Result == nil {
				continue
			}
			labels := []string{"suite", b.Run.Suite.Name, "scenario", s.Name, "role", string(s.Role), "host", host}
			verdict.add(1, append(slices.Clone(labels), "verdict", string(s.Verdict))...)
			for _, d := range directions(s.Result.Total) {
				of := append(slices.Clone(labels), "direction", d.name)
				iops.add(float64(d.IOPS), of...)
				bw.add(float64(d.BW), of...)
				for _, q := range []float64{50, 99, 99.9} {
					if v, ok := d.Completion().At(q); ok {
						// 12 digits, since 99.9/100 is not 0.999.
						latency.add(
							v.Seconds(),
							append(slices.Clone(of), "quantile", strconv.FormatFloat(q/100, 'g', 12, 64))...)
					}
				}
			}
			if v := shareOf(s); v > 0 {
				share.add(v, labels...)
			}
		}
	}
	for _, f := range []*family{iops, bw, latency, share, verdict, at} {
		if len(f.samples) == 0 {
			continue
		}
		fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", f.name, f.help, f.name)
		for _, s := range f.samples {
			fmt.Fprintln(out, s)
		}
	}
	fmt.Fprintln(out, "# EOF")
}

// longCSV is one row per metric: what a spreadsheet pivots.
func longCSV(runs []*bundle.Bundle) *page.Document {
	keys := map[string]bool{}
	for _, b := range runs {
		for k := range b.Run.Labels {
			keys[k] = true
		}
	}
	labels := slices.Sorted(maps.Keys(keys))
	t := page.NewTable("", "run", "time", "host")
	for _, k := range labels {
		t.Columns = append(t.Columns, page.Column{Name: k, Key: page.Safe("label." + k)})
	}
	for name := range strings.FieldsSeq("scenario metric unit value low high ceiling verdict") {
		t.Columns = append(t.Columns, page.Column{Name: name})
	}
	for _, b := range runs {
		first := []string{b.Run.ID, b.Run.Created.UTC().Format("2006-01-02T15:04:05Z"), b.Run.Topology.Host.Name}
		for _, k := range labels {
			first = append(first, b.Run.Labels[k])
		}
		for i := range b.Scenarios {
			longRows(&t, first, &b.Scenarios[i])
		}
	}
	return &page.Document{Kind: "export", Records: &t}
}

func longRows(t *page.Table, first []string, s *bundle.Scenario) {
	if s.Result == nil {
		return
	}
	row := func(metric string, unit compare.Unit, value float64, rest ...any) {
		for len(rest) < 3 {
			rest = append(rest, "")
		}
		if value > 0 {
			t.Record(append(append([]any{first, s.Name, metric, unit, value}, rest...), s.Verdict)...)
		}
	}
	latency := func(name string, l fio.Latency) {
		row(name+".mean", compare.Nanoseconds, l.Mean)
		for _, q := range []float64{50, 90, 99, 99.9} {
			if v, ok := l.At(q); ok {
				row(fmt.Sprintf("%s.p%g", name, q), compare.Nanoseconds, float64(v))
			}
		}
	}
	n, rate := s.Result.Total.Rates()
	var boundIOPS, boundBW any
	if c := s.Ceiling; c != nil && c.Known() && !c.Binding().SelfMeasured() {
		boundIOPS, boundBW = c.Binding().IOPS, c.Binding().BW
	}
	whole := func(metric string, unit compare.Unit, v float64, e stats.Estimate, bound any) {
		if e.N < 2 {
			row(metric, unit, v, "", "", bound)
			return
		}
		row(metric, unit, v, v*(1-e.Rel()), v*(1+e.Rel()), bound)
	}
	whole("iops", compare.PerSecond, float64(n), s.Result.IOPS, boundIOPS)
	whole("bandwidth", compare.BytesPerSec, float64(rate), s.Result.BW, boundBW)
	for _, d := range directions(s.Result.Total) {
		row(d.name+".iops", compare.PerSecond, float64(d.IOPS))
		row(d.name+".bandwidth", compare.BytesPerSec, float64(d.BW))
		latency(d.name+".clat", d.Completion())
	}
	latency("sync", s.Result.Total.Sync.Lat)
}
