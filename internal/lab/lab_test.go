package lab_test

import (
	"plimsoll/internal/lab/labtest"
	"strings"
	"testing"
)

func TestGuest(t *testing.T) {
	g := labtest.Start(t, "gp3x8-raid10")
	t.Logf("%+v", g.Started)
	r, err := g.Bash(t.Context(), `cat /proc/mdstat; grep -E "/data|/wal" /proc/mounts; ls -la /dev/disk/by-id; cat /sys/block/nvme*/queue/write_cache | sort | uniq -c; date; ls -la /dev/md; echo oops >&2; exit 7`)
	t.Logf("%+v %v", r, err)
	if r.Code != 7 || strings.TrimSpace(r.Stderr) != "oops" {
		t.Errorf("code %d, stderr %q", r.Code, r.Stderr)
	}
	t.Log(r.Stdout)
}
