package verdict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/diagnose"
	"plimsoll/internal/finding"
	"plimsoll/internal/fio"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

func TestWords(t *testing.T) {
	for v, want := range map[Verdict]string{
		Pass: "READY", Warn: "READY WITH WARNINGS", Fail: "NOT READY", Invalid: "INVALID", "": "NOT JUDGED",
	} {
		if got := v.Word(); got != want {
			t.Errorf("%q: got %s, want %s", v, got, want)
		}
	}
}

func TestVerdictOfTheWorst(t *testing.T) {
	done := &result.Result{State: result.Done}
	missed := ThresholdResult{Target: suite.Target{Text: "write.iops >= 540", Metric: "write.iops"}, Measured: 500}
	skipped := ThresholdResult{Skipped: "no write ran"}
	on := func(id int, s finding.Severity) finding.Finding {
		return finding.Finding{Code: "PL999", Severity: s, Scenarios: []int{id}}
	}
	for name, c := range map[string]struct {
		r       *result.Result
		targets []ThresholdResult
		fs      []finding.Finding
		want    Verdict
	}{
		"nothing":                     {done, nil, nil, Pass},
		"not run":                     {nil, nil, []finding.Finding{on(7, finding.Fail)}, ""},
		"waiting":                     {&result.Result{State: result.Waiting}, nil, nil, ""},
		"invalid result beats all":    {&result.Result{State: result.Invalid}, nil, []finding.Finding{on(7, finding.Fail)}, Invalid},
		"interrupted":                 {&result.Result{State: result.Interrupted}, nil, nil, Invalid},
		"target missed":               {done, []ThresholdResult{missed}, nil, Fail},
		"target skipped":              {done, []ThresholdResult{skipped}, nil, Pass},
		"warning":                     {done, nil, []finding.Finding{on(7, finding.Warn), on(7, finding.Info)}, Warn},
		"info":                        {done, nil, []finding.Finding{on(7, finding.Info)}, Pass},
		"error":                       {done, nil, []finding.Finding{on(7, finding.Fail)}, Fail},
		"invalid finding beats miss":  {done, []ThresholdResult{missed}, []finding.Finding{on(7, finding.Invalid)}, Invalid},
		"a finding on another":        {done, nil, []finding.Finding{on(8, finding.Fail)}, Pass},
		"a finding on the machine":    {done, nil, []finding.Finding{{Code: "PL201", Severity: finding.Fail}}, Pass},
		"a miss beats a warning here": {done, []ThresholdResult{missed}, []finding.Finding{on(7, finding.Warn)}, Fail},
	} {
		m := Scenario{diagnose.Measurement{Scenario: suite.Scenario{ID: 7}, Result: c.r}, c.targets}
		if got := Of(m, c.fs); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRunVerdictGivesThreeReasonsWorstFirst(t *testing.T) {
	runs := []Scenario{
		{diagnose.Measurement{Scenario: suite.Scenario{ID: 1, Name: "sync"}, Result: &result.Result{State: result.Done}}, []ThresholdResult{
			{Target: suite.Target{Text: "write.sync.p99 < 3ms", Metric: "write.sync.p99"}, Measured: 4.2e6},
		}},
		{Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: 2, Name: "mixed"}, Result: &result.Result{State: result.Done}}},
		{Measurement: diagnose.Measurement{Scenario: suite.Scenario{ID: 3, Name: "later"}}},
	}
	findings := []finding.Finding{
		{Code: "PL401", Severity: finding.Invalid, Scenarios: []int{2}, Says: "Reads never reached the drives."},
		{Code: "PL201", Severity: finding.Fail, Says: "md0 is degraded."},
		{Code: "PL405", Severity: finding.Warn, Scenarios: []int{1}, Says: "The rate fell."},
		{Code: "PL405", Severity: finding.Warn, Scenarios: []int{2}, Says: "The rate fell again."},
	}
	v, why := OfRun(runs, findings)
	want := []string{
		"Reads never reached the drives. (PL401)",
		"Scenario 1 sync missed its target write.sync.p99 < 3ms: it measured 4.2 ms.",
		"md0 is degraded. (PL201)",
	}
	if v != Invalid || !slices.Equal(why, want) {
		t.Errorf("got %s %q\nwant %s %q", v, why, Invalid, want)
	}
	if v, why := OfRun(runs, findings[2:]); v != Fail || why[1] != "The rate fell. (PL405, 2 scenarios)" {
		t.Errorf("got %s %q", v, why)
	}
	wide := []finding.Finding{
		{Code: "PL208", Severity: finding.Warn, Says: "/ is mounted with discard."},
		{Code: "PL409", Severity: finding.Warn, Scenarios: []int{1, 2}, Says: "The cores are full."},
	}
	runs[0].Thresholds[0].Met = true
	if v, why := OfRun(runs, wide); v != Warn || why[0] != "The cores are full. (PL409, 2 scenarios)" {
		t.Errorf("what concerns more scenarios comes first: got %s %q", v, why)
	}
	if v, why := OfRun(runs, nil); v != Pass || len(why) != 2 || why[0] != "2 of 3 scenarios ran without a warning." {
		t.Errorf("got %s %q", v, why)
	}
	if v, why := OfRun(runs[2:], nil); v != "" || why != nil {
		t.Errorf("nothing measured: got %q %q", v, why)
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
		met             bool
		skipped         string
	}
	for text, w := range map[string]want{
		"read.iops >= 13000":         {13100, 13000, true, ""},
		"total.iops >= 18700":        {18700, 18700, true, ""},
		"total.iops > 18700":         {18700, 18700, false, ""},
		"total.iops >= ceiling":      {18700, 18462, true, ""}, // the burst of the instance, so the volumes bind
		"write.iops >= 2 * ceiling":  {5600, 2 * 5538, false, ""},
		"read.bw >= 0.5 * ceiling":   {100 << 20, 0.5 * 144 * (1 << 20) * 12923 / 18462, true, ""},
		"total.bw >= 150MiB/s":       {140 << 20, 150 << 20, false, ""},
		"read.clat.mean < 2ms":       {1e6, 2e6, true, ""},
		"total.clat.max <= 20ms":     {20e6, 20e6, true, ""},
		"total.clat.mean < 2ms":      {(99*1e6 + 3*10e6) / 102, 2e6, true, ""},
		"write.sync.p99 < 3ms":       {2.5e6, 3e6, true, ""},
		"write.lat.p99 < 3ms":        {4e6, 3e6, false, ""},
		"write.lat.p99.9 < 3ms":      {0, 3e6, false, "percentile 99.9 of write.lat was not recorded"},
		"read.slat.mean < 3ms":       {0, 3e6, false, "read.slat.mean was not recorded"},
		"trim.iops > 1":              {0, 1, false, "no trim ran"},
		"read.clat.max < 1500us":     {2e6, 1.5e6, false, ""},
		"total.lat.p99 < 3ms":        {4e6, 3e6, false, ""}, // only writes recorded it
		"total.clat.p99 < 1100000ns": {0, 1.1e6, false, ""},
	} {
		target, err := suite.ParseTarget(text)
		if err != nil {
			t.Fatal(err)
		}
		got := Evaluate(target, r, c)
		if text == "total.clat.p99 < 1100000ns" { // merged: 99 of 102 are 1 ms, so p99 lies among the slow three
			w.measured = float64(fio.BinValue(fio.BinOf(10 * time.Millisecond)))
		}
		near := got.Measured-w.measured < 1 && w.measured-got.Measured < 1 && got.Limit-w.limit < 1 && w.limit-got.Limit < 1
		if !near || got.Met != w.met || got.Skipped != w.skipped {
			t.Errorf("%s: got %+v, want %+v", text, got, w)
		}
	}
	target, _ := suite.ParseTarget("read.iops >= ceiling")
	own := &ceiling.Ceiling{Bounds: []ceiling.Bound{
		{Kind: ceiling.Concurrency, IOPS: 1100, BW: 1100 * 8 * 1024}, {Kind: ceiling.VolumeIOPS, IOPS: 3000, BW: 3000 * 8 * 1024},
	}}
	own.Bounds[0].Origin.Kind = topology.Measured
	if got := Evaluate(target, r, own); !strings.HasPrefix(got.Skipped, "its own latency binds") {
		t.Errorf("against its own latency: %+v", got)
	}
	if got := Evaluate(target, r, nil); got.Skipped != "the ceiling is not known" {
		t.Errorf("without a ceiling: %+v", got)
	}
	if got := Evaluate(target, nil, c); got.Skipped != "nothing was measured" {
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
	got := Evaluate(suite.Target{Metric: "total.clat.p99", Op: "<", Limit: 5e6}, r, nil)
	if !strings.Contains(got.Skipped, "percentiles cannot be averaged") {
		t.Errorf("got %+v", got)
	}
}
