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
