package verdict

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/units"
)

// The half width is 18 % of what was measured: 90 of 500. A limit within 90 on either side cannot be
// told from it, whatever 18 % of the limit would be.
func TestNoiseIsOfWhatWasMeasured(t *testing.T) {
	of := func(half float64) diagnose.Measurement {
		r := long(500)
		r.IOPS = stats.Estimate{Center: 500, Lo: 500 - half, Hi: 500 + half, N: 20}
		return diagnose.Measurement{Result: r}
	}
	for _, c := range []struct {
		half  float64
		limit int
		want  Outcome
	}{
		{90, 410, NotJudged},
		{90, 409, Met},
		{90, 590, NotJudged},
		{90, 591, Missed}, // 18 % of 591 are 106
		{90, 605, Missed},
		{50, 501, Missed}, // 10 % is not yet noisy
		{51, 501, NotJudged},
	} {
		if got := Evaluate(threshold(fmt.Sprintf("write.iops >= %d", c.limit)), of(c.half), 0); got.Outcome != c.want {
			t.Errorf("500 ± %v against %d: %+v, want %s", c.half, c.limit, got, c.want)
		}
	}
	got := Evaluate(threshold("write.iops >= 590"), of(90), 0)
	if got.Reason != "the mean is known only to within ± 18.0 %, and the threshold lies inside that" {
		t.Error(got.Reason)
	}
	// A width is of use only with an interval.
	none := of(90)
	none.Result.IOPS.None = "one value"
	if got := Evaluate(threshold("write.iops >= 590"), none, 0); got.Outcome != Missed {
		t.Errorf("%+v", got)
	}
}

// A sync's figure of fio 3.33 is too high: what is below its limit all the same is met, with < and
// with <=; a limit from below says nothing.
func TestDoubtedSyncsAtBothOperators(t *testing.T) {
	r := long(500)
	r.Fio, r.Workloads = "fio-3.33", []fio.Workload{{Engine: "libaio", SyncEvery: 1, Depth: 1, Jobs: 1}}
	r.Total.Sync.Lat = fio.Latency{N: 1000, Mean: 2e6}
	for text, want := range map[string]Outcome{
		"write.sync.mean <= 2ms": Met, "write.sync.mean < 2ms": NotJudged, "write.sync.mean < 2.1ms": Met,
		"write.sync.mean <= 1.9ms": NotJudged, "write.sync.mean > 1ms": NotJudged, "write.sync.mean >= 1ms": NotJudged,
	} {
		if got := Evaluate(threshold(text), diagnose.Measurement{Result: r}, 0); got.Outcome != want {
			t.Errorf("%s: %+v, want %s", text, got, want)
		}
	}
}

// Means of directions are weighted by their counts; one without a count is one.
func TestMeansAreWeighted(t *testing.T) {
	r := &result.Result{State: result.Done, Total: fio.Job{
		Read:  fio.Direction{N: 30, IOPS: 3, Clat: fio.Latency{N: 30, Mean: 1e6, Max: 3 * time.Millisecond}},
		Write: fio.Direction{N: 10, IOPS: 1, Clat: fio.Latency{N: 10, Mean: 5e6, Max: 2 * time.Millisecond}},
		Trim:  fio.Direction{N: 1, IOPS: 1, Clat: fio.Latency{Mean: 22e6}},
	}}
	for text, want := range map[string]float64{
		"total.clat.mean < 9ms": 2.5e6, // without the trim: (30*1 + 10*5)/40 = 2; with one of 22: 102/41 = 2.488
		"read.clat.mean < 9ms":  1e6,
		"total.clat.max < 9ms":  3e6,
		"write.clat.max < 9ms":  2e6,
	} {
		if text == "total.clat.mean < 9ms" {
			want = (30*1e6 + 10*5e6 + 1*22e6) / 41
		}
		if got := Evaluate(threshold(text), diagnose.Measurement{Result: r}, 0); got.Measured.Base() < want-1 || got.Measured.Base() > want+1 {
			t.Errorf("%s: %+v, want %v", text, got, want)
		}
	}
	r.Total.Write.Clat.Max = 0
	if got := Evaluate(threshold("write.clat.max < 9ms"), diagnose.Measurement{Result: r}, 0); got.Reason != "write.clat.max was not recorded" {
		t.Errorf("%+v", got)
	}
}

