package runs

import (
	"testing"

	"plimsoll/internal/verdict"
)

// A peak is one over all rows: where a row that must not be trusted has more, no tile is shown; and
// the run's limit has a name of its own beside the ceiling's.
func TestPeaksAndLimits(t *testing.T) {
	b := synthetic(10)
	names := func() map[string]string {
		all := map[string]string{}
		for _, tile := range Run(b).Head.Tiles {
			all[tile.What] = tile.Figure
		}
		return all
	}
	if names()["Peak IOPS"] == "" {
		t.Fatal("no peak although the largest row counts")
	}
	for i := range b.Scenarios {
		if b.Scenarios[i].Name == "mixed-stress" {
			b.Scenarios[i].Verdict = verdict.Invalid
		}
	}
	if peak := names()["Peak IOPS"]; peak != "" {
		t.Errorf("the largest row is INVALID, and the peak is %s", peak)
	}
	for i := range b.Scenarios {
		s := &b.Scenarios[i]
		r := newRow(s, i)
		got := limitedBy(b, s, r)
		if s.Verdict == verdict.Invalid && got != "" || r.Share >= atCeiling && s.Verdict != verdict.Invalid && got != "its ceiling" {
			t.Errorf("%s at %.2f of its ceiling is limited by %q", s.Name, r.Share, got)
		}
		if r.Share > 0 && r.Share < atCeiling && got == r.From {
			t.Errorf("%s is far below the ceiling from %s and said to be limited by it", s.Name, got)
		}
	}
}
