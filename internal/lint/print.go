package lint

import (
	"strconv"
	"strings"

	"plimsoll/internal/units"
)

// lintSpan prints a time.
func span(ns float64) string {
	if ns < 1e6 {
		return figure(ns/1e3, 0) + " µs"
	}
	if ns < 120e9 {
		return figure(ns/1e9, 1) + " s"
	}
	return figure(ns/60e9, 0) + " min"
}

// lintFigure prints v with at most so many decimals and no trailing zeros, thousands grouped.
func figure(v float64, decimals int) string {
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return units.Group(s)
}
