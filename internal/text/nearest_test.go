package text

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"db", "quick", "sync-latency", "only", "out"}
	if got := Nearest("1", []string{"0", "md5", "10"}); got != "10" {
		t.Errorf("1 is taken for %q, which has another letter in its place", got)
	}
	for name, want := range map[string]string{
		"dbb": "db", "onyl": "only", "sync-latncy": "sync-latency", "QUICK": "", "zzz": "", "": "",
	} {
		if got := Nearest(name, words); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
