package verdict

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/fio/bins"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func TestWords(t *testing.T) {
	for v, want := range map[Verdict]string{
		Measured: "MEASURED", Pass: "READY", Warn: "READY WITH WARNINGS", Fail: "NOT READY", Invalid: "INVALID", "": "NOT JUDGED",
	} {
		if got := v.Word(); got != want {
			t.Errorf("%q: got %s, want %s", v, got, want)
		}
	}
}

func TestVerdictOfTheWorst(t *testing.T) {
	done := &result.Result{State: result.Done}
	missed := ThresholdResult{Threshold: threshold("write.iops >= 540"), Outcome: Missed}
	met := []ThresholdResult{{Threshold: threshold("write.iops >= 540"), Outcome: Met}}
	skipped := ThresholdResult{Outcome: NotJudged, Reason: "no write ran"}
	on := func(id int, s finding.Severity) finding.Finding {
		return finding.Finding{Code: "PL999", Severity: s, Scenarios: []int{id}}
	}
	for name, c := range map[string]struct {
		r       *result.Result
		targets []ThresholdResult
		fs      []finding.Finding
		want    Verdict
	}{
		"nothing to judge by":         {done, nil, nil, Measured},
		"a met threshold":             {done, met, nil, Pass},
		"not run":                     {nil, nil, []finding.Finding{on(7, finding.Fail)}, ""},
		"waiting":                     {&result.Result{State: result.Waiting}, nil, nil, ""},
		"invalid result beats all":    {&result.Result{State: result.Invalid}, nil, []finding.Finding{on(7, finding.Fail)}, Invalid},
		"interrupted":                 {&result.Result{State: result.Interrupted}, nil, nil, Invalid},
		"target missed":               {done, []ThresholdResult{missed}, nil, Fail},
		"target skipped":              {done, []ThresholdResult{skipped}, nil, Measured},
		"warning":                     {done, met, []finding.Finding{on(7, finding.Warn), on(7, finding.Info)}, Warn},
		"a warning, unjudged":         {done, nil, []finding.Finding{on(7, finding.Warn)}, Measured},
		"disabled":                    {done, met, []finding.Finding{{Code: "PL999", Severity: finding.Fail, Scenarios: []int{7}, Disabled: "known"}}, Pass},
		"info":                        {done, met, []finding.Finding{on(7, finding.Info)}, Pass},
		"error":                       {done, nil, []finding.Finding{on(7, finding.Fail)}, Fail},
		"invalid finding beats miss":  {done, []ThresholdResult{missed}, []finding.Finding{on(7, finding.Invalid)}, Invalid},
		"a finding on another":        {done, met, []finding.Finding{on(8, finding.Fail)}, Pass},
		"a finding on the machine":    {done, met, []finding.Finding{{Code: "PL201", Severity: finding.Fail}}, Pass},
		"a miss beats a warning here": {done, []ThresholdResult{missed}, []finding.Finding{on(7, finding.Warn)}, Fail},
	} {
		m := Scenario{Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: 7}, Result: c.r}, Thresholds: c.targets}
		if got := Of(m, c.fs); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRunVerdictGivesThreeReasonsWorstFirst(t *testing.T) {
	runs := []Scenario{
		{Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: 1, Name: "sync"}, Result: &result.Result{State: result.Done}}, Thresholds: []ThresholdResult{
			{Threshold: threshold("write.sync.p99 < 3ms"), Outcome: Missed, Measured: suite.Value{Latency: 4.2e6}},
		}},
		{Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: 2, Name: "mixed"}, Result: &result.Result{State: result.Done}}},
		{Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: 3, Name: "later"}}},
	}
	findings := []finding.Finding{
		{Code: "PL401", Severity: finding.Invalid, Scenarios: []int{2}, Message: "Reads never reached the drives."},
		{Code: "PL201", Severity: finding.Fail, Message: "md0 is degraded."},
		{Code: "PL405", Severity: finding.Warn, Scenarios: []int{1}, Message: "The rate fell."},
		{Code: "PL405", Severity: finding.Warn, Scenarios: []int{2}, Message: "The rate fell again."},
	}
	got := OfRun(runs, findings)
	want := []string{
		"Reads never reached the drives. (PL401)",
		"Scenario 1 sync missed its threshold write.sync.p99 < 3ms: it measured 4.2 ms.",
		"md0 is degraded. (PL201)",
	}
	if got.Verdict != Invalid || !slices.Equal(got.Reasons, want) {
		t.Errorf("got %+v\nwant %s %q", got, Invalid, want)
	}
	if got := OfRun(runs, findings[2:]); got.Verdict != Fail || got.Reasons[1] != "The rate fell. (PL405, the first of 2 scenarios)" {
		t.Errorf("got %+v", got)
	}
	wide := []finding.Finding{
		{Code: "PL208", Severity: finding.Warn, Message: "/ is mounted with discard."},
		{Code: "PL409", Severity: finding.Warn, Scenarios: []int{1, 2}, Message: "The cores are full."},
	}
	runs[0].Thresholds[0].Outcome = Met
	if got := OfRun(runs, wide); got.Verdict != Warn || got.Reasons[0] != "The cores are full. (PL409, 2 scenarios)" {
		t.Errorf("what concerns more scenarios comes first: got %+v", got)
	}
	ready := []string{
		"2 of 3 scenarios ran without a warning.", "The threshold that could be judged is met.",
		"1 scenario could not be judged: 2 mixed (neither a threshold nor a known limit).",
	}
	if got := OfRun(runs, nil); got.Verdict != Pass || !slices.Equal(got.Reasons, ready) {
		t.Errorf("got %+v", got)
	}
	runs[1].Thresholds = []ThresholdResult{{Outcome: NotJudged, Reason: "simulated: latencies differ"}}
	if got := OfRun(runs, nil).Reasons[2]; got != "1 scenario could not be judged: 2 mixed (simulated: latencies differ)." {
		t.Errorf("got %q", got)
	}
	if got := OfRun(runs[2:], nil); got.Verdict != "" || got.Reasons != nil {
		t.Errorf("nothing measured: got %+v", got)
	}
}

