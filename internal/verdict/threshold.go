package verdict

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// Evaluate holds a target against a result. The metric is read|write|trim|total, then iops, bw, or a latency (clat, slat,
// lat, sync) with mean, max or a percentile (p99, p99.9). A target that cannot be judged (the direction did not run, the
// percentile was not recorded, the ceiling is unknown) comes back Skipped with the reason, never as met or missed.
func Evaluate(s suite.Target, r *result.Result, c *ceiling.Ceiling) ThresholdResult {
	t := ThresholdResult{Target: s, Limit: s.Limit}
	measured, err := measure(s.Metric, r)
	if err != nil {
		t.Skipped = err.Error()
		return t
	}
	t.Measured = measured
	if s.OfCeiling {
		of, err := ceilingOf(s.Metric, c)
		if err != nil {
			t.Skipped = err.Error()
			return t
		}
		t.Limit = s.Limit * of
	}
	switch s.Op {
	case "<":
		t.Met = t.Measured < t.Limit
	case "<=":
		t.Met = t.Measured <= t.Limit
	case ">":
		t.Met = t.Measured > t.Limit
	case ">=":
		t.Met = t.Measured >= t.Limit
	default:
		t.Skipped = fmt.Sprintf("comparison %q: want <, <=, > or >=", s.Op)
	}
	return t
}

// Print writes a value of the target's metric with its unit: "536 IOPS", "508 MiB/s", "1.86 ms".
func (t ThresholdResult) Print(v float64) string {
	switch {
	case strings.HasSuffix(t.Metric, ".iops"):
		return units.IOPS(v).String() + " IOPS"
	case strings.HasSuffix(t.Metric, ".bw"):
		return units.Rate(v).String()
	}
	return diagnose.Span(v)
}

// measure looks a metric up, in its base unit: 1/s, bytes/s or nanoseconds.
func measure(metric string, r *result.Result) (float64, error) {
	if r == nil {
		return 0, fmt.Errorf("nothing was measured")
	}
	side, what, _ := strings.Cut(metric, ".")
	dirs, err := directions(side, r)
	if err != nil {
		return 0, err
	}
	switch what {
	case "iops":
		sum := 0.0
		for _, d := range dirs {
			sum += float64(d.IOPS)
		}
		return sum, nil
	case "bw":
		sum := 0.0
		for _, d := range dirs {
			sum += float64(d.BW)
		}
		return sum, nil
	}
	kind, point, _ := strings.Cut(what, ".")
	var parts []fio.Latency
	for _, d := range dirs {
		switch kind {
		case "clat":
			parts = append(parts, d.Clat)
		case "slat":
			parts = append(parts, d.Slat)
		case "lat":
			parts = append(parts, d.Lat)
		case "sync":
		default:
			return 0, fmt.Errorf("metric %q is not known", metric)
		}
	}
	if kind == "sync" {
		parts = []fio.Latency{r.Total.Sync.Lat}
	}
	return latency(metric, point, parts)
}

func directions(side string, r *result.Result) ([]fio.Direction, error) {
	var dirs []fio.Direction
	switch side {
	case "read":
		dirs = []fio.Direction{r.Total.Read}
	case "write":
		dirs = []fio.Direction{r.Total.Write}
	case "trim":
		dirs = []fio.Direction{r.Total.Trim}
	case "total":
		for _, d := range []fio.Direction{r.Total.Read, r.Total.Write, r.Total.Trim} {
			if diagnose.Ran(d) {
				dirs = append(dirs, d)
			}
		}
	default:
		return nil, fmt.Errorf("%q is no direction: want read, write, trim or total", side)
	}
	if len(dirs) == 0 || !diagnose.Ran(dirs[0]) {
		return nil, fmt.Errorf("no %s ran", strings.ReplaceAll(side, "total", "I/O"))
	}
	return dirs, nil
}

// latency reads one point of a distribution. Several directions are merged by their histograms; means are weighted by
// count; percentiles without histograms cannot be merged and are refused.
func latency(metric, point string, parts []fio.Latency) (float64, error) {
	var measured []fio.Latency
	for _, l := range parts {
		if l.Measured() {
			measured = append(measured, l)
		}
	}
	if len(measured) == 0 {
		return 0, fmt.Errorf("%s was not recorded", metric)
	}
	switch point {
	case "mean":
		sum, n := 0.0, 0.0
		for _, l := range measured {
			weight := float64(max(l.N, 1))
			sum += l.Mean * weight
			n += weight
		}
		return sum / n, nil
	case "max":
		var most time.Duration
		for _, l := range measured {
			most = max(most, l.Max)
		}
		if most == 0 {
			return 0, fmt.Errorf("%s was not recorded", metric)
		}
		return float64(most), nil
	}
	p, err := strconv.ParseFloat(strings.TrimPrefix(point, "p"), 64)
	if err != nil || !strings.HasPrefix(point, "p") || p < 0 || p > 100 {
		return 0, fmt.Errorf("metric %q is not known: want mean, max or a percentile such as p99", metric)
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
		return 0, fmt.Errorf("percentile %g of %s was not recorded", p, strings.TrimSuffix(metric, "."+point))
	}
	return float64(v), nil
}

// ceilingOf is what the binding bound allows of a metric. Bounds give bytes for both directions together; a direction's part
// is its part of the I/Os, which is exact when reads and writes are of one size.
func ceilingOf(metric string, c *ceiling.Ceiling) (float64, error) {
	if c == nil || c.Binding() == nil {
		return 0, fmt.Errorf("the ceiling is not known")
	}
	b := c.Binding()
	if b.Own() {
		return 0, fmt.Errorf("its own latency binds, so there is no ceiling to hold %s against", metric)
	}
	side, what, _ := strings.Cut(metric, ".")
	part, share := b.IOPS, 1.0
	switch side {
	case "read":
		part = b.ReadIOPS
	case "write":
		part = b.WriteIOPS
	}
	switch {
	case b.ReadIOPS == 0 && b.WriteIOPS == 0:
		part = b.IOPS // one direction only, not split
	case b.IOPS > 0:
		share = float64(part / b.IOPS)
	}
	v := 0.0
	switch what {
	case "iops":
		v = float64(part)
	case "bw":
		v = float64(b.BW) * share
	default:
		return 0, fmt.Errorf("%s has no ceiling: only iops and bw have", metric)
	}
	if v <= 0 {
		return 0, fmt.Errorf("the ceiling of %s is not known", metric)
	}
	return v, nil
}
