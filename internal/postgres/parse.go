package postgres

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/units"
)

// progress: 5.0 s, 941.0 tps, lat 28.960 ms stddev 43.905, 0 failed
var progressForm = regexp.MustCompile(
	`^progress: ([0-9.]+) s, ([0-9.]+) tps, lat ([0-9.]+|-?nan) ms stddev ([0-9.]+|-?nan)` +
		`(?:, lag [0-9.]+ ms)?(?:, ([0-9]+) failed)?(?:, .*)?$`,
)

// parseProgress reads a line that pgbench -P prints; false for any other.
func parseProgress(line string) (result.PgSecond, bool) {
	m := progressForm.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return result.PgSecond{}, false
	}
	at, tps := decimal(m[1]), decimal(m[2])
	if at <= 0 || at > 1e9 {
		return result.PgSecond{}, false
	}
	s := result.PgSecond{
		At: time.Duration(at * 1e9), TPS: units.IOPS(tps),
		Latency: units.Latency(decimal(m[3]) * 1e6), StdDev: units.Latency(decimal(m[4]) * 1e6),
	}
	s.Failed, _ = strconv.ParseUint(m[5], 10, 64) // not printed before 15
	return s, true
}

// decimal is a number, 0 for one that is none.
func decimal(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0
	}
	return v
}

// summary is what pgbench prints at its end.
type summary struct {
	transactions, failed, retried float64
	tps                           float64
	mean, stddev                  float64 // nanoseconds
}

// summaryForm is a line of it: what it is of, the figure, and its unit, or what the rate is without.
var summaryForm = regexp.MustCompile(
	`^([a-z ]+)(?:: | = )([0-9.]+)( ms| \((?:without initial connection time|including reconnection times|` +
		`excluding connections establishing)\))?`,
)

// parseSummary reads pgbench's standard output.
func parseSummary(out string) (summary, error) {
	var s summary
	for line := range strings.Lines(out) {
		m := summaryForm.FindStringSubmatch(strings.TrimSpace(line))
		// pgbench of before 14 prints a rate with the time to connect, too.
		if m == nil || m[3] == "" && !strings.HasPrefix(m[1], "number ") {
			continue
		}
		if into := map[string]*float64{
			"number of transactions actually processed": &s.transactions,
			"number of failed transactions":             &s.failed,
			"number of transactions retried":            &s.retried,
			"tps":                                       &s.tps,
			"latency average":                           &s.mean,
			"latency stddev":                            &s.stddev,
		}[m[1]]; into != nil {
			*into = decimal(m[2])
		}
	}
	s.mean, s.stddev = s.mean*1e6, s.stddev*1e6
	if s.transactions == 0 || s.tps == 0 {
		return s, fmt.Errorf("pgbench printed no figure of transactions")
	}
	return s, nil
}

// readLog adds the transactions of a file of pgbench -l: "client tx_no time_us script epoch_s
// epoch_us [lag] [retries]", and calls each with the time at which one ended, since 1970, and the
// time that it took. A transaction that failed has a word in place of its time and is passed over.
func readLog(r io.Reader, into *fio.Latency, each func(ended, took time.Duration)) error {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		ended, took, ok, err := logLine(lines.Text())
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if !ok {
			continue
		}
		if into.Hist == nil {
			into.Hist = &fio.Hist{}
		}
		into.Hist.Add(took, 1)
		into.N++
		into.Max = max(into.Max, took)
		if into.Min == 0 || took < into.Min {
			into.Min = took
		}
		each(ended, took)
	}
	return lines.Err()
}

func logLine(line string) (ended, took time.Duration, ok bool, err error) {
	field := strings.Fields(line)
	if len(field) < 6 {
		return 0, 0, false, fmt.Errorf("%.60q: want six fields", line)
	}
	if field[2] == "failed" || field[2] == "skipped" || field[2] == "serialization" || field[2] == "deadlock" {
		return 0, 0, false, nil
	}
	us, err := strconv.ParseUint(field[2], 10, 63)
	if err != nil || us > math.MaxInt64/1000 {
		return 0, 0, false, fmt.Errorf("%.60q: the third field is not a time", line)
	}
	at, err1 := strconv.ParseUint(field[4], 10, 33)
	fraction, err2 := strconv.ParseUint(field[5], 10, 20)
	if err1 != nil || err2 != nil {
		return 0, 0, false, fmt.Errorf("%.60q: the fifth and sixth fields are not a time", line)
	}
	ended = time.Duration(at)*time.Second + time.Duration(fraction)*time.Microsecond
	return ended, time.Duration(us) * time.Microsecond, true, nil
}

var (
	methodForm = regexp.MustCompile(
		`^\s+(open_datasync|fdatasync|fsync|fsync_writethrough|open_sync)\s+([0-9.]+) ops/sec(?:\s+([0-9]+) usecs/op)?`,
	)
	timingForm = regexp.MustCompile(`(?:Per|Average) loop time including overhead: ([0-9.]+) (ns|nsec)`)
)

// parseTestFsync reads the first comparison of pg_test_fsync, one 8 KiB write each. Methods that
// the system lacks are not in it.
func parseTestFsync(out string) []result.SyncMethod {
	var all []result.SyncMethod
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "Compare file sync methods using two") {
			break
		}
		if m := methodForm.FindStringSubmatch(line); m != nil {
			mean := decimal(m[3]) * 1e3
			if ops := decimal(m[2]); mean == 0 && ops > 0 { // before PostgreSQL 9.3
				mean = 1e9 / ops
			}
			all = append(all, result.SyncMethod{Name: m[1], Mean: units.Latency(mean)})
		}
	}
	return all
}

// parseTestTiming reads the time of one reading of the clock from pg_test_timing; 0 where it is not
// there.
func parseTestTiming(out string) time.Duration {
	if m := timingForm.FindStringSubmatch(out); m != nil {
		if ns := decimal(m[1]); ns < 1e12 {
			return time.Duration(ns + 0.5)
		}
	}
	return 0
}
