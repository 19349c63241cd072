package rules

import (
	"testing"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/units"
)

// A scenario during which a drive timed out is no measurement; others of the run are.
func TestTimeouts(t *testing.T) {
	line := host.Event{Kind: host.Timeout, Device: "nvme3", Count: 2, Text: "nvme nvme3: I/O 64 QID 1 timeout, completion polled"}
	late := measured(1, random(1, 8*units.KiB, 4, 16), took(2990, 0, 21.4))
	late.Timeouts = []host.Event{line}
	sound := measured(2, random(1, 8*units.KiB, 4, 16), took(2990, 0, 21.4))
	c := &diagnose.Case{Runs: []diagnose.Measurement{late, sound}}
	fired := 0
	for _, f := range Judge(c, nil) {
		if f.Code != "PL423" {
			continue
		}
		fired++
		if f.Severity != finding.Invalid || len(f.Scenarios) != 1 || f.Scenarios[0] != 1 || f.Evidence[1].Found != line.Text {
			t.Errorf("%+v", f)
		}
	}
	if fired != 1 {
		t.Errorf("fired %d times, want once", fired)
	}
}
