package workload

import (
	"fmt"
	"strconv"
	"time"

	"plimsoll/internal/units"
)

// size prints bytes exactly with fio's suffixes, which are powers of 1024.
func size(b units.Bytes) string {
	v, suffix := uint64(b), ""
	for _, next := range []string{"k", "m", "g", "t"} {
		if v == 0 || v%1024 != 0 {
			break
		}
		v, suffix = v/1024, next
	}
	return strconv.FormatUint(v, 10) + suffix
}

// Time prints a duration as fio reads it: 90s, 1500ms.
func Time(d time.Duration) string {
	switch {
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", int64(d/time.Second))
	case d%time.Millisecond == 0:
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%dus", d.Microseconds())
}

func number(v float64) string { return units.IOPS(v).String() }

func latencyText(d time.Duration) string {
	return units.LatencyOf(d).String()
}
