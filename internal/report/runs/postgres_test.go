package runs

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/report/page"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// aDatabase is a run of one scenario of PostgreSQL.
func aDatabase() *bundle.Bundle {
	step := result.PgStep{
		Clients: 16, Threads: 2, Measured: 3 * time.Second, Transactions: 8547, TPS: 2849, Syncs: 1120, WAL: 8547 * 293, Timed: 1,
		ServerCPU: time.Second, PgbenchCPU: time.Second / 2, Busy: 0.7,
		Waits: []result.WaitShare{{Event: "LWLock:WALWrite", Share: 0.8, N: 8}, {Event: "Evil:\x1b[31m<script>", Share: 0.2, N: 2}},
	}
	step.Latency.Mean = 5.6e6
	for i := range 3 {
		step.Seconds = append(step.Seconds, result.PgSecond{
			At: time.Duration(i+1) * time.Second, TPS: 2849, Latency: 5_600_000, P50: 5_000_000, P99: 9_000_000,
			Waits: map[string]int{"LWLock:WALWrite": 120, "Evil:\x1b[31m<script>": 40},
		})
	}
	p := &result.Postgres{
		Version: "15.18", Bin: "/usr/lib/postgresql/15/bin", User: "postgres", Cores: 2, Steps: []result.PgStep{step},
		Before: result.SyncProbe{Write: 27_000, Sync: 2_266_000, N: 1}, After: result.SyncProbe{Write: 27_000, Sync: 2_266_000, N: 1},
		Methods: []result.SyncMethod{{Name: "fdatasync", Mean: 2_998_000}}, MaxWAL: 1 << 30, CheckpointTimeout: 15 * time.Minute,
	}
	c := ceiling.OfPostgres(&topology.Topology{}, p, &p.Steps[0])
	s := suite.Scenario{ID: 17, Name: "pg-commit", Role: topology.WAL, Postgres: &suite.Postgres{Script: "select 1", Clients: []int{16}}}
	return &bundle.Bundle{
		Run: bundle.Run{State: bundle.Finished, Suite: suite.Suite{Name: "pg", Scenarios: []suite.Scenario{s}}},
		Scenarios: []bundle.Scenario{{Scenario: s, Ceiling: &c, Result: &result.Result{
			ID: 17, Name: "pg-commit", Role: topology.WAL, State: result.Done, Measured: 3 * time.Second, Postgres: p,
		}}},
	}
}

// A database's scenario is in every format, with its clients' transactions and what limits them;
// hostile names stay text.
func TestPostgresInEveryFormat(t *testing.T) {
	b := aDatabase()
	for format, want := range map[page.Format][]string{
		page.Text:     {"2,849 TPS", "commit latency   6,978  limit", "2,268 to 3,489", "7.63"},
		page.Markdown: {"2,849 TPS", "commit latency", "WALWrite 80.0 %"},
		page.HTML: {
			"2,849 TPS", "commit latency", "Transactions per second", "stacked: WALWrite 80.0 %",
			`"layers":[{"name":"WALWrite","sessions":[12,12,12]}`, `"p99":[9e+06,9e+06,9e+06]`,
		},
		page.CSV:   {"transactions (16 clients)", "commit latency", ",2849,"},
		page.JSON:  {`"postgres"`, `"wal_syncs"`},
		page.JUnit: {"pg-commit"},
	} {
		var out bytes.Buffer
		if err := page.Write(&out, format, Run(b), page.Options{Details: true, Width: 120}); err != nil {
			t.Error(err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s lacks %q", format, w)
			}
		}
		if format != page.JSON && (strings.Contains(out.String(), "\x1b[31m") || format == page.HTML && strings.Contains(out.String(), "[31m<script>")) {
			t.Errorf("%s: a hostile name came through", format)
		}
	}
}

// What commits allow is not expected where the CPU allows less (review of 2026-11-26, M6); what else the server
// counted is shown (M11).
func TestExpectedOfCommits(t *testing.T) {
	for name, c := range map[string]struct {
		s, cpu time.Duration
		want   string
	}{
		"a full CPU": {57 * time.Microsecond, 4200 * time.Millisecond, "at most, by CPU"},
		"a slow log": {2 * time.Millisecond, time.Second, "2,5"},
	} {
		b := aDatabase()
		p := b.Scenarios[0].Result.Postgres
		probe := result.SyncProbe{Sync: units.LatencyOf(c.s), N: 1}
		p.Before, p.After, p.Steps[0].ServerCPU = probe, probe, c.cpu
		p.Steps[0].Counted = map[string]uint64{"temp_bytes": 12345}
		table := stepsTable(&b.Scenarios[0])
		if got := fmt.Sprint(table.Rows); !strings.Contains(got, c.want) ||
			strings.Contains(got, "at most") != (name == "a full CPU") {
			t.Errorf("%s: %s", name, got)
		}
		if got := fmt.Sprint(postgresFacts(b, p)); !strings.Contains(got, "temp_bytes") || !strings.Contains(got, "12,345") {
			t.Error(got)
		}
	}
}

// The waits of a second add up to the number of sessions, with what is not named by itself as
// others, also where such an event is called others.
func TestLayersAddUp(t *testing.T) {
	step := result.PgStep{Clients: 10}
	names := []string{"LWLock:WALWrite", "others", "CPU", "Lock:tuple", "Lock:transactionid", "IO:WALSync", "IO:DataFileRead", "Client:ClientRead"}
	for i, name := range names {
		step.Waits = append(step.Waits, result.WaitShare{Event: name, N: 10 - i})
	}
	step.Seconds = []result.PgSecond{
		{Waits: map[string]int{"LWLock:WALWrite": 40, "others": 20, "IO:DataFileRead": 30, "Client:ClientRead": 10}},
		{}, // nothing was sampled
	}
	all := layersOf(&step)
	if len(all) != mostWaits+1 {
		t.Fatalf("%d layers", len(all))
	}
	want := []float64{4, 2, 0, 0, 0, 0, 4}
	for i, l := range all {
		if l.Sessions[0] != want[i] || !math.IsNaN(float64(l.Sessions[1])) {
			t.Errorf("%s: %v, want %v and nothing", l.Name, l.Sessions, want[i])
		}
	}
}
