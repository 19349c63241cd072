package suite

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/text"
	"plimsoll/internal/units"
)

// Threshold is a stated expectation, such as "write.sync.p99 < 3ms", "write.clat.over(1s) < 1%" or
// "total.bw >= 0.95 * ceiling".
type Threshold struct {
	Text   string
	Metric Metric
	Op     Op
	// Limit is the right side, unless that is a share of the ceiling: then OfCeiling is the share,
	// 0 otherwise.
	Limit     Value
	OfCeiling float64
}

// Metric is what a threshold is on: one quantity of one side.
type Metric struct {
	Side      Side
	Quantity  Quantity
	Statistic Statistic // of a latency
}

// Side is a direction of I/O, or all of them together.
type Side string

// The sides.
const (
	ReadSide  Side = "read"
	WriteSide Side = "write"
	TrimSide  Side = "trim"
	TotalSide Side = "total"
	// Transactions are those of a database: tps, latency.mean.
	Transactions Side = "transactions"
)

// Quantity is a rate or one of fio's latencies.
type Quantity string

// The quantities. Lat is from submission to completion, Clat completion alone, Slat submission
// alone, Sync an fsync or fdatasync.
const (
	IOPS Quantity = "iops"
	BW   Quantity = "bw"
	Clat Quantity = "clat"
	Slat Quantity = "slat"
	Lat  Quantity = "lat"
	Sync Quantity = "sync"
	TPS  Quantity = "tps"
	Took Quantity = "latency" // of a transaction
)

// IsLatency says whether the quantity is a time.
func (q Quantity) IsLatency() bool { return q != IOPS && q != BW && q != TPS }

// Statistic is "mean", "max", a percentile such as "p99.9", or the share of I/Os that took longer
// than a latency: "over(1s)".
type Statistic string

// The statistics that are not percentiles.
const (
	Mean Statistic = "mean"
	Max  Statistic = "max"
)

// Percentile is 99.9 for "p99.9"; false for the others.
func (s Statistic) Percentile() (float64, bool) {
	text, ok := strings.CutPrefix(string(s), "p")
	if !ok {
		return 0, false
	}
	p, err := strconv.ParseFloat(text, 64)
	return p, err == nil && p >= 0 && p <= 100
}

// Over is the latency of "over(1s)"; false for the others.
func (s Statistic) Over() (time.Duration, bool) {
	text, ok := strings.CutPrefix(string(s), "over(")
	if !ok {
		return 0, false
	}
	l, err := units.ParseLatency(strings.TrimSuffix(text, ")"))
	return l.Duration(), err == nil && l > 0
}

// IsShare says whether the metric is a share of the I/Os.
func (m Metric) IsShare() bool {
	_, ok := m.Statistic.Over()
	return ok
}

// String is the metric as thresholds name it: "write.sync.p99".
func (m Metric) String() string {
	s := string(m.Side) + "." + string(m.Quantity)
	if m.Side == Transactions {
		s = string(m.Quantity)
	}
	if m.Statistic != "" {
		s += "." + string(m.Statistic)
	}
	return s
}

// Value is a figure of a metric: one of the four by the metric's quantity and statistic.
type Value struct {
	IOPS    units.IOPS    `json:"iops,omitempty"`
	Rate    units.Rate    `json:"rate,omitempty"`
	Latency units.Latency `json:"latency,omitempty"`
	Share   float64       `json:"share,omitempty"` // 0..1 of the I/Os
}

// Value makes a figure of the metric from a number in its base unit: 1/s, bytes/s, nanoseconds or a
// share.
func (m Metric) Value(base float64) Value {
	if m.IsShare() {
		return Value{Share: base}
	}
	switch m.Quantity {
	case IOPS, TPS:
		return Value{IOPS: units.IOPS(base)}
	case BW:
		return Value{Rate: units.Rate(base)}
	default:
		return Value{Latency: units.Latency(base)}
	}
}

// Base is the figure in its base unit: 1/s, bytes/s, nanoseconds or a share.
func (v Value) Base() float64 {
	return float64(v.IOPS) + float64(v.Rate) + float64(v.Latency) + v.Share
}

// Times is the figure multiplied by a factor.
func (v Value) Times(f float64) Value {
	return Value{v.IOPS * units.IOPS(f), v.Rate * units.Rate(f), v.Latency * units.Latency(f), v.Share * f}
}

// Print writes a figure of the metric with its unit: "536 IOPS", "508 MiB/s", "1.86 ms".
func (m Metric) Print(v Value) string {
	if m.IsShare() {
		return text.Percent(v.Share)
	}
	switch m.Quantity {
	case IOPS:
		return v.IOPS.String() + " IOPS"
	case TPS:
		return v.IOPS.String() + " TPS"
	case BW:
		return v.Rate.String()
	default:
		return v.Latency.String()
	}
}

// Op is a comparison: <, <=, > or >=, and of others than thresholds = and != too.
type Op string

// Holds says whether a figure compares with a limit as the threshold wants.
func (o Op) Holds(figure, limit Value) bool { return o.Compares(figure.Base(), limit.Base()) }

// Compares says whether one number compares with another so.
func (o Op) Compares(a, b float64) bool {
	switch o {
	case "=":
		return a == b
	case "!=":
		return a != b
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	case ">=":
		return a >= b
	}
	return false
}

// MarshalText writes the threshold as it was stated.
func (t Threshold) MarshalText() ([]byte, error) { return []byte(t.Text), nil }