// A bound gives each direction its part: 12,923 of 18,462 reads are 0.69998 of 144 MiB/s.
func TestCeilingOfADirection(t *testing.T) {
	split := ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 1000, BW: 8000, ReadIOPS: 750, WriteIOPS: 250}
	writes := ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 1000, BW: 8000, WriteIOPS: 1000}
	reads := ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 1000, BW: 8000, ReadIOPS: 1000}
	whole := ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 1000, BW: 8000}
	bytes := ceiling.Bound{Kind: ceiling.VolumeRate, BW: 8000}
	unknown := "the ceiling of %s is unknown"
	for _, c := range []struct {
		metric string
		b      ceiling.Bound
		want   float64
		err    string
	}{
		{"read.iops", split, 750, ""},
		{"write.iops", split, 250, ""},
		{"total.iops", split, 1000, ""},
		{"read.bw", split, 6000, ""},
		{"write.bw", split, 2000, ""},
		{"total.bw", split, 8000, ""},
		{"write.iops", writes, 1000, ""},
		{"read.iops", writes, 0, unknown},
		{"read.bw", writes, 0, unknown},
		{"read.iops", reads, 1000, ""},
		{"write.iops", reads, 0, unknown},
		{"read.iops", whole, 1000, ""},
		{"read.iops", ceiling.Bound{Kind: ceiling.VolumeIOPS, IOPS: 0.5}, 0.5, ""},
		{"write.bw", whole, 8000, ""},
		{"tps", whole, 1000, ""},
		{"write.bw", bytes, 8000, ""},
		{"total.iops", bytes, 0, unknown},
		{"write.lat.p99", split, 0, "%s has no ceiling: only iops and bw have"},
	} {
		limit := " > 1"
		switch {
		case strings.Contains(c.metric, "lat"):
			limit = " < 1ms"
		case strings.Contains(c.metric, "bw"):
			limit = " > 1MiB/s"
		}
		metric := threshold(c.metric + limit).Metric
		got, err := ceilingOf(metric, &ceiling.Ceiling{Bounds: []ceiling.Bound{c.b}})
		text := ""
		if err != nil {
			text = err.Error()
		}
		if want := strings.ReplaceAll(c.err, "%s", metric.String()); got != c.want || text != want {
			t.Errorf("%s of %+v: %v %q, want %v %q", c.metric, c.b, got, text, c.want, want)
		}
	}
	if _, err := ceilingOf(threshold("tps > 1").Metric, &ceiling.Ceiling{}); err == nil || err.Error() != "the ceiling is unknown" {
		t.Error(err)
	}
}

func TestTransactionsAreThoseOfThePeak(t *testing.T) {
	r := &result.Result{State: result.Done, Postgres: &result.Postgres{Steps: []result.PgStep{
		{Transactions: 9, TPS: 90, Latency: fio.Latency{N: 1, Mean: 1e6}},
		{Transactions: 9, TPS: 400, Latency: fio.Latency{N: 1, Mean: 4e6}},
		{Transactions: 9, TPS: 350, Latency: fio.Latency{N: 1, Mean: 9e6}},
		{TPS: 999},
	}}}
	for text, want := range map[string]float64{"tps > 1": 400, "latency.mean < 1s": 4e6} {
		if got, err := Measure(threshold(text).Metric, r); err != nil || got.Least != want || !got.Exact() {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	if _, err := Measure(threshold("tps > 1").Metric, &result.Result{}); err == nil || err.Error() != "no transaction ran" {
		t.Error(err)
	}
	if _, err := Measure(threshold("total.iops > 1").Metric, &result.Result{}); err == nil || err.Error() != "no I/O ran" {
		t.Error(err)
	}
}

// A real machine's latencies are judged and a simulated one's are not; scale 0 is a real one.
func TestScaleOfALimit(t *testing.T) {
	m := diagnose.Measurement{Result: long(500), Ceiling: volumes(510)}
	m.Total.Write.Lat = fio.Latency{N: 1, Mean: 16e6}
	for _, c := range []struct {
		text  string
		scale float64
		limit float64
		want  Outcome
	}{
		{"write.iops >= 1000", 0, 1000, Missed},
		{"write.iops >= 1000", 0.5, 500, Met},
		{"write.lat.mean < 20ms", 0, 20e6, Met},
		{"write.lat.mean < 20ms", 0.5, 20e6, NotJudged},
		{"write.iops >= 0.5 * ceiling", 0.5, 255, Met}, // the ceiling is that of the machine as it is
	} {
		got := Evaluate(threshold(c.text), m, c.scale)
		if got.Outcome != c.want || got.Limit.Base() != c.limit {
			t.Errorf("%s at %v: %+v, want %s of %v", c.text, c.scale, got, c.want, c.limit)
		}
	}
}

// named is a scenario that ran for so long, without an interval.
func named(id int, seconds float64) Scenario {
	r := &result.Result{State: result.Done, Measured: time.Duration(seconds * float64(time.Second))}
	return Scenario{Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: id, Name: "s"}, Result: r}}
}

