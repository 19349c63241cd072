package runs

import (
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// TestLatencyOfATextIsOneThatItPrints: the result of a job with one I/O at a time is a latency that its text prints,
// and where none of them is that of its rate, or two directions have one each, its IOPS; 1 ÷ IOPS is of runs of ours.
func TestLatencyOfATextIsOneThatItPrints(t *testing.T) {
	side := func(iops, clat, lat float64) fio.Direction {
		d := fio.Direction{N: 1000, IOPS: units.IOPS(iops), Clat: fio.Latency{Mean: clat}, Lat: fio.Latency{Mean: lat}}
		return d
	}
	for name, c := range map[string]struct {
		read, write fio.Direction
		source      string
		want        string
	}{
		"clat":                          {side(10000, 95e3, 97e3), fio.Direction{}, "a.txt", "95 µs"},
		"lat, for submission takes it":  {side(200, 5e3, 4.556e6), fio.Direction{}, "a.txt", "4.56 ms"},
		"none that makes the rate":      {side(200, 5e3, 9e3), fio.Direction{}, "a.txt", "200 IOPS"},
		"two directions":                {side(800, 786e3, 790e3), side(1031, 242e3, 250e3), "a.txt", "1,831 IOPS"},
		"the same, of a run of our own": {side(800, 786e3, 790e3), side(1031, 242e3, 250e3), "", "546 µs"},
	} {
		j := fio.Job{Read: c.read, Write: c.write, Count: 1}
		s := bundle.Scenario{Scenario: suite.Scenario{ID: 1, Name: "s"}, Result: &result.Result{
			State: result.Done, Source: c.source, Jobs: []fio.Job{j}, Total: j, Depth: result.Depth{Asked: 1},
			Workloads: []fio.Workload{{Name: "s", Engine: "psync", Jobs: 1, Depth: 1, Direct: true}},
		}}
		if got := newRow(&s, 0).Measured; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
