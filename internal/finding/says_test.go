package finding

import (
	"testing"
	"time"

	"plimsoll/internal/units"
)

func TestSays(t *testing.T) {
	names := []string{"sda", "sdb", "sdc", "sdd"}
	got := Says("%v and %s in %v (%d), %v (%.2f) of %v, %v", 16384, "x", uint64(1200), 1200, 0.125, 0.125, 90*time.Second, names)
	want := "16,384 and x in 1,200 (1200), 12.5 % (0.12) of 90 s, sda, sdb and 2 more"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
	e := Seen("what", units.IOPS(3000), "at most 5", "where")
	if e != (Evidence{"what", "3,000", "at most 5", "where"}) {
		t.Errorf("%+v", e)
	}
}

// A command that is printed holds what is foreign as one word, of whatever type it is.
func TestShell(t *testing.T) {
	type name string
	const hostile = "/data; rm -rf $HOME"
	words := []any{hostile, name(hostile), []string{hostile}, 3, units.Bytes(4096)}
	got := Shell("a %s b %s c %s d %d e=%d", words...)
	const want = "a '/data; rm -rf $HOME' b '/data; rm -rf $HOME' c '[/data; rm -rf $HOME]' d 3 e=4096"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if words[0] != hostile {
		t.Errorf("the caller's words were changed: %v", words[0])
	}
}
