package sys

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// ClockError is by how much the wall clock was off when it was last compared with its source of time, and how
// far it may be off at most, as the kernel knows from what keeps it: adjtimex(2).
func ClockError() (offset, most time.Duration, err error) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("adjtimex: %w", err)
	case state == unix.TIME_ERROR || t.Status&unix.STA_UNSYNC != 0:
		return 0, 0, errors.New("nothing keeps it (chrony, timesyncd and the like)")
	}
	unit := time.Microsecond
	if t.Status&unix.STA_NANO != 0 {
		unit = time.Nanosecond
	}
	return time.Duration(t.Offset) * unit, time.Duration(t.Maxerror) * time.Microsecond, nil
}
