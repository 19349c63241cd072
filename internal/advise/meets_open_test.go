package advise

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
	"plimsoll/internal/workload"
)

// TestDemandIsNotMetByALowerBound: p99 of 0.9 s and p99.5 of 1.2 s prove 0.5 to 1 % above a second. Less than
// 0.7 % cannot be said to be met, and less than 0.4 % is not.
func TestDemandIsNotMetByALowerBound(t *testing.T) {
	for limit, want := range map[string][2]bool{"0.7%": {false, true}, "0.4%": {true, false}, "1.1%": {false, false}} {
		d, err := workload.Parse("app.yaml", []byte("workload: app\ncapacity: 100GiB\nstreams:\n  - {name: w, does: random write, "+
			"block: 16KiB, threads: 1, depth: 16, rate: 10MiB/s, latency: {over: {1s: "+limit+"}}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		l := fio.Latency{N: 38400, Mean: 24.9e6, Percentiles: []fio.Percentile{
			{P: 99, Value: 900 * time.Millisecond}, {P: 99.5, Value: 1200 * time.Millisecond},
		}}
		w := fio.Job{Name: "app", Write: fio.Direction{N: 38400, IOPS: 640, BW: 10 * units.MiBPerSec, Bytes: 600 * units.MiB, Clat: l}}
		m := Meets(d, []Side{{Name: "app", Result: &result.Result{Measured: time.Minute, Jobs: []fio.Job{w}, Total: w}}})
		s := m.Sides[0]
		if s.Missed != want[0] || s.Open != want[1] || s.Met != (!want[0] && !want[1]) ||
			strings.Contains(m.Decision, "cannot tell") != want[1] {
			t.Errorf("%s: %q, %+v", limit, m.Decision, s)
		}
	}
}
