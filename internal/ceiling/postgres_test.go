package ceiling_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/result"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// The controlled test of 2026-11: fio and PostgreSQL 15.18 under one shim, S = 2.293 ms
// (docs/postgres.md).
func TestCommitsOfTheControlledTest(t *testing.T) {
	const s = units.Latency(2_293_000)
	for _, c := range []struct {
		clients             int
		low, high, measured float64
		outside             bool // CPU-bound
	}{
		{1, 291, 436, 338, false},
		{2, 291, 436, 433, false},
		{3, 436, 654, 545, false},
		{4, 581, 872, 835, false},
		{8, 1163, 1744, 1664, false},
		{16, 2326, 3489, 2849, false},
		{32, 4652, 6978, 6086, false},
		{64, 9304, 13956, 8673, true},
	} {
		m := ceiling.CommitsOf(c.clients, s, 0, 0)
		if math.Abs(float64(m.Low)-c.low) > 1 || math.Abs(float64(m.High)-c.high) > 1 {
			t.Errorf("%d clients: %v to %v, want %v to %v", c.clients, m.Low, m.High, c.low, c.high)
		}
		inside := c.measured >= float64(m.Low) && c.measured <= float64(m.High)
		if inside == c.outside {
			t.Errorf("%d clients: %v is inside: %v", c.clients, c.measured, inside)
		}
		if m.High > m.Bound {
			t.Errorf("%d clients: %v expected of at most %v", c.clients, m.High, m.Bound)
		}
	}
	if m := ceiling.CommitsOf(100, 1_858_000, 0, 0); math.Abs(float64(m.Bound)-53_821) > 1 {
		t.Errorf("100 clients at 1.858 ms: %v, want 53,821", m.Bound)
	}
	if m := ceiling.CommitsOf(0, 1, 0, 0); m != (ceiling.Commits{}) {
		t.Error(m)
	}
}

// On an emulated CPU of two cores (TestLabPostgres, 2026-11-22) one synced write took 3.2 ms, of
// which 1.02 ms were CPU; server and pgbench had the CPU times below in 15 s. Ranges by hand, for
// one client: 1,710 transactions of 5.456 and 3.117 ms leave 4.436 + 3.117 ms outside of the sync,
// so that 1 ÷ (1.5 × 3.2 + 7.553 ms) = 80.9 and 1 ÷ (3.2 + 4.436 ms) = 131 TPS are expected.
func TestCommitsOnASlowCPU(t *testing.T) {
	const s, inSync = units.Latency(3_200_000), units.Latency(1_020_000)
	for _, c := range []struct {
		clients, syncs  int
		tps             float64
		server, pgbench time.Duration
		low, high       float64
		limit           ceiling.Kind
	}{
		{1, 1710, 114, 9330 * time.Millisecond, 5330 * time.Millisecond, 80.9, 131, ceiling.CommitCPU},
		{2, 2824, 209, 11820 * time.Millisecond, 3925 * time.Millisecond, 146, 312.5, ceiling.CPU},
		{3, 2135, 222, 13200 * time.Millisecond, 3815 * time.Millisecond, 213.4, 460.8, ceiling.CPU},
		{4, 2308, 297, 14980 * time.Millisecond, 4108 * time.Millisecond, 299.5, 625, ceiling.CPU},
	} {
		probe := result.SyncProbe{Sync: s, CPU: inSync}
		p := &result.Postgres{Cores: 2, Before: probe, After: probe}
		step := &result.PgStep{
			Clients: c.clients, Threads: 1, Measured: 15 * time.Second, Transactions: uint64(15 * c.tps), TPS: units.IOPS(c.tps),
			Syncs: uint64(c.syncs), ServerCPU: c.server, PgbenchCPU: c.pgbench, Busy: 0.6,
		}
		both, longer := p.CommitCPU(step)
		m := ceiling.CommitsOf(c.clients, s, both, longer)
		if math.Abs(float64(m.Low)-c.low) > 0.01*c.low || math.Abs(float64(m.High)-c.high) > 0.01*c.high {
			t.Errorf("%d clients: %.1f to %.1f with %v of CPU, want %v to %v", c.clients, m.Low, m.High, both, c.low, c.high)
		}
		if c.tps < 0.99*float64(m.Low) || c.tps > float64(m.High) {
			t.Errorf("%d clients: %v is not in %v to %v", c.clients, c.tps, m.Low, m.High)
		}
		of := ceiling.OfPostgres(&topology.Topology{}, p, step)
		if b := of.Binding(); b == nil || b.Kind != c.limit || float64(b.IOPS) < c.tps {
			t.Errorf("%d clients: limited by %+v, want %s", c.clients, b, c.limit)
		}
	}
	// 0.1 ms of CPU in both changes what two clients are expected to reach by 1 %, and that only
	// below.
	m := ceiling.CommitsOf(2, 1_858_000, 100_000, 80_000)
	if math.Abs(float64(m.Low)-2/0.005674) > 0.1 || m.High != ceiling.CommitsOf(2, 1_858_000, 0, 0).High {
		t.Error(m)
	}
}

// guide is RAID10 of 8 gp3 for both roles, as in the guide.
func guide() *topology.Topology {
	var volumes []topology.Volume
	for range 8 {
		volumes = append(volumes, topology.Volume{
			Type: "gp3", Network: true, CountedIO: 256 * units.KiB, Merges: true,
			Sustained: topology.Limits{IOPS: 3000, Rate: 125 * units.MiBPerSec},
		})
	}
	return &topology.Topology{
		Arrays:  []topology.Array{{Name: "md0", Level: topology.RAID10, Chunk: 256 * units.KiB, Volumes: volumes}},
		Targets: []topology.Target{{Role: topology.Data, Array: "md0"}, {Role: topology.WAL, Array: "md0"}},
	}
}

