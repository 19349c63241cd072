package compare

import (
	"strings"
	"testing"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// TestStatedFor: a result is judged by the scenario that asks for its work, whatever synchronous engine
// did it, and by none when a block size, a depth or a sync differs.
func TestStatedFor(t *testing.T) {
	etcd, err := suite.Builtin("etcd")
	if err != nil {
		t.Fatal(err)
	}
	db, err := suite.Builtin("db")
	if err != nil {
		t.Fatal(err)
	}
	load := func(bs units.Bytes, engine string, depth, sync int) *result.Result {
		w := fio.Workload{Sequential: true, WriteBS: bs, Engine: engine, Depth: depth, Jobs: 1, SyncEvery: sync, SyncCall: "fdatasync"}
		return &result.Result{Workloads: []fio.Workload{w}}
	}
	measured := load(2300, "sync", 1, 0)
	measured.Total.Sync.Lat = fio.Latency{N: 9, Mean: 1e6}
	for _, c := range []struct {
		name string
		of   *suite.Suite
		r    *result.Result
		want string
		why  string
	}{
		{"etcd's own", etcd, load(2300, "sync", 1, 1), "wal-fdatasync", ""},
		{"by psync", etcd, load(2300, "psync", 1, 1), "wal-fdatasync", ""},
		{"by its header, with syncs measured", etcd, measured, "wal-fdatasync", ""},
		{"by its header, without", etcd, load(2300, "sync", 1, 0), "", "sync: fdatasync every 1 and none"},
		{"of 4 KiB", etcd, load(4*units.KiB, "sync", 1, 1), "", "block size: 2.25 KiB and 4 KiB"},
		{"by libaio at a depth of 8", etcd, load(2300, "libaio", 8, 1), "", "depth: 1 and 8"},
		{"the heartbeat of db", db, load(8*units.KiB, "libaio", 1, 1), "sync-latency", ""},
		{"nothing known", etcd, &result.Result{}, "", "without its job"},
	} {
		s, why := StatedFor(c.of, c.r)
		got := ""
		if s != nil {
			got = s.Name
		}
		if got != c.want || !strings.Contains(why, c.why) || s != nil && why != "" {
			t.Errorf("%s: %q, %q, want %q, %q", c.name, got, why, c.want, c.why)
		}
	}
}
