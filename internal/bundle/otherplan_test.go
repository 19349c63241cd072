package bundle

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
)

// TestOtherPlan: a run that ended at a round time, to within its I/Os in flight, was started with another
// runtime than the text's; one that ended at any other moment was cut short, and what fio itself
// prints of its options is believed.
func TestOtherPlan(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		measured time.Duration
		slowest  time.Duration
		options  fio.Options
		error    int
		messages []string
		other    bool
	}{
		{"two minutes and the last I/Os", 120*time.Second + 336*ms, 703 * ms, nil, 0, nil, true},
		{"two minutes, and I/Os of 20 ms", 120*time.Second + 336*ms, 20 * ms, nil, 0, nil, false},
		{"two minutes to 2 ms", 120*time.Second + 2*ms, 20 * ms, nil, 0, nil, true},
		{"1 min 53 s", 113*time.Second + 2*ms, 703 * ms, nil, 0, nil, false},
		{"a little less than two minutes", 120*time.Second - 2*ms, 703 * ms, nil, 0, nil, false},
		{"fio repeats the runtime", 120*time.Second + 2*ms, 20 * ms, fio.Options{"runtime": "300"}, 0, nil, false},
		{"with an error", 120*time.Second + 2*ms, 20 * ms, nil, 5, nil, false},
		{"with a signal", 120*time.Second + 2*ms, 20 * ms, nil, 0, []string{"fio: terminating on signal 2"}, false},
		{"the planned time", 300*time.Second + 2*ms, 20 * ms, nil, 0, nil, false},
	} {
		o := &fio.Output{Messages: c.messages, Jobs: []fio.Job{{Name: "a", Options: c.options, Error: c.error}}}
		r := &result.Result{Measured: c.measured, Jobs: o.Jobs}
		r.Total.Write.Clat.Max = c.slowest
		r.Workloads = []fio.Workload{{TimeBased: true, Runtime: 5 * time.Minute}}
		plan := planned(r, o)
		if other := plan == 2*time.Minute && r.Workloads[0].Runtime == plan; other != c.other || other != strings.Contains(strings.Join(r.Doubts, ""), "another runtime") {
			t.Errorf("%s: planned %v, %q", c.name, plan, r.Doubts)
		}
	}
}
