package diagnose

import (
	"strings"
	"testing"

	"plimsoll/internal/units"
)

func TestProbeAnswer(t *testing.T) {
	members := func(alone, together []units.IOPS) (all []Probed) {
		for i := range alone {
			all = append(all, Probed{Device: "nvme" + string(rune('1'+i)) + "n1", Alone: alone[i], Together: together[i]})
		}
		return all
	}
	for _, c := range []struct {
		name            string
		alone, together []units.IOPS
		want            string
	}{
		{"the lab's slow member", []units.IOPS{298, 73, 300, 299}, []units.IOPS{298, 73, 300, 299}, "slow volume: nvme2n1 reaches 73 IOPS alone"},
		{"healthy", []units.IOPS{298, 295, 300, 299}, []units.IOPS{297, 293, 299, 296}, "no slow volume: each reaches about 298"},
		{"within the threshold", []units.IOPS{300, 243, 300, 300}, []units.IOPS{300, 243, 300, 300}, "no slow volume"},
		{"instance's cap", []units.IOPS{3000, 3010, 2990, 3000}, []units.IOPS{1500, 1490, 1510, 1500}, "shared limit: alone they are alike (median 3,000 IOPS), together they reach 6,000 of 12,000 IOPS. "},
		{"one behind together", []units.IOPS{3000, 3000, 3000, 3000}, []units.IOPS{2400, 2400, 600, 2400}, "nvme3n1 then falls behind"},
		{"two slow of four", []units.IOPS{300, 70, 300, 60}, []units.IOPS{300, 70, 300, 60}, "nvme2n1 reaches 70"},
		{"one", []units.IOPS{300}, []units.IOPS{300}, "no peers"},
		{"nothing", []units.IOPS{0, 0}, []units.IOPS{0, 0}, "no slow volume"},
	} {
		if got := ProbeAnswer(members(c.alone, c.together)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}
