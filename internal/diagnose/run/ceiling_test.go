package run

import (
	"slices"
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// A limit of a host's cache is none of the storage network.
func TestWayOfALimit(t *testing.T) {
	for kind, want := range map[ceiling.Kind]string{
		ceiling.InstanceIOPS:  "over its storage network",
		ceiling.InstanceRate:  "over its storage network",
		ceiling.HostCacheIOPS: "from its host's cache",
		ceiling.HostCacheRate: "from its host's cache",
	} {
		if got := through(kind); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// What the members of a mirror can read counts their bursts, and each by its own figure.
func TestReadRatesOfMembers(t *testing.T) {
	const mib = units.MiBPerSec
	v := func(sustained, burst units.Rate) topology.Volume {
		return topology.Volume{Sustained: topology.Limits{Rate: sustained}, Burst: topology.Limits{Rate: burst}}
	}
	missing := topology.Volume{Missing: true}
	for name, c := range map[string]struct {
		volumes []topology.Volume
		want    []units.Rate
	}{
		"alike":     {[]topology.Volume{v(125*mib, 0), v(125*mib, 0)}, []units.Rate{125 * mib, 125 * mib}},
		"a burst":   {[]topology.Volume{v(40*mib, 250*mib), v(40*mib, 250*mib)}, []units.Rate{250 * mib, 250 * mib}},
		"differing": {[]topology.Volume{v(125*mib, 0), v(500*mib, 0)}, []units.Rate{500 * mib, 125 * mib}},
		"missing":   {[]topology.Volume{missing, v(125*mib, 0)}, []units.Rate{125 * mib}},
		"unknown":   {[]topology.Volume{v(125*mib, 0), v(0, 0)}, nil},
	} {
		if got := readRates(c.volumes); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