// TestShareAboveLimit: of 100 writes, six took longer than a second.
func TestShareAboveLimit(t *testing.T) {
	h := &fio.Hist{}
	h.Add(2*time.Millisecond, 94)
	h.Add(1500*time.Millisecond, 4)
	h.Add(3*time.Second, 2)
	r := &result.Result{State: result.Done}
	r.Total.Write = fio.Direction{N: 100, IOPS: 10, Clat: fio.Latency{N: 100, Mean: 1e7, Hist: h}}
	for text, want := range map[string]Outcome{"write.clat.over(1s) < 6%": Missed, "write.clat.over(1s) <= 6%": Met, "write.clat.over(2s) < 3%": Met, "read.clat.over(1s) < 1%": NotJudged} {
		got := Evaluate(threshold(text), diagnose.Measurement{Result: r}, 0)
		if got.Outcome != want {
			t.Errorf("%s: %+v, want %s", text, got, want)
		}
	}
	if got := Evaluate(threshold("write.clat.over(1s) < 1%"), diagnose.Measurement{Result: r}, 0); got.PrintMeasured() != "6.0 %" || got.PrintLimit() != "1.0 %" {
		t.Errorf("%s of %s", got.PrintMeasured(), got.PrintLimit())
	}
	r.Total.Write.Clat.Hist = nil
	if got := Evaluate(threshold("write.clat.over(1s) < 1%"), diagnose.Measurement{Result: r}, 0); got.Outcome != NotJudged {
		t.Errorf("judged without a histogram: %+v", got)
	}
}

