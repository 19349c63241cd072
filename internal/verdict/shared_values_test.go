package verdict

import "testing"

// On a shared host a threshold that was judged is not; one that was not keeps its own reason.
func TestJudgedOnASharedHost(t *testing.T) {
	for _, c := range []struct {
		shared  string
		was     ThresholdResult
		outcome Outcome
		reason  string
	}{
		{"", ThresholdResult{Outcome: Met}, Met, ""},
		{"CI", ThresholdResult{Outcome: Met}, NotJudged, "the host is shared: CI"},
		{"CI", ThresholdResult{Outcome: Missed}, NotJudged, "the host is shared: CI"},
		{"CI", ThresholdResult{Outcome: NotJudged, Reason: "no reads"}, NotJudged, "no reads"},
		{"", ThresholdResult{Outcome: NotJudged, Reason: "no reads"}, NotJudged, "no reads"},
	} {
		if got := (Policy{SharedHost: c.shared}).Judge(c.was); got.Outcome != c.outcome || got.Reason != c.reason {
			t.Errorf("%q, %+v: %+v", c.shared, c.was, got)
		}
	}
}
