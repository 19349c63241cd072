package bundle

import (
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
)

// A file is written before it is measured, a raw device where a scenario of its role writes. What was
// only read may never have been loaded from a snapshot (PL424).
func TestPrefilled(t *testing.T) {
	device := topology.Topology{Targets: []topology.Target{{Role: topology.Data, Path: "/dev/nvme1n1", Device: "nvme1n1"}}}
	files := topology.Topology{Targets: []topology.Target{{
		Role: topology.Data, Path: "/data", Device: "nvme1n1", Mount: &block.Mount{Point: "/data"},
	}}}
	for _, c := range []struct {
		scenarios string
		on        *topology.Topology
		change    func(*Run)
		want      bool
	}{
		{"rand-read-latency", &device, nil, false},
		{"rand-read-latency", &files, nil, true},
		{"rand-read-latency,rand-write", &device, nil, true},
		{"rand-read-latency,seq-read", &device, nil, false},
		{"rand-read-latency", &files, func(r *Run) { r.Settings.FreshExtents = true }, false},
		{"rand-read-latency", &files, func(r *Run) { r.Imported = []string{"fio.json"} }, false},
	} {
		s, err := suite.Select([]string{"db"}, suite.Selection{Only: c.scenarios})
		if err != nil {
			t.Fatal(err)
		}
		b := &Bundle{Run: Run{Suite: *s, Topology: *c.on}}
		if c.change != nil {
			c.change(&b.Run)
		}
		if got := b.prefilled(&Scenario{Scenario: s.Scenarios[0]}, c.on); got != c.want {
			t.Errorf("%s on %s: %v, want %v", c.scenarios, c.on.Targets[0].Path, got, c.want)
		}
	}
}
