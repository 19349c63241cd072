package ceiling

import (
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// A record on disk may hold any figure: one below zero is as unknown as zero, and makes no ceiling, no rate
// and no conclusion.
func TestFiguresBelowZeroAreUnknown(t *testing.T) {
	if got := Concurrent(8, -time.Millisecond); got != 0 {
		t.Errorf("concurrency: %v", got)
	}
	if chunk, sure := InferChunk(4*units.KiB, 100, -50); chunk != 0 || sure != 0 {
		t.Errorf("a chunk of %v by %v", chunk, sure)
	}
	if got := (counting{unit: 256 * units.KiB}).of(-1); got != 1 {
		t.Errorf("a run is counted %v times", got)
	}
	w := fio.Workload{Engine: "libaio", Jobs: 2, Depth: 4, ReadShare: 1, ReadBS: 4 * units.KiB, ReadRate: -1, ReadIOPS: -5}
	if got := Asked(w, true); got != 0 {
		t.Errorf("asked: %v", got)
	}
	c := Ceiling{IOSize: 4 * units.KiB, ReadShare: 1, InFlight: 8}
	for _, one := range []struct {
		read     time.Duration
		inFlight int
	}{{-time.Millisecond, 8}, {time.Millisecond, -8}} {
		asked := c
		if one.inFlight < 0 {
			asked.InFlight = one.inFlight
		}
		if got := asked.WithLatency(one.read, 0, one.inFlight, topology.Origin{}); len(got.Bounds) != 0 {
			t.Errorf("%+v: %+v", one, got.Bounds)
		}
	}
}
