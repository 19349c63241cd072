package runs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/report/page"
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
	_, err := io.WriteString(w, page.Metrics(metrics(runs)...))
	return err
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

func gauge(name, help string) *page.Metric {
	return page.NewMetric("gauge", name, help, "")
}

func metrics(all []*bundle.Bundle) []*page.Metric {
	iops := gauge("plimsoll_scenario_iops", "Measured I/Os per second.")
	bw := gauge("plimsoll_scenario_bandwidth_bytes_per_second", "Measured bandwidth.")
	latency := gauge("plimsoll_scenario_latency_seconds", "Measured completion latency, by quantile.")
	share := gauge("plimsoll_scenario_ceiling_ratio", "Measured value as a share of the ceiling.")
	verdict := gauge("plimsoll_scenario_verdict", "1 for the verdict of the scenario.")
	at := gauge("plimsoll_run_timestamp_seconds", "When the run began.")
	runs := newest(all)
	for _, b := range runs {
		host := b.Run.Topology.Host.Name
		at.Add(float64(b.Run.Created.Unix()), "suite", b.Run.Suite.Name, "host", host)
		for _, s := range measured(b) {
			labels := labelsOf(b, s)
			verdict.Add(1, append(slices.Clone(labels), "verdict", string(s.Verdict))...)
			for _, d := range directions(s.Result.Total) {
				of := append(slices.Clone(labels), "direction", d.name)
				iops.Add(float64(d.IOPS), of...)
				bw.Add(float64(d.BW), of...)
				for _, q := range []float64{50, 99, 99.9} {
					if v, ok := d.Completion().At(q); ok {
						// 12 digits, since 99.9/100 is not 0.999.
						latency.Add(v.Seconds(),
							append(slices.Clone(of), "quantile", strconv.FormatFloat(q/100, 'g', 12, 64))...)
					}
				}
			}
			if v := shareOf(s); v > 0 {
				share.Add(v, labels...)
			}
		}
	}
	return append([]*page.Metric{iops, bw, latency, share, verdict, at}, standing(all, runs)...)
}

// standing is what earlier runs say of the newest ones, as compare --against does.
func standing(all, newest []*bundle.Bundle) []*page.Metric {
	stands := gauge("plimsoll_scenario_standing", "1 for how the scenario compares with earlier runs.")
	expected := gauge("plimsoll_scenario_expected_ratio", "Measured value divided by the value expected from "+
		"earlier runs.")
	change := gauge("plimsoll_scenario_change_ratio",
		"Ratio of the new level to the old one while a step or a drift lasts; 1 otherwise.")
	seen := gauge("plimsoll_scenario_least_seen_ratio", "Smallest loss that would have been detected.")
	series, _ := compare.History(all, compare.Filter{})
	for _, s := range series {
		last := s.Points[len(s.Points)-1]
		of := slices.IndexFunc(newest, func(b *bundle.Bundle) bool { return b.Run.ID == last.Run })
		if of < 0 {
			continue
		}
		alike := named(newest[of], s.Key.Scenario)
		if len(alike) != 1 { // the series does not say which of them it is
			continue
		}
		labels := labelsOf(newest[of], alike[0])
		stands.Add(1, append(slices.Clone(labels), "standing", string(s.Standing))...)
		if s.Standing == compare.Unjudged {
			continue
		}
		expected.Add(last.Value.Center/s.Expected.Level.Center, labels...)
		size := 1.0
		if n := len(s.Changes); n > 0 && !s.Changes[n-1].Over {
			size = s.Changes[n-1].Whole()
		}
		change.Add(size, labels...)
		seen.Add(s.Expected.LeastSeen, labels...)
	}
	return []*page.Metric{stands, expected, change, seen}
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

func named(b *bundle.Bundle, name string) []*bundle.Scenario {
	return slices.DeleteFunc(measured(b), func(s *bundle.Scenario) bool { return s.Name != name })
}