func TestEvaluate(t *testing.T) {
	both := &fio.Hist{}
	both.Add(time.Millisecond, 99)
	late := &fio.Hist{}
	late.Add(10*time.Millisecond, 3)
	r := &result.Result{State: result.Done, Total: fio.Job{
		Read: fio.Direction{
			N: 700, IOPS: 13100, BW: 100 * units.MiBPerSec,
			Clat: fio.Latency{N: 99, Mean: 1e6, Max: 2 * time.Millisecond, Hist: both},
		},
		Write: fio.Direction{
			N: 300, IOPS: 5600, BW: 40 * units.MiBPerSec,
			Clat: fio.Latency{N: 3, Mean: 10e6, Max: 20 * time.Millisecond, Hist: late},
			Lat:  fio.Latency{N: 3, Percentiles: []fio.Percentile{{P: 99, Value: 4 * time.Millisecond}}},
		},
		Sync: fio.Sync{Lat: fio.Latency{N: 300, Percentiles: []fio.Percentile{{P: 99, Value: 2500 * time.Microsecond}}}},
	}}
	c := &ceiling.Ceiling{Bounds: []ceiling.Bound{
		{Kind: ceiling.InstanceIOPS, IOPS: 12000, BW: 94 * units.MiBPerSec, ReadIOPS: 8400, WriteIOPS: 3600},
		{Kind: ceiling.VolumeIOPS, IOPS: 18462, BW: 144 * units.MiBPerSec, ReadIOPS: 12923, WriteIOPS: 5538},
		{Kind: ceiling.InstanceIOPS, Burst: true, IOPS: 40000, BW: 312 * units.MiBPerSec, ReadIOPS: 28000, WriteIOPS: 12000},
	}}
	type want struct {
		measured, limit float64
		outcome         Outcome
		reason          string
	}
	for text, w := range map[string]want{
		"read.iops >= 13000":         {13100, 13000, Met, ""},
		"total.iops >= 18700":        {18700, 18700, Met, ""},
		"total.iops > 18700":         {18700, 18700, Missed, ""},
		"total.iops >= ceiling":      {18700, 18462, Met, ""}, // the burst of the instance, so the volumes bind
		"write.iops >= 2 * ceiling":  {5600, 2 * 5538, Missed, ""},
		"read.bw >= 0.5 * ceiling":   {100 << 20, 0.5 * 144 * (1 << 20) * 12923 / 18462, Met, ""},
		"total.bw >= 150MiB/s":       {140 << 20, 150 << 20, Missed, ""},
		"read.clat.mean < 2ms":       {1e6, 2e6, Met, ""},
		"total.clat.max <= 20ms":     {20e6, 20e6, Met, ""},
		"total.clat.mean < 2ms":      {(99*1e6 + 3*10e6) / 102, 2e6, Met, ""},
		"write.sync.p99 < 3ms":       {2.5e6, 3e6, Met, ""},
		"write.lat.p99 < 3ms":        {4e6, 3e6, Missed, ""},
		"write.lat.p99.9 < 3ms":      {0, 3e6, NotJudged, "write.lat.p99.9 was not recorded"},
		"read.slat.mean < 3ms":       {0, 3e6, NotJudged, "read.slat.mean was not recorded"},
		"trim.iops > 1":              {0, 1, NotJudged, "no trim ran"},
		"read.clat.max < 1500us":     {2e6, 1.5e6, Missed, ""},
		"total.lat.p99 < 3ms":        {4e6, 3e6, Missed, ""}, // only writes recorded it
		"total.clat.p99 < 1100000ns": {0, 1.1e6, Missed, ""},
	} {
		got := Evaluate(threshold(text), diagnose.Measurement{Result: r, Ceiling: c}, 0)
		if text == "total.clat.p99 < 1100000ns" { // merged: 99 of 102 are 1 ms, so p99 lies among the slow three
			w.measured = float64(bins.Value(bins.Of(10 * time.Millisecond)))
		}
		near := math.Abs(got.Measured.Base()-w.measured) < 1 && math.Abs(got.Limit.Base()-w.limit) < 1
		if !near || got.Outcome != w.outcome || got.Reason != w.reason {
			t.Errorf("%s: got %+v, want %+v", text, got, w)
		}
	}
	target := threshold("read.iops >= ceiling")
	own := &ceiling.Ceiling{Bounds: []ceiling.Bound{
		{Kind: ceiling.Concurrency, IOPS: 1100, BW: 1100 * 8 * 1024}, {Kind: ceiling.VolumeIOPS, IOPS: 3000, BW: 3000 * 8 * 1024},
	}}
	own.Bounds[0].Origin.Kind = topology.Measured
	if got := Evaluate(target, diagnose.Measurement{Result: r, Ceiling: own}, 0); !strings.HasPrefix(got.Reason, "limited by its own latency only") {
		t.Errorf("against its own latency: %+v", got)
	}
	if got := Evaluate(target, diagnose.Measurement{Result: r}, 0); got.Reason != "the ceiling is unknown" {
		t.Errorf("without a ceiling: %+v", got)
	}
	if got := Evaluate(target, diagnose.Measurement{Ceiling: c}, 0); got.Reason != "nothing was measured" {
		t.Errorf("without a result: %+v", got)
	}
}

func TestPercentilesOfTwoDirectionsAreNotAveraged(t *testing.T) {
	l := func(v time.Duration) fio.Latency {
		return fio.Latency{N: 1, Percentiles: []fio.Percentile{{P: 99, Value: v}}}
	}
	r := &result.Result{Total: fio.Job{
		Read:  fio.Direction{N: 1, Clat: l(time.Millisecond)},
		Write: fio.Direction{N: 1, Clat: l(3 * time.Millisecond)},
	}}
	got := Evaluate(threshold("total.clat.p99 < 5ms"), diagnose.Measurement{Result: r}, 0)
	if !strings.Contains(got.Reason, "percentiles cannot be averaged") {
		t.Errorf("got %+v", got)
	}
}

func threshold(text string) suite.Threshold {
	t, err := suite.ParseThreshold(text)
	if err != nil {
		panic(err)
	}
	return t
}
