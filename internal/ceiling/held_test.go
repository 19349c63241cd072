package ceiling_test

import (
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/units"
)

// Beside a sustained figure stands the limit that holds then, beside a burst how long it lasts.
func TestHeld(t *testing.T) {
	bound := func(k ceiling.Kind, iops float64, burst time.Duration) ceiling.Bound {
		b := ceiling.Bound{Kind: k, Name: string(k), IOPS: units.IOPS(iops), Burst: burst > 0}
		if burst > time.Second {
			b.BurstFor = burst
		}
		return b
	}
	const unknown = time.Nanosecond
	for name, c := range map[string]struct {
		bounds    []ceiling.Bound
		now, then string
		lasts     time.Duration
	}{
		"nothing is known": {},
		"no burst":         {[]ceiling.Bound{bound(ceiling.VolumeIOPS, 3000, 0)}, "volume IOPS", "", 0},
		"two limits": {
			[]ceiling.Bound{bound(ceiling.InstanceIOPS, 3000, 0), bound(ceiling.VolumeIOPS, 3000.2, 0)},
			"instance and volume IOPS", "", 0,
		},
		"two limits, of which one allows a thousandth more": {
			[]ceiling.Bound{bound(ceiling.InstanceIOPS, 3000, 0), bound(ceiling.VolumeIOPS, 3003, 0)}, "instance IOPS", "", 0,
		},
		"two of one kind": {
			[]ceiling.Bound{bound(ceiling.VolumeIOPS, 3000, 0), bound(ceiling.VolumeIOPS, 3000, 0)}, "volume IOPS", "", 0,
		},
		"two limits once the burst is spent": {
			[]ceiling.Bound{
				bound(ceiling.InstanceIOPS, 3000, 0), bound(ceiling.VolumeRate, 3000, 0),
				bound(ceiling.InstanceIOPS, 9000, time.Hour),
				bound(ceiling.VolumeRate, 12000, time.Hour),
			},
			"instance IOPS (burst)", "instance IOPS and volume throughput", time.Hour,
		},
		"volumes first, then the instance": {
			[]ceiling.Bound{
				bound(ceiling.InstanceIOPS, 12000, 0), bound(ceiling.VolumeIOPS, 24000, 0),
				bound(ceiling.InstanceIOPS, 40000, 30*time.Minute),
			},
			"volume IOPS", "instance IOPS", 30 * time.Minute,
		},
		"a burst that ends nobody knows when": {
			[]ceiling.Bound{bound(ceiling.InstanceIOPS, 12000, 0), bound(ceiling.InstanceIOPS, 40000, unknown)},
			"instance IOPS (burst)", "instance IOPS", 0,
		},
		"a burst that what lasts is as large as": {
			[]ceiling.Bound{
				bound(ceiling.VolumeIOPS, 40000, 0), bound(ceiling.InstanceIOPS, 50000, 0),
				bound(ceiling.InstanceIOPS, 60000, time.Hour),
			},
			"volume IOPS", "", 0,
		},
	} {
		h := ceiling.Ceiling{Bounds: c.bounds}.Held()
		kind := func(b *ceiling.Bound) string {
			if b == nil {
				return ""
			}
			return b.Label()
		}
		if kind(h.Now) != c.now || kind(h.Then) != c.then || h.For != c.lasts {
			t.Errorf("%s: %s for %v, then %s; want %s for %v, then %s", name, kind(h.Now), h.For, kind(h.Then), c.now, c.lasts, c.then)
		}
	}
}
