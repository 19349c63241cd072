package runs

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bundle"
	"plimsoll/internal/compare"
	"plimsoll/internal/fio"
	"plimsoll/internal/report/page"
	"plimsoll/internal/stats"
	"plimsoll/internal/units"
	"plimsoll/internal/verdict"
)

func someSeries() []compare.Series {
	at := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	return []compare.Series{{
		Key:    compare.Key{Suite: "db", Scenario: "=rand-write\x1b[2J", Group: "<b>db1", Layout: "raid0 4×gp3", Work: "random write 8 KiB"},
		Figure: compare.Figure{Name: "IOPS", Unit: compare.PerSecond},
		Points: []compare.Point{
			{Run: "one", At: at, Value: stats.Estimate{Center: 1000, Lo: 980, Hi: 1020, N: 5}, Rounds: 5, Share: .83, Verdict: "pass"},
			{Run: "two", At: at.AddDate(0, 0, 1), Invalid: "PL408", Verdict: "invalid", Value: stats.Estimate{Center: 770}},
			{Run: "three", At: at.AddDate(0, 0, 2), Value: stats.Estimate{Center: 500}, Rounds: 1, Facts: map[string]string{"kernel": "6.8"}},
		},
	}}
}

func TestHistoryFormats(t *testing.T) {
	for format, wanted := range map[page.Format][]string{
		page.Text: {
			"1,000  ± 2.0 %", "83.0 %", "770 INVALID", "▇▇▇▇▇▇▇▇▇▇▇▇", "note: one is left out",
			"=rand-write\ufffd[2J",
		},
		page.CSV:  {"'=rand-write", "2026-11-01T03:00:00Z", "6.8"},
		page.JSON: {`"schema_version": 3`, `"series"`},
		page.HTML: {`data-chart="trend"`, "&lt;b&gt;db1", "one is left out"},
	} {
		var out bytes.Buffer
		if err := page.Write(&out, format, History(someSeries(), []string{"one is left out"}), page.Options{Details: true, Width: 200}); err != nil {
			t.Fatal(format, err)
		}
		for _, want := range wanted {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: %q is not in\n%.2000s", format, want, out.String())
			}
		}
		if strings.Contains(out.String(), "\x1b") || format == page.HTML && strings.Contains(out.String(), "<b>db1") {
			t.Errorf("%s: hostile text went through", format)
		}
	}
	var out bytes.Buffer
	if err := page.Write(&out, page.Text, History(nil, nil), page.Options{Details: true}); err != nil || out.String() != "no runs\n" {
		t.Errorf("%q %v", out.String(), err)
	}
}

// What a scraper reads, in the form that Prometheus' text parser takes: a line is a comment or
// name{label="value",…} number.
func TestOpenMetrics(t *testing.T) {
	b := synthetic(20)
	b.Run.Topology.Host.Name = "db\"1\\\nx\x1b"
	for i := range 3 {
		b.Scenarios[i+1].Name = b.Scenarios[0].Name // as jobs of an import
	}
	var one, two bytes.Buffer
	if err := Export(&one, OpenMetrics, []*bundle.Bundle{b}); err != nil {
		t.Fatal(err)
	}
	if err := Export(&two, OpenMetrics, []*bundle.Bundle{b}); err != nil || !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two exports differ", err)
	}
	line := regexp.MustCompile(`^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+\{([a-z_]+="([^"\\]|\\["\\n])*",?)*\} [0-9.e+-]+|# EOF)$`)
	seen, done := map[string]bool{}, map[string]bool{}
	last := ""
	for l := range strings.Lines(one.String()) {
		l = strings.TrimSuffix(l, "\n")
		if !line.MatchString(l) {
			t.Errorf("not a metric: %q", l)
		}
		name, _, _ := strings.Cut(l, "{")
		if strings.HasPrefix(l, "#") {
			continue
		}
		if done[name] && name != last {
			t.Errorf("%s is not in one piece", name)
		}
		if of := l[:strings.LastIndex(l, " ")]; seen[of] {
			t.Errorf("two values of %s", of)
		} else {
			seen[of], done[name], last = true, true, name
		}
	}
	for _, want := range []string{
		"plimsoll_scenario_iops{", `host="db\"1\\ x�"`, "plimsoll_scenario_latency_seconds{", `quantile="0.99"`, `quantile="0.999"`, "plimsoll_scenario_ceiling_ratio{",
		`verdict="`, "plimsoll_run_timestamp_seconds{",
	} {
		if !strings.Contains(one.String(), want) {
			t.Errorf("%q is not in\n%.2000s", want, one.String())
		}
	}
	if !strings.HasSuffix(one.String(), "\n# EOF\n") {
		t.Error("no # EOF")
	}
}

