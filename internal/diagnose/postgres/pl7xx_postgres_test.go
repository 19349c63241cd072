package postgres

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/block"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/host"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// database is a sound run: 16 clients at a third of what commits allow, data larger than memory,
// everything durable.
func database(change func(*result.Postgres, *result.PgStep)) *diagnose.Case {
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
	return &diagnose.Case{Runs: []diagnose.Measurement{{
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
	if got := codesOf(finding.Judge(Rules(), database(nil), nil)); len(got) > 0 {
		t.Errorf("a sound run: %v", got)
	}
	rows := []struct {
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
			"PL712", func(_ *result.Postgres, s *result.PgStep) { s.Waits = waits("Lock:transactionid", 0.51) },
			func(_ *result.Postgres, s *result.PgStep) { s.Waits = waits("Lock:transactionid", 0.49) },
		},
		{
			"PL712", func(_ *result.Postgres, s *result.PgStep) { s.Waits = waits("LWLock:LockManager", 0.6) },
			func(_ *result.Postgres, s *result.PgStep) { s.Waits = waits("LWLock:BufferMapping", 0.6) },
		},
		{ // a full CPU is not pgbench's, whatever its sessions wait for
			"PL702", func(_ *result.Postgres, s *result.PgStep) {
				s.Busy, s.PgbenchCPU, s.Waits = 0.98, 433*time.Second, waits("Client:ClientRead", 0.59)
			},
			func(_ *result.Postgres, s *result.PgStep) {
				s.Busy, s.ServerCPU, s.Waits = 0.98, 6*time.Minute, waits("Client:ClientRead", 0.59)
			},
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
		{
			"PL707", func(p *result.Postgres, s *result.PgStep) { p.Cores, s.Busy = 20, 0.96 }, // of 8 cores server and pgbench have 3
			func(p *result.Postgres, s *result.PgStep) { p.Cores, s.Busy = 4, 0.96 },
		},
		{"PL710", func(p *result.Postgres, _ *result.PgStep) { p.Others = []string{"/data/main"} }, func(p *result.Postgres, _ *result.PgStep) { p.Others = nil }},
	}
	tried := map[finding.Code]bool{"PL711": true} // by TestAccountOfTransactions
	for _, c := range rows {
		tried[c.code] = true
	}
	for _, r := range Rules() {
		if !tried[r.Code] {
			t.Errorf("%s: no case fires it, and no near miss does not", r.Code)
		}
	}
	for _, c := range rows {
		if got := codesOf(finding.Judge(Rules(), database(c.fire), nil)); !slices.Equal(got, []finding.Code{c.code}) {
			t.Errorf("%s: found %v", c.code, got)
		}
		if got := codesOf(finding.Judge(Rules(), database(c.near), nil)); slices.Contains(got, c.code) {
			t.Errorf("%s fires on a near miss: %v", c.code, got)
		}
	}
}

// unflushed makes the log's drive one with a volatile cache, and says what it counted.
func unflushed(flushes uint64) *diagnose.Case {
	c := database(func(p *result.Postgres, _ *result.PgStep) {
		p.Before.N, p.Before.Counted, p.Before.Flushes = 5000, true, flushes
	})
	c.Host = &host.Facts{Kernel: "Linux version 6.1.0"}
	c.Topology = &topology.Topology{Targets: []topology.Target{{Role: topology.WAL, Device: "sda"}}, Tree: &block.Tree{
		Devices: map[string]*block.Device{"sda": {Name: "sda", Kind: block.Disk, Queue: block.Queue{WriteCache: "write back"}}},
	}}
	return c
}

// Syncs of the log that became no flush: no commit is durable, whatever its latency.
func TestCommitsWithoutFlushes(t *testing.T) {
	found := finding.Judge(Rules(), unflushed(0), nil)
	if len(found) != 1 || found[0].Code != "PL709" || found[0].Severity != finding.Invalid {
		t.Errorf("no flush: %+v", found)
	}
	old := unflushed(0)
	old.Runs[0].Postgres.Before.Counted = false
	for name, c := range map[string]*diagnose.Case{"flushes": unflushed(5000), "nobody counted": old} {
		if found := finding.Judge(Rules(), c, nil); len(found) > 0 {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// Walks settings and loads, whose truth is by construction: nothing is measured above 105 % of what is
// called a ceiling but as INVALID, and what holds is not called invalid.
func TestNothingAboveACeiling(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	above := 0
	for range 3000 {
		setting := []string{"", "fsync", "synchronous_commit"}[r.IntN(3)]
		waits, wrongS := setting == "", r.IntN(4) == 0
		c := database(func(p *result.Postgres, s *result.PgStep) {
			p.ReadOnly = r.IntN(4) == 0
			if setting != "" {
				p.Settings = []result.PgSetting{{Name: setting, Value: "off", Given: true}}
			}
			each := units.Latency(50_000 + r.Float64()*5e6)
			p.Before, p.After = result.SyncProbe{Sync: each}, result.SyncProbe{Sync: each}
			s.Clients, s.Threads = 1+r.IntN(100), 8
			tps, cpu := 100+r.Float64()*60_000, (0.02+0.9*r.Float64())*float64(p.Cores)
			s.Syncs = 300 // walwriter's
			if waits && !p.ReadOnly {
				tps = (0.1 + 0.9*r.Float64()) * float64(s.Clients) * 1e9 / float64(each)
				if wrongS { // the log was faster while pgbench ran
					tps *= 1 + 3*r.Float64()
				}
				s.Syncs = uint64(60 * tps / float64(1+s.Clients/2))
			}
			s.TPS, s.Transactions = units.IOPS(tps), uint64(60*tps)
			s.ServerCPU, s.PgbenchCPU = time.Duration(60*cpu*0.8*1e9), time.Duration(60*cpu*0.2*1e9)
			s.Busy = cpu / float64(p.Cores)
		})
		p := c.Runs[0].Postgres
		of := ceiling.OfPostgres(&topology.Topology{}, p, &p.Steps[0])
		c.Runs[0].Ceiling = &of
		b := of.Binding()
		if b == nil {
			t.Fatal("no bound")
		}
		share := float64(p.Steps[0].TPS / b.IOPS)
		invalid := slices.ContainsFunc(finding.Judge(Rules(), c, nil), func(f finding.Finding) bool {
			return f.Severity == finding.Invalid
		})
		if invalid != (share > 1.05) {
			t.Errorf("%s off, read only %t: %.3f of %s, invalid %t", setting, p.ReadOnly, share, b.Label(), invalid)
		}
		if share > 1.05 {
			above++
		}
		if (!waits || p.ReadOnly) && b.Kind == ceiling.CommitLatency {
			t.Errorf("%s off, read only %t: %s", setting, p.ReadOnly, b.How)
		}
	}
	if above < 50 {
		t.Errorf("only %d were above", above)
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

// The account of a database's gap is worked out by hand: its factors multiply to it, and what they
// do not explain is called so.
func TestAccountOfTransactions(t *testing.T) {
	commits := func(tps units.IOPS, cpu time.Duration) *diagnose.Case { // S 1.883 ms: c / S 8,497 and c / (3 S) 2,832 TPS with 16 clients
		return database(func(p *result.Postgres, s *result.PgStep) {
			p.Cores, s.Busy = 32, 0.2
			s.TPS, s.Transactions = tps, uint64(60*tps)
			s.ServerCPU, s.PgbenchCPU = time.Duration(s.Transactions)*cpu, 0
			s.Syncs, s.SyncTime = s.Transactions/4, time.Duration(s.Transactions/4)*2_691_429 // S is 0.7 of it
		})
	}
	waiting := func(event string) *diagnose.Case {
		return database(func(p *result.Postgres, s *result.PgStep) {
			p.ReadOnly, s.Busy, s.PgbenchCPU, s.ServerCPU, s.Syncs = true, 6.25/8, time.Minute, 105*time.Second, 0
			s.Waits = waits(event, 0.9)
		})
	}
	cpu := database(func(p *result.Postgres, s *result.PgStep) {
		// pgbench has 1 of 8 cores, others 3.5, the server 1.75 of the 3.5 that are left.
		p.ReadOnly, s.Busy, s.PgbenchCPU, s.ServerCPU, s.Syncs = true, 6.25/8, time.Minute, 105*time.Second, 0
	})
	for _, c := range []struct {
		name   string
		of     *diagnose.Case
		limit  ceiling.Kind
		want   map[finding.Cause]float64
		silent bool
	}{
		{"commits", commits(743.1, 0), ceiling.CommitLatency, map[finding.Cause]float64{
			finding.Grouping: 0.25, finding.SlowSync: 0.7, finding.IdleLog: 0.5,
		}, false},
		// Of 5.38 ms from sync to sync a sync takes 2.69 ms and the CPU of a commit 1 ms:
		// 2.69 ÷ 3.69 and 3.69 ÷ 5.38.
		{"commits that compute", commits(743.1, time.Millisecond), ceiling.CommitLatency, map[finding.Cause]float64{
			finding.Grouping: 0.25, finding.SlowSync: 0.7, finding.CommitCPU: 0.7291, finding.IdleLog: 0.6858,
		}, false},
		// While others sync nothing is lost: with 5 ms of CPU the 2.69 ms without a sync are its
		// own.
		{"commits that compute long", commits(743.1, 5*time.Millisecond), ceiling.CommitLatency, map[finding.Cause]float64{
			finding.Grouping: 0.25, finding.SlowSync: 0.7, finding.CommitCPU: 0.5,
		}, false},
		{"commits as expected", commits(2900, 0), ceiling.CommitLatency, nil, true},
		{"CPU", cpu, ceiling.CPU, map[finding.Cause]float64{finding.OtherLoad: 0.5, finding.Waits: 0.5}, false},
		{"row locks", waiting("Lock:tuple"), ceiling.CPU, map[finding.Cause]float64{finding.OtherLoad: 0.5, finding.RowLocks: 0.5}, false},
		{"nothing waits", waiting("CPU"), ceiling.CPU, map[finding.Cause]float64{finding.OtherLoad: 0.5, finding.IdleCPU: 0.5}, false},
	} {
		p := c.of.Runs[0].Postgres
		of := ceiling.OfPostgres(&topology.Topology{}, p, &p.Steps[0])
		of.Bounds = slices.DeleteFunc(of.Bounds, func(b ceiling.Bound) bool { return b.Kind != c.limit })
		c.of.Runs[0].Ceiling = &of
		found := slices.DeleteFunc(finding.Judge(Rules(), c.of, nil), func(f finding.Finding) bool { return f.Code != "PL711" })
		if c.silent {
			if len(found) > 0 {
				t.Errorf("%s: %s", c.name, found[0].Message)
			}
			continue
		}
		if len(found) != 1 || found[0].Account == nil {
			t.Fatalf("%s: %+v", c.name, found)
		}
		product := found[0].Account.Ceiling
		for _, f := range found[0].Account.Factors {
			product *= f.Factor
			want := c.want[f.Cause]
			if f.Cause == finding.Unexplained {
				want = 1
			}
			if f.Factor < 0.98*want || f.Factor > 1.02*want {
				t.Errorf("%s: %s × %.3f, want %.3f (%s)", c.name, f.Cause, f.Factor, want, f.How)
			}
			delete(c.want, f.Cause)
		}
		if measured := found[0].Account.Measured; len(c.want) > 0 || product < 0.999*measured || product > 1.001*measured {
			t.Errorf("%s: %v are missing; the factors leave %.1f of %.1f", c.name, c.want, product, measured)
		}
	}
	// What no factor shows stays unexplained: a log's bandwidth that is far away.
	p := cpu.Runs[0].Postgres
	a := databaseAccount(p, &p.Steps[0], &ceiling.Bound{Kind: ceiling.LogRate, IOPS: 20_000})
	if a.Unexplained() != 1 {
		t.Errorf("%+v", a)
	}
}
