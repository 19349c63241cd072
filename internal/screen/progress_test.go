package screen

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/bench"
	"plimsoll/internal/ceiling"
	"plimsoll/internal/fio"
	"plimsoll/internal/fleet"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/text"
)

// events is a short run as bench tells it: one scenario done, one invalid, one running with a
// hostile name.
func events() []bench.Event {
	scenario := func(id int, name string) suite.Scenario {
		return suite.Scenario{ID: id, Name: name, Size: 1 << 20, Runtime: 10 * time.Second, Job: fio.JobFile{Sections: []fio.Section{{Name: name, Options: []fio.Option{{Name: "rw", Value: "read"}}}}}}
	}
	one, two, three := scenario(1, "sync-latency"), scenario(2, "bad"), scenario(3, "evil\x1b[2J\u202e"+strings.Repeat("x", 300))
	three.Job.Sections[0].Options = append(three.Job.Sections[0].Options, fio.Option{Name: "ioengine", Value: "libaio"},
		fio.Option{Name: "iodepth", Value: "16"})
	h := &fio.Hist{}
	h.Add(2*time.Millisecond, 500)
	second := result.Second{At: time.Second, Len: time.Second, Read: result.Interval{N: 500, Bytes: 500 * 8192, Hist: h}}
	return []bench.Event{
		bench.Started{Dir: "runs/x", Suite: "db", Scenarios: []suite.Scenario{one, two, three}, Expected: 40 * time.Second, Ceilings: map[int]ceiling.Ceiling{
			3: {Bounds: []ceiling.Bound{{Kind: ceiling.VolumeIOPS, IOPS: 1000, BW: 1000 * 8192}}},
		}},
		bench.Noted{Text: "removed what an earlier run left in /data/.plimsoll"},
		bench.Laying{Role: "data", File: "/data/.plimsoll/data.dat", Written: 1 << 19, Size: 1 << 20},
		bench.Laying{Role: "data", File: "/data/.plimsoll/data.dat", Written: 1 << 20, Size: 1 << 20, Done: true},
		bench.Began{Scenario: one, Expected: 10 * time.Second},
		bench.Ended{ID: 1, Result: &result.Result{ID: 1, Name: "sync-latency", State: result.Done, Total: fio.Job{Read: fio.Direction{N: 1, IOPS: 536, BW: 536 * 8192, Clat: fio.Latency{N: 1, Mean: 1.858e6}}}}},
		bench.Cooling{For: 5 * time.Second},
		bench.Began{Scenario: two, Expected: 10 * time.Second},
		bench.Ended{ID: 2, Result: &result.Result{ID: 2, Name: "bad", State: result.Invalid, Reasons: []string{"no I/O completed"}}},
		bench.Began{Scenario: three, Expected: 10 * time.Second},
		bench.Ticked{ID: 3, Elapsed: time.Second, Second: second, Sample: telemetry.Sample{Dirty: 5 << 20}},
	}
}

func TestScreen(t *testing.T) {
	m := &painter{picture: &screenModel{}, width: 120, height: 24}
	for _, e := range events() {
		m.Update(e)
	}
	got := m.View().Content
	for _, want := range []string{
		"sync-latency", "536 IOPS", "1.86 ms", "invalid: no I/O completed", "500 IOPS of 1,000", "50.0 % of ceiling (volume IOPS)", "9 s left",
		"dirty 5 MiB", "removed what an earlier run left",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "[2J") && strings.Contains(got, "\x1b[2J") || strings.ContainsRune(got, '\u202e') {
		t.Errorf("a job's name reached the terminal as control characters:\n%q", got)
	}
}

// One I/O in flight is limited by its own latency: a share of another limit would be read as a fault.
func TestOneInFlightHasNoShareOfACeiling(t *testing.T) {
	all := events()
	started, _ := all[0].(bench.Started)
	started.Scenarios[2].Job.Sections[0].Options = started.Scenarios[2].Job.Sections[0].Options[:1]
	m := &painter{picture: &screenModel{}, width: 120, height: 24}
	for _, e := range all {
		m.Update(e)
	}
	if got := m.View().Content; strings.Contains(got, "ceiling") || strings.Contains(got, "of 1,000") {
		t.Error(got)
	}
}

func TestPlainLines(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	to := Out{Writer: &out, Now: func() time.Time { now = now.Add(3 * time.Second); return now }}
	v := &plainView{out: to}
	for _, e := range events() {
		v.Event(e)
	}
	for _, want := range []string{
		"db: 3 scenarios, about 40 s, into runs/x\n", "[1/3] 1 sync-latency: started, 10 s\n", "  bad: invalid: no I/O completed\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("a control character reached the pipe:\n%q", out.String())
	}
}

