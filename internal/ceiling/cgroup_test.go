package ceiling

import (
	"math"
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// TestCgroup: riops=500 on the device that the path lies on, and limits on one member of an array,
// which sets the pace for all.
func TestCgroup(t *testing.T) {
	guide := func(device string, l topology.Limits) *topology.Topology {
		topo := broken(topology.RAID10, 8)
		for i := range topo.Arrays[0].Volumes {
			topo.Arrays[0].Volumes[i].Device = "nvme" + string(rune('0'+i)) + "n1"
		}
		topo.Targets[0].Throttles = []topology.Throttle{{Device: device, Group: "/db", Limits: l}}
		return topo
	}
	mix := load("randrw", 8*k, 64, 4)
	mix.ReadShare = 0.7
	for name, c := range map[string]struct {
		device string
		limits topology.Limits
		load   fio.Workload
		kind   Kind
		want   float64
	}{
		"reads on the array":            {"md0", topology.Limits{ReadIOPS: 500}, load("randread", 8*k, 64, 4), CgroupIOPS, 500},
		"a mix: reads are 70 %":         {"md0", topology.Limits{ReadIOPS: 700}, mix, CgroupIOPS, 1000},
		"writes by bytes":               {"md0", topology.Limits{WriteRate: 8 * units.MiBPerSec}, load("randwrite", 8*k, 64, 4), CgroupRate, 1024},
		"reads on a member: an eighth":  {"nvme3n1", topology.Limits{ReadIOPS: 100}, load("randread", 8*k, 64, 4), CgroupIOPS, 800},
		"writes on a member: a quarter": {"nvme3n1", topology.Limits{WriteIOPS: 100}, load("randwrite", 8*k, 64, 4), CgroupIOPS, 400},
	} {
		b := Of(guide(c.device, c.limits), topology.Data, []fio.Workload{c.load}).Binding()
		if b == nil || b.Kind != c.kind || math.Abs(float64(b.IOPS)-c.want) > 0.01 || !strings.Contains(b.How, "/db") {
			t.Errorf("%s: %+v, want %s %.0f", name, b, c.kind, c.want)
		}
	}
	// A limit on the other direction is none.
	b := Of(
		guide("md0", topology.Limits{WriteIOPS: 5}),
		topology.Data,
		[]fio.Workload{load("randread", 8*k, 64, 4)},
	).Binding()
	if b == nil || b.Kind != VolumeIOPS {
		t.Errorf("%+v", b)
	}
}
