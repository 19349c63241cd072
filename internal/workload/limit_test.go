package workload

import (
	"os"
	"strings"
	"testing"
)

// observedOf reads a log of testdata.
func observedOf(t *testing.T, name string) []Observed {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	reports, err := iostatText(data)
	if err != nil {
		t.Fatal(err)
	}
	all, err := fromIostat(reports, 0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A device at its limit all the time is no demand at ease (scylladb/seastar#593, and one with 128 in flight).
func TestAtItsLimitAllTheTime(t *testing.T) {
	for name, want := range map[string]int{"20-seastar593.iostat": 5, "cap-all-the-time.iostat": 1} {
		d, _, err := Derive("x", observedOf(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(d.AtLeast) < want {
			t.Errorf("%s: at least %v", name, d.AtLeast)
		}
		for _, n := range d.Notes {
			if strings.Contains(n, "the only report is iostat's mean since boot") {
				t.Errorf("%s: %s", name, n)
			}
		}
	}
	easy := Observed{Intervals: []Interval{{Len: 1e9, Read: Flow{IOPS: 100, Rate: 1e6, Wait: 1e6}, Util: 0.98, Queue: 3.9}}}
	if got := easy.full(true); got != 0 {
		t.Errorf("at ease: full for %v of the time", got)
	}
	easy.Intervals[0].Util, easy.Intervals[0].Queue = 0.99, 4
	if got := easy.full(true); got != 1 {
		t.Errorf("at its limit: full for %v of the time", got)
	}
}

// Flushes make a demand of synced writes: 22 writes and 16 flushes a second are a writer of a log.
func TestFlushesAreSyncs(t *testing.T) {
	d, _, err := Derive("x", observedOf(t, "flush-61ms.iostat"))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, s := range d.Streams {
		if s.ReadShare == 0 {
			found = s.Sync == Sync{"fdatasync", 1} && s.Blocks[0].Size == 8192
		}
	}
	if !found {
		t.Errorf("%+v", d.Streams)
	}
	few := Seen{Mean: Load{IOPS: 100}, Flushes: 4.9}
	if few.synced() {
		t.Error("a log that is written now and then is taken for synced writes")
	}
}
