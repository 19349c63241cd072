package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"plimsoll/internal/stats"
	"plimsoll/internal/units"
)

const (
	longName     = 80  // characters of a name outside a narrow table
	longSentence = 900 // of a sentence, which may quote names
	none         = "–"
)

// figure prints three significant digits, thousands grouped, without trailing zeros.
func figure(v float64) string {
	digits := 2
	switch a := math.Abs(v); {
	case a >= 99.95:
		digits = 0
	case a >= 9.995:
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return units.Group(s)
}

// span prints a latency given in nanoseconds: "42 µs", "1.86 ms".
func span(ns float64) string {
	switch {
	case ns < 999.5:
		return figure(ns) + " ns"
	case ns < 999.5e3:
		return figure(ns/1e3) + " µs"
	case ns < 999.5e6:
		return figure(ns/1e6) + " ms"
	}
	return figure(ns/1e9) + " s"
}

// lasting prints a long time: "60 s", "30 min", "2.5 h".
func lasting(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return figure(d.Seconds()) + " s"
	case d < 2*time.Hour:
		return figure(d.Minutes()) + " min"
	}
	return figure(d.Hours()) + " h"
}

// operations prints IOPS; from 100,000 on with four digits, as "112.4k IOPS".
func operations(n units.IOPS) string {
	switch {
	case n >= 999950:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 3, 64) + "M IOPS"
	case n >= 1e5:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + "k IOPS"
	}
	return n.String() + " IOPS"
}

// throughput prints a rate in MiB/s, or the next unit where that would be below 1 or above 9,999.
func throughput(r units.Rate) string {
	switch v := float64(r) / (1 << 20); {
	case v == 0:
		return "0 MiB/s"
	case v < 1:
		return figure(v*1024) + " KiB/s"
	case v >= 9999.5:
		return figure(v/1024) + " GiB/s"
	default:
		return figure(v) + " MiB/s"
	}
}

func percent(share float64) string {
	return units.Group(strconv.FormatFloat(share*100, 'f', 1, 64)) + " %"
}

// doubt is the half width of an estimate's 95 % interval, "± 1.2 %", or why there is none: "no interval (2 s only)".
func doubt(e stats.Estimate) string {
	switch {
	case e.Center == 0:
		return ""
	case !e.HasInterval():
		return "no interval (" + cmp.Or(e.None, "one value") + ")"
	}
	return "± " + percent(e.Rel())
}

// quote writes an argument so that a shell gives back exactly it, on one line that hides nothing.
func quote(arg string) string {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || strings.ContainsRune("-_=+./:,@%", r)
	}
	hidden := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	switch {
	case arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !plain(r) }) < 0:
		return arg
	case strings.IndexFunc(arg, hidden) < 0:
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	var s strings.Builder
	for _, b := range []byte(arg) {
		switch {
		case b == '\'' || b == '\\':
			s.WriteByte('\\')
			s.WriteByte(b)
		case b < ' ' || b >= 0x7f:
			fmt.Fprintf(&s, `\x%02x`, b)
		default:
			s.WriteByte(b)
		}
	}
	return "$'" + s.String() + "'"
}
