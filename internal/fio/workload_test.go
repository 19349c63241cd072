package fio

import (
	"testing"
	"time"
)

// The end is that of the job that ends last. Where one waits for another, or ends by its size, it is
// not known.
func TestEnds(t *testing.T) {
	timed := func(delay, runtime time.Duration) Workload {
		return Workload{TimeBased: true, StartDelay: delay, Runtime: runtime, Ramp: time.Second}
	}
	later, after := timed(9*time.Second, time.Minute), timed(0, time.Minute)
	after.Stonewall = true
	for name, c := range map[string]struct {
		loads []Workload
		end   time.Duration
		known bool
	}{
		"one":                    {[]Workload{timed(0, time.Minute)}, time.Minute, true},
		"the second ends last":   {[]Workload{timed(0, time.Minute), later}, 69 * time.Second, true},
		"a stonewall before all": {[]Workload{after}, time.Minute, true},
		"the second waits":       {[]Workload{timed(0, time.Minute), after}, 0, false},
		"one ends by size":       {[]Workload{timed(0, time.Minute), {Runtime: time.Minute}}, 0, false},
		"no runtime":             {[]Workload{{TimeBased: true}}, 0, false},
		"none":                   {nil, 0, false},
	} {
		if end, known := Ends(c.loads); end != c.end || known != c.known {
			t.Errorf("%s: %v, %v, want %v, %v", name, end, known, c.end, c.known)
		}
	}
}
