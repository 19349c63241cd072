package fleet

import (
	"slices"
	"testing"

	"plimsoll/internal/bundle"
	"plimsoll/internal/verdict"
)

// A host whose own run is INVALID says why; hosts with the same cause stand in one reason, so that
// the limit of three hides none of them. One that is fine, or lost, is no reason of this kind.
func TestHostsSayWhyTheyAreInvalid(t *testing.T) {
	busy := []string{"Other processes used 98.9 % of the CPU. (PL425)"}
	host := func(name string, v verdict.Verdict, reasons []string) bundle.FleetHost {
		return bundle.FleetHost{Name: name, State: bundle.HostDone, Verdict: v, Reasons: reasons}
	}
	got := []string{}
	for _, g := range byReason([]bundle.FleetHost{
		host("h1", verdict.Invalid, busy), host("h2", verdict.Pass, nil),
		host("h3", verdict.Invalid, []string{"Other processes used 91.0 % of the CPU. (PL425)"}),
		host("h4", verdict.Fail, []string{"Scenario 3 missed read.clat.p99 < 1ms."}), host("h5", verdict.Warn, nil),
		{Name: "h6", State: bundle.HostLost, Verdict: verdict.Invalid, Reasons: busy},
	}) {
		got = append(got, g.String())
	}
	want := []string{
		"h1 and h3 are INVALID: Other processes used 98.9 % of the CPU. (PL425)", "h4 is fail: Scenario 3 missed " +
			"read.clat.p99 < 1ms.",
		"h5 is warn.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
