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
	"plimsoll/internal/report/page"
	"plimsoll/internal/report/words"
	"plimsoll/internal/text"
)

// OpenMetrics is a text file for node_exporter's textfile collector.
const OpenMetrics page.Format = "openmetrics"

// ExportFormats names the formats that hand figures of many runs to other programs.
func ExportFormats() []page.Format { return []page.Format{OpenMetrics, page.CSV} }

// Export writes figures of runs for other programs: the latest ones as OpenMetrics, all as CSV. Equal runs
// give equal bytes.
func Export(w io.Writer, f page.Format, runs []*bundle.Bundle) error {
	if f == page.CSV {
		return page.Write(w, f, &page.Document{Kind: "export", Records: records(runs...)}, page.Options{})
	}
	if f != OpenMetrics {
		return page.UnknownFormat(f, ExportFormats())
	}
	out := bufio.NewWriter(w)
	openMetrics(out, runs)
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

func openMetrics(out io.Writer, all []*bundle.Bundle) {
	iops := &family{name: "plimsoll_scenario_iops", help: "I/Os per second that were measured."}
	bw := &family{name: "plimsoll_scenario_bandwidth_bytes_per_second", help: "Bandwidth that was measured."}
	latency := &family{
		name: "plimsoll_scenario_latency_seconds",
		help: "Completion latency that was measured, by quantile.",
	}
	share := &family{name: "plimsoll_scenario_ceiling_ratio", help: "What was measured of the ceiling."}
	verdict := &family{name: "plimsoll_scenario_verdict", help: "1 for the verdict of the scenario."}
	at := &family{name: "plimsoll_run_timestamp_seconds", help: "When the run began."}
	runs := newest(all)
	for _, b := range runs {
		host := b.Run.Topology.Host.Name
		at.add(float64(b.Run.Created.Unix()), "suite", b.Run.Suite.Name, "host", host)
		for i := range b.Scenarios {
			s := &b.Scenarios[i]
			if s.Result == nil {
				continue
			}
			labels := labelsOf(b, s)
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
	families := []*family{iops, bw, latency, share, verdict, at}
	for _, f := range append(families, standing(all, runs)...) {
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

// standing is what earlier runs say of the newest ones, as compare --against does.
func standing(all, newest []*bundle.Bundle) []*family {
	change := &family{
		name: "plimsoll_scenario_change_ratio",
		help: "The new level over the old one where a step or a drift lasts, 1 where none does.",
	}
	seen := &family{name: "plimsoll_scenario_least_seen_ratio", help: "The least loss that would have been seen."}
	series, _ := compare.History(all, compare.Filter{})
	for i := range series {
		s := &series[i]
		last := s.Points[len(s.Points)-1]
		of := slices.IndexFunc(newest, func(b *bundle.Bundle) bool { return b.Run.ID == last.Run })
		if of < 0 || last.Invalid != "" || s.Expected.TooFew != "" || s.Expected.LeastSeen == 0 {
			continue
		}
		alike := named(newest[of], s.Key.Scenario)
		if len(alike) != 1 { // the series does not say which of them it is
			continue
		}
		labels := labelsOf(newest[of], alike[0])
		size := 1.0
		if n := len(s.Changes); n > 0 && !s.Changes[n-1].Over {
			size = s.Changes[n-1].Whole()
		}
		change.add(size, labels...)
		seen.add(s.Expected.LeastSeen, labels...)
	}
	return []*family{change, seen}
}

// labelsOf are the labels of a scenario's metrics; one whose name others of the run have has its number behind it.
func labelsOf(b *bundle.Bundle, s *bundle.Scenario) []string {
	name := s.Name
	if len(named(b, name)) > 1 {
		name = fmt.Sprintf("%s %d", name, s.ID)
	}
	return []string{
		"suite", b.Run.Suite.Name, "scenario", name, "role", string(s.Role), "host", b.Run.Topology.Host.Name,
	}
}

func named(b *bundle.Bundle, name string) (alike []*bundle.Scenario) {
	for i := range b.Scenarios {
		if s := &b.Scenarios[i]; s.Name == name && s.Result != nil {
			alike = append(alike, s)
		}
	}
	return alike
}
