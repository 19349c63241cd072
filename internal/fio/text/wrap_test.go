package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Each beginning of one of fio's lines holds a word by which a line is looked at; what a log of progress holds
// has none.
func TestStartWords(t *testing.T) {
	has := func(s string) bool {
		return slices.ContainsFunc(startWords, func(word string) bool { return strings.Contains(s, word) })
	}
	start := rapid.StringMatching(strings.ReplaceAll(textStarts.String(), `\b`, ""))
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			if s := start.Draw(t, "start"); textStarts.MatchString(s) && !has(s) {
				t.Errorf("%q would be overlooked", s)
			}
		}
	})
	if s := "Jobs: 1 (f=1): [r(1)][10.0%][r=1MiB/s][r=1 IOPS][eta 00m:10s]"; has(s) {
		t.Errorf("%q is looked at", s)
	}
}
