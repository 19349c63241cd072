package diagnose

import (
	"slices"
	"testing"
	"time"

	"plimsoll/internal/finding"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// database is a sound run: 16 clients at a third of what commits allow, data larger than memory,
// everything durable.
func database(change func(*result.Postgres, *result.PgStep)) *Case {
	step := result.PgStep{
		Clients: 16, Threads: 8, Measured: time.Minute, Transactions: 120_000, TPS: 2000, Syncs: 15_000, WAL: 120_000 * 700, Images: 3000,
		Records: 600_000, Reads: 120_000, Writes: 120_000, Timed: 1, Busy: 0.5, PgbenchCPU: 60 * time.Second, ServerCPU: 120 * time.Second,
		Waits: []result.WaitShare{{Event: "IO:DataFileRead", Share: 0.6}, {Event: "LWLock:WALWrite", Share: 0.3}, {Event: "Client:ClientRead", Share: 0.1}},
	}
	for i := range 60 {
		step.Seconds = append(step.Seconds, result.PgSecond{At: time.Duration(i+1) * time.Second, TPS: 2000})
	}
	p := &result.Postgres{
		Version: "15.18", FS: "xfs", Scale: 4000, Database: 60 * units.GiB, Memory: 32 * units.GiB, Cores: 8, Apart: true,
		Before: result.SyncProbe{Write: 30_000, Sync: 1_828_000}, After: result.SyncProbe{Write: 30_000, Sync: 1_880_000},
		CheckpointTimeout: 15 * time.Minute, MaxWAL: 8 * units.GiB,
		Settings: []result.PgSetting{{Name: "fsync", Value: "on"}, {Name: "full_page_writes", Value: "on"}, {Name: "synchronous_commit", Value: "on"}},
	}
	if change != nil {
		change(p, &step)
	}
	p.Steps = []result.PgStep{step}
	return &Case{Runs: []Measurement{{
		Scenario: suite.Scenario{ID: 11, Name: "pg-tpcb", Postgres: &suite.Postgres{Builtin: "tpcb-like"}},
		Result:   &result.Result{ID: 11, Name: "pg-tpcb", State: result.Done, Measured: time.Minute, Postgres: p},
	}}}
}

func waits(event string, share float64) []result.WaitShare {
	return []result.WaitShare{{Event: event, Share: share}, {Event: "CPU", Share: 1 - share}}
}

func set(name, value string) func(*result.Postgres, *result.PgStep) {
	return func(p *result.Postgres, _ *result.PgStep) {
		p.Settings = []result.PgSetting{{Name: name, Value: value, Given: true}}
	}
}

func TestPostgresFindings(t *testing.T) {
	type change = func(*result.Postgres, *result.PgStep)
	if got := codesOf(Judge(database(nil), nil)); len(got) > 0 {
		t.Errorf("a sound run: %v", got)
	}
	for _, c := range []struct {
		code       finding.Code
		fire, near change
	}{
		{
			"PL701", func(_ *result.Postgres, s *result.PgStep) { s.TPS, s.Waits = 3000, waits("LWLock:WALWrite", 0.8) },
			func(_ *result.Postgres, s *result.PgStep) { s.TPS, s.Waits = 2700, waits("LWLock:WALWrite", 0.8) },
		},
		{
			"PL701", func(_ *result.Postgres, s *result.PgStep) { s.TPS, s.Waits = 3000, waits("IO:WALSync", 0.61) },
			func(_ *result.Postgres, s *result.PgStep) { s.TPS, s.Waits = 3000, waits("IO:WALSync", 0.59) },
		},
		{
			"PL702", func(_ *result.Postgres, s *result.PgStep) { s.Busy, s.Waits = 0.98, waits("Client:ClientRead", 0.59) },
			func(_ *result.Postgres, s *result.PgStep) { s.Busy, s.Waits = 0.85, waits("Client:ClientRead", 0.59) },
		},
		{
			"PL702", func(_ *result.Postgres, s *result.PgStep) { s.PgbenchCPU = 440 * time.Second },
			func(_ *result.Postgres, s *result.PgStep) { s.PgbenchCPU = 420 * time.Second },
		},
		{
			"PL703", func(_ *result.Postgres, s *result.PgStep) { s.WAL, s.Images = 120_000*7920, 114_000 },
			func(_ *result.Postgres, s *result.PgStep) { s.WAL, s.Images = 120_000*700, 5_000 },
		},
		{
			"PL704", func(p *result.Postgres, _ *result.PgStep) { p.OneMount = true },
			func(p *result.Postgres, _ *result.PgStep) { p.OneMount, p.Apart = true, false },
		},
		{
			"PL705", func(p *result.Postgres, s *result.PgStep) { p.Database, s.Reads = 16*units.GiB, 1000 },
			func(p *result.Postgres, s *result.PgStep) { p.Database, s.Reads = 16*units.GiB, 2000 },
		},
		{"PL706", fall(1400), fall(1600)},
		{
			"PL707", func(p *result.Postgres, _ *result.PgStep) { p.After.Sync = 2_300_000 },
			func(p *result.Postgres, _ *result.PgStep) { p.After.Sync = 2_150_000 },
		},
		{"PL707", func(_ *result.Postgres, s *result.PgStep) { s.Aborted = 1 }, func(_ *result.Postgres, s *result.PgStep) { s.Retried = 1 }},
		{
			"PL708", func(_ *result.Postgres, s *result.PgStep) { s.Requested, s.Timed = 2, 1 },
			func(_ *result.Postgres, s *result.PgStep) { s.Requested, s.Timed = 1, 1 },
		},
		{"PL709", set("fsync", "off"), set("wal_sync_method", "open_datasync")},
		{
			"PL709", set("full_page_writes", "off"),
			func(p *result.Postgres, s *result.PgStep) { set("full_page_writes", "off")(p, s); p.FS = "zfs" },
		},
		{"PL710", func(p *result.Postgres, _ *result.PgStep) { p.Others = []string{"/data/main"} }, func(p *result.Postgres, _ *result.PgStep) { p.Others = nil }},
	} {
		if got := codesOf(Judge(database(c.fire), nil)); !slices.Equal(got, []finding.Code{c.code}) {
			t.Errorf("%s: found %v", c.code, got)
		}
		if got := codesOf(Judge(database(c.near), nil)); slices.Contains(got, c.code) {
			t.Errorf("%s fires on a near miss: %v", c.code, got)
		}
	}
}

// fall is a run whose last half has another rate.
func fall(to units.IOPS) func(*result.Postgres, *result.PgStep) {
	return func(_ *result.Postgres, s *result.PgStep) {
		for i := 30; i < 60; i++ {
			s.Seconds[i].TPS = to
		}
	}
}

func codesOf(found []finding.Finding) []finding.Code {
	var codes []finding.Code
	for _, f := range found {
		codes = append(codes, f.Code)
	}
	return codes
}
