package verdict

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	runrules "plimsoll/internal/diagnose/run"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/text"
)

// Outcome of a threshold.
type Outcome string

// The outcomes.
const (
	Met       Outcome = "met"
	Missed    Outcome = "missed"
	NotJudged Outcome = "not judged"
)

// ThresholdResult is a threshold evaluated on a result.
type ThresholdResult struct {
	Threshold suite.Threshold `json:"threshold"`
	Outcome   Outcome         `json:"outcome"`
	Measured  suite.Value     `json:"measured,omitzero"`
	Limit     suite.Value     `json:"limit,omitzero"` // with the ceiling's factor applied
	// Within bounds a figure that is known in part, in its base unit; Measured is then the end that decides.
	Within *stats.Bounds `json:"within,omitempty"`
	// Reason says why it was not judged: the ceiling is unknown, the direction did not run.
	Reason string `json:"reason,omitempty"`
}

// PrintMeasured writes the measured figure with its unit: "536 IOPS", "508 MiB/s", "1.86 ms".
func (t ThresholdResult) PrintMeasured() string {
	metric := t.Threshold.Metric
	if t.Within == nil {
		return metric.Print(t.Measured)
	}
	return t.Within.Print(func(v float64) string { return metric.Print(metric.Value(v)) }, 1)
}

// PrintLimit writes the limit with its unit.
func (t ThresholdResult) PrintLimit() string { return t.Threshold.Metric.Print(t.Limit) }

// Evaluate judges a threshold on a measurement. One that cannot be judged (the direction did not
// run, the percentile was not recorded, the ceiling is unknown, the figure itself is in doubt)
// comes back as not judged with the reason, never as met or missed. scale is what the rates of a
// simulated machine are of the real ones (topology.Topology.Scale), 0 on a real one.
func Evaluate(s suite.Threshold, m diagnose.Measurement, scale float64) ThresholdResult {
	t := ThresholdResult{Threshold: s, Outcome: NotJudged, Limit: s.Limit}
	if scale > 0 && !s.Metric.Quantity.IsLatency() {
		t.Limit = s.Limit.Times(scale)
	}
	measured, err := Measure(s.Metric, m.Result)
	if err != nil {
		t.Reason = err.Error()
		return t
	}
	holds := func(v float64) bool { return s.Op.Holds(s.Metric.Value(v), t.Limit) }
	t.Measured = s.Metric.Value(measured.Decisive(holds))
	if !measured.Exact() {
		t.Within = &measured
	}
	if s.OfCeiling > 0 {
		of, err := ceilingOf(s.Metric, m.Ceiling)
		if err != nil {
			t.Reason = err.Error()
			return t
		}
		t.Limit = s.Metric.Value(s.OfCeiling * of)
	}
	if t.Reason = doubt(t, m, scale); t.Reason != "" {
		return t
	}
	switch measured.Judge(holds) {
	case stats.Met:
		t.Outcome = Met
	case stats.Missed:
		t.Outcome = Missed
	case stats.CannotTell:
		t.Reason = fmt.Sprintf("%s is %s, and the limit lies within: --output-format=json+ narrows it",
			s.Metric, t.PrintMeasured())
	}
	return t
}

// doubt is why a figure must not be compared with its limit, "" when it may.
func doubt(t ThresholdResult, m diagnose.Measurement, scale float64) string {
	metric := t.Threshold.Metric
	switch short, simulated := m.TooShort(), scale > 0; {
	case short:
		return fmt.Sprintf("%s is too short for an interval", text.Duration(m.Measured))
	case simulated && metric.Quantity.IsLatency():
		return "simulated: latencies are not those of the real machine"
	case simulated && t.Threshold.OfCeiling > 0 && m.Ceiling.Binding().Kind == ceiling.Concurrency:
		return "simulated: the ceiling is a latency, which is not that of the real machine"
	case metric.Quantity == suite.Sync:
		// The figure is too high, never too low: what is short enough in spite of it is met.
		below := t.Threshold.Op == "<" || t.Threshold.Op == "<="
		if below && t.Threshold.Op.Holds(t.Measured, t.Limit) {
			return ""
		}
		return m.SyncsInclude()
	case !metric.Quantity.IsLatency():
		return noise(t, m.Result.IOPS)
	}
	return ""
}

// noise says that a rate whose interval is wide (PL403) cannot be separated from its limit.
func noise(t ThresholdResult, mean stats.Estimate) string {
	measured, limit := t.Measured.Base(), t.Limit.Base()
	if !mean.HasInterval() || mean.Rel() <= runrules.Noisy || math.Abs(measured-limit) > mean.Rel()*measured {
		return ""
	}
	return fmt.Sprintf("the mean is known only to within %s, and the threshold lies inside "+
		"that", text.PlusMinus(mean.Rel()))
}

// Measure looks a metric up, in its base unit: 1/s, bytes/s, nanoseconds or a share. Only a share may be
// known in part.
func Measure(m suite.Metric, r *result.Result) (stats.Bounds, error) {
	if r == nil {
		return stats.Bounds{}, errors.New("nothing was measured")
	}
	if limit, ok := m.Statistic.Over(); ok {
		return above(m, r, limit)
	}
	v, err := measure(m, r)
	return stats.Bounds{Least: v, Most: v}, err
}

func measure(m suite.Metric, r *result.Result) (float64, error) {
	if m.Side == suite.Transactions {
		return ofDatabase(m, r)
	}
	dirs, err := directions(m.Side, r)
	if err != nil {
		return 0, err
	}
	iops, bw := dirs[0].IOPS, dirs[0].BW
	if m.Side == suite.TotalSide {
		iops, bw = r.Total.Rates()
	}
	switch m.Quantity { //nolint:exhaustive // the others are latencies
	case suite.IOPS:
		return float64(iops), nil
	case suite.BW:
		return float64(bw), nil
	}
	return latency(m, partsOf(m, dirs, r))
}

