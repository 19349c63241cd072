package plans

import (
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/topology"
)

// What cannot be ordered of a type is not advised.
func TestRemediesByTypeOfVolume(t *testing.T) {
	for typ, want := range map[string][2]string{ // volume IOPS, volume throughput
		"gp3": {"use more volumes, or more IOPS per volume", "use more volumes, or more throughput per volume"},
		"":    {"use more volumes, or more IOPS per volume", "use more volumes, or more throughput per volume"},
		"io2": {"use more volumes, or more IOPS per volume", "use more volumes, or more IOPS per volume (the throughput of io2 follows from them)"},
		"gp2": {"use more or larger volumes (the limits of gp2 follow from size), or another type", "use more or larger volumes (the limits of gp2 follow from size), or another type"},
		"st1": {"use more or larger volumes (the limits of st1 follow from size), or another type", "use more or larger volumes (the limits of st1 follow from size), or another type"},
		"azure-premium": {
			"use more or larger volumes (the limits of azure-premium follow from size), or another type",
			"use more or larger volumes (the limits of azure-premium follow from size), or another type",
		},
		"ovh-classic": {"use more volumes, or another type (the limits of ovh-classic are fixed)", "use more volumes, or another type (the limits of ovh-classic are fixed)"},
	} {
		topo := &topology.Topology{
			Targets: []topology.Target{{Role: topology.Data, Array: "a"}, {Role: topology.WAL, Array: "b"}},
			Arrays:  []topology.Array{{Name: "a", Volumes: []topology.Volume{{Type: typ}}}, {Name: "b", Volumes: []topology.Volume{{Type: "gp3"}}}},
		}
		for i, kind := range []ceiling.Kind{ceiling.VolumeIOPS, ceiling.VolumeRate} {
			if got := (Outlook{Role: topology.Data}).remedy(topo, &ceiling.Bound{Kind: kind}); got != want[i] {
				t.Errorf("%s of %q: %q", kind, typ, got)
			}
		}
		if got := (Outlook{Role: topology.WAL}).remedy(topo, &ceiling.Bound{Kind: ceiling.VolumeIOPS}); got != "use more volumes, or more IOPS per volume" {
			t.Errorf("the log's volumes are gp3: %q", got)
		}
	}
	pool := &ceiling.Bound{Kind: ceiling.VolumeIOPS, Pool: true}
	if got := (Outlook{}).remedy(&topology.Topology{}, pool); got != "use larger volumes, since they share one allowance, or another type" {
		t.Error(got)
	}
	if got := (Outlook{}).remedy(&topology.Topology{}, &ceiling.Bound{Kind: ceiling.Concurrency}); got != "keep more I/Os in flight, or reduce latency" {
		t.Error(got)
	}
}
