package cli_test

import (
	"strings"
	"testing"

	"plimsoll/internal/lab"
	"plimsoll/internal/lab/labtest"
)

// check --probe names the one volume that gives a quarter of its peers' IOPS, by itself and with
// its figures, and none any more when that volume gives what the others do.
func TestLabProbe(t *testing.T) {
	g := labtest.Start(t, "slow-member")
	probe := func() string {
		t.Helper()
		r, err := g.Bash(t.Context(), "plimsoll check /data --probe --probe-time 2s")
		if err != nil || r.Code != 0 {
			t.Fatalf("%v, exit status %d\n%s%s", err, r.Code, r.Stdout, r.Stderr)
		}
		t.Log(r.Stdout)
		return strings.Join(strings.Fields(r.Stdout), " ")
	}
	var slow, other *lab.Volume
	for _, v := range g.Volumes {
		if v.Group == "slow" {
			slow = v
		} else {
			other = v
		}
	}
	want := "slow volume: " + strings.TrimPrefix(slow.Device, "/dev/") + " gives 7"
	if said := probe(); !strings.Contains(said, want) || !strings.Contains(said, slow.Serial+" 7") {
		t.Errorf("no %q", want)
	}
	writes := slow.Stats().Writes
	if err := slow.Set(other.Behaviour()); err != nil {
		t.Fatal(err)
	}
	if said := probe(); !strings.Contains(said, "no slow volume: each gives about ") {
		t.Error("a volume is slow though all give the same")
	}
	if n := slow.Stats().Writes; n != writes {
		t.Errorf("%d writes to a volume that was to be read only", n-writes)
	}
}
