package array

import (
	"testing"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/stats"
)

// Seven pairs of reads on a busy machine say nothing: the exit code does not either.
func TestWarmedWaitsWhereItTells(t *testing.T) {
	for pairs, want := range map[int]bool{7: false, 400: true} {
		touch := diagnose.Touch{Paired: stats.Paired{Pairs: pairs, Share: 0.6, Low: 0.1, High: 1, Claimed: true}}
		if got := (&WarmedVolume{After: &touch}).waits(); got != want {
			t.Errorf("%d pairs: waits %v, want %v", pairs, got, want)
		}
		if got := (&WarmedVolume{Before: touch}).waits(); got != want {
			t.Errorf("%d pairs before: waits %v, want %v", pairs, got, want)
		}
	}
}
