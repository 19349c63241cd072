package workload

import (
	"fmt"
	"time"

	"plimsoll/internal/units"
)

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
