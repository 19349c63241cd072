package diagnose

import (
	"time"

	"plimsoll/internal/fio"
)

// ShareAbove is the share of all I/Os that took longer than d, from latency bins or from fio's
// coarse buckets; false where neither was recorded.
func ShareAbove(j fio.Job, d time.Duration) (float64, bool) {
	share, _, ok := above(j, d)
	return share, ok
}
