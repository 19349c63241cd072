package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Latency is how long one I/O takes, in nanoseconds; fractions are kept, since means have them.
// It parses "1.858ms", "600 us", "42µs", "2s" and prints three significant digits: "42.1 µs",
// "1.86 ms", "2.4 s".
type Latency float64

// LatencyOf converts a duration.
func LatencyOf(d time.Duration) Latency { return Latency(d) }

// Duration converts l, rounded to whole nanoseconds.
func (l Latency) Duration() time.Duration { return time.Duration(math.Round(float64(l))) }

var latencyUnits = []struct {
	name string
	one  Latency
}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}}

// String prints l in the largest unit of which it is at least one after rounding.
func (l Latency) String() string {
	for _, u := range latencyUnits {
		if v := l / u.one; v >= 0.9995 || v <= -0.9995 {
			return Number(float64(v)) + " " + u.name
		}
	}
	if l == 0 {
		return "0 s"
	}
	return Number(float64(l)) + " ns"
}

// Arg prints l exactly and without a space, as programs and YAML take it: "1.858ms".
func (l Latency) Arg() string {
	for _, u := range latencyUnits {
		if v := l / u.one; v >= 1 {
			return decimal(v) + strings.ReplaceAll(u.name, "µ", "u")
		}
	}
	return decimal(l) + "ns"
}

// MarshalText prints l as Arg does.
func (l Latency) MarshalText() ([]byte, error) { return []byte(l.Arg()), nil }

// MarshalJSON writes l as a plain number of nanoseconds.
func (l Latency) MarshalJSON() ([]byte, error) { return marshalFloat(l) }

// UnmarshalJSON reads a number of nanoseconds, or a text such as "1.858ms".
func (l *Latency) UnmarshalJSON(data []byte) error { return readJSON(l, data, ParseLatency) }

// UnmarshalText parses what String and Arg print.
func (l *Latency) UnmarshalText(text []byte) error { return read(l, string(text), ParseLatency) }

// ParseLatency reads a latency with its unit: ns, us (or µs, usec), ms (msec) or s (sec).
func ParseLatency(s string) (Latency, error) {
	num, unit := split(ungroup(s))
	v, err := strconv.ParseFloat(num, 64)
	one := map[string]Latency{
		"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9,
	}[strings.TrimSuffix(strings.ToLower(unit), "ec")]
	if err != nil || one == 0 || !(v >= 0 && v*float64(one) < math.MaxInt64) {
		return 0, fmt.Errorf("latency %q: want a number with a unit, such as 1.86ms or 600us", s)
	}
	return Latency(v) * one, nil
}
