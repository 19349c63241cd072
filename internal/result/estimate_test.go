package result

import (
	"testing"
	"time"

	"plimsoll/internal/fio"
)

// What fio needs at the end for its last I/Os says nothing about the rate; a stall does.
func TestUndrained(t *testing.T) {
	second := func(length time.Duration, n uint64) Second {
		return Second{Len: length, Read: Interval{N: n}}
	}
	timed := []fio.Workload{{TimeBased: true, Runtime: 6 * time.Second}}
	for _, tt := range []struct {
		name  string
		loads []fio.Workload
		tail  []Second // after five seconds of 400
		want  int
	}{
		{"whole", timed, []Second{second(time.Second, 400)}, 6},
		{"a drain", timed, []Second{second(time.Second, 400), second(280*time.Millisecond, 0)}, 6},
		{"a long drain", timed, []Second{second(time.Second, 400), second(time.Second, 0), second(280*time.Millisecond, 0)}, 6},
		{"a stall to the end", timed, []Second{second(time.Second, 0)}, 6},
		{"a stall and a drain", timed, []Second{second(time.Second, 0), second(280*time.Millisecond, 0)}, 6},
		{"stopped early", timed, []Second{second(280*time.Millisecond, 0)}, 5},
		{"a part of a second with I/Os", timed, []Second{second(time.Second, 400), second(280*time.Millisecond, 9)}, 7},
		{"by size", nil, []Second{second(280*time.Millisecond, 0)}, 5},
		{"a stall where nothing is known of the job", nil, []Second{second(time.Second, 0)}, 6},
		{"a stall of a run by size", []fio.Workload{{}}, []Second{second(time.Second, 0)}, 6},
	} {
		r := &Result{Workloads: tt.loads}
		r.Seconds = append(r.Seconds, Second{Ramp: true, Len: time.Second, Read: Interval{N: 700}})
		for range 5 {
			r.Seconds = append(r.Seconds, second(time.Second, 400))
		}
		r.Seconds = append(r.Seconds, tt.tail...)
		if got := len(r.undrained()) - 1; got != tt.want {
			t.Errorf("%s: %d seconds, want %d", tt.name, got, tt.want)
		}
	}
}
