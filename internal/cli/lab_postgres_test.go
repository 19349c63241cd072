package cli_test

import (
	"context"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/result"
)

// TestLabPostgres runs PostgreSQL on the guide's arrays at a tenth of their rates: with one to four
// clients synced commits come as group commit lets them, between ceiling.CommitsIn's Low and High,
// unless the emulated CPU has no more to give, and what limits is named.
func TestLabPostgres(t *testing.T) {
	g := built(t, guideLayout, "postgresql")
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	// One client comes last: the first load pays for translating what the emulated CPU has not run
	// yet.
	r, err := g.Bash(ctx, "chown postgres: /data && plimsoll run pg-commit --data /data --wal /wal --topology plimsoll.yaml "+
		"--pg-clients 4,3,2,1 --runtime 15s --pg-set shared_buffers=64MB --pg-set max_wal_size=256MB --progress plain; "+
		"code=$?; test $code = 0 -o $code = 3 -o $code = 4")
	if err != nil || r.Code != 0 {
		t.Fatalf("%v, exit status %d\n%s\n%s", err, r.Code, r.Stdout, r.Stderr)
	}
	t.Log(r.Stdout)
	b := fetched(t, g, "runs")
	p := b.Scenarios[0].Result.Postgres
	if p == nil || len(p.Steps) != 4 {
		t.Fatalf("%v %+v", b.Scenarios[0].Result.Reasons, p)
	}
	each, apart := p.S()
	for i := range p.Steps {
		step := &p.Steps[i]
		m := ceiling.CommitsIn(p, step)
		limits := ceiling.OfPostgres(&b.Run.Topology, p, step).Binding()
		both, longer := p.CommitCPU(step)
		t.Logf("%d clients: %v TPS of %v to %v, %.2f commits per sync of %v, S %v (%.0f %% apart, %v of it CPU), CPU of a commit %v, the longer %v "+
			"(server %v, pgbench %v in all), %.0f %% busy, limited by %s: %s", step.Clients, step.TPS, m.Low, m.High, step.CommitsPerSync(),
			step.SyncMean(), each, 100*apart, p.Before.CPU, both, longer, step.ServerCPU, step.PgbenchCPU, 100*step.Busy, limits.Kind, limits.How)
		within(t, step, m, limits)
	}
	do(t, g, "test -z \"$(ls -A /data /wal | grep -v :)\"; plimsoll array teardown --yes")
}

// within lets a step lie below the range only where the CPU is what limits.
func within(t *testing.T, step *result.PgStep, m ceiling.Commits, limits *ceiling.Bound) {
	t.Helper()
	if limits == nil {
		t.Fatalf("%d clients: nothing is named as the limit", step.Clients)
	}
	const doubt = 1.2 // as far as S may differ before and after (PL707)
	switch {
	case step.TPS > m.High*doubt:
		t.Errorf("%d clients: %v TPS, more than the %v to %v that are expected", step.Clients, step.TPS, m.Low, m.High)
	case step.TPS*doubt < m.Low && limits.Kind != ceiling.CPU && limits.Kind != ceiling.CommitCPU && limits.Kind != ceiling.LoadGenerator:
		t.Errorf("%d clients: %v TPS, want %v to %v, or CPU as the limit and not %s", step.Clients, step.TPS, m.Low, m.High, limits.Kind)
	}
	if step.Syncs == 0 || step.WALPerTx() < 288 || step.WALPerTx() > 298 {
		t.Errorf("%d clients: %d syncs, %v of WAL a commit", step.Clients, step.Syncs, step.WALPerTx())
	}
}
