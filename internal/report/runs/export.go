package runs

import (
	"bufio"
	"encoding/csv"
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
	"plimsoll/internal/result"
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
	out := bufio.NewWriterSize(w, 64<<10)
	var err error
	switch f {
	case OpenMetrics:
		openMetrics(out, newest(runs))
	case LongCSV:
		err = longCSV(out, runs)
	default:
		return page.UnknownFormat(f, ExportFormats())
	}
	if err != nil {
		return fmt.Errorf("export as %s: %w", f, err)
	}
	return out.Flush()
}

// newest keeps the newest run of each suite and host: a metric has one value.
func newest(runs []*bundle.Bundle) []*bundle.Bundle {
	latest := map[[2]string]*bundle.Bundle{}
	for _, b := range runs {
		key := [2]string{b.Run.Suite.Name, b.Run.Topology.Host.Name}
		if was := latest[key]; was == nil || b.Run.Created.After(was.Run.Created) {
			latest[key] = b
		}
	}
	found := slices.Collect(maps.Values(latest))
	slices.SortFunc(found, func(a, b *bundle.Bundle) int {
		return strings.Compare(a.Run.Suite.Name+"\x00"+a.Run.Topology.Host.Name,
			b.Run.Suite.Name+"\x00"+b.Run.Topology.Host.Name)
	})
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
			if c := s.Ceiling; c != nil && c.Known() && !c.Binding().SelfMeasured() {
				n, rate := s.Result.Total.Rates()
				if v := result.KeyOf(s.Result).Share(n, rate, c.Binding().IOPS, c.Binding().BW); v > 0 {
					share.add(v, labels...)
				}
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

// longCSV writes one row per metric: what a spreadsheet pivots.
func longCSV(out io.Writer, runs []*bundle.Bundle) error {
	keys := map[string]bool{}
	for _, b := range runs {
		for k := range b.Run.Labels {
			keys[k] = true
		}
	}
	labels := slices.Sorted(maps.Keys(keys))
	w := csv.NewWriter(out)
	head := []string{"run", "time", "host"}
	for _, k := range labels {
		head = append(head, page.Safe("label."+k))
	}
	_ = w.Write(
		append(head, "scenario", "metric", "unit", "value", "low", "high", "ceiling", "verdict"),
	) // errors stay with w
	for _, b := range runs {
		first := []string{
			page.Safe(b.Run.ID),
			b.Run.Created.UTC().Format("2006-01-02T15:04:05Z"),
			page.Safe(b.Run.Topology.Host.Name),
		}
		for _, k := range labels {
			first = append(first, page.Safe(b.Run.Labels[k]))
		}
		for i := range b.Scenarios {
			longRows(w, first, &b.Scenarios[i])
		}
	}
	w.Flush()
	return w.Error()
}

func longRows(w *csv.Writer, first []string, s *bundle.Scenario) {
	if s.Result == nil {
		return
	}
	row := func(metric string, unit compare.Unit, value, low, high, ceiling float64) {
		if value > 0 {
			_ = w.Write(
				append(slices.Clone(first), page.Safe(s.Name), metric, string(unit), words.Decimal(value, 3), words.Decimal(low, 3),
					words.Decimal(high, 3), words.Decimal(ceiling, 3), page.Safe(string(s.Verdict))),
			)
		}
	}
	n, rate := s.Result.Total.Rates()
	boundIOPS, boundBW := 0.0, 0.0
	if c := s.Ceiling; c != nil && c.Known() && !c.Binding().SelfMeasured() {
		boundIOPS, boundBW = float64(c.Binding().IOPS), float64(c.Binding().BW)
	}
	interval := func(center float64, e interface{ Rel() float64 }, counted int) (low, high float64) {
		if counted < 2 {
			return 0, 0
		}
		return center * (1 - e.Rel()), center * (1 + e.Rel())
	}
	low, high := interval(float64(n), s.Result.IOPS, s.Result.IOPS.N)
	row("iops", compare.PerSecond, float64(n), low, high, boundIOPS)
	low, high = interval(float64(rate), s.Result.BW, s.Result.BW.N)
	row("bandwidth", compare.BytesPerSec, float64(rate), low, high, boundBW)
	for _, d := range directions(s.Result.Total) {
		row(d.name+".iops", compare.PerSecond, float64(d.IOPS), 0, 0, 0)
		row(d.name+".bandwidth", compare.BytesPerSec, float64(d.BW), 0, 0, 0)
		longLatency(row, d.name+".clat", d.Completion())
	}
	longLatency(row, "sync", s.Result.Total.Sync.Lat)
}

func longLatency(row func(string, compare.Unit, float64, float64, float64, float64), name string, l fio.Latency) {
	row(name+".mean", compare.Nanoseconds, l.Mean, 0, 0, 0)
	for _, q := range []float64{50, 90, 99, 99.9} {
		if v, ok := l.At(q); ok {
			row(fmt.Sprintf("%s.p%g", name, q), compare.Nanoseconds, float64(v), 0, 0, 0)
		}
	}
}
