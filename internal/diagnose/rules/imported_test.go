package rules

import (
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/units"
)

// importedCases are results of which only fio's final figures are known, each with a neighbour that
// differs by what the rule looks at.
func importedCases() []labelled {
	const k4 = 4 * units.KiB
	of := func(w fio.Workload, options ...func(*diagnose.Measurement)) diagnose.Case {
		m := measured(1, w, options...)
		m.Result.Jobs = []fio.Job{m.Result.Total}
		m.Result.Jobs[0].Count, m.Result.Jobs[0].Error = 1, m.Result.Total.Error
		return diagnose.Case{Runs: []diagnose.Measurement{m}}
	}
	// sampled gives the writes of a minute n samples: 119 or 120 are whole.
	sampled := func(n uint64, mean, spread, lo, hi float64) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Result.Total.Write.IOPSSamples = fio.Samples{N: n, Mean: mean, StdDev: spread, Min: lo, Max: hi}
		}
	}
	latencies := func(slat, half, most time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			d := &m.Result.Total.Write
			d.Slat = fio.Latency{N: d.N, Mean: float64(slat)}
			d.Clat = fio.Latency{N: d.N, Mean: float64(half), Percentiles: []fio.Percentile{{P: 50, Value: half}, {P: 95, Value: most}}}
		}
	}
	bytes := func(d time.Duration, n units.Bytes) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Result.Measured = d
			m.Result.Total.Write = fio.Direction{Bytes: n, Runtime: d}
		}
	}
	slow := func(shares ...float64) func(*diagnose.Measurement) { // buckets up to 500 ms, 2 s and above
		return func(m *diagnose.Measurement) {
			m.Result.Total.Buckets = []fio.Bucket{
				{Upto: 500 * time.Millisecond, Value: shares[0]}, {Upto: 2 * time.Second, Value: shares[1]}, {Value: shares[2]},
			}
		}
	}
	mistimed := func(m *diagnose.Measurement) { m.Result.Total.Write.Lat = fio.Latency{N: 1, Mean: 20e3} }
	failed := func(m *diagnose.Measurement) { m.Result.Total.Error = 110 }
	through := func(engine string, sync int, depth int) fio.Workload {
		w := random(0, k4, 2, depth)
		w.Engine, w.Direct, w.Buffered, w.SyncEvery = engine, false, true, sync
		return w
	}
	direct, deep := random(0, k4, 1, 1), random(0, k4, 2, 32)
	deep.TimeBased, direct.Engine = false, "psync"
	unknown := random(0, k4, 1, 1)
	unknown.Direct = false
	rate := took(0, 1000, 1) // 1,000 a second for a minute
	us := time.Microsecond
	return []labelled{
		{"half seconds that are even", of(direct, rate, sampled(119, 1000, 50, 800, 1100)), "", "PL501"},
		{"half seconds that are not", of(direct, rate, sampled(119, 1000, 500, 10, 1900)), "PL403", "PL501"},
		{"even but for the first half second", of(direct, rate, sampled(119, 1000, 440, 950, 5500)), "", "PL501"},
		{"few I/Os that chance spreads", of(direct, took(0, 20, 1), sampled(119, 20, 8, 6, 40)), "", "PL501"},
		{"samples of a log without averaging", of(direct, rate, sampled(60000, 1, 0.4, 0, 2)), "", "PL501"},
		{"samples of a second", of(direct, rate, sampled(60, 1000, 50, 800, 1100)), "", "PL501"},
		{"ten half seconds without an I/O", of(direct, rate, sampled(110, 1091, 50, 900, 1200)), "PL415", "PL501"},
		{"ten samples fewer, each of them late", of(direct, rate, sampled(110, 1000, 50, 900, 1100)), "", "PL501"},
		{"three samples fewer", of(direct, rate, sampled(117, 1025, 50, 900, 1100)), "", "PL501"},

		{"buffered writes in 2 µs", of(through("psync", 0, 1), rate, latencies(0, 2*us, 9*us)), "PL419", "PL501"},
		{"buffered writes in 60 µs", of(through("psync", 0, 1), rate, latencies(0, 60*us, 90*us)), "", "PL501"},
		{"synced writes, themselves in 2 µs", of(through("psync", 1, 1), rate, latencies(0, 2*us, 9*us)), "", "PL501"},
		{"direct writes in 9 µs", of(direct, rate, latencies(0, 9*us, 12*us)), "", "PL501"},
		{"writes in 2 µs of which nobody says whether they were direct", of(unknown, rate, latencies(0, 2*us, 9*us)), "", "PL501"},

		{"libaio waits in its submission", of(through("libaio", 0, 32), took(0, 14000, 4.5), latencies(140*us, 4400*us, 5*time.Millisecond)), "PL407", "PL501"},
		{"libaio submits in 14 µs", of(through("libaio", 0, 32), took(0, 14000, 4.5), latencies(14*us, 4500*us, 5*time.Millisecond)), "", "PL501"},
		{"io_uring waits in its submission", of(through("io_uring", 0, 32), took(0, 14000, 4.5), latencies(140*us, 4500*us, 5*time.Millisecond)), "", "PL501"},
		{"a depth of 64 that failed", of(deep, took(0, 100, 1), failed), "PL402", "PL501"},
		{"a depth of 64 that was not reached", of(deep, took(0, 100, 1)), "PL407", "PL501"},

		{"32 GiB in 2.6 s, quoted without counts", of(deep, bytes(2600*time.Millisecond, 32*units.GiB)), "PL418", "PL407 PL501"},
		{"32 GiB in 20 s, quoted without counts", of(deep, bytes(20*time.Second, 32*units.GiB)), "", "PL407 PL501"},
		{"buckets of 105 %", of(direct, rate, slow(0.02, 0.02, 1.01)), "PL417", "PL501"},
		{"buckets above clat that is not true", of(direct, rate, mistimed, slow(0.02, 0.02, 0.96)), "", "PL501"},
	}
}

// TestImportedCases wants the findings that are listed with each case, and no others.
func TestImportedCases(t *testing.T) {
	for _, l := range importedCases() {
		found := map[finding.Code]bool{}
		for _, f := range Judge(&l.c, nil) {
			found[f.Code] = true
			if !strings.Contains(l.want+l.also, string(f.Code)) {
				t.Errorf("%s: %s: %s", l.name, f.Code, f.Message)
			}
			if strings.HasPrefix(f.Message, "10") && f.Code == "PL417" {
				t.Errorf("%s: %s", l.name, f.Message)
			}
		}
		for code := range strings.FieldsSeq(l.want) {
			if !found[finding.Code(code)] {
				t.Errorf("%s: no %s", l.name, code)
			}
		}
	}
}
