package fleet

import (
	"context"
	"strings"
	"testing"
)

// TestHostsHaveDirectories: two hosts whose runs would be kept in one directory are refused before
// anything starts: one host's figures would count twice.
func TestHostsHaveDirectories(t *testing.T) {
	long := strings.Repeat("a", 100)
	for _, same := range [][]string{
		{"ok@b", "ok-b"}, {"h:22", "h-22"}, {"[::1]", "1-"}, {".h", "h"}, {long + "1", long + "2"}, {"DB1", "db1"}, {"@", ":"},
	} {
		run := Run{Hosts: same, Out: t.TempDir()}
		_, _, err := run.Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), "would share the directory hosts/") {
			t.Errorf("%q: %v", same, err)
		}
	}
	if err := distinct([]string{"db1", "db2", "db1.example", "root@db1", "db1:22"}); err != nil {
		t.Error(err)
	}
}
