package bench

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plimsoll/internal/permit"
	"plimsoll/internal/sys"
	"plimsoll/internal/topology"
)

// Without /proc, as in a chroot, a run is refused before anything is written, not after the
// prefill.
func TestTelemetryIsAskedFirst(t *testing.T) {
	r := &runner{
		m:      &sys.Machine{Root: fstest.MapFS{}, Now: time.Now},
		plan:   Plan{Topology: topology.Topology{Targets: []topology.Target{{Role: topology.Data, Path: t.TempDir()}}}},
		places: []*place{{Place: &permit.Place{Role: topology.Data}}},
	}
	err := r.checkTelemetry()
	if err == nil || !strings.Contains(err.Error(), "proc/stat") {
		t.Error(err)
	}
}
