package machine

import (
	"strings"
	"testing"

	"plimsoll/internal/block"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/stats"
	"plimsoll/internal/topology"
)

// A headline has room for few lines: what the members gave must not stand behind eight that are loaded.
func TestProbeAnswersFirst(t *testing.T) {
	loaded := func(device string) diagnose.Touch {
		return diagnose.Touch{Device: device, Paired: stats.Paired{Pairs: 100, First: 1e6, Again: 1e6}}
	}
	part := loaded("nvme2n1")
	part.Claimed, part.Share, part.First = true, 0.4, 9e6
	const slow = "slow volume: nvme1n1 gives 70 IOPS."
	for _, c := range []struct {
		touches []diagnose.Touch
		want    string
	}{
		{[]diagnose.Touch{loaded("nvme1n1"), loaded("nvme2n1")}, ""},
		{[]diagnose.Touch{loaded("nvme1n1"), part}, " About 40.0 % (0.0 % to 0.0 %) of nvme2n1 is not loaded"},
		{[]diagnose.Touch{loaded("nvme1n1")}, " nvme1n1 is fully loaded"},
	} {
		r := ProbeResult{Answer: slow, Touches: c.touches}
		got := r.says()
		if !strings.HasPrefix(got, slow+c.want) || c.want == "" && got != slow {
			t.Errorf("%q, want %q", got, slow+c.want)
		}
	}
}

// A dataset that ZFS spoke of was checked, though no device is visible below it.
func TestUnseenIsWhereNothingAnswers(t *testing.T) {
	for _, c := range []struct {
		mount *block.Mount
		want  bool
	}{
		{nil, true},
		{&block.Mount{FS: "nfs4", Source: "server:/data"}, true},
		{&block.Mount{FS: "zfs", Source: "tank/pg"}, true}, // no zfs on PATH
		{&block.Mount{FS: "zfs", Source: "tank/pg", ZFS: &block.Dataset{Sync: "disabled", Pool: "tank"}}, false},
	} {
		seen := &topology.Topology{Targets: []topology.Target{{Path: "/data", Mount: c.mount}}}
		if err := Unseen(seen); (err != nil) != c.want {
			t.Errorf("%+v: %v", c.mount, err)
		}
	}
}
