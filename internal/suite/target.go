package suite

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/units"
)

var (
	targetForm  = regexp.MustCompile(`^\s*([a-z]+(?:\.[a-z0-9.]+)+)\s*(<=|>=|<|>)\s*(.+?)\s*$`)
	metricForm  = regexp.MustCompile(`^(read|write|trim|total)\.(?:(iops|bw)|(clat|slat|lat|sync)\.(mean|max|p\d{1,2}(?:\.\d{1,4})?))$`)
	ceilingForm = regexp.MustCompile(`^(?:([0-9.]+)\s*\*\s*)?ceiling$`)
)

// ParseTarget reads a target and checks that its two sides are of one unit.
func ParseTarget(text string) (Target, error) {
	m := targetForm.FindStringSubmatch(text)
	if m == nil {
		return Target{}, fmt.Errorf("target %q: want METRIC < VALUE, such as write.iops >= 540", text)
	}
	t := Target{Text: strings.TrimSpace(text), Metric: m[1], Op: m[2]}
	parts := metricForm.FindStringSubmatch(t.Metric)
	if parts == nil {
		return t, fmt.Errorf("target %q: no metric %q; want read, write, trim or total, then iops, bw, or clat, slat, lat or sync with mean, max or p99", text, t.Metric)
	}
	value := m[3]
	if c := ceilingForm.FindStringSubmatch(value); c != nil {
		if parts[2] == "" {
			return t, fmt.Errorf("target %q: the ceiling is IOPS or bandwidth, not a latency", text)
		}
		t.OfCeiling, t.Limit = true, 1
		if c[1] != "" {
			f, err := strconv.ParseFloat(c[1], 64)
			if err != nil || f <= 0 {
				return t, fmt.Errorf("target %q: want a factor such as 0.95 * ceiling", text)
			}
			t.Limit = f
		}
		return t, nil
	}
	var err error
	switch parts[2] {
	case "iops":
		var v units.IOPS
		v, err = units.ParseIOPS(value)
		t.Limit = float64(v)
	case "bw":
		if !strings.HasSuffix(value, "/s") {
			return t, fmt.Errorf("target %q: bandwidth %q needs a unit, such as 500MiB/s", text, value)
		}
		var v units.Rate
		v, err = units.ParseRate(value)
		t.Limit = float64(v)
	default:
		var v time.Duration
		v, err = time.ParseDuration(value)
		t.Limit = float64(v)
		if err != nil || v <= 0 {
			err = fmt.Errorf("latency %q needs a unit, such as 1.5ms", value)
		}
	}
	if err != nil {
		return t, fmt.Errorf("target %q: %w", text, err)
	}
	return t, nil
}
