package text

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"db", "quick", "sync-latency", "only", "out"}
	for name, want := range map[string]string{
		"dbb": "db", "onyl": "only", "sync-latncy": "sync-latency", "QUICK": "", "zzz": "", "": "",
	} {
		if got := Nearest(name, words); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
