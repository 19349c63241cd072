package postgres

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/suite"
	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

// Lines of pgbench 15.18 and of 14, which counts no failures.
func TestParseProgress(t *testing.T) {
	s, ok := parseProgress("progress: 5.0 s, 941.0 tps, lat 28.960 ms stddev 43.905, 0 failed")
	if !ok || s.At != 5*time.Second || s.TPS != 941 || s.Latency != 28_960_000 || s.StdDev != 43_905_000 {
		t.Errorf("%+v %v", s, ok)
	}
	if s, ok = parseProgress("progress: 1.0 s, 338.2 tps, lat 2.950 ms stddev 0.700"); !ok || s.TPS != 338.2 {
		t.Errorf("%+v %v", s, ok)
	}
	if s, ok = parseProgress("progress: 2.0 s, 0.0 tps, lat -nan ms stddev -nan, 7 failed"); !ok || s.Failed != 7 || s.Latency != 0 {
		t.Errorf("%+v %v", s, ok)
	}
	for _, line := range []string{"", "pgbench: error: x", "progress: 0.0 s, 1 tps, lat 1 ms stddev 1", "progress: 1e9 s"} {
		if s, ok := parseProgress(line); ok {
			t.Errorf("%q: %+v", line, s)
		}
	}
}

const summary15 = `pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: <builtin: TPC-B (sort of)>
number of transactions actually processed: 8460
number of failed transactions: 3 (0.035%)
latency average = 28.960 ms
latency stddev = 43.905 ms
initial connection time = 41.000 ms
tps = 941.250000 (without initial connection time)
`

func TestParseSummary(t *testing.T) {
	s, err := parseSummary(summary15)
	if err != nil || s.transactions != 8460 || s.failed != 3 || s.tps != 941.25 || s.mean != 28_960_000 || s.stddev != 43_905_000 {
		t.Errorf("%+v %v", s, err)
	}
	if s, err := parseSummary(strings.Replace(summary15, "without initial connection time", "including reconnection times", 1)); err != nil {
		t.Errorf("pgbench -C: %+v %v", s, err)
	}
	before14 := strings.Replace(summary15, "tps =", "tps = 900.5 (including connections establishing)\ntps =", 1)
	before14 = strings.Replace(before14, "without initial connection time", "excluding connections establishing", 1)
	if s, err := parseSummary(before14 + "tps = 7\nlatency average = 3 s\n"); err != nil || s.tps != 941.25 || s.mean != 28_960_000 {
		t.Errorf("pgbench 13: %+v %v", s, err)
	}
	if _, err := parseSummary("number of transactions actually processed: 0/100\ntps = 0"); err == nil {
		t.Error("no transaction is a figure")
	}
}

