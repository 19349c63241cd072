package cloud

import (
	"testing"

	"plimsoll/internal/units"
)

// The tiers of Azure's premium disks, as the vendor's table has them: P20 bursts on credits, P30 does not.
func TestTierFacts(t *testing.T) {
	premium, ok := TypeNamed("azure-premium")
	if !ok {
		t.Fatal("no azure-premium")
	}
	seen := map[string]TierFacts{}
	for _, f := range premium.Tiers {
		seen[f.Name] = f
	}
	for name, want := range map[string]TierFacts{
		"P20": {"P20", 512 * units.GiB, Limits{IOPS: 2300, Rate: 150 * units.MBPerSec}, Limits{IOPS: 3500, Rate: 170 * units.MBPerSec}},
		"P30": {"P30", units.TiB, Limits{IOPS: 5000, Rate: 200 * units.MBPerSec}, Limits{}},
	} {
		if seen[name] != want {
			t.Errorf("%+v, want %+v", seen[name], want)
		}
	}
	if gp3, _ := TypeNamed("gp3"); len(gp3.Tiers) > 0 {
		t.Error("gp3 has tiers")
	}
}
