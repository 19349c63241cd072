package diagnose

import (
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/units"
)

// span prints a latency in nanoseconds as people say it: "42 µs", "1.86 ms", "2.4 s".
func Span(ns float64) string {
	switch {
	case ns < 10e3:
		return figure(ns/1e3, 2) + " µs"
	case ns < 1e6:
		return figure(ns/1e3, 0) + " µs"
	case ns < 100e6:
		return figure(ns/1e6, 2) + " ms"
	case ns < 1e9:
		return figure(ns/1e6, 0) + " ms"
	case ns < 120e9:
		return figure(ns/1e9, 1) + " s"
	case ns < 2*3600e9:
		return figure(ns/60e9, 0) + " min"
	}
	return figure(ns/3600e9, 1) + " h"
}

// percent prints a share: "26.4 %".
func percent(share float64) string { return figure(share*100, 1) + " %" }

// times prints a ratio: "3.9x".
func times(ratio float64) string { return figure(ratio, 1) + "x" }

// figure prints v with at most so many decimals and no trailing zeros, thousands grouped.
func figure(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return units.Group(s)
}

// rate prints a throughput both ways, for limits that vendors state in MB/s: "150 MiB/s (157 MB/s)".
func rate(r units.Rate) string { return fmt.Sprintf("%s (%s)", r, r.SI()) }

// label names a measurement in a sentence: `6 concurrent-sync`.
func (m Measurement) Label() string {
	name := m.Scenario.Name
	if name == "" && m.Result != nil {
		name = m.Result.Name
	}
	if m.Scenario.ID == 0 {
		return name
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", m.Scenario.ID, name))
}