func TestReadLog(t *testing.T) {
	var l fio.Latency
	var ends []time.Duration
	each := func(ended, _ time.Duration) { ends = append(ends, ended) }
	err := readLog(strings.NewReader("0 1 2950 0 1700000000 123456\n1 1 failed 0 1700000000 123457\n1 2 1050 0 1700000001 2 0\n"), &l, each)
	if len(ends) != 2 || ends[1]-ends[0] != time.Second-123454*time.Microsecond {
		t.Errorf("ends %v", ends)
	}
	if err != nil || l.N != 2 || l.Max != 2950*time.Microsecond || l.Min != 1050*time.Microsecond {
		t.Errorf("%+v %v", l, err)
	}
	if p, ok := l.At(50); !ok || math.Abs(float64(p-1050*time.Microsecond)) > float64(20*time.Microsecond) {
		t.Error(p)
	}
	for _, bad := range []string{"1 2 3\n", "0 1 x 0 1 1\n", "0 1 -5 0 1 1\n", "0 1 9223372036854775807 0 1 1\n", "0 1 5 0 x 1\n"} {
		if readLog(strings.NewReader(bad), &l, each) == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func TestParseTools(t *testing.T) {
	found := parseTestFsync(`1 second per test
Compare file sync methods using one 8kB write:
        open_datasync                       346.366 ops/sec    2887 usecs/op
        fdatasync                           333.504 ops/sec    2998 usecs/op
        fsync_writethrough                              n/a
Compare file sync methods using two 8kB writes:
        open_datasync                       356.744 ops/sec    2803 usecs/op
`)
	if len(found) != 2 || found[1].Name != "fdatasync" || found[1].Mean != units.Latency(2_998_000) {
		t.Errorf("%+v", found)
	}
	for text, want := range map[string]time.Duration{
		"Per loop time including overhead: 85.31 ns": 85, "Average loop time including overhead: 24.60 ns": 25, "": 0,
	} {
		if got := parseTestTiming(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for text, want := range map[string]int{
		"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)": 15, "postgres (PostgreSQL) 19beta1": 19, "pgbench (PostgreSQL) 18.6": 18,
	} {
		if _, got, err := parseVersion(text); err != nil || got != want {
			t.Errorf("%q: %d %v", text, got, err)
		}
	}
	if _, _, err := parseVersion("mysqld 8.0"); err == nil {
		t.Error("MySQL has a version of PostgreSQL")
	}
}

func TestScaleAndSettings(t *testing.T) {
	for text, want := range map[string]int{"": 0, "auto": 0, "100": 100, "20GiB": 1356} {
		if got, err := scaleOf(text); err != nil || got != want {
			t.Errorf("--pg-scale %q: %d %v", text, got, err)
		}
	}
	for _, bad := range []string{"0", "-1", "1MiB", "much"} {
		if n, err := scaleOf(bad); err == nil {
			t.Errorf("--pg-scale %q: %d", bad, n)
		}
	}
	for _, bad := range []string{
		"listen_addresses", "Port", "archive_command", "", "a b", "shared_preload_libraries",
		"plperl.on_init",
	} {
		if checkSettings(map[string]string{bad: "x"}) == nil {
			t.Errorf("--pg-set %q is allowed", bad)
		}
	}
	if err := checkSettings(map[string]string{"wal_compression": "lz4"}); err != nil {
		t.Error(err)
	}
	p := &plan{memory: 32 * units.GiB, most: 10_000}
	if n := p.autoScale(10*time.Second, false); n != 50 { // 100 s at 2 s a unit
		t.Errorf("automatic scale %d", n)
	}
	if n := p.autoScale(0, false); n != int(64*units.GiB/unit) {
		t.Errorf("automatic scale %d, want twice the memory", n)
	}
}

func TestPgbenchCommand(t *testing.T) {
	l := load{clients: 100, threads: 8, runtime: time.Minute, Postgres: &suite.Postgres{Builtin: "select-only", Connect: true}}
	l.sampling = sampling(fastest(l.Postgres), l.runtime)
	got := strings.Join(l.argv("pgbench", "/run/log", ""), " ")
	want := "pgbench -n -M prepared -P 1 -l --log-prefix=/run/log -U pgbench -c 100 -j 8 --sampling-rate=0.0833 -T 60 -C -b select-only pgbench"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("progress: 5.0 s, 941.0 tps, lat 28.960 ms stddev 43.905, 0 failed")
	f.Add("0 1 2950 0 1700000000 123456")
	f.Add(summary15)
	f.Add("        fdatasync                           333.504 ops/sec    2998 usecs/op")
	f.Add("postgres (PostgreSQL) 15.18")
	bounded.Fuzz(f, func(t *testing.T, text string) {
		text = text[:min(len(text), 400)] // larger ones make a fuzzer slow and find no more
		if s, ok := parseProgress(text); ok && (s.At <= 0 || s.TPS < 0 || s.Latency < 0) {
			t.Errorf("%+v", s)
		}
		if s, err := parseSummary(text); err == nil && (s.transactions == 0 || s.tps <= 0 || math.IsInf(s.tps, 0)) {
			t.Errorf("%+v", s)
		}
		if ended, took, ok, err := logLine(text); ok && (err != nil || took < 0 || ended < 0) {
			t.Errorf("%v %v %v", ended, took, err)
		}
		for _, m := range parseTestFsync(text) {
			if m.Mean < 0 || m.Name == "" {
				t.Errorf("%+v", m)
			}
		}
		if parseTestTiming(text) < 0 {
			t.Error("a clock that runs backwards")
		}
		if _, major, err := parseVersion(text); err == nil && major < 0 {
			t.Error(major)
		}
		own, waited := cpuTicks([]byte(text))
		_ = own + waited
	})
}

// A program that ends with 0 and says nothing is no "<nil>" (review of 2026-11-26, M1).
func TestHowAServerEnded(t *testing.T) {
	if got := ended(nil); strings.Contains(got, "nil") || !strings.Contains(got, "ended with 0") {
		t.Error(got)
	}
	if got := ended(errors.New("exit status 1")); got != "exit status 1" {
		t.Error(got)
	}
}
