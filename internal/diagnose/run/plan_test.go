package run

import (
	"testing"
	"time"

	"plimsoll/internal/result"
	"plimsoll/internal/stats"
)

// A run that --stop ended when its figure was known is not one that was cut short (PL402).
func TestPlanOfAStoppedRun(t *testing.T) {
	r := &result.Result{Planned: 2 * time.Minute, Measured: 13 * time.Second}
	if got := plan(r); got != 2*time.Minute {
		t.Errorf("cut short: %v", got)
	}
	r.Stopped = &stats.Settled{}
	if got := plan(r); got != 2*time.Minute {
		t.Errorf("never settled: %v", got)
	}
	r.Stopped.At = 13
	if got := plan(r); got != 0 {
		t.Errorf("settled: %v", got)
	}
}