func TestWhatWouldEarnAVerdict(t *testing.T) {
	waits := named(9, 1)
	waits.Result = nil
	for _, c := range []struct {
		runs []Scenario
		want string
	}{
		{[]Scenario{named(1, 2), named(2, 5), named(3, 3)}, "Nothing could be judged, because 5 s is too short: measure each scenario for 10 s or more."},
		{
			[]Scenario{named(1, 2), named(2, 60)},
			"Nothing could be judged: no limit is known (--volumes, --instance, a suite), and 1 of 2 scenarios were too short: 1 s (2 s).",
		},
		{
			[]Scenario{named(1, 2), named(2, 3), named(3, 4), named(4, 5), named(5, 6), waits},
			"Nothing could be judged: no limit is known (--volumes, --instance, a suite), and 5 of 6 scenarios were too short: 1 s (2 s), 2 s (3 s), 3 s (4 s) and 2 more.",
		},
		{
			[]Scenario{named(1, 60)},
			"Nothing could be judged: no limit is known (--volumes, --instance, a suite).",
		},
	} {
		if got := OfRun(c.runs, nil); got.Verdict != Measured || len(got.Reasons) != 1 || got.Reasons[0] != c.want {
			t.Errorf("got %+v\nwant %s", got, c.want)
		}
	}
}

// One judged scenario and five that are not: the sentence on those comes where there is room, with
// three of their names.
func TestWhatCouldNotBeJudgedIsSaid(t *testing.T) {
	met := ThresholdResult{Threshold: threshold("write.iops >= 1"), Outcome: Met}
	judged := named(1, 60)
	judged.Thresholds = []ThresholdResult{met, met}
	runs := []Scenario{judged, named(2, 60), named(3, 60), named(4, 2), named(5, 60), named(6, 60)}
	const why = "(neither a threshold nor a known limit)"
	open := "5 scenarios could not be judged: 2 s " + why + ", 3 s " + why + ", 4 s (too short) and 2 more."
	want := []string{"6 of 6 scenarios ran without a warning.", "All 2 thresholds that could be judged are met.", open}
	if got := OfRun(runs, nil); got.Verdict != Pass || !slices.Equal(got.Reasons, want) {
		t.Errorf("%q\n%q", got.Reasons, want)
	}
	four := OfRun(runs[:5], nil).Reasons[2]
	if want := "2 s " + why + ", 3 s " + why + ", 4 s (too short) and 5 s " + why; !strings.Contains(four, want) {
		t.Error(four)
	}
	warn := func(codes ...finding.Code) (fs []finding.Finding) {
		for _, c := range codes {
			fs = append(fs, finding.Finding{Code: c, Severity: finding.Warn, Message: string(c) + "."})
		}
		return fs
	}
	if got := OfRun(runs, warn("PL301", "PL302")); got.Verdict != Warn || len(got.Reasons) != 3 || got.Reasons[2] != open {
		t.Errorf("%+v", got)
	}
	got := OfRun(runs, warn("PL301", "PL302", "PL303", "PL304"))
	if want := []string{"PL301. (PL301)", "PL302. (PL302)", "PL303. (PL303)"}; !slices.Equal(got.Reasons, want) {
		t.Errorf("%q", got.Reasons)
	}
	judged.Thresholds = nil
	judged.Ceiling, judged.Result.IOPS = volumes(500), stats.Estimate{Center: 490, Lo: 480, Hi: 500, N: 9}
	if got := OfRun([]Scenario{judged}, nil); !slices.Equal(got.Reasons, []string{"1 of 1 scenarios ran without a warning."}) {
		t.Errorf("%+v", got)
	}
}

