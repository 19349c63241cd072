package verdict

import (
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
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// long is a run of a minute at so many IOPS, with an interval.
func long(iops float64) *result.Result {
	return &result.Result{
		State: result.Done, Measured: time.Minute, IOPS: stats.Estimate{Center: iops, Lo: iops - 1, Hi: iops + 1, N: 20},
		Total: fio.Job{Write: fio.Direction{N: uint64(iops * 60), IOPS: units.IOPS(iops)}},
	}
}

func volumes(iops units.IOPS) *ceiling.Ceiling {
	return &ceiling.Ceiling{Bounds: []ceiling.Bound{{Kind: ceiling.VolumeIOPS, IOPS: iops}}}
}

// latencyOf is a ceiling of one in flight, from a latency of that origin, below that of the
// volumes.
func latencyOf(iops units.IOPS, kind topology.OriginKind) *ceiling.Ceiling {
	c := volumes(24000)
	c.Bounds = append([]ceiling.Bound{{Kind: ceiling.Concurrency, IOPS: iops, Origin: topology.Origin{Kind: kind}}}, c.Bounds...)
	return c
}

func judge(m diagnose.Measurement, scale float64, findings []finding.Finding, texts ...string) (Scenario, Verdict) {
	s := Scenario{Measurement: m}
	for _, text := range texts {
		s.Thresholds = append(s.Thresholds, Evaluate(threshold(text), m, scale))
	}
	return s, Of(s, findings)
}

// A verdict is earned by a known ceiling or a judged threshold (D1), never by a run without an
// interval (D4).
func TestVerdictIsEarned(t *testing.T) {
	short := long(500)
	short.Measured, short.IOPS = 2*time.Second, stats.Estimate{Center: 500, Lo: 500, Hi: 500, None: "2 s only"}
	noisy := long(500)
	noisy.IOPS = stats.Estimate{Center: 500, Lo: 410, Hi: 590, N: 20}
	imported := long(500) // of fio's summary alone, without a series
	imported.IOPS = stats.Estimate{Center: 500, Lo: 500, Hi: 500, None: "one value"}
	for name, c := range map[string]struct {
		m     diagnose.Measurement
		texts []string
		want  Verdict
	}{
		"nothing known":                     {diagnose.Measurement{Result: long(500)}, nil, Measured},
		"a threshold on an unknown ceiling": {diagnose.Measurement{Result: long(500)}, []string{"write.iops >= 0.95 * ceiling"}, Measured},
		"a threshold that can be judged":    {diagnose.Measurement{Result: long(500)}, []string{"write.iops >= 400"}, Pass},
		"a known ceiling":                   {diagnose.Measurement{Result: long(500), Ceiling: volumes(510)}, nil, Pass},
		"only its own latency":              {diagnose.Measurement{Result: long(500), Ceiling: latencyOf(500, topology.Measured)}, nil, Measured},
		"a declared latency":                {diagnose.Measurement{Result: long(535), Ceiling: latencyOf(538, topology.Declared)}, []string{"write.iops >= 0.95 * ceiling"}, Pass},
		"a declared latency, missed":        {diagnose.Measurement{Result: long(367), Ceiling: latencyOf(538, topology.Declared)}, []string{"write.iops >= 0.95 * ceiling"}, Fail},
		"two seconds, missed":               {diagnose.Measurement{Result: short, Ceiling: volumes(24000)}, []string{"write.iops >= 0.95 * ceiling"}, Measured},
		"two seconds, met":                  {diagnose.Measurement{Result: short, Ceiling: volumes(510)}, []string{"write.iops >= 400"}, Measured},
		"noise around the threshold":        {diagnose.Measurement{Result: noisy}, []string{"write.iops >= 540"}, Measured},
		"noise far below the threshold":     {diagnose.Measurement{Result: noisy}, []string{"write.iops >= 640"}, Fail},
		"an import of a minute":             {diagnose.Measurement{Result: imported, Ceiling: volumes(510)}, []string{"write.iops >= 400"}, Pass},
	} {
		if s, got := judge(c.m, 0, nil, c.texts...); got != c.want {
			t.Errorf("%s: %s, want %s: %+v", name, got, c.want, s.Thresholds)
		}
	}
}

func TestMeasuredRunsSayWhatWouldEarnAVerdict(t *testing.T) {
	one, _ := judge(diagnose.Measurement{Scenario: suite.Scenario{ID: 1, Name: "a"}, Result: long(500)}, 0, nil)
	got := OfRun([]Scenario{one}, nil)
	if got.Verdict != Measured || got.Warned || !strings.Contains(got.Reasons[0], "--volumes") {
		t.Errorf("%+v", got)
	}
	warned := OfRun([]Scenario{one}, []finding.Finding{{Code: "PL403", Severity: finding.Warn, Scenarios: []int{1}, Message: "Noisy."}})
	if warned.Verdict != Measured || !warned.Warned || warned.Reasons[0] != "Noisy. (PL403)" {
		t.Errorf("%+v", warned)
	}
	// Beside one that passed, too, a run with a warning is none without.
	two, _ := judge(diagnose.Measurement{Scenario: suite.Scenario{ID: 2, Name: "b"}, Result: long(500), Ceiling: volumes(510)}, 0, nil)
	for severity, want := range map[finding.Severity]Verdict{finding.Warn: Warn, finding.Info: Pass} {
		f := finding.Finding{Code: "PL501", Severity: severity, Scenarios: []int{1}, Message: "Concurrency."}
		if got := OfRun([]Scenario{one, two}, []finding.Finding{f}); got.Verdict != want {
			t.Errorf("%s: %+v", severity, got)
		}
	}
	failed := OfRun([]Scenario{one}, []finding.Finding{{Code: "PL201", Severity: finding.Fail, Message: "md0 is degraded."}})
	if failed.Verdict != Fail {
		t.Errorf("%+v", failed)
	}
}

// fio 3.33 counts the write into the sync with libaio, so its figure is too high: it may meet a
// limit, and miss none (D6).
func TestDoubtedSyncsMissNothing(t *testing.T) {
	synced := func(version, engine string, mean units.Latency) diagnose.Measurement {
		r := long(500)
		r.Fio, r.Workloads = version, []fio.Workload{{Engine: engine, SyncEvery: 1, Depth: 1, Jobs: 1}}
		r.Total.Sync.Lat = fio.Latency{N: 1000, Mean: float64(mean)}
		return diagnose.Measurement{Result: r}
	}
	const ms = units.Latency(1e6)
	for name, c := range map[string]struct {
		m    diagnose.Measurement
		want Outcome
	}{
		"3.33, too long":         {synced("fio-3.33", "libaio", 2.1*ms), NotJudged},
		"3.33, short enough":     {synced("fio-3.33", "libaio", 1.9*ms), Met},
		"3.33, psync, too long":  {synced("fio-3.33", "psync", 2.1*ms), Missed},
		"3.41, libaio, too long": {synced("fio-3.41", "libaio", 2.1*ms), Missed},
	} {
		if got := Evaluate(threshold("write.sync.mean < 2ms"), c.m, 0); got.Outcome != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// In a simulated machine rates are scaled and latencies are not judged.
func TestThresholdsOfASimulatedMachine(t *testing.T) {
	m := diagnose.Measurement{Result: long(500), Ceiling: volumes(510)}
	m.Total.Write.Lat = fio.Latency{N: 1, Mean: 160e6}
	for text, want := range map[string]Outcome{
		"write.iops >= 4900":           Met, // a tenth of them
		"write.iops >= 5100":           Missed,
		"write.iops >= 0.95 * ceiling": Met,
		"write.lat.mean < 20ms":        NotJudged,
	} {
		if got := Evaluate(threshold(text), m, 0.1); got.Outcome != want {
			t.Errorf("%s: %+v, want %s", text, got, want)
		}
	}
	m.Ceiling = latencyOf(538, topology.Declared)
	if got := Evaluate(threshold("write.iops >= 0.95 * ceiling"), m, 0.1); got.Outcome != NotJudged {
		t.Errorf("a latency as ceiling: %+v", got)
	}
}
