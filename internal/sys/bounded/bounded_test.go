package bounded

import (
	"testing"
	"time"
)

func TestBeyond(t *testing.T) {
	since := cost{cpu: 5 * time.Second, allocated: 100}
	for _, c := range []struct {
		now    cost
		beyond string
	}{
		{cost{6 * time.Second, 100 + mostMemory}, ""},
		{cost{6*time.Second + 1, 100}, "this case took 1.000000001s of CPU time: more than 1s"},
		{cost{5 * time.Second, 101 + mostMemory}, "this case allocated 64 MiB: more than 64"},
	} {
		if got := c.now.beyond(since); got != c.beyond {
			t.Errorf("%v: %q, want %q", c.now, got, c.beyond)
		}
	}
}

// A process spends what it spends: both counters grow with what is done.
func TestSpent(t *testing.T) {
	before := spent()
	var kept [][]byte
	for spent().cpu-before.cpu < 20*time.Millisecond {
		kept = append(kept, make([]byte, 1<<16))
	}
	if got := spent().allocated - before.allocated; got < uint64(len(kept))<<16 {
		t.Errorf("%d bytes were counted of %d pieces of 64 KiB", got, len(kept))
	}
}