func TestRoundText(t *testing.T) {
	figure := bench.RoundFigure{Name: "w", Figure: "IOPS", Rounds: 6, Precision: stats.Precision{Level: stats.Estimate{Center: 500}, Half: .489}}
	for want, e := range map[string]bench.RoundEnded{
		"round 5/6: w 500 IOPS ± 48.9 % (goal 25.0 %); about 1 more round, 6 s":                                {Round: 5, Planned: 6, Rest: 6 * time.Second, Goal: .25},
		"round 6/6: w 500 IOPS ± 48.9 % (goal 25.0 %); not reached in 6 rounds, the most that were allowed":    {Round: 6, Planned: 6, Goal: .25, Enough: true, GoalMissed: true},
		"round 6/6: w 500 IOPS ± 48.9 % (goal 25.0 %); another round would not fit the budget":                 {Round: 6, Planned: 6, Goal: .25, Enough: true, GoalMissed: true, BudgetSpent: true},
		"round 6/6: w 500 IOPS ± 48.9 % (goal 50.0 %)":                                                         {Round: 6, Planned: 6, Goal: .5, Enough: true},
		"round 6, at most 25: 0 of 1 figures are settled":                                                      {Round: 6, Planned: 25, Steady: true},
		"round 25, the last: 0 of 1 figures are settled; not reached in 25 rounds, the most that were allowed": {Round: 25, Planned: 25, Steady: true, Enough: true, GoalMissed: true},
	} {
		e.Figures = []bench.RoundFigure{figure}
		if got := roundText(e); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// The picture of a fleet has a line a host, fits the terminal however many there are, and lets no
// host write to it.
func TestFleetPicture(t *testing.T) {
	m := &painter{picture: &fleetModel{}, width: 80, height: 10}
	var all []fleet.Status
	for i := range 40 {
		all = append(all, fleet.Status{Host: fmt.Sprint("db", i+1), What: "measures scenario 3, 5 s", IOPS: 1000, BW: 8192000, Age: time.Duration(i) * time.Second})
	}
	all[1] = fleet.Status{Host: "db2", What: "lost: \x1b[2J\u202egone", Lost: true}
	all[2] = fleet.Status{Host: "db3", What: "done", Done: true}
	m.Update(fleetNote("scenario 3: all hosts"))
	m.Update(fleetStatus(all))
	got := m.View().Content
	for _, want := range []string{"db1", "1,000 IOPS", "now", "✗ db2", "✓ db3", "3 s ago", "32 more hosts", "38 hosts: 38,000 IOPS"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if lines := strings.Count(got, "\n"); lines > 10 || strings.Contains(got, "\x1b[2J") || strings.ContainsRune(got, '\u202e') {
		t.Errorf("%d lines:\n%q", lines, got)
	}
}

// steering are characters that move, hide or reorder others; colours, which plimsoll prints itself, are taken out
// before.
var (
	steering = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x9f\x{61c}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}]`)
	colours  = regexp.MustCompile("\x1b\\[[0-9;:]*m")
)

// poison sets every text that a value holds to one that steers a terminal.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			poison(field)
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString("a\x1b]0;p\x07\x1b[2J\u009b31m\u202e\u0085\u2066\r\x7fz")
		}
	default: // numbers, and maps, whose values cannot be set
	}
}

// Whatever an event or a host's state holds, and in whichever field, it does not steer the terminal: not on the
// screen of a run, that of a fleet, in plain lines or in events.
func TestNoTextSteersAScreen(t *testing.T) {
	look := func(what, got string) {
		t.Helper()
		if !strings.Contains(got, "z") || steering.MatchString(colours.ReplaceAllString(got, "")) {
			t.Errorf("%s: %q", what, got)
		}
	}
	all := append(events(), bench.Noted{Text: "x"})
	for last := range all { // each state that the screen is in
		run, lines, js := &painter{picture: &screenModel{}, width: 120, height: 24}, &bytes.Buffer{}, &bytes.Buffer{}
		plain := &plainView{out: Out{Writer: lines, Now: time.Now}}
		machine := &jsonView{out: text.NewDoor(js, false)}
		for _, e := range all[:last+1] {
			bad := reflect.New(reflect.TypeOf(e)).Elem()
			bad.Set(reflect.ValueOf(e))
			poison(bad)
			event, ok := reflect.TypeAssert[bench.Event](bad)
			if !ok {
				t.Fatalf("%T", e)
			}
			run.Update(event)
			plain.Event(event)
			machine.Event(event)
		}
		look(fmt.Sprintf("screen after %d events", last+1), run.View().Content)
		look("plain lines", lines.String())
		look("events", js.String())
	}
	hosts := []fleet.Status{{Host: "x", What: "x", IOPS: 1}, {Host: "x", What: "x", Lost: true}, {Host: "x", What: "x", Done: true}}
	poison(reflect.ValueOf(hosts))
	m := &painter{picture: &fleetModel{}, width: 200, height: 10}
	m.Update(fleetNote("a\x1b]0;p\x07\u202ez"))
	m.Update(fleetStatus(hosts))
	look("screen of a fleet", m.View().Content)
}

// A durable write takes as long as its sync: the write's own time is not shown beside it.
func TestOutcomeOfSyncedWrites(t *testing.T) {
	lat := func(ns float64) fio.Latency { return fio.Latency{N: 10, Mean: ns, Min: 1, Max: time.Duration(2 * ns)} }
	r := &result.Result{State: result.Done}
	r.Total.Write = fio.Direction{N: 10, IOPS: 224, Clat: lat(673e3)}
	if got := outcome(r); !strings.Contains(got, "write 673") {
		t.Errorf("without syncs: %s", got)
	}
	r.Total.Sync.Lat = lat(12e6)
	if got := outcome(r); strings.Contains(got, "write") || !strings.Contains(got, "sync 12 ms mean") {
		t.Errorf("with syncs: %s", got)
	}
}
