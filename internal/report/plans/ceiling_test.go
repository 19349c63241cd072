package plans

import (
	"strings"
	"testing"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// Raising one of two equal limits helps nothing, and the advice says so: only a next limit that is
// higher is one "up to" which an upgrade helps.
func TestAdviceOnEqualLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		bounds []ceiling.Bound
		want   string
	}{
		{
			"a higher one follows",
			[]ceiling.Bound{{Kind: ceiling.InstanceIOPS, IOPS: 20000}, {Kind: ceiling.VolumeIOPS, IOPS: 24000}},
			"To exceed 20,000 IOPS: use a larger instance (up to 24,000 IOPS, the next limit: volume IOPS).",
		},
		{
			"a sustained figure is not raised to a burst",
			[]ceiling.Bound{
				{Kind: ceiling.VolumeIOPS, IOPS: 18000},
				{Kind: ceiling.InstanceIOPS, IOPS: 19000},
				{Kind: ceiling.InstanceIOPS, IOPS: 76000, Burst: true},
			},
			"To exceed 18,000 IOPS: use more volumes, or more IOPS per volume (up to 19,000 IOPS, the next limit: instance IOPS).",
		},
		{
			"equal, with unlike remedies",
			[]ceiling.Bound{{Kind: ceiling.InstanceIOPS, IOPS: 20000}, {Kind: ceiling.VolumeIOPS, IOPS: 20000}},
			"To exceed 20,000 IOPS, raise both limits: use a larger instance; use more volumes, or more IOPS per volume.",
		},
		{
			"equal, with one remedy",
			[]ceiling.Bound{{Kind: ceiling.InstanceIOPS, IOPS: 20000}, {Kind: ceiling.InstanceRate, IOPS: 20000}},
			"To exceed 20,000 IOPS: use a larger instance (instance throughput allows no more either).",
		},
		{
			"equal as printed", // 19,999.9 IOPS reads 20,000, too
			[]ceiling.Bound{{Kind: ceiling.InstanceIOPS, IOPS: 19999.9}, {Kind: ceiling.VolumeIOPS, IOPS: 20000}},
			"To exceed 20,000 IOPS, raise both limits: use a larger instance; use more volumes, or more IOPS per volume.",
		},
	} {
		var o Outlook
		for i := range c.bounds {
			c.bounds[i].BW = units.Rate(c.bounds[i].IOPS) * 8192
		}
		o.SetCeiling(ceiling.Ceiling{Bounds: c.bounds})
		got := strings.Join(o.advice(&topology.Topology{}), "\n")
		if strings.ReplaceAll(got, ", 188 MiB/s", "") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}
