package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
)

// A database's scenario is in every format, with its clients' transactions and what limits them;
// hostile names stay text.
func TestPostgresInEveryFormat(t *testing.T) {
	step := result.PgStep{
		Clients: 16, Threads: 2, Measured: 3 * time.Second, Transactions: 8547, TPS: 2849, Syncs: 1120, WAL: 8547 * 293, Timed: 1,
		ServerCPU: time.Second, PgbenchCPU: time.Second / 2, Busy: 0.7,
		Waits: []result.WaitShare{{Event: "LWLock:WALWrite", Share: 0.8, N: 8}, {Event: "Evil:\x1b[31m<script>", Share: 0.2, N: 2}},
	}
	step.Latency.Mean = 5.6e6
	for i := range 3 {
		step.Seconds = append(step.Seconds, result.PgSecond{At: time.Duration(i+1) * time.Second, TPS: 2849, Latency: 5_600_000})
	}
	p := &result.Postgres{
		Version: "15.18", Bin: "/usr/lib/postgresql/15/bin", User: "postgres", Cores: 2, Steps: []result.PgStep{step},
		Before: result.SyncProbe{Write: 27_000, Sync: 2_266_000, N: 1}, After: result.SyncProbe{Write: 27_000, Sync: 2_266_000, N: 1},
		Methods: []result.SyncMethod{{Name: "fdatasync", Mean: 2_998_000}}, MaxWAL: 1 << 30, CheckpointTimeout: 15 * time.Minute,
	}
	c := ceiling.OfPostgres(&topology.Topology{}, p, &p.Steps[0])
	s := suite.Scenario{ID: 17, Name: "pg-commit", Role: topology.WAL, Postgres: &suite.Postgres{Script: "select 1", Clients: []int{16}}}
	b := &bundle.Bundle{
		Run: bundle.Run{State: bundle.Finished, Suite: suite.Suite{Name: "pg", Scenarios: []suite.Scenario{s}}},
		Scenarios: []bundle.Scenario{{Scenario: s, Ceiling: &c, Result: &result.Result{
			ID: 17, Name: "pg-commit", Role: topology.WAL, State: result.Done, Measured: 3 * time.Second, Postgres: p,
		}}},
	}
	for format, want := range map[Format][]string{
		TTY:      {"2,849 TPS", "> commit latency", "6,978 TPS, limit", "2,326 to 3,489", "7.63"},
		Markdown: {"2,849 TPS", "commit latency", "WALWrite 80.0 %"},
		HTML:     {"2,849 TPS", "commit latency", "Transactions a second"},
		CSV:      {"transactions (16 clients)", "commit latency", "2849.00"},
		JSON:     {`"postgres"`, `"wal_syncs"`},
		JUnit:    {"pg-commit"},
	} {
		var out bytes.Buffer
		if err := Write(&out, format, b, Options{Width: 120}); err != nil {
			t.Error(err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s lacks %q", format, w)
			}
		}
		if format != JSON && (strings.Contains(out.String(), "\x1b[31m") || format == HTML && strings.Contains(out.String(), "[31m<script>")) {
			t.Errorf("%s: a hostile name came through", format)
		}
	}
}