// UnmarshalText reads a threshold.
func (t *Threshold) UnmarshalText(text []byte) (err error) {
	*t, err = ParseThreshold(string(text))
	return err
}

// UnmarshalJSON reads a threshold's text, or the object with a text that runs of schema 1 hold.
func (t *Threshold) UnmarshalJSON(data []byte) error {
	var old struct {
		Text string `json:"text"`
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		if json.Unmarshal(data, &old) != nil {
			return err
		}
		text = old.Text
	}
	return t.UnmarshalText([]byte(text))
}

var (
	thresholdForm = regexp.MustCompile(`^\s*([a-z]+(?:\.[a-z0-9.()]+)*)\s*(<=|>=|<|>)\s*(.+?)\s*$`)
	metricForm    = regexp.MustCompile(
		`^(read|write|trim|total)\.(?:(iops|bw)|(clat|slat|lat|sync)\.(mean|max|p\d{1,2}(?:\.\d{1,4})?|over\([0-9.]+[mun]?s\)))$`,
	)
	databaseForm = regexp.MustCompile(`^(?:(tps)|(latency)\.(mean|max|p\d{1,2}(?:\.\d{1,4})?))$`)
	ceilingForm  = regexp.MustCompile(`^(?:([0-9.]+)\s*\*\s*)?ceiling$`)
)

func parseMetric(name string) (Metric, error) {
	parts := metricForm.FindStringSubmatch(name)
	if of := databaseForm.FindStringSubmatch(name); of != nil {
		parts = append([]string{of[0], string(Transactions)}, of[1:]...)
	}
	if parts == nil {
		return Metric{}, fmt.Errorf("unknown metric %q; want read, write, trim or total, then iops, bw, or clat, slat, "+
			"lat or sync with mean, max, p99 or over(1s)", name)
	}
	return Metric{Side(parts[1]), Quantity(parts[2] + parts[3]), Statistic(parts[4])}, nil
}

// ParseMain reads the figure of a scenario that comparisons test: a metric, or a percentile alone
// such as p99, which is that of the completion latency of all I/Os.
func ParseMain(text string) (Metric, error) {
	name := strings.TrimSpace(text)
	if strings.HasPrefix(name, "p") {
		name = "total.clat." + name
	}
	return parseMetric(name)
}

// Threshold is what a figure of the metric, in its base unit, is as a threshold.
func (m Metric) Threshold(op Op, base float64) (Threshold, error) {
	v := m.Value(base)
	arg := v.IOPS.Arg()
	switch {
	case m.Quantity == BW:
		arg = units.Rate(math.Round(base)).Arg()
	case m.Quantity.IsLatency():
		arg = v.Latency.Arg()
	}
	return ParseThreshold(fmt.Sprintf("%s %s %s", m, op, arg))
}

// ParseThreshold reads a threshold and checks that its two sides are of one unit.
func ParseThreshold(text string) (Threshold, error) {
	m := thresholdForm.FindStringSubmatch(text)
	if m == nil {
		return Threshold{}, fmt.Errorf("threshold %q: want METRIC < VALUE, such as write.iops >= 540", text)
	}
	t := Threshold{Text: strings.TrimSpace(text), Op: Op(m[2])}
	var err error
	if t.Metric, err = parseMetric(m[1]); err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	value := m[3]
	if c := ceilingForm.FindStringSubmatch(value); c != nil {
		t.OfCeiling, err = t.Metric.share(c[1])
	} else {
		t.Limit, err = t.Metric.parse(value)
	}
	if err != nil {
		return t, fmt.Errorf("threshold %q: %w", text, err)
	}
	return t, nil
}

// share reads a factor of the ceiling, 1 when it is empty.
func (m Metric) share(factor string) (float64, error) {
	if m.Quantity.IsLatency() {
		return 0, fmt.Errorf("the ceiling is IOPS or bandwidth, not a latency")
	}
	if factor == "" {
		return 1, nil
	}
	f, err := strconv.ParseFloat(factor, 64)
	if err != nil || f <= 0 {
		return 0, fmt.Errorf("want a factor such as 0.95 * ceiling")
	}
	return f, nil
}

// parse reads a figure of the metric, which needs its unit unless it is IOPS.
func (m Metric) parse(text string) (Value, error) {
	var v Value
	var err error
	if m.IsShare() {
		return parseShare(text)
	} else if strings.HasPrefix(string(m.Statistic), "over(") {
		return v, fmt.Errorf("%s: want a form such as over(1s)", m.Statistic)
	}
	switch m.Quantity {
	case IOPS, TPS:
		v.IOPS, err = units.ParseIOPS(text)
	case BW:
		if !strings.HasSuffix(text, "/s") {
			return v, fmt.Errorf("bandwidth %q needs a unit, such as 500MiB/s", text)
		}
		v.Rate, err = units.ParseRate(text)
	default:
		v.Latency, err = units.ParseLatency(text)
		if err != nil || v.Latency <= 0 {
			err = fmt.Errorf("latency %q needs a unit, such as 1.5ms", text)
		}
	}
	return v, err
}

// parseShare reads a share of the I/Os, which needs its sign: "1%".
func parseShare(text string) (Value, error) {
	v, err := units.ParsePercent(text)
	if err != nil || v > 1 {
		return Value{}, fmt.Errorf("share %q: want one such as 1%%", text)
	}
	return Value{Share: v}, nil
}