// What earlier runs say of the newest one: the level that it lasts on over the one before, 1 where none lasts.
func TestChangesAsMetrics(t *testing.T) {
	exported := func(levels ...float64) map[string]float64 {
		var runs []*bundle.Bundle
		for i, level := range levels {
			b := synthetic(6)
			b.Scenarios = b.Scenarios[:1]
			b.Run.Created = b.Run.Created.AddDate(0, 0, i)
			b.Run.Finished = b.Run.Finished.AddDate(0, 0, i)
			b.Run.ID = b.Run.Created.Format("20060102T150405Z") + "-db-db1"
			s := &b.Scenarios[0]
			s.Verdict = verdict.Pass
			s.Result.Start = b.Run.Created
			level *= 1 + 0.004*float64(i%3-1) // as much as runs differ
			for _, d := range []*fio.Direction{&s.Result.Total.Read, &s.Result.Total.Write} {
				d.IOPS, d.BW = d.IOPS*units.IOPS(level), d.BW*units.Rate(level)
			}
			runs = append(runs, b)
		}
		var out bytes.Buffer
		if err := Export(&out, OpenMetrics, runs); err != nil {
			t.Fatal(err)
		}
		found := map[string]float64{}
		for l := range strings.Lines(out.String()) {
			if name, rest, ok := strings.Cut(l, "{"); ok {
				if _, as, ok := strings.Cut(rest, `standing="`); ok {
					name, _, _ = strings.Cut(as, `"`)
				}
				found[name], _ = strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndex(rest, " "):]), 64)
			}
		}
		return found
	}
	const change, least = "plimsoll_scenario_change_ratio", "plimsoll_scenario_least_seen_ratio"
	const expected = "plimsoll_scenario_expected_ratio"
	for name, c := range map[string]struct {
		levels   []float64
		lo, hi   float64
		standing compare.Standing
	}{
		"a step that lasts": {[]float64{1, 1, 1, 1, 1, 1, 1, 1, .7, .7, .7}, .69, .71, compare.Regression},
		"a drift": {
			[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, .99, .98, .97, .96, .951, .941, .932},
			.91, .95,
			compare.Regression,
		},
		"one that is over":    {[]float64{1, 1, 1, 1, 1, 1, 1, .7, .7, 1, 1}, 1, 1, compare.AsExpected},
		"none":                {[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, 1, compare.AsExpected},
		"too few, so nothing": {[]float64{1, 1}, 0, 0, compare.Unjudged},
	} {
		got := exported(c.levels...)
		if got[change] < c.lo || got[change] > c.hi {
			t.Errorf("%s: %v", name, got[change])
		}
		if c.lo > 0 && (got[least] < .01 || got[least] > .15) || c.lo == 0 && got[least] != 0 {
			t.Errorf("%s: the least seen is %v", name, got[least])
		}
		if got[string(c.standing)] != 1 {
			t.Errorf("%s: not %q: %v", name, c.standing, got)
		}
		// A change that stays is measured at its new level; what is as expected lies around the expected one.
		if c.lo > 0 && (got[expected] < c.lo-0.02 || got[expected] > c.hi+0.02) || c.lo == 0 && got[expected] != 0 {
			t.Errorf("%s: %v of what is expected", name, got[expected])
		}
	}
}

func TestCSVOfManyRuns(t *testing.T) {
	b := synthetic(20)
	b.Run.Labels = map[string]string{"=env": "+prod"}
	var out bytes.Buffer
	if err := Export(&out, page.CSV, []*bundle.Bundle{b, b}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	one := records(b)
	if err != nil || len(rows) != 1+2*len(one.Rows) || rows[1][slices.Index(rows[0], "labels")] != "'=env=+prod" {
		t.Errorf("%d rows, %v: %v", len(rows), err, rows[:min(2, len(rows))])
	}
	if err := Export(&out, page.Text, nil); err == nil {
		t.Error("text was written")
	}
}
