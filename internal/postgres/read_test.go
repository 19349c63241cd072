package postgres

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"plimsoll/internal/sys/bounded"
	"plimsoll/internal/units"
)

const printed15 = `pgbench (15.18 (Debian 15.18-0+deb12u1))
starting vacuum...end.
progress: 5.0 s, 11600.0 tps, lat 8.600 ms stddev 3.905, 0 failed
progress: 10.0 s, 12000.0 tps, lat 8.300 ms stddev 3.1, 0 failed
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1250
query mode: prepared
number of clients: 100
number of threads: 8
maximum number of tries: 1
duration: 10 s
number of transactions actually processed: 118000
number of failed transactions: 0 (0.000%)
latency average = 8.475 ms
latency stddev = 3.900 ms
initial connection time = 41.000 ms
tps = 11800.000000 (without initial connection time)
`

const fsync15 = `5 seconds per test
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in wal_sync_method preference order, except fdatasync is Linux's default)
        open_datasync                       249.578 ops/sec    4007 usecs/op
        fdatasync                           538.213 ops/sec    1858 usecs/op
`

func TestReadPgbench(t *testing.T) {
	if !Reads([]byte(printed15)) || !Reads([]byte(fsync15)) || Reads([]byte("Linux 6.1\n\nDevice r/s\n")) {
		t.Error("what is pgbench's and what is not")
	}
	r, err := Read([]byte(printed15))
	if err != nil || r.Clients != 100 || r.Threads != 8 || r.Scale != 1250 || r.TPS != 11800 || len(r.Seconds) != 2 ||
		r.Mean != 8_475_000 || r.Script != "<builtin: TPC-B (sort of)>" || r.Transactions != 118000 {
		t.Fatalf("%+v %v", r, err)
	}
	sync, err := Read([]byte(fsync15))
	if err != nil || len(sync.Methods) != 2 || r.With(sync) != nil {
		t.Fatalf("%+v %v", sync, err)
	}
	if s, _ := r.S(0); s != 1_858_000 {
		t.Errorf("S %v", s)
	}
	d, err := r.Demand("db")
	if err != nil || d.Streams[0].IOPS != 11800 || d.Streams[0].Threads != 100 || len(d.AtLeast) != 1 {
		t.Errorf("%+v %v", d, err)
	}
	// Only --progress, of a run that was stopped.
	lines, err := Read([]byte("progress: 5.0 s, 100.0 tps, lat 10.0 ms stddev 1.0\nprogress: 10.0 s, 300.0 tps, lat 4.0 ms stddev 1.0\n"))
	if err != nil || lines.TPS != 200 || lines.Mean != 7_000_000 {
		t.Errorf("%+v %v", lines, err)
	}
	if _, err := lines.Demand("db"); err == nil {
		t.Error("a demand of an unknown number of clients")
	}
	if _, err := sync.Demand("db"); err == nil {
		t.Error("a demand of pg_test_fsync")
	}
	reads, err := Read([]byte(strings.Replace(printed15, "TPC-B (sort of)", "select only", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reads.Demand("db"); err == nil {
		t.Error("reads commit nothing")
	}
	if _, err := Read([]byte("tps = x\n")); err == nil {
		t.Error("no figure is read")
	}
	again, _ := Read([]byte(printed15))
	if r.With(again) == nil {
		t.Error("two runs are one")
	}
}

// TestReadTransactions: a log of -l has each transaction: 4 clients of 10 ms for 2 s are 400 a
// second.
func TestReadTransactions(t *testing.T) {
	var b strings.Builder
	for n := 1; n <= 200; n++ {
		for client := range 4 {
			fmt.Fprintf(&b, "%d %d 10000 0 %d %d\n", client, n, 1700000000+n/100, n%100*10000)
		}
	}
	if !Reads([]byte(b.String())) {
		t.Fatal("not read")
	}
	r, err := Read([]byte(b.String()))
	if err != nil || r.Clients != 4 || r.Transactions != 800 || math.Abs(float64(r.TPS)-400) > 1 || r.Mean.String() == "" {
		t.Errorf("%+v %v", r, err)
	}
	more, _ := Read([]byte(b.String()))
	if err := r.With(more); err != nil || r.Clients != 8 || math.Abs(float64(r.TPS)-800) > 2 {
		t.Errorf("two threads' logs: %+v %v", r, err)
	}
	if _, err := Read([]byte("0 1 failed 0 1700000000 1\n")); err == nil {
		t.Error("no transaction ended")
	}
}

// TestExplain: the guide's S of 1.858 ms and 100 clients allow 17,940 to 26,911 commits per second.
func TestExplain(t *testing.T) {
	said := func(tps units.IOPS, clients int, s units.Latency) string {
		return strings.Join((&Report{TPS: tps, Clients: clients, Mean: 1e6}).Explain(s), "\n")
	}
	for _, c := range []struct {
		got  string
		want []string
	}{
		{said(11800, 100, 1_858_000), []string{"17,940 to 26,911", "never more than 53,821", "Something else is the limit", "43.8 %"}},
		{said(20000, 100, 1_858_000), []string{"S and the number of clients explain the measured rate", "37.2 commits", "commit_delay of 929 µs", "35,881"}},
		{said(60000, 100, 1_858_000), []string{"synchronous_commit"}},
		{said(300, 1, 1_858_000), []string{"1 client", "359 to 538", "Something else"}},
		{said(300, 1, 0), []string{"is not known", "--sync-latency"}},
	} {
		for _, w := range c.want {
			if !strings.Contains(c.got, w) {
				t.Errorf("%q is missing in\n%s", w, c.got)
			}
		}
	}
	if one := said(300, 1, 1_858_000); strings.Contains(one, "commit_delay") {
		t.Errorf("one client waits for nobody:\n%s", one)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(printed15))
	f.Add([]byte(fsync15))
	f.Add([]byte("0 1 2950 0 1700000000 123456\n1 1 failed 0 1700000000 123457\n"))
	bounded.Fuzz(f, func(t *testing.T, data []byte) {
		Reads(data)
		r, err := Read(data)
		if err != nil {
			return
		}
		if r.TPS < 0 || math.IsNaN(float64(r.TPS)) {
			t.Errorf("%v transactions per second", r.TPS)
		}
		r.Explain(0)
		if d, err := r.Demand("x"); err == nil && d.Streams[0].IOPS <= 0 {
			t.Errorf("%+v", d)
		}
	})
}

// Fewer branches than clients are said, of TPC-B only: the others change no branch.
func TestExplainRowLocks(t *testing.T) {
	for name, c := range map[string]struct {
		script         string
		scale, clients int
		want           bool
	}{
		"fewer branches": {"<builtin: TPC-B (sort of)>", 10, 50, true},
		"as many":        {"<builtin: TPC-B (sort of)>", 50, 50, false},
		"simple update":  {"<builtin: simple update>", 10, 50, false},
		"not known":      {"<builtin: TPC-B (sort of)>", 0, 50, false},
	} {
		r := &Report{Script: c.script, Scale: c.scale, Clients: c.clients, TPS: 2000}
		if got := strings.Contains(strings.Join(r.Explain(0), "\n"), "Row locks: 50 clients on 10 branches"); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Two runs are not made one: the head of the first would stand beside the figures of the last.
func TestTheFirstOfTwoRuns(t *testing.T) {
	second := strings.NewReplacer("11800.", "34059.", "8.475", "2.936", "clients: 100", "clients: 7").Replace(printed15)
	r, err := Read([]byte(printed15 + second))
	if err != nil || r.TPS != 11800 || r.Clients != 100 || r.Mean != 8475*units.Latency(1e3) || len(r.Seconds) != 2 {
		t.Errorf("%v TPS of %d clients, %v each, %d lines of progress, %v", r.TPS, r.Clients, r.Mean, len(r.Seconds), err)
	}
	if says := r.Explain(0); !strings.Contains(says[0], "the first of the text's 2 runs") {
		t.Errorf("nothing is said of the other: %q", says)
	}
}

// pg_test_fsync before PostgreSQL 9.3 printed no time of an operation.
func TestMethodsWithoutTimes(t *testing.T) {
	m := parseTestFsync("Compare file sync methods using one 8kB write:\n        fdatasync                  2000.000 ops/sec\n")
	if len(m) != 1 || m[0].Mean != units.Latency(500e3) {
		t.Errorf("%+v", m)
	}
}
