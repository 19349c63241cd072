package diagnose

import (
	"testing"

	"plimsoll/internal/ceiling"
)

// A burst is spent of the resource that has it: another of the same kind, which never bursts, is not what
// it comes down to.
func TestLastingIsOfOneResource(t *testing.T) {
	io2 := ceiling.Bound{Kind: ceiling.VolumeIOPS, Name: "io2", IOPS: 3500}
	gp2 := ceiling.Bound{Kind: ceiling.VolumeIOPS, Name: "gp2", IOPS: 1500}
	burst := gp2
	burst.Burst, burst.IOPS = true, 3000
	of := func(b ...ceiling.Bound) *ceiling.Ceiling { return &ceiling.Ceiling{Bounds: b} }
	if got, ok := lasting(of(gp2, burst, io2)); !ok || got.Name != "gp2" {
		t.Errorf("%+v %v", got, ok)
	}
	if got, ok := lasting(of(burst, io2)); ok {
		t.Errorf("another resource: %+v", got)
	}
}
