package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/stats"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/units"
)

// quick are runs of milliseconds and runs that the page cache answered, each with neighbours that
// are neither.
func quick() []labelled {
	const k4 = 4 * units.KiB
	lasting := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) { m.Measured = d }
	}
	saw := func(read, written units.Bytes) func(*diagnose.Measurement) {
		return uses(telemetry.DeviceUse{Name: "vda", ReadBytes: read, WriteBytes: written})
	}
	through := func(engine string, reads float64) fio.Workload {
		w := random(reads, k4, 1, 1)
		w.Engine, w.Direct, w.Buffered = engine, false, true
		return w
	}
	of := func(w fio.Workload, options ...func(*diagnose.Measurement)) diagnose.Case {
		return diagnose.Case{Runs: []diagnose.Measurement{measured(1, w, options...)}}
	}
	halfOf := func(d time.Duration) func(*diagnose.Measurement) {
		return func(m *diagnose.Measurement) {
			m.Total.Read.Clat.Percentiles = []fio.Percentile{{P: 50, Value: d}}
		}
	}
	bySize := random(1, k4, 1, 1)
	bySize.TimeBased, bySize.Runtime = false, 0
	direct := random(1, k4, 1, 1)
	// 1,000 a second for a minute: 234.4 MiB
	reads, writes := took(1000, 0, 0.1), took(0, 1000, 0.1)
	return []labelled{
		{"all done in 4 ms", of(bySize, lasting(4*time.Millisecond), took(256000, 0, 0.004)), "PL418", "PL501"},
		{"direct reads in 60 ms, of which the samples saw a third", of(bySize, lasting(60*time.Millisecond), took(17000, 0, 0.06), saw(units.MiB, 0)), "PL418", "PL501"},
		{"a neighbour's writes in 60 ms", of(bySize, lasting(60*time.Millisecond), took(17000, 0, 0.06), saw(4*units.MiB, 2*units.MiB)), "PL418", "PL501"},
		{"buffered and done in 60 ms", of(through("psync", 1), lasting(60*time.Millisecond), took(170000, 0, 0.006), saw(units.MiB, 0), func(m *diagnose.Measurement) {
			m.Workloads[0].TimeBased = false
		}), "PL418", "PL501"},
		{"all done in a second", of(bySize, lasting(time.Second), reads), "PL418", "PL501"},
		{"nothing done in a millisecond", of(bySize, lasting(time.Millisecond)), "", ""},
		{"a minute that ended after 4 ms", of(direct, lasting(4*time.Millisecond), took(256000, 0, 0.004)), "PL402", "PL501"},
		{"buffered reads from memory", of(through("psync", 1), reads, saw(20*units.MiB, 0)), "PL419", "PL501"},
		{"buffered reads from the device", of(through("psync", 1), reads, saw(230*units.MiB, 0)), "", "PL501"},
		{"buffered reads of 2 µs, while others read", of(through("psync", 1), reads, halfOf(2*time.Microsecond), saw(230*units.MiB, 0)), "PL419", "PL501"},
		{"of 60 µs", of(through("psync", 1), reads, halfOf(60*time.Microsecond), saw(230*units.MiB, 0)), "", "PL501"},
		{"mapped reads from memory", of(through("mmap", 1), reads, saw(0, 0)), "PL419", "PL501"},
		{"buffered writes into memory", of(through("psync", 0), writes, saw(0, 100*units.MiB)), "PL419", "PL501"},
		{"buffered writes, part into memory", of(through("psync", 0), writes, saw(0, 160*units.MiB)), "PL419", "PL501"},
		{"buffered writes, a little yet dirty", of(through("psync", 0), writes, saw(0, 220*units.MiB)), "", "PL501"},
		{"direct reads of nothing, as PL401 tells", of(direct, reads, saw(0, 0)), "PL401", "PL501"},
		{"an engine that touches no file", of(through("null", 1), reads, saw(0, 0)), "PL401", "PL501"},
		{"a few buffered bytes", of(through("psync", 1), took(10, 0, 0.1), saw(0, 0)), "", "PL501"},
		{"buffered on devices that were not watched", of(through("psync", 1), reads), "", "PL501"},
	}
}

// Figures that are mostly those of memory are invalid. Where a smaller part is memory's, they are
// doubtful.
func TestPageCacheInvalidates(t *testing.T) {
	want := map[string]finding.Severity{
		"buffered reads of 2 µs, while others read": finding.Invalid,
		"buffered reads from memory":                finding.Invalid, "mapped reads from memory": finding.Invalid,
		"buffered writes into memory": finding.Invalid, "buffered writes, part into memory": finding.Warn,
	}
	for _, l := range quick() {
		for _, f := range Judge(&l.c, nil) {
			if f.Code != "PL419" {
				continue
			}
			if f.Severity != want[l.name] {
				t.Errorf("%s: %s: %s, want %s", l.name, f.Severity, f.Message, want[l.name])
			}
			delete(want, l.name)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// TestQuick holds these cases exactly, where the corpus as a whole may miss a few.
func TestQuick(t *testing.T) {
	for _, l := range quick() {
		found := map[finding.Code]bool{}
		for _, f := range Judge(&l.c, nil) {
			found[f.Code] = true
			if !strings.Contains(l.want+l.also, string(f.Code)) {
				t.Errorf("%s: %s: %s", l.name, f.Code, f.Message)
			}
		}
		for code := range strings.FieldsSeq(l.want) {
			if !found[finding.Code(code)] {
				t.Errorf("%s: no %s", l.name, code)
			}
		}
	}
}

// TestShortRunsMissNoDemand: what a second or nine miss of a rate is a warning, as no threshold is missed by so
// little (S8 of the third review by users: 190 of 200 IOPS in 2 s were NOT READY).
func TestShortRunsMissNoDemand(t *testing.T) {
	rated := random(1, 4*units.KiB, 1, 4)
	rated.ReadIOPS = 200
	known := stats.Estimate{Center: 190, Lo: 189, Hi: 191, N: 9}
	for _, c := range []struct {
		ran  time.Duration
		iops stats.Estimate
		want finding.Severity
	}{
		{2 * time.Second, stats.Estimate{Center: 190, None: "2 s"}, finding.Warn},
		{9900 * time.Millisecond, stats.Estimate{Center: 190, N: 1}, finding.Warn},
		{9900 * time.Millisecond, known, finding.Fail},
		{10 * time.Second, stats.Estimate{Center: 190, N: 1}, finding.Fail},
	} {
		rated.Runtime = c.ran
		m := measured(1, rated, runFor(c.ran), took(190, 0, 21))
		m.Result.IOPS = c.iops
		found := Judge(&diagnose.Case{Runs: []diagnose.Measurement{m}}, nil)
		i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.Code == "PL504" })
		if i < 0 || found[i].Severity != c.want {
			t.Errorf("%v, %+v: want a %v of PL504: %+v", c.ran, c.iops, c.want, found)
		}
	}
}
