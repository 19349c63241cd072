package job

import (
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/workload"
)

// A recording names the five processes that moved most, and what could not be seen: to root it does
// not say to come back as root.
func TestWhatRecordSaysOfProcesses(t *testing.T) {
	const root, user = "not even by root", "run plimsoll as root"
	for name, c := range map[string]struct {
		blind, asRoot bool
		want          string
	}{
		"all is seen": {false, false, ""}, "root sees all": {false, true, ""}, "a user": {true, false, user}, "root in a container": {true, true, root},
	} {
		got := strings.Join(processLines(&workload.Recording{Blind: c.blind, AsRoot: c.asRoot}), "\n")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	six := slices.Repeat([]workload.Process{{Name: "db", PID: 7, Read: 2048.9}}, 6)
	if got := processLines(&workload.Recording{Processes: six}); len(got) != 5 || got[4] != "Process db (7): 2 KiB/s read, 0 B/s written." {
		t.Errorf("%q", got)
	}
}
