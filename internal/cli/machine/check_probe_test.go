package machine

import (
	"strings"
	"testing"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/stats"
)

// A headline has room for few lines: what the members gave must not stand behind eight that are loaded.
func TestProbeAnswersFirst(t *testing.T) {
	loaded := func(device string) diagnose.Touch {
		return diagnose.Touch{Device: device, Paired: stats.Paired{Pairs: 100, First: 1e6, Again: 1e6}}
	}
	part := loaded("nvme2n1")
	part.Claimed, part.Share, part.First = true, 0.4, 9e6
	const slow, lone = "slow volume: nvme1n1 gives 70 IOPS", "A single volume has no peers to compare with."
	for want, r := range map[string]ProbeResult{
		slow + ". All 2 volumes are fully loaded.": {Answer: slow, Touches: []diagnose.Touch{loaded("nvme1n1"), loaded("nvme2n1")}},
		slow + ". About 40":                        {Answer: slow, Touches: []diagnose.Touch{loaded("nvme1n1"), part}},
		"fully loaded (first reads 1 ms, others 1 ms). " + lone: {
			Array: "nvme1n1", Answer: lone, Touches: []diagnose.Touch{loaded("nvme1n1")},
		},
	} {
		if got := r.says(); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
