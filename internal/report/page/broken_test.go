package page

import (
	"strings"
	"testing"
)

// A path that is wider than the terminal stays in one piece; any other word, and a path that nobody copies, is broken.
func TestPathsAreNotBroken(t *testing.T) {
	path := "a/" + strings.Repeat("folder/", 8) + "prefill-fio-jobs.sh:370"
	for text, want := range map[string]int{
		path:                          1,
		strings.Repeat("x", 90):       3,
		strings.Repeat("a/", 200):     14,
		"short":                       1,
		"words " + path + " in a row": 4,
	} {
		if got := broken(text, 30); len(got) != want {
			t.Errorf("%s: %d lines %q, want %d", text, len(got), got, want)
		}
	}
}
