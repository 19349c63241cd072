package run

import (
	"testing"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
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

// A run of which --stop leaves the first seconds out is compared with what the device did in the others:
// nobody else did what it did before (PL412).
func TestCutRunAccusesNobody(t *testing.T) {
	const rate, bs = 3000, 16384
	start := time.Unix(1_700_000_000, 0)
	for from, others := range map[time.Duration]int{
		0: 0, 20 * time.Second: 0, 40 * time.Second: 0, 21 * time.Second: rate,
	} {
		series := &telemetry.Series{Start: start, Devices: []string{"nvme1n1"}}
		r := &result.Result{Measured: time.Minute}
		for i := range 61 {
			at := time.Duration(i) * time.Second
			series.Samples = append(series.Samples, telemetry.Sample{
				At: at, Devices: []telemetry.Device{{ReadBytes: units.Bytes(i * (rate + others) * bs)}},
			})
			if i > 0 {
				r.Seconds = append(r.Seconds, result.Second{
					At: at, Len: time.Second, Read: result.Interval{N: rate, Bytes: rate * bs},
				})
			}
		}
		r.Devices = series.Use(0, time.Minute)
		r.Window(from, series, start)
		if got := otherIO(nil, diagnose.Measurement{Result: r}); (got.Message != "") != (others > 0) {
			t.Errorf("from %v, of others %d: %+v", from, others, got)
		}
	}
}