// partsOf are the distributions of a metric of latency, one for each direction.
func partsOf(m suite.Metric, dirs []fio.Direction, r *result.Result) (parts []fio.Latency) {
	for _, d := range dirs {
		switch m.Quantity {
		case suite.Clat:
			parts = append(parts, d.Clat)
		case suite.Slat:
			parts = append(parts, d.Slat)
		case suite.Lat:
			parts = append(parts, d.Lat)
		case suite.Sync:
			return []fio.Latency{r.Total.Sync.Lat}
		case suite.TPS, suite.Took, suite.IOPS, suite.BW:
		}
	}
	return parts
}

// ofDatabase looks a metric of transactions up, at the number of clients that had the most a
// second.
func ofDatabase(m suite.Metric, r *result.Result) (float64, error) {
	peak := r.Peak()
	if peak == nil {
		return 0, errors.New("no transaction ran")
	}
	if m.Quantity == suite.TPS {
		return float64(peak.TPS), nil
	}
	return latency(m, []fio.Latency{peak.Latency})
}

func directions(side suite.Side, r *result.Result) ([]fio.Direction, error) {
	t := r.Total
	dirs := map[suite.Side][]fio.Direction{
		suite.ReadSide: {t.Read}, suite.WriteSide: {t.Write}, suite.TrimSide: {t.Trim},
		suite.TotalSide: {t.Read, t.Write, t.Trim},
	}[side]
	dirs = slices.DeleteFunc(dirs, func(d fio.Direction) bool { return !diagnose.Ran(d) })
	if len(dirs) == 0 {
		return nil, fmt.Errorf("no %s ran", strings.ReplaceAll(string(side), "total", "I/O"))
	}
	return dirs, nil
}

// latency reads one point of a distribution. Several directions are merged by their histograms;
// means are weighted by count; percentiles without histograms cannot be merged and are refused.
func latency(metric suite.Metric, parts []fio.Latency) (float64, error) {
	measured := slices.DeleteFunc(slices.Clone(parts), func(l fio.Latency) bool { return !l.Measured() })
	absent := fmt.Errorf("%s was not recorded", metric)
	if len(measured) == 0 {
		return 0, absent
	}
	sum, n, most := 0.0, 0.0, time.Duration(0)
	for _, l := range measured {
		weight := float64(max(l.N, 1))
		sum, n, most = sum+l.Mean*weight, n+weight, max(most, l.Max)
	}
	switch {
	case metric.Statistic == suite.Mean:
		return sum / n, nil
	case metric.Statistic == suite.Max && most == 0:
		return 0, absent
	case metric.Statistic == suite.Max:
		return float64(most), nil
	}
	p, ok := metric.Statistic.Percentile()
	if !ok {
		return 0, fmt.Errorf("unknown metric %s: want mean, max or a percentile such as p99", metric)
	}
	l := measured[0]
	if len(measured) > 1 {
		merged := &fio.Hist{}
		for _, part := range measured {
			if part.Hist.Count() == 0 {
				return 0, fmt.Errorf("%s needs histograms of both directions (json+): percentiles cannot be averaged", metric)
			}
			merged.Merge(part.Hist)
		}
		l = fio.Latency{Hist: merged}
	}
	v, ok := l.At(p)
	if !ok {
		return 0, absent
	}
	return float64(v), nil
}

// above bounds the share of I/Os that took longer than limit. fio's buckets are of the completion
// latencies of all directions that ran.
func above(metric suite.Metric, r *result.Result, limit time.Duration) (stats.Bounds, error) {
	dirs, err := directions(metric.Side, r)
	if err != nil {
		return stats.Bounds{}, err
	}
	var buckets []fio.Bucket
	if all, err := directions(suite.TotalSide, r); err == nil && len(all) == len(dirs) && metric.Quantity == suite.Clat {
		buckets = r.Total.Buckets
	}
	if b, ok := diagnose.LatenciesAbove(limit, buckets, partsOf(metric, dirs, r)...); ok {
		return b, nil
	}
	return stats.Bounds{}, fmt.Errorf("%s needs histograms (json+)", metric)
}

// ceilingOf is what the binding bound allows of a metric. Bounds give bytes for both directions
// together; a direction's part is its part of the I/Os, which is exact when reads and writes are of
// one size.
func ceilingOf(metric suite.Metric, c *ceiling.Ceiling) (float64, error) {
	if c == nil || c.Binding() == nil {
		return 0, fmt.Errorf("the ceiling is unknown")
	}
	b := c.Binding()
	if b.SelfMeasured() {
		return 0, fmt.Errorf("limited by its own latency only: declare the volumes' latency to judge %s", metric)
	}
	part, share := b.IOPS, 1.0
	switch metric.Side { //nolint:exhaustive // the others are the bound whole
	case suite.ReadSide:
		part = b.ReadIOPS
	case suite.WriteSide:
		part = b.WriteIOPS
	}
	switch {
	case b.ReadIOPS == 0 && b.WriteIOPS == 0:
		part = b.IOPS // one direction only, not split
	case b.IOPS > 0:
		share = float64(part / b.IOPS)
	}
	v := float64(part)
	switch metric.Quantity {
	case suite.IOPS, suite.TPS:
	case suite.BW:
		v = float64(b.BW) * share
	default:
		return 0, fmt.Errorf("%s has no ceiling: only iops and bw have", metric)
	}
	if v <= 0 {
		return 0, fmt.Errorf("the ceiling of %s is unknown", metric)
	}
	return v, nil
}