func bound(t *testing.T, c ceiling.Ceiling, kind ceiling.Kind) ceiling.Bound {
	t.Helper()
	for _, b := range c.Bounds {
		if b.Kind == kind {
			return b
		}
	}
	t.Fatalf("no bound of %s in %+v", kind, c.Bounds)
	return ceiling.Bound{}
}

// The account of the report sample: the smallest binds and is named.
func TestPostgresBounds(t *testing.T) {
	p := &result.Postgres{Cores: 8, Before: result.SyncProbe{Write: 30_000, Sync: 1_828_000}}
	s := &result.PgStep{
		Clients: 100, Threads: 8, Measured: time.Minute, Transactions: 600_000, TPS: 10_000, Syncs: 20_000,
		WAL: 600_000 * 7920, Reads: 642_600, Writes: 275_400, ReadBytes: 642_600 * 8192, WriteBytes: 275_400 * 8192,
		ServerCPU: 120 * time.Second, PgbenchCPU: 60 * time.Second, Busy: 0.5,
	}
	c := ceiling.OfPostgres(guide(), p, s)
	for kind, want := range map[ceiling.Kind]float64{
		ceiling.CommitLatency: 53_821,          // 100 ÷ 1.858 ms
		ceiling.LogRate:       66_197,          // 500 MiB/s ÷ 7,920 B
		ceiling.DataVolumes:   18_462.0 / 1.53, // the mix 70/30 on RAID10
		ceiling.LogIOPS:       12_000 * 30,     // synced writes × commits per sync
		ceiling.CPU:           35_000,          // 8 cores less 1 of pgbench ÷ 0.2 ms
	} {
		got := float64(bound(t, c, kind).IOPS)
		if math.Abs(got-want) > 0.01*want {
			t.Errorf("%s: %.0f, want %.0f (%s)", kind, got, want, bound(t, c, kind).How)
		}
	}
	if b := c.Binding(); b == nil || b.Kind != ceiling.DataVolumes {
		t.Errorf("limited by %+v, want the data volumes", b)
	}
	if !strings.Contains(bound(t, c, ceiling.CommitLatency).How, "expected are") {
		t.Error(bound(t, c, ceiling.CommitLatency).How)
	}
	for _, b := range c.Bounds {
		if b.Kind == ceiling.LoadGenerator {
			t.Errorf("pgbench limits: %s", b.How)
		}
	}
}

// ext4 on the log's volume writes twice for each sync (1,008 writes for 500, 2026-11-26): the volume then
// carries half as many. Where commits do not wait, neither S nor the syncs of walwriter bound anything.
func TestPostgresLogBounds(t *testing.T) {
	probe := result.SyncProbe{Sync: 1_858_000, N: 500, Writes: 1008, Counted: true}
	p := &result.Postgres{Cores: 8, Before: probe}
	s := &result.PgStep{
		Clients: 16, Threads: 2, Measured: time.Minute, Transactions: 180_000, TPS: 3000, Syncs: 60_000, WAL: 180_000 * 293,
		ServerCPU: time.Minute, PgbenchCPU: time.Second,
	}
	if got, want := float64(bound(t, ceiling.OfPostgres(guide(), p, s), ceiling.LogIOPS).IOPS), 12_000/2.016*3; math.Abs(got-want) > 1 {
		t.Errorf("log IOPS %.0f, want %.0f", got, want)
	}
	for _, name := range []string{"fsync", "synchronous_commit"} {
		p.Settings = []result.PgSetting{{Name: name, Value: "off", Given: true}}
		for _, b := range ceiling.OfPostgres(guide(), p, s).Bounds {
			if b.Kind == ceiling.CommitLatency || b.Kind == ceiling.CommitCPU || b.Kind == ceiling.LogIOPS {
				t.Errorf("%s off: %s", name, b.How)
			}
		}
		if m := ceiling.CommitsIn(p, s); m != (ceiling.Commits{}) {
			t.Errorf("%s off: %+v", name, m)
		}
	}
	p.Settings = []result.PgSetting{{Name: "synchronous_commit", Value: "local", Given: true}}
	bound(t, ceiling.OfPostgres(guide(), p, s), ceiling.CommitLatency)
}

// Reads alone wait for no commit; an idle device gives no bound; nothing measured gives none at
// all.
func TestPostgresBoundsThatAreNot(t *testing.T) {
	p := &result.Postgres{Cores: 2, ReadOnly: true, Before: result.SyncProbe{Sync: 1_000_000}}
	s := &result.PgStep{
		Clients: 8, Threads: 2, Measured: time.Second, Transactions: 1000, TPS: 1000, Syncs: 1, ServerCPU: 500 * time.Millisecond,
		PgbenchCPU: 1900 * time.Millisecond, Busy: 1, Waits: []result.WaitShare{{Event: "Client:ClientRead", Share: 0.7}},
	}
	c := ceiling.OfPostgres(guide(), p, s)
	for _, b := range c.Bounds {
		if b.Kind == ceiling.CommitLatency || b.Kind == ceiling.DataVolumes {
			t.Errorf("%s: %s", b.Kind, b.How)
		}
	}
	if b := c.Binding(); b == nil || b.Kind != ceiling.LoadGenerator && b.Kind != ceiling.CPU {
		t.Errorf("limited by %+v", b)
	}
	bound(t, c, ceiling.LoadGenerator)
	if c := ceiling.OfPostgres(guide(), p, &result.PgStep{}); len(c.Bounds) > 0 {
		t.Error(c.Bounds)
	}
}