// What makes a scenario invalid or a machine fail comes into the summary of a run, too.
func TestReasonsOfARun(t *testing.T) {
	invalid, stopped := named(1, 60), named(2, 60)
	invalid.State, stopped.State = result.Invalid, result.Interrupted
	got := OfRun([]Scenario{invalid, stopped}, nil)
	want := []string{
		"Scenario 1 s is invalid: its figures must not be trusted.", "Scenario 2 s was interrupted, so it measured nothing.",
	}
	if got.Verdict != Invalid || !slices.Equal(got.Reasons, want) {
		t.Errorf("%+v", got)
	}
	invalid.Reasons = []string{"Reads came from memory.", "more"}
	if got := OfRun([]Scenario{invalid}, nil); got.Reasons[0] != "Scenario 1 s is invalid: Reads came from memory." {
		t.Errorf("%+v", got)
	}
	// Where nothing was judged, a warning of the machine is no verdict, and its failure is one.
	one := []Scenario{named(1, 60)}
	for s, want := range map[finding.Severity]Verdict{finding.Info: Measured, finding.Warn: Measured, finding.Fail: Fail, finding.Invalid: Invalid} {
		got := OfRun(one, []finding.Finding{{Code: "PL201", Severity: s, Message: "x."}})
		if got.Verdict != want || got.Warned != (s != finding.Info) {
			t.Errorf("%s: %+v, want %s", s, got, want)
		}
	}
	disabled := finding.Finding{Code: "PL201", Severity: finding.Fail, Message: "x.", Disabled: "known"}
	if got := OfRun(one, []finding.Finding{disabled}); got.Verdict != Measured || got.Warned {
		t.Errorf("%+v", got)
	}
}

func TestReasonOfADisabledRuleIsShort(t *testing.T) {
	p, err := ParsePolicy([]string{"PL208=" + strings.Repeat("x", 300)}, []string{"invalid"})
	if got := len([]rune(p.Disable["PL208"])); err != nil || got != 200 {
		t.Errorf("%d %v", got, err)
	}
	fail := []finding.Finding{{Code: "PL208", Severity: finding.Fail}}
	if strict, _ := ParsePolicy(nil, []string{"warning"}); !strict.Fails(Fail, fail) || p.Fails(Fail, fail) {
		t.Error("a failure is more than a warning")
	}
}

// What took longer than the limit is counted over all directions: 5 of 100 and 5 of 300 are 2.5 %.
func TestShareOverDirections(t *testing.T) {
	hist := func(fast, slow uint64) *fio.Hist {
		h := &fio.Hist{}
		h.Add(time.Millisecond, fast)
		h.Add(time.Second, slow)
		return h
	}
	of := func(h *fio.Hist) fio.Direction {
		return fio.Direction{N: h.Count(), IOPS: units.IOPS(h.Count()), Clat: fio.Latency{N: h.Count(), Mean: 1, Hist: h}}
	}
	r := &result.Result{Total: fio.Job{Read: of(hist(95, 5)), Write: of(hist(295, 5))}}
	m := threshold("total.clat.over(100ms) < 1%").Metric
	if got, err := Measure(m, r); err != nil || got.Least != 0.025 || !got.Exact() {
		t.Errorf("%v %v", got, err)
	}
}

// TestShareThatBoundsLeaveOpenIsNotJudged: of a p99 below the limit and a p99.5 above it follows 0.5 to 1 %,
// which neither meets nor misses 0.7 %; a limit outside of that is judged.
func TestShareThatBoundsLeaveOpenIsNotJudged(t *testing.T) {
	l := fio.Latency{N: 38400, Mean: 24.9e6, Percentiles: []fio.Percentile{
		{P: 99, Value: 900 * time.Millisecond}, {P: 99.5, Value: 1200 * time.Millisecond},
	}}
	m := diagnose.Measurement{Result: &result.Result{
		Measured: time.Minute, Total: fio.Job{Write: fio.Direction{N: 38400, IOPS: 640, Clat: l}},
	}}
	for text, want := range map[string]Outcome{
		"write.clat.over(1s) < 0.7%": NotJudged, "write.clat.over(1s) < 0.4%": Missed, "write.clat.over(1s) < 1.1%": Met,
		"total.clat.over(1s) < 0.7%": NotJudged, "write.clat.over(800ms) < 0.7%": Missed,
	} {
		if got := Evaluate(threshold(text), m, 0); got.Outcome != want || want == NotJudged && got.Reason == "" {
			t.Errorf("%s: %s, %s (%s)", text, got.Outcome, got.PrintMeasured(), got.Reason)
		}
	}
}
