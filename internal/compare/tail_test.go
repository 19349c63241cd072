package compare

import (
	"testing"
	"time"
)

// The 99th percentile is tested beside the IOPS: longer for certain fails, what cannot be excluded or was not
// measured is not judged, and one that is the same passes.
func TestGateOfTheTail(t *testing.T) {
	of := func(iops float64, p99 time.Duration, times float64) func(i int) []work {
		return func(i int) []work {
			w := randwrite("w", 8192, iops*spread[i])
			w.p99 = time.Duration(float64(p99) * (1 + times*(spread[(i+3)%len(spread)]-1)))
			return []work{w}
		}
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		after            func(i int) []work
		rounds           int
		moved            bool
		failed, unjudged int
	}{
		"three times as long":  {of(1000, 6*ms, 1), 5, true, 1, 0},
		"the same":             {of(1000, 2*ms, 1), 5, false, 0, 0},
		"10 % longer":          {of(1000, 2200*time.Microsecond, 1), 5, true, 0, 0},
		"shorter":              {of(1000, 1*ms, 1), 5, true, 0, 0},
		"noisy":                {of(1000, 2*ms, 40), 5, false, 0, 1},
		"one round":            {of(1000, 6*ms, 1), 1, false, 0, 2},
		"no tail was measured": {of(1000, 0, 1), 5, false, 0, 1},
	} {
		table := compared(t, Options{}, side(t, "before", 0, of(1000, 2*ms, 1), 5), side(t, "after", 1, c.after, c.rounds))
		moved := false
		for _, o := range table.Rows[0].Others {
			moved = moved || o.Moved(1)
		}
		o := table.Judge(Gate{P99: 0.2})
		if moved != c.moved || len(o.Failed) != c.failed || len(o.Unjudged) != c.unjudged {
			t.Errorf("%s: moved %v, %+v", name, moved, o)
		}
	}
	// A baseline has no tail: it is not passed over.
	if o := AgainstRuns(inMemory(20, 1000), nil, 10).Judge(Gate{P99: 0.2}); len(o.Unjudged) == 0 {
		t.Errorf("%+v", o)
	}
}
